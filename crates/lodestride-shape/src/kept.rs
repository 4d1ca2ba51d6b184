//! Results that lie as their operands do: the gap-free layout whose axes follow each other in memory as theirs, which is
//! NumPy's order 'K'. What is computed then runs through memory on both sides, whatever the operands' axes are called.

use smallvec::SmallVec;

use crate::{Layout, Order, Shape, ShapeError, Strides};

impl Layout {
    /// The gap-free layout of this shape that keeps the order in which the axes lie in memory, from the largest step to
    /// the smallest: this layout where it is that one already, else a new one that is kept in `place`.
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    ///
    /// let images = Layout::contiguous([2, 3, 4, 5], Order::C)?;
    /// let (last, mut place) = (images.permute(&[0, 2, 3, 1])?, None);
    /// assert_eq!(last.kept(&mut place).strides()[..], [60, 5, 1, 20]);
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    #[inline]
    pub fn kept<'l>(&'l self, place: &'l mut Option<Layout>) -> &'l Layout {
        if self.is_packed() {
            return self;
        }
        place.insert(self.kept_apart())
    }

    #[cold]
    fn kept_apart(&self) -> Layout {
        if let Some(order) = self.order() {
            return self.packed(order);
        }
        let shape = self.shape().clone();
        Layout::placed_as(shape, self.elements(), &[self])
    }

    /// The axes from the outermost in memory to the innermost, if that is not the order they have: permuted by them, an
    /// array is walked from front to back in C order.
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    ///
    /// let c = Layout::contiguous([2, 3, 4], Order::C)?;
    /// assert_eq!(c.memory_order(), None);
    /// let turned = c.permute(&[1, 2, 0])?;
    /// assert_eq!(turned.memory_order().as_deref(), Some(&[2, 0, 1][..]));
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn memory_order(&self) -> Option<SmallVec<[usize; 8]>> {
        if self.order() == Some(Order::C) {
            return None;
        }
        let axes = outermost_first(self.rank(), &[self]);
        (!axes.is_sorted()).then_some(axes)
    }

    /// The gap-free layout of a shape that all of some layouts broadcast to, its axes in the order that they have in
    /// memory in those. Where they contradict each other, C order wins; an axis that a layout repeats is without an
    /// opinion. That is the rule of NumPy's iterator.
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order, Shape};
    ///
    /// let (f, row) = (Layout::contiguous([3, 4], Order::F)?, Layout::contiguous([4], Order::C)?);
    /// assert_eq!(Layout::kept_of(Shape::from([3, 4]), &[&f, &row])?, f);
    /// let c = Layout::contiguous([3, 4], Order::C)?;
    /// assert_eq!(Layout::kept_of(Shape::from([3, 4]), &[&f, &c])?, c);
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if the shape has more than `isize::MAX` elements.
    pub fn kept_of(shape: Shape, layouts: &[&Layout]) -> Result<Layout, ShapeError> {
        let elements = shape.checked_elements()?;
        if layouts
            .iter()
            .all(|layout| layout.order() == Some(Order::C))
        {
            return Ok(Layout::gap_free_at(0, shape, elements, Order::C));
        }
        Ok(Layout::placed_as(shape, elements, layouts))
    }

    /// [`Layout::kept_of`] of a shape whose elements were counted.
    fn placed_as(shape: Shape, elements: usize, layouts: &[&Layout]) -> Layout {
        let rank = shape.len();
        let axes = outermost_first(rank, layouts);
        if axes.is_sorted() {
            return Layout::gap_free_at(0, shape, elements, Order::C);
        }
        if axes.iter().rev().is_sorted() {
            return Layout::gap_free_at(0, shape, elements, Order::F);
        }
        let mut strides = Strides::filled(0, rank);
        let mut step = 1isize;
        for &axis in axes.iter().rev() {
            strides[axis] = step;
            // Every partial product of max(size, 1) divides the checked one, so it cannot overflow.
            step = step.wrapping_mul(shape[axis].max(1).cast_signed());
        }
        Layout::derived(shape, strides, 0)
    }
}

/// The axes of arrays of a rank from the outermost in memory to the innermost.
fn outermost_first(rank: usize, layouts: &[&Layout]) -> SmallVec<[usize; 8]> {
    let mut axes: SmallVec<[usize; 8]> = (0..rank).collect();
    for next in 1..rank {
        let mut to = next;
        for before in (0..next).rev() {
            match lies_outside(layouts, rank, axes[before], axes[next]) {
                Some(true) => break,
                Some(false) => to = before,
                None => {}
            }
        }
        axes[to..=next].rotate_right(1);
    }
    axes
}

/// Whether one axis lies outside another in all layouts that have both, which is so where its step is at least as large; none
/// where no layout has both.
fn lies_outside(layouts: &[&Layout], rank: usize, outer: usize, inner: usize) -> Option<bool> {
    let mut outside = None;
    for layout in layouts {
        let step = |axis: usize| {
            let axis = (axis + layout.rank()).checked_sub(rank)?;
            let stride = layout.strides()[axis].unsigned_abs();
            (layout.shape()[axis] != 1 && stride != 0).then_some(stride)
        };
        if let (Some(outer), Some(inner)) = (step(outer), step(inner)) {
            match outer >= inner {
                true => return Some(true),
                false => outside = Some(false),
            }
        }
    }
    outside
}

#[cfg(test)]
mod tests {
    use crate::{Layout, Order, Shape};
    use proptest::prelude::*;

    fn kept(shape: &[usize], layouts: &[&Layout]) -> Vec<isize> {
        let kept = Layout::kept_of(Shape::from_slice(shape), layouts).unwrap();
        assert!(kept.offset() == 0 && kept.shape()[..] == *shape);
        kept.strides().to_vec()
    }

    #[test]
    fn results_lie_as_numpy_places_them() {
        let base = Layout::contiguous([2, 3, 4], Order::C).unwrap();
        let turned = base.permute(&[1, 2, 0]).unwrap();
        let part = base.index(&crate::s![.., ..;2, 1..3]).unwrap();
        let row = Layout::contiguous([4], Order::C).unwrap();
        let one = Layout::contiguous([1, 1, 1], Order::C).unwrap();
        let stretched = row.broadcast_to(&Shape::from([3, 2, 4])).unwrap();
        // Strides of `np.add(x, y)` in elements, and of `np.copy(x)` for single operands.
        let cases: [(&[usize], &[&Layout], &[isize]); 9] = [
            (&[3, 4, 2], &[&turned], &[4, 1, 12]),
            (&[3, 4, 2], &[&turned, &turned], &[4, 1, 12]),
            (&[3, 4, 2], &[&turned, &one], &[4, 1, 12]),
            (&[2, 2, 2], &[&part], &[4, 2, 1]),
            (&[3, 2, 4], &[&stretched], &[8, 4, 1]),
            (&[5, 3, 4, 2], &[&turned], &[24, 4, 1, 12]),
            (&[4, 3, 2], &[&base.transpose()], &[1, 4, 12]),
            (
                &[2, 3, 4],
                &[&base.transpose().permute(&[2, 1, 0]).unwrap()],
                &[12, 4, 1],
            ),
            (
                &[0, 4, 2],
                &[&Layout::new([0, 4, 2], [1, 1, 4], 0).unwrap()],
                &[8, 2, 1],
            ),
        ];
        for (shape, layouts, strides) in cases {
            assert_eq!(kept(shape, layouts), strides, "{shape:?} of {layouts:?}");
        }
    }

    proptest! {
        #[test]
        fn every_permutation_of_a_packed_layout_is_kept(
            sizes in prop::collection::vec(2usize..4, 0..6),
            order in Just((0..6usize).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let order: Vec<usize> = order.into_iter().filter(|&axis| axis < sizes.len()).collect();
            let signed: Vec<isize> = order.iter().map(|&axis| axis.cast_signed()).collect();
            let base = Layout::contiguous(sizes, Order::C).unwrap();
            let turned = base.permute(&signed).unwrap();
            let mut place = None;
            prop_assert_eq!(turned.kept(&mut place), &turned);
            let mut place = None;
            let flipped = turned.flip(0);
            if let Ok(flipped) = flipped {
                prop_assert_eq!(flipped.kept(&mut place), &turned);
            }
        }
    }
}
