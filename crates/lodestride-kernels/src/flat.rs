//! The fast path of programs: every operand dense in memory, of the program's dtypes, in one order, and inputs in an output's
//! memory only where they are its very elements. Inputs that are small may lie in any way: they are laid side by side first. No nest
//! and nothing to resolve; what it does not fit goes to `driver.rs`.
#![expect(
    unsafe_code,
    reason = "dense operands are handed to frames as raw pointers"
)]

use crate::code::{Call, Code};
use crate::error::Result;
use crate::frame::{Frame, Setup};
use crate::lane::{Access, Lane, Lanes};
use crate::operand::{Input, Operand};
use crate::program_builder::Loaded;
use crate::small::gather;
use crate::stream;
use crate::threads;
use crate::walk::TILE;
use lodestride_buffer::{Argument, ReadGuard, WriteGuard};
use lodestride_shape::Order;
use smallvec::SmallVec;
use std::mem::MaybeUninit;
use std::ops::Range;

/// The operands of a flat run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operands<'o, 'a> {
    /// What the code loads: constants, and inputs in their order.
    pub(crate) loads: &'o [Loaded],
    pub(crate) inputs: &'o [Input<'a>],
    pub(crate) outputs: &'o [Operand<'a>],
}

/// What is known of operands that lie densely in one order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit {
    /// Bytes of one element of every array.
    bytes: usize,
    /// Whether no input is in an output's place.
    apart: bool,
    /// Bytes of the inputs that do not lie densely, which fit in a [`Room`].
    gathered: usize,
}

/// Memory for small inputs that do not lie densely, on the stack.
#[repr(align(64))]
struct Room(#[expect(dead_code, reason = "only there to have a size")] [u8; 8 << 10]);

/// What an input of so many bytes takes of it.
fn room_of(bytes: usize) -> usize {
    bytes.next_multiple_of(stream::LINE)
}

impl Operands<'_, '_> {
    /// Whether they lie densely in memory in the order of the first output, inputs of the dtypes they are loaded in, outputs
    /// apart from each other and inputs from outputs or in the same place. Small inputs that are apart may lie in any way.
    pub(crate) fn fit(&self) -> Option<Fit> {
        let (first, others) = self.outputs.split_first()?;
        let layout = first.layout();
        let in_c = layout.is_contiguous(Order::C);
        if !in_c && !layout.is_contiguous(Order::F) {
            return None;
        }
        let order = if in_c { Order::C } else { Order::F };
        let dense = |operand: &Operand<'_>| {
            operand.layout().is_contiguous(order) && operand.shape() == layout.shape()
        };
        let mut fit = Fit {
            bytes: first.dtype().size(),
            apart: true,
            gathered: 0,
        };
        for (number, output) in others.iter().enumerate() {
            let earlier = &self.outputs[..=number];
            if !dense(output) || !earlier.iter().all(|other| are_apart(other, output)) {
                return None;
            }
            fit.bytes += output.dtype().size();
        }
        let mut inputs = self.inputs.iter();
        for load in self.loads {
            let Loaded::Input(dtype) = load else { continue };
            let Some(Input::Array(x)) = inputs.next() else {
                return None;
            };
            if x.dtype() != *dtype {
                return None;
            }
            let size = x.dtype().size();
            let is_dense = dense(x);
            if !is_dense {
                if x.shape() != layout.shape() || x.elements() > size_of::<Room>() / size {
                    return None;
                }
                fit.gathered += room_of(x.elements() * size);
            }
            for output in self.outputs {
                if !are_apart(x, output) {
                    fit.apart = false;
                    if !is_dense || !is_same_place(x, output) {
                        return None;
                    }
                }
            }
            fit.bytes += size;
        }
        (fit.gathered <= size_of::<Room>()).then_some(fit)
    }
}

#[inline]
fn are_apart(one: &Operand<'_>, other: &Operand<'_>) -> bool {
    !one.buffer().same_block(other.buffer())
}

/// Whether two dense operands are the same elements.
fn is_same_place(input: &Operand<'_>, output: &Operand<'_>) -> bool {
    input.buffer().same_block(output.buffer())
        && input.dtype() == output.dtype()
        && input.layout() == output.layout()
}

/// Operands opened for a run.
struct Opened<'a> {
    /// Outputs, then loads.
    lanes: Lanes,
    _writers: SmallVec<[WriteGuard<'a>; 2]>,
    _readers: SmallVec<[ReadGuard<'a>; 4]>,
}

impl<'a> Opened<'a> {
    /// Opens them; inputs that do not lie densely are copied to `room`, which has as many bytes as their [`Fit`] says.
    #[inline(always)]
    fn new(op: &'static str, operands: &Operands<'_, 'a>, mut room: *mut u8) -> Result<Self> {
        let outputs = operands.outputs;
        let order = outputs.first().and_then(|first| first.layout().order());
        let order = order.unwrap_or(Order::C);
        let mut lanes = Lanes::new();
        let mut writers: SmallVec<[WriteGuard<'a>; 2]> = SmallVec::new();
        let mut readers: SmallVec<[ReadGuard<'a>; 4]> = SmallVec::new();
        for (number, output) in outputs.iter().enumerate() {
            let mut guard = output.write(op, Argument::Output(number))?;
            lanes.push(lane(output, guard.as_mut_ptr()));
            writers.push(guard);
        }
        let mut inputs = operands.inputs.iter().enumerate();
        for load in operands.loads {
            let next = match load {
                Loaded::Input(_) => {
                    let Some((number, Input::Array(operand))) = inputs.next() else {
                        unreachable!("`fit` has seen an array for every input");
                    };
                    let place = outputs
                        .iter()
                        .position(|output| is_same_place(operand, output));
                    if let Some(output) = place {
                        // Opened already. Results wait in a tile until the last step has read what they replace.
                        let here = lanes[output];
                        lanes[output].access = Access::Tiled;
                        Lane {
                            access: Access::Direct,
                            ..here
                        }
                    } else {
                        let guard = operand.read(op, Argument::Input(number))?;
                        let mut lane = lane(operand, guard.as_ptr().cast_mut());
                        readers.push(guard);
                        if !operand.layout().is_contiguous(order) {
                            // SAFETY: the layout stays inside the opened buffer; the room was measured for these elements,
                            // and nobody else sees it.
                            unsafe { gather(operand, lane.at, room, order) };
                            lane.at = room;
                            room = room.wrapping_add(room_of(operand.elements() * lane.size));
                        }
                        lane
                    }
                }
                Loaded::Constant(word, size) => Lane {
                    at: std::ptr::from_ref(word).cast_mut().cast(),
                    stride: 0,
                    size: *size,
                    access: Access::Scalar,
                    gaps: false,
                },
            };
            lanes.push(next);
        }
        Ok(Opened {
            lanes,
            _writers: writers,
            _readers: readers,
        })
    }
}

/// Runs code on operands of which that is known. `width` is the widest element of any step, `heavy` says that arithmetic
/// rather than memory sets the pace.
///
/// # Errors
/// [`KernelError::Access`](crate::KernelError::Access). Nothing is written then.
pub(crate) fn run(
    op: &'static str,
    code: &Code,
    (width, heavy): (usize, bool),
    operands: &Operands<'_, '_>,
    fit: Fit,
) -> Result<()> {
    let outputs = operands.outputs;
    let n = outputs.first().map_or(0, Operand::elements);
    let bytes = n * fit.bytes;
    let streamed = stream::pays(bytes);
    let parts = threads::parts(bytes, heavy);
    if parts == 1
        && !streamed
        && fit.apart
        && fit.gathered == 0
        && operands.loads.len() < SOLE_SLOTS
        && let ([output], Some(call)) = (outputs, code.sole_call())
    {
        return run_sole(op, call, operands, output);
    }
    let mut room = MaybeUninit::<Room>::uninit();
    let Opened {
        mut lanes,
        _writers,
        _readers,
    } = Opened::new(op, operands, room.as_mut_ptr().cast())?;
    if streamed {
        for lane in &mut lanes[..outputs.len()] {
            lane.access = Access::Tiled;
        }
    }
    let setup = Setup::new(code, outputs.len(), &lanes, (width, heavy), streamed);
    if parts == 1 {
        // SAFETY: the operands are dense, opened, of the code's dtypes and have `n` elements; outputs are apart from
        // everything else, but for inputs that are their very elements, and those outputs are tiled.
        unsafe { Frame::new(&setup, &lanes, n).run(n) };
        return Ok(());
    }
    let work = Flat {
        setup: &setup,
        lanes: &lanes,
    };
    let share = n.div_ceil(parts).next_multiple_of(TILE);
    let ranges = (0..parts).map(|part| (part * share).min(n)..((part + 1) * share).min(n));
    threads::for_each_part(ranges, |range| work.range(range));
    Ok(())
}

/// The slots of a kernel's operands: one result and what it loads.
const SOLE_SLOTS: usize = 4;

/// Opens the operands of a [sole call](Code::sole_call), the output apart from the inputs, and hands them to its kernel: small
/// programs are mostly that, and for them lanes would cost more than the arithmetic.
///
/// # Errors
/// As [`run`].
fn run_sole(
    op: &'static str,
    call: &Call,
    operands: &Operands<'_, '_>,
    output: &Operand<'_>,
) -> Result<()> {
    let mut writer = output.write(op, Argument::Output(0))?;
    let mut readers = [const { None::<ReadGuard<'_>> }; SOLE_SLOTS - 1];
    // Slot 0 is the output, which stands where the kernel has no source.
    let mut starts = [start(output, writer.as_mut_ptr()); SOLE_SLOTS];
    let mut inputs = operands.inputs.iter().enumerate();
    for (slot, load) in (1..SOLE_SLOTS).zip(operands.loads) {
        starts[slot] = match load {
            Loaded::Constant(word, _) => std::ptr::from_ref(word).cast_mut().cast(),
            Loaded::Input(_) => {
                let Some((number, Input::Array(operand))) = inputs.next() else {
                    unreachable!("`fit` has seen an array for every input");
                };
                let reader = operand.read(op, Argument::Input(number))?;
                let first = start(operand, reader.as_ptr().cast_mut());
                readers[slot - 1] = Some(reader);
                first
            }
        };
    }
    let [a, b, c] = call.sources.map(|slot| starts[usize::from(slot)]);
    // SAFETY: the operands are dense, opened, of the code's dtypes and have as many elements as the output, which is apart
    // from them; a constant is one element, as the kernel takes it.
    unsafe { (call.kernel)(output.elements(), starts[0], a, b, c) };
    Ok(())
}

/// The first element of a dense operand whose opened buffer starts there.
#[inline]
fn start(operand: &Operand<'_>, buffer: *mut u8) -> *mut u8 {
    buffer.wrapping_add(operand.layout().offset() * operand.dtype().size())
}

/// A dense operand, from the start of its opened buffer.
fn lane(operand: &Operand<'_>, buffer: *mut u8) -> Lane {
    Lane {
        at: start(operand, buffer),
        stride: 1,
        size: operand.dtype().size(),
        access: Access::Direct,
        gaps: false,
    }
}

/// A call to be divided among threads.
struct Flat<'s, 'c> {
    setup: &'s Setup<'c>,
    lanes: &'s Lanes,
}

// SAFETY: the pointers stand for memory that guards held by the caller keep open; the parts given to different threads are
// disjoint ranges of elements.
unsafe impl Sync for Flat<'_, '_> {}

impl Flat<'_, '_> {
    fn range(&self, range: Range<usize>) {
        let mut frame = Frame::new(self.setup, self.lanes, range.len());
        for lane in &mut frame.lanes {
            lane.advance(range.start);
        }
        // SAFETY: as in `run`, for at least `range.end` elements; no other thread writes this range.
        unsafe { frame.run(range.len()) };
    }
}
