//! Powers of f32 in pieces: the logarithm by a table.
//!
//! `x` is `2^k m`, and the octave of `m` has 32 pieces. With `r` near the inverse of a piece's middle, of so few bits that
//! `f = r m - 1` is exact, `log2(x) = k - log2(r) + log2(1 + f)`. What loses bits is kept in two parts (as in `power.rs`), which
//! here needs no division: within 2^-31 of the logarithm.

#![allow(
    clippy::needless_range_loop,
    reason = "a closure would be compiled without the vector instructions of its caller; what is not inlined at once calls \
              them one by one"
)]

use crate::pick::{PIECES, Pick};
use crate::scalar::BLOCK;
use crate::scalar::exp::ExpTable;
use crate::scalar::float::Float;

/// Vectors in flight.
const FLIGHT: usize = 4;
/// The bits of the first `m`: the piece of 1, the 16th, reaches as far below 1 as above it, counted in floats.
const FIRST: u32 = 0x3f3e_0000;
/// Powers of two up to here are neither denormal nor infinite.
const END: f32 = 126.0;
const PER_OCTAVE: f32 = 1.0 / 8_388_608.0;

/// 1 / ln 2 in two parts.
const LOG2_E: (f32, f32) = (std::f32::consts::LOG2_E, 1.925_963e-8);
/// `(log2(1 + f) / f - 1 / ln 2) / f` for |f| <= 0.0198: 2^-34 of the logarithm.
const CURVE: [f32; 4] = [-0.721_347_5, 0.480_898_32, -0.360_785_57, 0.288_688_45];

/// The tables of the pieces.
#[derive(Clone, Copy, Debug)]
struct Pieces {
    /// `r`.
    inverses: [f32; PIECES],
    /// `-log2(r)` in two parts, the first in multiples of 2^-16: adding `k` is exact.
    logarithms: ([f32; PIECES], [f32; PIECES]),
}

#[rustfmt::skip]
const OCTAVE: Pieces = Pieces {
    inverses: [
        1.328_125, 1.312_5, 1.281_25, 1.25, 1.234_375, 1.203_125, 1.187_5, 1.156_25, 1.140_625, 1.125, 1.109_375,
        1.078_125, 1.062_5, 1.046_875, 1.031_25, 1.015_625, 1.0, 0.968_75, 0.937_5, 0.914_062_5, 0.890_625, 0.859_375,
        0.843_75, 0.820_312_5, 0.796_875, 0.781_25, 0.765_625, 0.742_187_5, 0.726_562_5, 0.710_937_5, 0.695_312_5,
        0.679_687_5,
    ],
    logarithms: ([
        -0.409_393_3, -0.392_318_73, -0.357_559_2, -0.321_929_93, -0.303_787_23, -0.266_784_67, -0.247_924_8,
        -0.209_457_4, -0.189_819_34, -0.169_921_88, -0.149_749_76, -0.108_520_51, -0.087_463_38, -0.066_085_815,
        -0.044_387_817, -0.022_369_385, 0.0, 0.045_806_885, 0.093_109_13, 0.129_638_67, 0.167_114_26, 0.218_643_19,
        0.245_117_19, 0.285_751_34, 0.327_575_68, 0.356_140_14, 0.385_284_42, 0.430_145_26, 0.460_845_95,
        0.492_202_76, 0.524_261_5, 0.557_052_6,
    ], [
        2.374_409_2e-6, 1.302_807_2e-6, 7.199_483_7e-6, 1.836_753_3e-6, 6.483_268_4e-6, -1.872_726_1e-6,
        -2.708_756e-6, 4.031_832e-6, -5.222_942_5e-6, -3.126_442_4e-6, 2.636_354_8e-6, -3.948_965_5e-6, 5.376_559e-7,
        -3.375_028e-6, -6.301_975_6e-6, 1.571_737_1e-6, 0.0, -3.195_152_4e-6, 2.735_321e-7, -3.391_458_4e-6,
        -4.271_977e-6, -2.902_001_1e-6, -4.689_663_5e-6, 3.139_560_5e-6, -1.025_565_2e-6, 3.673_506_6e-6,
        5.732_056_7e-6, -8.720_028_3e-7, -4.758_373_5e-6, 2.601_012_3e-6, 5.094_424e-6, 3.891_846_5e-6,
    ]),
};

/// `x^y` of a block, if that is fast, and whether there are pairs that it could not do: of them the result is 0.
#[inline(always)]
pub(crate) fn block<V: Pick>(
    dst: &mut [f32; BLOCK],
    x: &[f32; BLOCK],
    y: &[f32; BLOCK],
) -> Option<bool> {
    if const { !V::QUICK } {
        return None;
    }
    let mut all = true;
    for at in (0..BLOCK).step_by(FLIGHT * V::LANES) {
        let (mut base, mut exponent) = ([V::splat(0.0); FLIGHT], [V::splat(0.0); FLIGHT]);
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
    Some(!all)
}

/// The powers of vectors, 0 where a base is not plain or a power not within [`END`], and whether there are no such.
#[inline(always)]
fn powers<V: Pick, const L: usize>(x: [V; L], y: [V; L]) -> ([V; L], bool) {
    let (large, small) = logarithms(x);
    let whole = V::splat(f32::WHOLE);
    let (mut power, mut shifted, mut f) = (x, x, x);
    for i in 0..L {
        power[i] = y[i].mul(large[i]);
        let lost = y[i].mul_sub(large[i], power[i]);
        let low = y[i].mul_add(small[i], lost);
        shifted[i] = power[i].add(whole);
        f[i] = power[i].sub(shifted[i].sub(whole)).add(low);
    }
    let (mut sums, mut coefficients) = (f, f32::EXP2.iter().rev());
    if let Some(&last) = coefficients.next() {
        sums = [V::splat(last); L];
    }
    for &coefficient in coefficients.chain(&[1.0]) {
        for i in 0..L {
            sums[i] = sums[i].mul_add(f[i], V::splat(coefficient));
        }
    }
    let mut all = true;
    for i in 0..L {
        let done;
        (sums[i], done) = sums[i].scaled_within(shifted[i], x[i], power[i], END);
        all &= done;
    }
    (sums, all)
}

/// The logarithms of plain numbers to base 2 in two parts.
#[inline(always)]
fn logarithms<V: Pick, const L: usize>(x: [V; L]) -> ([V; L], [V; L]) {
    let (mut piece, mut f, mut k) = (x, x, x);
    for i in 0..L {
        let m;
        (piece[i], m, k[i]) = x[i].octave(FIRST);
        f[i] = m.mul_sub(piece[i].pick(&OCTAVE.inverses), V::splat(1.0));
        k[i] = k[i].mul_add(V::splat(PER_OCTAVE), piece[i].pick(&OCTAVE.logarithms.0));
    }
    let mut curve = [V::splat(CURVE[3]); L];
    for coefficient in [CURVE[2], CURVE[1], CURVE[0]] {
        for i in 0..L {
            curve[i] = curve[i].mul_add(f[i], V::splat(coefficient));
        }
    }
    let (mut large, mut small) = (x, x);
    for i in 0..L {
        let first = V::splat(LOG2_E.0);
        let slope = curve[i].mul_add(f[i], first);
        let lost = curve[i].mul_add(f[i], first.sub(slope));
        let lost = lost.add(V::splat(LOG2_E.1));
        let log = f[i].mul(slope);
        let rest = f[i].mul_add(lost, f[i].mul_sub(slope, log));
        large[i] = k[i].add(log);
        let lost = k[i].sub(large[i]).add(log);
        small[i] = lost.add(rest.add(piece[i].pick(&OCTAVE.logarithms.1)));
    }
    (large, small)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_from_a_piece_is_exact_and_small() {
        for (piece, inverse) in OCTAVE.inverses.into_iter().enumerate() {
            let width = (1u32 << 23) / PIECES as u32;
            let first = FIRST + piece as u32 * width;
            for bits in (first..first + width)
                .step_by(61)
                .chain([first + width - 1])
            {
                let m = f32::from_bits(bits);
                let f = f64::from(inverse) * f64::from(m) - 1.0;
                assert!(
                    f == f64::from(f as f32) && f.abs() < 0.0198,
                    "{m} in {piece}"
                );
            }
            let (large, small) = (OCTAVE.logarithms.0[piece], OCTAVE.logarithms.1[piece]);
            let logarithm = f64::from(large) + f64::from(small);
            assert!(
                (logarithm + f64::from(inverse).log2()).abs() < 1e-12,
                "{inverse}"
            );
            assert_eq!((large * 65_536.0).fract(), 0.0, "{large}");
        }
        assert_eq!((OCTAVE.inverses[16], OCTAVE.logarithms.0[16]), (1.0, 0.0));
    }
}
