//! Bits of integers and bools.

use lodestride_kernels::{BinaryOp, UnaryOp};

use crate::NdArray;
use crate::arg::Arg;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;

impl NdArray {
    /// The bits both elements have.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast,
    /// [`ArrayErrorKind::UnsupportedDType`] for float arrays.
    #[track_caller]
    pub fn bit_and<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::BitAnd, rhs.into())
    }

    /// [`bit_and`](Self::bit_and) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn bit_andi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::BitAnd, "bit_andi", rhs.into())
    }

    /// [`bit_and`](Self::bit_and) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`bit_and`](Self::bit_and); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn bit_and_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::BitAnd, "bit_and_into", rhs.into(), out)
    }

    /// The bits either element has.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast,
    /// [`ArrayErrorKind::UnsupportedDType`] for float arrays.
    #[track_caller]
    pub fn bit_or<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::BitOr, rhs.into())
    }

    /// [`bit_or`](Self::bit_or) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn bit_ori<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::BitOr, "bit_ori", rhs.into())
    }

    /// [`bit_or`](Self::bit_or) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`bit_or`](Self::bit_or); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn bit_or_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::BitOr, "bit_or_into", rhs.into(), out)
    }

    /// The bits exactly one element has.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast,
    /// [`ArrayErrorKind::UnsupportedDType`] for float arrays.
    #[track_caller]
    pub fn bit_xor<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::BitXor, rhs.into())
    }

    /// [`bit_xor`](Self::bit_xor) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn bit_xori<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::BitXor, "bit_xori", rhs.into())
    }

    /// [`bit_xor`](Self::bit_xor) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`bit_xor`](Self::bit_xor); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn bit_xor_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::BitXor, "bit_xor_into", rhs.into(), out)
    }

    /// The bits of this array moved up; 0 where they are moved by their number or more.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast,
    /// [`ArrayErrorKind::UnsupportedDType`] for float and bool arrays.
    #[track_caller]
    pub fn shift_left<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::ShiftLeft, rhs.into())
    }

    /// [`shift_left`](Self::shift_left) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn shift_lefti<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::ShiftLeft, "shift_lefti", rhs.into())
    }

    /// [`shift_left`](Self::shift_left) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`shift_left`](Self::shift_left); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn shift_left_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::ShiftLeft, "shift_left_into", rhs.into(), out)
    }

    /// The bits of this array moved down, keeping the sign.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast,
    /// [`ArrayErrorKind::UnsupportedDType`] for float and bool arrays.
    #[track_caller]
    pub fn shift_right<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::ShiftRight, rhs.into())
    }

    /// [`shift_right`](Self::shift_right) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn shift_righti<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::ShiftRight, "shift_righti", rhs.into())
    }

    /// [`shift_right`](Self::shift_right) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`shift_right`](Self::shift_right); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn shift_right_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::ShiftRight, "shift_right_into", rhs.into(), out)
    }

    /// Every element with every bit turned; of bools the logical "not".
    ///
    /// # Errors
    /// [`ArrayErrorKind::UnsupportedDType`] for float arrays, [`ArrayErrorKind::Kernel`] for a stale array.
    #[track_caller]
    pub fn bit_not(&self) -> Result<NdArray> {
        self.unary(UnaryOp::BitNot)
    }

    /// [`bit_not`](Self::bit_not) in place.
    ///
    /// # Errors
    /// As [`bit_not`](Self::bit_not).
    #[track_caller]
    pub fn bit_noti(&self) -> Result<&Self> {
        self.unary_in_place(UnaryOp::BitNot, "bit_noti")
    }

    /// [`bit_not`](Self::bit_not) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`bit_not`](Self::bit_not); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn bit_not_into(&self, out: &NdArray) -> Result<()> {
        self.unary_into(UnaryOp::BitNot, "bit_not_into", out)
    }
}
