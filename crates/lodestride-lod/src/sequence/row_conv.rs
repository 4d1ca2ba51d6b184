//! `row_conv`: the convolution of every column by itself, over a row and those after it.

use std::borrow::Cow;

use lodestride_array::kernels::{self, ReduceOp};
use lodestride_array::{DType, NdArray};

use crate::error::{LodErrorKind, Result, SequenceArgument};
use crate::rows;
use crate::tensor::LodTensor;

/// What Fluid's operations over windows are called together.
const OP: &str = "sequence_conv";

/// Look-ahead convolution: every column of a row is the weighted sum of that column over the row and the rows after it
/// in its sequence, `out[t] = sum over k of x[t + k] * filter[k]`, with a filter `[length, width]`.
///
/// # Errors
/// As [`context`](crate::sequence::context); [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when the filter has not the width of a row.
#[track_caller]
pub fn row_conv(x: &LodTensor, filter: &NdArray, level: isize) -> Result<LodTensor> {
    let offsets = ahead(x, filter, level)?;
    let dtype = ReduceOp::Sum.result_dtype(x.dtype().promote(filter.dtype()));
    let out = convolved(x.data(), &offsets, 0, filter, dtype)?;
    Ok(rows::keep(out, x.lod()))
}

/// Every column of `x` convolved with its own filter.
#[track_caller]
fn convolved(
    x: &NdArray,
    offsets: &[usize],
    start: isize,
    filter: &NdArray,
    dtype: DType,
) -> Result<NdArray> {
    let matrix = rows::as_matrix(x)?;
    let out = NdArray::recycled(dtype, matrix.shape().clone())?;
    kernels::segment_convolve(
        matrix.operand(),
        offsets,
        start,
        filter.operand(),
        out.operand(),
    )?;
    Ok(out.reshape(x.shape())?)
}

/// The gradients of [`row_conv`] with respect to `x` and to the filter.
///
/// # Errors
/// As [`row_conv`]; [`ShapeMismatch`](LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of `x`.
#[track_caller]
pub fn row_conv_grad(
    x: &LodTensor,
    filter: &NdArray,
    level: isize,
    out_grad: &NdArray,
) -> Result<(NdArray, NdArray)> {
    let offsets = ahead(x, filter, level)?;
    rows::check_out_grad("row_conv", out_grad, x.shape())?;
    let start = 1isize.saturating_sub_unsigned(filter.shape()[0]);
    let dtype = out_grad.dtype().promote(filter.dtype());
    let of_x = convolved(out_grad, &offsets, start, &filter.flip(0)?, dtype)?;
    let dtype = ReduceOp::Sum.result_dtype(x.dtype().promote(out_grad.dtype()));
    let of_filter = NdArray::recycled(dtype, filter.shape().clone())?;
    let (x, given) = (rows::as_matrix(x.data())?, rows::as_matrix(out_grad)?);
    let (x, given, out) = (x.operand(), given.operand(), of_filter.operand());
    kernels::segment_convolve_gradient(x, given, &offsets, 0, out)?;
    Ok((of_x, of_filter))
}

/// Checks the arguments of a look-ahead convolution.
#[track_caller]
fn ahead<'x>(x: &'x LodTensor, filter: &NdArray, level: isize) -> Result<Cow<'x, [usize]>> {
    let length = filter.shape().first().copied().unwrap_or(0);
    rows::check_shape(
        "row_conv",
        SequenceArgument::Filter,
        filter,
        &[length, rows::row_width(x.data())],
    )?;
    let offsets = rows::offsets_of(OP, x, level)?;
    if length == 0 {
        return Err(LodErrorKind::EmptyWindow { op: OP }.into());
    }
    Ok(offsets)
}
