//! What an op takes on its right side, [`Arg`], what names an element, [`IndexList`], and positions for a whole op, [`Indices`].

use std::borrow::Cow;

use half::{bf16, f16};
use lodestride_buffer::Scalar;
use lodestride_shape::Shape;
use smallvec::SmallVec;

use crate::NdArray;
use crate::error::Result;
use crate::fancy::picked::position_array;

/// The right operand of an op: an array or a plain number.
///
/// Numbers are *weak*: they take the dtype of the array unless they are of a higher kind (bool < integer < float), as
/// in NumPy 2. Methods take `impl Into<Arg>`, so `a.add(&b)`, `a.add(1)` and `a.add(0.5)` all work.
///
/// ```
/// use lodestride_array::{DType, NdArray};
///
/// let a = NdArray::from([1i32, 2, 3]);
/// assert_eq!(a.add(1)?.dtype(), DType::I32);
/// assert_eq!(a.add(0.5)?.dtype(), DType::F64);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// An array; it broadcasts against the left operand.
    Array(&'a NdArray),
    /// A number, used for every element.
    Scalar(Scalar),
}

impl<'a> Arg<'a> {
    /// The array, unless it is a number.
    pub(crate) fn array(&self) -> Option<&'a NdArray> {
        match self {
            Self::Array(array) => Some(array),
            Self::Scalar(_) => None,
        }
    }
}

impl<'a> From<&'a NdArray> for Arg<'a> {
    fn from(array: &'a NdArray) -> Self {
        Self::Array(array)
    }
}

impl<'a> From<&&'a NdArray> for Arg<'a> {
    fn from(array: &&'a NdArray) -> Self {
        Self::Array(array)
    }
}

impl From<Scalar> for Arg<'_> {
    fn from(scalar: Scalar) -> Self {
        Self::Scalar(scalar)
    }
}

/// `From` for the plain number types.
macro_rules! scalar_args {
    ($($number:ty),*) => {$(
        impl From<$number> for Arg<'_> {
            fn from(number: $number) -> Self {
                Self::Scalar(Scalar::from(number))
            }
        }
    )*};
}

scalar_args!(
    bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64
);

impl From<usize> for Arg<'_> {
    fn from(number: usize) -> Self {
        Self::Scalar(Scalar::from(number as u64))
    }
}

/// A short list of integers: the index of an element, the sizes of a reshape, the axes of a permutation.
///
/// Arrays, slices and vectors of `i32`, `isize`, `usize` or `i64`, and references to them, so that literals and
/// computed values both go without a cast. Negative numbers count from the end where that makes sense.
pub trait IndexList: sealed::Sealed {
    /// How many numbers there are.
    fn count(&self) -> usize;

    /// One of them, by its place from 0 on.
    ///
    /// # Panics
    /// Where there is none.
    fn number(&self, place: usize) -> isize;

    /// The numbers.
    #[inline]
    fn indices(&self) -> SmallVec<[isize; 6]> {
        // Places, then numbers: a push asks each time whether there is room.
        let mut list = SmallVec::from_elem(0, self.count());
        for (place, number) in list.iter_mut().enumerate() {
            *number = self.number(place);
        }
        list
    }
}

mod sealed {
    /// Keeps the list of implementors in this crate.
    pub trait Sealed {}
}

/// One integer as an index; values beyond `isize` saturate and are then refused as out of range.
trait Number: Copy {
    fn to_isize(self) -> isize;
}

/// What `IndexList` asks for, of a list of `Number`s that is indexed by place.
macro_rules! by_place {
    () => {
        #[inline]
        fn count(&self) -> usize {
            self.len()
        }

        #[inline]
        fn number(&self, place: usize) -> isize {
            self[place].to_isize()
        }
    };
}

/// `Number` and `IndexList` for one integer type.
macro_rules! index_lists {
    ($($number:ty),*) => {$(
        impl Number for $number {
            #[inline]
            fn to_isize(self) -> isize {
                isize::try_from(self).unwrap_or(isize::MAX)
            }
        }
        impl sealed::Sealed for [$number] {}
        impl IndexList for [$number] {
            by_place!();
        }
        impl<const N: usize> sealed::Sealed for [$number; N] {}
        impl<const N: usize> IndexList for [$number; N] {
            by_place!();
        }
        impl sealed::Sealed for Vec<$number> {}
        impl IndexList for Vec<$number> {
            by_place!();
        }
    )*};
}

index_lists!(i32, isize, usize, i64);

impl<L: IndexList + ?Sized> sealed::Sealed for &L {}

impl<L: IndexList + ?Sized> IndexList for &L {
    #[inline]
    fn count(&self) -> usize {
        (**self).count()
    }

    #[inline]
    fn number(&self, place: usize) -> isize {
        (**self).number(place)
    }
}

/// `IndexList` for the lists of sizes and indices of the shape crate.
macro_rules! shape_lists {
    ($($list:ty),*) => {$(
        impl sealed::Sealed for $list {}
        impl IndexList for $list {
            by_place!();
        }
    )*};
}

shape_lists!(lodestride_shape::Shape, lodestride_shape::Position);

/// Positions for an op on many of them: an integer array of any rank, or a list, which counts as a vector.
///
/// Methods take `impl Into<Indices>`, so `a.take(&indices, 0)`, `a.take([2, 0, -1], 0)` and `a.take(&permutation, 0)` with a
/// `Vec<usize>` all work.
///
/// ```
/// use lodestride_array::NdArray;
///
/// let a = NdArray::from([[1i32, 2], [3, 4], [5, 6]]);
/// let rows: Vec<usize> = vec![2, 0];
/// assert_eq!(a.take(&rows, 0)?, NdArray::from([[5i32, 6], [1, 2]]));
/// assert_eq!(a.take([-1], 1)?, a.take(&NdArray::from([1i64]), 1)?);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone, Debug)]
pub enum Indices<'a> {
    /// An array of integers; its shape is part of the result's.
    Array(&'a NdArray),
    /// A list.
    List(SmallVec<[isize; 6]>),
}

impl<'a> From<&'a NdArray> for Indices<'a> {
    fn from(array: &'a NdArray) -> Self {
        Self::Array(array)
    }
}

impl<'a> From<&&'a NdArray> for Indices<'a> {
    fn from(array: &&'a NdArray) -> Self {
        Self::Array(array)
    }
}

impl<L: IndexList> From<L> for Indices<'_> {
    fn from(list: L) -> Self {
        Self::List(list.indices())
    }
}

impl<'a> Indices<'a> {
    /// The positions as an array; one of a list is outside all workspaces.
    #[track_caller]
    pub(crate) fn array(self, op: &'static str) -> Result<Cow<'a, NdArray>> {
        match self {
            Self::Array(array) => Ok(Cow::Borrowed(array)),
            Self::List(list) => {
                let positions: Vec<i64> = list.into_iter().map(|index| index as i64).collect();
                let shape = Shape::from(positions.len());
                Ok(Cow::Owned(position_array(op, &positions, shape)?))
            }
        }
    }
}

/// The arrays an operation with an operand reads.
pub(crate) fn with<'a>(array: &'a NdArray, rhs: Arg<'a>) -> Vec<&'a NdArray> {
    [array].into_iter().chain(rhs.array()).collect()
}
