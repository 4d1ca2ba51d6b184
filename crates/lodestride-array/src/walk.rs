//! The walk over a layout in C order, as runs of equally spaced elements.
//!
//! For reading and printing in logical order. The kernels have their own walk, which is free to reorder axes.

use lodestride_shape::Layout;
use smallvec::SmallVec;

/// The starts of the runs of a layout in C order; every run has [`len`](Self::len) elements, [`stride`](Self::stride)
/// apart. Axes that continue each other in memory are merged, so a C-contiguous layout is one run.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    outer: SmallVec<[(usize, isize); 6]>,
    position: SmallVec<[usize; 6]>,
    start: isize,
    len: usize,
    stride: isize,
    left: usize,
}

impl Runs {
    pub(crate) fn new(layout: &Layout) -> Self {
        let mut outer: SmallVec<[(usize, isize); 6]> = SmallVec::new();
        for (&size, &stride) in layout.shape().iter().zip(layout.strides().iter()) {
            match outer.last_mut() {
                _ if size == 1 => {}
                Some(last) if last.1 == stride * size as isize => *last = (last.0 * size, stride),
                _ => outer.push((size, stride)),
            }
        }
        let (len, stride) = outer.pop().unwrap_or((1, 1));
        let len = if layout.elements() == 0 { 0 } else { len };
        let left = if len == 0 {
            0
        } else {
            outer.iter().map(|axis| axis.0).product()
        };
        let position = SmallVec::from_elem(0, outer.len());
        Self {
            outer,
            position,
            start: layout.offset() as isize,
            len,
            stride,
            left,
        }
    }

    /// Elements of every run.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Distance between the elements of a run.
    pub(crate) fn stride(&self) -> isize {
        self.stride
    }
}

impl Iterator for Runs {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let start = self.start as usize;
        for (position, &(size, stride)) in self.position.iter_mut().zip(&self.outer).rev() {
            *position += 1;
            self.start += stride;
            if *position < size {
                break;
            }
            self.start -= stride * size as isize;
            *position = 0;
        }
        Some(start)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// The elements of a slice that a layout selects, in C order.
#[derive(Clone, Debug)]
pub struct Elements<'w, T> {
    data: &'w [T],
    runs: Runs,
    next: isize,
    in_run: usize,
}

impl<'w, T> Elements<'w, T> {
    pub(crate) fn new(data: &'w [T], layout: &Layout) -> Self {
        Self {
            data,
            runs: Runs::new(layout),
            next: 0,
            in_run: 0,
        }
    }
}

impl<'w, T> Iterator for Elements<'w, T> {
    type Item = &'w T;

    #[inline]
    fn next(&mut self) -> Option<&'w T> {
        if self.in_run == 0 {
            self.next = self.runs.next()? as isize;
            self.in_run = self.runs.len;
        }
        let element = &self.data[self.next as usize];
        self.next += self.runs.stride;
        self.in_run -= 1;
        Some(element)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.in_run + self.runs.left * self.runs.len;
        (left, Some(left))
    }

    // Loops over whole runs are free of the state that `next` keeps.
    fn fold<B, F: FnMut(B, &'w T) -> B>(mut self, init: B, mut step: F) -> B {
        let data = self.data;
        let (len, stride) = (self.runs.len, self.runs.stride);
        let mut total = init;
        while self.in_run > 0 {
            total = step(total, &data[self.next as usize]);
            self.next += stride;
            self.in_run -= 1;
        }
        for start in self.runs {
            total = if stride == 1 {
                data[start..start + len].iter().fold(total, &mut step)
            } else {
                let places = (0..len as isize).map(|i| start.wrapping_add_signed(i * stride));
                places.fold(total, |total, place| step(total, &data[place]))
            };
        }
        total
    }
}

impl<T> ExactSizeIterator for Elements<'_, T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use lodestride_shape::Order;

    fn offsets(layout: &Layout) -> Vec<usize> {
        let data: Vec<usize> = (0..100).collect();
        let mut folded = Vec::new();
        Elements::new(&data, layout).for_each(|&place| folded.push(place));
        assert!(
            Elements::new(&data, layout).eq(&folded),
            "both ways of walking agree"
        );
        folded
    }

    #[test]
    fn contiguous_layouts_are_one_run() {
        let layout = Layout::contiguous([2, 3, 4], Order::C).unwrap();
        assert_eq!(Runs::new(&layout).len(), 24);
        assert_eq!(offsets(&layout), (0..24).collect::<Vec<_>>());
    }

    #[test]
    fn every_layout_is_walked_in_c_order() {
        let f = Layout::contiguous([2, 3], Order::F).unwrap();
        assert_eq!(offsets(&f), [0, 2, 4, 1, 3, 5]);
        let flipped = f.flip(0).unwrap();
        assert_eq!(offsets(&flipped), [1, 3, 5, 0, 2, 4]);
        let scalar = Layout::contiguous((), Order::C).unwrap();
        assert_eq!(offsets(&scalar), [0]);
        let empty = Layout::contiguous([3, 0, 2], Order::C).unwrap();
        assert!(offsets(&empty).is_empty());
        let mut iter = Elements::new(
            &[0, 1, 2, 3],
            &Layout::contiguous([2, 2], Order::F).unwrap(),
        );
        assert_eq!(
            (iter.next(), iter.len(), iter.sum::<i32>()),
            (Some(&0), 3, 6)
        );
        let ones = Layout::contiguous([1, 3, 1], Order::C).unwrap();
        assert_eq!(offsets(&ones), [0, 1, 2]);
    }
}
