//! The logistic function, alone and times its argument, by a table of powers of two, with vectors that look up.
//!
//! With `e = exp(-|x|)` in two parts, of which the first is exact, it is `1 / (1 + e)`, below zero `e / (1 + e)`. What the roundings
//! lose is kept and the quotient put right with it.

use crate::octave::{LookUp, Octave, polynomial};
use crate::scalar::hyperbolic_table::{Roots, near_zero};

/// The logistic function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sigmoid;

impl<C: Roots> LookUp<C> for Sigmoid {
    #[inline(always)]
    fn of<V: Octave<C>>(x: V) -> (V, bool) {
        let (top, bottom) = logistic(x);
        (quotient(top, bottom), x.are_within(V::splat(C::NEAR)))
    }
}

/// `x` times the logistic function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swish;

impl<C: Roots> LookUp<C> for Swish {
    #[inline(always)]
    fn of<V: Octave<C>>(x: V) -> (V, bool) {
        let ((high, low), bottom) = logistic(x);
        let product = x.mul(high);
        let rest = x.mul_add(low, x.mul_sub(high, product));
        // The sums lose the sign of zero.
        let result = quotient((product, rest), bottom).signed_as(x);
        (result, x.are_within(V::splat(C::NEAR)))
    }
}

/// The logistic function as a quotient of sums.
#[inline(always)]
fn logistic<C: Roots, V: Octave<C>>(x: V) -> ((V, V), (V, V)) {
    let (zero, one) = (V::splat(C::ZERO), V::splat(C::ONE));
    let (shifted, u) = near_zero(x.signed_as(V::splat(-C::ONE)));
    let power = shifted.root_times_power(C::ROOTS);
    let rest = power.mul(polynomial(u, C::NEAR_EXP).mul_add(u.mul(u), u));
    let sum = one.add(power);
    let lost = power.sub(sum.sub(one)).add(rest);
    let top = (x.negative(power, one), x.negative(rest, zero));
    (top, (sum, lost))
}

#[inline(always)]
fn quotient<C: Roots, V: Octave<C>>((top, above): (V, V), (bottom, below): (V, V)) -> V {
    let inverse = V::splat(C::ONE).div(bottom.add(below));
    let quotient = top.mul(inverse);
    let error = quotient.neg_mul_add(bottom, top).add(above);
    let error = quotient.neg_mul_add(below, error);
    error.mul_add(inverse, quotient)
}
