//! `Lod`: how the rows of an array group into nested sequences. Construction, validation and questions; what makes new
//! LoDs out of old ones is in `restructure.rs`.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use smallvec::SmallVec;

use crate::error::{LodErrorKind, Result, SequenceArgument};
use crate::lengths::{Lengths, Offsets, room_for};
use crate::level::Level;

/// The nesting of variable-length sequences: levels of offsets, outermost first.
///
/// Level `i` says how the sequences of level `i + 1` group into longer ones; the last level groups rows. A `Lod` of no
/// level at all belongs to a plain array. Empty sequences, levels of zero sequences and batches of empty documents are
/// ordinary values.
///
/// A `Lod` is immutable and always consistent. Its offsets are shared: cloning it or slicing sequences out of it costs
/// a reference count for each level, whatever its length. Wherever a function takes a level, negative numbers count from the last:
/// `-1` is the level that groups rows.
///
/// ```
/// use lodestride_lod::{Lod, lengths, offsets};
///
/// // Three texts of 3, 1 and 2 sentences, with 3, 2, 4, 1, 2 and 3 words.
/// let lod = Lod::from_lengths(lengths![[3, 1, 2], [3, 2, 4, 1, 2, 3]])?;
/// assert_eq!(lod.offsets(), offsets![[0, 3, 4, 6], [0, 3, 5, 9, 10, 12, 15]]);
/// assert_eq!(lod.rows(), Some(15));
/// assert_eq!(*lod.rows_of(0)?, [0, 9, 10, 15]);      // where each text begins, counted in words
/// assert_eq!(lod.lengths_of(-1)?.max(), Some(4));     // the longest sentence
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Lod {
    /// `levels[i].total() == levels[i + 1].count()` for every `i`; every constructor proves it.
    levels: SmallVec<[Level; 1]>,
}

impl Lod {
    /// No level at all: the LoD of a plain array, a parameter, a batch of images of one size.
    pub fn none() -> Lod {
        Lod::default()
    }

    /// A LoD from sequence lengths, outermost level first.
    ///
    /// # Errors
    /// [`LevelTotal`](LodErrorKind::LevelTotal) when a level does not add up to the count of the level below it,
    /// [`Overflow`](LodErrorKind::Overflow) when a sum does not fit.
    #[track_caller]
    pub fn from_lengths(lengths: impl Into<Lengths>) -> Result<Lod> {
        let mut levels = SmallVec::new();
        for (level, lengths) in lengths.into().into_iter().enumerate() {
            levels.push(Level::from_lengths(lengths, level)?);
        }
        Lod::from_levels(levels)
    }

    /// A LoD from offsets, outermost level first, each level beginning with 0.
    ///
    /// # Errors
    /// [`NoOffsets`](LodErrorKind::NoOffsets), [`FirstOffset`](LodErrorKind::FirstOffset),
    /// [`Descending`](LodErrorKind::Descending) or [`LevelTotal`](LodErrorKind::LevelTotal), with level and index.
    #[track_caller]
    pub fn from_offsets(offsets: impl Into<Offsets>) -> Result<Lod> {
        let mut levels = SmallVec::new();
        for (level, offsets) in offsets.into().into_iter().enumerate() {
            levels.push(Level::from_offsets(offsets, level)?);
        }
        Lod::from_levels(levels)
    }

    /// One level of `sequences` sequences of the same `length`.
    ///
    /// # Errors
    /// [`Overflow`](LodErrorKind::Overflow) when their product does not fit,
    /// [`TooManySequences`](LodErrorKind::TooManySequences) when the offsets do not.
    #[track_caller]
    pub fn uniform(sequences: usize, length: usize) -> Result<Lod> {
        if sequences.checked_mul(length).is_none() {
            let index = usize::MAX / length;
            return Err(LodErrorKind::Overflow { level: 0, index }.into());
        }
        let mut offsets = room_for(sequences.saturating_add(1))?;
        offsets.extend((0..=sequences).map(|i| i * length));
        Ok(Lod::from_level(Level::proven(offsets)))
    }

    /// One level from the sequence number of each row; sequences that no row names are empty.
    ///
    /// # Errors
    /// [`RowIdDescending`](LodErrorKind::RowIdDescending) when the rows of a sequence are not together and in order,
    /// [`SequenceOutOfRange`](LodErrorKind::SequenceOutOfRange) when an id is not below `sequences`.
    ///
    /// ```
    /// use lodestride_lod::{Lod, lengths};
    ///
    /// assert_eq!(Lod::from_row_ids(&[0, 0, 2], 4)?.lengths(), lengths![[2, 0, 1, 0]]);
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    #[track_caller]
    pub fn from_row_ids(ids: &[usize], sequences: usize) -> Result<Lod> {
        let mut lengths: Vec<usize> = room_for(sequences)?;
        lengths.resize(sequences, 0);
        let mut previous = 0;
        for (index, &found) in ids.iter().enumerate() {
            if found < previous {
                return Err(LodErrorKind::RowIdDescending {
                    index,
                    previous,
                    found,
                }
                .into());
            }
            let Some(length) = lengths.get_mut(found) else {
                return Err(LodErrorKind::SequenceOutOfRange {
                    op: "from_row_ids",
                    index,
                    found,
                    count: sequences,
                }
                .into());
            };
            *length += 1;
            previous = found;
        }
        Ok(Lod::from_level(Level::from_lengths(lengths, 0)?))
    }

    /// Checks that the levels fit together.
    #[track_caller]
    pub(crate) fn from_levels(levels: SmallVec<[Level; 1]>) -> Result<Lod> {
        for (level, pair) in levels.windows(2).enumerate() {
            let (expected, found) = (pair[0].total(), pair[1].count());
            if expected != found {
                return Err(LodErrorKind::LevelTotal {
                    level,
                    expected,
                    found,
                }
                .into());
            }
        }
        Ok(Lod { levels })
    }

    /// Levels that fit together by construction.
    pub(crate) fn proven(levels: SmallVec<[Level; 1]>) -> Lod {
        debug_assert!(
            levels
                .windows(2)
                .all(|pair| pair[0].total() == pair[1].count())
        );
        Lod { levels }
    }

    pub(crate) fn from_level(level: Level) -> Lod {
        Lod {
            levels: SmallVec::from_buf([level]),
        }
    }

    pub(crate) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Number of levels; Fluid's `lod_level`.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// True when there is no level at all.
    pub fn is_none(&self) -> bool {
        self.levels.is_empty()
    }

    /// Number of rows the last level groups; `None` without levels, when any number of rows will do.
    pub fn rows(&self) -> Option<usize> {
        self.levels.last().map(Level::total)
    }

    /// The length form.
    pub fn lengths(&self) -> Lengths {
        self.levels
            .iter()
            .map(|level| level.lengths().collect::<Vec<_>>())
            .collect()
    }

    /// The offset form.
    pub fn offsets(&self) -> Offsets {
        self.levels
            .iter()
            .map(|level| level.offsets().to_vec())
            .collect()
    }

    /// The index of a level given as `level`, where negative numbers count from the last.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange).
    #[track_caller]
    pub fn resolve_level(&self, level: isize) -> Result<usize> {
        let depth = self.depth();
        let index = if level < 0 {
            depth.checked_sub(level.unsigned_abs())
        } else {
            Some(level.unsigned_abs())
        };
        match index {
            Some(index) if index < depth => Ok(index),
            _ => Err(LodErrorKind::LevelOutOfRange { level, depth }.into()),
        }
    }

    #[track_caller]
    pub(crate) fn at(&self, level: isize) -> Result<&Level> {
        Ok(&self.levels[self.resolve_level(level)?])
    }

    /// The offsets of a level, counted in sequences of the level below (rows for the last), beginning with 0.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange).
    #[track_caller]
    pub fn level(&self, level: isize) -> Result<&[usize]> {
        Ok(self.at(level)?.offsets())
    }

    /// The lengths of a level, counted in sequences of the level below (rows for the last).
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange).
    #[track_caller]
    pub fn lengths_of(&self, level: isize) -> Result<impl ExactSizeIterator<Item = usize> + '_> {
        Ok(self.at(level)?.lengths())
    }

    /// Number of sequences at a level.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange).
    #[track_caller]
    pub fn sequences(&self, level: isize) -> Result<usize> {
        Ok(self.at(level)?.count())
    }

    /// What the lengths of a level add up to: sequences of the level below, or rows.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange).
    #[track_caller]
    pub fn total(&self, level: isize) -> Result<usize> {
        Ok(self.at(level)?.total())
    }

    /// Length of the longest sequence of a level (0 when there is none); remembered after the first call.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange).
    #[track_caller]
    pub fn max_length(&self, level: isize) -> Result<usize> {
        Ok(self.at(level)?.extremes().1)
    }

    /// Length of the shortest sequence of a level (0 when there is none); remembered after the first call.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange).
    #[track_caller]
    pub fn min_length(&self, level: isize) -> Result<usize> {
        Ok(self.at(level)?.extremes().0)
    }

    /// Where each sequence of a level begins among the rows, and the end: Fluid's absolute offsets.
    ///
    /// Borrowed for the last level, computed for the others.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange).
    #[track_caller]
    pub fn rows_of(&self, level: isize) -> Result<Cow<'_, [usize]>> {
        let level = self.resolve_level(level)?;
        let mut rows = Cow::Borrowed(self.levels[level].offsets());
        for below in &self.levels[level + 1..] {
            rows = Cow::Owned(rows.iter().map(|&index| below.at(index)).collect());
        }
        Ok(rows)
    }

    /// The rows of sequence `index` of a level.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange), [`SequenceOutOfRange`](LodErrorKind::SequenceOutOfRange).
    #[track_caller]
    pub fn row_range(&self, level: isize, index: usize) -> Result<Range<usize>> {
        let level = self.resolve_level(level)?;
        let count = self.levels[level].count();
        if index >= count {
            return Err(LodErrorKind::SequenceOutOfRange {
                op: "row_range",
                index: 0,
                found: index,
                count,
            }
            .into());
        }
        Ok(self.rows_under(level, index..index + 1))
    }

    /// The rows under the sequences `range` of `level`, both known to exist.
    pub(crate) fn rows_under(&self, level: usize, range: Range<usize>) -> Range<usize> {
        self.levels[level..].iter().fold(range, |range, level| {
            level.at(range.start)..level.at(range.end)
        })
    }

    /// The number of the sequence of a level that each row belongs to.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](LodErrorKind::LevelOutOfRange), [`TooManySequences`](LodErrorKind::TooManySequences).
    ///
    /// ```
    /// use lodestride_lod::Lod;
    ///
    /// assert_eq!(Lod::from_lengths([2, 0, 1])?.row_ids(0)?, [0, 0, 2]);
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    #[track_caller]
    pub fn row_ids(&self, level: isize) -> Result<Vec<usize>> {
        let rows = self.rows_of(level)?;
        let mut ids = room_for(rows[rows.len() - 1])?;
        for (id, pair) in rows.windows(2).enumerate() {
            ids.resize(pair[1], id);
        }
        Ok(ids)
    }

    /// Checks that this LoD fits an array of `rows` rows.
    ///
    /// # Errors
    /// [`RowTotal`](LodErrorKind::RowTotal) when the last level adds up to another number.
    #[track_caller]
    pub fn check_rows(&self, rows: usize) -> Result<()> {
        match self.levels.last() {
            Some(level) if level.total() != rows => Err(LodErrorKind::RowTotal {
                level: self.depth() - 1,
                expected: level.total(),
                found: rows,
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// Checks that `other` groups rows exactly as this LoD does; equal by value, immediate when they share offsets.
    ///
    /// # Errors
    /// [`DepthMismatch`](LodErrorKind::DepthMismatch) or [`LodMismatch`](LodErrorKind::LodMismatch) with the first
    /// level and sequence that differ, naming `op` and `argument`.
    #[track_caller]
    pub fn check_equal(
        &self,
        other: &Lod,
        op: &'static str,
        argument: SequenceArgument,
    ) -> Result<()> {
        if self.depth() != other.depth() {
            return Err(LodErrorKind::DepthMismatch {
                op,
                argument,
                expected: self.depth(),
                found: other.depth(),
            }
            .into());
        }
        for (level, (ours, theirs)) in self.levels.iter().zip(&other.levels).enumerate() {
            if ours == theirs {
                continue;
            }
            let shared = ours
                .lengths()
                .zip(theirs.lengths())
                .take_while(|(a, b)| a == b)
                .count();
            return Err(LodErrorKind::LodMismatch {
                op,
                argument,
                level,
                index: shared,
                expected: ours.lengths().nth(shared),
                found: theirs.lengths().nth(shared),
            }
            .into());
        }
        Ok(())
    }

    /// True when both use the same shared offsets at the same place on every level, so that they are equal without
    /// looking.
    pub fn is_same(&self, other: &Lod) -> bool {
        self.depth() == other.depth()
            && self
                .levels
                .iter()
                .zip(&other.levels)
                .all(|(a, b)| a.same_window(b))
    }

    /// True when some level of both looks at the same shared offsets.
    pub fn shares_offsets(&self, other: &Lod) -> bool {
        self.levels.iter().any(|ours| {
            other
                .levels
                .iter()
                .any(|theirs| ours.shares_offsets(theirs))
        })
    }
}

impl fmt::Debug for Lod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lod({:?})", self.levels.as_slice())
    }
}

/// What says how rows group: a [`Lod`], its [`Lengths`] or its [`Offsets`].
pub trait IntoLod {
    /// The checked LoD.
    ///
    /// # Errors
    /// Those of [`Lod::from_lengths`] and [`Lod::from_offsets`].
    #[track_caller]
    fn into_lod(self) -> Result<Lod>;
}

impl IntoLod for Lod {
    fn into_lod(self) -> Result<Lod> {
        Ok(self)
    }
}

impl IntoLod for &Lod {
    fn into_lod(self) -> Result<Lod> {
        Ok(self.clone())
    }
}

impl IntoLod for Lengths {
    #[track_caller]
    fn into_lod(self) -> Result<Lod> {
        Lod::from_lengths(self)
    }
}

impl IntoLod for Offsets {
    #[track_caller]
    fn into_lod(self) -> Result<Lod> {
        Lod::from_offsets(self)
    }
}

impl TryFrom<Lengths> for Lod {
    type Error = crate::LodError;

    fn try_from(lengths: Lengths) -> Result<Lod> {
        Lod::from_lengths(lengths)
    }
}

impl TryFrom<Offsets> for Lod {
    type Error = crate::LodError;

    fn try_from(offsets: Offsets) -> Result<Lod> {
        Lod::from_offsets(offsets)
    }
}

impl From<&Lod> for Lengths {
    fn from(lod: &Lod) -> Lengths {
        lod.lengths()
    }
}

impl From<&Lod> for Offsets {
    fn from(lod: &Lod) -> Offsets {
        lod.offsets()
    }
}
