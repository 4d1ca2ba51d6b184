//! The names that most programs use, 25 at most: `use lodestride::prelude::*;`.

pub use crate::array::{
    DType, NdArray, Order, Workspace, WorkspaceConfig, all, interval, keep, memory, new_axis,
    point, s, scope_out,
};
pub use crate::graph::{Executor, Function, Value, Variable, grad, shared};
pub use crate::lod::{Lengths, Lod, LodTensor, Offsets, sequence};
