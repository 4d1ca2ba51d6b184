//! Logarithms.

use crate::isa::Arch;
use crate::scalar::arith::{Quotient, Ring};
use crate::scalar::exp::Exp;

/// The logarithm family.
pub(crate) trait Log: Quotient {
    fn log<A: Arch>(self) -> Self;
    fn log2<A: Arch>(self) -> Self;
    fn log10<A: Arch>(self) -> Self;
    /// `log(1 + x)` without cancellation near zero.
    fn log1p<A: Arch>(self) -> Self;
    /// `log(exp(x) + exp(y))` without overflow.
    fn log_add_exp<A: Arch>(self, y: Self) -> Self;
}

impl Log for f64 {
    #[inline(always)]
    fn log<A: Arch>(self) -> Self {
        libm::log(self)
    }

    #[inline(always)]
    fn log2<A: Arch>(self) -> Self {
        libm::log2(self)
    }

    #[inline(always)]
    fn log10<A: Arch>(self) -> Self {
        libm::log10(self)
    }

    #[inline(always)]
    fn log1p<A: Arch>(self) -> Self {
        libm::log1p(self)
    }

    #[inline(always)]
    fn log_add_exp<A: Arch>(self, y: Self) -> Self {
        let (large, small) = (Ring::max::<A>(self, y), Ring::min::<A>(self, y));
        let sum = large + Log::log1p::<A>(Exp::exp::<A>(small - large));
        // Equal infinities have no difference.
        if self == y {
            large + std::f64::consts::LN_2
        } else {
            sum
        }
    }
}

impl Log for f32 {
    #[inline(always)]
    fn log<A: Arch>(self) -> Self {
        Log::log::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn log2<A: Arch>(self) -> Self {
        Log::log2::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn log10<A: Arch>(self) -> Self {
        Log::log10::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn log1p<A: Arch>(self) -> Self {
        Log::log1p::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn log_add_exp<A: Arch>(self, y: Self) -> Self {
        Log::log_add_exp::<A>(f64::from(self), f64::from(y)) as f32
    }
}
