//! Elements kept between two numbers: both comparisons in one pass, where maximum and minimum one after the other would read and
//! write a tile between them.

use crate::closure::zip_map;
use crate::elementwise::{Sketch, input_dtype, scalar_fits};
use crate::error::{KernelError, Result};
use crate::isa::Level;
use crate::op::{self, BinaryOp};
use crate::operand::{Input, Operand};
use crate::plan::Action;
use lodestride_buffer::{Argument, DType, Element, Scalar};

/// Writes `min(max(x, low), high)` to `out`, in the dtype of `x` (bounds are weak); NaN stays NaN.
///
/// # Errors
/// As [`binary`](crate::binary).
pub fn clip(x: Input<'_>, low: Scalar, high: Scalar, out: Operand<'_>) -> Result<()> {
    let name = "clip";
    let kind = if low.kind() > high.kind() {
        low.kind()
    } else {
        high.kind()
    };
    let dtype = input_dtype(&x).promote_scalar(kind);
    let unsupported = KernelError::UnsupportedDType { op: name, dtype };
    let Some(compute) = BinaryOp::Max.compute_dtype(dtype) else {
        return Err(unsupported);
    };
    if let Input::Array(x) = &x
        && x.dtype() == dtype
        && out.dtype() == dtype
        && let Some(done) = between(name, *x, low, high, out)
    {
        return done;
    }
    let level = Level::current();
    let (Some(max), Some(min)) = (
        op::binary_kernel(BinaryOp::Max, compute, level),
        op::binary_kernel(BinaryOp::Min, compute, level),
    ) else {
        return Err(unsupported);
    };
    let mut sketch = Sketch::new(name, &out)?;
    let x = sketch.load(Argument::X, &x, compute)?;
    let low = sketch.load(Argument::Y, &Input::Scalar(low), compute)?;
    let high = sketch.load(Argument::Input(2), &Input::Scalar(high), compute)?;
    let raised = sketch.step(Action::Binary(max, x, low), compute);
    let result = sketch.step(Action::Binary(min, raised, high), compute);
    sketch.finish(result, &out, false)
}

/// [`clip`] in the dtype of all; `None`, with nothing done, where there is no such loop or a limit is no number of the dtype.
fn between(
    op: &'static str,
    x: Operand<'_>,
    low: Scalar,
    high: Scalar,
    out: Operand<'_>,
) -> Option<Result<()>> {
    let dtype = x.dtype();
    let is_number = |limit: Scalar| scalar_fits(limit, dtype) && !limit.as_f64().is_nan();
    if !is_number(low) || !is_number(high) {
        return None;
    }
    macro_rules! of {
        ($($Variant:ident $T:ident),*) => {
            match dtype {
                $( DType::$Variant => {
                    let (low, high) = (<$T>::from_scalar(low), <$T>::from_scalar(high));
                    // The limits are moved into the closure: behind a reference every store might change them.
                    let between = move |x: $T| {
                        // Where they are equal the limit is taken, which says whose zero it is.
                        let raised = if x <= low { low } else { x };
                        if raised >= high { high } else { raised }
                    };
                    Some(zip_map(op, &between, [x], out))
                } )*
                DType::Bool | DType::F16 | DType::BF16 => None,
            }
        };
    }
    of!(U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F32 f32, F64 f64)
}
