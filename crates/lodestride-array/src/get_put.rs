//! Single elements, sub-arrays, rows and columns: reading and writing them.
//!
//! Sub-arrays are views; writing into one writes the array.

use lodestride_buffer::{Element, HostType, Scalar, with_dtype};
use lodestride_shape::{Index, Shape};

use crate::NdArray;
use crate::arg::{Arg, IndexList};
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InOp, Result};

impl NdArray {
    /// The place of an element in the buffer.
    #[track_caller]
    fn place(&self, op: &'static str, indices: impl IndexList) -> Result<usize> {
        if indices.count() != self.rank() {
            let (given, array) = (indices.count(), ArraySummary::of(self));
            return Err(ArrayError::new(ArrayErrorKind::IndexCount {
                op,
                given,
                array,
            }));
        }
        let mut place = self.layout().offset() as isize;
        let axes = self.shape().iter().zip(self.strides().iter());
        for (axis, (&size, &stride)) in axes.enumerate() {
            let index = indices.number(axis);
            let position = if index < 0 {
                index + size as isize
            } else {
                index
            };
            if position < 0 || position >= size as isize {
                let array = ArraySummary::of(self);
                return Err(ArrayError::new(ArrayErrorKind::IndexRange {
                    op,
                    axis,
                    index,
                    array,
                }));
            }
            place += position * stride;
        }
        Ok(place as usize)
    }

    #[track_caller]
    fn read_at(&self, op: &'static str, place: usize) -> Result<Scalar> {
        let guard = self.buffer().read().in_op(op, self)?;
        Ok(with_dtype!(self.dtype(), T => guard.slice::<T>()[place].to_scalar()))
    }

    #[track_caller]
    fn write_at(&self, op: &'static str, place: usize, value: Scalar) -> Result<&Self> {
        self.expect_writable(op)?;
        let mut guard = self.buffer().write().in_op(op, self)?;
        with_dtype!(self.dtype(), T => guard.slice_mut::<T>()[place] = value.cast::<T>());
        Ok(self)
    }

    /// One element as a number of its own kind; negative indices count from the end.
    ///
    /// # Errors
    /// [`ArrayErrorKind::IndexCount`] or [`ArrayErrorKind::IndexRange`] when there is no such element.
    #[track_caller]
    pub fn get_scalar(&self, index: impl IndexList) -> Result<Scalar> {
        let place = self.place("get_scalar", index)?;
        self.read_at("get_scalar", place)
    }

    /// One element converted to f64; negative indices count from the end.
    ///
    /// # Errors
    /// [`ArrayErrorKind::IndexCount`] or [`ArrayErrorKind::IndexRange`] when there is no such element.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(a.get_f64([1, 0])?, 3.0);
    /// assert_eq!(a.get_f64([-1, -1])?, 4.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "getDouble")]
    #[track_caller]
    pub fn get_f64(&self, index: impl IndexList) -> Result<f64> {
        let place = self.place("get_f64", index)?;
        let guard = self.buffer().read().in_op("get_f64", self)?;
        Ok(with_dtype!(self.dtype(), T => guard.slice::<T>()[place].to_scalar().as_f64()))
    }

    /// One element converted to i64, floats truncated towards zero; negative indices count from the end.
    ///
    /// # Errors
    /// [`ArrayErrorKind::IndexCount`] or [`ArrayErrorKind::IndexRange`] when there is no such element.
    #[doc(alias = "getInt")]
    #[track_caller]
    pub fn get_i64(&self, index: impl IndexList) -> Result<i64> {
        let place = self.place("get_i64", index)?;
        let guard = self.buffer().read().in_op("get_i64", self)?;
        Ok(with_dtype!(self.dtype(), T => guard.slice::<T>()[place].to_scalar().as_i64()))
    }

    /// Writes one element, converting the number to the array's dtype; negative indices count from the end.
    ///
    /// # Errors
    /// [`ArrayErrorKind::IndexCount`] or [`ArrayErrorKind::IndexRange`] when there is no such element,
    /// [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([2, 2])?;
    /// a.set([0, 1], 5.0)?.set([-1, 0], 7)?;
    /// assert_eq!(a.to_vec::<f32>()?, [0.0, 5.0, 7.0, 0.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "putScalar")]
    #[track_caller]
    pub fn set(&self, index: impl IndexList, value: impl Into<Scalar>) -> Result<&Self> {
        let place = self.place("set", index)?;
        self.write_at("set", place, value.into())
    }

    /// The place in the buffer of the element at a position of the raveled array.
    #[track_caller]
    fn flat_place(&self, op: &'static str, position: isize) -> Result<usize> {
        let len = self.len();
        let mut rest = if position < 0 {
            position.wrapping_add_unsigned(len).cast_unsigned()
        } else {
            position.cast_unsigned()
        };
        // Still negative is beyond every size.
        if rest >= len {
            let mut array = ArraySummary::of(self);
            array.shape = Shape::from(len);
            return Err(ArrayError::new(ArrayErrorKind::IndexRange {
                op,
                axis: 0,
                index: position,
                array,
            }));
        }
        let mut place = self.layout().offset();
        for (&size, &stride) in self.shape().iter().zip(self.strides()).rev() {
            place = place.wrapping_add_signed((rest % size).cast_signed() * stride);
            rest /= size;
        }
        Ok(place)
    }

    /// The element at a position of the raveled array, that is in C order whatever the layout, as a number of its own kind;
    /// negative positions count from the end.
    ///
    /// # Errors
    /// [`ArrayErrorKind::IndexRange`], as of a vector of all elements, when there is no such element.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]).transpose();
    /// assert_eq!(a.get_flat(1)?.as_f64(), 3.0);
    /// assert_eq!(a.get_flat(-2)?.as_f64(), 2.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "getDouble")]
    #[doc(alias = "flat")]
    #[track_caller]
    pub fn get_flat(&self, position: isize) -> Result<Scalar> {
        let place = self.flat_place("get_flat", position)?;
        self.read_at("get_flat", place)
    }

    /// Writes the element at a position of the raveled array, that is in C order whatever the layout, converting the number to
    /// the array's dtype; negative positions count from the end.
    ///
    /// # Errors
    /// As [`get_flat`](Self::get_flat); [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([2, 2])?;
    /// a.transpose().set_flat(1, 5)?;
    /// assert_eq!(a.to_vec::<f32>()?, [0.0, 0.0, 5.0, 0.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "putScalar")]
    #[track_caller]
    pub fn set_flat(&self, position: isize, value: impl Into<Scalar>) -> Result<&Self> {
        let place = self.flat_place("set_flat", position)?;
        self.write_at("set_flat", place, value.into())
    }

    /// The only element of an array of one element, whatever its rank.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when there are more elements or none, [`ArrayErrorKind::DTypeMismatch`] when `T` is not
    /// the array's element type.
    #[track_caller]
    pub fn item<T: HostType>(&self) -> Result<T> {
        if self.len() != 1 {
            let (expected, array) = ("an array of one element", ArraySummary::of(self));
            return Err(ArrayError::new(ArrayErrorKind::Form {
                op: "item",
                expected,
                array,
            }));
        }
        self.expect_dtype::<T::Element>("item")?;
        let guard = self.buffer().read().in_op("item", self)?;
        Ok(T::from_element(
            guard.slice::<T::Element>()[self.layout().offset()],
        ))
    }

    /// A view of a part of the array: points, intervals with steps, new axes, as in `s![0, 1..3, ..;2]`.
    ///
    /// A point drops its axis, an interval keeps it; axes without an index are taken whole. For lists of positions and masks,
    /// which cannot be views, there are [`get_fancy`](Self::get_fancy) and [`get_outer`](Self::get_outer).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] when an index is out of range or there are more indices than axes.
    ///
    /// ```
    /// use lodestride_array::{NdArray, s};
    ///
    /// let a = NdArray::arange(0, 12, 1)?.reshape([3, 4])?;
    /// assert_eq!(a.get(&s![1, 1..3])?.to_vec::<f32>()?, [5.0, 6.0]);
    /// a.get(&s![.., ..;2])?.assign(0.0)?;
    /// assert_eq!(a.row(0)?.to_vec::<f32>()?, [0.0, 1.0, 0.0, 3.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "NDArrayIndex")]
    #[track_caller]
    pub fn get(&self, indices: &[Index]) -> Result<NdArray> {
        Ok(self.with_layout(self.layout().index(indices).in_op("get", self)?))
    }

    /// Assigns to a part of the array: the same as `get(indices)?.assign(values)?`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong index, [`ArrayErrorKind::InPlaceShape`] when the values do not broadcast
    /// into the part.
    #[track_caller]
    pub fn put<'a>(&self, indices: &[Index], values: impl Into<Arg<'a>>) -> Result<&Self> {
        self.with_layout(self.layout().index(indices).in_op("put", self)?)
            .assign_arg("put", values.into())?;
        Ok(self)
    }

    /// A view of one row of a matrix, as a vector.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the array is not a matrix, [`ArrayErrorKind::IndexRange`] when it has no such row.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([3, 2])?;
    /// a.row(-1)?.addi(1.0)?;
    /// assert_eq!(a.to_vec::<f32>()?, [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "getRow")]
    #[inline]
    #[track_caller]
    pub fn row(&self, index: isize) -> Result<NdArray> {
        self.matrix_form("row")?;
        self.point("row", index, 0)
    }

    /// A view of one column of a matrix, as a vector.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the array is not a matrix, [`ArrayErrorKind::IndexRange`] when it has no such
    /// column.
    #[doc(alias = "getColumn")]
    #[inline]
    #[track_caller]
    pub fn column(&self, index: isize) -> Result<NdArray> {
        self.matrix_form("column")?;
        self.point("column", index, 1)
    }

    /// A view of one position along an axis; the axis is dropped.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::IndexRange`] for a wrong position.
    #[track_caller]
    pub fn slice(&self, index: isize, axis: isize) -> Result<NdArray> {
        let axis = lodestride_shape::normalize_axis(axis, self.rank()).in_op("slice", self)?;
        self.point("slice", index, axis)
    }

    /// The view at one position along an axis that exists.
    // Made where the caller wants it: a copy of words just written would wait for them.
    #[inline(always)]
    #[track_caller]
    fn point(&self, op: &'static str, index: isize, axis: usize) -> Result<NdArray> {
        let size = self.shape()[axis];
        let position = if index < 0 {
            index.wrapping_add_unsigned(size)
        } else {
            index
        };
        // Still negative is beyond every size.
        let position = position.cast_unsigned();
        if position >= size {
            return Err(self.no_position(op, index, axis));
        }
        match self.layout().line_at(position, axis) {
            Some(line) => Ok(self.with_layout(line)),
            None => Ok(self.with_layout(self.layout().at(position, axis))),
        }
    }

    #[cold]
    #[track_caller]
    fn no_position(&self, op: &'static str, index: isize, axis: usize) -> ArrayError {
        let array = ArraySummary::of(self);
        ArrayError::new(ArrayErrorKind::IndexRange {
            op,
            axis,
            index,
            array,
        })
    }

    /// Assigns to one row of a matrix.
    ///
    /// # Errors
    /// As [`row`](Self::row) and [`assign`](Self::assign).
    #[doc(alias = "putRow")]
    #[track_caller]
    pub fn put_row<'a>(&self, index: isize, values: impl Into<Arg<'a>>) -> Result<&Self> {
        self.row(index)?.assign_arg("put_row", values.into())?;
        Ok(self)
    }

    /// Assigns to one column of a matrix.
    ///
    /// # Errors
    /// As [`column`](Self::column) and [`assign`](Self::assign).
    #[doc(alias = "putColumn")]
    #[track_caller]
    pub fn put_column<'a>(&self, index: isize, values: impl Into<Arg<'a>>) -> Result<&Self> {
        self.column(index)?
            .assign_arg("put_column", values.into())?;
        Ok(self)
    }

    /// Assigns to one position along an axis.
    ///
    /// # Errors
    /// As [`slice`](Self::slice) and [`assign`](Self::assign).
    #[doc(alias = "putSlice")]
    #[track_caller]
    pub fn put_slice<'a>(
        &self,
        index: isize,
        axis: isize,
        values: impl Into<Arg<'a>>,
    ) -> Result<&Self> {
        self.slice(index, axis)?
            .assign_arg("put_slice", values.into())?;
        Ok(self)
    }
}
