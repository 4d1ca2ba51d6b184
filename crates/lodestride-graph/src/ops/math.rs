//! The elementwise methods of variables: one line each.

use crate::apply::Apply;
use crate::error::{Result, Span};
use crate::op::OpRef;
use crate::ops::Elemwise;
use crate::variable::Variable;
use lodestride_array::DType;
use lodestride_array::kernels::{BinaryOp, UnaryOp};
use std::panic::Location;

macro_rules! unary_methods {
    ($($(#[doc = $doc:literal])* $name:ident $op:ident;)*) => {
        /// Elementwise functions.
        impl Variable {$(
            $(#[doc = $doc])*
            ///
            /// # Errors
            /// `UnsupportedDType` when the function is not defined for the dtype.
            #[track_caller]
            pub fn $name(&self) -> Result<Variable> {
                elemwise(Elemwise::Unary(UnaryOp::$op), vec![self.clone()], Span(Location::caller()))
            }
        )*}
    };
}

macro_rules! binary_methods {
    ($($(#[doc = $doc:literal])* $name:ident $op:ident;)*) => {
        /// Elementwise functions of two variables, or of a variable and a literal.
        impl Variable {$(
            $(#[doc = $doc])*
            ///
            /// # Errors
            /// `Broadcast` when known lengths differ, `UnsupportedDType` when the function is not defined for the dtype.
            #[track_caller]
            pub fn $name(&self, other: impl Into<Variable>) -> Result<Variable> {
                let span = Span(Location::caller());
                elemwise(Elemwise::Binary(BinaryOp::$op), vec![self.clone(), other.into()], span)
            }
        )*}
    };
}

fn elemwise(op: Elemwise, inputs: Vec<Variable>, span: Span) -> Result<Variable> {
    Apply::make(op.into(), inputs, span)?.out()
}

unary_methods! {
    /// `-x`.
    neg Neg;
    /// `|x|`.
    abs Abs;
    /// -1, 0 or 1.
    sign Sign;
    /// `e^x`.
    exp Exp;
    /// The natural logarithm.
    log Log;
    /// `log(1 + x)`, exact near 0.
    log1p Log1p;
    /// `e^x - 1`, exact near 0.
    expm1 Expm1;
    /// The logarithm of base 2.
    log2 Log2;
    /// The logarithm of base 10.
    log10 Log10;
    /// `2^x`.
    exp2 Exp2;
    /// The square root.
    sqrt Sqrt;
    /// `1 / sqrt(x)`.
    rsqrt Rsqrt;
    /// The cube root.
    cbrt Cbrt;
    /// `x * x`.
    square Square;
    /// `x * x * x`.
    cube Cube;
    /// `1 / x`.
    reciprocal Reciprocal;
    /// The sine.
    sin Sin;
    /// The cosine.
    cos Cos;
    /// The tangent.
    tan Tan;
    /// The inverse sine.
    asin Asin;
    /// The inverse cosine.
    acos Acos;
    /// The inverse tangent.
    atan Atan;
    /// The hyperbolic sine.
    sinh Sinh;
    /// The hyperbolic cosine.
    cosh Cosh;
    /// The hyperbolic tangent.
    tanh Tanh;
    /// The inverse hyperbolic sine.
    asinh Asinh;
    /// The inverse hyperbolic cosine.
    acosh Acosh;
    /// The inverse hyperbolic tangent.
    atanh Atanh;
    /// The error function.
    erf Erf;
    /// `1 - erf(x)`, exact for large x.
    erfc Erfc;
    /// The largest integer not above x.
    floor Floor;
    /// The smallest integer not below x.
    ceil Ceil;
    /// The nearest integer, halves to even.
    round Round;
    /// The integer part.
    trunc Trunc;
    /// `1 / (1 + e^-x)`.
    sigmoid Sigmoid;
    /// `log(sigmoid(x))`, exact for very negative x.
    log_sigmoid LogSigmoid;
    /// `log(1 + e^x)`, exact for large x.
    softplus Softplus;
    /// `x / (1 + |x|)`.
    softsign Softsign;
    /// `max(x, 0)`.
    relu Relu;
    /// `min(max(x, 0), 6)`.
    relu6 Relu6;
    /// `x` above 0, `e^x - 1` below.
    elu Elu;
    /// The self-normalising exponential linear unit.
    selu Selu;
    /// `x Phi(x)` with the normal distribution's Phi.
    gelu Gelu;
    /// `x sigmoid(x)`.
    swish Swish;
    /// The piecewise linear sigmoid.
    hard_sigmoid HardSigmoid;
    /// `min(max(x, -1), 1)`.
    hard_tanh HardTanh;
    /// 1 above 0, else 0.
    step Step;
    /// Whether x is NaN.
    is_nan IsNan;
    /// Whether x is infinite.
    is_inf IsInf;
    /// Whether x is finite.
    is_finite IsFinite;
    /// Logical negation.
    logical_not Not;
    /// `1 - x`.
    one_minus OneMinus;
}

binary_methods! {
    /// `x + y`.
    add Add;
    /// `x - y`.
    sub Sub;
    /// `x * y`.
    mul Mul;
    /// `x / y`; integers give floats.
    div Div;
    /// `y - x`.
    rsub RSub;
    /// `y / x`.
    rdiv RDiv;
    /// The quotient rounded down.
    floor_div FloorDiv;
    /// The remainder with the divisor's sign, as in Python.
    rem Mod;
    /// The remainder with the dividend's sign, as in C.
    fmod FMod;
    /// `x` to the power `y`.
    pow Pow;
    /// The larger; NaN if either is NaN.
    maximum Max;
    /// The smaller; NaN if either is NaN.
    minimum Min;
    /// The angle of the point (y, x): `self` is the ordinate.
    atan2 Atan2;
    /// `sqrt(x^2 + y^2)` without overflow.
    hypot Hypot;
    /// `log(e^x + e^y)` without overflow.
    logaddexp LogAddExp;
    /// `(x - y)^2`.
    squared_difference SquaredDifference;
    /// Whether the elements are equal; NaN equals nothing.
    equal Eq;
    /// Whether the elements differ.
    not_equal Ne;
    /// `x < y`.
    less Lt;
    /// `x <= y`.
    less_equal Le;
    /// `x > y`.
    greater Gt;
    /// `x >= y`.
    greater_equal Ge;
    /// Both true, or the common bits of integers.
    and And;
    /// Either true, or all bits of integers.
    or Or;
    /// Exactly one true, or the differing bits of integers.
    xor Xor;
}

impl Variable {
    /// The variable converted to `dtype`.
    ///
    /// # Errors
    /// None today; the signature leaves room for dtypes without a conversion.
    #[track_caller]
    pub fn cast(&self, dtype: DType) -> Result<Variable> {
        elemwise(
            Elemwise::Cast(dtype),
            vec![self.clone()],
            Span(Location::caller()),
        )
    }

    /// `min(max(x, low), high)`; NaN stays NaN.
    ///
    /// # Errors
    /// `Broadcast` when known lengths differ.
    #[track_caller]
    pub fn clip(&self, low: impl Into<Variable>, high: impl Into<Variable>) -> Result<Variable> {
        let span = Span(Location::caller());
        let raised = elemwise(
            Elemwise::Binary(BinaryOp::Max),
            vec![self.clone(), low.into()],
            span,
        )?;
        elemwise(
            Elemwise::Binary(BinaryOp::Min),
            vec![raised, high.into()],
            span,
        )
    }
}

/// `yes` where `condition` is true, else `no`; both are computed.
///
/// # Errors
/// `Broadcast` when known lengths differ.
///
/// ```
/// use lodestride_graph::{dvector, ops};
/// let x = dvector("x");
/// let positive = ops::select(x.greater(0.0)?, &x, 0.0)?;
/// assert_eq!(positive.ty(), x.ty());
/// # Ok::<(), lodestride_graph::GraphError>(())
/// ```
#[track_caller]
pub fn select(
    condition: impl Into<Variable>,
    yes: impl Into<Variable>,
    no: impl Into<Variable>,
) -> Result<Variable> {
    elemwise(
        Elemwise::Select,
        vec![condition.into(), yes.into(), no.into()],
        Span(Location::caller()),
    )
}

macro_rules! op_functions {
    ($($name:ident $op:expr, $doc:literal;)*) => {$(
        #[doc = concat!("The op ", $doc, ", for the explicit form.")]
        pub fn $name() -> OpRef {
            $op.into()
        }
    )*};
}

op_functions! {
    add Elemwise::Binary(BinaryOp::Add), "`x + y`";
    sub Elemwise::Binary(BinaryOp::Sub), "`x - y`";
    mul Elemwise::Binary(BinaryOp::Mul), "`x * y`";
    div Elemwise::Binary(BinaryOp::Div), "`x / y`";
    neg Elemwise::Unary(UnaryOp::Neg), "`-x`";
    exp Elemwise::Unary(UnaryOp::Exp), "`e^x`";
}
