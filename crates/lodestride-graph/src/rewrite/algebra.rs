//! Algebraic identities of elementwise ops and reductions.

use crate::error::Result;
use crate::fgraph::ValueId;
use crate::ops::{Elemwise, Reduce};
use crate::rewrite::engine::{Key, Rewriter, Rule, Site, Soundness};
use lodestride_array::kernels::{BinaryOp, ReduceOp, UnaryOp};

type Rewritten = Result<Option<ValueId>>;

const fn unary(op: UnaryOp) -> Key {
    Key::Unary(op)
}

const fn binary(op: BinaryOp) -> Key {
    Key::Binary(op)
}

pub(super) const RULES: &[Rule] = &[
    Rule { name: "reversed_sub", key: binary(BinaryOp::RSub), class: Soundness::Exact, apply: reversed },
    Rule { name: "reversed_div", key: binary(BinaryOp::RDiv), class: Soundness::Exact, apply: reversed },
    Rule { name: "sorted_add", key: binary(BinaryOp::Add), class: Soundness::Exact, apply: sorted },
    Rule { name: "sorted_mul", key: binary(BinaryOp::Mul), class: Soundness::Exact, apply: sorted },
    Rule { name: "sorted_max", key: binary(BinaryOp::Max), class: Soundness::Exact, apply: sorted },
    Rule { name: "sorted_min", key: binary(BinaryOp::Min), class: Soundness::Exact, apply: sorted },
    Rule { name: "add_zero", key: binary(BinaryOp::Add), class: Soundness::Finite, apply: add_zero },
    Rule { name: "add_neg", key: binary(BinaryOp::Add), class: Soundness::Exact, apply: add_neg },
    Rule { name: "sub_zero", key: binary(BinaryOp::Sub), class: Soundness::Exact, apply: sub_zero },
    Rule { name: "sub_self", key: binary(BinaryOp::Sub), class: Soundness::Finite, apply: sub_self },
    Rule { name: "sub_neg", key: binary(BinaryOp::Sub), class: Soundness::Exact, apply: sub_neg },
    Rule { name: "one_minus", key: binary(BinaryOp::Sub), class: Soundness::Exact, apply: one_minus },
    Rule { name: "zero_minus", key: binary(BinaryOp::Sub), class: Soundness::Finite, apply: zero_minus },
    Rule { name: "mul_one", key: binary(BinaryOp::Mul), class: Soundness::Exact, apply: mul_one },
    Rule { name: "mul_minus_one", key: binary(BinaryOp::Mul), class: Soundness::Exact, apply: mul_minus_one },
    Rule { name: "mul_zero", key: binary(BinaryOp::Mul), class: Soundness::Finite, apply: mul_zero },
    Rule { name: "mul_self", key: binary(BinaryOp::Mul), class: Soundness::Exact, apply: mul_self },
    Rule { name: "mul_neg_neg", key: binary(BinaryOp::Mul), class: Soundness::Exact, apply: mul_neg_neg },
    Rule { name: "div_one", key: binary(BinaryOp::Div), class: Soundness::Exact, apply: div_one },
    Rule { name: "one_over", key: binary(BinaryOp::Div), class: Soundness::Exact, apply: one_over },
    Rule { name: "mul_div_cancel", key: binary(BinaryOp::Div), class: Soundness::Finite, apply: mul_div_cancel },
    Rule { name: "pow_constant", key: binary(BinaryOp::Pow), class: Soundness::Finite, apply: pow_constant },
    Rule { name: "max_self", key: binary(BinaryOp::Max), class: Soundness::Exact, apply: same_operands },
    Rule { name: "min_self", key: binary(BinaryOp::Min), class: Soundness::Exact, apply: same_operands },
    Rule { name: "add_constants", key: binary(BinaryOp::Add), class: Soundness::Reassociating, apply: gather_constants },
    Rule { name: "mul_constants", key: binary(BinaryOp::Mul), class: Soundness::Reassociating, apply: gather_constants },
    Rule { name: "double_neg", key: unary(UnaryOp::Neg), class: Soundness::Exact, apply: involution },
    Rule { name: "neg_sub", key: unary(UnaryOp::Neg), class: Soundness::Finite, apply: neg_sub },
    Rule { name: "double_reciprocal", key: unary(UnaryOp::Reciprocal), class: Soundness::Reassociating, apply: involution },
    Rule { name: "double_one_minus", key: unary(UnaryOp::OneMinus), class: Soundness::Reassociating, apply: involution },
    Rule { name: "abs_of_sign_free", key: unary(UnaryOp::Abs), class: Soundness::Exact, apply: abs_of },
    Rule { name: "square_of_neg", key: unary(UnaryOp::Square), class: Soundness::Exact, apply: square_of },
    Rule { name: "sqrt_of_square", key: unary(UnaryOp::Sqrt), class: Soundness::Finite, apply: sqrt_of_square },
    Rule { name: "rounded_twice", key: Key::AnyElemwise, class: Soundness::Exact, apply: idempotent },
    Rule { name: "select_constant", key: Key::Select, class: Soundness::Exact, apply: select },
    Rule { name: "cast_of_cast", key: Key::Cast, class: Soundness::Exact, apply: cast },
    Rule { name: "reduce_nothing", key: Key::Reduce, class: Soundness::Exact, apply: reduce_nothing },
    Rule { name: "reduce_twice", key: Key::Reduce, class: Soundness::Reassociating, apply: reduce_twice },
    Rule { name: "sum_of_scaled", key: Key::Reduce, class: Soundness::Reassociating, apply: sum_of_scaled },
];

/// Rules that make kernels cheaper but hide structure that other rules look for.
pub(super) const LATE_RULES: &[Rule] =
    &[Rule { name: "sum_of_mapped", key: Key::Reduce, class: Soundness::Reassociating, apply: sum_of_mapped }];

fn reversed(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(Elemwise::Binary(op)) = site.op.downcast_ref() else { return Ok(None) };
    let Some(reversed) = op.reversed() else { return Ok(None) };
    r.binary(reversed, site.inputs[1], site.inputs[0]).map(Some)
}

/// Operands of commutative ops in one order, constants last: `x + y` and `y + x` become one node.
fn sorted(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    let rank = |v: ValueId| (r.graph.is_constant(v), v);
    if rank(x) <= rank(y) {
        return Ok(None);
    }
    r.apply(site.op.clone(), &[y, x]).map(Some)
}

fn add_zero(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    let zero = r.scalar(y).is_some_and(|s| s.as_f64() == 0.0);
    Ok((zero && r.keeps(site, x)).then_some(x))
}

fn add_neg(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    if let Some(negated) = r.unary_of(y, UnaryOp::Neg) {
        return r.binary(BinaryOp::Sub, x, negated).map(Some);
    }
    if let Some(negated) = r.unary_of(x, UnaryOp::Neg) {
        return r.binary(BinaryOp::Sub, y, negated).map(Some);
    }
    Ok(None)
}

fn sub_zero(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    Ok((r.is_number(y, 0.0) && r.keeps(site, x)).then_some(x))
}

fn sub_self(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    if x != y {
        return Ok(None);
    }
    r.fill(site, 0.0, x).map(Some)
}

fn sub_neg(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    let negated = r.unary_of(y, UnaryOp::Neg);
    negated.map(|negated| r.binary(BinaryOp::Add, x, negated)).transpose()
}

fn one_minus(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    if !r.is_number(x, 1.0) || !r.keeps(site, y) {
        return Ok(None);
    }
    r.unary(UnaryOp::OneMinus, y).map(Some)
}

fn zero_minus(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    if !r.is_number(x, 0.0) || !r.keeps(site, y) {
        return Ok(None);
    }
    r.unary(UnaryOp::Neg, y).map(Some)
}

fn mul_one(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    Ok((r.is_number(y, 1.0) && r.keeps(site, x)).then_some(x))
}

fn mul_minus_one(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    if !r.is_number(y, -1.0) || !r.keeps(site, x) {
        return Ok(None);
    }
    r.unary(UnaryOp::Neg, x).map(Some)
}

fn mul_zero(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    let zero = r.scalar(y).is_some_and(|s| s.as_f64() == 0.0);
    if !zero || !r.keeps(site, x) {
        return Ok(None);
    }
    r.fill(site, 0.0, x).map(Some)
}

fn mul_self(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    if x != y || site.ty.dtype() == lodestride_array::DType::Bool {
        return Ok(None);
    }
    r.unary(UnaryOp::Square, x).map(Some)
}

fn mul_neg_neg(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    let both = r.unary_of(x, UnaryOp::Neg).zip(r.unary_of(y, UnaryOp::Neg));
    both.map(|(x, y)| r.binary(BinaryOp::Mul, x, y)).transpose()
}

fn div_one(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    Ok((r.is_number(y, 1.0) && r.keeps(site, x)).then_some(x))
}

fn one_over(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = *site.inputs else { return Ok(None) };
    if !r.is_number(x, 1.0) || !r.keeps(site, y) {
        return Ok(None);
    }
    r.unary(UnaryOp::Reciprocal, y).map(Some)
}

/// x * y / y
fn mul_div_cancel(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [product, divisor] = *site.inputs else { return Ok(None) };
    let Some((x, y)) = r.binary_of(product, BinaryOp::Mul) else { return Ok(None) };
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
    let [x, y] = *site.inputs else { return Ok(None) };
    let Some(exponent) = r.scalar(y).map(|s| s.as_f64()) else { return Ok(None) };
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
    let [x, y] = *site.inputs else { return Ok(None) };
    Ok((x == y).then_some(x))
}

/// (x + c) + d and (x * c) * d
fn gather_constants(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [inner, d] = *site.inputs else { return Ok(None) };
    let Some(&Elemwise::Binary(op)) = site.op.downcast_ref() else { return Ok(None) };
    let Some((x, c)) = r.binary_of(inner, op) else { return Ok(None) };
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
    let Some(&Elemwise::Unary(op)) = site.op.downcast_ref() else { return Ok(None) };
    Ok(r.unary_of(site.inputs[0], op).filter(|x| r.ty(*x).dtype() == site.ty.dtype()))
}

/// -(x - y) = y - x, up to the sign of zero
fn neg_sub(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let difference = r.binary_of(site.inputs[0], BinaryOp::Sub);
    difference.map(|(x, y)| r.binary(BinaryOp::Sub, y, x)).transpose()
}

fn abs_of(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let x = site.inputs[0];
    for op in [UnaryOp::Abs, UnaryOp::Square, UnaryOp::Exp, UnaryOp::Sigmoid] {
        if r.unary_of(x, op).is_some() && r.ty(x).dtype().is_float() {
            return Ok(Some(x));
        }
    }
    let negated = r.unary_of(x, UnaryOp::Neg);
    negated.map(|x| r.unary(UnaryOp::Abs, x)).transpose()
}

fn square_of(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let x = site.inputs[0];
    let inner = r.unary_of(x, UnaryOp::Neg).or_else(|| r.unary_of(x, UnaryOp::Abs));
    inner.map(|x| r.unary(UnaryOp::Square, x)).transpose()
}

fn sqrt_of_square(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(x) = r.unary_of(site.inputs[0], UnaryOp::Square) else { return Ok(None) };
    if r.ty(x).dtype() != site.ty.dtype() {
        return Ok(None);
    }
    r.unary(UnaryOp::Abs, x).map(Some)
}

/// f(f(x)) = f(x)
fn idempotent(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(&Elemwise::Unary(op)) = site.op.downcast_ref() else { return Ok(None) };
    let settles = matches!(
        op,
        UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round | UnaryOp::Trunc | UnaryOp::Relu | UnaryOp::Sign
    );
    Ok((settles && r.unary_of(site.inputs[0], op).is_some()).then_some(site.inputs[0]))
}

fn select(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [condition, yes, no] = *site.inputs else { return Ok(None) };
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

fn reduce_nothing(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let x = site.inputs[0];
    let Some(reduce) = site.op.downcast_ref::<Reduce>() else { return Ok(None) };
    let identity = matches!(reduce.op, ReduceOp::Sum | ReduceOp::Mean | ReduceOp::Prod | ReduceOp::Max | ReduceOp::Min);
    Ok((identity && reduce.axes.is_empty() && r.ty(x) == site.ty).then_some(x))
}

/// The sum of a sum, the largest of the largest: one reduction over all the axes.
fn reduce_twice(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(outer) = site.op.downcast_ref::<Reduce>() else { return Ok(None) };
    let Some((inner, operand)) = r.made_by::<Reduce>(site.inputs[0]) else { return Ok(None) };
    let joins = matches!(outer.op, ReduceOp::Sum | ReduceOp::Prod | ReduceOp::Max | ReduceOp::Min);
    if !joins || inner.op != outer.op || inner.keep != outer.keep {
        return Ok(None);
    }
    let rank = r.ty(operand[0]).rank();
    let mut axes = inner.axes.clone();
    if inner.keep {
        axes.extend(outer.axes.iter().copied().filter(|a| !inner.axes.contains(a)));
    } else {
        let left: Vec<usize> = (0..rank).filter(|a| !inner.axes.contains(a)).collect();
        axes.extend(outer.axes.iter().map(|a| left[*a]));
    }
    axes.sort_unstable();
    r.apply(Reduce { op: outer.op, axes, keep: outer.keep }, &operand).map(Some)
}

/// sum(-x) = -sum(x), sum(x * c) = sum(x) * c for a number c
fn sum_of_scaled(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(reduce) = site.op.downcast_ref::<Reduce>() else { return Ok(None) };
    if !matches!(reduce.op, ReduceOp::Sum | ReduceOp::Mean) || !site.ty.dtype().is_float() {
        return Ok(None);
    }
    if let Some(x) = r.unary_of(site.inputs[0], UnaryOp::Neg) {
        let total = r.apply(site.op.clone(), &[x])?;
        return r.unary(UnaryOp::Neg, total).map(Some);
    }
    let Some((x, c)) = r.binary_of(site.inputs[0], BinaryOp::Mul) else { return Ok(None) };
    let same = r.ty(x).dtype() == r.ty(c).dtype();
    if !same || r.ty(c).rank() != 0 || !r.graph.is_constant(c) || r.ty(x).rank() == 0 {
        return Ok(None);
    }
    let total = r.apply(site.op.clone(), &[x])?;
    r.binary(BinaryOp::Mul, total, c).map(Some)
}

/// Sums of squares and of absolute values are reductions of their own: no temporary array.
fn sum_of_mapped(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(reduce) = site.op.downcast_ref::<Reduce>() else { return Ok(None) };
    if reduce.op != ReduceOp::Sum || !site.ty.dtype().is_float() {
        return Ok(None);
    }
    for (map, op) in [(UnaryOp::Square, ReduceOp::SumSquares), (UnaryOp::Abs, ReduceOp::Norm1)] {
        if let Some(x) = r.unary_of(site.inputs[0], map).filter(|x| r.ty(*x).dtype() == site.ty.dtype()) {
            return r.apply(Reduce { op, ..reduce.clone() }, &[x]).map(Some);
        }
    }
    Ok(None)
}
