//! [`ReadGuard`] and [`WriteGuard`]: a buffer's bytes as slices, for as long as the access word says so.
//! Who gets one is decided in `pin.rs`; the buffers are in `buffer.rs`.
#![expect(unsafe_code, reason = "the slices that guards hand out")]

use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;

use crate::buffer::Buffer;
use crate::dtype::Element;
use crate::scope;

/// Read access to a buffer's bytes; the memory can neither be written nor recycled while it lives.
#[must_use = "the bytes are open only while the guard lives"]
pub struct ReadGuard<'a> {
    /// Invariant: one reader in the buffer's access word belongs to this guard, taken by `pin_read`.
    buffer: &'a Buffer,
}

impl<'a> ReadGuard<'a> {
    /// The guard of a reader that was pinned.
    #[inline]
    pub(crate) fn pinned(buffer: &'a Buffer) -> Self {
        ReadGuard { buffer }
    }

    /// All bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.slice::<u8>()
    }

    /// The whole buffer as elements; bytes beyond the last whole element are left out.
    #[inline]
    pub fn slice<T: Element>(&self) -> &[T] {
        let len = self.buffer.len() / size_of::<T>();
        // SAFETY: by the header's invariant `data` is valid for `len` bytes under this pin, initialised and aligned for
        // every element type; `Element` accepts any bytes; the reader in the access word keeps writers out.
        unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), len) }
    }

    /// The address of the first byte; the bytes may be read through it while the guard lives.
    #[inline]
    pub fn as_ptr(&self) -> *const u8 {
        self.buffer.data().as_ptr()
    }

    /// The buffer this guard opens.
    #[inline]
    pub fn buffer(&self) -> &'a Buffer {
        self.buffer
    }
}

impl<'a> ReadGuard<'a> {
    /// The guard as its [`slice`](Self::slice), for loops that read single elements.
    #[inline]
    pub fn into_slice<T: Element>(self) -> ReadSlice<'a, T> {
        ReadSlice {
            elements: NonNull::from(self.slice::<T>()),
            guard: self,
        }
    }
}

impl Drop for ReadGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.buffer.access().release_read() {
            self.buffer.last_guard_ended();
        }
    }
}

impl fmt::Debug for ReadGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadGuard").field(self.buffer).finish()
    }
}

/// Exclusive access to a buffer's bytes; no other guard can be had while it lives.
#[must_use = "the bytes are open only while the guard lives"]
pub struct WriteGuard<'a> {
    /// Invariant: the writer bit of the buffer's access word belongs to this guard, taken by `pin_write` or set before
    /// anybody else knew the buffer.
    buffer: &'a Buffer,
}

impl<'a> WriteGuard<'a> {
    /// The guard of a writer that was pinned.
    #[inline]
    pub(crate) fn pinned(buffer: &'a Buffer) -> Self {
        WriteGuard { buffer }
    }

    /// All bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.slice::<u8>()
    }

    /// All bytes, to be written.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.slice_mut::<u8>()
    }

    /// The whole buffer as elements; bytes beyond the last whole element are left out.
    #[inline]
    pub fn slice<T: Element>(&self) -> &[T] {
        let len = self.buffer.len() / size_of::<T>();
        // SAFETY: as `ReadGuard::slice`; the writer bit keeps everybody else out, and `&self` this guard's own writes.
        unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), len) }
    }

    /// The whole buffer as elements, to be written; bytes beyond the last whole element are left out.
    #[inline]
    pub fn slice_mut<T: Element>(&mut self) -> &mut [T] {
        let len = self.buffer.len() / size_of::<T>();
        // SAFETY: as `slice`, and `&mut self` makes this the only borrow of the only guard.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr().cast(), len) }
    }

    /// The address of the first byte; the bytes may be read through it while the guard lives.
    #[inline]
    pub fn as_ptr(&self) -> *const u8 {
        self.buffer.data().as_ptr()
    }

    /// The address of the first byte; the bytes may be written through it while the guard lives.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.buffer.data().as_ptr()
    }

    /// The buffer this guard opens.
    #[inline]
    pub fn buffer(&self) -> &'a Buffer {
        self.buffer
    }
}

impl Drop for WriteGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        let access = self.buffer.access();
        // Only an arena watches, only its own arrays, and only on the thread that has it open.
        let watched = match self.buffer.arena() {
            None => {
                access.release_unwatched_write();
                false
            }
            Some((arena, _)) if scope::is_current(arena) => access.release_own_write(),
            Some(_) => access.release_write(),
        };
        if watched {
            self.buffer.last_guard_ended();
        }
    }
}

impl fmt::Debug for WriteGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WriteGuard").field(self.buffer).finish()
    }
}

/// A [`ReadGuard`] that knows where its elements are; dereferences to their slice.
#[must_use = "the elements are open only while the guard lives"]
pub struct ReadSlice<'a, T> {
    /// Invariant: what `slice` of the guard gave.
    elements: NonNull<[T]>,
    guard: ReadGuard<'a>,
}

// SAFETY: a guard, which is Send, and a slice of it that nobody writes; elements are plain numbers.
unsafe impl<T: Element> Send for ReadSlice<'_, T> {}
// SAFETY: as for Send; a shared one gives away a shared slice only.
unsafe impl<T: Element> Sync for ReadSlice<'_, T> {}

impl<T> Deref for ReadSlice<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the guard is open as long as this value, and the slice is the one it gave: its bytes stay where they are
        // and are not written meanwhile.
        unsafe { self.elements.as_ref() }
    }
}

impl<T> fmt::Debug for ReadSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadSlice").field(&self.guard).finish()
    }
}
