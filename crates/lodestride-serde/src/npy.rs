//! NumPy's npy format: one array per file. The text of its header is in `npy/header.rs`, the element types in `npy/descr.rs`.
//!
//! * dtype and memory order are kept: a file in Fortran order becomes an array with F strides, and an F array is written as one.
//!   Nothing is transposed, and elements move as one block of bytes.
//! * A view or strided array is written as the array it shows, in C order.
//! * Big-endian files are converted while they are read; files are written little-endian.
//! * npy has no type for bf16: [`NoNpyType`](SerdeErrorKind::NoNpyType). Cast to f32, which is exact, or use [`native`](crate::native).
//!   Records, objects, text, dates and complex numbers are refused by name, with the way out in the error.
//!
//! ```
//! use lodestride_serde::{NdArray, npy};
//!
//! let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
//! let mut bytes = Vec::new();
//! npy::write_to(&mut bytes, &a)?;
//! assert_eq!(npy::read_from(&bytes[..])?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod descr;
pub(crate) mod header;

use std::fs::File;
use std::io::{Read, Write};
use std::panic::Location;
use std::path::Path;

use lodestride_array::NdArray;

use crate::error::{IoAction, Place, Result, SerdeErrorKind};
use crate::header::Header;
use crate::sink::{bytes_of, gapless, write_elements};
use crate::source::{Source, check_rank};
use crate::staged::StagedFile;

/// Reads the array of an npy file.
///
/// It is made in the thread's current workspace, if one is open.
///
/// # Errors
/// [`SerdeErrorKind::Io`], [`Magic`](SerdeErrorKind::Magic), [`Truncated`](SerdeErrorKind::Truncated),
/// [`Trailing`](SerdeErrorKind::Trailing), [`UnsupportedType`](SerdeErrorKind::UnsupportedType) and the other kinds a file
/// can be wrong in. No memory is asked for that the file could not fill.
///
/// ```no_run
/// use lodestride_serde::npy;
///
/// let a = npy::read("images.npy")?;
/// println!("{} {}", a.dtype(), a.shape());
/// # Ok::<(), lodestride_serde::SerdeError>(())
/// ```
#[track_caller]
#[doc(alias = "load")]
pub fn read(path: impl AsRef<Path>) -> Result<NdArray> {
    fn read(path: &Path) -> Result<NdArray> {
        let (mut file, length) = open(path)?;
        let mut source = Source::new(&mut file, length);
        let array = read_one(&mut source)?;
        source.end()?;
        Ok(array)
    }
    let (path, here) = (path.as_ref(), Location::caller());
    read(path).in_file(path).called_at(here)
}

/// Opens an npy file as an array whose elements stay in the file: nothing is read but the header, and the system brings in
/// what is looked at.
///
/// The array is read-only (writing to it is [`AccessError::ReadOnly`](lodestride_array::AccessError::ReadOnly); `dup()` gives a
/// copy to write to) and belongs to no workspace. Bytes that are not this machine's elements, big-endian numbers and bools
/// that are neither 0 nor 1, are read and converted as by [`read`].
///
/// **The file must not be changed while the array lives**: its elements could change with it, and reading what was cut off
/// ends the process. Files written by this crate are replaced as a whole, which is safe.
///
/// # Errors
/// As [`read`]; [`SerdeErrorKind::Io`] also for what cannot be mapped, such as a pipe.
///
/// ```
/// use lodestride_serde::{NdArray, npy};
///
/// # let folder = std::env::temp_dir().join("lodestride-serde-open-mapped");
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("a.npy");
/// npy::write(&path, &NdArray::from([1.0f32, 2.0, 3.0]))?;
/// let a = npy::open_mapped(&path)?;
/// assert_eq!(a.sum(..)?.item::<f32>()?, 6.0);
/// assert!(a.addi(1.0).is_err());
/// assert_eq!(a.dup()?.addi(1.0)?.to_vec::<f32>()?, [2.0, 3.0, 4.0]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "mmap")]
#[track_caller]
#[doc(alias = "memmap")]
#[doc(alias = "mmap_mode")]
pub fn open_mapped(path: impl AsRef<Path>) -> Result<NdArray> {
    fn map(path: &Path) -> Result<NdArray> {
        let (mut file, length) = open(path)?;
        let mut source = Source::new(&mut file, length);
        let elements = header::read(&mut source)?;
        let start = source.locate(&elements, 0)?;
        match crate::mapped::elements(&file, start, &elements)? {
            Some(array) => Ok(array),
            None => Source::new(&mut file, length.map(|length| length - start))
                .starting_at(start)
                .array(&elements),
        }
    }
    let (path, here) = (path.as_ref(), Location::caller());
    map(path).in_file(path).called_at(here)
}

/// Reads what an npy file says about its array, and nothing else of it.
///
/// # Errors
/// As [`read`], for all that can be wrong with a header, and [`SerdeErrorKind::Truncated`] for a file that is too short for its
/// elements.
///
/// ```
/// use lodestride_serde::{NdArray, npy};
///
/// # let folder = std::env::temp_dir().join("lodestride-serde-npy-header");
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("a.npy");
/// npy::write(&path, &NdArray::from([[1i16, 2], [3, 4]]).transpose())?;
/// assert_eq!(npy::read_header(&path)?.to_string(), "i16 [2, 2] F");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn read_header(path: impl AsRef<Path>) -> Result<Header> {
    fn read(path: &Path) -> Result<Header> {
        let (mut file, length) = open(path)?;
        let mut source = Source::new(&mut file, length);
        let elements = header::read(&mut source)?;
        source.locate(&elements, 0)?;
        Ok(Header::new(&elements, 0))
    }
    let (path, here) = (path.as_ref(), Location::caller());
    read(path).in_file(path).called_at(here)
}

/// Reads one array from a reader and leaves the reader just after it, so that several can follow each other.
///
/// How much a reader holds cannot be known. Beyond 1 MiB, memory for the whole is asked for only when one part in 64 has come.
///
/// # Errors
/// As [`read`], except that more data may follow.
#[track_caller]
pub fn read_from(mut reader: impl Read) -> Result<NdArray> {
    let here = Location::caller();
    read_one(&mut Source::new(&mut reader, None)).called_at(here)
}

/// Writes an array into an npy file, which appears whole or not at all.
///
/// # Errors
/// [`SerdeErrorKind::NoNpyType`] for bf16, [`SerdeErrorKind::Io`] and [`SerdeErrorKind::NotAFile`] when the file cannot be
/// written, [`SerdeErrorKind::Array`] when the array's memory may not be read. A file that was there before is then unchanged.
#[track_caller]
#[doc(alias = "save")]
pub fn write(path: impl AsRef<Path>, array: &NdArray) -> Result<()> {
    fn write(path: &Path, array: &NdArray) -> Result<()> {
        let (header, array) = prepare(array)?;
        let mut file = StagedFile::create(path)?;
        file.set_room_aside(header.len() as u64 + bytes_of(&array))?;
        write_prepared(&mut file, &header, &array)?;
        file.commit()
    }
    let (path, here) = (path.as_ref(), Location::caller());
    write(path, array).in_file(path).called_at(here)
}

/// Writes an array to a writer, in npy format.
///
/// # Errors
/// As [`write()`]; a writer that fails may have got a part.
#[track_caller]
pub fn write_to(mut writer: impl Write, array: &NdArray) -> Result<()> {
    let here = Location::caller();
    write_one(&mut writer, array).called_at(here)
}

/// Opens a file and tells its length, `None` for pipes and devices.
pub(crate) fn open(path: &Path) -> Result<(File, Option<u64>)> {
    let file = File::open(path).while_doing("open")?;
    let metadata = file.metadata().while_doing("open")?;
    if metadata.is_dir() {
        let source = std::io::ErrorKind::IsADirectory.into();
        return Err(source).while_doing("open");
    }
    let length = metadata.is_file().then_some(metadata.len());
    Ok((file, length))
}

pub(crate) fn read_one(source: &mut Source<'_>) -> Result<NdArray> {
    let elements = header::read(source)?;
    source.array(&elements)
}

pub(crate) fn write_one(sink: &mut dyn Write, array: &NdArray) -> Result<()> {
    let (header, array) = prepare(array)?;
    write_prepared(sink, &header, &array)
}

fn write_prepared(sink: &mut dyn Write, header: &[u8], array: &NdArray) -> Result<()> {
    sink.write_all(header).while_doing("write")?;
    write_elements(array, sink, |_| ())
}

/// The header of an array and the array as its elements will be written. All that can be refused is refused here, before the
/// first byte is written.
pub(crate) fn prepare(array: &NdArray) -> Result<(Vec<u8>, NdArray)> {
    check_rank(array.rank())?;
    let descr = descr::of(array.dtype()).ok_or(SerdeErrorKind::NoNpyType {
        dtype: array.dtype(),
    })?;
    let array = gapless(array)?;
    Ok((header::text(descr, &array), array))
}
