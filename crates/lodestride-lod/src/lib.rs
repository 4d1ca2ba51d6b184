//! LoD tensors: nested variable-length sequences in one batch, without padding.
#![forbid(unsafe_code)]

mod display;
mod error;
mod lengths;
mod level;
mod lod;
mod plan;
mod restructure;

pub use error::{LodError, LodErrorKind, Result, SequenceArgument};
pub use lengths::{Lengths, Offsets};
pub use lod::Lod;
pub use plan::Join;
pub use restructure::Selection;
