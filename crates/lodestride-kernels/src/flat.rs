//! The fast path of programs: every operand dense in memory, or one row for all, of the program's dtypes, in one order, and inputs
//! in an output's memory only where they are its very elements. No nest and nothing to resolve; what it does not fit goes to `driver.rs`.
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

/// How many elements follow each other in memory in every operand: all, or those of a row where some input is one row for all
/// of them; `None` where operands lie otherwise, outputs share memory, or an input has an output's but in another place.
pub(crate) fn stretch(loads: &[Bound<'_>], outputs: &[Operand<'_>]) -> Option<usize> {
    let first = outputs.first()?;
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
    if !(outputs[1..].iter().all(alike)
        && arrays().all(alike)
        && outputs.iter().enumerate().all(apart))
    {
        return None;
    }
    if dense(Order::C) || dense(Order::F) {
        return Some(first.elements());
    }
    let in_order = |operand: &Operand<'_>| operand.layout().is_contiguous(Order::C);
    let row = *first.shape().last()?;
    let fits = outputs.iter().all(in_order) && arrays().all(|x| in_order(x) || is_row(x));
    (fits && row >= SHORTEST_ROW).then_some(row)
}

/// Shorter rows are better joined, which is what `driver.rs` does.
const SHORTEST_ROW: usize = 16;

/// Whether an operand is one dense row, repeated along every other axis.
fn is_row(operand: &Operand<'_>) -> bool {
    let strides = operand.layout().strides();
    let Some((last, outer)) = strides.split_last() else {
        return false;
    };
    let repeated = |(size, stride): (&usize, &isize)| *size == 1 || *stride == 0;
    *last == 1 && operand.shape().iter().zip(outer).all(repeated)
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
    /// The lanes of rows that are repeated.
    rows: SmallVec<[usize; 2]>,
    _writers: SmallVec<[WriteGuard<'a>; 2]>,
    _readers: SmallVec<[ReadGuard<'a>; 4]>,
}

impl<'a> Opened<'a> {
    #[inline(always)]
    fn new(op: &'static str, loads: &[Bound<'a>], outputs: &[Operand<'a>]) -> Result<Self> {
        let mut lanes = Lanes::new();
        let mut rows = SmallVec::new();
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
                        if !operand.layout().is_contiguous(Order::C) && is_row(operand) {
                            rows.push(lanes.len());
                        }
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
            rows,
            _writers: writers,
            _readers: readers,
        })
    }
}

/// Runs code on operands of which `stretch` elements follow each other. `width` is the widest element of any step, `heavy` says
/// that arithmetic rather than memory sets the pace. Gives false, having done nothing, for rows of so many elements that threads or
/// ways past the caches are wanted.
///
/// # Errors
/// [`KernelError::Access`](crate::KernelError::Access). Nothing is written then.
pub(crate) fn run(
    op: &'static str,
    code: &Code,
    (width, heavy): (usize, bool),
    (loads, outputs): (&[Bound<'_>], &[Operand<'_>]),
    stretch: usize,
) -> Result<bool> {
    let Opened {
        mut lanes,
        rows,
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
    if stretch < n {
        if streamed || parts > 1 {
            return Ok(false);
        }
        let setup = Setup::new(code, outputs.len(), &lanes, (width, heavy), false);
        let mut frame = Frame::new(&setup, lanes, stretch);
        for _ in 0..n / stretch {
            // SAFETY: as below, for the elements of a row.
            unsafe { frame.run(stretch) };
            for &row in &rows {
                frame.lanes[row].rewind(stretch);
            }
        }
        return Ok(true);
    }
    if parts == 1
        && !streamed
        && let Some(call) = sole_call(code, outputs.len(), &lanes, streamed)
    {
        // SAFETY: as below.
        unsafe { sole_pass(call, &lanes).run(n) };
        return Ok(true);
    }
    let setup = Setup::new(code, outputs.len(), &lanes, (width, heavy), streamed);
    if parts == 1 {
        // SAFETY: the operands are dense, opened, of the code's dtypes and have `n` elements; outputs are apart from
        // everything else, but for inputs that are their very elements, and those outputs are tiled.
        unsafe { Frame::new(&setup, lanes, n).run(n) };
        return Ok(true);
    }
    let work = Flat {
        setup: &setup,
        lanes: &lanes,
    };
    let share = n.div_ceil(parts).next_multiple_of(TILE);
    let ranges = (0..parts).map(|part| (part * share).min(n)..((part + 1) * share).min(n));
    threads::for_each_part(ranges, |range| work.range(range));
    Ok(true)
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
