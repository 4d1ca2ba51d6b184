//! `exp(x) - 1` of f32 by a table of powers of two, with vectors that look up.
//!
//! `x` is `n ln 2 / 32 + u` with a whole `n`, which leaves a multiple of the 32nd root of two; of that the table has 16 bits, so that it
//! less 1 is exact while the 1 counts, and how far it is from the root goes into `u`. `exp(u) - 1` is a short polynomial: within 1.02
//! ulp, of which half is the last sum.

use crate::octave::{LookUp, Octave};
use crate::scalar::exp::ExpTable;
use crate::scalar::float::Float;

/// The 32nd roots of 2 to 16 bits.
#[rustfmt::skip]
pub(crate) const ROOTS: [f32; 32] = [
    1.0, 1.021_911_6, 1.044_281, 1.067_138_7, 1.090_515_1, 1.114_379_9, 1.138_794, 1.163_726_8, 1.189_209,
    1.215_240_5, 1.241_851_8, 1.269_043, 1.296_844_5, 1.325_225_8, 1.354_248, 1.383_911_1, 1.414_215_1, 1.445_190_4,
    1.476_837_2, 1.509_155_3, 1.542_205_8, 1.575_988_8, 1.610_504_2, 1.645_752, 1.681_793_2, 1.718_627_9, 1.756_256_1,
    1.794_708_3, 1.834_014_9, 1.874_176, 1.915_191_7, 1.957_153_3,
];
/// What the logarithms of [`ROOTS`] lack.
#[rustfmt::skip]
pub(crate) const LACK: [f32; 32] = [
    0.0, -1.416_222_5e-5, -6.917_158_3e-6, 1.620_033_6e-6, -6.789_524e-6, 6.155_676_6e-6, -4.663_326_8e-6,
    -1.673_816_1e-6, -1.571_947_2e-6, 5.662_620_4e-6, 4.835_857_5e-6, 6.294_835e-6, -3.799_823_6e-6, 8.159_393e-6,
    5.538_159_3e-6, -9.038_508_3e-7, -1.078_703_2e-6, -6.658_46e-6, -7.456_682e-6, 6.065_73e-6, 3.251_740_3e-6,
    -5.028_236e-6, -8.580_233e-6, 2.141_893_4e-6, -2.273_663_9e-7, -5.022_370_7e-6, -2.245_200_2e-6, 4.585_981e-7,
    -3.711_082_9e-6, -4.477_327e-6, 7.785_617e-6, -4.698_742e-6,
];
/// ln 2 / 32 in two parts, the first of so few bits that its multiples are exact.
pub(crate) const STEP: (f32, f32) = (0.021_659_851, 9.983_182e-7);
/// `(exp(u) - 1 - u) / u^2` for |u| <= 0.011, to 2^-35 of `exp(u) - 1`.
const CURVE: [f32; 3] = [0.5, 0.166_667_5, 0.041_666_906];
/// [`ROOTS`] for [`Octave::root_times_power`].
pub(crate) const TABLE: [f32; 32] = {
    let (mut table, mut place) = (ROOTS, 0);
    while place < table.len() {
        table[place] = f32::from_bits(ROOTS[place].to_bits() - ((place as u32) << 18));
        place += 1;
    }
    table
};

/// `exp(x) - 1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expm1;

impl LookUp<f32> for Expm1 {
    #[inline(always)]
    fn of<V: Octave<f32>>(x: V) -> (V, bool) {
        (expm1(x), x.are_within(V::splat(0.5 * f32::NEAR)))
    }
}

#[inline(always)]
fn expm1<V: Octave<f32>>(x: V) -> V {
    let splat = V::splat;
    let whole = splat(f32::WHOLE);
    let shifted = x.mul_add(splat(1.0 / (STEP.0 + STEP.1)), whole);
    let n = shifted.sub(whole);
    let most = n.neg_mul_add(splat(STEP.0), x);
    let rest = n.neg_mul_add(splat(STEP.1), shifted.pick(&LACK));
    let u = most.add(rest);
    let curve = (splat(CURVE[2]).mul_add(u, splat(CURVE[1]))).mul_add(u, splat(CURVE[0]));
    // In this order `most`, the large part of u, is not rounded before the last but one sum.
    let p = most.add(curve.mul_add(u.mul(u), rest));
    let power = shifted.root_times_power(&TABLE);
    // The sum would lose the sign of zero.
    power.mul_add(p, power.sub(splat(1.0))).signed_as(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roots_have_16_bits_and_the_lack_their_rest() {
        for (place, (&root, &lack)) in ROOTS.iter().zip(&LACK).enumerate() {
            assert_eq!((root * 32_768.0).fract(), 0.0, "{root}");
            let logarithm = (place as f64 / 32.0) * std::f64::consts::LN_2;
            let error = logarithm - f64::from(root).ln() - f64::from(lack);
            assert!(error.abs() < 1e-12, "{root}: {error}");
        }
        let error = f64::from(STEP.0) + f64::from(STEP.1) - std::f64::consts::LN_2 / 32.0;
        assert!(error.abs() < 1e-13, "{error}");
        assert_eq!((STEP.0 * 131_072.0).fract(), 0.0);
    }
}
