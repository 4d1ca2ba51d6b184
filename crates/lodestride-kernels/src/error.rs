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

/// "f32 [3, 4]".
struct Described<'a>(DType, &'a Shape);

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.1)
    }
}
