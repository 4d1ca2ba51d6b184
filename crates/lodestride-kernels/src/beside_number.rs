//! The fast paths of a dense array beside a number.

use crate::dense::dense_scalar;
use crate::elementwise::{scalar_fits, scalar_word};
use crate::error::Result;
use crate::isa::Level;
use crate::op::{self, BinaryOp};
use crate::operand::{Input, Operand, Output};
use crate::table::BinaryKernel;
use lodestride_buffer::DType;

/// The fast path of a dense array beside a number. False where nothing was done.
#[inline]
pub(crate) fn beside_number(
    op: &'static str,
    kernel: &BinaryKernel,
    compute: DType,
    inputs: [&Input<'_>; 2],
    out: &mut Output<'_>,
) -> Result<bool> {
    let fits = |x: &Operand<'_>| x.dtype() == compute;
    if out.operand().dtype() != kernel.out {
        return Ok(false);
    }
    let (array, scalar, left) = match inputs {
        [Input::Array(x), Input::Scalar(y)] => (x, *y, false),
        [Input::Scalar(x), Input::Array(y)] => (y, *x, true),
        _ => return Ok(false),
    };
    if !fits(array) || !scalar_fits(scalar, compute) {
        return Ok(false);
    }
    let word = scalar_word(scalar, compute);
    dense_scalar(op, kernel, array, word, left, out)
}

/// [`beside_number`] of halves, whose number is an f32: like that it is in the f32 they would be computed in. A number on the
/// left is one on the right of the reversed operation.
#[inline(never)]
pub(crate) fn half_beside_number(
    op: BinaryOp,
    dtype: DType,
    inputs: [&Input<'_>; 2],
    out: &mut Output<'_>,
) -> Result<bool> {
    let (with_number, array, number) = match inputs {
        [Input::Array(x), Input::Scalar(y)] => (Some(op), x, *y),
        [Input::Scalar(x), Input::Array(y)] => (op.reversed(), y, *x),
        _ => return Ok(false),
    };
    let Some(loops) = with_number.and_then(|op| op::half_loops_of(op, dtype, Level::current()))
    else {
        return Ok(false);
    };
    let kernel = &loops.kernel.number;
    if array.dtype() != dtype || out.operand().dtype() != kernel.out {
        return Ok(false);
    }
    let word = scalar_word(number, DType::F32);
    dense_scalar(op.name(), kernel, array, word, false, out)
}
