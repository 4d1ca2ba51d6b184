//! [`ShapeError`]: everything that can be wrong with shapes, axes and indices, with the values that were wrong.

use std::fmt;

use crate::{Shape, Strides};

/// The two shapes an operation could not bring together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapePair {
    /// The first or source shape.
    pub left: Shape,
    /// The second or wanted shape.
    pub right: Shape,
}

/// The sizes asked of a reshape, as given: one of them may be -1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReshapeRequest {
    /// The shape at hand.
    pub from: Shape,
    /// The sizes asked for.
    pub to: Strides,
}

/// What was being done when two shapes turned out not to agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShapeOperation {
    /// Writing into an existing array.
    Assign,
    /// Changing the left operand in place; only the right operand broadcasts then.
    InPlace,
    /// Writing a result into an array the caller provides.
    Output,
    /// Walking several arrays together.
    Zip,
    /// Matrix multiplication.
    Matmul,
    /// Joining along an existing axis.
    Concat,
    /// Joining along a new axis.
    Stack,
}

/// A shape, axis, index or layout that cannot be used; every variant holds the values that failed.
///
/// Large values are boxed: the type is at most 32 bytes.
///
/// ```
/// use lodestride_shape::{Shape, broadcast_shapes};
///
/// let error = broadcast_shapes(&Shape::from([3, 4]), &Shape::from([3, 5])).unwrap_err();
/// assert_eq!(error.to_string(), "shapes [3, 4] and [3, 5] do not broadcast: axis 1 is 4 vs 5");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeError {
    /// Two shapes do not broadcast together; `axis` counts in the result.
    Broadcast {
        /// The two shapes.
        shapes: Box<ShapePair>,
        /// The axis of the result at which they disagree.
        axis: usize,
    },
    /// A shape cannot be stretched to another one.
    BroadcastTo {
        /// The shape at hand and the shape wanted.
        shapes: Box<ShapePair>,
    },
    /// An operation needs two shapes to agree and they do not.
    Mismatch {
        /// What was being done.
        operation: ShapeOperation,
        /// The two shapes.
        shapes: Box<ShapePair>,
    },
    /// An axis number outside `-rank..rank`.
    AxisOutOfRange {
        /// The axis as given.
        axis: isize,
        /// The rank it was meant for.
        rank: usize,
    },
    /// An axis is named twice where each may appear once.
    RepeatedAxis {
        /// The axis, counted from the front.
        axis: usize,
        /// The rank.
        rank: usize,
    },
    /// A permutation or another per-axis list has the wrong length.
    AxisCount {
        /// How many entries were given.
        given: usize,
        /// How many axes there are.
        rank: usize,
    },
    /// A single index outside `-size..size`.
    IndexOutOfRange {
        /// The index as given.
        index: isize,
        /// The axis it was meant for.
        axis: usize,
        /// The size of that axis.
        size: usize,
    },
    /// More indices than axes.
    TooManyIndices {
        /// How many indices consume an axis.
        given: usize,
        /// The shape that was indexed.
        shape: Box<Shape>,
    },
    /// More than one ellipsis in an index list.
    RepeatedEllipsis {
        /// How many there are.
        count: usize,
    },
    /// An interval with step 0.
    ZeroStep {
        /// The axis it was meant for.
        axis: usize,
    },
    /// A reshape to a different number of elements.
    Reshape {
        /// The shape at hand and the sizes wanted.
        request: Box<ReshapeRequest>,
    },
    /// A reshape whose -1 cannot be computed.
    ReshapeUnknown {
        /// The shape at hand and the sizes wanted.
        request: Box<ReshapeRequest>,
    },
    /// A negative size other than a single -1.
    NegativeSize {
        /// The position in the list of sizes.
        axis: usize,
        /// The size as given.
        size: isize,
    },
    /// More elements, or a longer reach, than memory can have.
    TooLarge {
        /// The shape.
        shape: Box<Shape>,
    },
    /// Strides that reach in front of the first element of the buffer.
    NegativeReach {
        /// The lowest element index reached.
        lowest: isize,
        /// The offset of the layout.
        offset: usize,
    },
    /// A layout that reaches behind the end of its buffer.
    OutOfBuffer {
        /// The highest element index reached.
        highest: usize,
        /// The elements the buffer holds.
        available: usize,
    },
    /// An axis to be squeezed whose size is not 1.
    NotSizeOne {
        /// The axis.
        axis: usize,
        /// Its size.
        size: usize,
    },
    /// A tensor number beyond the count of tensors along the given axes.
    TensorOutOfRange {
        /// The number asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A window that is empty, longer than its axis, or moved by 0.
    Window {
        /// The length of the window.
        length: usize,
        /// The distance between windows.
        step: usize,
        /// The size of the axis.
        size: usize,
    },
    /// A write to a layout in which one element stands for several positions.
    SelfOverlapping {
        /// The shape of the layout.
        shape: Box<Shape>,
        /// Its strides.
        strides: Box<Strides>,
    },
    /// An operation that needs another rank.
    Rank {
        /// The least rank that works.
        needed: usize,
        /// The shape at hand.
        shape: Box<Shape>,
    },
    /// An operation that needs at least one array or shape got none.
    NoOperands {
        /// What was being done.
        operation: ShapeOperation,
    },
}

impl ShapeError {
    /// Makes a [`ShapeError::Mismatch`] from two shapes.
    #[must_use]
    pub fn mismatch(operation: ShapeOperation, left: &[usize], right: &[usize]) -> ShapeError {
        ShapeError::Mismatch {
            operation,
            shapes: ShapePair::boxed(left, right),
        }
    }

    pub(crate) fn too_large(shape: &[usize]) -> ShapeError {
        ShapeError::TooLarge {
            shape: Box::new(Shape::from_slice(shape)),
        }
    }

    pub(crate) fn rank(needed: usize, shape: &[usize]) -> ShapeError {
        ShapeError::Rank {
            needed,
            shape: Box::new(Shape::from_slice(shape)),
        }
    }
}

impl ShapePair {
    pub(crate) fn boxed(left: &[usize], right: &[usize]) -> Box<ShapePair> {
        Box::new(ShapePair {
            left: Shape::from_slice(left),
            right: Shape::from_slice(right),
        })
    }
}

impl std::error::Error for ShapeError {}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::Broadcast { .. }
            | ShapeError::BroadcastTo { .. }
            | ShapeError::Mismatch { .. }
            | ShapeError::Reshape { .. }
            | ShapeError::ReshapeUnknown { .. }
            | ShapeError::NoOperands { .. } => self.write_shapes(f),
            ShapeError::AxisOutOfRange { .. }
            | ShapeError::RepeatedAxis { .. }
            | ShapeError::AxisCount { .. }
            | ShapeError::NotSizeOne { .. }
            | ShapeError::Rank { .. } => self.write_axes(f),
            ShapeError::IndexOutOfRange { .. }
            | ShapeError::TooManyIndices { .. }
            | ShapeError::RepeatedEllipsis { .. }
            | ShapeError::ZeroStep { .. }
            | ShapeError::TensorOutOfRange { .. }
            | ShapeError::Window { .. } => self.write_indices(f),
            ShapeError::NegativeSize { .. }
            | ShapeError::TooLarge { .. }
            | ShapeError::NegativeReach { .. }
            | ShapeError::OutOfBuffer { .. }
            | ShapeError::SelfOverlapping { .. } => self.write_layout(f),
        }
    }
}

impl ShapeError {
    fn write_shapes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::Broadcast { shapes, axis } => {
                let ShapePair { left, right } = &**shapes;
                write!(f, "shapes {left} and {right} do not broadcast")?;
                let rank = left.rank().max(right.rank());
                let size = |shape: &Shape| {
                    (axis + shape.rank())
                        .checked_sub(rank)
                        .and_then(|axis| shape.get(axis).copied())
                };
                match (size(left), size(right)) {
                    (Some(left), Some(right)) => write!(f, ": axis {axis} is {left} vs {right}"),
                    _ => Ok(()),
                }
            }
            ShapeError::BroadcastTo { shapes } => {
                write_broadcast_to(f, &shapes.left, &shapes.right)
            }
            ShapeError::Mismatch { operation, shapes } => write_mismatch(f, *operation, shapes),
            ShapeError::Reshape { request } => {
                let ReshapeRequest { from, to } = &**request;
                write!(
                    f,
                    "cannot reshape {from} ({} elements) to {to}",
                    from.elements()
                )?;
                let known = to.iter().filter(|&&size| size >= 0);
                let product = known.fold(1usize, |n, &size| n.saturating_mul(size.unsigned_abs()));
                if to.contains(&-1) {
                    write!(f, ": {} is not a multiple of {product}", from.elements())
                } else {
                    write!(f, " ({product} elements)")
                }
            }
            ShapeError::ReshapeUnknown { request } => {
                let ReshapeRequest { from, to } = &**request;
                let unknown = to.iter().filter(|&&size| size == -1).count();
                if unknown > 1 {
                    write!(
                        f,
                        "cannot reshape {from} to {to}: only one size may be -1, {unknown} are"
                    )
                } else {
                    write!(
                        f,
                        "cannot reshape {from} to {to}: with a size 0 beside it the -1 could be anything; name the size"
                    )
                }
            }
            ShapeError::NoOperands { operation } => {
                write!(f, "{} needs at least one array", operation.verb())
            }
            _ => Ok(()),
        }
    }

    fn write_axes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::AxisOutOfRange { axis, rank: 0 } => {
                write!(
                    f,
                    "axis {axis} is out of range: a scalar (rank 0) has no axes"
                )
            }
            ShapeError::AxisOutOfRange { axis, rank } => {
                write!(
                    f,
                    "axis {axis} is out of range for rank {rank}: use -{rank} to {}",
                    rank - 1
                )
            }
            ShapeError::RepeatedAxis { axis, rank } => {
                write!(
                    f,
                    "axis {axis} appears more than once; each of the {rank} axes may appear once"
                )
            }
            ShapeError::AxisCount { given, rank } => {
                write!(
                    f,
                    "{given} axes given for rank {rank}: name every axis exactly once"
                )
            }
            ShapeError::NotSizeOne { axis, size } => {
                write!(
                    f,
                    "axis {axis} has size {size}: only axes of size 1 can be squeezed"
                )
            }
            ShapeError::Rank { needed, shape } => {
                write!(
                    f,
                    "shape {shape} has rank {}, at least rank {needed} is needed",
                    shape.rank()
                )
            }
            _ => Ok(()),
        }
    }

    fn write_indices(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::IndexOutOfRange {
                index,
                axis,
                size: 0,
            } => {
                write!(f, "index {index} is out of range: axis {axis} has size 0")
            }
            ShapeError::IndexOutOfRange { index, axis, size } => {
                write!(
                    f,
                    "index {index} is out of range for axis {axis} of size {size}: use -{size} to {}",
                    size - 1
                )
            }
            ShapeError::TooManyIndices { given, shape } => {
                write!(
                    f,
                    "{given} indices for shape {shape}, which has {} axes",
                    shape.rank()
                )
            }
            ShapeError::RepeatedEllipsis { count } => {
                write!(
                    f,
                    "{count} ellipses in one index list: at most one can be filled in"
                )
            }
            ShapeError::ZeroStep { axis } => {
                write!(
                    f,
                    "the interval for axis {axis} has step 0: use a positive or a negative step"
                )
            }
            ShapeError::TensorOutOfRange { index, count } => {
                write!(
                    f,
                    "tensor {index} does not exist: there are {count} tensors along these axes"
                )
            }
            ShapeError::Window { length, step, size } => {
                write!(
                    f,
                    "windows of {length} moved by {step} do not fit an axis of size {size}: "
                )?;
                f.write_str("length must be 1 to the size, the step at least 1")
            }
            _ => Ok(()),
        }
    }

    fn write_layout(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::NegativeSize { axis, size } => {
                write!(
                    f,
                    "size {size} at position {axis}: sizes are 0 or more (-1 once, to be inferred)"
                )
            }
            ShapeError::TooLarge { shape } => {
                write!(
                    f,
                    "shape {shape} spans more elements than can be addressed ({})",
                    isize::MAX
                )
            }
            ShapeError::NegativeReach { lowest, offset } => {
                write!(
                    f,
                    "the layout reaches element {lowest}, before the start of the buffer (offset {offset})"
                )
            }
            ShapeError::OutOfBuffer { highest, available } => {
                write!(
                    f,
                    "the layout reaches element {highest} of a buffer that holds {available}"
                )
            }
            ShapeError::SelfOverlapping { shape, strides } => {
                write!(f, "cannot write to shape {shape} with strides {strides}: ")?;
                f.write_str(
                    "several positions share one element (a broadcast view); write to a copy",
                )
            }
            _ => Ok(()),
        }
    }
}

fn write_broadcast_to(f: &mut fmt::Formatter<'_>, from: &Shape, to: &Shape) -> fmt::Result {
    write!(f, "shape {from} does not broadcast to {to}: ")?;
    let Some(lead) = to.rank().checked_sub(from.rank()) else {
        return write!(
            f,
            "it has {} axes, the target only {}",
            from.rank(),
            to.rank()
        );
    };
    for (axis, (&have, &want)) in from.iter().zip(&to[lead..]).enumerate() {
        if have != want && have != 1 {
            return write!(
                f,
                "axis {axis} is {have}, only 1 or {want} can become {want}"
            );
        }
    }
    Ok(())
}

fn write_mismatch(
    f: &mut fmt::Formatter<'_>,
    operation: ShapeOperation,
    shapes: &ShapePair,
) -> fmt::Result {
    let ShapePair { left, right } = shapes;
    match operation {
        ShapeOperation::Assign => write!(f, "cannot assign shape {right} to shape {left}"),
        ShapeOperation::InPlace => write!(
            f,
            "cannot change shape {left} in place with shape {right}: only the right operand broadcasts in place"
        ),
        ShapeOperation::Output => write!(
            f,
            "the output has shape {left}, the result has shape {right}"
        ),
        ShapeOperation::Zip => write!(
            f,
            "shapes {left} and {right} must be equal to be walked together"
        ),
        ShapeOperation::Matmul => {
            write!(f, "cannot multiply matrices {left} x {right}")?;
            let inner = (left.last(), right.iter().rev().take(2).last());
            match inner {
                (Some(columns), Some(rows)) if columns != rows => {
                    write!(f, ": the left has {columns} columns, the right {rows} rows")
                }
                _ => Ok(()),
            }
        }
        ShapeOperation::Concat => {
            write!(
                f,
                "cannot concatenate {left} and {right}: all sizes except the joined axis must be equal"
            )
        }
        ShapeOperation::Stack => write!(
            f,
            "cannot stack {left} and {right}: the shapes must be equal"
        ),
    }
}

impl ShapeOperation {
    /// Names the operation in a few words, as used in messages.
    #[must_use]
    pub const fn verb(self) -> &'static str {
        match self {
            ShapeOperation::Assign => "assign",
            ShapeOperation::InPlace => "in-place update",
            ShapeOperation::Output => "output",
            ShapeOperation::Zip => "zip",
            ShapeOperation::Matmul => "matmul",
            ShapeOperation::Concat => "concat",
            ShapeOperation::Stack => "stack",
        }
    }
}

const _: () = assert!(size_of::<ShapeError>() <= 32);
