//! Elements that stay in their file: arrays over mapped memory. What the files must look like is checked in `npy` and `native`.

use std::fs::File;

use lodestride_array::{Buffer, NdArray};

use crate::error::{IoAction, Result};
use crate::source::{Elements, denied};

/// The elements from byte `start` of a file on as read-only memory; `None` where the bytes there are not this machine's
/// elements and have to be converted.
pub(crate) fn elements(file: &File, start: u64, elements: &Elements) -> Result<Option<NdArray>> {
    let buffer = Buffer::map_file(file, start, elements.bytes()).while_doing("map")?;
    let array = NdArray::from_buffer(buffer, elements.layout.clone(), elements.dtype)?;
    let guard = (array.buffer().read()).map_err(|error| denied("open_mapped", error, &array))?;
    let usable = elements.lie_as_in_memory(guard.bytes());
    drop(guard);
    Ok(usable.then_some(array))
}
