//! Quicksort of what is too long for the networks: a part of `sort_avx512.rs`, for any type of key.

/// `sort` for one type of key, in a module that has `sort_small` and partitions.
macro_rules! quicksort {
    (
        [$features:literal $is_available:expr] [$key:ty, $vector:ty, $mask:ty, $lanes:literal, $largest:expr] $memory:tt
        [$set1:expr, $less:expr, $after:expr, $sort_slowly:expr] $order:tt $shuffles:tt $flips:tt
    ) => {
        /// Up to this many keys are sorted by networks. A second matrix and the merging took a fifth less than a partition of
        /// 300 keys of 32 bits on Zen 5, a third less of 1000 keys of 16 bits; on Intel's processors they took more.
        fn longest() -> usize {
            // Sorting 64-bit keys so spares less than a tenth; floats come as integers there.
            if LANES > 8 && $largest == <$key>::MAX && takes_integers_fast() {
                2 * SHORT
            } else {
                SHORT
            }
        }

        #[target_feature(enable = $features)]
        fn sort(keys: &mut [$key], scratch: &mut [$key]) {
            if keys.len() <= SHORT || keys.len() <= longest() {
                return sort_small(keys);
            }
            let levels = 2 * keys.len().ilog2();
            if scratch.len() >= keys.len().min(ASIDE) {
                quicksort(keys, scratch, levels);
            } else {
                quicksort(keys, &mut [0; ASIDE], levels);
            }
        }

        #[target_feature(enable = $features)]
        fn quicksort(mut keys: &mut [$key], scratch: &mut [$key], mut levels: u32) {
            let longest = longest();
            while keys.len() > longest {
                if levels == 0 {
                    return ($sort_slowly)(keys);
                }
                levels -= 1;
                let (pivot, is_level) = sampled_median(keys);
                if is_level && are_all(keys, pivot) {
                    return;
                }
                let mut middle = divide(keys, scratch, pivot);
                if middle == 0 {
                    // The pivot is the smallest key: all that equal it are in place once they are in front.
                    if pivot == $largest {
                        return;
                    }
                    middle = divide(keys, scratch, ($after)(pivot));
                } else {
                    quicksort(&mut keys[..middle], scratch, levels);
                }
                keys = &mut keys[middle..];
            }
            // Many equal keys are what pivots leave behind.
            let is_one = keys.len() > SHORT && keys[0] == keys[keys.len() - 1];
            if !(is_one && are_all(keys, keys[0])) {
                sort_small(keys);
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn divide(keys: &mut [$key], scratch: &mut [$key], pivot: $key) -> usize {
            if keys.len() <= ASIDE {
                partition_aside(keys, scratch, pivot)
            } else {
                partition_in_place(keys, pivot)
            }
        }

        /// Whether all keys are the same one; looks no further than the first chunk that is not.
        #[target_feature(enable = $features)]
        fn are_all(keys: &[$key], key: $key) -> bool {
            let differ =
                |chunk: &[$key]| chunk.iter().fold(0, |bits, other| bits | (other ^ key)) != 0;
            !keys.chunks(SHORT).any(differ)
        }

        /// The median of keys at even distances, and whether all of those are the same.
        #[target_feature(enable = $features)]
        fn sampled_median(keys: &[$key]) -> ($key, bool) {
            let mut sample = [0; 4 * LANES];
            let count = if keys.len() < 8 * SHORT {
                LANES
            } else {
                4 * LANES
            };
            let step = keys.len() / count;
            for (index, place) in sample[..count].iter_mut().enumerate() {
                *place = keys[index * step + step / 2];
            }
            sort_short(&mut sample[..count]);
            (sample[count / 2], sample[0] == sample[count - 1])
        }
    };
}
pub(crate) use quicksort;
