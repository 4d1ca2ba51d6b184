//! Reshaping: the sizes a request means, and the view if the strides allow one.

use crate::{Layout, Order, ReshapeRequest, Shape, ShapeError, Strides};

impl Shape {
    /// Gives the shape a reshape request means: the same number of elements, a single -1 filled in.
    ///
    /// # Errors
    /// [`ShapeError::NegativeSize`], [`ShapeError::ReshapeUnknown`] if the -1 is repeated or stands beside a size 0,
    /// [`ShapeError::Reshape`] if the element counts differ, [`ShapeError::TooLarge`].
    ///
    /// ```
    /// use lodestride_shape::Shape;
    ///
    /// assert_eq!(Shape::from([3, 4]).resolve_reshape(&[2, -1])?, Shape::from([2, 6]));
    /// let error = Shape::from([2, 2]).resolve_reshape(&[2, 100]).unwrap_err();
    /// assert_eq!(error.to_string(), "cannot reshape [2, 2] (4 elements) to [2, 100] (200 elements)");
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    pub fn resolve_reshape(&self, sizes: &[isize]) -> Result<Shape, ShapeError> {
        let request = || {
            Box::new(ReshapeRequest {
                from: self.clone(),
                to: Strides::from_slice(sizes),
            })
        };
        let mut unknown = None;
        let mut shape = Shape::filled(1, sizes.len());
        for (axis, &size) in sizes.iter().enumerate() {
            match size {
                -1 if unknown.is_some() => {
                    return Err(ShapeError::ReshapeUnknown { request: request() });
                }
                -1 => unknown = Some(axis),
                _ if size < 0 => return Err(ShapeError::NegativeSize { axis, size }),
                _ => shape[axis] = size.unsigned_abs(),
            }
        }
        let (have, known) = (self.elements(), shape.checked_elements()?);
        if let Some(axis) = unknown {
            if known == 0 {
                return Err(ShapeError::ReshapeUnknown { request: request() });
            }
            if have % known != 0 {
                return Err(ShapeError::Reshape { request: request() });
            }
            shape[axis] = have / known;
        } else if have != known {
            return Err(ShapeError::Reshape { request: request() });
        }
        Ok(shape)
    }
}

impl Layout {
    /// Reshapes without copying; `Ok(None)` if the elements lie such that only a copy can have the new shape.
    ///
    /// Elements are read and placed in the given order, whatever the layout in memory. One size may be -1.
    ///
    /// # Errors
    /// As [`Shape::resolve_reshape`].
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    ///
    /// let layout = Layout::contiguous([3, 4], Order::C)?;
    /// let split = layout.reshape(&[3, 2, -1], Order::C)?.expect("splitting an axis is a view");
    /// assert_eq!(split.strides().as_slice(), [4, 2, 1]);
    /// assert_eq!(layout.transpose().reshape(&[12], Order::C)?, None);
    /// assert!(layout.transpose().reshape(&[12], Order::F)?.is_some());
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    pub fn reshape(&self, sizes: &[isize], order: Order) -> Result<Option<Layout>, ShapeError> {
        let shape = self.shape().resolve_reshape(sizes)?;
        Ok(self.view_of(shape, order))
    }

    /// Views the elements under a shape with the same number of elements; `None` if only a copy can have it.
    ///
    /// `None` also if the numbers of elements differ; [`Layout::reshape`] tells the two apart.
    #[must_use]
    pub fn view_as(&self, shape: &Shape, order: Order) -> Option<Layout> {
        if shape.checked_elements().ok()? != self.elements() {
            return None;
        }
        self.view_of(shape.clone(), order)
    }

    /// [`Layout::view_as`] of a shape whose elements were counted.
    fn view_of(&self, shape: Shape, order: Order) -> Option<Layout> {
        if self.is_empty() || self.is_contiguous(order) {
            let (offset, elements) = (self.offset(), self.elements());
            return Some(Layout::gap_free_at(offset, shape, elements, order));
        }
        match order {
            Order::C => split_and_merge(self, &shape),
            // F order is C order of the reversed axes.
            Order::F => {
                let mut reversed = shape;
                reversed.reverse();
                Some(split_and_merge(&self.transpose(), &reversed)?.transpose())
            }
        }
    }

    /// Flattens to one axis; `None` if only a copy can be flat.
    #[must_use]
    pub fn flatten(&self, order: Order) -> Option<Layout> {
        self.view_as(&Shape::from(self.elements()), order)
    }
}

/// Walks old and new axes from the front in groups of equal element count, in C order: inside a group the old axes must
/// lie one inside the other without gaps, and the new ones then divide that single run.
fn split_and_merge(layout: &Layout, shape: &Shape) -> Option<Layout> {
    let old: smallvec::SmallVec<[(usize, isize); 6]> = (layout.shape().iter().copied())
        .zip(layout.strides().iter().copied())
        .filter(|&(size, _)| size != 1)
        .collect();
    let mut strides = Strides::filled(0, shape.rank());
    let (mut next_old, mut next_new) = (0, 0);
    while next_old < old.len() {
        let (mut old_end, mut new_end) = (next_old + 1, next_new + 1);
        let (mut old_count, mut new_count) = (old[next_old].0, *shape.get(next_new)?);
        while old_count != new_count {
            if old_count < new_count {
                old_count *= old.get(old_end)?.0;
                old_end += 1;
            } else {
                new_count *= *shape.get(new_end)?;
                new_end += 1;
            }
        }
        for pair in old[next_old..old_end].windows(2) {
            let (inner_size, inner_stride) = pair[1];
            if pair[0].1 != inner_stride.checked_mul(inner_size.cast_signed())? {
                return None;
            }
        }
        let mut stride = old[old_end - 1].1;
        for axis in (next_new..new_end).rev() {
            strides[axis] = stride;
            stride = stride.saturating_mul(shape[axis].cast_signed());
        }
        (next_old, next_new) = (old_end, new_end);
    }
    // What is left of the new shape are axes of size 1.
    Some(Layout::derived(
        shape.clone(),
        strides,
        layout.offset().cast_signed(),
    ))
}
