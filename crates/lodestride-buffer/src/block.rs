//! Raw memory: aligned blocks whose bytes are always initialised, taken from and returned to the system.
//! Which sizes exist and who keeps freed blocks is decided in `cache.rs`.
#![expect(
    unsafe_code,
    reason = "allocation, deallocation and the initialisation of blocks"
)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::ptr::NonNull;

use crate::dtype::Element;
use crate::hard_limit;

/// Alignment of every block: one cache line, one AVX-512 register.
pub(crate) const ALIGNMENT: usize = 64;
/// From this size on a block is aligned to, and advised as, huge pages.
pub(crate) const HUGE_PAGE: usize = 2 << 20;

/// An owned piece of memory.
///
/// Invariants: `pointer` came from `request(bytes)` and belongs to this value alone; all `bytes` are initialised whenever
/// the value exists.
#[derive(Debug)]
pub(crate) struct Block {
    pointer: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a block is owned plain memory; nothing about it is tied to a thread.
unsafe impl Send for Block {}
// SAFETY: a shared block gives away its address and its size only.
unsafe impl Sync for Block {}

impl Block {
    /// A zeroed block of exactly this many bytes from the system; `None` if the system has no more, or the process's limit
    /// does not allow it.
    ///
    /// `bytes` is a positive multiple of [`ALIGNMENT`].
    pub(crate) fn from_system(bytes: usize) -> Option<Block> {
        debug_assert!(bytes > 0 && bytes.is_multiple_of(ALIGNMENT));
        if !hard_limit::reserve(bytes) {
            return None;
        }
        let pointer = request(bytes);
        if pointer.is_none() {
            hard_limit::release(bytes);
        }
        pointer.map(|pointer| Block { pointer, bytes })
    }

    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    #[inline]
    pub(crate) fn pointer(&self) -> NonNull<u8> {
        self.pointer
    }

    /// Zeroes the first bytes. `&mut` proves that nobody else looks at them.
    #[inline]
    pub(crate) fn zero(&mut self, bytes: usize) {
        assert!(bytes <= self.bytes);
        // SAFETY: the range is inside the block, which is owned and exclusively borrowed.
        unsafe { self.pointer.write_bytes(0, bytes) };
    }

    /// Gives up ownership without freeing.
    #[inline]
    pub(crate) fn into_raw(self) -> (NonNull<u8>, usize) {
        let block = std::mem::ManuallyDrop::new(self);
        (block.pointer, block.bytes)
    }

    /// Takes ownership back.
    ///
    /// # Safety
    /// The arguments came from [`Block::into_raw`], nobody else owns the memory, and all of its bytes are initialised.
    #[inline]
    pub(crate) unsafe fn from_raw(pointer: NonNull<u8>, bytes: usize) -> Block {
        Block { pointer, bytes }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: by the type's invariant the pointer came from `request` with this size and is given back once.
        unsafe { give_back(self.pointer, self.bytes) };
        hard_limit::release(self.bytes);
    }
}

/// A block that waits for its next use, as one word: two that were written apart cannot be loaded at once before they have reached the
/// cache, and the next use may be the next thing that happens.
///
/// Invariant: `pointer` and the number in the block's first bytes are those of a [`Block`], which this value owns.
#[derive(Debug)]
pub(crate) struct Idle {
    pointer: NonNull<u8>,
}

// SAFETY: as for `Block`.
unsafe impl Send for Idle {}

impl Idle {
    #[inline]
    pub(crate) fn new(block: Block) -> Idle {
        let (pointer, bytes) = block.into_raw();
        // SAFETY: a block has room for a number, is aligned for it, and was given up for this value.
        unsafe { pointer.cast::<usize>().write(bytes) };
        Idle { pointer }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        // SAFETY: by the type's invariant the block's size is there, and nobody else has the block.
        unsafe { self.pointer.cast::<usize>().read() }
    }

    /// The block; what is in it is initialised.
    #[inline]
    pub(crate) fn wake(self) -> Block {
        let idle = std::mem::ManuallyDrop::new(self);
        // SAFETY: `new` took a block of this size apart, and only added bytes of a number.
        unsafe { Block::from_raw(idle.pointer, idle.bytes()) }
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        // SAFETY: as in `wake`; the value is not used again.
        drop(unsafe { Block::from_raw(self.pointer, self.bytes()) });
    }
}

/// Zeroed memory from the system: huge blocks as a mapping of their own, others from the global allocator.
fn request(bytes: usize) -> Option<NonNull<u8>> {
    #[cfg(all(target_os = "linux", not(miri)))]
    if bytes >= HUGE_PAGE {
        return map_huge(bytes);
    }
    let layout = layout(bytes)?;
    // SAFETY: the layout has a positive size, as `from_system` requires.
    NonNull::new(unsafe { alloc_zeroed(layout) })
}

/// # Safety
/// The pointer came from `request` with this size, and nobody uses the memory any more.
unsafe fn give_back(pointer: NonNull<u8>, bytes: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    if bytes >= HUGE_PAGE {
        // SAFETY: `map_huge` left exactly this range mapped, and nobody uses it any more.
        unsafe { libc::munmap(pointer.as_ptr().cast(), mapped_length(bytes)) };
        return;
    }
    if let Some(layout) = layout(bytes) {
        // SAFETY: `request` allocated it with this layout, and nobody uses it any more.
        unsafe { dealloc(pointer.as_ptr(), layout) };
    }
}

fn layout(bytes: usize) -> Option<Layout> {
    let alignment = if bytes >= HUGE_PAGE {
        HUGE_PAGE
    } else {
        ALIGNMENT
    };
    Layout::from_size_align(bytes, alignment).ok()
}

/// Mappings are whole pages, of whatever size the machine's are.
#[cfg(all(target_os = "linux", not(miri)))]
fn mapped_length(bytes: usize) -> usize {
    bytes.next_multiple_of(64 << 10)
}

/// A mapping aligned to, and advised as, huge pages. The global allocator would zero aligned memory by hand, and so touch
/// every small page of it before the advice.
#[cfg(all(target_os = "linux", not(miri)))]
fn map_huge(bytes: usize) -> Option<NonNull<u8>> {
    if bytes > isize::MAX as usize - 2 * HUGE_PAGE {
        return None;
    }
    let length = mapped_length(bytes);
    let span = length + HUGE_PAGE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous mapping at an address of the system's choice touches nothing that exists.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), span, protection, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let start = start.cast::<u8>();
    let before = start.align_offset(HUGE_PAGE);
    let after = span - before - length;
    let aligned = start.wrapping_add(before);
    if before > 0 {
        // SAFETY: the first `before` bytes of the mapping made above; nobody knows them yet.
        unsafe { libc::munmap(start.cast(), before) };
    }
    if after > 0 {
        // SAFETY: the last `after` bytes of the mapping made above; nobody knows them yet.
        unsafe { libc::munmap(aligned.wrapping_add(length).cast(), after) };
    }
    // Refused advice costs speed only.
    // SAFETY: the range is the mapping that is left, and the advice does not change its contents.
    unsafe { libc::madvise(aligned.cast(), length, libc::MADV_HUGEPAGE) };
    NonNull::new(aligned)
}

/// Bytes that somebody else owns.
///
/// Invariants: `data` points to `len` initialised bytes, aligned to [`LENT_ALIGNMENT`], that stay where they are until this
/// value is dropped, and are touched by nobody but its user meanwhile. Those of [`Lent::from_reader`] are written by nobody
/// at all.
#[derive(Debug)]
pub(crate) struct Lent {
    data: NonNull<u8>,
    len: usize,
    /// Frees the bytes when dropped.
    _owner: Box<dyn Any + Send + Sync>,
}

/// What every element type is content with.
const LENT_ALIGNMENT: usize = 8;

// SAFETY: the bytes are owned plain memory, and the owner is Send.
unsafe impl Send for Lent {}
// SAFETY: a shared value gives away the address only, and the owner is Sync.
unsafe impl Sync for Lent {}

impl Lent {
    /// The elements of a vector; given back if they are not aligned well enough.
    pub(crate) fn from_vec<T: Element>(mut elements: Vec<T>) -> Result<Lent, Vec<T>> {
        let data = NonNull::from(elements.as_mut_slice()).cast::<u8>();
        if !is_aligned(data) {
            return Err(elements);
        }
        Ok(Lent {
            data,
            len: size_of_val(elements.as_slice()),
            // Moving a vector does not move its elements, and nobody reaches them through it again.
            _owner: Box::new(elements),
        })
    }

    /// The bytes of an owner; given back if they are not aligned well enough.
    pub(crate) fn from_owner<O>(owner: O) -> Result<Lent, O>
    where
        O: AsMut<[u8]> + Send + Sync + 'static,
    {
        let keeper = Keeper(NonNull::from(Box::leak(Box::new(owner))));
        // SAFETY: the box was leaked just now and `keeper`, which alone refers to it, takes it back when it is dropped.
        // The borrow counts as lasting until then, so the owner may not move, free or lend out the bytes meanwhile.
        let owner: &'static mut O = unsafe { &mut *keeper.0.as_ptr() };
        let bytes = NonNull::from(owner.as_mut());
        keeper.lend(bytes)
    }

    /// The bytes of an owner that only lets them be read; given back if they are not aligned well enough.
    pub(crate) fn from_reader<O>(owner: O) -> Result<Lent, O>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        let keeper = Keeper(NonNull::from(Box::leak(Box::new(owner))));
        // SAFETY: as in `from_owner`, but that the borrow is shared: it keeps everybody from writing to the bytes.
        let owner: &'static O = unsafe { &*keeper.0.as_ptr() };
        let bytes = NonNull::from(owner.as_ref());
        keeper.lend(bytes)
    }

    pub(crate) fn data(&self) -> NonNull<u8> {
        self.data
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

fn is_aligned(data: NonNull<u8>) -> bool {
    (data.as_ptr() as usize).is_multiple_of(LENT_ALIGNMENT)
}

/// Owns a leaked box.
#[derive(Debug)]
struct Keeper<O>(NonNull<O>);

// SAFETY: the keeper is the owner of an `O`, which is Send.
unsafe impl<O: Send> Send for Keeper<O> {}
// SAFETY: a shared keeper gives no access to the `O` at all.
unsafe impl<O: Sync> Sync for Keeper<O> {}

impl<O: Send + Sync + 'static> Keeper<O> {
    /// Bytes that the owner has lent for as long as it lives, with the owner.
    fn lend(self, bytes: NonNull<[u8]>) -> Result<Lent, O> {
        let data = bytes.cast::<u8>();
        if !is_aligned(data) {
            return Err(self.give_back());
        }
        Ok(Lent {
            data,
            len: bytes.len(),
            _owner: Box::new(self),
        })
    }
}

impl<O> Keeper<O> {
    fn give_back(self) -> O {
        let keeper = std::mem::ManuallyDrop::new(self);
        // SAFETY: the pointer came from `Box::leak`; it is taken back once, because the keeper is not dropped.
        *unsafe { Box::from_raw(keeper.0.as_ptr()) }
    }
}

impl<O> Drop for Keeper<O> {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `Box::leak` and is taken back once, here.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_zeroed() {
        for bytes in [64, 128, 4096, HUGE_PAGE - 64, HUGE_PAGE, HUGE_PAGE + 64] {
            let block = Block::from_system(bytes).unwrap();
            let address = block.pointer().as_ptr() as usize;
            assert_eq!(address % ALIGNMENT, 0);
            assert!(bytes < HUGE_PAGE || address.is_multiple_of(HUGE_PAGE));
            for at in [0, bytes / 2, bytes - 1] {
                // SAFETY: inside the block, which is initialised.
                let place = unsafe { block.pointer().add(at) };
                // SAFETY: as above.
                assert_eq!(unsafe { place.read() }, 0);
            }
        }
    }

    #[test]
    fn an_impossible_size_is_refused() {
        assert!(Block::from_system(isize::MAX as usize / 64 * 64).is_none());
    }
}
