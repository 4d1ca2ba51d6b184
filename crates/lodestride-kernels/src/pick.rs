//! Vectors whose lanes look up their own coefficients: what functions made of pieces need beyond [`Vector`].
//!
//! With AVX-512 a table of 32 numbers is two registers and a look-up of all lanes one instruction; elsewhere the lanes look
//! up one by one.

use crate::vector::{Array, Vector};

/// Numbers of a table.
pub(crate) const PIECES: usize = 32;

/// Vectors of f32 that look up.
pub(crate) trait Pick: Vector<f32> {
    /// Whether looking up is fast.
    const QUICK: bool;
    /// Per lane, the number at the place that the lowest five of its bits say.
    fn pick(self, table: &[f32; PIECES]) -> Self;
    /// Distance from zero.
    fn size(self) -> Self;
    /// With the sign of another.
    fn signed_as(self, other: Self) -> Self;
    /// Where the sign of this one is negative `then`, elsewhere `other`.
    fn negative(self, then: Self, other: Self) -> Self;
}

/// [`Pick`] through an array of all lanes.
macro_rules! by_lanes {
    () => {
        const QUICK: bool = false;

        #[inline(always)]
        fn pick(self, table: &[f32; PIECES]) -> Self {
            each([self], |[x]| table[x.to_bits() as usize % PIECES])
        }
        #[inline(always)]
        fn size(self) -> Self {
            each([self], |[x]| x.abs())
        }
        #[inline(always)]
        fn signed_as(self, other: Self) -> Self {
            each([self, other], |[x, sign]| x.copysign(sign))
        }
        #[inline(always)]
        fn negative(self, then: Self, other: Self) -> Self {
            each([self, then, other], |[x, then, other]| {
                if x.is_sign_negative() { then } else { other }
            })
        }
    };
}

/// A function of numbers, lane by lane.
#[inline(always)]
fn each<V: Vector<f32>, const N: usize>(of: [V; N], job: impl Fn([f32; N]) -> f32) -> V {
    let mut lanes = [[0.0; crate::vector::MOST_LANES]; N];
    for (lanes, vector) in lanes.iter_mut().zip(of) {
        vector.store(lanes);
    }
    let results: [f32; crate::vector::MOST_LANES] =
        std::array::from_fn(|lane| job(lanes.map(|lanes| lanes[lane])));
    V::load(&results)
}

impl<const N: usize> Pick for Array<f32, N> {
    by_lanes!();
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{PIECES, Pick, each};
    use crate::octave::Octave;
    use crate::vector::x86::Register;
    use std::arch::x86_64::*;

    impl Pick for Register<__m256> {
        by_lanes!();
    }

    type Wide = Register<__m512>;

    impl Pick for Wide {
        const QUICK: bool = true;

        #[inline(always)]
        fn pick(self, table: &[f32; PIECES]) -> Self {
            Octave::pick(self, table)
        }
        #[inline(always)]
        fn size(self) -> Self {
            Octave::size(self)
        }
        #[inline(always)]
        fn signed_as(self, other: Self) -> Self {
            Octave::signed_as(self, other)
        }
        #[inline(always)]
        fn negative(self, then: Self, other: Self) -> Self {
            Octave::negative(self, then, other)
        }
    }
}
