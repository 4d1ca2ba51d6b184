//! Vectors of AVX2 with FMA and of AVX-512.
#![expect(
    unsafe_code,
    reason = "vector instructions may only run on processors that have them"
)]

use super::Vector;
use crate::numeric::Compute;
use std::arch::x86_64::*;

/// One vector register. Only code that [`crate::isa`] compiles for the register's instruction set makes and uses one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Register<R>(pub(crate) R);

/// What both widths do alike: one instruction per function.
macro_rules! arithmetic {
    ($c:ty, $r:ty, $lanes:literal, $splat:ident, $load:ident, $store:ident, $max:ident, $min:ident, $same:ident, $above:ident, $fma:ident, $fnma:ident,
     $root:ident, $($name:ident $op:ident),*) => {
        const LANES: usize = $lanes;

        #[inline(always)]
        fn splat(value: $c) -> Self {
            // SAFETY: the processor has the instruction: see `Register`.
            Register(unsafe { $splat(value) })
        }
        #[inline(always)]
        fn load(data: &[$c]) -> Self {
            assert!(data.len() >= $lanes);
            // SAFETY: as above, and the slice holds that many numbers.
            Register(unsafe { $load(data.as_ptr()) })
        }
        #[inline(always)]
        fn store(self, data: &mut [$c]) {
            assert!(data.len() >= $lanes);
            // SAFETY: as above.
            unsafe { $store(data.as_mut_ptr(), self.0) }
        }
        $(
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                // SAFETY: the processor has the instruction: see `Register`.
                Register(unsafe { $op(self.0, other.0) })
            }
        )*
        #[inline(always)]
        fn root(self) -> Self {
            // SAFETY: as above.
            Register(unsafe { $root(self.0) })
        }
        #[inline(always)]
        fn larger(self, other: Self) -> Self {
            // SAFETY: as above.
            Register(unsafe { $max(self.0, other.0) })
        }
        #[inline(always)]
        fn smaller(self, other: Self) -> Self {
            // SAFETY: as above.
            Register(unsafe { $min(self.0, other.0) })
        }
        #[inline(always)]
        fn same(self, other: Self) -> u32 {
            $same(self.0, other.0)
        }
        #[inline(always)]
        fn choose_above(self, other: Self, yes: Self, no: Self) -> Self {
            Register($above(self.0, other.0, yes.0, no.0))
        }
        #[inline(always)]
        fn mul_add(self, factor: Self, term: Self) -> Self {
            // SAFETY: as above.
            Register(unsafe { $fma(self.0, factor.0, term.0) })
        }
        #[inline(always)]
        fn neg_mul_add(self, factor: Self, term: Self) -> Self {
            // SAFETY: as above.
            Register(unsafe { $fnma(self.0, factor.0, term.0) })
        }
    };
}

/// A bit for every lane in which two registers are equal.
macro_rules! same {
    ($name:ident, $r:ty, |$a:ident, $b:ident| $bits:expr) => {
        #[inline(always)]
        fn $name($a: $r, $b: $r) -> u32 {
            // SAFETY: the processor has the instruction: see `Register`.
            let bits = unsafe { $bits };
            bits as u32
        }
    };
}
same!(
    same_512_ps,
    __m512,
    |a, b| _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b)
);
same!(
    same_512_pd,
    __m512d,
    |a, b| _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(a, b)
);
same!(same_256_ps, __m256, |a, b| _mm256_movemask_ps(
    _mm256_cmp_ps::<_CMP_EQ_OQ>(a, b)
));
same!(same_256_pd, __m256d, |a, b| _mm256_movemask_pd(
    _mm256_cmp_pd::<_CMP_EQ_OQ>(a, b)
));

/// The lanes of one register where another is larger than a third, else those of a fourth.
macro_rules! above {
    ($name:ident, $r:ty, |$a:ident, $b:ident, $yes:ident, $no:ident| $chosen:expr) => {
        #[inline(always)]
        fn $name($a: $r, $b: $r, $yes: $r, $no: $r) -> $r {
            // SAFETY: the processor has the instructions: see `Register`.
            unsafe { $chosen }
        }
    };
}
above!(above_512_ps, __m512, |a, b, yes, no| _mm512_mask_blend_ps(
    _mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b),
    no,
    yes
));
above!(above_512_pd, __m512d, |a, b, yes, no| _mm512_mask_blend_pd(
    _mm512_cmp_pd_mask::<_CMP_GT_OQ>(a, b),
    no,
    yes
));
above!(above_256_ps, __m256, |a, b, yes, no| _mm256_blendv_ps(
    no,
    yes,
    _mm256_cmp_ps::<_CMP_GT_OQ>(a, b)
));
above!(above_256_pd, __m256d, |a, b, yes, no| _mm256_blendv_pd(
    no,
    yes,
    _mm256_cmp_pd::<_CMP_GT_OQ>(a, b)
));

/// Vectors of 512 bits: parts by masks, joins by the library's shuffles.
macro_rules! wide {
    ($c:ty, $r:ty, $mask:ty, $lanes:literal, $bits:literal, $splat:ident, $load:ident, $store:ident, $max:ident, $min:ident, $same:ident, $above:ident,
     $fma:ident, $fnma:ident, $mask_load:ident, $mask_store:ident, $shift:ident, $to_int:ident, $from_int:ident,
     $total:ident, $largest:ident, $root:ident, $add:ident, $sub:ident, $mul:ident, $div:ident) => {
        impl Vector<$c> for Register<$r> {
            arithmetic!($c, $r, $lanes, $splat, $load, $store, $max, $min, $same, $above, $fma, $fnma,
                $root, add $add, sub $sub, mul $mul, div $div);

            #[inline(always)]
            fn load_part(data: &[$c], fill: $c) -> Self {
                let fill = <Self as Vector<$c>>::splat(fill);
                let mask = part(data.len()) as $mask;
                // SAFETY: as above; lanes beyond the slice are masked out and not touched.
                Register(unsafe { $mask_load(fill.0, mask, data.as_ptr()) })
            }
            #[inline(always)]
            fn store_part(self, data: &mut [$c]) {
                let mask = part(data.len()) as $mask;
                // SAFETY: as above.
                unsafe { $mask_store(data.as_mut_ptr(), mask, self.0) }
            }
            #[inline(always)]
            fn exponent_bits(self) -> Self {
                // SAFETY: the processor has the instruction: see `Register`.
                let bits = unsafe { $to_int(self.0) };
                // SAFETY: as above.
                let bits = unsafe { $shift::<$bits>(bits) };
                // SAFETY: as above.
                Register(unsafe { $from_int(bits) })
            }
            #[inline(always)]
            fn total(self) -> $c {
                // SAFETY: as above.
                unsafe { $total(self.0) }
            }
            #[inline(always)]
            fn largest(self) -> $c {
                // SAFETY: as above.
                unsafe { $largest(self.0) }
            }
        }
    };
}

/// The lowest `len` lanes.
#[inline(always)]
fn part(len: usize) -> u32 {
    (1u32 << len.min(16)) - 1
}

wide!(
    f32,
    __m512,
    __mmask16,
    16,
    23,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_max_ps,
    _mm512_min_ps,
    same_512_ps,
    above_512_ps,
    _mm512_fmadd_ps,
    _mm512_fnmadd_ps,
    _mm512_mask_loadu_ps,
    _mm512_mask_storeu_ps,
    _mm512_slli_epi32,
    _mm512_castps_si512,
    _mm512_castsi512_ps,
    _mm512_reduce_add_ps,
    _mm512_reduce_max_ps,
    _mm512_sqrt_ps,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_mul_ps,
    _mm512_div_ps
);
wide!(
    f64,
    __m512d,
    __mmask8,
    8,
    52,
    _mm512_set1_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_max_pd,
    _mm512_min_pd,
    same_512_pd,
    above_512_pd,
    _mm512_fmadd_pd,
    _mm512_fnmadd_pd,
    _mm512_mask_loadu_pd,
    _mm512_mask_storeu_pd,
    _mm512_slli_epi64,
    _mm512_castpd_si512,
    _mm512_castsi512_pd,
    _mm512_reduce_add_pd,
    _mm512_reduce_max_pd,
    _mm512_sqrt_pd,
    _mm512_add_pd,
    _mm512_sub_pd,
    _mm512_mul_pd,
    _mm512_div_pd
);

/// All bits of the lowest `len` lanes of 32 bits.
#[inline(always)]
fn lanes_32(len: usize) -> __m256i {
    static MASKS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
    let mask = MASKS[8 - len.min(8)..].as_ptr();
    // SAFETY: the processor has the instruction: see `Register`; eight numbers follow each of the first nine.
    unsafe { _mm256_loadu_si256(mask.cast()) }
}

/// The same of 64 bits.
#[inline(always)]
fn lanes_64(len: usize) -> __m256i {
    lanes_32(2 * len.min(4))
}

/// Vectors of 256 bits: parts by masks, joins through an array.
macro_rules! narrow {
    ($c:ty, $r:ty, $lanes:literal, $bits:literal, $splat:ident, $load:ident, $store:ident, $max:ident, $min:ident, $same:ident, $above:ident,
     $fma:ident, $fnma:ident, $mask:ident, $mask_load:ident, $mask_store:ident, $blend:ident, $shift:ident, $to_int:ident, $from_int:ident,
     $root:ident, $add:ident, $sub:ident, $mul:ident, $div:ident) => {
        impl Vector<$c> for Register<$r> {
            arithmetic!($c, $r, $lanes, $splat, $load, $store, $max, $min, $same, $above, $fma, $fnma,
                $root, add $add, sub $sub, mul $mul, div $div);

            #[inline(always)]
            fn load_part(data: &[$c], fill: $c) -> Self {
                let fill = <Self as Vector<$c>>::splat(fill);
                let mask = $mask(data.len());
                // SAFETY: as above; lanes beyond the slice are masked out and not touched.
                let lanes = unsafe { $mask_load(data.as_ptr(), mask) };
                // SAFETY: as above.
                let mask = unsafe { $from_int(mask) };
                // SAFETY: as above.
                Register(unsafe { $blend(fill.0, lanes, mask) })
            }
            #[inline(always)]
            fn store_part(self, data: &mut [$c]) {
                let mask = $mask(data.len());
                // SAFETY: as above.
                unsafe { $mask_store(data.as_mut_ptr(), mask, self.0) }
            }
            #[inline(always)]
            fn exponent_bits(self) -> Self {
                // SAFETY: the processor has the instruction: see `Register`.
                let bits = unsafe { $to_int(self.0) };
                // SAFETY: as above.
                let bits = unsafe { $shift::<$bits>(bits) };
                // SAFETY: as above.
                Register(unsafe { $from_int(bits) })
            }
            #[inline(always)]
            fn total(self) -> $c {
                let mut lanes = [0.0; $lanes];
                self.store(&mut lanes);
                joined(lanes, |a, b| a + b)
            }
            #[inline(always)]
            fn largest(self) -> $c {
                let mut lanes = [<$c>::LOWEST; $lanes];
                self.store(&mut lanes);
                joined(lanes, |a, b| if a > b { a } else { b })
            }
        }
    };
}

/// Joins all lanes, half by half.
#[inline(always)]
fn joined<C: Copy, const N: usize>(mut lanes: [C; N], join: impl Fn(C, C) -> C) -> C {
    let mut half = N / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = join(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

narrow!(
    f32,
    __m256,
    8,
    23,
    _mm256_set1_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_max_ps,
    _mm256_min_ps,
    same_256_ps,
    above_256_ps,
    _mm256_fmadd_ps,
    _mm256_fnmadd_ps,
    lanes_32,
    _mm256_maskload_ps,
    _mm256_maskstore_ps,
    _mm256_blendv_ps,
    _mm256_slli_epi32,
    _mm256_castps_si256,
    _mm256_castsi256_ps,
    _mm256_sqrt_ps,
    _mm256_add_ps,
    _mm256_sub_ps,
    _mm256_mul_ps,
    _mm256_div_ps
);
narrow!(
    f64,
    __m256d,
    4,
    52,
    _mm256_set1_pd,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_max_pd,
    _mm256_min_pd,
    same_256_pd,
    above_256_pd,
    _mm256_fmadd_pd,
    _mm256_fnmadd_pd,
    lanes_64,
    _mm256_maskload_pd,
    _mm256_maskstore_pd,
    _mm256_blendv_pd,
    _mm256_slli_epi64,
    _mm256_castpd_si256,
    _mm256_castsi256_pd,
    _mm256_sqrt_pd,
    _mm256_add_pd,
    _mm256_sub_pd,
    _mm256_mul_pd,
    _mm256_div_pd
);
