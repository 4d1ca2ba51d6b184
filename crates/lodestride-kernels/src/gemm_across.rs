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

/// Most elements of the rows that [`apart`] takes.
pub(crate) const MOST: usize = 4;

/// Which lanes of a pair of registers, of `LANES` each, become element `t` of rows of `K` elements that lie one after the other: of
/// the first pair, of the second one, and of those two selections.
const fn picks<const K: usize, const LANES: usize>(t: usize) -> [[usize; LANES]; 3] {
    let mut picks = [[0; LANES]; 3];
    let mut row = 0;
    while row < LANES {
        let at = K * row + t;
        if at < 2 * LANES {
            picks[0][row] = at;
            picks[2][row] = row;
        } else {
            picks[1][row] = at - 2 * LANES;
            picks[2][row] = LANES + row;
        }
        row += 1;
    }
    picks
}

/// Defines a function that takes rows of `K` elements apart, which lie one after the other in `K` registers: the first result has
/// the first element of each row, and so on.
macro_rules! apart {
    ($name:ident, $R:ty, $number:ty, $lanes:literal, $load:ident, $pick:ident) => {
        /// # Safety
        /// On a machine with AVX-512F.
        #[inline(always)]
        pub(crate) unsafe fn $name<const K: usize>(of: [$R; MOST]) -> [$R; MOST] {
            let mut apart = of;
            for t in 0..K {
                let picks = const {
                    let mut all = [[[0 as $number; $lanes]; 3]; MOST];
                    let mut at = 0;
                    while at < MOST * 3 * $lanes {
                        let (t, step, row) = (at / (3 * $lanes), at / $lanes % 3, at % $lanes);
                        all[t][step][row] = picks::<K, $lanes>(t)[step][row] as $number;
                        at += 1;
                    }
                    all
                };
                let [first, second, both] = &picks[t];
                // SAFETY: the caller vouches for the instruction set, here and below; a table has as many numbers as lanes.
                let first = unsafe { $load(first.as_ptr().cast()) };
                // SAFETY: as above.
                apart[t] = unsafe { $pick(of[0], first, of[1]) };
                if K > 2 {
                    // SAFETY: as above.
                    let second = unsafe { $load(second.as_ptr().cast()) };
                    // SAFETY: as above.
                    let second = unsafe { $pick(of[2], second, of[3]) };
                    // SAFETY: as above.
                    let both = unsafe { $load(both.as_ptr().cast()) };
                    // SAFETY: as above.
                    apart[t] = unsafe { $pick(apart[t], both, second) };
                }
            }
            apart
        }
    };
}
apart!(
    sixteen_apart,
    __m512,
    i32,
    16,
    _mm512_loadu_si512,
    _mm512_permutex2var_ps
);
apart!(
    eight_apart,
    __m512d,
    i64,
    8,
    _mm512_loadu_si512,
    _mm512_permutex2var_pd
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm_register::{Horizontal, Register};

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

    /// Numbers in their order, of which each register must get those of one position in their rows.
    macro_rules! check_apart {
        ($R:ty, $t:ty) => {{
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
            unsafe fn run<const K: usize>(numbers: &[$t], to: &mut [$t]) {
                let lanes = <$R as Register>::LANES;
                // SAFETY: as the function's, here and below.
                let full = unsafe { <$R as Register>::mask(lanes) };
                // SAFETY: as above.
                let mut of = [unsafe { <$R as Register>::splat(0.0) }; MOST];
                for (register, numbers) in of.iter_mut().zip(numbers.chunks_exact(lanes)).take(K) {
                    // SAFETY: a chunk has as many numbers as a register has lanes.
                    *register = unsafe { <$R as Register>::load(numbers.as_ptr(), full) };
                }
                // SAFETY: as above.
                let apart = unsafe { <$R as Horizontal>::apart::<K>(of) };
                for (register, to) in apart.into_iter().zip(to.chunks_exact_mut(lanes)).take(K) {
                    // SAFETY: as above.
                    unsafe { register.store(to.as_mut_ptr(), full) };
                }
            }
            let numbers: Vec<$t> = (0..64u8).map(<$t>::from).collect();
            let lanes = <$R as Register>::LANES;
            for k in 2..=MOST {
                let mut apart = vec![0.0; MOST * lanes];
                match k {
                    // SAFETY: the caller has asked for the features, here and below.
                    2 => unsafe { run::<2>(&numbers, &mut apart) },
                    // SAFETY: as above.
                    3 => unsafe { run::<3>(&numbers, &mut apart) },
                    // SAFETY: as above.
                    _ => unsafe { run::<4>(&numbers, &mut apart) },
                }
                let wanted = (0..k).flat_map(|t| numbers.iter().skip(t).step_by(k).take(lanes));
                assert!(wanted.eq(&apart[..k * lanes]), "{k}: {apart:?}");
            }
        }};
    }

    #[test]
    fn rows_of_few_elements_are_taken_apart() {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
            check_apart!(__m512, f32);
            check_apart!(__m512d, f64);
        }
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
