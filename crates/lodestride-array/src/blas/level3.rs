//! Level 3: matrices with matrices.

use std::ops::Range;

use lodestride_shape::{all, interval};

use super::triangle::Triangular;
use super::{
    Diagonal, Side, Transpose, Triangle, apart, expect_floats, expect_result, product, scale,
    square_form,
};
use crate::NdArray;
use crate::checks::recorded_in;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, Result};

#[cold]
#[track_caller]
fn no_product(op: &'static str, lhs: &NdArray, rhs: &NdArray) -> ArrayError {
    let (lhs, rhs) = (ArraySummary::of(lhs), ArraySummary::of(rhs));
    ArrayError::new(ArrayErrorKind::MatrixProduct { op, lhs, rhs })
}

/// `c = alpha * op(a) op(b) + beta * c`.
///
/// # Errors
/// [`ArrayErrorKind::MatrixProduct`] when the inner sizes differ, [`ArrayErrorKind::OutputShape`] when `c` has another
/// shape than the product, [`ArrayErrorKind::MixedDTypes`] for different dtypes.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Transpose::No}};
///
/// let (a, c) = (NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]), NdArray::ones([2, 2])?);
/// blas::gemm(No, No, 2.0, &a, &NdArray::eye(2)?, -1.0, &c)?;
/// assert_eq!(c.to_vec::<f32>()?, [1.0, 3.0, 5.0, 7.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn gemm(
    transpose_a: Transpose,
    transpose_b: Transpose,
    alpha: f64,
    a: &NdArray,
    b: &NdArray,
    beta: f64,
    c: &NdArray,
) -> Result<()> {
    recorded_in("gemm", &[a, b], c, || {
        expect_floats("gemm", &[a, b, c], 1)?;
        let (a, b) = (transpose_a.of(a), transpose_b.of(b));
        let (rows, inner) = a.matrix_form("gemm")?;
        let (depth, columns) = b.matrix_form("gemm")?;
        if inner != depth {
            return Err(no_product("gemm", &a, &b));
        }
        expect_result("gemm", c, rows, columns)?;
        product("gemm", alpha, &a, &b, beta, c)
    })
}

/// `c = alpha * a b + beta * c` for a symmetric `a`, or `alpha * b a + beta * c`.
///
/// # Errors
/// [`ArrayErrorKind::Form`] when `a` is not square, otherwise as [`gemm`].
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Side, Triangle}};
///
/// let a = NdArray::from([[1.0f32, 2.0], [f32::NAN, 3.0]]); // what is below the diagonal is not read
/// let c = NdArray::zeros([2, 2])?;
/// blas::symm(Side::Left, Triangle::Upper, 1.0, &a, &NdArray::eye(2)?, 0.0, &c)?;
/// assert_eq!(c.to_vec::<f32>()?, [1.0, 2.0, 2.0, 3.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn symm(
    side: Side,
    triangle: Triangle,
    alpha: f64,
    a: &NdArray,
    b: &NdArray,
    beta: f64,
    c: &NdArray,
) -> Result<()> {
    recorded_in("symm", &[a, b], c, || {
        expect_floats("symm", &[a, b, c], 1)?;
        let n = square_form("symm", a)?;
        let (rows, columns) = b.matrix_form("symm")?;
        match side {
            Side::Left if n != rows => return Err(no_product("symm", a, b)),
            Side::Right if n != columns => return Err(no_product("symm", b, a)),
            _ => expect_result("symm", c, rows, columns)?,
        }
        let (b, c) = match side {
            Side::Left => (b.clone(), c.clone()),
            Side::Right => (b.transpose(), c.transpose()),
        };
        symmetric("symm", triangle, alpha, a, &b, beta, &c)
    })
}

/// `c = alpha * a b + beta * c` for operands that fit.
#[track_caller]
pub(super) fn symmetric(
    op: &'static str,
    triangle: Triangle,
    alpha: f64,
    a: &NdArray,
    b: &NdArray,
    beta: f64,
    c: &NdArray,
) -> Result<()> {
    let (a, b) = (apart(a.clone(), c)?, apart(b.clone(), c)?);
    scale(beta, c)?;
    if alpha == 0.0 || c.is_empty() {
        return Ok(());
    }
    triangle.symmetric_product(op, alpha, &a, &b, c)
}

/// `c = alpha * op(a) op(a)ᵀ + beta * c`, one triangle of it.
///
/// # Errors
/// [`ArrayErrorKind::OutputShape`] when `c` has another shape than the product.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Transpose, Triangle}};
///
/// let (a, c) = (NdArray::from([[1.0f32], [2.0]]), NdArray::zeros([2, 2])?);
/// blas::syrk(Triangle::Lower, Transpose::No, 1.0, &a, 0.0, &c)?;
/// assert_eq!(c.to_vec::<f32>()?, [1.0, 0.0, 2.0, 4.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn syrk(
    triangle: Triangle,
    transpose: Transpose,
    alpha: f64,
    a: &NdArray,
    beta: f64,
    c: &NdArray,
) -> Result<()> {
    recorded_in("syrk", &[a], c, || {
        expect_floats("syrk", &[a, c], 1)?;
        let a = transpose.of(a);
        let (n, _) = a.matrix_form("syrk")?;
        expect_result("syrk", c, n, n)?;
        update("syrk", triangle, alpha, &[(&a, &a)], beta, c)
    })
}

/// `c = alpha * (op(a) op(b)ᵀ + op(b) op(a)ᵀ) + beta * c`, one triangle of it.
///
/// # Errors
/// [`ArrayErrorKind::MatrixProduct`] when `a` and `b` have different shapes, [`ArrayErrorKind::OutputShape`] when `c` has
/// another shape than the product.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Transpose, Triangle}};
///
/// let (a, c) = (NdArray::from([[1.0f32], [2.0]]), NdArray::zeros([2, 2])?);
/// blas::syr2k(Triangle::Upper, Transpose::No, 1.0, &a, &a, 0.0, &c)?;
/// assert_eq!(c.to_vec::<f32>()?, [2.0, 4.0, 0.0, 8.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn syr2k(
    triangle: Triangle,
    transpose: Transpose,
    alpha: f64,
    a: &NdArray,
    b: &NdArray,
    beta: f64,
    c: &NdArray,
) -> Result<()> {
    recorded_in("syr2k", &[a, b], c, || {
        expect_floats("syr2k", &[a, b, c], 1)?;
        let (a, b) = (transpose.of(a), transpose.of(b));
        let (n, _) = a.matrix_form("syr2k")?;
        b.matrix_form("syr2k")?;
        if a.shape() != b.shape() {
            return Err(no_product("syr2k", &a, &b.transpose()));
        }
        expect_result("syr2k", c, n, n)?;
        update("syr2k", triangle, alpha, &[(&a, &b), (&b, &a)], beta, c)
    })
}

/// `c = alpha * Σ x yᵀ + beta * c` in one triangle, for operands that fit.
#[track_caller]
pub(super) fn update(
    op: &'static str,
    triangle: Triangle,
    alpha: f64,
    terms: &[(&NdArray, &NdArray)],
    beta: f64,
    c: &NdArray,
) -> Result<()> {
    let aside = |x: &NdArray| apart(x.clone(), c);
    let terms = terms
        .iter()
        .map(|&(x, y)| Ok((aside(x)?, aside(y)?)))
        .collect::<Result<Vec<_>>>()?;
    let part = |x: &NdArray, range: &Range<usize>| {
        x.get(&[interval(range.start as isize, range.end as isize), all()])
    };
    triangle.update(c, &mut |rows, columns, target| {
        if alpha == 0.0 {
            return scale(beta, target);
        }
        for (i, (x, y)) in terms.iter().enumerate() {
            let (x, y) = (part(x, rows)?, part(y, columns)?);
            let beta = if i == 0 { beta } else { 1.0 };
            product(op, alpha, &x, &y.transpose(), beta, target)?;
        }
        Ok(())
    })
}

/// `b = alpha * op(a) b` for a triangular `a`, or `alpha * b op(a)`.
///
/// # Errors
/// [`ArrayErrorKind::Form`] when `a` is not square, [`ArrayErrorKind::MatrixProduct`] when the sizes do not fit.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Diagonal, Side, Transpose, Triangle}};
///
/// let (a, b) = (NdArray::from([[1.0f32, 2.0], [9.0, 3.0]]), NdArray::eye(2)?);
/// blas::trmm(Side::Left, Triangle::Upper, Transpose::No, Diagonal::Stored, 1.0, &a, &b)?;
/// assert_eq!(b.to_vec::<f32>()?, [1.0, 2.0, 0.0, 3.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn trmm(
    side: Side,
    triangle: Triangle,
    transpose: Transpose,
    diagonal: Diagonal,
    alpha: f64,
    a: &NdArray,
    b: &NdArray,
) -> Result<()> {
    recorded_in("trmm", &[a], b, || {
        match sided("trmm", side, (triangle, transpose, diagonal), alpha, a, b)? {
            Some((a, b)) => a.multiply("trmm", &b),
            None => Ok(()),
        }
    })
}

/// Solves `op(a) x = alpha * b` for a triangular `a`, or `x op(a) = alpha * b`; `x` takes the place of `b`.
///
/// A zero on the diagonal is not an error: it divides, as in the reference BLAS.
///
/// # Errors
/// [`ArrayErrorKind::Form`] when `a` is not square, [`ArrayErrorKind::MatrixProduct`] when the sizes do not fit.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Diagonal, Side, Transpose, Triangle}};
///
/// let a = NdArray::from([[2.0f32, 2.0], [9.0, 4.0]]);
/// let b = NdArray::from([[8.0f32], [4.0]]);
/// blas::trsm(Side::Left, Triangle::Upper, Transpose::No, Diagonal::Stored, 1.0, &a, &b)?;
/// assert_eq!(b.to_vec::<f32>()?, [3.0, 1.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn trsm(
    side: Side,
    triangle: Triangle,
    transpose: Transpose,
    diagonal: Diagonal,
    alpha: f64,
    a: &NdArray,
    b: &NdArray,
) -> Result<()> {
    recorded_in("trsm", &[a], b, || {
        match sided("trsm", side, (triangle, transpose, diagonal), alpha, a, b)? {
            Some((a, b)) => a.solve("trsm", &b),
            None => Ok(()),
        }
    })
}

/// Checks the operands, scales `b` and turns the problem into one with the triangular matrix on the left; none is left
/// where the result is known.
#[track_caller]
fn sided(
    op: &'static str,
    side: Side,
    (triangle, transpose, diagonal): (Triangle, Transpose, Diagonal),
    alpha: f64,
    a: &NdArray,
    b: &NdArray,
) -> Result<Option<(Triangular, NdArray)>> {
    expect_floats(op, &[a, b], 1)?;
    let n = square_form(op, a)?;
    let (rows, columns) = b.matrix_form(op)?;
    match side {
        Side::Left if n != rows => return Err(no_product(op, a, b)),
        Side::Right if n != columns => return Err(no_product(op, b, a)),
        _ => b.expect_writable(op)?,
    }
    let a = apart(transpose.of(a), b)?;
    scale(alpha, b)?;
    if alpha == 0.0 || b.is_empty() {
        return Ok(None);
    }
    let triangle = triangle.of(transpose);
    Ok(Some(match side {
        Side::Left => (Triangular::new(a, triangle, diagonal), b.clone()),
        Side::Right => {
            let triangle = triangle.of(Transpose::Yes);
            let a = Triangular::new(a.transpose(), triangle, diagonal);
            (a, b.transpose())
        }
    }))
}
