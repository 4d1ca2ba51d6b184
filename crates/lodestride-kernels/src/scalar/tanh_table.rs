//! The hyperbolic tangent of f64 by a table of powers of two, with vectors that look up.
//!
//! With `y = |x|` and `e = exp(-2 y)` the tangent is `-m / (1 + m)`, `m = (e - 1) / 2`. In `y = -n ln 2 / 32 + u` the whole `n`
//! leaves a multiple of the 16th root of two, of so few bits that `e - 1` begins without an error; its distance from the root
//! goes into `u`. What later roundings lose is kept, and the quotient put right with it: within 0.63 ulp.

use crate::octave::{LookUp, Octave};
use crate::scalar::float::Float;
use crate::scalar::hyperbolic::HyperbolicTable;

/// The 16th roots of 2 to 24 bits.
#[rustfmt::skip]
pub(crate) const ROOTS: [f64; 16] = [
    1.0, 1.044_273_793_697_357_2, 1.090_507_745_742_797_9, 1.138_788_640_499_115, 1.189_207_136_631_012,
    1.241_857_826_709_747_3, 1.296_839_535_236_358_6, 1.354_255_557_060_241_7, 1.414_213_538_169_860_8,
    1.476_826_131_343_841_6, 1.542_210_817_337_036_1, 1.610_490_322_113_037, 1.681_792_855_262_756_3,
    1.756_252_169_609_069_8, 1.834_008_097_648_620_6, 1.915_206_551_551_818_8,
];
/// Half of what the logarithms of [`ROOTS`] are too large by.
#[rustfmt::skip]
pub(crate) const EXCESS: [f64; 16] = [
    0.0, 5.396_067_327_479_034e-9, 5.996_078_579_827_831e-9, 2.521_285_841_283_072_7e-9, 9.093_576_058_635_139e-9,
    5.892_890_086_656_511e-9, -7.485_371_300_964_884e-9, 3.737_606_597_211_663e-9, -8.557_135_591_124_761e-9,
    -4.941_562_644_630_963_4e-9, -2.616_667_118_058_833_6e-9, -3.053_795_801_722_408e-9, 7.359_802_774_260_405e-9,
    2.629_397_567_505_047_7e-9, 3.064_129_921_462_762e-9, -2.570_304_600_549_109e-9,
];
/// ln 2 / 32 in two parts, the first of so few bits that its multiples are exact.
pub(crate) const STEP: (f64, f64) = (0.021_660_849_392_496_573, 1.718_100_943_346_366e-15);
/// `((exp(-2 u) - 1) / 2 + u) / u^2` for |u| <= 0.011, to 2^-59 of `exp(-2 u) - 1`.
const CURVE: [f64; 6] = [
    1.000_000_000_000_000_4,
    -0.666_666_666_666_666_9,
    0.333_333_333_297_684_9,
    -0.133_333_333_322_972_45,
    0.044_445_084_286_643_92,
    -0.012_698_569_877_713_183,
];
/// [`ROOTS`] for [`Octave::root_times_power`].
pub(crate) const TABLE: [f64; 16] = {
    let (mut table, mut place) = (ROOTS, 0);
    while place < table.len() {
        table[place] = f64::from_bits(ROOTS[place].to_bits() - ((place as u64) << 48));
        place += 1;
    }
    table
};

/// The hyperbolic tangent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tanh;

impl LookUp<f64> for Tanh {
    #[inline(always)]
    fn of<V: Octave<f64>>(x: V) -> (V, bool) {
        (tanh(x), true)
    }
}

#[inline(always)]
fn tanh<V: Octave<f64>>(x: V) -> V {
    let splat = V::splat;
    // NaN stays.
    let y = splat(f64::FLAT).smaller(x.size());
    let whole = splat(f64::WHOLE);
    let shifted = y.neg_mul_add(splat(1.0 / (STEP.0 + STEP.1)), whole);
    let n = shifted.sub(whole);
    let rest = n.mul_add(splat(STEP.1), shifted.pick(&EXCESS));
    let u = n.mul_add(splat(STEP.0), y).add(rest);
    let square = u.mul(u);
    let pair = |i: usize| splat(CURVE[i + 1]).mul_add(u, splat(CURVE[i]));
    let curve = pair(4)
        .mul_add(square, pair(2))
        .mul_add(square, pair(0))
        .mul(square);
    // m = (power - 1) / 2 + power (curve - u), in parts that are never rounded together.
    let power = shifted.root_times_power(&TABLE);
    let half = splat(0.5);
    let start = power.mul_add(half, splat(-0.5));
    let unfit = power.mul_add(half, splat(-0.5).sub(start));
    let most = power.neg_mul_add(u, start);
    let lost = power.neg_mul_add(u, start.sub(most)).add(unfit);
    let bent = power.mul_add(curve, lost);
    let inverse = splat(1.0).div(most.add(bent).add(splat(1.0)));
    let quotient = most.add(bent).mul(inverse);
    // m - quotient (1 + m) without the rounding of m: 1 - quotient is the inverse.
    let error = quotient.neg_mul_add(most, most.sub(quotient));
    let error = bent.mul_add(inverse, error);
    error.mul_add(inverse, quotient).signed_as(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So that a root times a power of two, less one, is exact while it matters.
    #[test]
    fn the_roots_have_24_bits_and_the_excess_their_rest() {
        for (place, (root, excess)) in ROOTS.iter().zip(EXCESS).enumerate() {
            assert_eq!((root * 2f64.powi(24)).fract(), 0.0, "{root}");
            let logarithm = (place as f64 / 16.0) * std::f64::consts::LN_2;
            let error = root.ln() - logarithm - 2.0 * excess;
            assert!(error.abs() < 2e-16, "{root}: {error}");
        }
    }
}
