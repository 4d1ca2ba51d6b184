//! The words of every [`ArrayErrorKind`](super::ArrayErrorKind): the reason, the operands, what to do about it.

use std::fmt;

use super::{ArrayErrorKind, ArraySummary, Dims};

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
                let numbers = if *given == 1 { "number" } else { "numbers" };
                write!(
                    f,
                    "{op}: {given} {numbers} cannot name an element of an array of rank {rank}\n  array: {array}\n"
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
