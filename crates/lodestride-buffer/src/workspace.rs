//! [`Workspace`]: the handle users hold, its figures and its explicit controls; [`WorkspaceGuard`], which keeps it open.
//! Opening and closing is `scope.rs`, memory is `arena.rs`, sizes are `plan.rs`.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::arena::{Arena, Slot};
use crate::error::WorkspaceError;
use crate::floor::Remap;
use crate::ground::Ground;
use crate::plan::WorkspaceConfig;
use crate::registry;
use crate::scope;
use crate::session::Session;

/// A workspace's name: a cheaply cloned string.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkspaceName(Arc<str>);

impl WorkspaceName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for WorkspaceName {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for WorkspaceName {
    fn borrow(&self) -> &str {
        self
    }
}

impl From<&str> for WorkspaceName {
    fn from(name: &str) -> Self {
        WorkspaceName(Arc::from(name))
    }
}

impl From<String> for WorkspaceName {
    fn from(name: String) -> Self {
        WorkspaceName(Arc::from(name))
    }
}

impl PartialEq<str> for WorkspaceName {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for WorkspaceName {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for WorkspaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for WorkspaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

/// Memory for the arrays of a loop: what is allocated while it is open on a thread costs a pointer increment, and all of
/// it is free again at the close.
///
/// An array that outlives its scope is safe to hold and an error to use. Handles are cheap to clone and stand for the
/// same workspace; its memory is freed with the last handle, or by [`destroy`](Workspace::destroy).
///
/// ```
/// use lodestride_buffer::{AccessError, Buffer, Workspace};
/// let workspace = Workspace::new("LOOP");
/// let kept = workspace.scope(|_| Buffer::zeroed(400))??;
/// assert!(matches!(kept.read(), Err(AccessError::Leaked(_))));
/// assert!(workspace.stats().size >= 400, "learned from the first cycle");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Workspace {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    arena: Arc<Arena>,
    /// The memory while the workspace is closed; a thread that opens it takes it away, so nobody else can.
    session: Slot,
}

/// The figures of a workspace. Bytes count each array rounded up to 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkspaceStats {
    /// The size of the block; of all blocks, if it is circular, some of which may still be waiting for their first turn.
    pub size: usize,
    /// Bytes of the block in use.
    pub offset: usize,
    /// Bytes allocated since the workspace was opened, spilled arrays included.
    pub this_cycle: usize,
    /// Bytes allocated in the cycle before.
    pub last_cycle: usize,
    /// Bytes allocated in the largest cycle so far.
    pub max_cycle: usize,
    /// Bytes of arrays that found no room in the block in this cycle.
    pub spilled: usize,
    /// How many arrays these are.
    #[doc(alias = "getNumberOfExternalAllocations")]
    pub spilled_arrays: usize,
    /// Bytes of earlier cycles that are still kept: blocks that a guard holds, and what over-sized turns of a circular
    /// workspace spilled.
    pub pinned: usize,
    /// How many blocks these are.
    #[doc(alias = "getNumberOfPinnedAllocations")]
    pub pinned_blocks: usize,
    /// Arrays allocated since the workspace was opened.
    pub arrays: usize,
    /// How often the workspace was opened.
    pub generation: u64,
    /// How often the workspace was closed.
    pub cycles: u64,
    /// Whether it is open now, on any thread.
    pub open: bool,
}

impl Workspace {
    /// A workspace with the default configuration. It has no memory before its first cycle has shown how much it needs.
    pub fn new(name: impl Into<WorkspaceName>) -> Workspace {
        Workspace::with_config(name, WorkspaceConfig::new())
    }

    /// A workspace with a configuration of its own. Memory for its initial size is taken now, that of a circular workspace at the
    /// first turn of each block. If there is none to be had, opening it tries again, and is an error.
    ///
    /// ```
    /// use lodestride_buffer::{Workspace, WorkspaceConfig};
    /// let workspace = Workspace::with_config("LOOP", WorkspaceConfig::new().initial_size(640).overallocation(1.0));
    /// assert_eq!(workspace.stats().size, 1280);
    /// ```
    #[doc(alias = "createNewWorkspace")]
    pub fn with_config(name: impl Into<WorkspaceName>, config: WorkspaceConfig) -> Workspace {
        Workspace::over(name.into(), config, None)
    }

    /// A workspace whose memory comes from the cache, or from a mapped file.
    pub(crate) fn over(
        name: WorkspaceName,
        config: WorkspaceConfig,
        file: Option<Box<dyn Remap>>,
    ) -> Workspace {
        let shared = Arc::new_cyclic(|handles| {
            let arena = Arc::new(Arena::new(name, config, handles.clone()));
            let mut ground = Ground::new(&config, file);
            // Who opens it tries again, and says what is wrong.
            let _later = ground.resize(&arena, config.initial_block_size());
            let session = Slot::new(Session::new(Arc::clone(&arena), ground));
            Shared { arena, session }
        });
        registry::add(&shared);
        Workspace { shared }
    }

    pub(crate) fn of_shared(shared: Arc<Shared>) -> Workspace {
        Workspace { shared }
    }

    /// The name.
    pub fn name(&self) -> &WorkspaceName {
        self.shared.arena.name()
    }

    /// The configuration.
    pub fn config(&self) -> &WorkspaceConfig {
        self.shared.arena.config()
    }

    /// True if both handles stand for the same workspace. Names need not be unique.
    pub fn is_same(&self, other: &Workspace) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Opens the workspace, runs the function, closes the workspace, also on panic.
    ///
    /// Inside its own scope the workspace is only counted: nothing is reset, and it stays open until the outermost scope
    /// ends.
    ///
    /// # Errors
    /// Those of [`enter`](Workspace::enter); the function has not run then. [`WorkspaceError::OutOfOrder`] and
    /// [`WorkspaceError::AlreadyClosed`] if guards were mixed up inside.
    #[track_caller]
    pub fn scope<R>(&self, body: impl FnOnce(&Workspace) -> R) -> Result<R, WorkspaceError> {
        scope::run(self, body, Location::caller())
    }

    /// Opens the workspace on this thread until the guard is closed or dropped: allocations go into it meanwhile.
    ///
    /// # Errors
    /// [`WorkspaceError::OpenOnAnotherThread`]; [`WorkspaceError::Alloc`] if the block cannot be had.
    #[track_caller]
    pub fn enter(&self) -> Result<WorkspaceGuard, WorkspaceError> {
        scope::enter(self, Location::caller())
    }

    /// Makes an open workspace the current one again, inside a scope opened later, until the guard is closed or dropped.
    /// Nothing is reset.
    ///
    /// # Errors
    /// [`WorkspaceError::NotOpen`] unless it is open on this thread, [`WorkspaceError::AlreadyBorrowed`] if it is
    /// borrowed already.
    #[track_caller]
    pub fn borrow(&self) -> Result<WorkspaceGuard, WorkspaceError> {
        scope::borrow(self, Location::caller())
    }

    /// True if it is open, on any thread.
    pub fn is_open(&self) -> bool {
        self.shared.arena.epoch().get().is_open()
    }

    /// True if this thread has it open, whether it is current or not.
    #[doc(alias = "checkIfWorkspaceExistsAndActive")]
    pub fn is_open_here(&self) -> bool {
        scope::is_open_here(self)
    }

    /// Fails unless this thread has it open.
    ///
    /// # Errors
    /// [`WorkspaceError::NotOpen`].
    #[doc(alias = "assertOpenAndActive")]
    pub fn expect_open(&self) -> Result<(), WorkspaceError> {
        if self.is_open_here() {
            return Ok(());
        }
        Err(WorkspaceError::NotOpen {
            workspace: self.name().clone(),
        })
    }

    /// Fails unless allocations of this thread go into it now.
    ///
    /// ```
    /// use lodestride_buffer::{Workspace, WorkspaceError, scope_out};
    /// let workspace = Workspace::new("LOOP");
    /// workspace.scope(|workspace| {
    ///     assert!(workspace.expect_current().is_ok());
    ///     let outside = scope_out(|| workspace.expect_current());
    ///     assert!(matches!(outside, Err(WorkspaceError::NotCurrent { current: None, .. })));
    /// })?;
    /// assert!(matches!(workspace.expect_current(), Err(WorkspaceError::NotOpen { .. })));
    /// # Ok::<(), WorkspaceError>(())
    /// ```
    ///
    /// # Errors
    /// [`WorkspaceError::NotOpen`], [`WorkspaceError::NotCurrent`].
    #[doc(alias = "assertOpenActiveAndCurrent")]
    pub fn expect_current(&self) -> Result<(), WorkspaceError> {
        self.expect_open()?;
        let current = scope::current_workspace();
        if current.as_ref().is_some_and(|open| open.is_same(self)) {
            return Ok(());
        }
        Err(WorkspaceError::NotCurrent {
            workspace: self.name().clone(),
            current: current.map(|open| open.name().clone()),
        })
    }

    /// How often it was closed, counted in [`WorkspaceConfig::steps_number`]; unless that is set, in its blocks.
    ///
    /// ```
    /// use lodestride_buffer::{Workspace, WorkspaceConfig};
    /// let queue = Workspace::with_config("PREFETCH", WorkspaceConfig::new().circular(3));
    /// for turn in 0..7 {
    ///     assert_eq!(queue.step_number(), turn / 3);
    ///     queue.scope(|_| ())?;
    /// }
    /// # Ok::<(), lodestride_buffer::WorkspaceError>(())
    /// ```
    #[doc(alias = "getStepNumber")]
    pub fn step_number(&self) -> u64 {
        self.stats().cycles / self.config().steps().max(1)
    }

    /// True if allocations of this thread go into it now.
    pub fn is_current(&self) -> bool {
        scope::current_workspace().is_some_and(|current| current.is_same(self))
    }

    /// The figures now. Those of a workspace that another thread has open may be a few operations old.
    pub fn stats(&self) -> WorkspaceStats {
        let figures = self.shared.arena.figures();
        let stamp = self.shared.arena.epoch().get();
        let (pinned, pinned_blocks) = self.shared.arena.pinned();
        WorkspaceStats {
            size: figures.size.load(Ordering::Relaxed),
            offset: figures.offset.load(Ordering::Relaxed),
            this_cycle: figures.this_cycle(),
            last_cycle: figures.last_cycle.load(Ordering::Relaxed),
            max_cycle: figures.max_cycle.load(Ordering::Relaxed),
            spilled: figures.spilled.load(Ordering::Relaxed),
            spilled_arrays: figures.spilled_arrays.load(Ordering::Relaxed),
            pinned,
            pinned_blocks,
            arrays: figures.arrays.load(Ordering::Relaxed),
            generation: stamp.generation(),
            cycles: figures.cycles.load(Ordering::Relaxed),
            open: stamp.is_open(),
        }
    }

    /// Learns the size now, from the largest cycle so far, whatever the learning policy waits for.
    ///
    /// A size that is there already changes only under
    /// [`SpillPolicy::Reallocate`](crate::SpillPolicy::Reallocate), and only grows.
    ///
    /// # Errors
    /// [`WorkspaceError::StillOpen`] unless the workspace is closed; [`WorkspaceError::Alloc`].
    pub fn initialize(&self) -> Result<(), WorkspaceError> {
        self.with_closed_ground(|ground, arena| {
            let max_cycle = arena.figures().max_cycle.load(Ordering::Relaxed);
            let size = (arena.config()).size_on_request(ground.size(), max_cycle);
            ground.resize(arena, size)
        })
    }

    /// Frees the workspace's memory now and forgets what it learned; it can be opened again and starts afresh.
    ///
    /// Blocks that a guard still holds are freed when the guard ends.
    ///
    /// # Errors
    /// [`WorkspaceError::StillOpen`] unless the workspace is closed.
    pub fn destroy(&self) -> Result<(), WorkspaceError> {
        self.with_closed_ground(|ground, arena| {
            ground.clear();
            arena.figures().forget();
            Ok(())
        })
    }

    fn with_closed_ground(
        &self,
        body: impl FnOnce(&mut Ground, &Arena) -> Result<(), crate::AllocError>,
    ) -> Result<(), WorkspaceError> {
        let shared = &self.shared;
        let Some(mut session) = shared.session.take() else {
            return Err(WorkspaceError::StillOpen {
                workspace: self.name().clone(),
                opened_at: shared.arena.opened_at(),
            });
        };
        let done = body(&mut session.ground, &shared.arena);
        shared.session.put(session);
        done.map_err(|source| WorkspaceError::Alloc {
            workspace: self.name().clone(),
            source,
        })
    }

    #[inline]
    pub(crate) fn arena(&self) -> &Arc<Arena> {
        &self.shared.arena
    }

    /// Takes the memory away; `None` if somebody has it.
    #[inline]
    pub(crate) fn take_session(&self) -> Option<Box<Session>> {
        self.shared.session.take()
    }

    #[inline]
    pub(crate) fn return_session(&self, session: Box<Session>) {
        self.shared.session.put(session);
    }
}

/// An open scope; closing or dropping it restores what was current before.
///
/// Scopes are closed in the reverse order of opening. A scope closed earlier closes those inside it as well:
/// [`close`](WorkspaceGuard::close) reports that, dropping does not.
#[must_use = "the workspace is open only while the guard lives"]
#[derive(Debug)]
pub struct WorkspaceGuard {
    workspace: Workspace,
    serial: u64,
    opened_at: &'static Location<'static>,
    /// The stack belongs to a thread, so the guard stays on it.
    thread: PhantomData<*const ()>,
}

impl WorkspaceGuard {
    pub(crate) fn new(
        workspace: &Workspace,
        serial: u64,
        opened_at: &'static Location<'static>,
    ) -> Self {
        WorkspaceGuard {
            workspace: workspace.clone(),
            serial,
            opened_at,
            thread: PhantomData,
        }
    }

    /// The workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Ends the scope.
    ///
    /// # Errors
    /// [`WorkspaceError::OutOfOrder`] if scopes opened later were still open: they are closed as well.
    /// [`WorkspaceError::AlreadyClosed`] if this scope was closed that way.
    #[track_caller]
    pub fn close(self) -> Result<(), WorkspaceError> {
        // The drop that follows finds the scope left and does nothing.
        scope::left_well(
            &self.workspace,
            scope::leave(self.serial, &self.workspace, Location::caller()),
        )
    }
}

impl Drop for WorkspaceGuard {
    fn drop(&mut self) {
        // A drop has no source line of its own: the errors of leaked arrays name the line that opened the scope.
        scope::leave(self.serial, &self.workspace, self.opened_at);
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace")
            .field("name", self.name())
            .field("config", self.config())
            .field("stats", &self.stats())
            .finish()
    }
}
