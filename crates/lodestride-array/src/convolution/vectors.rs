//! Convolution and correlation of two vectors. Images and channels are in `convolution`.

use std::ops::Range;

use lodestride_buffer::{Argument, DType, Element, HostType};
use lodestride_kernels as kernels;
use lodestride_shape::{Index, Shape};

use crate::NdArray;
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, OrFail, Result};
use crate::reduce::widened;

/// Which part of a convolution or correlation of two vectors is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConvolveMode {
    /// Everything where they overlap at all: `m + n - 1` elements.
    Full,
    /// The middle of it, as long as the longer vector.
    Same,
    /// What comes of whole overlaps: as many elements as the longer one has more than the shorter, and one.
    Valid,
}

impl NdArray {
    /// The convolution of two vectors: sums of products, one of the vectors running backwards past the other. A scalar is a
    /// vector of one element. Integers are exact and wrap.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Empty`] when one has no elements, [`ArrayErrorKind::Form`] when one is not a vector.
    ///
    /// ```
    /// use lodestride_array::{ConvolveMode, NdArray};
    ///
    /// let (a, b) = (NdArray::from([1i32, 2, 3]), NdArray::from([0i32, 1, 5]));
    /// assert_eq!(a.convolve(&b, ConvolveMode::Full)?.to_vec::<i32>()?, [0, 1, 7, 13, 15]);
    /// assert_eq!(a.convolve(&b, ConvolveMode::Same)?.to_vec::<i32>()?, [1, 7, 13]);
    /// assert_eq!(a.convolve(&b, ConvolveMode::Valid)?.to_vec::<i32>()?, [7]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "polymul")]
    #[track_caller]
    pub fn convolve(&self, rhs: &NdArray, mode: ConvolveMode) -> Result<NdArray> {
        self.slid("convolve", rhs, mode, Direction::Backwards)
    }

    /// [`convolve`](Self::convolve) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`convolve`](Self::convolve); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn convolve_into(&self, rhs: &NdArray, mode: ConvolveMode, out: &NdArray) -> Result<()> {
        out.store("convolve_into", &[self, rhs], || self.convolve(rhs, mode))
    }

    /// The correlation of two vectors: sums of products, the right one sliding forwards past the left one. A scalar is a
    /// vector of one element. Integers are exact and wrap.
    ///
    /// NumPy's default is [`ConvolveMode::Valid`]. With the operands exchanged the result runs backwards.
    ///
    /// # Errors
    /// As [`convolve`](Self::convolve).
    ///
    /// ```
    /// use lodestride_array::{ConvolveMode, NdArray};
    ///
    /// let (a, b) = (NdArray::from([1.0, 2.0, 3.0]), NdArray::from([0.0, 1.0, 0.5]));
    /// assert_eq!(a.correlate(&b, ConvolveMode::Valid)?.to_vec::<f64>()?, [3.5]);
    /// assert_eq!(a.correlate(&b, ConvolveMode::Full)?.to_vec::<f64>()?, [0.5, 2.0, 3.5, 3.0, 0.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn correlate(&self, rhs: &NdArray, mode: ConvolveMode) -> Result<NdArray> {
        self.slid("correlate", rhs, mode, Direction::Forwards)
    }

    /// [`correlate`](Self::correlate) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`correlate`](Self::correlate); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn correlate_into(&self, rhs: &NdArray, mode: ConvolveMode, out: &NdArray) -> Result<()> {
        out.store("correlate_into", &[self, rhs], || self.correlate(rhs, mode))
    }

    #[track_caller]
    fn slid(
        &self,
        op: &'static str,
        rhs: &NdArray,
        mode: ConvolveMode,
        direction: Direction,
    ) -> Result<NdArray> {
        let watch = Watch::start();
        for (array, place) in [(self, Argument::X), (rhs, Argument::Y)] {
            array.expect_readable(op, place)?;
            if array.rank() > 1 {
                return Err(array.unfit(op, "a vector"));
            }
            if array.is_empty() {
                let expected = "two vectors with elements";
                return Err(ArrayError::new(ArrayErrorKind::Empty { op, expected }));
            }
        }
        let dtype = self.dtype().promote(rhs.dtype());
        let given = (self, rhs, mode, direction);
        let made = match dtype {
            DType::Bool => sums(given, |sum: bool, a, b| sum | (a & b)),
            DType::U64 => sums(given, |sum: u64, a, b| sum.wrapping_add(a.wrapping_mul(b))),
            dtype if !dtype.is_float() => {
                // The low bits of the result do not depend on the others.
                sums(given, |sum: i64, a, b| sum.wrapping_add(a.wrapping_mul(b)))
            }
            dtype => float_sums(op, given, widened(dtype)),
        };
        watch.made(op, &[self, rhs], made?.cast(dtype))
    }
}

/// How the right vector is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forwards,
    Backwards,
}

/// The part asked for of all sums of products.
#[track_caller]
fn sums<T: HostType + Default>(
    (a, b, mode, direction): (&NdArray, &NdArray, ConvolveMode, Direction),
    add: impl Fn(T, T, T) -> T,
) -> Result<NdArray> {
    let mut a = a.cast(T::Element::DTYPE)?.to_vec::<T>()?;
    let mut b = b.cast(T::Element::DTYPE)?.to_vec::<T>()?;
    // A correlation is a convolution with the reversed right side.
    if direction == Direction::Forwards {
        b.reverse();
    }
    let kept = kept(a.len(), b.len(), mode, direction);
    if a.len() < b.len() {
        std::mem::swap(&mut a, &mut b);
    }
    let mut full = vec![T::default(); a.len() + b.len() - 1];
    // Parts that stay in the nearest cache while every element of the short vector goes over them.
    for (part, values) in a.chunks(BLOCK).enumerate() {
        let sums = &mut full[part * BLOCK..];
        for (at, &factor) in b.iter().enumerate() {
            for (sum, &value) in sums[at..].iter_mut().zip(values) {
                *sum = add(*sum, value, factor);
            }
        }
    }
    let len = kept.len();
    NdArray::from_vec(full[kept].to_vec(), Shape::from(len))
}

/// The same of floats, by a kernel.
#[track_caller]
fn float_sums(
    op: &'static str,
    (a, b, mode, direction): (&NdArray, &NdArray, ConvolveMode, Direction),
    dtype: DType,
) -> Result<NdArray> {
    let (mut a, mut b) = (a.cast(dtype)?.ravel()?, b.cast(dtype)?.ravel()?);
    if direction == Direction::Forwards {
        b = b.flip(0)?;
    }
    let kept = kept(a.len(), b.len(), mode, direction);
    if a.len() < b.len() {
        std::mem::swap(&mut a, &mut b);
    }
    let full = NdArray::recycled(dtype, a.len() + b.len() - 1)?;
    kernels::convolve(a.operand(), b.operand(), full.operand()).or_fail(op)?;
    if mode == ConvolveMode::Full {
        return Ok(full);
    }
    full.get(&[Index::from(kept.start as isize..kept.end as isize)])?
        .dup()
}

/// Which of all sums are kept of vectors of so many elements.
fn kept(a: usize, b: usize, mode: ConvolveMode, direction: Direction) -> Range<usize> {
    let (long, short) = (a.max(b), a.min(b));
    let (start, len) = match mode {
        ConvolveMode::Full => (0, long + short - 1),
        // Where the middle of an even number is not clear, NumPy's correlation counts from the other end when exchanged.
        ConvolveMode::Same if a < b && direction == Direction::Forwards => (short / 2, long),
        ConvolveMode::Same => ((short - 1) / 2, long),
        ConvolveMode::Valid => (short - 1, long - short + 1),
    };
    start..start + len
}

/// Elements of a part.
const BLOCK: usize = 1024;
