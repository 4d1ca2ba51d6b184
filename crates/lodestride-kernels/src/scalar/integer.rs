//! Division and powers of integers.
//!
//! Nothing here fails: dividing by zero gives zero, and so does zero to a negative power.

use crate::isa::Arch;

/// The first size of a number of 64 bits that only the plain form divides.
const FAR: u64 = 1 << 51;

/// Whether a number is too large to be divided as a float.
macro_rules! is_far {
    (u64 $x:ident) => {
        $x >= FAR
    };
    (i64 $x:ident) => {
        ($x as u64).wrapping_add(FAR) >= 2 * FAR
    };
    ($T:ident $x:ident) => {{
        let _: $T = $x;
        false
    }};
}

/// An integer as a float that holds it. What has 64 bits goes by a sum of bits, as it comes back: few
/// vectors have an instruction for it.
macro_rules! float {
    (u64 f64 $x:ident) => {
        f64::from_bits($x.wrapping_add(WHOLE.to_bits())) - WHOLE
    };
    (i64 f64 $x:ident) => {
        f64::from_bits(($x as u64).wrapping_add(WHOLE.to_bits())) - WHOLE
    };
    ($T:ident $F:ident $x:ident) => {
        $F::from($x)
    };
}

/// Divides by floats with more bits, which machines with vectors divide side by side: a rounded quotient reaches the next whole
/// number only where the exact one does, and what it leaves is exact.
macro_rules! division {
    ($($T:ident $F:ident $whole:literal;)*) => { $(
        /// Division and powers of this integer type.
        pub(crate) mod $T {
            use super::*;

            /// 1.5 times 2 to the number of mantissa bits: added to a whole number, it leaves it in the low bits.
            const WHOLE: $F = $whole;

            /// What a whole number becomes among the integers.
            #[inline(always)]
            fn integer(value: $F) -> $T {
                (value + WHOLE).to_bits().wrapping_sub(WHOLE.to_bits()) as $T
            }

            /// Whether only the plain form divides these.
            #[inline(always)]
            pub(crate) fn is_far(x: $T, y: $T) -> bool {
                is_far!($T x) | is_far!($T y)
            }

            /// The quotient rounded towards zero, and what it leaves; anything where `y` is 0.
            #[inline(always)]
            fn divide(x: $T, y: $T) -> ($T, $T) {
                let quotient = x.wrapping_div(if y == 0 { 1 } else { y });
                (quotient, x.wrapping_sub(quotient.wrapping_mul(y)))
            }

            /// Whether rounding towards zero went up: the signs differ and something is left.
            #[inline(always)]
            fn went_up(rest: $T, y: $T) -> bool {
                (rest != 0) & ((rest < (0 as $T)) != (y < (0 as $T)))
            }

            /// The quotient rounded down; 0 where `y` is 0.
            #[inline(always)]
            pub(crate) fn floor_div<A: Arch>(x: $T, y: $T) -> $T {
                let quotient = if A::FMA {
                    let (x, y) = (float!($T $F x), float!($T $F y));
                    integer((x / y).floor())
                } else {
                    let (quotient, rest) = divide(x, y);
                    quotient.wrapping_sub(went_up(rest, y) as $T)
                };
                if y == 0 { 0 } else { quotient }
            }

            /// The rest of [`floor_div`], with the sign of `y`; 0 where `y` is 0.
            #[inline(always)]
            pub(crate) fn modulo<A: Arch>(x: $T, y: $T) -> $T {
                let rest = if A::FMA {
                    let (x, y) = (float!($T $F x), float!($T $F y));
                    integer((x / y).floor().mul_add(-y, x))
                } else {
                    let (_, rest) = divide(x, y);
                    if went_up(rest, y) { rest.wrapping_add(y) } else { rest }
                };
                if y == 0 { 0 } else { rest }
            }

            /// What the quotient rounded towards zero leaves; 0 where `y` is 0.
            #[inline(always)]
            pub(crate) fn fmod<A: Arch>(x: $T, y: $T) -> $T {
                let rest = if A::FMA {
                    let (x, y) = (float!($T $F x), float!($T $F y));
                    integer((x / y).trunc().mul_add(-y, x))
                } else {
                    divide(x, y).1
                };
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
    u64 f64 6_755_399_441_055_744.0;
    i64 f64 6_755_399_441_055_744.0;
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

    /// Pairs of 64 bits around multiples of the divisor, where a rounded quotient might reach the next whole number.
    macro_rules! around_multiples {
        ($T:ident) => {{
            let sizes = [
                1u64,
                2,
                3,
                7,
                1000,
                65_537,
                (1 << 25) + 1,
                (1 << 40) - 1,
                (1 << 51) - 1,
            ];
            let signs = [1 as $T, (0 as $T).wrapping_sub(1)];
            let numbers = sizes
                .iter()
                .flat_map(|&size| signs.map(|sign| (size as $T).wrapping_mul(sign)));
            for y in numbers.clone() {
                for n in numbers.clone() {
                    for x in [
                        n.wrapping_mul(y).wrapping_sub(1),
                        n.wrapping_mul(y),
                        n.wrapping_mul(y).wrapping_add(1),
                        n,
                    ] {
                        if super::$T::is_far(x, y) {
                            continue;
                        }
                        let fused = [
                            super::$T::floor_div::<Fused>(x, y),
                            super::$T::modulo::<Fused>(x, y),
                            super::$T::fmod::<Fused>(x, y),
                        ];
                        let plain = [
                            super::$T::floor_div::<Plain>(x, y),
                            super::$T::modulo::<Plain>(x, y),
                            super::$T::fmod::<Plain>(x, y),
                        ];
                        assert_eq!(fused, plain, "{x} {y}");
                    }
                }
            }
        }};
    }

    #[test]
    fn what_has_51_bits_is_divided_by_floats() {
        around_multiples!(i64);
        around_multiples!(u64);
        assert!(!super::i64::is_far((1 << 51) - 1, -(1 << 51)) && super::i64::is_far(1 << 51, 1));
        assert!(super::i64::is_far(1, i64::MIN) && super::u64::is_far(u64::MAX, 1));
        assert_eq!(super::i64::floor_div::<Fused>(7, 0), 0);
    }
}
