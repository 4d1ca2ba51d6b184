//! The fast path of small products: two matrices of one float dtype, given to the tile kernels where they lie.
//!
//! A product of 4 by 4 is 64 multiplications; what leads up to them costs more than they do, so there is as little of it as
//! the rules of memory allow.
#![expect(
    unsafe_code,
    reason = "opened operands are handed to the tile kernels as pointers and steps"
)]

use lodestride_buffer::Argument;

use crate::error::Result;
use crate::gemm_choice::{THIN, TILED, is_small};
use crate::gemm_small::Blend;
use crate::gemm_tile::{Job, TileFloat, Walk};
use crate::isa::{Isa, Level};
use crate::matmul::OP;
use crate::numeric::Compute;
use crate::operand::{Operand, Output};

/// `out = alpha * a b + beta * out` for operands of rank 2 whose shapes fit and whose dtype is that of `C`. Gives false,
/// having done nothing, where another kernel is better, or `out` shares its buffer with an operand.
///
/// # Errors
/// [`KernelError::Access`](crate::KernelError::Access).
#[inline]
pub(crate) fn product<C: TileFloat + Compute>(
    a: &Operand<'_>,
    b: &Operand<'_>,
    output: &mut Output<'_>,
    blend: Blend<C>,
) -> Result<bool> {
    let level = Level::current();
    if !matches!(level.isa(), Isa::Avx2 | Isa::Avx512) {
        return Ok(false);
    }
    let (out, door) = output.parts();
    let (&[m, k], &[_, n]) = (&a.shape()[..], &b.shape()[..]) else {
        return Ok(false);
    };
    let (&[a_row, a_column], &[b_row, b_column], &[out_row, out_column]) = (
        &a.layout().strides()[..],
        &b.layout().strides()[..],
        &out.layout().strides()[..],
    ) else {
        return Ok(false);
    };
    let thin = n == 1 || m <= THIN && k * n > TILED;
    let work = (m * n).saturating_mul(k);
    let is_small = work > 0 && is_small(level.isa(), work, k, b_row);
    let apart = !a.buffer().same_block(out.buffer()) && !b.buffer().same_block(out.buffer());
    // A factor of zero makes zeros of NaN too; that is not multiplying.
    if thin || !is_small || b_column != 1 || !apart || blend.alpha == C::ZERO {
        return Ok(false);
    }
    let to = door.open(OP)?.as_mut_ptr().cast::<C>();
    let left = a.read(OP, Argument::X)?;
    // One guard opens a buffer for both.
    let right = if b.buffer().same_block(a.buffer()) {
        None
    } else {
        Some(b.read(OP, Argument::Y)?)
    };
    let right = right.as_ref().unwrap_or(&left);
    let job = Job {
        a: left.as_ptr().cast::<C>().wrapping_add(a.layout().offset()),
        b: right.as_ptr().cast::<C>().wrapping_add(b.layout().offset()),
        out: to.wrapping_add(out.layout().offset()),
        m,
        n,
        k,
        a_row,
        a_column,
        b_row,
        b_column,
        out_row,
        out_column,
        blend,
        room: std::ptr::null_mut(),
    };
    // SAFETY: an operand's layout reaches no element outside its buffer, and the guards that open the buffers live until the
    // end of this function; the caller has checked that the shapes fit, the dtype, and that positions of `out` are distinct;
    // `out` is in another buffer than `a` and `b`; the rows of `b` are contiguous, which is what tiles ask for; the level has
    // tiles.
    unsafe { C::run(level, &job, Walk::Tiles) };
    Ok(true)
}
