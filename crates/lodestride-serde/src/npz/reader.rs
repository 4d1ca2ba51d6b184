//! Reading npz archives: the list of names at once, the arrays when they are asked for.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::panic::Location;
use std::path::{Path, PathBuf};

use lodestride_array::{DType, NdArray, scope_out};
use lodestride_lod::{Lod, LodTensor, Offsets};
use zip::{CompressionMethod, ZipArchive};

use super::{MAX_LEVELS, SUFFIX, offsets_name, offsets_owner};
use crate::error::{Format, IoAction, Place, Result, SerdeErrorKind};
use crate::header::Header;
use crate::npy;
use crate::source::Source;
use crate::stored::Stored;

/// A deflate stream cannot grow by more than this factor, so the size of an entry is bounded by the size of the file.
const MAX_GROWTH: u64 = 1032;

/// An open npz archive, from which arrays are read one by one.
///
/// ```no_run
/// use lodestride_serde::npz;
///
/// let mut data = npz::Reader::open("data/japanese_vowels.npz")?;
/// let train = data.lod_tensor("train")?;
/// let labels = data.array("train_labels")?;
/// # Ok::<(), lodestride_serde::SerdeError>(())
/// ```
#[doc(alias = "NpzFile")]
#[doc(alias = "load")]
pub struct Reader<R> {
    archive: ZipArchive<R>,
    /// Length of the whole archive: no entry can be stored in more bytes.
    length: u64,
    /// Names in the order of the archive, and the entry of each.
    names: Vec<String>,
    entries: HashMap<String, usize>,
    path: Option<PathBuf>,
}

impl Reader<BufReader<File>> {
    /// Opens an archive and reads its list of names.
    ///
    /// # Errors
    /// [`SerdeErrorKind::Io`] when the file cannot be opened, [`SerdeErrorKind::Magic`] or [`SerdeErrorKind::Archive`] when
    /// it is not a whole zip archive, [`SerdeErrorKind::DuplicateName`] when a name appears twice.
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        fn open(path: &Path) -> Result<Reader<BufReader<File>>> {
            let (file, _) = npy::open(path)?;
            let mut reader = Reader::list(BufReader::new(file))?;
            reader.path = Some(path.to_path_buf());
            Ok(reader)
        }
        let (path, here) = (path.as_ref(), Location::caller());
        open(path).in_file(path).called_at(here)
    }
}

impl<R: Read + Seek> Reader<R> {
    /// Opens an archive in any reader that can seek, such as `Cursor<Vec<u8>>`.
    ///
    /// # Errors
    /// As [`open`](Reader::open).
    #[track_caller]
    pub fn new(reader: R) -> Result<Self> {
        let here = Location::caller();
        Self::list(reader).called_at(here)
    }

    fn list(mut reader: R) -> Result<Self> {
        let length = reader.seek(SeekFrom::End(0)).while_doing("read")?;
        check_magic(&mut reader)?;
        let archive = ZipArchive::new(reader).map_err(SerdeErrorKind::from)?;
        let mut names = Vec::new();
        let mut entries = HashMap::new();
        for index in 0..archive.len() {
            let Some(name) = archive.name_for_index(index) else {
                continue;
            };
            let name = name.map_err(SerdeErrorKind::from)?;
            let Some(name) = name.strip_suffix(SUFFIX) else {
                continue;
            };
            if entries.insert(name.to_owned(), index).is_some() {
                let name = name.to_owned();
                return Err(SerdeErrorKind::DuplicateName { name }.into());
            }
            names.push(name.to_owned());
        }
        if archive.has_duplicate_names() {
            let name = "(one of them)".to_owned();
            return Err(SerdeErrorKind::DuplicateName { name }.into());
        }
        Ok(Self {
            archive,
            length,
            names,
            entries,
            path: None,
        })
    }

    /// The names of arrays and LoD tensors, in the order of the archive. The offsets of LoD tensors are not listed apart.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let shown = |name: &&str| {
            offsets_owner(name).is_none_or(|(owner, level)| self.depth(owner) <= level)
        };
        self.names.iter().map(String::as_str).filter(shown)
    }

    /// Whether there is an array or LoD tensor of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Number of LoD levels stored with an array; 0 for a plain array, and when there is none of that name.
    pub fn lod_level(&self, name: &str) -> usize {
        self.depth(name)
    }

    fn depth(&self, name: &str) -> usize {
        if !self.entries.contains_key(name) {
            return 0;
        }
        let has_level = |&level: &usize| self.entries.contains_key(&offsets_name(name, level));
        (0..MAX_LEVELS).take_while(has_level).count()
    }

    /// Reads the elements stored under a name. Of a LoD tensor these are the rows; `x.lod0` reads offsets.
    ///
    /// # Errors
    /// [`SerdeErrorKind::NoEntry`] with the names there are; the errors of [`npy::read`]; [`SerdeErrorKind::Damaged`] when the
    /// checksum is wrong.
    #[track_caller]
    pub fn array(&mut self, name: &str) -> Result<NdArray> {
        let here = Location::caller();
        let array = self.load(name);
        self.placed(array).called_at(here)
    }

    /// Reads what is said about the array stored under a name, and nothing of its elements.
    ///
    /// # Errors
    /// As [`array`](Self::array), for all that can be wrong with a header.
    ///
    /// ```
    /// use lodestride_serde::{NdArray, npz};
    ///
    /// let mut file = std::io::Cursor::new(Vec::new());
    /// let mut writer = npz::Writer::new(&mut file);
    /// writer.array("a", &NdArray::zeros([20, 3])?)?;
    /// writer.finish_writer()?;
    /// assert_eq!(npz::Reader::new(file)?.header("a")?.to_string(), "f32 [20, 3] C");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn header(&mut self, name: &str) -> Result<Header> {
        let here = Location::caller();
        let depth = self.depth(name);
        let header = self.within(name, |source| {
            Ok(Header::new(&npy::header::read(source)?, depth))
        });
        self.placed(header).called_at(here)
    }

    /// Reads a LoD tensor: the rows of that name and the offsets beside them. A plain array becomes one with no level.
    ///
    /// # Errors
    /// As [`array`](Self::array); [`SerdeErrorKind::OffsetsType`], [`SerdeErrorKind::OffsetRange`] and
    /// [`SerdeErrorKind::Lod`] when the offsets do not fit.
    #[track_caller]
    pub fn lod_tensor(&mut self, name: &str) -> Result<LodTensor> {
        let here = Location::caller();
        let tensor = self.load_lod(name);
        self.placed(tensor).called_at(here)
    }

    /// Reads whatever is stored under a name.
    ///
    /// # Errors
    /// As [`lod_tensor`](Self::lod_tensor).
    #[track_caller]
    pub fn get(&mut self, name: &str) -> Result<Stored> {
        let here = Location::caller();
        let stored = if self.depth(name) == 0 {
            self.load(name).map(Stored::Array)
        } else {
            self.load_lod(name).map(Stored::Lod)
        };
        self.placed(stored).called_at(here)
    }

    /// Reads everything, in the order of [`names`](Self::names).
    ///
    /// # Errors
    /// As [`get`](Self::get), for the first entry that cannot be read.
    #[track_caller]
    pub fn read_all(&mut self) -> Result<Vec<(String, Stored)>> {
        let here = Location::caller();
        let names: Vec<String> = self.names().map(str::to_owned).collect();
        let mut all = Vec::with_capacity(names.len());
        for name in names {
            let stored = self.get(&name).called_at(here)?;
            all.push((name, stored));
        }
        Ok(all)
    }

    fn placed<T>(&self, result: Result<T>) -> Result<T> {
        match &self.path {
            Some(path) => result.in_file(path),
            None => result,
        }
    }

    fn load(&mut self, name: &str) -> Result<NdArray> {
        self.within(name, |source| {
            let array = npy::read_one(source)?;
            source.end()?;
            Ok(array)
        })
    }

    /// Hands the bytes of an entry to a reader of npy.
    fn within<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Source<'_>) -> Result<T>,
    ) -> Result<T> {
        let Some(&index) = self.entries.get(name) else {
            return Err(SerdeErrorKind::NoEntry {
                name: name.to_owned(),
                available: self.names().map(str::to_owned).collect(),
            }
            .into());
        };
        let entry = self.archive.by_index(index);
        let value = entry.map_err(|error| SerdeErrorKind::from(error).into());
        let value = value.and_then(|mut entry| {
            let stored = entry.compressed_size().min(self.length);
            let most = match entry.compression() {
                CompressionMethod::Stored => stored,
                _ => stored.saturating_mul(MAX_GROWTH),
            };
            let most = most.min(entry.size());
            read(&mut Source::new(&mut entry, Some(most)))
        });
        value.in_entry(&format!("{name}{SUFFIX}"))
    }

    fn load_lod(&mut self, name: &str) -> Result<LodTensor> {
        // The offsets first: they are small, and wrong ones spare us the rows.
        let depth = self.depth(name);
        let mut levels = Vec::with_capacity(depth);
        for level in 0..depth {
            let entry = offsets_name(name, level);
            let array = scope_out(|| self.load(&entry))?;
            levels.push(offsets(&array, level).in_entry(&format!("{entry}{SUFFIX}"))?);
        }
        let lod = if depth == 0 {
            Lod::none()
        } else {
            Lod::from_offsets(Offsets::from(levels))?
        };
        let data = self.load(name)?;
        Ok(LodTensor::new(data, lod)?)
    }
}

impl<R> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("path", &self.path)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

/// Tells files of another kind from damaged archives.
fn check_magic<R: Read + Seek>(reader: &mut R) -> Result<()> {
    reader.seek(SeekFrom::Start(0)).while_doing("read")?;
    let mut found = Vec::new();
    reader
        .by_ref()
        .take(8)
        .read_to_end(&mut found)
        .while_doing("read")?;
    if found.starts_with(b"PK") {
        return Ok(());
    }
    let format = Format::Npz;
    Err(SerdeErrorKind::Magic { format, found }.into())
}

/// The numbers of an offsets entry, of whatever integer type.
fn offsets(array: &NdArray, level: usize) -> Result<Vec<usize>> {
    let wrong_type = || SerdeErrorKind::OffsetsType {
        level,
        dtype: array.dtype(),
        shape: array.shape().to_vec(),
    };
    if array.rank() != 1 || !array.dtype().is_integer() {
        return Err(wrong_type().into());
    }
    let out_of_range = |(index, found): (usize, i128)| SerdeErrorKind::OffsetRange {
        level,
        index,
        found,
    };
    let offset = |(index, found)| usize::try_from(found).map_err(|_| out_of_range((index, found)));
    let numbers: Vec<i128> = if array.dtype() == DType::U64 {
        array.to_vec::<u64>()?.into_iter().map(i128::from).collect()
    } else {
        let wide = scope_out(|| array.cast(DType::I64))?;
        wide.to_vec::<i64>()?.into_iter().map(i128::from).collect()
    };
    Ok(numbers
        .into_iter()
        .enumerate()
        .map(offset)
        .collect::<std::result::Result<_, _>>()?)
}
