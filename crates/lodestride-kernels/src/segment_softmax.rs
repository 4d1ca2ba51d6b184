//! Softmax over each segment of rows, column by column.

use lodestride_buffer::{Argument, WriteGuard};

use crate::door;
use crate::error::KernelError;
use crate::isa::{Arch, Level, Task};
use crate::numeric::{ComputeFloat, ComputeKind};
use crate::operand::Operand;
use crate::reduce_fold::lanes_of_run;
use crate::reduce_kinds::{Extreme, Magnitude};
use crate::segment::Columns;
use crate::segment_rows::{RowSink, RowView, balanced, check_offsets, rows_of};
use crate::spread;
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
    let copy = door::private_copy(OP, Argument::X, x, &[out])?;
    let guard = door::read(OP, Argument::X, x, copy.as_ref())?;
    let mut out_guard = door::write(OP, Argument::Z, out)?;
    let sink = RowSink::new(out);
    match ComputeKind::exact(x.dtype()) {
        ComputeKind::F64 => RowView::<f64>::with(&guard, x, |view| {
            softmax(view, offsets, &sink, &mut out_guard);
        }),
        _ => RowView::<f32>::with(&guard, x, |view| {
            softmax(view, offsets, &sink, &mut out_guard);
        }),
    }
    Ok(())
}

fn softmax<C: ComputeFloat + Magnitude>(
    view: &RowView<'_, C>,
    offsets: &[usize],
    sink: &RowSink,
    guard: &mut WriteGuard<'_>,
) {
    let (segments, width) = (offsets.len() - 1, view.row_len());
    if width == 0 {
        return;
    }
    // An exponential costs about as much as eight additions.
    if segments > 1 && spread::is_worth(8 * offsets[segments] * width) {
        let parts = (4 * threads::threads()).min(segments);
        let results = spread::map(parts, |part| {
            let range = balanced(offsets, parts, part);
            let offsets = &offsets[range.start..=range.end];
            let first = offsets[0];
            let mut values = vec![C::ZERO; (offsets[range.len()] - first) * width];
            segments_softmax(view, offsets, &mut |row, position, found| {
                let at = (row - first) * width + position;
                values[at..at + found.len()].copy_from_slice(found);
            });
            (first, values)
        });
        for (first, values) in &results {
            for (index, row) in values.chunks(width).enumerate() {
                sink.store(guard, first + index, 0, row);
            }
        }
    } else if width == 1 {
        segments_softmax(view, offsets, &mut |row, _, values| {
            sink.store_rows(guard, row, values)
        });
    } else {
        segments_softmax(view, offsets, &mut |row, position, values| {
            sink.store(guard, row, position, values);
        });
    }
}

/// Takes results: row, position in the row, values.
type Put<'p, C> = dyn FnMut(usize, usize, &[C]) + 'p;

/// Hands out results as `(row, position, values)`; for rows of one element the values of several rows.
fn segments_softmax<C: ComputeFloat + Magnitude>(
    view: &RowView<'_, C>,
    offsets: &[usize],
    put: &mut Put<'_, C>,
) {
    if view.row_len() == 1 && view.row_stride == 1 {
        Level::current().run(ScalarTask { view, offsets, put });
    } else {
        Level::current().run(ColumnsTask { view, offsets, put });
    }
}

/// Rows of one element, one after the other: a segment is a run.
struct ScalarTask<'a, 'p, C: Clone> {
    view: &'a RowView<'a, C>,
    offsets: &'a [usize],
    put: &'a mut Put<'p, C>,
}

/// Elements whose exponentials are kept.
const RUN: usize = 512;

impl<C: ComputeFloat + Magnitude> Task for ScalarTask<'_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let mut kept = [C::ZERO; RUN];
        for pair in self.offsets.windows(2) {
            let (start, end) = (pair[0], pair[1]);
            let first = self.view.start as usize;
            let run = &self.view.data[first + start..first + end];
            let largest = lanes_of_run(Extreme::<false, false>, run);
            let mut sum = 0.0;
            for chunk in run.chunks(RUN) {
                for (kept, &value) in kept.iter_mut().zip(chunk) {
                    *kept = C::exponential::<A>(value.sub(largest));
                }
                sum += kept[..chunk.len()]
                    .iter()
                    .fold(0.0, |sum, kept| sum + kept.wide());
            }
            let scale = C::of(sum);
            for (index, chunk) in run.chunks(RUN).enumerate() {
                if run.len() > RUN {
                    for (kept, &value) in kept.iter_mut().zip(chunk) {
                        *kept = C::exponential::<A>(value.sub(largest));
                    }
                }
                let kept = &mut kept[..chunk.len()];
                kept.iter_mut().for_each(|kept| *kept = kept.div(scale));
                (self.put)(start + index * RUN, 0, kept);
            }
        }
    }
}

/// Columns worked on together, and elements whose exponentials are kept.
const WIDTH: usize = 64;
const KEPT: usize = 1024;

/// Columns of every segment, up to [`WIDTH`] at a time.
struct ColumnsTask<'a, 'p, C: Clone> {
    view: &'a RowView<'a, C>,
    offsets: &'a [usize],
    put: &'a mut Put<'p, C>,
}

impl<C: ComputeFloat> Task for ColumnsTask<'_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { view, offsets, put } = self;
        for pair in offsets.windows(2).filter(|pair| pair[0] < pair[1]) {
            for piece in 0..view.pieces() {
                for column in (0..view.width).step_by(WIDTH) {
                    let columns = Columns {
                        data: &view.data,
                        start: view.piece(pair[0], piece) + column as isize,
                        stride: view.row_stride,
                        rows: pair[1] - pair[0],
                        width: WIDTH.min(view.width - column),
                    };
                    let position = piece * view.width + column;
                    softmax_of::<A, C>(columns, |row, values| put(pair[0] + row, position, values));
                }
            }
        }
    }
}

/// Softmax down some columns, a block of rows at a time: exponentials are taken over the whole block, which vectorises
/// however narrow the rows are.
#[inline(always)]
fn softmax_of<A: Arch, C: ComputeFloat>(columns: Columns<'_, C>, mut put: impl FnMut(usize, &[C])) {
    let (width, rows) = (columns.width, columns.rows);
    let mut largest = [C::LOWEST; WIDTH];
    let largest = &mut largest[..width];
    for row in 0..rows {
        for (best, &value) in largest.iter_mut().zip(columns.row(row)) {
            *best = best.larger(value);
        }
    }
    let largest = &*largest;
    let (mut kept, mut sums) = ([C::ZERO; KEPT], [C::ZERO; WIDTH]);
    let sums = &mut sums[..width];
    let block = KEPT / width;
    for first in (0..rows).step_by(block) {
        let kept = &mut kept[..width * block.min(rows - first)];
        exponentials::<A, C>(columns, first, largest, kept);
        for values in kept.chunks(width) {
            for (sum, &value) in sums.iter_mut().zip(values) {
                *sum = sum.add(value);
            }
        }
    }
    for first in (0..rows).step_by(block) {
        let kept = &mut kept[..width * block.min(rows - first)];
        if rows > block {
            exponentials::<A, C>(columns, first, largest, kept);
        }
        for (index, values) in kept.chunks_mut(width).enumerate() {
            for (value, &sum) in values.iter_mut().zip(sums.iter()) {
                *value = value.div(sum);
            }
            put(first + index, values);
        }
    }
}

/// `exp(x - largest)` of the rows from `first` on that fill `out`.
#[inline(always)]
fn exponentials<A: Arch, C: ComputeFloat>(
    columns: Columns<'_, C>,
    first: usize,
    largest: &[C],
    out: &mut [C],
) {
    for (row, out) in out.chunks_mut(columns.width).enumerate() {
        let shifted = columns.row(first + row).iter().zip(largest);
        for (to, (&value, &largest)) in out.iter_mut().zip(shifted) {
            *to = value.sub(largest);
        }
    }
    for value in out.iter_mut() {
        *value = C::exponential::<A>(*value);
    }
}
