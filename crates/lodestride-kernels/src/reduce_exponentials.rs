//! The reducer of log-sum-exp: the maximum of a block first, then the sum of exponentials below it.
//!
//! Short runs are worked on as columns of a tile, a vector of runs at a time.

use crate::across::{FEW, Lines};
use crate::isa::{Arch, Level, Task};
use crate::numeric::ComputeFloat;
use crate::reduce_data::{Rows, Runs};
use crate::reduce_fold::{COLUMNS, Reducer, lanes_of_rows, merge_each};
use crate::row_walk::WIDE;
use crate::scalar::log::plus_log;
use crate::scalar::raised::{Raised, raised_exps};
use crate::vector::{Vector, largest_of};

/// Logarithm of the sum of exponentials, shifted by each block's maximum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogSumExp;

/// `exp(largest) * sum`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exponentials {
    largest: f64,
    sum: f64,
}

/// Longest run that is worked on as a column.
const SHORT: usize = 64;
/// Vectors worked on together, so that each fills the latencies of the others.
const GROUP: usize = 2;

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

impl Exponentials {
    /// The logarithm of all.
    #[inline(always)]
    fn answer<A: Arch>(&self) -> f64 {
        let log = plus_log::<f64, A>(self.sum, self.largest);
        // An infinite maximum is the answer; so is that of nothing.
        if self.largest.is_infinite() {
            self.largest
        } else {
            log
        }
    }

    /// From the largest number, NaN apart, and the sum below it, which is NaN where a number or the largest less itself is.
    #[inline(always)]
    fn new(largest: f64, sum: f64, has_nan: impl Fn() -> bool) -> Self {
        if !sum.is_nan() {
            return Self { largest, sum };
        }
        // The logarithm of an infinite sum is its largest term, whatever else there is.
        let is_largest = largest.is_infinite() && !has_nan();
        let largest = if is_largest { largest } else { f64::NAN };
        Self { largest, sum: 1.0 }
    }
}

/// Sums of vectors of raised exponentials with what rounding took from them: beside the term of the maximum, small ones
/// must not be lost to a logarithm near zero.
#[derive(Clone, Copy)]
struct Terms<V> {
    sum: V,
    lost: V,
}

impl<V> Terms<V> {
    /// No terms. The sum begins with one that is as large as any, so that what is added is never the larger one.
    #[inline(always)]
    fn none<C: Raised>() -> Self
    where
        V: Vector<C>,
    {
        let sum = V::splat(C::of(C::FACTOR));
        let lost = V::splat(C::ZERO);
        Self { sum, lost }
    }

    #[inline(always)]
    fn plus<C: Raised>(self, term: V) -> Self
    where
        V: Vector<C>,
    {
        // Dekker's two-sum of a larger and a smaller number.
        let sum = self.sum.add(term);
        let lost = self.lost.add(term.sub(sum.sub(self.sum)));
        Self { sum, lost }
    }

    /// The sums, lane by lane.
    #[inline(always)]
    fn lanes<C: Raised>(self, out: &mut [f64])
    where
        V: Vector<C>,
    {
        let (mut sums, mut lost) = ([C::ZERO; WIDE], [C::ZERO; WIDE]);
        self.sum.store(&mut sums);
        self.lost.store(&mut lost);
        for (out, (sum, lost)) in out[..V::LANES].iter_mut().zip(sums.iter().zip(&lost)) {
            *out = ((sum.wide() - C::FACTOR) + lost.wide()) * (1.0 / C::FACTOR);
        }
    }
}

/// Runs that are not empty, one for each total.
struct OfRuns<'a, C> {
    runs: Runs<'a, C>,
    totals: &'a mut [Exponentials],
}

impl<C: Raised> Task for OfRuns<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { runs, totals } = self;
        if runs.len > SHORT || totals.len() < FEW {
            for (index, total) in totals.iter_mut().enumerate() {
                *total = of_run::<C, C::In<A>>(runs.run(index));
            }
            return;
        }
        let mut tile = [C::ZERO; SHORT * WIDE];
        for (group, totals) in totals.chunks_mut(WIDE).enumerate() {
            let runs = runs.from(group * WIDE);
            runs.transposed::<A>(totals.len(), &mut tile, WIDE);
            let (mut largest, mut sums) = ([C::ZERO; WIDE], [0.0; WIDE]);
            for at in (0..WIDE).step_by(GROUP * C::In::<A>::LANES) {
                let columns = &tile[at..];
                of_columns::<C, C::In<A>>(columns, runs.len, &mut largest[at..], &mut sums[at..]);
            }
            for (lane, total) in totals.iter_mut().enumerate() {
                let has_nan = || runs.run(lane).iter().any(|value| value.is_nan());
                let found = Exponentials::new(largest[lane].wide(), sums[lane], has_nan);
                *total = found;
            }
        }
    }
}

/// The exponentials of one run.
#[inline(always)]
fn of_run<C: Raised, V: Vector<C>>(run: &[C]) -> Exponentials {
    let largest = largest_of::<C, V>(run);
    let top = V::splat(largest);
    let mut terms = [Terms::<V>::none(); GROUP];
    let whole = run.len() / (GROUP * V::LANES) * GROUP * V::LANES;
    for at in (0..whole).step_by(GROUP * V::LANES) {
        let below = [
            V::load(&run[at..]).sub(top),
            V::load(&run[at + V::LANES..]).sub(top),
        ];
        for (terms, term) in terms.iter_mut().zip(raised_exps::<C, V, GROUP>(below)) {
            *terms = terms.plus(term);
        }
    }
    for at in (whole..run.len()).step_by(V::LANES) {
        let part = &run[at..run.len().min(at + V::LANES)];
        let below = V::load_part(part, C::LOWEST).sub(top);
        let [term] = raised_exps::<C, V, 1>([below]);
        terms[0] = terms[0].plus(term);
    }
    let mut sum = 0.0;
    for terms in terms {
        let mut lanes = [0.0; WIDE];
        terms.lanes(&mut lanes);
        sum += lanes[..V::LANES].iter().fold(0.0, |sum, lane| sum + lane);
    }
    let has_nan = || run.iter().any(|value| value.is_nan());
    Exponentials::new(largest.wide(), sum, has_nan)
}

/// The largest number of each column of a tile and the sum of the exponentials below it.
#[inline(always)]
fn of_columns<C: Raised, V: Vector<C>>(
    columns: &[C],
    rows: usize,
    largest: &mut [C],
    sums: &mut [f64],
) {
    let load = |row: usize, i: usize| V::load(&columns[row * WIDE + i * V::LANES..]);
    let mut tops = [V::splat(C::LOWEST); GROUP];
    for row in 0..rows {
        for (i, top) in tops.iter_mut().enumerate() {
            *top = load(row, i).larger(*top);
        }
    }
    let mut terms = [Terms::<V>::none(); GROUP];
    for row in 0..rows {
        let below = [load(row, 0).sub(tops[0]), load(row, 1).sub(tops[1])];
        for (terms, term) in terms.iter_mut().zip(raised_exps::<C, V, GROUP>(below)) {
            *terms = terms.plus(term);
        }
    }
    for (i, (top, terms)) in tops.into_iter().zip(terms).enumerate() {
        top.store(&mut largest[i * V::LANES..]);
        terms.lanes(&mut sums[i * V::LANES..]);
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
        let mut largest = Lines([C::LOWEST; COLUMNS]);
        let mut sums = Lines([0.0f64; COLUMNS]);
        let (largest, sums) = (&mut largest.0[..rows.width], &mut sums.0[..rows.width]);
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

/// The logarithms of some totals.
struct Logarithms<'a> {
    totals: &'a [Exponentials],
    values: &'a mut [f64],
}

impl Task for Logarithms<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        for (value, total) in self.values.iter_mut().zip(self.totals) {
            *value = total.answer::<A>();
        }
    }
}

impl<C: Raised> Reducer<C> for LogSumExp {
    type Total = Exponentials;
    type Value = f64;

    fn is_heavy(&self) -> bool {
        true
    }

    fn empty(&self) -> Exponentials {
        Exponentials::EMPTY
    }

    fn runs(&self, runs: Runs<'_, C>, totals: &mut [Exponentials]) {
        if runs.len == 0 {
            return totals.fill(Exponentials::EMPTY);
        }
        Level::current().run(OfRuns { runs, totals });
    }

    fn rows(&self, rows: Rows<'_, C>, totals: &mut [Exponentials]) {
        Level::current().run(ExpSumRows { rows, totals });
    }

    fn merge_all(&self, totals: &mut [Exponentials], more: &[Exponentials]) {
        merge_each(totals, more, Exponentials::merge);
    }

    fn finish(&self, totals: &[Exponentials], _count: usize, values: &mut [f64]) {
        Level::current().run(Logarithms { totals, values });
    }
}
