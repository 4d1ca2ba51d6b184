//! The operands of a short loop, opened for a moment, or by guards where several threads use buffers.
#![expect(unsafe_code, reason = "loops keep the contract of a moment")]

use lodestride_buffer::{Buffer, Moment, ReadGuard};

/// Lets a loop read two buffers; false, with nothing done, where one cannot be read.
///
/// # Safety
/// `compute` keeps the contract of [`Moment::begin`]: it uses no buffer by its handle, and is done soon.
#[inline(always)]
pub(crate) unsafe fn reading(
    x: &Buffer,
    y: &Buffer,
    compute: impl FnOnce(*const u8, *const u8),
) -> bool {
    // SAFETY: the caller's contract; nothing else is done before the moment ends.
    if let Some(moment) = unsafe { Moment::begin() } {
        let (Some(a), Some(b)) = (moment.read(x), moment.read(y)) else {
            return false;
        };
        compute(a.as_ptr(), b.as_ptr());
        return true;
    }
    let Some((a, b)) = open_both(x, y) else {
        return false;
    };
    compute(a.as_ptr(), b.as_ref().unwrap_or(&a).as_ptr());
    true
}

/// The same of a loop that writes a buffer.
///
/// # Safety
/// As [`reading`].
#[inline(always)]
pub(crate) unsafe fn writing(x: &Buffer, compute: impl FnOnce(*mut u8)) -> bool {
    // SAFETY: as in `reading`.
    if let Some(moment) = unsafe { Moment::begin() } {
        return moment.write(x).map(|dst| compute(dst.as_ptr())).is_some();
    }
    x.write().map(|mut dst| compute(dst.as_mut_ptr())).is_ok()
}

/// The same of a loop that writes the first of two buffers; false also where both are one.
///
/// # Safety
/// As [`reading`].
#[inline(always)]
pub(crate) unsafe fn writing_over(
    x: &Buffer,
    y: &Buffer,
    compute: impl FnOnce(*mut u8, *const u8),
) -> bool {
    if x.same_block(y) {
        return false;
    }
    // SAFETY: as in `reading`.
    if let Some(moment) = unsafe { Moment::begin() } {
        let (Some(dst), Some(b)) = (moment.write(x), moment.read(y)) else {
            return false;
        };
        compute(dst.as_ptr(), b.as_ptr());
        return true;
    }
    let (Ok(mut dst), Ok(b)) = (x.write(), y.read()) else {
        return false;
    };
    compute(dst.as_mut_ptr(), b.as_ptr());
    true
}

/// The same of a loop that writes a buffer beside two that it reads; false also where it is one of them.
///
/// # Safety
/// As [`reading`].
#[inline(always)]
pub(crate) unsafe fn writing_apart(
    out: &Buffer,
    x: &Buffer,
    y: &Buffer,
    compute: impl FnOnce(*mut u8, *const u8, *const u8),
) -> bool {
    if out.same_block(x) || out.same_block(y) {
        return false;
    }
    // SAFETY: as in `reading`.
    if let Some(moment) = unsafe { Moment::begin() } {
        let (Some(dst), Some(a), Some(b)) = (moment.write(out), moment.read(x), moment.read(y))
        else {
            return false;
        };
        compute(dst.as_ptr(), a.as_ptr(), b.as_ptr());
        return true;
    }
    let (Ok(mut dst), Some((a, b))) = (out.write(), open_both(x, y)) else {
        return false;
    };
    compute(
        dst.as_mut_ptr(),
        a.as_ptr(),
        b.as_ref().unwrap_or(&a).as_ptr(),
    );
    true
}

/// Opens two buffers for reading; one guard opens a buffer for both.
#[inline(always)]
fn open_both<'b>(x: &'b Buffer, y: &'b Buffer) -> Option<(ReadGuard<'b>, Option<ReadGuard<'b>>)> {
    let a = x.read().ok()?;
    let b = if y.same_block(x) {
        None
    } else {
        Some(y.read().ok()?)
    };
    Some((a, b))
}
