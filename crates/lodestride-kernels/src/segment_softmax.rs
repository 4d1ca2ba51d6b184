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

/// Rows of a segment whose exponentials are kept; longer segments compute them again.
const ROWS: usize = 64;

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

/// Columns of every segment, up to 16 at a time.
struct ColumnsTask<'a, 'p, C: Clone> {
    view: &'a RowView<'a, C>,
    offsets: &'a [usize],
    put: &'a mut Put<'p, C>,
}

impl<C: ComputeFloat> Task for ColumnsTask<'_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(mut self) {
        for segment in 0..self.offsets.len() - 1 {
            if self.offsets[segment] == self.offsets[segment + 1] {
                continue;
            }
            for piece in 0..self.view.pieces() {
                let mut column = 0;
                while column < self.view.width {
                    let at = (segment, piece, column);
                    column += match self.view.width - column {
                        16.. => self.columns::<A, 16>(at),
                        4.. => self.columns::<A, 4>(at),
                        _ => self.columns::<A, 1>(at),
                    };
                }
            }
        }
    }
}

impl<C: ComputeFloat> ColumnsTask<'_, '_, C> {
    #[inline(always)]
    fn columns<A: Arch, const N: usize>(
        &mut self,
        (segment, piece, column): (usize, usize, usize),
    ) -> usize {
        let rows = self.offsets[segment]..self.offsets[segment + 1];
        let start = self.view.piece(rows.start, piece) + column as isize;
        let columns = Columns {
            data: &self.view.data,
            start,
            stride: self.view.row_stride,
            rows: rows.len(),
        };
        let mut largest = [C::LOWEST; N];
        for row in 0..rows.len() {
            let row = columns.row::<N>(row);
            for column in 0..N {
                largest[column] = largest[column].larger(row[column]);
            }
        }
        let exponentials = |row: usize| {
            let mut values = *columns.row::<N>(row);
            for column in 0..N {
                values[column] = C::exponential::<A>(values[column].sub(largest[column]));
            }
            values
        };
        let mut kept = [[C::ZERO; N]; ROWS];
        let mut sums = [C::ZERO; N];
        for row in 0..rows.len() {
            let values = exponentials(row);
            for column in 0..N {
                sums[column] = sums[column].add(values[column]);
            }
            kept[row % ROWS] = values;
        }
        let position = piece * self.view.width + column;
        for (row, index) in rows.clone().zip(0..) {
            let mut values = if rows.len() <= ROWS {
                kept[index]
            } else {
                exponentials(index)
            };
            for column in 0..N {
                values[column] = values[column].div(sums[column]);
            }
            (self.put)(row, position, &values);
        }
        N
    }
}
