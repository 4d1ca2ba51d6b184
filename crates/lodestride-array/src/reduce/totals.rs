//! Sums, products, extremes and norms over axes.
//!
//! Every op has three forms: `sum(axes)` returns an array, `sum_into(axes, &out)` writes one you have, `sum_number()`
//! reduces everything to an `f64`. What can be a 64-bit integer has a fourth, `sum_scalar()`, which is exact.

use lodestride_buffer::Scalar;
use lodestride_kernels::ReduceOp;
use lodestride_shape::Axes;

use crate::NdArray;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;

impl NdArray {
    /// The sum over the given axes; 0 of nothing. Integers are summed in 64 bits.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::{NdArray, keep};
    ///
    /// let a = NdArray::from([[0.0f32, 8.0, 4.0], [5.0, 3.0, 5.0], [2.0, 3.0, 6.0]]);
    /// assert_eq!(a.sum(0)?.to_vec::<f32>()?, [7.0, 14.0, 15.0]);
    /// assert_eq!(a.sum(keep(1))?.shape()[..], [3, 1]);
    /// assert_eq!(a.sum(..)?.item::<f32>()?, 36.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn sum(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::Sum, &axes.into())
    }

    /// [`sum`](Self::sum) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`sum`](Self::sum); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn sum_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::Sum, "sum_into", &axes.into(), out)
    }

    /// The sum of all elements; integers beyond 2^53 are rounded, but not by [`sum_scalar`](Self::sum_scalar).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "sumNumber")]
    #[track_caller]
    pub fn sum_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::Sum)
    }

    /// The sum of all elements as a number of the result's kind: integers beyond 2^53 exactly, which
    /// [`sum_number`](Self::sum_number) rounds. Integers are summed in 64 bits.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Scalar};
    ///
    /// let a = NdArray::from([i64::MAX - 1, 1]);
    /// assert_eq!(a.sum_scalar()?, Scalar::Int(i64::MAX));
    /// assert_eq!(a.sum_number()?, 9_223_372_036_854_775_808.0); // one more
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn sum_scalar(&self) -> Result<Scalar> {
        self.reduce(ReduceOp::Sum, &Axes::all())?.get_flat(0)
    }

    /// The arithmetic mean over the given axes; NaN of nothing. Of integers it is f64.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn mean(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::Mean, &axes.into())
    }

    /// [`mean`](Self::mean) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`mean`](Self::mean); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn mean_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::Mean, "mean_into", &axes.into(), out)
    }

    /// The arithmetic mean of all elements.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "meanNumber")]
    #[track_caller]
    pub fn mean_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::Mean)
    }

    /// The product over the given axes; 1 of nothing. Integers are multiplied in 64 bits.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn prod(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::Prod, &axes.into())
    }

    /// [`prod`](Self::prod) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`prod`](Self::prod); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn prod_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::Prod, "prod_into", &axes.into(), out)
    }

    /// The product of all elements; integers beyond 2^53 are rounded, but not by [`prod_scalar`](Self::prod_scalar).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "prodNumber")]
    #[track_caller]
    pub fn prod_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::Prod)
    }

    /// The product of all elements as a number of the result's kind: integers beyond 2^53 exactly, which
    /// [`prod_number`](Self::prod_number) rounds. Integers are multiplied in 64 bits.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn prod_scalar(&self) -> Result<Scalar> {
        self.reduce(ReduceOp::Prod, &Axes::all())?.get_flat(0)
    }

    /// The largest element over the given axes; NaN where one is NaN.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Kernel`] when there is no element.
    #[track_caller]
    pub fn max(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::Max, &axes.into())
    }

    /// [`max`](Self::max) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`max`](Self::max); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn max_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::Max, "max_into", &axes.into(), out)
    }

    /// The largest element; integers beyond 2^53 are rounded, but not by [`max_scalar`](Self::max_scalar).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when there is no element or for a stale array.
    #[doc(alias = "maxNumber")]
    #[track_caller]
    pub fn max_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::Max)
    }

    /// The largest element as a number of the result's kind: integers beyond 2^53 exactly, which
    /// [`max_number`](Self::max_number) rounds.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when there is no element or for a stale array.
    #[track_caller]
    pub fn max_scalar(&self) -> Result<Scalar> {
        self.reduce(ReduceOp::Max, &Axes::all())?.get_flat(0)
    }

    /// The smallest element over the given axes; NaN where one is NaN.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Kernel`] when there is no element.
    #[track_caller]
    pub fn min(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::Min, &axes.into())
    }

    /// [`min`](Self::min) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`min`](Self::min); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn min_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::Min, "min_into", &axes.into(), out)
    }

    /// The smallest element; integers beyond 2^53 are rounded, but not by [`min_scalar`](Self::min_scalar).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when there is no element or for a stale array.
    #[doc(alias = "minNumber")]
    #[track_caller]
    pub fn min_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::Min)
    }

    /// The smallest element as a number of the result's kind: integers beyond 2^53 exactly, which
    /// [`min_number`](Self::min_number) rounds.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when there is no element or for a stale array.
    #[track_caller]
    pub fn min_scalar(&self) -> Result<Scalar> {
        self.reduce(ReduceOp::Min, &Axes::all())?.get_flat(0)
    }

    /// The sum of magnitudes over the given axes.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn norm1(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::Norm1, &axes.into())
    }

    /// [`norm1`](Self::norm1) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`norm1`](Self::norm1); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn norm1_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::Norm1, "norm1_into", &axes.into(), out)
    }

    /// The sum of the magnitudes of all elements.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "norm1Number")]
    #[track_caller]
    pub fn norm1_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::Norm1)
    }

    /// The Euclidean norm over the given axes, without overflow on the way.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn norm2(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::Norm2, &axes.into())
    }

    /// [`norm2`](Self::norm2) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`norm2`](Self::norm2); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn norm2_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::Norm2, "norm2_into", &axes.into(), out)
    }

    /// The Euclidean norm of all elements.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "norm2Number")]
    #[track_caller]
    pub fn norm2_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::Norm2)
    }

    /// The largest magnitude over the given axes; 0 of nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[doc(alias = "amax")]
    #[track_caller]
    pub fn norm_max(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::NormMax, &axes.into())
    }

    /// [`norm_max`](Self::norm_max) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`norm_max`](Self::norm_max); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn norm_max_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.reduce_into(ReduceOp::NormMax, "norm_max_into", &axes.into(), out)
    }

    /// The largest magnitude.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "normNumber")]
    #[track_caller]
    pub fn norm_max_number(&self) -> Result<f64> {
        self.reduce_number(ReduceOp::NormMax)
    }
}
