//! What all arrays of a workspace share: its name, its configuration, its epoch, its figures, its timeline, and the blocks that
//! had to be kept for a guard. The memory itself is `ground.rs`; the recycling protocol, `pin.rs`.
#![expect(
    unsafe_code,
    reason = "source lines and the ground of a closed workspace behind atomic pointers"
)]

use std::panic::Location;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::bias::alone;
use crate::buffer::Buffer;
use crate::counters::Purpose;
use crate::error::{AccessError, StaleAccess};
use crate::floor::Floor;
use crate::pin::{Epoch, Stamp};
use crate::plan::WorkspaceConfig;
use crate::scope;
use crate::session::Session;
use crate::timeline::{Recorder, TimelineKind};
use crate::workspace::{Shared, Workspace, WorkspaceName};

/// What a workspace and all of its arrays share, from any thread.
#[derive(Debug)]
pub(crate) struct Arena {
    name: WorkspaceName,
    config: WorkspaceConfig,
    /// What the handles of the workspace share, for who has it open and wants a handle. Nobody's, if this is the arena of a block.
    handles: Weak<Shared>,
    epoch: Epoch,
    figures: Figures,
    opened_at: Line,
    closed_at: Line,
    /// Blocks that were pinned when the workspace was closed.
    retired: Mutex<Vec<Retired>>,
    timeline: Arc<Recorder>,
    /// The workspace's own arena, if this is that of a block of a circular workspace: it keeps what is retired.
    main: Option<Arc<Arena>>,
}

/// A source line that one thread notes and others read.
#[derive(Debug, Default)]
struct Line(AtomicPtr<Location<'static>>);

impl Line {
    #[inline]
    fn note(&self, location: &'static Location<'static>) {
        let location = std::ptr::from_ref(location).cast_mut();
        self.0.store(location, Ordering::Release);
    }

    fn get(&self) -> Option<&'static Location<'static>> {
        // SAFETY: null, or made from a reference that lives for ever, and never written through.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }
}

/// Figures that the opening thread writes and anyone may read.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) size: AtomicUsize,
    pub(crate) offset: AtomicUsize,
    pub(crate) last_cycle: AtomicUsize,
    pub(crate) max_cycle: AtomicUsize,
    pub(crate) spilled: AtomicUsize,
    pub(crate) spilled_arrays: AtomicUsize,
    /// What over-sized turns of a circular workspace keep, and how many arrays that is.
    pub(crate) kept: AtomicUsize,
    pub(crate) kept_arrays: AtomicUsize,
    pub(crate) arrays: AtomicUsize,
    pub(crate) cycles: AtomicU64,
}

impl Figures {
    /// Bytes allocated since the workspace was opened.
    #[inline]
    pub(crate) fn this_cycle(&self) -> usize {
        self.offset.load(Ordering::Relaxed) + self.spilled.load(Ordering::Relaxed)
    }

    /// Counts an array that found no room in the block.
    pub(crate) fn add_spilled(&self, room: usize) {
        for (figure, amount) in [(&self.spilled, room), (&self.spilled_arrays, 1)] {
            figure.store(figure.load(Ordering::Relaxed) + amount, Ordering::Relaxed);
        }
    }

    pub(crate) fn add_array(&self) {
        let arrays = self.arrays.load(Ordering::Relaxed);
        self.arrays.store(arrays + 1, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn end_cycle(&self) {
        let cycle = self.this_cycle();
        let max_cycle = cycle.max(self.max_cycle.load(Ordering::Relaxed));
        let cycles = self.cycles.load(Ordering::Relaxed) + 1;
        self.last_cycle.store(cycle, Ordering::Relaxed);
        self.max_cycle.store(max_cycle, Ordering::Relaxed);
        self.cycles.store(cycles, Ordering::Relaxed);
        self.offset.store(0, Ordering::Relaxed);
        self.spilled.store(0, Ordering::Relaxed);
        self.spilled_arrays.store(0, Ordering::Relaxed);
        self.arrays.store(0, Ordering::Relaxed);
    }

    /// Forgets what was learned; the workspace is closed.
    pub(crate) fn forget(&self) {
        let learned = [&self.size, &self.last_cycle, &self.max_cycle];
        for figure in learned.into_iter().chain([&self.kept, &self.kept_arrays]) {
            figure.store(0, Ordering::Relaxed);
        }
        self.cycles.store(0, Ordering::Relaxed);
    }
}

/// A block that was pinned when its workspace was closed.
#[derive(Debug)]
pub(crate) struct Retired {
    block: Floor,
    purpose: Purpose,
    /// The arrays in it that a guard held. Invariant: the block is freed when none of them is held any more; no guard
    /// can be had on a further one, because the epoch has moved.
    pins: Vec<Buffer>,
}

impl Retired {
    pub(crate) fn new(block: Floor, purpose: Purpose, pins: Vec<Buffer>) -> Retired {
        Retired {
            block,
            purpose,
            pins,
        }
    }
}

impl Arena {
    /// The arena of a workspace, whose handles share what `handles` stands for.
    pub(crate) fn new(
        name: WorkspaceName,
        config: WorkspaceConfig,
        handles: Weak<Shared>,
    ) -> Arena {
        Arena {
            name,
            config,
            handles,
            timeline: Arc::default(),
            main: None,
            epoch: Epoch::new(Stamp::closed(0)),
            figures: Figures::default(),
            opened_at: Line::default(),
            closed_at: Line::default(),
            retired: Mutex::default(),
        }
    }

    /// The arena of a block of a circular workspace.
    pub(crate) fn of_ring(main: &Arc<Arena>) -> Arena {
        Arena {
            timeline: Arc::clone(&main.timeline),
            main: Some(Arc::clone(main)),
            ..Arena::new(main.name.clone(), main.config, Weak::new())
        }
    }

    pub(crate) fn name(&self) -> &WorkspaceName {
        &self.name
    }

    #[inline]
    pub(crate) fn config(&self) -> &WorkspaceConfig {
        &self.config
    }

    /// A handle to the workspace; `None` if there is none any more, or for the arena of a block.
    pub(crate) fn workspace(&self) -> Option<Workspace> {
        self.handles.upgrade().map(Workspace::of_shared)
    }

    #[inline]
    pub(crate) fn epoch(&self) -> &Epoch {
        &self.epoch
    }

    #[inline]
    pub(crate) fn figures(&self) -> &Figures {
        &self.figures
    }

    #[inline]
    pub(crate) fn timeline(&self) -> &Arc<Recorder> {
        &self.timeline
    }

    /// True if this is the workspace's arena, or that of one of its blocks.
    pub(crate) fn belongs_to(self: &Arc<Self>, main: &Arc<Arena>) -> bool {
        Arc::ptr_eq(self.main.as_ref().unwrap_or(self), main)
    }

    #[inline]
    pub(crate) fn note_opened(&self, at: &'static Location<'static>) {
        self.opened_at.note(at);
    }

    #[inline]
    pub(crate) fn note_closed(&self, at: &'static Location<'static>) {
        self.closed_at.note(at);
    }

    pub(crate) fn closed_at(&self) -> Option<&'static Location<'static>> {
        self.closed_at.get()
    }

    pub(crate) fn opened_at(&self) -> Option<&'static Location<'static>> {
        self.opened_at.get()
    }

    /// Bytes kept of earlier cycles, for guards or by over-sized turns, and of how many blocks.
    pub(crate) fn pinned(&self) -> (usize, usize) {
        let retired = self.retired();
        let bytes: usize = retired.iter().map(|kept| kept.block.bytes()).sum();
        let kept = self.figures.kept.load(Ordering::Relaxed);
        let arrays = self.figures.kept_arrays.load(Ordering::Relaxed);
        (bytes + kept, retired.len() + arrays)
    }

    pub(crate) fn retired(&self) -> MutexGuard<'_, Vec<Retired>> {
        let keeper = self.main.as_deref().unwrap_or(self);
        (keeper.retired.lock()).unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees the retired blocks that no guard holds any more.
    pub(crate) fn sweep(&self) {
        let mut done = Vec::new();
        {
            let mut retired = self.retired();
            let mut index = 0;
            while index < retired.len() {
                let kept = &mut retired[index];
                kept.pins.retain(|array| array.access().is_held());
                if kept.pins.is_empty() {
                    done.push(retired.swap_remove(index));
                } else {
                    index += 1;
                }
            }
        }
        for Retired { block, purpose, .. } in done {
            block.free(purpose);
        }
    }

    /// The error of an array of this arena whose stamp is not the epoch; `None` if it is.
    pub(crate) fn stale(
        &self,
        stamp: Stamp,
        allocated_at: &'static Location<'static>,
    ) -> Option<AccessError> {
        let now = self.epoch.get();
        if now == stamp {
            return None;
        }
        let outdated = now.is_open();
        // A block of a circular workspace has the generation of its own turn.
        let current_generation = match &self.main {
            Some(main) => main.epoch.get().generation(),
            None => now.generation(),
        };
        let kind = TimelineKind::StaleUse {
            outdated,
            allocated_at,
            current_generation,
        };
        self.timeline.note_stale(stamp.generation(), kind);
        let facts = Box::new(StaleAccess {
            workspace: self.name.clone(),
            allocated_at,
            generation: stamp.generation(),
            current_generation,
            closed_at: self.closed_at.get(),
            opened_at: self.opened_at.get(),
            open_workspaces: scope::open_workspaces(),
        });
        Some(if outdated {
            AccessError::Outdated(facts)
        } else {
            AccessError::Leaked(facts)
        })
    }
}

/// Where a new arena array lies.
///
/// Invariant: the `len` initialised bytes from `data` on stay allocated while a pin under the
/// array's stamp is held, belong to no other array of that generation, and are aligned to [`ALIGNMENT`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) data: NonNull<u8>,
    pub(crate) len: usize,
    pub(crate) allocated_at: &'static Location<'static>,
}

/// Where a workspace keeps its memory while it is closed.
///
/// Invariant: null, or a box that this value owns.
#[derive(Debug)]
pub(crate) struct Slot(AtomicPtr<Session>);

/// A slot hands a session from thread to thread behind a plain pointer.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Session>();
};

impl Slot {
    pub(crate) fn new(session: Box<Session>) -> Slot {
        Slot(AtomicPtr::new(Box::into_raw(session)))
    }

    /// Takes the memory away; `None` if somebody has it.
    #[inline]
    pub(crate) fn take(&self) -> Option<Box<Session>> {
        let nothing = std::ptr::null_mut();
        let found = if let Some(_alone) = alone() {
            let found = self.0.load(Ordering::Relaxed);
            self.0.store(nothing, Ordering::Relaxed);
            found
        } else {
            self.0.swap(nothing, Ordering::AcqRel)
        };
        let session = NonNull::new(found)?;
        // SAFETY: by the invariant a box owned by the slot, which does not know it any more since the exchange.
        Some(unsafe { Box::from_raw(session.as_ptr()) })
    }

    /// Puts the memory back that was taken.
    #[inline]
    pub(crate) fn put(&self, session: Box<Session>) {
        // There is one session for each slot, and the caller has it: the slot is empty and nobody else puts one in.
        debug_assert!(self.0.load(Ordering::Relaxed).is_null());
        self.0.store(Box::into_raw(session), Ordering::Release);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        drop(self.take());
    }
}
