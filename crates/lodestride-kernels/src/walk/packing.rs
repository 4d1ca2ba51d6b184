//! Short runs, packed together into tiles: when they are, and how.

use super::{TILE, Target, Walk, overwritten};
use crate::frame::{Frame, Setup, TILE_BUDGET};
use crate::lane::{Access, Lane};
use crate::nest_form::{is_dense, is_repeating};
use crate::plan::{Reach, Source};
use crate::scalar::BLOCK;
use crate::stream;
use crate::tile;
use crate::tile_runs::EvenRuns;
use std::ops::Range;

/// Runs shorter than this are packed together into tiles.
const SHORT: usize = 64;

/// The same where a run is one call of a kernel, which is begun in the time of eight elements: a column added to 4096 rows of 16 `f32`
/// takes 10 us so and 19 packed, one of 4096 rows of 32 12 and 38.
const SHORTEST: usize = 8;

/// The same where kernels are begun slowly: functions in the middle of a block. Powers of 4096 rows of 100 `f32` by a column take
/// 0.51 ms packed and 0.75 row by row.
const SHORT_OF_SLOW: usize = 256;

/// Kernels from which on to begin them takes as long: of converted halves times a number, 10,000 rows of 100 with gaps took 0.42 ms row
/// by row.
const SEVERAL: usize = 3;

/// The same beside an element that is spread over a tile first, of which those of several runs are made together.
const SHORT_OF_SPREAD: usize = TILE / 2 + 1;

/// The same where elements are gathered into a tile anyway, which one run after the other would each begin anew: 4096 reversed rows of 64
/// bytes beside others took 0.15 ms row by row.
const SHORT_OF_GATHERED: usize = TILE / 2 + 1;

/// Bytes of a run up to which its repetitions are packed, where nothing else would have to be.
const REPEATED: usize = 4096;

/// The same where a run is one call of a kernel. A row added to rows of 1000 `f32` takes 91 us so on an EPYC of family 25 (model 17), and
/// 107 packed, to rows of 33 123 and 112.
const REPEATED_BY_ONE_CALL: usize = 255;

impl Walk<'_, '_> {
    /// Whether runs are packed: short ones, and those that operands repeat beside dense ones, whose tile is filled once.
    pub(super) fn packs(&self, target: Target) -> bool {
        let (nest, count) = (self.nest, self.places.len());
        if nest.run_count() == 1 || (0..count).all(|place| is_dense(nest, place)) {
            return false;
        }
        let fills_once = |place| is_dense(nest, place) || is_repeating(nest, place);
        let one_call = self.is_one_call();
        let repeated = if one_call {
            REPEATED_BY_ONE_CALL
        } else {
            REPEATED
        };
        nest.inner_len() < self.shortest(one_call)
            || target == Target::Memory
                && nest.inner_len() * self.width() <= repeated
                && self.tile_holds(2)
                && (0..count).all(fills_once)
                && !stream::pays(self.footprint())
    }

    /// Whether a tile holds so many runs. If not, runs are cut, and what is repeated is gathered anew for each piece: 1000 rows of 1000
    /// `f32` in eight steps beside four repeated rows took 2.5 ms, and 1.6 run after run.
    fn tile_holds(&self, runs: usize) -> bool {
        let streams = self.slot_places.len() + self.plan.tiles;
        runs * self.nest.inner_len() * self.width() * streams <= TILE_BUDGET
    }

    /// Runs shorter than this are packed; `one_call` says that [each is one](Self::is_one_call).
    fn shortest(&self, one_call: bool) -> usize {
        let loads = self.outputs..self.places.len();
        let strides = self.nest.inner_strides();
        let is_apart = |place: usize| !matches!(strides[place], 0 | 1);
        let gathers = loads.clone().any(is_apart)
            && (0..self.places.len()).all(|place| is_apart(place) || is_dense(self.nest, place));
        let narrow = self.places[loads.clone()]
            .iter()
            .any(|place| place.size < size_of::<f32>());
        let spreads = strides[loads].contains(&0);
        let in_blocks = self.nest.inner_len().is_multiple_of(BLOCK);
        if one_call {
            SHORTEST
        } else if gathers && !self.plan.heavy {
            SHORT_OF_GATHERED
        } else if spreads && !self.plan.heavy {
            SHORT_OF_SPREAD
        } else if (self.plan.heavy || self.plan.steps.len() >= SEVERAL) && (narrow || !in_blocks) {
            SHORT_OF_SLOW
        } else {
            SHORT
        }
    }

    /// Whether one kernel goes from memory to memory, run after run, and is begun soon: of bytes and halves it is not.
    fn is_one_call(&self) -> bool {
        let [step] = self.plan.steps else {
            return false;
        };
        let (strides, places) = (self.nest.inner_strides(), &self.places);
        let shared = |load: usize| {
            self.load_place(load)
                .is_some_and(|place| places[place].shared)
        };
        let over = overwritten(self.plan).filter(|&load| shared(load));
        let reach = |source| match source {
            Source::Load(load) => match self.load_place(load).map(|place| strides[place]) {
                None | Some(0) => Some(Reach::One),
                Some(1) if over == Some(load) => Some(Reach::Over),
                Some(1) if !shared(load) => Some(Reach::Each),
                Some(_) => None,
            },
            Source::Step(_) => None,
        };
        let outputs = self.outputs == 1 && strides[0] == 1 && places[0].shared == over.is_some();
        outputs
            && !self.plan.heavy
            && self.plan.results == [Source::Step(0)]
            && places[1..]
                .iter()
                .all(|place| place.size >= size_of::<f32>())
            && step.action.is_one_call(reach)
    }

    /// Short runs: pieces of many runs are packed into a tile, so that the kernels see long stretches.
    pub(super) fn pack(&self, frame: &mut Frame<'_, '_>, setup: &Setup<'_>, range: Range<usize>) {
        let inner = self.nest.inner_len();
        let longest = setup.chunk.min(range.len()).max(1);
        // Whole runs, so that an operand that repeats one run fills its tile once for all.
        let whole = if longest > inner {
            longest - longest % inner
        } else {
            longest
        };
        let mut begin = range.start;
        // Whether tiles begin with a run.
        let mut filled = false;
        while begin < range.end {
            let behind = begin % inner;
            let size = if behind == 0 {
                whole
            } else {
                longest.min(inner - behind)
            };
            let n = size.min(range.end - begin);
            let first = begin == range.start;
            for (slot, place) in self.slot_places.iter().enumerate() {
                let Some(place) = *place else { continue };
                let keep = filled && behind == 0 && is_repeating(self.nest, place);
                self.place_packed(frame, slot, place, begin..begin + n, keep);
            }
            filled = behind == 0;
            frame.arrange();
            if first {
                // SAFETY: scalars are placed, and no tile is longer.
                unsafe { frame.prologue(longest) };
            }
            // SAFETY: every slot holds a pointer to `n` elements: the memory of a dense operand or a tile.
            unsafe { frame.calls(n) };
            for output in 0..self.outputs {
                self.store_packed(frame, output, begin..begin + n);
            }
            begin += n;
        }
    }

    /// Puts the elements `range` of an operand in its slot; `keep` says that its tile holds them already.
    fn place_packed(
        &self,
        frame: &mut Frame<'_, '_>,
        slot: usize,
        place: usize,
        range: Range<usize>,
        keep: bool,
    ) {
        let lane = frame.lanes[slot];
        let pointer = match lane.access {
            Access::Direct => self.dense_at(place, lane.at, range.start),
            Access::Scalar => self.dense_at(place, lane.at, 0),
            Access::Tiled => {
                let tile = frame.tile(slot);
                let mut filled = tile;
                if slot >= self.outputs && !keep && !self.repeat_runs(tile, place, &range) {
                    self.for_each_piece(place, range, |runs| {
                        // SAFETY: the nest visits elements of the operand's layout inside its opened buffer; the pieces
                        // of a range of at most a tile's elements fit the tile one after the other.
                        unsafe { gather_runs(&lane, filled, runs) };
                        filled = filled.wrapping_add(runs.bytes());
                    });
                }
                tile
            }
        };
        frame.place(slot, pointer);
    }

    /// Fills a tile with [even runs](Walk::even_runs) of one element each; or does nothing and answers false.
    fn repeat_runs(&self, tile: *mut u8, place: usize, range: &Range<usize>) -> bool {
        let (nest, size) = (self.nest, self.places[place].size);
        let is_one = nest.inner_strides()[place] == 0;
        let Some((first, step)) = self.even_runs(place, range).filter(|_| is_one) else {
            return false;
        };
        let runs = (range.len() / nest.inner_len(), nest.inner_len());
        // SAFETY: the nest visits elements of the operand's layout inside its opened buffer; a range of at most a tile's elements.
        unsafe { tile::repeat(tile, first, (size, step), runs) };
        true
    }

    /// Brings to the elements `range` of an output what no call has written there.
    fn store_packed(&self, frame: &Frame<'_, '_>, output: usize, range: Range<usize>) {
        let from = frame.result(output);
        if is_dense(self.nest, output) {
            let base = frame.lanes[output].at;
            let lane = Lane {
                at: self.dense_at(output, base, range.start),
                stride: 1,
                ..frame.lanes[output]
            };
            if lane.at != from {
                // SAFETY: the nest visits elements of the output's layout inside its opened buffer, no other thread writes
                // this range, and the value is in a tile or in another operand's memory.
                unsafe { frame.write(&lane, from, range.len()) };
            }
            return;
        }
        let mut rest = from.cast_const();
        self.for_each_piece(output, range, |runs| {
            // SAFETY: as above; the value's elements are one after the other.
            unsafe { runs.scatter(rest) };
            rest = rest.wrapping_add(runs.bytes());
        });
    }
}

/// Copies runs of the operand of a lane to a tile.
///
/// # Safety
/// As [`EvenRuns::gather`].
unsafe fn gather_runs(lane: &Lane, tile: *mut u8, runs: EvenRuns) {
    // SAFETY: the caller's contract.
    if unsafe { runs.gather(tile) } {
        return;
    }
    for run in 0..runs.count {
        let (at, stride) = (runs.run(run), runs.stride);
        let piece = Lane {
            at,
            stride,
            ..*lane
        };
        // SAFETY: the caller's contract for one run.
        unsafe { piece.gather(tile.wrapping_add(run * runs.len * runs.size), runs.len) };
    }
}
