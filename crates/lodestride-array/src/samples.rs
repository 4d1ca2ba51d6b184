//! Functions known at sample points: how far those are apart. Values between them are in `interpolate`, slopes in `slope`, areas
//! in `area`; plain differences (`diff`) are with the statistics, derivatives of named functions in `math::derivative`.

mod area;
mod interpolate;
mod slope;

use lodestride_buffer::{Argument, DType};
use lodestride_shape::normalize_axis;

pub use self::slope::EdgeOrder;
use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, InOp, Result};

/// How far apart the positions along an axis are: a number, or a vector of coordinates.
#[derive(Clone, Copy, Debug)]
pub enum Spacing<'a> {
    /// All so far apart.
    Step(f64),
    /// At these coordinates, one for each position.
    At(&'a NdArray),
}

impl From<f64> for Spacing<'_> {
    fn from(step: f64) -> Self {
        Self::Step(step)
    }
}

impl From<i32> for Spacing<'_> {
    fn from(step: i32) -> Self {
        Self::Step(f64::from(step))
    }
}

impl<'a> From<&'a NdArray> for Spacing<'a> {
    fn from(coordinates: &'a NdArray) -> Self {
        Self::At(coordinates)
    }
}

impl<'a> Spacing<'a> {
    /// The array and the coordinates it is sampled at.
    fn with(self, array: &'a NdArray) -> Vec<&'a NdArray> {
        match self {
            Self::Step(_) => vec![array],
            Self::At(coordinates) => vec![array, coordinates],
        }
    }
}

impl NdArray {
    /// The axis along which this array is sampled, if it can be.
    #[track_caller]
    fn expect_sampled(&self, op: &'static str, axis: isize) -> Result<usize> {
        self.expect_readable(op, Argument::X)?;
        if self.dtype() == DType::Bool {
            let dtype = self.dtype();
            return Err(ArrayError::new(ArrayErrorKind::UnsupportedDType {
                op,
                dtype,
            }));
        }
        normalize_axis(axis, self.rank()).in_op(op, self)
    }

    #[track_caller]
    fn expect_one_each(&self, op: &'static str, size: usize) -> Result<()> {
        if self.len() == size {
            return Ok(());
        }
        let what = "coordinates, one per position along the axis";
        Err(self.miscounted(op, what, size, self.len()))
    }
}
