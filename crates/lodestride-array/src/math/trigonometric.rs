//! Trigonometric and hyperbolic functions of every element, and their inverses.

use lodestride_kernels::UnaryOp;

use crate::NdArray;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;

impl NdArray {
    /// The sine of every element, in radians.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn sin(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Sin)
    }

    /// [`sin`](Self::sin) in place.
    ///
    /// # Errors
    /// As [`sin`](Self::sin); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn sini(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Sin, "sini")
    }

    /// [`sin`](Self::sin) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`sin`](Self::sin); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn sin_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Sin, "sin_into", out)
    }

    /// The cosine of every element, in radians.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn cos(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Cos)
    }

    /// [`cos`](Self::cos) in place.
    ///
    /// # Errors
    /// As [`cos`](Self::cos); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn cosi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Cos, "cosi")
    }

    /// [`cos`](Self::cos) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`cos`](Self::cos); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn cos_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Cos, "cos_into", out)
    }

    /// The tangent of every element, in radians.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn tan(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Tan)
    }

    /// [`tan`](Self::tan) in place.
    ///
    /// # Errors
    /// As [`tan`](Self::tan); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn tani(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Tan, "tani")
    }

    /// [`tan`](Self::tan) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`tan`](Self::tan); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn tan_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Tan, "tan_into", out)
    }

    /// The angle, from -pi/2 to pi/2, whose sine every element is.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn asin(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Asin)
    }

    /// [`asin`](Self::asin) in place.
    ///
    /// # Errors
    /// As [`asin`](Self::asin); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn asini(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Asin, "asini")
    }

    /// [`asin`](Self::asin) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`asin`](Self::asin); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn asin_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Asin, "asin_into", out)
    }

    /// The angle, from 0 to pi, whose cosine every element is.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn acos(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Acos)
    }

    /// [`acos`](Self::acos) in place.
    ///
    /// # Errors
    /// As [`acos`](Self::acos); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn acosi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Acos, "acosi")
    }

    /// [`acos`](Self::acos) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`acos`](Self::acos); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn acos_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Acos, "acos_into", out)
    }

    /// The angle, from -pi/2 to pi/2, whose tangent every element is.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn atan(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Atan)
    }

    /// [`atan`](Self::atan) in place.
    ///
    /// # Errors
    /// As [`atan`](Self::atan); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn atani(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Atan, "atani")
    }

    /// [`atan`](Self::atan) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`atan`](Self::atan); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn atan_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Atan, "atan_into", out)
    }

    /// The hyperbolic sine of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn sinh(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Sinh)
    }

    /// [`sinh`](Self::sinh) in place.
    ///
    /// # Errors
    /// As [`sinh`](Self::sinh); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn sinhi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Sinh, "sinhi")
    }

    /// [`sinh`](Self::sinh) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`sinh`](Self::sinh); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn sinh_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Sinh, "sinh_into", out)
    }

    /// The hyperbolic cosine of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn cosh(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Cosh)
    }

    /// [`cosh`](Self::cosh) in place.
    ///
    /// # Errors
    /// As [`cosh`](Self::cosh); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn coshi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Cosh, "coshi")
    }

    /// [`cosh`](Self::cosh) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`cosh`](Self::cosh); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn cosh_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Cosh, "cosh_into", out)
    }

    /// The hyperbolic tangent of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn tanh(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Tanh)
    }

    /// [`tanh`](Self::tanh) in place.
    ///
    /// # Errors
    /// As [`tanh`](Self::tanh); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn tanhi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Tanh, "tanhi")
    }

    /// [`tanh`](Self::tanh) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`tanh`](Self::tanh); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn tanh_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Tanh, "tanh_into", out)
    }

    /// The inverse of `sinh`, of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn asinh(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Asinh)
    }

    /// [`asinh`](Self::asinh) in place.
    ///
    /// # Errors
    /// As [`asinh`](Self::asinh); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn asinhi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Asinh, "asinhi")
    }

    /// [`asinh`](Self::asinh) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`asinh`](Self::asinh); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn asinh_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Asinh, "asinh_into", out)
    }

    /// The inverse of `cosh`, of every element; NaN below 1.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn acosh(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Acosh)
    }

    /// [`acosh`](Self::acosh) in place.
    ///
    /// # Errors
    /// As [`acosh`](Self::acosh); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn acoshi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Acosh, "acoshi")
    }

    /// [`acosh`](Self::acosh) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`acosh`](Self::acosh); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn acosh_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Acosh, "acosh_into", out)
    }

    /// The inverse of `tanh`, of every element; NaN outside -1 to 1.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn atanh(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Atanh)
    }

    /// [`atanh`](Self::atanh) in place.
    ///
    /// # Errors
    /// As [`atanh`](Self::atanh); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn atanhi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Atanh, "atanhi")
    }

    /// [`atanh`](Self::atanh) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`atanh`](Self::atanh); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn atanh_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Atanh, "atanh_into", out)
    }
}
