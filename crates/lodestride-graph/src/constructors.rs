//! Theano's short names for input variables: `dmatrix("x")`, `lscalar("n")`, and the general forms.

use crate::error::Span;
use crate::ty::{Dim, LodType, Type};
use crate::variable::{Kind, Variable};
use lodestride_array::DType;
use std::panic::Location;

/// An input of any dense type.
///
/// ```
/// use lodestride_graph::{DType, Dim, tensor};
/// let images = tensor("images", DType::U8, [Dim::symbol("batch"), Dim::Known(28), Dim::Known(28)]);
/// assert_eq!(images.ty().to_string(), "TensorType(u8, (batch, 28, 28))");
/// ```
#[track_caller]
pub fn tensor<'a, D: Into<Dim>>(
    name: impl Into<Option<&'a str>>,
    dtype: DType,
    dims: impl IntoIterator<Item = D>,
) -> Variable {
    Variable::with_kind(
        Type::tensor(dtype, dims),
        Kind::Plain,
        name.into(),
        Span(Location::caller()),
    )
}

/// A ragged input: rows of shape `row_shape` in `lod_level` levels of sequences.
///
/// ```
/// use lodestride_graph::{DType, lod};
/// let words = lod("words", DType::F32, [12usize], 1);
/// assert_eq!(words.ty().to_string(), "LodType(f32, (?, 12), lod_level=1)");
/// ```
#[track_caller]
pub fn lod<'a, D: Into<Dim>>(
    name: impl Into<Option<&'a str>>,
    dtype: DType,
    row_shape: impl IntoIterator<Item = D>,
    lod_level: usize,
) -> Variable {
    let ty = LodType::new(dtype, row_shape, lod_level).into();
    Variable::with_kind(ty, Kind::Plain, name.into(), Span(Location::caller()))
}

/// One function per dtype and pattern, all of them one line of this list.
macro_rules! constructors {
    ($($dtype:expr, $label:literal: $scalar:ident $vector:ident $matrix:ident $row:ident $col:ident $t3:ident $t4:ident;)*) => {$(
        constructor! { $scalar, $dtype, $label, [], "of rank 0" }
        constructor! { $vector, $dtype, $label, [false], "of rank 1" }
        constructor! { $matrix, $dtype, $label, [false, false], "of rank 2" }
        constructor! { $row, $dtype, $label, [true, false], "of one row (rank 2, first length 1)" }
        constructor! { $col, $dtype, $label, [false, true], "of one column (rank 2, second length 1)" }
        constructor! { $t3, $dtype, $label, [false, false, false], "of rank 3" }
        constructor! { $t4, $dtype, $label, [false, false, false, false], "of rank 4" }
    )*};
}

macro_rules! constructor {
    ($function:ident, $dtype:expr, $label:literal, $pattern:expr, $words:literal) => {
        #[doc = concat!("An input ", $words, " of ", $label, ".")]
        #[track_caller]
        pub fn $function<'a>(name: impl Into<Option<&'a str>>) -> Variable {
            let pattern: [bool; _] = $pattern;
            let ty = Type::tensor($dtype, pattern);
            Variable::with_kind(ty, Kind::Plain, name.into(), Span(Location::caller()))
        }
    };
}

constructors! {
    DType::default(), "the default dtype (f32 unless configured)": scalar vector matrix row col tensor3 tensor4;
    DType::I8, "i8": bscalar bvector bmatrix brow bcol btensor3 btensor4;
    DType::I16, "i16": wscalar wvector wmatrix wrow wcol wtensor3 wtensor4;
    DType::I32, "i32": iscalar ivector imatrix irow icol itensor3 itensor4;
    DType::I64, "i64": lscalar lvector lmatrix lrow lcol ltensor3 ltensor4;
    DType::F32, "f32": fscalar fvector fmatrix frow fcol ftensor3 ftensor4;
    DType::F64, "f64": dscalar dvector dmatrix drow dcol dtensor3 dtensor4;
}
