//! The inverse hyperbolic functions as logarithms of sums in two parts, with vectors that look up.
//!
//! The root of a sum is rounded; how far it is from the true one follows from its square, which a fused product gives exactly.

use crate::octave::{LookUp, Octave};
use crate::scalar::float::Float;
use crate::scalar::log_pieces::{LogPieces, log_of_sum};

/// From here on the squares of f32 would overflow soon.
pub(crate) const SQUARES_END: f64 = 4_611_686_018_427_387_904.0;

/// The inverse of `sinh`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asinh;

impl<C: LogPieces> LookUp<C> for Asinh {
    #[inline(always)]
    fn of<V: Octave<C>>(x: V) -> (V, bool) {
        let (one, size) = (V::splat(C::ONE), x.size());
        let square = size.mul_add(size, one);
        // Exact as long as it counts.
        let lost = size.mul_add(size, one.sub(square));
        let (root, rest) = root_in_parts(square, lost);
        let sum = root.add(size);
        let lost = size.sub(sum.sub(root)).add(rest);
        (
            near_zero_as(x, log_of_sum(sum, lost)),
            size.are_within(V::splat(C::of(SQUARES_END))),
        )
    }
}

/// The inverse of `cosh`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acosh;

impl<C: LogPieces> LookUp<C> for Acosh {
    #[inline(always)]
    fn of<V: Octave<C>>(x: V) -> (V, bool) {
        let above = x.sub(V::splat(C::ONE));
        let twice = above.add(above);
        // x^2 - 1, without cancellation near 1.
        let square = above.mul_add(above, twice);
        let lost = above.mul_add(above, twice.sub(square));
        let (root, rest) = root_in_parts(square, lost);
        let sum = x.add(root);
        let lost = root.sub(sum.sub(x)).add(rest);
        // Between 0 and 1 the sum is not a number; below, rounding may leave it positive.
        let inside = x.are_plain() & sum.are_plain();
        let inside = inside & x.are_within(V::splat(C::of(SQUARES_END)));
        (log_of_sum(sum, lost), inside)
    }
}

/// The inverse of `tanh`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atanh;

impl<C: LogPieces> LookUp<C> for Atanh {
    #[inline(always)]
    fn of<V: Octave<C>>(x: V) -> (V, bool) {
        let (one, size) = (V::splat(C::ONE), x.size());
        let bottom = one.sub(size);
        let lost = one.sub(bottom).sub(size);
        let inverse = one.div(bottom);
        let top = size.add(size);
        let quotient = top.mul(inverse);
        let error = quotient.neg_mul_add(bottom, top);
        let rest = quotient.neg_mul_add(lost, error).mul(inverse);
        // Either may be the larger.
        let sum = quotient.add(one);
        let added = sum.sub(quotient);
        let lost = quotient.sub(sum.sub(added)).add(one.sub(added));
        let log = log_of_sum(sum, lost.add(rest));
        (
            near_zero_as(x, log.mul(V::splat(C::of(0.5)))),
            size.are_within(one),
        )
    }
}

/// A result with the sign of `x`, and `x` itself where the function is `x` to the last place: the logarithm's parts lose more there.
#[inline(always)]
fn near_zero_as<C: LogPieces, V: Octave<C>>(x: V, result: V) -> V {
    // The next term is a third of the cube at most: a tenth of a unit in the last place.
    let end = C::of(0.5) * C::PER_OCTAVE.root();
    x.if_within(V::splat(end), x, result.signed_as(x))
}

/// The root of `square + lost` in two parts.
#[inline(always)]
fn root_in_parts<C: Float, V: Octave<C>>(square: V, lost: V) -> (V, V) {
    let root = square.root();
    let rest = root.neg_mul_add(root, square).add(lost);
    // Of zero, too, there is nothing left.
    let divisor = V::splat(C::of(1e-12)).larger(root);
    (root, rest.mul(V::splat(C::of(0.5)).div(divisor)))
}
