//! LoDs made out of LoDs: slices, selections, joins, levels merged and split. Each selection also says which rows it keeps,
//! so that data can follow; moving the data is `tensor.rs`'s work.

use std::ops::Range;

use smallvec::SmallVec;

use crate::error::{LodErrorKind, Result, SequenceArgument};
use crate::level::Level;
use crate::lod::Lod;

/// The outcome of choosing sequences: the LoD of the result and where its rows come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The LoD of the chosen sequences.
    pub lod: Lod,
    /// The rows of the source that make up the result, in order; neighbours are joined where possible.
    pub rows: Vec<Range<usize>>,
}

impl Lod {
    /// The sequences `range` of a level as a LoD of their own, and the rows they cover; copies no offsets.
    ///
    /// Levels above `level` are left out: a range of sentences is no longer grouped into texts.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange), [`RangeOutOfRange`](LodErrorKind::RangeOutOfRange).
    ///
    /// ```
    /// use lodestride_lod::{Lod, lengths};
    ///
    /// let lod = Lod::from_lengths(lengths![[3, 1, 2], [3, 2, 4, 1, 2, 3]])?;
    /// let (last_two, rows) = lod.slice(0, 1..3)?;
    /// assert_eq!((last_two.lengths(), rows), (lengths![[1, 2], [1, 2, 3]], 9..15));
    /// assert!(last_two.shares_offsets(&lod));
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    #[track_caller]
    pub fn slice(&self, level: isize, range: Range<usize>) -> Result<(Lod, Range<usize>)> {
        let level = self.resolve_level(level)?;
        check_range("slice", &range, self.levels()[level].count())?;
        Ok(self.window(level, range))
    }

    /// What lies inside sequence `index` of a level: the levels below it (none for the last level), and its rows.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange), [`SequenceOutOfRange`](LodErrorKind::SequenceOutOfRange).
    #[track_caller]
    pub fn sequence(&self, level: isize, index: usize) -> Result<(Lod, Range<usize>)> {
        let level = self.resolve_level(level)?;
        let count = self.levels()[level].count();
        check_sequence("sequence", 0, index, count)?;
        Ok(self.inside(level, index))
    }

    /// [`sequence`](Lod::sequence) for a level and an index known to exist.
    pub(crate) fn inside(&self, level: usize, index: usize) -> (Lod, Range<usize>) {
        let children = self.levels()[level].children(index);
        if level + 1 == self.depth() {
            (Lod::none(), children)
        } else {
            self.window(level + 1, children)
        }
    }

    fn window(&self, level: usize, mut range: Range<usize>) -> (Lod, Range<usize>) {
        let mut levels = SmallVec::with_capacity(self.depth() - level);
        for source in &self.levels()[level..] {
            let below = source.at(range.start)..source.at(range.end);
            levels.push(source.slice(range));
            range = below;
        }
        (Lod::proven(levels), range)
    }

    /// The rows `range` with all levels kept: sequences that the range cuts become shorter, sequences without a row in
    /// the range are left out, except empty ones between two that stay.
    ///
    /// # Errors
    /// [`RangeOutOfRange`](LodErrorKind::RangeOutOfRange), [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange) for a LoD
    /// without levels, which does not know its rows.
    ///
    /// ```
    /// use lodestride_lod::{Lod, lengths};
    ///
    /// let lod = Lod::from_lengths(lengths![[2, 1], [3, 1, 2]])?;
    /// assert_eq!(lod.slice_rows(1..5)?.lengths(), lengths![[2, 1], [2, 1, 1]]);
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    #[track_caller]
    pub fn slice_rows(&self, range: Range<usize>) -> Result<Lod> {
        check_range("slice_rows", &range, self.total(-1)?)?;
        let mut levels = SmallVec::with_capacity(self.depth());
        let mut children = range;
        for level in self.levels().iter().rev() {
            let offsets = level.offsets();
            let (first, end) = if children.is_empty() {
                (0, 0)
            } else {
                let first = offsets.partition_point(|&o| o <= children.start) - 1;
                (first, offsets.partition_point(|&o| o < children.end))
            };
            let clipped = offsets[first..=end]
                .iter()
                .map(|&o| o.clamp(children.start, children.end) - children.start)
                .collect();
            levels.push(Level::proven(clipped));
            children = first..end;
        }
        levels.reverse();
        Ok(Lod::proven(levels))
    }

    /// The sequences of a level named by `indices`, in that order, repetitions allowed, whole with everything below
    /// them; levels above are left out.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange), [`SequenceOutOfRange`](LodErrorKind::SequenceOutOfRange),
    /// [`Overflow`](LodErrorKind::Overflow) when repetitions add up to too much.
    #[track_caller]
    pub fn take(&self, level: isize, indices: &[usize]) -> Result<Selection> {
        let level = self.resolve_level(level)?;
        let count = self.levels()[level].count();
        for (position, &index) in indices.iter().enumerate() {
            check_sequence("take", position, index, count)?;
        }
        self.gather(
            level,
            SmallVec::new(),
            indices.iter().map(|&i| i..i + 1).collect(),
        )
    }

    /// The sequences of a level whose flag is set, in order; levels above are left out.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange), [`CountMismatch`](LodErrorKind::CountMismatch) unless there
    /// is one flag a sequence.
    #[track_caller]
    pub fn filter(&self, level: isize, keep: &[bool]) -> Result<Selection> {
        let level = self.resolve_level(level)?;
        check_count(
            "filter",
            SequenceArgument::Y,
            level,
            self.levels()[level].count(),
            keep.len(),
        )?;
        let kept = keep.iter().enumerate().filter(|(_, keep)| **keep);
        self.gather(
            level,
            SmallVec::new(),
            kept.map(|(i, _)| i..i + 1).collect(),
        )
    }

    /// The sequences of a level in another order; levels above are left out.
    ///
    /// # Errors
    /// As [`take`](Lod::take), [`CountMismatch`](LodErrorKind::CountMismatch) unless every sequence is named, and
    /// [`NotAPermutation`](LodErrorKind::NotAPermutation) when one is named twice.
    #[track_caller]
    pub fn permute(&self, level: isize, order: &[usize]) -> Result<Selection> {
        let index = self.resolve_level(level)?;
        let count = self.levels()[index].count();
        check_count("permute", SequenceArgument::Y, index, count, order.len())?;
        let mut seen = vec![false; count];
        for (position, &found) in order.iter().enumerate() {
            check_sequence("permute", position, found, count)?;
            if std::mem::replace(&mut seen[found], true) {
                return Err(LodErrorKind::NotAPermutation {
                    op: "permute",
                    index: position,
                    found,
                }
                .into());
            }
        }
        self.take(level, order)
    }

    /// The ranks of the sequences of a level, longest first, equal lengths in their old order: Fluid's rank table.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange).
    #[track_caller]
    pub fn rank_by_length(&self, level: isize) -> Result<Vec<usize>> {
        let lengths: Vec<usize> = self.lengths_of(level)?.collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        if longest > 4 * lengths.len() {
            let mut order: Vec<usize> = (0..lengths.len()).collect();
            order.sort_by_key(|&i| std::cmp::Reverse(lengths[i]));
            return Ok(order);
        }
        // Few lengths: how many are longer than each says where its sequences begin.
        let mut places = vec![0; longest + 2];
        for length in &lengths {
            places[longest - length + 1] += 1;
        }
        for shorter in 0..=longest {
            places[shorter + 1] += places[shorter];
        }
        let mut order = vec![0; lengths.len()];
        for (sequence, length) in lengths.iter().enumerate() {
            let place = &mut places[longest - length];
            order[*place] = sequence;
            *place += 1;
        }
        Ok(order)
    }

    /// The ranges `chosen` of sequences of `level`, whole, below the levels `above`, whose last adds up to their number.
    #[track_caller]
    pub(crate) fn gather(
        &self,
        level: usize,
        above: SmallVec<[Level; 1]>,
        chosen: Vec<Range<usize>>,
    ) -> Result<Selection> {
        let mut levels = above;
        let mut ranges = join_ranges(chosen);
        for (index, source) in self.levels().iter().enumerate().skip(level) {
            let lengths = ranges
                .iter()
                .cloned()
                .flat_map(|range| source.slice_lengths(range));
            levels.push(Level::from_lengths(lengths, index)?);
            for range in &mut ranges {
                *range = source.at(range.start)..source.at(range.end);
            }
            ranges = join_ranges(ranges);
        }
        Ok(Selection {
            lod: Lod::proven(levels),
            rows: ranges,
        })
    }

    /// The sequences of all `lods` one after the other; they must have the same depth.
    ///
    /// # Errors
    /// [`DepthMismatch`](LodErrorKind::DepthMismatch), [`Overflow`](LodErrorKind::Overflow).
    #[track_caller]
    pub fn concat(lods: &[&Lod]) -> Result<Lod> {
        let depth = lods.first().map_or(0, |lod| lod.depth());
        for (i, lod) in lods.iter().enumerate() {
            if lod.depth() != depth {
                return Err(LodErrorKind::DepthMismatch {
                    op: "concat",
                    argument: SequenceArgument::Input(i),
                    expected: depth,
                    found: lod.depth(),
                }
                .into());
            }
        }
        let mut levels = SmallVec::with_capacity(depth);
        for level in 0..depth {
            let lengths: Vec<usize> = lods
                .iter()
                .flat_map(|lod| lod.levels()[level].lengths())
                .collect();
            levels.push(Level::from_lengths(lengths, level)?);
        }
        Ok(Lod::proven(levels))
    }

    /// `level` and the one below it merged into one: texts of sentences of words become texts of words.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange) also when `level` is the last.
    ///
    /// ```
    /// use lodestride_lod::{Lod, lengths};
    ///
    /// let texts = Lod::from_lengths(lengths![[3, 1, 2], [3, 2, 4, 1, 2, 3]])?;
    /// let flat = texts.merge_levels(0)?;
    /// assert_eq!(flat.lengths(), lengths![[9, 1, 5]]);
    /// assert_eq!(flat.split_level(0, &[3, 1, 2], &[3, 2, 4, 1, 2, 3])?, texts);
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    #[track_caller]
    pub fn merge_levels(&self, level: isize) -> Result<Lod> {
        let upper = self.resolve_level(level)?;
        let Some(below) = self.levels().get(upper + 1) else {
            return Err(LodErrorKind::LevelOutOfRange {
                level: isize::try_from(upper + 1).unwrap_or(isize::MAX),
                depth: self.depth(),
            }
            .into());
        };
        let merged = self.levels()[upper]
            .offsets()
            .iter()
            .map(|&i| below.at(i))
            .collect();
        let mut levels = self.levels().to_vec();
        levels.splice(upper..upper + 2, [Level::proven(merged)]);
        Ok(Lod::proven(levels.into()))
    }

    /// `level` split into two, the inverse of [`merge_levels`](Lod::merge_levels): sequence `i` becomes `counts[i]`
    /// pieces, whose lengths follow one another in `pieces`.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange), [`CountMismatch`](LodErrorKind::CountMismatch),
    /// [`LevelTotal`](LodErrorKind::LevelTotal) when the counts do not add up to the number of pieces,
    /// [`PieceTotal`](LodErrorKind::PieceTotal) when the pieces of a sequence do not add up to its length.
    #[track_caller]
    pub fn split_level(&self, level: isize, counts: &[usize], pieces: &[usize]) -> Result<Lod> {
        let at = self.resolve_level(level)?;
        let old = &self.levels()[at];
        check_count(
            "split_level",
            SequenceArgument::Length,
            at,
            old.count(),
            counts.len(),
        )?;
        let upper = Level::from_lengths(counts.iter().copied(), at)?;
        let lower = Level::from_lengths(pieces.iter().copied(), at + 1)?;
        if upper.total() != lower.count() {
            return Err(LodErrorKind::LevelTotal {
                level: at,
                expected: upper.total(),
                found: lower.count(),
            }
            .into());
        }
        for (index, expected) in old.lengths().enumerate() {
            let own = upper.children(index);
            let found = lower.at(own.end) - lower.at(own.start);
            if found != expected {
                return Err(LodErrorKind::PieceTotal {
                    op: "split_level",
                    level: at,
                    index,
                    expected,
                    found,
                }
                .into());
            }
        }
        let mut levels = self.levels().to_vec();
        levels.splice(at..=at, [upper, lower]);
        Ok(Lod::proven(levels.into()))
    }

    /// One more level below the last: Fluid's `lod_append`. What used to be rows become sequences of these lengths.
    ///
    /// # Errors
    /// [`LevelTotal`](LodErrorKind::LevelTotal) unless there is one length for each row this LoD had,
    /// [`Overflow`](LodErrorKind::Overflow).
    #[track_caller]
    pub fn append(&self, lengths: &[usize]) -> Result<Lod> {
        let mut levels: SmallVec<[Level; 1]> = self.levels().into();
        levels.push(Level::from_lengths(lengths.iter().copied(), self.depth())?);
        Lod::from_levels(levels)
    }

    /// One more level above the first: groups the outermost sequences, the inverse of dropping the top level.
    ///
    /// # Errors
    /// [`LevelTotal`](LodErrorKind::LevelTotal) unless the lengths add up to the number of outermost sequences,
    /// [`Overflow`](LodErrorKind::Overflow).
    #[track_caller]
    pub fn group(&self, lengths: &[usize]) -> Result<Lod> {
        let mut levels = SmallVec::with_capacity(self.depth() + 1);
        levels.push(Level::from_lengths(lengths.iter().copied(), 0)?);
        levels.extend(self.levels().iter().cloned());
        Lod::from_levels(levels)
    }

    /// The levels above `level` only: what is left when each sequence of `level` has become one row.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange).
    #[track_caller]
    pub fn above(&self, level: isize) -> Result<Lod> {
        let level = self.resolve_level(level)?;
        Ok(Lod::proven(self.levels()[..level].into()))
    }
}

/// Drops empty ranges and joins those that continue each other, in their own list.
pub(crate) fn join_ranges(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.dedup_by(|next, last| {
        let continues = last.end == next.start;
        if continues {
            last.end = next.end;
        }
        continues
    });
    ranges
}

#[track_caller]
pub(crate) fn check_range(op: &'static str, range: &Range<usize>, count: usize) -> Result<()> {
    if range.start <= range.end && range.end <= count {
        return Ok(());
    }
    Err(LodErrorKind::RangeOutOfRange {
        op,
        start: range.start,
        end: range.end,
        count,
    }
    .into())
}

#[track_caller]
pub(crate) fn check_sequence(
    op: &'static str,
    index: usize,
    found: usize,
    count: usize,
) -> Result<()> {
    if found < count {
        return Ok(());
    }
    Err(LodErrorKind::SequenceOutOfRange {
        op,
        index,
        found,
        count,
    }
    .into())
}

/// One entry a sequence of `level`.
#[track_caller]
pub(crate) fn check_count(
    op: &'static str,
    argument: SequenceArgument,
    level: usize,
    expected: usize,
    found: usize,
) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(LodErrorKind::CountMismatch {
        op,
        argument,
        level,
        expected,
        found,
    }
    .into())
}
