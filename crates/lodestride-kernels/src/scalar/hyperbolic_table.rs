//! `sinh` and `cosh` by a table of powers of two, with vectors that look up.
//!
//! `|x|` is `N + u`, where `exp(N)` is a root of two of few bits times a power of two. With the halves `a` of `exp(N)` and `b` of
//! `exp(-N)`, `cosh(N + u) = (a + b) cosh(u) + (a - b) sinh(u)`, and `sinh` with the signs of `b` turned. The polynomials are short, and
//! the large term is exact but for its last sum. Up to 1, where that would cancel, `sinh` is a polynomial of its own.

use crate::octave::{LookUp, Octave, polynomial};
use crate::scalar::exp::ExpTable;
use crate::scalar::float::Float;
use crate::scalar::hyperbolic::HyperbolicTable;
use crate::scalar::{expm1_table, tanh_table};

/// The tables of a float type.
pub(crate) trait Roots: Float + ExpTable + HyperbolicTable {
    /// The distance of neighbours in two parts, the first of so few bits that its multiples are exact.
    const STEP: (Self, Self);
    /// The roots, for [`Octave::root_times_power`].
    const ROOTS: &'static [Self];
    /// Halves of them and of their inverses, for [`Octave::root_times_power`] and [`Octave::root_over_power`].
    const HALVES_OF_ROOTS: &'static [Self];
    const HALVES_OF_INVERSES: &'static [Self];
    /// What the logarithms of the roots lack, over the second.
    const LACK: (&'static [Self], Self);
    /// `(cosh(u) - 1) / u^2` and `(sinh(u) - u) / u^3` in `u^2`, for |u| of half a step.
    const NEAR_COSH: &'static [Self];
    const NEAR_SINH: &'static [Self];
    /// `(exp(u) - 1 - u) / u^2` in `u`.
    const NEAR_EXP: &'static [Self];
}

/// A table of halves of numbers, with the place of each where the exponent begins.
macro_rules! table {
    ($T:ident $Word:ident $mantissa:literal $below:literal, $roots:path, |$root:ident| $entry:expr, $placed:ident) => {{
        let (mut table, mut place) = ($roots, 0);
        while place < table.len() {
            let $root = $roots[place];
            let bits = ($entry).to_bits() - (1 << $mantissa);
            table[place] = $T::from_bits(bits.$placed((place as $Word) << $below));
            place += 1;
        }
        table
    }};
}

impl Roots for f32 {
    const STEP: (f32, f32) = expm1_table::STEP;
    const ROOTS: &'static [f32] = &expm1_table::TABLE;
    const HALVES_OF_ROOTS: &'static [f32] =
        &table!(f32 u32 23 18, expm1_table::ROOTS, |root| root, wrapping_sub);
    const HALVES_OF_INVERSES: &'static [f32] =
        &table!(f32 u32 23 18, expm1_table::ROOTS, |root| 1.0 / root, wrapping_add);
    const LACK: (&'static [f32], f32) = (&expm1_table::LACK, 1.0);
    const NEAR_COSH: &'static [f32] = &[0.5];
    const NEAR_SINH: &'static [f32] = &[1.0 / 6.0];
    const NEAR_EXP: &'static [f32] = &[0.5, 1.0 / 6.0];
}

impl Roots for f64 {
    const STEP: (f64, f64) = (2.0 * tanh_table::STEP.0, 2.0 * tanh_table::STEP.1);
    const ROOTS: &'static [f64] = &tanh_table::TABLE;
    const HALVES_OF_ROOTS: &'static [f64] =
        &table!(f64 u64 52 48, tanh_table::ROOTS, |root| root, wrapping_sub);
    const HALVES_OF_INVERSES: &'static [f64] =
        &table!(f64 u64 52 48, tanh_table::ROOTS, |root| 1.0 / root, wrapping_add);
    const LACK: (&'static [f64], f64) = (&tanh_table::EXCESS, -2.0);
    const NEAR_COSH: &'static [f64] = &[0.5, 1.0 / 24.0, 1.0 / 720.0];
    const NEAR_SINH: &'static [f64] = &[1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0];
    const NEAR_EXP: &'static [f64] = &[
        0.5,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5040.0,
    ];
}

/// The hyperbolic sine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sinh;

impl<C: Roots> LookUp<C> for Sinh {
    #[inline(always)]
    fn of<V: Octave<C>>(x: V) -> (V, bool) {
        let square = x.mul(x);
        let near = (x.mul(square)).mul_add(polynomial(square, C::SINH), x);
        let far = combine(x, true).signed_as(x);
        (
            x.if_within(V::splat(C::ONE), near, far),
            x.are_within(V::splat(C::NEAR)),
        )
    }
}

/// The hyperbolic cosine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cosh;

impl<C: Roots> LookUp<C> for Cosh {
    #[inline(always)]
    fn of<V: Octave<C>>(x: V) -> (V, bool) {
        (combine(x, false), x.are_within(V::splat(C::NEAR)))
    }
}

/// `cosh(x)`, or with `odd` `sinh(|x|)` from 1 on.
#[inline(always)]
fn combine<C: Roots, V: Octave<C>>(x: V, odd: bool) -> V {
    let (shifted, u) = near_zero(x.size());
    let square = u.mul(u);
    let even = polynomial(square, C::NEAR_COSH).mul(square);
    let sinh = polynomial(square, C::NEAR_SINH).mul(square).mul_add(u, u);
    let a = shifted.root_times_power(C::HALVES_OF_ROOTS);
    let b = shifted.root_over_power(C::HALVES_OF_INVERSES);
    let (sum, difference) = (a.add(b), a.sub(b));
    let (large, other) = if odd {
        (difference, sum)
    } else {
        (sum, difference)
    };
    // What the large sum lost.
    let lost = if odd {
        a.sub(large).sub(b)
    } else {
        a.sub(large).add(b)
    };
    large.add(large.mul_add(even, other.mul_add(sinh, lost)))
}

/// With `n` steps near `x` and `u` beyond them: `WHOLE + n`, and `u`.
#[inline(always)]
pub(crate) fn near_zero<C: Roots, V: Octave<C>>(x: V) -> (V, V) {
    let splat = V::splat;
    let whole = splat(C::WHOLE);
    let shifted = x.mul_add(splat(C::ONE / (C::STEP.0 + C::STEP.1)), whole);
    let n = shifted.sub(whole);
    let lack = shifted.pick(C::LACK.0).mul(splat(C::LACK.1));
    let rest = n.neg_mul_add(splat(C::STEP.1), lack);
    (shifted, n.neg_mul_add(splat(C::STEP.0), x).add(rest))
}
