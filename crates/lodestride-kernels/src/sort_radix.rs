//! Sorting keys: counting and radix passes, groups divided by sampled pivots where several threads share the work.
//!
//! Passes that would move nothing are skipped, and runs that already ascend or descend are recognised, so no order of the
//! input is slower than a random one. Keys that are equal are the same bits, so the result is the same on every machine and
//! at every number of threads.

use crate::isa::{Arch, Isa, Level, Task};
use crate::sort_key::Key;
use crate::sort_share::{divide, divide_in_place, partition_keys, sample, split_at_ends};
use crate::threads;

/// Sorts keys ascending by their bits from `low` on, where keys that agree in those already ascend by the others; on the calling thread and up to `parts - 1` others.
/// `scratch` is no shorter than `keys`.
pub(crate) fn sort_above<K: Key>(keys: &mut [K], scratch: &mut [K], low: u32, parts: usize) {
    let scratch = &mut scratch[..keys.len()];
    if keys.len() < 2 || (keys.len() <= FEW && K::sort_vectors(keys, scratch)) {
        return;
    }
    if let Some(descends) = is_in_order(keys, |key| key) {
        if descends {
            keys.reverse();
        }
        return;
    }
    let is_long = keys.len() > MANY;
    let is_counted = is_counted::<K>(keys.len());
    // Many passes need keys that the caches hold.
    let is_done = (low == 0 && counts_fast(keys))
        || (!is_counted && parts > 1 && is_long && split(keys, scratch, low, parts))
        || (!is_counted && K::sort_vectors(keys, scratch))
        || (K::BITS - low > 32 && is_long && split(keys, scratch, low, 1));
    if !is_done {
        sort_run(keys, scratch, low);
    }
}

/// Whether the keys of values ascend (`Some(false)`) or strictly descend (`Some(true)`). Looks no further than the first
/// break.
pub(crate) fn is_in_order<K: Key>(values: &[K], key: impl Fn(K) -> K) -> Option<bool> {
    let descends = key(values[0]) > key(values[1]);
    let broken = if descends {
        values.windows(2).any(|pair| key(pair[0]) <= key(pair[1]))
    } else {
        values.windows(2).any(|pair| key(pair[0]) > key(pair[1]))
    };
    (!broken).then_some(descends)
}

/// Up to this many keys the standard library's sort is faster than passes with their tables.
pub(crate) const FEW: usize = 96;

/// From this many keys on, fewer passes over wider digits pay for their larger tables.
pub(crate) const MANY: usize = 1 << 16;

/// Beyond this many keys of 16 bits, which the second-level cache does not hold, counting is faster than partitions: on Zen 5
/// a third of the time for a million `f16` between 0 and 1, half of it for four million with all bits random.
pub(crate) const COUNTED: usize = 1 << 19;

/// Whether every key that may occur is best counted, however many threads could share the line.
pub(crate) fn is_counted<K: Key>(len: usize) -> bool {
    let least = if K::has_vectors() { COUNTED } else { MANY / 4 };
    K::BITS <= 16 && len > least
}

/// Sorts keys that are in no order, on this thread.
fn sort_run<K: Key>(keys: &mut [K], scratch: &mut [K], low: u32) {
    if keys.len() <= FEW || keys.len() > u32::MAX as usize {
        return keys.sort_unstable();
    }
    match K::BITS {
        8 => count_out(keys, K::ZERO, 1 << 8),
        16 if keys.len() >= MANY / 4 => count_out(keys, K::ZERO, 1 << 16),
        _ if keys.len() <= MANY || K::BITS > 32 => passes::<K, 8>(keys, scratch, low),
        _ => passes::<K, 11>(keys, scratch, low),
    }
}

/// Counts keys of few values where that is faster than dividing them: not with AVX-512. Whether it was done.
fn counts_fast<K: Key>(keys: &mut [K]) -> bool {
    /// Most values that are counted: so many that the counts stay in the first-level cache.
    const SPAN: u64 = 1 << 11;
    /// Keys for each value, at least: one takes as long as two are long to be written.
    const EACH: u64 = 4;
    let is_possible = K::BITS >= 32 && keys.len() <= u32::MAX as usize;
    if !is_possible || Level::current().isa() == Isa::Avx512 {
        return false;
    }
    let most = SPAN.min(keys.len() as u64 / EACH);
    let span = |(low, high): (u64, u64)| (high - low).saturating_add(1);
    if span(glance(keys)) > most {
        return false;
    }
    let limits = limits_of(keys);
    let is_counted = span(limits) <= most;
    if is_counted {
        count_out(keys, K::from_u64(limits.0), span(limits) as usize);
    }
    is_counted
}

/// The smallest and the largest of a few keys.
pub(crate) fn glance<K: Key>(keys: &[K]) -> (u64, u64) {
    const SEEN: usize = 16;
    let step = keys.len().div_ceil(SEEN).max(1);
    let (low, high) = keys.iter().step_by(step).fold((K::MAX, K::ZERO), wider);
    (low.to_u64(), high.to_u64())
}

fn wider<K: Key>((low, high): (K, K), &key: &K) -> (K, K) {
    (low.min(key), high.max(key))
}

/// Finds the smallest and the largest key.
struct Limits<'a, K> {
    keys: &'a [K],
}

impl<K: Key> Task for Limits<'_, K> {
    type Output = (K, K);

    #[inline(always)]
    fn run<A: Arch>(self) -> (K, K) {
        self.keys.iter().fold((K::MAX, K::ZERO), wider)
    }
}

/// The smallest and the largest key.
pub(crate) fn limits_of<K: Key>(keys: &[K]) -> (u64, u64) {
    let (low, high) = Level::current().run_narrow(Limits { keys });
    (low.to_u64(), high.to_u64())
}

/// Counts how often each of `span` keys from `low` on occurs and writes them out in order.
pub(crate) fn count_out<K: Key>(keys: &mut [K], low: K, span: usize) {
    let mut counts = vec![[0u32; 4]; span];
    let place = |key: K| key.minus(low).to_u64() as usize;
    let (quads, rest) = keys.as_chunks::<4>();
    for quad in quads {
        for (lane, &key) in quad.iter().enumerate() {
            counts[place(key)][lane] += 1;
        }
    }
    for &key in rest {
        counts[place(key)][0] += 1;
    }
    let mut at = 0;
    for (key, count) in counts.iter().enumerate() {
        let count = count.iter().map(|&count| count as usize).sum::<usize>();
        keys[at..at + count].fill(low.plus(K::from_u64(key as u64)));
        at += count;
    }
}

/// Least digit first: one stable pass per digit of `DIGIT` bits that is not the same in all keys.
fn passes<K: Key, const DIGIT: u32>(keys: &mut [K], scratch: &mut [K], low: u32) {
    let buckets = 1usize << DIGIT;
    let digits = (K::BITS - low).div_ceil(DIGIT) as usize;
    let mut tables = vec![0u32; digits << DIGIT];
    for key in keys.iter() {
        let mut rest = key.to_u64() >> low;
        for table in tables.chunks_exact_mut(buckets) {
            table[rest as usize & (buckets - 1)] += 1;
            rest >>= DIGIT;
        }
    }
    let (mut from, mut to) = (&mut *keys, &mut *scratch);
    let mut moved = false;
    for (digit, table) in tables.chunks_exact_mut(buckets).enumerate() {
        let shift = low + digit as u32 * DIGIT;
        let first = (from[0].to_u64() >> shift) as usize & (buckets - 1);
        if table[first] as usize == from.len() {
            continue;
        }
        let mut at = 0;
        for count in table.iter_mut() {
            at += std::mem::replace(count, at);
        }
        for &key in from.iter() {
            let place = &mut table[(key.to_u64() >> shift) as usize & (buckets - 1)];
            to[*place as usize] = key;
            *place += 1;
        }
        (from, to) = (to, from);
        moved = !moved;
    }
    if moved {
        keys.copy_from_slice(scratch);
    }
}

/// Keys looked at for each group that a line is divided into.
const SAMPLE: usize = 64;

/// Keys looked at for all of them, at least.
const SAMPLES: usize = 1024;

/// Parts for each group: two groups a thread, so that one that comes late sorts less. Every further division is a turn in which all
/// wait for the last.
const PARTS_OF_GROUP: usize = threads::PARTS / 2;

/// Most groups of a line.
const GROUPS: usize = 64;

/// Divides keys at sampled pivots and sorts the groups, at the same time where there are parts; false where no pivot
/// divides the keys, which then are few different ones.
fn split<K: Key>(keys: &mut [K], scratch: &mut [K], low: u32, parts: usize) -> bool {
    let groups = (parts / PARTS_OF_GROUP)
        .next_power_of_two()
        .clamp(2, GROUPS);
    let each = SAMPLE.max(SAMPLES / groups);
    let sample = sample(keys, groups * each, |key| key);
    let mut pivots: Vec<K> = sample.iter().copied().step_by(each).collect();
    pivots.dedup();
    // The smallest key divides nothing.
    let pivots = &pivots[1..];
    if pivots.is_empty() {
        return false;
    }
    // Passes over the bits from `low` on need the order of the others.
    let ends = if low == 0 || K::has_vectors() {
        divide_in_place(keys, scratch, pivots, parts)
    } else {
        divide(keys, scratch, pivots, parts, partition_keys)
    };
    let groups = split_at_ends(keys, ends.iter().copied())
        .into_iter()
        .zip(split_at_ends(scratch, ends.iter().copied()));
    threads::for_each_part(groups, |(keys, scratch)| {
        sort_above(keys, scratch, low, 1);
    });
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<K: Key>(len: u64) {
        let mixed = (0..len).map(|i| (i ^ 0x9e37).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
        let keys: Vec<K> = mixed.map(K::from_u64).collect();
        let mut expected = keys.clone();
        expected.sort();
        let mut counted = keys.clone();
        count_out(&mut counted, K::ZERO, 1 << K::BITS);
        assert!(counted == expected, "{len} of {} bits", K::BITS);
        let (mut passed, mut scratch) = (keys.clone(), keys);
        passes::<K, 8>(&mut passed, &mut scratch, 0);
        assert!(passed == expected, "{len} of {} bits", K::BITS);
    }

    #[test]
    fn keys_that_vectors_would_sort_are_counted_and_dealt_out() {
        for len in [1, 3, 100, 70_001] {
            check::<u8>(len);
            check::<u16>(len);
        }
    }
}
