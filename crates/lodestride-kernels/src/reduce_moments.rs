//! Reducers that look at each block twice while it is in L1: the two-norm, variance, log-sum-exp.
//!
//! The second look is what makes them accurate for any offset and any magnitude.

use std::marker::PhantomData;

use crate::isa::{Arch, Level, Task};
use crate::numeric::ComputeFloat;
use crate::reduce_fold::{
    COLUMNS, LANES, ROWS, Reducer, Rows, fold_rows, fold_run, lanes_of_rows, lanes_of_run,
};
use crate::reduce_kinds::{Addable, Extreme, Magnitude, Squares, Sum};

/// Euclidean norm without overflow or underflow: a block whose squares leave the safe range is summed again, scaled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm2<C>(pub(crate) PhantomData<C>);

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

    /// Whether squares were lost: overflowed, or small enough that some may have underflowed.
    fn is_unsafe(squares: f64) -> bool {
        !(1e-280..=f64::MAX).contains(&squares)
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

impl<C: ComputeFloat + Magnitude> Reducer<C> for Norm2<C> {
    type Total = Scaled;
    type Value = f64;

    fn empty(&self) -> Scaled {
        Scaled::plain(0.0)
    }

    fn run(&self, run: &[C]) -> Scaled {
        let squares = fold_run(Squares::PLAIN, run);
        if !Scaled::is_unsafe(squares) {
            return Scaled::plain(squares);
        }
        let unit = unit_of(fold_run(Extreme::<false, true>, run).wide());
        Scaled {
            unit,
            squares: fold_run(Squares { scale: 1.0 / unit }, run),
        }
    }

    fn rows(&self, rows: Rows<'_, C>, totals: &mut [Scaled]) {
        let mut doubtful = false;
        fold_rows(Squares::PLAIN, rows, |_, squares| {
            doubtful |= Scaled::is_unsafe(squares);
        });
        if !doubtful {
            fold_rows(Squares::PLAIN, rows, |column, squares| {
                totals[column] = totals[column].merge(Scaled::plain(squares));
            });
            return;
        }
        for (column, total) in totals.iter_mut().enumerate() {
            let mut run = [C::ZERO; ROWS];
            for (index, value) in run.iter_mut().enumerate().take(rows.offsets.len()) {
                *value = rows.row(index)[column];
            }
            *total = total.merge(self.run(&run[..rows.offsets.len()]));
        }
    }

    fn merge(&self, left: Scaled, right: Scaled) -> Scaled {
        left.merge(right)
    }

    fn finish(&self, total: Scaled, _count: usize) -> f64 {
        total.unit * total.squares.sqrt()
    }
}

/// Count, mean and sum of squared deviations of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
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
    fn merge(self, other: Self) -> Self {
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

/// Sums of deviations from `shift` and of their squares: two lane arrays, because lanes of pairs do not vectorise.
#[inline(always)]
fn deviations<C: ComputeFloat>(run: &[C], shift: C) -> (f64, f64) {
    let (mut sums, mut squares) = ([C::ZERO; LANES], [C::ZERO; LANES]);
    let (chunks, rest) = run.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            let deviation = chunk[lane].sub(shift);
            sums[lane] = sums[lane].add(deviation);
            squares[lane] = squares[lane].add(deviation.mul(deviation));
        }
    }
    for ((sum, square), &value) in sums.iter_mut().zip(&mut squares).zip(rest) {
        let deviation = value.sub(shift);
        *sum = sum.add(deviation);
        *square = square.add(deviation.mul(deviation));
    }
    (lane_total(&sums), lane_total(&squares))
}

/// The sum of all lanes, as a tree: a plain loop would lose digits of short runs.
#[inline(always)]
fn lane_total<C: ComputeFloat>(lanes: &[C; LANES]) -> f64 {
    let mut totals = [0.0; LANES];
    for (total, lane) in totals.iter_mut().zip(lanes) {
        *total = lane.wide();
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            totals[lane] += totals[lane + half];
        }
        half /= 2;
    }
    totals[0]
}

struct MomentsOfRun<'a, C>(&'a [C]);

impl<C: ComputeFloat + Addable<Value = f64> + Magnitude> Task for MomentsOfRun<'_, C> {
    type Output = Moments;

    #[inline(always)]
    fn run<A: Arch>(self) -> Moments {
        let count = self.0.len() as f64;
        let shift = C::of(C::value(lanes_of_run(Sum::<false>, self.0)) / count);
        let (deviation, squares) = deviations(self.0, shift);
        Moments::shifted(count, shift.wide(), deviation, squares)
    }
}

struct MomentsOfRows<'a, C> {
    rows: Rows<'a, C>,
    totals: &'a mut [Moments],
}

impl<C: ComputeFloat> Task for MomentsOfRows<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { rows, totals } = self;
        let width = rows.width;
        let count = rows.offsets.len() as f64;
        let mut shifts = [C::ZERO; COLUMNS];
        let shifts = &mut shifts[..width];
        lanes_of_rows(rows, shifts, |lane, value| lane.add(value));
        for shift in shifts.iter_mut() {
            *shift = C::of(shift.wide() / count);
        }
        let (mut sums, mut squares) = ([C::ZERO; COLUMNS], [C::ZERO; COLUMNS]);
        let (sums, squares) = (&mut sums[..width], &mut squares[..width]);
        for index in 0..rows.offsets.len() {
            let lanes = sums.iter_mut().zip(squares.iter_mut());
            for (((sum, square), &value), &shift) in lanes.zip(rows.row(index)).zip(shifts.iter()) {
                let deviation = value.sub(shift);
                *sum = sum.add(deviation);
                *square = square.add(deviation.mul(deviation));
            }
        }
        // All columns hold equally many values, so the divisions are the same for all.
        let before = totals.first().map_or(0.0, |total| total.count);
        let weight = count / (before + count);
        let cross = before * weight;
        let columns = sums.iter().zip(squares.iter()).zip(shifts.iter());
        for (total, ((sum, square), shift)) in totals.iter_mut().zip(columns) {
            let block = Moments::shifted(count, shift.wide(), sum.wide(), square.wide());
            let delta = block.mean - total.mean;
            *total = Moments {
                count: before + count,
                mean: total.mean + delta * weight,
                squares: total.squares + block.squares + delta * delta * cross,
            };
        }
    }
}

impl<C: ComputeFloat + Addable<Value = f64> + Magnitude> Reducer<C> for Variance {
    type Total = Moments;
    type Value = f64;

    fn empty(&self) -> Moments {
        Moments::EMPTY
    }

    fn run(&self, run: &[C]) -> Moments {
        if run.is_empty() {
            return Moments::EMPTY;
        }
        Level::current().run(MomentsOfRun(run))
    }

    fn rows(&self, rows: Rows<'_, C>, totals: &mut [Moments]) {
        Level::current().run(MomentsOfRows { rows, totals });
    }

    fn merge(&self, left: Moments, right: Moments) -> Moments {
        left.merge(right)
    }

    fn finish(&self, total: Moments, count: usize) -> f64 {
        // As NumPy: too few values give 0/0 = NaN, or a positive sum over zero = infinity.
        let freedom = count.saturating_sub(self.ddof) as f64;
        // Rounding may leave a tiny negative sum for equal values; NaN stays NaN.
        let squares = if total.squares < 0.0 {
            0.0
        } else {
            total.squares
        };
        let variance = squares / freedom;
        if self.root { variance.sqrt() } else { variance }
    }
}

/// Logarithm of the sum of exponentials, shifted by each block's maximum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogSumExp;

/// `exp(largest) * sum`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exponentials {
    largest: f64,
    sum: f64,
}

impl Exponentials {
    const EMPTY: Self = Self {
        largest: f64::NEG_INFINITY,
        sum: 0.0,
    };

    fn merge(self, other: Self) -> Self {
        if self.largest.is_nan() || other.largest == f64::NEG_INFINITY {
            return self;
        }
        if other.largest.is_nan() || self.largest == f64::NEG_INFINITY {
            return other;
        }
        let (big, small) = if self.largest >= other.largest {
            (self, other)
        } else {
            (other, self)
        };
        // Equal infinities must not become infinity minus infinity.
        let factor = if big.largest == small.largest {
            1.0
        } else {
            (small.largest - big.largest).exp()
        };
        Self {
            largest: big.largest,
            sum: big.sum + small.sum * factor,
        }
    }
}

/// Sum of `exp(value - largest)` over a run.
struct ExpSum<'a, C> {
    run: &'a [C],
    largest: C,
}

impl<C: ComputeFloat> Task for ExpSum<'_, C> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arch>(self) -> f64 {
        let mut lanes = [C::ZERO; 16];
        let (chunks, rest) = self.run.as_chunks::<16>();
        for chunk in chunks {
            for lane in 0..16 {
                lanes[lane] = lanes[lane].add(C::exponential::<A>(chunk[lane].sub(self.largest)));
            }
        }
        for (lane, value) in lanes.iter_mut().zip(rest) {
            *lane = lane.add(C::exponential::<A>(value.sub(self.largest)));
        }
        lanes.iter().fold(0.0, |sum, lane| sum + lane.wide())
    }
}

impl<C: ComputeFloat + Magnitude> Reducer<C> for LogSumExp {
    type Total = Exponentials;
    type Value = f64;

    fn empty(&self) -> Exponentials {
        Exponentials::EMPTY
    }

    fn run(&self, run: &[C]) -> Exponentials {
        let largest = fold_run(Extreme::<false, false>, run);
        if run.is_empty() || largest.wide().is_infinite() || largest.is_nan() {
            // exp of an infinite maximum: the answer is the maximum, whatever else there is.
            let sum = if run.is_empty() { 0.0 } else { 1.0 };
            return Exponentials {
                largest: largest.wide(),
                sum,
            };
        }
        Exponentials {
            largest: largest.wide(),
            sum: Level::current().run(ExpSum { run, largest }),
        }
    }

    fn rows(&self, rows: Rows<'_, C>, totals: &mut [Exponentials]) {
        let mut run = [C::ZERO; ROWS];
        let run = &mut run[..rows.offsets.len()];
        for (column, total) in totals.iter_mut().enumerate().take(rows.width) {
            for (value, &offset) in run.iter_mut().zip(rows.offsets) {
                *value = rows.data[offset + column];
            }
            *total = total.merge(Reducer::<C>::run(self, run));
        }
    }

    fn merge(&self, left: Exponentials, right: Exponentials) -> Exponentials {
        left.merge(right)
    }

    fn finish(&self, total: Exponentials, _count: usize) -> f64 {
        if total.largest.is_infinite() {
            return total.largest;
        }
        total.largest + total.sum.ln()
    }
}
