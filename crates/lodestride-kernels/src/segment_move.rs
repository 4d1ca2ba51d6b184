//! Moving rows by segment: reversing, gathering ranges, repeating.

use lodestride_buffer::{Argument, ReadGuard, WriteGuard};

use crate::door;
use crate::error::{KernelError, Result};
use crate::operand::Operand;
use crate::row_copy::{Pair, Pairs, copy_block, join, pairs, with_unit};
use crate::segment::with_rows;
use crate::segment_rows::{check_offsets, rows_of};

/// Rows of two arrays of one dtype, the source already converted.
struct Rows {
    /// Steps from row to row.
    x_step: isize,
    out_step: isize,
    x_start: isize,
    out_start: isize,
    row: Pairs,
}

impl Rows {
    fn new(x: Operand<'_>, out: Operand<'_>) -> Self {
        let (x, out) = (x.layout(), out.layout());
        let (from, to) = (x.strides(), out.strides());
        Self {
            x_step: from[0],
            out_step: to[0],
            x_start: x.offset() as isize,
            out_start: out.offset() as isize,
            row: pairs(&x.shape()[1..], &from[1..], &to[1..]),
        }
    }

    /// Copies `count` rows from row `from` on (backwards for a `step` of -1, the same row for 0) to the rows `to..`.
    fn copy<U: Copy>(
        &self,
        (x, from, step): (&[U], usize, isize),
        (out, to): (&mut [U], usize),
        count: usize,
    ) {
        if count == 0 || self.row.iter().any(|axis| axis.size == 0) {
            return;
        }
        let rows = Pair {
            size: count,
            x: step * self.x_step,
            out: self.out_step,
        };
        let axes = join(std::iter::once(rows).chain(self.row.iter().copied()));
        let from = self.x_start + from as isize * self.x_step;
        let to = self.out_start + to as isize * self.out_step;
        copy_block(x, from, out, to, &axes);
    }
}

/// Opens `x` (converted to the dtype of `out`) and `out`, and runs `job` with them.
fn with_rows_of(
    op: &'static str,
    x: Operand<'_>,
    out: Operand<'_>,
    job: impl FnOnce(&Rows, &ReadGuard<'_>, &mut WriteGuard<'_>),
) -> Result<()> {
    let converted = door::converted(op, x, out.dtype())?;
    let x = door::stand_in(converted.as_ref(), x)?;
    let copy = door::private_copy(op, Argument::X, x, &[out])?;
    let guard = door::read(op, Argument::X, x, copy.as_ref())?;
    let mut out_guard = door::write(op, Argument::Z, out)?;
    job(&Rows::new(x, out), &guard, &mut out_guard);
    Ok(())
}

/// Reverses the order of the rows inside every segment.
///
/// `x` and `out` are `[rows, ..]`; values are cast to the dtype of `out`.
///
/// # Errors
/// [`KernelError`] when the offsets do not divide the rows, `out` has another shape, or a buffer cannot be accessed.
/// Nothing is written then.
pub fn segment_reverse(x: Operand<'_>, offsets: &[usize], out: Operand<'_>) -> Result<()> {
    const OP: &str = "segment_reverse";
    check_offsets(OP, offsets, rows_of(OP, x)?)?;
    door::check_output(OP, out, x.shape())?;
    with_rows_of(OP, x, out, |rows, from, to| {
        with_unit!(out.dtype(), U => {
            let (x, out) = (from.slice::<U>(), to.slice_mut::<U>());
            for pair in offsets.windows(2).filter(|pair| pair[0] < pair[1]) {
                rows.copy((x, pair[1] - 1, -1), (out, pair[0]), pair[1] - pair[0]);
            }
        });
    })
}

/// Writes the rows of `ranges` (start and length) of `x` one after the other to `out`.
///
/// Ranges may overlap, repeat and be empty; `out` has as many rows as they have together.
///
/// # Errors
/// [`KernelError`] when a range reaches beyond the rows, `out` has another shape, or a buffer cannot be accessed. Nothing
/// is written then.
pub fn copy_row_ranges(x: Operand<'_>, ranges: &[(usize, usize)], out: Operand<'_>) -> Result<()> {
    const OP: &str = "copy_row_ranges";
    let rows = rows_of(OP, x)?;
    let mut total = 0;
    for (index, &(start, len)) in ranges.iter().enumerate() {
        if len > rows || start > rows - len {
            return Err(KernelError::RowRange {
                op: OP,
                index,
                start,
                len,
                rows,
            });
        }
        total += len;
    }
    door::check_output(OP, out, &with_rows(x.shape(), total))?;
    with_rows_of(OP, x, out, |rows, from, to| {
        with_unit!(out.dtype(), U => {
            let (x, out) = (from.slice::<U>(), to.slice_mut::<U>());
            let mut to = 0;
            for &(start, len) in ranges {
                rows.copy((x, start, 1), (out, to), len);
                to += len;
            }
        });
    })
}

/// Repeats row `i` of `x` for every row of segment `i`: the adjoint of a segment sum.
///
/// `x` is `[segments, ..]`, `out` `[rows, ..]`; rows of empty segments are dropped.
///
/// # Errors
/// As [`segment_reverse`].
pub fn segment_broadcast(x: Operand<'_>, offsets: &[usize], out: Operand<'_>) -> Result<()> {
    const OP: &str = "segment_broadcast";
    let rows = rows_of(OP, out)?;
    check_offsets(OP, offsets, rows)?;
    x.check_shape(OP, Argument::X, &with_rows(out.shape(), offsets.len() - 1))?;
    door::check_output(OP, out, out.shape())?;
    with_rows_of(OP, x, out, |rows, from, to| {
        with_unit!(out.dtype(), U => {
            let (x, out) = (from.slice::<U>(), to.slice_mut::<U>());
            for (segment, pair) in offsets.windows(2).enumerate() {
                rows.copy((x, segment, 0), (out, pair[0]), pair[1] - pair[0]);
            }
        });
    })
}
