//! LoD tensors: nested variable-length sequences in one batch, without padding.
//!
//! A batch of three sentences of 3, 1 and 2 words is one array of 6 rows and the lengths `[3, 1, 2]`; a batch of texts
//! of sentences has one more level, and so on. [`Lod`] is that nesting, [`LodTensor`] an [`NdArray`] that carries one,
//! and [`sequence`] has the ops over it, at any level, with their gradients. Empty sequences, batches of empty texts and
//! batches of nothing are ordinary values, and every mistake is a [`LodError`] with the level, the index and both
//! numbers.
//!
//! ```
//! use lodestride_lod::{LodTensor, NdArray, lengths, sequence, sequence::PoolKind};
//!
//! // Two texts: one of two sentences (2 words and 1 word), one of a single sentence of 3 words.
//! let words = NdArray::from([[1.0f32, 8.0], [3.0, 6.0], [5.0, 5.0], [7.0, 2.0], [9.0, 0.0], [8.0, 1.0]]);
//! let texts = LodTensor::new(words, lengths![[2, 1], [2, 1, 3]])?;
//! assert_eq!(texts.to_string(), "\
//! 2 * var * var * f32[2]
//! ├─ 0:
//! │  ├─ 0: [1 8] [3 6]
//! │  └─ 1: [5 5]
//! └─ 1:
//!    └─ 2: [7 2] [9 0] [8 1]");
//!
//! let sentences = sequence::pool(&texts, PoolKind::Average, -1, 0.0)?; // one row a sentence, still grouped by text
//! assert_eq!(sentences.data().to_vec::<f32>()?, [2.0, 7.0,  5.0, 5.0,  8.0, 1.0]);
//! assert_eq!(sentences.recursive_sequence_lengths(), lengths![[2, 1]]);
//! # Ok::<(), lodestride_lod::LodError>(())
//! ```
//!
//! # Find your way
//!
//! | You want | Write |
//! |---|---|
//! | a LoD | [`Lod::from_lengths`], [`Lod::from_offsets`], [`Lod::from_row_ids`], [`Lod::uniform`] |
//! | a batch | [`LodTensor::new`] with an array, [`LodTensor::from_lists`] with nested lists, [`LodTensor::from_sequences`] |
//! | both written forms | [`lengths!`], [`offsets!`], [`Lod::lengths`], [`Lod::offsets`] |
//! | rows of a level | [`Lod::rows_of`], [`Lod::row_range`], [`Lod::row_ids`] |
//! | one sequence, all of them, a range (views) | [`LodTensor::sequence`], [`LodTensor::sequences`], [`LodTensor::slice`] |
//! | some sequences (copies) | [`LodTensor::take`], [`LodTensor::filter`], [`LodTensor::permute`] |
//! | plain arrays | [`LodTensor::data`], [`LodTensor::to_arrays`], [`LodTensor::drop_lod`] |
//! | another LoD on the same rows | [`LodTensor::with_lod`], [`Lod::append`], [`Lod::group`], [`Lod::merge_levels`] |
//! | elementwise work that keeps the LoD | [`LodTensor::map`], [`LodTensor::zip_map`] |
//! | a sequence op | [`sequence`] |
//! | to look at it | `{}` for a tree, `{:#}` for Fluid's lines, [`Lod::tree`] |
//!
//! # Rules
//!
//! * **Lengths are not offsets.** [`Lengths`] and [`Offsets`] are different types, so one cannot be taken for the other.
//!   Level 0 is the outermost; level `i` counts sequences of level `i + 1`, the last level counts rows.
//! * **A level argument** counts from 0, or from the end if negative: `-1` is the level that groups rows.
//! * **The LoD is part of the value.** An op returns a [`LodTensor`] whose LoD is right, or a plain array. Two batches
//!   are combined only when they are grouped alike.
//! * **Nothing is copied to pass a LoD on.** Its offsets are shared; cloning or slicing costs a reference count for each
//!   level, comparing two that share is immediate.
//! * **Views alias.** A sequence of a batch shares memory with it, as views of an [`NdArray`] do; the results of
//!   [`sequence`] ops never do.
//!
//! ```text
//! level 0 adds up to 3 sequences, but level 1 has 2
//!   --> src/main.rs:7:15
//!   help: the lengths of a level must add up to the number of sequences of the next one
//! ```
//!
//! Everything of the array crate is at hand as [`array`](mod@array); the names used most stand here.
#![forbid(unsafe_code)]

mod display;
mod error;
mod lengths;
mod level;
mod lists;
mod lod;
mod plan;
mod print;
mod restructure;
mod rows;
pub mod sequence;
mod tensor;

pub use lodestride_array as array;
pub use lodestride_array::{
    ArrayError, DType, HostType, NdArray, Scalar, Shape, Workspace, keep, s,
};

pub use crate::error::{LodError, LodErrorKind, Result, SequenceArgument};
pub use crate::lengths::{Lengths, Offsets};
pub use crate::lists::RaggedList;
pub use crate::lod::{IntoLod, Lod};
pub use crate::plan::Join;
pub use crate::restructure::Selection;
pub use crate::tensor::LodTensor;
