//! Copies and conversions: `dup`, `cast`, `assign`, and the way out to vectors.

use lodestride_buffer::{AllocError, Argument, DType, HostType};
use lodestride_kernels::{self as kernels, Input, KernelError};
use lodestride_shape::Order;

use crate::NdArray;
use crate::arg::Arg;
use crate::checks::{Watch, watched};
use crate::error::{ArrayError, ArrayErrorKind, InMethod, InOp, OrFail, Result};
use crate::walk::Runs;

impl NdArray {
    /// A copy with memory of its own and without gaps, whose axes follow each other in memory as they do in this array.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::ones([2, 2])?;
    /// let copy = a.transpose().dup()?;
    /// a.assign(0.0)?;
    /// assert_eq!(copy.sum_number()?, 4.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "copy")]
    #[track_caller]
    pub fn dup(&self) -> Result<NdArray> {
        self.converted("dup", self.recycled_like("dup", self.dtype())?)
    }

    /// A copy with memory of its own, in the given order. Into an existing array of any order: `out.assign(&a)`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[track_caller]
    pub fn dup_order(&self, order: Order) -> Result<NdArray> {
        let layout = self.layout().packed(order);
        self.converted("dup", Self::recycled_layout("dup", self.dtype(), layout)?)
    }

    /// A copy in another dtype, or an alias of this array when it has that dtype already.
    ///
    /// Floats are truncated towards zero, integers wrap, as in NumPy's `astype`. Into an existing array:
    /// [`out.assign(&a)`](Self::assign), which converts to its dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::{DType, NdArray};
    ///
    /// let a = NdArray::from([1.5f64, -2.5]).cast(DType::I32)?;
    /// assert_eq!(a.to_vec::<i32>()?, [1, -2]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "castTo")]
    #[doc(alias = "astype")]
    #[track_caller]
    pub fn cast(&self, dtype: DType) -> Result<NdArray> {
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        self.converted("cast", self.recycled_like("cast", dtype)?)
    }

    #[track_caller]
    fn converted(&self, op: &'static str, copy: NdArray) -> Result<NdArray> {
        let run = || kernels::copy(self.operand().into(), copy.operand());
        watched(op, &[self], &copy, run)?;
        Ok(copy)
    }

    /// Sets every element to the value of a number or of the matching element of an array, which may broadcast.
    ///
    /// The values are converted to this array's dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when the values do not broadcast into this
    /// shape, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([2, 3])?;
    /// a.assign(&NdArray::from([1.0f32, 2.0, 3.0]))?;
    /// assert_eq!(a.to_vec::<f32>()?, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "fill")]
    #[track_caller]
    pub fn assign<'a>(&self, values: impl Into<Arg<'a>>) -> Result<&Self> {
        self.assign_arg("assign", values.into())?;
        Ok(self)
    }

    #[track_caller]
    pub(crate) fn assign_arg(&self, op: &'static str, values: Arg<'_>) -> Result<()> {
        self.expect_writable(op)?;
        let copy = |from: Input<'_>| kernels::copy(from, self.operand()).map_err(beside_a_receiver);
        match values {
            Arg::Scalar(value) => watched(op, &[], self, || copy(value.into())),
            Arg::Array(values) if values.shape() == self.shape() => {
                watched(op, &[values], self, || copy(values.operand().into()))
            }
            Arg::Array(values) => {
                let stretched = values.broadcast_into(op, self)?;
                watched(op, &[values], self, || copy(stretched.operand().into()))
            }
        }
    }

    /// All elements in C order.
    ///
    /// # Errors
    /// [`ArrayErrorKind::DTypeMismatch`] when `T` is not the array's element type;
    /// [`cast`](Self::cast) first to convert.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i64, 2], [3, 4]]);
    /// assert_eq!(a.transpose().to_vec::<i64>()?, [1, 3, 2, 4]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "toDoubleVector")]
    #[track_caller]
    pub fn to_vec<T: HostType>(&self) -> Result<Vec<T>> {
        let watch = Watch::start();
        self.expect_dtype::<T::Element>("to_vec")?;
        let guard = self.buffer().read().in_op("to_vec", self)?;
        let mut values = self.room("to_vec", self.len())?;
        let elements = guard.slice::<T::Element>();
        let runs = Runs::new(self.layout());
        let (len, stride) = (runs.len(), runs.stride());
        for start in runs {
            // A plain slice is copied at once; the strided form cannot be.
            if stride == 1 {
                values.extend(
                    elements[start..start + len]
                        .iter()
                        .copied()
                        .map(T::from_element),
                );
            } else {
                let places = (0..len as isize).map(|i| start.wrapping_add_signed(i * stride));
                values.extend(places.map(|place| T::from_element(elements[place])));
            }
        }
        watch.made("to_vec", &[self], Ok(()))?;
        Ok(values)
    }

    /// All elements in C order, converted to f64.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] when the memory is stale or being written.
    #[track_caller]
    pub fn to_f64_vec(&self) -> Result<Vec<f64>> {
        let values = self.cast(DType::F64).renamed("to_f64_vec")?;
        values.to_vec::<f64>()
    }

    /// All elements in C order, as the bytes they have in memory (the machine's byte order).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] when the memory is stale or being written.
    #[track_caller]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let watch = Watch::start();
        let guard = self.buffer().read().in_op("to_bytes", self)?;
        let (bytes, size) = (guard.bytes(), self.dtype().size());
        let mut into = self.room("to_bytes", self.len().saturating_mul(size))?;
        let runs = Runs::new(self.layout());
        let (len, stride) = (runs.len(), runs.stride());
        for start in runs {
            if stride == 1 {
                into.extend_from_slice(&bytes[start * size..(start + len) * size]);
            } else {
                let places =
                    (0..len as isize).map(|i| start.wrapping_add_signed(i * stride) * size);
                places.for_each(|place| into.extend_from_slice(&bytes[place..place + size]));
            }
        }
        watch.made("to_bytes", &[self], Ok(()))?;
        Ok(into)
    }

    /// An empty vector with room for so many values: a broadcast view may have more elements than memory.
    #[track_caller]
    fn room<T>(&self, op: &'static str, count: usize) -> Result<Vec<T>> {
        let mut values = Vec::new();
        if values.try_reserve_exact(count).is_ok() {
            return Ok(values);
        }
        let (shape, dtype) = (self.shape().clone(), self.dtype());
        let bytes = count.saturating_mul(size_of::<T>());
        let source = AllocError::OutOfMemory { bytes };
        Err(ArrayError::new(ArrayErrorKind::Allocation {
            op,
            shape,
            dtype,
            source,
        }))
    }

    /// All elements of all arrays in one vector, each array walked in the given order, whatever its layout.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Empty`] when there is no array.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Order};
    ///
    /// let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// let flat = NdArray::to_flattened(Order::F, &[&a, &a])?;
    /// assert_eq!(flat.to_vec::<f32>()?, [1.0, 3.0, 2.0, 4.0, 1.0, 3.0, 2.0, 4.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "toFlattened")]
    #[track_caller]
    pub fn to_flattened(order: Order, arrays: &[&NdArray]) -> Result<NdArray> {
        let watch = Watch::start();
        let dtype = crate::combine::common_dtype("to_flattened", arrays)?;
        let total: usize = arrays.iter().map(|array| array.len()).sum();
        let flat = NdArray::recycled_ordered("to_flattened", dtype, [total].into(), Order::C)?;
        let mut start = 0;
        for (position, array) in arrays.iter().enumerate() {
            let end = start + array.len();
            // In F order the reversed axes are walked in C order.
            let walked = if order == Order::F {
                array.transpose()
            } else {
                (*array).clone()
            };
            let part = flat
                .layout()
                .narrow(0, start..end)
                .in_op("to_flattened", &flat)?;
            let sizes: Vec<isize> = walked.shape().iter().map(|&size| size as isize).collect();
            let part = flat.with_layout(part).reshape(&sizes[..])?;
            kernels::copy(walked.operand().into(), part.operand())
                .or_fail("to_flattened")
                .named("to_flattened", Argument::Input(position))?;
            start = end;
        }
        watch.made("to_flattened", arrays, Ok(flat))
    }
}

/// The kernel calls what it copies X; in `x.assign(y)` that is the second operand, Y.
fn beside_a_receiver(error: KernelError) -> KernelError {
    match error {
        KernelError::Access {
            op,
            argument: Argument::X,
            source,
            dtype,
            shape,
        } => KernelError::Access {
            op,
            argument: Argument::Y,
            source,
            dtype,
            shape,
        },
        other => other,
    }
}
