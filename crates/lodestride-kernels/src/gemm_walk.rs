//! The walks through a product of floats, over pointers; tiles are here, the others have files of their own.
#![expect(
    unsafe_code,
    reason = "operands are raw pointers with steps, loaded under masks"
)]
#![expect(
    clippy::needless_range_loop,
    reason = "loops over registers are unrolled away; their indices number rows and lanes"
)]

use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};

use crate::gemm_columns;
use crate::gemm_dots;
use crate::gemm_narrow;
use crate::gemm_packed;
use crate::gemm_register::{Horizontal, Register};
use crate::gemm_store::finish_tile;
use crate::gemm_sweep::sweep_all;
use crate::gemm_tile::{Ahead, Job, Packed, TileFloat, Walk};
use crate::gemm_windows;
use crate::isa::{Isa, Level};
use crate::matmul_windows::{Part, Windows};
use crate::numeric::Compute;
use crate::stream::{self, LINE};

macro_rules! tile_float {
    ($($t:ty, $wide:ty, $narrow:ty, $avx512:ident, $avx2:ident);*) => {$(
        #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2")]
        unsafe fn $avx512(job: &Job<$t>, walk: Walk) {
            // A number from memory is spread over half a register in two thirds of the time that a whole one takes (a Xeon of model
            // 106: 4096 by 32 by 8 `f32` took 57 us in whole registers and takes 31).
            // Compiled here, its masks are AVX-512's: AMD's processors take six to twelve cycles to store under one of AVX2.
            if walk == Walk::Tiles && job.n <= <$narrow>::LANES {
                // SAFETY: the caller vouches for the job; AVX2 is part of this function's instruction set.
                return unsafe { rows::<$narrow, 1>(job, 0, job.n, &mut { job.ahead }) };
            }
            // SAFETY: as above; the instruction set is this function's.
            unsafe { walk_through::<$wide>(job, walk) }
        }

        #[target_feature(enable = "avx2,fma,bmi1,bmi2")]
        unsafe fn $avx2(job: &Job<$t>, walk: Walk) {
            // SAFETY: the caller vouches for the job; the instruction set is this function's.
            unsafe { walk_through::<$narrow>(job, walk) }
        }

        impl TileFloat for $t {
            unsafe fn run(level: Level, job: &Job<$t>, walk: Walk) {
                match level.isa() {
                    // SAFETY: a `Level` names an instruction set of this machine; the caller vouches for the job.
                    Isa::Avx512 => unsafe { $avx512(job, walk) },
                    // SAFETY: as above.
                    Isa::Avx2 => unsafe { $avx2(job, walk) },
                    Isa::Baseline | Isa::Neon => {}
                }
            }

            #[inline]
            unsafe fn run_narrow(level: Level, sizes: [usize; 3], packed: Packed<$t>) -> bool {
                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2")]
                unsafe fn avx512(sizes: [usize; 3], packed: Packed<$t>) {
                    // SAFETY: the caller vouches for the matrices; the instruction set is this function's.
                    unsafe { gemm_narrow::products::<$wide>(sizes, packed) }
                }

                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2")]
                unsafe fn avx512_one(sizes: [usize; 3], a: *const $t, b: *const $t, out: *mut $t) {
                    // SAFETY: as above.
                    unsafe { gemm_narrow::product::<$wide>(sizes, a, b, out) }
                }

                #[target_feature(enable = "avx2,fma,bmi1,bmi2")]
                unsafe fn avx2(sizes: [usize; 3], packed: Packed<$t>) {
                    // SAFETY: as above.
                    unsafe { gemm_narrow::products::<$narrow>(sizes, packed) }
                }

                #[target_feature(enable = "avx2,fma,bmi1,bmi2")]
                unsafe fn avx2_one(sizes: [usize; 3], a: *const $t, b: *const $t, out: *mut $t) {
                    // SAFETY: as above.
                    unsafe { gemm_narrow::product::<$narrow>(sizes, a, b, out) }
                }

                let Packed { a, b, out, count, .. } = packed;
                match level.isa() {
                    Isa::Avx512 if sizes[2] <= <$wide>::LANES => match count {
                        // SAFETY: a `Level` names an instruction set of this machine; the caller vouches for the matrices.
                        1 => unsafe { avx512_one(sizes, a, b, out) },
                        // SAFETY: as above.
                        _ => unsafe { avx512(sizes, packed) },
                    },
                    Isa::Avx2 if sizes[2] <= <$narrow>::LANES => match count {
                        // SAFETY: as above.
                        1 => unsafe { avx2_one(sizes, a, b, out) },
                        // SAFETY: as above.
                        _ => unsafe { avx2(sizes, packed) },
                    },
                    _ => return false,
                }
                true
            }

            fn room(level: Level, sizes: [usize; 3]) -> usize {
                match level.isa() {
                    Isa::Avx512 => gemm_packed::room_for::<$wide>(sizes),
                    _ => gemm_packed::room_for::<$narrow>(sizes),
                }
            }

            unsafe fn run_windows(level: Level, job: &Job<$t>, windows: Windows<'_>, part: Part) {
                #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2")]
                unsafe fn avx512(job: &Job<$t>, windows: Windows<'_>, part: Part) {
                    // SAFETY: the caller vouches for the windows; the instruction set is this function's.
                    unsafe { gemm_windows::products::<$wide>(job, windows, part) }
                }

                #[target_feature(enable = "avx2,fma,bmi1,bmi2")]
                unsafe fn avx2(job: &Job<$t>, windows: Windows<'_>, part: Part) {
                    // SAFETY: as above.
                    unsafe { gemm_windows::products::<$narrow>(job, windows, part) }
                }

                match level.isa() {
                    // SAFETY: a `Level` names an instruction set of this machine; the caller vouches for the windows.
                    Isa::Avx512 => unsafe { avx512(job, windows, part) },
                    // SAFETY: as above.
                    Isa::Avx2 => unsafe { avx2(job, windows, part) },
                    Isa::Baseline | Isa::Neon => {}
                }
            }

            fn lanes(level: Level) -> usize {
                match level.isa() {
                    Isa::Avx512 => <$wide>::LANES,
                    _ => <$narrow>::LANES,
                }
            }

            fn room_of_windows(level: Level, m: usize, k: usize) -> usize {
                match level.isa() {
                    Isa::Avx512 => gemm_windows::room_for::<$wide>(m, k),
                    _ => gemm_windows::room_for::<$narrow>(m, k),
                }
            }
        }
    )*};
}
tile_float!(f32, __m512, __m256, f32_avx512, f32_avx2; f64, __m512d, __m256d, f64_avx512, f64_avx2);

/// # Safety
/// As [`Job`], on a machine with the instruction set of `R`, with the layouts the walk needs.
#[inline(always)]
unsafe fn walk_through<R: Horizontal>(job: &Job<R::Item>, walk: Walk) {
    match walk {
        // SAFETY: the caller vouches for all of it, here and below.
        Walk::Tiles => unsafe { panels::<R>(job) },
        // SAFETY: as above.
        Walk::Dots if job.n == 1 => unsafe { gemm_dots::product::<R>(job) },
        // SAFETY: as above.
        Walk::Dots => unsafe { gemm_columns::product::<R>(job) },
        Walk::Packed | Walk::Square { .. } => {
            let diagonal = match walk {
                Walk::Square { first } => Some(first),
                _ => None,
            };
            // SAFETY: as above.
            unsafe { gemm_packed::blocks::<R>(job, diagonal) };
        }
        // SAFETY: as above.
        Walk::Sweep | Walk::SweepAbove => unsafe {
            sweep_all::<R>(job, walk == Walk::SweepAbove);
        },
    }
}

/// Registers that a panel is wide at most.
pub(crate) const ACROSS: usize = 3;

/// The whole product in panels of at most [`ACROSS`] registers, none of a single one where two of two will do; of two where
/// masks take up registers.
///
/// # Safety
/// As [`Job`], on a machine with the instruction set of `R`.
#[inline(always)]
unsafe fn panels<R: Register>(job: &Job<R::Item>) {
    let most = if R::ROWS == 8 { ACROSS } else { 2 };
    let mut first = 0;
    let mut ahead = job.ahead;
    while first < job.n {
        let registers = (job.n - first).div_ceil(R::LANES);
        let across = if registers == 4 {
            2
        } else {
            registers.min(most)
        };
        let width = (job.n - first).min(across * R::LANES);
        let lanes = width - (across - 1) * R::LANES;
        match across {
            // SAFETY: the columns `first..first + width` are the job's.
            1 => unsafe { rows::<R, 1>(job, first, lanes, &mut ahead) },
            // SAFETY: as above.
            2 => unsafe { rows::<R, 2>(job, first, lanes, &mut ahead) },
            // SAFETY: as above.
            _ => unsafe { rows::<R, ACROSS>(job, first, lanes, &mut ahead) },
        }
        first += width;
    }
}

/// All rows of a panel of `V` registers of columns, the last of them with `lanes` columns.
///
/// # Safety
/// As [`panels`]; the columns must be the job's.
#[inline(always)]
unsafe fn rows<R: Register, const V: usize>(
    job: &Job<R::Item>,
    first: usize,
    lanes: usize,
    ahead: &mut Ahead,
) {
    let mut row = 0;
    // Rows of a single register leave room for more of them, and sums that are few wait for one another.
    let by_eight = R::ROWS >= 8 || V == 1;
    if by_eight {
        while R::ROWS >= 8 && V == 1 && job.m - row >= 16 {
            // SAFETY: the rows `row..row + 16` are the job's; the caller vouches for the columns.
            unsafe { tile::<R, 16, V>(job, row, first, lanes, None) };
            row += 16;
        }
        while job.m - row >= 8 {
            // Lines are asked for one a step: many at once would keep the loads of the tile waiting.
            match ahead.take(job.k) {
                // SAFETY: the rows `row..row + 8` are the job's; the caller vouches for the columns.
                Some(at) => unsafe { tile::<R, 8, V>(job, row, first, lanes, Some(at)) },
                // SAFETY: as above.
                None => unsafe { tile::<R, 8, V>(job, row, first, lanes, None) },
            }
            row += 8;
        }
    }
    while job.m - row >= 3 {
        let next = if by_eight { None } else { ahead.take(job.k) };
        match next {
            // SAFETY: as above; the last of four rows is left out where it is not the job's.
            Some(at) => unsafe { tile::<R, 4, V>(job, row, first, lanes, Some(at)) },
            // SAFETY: as above.
            None => unsafe { tile::<R, 4, V>(job, row, first, lanes, None) },
        }
        row += (job.m - row).min(4);
    }
    if job.m - row >= 2 {
        // SAFETY: as above.
        unsafe { tile::<R, 2, V>(job, row, first, lanes, None) };
        row += 2;
    }
    if job.m > row {
        // SAFETY: as above.
        unsafe { tile::<R, 1, V>(job, row, first, lanes, None) };
    }
}

/// `M` rows and `V` registers of columns of the product; of four rows the first three where the job has no fourth: with the sums of
/// two rows and of one, each would wait for the sum before.
///
/// # Safety
/// As [`rows`]; the rows `row..row + M` must be the job's, but for a fourth.
#[inline(always)]
unsafe fn tile<R: Register, const M: usize, const V: usize>(
    job: &Job<R::Item>,
    row: usize,
    first: usize,
    lanes: usize,
    ahead: Option<*const u8>,
) {
    // SAFETY: the caller vouches for the instruction set, here and below.
    let mut masks = [unsafe { R::mask(R::LANES) }; V];
    // SAFETY: as above.
    masks[V - 1] = unsafe { R::mask(lanes) };
    // SAFETY: as above.
    let mut sums = [[unsafe { R::splat(R::Item::ZERO) }; V]; M];
    let mut a = job.a.wrapping_offset(row as isize * job.a_row);
    // The compiler goes from row to row of a column by adding, eight times in sequence; it does not know that these are two columns.
    // Of three rows the second is in both.
    let half = M.div_ceil(2);
    let count = if M == 4 { (job.m - row).min(M) } else { M };
    let below = std::hint::black_box((count - half) as isize * job.a_row);
    let mut b = job.b.wrapping_add(first);
    for step in 0..job.k {
        if let Some(start) = ahead {
            stream::prefetch(start.wrapping_add(step * LINE));
        }
        let mut line = [sums[0][0]; V];
        for v in 0..V {
            // SAFETY: the lanes of the mask are columns of the job; `b` is at one of its rows.
            line[v] = unsafe { R::load(b.wrapping_add(v * R::LANES), masks[v]) };
        }
        for i in 0..M {
            let column = if i < half {
                a
            } else {
                a.wrapping_offset(below)
            };
            // SAFETY: `a` is at one of the job's columns, `row + i` is one of its rows.
            let value = unsafe { *column.wrapping_offset((i % half) as isize * job.a_row) };
            // SAFETY: as above.
            let value = unsafe { R::splat(value) };
            for v in 0..V {
                // SAFETY: as above.
                sums[i][v] = unsafe { value.mul_add(line[v], sums[i][v]) };
            }
        }
        a = a.wrapping_offset(job.a_column);
        b = b.wrapping_offset(job.b_row);
    }
    if M == 4 && count < M {
        sums[half] = sums[half + 1];
    }
    let corner = row as isize * job.out_row + first as isize * job.out_column;
    let to = job.out.wrapping_offset(corner);
    // SAFETY: the caller vouches for rows and columns.
    unsafe { finish_tile(job, job.blend, sums, to, count, lanes) };
}
