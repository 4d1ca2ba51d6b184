//! The error function.

use crate::isa::Arch;
use crate::scalar::arith::Quotient;
use crate::scalar::exp::Exp;
use crate::scalar::polynomial;

/// The error function and its complement.
pub(crate) trait Erf: Quotient {
    fn erf<A: Arch>(self) -> Self;
    fn erfc<A: Arch>(self) -> Self;
}

/// `erf(x) / x` as a polynomial in `x^2` for |x| <= 1, to 4e-11.
const NEAR: [f64; 8] = [
    1.128_379_167_061_543_5,
    -0.376_126_384_680_287_1,
    0.112_837_824_952_368_45,
    -0.026_865_430_727_670_243,
    0.005_221_031_807_858_023,
    -0.000_848_408_040_553_510_7,
    0.000_112_659_590_256_066_09,
    -9.667_044_571_486_996e-6,
];

/// `exp(x^2) erfc(x) (1 + 2x)` as a polynomial in `(x - 3) / (x + 3)` for 0 <= x <= 10.2, to 7e-11.
const SCALED: [f64; 13] = [
    1.253_008_058_238_853_4,
    -0.135_621_106_749_841_68,
    -0.047_562_290_254_687_52,
    0.129_645_195_734_795_88,
    -0.119_273_733_621_555_04,
    0.068_307_391_308_531_17,
    -0.023_770_409_616_842_54,
    0.002_533_815_698_309_034_8,
    0.001_892_178_124_528_862,
    -0.000_792_072_701_613_238_6,
    -0.000_124_728_363_652_662_05,
    0.000_130_288_526_488_298_92,
    3.443_730_683_831_882e-5,
];

/// `erfc(x)` to a relative error of 1e-10: enough to round to f32.
#[inline(always)]
pub(crate) fn rough_erfc<A: Arch>(x: f64) -> f64 {
    let size = x.abs();
    // Beyond 10.2 the result is zero as f32.
    let bounded = if size > 11.0 { 11.0 } else { size };
    // Both quotients by one division.
    let (a, b) = (1.0 + 2.0 * bounded, bounded + 3.0);
    let inverse = 1.0 / (a * b);
    let scaled = polynomial::<A, 13>((bounded - 3.0) * (a * inverse), &SCALED);
    let positive = Exp::exp::<A>(-bounded * bounded) * (scaled * (b * inverse));
    if x < 0.0 { 2.0 - positive } else { positive }
}

impl Erf for f64 {
    #[inline(always)]
    fn erf<A: Arch>(self) -> Self {
        libm::erf(self)
    }

    #[inline(always)]
    fn erfc<A: Arch>(self) -> Self {
        libm::erfc(self)
    }
}

impl Erf for f32 {
    #[inline(always)]
    fn erf<A: Arch>(self) -> Self {
        let x = f64::from(self);
        let near = x * polynomial::<A, 8>(x * x, &NEAR);
        let far = (1.0 - rough_erfc::<A>(x.abs())).copysign(x);
        (if x.abs() < 1.0 { near } else { far }) as f32
    }

    #[inline(always)]
    fn erfc<A: Arch>(self) -> Self {
        let result = rough_erfc::<A>(f64::from(self)) as f32;
        // The bound would give NaN a value.
        if self.is_nan() { self } else { result }
    }
}
