//! Making arrays: filled, counted, from vectors, diagonal ones. Random ones are in `random`.
//!
//! Memory comes from the thread's current workspace when one is open, else from the heap.

mod placed;
mod spaced;

use lodestride_buffer::{
    AllocError, Argument, Buffer, DType, Element, HostType, Scalar, with_dtype,
};
use lodestride_kernels::{self as kernels, Output, Spacing};
use lodestride_shape::{Layout, Order, Shape};

use crate::NdArray;
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, InOp, OrFail, Result};

impl NdArray {
    /// An array of zeros of the default dtype (f32 unless changed, see [`DType::default`]).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let tens = NdArray::zeros([3, 5])?;
    /// tens.addi(10.0)?;
    /// assert_eq!(tens.get_f64([2, 4])?, 10.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn zeros(shape: impl Into<Shape>) -> Result<Self> {
        Self::zeros_of(DType::default(), shape)
    }

    /// An array of zeros of the given dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[track_caller]
    pub fn zeros_of(dtype: DType, shape: impl Into<Shape>) -> Result<Self> {
        let layout = Layout::contiguous(shape, Order::C).or_fail("zeros")?;
        let buffer = Buffer::zeroed(layout.elements().saturating_mul(dtype.size()));
        Self::over("zeros", buffer, layout, dtype)
    }

    /// An array of ones of the default dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[track_caller]
    pub fn ones(shape: impl Into<Shape>) -> Result<Self> {
        Self::full_of(DType::default(), shape, 1.0)
    }

    /// An array of ones of the given dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[track_caller]
    pub fn ones_of(dtype: DType, shape: impl Into<Shape>) -> Result<Self> {
        Self::full_of(dtype, shape, 1.0)
    }

    /// An array of the default dtype with one value everywhere.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[doc(alias = "valueArrayOf")]
    #[track_caller]
    pub fn full(shape: impl Into<Shape>, value: impl Into<Scalar>) -> Result<Self> {
        Self::full_of(DType::default(), shape, value)
    }

    /// An array of the given dtype with one value everywhere.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[track_caller]
    pub fn full_of(
        dtype: DType,
        shape: impl Into<Shape>,
        value: impl Into<Scalar>,
    ) -> Result<Self> {
        let watch = Watch::start();
        let array = Self::recycled_ordered("full", dtype, shape.into(), Order::C)?;
        kernels::copy(value.into().into(), array.operand()).or_fail("full")?;
        watch.made("full", &[], Ok(array))
    }

    /// An array of zeros with the shape and dtype of this one.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[track_caller]
    pub fn zeros_like(&self) -> Result<Self> {
        Self::zeros_of(self.dtype(), self.shape().clone())
    }

    /// An array of ones with the shape and dtype of this one.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[track_caller]
    pub fn ones_like(&self) -> Result<Self> {
        Self::full_of(self.dtype(), self.shape().clone(), 1.0)
    }

    /// An array with the shape and dtype of this one and one value everywhere.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[track_caller]
    pub fn full_like(&self, value: impl Into<Scalar>) -> Result<Self> {
        Self::full_of(self.dtype(), self.shape().clone(), value)
    }

    /// An array whose contents are unspecified (whatever was in the memory before), for results that are overwritten
    /// wholly.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[doc(alias = "createUninitialized")]
    #[track_caller]
    pub fn recycled(dtype: DType, shape: impl Into<Shape>) -> Result<Self> {
        Self::recycled_ordered("recycled", dtype, shape.into(), Order::C)
    }

    /// [`recycled`](Self::recycled) of the shape of a layout, whose elements are counted already.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([2, 3])?.transpose();
    /// let b = NdArray::recycled_packed(a.dtype(), a.layout())?;
    /// assert_eq!((&b.shape()[..], &b.strides()[..]), (&[3, 2][..], &[2, 1][..]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[inline]
    #[track_caller]
    pub fn recycled_packed(dtype: DType, layout: &Layout) -> Result<Self> {
        Self::recycled_layout("recycled", dtype, layout.packed(Order::C))
    }

    #[track_caller]
    pub(crate) fn recycled_ordered(
        op: &'static str,
        dtype: DType,
        shape: Shape,
        order: Order,
    ) -> Result<Self> {
        Self::recycled_layout(op, dtype, Layout::contiguous(shape, order).or_fail(op)?)
    }

    /// An array for a result of this array's shape that lies in memory as this one does.
    #[inline]
    #[track_caller]
    pub(crate) fn recycled_like(&self, op: &'static str, dtype: DType) -> Result<Self> {
        let mut place = None;
        Self::recycled_layout(op, dtype, self.layout().kept(&mut place).clone())
    }

    /// An array over memory of its own; the layout is gap-free from element 0 on.
    #[inline]
    #[track_caller]
    pub(crate) fn recycled_layout(op: &'static str, dtype: DType, layout: Layout) -> Result<Self> {
        let buffer = Buffer::recycled(layout.elements().saturating_mul(dtype.size()));
        Self::over(op, buffer, layout, dtype)
    }

    /// A new array whose elements a kernel writes, all of them; the layout is gap-free from element 0 on. The array is
    /// put together first: what was written piece by piece is moved on faster once it has reached the cache.
    #[inline]
    #[track_caller]
    pub(crate) fn filled_by(
        op: &'static str,
        layout: &Layout,
        dtype: DType,
        kernel: impl FnOnce(Output<'_>) -> kernels::Result<()>,
    ) -> Result<Self> {
        let buffer = match Buffer::recycled(layout.elements().saturating_mul(dtype.size())) {
            Ok(buffer) => buffer,
            Err(source) => return Err(no_memory(op, layout, dtype, source)),
        };
        let mut array = Self::whole(buffer, layout.clone(), dtype);
        // An error in a box leaves the outcome few words wide.
        let outcome = (array.write_sole())
            .map(|guard| (Output::opened(guard, layout, dtype).and_then(kernel)).map_err(Box::new));
        match outcome {
            Ok(Ok(())) => Ok(array),
            Ok(Err(source)) => Err(*source).or_fail(op),
            Err(source) => Err(source).in_op(op, &array),
        }
    }

    /// An array over memory that was just asked for, or the error where there is none.
    #[inline]
    #[track_caller]
    pub(crate) fn over(
        op: &'static str,
        buffer: std::result::Result<Buffer, AllocError>,
        layout: Layout,
        dtype: DType,
    ) -> Result<Self> {
        match buffer {
            Ok(buffer) => Ok(Self::whole(buffer, layout, dtype)),
            Err(source) => Err(no_memory(op, &layout, dtype, source)),
        }
    }

    /// Lets a closure write all elements of an array that owns its whole buffer.
    #[track_caller]
    pub(crate) fn fill_elements<T: Element>(
        &self,
        op: &'static str,
        fill: impl FnOnce(&mut [T]),
    ) -> Result<()> {
        let mut guard = self.buffer().write().in_op(op, self)?;
        fill(&mut guard.slice_mut::<T>()[..self.len()]);
        Ok(())
    }

    /// Copies values in C order into a new array.
    #[track_caller]
    pub(crate) fn from_elements<T: Element>(
        op: &'static str,
        values: &[T],
        shape: Shape,
    ) -> Result<Self> {
        let array = Self::recycled_ordered(op, T::DTYPE, shape, Order::C)?;
        array.fill_elements(op, |slice: &mut [T]| slice.copy_from_slice(values))?;
        Ok(array)
    }

    /// An array of the given shape over a vector of values in C order.
    ///
    /// The values are copied to aligned memory, of the workspace that is open if there is one. Without one a vector of a
    /// gibibyte or more keeps its own memory.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Length`] when the shape does not hold exactly the vector's values.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let column = NdArray::from_vec(vec![1.0f32, 2.0, 3.0], [3, 1])?;
    /// assert!(column.is_column_vector());
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "create")]
    #[track_caller]
    pub fn from_vec<T: HostType>(values: Vec<T>, shape: impl Into<Shape>) -> Result<Self> {
        Self::from_vec_order(values, shape, Order::C)
    }

    /// An array of the given shape over a vector of values that are listed in the given order.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Length`] when the shape does not hold exactly the vector's values.
    #[track_caller]
    pub fn from_vec_order<T: HostType>(
        values: Vec<T>,
        shape: impl Into<Shape>,
        order: Order,
    ) -> Result<Self> {
        let layout = Layout::contiguous(shape, order).or_fail("from_vec")?;
        if layout.elements() != values.len() {
            let (shape, values) = (layout.shape().clone(), values.len());
            return Err(ArrayError::new(ArrayErrorKind::Length {
                op: "from_vec",
                shape,
                values,
            }));
        }
        let values: Vec<T::Element> = values.into_iter().map(T::into_element).collect();
        let dtype = T::Element::DTYPE;
        Self::over("from_vec", Buffer::from_vec(values), layout, dtype)
    }

    /// A rank-0 array of one number, with the number's own dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[track_caller]
    pub fn scalar<T: HostType>(value: T) -> Result<Self> {
        Self::from_elements("scalar", &[value.into_element()], Shape::from(()))
    }

    /// The numbers `start, start + step, ..` before `end`, as a vector of the default dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Range`] when the step is 0 or a number is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::arange(-2, 2, 1)?.to_vec::<f32>()?, [-2.0, -1.0, 0.0, 1.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn arange(
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        step: impl Into<Scalar>,
    ) -> Result<Self> {
        Self::arange_of(DType::default(), start, end, step)
    }

    /// The numbers `start, start + step, ..` before `end`, as a vector of the given dtype. Whole numbers are exact in `i32`
    /// and `i64`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Range`] when the step is 0 or a number is not finite.
    ///
    /// ```
    /// use lodestride_array::{DType, NdArray};
    ///
    /// let large = NdArray::arange_of(DType::I64, i64::MAX - 1, i64::MAX, 1)?;
    /// assert_eq!(large.to_vec::<i64>()?, [i64::MAX - 1]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn arange_of(
        dtype: DType,
        start: impl Into<Scalar>,
        end: impl Into<Scalar>,
        step: impl Into<Scalar>,
    ) -> Result<Self> {
        let (start, end, step) = (start.into(), end.into(), step.into());
        if let Some(whole) = spaced::Whole::new(start, end, step)
            && whole.fits(dtype)
        {
            return Self::whole_numbers("arange", dtype, &whole);
        }
        let (start, end, step) = (start.as_f64(), end.as_f64(), step.as_f64());
        let count = ((end - start) / step).ceil();
        if !count.is_finite() {
            return Err(ArrayError::new(ArrayErrorKind::Range {
                op: "arange",
                start,
                end,
                step,
            }));
        }
        let spacing = Spacing::Step { first: start, step };
        let count = count.max(0.0) as usize;
        Self::counted("arange", dtype, count, |at, out| spacing.fill(at, out))
    }

    /// `count` equally spaced numbers from `first` to `last`, both included, as a vector of the default dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Range`] when a bound is not finite.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::linspace(1, 25, 25)?.reshape([5, 5])?;
    /// assert_eq!(a.get_f64([4, 4])?, 25.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn linspace(
        first: impl Into<Scalar>,
        last: impl Into<Scalar>,
        count: usize,
    ) -> Result<Self> {
        Self::linspace_of(DType::default(), first, last, count)
    }

    /// `count` equally spaced numbers from `first` to `last`, both included, as a vector of the given dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Range`] when a bound is not finite.
    #[track_caller]
    pub fn linspace_of(
        dtype: DType,
        first: impl Into<Scalar>,
        last: impl Into<Scalar>,
        count: usize,
    ) -> Result<Self> {
        let (first, last) = (first.into().as_f64(), last.into().as_f64());
        spaced::width("linspace", first, last, count)?;
        let spacing = spaced::between(first, last, count);
        Self::counted("linspace", dtype, count, |at, out| spacing.fill(at, out))
    }

    /// A vector of `count` values, which `numbers` writes from an index on.
    #[track_caller]
    fn counted(
        op: &'static str,
        dtype: DType,
        count: usize,
        numbers: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Result<Self> {
        let watch = Watch::start();
        let array = Self::recycled_ordered(op, dtype, Shape::from(count), Order::C)?;
        let mut guard = array.buffer().write().in_op(op, &array)?;
        kernels::write_numbers(&mut guard, dtype, count, &numbers);
        drop(guard);
        watch.made(op, &[], Ok(array))
    }

    /// The identity matrix of `n` rows: ones on the diagonal, zeros elsewhere.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[track_caller]
    pub fn eye(n: usize) -> Result<Self> {
        Self::eye_of(DType::default(), n)
    }

    /// The identity matrix of `n` rows of the given dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[track_caller]
    pub fn eye_of(dtype: DType, n: usize) -> Result<Self> {
        let watch = Watch::start();
        let array = Self::zeros_of(dtype, [n, n])?;
        with_dtype!(dtype, T => array.fill_elements("eye", |slice: &mut [T]| {
            slice.iter_mut().step_by(n + 1).for_each(|element| *element = Scalar::Int(1).cast::<T>());
        }))?;
        watch.made("eye", &[], Ok(array))
    }

    /// A copy of a diagonal of a matrix, or a square matrix with a vector on its diagonal.
    ///
    /// `k` selects the diagonal: 0 the main one, positive ones above, negative ones below. [`diagonal`](Self::diagonal)
    /// is the view.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the array is neither a vector of rank 1 nor a matrix.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let d = NdArray::from([1.0f32, 2.0]).diag(0)?;
    /// assert_eq!(d, NdArray::from([[1.0f32, 0.0], [0.0, 2.0]]));
    /// assert_eq!(d.diag(0)?, NdArray::from([1.0f32, 2.0]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn diag(&self, k: isize) -> Result<Self> {
        match self.rank() {
            1 => {
                let n = self.len() + k.unsigned_abs();
                let matrix = Self::zeros_of(self.dtype(), [n, n])?;
                matrix
                    .diagonal(k)?
                    .assign(self)
                    .named("diag", Argument::X)?;
                Ok(matrix)
            }
            2 => self.diagonal(k)?.dup().renamed("diag"),
            _ => {
                let expected = "a vector or a matrix";
                Err(ArrayError::new(ArrayErrorKind::Form {
                    op: "diag",
                    expected,
                    array: ArraySummary::of(self),
                }))
            }
        }
    }
}

#[cold]
#[track_caller]
fn no_memory(op: &'static str, layout: &Layout, dtype: DType, source: AllocError) -> ArrayError {
    ArrayError::new(ArrayErrorKind::Allocation {
        op,
        shape: layout.shape().clone(),
        dtype,
        source,
    })
}
