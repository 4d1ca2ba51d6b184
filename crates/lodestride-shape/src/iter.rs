//! [`NdIndexIterator`] and [`Offsets`]: every position of a shape, or its element index, in C or F order.

use std::fmt;
use std::ops::Deref;

use smallvec::SmallVec;

use crate::shape::write_list;
use crate::{Layout, Order, Shape};

/// One position in an array: one number per axis. Dereferences to `[usize]`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Position(SmallVec<[usize; 6]>);

impl Deref for Position {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, &self.0)
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, &self.0)
    }
}

impl<const N: usize> PartialEq<[usize; N]> for Position {
    fn eq(&self, other: &[usize; N]) -> bool {
        self.0.as_slice() == other
    }
}

/// Yields every position of a shape once; a scalar has one position, a shape with a size-0 axis none.
///
/// ```
/// use lodestride_shape::{NdIndexIterator, Order, Shape};
///
/// let rows: Vec<_> = NdIndexIterator::new(&Shape::from([2, 2]), Order::C).map(|p| p.to_vec()).collect();
/// assert_eq!(rows, [[0, 0], [0, 1], [1, 0], [1, 1]]);
/// let columns: Vec<_> = NdIndexIterator::new(&Shape::from([2, 2]), Order::F).map(|p| p.to_vec()).collect();
/// assert_eq!(columns, [[0, 0], [1, 0], [0, 1], [1, 1]]);
/// ```
#[derive(Clone, Debug)]
pub struct NdIndexIterator {
    shape: Shape,
    order: Order,
    next: Position,
    left: usize,
}

impl NdIndexIterator {
    /// Starts at the first position of the shape.
    #[must_use]
    pub fn new(shape: &Shape, order: Order) -> NdIndexIterator {
        NdIndexIterator {
            shape: shape.clone(),
            order,
            next: Position(SmallVec::from_elem(0, shape.rank())),
            left: shape.elements(),
        }
    }

    /// Moves one axis on; true if it wrapped around to 0.
    fn carry(&mut self, axis: usize) -> bool {
        let digit = &mut self.next.0[axis];
        *digit += 1;
        if *digit < self.shape[axis] {
            return false;
        }
        *digit = 0;
        true
    }
}

impl Iterator for NdIndexIterator {
    type Item = Position;

    fn next(&mut self) -> Option<Position> {
        self.left = self.left.checked_sub(1)?;
        let position = self.next.clone();
        if self.left > 0 {
            let rank = self.shape.rank();
            match self.order {
                Order::C => {
                    let _ = (0..rank).rev().all(|axis| self.carry(axis));
                }
                Order::F => {
                    let _ = (0..rank).all(|axis| self.carry(axis));
                }
            }
        }
        Some(position)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for NdIndexIterator {}
impl std::iter::FusedIterator for NdIndexIterator {}

/// Yields the element index of every position of a layout; made by [`Layout::offsets`].
#[derive(Clone, Debug)]
pub struct Offsets {
    positions: SmallVec<[(usize, usize, isize); 6]>,
    next: isize,
    left: usize,
}

impl Layout {
    /// Walks the element indices of all positions in the given logical order, whatever the layout in memory.
    ///
    /// For printing, tests and other places where speed does not matter; kernels use [`crate::LoopNest`].
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    ///
    /// let transposed = Layout::contiguous([2, 3], Order::C)?.transpose();
    /// assert_eq!(transposed.offsets(Order::C).collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5]);
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    #[must_use]
    pub fn offsets(&self, order: Order) -> Offsets {
        // (position, size, stride), the fastest axis first.
        let axes = self
            .shape()
            .iter()
            .zip(self.strides())
            .map(|(&size, &stride)| (0, size, stride));
        let mut positions: SmallVec<[(usize, usize, isize); 6]> = axes.collect();
        if order == Order::C {
            positions.reverse();
        }
        Offsets {
            positions,
            next: self.offset().cast_signed(),
            left: self.elements(),
        }
    }
}

impl Iterator for Offsets {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let offset = self.next;
        if self.left > 0 {
            for (position, size, stride) in &mut self.positions {
                *position += 1;
                if *position < *size {
                    self.next = self.next.wrapping_add(*stride);
                    break;
                }
                self.next = self
                    .next
                    .wrapping_sub(stride.wrapping_mul((*size - 1).cast_signed()));
                *position = 0;
            }
        }
        Some(offset.unsigned_abs())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Offsets {}
impl std::iter::FusedIterator for Offsets {}
