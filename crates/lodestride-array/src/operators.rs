//! Operators: `&a + &b`, `2.0 * &a`, `a += 1.0`, `-&a`, `&mask & &other`, `==`.
//!
//! They panic with the text of the error that the method would return, at the caller's line.

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
    Mul, MulAssign, Neg, Not, Rem, RemAssign, Sub, SubAssign,
};

use lodestride_kernels::{BinaryOp, UnaryOp};

use crate::NdArray;
use crate::arg::Arg;
use crate::error::Result;

/// The value, or a panic with the error's text at the caller's line.
#[track_caller]
fn expect<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

/// What may stand on the right of an operator: an array, owned or borrowed, or a plain number.
///
/// One trait and one impl per operator, so that the result is known to be an array before a literal has its type:
/// `(&a * 2.0).sum(0)` needs no annotation.
pub trait Rhs: sealed::Sealed {
    /// The operand as the methods take it.
    fn arg(&self) -> Arg<'_>;
}

mod sealed {
    /// Keeps the list of implementors in this crate.
    pub trait Sealed {}
}

impl sealed::Sealed for NdArray {}
impl Rhs for NdArray {
    fn arg(&self) -> Arg<'_> {
        Arg::Array(self)
    }
}

impl sealed::Sealed for &NdArray {}
impl Rhs for &NdArray {
    fn arg(&self) -> Arg<'_> {
        Arg::Array(self)
    }
}

/// `Rhs` for the plain numbers.
macro_rules! number_operands {
    ($($number:ty),*) => {$(
        impl sealed::Sealed for $number {}
        impl Rhs for $number {
            fn arg(&self) -> Arg<'_> {
                Arg::from(*self)
            }
        }
    )*};
}

number_operands!(bool, u8, i8, u16, i16, u32, i32, u64, i64, usize, f32, f64);

/// An operator with an array on the left, its assigning form, and the form with a number on the left.
///
/// Numbers on the left are `f64` and `i64` only: with more types the result of `2.0 * &a` could not be inferred.
macro_rules! operator {
    ($Trait:ident $method:ident $op:ident) => {
        impl<R: Rhs> $Trait<R> for NdArray {
            type Output = NdArray;

            #[track_caller]
            fn $method(self, rhs: R) -> NdArray {
                expect(self.binary(BinaryOp::$op, rhs.arg()))
            }
        }

        impl<R: Rhs> $Trait<R> for &NdArray {
            type Output = NdArray;

            #[track_caller]
            fn $method(self, rhs: R) -> NdArray {
                expect(self.binary(BinaryOp::$op, rhs.arg()))
            }
        }
    };
    ($Trait:ident $method:ident $op:ident, $Assign:ident $assign:ident $in_place:literal) => {
        operator!($Trait $method $op);

        impl<R: Rhs> $Assign<R> for NdArray {
            #[track_caller]
            fn $assign(&mut self, rhs: R) {
                expect(self.binary_in_place(BinaryOp::$op, $in_place, rhs.arg()));
            }
        }
    };
    ($Trait:ident $method:ident $reversed:ident: $($number:ty),*) => {$(
        impl $Trait<NdArray> for $number {
            type Output = NdArray;

            #[track_caller]
            fn $method(self, rhs: NdArray) -> NdArray {
                expect(rhs.binary(BinaryOp::$reversed, Arg::from(self)))
            }
        }

        impl $Trait<&NdArray> for $number {
            type Output = NdArray;

            #[track_caller]
            fn $method(self, rhs: &NdArray) -> NdArray {
                expect(rhs.binary(BinaryOp::$reversed, Arg::from(self)))
            }
        }
    )*};
}

operator!(Add add Add, AddAssign add_assign "addi");
operator!(Sub sub Sub, SubAssign sub_assign "subi");
operator!(Mul mul Mul, MulAssign mul_assign "muli");
operator!(Div div Div, DivAssign div_assign "divi");
operator!(Rem rem Mod, RemAssign rem_assign "moduloi");
operator!(BitAnd bitand BitAnd, BitAndAssign bitand_assign "bit_andi");
operator!(BitOr bitor BitOr, BitOrAssign bitor_assign "bit_ori");
operator!(BitXor bitxor BitXor, BitXorAssign bitxor_assign "bit_xori");

operator!(Add add Add: f64, i64);
operator!(Sub sub RSub: f64, i64);
operator!(Mul mul Mul: f64, i64);
operator!(Div div RDiv: f64, i64);

impl Neg for NdArray {
    type Output = NdArray;

    #[track_caller]
    fn neg(self) -> NdArray {
        expect(self.unary(UnaryOp::Neg))
    }
}

impl Neg for &NdArray {
    type Output = NdArray;

    #[track_caller]
    fn neg(self) -> NdArray {
        expect(self.unary(UnaryOp::Neg))
    }
}

/// Every bit turned; of a mask, true and false exchanged.
impl Not for &NdArray {
    type Output = NdArray;

    #[track_caller]
    fn not(self) -> NdArray {
        expect(self.unary(UnaryOp::BitNot))
    }
}

/// Every bit turned; of a mask, true and false exchanged.
impl Not for NdArray {
    type Output = NdArray;

    #[track_caller]
    fn not(self) -> NdArray {
        expect(self.unary(UnaryOp::BitNot))
    }
}

/// Equal means: the same shape, dtype and elements, whatever the memory order. NaN equals nothing.
///
/// [`NdArray::all_close`] compares with a tolerance.
///
/// # Panics
/// When the memory of either array is stale or being written.
impl PartialEq for NdArray {
    #[track_caller]
    fn eq(&self, other: &NdArray) -> bool {
        expect(self.equal_elements(other))
    }
}
