//! When a reduction of a small array goes the shortest way: gap-free elements of the dtype it computes in, all of them or the axes at one
//! end, and nobody who watches results.

use std::ops::Range;

use lodestride_buffer::Scalar;
use lodestride_kernels::ReduceOp;
use lodestride_shape::{Axes, Order};

use crate::NdArray;
use crate::checks;

impl NdArray {
    /// All elements reduced to a number the shortest way, where there is one.
    #[inline]
    pub(super) fn packed_number(&self, op: ReduceOp) -> Option<Scalar> {
        let plain = self.layout().is_packed_like(self.layout()) && !checks::are_on();
        plain.then(|| op.of_packed(self.dtype(), self.len(), self.buffer()))?
    }

    /// The sizes of a matrix that goes the shortest way along one axis, that axis, and the axes of this array that are so: those at one
    /// end; the others are the other axis.
    #[inline]
    pub(super) fn packed_matrix(
        &self,
        op: ReduceOp,
        axes: &Axes,
    ) -> Option<([usize; 2], usize, Range<usize>)> {
        let run = axes.at_an_end(self.rank())?;
        let (cut, axis) = if run.start == 0 {
            (run.end, 0)
        } else {
            (run.start, 1)
        };
        let (front, back) = self.shape().split_at_checked(cut)?;
        let size = |sizes: &[usize]| {
            sizes
                .iter()
                .fold(1_usize, |all, size| all.saturating_mul(*size))
        };
        let (sizes, layout) = ([size(front), size(back)], self.layout());
        let plain = layout.is_packed_like(layout) && layout.order() == Some(Order::C);
        let suits = plain && !checks::are_on() && op.suits_packed_matrix(self.dtype(), sizes, axis);
        suits.then_some((sizes, axis, run))
    }
}
