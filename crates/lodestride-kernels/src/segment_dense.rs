//! Rows without gaps, for the segment operations that are written for them alone: an array that lies so is worked on in place,
//! any other aside.

use lodestride_buffer::{Argument, DType};
use lodestride_shape::Order;
use smallvec::SmallVec;

use crate::elementwise;
use crate::error::Result;
use crate::operand::Operand;
use crate::row_walk::Aside;

fn is_dense(x: Operand<'_>, dtype: DType) -> bool {
    x.dtype() == dtype && x.layout().is_contiguous(Order::C)
}

/// A dense array of the shape of `x`.
pub(crate) fn aside(op: &'static str, x: Operand<'_>, dtype: DType) -> Result<Aside> {
    let order: SmallVec<[usize; 8]> = (0..x.layout().rank()).collect();
    Aside::new(op, x, &order, dtype)
}

/// A dense copy of `x` as elements of `dtype`; `None` where it is that itself, in memory that `out` does not share.
pub(crate) fn dense_copy(
    op: &'static str,
    argument: Argument,
    x: Operand<'_>,
    dtype: DType,
    out: Operand<'_>,
) -> Result<Option<Aside>> {
    if is_dense(x, dtype) && !x.buffer().same_block(out.buffer()) {
        return Ok(None);
    }
    // A refusal names the argument of this operation.
    drop(x.read(op, argument)?);
    let copy = aside(op, x, dtype)?;
    elementwise::copy(x.into(), copy.operand()?)?;
    Ok(Some(copy))
}

/// What stands for `x`: its copy if there is one.
pub(crate) fn stand_in<'c>(copy: Option<&'c Aside>, x: Operand<'c>) -> Result<Operand<'c>> {
    copy.map_or(Ok(x), Aside::operand)
}

/// Runs `job` with `out` or, where that is not dense or of another dtype, with an array whose values it gets afterwards; that
/// begins with the values of `out` where they are `kept`.
pub(crate) fn onto_dense(
    op: &'static str,
    (out, kept): (Operand<'_>, bool),
    dtype: DType,
    job: impl FnOnce(Operand<'_>) -> Result<()>,
) -> Result<()> {
    if is_dense(out, dtype) {
        return job(out);
    }
    drop(out.write(op, Argument::Z)?);
    let aside = aside(op, out, dtype)?;
    if kept {
        elementwise::copy(out.into(), aside.operand()?)?;
    }
    job(aside.operand()?)?;
    elementwise::copy(aside.operand()?.into(), out)
}
