//! What methods of one axis do, along several axes at once: moving, squeezing, inserting, rolling.

use lodestride_buffer::Argument;
use lodestride_kernels as kernels;
use lodestride_shape::{Axes, ShapeError, normalize_axis};
use smallvec::SmallVec;

use crate::NdArray;
use crate::arg::IndexList;
use crate::arrange::rolled_halves;
use crate::checks::Watch;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::{InOp, OrFail, Result};
use crate::target::Target;

impl NdArray {
    /// A view with several axes moved: axis `from[i]` becomes axis `to[i]`, the others keep their order.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong or repeated axis, or lists of different lengths.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([2, 3, 4])?.move_axes([0, 1], [-1, -2])?;
    /// assert_eq!(a.shape()[..], [4, 3, 2]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "moveaxis")]
    #[track_caller]
    pub fn move_axes(&self, from: impl IndexList, to: impl IndexList) -> Result<NdArray> {
        const OP: &str = "move_axes";
        let from = distinct(&from.indices(), self.rank()).in_op(OP, self)?;
        let to = distinct(&to.indices(), self.rank()).in_op(OP, self)?;
        if from.len() != to.len() {
            let (given, rank) = (to.len(), from.len());
            return Err(ShapeError::AxisCount { given, rank }).in_op(OP, self);
        }
        let mut order: SmallVec<[isize; 6]> = (0..self.rank())
            .filter(|axis| !from.contains(axis))
            .map(|axis| axis as isize)
            .collect();
        let mut moves: SmallVec<[(usize, usize); 6]> = to.into_iter().zip(from).collect();
        moves.sort_unstable();
        for (to, from) in moves {
            order.insert(to, from as isize);
        }
        Ok(self.with_layout(self.layout().permute(&order).in_op(OP, self)?))
    }

    /// A view without several axes, all of which must have size 1. [`squeeze_all`](Self::squeeze_all) drops every such axis.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis or one of another size.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([1, 3, 1, 1])?;
    /// assert_eq!(a.squeeze_axes([0, -1])?.shape()[..], [3, 1]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "squeeze")]
    #[track_caller]
    pub fn squeeze_axes(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        let axes = self.resolve_axes("squeeze_axes", &axes.into())?;
        let mut layout = self.layout().clone();
        for &axis in axes.axes().iter().rev() {
            layout = layout.squeeze(axis as isize).in_op("squeeze_axes", self)?;
        }
        Ok(self.with_layout(layout))
    }

    /// A view with several new axes of size 1, at these positions of the result's shape.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong or repeated axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([2, 3])?.expand_dims_axes([0, -1])?;
    /// assert_eq!(a.shape()[..], [1, 2, 3, 1]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "expand_dims")]
    #[track_caller]
    pub fn expand_dims_axes(&self, axes: impl IndexList) -> Result<NdArray> {
        const OP: &str = "expand_dims_axes";
        let axes = axes.indices();
        let mut axes = distinct(&axes, self.rank() + axes.len()).in_op(OP, self)?;
        axes.sort_unstable();
        let mut layout = self.layout().clone();
        for axis in axes {
            layout = layout.expand_dims(axis as isize).in_op(OP, self)?;
        }
        Ok(self.with_layout(layout))
    }

    /// The elements moved by `shifts[i]` positions along axis `axes[i]`, those at the end coming back at the front; an axis
    /// named twice is rolled twice.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Count`] when there is not one shift for each axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]).roll_axes([1, 1], [0, 1])?;
    /// assert_eq!(a, NdArray::from([[4i32, 3], [2, 1]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "roll")]
    #[track_caller]
    pub fn roll_axes(&self, shifts: impl IndexList, axes: impl IndexList) -> Result<NdArray> {
        const OP: &str = "roll_axes";
        let watch = Watch::start();
        self.expect_readable(OP, Argument::X)?;
        let (shifts, axes) = (shifts.indices(), axes.indices());
        if shifts.len() != axes.len() {
            return Err(self.miscounted(OP, "shifts, one per axis", axes.len(), shifts.len()));
        }
        let mut by: SmallVec<[isize; 6]> = SmallVec::from_elem(0, self.rank());
        for (shift, axis) in shifts.into_iter().zip(axes) {
            let axis = normalize_axis(axis, self.rank()).in_op(OP, self)?;
            by[axis] = by[axis].wrapping_add(shift);
        }
        let made = Target::Kept.fill(OP, self.dtype(), self.shape().clone(), &[self], |out| {
            // Every axis cuts the blocks in two, which change places along it.
            let mut blocks = vec![(self.clone(), out.clone())];
            for (axis, &shift) in by.iter().enumerate().filter(|(_, shift)| **shift != 0) {
                let halves = rolled_halves(self.shape()[axis], shift);
                let mut split = Vec::with_capacity(2 * blocks.len());
                for (source, target) in &blocks {
                    for (from, to) in halves.clone() {
                        let source = source.narrowed(OP, axis, from)?;
                        split.push((source, target.narrowed(OP, axis, to)?));
                    }
                }
                split.retain(|(source, _)| !source.is_empty());
                blocks = split;
            }
            for (source, target) in &blocks {
                kernels::copy(source.operand().into(), target.operand()).or_fail(OP)?;
            }
            Ok(())
        });
        watch.made(OP, &[self], made)
    }

    /// [`roll_axes`](Self::roll_axes) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`roll_axes`](Self::roll_axes); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn roll_axes_into(
        &self,
        shifts: impl IndexList,
        axes: impl IndexList,
        out: &NdArray,
    ) -> Result<()> {
        out.store("roll_axes_into", &[self], || self.roll_axes(shifts, axes))
    }
}

/// Axes counted from the front, none of which may be named twice.
fn distinct(axes: &[isize], rank: usize) -> std::result::Result<SmallVec<[usize; 6]>, ShapeError> {
    let mut found = SmallVec::new();
    for &axis in axes {
        let axis = normalize_axis(axis, rank)?;
        if found.contains(&axis) {
            return Err(ShapeError::RepeatedAxis { axis, rank });
        }
        found.push(axis);
    }
    Ok(found)
}
