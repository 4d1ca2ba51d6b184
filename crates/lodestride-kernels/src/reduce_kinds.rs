//! The reducers: what sum, product, extremes, norms, moments and log-sum-exp keep per lane and per block.
//!
//! Single-pass folds are [`LaneFold`]s behind [`Lanes`]; variance, the f64 two-norm and log-sum-exp look at each block
//! twice while it is in L1, which is what makes them accurate for any offset and any magnitude.

use std::marker::PhantomData;

use crate::isa::{Arch, Level, Task};
use crate::numeric::{Compute, ComputeFloat};
use crate::reduce_fold::{
    COLUMNS, LaneFold, Reducer, Rows, fold_rows, fold_run, lanes_of_rows, lanes_of_run,
};

/// A total that holds a running sum and what rounding took from it (f64), or just the sum where f64 is wide enough.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compensated {
    pub(crate) sum: f64,
    lost: f64,
}

impl Compensated {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // Knuth's two-sum: `sum + error` is exactly `a + b`.
        let (a, b) = (self.sum, other.sum);
        let sum = a + b;
        let b_seen = sum - a;
        let error = (a - (sum - b_seen)) + (b - b_seen);
        Self {
            sum,
            lost: self.lost + other.lost + error,
        }
    }

    #[inline(always)]
    fn value(self) -> f64 {
        // An infinite sum has a NaN error; the sum itself is the answer then.
        if self.lost.is_finite() {
            self.sum + self.lost
        } else {
            self.sum
        }
    }
}

/// How block totals of a compute type are added up: f32 in f64, f64 compensated, integers wrapping.
pub(crate) trait Addable: Compute {
    type Sum: Copy + Send + Sync;
    const NOTHING: Self::Sum;
    type Value: Compute;
    fn widen(self) -> Self::Sum;
    fn plus(a: Self::Sum, b: Self::Sum) -> Self::Sum;
    fn value(sum: Self::Sum) -> Self::Value;
    /// `value / by`; integers through f64.
    fn divided(sum: Self::Sum, by: f64) -> Self::Value;
    /// The lane type of a product: wide enough that 64 factors of f32 cannot overflow early.
    type Factor: Compute;
    fn factor(self) -> Self::Factor;
}

impl Addable for f32 {
    type Sum = f64;
    const NOTHING: f64 = 0.0;
    type Value = f64;
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn plus(a: f64, b: f64) -> f64 {
        a + b
    }
    fn value(sum: f64) -> f64 {
        sum
    }
    fn divided(sum: f64, by: f64) -> f64 {
        sum / by
    }
    type Factor = f64;
    #[inline(always)]
    fn factor(self) -> f64 {
        f64::from(self)
    }
}

impl Addable for f64 {
    type Sum = Compensated;
    const NOTHING: Compensated = Compensated {
        sum: 0.0,
        lost: 0.0,
    };
    type Value = f64;
    #[inline(always)]
    fn widen(self) -> Compensated {
        Compensated {
            sum: self,
            lost: 0.0,
        }
    }
    #[inline(always)]
    fn plus(a: Compensated, b: Compensated) -> Compensated {
        a.plus(b)
    }
    fn value(sum: Compensated) -> f64 {
        sum.value()
    }
    fn divided(sum: Compensated, by: f64) -> f64 {
        sum.value() / by
    }
    type Factor = f64;
    #[inline(always)]
    fn factor(self) -> f64 {
        self
    }
}

macro_rules! addable_integer {
    ($($t:ty),*) => {$(
        impl Addable for $t {
            type Sum = $t;
            const NOTHING: $t = 0;
            type Value = $t;
            #[inline(always)]
            fn widen(self) -> $t { self }
            #[inline(always)]
            fn plus(a: $t, b: $t) -> $t { a.wrapping_add(b) }
            fn value(sum: $t) -> $t { sum }
            fn divided(sum: $t, by: f64) -> $t { (sum as f64 / by) as $t }
            type Factor = $t;
            #[inline(always)]
            fn factor(self) -> $t { self }
        }
    )*};
}
addable_integer!(i64, u64);

/// Any [`LaneFold`] as a reducer, with the finishing step `E`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes<F, E> {
    pub(crate) fold: F,
    pub(crate) end: E,
}

impl<C, F, E, V> Reducer<C> for Lanes<F, E>
where
    C: Copy,
    F: LaneFold<C>,
    V: Copy + Send + Sync,
    E: Fn(F::Total, usize) -> V + Copy + Sync,
{
    type Total = F::Total;
    type Value = V;

    fn empty(&self) -> F::Total {
        self.fold.lift(self.fold.lane())
    }
    fn run(&self, run: &[C]) -> F::Total {
        fold_run(self.fold, run)
    }
    fn rows(&self, rows: Rows<'_, C>, totals: &mut [F::Total]) {
        fold_rows(self.fold, rows, |column, total| {
            totals[column] = self.fold.merge(totals[column], total);
        });
    }
    fn merge(&self, left: F::Total, right: F::Total) -> F::Total {
        self.fold.merge(left, right)
    }
    fn finish(&self, total: F::Total, count: usize) -> V {
        (self.end)(total, count)
    }
}

/// Sum of the values; `ABS` sums magnitudes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum<const ABS: bool>;

impl<C: Addable + Magnitude, const ABS: bool> LaneFold<C> for Sum<ABS> {
    type Lane = C;
    type Total = C::Sum;
    #[inline(always)]
    fn lane(&self) -> C {
        C::ZERO
    }
    #[inline(always)]
    fn step(&self, lane: C, value: C) -> C {
        lane.add(if ABS { value.magnitude() } else { value })
    }
    #[inline(always)]
    fn lift(&self, lane: C) -> C::Sum {
        lane.widen()
    }
    #[inline(always)]
    fn merge(&self, left: C::Sum, right: C::Sum) -> C::Sum {
        C::plus(left, right)
    }
}

/// Distance from zero.
pub(crate) trait Magnitude: Compute {
    fn magnitude(self) -> Self;
}

macro_rules! magnitude {
    ($($t:ty, $x:ident => $abs:expr);*) => {$(
        impl Magnitude for $t {
            #[inline(always)]
            fn magnitude(self) -> $t { let $x = self; $abs }
        }
    )*};
}
magnitude!(f32, x => x.abs(); f64, x => x.abs(); i64, x => x.wrapping_abs(); u64, x => x);

/// Product of the values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product;

impl<C: Addable> LaneFold<C> for Product {
    type Lane = C::Factor;
    type Total = C::Factor;
    #[inline(always)]
    fn lane(&self) -> C::Factor {
        C::Factor::ONE
    }
    #[inline(always)]
    fn step(&self, lane: C::Factor, value: C) -> C::Factor {
        lane.mul(value.factor())
    }
    #[inline(always)]
    fn lift(&self, lane: C::Factor) -> C::Factor {
        lane
    }
    #[inline(always)]
    fn merge(&self, left: C::Factor, right: C::Factor) -> C::Factor {
        left.mul(right)
    }
}

/// The largest value, or with `MIN` the smallest, or with `ABS` the largest magnitude; NaN wins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extreme<const MIN: bool, const ABS: bool>;

impl<C: Magnitude, const MIN: bool, const ABS: bool> LaneFold<C> for Extreme<MIN, ABS> {
    type Lane = C;
    type Total = C;
    #[inline(always)]
    fn lane(&self) -> C {
        match (MIN, ABS) {
            (true, _) => C::HIGHEST,
            (false, true) => C::ZERO,
            (false, false) => C::LOWEST,
        }
    }
    #[inline(always)]
    fn step(&self, lane: C, value: C) -> C {
        let value = if ABS { value.magnitude() } else { value };
        if MIN {
            lane.smaller(value)
        } else {
            lane.larger(value)
        }
    }
    #[inline(always)]
    fn lift(&self, lane: C) -> C {
        lane
    }
    #[inline(always)]
    fn merge(&self, left: C, right: C) -> C {
        self.step(left, right)
    }
}

/// How many values are not zero (NaN is not zero).
#[derive(Clone, Copy, Debug)]
pub(crate) struct NonZero;

impl<C: Compute> LaneFold<C> for NonZero {
    type Lane = u32;
    type Total = u64;
    #[inline(always)]
    fn lane(&self) -> u32 {
        0
    }
    #[inline(always)]
    fn step(&self, lane: u32, value: C) -> u32 {
        lane + u32::from(value != C::ZERO)
    }
    #[inline(always)]
    fn lift(&self, lane: u32) -> u64 {
        u64::from(lane)
    }
    #[inline(always)]
    fn merge(&self, left: u64, right: u64) -> u64 {
        left + right
    }
}

/// Sum of squares times `scale` squared, in f64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Squares {
    scale: f64,
}

impl Squares {
    pub(crate) const PLAIN: Self = Self { scale: 1.0 };
}

impl<C: ComputeFloat> LaneFold<C> for Squares {
    type Lane = f64;
    type Total = f64;
    #[inline(always)]
    fn lane(&self) -> f64 {
        0.0
    }
    #[inline(always)]
    fn step(&self, lane: f64, value: C) -> f64 {
        let value = value.wide() * self.scale;
        lane + value * value
    }
    #[inline(always)]
    fn lift(&self, lane: f64) -> f64 {
        lane
    }
    #[inline(always)]
    fn merge(&self, left: f64, right: f64) -> f64 {
        left + right
    }
}

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
            let mut run = [C::ZERO; crate::reduce_fold::ROWS];
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

/// Sums of deviations from `shift` and of their squares.
#[derive(Clone, Copy)]
struct Deviations<C> {
    shift: C,
}

impl<C: ComputeFloat> LaneFold<C> for Deviations<C> {
    type Lane = (C, C);
    type Total = (f64, f64);
    #[inline(always)]
    fn lane(&self) -> (C, C) {
        (C::ZERO, C::ZERO)
    }
    #[inline(always)]
    fn step(&self, lane: (C, C), value: C) -> (C, C) {
        let deviation = value.sub(self.shift);
        (lane.0.add(deviation), lane.1.add(deviation.mul(deviation)))
    }
    #[inline(always)]
    fn lift(&self, lane: (C, C)) -> (f64, f64) {
        (lane.0.wide(), lane.1.wide())
    }
    #[inline(always)]
    fn merge(&self, left: (f64, f64), right: (f64, f64)) -> (f64, f64) {
        (left.0 + right.0, left.1 + right.1)
    }
}

struct MomentsOfRun<'a, C>(&'a [C]);

impl<C: ComputeFloat + Addable<Value = f64> + Magnitude> Task for MomentsOfRun<'_, C> {
    type Output = Moments;

    #[inline(always)]
    fn run<A: Arch>(self) -> Moments {
        let count = self.0.len() as f64;
        let shift = C::of(C::value(lanes_of_run(Sum::<false>, self.0)) / count);
        let (deviation, squares) = lanes_of_run(Deviations { shift }, self.0);
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
        let count = rows.offsets.len() as f64;
        let mut shifts = [C::ZERO; COLUMNS];
        let shifts = &mut shifts[..rows.width];
        lanes_of_rows(rows, shifts, |lane, value| lane.add(value));
        for shift in shifts.iter_mut() {
            *shift = C::of(shift.wide() / count);
        }
        let (mut sums, mut squares) = ([C::ZERO; COLUMNS], [C::ZERO; COLUMNS]);
        for index in 0..rows.offsets.len() {
            let lanes = sums.iter_mut().zip(squares.iter_mut());
            for (((sum, square), &value), &shift) in lanes.zip(rows.row(index)).zip(shifts.iter()) {
                let deviation = value.sub(shift);
                *sum = sum.add(deviation);
                *square = square.add(deviation.mul(deviation));
            }
        }
        for (column, total) in totals.iter_mut().enumerate().take(rows.width) {
            let (sum, square) = (sums[column].wide(), squares[column].wide());
            let block = Moments::shifted(count, shifts[column].wide(), sum, square);
            *total = total.merge(block);
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
        let mut run = [C::ZERO; crate::reduce_fold::ROWS];
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
