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

/// [`along`] with a result aside whose axes come in some order.
pub(super) fn run_aside<C: Raised, K: RowKernel<C>>(
    op: &'static str,
    kernel: K,
    inputs: &[(Argument, Operand<'_>)],
    (axis, order): (usize, &[usize]),
    out: Operand<'_>,
) -> Result<(), KernelError> {
    let aside = Aside::new(op, out, order, C::DTYPE)?;
    along::<C, K>(op, kernel, inputs, axis, aside.operand()?)?;
    elementwise::copy(aside.operand()?.into(), out)
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
