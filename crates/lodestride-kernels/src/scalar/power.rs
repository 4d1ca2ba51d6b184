//! Roots, powers and the division of floats with a whole quotient.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;
use crate::scalar::exp::Exp;
use crate::scalar::log::Log;
use crate::scalar::rounding::Rounding;
use crate::scalar::{mul_add, two_product};

/// Roots.
pub(crate) trait Power: Quotient {
    fn sqrt<A: Arch>(self) -> Self;
    /// `1 / sqrt(x)`.
    fn rsqrt<A: Arch>(self) -> Self;
    fn cbrt<A: Arch>(self) -> Self;
    /// `sqrt(x * x + y * y)` without overflow on the way.
    fn hypot<A: Arch>(self, y: Self) -> Self;
    /// `x - n y`, n the quotient rounded to the nearest, ties to even.
    fn ieee_remainder<A: Arch>(self, y: Self) -> Self;
}

impl Power for f64 {
    #[inline(always)]
    fn sqrt<A: Arch>(self) -> Self {
        f64::sqrt(self)
    }

    #[inline(always)]
    fn rsqrt<A: Arch>(self) -> Self {
        // The root and what its rounding lost, then one over the two.
        let root = f64::sqrt(self);
        let inverse = 1.0 / root;
        let (square, lost) = two_product::<A>(root, root);
        let rest = 0.5 * inverse * ((self - square) - lost);
        let (one, lost) = two_product::<A>(root, inverse);
        let correction = ((1.0 - one) - lost) - inverse * rest;
        let result = mul_add::<A>(inverse, correction, inverse);
        // Zero, infinity and denormals, of which the products make NaN or noise.
        let inside = (f64::MIN_POSITIVE..f64::INFINITY).contains(&self);
        if inside { result } else { inverse }
    }

    #[inline(always)]
    fn cbrt<A: Arch>(self) -> Self {
        // A third of the exponent (and of the mantissa, linearly) is a first guess to 5 bits; three of Halley's steps
        // triple the bits each, the last with the exact rest.
        let size = self.abs();
        let denormal = size < f64::MIN_POSITIVE;
        let normal = if denormal {
            size * 18_014_398_509_481_984.0
        } else {
            size
        };
        let guess = (normal.to_bits() >> 32) as u32 / 3 + 715_094_163;
        let mut t = f64::from_bits(u64::from(guess) << 32);
        for _ in 0..2 {
            let cube = t * t * t;
            t *= mul_add::<A>(2.0, normal, cube) / mul_add::<A>(2.0, cube, normal);
        }
        // Cut to 26 bits, the square is exact.
        let short = f64::from_bits((t.to_bits() + 0x0400_0000) & 0xffff_ffff_f800_0000);
        let ratio = normal / (short * short);
        let root = mul_add::<A>(short, (ratio - short) / (2.0 * short + ratio), short);
        let scaled = if denormal {
            root * (1.0 / 262_144.0)
        } else {
            root
        };
        let finite = if size < f64::INFINITY && size > 0.0 {
            scaled
        } else {
            size
        };
        finite.copysign(self)
    }

    #[inline(always)]
    fn hypot<A: Arch>(self, y: Self) -> Self {
        libm::hypot(self, y)
    }

    #[inline(always)]
    fn ieee_remainder<A: Arch>(self, y: Self) -> Self {
        libm::remainder(self, y)
    }
}

impl Power for f32 {
    #[inline(always)]
    fn sqrt<A: Arch>(self) -> Self {
        f32::sqrt(self)
    }

    #[inline(always)]
    fn rsqrt<A: Arch>(self) -> Self {
        (1.0 / f64::sqrt(f64::from(self))) as f32
    }

    #[inline(always)]
    fn cbrt<A: Arch>(self) -> Self {
        Power::cbrt::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn hypot<A: Arch>(self, y: Self) -> Self {
        let (x, y) = (f64::from(self), f64::from(y));
        let length = f64::sqrt(x * x + y * y) as f32;
        // An infinite side wins even over NaN.
        if x.abs() == f64::INFINITY || y.abs() == f64::INFINITY {
            f32::INFINITY
        } else {
            length
        }
    }

    #[inline(always)]
    fn ieee_remainder<A: Arch>(self, y: Self) -> Self {
        libm::remainderf(self, y)
    }
}

macro_rules! division {
    ($($T:ident)*) => { $(
        /// Division and powers of this float type.
        pub(crate) mod $T {
            /// The quotient rounded down, consistent with [`modulo`]: `floor_div(x, y) * y + modulo(x, y)` is `x` up to
            /// rounding. `x / y` where `y` is zero.
            #[inline(always)]
            pub(crate) fn floor_div(x: $T, y: $T) -> $T {
                let rest = x % y;
                let differ = rest != 0.0 && (rest < 0.0) != (y < 0.0);
                // Exact before rounding: the division below is off a whole number by rounding only.
                let quotient = (x - rest) / y - if differ { 1.0 } else { 0.0 };
                let whole = quotient.round_ties_even();
                let signed = if whole == 0.0 { (0.0 as $T).copysign(x / y) } else { whole };
                if y == 0.0 { x / y } else { signed }
            }

            /// The rest of [`floor_div`]: has the sign of `y`; NaN where `y` is zero.
            #[inline(always)]
            pub(crate) fn modulo(x: $T, y: $T) -> $T {
                let rest = x % y;
                let differ = rest != 0.0 && (rest < 0.0) != (y < 0.0);
                let signed = if rest == 0.0 { rest.copysign(y) } else { rest };
                if differ { rest + y } else { signed }
            }
        }
    )* };
}

division! { f32 f64 }

/// `x` to the power `y`, in f64.
#[inline(always)]
pub(crate) fn pow<A: Arch>(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// `x` to the power `y`, in f32: `2^(y log2 |x|)` in f64, then the sign.
#[inline(always)]
pub(crate) fn pow_f32<A: Arch>(base: f32, exponent: f32) -> f32 {
    let (x, y) = (f64::from(base), f64::from(exponent));
    let size = x.abs();
    let whole = Rounding::round::<A>(y) == y;
    let odd = whole && Rounding::round::<A>(0.5 * y) != 0.5 * y;
    let power = Exp::exp2::<A>(y * Log::log2::<A>(size));
    // Powers of one, and the power 0, are one whatever the other operand.
    let power = if size == 1.0 || y == 0.0 { 1.0 } else { power };
    let real = if x < 0.0 && !whole && size < f64::INFINITY {
        f64::NAN
    } else {
        power
    };
    let negative = odd && base.is_sign_negative();
    let result = if negative { -real } else { real };
    let unknown = (x.is_nan() && y != 0.0) || (y.is_nan() && x != 1.0);
    (if unknown { f64::NAN } else { result }) as f32
}
