//! The k-th key of a line and the one after it: what lies far from them is counted, and only what is near is copied.

use crate::compact::{Unit, compact};
use crate::isa::{Arch, Level, Task};
use crate::sort_key::Key;
use crate::sort_select::{Ends, SHORT, bracket, nth};
use crate::sort_share::share_of;
use crate::{spread, threads};

/// Up to this many keys are not shared among threads.
const SHARED: usize = 1 << 16;

/// Keys that are looked at together, before those near are copied.
const BLOCK: usize = 1024;

/// The `k`-th smallest key and the one after it (itself where it is the last), by up to `parts` threads; may move the keys.
/// The scratch memory is as long as the keys.
pub(crate) fn nth_and_next<K: Key + Unit>(
    keys: &mut [K],
    k: usize,
    scratch: &mut [K],
    parts: usize,
) -> (K, K) {
    // Shorter keys are counted.
    if const { K::BITS >= 32 }
        && keys.len() > SHORT
        && let Some(pair) = near(keys, k, scratch, parts)
    {
        return pair;
    }
    let key = nth(keys, k, scratch);
    let behind = keys[k + 1..].iter().copied();
    (key, behind.reduce(K::min).unwrap_or(key))
}

/// The two keys, where the bracket of a sample has both and not too many others.
fn near<K: Key + Unit>(keys: &[K], k: usize, scratch: &mut [K], parts: usize) -> Option<(K, K)> {
    let (low, high) = bracket(keys, k, |key| key);
    let parts = if keys.len() > SHARED { parts } else { 1 };
    let share = share_of(keys, parts);
    let mut found = vec![(0, 0); keys.len().div_ceil(share)];
    let chunks = keys.chunks(share).zip(scratch.chunks_mut(share));
    threads::for_each_part(chunks.zip(&mut found), |((keys, out), found)| {
        *found = collect(keys, (low, high), out);
    });
    let below: usize = found.iter().map(|(below, _)| below).sum();
    let mut inside = 0;
    for (chunk, &(_, count)) in found.iter().enumerate() {
        scratch.copy_within(chunk * share..chunk * share + count, inside);
        inside += count;
    }
    let last = (k + 1).min(keys.len() - 1);
    if k < below || last >= below + inside {
        return None;
    }
    if low == high {
        return Some((low, low));
    }
    // A sample that tells nothing, of keys made so or of few different ones, would not tell more of those inside.
    if 2 * inside > keys.len() {
        return None;
    }
    let (keys, scratch) = scratch.split_at_mut(inside);
    Some(nth_and_next(keys, k - below, scratch, parts))
}

/// Copies the keys from `low` to `high` to the front of `out`; how many are below them, and how many are copied.
#[inline(never)]
fn collect<K: Key + Unit>(keys: &[K], (low, high): (K, K), out: &mut [K]) -> (usize, usize) {
    let level = Level::current();
    let mut flags = [0; BLOCK];
    let (mut below, mut inside) = (0, 0);
    for keys in keys.chunks(BLOCK) {
        let flags = &mut flags[..keys.len()];
        below += level.run_narrow(Between {
            keys,
            low,
            high,
            flags,
        });
        inside += compact(keys, flags, &mut out[inside..], level);
    }
    (below, inside)
}

/// Flags the keys between two, and counts those below: less than the keys can count.
struct Between<'a, K> {
    keys: &'a [K],
    low: K,
    high: K,
    flags: &'a mut [u8],
}

impl<K: Key> Task for Between<'_, K> {
    type Output = usize;

    #[inline(always)]
    fn run<A: Arch>(self) -> usize {
        let one = K::from_u64(1);
        let mut below = K::ZERO;
        for (flag, &key) in self.flags.iter_mut().zip(self.keys) {
            *flag = u8::from((key >= self.low) & (key <= self.high));
            below = below.plus(if key < self.low { one } else { K::ZERO });
        }
        below.to_u64() as usize
    }
}

/// How many keys equal one, counted by up to `parts` threads.
#[inline(never)]
pub(crate) fn count_equal<K: Key>(keys: &[K], key: K, parts: usize) -> usize {
    let parts = if keys.len() > SHARED { parts } else { 1 };
    let chunks: Vec<&[K]> = keys.chunks(share_of(keys, parts)).collect();
    let count = |keys: &[K]| {
        let (below, up_to) = Level::current().run_narrow(Ends { keys, pivot: key });
        up_to - below
    };
    spread::map(chunks.len(), |chunk| count(chunks[chunk]))
        .iter()
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<K: Key + Unit>(values: &[u64], what: &str, failures: &mut Vec<String>) {
        let keys: Vec<K> = values.iter().map(|&value| K::from_u64(value)).collect();
        let (len, mut sorted) = (keys.len(), keys.clone());
        sorted.sort_unstable();
        let mut scratch = vec![K::ZERO; len];
        for k in [0, 1, len / 3, len / 2, len.saturating_sub(2), len - 1] {
            let expected = (sorted[k.min(len - 1)], sorted[(k + 1).min(len - 1)]);
            for parts in [1, 3] {
                // Twice: the keys may have moved.
                let mut keys = keys.clone();
                for _ in 0..2 {
                    let found = nth_and_next(&mut keys, k.min(len - 1), &mut scratch, parts);
                    if found != expected {
                        let bits = K::BITS;
                        failures.push(format!("{k} of {len} {what}, {bits} bits, {parts} parts"));
                    }
                }
            }
        }
        let key = sorted[len / 2];
        let expected = keys.iter().filter(|&&other| other == key).count();
        if [1, 3].map(|parts| count_equal(&keys, key, parts)) != [expected; 2] {
            failures.push(format!("count in {len} {what}"));
        }
    }

    #[test]
    fn order_statistics_are_those_of_the_sorted_keys() {
        let mixed = |i: u64| (i ^ 0x9e37).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut failures = Vec::new();
        for len in [1, 2, 50, SHORT, SHORT + 1, 30_000, SHARED + 7, 2 * SHARED] {
            let of = |key: &dyn Fn(u64) -> u64| (0..len as u64).map(key).collect::<Vec<u64>>();
            let mut lines: Vec<(String, Vec<u64>)> = [1, 2, 5, 1000, u64::MAX]
                .iter()
                .map(|&distinct| (format!("{distinct}"), of(&|i| mixed(i) % distinct)))
                .collect();
            lines.push(("ascending".into(), of(&|i| i)));
            lines.push(("largest".into(), of(&|i| u64::MAX - i % 3)));
            // What samples see is all alike.
            let step = (len as u64 / 1024).max(2);
            let deceiving = |i: u64| if i.is_multiple_of(step) { 7 } else { mixed(i) };
            lines.push(("deceiving".into(), of(&deceiving)));
            for (what, values) in &lines {
                check::<u8>(values, what, &mut failures);
                check::<u16>(values, what, &mut failures);
                check::<u32>(values, what, &mut failures);
                check::<u64>(values, what, &mut failures);
            }
        }
        assert!(failures.is_empty(), "{failures:?}");
    }
}
