//! Reductions that pass over NaN. Arrays that cannot hold NaN are reduced as they are.

use lodestride_buffer::{Argument, DType};
use lodestride_shape::{Axes, keep};

use super::information::{float_of, widened};
use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, Result};

impl NdArray {
    /// The sum of the elements that are not NaN over the given axes; 0 of nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, f32::NAN], [2.0, 3.0]]);
    /// assert_eq!(a.nan_sum(1)?.to_vec::<f32>()?, [1.0, 5.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "nansum")]
    #[track_caller]
    pub fn nan_sum(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("nan_sum", Argument::X)?;
        let axes = axes.into();
        self.past_nan(0.0, |array| array.sum(&axes))
    }

    /// [`nan_sum`](Self::nan_sum) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`nan_sum`](Self::nan_sum); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn nan_sum_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("nan_sum_into", &[self], || self.nan_sum(axes))
    }

    /// The product of the elements that are not NaN over the given axes; 1 of nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[doc(alias = "nanprod")]
    #[track_caller]
    pub fn nan_prod(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("nan_prod", Argument::X)?;
        let axes = axes.into();
        self.past_nan(1.0, |array| array.prod(&axes))
    }

    /// [`nan_prod`](Self::nan_prod) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`nan_prod`](Self::nan_prod); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn nan_prod_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("nan_prod_into", &[self], || self.nan_prod(axes))
    }

    /// The mean of the elements that are not NaN over the given axes; NaN of nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f32, f32::NAN, 4.0]);
    /// assert_eq!(a.nan_mean(..)?.item::<f32>()?, 2.5);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "nanmean")]
    #[track_caller]
    pub fn nan_mean(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("nan_mean", Argument::X)?;
        let axes = axes.into();
        if let Some(mean) = without_nan(self.mean(&axes))? {
            return Ok(mean);
        }
        let wide = self.cast(widened(self.dtype()))?;
        let mean = wide.with_nan_as(0.0)?.sum(&axes)?;
        mean.divi(&self.known_count(&axes)?)?;
        mean.cast(float_of(self.dtype()))
    }

    /// [`nan_mean`](Self::nan_mean) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`nan_mean`](Self::nan_mean); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn nan_mean_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("nan_mean_into", &[self], || self.nan_mean(axes))
    }

    /// The variance of the elements that are not NaN over the given axes: squared deviations from their mean over their number
    /// less `ddof`; NaN where that is not positive.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f32, f32::NAN, 3.0]);
    /// assert_eq!(a.nan_var(.., 1)?.item::<f32>()?, 2.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "nanvar")]
    #[track_caller]
    pub fn nan_var(&self, axes: impl Into<Axes>, ddof: usize) -> Result<NdArray> {
        self.expect_readable("nan_var", Argument::X)?;
        let axes = axes.into();
        if !self.dtype().is_float() {
            return self.var_ddof(axes, ddof);
        }
        let named = self.resolve_axes("nan_var", &axes)?;
        let count = named.axes().iter().map(|&axis| self.shape()[axis]);
        if count.product::<usize>() > ddof
            && let Some(variance) = without_nan(self.var_ddof(&axes, ddof))?
        {
            return Ok(variance);
        }
        let wide = self.cast(widened(self.dtype()))?;
        let apart = wide.sub(&wide.nan_mean(keep(named.axes()))?)?;
        let squares = wide.is_nan()?.select(0.0, &apart)?.sum_squares(&axes)?;
        let free = self.known_count(&axes)?.sub(ddof as f64)?;
        let known = free.greater(0.0)?;
        squares.divi(&free)?;
        (known.select(&squares, f64::NAN)?).cast(float_of(self.dtype()))
    }

    /// [`nan_var`](Self::nan_var) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`nan_var`](Self::nan_var); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn nan_var_into(&self, axes: impl Into<Axes>, ddof: usize, out: &NdArray) -> Result<()> {
        out.store("nan_var_into", &[self], || self.nan_var(axes, ddof))
    }

    /// The standard deviation of the elements that are not NaN: the root of [`nan_var`](Self::nan_var).
    ///
    /// # Errors
    /// As [`nan_var`](Self::nan_var).
    #[doc(alias = "nanstd")]
    #[track_caller]
    pub fn nan_std(&self, axes: impl Into<Axes>, ddof: usize) -> Result<NdArray> {
        self.expect_readable("nan_std", Argument::X)?;
        let variance = self.cast(widened(self.dtype()))?.nan_var(axes, ddof)?;
        variance.sqrti()?;
        variance.cast(float_of(self.dtype()))
    }

    /// [`nan_std`](Self::nan_std) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`nan_std`](Self::nan_std); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn nan_std_into(&self, axes: impl Into<Axes>, ddof: usize, out: &NdArray) -> Result<()> {
        out.store("nan_std_into", &[self], || self.nan_std(axes, ddof))
    }

    /// The largest element that is not NaN over the given axes; NaN where all are.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Kernel`] when there is no element.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([f32::NAN, 3.0, 1.0]);
    /// assert_eq!(a.nan_max(0)?.item::<f32>()?, 3.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "nanmax")]
    #[track_caller]
    pub fn nan_max(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("nan_max", Argument::X)?;
        let axes = axes.into();
        if let Some(largest) = without_nan(self.max(&axes))? {
            return Ok(largest);
        }
        let largest = self.with_nan_as(f64::NEG_INFINITY)?.max(&axes)?;
        self.unless_all_nan(largest, &axes)
    }

    /// [`nan_max`](Self::nan_max) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`nan_max`](Self::nan_max); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn nan_max_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("nan_max_into", &[self], || self.nan_max(axes))
    }

    /// The smallest element that is not NaN over the given axes; NaN where all are.
    ///
    /// # Errors
    /// As [`nan_max`](Self::nan_max).
    #[doc(alias = "nanmin")]
    #[track_caller]
    pub fn nan_min(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("nan_min", Argument::X)?;
        let axes = axes.into();
        if let Some(smallest) = without_nan(self.min(&axes))? {
            return Ok(smallest);
        }
        let smallest = self.with_nan_as(f64::INFINITY)?.min(&axes)?;
        self.unless_all_nan(smallest, &axes)
    }

    /// [`nan_min`](Self::nan_min) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`nan_min`](Self::nan_min); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn nan_min_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("nan_min_into", &[self], || self.nan_min(axes))
    }

    /// The position of the largest element that is not NaN over the given axes, the first of equal ones.
    ///
    /// # Errors
    /// As [`nan_max`](Self::nan_max); [`ArrayErrorKind::Empty`] where all elements are NaN.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([f32::NAN, f32::NEG_INFINITY, 3.0, 3.0]);
    /// assert_eq!(a.nan_argmax(0)?.item::<i64>()?, 2);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "nanargmax")]
    #[track_caller]
    pub fn nan_argmax(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("nan_argmax", Argument::X)?;
        let axes = axes.into();
        let named = self.resolve_axes("nan_argmax", &axes)?;
        self.place_of("nan_argmax", &self.nan_max(keep(named.axes()))?, &axes)
    }

    /// [`nan_argmax`](Self::nan_argmax) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`nan_argmax`](Self::nan_argmax); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn nan_argmax_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("nan_argmax_into", &[self], || self.nan_argmax(axes))
    }

    /// The position of the smallest element that is not NaN over the given axes, the first of equal ones.
    ///
    /// # Errors
    /// As [`nan_argmax`](Self::nan_argmax).
    #[doc(alias = "nanargmin")]
    #[track_caller]
    pub fn nan_argmin(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("nan_argmin", Argument::X)?;
        let axes = axes.into();
        let named = self.resolve_axes("nan_argmin", &axes)?;
        self.place_of("nan_argmin", &self.nan_min(keep(named.axes()))?, &axes)
    }

    /// [`nan_argmin`](Self::nan_argmin) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`nan_argmin`](Self::nan_argmin); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn nan_argmin_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("nan_argmin_into", &[self], || self.nan_argmin(axes))
    }

    /// The running sum along an axis, to which NaN adds nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[doc(alias = "nancumsum")]
    #[track_caller]
    pub fn nan_cumsum(&self, axis: isize) -> Result<NdArray> {
        self.expect_readable("nan_cumsum", Argument::X)?;
        self.with_nan_as(0.0)?.cumsum(axis)
    }

    /// [`nan_cumsum`](Self::nan_cumsum) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`nan_cumsum`](Self::nan_cumsum); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn nan_cumsum_into(&self, axis: isize, out: &NdArray) -> Result<()> {
        out.store("nan_cumsum_into", &[self], || self.nan_cumsum(axis))
    }

    /// The running product along an axis, which NaN leaves as it is.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[doc(alias = "nancumprod")]
    #[track_caller]
    pub fn nan_cumprod(&self, axis: isize) -> Result<NdArray> {
        self.expect_readable("nan_cumprod", Argument::X)?;
        self.with_nan_as(1.0)?.cumprod(axis)
    }

    /// [`nan_cumprod`](Self::nan_cumprod) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`nan_cumprod`](Self::nan_cumprod); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn nan_cumprod_into(&self, axis: isize, out: &NdArray) -> Result<()> {
        out.store("nan_cumprod_into", &[self], || self.nan_cumprod(axis))
    }

    /// A copy with a number in place of every NaN.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f32, f32::NAN]);
    /// assert_eq!(a.replace_nan(0.0)?.to_vec::<f32>()?, [1.0, 0.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "ReplaceNans")]
    #[doc(alias = "nan_to_num")]
    #[track_caller]
    pub fn replace_nan(&self, value: f64) -> Result<NdArray> {
        self.expect_readable("replace_nan", Argument::X)?;
        if self.dtype().is_float() {
            self.with_nan_as(value)
        } else {
            self.dup()
        }
    }

    /// [`replace_nan`](Self::replace_nan) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`replace_nan`](Self::replace_nan); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn replace_nan_into(&self, value: f64, out: &NdArray) -> Result<()> {
        out.store("replace_nan_into", &[self], || self.replace_nan(value))
    }

    /// The array with a number in place of every NaN; itself where there can be none.
    #[track_caller]
    fn with_nan_as(&self, value: f64) -> Result<NdArray> {
        match self.dtype() {
            DType::F32 => {
                let value = value as f32;
                self.map(move |x: f32| if x.is_nan() { value } else { x })
            }
            DType::F64 => self.map(move |x: f64| if x.is_nan() { value } else { x }),
            dtype if dtype.is_float() => self.is_nan()?.select(value, self),
            _ => Ok(self.clone()),
        }
    }

    /// A reduction that a NaN would make NaN, with a number in place of every NaN. Most arrays have none: they are reduced as
    /// they are.
    #[track_caller]
    fn past_nan(
        &self,
        value: f64,
        reduce: impl Fn(&NdArray) -> Result<NdArray>,
    ) -> Result<NdArray> {
        match without_nan(reduce(self))? {
            Some(reduced) => Ok(reduced),
            None => reduce(&self.with_nan_as(value)?),
        }
    }

    /// How many elements over the axes are not NaN, as f32 or f64.
    #[track_caller]
    fn known_count(&self, axes: &Axes) -> Result<NdArray> {
        let known = self.is_nan()?.logical_not()?;
        known.count_nonzero(axes)?.cast(widened(self.dtype()))
    }

    /// NaN where all elements over the axes are, else the given extreme.
    #[track_caller]
    fn unless_all_nan(&self, extreme: NdArray, axes: &Axes) -> Result<NdArray> {
        if !self.dtype().is_float() {
            return Ok(extreme);
        }
        self.is_nan()?.all(axes)?.select(f64::NAN, &extreme)
    }

    /// The first place over the axes that equals an extreme, which has kept its axes.
    #[track_caller]
    fn place_of(&self, op: &'static str, extreme: &NdArray, axes: &Axes) -> Result<NdArray> {
        if extreme.dtype().is_float() && extreme.is_nan()?.any_true()? {
            let expected = "an element that is not NaN along the axes";
            return Err(ArrayError::new(ArrayErrorKind::Empty { op, expected }));
        }
        self.equal(extreme)?.cast(DType::U8)?.argmax(axes)
    }
}

/// What a reduction made, if nothing in it is NaN: then no element was. None where it failed, too: results that are checked may
/// not be NaN, and other failures come again.
#[track_caller]
fn without_nan(reduced: Result<NdArray>) -> Result<Option<NdArray>> {
    let Ok(reduced) = reduced else {
        return Ok(None);
    };
    let has_nan = reduced.dtype().is_float() && reduced.is_nan()?.any_true()?;
    Ok((!has_nan).then_some(reduced))
}
