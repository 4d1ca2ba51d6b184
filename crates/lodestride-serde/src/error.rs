//! What can go wrong with a file: [`SerdeError`] with the values that failed, the place in the file and the caller's line.
//! The words for people are in `explain`.

mod explain;
mod text;

use std::error::Error;
use std::fmt;
use std::io;
use std::panic::Location;
use std::path::{Path, PathBuf};

use lodestride_array::{ArrayError, DType};
use lodestride_lod::LodError;
use zip::result::ZipError;

pub use text::TextProblem;

/// The result of every function that reads or writes a file.
pub type Result<T> = std::result::Result<T, SerdeError>;

/// Why reading or writing failed, where in the file, and at which line it was asked for.
///
/// One pointer wide. [`kind`](Self::kind) has the values for programs; the `Display` text is for people: the reason, the
/// caller's line, the file, entry and byte, and what to do about it.
///
/// ```
/// use lodestride_serde::{SerdeErrorKind, npy};
///
/// let error = npy::read_from(&b"\x93NUMPY\x01\x00"[..]).unwrap_err();
/// assert!(matches!(error.kind(), SerdeErrorKind::Truncated { expected: 2, found: 0, .. }));
/// assert!(error.to_string().starts_with("the data ends too early: the header length needs 2 bytes, 0 are left"));
/// ```
pub struct SerdeError {
    report: Box<Report>,
}

struct Report {
    kind: SerdeErrorKind,
    path: Option<PathBuf>,
    entry: Option<String>,
    offset: Option<u64>,
    location: &'static Location<'static>,
}

impl SerdeError {
    /// What failed, with its values.
    pub fn kind(&self) -> &SerdeErrorKind {
        &self.report.kind
    }

    /// The file, when a path was given.
    pub fn path(&self) -> Option<&Path> {
        self.report.path.as_deref()
    }

    /// Name of the array inside an archive.
    pub fn entry(&self) -> Option<&str> {
        self.report.entry.as_deref()
    }

    /// Distance in bytes from the start of the file (of the entry, inside an archive) to what is wrong.
    pub fn offset(&self) -> Option<u64> {
        self.report.offset
    }

    /// Where the failing function was called.
    pub fn location(&self) -> &'static Location<'static> {
        self.report.location
    }

    /// The same error with the place of the byte that is wrong.
    pub(crate) fn at_byte(mut self, offset: u64) -> Self {
        self.report.offset = Some(offset);
        self
    }
}

impl<K: Into<SerdeErrorKind>> From<K> for SerdeError {
    #[cold]
    #[track_caller]
    fn from(kind: K) -> Self {
        Self {
            report: Box::new(Report {
                kind: kind.into(),
                path: None,
                entry: None,
                offset: None,
                location: Location::caller(),
            }),
        }
    }
}

impl fmt::Display for SerdeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            kind,
            path,
            entry,
            offset,
            location,
        } = &*self.report;
        // The place stands under the first line, also when the text of a lower crate has several.
        let text = kind.to_string();
        let (first, rest) = text
            .split_once('\n')
            .map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
        write!(f, "{first}\n  --> {location}")?;
        let mut lead = "\n  ";
        if let Some(path) = path {
            write!(f, "{lead}file: {}", path.display())?;
            lead = ", ";
        }
        if let Some(entry) = entry {
            write!(f, "{lead}entry: {entry}")?;
            lead = ", ";
        }
        if let Some(offset) = offset {
            write!(f, "{lead}byte: {offset}")?;
        }
        if let Some(rest) = rest {
            write!(f, "\n{rest}")?;
        }
        kind.help()
            .map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
    }
}

impl fmt::Debug for SerdeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `unwrap` and a `main` that returns an error print this form: the readable text serves them best.
        fmt::Display::fmt(self, f)
    }
}

impl Error for SerdeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Error::source(&self.report.kind)
    }
}

/// The formats of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// One NumPy array.
    Npy,
    /// A zip archive of NumPy arrays.
    Npz,
    /// The project's own binary format.
    Native,
    /// The binary stream of ND4J.
    Nd4j,
}

/// Why a NumPy element type has no counterpart here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TypeReason {
    /// A structured dtype: a record of named fields.
    Structured,
    /// Python objects, stored by pickle.
    Objects,
    /// Byte strings or unicode text.
    Text,
    /// Dates or time spans.
    Time,
    /// Complex numbers.
    Complex,
    /// Opaque bytes (`V`), which is also what extension types such as `ml_dtypes.bfloat16` are stored as.
    Opaque,
    /// A kind of number of a size there is no dtype for, such as 16-byte floats.
    Size,
    /// A type string that NumPy does not know either.
    Unknown,
}

/// The kinds of [`SerdeError`], each with the values that failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum SerdeErrorKind {
    /// The operating system refused.
    Io {
        /// What was attempted, as in "open".
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The path of a file to write names something else, such as a folder.
    NotAFile,
    /// The data ends before all of it is there.
    Truncated {
        /// The part that is cut off.
        what: &'static str,
        /// Bytes it needs.
        expected: u64,
        /// Bytes that are left.
        found: u64,
    },
    /// There is more data after the end.
    Trailing {
        /// Where the data should have ended.
        end: u64,
    },
    /// The stored bytes are not what was once written: a checksum or a compressed stream is wrong.
    Damaged {
        /// What found it out.
        source: io::Error,
    },
    /// A stored checksum does not fit the bytes.
    Checksum {
        /// The part that is checked.
        what: &'static str,
        /// Checksum in the file.
        expected: u32,
        /// Checksum of the bytes.
        found: u32,
    },
    /// The file does not begin as its format does.
    Magic {
        /// The format that was asked for.
        format: Format,
        /// First bytes of the file.
        found: Vec<u8>,
    },
    /// A version of the format that this release does not know.
    Version {
        /// The format.
        format: Format,
        /// Version in the file, major number first.
        found: (u8, u8),
    },
    /// A header longer than any sensible one.
    HeaderTooLong {
        /// Length in the file.
        found: u64,
        /// Longest length that is read.
        limit: u64,
    },
    /// The text of an npy header is not the dictionary it should be.
    HeaderSyntax {
        /// What should have come.
        expected: &'static str,
        /// What came instead (the beginning of it).
        found: String,
    },
    /// A text cannot be read.
    Text {
        /// Line, counted from 1.
        line: usize,
        /// Character in that line, counted from 1.
        column: usize,
        /// What is wrong there.
        problem: TextProblem,
    },
    /// Fields of a table cannot be told apart by this.
    BadDelimiter {
        /// What should separate fields.
        delimiter: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A limit that no element could reach, or every one.
    BadThreshold {
        /// The limit.
        found: f64,
    },
    /// There are not as many names as columns.
    Names {
        /// Columns of the array.
        columns: usize,
        /// Names given.
        found: usize,
    },
    /// A number in a native header has no meaning.
    HeaderField {
        /// The field.
        field: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it is.
        found: u64,
    },
    /// A NumPy element type that no dtype here corresponds to.
    UnsupportedType {
        /// The type as the file describes it.
        descr: String,
        /// Why it cannot be read.
        reason: TypeReason,
    },
    /// A dtype that npy has no type for.
    NoNpyType {
        /// The dtype.
        dtype: DType,
    },
    /// A shape whose elements no memory could hold.
    TooLarge {
        /// Shape in the file.
        shape: Vec<u64>,
        /// Element type.
        dtype: DType,
    },
    /// More axes than the formats allow.
    Rank {
        /// Number of axes.
        found: usize,
        /// Most axes there may be.
        limit: usize,
    },
    /// Memory for the elements could not be had.
    Memory {
        /// Bytes asked for.
        bytes: u64,
    },
    /// The archive cannot be read or written.
    Archive {
        /// Why.
        source: ZipError,
    },
    /// The archive has no array of that name.
    NoEntry {
        /// The name asked for.
        name: String,
        /// The names there are.
        available: Vec<String>,
    },
    /// A name that the archive has already.
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A name that cannot be given to an array in an archive.
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The entry that should hold the offsets of a LoD level holds something else.
    OffsetsType {
        /// Level of the LoD.
        level: usize,
        /// Its dtype.
        dtype: DType,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// An offset that no row can have.
    OffsetRange {
        /// Level of the LoD.
        level: usize,
        /// Position in the level.
        index: usize,
        /// The offset.
        found: i128,
    },
    /// A LoD tensor was found where a plain array is wanted.
    HasLod {
        /// Number of levels it has.
        depth: usize,
    },
    /// The archive was left unfinished by an earlier error.
    Abandoned,
    /// The LoD does not add up.
    Lod {
        /// Why.
        source: LodError,
    },
    /// An array could not be made or read.
    Array {
        /// Why.
        source: ArrayError,
    },
}

impl Error for SerdeErrorKind {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io { source, .. } | Self::Damaged { source } => Some(source),
            Self::Archive { source } => Some(source),
            Self::Lod { source } => Some(source),
            Self::Array { source } => Some(source),
            _ => None,
        }
    }
}

impl From<ArrayError> for SerdeErrorKind {
    fn from(source: ArrayError) -> Self {
        Self::Array { source }
    }
}

impl From<LodError> for SerdeErrorKind {
    fn from(source: LodError) -> Self {
        Self::Lod { source }
    }
}

impl From<ZipError> for SerdeErrorKind {
    fn from(source: ZipError) -> Self {
        match source {
            ZipError::Io(source) => Self::Io {
                action: "read or write",
                source,
            },
            source => Self::Archive { source },
        }
    }
}

/// Adds what only the outer layers know about an error.
pub(crate) trait Place<T> {
    /// Names the file.
    fn in_file(self, path: &Path) -> Result<T>;
    /// Names the entry of an archive.
    fn in_entry(self, entry: &str) -> Result<T>;
    /// Points at the caller's line.
    fn called_at(self, location: &'static Location<'static>) -> Result<T>;
}

impl<T> Place<T> for Result<T> {
    fn in_file(self, path: &Path) -> Result<T> {
        self.map_err(|mut error| {
            error.report.path = Some(path.to_path_buf());
            error
        })
    }

    fn in_entry(self, entry: &str) -> Result<T> {
        self.map_err(|mut error| {
            error.report.entry = Some(entry.to_owned());
            error
        })
    }

    fn called_at(self, location: &'static Location<'static>) -> Result<T> {
        self.map_err(|mut error| {
            error.report.location = location;
            error
        })
    }
}

/// Turns an error of the operating system into ours.
pub(crate) trait IoAction<T> {
    /// Names what was attempted.
    fn while_doing(self, action: &'static str) -> Result<T>;
}

impl<T> IoAction<T> for io::Result<T> {
    fn while_doing(self, action: &'static str) -> Result<T> {
        self.map_err(|source| SerdeErrorKind::Io { action, source }.into())
    }
}
