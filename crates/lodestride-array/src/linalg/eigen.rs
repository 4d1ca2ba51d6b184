//! Eigenvalues and eigenvectors.

use lodestride_buffer::Argument;
use lodestride_shape::Shape;

use super::decompositions::{general, general_values, symmetric, symmetric_values};
use super::matrices::{Matrices, converged};
use crate::NdArray;
use crate::blas::{self, Diagonal, Transpose, Triangle};
use crate::checks::{Made, Watch};
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, Result};

/// Eigenvalues and eigenvectors of a symmetric matrix, as [`NdArray::eigh`] makes them.
#[derive(Clone, Debug)]
pub struct SymmetricEigen {
    /// Smallest first.
    pub values: NdArray,
    /// One per column, orthonormal; of a generalised problem, orthonormal with respect to its second matrix.
    pub vectors: NdArray,
}

/// Eigenvalues and eigenvectors of any square matrix, as [`NdArray::eig`] makes them: complex numbers as pairs of arrays.
#[derive(Clone, Debug)]
pub struct Eigen {
    /// Real parts of the eigenvalues.
    pub values_re: NdArray,
    /// Imaginary parts of the eigenvalues; conjugate pairs are neighbours.
    pub values_im: NdArray,
    /// Real parts of the eigenvectors, one per column, each of length 1.
    pub vectors_re: NdArray,
    /// Imaginary parts of the eigenvectors.
    pub vectors_im: NdArray,
}

impl Made for SymmetricEigen {
    fn arrays(&self) -> Vec<NdArray> {
        let Self { values, vectors } = self.clone();
        vec![values, vectors]
    }
}

impl Made for Eigen {
    fn arrays(&self) -> Vec<NdArray> {
        let Self {
            values_re,
            values_im,
            vectors_re,
            vectors_im,
        } = self.clone();
        vec![values_re, values_im, vectors_re, vectors_im]
    }
}

impl NdArray {
    /// Eigenvalues, smallest first, and orthonormal eigenvectors of a symmetric matrix, of which only the lower triangle is
    /// read. Batches.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when it is not square, [`ArrayErrorKind::Linalg`] when an element is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let found = NdArray::from([[2.0f64, 1.0], [1.0, 2.0]]).eigh()?;
    /// assert!(found.values.all_close(&NdArray::from([1.0f64, 3.0]), 1e-12, 0.0)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "syev")]
    #[doc(alias = "symmetricGeneralizedEigenvalues")]
    #[track_caller]
    pub fn eigh(&self) -> Result<SymmetricEigen> {
        let watch = Watch::start();
        let n = self.square_matrices("eigh")?;
        let matrices = Matrices::of("eigh", self)?;
        let (mut values, mut vectors) = (matrices.results([n]), matrices.results([n, n]));
        for matrix in 0..matrices.count_filled() {
            let found = symmetric(matrices.get(matrix));
            let found = converged("eigh", self, found, matrix)?;
            values.extend(found.0);
            vectors.push(found.1.as_ref());
        }
        let (values, vectors) = (
            values.array(matrices.dtype)?,
            vectors.array(matrices.dtype)?,
        );
        watch.made("eigh", &[self], Ok(SymmetricEigen { values, vectors }))
    }

    /// The generalised symmetric problem `self @ x = value * b @ x` for a symmetric matrix and a positive definite `b`. One
    /// matrix each; only the lower triangles are read.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Linalg`] when `b` is not positive definite or an element is not finite, [`ArrayErrorKind::Operands`]
    /// when they are not square matrices of one size.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[2.0f64, 1.0], [1.0, 2.0]]);
    /// let found = a.eigh_generalized(&NdArray::eye(2)?.mul(2)?)?;
    /// assert!(found.values.all_close(&NdArray::from([0.5f64, 1.5]), 1e-12, 0.0)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn eigh_generalized(&self, b: &NdArray) -> Result<SymmetricEigen> {
        let watch = Watch::start();
        let op = "eigh_generalized";
        b.expect_readable(op, Argument::Y)?;
        if self.rank() != 2 || self.shape() != b.shape() || !self.is_square() {
            let expected = "two square matrices of one size";
            let (lhs, rhs) = (ArraySummary::of(self), ArraySummary::of(b));
            return Err(ArrayError::new(ArrayErrorKind::Operands {
                op,
                expected,
                lhs,
                rhs,
            }));
        }
        let (a, dtype) = (Matrices::of(op, self)?, self.dtype().promote(b.dtype()));
        let factor = Matrices::of(op, b)?.whole()?.cholesky()?;
        // With b = l lᵀ the problem is that of l⁻¹ a l⁻ᵀ, whose vectors are lᵀ x.
        let mask = Triangle::Lower.mask(self.rows()?, false)?;
        let a = a.whole()?;
        let reduced = mask.select(&a, &a.transpose())?;
        let solve = |side, transpose, on: &NdArray| {
            let lower = Triangle::Lower;
            blas::trsm(side, lower, transpose, Diagonal::Stored, 1.0, &factor, on)
        };
        solve(blas::Side::Left, Transpose::No, &reduced)?;
        solve(blas::Side::Right, Transpose::Yes, &reduced)?;
        let found = reduced.eigh()?;
        solve(blas::Side::Left, Transpose::Yes, &found.vectors)?;
        let dtype = if dtype.is_float() {
            dtype
        } else {
            found.values.dtype()
        };
        let (values, vectors) = (found.values.cast(dtype)?, found.vectors.cast(dtype)?);
        watch.made(
            "eigh_generalized",
            &[self, b],
            Ok(SymmetricEigen { values, vectors }),
        )
    }

    /// Eigenvalues and eigenvectors of any square matrix; they may be complex, so real and imaginary parts come apart.
    /// Batches.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when it is not square, [`ArrayErrorKind::Linalg`] when an element is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let quarter_turn = NdArray::from([[0.0f64, -1.0], [1.0, 0.0]]);
    /// let found = quarter_turn.eig()?;
    /// assert!(found.values_re.abs()?.max_number()? < 1e-12);
    /// assert!((found.values_im.max_number()? - 1.0).abs() < 1e-12);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn eig(&self) -> Result<Eigen> {
        let watch = Watch::start();
        let n = self.square_matrices("eig")?;
        let matrices = Matrices::of("eig", self)?;
        let mut values = [matrices.results([n]), matrices.results([n])];
        let mut vectors = [matrices.results([n, n]), matrices.results([n, n])];
        for matrix in 0..matrices.count_filled() {
            let found = converged("eig", self, general(matrices.get(matrix)), matrix)?;
            let [re, im] = &found.vectors;
            let square = |i, j| re[(i, j)] * re[(i, j)] + im[(i, j)] * im[(i, j)];
            let length = |j: usize| (0..n).map(|i| square(i, j)).sum::<f64>().sqrt();
            let lengths: Vec<f64> = (0..n).map(length).collect();
            for (all, part) in values.iter_mut().zip(found.values) {
                all.extend(part);
            }
            for (all, part) in vectors.iter_mut().zip(&found.vectors) {
                for i in 0..n {
                    all.extend((0..n).map(|j| part[(i, j)] / lengths[j]));
                }
            }
        }
        let dtype = matrices.dtype;
        let [values_re, values_im] = values.map(|part| part.array(dtype));
        let [vectors_re, vectors_im] = vectors.map(|part| part.array(dtype));
        let made = Ok(Eigen {
            values_re: values_re?,
            values_im: values_im?,
            vectors_re: vectors_re?,
            vectors_im: vectors_im?,
        });
        watch.made("eig", &[self], made)
    }

    /// The eigenvalues alone of any square matrix: their real and their imaginary parts; conjugate pairs are neighbours.
    /// Batches.
    ///
    /// # Errors
    /// As [`eig`](Self::eig).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (re, im) = NdArray::from([[0.0f64, -1.0], [1.0, 0.0]]).eigvals()?;
    /// assert!(re.abs()?.max_number()? < 1e-12);
    /// assert!(im.sum(..)?.item::<f64>()?.abs() < 1e-12);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn eigvals(&self) -> Result<(NdArray, NdArray)> {
        let watch = Watch::start();
        self.square_matrices("eigvals")?;
        watch.made("eigvals", &[self], self.eigenvalues("eigvals"))
    }

    /// The real and imaginary parts of the eigenvalues of square matrices.
    #[track_caller]
    pub(super) fn eigenvalues(&self, op: &'static str) -> Result<(NdArray, NdArray)> {
        let matrices = Matrices::of(op, self)?;
        let mut parts = [
            matrices.results([matrices.rows]),
            matrices.results([matrices.rows]),
        ];
        for matrix in 0..matrices.count_filled() {
            let found = converged(op, self, general_values(matrices.get(matrix)), matrix)?;
            for (all, part) in parts.iter_mut().zip(found) {
                all.extend(part);
            }
        }
        let [re, im] = parts.map(|part| part.array(matrices.dtype));
        Ok((re?, im?))
    }

    /// The eigenvalues alone of a symmetric matrix, smallest first; only the lower triangle is read. Batches.
    ///
    /// # Errors
    /// As [`eigh`](Self::eigh).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let values = NdArray::from([[2.0f64, 1.0], [1.0, 2.0]]).eigvalsh()?;
    /// assert!(values.all_close(&NdArray::from([1.0f64, 3.0]), 1e-12, 0.0)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn eigvalsh(&self) -> Result<NdArray> {
        let watch = Watch::start();
        let n = self.square_matrices("eigvalsh")?;
        let matrices = Matrices::of("eigvalsh", self)?;
        let mut values = matrices.results([n]);
        for matrix in 0..matrices.count_filled() {
            let found = symmetric_values(matrices.get(matrix));
            values.extend(converged("eigvalsh", self, found, matrix)?);
        }
        watch.made("eigvalsh", &[self], values.array(matrices.dtype))
    }

    /// The exponential of a square matrix, or of each of a batch, by scaling, a rational approximation and squaring.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when it is not square, [`ArrayErrorKind::Linalg`] when an element is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let e = NdArray::from([[0.0f64, 1.0], [0.0, 0.0]]).expm()?;
    /// assert!(e.all_close(&NdArray::from([[1.0f64, 1.0], [0.0, 1.0]]), 1e-14, 1e-14)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn expm(&self) -> Result<NdArray> {
        let watch = Watch::start();
        let n = self.square_matrices("expm")?;
        let matrices = Matrices::of("expm", self)?;
        let (dtype, shape) = (matrices.dtype, Shape::from(&self.shape()[..]));
        let a = matrices.whole()?;
        if a.is_empty() {
            return watch.made("expm", &[self], a.cast(dtype));
        }
        // Largest column sum of the batch; halved until the approximation of order 13 is exact to the last place.
        let norm = a.abs()?.sum(-2)?.max_number()?;
        let halvings = (norm / 5.371_920_351_148_152).log2().ceil().max(0.0);
        let a = a.mul(f64::exp2(-halvings))?;
        let eye = NdArray::eye_of(a.dtype(), n)?.broadcast_to(shape)?;
        let a2 = a.matmul(&a)?;
        let a4 = a2.matmul(&a2)?;
        let a6 = a4.matmul(&a2)?;
        let sum = |high: [f64; 3], low: [f64; 4]| -> Result<NdArray> {
            let head = (a6.lazy() * high[0] + a4.lazy() * high[1] + a2.lazy() * high[2]).eval()?;
            let tail =
                a6.lazy() * low[0] + a4.lazy() * low[1] + a2.lazy() * low[2] + eye.lazy() * low[3];
            a6.matmul(&head)?.add(&tail.eval()?)
        };
        let [b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13] = PADE;
        let odd = a.matmul(&sum([b13, b11, b9], [b7, b5, b3, b1])?)?;
        let even = sum([b12, b10, b8], [b6, b4, b2, b0])?;
        let mut result = even.sub(&odd)?.solve(&even.add(&odd)?)?;
        for _ in 0..halvings as usize {
            result = result.matmul(&result)?;
        }
        watch.made("expm", &[self], result.cast(dtype))
    }
}

/// Coefficients of the diagonal Padé approximation of order 13 of the exponential.
const PADE: [f64; 14] = [
    64_764_752_532_480_000.0,
    32_382_376_266_240_000.0,
    7_771_770_303_897_600.0,
    1_187_353_796_428_800.0,
    129_060_195_264_000.0,
    10_559_470_521_600.0,
    670_442_572_800.0,
    33_522_128_640.0,
    1_323_241_920.0,
    40_840_800.0,
    960_960.0,
    16_380.0,
    182.0,
    1.0,
];
