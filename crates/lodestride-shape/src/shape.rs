//! [`Shape`]: the sizes of an array's axes. Where the elements lie is the business of [`crate::Layout`].

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::list::List;
use crate::{Order, ShapeError, Strides};

/// The sizes of the axes of an array; `[]` is the shape of a scalar.
///
/// Dereferences to `[usize]`, so `len()` is the rank, `shape[0]` the first size and `shape.iter()` walks the axes.
/// Up to rank 4 a shape lives inline.
///
/// ```
/// use lodestride_shape::Shape;
///
/// let shape = Shape::from([3, 4]);
/// assert_eq!((shape.rank(), shape.elements(), shape[1]), (2, 12, 4));
/// assert_eq!(shape.to_string(), "[3, 4]");
/// assert_eq!(Shape::from(()).elements(), 1);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Shape(List<usize>);

impl Shape {
    /// Makes the shape of a scalar: rank 0, one element.
    #[must_use]
    #[inline]
    pub fn scalar() -> Shape {
        Shape::default()
    }

    /// Copies a slice of sizes.
    #[must_use]
    #[inline]
    pub fn from_slice(sizes: &[usize]) -> Shape {
        Shape(List::from_slice(sizes))
    }

    /// Makes a shape of `rank` axes that all have the same size.
    #[must_use]
    #[inline]
    pub fn filled(size: usize, rank: usize) -> Shape {
        Shape(List::filled(size, rank))
    }

    /// Counts the axes.
    #[must_use]
    #[inline]
    pub fn rank(&self) -> usize {
        self.0.as_slice().len()
    }

    /// Counts the elements; saturates at `usize::MAX`, which no valid layout reaches.
    ///
    /// A size-0 axis makes it 0 and rank 0 makes it 1. Use [`Shape::checked_elements`] on sizes of unknown origin.
    #[must_use]
    #[inline]
    pub fn elements(&self) -> usize {
        // A size of 0 wins wherever it stands: what was saturated before it becomes 0 too.
        self.iter().fold(1usize, |n, &size| n.saturating_mul(size))
    }

    /// Counts the elements, refusing what no memory could hold.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if the product of the non-zero sizes exceeds `isize::MAX`.
    #[inline]
    pub fn checked_elements(&self) -> Result<usize, ShapeError> {
        let (mut extent, mut empty) = (1usize, false);
        for &size in self.as_slice() {
            if size == 0 {
                empty = true;
                continue;
            }
            extent = match extent.checked_mul(size) {
                Some(extent) if extent <= isize::MAX.unsigned_abs() => extent,
                _ => return Err(ShapeError::too_large(self)),
            };
        }
        Ok(if empty { 0 } else { extent })
    }

    /// Tells whether there are no elements, that is, whether some axis has size 0.
    ///
    /// Rank 0 is not empty: a scalar has one element.
    #[must_use]
    #[inline]
    pub fn has_no_elements(&self) -> bool {
        self.contains(&0)
    }

    /// Leaves out axis `axis`, which exists.
    #[inline]
    pub(crate) fn without(&self, axis: usize) -> Shape {
        Shape(self.0.without(axis))
    }

    /// The sizes from the last axis to the first.
    #[inline]
    pub(crate) fn reversed(&self) -> Shape {
        Shape(self.0.reversed())
    }

    /// Views the sizes as a slice.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[usize] {
        self.0.as_slice()
    }

    /// Views the sizes as an array, if there are this many.
    ///
    /// ```
    /// use lodestride_shape::Shape;
    ///
    /// let shape = Shape::from([3, 4]);
    /// assert_eq!((shape.as_array(), shape.as_array::<3>()), (Some(&[3, 4]), None));
    /// ```
    #[must_use]
    #[inline]
    pub fn as_array<const N: usize>(&self) -> Option<&[usize; N]> {
        self.0.as_array()
    }

    /// Appends an axis behind the last one.
    #[inline]
    pub fn push(&mut self, size: usize) {
        self.0.push(size);
    }

    /// Inserts an axis before position `axis`, which must not exceed the rank.
    ///
    /// # Panics
    /// If `axis` is greater than the rank; [`crate::normalize_new_axis`] checks user input.
    #[inline]
    pub fn insert(&mut self, axis: usize, size: usize) {
        self.0.insert(axis, size);
    }

    /// Removes axis `axis` and gives its size.
    ///
    /// # Panics
    /// If there is no such axis; [`crate::normalize_axis`] checks user input.
    #[inline]
    pub fn remove(&mut self, axis: usize) -> usize {
        self.0.remove(axis)
    }

    /// Gives the strides of a gap-free array of this shape in the given order.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if a stride or the element count exceeds `isize::MAX`.
    pub fn contiguous_strides(&self, order: Order) -> Result<Strides, ShapeError> {
        self.checked_elements()?;
        Ok(self.packed_strides(order))
    }

    /// [`Shape::contiguous_strides`] of a shape whose elements were counted.
    #[inline]
    pub(crate) fn packed_strides(&self, order: Order) -> Strides {
        if let Some(&[rows, columns]) = self.as_array() {
            return Strides::from(match order {
                Order::C => [columns.max(1).cast_signed(), 1],
                Order::F => [1, rows.max(1).cast_signed()],
            });
        }
        let mut strides = Strides::filled(0, self.rank());
        let mut step = 1isize;
        // Every partial product of max(size, 1) divides the checked one, so it cannot overflow.
        let place = |(stride, &size): (&mut isize, &usize)| {
            *stride = step;
            step = step.wrapping_mul(size.max(1).cast_signed());
        };
        let axes = strides.iter_mut().zip(self.as_slice());
        match order {
            Order::C => axes.rev().for_each(place),
            Order::F => axes.for_each(place),
        }
        strides
    }
}

impl Deref for Shape {
    type Target = [usize];
    #[inline]
    fn deref(&self) -> &[usize] {
        self.0.as_slice()
    }
}

impl DerefMut for Shape {
    #[inline]
    fn deref_mut(&mut self) -> &mut [usize] {
        self.0.as_mut_slice()
    }
}

impl AsRef<[usize]> for Shape {
    fn as_ref(&self) -> &[usize] {
        self.0.as_slice()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self)
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self)
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
    #[inline]
    fn from(sizes: [usize; N]) -> Shape {
        Shape::from_slice(&sizes)
    }
}

impl<const N: usize> From<&[usize; N]> for Shape {
    #[inline]
    fn from(sizes: &[usize; N]) -> Shape {
        Shape::from_slice(sizes)
    }
}

impl From<&[usize]> for Shape {
    #[inline]
    fn from(sizes: &[usize]) -> Shape {
        Shape::from_slice(sizes)
    }
}

impl From<Vec<usize>> for Shape {
    #[inline]
    fn from(sizes: Vec<usize>) -> Shape {
        Shape::from_slice(&sizes)
    }
}

impl From<&Vec<usize>> for Shape {
    #[inline]
    fn from(sizes: &Vec<usize>) -> Shape {
        Shape::from_slice(sizes)
    }
}

impl From<&Shape> for Shape {
    #[inline]
    fn from(shape: &Shape) -> Shape {
        shape.clone()
    }
}

impl From<usize> for Shape {
    #[inline]
    fn from(size: usize) -> Shape {
        Shape::from_slice(&[size])
    }
}

impl From<()> for Shape {
    #[inline]
    fn from((): ()) -> Shape {
        Shape::scalar()
    }
}

impl FromIterator<usize> for Shape {
    #[inline]
    fn from_iter<I: IntoIterator<Item = usize>>(sizes: I) -> Shape {
        Shape(sizes.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Shape {
    type Item = &'a usize;
    type IntoIter = std::slice::Iter<'a, usize>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.as_slice().iter()
    }
}

impl PartialEq<[usize]> for Shape {
    #[inline]
    fn eq(&self, other: &[usize]) -> bool {
        self.as_slice() == other
    }
}

impl<const N: usize> PartialEq<[usize; N]> for Shape {
    fn eq(&self, other: &[usize; N]) -> bool {
        self.as_slice() == other
    }
}
