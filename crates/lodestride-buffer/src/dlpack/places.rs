//! Which places in memory a shape and strides name, and why a tensor is refused.

use thiserror::Error;

use crate::dtype::DType;
use crate::error::{AccessError, AllocError};

/// Where a tensor's elements lie in the buffer that was made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DlPlaces {
    /// Type of the elements.
    pub dtype: DType,
    /// Sizes of the axes.
    pub shape: Vec<usize>,
    /// Elements from one position of an axis to the next.
    pub strides: Vec<isize>,
    /// The first element's number in the buffer.
    pub offset: usize,
}

/// Why a tensor cannot change hands.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DlPackError {
    /// The array is stale or in use.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// Memory could not be had.
    #[error(transparent)]
    Alloc(#[from] AllocError),
    /// The structure is of a later major version.
    #[error("a tensor of DLPack {major}, versions up to 1 are known")]
    Version {
        /// Its major number.
        major: u32,
    },
    /// The elements are not in memory of the processor.
    #[error(
        "a tensor on a device of DLPack's kind {kind}, only 1, the processor, is known\n  help: copy it to the processor first"
    )]
    Device {
        /// The device's kind.
        kind: i32,
    },
    /// There is no such element type here.
    #[error("elements of {lanes} x {bits} bits of DLPack's kind {code} have no dtype")]
    ElementType {
        /// DLPack's number for the kind.
        code: u8,
        /// Bits of one number.
        bits: u8,
        /// Numbers in an element.
        lanes: u16,
    },
    /// Sizes and strides that name no places in memory.
    #[error("a tensor of shape {shape:?} and strides {strides:?} names no places in memory")]
    Places {
        /// The sizes.
        shape: Vec<i64>,
        /// The strides in elements, empty where they are left out.
        strides: Vec<i64>,
    },
}

/// The strides of a tensor that leaves them out.
pub(super) fn in_c_order(shape: &[i64]) -> Option<Vec<i64>> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = shape[axis].max(1).checked_mul(strides[axis])?;
    }
    Some(strides)
}

/// The lowest and the highest element, counted from the first; no pair of a tensor without elements, nothing of one that
/// cannot be counted.
pub(super) fn reach(shape: &[i64], strides: &[i64]) -> Option<Option<(i64, i64)>> {
    if shape.iter().any(|&size| size < 0) {
        return None;
    }
    if shape.contains(&0) {
        return Some(None);
    }
    let (mut low, mut high) = (0_i64, 0_i64);
    for (&size, &stride) in shape.iter().zip(strides) {
        let last = (size - 1).checked_mul(stride)?;
        let end = if last < 0 { &mut low } else { &mut high };
        *end = end.checked_add(last)?;
    }
    Some(Some((low, high)))
}
