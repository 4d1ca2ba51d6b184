//! Every third or fourth element of a run, in the registers of AVX-512: colours of pixels, coordinates of points.
#![expect(
    unsafe_code,
    reason = "vectors are moved through raw pointers and selected from by intrinsics"
)]

use crate::lines::{Line, put};
use crate::stream::{self, LINE};
use std::arch::x86_64::*;

/// Copies every `step`-th of some elements of `SIZE` bytes, 2, 4 or 8; the step is 3 or 4.
///
/// # Safety
/// `n` elements `step` apart are valid for reads from `from` on, and what lies between them too; as many places from `to` on for
/// writes. The processor has AVX-512; there is more than a line of elements.
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) unsafe fn thin<const SIZE: usize>(to: *mut u8, from: *const u8, n: usize, step: usize) {
    let count = LINE / SIZE;
    // The last element stays behind: what follows it may not be read.
    let last = n - 1;
    let mut at = 0;
    while at + count <= last {
        // SAFETY: a line of the destination; another element follows.
        unsafe { thin_line::<SIZE>(to, from, at, step) };
        at += count;
    }
    if at < last {
        // SAFETY: the line before the last element, as there are more than enough: some of it once more.
        unsafe { thin_line::<SIZE>(to, from, last - count, step) };
    }
    let from = from.wrapping_add(step * last * SIZE);
    // SAFETY: one element of both.
    unsafe { stream::copy_short(to.wrapping_add(last * SIZE), from, SIZE) };
}

/// A line of the destination, from element `at` on.
///
/// # Safety
/// As [`thin`]; the line and the `step` lines it comes from are valid.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn thin_line<const SIZE: usize>(to: *mut u8, from: *const u8, at: usize, step: usize) {
    let from = from.wrapping_add(step * at * SIZE);
    let load = |line: usize| {
        // SAFETY: a line of the source.
        unsafe { _mm512_loadu_si512(from.wrapping_add(line * LINE).cast()) }
    };
    let (third, places) = match step {
        3 => (load(2), &Line::<SIZE>::THIRD),
        _ => (load(3), &Line::<SIZE>::FOURTH),
    };
    // Places are counted from the first of two lines: the same are the elements' in the next two.
    // SAFETY: this code is for processors with AVX-512.
    let low = unsafe { Line::<SIZE>::select(load(0), places, load(1)) };
    // SAFETY: as above.
    let high = unsafe { Line::<SIZE>::select(load(2), places, third) };
    // Bytes whose element lies in the first two lines.
    let first = (2 * LINE / SIZE).div_ceil(step) * SIZE;
    let behind = u64::MAX.checked_shl(first as u32).unwrap_or(0);
    let line = _mm512_mask_blend_epi8(behind, low, high);
    // SAFETY: a line of the destination.
    unsafe { put(to.wrapping_add(at * SIZE), line, false) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Isa;

    fn thinned<const SIZE: usize>(bytes: &[u8], start: usize, n: usize, step: usize) -> Vec<u8> {
        // Exactly as long as what may be read.
        let bytes = bytes[start..][..((n - 1) * step + 1) * SIZE].to_vec();
        let mut room = vec![0u8; n * SIZE];
        // SAFETY: the caller asks on processors with AVX-512 for elements that lie in `bytes`; the room takes as many.
        unsafe { thin::<SIZE>(room.as_mut_ptr(), bytes.as_ptr(), n, step) };
        room
    }

    #[test]
    fn every_third_and_fourth_element_is_copied_at_every_length() {
        if !Isa::available().any(|isa| isa == Isa::Avx512) {
            return;
        }
        let words = (0..700u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let bytes: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
        let mut wrong = Vec::new();
        for (step, n) in [3usize, 4]
            .into_iter()
            .flat_map(|step| (33..140).map(move |n| (step, n)))
        {
            let mut check = |size: usize, found: Vec<u8>| {
                let wanted: Vec<u8> = (0..n)
                    .flat_map(|i| bytes[size * (1 + step * i)..][..size].to_vec())
                    .collect();
                if found != wanted {
                    wrong.push(format!("{n} of {size} bytes, {step} apart"));
                }
            };
            check(2, thinned::<2>(&bytes, 2, n, step));
            check(4, thinned::<4>(&bytes, 4, n, step));
            check(8, thinned::<8>(&bytes, 8, n, step));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
