//! From one element type to another.
//!
//! Floats become integers by dropping the fraction; what does not fit becomes the nearest end of the range and NaN becomes
//! 0, on every machine alike. Integers that do not fit wrap. To `bool` is "not zero". Half and bfloat16 round to the
//! nearest, ties to even, from any source in one step.

use half::{bf16, f16};
use lodestride_buffer::{Bool, Element};

/// Conversion of one element to type `D`.
pub(crate) trait Cast<D: Element>: Element {
    fn cast(self) -> D;
}

/// The 16-bit pattern of a half as f32. No table and no branch: the exponent is rebiased by a multiplication, which also
/// normalises the denormal halves.
#[inline(always)]
fn half_to_f32(half: u16) -> f32 {
    let magnitude = u32::from(half & 0x7fff) << 13;
    let scaled = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
    // An exponent of all ones stays one.
    let special = if half & 0x7c00 == 0x7c00 {
        0x7f80_0000
    } else {
        0
    };
    f32::from_bits(scaled | special | u32::from(half & 0x8000) << 16)
}

/// The half nearest to `x`, ties to even.
#[inline(always)]
fn f32_to_half(x: f32) -> u16 {
    let sign = (x.to_bits() >> 16) as u16 & 0x8000;
    let magnitude = x.to_bits() & 0x7fff_ffff;
    // Denormal halves: adding 0.5 leaves the wanted bits, rounded by the addition, at the end of the mantissa.
    let denormal = (f32::from_bits(magnitude) + 0.5)
        .to_bits()
        .wrapping_sub(0x3f00_0000);
    // Normal halves: rebias, then round half to even by adding just under half, plus the last kept bit.
    let odd = (magnitude >> 13) & 1;
    let normal = magnitude.wrapping_add(0xc800_0fff).wrapping_add(odd) >> 13;
    let infinite = if magnitude > 0x7f80_0000 {
        0x7e00
    } else {
        0x7c00
    };
    let small = if magnitude < 0x3880_0000 {
        denormal
    } else {
        normal
    };
    // From 65520 up the nearest half is infinite.
    let bits = if magnitude >= 0x477f_f000 {
        infinite
    } else {
        small
    };
    bits as u16 | sign
}

/// The bfloat16 nearest to `x`, ties to even.
#[inline(always)]
fn f32_to_bfloat(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff).wrapping_add((bits >> 16) & 1) >> 16;
    // Rounding must not turn a NaN into an infinity.
    let nan = (bits >> 16) | 0x40;
    (if bits & 0x7fff_ffff > 0x7f80_0000 {
        nan
    } else {
        rounded
    }) as u16
}

/// `x` as f32 rounded to odd: a second rounding to fewer bits then gives what one rounding would have given.
#[inline(always)]
fn round_to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let bits = nearest.to_bits();
    let back = f64::from(nearest);
    let away = back.abs() > x.abs();
    let odd = (bits - u32::from(away)) | 1;
    let inexact = back != x && nearest.is_finite() && !x.is_nan();
    f32::from_bits(if inexact { odd } else { bits })
}

macro_rules! between_native {
    ($($S:ident)*) => { $( between_native!(@from $S u8 i8 u16 i16 u32 i32 u64 i64 f32 f64); )* };
    (@from $S:ident $($D:ident)*) => { $(
        impl Cast<$D> for $S {
            #[inline(always)]
            fn cast(self) -> $D {
                self as $D
            }
        }
    )* };
}

between_native! { u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 }

macro_rules! with_bool {
    ($($T:ident $zero:literal)*) => { $(
        impl Cast<Bool> for $T {
            #[inline(always)]
            fn cast(self) -> Bool {
                Bool::from(self != $zero)
            }
        }

        impl Cast<$T> for Bool {
            #[inline(always)]
            fn cast(self) -> $T {
                u8::from(bool::from(self)) as $T
            }
        }
    )* };
}

with_bool! { u8 0 i8 0 u16 0 i16 0 u32 0 i32 0 u64 0 i64 0 f32 0.0 f64 0.0 }

impl Cast<Bool> for Bool {
    #[inline(always)]
    fn cast(self) -> Bool {
        Bool::from(bool::from(self))
    }
}

macro_rules! with_halves {
    ($($T:ident)*) => { $(
        impl Cast<f16> for $T {
            #[inline(always)]
            fn cast(self) -> f16 {
                f16::from_bits(f32_to_half(round_to_odd(Cast::<f64>::cast(self))))
            }
        }

        impl Cast<bf16> for $T {
            #[inline(always)]
            fn cast(self) -> bf16 {
                bf16::from_bits(f32_to_bfloat(round_to_odd(Cast::<f64>::cast(self))))
            }
        }
    )* };
}

with_halves! { Bool u8 i8 u16 i16 u32 i32 u64 i64 f64 }

impl Cast<f16> for f32 {
    #[inline(always)]
    fn cast(self) -> f16 {
        f16::from_bits(f32_to_half(self))
    }
}

impl Cast<bf16> for f32 {
    #[inline(always)]
    fn cast(self) -> bf16 {
        bf16::from_bits(f32_to_bfloat(self))
    }
}

macro_rules! from_halves {
    ($($T:ident)*) => { $(
        impl Cast<$T> for f16 {
            #[inline(always)]
            fn cast(self) -> $T {
                Cast::<$T>::cast(half_to_f32(self.to_bits()))
            }
        }

        impl Cast<$T> for bf16 {
            #[inline(always)]
            fn cast(self) -> $T {
                Cast::<$T>::cast(f32::from_bits(u32::from(self.to_bits()) << 16))
            }
        }
    )* };
}

from_halves! { Bool u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_converts_as_the_half_crate_does() {
        for bits in 0..=u16::MAX {
            let (half, bfloat) = (f16::from_bits(bits), bf16::from_bits(bits));
            let (x, y) = (Cast::<f32>::cast(half), Cast::<f32>::cast(bfloat));
            if half.is_nan() {
                assert!(x.is_nan() && f16::is_nan(Cast::<f16>::cast(x)), "{bits:#x}");
            } else {
                assert_eq!(x.to_bits(), half.to_f32().to_bits(), "{bits:#x}");
                assert_eq!(Cast::<f16>::cast(x).to_bits(), bits);
            }
            if bfloat.is_nan() {
                assert!(
                    y.is_nan() && bf16::is_nan(Cast::<bf16>::cast(y)),
                    "{bits:#x}"
                );
            } else {
                assert_eq!(y.to_bits(), bfloat.to_f32().to_bits(), "{bits:#x}");
                assert_eq!(Cast::<bf16>::cast(y).to_bits(), bits);
            }
        }
    }

    #[test]
    fn rounding_to_halves_matches_the_half_crate_around_every_tie() {
        for bits in 0..0x7c00u16 {
            let low = f16::from_bits(bits).to_f32();
            let high = f16::from_bits(bits + 1).to_f32();
            let high = if high.is_finite() { high } else { 65536.0 };
            let tie = (low + high) / 2.0;
            for x in [tie, tie.next_down(), tie.next_up(), -tie] {
                assert_eq!(
                    Cast::<f16>::cast(x).to_bits(),
                    f16::from_f32(x).to_bits(),
                    "{x:e}"
                );
            }
            // A double just beside the tie would be rounded onto it by f32.
            let beside = f64::from(tie).next_up();
            let up = if high == 65536.0 {
                f16::INFINITY
            } else {
                f16::from_f32(high)
            };
            assert_eq!(
                Cast::<f16>::cast(beside).to_bits(),
                up.to_bits(),
                "{beside:e}"
            );
        }
        for x in [
            f32::MAX,
            f32::MIN_POSITIVE,
            1e-40,
            -0.0,
            f32::INFINITY,
            f32::NEG_INFINITY,
        ] {
            assert_eq!(
                Cast::<f16>::cast(x).to_bits(),
                f16::from_f32(x).to_bits(),
                "{x:e}"
            );
            assert_eq!(
                Cast::<bf16>::cast(x).to_bits(),
                bf16::from_f32(x).to_bits(),
                "{x:e}"
            );
        }
    }

    #[test]
    fn floats_saturate_and_integers_wrap() {
        assert_eq!(Cast::<u8>::cast(300.7f32), 255);
        assert_eq!(Cast::<u8>::cast(-1.5f64), 0);
        assert_eq!(Cast::<i32>::cast(f64::NAN), 0);
        assert_eq!(Cast::<u8>::cast(300i32), 44);
        assert_eq!(Cast::<i8>::cast(200u8), -56);
        assert!(bool::from(Cast::<Bool>::cast(f32::NAN)));
        assert_eq!(Cast::<f32>::cast(Bool::from(true)), 1.0);
    }
}
