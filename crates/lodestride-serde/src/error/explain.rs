//! The words of every [`SerdeErrorKind`](super::SerdeErrorKind): the reason in one line, and what to do about it.

use std::fmt;

use zip::result::ZipError;

use super::{Format, SerdeErrorKind, TypeReason};

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Native => "lodestride",
            Self::Nd4j => "ND4J",
        })
    }
}

impl fmt::Display for TypeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Structured => "it is a record of named fields",
            Self::Objects => "it holds Python objects",
            Self::Text => "it holds text",
            Self::Time => "it holds dates or time spans",
            Self::Complex => "it holds complex numbers",
            Self::Opaque => "it holds opaque bytes",
            Self::Size => "there is no dtype of that size",
            Self::Unknown => "the type string is not known",
        })
    }
}

impl TypeReason {
    fn help(self) -> &'static str {
        match self {
            Self::Structured => {
                "save each field on its own: `np.savez(file, **{n: a[n] for n in a.dtype.names})`"
            }
            Self::Objects => {
                "objects are never unpickled; save numbers: `a.astype(np.float64)`, or ragged lists as values and offsets"
            }
            Self::Text => {
                "save numbers, for example codes and a table: `np.unique(a, return_inverse=True)`"
            }
            Self::Time => "save the underlying integers: `a.view(np.int64)`",
            Self::Complex => "save the two parts: `a.real` and `a.imag`",
            Self::Opaque => {
                "save it as a plain type; for ml_dtypes.bfloat16 that is `a.astype(np.float32)`"
            }
            Self::Size => "convert it before saving: `a.astype(np.float64)`",
            Self::Unknown => "the header is damaged or written by something newer than NumPy 2",
        }
    }
}

impl fmt::Display for SerdeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic { .. }
            | Self::Version { .. }
            | Self::HeaderTooLong { .. }
            | Self::HeaderSyntax { .. }
            | Self::HeaderField { .. }
            | Self::UnsupportedType { .. }
            | Self::NoNpyType { .. }
            | Self::TooLarge { .. }
            | Self::Rank { .. } => self.explain_header(f),
            Self::Archive { .. }
            | Self::NoEntry { .. }
            | Self::DuplicateName { .. }
            | Self::BadName { .. }
            | Self::OffsetsType { .. }
            | Self::OffsetRange { .. }
            | Self::HasLod { .. }
            | Self::Abandoned => self.explain_archive(f),
            _ => self.explain_data(f),
        }
    }
}

impl SerdeErrorKind {
    fn explain_header(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic { format, found } => {
                let found = found.escape_ascii();
                write!(f, "this is not {format} data: it begins with \"{found}\"")
            }
            Self::Version { format, found } => {
                write!(f, "{format} version {}.{} is not known", found.0, found.1)
            }
            Self::HeaderTooLong { found, limit } => write!(
                f,
                "the header claims to be {found} bytes long; at most {limit} are read"
            ),
            Self::HeaderSyntax { expected, found } => {
                write!(
                    f,
                    "the header is malformed: expected {expected}, found {found}"
                )
            }
            Self::HeaderField {
                field,
                expected,
                found,
            } => write!(
                f,
                "the header is malformed: {field} must be {expected}, found {found}"
            ),
            Self::UnsupportedType { descr, reason } => {
                write!(f, "the NumPy type {descr} cannot be read: {reason}")
            }
            Self::NoNpyType { dtype } => write!(f, "npy has no type for {dtype}"),
            Self::TooLarge { shape, dtype } => write!(
                f,
                "the header claims shape {shape:?} of {dtype}, more than any memory holds"
            ),
            Self::Rank { found, limit } => {
                write!(f, "{found} axes are more than the {limit} a file may have")
            }
            _ => Ok(()),
        }
    }

    fn explain_archive(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Archive { source } => write!(f, "the npz archive cannot be used: {source}"),
            Self::NoEntry { name, available } => {
                write!(f, "the archive has no array `{name}`")?;
                if available.is_empty() {
                    return f.write_str("; it is empty");
                }
                f.write_str("; it has ")?;
                for (i, name) in available.iter().enumerate() {
                    let lead = if i == 0 { "" } else { ", " };
                    write!(f, "{lead}`{name}`")?;
                }
                Ok(())
            }
            Self::DuplicateName { name } => write!(f, "the archive has two arrays `{name}`"),
            Self::BadName { name, reason } => {
                write!(f, "`{name}` cannot be the name of an array: {reason}")
            }
            Self::OffsetsType {
                level,
                dtype,
                shape,
            } => write!(
                f,
                "the offsets of LoD level {level} must be a vector of integers, found {dtype} {shape:?}"
            ),
            Self::OffsetRange {
                level,
                index,
                found,
            } => write!(
                f,
                "LoD level {level}: {found} at index {index} is not an offset"
            ),
            Self::HasLod { depth } => write!(
                f,
                "this is a LoD tensor of {depth} level(s), not a plain array"
            ),
            _ => f.write_str("the archive was left unfinished by an earlier error"),
        }
    }

    fn explain_data(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { action, source } => write!(f, "cannot {action}: {source}"),
            Self::NotAFile => {
                f.write_str("cannot write: the path names something that is not a file")
            }
            Self::Truncated {
                what,
                expected,
                found,
            } => write!(
                f,
                "the data ends too early: {what} needs {expected} bytes, {found} are left"
            ),
            Self::Trailing { end } => {
                write!(
                    f,
                    "there is more data after the end, which is at byte {end}"
                )
            }
            Self::Damaged { source } => write!(f, "the data is damaged: {source}"),
            Self::Checksum {
                what,
                expected,
                found,
            } => write!(
                f,
                "the data is damaged: the checksum of {what} is {found:08x}, but {expected:08x} is stored"
            ),
            Self::Text {
                line,
                column,
                problem,
            } => write!(f, "line {line}, column {column}: {problem}"),
            Self::BadDelimiter { delimiter, reason } => {
                write!(f, "{delimiter:?} cannot separate fields: {reason}")
            }
            Self::BadThreshold { found } => {
                write!(f, "a threshold must be a number above 0, found {found}")
            }
            Self::Names { columns, found } => {
                write!(f, "{found} name(s) for {columns} column(s)")
            }
            Self::Memory { bytes } => write!(f, "out of memory: {bytes} bytes could not be had"),
            Self::Lod { source } => write!(f, "the LoD does not fit: {}", source.kind()),
            Self::Array { source } => write!(f, "{}", source.kind()),
            _ => Ok(()),
        }
    }

    /// What a user can do about it, when there is something.
    pub(super) fn help(&self) -> Option<&'static str> {
        match self {
            Self::NotAFile => Some("name a file, or pass an open writer to the `write_to` form"),
            Self::Truncated { .. } => {
                Some("the file is cut off, or was never finished: copy, download or write it again")
            }
            Self::Trailing { .. } => Some(
                "a file holds one array; to read several that follow each other, open it and call the `read_from` form for each",
            ),
            Self::Damaged { .. } | Self::Checksum { .. } => {
                Some("copy, download or write the file again; nothing of it was used")
            }
            Self::BadDelimiter { .. } => Some("use another string, such as `,`, `;` or `\\t`"),
            Self::Names { .. } => Some("name every column, or none"),
            Self::Text { problem, .. } => Some(problem.help()),
            Self::Magic { format, found } => magic_help(*format, found),
            Self::Version { .. } => Some("update lodestride, or save the file in an older version"),
            Self::HeaderTooLong { .. } | Self::HeaderSyntax { .. } | Self::HeaderField { .. } => {
                Some("the file is damaged or of another kind; write it again")
            }
            Self::UnsupportedType { reason, .. } => Some(reason.help()),
            Self::NoNpyType { .. } => {
                Some("`cast(DType::F32)` it first, which is exact, or use the native format")
            }
            Self::TooLarge { .. } => Some("the header is damaged; write the file again"),
            Self::Rank { .. } => Some("`reshape` it to fewer axes before writing"),
            Self::Archive { source } => archive_help(source),
            Self::DuplicateName { .. } => Some("give every array its own name"),
            Self::OffsetsType { .. } | Self::OffsetRange { .. } | Self::Lod { .. } => Some(
                "the entries `name.lod0`, `name.lod1`, .. hold the offsets of each level: they begin with 0, never descend, and the last one counts the rows of `name`",
            ),
            Self::HasLod { .. } => Some("read it with `lod_tensor`, or match on `Stored`"),
            Self::Abandoned => Some("start again with a new writer"),
            _ => None,
        }
    }
}

fn magic_help(asked: Format, found: &[u8]) -> Option<&'static str> {
    let is = if found.starts_with(b"\x93NUMPY") {
        (Format::Npy, "this is an npy file: read it with `npy::read`")
    } else if found.starts_with(b"PK") {
        (
            Format::Npz,
            "this is a zip archive: open it with `npz::Reader::open`",
        )
    } else if found.starts_with(b"\x93LDS") {
        let text = "this is a lodestride file: read it with `native::read`; if it is one already, it was changed by a text-mode transfer";
        (Format::Native, text)
    } else {
        return Some("check the path; the file is of another kind");
    };
    (is.0 != asked || asked == Format::Native).then_some(is.1)
}

fn archive_help(error: &ZipError) -> Option<&'static str> {
    Some(match error {
        ZipError::CompressionMethodNotSupported(_) | ZipError::UnsupportedArchive(_) => {
            "save it with `np.savez` or `np.savez_compressed`: only stored and deflated entries without a password are read"
        }
        ZipError::InvalidPassword => "entries with a password are not read",
        _ => "the file is damaged, cut off or not an npz archive; copy, download or write it again",
    })
}
