//! Norms and condition numbers of matrices. Norms of vectors along axes are with the reductions.

use super::matrices::Matrices;
use crate::NdArray;
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, Result};

/// The norms of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixNorm {
    /// Largest sum of magnitudes of a column.
    One,
    /// Largest singular value.
    Two,
    /// Largest sum of magnitudes of a row.
    Infinity,
    /// Square root of the sum of squares.
    Frobenius,
    /// Sum of the singular values.
    Nuclear,
    /// Smallest sum of magnitudes of a column.
    MinusOne,
    /// Smallest singular value.
    MinusTwo,
    /// Smallest sum of magnitudes of a row.
    MinusInfinity,
}

impl NdArray {
    /// A norm of a matrix, or of each of a batch.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when there is no matrix, [`ArrayErrorKind::Linalg`] when an element is not finite,
    /// [`ArrayErrorKind::Empty`] for a smallest value of matrices without elements.
    ///
    /// ```
    /// use lodestride_array::{MatrixNorm, NdArray};
    ///
    /// let a = NdArray::from([[3.0f64, 0.0], [4.0, 0.0]]);
    /// assert_eq!(a.matrix_norm(MatrixNorm::One)?.item::<f64>()?, 7.0);
    /// assert_eq!(a.matrix_norm(MatrixNorm::Frobenius)?.item::<f64>()?, 5.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn matrix_norm(&self, norm: MatrixNorm) -> Result<NdArray> {
        let watch = Watch::start();
        let matrices = Matrices::of("matrix_norm", self)?;
        if self.is_empty() {
            use MatrixNorm::{MinusInfinity, MinusOne, MinusTwo};
            if matches!(norm, MinusOne | MinusTwo | MinusInfinity) && matrices.count() > 0 {
                let (op, expected) = ("matrix_norm", "matrices with elements");
                return Err(ArrayError::new(ArrayErrorKind::Empty { op, expected }));
            }
            return watch.made("matrix_norm", &[self], matrices.zeros());
        }
        let result = match norm {
            MatrixNorm::One => matrices.whole()?.abs()?.sum(-2)?.max(-1)?,
            MatrixNorm::Infinity => matrices.whole()?.abs()?.sum(-1)?.max(-1)?,
            MatrixNorm::Frobenius => matrices.whole()?.norm2([-2, -1])?,
            MatrixNorm::Two => matrices.whole()?.singular_values()?.max(-1)?,
            MatrixNorm::Nuclear => matrices.whole()?.singular_values()?.sum(-1)?,
            MatrixNorm::MinusOne => matrices.whole()?.abs()?.sum(-2)?.min(-1)?,
            MatrixNorm::MinusTwo => matrices.whole()?.singular_values()?.min(-1)?,
            MatrixNorm::MinusInfinity => matrices.whole()?.abs()?.sum(-1)?.min(-1)?,
        };
        watch.made("matrix_norm", &[self], result.cast(matrices.dtype))
    }

    /// The condition number: the largest singular value over the smallest; infinite for a singular matrix. Batches.
    ///
    /// # Errors
    /// As [`svd`](Self::svd); [`ArrayErrorKind::Empty`] for matrices without elements.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::from([[4.0f64, 0.0], [0.0, 2.0]]).cond()?.item::<f64>()?, 2.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn cond(&self) -> Result<NdArray> {
        let watch = Watch::start();
        let matrices = Matrices::of("cond", self)?;
        if matrices.rows.min(matrices.columns) == 0 {
            let (op, expected) = ("cond", "matrices with elements");
            return Err(ArrayError::new(ArrayErrorKind::Empty { op, expected }));
        }
        let s = matrices.whole()?.singular_values()?;
        watch.made(
            "cond",
            &[self],
            s.max(-1)?.div(&s.min(-1)?)?.cast(matrices.dtype),
        )
    }
}
