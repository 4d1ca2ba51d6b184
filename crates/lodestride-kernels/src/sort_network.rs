//! Networks that sort what is short in the registers of AVX-512: a part of `sort_avx512.rs`, for any type of vector.
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
    ($rows:ident, $min:ident, $max:ident: $($a:literal $b:literal),*) => {{$(
        ($rows[$a], $rows[$b]) = ($min($rows[$a], $rows[$b]), $max($rows[$b], $rows[$a]));
    )*}};
}
pub(crate) use exchange_rows;

/// `sort_short` for one type of key, in a module that has `load_inside`, `store_inside` and `indices`.
macro_rules! networks {
    (
        [$features:literal $is_available:expr] [$key:ty, $vector:ty, $mask:ty, $lanes:literal, $largest:expr] $memory:tt
        [$set1:expr, $less:expr, $after:expr, $sort_slowly:expr] [$min:ident $max:ident $mask_max:ident]
        [$permute:ident $zip:ident $compress:ident $index:expr] [$flip1:expr, $flip2:expr, $flip3:expr]
    ) => {
        const LANES: usize = $lanes;
        /// Rows of the largest matrix that is sorted in registers.
        const ROWS: usize = 16;
        /// Up to this many keys are sorted in registers.
        const SHORT: usize = ROWS * LANES;

        #[target_feature(enable = $features)]
        fn sort_short(keys: &mut [$key]) {
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
        fn sort_matrix<const R: usize>(keys: &mut [$key]) {
            let mut rows = [($set1)(0); R];
            for (index, row) in rows.iter_mut().enumerate() {
                *row = load_inside(keys, index * LANES);
            }
            rows = sort_columns(rows);
            rows = merge::<R, 1>(rows);
            rows = merge::<R, 2>(rows);
            rows = merge::<R, 4>(rows);
            if LANES > 8 {
                rows = merge::<R, 8>(rows);
            }
            if LANES > 16 {
                rows = merge::<R, 16>(rows);
            }
            let mut rest = R;
            while rest > 1 {
                rows = interleave(rows);
                rest /= 2;
            }
            for (index, row) in rows.into_iter().enumerate() {
                store_inside(keys, index * LANES, row);
            }
        }

        /// Sorts up to twice as many keys as are sorted in registers.
        #[inline]
        #[target_feature(enable = $features)]
        fn sort_small(keys: &mut [$key]) {
            if keys.len() <= SHORT {
                sort_short(keys);
            } else {
                sort_two(keys);
            }
        }

        /// Sorts the first keys, as many as are sorted in registers, and those after them; then both are merged.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn sort_two(keys: &mut [$key]) {
            let (first, second) = keys.split_at_mut(SHORT);
            sort_matrix::<ROWS>(first);
            sort_short(second);
            let (mut low, mut high) = ([($set1)(0); ROWS], [($set1)(0); ROWS]);
            for row in 0..ROWS {
                let one = load_inside(first, row * LANES);
                let other = load_inside(second, (ROWS - 1 - row) * LANES);
                let other = flip::<{ LANES - 1 }>(other);
                (low[row], high[row]) = ($min(one, other), $max(other, one));
            }
            sort_bitonic(first, &low);
            sort_bitonic(second, &high);
        }

        /// Writes rows that, read one after the other, ascend and then descend, or are turned on from that, in order.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn sort_bitonic(keys: &mut [$key], rows: &[$vector; ROWS]) {
            let mut rows = halve::<ROWS, 8>(*rows);
            rows = halve::<ROWS, 4>(rows);
            rows = halve::<ROWS, 2>(rows);
            rows = halve::<ROWS, 1>(rows);
            if LANES > 16 {
                rows = cross::<ROWS, 16>(rows);
            }
            if LANES > 8 {
                rows = cross::<ROWS, 8>(rows);
            }
            rows = cross::<ROWS, 4>(rows);
            rows = cross::<ROWS, 2>(rows);
            rows = cross::<ROWS, 1>(rows);
            for (index, row) in rows.into_iter().enumerate() {
                store_inside(keys, index * LANES, row);
            }
        }

        /// Sorts every column: networks of the fewest known comparisons (Knuth, volume 3; Green, 1969).
        #[inline]
        #[target_feature(enable = $features)]
        fn sort_columns<const R: usize>(mut rows: [$vector; R]) -> [$vector; R] {
            match R {
                2 => exchange_rows!(rows, $min, $max: 0 1),
                4 => exchange_rows!(rows, $min, $max: 0 2, 1 3, 0 1, 2 3, 1 2),
                8 => exchange_rows!(rows, $min, $max:
                    0 2, 1 3, 4 6, 5 7, 0 4, 1 5, 2 6, 3 7, 0 1, 2 3, 4 5, 6 7, 2 4, 3 5, 1 4, 3 6, 1 2, 3 4, 5 6),
                16 => exchange_rows!(rows, $min, $max:
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
        fn merge<const R: usize, const G: usize>(rows: [$vector; R]) -> [$vector; R] {
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

        /// The lanes whose number has the bit `BIT`.
        const fn lanes_with(bit: usize) -> $mask {
            let (mut mask, mut lane) = (0, 0);
            while lane < LANES {
                if lane & bit != 0 {
                    mask |= 1 << lane;
                }
                lane += 1;
            }
            mask
        }

        /// The same, hidden from the compiler: where it knows the lanes it exchanges them by more instructions than a masked
        /// maximum, which took a fifth of the time of sorting 256 keys.
        #[inline]
        fn upper<const BIT: usize>() -> $mask {
            std::hint::black_box(const { lanes_with(BIT) })
        }

        /// The lane numbers with the bits of `flip` inverted.
        const fn flipped(flip: usize) -> [$key; LANES] {
            let (mut lanes, mut lane) = ([0; LANES], 0);
            while lane < LANES {
                lanes[lane] = ((lane ^ flip) % LANES) as $key;
                lane += 1;
            }
            lanes
        }

        /// Lanes whose numbers differ in the bits of `FLIP` exchanged. Some processors do it twice as often where lanes stay
        /// near.
        #[inline]
        #[target_feature(enable = $features)]
        fn flip<const FLIP: usize>(vector: $vector) -> $vector {
            match FLIP {
                1 => ($flip1)(vector),
                2 => ($flip2)(vector),
                3 => ($flip3)(vector),
                _ => $permute(indices(&const { flipped(FLIP) }), vector),
            }
        }

        /// Two sorted groups of columns, the second read backwards, become two bitonic ones, all of the first below all
        /// of the second.
        #[inline]
        #[target_feature(enable = $features)]
        fn mirror<const R: usize, const G: usize>(rows: [$vector; R]) -> [$vector; R] {
            let upper = upper::<G>();
            let mut merged = rows;
            for (row, merged) in merged.iter_mut().enumerate() {
                let other = match G {
                    1 => flip::<1>(rows[R - 1 - row]),
                    2 => flip::<3>(rows[R - 1 - row]),
                    4 => flip::<7>(rows[R - 1 - row]),
                    8 => flip::<15>(rows[R - 1 - row]),
                    _ => flip::<31>(rows[R - 1 - row]),
                };
                *merged = $mask_max($min(rows[row], other), upper, rows[row], other);
            }
            merged
        }

        /// Compares each lane with the one `D` further on.
        #[inline]
        #[target_feature(enable = $features)]
        fn cross<const R: usize, const D: usize>(mut rows: [$vector; R]) -> [$vector; R] {
            let upper = upper::<D>();
            for row in &mut rows {
                let other = flip::<D>(*row);
                *row = $mask_max($min(*row, other), upper, *row, other);
            }
            rows
        }

        /// Compares each row with the one `D` further on.
        #[inline]
        #[target_feature(enable = $features)]
        fn halve<const R: usize, const D: usize>(mut rows: [$vector; R]) -> [$vector; R] {
            for first in 0..R {
                if first & D == 0 {
                    let (a, b) = (rows[first], rows[first + D]);
                    (rows[first], rows[first + D]) = ($min(a, b), $max(b, a));
                }
            }
            rows
        }

        /// Lane numbers that take turns between two vectors, from lane `from` of both on.
        const fn zipped(from: usize) -> [$key; LANES] {
            let (mut lanes, mut lane) = ([0; LANES], 0);
            while lane < LANES {
                lanes[lane] = (from + lane / 2 + lane % 2 * LANES) as $key;
                lane += 1;
            }
            lanes
        }

        /// Takes turns between the lanes of the first and of the second half of the rows.
        #[inline]
        #[target_feature(enable = $features)]
        fn interleave<const R: usize>(rows: [$vector; R]) -> [$vector; R] {
            let low = indices(&const { zipped(0) });
            let high = indices(&const { zipped(LANES / 2) });
            let mut mixed = rows;
            for pair in 0..R / 2 {
                let (a, b) = (rows[pair], rows[pair + R / 2]);
                mixed[2 * pair] = $zip(a, low, b);
                mixed[2 * pair + 1] = $zip(a, high, b);
            }
            mixed
        }
    };
}
pub(crate) use networks;
