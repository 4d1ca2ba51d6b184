//! Modes for finding out whether a fault has to do with workspaces: the same program, its memory elsewhere.

use std::sync::atomic::{AtomicU8, Ordering};

/// Where workspaces put their arrays, for the whole process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DebugMode {
    /// Where their configuration says.
    #[default]
    Off,
    /// Into blocks of their own: the arrays belong to their workspace and end with it, its block is not used, and nothing is
    /// learned. Memory tools see each array.
    #[doc(alias = "SPILL_EVERYTHING")]
    SpillEverything,
    /// On the heap: no array belongs to a workspace, so none is ever stale.
    #[doc(alias = "BYPASS_EVERYTHING")]
    BypassEverything,
}

static MODE: AtomicU8 = AtomicU8::new(0);

/// Sets the mode of all workspaces that are opened from now on, on any thread.
///
/// ```
/// use lodestride_buffer::{Buffer, DebugMode, Workspace, debug_mode, set_debug_mode};
/// let workspace = Workspace::new("LOOP");
/// set_debug_mode(DebugMode::BypassEverything);
/// let kept = workspace.scope(|_| Buffer::zeroed(400))??;
/// set_debug_mode(DebugMode::Off);
/// assert!(!kept.is_attached() && kept.read().is_ok());
/// assert_eq!(debug_mode(), DebugMode::Off);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "setDebugMode")]
pub fn set_debug_mode(mode: DebugMode) {
    MODE.store(mode as u8, Ordering::Relaxed);
}

/// The mode of workspaces that are opened now.
#[doc(alias = "getDebugMode")]
#[inline]
pub fn debug_mode() -> DebugMode {
    match MODE.load(Ordering::Relaxed) {
        1 => DebugMode::SpillEverything,
        2 => DebugMode::BypassEverything,
        _ => DebugMode::Off,
    }
}
