//! Vectors whose lanes look up their own coefficients: what functions made of pieces need beyond [`Vector`].
//!
//! With AVX-512 a table of 32 numbers is two registers and a look-up of all lanes one instruction; elsewhere the lanes look
//! up one by one.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "vector instructions may only run on processors that have them"
    )
)]

use crate::scalar::float::Float;
use crate::vector::{Array, Vector};

/// Numbers of a table.
pub(crate) const PIECES: usize = 32;

/// Of the bits of a float: the mantissa, and in it what is below a 32nd of an octave; the exponent and the sign.
const MANTISSA_BITS: u32 = 23;
const PIECE_BITS: u32 = MANTISSA_BITS - 5;
const OCTAVE: u32 = !0 << MANTISSA_BITS;

/// Vectors of f32 that look up.
pub(crate) trait Pick: Vector<f32> {
    /// Whether looking up is fast.
    const QUICK: bool;
    /// Per lane, the number at the place that the lowest five of its bits say.
    fn pick(self, table: &[f32; PIECES]) -> Self;
    /// Distance from zero.
    fn size(self) -> Self;
    /// With the sign of another, where this one has none.
    fn signed_as(self, other: Self) -> Self;
    /// Where the sign of this one is negative `then`, elsewhere `other`.
    fn negative(self, then: Self, other: Self) -> Self;
    /// `self * factor - term`, in one rounding where the machine has the instruction.
    fn mul_sub(self, factor: Self, term: Self) -> Self;
    /// Plain numbers as `2^k m`, the octave of `m` beginning with the float of the bits `first`: in the lowest five bits which
    /// 32nd of the octave, then `m`, and `k` times 2^23.
    fn octave(self, first: u32) -> (Self, Self, Self);
    /// Times 2^n, from `WHOLE + n`, where `x` is plain and `power` nearer to zero than `end`, else 0; and whether none is 0.
    fn scaled_within(self, shifted: Self, x: Self, power: Self, end: f32) -> (Self, bool);
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
        #[inline(always)]
        fn mul_sub(self, factor: Self, term: Self) -> Self {
            self.mul_add(factor, Self::splat(0.0).sub(term))
        }
        #[inline(always)]
        fn octave(self, first: u32) -> (Self, Self, Self) {
            let moved = |x: f32| x.to_bits().wrapping_sub(first);
            let octave = |x: f32| moved(x) & OCTAVE;
            (
                each([self], |[x]| f32::from_bits(moved(x) >> PIECE_BITS)),
                each([self], |[x]| {
                    f32::from_bits(x.to_bits().wrapping_sub(octave(x)))
                }),
                each([self], |[x]| octave(x).cast_signed() as f32),
            )
        }
        #[inline(always)]
        fn scaled_within(self, shifted: Self, x: Self, power: Self, end: f32) -> (Self, bool) {
            let results = each([self, shifted, x, power], |[value, shifted, x, power]| {
                let within = x.is_plain() & (power.abs() < end);
                if within { value.scaled(shifted) } else { 0.0 }
            });
            (results, results.same(Self::splat(0.0)) == 0)
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
    use super::{MANTISSA_BITS, OCTAVE, PIECE_BITS, PIECES, Pick, each};
    use crate::scalar::float::Float;
    use crate::vector::Vector;
    use crate::vector::x86::Register;
    use std::arch::x86_64::*;

    impl Pick for Register<__m256> {
        by_lanes!();
    }

    type Wide = Register<__m512>;

    #[inline(always)]
    fn bits(x: Wide) -> __m512i {
        // SAFETY: the processor has the instruction: see `Register`.
        unsafe { _mm512_castps_si512(x.0) }
    }

    #[inline(always)]
    fn of_bits(x: __m512i) -> Wide {
        // SAFETY: as above.
        Register(unsafe { _mm512_castsi512_ps(x) })
    }

    impl Pick for Wide {
        const QUICK: bool = true;

        #[inline(always)]
        fn pick(self, table: &[f32; PIECES]) -> Self {
            let (low, high) = (Self::load(table), Self::load(&table[PIECES / 2..]));
            // SAFETY: the processor has the instruction: see `Register`.
            Register(unsafe { _mm512_permutex2var_ps(low.0, bits(self), high.0) })
        }
        #[inline(always)]
        fn size(self) -> Self {
            // SAFETY: as above.
            Register(unsafe { _mm512_abs_ps(self.0) })
        }
        #[inline(always)]
        fn signed_as(self, other: Self) -> Self {
            let sign = Self::splat(-0.0);
            // Bit by bit `self | (other & sign)`.
            // SAFETY: as above.
            of_bits(unsafe {
                _mm512_ternarylogic_epi32::<0xf8>(bits(self), bits(other), bits(sign))
            })
        }
        #[inline(always)]
        fn negative(self, then: Self, other: Self) -> Self {
            // SAFETY: as above.
            let sign = unsafe { _mm512_movepi32_mask(bits(self)) };
            // SAFETY: as above.
            Register(unsafe { _mm512_mask_blend_ps(sign, other.0, then.0) })
        }
        #[inline(always)]
        fn mul_sub(self, factor: Self, term: Self) -> Self {
            // SAFETY: as above.
            Register(unsafe { _mm512_fmsub_ps(self.0, factor.0, term.0) })
        }
        #[inline(always)]
        fn octave(self, first: u32) -> (Self, Self, Self) {
            // SAFETY: as above.
            unsafe {
                let moved = _mm512_sub_epi32(bits(self), _mm512_set1_epi32(first.cast_signed()));
                let piece = _mm512_srli_epi32::<PIECE_BITS>(moved);
                let octave = _mm512_and_si512(moved, _mm512_set1_epi32(OCTAVE.cast_signed()));
                let m = _mm512_sub_epi32(bits(self), octave);
                (
                    of_bits(piece),
                    of_bits(m),
                    Register(_mm512_cvtepi32_ps(octave)),
                )
            }
        }
        #[inline(always)]
        fn scaled_within(self, shifted: Self, x: Self, power: Self, end: f32) -> (Self, bool) {
            /// Every class of numbers but the plain ones.
            const NOT_PLAIN: i32 = 0xff;
            let (size, end) = (power.size(), Self::splat(end));
            // SAFETY: as above.
            unsafe {
                let rest = _mm512_fpclass_ps_mask::<NOT_PLAIN>(x.0);
                let within = _mm512_mask_cmp_ps_mask::<_CMP_LT_OQ>(!rest, size.0, end.0);
                let exponent = _mm512_slli_epi32::<MANTISSA_BITS>(bits(shifted));
                let results = _mm512_maskz_add_epi32(within, bits(self), exponent);
                (of_bits(results), within == !0)
            }
        }
    }
}
