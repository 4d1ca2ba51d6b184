//! Moving rows by segment: reversing, gathering ranges, repeating.

use lodestride_buffer::{Argument, Element, ReadGuard, WriteGuard};

use crate::door;
use crate::error::{KernelError, Result};
use crate::operand::Operand;
use crate::row_copy::{Pair, Pairs, copy_block, join, pairs, with_unit};
use crate::segment::with_rows;
use crate::segment_rows::{balanced, check_offsets, rows_of};
use crate::stream;
use crate::threads;

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

/// Where the rows of item `i` come from: the first of them and the step from row to row: 1, -1, or 0 for the same row.
type From<'f> = dyn Fn(usize) -> (usize, isize) + Sync + 'f;

impl Rows {
    /// The elements of a row, where the rows of both arrays are contiguous and those of `out` follow each other.
    fn dense_row(&self) -> Option<usize> {
        let row = join(self.row.iter().copied());
        let width = match row[..] {
            [] => 1,
            [run @ Pair { x: 1, out: 1, .. }] => run.size,
            _ => return None,
        };
        (self.out_step == width as isize).then_some(width)
    }

    /// Writes item `i` to the rows `offsets[i]..offsets[i + 1]`, dense rows on several threads where that pays.
    fn gather<U: Element>(&self, x: &[U], out: &mut [U], offsets: &[usize], from: &From<'_>) {
        let (items, total) = (offsets.len() - 1, offsets[offsets.len() - 1]);
        let Some(width) = self.dense_row().filter(|width| width * total > 0) else {
            for (item, pair) in offsets.windows(2).enumerate() {
                let (first, step) = from(item);
                self.copy((x, first, step), (out, pair[0]), pair[1] - pair[0]);
            }
            return;
        };
        let start = self.out_start as usize;
        let mut out = &mut out[start..start + width * total];
        let bytes = 2 * size_of_val(out);
        let (parts, past) = (threads::parts(bytes, false).min(items), stream::pays(bytes));
        let mut pieces = Vec::with_capacity(parts);
        for part in 0..parts {
            let range = balanced(offsets, parts, part);
            let rows = offsets[range.end] - offsets[range.start];
            let (here, rest) = std::mem::take(&mut out).split_at_mut(rows * width);
            pieces.push((range, here));
            out = rest;
        }
        threads::for_each_part(pieces.into_iter(), |(range, mut out)| {
            for item in range {
                let count = offsets[item + 1] - offsets[item];
                let (here, rest) = std::mem::take(&mut out).split_at_mut(count * width);
                self.item(x, from(item), here, width, past);
                out = rest;
            }
            if past {
                stream::fence();
            }
        });
    }

    /// Writes the dense rows of one item.
    fn item<U: Element>(
        &self,
        x: &[U],
        (first, step): (usize, isize),
        out: &mut [U],
        width: usize,
        past: bool,
    ) {
        let start = |row: usize| {
            let row = first as isize + step * row as isize;
            (self.x_start + row * self.x_step) as usize
        };
        if step == 1 && self.x_step == width as isize {
            if !out.is_empty() {
                stream::copy_elements(out, &x[start(0)..][..out.len()], past);
            }
            return;
        }
        if width == 1 {
            for (row, out) in out.iter_mut().enumerate() {
                *out = x[start(row)];
            }
            return;
        }
        for (row, out) in out.chunks_mut(width).enumerate() {
            stream::copy_elements(out, &x[start(row)..][..width], past);
        }
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
            rows.gather(x, out, offsets, &|segment| (offsets[segment + 1].saturating_sub(1), -1));
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
    let mut offsets = Vec::with_capacity(ranges.len() + 1);
    offsets.push(0);
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
        offsets.push(total);
    }
    door::check_output(OP, out, &with_rows(x.shape(), total))?;
    with_rows_of(OP, x, out, |rows, from, to| {
        with_unit!(out.dtype(), U => {
            let (x, out) = (from.slice::<U>(), to.slice_mut::<U>());
            rows.gather(x, out, &offsets, &|range| (ranges[range].0, 1));
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
            rows.gather(x, out, offsets, &|segment| (segment, 0));
        });
    })
}
