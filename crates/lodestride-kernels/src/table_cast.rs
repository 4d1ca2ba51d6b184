//! `(dtype, dtype) -> loop` of conversions: `table.rs` for a pair of dtypes.

use crate::isa::{Level, RawKernel};
use crate::scalar::cast::Cast;
use crate::table::Convert;
use half::{bf16, f16};
use lodestride_buffer::{Bool, DType, Element};

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
