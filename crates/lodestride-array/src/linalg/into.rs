//! Results of solvers and decompositions in existing arrays, where there is one result.

use super::MatrixNorm;
use crate::NdArray;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;

impl NdArray {
    /// [`solve`](Self::solve) into an array of the result's shape: the factors need scratch memory, from which it is copied.
    ///
    /// # Errors
    /// As [`solve`](Self::solve); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn solve_into(&self, b: &NdArray, out: &NdArray) -> Result<()> {
        out.store("solve_into", &[self, b], || self.solve(b))
    }

    /// [`inv`](Self::inv) into an array of the result's shape: the factors need scratch memory, from which it is copied.
    ///
    /// # Errors
    /// As [`inv`](Self::inv); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn inv_into(&self, out: &NdArray) -> Result<()> {
        out.store("inv_into", &[self], || self.inv())
    }

    /// [`det`](Self::det) into an array of the result's shape: the factors need scratch memory, from which it is copied.
    ///
    /// # Errors
    /// As [`det`](Self::det); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn det_into(&self, out: &NdArray) -> Result<()> {
        out.store("det_into", &[self], || self.det())
    }

    /// [`cholesky`](Self::cholesky) into an array of the result's shape: the factors need scratch memory, from which it is
    /// copied.
    ///
    /// # Errors
    /// As [`cholesky`](Self::cholesky); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn cholesky_into(&self, out: &NdArray) -> Result<()> {
        out.store("cholesky_into", &[self], || self.cholesky())
    }

    /// [`singular_values`](Self::singular_values) into an array of the result's shape: the factors need scratch memory, from
    /// which it is copied.
    ///
    /// # Errors
    /// As [`singular_values`](Self::singular_values); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out`
    /// does not fit.
    #[track_caller]
    pub fn singular_values_into(&self, out: &NdArray) -> Result<()> {
        out.store("singular_values_into", &[self], || self.singular_values())
    }

    /// [`matrix_rank`](Self::matrix_rank) into an array of the result's shape: the factors need scratch memory, from which
    /// it is copied.
    ///
    /// # Errors
    /// As [`matrix_rank`](Self::matrix_rank); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn matrix_rank_into(&self, out: &NdArray) -> Result<()> {
        out.store("matrix_rank_into", &[self], || self.matrix_rank())
    }

    /// [`pinv`](Self::pinv) into an array of the result's shape: the factors need scratch memory, from which it is copied.
    ///
    /// # Errors
    /// As [`pinv`](Self::pinv); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn pinv_into(&self, out: &NdArray) -> Result<()> {
        out.store("pinv_into", &[self], || self.pinv())
    }

    /// [`pinv_left`](Self::pinv_left) into an array of the result's shape: the factors need scratch memory, from which it is
    /// copied.
    ///
    /// # Errors
    /// As [`pinv_left`](Self::pinv_left); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn pinv_left_into(&self, out: &NdArray) -> Result<()> {
        out.store("pinv_left_into", &[self], || self.pinv_left())
    }

    /// [`pinv_right`](Self::pinv_right) into an array of the result's shape: the factors need scratch memory, from which it
    /// is copied.
    ///
    /// # Errors
    /// As [`pinv_right`](Self::pinv_right); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn pinv_right_into(&self, out: &NdArray) -> Result<()> {
        out.store("pinv_right_into", &[self], || self.pinv_right())
    }

    /// [`eigvalsh`](Self::eigvalsh) into an array of the result's shape: the factors need scratch memory, from which it is
    /// copied.
    ///
    /// # Errors
    /// As [`eigvalsh`](Self::eigvalsh); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn eigvalsh_into(&self, out: &NdArray) -> Result<()> {
        out.store("eigvalsh_into", &[self], || self.eigvalsh())
    }

    /// [`eigvals`](Self::eigvals) into two arrays of the results' shape: they are made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`eigvals`](Self::eigvals); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when an output does not
    /// fit, [`ArrayErrorKind::Operands`] when they share memory. Nothing is written then.
    #[track_caller]
    pub fn eigvals_into(&self, re: &NdArray, im: &NdArray) -> Result<()> {
        NdArray::store_both([re, im], "eigvals_into", &[self], || self.eigvals())
    }

    /// [`polyfit`](Self::polyfit) into an array of the result's shape: the factors need scratch memory, from which it is
    /// copied.
    ///
    /// # Errors
    /// As [`polyfit`](Self::polyfit); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn polyfit_into(&self, y: &NdArray, degree: usize, out: &NdArray) -> Result<()> {
        out.store("polyfit_into", &[self, y], || self.polyfit(y, degree))
    }

    /// [`matrix_norm`](Self::matrix_norm) into an array of the result's shape: the factors need scratch memory, from which
    /// it is copied.
    ///
    /// # Errors
    /// As [`matrix_norm`](Self::matrix_norm); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn matrix_norm_into(&self, norm: MatrixNorm, out: &NdArray) -> Result<()> {
        out.store("matrix_norm_into", &[self], || self.matrix_norm(norm))
    }

    /// [`cond`](Self::cond) into an array of the result's shape: the factors need scratch memory, from which it is copied.
    ///
    /// # Errors
    /// As [`cond`](Self::cond); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn cond_into(&self, out: &NdArray) -> Result<()> {
        out.store("cond_into", &[self], || self.cond())
    }

    /// [`expm`](Self::expm) into an array of the result's shape: the factors need scratch memory, from which it is copied.
    ///
    /// # Errors
    /// As [`expm`](Self::expm); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn expm_into(&self, out: &NdArray) -> Result<()> {
        out.store("expm_into", &[self], || self.expm())
    }
}
