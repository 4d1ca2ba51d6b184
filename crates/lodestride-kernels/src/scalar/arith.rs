//! Addition to absolute difference: arithmetic every number has. Floor division and powers of integers are in
//! `integer.rs`, of floats in `division.rs` and `power.rs`.
//!
//! Integers wrap; dividing an integer by zero gives zero. Of `bool`, the sum is "or" and the product "and".

use crate::isa::Arch;
use crate::scalar::blocks::Blocks;
use crate::scalar::division::Division;
use crate::scalar::power_pieces::Pow;
use crate::scalar::{BLOCK, integer, power, reciprocal};
use lodestride_buffer::{Bool, Element};

/// Arithmetic that `bool` has, too.
pub(crate) trait Ring: Element {
    fn add<A: Arch>(self, y: Self) -> Self;
    fn mul<A: Arch>(self, y: Self) -> Self;
    /// The larger; NaN if either is NaN.
    fn max<A: Arch>(self, y: Self) -> Self;
    /// The smaller; NaN if either is NaN.
    fn min<A: Arch>(self, y: Self) -> Self;
    /// Distance from zero.
    fn abs<A: Arch>(self) -> Self;
}

/// Arithmetic of integers and floats.
pub(crate) trait Number: Ring {
    const ZERO: Self;
    const ONE: Self;

    /// A small constant.
    fn constant(value: i8) -> Self;
    fn sub<A: Arch>(self, y: Self) -> Self;
    fn neg<A: Arch>(self) -> Self;
    /// -1, 0 or 1; NaN for NaN.
    fn sign<A: Arch>(self) -> Self;
    /// The quotient rounded down.
    fn floor_div<A: Arch>(self, y: Self) -> Self;
    /// What `floor_div` leaves: has the sign of the divisor.
    fn modulo<A: Arch>(self, y: Self) -> Self;
    /// What the quotient rounded towards zero leaves: has the sign of the dividend.
    fn fmod<A: Arch>(self, y: Self) -> Self;
    fn pow<A: Arch>(self, y: Self) -> Self;

    /// Whether [`Number::floor_div`], [`Number::modulo`] or [`Number::fmod`] could not do this pair.
    #[inline(always)]
    fn is_beyond_division(self, _y: Self, _result: Self) -> bool {
        false
    }

    /// [`Number::floor_div`] of any pair.
    #[inline(always)]
    fn floor_div_far<A: Arch>(self, y: Self) -> Self {
        self.floor_div::<A>(y)
    }

    /// [`Number::modulo`] of any pair.
    #[inline(always)]
    fn modulo_far<A: Arch>(self, y: Self) -> Self {
        self.modulo::<A>(y)
    }

    /// [`Number::fmod`] of any pair.
    #[inline(always)]
    fn fmod_far<A: Arch>(self, y: Self) -> Self {
        self.fmod::<A>(y)
    }

    /// [`Number::floor_div`] by one number, as [`Binary::by_number`](crate::scalar::Binary::by_number).
    #[inline(always)]
    fn floor_div_by<A: Arch>(_dst: &mut [Self], _x: &[Self], _y: Self) -> bool {
        false
    }

    /// [`Number::modulo`] by one number.
    #[inline(always)]
    fn modulo_by<A: Arch>(_dst: &mut [Self], _x: &[Self], _y: Self) -> bool {
        false
    }

    /// [`Number::fmod`] by one number.
    #[inline(always)]
    fn fmod_by<A: Arch>(_dst: &mut [Self], _x: &[Self], _y: Self) -> bool {
        false
    }

    /// Whether [`Number::pow`] could not do this pair.
    #[inline(always)]
    fn is_beyond_pow(self, _y: Self, _result: Self) -> bool {
        false
    }

    /// [`Number::pow`] of any pair.
    #[inline(always)]
    fn pow_any<A: Arch>(self, y: Self) -> Self {
        self.pow::<A>(y)
    }

    /// [`Number::pow`] of a block, as [`Binary::block`](crate::scalar::Binary::block).
    #[inline(always)]
    fn pow_block<A: Arch>(
        _dst: &mut [Self; BLOCK],
        _x: &[Self; BLOCK],
        _y: &[Self; BLOCK],
    ) -> Option<bool> {
        None
    }

    #[inline(always)]
    fn rsub<A: Arch>(self, y: Self) -> Self {
        y.sub::<A>(self)
    }

    #[inline(always)]
    fn square<A: Arch>(self) -> Self {
        self.mul::<A>(self)
    }

    #[inline(always)]
    fn cube<A: Arch>(self) -> Self {
        self.mul::<A>(self).mul::<A>(self)
    }

    #[inline(always)]
    fn one_minus<A: Arch>(self) -> Self {
        Self::ONE.sub::<A>(self)
    }

    #[inline(always)]
    fn squared_difference<A: Arch>(self, y: Self) -> Self {
        self.sub::<A>(y).square::<A>()
    }

    /// The larger of the two distances from zero.
    #[inline(always)]
    fn abs_max<A: Arch>(self, y: Self) -> Self {
        self.abs::<A>().max::<A>(y.abs::<A>())
    }

    /// The smaller of the two distances from zero.
    #[inline(always)]
    fn abs_min<A: Arch>(self, y: Self) -> Self {
        self.abs::<A>().min::<A>(y.abs::<A>())
    }
}

/// What only floats do with one instruction.
pub(crate) trait Quotient: Number + Blocks {
    fn div<A: Arch>(self, y: Self) -> Self;

    #[inline(always)]
    fn rdiv<A: Arch>(self, y: Self) -> Self {
        y.div::<A>(self)
    }

    #[inline(always)]
    fn reciprocal<A: Arch>(self) -> Self {
        Self::ONE.div::<A>(self)
    }
}

impl Ring for Bool {
    #[inline(always)]
    fn add<A: Arch>(self, y: Self) -> Self {
        Bool::from(bool::from(self) | bool::from(y))
    }

    #[inline(always)]
    fn mul<A: Arch>(self, y: Self) -> Self {
        Bool::from(bool::from(self) & bool::from(y))
    }

    #[inline(always)]
    fn max<A: Arch>(self, y: Self) -> Self {
        self.add::<A>(y)
    }

    #[inline(always)]
    fn min<A: Arch>(self, y: Self) -> Self {
        self.mul::<A>(y)
    }

    #[inline(always)]
    fn abs<A: Arch>(self) -> Self {
        Bool::from(bool::from(self))
    }
}

macro_rules! integers {
    ($($T:ident $signed:literal)*) => { $(
        impl Ring for $T {
            #[inline(always)]
            fn add<A: Arch>(self, y: Self) -> Self {
                self.wrapping_add(y)
            }

            #[inline(always)]
            fn mul<A: Arch>(self, y: Self) -> Self {
                self.wrapping_mul(y)
            }

            #[inline(always)]
            fn max<A: Arch>(self, y: Self) -> Self {
                if self > y { self } else { y }
            }

            #[inline(always)]
            fn min<A: Arch>(self, y: Self) -> Self {
                if self < y { self } else { y }
            }

            #[inline(always)]
            fn abs<A: Arch>(self) -> Self {
                if self > <$T>::MIN && self < 0 as $T { self.wrapping_neg() } else { self }
            }
        }

        impl Number for $T {
            const ZERO: Self = 0;
            const ONE: Self = 1;

            #[inline(always)]
            fn constant(value: i8) -> Self {
                value as $T
            }

            #[inline(always)]
            fn sub<A: Arch>(self, y: Self) -> Self {
                self.wrapping_sub(y)
            }

            #[inline(always)]
            fn neg<A: Arch>(self) -> Self {
                self.wrapping_neg()
            }

            #[inline(always)]
            fn sign<A: Arch>(self) -> Self {
                let positive = (self > 0) as $T;
                if $signed && self < 0 as $T { (0 as $T).wrapping_sub(1) } else { positive }
            }

            #[inline(always)]
            fn floor_div<A: Arch>(self, y: Self) -> Self {
                integer::$T::floor_div::<A>(self, y)
            }

            #[inline(always)]
            fn modulo<A: Arch>(self, y: Self) -> Self {
                integer::$T::modulo::<A>(self, y)
            }

            #[inline(always)]
            fn fmod<A: Arch>(self, y: Self) -> Self {
                integer::$T::fmod::<A>(self, y)
            }

            #[inline(always)]
            fn is_beyond_division(self, y: Self, _result: Self) -> bool {
                integer::$T::is_far(self, y)
            }

            #[inline(always)]
            fn floor_div_by<A: Arch>(dst: &mut [Self], x: &[Self], y: Self) -> bool {
                reciprocal::$T::floor_div_by::<A>(dst, x, y)
            }

            #[inline(always)]
            fn modulo_by<A: Arch>(dst: &mut [Self], x: &[Self], y: Self) -> bool {
                reciprocal::$T::modulo_by::<A>(dst, x, y)
            }

            #[inline(always)]
            fn fmod_by<A: Arch>(dst: &mut [Self], x: &[Self], y: Self) -> bool {
                reciprocal::$T::fmod_by::<A>(dst, x, y)
            }

            #[inline(always)]
            fn pow<A: Arch>(self, y: Self) -> Self {
                integer::$T::pow(self, y)
            }
        }
    )* };
}

integers! { u8 false i8 true u16 false i16 true u32 false i32 true u64 false i64 true }

macro_rules! floats {
    ($($T:ident $look_up:ident)*) => { $(
        impl Ring for $T {
            #[inline(always)]
            fn add<A: Arch>(self, y: Self) -> Self {
                self + y
            }

            #[inline(always)]
            fn mul<A: Arch>(self, y: Self) -> Self {
                self * y
            }

            #[inline(always)]
            fn max<A: Arch>(self, y: Self) -> Self {
                if self > y || self.is_nan() { self } else { y }
            }

            #[inline(always)]
            fn min<A: Arch>(self, y: Self) -> Self {
                if self < y || self.is_nan() { self } else { y }
            }

            #[inline(always)]
            fn abs<A: Arch>(self) -> Self {
                <$T>::abs(self)
            }
        }

        impl Number for $T {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            #[inline(always)]
            fn constant(value: i8) -> Self {
                Self::from(value)
            }

            #[inline(always)]
            fn sub<A: Arch>(self, y: Self) -> Self {
                self - y
            }

            #[inline(always)]
            fn neg<A: Arch>(self) -> Self {
                -self
            }

            #[inline(always)]
            fn sign<A: Arch>(self) -> Self {
                let one = (1.0 as $T).copysign(self);
                if self == 0.0 || self.is_nan() { self } else { one }
            }

            #[inline(always)]
            fn floor_div<A: Arch>(self, y: Self) -> Self {
                Division::floor_div_near::<A>(self, y)
            }

            #[inline(always)]
            fn modulo<A: Arch>(self, y: Self) -> Self {
                Division::modulo_near::<A>(self, y)
            }

            #[inline(always)]
            fn fmod<A: Arch>(self, y: Self) -> Self {
                Division::fmod_near::<A>(self, y)
            }

            #[inline(always)]
            fn is_beyond_division(self, y: Self, result: Self) -> bool {
                Division::is_beyond_division(self, y, result)
            }

            fn floor_div_far<A: Arch>(self, y: Self) -> Self {
                Division::floor_div_far::<A>(self, y)
            }

            fn modulo_far<A: Arch>(self, y: Self) -> Self {
                Division::modulo_far::<A>(self, y)
            }

            fn fmod_far<A: Arch>(self, y: Self) -> Self {
                Division::fmod_far::<A>(self, y)
            }

            #[inline(always)]
            fn pow<A: Arch>(self, y: Self) -> Self {
                power::$T::pow_near::<A>(self, y)
            }

            #[inline(always)]
            fn is_beyond_pow(self, y: Self, result: Self) -> bool {
                power::$T::is_beyond_pow(self, y, result)
            }

            #[inline(always)]
            fn pow_any<A: Arch>(self, y: Self) -> Self {
                power::$T::pow::<A>(self, y)
            }

            #[inline(always)]
            fn pow_block<A: Arch>(
                dst: &mut [Self; BLOCK],
                x: &[Self; BLOCK],
                y: &[Self; BLOCK],
            ) -> Option<bool> {
                A::$look_up::<Pow>(dst, x, y)
            }
        }

        impl Quotient for $T {
            #[inline(always)]
            fn div<A: Arch>(self, y: Self) -> Self {
                self / y
            }
        }
    )* };
}

floats! {
    f32 look_up_pairs_f32
    f64 look_up_pairs_f64
}
