//! Inverse circular functions.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;
use crate::scalar::{divide_pairs, mul_add, polynomial, two_product};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Angles from their sine, cosine and tangent.
pub(crate) trait InverseTrig: Quotient {
    fn asin<A: Arch>(self) -> Self;
    fn acos<A: Arch>(self) -> Self;
    fn atan<A: Arch>(self) -> Self;
    /// The angle of the point (`y`, `self`): `self` is the ordinate.
    fn atan2<A: Arch>(self, y: Self) -> Self;
}

/// `(asin(x) - x) / x^3` as a polynomial in `x^2` for |x| <= 1/2.
const ASIN: [f64; 13] = [
    0.166_666_666_666_666_69,
    0.074_999_999_999_984_33,
    0.044_642_857_146_355_43,
    0.030_381_944_138_531_247,
    0.022_372_172_942_149_89,
    0.017_352_392_720_869_973,
    0.013_971_212_973_552_933,
    0.011_479_177_415_184_906,
    0.010_322_814_350_185_78,
    0.005_457_506_718_640_358,
    0.017_400_879_442_694_02,
    -0.014_851_887_071_247_204,
    0.028_757_851_367_421_566,
];

/// `(atan(x) - x) / x^3` as a polynomial in `x^2` for |x| <= tan(pi/8).
const ATAN: [f64; 13] = [
    -0.333_333_333_333_333_3,
    0.199_999_999_999_999_9,
    -0.142_857_142_857_114_62,
    0.111_111_111_107_482_04,
    -0.090_909_090_666_206_19,
    0.076_923_067_223_419_72,
    -0.066_666_417_173_027_4,
    0.058_819_208_480_819_43,
    -0.052_579_989_063_322_38,
    0.047_191_229_424_329_05,
    -0.041_033_377_467_417_71,
    0.030_610_274_694_365_922,
    -0.013_892_520_207_010_399,
];

/// What pi/2 and pi/4 lose as f64.
const FRAC_PI_2_LOW: f64 = 6.123_233_995_736_766e-17;
const FRAC_PI_4_LOW: f64 = 3.061_616_997_868_383e-17;

/// For `a = |x|`: whether it is above 1/2, and asin of the reduced argument as (large, small); above 1/2 that is
/// sqrt((1 - a) / 2), of which asin(a) is pi/2 minus twice.
#[inline(always)]
fn asin_parts<A: Arch>(a: f64) -> (bool, f64, f64) {
    let above = a > 0.5;
    let z = if above { 0.5 * (1.0 - a) } else { a * a };
    let root = z.sqrt();
    let r = if above { root } else { a };
    // What rounding the root lost, to first order.
    let (square, lost) = two_product::<A>(root, root);
    let rest = if above && root > 0.0 {
        ((z - square) - lost) / (2.0 * root)
    } else {
        0.0
    };
    (
        above,
        r,
        mul_add::<A>(r * z, polynomial::<A, 13>(z, &ASIN), rest),
    )
}

/// atan of `numerator / denominator`, both positive sums of a high and a low part, plus `base`: the quotient is reduced
/// to below tan(pi/8) before it is formed.
#[inline(always)]
fn atan_positive<A: Arch>(numerator: f64, denominator: f64) -> (f64, f64) {
    // tan(pi/8) and tan(3 pi/8), to the accuracy a choice needs.
    let low = numerator < 0.414_213_562_373_095 * denominator;
    let high = numerator > 2.414_213_562_373_095 * denominator;
    // (t - 1) / (t + 1) in the middle, -1 / t above.
    let difference = crate::scalar::two_sum(numerator, -denominator);
    let sum = crate::scalar::two_sum(numerator, denominator);
    let top = if low { (numerator, 0.0) } else { difference };
    let top = if high { (-denominator, 0.0) } else { top };
    let bottom = if low { (denominator, 0.0) } else { sum };
    let bottom = if high { (numerator, 0.0) } else { bottom };
    let base = if low {
        (0.0, 0.0)
    } else {
        (FRAC_PI_4, FRAC_PI_4_LOW)
    };
    let base = if high {
        (FRAC_PI_2, FRAC_PI_2_LOW)
    } else {
        base
    };
    let r = divide_pairs::<A>(top, bottom);
    let z = r * r;
    let tail = mul_add::<A>(r * z, polynomial::<A, 13>(z, &ATAN), base.1);
    let (sum, lost) = crate::scalar::two_sum(base.0, r);
    (sum, lost + tail)
}

impl InverseTrig for f64 {
    #[inline(always)]
    fn asin<A: Arch>(self) -> Self {
        let (above, r, tail) = asin_parts::<A>(self.abs());
        let far = FRAC_PI_2 - 2.0 * r;
        let lost = ((FRAC_PI_2 - far) - 2.0 * r) + (FRAC_PI_2_LOW - 2.0 * tail);
        let size = if above { far + lost } else { r + tail };
        let inside = size.copysign(self);
        if self.abs() > 1.0 { f64::NAN } else { inside }
    }

    #[inline(always)]
    fn acos<A: Arch>(self) -> Self {
        let (above, r, tail) = asin_parts::<A>(self.abs());
        let negative = self < 0.0;
        // Near the ends: 2 asin of the reduced argument, or pi minus it; in the middle: pi/2 minus asin.
        let twice = 2.0 * (r + tail);
        let (from_pi, lost) = crate::scalar::fast_two_sum(PI, -2.0 * r);
        let opposite = from_pi + (lost + (2.0 * FRAC_PI_2_LOW - 2.0 * tail));
        let (x, small) = if negative { (-r, -tail) } else { (r, tail) };
        let (middle, lost) = crate::scalar::fast_two_sum(FRAC_PI_2, -x);
        let centre = middle + (lost + (FRAC_PI_2_LOW - small));
        let end = if negative { opposite } else { twice };
        let inside = if above { end } else { centre };
        if self.abs() > 1.0 || self.is_nan() {
            f64::NAN
        } else {
            inside
        }
    }

    #[inline(always)]
    fn atan<A: Arch>(self) -> Self {
        // Beyond 1e20 the angle is a right one; the bound keeps infinity out of the reduction.
        let size = self.abs();
        let bounded = if size > 1e20 { 1e20 } else { size };
        let (large, small) = atan_positive::<A>(bounded, 1.0);
        let result = (large + small).copysign(self);
        let tiny = if size < 1e-9 { self } else { result };
        if self.is_nan() { self } else { tiny }
    }

    #[inline(always)]
    fn atan2<A: Arch>(self, y: Self) -> Self {
        libm::atan2(self, y)
    }
}

impl InverseTrig for f32 {
    #[inline(always)]
    fn asin<A: Arch>(self) -> Self {
        InverseTrig::asin::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn acos<A: Arch>(self) -> Self {
        InverseTrig::acos::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn atan<A: Arch>(self) -> Self {
        InverseTrig::atan::<A>(f64::from(self)) as f32
    }

    #[inline(always)]
    fn atan2<A: Arch>(self, y: Self) -> Self {
        let (ordinate, abscissa) = (f64::from(self), f64::from(y));
        // Equal infinities are 45 degrees apart from the axis; a bound makes them equal finite numbers.
        let bound = |x: f64| {
            if x.abs() > 1e60 {
                1e60f64.copysign(x)
            } else {
                x
            }
        };
        let (up, along) = (bound(ordinate).abs(), bound(abscissa).abs());
        // Nothing over nothing is the angle 0 or pi, by the sign of the abscissa: as over a positive number.
        let along = if up == 0.0 && along == 0.0 {
            1.0
        } else {
            along
        };
        let (large, small) = atan_positive::<A>(up, along);
        let angle = large + small;
        let turned = if y.is_sign_negative() {
            PI - angle
        } else {
            angle
        };
        let result = turned.copysign(ordinate);
        (if ordinate.is_nan() || abscissa.is_nan() {
            f64::NAN
        } else {
            result
        }) as f32
    }
}
