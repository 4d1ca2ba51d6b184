//! The text of [`ShapeError`]: one line that names both shapes, the axis and the way out.

use std::fmt;

use crate::{ReshapeRequest, Shape, ShapeError, ShapeOperation, ShapePair};

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
                    "{given} entries given for rank {rank}: every axis needs exactly one"
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
            let inner = (left.last(), right.get(right.rank().saturating_sub(2)));
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
