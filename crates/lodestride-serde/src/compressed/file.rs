//! Compressed arrays in native files, as kind 2: reading such a file with [`native::read`](crate::native::read) decompresses.

use std::io::{Read, Write};
use std::panic::Location;
use std::path::Path;

use crate::compressed::{Codec, Compressed};
use crate::error::{Place, Result, SerdeErrorKind};
use crate::native::{self, CompressedBlock, Found};
use crate::npy::open;
use crate::source::Source;
use crate::staged::StagedFile;

impl Compressed {
    /// Reads a compressed array from a native file and leaves it compressed.
    ///
    /// # Errors
    /// As [`native::read`](crate::native::read); [`SerdeErrorKind::HeaderField`] for a file whose elements are not compressed.
    ///
    /// ```
    /// use lodestride_serde::{Codec, Compressed, NdArray, native};
    ///
    /// # let folder = std::env::temp_dir().join("lodestride-serde-compressed");
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("weights.lds");
    /// let weights = NdArray::from([1.0f32, 2.0, 3.0]);
    /// Compressed::new(&weights, Codec::Float16)?.write(&path)?;
    /// assert_eq!(Compressed::read(&path)?.codec(), Codec::Float16);
    /// assert_eq!(native::read(&path)?.into_array()?, weights); // decompressed at once
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        fn read(path: &Path) -> Result<Compressed> {
            let (mut file, length) = open(path)?;
            let mut source = Source::new(&mut file, length);
            let compressed = read_one(&mut source)?;
            source.end()?;
            Ok(compressed)
        }
        let (path, here) = (path.as_ref(), Location::caller());
        read(path).in_file(path).called_at(here)
    }

    /// Reads a compressed array from a reader and leaves the reader just after it.
    ///
    /// # Errors
    /// As [`read`](Self::read), except that more data may follow.
    #[track_caller]
    pub fn read_from(mut reader: impl Read) -> Result<Self> {
        let here = Location::caller();
        read_one(&mut Source::new(&mut reader, None)).called_at(here)
    }

    /// Writes the compressed array into a native file, which appears whole or not at all.
    ///
    /// # Errors
    /// [`SerdeErrorKind::Io`] and [`SerdeErrorKind::NotAFile`] when the file cannot be written.
    #[track_caller]
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let write = |path: &Path| {
            let mut file = StagedFile::create(path)?;
            native::write_compressed(&mut file, &self.block())?;
            file.commit()
        };
        let (path, here) = (path.as_ref(), Location::caller());
        write(path).in_file(path).called_at(here)
    }

    /// Writes the compressed array to a writer.
    ///
    /// # Errors
    /// As [`write`](Self::write); a writer that fails may have got a part.
    #[track_caller]
    pub fn write_to(&self, mut writer: impl Write) -> Result<()> {
        let here = Location::caller();
        native::write_compressed(&mut writer, &self.block()).called_at(here)
    }

    fn block(&self) -> CompressedBlock<'_> {
        let (code, parameter) = match self.codec {
            Codec::Plain => (1, 0.0),
            Codec::Gzip => (2, 0.0),
            Codec::Float16 => (3, 0.0),
            Codec::Int8 => (4, 0.0),
            Codec::Int16 => (5, 0.0),
            Codec::UInt8 => (6, 0.0),
            Codec::Threshold(limit) => (7, limit),
        };
        CompressedBlock {
            code,
            parameter,
            dtype: self.dtype,
            order: self.order,
            shape: &self.shape,
            bytes: &self.bytes,
        }
    }
}

/// The codec of a code in a file, which is one of those known.
pub(crate) fn codec(code: u8, parameter: f64) -> Codec {
    match code {
        1 => Codec::Plain,
        2 => Codec::Gzip,
        3 => Codec::Float16,
        4 => Codec::Int8,
        5 => Codec::Int16,
        6 => Codec::UInt8,
        _ => Codec::Threshold(parameter),
    }
}

fn read_one(source: &mut Source<'_>) -> Result<Compressed> {
    match Found::read(source)? {
        Found::Compressed(compressed) => Ok(compressed),
        Found::Elements(_) => Err(source.fault(SerdeErrorKind::HeaderField {
            field: "the kind",
            expected: "2, a compressed array (`native::read` takes the others)",
            found: 0,
        })),
    }
}
