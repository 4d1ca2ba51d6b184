//! Powers in pieces: the logarithm by a table.
//!
//! `x` is `2^k m`, and the octave of `m` has as many pieces as two vectors have lanes. With `r` near the inverse of a piece's
//! middle, of so few bits that `f = r m - 1` is exact, `log2(x) = k - log2(r) + log2(1 + f)`. What loses bits is kept in two parts
//! (as in `power.rs`), which here needs no division: within 2^-31 of the logarithm for f32, 2^-64 for f64.
#![allow(
    clippy::needless_range_loop,
    reason = "a closure would be compiled without the vector instructions of its caller; what is not inlined at once calls \
              them one by one"
)]

use crate::octave::{LookUpPair, Octave};
use crate::scalar::BLOCK;
use crate::scalar::float::Real;

/// Vectors in flight.
const FLIGHT: usize = 4;

/// The tables of a float type.
pub(crate) trait PowerPieces: Real {
    /// The first `m`: the piece of 1 reaches as far below 1 as above it, counted in floats.
    const FIRST: Self;
    /// `r` of every piece.
    const INVERSES: &'static [Self];
    /// `-log2(r)` in two parts, the first of so few bits that adding `k` is exact.
    const LOGARITHMS: (&'static [Self], &'static [Self]);
    /// The first coefficients of `log2(1 + f) / f` in two parts: their terms lose what the result would show.
    const SLOPES: &'static [(Self, Self)];
    /// The coefficients that follow.
    const CURVE: &'static [Self];
    /// Powers of two up to here are neither denormal nor infinite.
    const REACH: Self;
    /// One over 2 to the number of mantissa bits.
    const PER_OCTAVE: Self;
}

#[rustfmt::skip]
impl PowerPieces for f32 {
    const FIRST: f32 = f32::from_bits(0x3f3e_0000);
    const INVERSES: &'static [f32] = &[
        1.328_125, 1.312_5, 1.281_25, 1.25, 1.234_375, 1.203_125, 1.187_5, 1.156_25, 1.140_625, 1.125, 1.109_375,
        1.078_125, 1.062_5, 1.046_875, 1.031_25, 1.015_625, 1.0, 0.968_75, 0.937_5, 0.914_062_5, 0.890_625, 0.859_375,
        0.843_75, 0.820_312_5, 0.796_875, 0.781_25, 0.765_625, 0.742_187_5, 0.726_562_5, 0.710_937_5, 0.695_312_5,
        0.679_687_5,
    ];
    const LOGARITHMS: (&'static [f32], &'static [f32]) = (&[
        -0.409_393_3, -0.392_318_73, -0.357_559_2, -0.321_929_93, -0.303_787_23, -0.266_784_67, -0.247_924_8,
        -0.209_457_4, -0.189_819_34, -0.169_921_88, -0.149_749_76, -0.108_520_51, -0.087_463_38, -0.066_085_815,
        -0.044_387_817, -0.022_369_385, 0.0, 0.045_806_885, 0.093_109_13, 0.129_638_67, 0.167_114_26, 0.218_643_19,
        0.245_117_19, 0.285_751_34, 0.327_575_68, 0.356_140_14, 0.385_284_42, 0.430_145_26, 0.460_845_95,
        0.492_202_76, 0.524_261_5, 0.557_052_6,
    ], &[
        2.374_409_2e-6, 1.302_807_2e-6, 7.199_483_7e-6, 1.836_753_3e-6, 6.483_268_4e-6, -1.872_726_1e-6,
        -2.708_756e-6, 4.031_832e-6, -5.222_942_5e-6, -3.126_442_4e-6, 2.636_354_8e-6, -3.948_965_5e-6, 5.376_559e-7,
        -3.375_028e-6, -6.301_975_6e-6, 1.571_737_1e-6, 0.0, -3.195_152_4e-6, 2.735_321e-7, -3.391_458_4e-6,
        -4.271_977e-6, -2.902_001_1e-6, -4.689_663_5e-6, 3.139_560_5e-6, -1.025_565_2e-6, 3.673_506_6e-6,
        5.732_056_7e-6, -8.720_028_3e-7, -4.758_373_5e-6, 2.601_012_3e-6, 5.094_424e-6, 3.891_846_5e-6,
    ]);
    const SLOPES: &'static [(f32, f32)] = &[(std::f32::consts::LOG2_E, 1.925_963e-8)];
    /// For |f| <= 0.0198, to 2^-34 of the logarithm.
    const CURVE: &'static [f32] = &[-0.721_347_5, 0.480_898_32, -0.360_785_57, 0.288_688_45];
    const REACH: f32 = 126.0;
    const PER_OCTAVE: f32 = 1.0 / 8_388_608.0;
}

#[rustfmt::skip]
impl PowerPieces for f64 {
    const FIRST: f64 = f64::from_bits(0x3fe7_8000_0000_0000);
    const INVERSES: &'static [f64] = &[
        1.343_75, 1.281_25, 1.218_75, 1.187_5, 1.156_25, 1.093_75, 1.062_5, 1.031_25, 1.0, 0.937_5, 0.890_625,
        0.843_75, 0.796_875, 0.765_625, 0.718_75, 0.687_5,
    ];
    const LOGARITHMS: (&'static [f64], &'static [f64]) = (&[
        -0.426_264_754_702_060_6, -0.357_552_004_617_900_8, -0.285_402_218_862_145_7, -0.247_927_513_443_755_74,
        -0.209_453_365_629_087_78, -0.129_283_016_945_009_88, -0.087_462_841_250_271_6, -0.044_394_119_358_003_08,
        0.0, 0.093_109_404_391_725_55, 0.167_109_985_834_940_74, 0.245_112_497_836_089_46, 0.327_574_658_028_424_9,
        0.385_290_155_884_831_6, 0.476_438_043_942_835_07, 0.540_568_381_362_390_9,
    ], &[
        -3.733_907_276_649_932e-14, -1.828_727_169_766_71e-13, -1.026_683_669_414_45e-13, 1.702_488_346_079_135_8e-13,
        1.380_024_697_624_460_8e-13, 4.342_119_597_698_699_5e-14, -6.781_363_655_020_842e-14,
        -4.503_563_649_132_947_7e-13, 0.0, -2.440_769_357_717_828_7e-13, 3.175_806_544_657_332_7e-13,
        4.419_954_595_734_589_6e-13, 7.951_818_330_761_124e-14, -3.983_479_855_974_919e-14, 1.520_621_696_507_556e-13,
        3.118_065_170_018_138_3e-13,
    ]);
    const SLOPES: &'static [(f64, f64)] = &[
        (std::f64::consts::LOG2_E, 2.035_527_374_093_103_3e-17),
        (-0.721_347_520_444_481_7, -1.017_763_687_046_551_7e-17),
    ];
    /// For |f| <= 0.0342, to 2^-66 of the logarithm.
    const CURVE: &'static [f64] = &[
        0.480_898_346_962_987_83, -0.360_673_760_222_217_3, 0.288_539_008_177_549_7, -0.240_449_173_647_044_6,
        0.206_099_292_236_896_82, -0.180_336_495_922_775_76, 0.160_298_584_270_042_7, -0.144_632_225_350_131_5,
        0.131_661_123_272_006_33,
    ];
    const REACH: f64 = 1022.0;
    const PER_OCTAVE: f64 = 1.0 / 4_503_599_627_370_496.0;
}

/// `x^y`; where this could not do a pair the result is 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pow;

impl<C: PowerPieces> LookUpPair<C> for Pow {
    #[inline(always)]
    fn block<V: Octave<C>>(dst: &mut [C; BLOCK], x: &[C; BLOCK], y: &[C; BLOCK]) -> bool {
        let mut all = true;
        for at in (0..BLOCK).step_by(FLIGHT * V::LANES) {
            let (mut base, mut exponent) =
                ([V::splat(C::ZERO); FLIGHT], [V::splat(C::ZERO); FLIGHT]);
            for i in 0..FLIGHT {
                base[i] = V::load(&x[at + i * V::LANES..]);
                exponent[i] = V::load(&y[at + i * V::LANES..]);
            }
            let (results, done) = powers(base, exponent);
            for i in 0..FLIGHT {
                results[i].store(&mut dst[at + i * V::LANES..]);
            }
            all &= done;
        }
        !all
    }
}

/// The powers of vectors, 0 where a base is not plain or a power beyond the reach, and whether there are no such.
#[inline(always)]
fn powers<C: PowerPieces, V: Octave<C>, const L: usize>(x: [V; L], y: [V; L]) -> ([V; L], bool) {
    let (large, small) = logarithms(x);
    let whole = V::splat(C::WHOLE);
    let (mut power, mut shifted, mut f) = (x, x, x);
    for i in 0..L {
        power[i] = y[i].mul(large[i]);
        let lost = y[i].mul_sub(large[i], power[i]);
        let low = y[i].mul_add(small[i], lost);
        shifted[i] = power[i].add(whole);
        f[i] = power[i].sub(shifted[i].sub(whole)).add(low);
    }
    let mut sums = polynomials(f, C::EXP2);
    let mut all = true;
    for i in 0..L {
        let sum = sums[i].mul_add(f[i], V::splat(C::ONE));
        let done;
        (sums[i], done) = sum.scaled_within(shifted[i], x[i], power[i], V::splat(C::REACH));
        all &= done;
    }
    (sums, all)
}

/// The logarithms of plain numbers to base 2 in two parts.
#[inline(always)]
fn logarithms<C: PowerPieces, V: Octave<C>, const L: usize>(x: [V; L]) -> ([V; L], [V; L]) {
    let (mut piece, mut f, mut k) = (x, x, x);
    for i in 0..L {
        let m;
        (piece[i], m, k[i], _) = x[i].octave(V::splat(C::FIRST));
        f[i] = m.mul_sub(piece[i].pick(C::INVERSES), V::splat(C::ONE));
        let known = piece[i].pick(C::LOGARITHMS.0);
        k[i] = k[i].mul_add(V::splat(C::PER_OCTAVE), known);
    }
    let mut slope = polynomials(f, C::CURVE);
    let mut lost = [V::splat(C::ZERO); L];
    for (term, &(large, small)) in C::SLOPES.iter().rev().enumerate() {
        let (large, small) = (V::splat(large), V::splat(small));
        for i in 0..L {
            let sum = slope[i].mul_add(f[i], large);
            let rest = slope[i].mul_add(f[i], large.sub(sum));
            // Nothing was lost before the first of them.
            let low = if term == 0 {
                small
            } else {
                lost[i].mul_add(f[i], small)
            };
            (slope[i], lost[i]) = (sum, rest.add(low));
        }
    }
    let (mut large, mut small) = (x, x);
    for i in 0..L {
        let log = f[i].mul(slope[i]);
        let rest = f[i].mul_add(lost[i], f[i].mul_sub(slope[i], log));
        large[i] = k[i].add(log);
        let lost = k[i].sub(large[i]).add(log);
        small[i] = lost.add(rest.add(piece[i].pick(C::LOGARITHMS.1)));
    }
    (large, small)
}

/// `c[0] + c[1] x + c[2] x^2 + ..` of vectors.
#[inline(always)]
fn polynomials<C: PowerPieces, V: Octave<C>, const L: usize>(x: [V; L], c: &[C]) -> [V; L] {
    let mut sums = [V::splat(C::ZERO); L];
    let Some((&last, c)) = c.split_last() else {
        return sums;
    };
    sums = [V::splat(last); L];
    for &coefficient in c.iter().rev() {
        for i in 0..L {
            sums[i] = sums[i].mul_add(x[i], V::splat(coefficient));
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In every piece `f` is small and, as `is_exact` says of `r` and `m`, exact; the logarithm is that of `r`.
    fn check<C: PowerPieces + Into<f64>>(
        m: impl Fn(u64) -> f64,
        (width, rounding): (u64, f64),
        is_exact: fn(f64, f64) -> bool,
    ) {
        let logarithms = C::LOGARITHMS.0.iter().zip(C::LOGARITHMS.1);
        for (piece, (&r, (&large, &small))) in C::INVERSES.iter().zip(logarithms).enumerate() {
            let (r, large, small): (f64, f64, f64) = (r.into(), large.into(), small.into());
            let first = piece as u64 * width;
            for at in (0..4096)
                .map(|i| first + width / 4096 * i)
                .chain([first + width - 1])
            {
                let m = m(at);
                assert!(
                    (r * m - 1.0).abs() < 0.0342 && is_exact(r, m),
                    "{m} in {piece}"
                );
            }
            assert!((large + small + r.log2()).abs() <= rounding, "{r}");
            assert_eq!((large * 2f64.powi(40)).fract(), 0.0, "{large}");
        }
        let one = C::INVERSES.len() / 2;
        assert!((C::INVERSES[one], C::LOGARITHMS.0[one]) == (C::ONE, C::ZERO));
    }

    #[test]
    fn the_distance_from_a_piece_is_exact_and_small() {
        check::<f32>(
            |at| f64::from(f32::from_bits(f32::FIRST.to_bits() + at as u32)),
            (1 << 18, 2f64.powi(-41)),
            |r, m| f64::from((r * m - 1.0) as f32) == r * m - 1.0,
        );
        check::<f64>(
            |at| f64::from_bits(f64::FIRST.to_bits() + at),
            (1 << 48, f64::EPSILON / 2.0),
            // What the fused product loses, once more fused.
            |r, m| {
                let f = r.mul_add(m, -1.0);
                let whole = r * m;
                r.mul_add(m, -whole) == f - (whole - 1.0)
            },
        );
    }
}
