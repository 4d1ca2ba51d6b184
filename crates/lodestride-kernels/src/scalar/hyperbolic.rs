//! Hyperbolic functions and their inverses.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;

/// Hyperbolic functions.
pub(crate) trait Hyperbolic: Quotient {
    fn sinh<A: Arch>(self) -> Self;
    fn cosh<A: Arch>(self) -> Self;
    fn tanh<A: Arch>(self) -> Self;
    fn asinh<A: Arch>(self) -> Self;
    fn acosh<A: Arch>(self) -> Self;
    fn atanh<A: Arch>(self) -> Self;
}

impl Hyperbolic for f64 {
    #[inline(always)]
    fn sinh<A: Arch>(self) -> Self {
        libm::sinh(self)
    }

    #[inline(always)]
    fn cosh<A: Arch>(self) -> Self {
        libm::cosh(self)
    }

    #[inline(always)]
    fn tanh<A: Arch>(self) -> Self {
        libm::tanh(self)
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
        Hyperbolic::tanh::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn asinh<A: Arch>(self) -> Self {
        Hyperbolic::asinh::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn acosh<A: Arch>(self) -> Self {
        Hyperbolic::acosh::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn atanh<A: Arch>(self) -> Self {
        Hyperbolic::atanh::<A>(f64::from(self)) as f32
    }
}
