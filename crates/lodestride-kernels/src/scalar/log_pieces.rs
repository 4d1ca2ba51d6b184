//! The natural logarithms of `x` and of `1 + x` of f32 by a table, with vectors that look up.
//!
//! As in `power_pieces.rs`, `x` is `2^k m` and `r`, near the inverse of the middle of `m`'s piece, of so few bits that `f = r m - 1` is
//! exact: `log(x) = k ln 2 - log(r) + log(1 + f)`. The first two are kept in two parts, of which the first is exact, and what its sum
//! with `f` loses is added to the small rest: within 0.53 ulp, without a division. Of `1 + x` what that sum lost over `2^k m` is part of
//! the rest: within 0.67 ulp.

use crate::octave::Octave;
use crate::scalar::BLOCK;
use crate::scalar::power_pieces::PowerPieces;

/// ln 2 in two parts, the first of so few bits that its multiples and their sums with the first of [`LOGARITHMS`] are exact.
const LN2: (f32, f32) = (0.693_145_75, 1.428_606_8e-6);
/// `-log(r)` of every piece in two parts, the first a multiple of 2^-16.
#[rustfmt::skip]
const LOGARITHMS: ([f32; 32], [f32; 32]) = ([
    -0.283_767_7, -0.271_926_88, -0.247_833_25, -0.223_144_53, -0.210_571_29, -0.184_921_26, -0.171_844_48,
    -0.145_187_38, -0.131_576_54, -0.117_782_59, -0.103_790_28, -0.075_225_83, -0.060_623_17, -0.045_806_885,
    -0.030_776_978, -0.015_502_93, 0.0, 0.031_753_54, 0.064_544_68, 0.089_859_01, 0.115_829_47, 0.151_550_3,
    0.169_906_62, 0.198_074_34, 0.227_050_78, 0.246_856_69, 0.267_059_33, 0.298_156_74, 0.319_427_5, 0.341_171_26,
    0.363_388_06, 0.386_123_66,
], [
    -4.729_353_4e-7, -6.835_600_7e-6, -2.911_951_5e-6, 9.799_357e-7, 6.519_955e-6, -1.073_845_6e-6, -5.774_504_6e-6,
    5.368_085e-6, 1.802_972_2e-7, -4.428_829_4e-7, -6.510_478_7e-6, 2.408_840_6e-6, -1.452_871_2e-6, -2.651_265_7e-6,
    5.318_872_4e-6, -1.256_848_5e-6, 0.0, -4.841_724_6e-6, -6.156_597e-6, -2.679_667_2e-6, 2.347_751_7e-6,
    -3.948_415_5e-7, -7.579_415_5e-6, -4.427_058_2e-6, 6.669_385e-6, 3.388_478_5e-6, 3.459_077e-6, -3.365_962_1e-6,
    3.280_532e-6, -5.072_456_6e-7, 5.832_664e-6, -1.511_961_5e-6,
]);
/// `(log(1 + f) - f) / f^2` for |f| <= 0.0198, to 2^-27.
const CURVE: [f32; 4] = [-0.5, 0.333_333_3, -0.250_065_36, 0.200_070_02];

/// The logarithms of a block, and whether there are numbers that this could not do.
#[inline(always)]
pub(crate) fn block<V: Octave<f32>>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> bool {
    let mut all = true;
    for at in (0..BLOCK).step_by(V::LANES) {
        let x = V::load(&x[at..]);
        all &= x.are_plain();
        log(x).store(&mut dst[at..]);
    }
    !all
}

/// [`block`] of numbers plus one.
#[inline(always)]
pub(crate) fn block_plus_one<V: Octave<f32>>(dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> bool {
    let mut all = true;
    for at in (0..BLOCK).step_by(V::LANES) {
        let x = V::load(&x[at..]);
        let sum = x.add(V::splat(1.0));
        all &= sum.are_plain();
        log1p(x, sum).store(&mut dst[at..]);
    }
    !all
}

/// The logarithms of plain numbers.
#[inline(always)]
fn log<V: Octave<f32>>(x: V) -> V {
    let (piece, m, k, _) = x.octave(V::splat(f32::FIRST));
    let f = m.mul_sub(piece.pick(f32::INVERSES), V::splat(1.0));
    assemble(piece, k, f, curve(f).mul(f), piece.pick(&LOGARITHMS.1))
}

/// The logarithms of `1 + x`, whose rounded `sum` is plain.
#[inline(always)]
fn log1p<V: Octave<f32>>(x: V, sum: V) -> V {
    let one = V::splat(1.0);
    // Exact where it is not too small to count.
    let lost = x.sub(sum.sub(one));
    let (piece, m, k, scale) = sum.octave(V::splat(f32::FIRST));
    let r = piece.pick(f32::INVERSES);
    let f = m.mul_sub(r, one);
    // lost / sum is near (1 - f) times this.
    let share = r.mul(scale);
    let bent = curve(f).mul_sub(f, lost.mul(share));
    let rest = lost.mul_add(share, piece.pick(&LOGARITHMS.1));
    assemble(piece, k, f, bent, rest).signed_as(x)
}

/// `(log(1 + f) - f) / f^2`.
#[inline(always)]
fn curve<V: Octave<f32>>(f: V) -> V {
    let splat = V::splat;
    (splat(CURVE[3]).mul_add(f, splat(CURVE[2])))
        .mul_add(f, splat(CURVE[1]))
        .mul_add(f, splat(CURVE[0]))
}

/// `k ln 2`, the first part of `-log(r)`, `f`, `bent f` and the `rest`.
#[inline(always)]
fn assemble<V: Octave<f32>>(piece: V, k: V, f: V, bent: V, rest: V) -> V {
    let splat = V::splat;
    let ln2 = (LN2.0 * f32::PER_OCTAVE, LN2.1 * f32::PER_OCTAVE);
    let large = k.mul_add(splat(ln2.0), piece.pick(&LOGARITHMS.0));
    let small = bent.mul_add(f, k.mul_add(splat(ln2.1), rest));
    let sum = large.add(f);
    let lost = f.sub(sum.sub(large));
    sum.add(small.add(lost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithms_are_those_of_the_inverses_and_begin_exactly() {
        let parts = LOGARITHMS.0.iter().zip(&LOGARITHMS.1);
        for (&r, (&large, &small)) in f32::INVERSES.iter().zip(parts) {
            let error = f64::from(large) + f64::from(small) + f64::from(r).ln();
            assert!(error.abs() < 1e-12, "{r}: {error}");
            assert_eq!((large * 65_536.0).fract(), 0.0, "{large}");
        }
        let error = f64::from(LN2.0) + f64::from(LN2.1) - std::f64::consts::LN_2;
        assert!(error.abs() < 1e-13, "{error}");
        assert_eq!((LN2.0 * 65_536.0).fract(), 0.0);
    }
}
