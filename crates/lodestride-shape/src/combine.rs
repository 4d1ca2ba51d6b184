//! Shapes of results that are made from several arrays: concatenation, stacking, matrix products, updates in place.

use crate::{
    Shape, ShapeError, ShapeOperation, broadcast_shapes, normalize_axis, normalize_new_axis,
};

/// Gives the shape of arrays joined along an existing axis; all other sizes must be equal.
///
/// # Errors
/// [`ShapeError::NoOperands`] without shapes, [`ShapeError::AxisOutOfRange`], [`ShapeError::Mismatch`] with the first
/// shape and the one that does not fit it, [`ShapeError::TooLarge`].
///
/// ```
/// use lodestride_shape::{Shape, concat_shapes};
///
/// let (a, b) = (Shape::from([2, 3]), Shape::from([2, 5]));
/// assert_eq!(concat_shapes(&[&a, &b], -1)?, Shape::from([2, 8]));
/// assert!(concat_shapes(&[&a, &b], 0).is_err());
/// # Ok::<(), lodestride_shape::ShapeError>(())
/// ```
pub fn concat_shapes(shapes: &[&Shape], axis: isize) -> Result<Shape, ShapeError> {
    let operation = ShapeOperation::Concat;
    let (&first, rest) = shapes
        .split_first()
        .ok_or(ShapeError::NoOperands { operation })?;
    let axis = normalize_axis(axis, first.rank())?;
    let mut joined = first.clone();
    for &shape in rest {
        let fits = shape.rank() == first.rank()
            && (0..first.rank()).all(|other| other == axis || shape[other] == first[other]);
        if !fits {
            return Err(ShapeError::mismatch(operation, first, shape));
        }
        joined[axis] = joined[axis].saturating_add(shape[axis]);
    }
    joined.checked_elements()?;
    Ok(joined)
}

/// Gives the shape of `count` arrays of one shape joined along a new axis.
///
/// # Errors
/// [`ShapeError::NoOperands`] without shapes, [`ShapeError::AxisOutOfRange`], [`ShapeError::Mismatch`] with the first
/// shape and the one that differs, [`ShapeError::TooLarge`].
pub fn stack_shapes(shapes: &[&Shape], axis: isize) -> Result<Shape, ShapeError> {
    let operation = ShapeOperation::Stack;
    let (&first, rest) = shapes
        .split_first()
        .ok_or(ShapeError::NoOperands { operation })?;
    let axis = normalize_new_axis(axis, first.rank())?;
    if let Some(other) = rest.iter().find(|&&shape| shape != first) {
        return Err(ShapeError::mismatch(operation, first, other));
    }
    let mut stacked = first.clone();
    stacked.insert(axis, shapes.len());
    stacked.checked_elements()?;
    Ok(stacked)
}

/// Gives the shape of a matrix product by NumPy's rule: the last two axes are the matrices, the leading ones broadcast.
///
/// A vector on the left counts as one row, on the right as one column; that axis is absent from the result.
///
/// # Errors
/// [`ShapeError::Rank`] for a scalar operand, [`ShapeError::Mismatch`] if the inner sizes differ,
/// [`ShapeError::Broadcast`] if the leading axes do not broadcast, [`ShapeError::TooLarge`].
///
/// ```
/// use lodestride_shape::{Shape, matmul_shape};
///
/// let product = |a: &[usize], b: &[usize]| matmul_shape(&Shape::from(a), &Shape::from(b));
/// assert_eq!(product(&[2, 3], &[3, 4])?, Shape::from([2, 4]));
/// assert_eq!(product(&[7, 1, 2, 3], &[5, 3, 4])?, Shape::from([7, 5, 2, 4]));
/// assert_eq!(product(&[3], &[3, 4])?, Shape::from([4]));
/// let error = product(&[2, 3], &[4, 2]).unwrap_err();
/// assert_eq!(error.to_string(), "cannot multiply matrices [2, 3] x [4, 2]: the left has 3 columns, the right 4 rows");
/// # Ok::<(), lodestride_shape::ShapeError>(())
/// ```
pub fn matmul_shape(a: &Shape, b: &Shape) -> Result<Shape, ShapeError> {
    let mismatch = || ShapeError::mismatch(ShapeOperation::Matmul, a, b);
    let (Some(&columns), Some(&last)) = (a.last(), b.last()) else {
        return Err(ShapeError::rank(1, if a.rank() == 0 { a } else { b }));
    };
    let rows = if b.rank() == 1 { last } else { b[b.rank() - 2] };
    if columns != rows {
        return Err(mismatch());
    }
    let leading = |shape: &Shape| Shape::from_slice(&shape[..shape.rank().saturating_sub(2)]);
    let mut product = broadcast_shapes(&leading(a), &leading(b))?;
    if a.rank() > 1 {
        product.push(a[a.rank() - 2]);
    }
    if b.rank() > 1 {
        product.push(last);
    }
    product.checked_elements()?;
    Ok(product)
}

/// Checks that `right` may change an array of shape `left` in place: only the right operand broadcasts.
///
/// # Errors
/// [`ShapeError::Mismatch`] with both shapes.
///
/// ```
/// use lodestride_shape::{Shape, check_in_place};
///
/// assert!(check_in_place(&Shape::from([3, 4]), &Shape::from([4])).is_ok());
/// assert!(check_in_place(&Shape::from([3, 1]), &Shape::from([3, 4])).is_err());
/// ```
pub fn check_in_place(left: &Shape, right: &Shape) -> Result<(), ShapeError> {
    match broadcast_shapes(left, right) {
        Ok(common) if common == *left => Ok(()),
        _ => Err(ShapeError::mismatch(ShapeOperation::InPlace, left, right)),
    }
}
