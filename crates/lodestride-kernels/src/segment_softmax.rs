//! Softmax over each segment of rows, column by column.

use lodestride_buffer::Argument;
use lodestride_shape::Order;

use crate::door;
use crate::elementwise;
use crate::error::KernelError;
use crate::isa::{Arch, Level, Task};
use crate::numeric::ComputeKind;
use crate::operand::Operand;
use crate::row_softmax::Softmax;
use crate::row_walk::{Aside, RowKernel, Rows, WIDE, wide};
use crate::scalar::raised::Raised;
use crate::segment_rows::{balanced, check_offsets, rows_of};
use crate::strided::{Dim, Dims, collapse, dims_of};
use crate::threads;

/// Softmax of every column over the rows of each segment: `exp(x - max) / sum(exp(x - max))`, so nothing overflows.
///
/// `x` and `out` are `[rows, ..]` of floating dtypes; half floats are computed in `f32`. Where a segment's maximum is
/// infinite or a value is NaN, the column of that segment is NaN, as in NumPy.
///
/// # Errors
/// [`KernelError`] when the offsets do not divide the rows, a dtype is not floating, `out` has another shape, or a buffer
/// cannot be accessed. Nothing is written then.
pub fn segment_softmax(
    x: Operand<'_>,
    offsets: &[usize],
    out: Operand<'_>,
) -> Result<(), KernelError> {
    const OP: &str = "segment_softmax";
    check_offsets(OP, offsets, rows_of(OP, x)?)?;
    door::check_output(OP, out, x.shape())?;
    for operand in [x, out] {
        if !operand.dtype().is_float() {
            let dtype = operand.dtype();
            return Err(KernelError::UnsupportedDType { op: OP, dtype });
        }
    }
    if out.elements() == 0 {
        return Ok(());
    }
    match ComputeKind::exact(x.dtype()) {
        ComputeKind::F64 => by_segment::<f64>(OP, x, offsets, out),
        _ => by_segment::<f32>(OP, x, offsets, out),
    }
}

/// Computes dense rows where they lie, others aside.
fn by_segment<C: Raised>(
    op: &'static str,
    x: Operand<'_>,
    offsets: &[usize],
    out: Operand<'_>,
) -> Result<(), KernelError> {
    let order: Vec<usize> = (0..x.layout().rank()).collect();
    if out.dtype() != C::DTYPE || !out.layout().is_contiguous(Order::C) {
        let aside = Aside::new(op, out, &order, C::DTYPE)?;
        by_segment::<C>(op, x, offsets, aside.operand()?)?;
        return elementwise::copy(aside.operand()?.into(), out);
    }
    let dims = dims_of(x.shape(), x.layout().strides());
    let row = collapse(dims[1..].iter().copied());
    let is_direct = x.dtype() == C::DTYPE
        && !x.buffer().same_block(out.buffer())
        && matches!(row[..], [] | [Dim { stride: 1, .. }])
        && (dims[0].stride > 0 || dims[0].size == 1);
    if !is_direct {
        let aside = Aside::new(op, x, &order, C::DTYPE)?;
        elementwise::copy(x.into(), aside.operand()?)?;
        return by_segment::<C>(op, aside.operand()?, offsets, out);
    }
    let guard = x.read(op, Argument::X)?;
    let mut writer = door::write(op, Argument::Z, out)?;
    let start = out.layout().offset();
    let width = out.elements() / dims[0].size;
    let job = Segments {
        data: &guard.slice::<C>()[x.layout().offset()..],
        pitch: dims[0].stride.unsigned_abs(),
        width,
        offsets,
    };
    job.run(&mut writer.slice_mut::<C>()[start..start + out.elements()]);
    Ok(())
}

/// Dense rows divided into segments.
#[derive(Clone, Copy)]
struct Segments<'a, C> {
    data: &'a [C],
    pitch: usize,
    width: usize,
    offsets: &'a [usize],
}

impl<C: Raised> Segments<'_, C> {
    /// Divides the segments among threads.
    fn run(self, mut out: &mut [C]) {
        let segments = self.offsets.len() - 1;
        let parts = threads::parts(2 * size_of_val(out), true).min(segments);
        let mut pieces = Vec::with_capacity(parts);
        for part in 0..parts {
            let range = balanced(self.offsets, parts, part);
            let offsets = &self.offsets[range.start..=range.end];
            let rows = offsets[range.len()] - offsets[0];
            let (here, rest) = std::mem::take(&mut out).split_at_mut(rows * self.width);
            pieces.push((Segments { offsets, ..self }, here));
            out = rest;
        }
        let level = Level::current();
        threads::for_each_part(pieces.into_iter(), |(segments, out)| {
            level.run(SegmentsTask { segments, out });
        });
    }
}

/// Some segments and their rows of the result.
struct SegmentsTask<'a, C> {
    segments: Segments<'a, C>,
    out: &'a mut [C],
}

impl<C: Raised> Task for SegmentsTask<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        const KERNEL: Softmax = Softmax { log: false };
        let Segments {
            data,
            pitch,
            width,
            offsets,
        } = self.segments;
        // Narrow rows go through a tile, padded; a contiguous column is a row itself.
        let is_run = width == 1 && pitch == 1;
        let padded = if is_run || width >= WIDE { 0 } else { WIDE };
        let longest = offsets.windows(2).map(|pair| pair[1] - pair[0]).max();
        let mut tile = vec![C::ZERO; 2 * padded * longest.unwrap_or(0)];
        let half = tile.len() / 2;
        let (from, to) = tile.split_at_mut(half);
        let mut rest = self.out;
        for pair in offsets.windows(2).filter(|pair| pair[0] < pair[1]) {
            let rows = pair[1] - pair[0];
            let (out, after) = rest.split_at_mut(rows * width);
            rest = after;
            let x = &data[pair[0] * pitch..];
            if is_run {
                KERNEL.row::<C::In<A>>([&x[..rows]; 2], out);
            } else if width >= WIDE {
                wide::<A, C, _>(
                    KERNEL,
                    &[rows_at(x, pitch), rows_at(x, pitch)],
                    (0, rows),
                    out,
                    width,
                );
            } else {
                for (row, line) in from.chunks_mut(WIDE).take(rows).enumerate() {
                    line[..width].copy_from_slice(&x[row * pitch..][..width]);
                }
                let (from, to) = (&from[..rows * WIDE], &mut to[..rows * WIDE]);
                wide::<A, C, _>(
                    KERNEL,
                    &[rows_at(from, WIDE), rows_at(from, WIDE)],
                    (0, rows),
                    to,
                    WIDE,
                );
                for (line, out) in to.chunks(WIDE).zip(out.chunks_mut(width)) {
                    out.copy_from_slice(&line[..width]);
                }
            }
        }
    }
}

/// Rows from the start of some data on.
fn rows_at<C>(data: &[C], pitch: usize) -> Rows<'_, C> {
    Rows {
        data,
        start: 0,
        outer: Dims::new(),
        pitch,
    }
}
