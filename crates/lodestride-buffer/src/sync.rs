//! The atomics the access and pin protocols stand on: `std` in every ordinary build, `loom` under `--cfg loom`.
//! No protocol lives here.
//!
//! Loom treats a `SeqCst` access as `AcqRel` and only models `SeqCst` *fences* faithfully, so under loom the operations
//! that need the single total order carry an explicit fence. Elsewhere the `SeqCst` access alone gives that order.

#[cfg(loom)]
pub(crate) use loom::sync::Mutex;
#[cfg(not(loom))]
pub(crate) use std::sync::Mutex;

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Completes a `SeqCst` access under loom; no code elsewhere.
#[inline(always)]
pub(crate) fn total_order() {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}
