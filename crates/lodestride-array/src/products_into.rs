//! The products of `products` into existing arrays.

use lodestride_kernels::ReduceOp;
use lodestride_shape::Axes;

use crate::NdArray;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::{InMethod, Result};

impl NdArray {
    /// [`inner`](Self::inner) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`inner`](Self::inner); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn inner_into(&self, rhs: &NdArray, out: &NdArray) -> Result<()> {
        out.store("inner_into", &[self, rhs], || self.inner(rhs))
    }

    /// [`vdot`](Self::vdot) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`vdot`](Self::vdot); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn vdot_into(&self, rhs: &NdArray, out: &NdArray) -> Result<()> {
        out.store("vdot_into", &[self, rhs], || self.vdot(rhs))
    }

    /// [`kron`](Self::kron) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`kron`](Self::kron); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn kron_into(&self, rhs: &NdArray, out: &NdArray) -> Result<()> {
        out.store("kron_into", &[self, rhs], || self.kron(rhs))
    }

    /// [`cross`](Self::cross) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`cross`](Self::cross); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn cross_into(&self, rhs: &NdArray, out: &NdArray) -> Result<()> {
        out.store("cross_into", &[self, rhs], || self.cross(rhs))
    }

    /// [`trace`](Self::trace) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`trace`](Self::trace); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn trace_into(&self, out: &NdArray) -> Result<()> {
        let diagonal = self.diagonal(0).renamed("trace_into")?;
        diagonal.reduce_into(ReduceOp::Sum, "trace_into", &Axes::from(-1), out)
    }

    /// [`matrix_power`](Self::matrix_power) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`matrix_power`](Self::matrix_power); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn matrix_power_into(&self, exponent: u32, out: &NdArray) -> Result<()> {
        out.store("matrix_power_into", &[self], || self.matrix_power(exponent))
    }

    /// [`multi_dot`](Self::multi_dot) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`multi_dot`](Self::multi_dot); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn multi_dot_into(arrays: &[&NdArray], out: &NdArray) -> Result<()> {
        out.store("multi_dot_into", arrays, || NdArray::multi_dot(arrays))
    }
}
