//! Other functions of two arrays: larger and smaller, angles, distances.

use lodestride_kernels::BinaryOp;

use crate::NdArray;
use crate::arg::Arg;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;

impl NdArray {
    /// The larger of this array and a number or an array, element by element; NaN where either is NaN.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[doc(alias = "max")]
    #[track_caller]
    pub fn maximum<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Max, rhs.into())
    }

    /// [`maximum`](Self::maximum) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn maximumi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::Max, "maximumi", rhs.into())
    }

    /// [`maximum`](Self::maximum) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`maximum`](Self::maximum); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn maximum_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Max, "maximum_into", rhs.into(), out)
    }

    /// The smaller of this array and a number or an array, element by element; NaN where either is NaN.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[doc(alias = "min")]
    #[track_caller]
    pub fn minimum<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Min, rhs.into())
    }

    /// [`minimum`](Self::minimum) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn minimumi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::Min, "minimumi", rhs.into())
    }

    /// [`minimum`](Self::minimum) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`minimum`](Self::minimum); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn minimum_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Min, "minimum_into", rhs.into(), out)
    }

    /// The larger distance from zero, element by element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast,
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays.
    #[track_caller]
    pub fn abs_maximum<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::AbsMax, rhs.into())
    }

    /// [`abs_maximum`](Self::abs_maximum) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn abs_maximumi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::AbsMax, "abs_maximumi", rhs.into())
    }

    /// [`abs_maximum`](Self::abs_maximum) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`abs_maximum`](Self::abs_maximum); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn abs_maximum_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::AbsMax, "abs_maximum_into", rhs.into(), out)
    }

    /// The smaller distance from zero, element by element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast,
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays.
    #[track_caller]
    pub fn abs_minimum<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::AbsMin, rhs.into())
    }

    /// [`abs_minimum`](Self::abs_minimum) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn abs_minimumi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::AbsMin, "abs_minimumi", rhs.into())
    }

    /// [`abs_minimum`](Self::abs_minimum) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`abs_minimum`](Self::abs_minimum); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn abs_minimum_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::AbsMin, "abs_minimum_into", rhs.into(), out)
    }

    /// The angle, from -pi to pi, of the point with this array as ordinate and the other as abscissa.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[track_caller]
    pub fn atan2<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Atan2, rhs.into())
    }

    /// [`atan2`](Self::atan2) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn atan2i<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::Atan2, "atan2i", rhs.into())
    }

    /// [`atan2`](Self::atan2) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`atan2`](Self::atan2); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn atan2_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Atan2, "atan2_into", rhs.into(), out)
    }

    /// `sqrt(x * x + y * y)`, without overflow on the way.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[track_caller]
    pub fn hypot<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Hypot, rhs.into())
    }

    /// [`hypot`](Self::hypot) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn hypoti<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::Hypot, "hypoti", rhs.into())
    }

    /// [`hypot`](Self::hypot) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`hypot`](Self::hypot); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn hypot_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Hypot, "hypot_into", rhs.into(), out)
    }

    /// `log(exp(x) + exp(y))`, without overflow on the way.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[doc(alias = "logaddexp")]
    #[track_caller]
    pub fn log_add_exp<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::LogAddExp, rhs.into())
    }

    /// [`log_add_exp`](Self::log_add_exp) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn log_add_expi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::LogAddExp, "log_add_expi", rhs.into())
    }

    /// [`log_add_exp`](Self::log_add_exp) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`log_add_exp`](Self::log_add_exp); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn log_add_exp_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::LogAddExp, "log_add_exp_into", rhs.into(), out)
    }

    /// The square of the difference to a number or an array.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast,
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays.
    #[track_caller]
    pub fn squared_difference<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::SquaredDifference, rhs.into())
    }

    /// [`squared_difference`](Self::squared_difference) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn squared_differencei<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(
            BinaryOp::SquaredDifference,
            "squared_differencei",
            rhs.into(),
        )
    }

    /// [`squared_difference`](Self::squared_difference) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`squared_difference`](Self::squared_difference); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn squared_difference_into<'a>(
        &self,
        rhs: impl Into<Arg<'a>>,
        out: &NdArray,
    ) -> Result<()> {
        self.binary_into(
            BinaryOp::SquaredDifference,
            "squared_difference_into",
            rhs.into(),
            out,
        )
    }
}
