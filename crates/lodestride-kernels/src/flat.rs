//! The fast path of programs: every operand dense in memory, of the program's dtypes, in one order, and inputs in an output's
//! memory only where they are its very elements. No nest and nothing to resolve; what it does not fit goes to `driver.rs`.
#![expect(
    unsafe_code,
    reason = "dense operands are handed to frames as raw pointers"
)]

use crate::code::Code;
use crate::error::Result;
use crate::frame::{Access, Frame, Lane, Lanes, Setup, sole_call, sole_pass};
use crate::operand::Operand;
use crate::stream;
use crate::threads;
use crate::walk::TILE;
use lodestride_buffer::{Argument, ReadGuard, WriteGuard};
use lodestride_shape::Order;
use smallvec::SmallVec;
use std::ops::Range;

/// A load of a flat run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound<'a> {
    /// An input of the call, in order.
    Array(Operand<'a>),
    /// A constant: its bytes, from the start of the word, and how many they are.
    Word(&'a u64, usize),
}

/// Whether operands lie densely in memory in the order of the first output, outputs apart from each other and inputs from outputs
/// or in the same place.
pub(crate) fn fits(loads: &[Bound<'_>], outputs: &[Operand<'_>]) -> bool {
    let Some(first) = outputs.first() else {
        return false;
    };
    let arrays = || {
        loads.iter().filter_map(|load| match load {
            Bound::Array(operand) => Some(operand),
            Bound::Word(..) => None,
        })
    };
    let dense = |order: Order| {
        let fits = |operand: &Operand<'_>| operand.layout().is_contiguous(order);
        outputs.iter().all(fits) && arrays().all(fits)
    };
    let apart = |(number, output): (usize, &Operand<'_>)| {
        let apart = |other: &Operand<'_>| !other.buffer().same_block(output.buffer());
        let here = |input: &Operand<'_>| apart(input) || is_same_place(input, output);
        arrays().all(here) && outputs[..number].iter().all(apart)
    };
    let alike = |operand: &Operand<'_>| operand.shape() == first.shape();
    outputs[1..].iter().all(alike)
        && arrays().all(alike)
        && (dense(Order::C) || dense(Order::F))
        && outputs.iter().enumerate().all(apart)
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
    #[inline(always)]
    fn new(op: &'static str, loads: &[Bound<'a>], outputs: &[Operand<'a>]) -> Result<Self> {
        let mut lanes = Lanes::new();
        let mut writers: SmallVec<[WriteGuard<'a>; 2]> = SmallVec::new();
        let mut readers: SmallVec<[ReadGuard<'a>; 4]> = SmallVec::new();
        for (number, output) in outputs.iter().enumerate() {
            let mut guard = output.write(op, Argument::Output(number))?;
            lanes.push(lane(output, guard.as_mut_ptr()));
            writers.push(guard);
        }
        let mut input = 0;
        for load in loads {
            let next = match load {
                Bound::Array(operand) => {
                    let place = outputs
                        .iter()
                        .position(|output| is_same_place(operand, output));
                    let argument = Argument::Input(input);
                    input += 1;
                    if let Some(output) = place {
                        // Opened already. Results wait in a tile until the last step has read what they replace.
                        let here = lanes[output];
                        lanes[output].access = Access::Tiled;
                        Lane {
                            access: Access::Direct,
                            ..here
                        }
                    } else {
                        let guard = operand.read(op, argument)?;
                        let start = guard.as_ptr().cast_mut();
                        readers.push(guard);
                        lane(operand, start)
                    }
                }
                Bound::Word(word, size) => Lane {
                    at: std::ptr::from_ref(*word).cast_mut().cast(),
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

/// Runs code on operands that [`fits`] has accepted. `width` is the widest element of any step, `heavy` says that
/// arithmetic rather than memory sets the pace.
///
/// # Errors
/// [`KernelError::Access`](crate::KernelError::Access). Nothing is written then.
pub(crate) fn run(
    op: &'static str,
    code: &Code,
    (width, heavy): (usize, bool),
    loads: &[Bound<'_>],
    outputs: &[Operand<'_>],
) -> Result<()> {
    let Opened {
        mut lanes,
        _writers,
        _readers,
    } = Opened::new(op, loads, outputs)?;
    let n = outputs.first().map_or(0, Operand::elements);
    let sizes = lanes.iter().map(|l| l.size * l.stride.unsigned_abs());
    let bytes = n * sizes.sum::<usize>();
    let streamed = stream::pays(bytes);
    if streamed {
        for lane in &mut lanes[..outputs.len()] {
            lane.access = Access::Tiled;
        }
    }
    let parts = threads::parts(bytes, heavy);
    if parts == 1
        && !streamed
        && let Some(call) = sole_call(code, outputs.len(), &lanes, streamed)
    {
        // SAFETY: as below.
        unsafe { sole_pass(call, &lanes).run(n) };
        return Ok(());
    }
    let setup = Setup::new(code, outputs.len(), &lanes, (width, heavy), streamed);
    if parts == 1 {
        // SAFETY: the operands are dense, opened, of the code's dtypes and have `n` elements; outputs are apart from
        // everything else, but for inputs that are their very elements, and those outputs are tiled.
        unsafe { Frame::new(&setup, lanes, n).run(n) };
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

/// A dense operand, from the start of its opened buffer.
fn lane(operand: &Operand<'_>, start: *mut u8) -> Lane {
    let size = operand.dtype().size();
    Lane {
        at: start.wrapping_add(operand.layout().offset() * size),
        stride: 1,
        size,
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
        let mut frame = Frame::new(self.setup, self.lanes.clone(), range.len());
        for lane in &mut frame.lanes {
            lane.advance(range.start);
        }
        // SAFETY: as in `run`, for at least `range.end` elements; no other thread writes this range.
        unsafe { frame.run(range.len()) };
    }
}
