//! The last line of a message: the way out, where there is one that the reason does not already name.

use std::fmt;

use lodestride_buffer::DType;
use lodestride_kernels::KernelError;
use lodestride_shape::ShapeError;

use super::{ArrayErrorKind, ArraySummary, Dims};

const BROADCASTING: &str =
    "sizes must be equal or 1, counted from the last axis; `expand_dims` or `reshape` one side";

/// What to do about a dtype: what single and double floats lack is defined for integers.
const fn casting(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 | DType::F64 => "`cast` to a dtype it is defined for, such as i64",
        _ => "`cast` to a dtype it is defined for, such as f32",
    }
}

impl ArrayErrorKind {
    /// `help: ..` on a line of its own.
    pub(super) fn write_help(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let advice = self.operand_advice().or_else(|| self.value_advice());
        match advice {
            Some(advice) => write!(f, "\n  help: {advice}"),
            None => self.write_own_help(f),
        }
    }

    /// What to do about operands, where it does not depend on the values.
    fn operand_advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Broadcast { .. } => BROADCASTING,
            Self::OverlappingTarget { .. } => "`dup()` it first",
            Self::MixedDTypes { .. } => "`cast` one of them to the dtype of the other",
            Self::UnsupportedDType { dtype, .. } => casting(*dtype),
            Self::Mask { .. } => "comparisons such as `a.less(0.5)?` make masks",
            Self::MatrixProduct { lhs, rhs, .. } => match (lhs.shape.len(), rhs.shape.len()) {
                (_, 1) => {
                    "the left needs a column for every element of the vector; `transpose()` swaps rows and columns"
                }
                (1, _) => {
                    "the right needs a row for every element of the vector; `transpose()` swaps rows and columns"
                }
                _ => {
                    "the last size of the left must be the second to last of the right; `transpose()` swaps them"
                }
            },
            Self::RightSide { .. } => "a right side has a row for each row of the matrix",
            Self::Operands { op, expected, .. } => return operands_advice(op, expected),
            Self::Join { op, .. } if op.starts_with("stack") => "all arrays must have one shape",
            Self::Join { .. } => "all sizes but that of the joined axis must be equal",
            Self::NeedsCopy { .. } => "`reshape` copies when it has to",
            Self::Form {
                expected, array, ..
            } => return form_advice(expected, array.shape.len()),
            Self::InPlaceShape { op, .. } if copying(op).is_none() => {
                "sizes of the values must be equal or 1, counted from the last axis"
            }
            _ => return None,
        })
    }

    /// What to do about numbers and lists, where it does not depend on them.
    fn value_advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Subscripts { .. } => {
                "a letter per axis, commas between operands, as in \"ij,jk->ik\"; `...` for the other axes"
            }
            Self::IndexCount { .. } => "give one index per axis; `get(&s![..])` takes parts",
            Self::Ragged { .. } => "batches of unequal lengths are what LoD tensors are for",
            Self::Interleaved { .. } => {
                "split along the axis with the largest stride, or `dup()` into an order where it is"
            }
            Self::PartNumber { .. } => "parts are numbered from 0 on",
            Self::IndexDType { .. } => "`cast(DType::I64)` them; masks are bool arrays",
            Self::MaskSize { .. } => "a mask has the size of each axis it stands for",
            Self::Count { op, .. } if op.starts_with("pad") => {
                "an axis that stays as it is has the width 0"
            }
            Self::Count { op, .. } if op.starts_with("repeat") => {
                "`repeat` takes one count for all"
            }
            Self::Count { op, .. } if op.starts_with("reverse") => {
                "a length of 1 leaves a line as it is"
            }
            Self::Count { op, .. } if op.starts_with("gradient") || op.contains("trapezoid") => {
                "a number as spacing stands for equal distances everywhere"
            }
            Self::Count { op, .. } if op.starts_with("roll") => {
                "a shift of 0 leaves an axis as it is"
            }
            Self::Count { op, .. } if op.starts_with("interp") || op.starts_with("polyfit") => {
                "points, values and weights pair up; `get(&s![..])` takes a part of what is longer"
            }
            Self::NotAscending { .. } => {
                "`argsort` gives the order in which `take` brings points and values; leave out NaN"
            }
            Self::Range { op: "linspace", .. } => {
                "both bounds, and what is between them, must be finite"
            }
            Self::Range { step: 0.0, .. } => {
                "a step is above 0, or below it to go down; `full` makes an array of one number"
            }
            Self::Range { .. } => {
                "every number must be finite; `linspace` takes a count instead of a step"
            }
            Self::Shape { op, source, .. }
            | Self::Kernel {
                source: KernelError::Shape { op, source },
            } => return shape_advice(op, source),
            Self::Kernel { source } => return kernel_advice(source),
            #[cfg(feature = "linalg")]
            Self::Linalg { problem, .. } => linalg_advice(problem),
            _ => return None,
        })
    }

    /// Help that names what was found.
    fn write_own_help(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutputShape { expected, .. } => {
                write!(f, "\n  help: pass an output of shape {}", Dims(expected))
            }
            Self::InPlaceShape { op, .. } => {
                f.write_str("\n  help: use the form that returns a new array")?;
                copying(op).map_or(Ok(()), |other| write!(f, " (`{other}`)"))
            }
            Self::Cast { op, from, .. } => {
                f.write_str("\n  help: use ")?;
                match copying(op) {
                    Some(other) => write!(f, "`{other}`")?,
                    None => f.write_str("the form that returns a new array")?,
                }
                write!(f, ", which is {from}, or `cast` one of the operands")
            }
            Self::DTypeMismatch {
                requested, array, ..
            } => {
                write!(f, "\n  help: ask for {}, ", array.dtype)?;
                write!(f, "or `cast(DType::{requested:?})` first")
            }
            Self::IndexRange { axis, array, .. } | Self::PositionRange { axis, array, .. } => {
                write_valid(f, array.shape[*axis])
            }
            Self::Kernel {
                source: KernelError::IndexOutOfRange { size, .. },
            } => write_valid(f, *size),
            Self::VectorLength {
                op,
                expected,
                matrix,
                vector,
            } => write_vector_help(f, op, *expected, matrix, vector),
            Self::Length { values, .. } => {
                write!(f, "\n  help: the sizes must multiply to {values}")
            }
            Self::SplitRange { axis, shape, .. } => {
                write!(f, "\n  help: positions are 0 to {}", shape[*axis])
            }
            Self::Shape {
                source: ShapeError::Reshape { request },
                ..
            } => {
                let count = request.from.elements();
                write!(f, "\n  help: the sizes must multiply to {count}; ")?;
                f.write_str("one may be -1, which is worked out from the others")
            }
            _ => Ok(()),
        }
    }
}

/// What to do about two arrays of which `expected` says what they should be.
fn operands_advice(op: &str, expected: &str) -> Option<&'static str> {
    match op {
        "mmul" | "mmul_into" => Some(
            "`matmul` takes vectors and batches too; `expand_dims(0)` makes a row of a vector, `expand_dims(1)` a column",
        ),
        "gemm_into" => Some("`expand_dims(0)` makes a row of a vector, `expand_dims(1)` a column"),
        _ if expected.contains("a covariance") => {
            Some("`covariance(1)` makes one of samples in columns, `diag(0)` one of variances")
        }
        _ if expected.contains("memory") => Some("`dup()` one of them first"),
        _ => None,
    }
}

/// What to do about one array of the wrong rank, where `expected` says which would do.
fn form_advice(expected: &str, rank: usize) -> Option<&'static str> {
    let matrix = expected.contains("matri");
    match rank {
        1 if matrix => Some("`expand_dims(0)` makes a row of a vector, `expand_dims(1)` a column"),
        3.. if expected == "a matrix" => {
            Some("`slice` takes a matrix out of a batch, `reshape` joins axes")
        }
        2.. if expected.starts_with("a square") => Some(
            "`get(&s![..])` takes a square part; `pinv`, `qr` and `svd` take matrices of any shape",
        ),
        _ if expected == "a vector" || expected == "vectors" => {
            Some("`ravel` makes a vector of any array")
        }
        _ if expected.contains("positions") => {
            Some("a slope needs a neighbour, one at the ends of second order two of them")
        }
        _ if matrix || expected.contains("at least") && expected.contains("ax") => {
            Some("`expand_dims` adds an axis, `reshape` splits and joins them")
        }
        _ => None,
    }
}

/// What to do about an axis, an index or a shape.
fn shape_advice(op: &str, source: &ShapeError) -> Option<&'static str> {
    Some(match source {
        ShapeError::Broadcast { .. } if op.starts_with("get_fancy") => {
            "lists pair up element by element, so their shapes must broadcast; `get_outer` takes each by each"
        }
        ShapeError::Broadcast { .. } if op.starts_with("put_fancy") => {
            "lists pair up element by element, so their shapes must broadcast; `put_outer` takes each by each"
        }
        ShapeError::Broadcast { .. } if op.contains("fancy") => {
            "lists pair up element by element, so their shapes must broadcast"
        }
        ShapeError::Broadcast { .. } => BROADCASTING,
        ShapeError::BroadcastTo { .. } => {
            "only a size of 1 is stretched, counted from the last axis; `expand_dims` or `reshape` first"
        }
        ShapeError::NotSizeOne { .. } => {
            "`slice` takes one position along it, `reshape` joins it with another axis"
        }
        ShapeError::Rank { .. } | ShapeError::AxisOutOfRange { rank: 0, .. } => {
            "`expand_dims(0)` adds an axis"
        }
        ShapeError::TooManyIndices { .. } => {
            "give at most one index per axis; `expand_dims` adds axes"
        }
        ShapeError::ReshapeUnknown { .. } => "name all sizes but one",
        _ => return None,
    })
}

/// What to do about the errors of the kernels whose own text does not say it.
fn kernel_advice(source: &KernelError) -> Option<&'static str> {
    match source {
        KernelError::UnsupportedDType { dtype, .. } => Some(casting(*dtype)),
        KernelError::InvalidArgument { name, .. } => random_advice(name),
        KernelError::EmptyReduction { .. } => {
            Some("`is_empty()` tells beforehand; sums and products have a value for no elements")
        }
        KernelError::OverlappingOutputs { .. } => Some("pass outputs that share no memory"),
        _ => None,
    }
}

/// What the numbers that random vectors are drawn by must be.
fn random_advice(name: &str) -> Option<&'static str> {
    Some(match name {
        "weight" => "weights are finite and at least 0; they need not add up to 1",
        "sum of the weights" => {
            "at least one weight must be above 0, and their sum finite: divide them by the largest"
        }
        "parameter" => "parameters are above 0 and finite",
        "trials" => "beyond 1e15 counts are not exact in f64",
        "mean" | "covariance" => {
            "every element must be finite: `is_finite()` shows where the others are"
        }
        _ => return None,
    })
}

/// What else there is for a matrix that cannot be solved or taken apart.
#[cfg(feature = "linalg")]
fn linalg_advice(problem: &crate::LinalgProblem) -> &'static str {
    use crate::LinalgProblem as Problem;
    match problem {
        Problem::Singular { .. } => {
            "`pinv` and `lstsq` do without an inverse; `matrix_rank` tells beforehand"
        }
        Problem::NotPositiveDefinite { .. } => {
            "`lu` takes any square matrix, `eigh` any symmetric one"
        }
        Problem::NotPositiveSemidefinite { .. } => {
            "`eigh` shows its eigenvalues; adding a small multiple of `eye` makes the negative ones positive"
        }
        Problem::NotSymmetric { .. } => "half the sum of it and its `transpose()` is symmetric",
        Problem::NotFinite { .. } => {
            "`is_finite()` shows where the others are, `replace_where` replaces them"
        }
        Problem::NoConvergence { .. } => "divide the matrix by its largest element first",
        Problem::RankDeficient { .. } => "`pinv` and `lstsq` take matrices of any rank",
    }
}

/// The vector's length, and the method that applies one of this length along the other axis.
fn write_vector_help(
    f: &mut fmt::Formatter<'_>,
    op: &str,
    expected: usize,
    matrix: &ArraySummary,
    vector: &ArraySummary,
) -> fmt::Result {
    let count: usize = vector.shape.iter().product();
    let across = [("_row_", "_column_"), ("_column_", "_row_")].into_iter();
    let across = across
        .filter(|_| matrix.shape.contains(&count))
        .find_map(|(this, other)| Some((op.split_once(this)?, other)));
    if let Some(((start, end), other)) = across {
        return write!(
            f,
            "\n  help: `{start}{other}{end}` takes one of {count} elements"
        );
    }
    write!(
        f,
        "\n  help: pass {expected} elements along one axis; `ravel` makes a vector of any array"
    )
}

/// Which positions an axis has.
fn write_valid(f: &mut fmt::Formatter<'_>, size: usize) -> fmt::Result {
    match size.checked_sub(1) {
        Some(last) => write!(
            f,
            "\n  help: valid are 0 to {last} and, from the end, -1 to -{size}"
        ),
        None => Ok(()),
    }
}

/// The copying method beside an in-place or output one: `add` for `addi` and `add_into`.
fn copying(op: &'static str) -> Option<&'static str> {
    match op {
        "gemm_into" | "assign" => None,
        _ => op.strip_suffix("_into").or_else(|| op.strip_suffix('i')),
    }
}
