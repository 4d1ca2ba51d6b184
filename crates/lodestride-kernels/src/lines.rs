//! Cache lines in the registers of AVX-512: selecting elements of two of them, every second element of a run. Runs backwards,
//! in those of AVX2 too.
#![expect(
    unsafe_code,
    reason = "lines are moved through raw pointers and selected from by intrinsics"
)]

use crate::every_second;
use crate::every_third;
use crate::isa::Isa;
use crate::stream::{self, LINE};
use lodestride_buffer::Element;
use std::arch::x86_64::*;

/// Bytes ahead that a run asks for where it goes past the caches: of 4096x4096 `f32`, every second of every second row took
/// 2.5 to 2.9 ms on an AMD EPYC, and 2.1 to 2.3 ms with it.
const AHEAD: usize = 1024;

/// For each element of a line, its place among those of two lines, in the first of its bytes.
pub(crate) type Places = [u8; LINE];

/// The elements of two lines in turn, the first halves of both or the second.
const fn interleaved(size: usize, second: bool) -> Places {
    let count = LINE / size;
    let from = if second { count / 2 } else { 0 };
    let mut places = [0; LINE];
    let mut at = 0;
    while at < count {
        places[at * size] = (from + at / 2 + at % 2 * count) as u8;
        at += 1;
    }
    places
}

/// Every `step`-th element of two lines.
const fn every(size: usize, step: usize) -> Places {
    let mut places = [0; LINE];
    let mut at = 0;
    while at < LINE / size {
        places[at * size] = (at * step) as u8;
        at += 1;
    }
    places
}

/// Lines of elements of `SIZE` bytes: 2, 4 or 8.
pub(crate) struct Line<const SIZE: usize>;

impl<const SIZE: usize> Line<SIZE> {
    pub(crate) const LOW: Places = interleaved(SIZE, false);
    pub(crate) const HIGH: Places = interleaved(SIZE, true);
    const IN_ORDER: Places = every(SIZE, 1);
    const EVEN: Places = every(SIZE, 2);
    /// Those of four lines, counted anew from the third on.
    pub(crate) const THIRD: Places = every(SIZE, 3);
    pub(crate) const FOURTH: Places = every(SIZE, 4);

    /// The elements of two lines that lie at some places.
    ///
    /// # Safety
    /// The processor has AVX-512.
    #[inline(always)]
    pub(crate) unsafe fn select(a: __m512i, places: &Places, b: __m512i) -> __m512i {
        // SAFETY: the caller's contract; a line of places.
        let places = unsafe { _mm512_loadu_si512(places.as_ptr().cast()) };
        // SAFETY: the caller's contract.
        unsafe { Self::select_by(a, places, b) }
    }

    /// # Safety
    /// As [`Line::select`].
    #[inline(always)]
    unsafe fn select_by(a: __m512i, places: __m512i, b: __m512i) -> __m512i {
        match SIZE {
            // SAFETY: the caller's contract.
            2 => unsafe { _mm512_permutex2var_epi16(a, places, b) },
            // SAFETY: as above.
            4 => unsafe { _mm512_permutex2var_epi32(a, places, b) },
            // SAFETY: as above; the only other size is 8.
            _ => unsafe { _mm512_permutex2var_epi64(a, places, b) },
        }
    }

    /// A line of two lines one after the other, from element `from` on.
    ///
    /// # Safety
    /// As [`Line::select`].
    #[inline(always)]
    pub(crate) unsafe fn window(a: __m512i, b: __m512i, from: usize) -> __m512i {
        // SAFETY: the caller's contract; a line of places.
        let first = unsafe { _mm512_loadu_si512(Self::IN_ORDER.as_ptr().cast()) };
        // SAFETY: the caller's contract.
        let step = unsafe { _mm512_set1_epi8(from as i8) };
        // SAFETY: as above. No place grows beyond its byte, and the bytes above it are not looked at.
        let places = unsafe { _mm512_add_epi8(first, step) };
        // SAFETY: as above.
        unsafe { Self::select_by(a, places, b) }
    }
}

/// Writes a line, `past` the caches or through them.
///
/// # Safety
/// The processor has AVX-512; a line may be written, and lies at one to go past the caches.
#[inline(always)]
pub(crate) unsafe fn put(to: *mut u8, line: __m512i, past: bool) {
    if past {
        // SAFETY: the caller's contract.
        unsafe { _mm512_stream_si512(to.cast(), line) };
    } else {
        // SAFETY: the caller's contract.
        unsafe { _mm512_storeu_si512(to.cast(), line) };
    }
}

/// Copies every `step`-th element of a run, from its first on, until `to` is full; or does nothing and answers false.
#[inline]
pub(crate) fn try_every<T: Element>(step: isize, to: &mut [T], run: &[T]) -> bool {
    if !(2..=4).contains(&step)
        || run.len() + step.unsigned_abs() - 1 < step.unsigned_abs() * to.len()
    {
        return false;
    }
    let (out, from) = (to.as_mut_ptr().cast(), run.as_ptr().cast());
    // SAFETY: the last element read has index `step * (to.len() - 1)`, which the run was found to have; `to` is a unique borrow.
    unsafe { try_thin(out, from, (to.len(), step), size_of::<T>()) }
}

/// Copies `n` elements of `size` bytes that lie `step` apart; or does nothing and answers false.
///
/// # Safety
/// As [`try_halve`], for elements that lie so far apart.
#[inline]
pub(crate) unsafe fn try_thin(
    to: *mut u8,
    from: *const u8,
    (n, step): (usize, isize),
    size: usize,
) -> bool {
    let apart = step.unsigned_abs();
    match (size, step) {
        // SAFETY: the caller's contract.
        (_, 2) => return unsafe { try_halve(to, from, n, size, false) },
        (2 | 4 | 8, 3 | 4) => {}
        _ => return false,
    }
    if n * size <= LINE || Isa::detect() != Isa::Avx512 {
        return false;
    }
    match size {
        // SAFETY: the caller's contract; the processor was asked.
        2 => unsafe { every_third::thin::<2>(to, from, n, apart) },
        // SAFETY: as above.
        4 => unsafe { every_third::thin::<4>(to, from, n, apart) },
        // SAFETY: as above.
        _ => unsafe { every_third::thin::<8>(to, from, n, apart) },
    }
    true
}

/// Copies every second of some elements of `size` bytes, whole lines of the destination `past` the caches; or does nothing and
/// answers false.
///
/// # Safety
/// `n` elements two steps apart are valid for reads from `from` on, and what lies between them too; as many places from `to` on
/// for writes. Both are aligned for the elements and apart.
#[inline]
pub(crate) unsafe fn try_halve(
    to: *mut u8,
    from: *const u8,
    n: usize,
    size: usize,
    past: bool,
) -> bool {
    let isa = Isa::detect();
    let least = if isa == Isa::Avx512 { 4 } else { 2 };
    if n * size < least * LINE {
        return false;
    }
    match (size, isa) {
        // SAFETY: the caller's contract; the processor was asked, and what has AVX-512 has AVX2.
        (1, Isa::Avx512 | Isa::Avx2) => unsafe { every_second::halve::<1>(to, from, n, past) },
        // SAFETY: as above.
        (2, Isa::Avx2) => unsafe { every_second::halve::<2>(to, from, n, past) },
        // SAFETY: as above.
        (4, Isa::Avx2) => unsafe { every_second::halve::<4>(to, from, n, past) },
        // SAFETY: as above.
        (8, Isa::Avx2) => unsafe { every_second::halve::<8>(to, from, n, past) },
        // SAFETY: as above.
        (2, Isa::Avx512) => unsafe { halve::<2>(to, from, n, past) },
        // SAFETY: as above.
        (4, Isa::Avx512) => unsafe { halve::<4>(to, from, n, past) },
        // SAFETY: as above.
        (8, Isa::Avx512) => unsafe { halve::<8>(to, from, n, past) },
        _ => return false,
    }
    true
}

/// # Safety
/// As [`try_halve`], for elements of that size and processors with AVX-512.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn halve<const SIZE: usize>(to: *mut u8, from: *const u8, n: usize, past: bool) {
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
        if past {
            stream::prefetch_run(from.wrapping_add(2 * at * SIZE + AHEAD), 2 * LINE);
        }
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
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn halve_line<const SIZE: usize>(to: *mut u8, from: *const u8, at: usize, past: bool) {
    let from = from.wrapping_add(2 * at * SIZE);
    // SAFETY: two lines of the source.
    let [a, b] = [0, LINE].map(|at| unsafe { _mm512_loadu_si512(from.wrapping_add(at).cast()) });
    // SAFETY: this code is for processors with AVX-512.
    let even = unsafe { Line::<SIZE>::select(a, &Line::<SIZE>::EVEN, b) };
    // SAFETY: a line of the destination.
    unsafe { put(to.wrapping_add(at * SIZE), even, past) };
}

/// The elements of 16 bytes backwards, four times.
const fn backwards(size: usize) -> Places {
    let mut places = [0; LINE];
    let mut at = 0;
    while at < LINE {
        let byte = at % 16;
        places[at] = ((16 / size - 1 - byte / size) * size + byte % size) as u8;
        at += 1;
    }
    places
}

/// [`backwards`] of elements of 1, 2, 4 and 8 bytes.
const BACKWARDS: [Places; 4] = [backwards(1), backwards(2), backwards(4), backwards(8)];

/// Copies elements of `size` bytes backwards; or does nothing and answers false.
///
/// # Safety
/// `n` elements are valid for reads from `from` back, and as many places from `to` on for writes. They are apart.
#[inline]
pub(crate) unsafe fn try_reverse(to: *mut u8, from: *const u8, n: usize, size: usize) -> bool {
    let bytes = n * size;
    if bytes < LINE {
        return false;
    }
    let first = from.wrapping_add(size).wrapping_sub(bytes);
    let places = &BACKWARDS[size.trailing_zeros() as usize];
    match Isa::detect() {
        // SAFETY: the caller's contract: the run begins at its last element; the processor was asked.
        Isa::Avx512 => unsafe { reverse(to, first, bytes, places) },
        // SAFETY: as above.
        Isa::Avx2 => unsafe { reverse_halves(to, first, bytes, places) },
        _ => return false,
    }
    true
}

/// # Safety
/// As [`try_reverse`] for so many `bytes`, of which `from` is the first, and processors with AVX-512.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn reverse(to: *mut u8, from: *const u8, bytes: usize, places: &Places) {
    // SAFETY: a line of places.
    let places = unsafe { _mm512_loadu_si512(places.as_ptr().cast()) };
    let last = bytes - LINE;
    let mut at = 0;
    loop {
        // The last line, once more if need be, covers the rest.
        at = at.min(last);
        // SAFETY: a line of the source, as far from its end as the other is from the start.
        let line = unsafe { _mm512_loadu_si512(from.wrapping_add(last - at).cast()) };
        let quarters = _mm512_shuffle_epi8(line, places);
        let line = _mm512_shuffle_i64x2::<0b00_01_10_11>(quarters, quarters);
        // SAFETY: a line of the destination.
        unsafe { put(to.wrapping_add(at), line, false) };
        if at == last {
            return;
        }
        at += LINE;
    }
}

/// [`reverse`] by halves of lines.
///
/// # Safety
/// As [`reverse`], for processors with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn reverse_halves(to: *mut u8, from: *const u8, bytes: usize, places: &Places) {
    const HALF: usize = LINE / 2;
    // SAFETY: half a line of places.
    let places = unsafe { _mm256_loadu_si256(places.as_ptr().cast()) };
    let last = bytes - LINE;
    let mut at = 0;
    loop {
        at = at.min(last);
        for half in [0, HALF] {
            let from = from.wrapping_add(last - at + HALF - half);
            // SAFETY: half of a line as in `reverse`.
            let line = unsafe { _mm256_loadu_si256(from.cast()) };
            let quarters = _mm256_shuffle_epi8(line, places);
            let line = _mm256_permute2x128_si256::<1>(quarters, quarters);
            // SAFETY: half a line of the destination.
            unsafe { _mm256_storeu_si256(to.wrapping_add(at + half).cast(), line) };
        }
        if at == last {
            return;
        }
        at += LINE;
    }
}
