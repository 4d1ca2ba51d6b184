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

/// Transposes a matrix, by whole lines where they are written past the caches; or does nothing and answers false.
///
/// # Safety
/// As [`Sheet::run`]; the source's columns go forwards.
pub(crate) unsafe fn try_run(sheet: &Sheet, store: Store) -> bool {
    let is_dense = sheet.x_steps[1] == 1 && sheet.out_steps[0] == 1;
    let is_large = sheet.rows >= SIDE && sheet.columns >= WIDTH;
    let fits = sheet.size == SIZE && store != Store::Carry && is_dense && is_large;
    if !fits || Isa::detect() != Isa::Avx2 {
        return false;
    }
    if store == Store::Lines {
        // SAFETY: the caller's contract; the processor was asked; rows of the destination are whole lines.
        unsafe { run::<true>(sheet) };
        stream::fence();
    } else {
        // SAFETY: as above.
        unsafe { run::<false>(sheet) };
    }
    true
}

/// # Safety
/// As [`try_run`], for processors with AVX2, of at least a line of columns and [`SIDE`] rows; with `PAST`, every row of the
/// destination is some whole lines.
#[target_feature(enable = "avx2")]
unsafe fn run<const PAST: bool>(sheet: &Sheet) {
    let step = if PAST { 2 * SIDE } else { SIDE };
    let [x_pitch, out_pitch] =
        [sheet.x_steps[0], sheet.out_steps[1]].map(|step| step * SIZE.cast_signed());
    let (last_row, last_column) = (sheet.rows - step, sheet.columns - WIDTH);
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
            for i in 0..step.cast_signed() {
                stream::prefetch(ahead.wrapping_offset(i * x_pitch));
            }
            for half in [0, SIDE] {
                let out = out.wrapping_offset(half.cast_signed() * out_pitch);
                let x = x.wrapping_add(half * SIZE);
                if PAST {
                    // SAFETY: eight rows of half a line of the source, and four lines of the destination.
                    unsafe { turn_lines((x, x_pitch), (out, out_pitch)) };
                } else {
                    // SAFETY: four rows of half a line of the source, and as many of the destination.
                    unsafe { turn((x, x_pitch), (out, out_pitch)) };
                }
            }
            if row == last_row {
                break;
            }
            // The last rows, some of them once more, cover the rest; as do the last columns.
            row = (row + step).min(last_row);
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
unsafe fn turn(x: (*const u8, isize), (out, out_pitch): (*mut u8, isize)) {
    // SAFETY: the caller's contract.
    for (i, row) in (0..).zip(unsafe { turned(x) }) {
        // SAFETY: a row of the destination.
        unsafe { _mm256_storeu_si256(out.wrapping_offset(i * out_pitch).cast(), row) };
    }
}

/// Transposes eight rows of four elements to four aligned lines, written past the caches.
///
/// # Safety
/// As [`turn`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn turn_lines((x, x_pitch): (*const u8, isize), (out, out_pitch): (*mut u8, isize)) {
    let below = x.wrapping_offset(SIDE.cast_signed() * x_pitch);
    // SAFETY: the caller's contract, here and below.
    let lines = unsafe { turned((x, x_pitch)) }
        .into_iter()
        .zip(unsafe { turned((below, x_pitch)) });
    for (i, (first, second)) in (0..).zip(lines) {
        let line = out.wrapping_offset(i * out_pitch);
        // SAFETY: half an aligned line of the destination.
        unsafe { _mm256_stream_si256(line.cast(), first) };
        // SAFETY: the other half.
        unsafe { _mm256_stream_si256(line.wrapping_add(LINE / 2).cast(), second) };
    }
}

/// The transpose of four rows of four elements, a pitch apart.
///
/// # Safety
/// They are valid for reads; the processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn turned((x, pitch): (*const u8, isize)) -> [__m256i; SIDE] {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| {
        // SAFETY: a row of the source.
        unsafe { _mm256_loadu_si256(x.wrapping_offset(i * pitch).cast()) }
    });
    let evens = [_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d)];
    let odds = [_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d)];
    [
        _mm256_permute2x128_si256::<0x20>(evens[0], evens[1]),
        _mm256_permute2x128_si256::<0x20>(odds[0], odds[1]),
        _mm256_permute2x128_si256::<0x31>(evens[0], evens[1]),
        _mm256_permute2x128_si256::<0x31>(odds[0], odds[1]),
    ]
}
