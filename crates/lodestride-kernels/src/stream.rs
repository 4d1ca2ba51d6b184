//! Moving bytes past the caches: stores of whole cache lines that do not read the destination first, prefetches, and
//! when they pay; short copies without a call. Everything larger than an operation's share of the last-level cache is written
//! this way, by whichever operation.
#![expect(
    unsafe_code,
    reason = "non-temporal stores and prefetches are intrinsics over raw pointers"
)]

use crate::cached;
use crate::isa::{Arch, Level, Task};
use lodestride_buffer::Element;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) use crate::prefetching::{
    are_best, are_eight, copies_slowly, follows_several, is_far, keeps_little, prefetch_several,
    takes_integers_fast, wake, wakes,
};

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Bytes of a page, which the processor's own prefetching does not leave.
pub(crate) const PAGE: usize = 4096;

/// Bytes that the second-level cache holds at least.
pub(crate) const SECOND_LEVEL: usize = 1 << 20;

/// Bytes of results that are computed in L1 before they leave past the caches: few, so that the reads of one piece overlap
/// the writes of the one before. At 1e7 `f32`, sums took 3.3 ms in pieces of 512 bytes, 3.9 ms in pieces of 1 KiB, 4.5 ms in
/// pieces of 4 KiB and 4.3 ms with ordinary stores.
pub(crate) const PIECE: usize = 512;

/// The same where arithmetic decides: there is nothing to overlap, and beginning a function costs as much as 50 of its elements.
/// Of 1e7 `f64`, `exp` took 10.9 ms in pieces of 512 bytes and 8.6 ms in pieces of 4 KiB.
pub(crate) const HEAVY_PIECE: usize = 4096;

/// The bytes of a piece.
pub(crate) const fn piece(heavy: bool) -> usize {
    if heavy { HEAVY_PIECE } else { PIECE }
}

/// The size of the last-level cache where the machine does not tell.
const ASSUMED_CACHE: usize = 32 << 20;

/// Of a larger last-level cache, which many cores share, an operation finds no more than this to itself. On two cores of a
/// Xeon with 105 MiB, three broadcast operations in a row over arrays of 8, 12, 16 and 32 MB took 5.1, 8.8, 11.0 and 23.1 ms
/// with ordinary stores and 4.1, 6.5, 9.2 and 18.8 ms past the caches; of 6 MB and less, ordinary stores are ahead.
const SHARE: usize = 24 << 20;

/// The same on Zen 4, whose last-level cache of 32 MB writes back what it gave up slowly. A sum of two `f64` arrays in 20 and 24 MB in
/// all took 340 and 430 us for a million with ordinary stores, 300 and 298 past the caches, a product of it after it 840 and 925 against
/// 740 and 755; a sum over the result before it 440 and 500 against 500 and 600; in 16 MB ordinary stores are ahead.
const SMALLER_SHARE: usize = 19 << 20;

/// From more bytes than this on results are written past the caches; 0 before the first look.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// The bytes an operation may read and write in all without writing past the caches.
#[inline]
pub(crate) fn limit() -> usize {
    match LIMIT.load(Ordering::Relaxed) {
        0 => look_up(),
        bytes => bytes,
    }
}

/// Sets [`limit`].
pub(crate) fn set_limit(bytes: usize) {
    LIMIT.store(bytes.max(1), Ordering::Relaxed);
}

/// Whether an operation that reads and writes this many bytes in all should write them past the caches: what it wrote
/// first would be gone from them before anybody could read it.
#[inline]
pub(crate) fn pays(bytes: usize) -> bool {
    cfg!(target_arch = "x86_64") && bytes > limit()
}

#[cold]
fn look_up() -> usize {
    let share = if keeps_little() { SMALLER_SHARE } else { SHARE };
    let bytes = described_cache().unwrap_or(ASSUMED_CACHE).min(share);
    set_limit(bytes);
    bytes
}

/// The largest cache the processor describes.
fn described_cache() -> Option<usize> {
    described_caches().map(|(_, bytes)| bytes).max()
}

/// Bytes of the second-level cache, 0 before the first look.
static SECOND: AtomicUsize = AtomicUsize::new(0);

/// The bytes of the second-level cache, as the processor describes it.
pub(crate) fn second_level() -> usize {
    match SECOND.load(Ordering::Relaxed) {
        0 => {
            let second = described_caches().find(|&(level, _)| level == 2);
            let bytes = second.map_or(SECOND_LEVEL, |(_, bytes)| bytes);
            SECOND.store(bytes, Ordering::Relaxed);
            bytes
        }
        bytes => bytes,
    }
}

/// Levels and sizes of the caches the processor describes.
#[cfg(target_arch = "x86_64")]
fn described_caches() -> impl Iterator<Item = (u32, usize)> {
    use std::arch::x86_64::__cpuid_count;

    // Intel describes its caches in leaf 4, AMD in the same form in leaf 0x8000_001D.
    let leaf = [(0, 4), (0x8000_0000_u32, 0x8000_001D_u32)]
        .into_iter()
        .find(|&(range, leaf)| {
            __cpuid_count(range, 0).eax >= leaf && __cpuid_count(leaf, 0).eax & 31 != 0
        });
    let caches = leaf
        .into_iter()
        .flat_map(|(_, leaf)| (0..8).map(move |index| __cpuid_count(leaf, index)));
    let size = |ebx: u32, ecx: u32| {
        let (ways, partitions, line) =
            ((ebx >> 22) + 1, (ebx >> 12 & 0x3FF) + 1, (ebx & 0xFFF) + 1);
        ways as usize * partitions as usize * line as usize * (ecx as usize + 1)
    };
    caches
        .take_while(|cache| cache.eax & 31 != 0)
        .map(move |cache| (cache.eax >> 5 & 7, size(cache.ebx, cache.ecx)))
}

#[cfg(not(target_arch = "x86_64"))]
fn described_caches() -> impl Iterator<Item = (u32, usize)> {
    std::iter::empty()
}

/// Asks for the cache line of an address ahead of its use. Any address will do; nothing is read.
#[inline(always)]
pub(crate) fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint: it accesses nothing and faults on no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// [`prefetch`] no nearer than the second-level cache.
#[inline(always)]
pub(crate) fn prefetch_far(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: as above.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Asks for the memory that follows a part of a run.
#[inline(always)]
pub(crate) fn prefetch_after<C>(part: &[C]) {
    prefetch_run(part.as_ptr_range().end.cast(), size_of_val(part));
}

/// Asks for the lines of so many bytes from an address on.
#[inline(always)]
pub(crate) fn prefetch_run(start: *const u8, bytes: usize) {
    for line in 0..bytes.div_ceil(LINE) {
        prefetch(start.wrapping_add(line * LINE));
    }
}

/// Bytes of a copy from which on it is worth asking ahead of it.
const LONG: usize = 16 * PAGE;

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
#[inline]
pub(crate) fn copy(dst: &mut [u8], src: &[u8]) {
    assert_eq!(dst.len(), src.len(), "a copy has one length");
    // SAFETY: two slices of that length, one of them borrowed mutably, so they are apart.
    unsafe { copy_raw(dst.as_mut_ptr(), src.as_ptr(), dst.len()) };
}

/// [`copy`] through pointers.
///
/// # Safety
/// `dst` is valid for `bytes` writes, `src` for as many reads, and they do not overlap.
#[inline]
pub(crate) unsafe fn copy_raw(dst: *mut u8, src: *const u8, bytes: usize) {
    let head = dst.align_offset(LINE).min(bytes);
    let lines = (bytes - head) / LINE;
    let done = head + lines * LINE;
    if done < bytes {
        // A store to a line that has to be read first would hold up all that follow.
        prefetch(dst.wrapping_add(done));
    }
    if head > 0 {
        // SAFETY: inside both by the caller's contract, since `head <= bytes`.
        unsafe { std::ptr::copy_nonoverlapping(src, dst, head) };
    }
    if lines > 0 {
        Level::current().run(Lines {
            to: dst.wrapping_add(head),
            from: src.wrapping_add(head),
            lines,
            wakes: bytes >= LONG && wakes(),
        });
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

/// Lines to be copied past the caches. Whoever makes them vouches for what [`line`] asks, of each.
struct Lines {
    to: *mut u8,
    from: *const u8,
    lines: usize,
    /// Whether to ask ahead of them.
    wakes: bool,
}

impl Task for Lines {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        for number in 0..self.lines {
            let at = number * LINE;
            if self.wakes && number % 4 == 0 {
                wake(self.from.wrapping_add(at), 4 * LINE);
            }
            // SAFETY: vouched for by whoever made `self`.
            unsafe { line::<A>(self.to.wrapping_add(at), self.from.wrapping_add(at)) };
        }
    }
}

/// Copies a few bytes without a call: in pieces of sixteen, the last of which may overlap the one before.
///
/// # Safety
/// As [`copy_raw`].
#[inline(always)]
pub(crate) unsafe fn copy_short(dst: *mut u8, src: *const u8, bytes: usize) {
    // SAFETY: in each branch the pieces lie inside the given bytes.
    match bytes {
        0 => {}
        // SAFETY: as said above the match.
        1 => unsafe { copy_piece::<u8>(dst, src, 0) },
        // SAFETY: as said above the match.
        2..4 => unsafe { copy_ends::<u16>(dst, src, bytes) },
        // SAFETY: as said above the match.
        4..8 => unsafe { copy_ends::<u32>(dst, src, bytes) },
        // SAFETY: as said above the match.
        8..16 => unsafe { copy_ends::<u64>(dst, src, bytes) },
        _ => {
            for at in (0..bytes - 16).step_by(16) {
                // SAFETY: `at + 16 <= bytes`.
                unsafe { copy_piece::<u128>(dst, src, at) };
            }
            // SAFETY: the last sixteen bytes.
            unsafe { copy_piece::<u128>(dst, src, bytes - 16) };
        }
    }
}

/// Copies the first and the last `T` of `bytes` bytes, which are at least one and at most two of them.
///
/// # Safety
/// As [`copy_raw`].
#[inline(always)]
pub(crate) unsafe fn copy_ends<T: Copy>(dst: *mut u8, src: *const u8, bytes: usize) {
    // SAFETY: the first piece lies inside the bytes.
    unsafe { copy_piece::<T>(dst, src, 0) };
    // SAFETY: so does the last.
    unsafe { copy_piece::<T>(dst, src, bytes - size_of::<T>()) };
}

/// Copies one `T` of any alignment.
///
/// # Safety
/// The `T` at byte `at` is inside both.
#[inline(always)]
pub(crate) unsafe fn copy_piece<T: Copy>(dst: *mut u8, src: *const u8, at: usize) {
    // SAFETY: the caller's contract; no alignment is asked for.
    let piece = unsafe { src.wrapping_add(at).cast::<T>().read_unaligned() };
    // SAFETY: as above.
    unsafe { dst.wrapping_add(at).cast::<T>().write_unaligned(piece) };
}

/// Copies elements, `past` the caches or through them; the caller ends with [`fence`] where some went past.
///
/// # Panics
/// If the lengths differ.
#[inline]
pub(crate) fn copy_elements<T: Element>(dst: &mut [T], src: &[T], past: bool) {
    assert_eq!(dst.len(), src.len());
    let bytes = size_of_val(dst);
    let (dst, src) = (dst.as_mut_ptr().cast(), src.as_ptr().cast());
    if past {
        // SAFETY: a borrowed and a uniquely borrowed slice of that many bytes; elements have no padding.
        unsafe { copy_raw(dst, src, bytes) };
    } else {
        // SAFETY: as above.
        unsafe { cached::copy(dst, src, bytes) };
    }
}

/// [`line_raw`] by halves of a line where the instruction set has them. Sums of 1e7 `f64` that leave so take 4.4 ms on an AMD EPYC of
/// family 26 wherever their operands begin; by quarters as long, by whole lines 4.7, or 5.4 where no operand begins one.
///
/// # Safety
/// As [`line_raw`], in a function of the instruction set.
#[inline(always)]
pub(crate) unsafe fn line<A: Arch>(dst: *mut u8, src: *const u8) {
    #[cfg(target_arch = "x86_64")]
    if size_of::<A::F32>() >= LINE / 2 {
        use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_stream_si256};
        let (dst, src) = (dst.cast::<__m256i>(), src.cast::<__m256i>());
        // SAFETY: two halves of a line that is valid for reads; registers of this size are there.
        let halves = [0, 1].map(|i| unsafe { _mm256_loadu_si256(src.wrapping_add(i)) });
        for (i, half) in halves.into_iter().enumerate() {
            // SAFETY: two halves of an aligned line that is valid for writes.
            unsafe { _mm256_stream_si256(dst.wrapping_add(i), half) };
        }
        return;
    }
    // SAFETY: the caller's contract.
    unsafe { line_raw(dst, src) };
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
        for (to, short) in [0, 1, 7, 16, 63]
            .map(|to| (to, true))
            .into_iter()
            .chain([0, 1, 7, 16, 63].map(|to| (to, false)))
        {
            for from in [0, 3, 64] {
                for len in [0, 1, 15, 63, 64, 65, 127, 128, 200, 400] {
                    let mut dst = vec![255u8; 512];
                    let (to_here, from_here) = (&mut dst[to..to + len], &src[from..from + len]);
                    let (to_here, from_here) = (to_here.as_mut_ptr(), from_here.as_ptr());
                    if short {
                        // SAFETY: two slices of that length, one of them borrowed mutably.
                        unsafe { copy_short(to_here, from_here, len) };
                    } else {
                        // SAFETY: as above.
                        unsafe { copy_raw(to_here, from_here, len) };
                    }
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
    fn the_limit_is_a_plausible_size_of_a_cache() {
        let bytes = limit();
        assert!((256 << 10..=SHARE).contains(&bytes), "{bytes}");
        assert!(!pays(bytes));
    }
}
