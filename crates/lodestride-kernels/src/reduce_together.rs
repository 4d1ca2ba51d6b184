//! Many runs folded side by side, whose lanes are joined together: that of one alone would take as long as a short run itself.

use crate::across::{FEW, Halves, Lines, across_rows, halved};
use crate::isa::{Arch, Task};
use crate::numeric::Compute;
use crate::reduce_data::{Runs, last_chunk};
use crate::reduce_fold::{LANES, LONG, LaneFold, grouped, step_chunks, tiny};
use std::hint::black_box;

/// Runs of a few elements that are folded together, as columns.
const TOGETHER: usize = 64;

/// Many runs of less than [`LONG`] elements, or at most [`TOGETHER_LONG`], side by side.
pub(crate) struct Together<'a, C, F, T> {
    pub(crate) fold: F,
    pub(crate) runs: Runs<'a, C>,
    pub(crate) totals: &'a mut [T],
}

impl<C: Compute, F: LaneFold<C>> Task for Together<'_, C, F, F::Total> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { fold, runs, totals } = self;
        if runs.len < FEW {
            return tiny_runs::<A, C, F>(fold, runs, totals);
        }
        if const { C::IS_WHOLE } {
            // In any order, so in that which the compiler likes.
            for (index, total) in totals.iter_mut().enumerate() {
                *total = tiny(fold, runs.run(index));
            }
            return;
        }
        if runs.len < LONG && fold.short_runs::<A>(runs, totals) {
            return;
        }
        // A vector of lanes for each run, then the lanes of all of them together: the same tree.
        for (group, totals) in totals.chunks_mut(FEW).enumerate() {
            let joined = joined_lanes::<A, C, F>(fold, runs.from(group * FEW), totals.len());
            if let Ok(totals) = <&mut [F::Total; FEW]>::try_from(&mut *totals) {
                // As many as there are lanes: no test for each.
                for at in 0..FEW {
                    totals[at] = fold.lift(joined[at]);
                }
                continue;
            }
            for (total, lane) in totals.iter_mut().zip(joined) {
                *total = fold.lift(lane);
            }
        }
    }
}

/// Runs shorter than a vector, as columns of a tile: each is folded from first to last, as [`tiny`] does.
#[inline(always)]
fn tiny_runs<A: Arch, C: Compute, F: LaneFold<C>>(
    fold: F,
    runs: Runs<'_, C>,
    totals: &mut [F::Total],
) {
    let mut tile = [C::ZERO; FEW * TOGETHER];
    for (group, totals) in totals.chunks_mut(TOGETHER).enumerate() {
        let runs = runs.from(group * TOGETHER);
        runs.transposed::<A>(totals.len(), &mut tile, TOGETHER);
        let mut lanes = [fold.lane(); TOGETHER];
        // Of a length the compiler does not know: it would write the loop out, 6 KB of code for no time.
        let columns = black_box(&tile[..runs.len * TOGETHER]);
        for column in columns.as_chunks::<TOGETHER>().0 {
            for (lane, &value) in lanes.iter_mut().zip(column) {
                *lane = fold.step(*lane, value);
            }
        }
        for (total, &lane) in totals.iter_mut().zip(&lanes) {
            *total = fold.lift(lane);
        }
    }
}

/// Steps lanes over each of up to [`FEW`] runs, as many as [`lanes_of_run`] takes, and joins those of each to one.
#[inline(always)]
fn joined_lanes<A: Arch, C: Compute, F: LaneFold<C>>(
    fold: F,
    runs: Runs<'_, C>,
    count: usize,
) -> [F::Lane; FEW] {
    let join = |left, right| fold.join(left, right);
    let mut halves: Halves<F::Lane> = Lines([[fold.lane(); FEW / 2]; FEW]);
    for (index, half) in halves.0.iter_mut().enumerate().take(count) {
        let (run, mut lanes) = (runs.run(index), [fold.lane(); FEW]);
        let mut rest = run;
        if run.len() >= LONG {
            let (chunks, last) = run.as_chunks::<LANES>();
            lanes = grouped(step_chunks(fold, [fold.lane(); LANES], chunks, false), join);
            rest = last;
        }
        let (chunks, last) = rest.as_chunks::<FEW>();
        lanes = step_chunks(fold, lanes, chunks, false);
        if !last.is_empty() {
            lanes = step_chunks(
                fold,
                lanes,
                &[last_chunk(run, last.len(), fold.fill())],
                false,
            );
        }
        *half = halved(&lanes, join);
    }
    across_rows::<A, F::Lane>(&halves, join)
}
