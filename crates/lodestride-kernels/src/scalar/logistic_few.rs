//! The logistic function of f32 for vectors of AVX2, which have few registers: one quotient for both signs.
//!
//! With `exp(x) = s exp(r)`, where `s` is a power of two, it is `s / (s + exp(-r))`. The sum is `1 + s`, which is exact where it
//! matters, and a polynomial, in one rounding; what that loses is worked out and the quotient put right with it.
#![allow(
    clippy::needless_range_loop,
    reason = "as in `pieces.rs`: no closures where vectors are worked on"
)]

use crate::pick::Pick;
use crate::scalar::BLOCK;
use crate::scalar::exp::ExpTable;
use crate::scalar::float::Float;
use crate::scalar::pieces::OfVectors;
use std::hint::black_box;

/// Vectors in flight.
const FLIGHT: usize = 4;
/// From here on the function is 1 to the last bit.
const LEVEL: f32 = 17.5;
/// Adding it drops the fraction; the bias of the exponent rides along in the low bits.
const SHIFT: f32 = f32::WHOLE + 127.0;
/// `(1 - exp(-r)) / r` for |r| <= ln 2 / 2, to 2^-28.
const TAIL: [f32; 6] = {
    let tail = <f32 as ExpTable>::TAIL;
    [1.0, -tail[0], tail[1], -tail[2], tail[3], -tail[4]]
};

#[derive(Clone, Copy, Debug)]
struct Logistic;

/// The function of a block, and whether some arguments are too low for it.
#[inline(always)]
pub(crate) fn block<V: Pick>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> bool {
    // Unrolled, the compiler would do the divisions of all vectors last, and keep what they need in memory meanwhile.
    for at in (0..black_box(BLOCK)).step_by(FLIGHT * V::LANES) {
        Logistic.group::<V, FLIGHT>(&mut dst[at..], &x[at..]);
    }
    let mut low = false;
    for &x in x {
        low |= x <= -f32::NEAR;
    }
    low
}

impl OfVectors for Logistic {
    #[inline(always)]
    fn of<V: Pick, const L: usize>(&self, x: [V; L]) -> [V; L] {
        let (mut s, mut r, mut sum, mut results) = (x, x, x, x);
        let (one, shift) = (V::splat(1.0), V::splat(SHIFT));
        for i in 0..L {
            // NaN stays.
            let x = V::splat(LEVEL).smaller(x[i]);
            let shifted = x.mul_add(V::splat(std::f32::consts::LOG2_E), shift);
            let n = shifted.sub(shift);
            let near = n.neg_mul_add(V::splat(f32::LN2.0), x);
            r[i] = n.neg_mul_add(V::splat(f32::LN2.1), near);
            s[i] = shifted.exponent_bits();
        }
        for i in 0..L {
            let square = r[i].mul(r[i]);
            let low = V::splat(TAIL[1]).mul_add(r[i], V::splat(TAIL[0]));
            let middle = V::splat(TAIL[3]).mul_add(r[i], V::splat(TAIL[2]));
            let high = V::splat(TAIL[5]).mul_add(r[i], V::splat(TAIL[4]));
            sum[i] = high.mul_add(square, middle).mul_add(square, low);
        }
        for i in 0..L {
            let bottom = sum[i].neg_mul_add(r[i], one.add(s[i]));
            let lost = sum[i].neg_mul_add(r[i], one.sub(bottom).add(s[i]));
            let inverse = one.div(bottom);
            let share = inverse.mul(s[i]);
            results[i] = inverse.mul(lost).neg_mul_add(share, share);
        }
        results
    }
}
