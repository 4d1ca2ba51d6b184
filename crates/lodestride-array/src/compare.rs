//! Comparisons and logic; the results are bool arrays, which serve as masks.

use lodestride_kernels::{BinaryOp, UnaryOp};

use crate::NdArray;
use crate::arg::Arg;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;

impl NdArray {
    /// A mask that is true where the elements are equal; NaN equals nothing.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[doc(alias = "eq")]
    #[track_caller]
    pub fn equal<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Eq, rhs.into())
    }

    /// [`equal`](Self::equal) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`equal`](Self::equal); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn equal_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Eq, "equal_into", rhs.into(), out)
    }

    /// A mask that is true where the elements differ.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[doc(alias = "neq")]
    #[track_caller]
    pub fn not_equal<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Ne, rhs.into())
    }

    /// [`not_equal`](Self::not_equal) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`not_equal`](Self::not_equal); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn not_equal_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Ne, "not_equal_into", rhs.into(), out)
    }

    /// A mask that is true where this array's element is smaller.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::from([1.0f32, 5.0]).less(2)?.to_vec::<bool>()?, [true, false]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "lt")]
    #[track_caller]
    pub fn less<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Lt, rhs.into())
    }

    /// [`less`](Self::less) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`less`](Self::less); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn less_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Lt, "less_into", rhs.into(), out)
    }

    /// A mask that is true where this array's element is smaller or equal.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[doc(alias = "lte")]
    #[track_caller]
    pub fn less_equal<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Le, rhs.into())
    }

    /// [`less_equal`](Self::less_equal) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`less_equal`](Self::less_equal); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn less_equal_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Le, "less_equal_into", rhs.into(), out)
    }

    /// A mask that is true where this array's element is larger.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[doc(alias = "gt")]
    #[track_caller]
    pub fn greater<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Gt, rhs.into())
    }

    /// [`greater`](Self::greater) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`greater`](Self::greater); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn greater_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Gt, "greater_into", rhs.into(), out)
    }

    /// A mask that is true where this array's element is larger or equal.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[doc(alias = "gte")]
    #[track_caller]
    pub fn greater_equal<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Ge, rhs.into())
    }

    /// [`greater_equal`](Self::greater_equal) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`greater_equal`](Self::greater_equal); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn greater_equal_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Ge, "greater_equal_into", rhs.into(), out)
    }

    /// A mask that is true where both elements are true, that is not zero.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[doc(alias = "and")]
    #[track_caller]
    pub fn logical_and<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::And, rhs.into())
    }

    /// [`logical_and`](Self::logical_and) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`logical_and`](Self::logical_and); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn logical_and_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::And, "logical_and_into", rhs.into(), out)
    }

    /// A mask that is true where either element is true, that is not zero.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[doc(alias = "or")]
    #[track_caller]
    pub fn logical_or<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Or, rhs.into())
    }

    /// [`logical_or`](Self::logical_or) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`logical_or`](Self::logical_or); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn logical_or_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Or, "logical_or_into", rhs.into(), out)
    }

    /// A mask that is true where exactly one element is true, that is not zero.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[doc(alias = "xor")]
    #[track_caller]
    pub fn logical_xor<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Xor, rhs.into())
    }

    /// [`logical_xor`](Self::logical_xor) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`logical_xor`](Self::logical_xor); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn logical_xor_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Xor, "logical_xor_into", rhs.into(), out)
    }

    /// A mask that is true where an element is zero or false.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "not")]
    #[track_caller]
    pub fn logical_not(&self) -> Result<NdArray> {
        self.unary(UnaryOp::Not)
    }

    /// [`logical_not`](Self::logical_not) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`logical_not`](Self::logical_not); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn logical_not_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::Not, "logical_not_into", out)
    }

    /// A mask that is true where an element is not a number.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[doc(alias = "isNaN")]
    #[track_caller]
    pub fn is_nan(&self) -> Result<NdArray> {
        self.unary(UnaryOp::IsNan)
    }

    /// [`is_nan`](Self::is_nan) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`is_nan`](Self::is_nan); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn is_nan_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::IsNan, "is_nan_into", out)
    }

    /// A mask that is true where an element is plus or minus infinity.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn is_inf(&self) -> Result<NdArray> {
        self.unary(UnaryOp::IsInf)
    }

    /// [`is_inf`](Self::is_inf) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`is_inf`](Self::is_inf); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn is_inf_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::IsInf, "is_inf_into", out)
    }

    /// A mask that is true where an element is neither infinite nor NaN.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn is_finite(&self) -> Result<NdArray> {
        self.unary(UnaryOp::IsFinite)
    }

    /// [`is_finite`](Self::is_finite) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`is_finite`](Self::is_finite); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn is_finite_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::IsFinite, "is_finite_into", out)
    }
}
