//! Inverse circular functions.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;

/// Angles from their sine, cosine and tangent.
pub(crate) trait InverseTrig: Quotient {
    fn asin<A: Arch>(self) -> Self;
    fn acos<A: Arch>(self) -> Self;
    fn atan<A: Arch>(self) -> Self;
    /// The angle of the point (`y`, `self`): `self` is the ordinate.
    fn atan2<A: Arch>(self, y: Self) -> Self;
}

impl InverseTrig for f64 {
    #[inline(always)]
    fn asin<A: Arch>(self) -> Self {
        libm::asin(self)
    }

    #[inline(always)]
    fn acos<A: Arch>(self) -> Self {
        libm::acos(self)
    }

    #[inline(always)]
    fn atan<A: Arch>(self) -> Self {
        libm::atan(self)
    }

    #[inline(always)]
    fn atan2<A: Arch>(self, y: Self) -> Self {
        libm::atan2(self, y)
    }
}

impl InverseTrig for f32 {
    #[inline(always)]
    fn asin<A: Arch>(self) -> Self {
        InverseTrig::asin::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn acos<A: Arch>(self) -> Self {
        InverseTrig::acos::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn atan<A: Arch>(self) -> Self {
        InverseTrig::atan::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn atan2<A: Arch>(self, y: Self) -> Self {
        InverseTrig::atan2::<A>(f64::from(self), f64::from(y)) as f32
    }
}
