//! Moments of many short runs, side by side: the mean of each, then the deviations from it.

use crate::across::FEW;
use crate::isa::{Arch, Task};
use crate::numeric::{Compute, ComputeFloat};
use crate::reduce_data::{Runs, last_chunk};
use crate::reduce_kinds::{Addable, Magnitude, Sum};
use crate::reduce_moments::{Moments, moments_by_two_looks};
use crate::reduce_short::{across_vectors, joined, lanes_of, shuffles};
use crate::vector::{Vector, VectorTask};

/// Runs of less than [`LONG`](crate::reduce_fold::LONG) elements, by two looks.
pub(crate) struct MomentsOfShortRuns<'a, C> {
    pub(crate) runs: Runs<'a, C>,
    pub(crate) totals: &'a mut [Moments],
}

impl<C: ComputeFloat + Addable<Value = f64> + Magnitude> Task for MomentsOfShortRuns<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { runs, totals } = self;
        if C::in_vectors::<A, _>(InVectors { runs, totals }).unwrap_or(false) {
            return;
        }
        for (index, total) in totals.iter_mut().enumerate() {
            *total = moments_by_two_looks::<A, _>(runs.run(index));
        }
    }
}

/// The same in vector registers; false, with nothing done, where vectors are of another size than the shuffles.
struct InVectors<'a, C> {
    runs: Runs<'a, C>,
    totals: &'a mut [Moments],
}

/// Runs between whose two looks there is enough to do: the second waits for a division.
const TOGETHER: usize = 16;

impl<C: ComputeFloat + Addable<Value = f64> + Magnitude> VectorTask<C> for InVectors<'_, C> {
    type Output = bool;

    #[inline(always)]
    fn run<A: Arch, V: Vector<C>>(self) -> bool {
        let Self { runs, totals } = self;
        if !shuffles::<A, C, V>() {
            return false;
        }
        let count = runs.len as f64;
        for (group, totals) in totals.chunks_mut(TOGETHER).enumerate() {
            let runs = runs.from(group * TOGETHER);
            let mut sums = [V::splat(C::ZERO); TOGETHER];
            let mut squares = [V::splat(C::ZERO); TOGETHER];
            for (index, sum) in sums.iter_mut().enumerate().take(totals.len()) {
                let run = runs.run(index);
                *sum = lanes_of(Sum::<false>, run, &mut [V::splat(C::ZERO); 4]);
            }
            let mut shifts = totals_of::<C, V>(&sums);
            for shift in &mut shifts {
                *shift = C::of(shift.wide() / count);
            }
            for index in 0..totals.len() {
                let (run, shift) = (runs.run(index), shifts[index]);
                (sums[index], squares[index]) = deviations_of::<C, V>(run, shift);
            }
            let (sums, squares) = (totals_of::<C, V>(&sums), totals_of::<C, V>(&squares));
            // Arrays: parts of `Moments` do not vectorise.
            let (mut means, mut around) = ([0.0; TOGETHER], [0.0; TOGETHER]);
            for run in 0..TOGETHER {
                let deviation = sums[run].wide();
                means[run] = shifts[run].wide() + deviation / count;
                around[run] = squares[run].wide() - deviation * deviation / count;
            }
            for (total, (mean, squares)) in totals.iter_mut().zip(means.into_iter().zip(around)) {
                let moments = Moments {
                    count,
                    mean,
                    squares,
                };
                *total = moments;
            }
        }
        true
    }
}

/// The sum of each vector's lanes.
#[inline(always)]
fn totals_of<C: Addable + Magnitude, V: Vector<C>>(vectors: &[V; TOGETHER]) -> [C; TOGETHER] {
    let mut totals = [C::ZERO; TOGETHER];
    for first in (0..TOGETHER).step_by(V::LANES) {
        let mut rows = [V::splat(C::ZERO); 8];
        rows[..V::LANES].copy_from_slice(&vectors[first..first + V::LANES]);
        across_vectors(Sum::<false>, rows).store(&mut totals[first..]);
    }
    totals
}

/// Lanes of the deviations of a run from a shift, and of their squares.
#[inline(always)]
fn deviations_of<C: Addable + Magnitude, V: Vector<C>>(run: &[C], shift: C) -> (V, V) {
    let mut lanes = [[V::splat(C::ZERO); 4]; 2];
    let (chunks, rest) = run.as_chunks();
    for chunk in chunks {
        step(&mut lanes, chunk, shift);
    }
    if !rest.is_empty() {
        step(&mut lanes, &last_chunk(run, rest.len(), shift), shift);
    }
    let [sums, squares] = lanes;
    (joined(Sum::<false>, sums), joined(Sum::<false>, squares))
}

#[inline(always)]
fn step<C: Compute, V: Vector<C>>([sums, squares]: &mut [[V; 4]; 2], chunk: &[C; FEW], shift: C) {
    for part in 0..FEW / V::LANES {
        let deviation = V::load(&chunk[part * V::LANES..]).sub(V::splat(shift));
        sums[part] = sums[part].add(deviation);
        squares[part] = squares[part].add(deviation.mul(deviation));
    }
}
