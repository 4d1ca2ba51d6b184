//! Which workspace a thread allocates in, and what opens and closes scopes; the stack of them is `stack.rs`.
//! The memory of an open workspace belongs to the thread that has it open, so allocating needs no lock and no atomic exchange.

use std::panic::Location;
use std::sync::Arc;

use crate::arena::Arena;
use crate::buffer::{self, Buffer};
use crate::error::{AllocError, WorkspaceError};
use crate::session::Session;
use crate::stack::{ARENA, CURRENT, Entry, HEAP, Kind, SCOPES, Stack};
use crate::workspace::{Workspace, WorkspaceGuard, WorkspaceName};

/// An array in the current workspace's block, where that is a matter of a few loads and stores.
#[inline(always)]
pub(crate) fn bump(bytes: usize, location: &'static Location<'static>) -> Option<Buffer> {
    let bumped =
        SCOPES.try_with(|scopes| scopes.with_current(|session| session.bump(bytes, location)));
    bumped.ok().flatten().flatten()
}

/// An array in the current workspace, in its block or spilled; `None` if allocations go to the heap, or workspaces are
/// bypassed.
pub(crate) fn allocate(
    bytes: usize,
    zero: bool,
    location: &'static Location<'static>,
) -> Option<Result<Buffer, AllocError>> {
    let allocated = SCOPES
        .try_with(|scopes| scopes.with_current(|session| session.allocate(bytes, zero, location)));
    allocated.ok().flatten().flatten()
}

/// True if allocations of this thread go to the heap.
#[inline]
pub(crate) fn is_heap_current() -> bool {
    CURRENT.get() == HEAP
}

/// True if the arena is that of this thread's current workspace, which is open here and so nowhere else.
#[inline]
pub(crate) fn is_current(arena: &Arc<Arena>) -> bool {
    ARENA.get() == Arc::as_ptr(arena)
}

/// An array in a workspace that this thread has open, current or not.
pub(crate) fn allocate_in(
    workspace: &Workspace,
    bytes: usize,
    zero: bool,
    location: &'static Location<'static>,
) -> Result<Buffer, AllocError> {
    let allocated = SCOPES.try_with(|scopes| {
        let mut stack = scopes.stack.borrow_mut();
        let position = stack.position(workspace)?;
        scopes.with_session(&mut stack, position, |session| {
            session.allocate(bytes, zero, location)
        })
    });
    match allocated.ok().flatten() {
        Some(Some(allocated)) => allocated,
        Some(None) => buffer::heap(bytes, zero, location),
        None => Err(not_open_here(workspace)),
    }
}

fn not_open_here(workspace: &Workspace) -> AllocError {
    AllocError::NotOpenHere {
        workspace: workspace.name().clone(),
    }
}

/// Opens a workspace, or counts one more scope of it if this thread has it open.
pub(crate) fn enter(
    workspace: &Workspace,
    location: &'static Location<'static>,
) -> Result<WorkspaceGuard, WorkspaceError> {
    let serial = enter_scope(workspace, location)?;
    Ok(WorkspaceGuard::new(workspace, serial, location))
}

/// [`enter`] without a guard: the serial number that [`leave`] wants.
#[inline]
fn enter_scope(
    workspace: &Workspace,
    location: &'static Location<'static>,
) -> Result<u64, WorkspaceError> {
    SCOPES
        .with(|scopes| scopes.enter(workspace, location))
        .map_err(|error| *error)
}

/// Runs a function with the workspace open, and closes it, also on panic. A [`WorkspaceGuard`] that never leaves this
/// function, and so needs no handle of its own.
pub(crate) fn run<R>(
    workspace: &Workspace,
    body: impl FnOnce(&Workspace) -> R,
    location: &'static Location<'static>,
) -> Result<R, WorkspaceError> {
    struct Unwinding<'a> {
        serial: u64,
        workspace: &'a Workspace,
        location: &'static Location<'static>,
    }
    impl Drop for Unwinding<'_> {
        fn drop(&mut self) {
            leave(self.serial, self.workspace, self.location);
        }
    }
    let serial = enter_scope(workspace, location)?;
    let unwinding = Unwinding {
        serial,
        workspace,
        location,
    };
    let result = body(workspace);
    std::mem::forget(unwinding);
    left_well(workspace, leave(serial, workspace, location))?;
    Ok(result)
}

/// Makes an open workspace current again.
pub(crate) fn borrow(
    workspace: &Workspace,
    location: &'static Location<'static>,
) -> Result<WorkspaceGuard, WorkspaceError> {
    let name = || workspace.name().clone();
    let serial = SCOPES.with(|scopes| {
        let mut stack = scopes.stack.borrow_mut();
        let Some(position) = stack.position(workspace) else {
            return Err(WorkspaceError::NotOpen { workspace: name() });
        };
        let is_borrowed =
            |entry: &Entry| matches!(entry.kind, Kind::Borrowed(index) if index == position);
        if stack.entries.iter().any(is_borrowed) {
            return Err(WorkspaceError::AlreadyBorrowed { workspace: name() });
        }
        Ok(scopes.push(&mut stack, Kind::Borrowed(position)))
    })?;
    Ok(WorkspaceGuard::new(workspace, serial, location))
}

/// Runs a function with allocations going to the heap, whatever workspaces are open; restored afterwards, also on panic.
///
/// ```
/// use lodestride_buffer::{scope_out, Buffer, Workspace};
/// let workspace = Workspace::new("LOOP");
/// let kept = workspace.scope(|_| scope_out(|| Buffer::zeroed(400)))??;
/// assert!(!kept.is_attached());
/// assert!(kept.read().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn scope_out<R>(body: impl FnOnce() -> R) -> R {
    struct Back {
        serial: u64,
        location: &'static Location<'static>,
    }
    impl Drop for Back {
        fn drop(&mut self) {
            if pop_newest(self.serial).is_none() {
                leave_early(self.serial, self.location);
            }
        }
    }
    let _back = Back {
        serial: SCOPES.with(|scopes| scopes.push(&mut scopes.stack.borrow_mut(), Kind::Out)),
        location: Location::caller(),
    };
    body()
}

/// The workspace that allocations of this thread go into; `None` for the heap.
pub fn current_workspace() -> Option<Workspace> {
    arena_at(|_| Some(CURRENT.get()))?.workspace()
}

/// The workspace that was current when the current one was opened; `None` where that was the heap, or nothing is open.
pub fn parent_workspace() -> Option<Workspace> {
    let before = CURRENT.get().checked_sub(1)?;
    arena_at(|stack| stack.opener(before))?.workspace()
}

/// The arena of the workspace that one of this thread's entries opened.
fn arena_at(index: impl FnOnce(&Stack) -> Option<usize>) -> Option<Arc<Arena>> {
    let arena = SCOPES.try_with(|scopes| {
        let mut stack = scopes.stack.borrow_mut();
        let index = index(&stack)?;
        scopes.arena(&mut stack, index)
    });
    arena.ok().flatten()
}

/// True if this thread has the workspace open.
pub(crate) fn is_open_here(workspace: &Workspace) -> bool {
    let found = SCOPES.try_with(|scopes| scopes.stack.borrow().position(workspace).is_some());
    found.unwrap_or(false)
}

/// The names of the workspaces this thread has open, outermost first.
pub fn open_workspaces() -> Vec<WorkspaceName> {
    let names = SCOPES.try_with(|scopes| {
        let mut stack = scopes.stack.borrow_mut();
        (0..stack.entries.len())
            .filter_map(|index| scopes.arena(&mut stack, index))
            .map(|arena| arena.name().clone())
            .collect()
    });
    names.unwrap_or_default()
}

/// The error of a scope that was not left in its turn.
pub(crate) fn left_well(workspace: &Workspace, left: Left) -> Result<(), WorkspaceError> {
    let workspace = || workspace.name().clone();
    match left {
        Left::InOrder => Ok(()),
        Left::OutOfOrder { inner } => Err(WorkspaceError::OutOfOrder {
            workspace: workspace(),
            inner,
        }),
        Left::Before => Err(WorkspaceError::AlreadyClosed {
            workspace: workspace(),
        }),
    }
}

/// How a scope was left.
pub(crate) enum Left {
    InOrder,
    /// With these scopes still open inside it.
    OutOfOrder {
        inner: Vec<WorkspaceName>,
    },
    /// It had been left already.
    Before,
}

/// Ends the scope of a workspace that has this serial number, and those that were opened inside it.
#[inline]
pub(crate) fn leave(
    serial: u64,
    workspace: &Workspace,
    location: &'static Location<'static>,
) -> Left {
    match pop_newest(serial) {
        Some(None) => Left::InOrder,
        Some(Some(mut session)) => {
            session.close(location);
            workspace.return_session(session);
            Left::InOrder
        }
        None => leave_early(serial, location),
    }
}

/// Takes the newest entry away if it has this serial number; with its session, if it opened a workspace.
///
/// Closing happens outside the borrow: it may drop the last handle of a workspace.
#[inline]
fn pop_newest(serial: u64) -> Option<Option<Box<Session>>> {
    let popped = SCOPES.try_with(|scopes| {
        let mut stack = scopes.stack.borrow_mut();
        let newest = stack.entries.last()?;
        if newest.serial != serial {
            return None;
        }
        scopes.pop(&mut stack)
    });
    popped.ok().flatten()
}

/// [`leave`] of a scope that is not the newest: pops entries down to it, innermost first.
#[cold]
fn leave_early(serial: u64, location: &'static Location<'static>) -> Left {
    let mut inner = Vec::new();
    loop {
        let popped = SCOPES.try_with(|scopes| {
            let mut stack = scopes.stack.borrow_mut();
            stack.entries.iter().rfind(|entry| entry.serial == serial)?;
            let newest = stack.entries.last()?.serial;
            // The newest entry's workspace is the current one.
            let current = scopes.arena(&mut stack, CURRENT.get());
            Some((newest, scopes.pop(&mut stack)?, current))
        });
        let Ok(Some((newest, session, current))) = popped else {
            return Left::Before;
        };
        if let Some(session) = session {
            session.close_and_return(location);
        }
        if newest == serial {
            inner.reverse();
            return Left::OutOfOrder { inner };
        }
        inner.extend(current.map(|arena| arena.name().clone()));
    }
}
