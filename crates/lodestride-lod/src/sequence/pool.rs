//! `pool`: one row out of each sequence, and where its gradient goes.

use lodestride_array::kernels::SegmentOp;
use lodestride_array::{DType, NdArray, Scalar, kernels};

use crate::error::{Result, SequenceArgument};
use crate::rows;
use crate::tensor::LodTensor;

const OP: &str = "sequence_pool";

/// How a sequence of rows becomes one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PoolKind {
    /// The sum.
    Sum,
    /// The sum divided by the length.
    Average,
    /// The sum divided by the square root of the length.
    Sqrt,
    /// The largest value of each column; the first of equal ones. A NaN counts only as the first value, as in Fluid.
    Max,
    /// The smallest value of each column; the first of equal ones. A NaN counts only as the first value.
    Min,
    /// The first row.
    First,
    /// The last row.
    Last,
}

impl PoolKind {
    /// Every kind.
    pub const ALL: [PoolKind; 7] = [
        PoolKind::Sum,
        PoolKind::Average,
        PoolKind::Sqrt,
        PoolKind::Max,
        PoolKind::Min,
        PoolKind::First,
        PoolKind::Last,
    ];

    fn segment_op(self) -> SegmentOp {
        match self {
            PoolKind::Sum => SegmentOp::Sum,
            PoolKind::Average => SegmentOp::Mean,
            PoolKind::Sqrt => SegmentOp::Sqrt,
            PoolKind::Max => SegmentOp::Max,
            PoolKind::Min => SegmentOp::Min,
            PoolKind::First => SegmentOp::First,
            PoolKind::Last => SegmentOp::Last,
        }
    }
}

/// One row for each sequence of a level: `[sequences, row...]`, grouped by the levels above.
///
/// All rows under a sequence are pooled, also at an outer level. An empty sequence gives `pad` in every column,
/// whatever the kind. Averages of integers are `f64`, everything else keeps the dtype.
///
/// # Errors
/// [`NoLod`](crate::LodErrorKind::NoLod), [`LevelOutOfRange`](crate::LodErrorKind::LevelOutOfRange), and the kernel's
/// when the kind is not defined for the dtype.
///
/// ```
/// use lodestride_lod::{LodTensor, lengths, sequence, sequence::PoolKind};
///
/// let x = LodTensor::from_lists(&[vec![vec![1.0f32, 3.0], vec![]], vec![vec![2.0]]])?;
/// let sentences = sequence::pool(&x, PoolKind::Average, -1, 0.0)?;
/// assert_eq!(sentences.data().to_vec::<f32>()?, [2.0, 0.0, 2.0]);
/// assert_eq!(sentences.recursive_sequence_lengths(), lengths![[2, 1]]);
/// let texts = sequence::pool(&x, PoolKind::Sum, 0, 0.0)?;
/// assert_eq!(texts.data().to_vec::<f32>()?, [4.0, 2.0]);
/// assert_eq!(texts.lod_level(), 0);
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[track_caller]
#[doc(alias = "sequence_pool")]
pub fn pool(
    x: &LodTensor,
    kind: PoolKind,
    level: isize,
    pad: impl Into<Scalar>,
) -> Result<LodTensor> {
    reduce(x, kind, level, pad.into(), None)
}

/// [`pool`], and for each value the row of `x` it comes from (`i64`, -1 for an empty sequence): Fluid's `MaxIndex`.
///
/// # Errors
/// As [`pool`], and the kernel's for kinds that mix several rows.
#[track_caller]
pub fn pool_with_index(
    x: &LodTensor,
    kind: PoolKind,
    level: isize,
    pad: impl Into<Scalar>,
) -> Result<(LodTensor, NdArray)> {
    rows::check_lod(OP, SequenceArgument::X, x)?;
    let index = NdArray::recycled(
        DType::I64,
        rows::shape_with_rows(x.data(), x.lod().sequences(level)?),
    )?;
    let out = reduce(x, kind, level, pad.into(), Some(&index))?;
    Ok((out, index))
}

#[track_caller]
fn reduce(
    x: &LodTensor,
    kind: PoolKind,
    level: isize,
    pad: Scalar,
    index: Option<&NdArray>,
) -> Result<LodTensor> {
    let offsets = rows::offsets_of(OP, x, level)?;
    let averages = matches!(kind, PoolKind::Average | PoolKind::Sqrt);
    let dtype = if averages && !x.dtype().is_float() {
        DType::F64
    } else {
        x.dtype()
    };
    let out = NdArray::recycled(dtype, rows::shape_with_rows(x.data(), offsets.len() - 1))?;
    let index = index.map(NdArray::operand);
    kernels::segment_reduce(
        kind.segment_op(),
        x.data().operand(),
        &offsets,
        pad,
        out.operand(),
        index,
    )?;
    Ok(LodTensor::proven(out, x.lod().above(level)?))
}

/// The first row of each sequence of a level; 0 for an empty one.
///
/// # Errors
/// As [`pool`].
#[track_caller]
#[doc(alias = "sequence_first_step")]
pub fn first_step(x: &LodTensor, level: isize) -> Result<LodTensor> {
    pool(x, PoolKind::First, level, 0)
}

/// The last row of each sequence of a level; 0 for an empty one.
///
/// # Errors
/// As [`pool`].
#[track_caller]
#[doc(alias = "sequence_last_step")]
pub fn last_step(x: &LodTensor, level: isize) -> Result<LodTensor> {
    pool(x, PoolKind::Last, level, 0)
}

/// The gradient of [`pool`] with respect to `x`.
///
/// Sum: each row gets the gradient of its sequence; average and sqrt: divided as the sum was; max and min: the row the
/// value came from gets it, the first and last step likewise. An empty sequence has no row to give it to.
///
/// # Errors
/// As [`pool`]; [`ShapeMismatch`](crate::LodErrorKind::ShapeMismatch) when `out_grad` has not the shape of the output.
#[track_caller]
pub fn pool_grad(
    x: &LodTensor,
    kind: PoolKind,
    level: isize,
    out_grad: &NdArray,
) -> Result<NdArray> {
    let offsets = rows::offsets_of(OP, x, level)?;
    let sequences = offsets.len() - 1;
    rows::check_out_grad(OP, out_grad, &rows::shape_with_rows(x.data(), sequences))?;
    let index = match kind {
        PoolKind::Max | PoolKind::Min => Some(pool_with_index(x, kind, level, 0)?.1),
        _ => None,
    };
    let index = index.as_ref().map(NdArray::operand);
    let out = NdArray::recycled(out_grad.dtype(), x.shape().clone())?;
    kernels::segment_reduce_gradient(
        kind.segment_op(),
        out_grad.operand(),
        &offsets,
        index,
        out.operand(),
    )?;
    Ok(out)
}
