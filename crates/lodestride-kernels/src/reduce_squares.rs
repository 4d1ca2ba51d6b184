//! Sums of squares, plain and scaled: what two-norms are made of.

use crate::isa::Arch;
use crate::numeric::ComputeFloat;
use crate::reduce_data::{Rows, Runs};
use crate::reduce_fold::{FOUR, LANES, LaneFold};
use crate::reduce_kinds::Magnitude;
use crate::reduce_long::{FourRuns, RowLanes};
use crate::reduce_short::{ShortRuns, VectorFold};
use crate::vector::Vector;

/// Sum of squares, in the type itself: what leaves its range is summed again by [`ScaledSquares`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Squares;

impl<C: ComputeFloat + Magnitude> LaneFold<C> for Squares {
    type Lane = C;
    type Total = f64;
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
        lane.add(value.mul(value))
    }
    #[inline(always)]
    fn join(&self, left: C, right: C) -> C {
        left.add(right)
    }
    #[inline(always)]
    fn lift(&self, lane: C) -> f64 {
        lane.wide()
    }
    #[inline(always)]
    fn merge(&self, left: f64, right: f64) -> f64 {
        left + right
    }
    const COMMON: bool = true;
    #[inline(always)]
    fn short_runs<A: Arch>(self, runs: Runs<'_, C>, totals: &mut [Self::Total]) -> bool {
        let fold = self;
        C::in_vectors::<A, _>(ShortRuns { fold, runs, totals }).unwrap_or(false)
    }
    #[inline(always)]
    fn lanes_of_four<A: Arch>(self, runs: [&[C]; FOUR]) -> Option<[[C; LANES]; FOUR]> {
        C::in_vectors::<A, _>(FourRuns { fold: self, runs })?
    }
    #[inline(always)]
    fn lanes_of_rows<A: Arch>(self, rows: Rows<'_, C>, lanes: &mut [C]) -> bool {
        let fold = self;
        C::in_vectors::<A, _>(RowLanes { fold, rows, lanes }).unwrap_or(false)
    }
}

impl<C: ComputeFloat + Magnitude> VectorFold<C> for Squares {
    const LOSES_NAN: bool = false;
    #[inline(always)]
    fn step_all<V: Vector<C>>(&self, lanes: V, values: V) -> V {
        lanes.add(values.mul(values))
    }
    #[inline(always)]
    fn join_all<V: Vector<C>>(&self, left: V, right: V) -> V {
        left.add(right)
    }
}

/// Sum of squares times `scale` squared, in f64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScaledSquares {
    pub(crate) scale: f64,
}

impl<C: ComputeFloat> LaneFold<C> for ScaledSquares {
    type Lane = f64;
    type Total = f64;
    const IS_WIDER: bool = true;
    #[inline(always)]
    fn lane(&self) -> f64 {
        0.0
    }
    #[inline(always)]
    fn fill(&self) -> C {
        C::ZERO
    }
    #[inline(always)]
    fn step(&self, lane: f64, value: C) -> f64 {
        let value = value.wide() * self.scale;
        lane + value * value
    }
    #[inline(always)]
    fn join(&self, left: f64, right: f64) -> f64 {
        left + right
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
