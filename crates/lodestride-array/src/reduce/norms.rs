//! Norms of any order over axes. Those of order 1, 2 and infinity, which have kernels of their own, are in `totals`; norms of
//! matrices in `linalg`.

use lodestride_buffer::{Argument, scope_out};
use lodestride_kernels::BinaryOp;
use lodestride_shape::Axes;

use super::information::{float_of, widened};
use crate::NdArray;
use crate::checks::Watch;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::{InMethod, Result};

impl NdArray {
    /// The norm of order `p` over the given axes: the `p`-th root of the sum of the `p`-th powers of the magnitudes. Infinity
    /// stands for the largest magnitude, minus infinity for the smallest, 0 for the number of elements other than 0. Integers
    /// give f64.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Kernel`] for the smallest magnitude of nothing.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[3.0, -4.0], [0.0, 2.0]]);
    /// assert_eq!(a.norm_p(2.0, 1)?.to_vec::<f64>()?, [5.0, 2.0]);
    /// assert_eq!(a.norm_p(0.0, ..)?.item::<f64>()?, 3.0);
    /// assert_eq!(a.norm_p(f64::NEG_INFINITY, 0)?.to_vec::<f64>()?, [0.0, 2.0]);
    /// assert!((a.norm_p(3.0, ..)?.item::<f64>()? - 99.0f64.cbrt()).abs() < 1e-12);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "vector_norm")]
    #[doc(alias = "norm")]
    #[track_caller]
    pub fn norm_p(&self, p: f64, axes: impl Into<Axes>) -> Result<NdArray> {
        let op = "norm_p";
        let watch = Watch::start();
        self.expect_readable(op, Argument::X)?;
        let (axes, dtype) = (axes.into(), float_of(self.dtype()));
        self.resolve_axes(op, &axes)?;
        let x = scope_out(|| self.cast(widened(dtype))).located()?;
        let made = if p == f64::INFINITY {
            x.norm_max(axes)
        } else if p == f64::NEG_INFINITY {
            x.abs()?.min(axes)
        } else if p == 0.0 {
            x.count_nonzero(axes)
        } else if p == 1.0 {
            x.norm1(axes)
        } else if p == 2.0 {
            x.norm2(axes)
        } else {
            let powers = x.lazy().abs().apply_with(BinaryOp::Pow, p);
            powers.sum(axes).located()?.pow(1.0 / p)
        };
        watch.made(op, &[self], made?.cast(dtype))
    }

    /// [`norm_p`](Self::norm_p) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`norm_p`](Self::norm_p); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn norm_p_into(&self, p: f64, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("norm_p_into", &[self], || self.norm_p(p, axes))
    }
}
