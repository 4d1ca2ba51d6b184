//! Handing the arrays of an expression to its program.

use lodestride_buffer::Buffer;
use lodestride_kernels::{self as kernels, Input, Program};
use lodestride_shape::{Layout, Shape};
use smallvec::SmallVec;

use crate::NdArray;
use crate::checks::{self, watched};
use crate::error::{OrFail, Result};
use crate::lazy::result_dtype;

/// Runs the program; shapes and dtypes have been checked.
#[track_caller]
pub(crate) fn run(
    op: &'static str,
    program: &Program,
    arrays: &[&NdArray],
    out: &NdArray,
) -> Result<()> {
    let packed = |array: &&NdArray| array.layout().is_packed_like(out.layout());
    let plain = out.dtype() == result_dtype(program) && !checks::are_on();
    if plain && arrays.iter().all(packed) {
        let mut buffers: SmallVec<[&Buffer; 4]> = SmallVec::new();
        for array in arrays {
            buffers.push(array.buffer());
        }
        if program.run_packed(out.len(), &buffers, out.buffer()) {
            return Ok(());
        }
    }
    with_inputs(op, arrays, out.shape(), out, |inputs| {
        program.run(inputs, &[out.operand()])
    })
}

/// Hands the arrays, stretched to a shape they broadcast to, to a program that writes `out`.
#[track_caller]
pub(crate) fn with_inputs(
    op: &'static str,
    arrays: &[&NdArray],
    shape: &Shape,
    out: &NdArray,
    run: impl FnOnce(&[Input<'_>]) -> kernels::Result<()>,
) -> Result<()> {
    let differs = |array: &&&NdArray| array.shape() != shape;
    // Most arrays have the shape already; only the others need a layout of their own.
    let stretched: Vec<Layout> = arrays
        .iter()
        .filter(differs)
        .map(|array| array.layout().broadcast_to(shape))
        .collect::<std::result::Result<_, _>>()
        .or_fail(op)?;
    let mut stretched = stretched.iter();
    let mut inputs: SmallVec<[Input<'_>; 4]> = SmallVec::new();
    for array in arrays {
        let layout = Some(array).filter(differs).and_then(|_| stretched.next());
        inputs.push(Input::from(match layout {
            Some(layout) => array.operand_as(layout),
            None => array.operand(),
        }));
    }
    watched(op, arrays, out, || run(&inputs))
}
