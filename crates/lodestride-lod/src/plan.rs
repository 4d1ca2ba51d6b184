//! What the sequence ops do to a LoD, in integers only: repeat, reverse, cut, join, filter rows. Each plan names the rows
//! of the source(s) that make up the result, so the data moves in one pass over ranges.

use std::ops::Range;

use smallvec::SmallVec;

use crate::error::{LodErrorKind, Result, SequenceArgument};
use crate::lengths::room_for;
use crate::level::Level;
use crate::lod::Lod;
use crate::restructure::{Selection, check_count};

/// The outcome of joining several LoDs sequence by sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The LoD of the result.
    pub lod: Lod,
    /// Which input, and which of its rows, in the order of the result; neighbours are joined where possible.
    pub rows: Vec<(usize, Range<usize>)>,
}

impl Lod {
    /// Each sequence of a level, whole, `counts[i]` times in a row; the levels above grow accordingly.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange), [`CountMismatch`](LodErrorKind::CountMismatch) unless there
    /// is one count a sequence, [`Overflow`](LodErrorKind::Overflow) and
    /// [`TooManySequences`](LodErrorKind::TooManySequences) for counts that add up to too much.
    ///
    /// ```
    /// use lodestride_lod::{Lod, lengths};
    ///
    /// let repeated = Lod::from_lengths([1, 3])?.repeat(0, &[1, 3])?;
    /// assert_eq!(repeated.lod.lengths(), lengths![[1, 3, 3, 3]]);
    /// assert_eq!(repeated.rows, [0..4, 1..4, 1..4]);
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    #[track_caller]
    pub fn repeat(&self, level: isize, counts: &[usize]) -> Result<Selection> {
        let level = self.resolve_level(level)?;
        let sequences = self.levels()[level].count();
        check_count(
            "repeat",
            SequenceArgument::Length,
            level,
            sequences,
            counts.len(),
        )?;
        let copies = Level::from_lengths(counts.iter().copied(), level)?;
        let mut above: SmallVec<[Level; 1]> = self.levels()[..level].into();
        if let Some(parent) = above.last_mut() {
            let grown = parent.offsets().iter().map(|&i| copies.at(i)).collect();
            *parent = Level::proven(grown);
        }
        let mut chosen = room_for(copies.total())?;
        for (i, &count) in counts.iter().enumerate() {
            chosen.extend(std::iter::repeat_n(i..i + 1, count));
        }
        self.gather(level, above, chosen)
    }

    /// The order of the children of every sequence of a level turned round: of rows at the last level, of whole
    /// sequences (each left as it is inside) at the others.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange).
    ///
    /// ```
    /// use lodestride_lod::{Lod, lengths};
    ///
    /// let lod = Lod::from_lengths(lengths![[2, 1], [3, 1, 2]])?;
    /// let reversed = lod.reverse(0)?;
    /// assert_eq!(reversed.lod.lengths(), lengths![[2, 1], [1, 3, 2]]);
    /// assert_eq!(reversed.rows, [3..4, 0..3, 4..6]);
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    #[track_caller]
    pub fn reverse(&self, level: isize) -> Result<Selection> {
        let level = self.resolve_level(level)?;
        let source = &self.levels()[level];
        let chosen = (0..source.count())
            .flat_map(|i| source.children(i).rev().map(|child| child..child + 1));
        self.gather(level + 1, self.levels()[..=level].into(), chosen.collect())
    }

    /// From sequence `i` of a level the `lengths[i]` children from `offsets[i]` on; the levels above stay.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange), [`CountMismatch`](LodErrorKind::CountMismatch) unless there
    /// is one offset and one length a sequence, [`PartOutOfRange`](LodErrorKind::PartOutOfRange) when a part reaches
    /// past the end of its sequence.
    ///
    /// ```
    /// use lodestride_lod::{Lod, lengths};
    ///
    /// let parts = Lod::from_lengths([3, 2])?.parts(0, &[0, 1], &[2, 1])?;
    /// assert_eq!((parts.lod.lengths(), parts.rows), (lengths![[2, 1]], vec![0..2, 4..5]));
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    #[track_caller]
    pub fn parts(&self, level: isize, offsets: &[usize], lengths: &[usize]) -> Result<Selection> {
        const OP: &str = "sequence_slice";
        let level = self.resolve_level(level)?;
        let source = &self.levels()[level];
        check_count(
            OP,
            SequenceArgument::Offset,
            level,
            source.count(),
            offsets.len(),
        )?;
        check_count(
            OP,
            SequenceArgument::Length,
            level,
            source.count(),
            lengths.len(),
        )?;
        let mut chosen = Vec::with_capacity(lengths.len());
        for (index, (&offset, &length)) in offsets.iter().zip(lengths).enumerate() {
            let children = source.children(index);
            if offset > children.len() || length > children.len() - offset {
                return Err(LodErrorKind::PartOutOfRange {
                    op: OP,
                    level,
                    index,
                    offset,
                    length,
                    found: children.len(),
                }
                .into());
            }
            let start = children.start + offset;
            chosen.push(start..start + length);
        }
        let mut above: SmallVec<[Level; 1]> = self.levels()[..level].into();
        above.push(Level::from_lengths(lengths.iter().copied(), level)?);
        self.gather(level + 1, above, chosen)
    }

    /// Only the rows whose flag is set; the sequences of the last level shrink, possibly to nothing, the levels above
    /// stay.
    ///
    /// # Errors
    /// [`RowTotal`](LodErrorKind::RowTotal) unless there is one flag a row,
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange) without levels.
    #[track_caller]
    pub fn filter_rows(&self, keep: &[bool]) -> Result<Selection> {
        let lod = self.of_kept_rows(keep)?;
        let (mut rows, mut end) = (Vec::new(), 0);
        for run in keep.chunk_by(|a, b| a == b) {
            let start = end;
            end += run.len();
            if run[0] {
                rows.push(start..end);
            }
        }
        Ok(Selection { lod, rows })
    }

    /// The LoD of [`filter_rows`](Lod::filter_rows).
    #[track_caller]
    pub(crate) fn of_kept_rows(&self, keep: &[bool]) -> Result<Lod> {
        let last = self.at(-1)?;
        self.check_rows(keep.len())?;
        let lengths =
            (0..last.count()).map(|i| keep[last.children(i)].iter().filter(|&&k| k).count());
        let mut levels: SmallVec<[Level; 1]> = self.levels().into();
        levels[self.depth() - 1] = Level::from_lengths(lengths, self.depth() - 1)?;
        Ok(Lod::proven(levels))
    }

    /// Sequence `i` of the result is sequence `i` of each input's level, one after the other, whole with everything
    /// below; the levels above must be equal in all inputs and stay.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange), [`DepthMismatch`](LodErrorKind::DepthMismatch),
    /// [`LodMismatch`](LodErrorKind::LodMismatch) when levels above differ,
    /// [`CountMismatch`](LodErrorKind::CountMismatch) when the number of sequences differs,
    /// [`Overflow`](LodErrorKind::Overflow). No input at all is a LoD without levels.
    ///
    /// ```
    /// use lodestride_lod::{Lod, lengths};
    ///
    /// let (a, b) = (Lod::from_lengths([2, 1])?, Lod::from_lengths([1, 3])?);
    /// let joined = Lod::join(&[&a, &b], 0)?;
    /// assert_eq!(joined.lod.lengths(), lengths![[3, 4]]);
    /// assert_eq!(joined.rows, [(0, 0..2), (1, 0..1), (0, 2..3), (1, 1..4)]);
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    #[track_caller]
    pub fn join(lods: &[&Lod], level: isize) -> Result<Join> {
        const OP: &str = "sequence_concat";
        let Some(first) = lods.first() else {
            return Ok(Join {
                lod: Lod::none(),
                rows: Vec::new(),
            });
        };
        let level = first.resolve_level(level)?;
        let count = first.levels()[level].count();
        for (i, lod) in lods.iter().enumerate().skip(1) {
            let argument = SequenceArgument::Input(i);
            if lod.depth() != first.depth() {
                return Err(LodErrorKind::DepthMismatch {
                    op: OP,
                    argument,
                    expected: first.depth(),
                    found: lod.depth(),
                }
                .into());
            }
            let above = Lod::proven(first.levels()[..level].into());
            above.check_equal(&Lod::proven(lod.levels()[..level].into()), OP, argument)?;
            check_count(OP, argument, level, count, lod.levels()[level].count())?;
        }
        let mut levels: SmallVec<[Level; 1]> = first.levels()[..level].into();
        // Each input's children of sequence i, in the order of the result.
        let mut pieces: Vec<(usize, Range<usize>)> = Vec::with_capacity(count * lods.len());
        let mut lengths = Vec::with_capacity(count);
        for i in 0..count {
            let mut total = 0usize;
            for (k, lod) in lods.iter().enumerate() {
                let children = lod.levels()[level].children(i);
                let sum = total.checked_add(children.len());
                total = sum.ok_or(LodErrorKind::Overflow { level, index: i })?;
                pieces.push((k, children));
            }
            lengths.push(total);
        }
        levels.push(Level::from_lengths(lengths, level)?);
        for below in level + 1..first.depth() {
            let source = |k: usize| &lods[k].levels()[below];
            let lengths = pieces
                .iter()
                .flat_map(|(k, range)| source(*k).slice_lengths(range.clone()));
            levels.push(Level::from_lengths(lengths, below)?);
            for (k, range) in &mut pieces {
                *range = source(*k).at(range.start)..source(*k).at(range.end);
            }
        }
        Ok(Join {
            lod: Lod::proven(levels),
            rows: join_pieces(pieces),
        })
    }
}

/// Drops empty pieces and joins those of one input that continue each other.
fn join_pieces(pieces: Vec<(usize, Range<usize>)>) -> Vec<(usize, Range<usize>)> {
    let mut joined: Vec<(usize, Range<usize>)> = Vec::with_capacity(pieces.len());
    for (input, range) in pieces {
        match joined.last_mut() {
            _ if range.is_empty() => {}
            Some((before, last)) if *before == input && last.end == range.start => {
                last.end = range.end
            }
            _ => joined.push((input, range)),
        }
    }
    joined
}
