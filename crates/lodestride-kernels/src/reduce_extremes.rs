//! The largest and smallest of integers and halves that lie in runs or side by side, and where integers first stand: compared as they
//! are, in as many lanes as a vector has of them, where other reductions convert to 64 bits or to f32 first.

use half::slice::HalfFloatSliceExt;
use lodestride_buffer::{DType, Element, ReadGuard, WriteGuard, bf16, f16};

use crate::across::FEW;
use crate::isa::{Arch, Level, Task};
use crate::rank::{Flip, HalfRank, Key, Rank, flip, with_key};
use crate::reduce::ReduceOp;
use crate::reduce_data::Runs;
use crate::reduce_plan::Plan;
use crate::spread;
use crate::strided::{Dim, count, store_run, store_whole};
use crate::threads;

/// Shortest run worth a call of its own, and fewest columns.
const WIDE: usize = 64;
/// Elements from which on a run has lanes of its own, as many as the compiler likes.
const LONG: usize = 256;
/// Elements from which on a run is searched by parts of that many.
const LONGER: usize = 512;
/// Runs whose extremes are found by one call.
const GROUP: usize = 32;
/// Bytes of columns whose extremes are kept in the nearest cache.
const COLUMN_BYTES: usize = 16 << 10;
/// Elements of the part of a long run that a thread takes at a time.
const PART: usize = 1 << 16;

/// Takes an output offset, an output stride, and the values there.
type Sink<'s, K> = dyn FnMut(isize, isize, &[K]) + 's;

/// Writes what it finds to an output of the same dtype, or whether any or all elements are not zero to one of any dtype; false,
/// with nothing done, where the operation or the elements are others, or they do not lie in dense runs or rows.
pub(crate) fn run(
    op: ReduceOp,
    (guard, dtype): (&ReadGuard<'_>, DType),
    plan: &Plan,
    (output, out_dtype): (&mut WriteGuard<'_>, DType),
) -> bool {
    let (is_smallest, are_flags) = match op {
        ReduceOp::Max => (false, false),
        ReduceOp::Min => (true, false),
        ReduceOp::Any => (false, true),
        ReduceOp::All => (true, true),
        _ => return false,
    };
    if dtype != out_dtype && !are_flags {
        return false;
    }
    if let (Some(rank), false) = (HalfRank::of(dtype, is_smallest), are_flags) {
        return if dtype == DType::F16 {
            of_halves::<f16>(rank, guard, plan, output)
        } else {
            of_halves::<bf16>(rank, guard, plan, output)
        };
    }
    // Without signs nothing is below zero.
    let order = if are_flags { DType::U8 } else { dtype };
    with_key!(dtype, K => {
        let mut sink = |out, stride, values: &[K]| {
            if are_flags {
                store_flags((output, out_dtype), (out, stride), values);
            } else {
                store_run(output.slice_mut::<K>(), out, stride, values, |value| value);
            }
        };
        of(guard.slice(), Flip::<K>(flip(order, is_smallest)), plan, &mut sink)
    }, else false)
}

/// [`run`] of halves of one kind.
fn of_halves<H: Element>(
    rank: HalfRank,
    guard: &ReadGuard<'_>,
    plan: &Plan,
    output: &mut WriteGuard<'_>,
) -> bool
where
    [H]: HalfFloatSliceExt,
{
    let to = output.slice_mut::<H>().reinterpret_cast_mut();
    let mut sink = |out, stride, values: &[u16]| store_run(to, out, stride, values, |x| x);
    let x = guard.slice::<H>().reinterpret_cast();
    of(x, rank, plan, &mut sink)
}

/// Writes whether values are not zero.
fn store_flags<K: Key>(
    (output, dtype): (&mut WriteGuard<'_>, DType),
    (mut out, stride): (isize, isize),
    values: &[K],
) {
    let mut flags = [0; WIDE];
    for values in values.chunks(WIDE) {
        let flags = &mut flags[..values.len()];
        for (flag, &value) in flags.iter_mut().zip(values) {
            *flag = u64::from(value != K::ZERO);
        }
        store_whole((output, dtype), (out, stride), flags);
        out += values.len() as isize * stride;
    }
}

fn of<E: Element + Sync, R: Rank<E>>(
    x: &[E],
    rank: R,
    plan: &Plan,
    sink: &mut Sink<'_, E>,
) -> bool {
    let elements = count(&plan.outer_x) * plan.inner.size * plan.depth();
    let work = Work {
        x,
        rank,
        plan,
        is_worth_threads: threads::are_worth(elements * size_of::<E>(), false),
    };
    match *plan.reduced.as_slice() {
        [Dim { size, stride: 1 }] if size >= FEW => work.runs(size, sink),
        [rows] if plan.inner.x == 1 && plan.inner.size >= WIDE && rows.size > 0 => {
            work.columns(rows, sink);
        }
        _ => return false,
    }
    true
}

struct Work<'a, E, R> {
    x: &'a [E],
    rank: R,
    plan: &'a Plan,
    is_worth_threads: bool,
}

impl<E: Element + Sync, R: Rank<E>> Work<'_, E, R> {
    /// An output for each run: some neighbouring ones at a time, or parts of them.
    fn runs(&self, size: usize, sink: &mut Sink<'_, E>) {
        let (plan, inner, rank) = (self.plan, self.plan.inner, self.rank);
        let (together, parts) = if self.is_worth_threads {
            ((PART / size).clamp(1, GROUP), size.div_ceil(PART))
        } else {
            (GROUP, 1)
        };
        let unit = |unit: usize| {
            let (piece, part) = (plan.piece(unit / parts, together), unit % parts * PART);
            let len = if parts == 1 {
                size
            } else {
                PART.min(size - part)
            };
            let mut found = [R::Key::LOWEST; GROUP];
            let runs = Runs::new(self.x, piece.x as usize + part, inner.x as usize, len);
            run_by_size::<E, _>(Along {
                runs,
                rank,
                found: &mut found[..piece.width],
            });
            found
        };
        let mut hand_out = |index: usize, parts: &[[R::Key; GROUP]]| {
            let mut best = parts[0];
            for more in &parts[1..] {
                for (best, &more) in best.iter_mut().zip(more) {
                    *best = (*best).max(more);
                }
            }
            let piece = plan.piece(index, together);
            let found = best.map(|key| rank.element(key));
            sink(piece.out, inner.out, &found[..piece.width]);
        };
        let pieces = plan.pieces(together);
        if self.is_worth_threads {
            let found = spread::map(pieces * parts, unit);
            (found.chunks(parts).enumerate()).for_each(|(index, parts)| hand_out(index, parts));
        } else {
            (0..pieces).for_each(|index| hand_out(index, &[unit(index)]));
        }
    }

    /// An output for each of the columns that lie side by side.
    fn columns(&self, rows: Dim, sink: &mut Sink<'_, E>) {
        let (plan, inner, rank) = (self.plan, self.plan.inner, self.rank);
        let most = COLUMN_BYTES / size_of::<E>();
        let width = if self.is_worth_threads {
            let share = inner.size.div_ceil(threads::threads());
            share.next_multiple_of(WIDE).min(most)
        } else {
            most
        };
        let piece = |unit: usize| {
            let piece = plan.piece(unit, width);
            let mut found = vec![R::Key::LOWEST ^ rank.veil(); piece.width];
            run_by_size::<E, _>(Across {
                x: &self.x[piece.x as usize..],
                rows,
                rank,
                found: &mut found,
            });
            found
                .into_iter()
                .map(|key| rank.element(key ^ rank.veil()))
                .collect::<Vec<E>>()
        };
        let mut hand_out =
            |unit: usize, found: &[E]| sink(plan.piece(unit, width).out, inner.out, found);
        let units = plan.pieces(width);
        if self.is_worth_threads {
            let found = spread::map(units, piece);
            (found.iter().enumerate()).for_each(|(unit, found)| hand_out(unit, found));
        } else {
            (0..units).for_each(|unit| hand_out(unit, &piece(unit)));
        }
    }
}

/// Whether keys are so wide that vectors have few of them, and the compiler's own lanes leave little over at the end.
const fn is_wide<K>() -> bool {
    size_of::<K>() == 8
}

/// Runs a task: without AVX-512 where keys are narrow, since joining so many lanes takes longer than what it saves.
fn run_by_size<K, T: Task>(task: T) -> T::Output {
    if const { is_wide::<K>() } {
        Level::current().run(task)
    } else {
        Level::current().run_narrow(task)
    }
}

/// The first places of the best elements of runs of at least half of [`FEW`] elements, one for each of `best`.
pub(crate) fn first_places<K: Key>(runs: Runs<'_, K>, flip: K, best: &mut [i64]) {
    run_by_size::<K, _>(First { runs, flip, best });
}

/// The first places of the best elements of runs.
struct First<'a, K> {
    runs: Runs<'a, K>,
    flip: K,
    best: &'a mut [i64],
}

impl<K: Key> Task for First<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { runs, flip, best } = self;
        match runs.len {
            0..FEW => each_place::<K, { FEW / 2 }>(runs, flip, best),
            FEW..WIDE => each_place::<K, FEW>(runs, flip, best),
            len if len < LONGER || const { is_wide::<K>() } => {
                each_place::<K, { WIDE / 2 }>(runs, flip, best);
            }
            // To join the lanes of a part takes as long as to compare some vectors.
            _ => each_place::<K, LONG>(runs, flip, best),
        }
    }
}

/// [`first_place`] of each run.
#[inline(always)]
fn each_place<K: Key, const N: usize>(runs: Runs<'_, K>, flip: K, best: &mut [i64]) {
    for (index, best) in best.iter_mut().enumerate() {
        *best = first_place::<K, N>(runs.run(index), flip) as i64;
    }
}

/// The first place of the best element of a run. One pass finds the first part that has it, and no branch depends on where that is.
#[inline(always)]
fn first_place<K: Key, const N: usize>(run: &[K], flip: K) -> usize {
    let parts = run.as_chunks::<N>().0;
    // The last part begins among the elements of the one before it.
    let Some((last, end)) = run.last_chunk::<N>().zip(run.len().checked_sub(N)) else {
        return 0;
    };
    let (mut best, mut at) = (run[0] ^ flip, 0);
    for (number, part) in parts.iter().enumerate() {
        let both = best.max(best_of_part(part, flip));
        at = if both == best { at } else { number * N };
        best = both;
    }
    if end % N != 0 {
        let both = best.max(best_of_part(last, flip));
        at = if both == best { at } else { end };
        best = both;
    }
    let (part, best) = (run[at..].first_chunk::<N>().unwrap_or(last), best ^ flip);
    for word in part.chunks(WIDE) {
        let mut bits = 0;
        for (place, &x) in word.iter().enumerate() {
            bits |= u64::from(x == best) << place;
        }
        if bits != 0 {
            return at + bits.trailing_zeros() as usize;
        }
        at += WIDE;
    }
    at
}

/// The best key of a few elements.
#[inline(always)]
fn best_of_part<K: Key, const N: usize>(part: &[K; N], flip: K) -> K {
    let mut best = part[0] ^ flip;
    for &x in part {
        best = best.max(x ^ flip);
    }
    best
}

/// The best keys of runs.
struct Along<'a, E, R: Rank<E>>
where
    E: Element,
{
    runs: Runs<'a, E>,
    rank: R,
    found: &'a mut [R::Key],
}

impl<E: Element, R: Rank<E>> Task for Along<'_, E, R> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { runs, rank, found } = self;
        for (index, found) in found.iter_mut().enumerate() {
            let run = runs.run(index);
            *found = match run.last_chunk::<FEW>() {
                Some(last) if run.len() < LONG && const { !is_wide::<E>() } => {
                    best_of_short(run, last, rank)
                }
                _ => {
                    let mut best = R::Key::LOWEST;
                    for &x in run {
                        best = best.max(rank.key(x));
                    }
                    best
                }
            };
        }
    }
}

/// The best key of a run of at least [`FEW`] elements, the last of which are given too, in as many lanes.
#[inline(always)]
fn best_of_short<E: Element, R: Rank<E>>(run: &[E], last: &[E; FEW], rank: R) -> R::Key {
    let mut lanes = [R::Key::LOWEST; FEW];
    for (lane, &x) in lanes.iter_mut().zip(last) {
        *lane = rank.key(x);
    }
    for chunk in run.as_chunks::<FEW>().0 {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = (*lane).max(rank.key(x));
        }
    }
    best_of_part(&lanes, R::Key::ZERO)
}

/// The best keys of columns, [veiled](Rank::veil).
struct Across<'a, E, R: Rank<E>>
where
    E: Element,
{
    x: &'a [E],
    rows: Dim,
    rank: R,
    found: &'a mut [R::Key],
}

impl<E: Element, R: Rank<E>> Task for Across<'_, E, R> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self {
            x,
            rows,
            rank,
            found,
        } = self;
        // Four to a pass: what was found is read and written as rarely. At the end the last row may be compared again.
        for at in (0..rows.size).step_by(4) {
            let row = |index: usize| {
                let row = (at + index).min(rows.size - 1);
                &x[row * rows.stride as usize..][..found.len()]
            };
            let lines = row(0).iter().zip(row(1)).zip(row(2)).zip(row(3));
            for (found, (((&a, &b), &c), &d)) in found.iter_mut().zip(lines) {
                let (ab, cd) = (rank.key(a).max(rank.key(b)), rank.key(c).max(rank.key(d)));
                *found = (*found ^ rank.veil()).max(ab.max(cd)) ^ rank.veil();
            }
        }
    }
}
