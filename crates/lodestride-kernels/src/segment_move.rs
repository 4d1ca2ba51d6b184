//! Moving rows by segment: reversing, repeating, laying side by side.

use lodestride_buffer::{Argument, Buffer, Element, ReadGuard, Scalar, WriteGuard};
use lodestride_shape::{Layout, Order, Shape};
use smallvec::SmallVec;
use std::ops::Range;

use crate::door;
use crate::error::{KernelError, Result};
use crate::gather::take_open;
use crate::numeric::{Compute, ComputeKind};
use crate::operand::Operand;
use crate::row_copy::{Pair, Pairs, copy_block, join, pairs, with_unit};
use crate::segment::{pad_value, with_rows};
use crate::segment_rows::{RowSink, balanced, check_offsets, rows_of};
use crate::stream;
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
    fn onto((start, from): (usize, &[isize]), (out, to): (&Layout, &[isize])) -> Self {
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

/// Where the rows of item `i` come from: the first of them and the step from row to row: 1, -1, or 0 for the same row.
pub(crate) type From<'f> = dyn Fn(usize) -> Place + Sync + 'f;
/// The first row and the step from row to row.
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

    /// Writes item `i` to the rows `offsets[i]..offsets[i + 1]`, dense rows on several threads where that pays.
    pub(crate) fn gather<U: Element>(
        &self,
        x: &[U],
        out: &mut [U],
        offsets: &[usize],
        from: &From<'_>,
    ) {
        let total = offsets[offsets.len() - 1];
        let Some(width) = self.dense_row().filter(|width| width * total > 0) else {
            for (item, pair) in offsets.windows(2).enumerate() {
                let (first, step) = from(item);
                self.copy((x, first, step), (out, pair[0], 0), pair[1] - pair[0]);
            }
            return;
        };
        let past = stream::pays(2 * size_of::<U>() * width * total);
        self.each_part(out, offsets, width, |range, mut out| {
            let end = range.end;
            for item in range {
                let count = offsets[item + 1] - offsets[item];
                let (here, rest) = std::mem::take(&mut out).split_at_mut(count * width);
                let next = (item + 1 < end)
                    .then(|| (from(item + 1), offsets[item + 2] - offsets[item + 1]));
                if size_of_val(here) <= SHORT && item + AHEAD < end {
                    self.ask_for(x, from(item + AHEAD), here.len());
                }
                self.item(x, (from(item), next), here, width, past);
                out = rest;
            }
            if past {
                stream::fence();
            }
        });
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
fn with_open(
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
            rows.gather(x, out, offsets, &|segment| (offsets[segment + 1].saturating_sub(1), -1));
        });
    })
}

/// Lays segments side by side: `out[i, t]` is row `t` of segment `i` of `x`, or `value` where the segment is shorter.
///
/// `x` is `[rows, ..]`, `value` has the shape of a row, `out` is `[segments, steps, ..]`; values are cast to its dtype.
/// Every element of `out` is written once, or, without a `value`, those beyond the end of a segment stay as they are.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{Operand, segment_pad};
/// use lodestride_shape::{Layout, Order};
///
/// let (x, out) = (Buffer::from_vec(vec![1.0f32, 2.0, 3.0])?, Buffer::zeroed(16)?);
/// let (rows, padded) = (Layout::contiguous([3], Order::C)?, Layout::contiguous([2, 2], Order::C)?);
/// let (minus, one) = (Buffer::from_vec(vec![-1.0f32])?, Layout::contiguous([0; 0], Order::C)?);
/// let minus = Operand::new(&minus, &one, DType::F32)?;
/// let x = Operand::new(&x, &rows, DType::F32)?;
/// segment_pad(x, &[0, 1, 3], Some(minus), Operand::new(&out, &padded, DType::F32)?)?;
/// assert_eq!(out.read()?.slice::<f32>(), [1.0, -1.0, 2.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KernelError`] when the offsets do not divide the rows, a segment has more rows than `out` steps, a shape does not fit,
/// or a buffer cannot be accessed. Nothing is written then.
pub fn segment_pad(
    x: Operand<'_>,
    offsets: &[usize],
    value: Option<Operand<'_>>,
    out: Operand<'_>,
) -> Result<()> {
    const OP: &str = "segment_pad";
    check_offsets(OP, offsets, rows_of(OP, x)?)?;
    let (segments, steps) = (offsets.len() - 1, out.shape().get(1).copied().unwrap_or(0));
    let mut wanted = with_rows(x.shape(), segments);
    wanted.insert(1, steps);
    door::check_output(OP, out, &wanted)?;
    if let Some(value) = value {
        value.check_shape(OP, Argument::Y, &Shape::from_slice(&x.shape()[1..]))?;
    }
    let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
    if let Some((index, len)) = lengths.enumerate().find(|&(_, len)| len > steps) {
        let (start, rows) = (0, steps);
        return Err(KernelError::RowRange {
            op: OP,
            index,
            start,
            len,
            rows,
        });
    }
    let Some(value) = value else {
        return pad_with(OP, x, offsets, None, out);
    };
    let converted = door::converted(OP, value, out.dtype())?;
    let value = door::stand_in(converted.as_ref(), value)?;
    let copy = door::private_copy(OP, Argument::Y, value, &[out])?;
    let guard = door::read(OP, Argument::Y, value, copy.as_ref())?;
    pad_with(OP, x, offsets, Some((value.layout(), &guard)), out)
}

/// [`segment_pad`] with checked arguments and an open value of the dtype of `out`.
fn pad_with(
    op: &'static str,
    x: Operand<'_>,
    offsets: &[usize],
    value: Option<(&Layout, &ReadGuard<'_>)>,
    out: Operand<'_>,
) -> Result<()> {
    let converted = door::converted(op, x, out.dtype())?;
    let x = door::stand_in(converted.as_ref(), x)?;
    let copy = door::private_copy(op, Argument::X, x, &[out])?;
    let guard = door::read(op, Argument::X, x, copy.as_ref())?;
    let mut out_guard = door::write(op, Argument::Z, out)?;
    let to = out.layout();
    let onto = |start, steps: &[isize]| Rows::onto((start, steps), (to, &to.strides()[1..]));
    let value = value.map(|(layout, guard)| {
        // Every row of the padding is the same one.
        let steps = std::iter::once(0).chain(layout.strides().iter().copied());
        (
            onto(layout.offset(), &steps.collect::<SmallVec<[isize; 6]>>()),
            guard,
        )
    });
    let padding = Padding {
        offsets,
        steps: to.shape()[1],
        segment_step: to.strides()[0],
        rows: onto(x.layout().offset(), x.layout().strides()),
    };
    with_unit!(out.dtype(), U => {
        let value = value.as_ref().map(|(rows, guard)| (rows, guard.slice::<U>()));
        padding.run(guard.slice::<U>(), value, out_guard.slice_mut::<U>());
    });
    Ok(())
}

/// Segments side by side, each filled up.
struct Padding<'a> {
    offsets: &'a [usize],
    steps: usize,
    /// From segment to segment in the result.
    segment_step: isize,
    rows: Rows,
}

/// Bytes of padding that are written from one piece.
const FILL: usize = 8192;

impl Padding<'_> {
    fn run<U: Element>(&self, x: &[U], value: Option<(&Rows, &[U])>, out: &mut [U]) {
        let segments = self.offsets.len() - 1;
        let place = self.rows.dense_row().filter(|width| {
            self.segment_step == (self.steps * width) as isize && segments * self.steps * width > 0
        });
        let Some(width) = place else {
            for (segment, pair) in self.offsets.windows(2).enumerate() {
                let (count, shift) = (pair[1] - pair[0], segment as isize * self.segment_step);
                self.rows.copy((x, pair[0], 1), (out, 0, shift), count);
                if let Some((rows, value)) = value {
                    let rest = self.steps - count;
                    rows.copy((value, 0, 0), (out, count, shift), rest);
                }
            }
            return;
        };
        // Some rows of padding, to be copied in whole lines.
        let repeats = (FILL / size_of::<U>() / width).clamp(1, self.steps);
        let mut fill = vec![U::default(); if value.is_some() { repeats * width } else { 0 }];
        if let Some((rows, value)) = value {
            let shift = -rows.out_start;
            rows.copy((value, 0, 0), (&mut fill, 0, shift), repeats);
        }
        let start = self.rows.out_start as usize;
        let out = &mut out[start..][..segments * self.steps * width];
        let bytes = size_of_val(out);
        let (parts, past) = (
            threads::parts(bytes, false).min(segments),
            stream::pays(bytes),
        );
        let share = segments.div_ceil(parts);
        let pieces = out.chunks_mut(share * self.steps * width).enumerate();
        threads::for_each_part(pieces, |(part, out)| {
            for (index, out) in out.chunks_mut(self.steps * width).enumerate() {
                let segment = part * share + index;
                let (first, end) = (self.offsets[segment], self.offsets[segment + 1]);
                let (real, rest) = out.split_at_mut((end - first) * width);
                self.rows.item(x, ((first, 1), None), real, width, past);
                if value.is_some() {
                    for rest in rest.chunks_mut(fill.len()) {
                        stream::copy_elements(rest, &fill[..rest.len()], past);
                    }
                }
            }
            if past {
                stream::fence();
            }
        });
    }
}
