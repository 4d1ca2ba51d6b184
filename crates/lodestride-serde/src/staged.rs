//! Files that appear whole or not at all: written under another name in the same folder, then renamed.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{IoAction, Place, Result, SerdeErrorKind};

/// A file that replaces the one of its name only when [`commit`](Self::commit) is called.
///
/// Until then everything goes to a temporary file in the same folder, which is removed when this is dropped. A reader of the
/// path sees the old file or the whole new one, never a part.
///
/// ```
/// use std::io::Write;
/// use lodestride_serde::StagedFile;
///
/// let folder = std::env::temp_dir().join("lodestride-staged-example");
/// std::fs::create_dir_all(&folder)?;
/// let path = folder.join("notes.txt");
/// let mut file = StagedFile::create(&path)?;
/// file.write_all(b"all or nothing")?;
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"all or nothing");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StagedFile {
    // `None` once committed.
    writer: Option<BufWriter<File>>,
    temporary: PathBuf,
    target: PathBuf,
}

/// Tells the temporary files of one process apart.
static COUNTER: AtomicU64 = AtomicU64::new(0);

impl StagedFile {
    /// Opens a temporary file beside `path`. A symbolic link is followed: what it points to will be replaced.
    ///
    /// # Errors
    /// [`SerdeErrorKind::NotAFile`] when the path names a folder or a device, [`SerdeErrorKind::Io`] when the folder is
    /// missing or not writable.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::open(path).in_file(path)
    }

    fn open(path: &Path) -> Result<Self> {
        let existing = match fs::metadata(path) {
            Ok(existing) => Some(existing),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).while_doing("write"),
        };
        if existing.as_ref().is_some_and(|target| !target.is_file()) {
            return Err(SerdeErrorKind::NotAFile.into());
        }
        let target = if existing.is_some() {
            fs::canonicalize(path).while_doing("write")?
        } else {
            path.to_path_buf()
        };
        let Some(name) = target.file_name() else {
            return Err(SerdeErrorKind::NotAFile.into());
        };
        let mut hidden = OsString::from(".");
        hidden.push(name);
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        hidden.push(format!(".{}-{count}.tmp", process::id()));
        let temporary = target.with_file_name(hidden);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)
            .while_doing("create a temporary file beside it")?;
        let staged = Self {
            writer: Some(BufWriter::new(file)),
            temporary,
            target,
        };
        if let Some(existing) = existing {
            fs::set_permissions(&staged.temporary, existing.permissions())
                .while_doing("keep the permissions of the old file")?;
        }
        Ok(staged)
    }

    /// The file that will be replaced.
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// Sets aside room on the disk for a file of this many bytes, so that a full disk is known before anything is written,
    /// and writing a large file is faster.
    ///
    /// # Errors
    /// [`SerdeErrorKind::Io`] when there is no room.
    pub fn set_room_aside(&mut self, bytes: u64) -> Result<()> {
        self.room(bytes)
            .while_doing("find room for")
            .in_file(&self.target)
    }

    /// [`set_room_aside`](Self::set_room_aside) for those who name the file themselves.
    pub(crate) fn room(&mut self, bytes: u64) -> io::Result<()> {
        let Some(writer) = &self.writer else {
            return Ok(());
        };
        lodestride_array::set_room_aside(writer.get_ref(), bytes)
    }

    /// Puts the new file in place of the old one.
    ///
    /// # Errors
    /// [`SerdeErrorKind::Io`] when the last bytes cannot be written or the file cannot be renamed; the old file is then still there.
    pub fn commit(mut self) -> Result<()> {
        self.rename().in_file(&self.target)
    }

    fn rename(&mut self) -> Result<()> {
        if let Some(writer) = &mut self.writer {
            writer.flush().while_doing("write")?;
        }
        fs::rename(&self.temporary, &self.target).while_doing("rename the finished file")?;
        self.writer = None;
        Ok(())
    }

    fn writer(&mut self) -> io::Result<&mut BufWriter<File>> {
        self.writer
            .as_mut()
            .ok_or_else(|| io::Error::other("the file was committed already"))
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            // Nothing can be done about a file that cannot be removed.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer()?.flush()
    }
}

impl Seek for StagedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.writer()?.seek(to)
    }
}
