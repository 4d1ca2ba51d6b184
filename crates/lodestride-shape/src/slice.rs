//! Positions and ranges of one axis: [`Layout::slice`], [`Layout::at`], [`Layout::narrow`]. Lists of indices are in `index`.

use std::ops::Range;

use crate::{Layout, ShapeError};

impl Layout {
    /// Takes position `i` of one axis, which disappears: ND4J's `slice(i, axis)`.
    ///
    /// # Errors
    /// [`ShapeError::AxisOutOfRange`], [`ShapeError::IndexOutOfRange`].
    #[inline]
    pub fn slice(&self, i: isize, axis: isize) -> Result<Layout, ShapeError> {
        let axis = crate::normalize_axis(axis, self.rank())?;
        let size = self.shape()[axis];
        let Some(position) = crate::axes::wrap(i, size) else {
            return Err(ShapeError::IndexOutOfRange {
                index: i,
                axis,
                size,
            });
        };
        Ok(self.at(position, axis))
    }

    /// [`Layout::slice`] of a position and an axis that were checked.
    ///
    /// # Panics
    /// If there is no such position.
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    ///
    /// let row = Layout::contiguous([3, 4], Order::C)?.at(1, 0);
    /// assert_eq!((row.shape().as_slice(), row.offset()), ([4].as_slice(), 4));
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn at(&self, position: usize, axis: usize) -> Layout {
        assert!(position < self.shape()[axis], "a position outside its axis");
        Layout::derived(
            self.shape().without(axis),
            self.strides().without(axis),
            self.advanced(position, self.strides()[axis]),
        )
    }

    /// [`Layout::at`] of a matrix, whose rows and columns are known without a walk over its axes; `None` for other ranks and
    /// where there is no such position.
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    ///
    /// let matrix = Layout::contiguous([3, 4], Order::C)?;
    /// assert_eq!(matrix.line_at(2, 1), Some(Layout::new([3], [4], 2)?));
    /// assert_eq!((matrix.line_at(4, 1), matrix.at(0, 0).line_at(0, 0)), (None, None));
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    // Made in its place: a copy of words just written would wait for them.
    #[must_use]
    #[inline(always)]
    pub fn line_at(&self, position: usize, axis: usize) -> Option<Layout> {
        let (&[rows, columns], &[down, right]) =
            (self.shape().as_array()?, self.strides().as_array()?);
        let (size, step, kept, kept_step) = match axis {
            0 => (rows, down, columns, right),
            1 => (columns, right, rows, down),
            _ => return None,
        };
        if position >= size {
            return None;
        }
        let offset = self.advanced(position, step);
        Some(Layout::derived_line(kept, kept_step, offset))
    }

    /// The offset so many steps further on.
    #[inline]
    fn advanced(&self, steps: usize, stride: isize) -> isize {
        let distance = stride.wrapping_mul(steps.cast_signed());
        self.offset().cast_signed().wrapping_add(distance)
    }

    /// Takes the positions `range` of one axis, which stays; the bounds must lie in the axis.
    ///
    /// # Errors
    /// [`ShapeError::AxisOutOfRange`], [`ShapeError::IndexOutOfRange`] for a bound beyond the size or a reversed range.
    pub fn narrow(&self, axis: isize, range: Range<usize>) -> Result<Layout, ShapeError> {
        let axis = crate::normalize_axis(axis, self.rank())?;
        let size = self.shape()[axis];
        if range.end > size || range.start > range.end {
            let beyond = if range.end > size {
                range.end
            } else {
                range.start
            };
            return Err(ShapeError::IndexOutOfRange {
                index: isize::try_from(beyond).unwrap_or(isize::MAX),
                axis,
                size,
            });
        }
        let mut shape = self.shape().clone();
        shape[axis] = range.len();
        Ok(Layout::derived(
            shape,
            self.strides().clone(),
            self.advanced(range.start, self.strides()[axis]),
        ))
    }
}
