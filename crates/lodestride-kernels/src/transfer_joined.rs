//! Copying arrays of one dtype one after the other along an axis.
#![expect(
    unsafe_code,
    reason = "bytes of several arrays are moved through raw pointers"
)]

use crate::error::{KernelError, Result};
use crate::interleave::{self, MOST};
use crate::operand::{Open, Operand};
use crate::runs::Plane;
use crate::stream;
use crate::threads;
use crate::transfer::{Axis, Transfer, first};
use lodestride_buffer::Argument;
use lodestride_shape::{Layout, Order};
use smallvec::SmallVec;

/// Elements of each of several arrays that are interleaved at a time.
const INTERLEAVED: usize = 512;

/// Bytes read and written for a piece, on average, below which one thread joins them.
const SMALL_PIECES: usize = 1 << 14;

/// Copies arrays of `out`'s dtype to `out`, one after the other along `axis`. No two positions of `out` share an element,
/// no array shares its memory, and they have its shape but for that axis, along which they fill it.
///
/// # Errors
/// [`KernelError::Access`]; [`KernelError::Shape`] where the arrays do not fit. Nothing is written then.
pub(crate) fn transfer_joined(
    op: &'static str,
    pieces: &[Operand<'_>],
    axis: usize,
    out: &Operand<'_>,
) -> Result<()> {
    let mut inputs = SmallVec::<[_; 4]>::new();
    for (index, piece) in pieces.iter().enumerate() {
        inputs.push((Argument::Input(index), *piece));
    }
    let size = out.dtype().size();
    let bytes = 2 * out.elements() * size;
    let stream = stream::pays(bytes);
    let is_dense = |x: &Operand<'_>| x.layout().is_contiguous(Order::C);
    // A plan for each of many small pieces takes longer than to copy it.
    let is_alone = bytes / pieces.len().max(1) < SMALL_PIECES || !threads::are_worth(bytes, false);
    let are_dense = is_dense(out) && pieces.iter().all(is_dense);
    let inner: usize = out.shape()[axis + 1..].iter().product();
    let rows_are_elements = pieces.iter().all(|piece| piece.shape()[axis] * inner == 1);
    if are_dense && rows_are_elements && (2..=MOST).contains(&pieces.len()) {
        let open = Open::new(op, &[(Argument::Z, *out)], &inputs)?;
        // SAFETY: the operands are open and dense; elements of the pieces, in turn, are those of `out`.
        unsafe { join_elements(&open, pieces, out, stream) };
        return Ok(());
    }
    if is_alone && are_dense {
        let open = Open::new(op, &[(Argument::Z, *out)], &inputs)?;
        // SAFETY: the operands are open, dense, and have the shapes that the caller vouches for.
        unsafe { join_dense(&open, pieces, axis, out, rows_are_elements, stream) };
        return Ok(());
    }
    let strides = out.layout().strides();
    let mut windows: SmallVec<[Layout; 4]> = SmallVec::new();
    let mut offset = out.layout().offset().cast_signed();
    for piece in pieces {
        let shape = piece.shape();
        // Where nothing is left to be filled, the offset has no meaning, and a layout without elements does not keep it.
        let window = Layout::new(shape.clone(), strides.clone(), offset.unsigned_abs());
        let window = window.map_err(KernelError::shape(op))?;
        // Proves that the window is inside the buffer.
        Operand::new(out.buffer(), &window, out.dtype())?.check_writable(op)?;
        offset += shape[axis].cast_signed() * strides[axis];
        windows.push(window);
    }
    let open = Open::new(op, &[(Argument::Z, *out)], &inputs)?;
    let mut jobs = Vec::new();
    for ((piece, window), &x) in pieces.iter().zip(&windows).zip(&open.inputs) {
        if piece.elements() == 0 {
            continue;
        }
        let mut job = Transfer::new(
            window.shape(),
            [strides.as_slice(), piece.layout().strides().as_slice()],
            first(open.outputs[0], window, size),
            first(x.cast_mut(), piece.layout(), size),
            size,
        );
        job.stream |= stream;
        jobs.push(job);
    }
    // SAFETY: windows and pieces lie inside their buffers, which `open` keeps open; a window has no element twice, the
    // buffer of `out` is none of the pieces', and windows side by side share nothing.
    unsafe { Transfer::run_all(jobs) };
    Ok(())
}

/// [`transfer_joined`] of a few dense arrays that lie element by element in `out`.
///
/// # Safety
/// `open` has opened `out` and the pieces, all of them contiguous in C order, of one dtype, and of as many elements each, two to
/// [`MOST`] of them.
unsafe fn join_elements(open: &Open<'_>, pieces: &[Operand<'_>], out: &Operand<'_>, stream: bool) {
    let (size, count) = (out.dtype().size(), pieces.len());
    let elements = out.elements() / count;
    let parts = threads::parts(2 * out.elements() * size, false);
    let share = elements
        .div_ceil(parts)
        .max(1)
        .next_multiple_of(stream::LINE);
    let to = Start(first(open.outputs[0], out.layout(), size));
    let mut runs = [Start(to.0); MOST];
    for ((run, piece), &x) in runs.iter_mut().zip(pieces).zip(&open.inputs) {
        *run = Start(first(x.cast_mut(), piece.layout(), size));
    }
    threads::for_each_part((0..elements).step_by(share), |begin| {
        let n = share.min(elements - begin);
        let from = runs.each_ref().map(|run| run.at(begin * size).cast_const());
        // SAFETY: `n` elements of each piece, and the places for them, which no other part writes to.
        unsafe {
            interleave::try_join(to.at(begin * count * size), &from[..count], size, n, stream)
        };
    });
}

/// The start of memory that threads have parts of.
#[derive(Clone, Copy)]
struct Start(*mut u8);

// SAFETY: stands for memory that guards held by the caller keep open; threads write to different parts of it.
unsafe impl Sync for Start {}

impl Start {
    fn at(&self, byte: usize) -> *mut u8 {
        self.0.wrapping_add(byte)
    }
}

/// [`transfer_joined`] of dense arrays, on one thread: rows of all of them side by side, without a plan for any.
///
/// # Safety
/// `open` has opened `out` and the pieces, all of them contiguous in C order, of one dtype, and of the shapes said there.
unsafe fn join_dense(
    open: &Open<'_>,
    pieces: &[Operand<'_>],
    axis: usize,
    out: &Operand<'_>,
    rows_are_elements: bool,
    stream: bool,
) {
    let (size, shape) = (out.dtype().size(), out.shape());
    let inner: usize = shape[axis + 1..].iter().product();
    let rows: usize = shape[..axis].iter().product();
    let to = first(open.outputs[0], out.layout(), size);
    // Rows of one element are one strided run; pieces of all such runs in turn, so that each finds the others' lines in L1.
    let block = if rows_are_elements { INTERLEAVED } else { rows };
    for begin in (0..rows).step_by(block.max(1)) {
        let rows = block.min(rows - begin);
        let mut to = to.wrapping_add(begin * shape[axis] * inner * size);
        for (piece, &x) in pieces.iter().zip(&open.inputs) {
            let run = piece.shape()[axis] * inner;
            let [pitch, x_pitch] = [shape[axis] * inner, run].map(usize::cast_signed);
            let rows = Axis {
                size: rows,
                out: pitch,
                x: x_pitch,
            };
            let of = |size: usize| Axis { size, out: 1, x: 1 };
            let (rows, run_axis) = if rows_are_elements {
                (of(1), rows)
            } else {
                (rows, of(run))
            };
            let plane = Plane {
                x: first(x.cast_mut(), piece.layout(), size).wrapping_add(begin * run * size),
                out: to,
                size,
                rows,
                run: run_axis,
                stream,
                gaps: true,
            };
            // SAFETY: the layouts lie in buffers that are open. The sizes along the axis add up to that of `out`, so this
            // piece's runs lie in its rows, behind those of the pieces before.
            unsafe { plane.run() };
            to = to.wrapping_add(run * size);
        }
    }
}
