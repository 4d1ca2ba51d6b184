//! Division and powers of integers.
//!
//! Nothing here fails: dividing by zero gives zero, and so does zero to a negative power.

macro_rules! division {
    ($($T:ident)*) => { $(
        /// Division and powers of this integer type.
        pub(crate) mod $T {
            /// The quotient rounded down; 0 where `y` is 0.
            #[inline(always)]
            pub(crate) fn floor_div(x: $T, y: $T) -> $T {
                if y == 0 {
                    return 0;
                }
                let quotient = x.wrapping_div(y);
                let rest = x.wrapping_rem(y);
                // Rounding towards zero went up where the signs differ and something is left.
                quotient.wrapping_sub((rest != 0 && (rest < (0 as $T)) != (y < (0 as $T))) as $T)
            }

            /// The rest of [`floor_div`], with the sign of `y`; 0 where `y` is 0.
            #[inline(always)]
            pub(crate) fn modulo(x: $T, y: $T) -> $T {
                if y == 0 {
                    return 0;
                }
                let rest = x.wrapping_rem(y);
                if rest != 0 && (rest < (0 as $T)) != (y < (0 as $T)) { rest.wrapping_add(y) } else { rest }
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

division! { u8 i8 u16 i16 u32 i32 u64 i64 }

#[cfg(test)]
mod tests {
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
            assert_eq!(super::i32::floor_div(x, y), quotient, "{x} // {y}");
            assert_eq!(super::i32::modulo(x, y), rest, "{x} % {y}");
        }
        assert_eq!(super::u8::floor_div(200, 7), 28);
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
}
