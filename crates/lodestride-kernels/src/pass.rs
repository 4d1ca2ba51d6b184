//! One kernel on a dense stretch of memory, whose results may go past the caches.
#![expect(
    unsafe_code,
    reason = "dense operands are handed to erased kernels as raw pointers"
)]

use crate::isa::RawKernel;
use crate::stream;

/// A kernel and its dense operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    pub(crate) kernel: RawKernel,
    pub(crate) dst: *mut u8,
    /// Bytes of an element of the destination.
    pub(crate) size: usize,
    pub(crate) sources: [*mut u8; 3],
    /// Bytes from one element of each source to the next: 0 where one stands for all.
    pub(crate) steps: [usize; 3],
}

impl Pass {
    /// Computes `n` elements from memory to memory.
    ///
    /// # Safety
    /// The operands are of the kernel's dtypes, valid for `n` elements at their steps, the destination for writes; a source
    /// that shares memory with it is the one an in-place form reads through it.
    #[inline]
    pub(crate) unsafe fn run(&self, n: usize) {
        let [a, b, c] = self.sources;
        // SAFETY: the caller's contract.
        unsafe { (self.kernel)(n, self.dst, a, b, c) };
    }

    /// Computes `count` rows of `n` elements, each so many bytes behind the one before, where the destination and where the sources
    /// are. Nothing between one row and the next: of rows of 64 elements that takes as long as the elements.
    ///
    /// # Safety
    /// As for [`run`](Self::run), of every row.
    #[inline]
    pub(crate) unsafe fn run_rows(&self, n: usize, count: usize, step: isize, steps: [isize; 3]) {
        let (mut dst, [mut a, mut b, mut c]) = (self.dst, self.sources);
        for _ in 0..count {
            // SAFETY: the caller's contract.
            unsafe { (self.kernel)(n, dst, a, b, c) };
            dst = dst.wrapping_offset(step);
            a = a.wrapping_offset(steps[0]);
            b = b.wrapping_offset(steps[1]);
            c = c.wrapping_offset(steps[2]);
        }
    }

    /// Computes `n` elements, a piece of at most `piece` bytes at a time in `stage`, from where it leaves past the caches. The
    /// caller ends with [`stream::fence`].
    ///
    /// # Safety
    /// The operands are of the kernel's dtypes, valid for `n` elements at their steps, the destination for writes and apart
    /// from the sources; `stage` is aligned to a line, has room for `piece` bytes, a line at least, and nobody
    /// else sees it.
    #[inline]
    pub(crate) unsafe fn stream(&self, n: usize, stage: *mut u8, piece: usize) {
        let wakes = stream::wakes();
        let mut start = 0;
        while start < n {
            let dst = self.dst.wrapping_add(start * self.size);
            // The first piece ends where a cache line of the destination does.
            let room = piece - dst.addr() % stream::LINE;
            let here = (room / self.size).max(1).min(n - start);
            let at = |source: usize| self.sources[source].wrapping_add(start * self.steps[source]);
            if wakes {
                for source in 0..self.sources.len() {
                    if self.steps[source] > 0 {
                        stream::wake(at(source), piece);
                    }
                }
            }
            // SAFETY: the next elements of the caller's operands, into a stage with room for as many.
            unsafe { (self.kernel)(here, stage, at(0), at(1), at(2)) };
            // SAFETY: the destination has these elements, and it is apart from the stage.
            unsafe { stream::copy_raw(dst, stage, here * self.size) };
            start += here;
        }
    }
}
