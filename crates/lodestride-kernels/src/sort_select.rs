//! Order statistics without sorting everything: the k-th key, partitions around it, the k first.

use smallvec::SmallVec;

use crate::sort_key::Key;
use crate::sort_share::{divide, sample};

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
        let (low, high) = bracket(keys, k);
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

/// Two keys that the `k`-th very probably lies between, by a sample at even distances.
fn bracket<K: Key>(keys: &[K], k: usize) -> (K, K) {
    let sample = sample(keys, SAMPLE);
    let at = (k as f64 / keys.len() as f64 * SAMPLE as f64) as usize;
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

/// Moves keys so that each of the ascending places `kth` has the key it has when sorted, the smaller ones before it and the
/// larger behind it; on the calling thread and up to `parts - 1` others.
pub(crate) fn partition_at<K: Key>(keys: &mut [K], kth: &[usize], scratch: &mut [K], parts: usize) {
    let mut start = 0;
    for &k in kth {
        settle(&mut keys[start..], k - start, scratch, parts);
        start = k + 1;
    }
}

/// [`partition_at`] one place: what is certainly before it and behind it is moved there, until little is left.
fn settle<K: Key>(mut keys: &mut [K], mut k: usize, scratch: &mut [K], parts: usize) {
    while keys.len() > SHORT {
        let (low, high) = bracket(keys, k);
        let mut pivots: SmallVec<[K; 2]> = SmallVec::new();
        pivots.extend((low > K::ZERO).then_some(low));
        pivots.extend((high < K::MAX).then(|| high.plus(K::from_u64(1))));
        let parts = if keys.len() > SHARED { parts } else { 1 };
        let ends = divide(keys, scratch, &pivots, parts);
        let group = ends.partition_point(|&end| end <= k);
        let start = if group == 0 { 0 } else { ends[group - 1] };
        let is_inside = group == usize::from(low > K::ZERO);
        if is_inside && low == high {
            return;
        }
        if ends[group] - start == keys.len() {
            break;
        }
        keys = &mut keys[start..ends[group]];
        k -= start;
    }
    keys.select_nth_unstable(k);
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
}
