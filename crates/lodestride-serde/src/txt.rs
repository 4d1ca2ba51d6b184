//! Arrays as readable text: the form of ND4J's `writeTxt`, with the dtype beside it. The reading is in `txt/parse.rs`.
//!
//! ```text
//! {
//! "filefrom": "dl4j",
//! "ordering": "c",
//! "shape":    [2, 2],
//! "dtype": "f32", "data":
//! [[1E0, 2.5E0],
//!  [-3E0, 1E-1]]
//! }
//! ```
//!
//! * **ND4J reads what is written here, and what ND4J wrote is read**, by all its versions: the dtype stands where ND4J looks
//!   away. It is JSON as well, for readers that take `NaN` and `Infinity` (Python's does).
//! * Every element of every dtype comes back exactly, in the shortest decimals that tell it from its neighbours; only the payload
//!   of a NaN is lost. ND4J's files name no dtype; their 18 decimals are read as f64, which loses nothing.
//! * Any rank, any size, C and F order: `ordering` is the order of the array in memory, the brackets always nest by axes.
//!
//! Text is ten times as large as [`native`](crate::native) and slower to read; it is for looking at and for small things.
//!
//! ```
//! use lodestride_serde::{NdArray, txt};
//!
//! let mut text = Vec::new();
//! txt::write_to(&mut text, &NdArray::from([[1.0f32, 2.5], [-3.0, 0.1]]))?;
//! let back = txt::read_from(&text[..])?;
//! assert_eq!(back.to_vec::<f32>()?, [1.0, 2.5, -3.0, 0.1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod parse;

use std::io::{Read, Write};
use std::panic::Location;
use std::path::Path;

use lodestride_array::{NdArray, Order, with_dtype};

use crate::error::{IoAction, Place, Result};
use crate::sink::{order_in_file, readable};
use crate::source::check_rank;
use crate::staged::StagedFile;
use crate::text::{Decimal, Style, read_all, read_file};

/// Rows are gathered to this many bytes before they are written.
const PIECE: usize = 64 << 10;

/// Reads the array of a text file, in the order and with the dtype it was written with.
///
/// It is made in the thread's current workspace, if one is open.
///
/// # Errors
/// [`SerdeErrorKind::Io`](crate::SerdeErrorKind::Io), and [`SerdeErrorKind::Text`](crate::SerdeErrorKind::Text) with line and
/// column for everything a text can be wrong in. No memory is asked for that the file could not fill.
///
/// ```
/// use lodestride_serde::{NdArray, txt};
///
/// # let folder = std::env::temp_dir().join("lodestride-serde-txt-read");
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("tmp.txt");
/// txt::write(&path, &NdArray::linspace(1, 10, 10)?)?;
/// assert_eq!(txt::read(&path)?.to_vec::<f32>()?[9], 10.0);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "readTxt")]
#[doc(alias = "read_txt")]
#[track_caller]
pub fn read(path: impl AsRef<Path>) -> Result<NdArray> {
    let (path, here) = (path.as_ref(), Location::caller());
    let array = read_file(path).and_then(|text| parse::array(&text));
    array.in_file(path).called_at(here)
}

/// Reads an array from all that a reader has left.
///
/// # Errors
/// As [`read`].
#[doc(alias = "readTxtString")]
#[track_caller]
pub fn read_from(mut reader: impl Read) -> Result<NdArray> {
    let here = Location::caller();
    let array = read_all(&mut reader).and_then(|text| parse::array(&text));
    array.called_at(here)
}

/// Writes an array into a text file, which appears whole or not at all.
///
/// # Errors
/// [`SerdeErrorKind::Io`](crate::SerdeErrorKind::Io) and [`NotAFile`](crate::SerdeErrorKind::NotAFile) when the file cannot be
/// written, [`Array`](crate::SerdeErrorKind::Array) when the array's memory may not be read,
/// [`Rank`](crate::SerdeErrorKind::Rank) beyond 64 axes.
#[doc(alias = "writeTxt")]
#[doc(alias = "write_txt")]
#[track_caller]
pub fn write(path: impl AsRef<Path>, array: &NdArray) -> Result<()> {
    fn write(path: &Path, array: &NdArray) -> Result<()> {
        let mut file = StagedFile::create(path)?;
        write_one(&mut file, array)?;
        file.commit()
    }
    let (path, here) = (path.as_ref(), Location::caller());
    write(path, array).in_file(path).called_at(here)
}

/// Writes an array as text to a writer.
///
/// # Errors
/// As [`write()`]; a writer that fails may have got a part.
#[doc(alias = "writeTxtString")]
#[track_caller]
pub fn write_to(mut writer: impl Write, array: &NdArray) -> Result<()> {
    let here = Location::caller();
    write_one(&mut writer, array).called_at(here)
}

fn write_one(sink: &mut dyn Write, array: &NdArray) -> Result<()> {
    check_rank(array.rank())?;
    readable("write", array)?;
    let ordering = match order_in_file(array) {
        Order::C => 'c',
        Order::F => 'f',
    };
    let sizes: Vec<String> = array.shape().iter().map(usize::to_string).collect();
    // ND4J takes these line by line: source, order, shape, one it does not look at, then the rows.
    let head = format!(
        "{{\n\"filefrom\": \"dl4j\",\n\"ordering\": \"{ordering}\",\n\"shape\":\t[{}],\n\"dtype\": \"{}\", \"data\":\n",
        sizes.join(", "),
        array.dtype()
    );
    sink.write_all(head.as_bytes()).while_doing("write")?;
    with_dtype!(array.dtype(), T => write_rows::<T>(sink, array))?;
    sink.write_all(b"\n}\n").while_doing("write")
}

/// The numbers in nested brackets, one row of the last axis on each line.
fn write_rows<T: Decimal>(sink: &mut dyn Write, array: &NdArray) -> Result<()> {
    let rank = array.rank();
    let mut text = Vec::new();
    if array.is_empty() {
        return sink.write_all(b"[]").while_doing("write");
    }
    text.extend(std::iter::repeat_n(b'[', rank));
    let columns = array.shape().last().copied().unwrap_or(1);
    let mut column = 0;
    for (count, value) in array.view::<T>()?.iter().enumerate() {
        if column > 0 {
            text.extend_from_slice(b", ");
        } else if count > 0 {
            separate(&mut text, finished_axes(array.shape(), count), rank);
        }
        column = if column + 1 == columns { 0 } else { column + 1 };
        value.write(Style::Exponent, &mut text);
        if text.len() > PIECE {
            sink.write_all(&text).while_doing("write")?;
            text.clear();
        }
    }
    text.extend(std::iter::repeat_n(b']', rank));
    sink.write_all(&text).while_doing("write")
}

/// How many axes, from the last one on, are at their end after so many elements; never the first axis.
fn finished_axes(shape: &[usize], count: usize) -> usize {
    let mut rest = count;
    let at_end = |&&size: &&usize| {
        let ends = rest.is_multiple_of(size);
        rest /= size.max(1);
        ends
    };
    shape.iter().skip(1).rev().take_while(at_end).count()
}

/// What stands between two rows: closed and opened brackets, new lines and the indent under the outer brackets.
fn separate(text: &mut Vec<u8>, finished: usize, rank: usize) {
    text.extend(std::iter::repeat_n(b']', finished));
    text.push(b',');
    text.extend(std::iter::repeat_n(b'\n', finished));
    text.extend(std::iter::repeat_n(b' ', rank - finished));
    text.extend(std::iter::repeat_n(b'[', finished));
}
