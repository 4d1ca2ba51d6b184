//! Rules that replace naive formulas by functions that stay exact where the naive ones overflow or cancel.

use crate::error::Result;
use crate::fgraph::ValueId;
use crate::ops::{Elemwise, ExpandDims, Reduce, Softmax};
use crate::rewrite::engine::Soundness::Finite;
use crate::rewrite::engine::{Key, Rewriter, Rule, Site, moves_data, rule};
use lodestride_array::kernels::{BinaryOp, ReduceOp, UnaryOp};
use smallvec::smallvec;

type Rewritten = Result<Option<ValueId>>;

pub(super) const RULES: &[Rule] = &[
    rule(
        "exp_log_softmax",
        Key::Unary(UnaryOp::Exp),
        Finite,
        exp_log_softmax,
    ),
    rule("log_exp", Key::Unary(UnaryOp::Log), Finite, log_exp),
    rule(
        "log_of_one_plus",
        Key::Unary(UnaryOp::Log),
        Finite,
        log_of_sum,
    ),
    rule(
        "log_one_minus",
        Key::Unary(UnaryOp::Log),
        Finite,
        log_one_minus,
    ),
    rule("log_sigmoid", Key::Unary(UnaryOp::Log), Finite, log_sigmoid),
    rule("log_softmax", Key::Unary(UnaryOp::Log), Finite, log_softmax),
    rule("log_sum_exp", Key::Unary(UnaryOp::Log), Finite, log_sum_exp),
    rule(
        "log_of_moved",
        Key::Unary(UnaryOp::Log),
        Finite,
        log_of_moved,
    ),
    rule("log1p_exp", Key::Unary(UnaryOp::Log1p), Finite, log1p_exp),
    rule("expm1", Key::Binary(BinaryOp::Sub), Finite, expm1),
    rule(
        "one_minus_sigmoid",
        Key::Unary(UnaryOp::OneMinus),
        Finite,
        one_minus_sigmoid,
    ),
    rule("sigmoid", Key::Unary(UnaryOp::Reciprocal), Finite, sigmoid),
    rule("softmax", Key::Binary(BinaryOp::Div), Finite, softmax),
    rule(
        "log_softmax_difference",
        Key::Binary(BinaryOp::Sub),
        Finite,
        log_softmax_difference,
    ),
];

fn exp_log_softmax(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    match r.made_by::<Softmax>(site.inputs[0]) {
        Some((Softmax { axis, log: true }, inputs)) => {
            r.apply(Softmax { axis, log: false }, &inputs).map(Some)
        }
        _ => Ok(None),
    }
}

fn log_exp(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    Ok(r.unary_of(site.inputs[0], UnaryOp::Exp)
        .filter(|x| r.ty(*x) == site.ty))
}

/// log(1 + x), log(1 + e^x), log(e^x + e^y)
fn log_of_sum(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some((x, y)) = r.binary_of(site.inputs[0], BinaryOp::Add) else {
        return Ok(None);
    };
    for (one, other) in [(x, y), (y, x)] {
        if r.is_number(one, 1.0) && r.broadcasts_into(one, other) {
            return Ok(Some(match r.unary_of(other, UnaryOp::Exp) {
                Some(exponent) => r.unary(UnaryOp::Softplus, exponent)?,
                None => r.unary(UnaryOp::Log1p, other)?,
            }));
        }
    }
    let exponents = r.unary_of(x, UnaryOp::Exp).zip(r.unary_of(y, UnaryOp::Exp));
    exponents
        .map(|(x, y)| r.binary(BinaryOp::LogAddExp, x, y))
        .transpose()
}

fn log_one_minus(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(x) = r.unary_of(site.inputs[0], UnaryOp::OneMinus) else {
        return Ok(None);
    };
    let minus = r.unary(UnaryOp::Neg, x)?;
    r.unary(UnaryOp::Log1p, minus).map(Some)
}

fn log_sigmoid(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let x = r.unary_of(site.inputs[0], UnaryOp::Sigmoid);
    x.map(|x| r.unary(UnaryOp::LogSigmoid, x)).transpose()
}

fn log_softmax(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    match r.made_by::<Softmax>(site.inputs[0]) {
        Some((Softmax { axis, log: false }, inputs)) => {
            r.apply(Softmax { axis, log: true }, &inputs).map(Some)
        }
        _ => Ok(None),
    }
}

fn log_sum_exp(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some((reduce, inputs)) = r.made_by::<Reduce>(site.inputs[0]) else {
        return Ok(None);
    };
    if reduce.op != ReduceOp::Sum {
        return Ok(None);
    }
    let Some(x) = r.unary_of(inputs[0], UnaryOp::Exp) else {
        return Ok(None);
    };
    r.apply(
        Reduce {
            op: ReduceOp::LogSumExp,
            ..reduce
        },
        &[x],
    )
    .map(Some)
}

/// The logarithm of picked or rearranged elements of a softmax, sigmoid or exponential: taken before the move.
fn log_of_moved(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some((op, inputs)) = r.producer(site.inputs[0]) else {
        return Ok(None);
    };
    if !moves_data(op) {
        return Ok(None);
    }
    let better = |op: &crate::OpRef| {
        matches!(op.downcast_ref(), Some(Softmax { log: false, .. }))
            || matches!(
                op.downcast_ref(),
                Some(Elemwise::Unary(UnaryOp::Exp | UnaryOp::Sigmoid))
            )
    };
    if !r.moves_from(inputs[0], better) {
        return Ok(None);
    }
    let (op, mut inputs) = (op.clone(), crate::fgraph::Values::from_slice(inputs));
    inputs[0] = r.unary(UnaryOp::Log, inputs[0])?;
    r.apply(op, &inputs).map(Some)
}

fn log1p_exp(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let x = site.inputs[0];
    if let Some(x) = r.unary_of(x, UnaryOp::Exp) {
        return r.unary(UnaryOp::Softplus, x).map(Some);
    }
    // log(1 - sigmoid(x)) = -softplus(x)
    let inner = r
        .unary_of(x, UnaryOp::Neg)
        .and_then(|minus| r.unary_of(minus, UnaryOp::Sigmoid));
    let Some(inner) = inner else { return Ok(None) };
    let positive = r.unary(UnaryOp::Softplus, inner)?;
    r.unary(UnaryOp::Neg, positive).map(Some)
}

fn expm1(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, y] = site.inputs else { return Ok(None) };
    let exponent = r
        .unary_of(*x, UnaryOp::Exp)
        .filter(|_| r.is_number(*y, 1.0) && r.keeps(site, *x));
    exponent.map(|x| r.unary(UnaryOp::Expm1, x)).transpose()
}

fn one_minus_sigmoid(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(x) = r.unary_of(site.inputs[0], UnaryOp::Sigmoid) else {
        return Ok(None);
    };
    let minus = r.unary(UnaryOp::Neg, x)?;
    r.unary(UnaryOp::Sigmoid, minus).map(Some)
}

/// 1 / (1 + e^-x) and 1 / (1 + e^x)
fn sigmoid(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some((x, y)) = r.binary_of(site.inputs[0], BinaryOp::Add) else {
        return Ok(None);
    };
    for (one, other) in [(x, y), (y, x)] {
        if r.is_number(one, 1.0)
            && r.broadcasts_into(one, other)
            && let Some(exponent) = r.unary_of(other, UnaryOp::Exp)
        {
            let argument = r.unary(UnaryOp::Neg, exponent)?;
            return r.unary(UnaryOp::Sigmoid, argument).map(Some);
        }
    }
    Ok(None)
}

/// The reduction behind a denominator that keeps its axes, by itself or through an `expand_dims`.
fn kept_reduction(r: &Rewriter<'_>, value: ValueId, op: ReduceOp) -> Option<(usize, ValueId)> {
    if let Some((reduce, inputs)) = r.made_by::<Reduce>(value) {
        return (reduce.op == op && reduce.keep && reduce.axes.len() == 1)
            .then(|| (reduce.axes[0], inputs[0]));
    }
    let (expand, inputs) = r.made_by::<ExpandDims>(value)?;
    let (reduce, operand) = r.made_by::<Reduce>(inputs[0])?;
    (reduce.op == op && !reduce.keep && reduce.axes.len() == 1 && expand.axes == reduce.axes)
        .then(|| (reduce.axes[0], operand[0]))
}

fn softmax(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, total] = site.inputs else {
        return Ok(None);
    };
    let Some(exponent) = r.unary_of(*x, UnaryOp::Exp) else {
        return Ok(None);
    };
    if let Some((axis, summed)) = kept_reduction(r, *total, ReduceOp::Sum) {
        if summed == *x && r.ty(exponent).dtype().is_float() {
            return r.apply(Softmax { axis, log: false }, &[exponent]).map(Some);
        }
        return Ok(None);
    }
    // A vector divided by its own total, which has rank 0.
    if let Some((reduce, inputs)) = r.made_by::<Reduce>(*total)
        && reduce.op == ReduceOp::Sum
        && inputs[0] == *x
        && r.ty(*x).rank() == 1
        && r.ty(*total).rank() == 0
        && r.ty(exponent).dtype().is_float()
    {
        return r
            .apply(
                Softmax {
                    axis: 0,
                    log: false,
                },
                &[exponent],
            )
            .map(Some);
    }
    Ok(None)
}

/// x - logsumexp(x) along one axis
fn log_softmax_difference(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, total] = site.inputs else {
        return Ok(None);
    };
    if !r.ty(*x).dtype().is_float() {
        return Ok(None);
    }
    if let Some((axis, operand)) = kept_reduction(r, *total, ReduceOp::LogSumExp)
        && operand == *x
    {
        return r.apply(Softmax { axis, log: true }, &[*x]).map(Some);
    }
    if let Some((reduce, operand)) = r.made_by::<Reduce>(*total)
        && reduce
            == (Reduce {
                op: ReduceOp::LogSumExp,
                axes: smallvec![0],
                keep: false,
            })
        && operand[0] == *x
        && r.ty(*x).rank() == 1
    {
        return r.apply(Softmax { axis: 0, log: true }, &[*x]).map(Some);
    }
    Ok(None)
}
