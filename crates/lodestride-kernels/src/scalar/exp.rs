//! Exponential functions.
//!
//! `x` is split into `n ln 2 + r` with a whole `n` (Cody and Waite: ln 2 in two parts, the first with so few bits that its
//! multiples are exact; `n` is rounded by adding and taking away a number so large that the fraction drops off, which also
//! leaves `n` as an integer in the low bits). With `c = r coth(r / 2)`, an even function, `exp(r)` is `(c + r) / (c - r)`.
//! The logistic function and its relatives are one quotient of sums of these; where `exp` alone is wanted, it is a polynomial.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;
use crate::scalar::float::{Float, Real, fast_two_sum, polynomial};

/// The exponential family.
pub(crate) trait Exp: Quotient {
    /// Whether the result of `exp_near` is not to be trusted.
    fn is_beyond_exp(self, result: Self) -> bool;
    fn is_beyond_exp2(self, result: Self) -> bool;
    fn is_beyond_expm1(self, result: Self) -> bool;
    /// `exp` where neither the result nor its inverse is denormal or infinite.
    fn exp_near<A: Arch>(self) -> Self;
    fn exp2_near<A: Arch>(self) -> Self;
    fn exp<A: Arch>(self) -> Self;
    fn exp2<A: Arch>(self) -> Self;
    /// `exp(x) - 1` without cancellation near zero.
    fn expm1_near<A: Arch>(self) -> Self;
    fn expm1<A: Arch>(self) -> Self;
}

/// Constants of the exponential functions.
pub(crate) trait ExpTable: Sized + 'static {
    /// ln 2 in two parts.
    const LN2: (Self, Self);
    /// `(r coth(r/2) - 2) / r^2` as a polynomial in `r^2`, for |r| <= ln 2 / 2.
    const COTH: &'static [Self];
    /// `(exp(r) - 1 - r) / r^2` as a polynomial in `r` for |r| <= ln 2 / 2.
    const TAIL: &'static [Self];
    /// `(2^f - 1) / f` for |f| <= 1/2.
    const EXP2: &'static [Self];
    /// The slope of `selu` below zero in two parts: its scale 1.0507009873554805 times 1.6732632423543772.
    const SELU_SLOPE: (Self, Self);
    /// Below this size `exp` and its inverse are neither denormal nor infinite.
    const NEAR: Self;
    const NEAR2: Self;
    /// The end of the results that are neither zero nor infinite, towards zero and towards infinity.
    const ENDS: (Self, Self);
    const ENDS2: (Self, Self);
}

impl ExpTable for f64 {
    const LN2: (f64, f64) = (0.693_146_705_627_441_4, 4.749_325_039_031_672_6e-7);
    /// To 2^-59.
    const COTH: &'static [f64] = &[
        0.166_666_666_666_666_02,
        -0.002_777_777_777_701_350_3,
        6.613_756_320_876_009e-5,
        -1.653_390_159_462_829e-6,
        4.138_114_005_767_041e-8,
    ];
    /// To 2^-58.
    const TAIL: &'static [f64] = &[
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
    /// To 2^-57.
    const EXP2: &'static [f64] = &[
        std::f64::consts::LN_2,
        0.240_226_506_959_101_72,
        0.055_504_108_664_824_574,
        0.009_618_129_107_577_06,
        0.001_333_355_814_556_695_8,
        0.000_154_035_304_788_966_5,
        1.525_273_473_937_106e-5,
        1.321_542_444_592_606_3e-6,
        1.017_765_503_555_087_4e-7,
        7.075_626_047_776_509e-9,
        4.519_554_992_325_611_3e-10,
    ];
    const SELU_SLOPE: (f64, f64) = (1.758_099_340_847_376_8, 1.415_351_938_008_45e-17);
    const NEAR: f64 = 708.0;
    const NEAR2: f64 = 1022.0;
    const ENDS: (f64, f64) = (-746.0, 710.0);
    const ENDS2: (f64, f64) = (-1076.0, 1024.0);
}

impl ExpTable for f32 {
    const LN2: (f32, f32) = (0.693_359_4, -0.000_212_194_44);
    /// To 2^-27.
    const COTH: &'static [f32] = &[0.166_666_2, -0.002_765_940_5];
    /// To 2^-28.
    const TAIL: &'static [f32] = &[
        0.499_999_94,
        0.166_665_17,
        0.041_668_102,
        0.008_369_152,
        0.001_383_758,
    ];
    /// To 2^-26.
    const EXP2: &'static [f32] = &[
        std::f32::consts::LN_2,
        0.240_225_94,
        0.055_503_663,
        0.009_625_462,
        0.001_338_780_5,
        0.000_133_192_05,
    ];
    const SELU_SLOPE: (f32, f32) = (1.758_099_3, 2.329_671_8e-8);
    const NEAR: f32 = 87.0;
    const NEAR2: f32 = 126.0;
    const ENDS: (f32, f32) = (-104.0, 89.0);
    const ENDS2: (f32, f32) = (-151.0, 128.0);
}

/// `x` as `n ln 2 + r`.
#[derive(Clone, Copy)]
pub(crate) struct Reduced<R> {
    /// `WHOLE + n`.
    pub(crate) shifted: R,
    /// `r` before the low part of ln 2 was taken away, and that: `r + rest` is their difference.
    high: R,
    low: R,
    pub(crate) r: R,
    /// `r coth(r / 2) - 2`.
    pub(crate) even: R,
}

#[inline(always)]
pub(crate) fn reduce<R: Real, A: Arch>(x: R) -> Reduced<R> {
    let shifted = x.fused::<A>(R::of(std::f64::consts::LOG2_E), R::WHOLE);
    let n = shifted - R::WHOLE;
    // Exact, fused or not: the product has few bits and the difference is small.
    let high = (-n).fused::<A>(R::LN2.0, x);
    let low = n * R::LN2.1;
    let r = high - low;
    let square = r * r;
    Reduced {
        shifted,
        high,
        low,
        r,
        even: square * polynomial::<R, A>(square, R::COTH),
    }
}

impl<R: Real> Reduced<R> {
    /// `exp(r)` as a large and a small part.
    #[inline(always)]
    pub(crate) fn exp_parts(&self) -> (R, R) {
        let c = self.r - self.even;
        let curve = (self.r * c) / (R::of(2.0) - c);
        (R::ONE, (curve - self.low) + self.high)
    }

    /// `(s + 1) c + (s - 1) r`, the denominator of `tanh(x / 2)`, in two parts.
    #[inline(always)]
    pub(crate) fn sum<A: Arch>(&self, s: R) -> (R, R) {
        let (below, above) = (s - R::ONE, s + R::ONE);
        let inner = above.fused::<A>(self.even, below * self.r);
        fast_two_sum(above + above, inner)
    }

    /// `c + r` in two parts.
    #[inline(always)]
    pub(crate) fn c_plus_r(&self) -> (R, R) {
        fast_two_sum(R::of(2.0), self.even + self.r)
    }
}

/// Within bounds; NaN stays.
#[inline(always)]
pub(crate) fn bounded<R: Float>(x: R, (low, high): (R, R)) -> R {
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

/// Times 2^n in two steps, so that denormal results are rounded once; from `WHOLE + n`.
#[inline(always)]
pub(crate) fn scaled_far<R: Real, A: Arch>(x: R, shifted: R) -> R {
    let n = shifted - R::WHOLE;
    let half = n.fused::<A>(R::of(0.5), R::WHOLE);
    let rest = n - (half - R::WHOLE);
    x * R::power_of_two(half) * R::power_of_two(rest + R::WHOLE)
}

/// `exp(r)` and `WHOLE + n`, by a polynomial: fewer steps than the quotient where nothing else is wanted.
#[inline(always)]
pub(crate) fn exp_scaled<R: Real, A: Arch>(x: R) -> (R, R) {
    let shifted = x.fused::<A>(R::of(std::f64::consts::LOG2_E), R::WHOLE);
    let n = shifted - R::WHOLE;
    let high = (-n).fused::<A>(R::LN2.0, x);
    let r = (-n).fused::<A>(R::LN2.1, high);
    let tail = (r * r).fused::<A>(polynomial::<R, A>(r, R::TAIL), r);
    (R::ONE + tail, shifted)
}

#[inline(always)]
pub(crate) fn exp_near<R: Real, A: Arch>(x: R) -> R {
    let (mantissa, shifted) = exp_scaled::<R, A>(x);
    mantissa.scaled(shifted)
}

#[inline(always)]
fn exp<R: Real, A: Arch>(x: R) -> R {
    let (mantissa, shifted) = exp_scaled::<R, A>(bounded(x, R::ENDS));
    scaled_far::<R, A>(mantissa, shifted)
}

/// 2 to the power `f`, |f| <= 1/2.
#[inline(always)]
pub(crate) fn exp2_reduced<R: Real, A: Arch>(f: R) -> R {
    f.fused::<A>(polynomial::<R, A>(f, R::EXP2), R::ONE)
}

#[inline(always)]
fn exp2_near<R: Real, A: Arch>(x: R) -> R {
    let shifted = x + R::WHOLE;
    exp2_reduced::<R, A>(x - (shifted - R::WHOLE)).scaled(shifted)
}

#[inline(always)]
fn exp2<R: Real, A: Arch>(x: R) -> R {
    let x = bounded(x, R::ENDS2);
    let shifted = x + R::WHOLE;
    scaled_far::<R, A>(exp2_reduced::<R, A>(x - (shifted - R::WHOLE)), shifted)
}

/// `exp(x) - 1` in two parts, for x below half of NEAR: with `p = exp(r) - 1` in two parts and `s = 2^n` it is
/// `s p + (s - 1)`.
#[inline(always)]
pub(crate) fn expm1_parts<R: Real, A: Arch>(x: R) -> (R, R) {
    // Below the lower end the result is -1 to the last bit.
    let x = bounded(x, (R::of(-60.0), R::of(0.5) * R::NEAR));
    let shifted = x.fused::<A>(R::of(std::f64::consts::LOG2_E), R::WHOLE);
    let n = shifted - R::WHOLE;
    let high = (-n).fused::<A>(R::LN2.0, x);
    let r = (-n).fused::<A>(R::LN2.1, high);
    let rest = (-n).fused::<A>(R::LN2.1, high - r);
    let curve = (r * r) * polynomial::<R, A>(r, R::TAIL);
    let (p, lost) = fast_two_sum(r, curve);
    let s = R::power_of_two(shifted);
    let below = s - R::ONE;
    let sum = p.fused::<A>(s, below);
    // Exact: the product has no more bits than p, and is smaller than s - 1 unless that is zero.
    let missed = p.fused::<A>(s, below - sum);
    (sum, (lost + rest).fused::<A>(s, missed))
}

#[inline(always)]
fn expm1_near<R: Real, A: Arch>(x: R) -> R {
    let (large, small) = expm1_parts::<R, A>(x);
    // The sum would lose the sign of zero.
    (large + small).signed_as(x)
}

/// Far above zero the 1 no longer counts.
#[inline(always)]
fn expm1<R: Real, A: Arch>(x: R) -> R {
    let far = exp::<R, A>(x);
    let near = expm1_near::<R, A>(x);
    if x > R::ONE { far } else { near }
}

macro_rules! exp {
    ($($T:ident)*) => { $(
        impl Exp for $T {
            #[inline(always)]
            fn is_beyond_exp(self, _result: Self) -> bool {
                (self.abs() >= <$T>::NEAR) | self.is_nan()
            }

            #[inline(always)]
            fn is_beyond_exp2(self, _result: Self) -> bool {
                (self.abs() >= <$T>::NEAR2) | self.is_nan()
            }

            #[inline(always)]
            fn is_beyond_expm1(self, _result: Self) -> bool {
                // Half as far, because the quotient multiplies by what is large already.
                (self.abs() >= 0.5 * <$T>::NEAR) | self.is_nan()
            }

            #[inline(always)]
            fn exp_near<A: Arch>(self) -> Self {
                exp_near::<$T, A>(self)
            }

            #[inline(always)]
            fn exp2_near<A: Arch>(self) -> Self {
                exp2_near::<$T, A>(self)
            }

            #[inline(always)]
            fn exp<A: Arch>(self) -> Self {
                exp::<$T, A>(self)
            }

            #[inline(always)]
            fn exp2<A: Arch>(self) -> Self {
                exp2::<$T, A>(self)
            }

            #[inline(always)]
            fn expm1_near<A: Arch>(self) -> Self {
                expm1_near::<$T, A>(self)
            }

            #[inline(always)]
            fn expm1<A: Arch>(self) -> Self {
                expm1::<$T, A>(self)
            }
        }
    )* };
}

exp! { f32 f64 }
