//! Scattering to index vectors and along one axis at each position of the others: what `gather_nd` and `take_along_axis` read.

use lodestride_buffer::Argument;
use lodestride_kernels as kernels;
use lodestride_shape::{Shape, normalize_axis};

use crate::NdArray;
use crate::arg::{Arg, Indices};
use crate::checks::watched;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::{InMethod, InOp, Result};
use crate::fancy::picked::Picked;
use crate::scatter::Scatter;

impl NdArray {
    /// An array of zeros of the given shape to which values were added at index vectors; repeated ones add up.
    ///
    /// `indices` names places as in [`gather_nd`](Self::gather_nd); the values broadcast to the shape that would return.
    ///
    /// # Errors
    /// As [`scatter_ndi`](Self::scatter_ndi).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let at = NdArray::from([[4i64], [3], [1], [4]]);
    /// let a = NdArray::scatter_nd(&at, &NdArray::from([9.0f32, 10.0, 11.0, 12.0]), [6])?;
    /// assert_eq!(a.to_vec::<f32>()?, [0.0, 11.0, 0.0, 10.0, 21.0, 0.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "scatterNd")]
    #[track_caller]
    pub fn scatter_nd<'i>(
        indices: impl Into<Indices<'i>>,
        values: &NdArray,
        shape: impl Into<Shape>,
    ) -> Result<NdArray> {
        let indices = indices.into().array("scatter_nd")?;
        indices.expect_readable("scatter_nd", Argument::X)?;
        let out = NdArray::zeros_of(values.dtype(), shape)?;
        let picked = Picked::coordinates("scatter_nd", &out, &indices)?;
        out.scatter_picked(Scatter::Add, "scatter_nd", &picked, values.into())?;
        Ok(out)
    }

    /// Combines the elements, or the sub-arrays, at index vectors with values, in place; repeated ones repeatedly, in order.
    ///
    /// `indices` names places as in [`gather_nd`](Self::gather_nd); the values broadcast to the shape that would return.
    ///
    /// # Errors
    /// As [`gather_nd`](Self::gather_nd); [`ArrayErrorKind::InPlaceShape`] when the values do not broadcast,
    /// [`ArrayErrorKind::Cast`] when the result is of a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast
    /// view. Nothing is written then.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Scatter};
    ///
    /// let a = NdArray::zeros([2, 2])?;
    /// let at = NdArray::from([[0i64, 1], [1, 0]]);
    /// a.scatter_ndi(Scatter::Update, &at, &NdArray::from([5.0f32, 6.0]))?;
    /// a.scatter_ndi(Scatter::Sub, &at, 1)?;
    /// assert_eq!(a.to_vec::<f32>()?, [0.0, 4.0, 5.0, 0.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "scatterNdUpdate")]
    #[doc(alias = "tensor_scatter_nd_add")]
    #[track_caller]
    pub fn scatter_ndi<'i, 'a>(
        &self,
        how: Scatter,
        indices: impl Into<Indices<'i>>,
        values: impl Into<Arg<'a>>,
    ) -> Result<&Self> {
        let indices = indices.into().array("scatter_ndi")?;
        self.expect_readable("scatter_ndi", Argument::Z)?;
        indices.expect_readable("scatter_ndi", Argument::X)?;
        let picked = Picked::coordinates("scatter_ndi", self, &indices)?;
        self.scatter_picked(how, "scatter_ndi", &picked, values.into())?;
        Ok(self)
    }

    /// Writes the elements that [`take_along_axis`](Self::take_along_axis) reads; of repeated positions the last value stays.
    ///
    /// # Errors
    /// As [`take_along_axis`](Self::take_along_axis); [`ArrayErrorKind::InPlaceShape`] when the values do not broadcast.
    /// Nothing is written then.
    ///
    /// ```
    /// use lodestride_array::{NdArray, keep};
    ///
    /// let a = NdArray::from([[10.0f32, 30.0, 20.0], [60.0, 40.0, 50.0]]);
    /// a.put_along_axis(&a.argmax(keep(1))?, 99, 1)?;
    /// assert_eq!(a.to_vec::<f32>()?, [10.0, 99.0, 20.0, 99.0, 40.0, 50.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "scatter_elements")]
    #[track_caller]
    pub fn put_along_axis<'i, 'a>(
        &self,
        indices: impl Into<Indices<'i>>,
        values: impl Into<Arg<'a>>,
        axis: isize,
    ) -> Result<&Self> {
        let op = "put_along_axis";
        let indices = indices.into().array(op)?;
        self.expect_readable(op, Argument::Z)?;
        indices.expect_readable(op, Argument::X)?;
        let axis = normalize_axis(axis, self.rank()).in_op(op, self)?;
        indices.expect_positions(op)?;
        indices.expect_rank_of(op, self)?;
        let shape = kernels::gather_along::taken_shape(self.shape(), axis, indices.shape());
        let shape = shape.in_op(op, self)?;
        let values = self.scattered_values(Scatter::Update, op, &shape, values.into())?;
        let (out, at) = (self.operand(), indices.operand());
        let run = || kernels::gather_along::put_along(out, axis, at, values.operand());
        watched(op, &[&values], self, run).positioned(op, self)?;
        Ok(self)
    }
}
