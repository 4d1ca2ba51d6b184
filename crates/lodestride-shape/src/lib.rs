//! Where the elements of an n-dimensional array lie: shapes, strides, views, indexing, broadcasting, tensors along
//! dimensions, and the loops kernels walk them with. Integers only: no element, no buffer, no unsafe code.
//!
//! ```
//! use lodestride_shape::{Layout, LoopNest, Order, Shape, ShapeError, s};
//!
//! // A 3 x 4 matrix in row-major order, and views of it: the strides change, nothing moves.
//! let matrix = Layout::contiguous([3, 4], Order::C)?;
//! let column = matrix.index(&s![.., -1])?;
//! let reversed = matrix.index(&s![..;-1, 1..3])?;
//! assert_eq!(column.offsets(Order::C).collect::<Vec<_>>(), [3, 7, 11]);
//! assert_eq!(reversed.offsets(Order::C).collect::<Vec<_>>(), [9, 10, 5, 6, 1, 2]);
//!
//! // A row stretched over the matrix, and the loop that adds it: one run of 4 elements per row.
//! let row = Layout::contiguous([4], Order::C)?.broadcast_to(matrix.shape())?;
//! let nest = LoopNest::for_layouts(&[&matrix, &row])?;
//! assert_eq!((nest.run_count(), nest.inner_len(), nest.inner_strides()), (3, 4, [1, 1].as_slice()));
//!
//! // What does not fit is an error that tells both shapes and the axis.
//! let error = row.broadcast_to(&Shape::from([3, 5])).unwrap_err();
//! assert_eq!(error.to_string(), "shape [3, 4] does not broadcast to [3, 5]: axis 1 is 4, only 1 or 5 can become 5");
//! # Ok::<(), ShapeError>(())
//! ```
//!
//! # Map
//!
//! | to | use |
//! |---|---|
//! | name sizes, steps, memory order | [`Shape`], [`Strides`], [`Order`] |
//! | know where elements lie | [`Layout`]: [`contiguous`](Layout::contiguous), [`new`](Layout::new), [`bounds`](Layout::bounds), [`fits`](Layout::fits), [`is_contiguous`](Layout::is_contiguous) |
//! | take sub-arrays | [`s!`] or [`point`], [`interval`], [`all`], [`new_axis`] with [`Layout::index`]; [`slice`](Layout::slice), [`narrow`](Layout::narrow), [`diagonal`](Layout::diagonal), [`windows`](Layout::windows) |
//! | move axes | [`permute`](Layout::permute), [`transpose`](Layout::transpose), [`swap_axes`](Layout::swap_axes), [`move_axis`](Layout::move_axis), [`flip`](Layout::flip), [`expand_dims`](Layout::expand_dims), [`squeeze`](Layout::squeeze) |
//! | change the shape | [`Layout::reshape`], a view whenever strides can say it; [`Shape::resolve_reshape`] |
//! | bring shapes together | [`broadcast_shapes`], [`broadcast_many`], [`Layout::broadcast_to`], [`check_in_place`], [`matmul_shape`], [`concat_shapes`], [`stack_shapes`] |
//! | reduce or divide along axes | [`Axes`], [`keep`], [`Layout::tensor_along`], [`Layout::tensors_along`] |
//! | walk one array | [`NdIndexIterator`], [`Layout::offsets`] |
//! | walk several arrays fast | [`LoopNest`] |
//! | write without harm | [`overlap`] of two views of a buffer, [`Layout::check_writable`] |
//! | report | [`ShapeError`] |
//!
//! # Conventions
//!
//! * Strides and offsets count elements, not bytes, and are signed; a reversed axis has a negative stride, a broadcast one
//!   stride 0. The offset is the element index of logical `[0, 0, ..]`.
//! * Negative axes and indices count from the end. Intervals follow NumPy: bounds are clipped, the end is exclusive, with a
//!   negative step the walk begins at the first bound. A point outside its axis is an error.
//! * Rank 0 (one element) and axes of size 0 (no elements) are ordinary everywhere.
//! * A layout is checked once, when it is made: element counts and every index it reaches fit `isize`. Views of it cannot
//!   leave its bounds, so they cost O(rank) and never allocate up to rank 4.
//! * Arguments of any size are safe: what is too large is [`ShapeError::TooLarge`], never an overflow.
#![forbid(unsafe_code)]

mod axes;
mod broadcast;
mod combine;
mod error;
mod facts;
mod index;
mod iter;
mod kept;
mod layout;
mod list;
mod message;
mod nest;
mod order;
mod overlap;
mod permute;
mod reshape;
mod shape;
mod slice;
mod strides;
mod tad;

pub use axes::{Axes, ResolvedAxes, keep, normalize_axis, normalize_new_axis};
pub use broadcast::{broadcast_many, broadcast_shapes};
pub use combine::{check_in_place, concat_shapes, matmul_shape, stack_shapes};
pub use error::{ReshapeRequest, ShapeError, ShapeOperation, ShapePair};
pub use index::{Index, Span, all, interval, interval_step, new_axis, point};
pub use iter::{NdIndexIterator, Offsets, Position};
pub use layout::Layout;
pub use list::INLINE_RANK;
pub use nest::{LoopNest, Run, RunBlock, Runs};
pub use order::Order;
pub use overlap::{Overlap, overlap};
pub use shape::Shape;
pub use strides::Strides;
