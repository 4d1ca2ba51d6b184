//! Every second element of a run, in the registers of AVX2.
#![expect(
    unsafe_code,
    reason = "vectors are moved through raw pointers and selected from by intrinsics"
)]

use crate::stream::{self, LINE};
use std::arch::x86_64::*;

/// Bytes of a vector.
const BYTES: usize = size_of::<__m256i>();

/// Copies every second of some elements of `SIZE` bytes, whole lines of the destination `past` the caches.
///
/// # Safety
/// As [`try_halve`](crate::lines::try_halve), for elements of that size and processors with AVX2; there is more than a line of
/// them.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn halve<const SIZE: usize>(to: *mut u8, from: *const u8, n: usize, past: bool) {
    let count = LINE / SIZE;
    // The last element stays behind: what follows it may not be read.
    let last = n - 1;
    let head = if past {
        to.align_offset(LINE) / SIZE
    } else {
        0
    };
    let tail = last - (last - head) % count;
    for at in (head..tail).step_by(count) {
        // SAFETY: a line of the destination, where one begins if it goes past the caches; another element follows.
        unsafe { halve_line::<SIZE>(to, from, at, past) };
    }
    if !past && tail < last {
        // SAFETY: the line before the last element, as there are more than enough: some of it once more.
        unsafe { halve_line::<SIZE>(to, from, last - count, false) };
    }
    for i in (0..head).chain(if past { tail } else { last }..n) {
        let (to, from) = (to.wrapping_add(i * SIZE), from.wrapping_add(2 * i * SIZE));
        // SAFETY: one element of both.
        unsafe { stream::copy_short(to, from, SIZE) };
    }
}

/// A line of the destination, from element `at` on.
///
/// # Safety
/// As [`halve`]; the line and the two lines it comes from are valid, and it is at one to go past the caches.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn halve_line<const SIZE: usize>(to: *mut u8, from: *const u8, at: usize, past: bool) {
    let (to, from) = (to.wrapping_add(at * SIZE), from.wrapping_add(2 * at * SIZE));
    for half in [0, BYTES] {
        let load = |at: usize| {
            // SAFETY: a vector of the source.
            unsafe { _mm256_loadu_si256(from.wrapping_add(2 * half + at).cast()) }
        };
        let even = even::<SIZE>(load(0), load(BYTES));
        let to = to.wrapping_add(half).cast();
        if past {
            // SAFETY: half a line of the destination, where one or its half begins.
            unsafe { _mm256_stream_si256(to, even) };
        } else {
            // SAFETY: half a line of the destination.
            unsafe { _mm256_storeu_si256(to, even) };
        }
    }
}

/// The even elements of two vectors.
#[inline]
#[target_feature(enable = "avx2")]
fn even<const SIZE: usize>(a: __m256i, b: __m256i) -> __m256i {
    // Of each half of a vector, then the halves in order.
    let halves = match SIZE {
        1 => {
            let low = _mm256_set1_epi16(0xff);
            _mm256_packus_epi16(_mm256_and_si256(a, low), _mm256_and_si256(b, low))
        }
        2 => {
            let low = _mm256_set1_epi32(0xffff);
            _mm256_packus_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low))
        }
        4 => {
            let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
            _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b))
        }
        _ => _mm256_unpacklo_epi64(a, b),
    };
    _mm256_permute4x64_epi64::<0b11_01_10_00>(halves)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Isa;

    /// Every second of `n` elements of `SIZE` bytes from byte `start` on.
    fn halved<const SIZE: usize>(bytes: &[u8], start: usize, n: usize, past: bool) -> Vec<u8> {
        let mut room = vec![0u64; n + 16];
        let to = room.as_mut_ptr().cast::<u8>().wrapping_add(SIZE);
        let from = bytes.as_ptr().wrapping_add(start);
        // SAFETY: the caller asks on processors with AVX2 for elements that lie in `bytes`; the room takes more than those.
        unsafe { halve::<SIZE>(to, from, n, past) };
        let from = to.addr() - room.as_ptr().addr();
        let room: Vec<u8> = room.iter().flat_map(|word| word.to_ne_bytes()).collect();
        room[from..from + n * SIZE].to_vec()
    }

    #[test]
    fn every_second_element_is_copied_at_every_length() {
        if !Isa::available().any(|isa| isa == Isa::Avx2) {
            return;
        }
        let words: Vec<u64> = (0..700u64)
            .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        for past in [false, true] {
            for n in 129..=330 {
                let check = |size: usize, found: Vec<u8>| {
                    let wanted: Vec<u8> = (0..n)
                        .flat_map(|i| bytes[size * (1 + 2 * i)..][..size].to_vec())
                        .collect();
                    assert_eq!(found, wanted, "{n} of {size} bytes, past {past}");
                };
                check(1, halved::<1>(&bytes, 1, n, past));
                check(2, halved::<2>(&bytes, 2, n, past));
                check(4, halved::<4>(&bytes, 4, n, past));
                check(8, halved::<8>(&bytes, 8, n, past));
            }
        }
    }
}
