//! Moving bytes past the caches: stores of whole cache lines that do not read the destination first, and when they
//! pay. Everything larger than the last-level cache is written this way, by whichever operation.
#![expect(
    unsafe_code,
    reason = "non-temporal stores are intrinsics over raw pointers"
)]

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// The size of the last-level cache where the machine does not tell.
const ASSUMED_CACHE: usize = 32 << 20;

/// Bytes of the last-level cache; 0 before the first look.
static LAST_LEVEL: AtomicUsize = AtomicUsize::new(0);

/// The bytes of the last-level cache one processor sees.
#[inline]
pub(crate) fn last_level_cache() -> usize {
    match LAST_LEVEL.load(Ordering::Relaxed) {
        0 => look_up(),
        bytes => bytes,
    }
}

/// Whether an operation that reads and writes this many bytes in all should write them past the caches: what it wrote
/// first would be gone from them before anybody could read it.
#[inline]
pub(crate) fn pays(bytes: usize) -> bool {
    cfg!(target_arch = "x86_64") && bytes > last_level_cache()
}

#[cold]
fn look_up() -> usize {
    let bytes = described_cache().unwrap_or(ASSUMED_CACHE);
    LAST_LEVEL.store(bytes, Ordering::Relaxed);
    bytes
}

/// The largest cache the processor describes.
#[cfg(target_arch = "x86_64")]
fn described_cache() -> Option<usize> {
    use std::arch::x86_64::__cpuid_count;

    // Intel describes its caches in leaf 4, AMD in the same form in leaf 0x8000_001D.
    let leaf = [(0, 4), (0x8000_0000_u32, 0x8000_001D_u32)]
        .into_iter()
        .find(|&(range, leaf)| {
            __cpuid_count(range, 0).eax >= leaf && __cpuid_count(leaf, 0).eax & 31 != 0
        });
    let (_, leaf) = leaf?;
    let caches = (0..8).map(|index| __cpuid_count(leaf, index));
    let size = |ebx: u32, ecx: u32| {
        let (ways, partitions, line) =
            ((ebx >> 22) + 1, (ebx >> 12 & 0x3FF) + 1, (ebx & 0xFFF) + 1);
        ways as usize * partitions as usize * line as usize * (ecx as usize + 1)
    };
    caches
        .take_while(|cache| cache.eax & 31 != 0)
        .map(|cache| size(cache.ebx, cache.ecx))
        .max()
}

#[cfg(not(target_arch = "x86_64"))]
fn described_cache() -> Option<usize> {
    None
}

/// Makes streamed stores visible before everything this thread writes later. Every function that streamed ends with it.
#[inline]
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has SSE, whose fence has no other requirement.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Copies bytes, whole lines of the destination past the caches. The caller ends with [`fence`].
///
/// # Safety
/// `dst` is valid for `bytes` writes, `src` for as many reads, and they do not overlap.
#[inline]
pub(crate) unsafe fn copy_raw(dst: *mut u8, src: *const u8, bytes: usize) {
    let head = dst.align_offset(LINE).min(bytes);
    let lines = (bytes - head) / LINE;
    let done = head + lines * LINE;
    if head > 0 {
        // SAFETY: inside both by the caller's contract, since `head <= bytes`.
        unsafe { std::ptr::copy_nonoverlapping(src, dst, head) };
    }
    for line in 0..lines {
        let at = head + line * LINE;
        // SAFETY: `at + LINE <= bytes`, and `head` has aligned the destination to a line.
        unsafe { line_raw(dst.wrapping_add(at), src.wrapping_add(at)) };
    }
    if done < bytes {
        // SAFETY: the rest of both.
        unsafe {
            std::ptr::copy_nonoverlapping(
                src.wrapping_add(done),
                dst.wrapping_add(done),
                bytes - done,
            );
        }
    }
}

/// Copies one line past the caches. The caller ends with [`fence`].
///
/// # Safety
/// `dst` is aligned to [`LINE`] and valid for a line of writes, `src` is valid for a line of reads.
#[inline(always)]
pub(crate) unsafe fn line_raw(dst: *mut u8, src: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let (dst, src) = (dst.cast::<__m128i>(), src.cast::<__m128i>());
        // SAFETY: four quarters of a line that is valid for reads; loads need no alignment.
        let quarters = [0, 1, 2, 3].map(|i| unsafe { _mm_loadu_si128(src.wrapping_add(i)) });
        for (i, quarter) in quarters.into_iter().enumerate() {
            // SAFETY: four quarters of an aligned line that is valid for writes.
            unsafe { _mm_stream_si128(dst.wrapping_add(i), quarter) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's contract; a source and a destination of one line are apart.
    unsafe {
        std::ptr::copy_nonoverlapping(src, dst, LINE)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alignment_and_length_is_copied_and_nothing_else() {
        let src: Vec<u8> = (0..600u32).map(|i| (i % 251) as u8).collect();
        for to in [0, 1, 7, 16, 63] {
            for from in [0, 3, 64] {
                for len in [0, 1, 15, 63, 64, 65, 127, 128, 200, 400] {
                    let mut dst = vec![255u8; 512];
                    let (to_here, from_here) = (&mut dst[to..to + len], &src[from..from + len]);
                    // SAFETY: two slices of that length, one of them borrowed mutably.
                    unsafe { copy_raw(to_here.as_mut_ptr(), from_here.as_ptr(), len) };
                    fence();
                    for (at, &byte) in dst.iter().enumerate() {
                        let wanted = match at.checked_sub(to) {
                            Some(at) if at < len => src[from + at],
                            _ => 255,
                        };
                        assert_eq!(byte, wanted, "{len} bytes from {from} to {to}, at {at}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_last_level_cache_is_a_plausible_size() {
        let bytes = last_level_cache();
        assert!((256 << 10..1 << 32).contains(&bytes), "{bytes}");
        assert!(!pays(bytes));
    }
}
