//! Rules that compute on fewer elements, or in the order of memory: elementwise ops before a stretch, sums of what was stretched,
//! moves and joins that a reduction or their undoing makes irrelevant.

use crate::error::Result;
use crate::fgraph::{ValueId, Values};
use crate::op::OpRef;
use crate::ops::{
    Concat, ConcatPart, ElementCount, Elemwise, ExpandDims, Permute, PlaceSubtensor, Reduce,
    SequenceReverse, Squeeze, Subtensor,
};
use crate::rewrite::engine::Soundness::{Exact, Reassociating};
use crate::rewrite::engine::{Key, Rewriter, Rule, Site, rule};
use crate::rewrite::{is_wide_float, shapes};
use lodestride_array::DType;
use lodestride_array::kernels::{BinaryOp, ReduceOp};

type Rewritten = Result<Option<ValueId>>;

/// Rules for graphs that are no longer differentiated.
pub(super) const LATE_RULES: &[Rule] = &[
    rule(
        "elemwise_before_stretch",
        Key::AnyElemwise,
        Exact,
        elemwise_before_stretch,
    ),
    rule(
        "sum_of_stretched",
        Key::Reduce,
        Reassociating,
        sum_of_stretched,
    ),
    rule(
        "sum_to_unstretched",
        Key::SumTo,
        Reassociating,
        sum_to_unstretched,
    ),
    rule("reduce_unmoved", Key::Reduce, Reassociating, reduce_unmoved),
    rule("flip_back", Key::Subtensor, Exact, move_back),
    rule("permute_back", Key::Permute, Exact, move_back),
    rule("reverse_back", Key::SequenceReverse, Exact, move_back),
    rule("squeeze_back", Key::Squeeze, Exact, move_back),
    rule("expand_back", Key::ExpandDims, Exact, move_back),
    rule("sum_of_joined", Key::Reduce, Reassociating, sum_of_joined),
    rule("part_of_joined", Key::ConcatPart, Exact, part_of_joined),
    rule("place_flipped", Key::PlaceSubtensor, Exact, place_flipped),
];

/// Elementwise ops between two moves, or a move and a reduction, that are looked through.
const MAX_BETWEEN: usize = 4;
/// More pieces than this stay joined: each has a kernel call of its own.
const MAX_PIECES: usize = 8;

/// What was stretched to a value, where neither that nor what it was stretched like is ragged.
fn stretched(r: &Rewriter<'_>, value: ValueId) -> Option<ValueId> {
    let (source, like) = shapes::stretched(r, value)?;
    let is_dense = |value| !r.ty(value).is_lod();
    (is_dense(source) && like.is_none_or(is_dense)).then_some(source)
}

/// f(stretch(x), c) = stretch(f(x, c)) for numbers c. Numbers alone are left: rules recognise them stretched.
fn elemwise_before_stretch(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let wide: Vec<usize> = (0..site.inputs.len())
        .filter(|i| r.ty(site.inputs[*i]).rank() > 0)
        .collect();
    let [position] = wide[..] else {
        return Ok(None);
    };
    let value = site.inputs[position];
    let Some(source) = stretched(r, value).filter(|_| r.scalar(value).is_none()) else {
        return Ok(None);
    };
    let mut inputs = Values::from_slice(site.inputs);
    inputs[position] = source;
    let small = r.apply(site.op.clone(), &inputs)?;
    if r.ty(small).dtype() != site.ty.dtype() {
        return Ok(None);
    }
    let Some((op, mut inputs)) = (r.producer(value)).map(|(op, i)| (op.clone(), Values::from(i)))
    else {
        return Ok(None);
    };
    inputs[0] = small;
    r.apply(op, &inputs).map(Some)
}

/// `x` times how many elements of `wide` there are for each of `narrow`, which was stretched to it.
fn times_repeats(
    r: &mut Rewriter<'_>,
    x: ValueId,
    (wide, narrow): (ValueId, ValueId),
) -> Result<Option<ValueId>> {
    let dtype = r.ty(x).dtype();
    // The count may be more than a half can hold.
    if dtype.is_half() || dtype == DType::Bool {
        return Ok(None);
    }
    let mut counts = Values::new();
    for value in [wide, narrow] {
        let axes = (0..r.ty(value).rank()).collect();
        counts.push(r.apply(ElementCount { axes }, &[value])?);
    }
    // Of no elements there are none repeated.
    let one = r.typed(1i64, DType::I64);
    let some = r.binary(BinaryOp::Max, counts[1], one)?;
    let repeats = r.binary(BinaryOp::FloorDiv, counts[0], some)?;
    let repeats = r.apply(Elemwise::Cast(dtype), &[repeats])?;
    let total = r.binary(BinaryOp::Mul, x, repeats)?;
    // Even if they are infinite. Of integers the count may wrap around, as their sum does.
    let zero = r.typed(0, dtype);
    let any = r.binary(BinaryOp::Ne, repeats, zero)?;
    r.apply(Elemwise::Select, &[any, total, zero]).map(Some)
}

/// The sum of all elements of a stretched value.
fn sum_of_stretched(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let wide = site.inputs[0];
    let (Some(reduce), Some(narrow)) = (site.op.downcast_ref::<Reduce>(), stretched(r, wide))
    else {
        return Ok(None);
    };
    if reduce.op != ReduceOp::Sum || site.ty.rank() != 0 || r.ty(wide).rank() == 0 {
        return Ok(None);
    }
    let sum = Reduce {
        axes: (0..r.ty(narrow).rank()).collect(),
        ..reduce.clone()
    };
    let total = r.apply(sum, &[narrow])?;
    if r.ty(total) != site.ty {
        return Ok(None);
    }
    times_repeats(r, total, (wide, narrow))
}

/// The sum of a stretched value to the shape it had.
fn sum_to_unstretched(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [wide, like] = *site.inputs else {
        return Ok(None);
    };
    match stretched(r, wide) {
        Some(narrow) if r.same_shape(narrow, like) && r.ty(narrow) == site.ty => {
            times_repeats(r, narrow, (wide, like))
        }
        _ => Ok(None),
    }
}

/// The move that undoes this one, for moves that keep every element.
fn inverse(op: &OpRef) -> Option<OpRef> {
    if let Some(Permute { order }) = op.downcast_ref() {
        let mut back = order.clone();
        for (to, from) in order.iter().enumerate() {
            back[*from] = to;
        }
        return Some(Permute { order: back }.into());
    }
    if let Some(ExpandDims { axes }) = op.downcast_ref() {
        return Some(Squeeze { axes: axes.clone() }.into());
    }
    if let Some(Squeeze { axes }) = op.downcast_ref() {
        return Some(ExpandDims { axes: axes.clone() }.into());
    }
    let turns = op.downcast_ref().is_some_and(Subtensor::is_flip) || op.is::<SequenceReverse>();
    turns.then(|| op.clone())
}

/// The value at the beginning of the elementwise ops that lead to another.
fn first_of(r: &Rewriter<'_>, value: ValueId) -> Option<ValueId> {
    let mut value = value;
    for _ in 0..=MAX_BETWEEN {
        let (op, inputs) = r.producer(value)?;
        if !op.is::<Elemwise>() {
            return Some(value);
        }
        value = *inputs.iter().find(|v| r.ty(**v).rank() > 0)?;
    }
    None
}

/// What stands for a value at the beginning of elementwise ops.
type Stand<'s> = &'s dyn Fn(&Rewriter<'_>, ValueId) -> Option<ValueId>;

/// What a value is without this move.
fn without(first: &OpRef) -> impl Fn(&Rewriter<'_>, ValueId) -> Option<ValueId> {
    move |r, value| {
        let (op, inputs) = r.producer(value)?;
        // Other moves take the sequences away.
        let keeps = op.is::<SequenceReverse>() || !r.ty(inputs[0]).is_lod();
        (op == first && keeps).then(|| inputs[0])
    }
}

/// The same elementwise ops on what stands for the values they begin with, if something does for each: `f(x, c)` for
/// `f(move(x), c)`.
fn begun_with(r: &mut Rewriter<'_>, value: ValueId, stand: Stand<'_>, left: usize) -> Rewritten {
    let rank = r.ty(value).rank();
    if rank == 0 {
        return Ok(Some(value));
    }
    if let Some(other) = stand(r, value) {
        return Ok(Some(other));
    }
    let Some((op, inputs)) = (r.producer(value)).map(|(op, i)| (op.clone(), Values::from(i)))
    else {
        return Ok(None);
    };
    // The axes of operands of lower rank are others.
    let aligned = inputs.iter().all(|v| [0, rank].contains(&r.ty(*v).rank()));
    if left == 0 || !op.is::<Elemwise>() || !aligned {
        return Ok(None);
    }
    // Along one path: two would be computed apart where they meet again.
    let wide = inputs.iter().filter(|v| r.ty(**v).rank() > 0).count();
    let mut operands = Values::new();
    for input in inputs {
        match begun_with(r, input, stand, if wide > 1 { 0 } else { left - 1 })? {
            Some(operand) => operands.push(operand),
            None => return Ok(None),
        }
    }
    r.apply(op, &operands).map(Some)
}

/// A reduction of all elements does not depend on where they are.
fn reduce_unmoved(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let x = site.inputs[0];
    let whole = (site.op.downcast_ref::<Reduce>())
        .filter(|reduce| reduce.axes.len() == r.ty(x).rank())
        .cloned();
    let (Some(reduce), Some(first)) = (whole, first_of(r, x)) else {
        return Ok(None);
    };
    let Some(first) = (r.producer(first)).and_then(|(op, _)| inverse(op).map(|_| op.clone()))
    else {
        return Ok(None);
    };
    let Some(x) = begun_with(r, x, &without(&first), MAX_BETWEEN)? else {
        return Ok(None);
    };
    let axes = (0..r.ty(x).rank()).collect();
    let reduced = r.apply(Reduce { axes, ..reduce }, &[x])?;
    Ok(Some(reduced).filter(|reduced| r.ty(*reduced) == site.ty))
}

/// A move back of what was computed elementwise after the move.
fn move_back(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let Some(first) = inverse(site.op) else {
        return Ok(None);
    };
    let x = begun_with(r, site.inputs[0], &without(&first), MAX_BETWEEN)?;
    Ok(x.filter(|x| r.ty(*x) == site.ty))
}

/// The pieces that a value joins, all of its dtype, if they are few.
fn pieces(r: &Rewriter<'_>, value: ValueId, axis: Option<usize>) -> Option<Values> {
    let (concat, pieces) = r.made_by::<Concat>(value)?;
    let dtype = r.ty(value).dtype();
    let alike = |v: &ValueId| r.ty(*v).dtype() == dtype && !r.ty(*v).is_lod();
    let wanted = axis.is_none_or(|axis| axis == concat.axis);
    (wanted && pieces.len() <= MAX_PIECES && pieces.iter().all(alike)).then_some(pieces)
}

/// A sum of all elements of what is joined, or computed of it elementwise: the pieces need not be joined.
fn sum_of_joined(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let x = site.inputs[0];
    let Some(reduce) = site.op.downcast_ref::<Reduce>().cloned() else {
        return Ok(None);
    };
    let sums = matches!(
        reduce.op,
        ReduceOp::Sum | ReduceOp::SumSquares | ReduceOp::Norm1
    );
    // What was computed of all anyway is summed as it is.
    let computed = r.producer(x).is_some_and(|(op, _)| op.is::<Elemwise>());
    if !sums || reduce.axes.len() < r.ty(x).rank() || (computed && r.is_shared(x)) {
        return Ok(None);
    }
    let Some(first) = first_of(r, x).filter(|_| is_wide_float(site.ty.dtype())) else {
        return Ok(None);
    };
    let mut total = None;
    for piece in pieces(r, first, None).unwrap_or_default() {
        let stand = |_: &Rewriter<'_>, value: ValueId| (value == first).then_some(piece);
        let Some(part) = begun_with(r, x, &stand, MAX_BETWEEN)? else {
            return Ok(None);
        };
        let sum = r.apply(reduce.clone(), &[part])?;
        total = Some(match total {
            None => sum,
            Some(total) => r.binary(BinaryOp::Add, total, sum)?,
        });
    }
    Ok(total.filter(|total| r.ty(*total) == site.ty))
}

/// The part of what is computed elementwise of joined pieces: of that piece alone, if all that is wanted are parts.
fn part_of_joined(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let (Some(&ConcatPart { axis, part }), [x, like @ ..]) = (site.op.downcast_ref(), site.inputs)
    else {
        return Ok(None);
    };
    if r.uses(*x) > like.len() {
        return Ok(None);
    }
    let stand = |r: &Rewriter<'_>, value: ValueId| {
        let pieces = pieces(r, value, Some(axis)).filter(|pieces| pieces.len() == like.len())?;
        let mut pairs = pieces.iter().zip(like);
        pairs
            .all(|(a, b)| r.same_shape(*a, *b))
            .then(|| pieces[part])
    };
    let piece = begun_with(r, *x, &stand, MAX_BETWEEN)?;
    Ok(piece.filter(|piece| r.ty(*piece) == site.ty))
}

/// Elements put into reversed places, and nothing left over.
fn place_flipped(r: &mut Rewriter<'_>, site: &Site<'_>) -> Rewritten {
    let [x, like] = *site.inputs else {
        return Ok(None);
    };
    let Some(PlaceSubtensor { index }) = site.op.downcast_ref() else {
        return Ok(None);
    };
    let flip = Subtensor {
        index: index.clone(),
    };
    if !flip.is_flip() || r.ty(like).is_lod() || !r.same_shape(x, like) {
        return Ok(None);
    }
    let flipped = r.apply(flip, &[x])?;
    Ok(Some(flipped).filter(|flipped| r.ty(*flipped) == site.ty))
}
