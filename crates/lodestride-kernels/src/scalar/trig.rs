//! Sine, cosine, tangent.
//!
//! `x` is split into `n pi/2 + r`; the multiples of pi/2 are taken away in three parts, so that what is left is right to
//! more bits than a float has even next to a multiple. That holds up to [`FAR`]; what lies beyond is left to `libm`,
//! which reduces by as many digits of pi as it needs.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;
use crate::scalar::float::{Float, divide_pairs, fast_two_sum, horner, polynomial};

/// Circular functions.
pub(crate) trait Trig: Quotient {
    /// Whether the angle is too large for the reduction of the fast forms.
    fn is_far(self, result: Self) -> bool;
    fn sin_far<A: Arch>(self) -> Self;
    fn cos_far<A: Arch>(self) -> Self;
    fn tan_far<A: Arch>(self) -> Self;
    fn sin<A: Arch>(self) -> Self;
    fn cos<A: Arch>(self) -> Self;
    fn tan<A: Arch>(self) -> Self;
}

/// The largest angle of the vector path of f64: 2^19 quarter turns.
pub(crate) const FAR: f64 = 823_549.0;
/// pi/2 in three parts, each with all its bits.
pub(crate) const QUARTER: (f64, f64, f64) = (
    std::f64::consts::FRAC_PI_2,
    6.123_233_995_736_766e-17,
    -1.497_384_904_859_169_8e-33,
);
/// That of f32 with a fused multiply-add, as measured.
pub(crate) const FAR_F32: f32 = 100_000.0;

/// Constants of the circular functions.
pub(crate) trait TrigTable: Sized + 'static {
    /// `(sin(r) - r) / r^3` as a polynomial in `r^2` for |r| <= pi/4.
    const SIN: &'static [Self];
}

impl TrigTable for f64 {
    /// To 2^-58.
    const SIN: &'static [f64] = &[
        -0.166_666_666_666_666_4,
        0.008_333_333_333_323_988,
        -0.000_198_412_698_308_101_4,
        2.755_731_398_332_975e-6,
        -2.505_079_765_825_712e-8,
        1.589_882_867_119_281_3e-10,
    ];
}

impl TrigTable for f32 {
    /// To 2^-32.
    const SIN: &'static [f32] = &[-0.166_666_67, 0.008_333_383, -0.000_198_547, 2.849_635_6e-6];
}

/// `(cos(r) - 1 + r^2/2) / r^4` as a polynomial in `r^2` for |r| <= pi/4, to 2^-64.
const COS: &[f64] = &[
    0.041_666_666_666_666_6,
    -0.001_388_888_888_887_447,
    2.480_158_728_966_676_6e-5,
    -2.755_731_439_916_857e-7,
    2.087_572_897_216_361_2e-9,
    -1.135_991_569_000_045_9e-11,
];
/// `(cos(r) - 1) / r^2` of f32 as a polynomial in `r^2` for |r| <= pi/4, to 2^-33.
pub(crate) const COS_F32: [f32; 4] = [-0.5, 0.041_666_646, -0.001_388_730_1, 2.443_065_8e-5];
/// `(tan(r) - r) / r^3` of f32 as a polynomial in `r^2` for |r| <= pi/4, to 2^-29.
const TAN_F32: &[f32] = &[
    0.333_333_52,
    0.133_325_83,
    0.054_068_65,
    0.021_238_612,
    0.010_945_531,
    -4.615_702_3e-5,
    0.004_441_806_6,
];

/// `near - n (middle + last)` in two parts, by fused multiply-adds.
///
/// The short sum is enough: where `near` is the smaller one and they do not cancel, it loses a quarter of a last place; where
/// they do, their difference is exact.
#[inline(always)]
fn without<R: Float, A: Arch>(near: R, n: R, middle: R, last: R) -> (R, R) {
    // Rounded before it is taken away: so `near - r` is exact where they cancel, too, and the fused product next gives at once what
    // rounding both has lost.
    let r = near - n * middle;
    let rest = (-n).fused::<A>(middle, near - r);
    (r, (-n).fused::<A>(last, rest))
}

/// The quadrant (only its two low bits mean anything), and the angle in it as an unevaluated sum.
#[inline(always)]
fn reduce<A: Arch>(x: f64) -> (u64, f64, f64) {
    let shifted = x.fused::<A>(std::f64::consts::FRAC_2_PI, f64::WHOLE);
    let n = shifted - f64::WHOLE;
    let (r, rest) = if A::FMA {
        // The fused product leaves nothing behind.
        let near = (-n).fused::<A>(QUARTER.0, x);
        without::<f64, A>(near, n, QUARTER.1, QUARTER.2)
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
    let slope = (-0.5 * z).fused::<A>(rest, rest);
    let tail = cubed.fused::<A>(polynomial::<f64, A>(z, f64::SIN), slope);
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
        lost + (z * z).fused::<A>(polynomial::<f64, A>(z, COS), -(r * rest)),
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
    fn is_far(self, _result: Self) -> bool {
        self.abs() > FAR
    }

    fn sin_far<A: Arch>(self) -> Self {
        libm::sin(self)
    }

    fn cos_far<A: Arch>(self) -> Self {
        libm::cos(self)
    }

    fn tan_far<A: Arch>(self) -> Self {
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
        let (large, small) = divide_pairs::<f64, A>(numerator, denominator);
        if self == 0.0 { self } else { large + small }
    }
}

/// pi/2 in three parts for f32. Fused multiples of the first leave no rounding error: what is left of an angle has fewer
/// bits than a mantissa.
pub(crate) const QUARTER_F32: (f32, f32, f32) =
    (std::f32::consts::FRAC_PI_2, -4.371_139e-8, -1.715_124_5e-15);

/// Sine (quarter 0) or cosine (quarter 1) of f32 with fused multiply-adds: `base + base r^2 P` with the base 1 and the
/// polynomial of the cosine in the odd quadrants, r and that of the sine in the others. `size` is not negative; the result is
/// turned where `sign` is.
#[inline(always)]
fn sin_or_cos_f32<A: Arch>(size: f32, quarter: u32, sign: f32) -> f32 {
    let shifted = size.fused::<A>(std::f32::consts::FRAC_2_PI, f32::WHOLE);
    let n = shifted - f32::WHOLE;
    let near = (-n).fused::<A>(QUARTER_F32.0, size);
    let closer = (-n).fused::<A>(QUARTER_F32.1, near);
    let r = (-n).fused::<A>(QUARTER_F32.2, closer);
    let quadrant = shifted.to_bits().wrapping_add(quarter);
    let odd = quadrant & 1 == 1;
    let pick = |i: usize| if odd { COS_F32[i] } else { f32::SIN[i] };
    let z = r * r;
    let sum = pick(3)
        .fused::<A>(z, pick(2))
        .fused::<A>(z, pick(1))
        .fused::<A>(z, pick(0));
    let base = if odd { 1.0 } else { r };
    let value = (base * z).fused::<A>(sum, base);
    // Bit 1 of the quadrant is where the sign is.
    value.turned_by(f32::from_bits((quadrant << 30) ^ sign.to_bits()))
}

#[inline(always)]
fn tan_f32<A: Arch>(x: f32) -> f32 {
    let shifted = x.fused::<A>(std::f32::consts::FRAC_2_PI, f32::WHOLE);
    let n = shifted - f32::WHOLE;
    let near = (-n).fused::<A>(QUARTER_F32.0, x);
    let (r, rest) = without::<f32, A>(near, n, QUARTER_F32.1, QUARTER_F32.2);
    let z = r * r;
    // The tangent's derivative carries the rest.
    let slope = z.fused::<A>(rest, rest);
    let tail = (z * r).fused::<A>(horner::<f32, A>(z, TAN_F32, 0, 1), slope);
    let (tan, lost) = fast_two_sum(r, tail);
    // A quarter turn on, the tangent is -1 / tan.
    let inverse = -1.0 / tan;
    let correction = inverse.fused::<A>(lost, inverse.fused::<A>(tan, 1.0));
    let turned = inverse.fused::<A>(correction, inverse);
    let value = if f32::is_odd(shifted) { turned } else { tan };
    // The sum would lose the sign of zero.
    if x == 0.0 { x } else { value }
}

impl Trig for f32 {
    #[inline(always)]
    fn is_far(self, _result: Self) -> bool {
        self.abs() > FAR_F32
    }

    fn sin_far<A: Arch>(self) -> Self {
        libm::sin(f64::from(self)) as f32
    }

    fn cos_far<A: Arch>(self) -> Self {
        libm::cos(f64::from(self)) as f32
    }

    fn tan_far<A: Arch>(self) -> Self {
        libm::tan(f64::from(self)) as f32
    }

    #[inline(always)]
    fn sin<A: Arch>(self) -> Self {
        if !A::FMA {
            return Trig::sin::<A>(f64::from(self)) as f32;
        }
        sin_or_cos_f32::<A>(self.abs(), 0, self)
    }

    #[inline(always)]
    fn cos<A: Arch>(self) -> Self {
        if !A::FMA {
            return Trig::cos::<A>(f64::from(self)) as f32;
        }
        sin_or_cos_f32::<A>(self.abs(), 1, 0.0)
    }

    #[inline(always)]
    fn tan<A: Arch>(self) -> Self {
        if !A::FMA {
            return Trig::tan::<A>(f64::from(self)) as f32;
        }
        tan_f32::<A>(self)
    }
}
