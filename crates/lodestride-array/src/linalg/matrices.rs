//! Between arrays and the matrices of the `faer` library: batches in, batches out, errors with the matrix at fault.
//!
//! Everything is computed in f64 and rounded once to the dtype of the result: one instance of each algorithm is compiled, and
//! f32 input gets results that are right to its last place.

use std::fmt;

use faer::{MatMut, MatRef};
use lodestride_buffer::{Argument, DType};
use lodestride_shape::{Order, Shape};

use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, Result};

/// Why a matrix has no such solution or decomposition. `matrix` counts the matrices of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum LinalgProblem {
    /// The matrix has no inverse: a pivot of its elimination is zero.
    Singular {
        /// Number of the matrix in the batch.
        matrix: usize,
        /// Row of the pivot.
        pivot: usize,
    },
    /// The matrix is not symmetric positive definite.
    NotPositiveDefinite {
        /// Number of the matrix in the batch.
        matrix: usize,
        /// Row at which the elimination met a square that is not positive.
        pivot: usize,
    },
    /// The matrix is not that of a covariance: an eigenvalue is negative.
    NotPositiveSemidefinite {
        /// Number of the matrix in the batch.
        matrix: usize,
        /// The smallest eigenvalue.
        eigenvalue: f64,
    },
    /// Two elements that mirror each other differ.
    NotSymmetric {
        /// Number of the matrix in the batch.
        matrix: usize,
        /// Row of the one below the diagonal.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// An element is NaN or infinite.
    NotFinite {
        /// Number of the matrix in the batch.
        matrix: usize,
        /// The element.
        value: f64,
    },
    /// The iteration did not converge.
    NoConvergence {
        /// Number of the matrix in the batch.
        matrix: usize,
    },
    /// The columns (or rows) are not linearly independent.
    RankDeficient {
        /// Number of the matrix in the batch.
        matrix: usize,
        /// Rank it has.
        rank: usize,
        /// Rank it needs.
        needed: usize,
    },
}

impl fmt::Display for LinalgProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Singular { matrix, pivot } => {
                write!(f, "matrix {matrix} is singular: pivot {pivot} is zero")
            }
            Self::NotPositiveDefinite { matrix, pivot } => {
                write!(
                    f,
                    "matrix {matrix} is not positive definite: seen in row {pivot}"
                )
            }
            Self::NotPositiveSemidefinite { matrix, eigenvalue } => {
                write!(
                    f,
                    "matrix {matrix} is no covariance: its smallest eigenvalue is {eigenvalue:e}"
                )
            }
            Self::NotSymmetric {
                matrix,
                row,
                column,
            } => {
                write!(
                    f,
                    "matrix {matrix} is not symmetric: elements [{row}, {column}] and [{column}, {row}] differ"
                )
            }
            Self::NotFinite { matrix, value } => {
                write!(
                    f,
                    "matrix {matrix} holds {value}: every element must be finite"
                )
            }
            Self::NoConvergence { matrix } => {
                write!(f, "the iteration for matrix {matrix} did not converge")
            }
            Self::RankDeficient {
                matrix,
                rank,
                needed,
            } => {
                write!(f, "matrix {matrix} has rank {rank}, needed is {needed}")
            }
        }
    }
}

/// An error about a matrix of a batch.
#[cold]
#[track_caller]
pub(super) fn problem(op: &'static str, array: &NdArray, problem: LinalgProblem) -> ArrayError {
    let array = ArraySummary::of(array);
    ArrayError::new(ArrayErrorKind::Linalg { op, problem, array })
}

/// What was found of a matrix of a batch, or the error about it.
#[track_caller]
pub(super) fn checked<T>(
    op: &'static str,
    array: &NdArray,
    found: std::result::Result<T, LinalgProblem>,
) -> Result<T> {
    match found {
        Ok(found) => Ok(found),
        Err(found) => Err(problem(op, array, found)),
    }
}

/// What was found by steps of which there may be too few.
#[track_caller]
pub(super) fn converged<T, E>(
    op: &'static str,
    array: &NdArray,
    found: std::result::Result<T, E>,
    matrix: usize,
) -> Result<T> {
    let found = found.map_err(|_| LinalgProblem::NoConvergence { matrix });
    checked(op, array, found)
}

/// Where the first element is that is NaN or infinite.
fn first_not_finite(values: &[f64]) -> Option<usize> {
    // Blocks without an exit, which several elements at once go through.
    let finite = |block: &[f64]| block.iter().fold(true, |all, x| all & x.is_finite());
    let block = values.chunks(BLOCK).position(|block| !finite(block))?;
    let rest = values[block * BLOCK..].iter();
    Some(block * BLOCK + rest.take_while(|value| value.is_finite()).count())
}

/// Elements of a block.
const BLOCK: usize = 256;

/// The matrices in the last two axes of an array, as f64 and one after the other.
pub(super) struct Matrices {
    values: Vec<f64>,
    /// The axes before the last two.
    pub(super) batch: Vec<usize>,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// What results are stored as: the array's own dtype if that is a float.
    pub(super) dtype: DType,
}

impl Matrices {
    /// Reads the array, of which every element must be finite.
    #[track_caller]
    pub(super) fn of(op: &'static str, array: &NdArray) -> Result<Self> {
        array.expect_readable(op, Argument::X)?;
        let [batch @ .., rows, columns] = &array.shape()[..] else {
            let expected = "a matrix, or a batch of them in the last two axes";
            let array = ArraySummary::of(array);
            return Err(ArrayError::new(ArrayErrorKind::Form {
                op,
                expected,
                array,
            }));
        };
        let dtype = if array.dtype().is_float() {
            array.dtype()
        } else {
            DType::F64
        };
        // Element by element it is slow along other strides than those of rows.
        let values = if array.layout().is_contiguous(Order::C) {
            array.to_f64_vec()?
        } else {
            array.dup_order(Order::C)?.to_f64_vec()?
        };
        Self::over(op, array, values, (batch.to_vec(), *rows, *columns), dtype)
    }

    /// Takes elements made from an array, row after row, of which every one must be finite: so many matrices (by the axes
    /// of the batch) of so many rows and columns.
    #[track_caller]
    pub(super) fn over(
        op: &'static str,
        array: &NdArray,
        values: Vec<f64>,
        (batch, rows, columns): (Vec<usize>, usize, usize),
        dtype: DType,
    ) -> Result<Self> {
        if let Some(at) = first_not_finite(&values) {
            let (matrix, value) = (at / (rows * columns), values[at]);
            return Err(problem(
                op,
                array,
                LinalgProblem::NotFinite { matrix, value },
            ));
        }
        Ok(Self {
            values,
            batch,
            rows,
            columns,
            dtype,
        })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.batch.iter().product()
    }

    /// How many have elements: all or none.
    pub(super) fn count_filled(&self) -> usize {
        if self.rows * self.columns == 0 {
            0
        } else {
            self.count()
        }
    }

    /// The elements of one of them, row after row.
    pub(super) fn elements(&self, index: usize) -> &[f64] {
        let size = self.rows * self.columns;
        &self.values[index * size..][..size]
    }

    /// One of them.
    pub(super) fn get(&self, index: usize) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(self.elements(index), self.rows, self.columns)
    }

    /// All of them as an f64 array.
    #[track_caller]
    pub(super) fn whole(&self) -> Result<NdArray> {
        let shape = [&self.batch[..], &[self.rows, self.columns]].concat();
        NdArray::from_vec(self.values.clone(), Shape::from(&shape[..]))
    }

    /// A zero for each.
    #[track_caller]
    pub(super) fn zeros(&self) -> Result<NdArray> {
        NdArray::zeros_of(self.dtype, Shape::from(&self.batch[..]))
    }

    /// A batch of results, one per matrix, of the given shape.
    pub(super) fn results<const N: usize>(&self, shape: [usize; N]) -> Results {
        let size = shape.iter().product::<usize>() * self.count();
        let shape = [&self.batch[..], &shape].concat();
        Results {
            values: Vec::with_capacity(size),
            shape,
        }
    }
}

/// Results that are put one after the other into a batch.
pub(super) struct Results {
    values: Vec<f64>,
    shape: Vec<usize>,
}

impl Results {
    /// Adds a matrix.
    pub(super) fn push(&mut self, matrix: MatRef<'_, f64>) {
        let (rows, columns) = (matrix.nrows(), matrix.ncols());
        let room = self.room(rows * columns);
        MatMut::from_row_major_slice_mut(room, rows, columns).copy_from(matrix);
    }

    /// Adds a matrix of so many elements, zeros to begin with.
    pub(super) fn room(&mut self, size: usize) -> &mut [f64] {
        let start = self.values.len();
        self.values.resize(start + size, 0.0);
        &mut self.values[start..]
    }

    /// Adds a vector or a number.
    pub(super) fn extend(&mut self, values: impl IntoIterator<Item = f64>) {
        self.values.extend(values);
    }

    /// The array of all.
    #[track_caller]
    pub(super) fn array(self, dtype: DType) -> Result<NdArray> {
        NdArray::from_vec(self.values, Shape::from(&self.shape[..]))?.cast(dtype)
    }
}
