//! Partitions of keys around a pivot by vectors: a part of the sorting kernels, for any type of key.
//!
//! Sorting partitions in place; where both sides keep their order, keys go through scratch memory.

/// For every mask of eight lanes the numbers of those in it, then of the others: four bits each.
pub(crate) static FRONT: [i64; 256] = {
    let (mut table, mut mask) = ([0; 256], 0);
    while mask < 256 {
        let (mut step, mut place) = (0, 0);
        while step < 16 {
            let lane = step % 8;
            if (mask >> lane & 1 == 1) == (step < 8) {
                table[mask] |= (lane as i64) << (4 * place);
                place += 1;
            }
            step += 1;
        }
        mask += 1;
    }
    table
};

/// `try_sort` and `try_partition` for one type of key, in a module with the primitives that `sort_network.rs` names, and `less`,
/// `count`, `in_front` and `parted` for masks; and with the quicksort of `sort_quick.rs`.
macro_rules! partitions {
    ($features:literal) => {
        /// Sorts keys ascending, NaN not among them, where the process uses these instructions.
        pub(crate) fn try_sort(keys: &mut [Key], scratch: &mut [Key]) -> bool {
            let available = can_partition();
            if available {
                // SAFETY: the instructions have been detected (`can_partition`).
                unsafe { sort(keys, scratch) }
            }
            available
        }

        /// Moves the keys below `pivot` to the front where the process uses these instructions; how many there are.
        pub(crate) fn try_partition(
            keys: &mut [Key],
            scratch: &mut [Key],
            pivot: Key,
        ) -> Option<usize> {
            // SAFETY: the instructions have been detected (`can_partition`).
            can_partition().then(|| unsafe { partition(keys, scratch, pivot) })
        }

        /// Moves the keys below `pivot` to the front, both sides in their order; how many there are. `scratch` is as
        /// long as `keys`.
        #[target_feature(enable = $features)]
        fn partition(keys: &mut [Key], scratch: &mut [Key], pivot: Key) -> usize {
            let limit = set1(pivot);
            let (mut below, mut above) = (0, 0);
            let whole = keys.len() / LANES * LANES;
            for at in (0..whole).step_by(LANES) {
                let vector = load(keys, at);
                let is_below = less(vector, limit);
                // Neither store reaches beyond what has been loaded: `below` and `above` are at most `at`.
                store(keys, below, in_front(vector, is_below));
                store(scratch, above, in_front(vector, !is_below));
                let fewer = count(is_below);
                below += fewer;
                above += LANES - fewer;
            }
            let last = load_inside(keys, whole);
            let lanes = inside(keys.len(), whole);
            let is_below = less(last, limit) & lanes;
            let is_above = !is_below & lanes;
            let (fewer, more) = (count(is_below), count(is_above));
            let (front, back) = (in_front(last, is_below), in_front(last, is_above));
            if keys.len() - below >= LANES && scratch.len() - above >= LANES {
                // Masked stores are slow before AVX-512.
                store(keys, below, front);
                store(scratch, above, back);
            } else {
                store_first(keys, below, fewer, front);
                store_first(scratch, above, more, back);
            }
            below += fewer;
            let above = keys.len() - below;
            keys[below..].copy_from_slice(&scratch[..above]);
            below
        }

        /// Writes the lanes below `limit` to the lower end, the others to the upper one; the ends after it. What lies
        /// between the ends may be overwritten: two vectors, one at either end.
        #[inline]
        #[target_feature(enable = $features)]
        fn part(
            keys: &mut [Key],
            vector: Vector,
            limit: Vector,
            (low, high): (usize, usize),
        ) -> (usize, usize) {
            let below = less(vector, limit);
            let [front, back] = parted(vector, below);
            let room = &mut keys[low..high];
            store(room, 0, front);
            store(room, room.len() - LANES, back);
            let fewer = count(below);
            (low + fewer, high - (LANES - fewer))
        }

        /// As [`part`] with the chosen lanes, which may be all there is room for.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn part_exactly(
            keys: &mut [Key],
            (vector, lanes): (Vector, Mask),
            limit: Vector,
            (low, high): (usize, usize),
        ) -> (usize, usize) {
            let below = less(vector, limit) & lanes;
            let above = !below & lanes;
            let (fewer, more) = (count(below), count(above));
            let high = high - more;
            store_first(keys, low, fewer, in_front(vector, below));
            store_first(keys, high, more, in_front(vector, above));
            (low + fewer, high)
        }

        /// Up to this many keys are partitioned by way of scratch memory, which has no ends to compare.
        const ASIDE: usize = 8192 / size_of::<Key>();

        /// Moves the keys below `pivot` to the front, in any order; how many there are.
        #[target_feature(enable = $features)]
        fn partition_aside(keys: &mut [Key], scratch: &mut [Key], pivot: Key) -> usize {
            let limit = set1(pivot);
            let (mut below, mut above) = (0, scratch.len());
            let whole = keys.len() / LANES * LANES;
            for at in (0..whole).step_by(LANES) {
                let vector = load(keys, at);
                let is_below = less(vector, limit);
                let [front, back] = parted(vector, is_below);
                // It reaches no further than what has been loaded: `below` is at most `at`.
                store(keys, below, front);
                store(scratch, above - LANES, back);
                let fewer = count(is_below);
                below += fewer;
                above -= LANES - fewer;
            }
            let last = load_inside(keys, whole);
            let lanes = inside(keys.len(), whole);
            let is_below = less(last, limit) & lanes;
            let is_above = !is_below & lanes;
            let (fewer, more) = (count(is_below), count(is_above));
            if keys.len() - below >= LANES && above >= LANES {
                store(keys, below, in_front(last, is_below));
                store(scratch, above - LANES, parted(last, !is_above)[1]);
            } else {
                store_first(keys, below, fewer, in_front(last, is_below));
                store_first(scratch, above - more, more, in_front(last, is_above));
            }
            above -= more;
            below += fewer;
            keys[below..].copy_from_slice(&scratch[above..]);
            below
        }

        const GROUP: usize = TOGETHER * LANES;
        /// How many groups ahead of its use memory is asked for: three kilobytes.
        const AHEAD: usize = 3072 / size_of::<[Key; GROUP]>();

        /// As [`partition_aside`], of at least three groups.
        ///
        /// The outer groups are held in registers, which leaves room for one at either end of what has not been read:
        /// keys are read where there is less room, and written to both ends. A group is written when the next one has
        /// been read: which that is then depends on no comparison under way.
        #[target_feature(enable = $features)]
        fn partition_in_place(keys: &mut [Key], pivot: Key) -> usize {
            let limit = set1(pivot);
            let (mut from, mut to) = (2 * GROUP, keys.len() - GROUP);
            let held = [load_group(keys, 0), load_group(keys, to)];
            let mut now = load_group(keys, GROUP);
            let mut ends = (0, keys.len());
            while to - from >= GROUP {
                let (at, ahead) = if from - ends.0 <= ends.1 - to {
                    from += GROUP;
                    (from - GROUP, from + (AHEAD - 1) * GROUP)
                } else {
                    to -= GROUP;
                    (to, to.wrapping_sub(AHEAD * GROUP))
                };
                ask_for_group(keys, ahead);
                let next = load_group(keys, at);
                // There is room for a group at either end.
                for vector in now {
                    ends = part(keys, vector, limit, ends);
                }
                now = next;
            }
            let mut rest = [limit; TOGETHER];
            for (index, vector) in rest.iter_mut().enumerate() {
                *vector = load_inside(&keys[from..to], index * LANES);
            }
            let whole = (to - from) / LANES;
            let lanes = inside(to - from, whole * LANES);
            let [first, second] = held;
            for vector in rest[..whole]
                .iter()
                .chain(&now)
                .chain(&second)
                .chain(&first[1..])
            {
                ends = part(keys, *vector, limit, ends);
            }
            ends = part_exactly(keys, (first[0], Mask::MAX), limit, ends);
            part_exactly(keys, (rest[whole], lanes), limit, ends).0
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn load_group(keys: &[Key], at: usize) -> [Vector; TOGETHER] {
            let keys = &keys[at..at + GROUP];
            let mut group = [set1(0); TOGETHER];
            for (index, vector) in group.iter_mut().enumerate() {
                *vector = load(keys, index * LANES);
            }
            group
        }

        #[inline]
        fn ask_for_group(keys: &[Key], at: usize) {
            for index in 0..TOGETHER {
                prefetch(
                    keys.as_ptr()
                        .wrapping_add(at.wrapping_add(index * LANES))
                        .cast(),
                );
            }
        }
    };
}

pub(crate) use partitions;
