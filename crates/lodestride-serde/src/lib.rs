//! File formats for arrays and LoD tensors: native binary, npy, npz.
#![forbid(unsafe_code)]

mod error;
pub mod npy;
mod sink;
mod source;
mod staged;

pub use lodestride_array::{DType, NdArray, Order};
pub use lodestride_lod::{Lod, LodTensor};

pub use error::{Format, Result, SerdeError, SerdeErrorKind, TypeReason};
pub use staged::StagedFile;
