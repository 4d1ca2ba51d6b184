//! Laws of `Lod` on random nestings with empty sequences everywhere, against plain nested lists.
#![expect(
    clippy::unwrap_used,
    clippy::too_many_lines,
    reason = "a test fails by panicking, and tables of cases are long"
)]

use lodestride_lod::{Lengths, Lod, LodErrorKind, Offsets, lengths, offsets};
use proptest::prelude::*;

/// Lengths of `depth` levels: each length 0, 1 or many; zero sequences and all-empty batches included.
fn nested_lengths() -> impl Strategy<Value = Lengths> {
    (1usize..=4, 0usize..=4)
        .prop_flat_map(|(depth, top)| {
            let pool =
                proptest::collection::vec(prop_oneof![Just(0usize), Just(1), 2usize..6], 200);
            (Just(depth), Just(top), pool)
        })
        .prop_map(|(depth, top, pool)| {
            let mut pool = pool.into_iter().cycle();
            let mut count = top;
            let mut levels = Lengths::default();
            for _ in 0..depth {
                let level: Vec<usize> = pool.by_ref().take(count).collect();
                count = level.iter().sum();
                levels.push(level);
            }
            levels
        })
}

/// The rows of every sequence of `level`, found by walking the nesting.
fn rows_by_walking(lengths: &Lengths, level: usize) -> Vec<Vec<usize>> {
    let last = lengths.depth() - 1;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut next = 0;
    for &length in lengths.get(last).unwrap() {
        groups.push((next..next + length).collect());
        next += length;
    }
    for upper in (level..last).rev() {
        let mut children = groups.into_iter();
        groups = lengths
            .get(upper)
            .unwrap()
            .iter()
            .map(|&length| children.by_ref().take(length).flatten().collect())
            .collect();
    }
    groups
}

proptest! {
    #[test]
    fn lengths_and_offsets_are_two_faces_of_one_lod(lengths in nested_lengths()) {
        let lod = Lod::from_lengths(&lengths).unwrap();
        prop_assert_eq!(&lod.lengths(), &lengths);
        let offsets = lod.offsets();
        prop_assert_eq!(&lengths.to_offsets().unwrap(), &offsets);
        prop_assert_eq!(&offsets.to_lengths().unwrap(), &lengths);
        prop_assert_eq!(&Lod::from_offsets(offsets).unwrap(), &lod);
        prop_assert_eq!(lod.rows().unwrap(), lengths.iter().last().unwrap().iter().sum::<usize>());
    }

    #[test]
    fn every_level_knows_its_rows(lengths in nested_lengths()) {
        let lod = Lod::from_lengths(&lengths).unwrap();
        for level in 0..lod.depth() {
            let level_arg = level as isize;
            let walked = rows_by_walking(&lengths, level);
            prop_assert_eq!(lod.sequences(level_arg).unwrap(), walked.len());
            let starts = lod.rows_of(level_arg).unwrap();
            let ids = lod.row_ids(level_arg - lod.depth() as isize).unwrap();
            for (i, rows) in walked.iter().enumerate() {
                let range = lod.row_range(level_arg, i).unwrap();
                prop_assert_eq!(&range.clone().collect::<Vec<_>>(), rows);
                prop_assert_eq!((starts[i], starts[i + 1]), (range.start, range.end));
                prop_assert!(ids[range].iter().all(|&id| id == i));
            }
            prop_assert_eq!(Lod::from_row_ids(&ids, walked.len()).unwrap().lengths().get(0).unwrap().to_vec(),
                walked.iter().map(Vec::len).collect::<Vec<_>>());
        }
    }

    #[test]
    fn slices_join_back_to_the_whole(lengths in nested_lengths(), cut in 0usize..6) {
        let lod = Lod::from_lengths(&lengths).unwrap();
        let count = lod.sequences(0).unwrap();
        let cut = cut.min(count);
        let (left, left_rows) = lod.slice(0, 0..cut).unwrap();
        let (right, right_rows) = lod.slice(0, cut..count).unwrap();
        prop_assert_eq!(left_rows.end, right_rows.start);
        prop_assert_eq!(left.rows().unwrap(), left_rows.len());
        prop_assert!(right.shares_offsets(&lod));
        // A slice is as good as a LoD built afresh, in every question that looks at offsets.
        let rebuilt = Lod::from_offsets(right.offsets()).unwrap();
        prop_assert_eq!(&rebuilt, &right);
        for level in 0..lod.depth() as isize {
            prop_assert_eq!(rebuilt.rows_of(level).unwrap(), right.rows_of(level).unwrap());
            prop_assert_eq!(rebuilt.max_length(level).unwrap(), right.max_length(level).unwrap());
        }
        prop_assert_eq!(&Lod::concat(&[&left, &right]).unwrap(), &lod);
    }

    #[test]
    fn taking_sequences_takes_their_rows(lengths in nested_lengths(), picks in proptest::collection::vec(0usize..50, 0..6)) {
        let lod = Lod::from_lengths(&lengths).unwrap();
        for level in 0..lod.depth() {
            let count = lod.sequences(level as isize).unwrap();
            let picks: Vec<usize> = if count == 0 { vec![] } else { picks.iter().map(|p| p % count).collect() };
            let chosen = lod.take(level as isize, &picks).unwrap();
            prop_assert_eq!(chosen.lod.depth(), lod.depth() - level);
            let walked = rows_by_walking(&lengths, level);
            let expected: Vec<usize> = picks.iter().flat_map(|&p| walked[p].clone()).collect();
            let found: Vec<usize> = chosen.rows.iter().cloned().flatten().collect();
            prop_assert_eq!(chosen.lod.rows().unwrap(), found.len());
            prop_assert_eq!(found, expected);
            let pieces: Vec<Lod> = picks.iter().map(|&p| lod.slice(level as isize, p..p + 1).unwrap().0).collect();
            if !pieces.is_empty() {
                prop_assert_eq!(Lod::concat(&pieces.iter().collect::<Vec<_>>()).unwrap(), chosen.lod);
            }
        }
    }

    #[test]
    fn row_slices_keep_every_row_in_its_sequence(lengths in nested_lengths(), a in 0usize..40, b in 0usize..40) {
        let lod = Lod::from_lengths(&lengths).unwrap();
        let rows = lod.rows().unwrap();
        let (a, b) = (a.min(b).min(rows), a.max(b).min(rows));
        let part = lod.slice_rows(a..b).unwrap();
        prop_assert_eq!(part.rows().unwrap(), b - a);
        prop_assert_eq!(&Lod::from_offsets(part.offsets()).unwrap(), &part);
        for level in 0..lod.depth() as isize {
            let (whole, cut) = (lod.row_ids(level).unwrap(), part.row_ids(level).unwrap());
            let shift = whole[a..b].first().map_or(0, |first| first - cut[0]);
            prop_assert_eq!(whole[a..b].iter().map(|id| id - shift).collect::<Vec<_>>(), cut);
        }
    }

    #[test]
    fn merging_undoes_splitting(lengths in nested_lengths()) {
        let lod = Lod::from_lengths(&lengths).unwrap();
        for level in 0..lod.depth() - 1 {
            let merged = lod.merge_levels(level as isize).unwrap();
            let (counts, pieces) = (lengths.get(level).unwrap(), lengths.get(level + 1).unwrap());
            prop_assert_eq!(merged.rows(), lod.rows());
            prop_assert_eq!(&merged.split_level(level as isize, counts, pieces).unwrap(), &lod);
        }
        prop_assert!(lod.merge_levels(-1).is_err());
    }

    #[test]
    fn a_permutation_and_its_inverse_cancel(lengths in nested_lengths()) {
        let lod = Lod::from_lengths(&lengths).unwrap();
        let order = lod.rank_by_length(0).unwrap();
        let mut inverse = vec![0; order.len()];
        for (to, &from) in order.iter().enumerate() {
            inverse[from] = to;
        }
        let sorted = lod.permute(0, &order).unwrap().lod;
        prop_assert!(sorted.lengths_of(0).unwrap().rev_is_sorted());
        prop_assert_eq!(&sorted.permute(0, &inverse).unwrap().lod, &lod);
    }
}

/// Lengths that never grow.
trait RevIsSorted {
    fn rev_is_sorted(self) -> bool;
}

impl<I: Iterator<Item = usize>> RevIsSorted for I {
    fn rev_is_sorted(self) -> bool {
        self.collect::<Vec<_>>()
            .windows(2)
            .all(|pair| pair[0] >= pair[1])
    }
}

#[test]
fn every_way_of_being_wrong_is_named() {
    use LodErrorKind::*;
    let check = |offsets: Offsets, expected: fn(&LodErrorKind) -> bool| {
        let error = Lod::from_offsets(offsets.clone()).expect_err(&offsets.to_string());
        assert!(expected(error.kind()), "{offsets}: {error}");
        assert!(
            error.to_string().contains("lod_laws.rs"),
            "the caller's line is part of the text: {error}"
        );
    };
    check(offsets![[]], |k| matches!(k, NoOffsets { level: 0 }));
    check(offsets![[0, 1], []], |k| {
        matches!(k, NoOffsets { level: 1 })
    });
    check(offsets![[1, 6]], |k| {
        matches!(k, FirstOffset { level: 0, found: 1 })
    });
    check(offsets![[0, 2], [3, 4, 5]], |k| {
        matches!(k, FirstOffset { level: 1, found: 3 })
    });
    check(offsets![[0, 3, 2, 5]], |k| {
        matches!(
            k,
            Descending {
                level: 0,
                index: 2,
                previous: 3,
                found: 2
            }
        )
    });
    check(offsets![[0, 1], [0, 3, 6]], |k| {
        matches!(
            k,
            LevelTotal {
                level: 0,
                expected: 1,
                found: 2
            }
        )
    });
    check(offsets![[0, 3], [0, 3, 6]], |k| {
        matches!(
            k,
            LevelTotal {
                level: 0,
                expected: 3,
                found: 2
            }
        )
    });
    let lod = Lod::from_lengths([2, 4]).unwrap();
    assert!(matches!(
        lod.check_rows(5).unwrap_err().kind(),
        RowTotal {
            level: 0,
            expected: 6,
            found: 5
        }
    ));
    assert!(matches!(
        lod.level(1).unwrap_err().kind(),
        LevelOutOfRange { level: 1, depth: 1 }
    ));
    assert!(matches!(
        lod.level(-2).unwrap_err().kind(),
        LevelOutOfRange {
            level: -2,
            depth: 1
        }
    ));
    assert!(lod.level(isize::MIN).is_err() && lod.level(isize::MAX).is_err());
    assert!(matches!(
        Lod::from_row_ids(&[0, 2, 1], 3).unwrap_err().kind(),
        RowIdDescending {
            index: 2,
            previous: 2,
            found: 1
        }
    ));
    assert!(matches!(
        Lod::from_row_ids(&[0, 3], 3).unwrap_err().kind(),
        SequenceOutOfRange {
            index: 1,
            found: 3,
            count: 3,
            ..
        }
    ));
    assert!(matches!(
        Lod::uniform(usize::MAX, 2).unwrap_err().kind(),
        Overflow { level: 0, .. }
    ));
    let reversed = std::ops::Range { start: 2, end: 1 };
    assert!(matches!(
        lod.slice(0, reversed).unwrap_err().kind(),
        RangeOutOfRange { .. }
    ));
    assert!(matches!(
        lod.slice(0, 0..3).unwrap_err().kind(),
        RangeOutOfRange { count: 2, .. }
    ));
    assert!(matches!(
        lod.permute(0, &[1, 1]).unwrap_err().kind(),
        NotAPermutation {
            index: 1,
            found: 1,
            ..
        }
    ));
    assert!(matches!(
        lod.permute(0, &[1]).unwrap_err().kind(),
        CountMismatch {
            expected: 2,
            found: 1,
            ..
        }
    ));
    assert!(matches!(
        lod.split_level(0, &[1, 1], &[2, 3]).unwrap_err().kind(),
        PieceTotal {
            index: 1,
            expected: 4,
            found: 3,
            ..
        }
    ));
    assert!(matches!(
        lod.append(&[1; 5]).unwrap_err().kind(),
        LevelTotal {
            level: 0,
            expected: 6,
            found: 5
        }
    ));
    assert!(matches!(
        lod.group(&[1]).unwrap_err().kind(),
        LevelTotal {
            level: 0,
            expected: 1,
            found: 2
        }
    ));
    assert!(matches!(
        Lod::concat(&[&lod, &Lod::none()]).unwrap_err().kind(),
        DepthMismatch {
            expected: 1,
            found: 0,
            ..
        }
    ));
}

#[test]
fn the_rank_of_any_lengths_is_that_of_a_stable_sort() {
    let lists = [
        vec![],
        vec![0],
        vec![3],
        vec![0, 0, 0],
        vec![2, 5, 2, 0, 5, 1, 9, 0],
        vec![1000, 1, 1000, 3],
        (0..300).map(|i| i * 7919 % 13).collect(),
    ];
    for lengths in lists {
        let mut wanted: Vec<usize> = (0..lengths.len()).collect();
        wanted.sort_by_key(|&i| std::cmp::Reverse(lengths[i]));
        let lod = Lod::from_lengths(lengths).unwrap();
        assert_eq!(lod.rank_by_length(0).unwrap(), wanted);
    }
}

#[test]
fn empty_batches_are_values() {
    let cases = [
        (lengths![[]], 0),
        (lengths![[0]], 0),
        (lengths![[0, 0, 0]], 0),
        (lengths![[0], []], 0),
        (lengths![[0, 0], [], []], 0),
        (lengths![[0, 2, 0], [0, 0]], 0),
    ];
    for (lengths, rows) in cases {
        let lod = Lod::from_lengths(&lengths).unwrap();
        assert_eq!(lod.rows(), Some(rows), "{lengths}");
        assert_eq!(lod.lengths(), lengths);
        assert_eq!(lod.slice_rows(0..0).unwrap().rows(), Some(0));
        lod.check_rows(0).unwrap();
    }
    assert_eq!(Lod::none().rows(), None);
    assert!(Lod::none().check_rows(17).is_ok());
    assert!(Lod::none().is_same(&Lod::default()));
}

#[test]
fn equality_is_by_value_with_a_shared_fast_path() {
    let lod = Lod::from_lengths(lengths![[2, 1], [3, 0, 1]]).unwrap();
    let copy = lod.clone();
    assert!(lod.is_same(&copy));
    let rebuilt = Lod::from_lengths(lod.lengths()).unwrap();
    assert!(rebuilt == lod && !rebuilt.is_same(&lod));
    assert_ne!(lod, Lod::from_lengths(lengths![[2, 1], [3, 1, 0]]).unwrap());
    assert_ne!(lod, Lod::from_lengths([3, 1]).unwrap());
}
