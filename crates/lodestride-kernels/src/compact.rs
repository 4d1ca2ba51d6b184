//! Moving the elements whose flag is set to the front: the inner step of boolean selection.
#![expect(
    unsafe_code,
    reason = "vectors are compressed by instructions of AVX-512 or AVX2; calling those is unsafe by definition"
)]

use crate::across::spill;
#[cfg(target_arch = "x86_64")]
use crate::isa::Isa;
use crate::isa::{Arch, Level, Task};
use crate::stream::{self, LINE};
use lodestride_buffer::Element;
use std::ops::AddAssign;

/// Bits that are counted where they are not zero, in lanes of their own width.
pub(crate) trait Word: Element + AddAssign {
    const ZERO: Self;
    const ALL: Self;
    /// All bits of a signed word but the sign.
    const MAX: Self;
    /// The largest count a lane holds.
    const MOST: usize;
    /// Whether some of `these` bits are set.
    fn has(self, these: Self) -> bool;
    /// 1 where they are, or 0.
    fn is_set(self, these: Self) -> Self;
    fn count(self) -> i64;
}

macro_rules! word {
    ($($t:ty),*) => {$(
        impl Word for $t {
            const ZERO: $t = 0;
            const ALL: $t = !0;
            const MAX: $t = <$t>::MAX;
            const MOST: usize = <$t>::MAX as usize;
            #[inline(always)]
            fn has(self, these: $t) -> bool { self & these != 0 }
            #[inline(always)]
            fn is_set(self, these: $t) -> $t { <$t>::from(self.has(these)) }
            #[inline(always)]
            fn count(self) -> i64 { i64::from(self) }
        }
    )*};
}
word!(u8, i8, i16, i32, i64);

/// How many bytes are not zero.
pub(crate) fn count_set(bytes: &[u8], level: Level) -> usize {
    level.run(Counting(bytes))
}

/// The bytes to be counted.
struct Counting<'a>(&'a [u8]);

impl Task for Counting<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<A: Arch>(self) -> usize {
        counted(self.0, u8::ALL)
    }
}

/// How many words have some of `these` bits; for use inside of a task.
#[inline(always)]
pub(crate) fn counted<W: Word>(words: &[W], these: W) -> usize {
    let mut total = 0;
    let (lines, rest) = words.as_chunks::<64>();
    for lines in lines.chunks(W::MOST) {
        let mut counts = [W::ZERO; 64];
        for line in lines {
            for lane in 0..64 {
                counts[lane] += line[lane].is_set(these);
            }
        }
        total += spill(counts)
            .iter()
            .map(|&count| count.count())
            .sum::<i64>();
    }
    // Counted in lanes too: there are less than 64.
    let mut count = W::ZERO;
    for &word in rest {
        count += word.is_set(these);
    }
    (total + count.count()) as usize
}

/// An element that is only moved.
pub(crate) trait Unit: Element {
    /// Compresses a vector at a time as long as `out` has room for one; gives how many elements were looked at and how many
    /// kept: none where the level has no such vectors.
    #[cfg(target_arch = "x86_64")]
    fn by_vectors(x: &[Self], flags: &[u8], out: &mut [Self], level: Level) -> (usize, usize);
}

/// Copies the elements of `x` whose flag is not zero to the front of `out`, which has room for them; gives their number.
/// Elements of `out` behind them keep their values or take others of `x`.
pub(crate) fn compact<U: Unit>(x: &[U], flags: &[u8], out: &mut [U], level: Level) -> usize {
    #[cfg(target_arch = "x86_64")]
    let (seen, mut kept) = U::by_vectors(x, flags, out, level);
    #[cfg(not(target_arch = "x86_64"))]
    let (seen, mut kept, _) = (0, 0, level);
    for (x, flags) in x[seen..].chunks(8).zip(flags[seen..].chunks(8)) {
        if *flags == [0; 8] {
            continue;
        }
        // Without branches: every element is written, and stays if its flag moves the end on.
        for (&x, &flag) in x.iter().zip(flags) {
            let Some(place) = out.get_mut(kept) else {
                return kept;
            };
            *place = x;
            kept += usize::from(flag != 0);
        }
    }
    kept
}

/// Elements at most, and bytes of them, between two looks at what has gathered for the destination.
const CHUNK: usize = 1024;
const CHUNK_BYTES: usize = 4096;

/// [`compact`] with the destination's whole lines written past the caches: they gather in L1 until they are full.
pub(crate) fn compact_past<U: Unit>(x: &[U], flags: &[u8], out: &mut [U], level: Level) -> usize {
    // Less than a line may be left over, and a register is stored whole.
    let mut stage = [U::default(); CHUNK + 2 * LINE];
    let per_line = LINE / size_of::<U>();
    let first = out.as_ptr().addr() / size_of::<U>();
    let (mut gathered, mut done) = (0, 0);
    let wakes = stream::wakes();
    let chunk = CHUNK.min(CHUNK_BYTES / size_of::<U>());
    for (x, flags) in x.chunks(chunk).zip(flags.chunks(chunk)) {
        if wakes {
            stream::wake(x.as_ptr().cast(), size_of_val(x));
            stream::wake(flags.as_ptr(), flags.len());
        }
        gathered += compact(x, flags, &mut stage[gathered..], level);
        let over = (first + done + gathered) % per_line;
        let Some(full) = gathered.checked_sub(over) else {
            continue;
        };
        stream::copy_elements(&mut out[done..done + full], &stage[..full], true);
        stage.copy_within(full..gathered, 0);
        (gathered, done) = (over, done + full);
    }
    stream::fence();
    out[done..done + gathered].copy_from_slice(&stage[..gathered]);
    done + gathered
}

#[cfg(target_arch = "x86_64")]
macro_rules! unit {
    ($T:ident, $sixteen:ident, $eight:ident) => {
        impl Unit for $T {
            fn by_vectors(x: &[$T], flags: &[u8], out: &mut [$T], level: Level) -> (usize, usize) {
                assert!(x.len() == flags.len());
                match level.isa() {
                    Isa::Avx512 => {
                        let step = |x: &[$T; 16], mask, out: &mut [$T; 16]| {
                            // SAFETY: the machine has AVX-512 (F, BW, DQ, VL and popcnt are part of the level).
                            unsafe { avx512::$sixteen(x, mask, out) }
                        };
                        // SAFETY: as above.
                        unsafe { avx512::loop_over(x, flags, out, step) }
                    }
                    Isa::Avx2 => {
                        let step = |x: &[$T; 8], mask, out: &mut [$T; 8]| {
                            // SAFETY: the machine has AVX2 (and popcnt, which is part of the level).
                            unsafe { avx2::$eight(x, mask, out) }
                        };
                        // SAFETY: as above.
                        unsafe { avx2::loop_over(x, flags, out, step) }
                    }
                    _ => (0, 0),
                }
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
unit!(u8, sixteen_bytes, eight_bytes);
#[cfg(target_arch = "x86_64")]
unit!(u16, sixteen_words, eight_words);
#[cfg(target_arch = "x86_64")]
unit!(u32, sixteen_doubles, eight_doubles);
#[cfg(target_arch = "x86_64")]
unit!(u64, sixteen_quads, eight_quads);

#[cfg(target_arch = "x86_64")]
mod avx2 {
    //! Eight elements at a time, selected in a register by a table of the places of each mask, and stored whole.

    use std::arch::x86_64::*;

    /// For each mask of eight the places of its bits, from the lowest on, then zeros.
    static PLACES: [[u8; 8]; 256] = {
        let mut places = [[0; 8]; 256];
        let mut mask = 0;
        while mask < 256 {
            let (mut place, mut kept) = (0, 0);
            while place < 8 {
                if mask >> place & 1 == 1 {
                    places[mask][kept] = place as u8;
                    kept += 1;
                }
                place += 1;
            }
            mask += 1;
        }
        places
    };

    /// # Safety
    /// As its features; `step` moves the elements of a mask among eight to the front of eight places.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) unsafe fn loop_over<T>(
        x: &[T],
        flags: &[u8],
        out: &mut [T],
        step: impl Fn(&[T; 8], u8, &mut [T; 8]),
    ) -> (usize, usize) {
        let (mut seen, mut kept) = (0, 0);
        let (x, _) = x.as_chunks::<8>();
        let (flags, _) = flags.as_chunks::<8>();
        for (x, flags) in x.iter().zip(flags) {
            let Some(places) = out[kept..].first_chunk_mut() else {
                break;
            };
            let flags = _mm_cvtsi64_si128(i64::from_le_bytes(*flags));
            let zeros = _mm_movemask_epi8(_mm_cmpeq_epi8(flags, _mm_setzero_si128()));
            let mask = !zeros as u8;
            step(x, mask, places);
            seen += 8;
            kept += mask.count_ones() as usize;
        }
        (seen, kept)
    }

    /// The places of a mask's bits, a byte each.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn places(mask: u8) -> __m128i {
        _mm_cvtsi64_si128(i64::from_le_bytes(PLACES[usize::from(mask)]))
    }

    /// # Safety
    /// As its features.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn eight_bytes(x: &[u8; 8], mask: u8, out: &mut [u8; 8]) {
        let x = _mm_cvtsi64_si128(i64::from_le_bytes(*x));
        *out = _mm_cvtsi128_si64(_mm_shuffle_epi8(x, places(mask))).to_le_bytes();
    }

    /// # Safety
    /// As its features.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn eight_words(x: &[u16; 8], mask: u8, out: &mut [u16; 8]) {
        let places = places(mask);
        let twice = _mm_add_epi8(places, places);
        // The second byte of each lies behind its first.
        let bytes = _mm_add_epi8(_mm_unpacklo_epi8(twice, twice), _mm_set1_epi16(0x100));
        // SAFETY: eight elements.
        let x = unsafe { _mm_loadu_si128(x.as_ptr().cast()) };
        let kept = _mm_shuffle_epi8(x, bytes);
        // SAFETY: eight places.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), kept) };
    }

    /// # Safety
    /// As its features.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn eight_doubles(x: &[u32; 8], mask: u8, out: &mut [u32; 8]) {
        // SAFETY: eight elements.
        let x = unsafe { _mm256_loadu_si256(x.as_ptr().cast()) };
        let kept = _mm256_permutevar8x32_epi32(x, _mm256_cvtepu8_epi32(places(mask)));
        // SAFETY: eight places.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), kept) };
    }

    /// # Safety
    /// As its features.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) unsafe fn eight_quads(x: &[u64; 8], mask: u8, out: &mut [u64; 8]) {
        let [first, second] = [mask & 15, mask >> 4];
        let [low, high] = [(first, 0), (second, 4)].map(|(mask, at)| {
            // SAFETY: the four elements from `at` on.
            let x = unsafe { _mm256_loadu_si256(x[at..].as_ptr().cast()) };
            let twice = _mm256_slli_epi64::<1>(_mm256_cvtepu8_epi64(places(mask)));
            // The second half of each lies behind its first.
            let both = _mm256_or_si256(twice, _mm256_slli_epi64::<32>(twice));
            let halves = _mm256_add_epi64(both, _mm256_set1_epi64x(1 << 32));
            _mm256_permutevar8x32_epi32(x, halves)
        });
        let end = first.count_ones() as usize;
        // SAFETY: the first four places.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), low) };
        // SAFETY: four places behind at most four.
        unsafe { _mm256_storeu_si256(out[end..].as_mut_ptr().cast(), high) };
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    //! Sixteen elements at a time, compressed in a register and stored whole: compressing to memory is slow on some
    //! processors.

    use std::arch::x86_64::*;

    /// # Safety
    /// As its features; `step` moves the elements of a mask among sixteen to the front of sixteen places.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
    pub(super) unsafe fn loop_over<T>(
        x: &[T],
        flags: &[u8],
        out: &mut [T],
        step: impl Fn(&[T; 16], __mmask16, &mut [T; 16]),
    ) -> (usize, usize) {
        let (mut seen, mut kept) = (0, 0);
        let (x, _) = x.as_chunks::<16>();
        let (flags, _) = flags.as_chunks::<16>();
        for (x, flags) in x.iter().zip(flags) {
            let Some(places) = out[kept..].first_chunk_mut() else {
                break;
            };
            // SAFETY: sixteen bytes.
            let flags = unsafe { _mm_loadu_si128(flags.as_ptr().cast()) };
            let mask = _mm_test_epi8_mask(flags, flags);
            step(x, mask, places);
            seen += 16;
            kept += mask.count_ones() as usize;
        }
        (seen, kept)
    }

    /// # Safety
    /// As its features.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    pub(super) unsafe fn sixteen_bytes(x: &[u8; 16], mask: __mmask16, out: &mut [u8; 16]) {
        // SAFETY: sixteen bytes.
        let x = unsafe { _mm_loadu_si128(x.as_ptr().cast()) };
        let kept = _mm512_maskz_compress_epi32(mask, _mm512_cvtepu8_epi32(x));
        let kept = _mm512_cvtepi32_epi8(kept);
        // SAFETY: sixteen places.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), kept) };
    }

    /// # Safety
    /// As its features.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    pub(super) unsafe fn sixteen_words(x: &[u16; 16], mask: __mmask16, out: &mut [u16; 16]) {
        // SAFETY: sixteen elements.
        let x = unsafe { _mm256_loadu_si256(x.as_ptr().cast()) };
        let kept = _mm512_maskz_compress_epi32(mask, _mm512_cvtepu16_epi32(x));
        let kept = _mm512_cvtepi32_epi16(kept);
        // SAFETY: sixteen places.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), kept) };
    }

    /// # Safety
    /// As its features.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn sixteen_doubles(x: &[u32; 16], mask: __mmask16, out: &mut [u32; 16]) {
        // SAFETY: sixteen elements.
        let x = unsafe { _mm512_loadu_si512(x.as_ptr().cast()) };
        let kept = _mm512_maskz_compress_epi32(mask, x);
        // SAFETY: sixteen places.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), kept) };
    }

    /// # Safety
    /// As its features.
    #[inline]
    #[target_feature(enable = "avx512f,popcnt")]
    pub(super) unsafe fn sixteen_quads(x: &[u64; 16], mask: __mmask16, out: &mut [u64; 16]) {
        let [low, high] = [0, 8].map(|at| {
            // SAFETY: the eight elements from `at` on.
            unsafe { _mm512_loadu_si512(x[at..].as_ptr().cast()) }
        });
        let [first, second] = [mask as u8, (mask >> 8) as u8];
        let (low, high) = (
            _mm512_maskz_compress_epi64(first, low),
            _mm512_maskz_compress_epi64(second, high),
        );
        let end = first.count_ones() as usize;
        // SAFETY: the first eight places.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), low) };
        // SAFETY: eight places behind at most eight.
        unsafe { _mm512_storeu_si512(out[end..].as_mut_ptr().cast(), high) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod plain {
    impl super::Unit for u8 {}
    impl super::Unit for u16 {}
    impl super::Unit for u32 {}
    impl super::Unit for u64 {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<U: Unit + PartialEq + std::fmt::Debug>(value: impl Fn(usize) -> U) {
        let level = Level::current();
        for n in [0, 1, 15, 16, 17, 33, 64, 100, 1000, 17000] {
            for period in [1, 2, 3, 7, 64, 100_000] {
                let x: Vec<U> = (0..n).map(&value).collect();
                let flags: Vec<u8> = (0..n)
                    .map(|i| {
                        if i % period == period / 2 {
                            1 + (i % 255) as u8
                        } else {
                            0
                        }
                    })
                    .collect();
                let wanted: Vec<U> = (0..n).filter(|&i| flags[i] != 0).map(&value).collect();
                assert_eq!(count_set(&flags, level), wanted.len(), "{n} {period}");
                let mut out = vec![value(77); wanted.len()];
                assert_eq!(compact(&x, &flags, &mut out, level), wanted.len());
                assert_eq!(out, wanted, "{n} {period}");
                // Lines begin anywhere in the destination, and nothing around it is touched.
                for lead in [0, 1, 5] {
                    let mut out = vec![value(77); lead + wanted.len() + 3];
                    let here = &mut out[lead..lead + wanted.len()];
                    assert_eq!(compact_past(&x, &flags, here, level), wanted.len());
                    assert_eq!(*here, wanted, "past the caches: {n} {period} {lead}");
                    let around = out[..lead].iter().chain(&out[lead + wanted.len()..]);
                    assert!(
                        around.copied().all(|v| v == value(77)),
                        "{n} {period} {lead}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_size_and_density_is_compacted() {
        check(|i| i as u8);
        check(|i| i as u16);
        check(|i| i as u32);
        check(|i| i as u64);
    }
}
