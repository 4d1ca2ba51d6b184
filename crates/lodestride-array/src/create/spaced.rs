//! Vectors of numbers at equal distances, or at equal ratios.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{self as kernels, Spacing};
use lodestride_shape::{Order, Shape};

use crate::NdArray;
use crate::checks::Watch;
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
        let spacing = Spacing::Step { first, step };
        Self::counted("linspace_open", dtype, count, |at, out| {
            spacing.fill(at, out);
        })
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
        let exponents = between(first, last, count);
        Self::counted("logspace", dtype, count, |at, out| {
            exponents.fill(at, out);
            kernels::write_powers(base, out);
        })
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
        let exponents = between(logarithms[0], logarithms[1], count);
        Self::counted("geomspace", dtype, count, |at, out| {
            exponents.fill(at, out);
            kernels::write_powers(10.0, out);
            if first < 0.0 {
                out.iter_mut().for_each(|number| *number = -*number);
            }
            // The bounds themselves, the first one where they are one number.
            let end = count.checked_sub(at + 1);
            if let Some(end) = end.and_then(|end| out.get_mut(end)) {
                *end = last;
            }
            if let (0, Some(start)) = (at, out.first_mut()) {
                *start = first;
            }
        })
    }
}

/// Whole numbers at equal distances.
pub(super) struct Whole {
    first: i64,
    last: i64,
    step: i64,
    count: usize,
}

impl Whole {
    /// Those from `start` on before `end`; `None` where there are none, for a step of 0, and where one of the three is no `i64`.
    pub(super) fn new(start: Scalar, end: Scalar, step: Scalar) -> Option<Self> {
        let whole = |number| match number {
            Scalar::Int(number) => Some(number),
            Scalar::UInt(number) => i64::try_from(number).ok(),
            Scalar::Bool(_) | Scalar::Float(_) => None,
        };
        let (start, end, step) = (whole(start)?, whole(end)?, whole(step)?);
        let (width, stride) = (i128::from(end) - i128::from(start), i128::from(step));
        if width.signum() * stride.signum() != 1 {
            return None;
        }
        let before = (width.unsigned_abs() - 1) / stride.unsigned_abs();
        Some(Self {
            first: start,
            // Before the end, which is an `i64`.
            last: (i128::from(start) + before as i128 * stride) as i64,
            step,
            count: usize::try_from(before).ok()?.checked_add(1)?,
        })
    }

    /// Whether all of them are numbers of a dtype that is filled with them as they are.
    pub(super) fn fits(&self, dtype: DType) -> bool {
        match dtype {
            DType::I64 => true,
            DType::I32 => [self.first, self.last]
                .iter()
                .all(|&number| i32::try_from(number).is_ok()),
            _ => false,
        }
    }

    fn fill<T>(&self, out: &mut [T], of: impl Fn(i64) -> T) {
        let mut number = self.first;
        for to in out {
            *to = of(number);
            number = number.wrapping_add(self.step);
        }
    }
}

impl NdArray {
    /// A vector of whole numbers of a dtype that they fit.
    #[track_caller]
    pub(super) fn whole_numbers(op: &'static str, dtype: DType, whole: &Whole) -> Result<Self> {
        let watch = Watch::start();
        let array = Self::recycled_ordered(op, dtype, Shape::from(whole.count), Order::C)?;
        match dtype {
            DType::I32 => array.fill_elements(op, |all| whole.fill(all, |number| number as i32))?,
            _ => array.fill_elements(op, |all| whole.fill(all, |number| number))?,
        }
        watch.made(op, &[], Ok(array))
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

/// Equally spaced numbers by their index, of which the last one is the bound itself.
pub(super) fn between(first: f64, last: f64, count: usize) -> Spacing {
    let gaps = count.saturating_sub(1).max(1);
    Spacing::Between { first, last, gaps }
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
