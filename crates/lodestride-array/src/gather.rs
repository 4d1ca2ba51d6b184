//! Gathering and scattering: positions along an axis picked by a list of indices.

use lodestride_kernels as kernels;
use lodestride_shape::{Order, Shape, normalize_axis};
use smallvec::SmallVec;

use crate::NdArray;
use crate::arg::IndexList;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InOp, OrFail, Result};

impl NdArray {
    /// A copy of the given positions along an axis, in the given order; negative ones count from the end.
    ///
    /// The indices are an integer array; its shape takes the place of the axis.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Kernel`] for a position out of range or indices that
    /// are not integers.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    /// let rows = a.take(&NdArray::from([2i64, 0, 2]), 0)?;
    /// assert_eq!(rows, NdArray::from([[5.0f32, 6.0], [1.0, 2.0], [5.0, 6.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "gather")]
    #[doc(alias = "pullRows")]
    #[track_caller]
    pub fn take(&self, indices: &NdArray, axis: isize) -> Result<NdArray> {
        let axis = normalize_axis(axis, self.rank()).in_op("take", self)?;
        let mut shape: SmallVec<[usize; 6]> = SmallVec::from_slice(&self.shape()[..axis]);
        shape.extend_from_slice(indices.shape());
        shape.extend_from_slice(&self.shape()[axis + 1..]);
        let out =
            NdArray::recycled_ordered("take", self.dtype(), Shape::from(&shape[..]), Order::C)?;
        kernels::gather::take(self.operand(), axis, indices.operand(), out.operand())
            .or_fail("take")?;
        Ok(out)
    }

    /// Adds slices of an array to the positions that the indices name along an axis, in place; repeated ones add up.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Kernel`] for a position out of range or values of
    /// another shape than [`take`](Self::take) would return.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([3])?;
    /// a.scatter_addi(&NdArray::from([0i64, 2, 2]), &NdArray::ones([3])?, 0)?;
    /// assert_eq!(a.to_vec::<f32>()?, [1.0, 0.0, 2.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "scatterAdd")]
    #[track_caller]
    pub fn scatter_addi(&self, indices: &NdArray, values: &NdArray, axis: isize) -> Result<&Self> {
        let axis = normalize_axis(axis, self.rank()).in_op("scatter_addi", self)?;
        self.expect_storable("scatter_addi", self.dtype().promote(values.dtype()))?;
        kernels::gather::scatter_add(self.operand(), axis, indices.operand(), values.operand())
            .or_fail("scatter_addi")?;
        Ok(self)
    }

    /// Writes slices of an array to the positions that the indices name along an axis; of repeated ones the last stays.
    ///
    /// # Errors
    /// As [`scatter_addi`](Self::scatter_addi).
    #[doc(alias = "scatterUpdate")]
    #[track_caller]
    pub fn scatter_put(&self, indices: &NdArray, values: &NdArray, axis: isize) -> Result<&Self> {
        let axis = normalize_axis(axis, self.rank()).in_op("scatter_put", self)?;
        self.expect_writable("scatter_put")?;
        kernels::gather::scatter_set(self.operand(), axis, indices.operand(), values.operand())
            .or_fail("scatter_put")?;
        Ok(self)
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
    }

    /// A copy of the given columns (positions along axis 1) in the given order; negative ones count from the end.
    ///
    /// # Errors
    /// [`ArrayErrorKind::IndexRange`] for a column the array does not have.
    #[doc(alias = "getColumns")]
    #[track_caller]
    pub fn get_columns(&self, columns: impl IndexList) -> Result<NdArray> {
        self.take(&self.positions("get_columns", columns, 1)?, 1)
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
