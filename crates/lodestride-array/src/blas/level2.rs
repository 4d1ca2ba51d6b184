//! Level 2: matrices with vectors. Each is the level 3 function with a vector for a matrix of one column.

use super::level3::{symmetric, trmm, trsm, update};
use super::{
    Diagonal, Side, Transpose, Triangle, column, expect_floats, expect_result, product,
    square_form, vector,
};
use crate::NdArray;
use crate::checks::recorded_in;
use crate::error::Result;

/// `y = alpha * op(a) x + beta * y`.
///
/// # Errors
/// [`Form`](crate::ArrayErrorKind::Form) when `a` is not a matrix or `x` not a vector,
/// [`VectorLength`](crate::ArrayErrorKind::VectorLength) for vectors of a wrong length,
/// [`MixedDTypes`](crate::ArrayErrorKind::MixedDTypes) for different dtypes.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Transpose}};
///
/// let (a, y) = (NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]), NdArray::ones([2])?);
/// blas::gemv(Transpose::Yes, 1.0, &a, &NdArray::from([1.0f32, 10.0]), 1.0, &y)?;
/// assert_eq!(y.to_vec::<f32>()?, [32.0, 43.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn gemv(
    transpose: Transpose,
    alpha: f64,
    a: &NdArray,
    x: &NdArray,
    beta: f64,
    y: &NdArray,
) -> Result<()> {
    recorded_in("gemv", &[a, x], y, || {
        expect_floats("gemv", &[a, x, y], 1)?;
        let a = transpose.of(a);
        let (rows, columns) = a.matrix_form("gemv")?;
        let (x, y) = (
            column("gemv", x, columns, &a)?,
            column("gemv", y, rows, &a)?,
        );
        y.expect_writable("gemv")?;
        product("gemv", alpha, &a, &x, beta, &y)
    })
}

/// `a += alpha * x yᵀ`.
///
/// # Errors
/// [`Form`](crate::ArrayErrorKind::Form) when `x` or `y` is not a vector,
/// [`OutputShape`](crate::ArrayErrorKind::OutputShape) when `a` has not a row for each element of `x` and a column for
/// each of `y`.
///
/// ```
/// use lodestride_array::{NdArray, blas};
///
/// let a = NdArray::zeros([2, 2])?;
/// blas::ger(2.0, &NdArray::from([1.0f32, 2.0]), &NdArray::from([3.0f32, 4.0]), &a)?;
/// assert_eq!(a.to_vec::<f32>()?, [6.0, 8.0, 12.0, 16.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn ger(alpha: f64, x: &NdArray, y: &NdArray, a: &NdArray) -> Result<()> {
    recorded_in("ger", &[x, y], a, || {
        expect_floats("ger", &[x, y, a], 1)?;
        let (x, y) = (vector("ger", x)?, vector("ger", y)?);
        expect_result("ger", a, x.len(), y.len())?;
        product("ger", alpha, &x.expand_dims(1)?, &y.expand_dims(0)?, 1.0, a)
    })
}

/// `y = alpha * a x + beta * y` for a symmetric `a`.
///
/// # Errors
/// [`Form`](crate::ArrayErrorKind::Form) when `a` is not square, otherwise as [`gemv`].
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Triangle}};
///
/// let (a, y) = (NdArray::from([[1.0f32, 2.0], [9.0, 4.0]]), NdArray::zeros([2])?);
/// blas::symv(Triangle::Upper, 1.0, &a, &NdArray::from([1.0f32, 10.0]), 0.0, &y)?;
/// assert_eq!(y.to_vec::<f32>()?, [21.0, 42.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn symv(
    triangle: Triangle,
    alpha: f64,
    a: &NdArray,
    x: &NdArray,
    beta: f64,
    y: &NdArray,
) -> Result<()> {
    recorded_in("symv", &[a, x], y, || {
        expect_floats("symv", &[a, x, y], 1)?;
        let n = square_form("symv", a)?;
        let (x, y) = (column("symv", x, n, a)?, column("symv", y, n, a)?);
        y.expect_writable("symv")?;
        symmetric("symv", triangle, alpha, a, &x, beta, &y)
    })
}

/// `a += alpha * x xᵀ`, one triangle of it.
///
/// # Errors
/// [`Form`](crate::ArrayErrorKind::Form) when `a` is not square,
/// [`VectorLength`](crate::ArrayErrorKind::VectorLength) when `x` has another length than a row.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Triangle}};
///
/// let a = NdArray::zeros([2, 2])?;
/// blas::syr(Triangle::Lower, 1.0, &NdArray::from([1.0f32, 2.0]), &a)?;
/// assert_eq!(a.to_vec::<f32>()?, [1.0, 0.0, 2.0, 4.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn syr(triangle: Triangle, alpha: f64, x: &NdArray, a: &NdArray) -> Result<()> {
    recorded_in("syr", &[x], a, || {
        expect_floats("syr", &[x, a], 1)?;
        let n = square_form("syr", a)?;
        a.expect_writable("syr")?;
        let x = column("syr", x, n, a)?;
        update("syr", triangle, alpha, &[(&x, &x)], 1.0, a)
    })
}

/// `a += alpha * (x yᵀ + y xᵀ)`, one triangle of it.
///
/// # Errors
/// As [`syr`].
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Triangle}};
///
/// let a = NdArray::zeros([2, 2])?;
/// blas::syr2(Triangle::Upper, 1.0, &NdArray::from([1.0f32, 2.0]), &NdArray::from([0.0f32, 1.0]), &a)?;
/// assert_eq!(a.to_vec::<f32>()?, [0.0, 1.0, 0.0, 4.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn syr2(triangle: Triangle, alpha: f64, x: &NdArray, y: &NdArray, a: &NdArray) -> Result<()> {
    recorded_in("syr2", &[x, y], a, || {
        expect_floats("syr2", &[x, y, a], 1)?;
        let n = square_form("syr2", a)?;
        a.expect_writable("syr2")?;
        let (x, y) = (column("syr2", x, n, a)?, column("syr2", y, n, a)?);
        update("syr2", triangle, alpha, &[(&x, &y), (&y, &x)], 1.0, a)
    })
}

/// `x = op(a) x` for a triangular `a`.
///
/// # Errors
/// [`Form`](crate::ArrayErrorKind::Form) when `a` is not square,
/// [`VectorLength`](crate::ArrayErrorKind::VectorLength) when `x` has another length than a row.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Diagonal, Transpose, Triangle}};
///
/// let (a, x) = (NdArray::from([[1.0f32, 2.0], [9.0, 3.0]]), NdArray::from([1.0f32, 10.0]));
/// blas::trmv(Triangle::Upper, Transpose::No, Diagonal::Unit, &a, &x)?;
/// assert_eq!(x.to_vec::<f32>()?, [21.0, 10.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn trmv(
    triangle: Triangle,
    transpose: Transpose,
    diagonal: Diagonal,
    a: &NdArray,
    x: &NdArray,
) -> Result<()> {
    recorded_in("trmv", &[a], x, || {
        expect_floats("trmv", &[a, x], 1)?;
        let x = column("trmv", x, square_form("trmv", a)?, a)?;
        trmm(Side::Left, triangle, transpose, diagonal, 1.0, a, &x)
    })
}

/// Solves `op(a) y = x` for a triangular `a`; `y` takes the place of `x`.
///
/// A zero on the diagonal is not an error: it divides, as in the reference BLAS.
///
/// # Errors
/// As [`trmv`].
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Diagonal, Transpose, Triangle}};
///
/// let (a, x) = (NdArray::from([[1.0f32, 2.0], [9.0, 3.0]]), NdArray::from([21.0f32, 30.0]));
/// blas::trsv(Triangle::Upper, Transpose::No, Diagonal::Stored, &a, &x)?;
/// assert_eq!(x.to_vec::<f32>()?, [1.0, 10.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn trsv(
    triangle: Triangle,
    transpose: Transpose,
    diagonal: Diagonal,
    a: &NdArray,
    x: &NdArray,
) -> Result<()> {
    recorded_in("trsv", &[a], x, || {
        expect_floats("trsv", &[a, x], 1)?;
        let x = column("trsv", x, square_form("trsv", a)?, a)?;
        trsm(Side::Left, triangle, transpose, diagonal, 1.0, a, &x)
    })
}
