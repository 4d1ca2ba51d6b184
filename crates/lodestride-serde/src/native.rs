//! The native binary format, `.lds`: one array or LoD tensor, all dtypes, checked by checksums.
//!
//! Every number is little-endian. The layout is fixed for version 1:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | magic `93 4C 44 53 0D 0A 1A 0A` (`\x93LDS\r\n\x1a\n`; a text-mode transfer breaks it visibly) |
//! | 2 | version, 1 |
//! | 1 | kind: 0 array, 1 LoD tensor, 2 compressed array |
//! | 1 | dtype: 1 bool, 2 u8, 3 i8, 4 u16, 5 i16, 6 u32, 7 i32, 8 u64, 9 i64, 10 f16, 11 bf16, 12 f32, 13 f64 |
//! | 1 | memory order of the elements: 0 C, 1 F |
//! | 1 | rank, at most 64 |
//! | 1 | number of LoD levels, at most 64 |
//! | 1 | codec of a compressed array: 1 plain, 2 gzip, 3 f16, 4 i8, 5 i16, 6 u8, 7 threshold; else 0 |
//! | 8 per axis | shape |
//! | 8 per level | number of offsets of the level |
//! | 4 | CRC-32 of everything before it |
//! | 4 | 0 |
//! | 8 per offset | offsets of all levels, outermost first |
//! | 16 | of a compressed array: number of its bytes, and the threshold as f64 |
//! | up to 63 | zeros, up to a multiple of 64 from the start |
//! | | the elements, in memory order, or the bytes of a compressed array |
//! | 4 | CRC-32 of offsets, zeros and elements |
//! | 4 | end mark `LDSE` |
//!
//! ```
//! use lodestride_lod::{LodTensor, NdArray, lengths};
//! use lodestride_serde::{Stored, native};
//!
//! let batch = LodTensor::new(NdArray::from([[1.0f32], [2.0], [3.0]]), lengths![[1, 2]])?;
//! let mut bytes = Vec::new();
//! native::write_to(&mut bytes, &batch)?;
//! match native::read_from(&bytes[..])? {
//!     Stored::Lod(tensor) => assert_eq!(tensor.lod(), batch.lod()),
//!     Stored::Array(_) => unreachable!("a LoD tensor was written"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bytes;
mod compressed;
mod header;

use std::io::{Read, Write};
#[cfg(feature = "mmap")]
use std::io::{Seek, SeekFrom};
use std::panic::Location;
use std::path::Path;

use crc32fast::Hasher;
use lodestride_array::NdArray;
use lodestride_lod::{Lod, LodTensor, Offsets};

use crate::error::{IoAction, Place, Result, SerdeErrorKind};
use crate::npy::open;
use crate::sink::{bytes_of, gapless, write_elements};
use crate::source::{Elements, Source};
use crate::staged::StagedFile;
use crate::stored::{Stored, StoredRef};
pub use bytes::{from_bytes, to_bytes};
pub(crate) use compressed::{CompressedBlock, Found, write_compressed};
use header::{ALIGNMENT, Header};

/// The last bytes of every file.
const END_MARK: &[u8; 4] = b"LDSE";

/// Bytes of checksum and end mark.
const AFTER: u64 = 8;

/// What errors call the four bytes after the elements.
const CHECKSUM: &str = "the checksum";

/// Reads an array or LoD tensor.
///
/// It is made in the thread's current workspace, if one is open.
///
/// # Errors
/// [`SerdeErrorKind::Io`], [`Magic`](SerdeErrorKind::Magic), [`Version`](SerdeErrorKind::Version),
/// [`Truncated`](SerdeErrorKind::Truncated), [`Trailing`](SerdeErrorKind::Trailing), [`Checksum`](SerdeErrorKind::Checksum) and
/// the other kinds a file can be wrong in. No memory is asked for that the file could not fill.
///
/// ```no_run
/// use lodestride_serde::native;
///
/// let weights = native::read("weights.lds")?.into_array()?;
/// # Ok::<(), lodestride_serde::SerdeError>(())
/// ```
#[track_caller]
pub fn read(path: impl AsRef<Path>) -> Result<Stored> {
    fn read(path: &Path) -> Result<Stored> {
        let (mut file, length) = open(path)?;
        let mut source = Source::new(&mut file, length);
        let stored = read_one(&mut source)?;
        source.end()?;
        Ok(stored)
    }
    let (path, here) = (path.as_ref(), Location::caller());
    read(path).in_file(path).called_at(here)
}

/// Opens a native file as an array or LoD tensor whose elements stay in the file: nothing is read but header and offsets,
/// and the system brings in what is looked at.
///
/// The data is read-only (writing to it is [`AccessError::ReadOnly`](lodestride_array::AccessError::ReadOnly); `dup()` gives a
/// copy to write to) and belongs to no workspace. Everything is checked as by [`read`] but the checksum of the elements, which
/// would have to read them all. Bools that are neither 0 nor 1 are read and converted.
///
/// **The file must not be changed while the array lives**: its elements could change with it, and reading what was cut off
/// ends the process. Files written by this crate are replaced as a whole, which is safe.
///
/// # Errors
/// As [`read`]; [`SerdeErrorKind::Io`] also for what cannot be mapped, such as a pipe.
///
/// ```
/// use lodestride_serde::{NdArray, native};
///
/// # let folder = std::env::temp_dir().join("lodestride-serde-native-open-mapped");
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("weights.lds");
/// native::write(&path, &NdArray::from([1.0f32, 2.0, 3.0]))?;
/// let weights = native::open_mapped(&path)?.into_array()?;
/// assert_eq!(weights.mul(2.0)?.to_vec::<f32>()?, [2.0, 4.0, 6.0]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "mmap")]
#[track_caller]
pub fn open_mapped(path: impl AsRef<Path>) -> Result<Stored> {
    fn map(path: &Path) -> Result<Stored> {
        let (mut file, length) = open(path)?;
        let mut source = Source::new(&mut file, length);
        let Found::Elements(head) = Found::read(&mut source)? else {
            return read(path);
        };
        let start = source.locate(&head.elements, AFTER)?;
        let Some(data) = crate::mapped::elements(&file, start, &head.elements)? else {
            return read(path);
        };
        let end = start + head.elements.bytes() as u64;
        file.seek(SeekFrom::Start(end)).while_doing("read")?;
        read_ending(&mut Source::new(&mut file, Some(AFTER)).starting_at(end))?;
        head.stored(data)
    }
    let (path, here) = (path.as_ref(), Location::caller());
    map(path).in_file(path).called_at(here)
}

/// Reads what a native file says about its array, and nothing of elements and offsets.
///
/// # Errors
/// As [`read`], for all that can be wrong with a header.
///
/// ```
/// use lodestride_serde::{NdArray, native};
///
/// # let folder = std::env::temp_dir().join("lodestride-serde-native-header");
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("a.lds");
/// native::write(&path, &NdArray::zeros([3, 4])?)?;
/// assert_eq!(native::read_header(&path)?.shape()[..], [3, 4]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "readShapeFromDisk")]
#[track_caller]
pub fn read_header(path: impl AsRef<Path>) -> Result<crate::Header> {
    fn read(path: &Path) -> Result<crate::Header> {
        let (mut file, length) = open(path)?;
        let header = header::read(&mut Source::new(&mut file, length))?;
        Ok(crate::Header::new(
            &header.elements()?,
            header.offsets.len(),
        ))
    }
    let (path, here) = (path.as_ref(), Location::caller());
    read(path).in_file(path).called_at(here)
}

/// Reads one value from a reader and leaves the reader just after it, so that several can follow each other.
///
/// How much a reader holds cannot be known. Beyond 1 MiB, memory for the whole is asked for only when one part in 64 has come.
///
/// # Errors
/// As [`read`], except that more data may follow.
#[track_caller]
pub fn read_from(mut reader: impl Read) -> Result<Stored> {
    let here = Location::caller();
    read_one(&mut Source::new(&mut reader, None)).called_at(here)
}

/// Writes an array or LoD tensor into a file, which appears whole or not at all.
///
/// # Errors
/// [`SerdeErrorKind::Io`] and [`SerdeErrorKind::NotAFile`] when the file cannot be written, [`SerdeErrorKind::Array`] when the
/// array's memory may not be read. A file that was there before is then unchanged.
#[track_caller]
pub fn write<'a>(path: impl AsRef<Path>, value: impl Into<StoredRef<'a>>) -> Result<()> {
    fn write(path: &Path, value: StoredRef<'_>) -> Result<()> {
        let mut file = StagedFile::create(path)?;
        let parts = Parts::of(value)?;
        file.set_room_aside(parts.length())?;
        parts.write(&mut file)?;
        file.commit()
    }
    let (path, here) = (path.as_ref(), Location::caller());
    write(path, value.into()).in_file(path).called_at(here)
}

/// Writes an array or LoD tensor to a writer.
///
/// # Errors
/// As [`write()`]; a writer that fails may have got a part.
#[track_caller]
pub fn write_to<'a>(mut writer: impl Write, value: impl Into<StoredRef<'a>>) -> Result<()> {
    let here = Location::caller();
    Parts::of(value.into())
        .and_then(|parts| parts.write(&mut writer))
        .called_at(here)
}

/// What comes before the elements.
pub(crate) struct Head {
    has_lod: bool,
    levels: Vec<Vec<usize>>,
    elements: Elements,
}

impl Head {
    /// Reads up to the elements, with a checksum running over what follows the header.
    fn read(source: &mut Source<'_>, header: &Header) -> Result<Head> {
        let elements = header.elements()?;
        source.start_checksum();
        let mut levels = Vec::with_capacity(header.offsets.len());
        for (level, &count) in header.offsets.iter().enumerate() {
            levels.push(read_offsets(source, level, count)?);
        }
        let zeros = padding(source.position());
        source.vec(zeros, "the padding")?;
        Ok(Head {
            has_lod: header.has_lod,
            levels,
            elements,
        })
    }

    /// The value that these elements are.
    fn stored(self, data: NdArray) -> Result<Stored> {
        if !self.has_lod {
            return Ok(Stored::Array(data));
        }
        let lod = if self.levels.is_empty() {
            Lod::none()
        } else {
            Lod::from_offsets(Offsets::from(self.levels))?
        };
        Ok(Stored::Lod(LodTensor::new(data, lod)?))
    }
}

fn read_one(source: &mut Source<'_>) -> Result<Stored> {
    let head = match Found::read(source)? {
        Found::Elements(head) => head,
        Found::Compressed(compressed) => return Ok(Stored::Array(compressed.decompress()?)),
    };
    let data = source.array(&head.elements)?;
    check_ending(source, "the offsets and elements")?;
    head.stored(data)
}

/// The checksum of all since the header, and the end mark.
fn check_ending(source: &mut Source<'_>, what: &'static str) -> Result<()> {
    let found = source.take_checksum();
    let expected = u32::from_le_bytes(source.bytes(CHECKSUM)?);
    if expected != found {
        return Err(source.fault(SerdeErrorKind::Checksum {
            what,
            expected,
            found,
        }));
    }
    read_end_mark(source)
}

/// What follows elements that were not read.
fn read_ending(source: &mut Source<'_>) -> Result<()> {
    source.bytes::<4>(CHECKSUM)?;
    read_end_mark(source)
}

fn read_end_mark(source: &mut Source<'_>) -> Result<()> {
    let mark = source.bytes::<4>("the end mark")?;
    if &mark == END_MARK {
        return Ok(());
    }
    Err(source.fault(SerdeErrorKind::HeaderField {
        field: "the end mark",
        expected: "LDSE (4543444C hexadecimal, 1163084876)",
        found: u64::from(u32::from_le_bytes(mark)),
    }))
}

fn read_offsets(source: &mut Source<'_>, level: usize, count: u64) -> Result<Vec<usize>> {
    const WHAT: &str = "a level of offsets";
    let bytes = usize::try_from(count).ok().and_then(|n| n.checked_mul(8));
    let Some(bytes) = bytes.filter(|&bytes| isize::try_from(bytes).is_ok()) else {
        return Err(source.fault(SerdeErrorKind::HeaderField {
            field: "the number of offsets of a level",
            expected: "a number that memory can hold",
            found: count,
        }));
    };
    let bytes = source.vec(bytes, WHAT)?;
    let mut offsets = Vec::with_capacity(bytes.len() / 8);
    for (index, &number) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let number = u64::from_le_bytes(number);
        let Ok(offset) = usize::try_from(number) else {
            return Err(source.fault(SerdeErrorKind::OffsetRange {
                level,
                index,
                found: i128::from(number),
            }));
        };
        offsets.push(offset);
    }
    Ok(offsets)
}

/// Zeros between this position and the elements.
fn padding(position: u64) -> usize {
    (position.next_multiple_of(ALIGNMENT) - position) as usize
}

/// What a file consists of, in its order; the checksum and the end mark follow.
struct Parts {
    head: Vec<u8>,
    levels: Vec<Vec<u8>>,
    array: NdArray,
}

impl Parts {
    fn of(value: StoredRef<'_>) -> Result<Parts> {
        let head = Header::of(value)?.to_bytes();
        let mut levels = Vec::new();
        if let Some(lod) = value.lod() {
            for level in 0..lod.depth() {
                let offsets = lod.level(level.cast_signed())?;
                let bytes = offsets.iter().map(|&offset| (offset as u64).to_le_bytes());
                levels.push(bytes.flatten().collect());
            }
        }
        let array = gapless(value.data())?;
        Ok(Parts {
            head,
            levels,
            array,
        })
    }

    /// Bytes in front of the padding.
    fn position(&self) -> u64 {
        let levels: usize = self.levels.iter().map(Vec::len).sum();
        (self.head.len() + levels) as u64
    }

    /// Bytes of the whole file.
    fn length(&self) -> u64 {
        let ending = size_of::<u32>() + END_MARK.len();
        let before = self.position() + padding(self.position()) as u64;
        before + bytes_of(&self.array) + ending as u64
    }

    fn write(&self, sink: &mut dyn Write) -> Result<()> {
        sink.write_all(&self.head).while_doing("write")?;
        let mut checksum = Hasher::new();
        let zeros = &[0; ALIGNMENT as usize][..padding(self.position())];
        for bytes in self.levels.iter().map(Vec::as_slice).chain([zeros]) {
            checksum.update(bytes);
            sink.write_all(bytes).while_doing("write")?;
        }
        write_elements(&self.array, sink, |piece| checksum.update(piece))?;
        let checksum: u32 = checksum.finalize();
        sink.write_all(&checksum.to_le_bytes())
            .while_doing("write")?;
        sink.write_all(END_MARK).while_doing("write")
    }
}
