//! Order statistics without sorting everything: the k-th key, partitions around it, the k first.

use std::ops::Range;

use smallvec::SmallVec;

use crate::sort_float::{ascending, float_key, has_vectors, is_ordered, partition_floats};
use crate::sort_key::{Coding, Key};
use crate::sort_share::{Partition, divide, each_chunk, partition_keys, sample};

/// Up to this many keys sorting is no slower than selecting, which then is left to the standard library.
pub(crate) const SHORT: usize = 1 << 12;

/// Keys looked at to bracket the k-th.
const SAMPLE: usize = 1 << 10;

/// Up to this many keys are not shared among threads.
const SHARED: usize = 1 << 16;

/// Half the width of the bracket, in sampled keys: six times the deviation of a sampled rank.
const MARGIN: usize = 96;

/// The `k`-th smallest key; `scratch` is as long as `keys`.
pub(crate) fn nth<K: Key>(keys: &[K], k: usize, scratch: &mut [K]) -> K {
    if keys.len() > SHORT {
        let (low, high) = bracket(keys, k, |key| key);
        let found = gather(keys, low, high, scratch);
        if let Some(k) = k.checked_sub(found.below).filter(|&k| k < found.inside) {
            if low == high {
                return low;
            }
            return *scratch[..found.inside].select_nth_unstable(k).1;
        }
    }
    let scratch = &mut scratch[..keys.len()];
    scratch.copy_from_slice(keys);
    *scratch.select_nth_unstable(k).1
}

/// Two keys that the one of the `k`-th value very probably lies between, by a sample at even distances.
fn bracket<K: Key>(values: &[K], k: usize, key: impl Fn(K) -> K) -> (K, K) {
    let sample = sample(values, SAMPLE, key);
    let at = (k as f64 / values.len() as f64 * SAMPLE as f64) as usize;
    let low = at.checked_sub(MARGIN).map_or(K::ZERO, |at| sample[at]);
    let high = sample.get(at + MARGIN).copied().unwrap_or(K::MAX);
    (low, high)
}

/// How many keys lie below a bracket and inside it.
struct Found {
    below: usize,
    inside: usize,
}

/// Collects the keys from `low` to `high` at the front of `out`.
fn gather<K: Key>(keys: &[K], low: K, high: K, out: &mut [K]) -> Found {
    let (mut below, mut inside) = (0, 0);
    for &key in keys {
        out[inside] = key;
        below += usize::from(key < low);
        inside += usize::from((key >= low) & (key <= high));
    }
    Found { below, inside }
}

/// The `k`-th smallest key and the one after it (itself where it is the last).
pub(crate) fn nth_and_next<K: Key>(keys: &[K], k: usize, scratch: &mut [K]) -> (K, K) {
    let key = nth(keys, k, scratch);
    let (mut up_to, mut next) = (0, K::MAX);
    for &other in keys {
        up_to += usize::from(other <= key);
        next = if other > key { next.min(other) } else { next };
    }
    let next = if up_to > k + 1 || up_to == keys.len() {
        key
    } else {
        next
    };
    (key, next)
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
    let settle = if is_coded { settle } else { settle_floats };
    if is_coded {
        each_chunk(values, parts, |values| coding.encode(values));
    }
    let mut start = 0;
    for &k in kth {
        settle(&mut values[start..], k - start, scratch, parts);
        start = k + 1;
    }
    if is_coded {
        each_chunk(values, parts, |keys| coding.decode(keys));
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
    each_chunk(values, parts, |values| coding.encode(values));
    settle(values, k, scratch, parts);
    each_chunk(values, parts, |keys| coding.decode(keys));
}

/// Settles one place of keys: what is certainly before it and behind it is moved there, until little is left.
fn settle<K: Key>(mut keys: &mut [K], mut k: usize, scratch: &mut [K], parts: usize) {
    while keys.len() > SHORT {
        let limits = bracket(keys, k, |key| key);
        let pivots = pivots(limits);
        match narrow(keys, k, scratch, parts, limits, &pivots, partition_keys) {
            Step::Settled => return,
            Step::Stuck => break,
            Step::Inside(inside) => {
                k -= inside.start;
                keys = &mut keys[inside];
            }
        }
    }
    keys.select_nth_unstable(k);
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
    let parts = if values.len() > SHARED { parts } else { 1 };
    let ends = divide(values, scratch, pivots, parts, partition);
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

/// The positions of keys around the `k`-th: smaller ones, equal ones, larger ones, each group in its order.
pub(crate) fn order_around<K: Key>(keys: &[K], k: usize, out: &mut [u64], scratch: &mut [K]) {
    let pivot = nth(keys, k, scratch);
    let mut below = 0;
    let mut equal = 0;
    for key in keys {
        below += usize::from(*key < pivot);
        equal += usize::from(*key == pivot);
    }
    let mut places = [0, below, below + equal];
    for (position, key) in keys.iter().enumerate() {
        let group = usize::from(*key >= pivot) + usize::from(*key > pivot);
        out[places[group]] = position as u64;
        places[group] += 1;
    }
}

/// Up to this share of a line the first keys are found by a threshold that rises as they are.
const FILTER: usize = 64;

/// The positions of the `out.len()` smallest keys in ascending order, of equal keys the first.
pub(crate) fn first<K: Key>(keys: &[K], out: &mut [u64], scratch: &mut [K]) {
    let k = out.len();
    if k == 0 {
        return;
    }
    let mut chosen: Vec<(K, u64)> = Vec::new();
    if k <= 256 && k * FILTER <= keys.len() {
        filter(keys, k, &mut chosen);
    } else {
        let last = nth(keys, k - 1, scratch);
        let mut equal = k - keys.iter().filter(|&&key| key < last).count();
        chosen.reserve(k);
        for (position, &key) in keys.iter().enumerate() {
            if key < last || (key == last && equal > 0) {
                equal -= usize::from(key == last);
                chosen.push((key, position as u64));
            }
        }
    }
    chosen.sort_unstable();
    for (out, (_, position)) in out.iter_mut().zip(chosen) {
        *out = position;
    }
}

/// Keeps the `k` smallest keys, dropping what the `k`-th so far rules out, block by block.
fn filter<K: Key>(keys: &[K], k: usize, chosen: &mut Vec<(K, u64)>) {
    const BLOCK: usize = 64;
    let full = (4 * k).max(BLOCK);
    chosen.reserve(full + BLOCK);
    let mut limit = K::MAX;
    let mut limited = false;
    for (index, block) in keys.chunks(BLOCK).enumerate() {
        if limited && !block.iter().fold(false, |any, &key| any | (key < limit)) {
            continue;
        }
        for (at, &key) in block.iter().enumerate() {
            if !limited || key < limit {
                chosen.push((key, (index * BLOCK + at) as u64));
            }
        }
        if chosen.len() >= full {
            let (_, last, _) = chosen.select_nth_unstable(k - 1);
            limit = last.0;
            limited = true;
            chosen.truncate(k);
        }
    }
    chosen.sort_unstable();
    chosen.truncate(k);
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodestride_buffer::DType;

    #[test]
    fn order_statistics_are_those_of_the_sorted_keys() {
        for len in [1usize, 2, 50, SHORT, SHORT + 1, 30_000] {
            for distinct in [1, 2, 5, 1000, u64::MAX] {
                let keys: Vec<u64> = (0..len as u64)
                    .map(|i| (i ^ 0x9e37).wrapping_mul(0x9e37_79b9_7f4a_7c15) % distinct)
                    .collect();
                let mut sorted = keys.clone();
                sorted.sort_unstable();
                let mut scratch = vec![0; len];
                for k in [0, len / 3, len / 2, len - 1] {
                    let next = sorted[(k + 1).min(len - 1)];
                    let found = nth_and_next(&keys, k, &mut scratch);
                    assert_eq!(found, (sorted[k], next), "{k} of {len}, {distinct}");
                }
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
        for len in [SHORT + 1, 10_007, 70_000] {
            for pattern in patterns {
                let mixed =
                    (0..len as u64).map(|i| (i ^ 0x9e37).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                let values: Vec<f64> = mixed.map(pattern).collect();
                for kth in [
                    &[0][..],
                    &[len / 2],
                    &[len - 1],
                    &[3, len / 3, len / 2, len - 2],
                ] {
                    check_floats::<u64>(DType::F64, &values, kth, f64::to_bits);
                    let narrow = |value: f64| u64::from((value as f32).to_bits());
                    check_floats::<u32>(DType::F32, &values, kth, narrow);
                }
            }
        }
    }
}
