//! The error function.
//!
//! `exp(x^2) erfc(x) (1 + 2x)` is nearly constant and a polynomial in `(x - 3) / (x + 3)` for all positive x at once (the
//! mapping of Schonfelder, Math. Comp. 32, 1978, with the factor of Shepherd and Laframboise, Math. Comp. 36, 1981). Near
//! zero `erf(x) / x` is a polynomial in
//! `x^2`.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;
use crate::scalar::exp::{bounded, reduce, scaled_far};
use crate::scalar::float::{
    Real, divide_pairs, fast_two_sum, polynomial, tail_of_polynomial, two_product, two_sum,
};

/// The error function and its complement.
pub(crate) trait Erf: Quotient {
    fn erf<A: Arch>(self) -> Self;
    fn erfc<A: Arch>(self) -> Self;
}

/// Constants of the error function.
pub(crate) trait ErfTable: Sized + 'static {
    /// `erf(x) / x - 1` as a polynomial in `x^2` for |x| <= 1.
    const NEAR_ZERO: &'static [Self];
    /// `exp(x^2) erfc(x) (1 + 2x)` as a polynomial in `(x - 3) / (x + 3)` for 0 <= x <= END.
    const SCALED: &'static [Self];
    /// What the first of these loses.
    const SCALED_LOW: Self;
    /// From here on `erfc(x)` is zero.
    const END: Self;
    /// What sqrt(2) loses.
    const SQRT_2_LOW: Self;
}

impl ErfTable for f64 {
    /// To 2^-56.
    const NEAR_ZERO: &'static [f64] = &[
        0.128_379_167_095_512_6,
        -0.376_126_389_031_841,
        0.112_837_916_709_710_97,
        -0.026_866_170_648_030_548,
        0.005_223_977_652_683_812,
        -0.000_854_832_853_513_626_7,
        0.000_120_553_861_637_724_82,
        -1.492_688_063_116_954e-5,
        1.648_104_371_411_305_5e-6,
        -1.655_695_149_903_635_3e-7,
        1.601_192_429_191_678_3e-8,
        -1.645_932_893_894_970_6e-9,
        1.433_382_824_004_855_4e-10,
    ];
    /// To 2^-57.
    const SCALED: &'static [f64] = &[
        1.253_008_058_269_729_6,
        -0.135_621_106_124_581_03,
        -0.047_562_294_353_452_314,
        0.129_645_158_702_743_8,
        -0.119_273_663_415_208_98,
        0.068_308_027_344_606_6,
        -0.023_770_514_921_063_13,
        0.002_529_391_805_091_653_3,
        0.001_888_690_388_259_013_6,
        -0.000_779_832_164_356_041_2,
        -0.000_105_159_995_686_423_08,
        0.000_125_098_699_985_528_25,
        4.950_268_008_801_918e-6,
        -2.009_801_247_568_626_2e-5,
        -7.333_756_029_485_863e-7,
        3.465_814_046_450_583e-6,
        3.592_542_942_110_990_4e-7,
        -6.054_820_136_539_909e-7,
        -1.425_154_030_580_862_5e-7,
        8.996_232_669_706_85e-8,
        4.012_185_832_619_485e-8,
        -6.068_132_644_467_652_5e-9,
        -6.187_861_989_832_966e-9,
        -9.393_704_973_703_053e-10,
    ];
    const SCALED_LOW: f64 = 4.836_888_737_060_906e-17;
    const END: f64 = 27.3;
    const SQRT_2_LOW: f64 = -9.667_293_313_452_913e-17;
}

impl ErfTable for f32 {
    /// To 2^-29.
    const NEAR_ZERO: &'static [f32] = &[
        0.128_379_17,
        -0.376_126_26,
        0.112_835_79,
        -0.026_853_35,
        0.005_187_173,
        -0.000_799_797_65,
        7.807_407_4e-5,
    ];
    /// To 2^-27.
    const SCALED: &'static [f32] = &[
        1.253_008,
        -0.135_621_15,
        -0.047_562_398,
        0.129_646_42,
        -0.119_270_98,
        0.068_295_74,
        -0.023_797_508,
        0.002_567_475_4,
        0.002_001_809_2,
        -0.000_777_723_56,
        -0.000_268_206_58,
    ];
    const SCALED_LOW: f32 = 5.111_672e-8;
    const END: f32 = 10.1;
    const SQRT_2_LOW: f32 = 2.420_323_5e-8;
}

/// `exp(-h)` for `h = square + lost >= 0` in two parts, times 2^-n, and `WHOLE + n`: the exponential magnifies the rounding
/// error of its argument by the argument itself.
#[inline(always)]
fn decay<R: Real, A: Arch>(square: R, lost: R) -> (R, R, R) {
    let reduced = reduce::<R, A>(-square);
    let (one, tail) = reduced.exp_parts();
    let (high, low) = fast_two_sum(one, tail);
    (high, (-lost).fused::<A>(high, low), reduced.shifted)
}

/// `exp(z^2) erfc(z)` over `1 / (1 + 2 z)`, for 0 <= z <= END; `shift` is 3 in the unit of `x`, which is that of `z`.
#[inline(always)]
fn scaled_tail<R: Real, A: Arch>(x: R, shift: R) -> (R, R) {
    let t = (x - shift) / (x + shift);
    let tail = t * tail_of_polynomial::<R, A>(t, R::SCALED);
    let (sum, lost) = fast_two_sum(R::SCALED[0], tail);
    (sum, lost + R::SCALED_LOW)
}

/// `erfc(x)` for 0 <= x <= END.
#[inline(always)]
fn erfc_positive<R: Real, A: Arch>(x: R) -> R {
    let (square, lost) = two_product::<R, A>(x, x);
    let (high, low, shifted) = decay::<R, A>(square, lost);
    let (bottom, rest) = two_sum(R::ONE, x + x);
    let top = scaled_tail::<R, A>(x, R::of(3.0));
    let (quotient, small) = divide_pairs::<R, A>(top, (bottom, rest));
    let product = quotient.fused::<A>(high, quotient.fused::<A>(low, small * high));
    scaled_far::<R, A>(product, shifted)
}

#[inline(always)]
fn near_zero<R: Real, A: Arch>(x: R) -> R {
    x.fused::<A>(polynomial::<R, A>(x * x, R::NEAR_ZERO), x)
}

#[inline(always)]
fn erf<R: Real, A: Arch>(x: R) -> R {
    let size = x.size();
    let far = R::ONE - erfc_positive::<R, A>(bounded(size, (R::ZERO, R::of(6.0))));
    let near = size < R::ONE || x.is_not_a_number();
    if near {
        near_zero::<R, A>(x)
    } else {
        far.signed_as(x)
    }
}

#[inline(always)]
fn erfc<R: Real, A: Arch>(x: R) -> R {
    let positive = erfc_positive::<R, A>(bounded(x.size(), (R::ZERO, R::END)));
    let far = if x < R::ZERO {
        R::of(2.0) - positive
    } else {
        positive
    };
    // Around zero the polynomial is nearer.
    let near = x.size() < R::of(0.45) || x.is_not_a_number();
    if near {
        R::ONE - near_zero::<R, A>(x)
    } else {
        far
    }
}

/// `x` times the normal distribution function of `x`: for negative `x` half `x erfc(-x / sqrt 2)`.
#[inline(always)]
pub(crate) fn gelu<R: Real, A: Arch>(x: R) -> R {
    let unit = R::of(std::f64::consts::SQRT_2);
    // Half a unit further the product with x is zero, too.
    let size = bounded(x.size(), (R::ZERO, (R::END + R::of(0.5)) * unit));
    let (square, lost) = two_product::<R, A>(size, size);
    let half = R::of(0.5);
    let (high, low, shifted) = decay::<R, A>(half * square, half * lost);
    // 1 + sqrt(2) x in two parts.
    let (linear, lost) = two_product::<R, A>(size, unit);
    let (bottom, rest) = two_sum(R::ONE, linear);
    let rest = rest + size.fused::<A>(R::SQRT_2_LOW, lost);
    let top = scaled_tail::<R, A>(size, R::of(3.0 * std::f64::consts::SQRT_2));
    let (numerator, lost) = two_product::<R, A>(top.0, half * size);
    let numerator = (numerator, (half * size).fused::<A>(top.1, lost));
    let (quotient, small) = divide_pairs::<R, A>(numerator, (bottom, rest));
    let product = quotient.fused::<A>(high, quotient.fused::<A>(low, small * high));
    let tail = scaled_far::<R, A>(product, shifted);
    let far = if x > R::ZERO { x - tail } else { -tail };
    let root = R::of(std::f64::consts::FRAC_1_SQRT_2);
    let share = half * near_zero::<R, A>(x * root);
    let near = x.fused::<A>(share, half * x);
    // Around zero the other polynomial is nearer; it also keeps NaN.
    // The sums lose the sign of zero.
    (if size >= half { far } else { near }).signed_as(x)
}

macro_rules! erf {
    ($($T:ident)*) => { $(
        impl Erf for $T {
            #[inline(always)]
            fn erf<A: Arch>(self) -> Self {
                erf::<$T, A>(self)
            }

            #[inline(always)]
            fn erfc<A: Arch>(self) -> Self {
                erfc::<$T, A>(self)
            }
        }
    )* };
}

erf! { f32 f64 }
