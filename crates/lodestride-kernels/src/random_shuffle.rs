//! Random orders.

use crate::isa::{Arch, Level, Task};
use crate::random_integers::bounded;
use crate::random_philox::{GROUP, words};

/// A random permutation of `0..n` (Fisher and Yates), the same for the same seed everywhere.
///
/// ```
/// let order = lodestride_kernels::random::permutation(7, 5);
/// let mut sorted = order.clone();
/// sorted.sort_unstable();
/// assert_eq!(sorted, [0, 1, 2, 3, 4]);
/// assert_eq!(order, lodestride_kernels::random::permutation(7, 5));
/// ```
pub fn permutation(seed: u64, n: usize) -> Vec<usize> {
    sample(seed, n, n)
}

/// The last `count` elements of [`permutation`], which are chosen first: a random choice of `0..n` without repetition, in random
/// order. At most `n`.
///
/// ```
/// use lodestride_kernels::random::{permutation, sample};
///
/// assert_eq!(sample(7, 1000, 3), permutation(7, 1000)[997..]);
/// ```
pub fn sample(seed: u64, n: usize, count: usize) -> Vec<usize> {
    let count = count.min(n);
    // Elements half as wide: twice as many stay in a cache while they are exchanged.
    let Ok(end) = u32::try_from(n) else {
        let mut order: Vec<usize> = (0..n).collect();
        exchange(seed, n, count, |last, partner| order.swap(last, partner));
        return order.split_off(n - count);
    };
    let mut order: Vec<u32> = (0..end).collect();
    exchange(seed, n, count, |last, partner| order.swap(last, partner));
    let chosen = order[n - count..].iter();
    chosen.map(|&place| place as usize).collect()
}

/// What [`sample`] exchanges each of the last `count` places of `0..n` with, from the end on: itself or one before it.
///
/// ```
/// use lodestride_kernels::random::{partners, sample};
///
/// let mut order: Vec<usize> = (0..1000).collect();
/// for (last, partner) in (998..1000).rev().zip(partners(7, 1000, 2)) {
///     order.swap(last, partner);
/// }
/// assert_eq!(sample(7, 1000, 2), order[998..]);
/// ```
pub fn partners(seed: u64, n: usize, count: usize) -> Vec<usize> {
    let count = count.min(n);
    let mut all = Vec::with_capacity(count);
    exchange(seed, n, count, |_, partner| all.push(partner));
    // The first place has no exchange.
    all.resize(count, 0);
    all
}

/// The stream of [`permutation`], apart from those of arrays that are drawn with the same seed.
const SHUFFLE_STREAM: u64 = u64::MAX;

/// Calls `swap` for each of the last `count` of `n` places, from the end on, with the place that it is exchanged with.
fn exchange(seed: u64, n: usize, count: usize, mut swap: impl FnMut(usize, usize)) {
    let mut partners = [0; GROUP];
    // The first element is left with itself.
    let end = (n - count).max(1);
    for group in (end / GROUP..n.div_ceil(GROUP)).rev() {
        let first = group * GROUP;
        Level::current().run(Partners {
            seed,
            first: first as u64,
            partners: &mut partners,
        });
        for last in (first.max(end)..n.min(first + GROUP)).rev() {
            swap(last, partners[last - first] as usize);
        }
    }
}

/// Which of the elements up to itself each of a group is exchanged with.
struct Partners<'a> {
    seed: u64,
    first: u64,
    partners: &'a mut [u64; GROUP],
}

impl Task for Partners<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let [words, _] = words(self.seed, SHUFFLE_STREAM, self.first).0;
        for ((last, partner), word) in (self.first..).zip(self.partners).zip(words) {
            *partner = bounded(self.seed, SHUFFLE_STREAM, last, last + 1, word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_philox::pair;

    #[test]
    fn groups_are_drawn_as_single_elements() {
        for n in [0, 1, 2, 63, 64, 65, 1000] {
            let mut wanted: Vec<usize> = (0..n).collect();
            for last in (1..n).rev() {
                let index = last as u64;
                let [word, _] = pair(5, SHUFFLE_STREAM, index);
                let other = bounded(5, SHUFFLE_STREAM, index, index + 1, word);
                wanted.swap(last, other as usize);
            }
            assert_eq!(permutation(5, n), wanted, "{n}");
        }
    }

    #[test]
    fn samples_are_the_ends_of_permutations() {
        for n in [0, 1, 2, 63, 64, 65, 1000, 3000] {
            let all = permutation(8, n);
            for count in [0, 1, 2, 3, 11, 64, 500, n.saturating_sub(1), n, n + 1] {
                let count = count.min(n);
                assert_eq!(sample(8, n, count), all[n - count..], "{count} of {n}");
            }
        }
    }
}
