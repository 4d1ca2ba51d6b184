//! Runs an elementwise call: opens the operands, keeps shared memory apart, and divides the walk among threads. Not
//! generic, compiled once.
//!
//! The rule per operand and run: unit stride and nothing shared with an output, the kernel gets the memory itself; stride
//! 0, it gets one element; everything else (strided, reversed, shared with an output) goes through a tile in the L1
//! cache. So strides, broadcasting, aliasing, other dtypes and fused expressions are one mechanism: a call is a list of
//! steps run tile by tile, and a single operation is a list of one. The walk itself is in `walk.rs`.
#![expect(
    unsafe_code,
    reason = "a source that shares memory with an output is copied through raw pointers"
)]

use crate::crosswise::Crosswise;
use crate::error::{KernelError, Result};
use crate::isa::Level;
use crate::operand::{Open, Operand};
use crate::plan::{Load, Plan};
use crate::threads;
use crate::transfer::Transfer;
use crate::walk::{Place, TILE, Target, Walk};
use lodestride_buffer::{Argument, Buffer};
use lodestride_shape::{Layout, LoopNest, Order, Overlap, overlap};
use smallvec::SmallVec;

/// Runs a plan: opens its operands, then walks them, on several threads where that pays.
///
/// # Errors
/// [`KernelError::Access`] where an operand may not be touched, [`KernelError::Alloc`] where a shared operand cannot be
/// copied aside, [`KernelError::OverlappingOutputs`]. Nothing is written then.
pub(crate) fn run(plan: &Plan<'_, '_>) -> Result<()> {
    let outputs = plan.outputs;
    let inputs: SmallVec<[(Argument, Operand<'_>); 4]> = plan
        .loads
        .iter()
        .filter_map(|load| match *load {
            Load::Array(argument, operand) => Some((argument, operand)),
            Load::Scalar(..) | Load::Environment(_) => None,
        })
        .collect();
    check_outputs(plan.op, outputs)?;
    let open = Open::new(plan.op, outputs, &inputs)?;
    let shape = match outputs.first() {
        Some((_, output)) if output.elements() > 0 => output.shape(),
        _ => return Ok(()),
    };

    // Copies of sources that share memory with an output at other positions; they live until the walk ends.
    let copies = copy_aside(plan.op, outputs, &inputs, &open)?;
    let mut crosswise = Crosswise::new(outputs[0].1.layout());
    let mut places: SmallVec<[Place; 6]> = SmallVec::new();
    let mut strides: SmallVec<[&[isize]; 6]> = SmallVec::new();
    for ((_, output), &start) in outputs.iter().zip(&open.outputs) {
        places.push(place(output, start));
        strides.push(output.layout().strides().as_slice());
    }
    for (index, ((_, input), &start)) in inputs.iter().zip(&open.inputs).enumerate() {
        let mut here = place(input, start.cast_mut());
        let mut layout = input.layout();
        match &copies[index] {
            Shared::Apart => {
                here.gaps = outputs
                    .iter()
                    .all(|(_, output)| !output.buffer().same_block(input.buffer()));
                if here.gaps && crosswise.take(input, places.len(), here.base) {
                    layout = outputs[0].1.layout();
                }
            }
            Shared::InPlace(output) => {
                here.shared = true;
                places[*output].shared = true;
            }
            Shared::Copied(copy) => {
                here.base = copy.start;
                layout = &copy.layout;
            }
        }
        places.push(here);
        strides.push(layout.strides().as_slice());
    }
    let nest = LoopNest::new(shape, &strides);
    let walk = Walk::new(plan, &nest, places, Target::Memory);
    let code = walk.code(Level::current());
    let setup = walk.setup(&code);
    let parts = threads::parts(walk.bytes(), plan.heavy);
    if crosswise.is_any() {
        crosswise.run(&walk, &setup, parts);
    } else if parts == 1 {
        walk.range(&setup, 0..nest.elements());
    } else {
        threads::for_each_part(nest.split(parts, TILE), |range| walk.range(&setup, range));
    }
    Ok(())
}

pub(crate) fn place(operand: &Operand<'_>, start: *mut u8) -> Place {
    let size = operand.dtype().size();
    Place {
        base: start.wrapping_add(operand.layout().offset() * size),
        size,
        shared: false,
        gaps: false,
    }
}

/// Refuses outputs that share elements with each other.
fn check_outputs(op: &'static str, outputs: &[(Argument, Operand<'_>)]) -> Result<()> {
    for (index, (first, a)) in outputs.iter().enumerate() {
        for (second, b) in &outputs[index + 1..] {
            if a.buffer().same_block(b.buffer())
                && overlap(a.layout(), a.dtype().size(), b.layout(), b.dtype().size())
                    != Overlap::Disjoint
            {
                return Err(KernelError::OverlappingOutputs {
                    op,
                    first: *first,
                    second: *second,
                });
            }
        }
    }
    Ok(())
}

/// What an input has to do with the outputs' memory.
enum Shared {
    /// Nothing.
    Apart,
    /// It is the same elements at the same positions as an output, of this number.
    InPlace(usize),
    /// It shared some, and was copied.
    Copied(Copy),
}

/// A dense copy of an input.
struct Copy {
    layout: Layout,
    /// Where the elements begin. The copy is this call's own: its guard may end, for nobody else can write or free it.
    start: *mut u8,
    _memory: Buffer,
}

/// Classifies every input against every output and copies those that overlap at other positions.
fn copy_aside(
    op: &'static str,
    outputs: &[(Argument, Operand<'_>)],
    inputs: &[(Argument, Operand<'_>)],
    open: &Open<'_>,
) -> Result<SmallVec<[Shared; 4]>> {
    let mut all = SmallVec::new();
    for ((argument, input), &start) in inputs.iter().zip(&open.inputs) {
        let mut shared = Shared::Apart;
        for (number, (_, output)) in outputs.iter().enumerate() {
            if !output.buffer().same_block(input.buffer()) {
                continue;
            }
            match overlap(
                output.layout(),
                output.dtype().size(),
                input.layout(),
                input.dtype().size(),
            ) {
                Overlap::Disjoint => {}
                Overlap::Identical => shared = Shared::InPlace(number),
                Overlap::Partial => {
                    shared = copy_of(op, *argument, input, start)?;
                    break;
                }
            }
        }
        all.push(shared);
    }
    Ok(all)
}

/// A dense copy of an opened input.
fn copy_of(
    op: &'static str,
    argument: Argument,
    input: &Operand<'_>,
    start: *const u8,
) -> Result<Shared> {
    let size = input.dtype().size();
    let layout =
        Layout::contiguous(input.shape().clone(), Order::C).map_err(KernelError::shape(op))?;
    let copy =
        Buffer::detached_recycled(input.elements() * size).map_err(KernelError::alloc(op))?;
    let mut guard = copy
        .write()
        .map_err(|source| input.refused(op, argument, source))?;
    let target = guard.as_mut_ptr();
    let base = start.wrapping_add(input.layout().offset() * size);
    let strides = [layout.strides(), input.layout().strides()].map(|strides| strides.as_slice());
    let job = Transfer::new(input.shape(), strides, target, base, size);
    // SAFETY: the input's layout lies inside its opened buffer, which nobody writes yet; the copy is new, so it is nobody else's.
    unsafe { job.run() };
    drop(guard);
    Ok(Shared::Copied(Copy {
        layout,
        start: target,
        _memory: copy,
    }))
}
