//! Roots, powers and the division of floats with a whole quotient.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;
use crate::scalar::exp::{bounded, exp2_reduced, scaled_far};
use crate::scalar::float::{Float, Real, fast_two_sum, polynomial, rest_of_product, two_product};
use crate::scalar::rounding::Rounding;

/// Roots and powers.
pub(crate) trait Power: Quotient {
    /// Whether the cube root's fast form cannot do this argument: zero, denormal, infinite or NaN.
    fn is_beyond_cbrt(self, result: Self) -> bool;
    fn sqrt<A: Arch>(self) -> Self;
    /// `1 / sqrt(x)`.
    fn rsqrt<A: Arch>(self) -> Self;
    fn cbrt_near<A: Arch>(self) -> Self;
    fn cbrt<A: Arch>(self) -> Self;
    /// `sqrt(x * x + y * y)`, where neither square overflows nor both underflow.
    fn hypot_near<A: Arch>(self, y: Self) -> Self;
    fn is_beyond_hypot(self, y: Self, result: Self) -> bool;
    /// `sqrt(x * x + y * y)` without overflow on the way.
    fn hypot_far<A: Arch>(self, y: Self) -> Self;
}

/// Constants of the powers.
pub(crate) trait PowerTable: Sized + 'static {
    /// `(atanh(s) / s - 1 - s^2 / 3) 2 / (s^4 ln 2)` as a polynomial in `s^2`, for |s| <= (sqrt 2 - 1) / (sqrt 2 + 1).
    const LOG2: &'static [Self];
    /// 2 / ln 2 and a third of it, in two parts.
    const TWO_LOG2E: (Self, Self);
    const THIRD: (Self, Self);
    /// The range of squares that neither overflow nor lose bits.
    const SQUARES: (Self, Self);
}

impl PowerTable for f64 {
    /// To 2^-72 of the logarithm.
    const LOG2: &'static [f64] = &[
        0.577_078_016_355_585_1,
        0.412_198_583_111_345_9,
        0.320_598_897_912_714_1,
        0.262_308_198_669_304_44,
        0.221_952_269_427_157_82,
        0.192_401_363_103_008_9,
        0.168_450_596_754_806_25,
        0.172_825_589_886_467_68,
    ];
    const TWO_LOG2E: (f64, f64) = (2.885_390_081_777_926_8, 4.071_054_748_186_206_6e-17);
    const THIRD: (f64, f64) = (0.961_796_693_925_975_6, 5.057_761_664_812_591e-17);
    const SQUARES: (f64, f64) = (1e-140, 1e150);
}

impl PowerTable for f32 {
    /// To 2^-35 of the logarithm.
    const LOG2: &'static [f32] = &[0.577_080_2, 0.411_849_86, 0.337_823_3];
    const TWO_LOG2E: (f32, f32) = (2.885_39, 3.851_926e-8);
    const THIRD: (f32, f32) = (0.961_796_7, -7.028_462e-9);
    const SQUARES: (f32, f32) = (1e-15, 1e18);
}

#[inline(always)]
fn rsqrt<R: Real, A: Arch>(x: R) -> R {
    // Denormal numbers, and those whose rounding errors are, times an even power of two, whose root is the constant that
    // halves a mantissa, less one. The others are made smaller, since the root of the largest squared is infinite.
    let tiny = x < R::MIN_NORMAL * R::LIFT.0;
    let plain = x * if tiny { R::LIFT.0 } else { R::of(0.25) };
    let scale = if tiny { R::HALVES - R::ONE } else { R::of(0.5) };
    // The root and what its rounding lost, then one over the two.
    let root = plain.root();
    let inverse = R::ONE / root;
    let rest = R::of(0.5) * inverse * rest_of_product::<R, A>(root, root, plain);
    let correction = rest_of_product::<R, A>(root, inverse, R::ONE) - inverse * rest;
    let result = inverse.fused::<A>(correction, inverse) * scale;
    // Zero and infinity, of which the products make NaN.
    if plain.is_plain() { result } else { inverse }
}

/// The cube root of a plain number.
///
/// `y` near `x^(-1/3)` from a third of the exponent; two of Householder's steps of third order take it to all bits but a
/// few, and the root `x y^2` is put right by one step of Newton's with the exact rest.
#[inline(always)]
fn cbrt_plain<R: Real, A: Arch>(x: R) -> R {
    let mut y = x.rough_inverse_cube_root();
    for _ in 0..2 {
        let square = y * y;
        let rest = R::ONE - (x * y) * square;
        let step = rest.fused::<A>(R::of(2.0 / 9.0), R::of(1.0 / 3.0)) * rest;
        y = y.fused::<A>(step, y);
    }
    let square = y * y;
    let root = x * square;
    let (power, lost) = two_product::<R, A>(root, root);
    // A product that is rounded may be infinite where x is not.
    let large = !A::FMA && x > R::ONE;
    let half = if large { R::of(0.5) } else { R::ONE };
    let rest = rest_of_product::<R, A>(power * half, root, x * half) - lost * half * root;
    let third = if large {
        R::of(2.0 / 3.0)
    } else {
        R::of(1.0 / 3.0)
    };
    (rest * square).fused::<A>(third, root)
}

#[inline(always)]
fn cbrt<R: Real, A: Arch>(x: R) -> R {
    let size = x.size();
    let denormal = size < R::MIN_NORMAL;
    // 2^(3 k) with k = 8 or 18.
    let lift = R::of(if R::HALVES > R::of(5000.0) {
        18_014_398_509_481_984.0
    } else {
        16_777_216.0
    });
    let drop = R::of(if R::HALVES > R::of(5000.0) {
        1.0 / 262_144.0
    } else {
        1.0 / 256.0
    });
    let root = cbrt_plain::<R, A>(if denormal { size * lift } else { size });
    let scaled = if denormal { root * drop } else { root };
    let inside = size < R::INFINITY && size > R::ZERO;
    (if inside { scaled } else { size }).signed_as(x)
}

/// log2 of a plain number in two parts, to some 65 bits (f64) or 33 (f32): `k + s (C + s^2 (C / 3 + s^2 Q))` with
/// `s = (m - 1) / (m + 1)` and C = 2 / ln 2, everything but Q in two parts. `drop` is taken away from `k`.
#[inline(always)]
fn log2_parts<R: Real, A: Arch>(x: R, drop: R) -> (R, R) {
    let (k, m) = x.split();
    let k = k - drop;
    let f = m - R::ONE;
    let (bottom, lost) = fast_two_sum(R::ONE, m);
    let inverse = R::ONE / bottom;
    let s = f * inverse;
    let rest = rest_of_product::<R, A>(s, bottom, f);
    let s_low = rest_of_product::<R, A>(s, lost, rest) * inverse;
    let (z, lost) = two_product::<R, A>(s, s);
    let z_low = (s + s).fused::<A>(s_low, lost);
    let tail = z * polynomial::<R, A>(z, R::LOG2);
    let (inner, lost) = fast_two_sum(R::THIRD.0, tail);
    let inner_low = lost + R::THIRD.1;
    let (product, lost) = two_product::<R, A>(z, inner);
    let product_low = z.fused::<A>(inner_low, z_low.fused::<A>(inner, lost));
    let (sum, lost) = fast_two_sum(R::TWO_LOG2E.0, product);
    let sum_low = lost + (R::TWO_LOG2E.1 + product_low);
    let (log, lost) = two_product::<R, A>(s, sum);
    let log_low = s.fused::<A>(sum_low, s_low.fused::<A>(sum, lost));
    let (whole, lost) = fast_two_sum(k, log);
    (whole, lost + log_low)
}

/// `y (log2(x) - drop)` for a plain `x`, in two parts.
#[inline(always)]
fn exponent<R: Real, A: Arch>(x: R, y: R, drop: R) -> (R, R) {
    let (log, log_low) = log2_parts::<R, A>(x, drop);
    let (power, lost) = two_product::<R, A>(y, log);
    (power, y.fused::<A>(log_low, lost))
}

/// `x^y` for a plain `x`. Where the result is not plain this gives something that is not plain either.
#[inline(always)]
fn pow_near<R: Real, A: Arch>(x: R, y: R) -> R {
    let (power, low) = exponent::<R, A>(x, y, R::ZERO);
    let end = R::ENDS2.1 + R::ONE;
    // Beyond, the low part may be anything.
    let low = if power.size() < end { low } else { R::ZERO };
    let power = bounded(power, (-end, end));
    let shifted = power + R::WHOLE;
    let f = (power - (shifted - R::WHOLE)) + low;
    exp2_reduced::<R, A>(f).scaled(shifted)
}

/// `x^y` for all numbers, with the special cases of IEEE 754.
#[inline(always)]
fn pow_any<R: Real + Rounding, A: Arch>(x: R, y: R) -> R {
    let size = x.size();
    let whole = y.round::<A>() == y;
    let half = R::of(0.5) * y;
    let odd = whole && half.round::<A>() != half;
    let denormal = size < R::MIN_NORMAL;
    let (factor, drop) = R::LIFT;
    let plain = if denormal { size * factor } else { size };
    // Beyond these exponents only powers of numbers next to 1 are neither zero nor infinite, and 2^70 ends those, too.
    let bounded_y = bounded(y, (R::of(-1e22), R::of(1e22)));
    let drop = if denormal { drop } else { R::ZERO };
    let (power, low) = exponent::<R, A>(plain, bounded_y, drop);
    let (first, last) = R::ENDS2;
    let inside = power > first && power < last;
    let power = bounded(power, R::ENDS2);
    let low = if inside { low } else { R::ZERO };
    let shifted = power + R::WHOLE;
    let f = (power - (shifted - R::WHOLE)) + low;
    let result = scaled_far::<R, A>(exp2_reduced::<R, A>(f), shifted);
    // The powers of zero and infinity: zero or infinite.
    let grows = (size > R::ONE) == (y > R::ZERO);
    let end = if grows { R::INFINITY } else { R::ZERO };
    let extreme = size == R::ZERO || size == R::INFINITY;
    let result = if extreme || y.size() == R::INFINITY {
        end
    } else {
        result
    };
    let real = if x < R::ZERO && !whole && size < R::INFINITY {
        R::NAN
    } else {
        result
    };
    let signed = if odd && x.is_negative() { -real } else { real };
    let unknown = x.is_not_a_number() || y.is_not_a_number();
    let known = if unknown { R::NAN } else { signed };
    // Powers of one, infinite powers of minus one and the power 0 are one whatever the other operand.
    let one = x == R::ONE || y == R::ZERO || (x == -R::ONE && y.size() == R::INFINITY);
    if one { R::ONE } else { known }
}

macro_rules! power {
    ($($T:ident $hypot:path;)*) => { $(
        impl Power for $T {
            #[inline(always)]
            fn is_beyond_cbrt(self, _result: Self) -> bool {
                !self.size().is_plain()
            }

            #[inline(always)]
            fn sqrt<A: Arch>(self) -> Self {
                $T::sqrt(self)
            }

            #[inline(always)]
            fn rsqrt<A: Arch>(self) -> Self {
                rsqrt::<$T, A>(self)
            }

            #[inline(always)]
            fn cbrt_near<A: Arch>(self) -> Self {
                cbrt_plain::<$T, A>(self.size()).signed_as(self)
            }

            #[inline(always)]
            fn cbrt<A: Arch>(self) -> Self {
                cbrt::<$T, A>(self)
            }

            #[inline(always)]
            fn hypot_near<A: Arch>(self, y: Self) -> Self {
                self.fused::<A>(self, y * y).root()
            }

            #[inline(always)]
            fn is_beyond_hypot(self, y: Self, _result: Self) -> bool {
                let (low, high) = <$T>::SQUARES;
                let (x, y) = (self.size(), y.size());
                let large = if x > y { x } else { y };
                !((large > low) & (x < high) & (y < high))
            }

            fn hypot_far<A: Arch>(self, y: Self) -> Self {
                $hypot(self, y)
            }
        }

        /// Division with a whole quotient, and powers, of this float type.
        pub(crate) mod $T {
            use super::*;

            /// `x` to the power `y`, for a plain `x` and result.
            #[inline(always)]
            pub(crate) fn pow_near<A: Arch>(x: $T, y: $T) -> $T {
                super::pow_near::<$T, A>(x, y)
            }

            /// Whether `pow_near` could not do it.
            #[inline(always)]
            pub(crate) fn is_beyond_pow(x: $T, y: $T, result: $T) -> bool {
                !(x.is_plain() & result.is_plain() & (y.size() < <$T>::INFINITY))
            }

            /// `x` to the power `y`.
            #[inline(always)]
            pub(crate) fn pow<A: Arch>(x: $T, y: $T) -> $T {
                super::pow_any::<$T, A>(x, y)
            }
        }
    )* };
}

power! {
    f32 libm::hypotf;
    f64 libm::hypot;
}
