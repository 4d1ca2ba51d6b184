//! Results and inputs that kernels cannot take as they lie: dense arrays aside.

use lodestride_buffer::{Argument, Buffer, DType};
use lodestride_shape::{Layout, Order};
use smallvec::SmallVec;

use super::{RowKernel, along};
use crate::elementwise;
use crate::error::KernelError;
use crate::operand::Operand;
use crate::reduce_plan::insert_by;
use crate::scalar::raised::Raised;
use crate::threads;

/// Bytes of a part of a result that stays in the second-level cache while it is read, worked on and copied.
const PART: usize = 64 << 10;
/// Elements of the parts of a row, where there are such.
const ROW: usize = 512;

/// The axes from the largest step to the smallest; those of size 1 come first.
pub(super) fn step_order(layout: &Layout) -> SmallVec<[usize; 6]> {
    let (shape, strides) = (layout.shape(), layout.strides());
    let mut order = SmallVec::<[usize; 6]>::new();
    for axis in 0..layout.rank() {
        let key = |axis: usize| {
            let step = strides[axis].unsigned_abs();
            (shape[axis] > 1, std::cmp::Reverse(step))
        };
        insert_by(&mut order, axis, |&other, &axis| key(other) <= key(axis));
    }
    order
}

/// Whether axes in such an order cover memory without gaps.
pub(super) fn is_dense(layout: &Layout, order: &[usize]) -> bool {
    let (shape, strides) = (layout.shape(), layout.strides());
    let mut expected = 1;
    for &axis in order.iter().rev().filter(|&&axis| shape[axis] > 1) {
        if strides[axis] != expected {
            return false;
        }
        expected *= shape[axis] as isize;
    }
    true
}

/// [`along`] with a result aside whose axes come in some order; where one thread does it all, part by part.
pub(super) fn run_aside<C: Raised, K: RowKernel<C>>(
    op: &'static str,
    kernel: K,
    inputs: &[(Argument, Operand<'_>)],
    (axis, order): (usize, &[usize]),
    out: Operand<'_>,
) -> Result<(), KernelError> {
    let size = C::DTYPE.size();
    in_parts(op, inputs, (axis, order, size), out, &|inputs, out| {
        let aside = Aside::new(op, out, order, C::DTYPE)?;
        along::<C, K>(op, kernel, inputs, axis, aside.operand()?)?;
        elementwise::copy(aside.operand()?.into(), out)
    })
}

/// What is done to inputs and a result.
type Run<'r> = dyn Fn(&[(Argument, Operand<'_>)], Operand<'_>) -> Result<(), KernelError> + 'r;

/// Runs the parts of an operation along an axis whose elements are worked on as so many bytes, or all of it at once.
#[inline(never)]
fn in_parts(
    op: &'static str,
    inputs: &[(Argument, Operand<'_>)],
    (axis, order, size): (usize, &[usize], usize),
    out: Operand<'_>,
    run: &Run<'_>,
) -> Result<(), KernelError> {
    let bytes = out.elements() * size;
    let is_shared = |&(_, x): &(Argument, Operand<'_>)| x.buffer().same_block(out.buffer());
    let is_one =
        bytes <= PART || threads::parts(2 * bytes, true) > 1 || inputs.iter().any(is_shared);
    let mut others = order.iter().copied();
    let Some(split) = others.find(|&other| other != axis && out.shape()[other] > 1 && !is_one)
    else {
        return run(inputs, out);
    };
    let size = out.shape()[split];
    // Parts of rows are no shorter than what is copied fast.
    let least = if order.last() == Some(&split) { ROW } else { 1 };
    let step = (PART / (bytes / size)).max(least);
    for first in (0..size).step_by(step) {
        let part = |x: Operand<'_>| {
            let mut shape = x.shape().clone();
            shape[split] = step.min(size - first);
            let from = first as isize * x.layout().strides()[split];
            let offset = x.layout().offset().wrapping_add_signed(from);
            Layout::new(shape, x.layout().strides().clone(), offset).map_err(KernelError::shape(op))
        };
        let (out_part, mut layouts) = (part(out)?, SmallVec::<[Layout; 2]>::new());
        for &(_, x) in inputs {
            layouts.push(part(x)?);
        }
        let mut parts = SmallVec::<[(Argument, Operand<'_>); 2]>::new();
        for (&(argument, x), layout) in inputs.iter().zip(&layouts) {
            parts.push((argument, Operand::new(x.buffer(), layout, x.dtype())?));
        }
        run(&parts, Operand::new(out.buffer(), &out_part, out.dtype())?)?;
    }
    Ok(())
}

/// A dense array of the walk's own, with its axes in a given memory order.
#[derive(Debug)]
pub(crate) struct Aside {
    buffer: Buffer,
    layout: Layout,
    dtype: DType,
}

impl Aside {
    pub(crate) fn new(
        op: &'static str,
        like: Operand<'_>,
        order: &[usize],
        dtype: DType,
    ) -> Result<Self, KernelError> {
        let fail = KernelError::shape(op);
        let sorted: lodestride_shape::Shape =
            order.iter().map(|&axis| like.shape()[axis]).collect();
        let mut back: SmallVec<[isize; 6]> = SmallVec::from_elem(0, order.len());
        for (position, &axis) in order.iter().enumerate() {
            back[axis] = position as isize;
        }
        let layout = Layout::contiguous(sorted, Order::C)
            .and_then(|layout| layout.permute(&back))
            .map_err(fail)?;
        let buffer =
            Buffer::recycled(layout.elements() * dtype.size()).map_err(KernelError::alloc(op))?;
        Ok(Self {
            buffer,
            layout,
            dtype,
        })
    }

    pub(crate) fn operand(&self) -> Result<Operand<'_>, KernelError> {
        Operand::new(&self.buffer, &self.layout, self.dtype)
    }
}
