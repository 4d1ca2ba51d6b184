//! Which workspace a thread allocates in: its stack of open scopes, and what pushes and pops it.
//! The memory of an open workspace belongs to the thread that has it open, so allocating needs no lock and no atomic exchange.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr;
use std::sync::Arc;

use crate::arena::Arena;
use crate::buffer::{self, Buffer};
use crate::error::{AllocError, WorkspaceError};
use crate::session::Session;
use crate::workspace::{Workspace, WorkspaceGuard, WorkspaceName};

/// One thread's open scopes.
///
/// No entry has a handle to its workspace: whoever opened it has one, until it is closed.
struct Scopes {
    /// The session that allocations go into, out of its entry meanwhile; `None` for the heap, and while it is used: what is
    /// allocated by that goes to the heap.
    current: Cell<Option<Box<Session>>>,
    stack: RefCell<Stack>,
}

/// The entries, outermost first.
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
    /// The workspace with this arena was opened here; `None` while its session is the current one.
    Open(*const Arena, Option<Box<Session>>),
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
    static SCOPES: Scopes = const {
        Scopes {
            current: Cell::new(None),
            stack: RefCell::new(Stack { entries: Vec::new(), serial: 0 }),
        }
    };
    /// Index of the stack entry whose workspace is current. Apart from the stack, because it needs no destructor and so
    /// costs one load for threads that use no workspace.
    static CURRENT: Cell<usize> = const { Cell::new(HEAP) };
    /// The arena of that workspace, to be compared only; null for the heap.
    static ARENA: Cell<*const Arena> = const { Cell::new(ptr::null()) };
}

impl Scopes {
    fn push(&self, stack: &mut Stack, kind: Kind) -> u64 {
        self.park(stack);
        let serial = stack.push(kind);
        self.update_current(stack);
        serial
    }

    /// [`push`](Self::push) of a workspace that was just opened, which is current from now on.
    #[inline]
    fn push_open(&self, stack: &mut Stack, session: Box<Session>) -> u64 {
        self.park(stack);
        let arena = Arc::as_ptr(session.arena());
        CURRENT.set(stack.entries.len());
        ARENA.set(arena);
        self.current.set(Some(session));
        stack.push(Kind::Open(arena, None))
    }

    /// Opens a workspace, or counts one more scope of it: the serial number of the scope. An error in a box, because two words
    /// stay in registers.
    fn enter(
        &self,
        workspace: &Workspace,
        location: &'static Location<'static>,
    ) -> Result<u64, Box<WorkspaceError>> {
        let stack = &mut *self.stack.borrow_mut();
        match stack.position(workspace) {
            None => Ok(self.push_open(stack, Session::open(workspace, location)?)),
            Some(index) => Ok(self.push(stack, Kind::Again(index))),
        }
    }

    /// Takes the newest entry away; with its session, if it opened a workspace.
    #[inline]
    fn pop(&self, stack: &mut Stack) -> Option<Option<Box<Session>>> {
        let session = match stack.entries.pop()?.kind {
            // The newest one that opened a workspace made it current.
            Kind::Open(_, session) => session.or_else(|| self.current.take()),
            _ => {
                self.park(stack);
                None
            }
        };
        self.update_current(stack);
        Some(session)
    }

    /// Puts the current session back into the entry that opened its workspace.
    #[inline]
    fn park(&self, stack: &mut Stack) {
        let current = CURRENT.get();
        if current != HEAP
            && let Some(Kind::Open(_, session)) = stack.kind_mut(current)
        {
            *session = self.current.take();
        }
    }

    /// Makes current what the newest entry says; the session that was current is parked.
    #[inline]
    fn update_current(&self, stack: &mut Stack) {
        let newest = stack.entries.len().checked_sub(1);
        let current = newest.and_then(|newest| stack.opener(newest));
        let (index, arena) = match current {
            Some(index) => match stack.kind_mut(index) {
                Some(Kind::Open(arena, session)) => {
                    self.current.set(session.take());
                    (index, *arena)
                }
                _ => (HEAP, ptr::null()),
            },
            None => (HEAP, ptr::null()),
        };
        CURRENT.set(index);
        ARENA.set(arena);
    }

    /// What a function makes of the session that the entry with this index opened, which nobody else uses meanwhile.
    fn with_session<R>(
        &self,
        stack: &mut Stack,
        index: usize,
        body: impl FnOnce(&mut Session) -> R,
    ) -> Option<R> {
        if index == CURRENT.get() {
            return self.with_current(body);
        }
        match stack.kind_mut(index) {
            Some(Kind::Open(_, Some(session))) => Some(body(session)),
            _ => None,
        }
    }

    /// What a function makes of the current session; `None` if there is none.
    #[inline]
    fn with_current<R>(&self, body: impl FnOnce(&mut Session) -> R) -> Option<R> {
        let mut session = self.current.take()?;
        let result = body(&mut session);
        self.current.set(Some(session));
        Some(result)
    }

    /// The arena of the workspace that the entry with this index opened.
    fn arena(&self, stack: &mut Stack, index: usize) -> Option<Arc<Arena>> {
        self.with_session(stack, index, |session| Arc::clone(session.arena()))
    }
}

impl Stack {
    #[inline]
    fn push(&mut self, kind: Kind) -> u64 {
        self.serial += 1;
        let serial = self.serial;
        self.entries.push(Entry { serial, kind });
        serial
    }

    #[inline]
    fn kind_mut(&mut self, index: usize) -> Option<&mut Kind> {
        self.entries.get_mut(index).map(|entry| &mut entry.kind)
    }

    /// The index of the entry that opened the workspace which the entry with this index made current.
    #[inline]
    fn opener(&self, index: usize) -> Option<usize> {
        match self.entries.get(index)?.kind {
            Kind::Open(..) => Some(index),
            Kind::Again(index) | Kind::Borrowed(index) => Some(index),
            Kind::Out => None,
        }
    }

    /// The entry that opened this workspace.
    #[inline]
    fn position(&self, workspace: &Workspace) -> Option<usize> {
        let wanted = Arc::as_ptr(workspace.arena());
        let is_wanted =
            |entry: &Entry| matches!(entry.kind, Kind::Open(arena, _) if arena == wanted);
        self.entries.iter().position(is_wanted)
    }
}

impl Drop for Scopes {
    fn drop(&mut self) {
        // A thread that ends with open scopes has forgotten guards; their workspaces must not stay open for ever.
        let stack = self.stack.get_mut();
        let entries = std::mem::take(&mut stack.entries);
        let current = self.current.take();
        CURRENT.set(HEAP);
        ARENA.set(ptr::null());
        let parked = entries
            .into_iter()
            .rev()
            .filter_map(|entry| match entry.kind {
                Kind::Open(_, session) => session,
                _ => None,
            });
        for session in current.into_iter().chain(parked) {
            close(session, Location::caller());
        }
    }
}

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
            close(session, location);
        }
        if newest == serial {
            inner.reverse();
            return Left::OutOfOrder { inner };
        }
        inner.extend(current.map(|arena| arena.name().clone()));
    }
}

/// Closes a workspace whose handle is not at hand.
#[cold]
fn close(mut session: Box<Session>, location: &'static Location<'static>) {
    session.close(location);
    if let Some(workspace) = session.arena().workspace() {
        workspace.return_session(session);
    }
}
