//! The lanes of several vector registers, added up for all of them together: each step halves the lanes of every register and puts two
//! registers into one, by two shuffles and an addition.
//!
//! Lanes are added half a register apart first, then a quarter and so on, with AVX2 as with AVX-512. Which registers meet decides where
//! their sums are in the end: those meet first whose sums lie half a register apart, last those whose sums are neighbours.
#![expect(unsafe_code, reason = "intrinsics need their instruction set")]

use crate::vector::MOST_LANES;
use std::arch::x86_64::*;

/// Two registers in one: what two shuffles of them select, added. No function and no closure, which would not be compiled for the
/// instruction set.
macro_rules! join {
    ($add:ident, $shuffle:ident::<$low:literal, $high:literal>, $a:expr, $b:expr) => {{
        // SAFETY: the caller vouches for the instruction set.
        let low = unsafe { $shuffle::<$low>($a, $b) };
        // SAFETY: as above.
        let high = unsafe { $shuffle::<$high>($a, $b) };
        // SAFETY: as above.
        unsafe { $add(low, high) }
    }};
}

/// Of sixteen registers.
///
/// # Safety
/// On a machine with AVX-512F.
#[inline(always)]
pub(crate) unsafe fn sixteen_across(of: &[__m512; MOST_LANES]) -> __m512 {
    // Four lanes each: register `j` holds those of rows `j`, `j + 4`, `j + 8` and `j + 12`.
    let mut four = [of[0]; 4];
    for j in 0..4 {
        let a = join!(
            _mm512_add_ps,
            _mm512_shuffle_f32x4::<0x44, 0xEE>,
            of[j],
            of[j + 4]
        );
        let b = join!(
            _mm512_add_ps,
            _mm512_shuffle_f32x4::<0x44, 0xEE>,
            of[j + 8],
            of[j + 12]
        );
        four[j] = join!(_mm512_add_ps, _mm512_shuffle_f32x4::<0x88, 0xDD>, a, b);
    }
    let a = join!(
        _mm512_add_ps,
        _mm512_shuffle_ps::<0x44, 0xEE>,
        four[0],
        four[1]
    );
    let b = join!(
        _mm512_add_ps,
        _mm512_shuffle_ps::<0x44, 0xEE>,
        four[2],
        four[3]
    );
    join!(_mm512_add_ps, _mm512_shuffle_ps::<0x88, 0xDD>, a, b)
}

/// Of eight registers.
///
/// # Safety
/// On a machine with AVX-512F.
#[inline(always)]
pub(crate) unsafe fn eight_across(of: &[__m512d; MOST_LANES]) -> __m512d {
    // Two lanes each: register `j` holds those of rows `j`, `j + 2`, `j + 4` and `j + 6`.
    let mut two = [of[0]; 2];
    for j in 0..2 {
        let a = join!(
            _mm512_add_pd,
            _mm512_shuffle_f64x2::<0x44, 0xEE>,
            of[j],
            of[j + 2]
        );
        let b = join!(
            _mm512_add_pd,
            _mm512_shuffle_f64x2::<0x44, 0xEE>,
            of[j + 4],
            of[j + 6]
        );
        two[j] = join!(_mm512_add_pd, _mm512_shuffle_f64x2::<0x88, 0xDD>, a, b);
    }
    join!(
        _mm512_add_pd,
        _mm512_shuffle_pd::<0x00, 0xFF>,
        two[0],
        two[1]
    )
}

/// Of eight registers.
///
/// # Safety
/// On a machine with AVX.
#[inline(always)]
pub(crate) unsafe fn eight_narrow_across(of: &[__m256; MOST_LANES]) -> __m256 {
    let mut four = [of[0]; 4];
    for j in 0..4 {
        four[j] = join!(
            _mm256_add_ps,
            _mm256_permute2f128_ps::<0x20, 0x31>,
            of[j],
            of[j + 4]
        );
    }
    let a = join!(
        _mm256_add_ps,
        _mm256_shuffle_ps::<0x44, 0xEE>,
        four[0],
        four[1]
    );
    let b = join!(
        _mm256_add_ps,
        _mm256_shuffle_ps::<0x44, 0xEE>,
        four[2],
        four[3]
    );
    join!(_mm256_add_ps, _mm256_shuffle_ps::<0x88, 0xDD>, a, b)
}

/// Of four registers.
///
/// # Safety
/// On a machine with AVX.
#[inline(always)]
pub(crate) unsafe fn four_narrow_across(of: &[__m256d; MOST_LANES]) -> __m256d {
    let mut two = [of[0]; 2];
    for j in 0..2 {
        two[j] = join!(
            _mm256_add_pd,
            _mm256_permute2f128_pd::<0x20, 0x31>,
            of[j],
            of[j + 2]
        );
    }
    join!(_mm256_add_pd, _mm256_shuffle_pd::<0x0, 0xF>, two[0], two[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm_register::Register;

    /// Sums of small whole numbers, which are exact in any order.
    macro_rules! check {
        ($across:ident, $R:ty, $t:ty, $features:tt) => {{
            #[target_feature(enable = $features)]
            unsafe fn run(rows: &[[$t; MOST_LANES]; MOST_LANES], sums: &mut [$t; MOST_LANES]) {
                // SAFETY: as the function's.
                let full = unsafe { <$R as Register>::mask(<$R as Register>::LANES) };
                // SAFETY: rows are as long as the widest register.
                let of = rows.map(|row| unsafe { <$R as Register>::load(row.as_ptr(), full) });
                // SAFETY: as the function's.
                let across = unsafe { $across(&of) };
                // SAFETY: there is room for the widest register.
                unsafe { across.store(sums.as_mut_ptr(), full) };
            }
            let lanes = <$R as Register>::LANES;
            let mut rows = [[0.0; MOST_LANES]; MOST_LANES];
            for (i, row) in rows.iter_mut().enumerate() {
                for (lane, x) in row.iter_mut().enumerate() {
                    *x = ((i * 31 + lane * 7) % 64) as $t;
                }
            }
            let mut sums = [0.0; MOST_LANES];
            // SAFETY: the caller has asked for the features.
            unsafe { run(&rows, &mut sums) };
            for (row, sum) in rows.iter().zip(sums).take(lanes) {
                assert_eq!(
                    row[..lanes].iter().sum::<$t>(),
                    sum,
                    "{}",
                    stringify!($across)
                );
            }
        }};
    }

    #[test]
    fn registers_are_added_in_their_order() {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
            check!(
                sixteen_across,
                __m512,
                f32,
                "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"
            );
            check!(
                eight_across,
                __m512d,
                f64,
                "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"
            );
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            check!(eight_narrow_across, __m256, f32, "avx2,fma");
            check!(four_narrow_across, __m256d, f64, "avx2,fma");
        }
    }
}
