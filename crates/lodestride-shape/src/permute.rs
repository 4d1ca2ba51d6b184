//! Views that reorder, add, drop or reverse axes, diagonals and sliding windows.

use crate::{Layout, Shape, ShapeError, Strides, normalize_axis, normalize_new_axis};

impl Layout {
    /// Reorders the axes: axis `i` of the result is axis `order[i]` of this layout.
    ///
    /// # Errors
    /// [`ShapeError::AxisCount`] unless every axis is named, [`ShapeError::AxisOutOfRange`],
    /// [`ShapeError::RepeatedAxis`].
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    ///
    /// let layout = Layout::contiguous([3, 4, 5], Order::C)?.permute(&[2, 1, 0])?;
    /// assert_eq!(layout.shape().as_slice(), [5, 4, 3]);
    /// assert_eq!(layout.strides().as_slice(), [1, 5, 20]);
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    pub fn permute(&self, order: &[isize]) -> Result<Layout, ShapeError> {
        let rank = self.rank();
        if order.len() != rank {
            return Err(ShapeError::AxisCount {
                given: order.len(),
                rank,
            });
        }
        let mut chosen: smallvec::SmallVec<[usize; 6]> = smallvec::SmallVec::new();
        for &axis in order {
            let axis = normalize_axis(axis, rank)?;
            if chosen.contains(&axis) {
                return Err(ShapeError::RepeatedAxis { axis, rank });
            }
            chosen.push(axis);
        }
        Ok(self.with_axes(&chosen))
    }

    /// Keeps exactly the given axes, in the given order, at position 0 of all others.
    pub(crate) fn with_axes(&self, axes: &[usize]) -> Layout {
        let (mut shape, mut strides) =
            (Shape::filled(0, axes.len()), Strides::filled(0, axes.len()));
        let (sizes, steps) = (&mut shape[..], &mut strides[..]);
        for (place, &axis) in axes.iter().enumerate() {
            sizes[place] = self.shape()[axis];
            steps[place] = self.strides()[axis];
        }
        Layout::derived(shape, strides, self.offset().cast_signed())
    }

    /// Reverses the order of the axes; ranks 0 and 1 stay as they are.
    #[must_use]
    pub fn transpose(&self) -> Layout {
        self.reversed()
    }

    /// Swaps two axes.
    ///
    /// # Errors
    /// [`ShapeError::AxisOutOfRange`].
    pub fn swap_axes(&self, a: isize, b: isize) -> Result<Layout, ShapeError> {
        let (a, b) = (
            normalize_axis(a, self.rank())?,
            normalize_axis(b, self.rank())?,
        );
        let (mut shape, mut strides) = (self.shape().clone(), self.strides().clone());
        shape.swap(a, b);
        strides.swap(a, b);
        Ok(Layout::derived(shape, strides, self.offset().cast_signed()))
    }

    /// Moves one axis to another position; the others keep their order.
    ///
    /// # Errors
    /// [`ShapeError::AxisOutOfRange`].
    pub fn move_axis(&self, from: isize, to: isize) -> Result<Layout, ShapeError> {
        let (from, to) = (
            normalize_axis(from, self.rank())?,
            normalize_axis(to, self.rank())?,
        );
        let (mut shape, mut strides) = (self.shape().clone(), self.strides().clone());
        let (size, stride) = (shape.remove(from), strides.remove(from));
        shape.insert(to, size);
        strides.insert(to, stride);
        Ok(Layout::derived(shape, strides, self.offset().cast_signed()))
    }

    /// Inserts an axis of size 1 before position `axis`; -1 puts it last.
    ///
    /// # Errors
    /// [`ShapeError::AxisOutOfRange`] outside `-(rank + 1)..=rank`.
    pub fn expand_dims(&self, axis: isize) -> Result<Layout, ShapeError> {
        let axis = normalize_new_axis(axis, self.rank())?;
        let (mut shape, mut strides) = (self.shape().clone(), self.strides().clone());
        shape.insert(axis, 1);
        strides.insert(axis, 0);
        Ok(Layout::derived(shape, strides, self.offset().cast_signed()))
    }

    /// Drops one axis of size 1.
    ///
    /// # Errors
    /// [`ShapeError::AxisOutOfRange`], [`ShapeError::NotSizeOne`].
    pub fn squeeze(&self, axis: isize) -> Result<Layout, ShapeError> {
        let axis = normalize_axis(axis, self.rank())?;
        let size = self.shape()[axis];
        if size != 1 {
            return Err(ShapeError::NotSizeOne { axis, size });
        }
        let (mut shape, mut strides) = (self.shape().clone(), self.strides().clone());
        shape.remove(axis);
        strides.remove(axis);
        Ok(Layout::derived(shape, strides, self.offset().cast_signed()))
    }

    /// Drops every axis of size 1.
    #[must_use]
    pub fn squeeze_all(&self) -> Layout {
        let axes: smallvec::SmallVec<[usize; 6]> = (0..self.rank())
            .filter(|&axis| self.shape()[axis] != 1)
            .collect();
        self.with_axes(&axes)
    }

    /// Reverses one axis.
    ///
    /// # Errors
    /// [`ShapeError::AxisOutOfRange`].
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    ///
    /// let flipped = Layout::contiguous([2, 3], Order::C)?.flip(1)?;
    /// assert_eq!((flipped.strides().as_slice(), flipped.offset()), ([3, -1].as_slice(), 2));
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    pub fn flip(&self, axis: isize) -> Result<Layout, ShapeError> {
        let axis = normalize_axis(axis, self.rank())?;
        let mut strides = self.strides().clone();
        let last = self.shape()[axis].saturating_sub(1).cast_signed();
        let offset = self
            .offset()
            .cast_signed()
            .wrapping_add(strides[axis].wrapping_mul(last));
        strides[axis] = strides[axis].wrapping_neg();
        Ok(Layout::derived(self.shape().clone(), strides, offset))
    }

    /// Views the diagonals of the last two axes; the diagonal is the last axis of the result.
    ///
    /// `k` moves it: 1 is the diagonal above the main one, -1 the one below. Beyond the matrix it is empty.
    ///
    /// # Errors
    /// [`ShapeError::Rank`] below rank 2.
    pub fn diagonal(&self, k: isize) -> Result<Layout, ShapeError> {
        let Some(rows) = self.rank().checked_sub(2) else {
            return Err(ShapeError::rank(2, self.shape()));
        };
        let (mut shape, mut strides) = (self.shape().clone(), self.strides().clone());
        let (width, across) = (shape.remove(rows + 1), strides.remove(rows + 1));
        let (height, down) = (shape[rows], strides[rows]);
        let (skip, height, width) = if k < 0 {
            (
                k.unsigned_abs(),
                height.saturating_sub(k.unsigned_abs()),
                width,
            )
        } else {
            (
                k.unsigned_abs(),
                height,
                width.saturating_sub(k.unsigned_abs()),
            )
        };
        let length = height.min(width);
        shape[rows] = length;
        // With one element or none the step is never taken, and the sum of two strides could be out of range.
        strides[rows] = if length > 1 {
            down.wrapping_add(across)
        } else {
            0
        };
        let step = if k < 0 { down } else { across };
        let offset = self
            .offset()
            .cast_signed()
            .wrapping_add(step.wrapping_mul(skip.cast_signed()));
        Ok(Layout::derived(shape, strides, offset))
    }

    /// Views all windows of `length` elements along one axis, each `step` after the one before.
    ///
    /// The axis then counts the windows, `(size - length) / step + 1` of them, and a new last axis of size `length` runs
    /// inside a window. Windows share elements when `step < length`: such a view is for reading.
    ///
    /// # Errors
    /// [`ShapeError::AxisOutOfRange`]; [`ShapeError::Window`] if the length is 0 or exceeds the axis or the step is 0.
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    ///
    /// let windows = Layout::contiguous([6], Order::C)?.windows(0, 3, 1)?;
    /// assert_eq!(windows.shape().as_slice(), [4, 3]);
    /// assert_eq!(windows.strides().as_slice(), [1, 1]);
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    pub fn windows(&self, axis: isize, length: usize, step: usize) -> Result<Layout, ShapeError> {
        let axis = normalize_axis(axis, self.rank())?;
        let size = self.shape()[axis];
        if length == 0 || step == 0 || length > size {
            return Err(ShapeError::Window { length, step, size });
        }
        let (mut shape, mut strides) = (self.shape().clone(), self.strides().clone());
        let count = (size - length) / step + 1;
        shape[axis] = count;
        shape.push(length);
        shape.checked_elements()?;
        strides.push(strides[axis]);
        if count > 1 {
            strides[axis] = strides[axis].wrapping_mul(step.cast_signed());
        }
        Ok(Layout::derived(shape, strides, self.offset().cast_signed()))
    }
}
