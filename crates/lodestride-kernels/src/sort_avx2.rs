//! Sorting keys of 32 and 64 bits and floats with AVX2: what the partitions of `sort_partition.rs`, the quicksort of
//! `sort_quick.rs` and the networks of `sort_network.rs` are made of.
//!
//! Every vector is eight words of 32 bits, a key one or two of them, and a mask has a bit for each word: so a table of
//! permutations serves all. Floats come as their bits and without NaN; those of 64 bits have a minimum, integers have not and
//! are compared as signed ones.
#![expect(
    unsafe_code,
    reason = "loads and stores of vectors take pointers, and code for AVX2 is called where it was detected"
)]

use std::arch::x86_64::*;

use crate::isa::{Isa, Level};
use crate::sort_float::sort_by_keys;
use crate::sort_network::{exchange_rows, networks};
use crate::sort_partition::{FRONT, partitions};
use crate::sort_quick::quicksort;
use crate::stream::prefetch;

/// Words of a vector.
const WORDS: usize = 8;

/// Words chosen from a vector, a bit for each.
type Mask = u8;

/// Whether the process uses AVX2, and no more.
fn is_available() -> bool {
    Level::current().isa() == Isa::Avx2
}

/// The first so many words, for the instructions that take a vector of signs.
#[inline]
#[target_feature(enable = "avx2")]
fn first_words(count: usize) -> __m256i {
    let count = _mm256_set1_epi32(count.min(WORDS) as i32);
    _mm256_cmpgt_epi32(count, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
}

/// [`FRONT`] as words, which are loaded to all lanes at once.
static WORDS_IN_FRONT: [i32; 256] = {
    let (mut table, mut mask) = ([0; 256], 0);
    while mask < 256 {
        table[mask] = FRONT[mask] as i32;
        mask += 1;
    }
    table
};

/// The chosen words in front, the others behind them.
#[inline]
#[target_feature(enable = "avx2")]
fn in_front(vector: __m256i, chosen: Mask) -> __m256i {
    let words = _mm256_set1_epi32(WORDS_IN_FRONT[usize::from(chosen)]);
    let shifts = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    _mm256_permutevar8x32_epi32(vector, _mm256_srlv_epi32(words, shifts))
}

/// Both ends of a partition are those of one vector.
#[inline]
#[target_feature(enable = "avx2")]
fn parted(vector: __m256i, below: Mask) -> [__m256i; 2] {
    [in_front(vector, below); 2]
}

/// The words whose lanes compared as true.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(compared: __m256i) -> Mask {
    _mm256_movemask_ps(_mm256_castsi256_ps(compared)) as Mask
}

/// Words whose numbers differ in the bits of `by` exchanged.
#[inline]
#[target_feature(enable = "avx2")]
fn flip_words(vector: __m256i, by: usize) -> __m256i {
    let near = match by % 4 {
        1 => _mm256_shuffle_epi32::<0xB1>(vector),
        2 => _mm256_shuffle_epi32::<0x4E>(vector),
        3 => _mm256_shuffle_epi32::<0x1B>(vector),
        _ => vector,
    };
    if by < 4 {
        return near;
    }
    _mm256_permute2x128_si256::<1>(near, near)
}

/// The words of `high` whose number has the bit `bit`, and the others of `low`.
#[inline]
#[target_feature(enable = "avx2")]
fn blend_words(low: __m256i, high: __m256i, bit: usize) -> __m256i {
    match bit {
        1 => _mm256_blend_epi32::<0xAA>(low, high),
        2 => _mm256_blend_epi32::<0xCC>(low, high),
        _ => _mm256_blend_epi32::<0xF0>(low, high),
    }
}

/// Takes turns between words of two vectors, in each half by itself.
#[inline]
#[target_feature(enable = "avx2")]
fn zip_words([a, b]: [__m256i; 2]) -> [__m256i; 2] {
    [_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)]
}

/// What [`zip_words`] makes these vectors of.
#[inline]
#[target_feature(enable = "avx2")]
fn unzip_words([a, b]: [__m256i; 2]) -> [__m256i; 2] {
    let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
    [
        _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(a, b)),
        _mm256_castps_si256(_mm256_shuffle_ps::<0xDD>(a, b)),
    ]
}

/// Takes turns between pairs of words of two vectors, in each half by itself.
#[inline]
#[target_feature(enable = "avx2")]
fn zip_pairs([a, b]: [__m256i; 2]) -> [__m256i; 2] {
    [_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)]
}

/// The first halves of two vectors, and the second halves.
#[inline]
#[target_feature(enable = "avx2")]
fn zip_halves([a, b]: [__m256i; 2]) -> [__m256i; 2] {
    [
        _mm256_permute2x128_si256::<0x20>(a, b),
        _mm256_permute2x128_si256::<0x31>(a, b),
    ]
}

/// The smaller and the larger of two signed integers.
#[inline]
#[target_feature(enable = "avx2")]
fn sorted_wide(a: __m256i, b: __m256i) -> [__m256i; 2] {
    let is_turned = _mm256_cmpgt_epi64(a, b);
    [
        _mm256_blendv_epi8(a, b, is_turned),
        _mm256_blendv_epi8(b, a, is_turned),
    ]
}

/// The smaller and the larger of two floats.
#[inline]
#[target_feature(enable = "avx2")]
fn sorted_narrow_floats(a: __m256i, b: __m256i) -> [__m256i; 2] {
    let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
    [_mm256_min_ps(a, b), _mm256_max_ps(b, a)].map(|v| _mm256_castps_si256(v))
}

/// The smaller and the larger of two floats.
#[inline]
#[target_feature(enable = "avx2")]
fn sorted_wide_floats(a: __m256i, b: __m256i) -> [__m256i; 2] {
    let (a, b) = (_mm256_castsi256_pd(a), _mm256_castsi256_pd(b));
    [_mm256_min_pd(a, b), _mm256_max_pd(b, a)].map(|v| _mm256_castpd_si256(v))
}

/// Unsigned integers as signed ones in the same order, and back.
#[inline]
#[target_feature(enable = "avx2")]
fn turn_wide(vector: __m256i) -> __m256i {
    _mm256_xor_si256(vector, _mm256_set1_epi64x(i64::MIN))
}

/// The same for words.
#[inline]
#[target_feature(enable = "avx2")]
fn turn_narrow(vector: __m256i) -> __m256i {
    _mm256_xor_si256(vector, _mm256_set1_epi32(i32::MIN))
}

/// Zips each row with the one so many rows further on.
#[inline]
#[target_feature(enable = "avx2")]
fn zip_rows<const R: usize>(
    mut rows: [__m256i; R],
    apart: usize,
    zip: impl Fn([__m256i; 2]) -> [__m256i; 2],
) -> [__m256i; R] {
    for first in 0..R {
        if first & apart == 0 && first + apart < R {
            [rows[first], rows[first + apart]] = zip([rows[first], rows[first + apart]]);
        }
    }
    rows
}

/// What the sorting of one type of key is made of.
macro_rules! lanes {
    (
        $features:literal [$key:ty, $largest:expr] [$set1:expr, $less:expr, $after:expr, $sort_slowly:expr]
        [$turn:expr, $sorted:expr]
    ) => {
        type Key = $key;
        type Vector = __m256i;
        /// Which lanes take the larger of two keys is in the instructions.
        type Upper = ();
        /// Words of a key.
        const WIDTH: usize = size_of::<Key>() / 4;
        const LANES: usize = WORDS / WIDTH;
        const LARGEST: Key = $largest;
        /// Rows of the largest matrix that is sorted in registers.
        const ROWS: usize = 16 / WIDTH;
        /// Vectors of keys that stand for a few hundred.
        const FEW: usize = WIDTH;
        /// Vectors that are read at a time from one end.
        const TOGETHER: usize = 4;

        #[inline]
        #[target_feature(enable = $features)]
        fn load(keys: &[Key], at: usize) -> Vector {
            assert!(is_inside(keys.len(), at));
            // SAFETY: the 32 bytes that are read are keys; no alignment is needed.
            unsafe { _mm256_loadu_si256(keys.as_ptr().wrapping_add(at).cast()) }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn store(keys: &mut [Key], at: usize, vector: Vector) {
            assert!(is_inside(keys.len(), at));
            // SAFETY: the 32 bytes that are written are keys; no alignment is needed.
            unsafe { _mm256_storeu_si256(keys.as_mut_ptr().wrapping_add(at).cast(), vector) }
        }

        /// Whether a vector at `at` is inside `len` keys: in loops, one comparison.
        #[inline(always)]
        fn is_inside(len: usize, at: usize) -> bool {
            len >= LANES && at <= len - LANES
        }

        /// The words of a vector at `at` that are inside `len` keys.
        fn inside(len: usize, at: usize) -> Mask {
            match len.saturating_sub(at) {
                rest if rest < LANES => (1 << (rest * WIDTH)) - 1,
                _ => Mask::MAX,
            }
        }

        /// The vector at `at`, with the largest key in the lanes beyond the end.
        #[inline]
        #[target_feature(enable = $features)]
        fn load_inside(keys: &[Key], at: usize) -> Vector {
            let lanes = &keys[at.min(keys.len())..];
            let words = first_words(lanes.len().min(LANES) * WIDTH);
            // SAFETY: words outside the mask are not read, those inside are of keys of `lanes`.
            let inside = unsafe { _mm256_maskload_epi32(lanes.as_ptr().cast(), words) };
            _mm256_blendv_epi8(set1(LARGEST), inside, words)
        }

        /// Writes the lanes of the vector at `at` that are inside.
        #[inline]
        #[target_feature(enable = $features)]
        fn store_inside(keys: &mut [Key], at: usize, vector: Vector) {
            let rest = keys.len().saturating_sub(at);
            if rest >= LANES {
                store(keys, at, vector);
            } else if rest > 0 {
                store_first(keys, at, rest, vector);
            }
        }

        /// Writes the first `count` lanes.
        #[inline]
        #[target_feature(enable = $features)]
        fn store_first(keys: &mut [Key], at: usize, count: usize, vector: Vector) {
            let lanes = &mut keys[at..at + count];
            let words = first_words(count * WIDTH);
            // SAFETY: words outside the mask are not written, those inside are of keys of `lanes`.
            unsafe { _mm256_maskstore_epi32(lanes.as_mut_ptr().cast(), words, vector) }
        }

        /// Whether the instructions of these functions have been detected, and the process uses them.
        pub(crate) fn can_partition() -> bool {
            is_available()
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn set1(key: Key) -> Vector {
            ($set1)(key)
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn less(a: Vector, b: Vector) -> Mask {
            mask(($less)(a, b))
        }

        /// The smaller of two keys and the larger, lane by lane.
        #[inline]
        #[target_feature(enable = $features)]
        fn sorted([a, b]: [Vector; 2]) -> [Vector; 2] {
            ($sorted)(a, b)
        }

        fn upper<const BIT: usize>() -> Upper {}

        /// The smaller of two keys in the lanes without the bit, the larger in those with it.
        #[inline]
        #[target_feature(enable = $features)]
        fn exchange<const BIT: usize>(vector: Vector, other: Vector, (): Upper) -> Vector {
            // Of equal keys both lanes take the other's: none is lost.
            let ([low, _], [_, high]) = (sorted([vector, other]), sorted([other, vector]));
            blend_words(low, high, BIT * WIDTH)
        }

        /// `mirror` of a row and of the one that is its mirror image: every key is compared once.
        #[inline]
        #[target_feature(enable = $features)]
        fn mirror_rows<const G: usize>([a, b]: [Vector; 2], (): Upper) -> [Vector; 2] {
            let [low, high] = sorted([a, turn_back::<G>(b)]);
            let last = turn_back::<G>(blend_words(high, low, G * WIDTH));
            [blend_words(low, high, G * WIDTH), last]
        }

        /// `cross` of two rows: the lower lanes of both are compared with the upper lanes of both.
        #[inline]
        #[target_feature(enable = $features)]
        fn cross_rows<const D: usize>(rows: [Vector; 2], (): Upper) -> [Vector; 2] {
            match D * WIDTH {
                1 => zip_words(sorted(unzip_words(rows))),
                2 => zip_pairs(sorted(zip_pairs(rows))),
                _ => zip_halves(sorted(zip_halves(rows))),
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn turn(vector: Vector) -> Vector {
            ($turn)(vector)
        }

        /// How many lanes are in a mask.
        #[inline]
        #[target_feature(enable = $features)]
        fn count(words: Mask) -> usize {
            words.count_ones() as usize / WIDTH
        }

        /// The next larger key.
        fn after(key: Key) -> Key {
            ($after)(key)
        }

        /// Sorts without vectors.
        fn sort_slowly(keys: &mut [Key]) {
            ($sort_slowly)(keys);
        }

        /// Lanes whose numbers differ in the bits of `FLIP` exchanged.
        #[inline]
        #[target_feature(enable = $features)]
        fn flip<const FLIP: usize>(vector: Vector) -> Vector {
            flip_words(vector, FLIP * WIDTH)
        }

        /// What is read column after column in rows that are read one after the other.
        #[inline]
        #[target_feature(enable = $features)]
        fn transpose<const R: usize>(mut rows: [Vector; R]) -> [Vector; R] {
            // Blocks of up to as many rows as there are lanes.
            let block = LANES.min(R);
            if WIDTH == 1 {
                rows = zip_rows(rows, 1, |pair| zip_words(pair));
            }
            rows = zip_rows(rows, 2 / WIDTH, |pair| zip_pairs(pair));
            rows = zip_rows(rows, block.div_ceil(2), |pair| zip_halves(pair));
            let mut turned = rows;
            for (row, vector) in rows.into_iter().enumerate() {
                // Of eight columns, the second and the third have changed places.
                let column = match row % block {
                    column if block < WORDS => column,
                    column => column & 4 | (column & 1) << 1 | (column & 2) >> 1,
                };
                turned[column * (R / block) + row / block] = vector;
            }
            turned
        }

        /// Up to this many keys are sorted by networks.
        fn longest() -> usize {
            2 * SHORT
        }
    };
}

macro_rules! sorter {
    ($module:ident: $($group:tt)*) => {
        pub(crate) mod $module {
            use super::*;

            lanes! { "avx2,bmi2,popcnt" $($group)* }
            networks! { "avx2,bmi2,popcnt" }
            partitions! { "avx2,bmi2,popcnt" }
            quicksort! { "avx2,bmi2,popcnt" }
        }
    };
}

sorter!(
    narrow: [u32, u32::MAX]
    [
        |key: u32| _mm256_set1_epi32(key as i32), |a, b| _mm256_cmpgt_epi32(turn_narrow(b), turn_narrow(a)),
        |key| key + 1, <[u32]>::sort_unstable
    ]
    [std::convert::identity, |a, b| [_mm256_min_epu32(a, b), _mm256_max_epu32(a, b)]]
);
sorter!(
    wide: [u64, u64::MAX]
    [
        |key: u64| _mm256_set1_epi64x(key as i64), |a, b| _mm256_cmpgt_epi64(turn_wide(b), turn_wide(a)),
        |key| key + 1, <[u64]>::sort_unstable
    ]
    [turn_wide, sorted_wide]
);
sorter!(
    narrow_floats: [u32, f32::INFINITY.to_bits()]
    [
        |key: u32| _mm256_set1_epi32(key as i32),
        |a, b| _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LT_OQ>(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b))),
        |key| f32::from_bits(key).next_up().to_bits(), sort_by_keys
    ]
    [std::convert::identity, sorted_narrow_floats]
);
sorter!(
    wide_floats: [u64, f64::INFINITY.to_bits()]
    [
        |key: u64| _mm256_set1_epi64x(key as i64),
        |a, b| _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_LT_OQ>(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b))),
        |key| f64::from_bits(key).next_up().to_bits(), sort_by_keys
    ]
    [std::convert::identity, sorted_wide_floats]
);
