//! Reading with care: a counted byte source that knows what it can still hold, and fills arrays from it.
//!
//! Every size that comes from a file is checked here before memory is asked for. The formats themselves are in `npy`, `npz` and
//! `native`.

use std::io::{self, Read};

use crc32fast::Hasher;
use lodestride_array::{
    AccessError, Argument, ArrayError, ArrayErrorKind, ArraySummary, DType, Layout, NdArray, Order,
    Shape,
};

use crate::error::{Result, SerdeError, SerdeErrorKind};

/// Most axes an array in a file may have; NumPy's own limit.
pub(crate) const MAX_RANK: usize = 64;

/// Bytes are read in pieces of this size, small enough to be still in cache when they are checked.
const PIECE: usize = 256 << 10;

/// When nobody knows how much data there is, this much is believed without proof.
const UNPROVEN: usize = 1 << 20;

/// Beyond that a claim is believed when one part in so many has come.
const BELIEF: usize = 64;

/// The part of a file that errors name most.
const ELEMENTS: &str = "the block of elements";

/// Byte order of numbers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

impl Endian {
    pub(crate) const NATIVE: Self = if cfg!(target_endian = "big") {
        Self::Big
    } else {
        Self::Little
    };
}

/// What the header of a file says about the elements that follow.
#[derive(Clone, Debug)]
pub(crate) struct Elements {
    pub(crate) dtype: DType,
    pub(crate) layout: Layout,
    pub(crate) endian: Endian,
}

impl Elements {
    /// Checks that the numbers of a file can be a shape, and that memory could hold it.
    pub(crate) fn new(dtype: DType, shape: &[u64], order: Order, endian: Endian) -> Result<Self> {
        check_rank(shape.len())?;
        let too_large = || SerdeErrorKind::TooLarge {
            shape: shape.to_vec(),
            dtype,
        };
        let sizes: Option<Vec<usize>> = shape
            .iter()
            .map(|&size| usize::try_from(size).ok())
            .collect();
        let sizes = Shape::from(sizes.ok_or_else(too_large)?);
        let layout = Layout::contiguous(sizes, order).map_err(|_| too_large())?;
        let bytes = layout.elements().checked_mul(dtype.size());
        if bytes.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
            return Err(too_large().into());
        }
        Ok(Self {
            dtype,
            layout,
            endian,
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.layout.elements() * self.dtype.size()
    }

    /// An array for them whose contents do not matter yet, in the thread's current workspace if one is open.
    fn allocate(&self) -> Result<NdArray> {
        let array = NdArray::recycled(self.dtype, self.layout.shape())?;
        let buffer = array.buffer().clone();
        Ok(NdArray::from_buffer(
            buffer,
            self.layout.clone(),
            self.dtype,
        )?)
    }

    /// Whether these bytes of a file are elements of this machine as they are.
    pub(crate) fn lie_as_in_memory(&self, bytes: &[u8]) -> bool {
        (self.endian == Endian::NATIVE || self.dtype.size() == 1)
            && (self.dtype != DType::Bool || bytes.iter().all(|&byte| byte <= 1))
    }

    /// Makes the bytes of whole elements as the file has them into elements of this machine.
    fn settle(&self, bytes: &mut [u8]) {
        if self.endian != Endian::NATIVE {
            swap_bytes(bytes, self.dtype.size());
        }
        if self.dtype == DType::Bool {
            normalise_bools(bytes);
        }
    }
}

/// Refuses more axes than a file may have.
pub(crate) fn check_rank(found: usize) -> Result<()> {
    if found > MAX_RANK {
        let limit = MAX_RANK;
        return Err(SerdeErrorKind::Rank { found, limit }.into());
    }
    Ok(())
}

/// Reverses the bytes of every element.
pub(crate) fn swap_bytes(bytes: &mut [u8], size: usize) {
    // A known size lets the compiler use byte shuffles.
    fn swap<const SIZE: usize>(bytes: &mut [u8]) {
        bytes
            .as_chunks_mut::<SIZE>()
            .0
            .iter_mut()
            .for_each(|element| element.reverse());
    }
    match size {
        2 => swap::<2>(bytes),
        4 => swap::<4>(bytes),
        8 => swap::<8>(bytes),
        _ => {}
    }
}

/// Any byte but 0 means true, in files as in arrays; everyone else is spared the difference.
pub(crate) fn normalise_bools(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = u8::from(*byte != 0);
    }
}

/// A reader with a position and, where it can be known, the number of bytes that are left.
pub(crate) struct Source<'r> {
    reader: &'r mut dyn Read,
    position: u64,
    left: Option<u64>,
    checksum: Option<Hasher>,
}

impl<'r> Source<'r> {
    /// `left` is an upper bound of what the reader can give, `None` when there is no way to know.
    pub(crate) fn new(reader: &'r mut dyn Read, left: Option<u64>) -> Self {
        Self {
            reader,
            position: 0,
            left,
            checksum: None,
        }
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The same source, which begins at this byte of its file.
    pub(crate) fn starting_at(mut self, position: u64) -> Self {
        self.position = position;
        self
    }

    /// Where the elements begin that come next, after which nothing may follow but `after` bytes.
    pub(crate) fn locate(&self, elements: &Elements, after: u64) -> Result<u64> {
        let bytes = (elements.bytes() as u64).saturating_add(after);
        self.claim(bytes, ELEMENTS)?;
        let end = self.position.saturating_add(bytes);
        match self.left {
            Some(left) if left > bytes => {
                Err(SerdeError::from(SerdeErrorKind::Trailing { end }).at_byte(end))
            }
            _ => Ok(self.position),
        }
    }

    /// Starts a checksum over everything read from here on.
    pub(crate) fn start_checksum(&mut self) {
        self.checksum = Some(Hasher::new());
    }

    /// The checksum of what was read since it was started.
    pub(crate) fn take_checksum(&mut self) -> u32 {
        self.checksum.take().map_or(0, Hasher::finalize)
    }

    /// An error that points at the current position.
    pub(crate) fn fault(&self, kind: SerdeErrorKind) -> SerdeError {
        SerdeError::from(kind).at_byte(self.position)
    }

    /// Fails when the reader cannot hold that many bytes more. Called before memory for them is asked for.
    pub(crate) fn claim(&self, bytes: u64, what: &'static str) -> Result<()> {
        match self.left {
            Some(found) if found < bytes => Err(self.fault(SerdeErrorKind::Truncated {
                what,
                expected: bytes,
                found,
            })),
            _ => Ok(()),
        }
    }

    /// Fills `into`, or says how much was missing.
    pub(crate) fn fill(&mut self, into: &mut [u8], what: &'static str) -> Result<()> {
        let mut done = 0;
        while done < into.len() {
            match self.reader.read(&mut into[done..]) {
                Ok(0) => {
                    let (expected, found) = (into.len() as u64, done as u64);
                    return Err(self.fault(SerdeErrorKind::Truncated {
                        what,
                        expected,
                        found,
                    }));
                }
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error, what, &into[done..], done)),
            }
        }
        self.position += into.len() as u64;
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(into.len() as u64);
        }
        if let Some(checksum) = &mut self.checksum {
            checksum.update(into);
        }
        Ok(())
    }

    fn failed(
        &self,
        source: io::Error,
        what: &'static str,
        missing: &[u8],
        done: usize,
    ) -> SerdeError {
        self.fault(match source.kind() {
            // A decompressor that runs out of input.
            io::ErrorKind::UnexpectedEof => SerdeErrorKind::Truncated {
                what,
                expected: (done + missing.len()) as u64,
                found: done as u64,
            },
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                SerdeErrorKind::Damaged { source }
            }
            _ => SerdeErrorKind::Io {
                action: "read",
                source,
            },
        })
    }

    /// Reads a few bytes.
    pub(crate) fn bytes<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    /// Reads that many bytes into a vector that grows no faster than the data comes.
    pub(crate) fn vec(&mut self, count: usize, what: &'static str) -> Result<Vec<u8>> {
        self.claim(count as u64, what)?;
        let mut bytes = Vec::new();
        while bytes.len() < count {
            let start = bytes.len();
            let proven = if self.left.is_some() { count } else { UNPROVEN };
            let more = (count - start).min(start.max(proven));
            if bytes.try_reserve_exact(more).is_err() {
                return Err(self.fault(SerdeErrorKind::Memory {
                    bytes: (start + more) as u64,
                }));
            }
            bytes.resize(start + more, 0);
            for piece in bytes[start..].chunks_mut(PIECE) {
                self.fill(piece, what)?;
            }
        }
        Ok(bytes)
    }

    /// Reads the elements into a new array, as bytes.
    pub(crate) fn array(&mut self, elements: &Elements) -> Result<NdArray> {
        let bytes = elements.bytes();
        self.claim(bytes as u64, ELEMENTS)?;
        // Of a source without a length a part must have come before memory for the whole is asked for.
        let part = if self.left.is_none() && bytes > UNPROVEN {
            (bytes / BELIEF).max(UNPROVEN).next_multiple_of(64)
        } else {
            0
        };
        let mut first = self.vec(part.min(bytes), ELEMENTS)?;
        elements.settle(&mut first);
        let array = elements.allocate()?;
        let mut guard = (array.buffer().write()).map_err(|error| denied("read", error, &array))?;
        let (head, rest) = guard.bytes_mut()[..bytes].split_at_mut(first.len());
        head.copy_from_slice(&first);
        for piece in rest.chunks_mut(PIECE) {
            self.fill(piece, ELEMENTS)?;
            elements.settle(piece);
        }
        drop(guard);
        Ok(array)
    }

    /// Fails when there is anything left. For archives this is also what makes the checksum count.
    pub(crate) fn end(&mut self) -> Result<()> {
        let mut byte = [0; 1];
        loop {
            match self.reader.read(&mut byte) {
                Ok(0) => return Ok(()),
                Ok(_) => {
                    let end = self.position;
                    return Err(self.fault(SerdeErrorKind::Trailing { end }));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error, "the end", &byte, 0)),
            }
        }
    }
}

/// The error of an array whose memory may not be touched.
pub(crate) fn denied(op: &'static str, source: AccessError, array: &NdArray) -> SerdeError {
    ArrayError::new(ArrayErrorKind::Access {
        op,
        argument: Argument::X,
        source,
        array: ArraySummary::of(array),
    })
    .into()
}
