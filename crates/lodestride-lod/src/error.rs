//! What can be wrong with a LoD or with the arguments of a sequence op: values only, no prepared text.

mod help;

use std::fmt;
use std::panic::Location;

use lodestride_array::kernels::KernelError;
use lodestride_array::{ArrayError, DType, Shape};

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, LodError>;

/// Why a LoD was refused or a sequence op could not run, and where it was asked for.
///
/// Match on [`kind`](LodError::kind); the text of `Display` is for people and ends with the caller's source line.
pub struct LodError {
    kind: Box<LodErrorKind>,
    at: &'static Location<'static>,
}

impl LodError {
    /// What went wrong, with the values that failed.
    pub fn kind(&self) -> &LodErrorKind {
        &self.kind
    }

    /// The source line of the call that failed.
    pub fn location(&self) -> &'static Location<'static> {
        self.at
    }
}

impl fmt::Display for LodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The place stands under the first line, also when the text of a lower crate has several.
        let text = self.kind.to_string();
        let (first, rest) = text
            .split_once('\n')
            .map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
        write!(f, "{first}\n  --> {}", self.at)?;
        rest.map_or(Ok(()), |rest| write!(f, "\n{rest}"))?;
        let help = self.kind.help();
        help.map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
    }
}

impl fmt::Debug for LodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `unwrap` and a `main` that returns an error print this form: the readable text serves them best.
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LodError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&*self.kind)
    }
}

impl<K: Into<LodErrorKind>> From<K> for LodError {
    #[track_caller]
    fn from(kind: K) -> LodError {
        LodError {
            kind: Box::new(kind.into()),
            at: Location::caller(),
        }
    }
}

/// Which tensor of a sequence op an error talks about; prints as the letter or name Fluid uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SequenceArgument {
    /// The first input.
    X,
    /// The second input, whose LoD is referred to.
    Y,
    /// One of a list of inputs.
    Input(usize),
    /// The filter of a convolution.
    Filter,
    /// The trainable padding of a convolution.
    Padding,
    /// Offsets or starts, one per sequence.
    Offset,
    /// Lengths or counts, one per sequence.
    Length,
    /// Token or column ids.
    Ids,
    /// Values to be added or written.
    Updates,
    /// The gradient of the output.
    OutGrad,
}

impl fmt::Display for SequenceArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            SequenceArgument::X => "X",
            SequenceArgument::Y => "Y",
            SequenceArgument::Input(i) => return write!(f, "X[{i}]"),
            SequenceArgument::Filter => "Filter",
            SequenceArgument::Padding => "PaddingData",
            SequenceArgument::Offset => "Offset",
            SequenceArgument::Length => "Length",
            SequenceArgument::Ids => "Ids",
            SequenceArgument::Updates => "Updates",
            SequenceArgument::OutGrad => "Out gradient",
        };
        f.write_str(name)
    }
}

/// The ways a LoD or a sequence op can be wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LodErrorKind {
    /// A level was asked for that the LoD does not have.
    #[error(
        "level {level} is out of range for a LoD of {depth} level(s); levels count from 0, -1 is the last"
    )]
    LevelOutOfRange {
        /// The level asked for.
        level: isize,
        /// Number of levels there are.
        depth: usize,
    },
    /// A level in offset form has no entry at all.
    #[error(
        "level {level} has no offsets: even a level of zero sequences starts with the offset 0"
    )]
    NoOffsets {
        /// The level concerned.
        level: usize,
    },
    /// The first offset of a level is not 0.
    #[error(
        "level {level} must start at offset 0, found {found} (are these lengths? use `Lod::from_lengths`)"
    )]
    FirstOffset {
        /// The level concerned.
        level: usize,
        /// Its first entry.
        found: usize,
    },
    /// An offset is smaller than the one before it.
    #[error(
        "level {level}: offset {found} at index {index} is less than the offset {previous} before it"
    )]
    Descending {
        /// The level concerned.
        level: usize,
        /// Index of the smaller entry.
        index: usize,
        /// The entry before it.
        previous: usize,
        /// The smaller entry.
        found: usize,
    },
    /// A level does not add up to the number of sequences of the level below it.
    #[error("level {level} adds up to {expected} sequences, but level {} has {found}", level + 1)]
    LevelTotal {
        /// The upper of the two levels.
        level: usize,
        /// What its lengths add up to.
        expected: usize,
        /// Number of sequences the level below has.
        found: usize,
    },
    /// The last level does not add up to the number of rows of the data.
    #[error("level {level} adds up to {expected} rows, but the data has {found}")]
    RowTotal {
        /// The last level.
        level: usize,
        /// What its lengths add up to.
        expected: usize,
        /// Number of rows of the data.
        found: usize,
    },
    /// The lengths of a level add up to more than a `usize` holds.
    #[error("the lengths of level {level} overflow at index {index}")]
    Overflow {
        /// The level concerned.
        level: usize,
        /// Index of the length that does not fit any more.
        index: usize,
    },
    /// There is no memory for so many sequences.
    #[error("there is no memory for a level of {count} sequences")]
    TooManySequences {
        /// How many there were to be.
        count: usize,
    },
    /// Row ids must not descend.
    #[error(
        "row id {found} at row {index} is less than the id {previous} before it; sort the rows by id first"
    )]
    RowIdDescending {
        /// The row concerned.
        index: usize,
        /// Id of the row before it.
        previous: usize,
        /// Id of this row.
        found: usize,
    },
    /// A sequence (or row, or row id) was named that does not exist.
    #[error("[{op}] sequence {found} at position {index} is out of range: there are {count}")]
    SequenceOutOfRange {
        /// The function called.
        op: &'static str,
        /// Position of the entry in the argument.
        index: usize,
        /// The entry.
        found: usize,
        /// Number of sequences there are.
        count: usize,
    },
    /// A range of sequences or rows reaches outside.
    #[error("[{op}] range {start}..{end} is out of range: there are {count}")]
    RangeOutOfRange {
        /// The function called.
        op: &'static str,
        /// First index asked for.
        start: usize,
        /// One past the last index asked for.
        end: usize,
        /// Number of items there are.
        count: usize,
    },
    /// A permutation names a sequence twice.
    #[error("[{op}] sequence {found} appears again at position {index}: not a permutation")]
    NotAPermutation {
        /// The function called.
        op: &'static str,
        /// Position of the second occurrence.
        index: usize,
        /// The repeated sequence.
        found: usize,
    },
    /// Two LoDs that must be equal differ.
    #[error(
        "[{op}] {argument}: the LoD differs at level {level}, index {index}: expected length {expected:?}, found {found:?}"
    )]
    LodMismatch {
        /// The function called.
        op: &'static str,
        /// The input that differs.
        argument: SequenceArgument,
        /// First level that differs.
        level: usize,
        /// First sequence of it that differs.
        index: usize,
        /// Length in the first input; `None` when it has no such sequence or level.
        expected: Option<usize>,
        /// Length in this input; `None` when it has no such sequence or level.
        found: Option<usize>,
    },
    /// Two inputs have a different number of levels.
    #[error("[{op}] {argument} has {found} level(s), expected {expected}")]
    DepthMismatch {
        /// The function called.
        op: &'static str,
        /// The input concerned.
        argument: SequenceArgument,
        /// Number of levels needed.
        expected: usize,
        /// Number of levels it has.
        found: usize,
    },
    /// Pieces do not add up to the sequence they are to replace.
    #[error(
        "[{op}] the pieces of sequence {index} of level {level} add up to {found}, its length is {expected}"
    )]
    PieceTotal {
        /// The function called.
        op: &'static str,
        /// The level that is split.
        level: usize,
        /// The sequence whose pieces are wrong.
        index: usize,
        /// Its length.
        expected: usize,
        /// What its pieces add up to.
        found: usize,
    },
    /// An input without any LoD was handed to an op that needs one.
    #[error(
        "Op [{op}] {argument} argument has no LoD; attach one with `with_lod` or build it with `LodTensor::new`"
    )]
    NoLod {
        /// The op called.
        op: &'static str,
        /// The input concerned.
        argument: SequenceArgument,
    },
    /// The number of sequences, rows or entries of an argument is not what the op needs.
    #[error(
        "Op [{op}] {argument} argument has {found} entries, expected {expected}, one per sequence of level {level}"
    )]
    CountMismatch {
        /// The op called.
        op: &'static str,
        /// The input concerned.
        argument: SequenceArgument,
        /// The level whose sequences are counted.
        level: usize,
        /// How many there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A part of a sequence was asked for that reaches past its end.
    #[error(
        "Op [{op}] sequence {index} of level {level} has length {found}; {offset} + {length} reaches past its end"
    )]
    PartOutOfRange {
        /// The op called.
        op: &'static str,
        /// The level concerned.
        level: usize,
        /// The sequence concerned.
        index: usize,
        /// First step asked for.
        offset: usize,
        /// Number of steps asked for.
        length: usize,
        /// Number of steps the sequence has.
        found: usize,
    },
    /// A sequence is longer than the limit the op was given.
    #[error("Op [{op}] sequence {index} has length {found}, more than the limit {limit}")]
    TooLong {
        /// The op called.
        op: &'static str,
        /// The sequence concerned.
        index: usize,
        /// Its length.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// A count, length or offset is negative or does not fit.
    #[error("Op [{op}] {argument} argument: {found} at index {index} is not a count")]
    NotACount {
        /// The op called.
        op: &'static str,
        /// The input concerned.
        argument: SequenceArgument,
        /// Index of the entry.
        index: usize,
        /// The entry.
        found: i64,
    },
    /// An argument that must hold integers holds something else.
    #[error("Op [{op}] {argument} argument has dtype {found}, but integers are needed")]
    NotIntegers {
        /// The op called.
        op: &'static str,
        /// The input concerned.
        argument: SequenceArgument,
        /// Its dtype.
        found: DType,
    },
    /// An id names a position that does not exist.
    #[error(
        "Op [{op}] {argument} argument: id {found} at index {index} is out of range, there are {limit} positions"
    )]
    IdOutOfRange {
        /// The op called.
        op: &'static str,
        /// The input concerned.
        argument: SequenceArgument,
        /// Index of the id.
        index: usize,
        /// The id.
        found: i64,
        /// Number of positions.
        limit: usize,
    },
    /// An input has too few axes.
    #[error("Op [{op}] {argument} argument has rank {found}, at least {expected} is needed")]
    Rank {
        /// The op called.
        op: &'static str,
        /// The input concerned.
        argument: SequenceArgument,
        /// Smallest rank that will do.
        expected: usize,
        /// Its rank.
        found: usize,
    },
    /// An input has another shape than the op needs.
    #[error("Op [{op}] {argument} argument has shape {found}, but shape {expected} is needed")]
    ShapeMismatch {
        /// The op called.
        op: &'static str,
        /// The input concerned.
        argument: SequenceArgument,
        /// The shape needed.
        expected: Box<Shape>,
        /// Its shape.
        found: Box<Shape>,
    },
    /// An input has another dtype than the op needs.
    #[error("Op [{op}] {argument} argument has dtype {found}, but {expected} is needed")]
    DTypeMismatch {
        /// The op called.
        op: &'static str,
        /// The input concerned.
        argument: SequenceArgument,
        /// The dtype needed.
        expected: DType,
        /// Its dtype.
        found: DType,
    },
    /// A window of no row at all.
    #[error("Op [{op}] the window is empty; it needs at least one row")]
    EmptyWindow {
        /// The op called.
        op: &'static str,
    },
    /// The numbers of a sequence do not fill whole rows of the new width.
    #[error(
        "Op [{op}] the {elements} numbers of sequence {index} do not fill whole rows of width {width}"
    )]
    Indivisible {
        /// The op called.
        op: &'static str,
        /// The sequence concerned.
        index: usize,
        /// How many numbers it has.
        elements: usize,
        /// The new width.
        width: usize,
    },
    /// A distance was to be divided by the length of an empty sequence.
    #[error("Op [{op}] Y argument: sequence {index} is empty, its length cannot be divided by")]
    EmptyReference {
        /// The op called.
        op: &'static str,
        /// The sequence concerned.
        index: usize,
    },
    /// An array op underneath was refused.
    #[error("{}", .0.kind())]
    Array(#[from] ArrayError),
    /// A kernel underneath was refused, for example because the memory belongs to a closed workspace.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}
