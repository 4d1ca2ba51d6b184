//! Copying an array of one dtype between any two layouts: values are never looked at, so element sizes are all that counts.
//!
//! What lies densely in the same order is moved as bytes. Otherwise axes are merged, and then either source and destination
//! are contiguous along the same axis, and runs are moved (`runs.rs`), or along different ones, and the two axes are
//! transposed (`transpose.rs`); the rest are loops around that. Destinations the caches cannot hold are written past them.
#![expect(
    unsafe_code,
    reason = "bytes of strided and overlapping views are moved through raw pointers"
)]

use crate::cached;
use crate::error::{KernelError, Result};
use crate::operand::{Open, Operand};
use crate::parted_rows::Parts;
use crate::runs::Plane;
use crate::shuffled_rows::Shuffle;
use crate::stream;
use crate::threads;
use crate::transfer_order::{Axes, blocks, join_elements, order_axes};
use crate::transpose::Sheet;
use lodestride_buffer::{Argument, Buffer};
use lodestride_shape::{Layout, LoopNest, Order, Overlap, overlap};
use smallvec::SmallVec;
use std::ops::Range;

/// Bytes moved by one of several transfers from which on it is divided among threads.
const WHOLE: usize = 1 << 18;

/// Copies `x` to `out`, both of one dtype, as if `x` had been copied aside first.
///
/// # Errors
/// [`KernelError::Shape`] where positions of `out` share an element, [`KernelError::ShapeMismatch`],
/// [`KernelError::Access`], [`KernelError::Alloc`]. Nothing is written then.
pub(crate) fn transfer(op: &'static str, x: &Operand<'_>, out: &Operand<'_>) -> Result<()> {
    if dense(op, x, out)? {
        return Ok(());
    }
    out.check_writable(op)?;
    x.check_shape(op, Argument::X, out.shape())?;
    let size = out.dtype().size();
    if x.buffer().same_block(out.buffer()) {
        match overlap(out.layout(), size, x.layout(), size) {
            Overlap::Disjoint => {}
            Overlap::Identical => return out.write(op, Argument::Z).map(drop),
            Overlap::Partial => return by_way_of_a_copy(op, x, out),
        }
    }
    let open = Open::new(op, &[(Argument::Z, *out)], &[(Argument::X, *x)])?;
    let strides = [out.layout().strides(), x.layout().strides()];
    let mut job = Transfer::new(
        out.shape(),
        strides.map(|strides| strides.as_slice()),
        first(open.outputs[0], out.layout(), size),
        first(open.inputs[0].cast_mut(), x.layout(), size),
        size,
    );
    job.gaps = !x.buffer().same_block(out.buffer());
    // SAFETY: the operands' layouts lie inside their buffers, which `open` keeps open; `out` has no element twice, and
    // shares none with `x`.
    unsafe { job.run() };
    Ok(())
}

/// The first element of an operand, `size` bytes each, whose buffer starts there.
pub(crate) fn first(start: *mut u8, layout: &Layout, size: usize) -> *mut u8 {
    start.wrapping_add(layout.offset() * size)
}

/// [`transfer`] where `x` and `out` share elements at different positions.
#[cold]
fn by_way_of_a_copy(op: &'static str, x: &Operand<'_>, out: &Operand<'_>) -> Result<()> {
    let layout = Layout::contiguous(x.shape().clone(), Order::C).map_err(KernelError::shape(op))?;
    let bytes = x.elements() * x.dtype().size();
    let copy = Buffer::detached_recycled(bytes).map_err(KernelError::alloc(op))?;
    let copy = Operand::new(&copy, &layout, x.dtype())?;
    transfer(op, x, &copy)?;
    transfer(op, &copy, out)
}

/// Copies `x` to `out` where both lie densely in the same order, as `memmove` would. Gives false, having done nothing,
/// where they do not.
fn dense(op: &'static str, x: &Operand<'_>, out: &Operand<'_>) -> Result<bool> {
    let (from, to) = (x.layout(), out.layout());
    let alike = |order| from.is_contiguous(order) && to.is_contiguous(order);
    if from.shape() != to.shape() || !(alike(Order::C) || alike(Order::F)) {
        return Ok(false);
    }
    let size = out.dtype().size();
    let bytes = to.elements() * size;
    let mut writer = out.write(op, Argument::Z)?;
    let dst = writer.as_mut_ptr().wrapping_add(to.offset() * size);
    if x.buffer().same_block(out.buffer()) {
        let distance = from.offset().cast_signed() - to.offset().cast_signed();
        let src = dst.wrapping_offset(distance * size.cast_signed());
        // SAFETY: both lie in the block the guard keeps open for writing; they may overlap.
        unsafe { std::ptr::copy(src, dst, bytes) };
        return Ok(true);
    }
    let reader = x.read(op, Argument::X)?;
    let src = reader.as_ptr().wrapping_add(from.offset() * size);
    let job = Dense { src, dst, bytes };
    let parts = threads::parts(2 * bytes, false);
    if parts == 1 {
        job.run(0..bytes);
        return Ok(true);
    }
    let share = bytes.div_ceil(parts).next_multiple_of(stream::LINE);
    let ranges = (0..parts).map(|part| (part * share).min(bytes)..((part + 1) * share).min(bytes));
    threads::for_each_part(ranges, |range| job.run(range));
    Ok(true)
}

/// Dense bytes to be copied, to be divided among threads.
struct Dense {
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
}

// SAFETY: the pointers stand for memory that guards held by the caller keep open; threads get disjoint ranges.
unsafe impl Sync for Dense {}

impl Dense {
    fn run(&self, range: Range<usize>) {
        let (src, dst) = (
            self.src.wrapping_add(range.start),
            self.dst.wrapping_add(range.start),
        );
        if stream::pays(2 * self.bytes) {
            // SAFETY: a range of both operands, which lie in different opened blocks.
            unsafe { stream::copy_raw(dst, src, range.len()) };
            stream::fence();
        } else {
            // SAFETY: as above.
            unsafe { cached::copy(dst, src, range.len()) };
        }
    }
}

/// One axis of a transfer: its size, and the steps of destination and source in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) size: usize,
    pub(crate) out: isize,
    pub(crate) x: isize,
}

/// A copy from pointer to pointer, axes merged and ordered.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    /// Outermost first; the last two are the loop's own.
    axes: Axes,
    out: *mut u8,
    x: *const u8,
    size: usize,
    /// Whether the last two axes are transposed, rather than the last one copied in runs.
    transposed: bool,
    pub(crate) stream: bool,
    /// Whether what lies between elements of the source may be read: nobody writes there.
    gaps: bool,
}

// SAFETY: the pointers stand for memory that guards held by the caller keep open; a transfer is moved to another thread only
// as one of several parts with disjoint destinations.
unsafe impl Send for Transfer {}

impl Transfer {
    /// A copy of elements of `size` bytes whose first ones are at `out` and `x`, with the steps of both in that order.
    pub(crate) fn new(
        shape: &[usize],
        strides: [&[isize]; 2],
        out: *mut u8,
        x: *const u8,
        size: usize,
    ) -> Transfer {
        let nest = LoopNest::new(shape, &strides);
        let start = |operand: usize| nest.start()[operand] * size.cast_signed();
        let mut axes: Axes = (0..nest.sizes().len())
            .map(|axis| Axis {
                size: nest.sizes()[axis],
                out: nest.axis_strides(axis)[0],
                x: nest.axis_strides(axis)[1],
            })
            .collect();
        let (out, x) = (out.wrapping_offset(start(0)), x.wrapping_offset(start(1)));
        let elements = nest.elements() * size;
        let size = size * join_elements(&mut axes, size, [out.addr(), x.addr()]);
        if let [axis] = axes[..] {
            axes.insert(0, Axis { size: 1, ..axis });
        }
        let transposed = order_axes(&mut axes, size);
        // What is written, and what is read of it for the first time.
        let read = (axes.iter())
            .filter(|axis| axis.x != 0)
            .map(|axis| axis.size);
        let moved = elements + read.product::<usize>() * size;
        // A transpose strews its writes, which caches bear less well than one stream of them.
        let stream = stream::pays(if transposed { 4 * moved } else { moved });
        Transfer {
            axes,
            out,
            x,
            size,
            transposed,
            stream,
            gaps: true,
        }
    }

    /// Copies, on several threads where that pays.
    ///
    /// # Safety
    /// Every element the axes reach lies in memory valid for reads (`x`) and writes (`out`), which nobody else touches
    /// meanwhile; no element of `out` is reached twice, and none is one of `x`.
    pub(crate) unsafe fn run(self) {
        if !threads::are_worth(self.bytes(), self.transposed) {
            // SAFETY: the caller's contract.
            unsafe { self.walk() };
        } else {
            // SAFETY: the caller's contract.
            unsafe { Transfer::run_all(vec![self]) };
        }
    }

    /// Copies one after the other, on several threads where all of it together is worth them.
    ///
    /// # Safety
    /// As [`Transfer::run`] for all of them; no element is written by two, or written by one and read by another.
    pub(crate) unsafe fn run_all(jobs: Vec<Transfer>) {
        let transposed = jobs.iter().any(|job| job.transposed);
        let bytes = jobs.iter().map(Transfer::bytes).sum();
        let mut parts = threads::parts(bytes, transposed);
        if transposed {
            // Long stretches of a transpose are cheaper than many parts that touch the same pages.
            parts = parts.div_ceil(2);
        }
        let mut shares = vec![Vec::new(); parts];
        let mut next = 0;
        for job in jobs {
            let pieces = if parts == 1 || job.bytes() < WHOLE {
                vec![job]
            } else {
                job.split(parts)
            };
            for piece in pieces {
                shares[next % parts].push(piece);
                next += 1;
            }
        }
        threads::for_each_part(shares.into_iter(), |share| {
            for job in share {
                // SAFETY: the caller's contract, of which every part has its share.
                unsafe { job.walk() };
            }
        });
    }

    /// The bytes read and written.
    fn bytes(&self) -> usize {
        2 * self.size * self.axes.iter().map(|axis| axis.size).product::<usize>()
    }

    /// The transfer in at most `parts` parts that write different elements.
    fn split(self, parts: usize) -> Vec<Transfer> {
        let enough = self.axes.iter().position(|axis| axis.size >= 4 * parts);
        let largest = || (0..self.axes.len()).max_by_key(|&axis| self.axes[axis].size);
        let Some(axis) = enough.or_else(largest) else {
            return vec![self];
        };
        let Axis { size, out, x } = self.axes[axis];
        // Whole lines along an axis where either side is contiguous.
        let grain = if (out == 1 || x == 1) && size >= parts * stream::LINE {
            stream::LINE
        } else {
            1
        };
        let share = size.div_ceil(parts).next_multiple_of(grain);
        let part = |from: usize| {
            let mut part = self.clone();
            let at = (from * self.size).cast_signed();
            part.axes[axis].size = share.min(size - from);
            part.out = self.out.wrapping_offset(at * out);
            part.x = self.x.wrapping_offset(at * x);
            part
        };
        (0..size).step_by(share).map(part).collect()
    }

    /// Copies on this thread.
    ///
    /// # Safety
    /// As [`Transfer::run`].
    pub(crate) unsafe fn walk(&self) {
        let Some((whole, rest)) = blocks(&self.axes, self.size) else {
            // SAFETY: the caller's contract.
            return unsafe { self.walk_axes(&self.axes, self.out, self.x) };
        };
        // SAFETY: the caller's contract, of whose elements these are a part.
        unsafe { self.walk_axes(&whole, self.out, self.x) };
        if let Some((first, rest)) = rest {
            let many = self.axes[self.axes.len() - 3];
            let at = (first * self.size).cast_signed();
            let out = self.out.wrapping_offset(at * many.out);
            let x = self.x.wrapping_offset(at * many.x);
            // SAFETY: the other part.
            unsafe { self.walk_axes(&rest, out, x) };
        }
    }

    /// Copies along axes from two places on.
    ///
    /// # Safety
    /// As [`Transfer::run`].
    unsafe fn walk_axes(&self, axes: &Axes, mut out: *mut u8, mut x: *const u8) {
        let (outer, inner) = axes.split_at(axes.len() - 2);
        let [rows, run] = [inner[0], inner[1]];
        let shuffle = match self.transposed {
            true => None,
            false => Shuffle::of([rows, run], self.size, self.gaps),
        };
        let parts = match shuffle {
            Some(_) => None,
            None => Parts::of([rows, run], self.size, self.gaps),
        };
        let mut position: SmallVec<[usize; 6]> = SmallVec::from_elem(0, outer.len());
        let bytes = self.size.cast_signed();
        loop {
            match (&shuffle, &parts) {
                // SAFETY: the caller's contract for the two inner axes at one position of the outer ones.
                (Some(shuffle), _) => unsafe { shuffle.copy(out, x) },
                // SAFETY: as above.
                (_, Some(parts)) => unsafe { parts.copy(out, x) },
                // SAFETY: as above.
                _ => unsafe { self.plane(out, x, rows, run) },
            }
            let mut axis = outer.len();
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                let here = outer[axis];
                position[axis] += 1;
                out = out.wrapping_offset(here.out * bytes);
                x = x.wrapping_offset(here.x * bytes);
                if position[axis] < here.size {
                    break;
                }
                let back = -(here.size.cast_signed()) * bytes;
                out = out.wrapping_offset(here.out * back);
                x = x.wrapping_offset(here.x * back);
                position[axis] = 0;
            }
        }
    }

    /// Copies the two inner axes.
    ///
    /// # Safety
    /// As [`Transfer::run`].
    #[inline]
    unsafe fn plane(&self, out: *mut u8, x: *const u8, rows: Axis, run: Axis) {
        if self.transposed {
            let sheet = Sheet {
                x,
                out,
                size: self.size,
                rows: run.size,
                columns: rows.size,
                x_steps: [run.x, rows.x],
                out_steps: [run.out, rows.out],
                stream: self.stream,
            };
            // SAFETY: the caller's contract.
            unsafe { sheet.run() };
        } else {
            let plane = Plane {
                x,
                out,
                size: self.size,
                rows,
                run,
                stream: self.stream,
                gaps: self.gaps,
            };
            // SAFETY: the caller's contract.
            unsafe { plane.run() };
        }
    }
}
