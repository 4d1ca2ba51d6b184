//! The array itself: buffer, layout, dtype, and what can be asked without touching an element.
//!
//! Making arrays is in `create`, everything that reads or writes elements in the files named after the subject.

use lodestride_buffer::{AccessError, Buffer, DType, WriteGuard};
use lodestride_kernels::Operand;
use lodestride_shape::{Layout, Order, Overlap, Shape, Strides, normalize_axis};

use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InOp, OrFail, Result};

/// An n-dimensional strided array with a dtype known at run time.
///
/// An array is a handle: [`clone`](Clone::clone), indexing and transposing make another handle to the *same* elements,
/// so writing through one is seen through all. [`dup`](Self::dup) copies. In-place methods therefore take `&self`.
///
/// | You want | Write |
/// |---|---|
/// | a copy | `a.dup()?` |
/// | a view of a part | `a.get(&s![0, ..])?`, `a.row(0)?`, `a.transpose()` |
/// | a new array from an op | `a.add(&b)?`, `&a + &b` |
/// | to change the array | `a.addi(&b)?` |
/// | the result in an array you have | `a.add_into(&b, &out)?` |
///
/// ```
/// use lodestride_array::NdArray;
///
/// let a = NdArray::zeros([3, 3])?;
/// a.row(0)?.addi(1.0)?;
/// assert_eq!(a.to_vec::<f32>()?, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone)]
#[doc(alias = "INDArray")]
#[doc(alias = "ndarray")]
#[doc(alias = "Tensor")]
// In this order, so that a `Result` that is taken apart hands the buffer on in a register: what is moved sixteen bytes at a time cannot be
// loaded before its parts, which were written one by one, have reached the cache, and the buffer is what everybody waits for.
#[repr(C)]
pub struct NdArray {
    // Invariant, checked by every constructor: `layout` reaches no element beyond the buffer. `operand` relies on it.
    buffer: Buffer,
    layout: Layout,
    dtype: DType,
    view: bool,
}

impl NdArray {
    /// An array over existing memory: element `i` of the layout is the `i`-th `dtype` value of the buffer.
    ///
    /// Nothing is copied; the array is one more handle to the buffer.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] when the layout reaches beyond the buffer.
    #[track_caller]
    pub fn from_buffer(buffer: Buffer, layout: Layout, dtype: DType) -> Result<Self> {
        Operand::new(&buffer, &layout, dtype).or_fail("from_buffer")?;
        let view =
            layout.offset() != 0 || layout.elements().saturating_mul(dtype.size()) != buffer.len();
        Ok(Self {
            buffer,
            layout,
            dtype,
            view,
        })
    }

    /// An array that owns its whole buffer; the layout must be contiguous over it.
    #[inline]
    pub(crate) fn whole(buffer: Buffer, layout: Layout, dtype: DType) -> Self {
        debug_assert!(layout.fits(buffer.len() / dtype.size()));
        Self {
            buffer,
            layout,
            dtype,
            view: false,
        }
    }

    /// Opens an array that nobody else has a handle to.
    #[inline(always)]
    pub(crate) fn write_sole(&mut self) -> std::result::Result<WriteGuard<'_>, AccessError> {
        self.buffer.write_sole()
    }

    /// The same array, no longer called a view: for results that were reshaped after they were made.
    pub(crate) fn owning(self) -> Self {
        Self {
            view: false,
            ..self
        }
    }

    /// The same array under another layout of as many elements, contiguous as its own: for results that were reshaped after
    /// they were made.
    #[inline]
    pub(crate) fn relaid(self, layout: Layout) -> Self {
        debug_assert!(layout.fits(self.buffer.len() / self.dtype.size()));
        Self { layout, ..self }
    }

    /// A view of this array's elements; the layout must come from this array's by one of the shape operations.
    #[inline]
    pub(crate) fn with_layout(&self, layout: Layout) -> Self {
        debug_assert!(layout.fits(self.buffer.len() / self.dtype.size()));
        Self {
            buffer: self.buffer.clone(),
            layout,
            dtype: self.dtype,
            view: true,
        }
    }

    /// Element type.
    #[doc(alias = "dataType")]
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Size of every axis.
    #[inline]
    pub fn shape(&self) -> &Shape {
        self.layout.shape()
    }

    /// Distance in elements between neighbours along every axis; negative along a flipped axis.
    #[doc(alias = "stride")]
    #[inline]
    pub fn strides(&self) -> &Strides {
        self.layout.strides()
    }

    /// Number of axes. A scalar has 0, a vector 1, a matrix 2.
    #[doc(alias = "ndim")]
    #[inline]
    pub fn rank(&self) -> usize {
        self.layout.rank()
    }

    /// Number of elements: the product of the shape.
    #[doc(alias = "length")]
    #[doc(alias = "size")]
    #[inline]
    pub fn len(&self) -> usize {
        self.layout.elements()
    }

    /// Whether there is no element at all, because some axis has size 0.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Size of one axis; negative axes count from the last.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] when there is no such axis.
    #[track_caller]
    pub fn size(&self, axis: isize) -> Result<usize> {
        let axis = normalize_axis(axis, self.rank()).in_op("size", self)?;
        Ok(self.shape()[axis])
    }

    /// Number of rows of a matrix: the size of axis 0.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the array is not a matrix.
    #[track_caller]
    pub fn rows(&self) -> Result<usize> {
        self.matrix_form("rows").map(|(rows, _)| rows)
    }

    /// Number of columns of a matrix: the size of axis 1.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the array is not a matrix.
    #[track_caller]
    pub fn columns(&self) -> Result<usize> {
        self.matrix_form("columns").map(|(_, columns)| columns)
    }

    /// Memory order: [`Order::C`] when the elements lie without gaps and the last axis is the fastest, [`Order::F`] when
    /// the first is, `None` when they are strided.
    #[doc(alias = "ordering")]
    #[inline]
    pub fn order(&self) -> Option<Order> {
        self.layout.order()
    }

    /// Where the elements are in the buffer: shape, strides and offset.
    #[inline]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The memory the array is a handle to.
    #[doc(alias = "data")]
    #[inline]
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The array as the kernels take it.
    // Made in its place: a copy of words just written would wait for them.
    #[inline(always)]
    pub fn operand(&self) -> Operand<'_> {
        Operand::new(&self.buffer, &self.layout, self.dtype)
            .expect("the layout was checked against the buffer on construction")
    }

    /// Whether this handle was made from another array: by indexing, transposing or reshaping.
    #[inline]
    pub fn is_view(&self) -> bool {
        self.view
    }

    /// Whether writing to one array can change the other.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([2, 3])?;
    /// assert!(a.shares_memory(&a.row(1)?));
    /// assert!(!a.row(0)?.shares_memory(&a.row(1)?));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    pub fn shares_memory(&self, other: &NdArray) -> bool {
        self.buffer.same_block(&other.buffer)
            && lodestride_shape::overlap(
                &self.layout,
                self.dtype.size(),
                &other.layout,
                other.dtype.size(),
            ) != Overlap::Disjoint
    }

    /// Whether the array has rank 0.
    pub fn is_scalar(&self) -> bool {
        self.rank() == 0
    }

    /// Whether the array has rank 1, or rank 2 with a single row or column.
    pub fn is_vector(&self) -> bool {
        self.rank() == 1 || (self.rank() == 2 && (self.shape()[0] == 1 || self.shape()[1] == 1))
    }

    /// Whether the array has rank 2.
    pub fn is_matrix(&self) -> bool {
        self.rank() == 2
    }

    /// Whether the array has rank 1, or rank 2 with a single row.
    pub fn is_row_vector(&self) -> bool {
        self.rank() == 1 || (self.rank() == 2 && self.shape()[0] == 1)
    }

    /// Whether the array has rank 2 with a single column.
    pub fn is_column_vector(&self) -> bool {
        self.rank() == 2 && self.shape()[1] == 1
    }

    /// Whether the array is a matrix with as many rows as columns.
    pub fn is_square(&self) -> bool {
        self.rank() == 2 && self.shape()[0] == self.shape()[1]
    }

    /// Rows and columns, or the error for arrays that are not matrices.
    #[inline]
    #[track_caller]
    pub(crate) fn matrix_form(&self, op: &'static str) -> Result<(usize, usize)> {
        match self.shape().as_array() {
            Some(&[rows, columns]) => Ok((rows, columns)),
            None => Err(self.no_matrix(op)),
        }
    }

    #[cold]
    #[track_caller]
    fn no_matrix(&self, op: &'static str) -> ArrayError {
        ArrayError::new(ArrayErrorKind::Form {
            op,
            expected: "a matrix",
            array: ArraySummary::of(self),
        })
    }
}
