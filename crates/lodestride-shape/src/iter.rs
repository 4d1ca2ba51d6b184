//! [`NdIndexIterator`]: every position of a shape, in C or F order.

use std::fmt;
use std::ops::Deref;

use smallvec::SmallVec;

use crate::shape::write_list;
use crate::{Order, Shape};

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
