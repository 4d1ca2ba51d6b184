//! Walking an array for positions of extremes.
//!
//! Along an axis that is innermost in memory, the extreme of a run is found with lanes and then located; across rows, a row of
//! best values and a row of their positions are kept in L1, of very narrow rows those of some of them side by side.

use std::ops::Range;

use lodestride_buffer::{DType, ReadGuard, WriteGuard};

use crate::across::{FEW, Lines};
use crate::index_reduce::ArgOp;
use crate::index_search::{AnyOrder, ByMagnitude, ByValue, Rank};
use crate::numeric::{Compute, ComputeKind};
use crate::reduce_data::{Rows, Runs};
use crate::reduce_fold::{BLOCK, COLUMNS, FOLDED, ROWS};
use crate::reduce_kinds::Magnitude;
use crate::reduce_plan::{Piece, Plan};
use crate::strided::{Dim, Dims, Source, count, offset_at, store};
use crate::tile::Scratch;
use crate::{spread, stream, threads};

/// One search: what is looked for, and along which axes.
pub(crate) struct Search {
    pub(crate) op: ArgOp,
    /// The axes that stay.
    pub(crate) plan: Plan,
    /// In logical order: the first occurrence is first in C order.
    pub(crate) reduced: Dims,
    pub(crate) out_dtype: DType,
}

/// Finds the positions for neighbouring outputs, the first of which starts at an offset.
pub(crate) type Find<'f> = dyn Fn(isize, &mut [i64]) + Sync + 'f;

impl Search {
    /// Stores the positions for all outputs.
    pub(crate) fn run(&self, (guard, dtype): (&ReadGuard<'_>, DType), output: &mut WriteGuard<'_>) {
        if self.run_as_they_are((guard, dtype), output) {
            return;
        }
        match ComputeKind::exact(dtype) {
            ComputeKind::F32 => self.run_in::<f32>(&Source::new(guard, dtype), output),
            ComputeKind::F64 => self.run_in::<f64>(&Source::new(guard, dtype), output),
            ComputeKind::I64 => self.run_in::<i64>(&Source::new(guard, dtype), output),
            ComputeKind::U64 => self.run_in::<u64>(&Source::new(guard, dtype), output),
        }
    }

    fn run_in<C: Rank + Magnitude>(&self, source: &Source<'_, C>, output: &mut WriteGuard<'_>) {
        // What has no sign is its own magnitude.
        let by_value = const { matches!(C::KIND, ComputeKind::U64) };
        let smallest = matches!(self.op, ArgOp::ArgMin | ArgOp::ArgAbsMin);
        if by_value || matches!(self.op, ArgOp::ArgMax | ArgOp::ArgMin) {
            let order: &dyn AnyOrder<C, C> = if smallest {
                &ByValue::<true>
            } else {
                &ByValue::<false>
            };
            self.run_by(order, source, output);
        } else {
            let order: &dyn AnyOrder<C, C::Magnitude> = if smallest {
                &ByMagnitude::<true>
            } else {
                &ByMagnitude::<false>
            };
            self.run_by(order, source, output);
        }
    }

    fn run_by<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
        output: &mut WriteGuard<'_>,
    ) {
        if self.plan.pieces(1) == 1 {
            let best = self.best_alone(order, source);
            store(output, self.out_dtype, self.plan.out_start, 1, &[best]);
            return;
        }
        let is_run = matches!(*self.reduced.as_slice(), [Dim { stride: 1, .. }]);
        let most = match (self.goes_by_rows(), source.native().is_some()) {
            (false, true) if is_run => runs_at_a_time(count(&self.reduced)),
            // So that some rows fit in a tile.
            (true, false) => FEW_COLUMNS,
            // With their keys, positions and places, so many stay in the first-level cache; longer stretches come faster from memory.
            (true, true) if !stream::pays(self.elements() * size_of::<C>()) => {
                COLUMNS * size_of::<u32>() / size_of::<C>()
            }
            _ => COLUMNS,
        };
        let find = |x: isize, best: &mut [i64]| self.search(order, source, x, best);
        self.each_piece(most, size_of::<C>(), &find, output);
    }

    /// How many elements are searched.
    pub(crate) fn elements(&self) -> usize {
        self.plan.pieces(1) * count(&self.reduced)
    }

    /// Whether neighbouring outputs are found row by row.
    pub(crate) fn goes_by_rows(&self) -> bool {
        self.sweeps(COLUMNS) || self.wide_rows(self.plan.inner.size).is_some()
    }

    /// Finds and stores all positions, so many neighbouring ones at a time at most, of elements of so many bytes.
    pub(crate) fn each_piece(
        &self,
        most: usize,
        bytes: usize,
        find: &Find<'_>,
        output: &mut WriteGuard<'_>,
    ) {
        let (plan, depth) = (&self.plan, count(&self.reduced));
        let is_shared = threads::are_worth(self.elements().saturating_mul(bytes), false);
        let width = match (is_shared, self.goes_by_rows()) {
            (true, true) => most.min(plan.shared_width(true)),
            (true, false) => (SHARE / depth).clamp(1, most),
            (false, _) => most,
        };
        let pieces = plan.pieces(width);
        let mut put = |piece: Piece, best: &[i64]| {
            store(output, self.out_dtype, piece.out, plan.inner.out, best);
        };
        if pieces > 1 && is_shared {
            // Batches bound the memory of results that wait for their turn to be stored.
            for first in (0..pieces).step_by(BATCH) {
                let found = spread::map(BATCH.min(pieces - first), |index| {
                    let piece = plan.piece(first + index, width);
                    let mut best = vec![0; piece.width];
                    find(piece.x, &mut best);
                    best
                });
                for (index, best) in found.iter().enumerate() {
                    put(plan.piece(first + index, width), best);
                }
            }
            return;
        }
        let mut each = |room: &mut [i64]| {
            for index in 0..pieces {
                let piece = plan.piece(index, width);
                let best = &mut room[..piece.width];
                find(piece.x, best);
                put(piece, best);
            }
        };
        // Room for no more than is used: making it costs time too.
        match width.min(plan.inner.size) {
            0..FEW => each(&mut [0; FEW]),
            FEW..=FEW_COLUMNS => each(&mut [0; FEW_COLUMNS]),
            _ => each(&mut [0; COLUMNS]),
        }
    }

    /// Whether so many neighbouring outputs are found row by row.
    fn sweeps(&self, columns: usize) -> bool {
        let step = self
            .reduced
            .last()
            .map_or(isize::MAX, |dim| dim.stride.abs());
        columns.min(self.plan.inner.size) >= 8 && self.plan.inner.x < step
    }

    /// The positions for neighbouring outputs, the first of which starts at `x`.
    fn search<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
        x: isize,
        best: &mut [i64],
    ) {
        let step = self.plan.inner.x;
        if let Some(wide) = self.wide_rows(best.len()) {
            return self.fold(order, source, (x, wide), best);
        }
        if self.sweeps(best.len()) {
            return self.sweep(order, source, (x, &self.reduced), best);
        }
        if let (Some(data), [Dim { size, stride: 1 }]) = (source.native(), self.reduced.as_slice())
        {
            let runs = Runs::new(data, x as usize, step as usize, *size);
            order.best_of_runs(runs, best);
            return;
        }
        if let [whole] = self.reduced.as_slice()
            && whole.size <= BLOCK
        {
            self.search_copies(order, source, x, (step, *whole), best);
            return;
        }
        for (column, best) in best.iter_mut().enumerate() {
            let start = x + column as isize * step;
            *best = self
                .best_of(order, source, start, 0..self.blocks(source))
                .map_or(0, |(_, position)| position as i64);
        }
    }

    /// The positions for neighbouring outputs whose elements do not lie side by side: some runs at a time are copied.
    #[inline(never)]
    fn search_copies<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
        x: isize,
        (stride, whole): (isize, Dim),
        best: &mut [i64],
    ) {
        let mut scratch = Scratch::take(BLOCK * size_of::<C>());
        let tile = scratch.numbers::<C>(BLOCK);
        let together = (COPIED / whole.size).max(1);
        for (group, best) in best.chunks_mut(together).enumerate() {
            let x = x + (group * together) as isize * stride;
            let lines = Dim {
                size: best.len(),
                stride,
            };
            let tile = &mut tile[..lines.size * whole.size];
            source.load_lines(x, lines, whole, tile);
            order.best_of_runs(Runs::new(tile, 0, whole.size, whole.size), best);
        }
    }

    /// The single position of a search without kept axes, its superblocks shared among threads.
    fn best_alone<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
    ) -> i64 {
        let blocks = self.blocks(source);
        let parts = blocks.div_ceil(SUPERBLOCK);
        let found = if parts > 1 && is_worth_threads::<C>(count(&self.reduced)) {
            let parts = spread::map(parts, |part| {
                let end = blocks.min((part + 1) * SUPERBLOCK);
                self.best_of(order, source, self.plan.x_start, part * SUPERBLOCK..end)
            });
            parts.into_iter().flatten().reduce(|best, next| {
                if order.beats(next.0, best.0) {
                    next
                } else {
                    best
                }
            })
        } else {
            self.best_of(order, source, self.plan.x_start, 0..blocks)
        };
        found.map_or(0, |(_, position)| position as i64)
    }

    /// The elements, and the last axis, where searches go by runs along that: others copy a block at a time.
    fn in_runs<'a, C: Compute>(&self, source: &Source<'a, C>) -> Option<(&'a [C], Dim)> {
        let last = *self.reduced.last()?;
        let is_long = self.reduced.len() == 1 || last.size >= LONG_RUN;
        Some((
            source.native().filter(|_| last.stride == 1 && is_long)?,
            last,
        ))
    }

    fn blocks<C: Compute>(&self, source: &Source<'_, C>) -> usize {
        let all = count(&self.reduced);
        match self.in_runs(source) {
            Some((_, last)) => all / last.size.max(1) * last.size.div_ceil(BLOCK),
            None => all.div_ceil(BLOCK),
        }
    }

    /// The best element, and its position, in some blocks of the sequence that starts at `start`.
    fn best_of<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
        start: isize,
        blocks: Range<usize>,
    ) -> Option<(K, usize)> {
        let runs = self.in_runs(source);
        let mut scratch = runs
            .is_none()
            .then(|| Scratch::take(BLOCK * size_of::<C>()));
        let tile = match &mut scratch {
            Some(scratch) => scratch.numbers::<C>(BLOCK),
            None => &mut [],
        };
        // Where the best of a block is, is asked of the last one that was better alone: of numbers in order every block is.
        let mut best: Option<(K, usize)> = None;
        for block in blocks {
            let key = order.best_in(self.block(source, runs, (start, block), tile).1);
            if best.is_none_or(|(best, _)| order.beats(key, best)) {
                best = Some((key, block));
                if key.is_nan() {
                    break;
                }
            }
        }
        let (key, block) = best?;
        let (first, run) = self.block(source, runs, (start, block), tile);
        Some((key, first + order.place_in(run, key)))
    }

    /// The position of a block's first element in the sequence that starts at `start`, and its elements: in memory, or copied to a tile.
    #[inline(never)]
    fn block<'a, C: Compute>(
        &self,
        source: &Source<'_, C>,
        runs: Option<(&'a [C], Dim)>,
        (start, block): (isize, usize),
        tile: &'a mut [C],
    ) -> (usize, &'a [C]) {
        let Some((data, last)) = runs else {
            let first = block * BLOCK;
            let tile = &mut tile[..BLOCK.min(count(&self.reduced) - first)];
            source.load_walk(start, &self.reduced, first, tile);
            return (first, tile);
        };
        let per_run = last.size.div_ceil(BLOCK);
        let (run, at) = (block / per_run, block % per_run * BLOCK);
        let outer = &self.reduced[..self.reduced.len() - 1];
        let from = (start + offset_at(outer, run)) as usize + at;
        let len = BLOCK.min(last.size - at);
        (run * last.size + at, &data[from..][..len])
    }

    /// How many rows make a wide one where the rows of so many columns are narrow, dense and many.
    fn wide_rows(&self, columns: usize) -> Option<usize> {
        let inner = self.plan.inner;
        let [Dim { size, stride }] = *self.reduced.as_slice() else {
            return None;
        };
        let is_narrow = (2..=NARROW).contains(&columns) && columns == inner.size && inner.x == 1;
        let fold = FOLDED / columns.max(1);
        // Whole vectors of columns.
        let fold = if fold < FEW { fold } else { fold / FEW * FEW };
        // Few short columns are copied and searched as runs in less time than the wide rows are begun and joined.
        let least = if columns < FEW / 2 {
            16 * fold
        } else {
            4 * fold
        };
        (is_narrow && stride == columns as isize && size >= least).then_some(fold)
    }

    /// As [`sweep`](Self::sweep) for very narrow rows: `fold` of them make a wide one, whose columns are joined at the end.
    fn fold<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
        (start, fold): (isize, usize),
        best: &mut [i64],
    ) {
        let (columns, depth) = (best.len(), count(&self.reduced));
        let width = fold * columns;
        let (mut keys, mut places) = (Lines([K::ZERO; 2 * FOLDED]), [0; 2 * FOLDED]);
        // The last wide row begins among those before it: what is met twice keeps its first place.
        let parts = [(0, depth / fold), (depth - fold, 1)];
        let parts = &parts[..if depth.is_multiple_of(fold) { 1 } else { 2 }];
        let lanes = keys.0.chunks_mut(width).zip(places.chunks_mut(width));
        for (&(first, size), (keys, places)) in parts.iter().zip(lanes) {
            let stride = width as isize;
            let rows = (
                start + (first * columns) as isize,
                &[Dim { size, stride }][..],
            );
            self.sweep_in(order, source, rows, keys, places);
            for (row, places) in (first as i64..).zip(places.chunks_mut(columns)) {
                for place in places {
                    *place = row + *place * fold as i64;
                }
            }
        }
        let lanes = parts.len() * width;
        order.join(&mut keys.0[..lanes], &mut places[..lanes], columns);
        best.copy_from_slice(&places[..columns]);
    }

    /// Row after row: a row of best keys and a row of their positions stay in L1.
    fn sweep<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
        rows: (isize, &[Dim]),
        out: &mut [i64],
    ) {
        if out.len() <= FOLDED {
            self.sweep_in(order, source, rows, &mut Lines([K::ZERO; FOLDED]).0, out);
        } else {
            self.sweep_in(order, source, rows, &mut Lines([K::ZERO; COLUMNS]).0, out);
        }
    }

    /// [`sweep`](Self::sweep) some room for keys.
    fn sweep_in<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
        rows: (isize, &[Dim]),
        keys: &mut [K],
        out: &mut [i64],
    ) {
        let keys = &mut keys[..out.len()];
        if source.native().is_some() && self.plan.inner.x == 1 {
            self.sweep_by(order, source, rows, &mut [], (keys, out));
        } else {
            self.sweep_by(order, source, rows, &mut [C::ZERO; COLUMNS], (keys, out));
        }
    }

    /// [`sweep`](Self::sweep) a tile that rows are copied to, or nothing where they are read in place.
    #[inline(never)]
    fn sweep_by<C: Compute, K: Compute>(
        &self,
        order: &dyn AnyOrder<C, K>,
        source: &Source<'_, C>,
        (start, dims): (isize, &[Dim]),
        tile: &mut [C],
        (keys, out): (&mut [K], &mut [i64]),
    ) {
        let native = source.native().filter(|_| tile.is_empty());
        let width = out.len();
        let (mut offsets, mut positions) = ([0; ROWS], Lines([0u32; COLUMNS]));
        let positions = &mut positions.0[..width];
        let rows = count(dims);
        // As many rows as fit in the tile.
        let batch = match native {
            Some(_) => ROWS,
            None => (COLUMNS / width).clamp(1, ROWS),
        };
        for first in (0..rows).step_by(batch) {
            let count = batch.min(rows - first);
            for (row, offset) in offsets[..count].iter_mut().enumerate() {
                *offset = (start + offset_at(dims, first + row)) as usize;
            }
            if native.is_none() {
                let tile = &mut tile[..count * width];
                source.load_rows(&offsets[..count], self.plan.inner.x, tile);
                let places = offsets.iter_mut().zip((0..).step_by(width));
                places.for_each(|(offset, place)| *offset = place);
            }
            positions.fill(u32::MAX);
            let rows = Rows {
                data: native.unwrap_or(tile),
                offsets: &offsets[..count],
                width,
            };
            order.step(rows, first == 0, keys, positions);
            for (out, &position) in out.iter_mut().zip(positions.iter()) {
                // A choice, not a branch: positions change too often to be guessed.
                let found = first as i64 + i64::from(position);
                *out = if position == u32::MAX { *out } else { found };
            }
        }
    }
}

/// Columns of rows that are joined to wide ones.
const NARROW: usize = 32;
/// Elements that a thread searches at a time, where it can be so few.
const SHARE: usize = 1 << 16;
/// Elements of runs that are copied together.
pub(crate) const COPIED: usize = 1024;
/// Elements of a run from which on it is searched alone, not copied together with others.
const LONG_RUN: usize = 256;
/// Pieces that threads search before their results are stored.
const BATCH: usize = 64;
/// Outputs that are found by one call where room for more would cost more than the call.
const FEW_COLUMNS: usize = 128;
/// Blocks of a superblock, the unit that threads share.
const SUPERBLOCK: usize = 64;

/// How many runs of so many elements are searched by one call.
pub(crate) fn runs_at_a_time(len: usize) -> usize {
    if len < 2 * FEW { COLUMNS } else { FEW_COLUMNS }
}

/// Whether searching so many elements is worth several threads.
fn is_worth_threads<C>(elements: usize) -> bool {
    threads::are_worth(elements.saturating_mul(size_of::<C>()), false)
}
