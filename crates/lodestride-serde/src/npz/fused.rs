//! A writer that fails only once. The zip crate completes an archive that is dropped, and complains on stderr when it cannot; after
//! an error that was reported already there is nothing more to say.
//!
//! It also asks for room on the disk before much is written: in the form of npy that is done from outside, but a zip archive lets nobody
//! at its writer.

use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Sets room aside in a writer for so many bytes in all.
pub(super) type SetAside<W> = fn(&mut W, u64) -> io::Result<()>;

/// Says how many bytes will come: to the writer of an archive nobody reaches through the archive.
#[derive(Clone, Debug, Default)]
pub(super) struct Due(Arc<AtomicU64>);

impl Due {
    /// So many bytes come from the next write on.
    pub(super) fn announce(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

/// Passes everything on until the first error, and swallows everything after it.
#[derive(Debug)]
pub(super) struct Fused<W> {
    writer: W,
    failed: bool,
    position: u64,
    due: Due,
    set_aside: Option<SetAside<W>>,
}

impl<W> Fused<W> {
    pub(super) fn new(writer: W, set_aside: Option<SetAside<W>>) -> Self {
        Self {
            writer,
            failed: false,
            position: 0,
            due: Due::default(),
            set_aside,
        }
    }

    pub(super) fn due(&self) -> Due {
        self.due.clone()
    }

    /// Passes bytes on, with room for those that were announced to come after them.
    fn pass(&mut self, bytes: &[u8]) -> io::Result<usize>
    where
        W: Write,
    {
        let due = self.due.take();
        if let Some(set_aside) = self.set_aside.filter(|_| due > 0) {
            set_aside(&mut self.writer, self.position.saturating_add(due))?;
        }
        self.writer.write(bytes)
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
            let result = self.pass(bytes);
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
