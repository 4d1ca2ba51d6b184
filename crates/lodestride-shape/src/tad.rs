//! Tensors along dimensions (TAD): the sub-arrays that span some axes, one for each position of the others.

use crate::{Axes, Layout, ShapeError};

impl Layout {
    /// Counts the tensors along the given axes: the product of the other sizes.
    ///
    /// # Errors
    /// [`ShapeError::AxisOutOfRange`].
    pub fn tensors_along(&self, axes: impl Into<Axes>) -> Result<usize, ShapeError> {
        let axes = axes.into().resolve(self.rank())?;
        Ok(axes.removed_shape(self.shape()).elements())
    }

    /// Views tensor number `i` along the given axes.
    ///
    /// * Repeated axes count once and their order does not matter: `[1, 0]` is `[0, 1]`; the result has the listed axes in
    ///   ascending order.
    /// * `i` counts through the positions of the *other* axes in C order (the last of them varies fastest), whatever the
    ///   layout in memory.
    /// * With [`keep`](crate::keep) the result is at least a matrix, ND4J's row vector: one listed axis of size n gives
    ///   `[1, n]`, no axis gives `[1, 1]`. Two or more axes are the same with and without it.
    ///
    /// # Errors
    /// [`ShapeError::AxisOutOfRange`]; [`ShapeError::TensorOutOfRange`] if `i` is not below
    /// [`Layout::tensors_along`].
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order, keep};
    ///
    /// let layout = Layout::contiguous([3, 4], Order::C)?;
    /// assert_eq!(layout.tensors_along(0)?, 4);
    /// let column = layout.tensor_along(1, 0)?;
    /// assert_eq!((column.shape().as_slice(), column.offset()), ([3].as_slice(), 1));
    /// assert_eq!(layout.tensor_along(1, keep(0))?.shape().as_slice(), [1, 3]);
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    pub fn tensor_along(&self, i: usize, axes: impl Into<Axes>) -> Result<Layout, ShapeError> {
        let axes = axes.into().resolve(self.rank())?;
        let sizes = self.shape().as_slice();
        let others = || (0..sizes.len()).rev().filter(|&axis| !axes.contains(axis));
        // Part of a checked product; saturates only where the other axes have no elements.
        let count = if others().any(|axis| sizes[axis] == 0) {
            0
        } else {
            others().fold(1usize, |n, axis| n.saturating_mul(sizes[axis]))
        };
        if i >= count {
            return Err(ShapeError::TensorOutOfRange { index: i, count });
        }
        let (mut rest, mut offset) = (i, self.offset().cast_signed());
        for axis in others() {
            let position = (rest % sizes[axis]).cast_signed();
            rest /= sizes[axis];
            offset = offset.wrapping_add(position.wrapping_mul(self.strides()[axis]));
        }
        let (mut shape, mut strides) = self.with_axes(axes.axes()).into_parts();
        if axes.keeps() {
            while shape.rank() < 2 {
                shape.insert(0, 1);
                strides.insert(0, 0);
            }
        }
        Ok(Layout::derived(shape, strides, offset))
    }
}
