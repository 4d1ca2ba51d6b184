//! Singular values and what follows from them: least squares, pseudo-inverses, rank, principal components. Norms are in
//! `norms`.

use faer::{Accum, Mat, MatMut};
use lodestride_buffer::{Argument, DType};
use lodestride_shape::interval;

use super::decompositions::{multiply, product, singular, singular_values};
use super::matrices::{LinalgProblem, Matrices, converged, problem};
use super::tall::reduced;
use crate::NdArray;
use crate::checks::{Made, Watch};
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, Result};

/// `u @ diag(s) @ vt`, as [`NdArray::svd`] makes it.
#[derive(Clone, Debug)]
pub struct Svd {
    /// Orthonormal columns.
    pub u: NdArray,
    /// Singular values, largest first.
    pub s: NdArray,
    /// Orthonormal rows.
    pub vt: NdArray,
}

/// What [`NdArray::lstsq`] finds.
#[derive(Clone, Debug)]
pub struct LeastSquares {
    /// The solution of least length.
    pub x: NdArray,
    /// Sums of the squares of what is left, one per right side.
    pub residuals: NdArray,
    /// Rank of the matrix.
    pub rank: usize,
    /// Its singular values, largest first.
    pub s: NdArray,
}

/// Principal components, as [`NdArray::pca`] finds them.
#[derive(Clone, Debug)]
pub struct Pca {
    /// The mean of each column of the data.
    pub mean: NdArray,
    /// One direction per row, the one of the largest variance first.
    pub components: NdArray,
    /// Variance along each of them, over n - 1.
    pub variances: NdArray,
    /// The data in these directions, one row per row.
    pub scores: NdArray,
}

/// How many principal components [`NdArray::pca`] keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Components {
    /// So many, or all there are.
    Count(usize),
    /// As many as this share of the variance needs, 0 to 1.
    Variance(f64),
}

/// The distance from 1 to the next number of a float dtype.
pub(super) fn epsilon(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::EPSILON,
        DType::F32 => f64::from(f32::EPSILON),
        DType::F16 => f64::exp2(-10.0),
        _ => f64::exp2(-7.0),
    }
}

/// How many singular values are more than so much of the largest.
fn rank_above(values: &[f64], tolerance: f64) -> usize {
    let least = values.first().map_or(0.0, |largest| largest * tolerance);
    values.iter().filter(|&&value| value > least).count()
}

/// What [`NdArray::lstsq`] finds for one matrix and right sides, where singular values below `tolerance` times the largest
/// count as zero.
#[track_caller]
pub(super) fn least_squares(
    op: &'static str,
    given: &NdArray,
    a: &Matrices,
    right: &Matrices,
    tolerance: f64,
) -> Result<LeastSquares> {
    let (mut s, mut x) = (Vec::new(), Mat::zeros(a.columns, right.columns));
    if a.count_filled() > 0 {
        let (reduced, turned) = reduced(a.get(0), right.get(0));
        let found = converged(op, given, singular(reduced.as_ref()), 0)?;
        s = found.values;
        let rank = rank_above(&s, tolerance);
        let along = product(found.u.subcols(0, rank).transpose(), turned.as_ref());
        x = product(over_values(&found.v, &s, rank).as_ref(), along.as_ref());
    }
    // What is left: the right sides less the product.
    let mut left = right.elements(0).to_vec();
    let (rows, columns) = (right.rows, right.columns);
    let whole = MatMut::from_row_major_slice_mut(&mut left, rows, columns);
    multiply(whole, Accum::Add, a.get(0), x.as_ref(), -1.0);
    let mut solution = vec![0.0; a.columns * columns];
    MatMut::from_row_major_slice_mut(&mut solution, a.columns, columns).copy_from(&x);
    Ok(LeastSquares {
        residuals: NdArray::from_vec(left, [rows, columns])?.sum_squares(0)?,
        rank: rank_above(&s, tolerance),
        s: NdArray::from_vec(s, [a.rows.min(a.columns)])?,
        x: NdArray::from_vec(solution, [a.columns, columns])?,
    })
}

impl LeastSquares {
    /// The same for a right side that was given as a vector, or as a matrix, in the dtype of results.
    #[track_caller]
    pub(super) fn of_rank(self, rank: usize, dtype: DType) -> Result<Self> {
        let column = |array: NdArray, axis: isize| {
            let array = if rank == 1 {
                array.squeeze(axis)?.owning()
            } else {
                array
            };
            array.cast(dtype)
        };
        Ok(Self {
            x: column(self.x, -1)?,
            residuals: column(self.residuals, -1)?,
            rank: self.rank,
            s: self.s.cast(dtype)?,
        })
    }
}

impl Matrices {
    /// Below this times the largest, a singular value counts as zero: NumPy's rule for the precision of the result.
    fn tolerance(&self) -> f64 {
        self.rows.max(self.columns) as f64 * epsilon(self.dtype)
    }

    /// How many singular values do not count as zero.
    fn rank_of(&self, values: &[f64]) -> usize {
        rank_above(values, self.tolerance())
    }
}

/// The columns of the right factor that count, each over its singular value.
fn over_values(v: &Mat<f64>, values: &[f64], rank: usize) -> Mat<f64> {
    Mat::from_fn(v.nrows(), rank, |i, j| v[(i, j)] / values[j])
}

impl Made for Svd {
    fn arrays(&self) -> Vec<NdArray> {
        let Self { u, s, vt } = self.clone();
        vec![u, s, vt]
    }
}

impl Made for LeastSquares {
    fn arrays(&self) -> Vec<NdArray> {
        let Self {
            x, residuals, s, ..
        } = self.clone();
        vec![x, residuals, s]
    }
}

impl Made for Pca {
    fn arrays(&self) -> Vec<NdArray> {
        let Self {
            mean,
            components,
            variances,
            scores,
        } = self.clone();
        vec![mean, components, variances, scores]
    }
}

impl NdArray {
    /// The singular value decomposition in its short form: `u` has as many columns, `vt` as many rows as there are singular
    /// values, which come largest first. Batches and any shape.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when there is no matrix, [`ArrayErrorKind::Linalg`] when an element is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let f = NdArray::from([[3.0f64, 0.0], [0.0, 4.0], [0.0, 0.0]]).svd()?;
    /// assert!(f.s.all_close(&NdArray::from([4.0f64, 3.0]), 1e-12, 0.0)?);
    /// assert_eq!(f.u.shape()[..], [3, 2]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "gesvd")]
    #[track_caller]
    pub fn svd(&self) -> Result<Svd> {
        let watch = Watch::start();
        let matrices = Matrices::of("svd", self)?;
        let (rows, columns) = (matrices.rows, matrices.columns);
        let small = rows.min(columns);
        let (mut u, mut s) = (matrices.results([rows, small]), matrices.results([small]));
        let mut vt = matrices.results([small, columns]);
        for matrix in 0..matrices.count_filled() {
            let found = converged("svd", self, singular(matrices.get(matrix)), matrix)?;
            u.push(found.u.as_ref());
            s.extend(found.values);
            vt.push(found.v.transpose());
        }
        let dtype = matrices.dtype;
        let made = Ok(Svd {
            u: u.array(dtype)?,
            s: s.array(dtype)?,
            vt: vt.array(dtype)?,
        });
        watch.made("svd", &[self], made)
    }

    /// The singular values alone, largest first. Batches and any shape.
    ///
    /// # Errors
    /// As [`svd`](Self::svd).
    #[track_caller]
    pub fn singular_values(&self) -> Result<NdArray> {
        let watch = Watch::start();
        let matrices = Matrices::of("singular_values", self)?;
        let mut s = matrices.results([matrices.rows.min(matrices.columns)]);
        for matrix in 0..matrices.count_filled() {
            let found = singular_values(matrices.get(matrix));
            s.extend(converged("singular_values", self, found, matrix)?);
        }
        watch.made("singular_values", &[self], s.array(matrices.dtype))
    }

    /// The rank: how many singular values are larger than the largest times size times precision. Batches.
    ///
    /// # Errors
    /// As [`svd`](Self::svd).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0], [2.0, 4.0]]);
    /// assert_eq!(a.matrix_rank()?.item::<i64>()?, 1);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn matrix_rank(&self) -> Result<NdArray> {
        let watch = Watch::start();
        let matrices = Matrices::of("matrix_rank", self)?;
        if matrices.count_filled() == 0 {
            let zeros = NdArray::zeros_of(DType::I64, &matrices.batch[..]);
            return watch.made("matrix_rank", &[self], zeros);
        }
        let mut ranks = matrices.results([]);
        for matrix in 0..matrices.count_filled() {
            let found = singular_values(matrices.get(matrix));
            let values = converged("matrix_rank", self, found, matrix)?;
            ranks.extend([matrices.rank_of(&values) as f64]);
        }
        watch.made("matrix_rank", &[self], ranks.array(DType::I64))
    }

    /// The pseudo-inverse of Moore and Penrose. Batches and any shape.
    ///
    /// # Errors
    /// As [`svd`](Self::svd).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[2.0f64, 0.0], [0.0, 0.0]]);
    /// assert!(a.pinv()?.all_close(&NdArray::from([[0.5f64, 0.0], [0.0, 0.0]]), 0.0, 1e-12)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "pinvert")]
    #[track_caller]
    pub fn pinv(&self) -> Result<NdArray> {
        self.inverted("pinv", |_| 0)
    }

    /// The inverse from the left, for matrices with linearly independent columns: `a.pinv_left()? @ a` is the identity.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Linalg`] when the columns are not independent, otherwise as [`svd`](Self::svd).
    #[doc(alias = "pLeftInvert")]
    #[track_caller]
    pub fn pinv_left(&self) -> Result<NdArray> {
        self.inverted("pinv_left", |matrices| matrices.columns)
    }

    /// The inverse from the right, for matrices with linearly independent rows: `a @ a.pinv_right()?` is the identity.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Linalg`] when the rows are not independent, otherwise as [`svd`](Self::svd).
    #[doc(alias = "pRightInvert")]
    #[track_caller]
    pub fn pinv_right(&self) -> Result<NdArray> {
        self.inverted("pinv_right", |matrices| matrices.rows)
    }

    #[track_caller]
    fn inverted(&self, op: &'static str, needed: fn(&Matrices) -> usize) -> Result<NdArray> {
        let watch = Watch::start();
        let matrices = Matrices::of(op, self)?;
        let mut results = matrices.results([matrices.columns, matrices.rows]);
        for matrix in 0..matrices.count_filled() {
            let found = converged(op, self, singular(matrices.get(matrix)), matrix)?;
            let (rank, needed) = (matrices.rank_of(&found.values), needed(&matrices));
            if rank < needed {
                let found = LinalgProblem::RankDeficient {
                    matrix,
                    rank,
                    needed,
                };
                return Err(problem(op, self, found));
            }
            let (rows, columns) = (matrices.rows, matrices.columns);
            multiply(
                MatMut::from_row_major_slice_mut(results.room(rows * columns), columns, rows),
                Accum::Replace,
                over_values(&found.v, &found.values, rank).as_ref(),
                found.u.subcols(0, rank).transpose(),
                1.0,
            );
        }
        watch.made(op, &[self], results.array(matrices.dtype))
    }

    /// The shortest `x` that brings `self @ x` as close to `b` as can be, in the sum of squares; `b` is a vector or a matrix
    /// of several right sides.
    ///
    /// # Errors
    /// [`ArrayErrorKind::RightSide`] when `b` has another number of rows, [`ArrayErrorKind::Form`] for other ranks,
    /// [`ArrayErrorKind::Linalg`] when an element is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// // A line through (0, 1), (1, 3), (2, 5).
    /// let a = NdArray::from([[0.0f64, 1.0], [1.0, 1.0], [2.0, 1.0]]);
    /// let found = a.lstsq(&NdArray::from([1.0f64, 3.0, 5.0]))?;
    /// assert!(found.x.all_close(&NdArray::from([2.0f64, 1.0]), 1e-12, 0.0)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn lstsq(&self, b: &NdArray) -> Result<LeastSquares> {
        let watch = Watch::start();
        b.expect_readable("lstsq", Argument::Y)?;
        let (rows, _) = self.matrix_form("lstsq")?;
        let right = if b.rank() == 1 {
            b.expand_dims(1)?
        } else {
            b.clone()
        };
        if right.matrix_form("lstsq")?.0 != rows {
            let (lhs, rhs) = (ArraySummary::of(self), ArraySummary::of(b));
            return Err(ArrayError::new(ArrayErrorKind::RightSide {
                op: "lstsq",
                lhs,
                rhs,
            }));
        }
        let dtype = match self.dtype().promote(b.dtype()) {
            dtype if dtype.is_float() => dtype,
            _ => DType::F64,
        };
        let (a, right) = (Matrices::of("lstsq", self)?, Matrices::of("lstsq", &right)?);
        let found = least_squares("lstsq", self, &a, &right, a.tolerance())?;
        let made = found.of_rank(b.rank(), dtype);
        watch.made("lstsq", &[self, b], made)
    }

    /// Principal components of data with one observation per row: the directions of largest variance.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when it is not a matrix, [`ArrayErrorKind::Empty`] with fewer than two rows,
    /// [`ArrayErrorKind::Linalg`] when an element is not finite.
    ///
    /// ```
    /// use lodestride_array::{Components, NdArray};
    ///
    /// let data = NdArray::from([[0.0f64, 0.0], [1.0, 2.0], [2.0, 4.0]]); // on a line
    /// let found = data.pca(Components::Variance(0.99))?;
    /// assert_eq!(found.components.shape()[..], [1, 2]);
    /// assert!((found.variances.item::<f64>()? - 5.0).abs() < 1e-12);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn pca(&self, keep: Components) -> Result<Pca> {
        let watch = Watch::start();
        let (rows, _) = self.matrix_form("pca")?;
        if rows < 2 {
            let (op, expected) = ("pca", "at least two observations");
            return Err(ArrayError::new(ArrayErrorKind::Empty { op, expected }));
        }
        let matrices = Matrices::of("pca", self)?;
        let data = matrices.whole()?;
        let mean = data.mean(0)?;
        let centred = data.sub(&mean)?;
        let found = centred.svd()?;
        let variances = found.s.square()?.div((rows - 1) as f64)?;
        let all = variances.to_f64_vec()?;
        let count = match keep {
            Components::Count(count) => count.min(all.len()),
            Components::Variance(share) => {
                let enough = share * all.iter().sum::<f64>();
                let mut sum = 0.0;
                let missing = |variance: &&f64| {
                    let before = sum;
                    sum += **variance;
                    before < enough
                };
                all.iter().take_while(missing).count()
            }
        };
        let first = |array: &NdArray| array.get(&[interval(0, count as isize)]);
        let components = first(&found.vt)?.dup()?;
        let scores = centred.matmul(&components.transpose())?;
        let dtype = matrices.dtype;
        let made = Ok(Pca {
            mean: mean.cast(dtype)?,
            components: components.cast(dtype)?,
            variances: first(&variances)?.dup()?.cast(dtype)?,
            scores: scores.cast(dtype)?,
        });
        watch.made("pca", &[self], made)
    }
}
