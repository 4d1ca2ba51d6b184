//! The operands of a short loop, opened for a moment, or by guards where several threads use buffers.
#![expect(unsafe_code, reason = "loops keep the contract of a moment")]

use lodestride_buffer::{Buffer, Moment, ReadGuard, WriteGuard};

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
    let moment = unsafe { Moment::begin() };
    let guards;
    let opened = match &moment {
        Some(moment) => moment.read(x).zip(moment.read(y)),
        None => {
            guards = open_both(x, y);
            guards.as_ref().map(addresses)
        }
    };
    opened.map(|(a, b)| compute(a, b)).is_some()
}

/// The same of a loop that writes a buffer.
///
/// # Safety
/// As [`reading`].
#[inline(always)]
pub(crate) unsafe fn writing(x: &Buffer, compute: impl FnOnce(*mut u8)) -> bool {
    // SAFETY: as in `reading`.
    let moment = unsafe { Moment::begin() };
    let mut guard;
    let opened = match &moment {
        Some(moment) => moment.write(x),
        None => {
            guard = x.write().ok();
            guard.as_mut().map(WriteGuard::as_mut_ptr)
        }
    };
    opened.map(compute).is_some()
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
    let computed = |dst, b, _| compute(dst, b);
    // SAFETY: the caller's contract.
    unsafe { writing_apart(x, y, y, computed) }
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
    let moment = unsafe { Moment::begin() };
    let mut guards;
    let opened = match &moment {
        Some(moment) => moment.write(out).zip(moment.read(x).zip(moment.read(y))),
        None => {
            guards = out.write().ok().zip(open_both(x, y));
            (guards.as_mut()).map(|(out, read)| (out.as_mut_ptr(), addresses(read)))
        }
    };
    opened.map(|(dst, (a, b))| compute(dst, a, b)).is_some()
}

/// The same of a loop that writes a buffer beside any that it reads, null where there is none; false also where it is one of them.
///
/// # Safety
/// As [`reading`].
#[inline(always)]
pub(crate) unsafe fn writing_beside<const N: usize>(
    out: &Buffer,
    inputs: [Option<&Buffer>; N],
    compute: impl FnOnce(*mut u8, [*const u8; N]),
) -> bool {
    if inputs.iter().flatten().any(|input| out.same_block(input)) {
        return false;
    }
    // SAFETY: as in `reading`.
    let moment = unsafe { Moment::begin() };
    let mut writer;
    let mut readers = [const { None }; N];
    let mut starts = [std::ptr::null(); N];
    for (place, input) in inputs.into_iter().enumerate() {
        let Some(input) = input else { continue };
        let opened = match &moment {
            Some(moment) => moment.read(input),
            None => input
                .read()
                .ok()
                .map(|guard| readers[place].insert(guard).as_ptr()),
        };
        match opened {
            Some(bytes) => starts[place] = bytes,
            None => return false,
        }
    }
    let opened = match &moment {
        Some(moment) => moment.write(out),
        None => {
            writer = out.write().ok();
            writer.as_mut().map(WriteGuard::as_mut_ptr)
        }
    };
    opened.map(|dst| compute(dst, starts)).is_some()
}

/// Guards of two buffers that are read; one opens a buffer for both.
type Both<'b> = (ReadGuard<'b>, Option<ReadGuard<'b>>);

/// Opens two buffers for reading.
#[cold]
fn open_both<'b>(x: &'b Buffer, y: &'b Buffer) -> Option<Both<'b>> {
    let a = x.read().ok()?;
    let b = if y.same_block(x) {
        None
    } else {
        Some(y.read().ok()?)
    };
    Some((a, b))
}

fn addresses((a, b): &Both<'_>) -> (*const u8, *const u8) {
    (a.as_ptr(), b.as_ref().unwrap_or(a).as_ptr())
}
