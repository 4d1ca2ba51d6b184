//! Angles by a table, with vectors that look up.
//!
//! Near a tangent there is one of few bits, `c`: the angle of `n / d` is that of `c`, which the table has, and that of
//! `(n - c d) / (d + c n)`, a short polynomial. The tangents of the table are four (two of f64) to an octave, from 0 at the one end to
//! infinity, the ordinate itself, at the other. What the quotient loses is put right.

use crate::octave::{LookUp, LookUpPair, Octave, polynomial};
use crate::scalar::BLOCK;
use crate::scalar::float::Float;
use crate::scalar::inverse_trig::InverseTrigTable;
use crate::twice::Twice;
use crate::vector::Vector;

/// The tables of a float type.
pub(crate) trait AtanPieces: Float + InverseTrigTable {
    /// What is near the tangents of every piece, of few bits; 1 for infinity.
    const TANGENTS: &'static [Self];
    /// Their angles in two parts.
    const ANGLES: (&'static [Self], &'static [Self]);
    /// Where the last piece begins; the first has what is below [`START`], and more.
    const END: Self;
    /// Less the bits of a number, the bits of what is within a twentieth of its inverse.
    const INVERSE: Self;
    /// `(atan(r) - r) / r^3` as a polynomial in `r^2`, for |r| <= 0.079 (f32) and 0.113.
    const CURVE: &'static [Self];
}

/// In the first piece.
const START: f64 = 0.062_5;

#[rustfmt::skip]
impl AtanPieces for f32 {
    const TANGENTS: &'static [f32] = &[
        0.0, 0.085_937_5, 0.101_562_5, 0.117_187_5, 0.140_625, 0.171_875, 0.203_125, 0.234_375, 0.281_25, 0.343_75,
        0.406_25, 0.468_75, 0.562_5, 0.687_5, 0.812_5, 0.937_5, 1.125, 1.375, 1.625, 1.875, 2.25, 2.75, 3.25, 3.75,
        4.5, 5.5, 6.5, 7.5, 9.0, 11.0, 13.0, 1.0,
    ];
    const ANGLES: (&'static [f32], &'static [f32]) = (&[
        0.0, 0.085_726_87, 0.101_215_445, 0.116_655_44, 0.139_708_88, 0.170_211_93, 0.200_398_55, 0.230_219_59,
        0.274_167_45, 0.331_096_08, 0.385_882_68, 0.438_336_55, 0.512_389_5, 0.602_287_35, 0.682_316_54, 0.753_151_3,
        0.844_154, 0.942_000_03, 1.019_141_3, 1.080_839, 1.152_572, 1.222_025_3, 1.272_297_4, 1.310_193_9,
        1.352_127_4, 1.390_942_8, 1.418_147, 1.438_244_8, 1.460_139_2, 1.480_136_4, 1.494_024_4,
        std::f32::consts::FRAC_PI_2,
    ], &[
        0.0, 3.684_219_8e-9, -2.837_748e-9, -3.697_343e-9, -2.320_638_6e-9, -8.171_638_4e-10, 4.388_355_5e-9,
        -4.068_339_6e-10, 2.837_417e-9, -6.221_664_5e-9, -6.249_661_7e-9, 8.668_535e-9, -2.075_692e-8,
        -5.950_149_3e-9, 1.320_299_5e-8, -1.660_708e-8, -1.416_911_65e-8, 8.908_211e-9, 2.785_247e-8, -3.735_403_5e-8,
        -3.857_382_3e-8, 4.798_058e-8, 1.285_398_1e-8, 3.875_391_4e-8, -5.190_222_7e-8, 1.503_647_5e-8,
        3.051_175_3e-8, -2.514_289e-8, -4.976_688e-8, 4.509_342e-8, 3.958_243e-8, -4.371_139e-8,
    ]);
    const END: f32 = 14.0;
    const INVERSE: f32 = f32::from_bits(0x7ef3_11c7);
    /// To 2^-37.
    const CURVE: &'static [f32] = &[
        -0.333_333_34, 0.200_002_76, -0.142_400_37,
    ];
}

#[rustfmt::skip]
impl AtanPieces for f64 {
    const TANGENTS: &'static [f64] = &[
        0.0, 0.109_375, 0.156_25, 0.218_75, 0.312_5, 0.437_5, 0.625, 0.875, 1.25, 1.75, 2.5, 3.5, 5.0, 7.0, 10.0, 1.0,
    ];
    const ANGLES: (&'static [f64], &'static [f64]) = (&[
        0.0, 0.108_941_956_989_865_79, 0.154_996_741_923_940_97, 0.215_357_699_697_738_05, 0.302_884_868_374_971_4,
        0.412_410_441_597_387_3, 0.558_599_315_343_562_4, 0.718_829_999_621_624_5, 0.896_055_384_571_343_9,
        1.051_650_212_548_373_8, 1.190_289_949_682_531_7, 1.292_496_667_789_785_3, 1.373_400_766_945_016,
        1.428_899_272_190_732_8, 1.471_127_674_303_734_7, std::f64::consts::FRAC_PI_2,
    ], &[
        0.0, 6.826_712_207_240_958_5e-18, 9.585_415_594_114_324e-18, 4.738_160_130_078_733e-19,
        -1.101_082_790_300_136_9e-17, -1.587_652_227_770_689e-17, -5.455_630_548_591_626_4e-18,
        -2.147_838_844_445_698_3e-17, 2.923_876_285_774_305e-17, -9.650_564_731_467_514e-17,
        7.683_333_629_842_069e-17, -6.830_804_768_926_66e-17, -3.307_710_355_769_516_5e-17,
        -6.457_134_743_238_754e-17, -1.084_922_276_206_142_4e-16, 6.123_233_995_736_766e-17,
    ]);
    const END: f64 = 12.0;
    const INVERSE: f64 = f64::from_bits(0x7fde_6238_5024_84ba);
    /// To 2^-68.
    const CURVE: &'static [f64] = &[
        -0.333_333_333_333_333_3, 0.199_999_999_999_967_15, -0.142_857_142_837_284_85, 0.111_111_105_400_758_36,
        -0.090_908_211_816_901_85, 0.076_848_711_603_732_26, -0.063_403_244_270_823_72,
    ];
}

/// The angle of a tangent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atan;

impl<C: AtanPieces> LookUp<C> for Atan {
    #[inline(always)]
    fn of<V: Octave<C>>(x: V) -> (V, bool) {
        // Beyond the bound the angle is a right one; NaN stays.
        let size = V::splat(C::COORDINATES.1).smaller(x.size());
        let (large, small) = angle(size, V::splat(C::ONE), size);
        (large.add(small).signed_as(x), true)
    }
}

/// The angle of a point by its ordinate and abscissa, of which neither is extreme.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atan2;

impl<C: AtanPieces> LookUpPair<C> for Atan2 {
    #[inline(always)]
    fn block<V: Octave<C>>(dst: &mut [C; BLOCK], y: &[C; BLOCK], x: &[C; BLOCK]) -> bool {
        for at in (0..BLOCK).step_by(4 * V::LANES) {
            let load = Twice::<Twice<V>>::load;
            of_point(load(&y[at..]), load(&x[at..])).store(&mut dst[at..]);
        }
        false
    }
}

#[inline(always)]
fn of_point<C: AtanPieces, V: Octave<C>>(y: V, x: V) -> V {
    let (ordinate, abscissa) = (y.size(), x.size());
    // A step of Newton's, within a three-hundredth: a piece too far is near enough, and a division takes a fifth of the time.
    let rough = abscissa.bits_below(V::splat(C::INVERSE));
    let inverse = rough.mul(abscissa.neg_mul_add(rough, V::splat(C::of(2.0))));
    let (large, small) = angle(ordinate, abscissa, ordinate.mul(inverse));
    // Left of the ordinate, half a turn less it.
    let side = V::splat(C::ONE).signed_as(x);
    let (quarter, rest) = (V::splat(C::QUARTER.0), V::splat(C::QUARTER.1));
    let turn = side.neg_mul_add(quarter, quarter);
    let sum = side.mul_add(large, turn);
    let lost = side.mul_add(large, turn.sub(sum));
    let rest = side.neg_mul_add(rest, rest);
    sum.add(side.mul_add(small, rest.add(lost))).signed_as(y)
}

/// The angle of the point `(d, n)`, neither negative, in two parts; `tangent` is near their quotient.
#[inline(always)]
fn angle<C: AtanPieces, V: Octave<C>>(n: V, d: V, tangent: V) -> (V, V) {
    let splat = V::splat;
    let (start, end) = (splat(C::of(START)), splat(C::END));
    let piece = tangent.larger(start).smaller(end).coarse_piece(start);
    let c = piece.pick(C::TANGENTS);
    // The last tangent is 1 over 0.
    let divisor = tangent.if_within(end, splat(C::ONE), splat(C::ZERO));
    let top = c.neg_mul_add(d, n.mul(divisor));
    let bottom = c.mul_add(n, d.mul(divisor));
    let inverse = splat(C::ONE).div(bottom);
    let r = top.mul(inverse);
    let rest = r.neg_mul_add(bottom, top).mul(inverse);
    let z = r.mul(r);
    let tail = r.mul(z).mul_add(polynomial(z, C::CURVE), rest);
    let known = piece.pick(C::ANGLES.0);
    let sum = known.add(r);
    let lost = r.sub(sum.sub(known));
    (sum, tail.add(lost.add(piece.pick(C::ANGLES.1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<C: AtanPieces + Into<f64>>(per_octave: usize, within: f64) {
        for (piece, &tangent) in C::TANGENTS.iter().enumerate() {
            let (large, small) = (C::ANGLES.0[piece].into(), C::ANGLES.1[piece].into());
            let tangent: f64 = tangent.into();
            let last = piece + 1 == C::TANGENTS.len();
            let angle = if last { f64::INFINITY } else { tangent }.atan();
            assert!((large - angle + small).abs() < within, "{tangent}");
            if piece > 0 && !last {
                let (octave, place) = (piece / per_octave, piece % per_octave);
                let middle = 1.0 + (place as f64 + 0.5) / per_octave as f64;
                assert_eq!(tangent, START * 2f64.powi(octave as i32) * middle);
            }
        }
    }

    #[test]
    fn the_tangents_are_in_the_middle_of_their_pieces_and_the_angles_are_theirs() {
        check::<f32>(4, 1e-14);
        check::<f64>(2, 3e-16);
    }
}
