//! Writing npz archives, one array after the other.

use std::collections::HashSet;
use std::fmt;
use std::io::{Seek, Write};
use std::panic::Location;
use std::path::Path;

use lodestride_array::NdArray;
use lodestride_lod::LodTensor;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::fused::{Due, Fused, SetAside};
use super::{MAX_LEVELS, SUFFIX, offsets_name, offsets_owner};
use crate::error::{IoAction, Place, Result, SerdeErrorKind};
use crate::npy;
use crate::sink::write_elements;
use crate::staged::StagedFile;
use crate::stored::StoredRef;

/// How the arrays of an archive are packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// As they are: fastest, and what `np.savez` does.
    #[default]
    Stored,
    /// Deflated: smaller and slower, what `np.savez_compressed` does.
    Deflated,
}

/// Longest name of an array.
const MAX_NAME: usize = 1024;

/// An entry that may become longer than this when packed needs the 64-bit form of its sizes.
const LARGE: u64 = u32::MAX as u64 - (64 << 20);

/// Alignment of the entries, and so of the elements inside them.
const ALIGNMENT: u16 = 64;

/// An entry of the list at the end without its name, and a little more.
const ENTRY: u64 = 128;

/// An npz archive that is being written.
///
/// Made with [`create`](Self::create), the file appears under its name when [`finish`](Self::finish) is called; dropped before
/// that, nothing is left behind.
///
/// ```
/// use lodestride_serde::{NdArray, npz};
///
/// # let folder = std::env::temp_dir().join("lodestride-npz-example");
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("model.npz");
/// let weights = NdArray::from([[0.5f32, -1.0], [2.0, 0.25]]);
/// let mut writer = npz::Writer::create(&path)?.compression(npz::Compression::Deflated);
/// writer.array("layer1/weights", &weights)?;
/// writer.finish()?;
/// assert_eq!(npz::Reader::open(&path)?.array("layer1/weights")?.shape()[..], [2, 2]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "savez")]
#[doc(alias = "savez_compressed")]
pub struct Writer<W: Write + Seek> {
    archive: ZipWriter<Fused<W>>,
    names: HashSet<String>,
    compression: Compression,
    abandoned: bool,
    due: Due,
    /// Length of the list of entries at the end, about.
    directory: u64,
}

impl Writer<StagedFile> {
    /// Begins an archive that will be at `path`.
    ///
    /// # Errors
    /// Those of [`StagedFile::create`].
    #[track_caller]
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let here = Location::caller();
        let file = StagedFile::create(path).called_at(here)?;
        Ok(Self::with_room(file, Some(StagedFile::room)))
    }

    /// Writes the list of entries and puts the file in its place.
    ///
    /// # Errors
    /// [`SerdeErrorKind::Io`] when the file cannot be completed, [`SerdeErrorKind::Abandoned`] when an earlier error left the
    /// archive unusable. A file that was there before is then unchanged.
    #[track_caller]
    pub fn finish(self) -> Result<()> {
        let here = Location::caller();
        let file = self.close().called_at(here)?;
        file.commit().called_at(here)
    }
}

impl<W: Write + Seek> Writer<W> {
    /// Begins an archive in any writer that can seek, such as `Cursor<Vec<u8>>`.
    pub fn new(writer: W) -> Self {
        Self::with_room(writer, None)
    }

    fn with_room(writer: W, set_aside: Option<SetAside<W>>) -> Self {
        let fused = Fused::new(writer, set_aside);
        let due = fused.due();
        Self {
            archive: ZipWriter::new(fused),
            names: HashSet::new(),
            compression: Compression::default(),
            abandoned: false,
            due,
            directory: 0,
        }
    }

    /// How the arrays added from here on are packed; [`Compression::Stored`] unless told otherwise.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Adds an array.
    ///
    /// # Errors
    /// [`SerdeErrorKind::BadName`] and [`SerdeErrorKind::DuplicateName`]; those of [`npy::write`](crate::npy::write()). An
    /// array that is refused leaves the archive as it was, and others can be added; after an error of the writer underneath,
    /// such as a full disk, everything that follows is [`SerdeErrorKind::Abandoned`].
    #[track_caller]
    pub fn array(&mut self, name: &str, array: &NdArray) -> Result<&mut Self> {
        let here = Location::caller();
        self.add(name, array.into()).called_at(here)
    }

    /// Adds a LoD tensor: its rows under the name, the offsets of its levels as `name.lod0`, `name.lod1`, ...
    ///
    /// # Errors
    /// As [`array`](Self::array).
    #[track_caller]
    pub fn lod_tensor(&mut self, name: &str, tensor: &LodTensor) -> Result<&mut Self> {
        let here = Location::caller();
        self.add(name, tensor.into()).called_at(here)
    }

    /// Adds an array or a LoD tensor.
    ///
    /// # Errors
    /// As [`array`](Self::array).
    #[track_caller]
    pub fn put<'a>(&mut self, name: &str, value: impl Into<StoredRef<'a>>) -> Result<&mut Self> {
        let here = Location::caller();
        self.add(name, value.into()).called_at(here)
    }

    /// Writes the list of entries and returns the writer.
    ///
    /// # Errors
    /// As [`finish`](Writer::finish).
    #[track_caller]
    pub fn finish_writer(self) -> Result<W> {
        let here = Location::caller();
        self.close().called_at(here)
    }

    fn close(self) -> Result<W> {
        if self.abandoned {
            return Err(SerdeErrorKind::Abandoned.into());
        }
        let writer = self.archive.finish().map_err(SerdeErrorKind::from)?;
        if writer.has_failed() {
            return Err(SerdeErrorKind::Abandoned.into());
        }
        Ok(writer.into_inner())
    }

    fn add(&mut self, name: &str, value: StoredRef<'_>) -> Result<&mut Self> {
        self.check_name(name).in_entry(name)?;
        let mut parts = vec![(name.to_owned(), value.data().clone())];
        if let Some(lod) = value.lod() {
            if lod.depth() > MAX_LEVELS {
                return Err(SerdeErrorKind::Rank {
                    found: lod.depth(),
                    limit: MAX_LEVELS,
                }
                .into());
            }
            for level in 0..lod.depth() {
                let offsets = lod.level(level.cast_signed())?;
                let offsets: Vec<i64> = offsets.iter().map(|&o| o as u64 as i64).collect();
                let count = offsets.len();
                parts.push((
                    offsets_name(name, level),
                    NdArray::from_vec(offsets, count)?,
                ));
            }
        }
        // All headers first: what cannot be written is refused before anything is.
        let mut prepared = Vec::with_capacity(parts.len());
        for (name, array) in parts {
            let entry = format!("{name}{SUFFIX}");
            let (header, array) = npy::prepare(&array).in_entry(&entry)?;
            prepared.push((name, entry, header, array));
        }
        for (name, entry, header, array) in prepared {
            self.append(&entry, &header, &array).in_entry(&entry)?;
            self.names.insert(name);
        }
        Ok(self)
    }

    fn append(&mut self, entry: &str, header: &[u8], array: &NdArray) -> Result<()> {
        if self.abandoned {
            return Err(SerdeErrorKind::Abandoned.into());
        }
        // Until the entry is complete. What a writer that fails has got, nobody knows.
        self.abandoned = true;
        let bytes = (header.len() + array.len() * array.dtype().size()) as u64;
        let options = SimpleFileOptions::default().large_file(bytes > LARGE);
        let options = match self.compression {
            Compression::Stored => options
                .compression_method(CompressionMethod::Stored)
                .with_alignment(ALIGNMENT),
            Compression::Deflated => options.compression_method(CompressionMethod::Deflated),
        };
        let archive = &mut self.archive;
        archive
            .start_file(entry, options)
            .map_err(SerdeErrorKind::from)?;
        self.directory += ENTRY + entry.len() as u64;
        if self.compression == Compression::Stored {
            self.due.announce(bytes + self.directory);
        }
        archive.write_all(header).while_doing("write")?;
        write_elements(array, archive, |_| ())?;
        self.abandoned = false;
        Ok(())
    }

    fn check_name(&self, name: &str) -> Result<()> {
        let bad = |reason| SerdeErrorKind::BadName {
            name: name.to_owned(),
            reason,
        };
        if name.is_empty() {
            return Err(bad("it is empty").into());
        }
        if name.len() > MAX_NAME {
            return Err(bad("it is longer than 1024 bytes").into());
        }
        if name.contains(['\\', '\0']) {
            return Err(bad("it has a backslash or a NUL").into());
        }
        if name.split('/').any(|part| part.is_empty() || part == "..") {
            return Err(bad("a part between slashes is empty or `..`").into());
        }
        if offsets_owner(name).is_some() {
            return Err(bad("such names are for the offsets of LoD tensors").into());
        }
        if self.names.contains(name) {
            let name = name.to_owned();
            return Err(SerdeErrorKind::DuplicateName { name }.into());
        }
        Ok(())
    }
}

impl<W: Write + Seek> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("names", &self.names)
            .field("compression", &self.compression)
            .finish_non_exhaustive()
    }
}
