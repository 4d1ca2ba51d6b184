//! `softmax` inside each sequence.

use lodestride_array::{NdArray, kernels};

use crate::error::Result;
use crate::rows;
use crate::tensor::LodTensor;

const OP: &str = "sequence_softmax";

/// `exp(x)` divided by its sum over the rows of each sequence of a level, for every column by itself.
///
/// The largest value of the sequence is subtracted first, so large values do not overflow.
///
/// # Errors
/// [`NoLod`](crate::LodErrorKind::NoLod), [`LevelOutOfRange`](crate::LodErrorKind::LevelOutOfRange), and the kernel's
/// for dtypes other than floats.
///
/// ```
/// use lodestride_lod::{LodTensor, sequence};
///
/// let x = LodTensor::from_lists(&[vec![1000.0f32, 1000.0], vec![5.0]])?;
/// assert_eq!(sequence::softmax(&x, -1)?.data().to_vec::<f32>()?, [0.5, 0.5, 1.0]);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_softmax")]
pub fn softmax(x: &LodTensor, level: isize) -> Result<LodTensor> {
    let offsets = rows::offsets_of(OP, x, level)?;
    let out = NdArray::recycled(x.dtype(), x.shape().clone())?;
    kernels::segment_softmax(x.data().operand(), &offsets, out.operand())?;
    Ok(rows::keep(out, x.lod()))
}

/// The gradient of [`softmax`], from its result `y`: `y * (g - sum(g * y))`, the sum over each sequence.
///
/// # Errors
/// As [`softmax`]; [`ShapeMismatch`](crate::LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of `y`.
#[track_caller]
pub fn softmax_grad(y: &LodTensor, level: isize, out_grad: &NdArray) -> Result<NdArray> {
    let offsets = rows::offsets_of(OP, y, level)?;
    rows::check_out_grad(OP, out_grad, y.shape())?;
    let out = NdArray::recycled(y.dtype().promote(out_grad.dtype()), y.shape().clone())?;
    let (y, given) = (y.data().operand(), out_grad.operand());
    kernels::segment_softmax_gradient(y, given, &offsets, out.operand())?;
    Ok(out)
}
