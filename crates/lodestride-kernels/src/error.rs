//! What can go wrong in a kernel call, with the values that were wrong.

use lodestride_buffer::{AccessError, AllocError, Argument, DType, Scalar};
use lodestride_shape::{Shape, ShapeError};
use std::fmt;
use thiserror::Error;

/// Why an operation was refused. Nothing has been written when one of these is returned.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// An operand's memory may not be touched now: its workspace is closed, or a guard is alive.
    #[error("{}", source.explain(op, *argument, &Described(*dtype, shape)))]
    Access {
        /// The operation.
        op: &'static str,
        /// Which operand.
        argument: Argument,
        /// Why not.
        source: AccessError,
        /// The operand's element type.
        dtype: DType,
        /// The operand's shape.
        shape: Box<Shape>,
    },
    /// A layout or axis does not suit the operation.
    #[error("Op [{op}]: {source}")]
    Shape {
        /// The operation.
        op: &'static str,
        /// What is wrong.
        source: ShapeError,
    },
    /// An operand has another shape than the operation needs.
    #[error("Op [{op}] {argument} argument has shape {found}, but shape {expected} is needed")]
    ShapeMismatch {
        /// The operation.
        op: &'static str,
        /// Which operand.
        argument: Argument,
        /// Its shape.
        found: Box<Shape>,
        /// The shape it should have had.
        expected: Box<Shape>,
    },
    /// The operation is not defined for the element type.
    #[error("Op [{op}] is not defined for dtype {dtype}")]
    UnsupportedDType {
        /// The operation.
        op: &'static str,
        /// The (promoted) dtype.
        dtype: DType,
    },
    /// An operand has another dtype than the operation needs.
    #[error("Op [{op}] {argument} argument has dtype {found}, but {expected} is needed")]
    DTypeMismatch {
        /// The operation.
        op: &'static str,
        /// Which operand.
        argument: Argument,
        /// Its dtype.
        found: DType,
        /// The dtype it should have had.
        expected: DType,
    },
    /// A whole number does not fit the integer dtype it would have to be computed in.
    #[error(
        "Op [{op}]: the scalar {scalar} is out of range for dtype {dtype}\n  help: cast the array to a wider dtype first"
    )]
    ScalarOutOfRange {
        /// The operation.
        op: &'static str,
        /// The scalar.
        scalar: Scalar,
        /// The dtype of the array it meets.
        dtype: DType,
    },
    /// Two outputs of one call share elements.
    #[error(
        "Op [{op}]: {first} and {second} share elements, so what they would hold is not defined"
    )]
    OverlappingOutputs {
        /// The operation.
        op: &'static str,
        /// One output.
        first: Argument,
        /// The other.
        second: Argument,
    },
    /// A call has another number of operands than its program.
    #[error("Op [{op}] takes {expected} {what}, but was given {found}")]
    Count {
        /// The operation.
        op: &'static str,
        /// "inputs" or "outputs".
        what: &'static str,
        /// The number it takes.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// An index points outside the axis it indexes.
    #[error(
        "Op [{op}]: index {index} at position {position} is out of range for axis {axis} of size {size}"
    )]
    IndexOutOfRange {
        /// The operation.
        op: &'static str,
        /// The index.
        index: i64,
        /// Its position among the indices.
        position: usize,
        /// The axis it indexes.
        axis: usize,
        /// The axis' size.
        size: usize,
    },
    /// A reduction without a value for no elements was asked of an array that has none along the axes.
    #[error("Op [{op}] has no value for zero elements: the array has shape {shape}")]
    EmptyReduction {
        /// The operation.
        op: &'static str,
        /// The shape of the array.
        shape: Box<Shape>,
    },
    /// A number is outside the range an operation is defined for.
    #[error("Op [{op}]: {name} = {value} is out of range")]
    InvalidArgument {
        /// The operation.
        op: &'static str,
        /// The name of the number.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number lies outside limits that depend on the operands.
    #[error("Op [{op}]: {name} = {value} is out of range: it must lie between {min} and {max}")]
    OutOfRange {
        /// The operation.
        op: &'static str,
        /// The name of the number.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The smallest value it may have.
        min: f64,
        /// The largest one.
        max: f64,
    },
    /// Edges of bins that are not in order.
    #[error(
        "Op [{op}]: edge {index} is {edge} after {previous}, but edges must ascend\n  help: `sort` them, and leave out NaN"
    )]
    Edges {
        /// The operation.
        op: &'static str,
        /// The position of the edge.
        index: usize,
        /// The edge.
        edge: f64,
        /// The one before it (itself for the first).
        previous: f64,
    },
    /// Row offsets that do not divide the rows of an array into segments.
    #[error("Op [{op}]: offset {index} is {found}, but {rule}")]
    Offsets {
        /// The operation.
        op: &'static str,
        /// The position among the offsets (their number, for one that is missing).
        index: usize,
        /// The offset.
        found: usize,
        /// What it should have been.
        rule: OffsetRule,
    },
    /// A range of rows reaches beyond the array.
    #[error(
        "Op [{op}]: range {index} takes rows {start}..{start}+{len} of an array of {rows} rows"
    )]
    RowRange {
        /// The operation.
        op: &'static str,
        /// The position among the ranges.
        index: usize,
        /// Its first row.
        start: usize,
        /// Its number of rows.
        len: usize,
        /// Rows of the array.
        rows: usize,
    },
    /// Memory for a temporary copy could not be had.
    #[error("Op [{op}]: {source}")]
    Alloc {
        /// The operation.
        op: &'static str,
        /// Why not.
        source: AllocError,
    },
}

/// The outcome of a kernel call.
pub type Result<T, E = KernelError> = std::result::Result<T, E>;

impl KernelError {
    /// A [`KernelError::Shape`] of operation `op`, for `map_err`.
    pub fn shape(op: &'static str) -> impl Fn(ShapeError) -> KernelError {
        move |source| KernelError::Shape { op, source }
    }

    /// A [`KernelError::Alloc`] of operation `op`, for `map_err`.
    pub fn alloc(op: &'static str) -> impl Fn(AllocError) -> KernelError {
        move |source| KernelError::Alloc { op, source }
    }
}

/// What an offset of a segmentation must satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetRule {
    /// There is at least one offset, and the first is zero.
    StartsAtZero,
    /// No offset is below the one before it.
    Ascends {
        /// The offset before.
        previous: usize,
    },
    /// The last offset is the number of rows.
    EndsAtRows {
        /// The number of rows.
        rows: usize,
    },
}

impl fmt::Display for OffsetRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OffsetRule::StartsAtZero => f.write_str("offsets start at 0"),
            OffsetRule::Ascends { previous } => {
                write!(
                    f,
                    "the offset before it is {previous}, and offsets never descend"
                )
            }
            OffsetRule::EndsAtRows { rows } => {
                write!(f, "the last offset must be the number of rows, {rows}")
            }
        }
    }
}

/// "f32 [3, 4]".
struct Described<'a>(DType, &'a Shape);

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.1)
    }
}
