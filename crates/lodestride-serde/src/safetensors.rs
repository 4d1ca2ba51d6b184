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

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::panic::Location;
use std::path::Path;

use ::safetensors::tensor::{TensorView, View};
use ::safetensors::{Dtype, SafeTensorError, SafeTensors};
use lodestride_array::{DType, NdArray, Order, scope_out};

use crate::error::{IoAction, Place, Result, SerdeErrorKind};
use crate::npy::open;
use crate::sink::{bytes_of, gapless, order_in_file, readable, write_elements};
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
    fn write(path: &Path, parts: &Parts) -> Result<()> {
        let mut file = StagedFile::create(path)?;
        file.set_room_aside(parts.bytes())?;
        parts.write(&mut file)?;
        file.commit()
    }
    let (path, here) = (path.as_ref(), Location::caller());
    let parts = Parts::new(arrays.into_iter().map(|(name, array)| (name.into(), array)));
    let written = parts.and_then(|parts| write(path, &parts));
    written.in_file(path).called_at(here)
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
    let parts = Parts::new(arrays.into_iter().map(|(name, array)| (name.into(), array)));
    let written = parts.and_then(|parts| parts.write(&mut writer));
    written.called_at(here)
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

/// A file that is to be written: the header, and the arrays in the order of the file.
struct Parts {
    header: Vec<u8>,
    arrays: Vec<NdArray>,
}

impl Parts {
    fn new<'a>(named: impl Iterator<Item = (String, &'a NdArray)>) -> Result<Self> {
        let mut dense: BTreeMap<String, NdArray> = BTreeMap::new();
        for (name, array) in named {
            check_rank(array.rank()).in_entry(&name)?;
            if dense.contains_key(&name) {
                return Err(SerdeErrorKind::DuplicateName { name }.into());
            }
            readable("write", array).in_entry(&name)?;
            let array = match order_in_file(array) {
                Order::C => gapless(array)?,
                Order::F => scope_out(|| array.dup_order(Order::C))?,
            };
            dense.insert(name, array);
        }
        let order = RefCell::default();
        let parts = dense.iter().map(|(name, array)| {
            (
                name,
                Part {
                    array,
                    order: &order,
                },
            )
        });
        let header = ::safetensors::serialize(parts, None).map_err(damaged)?;
        let arrays = order.into_inner();
        Ok(Self { header, arrays })
    }

    /// Length of the file.
    fn bytes(&self) -> u64 {
        self.header.len() as u64 + self.arrays.iter().map(bytes_of).sum::<u64>()
    }

    fn write(&self, sink: &mut dyn Write) -> Result<()> {
        sink.write_all(&self.header).while_doing("write")?;
        let mut arrays = self.arrays.iter();
        arrays.try_for_each(|array| write_elements(array, sink, |_| ()))
    }
}

/// An array of which the crate is to write the header alone. Whose elements it asks for is noted: they follow in that order, and
/// no copy of them is made.
struct Part<'a> {
    array: &'a NdArray,
    order: &'a RefCell<Vec<NdArray>>,
}

impl View for Part<'_> {
    fn dtype(&self) -> Dtype {
        type_of(self.array.dtype())
    }

    fn shape(&self) -> &[usize] {
        self.array.shape()
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.order.borrow_mut().push(self.array.clone());
        Cow::Borrowed(&[])
    }

    fn data_len(&self) -> usize {
        self.array.len() * self.array.dtype().size()
    }
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
