//! One thread's stack of open scopes, and the session that is current among them. What is done with it is `scope.rs`.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr;
use std::sync::Arc;

use crate::arena::Arena;
use crate::error::WorkspaceError;
use crate::session::Session;
use crate::workspace::Workspace;

/// One thread's open scopes.
///
/// No entry has a handle to its workspace: whoever opened it has one, until it is closed.
pub(crate) struct Scopes {
    /// The session that allocations go into, out of its entry meanwhile; `None` for the heap, and while it is used: what is
    /// allocated by that goes to the heap.
    current: Cell<Option<Box<Session>>>,
    pub(crate) stack: RefCell<Stack>,
}

/// The entries, outermost first.
#[derive(Debug)]
pub(crate) struct Stack {
    pub(crate) entries: Vec<Entry>,
    /// Serial number of the newest entry ever; tells guards of popped entries from live ones.
    serial: u64,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) serial: u64,
    pub(crate) kind: Kind,
}

/// Every part is a whole word: entries are moved right after they were made, and a copy in odd pieces cannot be loaded again
/// before it has reached the cache.
#[derive(Debug)]
pub(crate) enum Kind {
    /// The workspace with this arena was opened here; `None` while its session is the current one.
    Open(*const Arena, Option<Box<Session>>),
    /// The workspace that the entry with this index opened was entered once more.
    Again(usize),
    /// The workspace that the entry with this index opened was borrowed.
    Borrowed(usize),
    /// No workspace is current.
    Out,
}

/// Value of [`CURRENT`] while allocations go to the heap.
pub(crate) const HEAP: usize = usize::MAX;

thread_local! {
    pub(crate) static SCOPES: Scopes = const {
        Scopes {
            current: Cell::new(None),
            stack: RefCell::new(Stack { entries: Vec::new(), serial: 0 }),
        }
    };
    /// Index of the stack entry whose workspace is current. Apart from the stack, because it needs no destructor and so
    /// costs one load for threads that use no workspace.
    pub(crate) static CURRENT: Cell<usize> = const { Cell::new(HEAP) };
    /// The arena of that workspace, to be compared only; null for the heap.
    pub(crate) static ARENA: Cell<*const Arena> = const { Cell::new(ptr::null()) };
}

impl Scopes {
    pub(crate) fn push(&self, stack: &mut Stack, kind: Kind) -> u64 {
        self.park(stack);
        let serial = stack.push(kind);
        self.update_current(stack);
        serial
    }

    /// [`push`](Self::push) of a workspace that was just opened, which is current from now on and so does not go through its
    /// entry: a scope takes 15 ns by that and 22 without.
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
    pub(crate) fn enter(
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
    pub(crate) fn pop(&self, stack: &mut Stack) -> Option<Option<Box<Session>>> {
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
    pub(crate) fn with_session<R>(
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
    pub(crate) fn with_current<R>(&self, body: impl FnOnce(&mut Session) -> R) -> Option<R> {
        let mut session = self.current.take()?;
        let result = body(&mut session);
        self.current.set(Some(session));
        Some(result)
    }

    /// The arena of the workspace that the entry with this index opened.
    pub(crate) fn arena(&self, stack: &mut Stack, index: usize) -> Option<Arc<Arena>> {
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
    pub(crate) fn opener(&self, index: usize) -> Option<usize> {
        match self.entries.get(index)?.kind {
            Kind::Open(..) => Some(index),
            Kind::Again(index) | Kind::Borrowed(index) => Some(index),
            Kind::Out => None,
        }
    }

    /// The entry that opened this workspace.
    #[inline]
    pub(crate) fn position(&self, workspace: &Workspace) -> Option<usize> {
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
            session.close_and_return(Location::caller());
        }
    }
}
