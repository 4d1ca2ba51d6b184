//! Roots, powers and the division of floats with a whole quotient.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;

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
        1.0 / f64::sqrt(self)
    }

    #[inline(always)]
    fn cbrt<A: Arch>(self) -> Self {
        libm::cbrt(self)
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
    ($($T:ident $power:path)*) => { $(
        /// Division and powers of this float type.
        pub(crate) mod $T {
            use crate::isa::Arch;

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

            /// `x` to the power `y`.
            #[inline(always)]
            pub(crate) fn pow<A: Arch>(x: $T, y: $T) -> $T {
                $power(f64::from(x), f64::from(y)) as $T
            }
        }
    )* };
}

division! { f32 libm::pow f64 libm::pow }
