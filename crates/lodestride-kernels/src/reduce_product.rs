//! Products: what is multiplied, and short runs of `f32` side by side, whose lanes are of `f64`.

use crate::across::FEW;
use crate::isa::Arch;
use crate::numeric::Compute;
use crate::reduce_data::{Runs, last_chunk};
use crate::reduce_fold::LaneFold;
use crate::reduce_kinds::Addable;
use crate::reduce_short::{VectorFold, joined, rows_by, shuffles};
use crate::vector::{Vector, VectorTask};

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
    fn fill(&self) -> C {
        C::ONE
    }
    #[inline(always)]
    fn step(&self, lane: C::Factor, value: C) -> C::Factor {
        lane.mul(value.factor())
    }
    #[inline(always)]
    fn join(&self, left: C::Factor, right: C::Factor) -> C::Factor {
        left.mul(right)
    }
    #[inline(always)]
    fn lift(&self, lane: C::Factor) -> C::Factor {
        lane
    }
    #[inline(always)]
    fn merge(&self, left: C::Factor, right: C::Factor) -> C::Factor {
        left.mul(right)
    }
    const COMMON: bool = C::VECTOR;
    const WIDE: bool = true;
    #[inline(always)]
    fn short_runs<A: Arch>(self, runs: Runs<'_, C>, totals: &mut [C::Factor]) -> bool {
        C::products::<A>(runs, totals)
    }
}

impl VectorFold<f64> for Product {
    const LOSES_NAN: bool = false;
    #[inline(always)]
    fn step_all<V: Vector<f64>>(&self, lanes: V, values: V) -> V {
        lanes.mul(values)
    }
    #[inline(always)]
    fn join_all<V: Vector<f64>>(&self, left: V, right: V) -> V {
        left.mul(right)
    }
}

/// The products of runs of at least [`FEW`] elements; false, with nothing done, where vectors are of another size than the shuffles.
pub(crate) struct WidenedProducts<'a> {
    pub(crate) runs: Runs<'a, f32>,
    pub(crate) totals: &'a mut [f64],
}

impl VectorTask<f64> for WidenedProducts<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<A: Arch, V: Vector<f64>>(self) -> bool {
        let Self { runs, totals } = self;
        if !shuffles::<A, f64, V>() {
            return false;
        }
        for (group, totals) in totals.chunks_mut(V::LANES).enumerate() {
            let (runs, mut products) = (runs.from(group * V::LANES), [0.0; 8]);
            rows_by(Product, runs, totals.len(), lanes_of::<V>).store(&mut products);
            for (total, product) in totals.iter_mut().zip(products) {
                *total = product;
            }
        }
        true
    }
}

/// The lanes of a run as one vector.
#[inline(always)]
fn lanes_of<V: Vector<f64>>(run: &[f32]) -> V {
    let mut lanes = [V::splat(1.0); 4];
    let (chunks, rest) = run.as_chunks::<FEW>();
    for chunk in chunks {
        step(&mut lanes, chunk);
    }
    if !rest.is_empty() {
        step(&mut lanes, &last_chunk(run, rest.len(), 1.0));
    }
    joined(Product, lanes)
}

#[inline(always)]
fn step<V: Vector<f64>>(lanes: &mut [V; 4], chunk: &[f32; FEW]) {
    let mut wide = [0.0; FEW];
    for place in 0..FEW {
        wide[place] = f64::from(chunk[place]);
    }
    for part in 0..FEW / V::LANES {
        lanes[part] = lanes[part].mul(V::load(&wide[part * V::LANES..]));
    }
}
