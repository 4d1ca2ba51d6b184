//! The integer half of the sequence ops, against plain nested lists.
#![expect(
    clippy::unwrap_used,
    clippy::too_many_lines,
    reason = "a test fails by panicking, and tables of cases are long"
)]

use lodestride_lod::{Lod, LodErrorKind, Selection, lengths};
use proptest::prelude::*;

/// A batch as plain lists: documents of sentences of row numbers.
type Batch = Vec<Vec<Vec<usize>>>;

fn batch() -> impl Strategy<Value = Batch> {
    let sentence = prop_oneof![Just(0usize), Just(1), 2usize..5];
    let text = proptest::collection::vec(sentence, 0..4);
    proptest::collection::vec(text, 0..5).prop_map(|shape| {
        let mut row = 0..;
        shape
            .into_iter()
            .map(|text| {
                text.into_iter()
                    .map(|n| row.by_ref().take(n).collect())
                    .collect()
            })
            .collect()
    })
}

fn lod_of(batch: &Batch) -> Lod {
    let texts: Vec<usize> = batch.iter().map(Vec::len).collect();
    let sentences: Vec<usize> = batch.iter().flatten().map(Vec::len).collect();
    Lod::from_lengths([texts, sentences]).unwrap()
}

/// A selection must have the LoD of `expected` and read exactly its rows.
fn check(found: &Selection, expected: &Batch) -> Result<(), TestCaseError> {
    prop_assert_eq!(&found.lod, &lod_of(expected));
    let rows: Vec<usize> = found.rows.iter().cloned().flatten().collect();
    prop_assert_eq!(
        rows,
        expected
            .iter()
            .flatten()
            .flatten()
            .copied()
            .collect::<Vec<_>>()
    );
    Ok(())
}

fn repeated<T: Clone>(items: &[T], counts: &mut impl Iterator<Item = usize>) -> Vec<T> {
    items
        .iter()
        .flat_map(|item| std::iter::repeat_n(item.clone(), counts.next().unwrap()))
        .collect()
}

proptest! {
    #[test]
    fn repeat_at_both_levels(batch in batch(), counts in proptest::collection::vec(0usize..4, 32)) {
        let lod = lod_of(&batch);
        let outer = counts[..batch.len()].to_vec();
        check(&lod.repeat(0, &outer).unwrap(), &repeated(&batch, &mut outer.iter().copied()))?;
        let inner = counts[..lod.sequences(1).unwrap()].to_vec();
        let mut each = inner.iter().copied();
        let expected = batch.iter().map(|text| repeated(text, &mut each)).collect();
        check(&lod.repeat(-1, &inner).unwrap(), &expected)?;
    }

    #[test]
    fn reverse_at_both_levels(batch in batch()) {
        let lod = lod_of(&batch);
        let texts = batch.iter().map(|text| text.iter().rev().cloned().collect()).collect();
        check(&lod.reverse(0).unwrap(), &texts)?;
        let words = |s: &Vec<usize>| s.iter().rev().copied().collect();
        let sentences = batch.iter().map(|text| text.iter().map(words).collect()).collect();
        check(&lod.reverse(1).unwrap(), &sentences)?;
    }

    #[test]
    fn parts_at_both_levels(batch in batch(), cuts in proptest::collection::vec((0usize..6, 0usize..6), 32)) {
        let lod = lod_of(&batch);
        for level in 0..2 {
            let lengths: Vec<usize> = lod.lengths_of(level).unwrap().collect();
            let starts: Vec<usize> = lengths.iter().zip(&cuts).map(|(&n, &(a, _))| a.min(n)).collect();
            let sizes: Vec<usize> = lengths.iter().zip(&starts).zip(&cuts).map(|((&n, &a), &(_, b))| b.min(n - a)).collect();
            let mut each = starts.iter().copied().zip(sizes.iter().copied());
            let expected: Batch = if level == 0 {
                batch.iter().map(|text| { let (a, n) = each.next().unwrap(); text[a..a + n].to_vec() }).collect()
            } else {
                batch.iter().map(|text| text.iter().map(|s| {
                    let (a, n) = each.next().unwrap();
                    s[a..a + n].to_vec()
                }).collect()).collect()
            };
            check(&lod.parts(level, &starts, &sizes).unwrap(), &expected)?;
        }
    }

    #[test]
    fn filtered_rows_leave_their_sequences_standing(batch in batch(), flags in proptest::collection::vec(any::<bool>(), 64)) {
        let lod = lod_of(&batch);
        let keep = &flags[..lod.rows().unwrap()];
        let expected = batch.iter().map(|text| text.iter().map(|s| {
            s.iter().copied().filter(|&row| keep[row]).collect()
        }).collect()).collect();
        check(&lod.filter_rows(keep).unwrap(), &expected)?;
    }

    #[test]
    fn a_join_interleaves_sequence_by_sequence(batch in batch()) {
        let lod = lod_of(&batch);
        // With itself, and with its own reverse, at the outer level; with itself at the inner one.
        let other = lod.reverse(0).unwrap().lod;
        let joined = Lod::join(&[&lod, &other], 0).unwrap();
        let mut expected = Batch::new();
        let mut sources = Vec::new();
        let mut row = 0;
        for text in &batch {
            expected.push(text.iter().chain(text.iter().rev()).cloned().collect());
            let words: usize = text.iter().map(Vec::len).sum();
            sources.extend((row..row + words).map(|r| (0, r)));
            sources.extend((row..row + words).map(|r| (1, r)));
            row += words;
        }
        prop_assert_eq!(&joined.lod, &lod_of(&expected));
        let found: Vec<_> = joined.rows.iter().flat_map(|(k, rows)| rows.clone().map(move |r| (*k, r))).collect();
        prop_assert_eq!(found, sources);

        let doubled = Lod::join(&[&lod, &lod], -1).unwrap().lod;
        let words = |s: &Vec<usize>| s.iter().chain(s).copied().collect();
        let expected = batch.iter().map(|text| text.iter().map(words).collect()).collect();
        prop_assert_eq!(doubled, lod_of(&expected));
    }
}

#[test]
fn wrong_plans_are_refused_with_the_values_that_failed() {
    use LodErrorKind::*;
    let lod = Lod::from_lengths([3, 2]).unwrap();
    assert!(matches!(
        lod.parts(0, &[1, 0], &[3, 1]).unwrap_err().kind(),
        PartOutOfRange {
            index: 0,
            offset: 1,
            length: 3,
            found: 3,
            ..
        }
    ));
    assert!(lod.parts(0, &[usize::MAX, 0], &[usize::MAX, 1]).is_err());
    assert!(matches!(
        lod.parts(0, &[1], &[3, 1]).unwrap_err().kind(),
        CountMismatch {
            expected: 2,
            found: 1,
            ..
        }
    ));
    assert!(matches!(
        lod.repeat(0, &[1]).unwrap_err().kind(),
        CountMismatch {
            expected: 2,
            found: 1,
            ..
        }
    ));
    assert!(matches!(
        lod.repeat(0, &[usize::MAX, 2]).unwrap_err().kind(),
        Overflow { .. }
    ));
    assert!(matches!(
        lod.filter_rows(&[true]).unwrap_err().kind(),
        RowTotal {
            expected: 5,
            found: 1,
            ..
        }
    ));
    assert!(matches!(
        Lod::none().reverse(-1).unwrap_err().kind(),
        LevelOutOfRange { depth: 0, .. }
    ));
    let three = Lod::from_lengths([1, 1, 1]).unwrap();
    assert!(matches!(
        Lod::join(&[&lod, &three], 0).unwrap_err().kind(),
        CountMismatch {
            expected: 2,
            found: 3,
            ..
        }
    ));
    let (a, b) = (lengths![[1, 1], [1, 2]], lengths![[0, 2], [1, 2]]);
    let (a, b) = (Lod::from_lengths(a).unwrap(), Lod::from_lengths(b).unwrap());
    assert!(matches!(
        Lod::join(&[&a, &b], 1).unwrap_err().kind(),
        LodMismatch {
            level: 0,
            index: 0,
            expected: Some(1),
            found: Some(0),
            ..
        }
    ));
    assert!(Lod::join(&[&a, &lod], 0).is_err());
}
