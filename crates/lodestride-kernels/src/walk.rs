//! The walk over the runs of a call: where each operand of a run begins, and short runs packed into tiles. What happens
//! within a run is `frame.rs`' business.
#![expect(
    unsafe_code,
    reason = "the walk hands raw pointers to frames and moves elements of short runs to and from tiles"
)]

mod packing;

use crate::code::{Code, Job, LoadKind};
use crate::frame::{Frame, Setup};
use crate::isa::Level;
use crate::lane::{Access, Lane, Lanes};
use crate::nest_form::{is_constant, is_dense};
use crate::plan::{Action, Load, Plan, Source};
use crate::stream;
use crate::tile_runs::EvenRuns;
use lodestride_buffer::Element;
use lodestride_shape::LoopNest;
use smallvec::SmallVec;
use std::ops::Range;

/// Elements per piece of work: threads begin at multiples of it.
pub(crate) const TILE: usize = 1024;

/// An operand's memory as the walk sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Where the operand's layout begins.
    pub(crate) base: *mut u8,
    pub(crate) size: usize,
    /// Whether it is the same elements as an output (or, of an output, as an input), position for position.
    pub(crate) shared: bool,
    /// Whether what lies between its elements may be read too: no output is in its block.
    pub(crate) gaps: bool,
}

/// What a walk writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The outputs of the call.
    Memory,
    /// A tile that is read right after: [`Walk::fill`].
    Tile,
}

/// A call ready to run: pointers, strides and how to treat each operand.
#[derive(Clone, Debug)]
pub(crate) struct Walk<'p, 'a> {
    plan: &'p Plan<'p, 'a>,
    nest: &'p LoopNest,
    /// Outputs, then array loads.
    places: SmallVec<[Place; 6]>,
    /// For each slot the index of its place; `None` for a scalar.
    slot_places: SmallVec<[Option<usize>; 6]>,
    lanes: Lanes,
    outputs: usize,
    /// Pack short runs into tiles.
    packed: bool,
    streamed: bool,
    in_place: Option<usize>,
}

// SAFETY: the pointers stand for memory that guards held by the caller keep open for this call; parts of a walk that run
// on different threads write disjoint ranges of the nest, and an output layout has no element at two positions.
unsafe impl Sync for Walk<'_, '_> {}

/// `pointer` moved by whole elements. Only arithmetic: whoever reads through the result says why it may.
#[inline]
pub(crate) fn step_from(pointer: *mut u8, elements: isize, size: usize) -> *mut u8 {
    pointer.wrapping_offset(elements * size.cast_signed())
}

impl<'p, 'a> Walk<'p, 'a> {
    pub(crate) fn new(
        plan: &'p Plan<'p, 'a>,
        nest: &'p LoopNest,
        places: SmallVec<[Place; 6]>,
        target: Target,
    ) -> Walk<'p, 'a> {
        let outputs = plan.results.len();
        let mut slot_places: SmallVec<[Option<usize>; 6]> = (0..outputs).map(Some).collect();
        let mut next = outputs;
        for load in plan.loads {
            slot_places.push(matches!(load, Load::Array(..)).then_some(next));
            next += usize::from(matches!(load, Load::Array(..)));
        }
        let mut walk = Walk {
            plan,
            nest,
            places,
            slot_places,
            lanes: Lanes::new(),
            outputs,
            packed: false,
            streamed: false,
            in_place: None,
        };
        walk.packed = walk.packs(target);
        walk.lanes = (0..walk.slot_places.len())
            .map(|slot| walk.lane(slot))
            .collect();
        walk.choose_outputs(target);
        walk
    }

    /// Where the operand of a load is.
    fn load_place(&self, load: usize) -> Option<usize> {
        self.slot_places[self.outputs + load]
    }

    /// Bytes of the widest element.
    fn width(&self) -> usize {
        let sizes = self.places.iter().map(|place| place.size);
        let steps = self.plan.steps.iter().map(|step| step.dtype.size());
        sizes.chain(steps).max().unwrap_or(1)
    }

    /// The operand of a slot, before it is known how outputs are written.
    fn lane(&self, slot: usize) -> Lane {
        let Some(place) = self.slot_places[slot] else {
            let (at, size) = match &self.plan.loads[slot - self.outputs] {
                Load::Scalar(word, size) => (std::ptr::from_ref(word).cast_mut().cast(), *size),
                Load::Environment(pointer) => (pointer.cast_mut(), 0),
                // Arrays have places.
                Load::Array(..) => (std::ptr::null_mut(), 0),
            };
            let (stride, access) = (0, Access::Scalar);
            return Lane {
                at,
                stride,
                size,
                access,
                gaps: false,
            };
        };
        let Place {
            base, size, gaps, ..
        } = self.places[place];
        let stride = match self.nest.inner_strides()[place] {
            _ if self.nest.inner_len() == 1 => 1,
            stride => stride,
        };
        let (unit, constant) = if self.packed {
            (is_dense(self.nest, place), is_constant(self.nest, place))
        } else {
            (stride == 1, stride == 0)
        };
        let access = match (unit, constant) {
            (true, _) => Access::Direct,
            (false, true) => Access::Scalar,
            (false, false) => Access::Tiled,
        };
        Lane {
            at: base,
            stride,
            size,
            access,
            gaps,
        }
    }

    /// Decides between memory, tile and stream for every output.
    fn choose_outputs(&mut self, target: Target) {
        let (outputs, loads) = self.lanes.split_at(self.outputs);
        let direct = |lane: &Lane| lane.access == Access::Direct;
        let shared = self.places[..self.outputs].iter().any(|place| place.shared);
        // Packed pieces end within lines, which then would have to be read.
        self.streamed = target == Target::Memory
            && !shared
            && !self.packed
            && outputs.iter().all(direct)
            && stream::pays(self.footprint());
        self.in_place = overwritten(self.plan)
            .filter(|&load| shared && direct(&loads[load]) && outputs.iter().all(direct))
            .filter(|&load| {
                self.load_place(load)
                    .is_some_and(|place| self.places[place].shared)
            });
        for (lane, place) in self.lanes[..self.outputs].iter_mut().zip(&self.places) {
            // A shared output is written after all of a tile has been read.
            if self.streamed || (place.shared && self.in_place.is_none()) {
                lane.access = Access::Tiled;
            }
        }
        let Some(overwritten) = self.in_place else {
            return;
        };
        for (slot, lane) in self.lanes.iter_mut().enumerate().skip(self.outputs) {
            // The same memory once more: read before it is written over.
            if slot != self.outputs + overwritten
                && self.slot_places[slot].is_some_and(|place| self.places[place].shared)
            {
                lane.access = Access::Tiled;
            }
        }
    }

    /// The bytes the call reads and writes.
    pub(crate) fn bytes(&self) -> usize {
        let moving = self
            .lanes
            .iter()
            .filter(|lane| lane.access != Access::Scalar);
        self.nest.elements() * moving.map(|lane| lane.size).sum::<usize>()
    }

    /// The bytes of different elements among these: what an axis repeats stays in the caches, and so does what operands have in common.
    fn footprint(&self) -> usize {
        let nest = self.nest;
        let axes = 0..nest.sizes().len();
        let bytes = |index: usize| {
            let moving = (axes.clone()).filter(|&axis| nest.axis_strides(axis)[index] != 0);
            self.places[index].size * moving.map(|axis| nest.sizes()[axis]).product::<usize>()
        };
        let first = |index: usize| {
            let place = &self.places[index];
            step_from(place.base, nest.start()[index], place.size).addr()
        };
        let is_alike = |left: usize, right: usize| {
            let mut strides = axes.clone().map(|axis| nest.axis_strides(axis));
            strides.all(|strides| strides[left] == strides[right])
        };
        // Of an array beside a shifted part of itself, as in differences of neighbours, what the other has not.
        let new = |index: usize| match index.checked_sub(1) {
            Some(other) if is_alike(other, index) => {
                bytes(index).min(first(other).abs_diff(first(index)))
            }
            _ => bytes(index),
        };
        (0..self.places.len()).map(new).sum()
    }

    /// The kernel calls of a tile.
    pub(crate) fn code(&self, level: Level) -> Code {
        let kinds: SmallVec<[LoadKind; 6]> = self.lanes[self.outputs..]
            .iter()
            .map(|lane| LoadKind {
                size: lane.size,
                scalar: lane.access == Access::Scalar,
            })
            .collect();
        let job = Job {
            steps: self.plan.steps,
            tiles: self.plan.tiles,
            loads: &kinds,
            results: self.plan.results,
            in_place: self.in_place,
        };
        job.compile(level)
    }

    /// How the code's tiles are laid out.
    pub(crate) fn setup<'c>(&self, code: &'c Code) -> Setup<'c> {
        let pace = (self.width(), self.plan.heavy);
        let mut scalars = self.lanes.iter().zip(&self.slot_places);
        let steady = scalars.all(|(lane, place)| {
            let is_constant = |place: usize| is_constant(self.nest, place);
            lane.access != Access::Scalar || place.is_none_or(is_constant)
        });
        let mut setup = Setup::new(code, self.outputs, &self.lanes, pace, self.streamed);
        setup.steady = steady;
        setup
    }

    /// Walks a range of the nest.
    pub(crate) fn range(&self, setup: &Setup<'_>, range: Range<usize>) {
        self.range_to(setup, range, self.places[0].base);
    }

    /// [`range`](Self::range) with the first operand, an output, at another base.
    fn range_to(&self, setup: &Setup<'_>, range: Range<usize>, out: *mut u8) {
        let mut frame = Frame::new(setup, &self.lanes, range.len());
        frame.lanes[0].at = out;
        if self.packed {
            self.pack(&mut frame, setup, range);
            return;
        }
        let steps = self.steps();
        let mut runs = self.nest.runs(range);
        while let Some(block) = runs.next_block() {
            for (lane, place) in frame.lanes.iter_mut().zip(&self.slot_places) {
                if let Some(place) = *place {
                    let offset = block.first.offsets[place];
                    let base = if place == 0 {
                        out
                    } else {
                        self.places[place].base
                    };
                    lane.at = step_from(base, offset, lane.size);
                }
            }
            // SAFETY: the nest visits elements of the operands' layouts inside their opened buffers, and no other thread
            // writes this range. Sources that overlap an output were copied, but for those that are its own elements:
            // either the code overwrites it in place or the output is tiled.
            unsafe { frame.run_block(block.first.len, block.count, &steps) };
        }
    }

    /// The bytes from a run of each slot's operand to the next one.
    fn steps(&self) -> SmallVec<[isize; 6]> {
        let outer = self.nest.sizes().len().checked_sub(2);
        let step = |place: &Option<usize>| match (*place, outer) {
            (Some(place), Some(axis)) => {
                let elements = self.nest.axis_strides(axis)[place];
                elements * self.places[place].size.cast_signed()
            }
            _ => 0,
        };
        self.slot_places.iter().map(step).collect()
    }

    /// Computes the elements of the only output from position `start` on into a tile instead.
    ///
    /// # Panics
    /// If the output is not dense over the nest, of another size than `T`, or has fewer elements.
    pub(crate) fn fill<T: Element>(&self, setup: &Setup<'_>, start: usize, tile: &mut [T]) {
        let end = start + tile.len();
        let dense = self.nest.elements() == 1 || is_dense(self.nest, 0);
        assert!(dense && self.outputs == 1 && end <= self.nest.elements());
        assert_eq!(self.places[0].size, size_of::<T>());
        let out = self.band_base(0, tile.as_mut_ptr().cast(), start);
        self.range_to(setup, start..end, out);
    }

    /// Makes an operand that is dense over the nest one of which only a band is in memory: position `begin` of the nest is at `start`.
    #[inline(never)]
    pub(crate) fn place_band(&mut self, place: usize, start: *mut u8, begin: usize) {
        let base = self.band_base(place, start, begin);
        self.places[place].base = base;
        for (lane, slot) in self.lanes.iter_mut().zip(&self.slot_places) {
            if *slot == Some(place) {
                lane.at = base;
            }
        }
    }

    /// The base of an operand that is dense over the nest and has position `begin` at `start`.
    fn band_base(&self, place: usize, start: *mut u8, begin: usize) -> *mut u8 {
        let before = begin.cast_signed() + self.nest.start()[place];
        step_from(start, -before, self.places[place].size)
    }

    /// The address of a position of an operand that is dense over the whole nest and has this base.
    fn dense_at(&self, place: usize, base: *mut u8, position: usize) -> *mut u8 {
        let offset = self.nest.start()[place] + position.cast_signed();
        step_from(base, offset, self.places[place].size)
    }

    /// Where the first run of a range is, and the elements from each to the next: of whole runs in a nest of two axes.
    fn even_runs(&self, place: usize, range: &Range<usize>) -> Option<(*mut u8, isize)> {
        let (nest, inner) = (self.nest, self.nest.inner_len());
        let is_whole = range.start.is_multiple_of(inner) && range.end.is_multiple_of(inner);
        (nest.sizes().len() == 2 && is_whole).then(|| {
            let Place { base, size, .. } = self.places[place];
            let step = nest.axis_strides(0)[place];
            let begin = nest.start()[place] + (range.start / inner).cast_signed() * step;
            (step_from(base, begin, size), step)
        })
    }

    /// Calls `piece` with the runs of a range, those together that are evenly apart.
    fn for_each_piece(&self, place: usize, range: Range<usize>, mut piece: impl FnMut(EvenRuns)) {
        let Place { base, size, .. } = self.places[place];
        let nest = self.nest;
        let (stride, inner) = (nest.inner_strides()[place], nest.inner_len());
        let runs = |at, step, count, len| EvenRuns {
            at,
            step,
            stride,
            size,
            count,
            len,
        };
        if let Some((first, step)) = self.even_runs(place, &range) {
            // The common case without the bookkeeping of more axes.
            return piece(runs(first, step, range.len() / inner, inner));
        }
        let mut blocks = nest.runs(range);
        while let Some(block) = blocks.next_block() {
            let at = step_from(base, block.first.offsets[place], size);
            let step = block.steps.get(place).copied().unwrap_or(0);
            piece(runs(at, step, block.count, block.first.len));
        }
    }
}

/// The load that the only step of a plan may write over: what its in-place form overwrites, if it appears once and is not
/// stored itself. Later steps of longer lists would read what an earlier one has written.
fn overwritten(plan: &Plan<'_, '_>) -> Option<usize> {
    let [step] = plan.steps else { return None };
    let first = match step.action {
        Action::Unary(kernel, source) if kernel.in_place.is_some() => source,
        Action::Binary(kernel, source, _) if kernel.zip_in_place.is_some() => source,
        Action::Ternary(kernel, .., source) if kernel.in_place.is_some() => source,
        _ => return None,
    };
    let Source::Load(load) = first else {
        return None;
    };
    let uses = step.action.sources().filter(|s| *s == first).count();
    let stored = plan.results.contains(&first);
    (uses == 1 && !stored && plan.results.len() == 1).then_some(load)
}
