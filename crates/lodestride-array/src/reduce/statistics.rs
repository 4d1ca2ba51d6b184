//! Moments, counts and truth over axes.

use lodestride_kernels::ReduceOp;
use lodestride_shape::Axes;

use crate::NdArray;
use crate::checks::Watch;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::{InMethod, Result};

impl NdArray {
    /// The sample variance over the given axes: squared deviations from the mean over n - 1, as in ND4J.
    ///
    /// [`var_ddof`](Self::var_ddof) with 0 is the population variance, NumPy's default.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn var(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::Var { ddof: 1 }, &axes.into())
    }

    /// [`var`](Self::var) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`var`](Self::var); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn var_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::Var { ddof: 1 }, "var_into", &axes.into(), out)
    }

    /// The sample variance of all elements, over n - 1.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "varNumber")]
    #[track_caller]
    pub fn var_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::Var { ddof: 1 })
    }

    /// The sample standard deviation over the given axes: the root of [`var`](Self::var), over n - 1 as in ND4J.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn std(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::Std { ddof: 1 }, &axes.into())
    }

    /// [`std`](Self::std) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`std`](Self::std); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn std_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::Std { ddof: 1 }, "std_into", &axes.into(), out)
    }

    /// The sample standard deviation of all elements, over n - 1.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "stdNumber")]
    #[track_caller]
    pub fn std_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::Std { ddof: 1 })
    }

    /// The logarithm of the sum of exponentials over the given axes, without overflow on the way.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn log_sum_exp(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::LogSumExp, &axes.into())
    }

    /// [`log_sum_exp`](Self::log_sum_exp) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`log_sum_exp`](Self::log_sum_exp); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn log_sum_exp_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::LogSumExp, "log_sum_exp_into", &axes.into(), out)
    }

    /// The logarithm of the sum of the exponentials of all elements.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "logNumber")]
    #[track_caller]
    pub fn log_sum_exp_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::LogSumExp)
    }

    /// How many elements over the given axes are not zero; of a mask, how many are true.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[doc(alias = "countNonZero")]
    #[track_caller]
    pub fn count_nonzero(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::CountNonZero, &axes.into())
    }

    /// [`count_nonzero`](Self::count_nonzero) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`count_nonzero`](Self::count_nonzero); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn count_nonzero_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(
            ReduceOp::CountNonZero,
            "count_nonzero_into",
            &axes.into(),
            out,
        )
    }

    /// The number of elements that are not zero.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "countNumber")]
    #[track_caller]
    pub fn count_nonzero_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::CountNonZero)
    }

    /// How many elements over the given axes are zero; of a mask, how many are false.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[0.0f32, 1.0], [0.0, 2.0]]);
    /// assert_eq!(a.count_zero(0)?.to_vec::<i64>()?, [2, 0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "countZero")]
    #[track_caller]
    pub fn count_zero(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        let watch = Watch::start();
        let counts = self.reduce(ReduceOp::CountNonZero, &axes.into());
        let counts = counts.renamed("count_zero")?;
        counts.rsubi((self.len() / counts.len().max(1)) as i64)?;
        watch.made("count_zero", &[self], Ok(counts))
    }

    /// [`count_zero`](Self::count_zero) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`count_zero`](Self::count_zero); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn count_zero_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("count_zero_into", &[self], || self.count_zero(axes))
    }

    /// The mean of magnitudes over the given axes; NaN of nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[doc(alias = "amean")]
    #[track_caller]
    pub fn mean_abs(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::MeanAbs, &axes.into())
    }

    /// [`mean_abs`](Self::mean_abs) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`mean_abs`](Self::mean_abs); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn mean_abs_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::MeanAbs, "mean_abs_into", &axes.into(), out)
    }

    /// The mean of the magnitudes of all elements.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "meanNumber")]
    #[track_caller]
    pub fn mean_abs_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::MeanAbs)
    }

    /// The smallest magnitude over the given axes; NaN where an element is NaN.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Kernel`] when there is no element.
    #[doc(alias = "amin")]
    #[track_caller]
    pub fn min_abs(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::MinAbs, &axes.into())
    }

    /// [`min_abs`](Self::min_abs) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`min_abs`](Self::min_abs); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn min_abs_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::MinAbs, "min_abs_into", &axes.into(), out)
    }

    /// The smallest magnitude.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when there is no element or for a stale array.
    #[doc(alias = "minNumber")]
    #[track_caller]
    pub fn min_abs_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::MinAbs)
    }

    /// The sum of squares over the given axes.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn sum_squares(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::SumSquares, &axes.into())
    }

    /// [`sum_squares`](Self::sum_squares) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`sum_squares`](Self::sum_squares); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn sum_squares_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::SumSquares, "sum_squares_into", &axes.into(), out)
    }

    /// The sum of the squares of all elements.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "sumNumber")]
    #[track_caller]
    pub fn sum_squares_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::SumSquares)
    }

    /// The variance over the given axes: squared deviations from the mean over `n - ddof`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn var_ddof(&self, axes: impl Into<Axes>, ddof: usize) -> Result<NdArray> {
        self.reduce(ReduceOp::Var { ddof }, &axes.into())
    }

    /// [`var_ddof`](Self::var_ddof) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`var_ddof`](Self::var_ddof); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn var_ddof_into(&self, axes: impl Into<Axes>, ddof: usize, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::Var { ddof }, "var_ddof_into", &axes.into(), out)
    }

    /// The standard deviation over the given axes: the root of [`var_ddof`](Self::var_ddof).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn std_ddof(&self, axes: impl Into<Axes>, ddof: usize) -> Result<NdArray> {
        self.reduce(ReduceOp::Std { ddof }, &axes.into())
    }

    /// [`std_ddof`](Self::std_ddof) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`std_ddof`](Self::std_ddof); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn std_ddof_into(&self, axes: impl Into<Axes>, ddof: usize, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::Std { ddof }, "std_ddof_into", &axes.into(), out)
    }

    /// Whether any element over the given axes is true, that is not zero; false of nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn any(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::Any, &axes.into())
    }

    /// [`any`](Self::any) into a bool array of the result's shape.
    ///
    /// # Errors
    /// As [`any`](Self::any); [`ArrayErrorKind::OutputShape`] when `out` does not fit.
    #[track_caller]
    pub fn any_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::Any, "any_into", &axes.into(), out)
    }

    /// Whether any element is true, that is not zero.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn any_true(&self) -> Result<bool> {
        Ok(self.reduce_number(ReduceOp::Any)? != 0.0)
    }

    /// Whether all elements over the given axes are true, that is not zero; true of nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn all(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::All, &axes.into())
    }

    /// [`all`](Self::all) into a bool array of the result's shape.
    ///
    /// # Errors
    /// As [`all`](Self::all); [`ArrayErrorKind::OutputShape`] when `out` does not fit.
    #[track_caller]
    pub fn all_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::All, "all_into", &axes.into(), out)
    }

    /// Whether all elements are true, that is not zero.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn all_true(&self) -> Result<bool> {
        Ok(self.reduce_number(ReduceOp::All)? != 0.0)
    }
}
