//! Comparisons, truth and classification: results are `bool`. NaN compares false with everything, and unequal to itself.

use crate::isa::Arch;
use lodestride_buffer::{Bool, Element};

/// Comparisons every dtype has, and its truth (not zero).
pub(crate) trait Compare: Element {
    /// Whether the element counts as true: anything but zero, NaN too.
    #[inline(always)]
    fn truth(self) -> bool {
        self != Self::default()
    }

    #[inline(always)]
    fn eq<A: Arch>(self, y: Self) -> Bool {
        Bool::from(self == y)
    }

    #[inline(always)]
    fn ne<A: Arch>(self, y: Self) -> Bool {
        Bool::from(self != y)
    }

    #[inline(always)]
    fn lt<A: Arch>(self, y: Self) -> Bool {
        Bool::from(self < y)
    }

    #[inline(always)]
    fn le<A: Arch>(self, y: Self) -> Bool {
        Bool::from(self <= y)
    }

    #[inline(always)]
    fn gt<A: Arch>(self, y: Self) -> Bool {
        Bool::from(self > y)
    }

    #[inline(always)]
    fn ge<A: Arch>(self, y: Self) -> Bool {
        Bool::from(self >= y)
    }

    #[inline(always)]
    fn and<A: Arch>(self, y: Self) -> Bool {
        Bool::from(self.truth() & y.truth())
    }

    #[inline(always)]
    fn or<A: Arch>(self, y: Self) -> Bool {
        Bool::from(self.truth() | y.truth())
    }

    #[inline(always)]
    fn xor<A: Arch>(self, y: Self) -> Bool {
        Bool::from(self.truth() ^ y.truth())
    }

    #[inline(always)]
    fn not<A: Arch>(self) -> Bool {
        Bool::from(!self.truth())
    }

    #[inline(always)]
    #[expect(
        clippy::eq_op,
        reason = "NaN is what differs from itself, in every dtype at once"
    )]
    fn is_nan<A: Arch>(self) -> Bool {
        Bool::from(self != self)
    }
}

impl<T: Element> Compare for T {}

/// Finite or not, for every dtype.
pub(crate) trait Classify: Element {
    fn is_inf<A: Arch>(self) -> Bool;
    fn is_finite<A: Arch>(self) -> Bool;
}

macro_rules! always_finite {
    ($($T:ident)*) => { $(
        impl Classify for $T {
            #[inline(always)]
            fn is_inf<A: Arch>(self) -> Bool {
                Bool::from(false)
            }

            #[inline(always)]
            fn is_finite<A: Arch>(self) -> Bool {
                Bool::from(true)
            }
        }
    )* };
}

always_finite! { Bool u8 i8 u16 i16 u32 i32 u64 i64 }

macro_rules! floats {
    ($($T:ident)*) => { $(
        impl Classify for $T {
            #[inline(always)]
            fn is_inf<A: Arch>(self) -> Bool {
                Bool::from(<$T>::abs(self) == <$T>::INFINITY)
            }

            #[inline(always)]
            fn is_finite<A: Arch>(self) -> Bool {
                Bool::from(<$T>::abs(self) < <$T>::INFINITY)
            }
        }
    )* };
}

floats! { f32 f64 }
