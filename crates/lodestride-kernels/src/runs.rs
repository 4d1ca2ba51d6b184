//! Copying rows of equally spaced elements: dense to dense, one element repeated, strided, reversed.
#![expect(
    unsafe_code,
    reason = "strided elements are moved through raw pointers"
)]

use crate::cached;
use crate::interleave::{self, MOST};
#[cfg(target_arch = "x86_64")]
use crate::lines;
use crate::short_rows::{LONGEST, ShortRows};
use crate::stream::{self, LINE};
use crate::tile::{self, Scratch};
use crate::transfer::Axis;

/// Elements of a strided run at a time, so that several rows can share the lines they touch.
const CHUNK: usize = 1024;

/// So many rows are copied side by side.
const FEW: usize = 16;

/// Rows shorter than this are not written past the caches unless they consist of whole lines: the rest of a line would
/// have to be read.
const LONG: usize = 8192;

/// Rows to be copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    pub(crate) x: *const u8,
    pub(crate) out: *mut u8,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub(crate) size: usize,
    pub(crate) rows: Axis,
    pub(crate) run: Axis,
    /// Whether to write past the caches.
    pub(crate) stream: bool,
    /// Whether what lies between elements of the source may be read.
    pub(crate) gaps: bool,
}

impl Plane {
    /// Copies the rows.
    ///
    /// # Safety
    /// Every element the axes reach lies in memory valid for reads (`x`) and writes (`out`), which nobody else touches
    /// meanwhile; no element of `out` is reached twice, and none is one of `x`.
    #[inline]
    pub(crate) unsafe fn run(&self) {
        // SAFETY: the caller's contract, in each branch.
        match (self.run.out, self.run.x, self.size) {
            // SAFETY: as said above the match.
            (1, 1, _) => unsafe { self.dense() },
            // SAFETY: as said above the match.
            (1, 0, 1) => unsafe { self.filled::<u8>() },
            // SAFETY: as said above the match.
            (1, 0, 2) => unsafe { self.filled::<u16>() },
            // SAFETY: as said above the match.
            (1, 0, 4) => unsafe { self.filled::<u32>() },
            // SAFETY: as said above the match.
            (1, 0, _) => unsafe { self.filled::<u64>() },
            // SAFETY: as said above the match.
            (_, _, 1) => unsafe { self.strided::<u8>() },
            // SAFETY: as said above the match.
            (_, _, 2) => unsafe { self.strided::<u16>() },
            // SAFETY: as said above the match.
            (_, _, 4) => unsafe { self.strided::<u32>() },
            // SAFETY: as said above the match.
            _ => unsafe { self.strided::<u64>() },
        }
        if self.stream {
            stream::fence();
        }
    }

    /// The first elements of a row in both.
    #[inline(always)]
    fn row(&self, row: usize) -> (*mut u8, *const u8) {
        let at = (row * self.size).cast_signed();
        let out = self.out.wrapping_offset(at * self.rows.out);
        (out, self.x.wrapping_offset(at * self.rows.x))
    }

    /// Whether rows of the destination are written past the caches.
    fn streams(&self) -> bool {
        let bytes = self.run.size * self.size;
        let pitch = self.rows.out * self.size.cast_signed();
        let whole_lines = self.out.addr().is_multiple_of(LINE)
            && pitch % LINE.cast_signed() == 0
            && bytes.is_multiple_of(LINE);
        self.stream && (bytes >= LONG || whole_lines)
    }

    /// Rows without gaps on both sides.
    ///
    /// # Safety
    /// As [`Plane::run`].
    unsafe fn dense(&self) {
        let bytes = self.run.size * self.size;
        let streams = self.streams();
        if bytes <= 2 * LINE || (bytes <= LONGEST && !streams) {
            let rows = ShortRows {
                count: self.rows.size,
                bytes,
                to: self.out,
                pitch: self.rows.out * self.size.cast_signed(),
                from: |row| self.row(row).1,
            };
            // SAFETY: the caller's contract.
            unsafe { rows.copy() };
            return;
        }
        for row in 0..self.rows.size {
            let (to, from) = self.row(row);
            if streams {
                // SAFETY: a row of each, by the caller's contract.
                unsafe { stream::copy_raw(to, from, bytes) };
            } else {
                // SAFETY: as above.
                unsafe { cached::copy(to, from, bytes) };
            }
        }
    }

    /// Rows of one element each. Ordinary stores are as fast as any where nothing is read.
    ///
    /// # Safety
    /// As [`Plane::run`], with `T` of the element's size.
    unsafe fn filled<T: Copy>(&self) {
        let (times, count) = (self.run.size, self.rows.size);
        let bytes = times * size_of::<T>();
        if bytes > LINE || self.rows.out == times.cast_signed() {
            // SAFETY: the caller's contract.
            unsafe { self.repeated() };
            return;
        }
        for row in 0..count {
            let (to, from) = self.row(row);
            // SAFETY: the row's one element.
            let element = unsafe { from.cast::<T>().read() };
            if size_of::<T>() < 4 {
                let line = [element; LINE];
                // SAFETY: a row of the destination, and no more than there is of the line.
                unsafe { stream::copy_short(to, line.as_ptr().cast(), bytes) };
                continue;
            }
            for i in 0..times {
                // SAFETY: before the end of the row.
                unsafe { to.cast::<T>().wrapping_add(i).write(element) };
            }
        }
    }

    /// [`Plane::filled`], of rows of more than a line or without gaps between them.
    ///
    /// # Safety
    /// As [`Plane::run`].
    unsafe fn repeated(&self) {
        let (size, times, count) = (self.size, self.run.size, self.rows.size);
        if self.rows.out == times.cast_signed() {
            // SAFETY: rows of the destination without gaps, and an element for each.
            unsafe { tile::repeat(self.out, self.x, (size, self.rows.x), (count, times)) };
            return;
        }
        for row in 0..count {
            let (to, from) = self.row(row);
            // SAFETY: a row of the destination, and its one element.
            unsafe { tile::repeat(to, from, (size, 0), (1, times)) };
        }
    }

    /// Rows with gaps.
    ///
    /// # Safety
    /// As [`Plane::run`], with `T` of the element's size.
    unsafe fn strided<T: Halves>(&self) {
        let few = self.rows.size;
        let are_joined = (self.rows.out, self.run.out, self.run.x) == (1, few.cast_signed(), 1);
        if are_joined && (2..=MOST).contains(&few) {
            let runs: [*const u8; MOST] = std::array::from_fn(|row| self.row(row).1);
            // SAFETY: the caller's contract; the places of the rows are side by side.
            unsafe {
                interleave::try_join(
                    self.out,
                    &runs[..few],
                    self.size,
                    self.run.size,
                    self.stream,
                )
            };
            return;
        }
        if self.run.out == 1 && self.streams() {
            // SAFETY: the caller's contract.
            unsafe { self.strided_past_caches::<T>() };
            return;
        }
        // A few long rows may share lines: pieces of all of them after one another find these in L1.
        let chunk = if self.rows.size <= FEW {
            CHUNK
        } else {
            self.run.size.max(1)
        };
        for begin in (0..self.run.size).step_by(chunk) {
            let n = chunk.min(self.run.size - begin);
            for row in 0..self.rows.size {
                let (to, from) = self.at::<T>(row, begin);
                // SAFETY: `n` elements of each.
                unsafe { self.piece::<T>(to, self.run.out, from, n) };
            }
        }
    }

    /// [`Plane::strided`] to a dense destination, past the caches.
    ///
    /// # Safety
    /// As [`Plane::strided`].
    unsafe fn strided_past_caches<T: Halves>(&self) {
        let mut scratch = Scratch::take(stream::PIECE);
        let chunk = stream::PIECE / size_of::<T>();
        let tile = scratch.pointer();
        for row in 0..self.rows.size {
            let (to, from) = self.row(row);
            // SAFETY: a row of each.
            if unsafe { self.try_thin::<T>(to, from, self.run.size, true) } {
                continue;
            }
            // All pieces but the first begin with a line.
            let mut end = to.align_offset(LINE) / size_of::<T>();
            let mut begin = 0;
            while begin < self.run.size {
                if end == 0 {
                    end = chunk;
                }
                let n = end.min(self.run.size) - begin;
                let (to, from) = self.at::<T>(row, begin);
                // SAFETY: `n` elements of the source; the tile takes a piece.
                unsafe { self.piece::<T>(tile, 1, from, n) };
                // SAFETY: `n` elements of the tile, and of the destination's row.
                unsafe { stream::copy_raw(to, tile, n * size_of::<T>()) };
                begin += n;
                end = begin + chunk;
            }
        }
    }

    /// Moves `n` elements of a row with small gaps by whole lines, or does nothing and answers false.
    ///
    /// # Safety
    /// As [`Plane::piece`], to places side by side.
    #[inline]
    unsafe fn try_thin<T>(&self, to: *mut u8, from: *const u8, n: usize, past: bool) -> bool {
        #[cfg(target_arch = "x86_64")]
        if self.gaps {
            // What lies between elements may be read where `gaps` says so.
            return match past {
                // SAFETY: the caller's contract.
                false => unsafe { lines::try_thin(to, from, (n, self.run.x), size_of::<T>()) },
                // SAFETY: the caller's contract.
                true if self.run.x == 2 => unsafe {
                    lines::try_halve(to, from, n, size_of::<T>(), true)
                },
                true => false,
            };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (to, from, n, past);
        false
    }

    /// The element number `begin` of a row in both.
    #[inline(always)]
    fn at<T>(&self, row: usize, begin: usize) -> (*mut u8, *const u8) {
        let (to, from) = self.row(row);
        let at = (begin * size_of::<T>()).cast_signed();
        (
            to.wrapping_offset(at * self.run.out),
            from.wrapping_offset(at * self.run.x),
        )
    }

    /// Moves `n` elements of a row.
    ///
    /// # Safety
    /// `n` elements of a row from `from` on, and as many places from `to` on; they are apart.
    #[inline]
    unsafe fn piece<T: Halves>(&self, to: *mut u8, out_step: isize, from: *const u8, n: usize) {
        let size = size_of::<T>();
        // SAFETY: the caller's contract.
        if out_step == 1 && unsafe { self.try_thin::<T>(to, from, n, false) } {
            return;
        }
        // SAFETY: the caller's contract, in each branch; what lies between elements of the source is not written
        // meanwhile where `gaps` says so.
        match (out_step, self.run.x) {
            // SAFETY: as said above the match.
            (1, 2) if self.gaps => unsafe { halved::<T>(to.cast(), from.cast(), n) },
            // SAFETY: as said above the match.
            (1, step) => unsafe { tile::gather(to, from, step, size, n) },
            // SAFETY: as said above the match.
            (step, 1) => unsafe { tile::scatter(to, step, from, size, n) },
            // SAFETY: as said above the match.
            (step, x_step) => unsafe { spaced::<T>(to.cast(), step, from.cast(), x_step, n) },
        }
    }
}

/// An element as one half of a wider one: every second element is a conversion, which vectorises for every size.
trait Halves: Copy {
    /// Twice as wide.
    type Whole: Copy;

    /// The half that comes first in memory.
    fn first(whole: Self::Whole) -> Self;
}

macro_rules! halves {
    ($($T:ident $Whole:ident),*) => {$(
        impl Halves for $T {
            type Whole = $Whole;

            #[inline(always)]
            fn first(whole: $Whole) -> $T {
                $Whole::from_le(whole) as $T
            }
        }
    )*};
}
halves!(u8 u16, u16 u32, u32 u64, u64 u128);

/// Every second element of the source.
///
/// # Safety
/// As [`spaced`] with steps 1 and 2; what lies between the elements of the source is valid for reads too.
#[inline(always)]
unsafe fn halved<T: Halves>(to: *mut T, from: *const T, n: usize) {
    let wholes = from.cast::<T::Whole>();
    for i in 0..n - 1 {
        // SAFETY: the `i`-th element and its neighbour; another element follows.
        let whole = unsafe { wholes.wrapping_add(i).read_unaligned() };
        // SAFETY: the `i`-th place.
        unsafe { to.wrapping_add(i).write(T::first(whole)) };
    }
    // SAFETY: the last element, whose neighbour may be beyond the end.
    unsafe {
        spaced(
            to.wrapping_add(n - 1),
            1,
            from.wrapping_add(2 * (n - 1)),
            2,
            1,
        )
    };
}

/// Moves `n` elements between evenly spaced places.
///
/// # Safety
/// Both are aligned for `T` and valid for `n` steps of reads or writes; they are apart.
#[inline(always)]
unsafe fn spaced<T: Copy>(to: *mut T, out_step: isize, from: *const T, x_step: isize, n: usize) {
    for i in 0..n.cast_signed() {
        // SAFETY: the `i`-th step of the source.
        let element = unsafe { from.wrapping_offset(i * x_step).read() };
        // SAFETY: the `i`-th step of the destination.
        unsafe { to.wrapping_offset(i * out_step).write(element) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Copy + PartialEq + std::fmt::Debug>(
        value: impl Fn(usize) -> T,
        steps: [isize; 2],
        n: usize,
        flags: [bool; 2],
    ) {
        let [out_step, x_step] = steps;
        let rows = 3;
        let pitch = |step: isize| n * step.unsigned_abs() + 1;
        let x: Vec<T> = (0..rows * pitch(x_step) + 1).map(&value).collect();
        let mut out = vec![value(usize::MAX); rows * pitch(out_step) + 1];
        let first = if x_step < 0 {
            (n - 1) * x_step.unsigned_abs()
        } else {
            0
        };
        let plane = Plane {
            x: x.as_ptr().wrapping_add(first).cast(),
            out: out.as_mut_ptr().cast(),
            size: size_of::<T>(),
            rows: Axis {
                size: rows,
                out: pitch(out_step).cast_signed(),
                x: pitch(x_step).cast_signed(),
            },
            run: Axis {
                size: n,
                out: out_step,
                x: x_step,
            },
            stream: flags[0],
            gaps: flags[1],
        };
        // SAFETY: the steps reach elements of the two vectors, which are apart.
        unsafe { plane.run() };
        let mut wanted = vec![value(usize::MAX); out.len()];
        for row in 0..rows {
            for i in 0..n.cast_signed() {
                let from = (first + row * pitch(x_step)).cast_signed() + i * x_step;
                wanted[row * pitch(out_step) + (i * out_step).unsigned_abs()] =
                    x[from.unsigned_abs()];
            }
        }
        assert!(out == wanted, "{plane:?}: {out:?} is not {wanted:?}");
    }

    #[test]
    fn every_size_and_step_is_copied() {
        for steps in [
            [1, 1],
            [1, 0],
            [1, -1],
            [1, 2],
            [1, 3],
            [1, 4],
            [2, 1],
            [3, 1],
            [4, 1],
            [2, 2],
            [5, -7],
        ] {
            for n in [1, 2, 3, 8, 15, 16, 17, 64, 100, 1025, 9001] {
                for flags in [[false, false], [false, true], [true, true]] {
                    check(|i| i as u8, steps, n, flags);
                    check(|i| i as u16, steps, n, flags);
                    check(|i| i as u32, steps, n, flags);
                    check(|i| i as u64, steps, n, flags);
                }
            }
        }
    }
}
