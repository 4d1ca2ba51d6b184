//! Boolean indexing: picking and replacing the elements where a mask is true or a condition holds, and finding the first and
//! the last of them.
//!
//! Masks are bool arrays, as the comparisons return them; conditions are in `condition`.

use lodestride_buffer::{Argument, DType};
use lodestride_kernels as kernels;
use lodestride_shape::{Axes, Order, Shape};

use crate::NdArray;
use crate::arg::Arg;
use crate::checks::{Watch, watched};
use crate::conditional::Where;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, InOp, OrFail, Result};

impl NdArray {
    /// Replaces the elements where a mask is true, or a condition holds, by a number or by the matching elements of an array.
    ///
    /// Values are converted to this array's dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Mask`] when the mask is not a bool array that broadcasts to this shape,
    /// [`ArrayErrorKind::InPlaceShape`] when the values do not.
    ///
    /// ```
    /// use lodestride_array::{Condition, NdArray};
    ///
    /// let a = NdArray::from([1.0f32, -2.0, 3.0]);
    /// a.replace_where(&a.less(0.0)?, 0.0)?;
    /// assert_eq!(a.to_vec::<f32>()?, [1.0, 0.0, 3.0]);
    /// a.replace_where(Condition::greater(2), 9)?;
    /// assert_eq!(a.to_vec::<f32>()?, [1.0, 0.0, 9.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "replaceWhere")]
    #[doc(alias = "CompareAndReplace")]
    #[doc(alias = "putmask")]
    #[track_caller]
    pub fn replace_where<'a, 'b>(
        &self,
        which: impl Into<Where<'a>>,
        values: impl Into<Arg<'b>>,
    ) -> Result<&Self> {
        self.expect_readable("replace_where", Argument::Z)?;
        self.expect_writable("replace_where")?;
        let mask = self.mask_of("replace_where", Argument::X, &which.into())?;
        let values = values.into().broadcast_into("replace_where", self)?;
        let (x, z) = (mask.operand().into(), self.operand());
        let run = || kernels::select(x, values.input(), z.into(), z);
        watched("replace_where", &[&mask], self, run)?;
        Ok(self)
    }

    /// A vector of the elements where a mask is true, or a condition holds, in C order; empty when there are none.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Mask`] when the mask is not a bool array that broadcasts to this shape.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 5.0], [7.0, 2.0]]);
    /// assert_eq!(a.select_where(&a.greater(3)?)?.to_vec::<f32>()?, [5.0, 7.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "chooseFrom")]
    #[doc(alias = "masked_select")]
    #[track_caller]
    pub fn select_where<'a>(&self, which: impl Into<Where<'a>>) -> Result<NdArray> {
        let watch = Watch::start();
        self.expect_readable("select_where", Argument::X)?;
        let mask = self
            .mask_of("select_where", Argument::Y, &which.into())?
            .ravel()?;
        let count = kernels::count_nonzero(mask.operand())
            .or_fail("select_where")
            .named("select_where", Argument::Y)?;
        let shape = Shape::from(count);
        let out = NdArray::recycled_ordered("select_where", self.dtype(), shape, Order::C)?;
        kernels::compress(self.ravel()?.operand(), 0, mask.operand(), out.operand())
            .or_fail("select_where")?;
        watch.made("select_where", &[self], Ok(out))
    }

    /// The indices of the elements that are not zero, one row of the result per element, in C order, as i64.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[0i32, 4], [5, 0]]);
    /// assert_eq!(a.nonzero()?, NdArray::from([[0i64, 1], [1, 0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "argwhere")]
    #[track_caller]
    pub fn nonzero(&self) -> Result<NdArray> {
        let op = "nonzero";
        self.expect_readable(op, Argument::X)?;
        let watch = Watch::start();
        let dense = self.in_runs()?;
        let flags = dense.as_ref().unwrap_or(self);
        let count = kernels::count_nonzero(flags.operand()).or_fail(op)?;
        let shape = Shape::from([count, self.rank()]);
        let out = NdArray::recycled_ordered(op, DType::I64, shape, Order::C)?;
        kernels::nonzero(flags.operand(), out.operand()).or_fail(op)?;
        watch.made(op, &[self], Ok(out))
    }

    /// The first place along a vector, or in C order in any array, that is not zero; `None` when all are.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f32, 2.0, 3.0, 4.0]);
    /// assert_eq!(a.greater_equal(3)?.first_index()?, Some(2));
    /// assert_eq!(a.greater(9)?.first_index()?, None);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "firstIndex")]
    #[track_caller]
    pub fn first_index(&self) -> Result<Option<usize>> {
        let flags = self.cast(DType::Bool).renamed("first_index")?;
        // The first of the largest is the first that is true, if any is.
        if flags.any_true()? {
            return flags.argmax_number().map(Some);
        }
        Ok(None)
    }

    /// The last place along a vector, or in C order in any array, that is not zero; `None` when all are.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    #[doc(alias = "lastIndex")]
    #[track_caller]
    pub fn last_index(&self) -> Result<Option<usize>> {
        let first = self.turned(..)?.first_index().renamed("last_index")?;
        Ok(first.map(|from_behind| self.len() - 1 - from_behind))
    }

    /// The first place that is not zero over the given axes, as i64, -1 where all are; over several axes, counted in C order
    /// of these.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0, 3.0], [0.0, 1.0, 3.0], [0.0, 0.0, 1.0]]);
    /// assert_eq!(a.greater_equal(2)?.first_index_along(1)?.to_vec::<i64>()?, [1, 2, -1]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn first_index_along(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        let axes = axes.into();
        let flags = self.cast(DType::Bool).renamed("first_index_along")?;
        let found = flags.any(axes.clone())?;
        let count = axes.resolve(self.rank()).in_op("first_index_along", self)?;
        if count.axes().iter().any(|&axis| self.shape()[axis] == 0) {
            return NdArray::full_of(DType::I64, found.shape().clone(), -1);
        }
        let places = flags.argmax(axes)?;
        places.replace_where(&found.logical_not()?, -1)?;
        Ok(places)
    }

    /// [`first_index_along`](Self::first_index_along) into an array of the result's shape: it is made elsewhere and copied
    /// there.
    ///
    /// # Errors
    /// As [`first_index_along`](Self::first_index_along); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when
    /// `out` does not fit.
    #[track_caller]
    pub fn first_index_along_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("first_index_along_into", &[self], || {
            self.first_index_along(axes)
        })
    }

    /// The last place that is not zero over the given axes, as [`first_index_along`](Self::first_index_along) counts.
    ///
    /// # Errors
    /// As [`first_index_along`](Self::first_index_along).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0]]);
    /// assert_eq!(a.equal(1)?.last_index_along(0)?.to_vec::<i64>()?, [1, 1, 0, -1]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn last_index_along(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        let axes = axes.into();
        let resolved = axes.resolve(self.rank()).in_op("last_index_along", self)?;
        let count: usize = resolved
            .axes()
            .iter()
            .map(|&axis| self.shape()[axis])
            .product();
        let places = self.turned(axes.clone())?.first_index_along(axes);
        let places = places.renamed("last_index_along")?;
        let found = places.greater_equal(0)?;
        let from_front = places.rsub(count as i64 - 1)?;
        places.replace_where(&found, &from_front)?;
        Ok(places)
    }

    /// [`last_index_along`](Self::last_index_along) into an array of the result's shape: it is made elsewhere and copied
    /// there.
    ///
    /// # Errors
    /// As [`last_index_along`](Self::last_index_along); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when
    /// `out` does not fit.
    #[track_caller]
    pub fn last_index_along_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("last_index_along_into", &[self], || {
            self.last_index_along(axes)
        })
    }

    /// A view with the given axes backwards.
    #[track_caller]
    fn turned(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        let axes = axes.into().resolve(self.rank()).in_op("last_index", self)?;
        let turn = |array: NdArray, &axis: &usize| array.flip(axis as isize);
        axes.axes().iter().try_fold(self.clone(), turn)
    }

    /// Whether all elements agree within `absolute + relative * |other|`, after broadcasting; NaN agrees with nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`](crate::ArrayErrorKind::Broadcast) when the shapes do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f32, 2.0]);
    /// assert!(a.all_close(&a.add(1e-6)?, 1e-5, 1e-8)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "equalsWithEps")]
    #[track_caller]
    pub fn all_close(&self, other: &NdArray, relative: f64, absolute: f64) -> Result<bool> {
        let close = self
            .is_close(other, relative, absolute)
            .renamed("all_close")?;
        close.all_true()
    }

    #[track_caller]
    pub(crate) fn stretched_mask(&self, op: &'static str, mask: &NdArray) -> Result<NdArray> {
        match mask.layout().broadcast_to(self.shape()) {
            Ok(layout) if mask.dtype() == DType::Bool => Ok(mask.with_layout(layout)),
            _ => {
                let (array, mask) = (ArraySummary::of(self), ArraySummary::of(mask));
                Err(ArrayError::new(ArrayErrorKind::Mask { op, array, mask }))
            }
        }
    }
}
