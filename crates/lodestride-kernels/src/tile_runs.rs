//! Moving short runs of elements, evenly apart, between strided memory and dense tiles: how a run is copied is chosen once for all
//! of them. One run after the other, the choice costs more than what it is made for.
#![expect(
    unsafe_code,
    reason = "strided elements are not slices; they are read and written through pointers"
)]

use crate::short_rows::{LONGEST, ShortRows};
use crate::tile;

/// Elements of the longest run of elements that lie apart which are moved place by place, all first ones, then all second ones.
const LONGEST_APART: usize = 8;

/// Runs of one length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EvenRuns {
    /// The first element of the first run.
    pub(crate) at: *mut u8,
    /// Elements from each run to the next.
    pub(crate) step: isize,
    /// Elements from one to the next in a run.
    pub(crate) stride: isize,
    /// Bytes per element.
    pub(crate) size: usize,
    pub(crate) count: usize,
    pub(crate) len: usize,
}

impl EvenRuns {
    /// Bytes of all runs, one after the other.
    pub(crate) fn bytes(&self) -> usize {
        self.count * self.len * self.size
    }

    /// Where a run begins.
    pub(crate) fn run(&self, run: usize) -> *mut u8 {
        let step = self.step * self.size.cast_signed();
        self.at.wrapping_offset(run.cast_signed() * step)
    }

    /// Whether all runs are moved by one choice.
    fn are_short(&self) -> bool {
        let longest = match self.stride {
            1 => LONGEST / self.size,
            _ => LONGEST_APART,
        };
        self.count > 1 && self.len <= longest
    }

    /// The same runs where they lie one after the other.
    fn packed_at(&self, at: *mut u8) -> Self {
        Self {
            at,
            step: self.len.cast_signed(),
            stride: 1,
            ..*self
        }
    }

    /// Copies the runs into a tile, one after the other; or does nothing and answers false where each is best copied on its own.
    ///
    /// # Safety
    /// The runs are aligned for the size and valid for reads, the tile is valid for writes of as many elements, and apart from them.
    pub(crate) unsafe fn gather(&self, tile: *mut u8) -> bool {
        if !self.are_short() {
            return false;
        }
        // SAFETY: the caller's contract.
        unsafe { move_runs(self.packed_at(tile), *self) };
        true
    }

    /// Copies what lies in a tile to the runs, one after the other.
    ///
    /// # Safety
    /// The runs are aligned for the size, valid for writes and apart from each other; the tile is valid for reads of as many elements,
    /// and apart from them.
    pub(crate) unsafe fn scatter(&self, tile: *const u8) {
        if self.are_short() {
            // SAFETY: the caller's contract.
            return unsafe { move_runs(*self, self.packed_at(tile.cast_mut())) };
        }
        for run in 0..self.count {
            let from = tile.wrapping_add(run * self.len * self.size);
            // SAFETY: the caller's contract for one run.
            unsafe { tile::scatter(self.run(run), self.stride, from, self.size, self.len) };
        }
    }
}

/// Copies short runs to runs of the same number, length and element size, one side of which is a tile.
///
/// # Safety
/// One side is valid for writes, the other for reads, both aligned for the size, and they are apart.
unsafe fn move_runs(to: EvenRuns, from: EvenRuns) {
    if to.stride == 1 && from.stride == 1 {
        let rows = ShortRows {
            count: to.count,
            bytes: to.len * to.size,
            to: to.at,
            pitch: to.step * to.size.cast_signed(),
            from: |row| from.run(row).cast_const(),
        };
        // SAFETY: runs without gaps, by the caller's contract.
        return unsafe { rows.copy() };
    }
    match to.size {
        // SAFETY: the caller's contract, for each element size.
        1 => unsafe { move_elements::<u8>(to, from) },
        // SAFETY: as above.
        2 => unsafe { move_elements::<u16>(to, from) },
        // SAFETY: as above.
        4 => unsafe { move_elements::<u32>(to, from) },
        // SAFETY: as above; no element is larger than 8 bytes.
        _ => unsafe { move_elements::<u64>(to, from) },
    }
}

/// # Safety
/// As [`move_runs`], with `T` of the element's size.
unsafe fn move_elements<T: Copy>(to: EvenRuns, from: EvenRuns) {
    for place in 0..to.len.cast_signed() {
        let first = |runs: EvenRuns| (runs.at.cast::<T>()).wrapping_offset(place * runs.stride);
        let (mut target, mut source) = (first(to), first(from));
        for _ in 0..to.count {
            // SAFETY: an element of a run, by the caller's contract.
            let element = unsafe { source.read() };
            // SAFETY: as above.
            unsafe { target.write(element) };
            target = target.wrapping_offset(to.step);
            source = source.wrapping_offset(from.step);
        }
    }
}
