//! What a buffer says about itself, and how it words a refusal.
//! The door is `buffer.rs`, the texts are `error.rs`.

use std::fmt;

use crate::access::Holder;
use crate::buffer::Buffer;
use crate::error::{AccessError, BusyAccess, ReadOnlyAccess};
use crate::pin::Refusal;
use crate::workspace::{Workspace, WorkspaceName};

impl Buffer {
    /// The name of the workspace the memory belongs to; `None` for the heap.
    pub fn workspace(&self) -> Option<&WorkspaceName> {
        self.arena().map(|(arena, _)| arena.name())
    }

    /// The generation of the workspace in which the memory was allocated; `None` for the heap.
    pub fn generation(&self) -> Option<u64> {
        self.arena().map(|(_, stamp)| stamp.generation())
    }

    /// True if the memory belongs to a workspace, open or not.
    pub fn is_attached(&self) -> bool {
        self.arena().is_some()
    }

    /// True if the memory belongs to this workspace, open or not.
    pub fn is_attached_to(&self, workspace: &Workspace) -> bool {
        self.arena()
            .is_some_and(|(arena, _)| arena.belongs_to(workspace.arena()))
    }

    /// True unless the memory's workspace was closed or re-opened: true for the heap, always, and in a circular workspace until
    /// the array's block is used again.
    pub fn is_in_scope(&self) -> bool {
        self.arena()
            .is_none_or(|(arena, stamp)| arena.epoch().get() == stamp)
    }

    /// True if nobody can ever write to the memory: that of a mapped file, or of an owner that only lends it for reading
    /// ([`read_only`](Buffer::read_only)). A guard for writing is then [`AccessError::ReadOnly`].
    pub fn is_read_only(&self) -> bool {
        self.access().is_frozen()
    }

    /// The check of a guard without the guard: is the workspace still in the generation of the allocation?
    ///
    /// # Errors
    /// [`AccessError::Leaked`] or [`AccessError::Outdated`].
    pub fn validate(&self) -> Result<(), AccessError> {
        self.stale().map_or(Ok(()), Err)
    }

    /// The error for a guard that was refused.
    #[cold]
    pub(crate) fn refused(&self, refusal: Refusal, writing: bool) -> AccessError {
        let holder = match refusal {
            Refusal::InUse(holder) => holder,
            Refusal::Stale { watched } => {
                if watched {
                    self.last_guard_ended();
                }
                // Never shown: a stale array stays stale.
                Holder::Readers(0)
            }
        };
        if writing && self.is_read_only() {
            return AccessError::ReadOnly(Box::new(ReadOnlyAccess {
                made_at: self.allocated_at(),
            }));
        }
        // The workspace comes first, however many guards there are.
        self.stale().unwrap_or_else(|| {
            AccessError::InUse(Box::new(BusyAccess {
                writing,
                holder,
                allocated_at: self.allocated_at(),
            }))
        })
    }

    fn stale(&self) -> Option<AccessError> {
        let (arena, stamp) = self.arena()?;
        arena.stale(stamp, self.allocated_at())
    }

    /// The last guard of a stale array was dropped: its workspace may free the block it kept for it.
    #[cold]
    pub(crate) fn last_guard_ended(&self) {
        if let Some((arena, _)) = self.arena() {
            arena.sweep();
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("bytes", &self.len())
            .field("workspace", &self.workspace().map(WorkspaceName::as_str))
            .field("generation", &self.generation())
            .finish_non_exhaustive()
    }
}
