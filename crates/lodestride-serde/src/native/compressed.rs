//! Files of kind 2: a compressed array behind the header. The codecs are in `compressed`.

use std::io::Write;

use crc32fast::Hasher;
use lodestride_array::{DType, Order};

use super::header::{self, ALIGNMENT, Header};
use super::{END_MARK, Head, check_ending, padding};
use crate::compressed::{Compressed, codec};
use crate::error::{IoAction, Result, SerdeErrorKind};
use crate::source::Source;

/// A compressed array as it is written.
pub(crate) struct CompressedBlock<'c> {
    pub(crate) code: u8,
    /// The threshold; 0 for the other codecs.
    pub(crate) parameter: f64,
    pub(crate) dtype: DType,
    pub(crate) order: Order,
    pub(crate) shape: &'c [usize],
    pub(crate) bytes: &'c [u8],
}

/// What stands behind a header.
pub(crate) enum Found {
    /// The source is at the elements.
    Elements(Head),
    /// All of it has been read.
    Compressed(Compressed),
}

impl Found {
    /// Reads a header and what precedes the elements, with a checksum running over what follows the header.
    pub(crate) fn read(source: &mut Source<'_>) -> Result<Found> {
        let header = header::read(source)?;
        if header.codec == 0 {
            return Ok(Found::Elements(Head::read(source, &header)?));
        }
        let elements = header.elements()?;
        source.start_checksum();
        let length = u64::from_le_bytes(source.bytes("the number of compressed bytes")?);
        let parameter = f64::from_le_bytes(source.bytes("the threshold")?);
        source.vec(padding(source.position()), "the padding")?;
        let count = usize::try_from(length).ok();
        let Some(count) = count.filter(|&n| isize::try_from(n).is_ok()) else {
            return Err(source.fault(SerdeErrorKind::HeaderField {
                field: "the number of compressed bytes",
                expected: "a number that memory can hold",
                found: length,
            }));
        };
        let bytes = source.vec(count, "the compressed bytes")?;
        check_ending(source, "the compressed bytes")?;
        let codec = codec(header.codec, parameter);
        Ok(Found::Compressed(Compressed::from_file(
            codec, &elements, bytes,
        )))
    }
}

pub(crate) fn write_compressed(sink: &mut dyn Write, block: &CompressedBlock<'_>) -> Result<()> {
    let head = Header::compressed(block.dtype, block.order, block.shape, block.code).to_bytes();
    sink.write_all(&head).while_doing("write")?;
    let length = (block.bytes.len() as u64).to_le_bytes();
    let numbers = [length, block.parameter.to_le_bytes()].concat();
    let zeros = &[0; ALIGNMENT as usize][..padding((head.len() + numbers.len()) as u64)];
    let mut checksum = Hasher::new();
    for bytes in [&numbers, zeros, block.bytes] {
        checksum.update(bytes);
        sink.write_all(bytes).while_doing("write")?;
    }
    let checksum: u32 = checksum.finalize();
    let ending = [checksum.to_le_bytes(), *END_MARK].concat();
    sink.write_all(&ending).while_doing("write")
}
