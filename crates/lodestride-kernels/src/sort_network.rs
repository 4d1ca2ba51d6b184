//! Networks that sort what is short in registers: a part of the sorting kernels, for any type of vector.
//!
//! A short run is loaded as rows of a matrix, its columns sorted by a network without branches, the columns merged pairwise
//! (bitonic merges, whose first steps cross lanes and whose last steps do not), and the matrix written out transposed.
//! The scheme is that of Blacher, Giesen and Kühne, "Fast and robust vectorized in-place sorting of primitive types" (2021)
//! and of Google's vqsort.
//!
//! Of -0.0 and 0.0, minimum and maximum give the second operand. So every exchange turns its operands round for the maximum:
//! what is equal changes places, and nothing is lost.

/// Exchanges rows so that the first is the smaller one, lane by lane.
macro_rules! exchange_rows {
    ($rows:ident: $($a:literal $b:literal),*) => {{$(
        [$rows[$a], $rows[$b]] = sorted([$rows[$a], $rows[$b]]);
    )*}};
}
pub(crate) use exchange_rows;

/// `sort_short` for one type of key, in a module with what its instruction set gives: the `Key`, a `Vector` of `LANES` of them
/// and how many rows of those to sort at a time (`ROWS`); `load_inside` and `store_inside`; `turn`, into the form that is compared
/// and back; `sorted`, which compares lane by lane, and `exchange`, `mirror_rows` and `cross_rows`, which do across lanes;
/// `flip` and `transpose`.
macro_rules! networks {
    ($features:literal) => {
        /// Up to this many keys are sorted in registers.
        const SHORT: usize = ROWS * LANES;

        #[target_feature(enable = $features)]
        fn sort_short(keys: &mut [Key]) {
            match keys.len().div_ceil(LANES) {
                0..=1 => sort_matrix::<1>(keys),
                2 => sort_matrix::<2>(keys),
                3..=4 => sort_matrix::<4>(keys),
                5..=8 => sort_matrix::<8>(keys),
                _ => sort_matrix::<ROWS>(keys),
            }
        }

        /// Sorts up to `R` rows of keys.
        #[target_feature(enable = $features)]
        fn sort_matrix<const R: usize>(keys: &mut [Key]) {
            let mut rows = [set1(0); R];
            for (index, row) in rows.iter_mut().enumerate() {
                *row = turn(load_inside(keys, index * LANES));
            }
            for (index, row) in sort_rows(rows).into_iter().enumerate() {
                store_inside(keys, index * LANES, turn(row));
            }
        }

        /// Sorts what is read row after row.
        #[inline]
        #[target_feature(enable = $features)]
        fn sort_rows<const R: usize>(mut rows: [Vector; R]) -> [Vector; R] {
            rows = sort_columns(rows);
            rows = merge::<R, 1>(rows);
            rows = merge::<R, 2>(rows);
            if LANES > 4 {
                rows = merge::<R, 4>(rows);
            }
            if LANES > 8 {
                rows = merge::<R, 8>(rows);
            }
            if LANES > 16 {
                rows = merge::<R, 16>(rows);
            }
            transpose(rows)
        }

        /// Sorts up to twice as many keys as are sorted in registers.
        #[inline]
        #[target_feature(enable = $features)]
        fn sort_small(keys: &mut [Key]) {
            if keys.len() <= SHORT {
                sort_short(keys);
            } else {
                sort_two(keys);
            }
        }

        /// Sorts the first keys, as many as are sorted in registers, and those after them; then both are merged.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn sort_two(keys: &mut [Key]) {
            let (first, second) = keys.split_at_mut(SHORT);
            sort_matrix::<ROWS>(first);
            sort_short(second);
            let (mut low, mut high) = ([set1(0); ROWS], [set1(0); ROWS]);
            for row in 0..ROWS {
                let one = turn(load_inside(first, row * LANES));
                let other = turn(load_inside(second, (ROWS - 1 - row) * LANES));
                let other = turn_back::<{ LANES / 2 }>(other);
                [low[row], high[row]] = sorted([one, other]);
            }
            sort_bitonic(first, &low);
            sort_bitonic(second, &high);
        }

        /// Writes rows that, read one after the other, ascend and then descend, or are turned on from that, in order.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn sort_bitonic(keys: &mut [Key], rows: &[Vector; ROWS]) {
            let mut rows = *rows;
            if ROWS > 8 {
                rows = halve::<ROWS, 8>(rows);
            }
            rows = halve::<ROWS, 4>(rows);
            rows = halve::<ROWS, 2>(rows);
            rows = halve::<ROWS, 1>(rows);
            if LANES > 16 {
                rows = cross::<ROWS, 16>(rows);
            }
            if LANES > 8 {
                rows = cross::<ROWS, 8>(rows);
            }
            if LANES > 4 {
                rows = cross::<ROWS, 4>(rows);
            }
            rows = cross::<ROWS, 2>(rows);
            rows = cross::<ROWS, 1>(rows);
            for (index, row) in rows.into_iter().enumerate() {
                store_inside(keys, index * LANES, turn(row));
            }
        }

        /// Sorts every column: networks of the fewest known comparisons (Knuth, volume 3; Green, 1969).
        #[inline]
        #[target_feature(enable = $features)]
        fn sort_columns<const R: usize>(mut rows: [Vector; R]) -> [Vector; R] {
            match R {
                2 => exchange_rows!(rows: 0 1),
                4 => exchange_rows!(rows: 0 2, 1 3, 0 1, 2 3, 1 2),
                8 => exchange_rows!(rows:
                    0 2, 1 3, 4 6, 5 7, 0 4, 1 5, 2 6, 3 7, 0 1, 2 3, 4 5, 6 7, 2 4, 3 5, 1 4, 3 6, 1 2, 3 4, 5 6),
                16 => exchange_rows!(rows:
                    0 13, 1 12, 2 15, 3 14, 4 8, 5 6, 7 11, 9 10, 0 5, 1 7, 2 9, 3 4, 6 13, 8 14, 10 15, 11 12,
                    0 1, 2 3, 4 5, 6 8, 7 9, 10 11, 12 13, 14 15, 0 2, 1 3, 4 10, 5 11, 6 7, 8 9, 12 14, 13 15,
                    1 2, 3 12, 4 6, 5 7, 8 10, 9 11, 13 14, 1 4, 2 6, 5 8, 7 10, 9 13, 11 14, 2 4, 3 6, 9 12, 11 13,
                    3 5, 6 8, 7 9, 10 12, 3 4, 5 6, 7 8, 9 10, 11 12, 6 7, 8 9),
                _ => {}
            }
            rows
        }

        /// Merges each `G` sorted columns with the next `G`, which are read column after column.
        #[inline]
        #[target_feature(enable = $features)]
        fn merge<const R: usize, const G: usize>(rows: [Vector; R]) -> [Vector; R] {
            let mut rows = mirror::<R, G>(rows);
            if G >= 16 {
                rows = cross::<R, 8>(rows);
            }
            if G >= 8 {
                rows = cross::<R, 4>(rows);
            }
            if G >= 4 {
                rows = cross::<R, 2>(rows);
            }
            if G >= 2 {
                rows = cross::<R, 1>(rows);
            }
            if R >= 16 {
                rows = halve::<R, 8>(rows);
            }
            if R >= 8 {
                rows = halve::<R, 4>(rows);
            }
            if R >= 4 {
                rows = halve::<R, 2>(rows);
            }
            if R >= 2 {
                rows = halve::<R, 1>(rows);
            }
            rows
        }

        /// Two sorted groups of columns, the second read backwards, become two bitonic ones, all of the first below all
        /// of the second.
        #[inline]
        #[target_feature(enable = $features)]
        fn mirror<const R: usize, const G: usize>(mut rows: [Vector; R]) -> [Vector; R] {
            let upper = upper::<G>();
            if R == 1 {
                rows[0] = exchange::<G>(rows[0], turn_back::<G>(rows[0]), upper);
            }
            for row in 0..R / 2 {
                let last = R - 1 - row;
                [rows[row], rows[last]] = mirror_rows::<G>([rows[row], rows[last]], upper);
            }
            rows
        }

        /// The lanes of each `G` and the next `G` read backwards.
        #[inline]
        #[target_feature(enable = $features)]
        fn turn_back<const G: usize>(vector: Vector) -> Vector {
            match G {
                1 => flip::<1>(vector),
                2 => flip::<3>(vector),
                4 => flip::<7>(vector),
                8 => flip::<15>(vector),
                _ => flip::<31>(vector),
            }
        }

        /// Compares each lane with the one `D` further on.
        #[inline]
        #[target_feature(enable = $features)]
        fn cross<const R: usize, const D: usize>(mut rows: [Vector; R]) -> [Vector; R] {
            let upper = upper::<D>();
            if R == 1 {
                rows[0] = exchange::<D>(rows[0], flip::<D>(rows[0]), upper);
            }
            for row in 0..R / 2 {
                let pair = [rows[2 * row], rows[2 * row + 1]];
                [rows[2 * row], rows[2 * row + 1]] = cross_rows::<D>(pair, upper);
            }
            rows
        }

        /// Compares each row with the one `D` further on.
        #[inline]
        #[target_feature(enable = $features)]
        fn halve<const R: usize, const D: usize>(mut rows: [Vector; R]) -> [Vector; R] {
            for first in 0..R {
                if first & D == 0 {
                    [rows[first], rows[first + D]] = sorted([rows[first], rows[first + D]]);
                }
            }
            rows
        }
    };
}
pub(crate) use networks;
