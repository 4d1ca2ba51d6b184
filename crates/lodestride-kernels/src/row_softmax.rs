//! Softmax and its logarithm over one row, or down several columns; their gradients.
//!
//! Three looks at a row that stays in the cache: the maximum; the exponentials of what lies below it, stored and summed;
//! the multiplication by the reciprocal of the sum. The method is that of rten's `softmax`
//! (<https://github.com/robertknight/rten>, `rten-vecmath/src/softmax.rs`), but for the raised exponential.
//!
//! Nothing checks for NaN or infinity: a NaN makes the sum NaN; an infinite maximum less itself is NaN, as in NumPy.

use crate::row_lines::{Columns, Lines};
use crate::row_walk::RowKernel;
use crate::scalar::raised::{Raised, raised_exp};
use crate::vector::{MOST_LANES, Vector, largest_of};

/// Elements whose terms are added up in the compute type before they join a row's total: few enough for each lane to take
/// no more than 32 of the widest vectors.
pub(crate) const fn block<C>() -> usize {
    4096 / size_of::<C>()
}
/// Rows whose terms are added up before they join a column's total.
pub(crate) const ROWS: usize = 64;

/// `exp(x - max) / sum(exp(x - max))`, or its logarithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Softmax {
    pub(crate) log: bool,
}

/// The maximum of a row (NaN apart) and the sum of the raised exponentials of what lies below it, which `out` gets where it
/// is not empty.
#[inline(always)]
pub(crate) fn row_exponentials<C: Raised, V: Vector<C>>(x: &[C], out: &mut [C]) -> (C, f64) {
    let largest = largest_of::<C, V>(x);
    let (top, store) = (V::splat(largest), !out.is_empty());
    let mut total = 0.0;
    for (index, x) in x.chunks(block::<C>()).enumerate() {
        let mut sums = [V::splat(C::ZERO); 2];
        let whole = x.len() / (2 * V::LANES) * 2 * V::LANES;
        let base = index * block::<C>();
        for at in (0..whole).step_by(2 * V::LANES) {
            for (i, sum) in sums.iter_mut().enumerate() {
                let at = at + i * V::LANES;
                let power = raised_exp::<C, V>(V::load(&x[at..]).sub(top));
                if store {
                    power.store(&mut out[base + at..]);
                }
                *sum = sum.add(power);
            }
        }
        for at in (whole..x.len()).step_by(V::LANES) {
            let end = x.len().min(at + V::LANES);
            let power = raised_exp::<C, V>(V::load_part(&x[at..end], C::LOWEST).sub(top));
            if store {
                power.store_part(&mut out[base + at..base + end]);
            }
            sums[0] = sums[0].add(power);
        }
        total += sums[0].add(sums[1]).total().wide();
    }
    (largest, total)
}

/// The logarithm of every lane, less the logarithm of the raise.
#[inline(always)]
fn logarithms<C: Raised, V: Vector<C>>(totals: V) -> V {
    let mut lanes = [C::ONE; MOST_LANES];
    totals.store(&mut lanes);
    for lane in &mut lanes[..V::LANES] {
        *lane = C::of((lane.wide() / C::FACTOR).ln());
    }
    V::load(&lanes)
}

impl<C: Raised> RowKernel<C> for Softmax {
    #[inline(always)]
    fn row<V: Vector<C>>(&self, [x, _]: [&[C]; 2], out: &mut [C]) {
        if self.log {
            let (top, total) = row_exponentials::<C, V>(x, &mut []);
            let total = C::of((total / C::FACTOR).ln());
            for (out, &x) in out.iter_mut().zip(x) {
                *out = x.sub(top).sub(total);
            }
            return;
        }
        let (_, total) = row_exponentials::<C, V>(x, out);
        let scale = C::of(1.0 / total);
        for out in out {
            *out = out.mul(scale);
        }
    }

    #[inline(always)]
    fn columns<V: Vector<C>, const N: usize>(
        &self,
        [x, _]: [Columns<'_, C>; 2],
        out: &mut Lines<'_, C>,
    ) {
        let mut tops = [V::splat(C::LOWEST); N];
        for row in 0..x.rows {
            for (i, top) in tops.iter_mut().enumerate() {
                *top = x.load::<V>(row, i).larger(*top);
            }
        }
        let mut totals = [V::splat(C::ZERO); N];
        for first in (0..x.rows).step_by(ROWS) {
            let mut sums = [V::splat(C::ZERO); N];
            for row in first..x.rows.min(first + ROWS) {
                for i in 0..N {
                    if i > 0 && i * V::LANES >= x.width {
                        continue;
                    }
                    let power = raised_exp::<C, V>(x.load::<V>(row, i).sub(tops[i]));
                    if !self.log {
                        power.store(out.slot::<V>(row, i));
                    }
                    sums[i] = sums[i].add(power);
                }
            }
            for (total, sum) in totals.iter_mut().zip(sums) {
                *total = total.add(sum);
            }
        }
        for i in 0..N {
            if self.log {
                let log = logarithms::<C, V>(totals[i]);
                for row in 0..x.rows {
                    let below = x.load::<V>(row, i).sub(tops[i]);
                    below.sub(log).store(out.slot::<V>(row, i));
                }
            } else {
                totals[i] = V::splat(C::ONE).div(totals[i]);
            }
        }
        for row in 0..if self.log { 0 } else { x.rows } {
            for (i, &scale) in totals.iter().enumerate() {
                let slot = out.slot::<V>(row, i);
                V::load(slot).mul(scale).store(slot);
            }
        }
    }
}

/// The gradient of [`Softmax`] from its result `y` and the gradient `g` of that: `y (g - sum(y g))`, or for the logarithm
/// `g - exp(y) sum(g)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SoftmaxGradient {
    pub(crate) log: bool,
}

impl SoftmaxGradient {
    #[inline(always)]
    pub(crate) fn term<C: Raised, V: Vector<C>>(self, y: V, g: V, sum: V) -> V {
        if self.log {
            sum.add(g)
        } else {
            y.mul_add(g, sum)
        }
    }

    #[inline(always)]
    pub(crate) fn result<C: Raised, V: Vector<C>>(self, y: V, g: V, total: V) -> V {
        if self.log {
            // The raise is taken away again by the total.
            let power = raised_exp::<C, V>(y);
            return power.neg_mul_add(total.mul(V::splat(C::of(1.0 / C::FACTOR))), g);
        }
        y.mul(g.sub(total))
    }
}

impl<C: Raised> RowKernel<C> for SoftmaxGradient {
    const INPUTS: usize = 2;

    #[inline(always)]
    fn row<V: Vector<C>>(&self, [y, g]: [&[C]; 2], out: &mut [C]) {
        let mut total = 0.0;
        for (y, g) in y.chunks(block::<C>()).zip(g.chunks(block::<C>())) {
            let mut sum = V::splat(C::ZERO);
            let whole = y.len() / V::LANES * V::LANES;
            for at in (0..whole).step_by(V::LANES) {
                sum = self.term::<C, V>(V::load(&y[at..]), V::load(&g[at..]), sum);
            }
            if whole < y.len() {
                let (y, g) = (&y[whole..], &g[whole..]);
                let (y, g) = (V::load_part(y, C::ZERO), V::load_part(g, C::ZERO));
                sum = self.term::<C, V>(y, g, sum);
            }
            total += sum.total().wide();
        }
        let total = V::splat(C::of(total));
        let whole = y.len() / V::LANES * V::LANES;
        for at in (0..whole).step_by(V::LANES) {
            let (y, g) = (V::load(&y[at..]), V::load(&g[at..]));
            self.result::<C, V>(y, g, total).store(&mut out[at..]);
        }
        if whole < y.len() {
            let (y, g) = (&y[whole..], &g[whole..]);
            let (y, g) = (V::load_part(y, C::ZERO), V::load_part(g, C::ZERO));
            self.result::<C, V>(y, g, total)
                .store_part(&mut out[whole..]);
        }
    }

    #[inline(always)]
    fn columns<V: Vector<C>, const N: usize>(
        &self,
        [y, g]: [Columns<'_, C>; 2],
        out: &mut Lines<'_, C>,
    ) {
        let mut totals = [V::splat(C::ZERO); N];
        for first in (0..y.rows).step_by(ROWS) {
            let mut sums = [V::splat(C::ZERO); N];
            for row in first..y.rows.min(first + ROWS) {
                for (i, sum) in sums.iter_mut().enumerate() {
                    *sum = self.term::<C, V>(y.load::<V>(row, i), g.load::<V>(row, i), *sum);
                }
            }
            for (total, sum) in totals.iter_mut().zip(sums) {
                *total = total.add(sum);
            }
        }
        for row in 0..y.rows {
            for (i, &total) in totals.iter().enumerate() {
                let result = self.result::<C, V>(y.load::<V>(row, i), g.load::<V>(row, i), total);
                result.store(out.slot::<V>(row, i));
            }
        }
    }
}
