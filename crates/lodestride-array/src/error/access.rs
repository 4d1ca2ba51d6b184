//! What the door to the elements said, whichever layer of the workspace reports it.

use lodestride_buffer::{AccessError, Argument};
use lodestride_kernels::KernelError;

use super::ArrayErrorKind;

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
