//! The header of a native file: what is in it, before any of it is read.

use lodestride_array::{DType, Order};

use crate::error::{Format, Result, SerdeError, SerdeErrorKind};
use crate::sink::order_in_file;
use crate::source::{Elements, Endian, MAX_RANK, Source};
use crate::stored::StoredRef;

const MAGIC: &[u8; 8] = b"\x93LDS\r\n\x1a\n";

const VERSION: u16 = 1;

/// Elements start at a multiple of this many bytes.
pub(super) const ALIGNMENT: u64 = 64;

/// Most LoD levels.
const MAX_LEVELS: usize = 64;

/// Code of every dtype in the file. Codes never change; new dtypes get new ones.
const CODES: [(u8, DType); 13] = [
    (1, DType::Bool),
    (2, DType::U8),
    (3, DType::I8),
    (4, DType::U16),
    (5, DType::I16),
    (6, DType::U32),
    (7, DType::I32),
    (8, DType::U64),
    (9, DType::I64),
    (10, DType::F16),
    (11, DType::BF16),
    (12, DType::F32),
    (13, DType::F64),
];

#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) has_lod: bool,
    dtype: DType,
    order: Order,
    shape: Vec<u64>,
    /// Number of offsets of each level.
    pub(super) offsets: Vec<u64>,
    /// How the elements are compressed; 0 where they are not.
    pub(super) codec: u8,
}

/// The codecs are 1 to this.
const CODECS: u8 = 7;

impl Header {
    pub(super) fn of(value: StoredRef<'_>) -> Result<Self> {
        let array = value.data();
        let mut offsets = Vec::new();
        if let Some(lod) = value.lod() {
            for level in 0..lod.depth() {
                offsets.push(lod.level(level.cast_signed())?.len() as u64);
            }
        }
        for (found, limit) in [(array.rank(), MAX_RANK), (offsets.len(), MAX_LEVELS)] {
            if found > limit {
                return Err(SerdeErrorKind::Rank { found, limit }.into());
            }
        }
        Ok(Self {
            has_lod: value.lod().is_some(),
            dtype: array.dtype(),
            order: order_in_file(array),
            shape: array.shape().iter().map(|&size| size as u64).collect(),
            offsets,
            codec: 0,
        })
    }

    /// The header of a compressed array.
    pub(super) fn compressed(dtype: DType, order: Order, shape: &[usize], codec: u8) -> Self {
        Self {
            has_lod: false,
            dtype,
            order,
            shape: shape.iter().map(|&size| size as u64).collect(),
            offsets: Vec::new(),
            codec,
        }
    }

    /// What follows the header, checked against what memory could hold.
    pub(super) fn elements(&self) -> Result<Elements> {
        Elements::new(self.dtype, &self.shape, self.order, Endian::Little)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(24 + 8 * (self.shape.len() + self.offsets.len()));
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        let code = CODES
            .iter()
            .find(|(_, dtype)| *dtype == self.dtype)
            .map_or(0, |&(code, _)| code);
        let order = u8::from(self.order == Order::F);
        // Both counts are at most 64.
        let (rank, levels) = (self.shape.len() as u8, self.offsets.len() as u8);
        let kind = if self.codec > 0 {
            2
        } else {
            u8::from(self.has_lod)
        };
        bytes.extend_from_slice(&[kind, code, order, rank, levels, self.codec]);
        for number in self.shape.iter().chain(&self.offsets) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes
    }
}

/// Reads a header, whose length is bounded whatever it says, and checks it before anything is believed.
pub(super) fn read(source: &mut Source<'_>) -> Result<Header> {
    source.start_checksum();
    check_beginning(source)?;
    let [kind, code, order, rank, levels, codec] = source.bytes("the header")?;
    let small = |n| usize::from(n) <= MAX_RANK.min(MAX_LEVELS);
    check(source, "the rank", "at most 64", rank, small)?;
    check(
        source,
        "the number of LoD levels",
        "at most 64",
        levels,
        small,
    )?;
    let shape = numbers(source, usize::from(rank))?;
    let offsets = numbers(source, usize::from(levels))?;
    check_sum(source)?;
    check(source, "the kind", "0, 1 or 2", kind, |n| n <= 2)?;
    check(source, "the memory order", "0 or 1", order, |n| n <= 1)?;
    if kind == 2 {
        let known = |n| (1..=CODECS).contains(&n);
        check(source, "the codec", "1 to 7", codec, known)?;
    } else {
        check(source, "a reserved byte", "0", codec, |n| n == 0)?;
    }
    for byte in source.bytes::<4>("the header")? {
        check(source, "a reserved byte", "0", byte, |n| n == 0)?;
    }
    check(
        source,
        "the number of LoD levels",
        "0 for an array",
        levels,
        |n| kind == 1 || n == 0,
    )?;
    let Some(&(_, dtype)) = CODES.iter().find(|(known, _)| *known == code) else {
        return Err(field(source, "the dtype", "1 to 13", code));
    };
    Ok(Header {
        has_lod: kind == 1,
        dtype,
        order: if order == 1 { Order::F } else { Order::C },
        shape,
        offsets,
        codec,
    })
}

fn check_beginning(source: &mut Source<'_>) -> Result<()> {
    let magic = source.bytes::<8>("the magic number of lodestride")?;
    if &magic != MAGIC {
        let (format, found) = (Format::Native, magic.to_vec());
        return Err(SerdeError::from(SerdeErrorKind::Magic { format, found }).at_byte(0));
    }
    let [low, high] = source.bytes("the version")?;
    if u16::from_le_bytes([low, high]) != VERSION {
        let (format, found) = (Format::Native, (low, high));
        return Err(SerdeError::from(SerdeErrorKind::Version { format, found }).at_byte(8));
    }
    Ok(())
}

fn check_sum(source: &mut Source<'_>) -> Result<()> {
    let found = source.take_checksum();
    let expected = u32::from_le_bytes(source.bytes("the checksum of the header")?);
    if expected == found {
        return Ok(());
    }
    let what = "the header";
    Err(source.fault(SerdeErrorKind::Checksum {
        what,
        expected,
        found,
    }))
}

fn numbers(source: &mut Source<'_>, count: usize) -> Result<Vec<u64>> {
    let bytes = source.vec(8 * count, "the header")?;
    let numbers = bytes.as_chunks::<8>().0.iter();
    Ok(numbers.map(|&number| u64::from_le_bytes(number)).collect())
}

fn check(
    source: &Source<'_>,
    name: &'static str,
    expected: &'static str,
    found: u8,
    is_right: impl Fn(u8) -> bool,
) -> Result<()> {
    if is_right(found) {
        return Ok(());
    }
    Err(field(source, name, expected, found))
}

fn field(
    source: &Source<'_>,
    field: &'static str,
    expected: &'static str,
    found: u8,
) -> SerdeError {
    let found = u64::from(found);
    source.fault(SerdeErrorKind::HeaderField {
        field,
        expected,
        found,
    })
}
