//! What messages say of an array: dtype, shape, order; never its elements.

use std::fmt;

use lodestride_buffer::DType;
use lodestride_shape::{Order, Shape};

use crate::NdArray;

/// What is worth knowing about an operand after the fact: dtype, shape, order, and whether it is a view.
///
/// Prints as `f32 [3, 4] C view`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArraySummary {
    /// Element type.
    pub dtype: DType,
    /// Shape.
    pub shape: Shape,
    /// Memory order, `None` when the elements are strided.
    pub order: Option<Order>,
    /// Whether the array covers only a part of its buffer, or in another order.
    pub view: bool,
}

impl ArraySummary {
    /// The summary of an array; never touches its elements.
    pub fn of(array: &NdArray) -> Self {
        Self {
            dtype: array.dtype(),
            shape: array.shape().clone(),
            order: array.order(),
            view: array.is_view(),
        }
    }
}

impl fmt::Display for ArraySummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dtype, Dims(&self.shape))?;
        match self.order {
            Some(Order::C) => f.write_str(" C")?,
            Some(Order::F) => f.write_str(" F")?,
            None => f.write_str(" strided")?,
        }
        if self.view {
            f.write_str(" view")
        } else {
            Ok(())
        }
    }
}

/// A list of sizes as `[3, 4]`.
pub(crate) struct Dims<'a>(pub(crate) &'a [usize]);

impl fmt::Display for Dims<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0).finish()
    }
}
