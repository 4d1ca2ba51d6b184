//! Which workspace a thread allocates in: its stack of open scopes, and what pushes and pops it.
//! The memory of an open workspace belongs to its stack entry, so allocating needs no lock and no atomic exchange.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::sync::Arc;

use crate::arena::Arena;
use crate::buffer::{self, Buffer};
use crate::error::{AllocError, WorkspaceError};
use crate::session::Session;
use crate::workspace::{Workspace, WorkspaceGuard, WorkspaceName};

/// One thread's open scopes, outermost first.
#[derive(Debug)]
struct Stack {
    entries: Vec<Entry>,
    /// Serial number of the newest entry ever; tells guards of popped entries from live ones.
    serial: u64,
}

#[derive(Debug)]
struct Entry {
    serial: u64,
    kind: Kind,
}

/// Every part is a whole word: entries are moved right after they were made, and a copy in odd pieces cannot be loaded again
/// before it has reached the cache.
#[derive(Debug)]
enum Kind {
    /// The workspace was opened here.
    Open(Box<Session>),
    /// The workspace that the entry with this index opened was entered once more.
    Again(usize),
    /// The workspace that the entry with this index opened was borrowed.
    Borrowed(usize),
    /// No workspace is current.
    Out,
}

/// Value of `CURRENT` while allocations go to the heap.
const HEAP: usize = usize::MAX;

thread_local! {
    static STACK: RefCell<Stack> = const {
        RefCell::new(Stack { entries: Vec::new(), serial: 0 })
    };
    /// Index of the stack entry whose workspace is current. Apart from the stack, because it needs no destructor and so
    /// costs one load for threads that use no workspace.
    static CURRENT: Cell<usize> = const { Cell::new(HEAP) };
    /// The arena of that workspace, to be compared only; null for the heap.
    static ARENA: Cell<*const Arena> = const { Cell::new(std::ptr::null()) };
}

impl Stack {
    fn push(&mut self, kind: Kind) -> u64 {
        self.serial += 1;
        self.entries.push(Entry {
            serial: self.serial,
            kind,
        });
        self.update_current();
        self.serial
    }

    /// [`push`](Self::push) of a workspace that was just opened, which is current from now on.
    #[inline]
    fn push_open(&mut self, workspace: &Workspace, session: Box<Session>) -> u64 {
        CURRENT.set(self.entries.len());
        ARENA.set(Arc::as_ptr(workspace.arena()));
        self.serial += 1;
        self.entries.push(Entry {
            serial: self.serial,
            kind: Kind::Open(session),
        });
        self.serial
    }

    fn pop(&mut self) -> Option<Entry> {
        let entry = self.entries.pop()?;
        self.update_current();
        Some(entry)
    }

    fn update_current(&self) {
        let last = self.entries.len().checked_sub(1);
        let current = last.and_then(|last| self.opener(last)).unwrap_or(HEAP);
        CURRENT.set(current);
        ARENA.set(match self.workspace(current) {
            Some(workspace) => Arc::as_ptr(workspace.arena()),
            None => std::ptr::null(),
        });
    }

    /// The index of the entry that opened the workspace which the entry with this index made current.
    fn opener(&self, index: usize) -> Option<usize> {
        match self.entries.get(index)?.kind {
            Kind::Open(_) => Some(index),
            Kind::Again(index) | Kind::Borrowed(index) => Some(index),
            Kind::Out => None,
        }
    }

    /// The workspace that the entry with this index opened.
    fn workspace(&self, index: usize) -> Option<&Workspace> {
        match self.entries.get(index).map(|entry| &entry.kind) {
            Some(Kind::Open(session)) => session.workspace(),
            _ => None,
        }
    }

    #[inline]
    fn session_mut(&mut self, index: usize) -> Option<&mut Session> {
        match self.entries.get_mut(index).map(|entry| &mut entry.kind) {
            Some(Kind::Open(session)) => Some(session),
            _ => None,
        }
    }

    /// The entry that opened this workspace.
    fn position(&self, workspace: &Workspace) -> Option<usize> {
        (0..self.entries.len()).find(|index| {
            self.workspace(*index)
                .is_some_and(|open| open.is_same(workspace))
        })
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // A thread that ends with open scopes has forgotten guards; their workspaces must not stay open for ever.
        CURRENT.set(HEAP);
        ARENA.set(std::ptr::null());
        while let Some(entry) = self.entries.pop() {
            close_entry(entry, Location::caller());
        }
    }
}

/// An array in the current workspace's block; `None` if allocations go to the heap or the block has no room.
#[inline]
pub(crate) fn bump(
    bytes: usize,
    zero: bool,
    location: &'static Location<'static>,
) -> Option<Buffer> {
    let current = CURRENT.get();
    if current == HEAP {
        return None;
    }
    let bumped = STACK.try_with(|stack| {
        let mut stack = stack.borrow_mut();
        stack.session_mut(current)?.bump(bytes, zero, location)
    });
    bumped.ok().flatten()
}

/// An array in the current workspace, in its block or spilled; `None` if allocations go to the heap, or workspaces are
/// bypassed.
pub(crate) fn allocate(
    bytes: usize,
    zero: bool,
    location: &'static Location<'static>,
) -> Option<Result<Buffer, AllocError>> {
    let current = CURRENT.get();
    if current == HEAP {
        return None;
    }
    STACK.with_borrow_mut(|stack| {
        let session = stack.session_mut(current)?;
        session.allocate(bytes, zero, location)
    })
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
    let allocated = STACK.try_with(|stack| {
        let mut stack = stack.borrow_mut();
        let position = stack.position(workspace)?;
        let session = stack.session_mut(position)?;
        Some(session.allocate(bytes, zero, location))
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
    STACK.with(|stack| {
        let mut stack = stack.borrow_mut();
        match stack.position(workspace) {
            None => Ok(stack.push_open(workspace, Session::open(workspace, location)?)),
            Some(index) => Ok(stack.push(Kind::Again(index))),
        }
    })
}

/// Runs a function with the workspace open, and closes it, also on panic. A [`WorkspaceGuard`] that never leaves this
/// function, and so needs no handle of its own.
pub(crate) fn run<R>(
    workspace: &Workspace,
    body: impl FnOnce(&Workspace) -> R,
    location: &'static Location<'static>,
) -> Result<R, WorkspaceError> {
    struct Unwinding {
        serial: u64,
        location: &'static Location<'static>,
    }
    impl Drop for Unwinding {
        fn drop(&mut self) {
            leave(self.serial, self.location);
        }
    }
    let serial = enter_scope(workspace, location)?;
    let unwinding = Unwinding { serial, location };
    let result = body(workspace);
    std::mem::forget(unwinding);
    left_well(workspace, leave(serial, location))?;
    Ok(result)
}

/// Makes an open workspace current again.
pub(crate) fn borrow(
    workspace: &Workspace,
    location: &'static Location<'static>,
) -> Result<WorkspaceGuard, WorkspaceError> {
    let name = || workspace.name().clone();
    let serial = STACK.with_borrow_mut(|stack| {
        let Some(position) = stack.position(workspace) else {
            return Err(WorkspaceError::NotOpen { workspace: name() });
        };
        let is_borrowed =
            |entry: &Entry| matches!(entry.kind, Kind::Borrowed(index) if index == position);
        if stack.entries.iter().any(is_borrowed) {
            return Err(WorkspaceError::AlreadyBorrowed { workspace: name() });
        }
        Ok(stack.push(Kind::Borrowed(position)))
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
            leave(self.serial, self.location);
        }
    }
    let _back = Back {
        serial: STACK.with_borrow_mut(|stack| stack.push(Kind::Out)),
        location: Location::caller(),
    };
    body()
}

/// The workspace that allocations of this thread go into; `None` for the heap.
pub fn current_workspace() -> Option<Workspace> {
    let index = CURRENT.get();
    let current = STACK.try_with(|stack| {
        let stack = stack.borrow();
        stack.workspace(index).cloned()
    });
    current.ok().flatten()
}

/// The workspace that was current when the current one was opened; `None` where that was the heap, or nothing is open.
pub fn parent_workspace() -> Option<Workspace> {
    let before = CURRENT.get().checked_sub(1)?;
    let parent = STACK.try_with(|stack| {
        let stack = stack.borrow();
        stack.workspace(stack.opener(before)?).cloned()
    });
    parent.ok().flatten()
}

/// True if this thread has the workspace open.
pub(crate) fn is_open_here(workspace: &Workspace) -> bool {
    let found = STACK.try_with(|stack| stack.borrow().position(workspace).is_some());
    found.unwrap_or(false)
}

/// The names of the workspaces this thread has open, outermost first.
pub fn open_workspaces() -> Vec<WorkspaceName> {
    let names = STACK.try_with(|stack| {
        let stack = stack.borrow();
        (0..stack.entries.len())
            .filter_map(|index| stack.workspace(index))
            .map(|workspace| workspace.name().clone())
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

/// Pops entries down to the one with this serial number, innermost first.
pub(crate) fn leave(serial: u64, location: &'static Location<'static>) -> Left {
    // Closing happens outside the borrow: it may drop the last handle of a workspace.
    let newest = STACK.try_with(|stack| {
        let mut stack = stack.borrow_mut();
        stack
            .entries
            .last()
            .filter(|entry| entry.serial == serial)?;
        stack.pop()
    });
    match newest {
        Ok(Some(entry)) => {
            close_entry(entry, location);
            Left::InOrder
        }
        _ => leave_early(serial, location),
    }
}

/// [`leave`] of a scope that is not the newest.
#[cold]
fn leave_early(serial: u64, location: &'static Location<'static>) -> Left {
    let mut inner = Vec::new();
    loop {
        let popped = STACK.try_with(|stack| {
            let mut stack = stack.borrow_mut();
            stack.entries.iter().rfind(|entry| entry.serial == serial)?;
            // The newest entry's workspace is the current one.
            let current = stack.workspace(CURRENT.get());
            let name = current.map(|workspace| workspace.name().clone());
            Some((stack.pop()?, name))
        });
        let Ok(Some((entry, name))) = popped else {
            return Left::Before;
        };
        let is_last = entry.serial == serial;
        close_entry(entry, location);
        if is_last {
            inner.reverse();
            return Left::OutOfOrder { inner };
        }
        inner.extend(name);
    }
}

fn close_entry(entry: Entry, location: &'static Location<'static>) {
    if let Kind::Open(session) = entry.kind {
        session.close(location);
    }
}
