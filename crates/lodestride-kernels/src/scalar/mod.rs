//! What an operation does to one element: ordinary safe functions, one file per subject.
//!
//! Every function is branch-free (selects, not jumps) so that the loops of `inner.rs` vectorise, or says why it cannot
//! be. Loops, dtypes known only at run time and memory are not the business of this folder.
//!
//! Functions take a type parameter `A: Arch`: it tells whether a fused multiply-add is one instruction. Functions of f32
//! that have no vectorised form of their own are computed in f64 and rounded once, which makes them correct to about
//! half a unit in the last place.

pub(crate) mod activation;
pub(crate) mod arith;
pub(crate) mod bitwise;
pub(crate) mod cast;
pub(crate) mod compare;
pub(crate) mod erf;
pub(crate) mod exp;
pub(crate) mod hyperbolic;
pub(crate) mod integer;
pub(crate) mod inverse_trig;
pub(crate) mod log;
pub(crate) mod power;
pub(crate) mod rounding;
pub(crate) mod trig;

use crate::isa::Arch;
use lodestride_buffer::Element;

/// An operation on one element.
pub(crate) trait Unary<T: Element> {
    /// The element type of the result.
    type Out: Element;

    /// Whether `apply` leaves some arguments to `repair` (see [`Unary::is_hard`]).
    const HAS_HARD: bool = false;

    /// Whether the vector path cannot do this argument and `repair` must.
    #[inline(always)]
    fn is_hard(_x: T) -> bool {
        false
    }

    /// The slow, correct path for hard arguments.
    #[inline(never)]
    fn repair(x: T) -> Self::Out {
        Self::apply::<crate::isa::Plain>(x)
    }

    /// The result for one element.
    fn apply<A: Arch>(x: T) -> Self::Out;
}

/// An operation on two elements.
pub(crate) trait Binary<T: Element> {
    /// The element type of the result.
    type Out: Element;

    /// The result for one pair.
    fn apply<A: Arch>(x: T, y: T) -> Self::Out;
}

/// `a * b + c` in one rounding where the machine has the instruction, in two where it has not.
#[inline(always)]
pub(crate) fn mul_add<A: Arch>(a: f64, b: f64, c: f64) -> f64 {
    if A::FMA { a.mul_add(b, c) } else { a * b + c }
}

/// [`mul_add`] for f32.
#[inline(always)]
pub(crate) fn mul_add_f32<A: Arch>(a: f32, b: f32, c: f32) -> f32 {
    if A::FMA { a.mul_add(b, c) } else { a * b + c }
}

/// The polynomial `c[0] + c[1] x + c[2] x^2 + ..`, by Horner's rule.
#[inline(always)]
pub(crate) fn polynomial<A: Arch, const N: usize>(x: f64, c: &[f64; N]) -> f64 {
    let mut sum = c[N - 1];
    let mut i = N - 1;
    while i > 0 {
        i -= 1;
        sum = mul_add::<A>(sum, x, c[i]);
    }
    sum
}

/// [`polynomial`] for f32.
#[inline(always)]
pub(crate) fn polynomial_f32<A: Arch, const N: usize>(x: f32, c: &[f32; N]) -> f32 {
    let mut sum = c[N - 1];
    let mut i = N - 1;
    while i > 0 {
        i -= 1;
        sum = mul_add_f32::<A>(sum, x, c[i]);
    }
    sum
}

/// `a + b` and what its rounding lost, exactly.
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let from_b = sum - a;
    (sum, (a - (sum - from_b)) + (b - from_b))
}

/// [`two_sum`] where `|a| >= |b|` or `a` is 0.
#[inline(always)]
pub(crate) fn fast_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, (a - sum) + b)
}

/// `a * b` and what its rounding lost, exactly unless it underflows.
#[inline(always)]
pub(crate) fn two_product<A: Arch>(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    if A::FMA {
        return (product, a.mul_add(b, -product));
    }
    // Veltkamp's splitting: halves of 26 bits, whose products are exact.
    let split = |x: f64| {
        let scaled = x * 134_217_729.0;
        let high = scaled - (scaled - x);
        (high, x - high)
    };
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    (product, ((ah * bh - product) + ah * bl + al * bh) + al * bl)
}

/// The quotient of two numbers given as unevaluated sums of a high and a low part, rounded about once.
#[inline(always)]
pub(crate) fn divide_pairs<A: Arch>(numerator: (f64, f64), denominator: (f64, f64)) -> f64 {
    let inverse = 1.0 / denominator.0;
    let quotient = numerator.0 * inverse;
    let (product, lost) = two_product::<A>(quotient, denominator.0);
    let rest = ((numerator.0 - product) - lost) + (numerator.1 - quotient * denominator.1);
    mul_add::<A>(rest, inverse, quotient)
}
