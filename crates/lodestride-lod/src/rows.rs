//! Moving whole rows (axis 0), the checks every op shares, and the only place that knows the kernels' signatures for
//! them. A range of rows is copied whatever its row shape, dtype or strides.

use std::borrow::Cow;
use std::ops::Range;

use lodestride_array::kernels::{self, RowRange};
use lodestride_array::{DType, NdArray, Shape, interval};
use smallvec::SmallVec;

use crate::error::{LodErrorKind, Result, SequenceArgument};
use crate::lod::Lod;
use crate::tensor::LodTensor;

/// At least `rank` axes.
#[track_caller]
pub(crate) fn check_rank(
    op: &'static str,
    argument: SequenceArgument,
    x: &NdArray,
    rank: usize,
) -> Result<()> {
    if x.rank() >= rank {
        return Ok(());
    }
    Err(LodErrorKind::Rank {
        op,
        argument,
        expected: rank,
        found: x.rank(),
    }
    .into())
}

/// At least one level.
#[track_caller]
pub(crate) fn check_lod(op: &'static str, argument: SequenceArgument, x: &LodTensor) -> Result<()> {
    if !x.lod().is_none() {
        return Ok(());
    }
    Err(LodErrorKind::NoLod { op, argument }.into())
}

/// Exactly this shape.
#[track_caller]
pub(crate) fn check_shape(
    op: &'static str,
    argument: SequenceArgument,
    x: &NdArray,
    expected: &[usize],
) -> Result<()> {
    if x.shape()[..] == *expected {
        return Ok(());
    }
    Err(LodErrorKind::ShapeMismatch {
        op,
        argument,
        expected: Box::new(Shape::from(expected)),
        found: Box::new(x.shape().clone()),
    }
    .into())
}

/// Exactly this dtype.
#[track_caller]
pub(crate) fn check_dtype(
    op: &'static str,
    argument: SequenceArgument,
    x: &NdArray,
    expected: DType,
) -> Result<()> {
    if x.dtype() == expected {
        return Ok(());
    }
    Err(LodErrorKind::DTypeMismatch {
        op,
        argument,
        expected,
        found: x.dtype(),
    }
    .into())
}

/// The shape `[rows, row...]` with the row shape of `x`, whose rank is at least 1.
pub(crate) fn shape_with_rows(x: &NdArray, rows: usize) -> Vec<usize> {
    let mut shape = x.shape().to_vec();
    shape[0] = rows;
    shape
}

/// Number of elements of one row; the product cannot overflow when there is a row, and is not used when there is none.
pub(crate) fn row_width(x: &NdArray) -> usize {
    x.shape()
        .iter()
        .skip(1)
        .fold(1usize, |width, &size| width.saturating_mul(size))
}

/// The rows as a matrix `[rows, width]`; a view where the strides allow.
#[track_caller]
pub(crate) fn as_matrix(x: &NdArray) -> Result<NdArray> {
    Ok(x.reshape([x.shape()[0], row_width(x)])?)
}

/// The rows `range`, sharing memory.
#[track_caller]
pub(crate) fn view(x: &NdArray, range: Range<usize>) -> Result<NdArray> {
    Ok(x.get(&[interval(range.start as isize, range.end as isize)])?)
}

/// A new array of the rows `ranges`, in order.
#[track_caller]
pub(crate) fn gather(x: &NdArray, ranges: &[Range<usize>]) -> Result<NdArray> {
    let ranges: Vec<RowRange> = ranges.iter().map(|r| RowRange::new(0, r.clone())).collect();
    assemble(x.dtype(), &[x], &ranges)
}

/// A new array of ranges of rows of several arrays, whose rows have one shape.
#[track_caller]
pub(crate) fn assemble(dtype: DType, sources: &[&NdArray], ranges: &[RowRange]) -> Result<NdArray> {
    let rows = ranges.iter().map(RowRange::len).sum();
    let out = NdArray::recycled(dtype, shape_with_rows(sources[0], rows))?;
    let sources: SmallVec<[_; 2]> = sources.iter().map(|x| x.operand()).collect();
    kernels::copy_row_ranges(&sources, ranges, out.operand())?;
    Ok(out)
}

/// A new array of the rows `starts[..counts[t]] + t` of every step `t`.
#[track_caller]
pub(crate) fn by_steps(x: &NdArray, starts: &[usize], counts: &[usize]) -> Result<NdArray> {
    let out = NdArray::recycled(x.dtype(), shape_with_rows(x, counts.iter().sum()))?;
    kernels::segment_steps(x.operand(), starts, counts, out.operand())?;
    Ok(out)
}

/// The adjoint of [`gather`]: zeros of `rows` rows, and every row of `x` added where `ranges` took it from.
#[track_caller]
pub(crate) fn scatter_add(x: &NdArray, ranges: &[Range<usize>], rows: usize) -> Result<NdArray> {
    let out = NdArray::zeros_of(x.dtype(), shape_with_rows(x, rows))?;
    kernels::add_row_ranges(x.operand(), ranges, out.operand())?;
    Ok(out)
}

/// The adjoint of [`gather`] of ranges that do not overlap: a new array of `rows` rows, those of `x` where they came from and
/// zeros elsewhere.
#[track_caller]
pub(crate) fn put_back(
    x: &NdArray,
    ranges: impl IntoIterator<Item = Range<usize>>,
    rows: usize,
) -> Result<NdArray> {
    let mut from = 0;
    let mut moves: Vec<(usize, Range<usize>)> = Vec::new();
    for to in ranges {
        let here = from..from + to.len();
        from = here.end;
        moves.push((to.start, here));
    }
    if !moves.is_sorted_by_key(|&(to, _)| to) {
        moves.sort_unstable_by_key(|&(to, _)| to);
    }
    let mut pieces = Vec::with_capacity(2 * moves.len() + 1);
    let mut end = 0;
    for (to, here) in moves.into_iter().filter(|(_, here)| !here.is_empty()) {
        if end < to {
            pieces.push(RowRange::zeros(to - end));
        }
        end = to + here.len();
        pieces.push(RowRange::new(0, here));
    }
    pieces.push(RowRange::zeros(rows - end));
    assemble(x.dtype(), &[x], &pieces)
}

/// The integers of an array of any shape as counts.
#[track_caller]
pub(crate) fn counts(
    op: &'static str,
    argument: SequenceArgument,
    x: &NdArray,
) -> Result<Vec<usize>> {
    if !x.dtype().is_integer() {
        return Err(LodErrorKind::NotIntegers {
            op,
            argument,
            found: x.dtype(),
        }
        .into());
    }
    let mut counts = Vec::with_capacity(x.len());
    for (index, found) in x.cast(DType::I64)?.to_vec::<i64>()?.into_iter().enumerate() {
        match usize::try_from(found) {
            Ok(count) => counts.push(count),
            Err(_) => {
                return Err(LodErrorKind::NotACount {
                    op,
                    argument,
                    index,
                    found,
                }
                .into());
            }
        }
    }
    Ok(counts)
}

/// The row offsets of a level of `x`, which must have levels.
#[track_caller]
pub(crate) fn offsets_of<'x>(
    op: &'static str,
    x: &'x LodTensor,
    level: isize,
) -> Result<Cow<'x, [usize]>> {
    check_lod(op, SequenceArgument::X, x)?;
    x.lod().rows_of(level)
}

/// The gradient of an op's output must have the output's shape.
#[track_caller]
pub(crate) fn check_out_grad(op: &'static str, out_grad: &NdArray, shape: &[usize]) -> Result<()> {
    check_shape(op, SequenceArgument::OutGrad, out_grad, shape)
}

/// Keeps a LoD for rows that stay where they are.
pub(crate) fn keep(data: NdArray, lod: &Lod) -> LodTensor {
    LodTensor::proven(data, lod.clone())
}
