//! Arrays to and from other libraries by DLPack, without copying. The C structures and who frees them are in
//! [`DlTensor`].

use lodestride_buffer::{DlPackError, DlPlaces, DlTensor};
use lodestride_shape::Layout;

use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, InOp, OrFail, Result};

impl NdArray {
    /// A tensor over this array's elements for another library, which may read but not write them.
    ///
    /// Until the tensor is deleted this array and all that share memory with it can be read, and writing is
    /// [`AccessError::InUse`](crate::AccessError::InUse): the other library asks nobody when it reads.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] when the array is stale or being written.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// let tensor = a.transpose().to_dlpack()?;
    /// assert_eq!(tensor.strides(), [1, 2]);
    /// let same = NdArray::from_dlpack(tensor)?; // as another library would
    /// assert_eq!(same, a.transpose());
    /// assert!(a.addi(1).is_err());
    /// drop(same);
    /// assert!(a.addi(1).is_ok());
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn to_dlpack(&self) -> Result<DlTensor> {
        self.exported("to_dlpack", false)
    }

    /// A tensor over this array's elements for another library, which may write them too.
    ///
    /// Until the tensor is deleted nobody else can use this array or any that shares memory with it: every operation is
    /// [`AccessError::InUse`](crate::AccessError::InUse).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] when the array is stale or in use, [`ArrayErrorKind::OverlappingTarget`] for a broadcast
    /// view.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([2, 2])?;
    /// let other = NdArray::from_dlpack(a.row(0)?.to_dlpack_mut()?)?;
    /// other.addi(7)?;
    /// drop(other);
    /// assert_eq!(a.to_vec::<f32>()?, [7.0, 7.0, 0.0, 0.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn to_dlpack_mut(&self) -> Result<DlTensor> {
        self.expect_writable("to_dlpack_mut")?;
        self.exported("to_dlpack_mut", true)
    }

    #[track_caller]
    fn exported(&self, op: &'static str, writable: bool) -> Result<DlTensor> {
        let places = DlPlaces {
            dtype: self.dtype(),
            shape: self.shape().to_vec(),
            strides: self.strides().to_vec(),
            offset: self.layout().offset(),
        };
        match DlTensor::export(self.buffer(), &places, writable) {
            Err(DlPackError::Access(source)) => Err(source).in_op(op, self),
            Err(source) => Err(ArrayError::new(ArrayErrorKind::DlPack { op, source })),
            Ok(tensor) => Ok(tensor),
        }
    }

    /// An array over the data of another library's tensor, in its shape and strides; the tensor is deleted with the last
    /// array over it. What was lent for reading cannot be written.
    ///
    /// Nothing is copied, unless the data are aligned to less than 8 bytes, as those of a part may be: then the array has
    /// memory of its own, and what is written to it does not reach the other library.
    ///
    /// # Errors
    /// [`ArrayErrorKind::DlPack`] for a device that is not the processor, an element type without a dtype, a later major
    /// version, and sizes or strides that name no places in memory.
    ///
    /// ```
    /// use lodestride_array::{DlTensor, NdArray};
    ///
    /// # let made = NdArray::from([1.0f64, 2.0]).to_dlpack()?.into_raw();
    /// // `made` is the pointer in a Python capsule of the name "dltensor_versioned", for example.
    /// // SAFETY: it is a tensor that nobody else deletes.
    /// let tensor = unsafe { DlTensor::from_raw(made) };
    /// let a = NdArray::from_dlpack(tensor)?;
    /// assert_eq!(a.sum_number()?, 3.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn from_dlpack(tensor: DlTensor) -> Result<NdArray> {
        let op = "from_dlpack";
        let (buffer, places) = match tensor.into_buffer() {
            Ok(received) => received,
            Err(source) => return Err(ArrayError::new(ArrayErrorKind::DlPack { op, source })),
        };
        let layout = Layout::new(&places.shape[..], &places.strides[..], places.offset);
        NdArray::from_buffer(buffer, layout.or_fail(op)?, places.dtype)
    }
}
