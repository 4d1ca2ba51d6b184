//! Which loops an operation on two arrays takes: halves have some of their own.

use crate::isa::Level;
use crate::known::Loops;
use crate::op::{self, BinaryOp};
use crate::operand::Output;
use crate::table::BinaryKernel;
use lodestride_buffer::DType;

/// In which dtype an operation on two arrays computes, and its loops: those that halves have of their own where the results
/// are such halves; of other dtypes they are not rounded in between.
#[inline]
pub(crate) fn loops_of_arrays(
    op: BinaryOp,
    dtype: DType,
    out: &Output<'_>,
    level: Level,
) -> Option<(DType, &'static BinaryKernel)> {
    if let Some(loops) = half_loops_of_arrays(op, dtype, out, level) {
        return Some((dtype, loops));
    }
    let Loops { compute, kernel } = op::binary_loops(op, dtype, level)?;
    Some((*compute, kernel))
}

/// The loops on two arrays that halves have of their own.
#[inline]
pub(crate) fn half_loops_of_arrays(
    op: BinaryOp,
    dtype: DType,
    out: &Output<'_>,
    level: Level,
) -> Option<&'static BinaryKernel> {
    if !matches!(dtype, DType::F16 | DType::BF16) || out.operand().dtype() != dtype {
        return None;
    }
    op::half_loops_of(op, dtype, level).map(|loops| &loops.kernel.arrays)
}
