//! Long runs and rows of floats folded in vector registers: extremes by instructions that lose NaN, which sums beside them find.
//!
//! A comparison that keeps NaN takes twice the instructions. Where a sum is NaN, which infinities of both signs make too,
//! nothing is done and the values are folded as others are. The tree of lanes is the same in both ways.

use crate::across::Lines;
use crate::isa::Arch;
use crate::numeric::Compute;
use crate::reduce_data::{LONG_ROW, Rows};
use crate::reduce_fold::{FOLDED, FOUR, LANES};
use crate::reduce_short::{VectorFold, has_nan};
use crate::stream;
use crate::vector::{Vector, VectorTask};

/// Whether there are registers for all lanes of a run and the sums: only with those of AVX-512.
#[inline(always)]
fn has_room<C: Compute, V: Vector<C>>() -> bool {
    cfg!(target_arch = "x86_64") && size_of::<V>() == 64
}

/// New lanes stepped over chunks of a long run.
pub(crate) struct ChunkLanes<'a, C, F, const N: usize> {
    pub(crate) fold: F,
    pub(crate) chunks: &'a [[C; N]],
    /// As [`Runs::are_far`](crate::reduce_data::Runs::are_far).
    pub(crate) far: bool,
}

impl<C: Compute, F: VectorFold<C>, const N: usize> VectorTask<C> for ChunkLanes<'_, C, F, N> {
    type Output = Option<[C; N]>;

    #[inline(always)]
    fn run<A: Arch, V: Vector<C>>(self) -> Option<[C; N]> {
        let Self { fold, chunks, far } = self;
        if !has_room::<C, V>() || N != LANES {
            return None;
        }
        let mut lanes = [V::splat(fold.lane()); LANES / 8];
        let mut sums = [V::splat(C::ZERO); 4];
        for chunk in chunks {
            if far {
                stream::wake(chunk.as_ptr().cast(), size_of_val(chunk));
            }
            for part in 0..LANES / V::LANES {
                let values = V::load(&chunk[part * V::LANES..]);
                lanes[part] = fold.step_all(lanes[part], values);
                sums[part % 4] = sums[part % 4].add(values);
            }
        }
        if has_nan(sums) {
            return None;
        }
        let mut all = [C::ZERO; N];
        for part in 0..LANES / V::LANES {
            lanes[part].store(&mut all[part * V::LANES..]);
        }
        Some(all)
    }
}

/// New lanes of four runs, stepped over their whole chunks in turns; the lanes stay in memory, which is nearer than the runs.
pub(crate) struct FourRuns<'a, C, F> {
    pub(crate) fold: F,
    pub(crate) runs: [&'a [C]; FOUR],
}

impl<C: Compute, F: VectorFold<C>> VectorTask<C> for FourRuns<'_, C, F> {
    type Output = Option<[[C; LANES]; FOUR]>;

    #[inline(always)]
    fn run<A: Arch, V: Vector<C>>(self) -> Option<[[C; LANES]; FOUR]> {
        let Self { fold, runs } = self;
        if cfg!(not(target_arch = "x86_64")) || size_of::<V>() < 32 {
            return None;
        }
        let wakes = stream::wakes();
        let mut lanes = Lines([[fold.lane(); LANES]; FOUR]);
        let mut sums = [V::splat(C::ZERO); 4];
        for chunk in 0..runs[0].len() / LANES {
            for (lanes, run) in lanes.0.iter_mut().zip(runs) {
                let chunk = &run[chunk * LANES..][..LANES];
                if wakes {
                    stream::wake(chunk.as_ptr().cast(), size_of_val(chunk));
                }
                for part in 0..LANES / V::LANES {
                    let place = &mut lanes[part * V::LANES..];
                    let values = V::load(&chunk[part * V::LANES..]);
                    fold.step_all(V::load(place), values).store(place);
                    if F::LOSES_NAN {
                        sums[part % 4] = sums[part % 4].add(values);
                    }
                }
            }
        }
        let is_lost = F::LOSES_NAN && has_nan(sums);
        (!is_lost).then_some(lanes.0)
    }
}

/// A row of new lanes stepped over rows.
pub(crate) struct RowLanes<'a, C, F> {
    pub(crate) fold: F,
    pub(crate) rows: Rows<'a, C>,
    pub(crate) lanes: &'a mut [C],
}

impl<C: Compute, F: VectorFold<C>> VectorTask<C> for RowLanes<'_, C, F> {
    type Output = bool;

    #[inline(always)]
    fn run<A: Arch, V: Vector<C>>(self) -> bool {
        let Self { fold, rows, lanes } = self;
        // Wide rows may come from memory, which the compiler's own loop reads faster: squares of 4096x4096 `f32` in 2.7 ms, not 5.4.
        let is_wide = !F::LOSES_NAN && lanes.len() > FOLDED;
        let has_registers = cfg!(target_arch = "x86_64") && size_of::<V>() >= 32;
        // A part of a vector for each row takes twice as long as the compiler's loop.
        let is_narrow = lanes.len() < V::LANES;
        if !has_registers || is_wide || is_narrow {
            return false;
        }
        // Sums beside the lanes are so much more to do for each row that fours pay earlier: maxima of 4096x4096 `f32` take 3.2 ms
        // by fours, in turn 3.0 in some processes and 5.0 in others.
        let quads = rows.quads_from(if F::LOSES_NAN { LONG_ROW / 2 } else { LONG_ROW });
        let mut sums = [V::splat(C::ZERO); 4];
        for quad in 0..quads {
            let row = |index: usize| rows.row(4 * quad + index);
            step_rows(fold, [row(0), row(1), row(2), row(3)], lanes, &mut sums);
        }
        for row in rows.in_turn(4 * quads) {
            step_rows::<C, V, F, 1>(fold, [row], lanes, &mut sums);
        }
        let done = !F::LOSES_NAN || !has_nan(sums);
        if !done {
            lanes.fill(fold.lane());
        }
        done
    }
}

/// Steps a row of lanes over `N` rows of the same width.
#[inline(always)]
fn step_rows<C: Compute, V: Vector<C>, F: VectorFold<C>, const N: usize>(
    fold: F,
    rows: [&[C]; N],
    lanes: &mut [C],
    sums: &mut [V; 4],
) {
    // As many vectors at a time as there are sums: one alone would wait for its sum of the one before.
    let mut at = 0;
    while at + 4 / N * V::LANES <= lanes.len() {
        for part in 0..4 / N {
            let from = at + part * V::LANES;
            step_vector::<C, V, F, N>(fold, rows, (lanes, from), sums, part);
        }
        at += 4 / N * V::LANES;
    }
    while at + V::LANES <= lanes.len() {
        step_vector::<C, V, F, N>(fold, rows, (lanes, at), sums, 0);
        at += V::LANES;
    }
    if at < lanes.len() {
        let mut lane = V::load_part(&lanes[at..], C::ZERO);
        for i in 0..N {
            let values = V::load_part(&rows[i][at..], C::ZERO);
            lane = fold.step_all(lane, values);
            if F::LOSES_NAN {
                sums[i] = sums[i].add(values);
            }
        }
        lane.store_part(&mut lanes[at..]);
    }
}

/// Steps the lanes of a vector over `N` rows, and sums from `first` on over what is loaded.
#[inline(always)]
fn step_vector<C: Compute, V: Vector<C>, F: VectorFold<C>, const N: usize>(
    fold: F,
    rows: [&[C]; N],
    (lanes, at): (&mut [C], usize),
    sums: &mut [V; 4],
    first: usize,
) {
    let place = &mut lanes[at..at + V::LANES];
    let mut lane = V::load(place);
    for i in 0..N {
        let values = V::load(&rows[i][at..at + V::LANES]);
        lane = fold.step_all(lane, values);
        if F::LOSES_NAN {
            sums[first + i] = sums[first + i].add(values);
        }
    }
    lane.store(place);
}
