//! Gathering: positions along an axis, or elements by their coordinates, picked by integer arrays. Writing to them is in
//! `scatter`, lists of several kinds of indices in `fancy`.

use lodestride_buffer::Argument;
use lodestride_kernels as kernels;
use lodestride_shape::{Shape, normalize_axis};
use smallvec::SmallVec;

use crate::NdArray;
use crate::arg::{IndexList, Indices};
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, InOp, OrFail, Result};
use crate::fancy::picked::Picked;
use crate::target::Target;

impl NdArray {
    /// A copy of the given positions along an axis, in the given order; negative ones count from the end.
    ///
    /// The indices are an integer array, whose shape takes the place of the axis, or a list.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::PositionRange`] for a position out of range,
    /// [`ArrayErrorKind::IndexDType`] for indices that are not integers.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    /// let rows = a.take(&NdArray::from([2i64, 0, 2]), 0)?;
    /// assert_eq!(rows, NdArray::from([[5.0f32, 6.0], [1.0, 2.0], [5.0, 6.0]]));
    /// assert_eq!(a.take([-1], 1)?, NdArray::from([[2.0f32], [4.0], [6.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "gather")]
    #[doc(alias = "pullRows")]
    #[track_caller]
    pub fn take<'i>(&self, indices: impl Into<Indices<'i>>, axis: isize) -> Result<NdArray> {
        self.take_to("take", indices.into(), axis, Target::New)
    }

    /// [`take`](Self::take) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`take`](Self::take); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn take_into<'i>(
        &self,
        indices: impl Into<Indices<'i>>,
        axis: isize,
        out: &NdArray,
    ) -> Result<()> {
        self.take_to("take_into", indices.into(), axis, Target::Into(out))
            .map(drop)
    }

    #[track_caller]
    fn take_to(
        &self,
        op: &'static str,
        indices: Indices<'_>,
        axis: isize,
        target: Target<'_>,
    ) -> Result<NdArray> {
        let indices = &*indices.array(op)?;
        indices.expect_positions(op)?;
        let axis = normalize_axis(axis, self.rank()).in_op(op, self)?;
        let mut shape: SmallVec<[usize; 6]> = SmallVec::from_slice(&self.shape()[..axis]);
        shape.extend_from_slice(indices.shape());
        shape.extend_from_slice(&self.shape()[axis + 1..]);
        let (shape, inputs) = (Shape::from(&shape[..]), [self, indices]);
        let take = match target {
            Target::New | Target::Kept => kernels::gather::take_new,
            Target::Into(_) => kernels::gather::take,
        };
        target.fill(op, self.dtype(), shape, &inputs, |out| {
            let (x, at) = (self.operand(), indices.operand());
            take(x, axis, at, out.operand())
                .or_fail(op)
                .positioned(op, self)
        })
    }

    /// A copy of the elements, or of the sub-arrays, at index vectors: the last axis of `indices` has a position for each of the
    /// first axes of this array; the other axes of `indices`, then the rest of the array's, are those of the result.
    ///
    /// ND4J's `get(INDArray)` takes the transposed form, a row of positions per axis: pass `&indices.transpose()`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the last axis of the indices is longer than this array has axes,
    /// [`ArrayErrorKind::PositionRange`] for a position out of range, [`ArrayErrorKind::IndexDType`] for indices that are
    /// not integers.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::arange(1, 7, 1)?.reshape([3, 2])?;
    /// let at = NdArray::from([[0i64, 0], [1, 1], [2, 0]]);
    /// assert_eq!(a.gather_nd(&at)?.to_vec::<f32>()?, [1.0, 4.0, 5.0]);
    /// assert_eq!(a.gather_nd(&NdArray::from([[2i64]]))?.to_vec::<f32>()?, [5.0, 6.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "gatherNd")]
    #[track_caller]
    pub fn gather_nd<'i>(&self, indices: impl Into<Indices<'i>>) -> Result<NdArray> {
        let op = "gather_nd";
        let indices = indices.into().array(op)?;
        self.gathered(op, &Picked::coordinates(op, self, &indices)?, Target::New)
    }

    /// [`gather_nd`](Self::gather_nd) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`gather_nd`](Self::gather_nd); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn gather_nd_into<'i>(&self, indices: impl Into<Indices<'i>>, out: &NdArray) -> Result<()> {
        let op = "gather_nd_into";
        let indices = indices.into().array(op)?;
        let picked = Picked::coordinates(op, self, &indices)?;
        self.gathered(op, &picked, Target::Into(out)).map(drop)
    }

    /// The elements at given positions along one axis, at each position of the other axes its own: what undoes
    /// [`argsort`](Self::argsort). The indices have as many axes as the array and broadcast with it along the others.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis and sizes that do not broadcast, [`ArrayErrorKind::Form`] for indices of
    /// another rank, [`ArrayErrorKind::PositionRange`] for a position out of range, [`ArrayErrorKind::IndexDType`] for
    /// indices that are not integers.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[30.0f32, 10.0, 20.0], [1.0, 3.0, 2.0]]);
    /// assert_eq!(a.take_along_axis(&a.argsort(1)?, 1)?, a.sort(1)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "gather_elements")]
    #[track_caller]
    pub fn take_along_axis<'i>(
        &self,
        indices: impl Into<Indices<'i>>,
        axis: isize,
    ) -> Result<NdArray> {
        self.along_to("take_along_axis", indices.into(), axis, Target::New)
    }

    /// [`take_along_axis`](Self::take_along_axis) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`take_along_axis`](Self::take_along_axis); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out`
    /// does not fit.
    #[track_caller]
    pub fn take_along_axis_into<'i>(
        &self,
        indices: impl Into<Indices<'i>>,
        axis: isize,
        out: &NdArray,
    ) -> Result<()> {
        let target = Target::Into(out);
        self.along_to("take_along_axis_into", indices.into(), axis, target)
            .map(drop)
    }

    #[track_caller]
    fn along_to(
        &self,
        op: &'static str,
        indices: Indices<'_>,
        axis: isize,
        target: Target<'_>,
    ) -> Result<NdArray> {
        let indices = &*indices.array(op)?;
        self.expect_readable(op, Argument::X)?;
        indices.expect_readable(op, Argument::Y)?;
        indices.expect_positions(op)?;
        let axis = normalize_axis(axis, self.rank()).in_op(op, self)?;
        indices.expect_rank_of(op, self)?;
        let shape = kernels::gather_along::taken_shape(self.shape(), axis, indices.shape());
        let (shape, inputs) = (shape.in_op(op, self)?, [self, indices]);
        let take = match target {
            Target::New | Target::Kept => kernels::gather_along::take_along_new,
            Target::Into(_) => kernels::gather_along::take_along,
        };
        target.fill(op, self.dtype(), shape, &inputs, |out| {
            let (x, at) = (self.operand(), indices.operand());
            take(x, axis, at, out.operand())
                .or_fail(op)
                .positioned(op, self)
        })
    }

    /// A copy of the given rows (positions along axis 0) in the given order; negative ones count from the end.
    ///
    /// # Errors
    /// [`ArrayErrorKind::IndexRange`] for a row the array does not have.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(a.get_rows([1, 1, 0])?.to_vec::<f32>()?, [3.0, 4.0, 3.0, 4.0, 1.0, 2.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "getRows")]
    #[track_caller]
    pub fn get_rows(&self, rows: impl IndexList) -> Result<NdArray> {
        self.take(&self.positions("get_rows", rows, 0)?, 0)
            .renamed("get_rows")
    }

    /// [`get_rows`](Self::get_rows) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`get_rows`](Self::get_rows); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn get_rows_into(&self, rows: impl IndexList, out: &NdArray) -> Result<()> {
        let op = "get_rows_into";
        let rows = self.positions(op, rows, 0)?;
        self.take_to(op, (&rows).into(), 0, Target::Into(out))
            .map(drop)
    }

    /// A copy of the given columns (positions along axis 1) in the given order; negative ones count from the end.
    ///
    /// # Errors
    /// [`ArrayErrorKind::IndexRange`] for a column the array does not have.
    #[doc(alias = "getColumns")]
    #[track_caller]
    pub fn get_columns(&self, columns: impl IndexList) -> Result<NdArray> {
        self.take(&self.positions("get_columns", columns, 1)?, 1)
            .renamed("get_columns")
    }

    /// [`get_columns`](Self::get_columns) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`get_columns`](Self::get_columns); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn get_columns_into(&self, columns: impl IndexList, out: &NdArray) -> Result<()> {
        let op = "get_columns_into";
        let columns = self.positions(op, columns, 1)?;
        self.take_to(op, (&columns).into(), 1, Target::Into(out))
            .map(drop)
    }

    /// Checked positions along an axis as an array.
    #[track_caller]
    fn positions(&self, op: &'static str, indices: impl IndexList, axis: isize) -> Result<NdArray> {
        let axis = normalize_axis(axis, self.rank()).in_op(op, self)?;
        let size = self.shape()[axis] as isize;
        let mut positions: SmallVec<[i64; 16]> = SmallVec::new();
        for index in indices.indices() {
            if index < -size || index >= size {
                let array = ArraySummary::of(self);
                return Err(ArrayError::new(ArrayErrorKind::IndexRange {
                    op,
                    axis,
                    index,
                    array,
                }));
            }
            positions.push(if index < 0 { index + size } else { index } as i64);
        }
        NdArray::from_elements(op, &positions[..], Shape::from(positions.len()))
    }
}
