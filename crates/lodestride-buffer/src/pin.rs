//! The recycling protocol: how a guard on a workspace array and the recycling of that workspace exclude each other.
//! Written once, here, over the shim of `sync.rs`, and model-checked with loom (`loom_models` below).
//!
//! * A guard **pins, then checks the generation**: it registers in the buffer's access word, then compares the epoch.
//! * A recycler **moves the epoch, then looks at the pins**: after `Epoch::set` it asks each access word.
//!
//! All four steps are sequentially consistent, so in their single order either the guard sees the moved epoch (and
//! reports a stale array without touching a byte) or the recycler sees the pin (and leaves the bytes alone).

use crate::access::{Access, Holder};
use crate::sync::{AtomicU64, Ordering, total_order};

/// A workspace's generation and whether it is open, as one number: `2 * generation + open`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    pub(crate) fn open(generation: u64) -> Self {
        Stamp(generation << 1 | 1)
    }

    pub(crate) fn closed(generation: u64) -> Self {
        Stamp(generation << 1)
    }

    pub(crate) fn generation(self) -> u64 {
        self.0 >> 1
    }

    pub(crate) fn is_open(self) -> bool {
        self.0 & 1 != 0
    }
}

/// The current stamp of a workspace.
#[derive(Debug)]
pub(crate) struct Epoch(AtomicU64);

impl Epoch {
    pub(crate) fn new(stamp: Stamp) -> Self {
        Epoch(AtomicU64::new(stamp.0))
    }

    /// The stamp now; ordered after any pin taken before.
    #[inline]
    pub(crate) fn get(&self) -> Stamp {
        total_order();
        Stamp(self.0.load(Ordering::SeqCst))
    }

    /// Moves to another stamp; ordered before any look at a pin that follows.
    pub(crate) fn set(&self, stamp: Stamp) {
        self.0.store(stamp.0, Ordering::SeqCst);
        total_order();
    }
}

/// Why a guard was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The workspace was closed or re-opened since the array was made. `watched` as [`Access::release_read`] tells it.
    Stale { watched: bool },
    /// A conflicting guard is alive.
    InUse(Holder),
}

/// What a guard must find: the workspace's epoch and the stamp the array was made under. `None` for heap memory.
pub(crate) type Home<'a> = Option<(&'a Epoch, Stamp)>;

/// Pins for reading. The caller ends it with [`Access::release_read`].
#[inline]
pub(crate) fn pin_read(access: &Access, home: Home<'_>) -> Result<(), Refusal> {
    access.acquire_read().map_err(Refusal::InUse)?;
    if is_stale(home) {
        return Err(Refusal::Stale {
            watched: access.release_read(),
        });
    }
    Ok(())
}

/// Pins for writing. The caller ends it with [`Access::release_write`].
#[inline]
pub(crate) fn pin_write(access: &Access, home: Home<'_>) -> Result<(), Refusal> {
    access.acquire_write().map_err(Refusal::InUse)?;
    if is_stale(home) {
        return Err(Refusal::Stale {
            watched: access.release_write(),
        });
    }
    Ok(())
}

#[inline]
fn is_stale(home: Home<'_>) -> bool {
    home.is_some_and(|(epoch, stamp)| epoch.get() != stamp)
}
