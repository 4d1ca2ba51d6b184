//! Transposing matrices of elements of 8 bytes in the registers of AVX2: four rows of a line at a time, without a stage.
#![expect(
    unsafe_code,
    reason = "lines of strided matrices are moved through raw pointers, and turned by intrinsics"
)]

use crate::isa::Isa;
use crate::stream::{self, LINE};
use crate::transpose::{Sheet, Store};
use std::arch::x86_64::*;

/// Bytes of an element.
const SIZE: usize = 8;

/// Elements of a register, and rows that are turned together.
const SIDE: usize = 4;

/// Columns that are gone down together: a line of each row.
const WIDTH: usize = LINE / SIZE;

/// Rows ahead that are asked for: where they lie pages apart, no processor does by itself. The sum of 1000x1000 `f64` and a transposed
/// matrix took 1.7 ms on an EPYC of family 25 by way of a stage, 0.85 ms without one, and 0.7 ms with this.
const AHEAD: usize = 64;

/// Transposes a matrix by ordinary stores; or does nothing and answers false.
///
/// # Safety
/// As [`Sheet::run`]; the source's columns go forwards.
pub(crate) unsafe fn try_run(sheet: &Sheet, store: Store) -> bool {
    let is_dense = sheet.x_steps[1] == 1 && sheet.out_steps[0] == 1;
    let is_large = sheet.rows >= SIDE && sheet.columns >= WIDTH;
    let fits = sheet.size == SIZE && store == Store::Plain && is_dense && is_large;
    if !fits || Isa::detect() != Isa::Avx2 {
        return false;
    }
    // SAFETY: the caller's contract; the processor was asked.
    unsafe { run(sheet) };
    true
}

/// # Safety
/// As [`try_run`], for processors with AVX2, of at least a line of columns and [`SIDE`] rows.
#[target_feature(enable = "avx2")]
unsafe fn run(sheet: &Sheet) {
    let [x_pitch, out_pitch] =
        [sheet.x_steps[0], sheet.out_steps[1]].map(|step| step * SIZE.cast_signed());
    let (last_row, last_column) = (sheet.rows - SIDE, sheet.columns - WIDTH);
    let mut column = 0;
    loop {
        let mut row = 0;
        loop {
            let (x, out) = (sheet.source(row, column), sheet.target(row, column));
            let ahead = if row + AHEAD <= last_row {
                sheet.source(row + AHEAD, column)
            } else {
                sheet.source((row + AHEAD - last_row).min(last_row), column + WIDTH)
            };
            for i in 0..SIDE.cast_signed() {
                stream::prefetch(ahead.wrapping_offset(i * x_pitch));
            }
            for half in [0, SIDE] {
                let out = out.wrapping_offset(half.cast_signed() * out_pitch);
                // SAFETY: four rows of half a line of the source, and as many of the destination.
                unsafe { turn((x.wrapping_add(half * SIZE), x_pitch), (out, out_pitch)) };
            }
            if row == last_row {
                break;
            }
            // The last rows, some of them once more, cover the rest; as do the last columns.
            row = (row + SIDE).min(last_row);
        }
        if column == last_column {
            return;
        }
        column = (column + WIDTH).min(last_column);
    }
}

/// Transposes four rows of four elements, rows of both pitches apart.
///
/// # Safety
/// They are valid for reads and writes, and apart; the processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn turn((x, x_pitch): (*const u8, isize), (out, out_pitch): (*mut u8, isize)) {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| {
        // SAFETY: a row of the source.
        unsafe { _mm256_loadu_si256(x.wrapping_offset(i * x_pitch).cast()) }
    });
    let evens = [_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d)];
    let odds = [_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d)];
    let turned = [
        _mm256_permute2x128_si256::<0x20>(evens[0], evens[1]),
        _mm256_permute2x128_si256::<0x20>(odds[0], odds[1]),
        _mm256_permute2x128_si256::<0x31>(evens[0], evens[1]),
        _mm256_permute2x128_si256::<0x31>(odds[0], odds[1]),
    ];
    for (i, row) in (0..).zip(turned) {
        // SAFETY: a row of the destination.
        unsafe { _mm256_storeu_si256(out.wrapping_offset(i * out_pitch).cast(), row) };
    }
}
