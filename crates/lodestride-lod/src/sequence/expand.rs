//! `expand`, `expand_as`, `repeat`: rows and sequences written several times, and the sums that are their gradients.

use std::borrow::Cow;
use std::ops::Range;

use lodestride_array::kernels::SegmentOp;
use lodestride_array::{NdArray, Scalar, kernels};

use crate::error::{LodErrorKind, Result, SequenceArgument};
use crate::lengths::room_for;
use crate::level::Level;
use crate::lod::Lod;
use crate::restructure::check_count;
use crate::rows;
use crate::tensor::LodTensor;

/// Sequence `i` of `x`, whole, as often as sequence `i` of level `ref_level` of `y` is long.
///
/// Only the LoD of `y` matters. `x` with levels: its outermost sequences are repeated, with everything inside them.
/// `x` without levels: its rows are repeated and the result has no levels either ([`expand_as`] takes over those of
/// `y`). A length of 0 drops the sequence; an empty sequence is repeated as an empty one.
///
/// # Errors
/// [`NoLod`](LodErrorKind::NoLod) when `y` has no level, [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange),
/// [`CountMismatch`](LodErrorKind::CountMismatch) unless `x` has one sequence (or row) for each sequence of that level.
///
/// ```
/// use lodestride_lod::{LodTensor, Lod, lengths, sequence};
///
/// let x = LodTensor::from_lists(&[vec![[1.1f32]], vec![[2.2], [3.3], [4.4]]])?;
/// let y = Lod::from_lengths(lengths![[1, 3], [2, 1, 2, 1]])?;
/// let out = sequence::expand(&x, &y, 0)?;
/// assert_eq!(out.data().to_vec::<f32>()?, [1.1, 2.2, 3.3, 4.4, 2.2, 3.3, 4.4, 2.2, 3.3, 4.4]);
/// assert_eq!(out.recursive_sequence_lengths(), lengths![[1, 3, 3, 3]]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_expand")]
pub fn expand(x: &LodTensor, y: &impl AsRef<Lod>, ref_level: isize) -> Result<LodTensor> {
    let counts = reference_lengths("sequence_expand", x, y.as_ref(), ref_level)?;
    repeat(x, &counts, 0)
}

/// The gradient of [`expand`] with respect to `x`: the sum over the copies of each sequence, 0 for a dropped one.
///
/// # Errors
/// As [`expand`]; [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of the output.
#[track_caller]
pub fn expand_grad(
    x: &LodTensor,
    y: &impl AsRef<Lod>,
    ref_level: isize,
    out_grad: &NdArray,
) -> Result<NdArray> {
    let counts = reference_lengths("sequence_expand", x, y.as_ref(), ref_level)?;
    repeat_grad(x, &counts, 0, out_grad)
}

/// The lengths of the level of `y` that is referred to, one for each outermost sequence (or row) of `x`.
#[track_caller]
fn reference_lengths(
    op: &'static str,
    x: &LodTensor,
    y: &Lod,
    ref_level: isize,
) -> Result<Vec<usize>> {
    if y.is_none() {
        let argument = SequenceArgument::Y;
        return Err(LodErrorKind::NoLod { op, argument }.into());
    }
    let counts: Vec<usize> = y.lengths_of(ref_level)?.collect();
    let found = x.lod().levels().first().map_or(x.rows(), |top| top.count());
    check_count(
        op,
        SequenceArgument::X,
        y.resolve_level(ref_level)?,
        counts.len(),
        found,
    )?;
    Ok(counts)
}

/// Each sequence of a level of `x`, whole, `counts[i]` times; the levels above grow. Without levels, each row.
///
/// # Errors
/// As [`Lod::repeat`]; [`Rank`](LodErrorKind::Rank) for a scalar.
#[track_caller]
pub fn repeat(x: &LodTensor, counts: &[usize], level: isize) -> Result<LodTensor> {
    rows::check_rank("repeat", SequenceArgument::X, x.data(), 1)?;
    if x.lod().is_none() {
        let copies = copies_of_rows(x, counts)?;
        return Ok(broadcast(x.data(), copies.offsets())?.into());
    }
    x.select(x.lod().repeat(level, counts)?)
}

/// The gradient of [`repeat`] with respect to `x`: the sum over the copies of each row.
///
/// # Errors
/// As [`repeat`]; [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of the output.
#[track_caller]
pub fn repeat_grad(
    x: &LodTensor,
    counts: &[usize],
    level: isize,
    out_grad: &NdArray,
) -> Result<NdArray> {
    const OP: &str = "repeat";
    rows::check_rank(OP, SequenceArgument::X, x.data(), 1)?;
    if x.lod().is_none() {
        return sums(OP, x, copies_of_rows(x, counts)?.offsets(), out_grad);
    }
    let copies = x.lod().repeat(level, counts)?.rows;
    let total = copies.iter().map(ExactSizeIterator::len).sum();
    rows::check_out_grad(OP, out_grad, &rows::shape_with_rows(x.data(), total))?;
    rows::scatter_add(out_grad, &copies, x.rows())
}

/// Where the copies of each row go.
#[track_caller]
fn copies_of_rows(x: &LodTensor, counts: &[usize]) -> Result<Level> {
    check_count(
        "repeat",
        SequenceArgument::Length,
        0,
        x.rows(),
        counts.len(),
    )?;
    let copies = Level::from_lengths(counts.iter().copied(), 0)?;
    // As many as no list can hold are refused in the same words as whole sequences.
    room_for::<Range<usize>>(copies.total())?;
    Ok(copies)
}

/// Row `i` of `x` in the rows `offsets[i]..offsets[i + 1]`.
#[track_caller]
fn broadcast(x: &NdArray, offsets: &[usize]) -> Result<NdArray> {
    let rows = offsets[offsets.len() - 1];
    let out = NdArray::recycled(x.dtype(), rows::shape_with_rows(x, rows))?;
    kernels::segment_broadcast(x.operand(), offsets, out.operand())?;
    Ok(out)
}

/// The adjoint of [`broadcast`], of `out_grad`.
#[track_caller]
fn sums(op: &'static str, x: &LodTensor, offsets: &[usize], out_grad: &NdArray) -> Result<NdArray> {
    let rows = offsets[offsets.len() - 1];
    rows::check_out_grad(op, out_grad, &rows::shape_with_rows(x.data(), rows))?;
    let out = NdArray::recycled(out_grad.dtype(), x.shape().clone())?;
    let (given, none) = (out_grad.operand(), Scalar::from(0));
    kernels::segment_reduce(SegmentOp::Sum, given, offsets, none, out.operand(), None)?;
    Ok(out)
}

/// Row `i` of `x` for every row of sequence `i` of a level of `y`; the result is grouped as `y`.
///
/// The LoD of `x`, if any, is not looked at.
///
/// # Errors
/// [`NoLod`](LodErrorKind::NoLod) when `y` has no level, [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange),
/// [`CountMismatch`](LodErrorKind::CountMismatch) unless `x` has one row for each sequence of that level.
///
/// ```
/// use lodestride_lod::{Lod, LodTensor, NdArray, lengths, sequence};
///
/// let y = Lod::from_lengths([2, 0, 1])?;
/// let out = sequence::expand_as(&NdArray::from([1.0f32, 2.0, 3.0]).into(), &y, -1)?;
/// assert_eq!(out.data().to_vec::<f32>()?, [1.0, 1.0, 3.0]);
/// assert_eq!(out.recursive_sequence_lengths(), lengths![[2, 0, 1]]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_expand_as")]
pub fn expand_as(x: &LodTensor, y: &impl AsRef<Lod>, level: isize) -> Result<LodTensor> {
    let y = y.as_ref();
    let out = broadcast(x.data(), &spread(x, y, level)?)?;
    Ok(rows::keep(out, y))
}

/// The gradient of [`expand_as`] with respect to `x`: the sum over the rows of each sequence.
///
/// # Errors
/// As [`expand_as`]; [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of the output.
#[track_caller]
pub fn expand_as_grad(
    x: &LodTensor,
    y: &impl AsRef<Lod>,
    level: isize,
    out_grad: &NdArray,
) -> Result<NdArray> {
    let offsets = spread(x, y.as_ref(), level)?;
    sums(EXPAND_AS, x, &offsets, out_grad)
}

const EXPAND_AS: &str = "sequence_expand_as";

/// Where the copies of each row of `x` go: the row offsets of the level of `y`.
#[track_caller]
fn spread<'a>(x: &LodTensor, y: &'a Lod, level: isize) -> Result<Cow<'a, [usize]>> {
    rows::check_rank(EXPAND_AS, SequenceArgument::X, x.data(), 1)?;
    if y.is_none() {
        let (op, argument) = (EXPAND_AS, SequenceArgument::Y);
        return Err(LodErrorKind::NoLod { op, argument }.into());
    }
    check_count(
        EXPAND_AS,
        SequenceArgument::X,
        y.resolve_level(level)?,
        y.sequences(level)?,
        x.rows(),
    )?;
    y.rows_of(level)
}
