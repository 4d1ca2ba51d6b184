//! The binary form of ND4J: what `Nd4j.write`, `Nd4j.saveBinary` and `Nd4j.toByteArray` make. Reading only.
//!
//! The stream is two blocks of numbers: the shape information (rank, shape, strides, offset, element stride, order), then the
//! elements. Each has its allocation mode as text, a count, the type as text and the numbers, all big-endian. Three generations
//! differ in the width of counts and shape: the modes `DIRECT`, `HEAP`, `JAVACPP` (32 bits), `LONG_SHAPE` and `MIXED_DATA_TYPES`
//! (64 bits); all are read.
//!
//! dtype, order and strides are kept as they are in the file: nothing is converted to a global dtype. Compressed arrays and arrays of
//! strings are refused by name.
//!
//! ```
//! use lodestride_serde::nd4j;
//!
//! # fn text(bytes: &mut Vec<u8>, text: &str) {
//! #     bytes.extend_from_slice(&(text.len() as u16).to_be_bytes());
//! #     bytes.extend_from_slice(text.as_bytes());
//! # }
//! # let mut stream = Vec::new();
//! # text(&mut stream, "MIXED_DATA_TYPES");
//! # stream.extend_from_slice(&8u64.to_be_bytes());
//! # text(&mut stream, "LONG");
//! # [2u64, 1, 2, 2, 1, 0, 1, 99].iter().for_each(|n| stream.extend_from_slice(&n.to_be_bytes()));
//! # text(&mut stream, "MIXED_DATA_TYPES");
//! # stream.extend_from_slice(&2u64.to_be_bytes());
//! # text(&mut stream, "FLOAT");
//! # [1.5f32, -2.0].iter().for_each(|x| stream.extend_from_slice(&x.to_be_bytes()));
//! // `stream` is what Java wrote: Nd4j.write(outputStream, Nd4j.create(new float[][] {{1.5f, -2}}))
//! let array = nd4j::read_from(&stream[..])?;
//! assert_eq!((&array.shape()[..], array.to_vec::<f32>()?), (&[1, 2][..], vec![1.5, -2.0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::Read;
use std::panic::Location;
use std::path::Path;

use lodestride_array::{DType, Layout, NdArray, Order, Strides};

use crate::error::{Format, Place, Result, SerdeError, SerdeErrorKind};
use crate::npy::open;
use crate::source::{Elements, Endian, MAX_RANK, Source};

/// Reads the array of a file that `Nd4j.saveBinary` or `Nd4j.write` made.
///
/// It is made in the thread's current workspace, if one is open.
///
/// # Errors
/// [`SerdeErrorKind::Io`], [`Magic`](SerdeErrorKind::Magic), [`Truncated`](SerdeErrorKind::Truncated),
/// [`Trailing`](SerdeErrorKind::Trailing), [`HeaderField`](SerdeErrorKind::HeaderField),
/// [`HeaderSyntax`](SerdeErrorKind::HeaderSyntax) for types that are no numbers, [`Array`](SerdeErrorKind::Array) for strides
/// that lead out of the data. No memory is asked for that the file could not fill.
///
/// ```no_run
/// let weights = lodestride_serde::nd4j::read("weights.bin")?;
/// # Ok::<(), lodestride_serde::SerdeError>(())
/// ```
#[doc(alias = "readBinary")]
#[track_caller]
pub fn read(path: impl AsRef<Path>) -> Result<NdArray> {
    fn read(path: &Path) -> Result<NdArray> {
        let (mut file, length) = open(path)?;
        // Headers are read in small pieces.
        let mut file = std::io::BufReader::new(&mut file);
        let mut source = Source::new(&mut file, length);
        let array = read_one(&mut source)?;
        source.end()?;
        Ok(array)
    }
    let (path, here) = (path.as_ref(), Location::caller());
    read(path).in_file(path).called_at(here)
}

/// Reads one array from a reader and leaves the reader just after it, so that several can follow each other.
///
/// # Errors
/// As [`read`], except that more data may follow.
#[doc(alias = "fromByteArray")]
#[track_caller]
pub fn read_from(mut reader: impl Read) -> Result<NdArray> {
    let here = Location::caller();
    read_one(&mut Source::new(&mut reader, None)).called_at(here)
}

fn read_one(source: &mut Source<'_>) -> Result<NdArray> {
    let shape = ShapeInformation::read(source)?;
    if shape.sizes.contains(&0) {
        // ND4J writes no elements of an empty array, and then no type of its own either.
        let elements = Elements::new(DType::F32, &shape.sizes, shape.order, Endian::Big)?;
        return source.array(&elements);
    }
    let block = Block::read(source)?;
    let dtype = block.element_type(source)?;
    let data = source.array(&Elements::new(
        dtype,
        &[block.count],
        Order::C,
        Endian::Big,
    )?)?;
    shape.over(source, &data)
}

/// What precedes the numbers of a block.
struct Block {
    name: String,
    count: u64,
}

impl Block {
    fn read(source: &mut Source<'_>) -> Result<Block> {
        let start = source.position();
        let mode = text(source)?;
        let count = match mode.as_str() {
            "DIRECT" | "HEAP" | "JAVACPP" => u64::from(u32::from_be_bytes(source.bytes(COUNT)?)),
            "LONG_SHAPE" | "MIXED_DATA_TYPES" => u64::from_be_bytes(source.bytes(COUNT)?),
            _ => {
                let kind = SerdeErrorKind::Magic {
                    format: Format::Nd4j,
                    found: mode.into_bytes(),
                };
                return Err(SerdeError::from(kind).at_byte(start));
            }
        };
        let name = text(source)?;
        Ok(Block { name, count })
    }

    fn element_type(&self, source: &Source<'_>) -> Result<DType> {
        Ok(match self.name.as_str() {
            "DOUBLE" => DType::F64,
            "FLOAT" => DType::F32,
            "HALF" | "FLOAT16" => DType::F16,
            "BFLOAT16" => DType::BF16,
            "LONG" | "INT64" => DType::I64,
            "INT" | "INT32" => DType::I32,
            "SHORT" | "INT16" => DType::I16,
            "BYTE" | "INT8" => DType::I8,
            "UBYTE" | "UINT8" => DType::U8,
            "UINT16" => DType::U16,
            "UINT32" => DType::U32,
            "UINT64" => DType::U64,
            "BOOL" => DType::Bool,
            _ => {
                let expected =
                    "a type of numbers (for COMPRESSED ones, save the decompressed array)";
                let found = format!("{:?}", self.name);
                return Err(source.fault(SerdeErrorKind::HeaderSyntax { expected, found }));
            }
        })
    }
}

const COUNT: &str = "the number of elements";

/// A text of Java: its length in two bytes, then UTF-8.
fn text(source: &mut Source<'_>) -> Result<String> {
    const LONGEST: u16 = 32;
    let start = source.position();
    let length: [u8; 2] = source.bytes("the length of a name")?;
    let count = u16::from_be_bytes(length);
    if count > LONGEST {
        let (format, found) = (Format::Nd4j, length.to_vec());
        return Err(SerdeError::from(SerdeErrorKind::Magic { format, found }).at_byte(start));
    }
    let bytes = source.vec(usize::from(count), "a name")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The first block.
struct ShapeInformation {
    sizes: Vec<u64>,
    strides: Vec<isize>,
    order: Order,
}

impl ShapeInformation {
    fn read(source: &mut Source<'_>) -> Result<ShapeInformation> {
        let block = Block::read(source)?;
        let dtype = block.element_type(source)?;
        if !matches!(dtype, DType::I32 | DType::I64) {
            return Err(field(
                source,
                "the type of the shape information",
                "INT or LONG",
                dtype as u64,
            ));
        }
        // Rank, shape, strides, offset (later: flags), element stride, order.
        let longest = (2 * MAX_RANK + 4) as u64;
        if block.count < 4 || block.count > longest {
            let expected = "4 to 132: twice the rank, and four";
            return Err(field(
                source,
                "the length of the shape information",
                expected,
                block.count,
            ));
        }
        let mut numbers = Vec::with_capacity(block.count as usize);
        for _ in 0..block.count {
            numbers.push(match dtype {
                DType::I32 => i64::from(i32::from_be_bytes(source.bytes(SHAPE)?)),
                _ => i64::from_be_bytes(source.bytes(SHAPE)?),
            });
        }
        let rank = (block.count as usize - 4) / 2;
        let [first, middle @ .., _, _, order] = &numbers[..] else {
            return Err(field(source, "the rank", "there", 0));
        };
        if *first != rank as i64 || middle.len() != 2 * rank {
            let found = first.cast_unsigned();
            return Err(field(
                source,
                "the rank",
                "what the length of the shape information says",
                found,
            ));
        }
        let mut sizes = Vec::with_capacity(rank);
        for &size in &middle[..rank] {
            let size = u64::try_from(size)
                .map_err(|_| field(source, "a size", "no negative number", size.cast_unsigned()))?;
            sizes.push(size);
        }
        let strides = middle[rank..].iter().map(|&stride| stride as isize);
        Ok(ShapeInformation {
            sizes,
            strides: strides.collect(),
            order: match order {
                99 => Order::C,
                102 => Order::F,
                _ => {
                    let expected = "99 or 102, the letters c and f";
                    return Err(field(source, "the order", expected, order.cast_unsigned()));
                }
            },
        })
    }

    /// The array that this information shows of the elements.
    fn over(self, source: &Source<'_>, data: &NdArray) -> Result<NdArray> {
        let elements = Elements::new(data.dtype(), &self.sizes, self.order, Endian::NATIVE)?;
        let (dense, dtype) = (elements.layout, data.dtype());
        if dense.elements() != data.len() {
            let found = data.len() as u64;
            return Err(field(source, COUNT, "the product of the shape", found));
        }
        // An array that was transposed or permuted is written as it lies in memory: its strides say where the elements are.
        let strides = Strides::from_slice(&self.strides);
        let layout = Layout::new(dense.shape().clone(), strides, 0).ok();
        let Some(layout) = layout.filter(|layout| layout.fits(data.len())) else {
            let expected = "strides that stay inside the elements";
            let found = format!("{:?} for shape {:?}", self.strides, self.sizes);
            return Err(source.fault(SerdeErrorKind::HeaderSyntax { expected, found }));
        };
        Ok(NdArray::from_buffer(data.buffer().clone(), layout, dtype)?)
    }
}

const SHAPE: &str = "the shape information";

#[cold]
fn field(
    source: &Source<'_>,
    field: &'static str,
    expected: &'static str,
    found: u64,
) -> SerdeError {
    source.fault(SerdeErrorKind::HeaderField {
        field,
        expected,
        found,
    })
}
