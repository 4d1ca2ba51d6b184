//! What can go wrong in this crate: [`ArrayError`] with the values that failed and the caller's source line.
//!
//! Errors of the crates below are wrapped here together with the op's name; their own types live there.

mod access;
mod attach;
mod by_name;
mod explain;
mod help;
mod summary;

use std::error::Error;
use std::fmt;
use std::panic::Location;

use lodestride_buffer::{AccessError, AllocError, Argument, DType, DlPackError, note_stale_use};
use lodestride_kernels::KernelError;
use lodestride_shape::{Shape, ShapeError};

pub(crate) use self::access::InMethod;
pub(crate) use self::attach::{InOp, OrFail, expect_within};
pub use self::summary::ArraySummary;
pub(crate) use self::summary::Dims;
use crate::checks::NotFinite;
use crate::einsum::SubscriptsProblem;
use crate::named::{OpParameter, ParameterProblem};

/// The result of every fallible array method.
pub type Result<T> = std::result::Result<T, ArrayError>;

/// Why an array method failed, and at which line it was called.
///
/// One pointer wide, so that `Result<NdArray>` costs nothing extra. [`kind`](Self::kind) has the values for programs;
/// the `Display` text is for people: the reason, the caller's line, the operands, and what to do about it.
///
/// ```
/// use lodestride_array::{ArrayErrorKind, NdArray};
///
/// let error = NdArray::zeros([3, 4])?.add(&NdArray::zeros([3, 5])?).unwrap_err();
/// assert!(matches!(error.kind(), ArrayErrorKind::Broadcast { .. }));
/// assert!(error.to_string().starts_with("add: shapes [3, 4] and [3, 5] do not broadcast: axis 1 is 4 vs 5"));
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
pub struct ArrayError {
    report: Box<Report>,
}

struct Report {
    kind: ArrayErrorKind,
    location: &'static Location<'static>,
}

impl ArrayError {
    /// An error of the given kind that points at the caller's source line.
    #[cold]
    #[track_caller]
    pub fn new(kind: ArrayErrorKind) -> Self {
        let location = Location::caller();
        if kind.access().is_some() {
            // For the workspace's timeline, whose door does not know the user's line.
            note_stale_use(location);
        }
        Self {
            report: Box::new(Report { kind, location }),
        }
    }

    /// What failed, with its values.
    pub fn kind(&self) -> &ArrayErrorKind {
        &self.report.kind
    }

    /// Where the failing method was called.
    pub fn location(&self) -> &'static Location<'static> {
        self.report.location
    }
}

impl fmt::Display for ArrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The place belongs under the first line, also when the text of a lower crate has several.
        let text = self.report.kind.to_string();
        let (first, rest) = text
            .split_once('\n')
            .map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
        write!(f, "{first}\n  --> {}", self.report.location)?;
        rest.map_or(Ok(()), |rest| write!(f, "\n{rest}"))
    }
}

impl fmt::Debug for ArrayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `unwrap` and a `main` that returns an error print this form: the readable text serves them best.
        fmt::Display::fmt(self, f)
    }
}

impl Error for ArrayError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.report.kind {
            ArrayErrorKind::Shape { source, .. } => Some(source),
            ArrayErrorKind::Access { source, .. } => Some(source),
            ArrayErrorKind::Allocation { source, .. } => Some(source),
            ArrayErrorKind::DlPack { source, .. } => Some(source),
            ArrayErrorKind::Kernel { source } => Some(source),
            _ => None,
        }
    }
}

/// The kinds of [`ArrayError`], each with the values that failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ArrayErrorKind {
    /// Two shapes have no common broadcast shape.
    Broadcast {
        /// The method.
        op: &'static str,
        /// Left operand.
        lhs: ArraySummary,
        /// Right operand.
        rhs: ArraySummary,
    },
    /// An in-place method whose right operand would have to grow the left one.
    InPlaceShape {
        /// The method.
        op: &'static str,
        /// The array that was to be changed.
        target: ArraySummary,
        /// Right operand.
        rhs: ArraySummary,
    },
    /// An output array of the wrong shape.
    OutputShape {
        /// The method.
        op: &'static str,
        /// The shape the result has.
        expected: Shape,
        /// The array that was passed.
        out: ArraySummary,
    },
    /// A write into a view where several elements share one place in memory (a broadcast view).
    OverlappingTarget {
        /// The method.
        op: &'static str,
        /// The array that was to be written.
        target: ArraySummary,
    },
    /// A result that does not fit the kind of the array it should be stored in, such as f64 into i32.
    Cast {
        /// The method.
        op: &'static str,
        /// Dtype of the result.
        from: DType,
        /// The array it should go to.
        target: ArraySummary,
    },
    /// Typed access with another element type than the array has.
    DTypeMismatch {
        /// The method.
        op: &'static str,
        /// The element type asked for.
        requested: DType,
        /// The array.
        array: ArraySummary,
    },
    /// An op that has no meaning for the dtype, such as `sin` of a bitwise mask.
    UnsupportedDType {
        /// The method.
        op: &'static str,
        /// The dtype it was called with.
        dtype: DType,
    },
    /// An axis, index, permutation or reshape that does not fit the array.
    Shape {
        /// The method.
        op: &'static str,
        /// What the shape rules say.
        source: ShapeError,
        /// The array, when there is one already.
        array: Option<ArraySummary>,
    },
    /// The array's memory may not be touched: its workspace is closed or reused, or another guard is alive.
    Access {
        /// The method.
        op: &'static str,
        /// Which argument.
        argument: Argument,
        /// Why.
        source: AccessError,
        /// The array.
        array: ArraySummary,
    },
    /// Memory for a result could not be had.
    Allocation {
        /// The method.
        op: &'static str,
        /// Shape of the result.
        shape: Shape,
        /// Its dtype.
        dtype: DType,
        /// Why.
        source: AllocError,
    },
    /// A tensor of another library that no array can be made of, or the other way round.
    DlPack {
        /// The method.
        op: &'static str,
        /// Why.
        source: DlPackError,
    },
    /// An error of the numeric kernels, with its own op name and argument.
    Kernel {
        /// The kernel's error.
        source: KernelError,
    },
    /// A shape that does not hold exactly the given number of values.
    Length {
        /// The method.
        op: &'static str,
        /// The shape asked for.
        shape: Shape,
        /// How many values there are.
        values: usize,
    },
    /// A list that should have a number for each axis, or for each position along one.
    Count {
        /// The method.
        op: &'static str,
        /// What the numbers are, as in "widths, one per axis".
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many were given.
        given: usize,
        /// The array.
        array: ArraySummary,
    },
    /// Points that must not fall, of which one is NaN or lower than the one before it.
    NotAscending {
        /// The method.
        op: &'static str,
        /// Position of the point.
        index: usize,
        /// The point.
        value: f64,
        /// The one before it (itself for the first).
        previous: f64,
    },
    /// Nested sequences of unequal lengths.
    Ragged {
        /// The axis on which the lengths differ.
        axis: usize,
        /// Length of the first sequence.
        expected: usize,
        /// Length of the offending one.
        found: usize,
    },
    /// A method for arrays of a certain rank or form.
    Form {
        /// The method.
        op: &'static str,
        /// What it needs, as in "a matrix".
        expected: &'static str,
        /// What it got.
        array: ArraySummary,
    },
    /// Operands that do not fit each other, or may not share memory.
    Operands {
        /// The method.
        op: &'static str,
        /// What it needs, as in "arrays of one shape".
        expected: &'static str,
        /// Left operand.
        lhs: ArraySummary,
        /// Right operand.
        rhs: ArraySummary,
    },
    /// Operands of different dtypes, where nothing is promoted.
    MixedDTypes {
        /// The method.
        op: &'static str,
        /// One operand.
        lhs: ArraySummary,
        /// One of another dtype.
        rhs: ArraySummary,
    },
    /// Subscripts that cannot be read or do not fit the operands.
    Subscripts {
        /// What is wrong with them.
        problem: SubscriptsProblem,
        /// The arrays.
        operands: Vec<ArraySummary>,
    },
    /// A matrix that has no such solution or decomposition.
    #[cfg(feature = "linalg")]
    Linalg {
        /// The method.
        op: &'static str,
        /// Why.
        problem: crate::linalg::LinalgProblem,
        /// The array.
        array: ArraySummary,
    },
    /// Matrices whose inner sizes differ.
    MatrixProduct {
        /// The method.
        op: &'static str,
        /// Left operand.
        lhs: ArraySummary,
        /// Right operand.
        rhs: ArraySummary,
    },
    /// A right side with more or fewer rows than the matrix it is to be solved for.
    RightSide {
        /// The method.
        op: &'static str,
        /// The matrix.
        lhs: ArraySummary,
        /// The right side.
        rhs: ArraySummary,
    },
    /// Arrays that cannot be joined, because a size other than the joined one differs.
    Join {
        /// The method.
        op: &'static str,
        /// The axis along which they were to be joined.
        axis: usize,
        /// The first array.
        first: ArraySummary,
        /// Position of the offending array in the argument list.
        position: usize,
        /// The offending array.
        found: ArraySummary,
    },
    /// A method that needs at least one array, or at least one element.
    Empty {
        /// The method.
        op: &'static str,
        /// What is missing, as in "arrays to join".
        expected: &'static str,
    },
    /// A vector whose length is not the number of columns (or rows) of the matrix.
    VectorLength {
        /// The method.
        op: &'static str,
        /// Elements needed.
        expected: usize,
        /// The matrix.
        matrix: ArraySummary,
        /// The vector.
        vector: ArraySummary,
    },
    /// A mask that is not a bool array of the array's shape.
    Mask {
        /// The method.
        op: &'static str,
        /// The array.
        array: ArraySummary,
        /// The mask.
        mask: ArraySummary,
    },
    /// A view was asked for whose shape the strides do not permit.
    NeedsCopy {
        /// The array.
        array: ArraySummary,
    },
    /// An element is named with more or fewer numbers than the array has axes.
    IndexCount {
        /// The method.
        op: &'static str,
        /// Numbers given.
        given: usize,
        /// The array.
        array: ArraySummary,
    },
    /// An index beyond the size of its axis.
    IndexRange {
        /// The method.
        op: &'static str,
        /// The axis.
        axis: usize,
        /// The index as given; negative ones count from the end.
        index: isize,
        /// The array.
        array: ArraySummary,
    },
    /// A position in an array or list of indices that is beyond the size of its axis.
    PositionRange {
        /// The method.
        op: &'static str,
        /// The axis.
        axis: usize,
        /// The index as given; negative ones count from the end.
        index: i64,
        /// Its place among the indices, in C order.
        position: usize,
        /// The array.
        array: ArraySummary,
    },
    /// An array of indices that are not integers.
    IndexDType {
        /// The method.
        op: &'static str,
        /// The indices.
        indices: ArraySummary,
    },
    /// A mask among indices that is longer or shorter than the axis it stands for.
    MaskSize {
        /// The method.
        op: &'static str,
        /// The axis.
        axis: usize,
        /// The size of the mask.
        found: usize,
        /// The array.
        array: ArraySummary,
    },
    /// A number that stands for none of the parts there are.
    PartNumber {
        /// The method.
        op: &'static str,
        /// The number.
        part: i64,
        /// Its place among the numbers, in C order.
        position: usize,
        /// How many parts there are.
        count: usize,
    },
    /// A range or count that makes no sense, such as `arange` with step 0.
    Range {
        /// The method.
        op: &'static str,
        /// First value.
        start: f64,
        /// Last value or end.
        end: f64,
        /// Step or count.
        step: f64,
    },
    /// No operation of that name.
    UnknownOp {
        /// The name.
        name: Box<str>,
        /// Names like it, the most alike first.
        nearest: Vec<&'static str>,
    },
    /// A call by name with too few or too many operands.
    OperandCount {
        /// The operation.
        op: &'static str,
        /// Operands it takes.
        expected: usize,
        /// Operands given.
        given: usize,
    },
    /// A call by name with parameters that the operation does not have or needs.
    Parameter {
        /// The operation.
        op: &'static str,
        /// The parameters it has.
        known: &'static [OpParameter],
        /// What is wrong.
        problem: ParameterProblem,
    },
    /// A check found NaN or infinite values in a result.
    NotFinite(NotFinite),
    /// A split beyond the end of its axis.
    SplitRange {
        /// The axis of the split.
        axis: usize,
        /// The position asked for.
        middle: usize,
        /// Shape of the view.
        shape: Shape,
    },
    /// A split that would interleave two mutable halves in memory.
    Interleaved {
        /// The axis of the split.
        axis: usize,
        /// Shape of the view.
        shape: Shape,
    },
}
