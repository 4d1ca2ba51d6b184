//! The words of every [`ArrayErrorKind`]: the reason, the arrays it is about, what to do about it.

use std::fmt;

use super::{ArrayErrorKind, ArraySummary, Dims};

impl fmt::Display for ArrayErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Access {
                op,
                argument,
                source,
                array,
            } => write!(f, "{}", source.explain(op, *argument, &Short(array))),
            Self::Kernel { source } => {
                write!(f, "{source}")?;
                self.write_help(f)
            }
            Self::UnknownOp { .. } | Self::OperandCount { .. } | Self::Parameter { .. } => {
                self.write_by_name(f)
            }
            Self::NotFinite(found) => write!(f, "{found}"),
            _ => {
                self.write_reason(f)?;
                self.write_arrays(f)?;
                self.write_help(f)
            }
        }
    }
}

impl ArrayErrorKind {
    /// The first line: the op and what is wrong.
    fn write_reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broadcast { .. }
            | Self::InPlaceShape { .. }
            | Self::OutputShape { .. }
            | Self::VectorLength { .. }
            | Self::Join { .. } => self.write_shape_reason(f),
            Self::MatrixProduct { .. }
            | Self::RightSide { .. }
            | Self::Operands { .. }
            | Self::MixedDTypes { .. } => self.write_product_reason(f),
            Self::OverlappingTarget { .. }
            | Self::Cast { .. }
            | Self::DTypeMismatch { .. }
            | Self::UnsupportedDType { .. }
            | Self::NeedsCopy { .. }
            | Self::IndexCount { .. }
            | Self::IndexRange { .. }
            | Self::Form { .. } => self.write_array_reason(f),
            Self::PositionRange { .. } | Self::IndexDType { .. } | Self::MaskSize { .. } => {
                self.write_indices_reason(f)
            }
            _ => self.write_value_reason(f),
        }
    }

    /// Two shapes that do not go together.
    fn write_shape_reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broadcast { op, lhs, rhs } => {
                let (a, b) = (Dims(&lhs.shape), Dims(&rhs.shape));
                let conflict = Conflict(&lhs.shape, &rhs.shape);
                write!(f, "{op}: shapes {a} and {b} do not broadcast{conflict}")
            }
            Self::InPlaceShape { op, target, rhs } => {
                let (a, b) = (Dims(&target.shape), Dims(&rhs.shape));
                write!(f, "{op}: shape {b} does not broadcast into {a}: ")?;
                f.write_str("an in-place op cannot change the shape of its target")
            }
            Self::OutputShape { op, expected, out } => {
                let (a, b) = (Dims(expected), Dims(&out.shape));
                write!(f, "{op}: the result has shape {a}, the output array {b}")
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
                    "{op}: a matrix of shape {a} needs a vector of {expected} elements, got shape {b}"
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
                    "{op}: array {position} of shape {b} does not fit {a} along axis {axis}"
                )
            }
            _ => Ok(()),
        }
    }

    /// Operands of a product that do not go together.
    fn write_product_reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operands {
                op,
                expected,
                lhs,
                rhs,
            } => {
                let (a, b) = (Dims(&lhs.shape), Dims(&rhs.shape));
                write!(f, "{op}: needs {expected}, got shapes {a} and {b}")
            }
            Self::MixedDTypes { op, lhs, rhs } => {
                let (a, b) = (lhs.dtype, rhs.dtype);
                write!(
                    f,
                    "{op}: operands of dtypes {a} and {b}: nothing is promoted here"
                )
            }
            Self::MatrixProduct { op, lhs, rhs } => {
                let (a, b) = (Dims(&lhs.shape), Dims(&rhs.shape));
                write!(f, "{op}: cannot multiply {a} by {b}")?;
                let noun = |of: &ArraySummary, lines| match of.shape.len() {
                    1 => "elements",
                    _ => lines,
                };
                match (lhs.shape.last(), rows_of(rhs)) {
                    (Some(columns), Some(rows)) => {
                        let (x, y) = (noun(lhs, "columns"), noun(rhs, "rows"));
                        write!(f, ": {columns} {x} against {rows} {y}")
                    }
                    _ => Ok(()),
                }
            }
            Self::RightSide { op, lhs, rhs } => {
                let (a, b) = (Dims(&lhs.shape), Dims(&rhs.shape));
                write!(
                    f,
                    "{op}: a right side of shape {b} does not fit a matrix of shape {a}"
                )?;
                match (rows_of(lhs), rows_of(rhs)) {
                    (Some(needed), Some(found)) => {
                        write!(f, ": it has {found} rows, needed are {needed}")
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// One array that is not what the method needs.
    fn write_array_reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OverlappingTarget { op, .. } => {
                write!(f, "{op}: cannot write into a broadcast view: ")?;
                f.write_str("several of its elements share one place in memory")
            }
            Self::Cast { op, from, target } => {
                write!(
                    f,
                    "{op}: a result of dtype {from} cannot be stored in {}: ",
                    target.dtype
                )?;
                f.write_str("it would lose more than precision")
            }
            Self::DTypeMismatch {
                op,
                requested,
                array,
            } => {
                write!(
                    f,
                    "{op}: asked for elements of type {requested}, the array has {}",
                    array.dtype
                )
            }
            Self::UnsupportedDType { op, dtype } => {
                write!(f, "{op}: not defined for dtype {dtype}")
            }
            Self::NeedsCopy { .. } => {
                f.write_str("view_as: the strides of the array permit no view of that shape")
            }
            Self::IndexCount { op, given, array } => {
                let (rank, s) = (array.shape.len(), if *given == 1 { "" } else { "s" });
                write!(
                    f,
                    "{op}: {given} number{s} cannot name an element of an array of rank {rank}"
                )
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
                    "{op}: index {index} is out of range for axis {axis} with size {size}"
                )
            }
            Self::Form {
                op,
                expected,
                array,
            } => write!(
                f,
                "{op}: needs {expected}, got shape {}",
                Dims(&array.shape)
            ),
            _ => Ok(()),
        }
    }

    /// Lists of indices that do not fit an array.
    fn write_indices_reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PositionRange {
                op,
                axis,
                index,
                position,
                array,
            } => {
                let size = array.shape[*axis];
                write!(
                    f,
                    "{op}: index {index} at position {position} of the indices "
                )?;
                write!(f, "is out of range for axis {axis} with size {size}")
            }
            Self::IndexDType { op, indices } => {
                write!(f, "{op}: indices must be integers, got {}", indices.dtype)
            }
            Self::MaskSize {
                op,
                axis,
                found,
                array,
            } => {
                let size = array.shape[*axis];
                write!(
                    f,
                    "{op}: a mask of size {found} stands for axis {axis} with size {size}"
                )
            }
            _ => Ok(()),
        }
    }

    /// Values that make no array.
    fn write_value_reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape { op, source, .. } => write!(f, "{op}: {source}"),
            Self::DlPack { op, source } => write!(f, "{op}: {source}"),
            Self::Allocation {
                op,
                shape,
                dtype,
                source,
            } => write!(f, "{op}: no memory for {dtype} {}: {source}", Dims(shape)),
            Self::Length { op, shape, values } => {
                write!(f, "{op}: shape {} holds ", Dims(shape))?;
                match shape.checked_elements() {
                    Ok(needed) => write!(f, "{needed} elements, got {values}"),
                    Err(_) => write!(f, "more elements than can be counted, got {values}"),
                }
            }
            Self::Ragged {
                axis,
                expected,
                found,
            } => {
                write!(
                    f,
                    "from_nested: ragged input: axis {axis} has {expected} elements in one place and "
                )?;
                write!(f, "{found} in another")
            }
            Self::Count {
                op,
                what,
                expected,
                given,
                ..
            } => write!(f, "{op}: needs {expected} {what}, got {given}"),
            Self::Mask { op, array, mask } => {
                let (a, b) = (Dims(&array.shape), Dims(&mask.shape));
                write!(
                    f,
                    "{op}: the mask must be a bool array of shape {a}, got {} {b}",
                    mask.dtype
                )
            }
            Self::PartNumber {
                op,
                part,
                position,
                count,
            } => {
                write!(
                    f,
                    "{op}: number {part} at position {position} stands for none of "
                )?;
                write!(f, "{count} parts")
            }
            Self::Subscripts { problem, .. } => write!(f, "einsum: {problem}"),
            #[cfg(feature = "linalg")]
            Self::Linalg { op, problem, .. } => write!(f, "{op}: {problem}"),
            Self::Empty { op, expected } => write!(f, "{op}: needs {expected}, got none"),
            _ => self.write_range_reason(f),
        }
    }

    /// Positions and ranges that do not exist.
    fn write_range_reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAscending {
                op,
                index,
                value,
                previous,
            } => write!(
                f,
                "{op}: point {index} is {value} after {previous}, but points must ascend"
            ),
            Self::Range {
                op: op @ "linspace",
                start,
                end,
                step,
            } => write!(f, "{op}: no {step} values from {start} to {end}"),
            Self::Range {
                op,
                start,
                end,
                step,
            } => write!(
                f,
                "{op}: no values from {start} to {end} in steps of {step}"
            ),
            Self::SplitRange {
                axis,
                middle,
                shape,
            } => {
                let shape = Dims(shape);
                write!(
                    f,
                    "split_at: position {middle} is beyond axis {axis} of shape {shape}"
                )
            }
            Self::Interleaved { axis, shape } => {
                let shape = Dims(shape);
                write!(
                    f,
                    "split_at: the halves of {shape} along axis {axis} interleave in memory"
                )
            }
            _ => Ok(()),
        }
    }

    /// One line for each array involved.
    fn write_arrays(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |label: &str, array: &ArraySummary| write!(f, "\n  {label}: {array}");
        match self {
            Self::Broadcast { lhs, rhs, .. }
            | Self::MatrixProduct { lhs, rhs, .. }
            | Self::RightSide { lhs, rhs, .. }
            | Self::Operands { lhs, rhs, .. }
            | Self::MixedDTypes { lhs, rhs, .. } => {
                line("lhs", lhs)?;
                line("rhs", rhs)
            }
            Self::InPlaceShape { target, rhs, .. } => {
                line("target", target)?;
                line("rhs", rhs)
            }
            Self::OutputShape { out, .. } => line("out", out),
            Self::IndexDType { indices, .. } => line("indices", indices),
            Self::Subscripts { operands, .. } => {
                let mut numbered = operands.iter().enumerate();
                numbered.try_for_each(|(i, operand)| write!(f, "\n  operand {i}: {operand}"))
            }
            Self::OverlappingTarget { target, .. } | Self::Cast { target, .. } => {
                line("target", target)
            }
            Self::VectorLength { matrix, vector, .. } => {
                line("matrix", matrix)?;
                line("vector", vector)
            }
            Self::Mask { array, mask, .. } => {
                line("array", array)?;
                line("mask", mask)
            }
            Self::Join {
                first,
                position,
                found,
                ..
            } => {
                line("array 0", first)?;
                write!(f, "\n  array {position}: {found}")
            }
            #[cfg(feature = "linalg")]
            Self::Linalg { array, .. } => line("array", array),
            Self::DTypeMismatch { array, .. }
            | Self::NeedsCopy { array }
            | Self::IndexCount { array, .. }
            | Self::IndexRange { array, .. }
            | Self::PositionRange { array, .. }
            | Self::MaskSize { array, .. }
            | Self::Count { array, .. }
            | Self::Form { array, .. }
            | Self::Shape {
                array: Some(array), ..
            } => line("array", array),
            _ => Ok(()),
        }
    }
}

/// `: axis 1 is 4 vs 5` for the last axis on which two shapes disagree, counted in the result.
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

/// The rows of a matrix, the elements of a vector.
fn rows_of(array: &ArraySummary) -> Option<&usize> {
    array.shape.iter().nth_back(1).or(array.shape.last())
}

/// `f32 [3, 4]`, as the workspace messages show an array.
struct Short<'a>(&'a ArraySummary);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.dtype, Dims(&self.0.shape))
    }
}
