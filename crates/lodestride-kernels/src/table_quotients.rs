//! The loops that true division of integers has of its own: they are made f64 in registers. By way of tiles of f64 the results of
//! short integers took half as long again.

use crate::isa::{Arch, Level};
use crate::known::{Known, Loops};
use crate::scalar::Binary;
use crate::table::{BinaryKernel, Zip};
use lodestride_buffer::{DType, Element};

/// `x / y` as f64.
struct Quotient;

impl<T: Element + Into<f64>> Binary<T> for Quotient {
    type Out = f64;

    #[inline(always)]
    fn apply<A: Arch>(x: T, y: T) -> f64 {
        x.into() / y.into()
    }
}

/// The loops for integers of a dtype, worked out once per process. Those of 64 bits are not made f64 by one instruction.
#[inline]
pub(crate) fn kernel(dtype: DType, level: Level) -> Option<&'static BinaryKernel> {
    static KNOWN: Known<BinaryKernel, 1> = Known::new();
    let make = || {
        let zip = match dtype {
            DType::U8 => level.narrow_kernel::<Zip<Quotient, u8>>(),
            DType::I8 => level.narrow_kernel::<Zip<Quotient, i8>>(),
            DType::U16 => level.narrow_kernel::<Zip<Quotient, u16>>(),
            DType::I16 => level.narrow_kernel::<Zip<Quotient, i16>>(),
            DType::U32 => level.narrow_kernel::<Zip<Quotient, u32>>(),
            DType::I32 => level.narrow_kernel::<Zip<Quotient, i32>>(),
            _ => return None,
        };
        let kernel = BinaryKernel {
            out: DType::F64,
            heavy: false,
            zip,
            zip_in_place: None,
            zip_scalar: None,
            zip_scalar_in_place: None,
            scalar_zip: None,
        };
        Some(Loops {
            compute: dtype,
            kernel,
        })
    };
    let loops = KNOWN.loops(0, dtype, level, make)?;
    Some(&loops.kernel)
}
