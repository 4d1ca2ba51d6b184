//! Elements repeated, each several times in turn, in the registers of AVX-512 or AVX2.
#![expect(
    unsafe_code,
    reason = "lines are moved through raw pointers and selected from by intrinsics"
)]

use crate::isa::Isa;
use crate::lines::put;
use crate::stream::{LINE, copy_short};
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
        if self.count * run < LINE {
            return false;
        }
        match Isa::detect() {
            // SAFETY: the caller's contract; the processor was asked.
            Isa::Avx512 if run >= LINE => unsafe { self.long_runs(size) },
            // SAFETY: as above.
            Isa::Avx2 if run >= HALF => unsafe { self.long_runs_by_halves(size) },
            _ if self.stride != 1 => return false,
            // SAFETY: as above.
            Isa::Avx512 => return unsafe { self.try_by_lines(size) },
            // SAFETY: as above.
            Isa::Avx2 => unsafe { self.by_quarters(size) },
            _ => return false,
        }
        true
    }

    /// Neighbouring elements, each of which is written less often than a line has elements; or does nothing and answers false.
    ///
    /// # Safety
    /// As [`Repeats::try_run`], with AVX-512.
    unsafe fn try_by_lines(&self, size: usize) -> bool {
        match size {
            // SAFETY: the caller's contract; the processor was asked for permutations of bytes.
            1 if is_x86_feature_detected!("avx512vbmi") => unsafe { self.bytes() },
            // SAFETY: the caller's contract.
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

    /// Runs of at least half a line.
    ///
    /// # Safety
    /// As [`Repeats::try_run`], with AVX2.
    #[target_feature(enable = "avx2")]
    unsafe fn long_runs_by_halves(&self, size: usize) {
        let run = self.times * size;
        for index in 0..self.count {
            let at = (index * size).cast_signed() * self.stride;
            let from = self.from.wrapping_offset(at);
            let half = match size {
                // SAFETY: an element of the caller's, of each size.
                1 => _mm256_set1_epi8(unsafe { from.cast::<i8>().read() }),
                // SAFETY: as above.
                2 => _mm256_set1_epi16(unsafe { from.cast::<i16>().read() }),
                // SAFETY: as above.
                4 => _mm256_set1_epi32(unsafe { from.cast::<i32>().read() }),
                // SAFETY: as above.
                _ => _mm256_set1_epi64x(unsafe { from.cast::<i64>().read() }),
            };
            let to = self.to.wrapping_add(index * run);
            let last = run - HALF;
            let mut at = 0;
            while at < last {
                // SAFETY: half a line of the run.
                unsafe { _mm256_storeu_si256(to.wrapping_add(at).cast(), half) };
                at += HALF;
            }
            // SAFETY: the run's last half of a line, some of it once more.
            unsafe { _mm256_storeu_si256(to.wrapping_add(last).cast(), half) };
        }
    }

    /// Neighbouring elements, each of which is written less often than half a line has elements: sixteen bytes at a time, within which
    /// bytes of any places are selected.
    ///
    /// # Safety
    /// As [`Repeats::try_run`], with AVX2.
    #[target_feature(enable = "avx2")]
    unsafe fn by_quarters(&self, size: usize) {
        let (run, bytes) = (self.times * size, self.count * size);
        let steps = Steps::new(run, size);
        let (mut from, mut begun, mut done) = (0, 0, 0);
        let end = self.count * run;
        let quarter = |from: usize, begun: usize, done: usize| {
            let (to, from) = (self.to.wrapping_add(done), self.from.wrapping_add(from));
            // SAFETY: sixteen bytes of the source, as was looked at.
            let elements = unsafe { _mm_loadu_si128(from.cast()) };
            let repeated = steps.selected(elements, begun, _mm_setzero_si128());
            // SAFETY: as many of the destination.
            unsafe { _mm_storeu_si128(to.cast(), repeated) };
        };
        while end - done >= LINE && bytes - from >= steps.from(begun + LINE) + QUARTER {
            for at in (0..LINE).step_by(QUARTER) {
                quarter(from + steps.from(begun + at), begun + at, done + at);
            }
            from += steps.from(begun + LINE);
            (begun, done) = (steps.begun(begun + LINE), done + LINE);
        }
        // The last elements are among the source's last sixteen bytes.
        while let (true, Some(last)) = (end - done >= QUARTER, bytes.checked_sub(QUARTER)) {
            // SAFETY: they are the source's.
            let elements =
                unsafe { _mm_loadu_si128(self.from.wrapping_add(from.min(last)).cast()) };
            let skipped = _mm_set1_epi8(from.saturating_sub(last) as i8);
            let repeated = steps.selected(elements, begun, skipped);
            // SAFETY: sixteen bytes of the destination.
            unsafe { _mm_storeu_si128(self.to.wrapping_add(done).cast(), repeated) };
            from += steps.from(begun + QUARTER);
            (begun, done) = (steps.begun(begun + QUARTER), done + QUARTER);
        }
        while done < end {
            let mut rooms = [[0u8; QUARTER]; 2];
            let [room, out] = &mut rooms;
            let here = self.from.wrapping_add(from);
            // SAFETY: what is left of the elements, as far as there is room.
            unsafe { copy_short(room.as_mut_ptr(), here, (bytes - from).min(QUARTER)) };
            // SAFETY: sixteen bytes.
            let elements = unsafe { _mm_loadu_si128(room.as_ptr().cast()) };
            let repeated = steps.selected(elements, begun, _mm_setzero_si128());
            // SAFETY: as above.
            unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), repeated) };
            let to = self.to.wrapping_add(done);
            // SAFETY: what is left of the destination, as far as it was made.
            unsafe { copy_short(to, out.as_ptr(), (end - done).min(QUARTER)) };
            from += steps.from(begun + QUARTER);
            (begun, done) = (steps.begun(begun + QUARTER), done + QUARTER);
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
        // Counted, not divided: a call may have no more than a few lines to write.
        let (mut element, mut behind) = (0, 0);
        for place in places.chunks_mut(SIZE) {
            place[0] = element;
            behind += 1;
            if behind == times {
                (element, behind) = (element + 1, 0);
            }
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
            let line = if count - element >= lanes {
                // SAFETY: a line of elements from `from` on.
                unsafe { _mm512_loadu_si512(from.cast()) }
            } else {
                // SAFETY: elements from `from` on, of which the rest is not read; this code is for AVX-512.
                unsafe { first_bytes(from, (count - element) * SIZE) }
            };
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

/// Bytes of a register of AVX2.
const HALF: usize = LINE / 2;
/// Bytes that it selects among.
const QUARTER: usize = LINE / 4;

/// What the bytes of repeated elements come from, by how far they are behind the beginning of a run.
struct Steps {
    /// Bytes of the source behind that run's element.
    from: [u8; 2 * LINE],
    /// Bytes behind the beginning of their own run.
    begun: [u8; 2 * LINE],
    /// For sixteen bytes that begin in the first run, their places behind its element.
    places: [u8; LINE + QUARTER],
}

impl Steps {
    /// Those of runs of less than a line, of elements of a size.
    fn new(run: usize, size: usize) -> Self {
        let mut steps = Self {
            from: [0; 2 * LINE],
            begun: [0; 2 * LINE],
            places: [0; LINE + QUARTER],
        };
        // Counted, not divided: a call may have no more than a few lines to write.
        let (mut element, mut behind) = (0, 0);
        for at in 0..2 * LINE {
            (steps.from[at], steps.begun[at]) = (element as u8, behind as u8);
            if let Some(place) = steps.places.get_mut(at) {
                *place = (element + (behind & (size - 1))) as u8;
            }
            behind += 1;
            if behind == run {
                (element, behind) = (element + size, 0);
            }
        }
        steps
    }

    #[inline(always)]
    fn from(&self, behind: usize) -> usize {
        self.from[behind].into()
    }

    #[inline(always)]
    fn begun(&self, behind: usize) -> usize {
        self.begun[behind].into()
    }

    /// Sixteen repeated bytes so far `behind` the beginning of a run, of elements from the first of them on; which is `skipped` bytes
    /// from the first one given.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn selected(&self, elements: __m128i, behind: usize, skipped: __m128i) -> __m128i {
        let places = &self.places[self.begun(behind)..][..QUARTER];
        // SAFETY: sixteen bytes.
        let places = unsafe { _mm_loadu_si128(places.as_ptr().cast()) };
        _mm_shuffle_epi8(elements, _mm_add_epi8(places, skipped))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_every_size_are_repeated_any_number_of_times() {
        let mut failed = Vec::new();
        for (size, times, count) in [1, 2, 4, 8].into_iter().flat_map(|size| {
            let counts = [1, 2, 3, 7, 15, 16, 17, 40, 131];
            let times = (1..70).chain([127, 128, 200]);
            times.flat_map(move |times| counts.map(|count| (size, times, count)))
        }) {
            let from: Vec<u8> = (0..count * size).map(|i| (i * 37 % 251) as u8).collect();
            let mut to = vec![255; count * times * size + 1];
            let repeats = Repeats {
                to: to.as_mut_ptr(),
                from: from.as_ptr(),
                stride: 1,
                count,
                times,
            };
            // SAFETY: elements of one vector, and places in another.
            if !unsafe { repeats.try_run(size) } {
                continue;
            }
            let elements = from.chunks(size).flat_map(|element| element.repeat(times));
            if !to.iter().copied().eq(elements.chain([255])) {
                failed.push(format!("{count} of {size} bytes, {times} times"));
            }
        }
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }
}
