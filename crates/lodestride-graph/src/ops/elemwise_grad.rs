//! The derivative of each elementwise op, and the adjoint of broadcasting.

use crate::apply::Apply;
use crate::constant::ConstantData;
use crate::error::{GraphError, GraphErrorKind, Result};
use crate::ops::build::Build;
use crate::ops::{Elemwise, SumTo};
use crate::variable::Variable;
use lodestride_array::Scalar;
use lodestride_array::kernels::{BinaryOp, UnaryOp};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, LN_10, PI};

/// Gradients of an elementwise node, each summed back to its operand's shape and cast to its dtype.
pub(super) fn gradient(
    op: Elemwise,
    node: &Apply,
    output: Option<&Variable>,
) -> Result<Vec<Option<Variable>>> {
    let inputs = node.inputs();
    let Some(g) = output else {
        return Ok(vec![None; inputs.len()]);
    };
    let build = Build::of(node);
    let raw = match op {
        Elemwise::Unary(op) => vec![if inputs[0].dtype().is_float() {
            unary(op, node, g)?
        } else {
            None
        }],
        Elemwise::Binary(op) => binary(op, node, g)?,
        Elemwise::Select => {
            vec![
                None,
                Some(build.select(&inputs[0], g, 0.0)?),
                Some(build.select(&inputs[0], 0.0, g)?),
            ]
        }
        Elemwise::Cast(_) => vec![Some(g.clone())],
    };
    raw.into_iter()
        .zip(inputs)
        .map(|(gradient, input)| fit(build, gradient, input))
        .collect()
}

/// `gradient` as a gradient of `input`: of its dtype and its shape. Integers and literals have none.
pub(crate) fn fit(
    build: Build,
    gradient: Option<Variable>,
    input: &Variable,
) -> Result<Option<Variable>> {
    let Some(gradient) = gradient else {
        return Ok(None);
    };
    if !input.dtype().is_float() || input.is_constant() {
        return Ok(None);
    }
    let gradient = build.cast(gradient, input.dtype())?;
    sum_to(build, gradient, input).map(Some)
}

/// The adjoint of broadcasting `like` to the shape of `x`: sums over the axes that were stretched.
pub(crate) fn sum_to(build: Build, x: Variable, like: &Variable) -> Result<Variable> {
    let same = |(a, b): (&crate::Dim, &crate::Dim)| a.surely_equals(b);
    let (xs, ls) = (x.ty(), like.ty());
    if xs.is_lod() == ls.is_lod() && xs.rank() == ls.rank() {
        // The rows of two ragged operands agree, or the forward op would have failed.
        let skip = usize::from(xs.is_lod());
        if xs.dims()[skip..].iter().zip(&ls.dims()[skip..]).all(same) {
            return Ok(x);
        }
    }
    build.apply(SumTo, vec![x, like.clone()])
}

/// `scale * exp(-x^2)`
fn gaussian(build: Build, x: &Variable, scale: f64) -> Result<Variable> {
    let exponent = build.neg(build.square(x)?)?;
    build.mul(build.unary(UnaryOp::Exp, exponent)?, scale)
}

fn unary(op: UnaryOp, node: &Apply, g: &Variable) -> Result<Option<Variable>> {
    let build = Build::of(node);
    let x = &node.inputs()[0];
    let y = &node.out()?;
    if let Some(local) = algebraic(op, build, x, y)? {
        return build.mul(g, local).map(Some);
    }
    if let Some(local) = trigonometric(op, build, x, y)? {
        return build.mul(g, local).map(Some);
    }
    if let Some(gradient) = activation(op, build, x, y, g)? {
        return Ok(Some(gradient));
    }
    Ok(match op {
        UnaryOp::Neg | UnaryOp::OneMinus => Some(build.neg(g)?),
        // Constant almost everywhere: no path, which `grad` reports as zeros.
        UnaryOp::Sign
        | UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Round
        | UnaryOp::Trunc
        | UnaryOp::Step
        | UnaryOp::IsNan
        | UnaryOp::IsInf
        | UnaryOp::IsFinite
        | UnaryOp::Not => None,
        _ => {
            return Err(GraphError::new(
                GraphErrorKind::NotDifferentiable,
                Some(node.op()),
                node.span(),
            ));
        }
    })
}

/// Powers, exponentials and logarithms: the factor of the chain rule.
fn algebraic(op: UnaryOp, b: Build, x: &Variable, y: &Variable) -> Result<Option<Variable>> {
    Ok(Some(match op {
        UnaryOp::Abs => b.unary(UnaryOp::Sign, x)?,
        UnaryOp::Exp => y.clone(),
        UnaryOp::Log => b.unary(UnaryOp::Reciprocal, x)?,
        UnaryOp::Log1p => b.unary(UnaryOp::Reciprocal, b.add(x, 1.0)?)?,
        UnaryOp::Expm1 => b.add(y, 1.0)?,
        UnaryOp::Log2 => b.unary(UnaryOp::Reciprocal, b.mul(x, LN_2)?)?,
        UnaryOp::Log10 => b.unary(UnaryOp::Reciprocal, b.mul(x, LN_10)?)?,
        UnaryOp::Exp2 => b.mul(y, LN_2)?,
        UnaryOp::Sqrt => b.div(0.5, y)?,
        UnaryOp::Rsqrt => b.mul(b.div(y, x)?, -0.5)?,
        UnaryOp::Cbrt => b.unary(UnaryOp::Reciprocal, b.mul(b.square(y)?, 3.0)?)?,
        UnaryOp::Square => b.mul(x, 2.0)?,
        UnaryOp::Cube => b.mul(b.square(x)?, 3.0)?,
        UnaryOp::Reciprocal => b.neg(b.square(y)?)?,
        UnaryOp::Erf => gaussian(b, x, 2.0 / PI.sqrt())?,
        UnaryOp::Erfc => gaussian(b, x, -2.0 / PI.sqrt())?,
        _ => return Ok(None),
    }))
}

/// Circular and hyperbolic functions: the factor of the chain rule.
fn trigonometric(op: UnaryOp, b: Build, x: &Variable, y: &Variable) -> Result<Option<Variable>> {
    let one_minus_square = |v: &Variable| b.unary(UnaryOp::OneMinus, b.square(v)?);
    Ok(Some(match op {
        UnaryOp::Sin => b.unary(UnaryOp::Cos, x)?,
        UnaryOp::Cos => b.neg(b.unary(UnaryOp::Sin, x)?)?,
        UnaryOp::Tan => b.add(b.square(y)?, 1.0)?,
        UnaryOp::Asin => b.unary(UnaryOp::Rsqrt, one_minus_square(x)?)?,
        UnaryOp::Acos => b.neg(b.unary(UnaryOp::Rsqrt, one_minus_square(x)?)?)?,
        UnaryOp::Atan => b.unary(UnaryOp::Reciprocal, b.add(b.square(x)?, 1.0)?)?,
        UnaryOp::Sinh => b.unary(UnaryOp::Cosh, x)?,
        UnaryOp::Cosh => b.unary(UnaryOp::Sinh, x)?,
        UnaryOp::Tanh => one_minus_square(y)?,
        UnaryOp::Asinh => b.unary(UnaryOp::Rsqrt, b.add(b.square(x)?, 1.0)?)?,
        UnaryOp::Acosh => b.unary(UnaryOp::Rsqrt, b.sub(b.square(x)?, 1.0)?)?,
        UnaryOp::Atanh => b.unary(UnaryOp::Reciprocal, one_minus_square(x)?)?,
        _ => return Ok(None),
    }))
}

const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;

/// Activations: the whole gradient, because many of them choose between `g` and something else.
fn activation(
    op: UnaryOp,
    b: Build,
    x: &Variable,
    y: &Variable,
    g: &Variable,
) -> Result<Option<Variable>> {
    let positive = || b.binary(BinaryOp::Gt, x, 0.0);
    let within = |low: f64, high: f64| {
        b.binary(
            BinaryOp::And,
            b.binary(BinaryOp::Gt, x, low)?,
            b.binary(BinaryOp::Lt, x, high)?,
        )
    };
    let sigmoid = || b.unary(UnaryOp::Sigmoid, x);
    Ok(Some(match op {
        UnaryOp::Sigmoid => b.mul(g, b.mul(y, b.unary(UnaryOp::OneMinus, y)?)?)?,
        UnaryOp::LogSigmoid => b.mul(g, b.unary(UnaryOp::Sigmoid, b.neg(x)?)?)?,
        UnaryOp::Softplus => b.mul(g, sigmoid()?)?,
        UnaryOp::Softsign => b.div(g, b.square(b.add(b.unary(UnaryOp::Abs, x)?, 1.0)?)?)?,
        UnaryOp::Relu => b.select(positive()?, g, 0.0)?,
        UnaryOp::Relu6 => b.select(within(0.0, 6.0)?, g, 0.0)?,
        UnaryOp::HardTanh => b.select(within(-1.0, 1.0)?, g, 0.0)?,
        UnaryOp::HardSigmoid => b.select(within(-2.5, 2.5)?, b.mul(g, 0.2)?, 0.0)?,
        UnaryOp::Elu => b.select(positive()?, g, b.mul(g, b.add(y, 1.0)?)?)?,
        UnaryOp::Selu => {
            let tail = b.add(y, SELU_SCALE * SELU_ALPHA)?;
            b.mul(g, b.select(positive()?, SELU_SCALE, tail)?)?
        }
        UnaryOp::Gelu => {
            // d/dx x Phi(x) = Phi(x) + x phi(x)
            let cdf = b.mul(
                b.add(b.unary(UnaryOp::Erf, b.mul(x, FRAC_1_SQRT_2)?)?, 1.0)?,
                0.5,
            )?;
            let density = gaussian(b, &b.mul(x, FRAC_1_SQRT_2)?, 1.0 / (2.0 * PI).sqrt())?;
            b.mul(g, b.add(cdf, b.mul(x, density)?)?)?
        }
        UnaryOp::LeakyRelu => b.mul(g, b.select(positive()?, 1.0, b.typed(0.01, x.dtype()))?)?,
        UnaryOp::RectifiedTanh => b.select(
            positive()?,
            b.mul(g, b.unary(UnaryOp::OneMinus, b.square(y)?)?)?,
            0.0,
        )?,
        UnaryOp::RationalTanh => b.mul(g, rational_tanh_slope(b, x)?)?,
        UnaryOp::Mish => {
            // d/dx x t = t + x s (1 - t^2) with t = tanh(softplus(x)), s = sigmoid(x)
            let t = b.unary(UnaryOp::Tanh, b.unary(UnaryOp::Softplus, x)?)?;
            let inner = b.mul(sigmoid()?, b.unary(UnaryOp::OneMinus, b.square(&t)?)?)?;
            b.mul(g, b.add(t, b.mul(x, inner)?)?)?
        }
        UnaryOp::Swish => {
            // d/dx x s(x) = s + y (1 - s)
            let s = sigmoid()?;
            b.mul(g, b.add(&s, b.mul(y, b.unary(UnaryOp::OneMinus, &s)?)?)?)?
        }
        _ => return Ok(None),
    }))
}

/// With z = |2 x / 3|: 1.7159 * 2/3 * t' / t^2 for t = 1 + z + z^2 + 1.41645 z^4.
fn rational_tanh_slope(b: Build, x: &Variable) -> Result<Variable> {
    let z = b.unary(UnaryOp::Abs, b.mul(x, 2.0 / 3.0)?)?;
    let square = b.square(&z)?;
    let fourth = b.mul(b.square(&square)?, 1.41645)?;
    let t = b.add(b.add(b.add(&z, 1.0)?, &square)?, fourth)?;
    let cubed = b.mul(b.unary(UnaryOp::Cube, &z)?, 4.0 * 1.41645)?;
    let rise = b.add(b.add(b.mul(&z, 2.0)?, 1.0)?, cubed)?;
    b.div(b.mul(rise, 1.7159 * 2.0 / 3.0)?, b.square(t)?)
}

fn binary(op: BinaryOp, node: &Apply, g: &Variable) -> Result<Vec<Option<Variable>>> {
    let b = Build::of(node);
    let [x, y] = node.inputs() else {
        return Ok(vec![None; node.inputs().len()]);
    };
    let out = &node.out()?;
    let pair = |dx: Variable, dy: Variable| Ok(vec![Some(dx), Some(dy)]);
    match op {
        BinaryOp::Add => pair(g.clone(), g.clone()),
        BinaryOp::Sub => pair(g.clone(), b.neg(g)?),
        BinaryOp::RSub => pair(b.neg(g)?, g.clone()),
        BinaryOp::Mul => pair(b.mul(g, y)?, b.mul(g, x)?),
        BinaryOp::Div => {
            let dx = b.div(g, y)?;
            let dy = b.neg(b.mul(&dx, out)?)?;
            pair(dx, dy)
        }
        BinaryOp::RDiv => {
            let dy = b.div(g, x)?;
            let dx = b.neg(b.mul(&dy, out)?)?;
            pair(dx, dy)
        }
        BinaryOp::Pow => power(b, x, y, out, g),
        BinaryOp::Max => extremum(b, BinaryOp::Gt, x, y, g),
        BinaryOp::Min => extremum(b, BinaryOp::Lt, x, y, g),
        BinaryOp::Atan2 => {
            let scale = b.div(g, b.add(b.square(x)?, b.square(y)?)?)?;
            pair(b.mul(&scale, y)?, b.neg(b.mul(&scale, x)?)?)
        }
        BinaryOp::Hypot => {
            let scale = b.div(g, out)?;
            pair(b.mul(&scale, x)?, b.mul(&scale, y)?)
        }
        BinaryOp::LogAddExp => {
            let share = b.unary(UnaryOp::Sigmoid, b.sub(x, y)?)?;
            let rest = b.unary(UnaryOp::Sigmoid, b.sub(y, x)?)?;
            pair(b.mul(g, share)?, b.mul(g, rest)?)
        }
        BinaryOp::SquaredDifference => {
            let dx = b.mul(b.mul(g, 2.0)?, b.sub(x, y)?)?;
            let dy = b.neg(&dx)?;
            pair(dx, dy)
        }
        BinaryOp::Mod | BinaryOp::FMod | BinaryOp::Remainder => {
            pair(g.clone(), b.neg(b.mul(g, quotient(b, op, x, y)?)?)?)
        }
        BinaryOp::AbsMax | BinaryOp::AbsMin => abs_extremum(b, op, x, y, g),
        _ if op.is_comparison() => Ok(vec![None, None]),
        BinaryOp::FloorDiv | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => Ok(vec![None, None]),
        _ => Err(GraphError::new(
            GraphErrorKind::NotDifferentiable,
            Some(node.op()),
            node.span(),
        )),
    }
}

/// The whole number of times `y` that each kind of remainder takes from `x`.
fn quotient(b: Build, op: BinaryOp, x: &Variable, y: &Variable) -> Result<Variable> {
    match op {
        BinaryOp::Mod => b.binary(BinaryOp::FloorDiv, x, y),
        BinaryOp::FMod => b.unary(UnaryOp::Trunc, b.div(x, y)?),
        _ => b.unary(UnaryOp::Round, b.div(x, y)?),
    }
}

fn abs_extremum(
    b: Build,
    op: BinaryOp,
    x: &Variable,
    y: &Variable,
    g: &Variable,
) -> Result<Vec<Option<Variable>>> {
    let larger = op == BinaryOp::AbsMax;
    let wins = if larger { BinaryOp::Gt } else { BinaryOp::Lt };
    let (ax, ay) = (b.unary(UnaryOp::Abs, x)?, b.unary(UnaryOp::Abs, y)?);
    let signed = |(slope, v): (Option<Variable>, &Variable)| {
        let with_sign = |s| b.mul(s, b.unary(UnaryOp::Sign, v)?);
        slope.map(with_sign).transpose()
    };
    let slopes = extremum(b, wins, &ax, &ay, g)?;
    slopes.into_iter().zip([x, y]).map(signed).collect()
}

/// Ties share the gradient half and half, so that the shares always add up to one.
fn extremum(
    b: Build,
    wins: BinaryOp,
    x: &Variable,
    y: &Variable,
    g: &Variable,
) -> Result<Vec<Option<Variable>>> {
    let tie = b.select(b.binary(BinaryOp::Eq, x, y)?, b.mul(g, 0.5)?, 0.0)?;
    let dx = b.select(b.binary(wins, x, y)?, g, &tie)?;
    let dy = b.select(b.binary(wins, y, x)?, g, &tie)?;
    Ok(vec![Some(dx), Some(dy)])
}

/// `y - 1`; of a literal the literal one less, which stays weak.
fn less_one(b: Build, y: &Variable) -> Result<Variable> {
    match y.constant_data() {
        Some(ConstantData::Literal(Scalar::Int(i))) => Ok(b.literal(i.wrapping_sub(1))),
        Some(ConstantData::Literal(scalar)) => Ok(b.literal(scalar.as_f64() - 1.0)),
        _ => b.sub(y, 1.0),
    }
}

fn power(
    b: Build,
    x: &Variable,
    y: &Variable,
    out: &Variable,
    g: &Variable,
) -> Result<Vec<Option<Variable>>> {
    let dx = if x.dtype().is_float() && !x.is_constant() {
        // y x^(y-1), and 0 where y = 0 even at x = 0
        let slope = b.mul(y, b.binary(BinaryOp::Pow, x, less_one(b, y)?)?)?;
        let slope = if y.is_constant() {
            slope
        } else {
            b.select(b.binary(BinaryOp::Eq, y, 0.0)?, 0.0, slope)?
        };
        Some(b.mul(g, slope)?)
    } else {
        None
    };
    let dy = if y.dtype().is_float() && !y.is_constant() {
        // x^y log x; at x = 0 the limit for y > 0 is 0, and the logarithm alone would give NaN
        let base = b.select(b.binary(BinaryOp::Gt, x, 0.0)?, x, 1.0)?;
        Some(b.mul(g, b.mul(out, b.unary(UnaryOp::Log, base)?)?)?)
    } else {
        None
    };
    Ok(vec![dx, dy])
}
