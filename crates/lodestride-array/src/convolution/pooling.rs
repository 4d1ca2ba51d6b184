//! The largest elements of small windows.

use lodestride_kernels::BinaryOp;

use super::{Padding, Windows};
use crate::NdArray;
use crate::error::Result;

/// Elements of a window, along either axis, that are compared as so many arrays.
const FEW: usize = 8;

impl Windows {
    pub(super) fn are_small(&self) -> bool {
        self.kernel.iter().all(|&size| size <= FEW)
    }

    /// Windows of one axis of images that have their padding, one wide along the other.
    fn along(&self, axis: usize) -> Self {
        let only =
            |sizes: [usize; 2]| [0, 1].map(|other| if other == axis { sizes[axis] } else { 1 });
        Self {
            kernel: only(self.kernel),
            stride: only(self.stride),
            dilation: only(self.dilation),
            padding: Padding::Valid,
        }
    }
}

impl NdArray {
    /// The largest element of each window of images that have their padding: first down the columns, where whole rows are
    /// compared, then along the rows.
    #[track_caller]
    pub(super) fn largest_in_windows(
        &self,
        op: &'static str,
        windows: &Windows,
    ) -> Result<NdArray> {
        let rows = self.unfolded(op, &windows.along(0))?;
        let rows = rows.slice(0, 3)?.largest_along(2)?;
        let columns = rows.unfolded(op, &windows.along(1))?;
        columns.slice(0, 2)?.largest_along(2)
    }

    /// The largest elements along an axis of a few, NaN where there is one: all positions of the other axes at a time.
    #[track_caller]
    fn largest_along(&self, axis: isize) -> Result<NdArray> {
        let size = self.size(axis)? as isize;
        let parts = (0..size).map(|place| self.slice(place, axis));
        let parts = parts.collect::<Result<Vec<NdArray>>>()?;
        let mut largest = parts[0].lazy();
        for part in &parts[1..] {
            largest = largest.apply_with(BinaryOp::Max, part);
        }
        largest.eval()
    }
}
