//! Sine, cosine, tangent.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;

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

impl Trig for f64 {
    #[inline(always)]
    fn is_far(self) -> bool {
        self.abs() > 1e5
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
        libm::sin(self)
    }

    #[inline(always)]
    fn cos<A: Arch>(self) -> Self {
        libm::cos(self)
    }

    #[inline(always)]
    fn tan<A: Arch>(self) -> Self {
        libm::tan(self)
    }
}

impl Trig for f32 {
    #[inline(always)]
    fn is_far(self) -> bool {
        self.abs() > 1e5
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
        Trig::sin::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn cos<A: Arch>(self) -> Self {
        Trig::cos::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn tan<A: Arch>(self) -> Self {
        Trig::tan::<A>(f64::from(self)) as f32
    }
}
