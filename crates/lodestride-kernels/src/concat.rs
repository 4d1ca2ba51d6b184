//! Joining arrays along an axis. Stacking is joining after each array got a new axis of size one.

use lodestride_buffer::{Argument, Buffer};
use lodestride_shape::Shape;
use smallvec::SmallVec;

use crate::door;
use crate::error::KernelError;
use crate::operand::Operand;
use crate::transfer_joined::transfer_joined;

/// Joins arrays along `axis`: their sizes may differ there and nowhere else. Values are cast to the dtype of `out`.
///
/// # Errors
/// [`KernelError`] when there is nothing to join, the axis is out of range, an input or `out` does not fit, or a buffer
/// cannot be accessed. Nothing is written then.
pub fn concat(inputs: &[Operand<'_>], axis: usize, out: Operand<'_>) -> Result<(), KernelError> {
    const OP: &str = "concat";
    door::check_axis(OP, axis, out.layout().rank())?;
    let mut wanted = Shape::from_slice(out.layout().shape());
    let mut joined = 0;
    for (index, input) in inputs.iter().enumerate() {
        let size = input.layout().shape().get(axis).copied();
        wanted[axis] = size.unwrap_or(out.layout().shape()[axis]);
        input.check_shape(OP, Argument::Input(index), &wanted)?;
        joined += wanted[axis];
    }
    wanted[axis] = joined;
    door::check_output(OP, out, &wanted)?;
    let fits = |x: &Operand<'_>| x.dtype() == out.dtype() && !x.buffer().same_block(out.buffer());
    if inputs.iter().all(fits) {
        return transfer_joined(OP, inputs, axis, &out);
    }
    let mut converted = SmallVec::<[_; 4]>::new();
    for input in inputs {
        converted.push(door::converted(OP, *input, out.dtype())?);
    }
    let mut sources = SmallVec::<[Operand<'_>; 4]>::new();
    for (input, converted) in inputs.iter().zip(&converted) {
        sources.push(door::stand_in(converted.as_ref(), *input)?);
    }
    let mut copies = SmallVec::<[Option<Buffer>; 4]>::new();
    for (index, input) in sources.iter().enumerate() {
        copies.push(door::private_copy(
            OP,
            Argument::Input(index),
            *input,
            &[out],
        )?);
    }
    let mut pieces = SmallVec::<[Operand<'_>; 4]>::new();
    for (source, copy) in sources.iter().zip(&copies) {
        pieces.push(match copy {
            Some(copy) => Operand::new(copy, source.layout(), source.dtype())?,
            None => *source,
        });
    }
    transfer_joined(OP, &pieces, axis, &out)
}
