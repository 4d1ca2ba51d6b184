//! From one element type to another.
//!
//! Floats become integers by dropping the fraction; what does not fit becomes the nearest end of the range and NaN becomes
//! 0, on every machine alike. Integers that do not fit wrap. To `bool` is "not zero". Half and bfloat16 round to the
//! nearest, ties to even, from any source in one step.
#![expect(
    unsafe_code,
    reason = "a float that is known to fit becomes an integer without a look at its range"
)]

use crate::isa::Arch;
use crate::scalar::BLOCK;
use crate::vector::Vector;
use crate::vector::halves::Halves;
use half::{bf16, f16};
use lodestride_buffer::{Bool, Element};

/// Conversion of elements to type `D`.
pub(crate) trait Cast<D: Element>: Element {
    /// Whether vectors convert faster by blocks.
    const BLOCKS: bool = false;

    fn cast(self) -> D;

    /// A block of elements.
    #[inline(always)]
    fn cast_block<A: Arch>(dst: &mut [D; BLOCK], x: &[Self; BLOCK]) {
        cast_each(dst, x);
    }
}

/// `dst[i] = x[i].cast()`.
#[inline(always)]
fn cast_each<S: Cast<D>, D: Element>(dst: &mut [D; BLOCK], x: &[S; BLOCK]) {
    for (d, &x) in dst.iter_mut().zip(x) {
        *d = x.cast();
    }
}

/// A block converted by way of f32.
macro_rules! via_f32 {
    ($D:ty, |$x:ident| $single:expr) => {
        const BLOCKS: bool = true;

        #[inline(always)]
        fn cast_block<A: Arch>(dst: &mut [$D; BLOCK], x: &[Self; BLOCK]) {
            let mut singles = [0.0f32; BLOCK];
            for (single, &$x) in singles.iter_mut().zip(x) {
                *single = $single;
            }
            Cast::cast_block::<A>(dst, &singles);
        }
    };
}

/// The 16-bit pattern of a half as f32. No table and no branch: the exponent is rebiased by a multiplication, which also
/// normalises the denormal halves. A NaN becomes a quiet one and keeps its payload.
#[inline(always)]
pub(crate) fn half_to_f32(half: u16) -> f32 {
    let magnitude = u32::from(half & 0x7fff) << 13;
    let scaled = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
    // An exponent of all ones stays one.
    let special = if magnitude >= 0x7c00 << 13 {
        0x7f80_0000
    } else {
        0
    };
    let quiet = u32::from(magnitude > 0x7c00 << 13) << 22;
    f32::from_bits(scaled | special | quiet | u32::from(half & 0x8000) << 16)
}

/// The half nearest to `x`, ties to even. A NaN becomes a quiet one with the first bits of its payload.
#[inline(always)]
pub(crate) fn f32_to_half(x: f32) -> u16 {
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
        0x7e00 | (magnitude >> 13 & 0x3ff)
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
    let back = f64::from(nearest);
    // What was rounded away from zero, to infinity too, goes back a step; a NaN is unequal to itself and stays one.
    let away = u32::from(back.abs() > x.abs());
    let inexact = u32::from(back != x);
    f32::from_bits(nearest.to_bits().wrapping_sub(away) | inexact)
}

/// [`round_to_odd`] in fewer steps, where the result is no denormal number.
#[inline(always)]
fn normal_to_odd(x: f64) -> f32 {
    // The bits of the mantissa that f32 does not have: a carry out of them says that some are set.
    const BEYOND: u64 = (1 << 29) - 1;
    let bits = x.to_bits();
    let odd = bits | ((bits & BEYOND) + BEYOND);
    f64::from_bits(odd & !BEYOND) as f32
}

/// Whether [`normal_to_odd`] cannot round it.
#[inline(always)]
fn is_tiny(x: f64) -> bool {
    (x.abs() < f64::from(f32::MIN_POSITIVE)) & (x != 0.0)
}

/// Added to a number of less than 51 bits, it leaves the nearest integer in the low bits of the mantissa.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// The first number that has more bits.
const NEAR: f64 = 2_251_799_813_685_248.0;

/// The integer that dropping the fraction of `x` leaves, cut to a range that lies within 33 bits, in the low bits; 0 for NaN. As
/// the language converts, but in steps that vectors have.
#[inline(always)]
fn whole_bits(x: f64, least: f64, most: f64) -> u64 {
    let cut = x.max(least).min(most);
    let nearest = (cut + SHIFT) - SHIFT;
    let beyond = if nearest.abs() > cut.abs() {
        1f64.copysign(cut)
    } else {
        0.0
    };
    let whole = if x.is_nan() { 0.0 } else { nearest - beyond };
    (whole + SHIFT).to_bits()
}

/// The same of a float and an integer that vectors convert between where the number fits: with `most`, the largest that does.
macro_rules! whole {
    ($($name:ident $S:ident $D:ident $most:literal;)*) => { $(
        #[inline(always)]
        fn $name(x: $S) -> $D {
            const LEAST: $S = $D::MIN as $S;
            const MOST: $S = $most;
            // Comparisons that NaN fails, so that it becomes an end of the range too.
            let above = if x > LEAST { x } else { LEAST };
            let fits = if above < MOST { above } else { MOST };
            // SAFETY: it is from LEAST to MOST, so it is no NaN and its whole part is of this type.
            let whole = unsafe { fits.to_int_unchecked::<$D>() };
            let whole = if x > MOST { $D::MAX } else { whole };
            if x.is_nan() { 0 } else { whole }
        }
    )* };
}

whole! {
    int_of_single f32 i32 2_147_483_520.0;
    long_of_single f32 i64 9_223_371_487_098_961_920.0;
    long_of_double f64 i64 9_223_372_036_854_774_784.0;
    unsigned_of_single f32 u64 18_446_742_974_197_923_840.0;
    unsigned_of_double f64 u64 18_446_744_073_709_549_568.0;
}

macro_rules! between_native {
    ($($S:ident to $($D:ident)*;)*) => { $( between_native!(@from $S $($D)*); )* };
    (@from $S:ident $($D:ident)*) => { $(
        impl Cast<$D> for $S {
            #[inline(always)]
            fn cast(self) -> $D {
                self as $D
            }
        }
    )* };
}

between_native! {
    u8 to u8 i8 u16 i16 u32 i32 u64 i64 f32 f64;
    i8 to u8 i8 u16 i16 u32 i32 u64 i64 f32 f64;
    u16 to u8 i8 u16 i16 u32 i32 u64 i64 f32 f64;
    i16 to u8 i8 u16 i16 u32 i32 u64 i64 f32 f64;
    u32 to u8 i8 u16 i16 u32 i32 u64 i64 f32 f64;
    i32 to u8 i8 u16 i16 u32 i32 u64 i64 f32 f64;
    u64 to u8 i8 u16 i16 u32 i32 u64 i64 f32 f64;
    i64 to u8 i8 u16 i16 u32 i32 u64 i64 f32 f64;
    f32 to f32 f64;
    f64 to f32 f64;
}

// The compiler makes no vectors of these in one step, see `cargo xtask asm`.
macro_rules! narrowing {
    ($S:ident by i32 to $($D:ident)*) => { $(
        impl Cast<$D> for $S {
            #[inline(always)]
            fn cast(self) -> $D {
                // Both exact.
                const LEAST: $S = $D::MIN as $S;
                const MOST: $S = $D::MAX as $S;
                // Of numbers that are not negative the next comparison makes NaN 0.
                let is_nan = LEAST < 0.0 && self.is_nan();
                let number = if is_nan { 0.0 } else { self };
                let above = if number > LEAST { number } else { LEAST };
                let fits = if above < MOST { above } else { MOST };
                // SAFETY: it is from LEAST to MOST, which are i32.
                let whole = unsafe { fits.to_int_unchecked::<i32>() };
                // Once more, without an instruction: vectors that saturate are packed faster than others.
                #[allow(clippy::unnecessary_cast, reason = "one of the types is i32 itself")]
                let whole = whole.clamp($D::MIN as i32, $D::MAX as i32) as $D;
                whole
            }
        }
    )* };
    ($S:ident to $($D:ident)*) => { $(
        impl Cast<$D> for $S {
            #[inline(always)]
            fn cast(self) -> $D {
                whole_bits(f64::from(self), f64::from($D::MIN), f64::from($D::MAX)) as $D
            }
        }
    )* };
}

macro_rules! by_whole {
    ($($S:ident to $D:ident $whole:ident;)*) => { $(
        impl Cast<$D> for $S {
            #[inline(always)]
            fn cast(self) -> $D {
                $whole(self)
            }
        }
    )* };
}

by_whole! {
    f32 to i32 int_of_single;
}

/// [`whole!`] in 64 bits, which AVX2 has no conversion to.
macro_rules! by_long {
    ($($S:ident to $D:ident $whole:ident above $least:literal;)*) => { $(
        impl Cast<$D> for $S {
            const BLOCKS: bool = true;

            #[inline(always)]
            fn cast(self) -> $D {
                $whole(self)
            }

            #[inline(always)]
            fn cast_block<A: Arch>(dst: &mut [$D; BLOCK], x: &[$S; BLOCK]) {
                if const { <A::F64 as Vector<f64>>::LANES == 8 } {
                    return cast_each(dst, x);
                }
                let mut are_far = false;
                for (d, &x) in dst.iter_mut().zip(x) {
                    let x = f64::from(x);
                    // NaN is not within.
                    are_far |= !((x > $least) & (x < NEAR));
                    *d = (x.trunc() + SHIFT).to_bits().wrapping_sub(SHIFT.to_bits()) as $D;
                }
                if are_far {
                    cast_each(dst, x);
                }
            }
        }
    )* };
}

by_long! {
    f32 to i64 long_of_single above -2_251_799_813_685_248.0;
    f64 to i64 long_of_double above -2_251_799_813_685_248.0;
    f32 to u64 unsigned_of_single above -1.0;
    f64 to u64 unsigned_of_double above -1.0;
}
narrowing! { f32 by i32 to u8 i8 u16 i16 }
narrowing! { f64 by i32 to u8 i8 u16 i16 i32 }
narrowing! { f32 to u32 }
narrowing! { f64 to u32 }

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

impl Cast<f16> for f32 {
    const BLOCKS: bool = true;

    #[inline(always)]
    fn cast(self) -> f16 {
        f16::from_bits(f32_to_half(self))
    }

    #[inline(always)]
    fn cast_block<A: Arch>(dst: &mut [f16; BLOCK], x: &[f32; BLOCK]) {
        A::F32::narrow(dst, x);
    }
}

impl Cast<bf16> for f32 {
    #[inline(always)]
    fn cast(self) -> bf16 {
        bf16::from_bits(f32_to_bfloat(self))
    }
}

impl Cast<f16> for f64 {
    // Halves are zero far from where f32 are denormal.
    via_f32!(f16, |x| normal_to_odd(x));

    #[inline(always)]
    fn cast(self) -> f16 {
        normal_to_odd(self).cast()
    }
}

impl Cast<bf16> for f64 {
    const BLOCKS: bool = true;

    #[inline(always)]
    fn cast(self) -> bf16 {
        round_to_odd(self).cast()
    }

    #[inline(always)]
    fn cast_block<A: Arch>(dst: &mut [bf16; BLOCK], x: &[f64; BLOCK]) {
        let (mut singles, mut tiny) = ([0.0f32; BLOCK], false);
        for (single, &x) in singles.iter_mut().zip(x) {
            *single = normal_to_odd(x);
            tiny |= is_tiny(x);
        }
        if tiny {
            for (single, &x) in singles.iter_mut().zip(x) {
                *single = round_to_odd(x);
            }
        }
        cast_each(dst, &singles);
    }
}

/// `x` as the f32 of the same nearest half, whichever kind. Halves and what lies midway between two of them are far apart where
/// f32 are not exact, so that the last bits of `x` only have to say that there are some.
macro_rules! marked {
    ($x:ident: $T:ident) => {{
        const LAST: $T = 0x1ff;
        let rest = if $x & LAST == 0 { 0 } else { 0x100 };
        let is_exact = ($x as i64).unsigned_abs() <= 1 << f32::MANTISSA_DIGITS;
        (if is_exact { $x } else { $x & !LAST | rest }) as f32
    }};
}

macro_rules! integers_to_halves {
    ($($T:ident |$x:ident| $single:expr;)*) => { $( integers_to_halves! { @of $T |$x| $single } )* };
    (@of $T:ident |$x:ident| $single:expr) => {
        impl Cast<f16> for $T {
            via_f32!(f16, |$x| $single);

            #[inline(always)]
            fn cast(self) -> f16 {
                let $x = self;
                ($single).cast()
            }
        }

        impl Cast<bf16> for $T {
            #[inline(always)]
            fn cast(self) -> bf16 {
                let $x = self;
                ($single).cast()
            }
        }
    };
}

integers_to_halves! {
    Bool |x| Cast::<f32>::cast(x);
    u8 |x| f32::from(x);
    i8 |x| f32::from(x);
    u16 |x| f32::from(x);
    i16 |x| f32::from(x);
    u32 |x| marked!(x: u32);
    i32 |x| marked!(x: i32);
    u64 |x| normal_to_odd(x as f64);
    i64 |x| normal_to_odd(x as f64);
}

impl Cast<f32> for f16 {
    const BLOCKS: bool = true;

    #[inline(always)]
    fn cast(self) -> f32 {
        half_to_f32(self.to_bits())
    }

    #[inline(always)]
    fn cast_block<A: Arch>(dst: &mut [f32; BLOCK], x: &[f16; BLOCK]) {
        A::F32::widen(dst, x);
    }
}

impl Cast<f16> for f16 {
    #[inline(always)]
    fn cast(self) -> f16 {
        self
    }
}

impl Cast<f16> for bf16 {
    via_f32!(f16, |x| x.cast());

    #[inline(always)]
    fn cast(self) -> f16 {
        Cast::<f32>::cast(self).cast()
    }
}

macro_rules! from_halves {
    ($($T:ident)*) => { $(
        impl Cast<$T> for f16 {
            const BLOCKS: bool = true;

            #[inline(always)]
            fn cast(self) -> $T {
                Cast::<f32>::cast(self).cast()
            }

            #[inline(always)]
            fn cast_block<A: Arch>(dst: &mut [$T; BLOCK], x: &[f16; BLOCK]) {
                let mut singles = [0.0; BLOCK];
                A::F32::widen(&mut singles, x);
                Cast::cast_block::<A>(dst, &singles);
            }
        }
    )* };
}

from_halves! { Bool u8 i8 u16 i16 u32 i32 u64 i64 bf16 f64 }

macro_rules! from_bfloats {
    ($($T:ident)*) => { $(
        impl Cast<$T> for bf16 {
            #[inline(always)]
            fn cast(self) -> $T {
                Cast::<$T>::cast(f32::from_bits(u32::from(self.to_bits()) << 16))
            }
        }
    )* };
}

from_bfloats! { Bool u8 i8 u16 i16 u32 i32 u64 i64 bf16 f32 f64 }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Plain;

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

    /// Floats at and around the ends of the integer types, and of every sign and exponent.
    fn floats() -> Vec<f64> {
        let ends = [
            0.0,
            127.0,
            128.0,
            255.0,
            256.0,
            32_767.0,
            65_535.0,
            2f64.powi(31),
            2f64.powi(32),
            2f64.powi(63),
            2f64.powi(64),
            1e300,
        ];
        let beside = [
            -1.5,
            -1.0,
            -0.75,
            -0.5,
            -f64::EPSILON,
            0.0,
            1e-300,
            0.25,
            0.5,
            1.0,
            1.5,
        ];
        let mut values = vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0];
        for end in ends {
            values.extend(beside.iter().flat_map(|by| [end + by, by - end]));
            values.extend([end.next_down(), end.next_up(), (-end).next_down()]);
            let single = end as f32;
            values.extend([single.next_down(), single.next_up(), -single.next_up()].map(f64::from));
        }
        // Every sign and exponent of an f32, with some mantissas.
        let spread = (0..=u32::MAX >> 15).map(|top| f32::from_bits(top << 15 | top & 0x7fff));
        values.extend(spread.map(f64::from));
        values
    }

    #[test]
    fn floats_become_integers_as_the_language_converts() {
        for x in floats() {
            macro_rules! same {
                ($($D:ident)*) => { $(
                    assert_eq!(Cast::<$D>::cast(x), x as $D, "{x:?} to {}", stringify!($D));
                    let single = x as f32;
                    assert_eq!(Cast::<$D>::cast(single), single as $D, "{single:?} to {}", stringify!($D));
                )* };
            }
            same! { u8 i8 u16 i16 u32 i32 u64 i64 }
        }
    }

    #[test]
    fn blocks_of_floats_become_long_integers_as_one_does() {
        for chunk in floats().chunks(BLOCK) {
            let mut x = [0.0; BLOCK];
            x[..chunk.len()].copy_from_slice(chunk);
            // As they are, and so small that no element is beyond what is converted by a sum.
            let near = x.map(|x| x % NEAR);
            for x in [x, near] {
                let singles = x.map(|x| x as f32);
                macro_rules! same_block {
                    ($($D:ident)*) => { $(
                        let mut found = [0; BLOCK];
                        Cast::<$D>::cast_block::<Plain>(&mut found, &x);
                        assert_eq!(found, x.map(|x| x as $D));
                        Cast::<$D>::cast_block::<Plain>(&mut found, &singles);
                        assert_eq!(found, singles.map(|x| x as $D));
                    )* };
                }
                same_block! { u64 i64 }
            }
        }
    }
}
