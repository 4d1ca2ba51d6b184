//! Elimination: systems of equations, inverses, determinants, triangular factors.

use lodestride_buffer::Argument;
use lodestride_shape::{Shape, broadcast_shapes};

use super::decompositions::{orthogonal, positive};
use super::elimination::{Elimination, Factors};
use super::matrices::{LinalgProblem, Matrices, checked};
use crate::NdArray;
use crate::checks::{Made, Watch};
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, Result};

/// `p @ l @ u`, as [`NdArray::lu`] makes it.
#[derive(Clone, Debug)]
pub struct Lu {
    /// Permutation matrix.
    pub p: NdArray,
    /// Lower triangular, ones on the diagonal.
    pub l: NdArray,
    /// Upper triangular.
    pub u: NdArray,
}

/// `q @ r`, as [`NdArray::qr`] makes it.
#[derive(Clone, Debug)]
pub struct Qr {
    /// Orthonormal columns.
    pub q: NdArray,
    /// Upper triangular.
    pub r: NdArray,
}

/// Sign and logarithm of a determinant, as [`NdArray::slogdet`] makes them.
#[derive(Clone, Debug)]
pub struct LogDeterminant {
    /// -1, 0 or 1.
    pub sign: NdArray,
    /// Natural logarithm of the magnitude; minus infinity for a determinant of zero.
    pub log: NdArray,
}

impl Made for Lu {
    fn arrays(&self) -> Vec<NdArray> {
        let Self { p, l, u } = self.clone();
        vec![p, l, u]
    }
}

impl Made for Qr {
    fn arrays(&self) -> Vec<NdArray> {
        let Self { q, r } = self.clone();
        vec![q, r]
    }
}

impl Made for LogDeterminant {
    fn arrays(&self) -> Vec<NdArray> {
        let Self { sign, log } = self.clone();
        vec![sign, log]
    }
}

impl NdArray {
    /// Solves `self @ x = b`: `b` is a vector, a matrix of several right sides, or a batch of matrices; batches broadcast.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Linalg`] for singular or non-finite matrices, [`ArrayErrorKind::Form`] when this is not square,
    /// [`ArrayErrorKind::RightSide`] when `b` has another number of rows, [`ArrayErrorKind::Broadcast`] when the batches
    /// do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[2.0f64, 1.0], [1.0, 3.0]]);
    /// let x = a.solve(&NdArray::from([3.0f64, 5.0]))?;
    /// assert!(x.all_close(&NdArray::from([0.8f64, 1.4]), 1e-12, 0.0)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn solve(&self, b: &NdArray) -> Result<NdArray> {
        let watch = Watch::start();
        self.expect_readable("solve", Argument::X)?;
        b.expect_readable("solve", Argument::Y)?;
        let n = self.square_matrices("solve")?;
        let solved = if b.rank() == 1 {
            let column = self.solve_columns(b, &b.expand_dims(1)?, n)?;
            column.squeeze(-1)?.owning()
        } else {
            self.solve_columns(b, b, n)?
        };
        watch.made("solve", &[self, b], Ok(solved))
    }

    #[track_caller]
    fn solve_columns(&self, given: &NdArray, b: &NdArray, n: usize) -> Result<NdArray> {
        let (lhs, rhs) = (ArraySummary::of(self), ArraySummary::of(given));
        let op = "solve";
        let [b_batch @ .., rows, columns] = &b.shape()[..] else {
            let expected = "a vector or matrix on the right";
            return Err(ArrayError::new(ArrayErrorKind::Form {
                op,
                expected,
                array: rhs,
            }));
        };
        if *rows != n {
            return Err(ArrayError::new(ArrayErrorKind::RightSide { op, lhs, rhs }));
        }
        let batch = &self.shape()[..self.rank() - 2];
        let Ok(batch) = broadcast_shapes(&Shape::from(batch), &Shape::from(b_batch)) else {
            return Err(ArrayError::new(ArrayErrorKind::Broadcast { op, lhs, rhs }));
        };
        let shape = [&batch[..], &[n, *columns]].concat();
        let b = Matrices::of(op, &b.broadcast_to(&shape[..])?)?;
        // One elimination serves a whole batch of right sides.
        let a = Matrices::of(op, self)?;
        let stride = if a.count() == 1 { 0 } else { 1 };
        let a = if stride == 0 || a.batch[..] == batch[..] {
            a
        } else {
            let shape = [&batch[..], &[n, n]].concat();
            Matrices::of(op, &self.broadcast_to(&shape[..])?)?
        };
        let mut results = b.results([n, *columns]);
        let mut factors = Elimination::new(n);
        for matrix in 0..b.count() {
            if matrix * stride > 0 || matrix == 0 {
                factors.eliminate(a.elements(matrix * stride));
                checked(op, self, factors.singular(matrix * stride))?;
            }
            let x = results.room(n * columns);
            factors.solve(b.elements(matrix), *columns, x);
        }
        let dtype = a.dtype.promote(b.dtype);
        results.array(dtype)
    }

    /// The inverse of a square matrix, or of each of a batch.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Linalg`] for singular or non-finite matrices, [`ArrayErrorKind::Form`] when it is not square.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[2.0f64, 0.0], [0.0, 4.0]]);
    /// assert_eq!(a.inv()?.to_vec::<f64>()?, [0.5, 0.0, 0.0, 0.25]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "invert")]
    #[track_caller]
    pub fn inv(&self) -> Result<NdArray> {
        let watch = Watch::start();
        watch.made("inv", &[self], self.inverse("inv"))
    }

    #[track_caller]
    fn inverse(&self, op: &'static str) -> Result<NdArray> {
        let n = self.square_matrices(op)?;
        let matrices = Matrices::of(op, self)?;
        let mut results = matrices.results([n, n]);
        let mut factors = Elimination::new(n);
        for matrix in 0..matrices.count() {
            factors.eliminate(matrices.elements(matrix));
            checked(op, self, factors.singular(matrix))?;
            factors.inverse(results.room(n * n));
        }
        results.array(matrices.dtype)
    }

    /// [`inv`](Self::inv) in place.
    ///
    /// # Errors
    /// As [`inv`](Self::inv); [`ArrayErrorKind::Cast`] for integers.
    #[track_caller]
    pub fn invi(&self) -> Result<&Self> {
        let watch = Watch::start();
        let inverse = self.inverse("invi").named("invi", Argument::Z)?;
        self.expect_storable("invi", inverse.dtype())?;
        watch.made("invi", &[], self.assign(&inverse))
    }

    /// The determinant of a square matrix, or of each of a batch.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when it is not square, [`ArrayErrorKind::Linalg`] when an element is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[2.0f64, 1.0], [1.0, 3.0]]);
    /// assert!((a.det()?.item::<f64>()? - 5.0).abs() < 1e-12);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn det(&self) -> Result<NdArray> {
        let watch = Watch::start();
        let n = self.square_matrices("det")?;
        let matrices = Matrices::of("det", self)?;
        let mut results = matrices.results([]);
        let mut factors = Elimination::new(n);
        for matrix in 0..matrices.count() {
            factors.eliminate(matrices.elements(matrix));
            results.extend([factors.pivots().product::<f64>() * factors.sign()]);
        }
        watch.made("det", &[self], results.array(matrices.dtype))
    }

    /// Sign and logarithm of the determinant, which itself may be too large or too small for a float.
    ///
    /// # Errors
    /// As [`det`](Self::det).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::eye(500)?.mul(-10)?;
    /// let found = a.slogdet()?;
    /// assert_eq!(found.sign.item::<f32>()?, 1.0);
    /// assert!((found.log.item::<f32>()? - 500.0 * 10.0f32.ln()).abs() < 1e-3);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn slogdet(&self) -> Result<LogDeterminant> {
        let watch = Watch::start();
        let n = self.square_matrices("slogdet")?;
        let matrices = Matrices::of("slogdet", self)?;
        let (mut signs, mut logs) = (matrices.results([]), matrices.results([]));
        let mut factors = Elimination::new(n);
        for matrix in 0..matrices.count() {
            factors.eliminate(matrices.elements(matrix));
            let sign = |pivot: f64| if pivot == 0.0 { 0.0 } else { pivot.signum() };
            let turned = factors.pivots().map(sign);
            signs.extend([turned.fold(factors.sign(), |all, sign| all * sign)]);
            logs.extend([factors.pivots().map(|pivot| pivot.abs().ln()).sum()]);
        }
        let (sign, log) = (signs.array(matrices.dtype)?, logs.array(matrices.dtype)?);
        watch.made("slogdet", &[self], Ok(LogDeterminant { sign, log }))
    }

    /// The triangular factors of a matrix with its rows exchanged: `p @ l @ u` is the matrix. Batches and any shape.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when there is no matrix, [`ArrayErrorKind::Linalg`] when an element is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f64, 2.0], [4.0, 5.0]]);
    /// let f = a.lu()?;
    /// assert_eq!(f.u.get_f64([0, 0])?, 4.0);
    /// assert!(f.p.mmul(&f.l)?.mmul(&f.u)?.all_close(&a, 1e-12, 0.0)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "getrf")]
    #[track_caller]
    pub fn lu(&self) -> Result<Lu> {
        let watch = Watch::start();
        let matrices = Matrices::of("lu", self)?;
        let (rows, columns) = (matrices.rows, matrices.columns);
        let small = rows.min(columns);
        let mut p = matrices.results([rows, rows]);
        let (mut l, mut u) = (
            matrices.results([rows, small]),
            matrices.results([small, columns]),
        );
        let mut factors = Factors::new(rows, columns);
        for matrix in 0..matrices.count() {
            factors.eliminate(matrices.elements(matrix));
            let p = p.room(rows * rows);
            for (i, &from) in factors.order.iter().enumerate() {
                p[from * rows + i] = 1.0;
            }
            l.push(factors.lower().as_ref());
            u.push(factors.upper().as_ref());
        }
        let dtype = matrices.dtype;
        let made = Ok(Lu {
            p: p.array(dtype)?,
            l: l.array(dtype)?,
            u: u.array(dtype)?,
        });
        watch.made("lu", &[self], made)
    }

    /// An orthonormal basis of the columns and the triangular factor: `q @ r` is the matrix, `q` has as many columns as the
    /// shorter side. The diagonal of `r` may be negative. Batches and any shape.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when there is no matrix, [`ArrayErrorKind::Linalg`] when an element is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f64, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    /// let f = a.qr()?;
    /// assert!(f.q.mmul(&f.r)?.all_close(&a, 1e-12, 0.0)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "geqrf")]
    #[track_caller]
    pub fn qr(&self) -> Result<Qr> {
        let watch = Watch::start();
        let matrices = Matrices::of("qr", self)?;
        let (rows, columns) = (matrices.rows, matrices.columns);
        let small = rows.min(columns);
        let (mut q, mut r) = (
            matrices.results([rows, small]),
            matrices.results([small, columns]),
        );
        for matrix in 0..matrices.count() {
            let factors = orthogonal(matrices.get(matrix));
            q.push(factors.0.as_ref());
            r.push(factors.1.as_ref());
        }
        let made = Ok(Qr {
            q: q.array(matrices.dtype)?,
            r: r.array(matrices.dtype)?,
        });
        watch.made("qr", &[self], made)
    }

    /// The lower triangular factor of a symmetric positive definite matrix: `l @ l.T` is the matrix. Only the lower triangle
    /// is read. Batches.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Linalg`] when it is not positive definite or not finite, [`ArrayErrorKind::Form`] when it is not
    /// square.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let l = NdArray::from([[4.0f64, 2.0], [2.0, 10.0]]).cholesky()?;
    /// assert_eq!(l.to_vec::<f64>()?, [2.0, 0.0, 1.0, 3.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "potrf")]
    #[track_caller]
    pub fn cholesky(&self) -> Result<NdArray> {
        let watch = Watch::start();
        let n = self.square_matrices("cholesky")?;
        let matrices = Matrices::of("cholesky", self)?;
        let mut results = matrices.results([n, n]);
        for matrix in 0..matrices.count() {
            let found = positive(matrices.get(matrix))
                .map_err(|pivot| LinalgProblem::NotPositiveDefinite { matrix, pivot });
            results.push(checked("cholesky", self, found)?.as_ref());
        }
        watch.made("cholesky", &[self], results.array(matrices.dtype))
    }
}
