//! Order statistics without sorting everything: the k-th key, partitions around it.

use std::hint::select_unpredictable;
use std::ops::Range;

use smallvec::SmallVec;

use crate::isa::{Arch, Level, Task};
use crate::sort::sort_lines;
use crate::sort_float::{ascending, float_key, has_vectors, is_ordered, partition_floats};
use crate::sort_halved::sort_halved;
use crate::sort_key::{Coding, Key};
use crate::sort_radix::{COUNTED, is_counted, sort_above};
use crate::sort_share::{Partition, divide, each_chunk, partition_keys, sample};
use crate::sort_side::sort_side_by_side;
use crate::{stream, threads};

/// Up to this many keys a sample that brackets the k-th costs more than it spares.
pub(crate) const SHORT: usize = 1 << 12;

/// Up to this many keys sorting is no slower than dividing: what networks of vectors take at once.
pub(crate) const fn little<K: Key>() -> usize {
    (8192 / K::BITS) as usize
}

/// Keys looked at to bracket the k-th.
const SAMPLE: usize = 1 << 10;

/// Up to this many keys are not shared among threads, nor up to so many bytes of them where vectors divide them.
const SHARED: usize = 1 << 16;
const SHARED_BYTES: usize = 2 << 20;

/// Half the width of the bracket, in sampled keys: six times the deviation of a sampled rank.
const MARGIN: usize = 96;

/// Two keys that the one of the `k`-th value very probably lies between, by a sample at even distances.
pub(crate) fn bracket<K: Key>(values: &[K], k: usize, key: impl Fn(K) -> K) -> (K, K) {
    let sample = sample(values, SAMPLE, key);
    let at = (k as f64 / values.len() as f64 * SAMPLE as f64) as usize;
    let low = at.checked_sub(MARGIN).map_or(K::ZERO, |at| sample[at]);
    let high = sample.get(at + MARGIN).copied().unwrap_or(K::MAX);
    (low, high)
}

/// The `k`-th smallest key, which is moved there, with larger ones behind it.
pub(crate) fn nth<K: Key>(keys: &mut [K], k: usize, scratch: &mut [K]) -> K {
    if const { K::BITS == 8 } || is_counted::<K>(keys.len()) {
        sort_above(keys, scratch, 0, 1);
    } else if K::has_vectors() || keys.len() > SHORT {
        settle(keys, k, scratch, 1);
    } else if !K::sort_vectors(keys, scratch) {
        keys.select_nth_unstable(k);
    }
    keys[k]
}

/// Moves values so that each of the ascending places `kth` has the value it has when sorted, the smaller ones before it and
/// the larger behind it; on the calling thread and up to `parts - 1` others.
pub(crate) fn partition_at<K: Key>(
    coding: Coding,
    values: &mut [K],
    kth: &[usize],
    scratch: &mut [K],
    parts: usize,
) {
    let is_coded = !has_vectors::<K>(coding);
    let of_values = parts_of(values, parts);
    let settle = if is_coded { settle } else { settle_floats };
    if is_coded {
        each_chunk(values, of_values, |values| coding.encode(values));
    }
    let mut start = 0;
    for &k in kth {
        settle(&mut values[start..], k - start, scratch, parts);
        start = k + 1;
    }
    if is_coded {
        each_chunk(values, of_values, |keys| coding.decode(keys));
    }
}

/// [`settle`] for floats, most of which are moved as they are, without making keys of them and floats again.
fn settle_floats<K: Key>(mut values: &mut [K], mut k: usize, scratch: &mut [K], parts: usize) {
    let coding = ascending::<K>();
    if values.len() > SHORT {
        let limits = bracket(values, k, float_key(coding));
        let mut pivots = pivots(limits);
        coding.decode(&mut pivots);
        if pivots.iter().all(|&pivot| is_ordered(pivot)) {
            match narrow(values, k, scratch, parts, limits, &pivots, partition_floats) {
                Step::Settled => return,
                Step::Stuck => {}
                Step::Inside(inside) => {
                    k -= inside.start;
                    values = &mut values[inside];
                }
            }
        }
    }
    if values.len() <= SHORT {
        let ordered = |key: K| {
            let mut value = [key];
            coding.decode(&mut value);
            Some(value[0]).filter(|&value| is_ordered(value))
        };
        match cut(
            values,
            k,
            scratch,
            (float_key(coding), ordered, partition_floats),
        ) {
            Rest::Nothing => return,
            Rest::Little(values) => {
                let len = values.len();
                sort_lines(coding, values, len, scratch, 1);
                return;
            }
            Rest::Unordered(rest, place) => (values, k) = (rest, place),
        }
    }
    let parts = parts_of(values, parts);
    each_chunk(values, parts, |values| coding.encode(values));
    settle(values, k, scratch, parts);
    each_chunk(values, parts, |keys| coding.decode(keys));
}

/// Settles one place of keys: what is certainly before it and behind it is moved there, until little is left.
fn settle<K: Key>(mut keys: &mut [K], mut k: usize, scratch: &mut [K], parts: usize) {
    // Counting divides keys at all places; where it does must not depend on the instruction set, as the order within groups does.
    if K::BITS == 8 || K::BITS == 16 && keys.len() > COUNTED {
        return sort_above(keys, scratch, 0, parts);
    }
    while keys.len() > SHORT {
        let limits = bracket(keys, k, |key| key);
        let pivots = pivots(limits);
        match narrow(keys, k, scratch, parts, limits, &pivots, partition_keys) {
            Step::Settled => return,
            Step::Stuck => {
                keys.select_nth_unstable(k);
                return;
            }
            Step::Inside(inside) => {
                k -= inside.start;
                keys = &mut keys[inside];
            }
        }
    }
    if let Rest::Little(keys) = cut(keys, k, scratch, (|key| key, Some, partition_keys)) {
        let len = keys.len();
        if !sort_halved(keys, len) {
            sort_above(keys, scratch, 0, 1);
        }
    }
}

/// What of a short line is not in order around a place yet.
enum Rest<'a, K> {
    Nothing,
    /// So little that it is best sorted.
    Little(&'a mut [K]),
    /// Values at one of which the partition cannot divide, and the place among them.
    Unordered(&'a mut [K], usize),
}

/// How often a line is divided before it is sorted as it is: more than it takes, unless it was made to deceive samples.
const DIVISIONS: u32 = 16;

/// Divides a short line at values close to the `k`-th, told by the values' keys, until little is left.
fn cut<'a, K: Key>(
    mut values: &'a mut [K],
    mut k: usize,
    scratch: &mut [K],
    (key, value, partition): (impl Fn(K) -> K, impl Fn(K) -> Option<K>, Partition<K>),
) -> Rest<'a, K> {
    for _ in 0..DIVISIONS {
        if values.len() <= little::<K>() {
            break;
        }
        let pivot = pivot_near(values, k, &key);
        let Some(limit) = value(pivot) else {
            return Rest::Unordered(values, k);
        };
        let mut below = partition(values, scratch, limit);
        if below == 0 {
            // The pivot is the smallest: all that equal it are in place once they are in front.
            if pivot == K::MAX {
                return Rest::Nothing;
            }
            let Some(limit) = value(pivot.plus(K::from_u64(1))) else {
                return Rest::Unordered(values, k);
            };
            below = partition(values, scratch, limit);
            if k < below {
                return Rest::Nothing;
            }
        }
        let (front, back) = values.split_at_mut(below);
        (values, k) = if k < below {
            (front, k)
        } else {
            (back, k - below)
        };
    }
    Rest::Little(values)
}

/// The key of a value that probably is on that side of the `k`-th where more values are, and not far.
fn pivot_near<K: Key>(values: &[K], k: usize, key: impl Fn(K) -> K) -> K {
    /// Values looked at.
    const GLANCE: usize = 32;
    /// How far from where the `k`-th is expected among them: the deviation of its rank.
    const AWAY: usize = 3;
    let step = values.len() / GLANCE;
    let mut sample: [K; GLANCE] = std::array::from_fn(|index| key(values[index * step + step / 2]));
    if !K::sort_vectors(&mut sample, &mut []) {
        sample.sort_unstable();
    }
    let expected = k * GLANCE / values.len();
    if 2 * k < values.len() {
        sample[expected + AWAY + 1]
    } else {
        sample[expected - AWAY]
    }
}

/// The keys that divide what is before a bracket, in it, and behind it.
fn pivots<K: Key>((low, high): (K, K)) -> SmallVec<[K; 2]> {
    let mut pivots = SmallVec::new();
    pivots.extend((low > K::ZERO).then_some(low));
    pivots.extend((high < K::MAX).then(|| high.plus(K::from_u64(1))));
    pivots
}

/// What came of dividing values at a bracket.
enum Step {
    /// The place has its value.
    Settled,
    /// All values are in one group.
    Stuck,
    /// Where the values are that the place's one is among.
    Inside(Range<usize>),
}

/// In how many of so many parts keys are divided sooner than by one thread. Vectors do it about as fast as the keys come from memory,
/// and what several threads have divided is moved twice more to bring it together.
fn parts_of<K: Key>(keys: &[K], parts: usize) -> usize {
    if parts > 1 && are_shared(keys.len(), size_of_val(keys), K::has_vectors()) {
        parts
    } else {
        1
    }
}

#[inline(never)]
fn are_shared(keys: usize, bytes: usize, has_vectors: bool) -> bool {
    if has_vectors {
        bytes > SHARED_BYTES && (threads::threads() > 2 || !stream::pays(2 * bytes))
    } else {
        keys > SHARED
    }
}

/// Divides values at the pivots of a bracket of their keys, and finds the group of the `k`-th.
fn narrow<K: Key>(
    values: &mut [K],
    k: usize,
    scratch: &mut [K],
    parts: usize,
    (low, high): (K, K),
    pivots: &[K],
    partition: Partition<K>,
) -> Step {
    let ends = divide(values, scratch, pivots, parts_of(values, parts), partition);
    let group = ends.partition_point(|&end| end <= k);
    let start = if group == 0 { 0 } else { ends[group - 1] };
    let is_inside = group == usize::from(low > K::ZERO);
    if is_inside && low == high {
        Step::Settled
    } else if ends[group] - start == values.len() {
        Step::Stuck
    } else {
        Step::Inside(start..ends[group])
    }
}

/// The positions of keys around the `k`-th of each line of `len`: smaller ones, equal ones, larger ones, each group in its
/// order. `scratch` has room for all keys and one line more.
pub(crate) fn order_around<K: Key>(
    keys: &[K],
    len: usize,
    k: usize,
    out: &mut [u64],
    scratch: &mut [K],
) {
    let (copies, scratch) = scratch.split_at_mut(keys.len());
    copies.copy_from_slice(keys);
    let is_sorted = sort_side_by_side(copies, len);
    let lines = keys.chunks_exact(len).zip(copies.chunks_exact_mut(len));
    for (out, (keys, copy)) in out.chunks_exact_mut(len).zip(lines) {
        let pivot = if is_sorted {
            copy[k]
        } else {
            nth(copy, k, scratch)
        };
        let ends = if is_sorted {
            let is_other = |&key: &K| key != pivot;
            let below = copy[..k].iter().rposition(is_other);
            let up_to = copy[k..].iter().position(is_other);
            (below.map_or(0, |at| at + 1), up_to.map_or(len, |at| k + at))
        } else {
            Level::current().run_narrow(Ends { keys, pivot })
        };
        deal_out(keys, pivot, ends, out);
    }
}

/// Counts the keys below a pivot, and those up to it.
pub(crate) struct Ends<'a, K> {
    pub(crate) keys: &'a [K],
    pub(crate) pivot: K,
}

impl<K: Key> Task for Ends<'_, K> {
    type Output = (usize, usize);

    #[inline(always)]
    fn run<A: Arch>(self) -> (usize, usize) {
        let pivot = self.pivot;
        self.keys.iter().fold((0, 0), |(below, up_to), &key| {
            (
                below + usize::from(key < pivot),
                up_to + usize::from(key <= pivot),
            )
        })
    }
}

/// The positions of keys below a pivot, of those that equal it, and of those above, which begin at these places.
fn deal_out<K: Key>(keys: &[K], pivot: K, (mut equal, mut above): (usize, usize), out: &mut [u64]) {
    let mut below = 0;
    for (position, &key) in keys.iter().enumerate() {
        let (is_below, is_above) = (key < pivot, key > pivot);
        // Half the guesses of a branch would be wrong.
        let place = select_unpredictable(is_above, above, equal);
        out[select_unpredictable(is_below, below, place)] = position as u64;
        below += usize::from(is_below);
        above += usize::from(is_above);
        equal += usize::from(!is_below & !is_above);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodestride_buffer::DType;

    fn check_around<K: Key>(rows: usize, len: usize, distinct: u64) {
        let keys = (0..(rows * len) as u64).map(|i| {
            let mixed = (i ^ 0x9e37).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 9;
            K::from_u64(mixed % distinct)
        });
        let keys: Vec<K> = keys.collect();
        for k in [0, len / 3, len - 1] {
            let (mut out, mut scratch) = (vec![0; keys.len()], vec![K::ZERO; (rows + 1) * len]);
            order_around(&keys, len, k, &mut out, &mut scratch);
            let expected = keys.chunks(len).flat_map(|keys| {
                let mut sorted = keys.to_vec();
                sorted.sort();
                let mut expected: Vec<u64> = (0..len as u64).collect();
                expected.sort_by_key(|&at| keys[at as usize].cmp(&sorted[k]));
                expected
            });
            let found = out == expected.collect::<Vec<_>>();
            assert!(found, "{k}, {rows} of {len}, {distinct}, {} bits", K::BITS);
        }
    }

    #[test]
    fn positions_around_a_place_ascend_in_each_group() {
        for (rows, len) in [
            (1, 1),
            (20, 3),
            (20, 24),
            (3, 24),
            (2, 64),
            (2, 300),
            (1, 600),
            (1, 1300),
            (1, SHORT + 1),
        ] {
            for distinct in [1, 3, 50, u64::MAX] {
                check_around::<u8>(rows, len, distinct);
                check_around::<u16>(rows, len, distinct);
                check_around::<u32>(rows, len, distinct);
                check_around::<u64>(rows, len, distinct);
            }
        }
    }

    /// Partitions floats as they are and by their keys, which must move every bit alike.
    fn check_floats<K: Key>(dtype: DType, values: &[f64], kth: &[usize], bits: fn(f64) -> u64) {
        let values: Vec<K> = values
            .iter()
            .map(|&value| K::from_u64(bits(value)))
            .collect();
        let (mut found, mut by_keys, mut scratch) =
            (values.clone(), values.clone(), values.clone());
        let coding = Coding::new(dtype, false);
        partition_at(coding, &mut found, kth, &mut scratch, 1);
        let (mut sorted, mut keys) = (values, found.clone());
        coding.encode(&mut sorted);
        sorted.sort();
        coding.encode(&mut keys);
        for &k in kth {
            assert_eq!(keys[k], sorted[k], "{dtype}, {k}");
            assert!(keys[..k].iter().all(|&key| key <= keys[k]), "{dtype}, {k}");
            assert!(keys[k..].iter().all(|&key| key >= keys[k]), "{dtype}, {k}");
        }
        let mut all = keys;
        all.sort();
        assert_eq!(all, sorted, "{dtype}");
        coding.encode(&mut by_keys);
        let mut start = 0;
        for &k in kth {
            settle(&mut by_keys[start..], k - start, &mut scratch, 1);
            start = k + 1;
        }
        coding.decode(&mut by_keys);
        assert!(by_keys == found, "{dtype}, {kth:?}");
    }

    #[test]
    fn floats_are_partitioned_as_their_keys_are() {
        let patterns: [fn(u64) -> f64; 5] = [
            |mixed| mixed as f64 - 1e19,
            // Pivots are zeros, or NaN, or infinite.
            |mixed| [-0.0, 0.0, 1.0, -1.0][mixed as usize >> 7 & 3],
            |mixed| if mixed >> 9 & 1 == 0 { f64::NAN } else { 2.0 },
            |mixed| {
                if mixed >> 9 & 1 == 0 {
                    f64::INFINITY
                } else {
                    -0.0
                }
            },
            |mixed| (mixed % 5) as f64,
        ];
        for len in [3, 130, 300, 1000, SHORT, SHORT + 1, 10_007, 70_000] {
            for pattern in patterns {
                let mixed =
                    (0..len as u64).map(|i| (i ^ 0x9e37).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                let values: Vec<f64> = mixed.map(pattern).collect();
                for kth in [
                    &[0][..],
                    &[len / 2],
                    &[len - 1],
                    &[1, len / 3 + 1, len / 2 + 2, len - 1],
                ] {
                    let kth = if len > 3 { kth } else { &kth[..1] };
                    check_floats::<u64>(DType::F64, &values, kth, f64::to_bits);
                    let narrow = |value: f64| u64::from((value as f32).to_bits());
                    check_floats::<u32>(DType::F32, &values, kth, narrow);
                }
            }
        }
    }
}
