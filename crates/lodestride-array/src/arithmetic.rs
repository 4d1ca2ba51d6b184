//! Arithmetic between arrays, and between arrays and numbers.
//!
//! Every op has three forms: `add` returns a new array, `addi` changes this one, `add_into` writes one you have.

use lodestride_kernels::BinaryOp;

use crate::NdArray;
use crate::arg::Arg;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::Result;

impl NdArray {
    /// The sum with a number or an array; integers wrap, of bools it is "or".
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(a.add(&NdArray::from([10.0f32, 20.0]))?.to_vec::<f32>()?, [11.0, 22.0, 13.0, 24.0]);
    /// assert_eq!(a.add(1)?.to_vec::<f32>()?, [2.0, 3.0, 4.0, 5.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn add<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Add, rhs.into())
    }

    /// [`add`](Self::add) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn addi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::Add, "addi", rhs.into())
    }

    /// [`add`](Self::add) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`add`](Self::add); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn add_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Add, "add_into", rhs.into(), out)
    }

    /// This array minus a number or an array; integers wrap.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast,
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays.
    #[track_caller]
    pub fn sub<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Sub, rhs.into())
    }

    /// [`sub`](Self::sub) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn subi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::Sub, "subi", rhs.into())
    }

    /// [`sub`](Self::sub) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`sub`](Self::sub); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn sub_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Sub, "sub_into", rhs.into(), out)
    }

    /// The product with a number or an array, element by element; integers wrap, of bools it is "and".
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[track_caller]
    pub fn mul<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Mul, rhs.into())
    }

    /// [`mul`](Self::mul) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn muli<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::Mul, "muli", rhs.into())
    }

    /// [`mul`](Self::mul) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`mul`](Self::mul); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn mul_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Mul, "mul_into", rhs.into(), out)
    }

    /// This array divided by a number or an array; the true quotient, of integers it is f64.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[track_caller]
    pub fn div<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Div, rhs.into())
    }

    /// [`div`](Self::div) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn divi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::Div, "divi", rhs.into())
    }

    /// [`div`](Self::div) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`div`](Self::div); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn div_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Div, "div_into", rhs.into(), out)
    }

    /// A number or an array minus this array: subtraction reversed.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast,
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// assert_eq!(NdArray::from([1.0f32, 2.0]).rsub(10.0)?.to_vec::<f32>()?, [9.0, 8.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn rsub<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::RSub, rhs.into())
    }

    /// [`rsub`](Self::rsub) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn rsubi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::RSub, "rsubi", rhs.into())
    }

    /// [`rsub`](Self::rsub) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`rsub`](Self::rsub); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn rsub_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::RSub, "rsub_into", rhs.into(), out)
    }

    /// A number or an array divided by this array: division reversed.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[track_caller]
    pub fn rdiv<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::RDiv, rhs.into())
    }

    /// [`rdiv`](Self::rdiv) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn rdivi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::RDiv, "rdivi", rhs.into())
    }

    /// [`rdiv`](Self::rdiv) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`rdiv`](Self::rdiv); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn rdiv_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::RDiv, "rdiv_into", rhs.into(), out)
    }

    /// The quotient rounded down; 0 where an integer is divided by 0.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast,
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays.
    #[doc(alias = "floor_divide")]
    #[track_caller]
    pub fn floor_div<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::FloorDiv, rhs.into())
    }

    /// [`floor_div`](Self::floor_div) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn floor_divi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::FloorDiv, "floor_divi", rhs.into())
    }

    /// [`floor_div`](Self::floor_div) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`floor_div`](Self::floor_div); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn floor_div_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::FloorDiv, "floor_div_into", rhs.into(), out)
    }

    /// What [`floor_div`](Self::floor_div) leaves, with the sign of the divisor, as Python's `%`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast,
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays.
    #[doc(alias = "floorMod")]
    #[track_caller]
    pub fn modulo<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Mod, rhs.into())
    }

    /// [`modulo`](Self::modulo) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn moduloi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::Mod, "moduloi", rhs.into())
    }

    /// [`modulo`](Self::modulo) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`modulo`](Self::modulo); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn modulo_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Mod, "modulo_into", rhs.into(), out)
    }

    /// What division rounded towards zero leaves, with the sign of this array, as Rust's and C's `%`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast,
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays.
    #[track_caller]
    pub fn fmod<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::FMod, rhs.into())
    }

    /// [`fmod`](Self::fmod) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn fmodi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::FMod, "fmodi", rhs.into())
    }

    /// [`fmod`](Self::fmod) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`fmod`](Self::fmod); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn fmod_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::FMod, "fmod_into", rhs.into(), out)
    }

    /// What division rounded to the nearest leaves: the remainder of IEEE 754.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast.
    #[track_caller]
    pub fn remainder<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Remainder, rhs.into())
    }

    /// [`remainder`](Self::remainder) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn remainderi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::Remainder, "remainderi", rhs.into())
    }

    /// [`remainder`](Self::remainder) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`remainder`](Self::remainder); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn remainder_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Remainder, "remainder_into", rhs.into(), out)
    }

    /// This array to the power of a number or an array; integers wrap.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast,
    /// [`ArrayErrorKind::UnsupportedDType`] for bool arrays.
    #[doc(alias = "power")]
    #[track_caller]
    pub fn pow<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<NdArray> {
        self.binary(BinaryOp::Pow, rhs.into())
    }

    /// [`pow`](Self::pow) in place; only the right side broadcasts.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`] when it does not reach this shape, [`ArrayErrorKind::Cast`] when the result is of
    /// a higher kind, [`ArrayErrorKind::OverlappingTarget`] for a broadcast view.
    #[track_caller]
    pub fn powi<'a>(&self, rhs: impl Into<Arg<'a>>) -> Result<&Self> {
        self.binary_in_place(BinaryOp::Pow, "powi", rhs.into())
    }

    /// [`pow`](Self::pow) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`pow`](Self::pow); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn pow_into<'a>(&self, rhs: impl Into<Arg<'a>>, out: &NdArray) -> Result<()> {
        self.binary_into(BinaryOp::Pow, "pow_into", rhs.into(), out)
    }
}
