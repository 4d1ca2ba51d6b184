//! Division of floats with a whole quotient: `fmod`, its two relatives, and the quotient rounded down.
//!
//! Where the quotient has no more bits than a mantissa, `x - n y` is exact (fused, or by Dekker's product) and the rounded
//! quotient is off by one at most; the rest of the cases are left to `libm`, which divides bit by bit.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;
use crate::scalar::float::{Real, rest_of_product};
use crate::scalar::rounding::Rounding;

/// Divisions with a whole quotient.
pub(crate) trait Division: Quotient {
    /// Whether the quotient is too large, or an operand too extreme, for the `near` functions.
    fn is_beyond_division(self, y: Self, result: Self) -> bool;
    fn fmod_near<A: Arch>(self, y: Self) -> Self;
    fn modulo_near<A: Arch>(self, y: Self) -> Self;
    fn floor_div_near<A: Arch>(self, y: Self) -> Self;
    fn ieee_remainder_near<A: Arch>(self, y: Self) -> Self;
    /// What the quotient rounded towards zero leaves: has the sign of the dividend.
    fn fmod_far<A: Arch>(self, y: Self) -> Self;
    /// What `floor_div` leaves: has the sign of `y`; NaN where `y` is zero.
    fn modulo_far<A: Arch>(self, y: Self) -> Self;
    /// The quotient rounded down, consistent with the modulus. `x / y` where `y` is zero.
    fn floor_div_far<A: Arch>(self, y: Self) -> Self;
    /// `x - n y`, n the quotient rounded to the nearest, ties to even.
    fn ieee_remainder_far<A: Arch>(self, y: Self) -> Self;
}

/// The whole quotient and the rest of the sizes of two numbers.
#[inline(always)]
fn divide<R: Real + Rounding, A: Arch>(x: R, y: R) -> (R, R) {
    let (x, y) = (x.size(), y.size());
    let quotient = (x / y).trunc::<A>();
    let rest = rest_of_product::<R, A>(quotient, y, x);
    // Rounding the quotient can only have reached the next whole number.
    let over = rest < R::ZERO;
    (
        quotient - if over { R::ONE } else { R::ZERO },
        rest + if over { y } else { R::ZERO },
    )
}

#[inline(always)]
fn fmod<R: Real + Rounding, A: Arch>(x: R, y: R) -> R {
    divide::<R, A>(x, y).1.signed_as(x)
}

#[inline(always)]
fn modulo<R: Real + Rounding, A: Arch>(x: R, y: R) -> R {
    let rest = fmod::<R, A>(x, y);
    let differ = rest != R::ZERO && (rest < R::ZERO) != (y < R::ZERO);
    let signed = if rest == R::ZERO {
        rest.signed_as(y)
    } else {
        rest
    };
    if differ { rest + y } else { signed }
}

#[inline(always)]
fn floor_div<R: Real + Rounding, A: Arch>(x: R, y: R) -> R {
    let (quotient, rest) = divide::<R, A>(x, y);
    let below = quotient + if rest == R::ZERO { R::ZERO } else { R::ONE };
    if x.is_negative() == y.is_negative() {
        quotient
    } else {
        -below
    }
}

#[inline(always)]
fn ieee_remainder<R: Real + Rounding, A: Arch>(x: R, y: R) -> R {
    let (quotient, rest) = divide::<R, A>(x, y);
    let y = y.size();
    let half = R::of(0.5) * quotient;
    let odd = half.trunc::<A>() != half;
    let twice = rest + rest;
    let nearest = if twice > y || (twice == y && odd) {
        rest - y
    } else {
        rest
    };
    nearest.turned_by(x)
}

macro_rules! division {
    ($($T:ident $low:literal $high:literal $bits:literal $remainder:path;)*) => { $(
        impl Division for $T {
            #[inline(always)]
            fn is_beyond_division(self, y: Self, _result: Self) -> bool {
                let (x, y) = (self.abs(), y.abs());
                !((x < $high) & (y < $high) & (y > $low) & (x < y * $bits))
            }

            #[inline(always)]
            fn fmod_near<A: Arch>(self, y: Self) -> Self {
                fmod::<$T, A>(self, y)
            }

            #[inline(always)]
            fn modulo_near<A: Arch>(self, y: Self) -> Self {
                modulo::<$T, A>(self, y)
            }

            #[inline(always)]
            fn floor_div_near<A: Arch>(self, y: Self) -> Self {
                floor_div::<$T, A>(self, y)
            }

            #[inline(always)]
            fn ieee_remainder_near<A: Arch>(self, y: Self) -> Self {
                ieee_remainder::<$T, A>(self, y)
            }

            fn fmod_far<A: Arch>(self, y: Self) -> Self {
                self % y
            }

            fn modulo_far<A: Arch>(self, y: Self) -> Self {
                let rest = self % y;
                let differ = rest != 0.0 && (rest < 0.0) != (y < 0.0);
                let signed = if rest == 0.0 { rest.copysign(y) } else { rest };
                if differ { rest + y } else { signed }
            }

            fn floor_div_far<A: Arch>(self, y: Self) -> Self {
                let rest = self % y;
                let differ = rest != 0.0 && (rest < 0.0) != (y < 0.0);
                // Exact before rounding: the division below is off a whole number by rounding only.
                let quotient = (self - rest) / y - if differ { 1.0 } else { 0.0 };
                let whole = quotient.round_ties_even();
                let signed = if whole == 0.0 { (0.0 as $T).copysign(self / y) } else { whole };
                if y == 0.0 { self / y } else { signed }
            }

            fn ieee_remainder_far<A: Arch>(self, y: Self) -> Self {
                $remainder(self, y)
            }
        }
    )* };
}

// 2^24 and 2^53 are the first quotients with more bits than a mantissa.
division! {
    f32 1e-25 1e30 16777216.0 libm::remainderf;
    f64 1e-250 1e290 9007199254740992.0 libm::remainder;
}
