//! Elements repeated, each several times in turn, in the registers of AVX-512.
#![expect(
    unsafe_code,
    reason = "lines are moved through raw pointers and selected from by intrinsics"
)]

use crate::isa::Isa;
use crate::lines::put;
use crate::stream::LINE;
use std::arch::x86_64::*;

/// Elements that are repeated, and where to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeats {
    pub(crate) to: *mut u8,
    pub(crate) from: *const u8,
    /// Elements from one of the source to the next.
    pub(crate) stride: isize,
    /// Elements of the source.
    pub(crate) count: usize,
    /// How often each is written.
    pub(crate) times: usize,
}

impl Repeats {
    /// Writes each of the elements, of `size` bytes, so many times, one after the other; or does nothing and answers false.
    ///
    /// # Safety
    /// `count` elements `stride` steps apart are valid for reads from `from` on, `count * times` places side by side for writes from
    /// `to` on; the two are apart.
    #[inline]
    pub(crate) unsafe fn try_run(&self, size: usize) -> bool {
        let run = self.times * size;
        if self.count * run < LINE || Isa::detect() != Isa::Avx512 {
            return false;
        }
        if run >= LINE {
            // SAFETY: the caller's contract; the processor was asked.
            unsafe { self.long_runs(size) };
            return true;
        }
        match size {
            _ if self.stride != 1 => return false,
            // SAFETY: as above.
            1 if is_x86_feature_detected!("avx512vbmi") => unsafe { self.bytes() },
            // SAFETY: as above.
            2 => unsafe { self.wider::<2>() },
            // SAFETY: as above.
            4 => unsafe { self.wider::<4>() },
            // SAFETY: as above.
            8 => unsafe { self.wider::<8>() },
            _ => return false,
        }
        true
    }

    /// Runs of at least a line.
    ///
    /// # Safety
    /// As [`Repeats::try_run`], with AVX-512.
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn long_runs(&self, size: usize) {
        let run = self.times * size;
        for index in 0..self.count {
            let at = (index * size).cast_signed() * self.stride;
            let from = self.from.wrapping_offset(at);
            let line = match size {
                // SAFETY: an element of the caller's, of each size.
                1 => _mm512_set1_epi8(unsafe { from.cast::<i8>().read() }),
                // SAFETY: as above.
                2 => _mm512_set1_epi16(unsafe { from.cast::<i16>().read() }),
                // SAFETY: as above.
                4 => _mm512_set1_epi32(unsafe { from.cast::<i32>().read() }),
                // SAFETY: as above.
                _ => _mm512_set1_epi64(unsafe { from.cast::<i64>().read() }),
            };
            let to = self.to.wrapping_add(index * run);
            let last = run - LINE;
            let mut at = 0;
            while at < last {
                // SAFETY: a line of the run.
                unsafe { put(to.wrapping_add(at), line, false) };
                at += LINE;
            }
            // SAFETY: the run's last line, some of it once more.
            unsafe { put(to.wrapping_add(last), line, false) };
        }
    }

    /// # Safety
    /// As [`Repeats::by_lines`], with AVX-512 and its permutations of bytes.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn bytes(&self) {
        // SAFETY: the caller's contract.
        unsafe { self.by_lines::<1>() };
    }

    /// # Safety
    /// As [`Repeats::by_lines`], with AVX-512.
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn wider<const SIZE: usize>(&self) {
        // SAFETY: the caller's contract.
        unsafe { self.by_lines::<SIZE>() };
    }

    /// Neighbouring elements, each of which is written less often than a line has elements.
    ///
    /// # Safety
    /// As [`Repeats::try_run`] for elements of `SIZE` bytes; inlined where the processor has the permutation of that size.
    #[inline(always)]
    unsafe fn by_lines<const SIZE: usize>(&self) {
        let (count, times, lanes) = (self.count, self.times, LINE / SIZE);
        // Which of its elements a line needs, by how far into a repetition it begins.
        let mut places = [0u8; 2 * LINE];
        for (index, place) in places.chunks_mut(SIZE).enumerate() {
            place[0] = (index / times) as u8;
        }
        let (whole, part) = (lanes / times, lanes % times);
        let (mut element, mut begun) = (0, 0);
        let mut left = count * times;
        let mut to = self.to;
        while left > 0 {
            let from = self.from.wrapping_add(element * SIZE);
            let needed = places.as_ptr().wrapping_add(begun * SIZE);
            // SAFETY: `begun` is less than a line has elements.
            let places = unsafe { _mm512_loadu_si512(needed.cast()) };
            // SAFETY: elements from `from` on, of which the rest is not read; this code is for AVX-512.
            let line = unsafe { first_bytes(from, (count - element) * SIZE) };
            let line = match SIZE {
                // SAFETY: by the caller's contract the processor has it.
                1 => unsafe { _mm512_permutexvar_epi8(places, line) },
                // SAFETY: as above.
                2 => unsafe { _mm512_permutexvar_epi16(places, line) },
                // SAFETY: as above.
                4 => unsafe { _mm512_permutexvar_epi32(places, line) },
                // SAFETY: as above.
                _ => unsafe { _mm512_permutexvar_epi64(places, line) },
            };
            if left < lanes {
                // SAFETY: what is left of the destination.
                unsafe { _mm512_mask_storeu_epi8(to.cast(), mask(left * SIZE), line) };
                return;
            }
            // SAFETY: a line of the destination.
            unsafe { put(to, line, false) };
            (to, left) = (to.wrapping_add(LINE), left - lanes);
            (element, begun) = (element + whole, begun + part);
            if begun >= times {
                (element, begun) = (element + 1, begun - times);
            }
        }
    }
}

/// The first of a line's bytes.
#[inline(always)]
fn mask(bytes: usize) -> __mmask64 {
    !0 >> (LINE - bytes)
}

/// So many bytes, or the first line of them.
///
/// # Safety
/// They are valid for reads, and the processor has AVX-512.
#[inline(always)]
unsafe fn first_bytes(from: *const u8, bytes: usize) -> __m512i {
    if bytes >= LINE {
        // SAFETY: the caller's contract.
        unsafe { _mm512_loadu_si512(from.cast()) }
    } else {
        // SAFETY: as above; nothing behind them is read.
        unsafe { _mm512_maskz_loadu_epi8(mask(bytes), from.cast()) }
    }
}
