//! Copying rows of a few bytes, each from a place of its own: how a row is copied is chosen once for all of them.
#![expect(
    unsafe_code,
    reason = "rows lie anywhere, and are shorter than what a check or a call of each would cost"
)]

use crate::isa::{Arch, Level, Task};
use crate::stream::{LINE, copy_ends, copy_piece};

/// Bytes of the longest row for which this is faster than a call of the library for each.
pub(crate) const LONGEST: usize = 512;

/// Rows of equally many bytes.
pub(crate) struct ShortRows<F> {
    pub(crate) count: usize,
    pub(crate) bytes: usize,
    /// Where the first goes, and bytes from there to the next.
    pub(crate) to: *mut u8,
    pub(crate) pitch: isize,
    /// Where a row is.
    pub(crate) from: F,
}

impl<F: Fn(usize) -> *const u8> ShortRows<F> {
    /// Copies them.
    ///
    /// # Safety
    /// Every row of `0..count` is valid for reads where it is and for writes where it goes, and nobody else touches them
    /// meanwhile; no place is that of two rows, and none is read.
    #[inline]
    pub(crate) unsafe fn copy(self) {
        // SAFETY: the caller's contract, in each branch; two pieces cover a row, which is no shorter than one.
        match self.bytes {
            0 => {}
            // SAFETY: as said above the match.
            1..=2 => unsafe { self.ends::<u8>() },
            // SAFETY: as said above the match.
            3..=4 => unsafe { self.ends::<u16>() },
            // SAFETY: as said above the match.
            5..=8 => unsafe { self.ends::<u32>() },
            // SAFETY: as said above the match.
            9..=16 => unsafe { self.ends::<u64>() },
            // SAFETY: as said above the match.
            17..=32 => unsafe { self.ends::<u128>() },
            _ => Level::current().run(Wide(self)),
        }
    }

    /// Rows of one to two `T`.
    ///
    /// # Safety
    /// As [`ShortRows::copy`].
    #[inline(always)]
    unsafe fn ends<T: Copy>(&self) {
        for row in 0..self.count {
            // SAFETY: a row and its place, by the caller's contract.
            unsafe { copy_ends::<T>(self.to(row), (self.from)(row), self.bytes) };
        }
    }

    #[inline(always)]
    fn to(&self, row: usize) -> *mut u8 {
        self.to.wrapping_offset(row.cast_signed() * self.pitch)
    }
}

/// Rows of more than 32 bytes, for registers of any width. Whoever makes one vouches for what [`ShortRows::copy`] asks.
struct Wide<F>(ShortRows<F>);

impl<F: Fn(usize) -> *const u8> Task for Wide<F> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Wide(rows) = self;
        match rows.bytes {
            // SAFETY: rows of one to two halves of a line; else the contract of `ShortRows::copy`.
            33..=LINE => unsafe { rows.ends::<[u64; 4]>() },
            _ => {
                for row in 0..rows.count {
                    let (to, from) = (rows.to(row), (rows.from)(row));
                    let last = rows.bytes - LINE;
                    let mut at = 0;
                    while at < last {
                        // SAFETY: `at + LINE` is before the end of the row.
                        unsafe { copy_piece::<[u64; 8]>(to, from, at) };
                        at += LINE;
                    }
                    // SAFETY: the last line's worth of the row, which is longer than that.
                    unsafe { copy_piece::<[u64; 8]>(to, from, last) };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_every_length_are_copied_and_nothing_else() {
        let x: Vec<u8> = (0..8 * LONGEST).map(|i| (i % 251) as u8).collect();
        let places = [3, 0, 2, 2, 1];
        for bytes in 0..=LONGEST {
            for gap in [0, 5] {
                let pitch = bytes + gap;
                let mut out = vec![255; places.len() * pitch + 1];
                let rows = ShortRows {
                    count: places.len(),
                    bytes,
                    to: out.as_mut_ptr(),
                    pitch: pitch.cast_signed(),
                    from: |row: usize| x[1 + places[row] * (bytes + 1)..].as_ptr(),
                };
                // SAFETY: rows inside one vector, copied to places side by side inside another.
                unsafe { rows.copy() };
                let mut wanted = vec![255; out.len()];
                for (row, place) in places.into_iter().enumerate() {
                    wanted[row * pitch..][..bytes]
                        .copy_from_slice(&x[1 + place * (bytes + 1)..][..bytes]);
                }
                assert_eq!(out, wanted, "{bytes} bytes, {gap} apart");
            }
        }
    }
}
