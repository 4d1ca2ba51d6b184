//! The sweep path of a reduction: rows of neighbouring outputs.

use std::ops::Range;

use super::shape::are_packed;
use super::{SUPERBLOCK, Walk};
use crate::across::Lines;
use crate::numeric::Compute;
use crate::reduce_data::Rows;
use crate::reduce_fold::{BLOCK, FOLDED, ROWS};
use crate::reduce_lifted::{Lift, LiftedRows};
use crate::reduce_narrow::{NarrowRows, rows_of_block};
use crate::reduce_plan::{Piece, Plan};
use crate::strided::{Dim, Source, offset_at};
use crate::tile::Scratch;

impl<C: Compute, T: Copy + Send + Sync, V: Compute> Walk<'_, C, T, V> {
    /// Folds some input rows of a piece into its totals; of `new` ones it does not count what they were.
    pub(super) fn sweep(&self, piece: Piece, rows: Range<usize>, totals: &mut [T], new: bool) {
        if new && rows.is_empty() {
            totals.fill(self.reducer.empty());
        }
        if let Some(data) = self.lifted.filter(|_| totals.len() == piece.width) {
            self.sweep_lifted(data, piece, rows, (totals, new));
        } else if self.source.native().is_some() && self.plan.inner.x == 1 {
            self.sweep_with(piece, rows, &mut [], (totals, new));
        } else if self.source.is_computed() {
            self.sweep_with(piece, rows, &mut [C::ZERO; BLOCK], (totals, new));
        } else {
            let mut scratch = Scratch::take(BLOCK * size_of::<C>());
            self.sweep_with(piece, rows, scratch.numbers(BLOCK), (totals, new));
        }
    }

    #[inline(never)]
    fn sweep_lifted(
        &self,
        data: Lift<'_, C>,
        piece: Piece,
        range: Range<usize>,
        (totals, new): (&mut [T], bool),
    ) {
        let mut offsets = [0; ROWS];
        for block in range.clone().step_by(ROWS) {
            let offsets = &mut offsets[..ROWS.min(range.end - block)];
            self.place_rows(piece, block, offsets);
            let rows = LiftedRows {
                data,
                offsets,
                width: piece.width,
            };
            self.reducer
                .lifted_rows(rows, totals, new && block == range.start);
        }
    }

    /// Where the rows of a piece from one on begin.
    fn place_rows(&self, piece: Piece, first: usize, offsets: &mut [usize]) {
        for (row, offset) in offsets.iter_mut().enumerate() {
            let at = piece.x + offset_at(&self.plan.reduced, first + row);
            *offset = at as usize;
        }
    }

    #[inline(never)]
    fn sweep_with(
        &self,
        piece: Piece,
        range: Range<usize>,
        tile: &mut [C],
        (totals, new): (&mut [T], bool),
    ) {
        let step = self.plan.inner.x;
        let native = self.source.native().filter(|_| step == 1);
        let mut offsets = [0; ROWS];
        let most = match native {
            Some(_) => ROWS,
            None => (BLOCK / piece.width).clamp(1, ROWS),
        };
        for block in range.clone().step_by(most) {
            let rows = most.min(range.end - block);
            self.place_rows(piece, block, &mut offsets[..rows]);
            if native.is_none() {
                let sizes = (totals.len() / piece.width, piece.width);
                load_rows((self.plan, self.source), sizes, &mut offsets[..rows], tile);
            }
            let rows = Rows {
                data: native.unwrap_or(tile),
                offsets: &offsets[..rows],
                width: piece.width,
            };
            let step = match native {
                Some(_) => self.plan.last_outer().x as usize,
                None => rows.offsets.len() * rows.width,
            };
            let new = new && block == range.start;
            self.reducer.sets(rows, step, totals, new);
        }
    }

    /// Elements from one [narrow](Self::unit_narrow) row to the next.
    pub(super) fn pitch(&self) -> usize {
        self.plan.reduced[0].stride as usize
    }

    /// The totals of a part of the rows of a few elements; those of several pieces, or single columns, where there are as many.
    pub(super) fn unit_narrow(&self, piece: Piece, part: usize, totals: &mut [T]) {
        let (pitch, depth) = (self.pitch(), self.plan.depth());
        let most = SUPERBLOCK * rows_of_block(pitch);
        let first = part * most;
        let (width, step) = match self.sweep {
            true => (piece.width, self.plan.last_outer().x),
            false => (1, self.plan.inner.x),
        };
        let native = self.source.native();
        let rows = NarrowRows {
            data: native.unwrap_or(&[]),
            start: piece.x as usize + first * pitch,
            step: step as usize,
            rows: most.min(depth - first),
            pitch,
            width,
        };
        let copied = native.is_none().then_some(self.source);
        self.reducer.narrow(rows, copied, totals);
    }

    /// As `sweep` for very narrow rows: `fold` of them at a time make one wide row.
    pub(super) fn unit_folded(&self, piece: Piece, part: usize, totals: &mut [T]) {
        let mut scratch = Scratch::take(BLOCK * size_of::<C>());
        let native = self.source.native().filter(|_| are_packed(self.plan));
        let (tile, inner, line) = (
            scratch.numbers(BLOCK),
            self.plan.inner,
            self.plan.reduced[0],
        );
        let wide = self.fold * piece.width;
        let rows = self.plan.depth() / self.fold;
        let first = part * SUPERBLOCK * ROWS;
        let last = rows.min(first + SUPERBLOCK * ROWS);
        let mut sums = Lines([self.reducer.empty(); FOLDED]);
        let mut offsets = [0; ROWS];
        let most = if native.is_some() {
            ROWS
        } else {
            ROWS.min(BLOCK / wide)
        };
        for block in (first..last).step_by(most) {
            let count = most.min(last - block);
            let first = block * self.fold;
            let at = piece.x + first.cast_signed() * line.stride;
            let mut start = at as usize;
            if native.is_none() {
                let dim = |size, stride| Dim { size, stride };
                let lines = dim(count * self.fold, line.stride);
                let tile = &mut tile[..count * wide];
                self.source
                    .load_lines(at, lines, dim(inner.size, inner.x), tile);
                start = 0;
            }
            for (row, offset) in offsets[..count].iter_mut().enumerate() {
                *offset = start + row * wide;
            }
            let rows = Rows {
                data: native.unwrap_or(tile),
                offsets: &offsets[..count],
                width: wide,
            };
            self.reducer.rows(rows, &mut sums.0[..wide]);
        }
        totals.fill(self.reducer.empty());
        for group in sums.0[..wide].chunks(piece.width) {
            self.reducer.merge_all(totals, group);
        }
        if last == rows {
            self.sweep(piece, rows * self.fold..self.plan.depth(), totals, false);
        }
    }
}

/// Puts rows that begin at `offsets` in a tile, one after the other, and their new beginnings in `offsets`; those of several sets
/// of rows one set after the other.
#[inline(never)]
fn load_rows<C: Compute>(
    (plan, source): (&Plan, &Source<'_, C>),
    (sets, width): (usize, usize),
    offsets: &mut [usize],
    tile: &mut [C],
) {
    let (start, size) = (offsets[0].cast_signed(), offsets.len());
    let tile = &mut tile[..sets * size * width];
    let (next, step) = (plan.last_outer().x, plan.inner.x);
    let dim = |size, stride| Dim { size, stride };
    if sets > 1 && are_packed(plan) && next == (size * width) as isize {
        source.load(start, 1, tile);
    } else if sets > 1 {
        let mut all = [0; ROWS];
        for (set, all) in (0..).zip(all.chunks_exact_mut(size).take(sets)) {
            for (to, &offset) in all.iter_mut().zip(&*offsets) {
                *to = offset.wrapping_add_signed(set * next);
            }
        }
        source.load_rows(&all[..sets * size], step, tile);
    } else if let [Dim { stride, .. }] = *plan.reduced.as_slice() {
        source.load_lines(start, dim(size, stride), dim(width, step), tile);
    } else {
        source.load_rows(offsets, step, tile);
    }
    for (row, offset) in offsets.iter_mut().enumerate() {
        *offset = row * width;
    }
}
