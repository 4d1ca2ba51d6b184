//! Walks the operands of an elementwise call and feeds the kernels: not generic, compiled once.
//!
//! The rule per operand and run: unit stride and nothing shared with an output, the kernel gets the memory itself; stride
//! 0, it gets one element; everything else (strided, reversed, shared with an output) goes through a tile in the L1
//! cache. So strides, broadcasting, aliasing, other dtypes and fused expressions are one mechanism: a call is a list of
//! steps run tile by tile, and a single operation is a list of one.
#![expect(
    unsafe_code,
    reason = "the driver hands raw pointers to erased kernels"
)]

use crate::error::{KernelError, Result};
use crate::isa::{Level, RawKernel};
use crate::operand::{Open, Operand};
use crate::table::{self, BinaryKernel, UnaryKernel};
use crate::threads;
use crate::tile::{self, Scratch};
use lodestride_buffer::{Argument, Buffer, DType};
use lodestride_shape::{Layout, LoopNest, Order, Overlap, Runs, overlap};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// Elements per tile: with a few tiles of the largest elements still in a 48 KiB L1 cache.
const TILE: usize = 1024;

/// Runs shorter than this are packed together into tiles.
const SHORT: usize = 64;

/// The largest element.
const WIDEST: usize = 8;

/// Where a step finds an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A value loaded from outside, by its number.
    Load(usize),
    /// The result of a step, by its number.
    Step(usize),
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Unary(UnaryKernel, Source),
    Binary(BinaryKernel, Source, Source),
    /// `condition ? a : b`.
    Select(RawKernel, Source, Source, Source),
    /// To the dtype of the step's result.
    Cast(RawKernel, Source),
}

impl Action {
    /// The same with other sources.
    pub(crate) fn map_sources(self, map: impl Fn(Source) -> Source) -> Action {
        match self {
            Action::Unary(kernel, a) => Action::Unary(kernel, map(a)),
            Action::Binary(kernel, a, b) => Action::Binary(kernel, map(a), map(b)),
            Action::Select(kernel, a, b, c) => Action::Select(kernel, map(a), map(b), map(c)),
            Action::Cast(kernel, a) => Action::Cast(kernel, map(a)),
        }
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = Source> {
        let (sources, count) = match *self {
            Action::Unary(_, a) | Action::Cast(_, a) => ([a; 3], 1),
            Action::Binary(_, a, b) => ([a, b, b], 2),
            Action::Select(_, a, b, c) => ([a, b, c], 3),
        };
        sources.into_iter().take(count)
    }
}

/// One kernel call per tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    /// The dtype of the result.
    pub(crate) dtype: DType,
    /// The tile the result is kept in, unless it goes straight to an output.
    pub(crate) tile: usize,
}

/// A value that comes from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Load<'a> {
    Array(Argument, Operand<'a>),
    /// One element for all positions: its bytes, from the start of the word, and how many they are.
    Scalar(u64, usize),
}

/// Everything about a call but its pointers. All outputs and array loads have one shape; outputs are writable layouts.
#[derive(Debug)]
pub(crate) struct Plan<'p, 'a> {
    pub(crate) op: &'static str,
    pub(crate) loads: &'p [Load<'a>],
    pub(crate) steps: &'p [Step],
    /// The number of tiles the steps name.
    pub(crate) tiles: usize,
    /// Per output: the value it gets (of its dtype), and where it is.
    pub(crate) stores: &'p [(Source, Argument, Operand<'a>)],
    /// Whether arithmetic rather than memory sets the pace.
    pub(crate) heavy: bool,
}

/// A slice of memory operand as the walk sees it.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Where the operand's layout begins.
    base: *mut u8,
    size: usize,
    /// Whether a kernel may be given the memory itself.
    direct: bool,
}

/// Where a value is during one tile.
#[derive(Clone, Copy, Debug)]
struct Value {
    pointer: *mut u8,
    /// One element for the whole tile.
    scalar: bool,
}

/// A call ready to run: pointers, strides and how to treat each operand.
struct Walk<'p, 'a> {
    plan: &'p Plan<'p, 'a>,
    nest: &'p LoopNest,
    /// Outputs, then array loads.
    places: SmallVec<[Place; 6]>,
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

/// Runs a plan: opens its operands, then walks them, on several threads where that pays.
///
/// # Errors
/// [`KernelError::Access`] where an operand may not be touched, [`KernelError::Alloc`] where a shared operand cannot be
/// copied aside, [`KernelError::OverlappingOutputs`]. Nothing is written then.
pub(crate) fn run(plan: &Plan<'_, '_>) -> Result<()> {
    let outputs: SmallVec<[(Argument, Operand<'_>); 2]> = plan
        .stores
        .iter()
        .map(|&(_, argument, operand)| (argument, operand))
        .collect();
    let inputs: SmallVec<[(Argument, Operand<'_>); 4]> = plan
        .loads
        .iter()
        .filter_map(|load| match *load {
            Load::Array(argument, operand) => Some((argument, operand)),
            Load::Scalar(..) => None,
        })
        .collect();
    check_outputs(plan.op, &outputs)?;
    let open = Open::new(plan.op, &outputs, &inputs)?;
    let shape = match outputs.first() {
        Some((_, output)) if output.elements() > 0 => output.shape(),
        _ => return Ok(()),
    };

    // Copies of sources that share memory with an output at other positions; they live until the walk ends.
    let copies = copy_aside(plan.op, &outputs, &inputs, &open)?;
    let mut places: SmallVec<[Place; 6]> = SmallVec::new();
    let mut strides: SmallVec<[&[isize]; 6]> = SmallVec::new();
    for ((_, output), &start) in outputs.iter().zip(&open.outputs) {
        places.push(place(output, start));
        strides.push(output.layout().strides().as_slice());
    }
    for (index, ((_, input), &start)) in inputs.iter().zip(&open.inputs).enumerate() {
        match &copies[index] {
            Shared::Copied(copy, layout) => {
                let guard = copy.read().map_err(|source| KernelError::Access {
                    op: plan.op,
                    argument: inputs[index].0,
                    source,
                    dtype: input.dtype(),
                    shape: Box::new(shape.clone()),
                })?;
                // The copy is this call's own, so the pointer outlives the guard: nobody else can write or free it.
                places.push(Place {
                    base: guard.as_ptr().cast_mut(),
                    size: input.dtype().size(),
                    direct: true,
                });
                strides.push(layout.strides().as_slice());
            }
            Shared::Apart => {
                places.push(place(input, start.cast_mut()));
                strides.push(input.layout().strides().as_slice());
            }
            Shared::InPlace => {
                let direct = in_place_source(plan, index);
                places.push(Place {
                    direct,
                    ..place(input, start.cast_mut())
                });
                strides.push(input.layout().strides().as_slice());
            }
        }
    }
    let nest = LoopNest::new(shape, &strides);
    let walk = Walk::new(plan, &nest, places, outputs.len());
    let bytes = nest.elements() * walk.places.iter().map(|place| place.size).sum::<usize>();
    let parts = threads::parts(bytes, plan.heavy);
    if parts == 1 {
        walk.range(0..nest.elements());
    } else {
        threads::for_each_part(nest.split(parts, TILE), |range| walk.range(range));
    }
    Ok(())
}

/// The fast path of one operation on one operand: everything dense, of the kernel's dtypes, in one order. Gives false,
/// having done nothing, where that is not so.
///
/// # Errors
/// [`KernelError::Access`].
#[inline]
pub(crate) fn dense_unary(
    op: &'static str,
    kernel: &UnaryKernel,
    x: &Operand<'_>,
    out: &Operand<'_>,
) -> Result<bool> {
    if !dense_alike(x, out) {
        return Ok(false);
    }
    let shared = x.buffer().same_block(out.buffer());
    if shared && (kernel.in_place.is_none() || x.layout().offset() != out.layout().offset()) {
        return Ok(false);
    }
    let mut writer = out.write(op, Argument::Z)?;
    let dst = place(out, writer.as_mut_ptr()).base;
    let n = out.elements();
    match kernel.in_place {
        Some(in_place) if shared => {
            dense(n, kernel.out.size(), false, in_place, dst, [dst; 2], [0; 2])
        }
        _ => {
            let reader = x.read(op, Argument::X)?;
            let a = place(x, reader.as_ptr().cast_mut()).base;
            let size = x.dtype().size();
            dense(
                n,
                kernel.out.size(),
                kernel.heavy,
                kernel.map,
                dst,
                [a; 2],
                [size; 2],
            );
        }
    }
    Ok(true)
}

/// [`dense_unary`] for two operands; `x` may be `out` itself.
///
/// # Errors
/// [`KernelError::Access`].
#[inline]
pub(crate) fn dense_binary(
    op: &'static str,
    kernel: &BinaryKernel,
    x: &Operand<'_>,
    y: &Operand<'_>,
    out: &Operand<'_>,
) -> Result<bool> {
    if !dense_alike(x, out) || !dense_alike(y, out) || y.buffer().same_block(out.buffer()) {
        return Ok(false);
    }
    let shared = x.buffer().same_block(out.buffer());
    if shared && (kernel.zip_in_place.is_none() || x.layout().offset() != out.layout().offset()) {
        return Ok(false);
    }
    let mut writer = out.write(op, Argument::Z)?;
    let dst = place(out, writer.as_mut_ptr()).base;
    let (n, size, heavy) = (out.elements(), x.dtype().size(), kernel.heavy);
    match kernel.zip_in_place {
        Some(in_place) if shared => {
            let reader = y.read(op, Argument::Y)?;
            let b = place(y, reader.as_ptr().cast_mut()).base;
            dense(
                n,
                kernel.out.size(),
                heavy,
                in_place,
                dst,
                [dst, b],
                [size; 2],
            );
        }
        _ => {
            let first = x.read(op, Argument::X)?;
            let second = y.read(op, Argument::Y)?;
            let a = place(x, first.as_ptr().cast_mut()).base;
            let b = place(y, second.as_ptr().cast_mut()).base;
            dense(
                n,
                kernel.out.size(),
                heavy,
                kernel.zip,
                dst,
                [a, b],
                [size; 2],
            );
        }
    }
    Ok(true)
}

/// Whether two operands lie densely in memory, in the same order.
#[inline]
fn dense_alike(x: &Operand<'_>, out: &Operand<'_>) -> bool {
    let (x, out) = (x.layout(), out.layout());
    x.shape() == out.shape()
        && (out.is_contiguous(Order::C) && x.is_contiguous(Order::C)
            || out.is_contiguous(Order::F) && x.is_contiguous(Order::F))
}

/// A kernel and dense memory, to be divided among threads.
struct Dense {
    kernel: RawKernel,
    dst: *mut u8,
    sources: [*mut u8; 2],
}

// SAFETY: the pointers stand for memory that guards held by the caller keep open; the parts given to different threads are
// disjoint ranges of elements.
unsafe impl Sync for Dense {}

impl Dense {
    /// Runs the kernel on elements `range`.
    fn run(&self, range: Range<usize>, size: usize, sizes: [usize; 2]) {
        let a = self.sources[0].wrapping_add(range.start * sizes[0]);
        let b = self.sources[1].wrapping_add(range.start * sizes[1]);
        let dst = self.dst.wrapping_add(range.start * size);
        // SAFETY: the fast paths have opened dense operands of the kernel's dtypes with at least `range.end` elements, and
        // only the in-place form gets a source equal to `dst`, through which it does not read.
        unsafe { (self.kernel)(range.len(), dst, a, b, std::ptr::null()) }
    }
}

/// Runs a kernel over `n` dense elements, on several threads where that pays.
#[inline]
fn dense(
    n: usize,
    size: usize,
    heavy: bool,
    kernel: RawKernel,
    dst: *mut u8,
    sources: [*mut u8; 2],
    sizes: [usize; 2],
) {
    let work = Dense {
        kernel,
        dst,
        sources,
    };
    let parts = threads::parts(n * (size + sizes[0] + sizes[1]), heavy);
    if parts == 1 {
        work.run(0..n, size, sizes);
        return;
    }
    // Whole cache lines of every dtype, so that no two threads write the same line.
    let share = n.div_ceil(parts).next_multiple_of(64);
    let ranges = (0..parts).map(|part| (part * share).min(n)..((part + 1) * share).min(n));
    threads::for_each_part(ranges, |range| work.run(range, size, sizes));
}

fn place(operand: &Operand<'_>, start: *mut u8) -> Place {
    let size = operand.dtype().size();
    Place {
        base: start.wrapping_add(operand.layout().offset() * size),
        size,
        direct: true,
    }
}

/// Refuses outputs that share elements with each other.
fn check_outputs(op: &'static str, outputs: &[(Argument, Operand<'_>)]) -> Result<()> {
    for (index, (first, a)) in outputs.iter().enumerate() {
        for (second, b) in &outputs[index + 1..] {
            if a.buffer().same_block(b.buffer())
                && overlap(a.layout(), a.dtype().size(), b.layout(), b.dtype().size())
                    != Overlap::Disjoint
            {
                return Err(KernelError::OverlappingOutputs {
                    op,
                    first: *first,
                    second: *second,
                });
            }
        }
    }
    Ok(())
}

/// What an input has to do with the outputs' memory.
enum Shared {
    /// Nothing.
    Apart,
    /// It is the same elements at the same positions as an output.
    InPlace,
    /// It shared some, and was copied.
    Copied(Buffer, Layout),
}

/// Classifies every input against every output and copies those that overlap at other positions.
fn copy_aside(
    op: &'static str,
    outputs: &[(Argument, Operand<'_>)],
    inputs: &[(Argument, Operand<'_>)],
    open: &Open<'_>,
) -> Result<SmallVec<[Shared; 4]>> {
    let mut all = SmallVec::new();
    for ((_, input), &start) in inputs.iter().zip(&open.inputs) {
        let mut shared = Shared::Apart;
        for (_, output) in outputs {
            if !output.buffer().same_block(input.buffer()) {
                continue;
            }
            match overlap(
                output.layout(),
                output.dtype().size(),
                input.layout(),
                input.dtype().size(),
            ) {
                Overlap::Disjoint => {}
                Overlap::Identical => shared = Shared::InPlace,
                Overlap::Partial => {
                    shared = copy_of(op, input, start)?;
                    break;
                }
            }
        }
        all.push(shared);
    }
    Ok(all)
}

/// A dense copy of an opened input.
fn copy_of(op: &'static str, input: &Operand<'_>, start: *const u8) -> Result<Shared> {
    let size = input.dtype().size();
    let layout =
        Layout::contiguous(input.shape().clone(), Order::C).map_err(KernelError::shape(op))?;
    let copy =
        Buffer::detached_recycled(input.elements() * size).map_err(KernelError::alloc(op))?;
    let mut guard = copy.write().map_err(|source| KernelError::Access {
        op,
        argument: Argument::X,
        source,
        dtype: input.dtype(),
        shape: Box::new(input.shape().clone()),
    })?;
    let target = guard.as_mut_ptr();
    let base = start.wrapping_add(input.layout().offset() * size);
    let nest = LoopNest::new(
        input.shape(),
        &[
            layout.strides().as_slice(),
            input.layout().strides().as_slice(),
        ],
    );
    let steps = [nest.inner_strides()[0], nest.inner_strides()[1]];
    let mut runs = nest.runs(0..nest.elements());
    let mut tile = [0u64; TILE];
    let tile = tile.as_mut_ptr().cast::<u8>();
    while let Some(run) = runs.next_run() {
        let to = step_from(target, run.offsets[0], size);
        let from = step_from(base.cast_mut(), run.offsets[1], size);
        for begin in (0..run.len).step_by(TILE) {
            let n = TILE.min(run.len - begin);
            let from = step_from(from, begin.cast_signed() * steps[1], size);
            let to = step_from(to, begin.cast_signed() * steps[0], size);
            // SAFETY: the nest visits elements of the input's layout, which lie inside its opened buffer; the tile holds
            // `TILE` of the widest elements and is this function's own.
            unsafe { tile::gather(tile, from, steps[1], size, n) };
            // SAFETY: the nest visits elements of the copy's layout; the copy is new, so it is nobody else's.
            unsafe { tile::scatter(to, steps[0], tile, size, n) };
        }
    }
    drop(guard);
    Ok(Shared::Copied(copy, layout))
}

/// Whether a source that is an output's own elements may be given to the kernel itself: the call is one step, the source
/// is the operand its in-place form overwrites, and appears once. Later steps of longer lists would read what an earlier
/// one has written.
fn in_place_source(plan: &Plan<'_, '_>, input: usize) -> bool {
    let [step] = plan.steps else { return false };
    let arrays = |load: &Source| matches!(load, Source::Load(index) if array_number(plan, *index) == Some(input));
    let first = match step.action {
        Action::Unary(kernel, source) => kernel.in_place.is_some() && arrays(&source),
        Action::Binary(kernel, source, _) => kernel.zip_in_place.is_some() && arrays(&source),
        Action::Select(..) | Action::Cast(..) => false,
    };
    let stored = plan.stores.iter().any(|(source, ..)| arrays(source));
    first && !stored && step.action.sources().filter(arrays).count() == 1
}

/// The number of a load among the array loads.
fn array_number(plan: &Plan<'_, '_>, load: usize) -> Option<usize> {
    match plan.loads[load] {
        Load::Array(..) => Some(
            plan.loads[..load]
                .iter()
                .filter(|load| matches!(load, Load::Array(..)))
                .count(),
        ),
        Load::Scalar(..) => None,
    }
}

/// `pointer` moved by whole elements. Only arithmetic: whoever reads through the result says why it may.
#[inline]
fn step_from(pointer: *mut u8, elements: isize, size: usize) -> *mut u8 {
    pointer.wrapping_offset(elements * size.cast_signed())
}

impl<'p, 'a> Walk<'p, 'a> {
    fn new(
        plan: &'p Plan<'p, 'a>,
        nest: &'p LoopNest,
        places: SmallVec<[Place; 6]>,
        outputs: usize,
    ) -> Walk<'p, 'a> {
        let load_places = (0..plan.loads.len())
            .map(|load| array_number(plan, load).map(|array| outputs + array))
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
    fn range(&self, range: Range<usize>) {
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

/// Whether an operand walks the whole nest as one dense stretch.
fn is_dense(nest: &LoopNest, operand: usize) -> bool {
    let mut expected = 1;
    (0..nest.sizes().len()).rev().all(|axis| {
        let matches = nest.axis_strides(axis)[operand] == expected;
        expected *= nest.sizes()[axis].cast_signed();
        matches
    })
}

/// Whether an operand stays at one element over the whole nest.
fn is_constant(nest: &LoopNest, operand: usize) -> bool {
    (0..nest.sizes().len()).all(|axis| nest.axis_strides(axis)[operand] == 0)
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
        let mut begin = range.start;
        while begin < range.end {
            let n = TILE.min(range.end - begin);
            let tile = begin..begin + n;
            for output in 0..self.outputs.len() {
                self.outputs[output] =
                    is_dense(walk.nest, output).then(|| self.dense_at(output, begin));
            }
            for (load, place) in walk.load_places.iter().enumerate() {
                let Some(place) = *place else { continue };
                self.loads[load] = self.load_packed(place, tile.clone());
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
        self.for_each_piece(place, nest.runs(range), |from, stride, size, len| {
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
        self.for_each_piece(
            output,
            self.walk.nest.runs(range),
            |to, stride, size, len| {
                // SAFETY: the nest visits elements of the output's layout inside its opened buffer, no other thread writes
                // this range, and the tile holds the range's elements one after the other.
                unsafe { tile::scatter(to, stride, rest, size, len) };
                rest = rest.wrapping_add(len * size);
            },
        );
    }

    fn for_each_piece(
        &self,
        place: usize,
        mut runs: Runs<'_>,
        mut piece: impl FnMut(*mut u8, isize, usize, usize),
    ) {
        let Place { base, size, .. } = self.walk.places[place];
        let stride = self.walk.nest.inner_strides()[place];
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
