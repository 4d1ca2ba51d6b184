//! Writing the elements of an array, whatever its strides, as one block of bytes. The headers around it are in the formats.

use std::io::Write;

use lodestride_array::{DType, NdArray, Order, scope_out};

use crate::error::{IoAction, Result};
use crate::source::{Endian, denied, normalise_bools, swap_bytes};

/// Elements that need a change on their way are changed in pieces of this size.
const PIECE: usize = 64 << 10;

/// All others are written in pieces of this size: large enough that a file costs little more than one call for all of it (pieces of a
/// quarter cost 15 % more), small enough that a piece is still in cache when it is written after its checksum.
const DIRECT: usize = 1 << 20;

/// The order in which an array's elements go to a file: F for arrays that are in F order and not in C order as well, else C.
pub(crate) fn order_in_file(array: &NdArray) -> Order {
    array.order().unwrap_or(Order::C)
}

/// Refuses an array whose memory may not be read, before a byte of it is written anywhere.
pub(crate) fn readable(op: &'static str, array: &NdArray) -> Result<()> {
    match array.buffer().read() {
        Ok(_) => Ok(()),
        Err(error) => Err(denied(op, error, array)),
    }
}

/// An array whose elements lie without gaps in the order of the file: the array itself, or a copy of a strided one. Refused is
/// here what may not be read.
pub(crate) fn gapless(array: &NdArray) -> Result<NdArray> {
    readable("write", array)?;
    if array.order().is_some() {
        return Ok(array.clone());
    }
    // A copy for the moment has no place in the caller's workspace.
    Ok(scope_out(|| array.dup_order(Order::C))?)
}

/// The bytes that [`write_elements`] writes.
pub(crate) fn bytes_of(array: &NdArray) -> u64 {
    array.len() as u64 * array.dtype().size() as u64
}

/// Writes the elements of a gapless array, little-endian, in memory order. `each` sees every piece before it is written.
pub(crate) fn write_elements(
    array: &NdArray,
    sink: &mut dyn Write,
    mut each: impl FnMut(&[u8]),
) -> Result<()> {
    let size = array.dtype().size();
    let guard = array
        .buffer()
        .read()
        .map_err(|e| denied("write", e, array))?;
    let bytes = &guard.bytes()[array.layout().offset() * size..][..array.len() * size];
    let swap = Endian::NATIVE == Endian::Big && size > 1;
    if !swap && array.dtype() != DType::Bool {
        for piece in bytes.chunks(DIRECT) {
            each(piece);
            sink.write_all(piece).while_doing("write")?;
        }
        return Ok(());
    }
    let mut changed = Vec::with_capacity(PIECE);
    for piece in bytes.chunks(PIECE) {
        changed.clear();
        changed.extend_from_slice(piece);
        if swap {
            swap_bytes(&mut changed, size);
        } else {
            normalise_bools(&mut changed);
        }
        each(&changed);
        sink.write_all(&changed).while_doing("write")?;
    }
    Ok(())
}
