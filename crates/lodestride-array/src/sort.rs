//! Sorting: whole arrays and lines of them, positions in sorted order, rows by a column and columns by a row.
//!
//! Selecting without sorting is in `select`, distinct values in `unique`, places in sorted vectors in `search`, counting by
//! bins in `histogram`, medians and quantiles in `quantile`.

mod histogram;
mod histogram2d;
mod quantile;
mod search;
mod select;
mod sets;
mod unique;

pub use histogram::{Bins, HistogramOptions};
pub use histogram2d::{Histogram2d, Histogram2dOptions};
pub(crate) use search::first_fall;
pub use unique::Unique;

use lodestride_buffer::{Argument, DType};
use lodestride_kernels::sort::{self as kernels, Sorting};
use lodestride_shape::{Axes, Order, normalize_axis};

use crate::NdArray;
use crate::checks::watched;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, InOp, OrFail, Result};
use crate::target::Target;

impl NdArray {
    /// The array to sort and the axis: this array for one axis, its elements in C order as a vector for all axes.
    #[track_caller]
    fn line_axis(&self, op: &'static str, axes: &Axes) -> Result<(NdArray, usize)> {
        let axes = axes.resolve(self.rank()).in_op(op, self)?;
        match axes.axes() {
            &[axis] => Ok((self.clone(), axis)),
            _ if axes.is_all() => Ok((self.ravel()?, 0)),
            _ => Err(ArrayError::new(ArrayErrorKind::Form {
                op,
                expected: "one axis, or `..` for the elements as one line (`reshape` joins axes)",
                array: ArraySummary::of(self),
            })),
        }
    }

    /// A sorted copy along one axis, ascending with NaN last; `..` gives a vector of all elements.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Form`] for several axes.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[3.0f32, 1.0, f32::NAN], [2.0, 9.0, 0.0]]);
    /// assert_eq!(a.sort(0)?.row(0)?.to_vec::<f32>()?, [2.0, 1.0, 0.0]);
    /// assert_eq!(a.row(1)?.sort(..)?.to_vec::<f32>()?, [0.0, 2.0, 9.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn sort(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.sort_with(axes, Sorting::ascending())
    }

    /// [`sort`](Self::sort) into an array of the result's shape; lines being sorted need scratch memory.
    ///
    /// # Errors
    /// As [`sort`](Self::sort); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn sort_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.sort_to(
            "sort_into",
            &axes.into(),
            Sorting::ascending(),
            Target::Into(out),
        )
        .map(drop)
    }

    /// A sorted copy along one axis in the given direction; descending is the reverse of ascending, with NaN first.
    ///
    /// # Errors
    /// As [`sort`](Self::sort).
    ///
    /// ```
    /// use lodestride_array::{NdArray, Sorting};
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]);
    /// let sorted = a.sort_with(1, Sorting::descending())?;
    /// assert_eq!(sorted, NdArray::from([[2i32, 1], [4, 3]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn sort_with(&self, axes: impl Into<Axes>, sorting: Sorting) -> Result<NdArray> {
        self.sort_to("sort", &axes.into(), sorting, Target::New)
    }

    /// [`sort_with`](Self::sort_with) into an array of the result's shape; lines being sorted need scratch memory.
    ///
    /// # Errors
    /// As [`sort_with`](Self::sort_with); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn sort_with_into(
        &self,
        axes: impl Into<Axes>,
        sorting: Sorting,
        out: &NdArray,
    ) -> Result<()> {
        self.sort_to("sort_with_into", &axes.into(), sorting, Target::Into(out))
            .map(drop)
    }

    #[track_caller]
    fn sort_to(
        &self,
        op: &'static str,
        axes: &Axes,
        sorting: Sorting,
        target: Target<'_>,
    ) -> Result<NdArray> {
        let (x, axis) = self.line_axis(op, axes)?;
        let turned = |x: &NdArray, axis: isize| x.sort_to(op, &axis.into(), sorting, target);
        if let Some(made) = x.in_memory_order(op, axis, target, turned) {
            return made;
        }
        target.fill(op, x.dtype(), x.shape().clone(), &[&x], |out| {
            kernels::sort(x.operand(), axis, sorting, out.operand()).or_fail(op)
        })
    }

    /// Sorts this array in place along one axis, ascending with NaN last; `..` sorts all elements in C order.
    ///
    /// # Errors
    /// As [`sort`](Self::sort); [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[3i32, 1], [2, 0], [1, 5]]);
    /// a.slice(0, 1)?.sorti(0)?; // the first column, a view
    /// assert_eq!(a, NdArray::from([[1i32, 1], [2, 0], [3, 5]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn sorti(&self, axes: impl Into<Axes>) -> Result<&Self> {
        self.sorti_with(axes, Sorting::ascending())
    }

    /// [`sorti`](Self::sorti) in the given direction.
    ///
    /// # Errors
    /// As [`sorti`](Self::sorti).
    #[track_caller]
    pub fn sorti_with(&self, axes: impl Into<Axes>, sorting: Sorting) -> Result<&Self> {
        self.expect_writable("sorti")?;
        let (x, axis) = self.line_axis("sorti", &axes.into())?;
        let run = || kernels::sort(x.operand(), axis, sorting, x.operand());
        watched("sorti", &[], &x, run)?;
        self.write_back(&x)
    }

    /// Copies the elements of a changed vector back, unless it is a view of this array.
    #[track_caller]
    fn write_back(&self, changed: &NdArray) -> Result<&Self> {
        if !self.is_empty() && !self.shares_memory(changed) {
            self.assign(&changed.reshape(self.shape())?)?;
        }
        Ok(self)
    }

    /// The positions along one axis that would sort it ascending, as i64; equal elements keep their order, NaNs are last.
    ///
    /// # Errors
    /// As [`sort`](Self::sort).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([0.5f32, -1.0, 0.5, -0.0, 0.0]);
    /// assert_eq!(a.argsort(0)?.to_vec::<i64>()?, [1, 3, 4, 0, 2]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn argsort(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.argsort_with(axes, Sorting::ascending())
    }

    /// [`argsort`](Self::argsort) into an array of the result's shape; lines being sorted need scratch memory.
    ///
    /// # Errors
    /// As [`argsort`](Self::argsort); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn argsort_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        self.argsort_to(
            "argsort_into",
            &axes.into(),
            Sorting::ascending(),
            Target::Into(out),
        )
        .map(drop)
    }

    /// [`argsort`](Self::argsort) in the given direction. Equal elements keep their order in both.
    ///
    /// # Errors
    /// As [`sort`](Self::sort).
    #[track_caller]
    pub fn argsort_with(&self, axes: impl Into<Axes>, sorting: Sorting) -> Result<NdArray> {
        self.argsort_to("argsort", &axes.into(), sorting, Target::New)
    }

    /// [`argsort_with`](Self::argsort_with) into an array of the result's shape; lines being sorted need scratch memory.
    ///
    /// # Errors
    /// As [`argsort_with`](Self::argsort_with); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn argsort_with_into(
        &self,
        axes: impl Into<Axes>,
        sorting: Sorting,
        out: &NdArray,
    ) -> Result<()> {
        self.argsort_to(
            "argsort_with_into",
            &axes.into(),
            sorting,
            Target::Into(out),
        )
        .map(drop)
    }

    #[track_caller]
    fn argsort_to(
        &self,
        op: &'static str,
        axes: &Axes,
        sorting: Sorting,
        target: Target<'_>,
    ) -> Result<NdArray> {
        let (x, axis) = self.line_axis(op, axes)?;
        let turned = |x: &NdArray, axis: isize| x.argsort_to(op, &axis.into(), sorting, target);
        if let Some(made) = x.in_memory_order(op, axis, target, turned) {
            return made;
        }
        target.fill(op, DType::I64, x.shape().clone(), &[&x], |out| {
            kernels::argsort(x.operand(), axis, sorting, out.operand(), None).or_fail(op)
        })
    }

    /// A sorted copy along one axis and where its elements came from, as i64.
    ///
    /// # Errors
    /// As [`sort`](Self::sort).
    ///
    /// ```
    /// use lodestride_array::{NdArray, Sorting};
    ///
    /// let (values, indices) = NdArray::from([3.0f32, 5.0, 4.0]).sort_with_indices(0, Sorting::descending())?;
    /// assert_eq!(values.to_vec::<f32>()?, [5.0, 4.0, 3.0]);
    /// assert_eq!(indices.to_vec::<i64>()?, [1, 2, 0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn sort_with_indices(
        &self,
        axes: impl Into<Axes>,
        sorting: Sorting,
    ) -> Result<(NdArray, NdArray)> {
        let op = "sort_with_indices";
        let (x, axis) = self.line_axis(op, &axes.into())?;
        let values = NdArray::recycled_ordered(op, x.dtype(), x.shape().clone(), Order::C)?;
        let indices = NdArray::recycled_ordered(op, DType::I64, x.shape().clone(), Order::C)?;
        let (to, with) = (indices.operand(), Some(values.operand()));
        let run = || kernels::argsort(x.operand(), axis, sorting, to, with);
        watched(op, &[&x], &values, run)?;
        Ok((values, indices))
    }

    /// [`sort_with_indices`](Self::sort_with_indices) into two arrays of the results' shape: they are made elsewhere and
    /// copied there.
    ///
    /// # Errors
    /// As [`sort_with_indices`](Self::sort_with_indices); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when
    /// an output does not fit, [`ArrayErrorKind::Operands`] when they share memory. Nothing is written then.
    #[track_caller]
    pub fn sort_with_indices_into(
        &self,
        axes: impl Into<Axes>,
        sorting: Sorting,
        values: &NdArray,
        indices: &NdArray,
    ) -> Result<()> {
        let op = "sort_with_indices_into";
        NdArray::store_both([values, indices], op, &[self], || {
            self.sort_with_indices(axes, sorting)
        })
    }

    /// Sorts this array in place along one axis and returns where its elements came from, as ND4J's `sortWithIndices`.
    ///
    /// # Errors
    /// As [`sorti`](Self::sorti).
    #[doc(alias = "sortWithIndices")]
    #[track_caller]
    pub fn sorti_with_indices(&self, axes: impl Into<Axes>, sorting: Sorting) -> Result<NdArray> {
        let op = "sorti_with_indices";
        self.expect_writable(op)?;
        let (x, axis) = self.line_axis(op, &axes.into())?;
        let indices = NdArray::recycled_ordered(op, DType::I64, x.shape().clone(), Order::C)?;
        let (x_in, out) = (x.operand(), indices.operand());
        let run = || kernels::argsort(x_in, axis, sorting, out, Some(x_in));
        watched(op, &[], &x, run)?;
        self.write_back(&x)?;
        Ok(indices)
    }

    /// A copy of a matrix with its rows in the order of the values in one column; rows of equal values keep their order.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this is not a matrix, [`ArrayErrorKind::Shape`] for a column it does not have.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Sorting};
    ///
    /// let a = NdArray::from([[2.0f32, 10.0], [1.0, 30.0], [3.0, 20.0]]);
    /// let by_first = a.sort_rows(0, Sorting::ascending())?;
    /// assert_eq!(by_first, NdArray::from([[1.0f32, 30.0], [2.0, 10.0], [3.0, 20.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "sortRows")]
    #[track_caller]
    pub fn sort_rows(&self, column: isize, sorting: Sorting) -> Result<NdArray> {
        self.sort_by_line("sort_rows", column, 0, sorting)
    }

    /// [`sort_rows`](Self::sort_rows) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`sort_rows`](Self::sort_rows); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn sort_rows_into(&self, column: isize, sorting: Sorting, out: &NdArray) -> Result<()> {
        out.store("sort_rows_into", &[self], || {
            self.sort_rows(column, sorting)
        })
    }

    /// A copy of a matrix with its columns in the order of the values in one row; columns of equal values keep their order.
    ///
    /// # Errors
    /// As [`sort_rows`](Self::sort_rows).
    #[doc(alias = "sortColumns")]
    #[track_caller]
    pub fn sort_columns(&self, row: isize, sorting: Sorting) -> Result<NdArray> {
        self.sort_by_line("sort_columns", row, 1, sorting)
    }

    /// [`sort_columns`](Self::sort_columns) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`sort_columns`](Self::sort_columns); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn sort_columns_into(&self, row: isize, sorting: Sorting, out: &NdArray) -> Result<()> {
        out.store("sort_columns_into", &[self], || {
            self.sort_columns(row, sorting)
        })
    }

    #[track_caller]
    fn sort_by_line(
        &self,
        op: &'static str,
        line: isize,
        axis: isize,
        sorting: Sorting,
    ) -> Result<NdArray> {
        self.matrix_form(op)?;
        let across = 1 - axis;
        normalize_axis(line, self.shape()[across as usize]).map_err(|_| {
            ArrayError::new(ArrayErrorKind::IndexRange {
                op,
                axis: across as usize,
                index: line,
                array: ArraySummary::of(self),
            })
        })?;
        let order = self.slice(line, across)?.argsort_with(0, sorting);
        self.take(&order.renamed(op)?, axis).renamed(op)
    }

    /// The positions that sort by several keys, the last one first in rank, as NumPy's `lexsort`; ties keep their order.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Empty`] without keys, [`ArrayErrorKind::Form`] for a key that is not a vector,
    /// [`ArrayErrorKind::Operands`] for keys of unequal lengths.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let first_names = NdArray::from([3i32, 1, 2]);
    /// let surnames = NdArray::from([5i32, 5, 4]);
    /// assert_eq!(NdArray::lexsort(&[&first_names, &surnames])?.to_vec::<i64>()?, [2, 1, 0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn lexsort(keys: &[&NdArray]) -> Result<NdArray> {
        let Some((first, others)) = keys.split_first() else {
            return Err(ArrayError::new(ArrayErrorKind::Empty {
                op: "lexsort",
                expected: "at least one key",
            }));
        };
        for key in keys {
            if key.rank() != 1 {
                return Err(ArrayError::new(ArrayErrorKind::Form {
                    op: "lexsort",
                    expected: "vectors as keys",
                    array: ArraySummary::of(key),
                }));
            }
            if key.shape() != first.shape() {
                return Err(ArrayError::new(ArrayErrorKind::Operands {
                    op: "lexsort",
                    expected: "keys of one length",
                    lhs: ArraySummary::of(first),
                    rhs: ArraySummary::of(key),
                }));
            }
        }
        let op = "lexsort";
        let mut order = first.argsort(0).named(op, Argument::Input(0))?;
        for (key, position) in others.iter().zip(1..) {
            let sorted = key.take(&order, 0).named(op, Argument::Input(position))?;
            order = order.take(&sorted.argsort(0)?, 0)?;
        }
        Ok(order)
    }

    /// [`lexsort`](Self::lexsort) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`lexsort`](Self::lexsort); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn lexsort_into(keys: &[&NdArray], out: &NdArray) -> Result<()> {
        out.store("lexsort_into", keys, || NdArray::lexsort(keys))
    }
}
