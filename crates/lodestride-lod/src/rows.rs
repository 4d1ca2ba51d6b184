//! Moving whole rows (axis 0), the checks every op shares, and the only place that knows the kernels' signatures for
//! them. A range of rows is copied whatever its row shape, dtype or strides.

use std::borrow::Cow;
use std::ops::Range;

use lodestride_array::{DType, NdArray, Shape, interval, kernels};

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
    let ranges: Vec<(usize, usize)> = ranges.iter().map(|r| (r.start, r.len())).collect();
    let rows = ranges.iter().map(|(_, length)| length).sum();
    let out = NdArray::recycled(x.dtype(), shape_with_rows(x, rows))?;
    kernels::copy_row_ranges(x.operand(), &ranges, out.operand())?;
    Ok(out)
}

/// The adjoint of [`gather`]: zeros of `rows` rows, and every row of `x` added where `ranges` took it from.
#[track_caller]
pub(crate) fn scatter_add(x: &NdArray, ranges: &[Range<usize>], rows: usize) -> Result<NdArray> {
    let out = NdArray::zeros_of(x.dtype(), shape_with_rows(x, rows))?;
    if x.is_empty() {
        // Rows of nothing may be more than an index array could name.
        return Ok(out);
    }
    let targets = indices(ranges.iter().cloned())?;
    kernels::scatter_add(out.operand(), 0, targets.operand(), x.operand())?;
    Ok(out)
}

/// The rows of `x` written into the rows `targets` of `out`, in order.
#[track_caller]
pub(crate) fn put(
    x: &NdArray,
    targets: impl IntoIterator<Item = Range<usize>>,
    out: &NdArray,
) -> Result<()> {
    if x.is_empty() {
        return Ok(());
    }
    let targets = indices(targets)?;
    kernels::scatter_set(out.operand(), 0, targets.operand(), x.operand())?;
    Ok(())
}

/// The numbers of `ranges` one after the other as an index array.
#[track_caller]
pub(crate) fn indices(ranges: impl IntoIterator<Item = Range<usize>>) -> Result<NdArray> {
    let numbers: Vec<i64> = ranges.into_iter().flatten().map(|i| i as i64).collect();
    // Copied, not adopted: a copy lives in the open workspace and goes with it.
    Ok(NdArray::from_nested(&numbers[..])?)
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
