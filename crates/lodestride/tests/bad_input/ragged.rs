//! Ragged batches: LoD that does not add up, in each way it can fail to, and sequence ops given the wrong thing.

use lodestride::Result;
use lodestride::array::Scalar;
use lodestride::lod::LodErrorKind as Kind;
use lodestride::lod::sequence::{PoolKind, Window};
use lodestride::lod::{lengths, offsets};
use lodestride::prelude::*;

use super::{case, check};

#[test]
fn lod_that_does_not_add_up() -> Result<()> {
    let rows = NdArray::ones([5, 2])?;
    let two_levels = lengths![[2, 1], [1, 2, 3]];
    check(vec![
        case!("rows missing", [&rows], LodTensor::new(rows.clone(), lengths![[3, 3]]), Lod Kind::RowTotal { level: 0, expected: 6, found: 5 },
            ["level 0", "6 rows", "has 5", "help: "]),
        case!("rows left over", [&rows], LodTensor::new(rows.clone(), lengths![[3, 1]]), Lod Kind::RowTotal { expected: 4, found: 5, .. },
            ["4 rows", "has 5", "help: "]),
        case!("rows of two levels", [&rows], LodTensor::new(rows.clone(), two_levels.clone()), Lod Kind::RowTotal { level: 1, expected: 6, found: 5 },
            ["level 1", "6 rows", "help: "]),
        case!("levels that disagree", [], Lod::from_lengths(lengths![[2, 2], [1, 2, 2]]), Lod Kind::LevelTotal { level: 0, expected: 4, found: 3 },
            ["level 0", "4 sequences", "level 1 has 3", "help: "]),
        case!("lengths given as offsets", [], Lod::from_offsets(offsets![[3, 1, 2]]), Lod Kind::FirstOffset { level: 0, found: 3 },
            ["start at offset 0", "found 3", "`Lod::from_lengths`"]),
        case!("descending offsets", [], Lod::from_offsets(offsets![[0, 3, 2]]), Lod Kind::Descending { level: 0, index: 2, previous: 3, found: 2 },
            ["offset 2", "index 2", "offset 3", "help: "]),
        case!("a level without offsets", [], Lod::from_offsets(Offsets::from(vec![Vec::new()])), Lod Kind::NoOffsets { level: 0 },
            ["level 0", "offset 0"]),
        case!("offsets of two levels", [], Lod::from_offsets(offsets![[0, 2], [0, 1]]), Lod Kind::LevelTotal { expected: 2, found: 1, .. },
            ["2 sequences", "has 1", "help: "]),
        case!("overflow", [], Lod::from_lengths([usize::MAX, 2]), Lod Kind::Overflow { level: 0, index: 1 },
            ["overflow", "index 1", "help: "]),
        case!("row ids that descend", [], Lod::from_row_ids(&[0, 2, 1], 3), Lod Kind::RowIdDescending { .. },
            ["row id 1", "row 2", "sort the rows"]),
        case!("a row id too large", [], Lod::from_row_ids(&[0, 7], 3), Lod Kind::SequenceOutOfRange { found: 7, count: 3, .. },
            ["7", "there are 3", "help: "]),
        case!("a scalar with sequences", [], LodTensor::new(NdArray::from(1.0f32), lengths![[1]]), Lod Kind::Rank { .. },
            ["LodTensor::new", "rank 0", "help: "]),
    ]);
    Ok(())
}

#[test]
fn levels_and_sequences_that_do_not_exist() -> Result<()> {
    let x = LodTensor::new(NdArray::ones([6, 2])?, lengths![[2, 1], [1, 2, 3]])?;
    let plain = LodTensor::from(NdArray::ones([6, 2])?);
    check(vec![
        case!("level", [x.data()], x.sequences(2), Lod Kind::LevelOutOfRange { level: 2, depth: 2 },
            ["level 2", "2 level(s)", "-1 is the last"]),
        case!("negative level", [x.data()], x.lod().level(-3), Lod Kind::LevelOutOfRange { level: -3, .. },
            ["level -3"]),
        case!("sequence", [x.data()], x.sequence(0, 2), Lod Kind::SequenceOutOfRange { found: 2, count: 2, .. },
            ["2", "there are 2", "help: "]),
        case!("range", [x.data()], x.slice(0, 1..3), Lod Kind::RangeOutOfRange { .. },
            ["1..3", "there are 2", "help: "]),
        case!("permutation", [x.data()], x.permute(0, &[0, 0]), Lod Kind::NotAPermutation { .. },
            ["not a permutation", "help: "]),
        case!("no level at all", [plain.data()], plain.sequences(0), Lod Kind::LevelOutOfRange { depth: 0, .. },
            ["level 0", "0 level(s)"]),
    ]);
    Ok(())
}

#[test]
fn sequence_ops_given_the_wrong_thing() -> Result<()> {
    let x = LodTensor::new(NdArray::ones([4, 2])?, lengths![[1, 3]])?;
    let y = LodTensor::new(NdArray::ones([6, 1])?, lengths![[1, 3], [2, 1, 2, 1]])?;
    let plain = LodTensor::from(NdArray::ones([4, 2])?);
    let filter = NdArray::ones([5, 1])?;
    let window = Window {
        start: -1,
        length: 3,
    };
    check(vec![
        case!("expand to other counts", [x.data(), y.data()], sequence::expand(&x, &y, -1), Lod Kind::CountMismatch { .. },
            ["expand", "X argument", "2 entries", "expected 4", "help: "]),
        case!("expand by a plain tensor", [x.data()], sequence::expand(&x, &plain, 0), Lod Kind::NoLod { .. },
            ["expand", "Y argument", "no LoD", "`LodTensor::new`"]),
        case!("expand at no level", [x.data()], sequence::expand(&x, &y, 2), Lod Kind::LevelOutOfRange { .. },
            ["level 2"]),
        case!("pool without sequences", [plain.data()], sequence::pool(&plain, PoolKind::Sum, -1, 0.0), Lod Kind::NoLod { .. },
            ["sequence_pool", "X argument", "no LoD", "`LodTensor::new`"]),
        case!("filter of another height", [x.data()], sequence::conv(&x, &filter, window, None, -1), Lod Kind::ShapeMismatch { .. },
            ["Filter", "[5, 1]", "[6", "help: "]),
        case!("an empty window", [x.data()], sequence::context(&x, Window { start: 0, length: 0 }, None, -1), Lod Kind::EmptyWindow { .. },
            ["window is empty", "help: "]),
        case!("slices past the end", [x.data()], sequence::slice(&x, &[0, 2], &[1, 2], -1), Lod Kind::PartOutOfRange { .. },
            ["sequence 1", "2 + 2", "help: "]),
        case!("padding shorter than a sequence", [x.data()], sequence::pad(&x, Scalar::Int(0), Some(2), -1), Lod Kind::TooLong { .. },
            ["sequence 1", "length 3", "limit 2", "help: "]),
        case!("unpadding more than there is", [plain.data()], sequence::unpad(&plain, &[1, 2, 3, 1]), Lod Kind::TooLong { .. },
            ["sequence 2", "length 3", "limit 2", "help: "]),
        case!("rows that cannot be regrouped", [x.data()], sequence::reshape(&x, 4), Lod Kind::Indivisible { index: 0, .. },
            ["sequence 0", "width 4", "help: "]),
        case!("counts of flags", [], sequence::counts(&NdArray::from([0.5f32])), Lod Kind::NotIntegers { .. },
            ["f32", "integers", "help: "]),
        case!("negative counts", [], sequence::counts(&NdArray::from([3i64, -1])), Lod Kind::NotACount { .. },
            ["-1", "index 1", "help: "]),
    ]);
    Ok(())
}
