//! One long line of keys among several threads: each puts chunks in groups, then the groups of all chunks are brought
//! together. Either each in the order its keys had, and what comes out is what dividing the whole line at once would give, so it
//! does not depend on the number of threads; or, for keys that will be sorted, by moving as little as possible.

use std::ops::Range;

use crate::sort_key::Key;
use crate::threads;

/// Keys of a chunk where `parts` share them, at least one: the size of `chunks`.
pub(crate) fn share_of<K>(keys: &[K], parts: usize) -> usize {
    keys.len().div_ceil(parts).max(1)
}

/// Calls `work` with chunks of `keys`, at the same time where there are `parts`.
pub(crate) fn each_chunk<K: Send>(keys: &mut [K], parts: usize, work: impl Fn(&mut [K]) + Sync) {
    let share = share_of(keys, parts);
    threads::for_each_part(keys.chunks_mut(share), work);
}

/// Moves the keys below a pivot to the front, both sides in their order; how many there are. The scratch memory is as long as
/// the keys.
pub(crate) type Partition<K> = fn(&mut [K], &mut [K], K) -> usize;

/// Moves keys so that those below the first of the ascending `pivots` come first, then those below the second, .., each
/// group in its order; where the groups end. `scratch` is as long as `keys`, `partition` tells what is below.
pub(crate) fn divide<K: Key>(
    keys: &mut [K],
    scratch: &mut [K],
    pivots: &[K],
    parts: usize,
    partition: Partition<K>,
) -> Vec<usize> {
    let groups = pivots.len() + 1;
    if parts == 1 {
        let mut counts = vec![0; groups];
        divide_chunk(keys, scratch, pivots, &mut counts, partition);
        return ends(&counts, groups);
    }
    let (ends, moved) = divide_aside(keys, scratch, pivots, parts, partition);
    let (keys, scratch) = (&mut keys[moved.clone()], &scratch[moved]);
    let share = share_of(keys, parts);
    let chunks = keys.chunks_mut(share).zip(scratch.chunks(share));
    threads::for_each_part(chunks, |(keys, scratch)| keys.copy_from_slice(scratch));
    ends
}

/// As [`divide`], with the keys of a group in any order: what is on its side of a pivot stays, and what is not changes places, which
/// moves half as many keys as to bring together what the threads have divided.
pub(crate) fn divide_in_place<K: Key>(
    keys: &mut [K],
    scratch: &mut [K],
    pivots: &[K],
    parts: usize,
) -> Vec<usize> {
    let mut stretches = vec![Stretch {
        end: keys.len(),
        pivots,
    }];
    while stretches.iter().any(|stretch| !stretch.pivots.is_empty()) {
        stretches = halve(keys, scratch, &stretches, share_of(keys, parts));
    }
    ends_of(&stretches).collect()
}

/// Keys from where the stretch before ends up to this end, and the ascending pivots that divide them.
#[derive(Clone, Copy)]
struct Stretch<'p, K> {
    end: usize,
    pivots: &'p [K],
}

impl<'p, K> Stretch<'p, K> {
    /// The pivot in the middle and those below and above it.
    fn halves(&self) -> Option<(&'p [K], &'p K, &'p [K])> {
        let (below, rest) = self.pivots.split_at(self.pivots.len() / 2);
        let (pivot, above) = rest.split_first()?;
        Some((below, pivot, above))
    }
}

/// Where stretches end.
fn ends_of<K>(stretches: &[Stretch<'_, K>]) -> impl Iterator<Item = usize> {
    stretches.iter().map(|stretch| stretch.end)
}

/// Divides every stretch at its middle pivot, in chunks of `share` keys.
fn halve<'p, K: Key>(
    keys: &mut [K],
    scratch: &mut [K],
    stretches: &[Stretch<'p, K>],
    share: usize,
) -> Vec<Stretch<'p, K>> {
    let counts = halve_chunks(keys, scratch, stretches, share);
    let mut counts = counts.iter().copied();
    let mut halves = Vec::with_capacity(2 * stretches.len());
    let mut moves = Vec::new();
    for (stretch, keys) in stretches
        .iter()
        .zip(split_at_ends(keys, ends_of(stretches)))
    {
        if let Some((below, _, above)) = stretch.halves() {
            let len = keys.len();
            let chunks: Vec<_> = (0..len).step_by(share).zip(&mut counts).collect();
            let middle = chunks.iter().map(|(_, below)| below).sum();
            let (left, right) = keys.split_at_mut(middle);
            let on_left = chunks
                .iter()
                .map(|(from, below)| middle.min(from + below)..middle.min(from + share));
            let on_right = chunks
                .iter()
                .map(|(from, below)| middle.max(*from) - middle..middle.max(from + below) - middle);
            exchange(
                pick(left, on_left),
                pick(right, on_right),
                share,
                &mut moves,
            );
            let middle = stretch.end - len + middle;
            let ends = [(middle, below), (stretch.end, above)];
            halves.extend(ends.map(|(end, pivots)| Stretch { end, pivots }));
        } else {
            halves.push(*stretch);
        }
    }
    threads::for_each_part(moves.into_iter(), |(left, right): (&mut [K], &mut [K])| {
        left.swap_with_slice(right);
    });
    halves
}

/// Divides chunks of every stretch at its middle pivot; how many keys of each are below.
fn halve_chunks<K: Key>(
    keys: &mut [K],
    scratch: &mut [K],
    stretches: &[Stretch<'_, K>],
    share: usize,
) -> Vec<usize> {
    let mut chunks = Vec::new();
    let both = split_at_ends(keys, ends_of(stretches))
        .into_iter()
        .zip(split_at_ends(scratch, ends_of(stretches)));
    for (stretch, (keys, scratch)) in stretches.iter().zip(both) {
        if let Some((_, &pivot, _)) = stretch.halves() {
            let both = keys.chunks_mut(share).zip(scratch.chunks_mut(share));
            chunks.extend(both.map(|(keys, scratch)| (keys, scratch, pivot)));
        }
    }
    let mut counts = vec![0; chunks.len()];
    let counted = chunks.into_iter().zip(&mut counts);
    threads::for_each_part(counted, |((keys, scratch, pivot), below)| {
        *below = partition_keys(keys, scratch, pivot);
    });
    counts
}

/// The parts of a slice up to ascending ends, each from the one before.
pub(crate) fn split_at_ends<K>(keys: &mut [K], ends: impl Iterator<Item = usize>) -> Vec<&mut [K]> {
    let mut start = 0;
    pick(
        keys,
        ends.map(|end| std::mem::replace(&mut start, end)..end),
    )
}

/// The parts of a slice in some ranges, one behind the other.
fn pick<K>(mut rest: &mut [K], ranges: impl Iterator<Item = Range<usize>>) -> Vec<&mut [K]> {
    let mut at = 0;
    let mut picked = Vec::new();
    for range in ranges {
        let (_, from) = rest.split_at_mut(range.start - at);
        let (part, later) = from.split_at_mut(range.len());
        picked.push(part);
        (rest, at) = (later, range.end);
    }
    picked
}

/// What changes places between parts that are as long in all, at most `most` keys at once.
fn exchange<'k, K>(
    left: Vec<&'k mut [K]>,
    right: Vec<&'k mut [K]>,
    most: usize,
    moves: &mut Vec<(&'k mut [K], &'k mut [K])>,
) {
    let mut right = right.into_iter();
    let mut to: &mut [K] = &mut [];
    for mut from in left {
        while !from.is_empty() {
            if to.is_empty() {
                let Some(next) = right.next() else { return };
                to = next;
            }
            let count = from.len().min(to.len()).min(most);
            let (now, later) = from.split_at_mut(count);
            let (to_now, to_later) = to.split_at_mut(count);
            moves.push((now, to_now));
            (from, to) = (later, to_later);
        }
    }
}

/// Leaves the groups in `scratch`, but for what is in its place among the keys: of the first group the first chunk's part, and of the
/// last group the last chunk's. Where the groups end, and the range that is in `scratch`.
fn divide_aside<K: Key>(
    keys: &mut [K],
    scratch: &mut [K],
    pivots: &[K],
    parts: usize,
    partition: Partition<K>,
) -> (Vec<usize>, Range<usize>) {
    let groups = pivots.len() + 1;
    let (len, share) = (keys.len(), share_of(keys, parts));
    let mut counts = vec![0; groups * len.div_ceil(share)];
    let chunks = keys.chunks_mut(share).zip(scratch.chunks_mut(share));
    let chunks = chunks.zip(counts.chunks_mut(groups));
    threads::for_each_part(chunks, |((keys, scratch), counts)| {
        divide_chunk(keys, scratch, pivots, counts, partition);
    });
    let moved = match counts[..] {
        [first, .., last] if groups > 1 => first..len - last,
        // One group alone is where it was.
        _ => 0..0,
    };
    let mut pieces = Vec::with_capacity(counts.len());
    let mut rest = &mut scratch[..len];
    let mut chunks: Vec<&[K]> = keys.chunks(share).collect();
    let mut start = 0;
    for group in 0..groups {
        for (chunk, keys) in chunks.iter_mut().enumerate() {
            let (from, later) = keys.split_at(counts[chunk * groups + group]);
            let (to, after) = rest.split_at_mut(from.len());
            if moved.contains(&start) {
                pieces.push((from, to));
            }
            start += from.len();
            (*keys, rest) = (later, after);
        }
    }
    threads::for_each_part(pieces.into_iter(), |(from, to)| to.copy_from_slice(from));
    (ends(&counts, groups), moved)
}

/// Where the groups end that have so many keys in each chunk.
fn ends(counts: &[usize], groups: usize) -> Vec<usize> {
    let of_group = |group: usize| {
        counts
            .chunks(groups)
            .map(|chunk| chunk[group])
            .sum::<usize>()
    };
    (0..groups)
        .scan(0, |end, group| {
            *end += of_group(group);
            Some(*end)
        })
        .collect()
}

/// Divides keys in place on this thread; how many there are of each group.
fn divide_chunk<K: Key>(
    keys: &mut [K],
    scratch: &mut [K],
    pivots: &[K],
    counts: &mut [usize],
    partition: Partition<K>,
) {
    let middle = pivots.len() / 2;
    let Some(&pivot) = pivots.get(middle) else {
        counts[0] = keys.len();
        return;
    };
    let below = partition(keys, scratch, pivot);
    let (keys, more_keys) = keys.split_at_mut(below);
    let (counts, more_counts) = counts.split_at_mut(middle + 1);
    divide_chunk(keys, scratch, &pivots[..middle], counts, partition);
    let pivots = &pivots[middle + 1..];
    divide_chunk(more_keys, scratch, pivots, more_counts, partition);
}

/// The [`Partition`] by the order of keys.
pub(crate) fn partition_keys<K: Key>(keys: &mut [K], scratch: &mut [K], pivot: K) -> usize {
    if let Some(below) = K::partition_vectors(keys, scratch, pivot) {
        return below;
    }
    let (mut below, mut above) = (0, 0);
    for index in 0..keys.len() {
        let key = keys[index];
        keys[below] = key;
        scratch[above] = key;
        let is_below = key < pivot;
        below += usize::from(is_below);
        above += usize::from(!is_below);
    }
    keys[below..].copy_from_slice(&scratch[..above]);
    below
}

/// Sorted keys of values at even distances, which stand for all.
pub(crate) fn sample<K: Key>(values: &[K], count: usize, key: impl Fn(K) -> K) -> Vec<K> {
    let step = values.len() / count;
    let mut sample: Vec<K> = (0..count).map(|index| key(values[index * step])).collect();
    if !K::sort_vectors(&mut sample, &mut []) {
        sample.sort_unstable();
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_keep_the_order_of_their_keys() {
        for len in [0u64, 1, 2, 7, 300, 20_000] {
            for distinct in [1, 3, 1000] {
                let keys: Vec<u64> = (0..len)
                    .map(|i| ((i ^ 0x9e37).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % distinct)
                    .collect();
                for pivots in [&[][..], &[1], &[0, 1, 2], &[100, 500, 501, u64::MAX]] {
                    let group = |key: u64| pivots.iter().filter(|&&pivot| pivot <= key).count();
                    let mut expected = keys.clone();
                    expected.sort_by_key(|&key| group(key));
                    let places = (0..=pivots.len())
                        .map(|last| keys.iter().filter(|&&key| group(key) <= last).count());
                    let places: Vec<usize> = places.collect();
                    for parts in [1, 2, 3, 16] {
                        let (mut found, mut scratch) = (keys.clone(), keys.clone());
                        let ends = divide(&mut found, &mut scratch, pivots, parts, partition_keys);
                        assert_eq!(ends, places, "{len}, {distinct}, {pivots:?}, {parts}");
                        assert_eq!(found, expected, "{len}, {distinct}, {pivots:?}, {parts}");
                        let mut moved = keys.clone();
                        let ends = divide_in_place(&mut moved, &mut scratch, pivots, parts);
                        assert_eq!(ends, places, "{len}, {distinct}, {pivots:?}, {parts}");
                        let mut start = 0;
                        for end in ends {
                            moved[start..end].sort_unstable();
                            found[start..end].sort_unstable();
                            start = end;
                        }
                        assert_eq!(moved, found, "{len}, {distinct}, {pivots:?}, {parts}");
                    }
                }
            }
        }
    }
}
