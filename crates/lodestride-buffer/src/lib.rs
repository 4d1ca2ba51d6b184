//! Bytes, who may touch them, and what they mean: dtypes, buffers with access guards, workspaces.

mod access;
mod dtype;
mod pin;
mod scalar;
mod sync;

pub use access::Holder;
pub use dtype::{Bool, DType, Element, UnknownDType, with_default_dtype};
pub use half::{bf16, f16};
pub use scalar::{HostType, Scalar, ScalarKind};
