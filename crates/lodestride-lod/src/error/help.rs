//! What to do about each [`LodErrorKind`], in one line.

use super::LodErrorKind;

impl LodErrorKind {
    /// The way out, when the reason does not say it already.
    pub(super) fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::Descending { .. } => {
                "offsets count from the start and never descend; for lengths use `Lod::from_lengths`"
            }
            Self::LevelTotal { .. } => {
                "the lengths of a level must add up to the number of sequences of the next one"
            }
            Self::RowTotal { .. } => {
                "the lengths of the last level must add up to the size of axis 0 of the data"
            }
            Self::Overflow { .. } => {
                "a negative number that was turned into a `usize` is as large as that"
            }
            Self::SequenceOutOfRange { .. } | Self::RangeOutOfRange { .. } => {
                "sequences count from 0; `lod().sequences(level)` tells how many there are"
            }
            Self::NotAPermutation { .. } => {
                "name every sequence once; `take` allows leaving out and repeating"
            }
            Self::LodMismatch { .. } => {
                "bring both to the same sequences, with `sequence::expand_as` for example"
            }
            Self::DepthMismatch { .. } => {
                "`merge_levels` and `above` remove levels, `append` and `group` add them"
            }
            Self::PieceTotal { .. } => {
                "the pieces of a sequence must add up to its length, no more and no less"
            }
            Self::CountMismatch { .. } => {
                "the level argument decides which sequences are counted; -1 is the last level"
            }
            Self::PartOutOfRange { .. } => {
                "offset and length may reach the end of the sequence, not further"
            }
            Self::TooLong { .. } => {
                "raise the limit, or shorten the sequences with `sequence::slice`"
            }
            Self::NotACount { .. } => "counts are whole numbers from 0 on",
            Self::NotIntegers { .. } => "`cast(DType::I64)` it first",
            Self::IdOutOfRange { .. } => {
                "ids count from 0 and end one before the number of positions"
            }
            Self::Rank { .. } => "`reshape` or `expand_dims` it: axis 0 holds the rows",
            Self::ShapeMismatch { .. } => "`reshape` it to that shape if it holds as many elements",
            Self::DTypeMismatch { .. } => "`cast` it first",
            Self::EmptyWindow { .. } => "give the window a length of 1 or more",
            Self::Indivisible { .. } => "choose a width that divides the numbers of every sequence",
            Self::EmptyReference { .. } => {
                "leave the distance as it is with `normalized = false`, or drop empty sequences"
            }
            _ => return None,
        })
    }
}
