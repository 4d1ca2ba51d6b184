//! An open workspace on its thread: its memory from opening to closing.
//! Which one is current is `scope.rs`; the memory itself, `ground.rs`; sizes, `plan.rs`.

use std::panic::Location;
use std::sync::atomic::Ordering;

use crate::arena::Arena;
use crate::buffer::Buffer;
use crate::error::{AllocError, WorkspaceError};
use crate::ground::{Ground, Request};
use crate::mode::{self, DebugMode};
use crate::plan::ResetPolicy;
use crate::timeline::TimelineKind;
use crate::workspace::Workspace;

/// A workspace's memory: in the stack of scopes of the thread that has it open, in the workspace's slot while it is closed. A
/// box, because a value that was just made cannot be moved on before it has reached the cache.
#[derive(Debug)]
pub(crate) struct Session {
    /// Keeps the workspace while it is open; `None` while it is closed.
    workspace: Option<Workspace>,
    pub(crate) ground: Ground,
}

impl Session {
    /// The memory of a workspace that is closed.
    pub(crate) fn new(ground: Ground) -> Box<Session> {
        Box::new(Session {
            workspace: None,
            ground,
        })
    }

    /// Takes the memory away from the workspace and starts a generation.
    #[inline]
    pub(crate) fn open(
        workspace: &Workspace,
        location: &'static Location<'static>,
    ) -> Result<Box<Session>, WorkspaceError> {
        let arena = workspace.arena();
        let name = || workspace.name().clone();
        let config = workspace.config();
        if config.reset == ResetPolicy::Circular && config.blocks == 0 {
            return Err(WorkspaceError::NoBlocks { workspace: name() });
        }
        let Some(mut session) = workspace.take_session() else {
            return Err(WorkspaceError::OpenOnAnotherThread {
                workspace: name(),
                opened_at: arena.opened_at(),
            });
        };
        let ground = &mut session.ground;
        let size = match ground.size() {
            0 => config.initial_block_size(),
            size => size,
        };
        if let Err(source) = ground.resize(arena, size) {
            workspace.return_session(session);
            return Err(WorkspaceError::Alloc {
                workspace: name(),
                source,
            });
        }
        ground.open(arena, mode::debug_mode(), location);
        session.workspace = Some(workspace.clone());
        Ok(session)
    }

    /// The workspace, which is open.
    #[inline]
    pub(crate) fn workspace(&self) -> Option<&Workspace> {
        self.workspace.as_ref()
    }

    /// An array in the workspace's block; `None` if that has no room.
    #[inline]
    pub(crate) fn bump(
        &mut self,
        bytes: usize,
        zero: bool,
        allocated_at: &'static Location<'static>,
    ) -> Option<Buffer> {
        let arena = self.workspace.as_ref()?.arena();
        self.ground.bump(arena, bytes, zero, allocated_at)
    }

    /// An array in the workspace; `None` if workspaces are bypassed.
    pub(crate) fn allocate(
        &mut self,
        bytes: usize,
        zero: bool,
        allocated_at: &'static Location<'static>,
    ) -> Option<Result<Buffer, AllocError>> {
        let workspace = self.workspace.as_ref()?;
        if self.ground.mode() == DebugMode::BypassEverything {
            return None;
        }
        let request = Request {
            bytes,
            zero,
            spill: workspace.config().spill,
            allocated_at,
        };
        Some(self.ground.allocate(workspace.arena(), &request))
    }

    /// Closes the workspace, learns from the cycle and gives the memory back.
    pub(crate) fn close(mut self: Box<Self>, location: &'static Location<'static>) {
        let Some(workspace) = self.workspace.take() else {
            return;
        };
        let (arena, ground) = (workspace.arena(), &mut self.ground);
        if arena.timeline().is_on() {
            note_close(arena, location);
        }
        let learns = ground.mode() == DebugMode::Off;
        let before = arena.figures().max_cycle.load(Ordering::Relaxed);
        ground.close(arena, location);
        let (size, figures) = (ground.size(), arena.figures());
        if learns {
            let max_cycle = figures.max_cycle.load(Ordering::Relaxed);
            let cycles = figures.cycles.load(Ordering::Relaxed);
            let config = workspace.config();
            let next_size = config.size_after_close(size, max_cycle, cycles);
            // Without memory for a larger block the workspace goes on with what it has, and spills.
            let _spills_on = ground.resize(arena, next_size);
        } else {
            figures.max_cycle.store(before, Ordering::Relaxed);
        }
        workspace.return_session(self);
    }
}

#[cold]
fn note_close(arena: &Arena, location: &'static Location<'static>) {
    let kind = TimelineKind::Closed {
        bytes: arena.figures().this_cycle(),
    };
    let generation = arena.epoch().get().generation();
    arena.timeline().note(generation, Some(location), kind);
}
