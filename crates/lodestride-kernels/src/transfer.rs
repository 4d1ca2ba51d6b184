//! Moving elements between two layouts of one dtype: values are never looked at, so one loop per element size serves all.
#![expect(
    unsafe_code,
    reason = "bytes of strided and overlapping views are moved through raw pointers"
)]

use crate::error::Result;
use crate::operand::Operand;
use crate::stream;
use crate::threads;
use lodestride_buffer::Argument;
use lodestride_shape::Order;
use std::ops::Range;

/// Copies `x` to `out` where both lie densely in the same order, as `memmove` would. Gives false, having done nothing,
/// where they do not.
///
/// # Errors
/// [`KernelError::Access`](crate::KernelError::Access).
pub(crate) fn dense(op: &'static str, x: &Operand<'_>, out: &Operand<'_>) -> Result<bool> {
    let (from, to) = (x.layout(), out.layout());
    let alike = |order| from.is_contiguous(order) && to.is_contiguous(order);
    if from.shape() != to.shape() || !(alike(Order::C) || alike(Order::F)) {
        return Ok(false);
    }
    let size = out.dtype().size();
    let bytes = to.elements() * size;
    let mut writer = out.write(op, Argument::Z)?;
    let dst = writer.as_mut_ptr().wrapping_add(to.offset() * size);
    if x.buffer().same_block(out.buffer()) {
        let src = dst.wrapping_offset(
            (from.offset().cast_signed() - to.offset().cast_signed()) * size.cast_signed(),
        );
        // SAFETY: both lie in the block the guard keeps open for writing; they may overlap.
        unsafe { std::ptr::copy(src, dst, bytes) };
        return Ok(true);
    }
    let reader = x.read(op, Argument::X)?;
    let src = reader.as_ptr().wrapping_add(from.offset() * size);
    let job = Dense { src, dst, bytes };
    let parts = threads::parts(2 * bytes, false);
    if parts == 1 {
        job.run(0..bytes);
        return Ok(true);
    }
    let share = bytes.div_ceil(parts).next_multiple_of(stream::LINE);
    let ranges = (0..parts).map(|part| (part * share).min(bytes)..((part + 1) * share).min(bytes));
    threads::for_each_part(ranges, |range| job.run(range));
    Ok(true)
}

/// Dense bytes to be copied, to be divided among threads.
struct Dense {
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
}

// SAFETY: the pointers stand for memory that guards held by the caller keep open; threads get disjoint ranges.
unsafe impl Sync for Dense {}

impl Dense {
    fn run(&self, range: Range<usize>) {
        let (src, dst) = (
            self.src.wrapping_add(range.start),
            self.dst.wrapping_add(range.start),
        );
        if stream::pays(2 * self.bytes) {
            // SAFETY: a range of both operands, which lie in different opened blocks.
            unsafe { stream::copy_raw(dst, src, range.len()) };
            stream::fence();
        } else {
            // SAFETY: as above.
            unsafe { std::ptr::copy_nonoverlapping(src, dst, range.len()) };
        }
    }
}
