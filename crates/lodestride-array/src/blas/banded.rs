//! Matrices with few diagonals, stored diagonal by diagonal.
//!
//! The storage is LAPACK's and SciPy's: a matrix with a row per diagonal, from the highest to the lowest, in which every
//! element stays in its column: `a[i, j]` is `ab[upper + i - j, j]`. What lies outside the band is not read.

use std::ops::{Div, Mul, Range, Sub};

use lodestride_buffer::{DType, Element};
use lodestride_shape::{Order, interval};

use super::{Diagonal, Transpose, Triangle, apart, column, expect_floats, form, scale, vector};
use crate::NdArray;
use crate::checks::recorded_in;
use crate::error::Result;

/// A matrix with few diagonals.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Band, Transpose}};
///
/// // [[1, 2, 0], [3, 4, 5], [0, 6, 7]]
/// let diagonals = NdArray::from([[0.0f32, 2.0, 5.0], [1.0, 4.0, 7.0], [3.0, 6.0, 0.0]]);
/// let band = Band { rows: 3, lower: 1, upper: 1, diagonals: &diagonals };
/// let y = NdArray::zeros([3])?;
/// blas::gbmv(Transpose::No, 1.0, &band, &NdArray::ones([3])?, 0.0, &y)?;
/// assert_eq!(y.to_vec::<f32>()?, [3.0, 12.0, 13.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Band<'a> {
    /// Rows of the matrix; it has as many columns as `diagonals`.
    pub rows: usize,
    /// Diagonals below the main one.
    pub lower: usize,
    /// Diagonals above the main one.
    pub upper: usize,
    /// `lower + upper + 1` rows: the diagonals, highest first.
    pub diagonals: &'a NdArray,
}

/// The part of a vector in a range, as a view.
#[track_caller]
fn part(x: &NdArray, range: &Range<usize>) -> Result<NdArray> {
    x.get(&[interval(range.start as isize, range.end as isize)])
}

impl Band<'_> {
    #[track_caller]
    fn check(&self, op: &'static str) -> Result<()> {
        let (stored, _) = self.diagonals.matrix_form(op)?;
        if self.lower.saturating_add(self.upper) == stored.wrapping_sub(1) {
            return Ok(());
        }
        let expected = "a matrix with a row for each of the `lower + upper + 1` diagonals";
        Err(form(op, expected, self.diagonals))
    }

    /// Calls `visit` with each stored diagonal: its rows and columns in the matrix, and its elements.
    #[track_caller]
    fn each(
        &self,
        mut visit: impl FnMut(Range<usize>, Range<usize>, NdArray) -> Result<()>,
    ) -> Result<()> {
        let columns = self.diagonals.shape()[1];
        for stored in 0..=self.lower + self.upper {
            // How far right of the main diagonal, and how far below it, one of them 0.
            let (right, down) = (
                self.upper.saturating_sub(stored),
                stored.saturating_sub(self.upper),
            );
            let length = self
                .rows
                .saturating_sub(down)
                .min(columns.saturating_sub(right));
            let (across, along) = (right..right + length, down..down + length);
            if length > 0 {
                let diagonal = self.diagonals.row(stored as isize)?;
                visit(along, across.clone(), part(&diagonal, &across)?)?;
            }
        }
        Ok(())
    }

    /// `y += op(a) x`, without the main diagonal where that is `Unit`.
    #[track_caller]
    fn add_product(
        &self,
        transpose: Transpose,
        diagonal: Diagonal,
        x: &NdArray,
        y: &NdArray,
    ) -> Result<()> {
        self.each(|rows, columns, elements| {
            if rows == columns && diagonal == Diagonal::Unit {
                return Ok(());
            }
            let (from, to) = match transpose {
                Transpose::No => (columns, rows),
                Transpose::Yes => (rows, columns),
            };
            let (x, y) = (part(x, &from)?, part(y, &to)?);
            (elements.lazy() * &x + &y).eval_into(&y)
        })
    }
}

/// The band of a square matrix that has diagonals on one side only.
#[track_caller]
fn one_sided<'a>(op: &'static str, triangle: Triangle, diagonals: &'a NdArray) -> Result<Band<'a>> {
    let (stored, rows) = diagonals.matrix_form(op)?;
    let others = stored.wrapping_sub(1);
    let (lower, upper) = match triangle {
        Triangle::Upper => (0, others),
        Triangle::Lower => (others, 0),
    };
    let band = Band {
        rows,
        lower,
        upper,
        diagonals,
    };
    if stored == 0 {
        let expected = "a matrix of at least one diagonal";
        return Err(form(op, expected, diagonals));
    }
    Ok(band)
}

/// `y = alpha * op(a) x + beta * y` for a band matrix.
///
/// # Errors
/// [`Form`](crate::ArrayErrorKind::Form) when the band has not a row for each diagonal,
/// [`VectorLength`](crate::ArrayErrorKind::VectorLength) for vectors of a wrong length.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Band, Transpose}};
///
/// let diagonals = NdArray::from([[1.0f32, 2.0], [3.0, 0.0]]); // [[1, 0], [3, 2]]
/// let band = Band { rows: 2, lower: 1, upper: 0, diagonals: &diagonals };
/// let y = NdArray::ones([2])?;
/// blas::gbmv(Transpose::No, 2.0, &band, &NdArray::from([1.0f32, 10.0]), -1.0, &y)?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 45.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn gbmv(
    transpose: Transpose,
    alpha: f64,
    a: &Band<'_>,
    x: &NdArray,
    beta: f64,
    y: &NdArray,
) -> Result<()> {
    recorded_in("gbmv", &[a.diagonals, x], y, || {
        let diagonals = a.diagonals;
        expect_floats("gbmv", &[diagonals, x, y], 1)?;
        a.check("gbmv")?;
        let (from, to) = match transpose {
            Transpose::No => (diagonals.shape()[1], a.rows),
            Transpose::Yes => (a.rows, diagonals.shape()[1]),
        };
        let (x, y) = (
            flat("gbmv", x, from, diagonals)?,
            flat("gbmv", y, to, diagonals)?,
        );
        y.expect_writable("gbmv")?;
        if alpha == 0.0 {
            return scale(beta, &y);
        }
        let (x, diagonals) = (NdArray::mul(&x, alpha)?, apart(diagonals.clone(), &y)?);
        scale(beta, &y)?;
        let band = Band {
            diagonals: &diagonals,
            ..*a
        };
        band.add_product(transpose, Diagonal::Stored, &x, &y)
    })
}

/// A vector of a known length as a view of rank 1.
#[track_caller]
fn flat(op: &'static str, x: &NdArray, length: usize, matrix: &NdArray) -> Result<NdArray> {
    vector(op, &column(op, x, length, matrix)?)?.reshape([length])
}

/// `y = alpha * a x + beta * y` for a symmetric band matrix, of which the diagonals of one side are given.
///
/// # Errors
/// [`VectorLength`](crate::ArrayErrorKind::VectorLength) for vectors of a wrong length.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Triangle}};
///
/// let diagonals = NdArray::from([[0.0f32, 2.0], [1.0, 4.0]]); // [[1, 2], [2, 4]]
/// let y = NdArray::zeros([2])?;
/// blas::sbmv(Triangle::Upper, 1.0, &diagonals, &NdArray::from([1.0f32, 10.0]), 0.0, &y)?;
/// assert_eq!(y.to_vec::<f32>()?, [21.0, 42.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn sbmv(
    triangle: Triangle,
    alpha: f64,
    diagonals: &NdArray,
    x: &NdArray,
    beta: f64,
    y: &NdArray,
) -> Result<()> {
    recorded_in("sbmv", &[diagonals, x], y, || {
        expect_floats("sbmv", &[diagonals, x, y], 1)?;
        let n = one_sided("sbmv", triangle, diagonals)?.rows;
        let (x, y) = (
            flat("sbmv", x, n, diagonals)?,
            flat("sbmv", y, n, diagonals)?,
        );
        y.expect_writable("sbmv")?;
        if alpha == 0.0 {
            return scale(beta, &y);
        }
        let (x, diagonals) = (NdArray::mul(&x, alpha)?, apart(diagonals.clone(), &y)?);
        scale(beta, &y)?;
        let band = one_sided("sbmv", triangle, &diagonals)?;
        band.add_product(Transpose::No, Diagonal::Stored, &x, &y)?;
        band.add_product(Transpose::Yes, Diagonal::Unit, &x, &y)
    })
}

/// `x = op(a) x` for a triangular band matrix.
///
/// # Errors
/// [`VectorLength`](crate::ArrayErrorKind::VectorLength) for a vector of a wrong length.
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Diagonal, Transpose, Triangle}};
///
/// let diagonals = NdArray::from([[0.0f32, 2.0], [1.0, 4.0]]); // [[1, 2], [0, 4]]
/// let x = NdArray::from([1.0f32, 10.0]);
/// blas::tbmv(Triangle::Upper, Transpose::No, Diagonal::Stored, &diagonals, &x)?;
/// assert_eq!(x.to_vec::<f32>()?, [21.0, 40.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn tbmv(
    triangle: Triangle,
    transpose: Transpose,
    diagonal: Diagonal,
    diagonals: &NdArray,
    x: &NdArray,
) -> Result<()> {
    recorded_in("tbmv", &[diagonals], x, || {
        expect_floats("tbmv", &[diagonals, x], 1)?;
        let band = one_sided("tbmv", triangle, diagonals)?;
        let x = flat("tbmv", x, band.rows, diagonals)?;
        x.expect_writable("tbmv")?;
        let result = match diagonal {
            Diagonal::Stored => x.zeros_like()?,
            Diagonal::Unit => x.dup()?,
        };
        band.add_product(transpose, diagonal, &x, &result)?;
        x.assign(&result)?;
        Ok(())
    })
}

/// Solves `op(a) y = x` for a triangular band matrix; `y` takes the place of `x`.
///
/// A zero on the diagonal is not an error: it divides, as in the reference BLAS.
///
/// # Errors
/// As [`tbmv`].
///
/// ```
/// use lodestride_array::{NdArray, blas::{self, Diagonal, Transpose, Triangle}};
///
/// let diagonals = NdArray::from([[0.0f32, 2.0], [1.0, 4.0]]); // [[1, 2], [0, 4]]
/// let x = NdArray::from([21.0f32, 40.0]);
/// blas::tbsv(Triangle::Upper, Transpose::No, Diagonal::Stored, &diagonals, &x)?;
/// assert_eq!(x.to_vec::<f32>()?, [1.0, 10.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[track_caller]
pub fn tbsv(
    triangle: Triangle,
    transpose: Transpose,
    diagonal: Diagonal,
    diagonals: &NdArray,
    x: &NdArray,
) -> Result<()> {
    recorded_in("tbsv", &[diagonals], x, || {
        expect_floats("tbsv", &[diagonals, x], 1)?;
        let band = one_sided("tbsv", triangle, diagonals)?;
        let x = flat("tbsv", x, band.rows, diagonals)?;
        x.expect_writable("tbsv")?;
        let triangle = triangle.of(transpose);
        match x.dtype() {
            DType::F64 => band.substitute::<f64>(triangle, transpose, diagonal, &x),
            _ => band.substitute::<f32>(triangle, transpose, diagonal, &x),
        }
    })
}

impl Band<'_> {
    /// Solves for one unknown after the other; `triangle` is that of the matrix after transposing.
    #[track_caller]
    fn substitute<T>(
        &self,
        triangle: Triangle,
        transpose: Transpose,
        diagonal: Diagonal,
        x: &NdArray,
    ) -> Result<()>
    where
        T: Element + Sub<Output = T> + Mul<Output = T> + Div<Output = T>,
    {
        let copy = |array: &NdArray| array.dup_order(Order::C)?.cast(T::DTYPE);
        let (elements, unknowns) = (copy(self.diagonals)?, copy(x)?);
        {
            let elements = elements.view::<T>()?;
            let at = |i: usize, j: usize| match transpose {
                Transpose::No => elements[[self.upper + i - j, j]],
                Transpose::Yes => elements[[self.upper + j - i, i]],
            };
            let mut x = unknowns.view_mut::<T>()?;
            let (n, reach) = (self.rows, self.lower + self.upper);
            for step in 0..n {
                let (i, known) = match triangle {
                    Triangle::Upper => (n - 1 - step, n - step..(n - step + reach).min(n)),
                    Triangle::Lower => (step, step.saturating_sub(reach)..step),
                };
                let rest = known.fold(x[[i]], |sum, j| sum - at(i, j) * x[[j]]);
                x[[i]] = match diagonal {
                    Diagonal::Stored => rest / at(i, i),
                    Diagonal::Unit => rest,
                };
            }
        }
        x.assign(&unknowns)?;
        Ok(())
    }
}
