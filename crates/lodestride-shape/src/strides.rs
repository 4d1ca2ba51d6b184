//! [`Strides`]: how many elements one step along each axis moves.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::list::List;
use crate::shape::write_list;

/// The distance in elements between neighbours along each axis; negative for reversed axes, 0 for broadcast ones.
///
/// Dereferences to `[isize]`; inline up to rank 4.
///
/// ```
/// use lodestride_shape::{Order, Shape, Strides};
///
/// let shape = Shape::from([3, 4]);
/// assert_eq!(shape.contiguous_strides(Order::C)?, Strides::from([4, 1]));
/// assert_eq!(shape.contiguous_strides(Order::F)?, Strides::from([1, 3]));
/// # Ok::<(), lodestride_shape::ShapeError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Strides(List<isize>);

impl Strides {
    /// Copies a slice of strides.
    #[must_use]
    #[inline]
    pub fn from_slice(strides: &[isize]) -> Strides {
        Strides(List::from_slice(strides))
    }

    /// Makes `rank` equal strides.
    #[must_use]
    #[inline]
    pub fn filled(stride: isize, rank: usize) -> Strides {
        Strides(List::filled(stride, rank))
    }

    /// Leaves out axis `axis`, which exists.
    #[inline]
    pub(crate) fn without(&self, axis: usize) -> Strides {
        Strides(self.0.without(axis))
    }

    /// The strides from the last axis to the first.
    #[inline]
    pub(crate) fn reversed(&self) -> Strides {
        Strides(self.0.reversed())
    }

    /// Views the strides as a slice.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[isize] {
        self.0.as_slice()
    }

    /// The strides as an array, if there are this many.
    #[inline]
    pub(crate) fn as_array<const N: usize>(&self) -> Option<&[isize; N]> {
        self.0.as_array()
    }

    /// Appends the stride of an axis behind the last one.
    #[inline]
    pub fn push(&mut self, stride: isize) {
        self.0.push(stride);
    }

    /// Inserts the stride of a new axis before position `axis`.
    ///
    /// # Panics
    /// If `axis` is greater than the rank.
    #[inline]
    pub fn insert(&mut self, axis: usize, stride: isize) {
        self.0.insert(axis, stride);
    }

    /// Removes the stride of axis `axis` and gives it.
    ///
    /// # Panics
    /// If there is no such axis.
    #[inline]
    pub fn remove(&mut self, axis: usize) -> isize {
        self.0.remove(axis)
    }
}

impl Deref for Strides {
    type Target = [isize];
    #[inline]
    fn deref(&self) -> &[isize] {
        self.0.as_slice()
    }
}

impl DerefMut for Strides {
    #[inline]
    fn deref_mut(&mut self) -> &mut [isize] {
        self.0.as_mut_slice()
    }
}

impl AsRef<[isize]> for Strides {
    fn as_ref(&self) -> &[isize] {
        self.0.as_slice()
    }
}

impl fmt::Display for Strides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self)
    }
}

impl fmt::Debug for Strides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self)
    }
}

impl<const N: usize> From<[isize; N]> for Strides {
    #[inline]
    fn from(strides: [isize; N]) -> Strides {
        Strides::from_slice(&strides)
    }
}

impl From<&[isize]> for Strides {
    #[inline]
    fn from(strides: &[isize]) -> Strides {
        Strides::from_slice(strides)
    }
}

impl From<Vec<isize>> for Strides {
    #[inline]
    fn from(strides: Vec<isize>) -> Strides {
        Strides::from_slice(&strides)
    }
}

impl FromIterator<isize> for Strides {
    #[inline]
    fn from_iter<I: IntoIterator<Item = isize>>(strides: I) -> Strides {
        Strides(strides.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Strides {
    type Item = &'a isize;
    type IntoIter = std::slice::Iter<'a, isize>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.as_slice().iter()
    }
}

impl PartialEq<[isize]> for Strides {
    fn eq(&self, other: &[isize]) -> bool {
        self.as_slice() == other
    }
}

impl<const N: usize> PartialEq<[isize; N]> for Strides {
    fn eq(&self, other: &[isize; N]) -> bool {
        self.as_slice() == other
    }
}
