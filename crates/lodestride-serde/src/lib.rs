//! File formats for arrays and LoD tensors: native binary, npy, npz.
#![forbid(unsafe_code)]

mod error;
pub mod npy;
pub mod npz;
mod sink;
mod source;
mod staged;
mod stored;

pub use lodestride_array::{DType, NdArray, Order};
pub use lodestride_lod::{Lod, LodTensor};

pub use error::{Format, Result, SerdeError, SerdeErrorKind, TypeReason};
pub use staged::StagedFile;
pub use stored::{Stored, StoredRef};
