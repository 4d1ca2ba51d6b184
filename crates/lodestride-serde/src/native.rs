//! The native binary format, `.lds`: one array or LoD tensor, all dtypes, checked by checksums.
//!
//! Every number is little-endian. The layout is fixed for version 1:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | magic `93 4C 44 53 0D 0A 1A 0A` (`\x93LDS\r\n\x1a\n`; a text-mode transfer breaks it visibly) |
//! | 2 | version, 1 |
//! | 1 | kind: 0 array, 1 LoD tensor |
//! | 1 | dtype: 1 bool, 2 u8, 3 i8, 4 u16, 5 i16, 6 u32, 7 i32, 8 u64, 9 i64, 10 f16, 11 bf16, 12 f32, 13 f64 |
//! | 1 | memory order of the elements: 0 C, 1 F |
//! | 1 | rank, at most 64 |
//! | 1 | number of LoD levels, at most 64 |
//! | 1 | 0 |
//! | 8 per axis | shape |
//! | 8 per level | number of offsets of the level |
//! | 4 | CRC-32 of everything before it |
//! | 4 | 0 |
//! | 8 per offset | offsets of all levels, outermost first |
//! | up to 63 | zeros, up to a multiple of 64 from the start |
//! | | the elements, in memory order |
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

mod header;

use std::io::{Read, Write};
use std::panic::Location;
use std::path::Path;

use crc32fast::Hasher;
use lodestride_array::NdArray;
use lodestride_lod::{Lod, LodTensor, Offsets};

use crate::error::{IoAction, Place, Result, SerdeErrorKind};
use crate::npy::open;
use crate::sink::{gapless, write_elements};
use crate::source::Source;
use crate::staged::StagedFile;
use crate::stored::{Stored, StoredRef};
use header::{ALIGNMENT, Header};

/// The last bytes of every file.
const END_MARK: &[u8; 4] = b"LDSE";

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
        write_one(&mut file, value)?;
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
    write_one(&mut writer, value.into()).called_at(here)
}

fn read_one(source: &mut Source<'_>) -> Result<Stored> {
    let header = header::read(source)?;
    let elements = header.elements()?;
    source.start_checksum();
    let mut levels = Vec::with_capacity(header.offsets.len());
    for (level, &count) in header.offsets.iter().enumerate() {
        levels.push(read_offsets(source, level, count)?);
    }
    let zeros = padding(source.position());
    source.vec(zeros, "the padding")?;
    let data = source.array(&elements)?;
    let found = source.take_checksum();
    let expected = u32::from_le_bytes(source.bytes("the checksum")?);
    if expected != found {
        let what = "the offsets and elements";
        return Err(source.fault(SerdeErrorKind::Checksum {
            what,
            expected,
            found,
        }));
    }
    let mark = source.bytes::<4>("the end mark")?;
    if &mark != END_MARK {
        return Err(source.fault(SerdeErrorKind::HeaderField {
            field: "the end mark",
            expected: "LDSE (4543444C hexadecimal, 1163084876)",
            found: u64::from(u32::from_le_bytes(mark)),
        }));
    }
    if !header.has_lod {
        return Ok(Stored::Array(data));
    }
    let lod = if levels.is_empty() {
        Lod::none()
    } else {
        Lod::from_offsets(Offsets::from(levels))?
    };
    Ok(Stored::Lod(LodTensor::new(data, lod)?))
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

fn write_one(sink: &mut dyn Write, value: StoredRef<'_>) -> Result<()> {
    let header = Header::of(value)?;
    let array: NdArray = gapless(value.data())?;
    let head = header.to_bytes();
    sink.write_all(&head).while_doing("write")?;
    let mut checksum = Hasher::new();
    let mut position = head.len() as u64;
    if let Some(lod) = value.lod() {
        for level in 0..lod.depth() {
            let offsets = lod.level(level.cast_signed())?;
            let bytes: Vec<u8> = offsets
                .iter()
                .flat_map(|&offset| (offset as u64).to_le_bytes())
                .collect();
            checksum.update(&bytes);
            sink.write_all(&bytes).while_doing("write")?;
            position += bytes.len() as u64;
        }
    }
    let zeros = &[0; ALIGNMENT as usize][..padding(position)];
    checksum.update(zeros);
    sink.write_all(zeros).while_doing("write")?;
    write_elements(&array, sink, |piece| checksum.update(piece))?;
    sink.write_all(&checksum.finalize().to_le_bytes())
        .while_doing("write")?;
    sink.write_all(END_MARK).while_doing("write")
}
