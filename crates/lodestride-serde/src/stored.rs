//! What a file can hold: an array, or an array with a LoD. The formats that can hold either take and return these.

use lodestride_array::NdArray;
use lodestride_lod::{Lod, LodTensor};

use crate::error::{Result, SerdeErrorKind};

/// A value read from a file that may hold a plain array or a LoD tensor.
///
/// ```
/// use lodestride_serde::{NdArray, native};
///
/// let mut bytes = Vec::new();
/// native::write_to(&mut bytes, &NdArray::from([1u8, 2, 3]))?;
/// let array = native::read_from(&bytes[..])?.into_array()?;
/// assert_eq!(array.to_vec::<u8>()?, [1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum Stored {
    /// A plain array.
    Array(NdArray),
    /// An array whose rows are grouped.
    Lod(LodTensor),
}

impl Stored {
    /// The elements, in both cases.
    pub fn data(&self) -> &NdArray {
        match self {
            Self::Array(array) => array,
            Self::Lod(tensor) => tensor.data(),
        }
    }

    /// The array.
    ///
    /// # Errors
    /// [`SerdeErrorKind::HasLod`] when the rows are grouped: that is not silently given up.
    #[track_caller]
    pub fn into_array(self) -> Result<NdArray> {
        match self {
            Self::Array(array) => Ok(array),
            Self::Lod(tensor) if tensor.lod_level() == 0 => Ok(tensor.into_data()),
            Self::Lod(tensor) => Err(SerdeErrorKind::HasLod {
                depth: tensor.lod_level(),
            }
            .into()),
        }
    }

    /// The LoD tensor; a plain array becomes one with no level.
    ///
    /// # Errors
    /// None so far; the signature leaves room for it.
    #[track_caller]
    pub fn into_lod_tensor(self) -> Result<LodTensor> {
        match self {
            Self::Array(array) => Ok(LodTensor::new(array, Lod::none())?),
            Self::Lod(tensor) => Ok(tensor),
        }
    }
}

/// A value to be written: anything that [`Stored`] can hold, borrowed.
#[derive(Clone, Copy, Debug)]
pub enum StoredRef<'a> {
    /// A plain array.
    Array(&'a NdArray),
    /// An array whose rows are grouped.
    Lod(&'a LodTensor),
}

impl<'a> StoredRef<'a> {
    pub(crate) fn data(self) -> &'a NdArray {
        match self {
            Self::Array(array) => array,
            Self::Lod(tensor) => tensor.data(),
        }
    }

    pub(crate) fn lod(self) -> Option<&'a Lod> {
        match self {
            Self::Array(_) => None,
            Self::Lod(tensor) => Some(tensor.lod()),
        }
    }
}

impl<'a> From<&'a NdArray> for StoredRef<'a> {
    fn from(array: &'a NdArray) -> Self {
        Self::Array(array)
    }
}

impl<'a> From<&'a LodTensor> for StoredRef<'a> {
    fn from(tensor: &'a LodTensor) -> Self {
        Self::Lod(tensor)
    }
}

impl<'a> From<&'a Stored> for StoredRef<'a> {
    fn from(stored: &'a Stored) -> Self {
        match stored {
            Stored::Array(array) => Self::Array(array),
            Stored::Lod(tensor) => Self::Lod(tensor),
        }
    }
}
