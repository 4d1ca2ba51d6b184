//! Transposing matrices of elements of 4 or 8 bytes in the registers of AVX2: four columns of some rows at a time, without a stage.
#![expect(
    unsafe_code,
    reason = "lines of strided matrices are moved through raw pointers, and turned by intrinsics"
)]

use crate::isa::Isa;
use crate::square::four_columns;
use crate::stream::{self, LINE};
use crate::transpose::{Sheet, Store};
use std::arch::x86_64::*;

/// Bytes of a register.
const REGISTER: usize = LINE / 2;

/// Columns that are turned together.
const COLUMNS: usize = 4;

/// Lines of each row that are gone down together where they leave past the caches: rows may lie in a page each, which costs as much
/// for one line. 4096x4096 `f32` took 13 to 17 ms by single lines and 10 ms by four on an EPYC of family 25, 10000x1000 7.5 and 4.4 ms.
const STRIP: usize = 4;

/// Rows ahead that are asked for: where they lie pages apart, no processor does by itself. The sum of 1000x1000 `f64` and a transposed
/// matrix took 1.7 ms on an EPYC of family 25 by way of a stage, 0.85 ms without one, and 0.7 ms with this.
const AHEAD: usize = 64;

/// Transposes a matrix, by whole lines where they are written past the caches; or does nothing and answers false.
///
/// Lines that begin at another place in every row are written by ordinary stores: to carry their ends over costs more than to
/// read them. 1000x1000 `f32` took 540 us by way of stages on an EPYC of family 25, 140 us so, 5000x5001 34 and 23 ms.
///
/// # Safety
/// As [`Sheet::run`]; the source's columns go forwards.
pub(crate) unsafe fn try_run(sheet: &Sheet, store: Store) -> bool {
    let is_dense = sheet.x_steps[1] == 1 && sheet.out_steps[0] == 1;
    if !is_dense || Isa::detect() != Isa::Avx2 {
        return false;
    }
    let past = store == Store::Lines;
    let rows = (if past { LINE } else { REGISTER }) / sheet.size;
    if sheet.columns < LINE / sheet.size || sheet.rows < rows {
        return false;
    }
    match (sheet.size, past) {
        // SAFETY: the caller's contract; the processor was asked; rows of the destination are whole lines.
        (8, true) => unsafe { run::<8, true>(sheet) },
        // SAFETY: as above.
        (4, true) => unsafe { run::<4, true>(sheet) },
        // SAFETY: as above, but for the lines.
        (8, false) => unsafe { run::<8, false>(sheet) },
        // SAFETY: as above.
        (4, false) => unsafe { run::<4, false>(sheet) },
        _ => return false,
    }
    if past {
        stream::fence();
    }
    true
}

/// # Safety
/// As [`try_run`], for processors with AVX2 and elements of `SIZE` bytes, of which there are at least a line in every row and a register in every column;
/// with `PAST`, every row of the destination is some whole lines.
#[target_feature(enable = "avx2")]
unsafe fn run<const SIZE: usize, const PAST: bool>(sheet: &Sheet) {
    let (line, side) = (LINE / SIZE, REGISTER / SIZE);
    let lines = if PAST {
        STRIP.min(sheet.columns / line)
    } else {
        1
    };
    let width = lines * line;
    let step = if PAST { 2 * side } else { side };
    let [x_pitch, out_pitch] =
        [sheet.x_steps[0], sheet.out_steps[1]].map(|step| step * SIZE.cast_signed());
    let (last_row, last_column) = (sheet.rows - step, sheet.columns - width);
    let mut column = 0;
    loop {
        let mut row = 0;
        loop {
            let (x, out) = (sheet.source(row, column), sheet.target(row, column));
            let ahead = if row + AHEAD <= last_row {
                sheet.source(row + AHEAD, column)
            } else {
                sheet.source((row + AHEAD - last_row).min(last_row), column + width)
            };
            for i in 0..step.cast_signed() {
                let row = ahead.wrapping_offset(i * x_pitch);
                stream::prefetch_run(row, lines * LINE);
            }
            for first in (0..width).step_by(COLUMNS) {
                let out = out.wrapping_offset(first.cast_signed() * out_pitch);
                let x = x.wrapping_add(first * SIZE);
                if PAST {
                    // SAFETY: twice as many rows of the source, and four lines of the destination.
                    unsafe { turn_lines::<SIZE>((x, x_pitch), (out, out_pitch)) };
                } else {
                    // SAFETY: some rows of the source, and as long ones of the destination.
                    unsafe { turn::<SIZE>((x, x_pitch), (out, out_pitch)) };
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
        column = (column + width).min(last_column);
    }
}

/// Transposes as many rows of four elements as fill a register, rows of both pitches apart.
///
/// # Safety
/// They are valid for reads and writes, and apart; the processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn turn<const SIZE: usize>(x: (*const u8, isize), (out, out_pitch): (*mut u8, isize)) {
    // SAFETY: the caller's contract.
    for (i, row) in (0..).zip(unsafe { turned::<SIZE>(x) }) {
        // SAFETY: a row of the destination.
        unsafe { _mm256_storeu_si256(out.wrapping_offset(i * out_pitch).cast(), row) };
    }
}

/// Transposes as many rows of four elements as fill a line to four aligned lines, written past the caches.
///
/// # Safety
/// As [`turn`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn turn_lines<const SIZE: usize>(
    (x, x_pitch): (*const u8, isize),
    (out, out_pitch): (*mut u8, isize),
) {
    let below = x.wrapping_offset((REGISTER / SIZE).cast_signed() * x_pitch);
    // SAFETY: the caller's contract.
    let firsts = unsafe { turned::<SIZE>((x, x_pitch)) };
    // SAFETY: as above.
    let seconds = unsafe { turned::<SIZE>((below, x_pitch)) };
    for (i, (first, second)) in (0..).zip(firsts.into_iter().zip(seconds)) {
        let line = out.wrapping_offset(i * out_pitch);
        // SAFETY: half an aligned line of the destination.
        unsafe { _mm256_stream_si256(line.cast(), first) };
        // SAFETY: the other half.
        unsafe { _mm256_stream_si256(line.wrapping_add(REGISTER).cast(), second) };
    }
}

/// The transpose of as many rows of four elements as fill a register, a pitch apart.
///
/// # Safety
/// They are valid for reads; the processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn turned<const SIZE: usize>((x, pitch): (*const u8, isize)) -> [__m256i; COLUMNS] {
    if SIZE == 4 {
        // SAFETY: the caller's contract.
        return unsafe { four_columns(x.cast(), pitch / SIZE.cast_signed()) }
            .map(|column| _mm256_castps_si256(column));
    }
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
