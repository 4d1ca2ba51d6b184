//! Operators: `&a + &b`, `2.0 * &a`, `a += 1.0`, `-&a`, `&mask & &other`, `==`.
//!
//! They panic with the text of the error that the method would return, at the caller's line.

use std::ops::{
    Add, AddAssign, BitAnd, BitOr, BitXor, Div, DivAssign, Mul, MulAssign, Neg, Not, Rem,
    RemAssign, Sub, SubAssign,
};

use lodestride_buffer::with_dtype;
use lodestride_kernels::{BinaryOp, UnaryOp};

use crate::NdArray;
use crate::arg::Arg;
use crate::error::{InOp, Result};
use crate::walk::Elements;

/// The value, or a panic with the error's text at the caller's line.
#[track_caller]
fn expect<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

/// An operator between arrays, owned or borrowed, and between an array and a number on the right.
macro_rules! array_operator {
    ($Trait:ident $method:ident $op:ident: $($number:ty)*) => {
        array_operator!(@ $Trait $method $op, NdArray, NdArray, |rhs| Arg::Array(&rhs));
        array_operator!(@ $Trait $method $op, NdArray, &NdArray, |rhs| Arg::Array(rhs));
        array_operator!(@ $Trait $method $op, &NdArray, NdArray, |rhs| Arg::Array(&rhs));
        array_operator!(@ $Trait $method $op, &NdArray, &NdArray, |rhs| Arg::Array(rhs));
        $(
            array_operator!(@ $Trait $method $op, NdArray, $number, |rhs| Arg::from(rhs));
            array_operator!(@ $Trait $method $op, &NdArray, $number, |rhs| Arg::from(rhs));
        )*
    };
    (@ $Trait:ident $method:ident $op:ident, $Lhs:ty, $Rhs:ty, |$rhs:ident| $arg:expr) => {
        impl $Trait<$Rhs> for $Lhs {
            type Output = NdArray;

            #[track_caller]
            fn $method(self, $rhs: $Rhs) -> NdArray {
                expect(self.binary(BinaryOp::$op, $arg))
            }
        }
    };
}

array_operator!(Add add Add: f32 f64 i32 i64);
array_operator!(Sub sub Sub: f32 f64 i32 i64);
array_operator!(Mul mul Mul: f32 f64 i32 i64);
array_operator!(Div div Div: f32 f64 i32 i64);
array_operator!(Rem rem Mod: f32 f64 i32 i64);
array_operator!(BitAnd bitand BitAnd: bool i32 i64);
array_operator!(BitOr bitor BitOr: bool i32 i64);
array_operator!(BitXor bitxor BitXor: bool i32 i64);

/// An operator with a number on the left: the reversed op on the array.
macro_rules! number_operator {
    ($Trait:ident $method:ident $op:ident: $($number:ty)*) => {$(
        impl $Trait<NdArray> for $number {
            type Output = NdArray;

            #[track_caller]
            fn $method(self, rhs: NdArray) -> NdArray {
                expect(rhs.binary(BinaryOp::$op, Arg::from(self)))
            }
        }

        impl $Trait<&NdArray> for $number {
            type Output = NdArray;

            #[track_caller]
            fn $method(self, rhs: &NdArray) -> NdArray {
                expect(rhs.binary(BinaryOp::$op, Arg::from(self)))
            }
        }
    )*};
}

number_operator!(Add add Add: f32 f64 i32 i64);
number_operator!(Sub sub RSub: f32 f64 i32 i64);
number_operator!(Mul mul Mul: f32 f64 i32 i64);
number_operator!(Div div RDiv: f32 f64 i32 i64);

/// An assigning operator: the in-place op, seen through every alias of the array.
macro_rules! assign_operator {
    ($Trait:ident $method:ident $op:ident $name:literal: $($number:ty)*) => {
        assign_operator!(@ $Trait $method $op $name, &NdArray, |rhs| Arg::Array(rhs));
        assign_operator!(@ $Trait $method $op $name, NdArray, |rhs| Arg::Array(&rhs));
        $( assign_operator!(@ $Trait $method $op $name, $number, |rhs| Arg::from(rhs)); )*
    };
    (@ $Trait:ident $method:ident $op:ident $name:literal, $Rhs:ty, |$rhs:ident| $arg:expr) => {
        impl $Trait<$Rhs> for NdArray {
            #[track_caller]
            fn $method(&mut self, $rhs: $Rhs) {
                expect(self.binary_in_place(BinaryOp::$op, $name, $arg));
            }
        }
    };
}

assign_operator!(AddAssign add_assign Add "addi": f32 f64 i32 i64);
assign_operator!(SubAssign sub_assign Sub "subi": f32 f64 i32 i64);
assign_operator!(MulAssign mul_assign Mul "muli": f32 f64 i32 i64);
assign_operator!(DivAssign div_assign Div "divi": f32 f64 i32 i64);
assign_operator!(RemAssign rem_assign Mod "moduloi": f32 f64 i32 i64);

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

impl NdArray {
    #[track_caller]
    fn equal_elements(&self, other: &NdArray) -> Result<bool> {
        if self.dtype() != other.dtype() || self.shape() != other.shape() {
            return Ok(false);
        }
        let (a, b) = (
            self.buffer().read().in_op("==", self)?,
            other.buffer().read().in_op("==", other)?,
        );
        Ok(with_dtype!(self.dtype(), T => {
            Elements::new(a.slice::<T>(), self.layout()).eq(Elements::new(b.slice::<T>(), other.layout()))
        }))
    }
}
