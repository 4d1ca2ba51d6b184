//! What the door to the elements said, whichever layer of the workspace reports it.

use std::panic::Location;

use lodestride_buffer::{AccessError, Argument};
use lodestride_kernels::KernelError;

use super::{ArrayError, ArrayErrorKind, ArraySummary, Report, Result};
use crate::NdArray;

impl ArrayErrorKind {
    /// Why elements may not be touched, with the op and the argument it happened to; `None` for errors of other kinds.
    ///
    /// ```
    /// use lodestride_array::{AccessError, Argument, NdArray, Workspace};
    /// let leaked = Workspace::new("LOOP").scope(|_| NdArray::ones([3]))??;
    /// let error = NdArray::ones([3])?.add(&leaked).unwrap_err();
    /// assert!(matches!(error.kind().access(), Some(("add", Argument::Y, AccessError::Leaked(_)))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn access(&self) -> Option<(&'static str, Argument, &AccessError)> {
        match self {
            Self::Access {
                op,
                argument,
                source,
                ..
            }
            | Self::Kernel {
                source:
                    KernelError::Access {
                        op,
                        argument,
                        source,
                        ..
                    },
            } => Some((op, *argument, source)),
            _ => None,
        }
    }
}

/// The error with the method that the user called, and, if given, the argument as it counts them.
#[cold]
pub(super) fn called(
    mut kind: ArrayErrorKind,
    method: &'static str,
    place: Option<Argument>,
) -> ArrayErrorKind {
    if let ArrayErrorKind::Access { op, argument, .. }
    | ArrayErrorKind::Kernel {
        source: KernelError::Access { op, argument, .. },
    } = &mut kind
    {
        *op = method;
        *argument = place.unwrap_or(*argument);
    }
    kind
}

impl From<KernelError> for ArrayErrorKind {
    fn from(source: KernelError) -> Self {
        Self::Kernel { source }
    }
}

/// Names the method that the user called in errors about elements, where other methods do its work.
pub(crate) trait InMethod<T>: Sized {
    /// The line of the caller of this function, for what a closure did, which does not know it.
    #[track_caller]
    fn located(self) -> Result<T>;

    /// The method, and which of its arguments was worked on.
    fn named(self, method: &'static str, argument: Argument) -> Result<T>;

    /// The method, whose arguments are those of the other.
    fn renamed(self, method: &'static str) -> Result<T>;

    /// Corrects the argument if this array refuses to be read: for kernels that call two operands by one letter.
    fn blaming(self, array: &NdArray, argument: Argument) -> Result<T>;

    /// Names the method and the array where a kernel met a position beyond an axis.
    fn positioned(self, method: &'static str, array: &NdArray) -> Result<T>;
}

impl<T> InMethod<T> for Result<T> {
    #[inline]
    #[track_caller]
    fn located(self) -> Result<T> {
        let location = Location::caller();
        self.map_err(|mut error| {
            error.report.location = location;
            error
        })
    }

    #[inline]
    fn named(self, method: &'static str, argument: Argument) -> Result<T> {
        self.map_err(|error| renamed(error, method, argument))
    }

    #[inline]
    fn renamed(self, method: &'static str) -> Result<T> {
        self.map_err(|error| match error.kind().access() {
            Some((_, argument, _)) => renamed(error, method, argument),
            None => error,
        })
    }

    #[inline]
    fn blaming(self, array: &NdArray, argument: Argument) -> Result<T> {
        self.map_err(|error| match error.kind().access() {
            Some((op, ..)) if array.buffer().read().is_err() => renamed(error, op, argument),
            _ => error,
        })
    }

    #[inline]
    fn positioned(self, method: &'static str, array: &NdArray) -> Result<T> {
        self.map_err(|mut error| {
            if let ArrayErrorKind::Kernel {
                source:
                    KernelError::IndexOutOfRange {
                        index,
                        position,
                        axis,
                        ..
                    },
            } = *error.kind()
            {
                error.report.kind = ArrayErrorKind::PositionRange {
                    op: method,
                    axis,
                    index,
                    position,
                    array: ArraySummary::of(array),
                };
            }
            error
        })
    }
}

#[cold]
fn renamed(error: ArrayError, method: &'static str, argument: Argument) -> ArrayError {
    let Report { kind, location } = *error.report;
    ArrayError {
        report: Box::new(Report {
            kind: called(kind, method, Some(argument)),
            location,
        }),
    }
}
