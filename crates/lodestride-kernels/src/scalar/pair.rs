//! Arithmetic of numbers in two parts, for tables that are made when the crate is compiled.

use crate::scalar::float::Float;

/// An unevaluated sum of a number and what it lost. `float.rs` has its operations for vectors, but functions of traits cannot
/// run while the crate is compiled.
#[derive(Clone, Copy)]
pub(crate) struct Pair(pub(crate) f64, pub(crate) f64);

impl Pair {
    pub(crate) const fn plus(self, other: Pair) -> Pair {
        let sum = self.0 + other.0;
        let from_other = sum - self.0;
        let lost = (self.0 - (sum - from_other)) + (other.0 - from_other);
        Pair::joined(sum, lost + (self.1 + other.1))
    }

    pub(crate) const fn times(self, other: Pair) -> Pair {
        let (a, b) = (self.0, other.0);
        let ((ah, al), (bh, bl)) = (halves(a), halves(b));
        let product = a * b;
        let lost = ((ah * bh - product) + ah * bl + al * bh) + al * bl;
        Pair::joined(product, lost + (a * other.1 + self.1 * b))
    }

    pub(crate) const fn over(self, divisor: f64) -> Pair {
        let quotient = self.0 / divisor;
        let whole = Pair(quotient, 0.0).times(Pair(divisor, 0.0));
        let rest = (self.0 - whole.0) + (self.1 - whole.1);
        Pair::joined(quotient, rest / divisor)
    }

    pub(crate) const fn divided_by(self, divisor: Pair) -> Pair {
        let quotient = self.over(divisor.0);
        // To first order in what the divisor lost.
        quotient.plus(quotient.times(Pair(-divisor.1 / divisor.0, 0.0)))
    }

    const fn joined(high: f64, low: f64) -> Pair {
        let sum = high + low;
        Pair(sum, (high - sum) + low)
    }
}

/// A mantissa in halves (Veltkamp).
const fn halves(x: f64) -> (f64, f64) {
    let scaled = x * f64::HALVES;
    let high = scaled - (scaled - x);
    (high, x - high)
}
