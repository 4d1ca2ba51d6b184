//! Walking an array for a reduction: what is one block, and in which order totals merge.
//!
//! Two paths. *Inner*: the smallest step belongs to a reduced axis, so every output folds runs of at most
//! [`BLOCK`] elements. *Sweep*: it belongs to a kept axis, so rows of up to [`COLUMNS`] outputs are folded
//! together, [`ROWS`] input rows at a time. Anything that is not a unit-stride run of the compute type is first copied
//! to an L1 tile, by its longer axis: short runs are swept, and few columns that lie apart are runs.
//!
//! Order: axes are walked from the largest stride to the smallest, whatever their logical order. Blocks merge into
//! superblocks of [`SUPERBLOCK`] blocks, superblocks into the result, each from first to last. The split depends on shape,
//! strides and dtype alone, so every thread count gives the same bits.

pub(crate) mod at_once;
mod rows;
mod shape;
mod threaded;

use self::shape::{Facts, Shape, are_packed};
use std::ops::Range;
use std::slice::from_mut;

use crate::across::FEW;
use crate::numeric::Compute;
use crate::reduce_data::Runs;
use crate::reduce_fold::{BLOCK, COLUMNS, LANES, LaneRoom, ROWS, Reducer};
use crate::reduce_lifted::{Lift, fold_blocks};
use crate::reduce_narrow::rows_of_block;
use crate::reduce_plan::{Piece, Plan, Sink};
use crate::strided::{Dim, Source, offset_at};
use crate::threads;
use crate::tile::Scratch;

/// Under which name memory is asked for.
const OP: &str = "reduce";
/// Blocks of a superblock, the unit that threads share.
const SUPERBLOCK: usize = 64;
/// Elements of short runs that are gathered together: a full block would drive what is gathered from out of L1.
const GATHERED: usize = 1024;
/// Outputs of a piece of runs: few enough that filling and finishing their totals stays cheap.
const OUTPUTS: usize = 256;

/// Any reducer with these totals and values: walks of reducers that differ in arithmetic alone are the same code.
type AnyReducer<'a, C, T, V> = dyn Reducer<C, Total = T, Value = V> + 'a;

/// One reduction at work: the plan, the data and the reducer.
struct Walk<'a, C: Compute, T, V> {
    plan: &'a Plan,
    source: &'a Source<'a, C>,
    reducer: &'a AnyReducer<'a, C, T, V>,
    /// Whether threads share the work.
    threaded: bool,
    /// Halves of long rows, which are folded as they are read: on every instruction set, since a tile holds fewer rows of them than
    /// are folded before totals are lifted.
    lifted: Option<Lift<'a, C>>,
    /// Whether rows are folded.
    sweep: bool,
    /// Outputs of a piece.
    width: usize,
    /// Rows laid side by side when output rows are very narrow (1 otherwise).
    fold: usize,
    /// Whether rows of a few elements are folded where they lie.
    narrow: bool,
    /// Whether runs along the innermost reduced axis are blocks, or several of them, rather than gathered to full ones.
    runs: bool,
    /// Whether those of many outputs at one place of the outer reduced axes are folded by one call.
    many: bool,
}

/// Runs a reduction and hands out `(output offset, output stride, values)` runs.
pub(crate) fn run<C: Compute, T: Copy + Send + Sync, V: Compute>(
    plan: &Plan,
    source: &Source<'_, C>,
    reducer: &AnyReducer<'_, C, T, V>,
    sink: &mut Sink<'_, V>,
) {
    if !at_once::run(plan, source, reducer, sink) {
        Walk::new(plan, source, reducer).run(sink);
    }
}

/// How a reduction is divided: into pieces, those into parts, or several of them folded by one call.
#[derive(Clone, Copy)]
struct Split {
    pieces: usize,
    parts: usize,
    together: usize,
}

impl<'a, C: Compute, T: Copy + Send + Sync, V: Compute> Walk<'a, C, T, V> {
    fn new(
        plan: &'a Plan,
        source: &'a Source<'a, C>,
        reducer: &'a AnyReducer<'a, C, T, V>,
    ) -> Self {
        let are_long = plan.inner.x == 1 && plan.inner.size >= LANES;
        let lifted = source.lift(1).filter(|_| are_long && reducer.lifts_rows());
        // What does not lie in line, or is converted, is copied first.
        let lies = plan.inner.x == 1 || plan.reduced.last().is_some_and(|dim| dim.stride == 1);
        let heavy = reducer.is_heavy() || source.native().is_none() || !lies;
        let work = (plan.lines() * plan.inner.size).saturating_mul(plan.depth());
        let threaded = threads::are_worth(work.saturating_mul(size_of::<C>()), heavy);
        let facts = Facts {
            threaded,
            native: source.native().is_some(),
            lifted: lifted.is_some(),
            computed: source.is_computed(),
            size: size_of::<C>(),
            columns: reducer.columns(),
            narrow: !source.is_computed() && reducer.takes_narrow(),
            shortest: reducer.shortest_run(),
        };
        let Shape {
            sweep,
            narrow,
            runs,
            many,
            width,
            fold,
        } = Shape::of(plan, facts);
        Self {
            plan,
            source,
            reducer,
            threaded,
            lifted,
            sweep,
            width,
            fold,
            narrow,
            runs,
            many,
        }
    }

    /// As [`run`].
    fn run(&self, sink: &mut Sink<'_, V>) {
        let (pieces, parts) = (self.plan.pieces(self.width), self.parts());
        if self.threaded && pieces * parts > 1 {
            if parts > 1 || self.run_whole(pieces, sink).is_none() {
                self.run_threaded(pieces, parts, sink);
            }
            return;
        }
        let together = if pieces > 1 { self.together(parts) } else { 1 };
        let split = Split {
            pieces,
            parts,
            together,
        };
        let width = self.width.min(self.plan.inner.size) * together;
        let (empty, others) = (self.reducer.empty(), if parts > 1 { width } else { 0 });
        if width > COLUMNS {
            let mut totals = vec![empty; width];
            let mut scratch = totals[..others].to_vec();
            return self.run_alone(split, [&mut totals, &mut scratch], sink);
        }
        let mut room: [LaneRoom<T, COLUMNS>; 2] = [const { LaneRoom::new() }; 2];
        let [totals, scratch] = &mut room;
        let rooms = [totals.filled(width, empty), scratch.filled(others, empty)];
        self.run_alone(split, rooms, sink);
    }

    /// On this thread, with room for the totals of a piece, and for those of a part where there are several.
    #[inline(never)]
    fn run_alone(
        &self,
        Split {
            pieces,
            parts,
            together,
        }: Split,
        [totals, scratch]: [&mut [T]; 2],
        sink: &mut Sink<'_, V>,
    ) {
        let mut next = 0;
        while next < pieces {
            let (index, piece) = (next, self.plan.piece(next, self.width));
            let sets = if together == 1 {
                1
            } else {
                let row = self.plan.last_outer().size;
                together.min(row - next % row)
            };
            next += sets;
            let totals = &mut totals[..sets * piece.width];
            if parts == 1 {
                self.unit(piece, 0, totals);
            } else {
                let scratch = &mut scratch[..piece.width];
                totals.fill(self.reducer.empty());
                for part in 0..parts {
                    self.unit(piece, part, scratch);
                    self.reducer.merge_all(totals, scratch);
                }
            }
            // Results of each set lie elsewhere, or all in a row.
            let all = sets == 1 || self.plan.row() > 1;
            let each = if all { totals.len() } else { piece.width };
            for (set, totals) in totals.chunks(each).enumerate() {
                let piece = self.plan.piece(index + set, self.width);
                self.finish(piece, totals, sink);
            }
        }
    }

    #[inline(never)]
    fn finish(&self, piece: Piece, totals: &[T], sink: &mut Sink<'_, V>) {
        let depth = self.plan.depth();
        if let [_] = totals {
            let mut value = [V::ZERO];
            self.reducer.finish(totals, depth, &mut value);
            sink(piece.out, 1, &value);
            return;
        }
        let mut values = [V::ZERO; 64];
        for (chunk, totals) in totals.chunks(64).enumerate() {
            let values = &mut values[..totals.len()];
            self.reducer.finish(totals, depth, values);
            let stride = self.plan.inner.out;
            let out = piece.out + (chunk * 64) as isize * stride;
            sink(out, stride, values);
        }
    }

    /// Pieces folded by one call: several where their rows are short, one block each and folded where they lie.
    fn together(&self, parts: usize) -> usize {
        let (plan, width) = (self.plan, self.plan.inner.size);
        let (depth, computed) = (plan.depth(), self.source.is_computed());
        if self.narrow && self.sweep && parts == 1 {
            return plan.last_outer().size.min(OUTPUTS / width);
        }
        let few = (1..=ROWS).contains(&depth) && parts == 1 && self.fold == 1;
        let short = (1..=COLUMNS / 2).contains(&width) && self.width >= width;
        if !self.sweep || computed || !few || !short || !self.reducer.takes_sets() {
            return 1;
        }
        let most = plan.last_outer().size.min(COLUMNS / width);
        let area = depth * width;
        if self.source.native().is_some() && plan.inner.x == 1 {
            most
        } else if are_packed(plan) && plan.last_outer().x == area as isize {
            // Converted by one call.
            most.min(BLOCK / area).max(1)
        } else {
            most.min(BLOCK / area).min(ROWS / depth).max(1)
        }
    }

    /// Superblocks of a piece: at least one.
    fn parts(&self) -> usize {
        let blocks = if self.narrow {
            self.plan.depth().div_ceil(rows_of_block(self.pitch()))
        } else if self.sweep {
            (self.plan.depth() / self.fold).div_ceil(ROWS)
        } else {
            self.blocks()
        };
        blocks.div_ceil(SUPERBLOCK).max(1)
    }

    /// The totals of one superblock of a piece, whatever they were.
    #[inline(never)]
    fn unit(&self, piece: Piece, part: usize, totals: &mut [T]) {
        if self.plan.depth() == 0 {
            // Offsets of an array without elements point nowhere.
            return totals.fill(self.reducer.empty());
        }
        match (self.sweep, self.fold) {
            _ if self.narrow => self.unit_narrow(piece, part, totals),
            (false, _) => self.unit_inner(piece, part, totals),
            (true, 1) => {
                let first = part * SUPERBLOCK * ROWS;
                let last = self.plan.depth().min(first + SUPERBLOCK * ROWS);
                self.sweep(piece, first..last, totals, true);
            }
            (true, _) => self.unit_folded(piece, part, totals),
        }
    }
}

// The inner path.
impl<C: Compute, T: Copy + Send + Sync, V: Compute> Walk<'_, C, T, V> {
    /// The data, when runs along the innermost reduced axis are folded where they lie.
    fn direct_runs(&self) -> Option<&[C]> {
        self.source.native().filter(|_| self.runs)
    }

    fn blocks(&self) -> usize {
        let last = self.plan.reduced.last().map_or(1, |dim| dim.size);
        if self.runs {
            self.plan.depth() / last.max(1) * last.div_ceil(BLOCK)
        } else {
            self.plan.depth().div_ceil(BLOCK)
        }
    }

    fn unit_inner(&self, piece: Piece, part: usize, totals: &mut [T]) {
        let first = part * SUPERBLOCK;
        let last = self.blocks().min(first + SUPERBLOCK);
        let step = self.plan.inner.x;
        let is_native = self.source.native().is_some();
        if self.many && (totals.len() >= FEW || !is_native) {
            let len = if is_native { 0 } else { BLOCK };
            let mut scratch = Scratch::take(len * size_of::<C>());
            return self.unit_of_many(piece, first..last, scratch.numbers(len), totals);
        }
        if let Some(data) = self.direct_runs() {
            let (start, step) = (piece.x as usize, step as usize);
            if self.plan.reduced.len() == 1 && self.plan.depth() <= BLOCK {
                let runs = Runs::new(data, start, step, self.plan.depth());
                self.reducer.runs(runs, totals);
                return;
            }
            for (column, total) in totals.iter_mut().enumerate() {
                *total = self.superblock(data, start + column * step, first..last);
            }
            return;
        }
        let input = (self.plan, self.source);
        if fold_blocks(input, self.reducer, (piece.x, first..last), totals) {
            // Done as they were read.
        } else if self.source.is_computed() {
            self.unit_gathered(piece, first..last, &mut [C::ZERO; BLOCK], totals);
        } else {
            let mut scratch = Scratch::take(BLOCK * size_of::<C>());
            self.unit_gathered(piece, first..last, scratch.numbers(BLOCK), totals);
        }
    }

    /// As [`superblock`](Self::superblock) for many outputs, in the order of memory: blocks are runs here, copied where they must
    /// be converted.
    fn unit_of_many(&self, piece: Piece, blocks: Range<usize>, tile: &mut [C], totals: &mut [T]) {
        let Some((run, outer)) = self.plan.reduced.split_last() else {
            return;
        };
        let (empty, step) = (self.reducer.empty(), self.plan.inner.x);
        let together = tile.len().checked_div(run.size).unwrap_or(0).max(1);
        let mut room = LaneRoom::<T, OUTPUTS>::new();
        let of_block = room.filled(totals.len(), empty);
        totals.fill(empty);
        for block in blocks {
            let start = piece.x + offset_at(outer, block);
            if let Some(data) = self.source.native() {
                let runs = Runs::new(data, start as usize, step as usize, run.size);
                self.reducer.runs(runs, of_block);
            } else {
                for (group, totals) in of_block.chunks_mut(together).enumerate() {
                    let (start, size) = (start + (group * together) as isize * step, totals.len());
                    let tile = &mut tile[..size * run.size];
                    let lines = Dim { size, stride: step };
                    self.source.load_lines(start, lines, *run, tile);
                    self.reducer
                        .runs(Runs::new(tile, 0, run.size, run.size), totals);
                }
            }
            self.reducer.merge_all(totals, of_block);
        }
    }

    /// Folds some blocks of one output, from first to last; those of one length that are an even step apart by one call.
    fn superblock(&self, data: &[C], start: usize, blocks: Range<usize>) -> T {
        let (mut next, mut total) = (blocks.start, self.reducer.empty());
        // Full blocks of a long run, or short runs that are one block each.
        let (full, step, len) = match *self.plan.reduced.as_slice() {
            [whole] => (whole.size / BLOCK, BLOCK, BLOCK),
            [runs, run] if run.size <= BLOCK => (runs.size, runs.stride as usize, run.size),
            _ => (next, 0, 0),
        };
        let full = blocks.end.min(full) - next;
        if full > 0 {
            let mut totals = [self.reducer.empty(); SUPERBLOCK];
            let runs = Runs::new(data, start + next * step, step, len);
            self.reducer.runs(runs, &mut totals[..full]);
            for block in totals[..full].chunks(1) {
                self.reducer.merge_all(from_mut(&mut total), block);
            }
            next += full;
        }
        let with =
            |total, block| self.with_run(total, self.direct_block(data, start as isize, block));
        (next..blocks.end).fold(total, with)
    }

    /// A total and the total of one more run, merged.
    fn with_run(&self, mut total: T, run: &[C]) -> T {
        let mut block = [self.reducer.empty()];
        self.reducer.runs(Runs::one(run), &mut block);
        self.reducer.merge_all(from_mut(&mut total), &block);
        total
    }

    #[inline(never)]
    fn unit_gathered(&self, piece: Piece, blocks: Range<usize>, tile: &mut [C], totals: &mut [T]) {
        let (depth, step) = (self.plan.depth(), self.plan.inner.x);
        if depth <= tile.len() {
            // Several outputs fit in the tile: gathered together and folded by one call.
            let together = (tile.len().min(GATHERED) / depth).max(1);
            for (group, totals) in totals.chunks_mut(together).enumerate() {
                let (first, size) = ((group * together) as isize, totals.len());
                let start = piece.x + first * step;
                let tile = &mut tile[..size * depth];
                if let [line] = *self.plan.reduced.as_slice() {
                    let lines = Dim { size, stride: step };
                    self.source.load_lines(start, lines, line, tile);
                } else {
                    for (column, line) in (0..).zip(tile.chunks_mut(depth)) {
                        self.load_block(start + column * step, 0, line);
                    }
                }
                self.reducer.runs(Runs::new(tile, 0, depth, depth), totals);
            }
            return;
        }
        for (column, total) in totals.iter_mut().enumerate() {
            let start = piece.x + column as isize * step;
            *total = self.reducer.empty();
            for block in blocks.clone() {
                let len = self.load_block(start, block, tile);
                *total = self.with_run(*total, &tile[..len]);
            }
        }
    }

    fn direct_block<'d>(&self, data: &'d [C], start: isize, block: usize) -> &'d [C] {
        let (last, outer) = self
            .plan
            .reduced
            .split_last()
            .map_or((1, &[][..]), |(l, o)| (l.size, o));
        let per_run = last.div_ceil(BLOCK);
        let (run, at) = (block / per_run, block % per_run * BLOCK);
        let from = (start + offset_at(outer, run)) as usize + at;
        &data[from..from + BLOCK.min(last - at)]
    }

    /// Gathers the elements of a block, run after run; returns how many there are.
    fn load_block(&self, start: isize, block: usize, tile: &mut [C]) -> usize {
        let first = block * BLOCK;
        let len = BLOCK.min(self.plan.depth() - first);
        let tile = &mut tile[..len];
        self.source
            .load_walk(start, &self.plan.reduced, first, tile);
        len
    }
}
