//! Logarithms of `x`, of `1 + x` and of sums by a table, with vectors that look up.
//!
//! As in `power_pieces.rs`, `x` is `2^k m` and `r`, near the inverse of the middle of `m`'s piece, of so few bits that `f = r m - 1` is
//! exact: `log(x) = k ln 2 - log(r) + log(1 + f)`. The first two are kept in two parts, of which the first is exact, and what its sum
//! with `f` loses is added to the small rest: of f32 within 0.53 ulp, without a division. What a sum lost over `2^k m` is part of
//! the rest: of f32 within 0.67 ulp.

use crate::octave::{LookUp, Octave, polynomial};
use crate::scalar::power_pieces::PowerPieces;

/// The tables of a float type.
pub(crate) trait LogPieces: PowerPieces {
    /// ln 2 in two parts, the first of so few bits that its multiples and their sums with the first of [`Self::LOGS`] are exact.
    const OCTAVE: (Self, Self);
    /// `-log(r)` of every piece in two parts, the first of few bits.
    const LOGS: (&'static [Self], &'static [Self]);
    /// `(log(1 + f) - f) / f^2`.
    const BEND: &'static [Self];
}

#[rustfmt::skip]
impl LogPieces for f32 {
    const OCTAVE: (f32, f32) = (0.693_145_75, 1.428_606_8e-6);
    /// The first are multiples of 2^-16.
    const LOGS: (&'static [f32], &'static [f32]) = (&[
        -0.283_767_7, -0.271_926_88, -0.247_833_25, -0.223_144_53, -0.210_571_29, -0.184_921_26, -0.171_844_48,
        -0.145_187_38, -0.131_576_54, -0.117_782_59, -0.103_790_28, -0.075_225_83, -0.060_623_17, -0.045_806_885,
        -0.030_776_978, -0.015_502_93, 0.0, 0.031_753_54, 0.064_544_68, 0.089_859_01, 0.115_829_47, 0.151_550_3,
        0.169_906_62, 0.198_074_34, 0.227_050_78, 0.246_856_69, 0.267_059_33, 0.298_156_74, 0.319_427_5, 0.341_171_26,
        0.363_388_06, 0.386_123_66,
    ], &[
        -4.729_353_4e-7, -6.835_600_7e-6, -2.911_951_5e-6, 9.799_357e-7, 6.519_955e-6, -1.073_845_6e-6, -5.774_504_6e-6,
        5.368_085e-6, 1.802_972_2e-7, -4.428_829_4e-7, -6.510_478_7e-6, 2.408_840_6e-6, -1.452_871_2e-6, -2.651_265_7e-6,
        5.318_872_4e-6, -1.256_848_5e-6, 0.0, -4.841_724_6e-6, -6.156_597e-6, -2.679_667_2e-6, 2.347_751_7e-6,
        -3.948_415_5e-7, -7.579_415_5e-6, -4.427_058_2e-6, 6.669_385e-6, 3.388_478_5e-6, 3.459_077e-6, -3.365_962_1e-6,
        3.280_532e-6, -5.072_456_6e-7, 5.832_664e-6, -1.511_961_5e-6,
    ]);
    /// For |f| <= 0.0198, to 2^-27.
    const BEND: &'static [f32] = &[-0.5, 0.333_333_3, -0.250_065_36, 0.200_070_02];
}

#[rustfmt::skip]
impl LogPieces for f64 {
    const OCTAVE: (f64, f64) = (0.693_147_180_559_890_3, 5.497_923_018_708_371e-14);
    /// The first are multiples of 2^-42.
    const LOGS: (&'static [f64], &'static [f64]) = (&[
        -0.295_464_212_893_875_8, -0.247_836_163_904_594_3, -0.197_825_743_329_985_93, -0.171_850_256_926_745_71,
        -0.145_182_009_844_575_08, -0.089_612_158_689_760_69, -0.060_624_621_816_486_98, -0.030_771_658_666_708_39, 0.0,
        0.064_538_521_137_592_4, 0.115_831_815_525_098_14, 0.169_899_036_795_413_85, 0.227_057_450_635_356_87,
        0.267_062_785_248_981_5, 0.330_241_686_870_522_24, 0.374_693_449_441_338_1,
    ], &[
        3.993_416_384_387_844e-14, 1.302_979_717_330_866_3e-14, 6.604_544_877_082_384e-14, 8.649_239_607_212_071e-14,
        7.718_001_336_828_099e-14, 7.355_770_219_435_029e-14, 5.213_620_639_136_504e-14, -4.529_814_257_790_929e-14, 0.0,
        -2.122_560_804_480_999_7e-14, 2.356_882_218_203_875_6e-14, -1.637_627_641_409_750_3e-14,
        -1.078_736_749_871_691e-14, 6.371_947_269_815_667e-14, 5.461_214_448_992_021_5e-14, 7.260_466_149_925_637e-14,
    ]);
    /// For |f| <= 0.0342, to 2^-61 of the logarithm.
    const BEND: &'static [f64] = &[
        -0.5, 0.333_333_333_333_321_44, -0.249_999_999_999_982_54, 0.200_000_000_098_845_86, -0.166_666_666_787_907_7,
        0.142_856_887_667_097_92, -0.124_999_723_747_450_84, 0.111_370_672_630_329_96, -0.100_255_943_194_980_5,
    ];
}

/// The natural logarithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log;

impl<C: LogPieces> LookUp<C> for Log {
    #[inline(always)]
    fn of<V: Octave<C>>(x: V) -> (V, bool) {
        let (piece, m, k, _) = x.octave(V::splat(C::FIRST));
        let f = m.mul_sub(piece.pick(C::INVERSES), V::splat(C::ONE));
        let rest = piece.pick(C::LOGS.1);
        (
            assemble(piece, k, f, polynomial(f, C::BEND).mul(f), rest),
            x.are_plain(),
        )
    }
}

/// What a logarithm of f32 to another base is made of.
struct Base {
    /// The logarithm of 2 in two parts, the first of so few bits that its multiples and their sums with the first of `logs` are
    /// exact.
    octave: (f32, f32),
    /// `-log(r)` of every piece in two parts, the first of few bits.
    logs: (&'static [f32], &'static [f32]),
    /// `log(1 + f) / f` at 0 in two parts.
    slope: (f32, f32),
    /// The coefficients that follow.
    curve: &'static [f32],
}

const TWO: Base = Base {
    octave: (1.0, 0.0),
    logs: f32::LOGARITHMS,
    slope: f32::SLOPES[0],
    curve: f32::CURVE,
};

#[rustfmt::skip]
const TEN: Base = Base {
    octave: (0.301_025_4, 4.605_039e-6),
    // The first are multiples of 2^-16.
    logs: (&[
        -0.123_245_24, -0.118_103_03, -0.107_635_5, -0.096_908_57, -0.091_445_92, -0.080_307_01,
        -0.074_630_74, -0.063_049_32, -0.057_144_165, -0.051_147_46, -0.045_074_463, -0.032_669_067,
        -0.026_321_411, -0.019_897_461, -0.013_366_699, -0.006_729_126, 0.0, 0.013_793_945, 0.028_030_396,
        0.039_016_724, 0.050_308_228, 0.065_811_16, 0.073_791_504, 0.086_013_794, 0.098_602_295, 0.107_208_25,
        0.115_982_056, 0.129_486_08, 0.138_732_91, 0.148_162_84, 0.157_821_66, 0.167_694_09,
    ], &[
        6.287_527_4e-6, 3.715_265_8e-6, 1.619_647e-6, -1.443_672_1e-6, -1.194_455e-6, -3.744_352_6e-6,
        -2.880_992_3e-6, -2.429_340_8e-6, 1.278_902_5e-6, -5.061_51e-6, -3.911_844_5e-6, -4.937_055_6e-8,
        -7.527_589_3e-6, 2.632_220_5e-6, 2.737_660_7e-6, -4.256_682_6e-6, 0.0, -5.660_827e-6, -1.671_907_6e-6,
        7.384_269e-6, -3.109_227_7e-6, 6.127_263e-6, -5.289_745_3e-6, 6.876_632_6e-6, 7.502_964e-6,
        1.717_694_8e-6, 1.838_291_3e-6, 2.803_746_5e-7, -5.889_062_3e-6, 5.735_53e-6, -1.692_270_5e-6,
        -3.374_767_6e-6,
    ]),
    slope: (std::f32::consts::LOG10_E, -1.010_305e-8),
    // The natural one's.
    curve: &[-0.217_147_25, 0.144_764_83, -0.108_602, 0.086_889_304],
};

/// The logarithm to a base.
#[inline(always)]
fn in_base<V: Octave<f32>>(x: V, base: &Base) -> (V, bool) {
    let splat = V::splat;
    let (piece, m, k, _) = x.octave(splat(f32::FIRST));
    let f = m.mul_sub(piece.pick(f32::INVERSES), splat(1.0));
    let log = f.mul(splat(base.slope.0));
    let lost = f.mul_sub(splat(base.slope.0), log);
    let bent = polynomial(f, base.curve).mul_add(f, splat(base.slope.1));
    let mut rest = piece.pick(base.logs.1).add(lost);
    if base.octave.1 != 0.0 {
        rest = k.mul_add(splat(base.octave.1 * f32::PER_OCTAVE), rest);
    }
    let octaves = splat(base.octave.0 * f32::PER_OCTAVE);
    let large = k.mul_add(octaves, piece.pick(base.logs.0));
    (joined(large, log, bent.mul_add(f, rest)), x.are_plain())
}

/// The logarithm to base 2 of f32.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log2;

impl LookUp<f32> for Log2 {
    #[inline(always)]
    fn of<V: Octave<f32>>(x: V) -> (V, bool) {
        in_base(x, &TWO)
    }
}

/// The logarithm to base 10 of f32.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log10;

impl LookUp<f32> for Log10 {
    #[inline(always)]
    fn of<V: Octave<f32>>(x: V) -> (V, bool) {
        in_base(x, &TEN)
    }
}

/// The natural logarithm of a number plus one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log1p;

impl<C: LogPieces> LookUp<C> for Log1p {
    #[inline(always)]
    fn of<V: Octave<C>>(x: V) -> (V, bool) {
        let one = V::splat(C::ONE);
        let sum = x.add(one);
        // Exact where it is not too small to count.
        let lost = x.sub(sum.sub(one));
        (log_of_sum(sum, lost).signed_as(x), sum.are_plain())
    }
}

/// The logarithms of a plain `sum` and what its rounding lost.
#[inline(always)]
pub(crate) fn log_of_sum<C: LogPieces, V: Octave<C>>(sum: V, lost: V) -> V {
    let (piece, m, k, scale) = sum.octave(V::splat(C::FIRST));
    let r = piece.pick(C::INVERSES);
    let f = m.mul_sub(r, V::splat(C::ONE));
    // lost / sum is near (1 - f) times this.
    let share = r.mul(scale);
    let bent = polynomial(f, C::BEND).mul_sub(f, lost.mul(share));
    let rest = lost.mul_add(share, piece.pick(C::LOGS.1));
    assemble(piece, k, f, bent, rest)
}

/// `k ln 2`, the first part of `-log(r)`, `f`, `bent f` and the `rest`.
#[inline(always)]
fn assemble<C: LogPieces, V: Octave<C>>(piece: V, k: V, f: V, bent: V, rest: V) -> V {
    let splat = V::splat;
    let large = k.mul_add(splat(C::OCTAVE.0 * C::PER_OCTAVE), piece.pick(C::LOGS.0));
    let rest = k.mul_add(splat(C::OCTAVE.1 * C::PER_OCTAVE), rest);
    joined(large, f, bent.mul_add(f, rest))
}

/// The sum of something large, with few bits, and two small things.
#[inline(always)]
fn joined<C: LogPieces, V: Octave<C>>(large: V, small: V, smaller: V) -> V {
    let sum = large.add(small);
    let lost = small.sub(sum.sub(large));
    sum.add(smaller.add(lost))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of a base, whose logarithms are natural ones times a `unit`.
    fn check<C: LogPieces + Into<f64>>(
        logs: (&[C], &[C]),
        octave: (C, C),
        unit: f64,
        grid: f64,
        within: f64,
    ) {
        let parts = logs.0.iter().zip(logs.1);
        for (&r, (&large, &small)) in C::INVERSES.iter().zip(parts) {
            let (r, large, small): (f64, f64, f64) = (r.into(), large.into(), small.into());
            let error = large + (small + r.ln() * unit);
            assert!(error.abs() < within, "{r}: {error}");
            assert_eq!((large * grid).fract(), 0.0, "{large}");
        }
        let (large, small): (f64, f64) = (octave.0.into(), octave.1.into());
        let error = large - std::f64::consts::LN_2 * unit + small;
        assert!(error.abs() < within, "{error}");
        assert_eq!((large * grid).fract(), 0.0);
    }

    #[test]
    fn the_logarithms_are_those_of_the_inverses_and_begin_exactly() {
        check(f32::LOGS, f32::OCTAVE, 1.0, 65_536.0, 1e-12);
        check(f64::LOGS, f64::OCTAVE, 1.0, 2f64.powi(42), 1e-16);
        let unit = std::f64::consts::LOG10_E;
        check(TEN.logs, TEN.octave, unit, 65_536.0, 1e-12);
    }
}
