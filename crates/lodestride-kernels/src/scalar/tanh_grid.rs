//! The hyperbolic tangent of f64 from the nearest of many points, for vectors that look up rows of a table.
//!
//! With `T = tanh(r)` and `D = tanh(d)` the sum `S = T + D` is `tanh(r + d)` but for its share `T D / (1 + T D)`. The points are so
//! dense that `D` is `d` and a small rest, and all but `T + d` are small terms. They are made when the crate is compiled, from point to
//! point by the same formula.
#![allow(
    clippy::needless_range_loop,
    reason = "as in `pieces.rs`: no closures where vectors are worked on"
)]

use crate::pick::PickRows;
use crate::scalar::BLOCK;
use crate::scalar::float::Float;
use crate::scalar::pair::Pair;

/// Points in a unit.
const UNIT: usize = 16;
/// From here on the function is 1 to the last bit.
const LEVEL: f64 = 19.1;
/// A power of two, so that the low bits of a sum are a point whatever they are.
const POINTS: usize = 512;
/// Adding it leaves a multiple of `1 / UNIT`, whose number is in the low bits.
const GRID: f64 = f64::WHOLE / UNIT as f64;
/// Vectors in flight.
const FLIGHT: usize = 4;
/// `(tanh(d) - d) / d^3` in `d^2` for |d| of half a step, to 2^-63 of the tangent.
const CURVE: [f64; 4] = [
    -0.333_333_333_333_333_26,
    0.133_333_333_331_271_3,
    -0.053_968_243_409_957_05,
    0.021_852_186_929_095_83,
];

/// At each point the tangent, and what it lost.
static TABLE: [[f64; 2]; POINTS] = table();

const fn table() -> [[f64; 2]; POINTS] {
    // tanh(1 / UNIT)
    let step = Pair(0.062_418_746_747_512_514, 1.511_248_940_494_462_4e-19);
    let mut table = [[1.0, 0.0]; POINTS];
    let (mut point, mut tangent) = (0, Pair(0.0, 0.0));
    while point <= LEVEL as usize * UNIT + UNIT {
        table[point] = [tangent.0, tangent.1];
        let bottom = Pair(1.0, 0.0).plus(tangent.times(step));
        tangent = tangent.plus(step).divided_by(bottom);
        point += 1;
    }
    table
}

/// The hyperbolic tangent of a block, if that is fast; no argument is hard.
#[inline(always)]
pub(crate) fn block<V: PickRows>(dst: &mut [f64; BLOCK], x: &[f64; BLOCK]) -> Option<bool> {
    if const { V::QUICK } {
        for at in (0..BLOCK).step_by(FLIGHT * V::LANES) {
            let mut group = [V::splat(0.0); FLIGHT];
            for i in 0..FLIGHT {
                group[i] = V::load(&x[at + i * V::LANES..]);
            }
            let group = tanh(group);
            for i in 0..FLIGHT {
                group[i].store(&mut dst[at + i * V::LANES..]);
            }
        }
    }
    V::QUICK.then_some(false)
}

#[inline(always)]
fn tanh<V: PickRows>(x: [V; FLIGHT]) -> [V; FLIGHT] {
    let (one, grid) = (V::splat(1.0), V::splat(GRID));
    let (mut t, mut lost, mut d, mut tail) = (x, x, x, x);
    for i in 0..FLIGHT {
        // NaN stays.
        let size = V::splat(LEVEL).smaller(x[i].size());
        let shifted = size.add(grid);
        d[i] = size.sub(shifted.sub(grid));
        (t[i], lost[i]) = shifted.pick_rows(&TABLE);
        tail[i] = V::splat(CURVE[3]);
    }
    for c in CURVE[..3].iter().rev() {
        for i in 0..FLIGHT {
            tail[i] = tail[i].mul_add(d[i].mul(d[i]), V::splat(*c));
        }
    }
    let mut results = x;
    for i in 0..FLIGHT {
        let tail = tail[i].mul(d[i].mul(d[i]).mul(d[i]));
        let product = t[i].mul(d[i].add(tail));
        // t is 0 or larger than d.
        let sum = t[i].add(d[i]);
        let rest = t[i].sub(sum).add(d[i]).add(tail.add(lost[i]));
        let share = product.mul(sum.add(rest)).div(one.add(product));
        results[i] = sum.add(rest.sub(share)).signed_as(x[i]);
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_those_of_the_plain_function() {
        for (point, [tanh, lost]) in TABLE.into_iter().enumerate() {
            let wanted = libm::tanh(point as f64 / UNIT as f64);
            // libm's function is within 1 ulp.
            assert!((tanh - wanted).abs() <= f64::EPSILON * wanted, "{point}");
            assert!(lost.abs() <= f64::EPSILON * wanted, "{point}");
        }
    }
}
