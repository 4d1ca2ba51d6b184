//! Files as memory: buffers over the bytes of a mapped file.
#![expect(
    unsafe_code,
    reason = "mapping a file is an unsafe function of the crate that does it"
)]

use std::fs::File;
use std::io;

use memmap2::MmapOptions;

use crate::buffer::Buffer;

impl Buffer {
    /// `bytes` bytes of a file from `offset` on as read-only memory: nothing is read now, the system brings in what is
    /// looked at. Where `offset` is no multiple of 8 the bytes are copied instead.
    ///
    /// **The file must not be changed as long as a handle lives.** Nothing can guard against that: what is read then may be
    /// old, new or mixed, and reading what was cut off ends the process (`SIGBUS`). Replacing the file by renaming another
    /// one over it, as this workspace writes all its files, is safe.
    ///
    /// # Errors
    /// Those of the system; [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) when the file is shorter,
    /// [`Unsupported`](io::ErrorKind::Unsupported) when it is no regular file.
    ///
    /// ```no_run
    /// use lodestride_buffer::Buffer;
    /// let file = std::fs::File::open("weights.bin")?;
    /// let buffer = Buffer::map_file(&file, 0, 4096)?;
    /// assert!(buffer.is_read_only());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn map_file(file: &File, offset: u64, bytes: usize) -> io::Result<Buffer> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let end = offset.checked_add(bytes as u64);
        if end.is_none_or(|end| end > metadata.len()) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut options = MmapOptions::new();
        options.offset(offset).len(bytes);
        // SAFETY: the range lies inside the file, so the mapping is readable memory of that length that lives as long as
        // the value; it is only ever lent for reading. That nobody changes the file meanwhile is the caller's promise,
        // documented above: no system offers a way to enforce it.
        let map = unsafe { options.map(file) }?;
        Buffer::read_only(map).map_err(|_| io::ErrorKind::OutOfMemory.into())
    }
}
