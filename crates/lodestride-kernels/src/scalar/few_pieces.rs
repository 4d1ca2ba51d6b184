//! Functions as four polynomials side by side, for vectors whose lanes look up among four numbers: those of AVX2.
//!
//! As in `pieces.rs`, but four pieces take longer polynomials, and the coefficient of power 0 is one number: the points that the
//! polynomials are around are such that it is nearly exact. Which piece says the exponent of a line in the distance from zero, so
//! that each is twice as wide as the one before, or the next bits below the exponent, so that they are equally wide.
#![allow(
    clippy::needless_range_loop,
    reason = "as in `pieces.rs`: no closures where vectors are worked on"
)]

use crate::pick::{FEW, Pick};
use crate::scalar::BLOCK;
use crate::scalar::pieces::{OfVectors, any_below};

/// Vectors in flight.
const FLIGHT: usize = 2;

/// Per row the coefficients of one power for every piece, from power 0 on.
type Rows<const N: usize> = [[f32; FEW]; N];

/// Four polynomials; pieces are cut where `|x| slope + start` has another number above its lowest `BITS` bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces<const N: usize, const BITS: i32> {
    slope: f32,
    start: f32,
    /// The points the polynomials are around.
    middles: [f32; FEW],
    rows: Rows<N>,
}

impl<const N: usize, const BITS: i32> Pieces<N, BITS> {
    /// The pieces of distances from zero, and how far the distances are from the middles.
    #[inline(always)]
    fn pieces<V: Pick, const L: usize>(&self, size: [V; L]) -> ([V; L], [V; L]) {
        let (mut piece, mut t) = (size, size);
        for i in 0..L {
            let line = size[i].mul_add(V::splat(self.slope), V::splat(self.start));
            piece[i] = line.bits_from::<BITS>();
            t[i] = size[i].sub(piece[i].pick_few(&self.middles));
        }
        (piece, t)
    }

    /// The polynomials without their coefficients of power 0, over `t`, and those coefficients.
    #[inline(always)]
    fn polynomials<V: Pick, const L: usize>(&self, piece: [V; L], t: [V; L]) -> ([V; L], [V; L]) {
        let (mut square, mut high, mut low, mut first) = (t, t, t, t);
        for i in 0..L {
            square[i] = t[i].mul(t[i]);
            high[i] = piece[i].pick_few(&self.rows[N - 1]);
            low[i] = piece[i].pick_few(&self.rows[N - 2]);
            first[i] = piece[i].pick_few(&self.rows[0]);
        }
        // The odd powers beside the even ones, of which there are as many.
        let mut row = N - 3;
        while row > 0 {
            for i in 0..L {
                high[i] = high[i].mul_add(square[i], piece[i].pick_few(&self.rows[row]));
                low[i] = low[i].mul_add(square[i], piece[i].pick_few(&self.rows[row - 1]));
            }
            row -= 2;
        }
        for i in 0..L {
            high[i] = high[i].mul_add(t[i], low[i]);
        }
        (high, first)
    }
}

/// An increasing function with the sign of its argument, level from some distance from zero on. In the first piece, whose large
/// term is 0, the argument itself is the large term: the coefficients there are those of the function less its argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Odd<const N: usize, const BITS: i32> {
    /// From here on the function is level.
    level: f32,
    /// What it is around the second middle: no less than the first piece is wide, and so than the distances there.
    second: f32,
    pieces: Pieces<N, BITS>,
}

impl<const N: usize, const BITS: i32> Odd<N, BITS> {
    /// The function of a block, if that is fast; no argument is hard.
    #[inline(always)]
    pub(crate) fn block<V: Pick>(&self, dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        if const { V::FEW } {
            self.of_block::<V, FLIGHT>(dst, x);
        }
        V::FEW.then_some(false)
    }
}

impl<const N: usize, const BITS: i32> OfVectors for Odd<N, BITS> {
    #[inline(always)]
    fn of<V: Pick, const L: usize>(&self, x: [V; L]) -> [V; L] {
        let mut size = x;
        for i in 0..L {
            // NaN stays.
            size[i] = V::splat(self.level).smaller(x[i].size());
        }
        let (piece, t) = self.pieces.pieces(size);
        let (mut results, large) = self.pieces.polynomials(piece, t);
        for i in 0..L {
            // In the first piece t is less than the large term of the second, in the others that term is no less.
            let large = large[i].larger(t[i].smaller(V::splat(self.second)));
            results[i] = results[i].mul_add(t[i], large).signed_as(x[i]);
        }
        results
    }
}

/// `max(x, 0)` less `T(|x|)`, which dies off like `exp(-x^2 / 2)`: for arguments not below `-reach`.
///
/// In the first piece `T(s)` is `s` times the polynomial, in the others the exponential times it. The exponential is a root of two
/// of few bits times a power of two, and `1 + tail`; its product with the coefficient of power 0, which has few bits too, is exact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bell<const N: usize, const BITS: i32> {
    pub(crate) reach: f32,
    /// Where the second piece begins.
    near: f32,
    pieces: Pieces<N, BITS>,
}

/// log2(e) / 2 in two parts.
const HALF_LOG2_E: (f32, f32) = (0.721_347_5, 9.629_635e-9);
/// 1.5 times 2^21: adding it leaves quarters in the low bits.
const QUARTERS: f32 = 3_145_728.0;
/// The fourth roots of 2 to 12 bits.
const ROOTS: [f32; FEW] = [1.0, 1.188_964_8, 1.414_062_5, 1.681_640_6];
/// What their logarithms lack.
const LACK: [f32; FEW] = [0.0, 0.000_293_943_04, 0.000_154_112_92, 0.000_130_572_6];
/// [`ROOTS`] for [`Pick::times_quarters`].
const TABLE: [f32; FEW] = {
    let (mut table, mut place) = (ROOTS, 0);
    while place < table.len() {
        table[place] = f32::from_bits(ROOTS[place].to_bits() - ((place as u32) << 21));
        place += 1;
    }
    table
};
/// `(2^u - 1) / u` for |u| <= 1/8, to 2^-28 of `2^u`.
const POWER: [f32; 4] = [0.693_147_06, 0.240_226_5, 0.055_532_07, 0.009_619_774];

impl<const N: usize, const BITS: i32> Bell<N, BITS> {
    /// The function of a block, if that is fast, and whether some arguments are too low for it.
    #[inline(always)]
    pub(crate) fn block<V: Pick>(&self, dst: &mut [f32; BLOCK], x: &[f32; BLOCK]) -> Option<bool> {
        if const { !V::FEW } {
            return None;
        }
        self.of_block::<V, FLIGHT>(dst, x);
        Some(any_below(x, -self.reach))
    }
}

/// `exp(-s^2 / 2)` as a number of few bits, and how much larger it is than that, over that.
#[inline(always)]
fn bell<V: Pick, const L: usize>(s: [V; L]) -> ([V; L], [V; L]) {
    let (mut power, mut u, mut tail) = (s, s, s);
    let (whole, slope) = (V::splat(QUARTERS), V::splat(HALF_LOG2_E.0));
    for i in 0..L {
        let square = s[i].mul(s[i]);
        // What the square is too large by.
        let lost = s[i].neg_mul_add(s[i], square);
        let shifted = square.neg_mul_add(slope, whole);
        let small = square.neg_mul_add(V::splat(HALF_LOG2_E.1), shifted.pick_few(&LACK));
        let small = lost.mul_add(slope, small);
        u[i] = square.neg_mul_add(slope, whole.sub(shifted)).add(small);
        power[i] = shifted.pick_few(&TABLE).times_quarters(shifted);
        tail[i] = V::splat(POWER[3]);
    }
    for c in POWER[..3].iter().rev() {
        for i in 0..L {
            tail[i] = tail[i].mul_add(u[i], V::splat(*c));
        }
    }
    for i in 0..L {
        tail[i] = tail[i].mul(u[i]);
    }
    (power, tail)
}

impl<const N: usize, const BITS: i32> OfVectors for Bell<N, BITS> {
    #[inline(always)]
    fn of<V: Pick, const L: usize>(&self, x: [V; L]) -> [V; L] {
        let mut s = x;
        for i in 0..L {
            // NaN stays.
            s[i] = V::splat(self.reach).smaller(x[i].size());
        }
        let (piece, t) = self.pieces.pieces(s);
        let (mut results, first) = self.pieces.polynomials(piece, t);
        let (power, tail) = bell(s);
        let near = V::splat(self.near);
        for i in 0..L {
            let rest = results[i].mul(t[i]);
            let far = first[i].add(rest).mul_add(tail[i], rest);
            let rest = near.choose_above(s[i], rest, far);
            let power = near.choose_above(s[i], s[i], power[i]);
            let positive = x[i].larger(V::splat(0.0));
            let most = first[i].neg_mul_add(power, positive);
            // The difference would lose the sign of zero.
            results[i] = rest.neg_mul_add(power, most).signed_as(x[i]);
        }
        results
    }
}

/// erf of f32: pieces of 1, the first a bit less, up to where it is 1.
#[rustfmt::skip]
pub(crate) const ERF: Odd<9, 21> = Odd {
    level: 3.93,
    second: 0.956_811_6,
    pieces: Pieces {
        slope: 1.0,
        start: 4.062_5,
        middles: [0.0, 1.429_687_5, 2.467_773_4, 3.397_461],
        rows: [
            [0.0, 0.956_811_6, 0.999_516_9, 0.999_998_45],
            [0.128_379_18, 0.146_134_85, 0.002_556_504_4, 1.095_166_3e-5],
            [-1.084_914_4e-6, -0.208_927_74, -0.006_308_959, -3.721_080_8e-5],
            [-0.376_115_5, 0.150_433_06, 0.009_525_488, 8.070_680_6e-5],
            [3.018_008e-5, -0.037_877_96, -0.009_647_763, -0.000_124_414_36],
            [0.112_076_45, -0.023_620_507, 0.006_693_783, 0.000_143_613_5],
            [0.003_711_704_4, 0.021_215_41, -0.002_952_517_2, -0.000_132_576_3],
            [-0.035_360_508, -0.002_224_339_6, 0.000_325_457_95, 0.000_102_266_76],
            [0.009_980_935, -0.003_248_847, 0.000_455_118_05, -4.776_079_7e-5],
        ],
    },
};

/// tanh of f32: pieces from 0.8, 2.4 and 5.6 on, up to where it is 1.
#[rustfmt::skip]
pub(crate) const TANH: Odd<11, 23> = Odd {
    level: 9.1,
    second: 0.915_981_9,
    pieces: Pieces {
        slope: 1.25,
        start: 1.0,
        middles: [1.563_476_6, 3.971_679_7, 7.381_836, 0.0],
        rows: [
            [0.915_981_9, 0.999_290_2, 0.999_999_2, 0.0],
            [0.160_977_29, 0.001_419_034_7, 1.549_803_8e-6, -9.023_527_5e-10],
            [-0.147_451_94, -0.001_417_998, -1.550_291_7e-6, 2.264_183_1e-7],
            [0.081_400_63, 0.000_944_055_73, 1.032_886_2e-6, -0.333_342_6],
            [-0.025_418_203, -0.000_470_823_67, -5.154_520_3e-7, 0.000_144_746_72],
            [-0.000_242_755_06, 0.000_187_110_72, 2.076_374_8e-7, 0.132_207_75],
            [0.005_468_097_5, -6.143_953e-5, -7.000_365e-8, 0.004_895_651],
            [-0.003_566_492, 1.726_524_7e-5, 1.873_677_6e-8, -0.066_301_49],
            [0.001_048_009_6, -4.266_540_6e-6, -4.405_129e-9, 0.017_079_169],
            [0.000_243_477_06, 8.281_427_3e-7, 1.436_858_6e-9, 0.012_715_039],
            [-0.000_243_631_72, -8.322_114_6e-8, -3.232_756_8e-10, -0.005_811_547],
        ],
    },
};

/// `gelu` of f32: `T(s)` is `s` times the normal distribution function of `-s`. Pieces from 0.5, 1.5 and 3.5 on.
#[rustfmt::skip]
pub(crate) const GELU: Bell<9, 23> = Bell {
    reach: 7.49,
    near: 0.5,
    pieces: Pieces {
        slope: 2.0,
        start: 1.0,
        middles: [1.016_026_3, 2.520_452_5, 5.519_481_7, 0.0],
        rows: [
            [0.263_549_8, 0.353_881_84, 0.386_962_9, 0.5],
            [0.121_830_4, 0.026_831_33, 0.003_988_482_5, -0.398_942_3],
            [-0.073_500_98, -0.011_246_755, -0.000_972_020_03, 5.720_673e-7],
            [0.036_022_507, 0.003_967_342, 0.000_206_026_6, 0.066_480_63],
            [-0.015_351_788, -0.001_250_123_5, -4.007_936_5e-5, 7.850_028e-5],
            [0.005_880_922, 0.000_359_248_92, 7.137_042e-6, -0.010_308_952],
            [-0.002_062_755_6, -9.649_137e-5, -1.222_714_2e-6, 0.000_774_225_5],
            [0.000_712_240_64, 2.843_278_2e-5, 2.697_031_8e-7, 0.000_304_529_33],
            [-0.000_239_029_06, -7.337_542e-6, -4.659_255e-8, 0.000_316_180_64],
        ],
    },
};
