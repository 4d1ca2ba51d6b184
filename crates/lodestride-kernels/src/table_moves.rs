//! `dtype -> function` for what moves elements without an operation on them: choices, fills and conversions.

use crate::inner::Bits;
use crate::isa::{Level, RawKernel};
use crate::table::{Convert, Fill, Select, SelectInPlace, TernaryKernel, unsigned};
use half::{bf16, f16};
use lodestride_buffer::{Bool, DType};

/// `dst = cond ? a : b` over elements of a size; `cond` is of dtype bool.
pub(crate) fn select_kernel(size: usize, level: Level) -> TernaryKernel {
    fn of<T: Bits>(level: Level) -> TernaryKernel {
        TernaryKernel {
            map: level.kernel::<Select<T>>(),
            in_place: Some(level.kernel::<SelectInPlace<T>>()),
        }
    }
    match size {
        1 => of::<u8>(level),
        2 => of::<u16>(level),
        4 => of::<u32>(level),
        _ => of::<u64>(level),
    }
}

/// `dst = *a` over elements of a size.
pub(crate) fn fill_kernel(size: usize, level: Level) -> RawKernel {
    match size {
        1 => level.kernel::<Fill<u8>>(),
        2 => level.kernel::<Fill<u16>>(),
        4 => level.kernel::<Fill<u32>>(),
        _ => level.kernel::<Fill<u64>>(),
    }
}

/// `dst = a` from one dtype to another; also the copy of a dtype to itself (which makes `bool` bytes 0 or 1).
pub(crate) fn cast_kernel(from: DType, to: DType, level: Level) -> RawKernel {
    // Between integers signs matter only to what is made wider, and then only that of the narrower.
    let (from, to) = if from.is_float() || to.is_float() {
        (from, to)
    } else if to.size() > from.size() {
        (from, unsigned(to))
    } else {
        (unsigned(from), unsigned(to))
    };
    macro_rules! pairs {
        ($($S:ident $s:ident: $($D:ident $d:ident),*;)*) => {
            match (from, to) {
                $( $( (DType::$S, DType::$D) => level.kernel::<Convert<$s, $d>>(), )* )*
                // All that is left.
                _ => level.kernel::<Convert<u64, u64>>(),
            }
        };
    }
    pairs! {
        Bool Bool: Bool Bool, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64;
        U8 u8: Bool Bool, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64;
        U16 u16: Bool Bool, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64;
        U32 u32: Bool Bool, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64;
        U64 u64: Bool Bool, U8 u8, U16 u16, U32 u32, F16 f16, BF16 bf16, F32 f32, F64 f64;
        I8 i8: U16 u16, U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64;
        I16 i16: U32 u32, U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64;
        I32 i32: U64 u64, F16 f16, BF16 bf16, F32 f32, F64 f64;
        I64 i64: F16 f16, BF16 bf16, F32 f32, F64 f64;
        F16 f16: Bool Bool, U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F16 f16, BF16 bf16, F32 f32, F64 f64;
        BF16 bf16: Bool Bool, U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F16 f16, BF16 bf16, F32 f32, F64 f64;
        F32 f32: Bool Bool, U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F16 f16, BF16 bf16, F32 f32, F64 f64;
        F64 f64: Bool Bool, U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F16 f16, BF16 bf16, F32 f32, F64 f64;
    }
}
