//! A few runs joined element by element: arrays stacked along a new last axis, or the axes of one exchanged so.
#![expect(unsafe_code, reason = "runs are taken for slices through raw pointers")]

use crate::isa::{Arch, Level, Task};
use crate::stream::{self, LINE};
use crate::tile::Scratch;

/// So many runs are joined at most.
pub(crate) const MOST: usize = 4;

/// Writes the first elements of some runs one after the other, then the second ones, and so on: `n` of each, of `size` bytes, `past`
/// the caches or not. Does nothing and answers false unless there are two or three runs, or [`MOST`].
///
/// # Safety
/// Every run is valid for reads of `n` elements, which nobody writes to meanwhile, and `to` for writes of all of them, which nobody
/// else touches; all are aligned for numbers of 1, 2, 4 or 8 bytes, which `size` is.
pub(crate) unsafe fn try_join(
    to: *mut u8,
    runs: &[*const u8],
    size: usize,
    n: usize,
    past: bool,
) -> bool {
    match *runs {
        // SAFETY: the caller's contract, here and below.
        [a, b] => unsafe { join_all(to, [a, b], size, n, past) },
        // SAFETY: as above.
        [a, b, c] => unsafe { join_all(to, [a, b, c], size, n, past) },
        // SAFETY: as above.
        [a, b, c, d] => unsafe { join_all(to, [a, b, c, d], size, n, past) },
        _ => return false,
    }
    true
}

/// Goes past the caches by way of a tile.
///
/// # Safety
/// As [`try_join`].
unsafe fn join_all<const K: usize>(
    to: *mut u8,
    runs: [*const u8; K],
    size: usize,
    n: usize,
    past: bool,
) {
    if !past {
        // SAFETY: the caller's contract.
        return unsafe { join(to, runs, size, n) };
    }
    let mut scratch = Scratch::take(stream::HEAVY_PIECE);
    let tile = scratch.pointer();
    let chunk = stream::HEAVY_PIECE / (K * size) / LINE * LINE;
    // All pieces but the first begin with a line, if elements of all runs together fill one.
    let head = to.align_offset(LINE) / (K * size);
    let (mut begin, mut end) = (0, if head > 0 { head } else { chunk });
    while begin < n {
        let count = end.min(n) - begin;
        let from = runs.map(|run| run.wrapping_add(begin * size));
        // SAFETY: so many elements are there of each; the tile takes a piece.
        unsafe { join(tile, from, size, count) };
        let (at, bytes) = (begin * K * size, count * K * size);
        // SAFETY: what the tile holds, and its places in the destination.
        unsafe { stream::copy_raw(to.wrapping_add(at), tile, bytes) };
        begin += count;
        end = begin + chunk;
    }
    stream::fence();
}

/// # Safety
/// As [`try_join`].
unsafe fn join<const K: usize>(to: *mut u8, runs: [*const u8; K], size: usize, n: usize) {
    match size {
        // SAFETY: the caller's contract; any bytes of a number's size are one.
        1 => unsafe { of::<u8, K>(to, runs, n) },
        // SAFETY: as above.
        2 => unsafe { of::<u16, K>(to, runs, n) },
        // SAFETY: as above.
        4 => unsafe { of::<u32, K>(to, runs, n) },
        // SAFETY: as above.
        _ => unsafe { of::<u64, K>(to, runs, n) },
    }
}

/// # Safety
/// As [`try_join`], of elements of that size.
unsafe fn of<T: Copy, const K: usize>(to: *mut u8, runs: [*const u8; K], n: usize) {
    // SAFETY: the caller's contract.
    let runs = runs.map(|run| unsafe { std::slice::from_raw_parts(run.cast::<T>(), n) });
    // SAFETY: as above; an array is aligned as its elements.
    let to = unsafe { std::slice::from_raw_parts_mut(to.cast::<[T; K]>(), n) };
    Level::current().run_narrow(Join { runs, to });
}

struct Join<'a, T, const K: usize> {
    runs: [&'a [T]; K],
    to: &'a mut [[T; K]],
}

impl<T: Copy, const K: usize> Task for Join<'_, T, K> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let n = self.to.len();
        let runs = self.runs.map(|run| &run[..n]);
        for (i, to) in self.to.iter_mut().enumerate() {
            *to = std::array::from_fn(|k| runs[k][i]);
        }
    }
}
