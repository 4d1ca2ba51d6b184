//! One error for programs that use several layers: the sum of the crates' own errors, which say what happened.

use lodestride_array::{AccessError, ArrayError, ShapeError, WorkspaceError};
use lodestride_graph::GraphError;
use lodestride_lod::LodError;
use lodestride_serde::SerdeError;

/// What any layer of lodestride can report; the text is that of the layer.
///
/// ```
/// use lodestride::prelude::*;
///
/// fn total() -> lodestride::Result<f64> {
///     let batch = LodTensor::new(NdArray::ones([4, 1])?, Lengths::from([[1, 3]]))?;
///     Ok(batch.data().sum_number()?)
/// }
/// assert_eq!(total()?, 4.0);
/// # Ok::<(), lodestride::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Arrays: shapes, dtypes, indices, stale or contested memory.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// Ragged batches: levels that do not add up, sequence operations.
    #[error(transparent)]
    Lod(#[from] LodError),
    /// Graphs: building, differentiating, compiling, calling.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// Files.
    #[error(transparent)]
    Serde(#[from] SerdeError),
    /// Opening and closing workspaces.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// Memory opened directly through its guards.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// Shapes and layouts used on their own.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

/// What fallible functions of programs return.
pub type Result<T, E = Error> = std::result::Result<T, E>;
