//! [`Shape`]: the sizes of an array's axes. Where the elements lie is the business of [`crate::Layout`].

use std::fmt;
use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;

use crate::{Order, ShapeError, Strides};

/// Shapes up to this rank need no heap memory.
pub const INLINE_RANK: usize = 6;

/// The sizes of the axes of an array; `[]` is the shape of a scalar.
///
/// Dereferences to `[usize]`, so `len()` is the rank, `shape[0]` the first size and `shape.iter()` walks the axes.
/// Up to rank 6 a shape lives inline.
///
/// ```
/// use lodestride_shape::Shape;
///
/// let shape = Shape::from([3, 4]);
/// assert_eq!((shape.rank(), shape.elements(), shape[1]), (2, 12, 4));
/// assert_eq!(shape.to_string(), "[3, 4]");
/// assert_eq!(Shape::from(()).elements(), 1);
/// ```
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Shape(SmallVec<[usize; INLINE_RANK]>);

impl Shape {
    /// Makes the shape of a scalar: rank 0, one element.
    #[must_use]
    pub fn scalar() -> Shape {
        Shape::default()
    }

    /// Copies a slice of sizes.
    #[must_use]
    pub fn from_slice(sizes: &[usize]) -> Shape {
        Shape(SmallVec::from_slice(sizes))
    }

    /// Makes a shape of `rank` axes that all have the same size.
    #[must_use]
    pub fn filled(size: usize, rank: usize) -> Shape {
        Shape(SmallVec::from_elem(size, rank))
    }

    /// Counts the axes.
    #[must_use]
    #[inline]
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// Counts the elements; saturates at `usize::MAX`, which no valid layout reaches.
    ///
    /// A size-0 axis makes it 0 and rank 0 makes it 1. Use [`Shape::checked_elements`] on sizes of unknown origin.
    #[must_use]
    pub fn elements(&self) -> usize {
        // The order of the factors must not matter: [0, huge, huge] is empty, not too large.
        if self.contains(&0) {
            return 0;
        }
        self.iter().fold(1usize, |n, &size| n.saturating_mul(size))
    }

    /// Counts the elements, refusing what no memory could hold.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if the product of the non-zero sizes exceeds `isize::MAX`.
    pub fn checked_elements(&self) -> Result<usize, ShapeError> {
        let mut extent = 1usize;
        for &size in self.iter().filter(|&&size| size != 0) {
            extent = match extent.checked_mul(size) {
                Some(extent) if isize::try_from(extent).is_ok() => extent,
                _ => return Err(ShapeError::too_large(self)),
            };
        }
        Ok(if self.contains(&0) { 0 } else { extent })
    }

    /// Tells whether there are no elements, that is, whether some axis has size 0.
    ///
    /// Rank 0 is not empty: a scalar has one element.
    #[must_use]
    pub fn has_no_elements(&self) -> bool {
        self.contains(&0)
    }

    /// Views the sizes as a slice.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[usize] {
        &self.0
    }

    /// Appends an axis behind the last one.
    pub fn push(&mut self, size: usize) {
        self.0.push(size);
    }

    /// Inserts an axis before position `axis`, which must not exceed the rank.
    ///
    /// # Panics
    /// If `axis` is greater than the rank; [`crate::normalize_new_axis`] checks user input.
    pub fn insert(&mut self, axis: usize, size: usize) {
        self.0.insert(axis, size);
    }

    /// Removes axis `axis` and gives its size.
    ///
    /// # Panics
    /// If there is no such axis; [`crate::normalize_axis`] checks user input.
    pub fn remove(&mut self, axis: usize) -> usize {
        self.0.remove(axis)
    }

    /// Gives the strides of a gap-free array of this shape in the given order.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if a stride or the element count exceeds `isize::MAX`.
    pub fn contiguous_strides(&self, order: Order) -> Result<Strides, ShapeError> {
        self.checked_elements()?;
        let mut strides = Strides::filled(0, self.rank());
        let mut step = 1isize;
        // Every partial product of max(size, 1) divides the checked one, so it cannot overflow.
        let mut place = |axis: usize| {
            strides[axis] = step;
            step = step.saturating_mul(self[axis].max(1).cast_signed());
        };
        match order {
            Order::C => (0..self.rank()).rev().for_each(&mut place),
            Order::F => (0..self.rank()).for_each(&mut place),
        }
        Ok(strides)
    }
}

impl Clone for Shape {
    fn clone(&self) -> Shape {
        // SmallVec's own clone walks an iterator; this is one memcpy, and layouts are cloned for every view.
        Shape::from_slice(&self.0)
    }
}

impl Deref for Shape {
    type Target = [usize];
    #[inline]
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl DerefMut for Shape {
    #[inline]
    fn deref_mut(&mut self) -> &mut [usize] {
        &mut self.0
    }
}

impl AsRef<[usize]> for Shape {
    fn as_ref(&self) -> &[usize] {
        &self.0
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, &self.0)
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, &self.0)
    }
}

/// Prints `[a, b, c]` on one line also under `{:#?}`, where a derived list would take a line per number.
pub(crate) fn write_list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    f.write_str("[")?;
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    f.write_str("]")
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(sizes: [usize; N]) -> Shape {
        Shape::from_slice(&sizes)
    }
}

impl<const N: usize> From<&[usize; N]> for Shape {
    fn from(sizes: &[usize; N]) -> Shape {
        Shape::from_slice(sizes)
    }
}

impl From<&[usize]> for Shape {
    fn from(sizes: &[usize]) -> Shape {
        Shape::from_slice(sizes)
    }
}

impl From<Vec<usize>> for Shape {
    fn from(sizes: Vec<usize>) -> Shape {
        Shape::from_slice(&sizes)
    }
}

impl From<&Vec<usize>> for Shape {
    fn from(sizes: &Vec<usize>) -> Shape {
        Shape::from_slice(sizes)
    }
}

impl From<&Shape> for Shape {
    fn from(shape: &Shape) -> Shape {
        shape.clone()
    }
}

impl From<usize> for Shape {
    fn from(size: usize) -> Shape {
        Shape::from_slice(&[size])
    }
}

impl From<()> for Shape {
    fn from((): ()) -> Shape {
        Shape::scalar()
    }
}

impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(sizes: I) -> Shape {
        Shape(sizes.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Shape {
    type Item = &'a usize;
    type IntoIter = std::slice::Iter<'a, usize>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl PartialEq<[usize]> for Shape {
    fn eq(&self, other: &[usize]) -> bool {
        self.as_slice() == other
    }
}

impl<const N: usize> PartialEq<[usize; N]> for Shape {
    fn eq(&self, other: &[usize; N]) -> bool {
        self.as_slice() == other
    }
}
