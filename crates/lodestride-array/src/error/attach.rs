//! The way errors of lower crates become ours: with the op, the array and the caller's line.

use lodestride_buffer::{AccessError, Argument};
use lodestride_kernels::KernelError;
use lodestride_shape::ShapeError;

use super::access::called;
use super::{ArrayError, ArrayErrorKind, ArraySummary, Result};
use crate::NdArray;

/// Attaches the op and the array to an error of a lower crate, keeping the caller's line.
pub(crate) trait InOp<T> {
    /// Names the op and the array at fault.
    #[track_caller]
    fn in_op(self, op: &'static str, array: &NdArray) -> Result<T>;
}

impl<T> InOp<T> for std::result::Result<T, ShapeError> {
    #[inline]
    #[track_caller]
    fn in_op(self, op: &'static str, array: &NdArray) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(source) => Err(ArrayError::new(ArrayErrorKind::Shape {
                op,
                source,
                array: Some(ArraySummary::of(array)),
            })),
        }
    }
}

impl<T> InOp<T> for std::result::Result<T, AccessError> {
    #[inline]
    #[track_caller]
    fn in_op(self, op: &'static str, array: &NdArray) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(source) => {
                let (argument, array) = (Argument::X, ArraySummary::of(array));
                Err(ArrayError::new(ArrayErrorKind::Access {
                    op,
                    argument,
                    source,
                    array,
                }))
            }
        }
    }
}

/// Turns the errors of lower crates that need no array into ours, keeping the caller's line.
pub(crate) trait OrFail<T> {
    /// Names the op.
    #[track_caller]
    fn or_fail(self, op: &'static str) -> Result<T>;
}

impl<T> OrFail<T> for std::result::Result<T, ShapeError> {
    #[inline]
    #[track_caller]
    fn or_fail(self, op: &'static str) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            Err(source) => Err(ArrayError::new(ArrayErrorKind::Shape {
                op,
                source,
                array: None,
            })),
        }
    }
}

impl<T> OrFail<T> for std::result::Result<T, KernelError> {
    #[inline]
    #[track_caller]
    fn or_fail(self, op: &'static str) -> Result<T> {
        match self {
            Ok(value) => Ok(value),
            // The kernel knows the argument, the method the name that the user called.
            Err(error @ KernelError::Access { .. }) => {
                Err(ArrayError::new(called(error.into(), op, None)))
            }
            Err(source) => Err(ArrayError::new(ArrayErrorKind::Kernel { source })),
        }
    }
}

/// Checks a number against limits, both of which are allowed.
#[track_caller]
pub(crate) fn expect_within(
    op: &'static str,
    name: &'static str,
    value: f64,
    (min, max): (f64, f64),
) -> Result<()> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(ArrayError::new(ArrayErrorKind::Kernel {
        source: KernelError::OutOfRange {
            op,
            name,
            value,
            min,
            max,
        },
    }))
}

impl NdArray {
    /// The error for a list with too few or too many numbers.
    #[cold]
    #[track_caller]
    pub(crate) fn miscounted(
        &self,
        op: &'static str,
        what: &'static str,
        expected: usize,
        given: usize,
    ) -> ArrayError {
        ArrayError::new(ArrayErrorKind::Count {
            op,
            what,
            expected,
            given,
            array: ArraySummary::of(self),
        })
    }
}
