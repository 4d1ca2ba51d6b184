//! Algebraic identities of elementwise ops. Those of reductions are in `reductions`.

use crate::error::Result;
use crate::fgraph::ValueId;
use crate::ops::Elemwise;
use crate::rewrite::engine::Soundness::{Exact, Finite, Reassociating};
use crate::rewrite::engine::{Key, Rewriter, Rule, Site, rule};
use lodestride_array::kernels::{BinaryOp, UnaryOp};

type Rewritten = Result<Option<ValueId>>;

pub(super) const RULES: &[Rule] = &[
    rule("reversed_sub", Key::Binary(BinaryOp::RSub), Exact, reversed),
    rule("reversed_div", Key::Binary(BinaryOp::RDiv), Exact, reversed),
    rule("sorted_add", Key::Binary(BinaryOp::Add), Exact, sorted),
    rule("sorted_mul", Key::Binary(BinaryOp::Mul), Exact, sorted),
    rule("sorted_max", Key::Binary(BinaryOp::Max), Exact, sorted),
    rule("sorted_min", Key::Binary(BinaryOp::Min), Exact, sorted),
    rule("add_zero", Key::Binary(BinaryOp::Add), Finite, add_zero),
    rule("add_neg", Key::Binary(BinaryOp::Add), Exact, add_neg),
    rule("sub_zero", Key::Binary(BinaryOp::Sub), Exact, sub_zero),
    rule("sub_self", Key::Binary(BinaryOp::Sub), Finite, sub_self),
    rule("sub_neg", Key::Binary(BinaryOp::Sub), Exact, sub_neg),
    rule("one_minus", Key::Binary(BinaryOp::Sub), Exact, one_minus),
    rule("zero_minus", Key::Binary(BinaryOp::Sub), Finite, zero_minus),
    rule("mul_one", Key::Binary(BinaryOp::Mul), Exact, mul_one),
    rule(
        "mul_minus_one",
        Key::Binary(BinaryOp::Mul),
        Exact,
        mul_minus_one,
    ),
    rule("mul_zero", Key::Binary(BinaryOp::Mul), Finite, mul_zero),
    rule("mul_self", Key::Binary(BinaryOp::Mul), Exact, mul_self),
    rule(
        "mul_neg_neg",
        Key::Binary(BinaryOp::Mul),
        Exact,
        mul_neg_neg,
    ),
    rule("div_one", Key::Binary(BinaryOp::Div), Exact, div_one),
    rule("one_over", Key::Binary(BinaryOp::Div), Exact, one_over),
    rule(
        "mul_div_cancel",
        Key::Binary(BinaryOp::Div),
        Finite,
        mul_div_cancel,
    ),
    rule(
        "pow_constant",
        Key::Binary(BinaryOp::Pow),
        Finite,
        pow_constant,
    ),
    rule("max_self", Key::Binary(BinaryOp::Max), Exact, same_operands),
    rule("min_self", Key::Binary(BinaryOp::Min), Exact, same_operands),
    rule(
        "add_constants",
        Key::Binary(BinaryOp::Add),
        Reassociating,
        gather_constants,
    ),
    rule(
        "mul_constants",
        Key::Binary(BinaryOp::Mul),
        Reassociating,
        gather_constants,
    ),
    rule("double_neg", Key::Unary(UnaryOp::Neg), Exact, involution),
    rule("neg_sub", Key::Unary(UnaryOp::Neg), Finite, neg_sub),
    rule(
        "double_reciprocal",
        Key::Unary(UnaryOp::Reciprocal),
        Reassociating,
        involution,
    ),
    rule(
        "double_one_minus",
        Key::Unary(UnaryOp::OneMinus),
        Reassociating,
        involution,
    ),
    rule("abs_of_sign_free", Key::Unary(UnaryOp::Abs), Exact, abs_of),
    rule(
        "square_of_neg",
        Key::Unary(UnaryOp::Square),
        Exact,
        square_of,
    ),
    rule(
        "sqrt_of_square",
        Key::Unary(UnaryOp::Sqrt),
        Finite,
        sqrt_of_square,
    ),
    rule("rounded_twice", Key::AnyElemwise, Exact, idempotent),
    rule("select_constant", Key::Select, Exact, select),
    rule("cast_of_cast", Key::Cast, Exact, cast),
];

fn reversed(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(Elemwise::Binary(op)) = site.op.downcast_ref() else {
        return Ok(None);
    };
    let Some(reversed) = op.reversed() else {
        return Ok(None);
    };
    r.binary(reversed, site.inputs[1], site.inputs[0]).map(Some)
}

/// Operands of commutative ops in one order, constants last: `x + y` and `y + x` become one node.
fn sorted(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    let rank = |v: ValueId| (r.graph.is_constant(v), v);
    if rank(x) <= rank(y) {
        return Ok(None);
    }
    r.apply(site.op.clone(), &[y, x]).map(Some)
}

fn add_zero(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    let zero = r.scalar(y).is_some_and(|s| s.as_f64() == 0.0);
    Ok((zero && r.keeps(site, x)).then_some(x))
}

fn add_neg(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    if let Some(negated) = r.unary_of(y, UnaryOp::Neg) {
        return r.binary(BinaryOp::Sub, x, negated).map(Some);
    }
    if let Some(negated) = r.unary_of(x, UnaryOp::Neg) {
        return r.binary(BinaryOp::Sub, y, negated).map(Some);
    }
    Ok(None)
}

fn sub_zero(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    Ok((r.is_number(y, 0.0) && r.keeps(site, x)).then_some(x))
}

fn sub_self(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    if x != y {
        return Ok(None);
    }
    r.fill(site, 0.0, x).map(Some)
}

fn sub_neg(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    let negated = r.unary_of(y, UnaryOp::Neg);
    negated
        .map(|negated| r.binary(BinaryOp::Add, x, negated))
        .transpose()
}

fn one_minus(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    if !r.is_number(x, 1.0) || !r.keeps(site, y) {
        return Ok(None);
    }
    r.unary(UnaryOp::OneMinus, y).map(Some)
}

fn zero_minus(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    if !r.is_number(x, 0.0) || !r.keeps(site, y) {
        return Ok(None);
    }
    r.unary(UnaryOp::Neg, y).map(Some)
}

fn mul_one(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    Ok((r.is_number(y, 1.0) && r.keeps(site, x)).then_some(x))
}

fn mul_minus_one(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    if !r.is_number(y, -1.0) || !r.keeps(site, x) {
        return Ok(None);
    }
    r.unary(UnaryOp::Neg, x).map(Some)
}

fn mul_zero(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    let zero = r.scalar(y).is_some_and(|s| s.as_f64() == 0.0);
    if !zero || !r.keeps(site, x) {
        return Ok(None);
    }
    r.fill(site, 0.0, x).map(Some)
}

fn mul_self(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    if x != y || site.ty.dtype() == lodestride_array::DType::Bool {
        return Ok(None);
    }
    r.unary(UnaryOp::Square, x).map(Some)
}

fn mul_neg_neg(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    let both = r.unary_of(x, UnaryOp::Neg).zip(r.unary_of(y, UnaryOp::Neg));
    both.map(|(x, y)| r.binary(BinaryOp::Mul, x, y)).transpose()
}

fn div_one(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    Ok((r.is_number(y, 1.0) && r.keeps(site, x)).then_some(x))
}

fn one_over(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    if !r.is_number(x, 1.0) || !r.keeps(site, y) {
        return Ok(None);
    }
    r.unary(UnaryOp::Reciprocal, y).map(Some)
}

/// x * y / y
fn mul_div_cancel(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [product, divisor] = *site.inputs else {
        return Ok(None);
    };
    let Some((x, y)) = r.binary_of(product, BinaryOp::Mul) else {
        return Ok(None);
    };
    let rest = if y == divisor {
        x
    } else if x == divisor {
        y
    } else {
        return Ok(None);
    };
    let same = r.ty(rest).dtype() == site.ty.dtype() && r.same_shape(rest, product);
    Ok((same && site.ty.dtype().is_float()).then_some(rest))
}

fn pow_constant(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    let Some(exponent) = r.scalar(y).map(|s| s.as_f64()) else {
        return Ok(None);
    };
    if !r.keeps(site, x) {
        return Ok(None);
    }
    let float = site.ty.dtype().is_float();
    Ok(Some(match exponent {
        1.0 => x,
        2.0 => r.unary(UnaryOp::Square, x)?,
        3.0 => r.unary(UnaryOp::Cube, x)?,
        4.0 => {
            let square = r.unary(UnaryOp::Square, x)?;
            r.unary(UnaryOp::Square, square)?
        }
        0.0 => r.fill(site, 1.0, x)?,
        0.5 if float => r.unary(UnaryOp::Sqrt, x)?,
        -0.5 if float => r.unary(UnaryOp::Rsqrt, x)?,
        -1.0 if float => r.unary(UnaryOp::Reciprocal, x)?,
        -2.0 if float => {
            let square = r.unary(UnaryOp::Square, x)?;
            r.unary(UnaryOp::Reciprocal, square)?
        }
        _ => return Ok(None),
    }))
}

fn same_operands(_: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else {
        return Ok(None);
    };
    Ok((x == y).then_some(x))
}

/// (x + c) + d and (x * c) * d
fn gather_constants(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [inner, d] = *site.inputs else {
        return Ok(None);
    };
    let Some(&Elemwise::Binary(op)) = site.op.downcast_ref() else {
        return Ok(None);
    };
    let Some((x, c)) = r.binary_of(inner, op) else {
        return Ok(None);
    };
    let constant = |r: &Rewriter<'_>, v| r.graph.is_constant(v) && r.ty(v).rank() == 0;
    let plain = constant(r, c) && constant(r, d) && !constant(r, x);
    if !plain || r.ty(x).dtype() != site.ty.dtype() || r.ty(c).dtype() != r.ty(d).dtype() {
        return Ok(None);
    }
    let both = r.binary(op, c, d)?;
    r.binary(op, x, both).map(Some)
}

/// f(f(x)) = x
fn involution(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(&Elemwise::Unary(op)) = site.op.downcast_ref() else {
        return Ok(None);
    };
    Ok(r.unary_of(site.inputs[0], op)
        .filter(|x| r.ty(*x).dtype() == site.ty.dtype()))
}

/// -(x - y) = y - x, up to the sign of zero
fn neg_sub(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let difference = r.binary_of(site.inputs[0], BinaryOp::Sub);
    difference
        .map(|(x, y)| r.binary(BinaryOp::Sub, y, x))
        .transpose()
}

fn abs_of(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let x = site.inputs[0];
    for op in [
        UnaryOp::Abs,
        UnaryOp::Square,
        UnaryOp::Exp,
        UnaryOp::Sigmoid,
    ] {
        if r.unary_of(x, op).is_some() && r.ty(x).dtype().is_float() {
            return Ok(Some(x));
        }
    }
    let negated = r.unary_of(x, UnaryOp::Neg);
    negated.map(|x| r.unary(UnaryOp::Abs, x)).transpose()
}

fn square_of(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let x = site.inputs[0];
    let inner = r
        .unary_of(x, UnaryOp::Neg)
        .or_else(|| r.unary_of(x, UnaryOp::Abs));
    inner.map(|x| r.unary(UnaryOp::Square, x)).transpose()
}

fn sqrt_of_square(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(x) = r.unary_of(site.inputs[0], UnaryOp::Square) else {
        return Ok(None);
    };
    if r.ty(x).dtype() != site.ty.dtype() {
        return Ok(None);
    }
    r.unary(UnaryOp::Abs, x).map(Some)
}

/// f(f(x)) = f(x)
fn idempotent(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(&Elemwise::Unary(op)) = site.op.downcast_ref() else {
        return Ok(None);
    };
    let settles = matches!(
        op,
        UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::Round
            | UnaryOp::Trunc
            | UnaryOp::Relu
            | UnaryOp::Sign
    );
    Ok((settles && r.unary_of(site.inputs[0], op).is_some()).then_some(site.inputs[0]))
}

fn select(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [condition, yes, no] = *site.inputs else {
        return Ok(None);
    };
    let chosen = match r.scalar(condition) {
        Some(value) if value.as_bool() => yes,
        Some(_) => no,
        None if yes == no => yes,
        None => return Ok(None),
    };
    Ok(r.keeps(site, chosen).then_some(chosen))
}

fn cast(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let x = site.inputs[0];
    if r.ty(x).dtype() == site.ty.dtype() {
        return Ok(Some(x));
    }
    if let Some((Elemwise::Cast(middle), inner)) = r.made_by::<Elemwise>(x) {
        let from = r.ty(inner[0]).dtype();
        // Nothing was lost on the way to the middle dtype.
        if from.promote(middle) == middle && middle.is_float() == from.is_float() {
            return r.apply(site.op.clone(), &inner).map(Some);
        }
    }
    Ok(None)
}
