//! Running a [row pass](crate::row_pass()): one thread's pointers into operands and tiles, and what `row_code.rs` has written, done for a
//! few rows at once.
#![expect(
    unsafe_code,
    reason = "opened buffers and tiles are handed to erased kernels and folds as raw pointers"
)]

use crate::cached;
use crate::code::Slot;
use crate::reduce_fold::ROWS;
use crate::row_code::{Action, Extent, Instruction, RowCode, Spot};
use crate::row_fold::{Matrix, Unit};
use crate::stream;
use crate::tile::Scratch;
use std::ops::Range;

impl RowCode {
    /// Works through the rows of a block, and makes its totals.
    ///
    /// # Safety
    /// Every slot in memory is valid for the elements of every row, outputs for writes, aligned and apart from all else; nobody else
    /// works on these rows. `totals` has room for the units of a block.
    pub(crate) unsafe fn run(&self, rows: Range<usize>, totals: *mut Unit) {
        for &(fold, at, count) in &self.folds {
            // SAFETY: a block has the units that its folds have asked for.
            unsafe { fold.empty(count, totals.wrapping_add(at)) };
        }
        let mut tiles = Scratch::take(self.tiles);
        let start = tiles.pointer();
        let mut frame = RowFrame {
            code: self,
            at: Vec::with_capacity(self.spots.len()),
            totals,
            first: rows.start,
            rows: 0,
            n: 0,
        };
        let mut moving: Vec<(usize, isize)> = Vec::new();
        for (slot, spot) in self.spots.iter().enumerate() {
            frame.at.push(match *spot {
                Spot::Tile(offset, _) => start.wrapping_add(offset),
                Spot::Memory(first, step) => {
                    if step != 0 {
                        moving.push((slot, step));
                    }
                    first.wrapping_offset(rows.start.cast_signed() * step)
                }
            });
        }
        for &(action, n) in &self.first {
            // SAFETY: numbers are there, and tiles take all rows at once.
            unsafe { frame.act(action, n, 0) };
        }
        // SAFETY: the tiles of sums are a row each.
        unsafe { frame.clear() };
        let mut added = 0;
        for row in rows.clone().step_by(self.at_once) {
            frame.first = row;
            frame.rows = self.at_once.min(rows.end - row);
            frame.n = (self.columns * frame.rows).min(self.elements - row * self.columns);
            for (index, instruction) in self.rows.iter().enumerate() {
                frame.ask_ahead(index);
                // SAFETY: slots are at the caller's rows, or in tiles that take as many.
                unsafe { frame.perform(instruction) };
            }
            added += frame.rows;
            if added + self.at_once > ROWS || row + frame.rows == rows.end {
                // SAFETY: as above, and a total for each of their columns.
                unsafe { frame.lift() };
                added = 0;
            }
            for &(slot, step) in &moving {
                let by = step * frame.rows.cast_signed();
                frame.at[slot] = frame.at[slot].wrapping_offset(by);
            }
        }
        if self.streams {
            stream::fence();
        }
    }
}

/// One thread's pointers.
struct RowFrame<'c> {
    code: &'c RowCode,
    at: Vec<*mut u8>,
    totals: *mut Unit,
    /// The first of the rows, and how many they are.
    first: usize,
    rows: usize,
    /// Elements of these rows.
    n: usize,
}

impl RowFrame<'_> {
    /// A slot at the first of the rows, or at another.
    #[inline(always)]
    fn slot(&self, slot: Slot, row: usize) -> *mut u8 {
        let at = self.at[usize::from(slot)];
        if row == 0 {
            return at;
        }
        at.wrapping_offset(row.cast_signed() * self.code.spots[usize::from(slot)].step())
    }

    /// The rows in a slot, as folds take them.
    fn matrix(&self, slot: Slot) -> Matrix {
        Matrix {
            at: self.slot(slot, 0),
            rows: self.rows,
            columns: self.code.columns.min(self.n),
            step: self.code.spots[usize::from(slot)].step(),
        }
    }

    /// Makes sums those of no rows.
    ///
    /// # Safety
    /// Their tiles are a row each.
    unsafe fn clear(&self) {
        for (_, sum, _) in &self.code.sums {
            let bytes = self.code.columns * self.code.kind(*sum).size;
            // SAFETY: the caller's contract; bytes of zero are the number zero.
            unsafe { self.slot(*sum, 0).write_bytes(0, bytes) };
        }
    }

    /// Adds sums to their wider totals.
    ///
    /// # Safety
    /// As for [`clear`](Self::clear), and the totals are a block's.
    unsafe fn lift(&self) {
        for &(fold, sum, totals) in &self.code.sums {
            let row = Matrix {
                rows: 1,
                columns: self.code.columns,
                ..self.matrix(sum)
            };
            // SAFETY: a row of the fold's dtype, and a total for each column.
            unsafe { fold.across(row, self.totals.wrapping_add(totals)) };
        }
        // SAFETY: the caller's contract.
        unsafe { self.clear() };
    }

    /// Asks for a share of the rows after these: between one row and the next so much is done that the processor forgets the stream.
    #[inline(always)]
    fn ask_ahead(&self, instruction: usize) {
        for &slot in &self.code.ahead {
            let bytes = self.n * self.code.kind(slot).size;
            let lines = bytes.div_ceil(stream::LINE);
            let share = lines.div_ceil(self.code.rows.len());
            let next = self.slot(slot, self.rows);
            let first = (instruction * share).min(lines);
            for line in first..(first + share).min(lines) {
                stream::prefetch_far(next.wrapping_add(line * stream::LINE));
            }
        }
    }

    /// # Safety
    /// As for [`RowCode::run`]: slots hold the rows.
    #[inline(always)]
    unsafe fn perform(&mut self, instruction: &Instruction) {
        let &Instruction {
            action,
            extent,
            joined,
        } = instruction;
        if joined {
            let n = match extent {
                Extent::One => self.rows,
                Extent::Row => self.n,
            };
            // SAFETY: the rows are one.
            unsafe { self.act(action, n, 0) };
            return;
        }
        for row in 0..self.rows {
            // The last row of a vector may be shorter.
            let n = match extent {
                Extent::One => 1,
                Extent::Row => self.code.columns.min(self.n - row * self.code.columns),
            };
            // SAFETY: the caller's contract.
            unsafe { self.act(action, n, row) };
        }
    }

    /// # Safety
    /// As for [`RowCode::run`]: slots hold `n` elements from a row on.
    #[inline(never)]
    unsafe fn act(&mut self, action: Action, n: usize, row: usize) {
        match action {
            Action::Call(kernel, sources, dst) => {
                let [a, b, c] = sources.map(|slot| self.slot(slot, row));
                let dst = self.slot(dst, row);
                // SAFETY: sources hold `n` elements of the kernel's dtypes, one where it takes one; `dst` takes `n` and is apart.
                unsafe { kernel(n, dst, a, b, c) };
            }
            Action::Copy(size, from, to) => {
                let (from, to) = (self.slot(from, row), self.slot(to, row));
                // SAFETY: two slots of that element size, apart.
                unsafe { copy(to, from, n * size) };
            }
            Action::Reduce(fold, from, to) => {
                let step = self.code.spots[usize::from(to)].step();
                // SAFETY: rows of the fold's dtype, and the places of as many numbers of it.
                unsafe { fold.reduce(self.matrix(from), self.slot(to, 0), step) };
            }
            Action::Along(fold, from, totals) => {
                let totals = self.totals.wrapping_add(totals);
                // SAFETY: elements of the fold's dtype, and their total.
                unsafe { fold.along(n, self.slot(from, row), totals) };
            }
            Action::Across(fold, from, totals) => {
                let totals = self.totals.wrapping_add(totals);
                // SAFETY: rows of the fold's dtype, and a total for each column.
                unsafe { fold.across(self.matrix(from), totals) };
            }
            Action::Stream(size, from, to, step) => {
                let to = to.wrapping_offset((self.first + row).cast_signed() * step);
                // SAFETY: rows in a tile, and their place in memory.
                unsafe { stream::copy_raw(to, self.slot(from, row), n * size) };
            }
        }
    }
}

/// [`cached::copy`], which is rare here, once.
///
/// # Safety
/// As for that.
#[inline(never)]
unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's contract.
    unsafe { cached::copy(to, from, bytes) };
}
