//! One kernel on a dense stretch of memory, whose results may go past the caches.
#![expect(
    unsafe_code,
    reason = "dense operands are handed to erased kernels as raw pointers"
)]

use crate::isa::{Arch, Level, RawKernel, Task};
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

    /// Computes `n` elements, a piece of at most `piece` bytes at a time in `stage`, from where it leaves past the caches. The
    /// caller ends with [`stream::fence`].
    ///
    /// # Safety
    /// The operands are of the kernel's dtypes and aligned to them, valid for `n` elements at their steps, the destination for
    /// writes and apart from the sources; `stage` is aligned to a line, has room for `piece` bytes, some whole lines, and nobody
    /// else sees it.
    pub(crate) unsafe fn stream(&self, n: usize, stage: *mut u8, piece: usize) {
        let count = piece / self.size;
        // The first piece ends where a cache line of the destination does.
        let head = if n < count {
            n
        } else {
            self.dst.align_offset(stream::LINE) / self.size
        };
        // SAFETY: the caller's contract, of elements there are: a line has fewer than a piece.
        unsafe { self.stage(0, head, stage) };
        let pieces = (n - head) / count;
        Level::current().run(Pieces {
            pass: *self,
            start: head,
            count,
            pieces,
            stage,
        });
        let done = head + pieces * count;
        // SAFETY: the caller's contract, of less than a piece.
        unsafe { self.stage(done, n - done, stage) };
    }

    /// Computes `n` elements from `start` on, less than a piece.
    ///
    /// # Safety
    /// As for [`stream`](Self::stream).
    unsafe fn stage(&self, start: usize, n: usize, stage: *mut u8) {
        if n > 0 {
            let [a, b, c] = self.sources_at(start);
            // SAFETY: elements of the caller's operands, into a stage with room for as many.
            unsafe { (self.kernel)(n, stage, a, b, c) };
            let dst = self.dst.wrapping_add(start * self.size);
            // SAFETY: the destination has these elements, and it is apart from the stage.
            unsafe { stream::copy_raw(dst, stage, n * self.size) };
        }
    }

    /// Where an element of each source is.
    #[inline(always)]
    fn sources_at(&self, element: usize) -> [*mut u8; 3] {
        std::array::from_fn(|i| self.sources[i].wrapping_add(element * self.steps[i]))
    }
}

/// Computes `count` rows of `n` elements with a kernel whose destination and sources are at `places`, each row so many bytes behind
/// the one before. Nothing between one row and the next: of rows of 64 elements that takes as long as the elements.
///
/// # Safety
/// As for [`Pass::run`], of every row.
#[inline]
pub(crate) unsafe fn run_rows(
    kernel: RawKernel,
    (n, count): (usize, usize),
    [mut dst, mut a, mut b, mut c]: [*mut u8; 4],
    steps: [isize; 4],
) {
    for _ in 0..count {
        // SAFETY: the caller's contract.
        unsafe { kernel(n, dst, a, b, c) };
        dst = dst.wrapping_offset(steps[0]);
        a = a.wrapping_offset(steps[1]);
        b = b.wrapping_offset(steps[2]);
        c = c.wrapping_offset(steps[3]);
    }
}

/// The whole pieces of [`Pass::stream`], which vouches for them. Little between one and the next, so that the processor is well
/// into the reads of the next while the writes of one leave.
struct Pieces {
    pass: Pass,
    /// The first element, which begins a line of the destination.
    start: usize,
    /// The elements of a piece, whole lines.
    count: usize,
    pieces: usize,
    stage: *mut u8,
}

impl Task for Pieces {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Pass {
            kernel,
            dst,
            size,
            steps,
            ..
        } = self.pass;
        let bytes = self.count * size;
        let mut dst = dst.wrapping_add(self.start * size);
        let mut sources = self.pass.sources_at(self.start);
        let wakes = stream::wakes();
        for _ in 0..self.pieces {
            let [a, b, c] = sources;
            if wakes {
                for (source, step) in sources.into_iter().zip(steps) {
                    if step > 0 {
                        stream::wake(source, bytes);
                    }
                }
            }
            // SAFETY: vouched for by whoever made `self`: the next elements, into a stage with room for as many.
            unsafe { kernel(self.count, self.stage, a, b, c) };
            for at in (0..bytes).step_by(stream::LINE) {
                let (to, from) = (dst.wrapping_add(at), self.stage.wrapping_add(at));
                // SAFETY: as above; the destination has these elements, begins a line and is apart from the stage.
                unsafe { stream::line::<A>(to, from) };
            }
            dst = dst.wrapping_add(bytes);
            sources = std::array::from_fn(|i| sources[i].wrapping_add(self.count * steps[i]));
        }
    }
}
