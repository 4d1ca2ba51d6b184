//! The safetensors format: named arrays in one file, as model weights are passed on. Behind the feature `safetensors`.
//!
//! Every dtype here has its counterpart there, bf16 too. The format knows C order only: arrays of other layouts are written as the
//! array they show and come back in C order. The header is read by the `safetensors` crate.
//!
//! ```
//! use lodestride_serde::{DType, NdArray, safetensors};
//!
//! let (weights, bias) = (NdArray::ones_of(DType::BF16, [2, 3])?, NdArray::from([0.5f32, 1.0]));
//! let mut file = Vec::new();
//! safetensors::write_to(&mut file, [("weights", &weights), ("bias", &bias)])?;
//! let arrays = safetensors::read_from(&file[..])?;
//! assert_eq!(arrays["weights"].dtype(), DType::BF16);
//! assert_eq!(arrays["bias"].to_vec::<f32>()?, [0.5, 1.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::panic::Location;
use std::path::Path;

use ::safetensors::tensor::TensorView;
use ::safetensors::{Dtype, SafeTensorError, SafeTensors};
use lodestride_array::{DType, NdArray, Order, scope_out};

use crate::error::{IoAction, Place, Result, SerdeErrorKind};
use crate::npy::open;
use crate::sink::{gapless, order_in_file, readable, write_elements};
use crate::source::{Elements, Endian, Source, check_rank};
use crate::staged::StagedFile;

/// Reads all arrays of a file, by name. They are made in the thread's current workspace, if one is open.
///
/// # Errors
/// [`SerdeErrorKind::Io`], [`SerdeErrorKind::Damaged`] for what is no safetensors file or does not add up,
/// [`SerdeErrorKind::HeaderSyntax`] for element types there is no dtype for, with the array as [`entry`](crate::SerdeError::entry).
#[track_caller]
pub fn read(path: impl AsRef<Path>) -> Result<BTreeMap<String, NdArray>> {
    fn read(path: &Path) -> Result<BTreeMap<String, NdArray>> {
        let (mut file, length) = open(path)?;
        let Some(count) = length.and_then(|length| usize::try_from(length).ok()) else {
            return read_all(&mut file);
        };
        parse(&Source::new(&mut file, length).vec(count, "the file")?)
    }
    let (path, here) = (path.as_ref(), Location::caller());
    read(path).in_file(path).called_at(here)
}

/// Reads all arrays from all that a reader has left.
///
/// # Errors
/// As [`read`].
#[track_caller]
pub fn read_from(mut reader: impl Read) -> Result<BTreeMap<String, NdArray>> {
    let here = Location::caller();
    read_all(&mut reader).called_at(here)
}

/// Writes named arrays into a file, which appears whole or not at all.
///
/// # Errors
/// [`SerdeErrorKind::DuplicateName`], [`SerdeErrorKind::Rank`] beyond 64 axes, [`SerdeErrorKind::Array`] when an array's memory may
/// not be read, [`SerdeErrorKind::Io`] and [`SerdeErrorKind::NotAFile`] when the file cannot be written.
#[track_caller]
pub fn write<'a, N: Into<String>>(
    path: impl AsRef<Path>,
    arrays: impl IntoIterator<Item = (N, &'a NdArray)>,
) -> Result<()> {
    let (path, here) = (path.as_ref(), Location::caller());
    let write = |bytes: Vec<u8>| {
        let mut file = StagedFile::create(path)?;
        file.set_room_aside(bytes.len() as u64)?;
        file.write_all(&bytes).while_doing("write")?;
        file.commit()
    };
    let bytes = bytes_of(arrays.into_iter().map(|(name, array)| (name.into(), array)));
    bytes.and_then(write).in_file(path).called_at(here)
}

/// Writes named arrays to a writer.
///
/// # Errors
/// As [`write()`]; a writer that fails may have got a part.
#[track_caller]
pub fn write_to<'a, N: Into<String>>(
    mut writer: impl Write,
    arrays: impl IntoIterator<Item = (N, &'a NdArray)>,
) -> Result<()> {
    let here = Location::caller();
    let bytes = bytes_of(arrays.into_iter().map(|(name, array)| (name.into(), array)));
    let write = |bytes: Vec<u8>| writer.write_all(&bytes).while_doing("write");
    bytes.and_then(write).called_at(here)
}

fn read_all(reader: &mut dyn Read) -> Result<BTreeMap<String, NdArray>> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).while_doing("read")?;
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> Result<BTreeMap<String, NdArray>> {
    let file = SafeTensors::deserialize(bytes).map_err(damaged)?;
    let arrays = file.iter().map(|(name, view)| {
        let array = array_of(&view).in_entry(name)?;
        Ok((name.to_owned(), array))
    });
    arrays.collect()
}

fn array_of(view: &TensorView<'_>) -> Result<NdArray> {
    let Some(&(_, dtype)) = DTYPES.iter().find(|(known, _)| *known == view.dtype()) else {
        let found = format!("{:?}", view.dtype());
        let expected = "an element type there is a dtype for";
        return Err(SerdeErrorKind::HeaderSyntax { expected, found }.into());
    };
    let shape: Vec<u64> = view.shape().iter().map(|&size| size as u64).collect();
    let elements = Elements::new(dtype, &shape, Order::C, Endian::Little)?;
    let mut data = view.data();
    let length = data.len() as u64;
    let mut source = Source::new(&mut data, Some(length));
    let array = source.array(&elements)?;
    source.end()?;
    Ok(array)
}

fn bytes_of<'a>(arrays: impl Iterator<Item = (String, &'a NdArray)>) -> Result<Vec<u8>> {
    let mut parts: BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)> = BTreeMap::new();
    for (name, array) in arrays {
        check_rank(array.rank()).in_entry(&name)?;
        if parts.contains_key(&name) {
            return Err(SerdeErrorKind::DuplicateName { name }.into());
        }
        readable("write", array).in_entry(&name)?;
        let dense = match order_in_file(array) {
            Order::C => gapless(array)?,
            Order::F => scope_out(|| array.dup_order(Order::C))?,
        };
        let mut bytes = Vec::new();
        write_elements(&dense, &mut bytes, |_| ())?;
        parts.insert(
            name,
            (type_of(array.dtype()), array.shape().to_vec(), bytes),
        );
    }
    let views = parts.iter().map(|(name, (dtype, shape, bytes))| {
        let view = TensorView::new(*dtype, shape.clone(), bytes).map_err(damaged)?;
        Ok((name, view))
    });
    let views: Vec<_> = views.collect::<Result<_>>()?;
    Ok(::safetensors::serialize(views, None).map_err(damaged)?)
}

fn type_of(dtype: DType) -> Dtype {
    let known = DTYPES.iter().find(|(_, known)| *known == dtype);
    known.map_or(Dtype::U8, |&(of, _)| of)
}

fn damaged(error: SafeTensorError) -> SerdeErrorKind {
    SerdeErrorKind::Damaged {
        source: io::Error::new(io::ErrorKind::InvalidData, error),
    }
}

/// The type of each dtype in a file.
const DTYPES: [(Dtype, DType); 13] = [
    (Dtype::BOOL, DType::Bool),
    (Dtype::U8, DType::U8),
    (Dtype::I8, DType::I8),
    (Dtype::U16, DType::U16),
    (Dtype::I16, DType::I16),
    (Dtype::U32, DType::U32),
    (Dtype::I32, DType::I32),
    (Dtype::U64, DType::U64),
    (Dtype::I64, DType::I64),
    (Dtype::F16, DType::F16),
    (Dtype::BF16, DType::BF16),
    (Dtype::F32, DType::F32),
    (Dtype::F64, DType::F64),
];
