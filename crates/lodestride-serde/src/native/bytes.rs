//! Native files in memory: made in one piece, and read without copying the elements.

use std::panic::Location;

use lodestride_array::{Buffer, NdArray};

use super::{AFTER, Found, Parts, read_ending, read_from};
use crate::error::{Place, Result, SerdeErrorKind};
use crate::source::Source;
use crate::stored::{Stored, StoredRef};

/// The bytes of the native file of an array or LoD tensor, in one allocation of the right size.
///
/// # Errors
/// [`SerdeErrorKind::Array`] when the array's memory may not be read, [`SerdeErrorKind::Memory`].
///
/// ```
/// use lodestride_serde::{NdArray, native};
///
/// let a = NdArray::from([[1u8, 2], [3, 4]]);
/// let bytes = native::to_bytes(&a)?;
/// assert_eq!(native::read_from(&bytes[..])?.into_array()?.to_vec::<u8>()?, [1, 2, 3, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "toByteBuffer")]
#[doc(alias = "toByteArray")]
#[doc(alias = "to_byte_buffer")]
#[track_caller]
pub fn to_bytes<'a>(value: impl Into<StoredRef<'a>>) -> Result<Vec<u8>> {
    fn to_bytes(value: StoredRef<'_>) -> Result<Vec<u8>> {
        let parts = Parts::of(value)?;
        let length = parts.length();
        let mut bytes = Vec::new();
        let room = usize::try_from(length).map(|length| bytes.try_reserve_exact(length));
        if !matches!(room, Ok(Ok(()))) {
            return Err(SerdeErrorKind::Memory { bytes: length }.into());
        }
        parts.write(&mut bytes)?;
        Ok(bytes)
    }
    let here = Location::caller();
    to_bytes(value.into()).called_at(here)
}

/// Makes an array or LoD tensor of the bytes of a native file without copying the elements: they stay in the bytes given, which
/// live as long as any array over them.
///
/// The data is read-only (writing to it is [`AccessError::ReadOnly`](lodestride_array::AccessError::ReadOnly); `dup()` gives a
/// copy to write to) and belongs to no workspace. Everything is checked as by [`read_from`] but the checksum of the elements,
/// which would have to read them all; `read_from(&bytes[..])` copies and checks them. Elements that do not lie on a multiple
/// of 8 bytes in memory are copied.
///
/// # Errors
/// As [`read`](super::read).
///
/// ```
/// use lodestride_serde::{NdArray, native};
///
/// let bytes = native::to_bytes(&NdArray::from([1.0f32, 2.0, 3.0]))?;
/// let array = native::from_bytes(bytes)?.into_array()?;
/// assert_eq!(array.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
/// assert!(array.addi(1.0).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "BinarySerde")]
#[doc(alias = "toArray")]
#[doc(alias = "from_byte_buffer")]
#[track_caller]
pub fn from_bytes<B>(bytes: B) -> Result<Stored>
where
    B: AsRef<[u8]> + Send + Sync + 'static,
{
    let here = Location::caller();
    shared(bytes).called_at(here)
}

fn shared<B>(bytes: B) -> Result<Stored>
where
    B: AsRef<[u8]> + Send + Sync + 'static,
{
    let all = bytes.as_ref();
    let mut reader = all;
    let mut source = Source::new(&mut reader, Some(all.len() as u64));
    let Found::Elements(head) = Found::read(&mut source)? else {
        return read_from(all);
    };
    let start = source.locate(&head.elements, AFTER)? as usize;
    let length = head.elements.bytes();
    let mut ending = &all[start + length..];
    read_ending(&mut Source::new(&mut ending, Some(AFTER)).starting_at((start + length) as u64))?;
    if !head.elements.lie_as_in_memory(&all[start..start + length]) {
        return read_from(all);
    }
    let window = Window {
        bytes,
        start,
        length,
    };
    let memory = |_| SerdeErrorKind::Memory {
        bytes: length as u64,
    };
    let buffer = Buffer::read_only(window).map_err(memory)?;
    let data = NdArray::from_buffer(buffer, head.elements.layout.clone(), head.elements.dtype)?;
    head.stored(data)
}

/// The elements within the bytes of a file.
struct Window<B> {
    bytes: B,
    start: usize,
    length: usize,
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for Window<B> {
    fn as_ref(&self) -> &[u8] {
        let bytes = self
            .bytes
            .as_ref()
            .get(self.start..self.start + self.length);
        // Who shows other bytes than at first gets an array that does not fit them, which is an error.
        bytes.unwrap_or_default()
    }
}
