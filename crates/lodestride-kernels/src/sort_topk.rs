//! The first elements of lines in sorted order, and where they stand.
//!
//! A line is dealt out to groups. The k-th smallest of the smallest keys of all groups is no smaller than the k-th smallest
//! key, and little above it, so what is not larger is hardly more than was asked for.

use lodestride_buffer::{Argument, DType};

use crate::compact::compact;
use crate::door;
use crate::error::Result;
use crate::isa::{Arch, Level, Task};
use crate::operand::Operand;
use crate::row_copy::with_unit;
use crate::sort::{Sorting, TOGETHER, check};
use crate::sort_key::{Coding, Key};
use crate::sort_lines::{KEY_BYTES, Lines, Scratch, read_lines};
use crate::sort_order::order_lines;
use crate::sort_radix::count_out;
use crate::sort_share::share_of;
use crate::sort_side::is_short;
use crate::{spread, threads};

/// Writes the first `k` elements of each line of `x` in sorted order to `values` and their positions to `indices` (i64);
/// `k` is the size of both along `axis`. Of equal elements the first ones are taken.
///
/// # Errors
/// As [`sort`](crate::sort::sort); [`KernelError::OutOfRange`](crate::KernelError::OutOfRange) when `k` is beyond the axis.
pub fn topk(
    x: Operand<'_>,
    axis: usize,
    k: usize,
    sorting: Sorting,
    values: Operand<'_>,
    indices: Operand<'_>,
) -> Result<()> {
    const OP: &str = "topk";
    door::check_axis(OP, axis, x.layout().rank())?;
    let len = x.shape()[axis];
    door::check_range(OP, "k", k as f64, (0.0, len as f64))?;
    let mut shape = x.shape().clone();
    shape[axis] = k;
    check(OP, x, axis, indices, &shape)?;
    door::check_dtype(OP, Argument::Z, indices, DType::I64)?;
    door::check_output(OP, values, &shape)?;
    door::check_dtype(OP, Argument::Y, values, x.dtype())?;
    if values.layout().is_empty() {
        return Ok(());
    }
    let positions = Lines::beside(OP, values.layout(), axis, DType::I64)?;
    let chosen = Lines::beside(OP, values.layout(), axis, x.dtype())?;
    let coding = Coding::new(x.dtype(), sorting.is_descending());
    with_unit!(x.dtype(), K => read_lines::<K>(OP, x, axis, &mut |lines| {
        let (mut positions, mut chosen) = (positions.open(OP)?, chosen.open(OP)?);
        first_of_lines(OP, coding, (lines, len), (chosen.slice(), positions.slice(), k))
    }))?;
    chosen.write_to(OP, values, axis)?;
    positions.write_to(OP, indices, axis)
}

/// Writes the first `k` values of lines of `len`, and their positions, blocks of lines at a time where threads share them.
fn first_of_lines<K: Key>(
    op: &'static str,
    coding: Coding,
    (lines, len): (&[K], usize),
    (values, positions, k): (&mut [K], &mut [u64], usize),
) -> Result<()> {
    let parts = threads::parts(KEY_BYTES / 2 * lines.len(), true);
    let count = lines.len() / len;
    // A single line is left whole.
    let (share, parts) = if count < parts {
        (count, parts)
    } else {
        (count.div_ceil(parts), 1)
    };
    let mut outcomes: Vec<Result<()>> = vec![Ok(()); count.div_ceil(share)];
    let outs = values
        .chunks_mut(share * k)
        .zip(positions.chunks_mut(share * k));
    let blocks = lines.chunks(share * len).zip(outs).zip(&mut outcomes);
    threads::for_each_part(blocks, |((lines, outs), outcome)| {
        *outcome = first_of_block(op, coding, (lines, len), (outs.0, outs.1, k), parts);
    });
    outcomes.into_iter().collect()
}

fn first_of_block<K: Key>(
    op: &'static str,
    coding: Coding,
    (lines, len): (&[K], usize),
    (values, positions, k): (&mut [K], &mut [u64], usize),
    parts: usize,
) -> Result<()> {
    let order_all = k > len / 8 || is_short(lines, len);
    let (together, spare) = if order_all {
        ((TOGETHER / len).max(1), len)
    } else {
        (1, 0)
    };
    let scratch = Scratch::new::<u64>(op, (together + 1) * spare)?;
    let mut scratch = scratch.open(op)?;
    let (scratch, all) = scratch.slice::<u64>().split_at_mut(spare);
    let room = Scratch::new::<K>(op, together * len)?;
    let mut room = room.open(op)?;
    let keys = room.slice::<K>();
    let mut search = Search::new(k);
    let outs = values
        .chunks_mut(together * k)
        .zip(positions.chunks_mut(together * k));
    for (lines, (values, positions)) in lines.chunks(together * len).zip(outs) {
        let keys = &mut keys[..lines.len()];
        let share = share_of(keys, parts);
        let chunks = lines.chunks(share).zip(keys.chunks_mut(share));
        threads::for_each_part(chunks, |(lines, keys)| coding.rank_copies(lines, keys));
        if order_all {
            let all = &mut all[..lines.len()];
            order_lines(keys, len, all, scratch, parts);
            for (positions, all) in positions.chunks_exact_mut(k).zip(all.chunks_exact(len)) {
                positions.copy_from_slice(&all[..k]);
            }
        } else {
            search.first(keys, positions, parts);
        }
        let outs = values.chunks_exact_mut(k).zip(positions.chunks_exact(k));
        for (line, (values, positions)) in lines.chunks_exact(len).zip(outs) {
            for (value, &position) in values.iter_mut().zip(positions) {
                *value = line[position as usize];
            }
        }
    }
    Ok(())
}

/// Groups whose smallest keys stay in registers.
const GROUPS: usize = 64;
/// Keys that are searched at a time.
const BLOCK: usize = 1024;
/// Their numbers.
static NUMBERS: [u16; BLOCK] = {
    let (mut numbers, mut at) = ([0; BLOCK], 0);
    while at < BLOCK {
        numbers[at] = at as u16;
        at += 1;
    }
    numbers
};
/// Up to this many keys are put in order by counting which are smaller: no branch is guessed.
const FEW: usize = 32;

/// A key above its position: one type for keys of any width, so that selecting and sorting are compiled once.
type Placed = u128;

fn placed<K: Key>(key: K, position: usize) -> Placed {
    Placed::from(key.to_u64()) << u64::BITS | position as Placed
}

const fn position_of(placed: Placed) -> u64 {
    placed as u64
}

/// The positions of the first of the chosen keys, in the order of the keys.
#[inline(never)]
fn take_first(chosen: &mut Vec<Placed>, out: &mut [u64]) {
    let k = out.len();
    if chosen.len() > 2 * k {
        chosen.select_nth_unstable(k - 1);
        chosen.truncate(k);
    }
    chosen.sort_unstable();
    for (out, &placed) in out.iter_mut().zip(&*chosen) {
        *out = position_of(placed);
    }
}

/// Memory for one line after the other.
struct Search<K> {
    /// The smallest key of each group.
    lows: Vec<K>,
    /// Keys that may be among the first, in the order of their positions.
    chosen: Vec<Placed>,
}

impl<K: Key> Search<K> {
    /// For the first `k` keys of lines at least eight times as long.
    fn new(k: usize) -> Self {
        Self {
            lows: vec![K::MAX; (4 * k).next_multiple_of(GROUPS)],
            chosen: Vec::with_capacity(2 * k),
        }
    }

    /// The positions of the `out.len()` smallest keys in ascending order, of equal keys the first, found by so many threads.
    fn first(&mut self, keys: &[K], out: &mut [u64], parts: usize) {
        // Narrow keys are read as fast as threads are woken.
        let parts = if const { K::BITS >= 32 } { parts } else { 1 };
        let limit = self.limit(keys, out.len(), parts);
        self.collect(keys, limit, out.len(), parts);
        if self.chosen.len() <= FEW {
            place::<K>(&self.chosen, out);
        } else {
            take_first(&mut self.chosen, out);
        }
    }

    /// A key that at least `k` keys are not above.
    fn limit(&mut self, keys: &[K], k: usize, parts: usize) -> K {
        let sets = self.lows.len() / GROUPS;
        let groups = sets.div_ceil(parts) * GROUPS;
        self.lows.resize(groups * parts, K::MAX);
        // Of the line before, where there are fewer parts than threads.
        self.lows.fill(K::MAX);
        let chunks = keys.chunks(share_of(keys, parts));
        let chunks = chunks.zip(self.lows.chunks_mut(groups));
        threads::for_each_part(chunks, |(keys, lows)| {
            Level::current().run(Lows { keys, lows })
        });
        let lows = &mut self.lows[..];
        if lows.len() <= 4 * GROUPS && K::sort_vectors(lows, &mut []) {
            return lows[k - 1];
        }
        if const { K::BITS == 8 } {
            count_out(lows, K::ZERO, 1 << 8);
            return lows[k - 1];
        }
        *lows.select_nth_unstable(k - 1).1
    }

    /// The keys below `limit`, and at least the first `k` of those that equal it.
    fn collect(&mut self, keys: &[K], limit: K, k: usize, parts: usize) {
        self.chosen.clear();
        if const { K::BITS < 32 } || parts == 1 {
            return up_to(keys, 0, (limit, k), &mut self.chosen);
        }
        let share = share_of(keys, parts);
        let chosen = spread::map(keys.len().div_ceil(share), |part| {
            let (from, mut chosen) = (part * share, Vec::new());
            let keys = &keys[from..keys.len().min(from + share)];
            up_to(keys, from, (limit, k), &mut chosen);
            chosen
        });
        chosen.iter().for_each(|chosen| self.chosen.extend(chosen));
    }
}

/// Collects the keys below a limit, and the first `k` of those that equal it, with their positions, of which the first is `from`.
#[inline(never)]
fn up_to<K: Key>(keys: &[K], from: usize, (limit, k): (K, usize), chosen: &mut Vec<Placed>) {
    let mut equal = 0;
    let mut take = |at: usize| {
        let key = keys[at];
        let is_limit = key == limit;
        if !is_limit || equal < k {
            chosen.push(placed(key, from + at));
        }
        equal += usize::from(is_limit);
    };
    // Sixteen more, for vectors that are written whole.
    let (mut flags, mut found) = ([0; BLOCK], [0; BLOCK + 16]);
    let level = Level::current();
    for (block, keys) in keys.chunks(BLOCK).enumerate() {
        let flags = &mut flags[..keys.len()];
        level.run(UpTo { keys, limit, flags });
        let count = compact(&NUMBERS[..keys.len()], flags, &mut found, level);
        for &at in &found[..count] {
            take(block * BLOCK + usize::from(at));
        }
    }
}

/// Flags the keys up to a limit.
struct UpTo<'a, K> {
    keys: &'a [K],
    limit: K,
    flags: &'a mut [u8],
}

impl<K: Key> Task for UpTo<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        for (flag, &key) in self.flags.iter_mut().zip(self.keys) {
            *flag = u8::from(key <= self.limit);
        }
    }
}

/// Finds the smallest key of each group; keys are dealt out by 64, a group to each.
struct Lows<'a, K> {
    keys: &'a [K],
    lows: &'a mut [K],
}

impl<K: Key> Task for Lows<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let (chunks, rest) = self.keys.as_chunks::<GROUPS>();
        let (sets, _) = self.lows.as_chunks_mut::<GROUPS>();
        let step = sets.len();
        for (set, lows) in sets.iter_mut().enumerate() {
            let mut smallest = [K::MAX; GROUPS];
            for chunk in chunks.iter().skip(set).step_by(step) {
                for (low, &key) in smallest.iter_mut().zip(chunk) {
                    *low = key.min(*low);
                }
            }
            *lows = smallest;
        }
        for (low, &key) in self.lows.iter_mut().zip(rest) {
            *low = key.min(*low);
        }
    }
}

/// Puts the positions of a few keys, which ascend, in the order of the keys.
fn place<K: Key>(chosen: &[Placed], out: &mut [u64]) {
    let (mut keys, mut places) = ([K::MAX; FEW], [K::ZERO; FEW]);
    for (key, &placed) in keys.iter_mut().zip(chosen) {
        *key = K::from_u64((placed >> u64::BITS) as u64);
    }
    let (keys, count) = (&keys, chosen.len());
    let places_of = &mut places;
    Level::current().run(Places {
        keys,
        count,
        places: places_of,
    });
    for (place, &placed) in places.iter().zip(chosen) {
        if let Some(out) = out.get_mut(place.to_u64() as usize) {
            *out = position_of(placed);
        }
    }
}

/// Counts for each of a few keys how many come before it.
struct Places<'a, K> {
    keys: &'a [K; FEW],
    count: usize,
    places: &'a mut [K; FEW],
}

impl<K: Key> Task for Places<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let one = K::from_u64(1);
        let numbers: [K; FEW] = std::array::from_fn(|at| K::from_u64(at as u64));
        let mut places = [K::ZERO; FEW];
        for (at, &other) in self.keys[..self.count].iter().enumerate() {
            let number = K::from_u64(at as u64);
            for ((place, &key), &own) in places.iter_mut().zip(self.keys).zip(&numbers) {
                let is_before = (other < key) | ((other == key) & (number < own));
                *place = place.plus(if is_before { one } else { K::ZERO });
            }
        }
        *self.places = places;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<K: Key>(values: &[u64], k: usize, failures: &mut Vec<String>, what: &str) {
        let keys: Vec<K> = values.iter().map(|&value| K::from_u64(value)).collect();
        let mut expected: Vec<u64> = (0..keys.len() as u64).collect();
        expected.sort_by_key(|&at| keys[at as usize]);
        let mut found = vec![0; k];
        let mut search = Search::new(k);
        // What a line leaves must not matter.
        for parts in [1, 3, 7, 1] {
            search.first(&keys, &mut found, parts);
            if found != expected[..k] {
                let (len, bits) = (keys.len(), K::BITS);
                failures.push(format!("{k} of {len} {what}, {bits} bits, {parts} parts"));
            }
        }
    }

    /// The key at an index.
    type Pattern = fn(u64) -> u64;

    #[test]
    fn the_first_keys_are_found_in_any_order() {
        let patterns: [(&str, Pattern); 6] = [
            ("mixed", |i| {
                (i ^ 0x9e37).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7
            }),
            ("few", |i| {
                (i ^ 0x9e37).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61
            }),
            ("equal", |_| 7),
            ("largest", |_| u64::MAX),
            ("descending", |i| u64::MAX - i),
            // All small keys in few groups.
            ("periodic", |i| i % 64),
        ];
        let mut failures = Vec::new();
        for (what, pattern) in patterns {
            for len in [8, 63, 64, 65, 129, 1000, 4095, 4097, 20_000] {
                let values: Vec<u64> = (0..len).map(pattern).collect();
                for k in [1, 2, 10, 31, 33, 100, len as usize / 8] {
                    if k <= len as usize / 8 {
                        check::<u8>(&values, k, &mut failures, what);
                        check::<u16>(&values, k, &mut failures, what);
                        check::<u32>(&values, k, &mut failures, what);
                        check::<u64>(&values, k, &mut failures, what);
                    }
                }
            }
        }
        assert!(failures.is_empty(), "{failures:?}");
    }
}
