//! [`ShapeError`]: everything that can be wrong with shapes, axes and indices, with the values that were wrong.

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
