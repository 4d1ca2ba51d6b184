//! Activation functions of neural networks.

use crate::isa::Arch;
use crate::scalar::arith::{Number, Quotient};
use crate::scalar::erf::{Erf, rough_erfc};
use crate::scalar::exp::Exp;
use crate::scalar::hyperbolic::Hyperbolic;
use crate::scalar::log::Log;
use crate::scalar::{divide_pairs, fast_two_sum, mul_add, two_product, two_sum};

/// Piecewise linear ones, which integers have, too.
pub(crate) trait Rectify: Number {
    /// `max(x, 0)`.
    #[inline(always)]
    fn relu<A: Arch>(self) -> Self {
        self.max::<A>(Self::ZERO)
    }

    /// `min(max(x, 0), 6)`.
    #[inline(always)]
    fn relu6<A: Arch>(self) -> Self {
        self.max::<A>(Self::ZERO).min::<A>(Self::constant(6))
    }

    /// 1 where `x > 0`, else 0.
    #[inline(always)]
    fn step<A: Arch>(self) -> Self {
        if self > Self::ZERO {
            Self::ONE
        } else {
            Self::ZERO
        }
    }

    /// `min(max(x, -1), 1)`.
    #[inline(always)]
    fn hard_tanh<A: Arch>(self) -> Self {
        self.max::<A>(Self::ZERO.sub::<A>(Self::ONE))
            .min::<A>(Self::ONE)
    }
}

impl<T: Number> Rectify for T {}

/// Smooth ones.
pub(crate) trait Activation: Quotient {
    /// `1 / (1 + exp(-x))`.
    fn sigmoid<A: Arch>(self) -> Self;
    /// `log(sigmoid(x))`.
    fn log_sigmoid<A: Arch>(self) -> Self;
    /// `log(1 + exp(x))`.
    fn softplus<A: Arch>(self) -> Self;
    /// `x / (1 + |x|)`.
    fn softsign<A: Arch>(self) -> Self;
    /// `x` where positive, else `exp(x) - 1`.
    fn elu<A: Arch>(self) -> Self;
    /// The self-normalising scaled `elu`.
    fn selu<A: Arch>(self) -> Self;
    /// `x` times the normal distribution function of `x`.
    fn gelu<A: Arch>(self) -> Self;
    /// `x * sigmoid(x)`.
    fn swish<A: Arch>(self) -> Self;
    /// `x * tanh(softplus(x))`.
    fn mish<A: Arch>(self) -> Self;
    /// `min(max(0.2 x + 0.5, 0), 1)`.
    fn hard_sigmoid<A: Arch>(self) -> Self;
    /// `x` where positive, else `0.01 x`.
    fn leaky_relu<A: Arch>(self) -> Self;
    /// `max(tanh(x), 0)`.
    fn rectified_tanh<A: Arch>(self) -> Self;
    /// `1.7159 tanh(2 x / 3)` by LeCun's rational approximation.
    fn rational_tanh<A: Arch>(self) -> Self;
}

/// The two constants of `selu`, chosen so that mean 0 and variance 1 are a fixed point.
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;

/// What 1/sqrt(2) loses as f64, with the sign of what must be added to the product with `-x`.
const FRAC_1_SQRT_2_LOW: f64 = 4.833_646_656_726_457e-17;

impl Activation for f64 {
    #[inline(always)]
    fn sigmoid<A: Arch>(self) -> Self {
        // With e = exp(-|x|), which cannot overflow: 1 / (1 + e), or e / (1 + e) below zero.
        let e = Exp::exp::<A>(-self.abs());
        let (bottom, lost) = fast_two_sum(1.0, e);
        let top = if self < 0.0 { e } else { 1.0 };
        divide_pairs::<A>((top, 0.0), (bottom, lost))
    }

    #[inline(always)]
    fn log_sigmoid<A: Arch>(self) -> Self {
        -(-self).softplus::<A>()
    }

    #[inline(always)]
    fn softplus<A: Arch>(self) -> Self {
        let rest = Log::log1p::<A>(Exp::exp::<A>(-self.abs()));
        let positive = if self > 0.0 { self } else { 0.0 };
        positive + rest
    }

    #[inline(always)]
    fn softsign<A: Arch>(self) -> Self {
        let quotient = self / (1.0 + self.abs());
        if self.abs() == f64::INFINITY {
            1f64.copysign(self)
        } else {
            quotient
        }
    }

    #[inline(always)]
    fn elu<A: Arch>(self) -> Self {
        if self > 0.0 {
            self
        } else {
            Exp::expm1::<A>(self)
        }
    }

    #[inline(always)]
    fn selu<A: Arch>(self) -> Self {
        let negative = SELU_ALPHA * Exp::expm1::<A>(self);
        SELU_SCALE * if self > 0.0 { self } else { negative }
    }

    #[inline(always)]
    fn gelu<A: Arch>(self) -> Self {
        // The argument of erfc in two parts: its rounding error is magnified by twice its square.
        let (z, lost) = two_product::<A>(-self, std::f64::consts::FRAC_1_SQRT_2);
        let rest = lost + self * FRAC_1_SQRT_2_LOW;
        let slope = std::f64::consts::FRAC_2_SQRT_PI * Exp::exp::<A>(-z * z);
        let weight = 0.5 * mul_add::<A>(-rest, slope, Erf::erfc::<A>(z));
        // Minus infinity times nothing is nothing, and plus infinity has no low part.
        let finite = if self.abs() == f64::INFINITY {
            self.max(-0.0)
        } else {
            self * weight
        };
        if self < -39.0 { -0.0 } else { finite }
    }

    #[inline(always)]
    fn swish<A: Arch>(self) -> Self {
        let e = Exp::exp::<A>(-self.abs());
        let bottom = fast_two_sum(1.0, e);
        let top = if self < 0.0 {
            two_product::<A>(self, e)
        } else {
            (self, 0.0)
        };
        let result = divide_pairs::<A>(top, bottom);
        // Nothing times infinity is nothing, and infinity has no low part.
        let finite = if self < -746.0 { -0.0 } else { result };
        if self == f64::INFINITY { self } else { finite }
    }

    #[inline(always)]
    fn mish<A: Arch>(self) -> Self {
        // tanh(log(1 + e)) = ((1 + e)^2 - 1) / ((1 + e)^2 + 1), with e = exp(x) or, above zero, the same times exp(-2x).
        let e = Exp::exp::<A>(-self.abs());
        let positive = self > 0.0;
        let (low, lost) = two_product::<A>(e, e + 2.0);
        let (high, high_lost) = fast_two_sum(1.0, 2.0 * e);
        let top = if positive {
            (high, high_lost)
        } else {
            (low, lost)
        };
        let (bottom, rest) = two_sum(top.0, if positive { 2.0 * e * e } else { 2.0 });
        let (product, product_lost) = two_product::<A>(top.0, self);
        let result = divide_pairs::<A>(
            (product, product_lost + top.1 * self),
            (bottom, rest + top.1),
        );
        let finite = if self < -746.0 { -0.0 } else { result };
        if self == f64::INFINITY { self } else { finite }
    }

    #[inline(always)]
    fn hard_sigmoid<A: Arch>(self) -> Self {
        let line = 0.2 * self + 0.5;
        let low = if line < 0.0 { 0.0 } else { line };
        if low > 1.0 { 1.0 } else { low }
    }

    #[inline(always)]
    fn leaky_relu<A: Arch>(self) -> Self {
        if self > 0.0 { self } else { 0.01 * self }
    }

    #[inline(always)]
    fn rectified_tanh<A: Arch>(self) -> Self {
        if self <= 0.0 {
            0.0
        } else {
            Hyperbolic::tanh::<A>(self)
        }
    }

    #[inline(always)]
    fn rational_tanh<A: Arch>(self) -> Self {
        let y = self * (2.0 / 3.0);
        let square = y * y;
        let tail = 1.0 + y.abs() + square + 1.41645 * square * square;
        let size = 1.7159 * (1.0 - 1.0 / tail);
        if y < 0.0 { -size } else { size }
    }
}

impl Activation for f32 {
    #[inline(always)]
    fn sigmoid<A: Arch>(self) -> Self {
        if !A::FMA {
            return f64::from(self).sigmoid::<A>() as f32;
        }
        // As for f64; the quotient's rest is put right by one step with the inverse at hand.
        let e = Exp::exp::<A>(-self.abs());
        let bottom = 1.0 + e;
        let lost = (1.0 - bottom) + e;
        let top = if self < 0.0 { e } else { 1.0 };
        let inverse = 1.0 / bottom;
        let quotient = top * inverse;
        let rest = quotient.mul_add(-bottom, top) - quotient * lost;
        rest.mul_add(inverse, quotient)
    }

    #[inline(always)]
    fn log_sigmoid<A: Arch>(self) -> Self {
        f64::from(self).log_sigmoid::<A>() as f32
    }

    #[inline(always)]
    fn softplus<A: Arch>(self) -> Self {
        f64::from(self).softplus::<A>() as f32
    }

    #[inline(always)]
    fn softsign<A: Arch>(self) -> Self {
        let quotient = self / (1.0 + self.abs());
        if self.abs() == f32::INFINITY {
            1f32.copysign(self)
        } else {
            quotient
        }
    }

    #[inline(always)]
    fn elu<A: Arch>(self) -> Self {
        f64::from(self).elu::<A>() as f32
    }

    #[inline(always)]
    fn selu<A: Arch>(self) -> Self {
        f64::from(self).selu::<A>() as f32
    }

    #[inline(always)]
    fn gelu<A: Arch>(self) -> Self {
        let x = f64::from(self);
        let result = 0.5 * x * rough_erfc::<A>(-x * std::f64::consts::FRAC_1_SQRT_2);
        // Far below zero nothing is left; minus infinity times nothing is nothing.
        let below = if self < -16.0 { -0.0 } else { result as f32 };
        if self.is_nan() { self } else { below }
    }

    #[inline(always)]
    fn swish<A: Arch>(self) -> Self {
        f64::from(self).swish::<A>() as f32
    }

    #[inline(always)]
    fn mish<A: Arch>(self) -> Self {
        f64::from(self).mish::<A>() as f32
    }

    #[inline(always)]
    fn hard_sigmoid<A: Arch>(self) -> Self {
        f64::from(self).hard_sigmoid::<A>() as f32
    }

    #[inline(always)]
    fn leaky_relu<A: Arch>(self) -> Self {
        if self > 0.0 { self } else { 0.01 * self }
    }

    #[inline(always)]
    fn rectified_tanh<A: Arch>(self) -> Self {
        if self <= 0.0 {
            0.0
        } else {
            Hyperbolic::tanh::<A>(self)
        }
    }

    #[inline(always)]
    fn rational_tanh<A: Arch>(self) -> Self {
        f64::from(self).rational_tanh::<A>() as f32
    }
}
