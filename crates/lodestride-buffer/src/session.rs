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

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) workspace: Workspace,
    pub(crate) ground: Box<Ground>,
}

impl Session {
    /// Takes the ground away from the workspace and starts a generation.
    pub(crate) fn open(
        workspace: &Workspace,
        location: &'static Location<'static>,
    ) -> Result<Session, WorkspaceError> {
        let arena = workspace.arena();
        let name = || workspace.name().clone();
        let config = workspace.config();
        if config.reset == ResetPolicy::Circular && config.blocks == 0 {
            return Err(WorkspaceError::NoBlocks { workspace: name() });
        }
        let Some(mut ground) = workspace.take_ground() else {
            return Err(WorkspaceError::OpenOnAnotherThread {
                workspace: name(),
                opened_at: arena.opened_at(),
            });
        };
        let size = match ground.size() {
            0 => config.initial_block_size(),
            size => size,
        };
        if let Err(source) = ground.resize(arena, size) {
            workspace.return_ground(ground);
            return Err(WorkspaceError::Alloc {
                workspace: name(),
                source,
            });
        }
        ground.open(arena, mode::debug_mode(), location);
        Ok(Session {
            workspace: workspace.clone(),
            ground,
        })
    }

    /// An array in the workspace; `None` if workspaces are bypassed.
    pub(crate) fn allocate(
        &mut self,
        bytes: usize,
        zero: bool,
        allocated_at: &'static Location<'static>,
    ) -> Option<Result<Buffer, AllocError>> {
        if self.ground.mode() == DebugMode::BypassEverything {
            return None;
        }
        let request = Request {
            bytes,
            zero,
            spill: self.workspace.config().spill,
            allocated_at,
        };
        Some(self.ground.allocate(self.workspace.arena(), &request))
    }

    /// Closes the workspace, learns from the cycle and gives the ground back.
    pub(crate) fn close(mut self, location: &'static Location<'static>) {
        let arena = self.workspace.arena();
        if arena.timeline().is_on() {
            note_close(arena, location);
        }
        let learns = self.ground.mode() == DebugMode::Off;
        let before = arena.figures().max_cycle.load(Ordering::Relaxed);
        self.ground.close(arena, location);
        let (size, figures) = (self.ground.size(), arena.figures());
        if learns {
            let max_cycle = figures.max_cycle.load(Ordering::Relaxed);
            let cycles = figures.cycles.load(Ordering::Relaxed);
            let config = self.workspace.config();
            let next_size = config.size_after_close(size, max_cycle, cycles);
            // Without memory for a larger block the workspace goes on with what it has, and spills.
            let _spills_on = self.ground.resize(arena, next_size);
        } else {
            figures.max_cycle.store(before, Ordering::Relaxed);
        }
        self.workspace.return_ground(self.ground);
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
