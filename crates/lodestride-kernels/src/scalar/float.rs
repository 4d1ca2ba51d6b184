//! What the elementary functions ask of a float type: its operators, its bits, and sums kept in two parts.
//!
//! An algorithm is written once over [`Real`] and serves f32 and f64, each with its own polynomials. Those are minimax:
//! Remez' exchange in 260-bit arithmetic on the form that the table's comment names, coefficient after coefficient rounded
//! to the type and the rest fitted again.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;
use crate::scalar::erf::ErfTable;
use crate::scalar::exp::ExpTable;
use crate::scalar::hyperbolic::HyperbolicTable;
use crate::scalar::inverse_trig::InverseTrigTable;
use crate::scalar::log::LogTable;
use crate::scalar::power::PowerTable;
use crate::scalar::trig::TrigTable;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Operators and bits of f32 and f64.
pub(crate) trait Float:
    Quotient
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// 1.5 times 2 to the number of mantissa bits: adding it drops the fraction and leaves the whole number in the low
    /// bits.
    const WHOLE: Self;
    const INFINITY: Self;
    const NAN: Self;
    /// The smallest number that is not denormal.
    const MIN_NORMAL: Self;
    /// 2 to an even power that makes every denormal number normal, and that power.
    const LIFT: (Self, Self);
    /// Splits a mantissa in halves (Veltkamp).
    const HALVES: Self;

    /// A constant.
    fn of(value: f64) -> Self;
    /// `self * b + c` in one rounding where the machine has the instruction, in two where it has not.
    fn fused<A: Arch>(self, b: Self, c: Self) -> Self;
    fn root(self) -> Self;
    /// Distance from zero.
    fn size(self) -> Self;
    /// With the sign of another.
    fn signed_as(self, other: Self) -> Self;
    /// With the sign turned where `other` is negative.
    fn turned_by(self, other: Self) -> Self;
    fn is_not_a_number(self) -> bool;
    fn is_negative(self) -> bool;
    /// Whether neither zero, negative, denormal, infinite nor NaN.
    fn is_plain(self) -> bool;
    /// 2^n for a normal power, from `WHOLE + n`.
    fn power_of_two(shifted: Self) -> Self;
    /// Times 2^n, from `WHOLE + n`, where neither end is denormal or infinite.
    fn scaled(self, shifted: Self) -> Self;
    /// Whether `n` is odd, from `WHOLE + n`.
    fn is_odd(shifted: Self) -> bool;
    /// `2^k m` with `m` between sqrt(1/2) and sqrt(2), of a plain number: `(k, m)`.
    fn split(self) -> (Self, Self);
    /// Where the line of [`Float::rough_inverse_cube_root`] begins.
    const CUBE: Self;
    /// About `self^(-1/3)`, to 3.5 %, of a plain number.
    fn rough_inverse_cube_root(self) -> Self;
}

/// A float type with the polynomials of every function.
pub(crate) trait Real:
    Float + ErfTable + ExpTable + HyperbolicTable + InverseTrigTable + LogTable + PowerTable + TrigTable
{
}

impl Real for f32 {}
impl Real for f64 {}

macro_rules! floats {
    ($($T:ident $Word:ident $bits:literal $whole:literal $lift:literal $power:literal $halves:literal $cut:literal $cube:literal)*) => { $(
        impl Float for $T {
            const WHOLE: Self = 1.5 * $whole;
            const INFINITY: Self = $T::INFINITY;
            const NAN: Self = $T::NAN;
            const MIN_NORMAL: Self = $T::MIN_POSITIVE;
            const LIFT: (Self, Self) = ($lift, $power);
            const HALVES: Self = $halves;
            const CUBE: Self = $cube;

            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $T
            }

            #[inline(always)]
            fn fused<A: Arch>(self, b: Self, c: Self) -> Self {
                if A::FMA { self.mul_add(b, c) } else { self * b + c }
            }

            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn size(self) -> Self {
                $T::abs(self)
            }

            #[inline(always)]
            fn signed_as(self, other: Self) -> Self {
                self.copysign(other)
            }

            #[inline(always)]
            fn turned_by(self, other: Self) -> Self {
                $T::from_bits(self.to_bits() ^ (other.to_bits() & (1 << ($Word::BITS - 1))))
            }

            #[inline(always)]
            fn is_not_a_number(self) -> bool {
                self.is_nan()
            }

            #[inline(always)]
            fn is_negative(self) -> bool {
                self.is_sign_negative()
            }

            #[inline(always)]
            fn is_plain(self) -> bool {
                ($T::MIN_POSITIVE..$T::INFINITY).contains(&self)
            }

            #[inline(always)]
            fn power_of_two(shifted: Self) -> Self {
                // The bias of the exponent; what stands above it is shifted out.
                let bias = ($Word::MAX >> ($bits + 2)) as $Word;
                $T::from_bits(shifted.to_bits().wrapping_add(bias) << $bits)
            }

            #[inline(always)]
            fn scaled(self, shifted: Self) -> Self {
                $T::from_bits(self.to_bits().wrapping_add(shifted.to_bits() << $bits))
            }

            #[inline(always)]
            fn is_odd(shifted: Self) -> bool {
                shifted.to_bits() & 1 == 1
            }

            #[inline(always)]
            fn split(self) -> (Self, Self) {
                // Moves the cut between exponents from 1 to sqrt(1/2).
                let one = (1.0 as $T).to_bits();
                let moved = self.to_bits().wrapping_add(one - $cut);
                // The exponent as a float without a conversion: in the low bits of a large power of two.
                let whole: $T = $whole;
                let k = $T::from_bits((moved >> $bits) | whole.to_bits()) - (whole + (one >> $bits) as $T);
                let mantissa = (moved & ((1 << $bits) - 1)).wrapping_add($cut);
                (k, $T::from_bits(mantissa))
            }

            #[inline(always)]
            fn rough_inverse_cube_root(self) -> Self {
                // A third of the bits, by floats: vector units have no division of integers.
                let whole: $T = $whole;
                let top = $T::from_bits((self.to_bits() >> ($Word::BITS / 2)) | whole.to_bits()) - whole;
                let third = $T::WHOLE + (Self::CUBE - top * (1.0 / 3.0));
                $T::from_bits(third.to_bits() << ($Word::BITS / 2))
            }
        }
    )* };
}

floats! {
    f32 u32 23 8388608.0 16777216.0 24.0 4097.0 0x3f35_04f3 21666.0
    f64 u64 52 4503599627370496.0 18014398509481984.0 54.0 134217729.0 0x3fe6_a09e_667f_3bcd 1430188287.0
}

/// `c[first] + c[first + step] x + c[first + 2 step] x^2 + ..`, by Horner's rule.
#[inline(always)]
pub(crate) fn horner<R: Float, A: Arch>(x: R, c: &[R], first: usize, step: usize) -> R {
    let mut i = first + (c.len() - 1 - first) / step * step;
    let mut sum = c[i];
    while i > first {
        i -= step;
        sum = sum.fused::<A>(x, c[i]);
    }
    sum
}

/// The polynomial `c[0] + c[1] x + c[2] x^2 + ..`. Long ones are two or four interleaved ones in a power of `x`, so that
/// more than one multiplication is under way; the last step is Horner's and rounds once.
#[inline(always)]
pub(crate) fn polynomial<R: Float, A: Arch>(x: R, c: &[R]) -> R {
    if c.len() < 6 {
        return horner::<R, A>(x, c, 0, 1);
    }
    tail_of_polynomial::<R, A>(x, c).fused::<A>(x, c[0])
}

/// `c[1] + c[2] x + ..` of a long polynomial.
#[inline(always)]
pub(crate) fn tail_of_polynomial<R: Float, A: Arch>(x: R, c: &[R]) -> R {
    let square = x * x;
    if c.len() < 12 {
        let odd = horner::<R, A>(square, c, 2, 2);
        return odd.fused::<A>(x, horner::<R, A>(square, c, 1, 2));
    }
    let fourth = square * square;
    let low = horner::<R, A>(fourth, c, 2, 4).fused::<A>(x, horner::<R, A>(fourth, c, 1, 4));
    let high = horner::<R, A>(fourth, c, 4, 4).fused::<A>(x, horner::<R, A>(fourth, c, 3, 4));
    high.fused::<A>(square, low)
}

/// `a + b` and what its rounding lost, exactly (Knuth).
#[inline(always)]
pub(crate) fn two_sum<R: Float>(a: R, b: R) -> (R, R) {
    let sum = a + b;
    let from_b = sum - a;
    (sum, (a - (sum - from_b)) + (b - from_b))
}

/// [`two_sum`] where `|a| >= |b|` or `a` is 0 (Dekker).
#[inline(always)]
pub(crate) fn fast_two_sum<R: Float>(a: R, b: R) -> (R, R) {
    let sum = a + b;
    (sum, (a - sum) + b)
}

/// `a * b` and what its rounding lost, exactly unless it underflows (Veltkamp and Dekker where there is no fused
/// multiply-add).
#[inline(always)]
pub(crate) fn two_product<R: Float, A: Arch>(a: R, b: R) -> (R, R) {
    let product = a * b;
    if A::FMA {
        return (product, a.fused::<A>(b, -product));
    }
    let split = |x: R| {
        let scaled = x * R::HALVES;
        let high = scaled - (scaled - x);
        (high, x - high)
    };
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    (product, ((ah * bh - product) + ah * bl + al * bh) + al * bl)
}

/// `c - a * b`, rounded about once also where it cancels.
#[inline(always)]
pub(crate) fn rest_of_product<R: Float, A: Arch>(a: R, b: R, c: R) -> R {
    if A::FMA {
        return (-a).fused::<A>(b, c);
    }
    let (product, lost) = two_product::<R, A>(a, b);
    (c - product) - lost
}

/// The quotient of two numbers given as unevaluated sums of a high and a low part, as such a sum: its high part is off by
/// little more than a rounding, the sum by a few thousandths of one.
#[inline(always)]
pub(crate) fn divide_pairs<R: Float, A: Arch>(numerator: (R, R), denominator: (R, R)) -> (R, R) {
    let inverse = R::ONE / denominator.0;
    let quotient = numerator.0 * inverse;
    let rest = rest_of_product::<R, A>(quotient, denominator.0, numerator.0);
    let rest = rest + rest_of_product::<R, A>(quotient, denominator.1, numerator.1);
    (quotient, rest * inverse)
}
