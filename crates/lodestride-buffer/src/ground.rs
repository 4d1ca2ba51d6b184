//! A workspace's memory: the block it bumps through, the headers of its arrays, and spilled blocks.
//! What arrays share with it is `arena.rs`; when it opens and closes, `session.rs`; how large it is, `plan.rs`; circular
//! workspaces have a ground for each block, `ring.rs`.
#![expect(
    unsafe_code,
    reason = "pointers into the arena's block, and zeroing what they point to"
)]

use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::arena::{Arena, Place, Retired};
use crate::block::{ALIGNMENT, Block};
use crate::buffer::Buffer;
use crate::cache;
use crate::counters::Purpose;
use crate::error::{AllocError, FullWorkspace};
use crate::floor::{Floor, Remap};
use crate::mode::DebugMode;
use crate::pin::Stamp;
use crate::plan::{ResetPolicy, SpillPolicy, WorkspaceConfig};
use crate::ring::Ring;
use crate::timeline::TimelineKind;

/// What is asked of a workspace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) bytes: usize,
    pub(crate) zero: bool,
    pub(crate) spill: SpillPolicy,
    pub(crate) allocated_at: &'static Location<'static>,
}

/// The part of a workspace that belongs to whoever has it open, and to the workspace itself while it is closed.
#[derive(Debug, Default)]
pub(crate) struct Ground {
    /// At least `size` bytes, or `None` if the size is 0, the block was retired, or `aside` is used.
    block: Option<Block>,
    /// At least `size` bytes that only [`Ground::allocate`] bumps through: a mapped file, or the block while allocations are
    /// recorded or debugged, so that the fast path need not ask for either.
    aside: Option<Floor>,
    size: usize,
    /// Invariant: the bytes of `block` or `aside` from here on belong to no array of this generation.
    offset: usize,
    /// Headers of this generation's arrays, then headers to be used again. Invariant: each array of this generation in
    /// the arena or spilled has its header here, so that closing finds every pin.
    headers: Vec<Buffer>,
    /// How many of `headers` are of this generation. Those behind are dead: this is their only handle.
    used: usize,
    spilled: Vec<Block>,
    /// The mode of the running generation.
    mode: DebugMode,
    /// Where the memory comes from, if not from the cache.
    file: Option<Box<dyn Remap>>,
    /// The blocks of a circular workspace, which has none here.
    ring: Option<Box<Ring>>,
}

impl Ground {
    pub(crate) fn new(config: &WorkspaceConfig, file: Option<Box<dyn Remap>>) -> Ground {
        let mut ground = Ground::default();
        ground.file = file;
        if config.reset == ResetPolicy::Circular {
            ground.ring = Some(Box::new(Ring::new(config.blocks, config.steps())));
        }
        ground
    }

    /// The size of the block, or of each block of a circular workspace.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.ring
            .as_ref()
            .map_or(self.size, |ring| ring.block_size())
    }

    /// True if it has the block that it needs for a generation, and that is nothing special.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.block.is_some()
    }

    #[inline]
    pub(crate) fn mode(&self) -> DebugMode {
        self.mode
    }

    /// Bytes of the block in use.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// Starts a generation. The ground is empty: `close` saw to that.
    #[inline]
    pub(crate) fn open(
        &mut self,
        arena: &Arc<Arena>,
        mode: DebugMode,
        opened_at: &'static Location<'static>,
    ) {
        let generation = arena.epoch().get().generation() + 1;
        self.start(arena, generation, opened_at);
        self.mode = mode;
        if mode != DebugMode::Off || arena.timeline().is_on() {
            self.set_aside(arena, generation, opened_at);
        }
        if let Some(ring) = &mut self.ring {
            ring.turn(arena, generation, opened_at);
        }
    }

    /// Hides the block from the fast path, and records the opening.
    #[cold]
    fn set_aside(&mut self, arena: &Arena, generation: u64, opened_at: &'static Location<'static>) {
        if let Some(block) = self.block.take() {
            self.aside = Some(Floor::Block(block));
        }
        (arena.timeline()).note(generation, Some(opened_at), TimelineKind::Opened);
    }

    /// Moves the epoch to a generation, of which there are no arrays yet.
    #[inline]
    pub(crate) fn start(
        &mut self,
        arena: &Arena,
        generation: u64,
        opened_at: &'static Location<'static>,
    ) {
        arena.note_opened(opened_at);
        // Arrays of this generation come later, those of older ones are stale whether it is open or not.
        arena.epoch().set_unpinned(Stamp::open(generation));
    }

    /// An array in the block with unspecified contents; `None` if it has no room there, or no array before it has left its header.
    ///
    /// An `Option` of one pointer, because it stays in a register, and nothing that calls other functions: everything else is
    /// the business of `allocate`.
    #[inline(always)]
    pub(crate) fn bump(
        &mut self,
        arena: &Arc<Arena>,
        bytes: usize,
        allocated_at: &'static Location<'static>,
    ) -> Option<Buffer> {
        let room = self.room_for(bytes)?;
        let start = self.block.as_ref()?.pointer();
        let header = self.headers.get_mut(self.used)?;
        let place = Place {
            // SAFETY: the start of the block, and `offset + room <= size`.
            data: unsafe { start.add(self.offset) },
            len: bytes,
            allocated_at,
        };
        let array = header.renew(arena.epoch().get(), place)?;
        self.count_array(arena);
        self.count_bytes(arena, room);
        Some(array)
    }

    /// The bytes of the block that an array takes, if there are so many left.
    #[inline(always)]
    fn room_for(&self, bytes: usize) -> Option<usize> {
        let room = bytes.checked_next_multiple_of(ALIGNMENT)?;
        (room <= self.size - self.offset).then_some(room)
    }

    #[inline(always)]
    fn count_bytes(&mut self, arena: &Arena, room: usize) {
        self.offset += room;
        arena.figures().offset.store(self.offset, Ordering::Relaxed);
    }

    #[inline(always)]
    fn count_array(&mut self, arena: &Arena) {
        self.used += 1;
        arena.figures().arrays.store(self.used, Ordering::Relaxed);
    }

    /// An array in the block, or in what is used instead of it; `None` if it has no room there, or no header could be had.
    pub(crate) fn place(&mut self, arena: &Arc<Arena>, request: &Request) -> Option<Buffer> {
        let start = match (&self.block, &self.aside) {
            (Some(block), _) => block.pointer(),
            (None, Some(aside)) if self.mode == DebugMode::Off => aside.pointer(),
            _ => return None,
        };
        let room = self.room_for(request.bytes)?;
        // SAFETY: the start of the memory, and `offset + room <= size`, so the address is inside or one past its end.
        let data = unsafe { start.add(self.offset) };
        if request.zero {
            // SAFETY: the range is inside the memory and belongs to no array of this generation; arrays of older ones
            // cannot be opened since the epoch moved, and a block that was pinned then is not this block.
            unsafe { data.write_bytes(0, room) };
        }
        let array = self.header(arena, data, request.bytes, request.allocated_at)?;
        self.count_bytes(arena, room);
        Some(array)
    }

    /// An array in the block, or beside it as the spill policy says.
    pub(crate) fn allocate(
        &mut self,
        arena: &Arc<Arena>,
        request: &Request,
    ) -> Result<Buffer, AllocError> {
        let spilled = || arena.figures().spilled_arrays.load(Ordering::Relaxed);
        let before = spilled();
        let array = if let Some(ring) = &mut self.ring {
            ring.allocate(arena, self.mode, request)?
        } else if let Some(array) = self.place(arena, request) {
            array
        } else {
            self.spill(arena, request)?
        };
        if arena.timeline().is_on() {
            let kind = TimelineKind::Allocated {
                bytes: request.bytes,
                spilled: spilled() != before,
            };
            let generation = arena.epoch().get().generation();
            arena
                .timeline()
                .note(generation, Some(request.allocated_at), kind);
        }
        Ok(array)
    }

    /// The error of a workspace that may not spill.
    pub(crate) fn full(&self, arena: &Arena, bytes: usize) -> AllocError {
        AllocError::WorkspaceFull(Box::new(FullWorkspace {
            workspace: arena.name().clone(),
            bytes,
            free: self.size - self.offset,
            size: self.size,
        }))
    }

    /// An array in a block of its own.
    pub(crate) fn spill(
        &mut self,
        arena: &Arc<Arena>,
        request: &Request,
    ) -> Result<Buffer, AllocError> {
        let bytes = request.bytes;
        if request.spill == SpillPolicy::Fail && self.mode == DebugMode::Off {
            return Err(self.full(arena, bytes));
        }
        let Some(room) = bytes.checked_next_multiple_of(ALIGNMENT) else {
            return Err(AllocError::no_block(bytes));
        };
        let Some((mut block, zeroed)) = cache::take(room, Purpose::Array) else {
            return Err(AllocError::no_block(bytes));
        };
        if request.zero && !zeroed {
            block.zero(room);
        }
        let Some(array) = self.header(arena, block.pointer(), bytes, request.allocated_at) else {
            cache::put(block, Purpose::Array);
            return Err(AllocError::no_block(bytes));
        };
        arena.figures().add_spilled(room);
        self.spilled.push(block);
        Ok(array)
    }

    /// A header for a new array: one of an array that is dead, or a new one.
    fn header(
        &mut self,
        arena: &Arc<Arena>,
        data: NonNull<u8>,
        len: usize,
        allocated_at: &'static Location<'static>,
    ) -> Option<Buffer> {
        let stamp = arena.epoch().get();
        let place = Place {
            data,
            len,
            allocated_at,
        };
        let array = match self.headers.get_mut(self.used) {
            Some(header) => header.renew(stamp, place)?,
            None => self.new_header(arena, stamp, place)?,
        };
        self.count_array(arena);
        Some(array)
    }

    fn new_header(&mut self, arena: &Arc<Arena>, stamp: Stamp, place: Place) -> Option<Buffer> {
        let array = Buffer::in_arena(arena, stamp, place).ok()?;
        self.headers.push(array.clone());
        Some(array)
    }

    /// Ends a generation: moves the epoch, then looks at the pins, then recycles what is not pinned.
    #[inline]
    pub(crate) fn close(&mut self, arena: &Arc<Arena>, closed_at: &'static Location<'static>) {
        let closed = Stamp::closed(arena.epoch().get().generation());
        arena.note_closed(closed_at);
        self.take_back();
        if self.headers[..self.used].iter().all(Buffer::is_unique) {
            arena.epoch().set_unpinned(closed);
        } else {
            arena.epoch().set(closed);
            self.part_with_handles(arena);
        }
        while let Some(block) = self.spilled.pop() {
            cache::put(block, Purpose::Array);
        }
        self.offset = 0;
        self.used = 0;
        arena.figures().end_cycle();
        if let Some(ring) = &mut self.ring {
            ring.rest(arena, closed_at);
        }
    }

    /// Ends the special treatment that a generation had.
    #[inline]
    fn take_back(&mut self) {
        self.mode = DebugMode::Off;
        if let Some(Floor::Block(_)) = &self.aside {
            self.unhide();
        }
    }

    #[cold]
    fn unhide(&mut self) {
        match self.aside.take() {
            Some(Floor::Block(block)) => self.block = Some(block),
            other => self.aside = other,
        }
    }

    /// Leaves the headers of arrays that others have handles to, to them; the epoch has moved.
    #[cold]
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
        let mut pins_in = |floor: &Floor| -> Vec<Buffer> {
            let start = floor.pointer().as_ptr() as usize;
            let range = start..start + floor.bytes();
            pins.extract_if(.., |array| range.contains(&array.address()))
                .collect()
        };
        let block = self.block.take().map(Floor::Block);
        if let Some(floor) = block.or_else(|| self.aside.take()) {
            let pins = pins_in(&floor);
            if pins.is_empty() {
                self.put_back(floor);
            } else {
                retired.push(Retired::new(floor, Purpose::Arena, pins));
            }
        }
        for block in std::mem::take(&mut self.spilled) {
            let floor = Floor::Block(block);
            let pins = pins_in(&floor);
            match floor {
                Floor::Block(block) if pins.is_empty() => self.spilled.push(block),
                floor => retired.push(Retired::new(floor, Purpose::Array, pins)),
            }
        }
    }

    fn put_back(&mut self, floor: Floor) {
        match floor {
            Floor::Block(block) => self.block = Some(block),
            lent => self.aside = Some(lent),
        }
    }

    /// Makes sure of a block of this size, a multiple of [`ALIGNMENT`]; the ground is empty. On failure a block that was
    /// there serves on.
    #[inline]
    pub(crate) fn resize(&mut self, arena: &Arena, bytes: usize) -> Result<(), AllocError> {
        debug_assert!(self.used == 0 && self.offset == 0);
        if bytes == self.size && (self.block.is_some() || bytes == 0) && self.ring.is_none() {
            return Ok(());
        }
        self.replace_block(arena, bytes)
    }

    fn replace_block(&mut self, arena: &Arena, bytes: usize) -> Result<(), AllocError> {
        let before = arena.figures().size.load(Ordering::Relaxed);
        let outcome = self.replace(arena, bytes);
        let now = arena.figures().size.load(Ordering::Relaxed);
        if now != before && arena.timeline().is_on() {
            let generation = arena.epoch().get().generation();
            let kind = TimelineKind::Resized {
                from: before,
                to: now,
            };
            arena.timeline().note(generation, None, kind);
        }
        outcome
    }

    fn replace(&mut self, arena: &Arena, bytes: usize) -> Result<(), AllocError> {
        if let Some(ring) = &mut self.ring {
            // Each block gets its memory when its turn comes.
            ring.set_block_size(bytes);
            let whole = bytes.saturating_mul(ring.blocks());
            arena.figures().size.store(whole, Ordering::Relaxed);
            return Ok(());
        }
        if let Some(file) = &mut self.file {
            // While a guard holds the mapping there is none to be had, and arrays are spilled.
            if self.aside.is_none() {
                self.aside = file.map().map(Floor::Lent);
            }
            // The mapping never becomes longer.
            self.size = (self.aside.as_ref()).map_or(bytes, |mapping| mapping.bytes().min(bytes));
            arena.figures().size.store(self.size, Ordering::Relaxed);
            return Ok(());
        }
        let block = match bytes {
            0 => None,
            _ => cache::take(bytes, Purpose::Arena).map(|(block, _)| block),
        };
        if block.is_some() || bytes == 0 || self.block.is_none() {
            self.release_block();
            self.size = if block.is_some() { bytes } else { 0 };
            self.block = block;
            arena.figures().size.store(self.size, Ordering::Relaxed);
        }
        if self.size == bytes {
            Ok(())
        } else {
            Err(AllocError::no_block(bytes))
        }
    }

    /// Frees all memory; the workspace is closed. Where memory comes from and how many blocks it has stays.
    pub(crate) fn clear(&mut self) {
        self.aside = None;
        if let Some(file) = &mut self.file {
            file.release();
        }
        let mut fresh = Ground::default();
        fresh.file = self.file.take();
        fresh.ring = (self.ring.take()).map(|ring| Box::new(ring.afresh()));
        *self = fresh;
    }

    fn release_block(&mut self) {
        if let Some(block) = self.block.take() {
            cache::put(block, Purpose::Arena);
        }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // Only a closed ground is dropped, so no array of it can be opened and nothing in it is pinned.
        self.take_back();
        self.release_block();
    }
}
