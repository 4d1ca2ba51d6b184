//! A workspace's memory: the bump block, the headers of its arrays, spilled blocks, and blocks that had to be kept for
//! a guard. When it opens and closes is `scope.rs`; how large it is, `plan.rs`; the recycling protocol itself, `pin.rs`.
#![expect(
    unsafe_code,
    reason = "pointers into the arena's block, and zeroing what they point to"
)]

use std::panic::Location;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::block::{ALIGNMENT, Block};
use crate::buffer::Buffer;
use crate::cache;
use crate::counters::Purpose;
use crate::error::{AccessError, AllocError, FullWorkspace, StaleAccess};
use crate::pin::{Epoch, Stamp};
use crate::plan::SpillPolicy;
use crate::scope;
use crate::workspace::WorkspaceName;

/// What a workspace and all of its arrays share, from any thread.
#[derive(Debug)]
pub(crate) struct Arena {
    name: WorkspaceName,
    epoch: Epoch,
    figures: Figures,
    opened_at: Line,
    closed_at: Line,
    /// Blocks that were pinned when the workspace was closed.
    retired: Mutex<Vec<Retired>>,
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
    pub(crate) arrays: AtomicUsize,
    pub(crate) cycles: AtomicU64,
}

impl Figures {
    /// Bytes allocated since the workspace was opened.
    pub(crate) fn this_cycle(&self) -> usize {
        self.offset.load(Ordering::Relaxed) + self.spilled.load(Ordering::Relaxed)
    }

    fn end_cycle(&self) {
        let cycle = self.this_cycle();
        let max_cycle = cycle.max(self.max_cycle.load(Ordering::Relaxed));
        let cycles = self.cycles.load(Ordering::Relaxed) + 1;
        self.last_cycle.store(cycle, Ordering::Relaxed);
        self.max_cycle.store(max_cycle, Ordering::Relaxed);
        self.cycles.store(cycles, Ordering::Relaxed);
        self.offset.store(0, Ordering::Relaxed);
        self.spilled.store(0, Ordering::Relaxed);
        self.arrays.store(0, Ordering::Relaxed);
    }

    /// Forgets what was learned; the workspace is closed.
    pub(crate) fn forget(&self) {
        for figure in [&self.size, &self.last_cycle, &self.max_cycle] {
            figure.store(0, Ordering::Relaxed);
        }
        self.cycles.store(0, Ordering::Relaxed);
    }
}

/// A block that was pinned when its workspace was closed.
#[derive(Debug)]
struct Retired {
    block: Block,
    purpose: Purpose,
    /// The arrays in it that a guard held. Invariant: the block is freed when none of them is held any more; no guard
    /// can be had on a further one, because the epoch has moved.
    pins: Vec<Buffer>,
}

impl Arena {
    pub(crate) fn new(name: WorkspaceName) -> Arena {
        Arena {
            name,
            epoch: Epoch::new(Stamp::closed(0)),
            figures: Figures::default(),
            opened_at: Line::default(),
            closed_at: Line::default(),
            retired: Mutex::default(),
        }
    }

    pub(crate) fn name(&self) -> &WorkspaceName {
        &self.name
    }

    #[inline]
    pub(crate) fn epoch(&self) -> &Epoch {
        &self.epoch
    }

    pub(crate) fn figures(&self) -> &Figures {
        &self.figures
    }

    pub(crate) fn opened_at(&self) -> Option<&'static Location<'static>> {
        self.opened_at.get()
    }

    /// Bytes kept for guards that were alive when the workspace was closed.
    pub(crate) fn pinned_bytes(&self) -> usize {
        self.retired().iter().map(|kept| kept.block.bytes()).sum()
    }

    fn retired(&self) -> MutexGuard<'_, Vec<Retired>> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner)
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
            cache::put(block, purpose);
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
        let facts = Box::new(StaleAccess {
            workspace: self.name.clone(),
            allocated_at,
            generation: stamp.generation(),
            current_generation: now.generation(),
            closed_at: self.closed_at.get(),
            opened_at: self.opened_at.get(),
            open_workspaces: scope::open_workspaces(),
        });
        Some(if now.is_open() {
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

/// The part of a workspace that belongs to whoever has it open, and to the workspace itself while it is closed.
#[derive(Debug, Default)]
pub(crate) struct Ground {
    /// At least `size` bytes, or `None` if the size is 0 or the block was retired.
    block: Option<Block>,
    size: usize,
    /// Invariant: the block's bytes from here on belong to no array of this generation.
    offset: usize,
    /// Headers of this generation's arrays, then headers to be used again. Invariant: each array of this generation in
    /// the arena or spilled has its header here, so that closing finds every pin.
    headers: Vec<Buffer>,
    /// How many of `headers` are of this generation. Those behind are dead: this is their only handle.
    used: usize,
    spilled: Vec<Block>,
}

impl Ground {
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Starts a generation. The ground is empty: `close` saw to that.
    pub(crate) fn open(&mut self, arena: &Arena, opened_at: &'static Location<'static>) {
        arena.opened_at.note(opened_at);
        // Arrays of this generation come later, those of older ones are stale whether it is open or not.
        arena
            .epoch
            .set_unpinned(Stamp::open(arena.epoch.get().generation() + 1));
    }

    /// An array in the block; `None` if it has no room there, or no header could be had.
    ///
    /// An `Option` of one pointer, because it stays in a register; errors are the business of `allocate`.
    #[inline]
    pub(crate) fn bump(
        &mut self,
        arena: &Arc<Arena>,
        bytes: usize,
        zero: bool,
        allocated_at: &'static Location<'static>,
    ) -> Option<Buffer> {
        let room = bytes.checked_next_multiple_of(ALIGNMENT)?;
        if room > self.size - self.offset {
            return None;
        }
        let block = self.block.as_ref()?;
        // SAFETY: `offset + room <= size`, so the address is inside the block or one past its end.
        let data = unsafe { block.pointer().add(self.offset) };
        if zero {
            // SAFETY: the range is inside the block and belongs to no array of this generation; arrays of older ones
            // cannot be opened since the epoch moved, and a block that was pinned then is not this block.
            unsafe { data.write_bytes(0, room) };
        }
        let array = self.header(arena, data, bytes, allocated_at)?;
        self.offset += room;
        arena.figures.offset.store(self.offset, Ordering::Relaxed);
        Some(array)
    }

    /// An array in the block, or beside it as the spill policy says.
    pub(crate) fn allocate(
        &mut self,
        arena: &Arc<Arena>,
        spill: SpillPolicy,
        bytes: usize,
        zero: bool,
        allocated_at: &'static Location<'static>,
    ) -> Result<Buffer, AllocError> {
        match self.bump(arena, bytes, zero, allocated_at) {
            Some(array) => Ok(array),
            None => self.spill(arena, spill, bytes, zero, allocated_at),
        }
    }

    #[cold]
    fn spill(
        &mut self,
        arena: &Arc<Arena>,
        spill: SpillPolicy,
        bytes: usize,
        zero: bool,
        allocated_at: &'static Location<'static>,
    ) -> Result<Buffer, AllocError> {
        if spill == SpillPolicy::Fail {
            return Err(AllocError::WorkspaceFull(Box::new(FullWorkspace {
                workspace: arena.name.clone(),
                bytes,
                free: self.size - self.offset,
                size: self.size,
            })));
        }
        let out_of_memory = AllocError::OutOfMemory { bytes };
        let Some(room) = bytes.checked_next_multiple_of(ALIGNMENT) else {
            return Err(out_of_memory);
        };
        let Some((mut block, zeroed)) = cache::take(room, Purpose::Array) else {
            return Err(out_of_memory);
        };
        if zero && !zeroed {
            block.zero(room);
        }
        let Some(array) = self.header(arena, block.pointer(), bytes, allocated_at) else {
            cache::put(block, Purpose::Array);
            return Err(out_of_memory);
        };
        let spilled = &arena.figures.spilled;
        spilled.store(spilled.load(Ordering::Relaxed) + room, Ordering::Relaxed);
        self.spilled.push(block);
        Ok(array)
    }

    /// A header for a new array: one of an array that is dead, or a new one.
    #[inline]
    fn header(
        &mut self,
        arena: &Arc<Arena>,
        data: NonNull<u8>,
        len: usize,
        allocated_at: &'static Location<'static>,
    ) -> Option<Buffer> {
        let stamp = arena.epoch.get();
        let place = Place {
            data,
            len,
            allocated_at,
        };
        let array = match self.headers.get_mut(self.used) {
            Some(header) => header.renew(stamp, place)?,
            None => self.new_header(arena, stamp, place)?,
        };
        self.used += 1;
        arena.figures.arrays.store(self.used, Ordering::Relaxed);
        Some(array)
    }

    #[cold]
    fn new_header(&mut self, arena: &Arc<Arena>, stamp: Stamp, place: Place) -> Option<Buffer> {
        let array = Buffer::in_arena(arena, stamp, place).ok()?;
        self.headers.push(array.clone());
        Some(array)
    }

    /// Ends a generation: moves the epoch, then looks at the pins, then recycles what is not pinned.
    pub(crate) fn close(&mut self, arena: &Arc<Arena>, closed_at: &'static Location<'static>) {
        let closed = Stamp::closed(arena.epoch.get().generation());
        arena.closed_at.note(closed_at);
        if self.headers[..self.used].iter().all(Buffer::is_unique) {
            arena.epoch.set_unpinned(closed);
        } else {
            arena.epoch.set(closed);
            self.part_with_handles(arena);
        }
        while let Some(block) = self.spilled.pop() {
            cache::put(block, Purpose::Array);
        }
        self.offset = 0;
        self.used = 0;
        arena.figures.end_cycle();
    }

    /// Leaves the headers of arrays that others have handles to, to them; the epoch has moved.
    fn part_with_handles(&mut self, arena: &Arena) {
        let mut held = Vec::new();
        for index in (0..self.used).rev() {
            // What `swap_remove` brings here comes from behind `index`: unused, or looked at already.
            if !self.headers[index].is_unique() {
                let array = self.headers.swap_remove(index);
                if array.access().is_held() {
                    held.push(array);
                }
            }
        }
        if !held.is_empty() {
            self.retire(arena, held);
        }
    }

    /// Gives up the blocks that guards still hold.
    #[cold]
    fn retire(&mut self, arena: &Arena, held: Vec<Buffer>) {
        let mut retired = arena.retired();
        // Marked under the lock: a guard that ends from now on sweeps after the block is on the list.
        let mut pins: Vec<Buffer> = held
            .into_iter()
            .filter(|array| array.access().watch())
            .collect();
        let arena_block = self.block.take().map(|block| (block, Purpose::Arena));
        let spilled = self.spilled.drain(..).map(|block| (block, Purpose::Array));
        let mut kept = Vec::new();
        for (block, purpose) in arena_block.into_iter().chain(spilled) {
            let start = block.pointer().as_ptr() as usize;
            let inside =
                |array: &mut Buffer| (start..start + block.bytes()).contains(&array.address());
            let pins: Vec<Buffer> = pins.extract_if(.., inside).collect();
            if !pins.is_empty() {
                retired.push(Retired {
                    block,
                    purpose,
                    pins,
                });
            } else {
                kept.push((block, purpose));
            }
        }
        for (block, purpose) in kept {
            match purpose {
                Purpose::Arena => self.block = Some(block),
                _ => self.spilled.push(block),
            }
        }
    }

    /// Makes sure of a block of this size, a multiple of [`ALIGNMENT`]; the ground is empty. On failure a block that was
    /// there serves on.
    #[inline]
    pub(crate) fn resize(&mut self, arena: &Arena, bytes: usize) -> Result<(), AllocError> {
        debug_assert!(self.used == 0 && self.offset == 0);
        if bytes == self.size && (self.block.is_some() || bytes == 0) {
            return Ok(());
        }
        self.replace_block(arena, bytes)
    }

    fn replace_block(&mut self, arena: &Arena, bytes: usize) -> Result<(), AllocError> {
        let block = match bytes {
            0 => None,
            _ => cache::take(bytes, Purpose::Arena).map(|(block, _)| block),
        };
        if block.is_some() || bytes == 0 || self.block.is_none() {
            self.release_block();
            self.size = if block.is_some() { bytes } else { 0 };
            self.block = block;
            arena.figures.size.store(self.size, Ordering::Relaxed);
        }
        if self.size == bytes {
            Ok(())
        } else {
            Err(AllocError::OutOfMemory { bytes })
        }
    }

    fn release_block(&mut self) {
        if let Some(block) = self.block.take() {
            cache::put(block, Purpose::Arena);
        }
    }
}

/// Where a workspace keeps its ground while it is closed.
///
/// Invariant: null, or a box that this value owns.
#[derive(Debug)]
pub(crate) struct Slot(AtomicPtr<Ground>);

impl Slot {
    pub(crate) fn new(ground: Box<Ground>) -> Slot {
        Slot(AtomicPtr::new(Box::into_raw(ground)))
    }

    /// Takes the ground away; `None` if somebody has it.
    #[inline]
    pub(crate) fn take(&self) -> Option<Box<Ground>> {
        let ground = NonNull::new(self.0.swap(std::ptr::null_mut(), Ordering::AcqRel))?;
        // SAFETY: by the invariant a box owned by the slot, which does not know it any more since the exchange.
        Some(unsafe { Box::from_raw(ground.as_ptr()) })
    }

    /// Puts the ground back that was taken.
    #[inline]
    pub(crate) fn put(&self, ground: Box<Ground>) {
        // There is one ground for each slot, and the caller has it: the slot is empty and nobody else puts one in.
        debug_assert!(self.0.load(Ordering::Relaxed).is_null());
        self.0.store(Box::into_raw(ground), Ordering::Release);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // Only a closed ground is dropped, so no array of it can be opened and nothing in it is pinned.
        self.release_block();
    }
}
