//! Division and powers of integers.
//!
//! Nothing here fails: dividing by zero gives zero, and so does zero to a negative power.

use crate::isa::Arch;

/// The quotient rounded towards zero; anything where `y` is 0.
macro_rules! quotient {
    // By floats with twice the bits, which machines with vectors divide side by side: the rounded quotient reaches the next
    // whole number only where the exact one does. Adding 1.5 times 2 to the number of mantissa bits leaves the whole
    // number in the low bits.
    ($T:ident $x:ident $y:ident $A:ident $F:ident $whole:literal) => {
        if $A::FMA {
            let quotient = $F::from($x) / $F::from($y);
            (quotient.trunc() + $whole).to_bits() as $T
        } else {
            $x.wrapping_div(if $y == 0 { 1 } else { $y })
        }
    };
    // Of 64 bits what has no more than 51, to a float and back by the same number: the rest is done one by one.
    ($T:ident $x:ident $y:ident $A:ident) => {
        if $A::FMA {
            let float =
                |value: $T| f64::from_bits((value as u64).wrapping_add(WHOLE.to_bits())) - WHOLE;
            let quotient = float($x) / float($y);
            (quotient.trunc() + WHOLE)
                .to_bits()
                .wrapping_sub(WHOLE.to_bits()) as $T
        } else {
            $x.wrapping_div(if $y == 0 { 1 } else { $y })
        }
    };
}

/// 1.5 times 2 to the 52: added to it, whole numbers of 51 bits stand in the low bits as they are.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// The first size of a number of 64 bits that floats do not divide.
const FAR: u64 = 1 << 51;

/// Whether a number has more bits than floats divide.
macro_rules! is_far {
    (u64 $x:ident) => {
        $x >= FAR
    };
    (i64 $x:ident) => {
        ($x as u64).wrapping_add(FAR) >= 2 * FAR
    };
    ($T:ident $x:ident) => {{
        let _ = $x;
        false
    }};
}

macro_rules! division {
    ($($T:ident $($F:ident $whole:literal)?;)*) => { $(
        /// Division and powers of this integer type.
        pub(crate) mod $T {
            use super::*;

            /// The quotient rounded towards zero, and what it leaves; anything where `y` is 0.
            #[inline(always)]
            fn divide<A: Arch>(x: $T, y: $T) -> ($T, $T) {
                let quotient = quotient!($T x y A $($F $whole)?);
                (quotient, x.wrapping_sub(quotient.wrapping_mul(y)))
            }

            /// Whether only the plain form divides these.
            #[inline(always)]
            pub(crate) fn is_far(x: $T, y: $T) -> bool {
                is_far!($T x) | is_far!($T y)
            }

            /// Whether rounding towards zero went up: the signs differ and something is left.
            #[inline(always)]
            fn went_up(rest: $T, y: $T) -> bool {
                (rest != 0) & ((rest < (0 as $T)) != (y < (0 as $T)))
            }

            /// The quotient rounded down; 0 where `y` is 0.
            #[inline(always)]
            pub(crate) fn floor_div<A: Arch>(x: $T, y: $T) -> $T {
                let (quotient, rest) = divide::<A>(x, y);
                let quotient = quotient.wrapping_sub(went_up(rest, y) as $T);
                if y == 0 { 0 } else { quotient }
            }

            /// The rest of [`floor_div`], with the sign of `y`; 0 where `y` is 0.
            #[inline(always)]
            pub(crate) fn modulo<A: Arch>(x: $T, y: $T) -> $T {
                let (_, rest) = divide::<A>(x, y);
                let rest = if went_up(rest, y) { rest.wrapping_add(y) } else { rest };
                if y == 0 { 0 } else { rest }
            }

            /// What the quotient rounded towards zero leaves; 0 where `y` is 0.
            #[inline(always)]
            pub(crate) fn fmod<A: Arch>(x: $T, y: $T) -> $T {
                let (_, rest) = divide::<A>(x, y);
                if y == 0 { 0 } else { rest }
            }

            /// `x` to the power `y`, wrapping. A negative power is the exact one rounded towards zero: 1 of 1, 1 or -1
            /// of -1, else 0.
            #[inline(always)]
            pub(crate) fn pow(x: $T, y: $T) -> $T {
                let minus_one = (0 as $T).wrapping_sub(1);
                if y < (0 as $T) {
                    let odd = y & 1 == 1;
                    return if x == 1 {
                        1
                    } else if x == minus_one {
                        if odd { minus_one } else { 1 }
                    } else {
                        0
                    };
                }
                let (mut base, mut exponent, mut power) = (x, y, 1 as $T);
                while exponent != 0 {
                    if exponent & 1 == 1 {
                        power = power.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    exponent >>= 1;
                }
                power
            }
        }
    )* };
}

division! {
    u8 f32 12_582_912.0;
    i8 f32 12_582_912.0;
    u16 f32 12_582_912.0;
    i16 f32 12_582_912.0;
    u32 f64 6_755_399_441_055_744.0;
    i32 f64 6_755_399_441_055_744.0;
    u64;
    i64;
}

#[cfg(test)]
mod tests {
    use crate::isa::{Fused, Plain};

    #[test]
    fn division_is_python_s() {
        for (x, y, quotient, rest) in [
            (7, 2, 3, 1),
            (-7, 2, -4, 1),
            (7, -2, -4, -1),
            (-7, -2, 3, -1),
            (5, 0, 0, 0),
            (i32::MIN, -1, i32::MIN, 0),
        ] {
            assert_eq!(super::i32::floor_div::<Plain>(x, y), quotient, "{x} // {y}");
            assert_eq!(super::i32::modulo::<Plain>(x, y), rest, "{x} % {y}");
        }
        assert_eq!(super::u8::floor_div::<Plain>(200, 7), 28);
    }

    #[test]
    fn powers_wrap_and_negative_powers_round_to_zero() {
        assert_eq!(super::i32::pow(3, 4), 81);
        assert_eq!(super::u8::pow(2, 9), 0);
        assert_eq!(super::i8::pow(-1, -3), -1);
        assert_eq!(super::i64::pow(7, -1), 0);
        assert_eq!(super::i64::pow(0, -1), 0);
        assert_eq!(
            super::u64::pow(3, u64::MAX),
            3u64.wrapping_pow(u32::MAX)
                .wrapping_mul(super::u64::pow(3, u64::MAX - u64::from(u32::MAX)))
        );
    }

    /// Every pair, or those of the ends and of a coarse net.
    macro_rules! by_floats {
        ($T:ident, $step:literal) => {{
            let ends = [$T::MIN, $T::MIN + 1, $T::MAX - 1, $T::MAX];
            let net = ($T::MIN..=$T::MAX).step_by($step).chain(ends).chain(0..8);
            for x in net.clone() {
                for y in net.clone() {
                    let fused = (
                        super::$T::floor_div::<Fused>(x, y),
                        super::$T::modulo::<Fused>(x, y),
                        super::$T::fmod::<Fused>(x, y),
                    );
                    let plain = (
                        super::$T::floor_div::<Plain>(x, y),
                        super::$T::modulo::<Plain>(x, y),
                        super::$T::fmod::<Plain>(x, y),
                    );
                    assert_eq!(fused, plain, "{x} {y}");
                }
            }
        }};
    }

    #[test]
    fn division_by_floats_is_division_of_integers() {
        by_floats!(u8, 1);
        by_floats!(i8, 1);
        by_floats!(u16, 61);
        by_floats!(i16, 61);
        by_floats!(u32, 6_700_417);
        by_floats!(i32, 6_700_417);
    }
}
