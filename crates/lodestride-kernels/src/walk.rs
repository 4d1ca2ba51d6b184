//! The walk over the runs of a call: gathers tiles, calls kernels, scatters results. One thread's work is a `Worker`.
#![expect(unsafe_code, reason = "the walk hands raw pointers to erased kernels")]

use crate::isa::Level;
use crate::nest_form::{is_constant, is_dense, is_repeating};
use crate::plan::{Action, Load, Plan, Source, Step, WIDEST};
use crate::table;
use crate::tile::{self, Scratch};
use lodestride_shape::LoopNest;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// Elements per tile: a few tiles of the largest elements fit a 48 KiB L1 cache.
pub(crate) const TILE: usize = 1024;

/// Runs shorter than this are packed together into tiles.
const SHORT: usize = 64;

/// A slice of memory operand as the walk sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Where the operand's layout begins.
    pub(crate) base: *mut u8,
    pub(crate) size: usize,
    /// Whether a kernel may be given the memory itself.
    pub(crate) direct: bool,
}

/// Where a value is during one tile.
#[derive(Clone, Copy, Debug)]
struct Value {
    pointer: *mut u8,
    /// One element for the whole tile.
    scalar: bool,
}

/// A call ready to run: pointers, strides and how to treat each operand.
pub(crate) struct Walk<'p, 'a> {
    plan: &'p Plan<'p, 'a>,
    nest: &'p LoopNest,
    /// Outputs, then array loads.
    pub(crate) places: SmallVec<[Place; 6]>,
    /// For each load the index of its place; `None` for a scalar.
    load_places: SmallVec<[Option<usize>; 4]>,
    /// For each step the output it may write directly.
    direct_store: SmallVec<[Option<usize>; 4]>,
    /// Pack short runs into tiles.
    packed: bool,
    level: Level,
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
        outputs: usize,
    ) -> Walk<'p, 'a> {
        let load_places = (0..plan.loads.len())
            .map(|load| plan.array_number(load).map(|array| outputs + array))
            .collect();
        let mut direct_store: SmallVec<[Option<usize>; 4]> = smallvec![None; plan.steps.len()];
        for (index, (source, _, _)) in plan.stores.iter().enumerate() {
            if let Source::Step(step) = source {
                direct_store[*step].get_or_insert(index);
            }
        }
        let dense = |place: usize| is_dense(nest, place);
        let packed =
            nest.inner_len() < SHORT && nest.run_count() > 1 && !(0..places.len()).all(dense);
        Walk {
            plan,
            nest,
            places,
            load_places,
            direct_store,
            packed,
            level: Level::current(),
        }
    }

    /// Walks a range of the nest.
    pub(crate) fn range(&self, range: Range<usize>) {
        let tiles = self.plan.tiles + self.places.len() + 3;
        let mut scratch = Scratch::take(tiles * TILE * WIDEST);
        let mut worker = Worker {
            walk: self,
            tiles: scratch.pointer(),
            loads: self.plan.loads.iter().map(scalar_value).collect(),
            steps: smallvec![Value { pointer: std::ptr::null_mut(), scalar: false }; self.plan.steps.len()],
            outputs: smallvec![None; self.plan.stores.len()],
        };
        if self.packed {
            worker.packed(range);
        } else {
            worker.runs(range);
        }
    }
}

/// The value of a scalar load; a place-holder for an array.
fn scalar_value(load: &Load<'_>) -> Value {
    match load {
        Load::Array(..) => Value {
            pointer: std::ptr::null_mut(),
            scalar: false,
        },
        Load::Scalar(word, _) => Value {
            pointer: std::ptr::from_ref(word).cast_mut().cast(),
            scalar: true,
        },
    }
}

/// One thread's work on a walk.
struct Worker<'w, 'p, 'a> {
    walk: &'w Walk<'p, 'a>,
    /// Tile memory: the steps' tiles, one per place, three to spread scalars in.
    tiles: *mut u8,
    loads: SmallVec<[Value; 4]>,
    steps: SmallVec<[Value; 4]>,
    /// For each output the memory of the current tile, where it can be written directly.
    outputs: SmallVec<[Option<*mut u8>; 2]>,
}

impl Worker<'_, '_, '_> {
    fn tile(&self, index: usize) -> *mut u8 {
        self.tiles.wrapping_add(index * TILE * WIDEST)
    }

    /// The tile of a place.
    fn place_tile(&self, place: usize) -> *mut u8 {
        self.tile(self.walk.plan.tiles + place)
    }

    /// One of the three tiles for scalars a kernel wants as vectors.
    fn spread_tile(&self, index: usize) -> *mut u8 {
        self.tile(self.walk.plan.tiles + self.walk.places.len() + index)
    }

    /// Long runs: the operands that are dense or constant within a run need no tile.
    fn runs(&mut self, range: Range<usize>) {
        let walk = self.walk;
        let strides = walk.nest.inner_strides();
        let whole = self.fits_untiled();
        let mut runs = walk.nest.runs(range);
        while let Some(run) = runs.next_run() {
            let chunk = if whole { run.len } else { TILE };
            let mut begin = 0;
            while begin < run.len {
                let n = chunk.min(run.len - begin);
                let at = |place: usize| {
                    let offset = run.offsets[place] + begin.cast_signed() * strides[place];
                    step_from(walk.places[place].base, offset, walk.places[place].size)
                };
                for (index, output) in self.outputs.iter_mut().enumerate() {
                    *output = (strides[index] == 1 || n == 1).then(|| at(index));
                }
                for (load, place) in walk.load_places.iter().enumerate() {
                    let Some(place) = *place else { continue };
                    let (from, stride) = (at(place), strides[place]);
                    self.loads[load] = self.load(place, from, stride, n);
                }
                self.execute(n);
                self.store(n, |worker, output, tile| {
                    // SAFETY: the nest visits elements of the output's layout inside its opened buffer; no other
                    // thread writes this range, and the tile is this thread's own.
                    unsafe {
                        tile::scatter(
                            at(output),
                            strides[output],
                            tile,
                            worker.walk.places[output].size,
                            n,
                        )
                    };
                });
                begin += n;
            }
        }
    }

    /// Where a load is for a piece of a run.
    fn load(&self, place: usize, from: *mut u8, stride: isize, n: usize) -> Value {
        let Place { size, direct, .. } = self.walk.places[place];
        if direct && (stride == 1 || n == 1) {
            return Value {
                pointer: from,
                scalar: false,
            };
        }
        if direct && stride == 0 {
            return Value {
                pointer: from,
                scalar: true,
            };
        }
        let tile = self.place_tile(place);
        // SAFETY: the nest visits elements of the operand's layout inside its opened buffer; tile memory is apart, and
        // holds `TILE` of the widest elements: `n` is at most that, because `fits_untiled` was false.
        unsafe { tile::gather(tile, from, stride, size, n) };
        Value {
            pointer: tile,
            scalar: false,
        }
    }

    /// Whether runs can be given to the kernel whole, however long: one step, and no operand needs a tile.
    fn fits_untiled(&self) -> bool {
        let walk = self.walk;
        let strides = walk.nest.inner_strides();
        let outputs = self.outputs.len();
        let plain = |place: usize| match strides[place] {
            1 => walk.places[place].direct,
            0 => place >= outputs && walk.places[place].direct,
            _ => false,
        };
        let [step] = walk.plan.steps else {
            return false;
        };
        let scalar = |source: Source| match source {
            Source::Load(load) => walk.load_places[load].is_none_or(|place| strides[place] == 0),
            Source::Step(_) => false,
        };
        // Scalars without a form of their own are spread over a tile; a whole result from scalars is computed once.
        let forms = match step.action {
            Action::Unary(_, a) | Action::Cast(_, a) => !scalar(a),
            Action::Binary(kernel, a, b) => match (scalar(a), scalar(b)) {
                (false, false) => true,
                (false, true) => kernel.zip_scalar.is_some(),
                (true, false) => kernel.scalar_zip.is_some(),
                (true, true) => false,
            },
            Action::Select(_, a, b, c) => !(scalar(a) || scalar(b) || scalar(c)),
        };
        forms && outputs == 1 && (0..walk.places.len()).all(plain)
    }

    /// Short runs: pieces of many runs are packed into a tile, so that the kernels see long stretches.
    fn packed(&mut self, range: Range<usize>) {
        let walk = self.walk;
        let inner = walk.nest.inner_len();
        let aligned = range.start.is_multiple_of(inner);
        // Whole runs, so that an operand that repeats one run fills its tile once for all.
        let size = if aligned { TILE - TILE % inner } else { TILE };
        let repeats: SmallVec<[bool; 6]> = (0..walk.places.len())
            .map(|place| aligned && walk.places[place].direct && is_repeating(walk.nest, place))
            .collect();
        let mut begin = range.start;
        while begin < range.end {
            let n = size.min(range.end - begin);
            let tile = begin..begin + n;
            for output in 0..self.outputs.len() {
                self.outputs[output] =
                    is_dense(walk.nest, output).then(|| self.dense_at(output, begin));
            }
            for (load, place) in walk.load_places.iter().enumerate() {
                let Some(place) = *place else { continue };
                if begin == range.start || !repeats[place] {
                    self.loads[load] = self.load_packed(place, tile.clone());
                }
            }
            self.execute(n);
            self.store(n, |worker, output, from| {
                worker.scatter_packed(output, from, tile.clone())
            });
            begin += n;
        }
    }

    /// The address of a position of an operand that is dense over the whole nest.
    fn dense_at(&self, place: usize, position: usize) -> *mut u8 {
        let Place { base, size, .. } = self.walk.places[place];
        step_from(
            base,
            self.walk.nest.start()[place] + position.cast_signed(),
            size,
        )
    }

    fn load_packed(&self, place: usize, range: Range<usize>) -> Value {
        let Place { direct, .. } = self.walk.places[place];
        let nest = self.walk.nest;
        if direct && is_dense(nest, place) {
            return Value {
                pointer: self.dense_at(place, range.start),
                scalar: false,
            };
        }
        if direct && is_constant(nest, place) {
            return Value {
                pointer: self.dense_at(place, 0),
                scalar: true,
            };
        }
        let tile = self.place_tile(place);
        let mut filled = tile;
        self.for_each_piece(place, range, |from, stride, size, len| {
            // SAFETY: the nest visits elements of the operand's layout inside its opened buffer; the pieces of a range of
            // at most `TILE` elements fit the tile one after the other.
            unsafe { tile::gather(filled, from, stride, size, len) };
            filled = filled.wrapping_add(len * size);
        });
        Value {
            pointer: tile,
            scalar: false,
        }
    }

    fn scatter_packed(&self, output: usize, from: *const u8, range: Range<usize>) {
        let mut rest = from;
        self.for_each_piece(output, range, |to, stride, size, len| {
            // SAFETY: the nest visits elements of the output's layout inside its opened buffer, no other thread writes
            // this range, and the tile holds the range's elements one after the other.
            unsafe { tile::scatter(to, stride, rest, size, len) };
            rest = rest.wrapping_add(len * size);
        });
    }

    /// Calls `piece` with the address, the stride, the element size and the length of every run of a range.
    fn for_each_piece(
        &self,
        place: usize,
        range: Range<usize>,
        mut piece: impl FnMut(*mut u8, isize, usize, usize),
    ) {
        let Place { base, size, .. } = self.walk.places[place];
        let nest = self.walk.nest;
        let (stride, inner) = (nest.inner_strides()[place], nest.inner_len());
        if nest.sizes().len() == 2
            && range.start.is_multiple_of(inner)
            && range.end.is_multiple_of(inner)
        {
            // The common case without the bookkeeping of more axes.
            let outer = nest.axis_strides(0)[place];
            for run in range.start / inner..range.end / inner {
                let offset = nest.start()[place] + run.cast_signed() * outer;
                piece(step_from(base, offset, size), stride, size, inner);
            }
            return;
        }
        let mut runs = nest.runs(range);
        while let Some(run) = runs.next_run() {
            piece(
                step_from(base, run.offsets[place], size),
                stride,
                size,
                run.len,
            );
        }
    }

    fn value(&self, source: Source) -> Value {
        match source {
            Source::Load(load) => self.loads[load],
            Source::Step(step) => self.steps[step],
        }
    }

    /// Runs the steps over one tile of `n` elements.
    fn execute(&mut self, n: usize) {
        for index in 0..self.walk.plan.steps.len() {
            let step = &self.walk.plan.steps[index];
            let scalar = step
                .action
                .sources()
                .all(|source| self.value(source).scalar);
            let direct = self.walk.direct_store[index].and_then(|output| self.outputs[output]);
            // One element stays one element until it is stored.
            let (n, pointer) = match direct {
                Some(output) if !scalar => (n, output),
                _ => (if scalar { 1 } else { n }, self.tile(step.tile)),
            };
            self.call(step, n, pointer, scalar);
            self.steps[index] = Value { pointer, scalar };
        }
    }

    /// Runs one kernel. With `scalar` every source is one element, which as a vector of one needs no other form.
    fn call(&self, step: &Step, n: usize, dst: *mut u8, scalar: bool) {
        let vector = |source: Source, spare: usize| {
            let value = self.value(source);
            if value.scalar && !scalar {
                self.spread(value, element_size(self, source), spare, n)
            } else {
                value.pointer
            }
        };
        let unused = std::ptr::null();
        match step.action {
            Action::Unary(kernel, a) => {
                let a = self.value(a).pointer;
                match kernel.in_place {
                    // SAFETY: as for `map` below; the kernel reads and writes `dst` alone.
                    Some(in_place) if a == dst => unsafe {
                        in_place(n, dst, unused, unused, unused)
                    },
                    // SAFETY: sources hold `n` elements of the kernel's dtype (the plan's steps fit its loads), `dst`
                    // takes `n` of its result, and they are apart: tiles are separate, and sources that share memory
                    // with an output were copied, tiled, or are `dst` itself, which takes the other arm.
                    _ => unsafe { (kernel.map)(n, dst, a, unused, unused) },
                }
            }
            Action::Cast(kernel, a) => {
                let a = self.value(a).pointer;
                // SAFETY: as for `map`.
                unsafe { kernel(n, dst, a, unused, unused) }
            }
            Action::Select(kernel, a, b, c) => {
                let (a, b, c) = (vector(a, 0), vector(b, 1), vector(c, 2));
                // SAFETY: as for `map`; scalars have been spread over tiles of their own.
                unsafe { kernel(n, dst, a, b, c) }
            }
            Action::Binary(kernel, a, b) => {
                let (x, y) = (self.value(a), self.value(b));
                let form = match (x.scalar && !scalar, y.scalar && !scalar) {
                    (false, true) if x.pointer == dst => kernel.zip_scalar_in_place,
                    (false, true) => kernel.zip_scalar,
                    (true, false) => kernel.scalar_zip,
                    _ => None,
                };
                match (form, kernel.zip_in_place) {
                    // SAFETY: as for `map`; a source named scalar is one valid element, a source equal to `dst` is not
                    // read through its own pointer by the in-place forms.
                    (Some(form), _) => unsafe { form(n, dst, x.pointer, y.pointer, unused) },
                    (None, Some(in_place)) if x.pointer == dst => {
                        let b = vector(b, 1);
                        // SAFETY: as for `map`; the left operand is `dst`, the right one apart, spread if it is scalar.
                        unsafe { in_place(n, dst, unused, b, unused) }
                    }
                    (None, _) => {
                        let (a, b) = (vector(a, 0), vector(b, 1));
                        // SAFETY: as for `map`; scalars have been spread over tiles of their own.
                        unsafe { (kernel.zip)(n, dst, a, b, unused) }
                    }
                }
            }
        }
    }

    /// Fills a spare tile with one element.
    fn spread(&self, value: Value, size: usize, spare: usize, n: usize) -> *mut u8 {
        let tile = self.spread_tile(spare);
        let fill = table::fill_kernel(size, self.level());
        // SAFETY: the tile holds `n <= TILE` of the widest elements; the value is one valid element elsewhere.
        unsafe { fill(n, tile, value.pointer, std::ptr::null(), std::ptr::null()) };
        tile
    }

    fn level(&self) -> Level {
        self.walk.level
    }

    /// Brings to the outputs what no step has written there.
    fn store(&mut self, n: usize, scatter: impl Fn(&Self, usize, *mut u8)) {
        for (output, (source, _, _)) in self.walk.plan.stores.iter().enumerate() {
            let value = self.value(*source);
            let size = self.walk.places[output].size;
            match self.outputs[output] {
                Some(target) if target == value.pointer => {}
                Some(target) if value.scalar => {
                    let fill = table::fill_kernel(size, self.level());
                    // SAFETY: the output's piece takes `n` elements of its size; the value is one element elsewhere.
                    unsafe { fill(n, target, value.pointer, std::ptr::null(), std::ptr::null()) };
                }
                // SAFETY: a dense piece of the output and a value that is elsewhere: a tile, or another operand.
                Some(target) => unsafe { tile::scatter(target, 1, value.pointer, size, n) },
                None if value.scalar => {
                    let spread = self.spread(value, size, 0, n);
                    scatter(self, output, spread);
                }
                None => scatter(self, output, value.pointer),
            }
        }
    }
}

/// The size of an element of a source.
fn element_size(worker: &Worker<'_, '_, '_>, source: Source) -> usize {
    let plan = worker.walk.plan;
    match source {
        Source::Step(step) => plan.steps[step].dtype.size(),
        Source::Load(load) => match plan.loads[load] {
            Load::Array(_, operand) => operand.dtype().size(),
            Load::Scalar(_, size) => size,
        },
    }
}
