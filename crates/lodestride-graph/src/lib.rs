//! Symbolic graphs in the manner of Theano: build, differentiate, optimise, run.
//!
//! Expressions are written with operators and methods on [`Variable`]s; nothing is computed until a [`Function`] is
//! compiled from them. Compiling takes milliseconds and needs no other compiler: the graph is copied, equal parts are
//! merged, naive formulas become stable ones, elementwise regions become register programs over the kernels, and all
//! intermediate results get a place in one workspace. A second call with the same shapes allocates only its outputs.
//!
//! ```
//! use lodestride_array::NdArray;
//! use lodestride_graph::{compile, dmatrix, dvector, grad};
//!
//! let (x, w) = (dmatrix("x"), dvector("w"));
//! let cost = (1.0 + (-x.dot(&w)?).exp()?).log()?.mean(..)?; // naive, and safe all the same
//! let slope = grad(&cost, &[&w])?.remove(0);
//! let f = compile(&[&x, &w], &[&cost, &slope])?;
//!
//! let rows = NdArray::from([[1000.0f64, 0.0], [0.0, 1.0]]);
//! let weights = NdArray::from([1.0f64, 0.0]);
//! let results = f.call([&rows, &weights])?;
//! assert_eq!(results[0].array().item::<f64>()?, 2f64.ln() / 2.0);
//! assert_eq!(results[1].array().to_vec::<f64>()?, [0.0, -0.25]);
//! # Ok::<(), lodestride_graph::GraphError>(())
//! ```
//!
//! # The words
//!
//! | word | what it is |
//! |---|---|
//! | [`Type`] | what a variable may hold: dtype, lengths (known, unknown, named), LoD levels |
//! | [`Variable`] | a value in the graph: an input, a constant, a [`Shared`] value, or the output of an apply node |
//! | [`Constant`] | a variable with a value; literals are wrapped by themselves and adopt the dtype of what they meet |
//! | [`Op`] | a function on values; open to your own |
//! | [`Apply`] | an op applied to variables: `owner`, `inputs`, `outputs` |
//! | [`FunctionGraph`] | the compiler's copy: clients, order, replacement |
//! | [`Function`] | what you call; [`Executor`] is Fluid's way to do it, by feed and fetch |
//!
//! # Rules
//!
//! * **Errors come when the expression is written**, with the operands' types and your source line; what only a call can
//!   know (lengths declared unknown) is an error of the call that names the same line.
//! * **Ragged batches are values like any other.** Elementwise ops and matrix products keep the sequences; ops over
//!   sequences pool, reverse, expand and pad them, all with gradients.
//! * **Gradients are graphs.** [`grad`] stabilises the cost first, then differentiates, so that naive formulas have finite
//!   slopes. Ops without a slope (rounding, comparisons) give zeros; variables the cost does not depend on are an error,
//!   or zeros if asked.
//! * **Ties share**: where several elements are the maximum, each gets an equal part of the gradient.
//! * **Every rewrite has a soundness class** ([`Soundness`]); [`Mode::strict`] keeps to those that give the same bits for
//!   every input. `x == x` is never folded for floats.
//! * Outputs never share memory with inputs. They are allocated in the caller's workspace if one is open.
//! * A literal is weak: `f32 + 1.5` is f32. An integer literal that does not fit the dtype it would adopt is an error.
//!
//! Nothing here recurses over a graph: a chain of 100,000 nodes is built, differentiated, printed and dropped on a small
//! stack.
#![forbid(unsafe_code)]

mod apply;
mod constant;
mod constructors;
mod edit;
mod error;
mod executor;
mod feed;
mod fgraph;
mod function;
mod grad;
mod hash;
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
pub use feed::Feed;
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
