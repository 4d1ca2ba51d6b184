//! An open workspace on its thread: its memory from opening to closing.
//! Which one is current is `scope.rs`; the memory itself, `ground.rs`; sizes, `plan.rs`.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::arena::Arena;
use crate::buffer::Buffer;
use crate::error::{AllocError, WorkspaceError};
use crate::ground::{Ground, Request};
use crate::mode::{self, DebugMode};
use crate::plan::ResetPolicy;
use crate::timeline::TimelineKind;
use crate::workspace::Workspace;

/// A workspace's memory: with the thread that has it open, in the workspace's slot while it is closed. A box, because a value
/// that was just made cannot be moved on before it has reached the cache.
#[derive(Debug)]
pub(crate) struct Session {
    arena: Arc<Arena>,
    pub(crate) ground: Ground,
}

impl Session {
    /// The memory of a workspace that is closed.
    pub(crate) fn new(arena: Arc<Arena>, ground: Ground) -> Box<Session> {
        Box::new(Session { arena, ground })
    }

    /// Takes the memory away from the workspace and starts a generation.
    #[inline]
    pub(crate) fn open(
        workspace: &Workspace,
        location: &'static Location<'static>,
    ) -> Result<Box<Session>, Box<WorkspaceError>> {
        let Some(mut session) = workspace.take_session() else {
            return Err(open_elsewhere(workspace));
        };
        if !session.ground.is_ready() {
            session = session.prepared(workspace)?;
        }
        let Session { arena, ground } = &mut *session;
        ground.open(arena, mode::debug_mode(), location);
        Ok(session)
    }

    /// The session with the memory that it needs; if there is none, the workspace has it back.
    #[cold]
    fn prepared(
        mut self: Box<Self>,
        workspace: &Workspace,
    ) -> Result<Box<Self>, Box<WorkspaceError>> {
        let error = match self.prepare() {
            Ok(()) => return Ok(self),
            Err(error) => error,
        };
        workspace.return_session(self);
        Err(Box::new(error))
    }

    fn prepare(&mut self) -> Result<(), WorkspaceError> {
        let Session { arena, ground } = self;
        let (config, name) = (arena.config(), || arena.name().clone());
        if config.reset == ResetPolicy::Circular && config.blocks == 0 {
            return Err(WorkspaceError::NoBlocks { workspace: name() });
        }
        let size = match ground.size() {
            0 => config.initial_block_size(),
            size => size,
        };
        (ground.resize(arena, size)).map_err(|source| WorkspaceError::Alloc {
            workspace: name(),
            source,
        })
    }

    /// What the arrays of the workspace share.
    #[inline]
    pub(crate) fn arena(&self) -> &Arc<Arena> {
        &self.arena
    }

    /// An array in the workspace's block, where that is a matter of a few loads and stores.
    #[inline(always)]
    pub(crate) fn bump(
        &mut self,
        bytes: usize,
        allocated_at: &'static Location<'static>,
    ) -> Option<Buffer> {
        self.ground.bump(&self.arena, bytes, allocated_at)
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
            spill: self.arena.config().spill,
            allocated_at,
        };
        Some(self.ground.allocate(&self.arena, &request))
    }

    /// Ends the generation and learns from it; the workspace gets the session back after that.
    #[inline]
    pub(crate) fn close(&mut self, location: &'static Location<'static>) {
        let Session { arena, ground } = self;
        if arena.timeline().is_on() {
            note_close(arena, location);
        }
        if ground.mode() != DebugMode::Off {
            return close_unlearned(arena, ground, location);
        }
        ground.close(arena, location);
        // A block that held every cycle so far stays as it is, whatever the policies say.
        if arena.figures().max_cycle.load(Ordering::Relaxed) > ground.size() {
            learn(arena, ground);
        }
    }

    /// [`close`](Session::close) by one who has no handle to the workspace, which gets its memory back.
    #[cold]
    pub(crate) fn close_and_return(mut self: Box<Self>, location: &'static Location<'static>) {
        self.close(location);
        if let Some(workspace) = self.arena.workspace() {
            workspace.return_session(self);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The session of a scope that was lost ends here: its arrays must not be opened when their memory is gone.
        if self.arena.epoch().get().is_open() {
            self.ground.close(&self.arena, Location::caller());
        }
    }
}

#[cold]
fn open_elsewhere(workspace: &Workspace) -> Box<WorkspaceError> {
    Box::new(WorkspaceError::OpenOnAnotherThread {
        workspace: workspace.name().clone(),
        opened_at: workspace.arena().opened_at(),
    })
}

/// Gives the workspace the size that it should have from now on.
#[inline(never)]
fn learn(arena: &Arena, ground: &mut Ground) {
    let figures = arena.figures();
    let max_cycle = figures.max_cycle.load(Ordering::Relaxed);
    let cycles = figures.cycles.load(Ordering::Relaxed);
    let next_size = (arena.config()).size_after_close(ground.size(), max_cycle, cycles);
    // Without memory for a larger block the workspace goes on with what it has, and spills.
    let _spills_on = ground.resize(arena, next_size);
}

/// Ends a generation whose arrays were elsewhere, so that there is nothing to be learned from it.
#[cold]
fn close_unlearned(arena: &Arc<Arena>, ground: &mut Ground, location: &'static Location<'static>) {
    let figures = arena.figures();
    let before = figures.max_cycle.load(Ordering::Relaxed);
    ground.close(arena, location);
    figures.max_cycle.store(before, Ordering::Relaxed);
}

#[cold]
fn note_close(arena: &Arena, location: &'static Location<'static>) {
    let kind = TimelineKind::Closed {
        bytes: arena.figures().this_cycle(),
    };
    let generation = arena.epoch().get().generation();
    arena.timeline().note(generation, Some(location), kind);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::AccessError;

    /// Nothing loses an open session; if something did, its memory must not go before its arrays are closed.
    #[test]
    fn a_session_that_is_lost_closes_its_arrays() {
        let (workspace, here) = (Workspace::new("LOST"), Location::caller());
        let mut session = Session::open(&workspace, here).unwrap();
        let arrays = [(); 2].map(|()| session.allocate(64, true, here).unwrap().unwrap());
        let held = arrays[0].read().unwrap();
        drop(session);
        assert_eq!(held.bytes(), [0; 64], "kept for its guard");
        drop(held);
        for array in &arrays {
            assert!(matches!(array.read(), Err(AccessError::Leaked(_))));
        }
        assert!(workspace.enter().is_err(), "there is no memory to open");
    }
}
