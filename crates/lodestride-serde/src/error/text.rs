//! What can be wrong with a text: [`TextProblem`], and its words.

use std::fmt;

use lodestride_array::DType;

/// What is wrong at one place of a text, see [`SerdeErrorKind::Text`](super::SerdeErrorKind::Text).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TextProblem {
    /// Something else should have stood there.
    Syntax {
        /// What should have come.
        expected: &'static str,
        /// What came instead (the beginning of it).
        found: String,
    },
    /// The bytes are no UTF-8 text.
    NotUtf8,
    /// A field that is no number of the dtype.
    Number {
        /// The field.
        text: String,
        /// What it should be.
        dtype: DType,
    },
    /// A row of a table has another number of fields than the rows before it.
    Fields {
        /// Fields of the rows before.
        expected: usize,
        /// Fields of this row.
        found: usize,
    },
    /// There are not as many numbers as the shape says.
    Count {
        /// Shape in the file.
        shape: Vec<usize>,
        /// Numbers that are there.
        found: usize,
    },
}

impl fmt::Display for TextProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::NotUtf8 => f.write_str("the bytes are not UTF-8 text"),
            Self::Number { text, dtype } if text.is_empty() => {
                write!(f, "an empty field is not a number of {dtype}")
            }
            Self::Number { text, dtype } => write!(f, "`{text}` is not a number of {dtype}"),
            Self::Fields { expected, found } => write!(
                f,
                "a row of {found} field(s), where the rows before it have {expected}"
            ),
            Self::Count { shape, found } => {
                write!(f, "the shape is {shape:?}, but there are {found} numbers")
            }
        }
    }
}

impl TextProblem {
    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::Syntax { .. } | Self::Count { .. } => {
                "only texts written by `txt::write` or by ND4J's writeTxt are read; tables are read by `csv::read`"
            }
            Self::NotUtf8 => {
                "the file is binary or in another encoding; `npy::read` and `native::read` take binary ones"
            }
            Self::Number { text, .. } if text.is_empty() => {
                "say what a missing value stands for: `Options::missing(f64::NAN)`"
            }
            Self::Number { .. } => {
                "choose another `dtype`, name the `delimiter`, pass over a `header(true)` or first lines by `skip_lines`"
            }
            Self::Fields { .. } => {
                "every row needs the same number of fields; name the `delimiter` if it is not a comma"
            }
        }
    }
}
