//! Elements kept between two numbers: both comparisons in one pass, where maximum and minimum one after the other would read and
//! write a tile between them.

use crate::closure::zip_map;
use crate::elementwise::{Sketch, input_dtype, scalar_fits};
use crate::error::{KernelError, Result};
use crate::isa::Level;
use crate::op::{self, BinaryOp};
use crate::operand::{Input, Operand};
use crate::plan::Action;
use crate::rank::complemented;
use lodestride_buffer::{Argument, DType, Element, Scalar, bf16, f16};

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
        ($($Variant:ident $T:ident),*; $($Half:ident $H:ident),*) => {
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
                $( DType::$Half => {
                    let limits = [low, high].map(<$H>::from_scalar).map(<$H>::to_bits);
                    let [low, high] = ranks_of(limits)?;
                    let infinity = <$H>::INFINITY.to_bits();
                    let between = move |x: $H| {
                        <$H>::from_bits(half_between(x.to_bits(), low, high, infinity))
                    };
                    Some(zip_map(op, &between, [x], out))
                } )*
                DType::Bool => None,
            }
        };
    }
    of!(U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F32 f32, F64 f64; F16 f16, BF16 bf16)
}

/// The ranks of two limits. None for zeros of another sign than a number beside them may have, which would be kept.
fn ranks_of(limits: [u16; 2]) -> Option<[i16; 2]> {
    let [low, high] = limits.map(|bits| complemented(bits.cast_signed()));
    // Negative zero comes just before zero.
    (low != -1 && high != 0).then_some([low, high])
}

/// The bits of the half that is within the limits of these ranks; those of NaN, which are more than infinity's, stay. In 16-bit lanes,
/// where conversions would take two of 32 bits for each.
#[inline(always)]
fn half_between(bits: u16, low: i16, high: i16, infinity: u16) -> u16 {
    let within = complemented(bits.cast_signed()).max(low).min(high);
    if bits & 0x7fff > infinity {
        bits
    } else {
        complemented(within).cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lodestride_buffer::Buffer;
    use lodestride_shape::{Layout, Order};

    /// Every number of a dtype of halves, beside limits of which some are zeros, infinities and none at all.
    fn check<H: Element + Copy>(bits: fn(H) -> u16, of: fn(u16) -> H, wrong: &mut Vec<String>) {
        let all: Vec<H> = (0..=u16::MAX).map(of).collect();
        let number = |x: H| x.to_scalar().as_f64();
        let layout = Layout::contiguous([all.len()], Order::C).unwrap();
        let x = Buffer::from_vec(all.clone()).unwrap();
        let out = Buffer::zeroed(2 * all.len()).unwrap();
        let operand = |buffer| Operand::new(buffer, &layout, H::DTYPE).unwrap();
        let limits = [
            (-1.5, 2.5),
            (0.0, 6.0),
            (-0.0, 6.0),
            (-3.0, 0.0),
            (-3.0, -0.0),
            (0.2, 0.2),
            (3.0, 1.0),
            (f64::NEG_INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, 1e-7),
        ];
        for (low, high) in limits {
            let given = [low, high].map(Scalar::Float);
            clip(operand(&x).into(), given[0], given[1], operand(&out)).unwrap();
            let [low, high] = given.map(|limit| limit.cast::<H>());
            let found = out.read().unwrap();
            for (&x, &found) in all.iter().zip(found.slice::<H>()) {
                let raised = if number(x) <= number(low) { low } else { x };
                let expected = if number(raised) >= number(high) {
                    high
                } else {
                    raised
                };
                let same = if number(x).is_nan() {
                    number(found).is_nan()
                } else {
                    bits(found) == bits(expected)
                };
                if !same {
                    let (x, found) = (bits(x), bits(found));
                    wrong.push(format!("{} {x:x} {given:?}: {found:x}", H::DTYPE));
                }
            }
        }
    }

    #[test]
    fn every_half_is_clipped_as_its_number_is() {
        let mut wrong = Vec::new();
        check(f16::to_bits, f16::from_bits, &mut wrong);
        check(bf16::to_bits, bf16::from_bits, &mut wrong);
        wrong.truncate(20);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
