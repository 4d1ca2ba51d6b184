//! Areas under values along an axis, by straight lines between them.

use lodestride_buffer::{Argument, scope_out};

use super::Spacing;
use crate::NdArray;
use crate::checks::Watch;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::{InMethod, InOp, Result};
use crate::lazy::Lazy;
use crate::reduce::{float_of, widened};

impl NdArray {
    /// The area under the values along an axis, by straight lines between them. Integers give f64.
    ///
    /// The spacing is a number, a vector of coordinates, or an array of them that broadcasts to this one.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis or coordinates that do not broadcast, [`ArrayErrorKind::Count`] when a
    /// vector does not have one for each position, [`ArrayErrorKind::UnsupportedDType`] for truth values.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let y = NdArray::from([1.0, 2.0, 3.0]);
    /// assert_eq!(y.trapezoid(1, 0)?.item::<f64>()?, 4.0);
    /// assert_eq!(y.trapezoid(&NdArray::from([4, 6, 8]), 0)?.item::<f64>()?, 8.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "trapz")]
    #[track_caller]
    pub fn trapezoid<'a>(&self, spacing: impl Into<Spacing<'a>>, axis: isize) -> Result<NdArray> {
        let (op, spacing) = ("trapezoid", spacing.into());
        if let Spacing::Step(step) = spacing
            && let Some(area) = self.even_area(op, step, axis)?
        {
            return Ok(area);
        }
        self.areas(op, spacing, axis, |areas, axis| areas.sum(axis))
    }

    /// The area under values at even distances: all but the first and the last count whole, these by half. `None` for arrays
    /// that are small along the axis, and where a sum is not finite, which the areas between neighbours may be.
    #[track_caller]
    fn even_area(&self, op: &'static str, step: f64, axis: isize) -> Result<Option<NdArray>> {
        let watch = Watch::start();
        let axis = self.expect_sampled(op, axis)?;
        let size = self.shape()[axis];
        if size < 3 {
            return Ok(None);
        }
        let dtype = float_of(self.dtype());
        let y = scope_out(|| self.cast(widened(dtype))).located()?;
        let at = axis as isize;
        let (first, last) = (y.slice(0, at)?, y.slice(-1, at)?);
        let whole = scope_out(|| y.sum(at));
        // Results that are checked may not be infinite; other failures come again.
        let Ok(whole) = whole else { return Ok(None) };
        let area = (whole.lazy() - (first.lazy() + &last) / 2.0) * step;
        let Ok(area) = area.eval() else {
            return Ok(None);
        };
        if !area.is_finite()?.all_true()? {
            return Ok(None);
        }
        watch.made(op, &[self], area.cast(dtype)).map(Some)
    }

    /// [`trapezoid`](Self::trapezoid) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`trapezoid`](Self::trapezoid); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn trapezoid_into<'a>(
        &self,
        spacing: impl Into<Spacing<'a>>,
        axis: isize,
        out: &NdArray,
    ) -> Result<()> {
        let spacing = spacing.into();
        let inputs = spacing.with(self);
        out.store("trapezoid_into", &inputs, || self.trapezoid(spacing, axis))
    }

    /// The areas of [`trapezoid`](Self::trapezoid) from the first position to each of the others: the axis is shorter by one.
    ///
    /// # Errors
    /// As [`trapezoid`](Self::trapezoid).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let y = NdArray::from([1.0, 2.0, 3.0]);
    /// assert_eq!(y.cumulative_trapezoid(1, 0)?.to_vec::<f64>()?, [1.5, 4.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "cumtrapz")]
    #[track_caller]
    pub fn cumulative_trapezoid<'a>(
        &self,
        spacing: impl Into<Spacing<'a>>,
        axis: isize,
    ) -> Result<NdArray> {
        let op = "cumulative_trapezoid";
        self.areas(op, spacing.into(), axis, |areas, axis| {
            areas.eval()?.cumsum(axis)
        })
    }

    /// [`cumulative_trapezoid`](Self::cumulative_trapezoid) into an array of the result's shape: it is made elsewhere and
    /// copied there.
    ///
    /// # Errors
    /// As [`trapezoid`](Self::trapezoid); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn cumulative_trapezoid_into<'a>(
        &self,
        spacing: impl Into<Spacing<'a>>,
        axis: isize,
        out: &NdArray,
    ) -> Result<()> {
        let spacing = spacing.into();
        let inputs = spacing.with(self);
        out.store("cumulative_trapezoid_into", &inputs, || {
            self.cumulative_trapezoid(spacing, axis)
        })
    }

    /// What `finish` makes of the areas between neighbours along an axis.
    #[track_caller]
    fn areas(
        &self,
        op: &'static str,
        spacing: Spacing<'_>,
        axis: isize,
        finish: impl FnOnce(Lazy<'_>, isize) -> Result<NdArray>,
    ) -> Result<NdArray> {
        let watch = Watch::start();
        let axis = self.expect_sampled(op, axis)?;
        let dtype = float_of(match spacing {
            Spacing::Step(_) => self.dtype(),
            Spacing::At(coordinates) => self.dtype().promote(coordinates.dtype()),
        });
        let y = scope_out(|| self.cast(widened(dtype))).located()?;
        let [low, high] = y.neighbours(op, axis)?;
        let sums = low.lazy() + &high;
        let made = match spacing {
            Spacing::Step(step) => finish(sums * step / 2.0, axis as isize),
            Spacing::At(coordinates) => {
                let x = coordinates.coordinates_of(op, self, axis)?;
                let x = scope_out(|| x.cast(y.dtype())).located()?;
                let x = x.with_layout(x.layout().broadcast_to(self.shape()).in_op(op, &x)?);
                let [from, to] = x.neighbours(op, axis)?;
                finish(sums * (to.lazy() - &from) / 2.0, axis as isize)
            }
        };
        let made = made.located()?.cast(dtype);
        watch.made(op, &spacing.with(self), made)
    }

    /// These coordinates with the axes of the array they belong to, to which they broadcast.
    #[track_caller]
    fn coordinates_of(&self, op: &'static str, array: &NdArray, axis: usize) -> Result<NdArray> {
        self.expect_readable(op, Argument::Y)?;
        if self.rank() != 1 {
            self.layout().broadcast_to(array.shape()).in_op(op, self)?;
            return Ok(self.clone());
        }
        self.expect_one_each(op, array.shape()[axis])?;
        let mut layout = self.layout().clone();
        for _ in axis + 1..array.rank() {
            layout = layout.expand_dims(-1).in_op(op, self)?;
        }
        Ok(self.with_layout(layout))
    }

    /// All positions of an axis but the last, and all but the first.
    #[track_caller]
    fn neighbours(&self, op: &'static str, axis: usize) -> Result<[NdArray; 2]> {
        let size = self.shape()[axis];
        Ok([
            self.narrowed(op, axis, 0..size.saturating_sub(1))?,
            self.narrowed(op, axis, size.min(1)..size)?,
        ])
    }
}
