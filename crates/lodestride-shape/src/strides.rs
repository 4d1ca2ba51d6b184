//! [`Strides`]: how many elements one step along each axis moves.

use std::fmt;
use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;

use crate::shape::{INLINE_RANK, write_list};

/// The distance in elements between neighbours along each axis; negative for reversed axes, 0 for broadcast ones.
///
/// Dereferences to `[isize]`; inline up to rank 6.
///
/// ```
/// use lodestride_shape::{Order, Shape, Strides};
///
/// let shape = Shape::from([3, 4]);
/// assert_eq!(shape.contiguous_strides(Order::C)?, Strides::from([4, 1]));
/// assert_eq!(shape.contiguous_strides(Order::F)?, Strides::from([1, 3]));
/// # Ok::<(), lodestride_shape::ShapeError>(())
/// ```
#[derive(PartialEq, Eq, Hash, Default)]
pub struct Strides(SmallVec<[isize; INLINE_RANK]>);

impl Strides {
    /// Copies a slice of strides.
    #[must_use]
    pub fn from_slice(strides: &[isize]) -> Strides {
        Strides(SmallVec::from_slice(strides))
    }

    /// Makes `rank` equal strides.
    #[must_use]
    pub fn filled(stride: isize, rank: usize) -> Strides {
        Strides(SmallVec::from_elem(stride, rank))
    }

    /// Views the strides as a slice.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[isize] {
        &self.0
    }

    /// Appends the stride of an axis behind the last one.
    pub fn push(&mut self, stride: isize) {
        self.0.push(stride);
    }

    /// Inserts the stride of a new axis before position `axis`.
    ///
    /// # Panics
    /// If `axis` is greater than the rank.
    pub fn insert(&mut self, axis: usize, stride: isize) {
        self.0.insert(axis, stride);
    }

    /// Removes the stride of axis `axis` and gives it.
    ///
    /// # Panics
    /// If there is no such axis.
    pub fn remove(&mut self, axis: usize) -> isize {
        self.0.remove(axis)
    }
}

impl Clone for Strides {
    fn clone(&self) -> Strides {
        Strides::from_slice(&self.0)
    }
}

impl Deref for Strides {
    type Target = [isize];
    #[inline]
    fn deref(&self) -> &[isize] {
        &self.0
    }
}

impl DerefMut for Strides {
    #[inline]
    fn deref_mut(&mut self) -> &mut [isize] {
        &mut self.0
    }
}

impl AsRef<[isize]> for Strides {
    fn as_ref(&self) -> &[isize] {
        &self.0
    }
}

impl fmt::Display for Strides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, &self.0)
    }
}

impl fmt::Debug for Strides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, &self.0)
    }
}

impl<const N: usize> From<[isize; N]> for Strides {
    fn from(strides: [isize; N]) -> Strides {
        Strides::from_slice(&strides)
    }
}

impl From<&[isize]> for Strides {
    fn from(strides: &[isize]) -> Strides {
        Strides::from_slice(strides)
    }
}

impl From<Vec<isize>> for Strides {
    fn from(strides: Vec<isize>) -> Strides {
        Strides::from_slice(&strides)
    }
}

impl FromIterator<isize> for Strides {
    fn from_iter<I: IntoIterator<Item = isize>>(strides: I) -> Strides {
        Strides(strides.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Strides {
    type Item = &'a isize;
    type IntoIter = std::slice::Iter<'a, isize>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
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
