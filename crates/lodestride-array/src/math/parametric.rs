//! Activation functions with a parameter other than the usual one. Those without are in `activation`.

use lodestride_buffer::{Argument, Scalar};
use lodestride_kernels::{BinaryOp, UnaryOp};

use crate::NdArray;
use crate::compute::result_dtype;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::{Result, expect_within};
use crate::lazy::Lazy;
use crate::reduce::float_of;

impl NdArray {
    /// Every element, but `alpha x` where it is negative; [`leaky_relu`](Self::leaky_relu) has an `alpha` of 0.01.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when `alpha` is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let x = NdArray::from([-2.0f32, 3.0]);
    /// assert_eq!(x.leaky_relu_with(0.25)?.to_vec::<f32>()?, [-0.5, 3.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "LeakyReLU")]
    #[track_caller]
    pub fn leaky_relu_with(&self, alpha: f64) -> Result<NdArray> {
        let op = "leaky_relu_with";
        self.bent(op, UnaryOp::LeakyRelu, alpha)?.eval_as(op)
    }

    /// [`leaky_relu_with`](Self::leaky_relu_with) in place.
    ///
    /// # Errors
    /// As [`leaky_relu_with`](Self::leaky_relu_with); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn leaky_relui_with(&self, alpha: f64) -> Result<&Self> {
        let op = "leaky_relui_with";
        self.expect_readable(op, Argument::Z)?;
        self.bent(op, UnaryOp::LeakyRelu, alpha)?
            .eval_into_as(op, self)?;
        Ok(self)
    }

    /// [`leaky_relu_with`](Self::leaky_relu_with) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`leaky_relu_with`](Self::leaky_relu_with); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when
    /// `out` does not fit.
    #[track_caller]
    pub fn leaky_relu_with_into(&self, alpha: f64, out: &NdArray) -> Result<()> {
        let op = "leaky_relu_with_into";
        out.expect_readable(op, Argument::Z)?;
        self.bent(op, UnaryOp::LeakyRelu, alpha)?
            .eval_into_as(op, out)
    }

    /// Every element, but `alpha (exp(x) - 1)` where it is negative; [`elu`](Self::elu) has an `alpha` of 1.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when `alpha` is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let x = NdArray::from([f64::NEG_INFINITY, 0.0, 3.0]);
    /// assert_eq!(x.elu_with(0.5)?.to_vec::<f64>()?, [-0.5, 0.0, 3.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn elu_with(&self, alpha: f64) -> Result<NdArray> {
        let op = "elu_with";
        self.bent(op, UnaryOp::Elu, alpha)?.eval_as(op)
    }

    /// [`elu_with`](Self::elu_with) in place.
    ///
    /// # Errors
    /// As [`elu_with`](Self::elu_with); [`ArrayErrorKind::Cast`] for integer arrays.
    #[track_caller]
    pub fn elui_with(&self, alpha: f64) -> Result<&Self> {
        let op = "elui_with";
        self.expect_readable(op, Argument::Z)?;
        self.bent(op, UnaryOp::Elu, alpha)?.eval_into_as(op, self)?;
        Ok(self)
    }

    /// [`elu_with`](Self::elu_with) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`elu_with`](Self::elu_with); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn elu_with_into(&self, alpha: f64, out: &NdArray) -> Result<()> {
        let op = "elu_with_into";
        out.expect_readable(op, Argument::Z)?;
        self.bent(op, UnaryOp::Elu, alpha)?.eval_into_as(op, out)
    }

    /// 1 where an element is above a cut-off, else 0; [`step`](Self::step) has a cut-off of 0.
    ///
    /// The function that keeps what is above and gives the cut-off below, ND4J's `relu(x, cutoff)`, is
    /// [`maximum`](Self::maximum).
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let x = NdArray::from([1i32, 2, 3]);
    /// assert_eq!(x.step_with(1.5)?.to_vec::<i32>()?, [0, 1, 1]);
    /// assert_eq!(x.maximum(2)?.to_vec::<i32>()?, [2, 2, 3]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "cutoff")]
    #[track_caller]
    pub fn step_with(&self, cutoff: impl Into<Scalar>) -> Result<NdArray> {
        let op = "step_with";
        self.stepped(op, cutoff.into())?.eval_as(op)
    }

    /// [`step_with`](Self::step_with) in place.
    ///
    /// # Errors
    /// As [`step_with`](Self::step_with).
    #[track_caller]
    pub fn stepi_with(&self, cutoff: impl Into<Scalar>) -> Result<&Self> {
        let op = "stepi_with";
        self.expect_readable(op, Argument::Z)?;
        self.stepped(op, cutoff.into())?.eval_into_as(op, self)?;
        Ok(self)
    }

    /// [`step_with`](Self::step_with) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`step_with`](Self::step_with); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn step_with_into(&self, cutoff: impl Into<Scalar>, out: &NdArray) -> Result<()> {
        let op = "step_with_into";
        out.expect_readable(op, Argument::Z)?;
        self.stepped(op, cutoff.into())?.eval_into_as(op, out)
    }

    /// The identity right of 0 and `alpha` times a function left of it. One of both terms is 0, so that their sum is exact.
    #[track_caller]
    fn bent(&self, op: &'static str, left: UnaryOp, alpha: f64) -> Result<Lazy<'_>> {
        self.expect_readable(op, Argument::X)?;
        expect_within(op, "alpha", alpha, (f64::MIN, f64::MAX))?;
        let x = self.widened();
        let mut below = x.clone().apply_with(BinaryOp::Min, 0.0);
        if left == UnaryOp::Elu {
            below = below.expm1();
        }
        let both = x.apply_with(BinaryOp::Max, 0.0) + below * alpha;
        Ok(both.cast(float_of(self.dtype())))
    }

    #[track_caller]
    fn stepped(&self, op: &'static str, cutoff: Scalar) -> Result<Lazy<'_>> {
        self.expect_readable(op, Argument::X)?;
        let dtype = result_dtype(op, self.dtype(), UnaryOp::Step.result_dtype(self.dtype()))?;
        let above = self.lazy().apply_with(BinaryOp::Gt, cutoff);
        Ok(above.cast(dtype))
    }
}
