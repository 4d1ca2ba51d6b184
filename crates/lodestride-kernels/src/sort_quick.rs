//! Quicksort of what is too long for the networks: a part of the sorting kernels, for any type of key.

/// `sort` for one type of key, in a module that has `sort_small` and partitions.
macro_rules! quicksort {
    ($features:literal) => {
        #[target_feature(enable = $features)]
        fn sort(keys: &mut [Key], scratch: &mut [Key]) {
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
        fn quicksort(mut keys: &mut [Key], scratch: &mut [Key], mut levels: u32) {
            let longest = longest();
            while keys.len() > longest {
                if levels == 0 {
                    return sort_slowly(keys);
                }
                levels -= 1;
                let (pivot, is_level) = sampled_median(keys);
                if is_level && are_all(keys, pivot) {
                    return;
                }
                let mut middle = divide(keys, scratch, pivot);
                if middle == 0 {
                    // The pivot is the smallest key: all that equal it are in place once they are in front.
                    if pivot == LARGEST {
                        return;
                    }
                    middle = divide(keys, scratch, after(pivot));
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
        fn divide(keys: &mut [Key], scratch: &mut [Key], pivot: Key) -> usize {
            if keys.len() <= ASIDE {
                partition_aside(keys, scratch, pivot)
            } else {
                partition_in_place(keys, pivot)
            }
        }

        /// Whether all keys are the same one; looks no further than the first chunk that is not.
        #[target_feature(enable = $features)]
        fn are_all(keys: &[Key], key: Key) -> bool {
            let differ =
                |chunk: &[Key]| chunk.iter().fold(0, |bits, other| bits | (other ^ key)) != 0;
            !keys.chunks(SHORT).any(differ)
        }

        /// The median of keys at even distances, and whether all of those are the same.
        #[target_feature(enable = $features)]
        fn sampled_median(keys: &[Key]) -> (Key, bool) {
            if keys.len() < 8 * ROWS * LANES {
                median_of::<FEW>(keys)
            } else {
                median_of::<4>(keys)
            }
        }

        /// The median of so many vectors of keys.
        #[inline]
        #[target_feature(enable = $features)]
        fn median_of<const R: usize>(keys: &[Key]) -> (Key, bool) {
            let step = keys.len() / (R * LANES);
            let mut rows = [set1(0); R];
            for (row, vector) in rows.iter_mut().enumerate() {
                let at = |lane| keys[(row * LANES + lane) * step + step / 2];
                *vector = turn(load(&std::array::from_fn::<Key, LANES, _>(at), 0));
            }
            rows = sort_rows(rows);
            let mut sample = [0; 4 * LANES];
            for (row, vector) in rows.into_iter().enumerate() {
                store(&mut sample, row * LANES, turn(vector));
            }
            (sample[R * LANES / 2], sample[0] == sample[R * LANES - 1])
        }
    };
}
pub(crate) use quicksort;
