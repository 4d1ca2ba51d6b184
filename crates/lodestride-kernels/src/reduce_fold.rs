//! Folding one block: 64 independent lanes over a contiguous run, or an accumulator row over several rows.
//!
//! Nothing here knows layouts or dtypes. A block is at most [`BLOCK`] elements of a run, or at most [`ROWS`] rows, so no
//! lane takes more than 64 steps before its value is lifted to a wider total. Which lane an element falls in depends on
//! its position alone, so a result depends neither on the instruction set nor on the number of threads.

use crate::isa::{Arch, Task};
use crate::numeric::{Compute, run_for};

/// Independent accumulators of a run: enough for eight vectors of f64 in flight.
pub(crate) const LANES: usize = 64;
/// Elements of a block of a run.
pub(crate) const BLOCK: usize = 4096;
/// Rows of a block of a sweep.
pub(crate) const ROWS: usize = 64;
/// Columns of a sweep: the accumulator row stays in L1.
pub(crate) const COLUMNS: usize = 1024;

/// A fold whose lanes take one element at a time.
pub(crate) trait LaneFold<C: Compute>: Copy + Sync {
    /// What a lane holds inside a block.
    type Lane: Copy;
    /// What a block, and everything above it, is summed up as.
    type Total: Copy + Send + Sync;

    fn lane(&self) -> Self::Lane;
    fn step(&self, lane: Self::Lane, value: C) -> Self::Lane;
    fn lift(&self, lane: Self::Lane) -> Self::Total;
    fn merge(&self, left: Self::Total, right: Self::Total) -> Self::Total;
}

/// Several rows of equal width in one slice: `data[offsets[r]..][..width]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a, C> {
    pub(crate) data: &'a [C],
    pub(crate) offsets: &'a [usize],
    pub(crate) width: usize,
}

impl<'a, C> Rows<'a, C> {
    #[inline(always)]
    pub(crate) fn row(&self, index: usize) -> &'a [C] {
        &self.data[self.offsets[index]..][..self.width]
    }
}

/// Folds a run of at most [`BLOCK`] elements.
pub(crate) fn fold_run<C: Compute, F: LaneFold<C>>(fold: F, run: &[C]) -> F::Total {
    run_for::<C, _>(RunTask { fold, run })
}

struct RunTask<'a, C, F> {
    fold: F,
    run: &'a [C],
}

impl<C: Compute, F: LaneFold<C>> Task for RunTask<'_, C, F> {
    type Output = F::Total;

    #[inline(always)]
    fn run<A: Arch>(self) -> F::Total {
        lanes_of_run(self.fold, self.run)
    }
}

/// The body of [`fold_run`], for callers that already run under an instruction set.
#[inline(always)]
pub(crate) fn lanes_of_run<C: Compute, F: LaneFold<C>>(fold: F, run: &[C]) -> F::Total {
    match run.len() {
        0..8 => fold.lift(
            run.iter()
                .fold(fold.lane(), |lane, &value| fold.step(lane, value)),
        ),
        8..256 => lanes::<C, F, 8>(fold, run),
        _ => lanes::<C, F, LANES>(fold, run),
    }
}

#[inline(always)]
fn lanes<C: Compute, F: LaneFold<C>, const N: usize>(fold: F, run: &[C]) -> F::Total {
    let mut lanes = [fold.lane(); N];
    let (chunks, rest) = run.as_chunks::<N>();
    for chunk in chunks {
        for lane in 0..N {
            lanes[lane] = fold.step(lanes[lane], chunk[lane]);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        *lane = fold.step(*lane, value);
    }
    let mut totals = [fold.lift(lanes[0]); N];
    for (total, &lane) in totals.iter_mut().zip(&lanes).skip(1) {
        *total = fold.lift(lane);
    }
    let mut half = N / 2;
    while half > 0 {
        for lane in 0..half {
            totals[lane] = fold.merge(totals[lane], totals[lane + half]);
        }
        half /= 2;
    }
    totals[0]
}

/// Folds at most [`ROWS`] rows column by column and hands each column's total to `take(column, total)`.
pub(crate) fn fold_rows<C: Compute, F: LaneFold<C>>(
    fold: F,
    rows: Rows<'_, C>,
    take: impl FnMut(usize, F::Total),
) {
    // Filling lanes that are not used costs more than folding them when rows are narrow.
    if rows.width <= LANES {
        fold_rows_in(fold, rows, &mut [fold.lane(); LANES][..rows.width], take);
    } else {
        fold_rows_in(fold, rows, &mut [fold.lane(); COLUMNS][..rows.width], take);
    }
}

#[inline]
fn fold_rows_in<C: Compute, F: LaneFold<C>>(
    fold: F,
    rows: Rows<'_, C>,
    lanes: &mut [F::Lane],
    mut take: impl FnMut(usize, F::Total),
) {
    run_for::<C, _>(RowsTask { fold, rows, lanes });
    for (column, &lane) in lanes.iter().enumerate() {
        take(column, fold.lift(lane));
    }
}

struct RowsTask<'a, C, F, L> {
    fold: F,
    rows: Rows<'a, C>,
    lanes: &'a mut [L],
}

impl<C: Compute, F: LaneFold<C>> Task for RowsTask<'_, C, F, F::Lane> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        // Locals: behind `self` the compiler would reload them after every store.
        let Self { fold, rows, lanes } = self;
        lanes_of_rows(rows, lanes, |lane, value| fold.step(lane, value));
    }
}

/// Steps a row of lanes over all rows, four rows to a pass.
#[inline(always)]
pub(crate) fn lanes_of_rows<C: Compute, L: Copy>(
    rows: Rows<'_, C>,
    lanes: &mut [L],
    step: impl Fn(L, C) -> L,
) {
    let quads = rows.offsets.len() / 4;
    for quad in 0..quads {
        let (a, b) = (rows.row(4 * quad), rows.row(4 * quad + 1));
        let (c, d) = (rows.row(4 * quad + 2), rows.row(4 * quad + 3));
        for ((((lane, &a), &b), &c), &d) in lanes.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *lane = step(step(step(step(*lane, a), b), c), d);
        }
    }
    for index in 4 * quads..rows.offsets.len() {
        for (lane, &value) in lanes.iter_mut().zip(rows.row(index)) {
            *lane = step(*lane, value);
        }
    }
}

/// A reduction of blocks: how a run or a set of rows becomes totals, and totals one value.
pub(crate) trait Reducer<C: Compute>: Copy + Sync {
    type Total: Copy + Send + Sync;
    /// The type of the finished value.
    type Value: Copy + Send + Sync;

    /// The total of no elements.
    fn empty(&self) -> Self::Total;
    /// The total of a run of at most [`BLOCK`] elements.
    fn run(&self, run: &[C]) -> Self::Total;
    /// Merges the column totals of at most [`ROWS`] rows of at most [`COLUMNS`] columns into `totals`.
    fn rows(&self, rows: Rows<'_, C>, totals: &mut [Self::Total]);
    fn merge(&self, left: Self::Total, right: Self::Total) -> Self::Total;
    /// The result for `count` elements.
    fn finish(&self, total: Self::Total, count: usize) -> Self::Value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Plus;
    impl LaneFold<f32> for Plus {
        type Lane = f32;
        type Total = f64;
        fn lane(&self) -> f32 {
            0.0
        }
        fn step(&self, lane: f32, value: f32) -> f32 {
            lane + value
        }
        fn lift(&self, lane: f32) -> f64 {
            f64::from(lane)
        }
        fn merge(&self, left: f64, right: f64) -> f64 {
            left + right
        }
    }

    #[test]
    fn runs_of_every_length_sum_up() {
        let values: Vec<f32> = (0..BLOCK).map(|i| (i % 17) as f32).collect();
        for len in (0..300).chain([511, 512, 513, 4000, BLOCK]) {
            let expected: f64 = values[..len].iter().map(|&v| f64::from(v)).sum();
            assert_eq!(fold_run(Plus, &values[..len]), expected, "{len} elements");
        }
    }

    #[test]
    fn rows_sum_up_column_by_column() {
        let values: Vec<f32> = (0..1000).map(|i| (i % 13) as f32).collect();
        for rows in 0..12 {
            let offsets: Vec<usize> = (0..rows).map(|r| r * 31).collect();
            let rows = Rows {
                data: &values,
                offsets: &offsets,
                width: 29,
            };
            let mut columns = vec![0.0; 29];
            fold_rows(Plus, rows, |column, total| columns[column] = total);
            for (column, &total) in columns.iter().enumerate() {
                let expected: f32 = offsets.iter().map(|o| values[o + column]).sum();
                assert_eq!(total, f64::from(expected), "column {column}");
            }
        }
    }
}
