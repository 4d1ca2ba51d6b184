//! Derivatives of the functions of one element, as arrays: what backpropagation by hand multiplies with.
//!
//! Gradients of whole expressions are the graph's; these are its building blocks without the graph.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use lodestride_buffer::{Argument, DType};
use lodestride_kernels::{BinaryOp, UnaryOp};

use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, Result};
use crate::lazy::Lazy;
use crate::named::{ParameterProblem, unary_parameters};
use crate::reduce::{float_of, widened};

/// `alpha` and `lambda` of `selu`.
const SELU: (f64, f64) = (1.673_263_242_354_377_3, 1.050_700_987_355_480_5);

impl NdArray {
    /// The derivative of a function of one element, at every element: `x.derivative(UnaryOp::Tanh)` is `1 - tanh(x)^2`.
    ///
    /// Where a function has a corner, such as `relu` at 0, the derivative is that of its left side (of `abs` at 0, it is 0). Functions that are constant
    /// between jumps, such as `floor`, have the derivative 0 everywhere. Integers give f64.
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for functions of integers only.
    ///
    /// ```
    /// use lodestride_array::{NdArray, kernels::UnaryOp};
    ///
    /// let x = NdArray::from([-1.0f32, 0.0, 2.0]);
    /// assert_eq!(x.derivative(UnaryOp::Relu)?.to_vec::<f32>()?, [0.0, 0.0, 1.0]);
    /// assert_eq!(x.derivative(UnaryOp::Sigmoid)?.get_f64([1])?, 0.25);
    /// assert_eq!(x.derivative(UnaryOp::Cube)?.to_vec::<f32>()?, [3.0, 0.0, 12.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "sigmoidDerivative")]
    #[doc(alias = "tanhDerivative")]
    #[doc(alias = "softsignDerivative")]
    #[track_caller]
    pub fn derivative(&self, op: UnaryOp) -> Result<NdArray> {
        self.slope("derivative", op, None)
    }

    /// [`derivative`](Self::derivative) of a function with a parameter: the `alpha` of `leaky_relu` and `elu`, the cut-off of
    /// `relu` (left of it `relu` is constant) and of `step`, the base of `log`.
    ///
    /// # Errors
    /// As [`derivative`](Self::derivative); [`ArrayErrorKind::Parameter`] for a function without one.
    ///
    /// ```
    /// use lodestride_array::{NdArray, kernels::UnaryOp};
    ///
    /// let x = NdArray::from([-1.0f32, 2.0]);
    /// assert_eq!(x.derivative_with(UnaryOp::LeakyRelu, 0.25)?.to_vec::<f32>()?, [0.25, 1.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn derivative_with(&self, op: UnaryOp, parameter: f64) -> Result<NdArray> {
        if unary_parameters(op).is_empty() {
            let problem = ParameterProblem::TooMany { given: 1 };
            return Err(ArrayError::parameter(op.name(), &[], problem));
        }
        self.slope("derivative_with", op, Some(parameter))
    }

    #[track_caller]
    fn slope(&self, name: &'static str, op: UnaryOp, parameter: Option<f64>) -> Result<NdArray> {
        self.expect_readable(name, Argument::X)?;
        let dtype = float_of(self.dtype());
        if op.result_dtype(dtype).is_none() {
            let op = op.name();
            return Err(ArrayError::new(ArrayErrorKind::UnsupportedDType {
                op,
                dtype,
            }));
        }
        let x = Point {
            x: self.widened(),
            dtype: widened(dtype),
            parameter,
        };
        let elementary = x.elementary(op).or_else(|| x.trigonometric(op));
        let slope = elementary.or_else(|| x.activation(op));
        // What is left is constant between jumps; NaN stays NaN.
        let slope = slope.unwrap_or_else(|| x.x() * 0.0);
        slope.cast(dtype).eval_as(name)
    }
}

/// The place at which a function is differentiated.
struct Point<'a> {
    x: Lazy<'a>,
    dtype: DType,
    /// The function's parameter, where it is not the usual one.
    parameter: Option<f64>,
}

impl<'a> Point<'a> {
    fn x(&self) -> Lazy<'a> {
        self.x.clone()
    }

    /// 1 where the comparison holds, else 0, in the dtype of the values.
    fn where_(&self, op: BinaryOp, limit: f64) -> Lazy<'a> {
        self.x().apply_with(op, limit).cast(self.dtype)
    }

    fn squared_secant(&self, of: Lazy<'a>) -> Lazy<'a> {
        of.apply(UnaryOp::Cosh).square().reciprocal()
    }

    /// `(1 - x) (1 + x)`, which does not cancel near 1.
    fn one_minus_square(&self) -> Lazy<'a> {
        self.x().apply(UnaryOp::OneMinus) * (self.x() + 1.0)
    }

    /// Powers, roots, exponentials and logarithms.
    fn elementary(&self, op: UnaryOp) -> Option<Lazy<'a>> {
        let x = self.x();
        let one = || self.x().pow(0.0);
        Some(match op {
            UnaryOp::Neg | UnaryOp::OneMinus => -one(),
            UnaryOp::Abs => x.apply(UnaryOp::Sign),
            UnaryOp::Square => x * 2.0,
            UnaryOp::Cube => x.square() * 3.0,
            UnaryOp::Reciprocal => -x.square().reciprocal(),
            UnaryOp::Sqrt => x.apply(UnaryOp::Rsqrt) * 0.5,
            UnaryOp::Rsqrt => x.clone().apply(UnaryOp::Rsqrt) / x * -0.5,
            UnaryOp::Cbrt => (x.apply(UnaryOp::Cbrt).square() * 3.0).reciprocal(),
            UnaryOp::Exp | UnaryOp::Expm1 => x.exp(),
            UnaryOp::Exp2 => x.apply(UnaryOp::Exp2) * LN_2,
            UnaryOp::Log => match self.parameter {
                Some(base) => (x * base.ln()).reciprocal(),
                None => x.reciprocal(),
            },
            UnaryOp::Log2 => (x * LN_2).reciprocal(),
            UnaryOp::Log10 => (x * LN_10).reciprocal(),
            UnaryOp::Log1p => (x + 1.0).reciprocal(),
            UnaryOp::Erf => (-x.square()).exp() * FRAC_2_SQRT_PI,
            UnaryOp::Erfc => (-x.square()).exp() * -FRAC_2_SQRT_PI,
            _ => return None,
        })
    }

    /// Circular and hyperbolic functions and their inverses.
    fn trigonometric(&self, op: UnaryOp) -> Option<Lazy<'a>> {
        let x = self.x();
        Some(match op {
            UnaryOp::Sin => x.cos(),
            UnaryOp::Cos => -x.sin(),
            UnaryOp::Tan => x.apply(UnaryOp::Tan).square() + 1.0,
            UnaryOp::Asin => self.one_minus_square().apply(UnaryOp::Rsqrt),
            UnaryOp::Acos => -self.one_minus_square().apply(UnaryOp::Rsqrt),
            UnaryOp::Atan => (x.square() + 1.0).reciprocal(),
            UnaryOp::Sinh => x.apply(UnaryOp::Cosh),
            UnaryOp::Cosh => x.apply(UnaryOp::Sinh),
            UnaryOp::Tanh => self.squared_secant(x),
            UnaryOp::Asinh => x.apply_with(BinaryOp::Hypot, 1.0).reciprocal(),
            UnaryOp::Acosh => {
                // Below 1 the function is not defined; the product of two negative factors must not hide that.
                let below = (self.x() - 1.0).apply(UnaryOp::Rsqrt);
                below * (x + 1.0).apply(UnaryOp::Rsqrt)
            }
            UnaryOp::Atanh => self.one_minus_square().reciprocal(),
            _ => return None,
        })
    }

    /// Activation functions.
    fn activation(&self, op: UnaryOp) -> Option<Lazy<'a>> {
        let x = self.x();
        let positive = || self.where_(BinaryOp::Gt, 0.0);
        let below = || self.x().apply_with(BinaryOp::Min, 0.0).exp();
        Some(match op {
            UnaryOp::Sigmoid => x.clone().sigmoid() * (-x).sigmoid(),
            UnaryOp::LogSigmoid => (-x).sigmoid(),
            UnaryOp::Softplus => x.sigmoid(),
            UnaryOp::Softsign => (x.abs() + 1.0).square().reciprocal(),
            UnaryOp::Relu => self.where_(BinaryOp::Gt, self.parameter.unwrap_or(0.0)),
            UnaryOp::Relu6 => positive() * self.where_(BinaryOp::Le, 6.0),
            UnaryOp::LeakyRelu => {
                let alpha = self.parameter.unwrap_or(0.01);
                positive() + positive().apply(UnaryOp::OneMinus) * alpha
            }
            UnaryOp::Elu => match self.parameter {
                Some(alpha) => positive() + self.where_(BinaryOp::Le, 0.0) * below() * alpha,
                None => below(),
            },
            UnaryOp::Selu => {
                let (alpha, lambda) = SELU;
                let left = self.where_(BinaryOp::Le, 0.0) * below() * alpha;
                (positive() + left) * lambda
            }
            UnaryOp::Gelu => {
                let share = (x.clone() * -std::f64::consts::FRAC_1_SQRT_2).apply(UnaryOp::Erfc);
                let density = (x.clone().square() * -0.5).exp() * (FRAC_2_SQRT_PI / 8.0f64.sqrt());
                share * 0.5 + x * density
            }
            UnaryOp::Swish => {
                let rest = (-x.clone()).sigmoid() * &x + 1.0;
                x.sigmoid() * rest
            }
            UnaryOp::Mish => {
                let soft = x.clone().softplus();
                let inner = x.clone() * x.sigmoid() * self.squared_secant(soft.clone());
                soft.tanh() + inner
            }
            UnaryOp::HardSigmoid => {
                self.where_(BinaryOp::Gt, -2.5) * self.where_(BinaryOp::Le, 2.5) * 0.2
            }
            UnaryOp::HardTanh => self.where_(BinaryOp::Gt, -1.0) * self.where_(BinaryOp::Le, 1.0),
            UnaryOp::RectifiedTanh => positive() * self.squared_secant(x),
            UnaryOp::RationalTanh => {
                // y -> 1 - 1 / D(y) with D = 1 + y + y^2 + 1.41645 y^4 has the slope D' / D^2.
                let y = x.abs() * (2.0 / 3.0);
                let squares = y.clone().square();
                let d = y.clone() + &squares + squares.clone().square() * 1.41645 + 1.0;
                let slope = y.clone() * 2.0 + y * squares * (4.0 * 1.41645) + 1.0;
                slope / d.square() * (1.7159 * 2.0 / 3.0)
            }
            _ => return None,
        })
    }
}
