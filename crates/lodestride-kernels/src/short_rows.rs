//! Copying rows of a few bytes, each from a place of its own: how a row is copied is chosen once for all of them.
#![expect(
    unsafe_code,
    reason = "rows lie anywhere, and are shorter than what a check or a call of each would cost"
)]

use std::marker::PhantomData;

use lodestride_buffer::Element;

use crate::isa::{Arch, Level, Task};
use crate::stream::{LINE, copy_ends, copy_piece};

/// Bytes of the longest row for which this is faster than a call of the library for each.
pub(crate) const LONGEST: usize = 512;

/// Some rows of an array, evenly apart.
pub(crate) struct Run<'x> {
    from: *const u8,
    /// Bytes from row to row.
    step: isize,
    rows: usize,
    elements: PhantomData<&'x [u8]>,
}

impl<'x> Run<'x> {
    /// `rows` rows of `width` elements of `x`, the first of which begins at `first`, `step` elements apart.
    ///
    /// # Panics
    /// If the first or the last of them does not lie inside `x`.
    pub(crate) fn new<U: Element>(
        x: &'x [U],
        (first, width): (usize, usize),
        (rows, step): (usize, isize),
    ) -> Self {
        let mut from = x.as_ptr();
        if rows > 0 {
            let last = first.wrapping_add_signed(step.wrapping_mul(rows.cast_signed() - 1));
            from = x[first..][..width].as_ptr();
            assert!(
                last < x.len() && width <= x.len() - last,
                "rows outside of {}",
                x.len()
            );
        }
        Self {
            from: from.cast(),
            step: step.wrapping_mul(size_of::<U>().cast_signed()),
            rows,
            elements: PhantomData,
        }
    }
}

/// Fills `out` with the rows of runs, which are of `width` elements.
///
/// # Panics
/// If the runs have too few rows.
pub(crate) fn write_runs<'x, U: Element>(
    out: &mut [U],
    width: usize,
    runs: &mut dyn Iterator<Item = Run<'x>>,
) {
    let bytes = width * size_of::<U>();
    let rows = ShortRows {
        count: out.len().checked_div(width).unwrap_or(0),
        bytes,
        to: out.as_mut_ptr().cast(),
        pitch: bytes.cast_signed(),
        from: Runs {
            run: Run::new::<U>(&[], (0, width), (0, 0)),
            runs,
        },
    };
    // SAFETY: every row lies inside a slice that is borrowed longer than this call, and its place is a part of a unique one.
    unsafe { rows.copy() };
}

/// The rows of one run after the other.
struct Runs<'r, 'x> {
    run: Run<'x>,
    runs: &'r mut dyn Iterator<Item = Run<'x>>,
}

impl Source for Runs<'_, '_> {
    #[inline(always)]
    fn row(&mut self, _row: usize) -> *const u8 {
        while self.run.rows == 0 {
            self.run = self.runs.next().expect("as many rows as asked for");
        }
        let from = self.run.from;
        self.run.rows -= 1;
        self.run.from = from.wrapping_offset(self.run.step);
        from
    }
}

/// Where rows are: asked once for each, in order. Must be `#[inline(always)]`.
pub(crate) trait Source {
    fn row(&mut self, row: usize) -> *const u8;
}

impl<F: Fn(usize) -> *const u8> Source for F {
    #[inline(always)]
    fn row(&mut self, row: usize) -> *const u8 {
        self(row)
    }
}

/// Rows of equally many bytes.
pub(crate) struct ShortRows<F> {
    pub(crate) count: usize,
    pub(crate) bytes: usize,
    /// Where the first goes, and bytes from there to the next.
    pub(crate) to: *mut u8,
    pub(crate) pitch: isize,
    pub(crate) from: F,
}

impl<F: Source> ShortRows<F> {
    /// Copies them.
    ///
    /// # Safety
    /// Every row of `0..count` is valid for reads where it is and for writes where it goes, and nobody else touches them
    /// meanwhile; no place is that of two rows, and none is read.
    #[inline]
    pub(crate) unsafe fn copy(mut self) {
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
    unsafe fn ends<T: Copy>(&mut self) {
        for row in 0..self.count {
            // SAFETY: a row and its place, by the caller's contract.
            unsafe { copy_ends::<T>(self.to(row), self.from.row(row), self.bytes) };
        }
    }

    #[inline(always)]
    fn to(&self, row: usize) -> *mut u8 {
        self.to.wrapping_offset(row.cast_signed() * self.pitch)
    }
}

/// Rows of more than 32 bytes, for registers of any width. Whoever makes one vouches for what [`ShortRows::copy`] asks.
struct Wide<F>(ShortRows<F>);

impl<F: Source> Task for Wide<F> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Wide(mut rows) = self;
        match rows.bytes {
            // SAFETY: rows of one to two halves of a line; else the contract of `ShortRows::copy`.
            33..=LINE => unsafe { rows.ends::<[u64; 4]>() },
            _ => {
                for row in 0..rows.count {
                    let (to, from) = (rows.to(row), rows.from.row(row));
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
