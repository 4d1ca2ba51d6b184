//! Results that lie in memory as their operands do, whatever the operands' axes are called: NumPy's order 'K'.

use lodestride_buffer::Argument;
use lodestride_shape::{Layout, Order, Shape};
use smallvec::SmallVec;

use crate::NdArray;
use crate::error::{InOp, OrFail, Result};
use crate::target::Target;

/// The layout of a result of this shape, which the inputs broadcast to.
#[track_caller]
pub(crate) fn kept_of(op: &'static str, shape: &Shape, inputs: &[&NdArray]) -> Result<Layout> {
    let layouts: SmallVec<[&Layout; 4]> = inputs.iter().map(|input| input.layout()).collect();
    Layout::kept_of(shape.clone(), &layouts).or_fail(op)
}

/// The layout of a result of inputs of one shape, of which this is the first.
#[inline]
#[track_caller]
pub(crate) fn kept_among<'l>(
    op: &'static str,
    first: &'l NdArray,
    inputs: &[&NdArray],
    place: &'l mut Option<Layout>,
) -> Result<&'l Layout> {
    match first.order() {
        Some(order) if inputs.iter().all(|input| input.order() == Some(order)) => {
            Ok(first.layout().packed_in(order, place))
        }
        // C order where they contradict each other.
        Some(_) if inputs.iter().all(|input| input.order().is_some()) => {
            Ok(first.layout().packed_in(Order::C, place))
        }
        _ => Ok(place.insert(kept_of(op, first.shape(), inputs)?)),
    }
}

/// Elements of a run that is read as fast as what has no gaps.
const LONG_RUN: usize = 64;

impl NdArray {
    /// A copy in C order for operations that go through their elements in that order, where these do not lie in long runs so.
    #[track_caller]
    pub(crate) fn in_runs(&self) -> Result<Option<NdArray>> {
        let (size, step) = (self.shape().last(), self.layout().strides().last());
        let are_runs = step == Some(&1) && size >= Some(&LONG_RUN);
        if are_runs || self.layout().is_contiguous(Order::C) {
            return Ok(None);
        }
        self.dup_order(Order::C).map(Some)
    }

    /// The layout of a result that this array and another broadcast to.
    #[track_caller]
    pub(crate) fn broadcast_layout(&self, op: &'static str, rhs: &NdArray) -> Result<Layout> {
        let shape = if rhs.shape().broadcasts_to(self.shape()) {
            self
        } else if self.shape().broadcasts_to(rhs.shape()) {
            rhs
        } else {
            return kept_of(op, &self.broadcast_with(op, rhs)?, &[self, rhs]);
        };
        if [self, rhs].map(NdArray::order) == [Some(Order::C); 2] {
            return Ok(shape.layout().packed(Order::C));
        }
        kept_of(op, shape.shape(), &[self, rhs])
    }

    /// What an operation along an axis makes of this array with its axes in the order of memory, its own axes put back in
    /// their places; none where they are in that order already, or the result goes into an array of the caller. Operations are
    /// fastest on arrays in C order.
    #[track_caller]
    pub(crate) fn in_memory_order(
        &self,
        op: &'static str,
        axis: usize,
        target: Target<'_>,
        run: impl FnOnce(&NdArray, isize) -> Result<NdArray>,
    ) -> Option<Result<NdArray>> {
        if matches!(target, Target::Into(_)) {
            return None;
        }
        let order = self.layout().memory_order()?;
        Some(self.in_order(op, axis, &order, run))
    }

    #[track_caller]
    fn in_order(
        &self,
        op: &'static str,
        axis: usize,
        order: &[usize],
        run: impl FnOnce(&NdArray, isize) -> Result<NdArray>,
    ) -> Result<NdArray> {
        // Errors show the array as it was given.
        self.expect_readable(op, Argument::X)?;
        let mut there = SmallVec::<[isize; 8]>::from_elem(0, order.len());
        let mut back = there.clone();
        for (place, &from) in order.iter().enumerate() {
            there[place] = from.cast_signed();
            back[from] = place.cast_signed();
        }
        let turned = self.layout().permute(&there).in_op(op, self)?;
        let made = run(&self.with_layout(turned), back[axis])?;
        let layout = made.layout().permute(&back).in_op(op, &made)?;
        Ok(made.with_layout(layout))
    }
}
