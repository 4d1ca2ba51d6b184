//! Logarithms.
//!
//! `x` is split into `2^k (1 + f)` with `1 + f` between sqrt(1/2) and sqrt(2); with `s = f / (2 + f)` the logarithm of
//! `1 + f` is `2 atanh(s)`, written as `f - (f^2/2 - s (f^2/2 + R))` so that the large term is exact (as in Ng's `log` of
//! fdlibm).

use crate::isa::Arch;
use crate::scalar::arith::{Quotient, Ring};
use crate::scalar::exp::{bounded, reduce};
use crate::scalar::float::{
    Float, Real, fast_two_sum, polynomial, rest_of_product, two_product, two_sum,
};

/// The logarithm family.
pub(crate) trait Log: Quotient {
    /// Whether the `near` functions cannot do this argument: zero, negative, denormal, infinite or NaN.
    fn is_beyond_log(self, result: Self) -> bool;
    fn is_beyond_log1p(self, result: Self) -> bool;
    /// `log` of plain numbers.
    fn log_near<A: Arch>(self) -> Self;
    fn log2_near<A: Arch>(self) -> Self;
    fn log10_near<A: Arch>(self) -> Self;
    /// `log(1 + x)` of finite numbers above -1.
    fn log1p_near<A: Arch>(self) -> Self;
    fn log<A: Arch>(self) -> Self;
    fn log2<A: Arch>(self) -> Self;
    fn log10<A: Arch>(self) -> Self;
    /// `log(1 + x)` without cancellation near zero.
    fn log1p<A: Arch>(self) -> Self;
    /// `log(exp(x) + exp(y))` without overflow.
    fn log_add_exp<A: Arch>(self, y: Self) -> Self;
}

/// Constants of the logarithms.
pub(crate) trait LogTable: Sized + 'static {
    /// `(2 atanh(s) / s - 2) / s^2` as a polynomial in `s^2`, for `1 + f` in the reduced range.
    const ATANH: &'static [Self];
    /// 1 / ln 2, 1 / ln 10 and log10(2) in two parts, the last with so few bits in the first that its multiples are exact.
    const INV_LN2: (Self, Self);
    const INV_LN10: (Self, Self);
    const LOG10_2: (Self, Self);
}

impl LogTable for f64 {
    /// To 2^-58.
    const ATANH: &'static [f64] = &[
        0.666_666_666_666_671,
        0.399_999_999_995_416_36,
        0.285_714_287_188_356,
        0.222_222_006_785_703_53,
        0.181_834_663_693_391_68,
        0.153_163_363_215_056_86,
        0.147_748_092_031_642_13,
    ];
    const INV_LN2: (f64, f64) = (std::f64::consts::LOG2_E, 2.035_527_374_093_103_3e-17);
    const INV_LN10: (f64, f64) = (std::f64::consts::LOG10_E, 1.098_319_650_216_765e-17);
    const LOG10_2: (f64, f64) = (0.301_029_920_578_002_93, 7.508_597_826_552_624e-8);
}

impl LogTable for f32 {
    /// To 2^-29.
    const ATANH: &'static [f32] = &[0.666_667_76, 0.399_775_77, 0.298_711_48];
    const INV_LN2: (f32, f32) = (std::f32::consts::LOG2_E, 1.925_963e-8);
    const INV_LN10: (f32, f32) = (std::f32::consts::LOG10_E, -1.010_305e-8);
    const LOG10_2: (f32, f32) = (0.300_781_25, 0.000_248_745_66);
}

/// For `log(1 + f) = f - half + product`: `half` is `f^2 / 2`.
#[inline(always)]
fn terms<R: Real, A: Arch>(f: R) -> (R, R) {
    let s = f / (R::of(2.0) + f);
    let half = R::of(0.5) * f * f;
    let z = s * s;
    (
        half,
        s * z.fused::<A>(polynomial::<R, A>(z, R::ATANH), half),
    )
}

/// `k ln 2 + log(1 + f)`, and something small.
#[inline(always)]
fn assemble<R: Real, A: Arch>(k: R, f: R, small: R) -> R {
    let (half, product) = terms::<R, A>(f);
    let low = product + k.fused::<A>(R::LN2.1, small);
    k.fused::<A>(R::LN2.0, f - (half - low))
}

#[inline(always)]
fn log_near<R: Real, A: Arch>(x: R) -> R {
    let (k, m) = x.split();
    assemble::<R, A>(k, m - R::ONE, R::ZERO)
}

/// `y + log(x)` of a plain number, rounded once where the two cancel too: only the last sum takes anything from the large terms.
#[inline(always)]
pub(crate) fn plus_log<R: Real, A: Arch>(x: R, y: R) -> R {
    let (k, m) = x.split();
    let f = m - R::ONE;
    let (half, product) = terms::<R, A>(f);
    let (sum, lost) = two_sum(y, k * R::LN2.0);
    let (sum, rest) = two_sum(sum, f);
    sum + (rest + lost - (half - k.fused::<A>(R::LN2.1, product)))
}

/// `log(2 x)` of a plain number.
#[inline(always)]
pub(crate) fn log_of_double<R: Real, A: Arch>(x: R) -> R {
    let (k, m) = x.split();
    assemble::<R, A>(k + R::ONE, m - R::ONE, R::ZERO)
}

/// The logarithm over the natural unit given by its inverse, of a plain number; `share` is the unit's part of ln 2.
#[inline(always)]
fn in_other_base<R: Real, A: Arch>(x: R, inverse: (R, R), share: (R, R)) -> R {
    let (k, m) = x.split();
    let f = m - R::ONE;
    let (half, product) = terms::<R, A>(f);
    let (rough, lost) = fast_two_sum(f, -half);
    let rest = lost + product;
    let (large, lost) = two_product::<R, A>(rough, inverse.0);
    let small = rest.fused::<A>(inverse.0, rough.fused::<A>(inverse.1, lost));
    let (sum, lost) = fast_two_sum(k * share.0, large);
    sum + (lost + k.fused::<A>(share.1, small))
}

#[inline(always)]
fn log2_near<R: Real, A: Arch>(x: R) -> R {
    in_other_base::<R, A>(x, R::INV_LN2, (R::ONE, R::ZERO))
}

#[inline(always)]
fn log10_near<R: Real, A: Arch>(x: R) -> R {
    in_other_base::<R, A>(x, R::INV_LN10, R::LOG10_2)
}

/// A plain number times a power of two that it stands for: 1 but for denormal ones. The second part is the power.
#[inline(always)]
fn lifted<R: Real>(x: R) -> (R, R) {
    let denormal = x < R::MIN_NORMAL;
    let (factor, power) = R::LIFT;
    (
        if denormal { x * factor } else { x },
        if denormal { power } else { R::ZERO },
    )
}

/// The ends of the domain: -inf at zero, NaN below, and infinity and NaN themselves.
#[inline(always)]
fn with_ends<R: Real>(x: R, result: R) -> R {
    let finite = if x < R::INFINITY { result } else { x };
    let positive = if x > R::ZERO || x.is_not_a_number() {
        finite
    } else {
        R::NAN
    };
    if x == R::ZERO { -R::INFINITY } else { positive }
}

/// The logarithm of any number from one that serves plain ones; `unit` is the logarithm of 2.
#[inline(always)]
fn of_any<R: Real>(x: R, unit: R, near: impl Fn(R) -> R) -> R {
    let (plain, power) = lifted(x);
    with_ends(x, near(plain) - power * unit)
}

/// `log(1 + high + low)` for `1 + high` plain, plus `doublings` times ln 2.
#[inline(always)]
pub(crate) fn log1p_pair<R: Real, A: Arch>((high, low): (R, R), doublings: R) -> R {
    let (sum, lost) = two_sum(R::ONE, high);
    let (k, m) = sum.split();
    // Near zero `high` itself is the exact f; elsewhere what the sum lost is added to first order.
    let near = k == R::ZERO;
    let f = if near { high } else { m - R::ONE };
    let small = if near { low } else { lost + low };
    assemble::<R, A>(k + doublings, f, small / sum)
}

#[inline(always)]
fn log1p_near<R: Real, A: Arch>(x: R) -> R {
    // The sums lose the sign of zero.
    log1p_pair::<R, A>((x, R::ZERO), R::ZERO).signed_as(x)
}

#[inline(always)]
fn log1p<R: Real, A: Arch>(x: R) -> R {
    let inside = if x > -R::ONE || x.is_not_a_number() {
        log1p_near::<R, A>(x)
    } else {
        R::NAN
    };
    let finite = if x < R::INFINITY { inside } else { x };
    if x == -R::ONE { -R::INFINITY } else { finite }
}

/// `log(1 + exp(-x))` for x >= 0 (or NaN): the smooth part of softplus. `lost` is added to `x`.
#[inline(always)]
pub(crate) fn log1p_exp<R: Real, A: Arch>(x: R, lost: R) -> R {
    let x = bounded(x, (R::ZERO, R::NEAR));
    let reduced = reduce::<R, A>(-x);
    let (one, tail) = reduced.exp_parts();
    let (high, low) = fast_two_sum(one, tail);
    let scale = R::power_of_two(reduced.shifted);
    let low = rest_of_product::<R, A>(high, lost, low);
    log1p_pair::<R, A>((high * scale, low * scale), R::ZERO)
}

#[inline(always)]
fn log_add_exp<R: Real, A: Arch>(x: R, y: R) -> R {
    let (large, small) = (Ring::max::<A>(x, y), Ring::min::<A>(x, y));
    let (apart, lost) = fast_two_sum(large, -small);
    let (sum, rest) = fast_two_sum(large, log1p_exp::<R, A>(apart, lost));
    let result = sum + rest;
    // Equal infinities have no difference, and of an infinite sum nothing is lost.
    let result = if large.size() == R::INFINITY || small.size() == R::INFINITY {
        large
    } else {
        result
    };
    if x.is_not_a_number() || y.is_not_a_number() {
        R::NAN
    } else {
        result
    }
}

macro_rules! log {
    ($($T:ident)*) => { $(
        impl Log for $T {
            #[inline(always)]
            fn is_beyond_log(self, _result: Self) -> bool {
                !self.is_plain()
            }

            #[inline(always)]
            fn is_beyond_log1p(self, _result: Self) -> bool {
                !((self > -1.0) & (self < $T::INFINITY))
            }

            #[inline(always)]
            fn log_near<A: Arch>(self) -> Self {
                log_near::<$T, A>(self)
            }

            #[inline(always)]
            fn log2_near<A: Arch>(self) -> Self {
                log2_near::<$T, A>(self)
            }

            #[inline(always)]
            fn log10_near<A: Arch>(self) -> Self {
                log10_near::<$T, A>(self)
            }

            #[inline(always)]
            fn log1p_near<A: Arch>(self) -> Self {
                log1p_near::<$T, A>(self)
            }

            #[inline(always)]
            fn log<A: Arch>(self) -> Self {
                let unit = std::f64::consts::LN_2 as $T;
                of_any::<$T>(self, unit, |x| log_near::<$T, A>(x))
            }

            #[inline(always)]
            fn log2<A: Arch>(self) -> Self {
                of_any::<$T>(self, 1.0, |x| log2_near::<$T, A>(x))
            }

            #[inline(always)]
            fn log10<A: Arch>(self) -> Self {
                let unit = std::f64::consts::LOG10_2 as $T;
                of_any::<$T>(self, unit, |x| log10_near::<$T, A>(x))
            }

            #[inline(always)]
            fn log1p<A: Arch>(self) -> Self {
                log1p::<$T, A>(self)
            }

            #[inline(always)]
            fn log_add_exp<A: Arch>(self, y: Self) -> Self {
                log_add_exp::<$T, A>(self, y)
            }
        }
    )* };
}

log! { f32 f64 }
