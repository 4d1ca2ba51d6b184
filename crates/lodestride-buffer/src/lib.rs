//! Bytes, who may touch them, and what they mean: dtypes, buffers with access guards, workspaces.

mod access;
mod arena;
mod block;
mod buffer;
mod cache;
mod create;
mod dtype;
mod error;
pub mod memory;
mod pin;
mod plan;
mod query;
mod scalar;
mod scope;
mod sync;
mod workspace;

pub use access::Holder;
pub use buffer::{Buffer, ReadGuard, WriteGuard};
pub use dtype::{Bool, DType, Element, UnknownDType, with_default_dtype};
pub use error::{
    AccessError, AllocError, Argument, BusyAccess, FullWorkspace, StaleAccess, WorkspaceError,
};
pub use half::{bf16, f16};
pub use plan::{
    AllocationPolicy, LearningPolicy, ResetPolicy, SpillPolicy, WorkspaceConfig, WorkspacePlan,
};
pub use scalar::{HostType, Scalar, ScalarKind};
pub use scope::{WorkspaceGuard, current_workspace, open_workspaces, parent_workspace, scope_out};
pub use workspace::{Workspace, WorkspaceName, WorkspaceStats};
