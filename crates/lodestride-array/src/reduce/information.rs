//! Statistics built on the reductions: entropies, moments, weighted means, covariance, spread.

use lodestride_buffer::{Argument, DType};
use lodestride_kernels::{BinaryOp, ReduceOp};
use lodestride_shape::{Axes, keep};

use crate::NdArray;
use crate::error::Result;
use crate::lazy::Lazy;

/// The float dtype results of a dtype have: its own, or f64 for integers.
pub(crate) fn float_of(dtype: DType) -> DType {
    ReduceOp::Mean.result_dtype(dtype)
}

/// The dtype several steps on values of a float dtype are computed in: half precision rounds once, at the end.
pub(crate) fn widened(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        _ => float_of(dtype),
    }
}

impl NdArray {
    /// The values as an expression in the dtype several steps are computed in.
    pub(crate) fn widened(&self) -> Lazy<'_> {
        self.lazy().cast(widened(self.dtype()))
    }

    /// Minus the sum of `p log p` over the given axes, for probabilities; 0 adds nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let p = NdArray::from([[0.5f64, 0.5], [1.0, 0.0]]);
    /// assert_eq!(p.entropy(1)?.to_vec::<f64>()?, [2.0f64.ln(), 0.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn entropy(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("entropy", Argument::X)?;
        let p = self.widened();
        // At 0 the logarithm is taken of 1, so that the product is 0.
        let zero = p.clone().apply_with(BinaryOp::Eq, 0.0);
        let terms = p.clone() * (p + zero).log();
        let sum = (0.0 - terms).sum(axes)?;
        sum.cast(float_of(self.dtype()))
    }

    /// [`entropy`](Self::entropy) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`entropy`](Self::entropy); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn entropy_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("entropy_into", &[self], || self.entropy(axes))
    }

    /// The logarithm of [`entropy`](Self::entropy).
    ///
    /// # Errors
    /// As [`entropy`](Self::entropy).
    #[doc(alias = "logEntropy")]
    #[track_caller]
    pub fn log_entropy(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("log_entropy", Argument::X)?;
        self.entropy(axes)?.log()
    }

    /// [`log_entropy`](Self::log_entropy) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`log_entropy`](Self::log_entropy); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn log_entropy_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("log_entropy_into", &[self], || self.log_entropy(axes))
    }

    /// [`entropy`](Self::entropy) in bits, that is with logarithms to base 2.
    ///
    /// # Errors
    /// As [`entropy`](Self::entropy).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let dice = NdArray::full([4], 0.25)?;
    /// assert_eq!(dice.shannon_entropy(..)?.item::<f32>()?, 2.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "shannonEntropy")]
    #[track_caller]
    pub fn shannon_entropy(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("shannon_entropy", Argument::X)?;
        let p = self.widened();
        let zero = p.clone().apply_with(BinaryOp::Eq, 0.0);
        let logarithm = (p.clone() + zero).apply(lodestride_kernels::UnaryOp::Log2);
        let sum = (0.0 - p * logarithm).sum(axes)?;
        sum.cast(float_of(self.dtype()))
    }

    /// [`shannon_entropy`](Self::shannon_entropy) into an array of the result's shape: it is made elsewhere and copied
    /// there.
    ///
    /// # Errors
    /// As [`shannon_entropy`](Self::shannon_entropy); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn shannon_entropy_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("shannon_entropy_into", &[self], || {
            self.shannon_entropy(axes)
        })
    }

    /// The mean and the population variance (over n) over the given axes.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (mean, variance) = NdArray::from([[1.0f64, 3.0], [2.0, 2.0]]).moments(1)?;
    /// assert_eq!((mean.to_vec::<f64>()?, variance.to_vec::<f64>()?), (vec![2.0, 2.0], vec![1.0, 0.0]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn moments(&self, axes: impl Into<Axes>) -> Result<(NdArray, NdArray)> {
        self.expect_readable("moments", Argument::X)?;
        let axes = axes.into();
        Ok((self.mean(&axes)?, self.var_ddof(&axes, 0)?))
    }

    /// [`moments`](Self::moments) into two arrays of the results' shape: they are made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`moments`](Self::moments); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when an output does not fit,
    /// [`ArrayErrorKind::Operands`](crate::ArrayErrorKind::Operands) when they share memory. Nothing is written then.
    #[track_caller]
    pub fn moments_into(
        &self,
        axes: impl Into<Axes>,
        mean: &NdArray,
        variance: &NdArray,
    ) -> Result<()> {
        let op = "moments_into";
        NdArray::store_both([mean, variance], op, &[self], || self.moments(axes))
    }

    /// Mean and population variance from sums that were gathered piece by piece: `self` holds sums of values, `squares` sums
    /// of their squares, each of `count` values from which `shift` had been subtracted.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`](crate::ArrayErrorKind::Broadcast) when the shapes do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let values = NdArray::from([101.0f64, 103.0]).sub(100)?;
    /// let (sum, squares) = (values.sum(..)?, values.sum_squares(..)?);
    /// let (mean, variance) = sum.normalize_moments(&squares, 2.0, 100.0)?;
    /// assert_eq!((mean.item::<f64>()?, variance.item::<f64>()?), (102.0, 1.0));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "normalizeMoments")]
    #[track_caller]
    pub fn normalize_moments(
        &self,
        squares: &NdArray,
        count: f64,
        shift: f64,
    ) -> Result<(NdArray, NdArray)> {
        self.expect_readable("normalize_moments", Argument::X)?;
        squares.expect_readable("normalize_moments", Argument::Y)?;
        let mean = self.div(count)?;
        let variance = squares.div(count)?.sub(&mean.square()?)?;
        mean.addi(shift)?;
        Ok((mean, variance))
    }

    /// The share of elements that are zero; NaN of nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::from([0i32, 1, 0, 2]).zero_fraction()?, 0.5);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "zeroFraction")]
    #[track_caller]
    pub fn zero_fraction(&self) -> Result<f64> {
        self.expect_readable("zero_fraction", Argument::X)?;
        let count = self.len() as f64;
        Ok((count - self.count_nonzero_number()?) / count)
    }

    /// The largest minus the smallest element over the given axes.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for a wrong axis,
    /// [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) when there is no element.
    #[doc(alias = "ptp")]
    #[track_caller]
    pub fn peak_to_peak(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("peak_to_peak", Argument::X)?;
        let axes = axes.into();
        self.max(&axes)?.sub(&self.min(&axes)?)
    }

    /// [`peak_to_peak`](Self::peak_to_peak) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`peak_to_peak`](Self::peak_to_peak); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn peak_to_peak_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("peak_to_peak_into", &[self], || self.peak_to_peak(axes))
    }

    /// The mean of the elements over the given axes, each counted as often as its weight says; weights broadcast.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`](crate::ArrayErrorKind::Broadcast) when the shapes do not broadcast,
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let marks = NdArray::from([[1.0f64, 4.0], [2.0, 2.0]]);
    /// let mean = marks.weighted_mean(&NdArray::from([2.0f64, 1.0]), 1)?;
    /// assert_eq!(mean.to_vec::<f64>()?, [2.0, 2.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "average")]
    #[track_caller]
    pub fn weighted_mean(&self, weights: &NdArray, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("weighted_mean", Argument::X)?;
        weights.expect_readable("weighted_mean", Argument::Y)?;
        let axes = axes.into();
        let shape = self.broadcast_with("weighted_mean", weights)?;
        let weights = weights.broadcast_to(shape)?;
        let sum = (self.widened() * &weights).sum(&axes)?;
        let dtype = float_of(self.dtype().promote(weights.dtype()));
        sum.div(&weights.widened().sum(&axes)?)?.cast(dtype)
    }

    /// [`weighted_mean`](Self::weighted_mean) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`weighted_mean`](Self::weighted_mean); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn weighted_mean_into(
        &self,
        weights: &NdArray,
        axes: impl Into<Axes>,
        out: &NdArray,
    ) -> Result<()> {
        out.store("weighted_mean_into", &[self, weights], || {
            self.weighted_mean(weights, axes)
        })
    }

    /// The covariance of the rows of a matrix, each a variable whose observations are its elements: over `n - ddof`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`](crate::ArrayErrorKind::Form) when the array is not a matrix.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f64, 2.0, 3.0], [6.0, 4.0, 2.0]]);
    /// assert_eq!(a.covariance(1)?, NdArray::from([[1.0f64, -2.0], [-2.0, 4.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "cov")]
    #[track_caller]
    pub fn covariance(&self, ddof: usize) -> Result<NdArray> {
        self.expect_readable("covariance", Argument::X)?;
        let (_, count) = self.matrix_form("covariance")?;
        let wide = self.cast(widened(self.dtype()))?;
        let apart = wide.sub(&wide.mean(keep(1))?)?;
        let products = apart.mmul(&apart.transpose())?;
        let over = (count as f64 - ddof as f64).max(0.0);
        products.divi(over)?;
        products.cast(float_of(self.dtype()))
    }

    /// [`covariance`](Self::covariance) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`covariance`](Self::covariance); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn covariance_into(&self, ddof: usize, out: &NdArray) -> Result<()> {
        out.store("covariance_into", &[self], || self.covariance(ddof))
    }

    /// The correlation coefficients of the rows of a matrix: their covariance over the product of their deviations.
    ///
    /// A row without variance has no correlation: NaN.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`](crate::ArrayErrorKind::Form) when the array is not a matrix.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f64, 2.0, 3.0], [6.0, 4.0, 2.0]]);
    /// assert_eq!(a.correlation()?, NdArray::from([[1.0f64, -1.0], [-1.0, 1.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "corrcoef")]
    #[track_caller]
    pub fn correlation(&self) -> Result<NdArray> {
        self.expect_readable("correlation", Argument::X)?;
        let wide = self.cast(widened(self.dtype()))?;
        let covariance = wide.covariance(0)?;
        let deviation = covariance.diagonal(0)?.sqrt()?;
        covariance
            .divi(&deviation)?
            .divi(&deviation.expand_dims(1)?)?;
        covariance.clipi(-1.0, 1.0)?;
        covariance.cast(float_of(self.dtype()))
    }

    /// [`correlation`](Self::correlation) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`correlation`](Self::correlation); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn correlation_into(&self, out: &NdArray) -> Result<()> {
        out.store("correlation_into", &[self], || self.correlation())
    }

    /// The differences of neighbours along an axis, taken `times` times in a row; every time the axis gets shorter by one.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for a wrong axis,
    /// [`ArrayErrorKind::UnsupportedDType`](crate::ArrayErrorKind::UnsupportedDType) for bool arrays.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let squares = NdArray::from([0i32, 1, 4, 9]);
    /// assert_eq!(squares.diff(1, 0)?, NdArray::from([1i32, 3, 5]));
    /// assert_eq!(squares.diff(2, 0)?, NdArray::from([2i32, 2]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn diff(&self, times: usize, axis: isize) -> Result<NdArray> {
        self.expect_readable("diff", Argument::X)?;
        let size = self.size(axis)?;
        let at = if axis < 0 {
            axis + self.rank() as isize
        } else {
            axis
        } as usize;
        let mut differences = None;
        for size in (1..=size).rev().take(times) {
            let of = differences.as_ref().unwrap_or(self);
            let next = of.narrowed("diff", at, 1..size)?;
            differences = Some(next.sub(&of.narrowed("diff", at, 0..size - 1)?)?);
        }
        match differences {
            Some(differences) => Ok(differences),
            None => self.dup(),
        }
    }

    /// [`diff`](Self::diff) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`diff`](Self::diff); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn diff_into(&self, times: usize, axis: isize, out: &NdArray) -> Result<()> {
        out.store("diff_into", &[self], || self.diff(times, axis))
    }
}
