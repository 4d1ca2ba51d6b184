//! Strided arrays with a run-time dtype, workspaces that catch every stale array, ragged batches without padding, and a
//! graph compiler: one stack. This crate re-exports the others under the names below and holds no code of its own.
//!
//! | module | what it is | crate |
//! |---|---|---|
//! | [`mod@array`] | [`NdArray`](array::NdArray): views that share memory, in-place ops, workspaces | `lodestride-array` |
//! | [`lod`] | [`LodTensor`](lod::LodTensor): nested sequences of any length in one batch | `lodestride-lod` |
//! | [`graph`] | [`Variable`](graph::Variable), [`Apply`](graph::Apply), gradients, compiled functions | `lodestride-graph` |
//! | [`serde`] | npy, npz and native files | `lodestride-serde` |
//! | [`buffer`], [`shape`] | memory and its guards; shapes, strides, indexing | `lodestride-buffer`, `lodestride-shape` |
//!
//! ```
//! use lodestride::prelude::*;
//!
//! let a = NdArray::arange(0, 12, 1)?.reshape([3, 4])?;
//! a.row(0)?.addi(100)?; // a row is a view: the matrix changes
//! assert_eq!(a.sum(0)?.to_vec::<f32>()?, [112.0, 115.0, 118.0, 121.0]);
//! # Ok::<(), lodestride::Error>(())
//! ```
#![forbid(unsafe_code)]

mod error;
pub mod prelude;

pub use error::{Error, Result};
pub use lodestride_array as array;
pub use lodestride_buffer as buffer;
pub use lodestride_graph as graph;
pub use lodestride_lod as lod;
pub use lodestride_serde as serde;
pub use lodestride_shape as shape;

/// The programs of the README, so that they are doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}

/// The programs of the cookbooks.
#[cfg(doctest)]
mod cookbook {
    #[doc = include_str!("../../../docs/cookbook/nd4j.md")]
    mod nd4j {}
    #[doc = include_str!("../../../docs/cookbook/numpy.md")]
    mod numpy {}
}
