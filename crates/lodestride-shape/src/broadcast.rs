//! Broadcasting: which shapes go together, and stretching a layout with stride 0.

use crate::{Layout, Shape, ShapeError, ShapePair, Strides};

/// Gives the common shape of two operands: aligned at the last axis, equal sizes or one of them 1.
///
/// # Errors
/// [`ShapeError::Broadcast`] names both shapes and the axis.
///
/// ```
/// use lodestride_shape::{Shape, broadcast_shapes};
///
/// let common = broadcast_shapes(&Shape::from([3, 1, 5]), &Shape::from([4, 1]))?;
/// assert_eq!(common, Shape::from([3, 4, 5]));
/// # Ok::<(), lodestride_shape::ShapeError>(())
/// ```
pub fn broadcast_shapes(a: &Shape, b: &Shape) -> Result<Shape, ShapeError> {
    let (long, short) = if a.rank() >= b.rank() { (a, b) } else { (b, a) };
    let lead = long.rank() - short.rank();
    let mut common = long.clone();
    for (i, &size) in short.iter().enumerate() {
        let axis = lead + i;
        if common[axis] == 1 {
            common[axis] = size;
        } else if size != 1 && size != common[axis] {
            return Err(ShapeError::Broadcast {
                shapes: ShapePair::boxed(a, b),
                axis,
            });
        }
    }
    Ok(common)
}

/// Gives the common shape of any number of operands; none at all broadcast to a scalar.
///
/// # Errors
/// [`ShapeError::Broadcast`] names the common shape so far and the first shape that does not join it.
pub fn broadcast_many(shapes: &[&Shape]) -> Result<Shape, ShapeError> {
    let mut common = Shape::scalar();
    for shape in shapes {
        common = broadcast_shapes(&common, shape)?;
    }
    Ok(common)
}

impl Shape {
    /// Tells whether an array of this shape broadcasts to the other shape, which is then their common one.
    ///
    /// ```
    /// use lodestride_shape::Shape;
    ///
    /// assert!(Shape::from([3, 1]).broadcasts_to(&Shape::from([2, 3, 4])));
    /// assert!(!Shape::from([3, 4]).broadcasts_to(&Shape::from([3, 1])));
    /// ```
    #[must_use]
    #[inline]
    pub fn broadcasts_to(&self, shape: &Shape) -> bool {
        let (have, want) = (self.as_slice(), shape.as_slice());
        let Some(lead) = want.len().checked_sub(have.len()) else {
            return false;
        };
        (have.iter().zip(&want[lead..])).all(|(have, want)| have == want || *have == 1)
    }
}

impl Layout {
    /// Stretches axes of size 1 and adds leading axes, without moving anything: stretched axes get stride 0.
    ///
    /// # Errors
    /// [`ShapeError::BroadcastTo`] if a size is neither 1 nor the wanted one or the rank would shrink;
    /// [`ShapeError::TooLarge`] if the wanted shape has too many elements.
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order, Shape};
    ///
    /// let row = Layout::contiguous([1, 4], Order::C)?;
    /// let block = row.broadcast_to(&Shape::from([2, 3, 4]))?;
    /// assert_eq!(block.strides().as_slice(), [0, 0, 1]);
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    pub fn broadcast_to(&self, shape: &Shape) -> Result<Layout, ShapeError> {
        if !self.shape().broadcasts_to(shape) {
            return Err(ShapeError::BroadcastTo {
                shapes: ShapePair::boxed(self.shape(), shape),
            });
        }
        shape.checked_elements()?;
        let mut strides = Strides::filled(0, shape.rank());
        let lead = shape.rank() - self.rank();
        let (sizes, steps) = (self.shape().as_slice(), self.strides().as_slice());
        let axes = shape[lead..].iter().zip(sizes).zip(steps);
        for (stride, ((want, have), &step)) in strides[lead..].iter_mut().zip(axes) {
            if have == want {
                *stride = step;
            }
        }
        Ok(Layout::derived(
            shape.clone(),
            strides,
            self.offset().cast_signed(),
        ))
    }
}
