//! Shapes, strides, layouts, indexing, broadcasting and loop nests: integers only.
#![forbid(unsafe_code)]

mod axes;
mod broadcast;
mod combine;
mod error;
mod index;
mod iter;
mod layout;
mod message;
mod nest;
mod order;
mod overlap;
mod permute;
mod reshape;
mod shape;
mod strides;
mod tad;

pub use axes::{Axes, ResolvedAxes, keep, normalize_axis, normalize_new_axis};
pub use broadcast::{broadcast_many, broadcast_shapes};
pub use combine::{check_in_place, concat_shapes, matmul_shape, stack_shapes};
pub use error::{ReshapeRequest, ShapeError, ShapeOperation, ShapePair};
pub use index::{Index, Span, all, interval, interval_step, new_axis, point};
pub use iter::{NdIndexIterator, Offsets, Position};
pub use layout::Layout;
pub use nest::{LoopNest, Run, Runs};
pub use order::Order;
pub use overlap::{Overlap, overlap};
pub use shape::{INLINE_RANK, Shape};
pub use strides::Strides;
