//! Sorting keys of 16, 32 and 64 bits and floats with AVX-512: partitions with `compress` or a table of permutations for the
//! quicksort of `sort_quick.rs`, and the networks of `sort_network.rs` for what is short.
//!
//! Keys are compressed in registers and stored from there: the form that compresses to memory is slow on some processors.
//! Sorting partitions in place; where both sides keep their order, keys go through scratch memory. Floats come as their bits
//! and without NaN; of those, processors compare two vectors at a time where they compare one of 32-bit integers or half a
//! one of 64-bit integers.
#![expect(
    unsafe_code,
    reason = "loads and stores of vectors take pointers, and code for AVX-512 is called where it was detected"
)]

use std::arch::x86_64::*;

use crate::isa::{Isa, Level};
use crate::sort_float::sort_by_keys;
use crate::sort_network::{exchange_rows, networks};
use crate::sort_quick::quicksort;
use crate::stream::{prefetch, takes_integers_fast};

/// For every mask of eight lanes the numbers of those in it, then of the others: four bits each.
static FRONT: [i64; 256] = {
    let (mut table, mut mask) = ([0; 256], 0);
    while mask < 256 {
        let (mut step, mut place) = (0, 0);
        while step < 16 {
            let lane = step % 8;
            if (mask >> lane & 1 == 1) == (step < 8) {
                table[mask] |= (lane as i64) << (4 * place);
                place += 1;
            }
            step += 1;
        }
        mask += 1;
    }
    table
};

/// Whether the process uses AVX-512.
fn is_available() -> bool {
    Level::current().isa() == Isa::Avx512
}

/// Whether keys of 16 bits can be compressed as well: that came after the rest of AVX-512.
fn compresses_tiny() -> bool {
    is_available() && is_x86_feature_detected!("avx512vbmi2")
}

/// What sorts one type of key.
macro_rules! partitions {
    (
        [$features:literal $is_available:expr] [$key:ty, $vector:ty, $mask:ty, $lanes:literal, $largest:expr]
        [$load:ident $store:ident $mask_load:ident $mask_store:ident]
        [$set1:expr, $less:expr, $after:expr, $sort_slowly:expr] $order:tt
        [$permute:ident $zip:ident $compress:ident $index:expr] $flips:tt
    ) => {
        #[inline]
        #[target_feature(enable = $features)]
        fn load(keys: &[$key], at: usize) -> $vector {
            let lanes = &keys[at..at + LANES];
            // SAFETY: `lanes` has exactly the 64 bytes that are read; no alignment is needed.
            unsafe { $load(lanes.as_ptr().cast()) }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn store(keys: &mut [$key], at: usize, vector: $vector) {
            let lanes = &mut keys[at..at + LANES];
            // SAFETY: `lanes` has exactly the 64 bytes that are written; no alignment is needed.
            unsafe { $store(lanes.as_mut_ptr().cast(), vector) }
        }

        /// Lane numbers, for the instructions that take them.
        #[inline]
        #[target_feature(enable = $features)]
        fn indices(lanes: &[$key]) -> __m512i {
            ($index)(load(lanes, 0))
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
        #[target_feature(enable = $features)]
        fn load_inside(keys: &[$key], at: usize) -> $vector {
            let lanes = &keys[at.min(keys.len())..];
            let filler = ($set1)($largest);
            // SAFETY: lanes outside the mask are not read, those inside are keys of `lanes`.
            unsafe { $mask_load(filler, inside(keys.len(), at), lanes.as_ptr().cast()) }
        }

        /// Writes the lanes of the vector at `at` that are inside.
        #[inline]
        #[target_feature(enable = $features)]
        fn store_inside(keys: &mut [$key], at: usize, vector: $vector) {
            let len = keys.len();
            let lanes = &mut keys[at.min(len)..];
            // SAFETY: lanes outside the mask are not written, those inside are keys of `lanes`.
            unsafe { $mask_store(lanes.as_mut_ptr().cast(), inside(len, at), vector) }
        }

        /// Writes the first `count` lanes.
        #[inline]
        #[target_feature(enable = $features)]
        fn store_first(keys: &mut [$key], at: usize, count: u32, vector: $vector) {
            let lanes = &mut keys[at..at + count as usize];
            let first = (1u64 << count) - 1;
            // SAFETY: lanes outside the mask are not written, those inside are keys of `lanes`.
            unsafe { $mask_store(lanes.as_mut_ptr().cast(), first as $mask, vector) }
        }

        /// Sorts keys ascending, NaN not among them, where the process uses AVX-512.
        pub(crate) fn try_sort(keys: &mut [$key], scratch: &mut [$key]) -> bool {
            let available = can_partition();
            if available {
                // SAFETY: the instructions have been detected (`can_partition`).
                unsafe { sort(keys, scratch) }
            }
            available
        }

        /// Whether the instructions of these functions have been detected, and the process uses them.
        pub(crate) fn can_partition() -> bool {
            ($is_available)()
        }

        /// Moves the keys below `pivot` to the front where the process uses AVX-512; how many there are.
        pub(crate) fn try_partition(
            keys: &mut [$key],
            scratch: &mut [$key],
            pivot: $key,
        ) -> Option<usize> {
            // SAFETY: the instructions have been detected (`can_partition`).
            can_partition().then(|| unsafe { partition(keys, scratch, pivot) })
        }

        /// Moves the keys below `pivot` to the front, both sides in their order; how many there are. `scratch` is as
        /// long as `keys`.
        #[target_feature(enable = $features)]
        fn partition(keys: &mut [$key], scratch: &mut [$key], pivot: $key) -> usize {
            let limit = ($set1)(pivot);
            let (mut below, mut above) = (0, 0);
            let whole = keys.len() / LANES * LANES;
            for at in (0..whole).step_by(LANES) {
                let vector = load(keys, at);
                let is_below: $mask = ($less)(vector, limit);
                // Neither store reaches beyond what has been loaded: `below` and `above` are at most `at`.
                store(keys, below, in_front(vector, is_below));
                store(scratch, above, in_front(vector, !is_below));
                let count = is_below.count_ones() as usize;
                below += count;
                above += LANES - count;
            }
            let last = load_inside(keys, whole);
            let lanes = inside(keys.len(), whole);
            let is_below: $mask = ($less)(last, limit) & lanes;
            let is_above = !is_below & lanes;
            let (fewer, more) = (is_below.count_ones(), is_above.count_ones());
            store_first(keys, below, fewer, $compress(is_below, last));
            store_first(scratch, above, more, $compress(is_above, last));
            below += fewer as usize;
            let above = keys.len() - below;
            keys[below..].copy_from_slice(&scratch[..above]);
            below
        }

        /// The chosen lanes in front; where lanes are eight, the others behind them.
        #[inline]
        #[target_feature(enable = $features)]
        fn in_front(vector: $vector, chosen: $mask) -> $vector {
            if LANES == 8 {
                // A permutation takes half of what compressing takes of the one port for both.
                let lanes = _mm512_set1_epi64(FRONT[chosen as usize & 255]);
                let shifts = _mm512_setr_epi64(0, 4, 8, 12, 16, 20, 24, 28);
                return $permute(_mm512_srlv_epi64(lanes, shifts), vector);
            }
            $compress(chosen, vector)
        }

        /// The lanes of `below` at the lower end, and the others at the upper end, of what may be the same vector.
        #[inline]
        #[target_feature(enable = $features)]
        fn parted(vector: $vector, below: $mask) -> [$vector; 2] {
            let front = in_front(vector, below);
            if LANES == 8 {
                return [front; 2];
            }
            let turned = indices(&const { turned() }[LANES - below.count_ones() as usize..]);
            [front, $permute(turned, $compress(!below, vector))]
        }

        /// The lane numbers, twice.
        const fn turned() -> [$key; 2 * LANES] {
            let (mut lanes, mut lane) = ([0; 2 * LANES], 0);
            while lane < 2 * LANES {
                lanes[lane] = (lane % LANES) as $key;
                lane += 1;
            }
            lanes
        }

        /// Writes the lanes below `limit` to the lower end, the others to the upper one; the ends after it. What lies
        /// between the ends may be overwritten: two vectors, one at either end.
        #[inline]
        #[target_feature(enable = $features)]
        fn part(
            keys: &mut [$key],
            vector: $vector,
            limit: $vector,
            (low, high): (usize, usize),
        ) -> (usize, usize) {
            let below: $mask = ($less)(vector, limit);
            let [front, back] = parted(vector, below);
            let room = &mut keys[low..high];
            store(room, 0, front);
            store(room, room.len() - LANES, back);
            let fewer = below.count_ones() as usize;
            (low + fewer, high - (LANES - fewer))
        }

        /// As [`part`] with the chosen lanes, which may be all there is room for.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn part_exactly(
            keys: &mut [$key],
            (vector, lanes): ($vector, $mask),
            limit: $vector,
            (low, high): (usize, usize),
        ) -> (usize, usize) {
            let below: $mask = ($less)(vector, limit) & lanes;
            let above = !below & lanes;
            let (fewer, more) = (below.count_ones(), above.count_ones());
            let high = high - more as usize;
            store_first(keys, low, fewer, $compress(below, vector));
            store_first(keys, high, more, $compress(above, vector));
            (low + fewer as usize, high)
        }

        /// Up to this many keys are partitioned by way of scratch memory, which has no ends to compare.
        const ASIDE: usize = 8192 / size_of::<$key>();

        /// Moves the keys below `pivot` to the front, in any order; how many there are.
        #[target_feature(enable = $features)]
        fn partition_aside(keys: &mut [$key], scratch: &mut [$key], pivot: $key) -> usize {
            let limit = ($set1)(pivot);
            let (mut below, mut above) = (0, scratch.len());
            let whole = keys.len() / LANES * LANES;
            for at in (0..whole).step_by(LANES) {
                let vector = load(keys, at);
                let is_below: $mask = ($less)(vector, limit);
                let [front, back] = parted(vector, is_below);
                // It reaches no further than what has been loaded: `below` is at most `at`.
                store(keys, below, front);
                store(scratch, above - LANES, back);
                let count = is_below.count_ones() as usize;
                below += count;
                above -= LANES - count;
            }
            let last = load_inside(keys, whole);
            let lanes = inside(keys.len(), whole);
            let ends = part_exactly(keys, (last, lanes), limit, (below, keys.len()));
            keys[ends.0..ends.1].copy_from_slice(&scratch[above..]);
            ends.0
        }

        /// Vectors that are read at a time from one end.
        const TOGETHER: usize = 8;
        const GROUP: usize = TOGETHER * LANES;
        /// How many groups ahead of its use memory is asked for.
        const AHEAD: usize = 6;

        /// As [`partition_aside`], of at least three groups.
        ///
        /// The outer groups are held in registers, which leaves room for one at either end of what has not been read:
        /// keys are read where there is less room, and written to both ends. A group is written when the next one has
        /// been read: which that is then depends on no comparison under way.
        #[target_feature(enable = $features)]
        fn partition_in_place(keys: &mut [$key], pivot: $key) -> usize {
            let limit = ($set1)(pivot);
            let (mut from, mut to) = (2 * GROUP, keys.len() - GROUP);
            let held = [load_group(keys, 0), load_group(keys, to)];
            let mut now = load_group(keys, GROUP);
            let mut ends = (0, keys.len());
            while to - from >= GROUP {
                let (at, ahead) = if from - ends.0 <= ends.1 - to {
                    from += GROUP;
                    (from - GROUP, from + (AHEAD - 1) * GROUP)
                } else {
                    to -= GROUP;
                    (to, to.wrapping_sub(AHEAD * GROUP))
                };
                ask_for_group(keys, ahead);
                let next = load_group(keys, at);
                // There is room for a group at either end.
                for vector in now {
                    ends = part(keys, vector, limit, ends);
                }
                now = next;
            }
            let mut rest = [limit; TOGETHER];
            for (index, vector) in rest.iter_mut().enumerate() {
                *vector = load_inside(&keys[from..to], index * LANES);
            }
            let whole = (to - from) / LANES;
            let lanes = inside(to - from, whole * LANES);
            let [first, second] = held;
            for vector in rest[..whole]
                .iter()
                .chain(&now)
                .chain(&second)
                .chain(&first[1..])
            {
                ends = part(keys, *vector, limit, ends);
            }
            ends = part_exactly(keys, (first[0], <$mask>::MAX), limit, ends);
            part_exactly(keys, (rest[whole], lanes), limit, ends).0
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn load_group(keys: &[$key], at: usize) -> [$vector; TOGETHER] {
            let keys = &keys[at..at + GROUP];
            let mut group = [($set1)(0); TOGETHER];
            for (index, vector) in group.iter_mut().enumerate() {
                *vector = load(keys, index * LANES);
            }
            group
        }

        #[inline]
        fn ask_for_group(keys: &[$key], at: usize) {
            for index in 0..TOGETHER {
                prefetch(
                    keys.as_ptr()
                        .wrapping_add(at.wrapping_add(index * LANES))
                        .cast(),
                );
            }
        }
    };
}

macro_rules! sorter {
    ($module:ident: $($group:tt)*) => {
        pub(crate) mod $module {
            use super::*;

            networks! { $($group)* }
            partitions! { $($group)* }
            quicksort! { $($group)* }
        }
    };
}

sorter!(
    tiny:
    ["avx512f,avx512bw,avx512vbmi2,bmi2,popcnt" compresses_tiny] [u16, __m512i, u32, 32, u16::MAX]
    [_mm512_loadu_si512 _mm512_storeu_si512 _mm512_mask_loadu_epi16 _mm512_mask_storeu_epi16]
    [|key: u16| _mm512_set1_epi16(key as i16), _mm512_cmplt_epu16_mask, |key| key + 1, <[u16]>::sort_unstable]
    [_mm512_min_epu16 _mm512_max_epu16 _mm512_mask_max_epu16]
    [_mm512_permutexvar_epi16 _mm512_permutex2var_epi16 _mm512_maskz_compress_epi16 std::convert::identity]
    [_mm512_rol_epi32::<16>, _mm512_shuffle_epi32::<0xB1>, |v| _mm512_shuffle_epi32::<0xB1>(_mm512_rol_epi32::<16>(v))]
);
sorter!(
    narrow:
    ["avx512f,bmi2,popcnt" is_available] [u32, __m512i, u16, 16, u32::MAX]
    [_mm512_loadu_si512 _mm512_storeu_si512 _mm512_mask_loadu_epi32 _mm512_mask_storeu_epi32]
    [|key: u32| _mm512_set1_epi32(key as i32), _mm512_cmplt_epu32_mask, |key| key + 1, <[u32]>::sort_unstable]
    [_mm512_min_epu32 _mm512_max_epu32 _mm512_mask_max_epu32]
    [_mm512_permutexvar_epi32 _mm512_permutex2var_epi32 _mm512_maskz_compress_epi32 std::convert::identity]
    [_mm512_shuffle_epi32::<0xB1>, _mm512_shuffle_epi32::<0x4E>, _mm512_shuffle_epi32::<0x1B>]
);
sorter!(
    wide:
    ["avx512f,bmi2,popcnt" is_available] [u64, __m512i, u8, 8, u64::MAX]
    [_mm512_loadu_si512 _mm512_storeu_si512 _mm512_mask_loadu_epi64 _mm512_mask_storeu_epi64]
    [|key: u64| _mm512_set1_epi64(key as i64), _mm512_cmplt_epu64_mask, |key| key + 1, <[u64]>::sort_unstable]
    [_mm512_min_epu64 _mm512_max_epu64 _mm512_mask_max_epu64]
    [_mm512_permutexvar_epi64 _mm512_permutex2var_epi64 _mm512_maskz_compress_epi64 std::convert::identity]
    [_mm512_shuffle_epi32::<0x4E>, _mm512_permutex_epi64::<0x4E>, _mm512_permutex_epi64::<0x1B>]
);
sorter!(
    narrow_floats:
    ["avx512f,bmi2,popcnt" is_available] [u32, __m512, u16, 16, f32::INFINITY.to_bits()]
    [_mm512_loadu_ps _mm512_storeu_ps _mm512_mask_loadu_ps _mm512_mask_storeu_ps]
    [
        |key: u32| _mm512_set1_ps(f32::from_bits(key)), _mm512_cmp_ps_mask::<_CMP_LT_OQ>,
        |key| f32::from_bits(key).next_up().to_bits(), sort_by_keys
    ]
    [_mm512_min_ps _mm512_max_ps _mm512_mask_max_ps]
    [_mm512_permutexvar_ps _mm512_permutex2var_ps _mm512_maskz_compress_ps _mm512_castps_si512]
    [_mm512_permute_ps::<0xB1>, _mm512_permute_ps::<0x4E>, _mm512_permute_ps::<0x1B>]
);
sorter!(
    wide_floats:
    ["avx512f,bmi2,popcnt" is_available] [u64, __m512d, u8, 8, f64::INFINITY.to_bits()]
    [_mm512_loadu_pd _mm512_storeu_pd _mm512_mask_loadu_pd _mm512_mask_storeu_pd]
    [
        |key: u64| _mm512_set1_pd(f64::from_bits(key)), _mm512_cmp_pd_mask::<_CMP_LT_OQ>,
        |key| f64::from_bits(key).next_up().to_bits(), sort_by_keys
    ]
    [_mm512_min_pd _mm512_max_pd _mm512_mask_max_pd]
    [_mm512_permutexvar_pd _mm512_permutex2var_pd _mm512_maskz_compress_pd _mm512_castpd_si512]
    [_mm512_permute_pd::<0x55>, _mm512_permutex_pd::<0x4E>, _mm512_permutex_pd::<0x1B>]
);

/// Bytes, few enough, are sorted as keys of 16 bits.
pub(crate) mod bytes {
    pub(crate) fn try_sort(keys: &mut [u8], _scratch: &mut [u8]) -> bool {
        const MOST: usize = 512;
        if keys.len() > MOST || !super::compresses_tiny() {
            return false;
        }
        let mut room = [0; MOST];
        let wide = &mut room[..keys.len()];
        for (wide, key) in wide.iter_mut().zip(&*keys) {
            *wide = u16::from(*key);
        }
        super::tiny::try_sort(wide, &mut []);
        for (key, wide) in keys.iter_mut().zip(wide) {
            *key = *wide as u8;
        }
        true
    }

    pub(crate) fn can_partition() -> bool {
        false
    }

    pub(crate) fn try_partition(_: &mut [u8], _: &mut [u8], _: u8) -> Option<usize> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of which so many are different, from a fixed mixer.
    fn keys(len: usize, distinct: u64) -> Vec<u64> {
        (0..len as u64)
            .map(|i| ((i ^ 0x9e37).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7) % distinct)
            .collect()
    }

    /// Whether keys come out in order where they are sorted at all.
    fn sorts<K: Ord + Clone>(keys: Vec<K>, sort: fn(&mut [K], &mut [K]) -> bool) -> bool {
        let (mut sorted, mut expected) = (keys.clone(), keys);
        expected.sort();
        !sort(&mut sorted, &mut []) || sorted == expected
    }

    #[test]
    fn keys_of_every_number_are_sorted() {
        let mut failures = Vec::new();
        // On both sides of what networks take, and of what a partition reads together.
        let around =
            [128, 256, 384, 512, 1024, 4096, 12_288].map(|len| [len - 1, len, len + 1, len + 70]);
        for len in (0..40).chain(around.into_iter().flatten()) {
            for distinct in [1, 2, 3, 60, u64::from(u32::MAX)] {
                let wide = keys(len, distinct);
                let narrow: Vec<u32> = wide.iter().map(|&key| key as u32).collect();
                let tiny: Vec<u16> = wide.iter().map(|&key| key as u16).collect();
                let few: Vec<u8> = wide.iter().map(|&key| key as u8).collect();
                let are_sorted = sorts(wide, wide::try_sort)
                    && sorts(narrow, narrow::try_sort)
                    && sorts(tiny, tiny::try_sort)
                    && sorts(few, bytes::try_sort);
                if !are_sorted {
                    failures.push((len, distinct));
                }
            }
        }
        assert!(failures.is_empty(), "{failures:?}");
    }
}
