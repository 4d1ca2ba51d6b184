//! Exponential functions.
//!
//! `x` is split into `n ln 2 + r` with a whole `n` (rounded by adding and taking away a number so large that the fraction
//! drops off, which also leaves `n` as an integer in the low bits), and the exponential of the small `r` is a polynomial.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;
use crate::scalar::{mul_add, mul_add_f32, polynomial, polynomial_f32, two_sum};

/// The exponential family.
pub(crate) trait Exp: Quotient {
    fn exp<A: Arch>(self) -> Self;
    fn exp2<A: Arch>(self) -> Self;
    /// `exp(x) - 1` without cancellation near zero.
    fn expm1<A: Arch>(self) -> Self;
}

/// 1.5 * 2^52: adding it drops the fraction and leaves the whole number in the low bits.
const WHOLE: f64 = 6_755_399_441_055_744.0;
/// The same for f32: 1.5 * 2^23.
const WHOLE_F32: f32 = 12_582_912.0;

/// ln 2 in two parts; the first has so few bits that its multiples by whole numbers up to 2^20 are exact.
pub(crate) const LN2_HIGH: f64 = 0.693_146_705_627_441_4;
pub(crate) const LN2_LOW: f64 = 4.749_325_039_031_672_6e-7;
const LN2_HIGH_F32: f32 = 0.693_359_4;
const LN2_LOW_F32: f32 = -0.000_212_194_44;

/// `(exp(r) - 1 - r) / r^2` for |r| <= ln 2 / 2, to 3e-18.
const TAIL: [f64; 11] = [
    0.5,
    0.166_666_666_666_666_7,
    0.041_666_666_666_666_67,
    0.008_333_333_333_326_136,
    0.001_388_888_888_888_374_8,
    0.000_198_412_698_748_206_27,
    2.480_158_732_554_774_5e-5,
    2.755_725_540_020_642_2e-6,
    2.755_727_364_311_03e-7,
    2.510_521_700_472_074_5e-8,
    2.091_468_696_808_687_6e-9,
];
/// The same to 7e-8, which the factor r^2 makes a fifteenth of a unit in the last place of f32.
const TAIL_F32: [f32; 5] = [
    0.5,
    0.166_665_76,
    0.041_666_556,
    0.008_363_179,
    0.001_392_618_4,
];

/// `(2^f - 1) / f` for |f| <= 1/2, to 3e-17.
const TAIL2: [f64; 12] = [
    std::f64::consts::LN_2,
    0.240_226_506_959_100_72,
    0.055_504_108_664_821_625,
    0.009_618_129_107_628_48,
    0.001_333_355_814_640_647,
    0.000_154_035_303_933_707_34,
    1.525_273_384_155_677_3e-5,
    1.321_548_680_870_556_3e-6,
    1.017_805_708_773_394_1e-7,
    7.054_897_304_155_499_5e-9,
    4.455_817_908_336_064_5e-10,
    2.572_932_417_736_230_5e-11,
];

/// `x` as `n ln 2 + r + rest`: `n` as a bit pattern (see [`power_of_two`]), `r`, and what rounding `r` lost.
#[inline(always)]
fn reduce<A: Arch>(x: f64) -> (u64, f64, f64) {
    let shifted = mul_add::<A>(x, std::f64::consts::LOG2_E, WHOLE);
    let n = shifted - WHOLE;
    let high = mul_add::<A>(-n, LN2_HIGH, x);
    let low = n * LN2_LOW;
    let r = high - low;
    (
        shifted.to_bits().wrapping_sub(WHOLE.to_bits()),
        r,
        (high - r) - low,
    )
}

/// Multiplies by 2^n for any |n| <= 2046, in two steps so that denormal results are rounded once. `n` is in two's
/// complement.
#[inline(always)]
pub(crate) fn scale(x: f64, n: u64) -> f64 {
    // Shifted up to be positive: vector units before AVX-512 have no signed shift of 64 bits.
    let above = n.wrapping_add(2048);
    let half = above >> 1;
    let first = f64::from_bits(half.wrapping_sub(1) << 52);
    let second = f64::from_bits(above.wrapping_sub(half).wrapping_sub(1) << 52);
    x * first * second
}

/// 2^n as a float, for normal powers. `n` is in two's complement.
#[inline(always)]
fn power_of_two(n: u64) -> f64 {
    f64::from_bits(n.wrapping_add(1023) << 52)
}

/// `(exp(x) - 1) / 2` as an unevaluated sum. Meant for -40 <= x <= 710; below the result is that of -40.
#[inline(always)]
pub(crate) fn half_expm1<A: Arch>(x: f64) -> (f64, f64) {
    let x = if x < -40.0 { -40.0 } else { x };
    let (n, r, rest) = reduce::<A>(x);
    let half = power_of_two(n.wrapping_sub(1));
    let (sum, lost) = two_sum(half - 0.5, half * r);
    let tail = mul_add::<A>(r * r, polynomial::<A, 11>(r, &TAIL), rest);
    (sum, mul_add::<A>(half, tail, lost))
}

/// `exp(x) / 2`, finite wherever that is.
#[inline(always)]
pub(crate) fn half_exp<A: Arch>(x: f64) -> f64 {
    let x = if x > 712.0 { 712.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let (n, r, rest) = reduce::<A>(x);
    let tail = mul_add::<A>(r * r, polynomial::<A, 11>(r, &TAIL), rest);
    scale(1.0 + (r + tail), n.wrapping_sub(1))
}

impl Exp for f64 {
    #[inline(always)]
    fn exp<A: Arch>(self) -> Self {
        // Beyond these the result is infinite or zero anyway, and NaN passes both comparisons.
        let x = if self > 710.0 { 710.0 } else { self };
        let x = if x < -746.0 { -746.0 } else { x };
        let (n, r, rest) = reduce::<A>(x);
        let tail = mul_add::<A>(r * r, polynomial::<A, 11>(r, &TAIL), rest);
        scale(1.0 + (r + tail), n)
    }

    #[inline(always)]
    fn exp2<A: Arch>(self) -> Self {
        let x = if self > 1024.0 { 1024.0 } else { self };
        let x = if x < -1076.0 { -1076.0 } else { x };
        let shifted = x + WHOLE;
        let f = x - (shifted - WHOLE);
        let n = shifted.to_bits().wrapping_sub(WHOLE.to_bits());
        scale(mul_add::<A>(f, polynomial::<A, 12>(f, &TAIL2), 1.0), n)
    }

    #[inline(always)]
    fn expm1<A: Arch>(self) -> Self {
        let x = if self > 710.0 { 710.0 } else { self };
        let (sum, lost) = half_expm1::<A>(x);
        let result = 2.0 * (sum + lost);
        // So close to zero the function is the identity, denormals and the sign of zero included.
        if self.abs() < 1e-17 { self } else { result }
    }
}

/// Multiplies by 2^n for any |n| <= 254, in two steps so that denormal results are rounded once.
#[inline(always)]
fn scale_f32(x: f32, n: u32) -> f32 {
    let n = n.cast_signed();
    let half = n >> 1;
    let first = f32::from_bits((half + 127).cast_unsigned() << 23);
    let second = f32::from_bits((n - half + 127).cast_unsigned() << 23);
    x * first * second
}

/// `exp(x)` of f32 as `(n, r, tail)` with the exponential `2^n (1 + (r + tail))`; `x` is in the range of results that are
/// neither zero nor infinite, or NaN.
#[inline(always)]
fn parts_f32<A: Arch>(x: f32) -> (u32, f32, f32) {
    let shifted = mul_add_f32::<A>(x, std::f32::consts::LOG2_E, WHOLE_F32);
    let n = shifted - WHOLE_F32;
    let r = mul_add_f32::<A>(-n, LN2_LOW_F32, mul_add_f32::<A>(-n, LN2_HIGH_F32, x));
    let tail = r * r * polynomial_f32::<A, 5>(r, &TAIL_F32);
    (shifted.to_bits().wrapping_sub(WHOLE_F32.to_bits()), r, tail)
}

impl Exp for f32 {
    #[inline(always)]
    fn exp<A: Arch>(self) -> Self {
        let x = if self > 89.0 { 89.0 } else { self };
        let x = if x < -104.0 { -104.0 } else { x };
        let (n, r, tail) = parts_f32::<A>(x);
        scale_f32(1.0 + (r + tail), n)
    }

    #[inline(always)]
    fn exp2<A: Arch>(self) -> Self {
        Exp::exp2::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn expm1<A: Arch>(self) -> Self {
        Exp::expm1::<A>(f64::from(self)) as f32
    }
}
