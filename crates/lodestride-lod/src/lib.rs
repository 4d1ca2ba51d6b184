//! LoD tensors: nested variable-length sequences in one batch, without padding.
#![forbid(unsafe_code)]

mod display;
mod error;
mod lengths;
mod level;
mod lists;
mod lod;
mod plan;
mod print;
mod restructure;
mod rows;
pub mod sequence;
mod tensor;

pub use lodestride_array::{self as array, DType, HostType, NdArray, Scalar, Shape, s};

pub use error::{LodError, LodErrorKind, Result, SequenceArgument};
pub use lengths::{Lengths, Offsets};
pub use lists::RaggedList;
pub use lod::Lod;
pub use plan::Join;
pub use restructure::Selection;
pub use tensor::LodTensor;
