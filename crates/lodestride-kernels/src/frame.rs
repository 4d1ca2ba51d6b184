//! Runs calls over the elements of a run: pointers in slots, tile after tile. Whatever walks memory (a dense stretch, the
//! runs of a nest) ends here.
#![expect(
    unsafe_code,
    reason = "a frame hands raw pointers to erased kernels and moves elements to and from tiles"
)]

use crate::closure::MOST;
use crate::code::{Call, Code, Extent};
use crate::lane::{Access, Lane, Lanes};
use crate::pass::{Pass, run_rows};
use crate::stream;
use crate::tile::{self, Scratch};
use smallvec::SmallVec;

/// Bytes of the first cache level that the tiles of a call may take.
pub(crate) const TILE_BUDGET: usize = 24 << 10;

/// The same where tiles are filled with elements that lie apart, of all that is read for them. What it takes is written over soon, and
/// the next lines of every operand are asked for meanwhile: every second of 1000x1000 `f64` added to as many takes 320 us so on an EPYC
/// of family 25 (model 17), and 440 in three times of it.
const GAPS_BUDGET: usize = 16 << 10;

/// A tile is a whole number of cache lines of every dtype.
const TILE_UNIT: usize = 64;

/// The longest tile: beyond it the kernels' call costs nothing any more.
pub(crate) const LONGEST_TILE: usize = 4096;

/// What the frames of a call share.
#[derive(Debug)]
pub(crate) struct Setup<'c> {
    pub(crate) code: &'c Code,
    pub(crate) outputs: usize,
    /// Whether dense outputs are written past the caches; their lanes are tiled then.
    pub(crate) streamed: bool,
    /// Whether direct loads are asked for ahead.
    wakes: bool,
    /// The only call, where it gets memory itself and its result goes to a dense output, or past the caches.
    sole: Option<&'c Call>,
    /// Whether kernels get all memory itself and write to the outputs.
    by_rows: bool,
    /// Whether scalars are the same in all runs.
    pub(crate) steady: bool,
    /// Elements per tile.
    pub(crate) chunk: usize,
    /// Bytes of the widest element.
    width: usize,
    /// The code's own tiles: none that are used where there is a sole call.
    code_tiles: usize,
    /// Tile memory of each tiled lane, counted in tiles; the code's own tiles come first.
    lanes_tiled: usize,
}

impl<'c> Setup<'c> {
    /// Fixes the size of the tiles. `width` is the widest element of any lane and step, `heavy` says that arithmetic rather
    /// than memory sets the pace.
    pub(crate) fn new(
        code: &'c Code,
        outputs: usize,
        lanes: &[Lane],
        (width, heavy): (usize, bool),
        streamed: bool,
    ) -> Setup<'c> {
        let lanes_tiled = lanes
            .iter()
            .filter(|lane| lane.access == Access::Tiled)
            .count();
        let sole = sole_call(code, outputs, lanes, streamed);
        let written = |output: usize| usize::from(code.results[output]) == output;
        let by_rows = lanes_tiled == 0 && code.record.is_empty() && (0..outputs).all(written);
        let code_tiles = if sole.is_some() { 0 } else { code.tiles };
        let tiles = code_tiles + lanes_tiled;
        let chunk = if tiles == 0 {
            usize::MAX
        } else if streamed {
            // Larger where many calls are made for every tile.
            let piece = stream::piece(heavy && sole.is_some());
            (piece / width).max(TILE_UNIT) * code.calls.len().div_ceil(4).max(1)
        } else {
            let streams = tiles + lanes.len() - lanes_tiled;
            let gaps: usize = lanes[outputs..].iter().map(passed_over).sum();
            let budget = if gaps == 0 { TILE_BUDGET } else { GAPS_BUDGET };
            (budget / (streams * width + gaps) / TILE_UNIT * TILE_UNIT)
                .clamp(4 * TILE_UNIT, LONGEST_TILE)
        };
        Setup {
            code,
            outputs,
            streamed,
            wakes: streamed && stream::wakes(),
            sole,
            by_rows,
            steady: false,
            chunk,
            width,
            code_tiles,
            lanes_tiled,
        }
    }

    fn tiles(&self) -> usize {
        self.code_tiles + self.lanes_tiled
    }
}

/// The bytes that are read for an element of a tile which is filled with elements that lie apart: at most those of four.
fn passed_over(lane: &Lane) -> usize {
    match lane.access {
        Access::Tiled if lane.stride.unsigned_abs() > 1 => {
            lane.size * lane.stride.unsigned_abs().min(4)
        }
        _ => 0,
    }
}

/// The only call of the code, where no tile is needed but that of a streamed output.
#[inline]
fn sole_call<'c>(
    code: &'c Code,
    outputs: usize,
    lanes: &[Lane],
    streamed: bool,
) -> Option<&'c Call> {
    let call = code.sole_call().filter(|_| outputs == 1)?;
    let (output, loads) = lanes.split_first()?;
    let wanted = if streamed {
        Access::Tiled
    } else {
        Access::Direct
    };
    let dense = output.stride == 1 && output.access == wanted;
    let direct = |lane: &Lane| lane.access != Access::Tiled;
    (dense && loads.iter().all(direct)).then_some(call)
}

/// A [`sole_call`] on these lanes.
#[inline]
fn sole_pass(call: &Call, lanes: &[Lane]) -> Pass {
    let sources = call
        .sources
        .map(|slot| (slot > 0, &lanes[usize::from(slot)]));
    Pass {
        kernel: call.kernel,
        dst: lanes[0].at,
        size: lanes[0].size,
        sources: sources.map(|(_, lane)| lane.at),
        // Slot 0 is the output, which stands where a kernel has no source.
        steps: sources.map(|(is_load, lane)| {
            let moves = is_load && lane.access == Access::Direct;
            if moves { lane.size } else { 0 }
        }),
    }
}

/// One thread's pointers.
pub(crate) struct Frame<'s, 'c> {
    setup: &'s Setup<'c>,
    /// Operands and where they are; a walk moves them from run to run.
    pub(crate) lanes: Lanes,
    /// A pointer per slot: that of a tiled lane stays at its tile.
    slots: SmallVec<[*mut u8; 12]>,
    /// The pointers to a closure's operands.
    record: [*mut u8; MOST],
    /// How many elements the calls on scalars were made for.
    begun: usize,
    _memory: Option<Scratch>,
}

impl<'s, 'c> Frame<'s, 'c> {
    /// A frame with tile memory of its own. `longest` is the longest run it will see.
    pub(crate) fn new(setup: &'s Setup<'c>, lanes: &[Lane], longest: usize) -> Frame<'s, 'c> {
        let bytes = (setup.chunk.min(longest) * setup.width).next_multiple_of(TILE_UNIT);
        let mut memory = (setup.tiles() > 0).then(|| Scratch::take(setup.tiles() * bytes));
        let start = memory
            .as_mut()
            .map_or(std::ptr::null_mut(), Scratch::pointer);
        // Slices, not pushes: a push asks each time whether the vector lives on the heap.
        let record = usize::from(!setup.code.record.is_empty());
        let count = lanes.len() + setup.code.tiles + record;
        let mut slots: SmallVec<[*mut u8; 12]> = SmallVec::from_elem(std::ptr::null_mut(), count);
        let mut next = start;
        let mut tile = || {
            let tile = next;
            next = next.wrapping_add(bytes);
            tile
        };
        for slot in &mut slots[lanes.len()..lanes.len() + setup.code_tiles] {
            *slot = tile();
        }
        for (slot, lane) in slots.iter_mut().zip(lanes) {
            *slot = match lane.access {
                Access::Tiled => tile(),
                Access::Direct | Access::Scalar => lane.at,
            };
        }
        Frame {
            setup,
            lanes: Lanes::from_slice(lanes),
            slots,
            record: [std::ptr::null_mut(); MOST],
            begun: 0,
            _memory: memory,
        }
    }

    /// Computes `count` runs of `len` elements of every output; `steps` are the bytes from a run of each slot's operand to the next.
    ///
    /// # Safety
    /// As for [`run`](Frame::run), of every run.
    pub(crate) unsafe fn run_block(&mut self, len: usize, count: usize, steps: &[isize]) {
        if let Some(call) = self.setup.sole
            && !self.setup.streamed
        {
            let [first, second, third] = call.sources.map(usize::from);
            let operands = [0, first, second, third];
            let (places, steps) = (
                operands.map(|slot| self.lanes[slot].at),
                operands.map(|slot| steps[slot]),
            );
            // SAFETY: the caller's contract; a load that is the output's memory is the one an in-place form reads through `dst`.
            unsafe { run_rows(call.kernel, (len, count), places, steps) };
            return;
        }
        if self.setup.by_rows && len <= self.setup.chunk {
            // SAFETY: the caller's contract.
            unsafe { self.run_rows(len, count, steps) };
            return;
        }
        for row in 0..count {
            if row > 0 {
                for (lane, &step) in self.lanes.iter_mut().zip(steps) {
                    let run = lane.stride * (len * lane.size).cast_signed();
                    lane.at = lane.at.wrapping_offset(step - run);
                }
            }
            // SAFETY: the lanes are at the next of the caller's runs.
            unsafe { self.run(len) };
        }
    }

    /// [`run_block`](Frame::run_block) of runs that fit a tile, where kernels get all memory itself and write the results: between
    /// one run and the next the pointers move, and nothing else.
    ///
    /// # Safety
    /// As for [`run_block`](Frame::run_block).
    unsafe fn run_rows(&mut self, len: usize, count: usize, steps: &[isize]) {
        for (slot, lane) in self.slots.iter_mut().zip(&self.lanes) {
            *slot = lane.at;
        }
        if let ([call], true) = (&self.setup.code.calls[..], self.setup.steady) {
            // SAFETY: the slots are at the caller's first run; tiles take a chunk.
            unsafe { self.begin_run(len) };
            let [first, second, third] = call.sources;
            let slots = [call.dst, first, second, third].map(usize::from);
            // Tiles, which come behind the operands, stay where they are.
            let steps = slots.map(|slot| steps.get(slot).copied().unwrap_or(0));
            let places = slots.map(|slot| self.slots[slot]);
            // SAFETY: as above, of every run.
            unsafe { run_rows(call.kernel, (len, count), places, steps) };
            return;
        }
        for _ in 0..count {
            // SAFETY: the slots are at the caller's next run; tiles take a chunk.
            unsafe { self.begin_run(len) };
            // SAFETY: as above.
            unsafe { self.calls(len) };
            for (slot, &step) in self.slots.iter_mut().zip(steps) {
                *slot = slot.wrapping_offset(step);
            }
        }
    }

    /// Computes the next `len` elements of every output.
    ///
    /// # Safety
    /// Every lane is valid for `len` elements of its size at its stride (one element for a scalar), outputs for writes and
    /// touched by nobody else meanwhile. A direct output shares memory with a load only where that load is the one the
    /// code overwrites in place; loads that share memory with a tiled output do so element for element. `longest` was at
    /// least the smaller of `len` and the chunk.
    pub(crate) unsafe fn run(&mut self, len: usize) {
        if let Some(call) = self.setup.sole {
            // SAFETY: the caller's contract.
            unsafe { self.run_sole(call, len) };
            return;
        }
        let mut left = len;
        let mut first = true;
        while left > 0 {
            let n = self.setup.chunk.min(left);
            // SAFETY: the next `n` of the caller's `len` elements.
            unsafe { self.load(n) };
            self.arrange();
            if first {
                // SAFETY: the lanes have just been placed for `n` elements; later tiles of the run are not longer.
                unsafe { self.begin_run(n) };
                first = false;
            }
            // SAFETY: as above.
            unsafe { self.calls(n) };
            // SAFETY: the next `n` elements of the outputs.
            unsafe { self.store(n) };
            for lane in &mut self.lanes {
                lane.advance(n);
            }
            left -= n;
        }
    }

    /// [`run`](Frame::run) of a single call without tiles: from memory to memory, or past the caches. Little between one run
    /// and the next, so that the processor reads ahead into it.
    ///
    /// # Safety
    /// As for [`run`](Frame::run).
    #[inline]
    unsafe fn run_sole(&mut self, call: &Call, len: usize) {
        let pass = sole_pass(call, &self.lanes);
        if self.setup.streamed {
            let piece = self.setup.chunk * pass.size;
            // SAFETY: the lanes are valid for `len` elements, the output apart from the loads; its tile takes a chunk.
            unsafe { pass.stream(len, self.slots[0], piece) };
        } else {
            // SAFETY: as above; a load that is the output's memory is the one an in-place form reads through `dst`.
            unsafe { pass.run(len) };
        }
        for lane in &mut self.lanes {
            lane.advance(len);
        }
    }

    /// Places every lane's next elements in its slot.
    ///
    /// # Safety
    /// The lanes are valid for `n` elements.
    #[inline]
    unsafe fn load(&mut self, n: usize) {
        for (slot, lane) in self.lanes.iter().enumerate() {
            if lane.access != Access::Tiled {
                self.slots[slot] = lane.at;
                if self.setup.wakes && lane.access == Access::Direct {
                    for at in (0..n * lane.size).step_by(stream::PIECE) {
                        stream::wake(lane.at.wrapping_add(at), stream::PIECE);
                    }
                }
            } else if slot >= self.setup.outputs {
                // SAFETY: the lane is valid for `n` elements; tile memory is apart and holds a chunk.
                unsafe { lane.gather(self.slots[slot], n) };
            }
        }
    }

    /// Writes down where a closure's operands are. The frame must not move before the calls.
    #[inline]
    pub(crate) fn arrange(&mut self) {
        let slots = &self.setup.code.record;
        if slots.is_empty() {
            return;
        }
        for (pointer, slot) in self.record.iter_mut().zip(slots) {
            *pointer = self.slots[usize::from(*slot)];
        }
        let last = self.slots.len() - 1;
        self.slots[last] = self.record.as_mut_ptr().cast();
    }

    /// Puts a pointer in a slot, for walks that fill tiles themselves.
    #[inline]
    pub(crate) fn place(&mut self, slot: usize, pointer: *mut u8) {
        self.slots[slot] = pointer;
    }

    /// The tile of a tiled lane.
    #[inline]
    pub(crate) fn tile(&self, slot: usize) -> *mut u8 {
        self.slots[slot]
    }

    /// Where an output's value is after the calls.
    #[inline]
    pub(crate) fn result(&self, output: usize) -> *mut u8 {
        self.slots[usize::from(self.setup.code.results[output])]
    }

    /// Makes the calls on scalars, unless they were made for as many elements and would be the same.
    ///
    /// # Safety
    /// As [`Frame::calls`].
    #[inline]
    unsafe fn begin_run(&mut self, n: usize) {
        if n > self.begun {
            // SAFETY: the caller's contract.
            unsafe { self.prologue(n) };
            self.begun = if self.setup.steady { n } else { 0 };
        }
    }

    /// Makes the calls on scalars.
    ///
    /// # Safety
    /// As [`Frame::calls`].
    #[inline]
    pub(crate) unsafe fn prologue(&self, n: usize) {
        for (call, extent) in &self.setup.code.prologue {
            let n = if *extent == Extent::One { 1 } else { n };
            // SAFETY: the caller's contract.
            unsafe { self.call(call, n) };
        }
    }

    /// Makes the calls of one tile.
    ///
    /// # Safety
    /// Every slot the code names holds a pointer valid for `n` elements (one for scalars), outputs for writes; what a call
    /// writes is apart from what it reads, but for in-place forms.
    #[inline]
    pub(crate) unsafe fn calls(&self, n: usize) {
        for call in &self.setup.code.calls {
            // SAFETY: the caller's contract.
            unsafe { self.call(call, n) };
        }
    }

    /// # Safety
    /// As [`Frame::calls`].
    #[inline]
    unsafe fn call(&self, call: &Call, n: usize) {
        let [a, b, c] = call.sources.map(|slot| self.slots[usize::from(slot)]);
        let dst = self.slots[usize::from(call.dst)];
        // SAFETY: sources hold `n` elements of the kernel's dtypes (the code's steps fit its loads), `dst` takes `n` of its
        // result, and they are apart: tiles are separate, and sources that share memory with an output are either written
        // in place, by a form that reads through `dst` alone, or the output is a tile.
        unsafe { (call.kernel)(n, dst, a, b, c) };
    }

    /// Brings to the outputs what no call has written there.
    ///
    /// # Safety
    /// The output lanes are valid for writes of `n` elements, and the calls have been made.
    #[inline]
    unsafe fn store(&self, n: usize) {
        for (output, lane) in self.lanes[..self.setup.outputs].iter().enumerate() {
            let from = self.result(output);
            if from == lane.at {
                continue;
            }
            // SAFETY: the lane takes `n` elements; the value is in a tile or another operand's memory.
            unsafe { self.write(lane, from, n) };
        }
    }

    /// Copies `n` elements to where an output is: past the caches, if the call writes so.
    ///
    /// # Safety
    /// The lane takes `n` elements; `from` holds them elsewhere.
    #[inline]
    pub(crate) unsafe fn write(&self, lane: &Lane, from: *const u8, n: usize) {
        if self.setup.streamed && lane.stride == 1 {
            // SAFETY: dense on both sides, by the caller's contract.
            unsafe { stream::copy_raw(lane.at, from, n * lane.size) };
        } else {
            // SAFETY: the caller's contract.
            unsafe { tile::scatter(lane.at, lane.stride, from, lane.size, n) };
        }
    }
}

impl Drop for Frame<'_, '_> {
    fn drop(&mut self) {
        if self.setup.streamed {
            stream::fence();
        }
    }
}
