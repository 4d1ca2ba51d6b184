//! Sorting 32- and 64-bit keys with AVX-512: quicksort that partitions with `compress`, networks for what is short.
//!
//! Keys are compressed in registers and stored from there: the form that compresses to memory is slow on some processors. A
//! short run is loaded as rows of a matrix, its columns sorted by a network without branches, the columns merged pairwise
//! (bitonic merges, whose first steps cross lanes and whose last steps do not), and the matrix written out transposed.
//! The scheme is that of Blacher, Giesen and Kühne, "Fast and robust vectorized in-place sorting of primitive types" (2021)
//! and of Google's vqsort. Sorting partitions in place; where both sides keep their order, keys go through scratch memory.
#![expect(
    unsafe_code,
    reason = "loads and stores of vectors take pointers, and code for AVX-512 is called where it was detected"
)]

use std::arch::x86_64::*;

use crate::isa::{Isa, Level};

/// Exchanges rows so that the first is the smaller one, lane by lane.
macro_rules! exchange_rows {
    ($rows:ident, $min:ident, $max:ident: $($a:literal $b:literal),*) => {{$(
        ($rows[$a], $rows[$b]) = ($min($rows[$a], $rows[$b]), $max($rows[$a], $rows[$b]));
    )*}};
}

/// The kernels for one key type.
macro_rules! sorter {
    (
        $module:ident, $key:ty, $signed:ty, $lanes:literal, $mask:ty, zip $low:expr, $high:expr;
        $set1:ident $less:ident $min:ident $max:ident $mask_max:ident $permute:ident $zip:ident $compress:ident
        $mask_load:ident $mask_store:ident
    ) => {
        pub(crate) mod $module {
            use super::*;

            const LANES: usize = $lanes;
            /// Rows of the largest matrix that is sorted in registers.
            const ROWS: usize = 16;
            /// Up to this many keys are sorted by networks.
            const SHORT: usize = ROWS * LANES;

            #[inline]
            #[target_feature(enable = "avx512f")]
            fn load(keys: &[$key], at: usize) -> __m512i {
                let lanes = &keys[at..at + LANES];
                // SAFETY: `lanes` has exactly the 64 bytes that are read; no alignment is needed.
                unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
            }

            #[inline]
            #[target_feature(enable = "avx512f")]
            fn store(keys: &mut [$key], at: usize, vector: __m512i) {
                let lanes = &mut keys[at..at + LANES];
                // SAFETY: `lanes` has exactly the 64 bytes that are written; no alignment is needed.
                unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), vector) }
            }

            /// The lanes of a vector at `at` that are inside `len` keys.
            fn inside(len: usize, at: usize) -> $mask {
                match len.saturating_sub(at) {
                    rest if rest < LANES => (1 << rest) - 1,
                    _ => <$mask>::MAX,
                }
            }

            /// The vector at `at`, with the largest key in the lanes beyond the end.
            #[inline]
            #[target_feature(enable = "avx512f")]
            fn load_inside(keys: &[$key], at: usize) -> __m512i {
                let lanes = &keys[at.min(keys.len())..];
                let filler = $set1(<$key>::MAX as $signed);
                // SAFETY: lanes outside the mask are not read, those inside are keys of `lanes`.
                unsafe { $mask_load(filler, inside(keys.len(), at), lanes.as_ptr().cast()) }
            }

            /// Writes the lanes of the vector at `at` that are inside.
            #[inline]
            #[target_feature(enable = "avx512f")]
            fn store_inside(keys: &mut [$key], at: usize, vector: __m512i) {
                let len = keys.len();
                let lanes = &mut keys[at.min(len)..];
                // SAFETY: lanes outside the mask are not written, those inside are keys of `lanes`.
                unsafe { $mask_store(lanes.as_mut_ptr().cast(), inside(len, at), vector) }
            }

            /// Writes the first `count` lanes.
            #[inline]
            #[target_feature(enable = "avx512f")]
            fn store_first(keys: &mut [$key], at: usize, count: u32, vector: __m512i) {
                let lanes = &mut keys[at..at + count as usize];
                let first = (1u32 << count) - 1;
                // SAFETY: lanes outside the mask are not written, those inside are keys of `lanes`.
                unsafe { $mask_store(lanes.as_mut_ptr().cast(), first as $mask, vector) }
            }

            /// Sorts keys ascending where the process uses AVX-512.
            pub(crate) fn try_sort(keys: &mut [$key]) -> bool {
                let available = Level::current().isa() == Isa::Avx512;
                if available {
                    let levels = 2 * keys.len().max(2).ilog2();
                    // SAFETY: a `Level` names an instruction set that was detected.
                    unsafe { quicksort(keys, levels) }
                }
                available
            }

            /// Moves the keys below `pivot` to the front where the process uses AVX-512; how many there are.
            pub(crate) fn try_partition(
                keys: &mut [$key],
                scratch: &mut [$key],
                pivot: $key,
            ) -> Option<usize> {
                let available = Level::current().isa() == Isa::Avx512;
                // SAFETY: a `Level` names an instruction set that was detected.
                available.then(|| unsafe { partition(keys, scratch, pivot) })
            }

            /// Moves the keys below `pivot` to the front, both sides in their order; how many there are. `scratch` is as
            /// long as `keys`.
            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            fn partition(keys: &mut [$key], scratch: &mut [$key], pivot: $key) -> usize {
                let limit = $set1(pivot as $signed);
                let (mut below, mut above) = (0, 0);
                let whole = keys.len() / LANES * LANES;
                for at in (0..whole).step_by(LANES) {
                    let vector = load(keys, at);
                    let is_below: $mask = $less(vector, limit);
                    // Neither store reaches beyond what has been loaded: `below` and `above` are at most `at`.
                    store(keys, below, $compress(is_below, vector));
                    store(scratch, above, $compress(!is_below, vector));
                    let count = is_below.count_ones() as usize;
                    below += count;
                    above += LANES - count;
                }
                for at in whole..keys.len() {
                    let key = keys[at];
                    keys[below] = key;
                    scratch[above] = key;
                    below += usize::from(key < pivot);
                    above += usize::from(key >= pivot);
                }
                keys[below..].copy_from_slice(&scratch[..above]);
                below
            }

            /// Vectors that are read at a time from one end.
            const TOGETHER: usize = 8;
            const GROUP: usize = TOGETHER * LANES;

            /// Moves the keys below `pivot` to the front, in any order; how many there are. There are at least two groups.
            ///
            /// The outer groups are held in registers, which leaves room for one at either end of what has not been read:
            /// keys are read where there is less room, and written to both ends.
            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            fn partition_in_place(keys: &mut [$key], pivot: $key) -> usize {
                let limit = $set1(pivot as $signed);
                let (mut from, mut to) = (GROUP, keys.len() - GROUP);
                let held = [load_group(keys, 0), load_group(keys, to)];
                let mut ends = (0, keys.len());
                while to - from >= GROUP {
                    let at = if from - ends.0 <= ends.1 - to {
                        from += GROUP;
                        from - GROUP
                    } else {
                        to -= GROUP;
                        to
                    };
                    // There is room for a group at either end.
                    for vector in load_group(keys, at) {
                        ends = part::<true>(keys, vector, limit, <$mask>::MAX, ends);
                    }
                }
                let mut rest = [limit; TOGETHER];
                for (index, vector) in rest.iter_mut().enumerate() {
                    *vector = load_inside(&keys[from..to], index * LANES);
                }
                for vector in held.into_iter().flatten() {
                    ends = part::<false>(keys, vector, limit, <$mask>::MAX, ends);
                }
                for (index, vector) in rest.into_iter().enumerate() {
                    let lanes = inside(to - from, index * LANES);
                    ends = part::<false>(keys, vector, limit, lanes, ends);
                }
                ends.0
            }

            #[inline]
            #[target_feature(enable = "avx512f")]
            fn load_group(keys: &[$key], at: usize) -> [__m512i; TOGETHER] {
                let mut group = [_mm512_setzero_si512(); TOGETHER];
                for (index, vector) in group.iter_mut().enumerate() {
                    *vector = load(keys, at + index * LANES);
                }
                group
            }

            /// Writes the chosen lanes below `limit` to the lower end, the others to the upper one; the ends after it.
            /// Where there is `ROOM`, what stands behind the lower end may be overwritten.
            #[inline]
            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            fn part<const ROOM: bool>(
                keys: &mut [$key],
                vector: __m512i,
                limit: __m512i,
                lanes: $mask,
                (low, high): (usize, usize),
            ) -> (usize, usize) {
                let below: $mask = $less(vector, limit) & lanes;
                let above = !below & lanes;
                let fewer = below.count_ones();
                let more = if ROOM { LANES as u32 - fewer } else { above.count_ones() };
                let high = high - more as usize;
                if ROOM {
                    store(keys, low, $compress(below, vector));
                } else {
                    store_first(keys, low, fewer, $compress(below, vector));
                }
                store_first(keys, high, more, $compress(above, vector));
                (low + fewer as usize, high)
            }

            #[target_feature(enable = "avx512f,bmi2,popcnt")]
            fn quicksort(mut keys: &mut [$key], mut levels: u32) {
                while keys.len() > SHORT {
                    if levels == 0 {
                        return keys.sort_unstable();
                    }
                    levels -= 1;
                    let (pivot, is_level) = sampled_median(keys);
                    if is_level && are_all(keys, pivot) {
                        return;
                    }
                    let mut middle = partition_in_place(keys, pivot);
                    if middle == 0 {
                        // The pivot is the smallest key: all that equal it are in place once they are in front.
                        if pivot == <$key>::MAX {
                            return;
                        }
                        middle = partition_in_place(keys, pivot + 1);
                    } else {
                        quicksort(&mut keys[..middle], levels);
                    }
                    keys = &mut keys[middle..];
                }
                sort_short(keys);
            }

            /// Whether all keys are the same one; looks no further than the first chunk that is not.
            #[target_feature(enable = "avx512f")]
            fn are_all(keys: &[$key], key: $key) -> bool {
                let differ = |chunk: &[$key]| chunk.iter().fold(0, |bits, other| bits | (other ^ key)) != 0;
                !keys.chunks(SHORT).any(differ)
            }

            /// The median of keys at even distances, and whether all of those are the same.
            #[target_feature(enable = "avx512f")]
            fn sampled_median(keys: &[$key]) -> ($key, bool) {
                let mut sample = [0; 4 * LANES];
                let count = if keys.len() < 8 * SHORT { LANES } else { 4 * LANES };
                let step = keys.len() / count;
                for (index, place) in sample[..count].iter_mut().enumerate() {
                    *place = keys[index * step + step / 2];
                }
                sort_short(&mut sample[..count]);
                (sample[count / 2], sample[0] == sample[count - 1])
            }

            #[target_feature(enable = "avx512f")]
            fn sort_short(keys: &mut [$key]) {
                match keys.len().div_ceil(LANES) {
                    0..=1 => sort_matrix::<1>(keys),
                    2 => sort_matrix::<2>(keys),
                    3..=4 => sort_matrix::<4>(keys),
                    5..=8 => sort_matrix::<8>(keys),
                    _ => sort_matrix::<16>(keys),
                }
            }

            /// Sorts up to `R` rows of keys.
            #[target_feature(enable = "avx512f")]
            fn sort_matrix<const R: usize>(keys: &mut [$key]) {
                let mut rows = [_mm512_setzero_si512(); R];
                for (index, row) in rows.iter_mut().enumerate() {
                    *row = load_inside(keys, index * LANES);
                }
                rows = sort_columns(rows);
                rows = merge::<R, 1>(rows);
                rows = merge::<R, 2>(rows);
                rows = merge::<R, 4>(rows);
                if LANES > 8 {
                    rows = merge::<R, 8>(rows);
                }
                let mut rest = R;
                while rest > 1 {
                    rows = interleave(rows);
                    rest /= 2;
                }
                for (index, row) in rows.into_iter().enumerate() {
                    store_inside(keys, index * LANES, row);
                }
            }

            /// Sorts every column: networks of the fewest known comparisons (Knuth, volume 3; Green, 1969).
            #[inline]
            #[target_feature(enable = "avx512f")]
            fn sort_columns<const R: usize>(mut rows: [__m512i; R]) -> [__m512i; R] {
                match R {
                    2 => exchange_rows!(rows, $min, $max: 0 1),
                    4 => exchange_rows!(rows, $min, $max: 0 2, 1 3, 0 1, 2 3, 1 2),
                    8 => exchange_rows!(rows, $min, $max:
                        0 2, 1 3, 4 6, 5 7, 0 4, 1 5, 2 6, 3 7, 0 1, 2 3, 4 5, 6 7, 2 4, 3 5, 1 4, 3 6, 1 2, 3 4, 5 6),
                    16 => exchange_rows!(rows, $min, $max:
                        0 13, 1 12, 2 15, 3 14, 4 8, 5 6, 7 11, 9 10, 0 5, 1 7, 2 9, 3 4, 6 13, 8 14, 10 15, 11 12,
                        0 1, 2 3, 4 5, 6 8, 7 9, 10 11, 12 13, 14 15, 0 2, 1 3, 4 10, 5 11, 6 7, 8 9, 12 14, 13 15,
                        1 2, 3 12, 4 6, 5 7, 8 10, 9 11, 13 14, 1 4, 2 6, 5 8, 7 10, 9 13, 11 14, 2 4, 3 6, 9 12, 11 13,
                        3 5, 6 8, 7 9, 10 12, 3 4, 5 6, 7 8, 9 10, 11 12, 6 7, 8 9),
                    _ => {}
                }
                rows
            }

            /// Merges each `G` sorted columns with the next `G`, which are read column after column.
            #[inline]
            #[target_feature(enable = "avx512f")]
            fn merge<const R: usize, const G: usize>(rows: [__m512i; R]) -> [__m512i; R] {
                let mut rows = mirror::<R, G>(rows);
                if G >= 8 {
                    rows = cross::<R, 4>(rows);
                }
                if G >= 4 {
                    rows = cross::<R, 2>(rows);
                }
                if G >= 2 {
                    rows = cross::<R, 1>(rows);
                }
                if R >= 16 {
                    rows = halve::<R, 8>(rows);
                }
                if R >= 8 {
                    rows = halve::<R, 4>(rows);
                }
                if R >= 4 {
                    rows = halve::<R, 2>(rows);
                }
                if R >= 2 {
                    rows = halve::<R, 1>(rows);
                }
                rows
            }

            /// The lanes whose number has the bit `BIT`.
            const fn lanes_with(bit: usize) -> $mask {
                let (mut mask, mut lane) = (0, 0);
                while lane < LANES {
                    if lane & bit != 0 {
                        mask |= 1 << lane;
                    }
                    lane += 1;
                }
                mask
            }

            /// The lane numbers with the bits of `FLIP` inverted.
            const fn flipped(flip: usize) -> [$key; LANES] {
                let (mut lanes, mut lane) = ([0; LANES], 0);
                while lane < LANES {
                    lanes[lane] = (lane ^ flip) as $key;
                    lane += 1;
                }
                lanes
            }

            /// Two sorted groups of columns, the second read backwards, become two bitonic ones, all of the first below all
            /// of the second.
            #[inline]
            #[target_feature(enable = "avx512f")]
            fn mirror<const R: usize, const G: usize>(rows: [__m512i; R]) -> [__m512i; R] {
                let lanes = load(&const { flipped(2 * G - 1) }, 0);
                let upper = const { lanes_with(G) };
                let mut merged = rows;
                for (row, merged) in merged.iter_mut().enumerate() {
                    let other = $permute(lanes, rows[R - 1 - row]);
                    *merged = $mask_max($min(rows[row], other), upper, rows[row], other);
                }
                merged
            }

            /// Compares each lane with the one `D` further on.
            #[inline]
            #[target_feature(enable = "avx512f")]
            fn cross<const R: usize, const D: usize>(mut rows: [__m512i; R]) -> [__m512i; R] {
                let lanes = load(&const { flipped(D) }, 0);
                let upper = const { lanes_with(D) };
                for row in &mut rows {
                    let other = $permute(lanes, *row);
                    *row = $mask_max($min(*row, other), upper, *row, other);
                }
                rows
            }

            /// Compares each row with the one `D` further on.
            #[inline]
            #[target_feature(enable = "avx512f")]
            fn halve<const R: usize, const D: usize>(mut rows: [__m512i; R]) -> [__m512i; R] {
                for first in 0..R {
                    if first & D == 0 {
                        let (a, b) = (rows[first], rows[first + D]);
                        (rows[first], rows[first + D]) = ($min(a, b), $max(a, b));
                    }
                }
                rows
            }

            /// Takes turns between the lanes of the first and of the second half of the rows.
            #[inline]
            #[target_feature(enable = "avx512f")]
            fn interleave<const R: usize>(rows: [__m512i; R]) -> [__m512i; R] {
                let (low, high) = (load(&$low, 0), load(&$high, 0));
                let mut mixed = rows;
                for pair in 0..R / 2 {
                    let (a, b) = (rows[pair], rows[pair + R / 2]);
                    mixed[2 * pair] = $zip(a, low, b);
                    mixed[2 * pair + 1] = $zip(a, high, b);
                }
                mixed
            }
        }
    };
}

sorter!(
    narrow, u32, i32, 16, u16,
    zip [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23],
    [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31];
    _mm512_set1_epi32 _mm512_cmplt_epu32_mask _mm512_min_epu32 _mm512_max_epu32 _mm512_mask_max_epu32
    _mm512_permutexvar_epi32 _mm512_permutex2var_epi32 _mm512_maskz_compress_epi32
    _mm512_mask_loadu_epi32 _mm512_mask_storeu_epi32
);
sorter!(
    wide, u64, i64, 8, u8,
    zip [0, 8, 1, 9, 2, 10, 3, 11],
    [4, 12, 5, 13, 6, 14, 7, 15];
    _mm512_set1_epi64 _mm512_cmplt_epu64_mask _mm512_min_epu64 _mm512_max_epu64 _mm512_mask_max_epu64
    _mm512_permutexvar_epi64 _mm512_permutex2var_epi64 _mm512_maskz_compress_epi64
    _mm512_mask_loadu_epi64 _mm512_mask_storeu_epi64
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of which so many are different, from a fixed mixer.
    fn keys(len: usize, distinct: u64) -> Vec<u64> {
        (0..len as u64)
            .map(|i| ((i ^ 0x9e37).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7) % distinct)
            .collect()
    }

    #[test]
    fn keys_of_every_number_are_sorted() {
        let mut failures = Vec::new();
        // On both sides of what networks take, and of what a partition reads together.
        let around = [128, 256, 384, 512, 4096].map(|len| [len - 1, len, len + 1, len + 70]);
        for len in (0..40).chain(around.into_iter().flatten()) {
            for distinct in [1, 2, 3, 60, u64::from(u32::MAX)] {
                let wide = keys(len, distinct);
                let narrow: Vec<u32> = wide.iter().map(|&key| key as u32).collect();
                let (mut sorted, mut sorted_narrow) = (wide.clone(), narrow.clone());
                if !wide::try_sort(&mut sorted) || !narrow::try_sort(&mut sorted_narrow) {
                    return;
                }
                let (mut expected, mut expected_narrow) = (wide, narrow);
                expected.sort();
                expected_narrow.sort();
                if sorted != expected || sorted_narrow != expected_narrow {
                    failures.push((len, distinct));
                }
            }
        }
        assert!(failures.is_empty(), "{failures:?}");
    }
}
