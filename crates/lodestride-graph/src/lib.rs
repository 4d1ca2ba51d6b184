//! Symbolic graphs in the manner of Theano: build, differentiate, optimise, run.
#![forbid(unsafe_code)]

mod apply;
mod constant;
mod constructors;
mod edit;
mod error;
mod executor;
mod fgraph;
mod function;
mod grad;
pub mod op;
mod operators;
pub mod ops;
mod print;
mod rewrite;
mod same_shape;
mod shared;
mod toposort;
mod ty;
mod value;
mod variable;

pub use apply::Apply;
pub use constant::Constant;
pub use constructors::*;
pub use error::{GraphError, GraphErrorKind, Names, Result, Span, Types};
pub use executor::Executor;
pub use fgraph::{Client, FunctionGraph, NodeId, ValueId};
pub use function::{Builder, Function, Unused, compile};
pub use grad::{Disconnected, disconnected, grad, grad_with};
pub use lodestride_array::DType;
pub use op::{Op, OpRef};
pub use print::debugprint;
pub use rewrite::{Applied, Mode, Soundness};
pub use shared::{Shared, shared, shared_of};
pub use ty::{Dim, Dims, LodType, TensorType, Type};
pub use value::Value;
pub use variable::Variable;
