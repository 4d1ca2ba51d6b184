//! Identities of reductions.

use crate::error::Result;
use crate::fgraph::ValueId;
use crate::ops::Reduce;
use crate::rewrite::engine::Soundness::{Exact, Reassociating};
use crate::rewrite::engine::{Key, Rewriter, Rule, Site, rule};
use lodestride_array::kernels::{BinaryOp, ReduceOp, UnaryOp};

type Rewritten = Result<Option<ValueId>>;

pub(super) const RULES: &[Rule] = &[
    rule("reduce_nothing", Key::Reduce, Exact, reduce_nothing),
    rule("reduce_twice", Key::Reduce, Reassociating, reduce_twice),
    rule("sum_of_scaled", Key::Reduce, Reassociating, sum_of_scaled),
];

/// Rules that make kernels cheaper but hide structure that other rules look for.
pub(super) const LATE_RULES: &[Rule] = &[rule(
    "sum_of_mapped",
    Key::Reduce,
    Reassociating,
    sum_of_mapped,
)];

fn reduce_nothing(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let x = site.inputs[0];
    let Some(reduce) = site.op.downcast_ref::<Reduce>() else {
        return Ok(None);
    };
    let identity = matches!(
        reduce.op,
        ReduceOp::Sum | ReduceOp::Mean | ReduceOp::Prod | ReduceOp::Max | ReduceOp::Min
    );
    Ok((identity && reduce.axes.is_empty() && r.ty(x) == site.ty).then_some(x))
}

/// The sum of a sum, the largest of the largest: one reduction over all the axes.
fn reduce_twice(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(outer) = site.op.downcast_ref::<Reduce>() else {
        return Ok(None);
    };
    let Some((inner, operand)) = r.made_by::<Reduce>(site.inputs[0]) else {
        return Ok(None);
    };
    let joins = matches!(
        outer.op,
        ReduceOp::Sum | ReduceOp::Prod | ReduceOp::Max | ReduceOp::Min
    );
    if !joins || inner.op != outer.op || inner.keep != outer.keep {
        return Ok(None);
    }
    let rank = r.ty(operand[0]).rank();
    let mut axes = inner.axes.clone();
    if inner.keep {
        axes.extend(
            outer
                .axes
                .iter()
                .copied()
                .filter(|a| !inner.axes.contains(a)),
        );
    } else {
        let left: Vec<usize> = (0..rank).filter(|a| !inner.axes.contains(a)).collect();
        axes.extend(outer.axes.iter().map(|a| left[*a]));
    }
    axes.sort_unstable();
    r.apply(
        Reduce {
            op: outer.op,
            axes,
            keep: outer.keep,
        },
        &operand,
    )
    .map(Some)
}

/// sum(-x) = -sum(x), sum(x * c) = sum(x) * c for a number c
fn sum_of_scaled(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(reduce) = site.op.downcast_ref::<Reduce>() else {
        return Ok(None);
    };
    if !matches!(reduce.op, ReduceOp::Sum | ReduceOp::Mean) || !site.ty.dtype().is_float() {
        return Ok(None);
    }
    if let Some(x) = r.unary_of(site.inputs[0], UnaryOp::Neg) {
        let total = r.apply(site.op.clone(), &[x])?;
        return r.unary(UnaryOp::Neg, total).map(Some);
    }
    let Some((x, c)) = r.binary_of(site.inputs[0], BinaryOp::Mul) else {
        return Ok(None);
    };
    let same = r.ty(x).dtype() == r.ty(c).dtype();
    if !same || r.ty(c).rank() != 0 || !r.graph.is_constant(c) || r.ty(x).rank() == 0 {
        return Ok(None);
    }
    let total = r.apply(site.op.clone(), &[x])?;
    r.binary(BinaryOp::Mul, total, c).map(Some)
}

/// Sums of squares and of absolute values are reductions of their own: no temporary array.
fn sum_of_mapped(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(reduce) = site.op.downcast_ref::<Reduce>() else {
        return Ok(None);
    };
    if reduce.op != ReduceOp::Sum || !site.ty.dtype().is_float() {
        return Ok(None);
    }
    for (map, op) in [
        (UnaryOp::Square, ReduceOp::SumSquares),
        (UnaryOp::Abs, ReduceOp::Norm1),
    ] {
        if let Some(x) = r
            .unary_of(site.inputs[0], map)
            .filter(|x| r.ty(*x).dtype() == site.ty.dtype())
        {
            return r
                .apply(
                    Reduce {
                        op,
                        ..reduce.clone()
                    },
                    &[x],
                )
                .map(Some);
        }
    }
    Ok(None)
}
