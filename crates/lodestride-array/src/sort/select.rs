//! Selecting by rank: partitions around a place, the k first elements.

use lodestride_buffer::DType;
use lodestride_kernels::Operand;
use lodestride_kernels::sort::{self as kernels, Sorting};
use lodestride_shape::{Axes, Order, normalize_axis};

use crate::NdArray;
use crate::arg::IndexList;
use crate::checks::watched;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, OrFail, Result};
use crate::target::Target;

/// A kernel that puts lines around places: the line and its axis, the places, the result.
type PartitionKernel =
    fn(Operand<'_>, usize, &[usize], Operand<'_>) -> lodestride_kernels::Result<()>;

/// What puts positions in places instead of values, and their dtype.
const POSITIONS: (DType, PartitionKernel) = (DType::I64, kernels::argpartition);

impl NdArray {
    /// A copy rearranged along one axis: each of the places `kth` holds what it would hold sorted, smaller elements stand
    /// before it and larger ones behind, in no promised order. Takes time in proportion to the size.
    ///
    /// # Errors
    /// As [`sort`](Self::sort); [`ArrayErrorKind::IndexRange`] for a place beyond the axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([7i32, 1, 5, 3, 9]).partition([2], 0)?;
    /// assert_eq!(a.get_f64([2])?, 5.0);
    /// assert!(a.get_f64([0])? < 5.0 && a.get_f64([4])? > 5.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "nth_element")]
    #[track_caller]
    pub fn partition(&self, kth: impl IndexList, axes: impl Into<Axes>) -> Result<NdArray> {
        let values = (self.dtype(), kernels::partition as PartitionKernel);
        self.partition_to("partition", kth, &axes.into(), Target::New, values)
    }

    /// [`partition`](Self::partition) into an array of the result's shape; lines being sorted need scratch memory.
    ///
    /// # Errors
    /// As [`partition`](Self::partition); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn partition_into(
        &self,
        kth: impl IndexList,
        axes: impl Into<Axes>,
        out: &NdArray,
    ) -> Result<()> {
        let values = (self.dtype(), kernels::partition as PartitionKernel);
        self.partition_to(
            "partition_into",
            kth,
            &axes.into(),
            Target::Into(out),
            values,
        )
        .map(drop)
    }

    /// Both partitions; `dtype` is that of what the kernel writes.
    #[track_caller]
    fn partition_to(
        &self,
        op: &'static str,
        kth: impl IndexList,
        axes: &Axes,
        target: Target<'_>,
        (dtype, kernel): (DType, PartitionKernel),
    ) -> Result<NdArray> {
        let (x, axis) = self.line_axis(op, axes)?;
        let kth = x.places(op, kth, axis)?;
        target.fill(op, dtype, x.shape().clone(), &[&x], |out| {
            kernel(x.operand(), axis, &kth, out.operand()).or_fail(op)
        })
    }

    /// The positions of the elements that [`partition`](Self::partition) would put in each place, as i64.
    ///
    /// # Errors
    /// As [`partition`](Self::partition).
    #[track_caller]
    pub fn argpartition(&self, kth: impl IndexList, axes: impl Into<Axes>) -> Result<NdArray> {
        self.partition_to("argpartition", kth, &axes.into(), Target::New, POSITIONS)
    }

    /// [`argpartition`](Self::argpartition) into an array of the result's shape; lines being sorted need scratch memory.
    ///
    /// # Errors
    /// As [`argpartition`](Self::argpartition); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn argpartition_into(
        &self,
        kth: impl IndexList,
        axes: impl Into<Axes>,
        out: &NdArray,
    ) -> Result<()> {
        self.partition_to(
            "argpartition_into",
            kth,
            &axes.into(),
            Target::Into(out),
            POSITIONS,
        )
        .map(drop)
    }

    /// Checked places along an axis; negative ones count from the end.
    #[track_caller]
    fn places(&self, op: &'static str, kth: impl IndexList, axis: usize) -> Result<Vec<usize>> {
        let size = self.shape()[axis];
        let place = |index: isize| {
            normalize_axis(index, size).map_err(|_| {
                ArrayError::new(ArrayErrorKind::IndexRange {
                    op,
                    axis,
                    index,
                    array: ArraySummary::of(self),
                })
            })
        };
        let places: Result<Vec<usize>> = kth.indices().into_iter().map(place).collect();
        places.located()
    }

    /// The `k` largest elements along one axis, the largest first, and their positions as i64.
    ///
    /// NaN counts as larger than any number; of equal elements the first ones are taken.
    ///
    /// # Errors
    /// As [`sort`](Self::sort); [`ArrayErrorKind::Kernel`] when the axis has fewer than `k` elements.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (values, indices) = NdArray::from([3.0f32, 9.0, 4.0, 9.0]).topk(3, 0)?;
    /// assert_eq!(values.to_vec::<f32>()?, [9.0, 9.0, 4.0]);
    /// assert_eq!(indices.to_vec::<i64>()?, [1, 3, 2]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "top_k")]
    #[track_caller]
    pub fn topk(&self, k: usize, axes: impl Into<Axes>) -> Result<(NdArray, NdArray)> {
        self.topk_with(k, axes, Sorting::descending())
    }

    /// [`topk`](Self::topk) into two arrays of the results' shape: they are made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`topk`](Self::topk); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when an output does not fit,
    /// [`ArrayErrorKind::Operands`] when they share memory. Nothing is written then.
    #[track_caller]
    pub fn topk_into(
        &self,
        k: usize,
        axes: impl Into<Axes>,
        values: &NdArray,
        indices: &NdArray,
    ) -> Result<()> {
        let op = "topk_into";
        NdArray::store_both([values, indices], op, &[self], || self.topk(k, axes))
    }

    /// The first `k` elements along one axis in the given order (ascending: the smallest), and their positions as i64.
    ///
    /// # Errors
    /// As [`topk`](Self::topk).
    #[track_caller]
    pub fn topk_with(
        &self,
        k: usize,
        axes: impl Into<Axes>,
        sorting: Sorting,
    ) -> Result<(NdArray, NdArray)> {
        let (x, axis) = self.line_axis("topk", &axes.into())?;
        let mut shape = x.shape().clone();
        shape[axis] = k.min(shape[axis]);
        let values = NdArray::recycled_ordered("topk", x.dtype(), shape.clone(), Order::C)?;
        let indices = NdArray::recycled_ordered("topk", DType::I64, shape, Order::C)?;
        let (out, positions) = (values.operand(), indices.operand());
        let run = || kernels::topk(x.operand(), axis, k, sorting, out, positions);
        watched("topk", &[&x], &values, run)?;
        Ok((values, indices))
    }

    /// [`topk_with`](Self::topk_with) into two arrays of the results' shape: they are made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`topk_with`](Self::topk_with); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when an output does
    /// not fit, [`ArrayErrorKind::Operands`] when they share memory. Nothing is written then.
    #[track_caller]
    pub fn topk_with_into(
        &self,
        k: usize,
        axes: impl Into<Axes>,
        sorting: Sorting,
        values: &NdArray,
        indices: &NdArray,
    ) -> Result<()> {
        let op = "topk_with_into";
        NdArray::store_both([values, indices], op, &[self], || {
            self.topk_with(k, axes, sorting)
        })
    }
}
