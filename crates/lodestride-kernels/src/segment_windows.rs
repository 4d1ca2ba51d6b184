//! Windows around each row that end at its segment (im2col per sequence), and their adjoint.

use lodestride_buffer::{Argument, Buffer, ReadGuard, WriteGuard};
use lodestride_shape::{Layout, Shape, Strides};

use crate::door;
use crate::error::{KernelError, Result};
use crate::numeric::{Compute, ComputeKind};
use crate::operand::Operand;
use crate::row_copy::{Pair, Pairs, copy_block, join, pairs, with_unit};
use crate::segment_rows::{RowSink, RowView, check_offsets, rows_of};

/// Writes, for every row `t`, the rows `t + start .. t + start + len` of its segment; zero where they lie outside it.
///
/// `x` is `[rows, ..]`; `out` is `[rows, len, ..]`, or `[rows, len * width]` for `x` of shape `[rows, width]`. A product of
/// that form with a filter is Fluid's `sequence_conv`.
///
/// # Errors
/// [`KernelError`] when the offsets do not divide the rows, `out` has another shape, or a buffer cannot be accessed.
/// Nothing is written then.
pub fn segment_windows(
    x: Operand<'_>,
    offsets: &[usize],
    start: isize,
    len: usize,
    out: Operand<'_>,
) -> Result<()> {
    const OP: &str = "segment_windows";
    check_offsets(OP, offsets, rows_of(OP, x)?)?;
    out.check_writable(OP)?;
    let layout = windowed(OP, Argument::Z, out, x.shape(), len)?;
    let converted = door::converted(OP, x, out.dtype())?;
    let x = door::stand_in(converted.as_ref(), x)?;
    let copy = door::private_copy(OP, Argument::X, x, &[out])?;
    let guard = door::read(OP, Argument::X, x, copy.as_ref())?;
    let mut out_guard = door::write(OP, Argument::Z, out)?;
    if layout.is_empty() {
        return Ok(());
    }
    let start = bounded_start(start, len, x.shape()[0]);
    let windows = Windows::new(x.layout(), &layout, start, len);
    with_unit!(out.dtype(), U => {
        let (x, out) = (guard.slice::<U>(), out_guard.slice_mut::<U>());
        for pair in offsets.windows(2) {
            for row in pair[0]..pair[1] {
                windows.fill(x, out, row, pair[0]..pair[1]);
            }
        }
    });
    Ok(())
}

/// A start with the same windows that cannot overflow: further out than all rows, every window is empty anyway.
fn bounded_start(start: isize, len: usize, rows: usize) -> isize {
    // Both are sizes of existing arrays, whose elements an isize counts.
    let (rows, len) = (rows as isize, len as isize);
    start.clamp(rows.saturating_add(len).saturating_neg(), rows)
}

/// The layout of an array of windows as `[rows, len, ..]`, whichever of the two forms it has.
fn windowed(
    op: &'static str,
    argument: Argument,
    windows: Operand<'_>,
    x: &[usize],
    len: usize,
) -> Result<Layout> {
    let mut wanted = Shape::from_slice(x);
    wanted.insert(1, len);
    let (shape, strides) = (windows.shape(), windows.layout().strides());
    if let ([rows, width], [found_rows, flat]) = (x, &shape[..])
        && rows == found_rows
        && *flat == len * width
    {
        let step = strides[1] * *width as isize;
        let strides = Strides::from_slice(&[strides[0], step, strides[1]]);
        return Layout::new(wanted, strides, windows.layout().offset())
            .map_err(KernelError::shape(op));
    }
    windows.check_shape(op, argument, &wanted)?;
    Ok(windows.layout().clone())
}

struct Windows {
    start: isize,
    len: usize,
    x_start: isize,
    x_step: isize,
    out_start: isize,
    out_row: isize,
    out_place: isize,
    row: Pairs,
}

impl Windows {
    fn new(x: &Layout, out: &Layout, start: isize, len: usize) -> Self {
        let (from, to) = (x.strides(), out.strides());
        Self {
            start,
            len,
            x_start: x.offset() as isize,
            x_step: from[0],
            out_start: out.offset() as isize,
            out_row: to[0],
            out_place: to[1],
            row: pairs(&x.shape()[1..], &from[1..], &to[2..]),
        }
    }

    /// Fills the window of one row: zeros, rows of the segment, zeros.
    fn fill<U: Copy + Default>(
        &self,
        x: &[U],
        out: &mut [U],
        row: usize,
        segment: std::ops::Range<usize>,
    ) {
        let (low, high) = self.inside(row, &segment);
        let at = self.out_start + row as isize * self.out_row;
        for (first, count) in [(0, low), (high, self.len - high)] {
            self.block(
                &[U::default()],
                0,
                out,
                at + first as isize * self.out_place,
                count,
                true,
            );
        }
        let from = row as isize + self.start + low as isize;
        let from = self.x_start + from * self.x_step;
        self.block(
            x,
            from,
            out,
            at + low as isize * self.out_place,
            high - low,
            false,
        );
    }

    /// The places of a row's window that lie inside its segment: `low..high`.
    fn inside(&self, row: usize, segment: &std::ops::Range<usize>) -> (usize, usize) {
        let first = row as isize + self.start;
        let low = (segment.start as isize - first).clamp(0, self.len as isize);
        let high = (segment.end as isize - first).clamp(low, self.len as isize);
        (low as usize, high as usize)
    }

    /// Copies `count` rows, or one value to all of them.
    fn block<U: Copy>(
        &self,
        x: &[U],
        from: isize,
        out: &mut [U],
        to: isize,
        count: usize,
        is_value: bool,
    ) {
        if count == 0 {
            return;
        }
        let rows = Pair {
            size: count,
            x: self.x_step,
            out: self.out_place,
        };
        let axes = std::iter::once(rows).chain(self.row.iter().copied());
        let axes = axes.map(|axis| Pair {
            x: if is_value { 0 } else { axis.x },
            ..axis
        });
        copy_block(x, from, out, to, &join(axes));
    }
}

/// The adjoint of [`segment_windows`]: every row of `out` is the sum of its copies in the windows `dy`.
///
/// `dy` is `[rows, len, ..]`, or `[rows, len * width]` for `out` of shape `[rows, width]`.
///
/// # Errors
/// As [`segment_windows`].
pub fn segment_windows_adjoint(
    dy: Operand<'_>,
    offsets: &[usize],
    start: isize,
    len: usize,
    out: Operand<'_>,
) -> Result<()> {
    const OP: &str = "segment_windows_adjoint";
    check_offsets(OP, offsets, rows_of(OP, out)?)?;
    door::check_output(OP, out, out.shape())?;
    let layout = windowed(OP, Argument::X, dy, out.shape(), len)?;
    let dy = Operand::new(dy.buffer(), &layout, dy.dtype())?;
    let copy: Option<Buffer> = door::private_copy(OP, Argument::X, dy, &[out])?;
    let guard = door::read(OP, Argument::X, dy, copy.as_ref())?;
    let mut out_guard = door::write(OP, Argument::Z, out)?;
    let work = Adjoint {
        offsets,
        start: bounded_start(start, len, out.shape()[0]),
        len,
        width: out.shape()[1..].iter().product(),
        sink: RowSink::new(out),
    };
    match ComputeKind::exact(dy.dtype()) {
        ComputeKind::F32 => work.run::<f32>(&guard, dy, &mut out_guard),
        ComputeKind::F64 => work.run::<f64>(&guard, dy, &mut out_guard),
        ComputeKind::I64 => work.run::<i64>(&guard, dy, &mut out_guard),
        ComputeKind::U64 => work.run::<u64>(&guard, dy, &mut out_guard),
    }
    Ok(())
}

struct Adjoint<'a> {
    offsets: &'a [usize],
    start: isize,
    len: usize,
    /// Elements of a row of the result.
    width: usize,
    sink: RowSink,
}

/// Columns summed together.
const TILE: usize = 256;

impl Adjoint<'_> {
    fn run<C: Compute>(&self, guard: &ReadGuard<'_>, dy: Operand<'_>, out: &mut WriteGuard<'_>) {
        RowView::<C>::with(guard, dy, |view| {
            let width = self.width;
            for pair in self.offsets.windows(2) {
                for row in pair[0]..pair[1] {
                    for first in (0..width).step_by(TILE) {
                        let mut sums = [C::ZERO; TILE];
                        let sums = &mut sums[..TILE.min(width - first)];
                        self.sum(view, row, pair[0]..pair[1], (first, width), sums);
                        self.sink.store(out, row, first, sums);
                    }
                }
            }
        });
    }

    fn sum<C: Compute>(
        &self,
        view: &RowView<'_, C>,
        row: usize,
        segment: std::ops::Range<usize>,
        (first, width): (usize, usize),
        sums: &mut [C],
    ) {
        for place in 0..self.len {
            let from = row as isize - self.start - place as isize;
            if from < segment.start as isize || from >= segment.end as isize {
                continue;
            }
            view.each_run(
                from as usize,
                place * width + first,
                sums.len(),
                |at, run| {
                    for (sum, &value) in sums[at..].iter_mut().zip(run) {
                        *sum = sum.add(value);
                    }
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::bounded_start;

    #[test]
    fn far_starts_are_brought_near_without_changing_a_window() {
        let (rows, len) = (9, 4);
        for start in [isize::MIN, -100, -13, -12, -1, 0, 8, 9, 100, isize::MAX] {
            let near = bounded_start(start, len, rows);
            let inside = |start: isize| -> Vec<isize> {
                let positions = (0..rows as isize).flat_map(|t| {
                    (0..len as isize).map(move |k| t.saturating_add(start).saturating_add(k))
                });
                positions
                    .map(|at| if (0..9).contains(&at) { at } else { -1 })
                    .collect()
            };
            assert_eq!(inside(near), inside(start), "{start}");
        }
    }
}
