//! Turning short rows into columns and back: small blocks are transposed in registers, elements of four and eight bytes.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "vector instructions may only run on processors that have them"
    )
)]

use crate::isa::Arch;
use lodestride_buffer::Element;

/// Bytes of a block's rows, and of its columns: blocks are of 8 rows of 4 elements of four bytes, or 4 of 2 of eight.
const ROW: usize = 16;
const COLUMN: usize = 32;

/// Copies `rows` rows of `columns` elements, `from_pitch` apart, to the columns of `to`, whose rows are `to_pitch` apart:
/// element `(r, c)` goes to `(c, r)`.
///
/// # Panics
/// If an element lies outside its slice.
#[inline(always)]
pub(crate) fn transpose<A: Arch, T: Element>(
    (from, from_pitch): (&[T], usize),
    (to, to_pitch): (&mut [T], usize),
    (rows, columns): (usize, usize),
) {
    let mut row = 0;
    let (side, width) = block_size::<T>();
    if has_blocks::<A, T>() && columns >= width {
        while row + side <= rows {
            let mut column = 0;
            loop {
                block::<T>(
                    &from[row * from_pitch + column..],
                    from_pitch,
                    &mut to[column * to_pitch + row..],
                    to_pitch,
                );
                if column + width == columns {
                    break;
                }
                // The last block overlaps the one before and writes the same there.
                column = (column + width).min(columns - width);
            }
            row += side;
        }
    }
    while row < rows {
        let from = &from[row * from_pitch..][..columns];
        for (column, &value) in from.iter().enumerate() {
            to[column * to_pitch + row] = value;
        }
        row += 1;
    }
}

/// Rows and columns of a block.
pub(crate) const fn block_size<T>() -> (usize, usize) {
    (COLUMN / size_of::<T>(), ROW / size_of::<T>())
}

/// Whether blocks of the element type are transposed in registers.
#[inline(always)]
fn has_blocks<A: Arch, T>() -> bool {
    cfg!(target_arch = "x86_64") && A::FMA && matches!(size_of::<T>(), 4 | 8)
}

/// One block.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn block<T: Element>(from: &[T], from_pitch: usize, to: &mut [T], to_pitch: usize) {
    let (rows, columns) = block_size::<T>();
    assert!((rows - 1) * from_pitch + columns <= from.len());
    assert!((columns - 1) * to_pitch + rows <= to.len());
    // SAFETY: only code for processors with AVX2 gets here (`has_blocks`), for elements of four or eight bytes; the
    // last element read or written was checked to lie in the slices.
    unsafe { block_at(from.as_ptr(), from_pitch, to.as_mut_ptr(), to_pitch) };
}

/// One block through pointers: element `(r, c)` of a block of [`block_size`] goes to `(c, r)`. Pitches wrap, so that steps
/// may be negative.
///
/// # Safety
/// The processor has AVX2, elements have four or eight bytes, and those of the block are valid on both sides.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn block_at<T>(from: *const T, from_pitch: usize, to: *mut T, to_pitch: usize) {
    if size_of::<T>() == 4 {
        // SAFETY: the caller's contract.
        unsafe { block_of_fours(from.cast(), from_pitch, to.cast(), to_pitch) };
    } else {
        // SAFETY: as above.
        unsafe { block_of_eights(from.cast(), from_pitch, to.cast(), to_pitch) };
    }
}

/// Sixteen bytes at `low` and at `high` as one vector.
///
/// # Safety
/// The processor has AVX2; that many bytes may be read at both.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn two_rows(low: *const f32, high: *const f32) -> std::arch::x86_64::__m256 {
    use std::arch::x86_64::*;
    // SAFETY: the caller's contract.
    let low = unsafe { _mm_loadu_ps(low) };
    // SAFETY: as above.
    let high = unsafe { _mm_loadu_ps(high) };
    _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high)
}

/// Four columns of eight rows, so many elements apart, as four rows of eight.
///
/// # Safety
/// The processor has AVX2; four numbers may be read at each of eight steps from `from`.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn four_columns(
    from: *const f32,
    pitch: isize,
) -> [std::arch::x86_64::__m256; 4] {
    use std::arch::x86_64::*;
    let [a, b, c, d] = [0, 1, 2, 3].map(|row: isize| {
        let start = from.wrapping_offset(pitch.wrapping_mul(row));
        // SAFETY: the caller's contract, rows 0 to 3 and 4 to 7.
        unsafe { two_rows(start, start.wrapping_offset(pitch.wrapping_mul(4))) }
    });
    let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
    [
        _mm256_shuffle_ps::<0x44>(ab, cd),
        _mm256_shuffle_ps::<0xee>(ab, cd),
        _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
        _mm256_shuffle_ps::<0xee>(ab_high, cd_high),
    ]
}

/// [`four_columns`], stored.
///
/// # Safety
/// As there; eight numbers may be written at each of four steps from `to`.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn block_of_fours(from: *const f32, from_pitch: usize, to: *mut f32, to_pitch: usize) {
    use std::arch::x86_64::*;
    // SAFETY: the caller's contract.
    let columns = unsafe { four_columns(from, from_pitch.cast_signed()) };
    for (index, column) in columns.into_iter().enumerate() {
        // SAFETY: the caller's contract.
        unsafe { _mm256_storeu_ps(to.wrapping_add(index * to_pitch), column) };
    }
}

/// Half a block of four-byte elements through pointers: four rows of four to four columns of four.
///
/// # Safety
/// Elements have four bytes, and those of the half are valid on both sides.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn half_block_at<T>(
    from: *const T,
    from_pitch: usize,
    to: *mut T,
    to_pitch: usize,
) {
    use std::arch::x86_64::*;
    let mut rows = [0, 1, 2, 3].map(|row: usize| {
        let row = from.wrapping_add(from_pitch.wrapping_mul(row));
        // SAFETY: the caller's contract.
        unsafe { _mm_loadu_ps(row.cast()) }
    });
    let [a, b, c, d] = &mut rows;
    // SAFETY: every processor of this architecture has it.
    unsafe { _MM_TRANSPOSE4_PS(a, b, c, d) };
    for (index, column) in rows.into_iter().enumerate() {
        // SAFETY: the caller's contract.
        unsafe { _mm_storeu_ps(to.wrapping_add(index * to_pitch).cast(), column) };
    }
}

/// Two columns of four rows as two rows of four.
///
/// # Safety
/// The processor has AVX2; two numbers may be read at each of four steps from `from`, and four written at both of two
/// steps from `to`.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn block_of_eights(from: *const f64, from_pitch: usize, to: *mut f64, to_pitch: usize) {
    use std::arch::x86_64::*;
    let start = |row: usize| {
        from.wrapping_add(from_pitch.wrapping_mul(row))
            .cast::<f32>()
    };
    // SAFETY: the caller's contract, rows 0 and 2.
    let even = unsafe { two_rows(start(0), start(2)) };
    // SAFETY: rows 1 and 3.
    let odd = unsafe { two_rows(start(1), start(3)) };
    let to = to.cast::<f32>();
    let columns = [
        _mm256_shuffle_ps::<0x44>(even, odd),
        _mm256_shuffle_ps::<0xee>(even, odd),
    ];
    for (index, column) in columns.into_iter().enumerate() {
        // SAFETY: the caller's contract; a step of `to` is of numbers of eight bytes.
        unsafe { _mm256_storeu_ps(to.wrapping_add(index * 2 * to_pitch), column) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn block<T: Element>(_: &[T], _: usize, _: &mut [T], _: usize) {}
