//! Identities of reductions.

use crate::error::Result;
use crate::fgraph::{Client, FunctionGraph, NodeId, ValueId, Values};
use crate::ops::Reduce;
use crate::rewrite::engine::Soundness::{Exact, Reassociating};
use crate::rewrite::engine::{Key, Rewriter, Rule, Site, rule};
use crate::rewrite::is_wide_float;
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

/// Lets a reduction over some axes be a part of that of the same value over more of them: one pass over memory less.
pub(super) fn share_parts(graph: &mut FunctionGraph) -> Result<()> {
    let live = graph.live_nodes();
    for node in graph.toposort()? {
        let Some(whole) = graph.op(node).downcast_ref::<Reduce>().cloned() else {
            continue;
        };
        let Some((part, value)) = part_of(graph, node, &whole, &live) else {
            continue;
        };
        let axes = whole.axes.iter().copied();
        let axes = if part.keep {
            axes.collect()
        } else {
            let left = axes.filter(|axis| !part.axes.contains(axis));
            let gone = |axis: usize| part.axes.iter().filter(|gone| **gone < axis).count();
            left.map(|axis| axis - gone(axis)).collect()
        };
        let op = match whole.op {
            ReduceOp::SumSquares | ReduceOp::Norm1 => ReduceOp::Sum,
            op => op,
        };
        let rest = Reduce { op, axes, ..whole };
        let spans = graph.nodes[node.index()].spans.clone();
        let total = graph.add(rest.into(), Values::from_slice(&[value]), &spans)?[0];
        graph.replace(graph.node_outputs(node)[0], total)?;
    }
    Ok(())
}

/// A reduction over fewer axes from which this one may go on, and its result.
fn part_of(
    graph: &FunctionGraph,
    node: NodeId,
    whole: &Reduce,
    live: &[bool],
) -> Option<(Reduce, ValueId)> {
    let x = graph.node_inputs(node)[0];
    let joins = matches!(
        whole.op,
        ReduceOp::Sum
            | ReduceOp::SumSquares
            | ReduceOp::Norm1
            | ReduceOp::Prod
            | ReduceOp::Max
            | ReduceOp::Min
    );
    // A half would be rounded in between, and what is ragged loses its sequences.
    let plain = is_wide_float(graph.ty(x).dtype()) && !graph.ty(x).is_lod();
    if !joins || !plain {
        return None;
    }
    graph.clients(x).iter().find_map(|client| {
        let Client::Node(other, _) = *client else {
            return None;
        };
        let part: &Reduce = graph.op(other).downcast_ref()?;
        let inside = part.axes.iter().all(|axis| whole.axes.contains(axis));
        let fewer = !part.axes.is_empty() && part.axes.len() < whole.axes.len();
        let fits = part.op == whole.op && (part.keep || !whole.keep);
        let value = graph.node_outputs(other)[0];
        // One that goes on from a part itself has no clients any more.
        let wanted = live.get(other.index()) == Some(&true) && !graph.clients(value).is_empty();
        (fits && inside && fewer && wanted).then(|| (part.clone(), value))
    })
}
