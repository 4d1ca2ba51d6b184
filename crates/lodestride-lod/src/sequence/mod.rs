//! The sequence ops: what Fluid calls `sequence_*`, at every level, with their gradients.
//!
//! Every op takes the level it works on; `-1` is the last one, as in Fluid. Empty sequences, zero sequences and batches
//! of nothing but empty sequences are ordinary input. An op that keeps the rows keeps the LoD, one that makes one row
//! out of a sequence keeps the levels above it.
//!
//! | Op | What it does | Gradient |
//! |---|---|---|
//! | [`expand`] | repeats whole sequences by the lengths of another LoD | [`expand_grad`] |
//! | [`expand_as`] | gives each row to all rows of a sequence | [`expand_as_grad`] |
//! | [`repeat`] | repeats whole sequences by given counts | [`repeat_grad`] |
//! | [`pool`], [`first_step`], [`last_step`] | one row out of each sequence | [`pool_grad`] |
//! | [`softmax`] | normalises inside each sequence | [`softmax_grad`] |
//! | [`reverse`] | turns the order inside each sequence round | [`reverse_grad`] |
//! | [`context`], [`conv`], [`row_conv`] | windows over the neighbours of each row | [`context_grad`], [`conv_grad`], [`row_conv_grad`] |
//! | [`pad`], [`unpad`] | to one rectangular array and back | [`pad_grad`], [`unpad_grad`] |
//! | [`concat()`] | joins batches sequence by sequence | [`concat_grad`] |
//! | [`slice()`] | cuts a part out of each sequence | [`slice_grad`] |
//! | [`take`] | picks and orders whole sequences | [`take_grad`] |
//! | [`to_steps`], [`from_steps`] | step by step, longest sequence first, and back | each is the other's |
//! | [`reshape`] | trades row width against row count | [`reshape_grad`] |
//! | [`scatter`] | adds updates at positions named by sequences | [`scatter_grad`] |
//! | [`enumerate`], [`erase`], [`edit_distance`], [`mask`] | work on token ids and lengths | none |
//!
//! A gradient function takes the inputs of its op and the gradient of its output, and gives the gradient of each input.

mod context;
mod distance;
mod expand;
mod ids;
mod joining;
mod pad;
mod pool;
mod reshape;
mod row_conv;
mod softmax;
mod steps;

pub use context::{ConvGrad, Window, context, context_grad, conv, conv_grad};
pub use distance::edit_distance;
pub use expand::{expand, expand_as, expand_as_grad, expand_grad, repeat, repeat_grad};
pub use ids::{counts, enumerate, erase, mask, scatter, scatter_grad};
pub use joining::{concat, concat_grad, reverse, reverse_grad, slice, slice_grad, take, take_grad};
pub use pad::{Padded, pad, pad_grad, unpad, unpad_grad};
pub use pool::{PoolKind, first_step, last_step, pool, pool_grad, pool_with_index};
pub use reshape::{reshape, reshape_grad};
pub use row_conv::{row_conv, row_conv_grad};
pub use softmax::{softmax, softmax_grad};
pub use steps::{Steps, from_steps, to_steps};
