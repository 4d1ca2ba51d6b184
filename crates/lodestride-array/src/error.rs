//! What can go wrong in this crate: [`ArrayError`] with the values that failed and the caller's source line.
//!
//! Errors of the crates below are wrapped here together with the op's name; their own types live there.

use std::error::Error;
use std::fmt;
use std::panic::Location;

use lodestride_buffer::{AccessError, AllocError, Argument, DType};
use lodestride_kernels::KernelError;
use lodestride_shape::{Order, Shape, ShapeError};

use crate::NdArray;

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
            ArrayErrorKind::Kernel { source } => Some(source),
            _ => None,
        }
    }
}

/// What is worth knowing about an operand after the fact: dtype, shape, order, and whether it is a view.
///
/// Prints as `f32 [3, 4] C view`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArraySummary {
    /// Element type.
    pub dtype: DType,
    /// Shape.
    pub shape: Shape,
    /// Memory order, `None` when the elements are strided.
    pub order: Option<Order>,
    /// Whether the array covers only a part of its buffer, or in another order.
    pub view: bool,
}

impl ArraySummary {
    /// The summary of an array; never touches its elements.
    pub fn of(array: &NdArray) -> Self {
        Self {
            dtype: array.dtype(),
            shape: array.shape().clone(),
            order: array.order(),
            view: array.is_view(),
        }
    }
}

impl fmt::Display for ArraySummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dtype, Dims(&self.shape))?;
        match self.order {
            Some(Order::C) => f.write_str(" C")?,
            Some(Order::F) => f.write_str(" F")?,
            None => f.write_str(" strided")?,
        }
        if self.view {
            f.write_str(" view")
        } else {
            Ok(())
        }
    }
}

/// A list of sizes as `[3, 4]`.
pub(crate) struct Dims<'a>(pub(crate) &'a [usize]);

impl fmt::Display for Dims<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0).finish()
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
    /// Matrices whose inner sizes differ.
    MatrixProduct {
        /// The method.
        op: &'static str,
        /// Left operand.
        lhs: ArraySummary,
        /// Right operand.
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
    /// A split that would interleave two mutable halves in memory.
    Interleaved {
        /// The axis of the split.
        axis: usize,
        /// Shape of the view.
        shape: Shape,
    },
}

/// ` axis 1 is 4 vs 5` for the last axis on which two shapes disagree.
struct Conflict<'a>(&'a [usize], &'a [usize]);

impl fmt::Display for Conflict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank = self.0.len().max(self.1.len());
        let pairs = self.0.iter().rev().zip(self.1.iter().rev());
        for (back, (&a, &b)) in pairs.enumerate() {
            if a != b && a != 1 && b != 1 {
                return write!(f, ": axis {} is {a} vs {b}", rank - 1 - back);
            }
        }
        Ok(())
    }
}

impl fmt::Display for ArrayErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broadcast { .. }
            | Self::InPlaceShape { .. }
            | Self::OutputShape { .. }
            | Self::OverlappingTarget { .. }
            | Self::VectorLength { .. }
            | Self::Mask { .. }
            | Self::MatrixProduct { .. }
            | Self::Join { .. } => self.explain_shapes(f),
            Self::Cast { .. } | Self::DTypeMismatch { .. } | Self::UnsupportedDType { .. } => {
                self.explain_dtypes(f)
            }
            _ => self.explain_rest(f),
        }
    }
}

impl ArrayErrorKind {
    fn explain_shapes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broadcast { op, lhs, rhs } => {
                let (a, b) = (Dims(&lhs.shape), Dims(&rhs.shape));
                let conflict = Conflict(&lhs.shape, &rhs.shape);
                write!(
                    f,
                    "{op}: shapes {a} and {b} do not broadcast{conflict}\n  lhs: {lhs}\n  rhs: {rhs}\n"
                )?;
                f.write_str("  help: sizes must be equal or 1, counted from the last axis; `expand_dims` or `reshape` one side")
            }
            Self::InPlaceShape { op, target, rhs } => {
                let (a, b) = (Dims(&target.shape), Dims(&rhs.shape));
                write!(
                    f,
                    "{op}: shape {b} does not broadcast into {a}: an in-place op cannot change the shape of its target\n"
                )?;
                write!(
                    f,
                    "  target: {target}\n  rhs: {rhs}\n  help: use the form that returns a new array (`{}`)",
                    copying(op)
                )
            }
            Self::OutputShape { op, expected, out } => {
                let (a, b) = (Dims(expected), Dims(&out.shape));
                write!(
                    f,
                    "{op}: the result has shape {a}, the output array {b}\n  out: {out}\n"
                )?;
                write!(f, "  help: pass an output of shape {a}")
            }
            Self::OverlappingTarget { op, target } => {
                write!(
                    f,
                    "{op}: cannot write into a broadcast view: several of its elements share one place in memory\n"
                )?;
                write!(f, "  target: {target}\n  help: `dup()` it first")
            }
            Self::VectorLength {
                op,
                expected,
                matrix,
                vector,
            } => {
                let (a, b) = (Dims(&matrix.shape), Dims(&vector.shape));
                write!(
                    f,
                    "{op}: a matrix of shape {a} needs a vector of {expected} elements, got shape {b}\n"
                )?;
                write!(f, "  matrix: {matrix}\n  vector: {vector}")
            }
            Self::Mask { op, array, mask } => {
                let (a, b) = (Dims(&array.shape), Dims(&mask.shape));
                write!(
                    f,
                    "{op}: the mask must be a bool array of shape {a}, got {} {b}\n",
                    mask.dtype
                )?;
                write!(
                    f,
                    "  array: {array}\n  mask: {mask}\n  help: comparisons such as `a.less(0.5)?` make masks"
                )
            }
            Self::MatrixProduct { op, lhs, rhs } => {
                let (a, b) = (Dims(&lhs.shape), Dims(&rhs.shape));
                write!(f, "{op}: cannot multiply {a} by {b}")?;
                if let (Some(k), Some(l)) = (
                    lhs.shape.last(),
                    rhs.shape.iter().nth_back(1).or(rhs.shape.last()),
                ) {
                    write!(f, ": {k} columns against {l} rows")?;
                }
                write!(
                    f,
                    "\n  lhs: {lhs}\n  rhs: {rhs}\n  help: the last size of the left must be the second to last of the right"
                )
            }
            Self::Join {
                op,
                axis,
                first,
                position,
                found,
            } => {
                let (a, b) = (Dims(&first.shape), Dims(&found.shape));
                write!(
                    f,
                    "{op}: array {position} of shape {b} does not fit {a} along axis {axis}\n"
                )?;
                write!(
                    f,
                    "  array 0: {first}\n  array {position}: {found}\n  help: all sizes but that of the joined axis must be equal"
                )
            }
            _ => Ok(()),
        }
    }

    fn explain_dtypes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cast { op, from, target } => {
                write!(
                    f,
                    "{op}: a result of dtype {from} cannot be stored in {}: it would lose more than precision\n",
                    target.dtype
                )?;
                write!(
                    f,
                    "  target: {target}\n  help: use `{}`, which returns {from}, or `cast` one of the operands",
                    copying(op)
                )
            }
            Self::DTypeMismatch {
                op,
                requested,
                array,
            } => {
                write!(
                    f,
                    "{op}: asked for elements of type {requested}, the array has {}\n  array: {array}\n",
                    array.dtype
                )?;
                write!(
                    f,
                    "  help: ask for {}, or `cast(DType::{requested:?})` first",
                    array.dtype
                )
            }
            Self::UnsupportedDType { op, dtype } => {
                write!(
                    f,
                    "{op}: not defined for dtype {dtype}\n  help: `cast` to a dtype it is defined for, such as f32"
                )
            }
            _ => Ok(()),
        }
    }

    fn explain_rest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape { op, source, array } => {
                write!(f, "{op}: {source}")?;
                array
                    .as_ref()
                    .map_or(Ok(()), |array| write!(f, "\n  array: {array}"))
            }
            Self::Access {
                op,
                argument,
                source,
                array,
            } => {
                let array = ShortSummary(array);
                write!(f, "{}", source.explain(op, *argument, &array))
            }
            Self::Allocation {
                op,
                shape,
                dtype,
                source,
            } => write!(f, "{op}: no memory for {dtype} {}: {source}", Dims(shape)),
            Self::Kernel { source } => write!(f, "{source}"),
            Self::Length { op, shape, values } => {
                let needed = shape
                    .iter()
                    .try_fold(1usize, |n, &size| n.checked_mul(size));
                write!(f, "{op}: shape {} ", Dims(shape))?;
                match needed {
                    Some(needed) => write!(f, "holds {needed} elements, got {values}"),
                    None => write!(f, "holds more elements than can be counted, got {values}"),
                }
            }
            Self::Ragged {
                axis,
                expected,
                found,
            } => {
                write!(
                    f,
                    "from_nested: ragged input: axis {axis} has {expected} elements in one place and {found} in another\n"
                )?;
                f.write_str("  help: batches of unequal lengths are what LoD tensors are for")
            }
            Self::Form {
                op,
                expected,
                array,
            } => write!(
                f,
                "{op}: needs {expected}, got shape {}\n  array: {array}",
                Dims(&array.shape)
            ),
            Self::NeedsCopy { array } => {
                write!(
                    f,
                    "view_as: the strides of the array permit no view of that shape\n  array: {array}\n"
                )?;
                f.write_str("  help: `reshape` copies when it has to")
            }
            Self::IndexCount { op, given, array } => {
                let rank = array.shape.len();
                write!(
                    f,
                    "{op}: {given} numbers cannot name an element of an array of rank {rank}\n  array: {array}\n"
                )?;
                f.write_str("  help: give one index per axis; `get(&s![..])` takes parts")
            }
            Self::IndexRange {
                op,
                axis,
                index,
                array,
            } => {
                let size = array.shape[*axis];
                write!(
                    f,
                    "{op}: index {index} is out of range for axis {axis} with size {size}\n  array: {array}\n"
                )?;
                write!(
                    f,
                    "  help: valid are 0 to {} and, from the end, -1 to -{size}",
                    size.saturating_sub(1)
                )
            }
            Self::Empty { op, expected } => write!(f, "{op}: needs {expected}, got none"),
            Self::Range {
                op,
                start,
                end,
                step,
            } => write!(
                f,
                "{op}: no values from {start} to {end} with {step}: every number must be finite, the step not 0"
            ),
            Self::Interleaved { axis, shape } => {
                write!(
                    f,
                    "split_at: the halves of {} along axis {axis} interleave in memory\n",
                    Dims(shape)
                )?;
                f.write_str("  help: split along the axis with the largest stride, or `dup()` into an order where it is")
            }
            _ => Ok(()),
        }
    }
}

/// The copying method beside an in-place or output one: `add` for `addi` and `add_into`.
fn copying(op: &'static str) -> &'static str {
    op.strip_suffix("_into")
        .or_else(|| op.strip_suffix('i'))
        .unwrap_or(op)
}

/// `f32 [3, 4]`, as the workspace messages show an array.
struct ShortSummary<'a>(&'a ArraySummary);

impl fmt::Display for ShortSummary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.dtype, Dims(&self.0.shape))
    }
}

/// Attaches the op and the array to an error of a lower crate, keeping the caller's line.
pub(crate) trait InOp<T> {
    /// Names the op and the array at fault.
    #[track_caller]
    fn in_op(self, op: &'static str, array: &NdArray) -> Result<T>;
}

impl<T> InOp<T> for std::result::Result<T, ShapeError> {
    #[inline]
    #[track_caller]
    fn in_op(self, op: &'static str, array: &NdArray) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(source) => Err(ArrayError::new(ArrayErrorKind::Shape {
                op,
                source,
                array: Some(ArraySummary::of(array)),
            })),
        }
    }
}

impl<T> InOp<T> for std::result::Result<T, AccessError> {
    #[inline]
    #[track_caller]
    fn in_op(self, op: &'static str, array: &NdArray) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(source) => {
                let (argument, array) = (Argument::X, ArraySummary::of(array));
                Err(ArrayError::new(ArrayErrorKind::Access {
                    op,
                    argument,
                    source,
                    array,
                }))
            }
        }
    }
}

/// Turns the errors of lower crates that need no array into ours, keeping the caller's line.
pub(crate) trait OrFail<T> {
    /// Names the op.
    #[track_caller]
    fn or_fail(self, op: &'static str) -> Result<T>;
}

impl<T> OrFail<T> for std::result::Result<T, ShapeError> {
    #[inline]
    #[track_caller]
    fn or_fail(self, op: &'static str) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(source) => Err(ArrayError::new(ArrayErrorKind::Shape {
                op,
                source,
                array: None,
            })),
        }
    }
}

impl<T> OrFail<T> for std::result::Result<T, KernelError> {
    #[inline]
    #[track_caller]
    fn or_fail(self, _op: &'static str) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(source) => Err(ArrayError::new(ArrayErrorKind::Kernel { source })),
        }
    }
}
