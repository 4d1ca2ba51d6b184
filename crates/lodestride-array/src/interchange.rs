//! To and from the `ndarray` crate, without copying where both sides allow it.
//!
//! `ndarray` views borrow from the guards of typed views, so what a guard forbids stays forbidden while they live. Owned
//! `ndarray` arrays hand over their memory.

use bytemuck::Pod;
use lodestride_buffer::{Buffer, Element, HostType};
use lodestride_shape::{Layout, Order, Shape, Strides};
use ndarray::{Array, ArrayD, ArrayView as ViewOf, ArrayViewD, ArrayViewMutD, Dimension, IxDyn};
use ndarray::{ShapeBuilder, StrideShape};

use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, OrFail, Result};
use crate::typed::{ArrayView, ArrayViewMut};

/// The elements that a layout reaches, from the lowest on, and its shape and strides as `ndarray` takes them.
fn seen(layout: &Layout) -> (std::ops::Range<usize>, StrideShape<IxDyn>) {
    let shape = IxDyn(layout.shape());
    let Some((low, high)) = layout.bounds() else {
        // No element: strides would lead nowhere.
        return (0..0, shape.into());
    };
    // Negative strides go as wrapped numbers there.
    let strides: Vec<usize> = layout
        .strides()
        .iter()
        .map(|stride| stride.cast_unsigned())
        .collect();
    (low..high + 1, shape.strides(IxDyn(&strides)))
}

#[cold]
#[track_caller]
fn refused(op: &'static str, layout: &Layout, dtype: lodestride_buffer::DType) -> ArrayError {
    ArrayError::new(ArrayErrorKind::Form {
        op,
        expected: "a layout that the ndarray crate can index",
        array: ArraySummary {
            dtype,
            shape: layout.shape().clone(),
            order: layout.order(),
            view: true,
        },
    })
}

impl<T: Element> ArrayView<'_, T> {
    /// The same elements as a view of the `ndarray` crate, in any layout; nothing is copied.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the elements cannot be counted in an `isize`, as of an immense broadcast view.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]).transpose();
    /// let view = a.view::<f32>()?;
    /// assert_eq!(view.to_ndarray()?[[0, 1]], 3.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn to_ndarray(&self) -> Result<ArrayViewD<'_, T>> {
        let (elements, shape) = seen(self.layout);
        let view = ArrayViewD::from_shape(shape, &self.elements[elements]);
        match view {
            Ok(view) => Ok(view),
            Err(_) => Err(refused("to_ndarray", self.layout, T::DTYPE)),
        }
    }
}

impl<T: Element> ArrayViewMut<'_, T> {
    /// The same elements as a mutable view of the `ndarray` crate, in any layout; nothing is copied.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the layout is one that `ndarray` does not index.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([2, 2])?;
    /// a.view_mut::<f32>()?.to_ndarray_mut()?.fill(7.0);
    /// assert_eq!(a.to_vec::<f32>()?, [7.0; 4]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn to_ndarray_mut(&mut self) -> Result<ArrayViewMutD<'_, T>> {
        let layout = self.layout;
        let (elements, shape) = seen(layout);
        let view = ArrayViewMutD::from_shape(shape, &mut self.guard.slice_mut::<T>()[elements]);
        match view {
            Ok(view) => Ok(view),
            Err(_) => Err(refused("to_ndarray_mut", layout, T::DTYPE)),
        }
    }
}

/// A vector that lends its bytes.
struct Handed<T>(Vec<T>);

impl<T: Pod> AsMut<[u8]> for Handed<T> {
    fn as_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

impl NdArray {
    /// An array over the memory of an owned `ndarray` array, in its layout; nothing is copied, unless the memory is aligned
    /// to less than 8 bytes. For bool and half floats see [`copy_ndarray`](Self::copy_ndarray).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from_ndarray(ndarray::array![[1.0f64, 2.0], [3.0, 4.0]].reversed_axes())?;
    /// assert_eq!(a.to_vec::<f64>()?, [1.0, 3.0, 2.0, 4.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn from_ndarray<T: Element + Pod, D: Dimension>(array: Array<T, D>) -> Result<NdArray> {
        let op = "from_ndarray";
        let (shape, strides) = (Shape::from(array.shape()), Strides::from(array.strides()));
        let (elements, offset) = array.into_raw_vec_and_offset();
        let layout = Layout::new(shape, strides, offset.unwrap_or(0)).or_fail(op)?;
        let buffer = Buffer::from_owner(Handed(elements));
        let buffer = match buffer {
            Ok(buffer) => buffer,
            Err(source) => {
                let (shape, dtype) = (layout.shape().clone(), T::DTYPE);
                return Err(ArrayError::new(ArrayErrorKind::Allocation {
                    op,
                    shape,
                    dtype,
                    source,
                }));
            }
        };
        NdArray::from_buffer(buffer, layout, T::DTYPE)
    }

    /// A copy of an `ndarray` array or view of any element type, bool and half floats included.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let mask = NdArray::copy_ndarray(ndarray::array![true, false].view())?;
    /// assert_eq!(mask.to_vec::<bool>()?, [true, false]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn copy_ndarray<T: HostType, D: Dimension>(array: ViewOf<'_, T, D>) -> Result<NdArray> {
        let shape = Shape::from(array.shape());
        NdArray::from_vec_order(array.iter().copied().collect(), shape, Order::C)
    }

    /// A copy of the elements as an owned `ndarray` array in C order; [`ArrayView::to_ndarray`] copies nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::DTypeMismatch`] when `T` is not the array's element type.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]).to_ndarray::<i32>()?;
    /// assert_eq!(a[[1, 0]], 3);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn to_ndarray<T: HostType>(&self) -> Result<ArrayD<T>> {
        let elements = self.to_vec::<T>().renamed("to_ndarray")?;
        let array = ArrayD::from_shape_vec(IxDyn(self.shape()), elements);
        match array {
            Ok(array) => Ok(array),
            Err(_) => Err(refused("to_ndarray", self.layout(), self.dtype())),
        }
    }
}
