//! Operations on the bits of integers; of `bool` they are the logical ones.

use crate::isa::Arch;
use lodestride_buffer::{Bool, Element};

/// Bits, of integers and `bool`.
pub(crate) trait Bits: Element {
    fn bit_and<A: Arch>(self, y: Self) -> Self;
    fn bit_or<A: Arch>(self, y: Self) -> Self;
    fn bit_xor<A: Arch>(self, y: Self) -> Self;
    fn bit_not<A: Arch>(self) -> Self;
}

/// Shifts, of integers. A shift by the width or more, or by a negative number, moves every bit out.
pub(crate) trait Shift: Bits {
    fn shift_left<A: Arch>(self, y: Self) -> Self;
    /// Keeps the sign of signed integers.
    fn shift_right<A: Arch>(self, y: Self) -> Self;
}

impl Bits for Bool {
    #[inline(always)]
    fn bit_and<A: Arch>(self, y: Self) -> Self {
        Bool::from(bool::from(self) & bool::from(y))
    }

    #[inline(always)]
    fn bit_or<A: Arch>(self, y: Self) -> Self {
        Bool::from(bool::from(self) | bool::from(y))
    }

    #[inline(always)]
    fn bit_xor<A: Arch>(self, y: Self) -> Self {
        Bool::from(bool::from(self) ^ bool::from(y))
    }

    #[inline(always)]
    fn bit_not<A: Arch>(self) -> Self {
        Bool::from(!bool::from(self))
    }
}

macro_rules! integers {
    ($($T:ident)*) => { $(
        impl Bits for $T {
            #[inline(always)]
            fn bit_and<A: Arch>(self, y: Self) -> Self {
                self & y
            }

            #[inline(always)]
            fn bit_or<A: Arch>(self, y: Self) -> Self {
                self | y
            }

            #[inline(always)]
            fn bit_xor<A: Arch>(self, y: Self) -> Self {
                self ^ y
            }

            #[inline(always)]
            fn bit_not<A: Arch>(self) -> Self {
                !self
            }
        }

        impl Shift for $T {
            #[inline(always)]
            fn shift_left<A: Arch>(self, y: Self) -> Self {
                let inside = y >= (0 as $T) && y < <$T>::BITS as $T;
                let moved = self.wrapping_shl(y as u32);
                if inside { moved } else { 0 }
            }

            #[inline(always)]
            fn shift_right<A: Arch>(self, y: Self) -> Self {
                let inside = y >= (0 as $T) && y < <$T>::BITS as $T;
                let moved = self.wrapping_shr(if inside { y as u32 } else { <$T>::BITS - 1 });
                // One more place than the widest shift: what is left is the sign.
                if inside || self < (0 as $T) { moved } else { 0 }
            }
        }
    )* };
}

integers! { u8 i8 u16 i16 u32 i32 u64 i64 }
