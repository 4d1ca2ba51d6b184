//! Vectors whose lanes look up their own coefficients: what functions made of pieces need beyond [`Vector`].
//!
//! With AVX-512 a table of 32 numbers is two registers and a look-up of all lanes one instruction; with AVX2 a table of four, in
//! both halves of a register. Elsewhere the lanes look up one by one.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "vector instructions may only run on processors that have them"
    )
)]

use crate::numeric::Compute;
use crate::vector::{Array, MOST_LANES, Vector};

/// Numbers of a table.
pub(crate) const PIECES: usize = 32;
/// Numbers of a small table.
pub(crate) const FEW: usize = 4;

/// Vectors of f32 that look up.
pub(crate) trait Pick: Vector<f32> {
    /// Whether looking up is fast.
    const QUICK: bool = false;
    /// Whether it is only in a small table.
    const FEW: bool = false;
    /// Per lane, the number at the place that the lowest five of its bits say.
    #[inline(always)]
    fn pick(self, table: &[f32; PIECES]) -> Self {
        each([self], |[x]| table[x.to_bits() as usize % PIECES])
    }
    /// Distance from zero.
    #[inline(always)]
    fn size(self) -> Self {
        each([self], |[x]| x.abs())
    }
    /// With the sign of another.
    #[inline(always)]
    fn signed_as(self, other: Self) -> Self {
        each([self, other], |[x, sign]| x.copysign(sign))
    }
    /// Where the sign of this one is negative `then`, elsewhere `other`.
    #[inline(always)]
    fn negative(self, then: Self, other: Self) -> Self {
        each([self, then, other], |[x, then, other]| {
            if x.is_sign_negative() { then } else { other }
        })
    }
    /// With the sign turned where that of another is negative.
    #[inline(always)]
    fn turned_by(self, other: Self) -> Self {
        each([self, other], |[x, sign]| {
            f32::from_bits(x.to_bits() ^ sign.to_bits() & 1 << 31)
        })
    }
    /// Per lane, the number at the place that the lowest two of its bits say.
    #[inline(always)]
    fn pick_few(self, table: &[f32; FEW]) -> Self {
        each([self], |[x]| table[x.to_bits() as usize % FEW])
    }
    /// The bits from one on, moved to the lowest.
    #[inline(always)]
    fn bits_from<const BIT: i32>(self) -> Self {
        each([self], |[x]| f32::from_bits(x.to_bits() >> BIT))
    }
    /// Times 2 to a quarter of what the low bits of `shifted` say, rounded down, of a number that is less by the quarters lost: by
    /// their place where the exponent begins.
    #[inline(always)]
    fn times_quarters(self, shifted: Self) -> Self {
        each([self, shifted], |[x, shifted]| {
            f32::from_bits(x.to_bits().wrapping_add(shifted.to_bits() << 21))
        })
    }
}

/// Vectors of f64 that look up rows of two numbers.
pub(crate) trait PickRows: Vector<f64> {
    /// Whether looking up is fast.
    const QUICK: bool = false;
    /// Distance from zero.
    #[inline(always)]
    fn size(self) -> Self {
        each([self], |[x]| x.abs())
    }
    /// With the sign of another.
    #[inline(always)]
    fn signed_as(self, other: Self) -> Self {
        each([self, other], |[x, sign]| x.copysign(sign))
    }
    /// The bits from one on, moved to the lowest.
    #[inline(always)]
    fn bits_from<const BIT: i32>(self) -> Self {
        each([self], |[x]| f64::from_bits(x.to_bits() >> BIT))
    }
    /// Times 2 to a sixteenth of what the low bits of `shifted` say, rounded down, of a number that is less by the sixteenths lost:
    /// by their place where the exponent begins.
    #[inline(always)]
    fn times_sixteenths(self, shifted: Self) -> Self {
        each([self, shifted], |[x, shifted]| {
            f64::from_bits(x.to_bits().wrapping_add(shifted.to_bits() << 48))
        })
    }
    /// Per lane, the numbers of the row that its low bits say, of which there are as many as a power of two.
    #[inline(always)]
    fn pick_rows<const N: usize>(self, table: &[[f64; 2]; N]) -> (Self, Self) {
        let first = each([self], |[x]| table[x.to_bits() as usize % N][0]);
        (
            first,
            each([self], |[x]| table[x.to_bits() as usize % N][1]),
        )
    }
}

/// A function of numbers, lane by lane.
#[inline(always)]
fn each<C: Compute, V: Vector<C>, const N: usize>(of: [V; N], job: impl Fn([C; N]) -> C) -> V {
    let mut lanes = [[C::ZERO; MOST_LANES]; N];
    for (lanes, vector) in lanes.iter_mut().zip(of) {
        vector.store(lanes);
    }
    let results: [C; MOST_LANES] = std::array::from_fn(|lane| job(lanes.map(|lanes| lanes[lane])));
    V::load(&results)
}

impl<const N: usize> Pick for Array<f32, N> {}
impl<const N: usize> PickRows for Array<f64, N> {}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{FEW, PIECES, Pick, PickRows};
    use crate::octave::Octave;
    use crate::vector::Vector;
    use crate::vector::x86::Register;
    use std::arch::x86_64::*;

    impl Pick for Register<__m256> {
        const FEW: bool = true;

        #[inline(always)]
        fn size(self) -> Self {
            let sign = Self::splat(-0.0);
            // SAFETY: the processor has the instruction: see `Register`.
            Register(unsafe { _mm256_andnot_ps(sign.0, self.0) })
        }
        #[inline(always)]
        fn signed_as(self, other: Self) -> Self {
            let sign = Self::splat(-0.0);
            // SAFETY: as above.
            let sign = unsafe { _mm256_and_ps(sign.0, other.0) };
            // SAFETY: as above.
            Register(unsafe { _mm256_or_ps(self.size().0, sign) })
        }
        #[inline(always)]
        fn turned_by(self, other: Self) -> Self {
            let sign = Self::splat(-0.0);
            // SAFETY: as above.
            let sign = unsafe { _mm256_and_ps(sign.0, other.0) };
            // SAFETY: as above.
            Register(unsafe { _mm256_xor_ps(self.0, sign) })
        }
        #[inline(always)]
        fn pick_few(self, table: &[f32; FEW]) -> Self {
            // SAFETY: as above, and the array is as long as the vector.
            let half = unsafe { _mm_loadu_ps(table.as_ptr()) };
            // SAFETY: as above.
            let table = unsafe { _mm256_set_m128(half, half) };
            // SAFETY: as above.
            let places = unsafe { _mm256_castps_si256(self.0) };
            // SAFETY: as above.
            Register(unsafe { _mm256_permutevar_ps(table, places) })
        }
        #[inline(always)]
        fn bits_from<const BIT: i32>(self) -> Self {
            // SAFETY: as above.
            let bits = unsafe { _mm256_castps_si256(self.0) };
            // SAFETY: as above.
            let bits = unsafe { _mm256_srli_epi32::<BIT>(bits) };
            // SAFETY: as above.
            Register(unsafe { _mm256_castsi256_ps(bits) })
        }
        #[inline(always)]
        fn times_quarters(self, shifted: Self) -> Self {
            // SAFETY: as above.
            let quarters = unsafe { _mm256_castps_si256(shifted.0) };
            // SAFETY: as above.
            let power = unsafe { _mm256_slli_epi32::<21>(quarters) };
            // SAFETY: as above.
            let bits = unsafe { _mm256_castps_si256(self.0) };
            // SAFETY: as above.
            let bits = unsafe { _mm256_add_epi32(bits, power) };
            // SAFETY: as above.
            Register(unsafe { _mm256_castsi256_ps(bits) })
        }
    }

    impl PickRows for Register<__m256d> {
        const QUICK: bool = true;

        #[inline(always)]
        fn size(self) -> Self {
            let sign = Self::splat(-0.0);
            // SAFETY: as above.
            Register(unsafe { _mm256_andnot_pd(sign.0, self.0) })
        }
        #[inline(always)]
        fn signed_as(self, other: Self) -> Self {
            let sign = Self::splat(-0.0);
            // SAFETY: as above.
            let sign = unsafe { _mm256_and_pd(sign.0, other.0) };
            // SAFETY: as above.
            Register(unsafe { _mm256_or_pd(PickRows::size(self).0, sign) })
        }
        #[inline(always)]
        fn bits_from<const BIT: i32>(self) -> Self {
            // SAFETY: as above.
            let bits = unsafe { _mm256_castpd_si256(self.0) };
            // SAFETY: as above.
            let bits = unsafe { _mm256_srli_epi64::<BIT>(bits) };
            // SAFETY: as above.
            Register(unsafe { _mm256_castsi256_pd(bits) })
        }
        #[inline(always)]
        fn times_sixteenths(self, shifted: Self) -> Self {
            // SAFETY: as above.
            let sixteenths = unsafe { _mm256_castpd_si256(shifted.0) };
            // SAFETY: as above.
            let power = unsafe { _mm256_slli_epi64::<48>(sixteenths) };
            // SAFETY: as above.
            let bits = unsafe { _mm256_castpd_si256(self.0) };
            // SAFETY: as above.
            let bits = unsafe { _mm256_add_epi64(bits, power) };
            // SAFETY: as above.
            Register(unsafe { _mm256_castsi256_pd(bits) })
        }
        #[inline(always)]
        fn pick_rows<const N: usize>(self, table: &[[f64; 2]; N]) -> (Self, Self) {
            let mut lanes = [0.0; 4];
            self.store(&mut lanes);
            let rows = lanes.map(|lane: f64| &table[lane.to_bits() as usize % N]);
            // SAFETY: as above, and a row is as long as the vector.
            let rows = rows.map(|row| unsafe { _mm_loadu_pd(row.as_ptr()) });
            // SAFETY: as above.
            let even = unsafe { _mm256_set_m128d(rows[2], rows[0]) };
            // SAFETY: as above.
            let odd = unsafe { _mm256_set_m128d(rows[3], rows[1]) };
            // SAFETY: as above.
            let first = unsafe { _mm256_unpacklo_pd(even, odd) };
            // SAFETY: as above.
            let second = unsafe { _mm256_unpackhi_pd(even, odd) };
            (Register(first), Register(second))
        }
    }

    impl PickRows for Register<__m512d> {}

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
