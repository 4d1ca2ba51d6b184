//! Sign and rounding of every element.

use lodestride_kernels::UnaryOp;

use crate::NdArray;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;

impl NdArray {
    /// Every element with its sign changed; unsigned integers wrap.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays, [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "negative")]
    #[track_caller]
    pub fn neg(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Neg)
    }

    /// [`neg`](Self::neg) in place.
    ///
    /// # Errors
    /// As [`neg`](Self::neg).
    #[track_caller]
    pub fn negi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Neg, "negi")
    }

    /// [`neg`](Self::neg) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`neg`](Self::neg); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn neg_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Neg, "neg_into", out)
    }

    /// Every element's distance from zero.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn abs(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Abs)
    }

    /// [`abs`](Self::abs) in place.
    ///
    /// # Errors
    /// As [`abs`](Self::abs).
    #[track_caller]
    pub fn absi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Abs, "absi")
    }

    /// [`abs`](Self::abs) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`abs`](Self::abs); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn abs_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Abs, "abs_into", out)
    }

    /// -1, 0 or 1 by the sign of every element; NaN of NaN.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays, [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "signum")]
    #[track_caller]
    pub fn sign(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Sign)
    }

    /// [`sign`](Self::sign) in place.
    ///
    /// # Errors
    /// As [`sign`](Self::sign).
    #[track_caller]
    pub fn signi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Sign, "signi")
    }

    /// [`sign`](Self::sign) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`sign`](Self::sign); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn sign_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Sign, "sign_into", out)
    }

    /// One minus every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn one_minus(&self) -> Result<NdArray> {
        self.unary(UnaryOp::OneMinus)
    }

    /// [`one_minus`](Self::one_minus) in place.
    ///
    /// # Errors
    /// As [`one_minus`](Self::one_minus).
    #[track_caller]
    pub fn one_minusi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::OneMinus, "one_minusi")
    }

    /// [`one_minus`](Self::one_minus) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`one_minus`](Self::one_minus); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn one_minus_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::OneMinus, "one_minus_into", out)
    }

    /// Every element rounded down.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn floor(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Floor)
    }

    /// [`floor`](Self::floor) in place.
    ///
    /// # Errors
    /// As [`floor`](Self::floor).
    #[track_caller]
    pub fn floori(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Floor, "floori")
    }

    /// [`floor`](Self::floor) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`floor`](Self::floor); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn floor_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Floor, "floor_into", out)
    }

    /// Every element rounded up.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn ceil(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Ceil)
    }

    /// [`ceil`](Self::ceil) in place.
    ///
    /// # Errors
    /// As [`ceil`](Self::ceil).
    #[track_caller]
    pub fn ceili(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Ceil, "ceili")
    }

    /// [`ceil`](Self::ceil) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`ceil`](Self::ceil); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn ceil_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Ceil, "ceil_into", out)
    }

    /// Every element rounded to the nearest whole number, halves to even.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn round(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Round)
    }

    /// [`round`](Self::round) in place.
    ///
    /// # Errors
    /// As [`round`](Self::round).
    #[track_caller]
    pub fn roundi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Round, "roundi")
    }

    /// [`round`](Self::round) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`round`](Self::round); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn round_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Round, "round_into", out)
    }

    /// Every element rounded towards zero.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn trunc(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Trunc)
    }

    /// [`trunc`](Self::trunc) in place.
    ///
    /// # Errors
    /// As [`trunc`](Self::trunc).
    #[track_caller]
    pub fn trunci(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Trunc, "trunci")
    }

    /// [`trunc`](Self::trunc) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`trunc`](Self::trunc); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn trunc_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Trunc, "trunc_into", out)
    }
}
