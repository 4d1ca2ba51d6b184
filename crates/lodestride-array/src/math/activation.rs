//! Activation functions of neural networks, of every element.

use lodestride_kernels::UnaryOp;

use crate::NdArray;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;

impl NdArray {
    /// `1 / (1 + exp(-x))` of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn sigmoid(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Sigmoid)
    }

    /// [`sigmoid`](Self::sigmoid) in place.
    ///
    /// # Errors
    /// As [`sigmoid`](Self::sigmoid); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn sigmoidi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Sigmoid, "sigmoidi")
    }

    /// [`sigmoid`](Self::sigmoid) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`sigmoid`](Self::sigmoid); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn sigmoid_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Sigmoid, "sigmoid_into", out)
    }

    /// `log(sigmoid(x))` of every element, without overflow on the way.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn log_sigmoid(&self) -> Result<NdArray> {
        self.unary(UnaryOp::LogSigmoid)
    }

    /// [`log_sigmoid`](Self::log_sigmoid) in place.
    ///
    /// # Errors
    /// As [`log_sigmoid`](Self::log_sigmoid); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn log_sigmoidi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::LogSigmoid, "log_sigmoidi")
    }

    /// [`log_sigmoid`](Self::log_sigmoid) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`log_sigmoid`](Self::log_sigmoid); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn log_sigmoid_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::LogSigmoid, "log_sigmoid_into", out)
    }

    /// `log(1 + exp(x))` of every element, without overflow on the way.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn softplus(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Softplus)
    }

    /// [`softplus`](Self::softplus) in place.
    ///
    /// # Errors
    /// As [`softplus`](Self::softplus); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn softplusi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Softplus, "softplusi")
    }

    /// [`softplus`](Self::softplus) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`softplus`](Self::softplus); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn softplus_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Softplus, "softplus_into", out)
    }

    /// `x / (1 + |x|)` of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn softsign(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Softsign)
    }

    /// [`softsign`](Self::softsign) in place.
    ///
    /// # Errors
    /// As [`softsign`](Self::softsign); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn softsigni(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Softsign, "softsigni")
    }

    /// [`softsign`](Self::softsign) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`softsign`](Self::softsign); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn softsign_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Softsign, "softsign_into", out)
    }

    /// Every element, but zero where it is negative.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn relu(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Relu)
    }

    /// [`relu`](Self::relu) in place.
    ///
    /// # Errors
    /// As [`relu`](Self::relu).
    #[track_caller]
    pub fn relui(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Relu, "relui")
    }

    /// [`relu`](Self::relu) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`relu`](Self::relu); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn relu_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Relu, "relu_into", out)
    }

    /// Every element limited to the range from 0 to 6.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn relu6(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Relu6)
    }

    /// [`relu6`](Self::relu6) in place.
    ///
    /// # Errors
    /// As [`relu6`](Self::relu6).
    #[track_caller]
    pub fn relu6i(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Relu6, "relu6i")
    }

    /// [`relu6`](Self::relu6) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`relu6`](Self::relu6); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn relu6_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Relu6, "relu6_into", out)
    }

    /// Every element, but `0.01 x` where it is negative.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn leaky_relu(&self) -> Result<NdArray> {
        self.unary(UnaryOp::LeakyRelu)
    }

    /// [`leaky_relu`](Self::leaky_relu) in place.
    ///
    /// # Errors
    /// As [`leaky_relu`](Self::leaky_relu); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn leaky_relui(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::LeakyRelu, "leaky_relui")
    }

    /// [`leaky_relu`](Self::leaky_relu) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`leaky_relu`](Self::leaky_relu); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn leaky_relu_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::LeakyRelu, "leaky_relu_into", out)
    }

    /// Every element, but `exp(x) - 1` where it is negative.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn elu(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Elu)
    }

    /// [`elu`](Self::elu) in place.
    ///
    /// # Errors
    /// As [`elu`](Self::elu); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn elui(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Elu, "elui")
    }

    /// [`elu`](Self::elu) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`elu`](Self::elu); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn elu_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Elu, "elu_into", out)
    }

    /// The scaled `elu` that keeps mean 0 and variance 1, of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn selu(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Selu)
    }

    /// [`selu`](Self::selu) in place.
    ///
    /// # Errors
    /// As [`selu`](Self::selu); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn selui(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Selu, "selui")
    }

    /// [`selu`](Self::selu) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`selu`](Self::selu); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn selu_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Selu, "selu_into", out)
    }

    /// `x` times the normal distribution function of `x` (the exact form, by `erf`), of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn gelu(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Gelu)
    }

    /// [`gelu`](Self::gelu) in place.
    ///
    /// # Errors
    /// As [`gelu`](Self::gelu); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn gelui(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Gelu, "gelui")
    }

    /// [`gelu`](Self::gelu) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`gelu`](Self::gelu); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn gelu_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Gelu, "gelu_into", out)
    }

    /// `x * sigmoid(x)` of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "silu")]
    #[track_caller]
    pub fn swish(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Swish)
    }

    /// [`swish`](Self::swish) in place.
    ///
    /// # Errors
    /// As [`swish`](Self::swish); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn swishi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Swish, "swishi")
    }

    /// [`swish`](Self::swish) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`swish`](Self::swish); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn swish_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Swish, "swish_into", out)
    }

    /// `x * tanh(softplus(x))` of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn mish(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Mish)
    }

    /// [`mish`](Self::mish) in place.
    ///
    /// # Errors
    /// As [`mish`](Self::mish); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn mishi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Mish, "mishi")
    }

    /// [`mish`](Self::mish) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`mish`](Self::mish); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn mish_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Mish, "mish_into", out)
    }

    /// `0.2 x + 0.5` limited to the range from 0 to 1, of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "hardSigmoid")]
    #[track_caller]
    pub fn hard_sigmoid(&self) -> Result<NdArray> {
        self.unary(UnaryOp::HardSigmoid)
    }

    /// [`hard_sigmoid`](Self::hard_sigmoid) in place.
    ///
    /// # Errors
    /// As [`hard_sigmoid`](Self::hard_sigmoid); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn hard_sigmoidi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::HardSigmoid, "hard_sigmoidi")
    }

    /// [`hard_sigmoid`](Self::hard_sigmoid) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`hard_sigmoid`](Self::hard_sigmoid); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn hard_sigmoid_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::HardSigmoid, "hard_sigmoid_into", out)
    }

    /// Every element limited to the range from -1 to 1.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn hard_tanh(&self) -> Result<NdArray> {
        self.unary(UnaryOp::HardTanh)
    }

    /// [`hard_tanh`](Self::hard_tanh) in place.
    ///
    /// # Errors
    /// As [`hard_tanh`](Self::hard_tanh); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn hard_tanhi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::HardTanh, "hard_tanhi")
    }

    /// [`hard_tanh`](Self::hard_tanh) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`hard_tanh`](Self::hard_tanh); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn hard_tanh_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::HardTanh, "hard_tanh_into", out)
    }

    /// `tanh(x)`, but zero where it is negative, of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn rectified_tanh(&self) -> Result<NdArray> {
        self.unary(UnaryOp::RectifiedTanh)
    }

    /// [`rectified_tanh`](Self::rectified_tanh) in place.
    ///
    /// # Errors
    /// As [`rectified_tanh`](Self::rectified_tanh); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn rectified_tanhi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::RectifiedTanh, "rectified_tanhi")
    }

    /// [`rectified_tanh`](Self::rectified_tanh) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`rectified_tanh`](Self::rectified_tanh); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn rectified_tanh_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::RectifiedTanh, "rectified_tanh_into", out)
    }

    /// LeCun's rational approximation of `1.7159 tanh(2 x / 3)`, of every element.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn rational_tanh(&self) -> Result<NdArray> {
        self.unary(UnaryOp::RationalTanh)
    }

    /// [`rational_tanh`](Self::rational_tanh) in place.
    ///
    /// # Errors
    /// As [`rational_tanh`](Self::rational_tanh); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn rational_tanhi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::RationalTanh, "rational_tanhi")
    }

    /// [`rational_tanh`](Self::rational_tanh) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`rational_tanh`](Self::rational_tanh); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn rational_tanh_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::RationalTanh, "rational_tanh_into", out)
    }

    /// 1 where an element is positive, else 0.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn step(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Step)
    }

    /// [`step`](Self::step) in place.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    #[track_caller]
    pub fn stepi(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::Step, "stepi")
    }

    /// [`step`](Self::step) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`step`](Self::step); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn step_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Step, "step_into", out)
    }
}
