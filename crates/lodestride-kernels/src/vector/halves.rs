//! Blocks of halves made f32 and back, and rounded in between, in the vectors of an instruction set.
//!
//! AVX2's and AVX-512's instructions round to the nearest, ties to even, keep denormal numbers, and make a NaN a quiet one with
//! what is left of its payload: as the integer steps in `scalar/cast.rs` do, which run elsewhere.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "vector instructions may only run on processors that have them"
    )
)]

use super::{Array, Vector};
use crate::scalar::BLOCK;
use crate::scalar::cast::{f32_to_half, half_to_f32};
use half::f16;

/// Where to round to a whole number.
pub(crate) mod whole {
    /// The nearest, halves to even.
    pub(crate) const NEAREST: i32 = 0;
    pub(crate) const DOWN: i32 = 1;
    pub(crate) const UP: i32 = 2;
    pub(crate) const TOWARDS_ZERO: i32 = 3;
}

/// Vectors of f32 that halves become and come from.
pub(crate) trait Halves: Vector<f32> {
    /// `dst[i] = x[i]`.
    fn widen(dst: &mut [f32; BLOCK], x: &[f16; BLOCK]);
    /// `dst[i]` is the half nearest to `x[i]`, ties to even.
    fn narrow(dst: &mut [f16; BLOCK], x: &[f32; BLOCK]);
    /// `dst[i]` is `x[i]` rounded to where one of [`whole`] says, if the compiler rounds number by number between two conversions.
    #[inline(always)]
    fn rounded<const TO: i32>(_dst: &mut [f32; BLOCK], _x: &[f32; BLOCK]) -> Option<bool> {
        None
    }
}

impl<const N: usize> Halves for Array<f32, N> {
    #[inline(always)]
    fn widen(dst: &mut [f32; BLOCK], x: &[f16; BLOCK]) {
        for (d, x) in dst.iter_mut().zip(x) {
            *d = half_to_f32(x.to_bits());
        }
    }

    #[inline(always)]
    fn narrow(dst: &mut [f16; BLOCK], x: &[f32; BLOCK]) {
        for (d, &x) in dst.iter_mut().zip(x) {
            *d = f16::from_bits(f32_to_half(x));
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{BLOCK, Halves, f16};
    use crate::vector::x86::Register;
    use std::arch::x86_64::*;

    macro_rules! halves {
        ($register:ty, $lanes:literal, $load:ident, $store:ident, $load_halves:ident, $store_halves:ident, $widen:ident, $narrow:ident
         $(, $round:ident)?) => {
            impl Halves for Register<$register> {
                #[inline(always)]
                fn widen(dst: &mut [f32; BLOCK], x: &[f16; BLOCK]) {
                    let vectors = dst.as_chunks_mut::<$lanes>().0.iter_mut();
                    for (dst, x) in vectors.zip(x.as_chunks::<$lanes>().0) {
                        // SAFETY: the processor has the instruction, see `Register`, and the array is as long as the vector.
                        let halves = unsafe { $load_halves(x.as_ptr().cast()) };
                        // SAFETY: as above.
                        let singles = unsafe { $widen(halves) };
                        // SAFETY: as above.
                        unsafe { $store(dst.as_mut_ptr(), singles) }
                    }
                }

                #[inline(always)]
                fn narrow(dst: &mut [f16; BLOCK], x: &[f32; BLOCK]) {
                    let vectors = dst.as_chunks_mut::<$lanes>().0.iter_mut();
                    for (dst, x) in vectors.zip(x.as_chunks::<$lanes>().0) {
                        // SAFETY: as above.
                        let singles = unsafe { $load(x.as_ptr()) };
                        // SAFETY: as above.
                        let halves = unsafe { $narrow::<_MM_FROUND_TO_NEAREST_INT>(singles) };
                        // SAFETY: as above.
                        unsafe { $store_halves(dst.as_mut_ptr().cast(), halves) }
                    }
                }

                $(
                    #[inline(always)]
                    fn rounded<const TO: i32>(
                        dst: &mut [f32; BLOCK],
                        x: &[f32; BLOCK],
                    ) -> Option<bool> {
                        let vectors = dst.as_chunks_mut::<$lanes>().0.iter_mut();
                        for (dst, x) in vectors.zip(x.as_chunks::<$lanes>().0) {
                            // SAFETY: as above.
                            let x = unsafe { $load(x.as_ptr()) };
                            // SAFETY: as above.
                            let whole = unsafe { $round::<TO>(x) };
                            // SAFETY: as above.
                            unsafe { $store(dst.as_mut_ptr(), whole) }
                        }
                        Some(false)
                    }
                )?
            }
        };
    }

    halves!(
        __m256,
        8,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm_loadu_si128,
        _mm_storeu_si128,
        _mm256_cvtph_ps,
        _mm256_cvtps_ph,
        _mm256_round_ps
    );
    halves!(
        __m512,
        16,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm256_loadu_si256,
        _mm256_storeu_si256,
        _mm512_cvtph_ps,
        _mm512_cvtps_ph
    );
}
