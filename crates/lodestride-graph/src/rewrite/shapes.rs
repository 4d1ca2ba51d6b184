//! Rules about shape ops: chains of views, broadcasts that change nothing, shapes that come from somewhere nearer.

use crate::error::Result;
use crate::fgraph::{ValueId, Values};
use crate::grad::Barrier;
use crate::ops::{
    BroadcastLike, Concat, Elemwise, ExpandDims, Permute, Reduce, Reshape, Squeeze, Subtensor,
    SumTo,
};
use crate::rewrite::engine::Soundness::Exact;
use crate::rewrite::engine::{Key, Rewriter, Rule, Site, rule};
use crate::ty::Dim;
use lodestride_array::Index;
use lodestride_array::kernels::ReduceOp;
use smallvec::SmallVec;

type Rewritten = Result<Option<ValueId>>;

pub(super) const RULES: &[Rule] = &[
    rule("permute_twice", Key::Permute, Exact, permute),
    rule("reshape_twice", Key::Reshape, Exact, reshape),
    rule("squeeze_expanded", Key::Squeeze, Exact, squeeze),
    rule("expand_squeezed", Key::ExpandDims, Exact, expand),
    rule("index_everything", Key::Subtensor, Exact, index),
    rule("index_of_concat", Key::Subtensor, Exact, index_of_concat),
    rule("concat_of_one", Key::Concat, Exact, concat_of_one),
    rule(
        "broadcast_to_same",
        Key::BroadcastLike,
        Exact,
        broadcast_same,
    ),
    rule(
        "broadcast_number",
        Key::BroadcastLike,
        Exact,
        broadcast_number,
    ),
    rule(
        "broadcast_twice",
        Key::BroadcastLike,
        Exact,
        broadcast_twice,
    ),
    rule("lod_like_same", Key::LodLike, Exact, lod_like_same),
    rule("sum_to_same", Key::SumTo, Exact, sum_to_same),
    rule("sum_to_scalar", Key::SumTo, Exact, sum_to_scalar),
    rule("sum_to_known", Key::SumTo, Exact, sum_to_known),
    rule("shape_of_origin", Key::Any, Exact, nearer_shape),
    rule(
        "elemwise_of_broadcast",
        Key::AnyElemwise,
        Exact,
        elemwise_of_broadcast,
    ),
];

/// Rules for graphs that are no longer differentiated.
pub(super) const LATE_RULES: &[Rule] = &[rule("barrier", Key::Barrier, Exact, barrier)];

fn barrier(_: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    Ok(site.op.is::<Barrier>().then(|| site.inputs[0]))
}

fn permute(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(outer) = site.op.downcast_ref::<Permute>() else {
        return Ok(None);
    };
    if outer.order.iter().enumerate().all(|(i, axis)| i == *axis) {
        return Ok(Some(site.inputs[0]));
    }
    let Some((inner, operand)) = r.made_by::<Permute>(site.inputs[0]) else {
        return Ok(None);
    };
    let order = outer.order.iter().map(|axis| inner.order[*axis]).collect();
    // A ragged result would lose its sequences half way; only whole chains of dense views are joined.
    if r.ty(operand[0]).is_lod() {
        return Ok(None);
    }
    r.apply(Permute { order }, &operand).map(Some)
}

fn reshape(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let x = site.inputs[0];
    if r.ty(x) == site.ty && site.ty.static_shape().is_some() {
        return Ok(Some(x));
    }
    match r.made_by::<Reshape>(x) {
        Some((_, operand)) => r.apply(site.op.clone(), &operand).map(Some),
        None => Ok(None),
    }
}

fn squeeze(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(squeeze) = site.op.downcast_ref::<Squeeze>() else {
        return Ok(None);
    };
    if squeeze.axes.is_empty() {
        return Ok(Some(site.inputs[0]));
    }
    match r.made_by::<ExpandDims>(site.inputs[0]) {
        Some((expand, operand)) if expand.axes == squeeze.axes && r.ty(operand[0]) == site.ty => {
            Ok(Some(operand[0]))
        }
        _ => Ok(None),
    }
}

fn expand(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(expand) = site.op.downcast_ref::<ExpandDims>() else {
        return Ok(None);
    };
    if expand.axes.is_empty() {
        return Ok(Some(site.inputs[0]));
    }
    match r.made_by::<Squeeze>(site.inputs[0]) {
        Some((squeeze, operand)) if squeeze.axes == expand.axes && r.ty(operand[0]) == site.ty => {
            Ok(Some(operand[0]))
        }
        _ => Ok(None),
    }
}

fn is_whole(index: &Index) -> bool {
    matches!(
        index,
        Index::All
            | Index::Ellipsis
            | Index::Interval {
                start: None | Some(0),
                end: None,
                step: 1
            }
    )
}

fn index(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(outer) = site.op.downcast_ref::<Subtensor>() else {
        return Ok(None);
    };
    let x = site.inputs[0];
    if outer.index.iter().all(is_whole) && r.ty(x).is_lod() == site.ty.is_lod() {
        return Ok(Some(x));
    }
    // x[::-1][::-1]
    let flips = |s: &Subtensor| {
        s.index.iter().all(|i| {
            is_whole(i)
                || matches!(
                    i,
                    Index::Interval {
                        start: None,
                        end: None,
                        step: -1
                    }
                )
        }) && !s.index.contains(&Index::Ellipsis)
    };
    match r.made_by::<Subtensor>(x) {
        Some((inner, operand))
            if inner == *outer && flips(outer) && r.ty(operand[0]) == site.ty =>
        {
            Ok(Some(operand[0]))
        }
        _ => Ok(None),
    }
}

/// A slice of joined arrays of known length that lies in one of them.
fn index_of_concat(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(outer) = site.op.downcast_ref::<Subtensor>() else {
        return Ok(None);
    };
    let Some((concat, pieces)) = r.made_by::<Concat>(site.inputs[0]) else {
        return Ok(None);
    };
    let rank = r.ty(site.inputs[0]).rank();
    let full = crate::ops::spelled_out(&outer.index, rank);
    if full.contains(&Index::NewAxis) || r.ty(site.inputs[0]).is_lod() {
        return Ok(None);
    }
    let Some(&Index::Interval {
        start,
        end,
        step: 1,
    }) = full.get(concat.axis)
    else {
        return Ok(None);
    };
    let (Some(start), Some(end)) = (start.or(Some(0)), end) else {
        return Ok(None);
    };
    let mut offset = 0isize;
    for piece in &pieces {
        let Some(length) = r.ty(*piece).dims()[concat.axis].known() else {
            return Ok(None);
        };
        let next = offset + length as isize;
        if start >= offset && end <= next && start <= end && r.ty(*piece).dtype() == site.ty.dtype()
        {
            let mut index = full.clone();
            index[concat.axis] = Index::Interval {
                start: Some(start - offset),
                end: Some(end - offset),
                step: 1,
            };
            let whole = start == offset && end == next;
            if whole {
                index[concat.axis] = Index::All;
            }
            return r.apply(Subtensor { index }, &[*piece]).map(Some);
        }
        offset = next;
    }
    Ok(None)
}

fn concat_of_one(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x] = *site.inputs else { return Ok(None) };
    Ok((r.ty(x) == site.ty).then_some(x))
}

fn broadcast_same(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, like] = *site.inputs else {
        return Ok(None);
    };
    Ok((r.ty(x).is_lod() == site.ty.is_lod() && r.same_shape(x, like)).then_some(x))
}

fn lod_like_same(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, like] = *site.inputs else {
        return Ok(None);
    };
    Ok((r.ty(x) == site.ty && r.same_shape(x, like)).then_some(x))
}

/// A number needs no unit axes to be stretched, and without them it is recognised as a number.
fn broadcast_number(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, like] = *site.inputs else {
        return Ok(None);
    };
    let (ty, dtype) = (r.ty(x), r.ty(x).dtype());
    if ty.rank() == 0
        || ty
            .static_shape()
            .is_none_or(|shape| shape.iter().any(|n| *n != 1))
    {
        return Ok(None);
    }
    if let Some((_, inner)) = r
        .made_by::<ExpandDims>(x)
        .filter(|(_, inner)| r.ty(inner[0]).rank() == 0)
    {
        return r.apply(BroadcastLike, &[inner[0], like]).map(Some);
    }
    let Some(number) = r.single(x) else {
        return Ok(None);
    };
    let number = r.typed(number, dtype);
    r.apply(BroadcastLike, &[number, like]).map(Some)
}

fn broadcast_twice(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    match r.made_by::<BroadcastLike>(site.inputs[0]) {
        Some((_, inner)) => r
            .apply(BroadcastLike, &[inner[0], site.inputs[1]])
            .map(Some),
        None => Ok(None),
    }
}

/// The shape of `f(x)` is that of `x`: who wants no more than the shape does not have `f(x)` computed, or kept.
fn nearer_shape(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let mut inputs: Values = SmallVec::from_slice(site.inputs);
    for (position, input) in inputs.iter_mut().enumerate() {
        let root = r.shape_root(*input);
        if !site.op.reads(position) && r.ty(root).with_dtype(r.ty(*input).dtype()) == *r.ty(*input)
        {
            *input = root;
        }
    }
    if inputs[..] == *site.inputs {
        return Ok(None);
    }
    let nearer = r.apply(site.op.clone(), &inputs)?;
    // An op may take the element type of what it does not read.
    Ok(Some(nearer).filter(|value| r.ty(*value) == site.ty))
}

/// A sum of axes that are known is a reduction like others.
fn sum_to_known(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, like] = *site.inputs else {
        return Ok(None);
    };
    let (from, to) = (r.ty(x), r.ty(like));
    if from.is_lod() || to.is_lod() {
        return Ok(None);
    }
    let shift = from.rank() - to.rank();
    let mut stretched = SmallVec::new();
    for (axis, (to, from)) in to.dims().iter().zip(&from.dims()[shift..]).enumerate() {
        match to.surely_equals(from) {
            true => {}
            false if *to == Dim::Known(1) => stretched.push(axis),
            false => return Ok(None),
        }
    }
    let inner = stretched.iter().map(|axis| shift + axis);
    let sum = Reduce {
        op: ReduceOp::Sum,
        axes: (0..shift).chain(inner).collect(),
        keep: shift == 0,
    };
    let keeps = sum.keep || stretched.is_empty();
    let mut total = r.apply(sum, &[x])?;
    if !keeps {
        total = r.apply(ExpandDims { axes: stretched }, &[total])?;
    }
    Ok(Some(total).filter(|total| r.ty(*total) == site.ty))
}

fn sum_to_same(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, like] = *site.inputs else {
        return Ok(None);
    };
    Ok((r.ty(x).is_lod() == site.ty.is_lod() && r.same_shape(x, like)).then_some(x))
}

fn sum_to_scalar(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    if site.ty.rank() != 0 || !site.op.is::<SumTo>() {
        return Ok(None);
    }
    let axes = (0..r.ty(site.inputs[0]).rank()).collect();
    r.apply(
        Reduce {
            op: ReduceOp::Sum,
            axes,
            keep: false,
        },
        &[site.inputs[0]],
    )
    .map(Some)
}

/// An elementwise op broadcasts by itself: a stretched operand may be given unstretched if another has the shape.
fn elemwise_of_broadcast(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    if !site.op.is::<Elemwise>() || site.inputs.len() < 2 {
        return Ok(None);
    }
    for (position, input) in site.inputs.iter().enumerate() {
        let Some((source, like)) = stretched(r, *input) else {
            continue;
        };
        let covered = |(other, value): (usize, &ValueId)| {
            other != position
                && r.ty(*value).rank() == r.ty(*input).rank()
                && r.ty(*value).is_lod() == r.ty(*input).is_lod()
                && like.map_or_else(
                    || r.same_shape(*value, *input),
                    |like| r.same_shape(*value, like),
                )
        };
        if site.inputs.iter().enumerate().any(covered) {
            let mut inputs: Values = SmallVec::from_slice(site.inputs);
            inputs[position] = source;
            return r.apply(site.op.clone(), &inputs).map(Some);
        }
    }
    Ok(None)
}

/// What was stretched to a value, and whose shape it took.
pub(super) fn stretched(r: &Rewriter<'_>, value: ValueId) -> Option<(ValueId, Option<ValueId>)> {
    if let Some((_, inputs)) = r.made_by::<BroadcastLike>(value) {
        return Some((inputs[0], Some(inputs[1])));
    }
    let (_, inputs) = r.made_by::<crate::ops::BroadcastTo>(value)?;
    Some((inputs[0], None))
}
