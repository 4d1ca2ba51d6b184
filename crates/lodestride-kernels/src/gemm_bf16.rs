//! Products of pairs of bf16: the packed walk, with the processor's own instruction for a step of two of them.
#![expect(
    unsafe_code,
    reason = "intrinsics need their instruction set; the walk works on raw pointers"
)]

use crate::gemm_small::Blend;
use crate::matrix::{Matrix, MatrixMut};

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use elsewhere::{is_available, product};
#[cfg(target_arch = "x86_64")]
pub(crate) use here::{is_available, product};

#[cfg(target_arch = "x86_64")]
mod here {
    use std::arch::x86_64::{__m512, __m512bh, __mmask16, _mm512_dpbf16_ps};

    use super::{Blend, Matrix, MatrixMut};
    use crate::gemm_packed;
    use crate::gemm_register::Register;
    use crate::gemm_tile::{Job, Walk, in_parts};
    use crate::isa::Isa;

    /// Sixteen pairs of bf16 in a panel, else sixteen `f32`.
    #[derive(Clone, Copy)]
    struct Pairs(__m512);

    impl Register for Pairs {
        type Item = f32;
        type Mask = __mmask16;
        const LANES: usize = <__m512 as Register>::LANES;
        const ROWS: usize = <__m512 as Register>::ROWS;

        #[inline(always)]
        unsafe fn mask(lanes: usize) -> __mmask16 {
            // SAFETY: the caller's contract, here and below.
            unsafe { __m512::mask(lanes) }
        }
        #[inline(always)]
        unsafe fn splat(value: f32) -> Self {
            // SAFETY: as above.
            Self(unsafe { __m512::splat(value) })
        }
        #[inline(always)]
        unsafe fn load(from: *const f32, mask: __mmask16) -> Self {
            // SAFETY: as above.
            Self(unsafe { __m512::load(from, mask) })
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32, mask: __mmask16) {
            // SAFETY: as above.
            unsafe { self.0.store(to, mask) };
        }
        #[inline(always)]
        unsafe fn mul(self, other: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { self.0.mul(other.0) })
        }
        #[inline(always)]
        unsafe fn mul_add(self, b: Self, c: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { Register::mul_add(self.0, b.0, c.0) })
        }
        /// Both products of each pair.
        #[inline(always)]
        unsafe fn add_products(self, b: Self, c: Self) -> Self {
            // SAFETY: all bits are numbers of both types, which are of one size.
            let [x, y]: [__m512bh; 2] = unsafe { std::mem::transmute([self.0, b.0]) };
            // SAFETY: the caller's contract.
            Self(unsafe { _mm512_dpbf16_ps(c.0, x, y) })
        }
    }

    /// Whether this machine multiplies pairs.
    pub(crate) fn is_available() -> bool {
        Isa::detect() == Isa::Avx512 && is_x86_feature_detected!("avx512bf16")
    }

    /// `out = alpha * a b + beta * out`, where the elements of `a` and `b` are pairs of bf16 along the axis that is added up, on up to
    /// `threads` threads. False, having done nothing, where this machine has no such instruction or no memory to pack in.
    pub(crate) fn product(
        a: Matrix<'_, f32>,
        b: Matrix<'_, f32>,
        out: &mut MatrixMut<'_, f32>,
        blend: Blend<f32>,
        threads: usize,
    ) -> bool {
        if !is_available() {
            return false;
        }
        let job = Job::of(a, b, out, blend);
        // SAFETY: the machine has the instructions; for the job see below.
        let run = |part: &Job<f32>, _| unsafe { packed(part) };
        let room = Some(gemm_packed::room_for::<Pairs>);
        // SAFETY: `Matrix::new` and `MatrixMut::new` have proven every element of these shapes to lie inside the slices the pointers
        // come from, and `out` is a unique borrow.
        unsafe { in_parts(job, Walk::Packed, threads, room, run) }
    }

    /// # Safety
    /// As [`gemm_packed::blocks`].
    #[target_feature(
        enable = "avx512bf16,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2"
    )]
    unsafe fn packed(job: &Job<f32>) {
        // SAFETY: the caller vouches for the job; the instruction set is this function's.
        unsafe { gemm_packed::blocks::<Pairs>(job, None) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere {
    use super::{Blend, Matrix, MatrixMut};

    pub(crate) fn is_available() -> bool {
        false
    }

    pub(crate) fn product(
        _a: Matrix<'_, f32>,
        _b: Matrix<'_, f32>,
        _out: &mut MatrixMut<'_, f32>,
        _blend: Blend<f32>,
        _threads: usize,
    ) -> bool {
        false
    }
}
