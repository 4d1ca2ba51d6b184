//! Moving rows by segment: reversing, repeating, the first or last of each.

use lodestride_buffer::{Argument, Buffer, Element, ReadGuard, Scalar, WriteGuard};
use lodestride_shape::{Layout, Order};
use std::ops::Range;

use crate::door;
use crate::error::{KernelError, Result};
use crate::gather::take_open;
use crate::numeric::{Compute, ComputeKind};
use crate::operand::Operand;
use crate::row_copy::{Pair, Pairs, copy_block, join, pairs, with_unit};
use crate::segment::pad_value;
use crate::segment_rows::{RowSink, balanced, check_offsets, rows_of};
use crate::short_rows::{LONGEST, Run, write_runs};
use crate::stream::{self, PAGE};
use crate::threads;

/// Rows of two arrays of one dtype, the source already converted.
pub(crate) struct Rows {
    /// Steps from row to row.
    pub(crate) x_step: isize,
    out_step: isize,
    x_start: isize,
    pub(crate) out_start: isize,
    row: Pairs,
}

impl Rows {
    pub(crate) fn new(x: Operand<'_>, out: Operand<'_>) -> Self {
        let (x, out) = (x.layout(), out.layout());
        Self::onto((x.offset(), x.strides()), (out, out.strides()))
    }

    /// Rows that begin somewhere and have these steps, the first from row to row, onto those of `out`, whose steps are the
    /// last ones given.
    pub(crate) fn onto((start, from): (usize, &[isize]), (out, to): (&Layout, &[isize])) -> Self {
        let shape = &out.shape()[out.rank() + 1 - to.len()..];
        Self {
            x_step: from[0],
            out_step: to[0],
            x_start: start as isize,
            out_start: out.offset() as isize,
            row: pairs(shape, &from[1..], &to[1..]),
        }
    }

    /// Copies `count` rows from row `from` on (backwards for a `step` of -1, the same row for 0) to the rows `to..`, all
    /// `shift` elements further.
    pub(crate) fn copy<U: Element>(
        &self,
        (x, from, step): (&[U], usize, isize),
        (out, to, shift): (&mut [U], usize, isize),
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
        let to = self.out_start + shift + to as isize * self.out_step;
        copy_block(x, from, out, to, &axes);
    }

    /// Writes one value to `count` rows.
    pub(crate) fn fill<U: Element>(&self, value: U, (out, to): (&mut [U], usize), count: usize) {
        let rows = Self {
            x_step: 0,
            x_start: 0,
            row: self.row.iter().map(|axis| Pair { x: 0, ..*axis }).collect(),
            ..*self
        };
        rows.copy((&[value], 0, 0), (out, to, 0), count);
    }
}

/// The first row and the step from row to row: 1, -1, or 0 for the same row.
pub(crate) type Place = (usize, isize);

impl Rows {
    /// The elements of a row, where the rows of both arrays are contiguous and those of `out` follow each other.
    pub(crate) fn dense_row(&self) -> Option<usize> {
        let row = join(self.row.iter().copied());
        let width = match row[..] {
            [] => 1,
            [run @ Pair { x: 1, out: 1, .. }] => run.size,
            _ => return None,
        };
        (self.out_step == width as isize).then_some(width)
    }

    /// Writes item `i`, the rows from `first(i)` on with a `step` of 0 or -1, to the rows `offsets[i]..offsets[i + 1]`, dense
    /// rows on several threads where that pays.
    pub(crate) fn gather<U: Element>(
        &self,
        x: &[U],
        out: &mut [U],
        offsets: &[usize],
        (first, step): (&(dyn Fn(usize) -> usize + Sync), isize),
    ) {
        let (items, total) = (offsets.len() - 1, offsets[offsets.len() - 1]);
        let Some(width) = self.dense_row().filter(|width| width * total > 0) else {
            for (item, pair) in offsets.windows(2).enumerate() {
                let from = (x, first(item), step);
                self.copy(from, (out, pair[0], 0), pair[1] - pair[0]);
            }
            return;
        };
        let read = if step == 0 { items } else { total };
        let row = size_of::<U>() * width;
        let past = stream::pays(row * (total + read));
        self.each_part(out, offsets, width, |range, out| {
            // Long repeats are copied from what is written already.
            let is_long = step == 0 && row * (total / items) >= PAGE;
            if width > 1 && row <= LONGEST && !past && !is_long {
                return self.gather_short(x, out, (offsets, range), width, (first, step));
            }
            let (mut out, end) = (out, range.end);
            for item in range {
                let count = offsets[item + 1] - offsets[item];
                let (here, rest) = std::mem::take(&mut out).split_at_mut(count * width);
                let next = (item + 1 < end).then(|| {
                    (
                        (first(item + 1), step),
                        offsets[item + 2] - offsets[item + 1],
                    )
                });
                self.item(x, ((first(item), step), next), here, width, past);
                out = rest;
            }
            if past {
                stream::fence();
            }
        });
    }

    /// [`Rows::gather`] of some items whose rows are short.
    fn gather_short<U: Element>(
        &self,
        x: &[U],
        out: &mut [U],
        (offsets, items): (&[usize], Range<usize>),
        width: usize,
        (first, step): (&(dyn Fn(usize) -> usize + Sync), isize),
    ) {
        let mut runs = items.map(|item| {
            let run = (offsets[item + 1] - offsets[item], step * self.x_step);
            let start = if run.0 > 0 {
                self.start_of((first(item), 0), 0)
            } else {
                0
            };
            Run::new(x, (start, width), run)
        });
        write_runs(out, width, &mut runs);
    }

    /// Calls `job` with some items and their dense rows of the result, on several threads where that pays.
    pub(crate) fn each_part<U: Element>(
        &self,
        out: &mut [U],
        offsets: &[usize],
        width: usize,
        job: impl Fn(Range<usize>, &mut [U]) + Sync,
    ) {
        let (items, total) = (offsets.len() - 1, offsets[offsets.len() - 1]);
        let start = self.out_start as usize;
        let mut out = &mut out[start..start + width * total];
        let parts = threads::parts(2 * size_of_val(out), false).min(items);
        let mut pieces = Vec::with_capacity(parts);
        for part in 0..parts {
            let range = balanced(offsets, parts, part);
            let rows = offsets[range.end] - offsets[range.start];
            let (here, rest) = std::mem::take(&mut out).split_at_mut(rows * width);
            pieces.push((range, here));
            out = rest;
        }
        threads::for_each_part(pieces.into_iter(), |(range, out)| job(range, out));
    }

    /// The first element of a row of some that begin at a place.
    #[inline(always)]
    pub(crate) fn start_of(&self, (first, step): Place, row: usize) -> usize {
        let row = first as isize + step * row as isize;
        (self.x_start + row * self.x_step) as usize
    }

    /// Asks for the memory of a few rows, which no processor sees coming.
    #[inline]
    pub(crate) fn ask_for<U>(&self, x: &[U], (first, _): Place, elements: usize) {
        let start = self.start_of((first, 0), 0);
        let start = x.as_ptr().wrapping_add(start).cast::<u8>();
        stream::prefetch_run(start, elements * size_of::<U>());
    }

    /// Writes the dense rows of one item; where the rows of the next come from, and how many, is known for asking ahead.
    #[inline(never)]
    pub(crate) fn item<U: Element>(
        &self,
        x: &[U],
        ((first, step), next): (Place, Option<(Place, usize)>),
        out: &mut [U],
        width: usize,
        past: bool,
    ) {
        let start = |row: usize| self.start_of((first, step), row);
        if step == 1 && self.x_step == width as isize {
            if !out.is_empty() {
                stream::copy_elements(out, &x[start(0)..][..out.len()], past);
            }
            return;
        }
        if step == 0 && !past && size_of::<U>() * width <= SHORT {
            if !out.is_empty() {
                repeat(&x[start(0)..][..width], out);
            }
            return;
        }
        if width == 1 {
            for (row, out) in out.iter_mut().enumerate() {
                *out = x[start(row)];
            }
            return;
        }
        let count = out.len() / width;
        for (row, out) in out.chunks_mut(width).enumerate() {
            // Rows backwards are not fetched by the processor itself.
            let ahead = match (row + AHEAD).checked_sub(count) {
                None => Some(start(row + AHEAD)),
                Some(row) => next
                    .filter(|next| row < next.1)
                    .map(|next| self.start_of(next.0, row)),
            };
            if let Some(ahead) = ahead.filter(|_| step != 0) {
                let row = x.as_ptr().wrapping_add(ahead).cast::<u8>();
                let bytes = width * size_of::<U>();
                stream::prefetch_run(row, bytes.min(AHEAD_LINES * stream::LINE));
            }
            stream::copy_elements(out, &x[start(row)..][..width], past);
        }
    }
}

/// Fills `out` with copies of a short row: what is written already is copied again, more every time.
fn repeat<U: Copy>(row: &[U], out: &mut [U]) {
    if let [value] = row {
        return out.fill(*value);
    }
    out[..row.len()].copy_from_slice(row);
    let mut done = row.len();
    while done < out.len() {
        let more = done
            .min(out.len() - done)
            .min(FILL / size_of::<U>() / row.len() * row.len());
        out.copy_within(..more, done);
        done += more;
    }
}

/// Bytes of what repeats that are written from one piece.
pub(crate) const FILL: usize = 8192;
/// Bytes of an item up to which a later one is asked for.
pub(crate) const SHORT: usize = 1 << 10;
/// Rows, or short items, asked for ahead of their copy.
pub(crate) const AHEAD: usize = 8;
/// Lines of a row that are asked for; the processor brings what follows.
const AHEAD_LINES: usize = 16;

/// Opens `x` (converted to the dtype of `out`) and `out`, and runs `job` with their rows.
pub(crate) fn with_rows_of(
    op: &'static str,
    x: Operand<'_>,
    out: Operand<'_>,
    job: impl FnOnce(&Rows, &ReadGuard<'_>, &mut WriteGuard<'_>),
) -> Result<()> {
    with_open(op, x, out, |x, from, to| {
        job(&Rows::new(x, out), from, to);
        Ok(())
    })
}

/// The same with `x` as it was converted.
pub(crate) fn with_open(
    op: &'static str,
    x: Operand<'_>,
    out: Operand<'_>,
    job: impl FnOnce(Operand<'_>, &ReadGuard<'_>, &mut WriteGuard<'_>) -> Result<()>,
) -> Result<()> {
    let converted = door::converted(op, x, out.dtype())?;
    let x = door::stand_in(converted.as_ref(), x)?;
    let copy = door::private_copy(op, Argument::X, x, &[out])?;
    let guard = door::read(op, Argument::X, x, copy.as_ref())?;
    let mut out_guard = door::write(op, Argument::Z, out)?;
    job(x, &guard, &mut out_guard)
}

/// Writes the first row of every segment, or the `last`, to one of `out`, and `pad` for an empty one. The shape of `out` is
/// checked.
pub(crate) fn segment_ends(
    op: &'static str,
    x: Operand<'_>,
    offsets: &[usize],
    last: bool,
    pad: Scalar,
    out: Operand<'_>,
) -> Result<()> {
    let (segments, rows) = (offsets.len() - 1, offsets[offsets.len() - 1]);
    // Any row stands for that of an empty segment, which is filled afterwards.
    let ends = offsets.windows(2).map(|pair| match last {
        true => pair[1].max(1) as i64 - 1,
        false => pair[0].min(rows.max(1) - 1) as i64,
    });
    let layout = Layout::contiguous([segments], Order::C).map_err(KernelError::shape(op))?;
    let ends = Buffer::from_vec(ends.collect()).map_err(KernelError::alloc(op))?;
    let ends = Operand::new(&ends, &layout, i64::DTYPE)?;
    let named = ends.read(op, Argument::Y)?;
    with_open(op, x, out, |moved, source, to| {
        if rows > 0 {
            take_open(op, 0, (moved, source), (ends, &named), (out, to), true)?;
        }
        let empty = (0..segments).filter(|&i| offsets[i] == offsets[i + 1]);
        match ComputeKind::exact(x.dtype()) {
            ComputeKind::F32 => fill_rows::<f32>(empty, pad, out, to),
            ComputeKind::F64 => fill_rows::<f64>(empty, pad, out, to),
            ComputeKind::I64 => fill_rows::<i64>(empty, pad, out, to),
            ComputeKind::U64 => fill_rows::<u64>(empty, pad, out, to),
        }
        Ok(())
    })
}

/// Fills some rows with a value, as far as the dtype it stands for can hold it.
fn fill_rows<V: Compute>(
    rows: impl Iterator<Item = usize>,
    value: Scalar,
    out: Operand<'_>,
    to: &mut WriteGuard<'_>,
) {
    let (mut sink, mut values) = (None, Vec::new());
    for row in rows {
        let sink = sink.get_or_insert_with(|| {
            values = vec![pad_value::<V>(value); out.shape()[1..].iter().product()];
            RowSink::new(out)
        });
        sink.store(to, row, 0, &values);
    }
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
            rows.gather(x, out, offsets, (&|segment| offsets[segment + 1].saturating_sub(1), -1));
        });
    })
}
