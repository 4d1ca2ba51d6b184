//! [`Facts`]: what every operation asks of a layout, worked out once when the layout is made.

use crate::Order;

/// What follows from shape, strides and offset, so that equal layouts have equal facts but for whether they are known to be
/// packed.
///
/// Whole words throughout: a copy in odd pieces cannot be loaded again before it has reached the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) elements: usize,
    /// One more than the highest element index reached; 0 without elements.
    pub(crate) end: usize,
    /// Bit `order` is set if the elements are gap-free in that order, bit `PACKED + order` if this is known to be the gap-free
    /// layout of that order at offset 0, strides of axes of size 1 included.
    forms: usize,
}

/// The bit of the first order among those of packed layouts.
const PACKED: usize = 2;
const DENSE_BOTH: usize = 0b11;

impl Facts {
    pub(crate) const EMPTY: Facts = Facts {
        elements: 0,
        end: 0,
        forms: DENSE_BOTH,
    };

    /// The facts of a layout that keeps the invariants.
    #[inline]
    pub(crate) fn of(shape: &[usize], strides: &[isize], offset: usize) -> Facts {
        let (mut elements, mut highest) = (1usize, offset);
        // An axis is in F step if its stride is the product of the sizes before it; in C step if the axis before it, those
        // of size 1 left out, has its size times its stride.
        let (mut c, mut f) = (true, true);
        let (mut outer, mut innermost) = (None, 1isize);
        for (&size, &stride) in shape.iter().zip(strides) {
            let span = stride.wrapping_mul(size.cast_signed());
            if size != 1 {
                f &= stride == elements.cast_signed();
                c &= outer.unwrap_or(span) == span;
                outer = Some(stride);
                innermost = stride;
            }
            elements = elements.wrapping_mul(size);
            if stride > 0 {
                highest = highest.wrapping_add(span.wrapping_sub(stride).cast_unsigned());
            }
        }
        if elements == 0 {
            return Facts::EMPTY;
        }
        Facts {
            elements,
            end: highest.wrapping_add(1),
            forms: usize::from(c & (innermost == 1)) | usize::from(f) << 1,
        }
    }

    /// [`Facts::of`] one axis.
    #[inline]
    pub(crate) fn of_line(size: usize, stride: isize, offset: usize) -> Facts {
        if size == 0 {
            return Facts::EMPTY;
        }
        let reach = stride.max(0).cast_unsigned().wrapping_mul(size - 1);
        let dense = (size == 1) | (stride == 1);
        Facts {
            elements: size,
            end: offset.wrapping_add(reach).wrapping_add(1),
            forms: if dense { DENSE_BOTH } else { 0 },
        }
    }

    /// The facts of the gap-free layout of a shape, whose elements were counted, at offset 0.
    #[inline]
    pub(crate) fn packed(shape: &[usize], elements: usize, order: Order) -> Facts {
        if elements == 0 {
            return Facts::EMPTY;
        }
        // With one long axis the orders are the same.
        let both = match *shape {
            [rows, columns] => rows == 1 || columns == 1,
            _ => shape.iter().filter(|&&size| size != 1).count() < 2,
        };
        let dense = if both {
            DENSE_BOTH
        } else {
            1 << order as usize
        };
        Facts {
            elements,
            end: elements,
            forms: dense | 1 << (PACKED + order as usize),
        }
    }

    /// The same elements `offset` places further on, where nothing is packed.
    #[inline]
    pub(crate) fn moved(self, offset: usize) -> Facts {
        Facts {
            end: self.end + offset,
            forms: self.forms & DENSE_BOTH,
            ..self
        }
    }

    /// The facts of the axes from the last to the first: gap-free in one order becomes gap-free in the other.
    #[inline]
    pub(crate) fn reversed(self) -> Facts {
        let (c, f) = (self.forms & 1, self.forms >> 1 & 1);
        Facts {
            forms: c << 1 | f,
            ..self
        }
    }

    #[inline]
    pub(crate) fn is_dense(self, order: Order) -> bool {
        self.forms >> (order as usize) & 1 != 0
    }

    /// The order in which the elements are gap-free, C if both.
    #[inline]
    pub(crate) fn order(self) -> Option<Order> {
        match self.forms & DENSE_BOTH {
            0 => None,
            2 => Some(Order::F),
            _ => Some(Order::C),
        }
    }

    #[inline]
    pub(crate) fn is_packed(self, order: Order) -> bool {
        self.forms >> (PACKED + order as usize) & 1 != 0
    }

    /// Whether both are known to be packed, and in the same order.
    #[inline]
    pub(crate) fn are_packed_alike(self, other: Facts) -> bool {
        (self.forms & other.forms) >> PACKED != 0
    }
}

#[cfg(test)]
mod tests {
    use crate::{Layout, Order};

    /// A view knows of itself what a layout knows that was made from the same parts.
    fn check(view: &Layout) {
        let made = Layout::new(view.shape().clone(), view.strides().clone(), view.offset());
        let made = made.unwrap();
        assert_eq!(&made, view, "the offset of what is empty is 0");
        let facts = |layout: &Layout| {
            let dense = [Order::C, Order::F].map(|order| layout.is_contiguous(order));
            (layout.elements(), layout.bounds(), layout.order(), dense)
        };
        assert_eq!(facts(view), facts(&made), "{view:?}");
        let end = view.bounds().map_or(0, |(_, highest)| highest + 1);
        assert!(view.fits(end) && (end == 0 || !view.fits(end - 1)));
        for order in [Order::C, Order::F] {
            let packed = Layout::contiguous(view.shape().clone(), order).unwrap();
            if view.is_packed_like(&packed) {
                assert_eq!(view, &packed);
            }
        }
    }

    #[test]
    fn lines_and_reversed_axes_know_what_made_layouts_know() {
        for sizes in [[3usize, 4], [1, 4], [4, 1], [1, 1], [0, 4], [4, 0], [2, 2]] {
            for strides in [
                [4isize, 1],
                [1, 3],
                [1, 4],
                [8, 2],
                [0, 1],
                [-4, 1],
                [4, -1],
                [-4, -1],
            ] {
                let matrix = Layout::new(sizes, strides, 20).unwrap();
                check(&matrix.transpose());
                check(&matrix.transpose().transpose());
                for (axis, &size) in sizes.iter().enumerate() {
                    assert_eq!(matrix.line_at(size, axis), None);
                    for position in 0..size {
                        let line = matrix.at(position, axis);
                        check(&line);
                        assert_eq!(matrix.line_at(position, axis), Some(line.clone()));
                        matrix.line_at(position, axis).iter().for_each(check);
                    }
                }
                assert_eq!(matrix.line_at(0, 2), None);
            }
            for order in [Order::C, Order::F] {
                check(&Layout::contiguous(sizes, order).unwrap().transpose());
            }
        }
        for rank in 0..7 {
            let cube = Layout::contiguous(vec![2; rank], Order::C).unwrap();
            check(&cube.transpose());
            assert!(rank == 2 || cube.line_at(0, 0).is_none());
        }
    }
}
