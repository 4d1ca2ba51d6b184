//! A writer that fails only once. The zip crate completes an archive that is dropped, and complains on stderr when it cannot; after
//! an error that was reported already there is nothing more to say.

use std::io::{self, Seek, SeekFrom, Write};

/// Passes everything on until the first error, and swallows everything after it.
#[derive(Debug)]
pub(super) struct Fused<W> {
    writer: W,
    failed: bool,
    position: u64,
}

impl<W> Fused<W> {
    pub(super) fn new(writer: W) -> Self {
        Self {
            writer,
            failed: false,
            position: 0,
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    pub(super) fn into_inner(self) -> W {
        self.writer
    }

    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        // An interruption is tried again by the caller and is no failure.
        if let Err(error) = &result {
            self.failed |= error.kind() != io::ErrorKind::Interrupted;
        }
        result
    }
}

impl<W: Write> Write for Fused<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = if self.failed {
            bytes.len()
        } else {
            let result = self.writer.write(bytes);
            self.note(result)?
        };
        self.position += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failed {
            return Ok(());
        }
        let result = self.writer.flush();
        self.note(result)
    }
}

impl<W: Seek> Seek for Fused<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = if self.failed {
            match to {
                SeekFrom::Start(position) => position,
                SeekFrom::Current(distance) | SeekFrom::End(distance) => {
                    self.position.saturating_add_signed(distance)
                }
            }
        } else {
            let result = self.writer.seek(to);
            self.note(result)?
        };
        Ok(self.position)
    }
}
