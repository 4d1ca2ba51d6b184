//! Positions in sorted order: keys packed above their positions and sorted as one number.
//!
//! A packed number is unique, so equal keys stay in their order whatever the sort does with equal numbers. Keys of 64 bits
//! are packed by their upper half first, and only where those tie by the lower.

use smallvec::SmallVec;

use crate::sort_key::Key;
use crate::sort_radix::{limits_of, sort_above};
use crate::sort_runs::ascend;
use crate::sort_share::{each_chunk, share_of};
use crate::sort_side::{is_short, sort_side_by_side};
use crate::{spread, threads};

/// Lines that are longer do not have positions of 32 bits.
const LONGEST: usize = u32::MAX as usize;

/// From how many keys on a table of all that may occur is the fastest, of up to 16 bits.
const TABLE: usize = 1 << 14;

/// Up to so many parts, those of two threads, one thread with a table is faster than all that sort.
const TABLE_PARTS: usize = 2 * threads::PARTS;

/// As [`order`], of lines of `len` keys; several threads share a single one.
pub(crate) fn order_lines<K: Key>(
    keys: &[K],
    len: usize,
    out: &mut [u64],
    scratch: &mut [u64],
    parts: usize,
) {
    if ascend(keys, len) {
        return out.chunks_exact_mut(len).for_each(count_up);
    }
    if is_short(keys, len) && order_side_by_side(keys, len, out, scratch) {
        return;
    }
    let lines = keys.chunks_exact(len).zip(out.chunks_exact_mut(len));
    if K::BITS <= 16 && len < TABLE {
        let mut room = vec![0; 2 * len];
        lines.for_each(|(keys, out)| order_narrow(keys, out, &mut room));
    } else {
        lines.for_each(|(keys, out)| order(keys, out, scratch, parts));
    }
}

/// As [`order`] where positions do not fit beside keys: so seldom that one code for all keys is enough.
#[inline(never)]
fn order_long(out: &mut [u64], key: &dyn Fn(u64) -> u64) {
    count_up(out);
    out.sort_by_key(|&position| key(position));
}

/// The positions in their order.
fn count_up(positions: &mut [u64]) {
    for (at, position) in (0..).zip(positions) {
        *position = at;
    }
}

/// As [`order`] where keys and positions fit in numbers of half the width; there is room for each number twice.
fn order_narrow<K: Key>(keys: &[K], out: &mut [u64], room: &mut [u32]) {
    let (packed, scratch) = room.split_at_mut(keys.len());
    for (position, (packed, key)) in (0..).zip(packed.iter_mut().zip(keys)) {
        *packed = ((key.to_u64() as u32) << 16) | position;
    }
    sort_above(packed, scratch, 16, 1);
    for (out, &mut packed) in out.iter_mut().zip(packed) {
        *out = u64::from(packed as u16);
    }
}

/// Short lines are packed, then sorted side by side; false where there are no vectors to do it with.
fn order_side_by_side<K: Key>(
    keys: &[K],
    len: usize,
    out: &mut [u64],
    scratch: &mut [u64],
) -> bool {
    let (low, varying) = if K::BITS == 64 {
        varying_bits(keys, 1)
    } else {
        (0, K::BITS)
    };
    let shift = varying.saturating_sub(32);
    for (keys, out) in keys.chunks_exact(len).zip(out.chunks_exact_mut(len)) {
        pack_from(0, keys, out, |key| (key.to_u64() - low) >> shift);
    }
    let is_done = sort_side_by_side(out, len);
    if is_done {
        match K::BITS {
            // Where one line ends and the next begins is no tie, but asking costs less than telling.
            64 if shift > 0 && has_ties(out) => {
                for (keys, out) in keys.chunks_exact(len).zip(out.chunks_exact_mut(len)) {
                    settle_runs(keys, out, scratch);
                }
            }
            _ => {}
        }
        unpack(out, 1);
    }
    is_done
}

/// Writes the positions of `keys` in ascending order, equal keys in their order; `scratch` is as long as `keys`.
fn order<K: Key>(keys: &[K], out: &mut [u64], scratch: &mut [u64], parts: usize) {
    if keys.len() > LONGEST {
        return order_long(out, &|position| keys[position as usize].to_u64());
    }
    let is_table = K::BITS <= 16 || (keys.len() >= TABLE && parts <= TABLE_PARTS);
    let (low, varying) = match K::BITS {
        8 | 16 => (0, K::BITS),
        32 if !is_table => (0, K::BITS),
        _ => varying_bits(keys, parts),
    };
    if is_table && varying <= 16 {
        return by_table(keys, low, varying, out);
    }
    // Sorts by the upper 32 of the bits that vary, then the ties by the rest.
    let shift = varying.saturating_sub(32);
    pack(keys, out, parts, |key| (key.to_u64() - low) >> shift);
    sort_above(out, scratch, 32, parts);
    if shift > 0 {
        settle_ties(keys, out, scratch, parts);
    }
    unpack(out, parts);
}

fn pack<K: Key>(keys: &[K], out: &mut [u64], parts: usize, upper: impl Fn(K) -> u64 + Sync) {
    if parts == 1 {
        return pack_from(0, keys, out, upper);
    }
    let share = share_of(keys, parts);
    let chunks = out.chunks_mut(share).zip(keys.chunks(share));
    threads::for_each_part(chunks.enumerate(), |(chunk, (out, keys))| {
        pack_from(chunk * share, keys, out, &upper);
    });
}

/// Packs keys whose first one stands at a position.
fn pack_from<K: Key>(from: usize, keys: &[K], out: &mut [u64], upper: impl Fn(K) -> u64) {
    for (position, (out, &key)) in (from..).zip(out.iter_mut().zip(keys)) {
        *out = (upper(key) << 32) | position as u64;
    }
}

fn unpack(packed: &mut [u64], parts: usize) {
    each_chunk(packed, parts, |packed| {
        for number in packed {
            *number = position(*number) as u64;
        }
    });
}

/// The position in a packed number.
fn position(packed: u64) -> usize {
    packed as u32 as usize
}

/// Counts every possible key of so many bits from `low` on, then deals the positions out.
fn by_table<K: Key>(keys: &[K], low: u64, bits: u32, out: &mut [u64]) {
    let mut places = vec![0u32; 1 << bits];
    for key in keys {
        places[(key.to_u64() - low) as usize] += 1;
    }
    let mut at = 0;
    for place in &mut places {
        at += std::mem::replace(place, at);
    }
    for (position, key) in keys.iter().enumerate() {
        let place = &mut places[(key.to_u64() - low) as usize];
        out[*place as usize] = position as u64;
        *place += 1;
    }
}

/// The smallest key, and how many bits vary in keys above it.
fn varying_bits<K: Key>(keys: &[K], parts: usize) -> (u64, u32) {
    let (low, high) = limits(keys, parts);
    (low, u64::BITS - high.saturating_sub(low).leading_zeros())
}

/// The smallest and the largest key.
fn limits<K: Key>(keys: &[K], parts: usize) -> (u64, u64) {
    if parts == 1 {
        return limits_of(keys);
    }
    let share = share_of(keys, parts);
    let chunks: SmallVec<[&[K]; 8]> = keys.chunks(share).collect();
    let limits = spread::map(chunks.len(), |chunk| limits_of(chunks[chunk]));
    limits.iter().fold((u64::MAX, 0), |limits, chunk| {
        (limits.0.min(chunk.0), limits.1.max(chunk.1))
    })
}

/// Whether two packed numbers tie.
fn is_tie(a: u64, b: u64) -> bool {
    a >> 32 == b >> 32
}

/// Sorts runs of packed numbers that tie by the whole keys.
fn settle_ties<K: Key>(keys: &[K], packed: &mut [u64], scratch: &mut [u64], parts: usize) {
    if parts == 1 {
        return settle_runs(keys, packed, scratch);
    }
    let share = share_of(packed, parts);
    let mut chunks = Vec::with_capacity(parts);
    let (mut rest, mut scratch) = (packed, scratch);
    while !rest.is_empty() {
        // No run is cut in two.
        let mut end = share.min(rest.len());
        while end < rest.len() && is_tie(rest[end - 1], rest[end]) {
            end += 1;
        }
        let (now, later) = rest.split_at_mut(end);
        let (now_scratch, later_scratch) = scratch.split_at_mut(end);
        chunks.push((now, now_scratch));
        (rest, scratch) = (later, later_scratch);
    }
    threads::for_each_part(chunks.into_iter(), |(packed, scratch)| {
        settle_runs(keys, packed, scratch);
    });
}

fn has_ties(packed: &[u64]) -> bool {
    packed.windows(2).any(|pair| is_tie(pair[0], pair[1]))
}

fn settle_runs<K: Key>(keys: &[K], packed: &mut [u64], scratch: &mut [u64]) {
    if !has_ties(packed) {
        return;
    }
    for run in packed.chunk_by_mut(|&a, &b| is_tie(a, b)) {
        if run.len() > 1 {
            settle(keys, run, scratch);
        }
    }
}

/// Sorts a run of packed numbers whose keys agree in the upper bits by the whole keys.
fn settle<K: Key>(keys: &[K], run: &mut [u64], scratch: &mut [u64]) {
    let key = |packed: u64| keys[position(packed)].to_u64();
    if run.len() <= 32 {
        // One after the other is put in its place: the standard library's sort is ten times the code.
        let place = |packed: u64| (key(packed), position(packed));
        for end in 1..run.len() {
            let packed = run[end];
            let at = run[..end].partition_point(|&other| place(other) < place(packed));
            run.copy_within(at..end, at + 1);
            run[at] = packed;
        }
        return;
    }
    let low = run.iter().map(|&packed| key(packed)).min().unwrap_or(0);
    for packed in run.iter_mut() {
        // The upper bits agree, so the difference has at most 32 bits.
        *packed = ((key(*packed) - low) << 32) | u64::from(*packed as u32);
    }
    let count = run.len();
    sort_above(run, &mut scratch[..count], 32, 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_of_the_upper_half_are_settled_by_the_lower() {
        for (lines, len) in [
            (1u64, 1u64),
            (1, 2),
            (1, 31),
            (1, 33),
            (2, 300),
            (1, 5000),
            (16, 2),
            (70, 3),
            (33, 24),
        ] {
            let keys: Vec<u64> = (0..lines * len)
                .map(|i| {
                    let mixed = (i ^ 0x9e37).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
                    ((mixed % 3) << 62) | ((mixed >> 8) % 40)
                })
                .collect();
            let (mut out, mut scratch) = (vec![0; keys.len()], vec![0; keys.len()]);
            order_lines(&keys, len as usize, &mut out, &mut scratch, 1);
            let expected = keys.chunks(len as usize).flat_map(|keys| {
                let mut expected: Vec<u64> = (0..len).collect();
                expected.sort_by_key(|&i| keys[i as usize]);
                expected
            });
            assert_eq!(out, expected.collect::<Vec<_>>(), "{lines} of {len}");
        }
    }

    /// No line of a test is so long that its positions do not fit, so the way for these is asked itself.
    #[test]
    fn long_lines_keep_the_order_of_equal_keys() {
        let keys: Vec<u64> = (0..500).map(|i| i * i % 17).collect();
        let mut expected: Vec<u64> = (0..500).collect();
        expected.sort_by_key(|&at| (keys[at as usize], at));
        let mut out = vec![0; keys.len()];
        order_long(&mut out, &|position| keys[position as usize]);
        assert_eq!(out, expected);
    }
}
