//! Inverse circular functions.

use crate::isa::Arch;
use crate::scalar::BLOCK;
use crate::scalar::arith::Quotient;
use crate::scalar::atan_table::Atan2;
use crate::scalar::float::{
    Float, Real, divide_pairs, fast_two_sum, polynomial, rest_of_product, two_sum,
};

/// Angles from their sine, cosine and tangent.
pub(crate) trait InverseTrig: Quotient {
    fn asin<A: Arch>(self) -> Self;
    fn acos<A: Arch>(self) -> Self;
    fn atan<A: Arch>(self) -> Self;
    /// Whether a coordinate is too extreme for `atan2_near`.
    fn is_beyond_atan2(self, y: Self, result: Self) -> bool;
    fn atan2_near<A: Arch>(self, y: Self) -> Self;
    /// [`InverseTrig::atan2_near`] of a block, as [`Binary::block`](crate::scalar::Binary::block).
    fn atan2_block<A: Arch>(
        dst: &mut [Self; BLOCK],
        x: &[Self; BLOCK],
        y: &[Self; BLOCK],
    ) -> Option<bool>;
    /// The angle of the point (`y`, `self`): `self` is the ordinate.
    fn atan2_far<A: Arch>(self, y: Self) -> Self;
}

/// Constants of the inverse circular functions.
pub(crate) trait InverseTrigTable: Sized + 'static {
    /// `(asin(x) - x) / x^3` as a polynomial in `x^2` for |x| <= 1/2.
    const ASIN: &'static [Self];
    /// `(atan(x) - x) / x^3` as a polynomial in `x^2` for |x| <= tan(pi/8).
    const ATAN: &'static [Self];
    /// pi/2 in two parts.
    const QUARTER: (Self, Self);
    /// The coordinates whose quotients and products are neither denormal nor infinite.
    const COORDINATES: (Self, Self);
}

impl InverseTrigTable for f64 {
    /// To 2^-59.
    const ASIN: &'static [f64] = &[
        0.166_666_666_666_667_02,
        0.074_999_999_999_825_9,
        0.044_642_857_165_573_833,
        0.030_381_943_073_527_293,
        0.022_372_206_022_206_28,
        0.017_351_755_179_239_123,
        0.013_979_270_442_848_921,
        0.011_410_508_266_471_45,
        0.010_720_246_293_174_888,
        0.003_917_343_142_737_468,
        0.021_226_654_071_424_05,
        -0.020_358_084_929_108_844,
        0.032_249_193_162_774_435,
    ];
    /// To 2^-63.
    const ATAN: &'static [f64] = &[
        -0.333_333_333_333_333_3,
        0.199_999_999_999_987,
        -0.142_857_142_854_892_37,
        0.111_111_110_933_784_81,
        -0.090_909_083_045_195_56,
        0.076_922_859_181_412_95,
        -0.066_662_682_443_969_29,
        0.058_773_881_329_630_73,
        -0.052_205_548_017_859_72,
        0.045_115_966_603_807_61,
        -0.033_648_200_836_297_076,
        0.015_359_861_954_226_086,
    ];
    const QUARTER: (f64, f64) = (std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);
    const COORDINATES: (f64, f64) = (1e-150, 1e150);
}

impl InverseTrigTable for f32 {
    /// To 2^-27.
    const ASIN: &'static [f32] = &[
        0.166_667_31,
        0.074_959_43,
        0.045_404_136,
        0.024_460_25,
        0.041_744_355,
    ];
    /// To 2^-30.
    const ATAN: &'static [f32] = &[
        -0.333_333_2,
        0.199_986_68,
        -0.142_465_83,
        0.106_131_785,
        -0.061_215_743,
    ];
    const QUARTER: (f32, f32) = (std::f32::consts::FRAC_PI_2, -4.371_139e-8);
    const COORDINATES: (f32, f32) = (1e-18, 1e18);
}

/// For `a = |x|`: whether it is above 1/2, and asin of the reduced argument as (large, small); above 1/2 that is
/// sqrt((1 - a) / 2), of which asin(a) is pi/2 minus twice.
#[inline(always)]
fn asin_parts<R: Real, A: Arch>(a: R) -> (bool, R, R) {
    let above = a > R::of(0.5);
    let z = if above {
        R::of(0.5) * (R::ONE - a)
    } else {
        a * a
    };
    let root = z.root();
    let r = if above { root } else { a };
    // What rounding the root lost, to first order.
    let rest = rest_of_product::<R, A>(root, root, z) * (R::of(0.5) / root);
    let rest = if above && root > R::ZERO {
        rest
    } else {
        R::ZERO
    };
    (
        above,
        r,
        (r * z).fused::<A>(polynomial::<R, A>(z, R::ASIN), rest),
    )
}

#[inline(always)]
fn asin<R: Real, A: Arch>(x: R) -> R {
    let size = x.size();
    let (above, r, tail) = asin_parts::<R, A>(size);
    let (quarter, quarter_low) = R::QUARTER;
    let (far, lost) = fast_two_sum(quarter, -(r + r));
    let far = far + (lost + (quarter_low - (tail + tail)));
    let inside = (if above { far } else { r + tail }).signed_as(x);
    if size > R::ONE { R::NAN } else { inside }
}

#[inline(always)]
fn acos<R: Real, A: Arch>(x: R) -> R {
    let size = x.size();
    let (above, r, tail) = asin_parts::<R, A>(size);
    let (quarter, quarter_low) = R::QUARTER;
    // Near the ends: 2 asin of the reduced argument, or pi minus it; in the middle: pi/2 minus asin.
    let factor = if above { R::of(-2.0) } else { R::ONE };
    let (r, tail) = ((r * factor).turned_by(x), (tail * factor).turned_by(x));
    let twice = if x < R::ZERO { R::of(2.0) } else { R::ZERO };
    let base = if above { twice } else { R::ONE };
    let (sum, lost) = fast_two_sum(base * quarter, -r);
    let inside = sum + (lost + (base * quarter_low - tail));
    if size <= R::ONE { inside } else { R::NAN }
}

/// atan of `numerator / denominator`, both positive or zero: the quotient is reduced to below tan(pi/8) before it is
/// formed. The angle comes in two parts.
#[inline(always)]
fn atan_positive<R: Real, A: Arch>(numerator: R, denominator: R) -> (R, R) {
    // tan(pi/8) and tan(3 pi/8), to the accuracy a choice needs.
    let low = numerator < R::of(0.414_213_562_373_095) * denominator;
    let high = numerator > R::of(2.414_213_562_373_095) * denominator;
    // t as it is, (t - 1) / (t + 1) in the middle, -1 / t above.
    let difference = two_sum(numerator, -denominator);
    let sum = two_sum(numerator, denominator);
    let top = if low {
        (numerator, R::ZERO)
    } else {
        difference
    };
    let top = if high { (-denominator, R::ZERO) } else { top };
    let bottom = if low { (denominator, R::ZERO) } else { sum };
    let bottom = if high { (numerator, R::ZERO) } else { bottom };
    let share = if low { R::ZERO } else { R::of(0.5) };
    let share = if high { R::ONE } else { share };
    let (r, rest) = divide_pairs::<R, A>(top, bottom);
    let z = r * r;
    let tail = (r * z).fused::<A>(polynomial::<R, A>(z, R::ATAN), rest);
    let (sum, lost) = fast_two_sum(share * R::QUARTER.0, r);
    (sum, lost + (tail + share * R::QUARTER.1))
}

#[inline(always)]
fn atan<R: Real, A: Arch>(x: R) -> R {
    // Beyond the bound the angle is a right one; it keeps infinity out of the reduction.
    let size = x.size();
    let (_, end) = R::COORDINATES;
    let bounded = if size > end { end } else { size };
    let (large, small) = atan_positive::<R, A>(bounded, R::ONE);
    let result = (large + small).signed_as(x);
    if x.is_not_a_number() { x } else { result }
}

#[inline(always)]
fn atan2_near<R: Real, A: Arch>(ordinate: R, abscissa: R) -> R {
    let (large, small) = atan_positive::<R, A>(ordinate.size(), abscissa.size());
    let (quarter, quarter_low) = R::QUARTER;
    let (turned, lost) = fast_two_sum(quarter + quarter, -large);
    let turned = turned + (lost + (quarter_low + quarter_low - small));
    let angle = if abscissa.is_negative() {
        turned
    } else {
        large + small
    };
    angle.signed_as(ordinate)
}

macro_rules! inverse_trig {
    ($($T:ident $atan2:path, $look_up:ident;)*) => { $(
        impl InverseTrig for $T {
            #[inline(always)]
            fn asin<A: Arch>(self) -> Self {
                asin::<$T, A>(self)
            }

            #[inline(always)]
            fn acos<A: Arch>(self) -> Self {
                acos::<$T, A>(self)
            }

            #[inline(always)]
            fn atan<A: Arch>(self) -> Self {
                atan::<$T, A>(self)
            }

            #[inline(always)]
            fn is_beyond_atan2(self, y: Self, _result: Self) -> bool {
                let (low, high) = <$T>::COORDINATES;
                let (x, y) = (self.size(), y.size());
                !((x > low) & (x < high) & (y > low) & (y < high))
            }

            #[inline(always)]
            fn atan2_near<A: Arch>(self, y: Self) -> Self {
                atan2_near::<$T, A>(self, y)
            }

            #[inline(always)]
            fn atan2_block<A: Arch>(
                dst: &mut [Self; BLOCK],
                x: &[Self; BLOCK],
                y: &[Self; BLOCK],
            ) -> Option<bool> {
                A::$look_up::<Atan2>(dst, x, y)?;
                let mut hard = false;
                for (&x, &y) in x.iter().zip(y) {
                    hard |= x.is_beyond_atan2(y, x);
                }
                Some(hard)
            }

            fn atan2_far<A: Arch>(self, y: Self) -> Self {
                $atan2(self, y)
            }
        }
    )* };
}

inverse_trig! {
    f32 libm::atan2f, look_up_pairs_f32;
    f64 libm::atan2, look_up_pairs_f64;
}
