//! `reverse`, `slice`, `concat`: ops that only move rows. Each is a plan over the LoD and one pass over the data.

use lodestride_array::NdArray;
use lodestride_array::kernels::{self, RowRange};

use crate::error::{Result, SequenceArgument};
use crate::lod::Lod;
use crate::restructure::Selection;
use crate::rows;
use crate::tensor::LodTensor;

/// The order inside every sequence of a level turned round: of its rows at the last level, of the sequences it is made
/// of at the others (each of which stays as it is inside).
///
/// # Errors
/// [`NoLod`](crate::LodErrorKind::NoLod), [`LevelOutOfRange`](crate::LodErrorKind::LevelOutOfRange).
///
/// ```
/// use lodestride_lod::{LodTensor, lengths, sequence};
///
/// let x = LodTensor::from_lists(&[vec![1i64, 2], vec![3, 4, 5]])?;
/// assert_eq!(sequence::reverse(&x, -1)?.to_lists::<i64>(-1)?, [vec![2, 1], vec![5, 4, 3]]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_reverse")]
pub fn reverse(x: &LodTensor, level: isize) -> Result<LodTensor> {
    if is_last(x, level)? {
        return Ok(rows::keep(rows_reversed(x, x.data())?, x.lod()));
    }
    x.select(x.lod().reverse(level)?)
}

/// The gradient of [`reverse`]: every row of `out_grad` where it came from.
///
/// # Errors
/// As [`reverse`]; [`ShapeMismatch`](crate::LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of the
/// output.
#[track_caller]
pub fn reverse_grad(x: &LodTensor, level: isize, out_grad: &NdArray) -> Result<NdArray> {
    rows::check_out_grad(REVERSE, out_grad, x.shape())?;
    if is_last(x, level)? {
        return rows_reversed(x, out_grad);
    }
    let selection = x.lod().reverse(level)?;
    moved_back(REVERSE, x, &selection, out_grad)
}

const REVERSE: &str = "sequence_reverse";

/// Whether the level groups rows.
#[track_caller]
fn is_last(x: &LodTensor, level: isize) -> Result<bool> {
    rows::check_lod(REVERSE, SequenceArgument::X, x)?;
    Ok(x.lod().resolve_level(level)? + 1 == x.lod_level())
}

/// The rows of every sequence of the last level of `x`, taken from `data`, in opposite order.
#[track_caller]
fn rows_reversed(x: &LodTensor, data: &NdArray) -> Result<NdArray> {
    let out = NdArray::recycled(data.dtype(), data.shape().clone())?;
    kernels::segment_reverse(data.operand(), x.lod().level(-1)?, out.operand())?;
    Ok(out)
}

/// The sequences of a level named by `indices`, whole, in that order, repetitions allowed; levels above are left out.
/// Without levels, the rows. With [`Lod::rank_by_length`] for the indices this is Fluid's
/// `reorder_lod_tensor_by_rank`.
///
/// # Errors
/// As [`Lod::take`]; [`Rank`](crate::LodErrorKind::Rank) for a scalar.
///
/// ```
/// use lodestride_lod::{LodTensor, sequence};
///
/// let x = LodTensor::from_lists(&[vec![1i64], vec![2, 3, 4], vec![5, 6]])?;
/// let longest_first = x.lod().rank_by_length(0)?;
/// let sorted = sequence::take(&x, &longest_first, 0)?;
/// assert_eq!(sorted.to_lists::<i64>(0)?, [vec![2, 3, 4], vec![5, 6], vec![1]]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "reorder_lod_tensor_by_rank")]
pub fn take(x: &LodTensor, indices: &[usize], level: isize) -> Result<LodTensor> {
    x.select(taken(x, indices, level)?)
}

/// The gradient of [`take`] with respect to `x`: the sum over all places a row was put to.
///
/// # Errors
/// As [`take`]; [`ShapeMismatch`](crate::LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of the output.
#[track_caller]
pub fn take_grad(
    x: &LodTensor,
    indices: &[usize],
    level: isize,
    out_grad: &NdArray,
) -> Result<NdArray> {
    let selection = taken(x, indices, level)?;
    let kept = selection.rows.iter().map(ExactSizeIterator::len).sum();
    rows::check_out_grad("take", out_grad, &rows::shape_with_rows(x.data(), kept))?;
    rows::scatter_add(out_grad, &selection.rows, x.rows())
}

#[track_caller]
fn taken(x: &LodTensor, indices: &[usize], level: isize) -> Result<Selection> {
    rows::check_rank("take", SequenceArgument::X, x.data(), 1)?;
    if !x.lod().is_none() {
        return x.lod().take(level, indices);
    }
    let rows = Lod::uniform(x.rows(), 1)?.take(0, indices)?.rows;
    Ok(Selection {
        lod: Lod::none(),
        rows,
    })
}

/// From each sequence of a level the `lengths[i]` steps from `offsets[i]` on. A step is a row at the last level, a
/// whole sequence of the level below at the others.
///
/// Offsets and lengths in an array become plain numbers with [`counts`](crate::sequence::counts).
///
/// # Errors
/// [`NoLod`](crate::LodErrorKind::NoLod), and those of [`Lod::parts`].
///
/// ```
/// use lodestride_lod::{LodTensor, sequence};
///
/// let x = LodTensor::from_lists(&[vec![1i64, 2, 3], vec![4, 5]])?;
/// let parts = sequence::slice(&x, &[0, 1], &[2, 1], -1)?;
/// assert_eq!(parts.to_lists::<i64>(-1)?, [vec![1, 2], vec![5]]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_slice")]
pub fn slice(
    x: &LodTensor,
    offsets: &[usize],
    lengths: &[usize],
    level: isize,
) -> Result<LodTensor> {
    rows::check_lod("sequence_slice", SequenceArgument::X, x)?;
    x.select(x.lod().parts(level, offsets, lengths)?)
}

/// The gradient of [`slice()`] with respect to `x`: `out_grad` in the parts, 0 elsewhere.
///
/// # Errors
/// As [`slice()`]; [`ShapeMismatch`](crate::LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of the output.
#[track_caller]
pub fn slice_grad(
    x: &LodTensor,
    offsets: &[usize],
    lengths: &[usize],
    level: isize,
    out_grad: &NdArray,
) -> Result<NdArray> {
    rows::check_lod("sequence_slice", SequenceArgument::X, x)?;
    let selection = x.lod().parts(level, offsets, lengths)?;
    moved_back("sequence_slice", x, &selection, out_grad)
}

#[track_caller]
fn moved_back(
    op: &'static str,
    x: &LodTensor,
    selection: &Selection,
    out_grad: &NdArray,
) -> Result<NdArray> {
    let kept = selection.rows.iter().map(ExactSizeIterator::len).sum();
    rows::check_out_grad(op, out_grad, &rows::shape_with_rows(x.data(), kept))?;
    rows::put_back(out_grad, selection.rows.iter().cloned(), x.rows())
}

/// Sequence `i` of the result is sequence `i` of every input, one after the other. At an outer level whole sequences of
/// the level below are put after one another; levels above must be equal and stay.
///
/// [`LodTensor::concat`] appends batches instead.
///
/// # Errors
/// [`NoLod`](crate::LodErrorKind::NoLod) when an input has no level or there is no input,
/// [`ShapeMismatch`](crate::LodErrorKind::ShapeMismatch) and [`DTypeMismatch`](crate::LodErrorKind::DTypeMismatch) when
/// rows differ in shape or dtype, and those of [`Lod::join`].
///
/// ```
/// use lodestride_lod::{LodTensor, sequence};
///
/// let a = LodTensor::from_lists(&[vec![1i64, 2], vec![3]])?;
/// let b = LodTensor::from_lists(&[vec![], vec![7i64, 8]])?;
/// assert_eq!(sequence::concat(&[&a, &b], -1)?.to_lists::<i64>(-1)?, [vec![1, 2], vec![3, 7, 8]]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_concat")]
pub fn concat(inputs: &[&LodTensor], level: isize) -> Result<LodTensor> {
    let (first, join) = joined(inputs, level)?;
    let data: Vec<&NdArray> = inputs.iter().map(|input| input.data()).collect();
    let pieces = join.rows.iter();
    let pieces: Vec<RowRange> = pieces
        .map(|(k, rows)| RowRange::new(*k, rows.clone()))
        .collect();
    let out = rows::assemble(first.dtype(), &data, &pieces)?;
    Ok(LodTensor::proven(out, join.lod))
}

/// The gradient of [`concat()`] with respect to every input: `out_grad` split back.
///
/// # Errors
/// As [`concat()`]; [`ShapeMismatch`](crate::LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of the output.
#[track_caller]
pub fn concat_grad(
    inputs: &[&LodTensor],
    level: isize,
    out_grad: &NdArray,
) -> Result<Vec<NdArray>> {
    let (first, join) = joined(inputs, level)?;
    let rows = join.lod.rows().unwrap_or(0);
    rows::check_out_grad(
        "sequence_concat",
        out_grad,
        &rows::shape_with_rows(first.data(), rows),
    )?;
    let mut grads = Vec::with_capacity(inputs.len());
    for k in 0..inputs.len() {
        let own: Vec<_> = targets(&join, k).collect();
        grads.push(rows::gather(out_grad, &own)?);
    }
    Ok(grads)
}

#[track_caller]
fn joined<'a>(
    inputs: &[&'a LodTensor],
    level: isize,
) -> Result<(&'a LodTensor, crate::plan::Join)> {
    const OP: &str = "sequence_concat";
    let Some(&first) = inputs.first() else {
        let (op, argument) = (OP, SequenceArgument::X);
        return Err(crate::LodErrorKind::NoLod { op, argument }.into());
    };
    for (i, input) in inputs.iter().enumerate() {
        let argument = SequenceArgument::Input(i);
        rows::check_lod(OP, argument, input)?;
        rows::check_dtype(OP, argument, input.data(), first.dtype())?;
        rows::check_shape(
            OP,
            argument,
            input.data(),
            &rows::shape_with_rows(first.data(), input.rows()),
        )?;
    }
    let lods: Vec<&Lod> = inputs.iter().map(|input| input.lod()).collect();
    Ok((first, Lod::join(&lods, level)?))
}

/// The rows of the result that come from input `k`, in the order of that input's rows.
fn targets(
    join: &crate::plan::Join,
    k: usize,
) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let mut end = 0;
    join.rows.iter().filter_map(move |(input, rows)| {
        let start = end;
        end += rows.len();
        (*input == k).then_some(start..end)
    })
}
