//! Medians, quantiles and percentiles over axes.

use lodestride_buffer::DType;
use lodestride_kernels::ReduceOp;
use lodestride_kernels::sort_quantile::{self as kernels, NanRule, QuantileMethod};
use lodestride_shape::{Axes, Order};
use smallvec::SmallVec;

use crate::NdArray;
use crate::checks::{recorded, watched};
use crate::error::{InOp, Result, expect_within};

/// Per cent as a share.
#[track_caller]
fn share(op: &'static str, percent: f64) -> Result<f64> {
    expect_within(op, "percent", percent, (0.0, 100.0))?;
    Ok(percent / 100.0)
}

/// NumPy's rules where the caller says nothing else.
const PLAIN: (QuantileMethod, NanRule) = (QuantileMethod::Linear, NanRule::Propagate);

impl NdArray {
    /// The median over the given axes: the middle element, or halfway between the two middle ones; NaN where there is a NaN
    /// or no element.
    ///
    /// Integers give f64, floats their own dtype. Found by selection, not by sorting.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::{NdArray, keep};
    ///
    /// let a = NdArray::from([[10i32, 7, 4], [3, 2, 1]]);
    /// assert_eq!(a.median(..)?.item::<f64>()?, 3.5);
    /// assert_eq!(a.median(1)?.to_vec::<f64>()?, [7.0, 2.0]);
    /// assert_eq!(a.median(keep(0))?.to_vec::<f64>()?, [6.5, 4.5, 2.5]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn median(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.one_quantile("median", 0.5, &axes.into(), PLAIN)
    }

    /// [`median`](Self::median) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`median`](Self::median); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn median_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("median_into", &[self], || self.median(axes))
    }

    /// The median of the elements that are not NaN over the given axes.
    ///
    /// # Errors
    /// As [`median`](Self::median).
    #[track_caller]
    pub fn nan_median(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        let rules = (QuantileMethod::Linear, NanRule::Skip);
        self.one_quantile("nan_median", 0.5, &axes.into(), rules)
    }

    /// [`nan_median`](Self::nan_median) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`nan_median`](Self::nan_median); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn nan_median_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("nan_median_into", &[self], || self.nan_median(axes))
    }

    /// The median of all elements.
    ///
    /// # Errors
    /// As [`median`](Self::median).
    #[doc(alias = "medianNumber")]
    #[track_caller]
    pub fn median_number(&self) -> Result<f64> {
        let op = "median_number";
        recorded(op, &[self], || {
            let median = self.one_quantile(op, 0.5, &(..).into(), PLAIN)?;
            median.cast(DType::F64)?.item::<f64>()
        })
    }

    /// The value below which a share `q` (0 to 1) of the elements over the given axes lies, on the line between the two
    /// nearest elements as in NumPy.
    ///
    /// # Errors
    /// As [`median`](Self::median); [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) for `q` outside 0 to 1.
    #[track_caller]
    pub fn quantile(&self, q: f64, axes: impl Into<Axes>) -> Result<NdArray> {
        self.one_quantile("quantile", q, &axes.into(), PLAIN)
    }

    /// [`quantile`](Self::quantile) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`quantile`](Self::quantile); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn quantile_into(&self, q: f64, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("quantile_into", &[self], || self.quantile(q, axes))
    }

    /// [`quantile`](Self::quantile) by the given method.
    ///
    /// # Errors
    /// As [`quantile`](Self::quantile).
    ///
    /// ```
    /// use lodestride_array::{NdArray, QuantileMethod};
    ///
    /// let a = NdArray::from([1.0f64, 2.0, 3.0, 4.0]);
    /// assert_eq!(a.quantile(0.5, 0)?.item::<f64>()?, 2.5);
    /// assert_eq!(a.quantile_with(0.5, 0, QuantileMethod::Higher)?.item::<f64>()?, 3.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn quantile_with(
        &self,
        q: f64,
        axes: impl Into<Axes>,
        method: QuantileMethod,
    ) -> Result<NdArray> {
        let rules = (method, NanRule::Propagate);
        self.one_quantile("quantile_with", q, &axes.into(), rules)
    }

    /// [`quantile_with`](Self::quantile_with) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`quantile_with`](Self::quantile_with); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn quantile_with_into(
        &self,
        q: f64,
        axes: impl Into<Axes>,
        method: QuantileMethod,
        out: &NdArray,
    ) -> Result<()> {
        out.store("quantile_with_into", &[self], || {
            self.quantile_with(q, axes, method)
        })
    }

    /// [`quantile_with`](Self::quantile_with) of the elements that are not NaN.
    ///
    /// # Errors
    /// As [`quantile`](Self::quantile).
    #[track_caller]
    pub fn nan_quantile(
        &self,
        q: f64,
        axes: impl Into<Axes>,
        method: QuantileMethod,
    ) -> Result<NdArray> {
        self.one_quantile("nan_quantile", q, &axes.into(), (method, NanRule::Skip))
    }

    /// [`nan_quantile`](Self::nan_quantile) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`nan_quantile`](Self::nan_quantile); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn nan_quantile_into(
        &self,
        q: f64,
        axes: impl Into<Axes>,
        method: QuantileMethod,
        out: &NdArray,
    ) -> Result<()> {
        out.store("nan_quantile_into", &[self], || {
            self.nan_quantile(q, axes, method)
        })
    }

    /// Several quantiles at once: axis 0 of the result counts them, the others are those of the reduction.
    ///
    /// # Errors
    /// As [`quantile`](Self::quantile).
    ///
    /// ```
    /// use lodestride_array::{NdArray, QuantileMethod};
    ///
    /// let a = NdArray::from([[1.0f64, 2.0, 3.0], [4.0, 6.0, 8.0]]);
    /// let quartiles = a.quantiles(&[0.25, 0.75], 1, QuantileMethod::Linear)?;
    /// assert_eq!(quartiles, NdArray::from([[1.5f64, 5.0], [2.5, 7.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn quantiles(
        &self,
        qs: &[f64],
        axes: impl Into<Axes>,
        method: QuantileMethod,
    ) -> Result<NdArray> {
        let rules = (method, NanRule::Propagate);
        self.several_quantiles("quantiles", qs, &axes.into(), rules)
    }

    /// [`quantiles`](Self::quantiles) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`quantiles`](Self::quantiles); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn quantiles_into(
        &self,
        qs: &[f64],
        axes: impl Into<Axes>,
        method: QuantileMethod,
        out: &NdArray,
    ) -> Result<()> {
        out.store("quantiles_into", &[self], || {
            self.quantiles(qs, axes, method)
        })
    }

    /// The value below which `percent` (0 to 100) of the elements over the given axes lie: [`quantile`](Self::quantile) of
    /// `percent / 100`.
    ///
    /// # Errors
    /// As [`quantile`](Self::quantile).
    #[track_caller]
    pub fn percentile(&self, percent: f64, axes: impl Into<Axes>) -> Result<NdArray> {
        let op = "percentile";
        self.one_quantile(op, share(op, percent)?, &axes.into(), PLAIN)
    }

    /// [`percentile`](Self::percentile) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`percentile`](Self::percentile); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn percentile_into(
        &self,
        percent: f64,
        axes: impl Into<Axes>,
        out: &NdArray,
    ) -> Result<()> {
        out.store("percentile_into", &[self], || {
            self.percentile(percent, axes)
        })
    }

    /// [`percentile`](Self::percentile) by the given method; ND4J's is [`QuantileMethod::Weibull`].
    ///
    /// # Errors
    /// As [`quantile`](Self::quantile).
    ///
    /// ```
    /// use lodestride_array::{NdArray, QuantileMethod};
    ///
    /// let a = NdArray::from([1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    /// assert_eq!(a.percentile_with(75.0, .., QuantileMethod::Weibull)?.item::<f64>()?, 7.5);
    /// assert_eq!(a.percentile(75.0, ..)?.item::<f64>()?, 7.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn percentile_with(
        &self,
        percent: f64,
        axes: impl Into<Axes>,
        method: QuantileMethod,
    ) -> Result<NdArray> {
        let (op, rules) = ("percentile_with", (method, NanRule::Propagate));
        self.one_quantile(op, share(op, percent)?, &axes.into(), rules)
    }

    /// [`percentile_with`](Self::percentile_with) into an array of the result's shape: it is made elsewhere and copied
    /// there.
    ///
    /// # Errors
    /// As [`percentile_with`](Self::percentile_with); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn percentile_with_into(
        &self,
        percent: f64,
        axes: impl Into<Axes>,
        method: QuantileMethod,
        out: &NdArray,
    ) -> Result<()> {
        out.store("percentile_with_into", &[self], || {
            self.percentile_with(percent, axes, method)
        })
    }

    #[track_caller]
    fn one_quantile(
        &self,
        op: &'static str,
        q: f64,
        axes: &Axes,
        rules: (QuantileMethod, NanRule),
    ) -> Result<NdArray> {
        let several = self.several_quantiles(op, &[q], axes, rules)?;
        let shape = several.shape()[1..].to_vec();
        Ok(several.reshape(shape)?.owning())
    }

    #[track_caller]
    fn several_quantiles(
        &self,
        op: &'static str,
        qs: &[f64],
        axes: &Axes,
        rules: (QuantileMethod, NanRule),
    ) -> Result<NdArray> {
        for &q in qs {
            expect_within(op, "q", q, (0.0, 1.0))?;
        }
        let axes = axes.resolve(self.rank()).in_op(op, self)?;
        let dtype = ReduceOp::Mean.result_dtype(self.dtype());
        let mut shape = axes.removed_shape(self.shape());
        let rows = shape.iter().product::<usize>();
        shape.insert(0, qs.len());
        let out = NdArray::recycled_ordered(op, dtype, shape, Order::C)?;
        if let &[axis] = axes.axes() {
            let run = || kernels::quantile(self.operand(), axis, qs, rules, out.operand());
            watched(op, &[self], &out, run)?;
        } else {
            // The axes behind the others, as one.
            let order: SmallVec<[isize; 6]> = axes
                .remaining()
                .iter()
                .chain(axes.axes())
                .map(|&axis| axis as isize)
                .collect();
            let width: usize = axes.axes().iter().map(|&axis| self.shape()[axis]).product();
            let matrix = self.permute(&order[..])?.reshape([rows, width])?;
            let flat = out.reshape([qs.len(), rows])?;
            let run = || kernels::quantile(matrix.operand(), 1, qs, rules, flat.operand());
            watched(op, &[&matrix], &flat, run)?;
        }
        if !axes.keeps() {
            return Ok(out);
        }
        let mut kept = axes.kept_shape(self.shape());
        kept.insert(0, qs.len());
        Ok(out.reshape(kept)?.owning())
    }
}
