//! Powers, roots, exponentials, logarithms and the error function of every element.

use lodestride_kernels::UnaryOp;

use crate::NdArray;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;

impl NdArray {
    /// Every element times itself.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn square(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Square)
    }

    /// [`square`](Self::square) in place.
    ///
    /// # Errors
    /// As [`square`](Self::square).
    #[track_caller]
    pub fn squarei(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Square, "squarei")
    }

    /// [`square`](Self::square) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`square`](Self::square); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn square_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Square, "square_into", out)
    }

    /// Every element to the third power.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn cube(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Cube)
    }

    /// [`cube`](Self::cube) in place.
    ///
    /// # Errors
    /// As [`cube`](Self::cube).
    #[track_caller]
    pub fn cubei(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Cube, "cubei")
    }

    /// [`cube`](Self::cube) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`cube`](Self::cube); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn cube_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Cube, "cube_into", out)
    }

    /// The square root of every element; NaN of negative ones.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn sqrt(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Sqrt)
    }

    /// [`sqrt`](Self::sqrt) in place.
    ///
    /// # Errors
    /// As [`sqrt`](Self::sqrt); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn sqrti(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Sqrt, "sqrti")
    }

    /// [`sqrt`](Self::sqrt) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`sqrt`](Self::sqrt); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn sqrt_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Sqrt, "sqrt_into", out)
    }

    /// One divided by the square root of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn rsqrt(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Rsqrt)
    }

    /// [`rsqrt`](Self::rsqrt) in place.
    ///
    /// # Errors
    /// As [`rsqrt`](Self::rsqrt); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn rsqrti(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Rsqrt, "rsqrti")
    }

    /// [`rsqrt`](Self::rsqrt) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`rsqrt`](Self::rsqrt); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn rsqrt_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Rsqrt, "rsqrt_into", out)
    }

    /// The cube root of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn cbrt(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Cbrt)
    }

    /// [`cbrt`](Self::cbrt) in place.
    ///
    /// # Errors
    /// As [`cbrt`](Self::cbrt); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn cbrti(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Cbrt, "cbrti")
    }

    /// [`cbrt`](Self::cbrt) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`cbrt`](Self::cbrt); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn cbrt_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Cbrt, "cbrt_into", out)
    }

    /// One divided by every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn reciprocal(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Reciprocal)
    }

    /// [`reciprocal`](Self::reciprocal) in place.
    ///
    /// # Errors
    /// As [`reciprocal`](Self::reciprocal); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn reciprocali(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Reciprocal, "reciprocali")
    }

    /// [`reciprocal`](Self::reciprocal) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`reciprocal`](Self::reciprocal); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn reciprocal_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Reciprocal, "reciprocal_into", out)
    }

    /// `e` to the power of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::from([0.0f32, 1.0]).exp()?.to_vec::<f32>()?[0], 1.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn exp(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Exp)
    }

    /// [`exp`](Self::exp) in place.
    ///
    /// # Errors
    /// As [`exp`](Self::exp); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn expi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Exp, "expi")
    }

    /// [`exp`](Self::exp) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`exp`](Self::exp); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn exp_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Exp, "exp_into", out)
    }

    /// Two to the power of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn exp2(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Exp2)
    }

    /// [`exp2`](Self::exp2) in place.
    ///
    /// # Errors
    /// As [`exp2`](Self::exp2); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn exp2i(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Exp2, "exp2i")
    }

    /// [`exp2`](Self::exp2) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`exp2`](Self::exp2); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn exp2_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Exp2, "exp2_into", out)
    }

    /// `exp(x) - 1` of every element, accurate near zero.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn expm1(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Expm1)
    }

    /// [`expm1`](Self::expm1) in place.
    ///
    /// # Errors
    /// As [`expm1`](Self::expm1); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn expm1i(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Expm1, "expm1i")
    }

    /// [`expm1`](Self::expm1) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`expm1`](Self::expm1); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn expm1_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Expm1, "expm1_into", out)
    }

    /// The natural logarithm of every element; NaN of negative ones.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn log(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Log)
    }

    /// [`log`](Self::log) in place.
    ///
    /// # Errors
    /// As [`log`](Self::log); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn logi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Log, "logi")
    }

    /// [`log`](Self::log) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`log`](Self::log); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn log_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Log, "log_into", out)
    }

    /// The logarithm to base 2 of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn log2(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Log2)
    }

    /// [`log2`](Self::log2) in place.
    ///
    /// # Errors
    /// As [`log2`](Self::log2); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn log2i(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Log2, "log2i")
    }

    /// [`log2`](Self::log2) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`log2`](Self::log2); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn log2_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Log2, "log2_into", out)
    }

    /// The logarithm to base 10 of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn log10(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Log10)
    }

    /// [`log10`](Self::log10) in place.
    ///
    /// # Errors
    /// As [`log10`](Self::log10); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn log10i(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Log10, "log10i")
    }

    /// [`log10`](Self::log10) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`log10`](Self::log10); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn log10_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Log10, "log10_into", out)
    }

    /// `log(1 + x)` of every element, accurate near zero.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn log1p(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Log1p)
    }

    /// [`log1p`](Self::log1p) in place.
    ///
    /// # Errors
    /// As [`log1p`](Self::log1p); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn log1pi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Log1p, "log1pi")
    }

    /// [`log1p`](Self::log1p) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`log1p`](Self::log1p); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn log1p_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Log1p, "log1p_into", out)
    }

    /// The error function of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn erf(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Erf)
    }

    /// [`erf`](Self::erf) in place.
    ///
    /// # Errors
    /// As [`erf`](Self::erf); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn erfi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Erf, "erfi")
    }

    /// [`erf`](Self::erf) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`erf`](Self::erf); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn erf_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Erf, "erf_into", out)
    }

    /// `1 - erf(x)` of every element, accurate where that is small.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn erfc(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Erfc)
    }

    /// [`erfc`](Self::erfc) in place.
    ///
    /// # Errors
    /// As [`erfc`](Self::erfc); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn erfci(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Erfc, "erfci")
    }

    /// [`erfc`](Self::erfc) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`erfc`](Self::erfc); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn erfc_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Erfc, "erfc_into", out)
    }
}
