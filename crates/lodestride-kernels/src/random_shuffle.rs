//! Random orders.

use crate::isa::{Arch, Level, Task};
use crate::random::bounded;
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
    // Elements half as wide: twice as many stay in a cache while they are exchanged.
    let Ok(end) = u32::try_from(n) else {
        return shuffled(seed, (0..n).collect());
    };
    let order = shuffled(seed, (0..end).collect());
    order.into_iter().map(|place| place as usize).collect()
}

/// The stream of [`permutation`], apart from those of arrays that are drawn with the same seed.
const SHUFFLE_STREAM: u64 = u64::MAX;

fn shuffled<T>(seed: u64, mut order: Vec<T>) -> Vec<T> {
    let mut partners = [0; GROUP];
    for group in (0..order.len().div_ceil(GROUP)).rev() {
        let first = group * GROUP;
        Level::current().run(Partners {
            seed,
            first: first as u64,
            partners: &mut partners,
        });
        // The first element is left with itself.
        for last in (first.max(1)..order.len().min(first + GROUP)).rev() {
            order.swap(last, partners[last - first] as usize);
        }
    }
    order
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
        let [words, _] = words(self.seed, SHUFFLE_STREAM, self.first);
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
}
