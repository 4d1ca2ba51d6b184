//! Rounding to whole numbers; integers are whole already.

use crate::isa::Arch;
use crate::scalar::blocks::Blocks;

/// The four roundings.
pub(crate) trait Rounding: Blocks {
    /// Down.
    fn floor<A: Arch>(self) -> Self;
    /// Up.
    fn ceil<A: Arch>(self) -> Self;
    /// To the nearest, halves to even.
    fn round<A: Arch>(self) -> Self;
    /// Towards zero.
    fn trunc<A: Arch>(self) -> Self;
}

macro_rules! integers {
    ($($T:ident)*) => { $(
        impl Blocks for $T {}

        impl Rounding for $T {
            #[inline(always)]
            fn floor<A: Arch>(self) -> Self {
                self
            }

            #[inline(always)]
            fn ceil<A: Arch>(self) -> Self {
                self
            }

            #[inline(always)]
            fn round<A: Arch>(self) -> Self {
                self
            }

            #[inline(always)]
            fn trunc<A: Arch>(self) -> Self {
                self
            }
        }
    )* };
}

integers! { u8 i8 u16 i16 u32 i32 u64 i64 }

macro_rules! floats {
    ($($T:ident $whole:literal)*) => { $(
        impl Rounding for $T {
            #[inline(always)]
            fn floor<A: Arch>(self) -> Self {
                if A::FMA {
                    return <$T>::floor(self);
                }
                let nearest = Rounding::round::<A>(self);
                (nearest - if nearest > self { 1.0 } else { 0.0 }).copysign(self)
            }

            #[inline(always)]
            fn ceil<A: Arch>(self) -> Self {
                if A::FMA {
                    return <$T>::ceil(self);
                }
                let nearest = Rounding::round::<A>(self);
                (nearest + if nearest < self { 1.0 } else { 0.0 }).copysign(self)
            }

            #[inline(always)]
            fn round<A: Arch>(self) -> Self {
                if A::FMA {
                    return self.round_ties_even();
                }
                // SSE2 has no rounding instruction and the library call would stop the vectors: adding and taking away
                // 2^(mantissa bits) drops the fraction, ties to even. From there up everything is whole.
                let magic = ($whole as $T).copysign(self);
                let rounded = ((self + magic) - magic).copysign(self);
                if <$T>::abs(self) < $whole { rounded } else { self }
            }

            #[inline(always)]
            fn trunc<A: Arch>(self) -> Self {
                if A::FMA {
                    return <$T>::trunc(self);
                }
                let size = <$T>::abs(self);
                <$T>::abs(Rounding::floor::<A>(size)).copysign(self)
            }
        }
    )* };
}

// 2^23 and 2^52: from here up a float has no fraction.
floats! { f32 8388608.0 f64 4503599627370496.0 }
