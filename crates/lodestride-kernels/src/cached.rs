//! Copies through the caches: by the C library, or in a loop where the instruction it leaves long ones to is held up.
#![expect(unsafe_code, reason = "bytes are moved through raw pointers")]

use crate::isa::{Arch, Level, Task};
use crate::stream::{self, LINE, PAGE, copy_piece};

/// Bytes from which on the C library leaves a copy to the processor's own instruction for it.
const MICROCODED: usize = 2048;

/// Bytes up to which a loop of vectors is ahead of that instruction on some processors wherever the copy goes to.
const LOOPED: usize = 16 * PAGE;

/// Whether the instruction for copies holds up one of so many bytes. AMD's moves a few bytes at a time where the destination begins
/// less than a line after the source, whole pages apart: rows of 2400 bytes took 1.6 us on an EPYC of family 25, and 55 ns in
/// a loop. On it other copies within L1 are faster in a loop too, by a third.
#[inline]
fn is_held_up(dst: *mut u8, src: *const u8, bytes: usize) -> bool {
    let behind = dst.addr().wrapping_sub(src.addr()) % PAGE;
    cfg!(target_arch = "x86_64")
        && ((1..LINE).contains(&behind) || (bytes <= LOOPED && stream::copies_slowly()))
}

/// Copies bytes through the caches.
///
/// # Safety
/// As [`stream::copy_raw`].
#[inline]
pub(crate) unsafe fn copy(dst: *mut u8, src: *const u8, bytes: usize) {
    let looped = Looped { dst, src, bytes };
    if bytes < MICROCODED
        || !is_held_up(dst, src, bytes)
        || Level::current().run_narrow_tuned(looped).is_err()
    {
        // SAFETY: the caller's contract.
        unsafe { std::ptr::copy_nonoverlapping(src, dst, bytes) };
    }
}

/// At least a line of bytes to be copied in a loop. Whoever makes one vouches for what [`stream::copy_raw`] asks.
struct Looped {
    dst: *mut u8,
    src: *const u8,
    bytes: usize,
}

impl Task for Looped {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let last = self.bytes - LINE;
        // SAFETY: the first line of each.
        unsafe { copy_piece::<[u64; 8]>(self.dst, self.src, 0) };
        // From the first whole line of the destination on.
        let mut at = match self.dst.align_offset(LINE) {
            0 => LINE,
            head => head,
        };
        while at < last {
            // SAFETY: `at + LINE` is before the end.
            unsafe { copy_piece::<[u64; 8]>(self.dst, self.src, at) };
            at += LINE;
        }
        // SAFETY: the last line of each, some of it once more.
        unsafe { copy_piece::<[u64; 8]>(self.dst, self.src, last) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_are_copied_wherever_they_go() {
        let src: Vec<u8> = (0..3 * PAGE).map(|i| (i % 251) as u8).collect();
        for len in [MICROCODED - 1, MICROCODED, MICROCODED + 1, 2 * PAGE - 3] {
            for from in [0, 1, 40] {
                let mut room = vec![255u8; 5 * PAGE];
                // As far behind a page as the source, and a little more or less.
                let page = src[from..]
                    .as_ptr()
                    .addr()
                    .wrapping_sub(room.as_ptr().addr())
                    % PAGE;
                for to in [0, 1, 8, 63, 64, 1000, PAGE - 1].map(|by| page + by) {
                    room.fill(255);
                    stream::copy_elements(&mut room[to..to + len], &src[from..from + len], false);
                    assert!(room[to..to + len] == src[from..from + len]);
                    let others = room[..to].iter().chain(&room[to + len..]);
                    assert!(others.into_iter().all(|&byte| byte == 255));
                }
            }
        }
    }
}
