//! Where a new buffer goes: the current workspace, a named one, or the heap.
//! The buffers themselves are made by `buffer.rs` and `arena.rs`.

use std::panic::Location;

use crate::block::Lent;
use crate::buffer::{Buffer, heap};
use crate::dtype::Element;
use crate::error::AllocError;
use crate::scope;
use crate::workspace::Workspace;

/// A vector of at least this size is kept where it is, since there may be no room for a second one. Others are copied: a
/// vector's own memory is neither aligned to cache lines nor on huge pages, and both are worth more in the first few
/// operations than the copy costs.
const ADOPT: usize = 1 << 30;

impl Buffer {
    /// Zeroed memory in the thread's current workspace, else on the heap.
    ///
    /// # Errors
    /// [`AllocError::OutOfMemory`], or [`AllocError::WorkspaceFull`] from a workspace that may not spill.
    #[inline]
    #[track_caller]
    pub fn zeroed(bytes: usize) -> Result<Buffer, AllocError> {
        allocate(bytes, true, Location::caller())
    }

    /// Memory with unspecified contents, in the thread's current workspace, else on the heap: for results that are
    /// written completely.
    ///
    /// # Errors
    /// As [`zeroed`](Buffer::zeroed).
    #[inline]
    #[track_caller]
    pub fn recycled(bytes: usize) -> Result<Buffer, AllocError> {
        allocate(bytes, false, Location::caller())
    }

    /// Zeroed memory on the heap, whatever workspaces are open.
    ///
    /// # Errors
    /// [`AllocError::OutOfMemory`].
    #[inline]
    #[track_caller]
    pub fn detached_zeroed(bytes: usize) -> Result<Buffer, AllocError> {
        heap(bytes, true, Location::caller())
    }

    /// Memory with unspecified contents on the heap, whatever workspaces are open.
    ///
    /// # Errors
    /// [`AllocError::OutOfMemory`].
    #[inline]
    #[track_caller]
    pub fn detached_recycled(bytes: usize) -> Result<Buffer, AllocError> {
        heap(bytes, false, Location::caller())
    }

    /// Zeroed memory in this workspace, which must be open on the calling thread.
    ///
    /// # Errors
    /// [`AllocError::NotOpenHere`], and those of [`zeroed`](Buffer::zeroed).
    #[track_caller]
    pub fn zeroed_in(workspace: &Workspace, bytes: usize) -> Result<Buffer, AllocError> {
        scope::allocate_in(workspace, bytes, true, Location::caller())
    }

    /// Memory with unspecified contents in this workspace, which must be open on the calling thread.
    ///
    /// # Errors
    /// As [`zeroed_in`](Buffer::zeroed_in).
    #[track_caller]
    pub fn recycled_in(workspace: &Workspace, bytes: usize) -> Result<Buffer, AllocError> {
        scope::allocate_in(workspace, bytes, false, Location::caller())
    }
}

impl Buffer {
    /// The elements of a vector: copied into the thread's current workspace, or, where there is none, to the heap, where
    /// they are aligned and on huge pages. Vectors of a gibibyte and more are kept where they are then.
    ///
    /// # Errors
    /// As [`zeroed`](Buffer::zeroed).
    ///
    /// ```
    /// use lodestride_buffer::Buffer;
    /// let buffer = Buffer::from_vec(vec![1_i32, 2, 3])?;
    /// assert_eq!(buffer.read()?.slice::<i32>(), [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn from_vec<T: Element>(elements: Vec<T>) -> Result<Buffer, AllocError> {
        let location = Location::caller();
        let bytes = size_of_val(elements.as_slice());
        if !scope::is_heap_current() || bytes < ADOPT {
            return Ok(filled(allocate(bytes, false, location)?, &elements));
        }
        match Lent::from_vec(elements) {
            Ok(lent) => Buffer::from_lent(lent, location),
            Err(elements) => Ok(filled(heap(bytes, false, location)?, &elements)),
        }
    }

    /// Memory that somebody else owns, for example a mapped file; the owner is dropped with the last handle.
    ///
    /// The bytes are copied, and the owner dropped at once, if they are not aligned to 8.
    ///
    /// # Errors
    /// [`AllocError::OutOfMemory`].
    #[track_caller]
    pub fn from_owner<O>(owner: O) -> Result<Buffer, AllocError>
    where
        O: AsMut<[u8]> + Send + Sync + 'static,
    {
        let location = Location::caller();
        match Lent::from_owner(owner) {
            Ok(lent) => Buffer::from_lent(lent, location),
            Err(mut owner) => {
                let bytes = owner.as_mut();
                Ok(filled(heap(bytes.len(), false, location)?, bytes))
            }
        }
    }
}

impl Buffer {
    /// Memory that somebody else owns and only lends for reading; the owner is dropped with the last handle. Guards for
    /// writing are refused for good.
    ///
    /// The bytes are copied, and the owner dropped at once, if they are not aligned to 8.
    ///
    /// ```
    /// use lodestride_buffer::{AccessError, Buffer};
    /// let buffer = Buffer::read_only(b"eight by".as_slice())?;
    /// assert_eq!(buffer.read()?.bytes(), b"eight by");
    /// assert!(matches!(buffer.write(), Err(AccessError::ReadOnly(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`AllocError::OutOfMemory`].
    #[track_caller]
    pub fn read_only<O>(owner: O) -> Result<Buffer, AllocError>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        let location = Location::caller();
        let buffer = match Lent::from_reader(owner) {
            Ok(lent) => Buffer::from_lent(lent, location)?,
            Err(owner) => {
                let bytes = owner.as_ref();
                filled(heap(bytes.len(), false, location)?, bytes)
            }
        };
        buffer.access().freeze();
        Ok(buffer)
    }
}

/// A new buffer with the elements copied in.
fn filled<T: Element>(buffer: Buffer, elements: &[T]) -> Buffer {
    // Nobody else knows the buffer yet, so the guard is granted.
    if let Ok(mut guard) = buffer.write() {
        guard.slice_mut().copy_from_slice(elements);
    }
    buffer
}

#[inline]
fn allocate(
    bytes: usize,
    zero: bool,
    location: &'static Location<'static>,
) -> Result<Buffer, AllocError> {
    if scope::is_heap_current() {
        return heap(bytes, zero, location);
    }
    in_workspace(bytes, zero, location)
}

/// [`allocate`] where a workspace is current.
#[inline(never)]
fn in_workspace(
    bytes: usize,
    zero: bool,
    location: &'static Location<'static>,
) -> Result<Buffer, AllocError> {
    if !zero && let Some(buffer) = scope::bump(bytes, location) {
        return Ok(buffer);
    }
    placed(bytes, zero, location)
}

/// [`in_workspace`] where more is to be done than to move a pointer on.
#[inline(never)]
fn placed(
    bytes: usize,
    zero: bool,
    location: &'static Location<'static>,
) -> Result<Buffer, AllocError> {
    match scope::allocate(bytes, zero, location) {
        Some(result) => result,
        None => heap(bytes, zero, location),
    }
}
