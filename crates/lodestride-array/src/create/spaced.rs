//! Vectors of numbers at equal distances, or at equal ratios.

use lodestride_buffer::{DType, Scalar};

use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, Result};

impl NdArray {
    /// `count` equally spaced numbers from `first` on, before `end`, as a vector of the default dtype: NumPy's `linspace`
    /// with `endpoint=False`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Range`] when a bound is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::linspace_open(0, 1, 4)?.to_vec::<f32>()?, [0.0, 0.25, 0.5, 0.75]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "endpoint")]
    #[track_caller]
    pub fn linspace_open(
        first: impl Into<Scalar>,
        end: impl Into<Scalar>,
        count: usize,
    ) -> Result<Self> {
        Self::linspace_open_of(DType::default(), first, end, count)
    }

    /// [`linspace_open`](Self::linspace_open) of the given dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Range`] when a bound is not finite.
    #[track_caller]
    pub fn linspace_open_of(
        dtype: DType,
        first: impl Into<Scalar>,
        end: impl Into<Scalar>,
        count: usize,
    ) -> Result<Self> {
        let (first, end) = (first.into().as_f64(), end.into().as_f64());
        let step = width("linspace_open", first, end, count)? / count as f64;
        Self::counted("linspace_open", dtype, count, |i| first + i * step)
    }

    /// `count` powers of `base`, whose exponents are equally spaced from `first` to `last`, both included, as a vector of the
    /// default dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Range`] when an exponent is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::logspace(-1, 2, 4, 10.0)?.to_vec::<f32>()?, [0.1, 1.0, 10.0, 100.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn logspace(
        first: impl Into<Scalar>,
        last: impl Into<Scalar>,
        count: usize,
        base: f64,
    ) -> Result<Self> {
        Self::logspace_of(DType::default(), first, last, count, base)
    }

    /// [`logspace`](Self::logspace) of the given dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Range`] when an exponent is not finite.
    #[track_caller]
    pub fn logspace_of(
        dtype: DType,
        first: impl Into<Scalar>,
        last: impl Into<Scalar>,
        count: usize,
        base: f64,
    ) -> Result<Self> {
        let (first, last) = (first.into().as_f64(), last.into().as_f64());
        width("logspace", first, last, count)?;
        let exponent = between(first, last, count);
        Self::counted("logspace", dtype, count, |i| base.powf(exponent(i)))
    }

    /// `count` numbers from `first` to `last`, both included and exact, each the same multiple of the one before, as a vector
    /// of the default dtype. Both may be negative.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Range`] when a bound is 0 or not finite, or their signs differ.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::geomspace(1, 1000, 4)?.to_vec::<f32>()?, [1.0, 10.0, 100.0, 1000.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn geomspace(
        first: impl Into<Scalar>,
        last: impl Into<Scalar>,
        count: usize,
    ) -> Result<Self> {
        Self::geomspace_of(DType::default(), first, last, count)
    }

    /// [`geomspace`](Self::geomspace) of the given dtype.
    ///
    /// # Errors
    /// As [`geomspace`](Self::geomspace).
    #[track_caller]
    pub fn geomspace_of(
        dtype: DType,
        first: impl Into<Scalar>,
        last: impl Into<Scalar>,
        count: usize,
    ) -> Result<Self> {
        let (first, last) = (first.into().as_f64(), last.into().as_f64());
        // Of numbers of different signs, or with a 0 among them, one logarithm has no finite value.
        let logarithms = [first, last].map(|bound| (bound * first.signum()).log10());
        if logarithms.iter().any(|logarithm| !logarithm.is_finite()) {
            return Err(no_range("geomspace", first, last, count));
        }
        let exponent = between(logarithms[0], logarithms[1], count);
        Self::counted("geomspace", dtype, count, |i| {
            if i == 0.0 {
                first
            } else if i + 1.0 == count as f64 {
                last
            } else {
                10f64.powf(exponent(i)) * first.signum()
            }
        })
    }
}

/// The distance between two bounds, which must be finite.
#[track_caller]
pub(super) fn width(op: &'static str, first: f64, last: f64, count: usize) -> Result<f64> {
    let width = last - first;
    if width.is_finite() {
        Ok(width)
    } else {
        Err(no_range(op, first, last, count))
    }
}

/// Equally spaced numbers by their index; the last one is the bound itself, not a rounded sum.
pub(super) fn between(first: f64, last: f64, count: usize) -> impl Fn(f64) -> f64 {
    let gaps = count.saturating_sub(1).max(1) as f64;
    move |i| {
        if i == gaps && count > 1 {
            last
        } else {
            first + (last - first) * (i / gaps)
        }
    }
}

#[cold]
#[track_caller]
fn no_range(op: &'static str, start: f64, end: f64, count: usize) -> ArrayError {
    let step = count as f64;
    ArrayError::new(ArrayErrorKind::Range {
        op,
        start,
        end,
        step,
    })
}
