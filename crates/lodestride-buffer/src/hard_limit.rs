//! How many bytes the process holds from the system, and how many it may: exact, because every block passes here once on
//! its way in and once on its way out. Blocks between the two are in use or in the cache.

use std::sync::atomic::{AtomicUsize, Ordering};

static HELD: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(NONE);
const NONE: usize = usize::MAX;

/// Counts bytes in, unless that would exceed the limit.
pub(crate) fn reserve(bytes: usize) -> bool {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed);
    let granted = held.saturating_add(bytes) <= LIMIT.load(Ordering::Relaxed);
    if !granted {
        release(bytes);
    }
    granted
}

/// Counts bytes out.
pub(crate) fn release(bytes: usize) {
    HELD.fetch_sub(bytes, Ordering::Relaxed);
}

pub(crate) fn held() -> usize {
    HELD.load(Ordering::Relaxed)
}

pub(crate) fn get() -> Option<usize> {
    Some(LIMIT.load(Ordering::Relaxed)).filter(|limit| *limit != NONE)
}

pub(crate) fn set(limit: Option<usize>) {
    LIMIT.store(limit.unwrap_or(NONE), Ordering::Relaxed);
}
