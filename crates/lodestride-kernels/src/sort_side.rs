//! Sorting lines of a few keys, many of them side by side: their first keys are one row, their second keys the next, and a
//! network without branches exchanges keys of two rows at a time.
//!
//! The network is Batcher's odd-even merge for any number of rows (Knuth, volume 3, 5.2.2, algorithm M).

use smallvec::SmallVec;

use crate::isa::{Arch, Level, Task};
use crate::sort_key::Key;
use crate::square::transpose;

/// Keys of the longest line that is sorted so. On an AMD EPYC, lines of 24 keys of 64 bits took a sixth less than by the networks
/// of AVX-512, and lines of 32 a quarter more.
const LONGEST: usize = 24;

/// Lines that are sorted at a time.
const LANES: usize = 64;

/// Fewer lines are sorted one after the other.
const FEWEST: usize = 16;

/// Whether lines of `len` keys are better sorted side by side than one after the other.
pub(crate) fn is_short<K: Key>(lines: &[K], len: usize) -> bool {
    (2..=LONGEST).contains(&len) && lines.len() >= FEWEST * len
}

/// Sorts lines of `len` keys each where they are short and there are vectors to do it with; else does nothing and answers false.
pub(crate) fn sort_side_by_side<K: Key>(lines: &mut [K], len: usize) -> bool {
    if !is_short(lines, len) {
        return false;
    }
    let network = &network(len);
    let task = SideBySide {
        lines,
        len,
        network,
    };
    let level = Level::current();
    // Only keys of 64 bits have no minimum before AVX-512.
    if K::BITS == 64 {
        level.run_tuned(task).is_ok()
    } else {
        level.run_narrow_tuned(task).is_ok()
    }
}

struct SideBySide<'a, K> {
    lines: &'a mut [K],
    len: usize,
    network: &'a [(u8, u8)],
}

impl<K: Key> Task for SideBySide<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let mut rows = SmallVec::<[[K; LANES]; LONGEST]>::from_elem([K::ZERO; LANES], self.len);
        for lines in self.lines.chunks_mut(LANES * self.len) {
            let count = lines.len() / self.len;
            let columns = (rows.as_flattened_mut(), LANES);
            transpose::<A, K>((lines, self.len), columns, (count, self.len));
            for &(low, high) in self.network {
                let (lower, upper) = rows.split_at_mut(high.into());
                exchange(&mut lower[usize::from(low)], &mut upper[0]);
            }
            let columns = (rows.as_flattened(), LANES);
            transpose::<A, K>(columns, (lines, self.len), (self.len, count));
        }
    }
}

/// What rows are exchanged, in order, to sort every column of so many.
fn network(count: usize) -> SmallVec<[(u8, u8); 64]> {
    let mut pairs = SmallVec::new();
    let top = count.next_power_of_two() / 2;
    let mut step = top;
    while step > 0 {
        let (mut from, mut rest, mut apart) = (top, 0, step);
        loop {
            let rows = (0..count - apart).filter(|low| low & step == rest);
            pairs.extend(rows.map(|low| (low as u8, (low + apart) as u8)));
            if from == step {
                break;
            }
            (apart, rest) = (from - step, step);
            from /= 2;
        }
        step /= 2;
    }
    pairs
}

/// Puts the smaller of two keys in the first row and the larger in the second, column by column. All columns, whether they are
/// lines or not: loops of a known length become vectors without a rest. Which rows these are is not for the compiler to know,
/// or it would look once for all pairs whether they overlap, and find that some do.
#[inline(always)]
fn exchange<K: Key>(first: &mut [K; LANES], second: &mut [K; LANES]) {
    for (first, second) in first.iter_mut().zip(second) {
        (*first, *second) = ((*first).min(*second), (*first).max(*second));
    }
}
