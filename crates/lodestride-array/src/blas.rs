//! BLAS by its own names, levels 1 to 3, over arrays of any layout.
//!
//! [`NdArray`] has friendlier methods for most of this; these functions are for code that thinks in BLAS: the names, the
//! order of arguments and the formulas are those of the reference BLAS, sizes and steps are the arrays' own.
//!
//! ```
//! use lodestride_array::{DType, NdArray, blas::{self, Transpose::{No, Yes}}};
//!
//! let a = NdArray::from([[1.0f64, 2.0], [3.0, 4.0]]);
//! let c = NdArray::full_of(DType::F64, [2, 2], f64::NAN)?;
//! blas::gemm(No, Yes, 1.0, &a, &a, 0.0, &c)?; // beta is 0: what `c` holds does not matter
//! assert_eq!(c.to_vec::<f64>()?, [5.0, 11.0, 11.0, 25.0]);
//! # Ok::<(), lodestride_array::ArrayError>(())
//! ```
//!
//! # Rules
//!
//! * All operands have one float dtype: f32, f64, f16 or bf16. The half floats are computed in f32 or by f32 kernels.
//! * A vector is an array of rank 1, or a matrix of one row or one column.
//! * With `beta` 0 the result is never read, with `alpha` 0 the inputs are not: neither passes on a NaN.
//! * Triangular and symmetric matrices are read, and written, in the named triangle only.
//! * A result may share memory with inputs: they are read as if copied first. Functions with two results refuse operands
//!   that share memory. Nothing is written before the arguments have been checked.
//! * Products run on the backend that [`kernels::Backend`] names.
//!
//! Band matrices ([`Band`]) and packed triangles ([`pack`]) are laid out as in LAPACK and SciPy.

mod banded;
mod level1;
mod level2;
mod level3;
mod packed;
mod triangle;

use lodestride_buffer::{Argument, DType};
use lodestride_kernels as kernels;
use lodestride_shape::Shape;

pub use self::banded::{Band, gbmv, sbmv, tbmv, tbsv};
pub use self::level1::{
    Givens, ModifiedGivens, ModifiedRotation, asum, axpy, copy, dot, iamax, iamin, nrm2, rot, rotg,
    rotm, rotmg, scal, swap,
};
pub use self::level2::{gemv, ger, symv, syr, syr2, trmv, trsv};
pub use self::level3::{gemm, symm, syr2k, syrk, trmm, trsm};
pub use self::packed::{pack, spmv, spr, spr2, tpmv, tpsv, unpack};
use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, OrFail, Result};

/// Whether a matrix is taken as it is or transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "CBLAS_TRANSPOSE")]
pub enum Transpose {
    /// As it is.
    No,
    /// With rows and columns exchanged.
    Yes,
}

impl Transpose {
    /// A view of the matrix, transposed where that is meant.
    fn of(self, matrix: &NdArray) -> NdArray {
        match self {
            Self::No => matrix.clone(),
            Self::Yes => matrix.transpose(),
        }
    }
}

/// The half of a square matrix that is used; both include the diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "CBLAS_UPLO")]
pub enum Triangle {
    /// The diagonal and what is right of it.
    Upper,
    /// The diagonal and what is left of it.
    Lower,
}

impl Triangle {
    /// The triangle of a matrix that is that of its transpose.
    fn of(self, transpose: Transpose) -> Self {
        match (self, transpose) {
            (Self::Upper, Transpose::No) | (Self::Lower, Transpose::Yes) => Self::Upper,
            _ => Self::Lower,
        }
    }
}

/// Where the diagonal of a triangular matrix is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "CBLAS_DIAG")]
pub enum Diagonal {
    /// In the matrix.
    Stored,
    /// Nowhere: it is all ones, whatever the matrix holds.
    Unit,
}

/// On which side of the other operand a symmetric or triangular matrix stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "CBLAS_SIDE")]
pub enum Side {
    /// `a b`.
    Left,
    /// `b a`.
    Right,
}

/// Checks that all operands can be read and have one float dtype. The result comes last, under the letter Z; with `results` 0
/// there is none, and with 2 the operands are both.
#[track_caller]
fn expect_floats(op: &'static str, operands: &[&NdArray], results: usize) -> Result<()> {
    let inputs = operands.len() - results;
    for (i, operand) in operands.iter().enumerate() {
        let argument = match (i, results) {
            (i, 2) => Argument::Output(i),
            (i, 1) if i == inputs => Argument::Z,
            (0, _) => Argument::X,
            (1, _) => Argument::Y,
            (i, _) => Argument::Input(i),
        };
        operand.expect_readable(op, argument)?;
    }
    let dtype = operands.first().map_or(DType::F32, |first| first.dtype());
    if !dtype.is_float() {
        return Err(ArrayError::new(ArrayErrorKind::UnsupportedDType {
            op,
            dtype,
        }));
    }
    match operands.iter().find(|operand| operand.dtype() != dtype) {
        None => Ok(()),
        Some(other) => Err(ArrayError::new(ArrayErrorKind::MixedDTypes {
            op,
            lhs: ArraySummary::of(operands[0]),
            rhs: ArraySummary::of(other),
        })),
    }
}

/// The order of a square matrix.
#[track_caller]
fn square_form(op: &'static str, matrix: &NdArray) -> Result<usize> {
    match matrix.shape().as_array() {
        Some(&[rows, columns]) if rows == columns => Ok(rows),
        _ => Err(form(op, "a square matrix", matrix)),
    }
}

#[cold]
#[track_caller]
fn form(op: &'static str, expected: &'static str, array: &NdArray) -> ArrayError {
    let array = ArraySummary::of(array);
    ArrayError::new(ArrayErrorKind::Form {
        op,
        expected,
        array,
    })
}

#[cold]
#[track_caller]
fn unlike(op: &'static str, expected: &'static str, lhs: &NdArray, rhs: &NdArray) -> ArrayError {
    ArrayError::new(ArrayErrorKind::Operands {
        op,
        expected,
        lhs: ArraySummary::of(lhs),
        rhs: ArraySummary::of(rhs),
    })
}

/// A vector as a view of rank 1.
#[track_caller]
fn vector(op: &'static str, array: &NdArray) -> Result<NdArray> {
    match array.shape()[..] {
        [_] => Ok(array.clone()),
        [1, _] => array.squeeze(0),
        [_, 1] => array.squeeze(1),
        _ => Err(form(op, "a vector", array)),
    }
}

/// A vector of a known length as a view that is a matrix of one column.
#[track_caller]
fn column(op: &'static str, array: &NdArray, expected: usize, matrix: &NdArray) -> Result<NdArray> {
    let flat = vector(op, array)?;
    if flat.len() == expected {
        return flat.expand_dims(1);
    }
    Err(ArrayError::new(ArrayErrorKind::VectorLength {
        op,
        expected,
        matrix: ArraySummary::of(matrix),
        vector: ArraySummary::of(array),
    }))
}

/// Checks that a matrix can take a result of the given shape.
#[track_caller]
fn expect_result(op: &'static str, out: &NdArray, rows: usize, columns: usize) -> Result<()> {
    out.expect_output(op, &Shape::from([rows, columns]), out.dtype())
}

/// An input that stays as it is while `out` is written: a copy where they are parts of one buffer.
#[track_caller]
fn apart(input: NdArray, out: &NdArray) -> Result<NdArray> {
    // Also for parts that do not overlap: a buffer opens once for writing, and a kernel would copy all of it.
    if input.buffer().same_block(out.buffer()) {
        input.dup()
    } else {
        Ok(input)
    }
}

/// `out = beta * out`, which a `beta` of zero never reads.
#[track_caller]
fn scale(beta: f64, out: &NdArray) -> Result<()> {
    if beta == 0.0 {
        out.assign(0.0)?;
    } else if beta != 1.0 {
        out.muli(beta)?;
    }
    Ok(())
}

/// `out = alpha * a b + beta * out` for matrices whose shapes fit.
#[track_caller]
fn product(
    op: &'static str,
    alpha: f64,
    a: &NdArray,
    b: &NdArray,
    beta: f64,
    out: &NdArray,
) -> Result<()> {
    if alpha == 0.0 || a.is_empty() || b.is_empty() {
        return scale(beta, out);
    }
    kernels::matmul(a.operand(), b.operand(), out.operand(), alpha, beta).or_fail(op)
}
