//! Boolean indexing: picking, counting and replacing the elements where a mask is true.
//!
//! Masks are bool arrays, as the comparisons return them.

use lodestride_buffer::DType;
use lodestride_kernels as kernels;
use lodestride_shape::{Order, Shape};

use crate::NdArray;
use crate::arg::Arg;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, OrFail, Result};

impl NdArray {
    /// Replaces the elements where the mask is true by a number or by the matching elements of an array.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Mask`] when the mask is not a bool array that broadcasts to this shape,
    /// [`ArrayErrorKind::InPlaceShape`] when the values do not.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f32, -2.0, 3.0]);
    /// a.replace_where(&a.less(0.0)?, 0.0)?;
    /// assert_eq!(a.to_vec::<f32>()?, [1.0, 0.0, 3.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "replaceWhere")]
    #[doc(alias = "applyWhere")]
    #[doc(alias = "putWhereWithMask")]
    #[track_caller]
    pub fn replace_where<'a>(&self, mask: &NdArray, values: impl Into<Arg<'a>>) -> Result<&Self> {
        self.expect_writable("replace_where")?;
        let mask = self.stretched_mask("replace_where", mask)?;
        let values = values.into().broadcast_into("replace_where", self)?;
        kernels::select(
            mask.operand().into(),
            values.input(),
            self.operand().into(),
            self.operand(),
        )
        .or_fail("replace_where")?;
        Ok(self)
    }

    /// A vector of the elements where the mask is true, in C order; empty when there are none.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Mask`] when the mask is not a bool array that broadcasts to this shape.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 5.0], [7.0, 2.0]]);
    /// assert_eq!(a.select_where(&a.greater(3)?)?.to_vec::<f32>()?, [5.0, 7.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "chooseFrom")]
    #[doc(alias = "masked_select")]
    #[track_caller]
    pub fn select_where(&self, mask: &NdArray) -> Result<NdArray> {
        let mask = self.stretched_mask("select_where", mask)?.ravel()?;
        let count = kernels::count_nonzero(mask.operand()).or_fail("select_where")?;
        let shape = Shape::from(count);
        let out = NdArray::recycled_ordered("select_where", self.dtype(), shape, Order::C)?;
        kernels::compress(self.ravel()?.operand(), 0, mask.operand(), out.operand())
            .or_fail("select_where")?;
        Ok(out)
    }

    /// The indices of the elements that are not zero, one row of the result per element, in C order, as i64.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[0i32, 4], [5, 0]]);
    /// assert_eq!(a.nonzero()?, NdArray::from([[0i64, 1], [1, 0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "argwhere")]
    #[track_caller]
    pub fn nonzero(&self) -> Result<NdArray> {
        let count = kernels::count_nonzero(self.operand()).or_fail("nonzero")?;
        let shape = Shape::from([count, self.rank()]);
        let out = NdArray::recycled_ordered("nonzero", DType::I64, shape, Order::C)?;
        kernels::nonzero(self.operand(), out.operand()).or_fail("nonzero")?;
        Ok(out)
    }

    /// The first place along a vector, or in C order in any array, that is not zero; `None` when all are.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f32, 2.0, 3.0, 4.0]);
    /// assert_eq!(a.greater_equal(3)?.first_index()?, Some(2));
    /// assert_eq!(a.greater(9)?.first_index()?, None);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "firstIndex")]
    #[track_caller]
    pub fn first_index(&self) -> Result<Option<usize>> {
        Ok(self
            .cast(DType::Bool)?
            .to_vec::<bool>()?
            .iter()
            .position(|&value| value))
    }

    /// The last place along a vector, or in C order in any array, that is not zero; `None` when all are.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Access`] for a stale array.
    #[doc(alias = "lastIndex")]
    #[track_caller]
    pub fn last_index(&self) -> Result<Option<usize>> {
        Ok(self
            .cast(DType::Bool)?
            .to_vec::<bool>()?
            .iter()
            .rposition(|&value| value))
    }

    /// Whether all elements agree within `absolute + relative * |other|`, after broadcasting; NaN agrees with nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`](crate::ArrayErrorKind::Broadcast) when the shapes do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([1.0f32, 2.0]);
    /// assert!(a.all_close(&a.add(1e-6)?, 1e-5, 1e-8)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "equalsWithEps")]
    #[track_caller]
    pub fn all_close(&self, other: &NdArray, relative: f64, absolute: f64) -> Result<bool> {
        let (a, b) = (self.cast(DType::F64)?, other.cast(DType::F64)?);
        let allowed = b.abs()?;
        allowed.muli(relative)?.addi(absolute)?;
        // Equal infinities differ by NaN, so equality counts as well.
        let near = a.sub(&b)?.abs()?.less_equal(&allowed)?;
        near.bit_or(&a.equal(&b)?)?.all_true()
    }

    #[track_caller]
    fn stretched_mask(&self, op: &'static str, mask: &NdArray) -> Result<NdArray> {
        match mask.layout().broadcast_to(self.shape()) {
            Ok(layout) if mask.dtype() == DType::Bool => Ok(mask.with_layout(layout)),
            _ => {
                let (array, mask) = (ArraySummary::of(self), ArraySummary::of(mask));
                Err(ArrayError::new(ArrayErrorKind::Mask { op, array, mask }))
            }
        }
    }
}
