//! Powers whose exponent is known before the loop and that take fewer steps than a power: squares, cubes, roots, inverses.
//!
//! Cubes are within 1.3 units in the last place, the others are rounded once; the special cases are those of powers.

use crate::elementwise::unary_by;
use crate::error::Result;
use crate::isa::{Arch, Level};
use crate::op::{BinaryOp, UnaryOp, unary_kernel};
use crate::operand::{Input, Output};
use crate::scalar::Unary;
use crate::scalar::float::Float;
use crate::table::{self, UnaryKernel};
use crate::table_cast;
use lodestride_buffer::{DType, Element, Scalar};

/// The loops over `x` of its power by `y`, computed in `compute`, where `y` is such an exponent.
pub(crate) fn known_power(y: Scalar, compute: DType, level: Level) -> Option<UnaryKernel> {
    let float = compute.is_float();
    let same = match y.as_f64() {
        1.0 => table_cast::cast_kernel(compute, compute, level),
        2.0 => return unary_kernel(UnaryOp::Square, compute, level),
        3.0 => return unary_kernel(UnaryOp::Cube, compute, level),
        -1.0 if float => return unary_kernel(UnaryOp::Reciprocal, compute, level),
        0.5 => return table::unary::light::float::<Half>(compute, level),
        _ => return None,
    };
    Some(UnaryKernel {
        out: compute,
        heavy: false,
        map: same,
        in_place: None,
    })
}

/// A power by a number that takes fewer steps; false, with nothing done, by any other. Out of line: small calls of other
/// operations pay nothing for it.
#[inline(never)]
pub(crate) fn by_known_power<'a>(
    y: Scalar,
    compute: DType,
    x: &Input<'a>,
    out: &mut Output<'a>,
) -> Result<bool> {
    let Some(kernel) = known_power(y, compute, Level::current()) else {
        return Ok(false);
    };
    unary_by(BinaryOp::Pow.name(), &kernel, compute, x, out)?;
    Ok(true)
}

/// `x` to the power 1/2: the root but for negative zero and infinity.
#[derive(Clone, Copy, Debug)]
struct Half;

impl<T: Element + Float> Unary<T> for Half {
    type Out = T;

    #[inline(always)]
    fn apply<A: Arch>(x: T) -> T {
        let root = (x + T::ZERO).root();
        if x == -T::INFINITY { -x } else { root }
    }
}
