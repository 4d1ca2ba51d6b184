//! Vector registers of floats with masks: what the walks of `gemm_walk.rs` are written in.
#![expect(
    unsafe_code,
    reason = "intrinsics need their instruction set; masked loads and stores take raw pointers"
)]

use std::arch::x86_64::{
    __m256, __m256d, __m256i, __m512, __m512d, __mmask8, __mmask16, _mm256_cmpgt_epi32,
    _mm256_cmpgt_epi64, _mm256_fmadd_pd, _mm256_fmadd_ps, _mm256_maskload_pd, _mm256_maskload_ps,
    _mm256_maskstore_pd, _mm256_maskstore_ps, _mm256_movemask_epi8, _mm256_mul_pd, _mm256_mul_ps,
    _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_set1_pd, _mm256_set1_ps, _mm256_setr_epi32,
    _mm256_setr_epi64x, _mm256_storeu_pd, _mm256_storeu_ps, _mm512_fmadd_pd, _mm512_fmadd_ps,
    _mm512_mask_storeu_pd, _mm512_mask_storeu_ps, _mm512_maskz_loadu_pd, _mm512_maskz_loadu_ps,
    _mm512_mul_pd, _mm512_mul_ps, _mm512_set1_pd, _mm512_set1_ps,
};

use crate::gemm_across::{
    MOST, eight_across, eight_apart, eight_narrow_across, four_narrow_across, sixteen_across,
    sixteen_apart,
};
use crate::numeric::Compute;
use crate::stream;
use crate::vector::MOST_LANES;

/// A vector register of floats whose first lanes can be loaded and stored alone.
///
/// # Safety
/// Every method needs the register's instruction set; the pointer of `load` and `store` must be valid for the lanes of the
/// mask.
pub(crate) trait Register: Copy {
    type Item: Compute;
    type Mask: Copy;
    const LANES: usize;
    /// Rows of a tile three registers wide: as many as leave registers for the operands.
    const ROWS: usize;

    /// The first `lanes` lanes, of at most `LANES`.
    unsafe fn mask(lanes: usize) -> Self::Mask;
    unsafe fn splat(value: Self::Item) -> Self;
    /// Lanes outside the mask are zero and their memory is not touched.
    unsafe fn load(from: *const Self::Item, mask: Self::Mask) -> Self;
    unsafe fn store(self, to: *mut Self::Item, mask: Self::Mask);
    unsafe fn mul(self, other: Self) -> Self;
    /// `self * b + c`.
    unsafe fn mul_add(self, b: Self, c: Self) -> Self;
    /// What a step of packed panels adds to the sums `c`: [`mul_add`](Self::mul_add), but where lanes of panels are more than numbers.
    #[inline(always)]
    unsafe fn add_products(self, b: Self, c: Self) -> Self {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { self.mul_add(b, c) }
    }
}

/// How many steps ahead a panel of the left matrix is asked for.
const PANEL_AHEAD: usize = 8;

/// What one step of a panel of the left matrix adds to the sums, times registers of the right one; the step that follows is asked for.
///
/// # Safety
/// `a` must be valid for `M` rows, on a machine with the instruction set of `R`.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "loops over registers are unrolled away; their indices number rows"
)]
pub(crate) unsafe fn add_rows<R: Register, const M: usize, const V: usize>(
    sums: &mut [[R; V]; M],
    line: [R; V],
    a: *const R::Item,
    a_step: usize,
) {
    stream::prefetch(a.wrapping_add(PANEL_AHEAD * a_step).cast());
    for i in 0..M {
        // SAFETY: the caller vouches for the rows.
        let value = unsafe { *a.wrapping_add(i) };
        // SAFETY: the caller vouches for the instruction set, here and below.
        let value = unsafe { R::splat(value) };
        for v in 0..V {
            // SAFETY: as above.
            sums[i][v] = unsafe { value.add_products(line[v], sums[i][v]) };
        }
    }
}

/// A register whose lanes are numbers of one line, so that they can be joined and taken apart.
///
/// # Safety
/// As of [`Register`].
pub(crate) trait Horizontal: Register {
    /// The sums of the lanes of as many registers as one has lanes, in their order: lanes half a register apart are added first, then
    /// those a quarter apart, and so on.
    unsafe fn across(of: &[Self; MOST_LANES]) -> Self;
    /// Whether there is [`apart`](Self::apart).
    const TAKES_APART: bool;
    /// Rows of `K` elements, which lie one after the other in the first `K` registers, taken apart: the first result has the first
    /// element of each row, and so on.
    unsafe fn apart<const K: usize>(of: [Self; MOST]) -> [Self; MOST];
    /// The same of numbers as of lanes: `a * b + c`.
    unsafe fn fused(a: Self::Item, b: Self::Item, c: Self::Item) -> Self::Item;
}

macro_rules! register {
    ($R:ty, $t:ty, $Mask:ty, $lanes:literal, $rows:literal, |$n:ident| $mask:expr,
     $splat:ident, $mul:ident, $fma:ident, $across:ident, $takes:literal |$of:ident| $apart:expr,
     load |$from:ident, $load_mask:ident| $load:expr, store |$to:ident, $store_mask:ident, $value:ident| $store:expr) => {
        impl Register for $R {
            type Item = $t;
            type Mask = $Mask;
            const LANES: usize = $lanes;
            const ROWS: usize = $rows;

            #[inline(always)]
            unsafe fn mask($n: usize) -> $Mask {
                $mask
            }
            #[inline(always)]
            unsafe fn splat(value: $t) -> Self {
                // SAFETY: the caller vouches for the instruction set.
                unsafe { $splat(value) }
            }
            #[inline(always)]
            unsafe fn load($from: *const $t, $load_mask: $Mask) -> Self {
                // SAFETY: the caller vouches for the instruction set and the lanes of the mask.
                unsafe { $load }
            }
            #[inline(always)]
            unsafe fn store(self, $to: *mut $t, $store_mask: $Mask) {
                let $value = self;
                // SAFETY: the caller vouches for the instruction set and the lanes of the mask.
                unsafe { $store }
            }
            #[inline(always)]
            unsafe fn mul(self, other: Self) -> Self {
                // SAFETY: the caller vouches for the instruction set.
                unsafe { $mul(self, other) }
            }
            #[inline(always)]
            unsafe fn mul_add(self, b: Self, c: Self) -> Self {
                // SAFETY: the caller vouches for the instruction set.
                unsafe { $fma(self, b, c) }
            }
        }

        impl Horizontal for $R {
            #[inline(always)]
            unsafe fn across(of: &[Self; MOST_LANES]) -> Self {
                // SAFETY: the caller vouches for the instruction set.
                unsafe { $across(of) }
            }
            const TAKES_APART: bool = $takes;
            #[inline(always)]
            unsafe fn apart<const K: usize>($of: [Self; MOST]) -> [Self; MOST] {
                $apart
            }
            #[inline(always)]
            unsafe fn fused(a: $t, b: $t, c: $t) -> $t {
                a.mul_add(b, c)
            }
        }
    };
}

register!(
    __m512,
    f32,
    __mmask16,
    16,
    8,
    |n| ((1u32 << n) - 1) as __mmask16,
    _mm512_set1_ps,
    _mm512_mul_ps,
    _mm512_fmadd_ps,
    sixteen_across,
    true | of | {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { sixteen_apart::<K>(of) }
    },
    load | from,
    mask | _mm512_maskz_loadu_ps(mask, from),
    store | to,
    mask,
    value | _mm512_mask_storeu_ps(to, mask, value)
);
register!(
    __m512d,
    f64,
    __mmask8,
    8,
    8,
    |n| ((1u32 << n) - 1) as __mmask8,
    _mm512_set1_pd,
    _mm512_mul_pd,
    _mm512_fmadd_pd,
    eight_across,
    true | of | {
        // SAFETY: the caller vouches for the instruction set.
        unsafe { eight_apart::<K>(of) }
    },
    load | from,
    mask | _mm512_maskz_loadu_pd(mask, from),
    store | to,
    mask,
    value | _mm512_mask_storeu_pd(to, mask, value)
);
register!(
    __m256,
    f32,
    __m256i,
    8,
    4,
    |n| lanes_32(n),
    _mm256_set1_ps,
    _mm256_mul_ps,
    _mm256_fmadd_ps,
    eight_narrow_across,
    false | of | of,
    load | from,
    mask | _mm256_maskload_ps(from, mask),
    store | to,
    mask,
    value | put_32(to, mask, value)
);
register!(
    __m256d,
    f64,
    __m256i,
    4,
    4,
    |n| lanes_64(n),
    _mm256_set1_pd,
    _mm256_mul_pd,
    _mm256_fmadd_pd,
    four_narrow_across,
    false | of | of,
    load | from,
    mask | _mm256_maskload_pd(from, mask),
    store | to,
    mask,
    value | put_64(to, mask, value)
);

/// All bits set in the first `lanes` of eight lanes.
#[inline(always)]
fn lanes_32(lanes: usize) -> __m256i {
    // SAFETY: only called by registers of AVX2, whose callers vouch for it.
    let numbers = unsafe { _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7) };
    // SAFETY: as above.
    let count = unsafe { _mm256_set1_epi32(lanes as i32) };
    // SAFETY: as above.
    unsafe { _mm256_cmpgt_epi32(count, numbers) }
}

/// All bits set in the first `lanes` of four lanes.
#[inline(always)]
fn lanes_64(lanes: usize) -> __m256i {
    // SAFETY: only called by registers of AVX2, whose callers vouch for it.
    let numbers = unsafe { _mm256_setr_epi64x(0, 1, 2, 3) };
    // SAFETY: as above.
    let count = unsafe { _mm256_set1_epi64x(lanes as i64) };
    // SAFETY: as above.
    unsafe { _mm256_cmpgt_epi64(count, numbers) }
}

/// Stores under a mask of AVX2, which AMD's processors do in a dozen cycles: only where some lanes are left out.
macro_rules! put {
    ($($name:ident: $t:ty, $R:ty, $whole:ident, $part:ident;)*) => {$(
        /// # Safety
        /// As [`Register::store`].
        #[inline(always)]
        unsafe fn $name(to: *mut $t, mask: __m256i, value: $R) {
            // SAFETY: the caller vouches for the instruction set.
            if unsafe { _mm256_movemask_epi8(mask) } == -1 {
                // SAFETY: all lanes are those of the mask.
                unsafe { $whole(to, value) };
            } else {
                // SAFETY: the caller vouches for the lanes of the mask.
                unsafe { $part(to, mask, value) };
            }
        }
    )*};
}
put! {
    put_32: f32, __m256, _mm256_storeu_ps, _mm256_maskstore_ps;
    put_64: f64, __m256d, _mm256_storeu_pd, _mm256_maskstore_pd;
}
