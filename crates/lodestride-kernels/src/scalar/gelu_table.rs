//! `gelu` of f64 by a table of powers of two, with vectors that look up.
//!
//! As in `erf.rs`: below zero `gelu(x)` is half `x erfc(-x / sqrt 2)`, the exponential of `-x^2 / 2` times a smooth quotient, and above
//! zero `x` less the same. The exponential is that of `logistic_table.rs`; the parts are never rounded together before the last sum.

use crate::octave::{LookUp, Octave, polynomial};
use crate::scalar::erf::ErfTable;
use crate::scalar::hyperbolic_table::{Roots, near_zero};

/// `x` times the normal distribution function of `x`, for |x| below [`FAR`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gelu;

/// Up to here the exponential is not denormal.
pub(crate) const FAR: f64 = 37.0;

impl LookUp<f64> for Gelu {
    #[inline(always)]
    fn of<V: Octave<f64>>(x: V) -> (V, bool) {
        let splat = V::splat;
        let (one, half) = (splat(1.0), splat(0.5));
        // NaN stays.
        let size = splat(FAR).smaller(x.size());
        let square = size.mul(size);
        let lost = size.mul_sub(size, square);
        let (shifted, u) = near_zero(square.mul(splat(-0.5)));
        let u = lost.neg_mul_add(half, u);
        let power = shifted.root_times_power(f64::ROOTS);
        let beyond = power.mul(polynomial(u, f64::NEAR_EXP).mul_add(u.mul(u), u));
        // 1 + sqrt(2) x in two parts.
        let unit = splat(std::f64::consts::SQRT_2);
        let bottom = size.mul_add(unit, one);
        let below = size.mul_add(unit, one.sub(bottom));
        let below = size.mul_add(splat(f64::SQRT_2_LOW), below);
        let shift = splat(3.0 * std::f64::consts::SQRT_2);
        let t = size.sub(shift).div(size.add(shift));
        let curve = t.mul(polynomial(t, &f64::SCALED[1..]));
        let start = splat(f64::SCALED[0]);
        let sum = start.add(curve);
        let lost = curve.sub(sum.sub(start)).add(splat(f64::SCALED_LOW));
        let share = size.mul(half);
        let top = sum.mul(share);
        let above = lost.mul_add(share, sum.mul_sub(share, top));
        let inverse = one.div(bottom);
        let quotient = top.mul(inverse);
        let error = quotient.neg_mul_add(bottom, top).add(above);
        let small = quotient.neg_mul_add(below, error).mul(inverse);
        let tail = quotient.mul(power);
        let rest = quotient.mul_add(beyond, quotient.mul_sub(power, tail));
        let rest = small.mul_add(power, rest);
        let positive = x.larger(splat(0.0));
        let result = positive.sub(tail);
        let lost = positive.sub(result).sub(tail);
        let far = result.add(lost.sub(rest));
        // Around zero another polynomial is nearer.
        let scaled = x.mul(splat(std::f64::consts::FRAC_1_SQRT_2));
        let curve = polynomial(scaled.mul(scaled), f64::NEAR_ZERO);
        let share = curve.mul_add(scaled, scaled).mul(half);
        let near = x.mul_add(share, half.mul(x));
        let result = x.if_within(half, near, far).signed_as(x);
        (result, x.are_within(splat(FAR)))
    }
}
