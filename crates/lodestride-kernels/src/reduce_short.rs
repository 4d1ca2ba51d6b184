//! Short runs of floats, folded side by side in vector registers.
//!
//! A run's lanes fill a few vectors and are joined to one; then as many runs as a vector has lanes are joined by shuffles.
//! The tree is that of a run alone. What the compiler makes of arrays here keeps going through memory.

use crate::across::{FEW, eights, fours, halves};
use crate::isa::{Arch, Level};
use crate::numeric::Compute;
use crate::reduce_data::Runs;
use crate::reduce_fold::{EachRun, LaneFold};
use crate::vector::{Vector, VectorTask};

/// A fold that works on whole vectors of lanes.
pub(crate) trait VectorFold<C: Compute>: LaneFold<C, Lane = C> {
    /// Whether NaN gets lost, so that runs which may hold one are folded again as others are.
    const LOSES_NAN: bool;
    fn step_all<V: Vector<C>>(&self, lanes: V, values: V) -> V;
    fn join_all<V: Vector<C>>(&self, left: V, right: V) -> V;
}

/// Runs of at least [`FEW`] elements, each to be made a total; false, with nothing done, where vectors are of another
/// size than the shuffles.
pub(crate) struct ShortRuns<'a, C, F, T> {
    pub(crate) fold: F,
    pub(crate) runs: Runs<'a, C>,
    pub(crate) totals: &'a mut [T],
}

impl<C: Compute, F: VectorFold<C>> VectorTask<C> for ShortRuns<'_, C, F, F::Total> {
    type Output = bool;

    #[inline(always)]
    fn run<A: Arch, V: Vector<C>>(self) -> bool {
        let Self { fold, runs, totals } = self;
        if !shuffles::<A, C, V>() {
            return false;
        }
        if !F::LOSES_NAN {
            for (group, totals) in totals.chunks_mut(V::LANES).enumerate() {
                let (runs, mut joined) = (runs.from(group * V::LANES), [C::ZERO; 8]);
                let sums = &mut [V::splat(C::ZERO); 4];
                rows_of::<C, V, F>(fold, runs, totals.len(), sums).store(&mut joined);
                lift_all(fold, totals, &joined[..V::LANES]);
            }
            return true;
        }
        // More of them between two looks for NaN.
        for (group, totals) in totals.chunks_mut(FEW).enumerate() {
            let (runs, mut joined) = (runs.from(group * FEW), [C::ZERO; FEW]);
            let mut sums = [V::splat(C::ZERO); 4];
            for first in (0..totals.len()).step_by(V::LANES) {
                let count = (totals.len() - first).min(V::LANES);
                let lanes = rows_of::<C, V, F>(fold, runs.from(first), count, &mut sums);
                lanes.store(&mut joined[first..]);
            }
            if has_nan(sums) {
                Level::current().run(EachRun { fold, runs, totals });
            } else {
                lift_all(fold, totals, &joined);
            }
        }
        true
    }
}

/// The last elements of a run, fewer than [`FEW`], to be filled up to a chunk.
pub(crate) struct LastChunk<'a, C> {
    pub(crate) rest: &'a [C],
    pub(crate) fill: C,
}

impl<C: Compute> VectorTask<C> for LastChunk<'_, C> {
    type Output = [C; FEW];

    #[inline(always)]
    fn run<A: Arch, V: Vector<C>>(self) -> [C; FEW] {
        let Self { rest, fill } = self;
        let mut chunk = [fill; FEW];
        for part in 0..FEW / V::LANES {
            let end = |at: usize| rest.len().min(at * V::LANES);
            let values = V::load_part(&rest[end(part)..end(part + 1)], fill);
            values.store(&mut chunk[part * V::LANES..]);
        }
        chunk
    }
}

/// Whether vectors are of the size that the shuffles between runs are for.
#[inline(always)]
pub(crate) fn shuffles<A: Arch, C: Compute, V: Vector<C>>() -> bool {
    cfg!(target_arch = "x86_64") && A::FMA && size_of::<V>() == 32
}

#[inline(always)]
fn lift_all<C: Compute, F: VectorFold<C>>(fold: F, totals: &mut [F::Total], lanes: &[C]) {
    for (total, &lane) in totals.iter_mut().zip(lanes) {
        *total = fold.lift(lane);
    }
}

/// The first `count` runs, of as many as a vector has lanes, each joined to one lane.
#[inline(always)]
fn rows_of<C: Compute, V: Vector<C>, F: VectorFold<C>>(
    fold: F,
    runs: Runs<'_, C>,
    count: usize,
    sums: &mut [V; 4],
) -> V {
    // Runs of a few whole chunks without loops, in which counters and bounds take longer than the numbers.
    match (runs.len / FEW, runs.len % FEW) {
        (1, 0) => rows_by::<C, C, V, F>(fold, runs, count, |run| {
            whole::<C, V, F, 1>(fold, run, sums)
        }),
        (2, 0) => rows_by::<C, C, V, F>(fold, runs, count, |run| {
            whole::<C, V, F, 2>(fold, run, sums)
        }),
        (4, 0) => rows_by::<C, C, V, F>(fold, runs, count, |run| {
            whole::<C, V, F, 4>(fold, run, sums)
        }),
        _ => rows_by::<C, C, V, F>(fold, runs, count, |run| {
            lanes_of::<C, V, F>(fold, run, sums)
        }),
    }
}

/// The first `count` runs, of as many as a vector has lanes, each joined to one lane, by a function of one run.
#[inline(always)]
pub(crate) fn rows_by<E, C: Compute, V: Vector<C>, F: VectorFold<C>>(
    fold: F,
    runs: Runs<'_, E>,
    count: usize,
    mut of: impl FnMut(&[E]) -> V,
) -> V {
    let mut rows = [V::splat(C::ZERO); 8];
    let mut at = runs.start;
    for (index, row) in rows.iter_mut().enumerate().take(V::LANES) {
        *row = of(&runs.data[at..][..runs.len]);
        // What is left over at the end is filled up with the last run.
        if index + 1 < count {
            at += runs.step;
        }
    }
    across_vectors(fold, rows)
}

/// The lanes of a run of `N` whole chunks as one vector, as [`lanes_of`].
#[inline(always)]
fn whole<C: Compute, V: Vector<C>, F: VectorFold<C>, const N: usize>(
    fold: F,
    run: &[C],
    sums: &mut [V; 4],
) -> V {
    let Some(chunks) = run.as_chunks::<FEW>().0.first_chunk::<N>() else {
        return lanes_of::<C, V, F>(fold, run, sums);
    };
    let mut lanes = [V::splat(fold.lane()); 4];
    for chunk in chunks {
        step::<C, V, F>(fold, &mut lanes, chunk, sums);
    }
    joined(fold, lanes)
}

/// The lanes of a run as one vector; adds its values to the sums where they are asked for.
#[inline(always)]
pub(crate) fn lanes_of<C: Compute, V: Vector<C>, F: VectorFold<C>>(
    fold: F,
    run: &[C],
    sums: &mut [V; 4],
) -> V {
    let mut lanes = [V::splat(fold.lane()); 4];
    let (chunks, rest) = run.as_chunks::<FEW>();
    for chunk in chunks {
        step::<C, V, F>(fold, &mut lanes, chunk, sums);
    }
    for (part, rest) in rest.chunks(V::LANES).enumerate() {
        let values = V::load_part(rest, fold.fill());
        lanes[part] = fold.step_all(lanes[part], values);
        if F::LOSES_NAN {
            sums[part] = sums[part].add(values);
        }
    }
    joined(fold, lanes)
}

/// The lanes of a run, in as many vectors as they fill, as one vector.
#[inline(always)]
pub(crate) fn joined<C: Compute, V: Vector<C>, F: VectorFold<C>>(
    fold: F,
    [a, b, c, d]: [V; 4],
) -> V {
    if V::LANES == 8 {
        return fold.join_all(a, b);
    }
    fold.join_all(fold.join_all(a, c), fold.join_all(b, d))
}

#[inline(always)]
fn step<C: Compute, V: Vector<C>, F: VectorFold<C>>(
    fold: F,
    lanes: &mut [V; 4],
    chunk: &[C; FEW],
    sums: &mut [V; 4],
) {
    for part in 0..FEW / V::LANES {
        let values = V::load(&chunk[part * V::LANES..]);
        lanes[part] = fold.step_all(lanes[part], values);
        if F::LOSES_NAN {
            sums[part] = sums[part].add(values);
        }
    }
}

/// The lanes of as many rows as a vector has lanes, each joined to one.
#[inline(always)]
pub(crate) fn across_vectors<C: Compute, V: Vector<C>, F: VectorFold<C>>(
    fold: F,
    [a, b, c, d, e, f, g, h]: [V; 8],
) -> V {
    if V::LANES == 4 {
        let ac = both(fold, halves(a, c));
        let bd = both(fold, halves(b, d));
        return both(fold, eights(ac, bd));
    }
    let (ae, bf) = (both(fold, halves(a, e)), both(fold, halves(b, f)));
    let (cg, dh) = (both(fold, halves(c, g)), both(fold, halves(d, h)));
    let (abef, cdgh) = (both(fold, eights(ae, bf)), both(fold, eights(cg, dh)));
    both(fold, fours(abef, cdgh))
}

#[inline(always)]
fn both<C: Compute, V: Vector<C>, F: VectorFold<C>>(fold: F, (left, right): (V, V)) -> V {
    fold.join_all(left, right)
}

/// Whether sums are NaN: always when a value is, else only for infinities of both signs.
#[inline(always)]
pub(crate) fn has_nan<C: Compute, V: Vector<C>>([a, b, c, d]: [V; 4]) -> bool {
    is_nan(a.add(b).add(c.add(d)))
}

/// Whether a lane is NaN.
#[inline(always)]
pub(crate) fn is_nan<C: Compute, V: Vector<C>>(lanes: V) -> bool {
    // Only NaN is not the same as itself.
    lanes.same(lanes).count_ones() < V::LANES as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce_fold::{fold_run, fold_runs};
    use crate::reduce_kinds::{Addable, Extreme, Magnitude, Sum};
    use crate::reduce_product::Product;
    use crate::reduce_squares::Squares;

    /// Runs folded together beside the same runs folded alone: not a bit differs.
    fn check<C: Addable + Magnitude, F: LaneFold<C>>(
        fold: F,
        values: &[C],
        bits: fn(F::Total) -> u64,
    ) {
        for len in [1, 2, 3, 5, 15, 16, 17, 31, 32, 33, 64, 100, 191] {
            for count in [4, 5, 15, 16, 21] {
                let runs = Runs::new(values, 3, len + 1, len);
                let mut totals = vec![fold.lift(fold.lane()); count];
                fold_runs(fold, runs, &mut totals);
                for (index, &total) in totals.iter().enumerate() {
                    let alone = fold.merge(fold.lift(fold.lane()), fold_run(fold, runs.run(index)));
                    assert_eq!(bits(total), bits(alone), "run {index} of {count} of {len}");
                }
            }
        }
    }

    #[test]
    fn runs_together_are_what_each_is_alone() {
        const ODD: [f64; 5] = [f64::NAN, f64::INFINITY, -0.0, 0.0, f64::NEG_INFINITY];
        fn plain(i: usize) -> f64 {
            ((i * 7919) % 1000) as f64 / 7.0 - 60.0
        }
        let tables: [fn(usize) -> f64; 3] = [
            plain,
            |i| if (i / 3).is_multiple_of(2) { 0.0 } else { -0.0 },
            |i| *ODD.get(i % 211).unwrap_or(&plain(i)),
        ];
        for of in tables {
            let wide: Vec<f64> = (0..21 * 192 + 3).map(of).collect();
            let narrow: Vec<f32> = wide.iter().map(|&value| value as f32).collect();
            check(Sum::<false>, &wide, |sum| f64::value(sum).to_bits());
            check(Sum::<false>, &narrow, f64::to_bits);
            check(Squares, &wide, f64::to_bits);
            check(Squares, &narrow, f64::to_bits);
            // Which of two NaN a product is does not count.
            let factor = |p: f64| if p.is_nan() { 1 } else { p.to_bits() };
            check(Product, &wide, factor);
            check(Product, &narrow, factor);
            check(Extreme::<false, false>, &wide, f64::to_bits);
            check(Extreme::<true, false>, &wide, f64::to_bits);
            check(Extreme::<false, false>, &narrow, |most| {
                u64::from(most.to_bits())
            });
            check(Extreme::<true, false>, &narrow, |least| {
                u64::from(least.to_bits())
            });
        }
    }
}
