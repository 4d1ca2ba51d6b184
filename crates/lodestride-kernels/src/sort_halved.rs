//! Lines of 64-bit keys that lie within 32 bits of one another, as most integers do: sorted as keys of half the width, of which
//! vectors hold twice as many and, before AVX-512, have a minimum.

use crate::isa::{Arch, Isa, Level, Task};
use crate::sort_key::Key;
use crate::sort_radix::{glance, limits_of, sort_above};
use crate::sort_side::sort_side_by_side;

/// Most keys that are halved at a time: they stay in the second-level cache, and memory for them costs little.
const MOST: usize = 1 << 14;

/// Fewest keys of a line: shorter ones are sorted in less time than it takes to halve them.
const LEAST: usize = 16;

/// Sorts lines of `len` keys; false, having done nothing, where they do not fit, or AVX-512 sorts them as fast as they are.
pub(crate) fn sort_halved<K: Key>(lines: &mut [K], len: usize) -> bool {
    let fits = |(low, high): (u64, u64)| high - low <= u64::from(u32::MAX);
    let is_apt = K::BITS == 64 && len >= LEAST && lines.len() <= MOST && u32::has_vectors();
    if !is_apt || Level::current().isa() == Isa::Avx512 || !fits(glance(lines)) {
        return false;
    }
    let limits = limits_of(lines);
    if !fits(limits) {
        return false;
    }
    let low = limits.0;
    let mut room = vec![0; lines.len() + len];
    let (halves, scratch) = room.split_at_mut(lines.len());
    Level::current().run_narrow(Halve { lines, halves, low });
    if !sort_side_by_side(halves, len) {
        for line in halves.chunks_exact_mut(len) {
            sort_above(line, scratch, 0, 1);
        }
    }
    Level::current().run_narrow(Double { lines, halves, low });
    true
}

/// Writes how far keys are above the lowest.
struct Halve<'a, K> {
    lines: &'a [K],
    halves: &'a mut [u32],
    low: u64,
}

impl<K: Key> Task for Halve<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        for (half, &key) in self.halves.iter_mut().zip(self.lines) {
            *half = (key.to_u64() - self.low) as u32;
        }
    }
}

/// Writes the keys that are so far above the lowest.
struct Double<'a, K> {
    lines: &'a mut [K],
    halves: &'a [u32],
    low: u64,
}

impl<K: Key> Task for Double<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        for (key, &half) in self.lines.iter_mut().zip(self.halves) {
            *key = K::from_u64(self.low + u64::from(half));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_within_half_their_bits_are_sorted_as_the_others() {
        for len in [1usize, 2, 3, 24, 25, 64, 97, 300, 1000, MOST] {
            for lines in [1u64, 3, 20] {
                for (low, span) in [
                    (0, 1 << 32),
                    (u64::MAX - 5, 6),
                    (1 << 63, 99),
                    (7, (1 << 32) + 1),
                    (1 << 40, 1 << 33),
                ] {
                    let mixed = (0..lines * len as u64)
                        .map(|i| (i ^ 0x9e37).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
                    let mut keys: Vec<u64> = mixed.map(|key| low + key % span).collect();
                    keys[0] = low + (span - 1);
                    if let Some(last) = keys.last_mut() {
                        *last = low;
                    }
                    let mut expected = keys.clone();
                    let is_done = sort_halved(&mut keys, len);
                    if is_done {
                        for line in expected.chunks_exact_mut(len) {
                            line.sort_unstable();
                        }
                    }
                    assert!(keys == expected, "{lines} of {len}, {low} and {span}");
                    assert!(
                        !is_done || span <= 1 << 32 || keys.len() == 1,
                        "{low}, {span}"
                    );
                }
            }
        }
    }
}
