//! [`Buffer`], the only door to element memory; its two guards are in `guard.rs`.
//! Blocks come from `cache.rs` or from a workspace's `arena.rs`; who may enter is decided in `access.rs` and `pin.rs`.
#![expect(
    unsafe_code,
    reason = "the reference-counted handle and the header it points to"
)]

use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::access::Access;
use crate::arena::{Arena, Place};
use crate::bias::alone;
use crate::block::{ALIGNMENT, Block, Lent};
use crate::cache::{self, Class};
use crate::counters::Purpose;
use crate::error::{AccessError, AllocError};
use crate::guard::{ReadGuard, WriteGuard};
use crate::pin::{self, Home, Stamp};
use crate::scope;

/// Size of the header, and where the bytes of a small buffer begin in the block they share.
const HEADER: usize = size_of::<Header>().next_multiple_of(ALIGNMENT);
/// Buffers up to this size share their block with the header: larger ones take so long that a second block is no matter, and
/// lie on their own pages.
const INLINE: usize = cache::ROOMY;

/// What all handles of one buffer share. It fills the first `HEADER` bytes of a block from the cache.
#[repr(C, align(64))]
struct Header {
    /// The number of handles. Whoever takes it to 0 frees the buffer.
    references: AtomicU32,
    access: Access,
    /// Invariant: `len` initialised bytes from here on stay allocated as long as `memory` says: for heap, inline and
    /// foreign memory until the header goes; for arena memory while a pin under the header's stamp is held. They are
    /// aligned to [`ALIGNMENT`], foreign ones to 8, which every element type is content with. Only guards touch them.
    data: NonNull<u8>,
    len: usize,
    allocated_at: &'static Location<'static>,
    memory: Memory,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Header>() == 64);

/// Where a buffer's bytes live and who frees them.
enum Memory {
    /// Behind the header, in the same block.
    Inline,
    /// In a block of their own.
    Heap(Block),
    /// In a workspace, valid while its epoch shows this stamp. The arena frees them.
    Arena { arena: Arc<Arena>, stamp: Stamp },
    /// With somebody else; dropping the owner frees them.
    Foreign(Box<Lent>),
}

/// A handle to a piece of untyped, always initialised, 64-byte aligned memory. Clones share the memory.
///
/// The bytes are reached through [`read`](Buffer::read) and [`write`](Buffer::write) and in no other way.
///
/// ```
/// use lodestride_buffer::Buffer;
/// let buffer = Buffer::zeroed(4 * 3)?;
/// buffer.write()?.slice_mut::<f32>().copy_from_slice(&[1.0, 2.0, 3.0]);
/// assert_eq!(buffer.read()?.slice::<f32>(), [1.0, 2.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Buffer {
    /// Invariant: points to a live header; this handle counts as one of its references.
    header: NonNull<Header>,
    owns: PhantomData<Header>,
}

// SAFETY: handles share the header through atomics and immutable fields whose types are Send and Sync (`Block`,
// `Arc<Arena>`, the boxed owner); the bytes are reached only under the access word, whose acquire and release order
// accesses from different threads.
unsafe impl Send for Buffer {}
// SAFETY: as for Send; every method takes `&self` and goes through the same atomics.
unsafe impl Sync for Buffer {}

impl Buffer {
    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: by the field's invariant the header is alive as long as this handle.
        unsafe { self.header.as_ref() }
    }

    /// The number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.header().len
    }

    /// True if there are no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if both handles stand for the same memory.
    #[inline]
    pub fn same_block(&self, other: &Buffer) -> bool {
        self.header == other.header
    }

    /// The address of the first byte, for alignment and overlap decisions.
    #[inline]
    pub fn address(&self) -> usize {
        self.header().data.as_ptr() as usize
    }

    /// Where the memory was allocated.
    pub fn allocated_at(&self) -> &'static Location<'static> {
        self.header().allocated_at
    }

    /// True if this is the only handle, so that nobody else can see a change.
    #[inline]
    pub fn is_unique(&self) -> bool {
        self.header().references.load(Ordering::Acquire) == 1
    }

    /// Opens the bytes for reading until the guard is dropped. Any number of readers may be alive.
    ///
    /// # Errors
    /// [`AccessError::Leaked`] or [`AccessError::Outdated`] if the workspace moved on, [`AccessError::InUse`] if a write
    /// guard is alive. Never waits.
    #[inline(always)]
    pub fn read(&self) -> Result<ReadGuard<'_>, AccessError> {
        match pin::pin_read(&self.header().access, self.home()) {
            Ok(()) => Ok(ReadGuard::pinned(self)),
            Err(refusal) => Err(self.refused(refusal, false)),
        }
    }

    /// Opens the bytes for writing until the guard is dropped, excluding every other guard.
    ///
    /// # Errors
    /// [`AccessError::Leaked`] or [`AccessError::Outdated`] if the workspace moved on, [`AccessError::InUse`] if any
    /// guard is alive, [`AccessError::ReadOnly`] for memory that is [read-only](Buffer::is_read_only). Never waits.
    #[inline(always)]
    pub fn write(&self) -> Result<WriteGuard<'_>, AccessError> {
        match pin::pin_write(&self.header().access, self.home()) {
            Ok(()) => Ok(WriteGuard::pinned(self)),
            Err(refusal) => Err(self.refused(refusal, true)),
        }
    }

    /// [`write`](Self::write) by the only handle: nobody else can have a guard, which spares the exchange that others need.
    ///
    /// ```
    /// use lodestride_buffer::Buffer;
    /// let mut buffer = Buffer::recycled(8)?;
    /// buffer.write_sole()?.slice_mut::<i32>().copy_from_slice(&[1, 2]);
    /// assert_eq!(buffer.read()?.slice::<i32>(), [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`write`](Self::write), which is what it does where there are other handles.
    #[inline(always)]
    pub fn write_sole(&mut self) -> Result<WriteGuard<'_>, AccessError> {
        let is_sole = match self.arena() {
            None => self.is_unique(),
            Some(_) => self.is_sole_user(),
        };
        if is_sole && self.access().begin_sole() {
            return Ok(WriteGuard::pinned(self));
        }
        self.write()
    }

    /// The arena the memory belongs to and the stamp it was made under; `None` for the heap.
    #[inline]
    pub(crate) fn arena(&self) -> Option<(&Arc<Arena>, Stamp)> {
        match &self.header().memory {
            Memory::Arena { arena, stamp } => Some((arena, *stamp)),
            _ => None,
        }
    }

    /// What a guard must find.
    #[inline]
    pub(crate) fn home(&self) -> Home<'_> {
        self.arena().map(|(arena, stamp)| (arena.epoch(), stamp))
    }

    /// The access word, for the guards and for the arena's look at the pins.
    #[inline]
    pub(crate) fn access(&self) -> &Access {
        &self.header().access
    }

    /// The first byte, for the guards.
    #[inline]
    pub(crate) fn data(&self) -> NonNull<u8> {
        self.header().data
    }
}

/// New heap memory.
#[inline]
pub(crate) fn heap(
    bytes: usize,
    zero: bool,
    allocated_at: &'static Location<'static>,
) -> Result<Buffer, AllocError> {
    if bytes > INLINE {
        return large(bytes, zero, allocated_at);
    }
    let (mut block, zeroed) =
        cache::take(HEADER + bytes, Purpose::Array).ok_or_else(|| AllocError::no_block(bytes))?;
    if zero && !zeroed {
        block.zero(HEADER + bytes);
    }
    // SAFETY: the block holds at least `HEADER` bytes, so the sum is inside it or one past its end.
    let data = unsafe { block.pointer().add(HEADER) };
    Ok(Buffer::adopt(
        block,
        data,
        bytes,
        allocated_at,
        Memory::Inline,
    ))
}

fn large(
    bytes: usize,
    zero: bool,
    allocated_at: &'static Location<'static>,
) -> Result<Buffer, AllocError> {
    let (mut block, zeroed) =
        cache::take(bytes, Purpose::Array).ok_or_else(|| AllocError::no_block(bytes))?;
    if zero && !zeroed {
        block.zero(bytes);
    }
    let data = block.pointer();
    Buffer::with_header(data, bytes, allocated_at, Memory::Heap(block))
}

impl Buffer {
    /// A handle whose header has a block of its own.
    fn with_header(
        data: NonNull<u8>,
        len: usize,
        allocated_at: &'static Location<'static>,
        memory: Memory,
    ) -> Result<Buffer, AllocError> {
        match cache::take(HEADER, Purpose::Header) {
            Some((block, _)) => Ok(Buffer::adopt(block, data, len, allocated_at, memory)),
            None => {
                if let Memory::Heap(block) = memory {
                    cache::put(block, Purpose::Array);
                }
                Err(AllocError::no_block(len))
            }
        }
    }

    /// Writes a header into the front of a block and returns the first handle.
    #[inline]
    fn adopt(
        block: Block,
        data: NonNull<u8>,
        len: usize,
        allocated_at: &'static Location<'static>,
        memory: Memory,
    ) -> Buffer {
        debug_assert!(block.bytes() >= HEADER);
        let (pointer, _) = block.into_raw();
        let header = pointer.cast::<Header>();
        let value = Header {
            references: AtomicU32::new(1),
            access: Access::new(),
            data,
            len,
            allocated_at,
            memory,
        };
        // SAFETY: the block is aligned to 64, at least `HEADER` bytes long, and ours alone since `into_raw`.
        unsafe { header.write(value) };
        Buffer {
            header,
            owns: PhantomData,
        }
    }

    /// A handle to memory that somebody else owns.
    pub(crate) fn from_lent(
        lent: Lent,
        allocated_at: &'static Location<'static>,
    ) -> Result<Buffer, AllocError> {
        let (data, len) = (lent.data(), lent.len());
        Buffer::with_header(data, len, allocated_at, Memory::Foreign(Box::new(lent)))
    }

    /// A handle to arena memory, with a header from the cache.
    pub(crate) fn in_arena(
        arena: &Arc<Arena>,
        stamp: Stamp,
        place: Place,
    ) -> Result<Buffer, AllocError> {
        let memory = Memory::Arena {
            arena: Arc::clone(arena),
            stamp,
        };
        Buffer::with_header(place.data, place.len, place.allocated_at, memory)
    }

    /// Gives the header of a dead arena array to a new one: this handle keeps its reference, the result is another.
    /// `None` if the array is not dead.
    #[inline]
    pub(crate) fn renew(&mut self, new_stamp: Stamp, place: Place) -> Option<Buffer> {
        if !self.is_unique() {
            return None;
        }
        // SAFETY: this is the only handle and it is exclusively borrowed, so nobody else refers to the header.
        let header = unsafe { self.header.as_mut() };
        let Memory::Arena { stamp, .. } = &mut header.memory else {
            return None;
        };
        *stamp = new_stamp;
        header.data = place.data;
        header.len = place.len;
        header.allocated_at = place.allocated_at;
        // A dead array has no guards, but it may carry the mark of a watcher that was served.
        header.access = Access::new();
        header.references = AtomicU32::new(2);
        Some(Buffer {
            header: self.header,
            owns: PhantomData,
        })
    }

    /// True if there are two handles, this one and the one that the arena keeps of each array of its generation, and the
    /// arena is open on this thread, which alone uses the handles that arenas keep.
    #[inline]
    fn is_sole_user(&self) -> bool {
        self.header().references.load(Ordering::Acquire) == 2
            && self.arena().is_some_and(|(arena, stamp)| {
                scope::is_current(arena) && arena.epoch().get() == stamp
            })
    }

    // Of another ABI because such functions do not unwind: around a clone nothing needs to be kept for that.
    #[cold]
    #[inline(never)]
    extern "C" fn count_overflow() -> ! {
        // As `Arc`: more than two thousand million forgotten handles cannot be told from an attack.
        std::process::abort()
    }
}

impl Clone for Buffer {
    #[inline]
    fn clone(&self) -> Self {
        let references = &self.header().references;
        let before = if let Some(_alone) = alone() {
            let before = references.load(Ordering::Relaxed);
            references.store(before.wrapping_add(1), Ordering::Relaxed);
            before
        } else {
            references.fetch_add(1, Ordering::Relaxed)
        };
        if before > u32::MAX / 2 {
            Buffer::count_overflow();
        }
        Buffer {
            header: self.header,
            owns: PhantomData,
        }
    }
}

impl Drop for Buffer {
    #[inline]
    fn drop(&mut self) {
        // A handle that finds itself alone needs no read-modify-write: nobody is left to clone or drop another.
        if !self.is_unique() {
            if let Some(_alone) = alone() {
                let references = &self.header().references;
                // Not the last handle: looked at just now, and nobody came between.
                references.store(references.load(Ordering::Relaxed) - 1, Ordering::Release);
                return;
            }
            if !self.leave_others() {
                return;
            }
        }
        // SAFETY: this was the last handle, and it is not used again.
        unsafe { free(self.header) };
    }
}

impl Buffer {
    /// Takes a handle off the count, where other threads may do so too; true if it was the last one.
    #[inline(never)]
    fn leave_others(&self) -> bool {
        let references = &self.header().references;
        if self.is_sole_user() {
            references.store(1, Ordering::Release);
            return false;
        }
        let last = references.fetch_sub(1, Ordering::Release) == 1;
        if last {
            // A load instead of a fence: the thread sanitizer models the one and not the other.
            references.load(Ordering::Acquire);
        }
        last
    }
}

/// Frees a header and what it owns.
///
/// # Safety
/// The header is alive, no handle to it is left, and the caller will not touch it again.
#[inline]
unsafe fn free(place: NonNull<Header>) {
    // SAFETY: the header is alive.
    let header = unsafe { place.as_ref() };
    if matches!(header.memory, Memory::Inline) {
        let bytes = HEADER + header.len;
        // SAFETY: the block that the header begins holds its bytes too; nothing else is owned.
        unsafe { free_block(place, cache::class_of(bytes), Purpose::Array) };
        return;
    }
    // SAFETY: as the caller says.
    unsafe { free_apart(place) };
}

/// [`free`] of a header with a block of its own.
///
/// # Safety
/// As [`free`].
#[inline(never)]
unsafe fn free_apart(place: NonNull<Header>) {
    // SAFETY: the header is alive.
    let memory = unsafe { &place.as_ref().memory };
    // SAFETY: the field is valid, and the header is not used again, so this is a move.
    let memory = unsafe { std::ptr::read(memory) };
    // SAFETY: what the header owned was just taken out of it.
    unsafe { free_block(place, cache::fine_class_of(HEADER), Purpose::Header) };
    match memory {
        Memory::Heap(block) => cache::put(block, Purpose::Array),
        // Dropping the owner may run anything, this crate's functions included: nothing is borrowed here.
        Memory::Foreign(owner) => drop(owner),
        Memory::Arena { arena, .. } => drop(arena),
        Memory::Inline => {}
    }
}

/// Gives the block that a header begins back to the cache.
///
/// # Safety
/// As [`free`]; the header owns nothing outside its block, which is of this class.
#[inline(always)]
unsafe fn free_block(place: NonNull<Header>, class: Class, purpose: Purpose) {
    let pointer = place.cast::<u8>();
    // The header's padding is not initialised memory; zeros make the block whole again.
    // SAFETY: the block is at least `HEADER` long and ours alone.
    unsafe { pointer.write_bytes(0, HEADER) };
    // SAFETY: `adopt` took a block of this class apart; its bytes are initialised, the header's since just now.
    let block = unsafe { Block::from_raw(pointer, class.size) };
    cache::put_class(block, class, purpose);
}
