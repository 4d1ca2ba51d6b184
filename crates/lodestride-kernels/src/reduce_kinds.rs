//! The single-pass reducers: what sum, product, extremes and counts keep per lane and per block.
//!
//! These look at each element once: they are [`LaneFold`]s behind [`Lanes`]. Those that look twice are in `reduce_moments`.

use crate::across::FEW;
use crate::isa::{Arch, Level};
use crate::numeric::Compute;
use crate::reduce_data::{Rows, Runs};
use crate::reduce_fold::{
    FOUR, LANES, LaneFold, Reducer, SHORT_RUN, WIDE, fold_rows, fold_runs, merge_each,
};
use crate::reduce_lifted::{LiftedRows, LiftedRuns, fold_lifted, fold_lifted_rows, is_tuned};
use crate::reduce_long::{ChunkLanes, FourRuns, RowLanes};
use crate::reduce_narrow::{NarrowRows, fold_narrow, fold_narrow_copies};
use crate::reduce_product::{Product, WidenedProducts};
use crate::reduce_short::{LastChunk, ShortRuns, VectorFold};
use crate::strided::Source;
use crate::vector::{Vector, VectorTask};

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
        let value = self.sum + self.lost;
        if value.is_nan() { self.sum } else { value }
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
    /// [`LaneFold::short_runs`] of a product.
    #[inline(always)]
    fn products<A: Arch>(_runs: Runs<'_, Self>, _totals: &mut [Self::Factor]) -> bool {
        false
    }
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
    #[inline(always)]
    fn value(sum: f64) -> f64 {
        sum
    }
    #[inline(always)]
    fn divided(sum: f64, by: f64) -> f64 {
        sum / by
    }
    type Factor = f64;
    #[inline(always)]
    fn factor(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn products<A: Arch>(runs: Runs<'_, f32>, totals: &mut [f64]) -> bool {
        f64::in_vectors::<A, _>(WidenedProducts { runs, totals }).unwrap_or(false)
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
    #[inline(always)]
    fn value(sum: Compensated) -> f64 {
        sum.value()
    }
    #[inline(always)]
    fn divided(sum: Compensated, by: f64) -> f64 {
        sum.value() / by
    }
    type Factor = f64;
    #[inline(always)]
    fn factor(self) -> f64 {
        self
    }
    #[inline(always)]
    fn products<A: Arch>(runs: Runs<'_, f64>, totals: &mut [f64]) -> bool {
        let fold = Product;
        f64::in_vectors::<A, _>(ShortRuns { fold, runs, totals }).unwrap_or(false)
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
            #[inline(always)]
            fn value(sum: $t) -> $t { sum }
            #[inline(always)]
            fn divided(sum: $t, by: f64) -> $t { (sum as f64 / by) as $t }
            type Factor = $t;
            #[inline(always)]
            fn factor(self) -> $t { self }
        }
    )*};
}
addable_integer!(i64, u64);

/// The last step of a reduction: values from totals, of which each is of so many elements.
pub(crate) type Last<T, V> = fn(&[T], usize, &mut [V]);

/// Any [`LaneFold`] as a reducer, with its last step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes<F, T, V> {
    pub(crate) fold: F,
    pub(crate) end: Last<T, V>,
}

impl<C, F, V> Reducer<C> for Lanes<F, F::Total, V>
where
    C: Compute,
    F: LaneFold<C>,
    V: Compute,
{
    type Total = F::Total;
    type Value = V;

    fn empty(&self) -> F::Total {
        self.fold.lift(self.fold.lane())
    }
    fn runs(&self, runs: Runs<'_, C>, totals: &mut [F::Total]) {
        fold_runs(self.fold, runs, totals);
    }
    fn shortest_run(&self) -> usize {
        if F::COMMON { FEW } else { SHORT_RUN }
    }
    fn lifts(&self) -> bool {
        F::LIFTS && is_tuned()
    }
    fn lifted(&self, runs: LiftedRuns<'_, C>, totals: &mut [F::Total]) {
        if const { F::LIFTS } {
            fold_lifted(self.fold, runs, totals);
        }
    }
    fn lifts_rows(&self) -> bool {
        F::LIFTS
    }
    fn lifted_rows(&self, rows: LiftedRows<'_, C>, totals: &mut [F::Total], new: bool) {
        if const { F::LIFTS } {
            fold_lifted_rows(self.fold, rows, totals, new);
        }
    }
    fn columns(&self) -> usize {
        WIDE
    }
    fn rows(&self, rows: Rows<'_, C>, totals: &mut [F::Total]) {
        fold_rows(self.fold, (rows, 0), totals, false);
    }
    fn takes_sets(&self) -> bool {
        true
    }
    fn sets(&self, rows: Rows<'_, C>, step: usize, totals: &mut [F::Total], new: bool) {
        fold_rows(self.fold, (rows, step), totals, new);
    }
    fn takes_narrow(&self) -> bool {
        F::NARROW && (C::VECTOR || Level::current().is_tuned())
    }
    fn narrow(
        &self,
        rows: NarrowRows<'_, C>,
        copied: Option<&Source<'_, C>>,
        totals: &mut [F::Total],
    ) {
        if const { F::NARROW } {
            match copied {
                Some(source) => fold_narrow_copies(self.fold, source, rows, totals),
                None => fold_narrow(self.fold, rows, totals),
            }
        }
    }
    fn merge_all(&self, totals: &mut [F::Total], more: &[F::Total]) {
        merge_each(totals, more, |total, more| self.fold.merge(total, more));
    }
    fn finish(&self, totals: &[F::Total], count: usize, values: &mut [V]) {
        (self.end)(totals, count, values);
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
    fn fill(&self) -> C {
        C::ZERO
    }
    #[inline(always)]
    fn step(&self, lane: C, value: C) -> C {
        lane.add(if ABS { value.magnitude() } else { value })
    }
    #[inline(always)]
    fn join(&self, left: C, right: C) -> C {
        left.add(right)
    }
    #[inline(always)]
    fn lift(&self, lane: C) -> C::Sum {
        lane.widen()
    }
    #[inline(always)]
    fn merge(&self, left: C::Sum, right: C::Sum) -> C::Sum {
        C::plus(left, right)
    }
    const COMMON: bool = !ABS;
    const NARROW: bool = !ABS;
    const LIFTS: bool = !ABS;
    #[inline(always)]
    fn short_runs<A: Arch>(self, runs: Runs<'_, C>, totals: &mut [Self::Total]) -> bool {
        let fold = self;
        C::in_vectors::<A, _>(ShortRuns { fold, runs, totals }).unwrap_or(false)
    }
    #[inline(always)]
    fn lanes_of_four<A: Arch>(self, runs: [&[C]; FOUR]) -> Option<[[C; LANES]; FOUR]> {
        if ABS {
            return None;
        }
        C::in_vectors::<A, _>(FourRuns { fold: self, runs })?
    }
    #[inline(always)]
    fn lanes_of_rows<A: Arch>(self, rows: Rows<'_, C>, lanes: &mut [C]) -> bool {
        let fold = self;
        !ABS && C::in_vectors::<A, _>(RowLanes { fold, rows, lanes }).unwrap_or(false)
    }
}

impl<C: Addable + Magnitude, const ABS: bool> VectorFold<C> for Sum<ABS> {
    const LOSES_NAN: bool = false;
    #[inline(always)]
    fn step_all<V: Vector<C>>(&self, lanes: V, values: V) -> V {
        lanes.add(magnitudes::<C, V, ABS>(values))
    }
    #[inline(always)]
    fn join_all<V: Vector<C>>(&self, left: V, right: V) -> V {
        left.add(right)
    }
}

/// Values, or with `ABS` their distances from zero.
#[inline(always)]
fn magnitudes<C: Compute, V: Vector<C>, const ABS: bool>(values: V) -> V {
    if ABS {
        values.larger(V::splat(C::ZERO).sub(values))
    } else {
        values
    }
}

/// Distance from zero, and work in vectors.
pub(crate) trait Magnitude: Compute {
    fn magnitude(self) -> Self;
    /// Runs a task in this type's vectors; none for types without.
    #[inline(always)]
    fn in_vectors<A: Arch, T: VectorTask<Self>>(_task: T) -> Option<T::Output> {
        None
    }
}

macro_rules! magnitude {
    ($($t:ty $(: $vector:ident)?, $x:ident => $abs:expr);*) => {$(
        impl Magnitude for $t {
            #[inline(always)]
            fn magnitude(self) -> $t { let $x = self; $abs }
            $(
                #[inline(always)]
                fn in_vectors<A: Arch, T: VectorTask<$t>>(task: T) -> Option<T::Output> {
                    Some(task.run::<A, A::$vector>())
                }
            )?
        }
    )*};
}
magnitude!(f32: F32, x => x.abs(); f64: F64, x => x.abs(); i64, x => x.wrapping_abs(); u64, x => x);

/// The largest value, or with `MIN` the smallest, or with `ABS` the largest magnitude; NaN wins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extreme<const MIN: bool, const ABS: bool>;

impl<C: Magnitude, const MIN: bool, const ABS: bool> LaneFold<C> for Extreme<MIN, ABS> {
    type Lane = C;
    type Total = C;
    const RARE: bool = MIN && ABS;
    #[inline(always)]
    fn lane(&self) -> C {
        self.fill()
    }
    #[inline(always)]
    fn fill(&self) -> C {
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
    fn join(&self, left: C, right: C) -> C {
        self.step(left, right)
    }
    #[inline(always)]
    fn lift(&self, lane: C) -> C {
        lane
    }
    #[inline(always)]
    fn merge(&self, left: C, right: C) -> C {
        self.step(left, right)
    }
    const COMMON: bool = !ABS;
    #[inline(always)]
    fn short_runs<A: Arch>(self, runs: Runs<'_, C>, totals: &mut [Self::Total]) -> bool {
        let fold = self;
        C::in_vectors::<A, _>(ShortRuns { fold, runs, totals }).unwrap_or(false)
    }
    #[inline(always)]
    fn last_chunk<A: Arch>(self, rest: &[C]) -> Option<[C; FEW]> {
        let fill = self.fill();
        C::in_vectors::<A, _>(LastChunk { rest, fill })
    }
    #[inline(always)]
    fn lanes_of_chunks<A: Arch, const N: usize>(
        self,
        chunks: &[[C; N]],
        far: bool,
    ) -> Option<[C; N]> {
        if ABS {
            return None;
        }
        let fold = self;
        C::in_vectors::<A, _>(ChunkLanes { fold, chunks, far })?
    }
    #[inline(always)]
    fn lanes_of_four<A: Arch>(self, runs: [&[C]; FOUR]) -> Option<[[C; LANES]; FOUR]> {
        if ABS {
            return None;
        }
        C::in_vectors::<A, _>(FourRuns { fold: self, runs })?
    }
    #[inline(always)]
    fn lanes_of_rows<A: Arch>(self, rows: Rows<'_, C>, lanes: &mut [C]) -> bool {
        let fold = self;
        !ABS && C::in_vectors::<A, _>(RowLanes { fold, rows, lanes }).unwrap_or(false)
    }
}

impl<C: Magnitude, const MIN: bool, const ABS: bool> VectorFold<C> for Extreme<MIN, ABS> {
    const LOSES_NAN: bool = true;
    #[inline(always)]
    fn step_all<V: Vector<C>>(&self, lanes: V, values: V) -> V {
        self.join_all(lanes, magnitudes::<C, V, ABS>(values))
    }
    #[inline(always)]
    fn join_all<V: Vector<C>>(&self, left: V, right: V) -> V {
        if MIN {
            right.smaller(left)
        } else {
            right.larger(left)
        }
    }
}

/// How many values are not zero (NaN is not zero).
#[derive(Clone, Copy, Debug)]
pub(crate) struct NonZero;

impl<C: Compute> LaneFold<C> for NonZero {
    type Lane = u32;
    type Total = u64;
    const IS_FREE: bool = true;
    const RARE: bool = true;
    #[inline(always)]
    fn lane(&self) -> u32 {
        0
    }
    #[inline(always)]
    fn fill(&self) -> C {
        C::ZERO
    }
    #[inline(always)]
    fn step(&self, lane: u32, value: C) -> u32 {
        lane + u32::from(value != C::ZERO)
    }
    #[inline(always)]
    fn join(&self, left: u32, right: u32) -> u32 {
        left + right
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
