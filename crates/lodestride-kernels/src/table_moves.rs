//! `dtype -> function` for what moves elements without an operation on them: choices, fills and conversions.

use crate::inner::Bits;
use crate::isa::{Level, RawKernel};
use crate::scalar::cast::Cast;
use crate::table::{Convert, Fill, Select, SelectInPlace, TernaryKernel};
use half::{bf16, f16};
use lodestride_buffer::{Bool, DType, Element};

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

/// `dst = a` from one dtype to another (between integers for the baseline only: moving them is bound by memory); also the copy of a dtype to itself (which makes `bool` bytes 0 or 1).
pub(crate) fn cast_kernel(from: DType, to: DType, level: Level) -> RawKernel {
    macro_rules! rows {
        ($($S:ident $s:ty),*) => {
            match from { $( DType::$S => to_kernel::<$s>(to, level), )* }
        };
    }
    rows!(Bool Bool, U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F16 f16, BF16 bf16, F32 f32, F64 f64)
}

/// A type that converts to every other.
trait CastAny:
    Cast<Bool>
    + Cast<u8>
    + Cast<i8>
    + Cast<u16>
    + Cast<i16>
    + Cast<u32>
    + Cast<i32>
    + Cast<u64>
    + Cast<i64>
    + Cast<f16>
    + Cast<bf16>
    + Cast<f32>
    + Cast<f64>
{
}

macro_rules! cast_any {
    ($($T:ty),*) => { $( impl CastAny for $T {} )* };
}

cast_any! { Bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64 }

fn to_kernel<S: CastAny>(to: DType, level: Level) -> RawKernel {
    macro_rules! columns {
        ($($D:ident $d:ty),*) => {
            match to {
                $( DType::$D => {
                    if const { S::DTYPE.is_float() || <$d as Element>::DTYPE.is_float() } {
                        level.kernel::<Convert<S, $d>>()
                    } else {
                        Level::baseline_kernel::<Convert<S, $d>>()
                    }
                } )*
            }
        };
    }
    columns!(Bool Bool, U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F16 f16, BF16 bf16, F32 f32, F64 f64)
}
