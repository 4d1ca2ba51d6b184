//! Tables of numbers as delimited text: csv, tab-separated and anything else between whose fields one string stands.
//!
//! A table is a matrix: a row for each line, a column for each field. Fields may stand in double quotes (in which `""` is a quote),
//! blanks around them do not count, empty lines are passed over, lines may end in `\r\n`. Numbers are read straight into the dtype
//! asked for, each correctly rounded; what is written comes back exactly.
//!
//! ```
//! use lodestride_serde::{DType, NdArray, csv};
//!
//! let table = "height, weight\n1.75, 70\n1.62, 58.5\n";
//! let (names, people) = csv::Options::new()
//!     .delimiter(", ")
//!     .header(true)
//!     .dtype(DType::F64)
//!     .read_named_from(table.as_bytes())?;
//! assert_eq!(names, ["height", "weight"]);
//! assert_eq!(people.column(0)?.to_vec::<f64>()?, [1.75, 1.62]);
//!
//! let mut text = Vec::new();
//! csv::Options::new().delimiter("\t").write_to(&mut text, &NdArray::from([[1i32, -2], [3, 4]]))?;
//! assert_eq!(text, b"1\t-2\n3\t4\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Splitting is done here and not by the `csv` crate: that one knows delimiters of one byte only, and no runs of blanks.

mod parse;
mod split;

use std::io::{Read, Write};
use std::panic::Location;
use std::path::Path;

use lodestride_array::{DType, NdArray, with_dtype};

use crate::error::{IoAction, Place, Result, SerdeErrorKind};
use crate::sink::readable;
use crate::staged::StagedFile;
use crate::text::{Decimal, Style, read_all, read_file};
use split::{Delimiter, quote};

/// Rows are gathered to this many bytes before they are written.
const PIECE: usize = 64 << 10;

/// Reads a table with commas between fields, no header, in the default dtype: [`Options::new()`]`.read(path)`.
///
/// # Errors
/// As [`Options::read`].
#[doc(alias = "readNumpy")]
#[doc(alias = "read_csv")]
#[doc(alias = "loadtxt")]
#[track_caller]
pub fn read(path: impl AsRef<Path>) -> Result<NdArray> {
    Options::new().read(path)
}

/// Writes a vector or matrix with commas between fields: [`Options::new()`]`.write(path, array)`.
///
/// # Errors
/// As [`Options::write`].
#[doc(alias = "writeNumpy")]
#[doc(alias = "write_csv")]
#[doc(alias = "savetxt")]
#[track_caller]
pub fn write(path: impl AsRef<Path>, array: &NdArray) -> Result<()> {
    Options::new().write(path, array)
}

/// How a table is read and written.
///
/// ```
/// use lodestride_serde::csv;
///
/// let text = "# made by hand\n1 2   3\n4 - 6\n";
/// let table = csv::Options::new()
///     .blanks()
///     .comment("#")
///     .missing_word("-")
///     .missing(f64::NAN)
///     .read_from(text.as_bytes())?;
/// assert!(table.get_f64([1, 1])?.is_nan());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Options {
    delimiter: Delimiter,
    dtype: Option<DType>,
    header: bool,
    names: Vec<String>,
    skip: usize,
    comment: Option<String>,
    missing: Option<f64>,
    missing_word: String,
    columns: Option<Vec<usize>>,
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// Commas between fields, no header, the default dtype ([`DType::default`]).
    pub fn new() -> Self {
        Self {
            delimiter: Delimiter::Text(",".to_owned()),
            dtype: None,
            header: false,
            names: Vec::new(),
            skip: 0,
            comment: None,
            missing: None,
            missing_word: String::new(),
            columns: None,
        }
    }

    /// The string between two fields, such as `";"`, `"\t"` or `", "`.
    pub fn delimiter(mut self, delimiter: impl Into<String>) -> Self {
        self.delimiter = Delimiter::Text(delimiter.into());
        self
    }

    /// Any run of spaces and tabs is between two fields; written is one space.
    pub fn blanks(mut self) -> Self {
        self.delimiter = Delimiter::Blanks;
        self
    }

    /// The dtype of the array that is read. Numbers it cannot hold are errors.
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.dtype = Some(dtype);
        self
    }

    /// Whether the first line names the columns.
    pub fn header(mut self, header: bool) -> Self {
        self.header = header;
        self
    }

    /// The names of the columns, which are written as first line.
    pub fn names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names = names.into_iter().map(Into::into).collect();
        self
    }

    /// So many lines are passed over before anything is read, the header included.
    #[doc(alias = "skiprows")]
    pub fn skip_lines(mut self, lines: usize) -> Self {
        self.skip = lines;
        self
    }

    /// Lines that begin with this are passed over.
    pub fn comment(mut self, comment: impl Into<String>) -> Self {
        self.comment = Some(comment.into()).filter(|comment| !comment.is_empty());
        self
    }

    /// What an empty field stands for; without this it is an error.
    #[doc(alias = "filling_values")]
    pub fn missing(mut self, value: impl Into<f64>) -> Self {
        self.missing = Some(value.into());
        self
    }

    /// A word that is as good as an empty field, such as `"NA"`.
    #[doc(alias = "missing_values")]
    pub fn missing_word(mut self, word: impl Into<String>) -> Self {
        self.missing_word = word.into();
        self
    }

    /// Only these fields of each line are read, in this order.
    #[doc(alias = "usecols")]
    pub fn columns(mut self, columns: impl Into<Vec<usize>>) -> Self {
        self.columns = Some(columns.into());
        self
    }

    /// Reads the table of a file as a matrix.
    ///
    /// # Errors
    /// [`SerdeErrorKind::Io`]; [`SerdeErrorKind::Text`] with line, column and the field for what is no number, for rows of
    /// unequal length and for bytes that are not UTF-8; [`SerdeErrorKind::BadDelimiter`].
    ///
    /// ```
    /// use lodestride_serde::csv;
    ///
    /// let error = csv::Options::new().read_from(&b"1,2\n3,four\n"[..]).unwrap_err();
    /// assert!(error.to_string().starts_with("line 2, column 3: `four` is not a number of f32"));
    /// ```
    #[track_caller]
    pub fn read(&self, path: impl AsRef<Path>) -> Result<NdArray> {
        let (path, here) = (path.as_ref(), Location::caller());
        let table = read_file(path).and_then(|text| self.parse(&text));
        Ok(table.in_file(path).called_at(here)?.1)
    }

    /// Reads a table from all that a reader has left.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    #[track_caller]
    pub fn read_from(&self, reader: impl Read) -> Result<NdArray> {
        let here = Location::caller();
        Ok(self.read_named_from(reader).called_at(here)?.1)
    }

    /// Reads the names of the columns and the table; there are no names without [`header`](Self::header).
    ///
    /// # Errors
    /// As [`read`](Self::read).
    #[track_caller]
    pub fn read_named(&self, path: impl AsRef<Path>) -> Result<(Vec<String>, NdArray)> {
        let (path, here) = (path.as_ref(), Location::caller());
        let table = read_file(path).and_then(|text| self.parse(&text));
        table.in_file(path).called_at(here)
    }

    /// [`read_named`](Self::read_named) of all that a reader has left.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    #[track_caller]
    pub fn read_named_from(&self, mut reader: impl Read) -> Result<(Vec<String>, NdArray)> {
        let here = Location::caller();
        let table = read_all(&mut reader).and_then(|text| self.parse(&text));
        table.called_at(here)
    }

    /// Writes a vector, one number on a line, or a matrix into a file, which appears whole or not at all.
    ///
    /// # Errors
    /// [`SerdeErrorKind::Rank`] for more than two axes, [`SerdeErrorKind::Names`] when there are not as many names as columns,
    /// [`SerdeErrorKind::BadDelimiter`], [`SerdeErrorKind::Io`], [`SerdeErrorKind::NotAFile`], [`SerdeErrorKind::Array`].
    #[track_caller]
    pub fn write(&self, path: impl AsRef<Path>, array: &NdArray) -> Result<()> {
        let write = |path: &Path| {
            let mut file = StagedFile::create(path)?;
            self.write_one(&mut file, array)?;
            file.commit()
        };
        let (path, here) = (path.as_ref(), Location::caller());
        write(path).in_file(path).called_at(here)
    }

    /// Writes a vector or matrix to a writer.
    ///
    /// # Errors
    /// As [`write`](Self::write); a writer that fails may have got a part.
    #[track_caller]
    pub fn write_to(&self, mut writer: impl Write, array: &NdArray) -> Result<()> {
        let here = Location::caller();
        self.write_one(&mut writer, array).called_at(here)
    }

    fn write_one(&self, sink: &mut dyn Write, array: &NdArray) -> Result<()> {
        let between = self.delimiter.checked()?;
        if array.rank() > 2 {
            let (found, limit) = (array.rank(), 2);
            return Err(SerdeErrorKind::Rank { found, limit }.into());
        }
        readable("write", array)?;
        let columns = array.shape().get(1).copied().unwrap_or(1);
        if !self.names.is_empty() {
            if self.names.len() != columns {
                let found = self.names.len();
                return Err(SerdeErrorKind::Names { columns, found }.into());
            }
            let quoted: Vec<String> = self.names.iter().map(|n| quote(n, between)).collect();
            let line = quoted.join(between) + "\n";
            sink.write_all(line.as_bytes()).while_doing("write")?;
        }
        with_dtype!(array.dtype(), T => write_rows::<T>(sink, array, columns, between))
    }
}

fn write_rows<T: Decimal>(
    sink: &mut dyn Write,
    array: &NdArray,
    columns: usize,
    between: &str,
) -> Result<()> {
    let mut text = Vec::new();
    let mut column = 0;
    for value in array.view::<T>()?.iter() {
        value.write(Style::Plain, &mut text);
        column = if column + 1 == columns { 0 } else { column + 1 };
        text.extend_from_slice(if column == 0 {
            b"\n"
        } else {
            between.as_bytes()
        });
        if text.len() > PIECE {
            sink.write_all(&text).while_doing("write")?;
            text.clear();
        }
    }
    sink.write_all(&text).while_doing("write")
}
