//! Turning short rows into columns and back: small blocks are transposed in registers.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "vector instructions may only run on processors that have them"
    )
)]

use crate::isa::Arch;
use lodestride_buffer::Element;

/// Rows and columns of a block.
const SIDE: usize = 8;

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
    if has_blocks::<A, T>() && columns >= SIDE {
        while row + SIDE <= rows {
            let mut column = 0;
            loop {
                block::<T>(
                    &from[row * from_pitch + column..],
                    from_pitch,
                    &mut to[column * to_pitch + row..],
                    to_pitch,
                );
                if column + SIDE == columns {
                    break;
                }
                // The last block overlaps the one before and writes the same there.
                column = (column + SIDE).min(columns - SIDE);
            }
            row += SIDE;
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

/// Whether blocks of the element type are transposed in registers.
#[inline(always)]
fn has_blocks<A: Arch, T>() -> bool {
    cfg!(target_arch = "x86_64") && A::FMA && size_of::<T>() == 4
}

/// One block.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn block<T: Element>(from: &[T], from_pitch: usize, to: &mut [T], to_pitch: usize) {
    assert!(size_of::<T>() == 4 && (SIDE - 1) * from_pitch + SIDE <= from.len());
    assert!((SIDE - 1) * to_pitch + SIDE <= to.len());
    let (from, to) = (from.as_ptr().cast::<f32>(), to.as_mut_ptr().cast::<f32>());
    for half in [0, 4] {
        let (from, to) = (from.wrapping_add(half), to.wrapping_add(half * to_pitch));
        // SAFETY: only code for processors with AVX2 gets here (`has_blocks`); the last element read or written was checked
        // to lie in the slices, whose elements are as large as f32 and of any bytes.
        unsafe { half_block(from, from_pitch, to, to_pitch) };
    }
}

/// Four columns of eight rows as four rows of eight.
///
/// # Safety
/// The processor has AVX2; four numbers may be read at each of eight steps from `from`, and eight written at each of four
/// steps from `to`.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn half_block(from: *const f32, from_pitch: usize, to: *mut f32, to_pitch: usize) {
    use std::arch::x86_64::*;
    let mut rows = [_mm256_setzero_ps(); 4];
    for (row, pair) in rows.iter_mut().enumerate() {
        let start = from.wrapping_add(row * from_pitch);
        // SAFETY: the caller's contract, rows 0 to 3.
        let low = unsafe { _mm_loadu_ps(start) };
        // SAFETY: rows 4 to 7.
        let high = unsafe { _mm_loadu_ps(start.wrapping_add(4 * from_pitch)) };
        *pair = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high);
    }
    let [a, b, c, d] = rows;
    let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
    let columns = [
        _mm256_shuffle_ps::<0x44>(ab, cd),
        _mm256_shuffle_ps::<0xee>(ab, cd),
        _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
        _mm256_shuffle_ps::<0xee>(ab_high, cd_high),
    ];
    for (index, column) in columns.into_iter().enumerate() {
        // SAFETY: the caller's contract.
        unsafe { _mm256_storeu_ps(to.wrapping_add(index * to_pitch), column) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn block<T: Element>(_: &[T], _: usize, _: &mut [T], _: usize) {}
