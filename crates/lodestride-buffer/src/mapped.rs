//! Workspaces in mapped files: for cycles larger than the machine's memory, and for contents that outlive the process.
//! Read-only buffers over files are `map.rs`.
#![expect(
    unsafe_code,
    reason = "mapping a file is an unsafe function of the crate that does it"
)]

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use memmap2::{MmapMut, MmapOptions};

use crate::block::{ALIGNMENT, Lent};
use crate::floor::Remap;
use crate::plan::{AllocationPolicy, LearningPolicy, ResetPolicy, SpillPolicy, WorkspaceConfig};
use crate::room::set_room_aside;
use crate::workspace::{Workspace, WorkspaceName};

/// Which file a mapped workspace lives in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappedFile {
    /// One without a name, which ends with the workspace.
    Temporary,
    /// The file of this path: made if there is none, else its contents are what the workspace begins with.
    At(PathBuf),
}

impl Workspace {
    /// A workspace whose block is a mapped file, of exactly `initial_size` bytes, rounded up to 64, or of a larger file that is
    /// there as much of its length as is a multiple of 64: such a file never becomes longer. A `max_size` bounds both. It learns
    /// nothing, and arrays that find no room are spilled to the heap, or refused, as the configuration says.
    ///
    /// **Nobody else may change the file as long as the workspace lives**, as for [`Buffer::map_file`](crate::Buffer::map_file);
    /// do not give two workspaces the same one. Its room on the disk is set aside now.
    ///
    /// # Errors
    /// Those of the system, [`StorageFull`](io::ErrorKind::StorageFull) among them;
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) when the initial size, the file and `max_size` leave no room for 64 bytes, or
    /// when the configuration is circular.
    ///
    /// ```
    /// use lodestride_buffer::{Buffer, MappedFile, Workspace, WorkspaceConfig};
    /// let config = WorkspaceConfig::new().initial_size(1_000_000);
    /// let workspace = Workspace::mapped("LARGE", MappedFile::Temporary, config)?;
    /// workspace.scope(|workspace| -> Result<_, Box<dyn std::error::Error>> {
    ///     let array = Buffer::zeroed(400)?;
    ///     array.write()?.slice_mut::<f32>().fill(10.0);
    ///     assert_eq!(workspace.stats().offset, 448);
    ///     Ok(())
    /// })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "MMAP")]
    pub fn mapped(
        name: impl Into<WorkspaceName>,
        file: MappedFile,
        config: WorkspaceConfig,
    ) -> io::Result<Workspace> {
        if config.reset == ResetPolicy::Circular {
            let text = "a mapped workspace has one block and cannot be circular";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let (file, temporary) = match file {
            MappedFile::Temporary => (nameless(&std::env::temp_dir())?, true),
            MappedFile::At(path) => (open(&path)?, false),
        };
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        let bytes = block_size(&config, length);
        if bytes == 0 {
            let text = "a mapped workspace needs 64 bytes or more, as its initial size or from a file that has them, and no \
                        smaller `max_size`";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let mut source = Source {
            file,
            bytes,
            temporary,
            mapped: Arc::default(),
        };
        // Fails now and not at the first opening, if it must.
        drop(source.try_map()?);
        let config = WorkspaceConfig {
            initial_size: bytes,
            allocation: AllocationPolicy::Strict,
            learning: LearningPolicy::None,
            spill: match config.spill {
                // A file stays as long as it is.
                SpillPolicy::Reallocate => SpillPolicy::External,
                spill => spill,
            },
            ..config
        };
        Ok(Workspace::over(name.into(), config, Some(Box::new(source))))
    }
}

/// The size of the block over a file of this length.
fn block_size(config: &WorkspaceConfig, length: usize) -> usize {
    let sized = WorkspaceConfig {
        initial_size: config.initial_size.max(length - length % ALIGNMENT),
        allocation: AllocationPolicy::Strict,
        ..*config
    };
    sized.initial_block_size()
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // What is there already is kept.
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A new file that no name leads to any more.
fn nameless(folder: &Path) -> io::Result<File> {
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    loop {
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("lodestride-{}-{serial}.workspace", std::process::id());
        let path = folder.join(name);
        match options.open(&path) {
            Ok(file) => {
                // Where an open file cannot be removed, it stays until somebody clears the folder.
                let _stays = std::fs::remove_file(&path);
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// The file of a workspace.
#[derive(Debug)]
struct Source {
    file: File,
    bytes: usize,
    temporary: bool,
    /// Whether there is a mapping.
    mapped: Arc<AtomicBool>,
}

impl Source {
    fn try_map(&mut self) -> io::Result<Lent> {
        let bytes = self.bytes as u64;
        set_room_aside(&self.file, bytes)?;
        if self.file.metadata()?.len() < bytes {
            self.file.set_len(bytes)?;
        }
        let mut options = MmapOptions::new();
        options.len(self.bytes);
        // SAFETY: the file is at least that long, so the mapping is readable and writable memory of that length that lives as
        // long as the value. It is the only one of this file: `mapped` says so of ours, and that nobody else changes the
        // file is the caller's promise, documented above.
        let map = unsafe { options.map_mut(&self.file) }?;
        self.mapped.store(true, Ordering::Relaxed);
        let mapping = Mapping {
            map,
            alive: Alive(Arc::clone(&self.mapped)),
        };
        Lent::from_owner(mapping).map_err(|_| io::ErrorKind::Unsupported.into())
    }
}

impl Remap for Source {
    fn map(&mut self) -> Option<Lent> {
        // Acquire: what was done under the mapping that is gone has happened before what is done under the next.
        if self.mapped.load(Ordering::Acquire) {
            return None;
        }
        self.try_map()
            .ok()
            .filter(|lent| (lent.data().as_ptr() as usize).is_multiple_of(ALIGNMENT))
    }

    fn release(&mut self) {
        if self.temporary && !self.mapped.load(Ordering::Acquire) {
            // If it cannot be cut now, its space is free with the last handle.
            let _later = self.file.set_len(0);
        }
    }
}

/// A mapping and, after it, the note that it is gone.
#[derive(Debug)]
struct Mapping {
    map: MmapMut,
    #[expect(dead_code, reason = "dropped after the mapping")]
    alive: Alive,
}

#[derive(Debug)]
struct Alive(Arc<AtomicBool>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl AsMut<[u8]> for Mapping {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.map
    }
}
