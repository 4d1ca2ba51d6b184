//! The reducer of log-sum-exp: the maximum of a block first, then the sum of exponentials below it.

use crate::isa::{Arch, Level, Task};
use crate::numeric::ComputeFloat;
use crate::reduce_fold::{COLUMNS, FEW, Reducer, Rows, Runs, fold_run, lanes_of_rows};
use crate::reduce_kinds::{Extreme, Magnitude};

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

impl LogSumExp {
    /// One run: its maximum, then the sum of exponentials below it.
    fn of<C: ComputeFloat + Magnitude>(run: &[C]) -> Exponentials {
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
}

/// The rows of a block: the maximum of every column, then its sum of exponentials.
struct ExpSumRows<'a, C> {
    rows: Rows<'a, C>,
    totals: &'a mut [Exponentials],
}

impl<C: ComputeFloat> Task for ExpSumRows<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { rows, totals } = self;
        // Sums in f64: beside the one of the maximum, small terms must not be lost to a logarithm near zero.
        let (mut largest, mut sums) = ([C::LOWEST; COLUMNS], [0.0f64; COLUMNS]);
        let (largest, sums) = (&mut largest[..rows.width], &mut sums[..rows.width]);
        lanes_of_rows(rows, largest, C::larger);
        for index in 0..rows.offsets.len() {
            let (values, rest) = rows.row(index).as_chunks::<FEW>();
            let (shifts, shifts_rest) = largest.as_chunks::<FEW>();
            let (lanes, lanes_rest) = sums.as_chunks_mut::<FEW>();
            for ((lane, value), shift) in lanes.iter_mut().zip(values).zip(shifts) {
                for at in 0..FEW {
                    lane[at] += C::exponential::<A>(value[at].sub(shift[at])).wide();
                }
            }
            for ((lane, value), &shift) in lanes_rest.iter_mut().zip(rest).zip(shifts_rest) {
                *lane += C::exponential::<A>(value.sub(shift)).wide();
            }
        }
        for (total, (&largest, &sum)) in totals.iter_mut().zip(largest.iter().zip(sums.iter())) {
            let largest = largest.wide();
            // The answer for an infinite or NaN maximum is the maximum, whatever its exponentials gave.
            let sum = if largest.is_finite() { sum } else { 1.0 };
            *total = total.merge(Exponentials { largest, sum });
        }
    }
}

impl<C: ComputeFloat + Magnitude> Reducer<C> for LogSumExp {
    type Total = Exponentials;
    type Value = f64;

    fn empty(&self) -> Exponentials {
        Exponentials::EMPTY
    }

    fn runs(&self, runs: Runs<'_, C>, totals: &mut [Exponentials]) {
        for (index, total) in totals.iter_mut().enumerate() {
            *total = total.merge(Self::of(runs.run(index)));
        }
    }

    fn rows(&self, rows: Rows<'_, C>, totals: &mut [Exponentials]) {
        Level::current().run(ExpSumRows { rows, totals });
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
