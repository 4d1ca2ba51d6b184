//! Activation functions of neural networks.

use crate::isa::Arch;
use crate::scalar::arith::{Number, Quotient};
use crate::scalar::erf::gelu;
use crate::scalar::exp::{
    ExpTable, bounded, exp_near, exp_scaled, expm1_parts, reduce, scaled_far,
};
use crate::scalar::float::{
    Real, divide_pairs, fast_two_sum, rest_of_product, two_product, two_sum,
};
use crate::scalar::hyperbolic::Hyperbolic;
use crate::scalar::log::log1p_exp;

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

/// Smooth ones. The `near` forms are for arguments whose exponential is neither denormal nor infinite, the `beyond` forms
/// for the others.
pub(crate) trait Activation: Quotient {
    fn is_beyond_logistic(self, result: Self) -> bool;
    /// `1 / (1 + exp(-x))`.
    fn sigmoid_near<A: Arch>(self) -> Self;
    fn sigmoid_beyond<A: Arch>(self) -> Self;
    /// `log(sigmoid(x))`.
    fn log_sigmoid_near<A: Arch>(self) -> Self;
    fn log_sigmoid_beyond<A: Arch>(self) -> Self;
    /// `log(1 + exp(x))`.
    fn softplus_near<A: Arch>(self) -> Self;
    fn softplus_beyond<A: Arch>(self) -> Self;
    /// `x / (1 + |x|)`.
    fn softsign<A: Arch>(self) -> Self;
    /// `x` where positive, else `exp(x) - 1`.
    fn elu<A: Arch>(self) -> Self;
    /// The self-normalising scaled `elu`.
    fn selu<A: Arch>(self) -> Self;
    /// `x` times the normal distribution function of `x`.
    fn gelu<A: Arch>(self) -> Self;
    /// `x * sigmoid(x)`.
    fn swish_near<A: Arch>(self) -> Self;
    /// `x * tanh(softplus(x))`.
    fn mish_near<A: Arch>(self) -> Self;
    /// Both far from zero.
    fn swish_beyond<A: Arch>(self) -> Self;
    /// `min(max(0.2 x + 0.5, 0), 1)`.
    fn hard_sigmoid<A: Arch>(self) -> Self;
    /// `x` where positive, else `0.01 x`.
    fn leaky_relu<A: Arch>(self) -> Self;
    /// `max(tanh(x), 0)`.
    fn rectified_tanh<A: Arch>(self) -> Self;
    /// `1.7159 tanh(2 x / 3)` by LeCun's rational approximation.
    fn rational_tanh<A: Arch>(self) -> Self;
}

/// The constant of `selu` above zero, chosen with that below so that mean 0 and variance 1 are a fixed point.
pub(crate) const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

/// `exp(x)` over `1 + exp(x)` as two sums, where neither is denormal.
#[inline(always)]
fn logistic<R: Real, A: Arch>(x: R) -> ((R, R), (R, R)) {
    // From the upper end on the result is 1.
    let reduced = reduce::<R, A>(bounded(x, (-R::NEAR, R::FLAT + R::FLAT)));
    let s = R::power_of_two(reduced.shifted);
    let (high, low) = reduced.c_plus_r();
    ((s * high, s * low), reduced.sum::<A>(s))
}

#[inline(always)]
fn sigmoid_near<R: Real, A: Arch>(x: R) -> R {
    // With e = exp(-|x|): 1 / (1 + e), or e / (1 + e) below zero, put right by one step with the inverse at hand.
    let e = exp_near::<R, A>(-x.size());
    let (bottom, lost) = fast_two_sum(R::ONE, e);
    let top = if x < R::ZERO { e } else { R::ONE };
    let inverse = R::ONE / bottom;
    let quotient = top * inverse;
    let rest = rest_of_product::<R, A>(quotient, bottom, top) - quotient * lost;
    rest.fused::<A>(inverse, quotient)
}

#[inline(always)]
fn swish_near<R: Real, A: Arch>(x: R) -> R {
    let ((high, low), bottom) = logistic::<R, A>(x);
    let (product, lost) = two_product::<R, A>(x, high);
    let top = (product, x.fused::<A>(low, lost));
    let (large, small) = divide_pairs::<R, A>(top, bottom);
    // The sums lose the sign of zero.
    (large + small).signed_as(x)
}

/// `x` times the hyperbolic tangent of `log(1 + e)`, which is `e (e + 2)` over 2 more than that.
#[inline(always)]
fn mish_near<R: Real, A: Arch>(x: R) -> R {
    // From the upper end on the tangent is 1.
    let reduced = reduce::<R, A>(bounded(x, (-R::NEAR, R::FLAT)));
    let (one, tail) = reduced.exp_parts();
    let (high, low) = fast_two_sum(one, tail);
    let s = R::power_of_two(reduced.shifted);
    let (high, low) = (high * s, low * s);
    let (more, lost) = two_sum(R::of(2.0), high);
    let (power, rest) = two_product::<R, A>(high, more);
    let rest = rest + (high * (lost + low) + low * more);
    let (bottom, lost) = two_sum(R::of(2.0), power);
    let (product, small) = two_product::<R, A>(power, x);
    let top = (product, x.fused::<A>(rest, small));
    let (large, small) = divide_pairs::<R, A>(top, (bottom, lost + rest));
    (large + small).signed_as(x)
}

#[inline(always)]
fn softplus_near<R: Real, A: Arch>(x: R) -> R {
    let positive = if x > R::ZERO { x } else { R::ZERO };
    positive + log1p_exp::<R, A>(x.size(), R::ZERO)
}

/// Far below zero the logistic function and softplus are the exponential; far above they are 1 and `x`.
#[inline(always)]
fn beyond<R: Real, A: Arch>(x: R, above: R, factor: R) -> R {
    // The factor first: the exponential alone may be denormal where the product is not.
    let end = R::ENDS.0 - R::of(8.0);
    let (mantissa, shifted) = exp_scaled::<R, A>(bounded(x, (end, R::ZERO)));
    let below = scaled_far::<R, A>(mantissa * factor, shifted);
    let below = if x < end {
        R::ZERO.signed_as(factor)
    } else {
        below
    };
    let result = if x > R::ZERO { above } else { below };
    if x.is_not_a_number() { x } else { result }
}

#[inline(always)]
fn elu<R: Real, A: Arch>(x: R) -> R {
    let (large, small) = expm1_parts::<R, A>(x);
    if x > R::ZERO {
        x
    } else {
        (large + small).signed_as(x)
    }
}

#[inline(always)]
fn selu<R: Real, A: Arch>(x: R) -> R {
    let (large, small) = expm1_parts::<R, A>(x);
    let (factor, rest) = R::SELU_SLOPE;
    let low = large.fused::<A>(rest, small * factor);
    let negative = large.fused::<A>(factor, low);
    let positive = R::of(SELU_SCALE) * x;
    if x > R::ZERO {
        positive
    } else {
        negative.signed_as(x)
    }
}

#[inline(always)]
fn softsign<R: Real, A: Arch>(x: R) -> R {
    // From the bound on the result is 1.
    let end = R::of(1e18);
    let x = bounded(x, (-end, end));
    let (bottom, rest) = two_sum(R::ONE, x.size());
    let (large, small) = divide_pairs::<R, A>((x, R::ZERO), (bottom, rest));
    (large + small).signed_as(x)
}

#[inline(always)]
fn hard_sigmoid<R: Real>(x: R) -> R {
    let line = R::of(0.2) * x + R::of(0.5);
    let low = if line < R::ZERO { R::ZERO } else { line };
    if low > R::ONE { R::ONE } else { low }
}

#[inline(always)]
fn leaky_relu<R: Real>(x: R) -> R {
    if x > R::ZERO { x } else { R::of(0.01) * x }
}

#[inline(always)]
fn rectified_tanh<R: Real + Hyperbolic, A: Arch>(x: R) -> R {
    let positive = Hyperbolic::tanh::<A>(x);
    if x <= R::ZERO { R::ZERO } else { positive }
}

#[inline(always)]
fn rational_tanh<R: Real>(x: R) -> R {
    let y = x * R::of(2.0 / 3.0);
    let square = y * y;
    // 1 - 1 / (1 + tail) as tail / (1 + tail), which does not cancel near zero.
    let tail = y.size() + square + R::of(1.41645) * square * square;
    let share = if tail < R::INFINITY {
        tail / (R::ONE + tail)
    } else {
        R::ONE
    };
    let result = (R::of(1.7159) * share).signed_as(x);
    // So close to zero the function is linear; NaN stays.
    let linear = R::of(1.7159 * 2.0 / 3.0) * x;
    if x.size() > R::of(1e-20) {
        result
    } else {
        linear
    }
}

macro_rules! activation {
    ($($T:ident)*) => { $(
        impl Activation for $T {
            #[inline(always)]
            fn is_beyond_logistic(self, _result: Self) -> bool {
                (self.abs() >= <$T>::NEAR) | self.is_nan()
            }

            #[inline(always)]
            fn sigmoid_near<A: Arch>(self) -> Self {
                sigmoid_near::<$T, A>(self)
            }

            #[inline(always)]
            fn sigmoid_beyond<A: Arch>(self) -> Self {
                beyond::<$T, A>(self, 1.0, 1.0)
            }

            #[inline(always)]
            fn log_sigmoid_near<A: Arch>(self) -> Self {
                -softplus_near::<$T, A>(-self)
            }

            #[inline(always)]
            fn log_sigmoid_beyond<A: Arch>(self) -> Self {
                -beyond::<$T, A>(-self, -self, 1.0)
            }

            #[inline(always)]
            fn softplus_near<A: Arch>(self) -> Self {
                softplus_near::<$T, A>(self)
            }

            #[inline(always)]
            fn softplus_beyond<A: Arch>(self) -> Self {
                beyond::<$T, A>(self, self, 1.0)
            }

            #[inline(always)]
            fn softsign<A: Arch>(self) -> Self {
                softsign::<$T, A>(self)
            }

            #[inline(always)]
            fn elu<A: Arch>(self) -> Self {
                elu::<$T, A>(self)
            }

            #[inline(always)]
            fn selu<A: Arch>(self) -> Self {
                selu::<$T, A>(self)
            }

            #[inline(always)]
            fn gelu<A: Arch>(self) -> Self {
                gelu::<$T, A>(self)
            }

            #[inline(always)]
            fn swish_near<A: Arch>(self) -> Self {
                swish_near::<$T, A>(self)
            }

            #[inline(always)]
            fn mish_near<A: Arch>(self) -> Self {
                mish_near::<$T, A>(self)
            }

            #[inline(always)]
            fn swish_beyond<A: Arch>(self) -> Self {
                beyond::<$T, A>(self, self, self)
            }

            #[inline(always)]
            fn hard_sigmoid<A: Arch>(self) -> Self {
                hard_sigmoid::<$T>(self)
            }

            #[inline(always)]
            fn leaky_relu<A: Arch>(self) -> Self {
                leaky_relu::<$T>(self)
            }

            #[inline(always)]
            fn rectified_tanh<A: Arch>(self) -> Self {
                rectified_tanh::<$T, A>(self)
            }

            #[inline(always)]
            fn rational_tanh<A: Arch>(self) -> Self {
                rational_tanh::<$T>(self)
            }
        }
    )* };
}

activation! { f32 f64 }
