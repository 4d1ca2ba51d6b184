//! The error function.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;

/// The error function and its complement.
pub(crate) trait Erf: Quotient {
    fn erf<A: Arch>(self) -> Self;
    fn erfc<A: Arch>(self) -> Self;
}

impl Erf for f64 {
    #[inline(always)]
    fn erf<A: Arch>(self) -> Self {
        libm::erf(self)
    }

    #[inline(always)]
    fn erfc<A: Arch>(self) -> Self {
        libm::erfc(self)
    }
}

impl Erf for f32 {
    #[inline(always)]
    fn erf<A: Arch>(self) -> Self {
        Erf::erf::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn erfc<A: Arch>(self) -> Self {
        Erf::erfc::<A>(f64::from(self)) as f32
    }
}
