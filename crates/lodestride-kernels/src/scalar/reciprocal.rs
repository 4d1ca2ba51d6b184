//! Division of integers by a number that is known before the loop: a multiplication by its reciprocal, exact for every
//! dividend. What it gives is what `integer.rs` gives.
//!
//! Unsigned numbers by the reciprocals of Robison (2005) or of Granlund and Montgomery (1994). Signed ones are turned into
//! unsigned ones and back: where the quotient `x / y` is negative, `floor(x / y)` is `!((-x - 1) / y)`, and `!q` and `-q - 1`
//! are the same bits.

use super::BLOCK;
use std::hint::black_box;

/// An unsigned number to divide by.
trait Divisor: Copy {
    /// What takes the place of the division.
    type Reciprocal: Copy;

    /// That of zero gives zero.
    fn reciprocal(self) -> Self::Reciprocal;
    fn over(self, reciprocal: Self::Reciprocal) -> Self;

    /// A block of such quotients, each in the place of its dividend.
    #[inline(always)]
    fn over_each(block: &mut [Self; BLOCK], reciprocal: Self::Reciprocal) {
        for x in block {
            *x = x.over(reciprocal);
        }
    }
}

/// `(x * multiplier + addend) >> shift` in twice the bits: what processors multiply well at these sizes.
#[derive(Clone, Copy)]
struct Line<T> {
    multiplier: T,
    addend: T,
    shift: u32,
}

macro_rules! by_line {
    ($($T:ident $Twice:ident $($each:ident)?;)*) => { $(
        impl Divisor for $T {
            type Reciprocal = Line<$T>;

            /// With N bits, `2^l <= y < 2^(l + 1)` and `2^(N + l) = m y + r`, both `(m + 1) x` and `m (x + 1)` over
            /// `2^(N + l)` are off `x / y` and `(x + 1) / y` by less than reaches a whole number for all `x < 2^N`: the
            /// first where `y - r <= 2^l`, the second where `r <= 2^l`. One of them is so, as they add up to `y`.
            fn reciprocal(self) -> Line<$T> {
                if self == 0 {
                    return Line { multiplier: 0, addend: 0, shift: 0 };
                }
                let log = self.ilog2();
                let shift = $T::BITS + log;
                if self.is_power_of_two() {
                    return Line { multiplier: $T::MAX, addend: $T::MAX, shift };
                }
                // `2^shift` itself may not fit; `y` does not divide it, so that the number below has the same quotient.
                let below = $Twice::MAX >> ($T::BITS - log);
                let (whole, rest) = (below / $Twice::from(self), below % $Twice::from(self) + 1);
                let whole = whole as $T;
                if $Twice::from(self) - rest <= 1 << log {
                    Line { multiplier: whole + 1, addend: 0, shift }
                } else {
                    Line { multiplier: whole, addend: whole, shift }
                }
            }

            #[inline(always)]
            fn over(self, by: Line<$T>) -> $T {
                let product = $Twice::from(self) * $Twice::from(by.multiplier);
                ((product + $Twice::from(by.addend)) >> by.shift) as $T
            }

            $(
                #[inline(always)]
                fn over_each(block: &mut [Self; BLOCK], by: Line<$T>) {
                    $each(block, by);
                }
            )?
        }
    )* };
}

by_line! {
    u8 u16;
    u32 u64 pairs_over;
}

/// [`Divisor::over_each`], two dividends to a word, where they become products: vectors multiply the lower halves of words, and to
/// make a word of every dividend takes them as long as the rest.
#[inline(always)]
fn pairs_over(block: &mut [u32; BLOCK], by: Line<u32>) {
    const PAIRS: usize = BLOCK / 2;
    let line = |x: u64| x * u64::from(by.multiplier) + u64::from(by.addend);
    // A divisor of at least 1 shifts by all of the lower half; for 0 there is nothing to shift.
    let log = by.shift.saturating_sub(u32::BITS);
    let bytes = block.map(u32::to_ne_bytes);
    let mut quotients = [[0; 8]; PAIRS];
    for (quotients, pair) in quotients.iter_mut().zip(bytes.as_flattened().as_chunks().0) {
        // Which of the two is in the lower half does not matter.
        let pair = u64::from_ne_bytes(*pair);
        let (low, high) = (line(pair & u64::from(u32::MAX)), line(pair >> u32::BITS));
        let high = high >> u32::BITS >> log << u32::BITS;
        *quotients = (low >> u32::BITS >> log | high).to_ne_bytes();
    }
    for (x, &quotient) in block.iter_mut().zip(quotients.as_flattened().as_chunks().0) {
        *x = u32::from_ne_bytes(quotient);
    }
}

/// `(t + ((x - t) >> shifts[0])) >> shifts[1]`, where `t` are the upper bits of the product with a multiplier.
#[derive(Clone, Copy)]
struct Halves<M> {
    multiplier: M,
    shifts: [u32; 2],
}

macro_rules! by_halves {
    ($($T:ident $Twice:ident $M:ty, $split:ident $upper:ident;)*) => { $(
        impl Divisor for $T {
            type Reciprocal = Halves<$M>;

            /// With N bits and `l = ceil(log2(y))` the reciprocal is `2^N + multiplier` over `2^(N + l)`, too large by at most
            /// `1 / (2^N y)`: no `x < 2^N` makes `1 / y` of that.
            fn reciprocal(self) -> Halves<$M> {
                // That of one multiplies to nothing in the upper bits, which other shifts leave at nothing for zero.
                let y = self.max(1);
                let log = $T::BITS - (y - 1).leading_zeros();
                let missing = (1 << log) - $Twice::from(y);
                let multiplier = (missing << $T::BITS) / $Twice::from(y) + 1;
                let shifts = [log.min(1), log.saturating_sub(1)];
                Halves {
                    multiplier: $split(multiplier as $T),
                    shifts: if self == 0 { [$T::BITS - 1, 1] } else { shifts },
                }
            }

            #[inline(always)]
            fn over(self, by: Halves<$M>) -> $T {
                let upper = $upper(self, by.multiplier);
                (upper + ((self - upper) >> by.shifts[0])) >> by.shifts[1]
            }
        }
    )* };
}

by_halves! {
    u16 u32 u16, whole_16 upper_16;
    u64 u128 [u32; 2], halves_64 upper_64;
}

fn whole_16(multiplier: u16) -> u16 {
    multiplier
}

/// The upper bits of a product.
#[inline(always)]
fn upper_16(x: u16, y: u16) -> u16 {
    ((u32::from(x) * u32::from(y)) >> 16) as u16
}

/// A number's halves, the lower first, without the compiler knowing that they are: it would make one multiplication of 128
/// bits of [`upper_64`], which vectors do not have.
fn halves_64(multiplier: u64) -> [u32; 2] {
    [
        black_box(multiplier as u32),
        black_box((multiplier >> 32) as u32),
    ]
}

/// The upper bits of a product with a number in halves.
#[inline(always)]
fn upper_64(x: u64, [low, high]: [u32; 2]) -> u64 {
    let (low, high) = (u64::from(low), u64::from(high));
    let (below, above) = (u64::from(x as u32), x >> 32);
    let (first, second) = (above * low, below * high);
    let carried = ((below * low) >> 32) + u64::from(first as u32) + u64::from(second as u32);
    above * high + (first >> 32) + (second >> 32) + (carried >> 32)
}

/// Loops over the dividends of a divisor. They say that they did it, which a type without reciprocals does not.
macro_rules! division {
    ($($T:ident $Unsigned:ident $signed:literal;)*) => { $(
        /// Division of this integer type by a number.
        pub(crate) mod $T {
            use super::{BLOCK, Divisor};
            use crate::isa::Arch;
            use crate::vector::Vector;

            /// A divisor and what dividing by it takes.
            #[derive(Clone, Copy)]
            struct By {
                y: $T,
                /// Of the size of `y`.
                reciprocal: <$Unsigned as Divisor>::Reciprocal,
                /// All ones where `y` is negative: dividends change their sign with it.
                turn: $T,
                /// Turned dividends below it give a negative quotient. None do where `y` is 0.
                limit: $T,
                /// All ones; none where `y` is 0, which leaves nothing.
                kept: $T,
            }

            impl By {
                fn new(y: $T) -> By {
                    let ones = (0 as $T).wrapping_sub(1);
                    let turn = if y < (0 as $T) { ones } else { 0 };
                    let size = (y ^ turn).wrapping_sub(turn) as $Unsigned;
                    By {
                        y,
                        reciprocal: size.reciprocal(),
                        turn,
                        limit: if y == 0 { $T::MIN } else { turn },
                        kept: if y == 0 { 0 } else { ones },
                    }
                }

                /// The quotient rounded down. Of a turned dividend that is not negative at most one bit is its top one (of
                /// the smallest number), so as an unsigned number it is right.
                #[inline(always)]
                fn floor(self, x: $T) -> $T {
                    let (size, negative) = self.size_of(x);
                    size.over(self.reciprocal) as $T ^ negative
                }

                /// What is divided, and all ones where its quotient is turned round.
                #[inline(always)]
                fn size_of(self, x: $T) -> ($Unsigned, $T) {
                    if !$signed {
                        return (x as $Unsigned, 0);
                    }
                    let turned = x ^ self.turn;
                    let negative = if turned < self.limit { (0 as $T).wrapping_sub(1) } else { 0 };
                    ((turned.wrapping_sub(self.turn) ^ negative) as $Unsigned, negative)
                }

                /// [`By::floor`] of a block.
                #[inline(always)]
                fn floor_each(self, dst: &mut [$T; BLOCK], x: &[$T; BLOCK]) {
                    let mut sizes = x.map(|x| self.size_of(x).0);
                    Divisor::over_each(&mut sizes, self.reciprocal);
                    for ((d, &x), quotient) in dst.iter_mut().zip(x).zip(sizes) {
                        *d = quotient as $T ^ self.size_of(x).1;
                    }
                }

                /// What [`By::floor`] leaves.
                #[inline(always)]
                fn rest(self, x: $T) -> $T {
                    (x & self.kept).wrapping_sub(self.floor(x).wrapping_mul(self.y))
                }

                /// What the quotient rounded towards zero leaves.
                #[inline(always)]
                fn rest_to_zero(self, x: $T) -> $T {
                    let negative = if x < (0 as $T) { (0 as $T).wrapping_sub(1) } else { 0 };
                    let size = (x ^ negative).wrapping_sub(negative);
                    let quotient = (size as $Unsigned).over(self.reciprocal) as $T;
                    let by = (self.y ^ self.turn).wrapping_sub(self.turn);
                    let rest = (size & self.kept).wrapping_sub(quotient.wrapping_mul(by));
                    (rest ^ negative).wrapping_sub(negative)
                }
            }

            /// Quotients rounded down; 0 where `y` is 0.
            #[inline(always)]
            pub(crate) fn floor_div_by<A: Arch>(mut dst: &mut [$T], mut x: &[$T], y: $T) -> bool {
                let by = By::new(y);
                if const { size_of::<$T>() == 4 && <A::F64 as Vector<f64>>::LANES < 8 } {
                    let (blocks, blocks_of_x);
                    (blocks, dst) = dst.as_chunks_mut();
                    (blocks_of_x, x) = x.as_chunks();
                    for (dst, x) in blocks.iter_mut().zip(blocks_of_x) {
                        by.floor_each(dst, x);
                    }
                }
                for (d, &x) in dst.iter_mut().zip(x) {
                    *d = by.floor(x);
                }
                true
            }

            /// What those leave, with the sign of `y`; 0 where `y` is 0.
            #[inline(always)]
            pub(crate) fn modulo_by<A: Arch>(dst: &mut [$T], x: &[$T], y: $T) -> bool {
                let by = By::new(y);
                for (d, &x) in dst.iter_mut().zip(x) {
                    *d = by.rest(x);
                }
                true
            }

            /// What quotients rounded towards zero leave; 0 where `y` is 0.
            #[inline(always)]
            pub(crate) fn fmod_by<A: Arch>(dst: &mut [$T], x: &[$T], y: $T) -> bool {
                let by = By::new(y);
                for (d, &x) in dst.iter_mut().zip(x) {
                    *d = by.rest_to_zero(x);
                }
                true
            }
        }
    )* };
}

division! {
    u8 u8 false;
    i8 u8 true;
    u16 u16 false;
    i16 u16 true;
    u32 u32 false;
    i32 u32 true;
    u64 u64 false;
    i64 u64 true;
}

#[cfg(test)]
mod tests {
    use crate::isa::Plain;
    use crate::scalar::integer;
    use proptest::prelude::*;

    /// Compares all three answers with those of divisions, one by one.
    macro_rules! check {
        ($T:ident, $x:expr, $y:expr) => {{
            let (x, y): (&[$T], $T) = ($x, $y);
            let mut found = [vec![1; x.len()], vec![1; x.len()], vec![1; x.len()]];
            assert!(super::$T::floor_div_by::<Plain>(&mut found[0], x, y));
            assert!(super::$T::modulo_by::<Plain>(&mut found[1], x, y));
            assert!(super::$T::fmod_by::<Plain>(&mut found[2], x, y));
            for (i, &x) in x.iter().enumerate() {
                let wanted = [
                    integer::$T::floor_div::<Plain>(x, y),
                    integer::$T::modulo::<Plain>(x, y),
                    integer::$T::fmod::<Plain>(x, y),
                ];
                assert_eq!(
                    [found[0][i], found[1][i], found[2][i]],
                    wanted,
                    "{x} by {y}"
                );
            }
        }};
    }

    /// Numbers around zero, the ends, powers of two, and around their multiples by other such numbers.
    macro_rules! edges {
        ($T:ident) => {{
            let powers = (0..$T::BITS).map(|bit| (1 as $T).wrapping_shl(bit));
            let ends = [0, $T::MIN, $T::MAX, $T::MAX / 3, $T::MAX / 7 * 5];
            let near = |y: $T| [y.wrapping_sub(1), y, y.wrapping_add(1)];
            let both = |y: $T| [y, y.wrapping_neg()];
            let numbers = powers.chain(ends).chain(3..20);
            let mut edges: Vec<$T> = numbers.flat_map(near).flat_map(both).collect();
            edges.sort_unstable();
            edges.dedup();
            edges
        }};
    }

    macro_rules! edges_by_edges {
        ($($T:ident)*) => { $( {
            let edges = edges!($T);
            for &y in &edges {
                let multiples = edges.iter().map(|n| n.wrapping_mul(y));
                let near = multiples.flat_map(|n| [n.wrapping_sub(1), n, n.wrapping_add(1)]);
                let x: Vec<$T> = edges.iter().copied().chain(near).collect();
                check!($T, &x, y);
            }
        } )* };
    }

    #[test]
    fn every_pair_of_bytes() {
        let all: Vec<u8> = (0..=u8::MAX).collect();
        all.iter().for_each(|&y| check!(u8, &all, y));
        let all: Vec<i8> = (i8::MIN..=i8::MAX).collect();
        all.iter().for_each(|&y| check!(i8, &all, y));
    }

    #[test]
    fn every_divisor_of_two_bytes() {
        let x = edges!(u16);
        (0..=u16::MAX).for_each(|y| check!(u16, &x, y));
        let x = edges!(i16);
        (i16::MIN..=i16::MAX).for_each(|y| check!(i16, &x, y));
    }

    #[test]
    fn edges_and_what_is_near_their_multiples() {
        edges_by_edges!(u16 i16 u32 i32 u64 i64);
    }

    proptest! {
        #[test]
        fn any_numbers(x: [u64; 8], y: u64, bits in 0u32..64) {
            // Divisors of every size.
            let y = y >> bits;
            let at_multiples = x.map(|x| x / y.max(1) * y);
            for x in [x, at_multiples, at_multiples.map(|x| x.wrapping_sub(1))] {
                check!(u64, &x, y);
                check!(i64, &x.map(|x| x as i64), y as i64);
                check!(i64, &x.map(|x| x as i64), (y as i64).wrapping_neg());
                check!(u32, &x.map(|x| x as u32), y as u32);
                check!(i32, &x.map(|x| x as i32), y as i32);
                check!(u16, &x.map(|x| x as u16), y as u16);
                check!(i16, &x.map(|x| x as i16), y as i16);
            }
        }
    }
}
