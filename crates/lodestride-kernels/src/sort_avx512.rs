//! Sorting keys of 16, 32 and 64 bits and floats with AVX-512: what the partitions of `sort_partition.rs`, the quicksort of
//! `sort_quick.rs` and the networks of `sort_network.rs` are made of.
//!
//! Keys are compressed in registers, by `compress` or a table of permutations, and stored from there: the form that compresses
//! to memory is slow on some processors. Floats come as their bits and without NaN; of those, processors compare two vectors at
//! a time where they compare one of 32-bit integers or half a one of 64-bit integers.
#![expect(
    unsafe_code,
    reason = "loads and stores of vectors take pointers, and code for AVX-512 is called where it was detected"
)]

use std::arch::x86_64::*;

use crate::isa::{Isa, Level};
use crate::sort_float::sort_by_keys;
use crate::sort_network::{exchange_rows, networks};
use crate::sort_partition::{FRONT, partitions};
use crate::sort_quick::quicksort;
use crate::stream::{prefetch, takes_integers_fast};

/// Whether the process uses AVX-512.
fn is_available() -> bool {
    Level::current().isa() == Isa::Avx512
}

/// Whether keys of 16 bits can be compressed as well: that came after the rest of AVX-512.
fn compresses_tiny() -> bool {
    is_available() && is_x86_feature_detected!("avx512vbmi2")
}

/// What the sorting of one type of key is made of.
macro_rules! lanes {
    (
        $features:literal [$is_available:expr] [$key:ty, $vector:ty, $mask:ty, $lanes:literal, $largest:expr]
        [$load:ident $store:ident $mask_load:ident $mask_store:ident]
        [$set1:expr, $less:expr, $after:expr, $sort_slowly:expr]
        [$min:ident $max:ident $mask_max:ident]
        [$permute:ident $zip:ident $compress:ident $index:expr] [$flip1:expr, $flip2:expr, $flip3:expr]
    ) => {
        type Key = $key;
        type Vector = $vector;
        type Mask = $mask;
        /// The lanes that take the larger of two keys.
        type Upper = $mask;
        const LANES: usize = $lanes;
        const LARGEST: Key = $largest;
        /// Rows of the largest matrix that is sorted in registers.
        const ROWS: usize = 16;
        /// Vectors of keys that stand for a few hundred.
        const FEW: usize = 1;
        /// Vectors that are read at a time from one end.
        const TOGETHER: usize = 8;

        #[inline]
        #[target_feature(enable = $features)]
        fn load(keys: &[Key], at: usize) -> Vector {
            let lanes = &keys[at..at + LANES];
            // SAFETY: `lanes` has exactly the 64 bytes that are read; no alignment is needed.
            unsafe { $load(lanes.as_ptr().cast()) }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn store(keys: &mut [Key], at: usize, vector: Vector) {
            let lanes = &mut keys[at..at + LANES];
            // SAFETY: `lanes` has exactly the 64 bytes that are written; no alignment is needed.
            unsafe { $store(lanes.as_mut_ptr().cast(), vector) }
        }

        /// Lane numbers, for the instructions that take them.
        #[inline]
        #[target_feature(enable = $features)]
        fn indices(lanes: &[Key]) -> __m512i {
            ($index)(load(lanes, 0))
        }

        /// The lanes of a vector at `at` that are inside `len` keys.
        fn inside(len: usize, at: usize) -> Mask {
            match len.saturating_sub(at) {
                rest if rest < LANES => (1 << rest) - 1,
                _ => Mask::MAX,
            }
        }

        /// The vector at `at`, with the largest key in the lanes beyond the end.
        #[inline]
        #[target_feature(enable = $features)]
        fn load_inside(keys: &[Key], at: usize) -> Vector {
            let lanes = &keys[at.min(keys.len())..];
            let filler = ($set1)(LARGEST);
            // SAFETY: lanes outside the mask are not read, those inside are keys of `lanes`.
            unsafe { $mask_load(filler, inside(keys.len(), at), lanes.as_ptr().cast()) }
        }

        /// Writes the lanes of the vector at `at` that are inside.
        #[inline]
        #[target_feature(enable = $features)]
        fn store_inside(keys: &mut [Key], at: usize, vector: Vector) {
            let len = keys.len();
            let lanes = &mut keys[at.min(len)..];
            // SAFETY: lanes outside the mask are not written, those inside are keys of `lanes`.
            unsafe { $mask_store(lanes.as_mut_ptr().cast(), inside(len, at), vector) }
        }

        /// Writes the first `count` lanes.
        #[inline]
        #[target_feature(enable = $features)]
        fn store_first(keys: &mut [Key], at: usize, count: usize, vector: Vector) {
            let lanes = &mut keys[at..at + count];
            let first = (1u64 << count) - 1;
            // SAFETY: lanes outside the mask are not written, those inside are keys of `lanes`.
            unsafe { $mask_store(lanes.as_mut_ptr().cast(), first as Mask, vector) }
        }

        /// Whether the instructions of these functions have been detected, and the process uses them.
        pub(crate) fn can_partition() -> bool {
            ($is_available)()
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn set1(key: Key) -> Vector {
            ($set1)(key)
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn less(a: Vector, b: Vector) -> Mask {
            ($less)(a, b)
        }

        /// The smaller of two keys and the larger, lane by lane.
        #[inline]
        #[target_feature(enable = $features)]
        fn sorted([a, b]: [Vector; 2]) -> [Vector; 2] {
            [$min(a, b), $max(b, a)]
        }

        /// The smaller of two keys in the lower lanes, the larger in the upper ones.
        #[inline]
        #[target_feature(enable = $features)]
        fn exchange<const BIT: usize>(vector: Vector, other: Vector, upper: Upper) -> Vector {
            $mask_max($min(vector, other), upper, vector, other)
        }

        /// `mirror` of a row and of the one that is its mirror image.
        #[inline]
        #[target_feature(enable = $features)]
        fn mirror_rows<const G: usize>([a, b]: [Vector; 2], upper: Upper) -> [Vector; 2] {
            let (back_a, back_b) = (turn_back::<G>(a), turn_back::<G>(b));
            [
                exchange::<G>(a, back_b, upper),
                exchange::<G>(b, back_a, upper),
            ]
        }

        /// `cross` of two rows.
        #[inline]
        #[target_feature(enable = $features)]
        fn cross_rows<const D: usize>([a, b]: [Vector; 2], upper: Upper) -> [Vector; 2] {
            [
                exchange::<D>(a, flip::<D>(a), upper),
                exchange::<D>(b, flip::<D>(b), upper),
            ]
        }

        /// Vectors compare keys as they are.
        #[inline]
        #[target_feature(enable = $features)]
        fn turn(vector: Vector) -> Vector {
            vector
        }

        /// How many lanes are in a mask.
        #[inline]
        #[target_feature(enable = $features)]
        fn count(lanes: Mask) -> usize {
            lanes.count_ones() as usize
        }

        /// The next larger key.
        fn after(key: Key) -> Key {
            ($after)(key)
        }

        /// Sorts without vectors.
        fn sort_slowly(keys: &mut [Key]) {
            ($sort_slowly)(keys);
        }

        /// The chosen lanes in front; where lanes are eight, the others behind them.
        #[inline]
        #[target_feature(enable = $features)]
        fn in_front(vector: Vector, chosen: Mask) -> Vector {
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
        fn parted(vector: Vector, below: Mask) -> [Vector; 2] {
            let front = in_front(vector, below);
            if LANES == 8 {
                return [front; 2];
            }
            let turned = indices(&const { turned() }[LANES - count(below)..]);
            [front, $permute(turned, $compress(!below, vector))]
        }

        /// The lane numbers, twice.
        const fn turned() -> [Key; 2 * LANES] {
            let (mut lanes, mut lane) = ([0; 2 * LANES], 0);
            while lane < 2 * LANES {
                lanes[lane] = (lane % LANES) as Key;
                lane += 1;
            }
            lanes
        }

        /// The lanes whose number has the bit `BIT`.
        const fn lanes_with(bit: usize) -> Mask {
            let (mut mask, mut lane) = (0, 0);
            while lane < LANES {
                if lane & bit != 0 {
                    mask |= 1 << lane;
                }
                lane += 1;
            }
            mask
        }

        /// The same, hidden from the compiler: where it knows the lanes it exchanges them by more instructions than a masked
        /// maximum, which took a fifth of the time of sorting 256 keys.
        #[inline]
        fn upper<const BIT: usize>() -> Mask {
            std::hint::black_box(const { lanes_with(BIT) })
        }

        /// The lane numbers with the bits of `flip` inverted.
        const fn flipped(flip: usize) -> [Key; LANES] {
            let (mut lanes, mut lane) = ([0; LANES], 0);
            while lane < LANES {
                lanes[lane] = ((lane ^ flip) % LANES) as Key;
                lane += 1;
            }
            lanes
        }

        /// Lanes whose numbers differ in the bits of `FLIP` exchanged. Some processors do it twice as often where lanes stay
        /// near.
        #[inline]
        #[target_feature(enable = $features)]
        fn flip<const FLIP: usize>(vector: Vector) -> Vector {
            match FLIP {
                1 => ($flip1)(vector),
                2 => ($flip2)(vector),
                3 => ($flip3)(vector),
                _ => $permute(indices(&const { flipped(FLIP) }), vector),
            }
        }

        /// Lane numbers that take turns between two vectors, from lane `from` of both on.
        const fn zipped(from: usize) -> [Key; LANES] {
            let (mut lanes, mut lane) = ([0; LANES], 0);
            while lane < LANES {
                lanes[lane] = (from + lane / 2 + lane % 2 * LANES) as Key;
                lane += 1;
            }
            lanes
        }

        /// What is read column after column in rows that are read one after the other.
        #[inline]
        #[target_feature(enable = $features)]
        fn transpose<const R: usize>(mut rows: [Vector; R]) -> [Vector; R] {
            let mut rest = R;
            while rest > 1 {
                rows = interleave(rows);
                rest /= 2;
            }
            rows
        }

        /// Takes turns between the lanes of the first and of the second half of the rows.
        #[inline]
        #[target_feature(enable = $features)]
        fn interleave<const R: usize>(rows: [Vector; R]) -> [Vector; R] {
            let low = indices(&const { zipped(0) });
            let high = indices(&const { zipped(LANES / 2) });
            let mut mixed = rows;
            for pair in 0..R / 2 {
                let (a, b) = (rows[pair], rows[pair + R / 2]);
                mixed[2 * pair] = $zip(a, low, b);
                mixed[2 * pair + 1] = $zip(a, high, b);
            }
            mixed
        }

        /// Up to this many keys are sorted by networks. A second matrix and the merging took a fifth less than a partition of
        /// 300 keys of 32 bits on Zen 5, a third less of 1000 keys of 16 bits; on Intel's processors they took more.
        fn longest() -> usize {
            // Sorting 64-bit keys so spares less than a tenth; floats come as integers there.
            if LANES > 8 && LARGEST == Key::MAX && takes_integers_fast() {
                2 * SHORT
            } else {
                SHORT
            }
        }
    };
}

macro_rules! sorter {
    ($module:ident: $features:literal $($group:tt)*) => {
        pub(crate) mod $module {
            use super::*;

            lanes! { $features $($group)* }
            networks! { $features }
            partitions! { $features }
            quicksort! { $features }
        }
    };
}

sorter!(
    tiny:
    "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt" [compresses_tiny] [u16, __m512i, u32, 32, u16::MAX]
    [_mm512_loadu_si512 _mm512_storeu_si512 _mm512_mask_loadu_epi16 _mm512_mask_storeu_epi16]
    [|key: u16| _mm512_set1_epi16(key as i16), _mm512_cmplt_epu16_mask, |key| key + 1, <[u16]>::sort_unstable]
    [_mm512_min_epu16 _mm512_max_epu16 _mm512_mask_max_epu16]
    [_mm512_permutexvar_epi16 _mm512_permutex2var_epi16 _mm512_maskz_compress_epi16 std::convert::identity]
    [_mm512_rol_epi32::<16>, _mm512_shuffle_epi32::<0xB1>, |v| _mm512_shuffle_epi32::<0xB1>(_mm512_rol_epi32::<16>(v))]
);
sorter!(
    narrow:
    "avx512f,bmi2,popcnt" [is_available] [u32, __m512i, u16, 16, u32::MAX]
    [_mm512_loadu_si512 _mm512_storeu_si512 _mm512_mask_loadu_epi32 _mm512_mask_storeu_epi32]
    [|key: u32| _mm512_set1_epi32(key as i32), _mm512_cmplt_epu32_mask, |key| key + 1, <[u32]>::sort_unstable]
    [_mm512_min_epu32 _mm512_max_epu32 _mm512_mask_max_epu32]
    [_mm512_permutexvar_epi32 _mm512_permutex2var_epi32 _mm512_maskz_compress_epi32 std::convert::identity]
    [_mm512_shuffle_epi32::<0xB1>, _mm512_shuffle_epi32::<0x4E>, _mm512_shuffle_epi32::<0x1B>]
);
sorter!(
    wide:
    "avx512f,bmi2,popcnt" [is_available] [u64, __m512i, u8, 8, u64::MAX]
    [_mm512_loadu_si512 _mm512_storeu_si512 _mm512_mask_loadu_epi64 _mm512_mask_storeu_epi64]
    [|key: u64| _mm512_set1_epi64(key as i64), _mm512_cmplt_epu64_mask, |key| key + 1, <[u64]>::sort_unstable]
    [_mm512_min_epu64 _mm512_max_epu64 _mm512_mask_max_epu64]
    [_mm512_permutexvar_epi64 _mm512_permutex2var_epi64 _mm512_maskz_compress_epi64 std::convert::identity]
    [_mm512_shuffle_epi32::<0x4E>, _mm512_permutex_epi64::<0x4E>, _mm512_permutex_epi64::<0x1B>]
);
sorter!(
    narrow_floats:
    "avx512f,bmi2,popcnt" [is_available] [u32, __m512, u16, 16, f32::INFINITY.to_bits()]
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
    "avx512f,bmi2,popcnt" [is_available] [u64, __m512d, u8, 8, f64::INFINITY.to_bits()]
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
