//! The tangent of f64 by a table of sines and cosines, with vectors that look up.
//!
//! `x` is `n pi/16 + r`, and `tan(a + r)` is `(sin a + cos a tan r) / (cos a - sin a tan r)`: the 16 angles `a` of a half turn need
//! no case of their own, and so near zero a tangent is a short polynomial. What roundings lose is kept, and the quotient put
//! right with it.

use crate::octave::{LookUp, Octave};
use crate::scalar::float::Float;
use crate::scalar::trig::{FAR, QUARTER};

/// Sines and cosines of the multiples of pi/16, each pair times a number near 1 with which both are doubles to 64 bits and more.
#[rustfmt::skip]
const SINES: [f64; 16] = [
    0.0, 0.194_258_217_678_396_43, 0.383_464_018_637_914_13, 0.558_401_240_415_388, 0.715_382_183_833_812,
    0.836_987_549_508_719_8, 0.933_313_468_967_526_9, 0.970_803_216_201_519_5, 1.0, 0.994_316_304_009_518_9,
    0.926_787_507_571_045_7, 0.831_300_883_553_546_3, 0.717_680_908_557_628_6, 0.560_940_432_167_143_3,
    0.377_531_742_026_521_07, 0.196_572_789_405_140_7,
];
#[rustfmt::skip]
const COSINES: [f64; 16] = [
    1.0, 0.976_602_009_404_582, 0.925_764_034_477_741_6, 0.835_706_514_285_226_8, 0.715_382_183_833_812,
    0.559_257_200_786_148_2, 0.386_591_096_791_830_4, 0.193_104_765_994_430_22, 0.0, -0.197_781_809_954_725_14,
    -0.383_887_955_073_884_6, -0.555_457_492_073_918_3, -0.717_680_908_557_628_6, -0.839_506_683_293_416_5,
    -0.911_442_251_826_767_7, -0.988_238_147_253_801_3,
];
/// `(tan(r) - r) / r^3` as a polynomial in `r^2` for |r| <= pi/32, to 2^-58 of `tan(r)`.
const CURVE: [f64; 5] = [
    0.333_333_333_333_339_25,
    0.133_333_333_323_646_55,
    0.053_968_258_850_142_26,
    0.021_868_438_449_903_306,
    0.008_964_504_803_270_337,
];

/// The tangent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tan;

impl LookUp<f64> for Tan {
    #[inline(always)]
    fn of<V: Octave<f64>>(x: V) -> (V, bool) {
        (tan(x), x.are_within(V::splat(FAR)))
    }
}

#[inline(always)]
fn tan<V: Octave<f64>>(x: V) -> V {
    let splat = V::splat;
    let whole = splat(f64::WHOLE);
    let shifted = x.mul_add(splat(8.0 * std::f64::consts::FRAC_2_PI), whole);
    let n = shifted.sub(whole);
    let near = n.neg_mul_add(splat(QUARTER.0 / 8.0), x);
    // As `trig.rs` takes the other parts away.
    let middle = splat(QUARTER.1 / 8.0);
    let r = near.sub(n.mul(middle));
    let lost = n.neg_mul_add(middle, near.sub(r));
    let rest = n.neg_mul_add(splat(QUARTER.2 / 8.0), lost);
    let square = r.mul(r);
    let mut curve = splat(CURVE[4]);
    for c in CURVE[..4].iter().rev() {
        curve = curve.mul_add(square, splat(*c));
    }
    let tail = square.mul(r).mul_add(curve, rest);
    let (sin, cos) = (shifted.pick(&SINES), shifted.pick(&COSINES));
    // Each as a large part, and what it lost with what the tangent is beyond r.
    let top = cos.mul_add(r, sin);
    let above = cos.mul_add(tail, cos.mul_add(r, sin.sub(top)));
    let bottom = sin.neg_mul_add(r, cos);
    let below = sin.neg_mul_add(tail, sin.neg_mul_add(r, cos.sub(bottom)));
    let inverse = splat(1.0).div(bottom.add(below));
    let quotient = top.add(above).mul(inverse);
    let error = quotient.neg_mul_add(bottom, top);
    let error = quotient.neg_mul_add(below, error.add(above));
    // The sums lose the sign of zero.
    error.mul_add(inverse, quotient).zero_as(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn the_pairs_of_the_table_are_those_of_their_angles() {
        for (place, (sin, cos)) in SINES.iter().zip(COSINES).enumerate() {
            let angle = place as f64 * PI / 16.0;
            let error = sin.atan2(cos) - angle;
            assert!(error.abs() <= 4.5e-16, "{place}: {error}");
            assert!((sin.hypot(cos) - 1.0).abs() < 0.02, "{place}");
        }
    }
}
