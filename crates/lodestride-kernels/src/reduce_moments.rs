//! Reducers that stay accurate for any offset and any magnitude: the two-norm and variance.
//!
//! Norms look at a block again, scaled, when its squares leave the range; variance shifts by values of the block itself.

use std::marker::PhantomData;

use crate::across::{FEW, Lines, across, spill};
use crate::isa::{Arch, Level, Task};
use crate::numeric::{ComputeFloat, ComputeKind};
use crate::reduce_data::{Rows, Runs};
use crate::reduce_fold::{
    COLUMNS, LANES, LONG, LaneRoom, ROWS, Reducer, WIDE, fold_rows, fold_run, fold_runs, grouped,
    lanes, lanes_of_run, merge_each,
};
use crate::reduce_kinds::{Addable, Extreme, Magnitude, Sum};
use crate::reduce_short_moments::MomentsOfShortRuns;
use crate::reduce_squares::{ScaledSquares, Squares};
use crate::stream;

/// Euclidean norm, or its square, without overflow or underflow on the way: a block whose squares leave the safe range is
/// summed again, scaled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm2<C> {
    pub(crate) root: bool,
    pub(crate) of: PhantomData<C>,
}

/// `unit^2 * squares`, where `unit` is a power of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaled {
    unit: f64,
    squares: f64,
}

impl Scaled {
    fn plain(squares: f64) -> Self {
        Self { unit: 1.0, squares }
    }

    fn merge(self, other: Self) -> Self {
        if self.unit == other.unit {
            return Self {
                unit: self.unit,
                squares: self.squares + other.squares,
            };
        }
        if self.squares == 0.0 {
            return other;
        }
        if other.squares == 0.0 {
            return self;
        }
        let (big, small) = if self.unit > other.unit {
            (self, other)
        } else {
            (other, self)
        };
        let ratio = small.unit / big.unit;
        Self {
            unit: big.unit,
            squares: big.squares + small.squares * ratio * ratio,
        }
    }
}

/// The power of two that brings `largest` near one; one for zero, infinity and NaN.
fn unit_of(largest: f64) -> f64 {
    if largest == 0.0 || !largest.is_finite() {
        return 1.0;
    }
    // Below 2^-1000 the reciprocal would overflow, so the unit stops there; squares are then still above 1e-46.
    2f64.powi((largest.log2().floor() as i32).clamp(-1000, 1000))
}

/// Runs whose squares are summed by one call.
const GROUP: usize = 64;

impl<C: ComputeFloat + Magnitude> Norm2<C> {
    /// Whether squares were lost: overflowed, or so small that what underflowed may show in the last place of the sum.
    fn is_unsafe(squares: f64) -> bool {
        let least = match C::KIND {
            // 4096 squares lose at most 2^-138 to denormal rounding: 2^-24 of this.
            ComputeKind::F32 => 4.9e-35,
            _ => 1e-280,
        };
        // `&`: no branches, so that loops vectorise.
        !((squares >= least) & (squares <= f64::MAX))
    }

    /// Whether none is unsafe, which is nearly always.
    fn are_safe(squares: &[f64]) -> bool {
        squares
            .iter()
            .fold(true, |all, &squares| all & !Self::is_unsafe(squares))
    }

    /// Adds squares to totals where none is unsafe and none has another unit than one, which is nearly always.
    fn add_plain(squares: &[f64], totals: &mut [Scaled]) -> bool {
        let is_plain = Self::are_safe(squares)
            & totals
                .iter()
                .fold(true, |all, total| all & (total.unit == 1.0));
        if is_plain {
            for (total, &squares) in totals.iter_mut().zip(squares) {
                total.squares += squares;
            }
        }
        is_plain
    }

    #[cold]
    #[inline(never)]
    fn scaled(run: &[C]) -> Scaled {
        let unit = unit_of(fold_run(Extreme::<false, true>, run).wide());
        let squares = fold_run(ScaledSquares { scale: 1.0 / unit }, run);
        Scaled { unit, squares }
    }

    fn rows_in(rows: Rows<'_, C>, squares: &mut [f64], totals: &mut [Scaled]) {
        fold_rows(Squares, (rows, 0), squares, false);
        if Self::add_plain(squares, totals) {
            return;
        }
        for (column, (total, &squares)) in totals.iter_mut().zip(squares.iter()).enumerate() {
            *total = total.merge(if Self::is_unsafe(squares) {
                let mut run = [C::ZERO; ROWS];
                for (value, &offset) in run.iter_mut().zip(rows.offsets) {
                    *value = rows.data[offset + column];
                }
                Self::scaled(&run[..rows.offsets.len()])
            } else {
                Scaled::plain(squares)
            });
        }
    }
}

impl<C: ComputeFloat + Magnitude> Reducer<C> for Norm2<C> {
    type Total = Scaled;
    type Value = f64;

    fn empty(&self) -> Scaled {
        Scaled::plain(0.0)
    }

    fn runs(&self, runs: Runs<'_, C>, totals: &mut [Scaled]) {
        for (group, totals) in totals.chunks_mut(GROUP).enumerate() {
            let runs = runs.from(group * GROUP);
            let squares = &mut [0.0; GROUP][..totals.len()];
            fold_runs(Squares, runs, squares);
            for (total, &squares) in totals.iter_mut().zip(squares.iter()) {
                *total = Scaled::plain(squares);
            }
            if Self::are_safe(squares) {
                continue;
            }
            for (index, (total, &squares)) in totals.iter_mut().zip(squares.iter()).enumerate() {
                if Self::is_unsafe(squares) {
                    *total = Self::scaled(runs.run(index));
                }
            }
        }
    }

    fn shortest_run(&self) -> usize {
        FEW
    }

    fn columns(&self) -> usize {
        WIDE
    }

    fn rows(&self, rows: Rows<'_, C>, totals: &mut [Scaled]) {
        Self::rows_in(rows, LaneRoom::<_>::new().filled(rows.width, 0.0), totals);
    }

    fn merge_all(&self, totals: &mut [Scaled], more: &[Scaled]) {
        merge_each(totals, more, Scaled::merge);
    }

    fn finish(&self, totals: &[Scaled], _count: usize, values: &mut [f64]) {
        let root = self.root;
        Level::current().run(EndNorms {
            root,
            totals,
            values,
        });
    }
}

/// The last step of norms.
struct EndNorms<'a> {
    root: bool,
    totals: &'a [Scaled],
    values: &'a mut [f64],
}

impl Task for EndNorms<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self {
            root,
            totals,
            values,
        } = self;
        let ends = values.iter_mut().zip(totals);
        if root {
            ends.for_each(|(value, total)| *value = total.unit * total.squares.sqrt());
        } else {
            ends.for_each(|(value, total)| *value = total.unit * total.squares * total.unit);
        }
    }
}

/// Count, mean and sum of squared deviations of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub(crate) count: f64,
    pub(crate) mean: f64,
    pub(crate) squares: f64,
}

impl Moments {
    const EMPTY: Self = Self {
        count: 0.0,
        mean: 0.0,
        squares: 0.0,
    };

    /// From a shift near the mean and the sums of deviations from it and of their squares.
    #[inline(always)]
    fn shifted(count: f64, shift: f64, deviation: f64, squares: f64) -> Self {
        Self {
            count,
            mean: shift + deviation / count,
            squares: squares - deviation * deviation / count,
        }
    }

    /// Chan's update: exact for the combined block, with no cancellation between large sums.
    #[inline(always)]
    pub(crate) fn merge(self, other: Self) -> Self {
        if self.count == 0.0 {
            return other;
        }
        if other.count == 0.0 {
            return self;
        }
        let count = self.count + other.count;
        let delta = other.mean - self.mean;
        Self {
            count,
            mean: self.mean + delta * (other.count / count),
            squares: self.squares
                + other.squares
                + delta * delta * (self.count * other.count / count),
        }
    }
}

/// Variance with `ddof` delta degrees of freedom, or its root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variance {
    pub(crate) ddof: usize,
    pub(crate) root: bool,
}

/// Shortest run that is looked at once, by lanes that each deviate from their own first element.
const ONE_LOOK: usize = 32 * LANES;

/// Adds, lane by lane, deviations from the lane's shift and their squares. Two arrays, because lanes of pairs do not
/// vectorise; by value, because references would keep them in memory. `far` as [`Runs::are_far`].
#[inline(always)]
fn deviations<C: ComputeFloat, const N: usize>(
    (mut sums, mut squares): ([C; N], [C; N]),
    chunks: &[[C; N]],
    shifts: &[C; N],
    far: bool,
) -> ([C; N], [C; N]) {
    for chunk in chunks {
        if far {
            stream::wake(chunk.as_ptr().cast(), size_of_val(chunk));
        }
        for lane in 0..N {
            let deviation = chunk[lane].sub(shifts[lane]);
            sums[lane] = sums[lane].add(deviation);
            squares[lane] = squares[lane].add(deviation.mul(deviation));
        }
    }
    (sums, squares)
}

/// Moments of a short run: its mean first, then the deviations from it.
#[inline(always)]
pub(crate) fn moments_by_two_looks<A: Arch, C>(run: &[C]) -> Moments
where
    C: ComputeFloat + Addable<Value = f64> + Magnitude,
{
    let count = run.len() as f64;
    let sum = match run.len() {
        // By lanes, as where runs are worked on together.
        0..FEW => lanes::<A, C, _, FEW>(Sum::<false>, run, false),
        _ => lanes_of_run::<A, C, _>(Sum::<false>, run, false),
    };
    let shift = C::of(C::value(sum) / count);
    let zeros = [C::ZERO; FEW];
    let (chunks, rest) = run.as_chunks();
    let (mut sums, mut squares) = deviations((zeros, zeros), chunks, &[shift; FEW], false);
    if !rest.is_empty() {
        (sums, squares) = (spill(sums), spill(squares));
    }
    for ((sum, square), &value) in sums.iter_mut().zip(&mut squares).zip(rest) {
        let deviation = value.sub(shift);
        *sum = sum.add(deviation);
        *square = square.add(deviation.mul(deviation));
    }
    let (sum, square) = (across(sums, C::add), across(squares, C::add));
    Moments::shifted(count, shift.wide(), sum.wide(), square.wide())
}

/// Moments of a long run in one look: every lane deviates from its own first element, then the lanes merge (Chan). A lane has
/// at most 64 elements, one of which is its shift, so cancellation costs at most a factor of 64.
#[inline(always)]
fn moments_by_lanes<A: Arch, C>(run: &[C], far: bool) -> Moments
where
    C: ComputeFloat + Addable<Value = f64> + Magnitude,
{
    let (Some(shifts), (chunks, rest)) = (run.first_chunk::<LANES>(), run.as_chunks::<LANES>())
    else {
        return moments_by_two_looks::<A, _>(run);
    };
    let zeros = [C::ZERO; LANES];
    let (sums, squares) = deviations((zeros, zeros), chunks, shifts, far);
    let count = chunks.len() as f64;
    let base = shifts[0].wide();
    let (mut means, mut around) = ([0.0; LANES], [0.0; LANES]);
    for lane in 0..LANES {
        let sum = sums[lane].wide();
        means[lane] = shifts[lane].wide() - base + sum / count;
        around[lane] = squares[lane].wide() - sum * sum / count;
    }
    let mean = across(grouped(means, |a, b| a + b), |a, b| a + b) / LANES as f64;
    for lane in 0..LANES {
        let off = means[lane] - mean;
        around[lane] += count * (off * off);
    }
    let lanes = Moments {
        count: count * LANES as f64,
        mean: base + mean,
        squares: across(grouped(around, |a, b| a + b), |a, b| a + b),
    };
    if rest.is_empty() {
        return lanes;
    }
    lanes.merge(moments_by_two_looks::<A, _>(rest))
}

struct MomentsOfRuns<'a, C> {
    runs: Runs<'a, C>,
    totals: &'a mut [Moments],
}

impl<C: ComputeFloat + Addable<Value = f64> + Magnitude> Task for MomentsOfRuns<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { runs, totals } = self;
        let far = runs.are_far();
        for (index, total) in totals.iter_mut().enumerate() {
            let run = runs.run(index);
            *total = if run.len() < ONE_LOOK {
                moments_by_two_looks::<A, _>(run)
            } else {
                moments_by_lanes::<A, _>(run, far)
            };
        }
    }
}

struct MomentsOfRows<'a, C> {
    rows: Rows<'a, C>,
    totals: &'a mut [Moments],
}

impl<C: ComputeFloat> Task for MomentsOfRows<'_, C> {
    type Output = ();

    /// One look: every column deviates from its value in the first row, then the block merges into the total (Chan).
    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { rows, totals } = self;
        let width = rows.width;
        let count = rows.offsets.len() as f64;
        let shifts = rows.row(0);
        let mut sums = Lines([C::ZERO; COLUMNS]);
        let mut squares = Lines([C::ZERO; COLUMNS]);
        let (sums, squares) = (&mut sums.0[..width], &mut squares.0[..width]);
        deviations_of_rows(rows, shifts, sums, squares);
        // All columns hold equally many values, so the divisions are the same for all.
        let before = totals.first().map_or(0.0, |total| total.count);
        let (part, weight) = (1.0 / count, count / (before + count));
        let cross = before * weight;
        let columns = sums.iter().zip(squares.iter()).zip(shifts.iter());
        for (total, ((sum, square), shift)) in totals.iter_mut().zip(columns) {
            let (sum, square) = (sum.wide(), square.wide());
            let delta = shift.wide() + sum * part - total.mean;
            *total = Moments {
                count: before + count,
                mean: total.mean + delta * weight,
                squares: total.squares + (square - sum * sum * part) + delta * delta * cross,
            };
        }
    }
}

/// Adds the deviations of all rows but the first from `shifts`, and their squares, column by column, four rows to a pass.
#[inline(always)]
fn deviations_of_rows<C: ComputeFloat>(
    rows: Rows<'_, C>,
    shifts: &[C],
    sums: &mut [C],
    squares: &mut [C],
) {
    let (quads, rest) = rows.offsets[1..].as_chunks::<4>();
    for quad in 0..quads.len() {
        let row = |index: usize| rows.row(1 + 4 * quad + index);
        let (a, b, c, d) = (row(0), row(1), row(2), row(3));
        let lanes = sums.iter_mut().zip(squares.iter_mut()).zip(shifts);
        let values = a.iter().zip(b).zip(c).zip(d);
        for (((sum, square), &shift), (((&a, &b), &c), &d)) in lanes.zip(values) {
            let (a, b, c, d) = (a.sub(shift), b.sub(shift), c.sub(shift), d.sub(shift));
            *sum = sum.add(a.add(b).add(c.add(d)));
            let pairs = a.mul(a).add(b.mul(b)).add(c.mul(c).add(d.mul(d)));
            *square = square.add(pairs);
        }
    }
    let seen = rows.offsets.len() - rest.len();
    for index in seen..rows.offsets.len() {
        let lanes = sums.iter_mut().zip(squares.iter_mut()).zip(shifts);
        for (((sum, square), &shift), &value) in lanes.zip(rows.row(index)) {
            let deviation = value.sub(shift);
            *sum = sum.add(deviation);
            *square = square.add(deviation.mul(deviation));
        }
    }
}

/// Shorter runs are sooner copied to a block than their moments are shifted, joined and merged.
const COSTLY_RUN: usize = 1024;

impl<C: ComputeFloat + Addable<Value = f64> + Magnitude> Reducer<C> for Variance {
    type Total = Moments;
    type Value = f64;

    fn empty(&self) -> Moments {
        Moments::EMPTY
    }

    fn runs(&self, runs: Runs<'_, C>, totals: &mut [Moments]) {
        match runs.len {
            0 => totals.fill(Moments::EMPTY),
            1..LONG => Level::current().run_narrow(MomentsOfShortRuns { runs, totals }),
            _ => Level::current().run(MomentsOfRuns { runs, totals }),
        }
    }

    fn shortest_run(&self) -> usize {
        COSTLY_RUN
    }

    fn rows(&self, rows: Rows<'_, C>, totals: &mut [Moments]) {
        Level::current().run(MomentsOfRows { rows, totals });
    }

    fn merge_all(&self, totals: &mut [Moments], more: &[Moments]) {
        merge_each(totals, more, Moments::merge);
    }

    fn finish(&self, totals: &[Moments], count: usize, values: &mut [f64]) {
        // As NumPy: too few values give 0/0 = NaN, or a positive sum over zero = infinity.
        let freedom = count.saturating_sub(self.ddof) as f64;
        for (value, total) in values.iter_mut().zip(totals) {
            // Rounding may leave a tiny negative sum for equal values; NaN stays NaN.
            let squares = if total.squares < 0.0 {
                0.0
            } else {
                total.squares
            };
            let variance = squares / freedom;
            *value = if self.root { variance.sqrt() } else { variance };
        }
    }
}
