//! Sine, cosine, tangent.
//!
//! `x` is split into `n pi/2 + r`; the multiples of pi/2 are taken away in three parts, so that what is left is right to
//! more bits than a float has even next to a multiple. That holds up to [`FAR`]; what lies beyond is left to `libm`,
//! which reduces by as many digits of pi as it needs.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;
use crate::scalar::{divide_pairs, fast_two_sum, mul_add, mul_add_f32, polynomial, polynomial_f32};

/// Circular functions.
pub(crate) trait Trig: Quotient {
    /// Whether the angle is too large for the reduction of the vector path.
    fn is_far(self) -> bool;
    fn sin_far(self) -> Self;
    fn cos_far(self) -> Self;
    fn tan_far(self) -> Self;
    fn sin<A: Arch>(self) -> Self;
    fn cos<A: Arch>(self) -> Self;
    fn tan<A: Arch>(self) -> Self;
}

/// The largest angle of the vector path of f64: 2^19 quarter turns.
const FAR: f64 = 823_549.0;
/// That of f32 with a fused multiply-add, as measured.
const FAR_F32: f32 = 100_000.0;

/// `(sin(r) - r) / r^3` and `(cos(r) - 1 + r^2/2) / r^4` as polynomials in `r^2`, for |r| <= pi/4.
const SIN: [f64; 6] = [
    -0.166_666_666_666_666_66,
    0.008_333_333_333_330_946,
    -0.000_198_412_698_367_549_7,
    2.755_731_610_068_303e-6,
    -2.505_113_145_542_795e-8,
    1.591_810_123_027_412e-10,
];
const COS: [f64; 6] = [
    0.041_666_666_666_666_664,
    -0.001_388_888_888_888_739_5,
    2.480_158_729_876_343_3e-5,
    -2.755_731_727_056_032_6e-7,
    2.087_614_602_468_974_7e-9,
    -1.138_261_486_855_632_5e-11,
];
const SIN_F32: [f32; 4] = [
    -0.166_666_67,
    0.008_333_332,
    -0.000_198_400_86,
    2.724_986_4e-6,
];
const COS_F32: [f32; 4] = [
    0.041_666_668,
    -0.001_388_888_8,
    2.480_06e-5,
    -2.730_090_8e-7,
];

/// 1.5 * 2^52 and 1.5 * 2^23: adding them drops the fraction and leaves the whole number in the low bits.
const WHOLE: f64 = 6_755_399_441_055_744.0;
const WHOLE_F32: f32 = 12_582_912.0;

/// The quadrant (only its two low bits mean anything), and the angle in it as an unevaluated sum.
#[inline(always)]
fn reduce<A: Arch>(x: f64) -> (u64, f64, f64) {
    let shifted = mul_add::<A>(x, std::f64::consts::FRAC_2_PI, WHOLE);
    let n = shifted - WHOLE;
    let (r, rest) = if A::FMA {
        // Each part has all its bits; the fused product leaves nothing behind.
        let near = mul_add::<A>(-n, std::f64::consts::FRAC_PI_2, x);
        let r = mul_add::<A>(-n, 6.123_233_995_736_766e-17, near);
        let rest = mul_add::<A>(-n, 6.123_233_995_736_766e-17, near - r);
        (r, mul_add::<A>(-n, -1.497_384_904_859_169_8e-33, rest))
    } else {
        // The first two parts have 33 bits, so their products with n are exact.
        let near = x - n * 1.570_796_326_734_125_6;
        let middle = n * 6.077_100_506_303_966e-11;
        let closer = near - middle;
        let last = n * 2.022_266_248_795_950_6e-21 - ((near - closer) - middle);
        let r = closer - last;
        (r, (closer - r) - last)
    };
    (shifted.to_bits(), r, rest)
}

/// `sin(r + rest)` as a large and a small part.
#[inline(always)]
fn sin_parts<A: Arch>(r: f64, rest: f64) -> (f64, f64) {
    let z = r * r;
    let cubed = z * r;
    // The derivative carries the rest: cos(r) is 1 - z/2 to the precision that needs.
    let tail = mul_add::<A>(
        cubed,
        polynomial::<A, 6>(z, &SIN),
        mul_add::<A>(-0.5 * z, rest, rest),
    );
    (r, tail)
}

/// `cos(r + rest)` as a large and a small part.
#[inline(always)]
fn cos_parts<A: Arch>(r: f64, rest: f64) -> (f64, f64) {
    let z = r * r;
    let half = 0.5 * z;
    let (large, lost) = fast_two_sum(1.0, -half);
    (
        large,
        lost + mul_add::<A>(z * z, polynomial::<A, 6>(z, &COS), -(r * rest)),
    )
}

/// Turns the sign where bit 1 of the quadrant is set.
#[inline(always)]
fn signed(value: f64, quadrant: u64) -> f64 {
    f64::from_bits(value.to_bits() ^ ((quadrant & 2) << 62))
}

#[inline(always)]
fn sin_or_cos<A: Arch>(x: f64, quarter: u64) -> f64 {
    let (n, r, rest) = reduce::<A>(x);
    let quadrant = n.wrapping_add(quarter);
    let (sin, cos) = (sin_parts::<A>(r, rest), cos_parts::<A>(r, rest));
    let odd = quadrant & 1 == 1;
    signed(if odd { cos.0 + cos.1 } else { sin.0 + sin.1 }, quadrant)
}

impl Trig for f64 {
    #[inline(always)]
    fn is_far(self) -> bool {
        self.abs() > FAR
    }

    fn sin_far(self) -> Self {
        libm::sin(self)
    }

    fn cos_far(self) -> Self {
        libm::cos(self)
    }

    fn tan_far(self) -> Self {
        libm::tan(self)
    }

    #[inline(always)]
    fn sin<A: Arch>(self) -> Self {
        let result = sin_or_cos::<A>(self, 0);
        // Keeps the sign of zero.
        if self == 0.0 { self } else { result }
    }

    #[inline(always)]
    fn cos<A: Arch>(self) -> Self {
        sin_or_cos::<A>(self, 1)
    }

    #[inline(always)]
    fn tan<A: Arch>(self) -> Self {
        let (n, r, rest) = reduce::<A>(self);
        let (sin, cos) = (sin_parts::<A>(r, rest), cos_parts::<A>(r, rest));
        let odd = n & 1 == 1;
        let (sin, cos) = (fast_two_sum(sin.0, sin.1), fast_two_sum(cos.0, cos.1));
        // A quarter turn on, the tangent is -cos / sin.
        let numerator = if odd { (-cos.0, -cos.1) } else { sin };
        let denominator = if odd { sin } else { cos };
        let result = divide_pairs::<A>(numerator, denominator);
        if self == 0.0 { self } else { result }
    }
}

/// Sine (quarter 0) or cosine (quarter 1) of f32, by f32 arithmetic with fused multiply-adds.
#[inline(always)]
fn sin_or_cos_f32<A: Arch>(x: f32, quarter: u32) -> f32 {
    let shifted = mul_add_f32::<A>(x, std::f32::consts::FRAC_2_PI, WHOLE_F32);
    let n = shifted - WHOLE_F32;
    let near = mul_add_f32::<A>(-n, 1.570_796_4, x);
    let r = mul_add_f32::<A>(-n, -4.371_139e-8, near);
    // The third part counts only where r is small; rounded into r it would cost half a unit everywhere.
    let rest = n * 1.715_124_5e-15;
    let z = r * r;
    let sin = r + mul_add_f32::<A>(z * r, polynomial_f32::<A, 4>(z, &SIN_F32), rest);
    let half = 0.5 * z;
    let large = 1.0 - half;
    let tail = mul_add_f32::<A>(z * z, polynomial_f32::<A, 4>(z, &COS_F32), -(r * rest));
    let cos = large + (((1.0 - large) - half) + tail);
    let quadrant = shifted.to_bits().wrapping_add(quarter);
    let value = if quadrant & 1 == 1 { cos } else { sin };
    f32::from_bits(value.to_bits() ^ ((quadrant & 2) << 30))
}

impl Trig for f32 {
    #[inline(always)]
    fn is_far(self) -> bool {
        self.abs() > FAR_F32
    }

    fn sin_far(self) -> Self {
        libm::sin(f64::from(self)) as f32
    }

    fn cos_far(self) -> Self {
        libm::cos(f64::from(self)) as f32
    }

    fn tan_far(self) -> Self {
        libm::tan(f64::from(self)) as f32
    }

    #[inline(always)]
    fn sin<A: Arch>(self) -> Self {
        if !A::FMA {
            return Trig::sin::<A>(f64::from(self)) as f32;
        }
        let result = sin_or_cos_f32::<A>(self, 0);
        if self == 0.0 { self } else { result }
    }

    #[inline(always)]
    fn cos<A: Arch>(self) -> Self {
        if !A::FMA {
            return Trig::cos::<A>(f64::from(self)) as f32;
        }
        sin_or_cos_f32::<A>(self, 1)
    }

    #[inline(always)]
    fn tan<A: Arch>(self) -> Self {
        Trig::tan::<A>(f64::from(self)) as f32
    }
}
