//! The ops of the crate, one file per subject. What every op must provide is the `Op` trait in `op`.

pub(crate) mod build;
pub(crate) mod elemwise;
pub(crate) mod elemwise_grad;
mod fused;
mod index;
mod join;
mod like;
mod linalg;
mod math;
mod reduce;
mod sequence;
mod sequence_rows;
mod shape;
mod softmax;

pub use elemwise::Elemwise;
pub use fused::{Fused, FusedStep};
pub use index::{JoinAxes, LinearIndex, NonZero, PlaceSubtensor, ScatterAdd, Subtensor, Take, WriteSubtensor};
pub use join::{Concat, ConcatPart, Diagonal, PlaceDiagonal, concat, one_hot, stack};
pub use like::{BroadcastLike, DropLod, ElementCount, LodLike, ShapeOf, SumTo};
pub use linalg::{Gemm, MatMul};
pub(crate) use linalg::is_float_matrix;
pub(crate) use index::spelled_out;
pub(crate) use shape::with_list;
pub use math::{add, div, exp, mul, neg, select, sub};
pub use reduce::{ArgReduce, Cumulative, Reduce};
pub use sequence::{
    SequencePool, SequencePoolGradient, SequenceReverse, SequenceSoftmax, SequenceWindows, SequenceWindowsAdjoint,
};
pub use sequence_rows::{
    SequenceExpand, SequenceExpandAdjoint, SequenceExpandAs, SequencePad, SequencePadLike, SequenceUnpad,
    SequenceUnpadLike,
};
pub use shape::{BroadcastTo, ExpandDims, Permute, Reshape, ReshapeLike, Squeeze};
pub use softmax::Softmax;
