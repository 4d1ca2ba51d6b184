//! Other looks at the same elements: transposed, permuted, reshaped, broadcast, flipped, along dimensions.
//!
//! Everything here returns a view and copies nothing, except `reshape` and the methods built on it, which copy when
//! no view can have the wanted shape.

use lodestride_shape::{Axes, Order, Shape};

use crate::NdArray;
use crate::arg::IndexList;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, InOp, Result};

impl NdArray {
    /// A view with the axes in reverse order; of a matrix, its transpose.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([2, 3])?;
    /// let t = a.transpose();
    /// assert_eq!(t.shape()[..], [3, 2]);
    /// assert!(t.shares_memory(&a));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    pub fn transpose(&self) -> NdArray {
        self.with_layout(self.layout().transpose())
    }

    /// A view with the axes in another order: axis `i` of the result is axis `order[i]` of this array.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] when `order` does not name every axis once.
    #[doc(alias = "dimShuffle")]
    #[track_caller]
    pub fn permute(&self, order: impl IndexList) -> Result<NdArray> {
        Ok(self.with_layout(
            self.layout()
                .permute(&order.indices())
                .in_op("permute", self)?,
        ))
    }

    /// A view with two axes exchanged.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[doc(alias = "swapaxes")]
    #[track_caller]
    pub fn swap_axes(&self, a: isize, b: isize) -> Result<NdArray> {
        Ok(self.with_layout(self.layout().swap_axes(a, b).in_op("swap_axes", self)?))
    }

    /// A view with one axis moved to another position, the others keeping their order.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[doc(alias = "rollAxis")]
    #[doc(alias = "moveaxis")]
    #[track_caller]
    pub fn move_axis(&self, from: isize, to: isize) -> Result<NdArray> {
        Ok(self.with_layout(self.layout().move_axis(from, to).in_op("move_axis", self)?))
    }

    /// A read-only view of a larger shape, in which axes of size 1 and new leading axes repeat.
    ///
    /// Writing into it is an error, because its elements share memory.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] when the shape cannot be reached by broadcasting.
    #[doc(alias = "broadcast")]
    #[doc(alias = "expand")]
    #[track_caller]
    pub fn broadcast_to(&self, shape: impl Into<Shape>) -> Result<NdArray> {
        Ok(self.with_layout(
            self.layout()
                .broadcast_to(&shape.into())
                .in_op("broadcast_to", self)?,
        ))
    }

    /// The elements in C order under another shape: a view where strides permit, else a copy.
    ///
    /// One size may be -1 and is computed. [`view_as`](Self::view_as) refuses to copy.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] when the number of elements differs.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::arange(0, 6, 1)?;
    /// assert_eq!(a.reshape([2, -1])?.shape()[..], [2, 3]);
    /// assert!(a.reshape([3, 2])?.shares_memory(&a));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn reshape(&self, shape: impl IndexList) -> Result<NdArray> {
        self.reshape_order(shape, Order::C)
    }

    /// [`reshape`](Self::reshape) with the elements read and placed in the given order.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] when the number of elements differs.
    #[track_caller]
    pub fn reshape_order(&self, shape: impl IndexList, order: Order) -> Result<NdArray> {
        let shape = shape.indices();
        match self
            .layout()
            .reshape(&shape, order)
            .in_op("reshape", self)?
        {
            Some(layout) => Ok(self.with_layout(layout)),
            None => {
                let copy = self.dup_order(order).renamed("reshape_order")?;
                let layout = copy
                    .layout()
                    .reshape(&shape, order)
                    .in_op("reshape", self)?;
                let layout = layout
                    .unwrap_or_else(|| unreachable!("a contiguous layout reshapes without a copy"));
                Ok(NdArray::whole(copy.buffer().clone(), layout, self.dtype()))
            }
        }
    }

    /// The elements in C order under another shape, as a view; never copies.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] when the number of elements differs, [`ArrayErrorKind::NeedsCopy`] when the strides do
    /// not permit a view.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([2, 3])?;
    /// assert!(a.view_as([6])?.shares_memory(&a));
    /// assert!(a.transpose().view_as([6]).is_err());
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn view_as(&self, shape: impl IndexList) -> Result<NdArray> {
        match self
            .layout()
            .reshape(&shape.indices(), Order::C)
            .in_op("view_as", self)?
        {
            Some(layout) => Ok(self.with_layout(layout)),
            None => Err(ArrayError::new(ArrayErrorKind::NeedsCopy {
                array: ArraySummary::of(self),
            })),
        }
    }

    /// The elements as a vector in C order: a view where strides permit, else a copy.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when a copy is needed and memory runs out.
    #[track_caller]
    pub fn ravel(&self) -> Result<NdArray> {
        self.reshape([self.len()])
    }

    /// A view with a new axis of size 1 at a position; -1 appends it.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn expand_dims(&self, axis: isize) -> Result<NdArray> {
        Ok(self.with_layout(self.layout().expand_dims(axis).in_op("expand_dims", self)?))
    }

    /// A view without one axis, which must have size 1.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis or one of another size.
    #[track_caller]
    pub fn squeeze(&self, axis: isize) -> Result<NdArray> {
        Ok(self.with_layout(self.layout().squeeze(axis).in_op("squeeze", self)?))
    }

    /// A view without all axes of size 1.
    #[doc(alias = "stripOnes")]
    pub fn squeeze_all(&self) -> NdArray {
        self.with_layout(self.layout().squeeze_all())
    }

    /// A view with one axis running backwards.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[doc(alias = "reverse")]
    #[track_caller]
    pub fn flip(&self, axis: isize) -> Result<NdArray> {
        Ok(self.with_layout(self.layout().flip(axis).in_op("flip", self)?))
    }

    /// A view of a diagonal of a matrix, as a vector: 0 is the main one, positive ones are above.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] when the array has fewer than two axes.
    #[track_caller]
    pub fn diagonal(&self, k: isize) -> Result<NdArray> {
        Ok(self.with_layout(self.layout().diagonal(k).in_op("diagonal", self)?))
    }

    /// A view of all stretches of `length` neighbours along an axis, `step` apart, with a new last axis of that length.
    ///
    /// The stretches overlap when `step < length`; such a view is for reading.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis or a length or step that does not fit.
    #[track_caller]
    pub fn windows(&self, axis: isize, length: usize, step: usize) -> Result<NdArray> {
        Ok(self.with_layout(
            self.layout()
                .windows(axis, length, step)
                .in_op("windows", self)?,
        ))
    }

    /// How many sub-arrays that span the given axes the array consists of.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[doc(alias = "tensorssAlongDimension")]
    #[track_caller]
    pub fn tensors_along_dimension(&self, axes: impl Into<Axes>) -> Result<usize> {
        self.layout()
            .tensors_along(axes)
            .in_op("tensors_along_dimension", self)
    }

    /// A view of the `i`-th sub-array that spans the given axes; the others are counted in C order.
    ///
    /// With [`keep`](crate::keep) the tensor along a single axis of size n is ND4J's row vector `[1, n]`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis or number.
    ///
    /// ```
    /// use lodestride_array::{NdArray, keep};
    ///
    /// let a = NdArray::from([[1.0f32, 9.0, 5.0], [5.0, 3.0, 5.0], [2.0, 3.0, 6.0]]);
    /// assert_eq!(a.tensor_along_dimension(0, 0)?.to_vec::<f32>()?, [1.0, 5.0, 2.0]);
    /// assert_eq!(a.tensor_along_dimension(1, 1)?.to_vec::<f32>()?, [5.0, 3.0, 5.0]);
    /// assert_eq!(a.tensor_along_dimension(0, keep(1))?.shape()[..], [1, 3]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "tensorAlongDimension")]
    #[doc(alias = "TAD")]
    #[track_caller]
    pub fn tensor_along_dimension(&self, i: usize, axes: impl Into<Axes>) -> Result<NdArray> {
        Ok(self.with_layout(
            self.layout()
                .tensor_along(i, axes)
                .in_op("tensor_along_dimension", self)?,
        ))
    }
}
