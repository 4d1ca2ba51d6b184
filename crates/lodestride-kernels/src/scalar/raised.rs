//! The exponential of numbers that are not positive, times a power of two: what softmax and its relatives sum up.
//!
//! The power keeps every intermediate result normal, so one multiplication scales by `2^n`; the caller's last
//! multiplication takes it away again and rounds a denormal result once.

use crate::isa::Arch;
use crate::scalar::exp::ExpTable;
use crate::vector::{ExponentBits, Vector};

/// Floats with a raised exponential.
pub(crate) trait Raised: ExponentBits + ExpTable {
    /// The vector of an instruction set.
    type In<A: Arch>: Vector<Self>;
    /// The factor of [`raised_exp`].
    const FACTOR: f64;
    /// Below this the exponential is less than half of the smallest denormal.
    const LEAST: Self;
    const LOG2_E: Self;
    /// Adding it drops the fraction; the bias of the exponent and the raise ride along in the low bits.
    const SHIFT: Self;
}

impl Raised for f32 {
    type In<A: Arch> = A::F32;
    const FACTOR: f64 = 4_294_967_296.0;
    const LEAST: f32 = -104.0;
    const LOG2_E: f32 = std::f32::consts::LOG2_E;
    const SHIFT: f32 = 12_582_912.0 + 127.0 + 32.0;
}

impl Raised for f64 {
    type In<A: Arch> = A::F64;
    const FACTOR: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;
    const LEAST: f64 = -746.0;
    const LOG2_E: f64 = std::f64::consts::LOG2_E;
    const SHIFT: f64 = 6_755_399_441_055_744.0 + 1023.0 + 128.0;
}

/// `FACTOR * exp(x)` for x at most 0, within one unit in the last place of the unraised result; 0 where `exp(x)` is less
/// than half of the smallest denormal. NaN stays NaN.
#[inline(always)]
pub(crate) fn raised_exp<C: Raised, V: Vector<C>>(x: V) -> V {
    let [power] = raised_exps::<C, V, 1>([x]);
    power
}

/// [`raised_exp`] of several vectors, step by step, so that each step's latency is filled by the others.
#[inline(always)]
pub(crate) fn raised_exps<C: Raised, V: Vector<C>, const N: usize>(x: [V; N]) -> [V; N] {
    let shift = V::splat(C::SHIFT);
    let x = x.map(|x| V::splat(C::LEAST).larger(x));
    let shifted = x.map(|x| x.mul_add(V::splat(C::LOG2_E), shift));
    let n = shifted.map(|shifted| shifted.sub(shift));
    let high = zip(n, x, |n, x| n.neg_mul_add(V::splat(C::LN2.0), x));
    let r = zip(n, high, |n, high| n.neg_mul_add(V::splat(C::LN2.1), high));
    let mut sums = [V::splat(C::ONE); N];
    if let [rest @ .., last] = C::TAIL {
        sums = [V::splat(*last); N];
        for &coefficient in rest.iter().rev() {
            sums = zip(sums, r, |sum, r| sum.mul_add(r, V::splat(coefficient)));
        }
    }
    for _ in 0..2 {
        sums = zip(sums, r, |sum, r| sum.mul_add(r, V::splat(C::ONE)));
    }
    zip(sums, shifted, |sum, shifted| {
        sum.mul(shifted.exponent_bits())
    })
}

#[inline(always)]
fn zip<V: Copy, const N: usize>(mut a: [V; N], b: [V; N], job: impl Fn(V, V) -> V) -> [V; N] {
    for (a, b) in a.iter_mut().zip(b) {
        *a = job(*a, b);
    }
    a
}
