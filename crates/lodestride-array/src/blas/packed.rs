//! Symmetric and triangular matrices whose one triangle is packed into a vector.
//!
//! The packing is LAPACK's: the columns of the triangle, one after the other.

use lodestride_buffer::Argument;
use lodestride_shape::interval;

use super::level2::{symv, syr, syr2, trmv, trsv};
use super::{Diagonal, Transpose, Triangle, expect_floats, square_form, unlike, vector};
use crate::NdArray;
use crate::checks::{Watch, recorded_in};
use crate::error::Result;

/// The elements a triangle packs into.
fn packed_len(n: usize) -> usize {
    n * (n + 1) / 2
}

/// Calls `visit` with each column of the triangle in a matrix and in the packed vector.
#[track_caller]
fn columns(
    triangle: Triangle,
    matrix: &NdArray,
    packed: &NdArray,
    mut visit: impl FnMut(NdArray, NdArray) -> Result<()>,
) -> Result<()> {
    let n = matrix.shape()[0];
    let mut start = 0;
    for j in 0..n {
        let rows = match triangle {
            Triangle::Upper => 0..j + 1,
            Triangle::Lower => j..n,
        };
        let end = start + rows.len();
        let column = matrix
            .column(j as isize)?
            .get(&[interval(rows.start as isize, rows.end as isize)])?;
        visit(
            column,
            packed.get(&[interval(start as isize, end as isize)])?,
        )?;
        start = end;
    }
    Ok(())
}

/// One triangle of a square matrix as a vector of its columns.
///
/// # Errors
/// [`Form`](crate::ArrayErrorKind::Form) when the matrix is not square.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Triangle}};
///
/// let a = NdArray::from([[1.0f32, 2.0], [0.0, 3.0]]);
/// let packed = blas::pack(Triangle::Upper, &a)?;
/// assert_eq!(packed.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
/// assert_eq!(blas::unpack(Triangle::Upper, &packed)?, a);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn pack(triangle: Triangle, matrix: &NdArray) -> Result<NdArray> {
    let watch = Watch::start();
    matrix.expect_readable("pack", Argument::X)?;
    let n = square_form("pack", matrix)?;
    let packed = NdArray::zeros_of(matrix.dtype(), [packed_len(n)])?;
    pack_into(triangle, matrix, &packed)?;
    watch.made("pack", &[matrix], Ok(packed))
}

#[track_caller]
fn pack_into(triangle: Triangle, matrix: &NdArray, packed: &NdArray) -> Result<()> {
    columns(triangle, matrix, packed, |column, packed| {
        packed.assign(&column).map(drop)
    })
}

/// The matrix of a packed triangle, zero elsewhere.
///
/// # Errors
/// [`Form`](crate::ArrayErrorKind::Form) when the vector is not as long as a triangle.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Triangle}};
///
/// let a = blas::unpack(Triangle::Lower, &NdArray::from([1.0f32, 2.0, 3.0]))?;
/// assert_eq!(a, NdArray::from([[1.0f32, 0.0], [2.0, 3.0]]));
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn unpack(triangle: Triangle, packed: &NdArray) -> Result<NdArray> {
    let watch = Watch::start();
    packed.expect_readable("unpack", Argument::X)?;
    let flat = vector("unpack", packed)?;
    let mut n = 0;
    while packed_len(n) < flat.len() {
        n += 1;
    }
    if packed_len(n) != flat.len() {
        return Err(super::form(
            "unpack",
            "a vector of n (n + 1) / 2 elements",
            packed,
        ));
    }
    watch.made("unpack", &[packed], unpacked(triangle, &flat, n))
}

#[track_caller]
fn unpacked(triangle: Triangle, packed: &NdArray, n: usize) -> Result<NdArray> {
    let matrix = NdArray::zeros_of(packed.dtype(), [n, n])?.transpose();
    columns(triangle, &matrix, packed, |column, packed| {
        column.assign(&packed).map(drop)
    })?;
    Ok(matrix)
}

/// The matrix of a packed triangle that belongs to a vector.
#[track_caller]
fn matrix_for(
    op: &'static str,
    triangle: Triangle,
    packed: &NdArray,
    x: &NdArray,
) -> Result<NdArray> {
    let (flat, n) = (vector(op, packed)?, vector(op, x)?.len());
    if flat.len() != packed_len(n) {
        let expected = "n (n + 1) / 2 packed elements beside a vector of n";
        return Err(unlike(op, expected, packed, x));
    }
    unpacked(triangle, &flat, n)
}

/// `y = alpha * a x + beta * y` for a symmetric `a` whose triangle is packed.
///
/// # Errors
/// [`Operands`](crate::ArrayErrorKind::Operands) when the triangle does not fit the vector,
/// [`VectorLength`](crate::ArrayErrorKind::VectorLength) when `y` has another length than `x`.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Triangle}};
///
/// let (a, y) = (NdArray::from([1.0f32, 2.0, 4.0]), NdArray::zeros([2])?);
/// blas::spmv(Triangle::Upper, 1.0, &a, &NdArray::from([1.0f32, 10.0]), 0.0, &y)?;
/// assert_eq!(y.to_vec::<f32>()?, [21.0, 42.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn spmv(
    triangle: Triangle,
    alpha: f64,
    packed: &NdArray,
    x: &NdArray,
    beta: f64,
    y: &NdArray,
) -> Result<()> {
    recorded_in("spmv", &[packed, x], y, || {
        expect_floats("spmv", &[packed, x, y], 1)?;
        let matrix = matrix_for("spmv", triangle, packed, x)?;
        symv(triangle, alpha, &matrix, x, beta, y)
    })
}

/// `a += alpha * x xᵀ` for a packed triangle of `a`.
///
/// # Errors
/// [`Operands`](crate::ArrayErrorKind::Operands) when the triangle does not fit the vector.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Triangle}};
///
/// let a = NdArray::zeros([3])?;
/// blas::spr(Triangle::Lower, 1.0, &NdArray::from([1.0f32, 2.0]), &a)?;
/// assert_eq!(a.to_vec::<f32>()?, [1.0, 2.0, 4.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn spr(triangle: Triangle, alpha: f64, x: &NdArray, packed: &NdArray) -> Result<()> {
    recorded_in("spr", &[x], packed, || {
        expect_floats("spr", &[x, packed], 1)?;
        let matrix = matrix_for("spr", triangle, packed, x)?;
        packed.expect_writable("spr")?;
        syr(triangle, alpha, x, &matrix)?;
        pack_into(triangle, &matrix, &vector("spr", packed)?)
    })
}

/// `a += alpha * (x yᵀ + y xᵀ)` for a packed triangle of `a`.
///
/// # Errors
/// [`Operands`](crate::ArrayErrorKind::Operands) when the triangle does not fit the vectors.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Triangle}};
///
/// let a = NdArray::zeros([3])?;
/// blas::spr2(Triangle::Upper, 1.0, &NdArray::from([1.0f32, 2.0]), &NdArray::from([0.0f32, 1.0]), &a)?;
/// assert_eq!(a.to_vec::<f32>()?, [0.0, 1.0, 4.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn spr2(
    triangle: Triangle,
    alpha: f64,
    x: &NdArray,
    y: &NdArray,
    packed: &NdArray,
) -> Result<()> {
    recorded_in("spr2", &[x, y], packed, || {
        expect_floats("spr2", &[x, y, packed], 1)?;
        let matrix = matrix_for("spr2", triangle, packed, x)?;
        packed.expect_writable("spr2")?;
        syr2(triangle, alpha, x, y, &matrix)?;
        pack_into(triangle, &matrix, &vector("spr2", packed)?)
    })
}

/// `x = op(a) x` for a triangular `a` that is packed.
///
/// # Errors
/// [`Operands`](crate::ArrayErrorKind::Operands) when the triangle does not fit the vector.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Diagonal, Transpose, Triangle}};
///
/// let (a, x) = (NdArray::from([1.0f32, 2.0, 3.0]), NdArray::from([1.0f32, 10.0]));
/// blas::tpmv(Triangle::Upper, Transpose::No, Diagonal::Stored, &a, &x)?;
/// assert_eq!(x.to_vec::<f32>()?, [21.0, 30.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn tpmv(
    triangle: Triangle,
    transpose: Transpose,
    diagonal: Diagonal,
    packed: &NdArray,
    x: &NdArray,
) -> Result<()> {
    recorded_in("tpmv", &[packed], x, || {
        expect_floats("tpmv", &[packed, x], 1)?;
        let matrix = matrix_for("tpmv", triangle, packed, x)?;
        trmv(triangle, transpose, diagonal, &matrix, x)
    })
}

/// Solves `op(a) y = x` for a triangular `a` that is packed; `y` takes the place of `x`.
///
/// # Errors
/// [`Operands`](crate::ArrayErrorKind::Operands) when the triangle does not fit the vector.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Diagonal, Transpose, Triangle}};
///
/// let (a, x) = (NdArray::from([1.0f32, 2.0, 3.0]), NdArray::from([21.0f32, 30.0]));
/// blas::tpsv(Triangle::Upper, Transpose::No, Diagonal::Stored, &a, &x)?;
/// assert_eq!(x.to_vec::<f32>()?, [1.0, 10.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn tpsv(
    triangle: Triangle,
    transpose: Transpose,
    diagonal: Diagonal,
    packed: &NdArray,
    x: &NdArray,
) -> Result<()> {
    recorded_in("tpsv", &[packed], x, || {
        expect_floats("tpsv", &[packed, x], 1)?;
        let matrix = matrix_for("tpsv", triangle, packed, x)?;
        trsv(triangle, transpose, diagonal, &matrix, x)
    })
}
