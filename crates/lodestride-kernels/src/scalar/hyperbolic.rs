//! Hyperbolic functions and their inverses.
//!
//! `tanh` is a quotient of sums of `exp(2x) - 1`. `sinh` is a polynomial up to 1;
//! from there on nothing cancels. The inverses are `log(1 + a)` with an `a` in two parts.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;
use crate::scalar::exp::{bounded, exp_near, expm1_parts, reduce};
use crate::scalar::float::{
    Float, Real, divide_pairs, fast_two_sum, polynomial, rest_of_product, two_product, two_sum,
};
use crate::scalar::log::{log_of_double, log1p_pair};

/// Hyperbolic functions.
pub(crate) trait Hyperbolic: Quotient {
    fn sinh<A: Arch>(self) -> Self;
    fn cosh<A: Arch>(self) -> Self;
    fn tanh<A: Arch>(self) -> Self;
    fn asinh<A: Arch>(self) -> Self;
    fn acosh<A: Arch>(self) -> Self;
    fn atanh<A: Arch>(self) -> Self;
}

/// Constants of the hyperbolic functions.
pub(crate) trait HyperbolicTable: Sized + 'static {
    /// `(sinh(x) - x) / x^3` as a polynomial in `x^2` for |x| <= 1.
    const SINH: &'static [Self];
    /// From here on `tanh(x)` is 1.
    const FLAT: Self;
}

impl HyperbolicTable for f64 {
    /// To 2^-61.
    const SINH: &'static [f64] = &[
        0.166_666_666_666_666_66,
        0.008_333_333_333_333_639,
        0.000_198_412_698_409_745_34,
        2.755_731_935_293_296e-6,
        2.505_207_895_562_564e-8,
        1.606_268_957_659_214_4e-10,
        7.414_768_815_418_729e-13,
        8.794_244_759_261_81e-15,
    ];
    const FLAT: f64 = 20.0;
}

impl HyperbolicTable for f32 {
    /// To 2^-31.
    const SINH: &'static [f32] = &[
        0.166_666_67,
        0.008_333_307,
        0.000_198_438_47,
        2.776_343_5e-6,
    ];
    const FLAT: f32 = 9.1;
}

/// `exp(|x|) / 4` in two parts, finite wherever its double is.
#[inline(always)]
fn quarter_exp<R: Real, A: Arch>(x: R) -> (R, R) {
    let reduced = reduce::<R, A>(bounded(x.size(), (R::ZERO, R::ENDS.1 + R::ONE)));
    let (one, tail) = reduced.exp_parts();
    let (high, low) = fast_two_sum(one, tail);
    let scale = R::power_of_two(reduced.shifted - R::of(2.0));
    (high * scale, low * scale)
}

#[inline(always)]
fn sinh<R: Real, A: Arch>(x: R) -> R {
    let square = x * x;
    let near = (x * square).fused::<A>(polynomial::<R, A>(square, R::SINH), x);
    let (high, low) = quarter_exp::<R, A>(x);
    let (sum, lost) = fast_two_sum(high, -(R::of(0.0625) / high));
    // The low part of infinity is not a number.
    let sum = if high < R::INFINITY {
        sum + (lost + low)
    } else {
        high
    };
    let far = (sum + sum).signed_as(x);
    if x.size() < R::ONE || x.is_not_a_number() {
        near
    } else {
        far
    }
}

#[inline(always)]
fn cosh<R: Real, A: Arch>(x: R) -> R {
    let (high, low) = quarter_exp::<R, A>(x);
    let (sum, lost) = two_sum(high, R::of(0.0625) / high);
    let sum = if high == R::INFINITY {
        high
    } else {
        sum + (lost + low)
    };
    sum + sum
}

/// With `e = exp(2x) - 1`: `e / (e + 2)`.
#[inline(always)]
fn tanh<R: Real, A: Arch>(x: R) -> R {
    let size = bounded(x.size(), (R::ZERO, R::FLAT));
    let (high, low) = expm1_parts::<R, A>(size + size);
    let (bottom, lost) = two_sum(high, R::of(2.0));
    let (large, small) = divide_pairs::<R, A>((high, low), (bottom, lost + low));
    (large + small).signed_as(x)
}

/// `(tanh(x) - x) / x^3` of f32 as a polynomial in `x^2` for |x| <= 0.9.
const TANH_F32: &[f32] = &[
    -0.333_333_3,
    0.133_332_63,
    -0.053_953_89,
    0.021_759_41,
    -0.008_450_872,
    0.002_759_119_3,
    -0.000_520_352_7,
];

/// [`tanh`] of f32 in fewer steps: a polynomial up to 0.9, from there on `1 - 2 / (exp(2x) + 1)`, which cancels no more.
#[inline(always)]
fn tanh_f32<A: Arch>(x: f32) -> f32 {
    let square = x * x;
    let near = (x * square).fused::<A>(polynomial::<f32, A>(square, TANH_F32), x);
    let size = x.abs();
    let double = bounded(size + size, (0.0, 2.0 * f32::FLAT));
    let far = 1.0 - 2.0 / (exp_near::<f32, A>(double) + 1.0);
    // The polynomial loses the sign of zero.
    (if size < 0.9 { near } else { far }).copysign(x)
}

#[inline(always)]
fn asinh<R: Real, A: Arch>(x: R) -> R {
    let size = x.size();
    // x + (sqrt(1 + x^2) - 1), the bracket as x^2 / (1 + sqrt(1 + x^2)).
    let (square, lost) = two_product::<R, A>(size, size);
    let (bottom, rest) = fast_two_sum((R::ONE + square).root(), R::ONE);
    let (bracket, small) = divide_pairs::<R, A>((square, lost), (bottom, rest));
    let (high, low) = fast_two_sum(size, bracket);
    // Far out the root is x itself: log(2 x), as log(1 + (x - 1)).
    let far = size > R::HALVES;
    let shifted = fast_two_sum(size, -R::ONE);
    let argument = if far { shifted.0 } else { high };
    let rest = if far { shifted.1 } else { low + small };
    let doublings = if far { R::ONE } else { R::ZERO };
    let result = log1p_pair::<R, A>((argument, rest), doublings).signed_as(x);
    if size < R::INFINITY { result } else { x }
}

#[inline(always)]
fn acosh<R: Real, A: Arch>(x: R) -> R {
    let (above, lost) = fast_two_sum(x, -R::ONE);
    // sqrt((x - 1)(x + 1)), and what rounding it lost.
    let (product, rest) = two_product::<R, A>(above, x + R::ONE);
    let root = product.root();
    let rest = (rest_of_product::<R, A>(root, root, product) + rest) * (R::of(0.5) / root);
    let rest = if root > R::ZERO { rest } else { R::ZERO };
    let (high, low) = fast_two_sum(root, above);
    // Far out the root is x itself: log(2 x), as log(1 + (x - 1)).
    let far = x > R::HALVES;
    let argument = if far { above } else { high };
    let rest = if far { lost } else { low + (lost + rest) };
    let doublings = if far { R::ONE } else { R::ZERO };
    let result = log1p_pair::<R, A>((argument, rest), doublings);
    let inside = if x < R::ONE { R::NAN } else { result };
    if x < R::INFINITY { inside } else { x }
}

#[inline(always)]
fn atanh<R: Real, A: Arch>(x: R) -> R {
    let size = x.size();
    let quotient = divide_pairs::<R, A>((size + size, R::ZERO), fast_two_sum(R::ONE, -size));
    let result = R::of(0.5) * log1p_pair::<R, A>(quotient, R::ZERO);
    if size < R::ONE {
        result.signed_as(x)
    } else {
        atanh_end(x)
    }
}

/// [`atanh`] from 1 on, where it is infinite, and of what is not a number.
#[inline(always)]
pub(crate) fn atanh_end<R: Real>(x: R) -> R {
    let end = if x.size() == R::ONE {
        R::INFINITY
    } else {
        R::NAN
    };
    end.signed_as(x)
}

/// [`asinh`] of numbers whose square counts alone, and of what is not finite.
#[inline(always)]
pub(crate) fn asinh_beyond<R: Real, A: Arch>(x: R) -> R {
    let size = x.size();
    let result = log_of_double::<R, A>(size).signed_as(x);
    if size < R::INFINITY { result } else { x }
}

/// [`acosh`] of such numbers, and outside its domain.
#[inline(always)]
pub(crate) fn acosh_beyond<R: Real, A: Arch>(x: R) -> R {
    let far = asinh_beyond::<R, A>(x);
    if x < R::ONE { R::NAN } else { far }
}

macro_rules! hyperbolic {
    ($($T:ident |$x:ident, $A:ident| $tanh:expr; $($function:ident)*;)*) => { $(
        impl Hyperbolic for $T {
            $(
                #[inline(always)]
                fn $function<A: Arch>(self) -> Self {
                    $function::<$T, A>(self)
                }
            )*

            #[inline(always)]
            fn tanh<$A: Arch>(self) -> Self {
                let $x = self;
                $tanh
            }
        }
    )* };
}

hyperbolic! {
    f32 |x, A| tanh_f32::<A>(x); sinh cosh asinh acosh atanh;
    f64 |x, A| tanh::<f64, A>(x); sinh cosh asinh acosh atanh;
}
