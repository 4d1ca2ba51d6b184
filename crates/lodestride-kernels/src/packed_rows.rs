//! The short way of small arrays with a row, a column or one element beside them: what is added to a layer's outputs, or taken from
//! every row of a matrix.
#![expect(
    unsafe_code,
    reason = "opened buffers are handed to erased kernels as raw pointers, and elements repeated in a tile"
)]

use crate::isa::RawKernel;
use crate::moments::{reading, writing_apart, writing_over};
use crate::op::BinaryOp;
use crate::packed::Packed;
use crate::threads;
use crate::tile;
use lodestride_buffer::{Buffer, DType, WriteGuard};
use lodestride_shape::{Layout, Order};
use std::mem::MaybeUninit;
use std::ptr;

/// Bytes that are read and written up to which what precedes the elements is worth sparing.
const MOST: usize = 256 << 10;

/// Elements that the right operand is repeated for at a time.
const TILE: usize = 512;

/// Elements of a run from which on it is worth a call of its own beside one element; bytes, halves and functions take longer to begin.
const RUN: usize = 8;

/// The same beside a row, which fills a tile once for all.
const ROW: usize = 48;

/// How the elements of the right operand go with those of the left one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeat {
    /// The same elements with every run.
    Row,
    /// One element with each run.
    Column,
}

/// A [`Packed`] operation whose right operand stands for several elements of the left one: it is stretched along leading axes, or
/// along the last ones.
///
/// As [`Packed`], it does what [`binary`](crate::binary) does, or nothing.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{BinaryOp, PackedRows};
/// use lodestride_shape::{Layout, Order};
///
/// let x = Buffer::from_vec(vec![1.0f32, 2.0, 3.0, 4.0])?;
/// let y = Buffer::from_vec(vec![10.0f32, 20.0])?;
/// let matrix = Layout::contiguous([2, 2], Order::C)?;
/// let row = Layout::contiguous([2], Order::C)?;
/// let add = PackedRows::find(BinaryOp::Add, DType::F32, &matrix, &row);
/// assert!(add.is_some_and(|add| add.run_in_place(&x, &y)));
/// assert_eq!(x.read()?.slice::<f32>(), [11.0, 22.0, 13.0, 24.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PackedRows {
    operation: Packed,
    repeat: Repeat,
    /// Elements of a run, and of all.
    run: usize,
    n: usize,
    /// The right operand's elements, and the first of them in its buffer.
    others: usize,
    start: usize,
}

impl PackedRows {
    /// The operation for operands of a dtype and these layouts; none where [`Packed::find`] has none, where the left one is not gap-free in C order from the start of its buffer
    /// or the right one not gap-free, the right one does not stretch to the left one's shape along its first or its last axes
    /// alone, or there is enough to do for the general way.
    // Not moved, which would wait for what was just written.
    #[inline(always)]
    pub fn find(op: BinaryOp, dtype: DType, x: &Layout, y: &Layout) -> Option<PackedRows> {
        let n = x.elements();
        if !x.is_contiguous(Order::C) || !y.is_contiguous(Order::C) || x.offset() > 0 || n == 0 {
            return None;
        }
        let operation = Packed::find(op, dtype)?;
        let bytes = n * (2 * dtype.size() + operation.result().size());
        if bytes > MOST || threads::are_worth(bytes, operation.kernel.heavy) {
            return None;
        }
        let (repeat, run) = repeat(x.shape(), y.shape())?;
        let found = PackedRows {
            operation,
            repeat,
            run,
            n,
            others: y.elements(),
            start: y.offset(),
        };
        // A long run of one element is repeated piece by piece by the general way.
        found
            .has_tile_or(operation.kernel.zip_scalar)
            .then_some(found)
    }

    /// Whether a tile takes a run of what is repeated, or there is a loop that needs none.
    #[inline]
    fn has_tile_or(&self, zip_scalar: Option<RawKernel>) -> bool {
        self.repeat == Repeat::Row || self.run <= TILE || zip_scalar.is_some()
    }

    /// The operation on operands of one shape.
    #[inline]
    pub fn operation(self) -> Packed {
        self.operation
    }

    /// As [`Packed::run`].
    #[inline]
    pub fn run(&self, x: &Buffer, y: &Buffer, mut out: WriteGuard<'_>) -> bool {
        if !self.is_within(x, y, out.buffer()) {
            return false;
        }
        let dst = out.as_mut_ptr();
        let compute = |a, b| {
            // SAFETY: the buffers are open and hold the operands' elements, all aligned; `out` is open for writing, so it is neither of
            // those that are open for reading.
            unsafe { self.compute(self.forms(), dst, a, self.first(b)) };
        };
        // SAFETY: kernels use no buffers, and have few elements to go through.
        unsafe { reading(x, y, compute) }
    }

    /// As [`Packed::run_into`].
    #[inline]
    pub fn run_into(&self, x: &Buffer, y: &Buffer, out: &Buffer) -> bool {
        if !self.is_within(x, y, out) {
            return false;
        }
        let compute = |dst, a, b| {
            // SAFETY: as in `run`; the buffer that is open for writing is neither of the others.
            unsafe { self.compute(self.forms(), dst, a, self.first(b)) };
        };
        // SAFETY: as in `run`.
        unsafe { writing_apart(out, x, y, compute) }
    }

    /// The loops that write to a buffer of its own.
    #[inline]
    fn forms(&self) -> (RawKernel, Option<RawKernel>) {
        let kernel = self.operation.kernel;
        (kernel.zip, kernel.zip_scalar)
    }

    /// As [`Packed::run_in_place`].
    #[inline]
    pub fn run_in_place(&self, x: &Buffer, y: &Buffer) -> bool {
        let (zip, zip_scalar) = self.operation.in_place();
        let Some(zip) = zip else { return false };
        if !self.is_within(x, y, x) || !self.has_tile_or(zip_scalar) {
            return false;
        }
        let compute = |dst: *mut u8, b| {
            // SAFETY: both buffers are open and hold the operands' elements, aligned; they are two buffers, and the in-place forms read
            // their first operand through the destination.
            unsafe { self.compute((zip, zip_scalar), dst, dst, self.first(b)) };
        };
        // SAFETY: as in `run`.
        unsafe { writing_over(x, y, compute) }
    }

    /// Whether the buffers hold the elements of the operands and of the result.
    #[inline]
    fn is_within(&self, x: &Buffer, y: &Buffer, out: &Buffer) -> bool {
        let (size, room) = (self.operation.dtype.size(), self.operation.result().size());
        let fit = self.n * size <= x.len() && (self.start + self.others) * size <= y.len();
        fit && self.n * room <= out.len()
    }

    /// The first of the right operand's elements.
    #[inline]
    fn first(&self, y: *const u8) -> *const u8 {
        y.wrapping_add(self.start * self.operation.dtype.size())
    }

    /// Calls the kernels: those of two vectors, and of a vector and an element where there is one.
    ///
    /// # Safety
    /// `dst` takes all results, `a` and `b` hold the operands' elements, all of the kernels' dtypes and aligned. The destination is
    /// apart from both, or is `a` and the kernels read their first operand through it.
    #[inline]
    unsafe fn compute(
        &self,
        (zip, zip_scalar): (RawKernel, Option<RawKernel>),
        dst: *mut u8,
        a: *const u8,
        b: *const u8,
    ) {
        let (size, room) = (self.operation.dtype.size(), self.operation.result().size());
        let (run, count) = (self.run, self.n / self.run);
        let begins_soon = size >= size_of::<f32>() && !self.operation.kernel.heavy;
        let alone = |least: usize| begins_soon && run >= least || count == 1;
        let (kernel, step) = match (self.repeat, zip_scalar) {
            (Repeat::Row, _) if alone(ROW) || 2 * run > TILE => (zip, 0),
            (Repeat::Column, Some(form)) if alone(RUN) || run > TILE => (form, size),
            // SAFETY: the caller's contract.
            _ => return unsafe { self.compute_tiled(zip, dst, a, b) },
        };
        for row in 0..count {
            let (dst, a) = (
                dst.wrapping_add(row * run * room),
                a.wrapping_add(row * run * size),
            );
            // SAFETY: the next run of the caller's operands, with its elements of the right one.
            unsafe { kernel(run, dst, a, b.wrapping_add(row * step), ptr::null()) };
        }
    }

    /// [`compute`](Self::compute) of short runs, several at a time, beside a tile of the right operand's elements.
    ///
    /// # Safety
    /// As for [`compute`](Self::compute).
    unsafe fn compute_tiled(&self, zip: RawKernel, dst: *mut u8, a: *const u8, b: *const u8) {
        let (size, room) = (self.operation.dtype.size(), self.operation.result().size());
        let (run, count) = (self.run, self.n / self.run);
        let together = (TILE / run).clamp(1, count);
        let mut memory = MaybeUninit::<[u64; TILE]>::uninit();
        let tile = memory.as_mut_ptr().cast::<u8>();
        if self.repeat == Repeat::Row {
            // SAFETY: the row has a run's elements; the tile takes `together` runs.
            unsafe { repeat_row(tile, b, run * size, together * run * size) };
        }
        for begin in (0..count).step_by(together) {
            let runs = together.min(count - begin);
            if self.repeat == Repeat::Column {
                // SAFETY: the next elements of the column, one for each run; the tile takes as many runs.
                unsafe { tile::repeat(tile, b.wrapping_add(begin * size), (size, 1), (runs, run)) };
            }
            let at = begin * run;
            let (dst, a) = (dst.wrapping_add(at * room), a.wrapping_add(at * size));
            // SAFETY: the next runs of the caller's operands, and a tile of as many elements that nobody else sees.
            unsafe { zip(runs * run, dst, a, tile, ptr::null()) };
        }
    }
}

/// How a shape stretches to another, and the elements of a run.
#[inline]
fn repeat(x: &[usize], y: &[usize]) -> Option<(Repeat, usize)> {
    let lead = x.len().checked_sub(y.len())?;
    let Some(first) = y.iter().position(|&size| size != 1) else {
        return Some((Repeat::Column, x.iter().product()));
    };
    if y[first..] == x[lead + first..] {
        return Some((Repeat::Row, y[first..].iter().product()));
    }
    let last = y.iter().rposition(|&size| size != 1)? + 1;
    let matches = x[..lead].iter().all(|&size| size == 1) && y[..last] == x[lead..lead + last];
    matches.then(|| (Repeat::Column, x[lead + last..].iter().product()))
}

/// Copies a row of so many bytes over and over, until a tile is full.
///
/// # Safety
/// `row` has that many bytes, `tile` has room for all, which is a multiple of them, and they are apart.
unsafe fn repeat_row(tile: *mut u8, row: *const u8, bytes: usize, all: usize) {
    // SAFETY: the caller's contract.
    unsafe { ptr::copy_nonoverlapping(row, tile, bytes) };
    let mut done = bytes;
    while done < all {
        let more = done.min(all - done);
        // SAFETY: what is done lies before what follows it, which ends inside the tile.
        unsafe { ptr::copy_nonoverlapping(tile, tile.wrapping_add(done), more) };
        done += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_stretch_as_rows_or_as_columns() {
        type Case<'c> = (&'c [usize], &'c [usize], Option<(Repeat, usize)>);
        const CASES: [Case<'_>; 14] = [
            (&[3, 4], &[4], Some((Repeat::Row, 4))),
            (&[3, 4], &[1, 4], Some((Repeat::Row, 4))),
            (&[3, 4], &[3, 1], Some((Repeat::Column, 4))),
            (&[3, 4], &[1], Some((Repeat::Column, 12))),
            (&[3, 4], &[], Some((Repeat::Column, 12))),
            (&[3, 4], &[1, 1], Some((Repeat::Column, 12))),
            (&[2, 3, 4], &[3, 4], Some((Repeat::Row, 12))),
            (&[2, 3, 4], &[2, 3, 1], Some((Repeat::Column, 4))),
            (&[2, 3, 4], &[2, 1, 1], Some((Repeat::Column, 12))),
            (&[1, 3, 4], &[3, 1], Some((Repeat::Column, 4))),
            (&[2, 3, 4], &[3, 1], None),
            (&[2, 3, 4], &[1, 3, 1], None),
            (&[2, 3, 4], &[2, 1, 4], None),
            (&[4], &[1, 4], None),
        ];
        for (x, y, expected) in CASES {
            assert_eq!(repeat(x, y), expected, "{y:?} to {x:?}");
        }
    }
}
