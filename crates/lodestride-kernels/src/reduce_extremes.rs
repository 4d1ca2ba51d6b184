//! The largest and smallest of integers and halves that lie in runs or side by side, and where integers first stand: compared as they
//! are, in as many lanes as a vector has of them, where other reductions convert to 64 bits or to f32 first.

use lodestride_buffer::{DType, Element, ReadGuard, WriteGuard};

use crate::across::FEW;
use crate::isa::{Arch, Level, Task};
use crate::rank::{Flip, HalfRank, Key, Rank, flip, with_key};
use crate::reduce::ReduceOp;
use crate::reduce_data::Runs;
use crate::reduce_lines::{Depth, GROUP, Way};
use crate::reduce_plan::{Piece, Plan};
use crate::strided::{Dim, store_run};
use crate::threads;

/// Shortest run worth a call of its own, and fewest columns.
const WIDE: usize = 64;
/// Elements from which on a run has lanes of its own, as many as the compiler likes.
const LONG: usize = 256;
/// Elements from which on a run is searched by parts of that many.
const LONGER: usize = 512;
/// Bytes of columns whose extremes are kept in the nearest cache.
const COLUMN_BYTES: usize = 16 << 10;

/// Writes what it finds to an output of the same dtype; false, with nothing done, where the operation or the elements are others,
/// or they do not lie in runs or rows.
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
    if dtype != out_dtype {
        return false;
    }
    if let Some(rank) = HalfRank::of(dtype, is_smallest) {
        return of(guard.slice::<i16>(), rank, plan, output);
    }
    with_key!(dtype, K => {
        of(guard.slice(), Flip::<K>(flip(dtype, is_smallest)), plan, output)
    }, else false)
}

fn of<E: Element + Sync, R: Rank<E>>(
    x: &[E],
    rank: R,
    plan: &Plan,
    output: &mut WriteGuard<'_>,
) -> bool {
    let to = output.slice_mut::<E>();
    let elements = plan.lines() * plan.inner.size * plan.depth();
    let shared = threads::are_worth(elements * size_of::<E>(), false);
    let stride = plan.inner.out;
    match plan.way(FEW, WIDE) {
        Some(Way::Along(depth)) => {
            let fold = |piece: Piece, depth: Depth<'_>| {
                let mut found = [R::Key::LOWEST; GROUP];
                plan.each_runs(x, (piece, depth), &mut |runs, count, outputs| {
                    run_by_size::<E, _>(Along {
                        runs,
                        count,
                        rank,
                        found: &mut found[outputs],
                    });
                    true
                });
                found.map(Key::widened)
            };
            plan.fold_along((depth, shared), &fold, &Ord::max, &mut |piece, found| {
                let element = |key| rank.element(R::Key::narrowed(key));
                store_run(to, piece.out, stride, found, element);
            });
        }
        Some(Way::Down(depth)) => {
            let fold = |piece: Piece| {
                let mut found = vec![R::Key::LOWEST ^ rank.veil(); piece.width];
                for start in depth.starts(piece.x) {
                    run_by_size::<E, _>(Across {
                        x: &x[start as usize..],
                        rows: depth.line,
                        rank,
                        found: &mut found,
                    });
                }
                let found = found.into_iter();
                found
                    .map(|key| rank.element(key ^ rank.veil()))
                    .collect::<Vec<E>>()
            };
            let most = COLUMN_BYTES / size_of::<E>();
            plan.fold_down((most, shared), &fold, &mut |piece, found| {
                store_run(to, piece.out, stride, found, |value| value);
            });
        }
        None => return false,
    }
    true
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

/// The best key of all runs and of what was found already.
pub(crate) fn best_of_all<K: Key>(runs: Runs<'_, K>, count: usize, flip: K, found: K) -> K {
    let (rank, mut found) = (Flip(flip), [found]);
    run_by_size::<K, _>(Along {
        runs,
        count,
        rank,
        found: &mut found,
    });
    found[0]
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

/// The best keys of runs, of each or of all of them, and of what was found already.
struct Along<'a, E, R: Rank<E>>
where
    E: Element,
{
    runs: Runs<'a, E>,
    count: usize,
    rank: R,
    found: &'a mut [R::Key],
}

impl<E: Element, R: Rank<E>> Task for Along<'_, E, R> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { runs, rank, .. } = self;
        for index in 0..self.count {
            let run = runs.run(index);
            let found = &mut self.found[index.min(self.found.len() - 1)];
            let best = match run.last_chunk::<FEW>() {
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
            *found = best.max(*found);
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
