//! Compressed arrays: a codec, and the bytes it made. What is lost is said by the codec; [`Codec::Gzip`] and [`Codec::Plain`] lose
//! nothing.
//!
//! ```
//! use lodestride_serde::{Codec, Compressed, NdArray};
//!
//! let zeros = NdArray::zeros([100, 1000])?;
//! let small = Compressed::new(&zeros, Codec::Gzip)?;
//! assert!(small.bytes().len() < 1000);
//! assert_eq!(small.decompress()?, zeros);
//!
//! // Numbers beyond the range of a codec end at its limits; fractions are cut off.
//! let values = NdArray::from([1005.0f32, -3.7, f32::NAN]);
//! let bytes = Compressed::new(&values, Codec::Int8)?;
//! assert_eq!(bytes.decompress()?.to_vec::<f32>()?, [127.0, -3.0, 0.0]);
//! # Ok::<(), lodestride_serde::SerdeError>(())
//! ```

mod file;
mod threshold;

pub(crate) use file::codec;

use std::fmt;
use std::panic::Location;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use lodestride_array::{DType, NdArray, Order, Shape, scope_out};

#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::SerdeErrorKind;
use crate::error::{IoAction, Place, Result};
use crate::sink::{gapless, order_in_file, readable, write_elements};
use crate::source::{Elements, Endian, Source, check_rank};
use threshold::Hits;

/// A deflate stream cannot grow by more than this factor.
const MAX_GROWTH: u64 = 1032;

/// How the elements of a [`Compressed`] array are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[doc(alias = "NDArrayCompressor")]
pub enum Codec {
    /// As they are.
    #[doc(alias = "NOOP")]
    Plain,
    /// Deflated with a checksum: nothing is lost.
    Gzip,
    /// As f16: 11 bits of precision, infinity beyond 65,504.
    Float16,
    /// As i8: fractions are cut off, numbers beyond -128 to 127 end there, NaN is 0.
    Int8,
    /// As i16, in the same way.
    Int16,
    /// As u8, in the same way.
    UInt8,
    /// Only where elements are which reach this magnitude, and their sign; they come back as plus or minus the limit, all others
    /// (NaN too) as 0. For gradients that are added up.
    Threshold(f64),
}

impl Codec {
    /// ND4J's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "NOOP",
            Self::Gzip => "GZIP",
            Self::Float16 => "FLOAT16",
            Self::Int8 => "INT8",
            Self::Int16 => "INT16",
            Self::UInt8 => "UINT8",
            Self::Threshold(_) => "THRESHOLD",
        }
    }

    /// Whether decompressing gives back every bit.
    pub const fn is_lossless(self) -> bool {
        matches!(self, Self::Plain | Self::Gzip)
    }

    /// The dtype in which the elements are stored, for codecs that convert them, and its limits if it is an integer.
    fn narrow(self) -> Option<(DType, Option<(f64, f64)>)> {
        match self {
            Self::Float16 => Some((DType::F16, None)),
            Self::Int8 => Some((DType::I8, Some((-128.0, 127.0)))),
            Self::Int16 => Some((DType::I16, Some((-32768.0, 32767.0)))),
            Self::UInt8 => Some((DType::U8, Some((0.0, 255.0)))),
            Self::Plain | Self::Gzip | Self::Threshold(_) => None,
        }
    }
}

/// An array in compressed form, with what is needed to make the array of it again. A clone stays compressed.
#[derive(Clone, PartialEq)]
#[doc(alias = "CompressedDataBuffer")]
#[doc(alias = "CompressionDescriptor")]
pub struct Compressed {
    codec: Codec,
    dtype: DType,
    shape: Shape,
    order: Order,
    bytes: Vec<u8>,
}

impl Compressed {
    /// Compresses an array of any layout.
    ///
    /// # Errors
    /// [`SerdeErrorKind::Array`] when the array's memory may not be read, [`SerdeErrorKind::BadThreshold`] for a threshold that is
    /// not above 0.
    #[doc(alias = "compress")]
    #[track_caller]
    pub fn new(array: &NdArray, codec: Codec) -> Result<Self> {
        let here = Location::caller();
        // What is made on the way has no place in the caller's workspace.
        let made = scope_out(|| encode(array, codec)).called_at(here)?;
        Ok(Self {
            codec,
            dtype: array.dtype(),
            shape: array.shape().clone(),
            order: order_in_file(array),
            bytes: made,
        })
    }

    /// What a file says; whether the bytes fit is found out when they are decompressed.
    pub(crate) fn from_file(codec: Codec, elements: &Elements, bytes: Vec<u8>) -> Self {
        Self {
            codec,
            dtype: elements.dtype,
            shape: elements.layout.shape().clone(),
            order: elements.layout.order().unwrap_or(Order::C),
            bytes,
        }
    }

    /// The array, in its dtype, shape and order; in the thread's current workspace, if one is open.
    ///
    /// # Errors
    /// [`SerdeErrorKind::Damaged`], [`SerdeErrorKind::Truncated`] and the others that wrong bytes are found by, when they came from
    /// a file; [`SerdeErrorKind::Array`] when there is no memory.
    #[track_caller]
    pub fn decompress(&self) -> Result<NdArray> {
        let here = Location::caller();
        self.decode().called_at(here)
    }

    /// How the elements are stored.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// The dtype of the array.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape of the array.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The order of the array.
    pub fn order(&self) -> Order {
        self.order
    }

    /// What the codec made of the elements.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of the array for one byte here.
    pub fn ratio(&self) -> f64 {
        self.elements(self.dtype)
            .map_or(0, |elements| elements.bytes()) as f64
            / self.bytes.len().max(1) as f64
    }

    fn elements(&self, dtype: DType) -> Result<Elements> {
        let shape: Vec<u64> = self.shape.iter().map(|&size| size as u64).collect();
        Elements::new(dtype, &shape, self.order, Endian::Little)
    }

    fn decode(&self) -> Result<NdArray> {
        match self.codec {
            Codec::Plain => read_whole(
                &mut &self.bytes[..],
                self.bytes.len() as u64,
                &self.elements(self.dtype)?,
            ),
            Codec::Gzip => {
                let most = (self.bytes.len() as u64).saturating_mul(MAX_GROWTH);
                let mut decoder = GzDecoder::new(&self.bytes[..]);
                read_whole(&mut decoder, most, &self.elements(self.dtype)?)
            }
            Codec::Threshold(limit) => self.decode_threshold(limit),
            narrow => {
                let stored = narrow.narrow().map_or(self.dtype, |(dtype, _)| dtype);
                let elements = self.elements(stored)?;
                let length = self.bytes.len() as u64;
                let narrow = scope_out(|| read_whole(&mut &self.bytes[..], length, &elements))?;
                Ok(narrow.cast(self.dtype)?)
            }
        }
    }

    fn decode_threshold(&self, limit: f64) -> Result<NdArray> {
        let elements = self.elements(DType::F64)?;
        let count = elements.layout.elements();
        let hits = Hits::of(&self.bytes, count)?;
        let values = scope_out(|| -> Result<NdArray> {
            let values = NdArray::zeros_of(DType::F64, count)?;
            let mut view = values.view_mut::<f64>()?;
            hits.fill(view.as_mut_slice().unwrap_or_default(), limit)?;
            drop(view);
            Ok(values)
        })?;
        let dense = NdArray::from_buffer(values.buffer().clone(), elements.layout, DType::F64)?;
        Ok(dense.cast(self.dtype)?)
    }
}

impl fmt::Debug for Compressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (codec, dtype, shape) = (self.codec.name(), self.dtype, &self.shape);
        write!(
            f,
            "{dtype} {shape} as {codec} in {} bytes",
            self.bytes.len()
        )
    }
}

/// Reads elements that must be all there is.
fn read_whole(reader: &mut dyn std::io::Read, most: u64, elements: &Elements) -> Result<NdArray> {
    let mut source = Source::new(reader, Some(most));
    let array = source.array(elements)?;
    source.end()?;
    Ok(array)
}

fn encode(array: &NdArray, codec: Codec) -> Result<Vec<u8>> {
    check_rank(array.rank())?;
    readable("Compressed::new", array)?;
    let mut bytes = Vec::new();
    match codec {
        Codec::Plain => write_elements(&gapless(array)?, &mut bytes, |_| ())?,
        Codec::Gzip => {
            let mut encoder = GzEncoder::new(bytes, Compression::default());
            write_elements(&gapless(array)?, &mut encoder, |_| ())?;
            bytes = encoder.finish().while_doing("compress")?;
        }
        Codec::Threshold(limit) => return threshold::encode(array, limit),
        narrow => {
            let (dtype, limits) = narrow.narrow().unwrap_or((array.dtype(), None));
            // What is made of it stays in the order of the file.
            let array = gapless(array)?;
            let narrow = match limits {
                // Integers would wrap. Every one that the limits keep is exact in f64.
                Some((low, high)) if !array.dtype().is_float() => {
                    array.cast(DType::F64)?.clip(low, high)?.cast(dtype)?
                }
                // Floats end at the limits of an integer by themselves, and NaN becomes 0.
                _ => array.cast(dtype)?,
            };
            write_elements(&narrow, &mut bytes, |_| ())?;
        }
    }
    Ok(bytes)
}
