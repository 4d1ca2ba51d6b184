//! Ops on token ids, positions and lengths: `enumerate`, `erase`, `mask`, `scatter`, and `counts`.

use lodestride_array::kernels::{self, SegmentWindow};
use lodestride_array::{DType, NdArray, Scalar};

use crate::error::{LodErrorKind, Result, SequenceArgument};
use crate::rows;
use crate::tensor::LodTensor;

/// The integers of an array of any shape and integer dtype as counts, for the ops that take lengths or offsets.
///
/// # Errors
/// [`NotACount`](LodErrorKind::NotACount) for a negative number, [`NotIntegers`](LodErrorKind::NotIntegers) for another
/// dtype.
///
/// ```
/// use lodestride_lod::{NdArray, sequence};
///
/// assert_eq!(sequence::counts(&NdArray::from([[2i32], [0]]))?, [2, 0]);
/// assert!(sequence::counts(&NdArray::from([-1i64])).is_err());
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
pub fn counts(x: &NdArray) -> Result<Vec<usize>> {
    rows::counts("counts", SequenceArgument::Length, x)
}

/// For every row the `window` rows from itself on, as far as its sequence of `level` goes, then `pad`: the n-grams of
/// token ids. Rows of one number give `[rows, window]`, others `[rows, window, row...]`; the LoD stays.
///
/// # Errors
/// [`NoLod`](LodErrorKind::NoLod), [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange),
/// [`EmptyWindow`](LodErrorKind::EmptyWindow).
///
/// ```
/// use lodestride_lod::{LodTensor, sequence};
///
/// let x = LodTensor::from_lists(&[vec![1i64, 2, 3], vec![4, 5]])?;
/// let pairs = sequence::enumerate(&x, 2, 0, -1)?;
/// assert_eq!(pairs.data().to_vec::<i64>()?, [1, 2,  2, 3,  3, 0,  4, 5,  5, 0]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_enumerate")]
pub fn enumerate(
    x: &LodTensor,
    window: usize,
    pad: impl Into<Scalar>,
    level: isize,
) -> Result<LodTensor> {
    const OP: &str = "sequence_enumerate";
    let offsets = rows::offsets_of(OP, x, level)?;
    if window == 0 {
        return Err(LodErrorKind::EmptyWindow { op: OP }.into());
    }
    let mut shape = vec![x.rows(), window];
    if rows::row_width(x.data()) != 1 {
        shape.extend_from_slice(x.row_shape());
    }
    let out = NdArray::recycled(x.dtype(), shape)?;
    if out.is_empty() {
        return Ok(rows::keep(out, x.lod()));
    }
    let windows = [&[x.rows(), window][..], x.row_shape()].concat();
    let windows = out.view_as(windows)?;
    // What lies behind a sequence is one row however often it is seen.
    let row = NdArray::full_of(x.dtype(), vec![1; x.shape().len()], pad.into())?;
    let behind = row.broadcast_to(rows::shape_with_rows(x.data(), window - 1))?;
    let window = SegmentWindow {
        padding: Some(behind.operand()),
        ..SegmentWindow::new(0, window)
    };
    let (from, all) = (x.data().operand(), 0..x.rows());
    kernels::segment_windows(from, &offsets, all, window, windows.operand())?;
    Ok(rows::keep(out, x.lod()))
}

/// The batch without the rows that hold one of `tokens`; sequences shrink, possibly to nothing, at any depth.
///
/// # Errors
/// [`NoLod`](LodErrorKind::NoLod), [`NotIntegers`](LodErrorKind::NotIntegers), and
/// [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when a row is more than one number.
///
/// ```
/// use lodestride_lod::{LodTensor, sequence};
///
/// let x = LodTensor::from_lists(&[vec![1i64, 2, 3], vec![2, 2]])?;
/// assert_eq!(sequence::erase(&x, &[2, 9])?.to_lists::<i64>(-1)?, [vec![1, 3], vec![]]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_erase")]
pub fn erase(x: &LodTensor, tokens: &[i64]) -> Result<LodTensor> {
    const OP: &str = "sequence_erase";
    rows::check_lod(OP, SequenceArgument::X, x)?;
    let ids = numbers(OP, SequenceArgument::X, x)?;
    let keep = ids.is_in(&NdArray::from_vec(tokens.to_vec(), [tokens.len()])?)?;
    let keep = keep.logical_not()?;
    let lod = x.lod().of_kept_rows(&keep.to_vec::<bool>()?)?;
    let rows = rows::shape_with_rows(x.data(), lod.rows().unwrap_or(0));
    // Not row by row: any number of rows may go.
    let kept = x.data().select_where(&keep)?;
    Ok(LodTensor::proven(kept.reshape(rows)?, lod))
}

/// One integer a row, as `i64`.
#[track_caller]
pub(crate) fn numbers(
    op: &'static str,
    argument: SequenceArgument,
    x: &LodTensor,
) -> Result<NdArray> {
    if !x.dtype().is_integer() {
        let found = x.dtype();
        return Err(LodErrorKind::NotIntegers {
            op,
            argument,
            found,
        }
        .into());
    }
    if x.data().len() != x.rows() {
        rows::check_shape(op, argument, x.data(), &[x.rows(), 1])?;
    }
    if x.dtype() == DType::I64 {
        return Ok(x.data().clone());
    }
    Ok(x.data().cast(DType::I64)?)
}

/// `1` for the first `lengths[..]` of `maxlen` places and `0` for the others: `[lengths..., maxlen]`.
///
/// `lengths` may have any shape and any real dtype; a negative length is an empty row. Without `maxlen` the mask is as
/// long as the largest length.
///
/// # Errors
/// Those of the array ops underneath.
///
/// ```
/// use lodestride_lod::{DType, NdArray, sequence};
///
/// let mask = sequence::mask(&NdArray::from([2i64, 0]), None, DType::I64)?;
/// assert_eq!((mask.shape().to_vec(), mask.to_vec::<i64>()?), (vec![2, 2], vec![1, 1, 0, 0]));
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_mask")]
pub fn mask(lengths: &NdArray, maxlen: Option<usize>, dtype: DType) -> Result<NdArray> {
    let places = match maxlen {
        Some(places) => places,
        None if lengths.is_empty() => 0,
        // A saturating cast: NaN and negative lengths give no place.
        None => lengths.max_number()?.ceil() as usize,
    };
    let places = NdArray::arange_of(DType::I64, 0, places as u64, 1)?;
    let inside = places.less(&lengths.expand_dims(-1)?)?;
    Ok(inside.cast(dtype)?)
}

/// `input` with `updates` added: those of sequence `i` of `ids` to row `i`, at the positions `ids` names in that row,
/// read flat. Positions named twice receive both.
///
/// # Errors
/// [`NoLod`](LodErrorKind::NoLod) when `ids` has none, [`CountMismatch`](LodErrorKind::CountMismatch) for another
/// number of updates than ids or more sequences than rows, [`IdOutOfRange`](LodErrorKind::IdOutOfRange),
/// [`NotIntegers`](LodErrorKind::NotIntegers), [`DTypeMismatch`](LodErrorKind::DTypeMismatch).
///
/// ```
/// use lodestride_lod::{LodTensor, NdArray, sequence};
///
/// let input = NdArray::from([[1.0f32, 1.0, 1.0], [1.0, 1.0, 1.0]]);
/// let ids = LodTensor::from_lists(&[vec![0i64, 2, 0], vec![1]])?;
/// let out = sequence::scatter(&input, &ids, &NdArray::from([0.5f32, 0.25, 0.5, 4.0]), -1)?;
/// assert_eq!(out.to_vec::<f32>()?, [2.0, 1.0, 1.25, 1.0, 5.0, 1.0]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_scatter")]
pub fn scatter(
    input: &NdArray,
    ids: &LodTensor,
    updates: &NdArray,
    level: isize,
) -> Result<NdArray> {
    rows::check_dtype(SCATTER, SequenceArgument::Updates, updates, input.dtype())?;
    let targets = targets(input, ids, updates, level)?;
    let out = input.dup()?;
    let flat = out.view_as([out.len()])?;
    let updates = updates.reshape([updates.len()])?;
    kernels::scatter_add(flat.operand(), 0, targets.operand(), updates.operand())?;
    Ok(out)
}

/// The gradients of [`scatter`] with respect to `input` and to `updates`.
///
/// # Errors
/// As [`scatter`]; [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of `input`.
#[track_caller]
pub fn scatter_grad(
    input: &NdArray,
    ids: &LodTensor,
    updates: &NdArray,
    level: isize,
    out_grad: &NdArray,
) -> Result<(NdArray, NdArray)> {
    let targets = targets(input, ids, updates, level)?;
    rows::check_out_grad(SCATTER, out_grad, input.shape())?;
    let of_updates = out_grad.reshape([out_grad.len()])?.take(&targets, 0)?;
    Ok((out_grad.dup()?, of_updates.reshape(updates.shape())?))
}

const SCATTER: &str = "sequence_scatter";

/// The flat position in `input` of each update.
#[track_caller]
fn targets(input: &NdArray, ids: &LodTensor, updates: &NdArray, level: isize) -> Result<NdArray> {
    let (op, argument) = (SCATTER, SequenceArgument::Ids);
    rows::check_rank(op, SequenceArgument::X, input, 1)?;
    rows::check_lod(op, argument, ids)?;
    let offsets = ids.lod().rows_of(level)?;
    let level = ids.lod().resolve_level(level)?;
    let (sequences, rows) = (offsets.len() - 1, input.shape()[0]);
    if sequences > rows {
        let (expected, found) = (sequences, rows);
        return Err(LodErrorKind::CountMismatch {
            op,
            argument: SequenceArgument::X,
            level,
            expected,
            found,
        }
        .into());
    }
    let numbers = numbers(op, argument, ids)?;
    if updates.len() != numbers.len() {
        let (expected, found) = (numbers.len(), updates.len());
        let argument = SequenceArgument::Updates;
        return Err(LodErrorKind::CountMismatch {
            op,
            argument,
            level,
            expected,
            found,
        }
        .into());
    }
    let numbers = numbers.view::<i64>()?;
    let flat = match numbers.as_slice() {
        Some(numbers) => flat_positions(numbers, &offsets, rows::row_width(input)),
        None => {
            let numbers: Vec<i64> = numbers.iter().copied().collect();
            flat_positions(&numbers, &offsets, rows::row_width(input))
        }
    };
    match flat {
        Ok(flat) => Ok(NdArray::from_vec(flat, [updates.len()])?),
        Err((index, found, limit)) => Err(LodErrorKind::IdOutOfRange {
            op,
            argument,
            index,
            found,
            limit,
        }
        .into()),
    }
}

/// The positions that the ids of every sequence name in a row of so many; or the first id that names none, and where it is.
fn flat_positions(
    ids: &[i64],
    offsets: &[usize],
    width: usize,
) -> std::result::Result<Vec<i64>, (usize, i64, usize)> {
    // One answer for all, which vectors give; the place is looked for only if there is one.
    let outside = |id: i64| id as u64 >= width as u64;
    if ids.iter().fold(false, |any, &id| any | outside(id)) {
        let first = ids.iter().position(|&id| outside(id)).unwrap_or(0);
        return Err((first, ids[first], width));
    }
    let mut flat = Vec::with_capacity(ids.len());
    for (row, pair) in offsets.windows(2).enumerate() {
        let start = (row * width) as i64;
        flat.extend(ids[pair[0]..pair[1]].iter().map(|id| start + id));
    }
    Ok(flat)
}
