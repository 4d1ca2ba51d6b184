//! The largest and smallest of integers that lie in long runs or side by side: compared as they are, in as many lanes as a
//! vector has of them, where other reductions convert to 64 bits first.

use lodestride_buffer::{DType, ReadGuard, WriteGuard, with_integer};

use crate::index_reduce::ArgOp;
use crate::isa::{Arch, Level, Task};
use crate::numeric::Numeric;
use crate::reduce::ReduceOp;
use crate::reduce_plan::Plan;
use crate::scalar::arith::Ring;
use crate::spread;
use crate::strided::{Dim, Dims, count, offset_at, store_whole};
use crate::threads;

/// Shortest run worth a call.
const LONG: usize = 64;
/// Columns whose extremes are kept in the nearest cache.
const COLUMNS: usize = 4096;
/// Elements of the part of a long run that a thread takes at a time.
const PART: usize = 1 << 16;

/// Takes an output offset, an output stride, and the values there.
type Sink<'s, T> = dyn FnMut(isize, isize, &[T]) + 's;

/// Writes what it finds to an output; false, with nothing done, where the operation or the elements are others, or they do not
/// lie in long dense runs or rows.
pub(crate) fn run(
    op: ReduceOp,
    (guard, dtype): (&ReadGuard<'_>, DType),
    plan: &Plan,
    (output, out_dtype): (&mut WriteGuard<'_>, DType),
) -> bool {
    let is_smallest = match op {
        ReduceOp::Max => false,
        ReduceOp::Min => true,
        _ => return false,
    };
    with_integer!(dtype, T => {
        let mut sink =
            |out, stride, values: &[T]| store_whole((output, out_dtype), (out, stride), values);
        of::<T>(guard.slice(), is_smallest, plan, &mut sink)
    }, else false)
}

fn of<T: Ring + Numeric>(x: &[T], is_smallest: bool, plan: &Plan, sink: &mut Sink<'_, T>) -> bool {
    let elements = count(&plan.outer_x) * plan.inner.size * plan.depth();
    let work = Work {
        x,
        is_smallest,
        plan,
        is_worth_threads: threads::are_worth(elements * size_of::<T>(), false),
    };
    match *plan.reduced.as_slice() {
        [Dim { size, stride: 1 }] if size >= LONG => work.runs(size, sink),
        [rows] if plan.inner.x == 1 && plan.inner.size >= LONG && rows.size > 0 => {
            work.columns(rows, sink);
        }
        _ => return false,
    }
    true
}

struct Work<'a, T> {
    x: &'a [T],
    is_smallest: bool,
    plan: &'a Plan,
    is_worth_threads: bool,
}

impl<T: Ring + Numeric> Work<'_, T> {
    /// An output for each run.
    fn runs(&self, size: usize, sink: &mut Sink<'_, T>) {
        let (plan, inner) = (self.plan, self.plan.inner);
        let place = |index: usize| (index / inner.size, (index % inner.size) as isize);
        let run = |index: usize| {
            let (outer, at) = place(index);
            let start = plan.x_start + offset_at(&plan.outer_x, outer) + at * inner.x;
            &self.x[start as usize..][..size]
        };
        let out = |index: usize| {
            let (outer, at) = place(index);
            plan.out_start + offset_at(&plan.outer_out, outer) + at * inner.out
        };
        let runs = count(&plan.outer_x) * inner.size;
        if !self.is_worth_threads {
            for index in 0..runs {
                sink(out(index), 1, &[extreme(run(index), self.is_smallest)]);
            }
            return;
        }
        let parts = size.div_ceil(PART);
        let found = spread::map(runs * parts, |unit| {
            let rest = &run(unit / parts)[unit % parts * PART..];
            extreme(&rest[..rest.len().min(PART)], self.is_smallest)
        });
        for (index, parts) in found.chunks(parts).enumerate() {
            sink(out(index), 1, &[extreme(parts, self.is_smallest)]);
        }
    }

    /// An output for each of the columns that lie side by side.
    fn columns(&self, rows: Dim, sink: &mut Sink<'_, T>) {
        let (plan, inner) = (self.plan, self.plan.inner);
        let width = if self.is_worth_threads {
            let share = inner.size.div_ceil(threads::threads());
            share.next_multiple_of(LONG).min(COLUMNS)
        } else {
            COLUMNS
        };
        let pieces = inner.size.div_ceil(width);
        let piece = |unit: usize| {
            let first = unit % pieces * width;
            let start = plan.x_start + offset_at(&plan.outer_x, unit / pieces) + first as isize;
            let width = width.min(inner.size - first);
            columns(self.x, start, width, rows, self.is_smallest)
        };
        let mut hand_out = |unit: usize, found: &[T]| {
            let first = (unit % pieces * width) as isize;
            let out = plan.out_start + offset_at(&plan.outer_out, unit / pieces);
            sink(out + first * inner.out, inner.out, found);
        };
        let units = count(&plan.outer_x) * pieces;
        if self.is_worth_threads {
            let found = spread::map(units, piece);
            (found.iter().enumerate()).for_each(|(unit, found)| hand_out(unit, found));
        } else {
            (0..units).for_each(|unit| hand_out(unit, &piece(unit)));
        }
    }
}

/// The extreme of a run, which is not empty.
fn extreme<T: Ring>(run: &[T], is_smallest: bool) -> T {
    Level::current().run_narrow(Along { run, is_smallest })
}

/// The extremes of neighbouring columns.
fn columns<T: Ring>(x: &[T], start: isize, width: usize, rows: Dim, is_smallest: bool) -> Vec<T> {
    let row = |index: usize| &x[(start + index as isize * rows.stride) as usize..][..width];
    let mut found = row(0).to_vec();
    for index in 1..rows.size {
        Level::current().run_narrow(Join {
            found: &mut found,
            row: row(index),
            is_smallest,
        });
    }
    found
}

/// The first places of the extremes of runs of `size` elements side by side from `start` on, one for each position of `kept`;
/// none where the operation or the elements are others, or the runs are short.
pub(crate) fn first_places(
    op: ArgOp,
    (guard, dtype): (&ReadGuard<'_>, DType),
    (start, kept): (isize, &Dims),
    size: usize,
) -> Option<Vec<i64>> {
    let is_smallest = match op {
        ArgOp::ArgMax => false,
        ArgOp::ArgMin => true,
        _ => return None,
    };
    if size < LONG {
        return None;
    }
    with_integer!(
        dtype,
        T => Some(places::<T>(guard.slice(), is_smallest, (start, kept), size)),
        else None
    )
}

fn places<T: Ring>(
    x: &[T],
    is_smallest: bool,
    (start, kept): (isize, &Dims),
    size: usize,
) -> Vec<i64> {
    let runs = count(kept);
    let place = |index: usize| {
        let run = &x[(start + offset_at(kept, index)) as usize..][..size];
        Level::current().run_narrow(First { run, is_smallest }) as i64
    };
    if threads::are_worth(runs * size * size_of::<T>(), false) {
        spread::map(runs, place)
    } else {
        (0..runs).map(place).collect()
    }
}

/// The first place of the extreme of a run of at least [`LONG`] elements.
struct First<'a, T> {
    run: &'a [T],
    is_smallest: bool,
}

impl<T: Ring> Task for First<'_, T> {
    type Output = usize;

    #[inline(always)]
    fn run<A: Arch>(self) -> usize {
        if self.is_smallest {
            first_place(self.run, T::min::<A>)
        } else {
            first_place(self.run, T::max::<A>)
        }
    }
}

/// The first place of what `better` of two leaves of a run. One pass finds the first part that has it, and no branch depends on
/// where that is.
#[inline(always)]
fn first_place<T: Ring>(run: &[T], better: impl Fn(T, T) -> T) -> usize {
    let (parts, _) = run.as_chunks::<LONG>();
    let best_of = |part: &[T; LONG]| part.iter().fold(part[0], |best, &x| better(best, x));
    // The last part begins among the elements of the one before it.
    let Some((last, end)) = run.last_chunk().zip(run.len().checked_sub(LONG)) else {
        return 0;
    };
    let (mut best, mut at) = (run[0], 0);
    for (number, part) in parts.iter().enumerate() {
        let both = better(best, best_of(part));
        at = if both == best { at } else { number * LONG };
        best = both;
    }
    let both = better(best, best_of(last));
    at = if both == best { at } else { end };
    let part = run[at..].first_chunk::<LONG>().unwrap_or(last);
    let places = part.iter().enumerate();
    let bits = places.fold(0, |bits, (place, &x)| bits | u64::from(x == both) << place);
    at + bits.trailing_zeros() as usize
}

struct Along<'a, T> {
    run: &'a [T],
    is_smallest: bool,
}

impl<T: Ring> Task for Along<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run<A: Arch>(self) -> T {
        let first = self.run[0];
        if self.is_smallest {
            self.run.iter().fold(first, |least, &x| least.min::<A>(x))
        } else {
            self.run.iter().fold(first, |most, &x| most.max::<A>(x))
        }
    }
}

/// A row compared with the extremes of the rows before.
struct Join<'a, T> {
    found: &'a mut [T],
    row: &'a [T],
    is_smallest: bool,
}

impl<T: Ring> Task for Join<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let pairs = self.found.iter_mut().zip(self.row);
        if self.is_smallest {
            pairs.for_each(|(least, &x)| *least = least.min::<A>(x));
        } else {
            pairs.for_each(|(most, &x)| *most = most.max::<A>(x));
        }
    }
}
