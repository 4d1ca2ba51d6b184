//! Logarithms.
//!
//! `x` is split into `2^k (1 + f)` with `1 + f` between sqrt(1/2) and sqrt(2); with `s = f / (2 + f)` the logarithm of
//! `1 + f` is `2 atanh(s)`, written as `f - (f^2/2 - s (f^2/2 + R))` so that the large term is exact.

use crate::isa::Arch;
use crate::scalar::arith::{Quotient, Ring};
use crate::scalar::exp::{Exp, LN2_HIGH, LN2_LOW};
use crate::scalar::{fast_two_sum, mul_add, mul_add_f32, polynomial, polynomial_f32, two_sum};

/// The logarithm family.
pub(crate) trait Log: Quotient {
    fn log<A: Arch>(self) -> Self;
    fn log2<A: Arch>(self) -> Self;
    fn log10<A: Arch>(self) -> Self;
    /// `log(1 + x)` without cancellation near zero.
    fn log1p<A: Arch>(self) -> Self;
    /// `log(exp(x) + exp(y))` without overflow.
    fn log_add_exp<A: Arch>(self, y: Self) -> Self;
}

/// `(2 atanh(s) / s - 2) / s^2` as a polynomial in `s^2`, for `1 + f` in the reduced range, to 3e-16.
const TAIL: [f64; 7] = [
    0.666_666_666_666_667,
    0.399_999_999_998_982_7,
    0.285_714_286_265_336_2,
    0.222_222_110_437_768_57,
    0.181_828_957_501_191_93,
    0.153_315_016_111_453_3,
    0.146_191_661_348_879_7,
];

/// `(log(1 + f) - f + f^2/2) / f^3` for the reduced range, to 3e-8.
const TAIL_F32: [f32; 9] = [
    0.333_333_3,
    -0.249_999_97,
    0.200_007_16,
    -0.166_678_03,
    0.142_490_58,
    -0.124_256_87,
    0.116_854_2,
    -0.114_797_34,
    0.069_716_12,
];

/// 1 / ln 2, 1 / ln 10 and log10(2) in two parts, the first with half of the bits.
const INV_LN2: (f64, f64) = (1.442_694_664_001_464_8, 3.768_874_985_636_099e-7);
const INV_LN10: (f64, f64) = (0.434_294_462_203_979_5, 1.969_927_233_546_362_7e-8);
const LOG10_2: (f64, f64) = (0.301_029_920_578_002_93, 7.508_597_826_552_624e-8);

/// The bits of sqrt(1/2), cut after the high word.
const SQRT_HALF: u64 = 0x3fe6_a09e_0000_0000;

/// `x` as `2^k (1 + f)`; zero, negative numbers, infinities and NaN give something harmless.
#[inline(always)]
fn reduce(x: f64) -> (f64, f64) {
    let denormal = x < f64::MIN_POSITIVE;
    let normal = if denormal {
        x * 18_014_398_509_481_984.0
    } else {
        x
    };
    let shift = if denormal { 54.0 } else { 0.0 };
    // Moves the cut between exponents from 1 to sqrt(1/2).
    let moved = normal
        .to_bits()
        .wrapping_add(0x3ff0_0000_0000_0000 - SQRT_HALF);
    // The exponent as a float without a conversion: in the low bits of 2^52.
    let k = f64::from_bits((moved >> 52) | 0x4330_0000_0000_0000)
        - (4_503_599_627_370_496.0 + 1023.0)
        - shift;
    let mantissa = (moved & 0x000f_ffff_ffff_ffff).wrapping_add(SQRT_HALF);
    (k, f64::from_bits(mantissa) - 1.0)
}

/// For `log(1 + f) = f - half + product`: `half` is `f^2 / 2`.
#[inline(always)]
fn terms<A: Arch>(f: f64) -> (f64, f64) {
    let s = f / (2.0 + f);
    let half = 0.5 * f * f;
    let z = s * s;
    (
        half,
        s * mul_add::<A>(z, polynomial::<A, 7>(z, &TAIL), half),
    )
}

/// The ends of the domain: -inf at zero, NaN below, and infinity and NaN themselves.
#[inline(always)]
fn with_ends(x: f64, result: f64) -> f64 {
    let finite = if x < f64::INFINITY { result } else { x };
    let positive = if x > 0.0 || x.is_nan() {
        finite
    } else {
        f64::NAN
    };
    if x == 0.0 {
        f64::NEG_INFINITY
    } else {
        positive
    }
}

/// `log(x)` over the natural unit given by its inverse, plus `k` times the unit's share of ln 2, both in two parts.
#[inline(always)]
fn in_other_base<A: Arch>(x: f64, inverse: (f64, f64), share: (f64, f64)) -> f64 {
    let (k, f) = reduce(x);
    let (half, product) = terms::<A>(f);
    let rough = f - half;
    let high = f64::from_bits(rough.to_bits() & 0xffff_ffff_0000_0000);
    let low = ((f - high) - half) + product;
    // The first product is exact: both factors have half of the bits.
    let large = high * inverse.0;
    let small = mul_add::<A>(low + high, inverse.1, low * inverse.0);
    let (sum, lost) = two_sum(k * share.0, large);
    with_ends(x, sum + (lost + mul_add::<A>(k, share.1, small)))
}

impl Log for f64 {
    #[inline(always)]
    fn log<A: Arch>(self) -> Self {
        let (k, f) = reduce(self);
        let (half, product) = terms::<A>(f);
        let low = mul_add::<A>(k, LN2_LOW, product);
        with_ends(self, mul_add::<A>(k, LN2_HIGH, f - (half - low)))
    }

    #[inline(always)]
    fn log2<A: Arch>(self) -> Self {
        in_other_base::<A>(self, INV_LN2, (1.0, 0.0))
    }

    #[inline(always)]
    fn log10<A: Arch>(self) -> Self {
        in_other_base::<A>(self, INV_LN10, LOG10_2)
    }

    #[inline(always)]
    fn log1p<A: Arch>(self) -> Self {
        let (sum, lost) = two_sum(1.0, self);
        let (k, rounded) = reduce(sum);
        // Near zero x itself is the exact f; elsewhere what the sum lost is added to first order.
        let near = k == 0.0;
        let f = if near { self } else { rounded };
        let correction = if near { 0.0 } else { lost / sum };
        let (half, product) = terms::<A>(f);
        let low = mul_add::<A>(k, LN2_LOW, correction) + product;
        let result = mul_add::<A>(k, LN2_HIGH, f - (half - low));
        let inside = if self > -1.0 || self.is_nan() {
            result
        } else {
            f64::NAN
        };
        let tiny = if self.abs() < 1e-17 { self } else { inside };
        let finite = if self == f64::INFINITY { self } else { tiny };
        if self == -1.0 {
            f64::NEG_INFINITY
        } else {
            finite
        }
    }

    #[inline(always)]
    fn log_add_exp<A: Arch>(self, y: Self) -> Self {
        let (large, small) = (Ring::max::<A>(self, y), Ring::min::<A>(self, y));
        let (sum, lost) = fast_two_sum(large, Log::log1p::<A>(Exp::exp::<A>(small - large)));
        // Equal infinities have no difference.
        if self == y {
            self + std::f64::consts::LN_2
        } else {
            sum + lost
        }
    }
}

impl Log for f32 {
    #[inline(always)]
    fn log<A: Arch>(self) -> Self {
        const CUT: u32 = 0x3f35_04f3;
        let denormal = self < f32::MIN_POSITIVE;
        let normal = if denormal { self * 8_388_608.0 } else { self };
        let shift = if denormal { 23.0 } else { 0.0 };
        let moved = normal.to_bits().wrapping_add(0x3f80_0000 - CUT);
        let k = f32::from_bits((moved >> 23) | 0x4b00_0000) - (8_388_608.0 + 127.0) - shift;
        let f = f32::from_bits((moved & 0x007f_ffff).wrapping_add(CUT)) - 1.0;
        let square = f * f;
        let tail = f * square * polynomial_f32::<A, 9>(f, &TAIL_F32);
        let low = mul_add_f32::<A>(k, -0.000_212_194_44, tail);
        let result = mul_add_f32::<A>(k, 0.693_359_4, f + mul_add_f32::<A>(-0.5, square, low));
        let finite = if self < f32::INFINITY { result } else { self };
        let positive = if self > 0.0 || self.is_nan() {
            finite
        } else {
            f32::NAN
        };
        if self == 0.0 {
            f32::NEG_INFINITY
        } else {
            positive
        }
    }

    #[inline(always)]
    fn log2<A: Arch>(self) -> Self {
        Log::log2::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn log10<A: Arch>(self) -> Self {
        Log::log10::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn log1p<A: Arch>(self) -> Self {
        Log::log1p::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn log_add_exp<A: Arch>(self, y: Self) -> Self {
        Log::log_add_exp::<A>(f64::from(self), f64::from(y)) as f32
    }
}
