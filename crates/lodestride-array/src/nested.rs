//! Arrays from Rust values: nested arrays, vectors and slices of numbers, to any depth.

use half::{bf16, f16};
use lodestride_buffer::{Bool, HostType};
use lodestride_shape::Shape;
use smallvec::SmallVec;

use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, Result};

/// A number, or a sequence of values that are themselves [`Nested`]: `[[1.0, 2.0], [3.0, 4.0]]`, `Vec<Vec<i32>>`.
///
/// Input of [`NdArray::from_nested`].
pub trait Nested: Sized {
    /// The number type at the bottom.
    type Number: HostType;

    /// How many sequences are around a number.
    const DEPTH: usize;

    /// Length of this value's sequence and the first values below it, outermost first.
    fn lengths(&self, into: &mut SmallVec<[usize; 6]>);

    /// Appends the numbers in reading order, checking that every sequence has the length of the first of its depth.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Ragged`] where a length differs.
    fn append(
        &self,
        lengths: &[usize],
        axis: usize,
        into: &mut Vec<<Self::Number as HostType>::Element>,
    ) -> Result<()>;

    /// [`append`](Nested::append) of every value of a sequence; numbers go together.
    ///
    /// # Errors
    /// As [`append`](Nested::append).
    fn append_all(
        sequence: &[Self],
        lengths: &[usize],
        axis: usize,
        into: &mut Vec<<Self::Number as HostType>::Element>,
    ) -> Result<()> {
        sequence
            .iter()
            .try_for_each(|value| value.append(lengths, axis, into))
    }
}

/// [`Nested`] values whose lengths are part of the type, so they cannot be ragged: numbers and arrays of such.
pub trait Fixed: Nested {}

/// [`Nested`] values that cannot be ragged: [`Fixed`] ones, and a vector or slice of [`Fixed`] ones.
///
/// What `NdArray::from` takes; use [`NdArray::from_nested`] for the others.
pub trait Rectangular: Nested {}

/// `Nested` for the plain numbers.
macro_rules! nested_numbers {
    ($($number:ty),*) => {$(
        impl Nested for $number {
            type Number = $number;
            const DEPTH: usize = 0;

            fn lengths(&self, _: &mut SmallVec<[usize; 6]>) {}

            fn append(&self, _: &[usize], _: usize, into: &mut Vec<<$number as HostType>::Element>) -> Result<()> {
                into.push(self.into_element());
                Ok(())
            }

            fn append_all(sequence: &[Self], _: &[usize], _: usize, into: &mut Vec<<$number as HostType>::Element>) -> Result<()> {
                into.extend(sequence.iter().map(|number| number.into_element()));
                Ok(())
            }
        }
        impl Fixed for $number {}
    )*};
}

nested_numbers!(
    bool, Bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64
);

/// The lengths of a sequence and of its first element.
fn sequence_lengths<A: Nested>(sequence: &[A], into: &mut SmallVec<[usize; 6]>) {
    into.push(sequence.len());
    match sequence.first() {
        Some(first) => first.lengths(into),
        None => into.extend(std::iter::repeat_n(0, A::DEPTH)),
    }
}

#[track_caller]
fn append_sequence<A: Nested>(
    sequence: &[A],
    lengths: &[usize],
    axis: usize,
    into: &mut Vec<<A::Number as HostType>::Element>,
) -> Result<()> {
    let expected = lengths[axis];
    if sequence.len() != expected {
        return Err(ArrayError::new(ArrayErrorKind::Ragged {
            axis,
            expected,
            found: sequence.len(),
        }));
    }
    A::append_all(sequence, lengths, axis + 1, into)
}

/// `Nested` for one kind of sequence.
macro_rules! nested_sequence {
    ([$($generics:tt)*] $sequence:ty) => {
        impl<$($generics)*> Nested for $sequence {
            type Number = A::Number;
            const DEPTH: usize = A::DEPTH + 1;

            fn lengths(&self, into: &mut SmallVec<[usize; 6]>) {
                sequence_lengths(&self[..], into);
            }

            fn append(&self, lengths: &[usize], axis: usize, into: &mut Vec<<A::Number as HostType>::Element>) -> Result<()> {
                append_sequence(&self[..], lengths, axis, into)
            }
        }
    };
}

nested_sequence!([A: Nested, const N: usize] [A; N]);
nested_sequence!([A: Nested, const N: usize] &[A; N]);
nested_sequence!([A: Nested] Vec<A>);
nested_sequence!([A: Nested] &Vec<A>);
nested_sequence!([A: Nested] &[A]);

impl<A: Fixed, const N: usize> Fixed for [A; N] {}

impl<A: Fixed> Rectangular for A {}
impl<A: Fixed, const N: usize> Rectangular for &[A; N] {}
impl<A: Fixed> Rectangular for Vec<A> {}
impl<A: Fixed> Rectangular for &Vec<A> {}
impl<A: Fixed> Rectangular for &[A] {}

impl NdArray {
    /// An array from nested arrays, vectors or slices; the dtype is that of the numbers, the rank the nesting depth.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Ragged`] when sequences of one depth have different lengths.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from_nested(vec![vec![1.0f32, 2.0], vec![3.0, 4.0]])?;
    /// assert_eq!(a.shape()[..], [2, 2]);
    /// assert!(NdArray::from_nested(vec![vec![1.0f32, 2.0], vec![3.0]]).is_err());
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn from_nested<V: Nested>(values: V) -> Result<Self> {
        let mut lengths = SmallVec::new();
        values.lengths(&mut lengths);
        let mut numbers: Vec<<V::Number as HostType>::Element> =
            Vec::with_capacity(lengths.iter().product());
        // The error is made again here, so that it carries the caller's line and not one of this file.
        if let Err(error) = values.append(&lengths, 0, &mut numbers)
            && let ArrayErrorKind::Ragged {
                axis,
                expected,
                found,
            } = *error.kind()
        {
            return Err(ArrayError::new(ArrayErrorKind::Ragged {
                axis,
                expected,
                found,
            }));
        }
        Self::from_elements("from_nested", &numbers, Shape::from(&lengths[..]))
    }
}

/// Copies the values into a new array, in the thread's current workspace if there is one.
///
/// # Panics
/// When memory runs out; [`NdArray::from_nested`] is the form with a `Result`.
impl<V: Rectangular> From<V> for NdArray {
    #[track_caller]
    fn from(values: V) -> Self {
        match Self::from_nested(values) {
            Ok(array) => array,
            Err(error) => panic!("{error}"),
        }
    }
}
