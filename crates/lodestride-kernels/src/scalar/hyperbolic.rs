//! Hyperbolic functions and their inverses.
//!
//! All of `sinh`, `cosh` and `tanh` come from `h = (exp(|x|) - 1) / 2`, kept in two parts: nothing cancels near zero and
//! nothing overflows early.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;
use crate::scalar::exp::{Exp, half_exp, half_expm1};
use crate::scalar::log::Log;
use crate::scalar::{divide_pairs, fast_two_sum, mul_add_f32, polynomial_f32, two_sum};

/// Hyperbolic functions.
pub(crate) trait Hyperbolic: Quotient {
    fn sinh<A: Arch>(self) -> Self;
    fn cosh<A: Arch>(self) -> Self;
    fn tanh<A: Arch>(self) -> Self;
    fn asinh<A: Arch>(self) -> Self;
    fn acosh<A: Arch>(self) -> Self;
    fn atanh<A: Arch>(self) -> Self;
}

/// `h` of the size of `x` where that is at most [`LARGE`].
#[inline(always)]
fn half<A: Arch>(x: f64) -> (f64, f64) {
    let size = x.abs();
    let (high, low) = half_expm1::<A>(if size > LARGE { LARGE } else { size });
    fast_two_sum(high, low)
}

/// `(tanh(x) - x) / x^3` as a polynomial in `x^2` for |x| <= 0.9.
const NEAR_F32: [f32; 7] = [
    -0.333_333_3,
    0.133_332_63,
    -0.053_953_89,
    0.021_759_41,
    -0.008_450_872,
    0.002_759_119_3,
    -0.000_520_352_7,
];

/// From here on `exp(-x)` no longer counts beside `exp(x)`.
const LARGE: f64 = 40.0;

impl Hyperbolic for f64 {
    #[inline(always)]
    fn sinh<A: Arch>(self) -> Self {
        let h = half::<A>(self);
        // h + h / (2h + 1).
        let (bottom, lost) = two_sum(1.0, 2.0 * h.0);
        let quotient = divide_pairs::<A>(h, (bottom, lost + 2.0 * h.1));
        let (sum, lost) = fast_two_sum(h.0, quotient);
        let near = sum + (lost + h.1);
        let size = if self.abs() > LARGE {
            half_exp::<A>(self.abs())
        } else {
            near
        };
        let result = size.copysign(self);
        if self.abs() < 1e-9 || self.is_nan() {
            self
        } else {
            result
        }
    }

    #[inline(always)]
    fn cosh<A: Arch>(self) -> Self {
        let h = half::<A>(self);
        // With e = 2h + 1: (e + 1/e) / 2 = h + 1/2 + 1 / (2e).
        let (bottom, lost) = two_sum(1.0, 2.0 * h.0);
        let inverse = divide_pairs::<A>((0.5, 0.0), (bottom, lost + 2.0 * h.1));
        let (large, rest) = two_sum(h.0, 0.5);
        let (sum, lost) = two_sum(large, inverse);
        let near = sum + (lost + (rest + h.1));
        let size = if self.abs() > LARGE {
            half_exp::<A>(self.abs())
        } else {
            near
        };
        if self.is_nan() { self } else { size }
    }

    #[inline(always)]
    fn tanh<A: Arch>(self) -> Self {
        let size = self.abs();
        let bounded = if size > 20.0 { 20.0 } else { size };
        // With h of 2x: (e - 1) / (e + 1) = h / (h + 1).
        let (large, small) = half_expm1::<A>(2.0 * bounded);
        let (high, low) = fast_two_sum(large, small);
        let (bottom, lost) = two_sum(1.0, high);
        let result = divide_pairs::<A>((high, low), (bottom, lost + low)).copysign(self);
        if size < 1e-9 || self.is_nan() {
            self
        } else {
            result
        }
    }

    #[inline(always)]
    fn asinh<A: Arch>(self) -> Self {
        libm::asinh(self)
    }

    #[inline(always)]
    fn acosh<A: Arch>(self) -> Self {
        libm::acosh(self)
    }

    #[inline(always)]
    fn atanh<A: Arch>(self) -> Self {
        libm::atanh(self)
    }
}

impl Hyperbolic for f32 {
    #[inline(always)]
    fn sinh<A: Arch>(self) -> Self {
        Hyperbolic::sinh::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn cosh<A: Arch>(self) -> Self {
        Hyperbolic::cosh::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn tanh<A: Arch>(self) -> Self {
        let size = self.abs();
        let square = self * self;
        let near = mul_add_f32::<A>(
            self * square,
            polynomial_f32::<A, 7>(square, &NEAR_F32),
            self,
        );
        // 1 - 2 / (exp(2x) + 1): nothing cancels from 0.9 on, and beyond 9.1 the result is 1.
        let bounded = if size > 9.1 { 9.1 } else { size };
        let far = 1.0 - 2.0 / (Exp::exp::<A>(bounded + bounded) + 1.0);
        if size < 0.9 { near } else { far.copysign(self) }
    }

    #[inline(always)]
    fn asinh<A: Arch>(self) -> Self {
        let size = f64::from(self).abs();
        let square = size * size;
        let result = Log::log1p::<A>(size + square / (1.0 + (square + 1.0).sqrt())) as f32;
        if self.abs() == f32::INFINITY {
            self
        } else {
            result.copysign(self)
        }
    }

    #[inline(always)]
    fn acosh<A: Arch>(self) -> Self {
        let above = f64::from(self) - 1.0;
        let result = Log::log1p::<A>(above + (above * (above + 2.0)).sqrt()) as f32;
        if self < 1.0 { f32::NAN } else { result }
    }

    #[inline(always)]
    fn atanh<A: Arch>(self) -> Self {
        let size = f64::from(self).abs();
        let result = 0.5 * Log::log1p::<A>(2.0 * size / (1.0 - size));
        (result as f32).copysign(self)
    }
}
