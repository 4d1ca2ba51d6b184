//! Exponential functions.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;

/// The exponential family.
pub(crate) trait Exp: Quotient {
    fn exp<A: Arch>(self) -> Self;
    fn exp2<A: Arch>(self) -> Self;
    /// `exp(x) - 1` without cancellation near zero.
    fn expm1<A: Arch>(self) -> Self;
}

impl Exp for f64 {
    #[inline(always)]
    fn exp<A: Arch>(self) -> Self {
        libm::exp(self)
    }

    #[inline(always)]
    fn exp2<A: Arch>(self) -> Self {
        libm::exp2(self)
    }

    #[inline(always)]
    fn expm1<A: Arch>(self) -> Self {
        libm::expm1(self)
    }
}

impl Exp for f32 {
    #[inline(always)]
    fn exp<A: Arch>(self) -> Self {
        Exp::exp::<A>(f64::from(self)) as f32
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
