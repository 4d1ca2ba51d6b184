//! Sums over the windows of rows: the adjoint of [`segment_windows`](crate::segment_windows()), and convolutions column by column,
//! with their gradient. The windows themselves are nowhere written.

use std::ops::Range;

use lodestride_buffer::{Argument, DType};

use crate::door;
use crate::error::Result;
use crate::isa::{Arch, Level, Task};
use crate::numeric::{Compute, ComputeKind, run_narrow_for};
use crate::operand::Operand;
use crate::reduce_kinds::Addable;
use crate::segment::with_rows;
use crate::segment_dense::{dense_copy, onto_dense, stand_in};
use crate::segment_rows::{RowSink, check_offsets, rows_of};
use crate::segment_windows::{Places, check_windowed};
use crate::stream;
use crate::threads;

/// The adjoint of [`segment_windows`](crate::segment_windows()) of all rows: every row of `out` is the sum of its copies in the
/// windows `dy`.
///
/// `dy` is `[rows, len, ..]`, or `[rows, len * width]` for `out` of shape `[rows, width]`.
///
/// # Errors
/// As [`segment_windows`](crate::segment_windows()).
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
    check_windowed(OP, Argument::X, dy, out.shape(), len)?;
    // A row is found in the windows of the rows `t - start - k`, a window that begins there.
    let start = mirrored(start, len);
    let places = Places {
        offsets,
        start,
        len,
    };
    match summed_in(dy.dtype(), out.dtype()) {
        ComputeKind::F32 => sums::<f32>(OP, dy, places, None, out),
        ComputeKind::F64 => sums::<f64>(OP, dy, places, None, out),
        _ => sums::<i64>(OP, dy, places, None, out),
    }
}

/// What numbers of a dtype are added up in. Sums of `u64` have the bits of those of `i64`; as floats they are added as such.
fn summed_in(dtype: DType, out: DType) -> ComputeKind {
    match ComputeKind::exact(dtype) {
        ComputeKind::U64 if out.is_float() => ComputeKind::F64,
        ComputeKind::U64 => ComputeKind::I64,
        kind => kind,
    }
}

/// The start of the windows of the rows in whose windows a row is.
fn mirrored(start: isize, len: usize) -> isize {
    let last = start.saturating_add_unsigned(len).saturating_sub(1);
    last.saturating_neg()
}

/// Convolves every column with its own filter: row `t` of `out` is the sum of `x[t + start + k] * filter[k]` over the rows of
/// its segment, in the order of `k`.
///
/// `x` and `out` are `[rows, ..]`, `filter` is `[len, ..]`. Products and sums are computed in the type of `out`. With `start` 0
/// this is Fluid's `row_conv`; its gradient is the same with the filter backwards and `start` `1 - len`.
///
/// # Errors
/// As [`segment_windows`](crate::segment_windows()).
pub fn segment_convolve(
    x: Operand<'_>,
    offsets: &[usize],
    start: isize,
    filter: Operand<'_>,
    out: Operand<'_>,
) -> Result<()> {
    const OP: &str = "segment_convolve";
    check_offsets(OP, offsets, rows_of(OP, x)?)?;
    door::check_output(OP, out, x.shape())?;
    let len = rows_of(OP, filter)?;
    filter.check_shape(OP, Argument::Y, &with_rows(x.shape(), len))?;
    let places = Places {
        offsets,
        start,
        len,
    };
    match summed_in(out.dtype(), out.dtype()) {
        ComputeKind::F32 => convolve::<f32>(OP, x, places, filter, out),
        ComputeKind::F64 => convolve::<f64>(OP, x, places, filter, out),
        _ => convolve::<i64>(OP, x, places, filter, out),
    }
}

fn convolve<C: Compute>(
    op: &'static str,
    x: Operand<'_>,
    places: Places<'_>,
    filter: Operand<'_>,
    out: Operand<'_>,
) -> Result<()> {
    let copy = dense_copy(op, Argument::Y, filter, C::DTYPE, out)?;
    let filter = stand_in(copy.as_ref(), filter)?;
    let guard = filter.read(op, Argument::Y)?;
    let filter = &guard.slice::<C>()[filter.layout().offset()..][..filter.elements()];
    sums::<C>(op, x, places, Some(filter), out)
}

/// Sums of rows of `x`, which are rows of windows unless there is a `filter`.
fn sums<C: Compute>(
    op: &'static str,
    x: Operand<'_>,
    places: Places<'_>,
    filter: Option<&[C]>,
    out: Operand<'_>,
) -> Result<()> {
    let copy = dense_copy(op, Argument::X, x, C::DTYPE, out)?;
    let x = stand_in(copy.as_ref(), x)?;
    onto_dense(op, (out, false), C::DTYPE, |out| {
        let guard = x.read(op, Argument::X)?;
        let mut to = door::write(op, Argument::Z, out)?;
        if out.elements() == 0 {
            return Ok(());
        }
        let work = Sums {
            x: &guard.slice::<C>()[x.layout().offset()..][..x.elements()],
            filter,
            places,
            width: out.elements() / out.shape()[0],
        };
        let to = &mut to.slice_mut::<C>()[out.layout().offset()..][..out.elements()];
        work.run(
            to,
            threads::parts(size_of_val(work.x) + size_of_val(to), false),
        );
        Ok(())
    })
}

/// Dense rows to be summed over windows.
#[derive(Clone, Copy)]
pub(crate) struct Sums<'a, C> {
    pub(crate) x: &'a [C],
    pub(crate) filter: Option<&'a [C]>,
    pub(crate) places: Places<'a>,
    pub(crate) width: usize,
}

impl<C: Compute> Sums<'_, C> {
    fn run(self, out: &mut [C], parts: usize) {
        let share = (out.len() / self.width).div_ceil(parts);
        let level = Level::current();
        let pieces = out.chunks_mut(share * self.width).enumerate();
        threads::for_each_part(pieces, |(part, out)| {
            let first = part * share;
            run_narrow_for::<C, _>(
                level,
                SumTask {
                    sums: self,
                    first,
                    out,
                },
            );
        });
    }

    /// Where what a place of the window of a row adds begins in `x`, and the step from place to place: a row of `x`, or row
    /// `len - 1 - place` of a window.
    #[inline(always)]
    fn place(&self, row: usize, place: usize) -> (usize, isize) {
        let (width, len) = (self.width, self.places.len);
        // Inside the segment, so not negative, though the window may begin before all rows.
        let from = (row as isize + self.places.start + place as isize) as usize;
        match self.filter {
            Some(_) => (from * width, width as isize),
            None => {
                let step = len as isize * width as isize - width as isize;
                ((from * len + len - 1 - place) * width, step)
            }
        }
    }
}

/// Some rows of the result.
struct SumTask<'a, C> {
    sums: Sums<'a, C>,
    first: usize,
    out: &'a mut [C],
}

/// Columns summed together.
pub(crate) const MOST: usize = 16;
/// The same of narrower rows.
const SOME: usize = 4;

impl<C: Compute> Task for SumTask<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { sums, first, out } = self;
        let (places, width) = (sums.places, sums.width);
        let rows = first..first + out.len() / width;
        let ahead = sums.ahead();
        let done = sums.across_segments(&rows, out);
        places.each_stretch(rows, |rows, segment, inside| {
            if inside && done {
                return;
            }
            for row in rows {
                if let Some(ahead) = ahead {
                    sums.ask_for(row, ahead);
                }
                let own = if inside {
                    0..places.len
                } else {
                    places.inside(row, &segment)
                };
                let out = &mut out[(row - first) * width..][..width];
                match width {
                    MOST.. => sums.row::<MOST>(row, own, out),
                    SOME.. => sums.row::<SOME>(row, own, out),
                    _ => sums.row::<1>(row, own, out),
                }
            }
        });
    }
}

impl<C: Compute> Sums<'_, C> {
    /// How many windows ahead memory is asked for, where windows come from memory: they are read crosswise, a part of each of
    /// `len` neighbours in turn, which processors do not foresee. On an EPYC, three places of 128 `f32` a window took 20 ms
    /// with 2 to 4 windows asked for and 38 ms without.
    fn ahead(&self) -> Option<usize> {
        let bytes = self.places.len * self.width * size_of::<C>();
        let is_far = self.filter.is_none() && size_of_val(self.x) > stream::SECOND_LEVEL;
        (is_far && bytes >= stream::LINE).then(|| (stream::PAGE / bytes).max(1))
    }

    /// Asks for the window that is `ahead` of the last one a row is in.
    #[inline(always)]
    fn ask_for(&self, row: usize, ahead: usize) {
        let size = self.places.len * self.width;
        let last = self
            .places
            .start
            .saturating_add_unsigned(self.places.len + ahead);
        let window = row.saturating_add_signed(last).wrapping_mul(size);
        let window = self.x.as_ptr().wrapping_add(window).cast::<u8>();
        stream::prefetch_run(window, size * size_of::<C>());
    }

    /// One row of sums, `W` columns at a time; the last block overlaps the one before. Windows are added in the order of their
    /// own places, which is from the last of ours to the first.
    #[inline(always)]
    fn row<const W: usize>(&self, row: usize, own: Range<usize>, out: &mut [C]) {
        let (start, step) = if own.is_empty() {
            (0, 0)
        } else if self.filter.is_some() {
            self.place(row, own.start)
        } else {
            let (start, step) = self.place(row, own.end - 1);
            (start, -step)
        };
        let mut at = 0;
        loop {
            let mut sums = [C::ZERO; W];
            for index in 0..own.len() {
                let from = start.saturating_add_signed(index as isize * step) + at;
                let line: &[C; W] = &self.x[from..from + W].as_chunks().0[0];
                match self.filter {
                    Some(filter) => {
                        let weights = (own.start + index) * self.width + at;
                        let weights: &[C; W] = &filter[weights..weights + W].as_chunks().0[0];
                        for column in 0..W {
                            sums[column] = sums[column].add(line[column].mul(weights[column]));
                        }
                    }
                    None => {
                        for column in 0..W {
                            sums[column] = sums[column].add(line[column]);
                        }
                    }
                }
            }
            out[at..at + W].copy_from_slice(&sums);
            if at + W >= out.len() {
                return;
            }
            at = (at + W).min(out.len() - W);
        }
    }
}

/// The gradient of [`segment_convolve`] with respect to its filter: row `k` of `out` is the sum of `x[t + start + k] * dy[t]`
/// over the rows of all segments.
///
/// `x` and `dy` are `[rows, ..]`, `out` is `[len, ..]`. Rows are added in order, in blocks that depend on nothing but the data.
///
/// # Errors
/// As [`segment_windows`](crate::segment_windows()).
pub fn segment_convolve_gradient(
    x: Operand<'_>,
    dy: Operand<'_>,
    offsets: &[usize],
    start: isize,
    out: Operand<'_>,
) -> Result<()> {
    const OP: &str = "segment_convolve_gradient";
    check_offsets(OP, offsets, rows_of(OP, x)?)?;
    dy.check_shape(OP, Argument::Y, x.shape())?;
    let len = rows_of(OP, out)?;
    door::check_output(OP, out, &with_rows(x.shape(), len))?;
    let places = Places {
        offsets,
        start,
        len,
    };
    match summed_in(out.dtype(), out.dtype()) {
        ComputeKind::F32 => products::<f32>(OP, x, dy, places, out),
        ComputeKind::F64 => products::<f64>(OP, x, dy, places, out),
        _ => products::<i64>(OP, x, dy, places, out),
    }
}

fn products<C: Addable>(
    op: &'static str,
    x: Operand<'_>,
    dy: Operand<'_>,
    places: Places<'_>,
    out: Operand<'_>,
) -> Result<()> {
    let copies = [
        dense_copy(op, Argument::X, x, C::DTYPE, out)?,
        dense_copy(op, Argument::Y, dy, C::DTYPE, out)?,
    ];
    let (x, dy) = (
        stand_in(copies[0].as_ref(), x)?,
        stand_in(copies[1].as_ref(), dy)?,
    );
    let (guard, given) = (x.read(op, Argument::X)?, dy.read(op, Argument::Y)?);
    let mut to = door::write(op, Argument::Z, out)?;
    let rows = x.shape()[0];
    let width: usize = x.shape()[1..].iter().product();
    let size = places.len * width;
    if size == 0 {
        return Ok(());
    }
    let work = Products {
        x: &guard.slice::<C>()[x.layout().offset()..][..x.elements()],
        dy: &given.slice::<C>()[dy.layout().offset()..][..dy.elements()],
        places,
        width,
    };
    let mut totals = vec![C::NOTHING; rows.div_ceil(CHUNK).max(1) * size];
    let level = Level::current();
    let parts = threads::parts(2 * size_of_val(work.x), false);
    let share = (totals.len() / size).div_ceil(parts);
    let pieces = totals.chunks_mut(share * size).enumerate();
    threads::for_each_part(pieces, |(part, totals)| {
        for (chunk, totals) in totals.chunks_mut(size).enumerate() {
            let first = (part * share + chunk) * CHUNK;
            let rows = first..rows.min(first + CHUNK);
            run_narrow_for::<C, _>(level, ProductTask { work, rows, totals });
        }
    });
    let (sums, others) = totals.split_at_mut(size);
    for others in others.chunks(size) {
        for (sum, &other) in sums.iter_mut().zip(others) {
            *sum = C::plus(*sum, other);
        }
    }
    let values: Vec<C::Value> = sums.iter().map(|&sum| C::value(sum)).collect();
    let sink = RowSink::new(out);
    for (row, values) in values.chunks(width).enumerate() {
        sink.store(&mut to, row, 0, values);
    }
    Ok(())
}

/// Rows whose products are added up on their own, whatever the number of threads.
const CHUNK: usize = 4096;
/// Rows whose products are added in the compute type before they join a total.
const BLOCK: usize = 64;

/// Dense rows to be multiplied.
#[derive(Clone, Copy)]
struct Products<'a, C> {
    x: &'a [C],
    dy: &'a [C],
    places: Places<'a>,
    width: usize,
}

/// Some rows and the totals of every place.
struct ProductTask<'a, C: Addable> {
    work: Products<'a, C>,
    rows: Range<usize>,
    totals: &'a mut [C::Sum],
}

impl<C: Addable> Task for ProductTask<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { work, rows, totals } = self;
        let (places, width) = (work.places, work.width);
        let mut row = rows.start;
        let mut segment = places.offsets.partition_point(|&offset| offset <= row);
        while row < rows.end {
            let (first, end) = (places.offsets[segment - 1], places.offsets[segment]);
            let last = end.min(rows.end).min(row + BLOCK);
            for (place, totals) in totals.chunks_mut(width).enumerate() {
                // The rows of the block that have this place inside.
                let shift = places.start.saturating_add_unsigned(place);
                let low = first
                    .saturating_add_signed(shift.saturating_neg())
                    .clamp(row, last);
                let high = end
                    .saturating_add_signed(shift.saturating_neg())
                    .clamp(low, last);
                if low == high {
                    continue;
                }
                let from = low.saturating_add_signed(shift);
                match width {
                    MOST.. => work.block::<MOST>(low..high, from, totals),
                    SOME.. => work.block::<SOME>(low..high, from, totals),
                    _ => work.block::<1>(low..high, from, totals),
                }
            }
            row = last;
            segment += usize::from(row == end);
        }
    }
}

impl<C: Addable> Products<'_, C> {
    /// Adds the products of some rows of `dy` and those of `x` from `from` on, `W` columns at a time, and one by one at the end.
    #[inline(always)]
    fn block<const W: usize>(&self, rows: Range<usize>, from: usize, totals: &mut [C::Sum]) {
        let whole = totals.len() / W * W;
        for at in (0..whole).step_by(W) {
            self.columns::<W>(&rows, from, at, &mut totals[at..at + W]);
        }
        for at in whole..totals.len() {
            self.columns::<1>(&rows, from, at, &mut totals[at..=at]);
        }
    }

    #[inline(always)]
    fn columns<const W: usize>(
        &self,
        rows: &Range<usize>,
        from: usize,
        at: usize,
        totals: &mut [C::Sum],
    ) {
        let width = self.width;
        let mut sums = [C::ZERO; W];
        for (index, row) in rows.clone().enumerate() {
            let x: &[C; W] = &self.x[(from + index) * width + at..][..W].as_chunks().0[0];
            let dy: &[C; W] = &self.dy[row * width + at..][..W].as_chunks().0[0];
            for column in 0..W {
                sums[column] = sums[column].add(x[column].mul(dy[column]));
            }
        }
        for (total, sum) in totals.iter_mut().zip(sums) {
            *total = C::plus(*total, sum.widen());
        }
    }
}
