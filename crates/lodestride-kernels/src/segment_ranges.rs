//! Ranges of rows: copied from any number of arrays to one, zeros between them, and added to the rows they came from.
//!
//! One list says where every row of the result comes from, so the result is written once, in order, whatever is joined, cut or
//! put back.

use std::ops::Range;

use lodestride_buffer::{Argument, Buffer, Element, ReadGuard};
use smallvec::SmallVec;

use crate::door;
use crate::error::{KernelError, Result};
use crate::isa::{Arch, Level, Task};
use crate::numeric::{Compute, ComputeKind, run_for};
use crate::operand::Operand;
use crate::row_copy::with_unit;
use crate::segment::with_rows;
use crate::segment_dense::{dense_copy, onto_dense, stand_in};
use crate::segment_move::{AHEAD, Rows, SHORT};
use crate::segment_rows::rows_of;
use crate::stream;
use crate::threads;

/// Rows of one of several arrays, a row of each of some of them, or rows of zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowRange {
    source: usize,
    start: usize,
    len: usize,
    /// Whether every row is that of the next array, instead of the next one of the same.
    across: bool,
}

/// The source of zeros: no list is as long as that.
const ZEROS: usize = usize::MAX;

impl RowRange {
    /// The rows `rows` of array number `source`; a range that ends before it begins is empty.
    #[inline]
    pub fn new(source: usize, rows: Range<usize>) -> Self {
        Self {
            source,
            start: rows.start,
            len: rows.end.saturating_sub(rows.start),
            across: false,
        }
    }

    /// Row `row` of each of the arrays `sources`.
    #[inline]
    pub fn across(sources: Range<usize>, row: usize) -> Self {
        Self {
            start: row,
            across: true,
            ..Self::new(sources.start, sources)
        }
    }

    /// Number of rows.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// `len` rows of zeros.
    #[inline]
    pub fn zeros(len: usize) -> Self {
        Self {
            source: ZEROS,
            start: 0,
            len,
            across: false,
        }
    }
}

/// Writes ranges of rows of the `sources` one after the other to `out`.
///
/// Ranges may overlap, repeat and be empty; `out` has as many rows as they have together. The sources have rows of the same
/// shape; values are cast to the dtype of `out`.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{Operand, RowRange, copy_row_ranges};
/// use lodestride_shape::{Layout, Order};
///
/// let (a, b) = (Buffer::from_vec(vec![1.0f32, 2.0])?, Buffer::from_vec(vec![3.0f32, 4.0])?);
/// let (two, five) = (Layout::contiguous([2], Order::C)?, Layout::contiguous([5], Order::C)?);
/// let out = Buffer::zeroed(20)?;
/// copy_row_ranges(
///     &[Operand::new(&a, &two, DType::F32)?, Operand::new(&b, &two, DType::F32)?],
///     &[RowRange::new(1, 0..2), RowRange::zeros(2), RowRange::new(0, 1..2)],
///     Operand::new(&out, &five, DType::F32)?,
/// )?;
/// assert_eq!(out.read()?.slice::<f32>(), [3.0, 4.0, 0.0, 0.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KernelError`] when a range reaches beyond the rows of its source, or there is no such source, when a shape does not fit,
/// or a buffer cannot be accessed. Nothing is written then.
pub fn copy_row_ranges(
    sources: &[Operand<'_>],
    ranges: &[RowRange],
    out: Operand<'_>,
) -> Result<()> {
    copy_ranges("copy_row_ranges", sources, ranges, out)
}

/// [`copy_row_ranges`] for an operation of another name.
pub(crate) fn copy_ranges(
    op: &'static str,
    sources: &[Operand<'_>],
    ranges: &[RowRange],
    out: Operand<'_>,
) -> Result<()> {
    let total = check_ranges(op, sources, ranges)?;
    let like = sources.first().copied().unwrap_or(out);
    rows_of(op, like)?;
    door::check_output(op, out, &with_rows(like.shape(), total))?;
    let mut converted = SmallVec::<[_; 2]>::new();
    for (index, x) in sources.iter().enumerate() {
        let wanted = with_rows(like.shape(), x.shape()[0]);
        x.check_shape(op, Argument::Input(index), &wanted)?;
        converted.push(door::converted(op, *x, out.dtype())?);
    }
    let mut inputs = SmallVec::<[Operand<'_>; 2]>::new();
    let mut copies = SmallVec::<[Option<Buffer>; 2]>::new();
    for (index, (x, converted)) in sources.iter().zip(&converted).enumerate() {
        let x = door::stand_in(converted.as_ref(), *x)?;
        copies.push(door::private_copy(op, Argument::Input(index), x, &[out])?);
        inputs.push(x);
    }
    let mut guards = SmallVec::<[ReadGuard<'_>; 2]>::new();
    for (index, (x, copy)) in inputs.iter().zip(&copies).enumerate() {
        guards.push(door::read(op, Argument::Input(index), *x, copy.as_ref())?);
    }
    let mut to = door::write(op, Argument::Z, out)?;
    with_unit!(out.dtype(), U => {
        let sources = inputs.iter().zip(&guards);
        let sources: SmallVec<[Source<'_, U>; 2]> = sources
            .map(|(x, guard)| Source { data: guard.slice::<U>(), rows: Rows::new(*x, out) })
            .collect();
        copy(&sources, ranges, out, total, to.slice_mut::<U>());
    });
    Ok(())
}

/// The rows of all ranges together, each of which lies inside its source.
fn check_ranges(op: &'static str, sources: &[Operand<'_>], ranges: &[RowRange]) -> Result<usize> {
    let mut counts = SmallVec::<[usize; 2]>::new();
    for x in sources {
        counts.push(rows_of(op, *x)?);
    }
    // As of steps, of which each has the sequences that go on: the last array of a range has the fewest rows.
    let descend = counts.is_sorted_by(|before, after| before >= after);
    let fewest = |own: &[usize]| match descend {
        true => own.last().copied(),
        false => own.iter().copied().min(),
    };
    let mut total = 0usize;
    for (index, range) in ranges.iter().enumerate() {
        let &RowRange {
            source, start, len, ..
        } = range;
        let (fits, rows) = match source.checked_add(len).map(|end| counts.get(source..end)) {
            Some(Some(own)) if range.across => {
                let least = fewest(own).unwrap_or(usize::MAX);
                (start < least, least)
            }
            _ => {
                let rows = counts.get(source).copied().unwrap_or(0);
                let inside = len <= rows && start <= rows - len && source < counts.len();
                (!range.across && (source == ZEROS || inside), rows)
            }
        };
        if !fits {
            return Err(KernelError::RowRange {
                op,
                index,
                start,
                len,
                rows,
            });
        }
        total = total.saturating_add(len);
    }
    Ok(total)
}

/// An array of the result's dtype.
struct Source<'a, U> {
    data: &'a [U],
    rows: Rows,
}

/// Copies checked ranges, dense rows on several threads where that pays.
fn copy<U: Element>(
    sources: &[Source<'_, U>],
    ranges: &[RowRange],
    out: Operand<'_>,
    total: usize,
    to: &mut [U],
) {
    let width: usize = out.shape()[1..].iter().product();
    if width * total == 0 {
        return;
    }
    let is_dense = |source: &Source<'_, U>| source.rows.dense_row() == Some(width);
    let zeros = Rows::new(out, out);
    if zeros.dense_row() != Some(width) || !sources.iter().all(is_dense) {
        let mut row = 0;
        for range in ranges {
            let &RowRange {
                source, start, len, ..
            } = range;
            if range.across {
                for (at, source) in sources[source..source + len].iter().enumerate() {
                    source
                        .rows
                        .copy((source.data, start, 1), (to, row + at, 0), 1);
                }
            } else if let Some(source) = sources.get(source) {
                source.rows.copy((source.data, start, 1), (to, row, 0), len);
            } else {
                zeros.fill(U::default(), (to, row), len);
            }
            row += len;
        }
        return;
    }
    let mut to = &mut to[out.layout().offset()..][..width * total];
    let bytes = 2 * size_of_val(to);
    let is_across = width == 1 && ranges.iter().any(|range| range.across);
    let columns = is_across.then(|| sources.iter().map(Source::column).collect::<Option<_>>());
    let columns: Vec<&[U]> = columns.flatten().unwrap_or_default();
    let work = Dense {
        sources,
        columns,
        ranges,
        width,
        past: stream::pays(bytes),
    };
    let parts = threads::parts(bytes, false);
    let mut pieces = Vec::with_capacity(parts);
    let (mut first, mut before) = (0, 0);
    for part in 0..parts {
        let (begin, end) = (total * part / parts, total * (part + 1) / parts);
        let (here, rest) = std::mem::take(&mut to).split_at_mut((end - begin) * width);
        to = rest;
        while before + ranges[first].len <= begin {
            before += ranges[first].len;
            first += 1;
        }
        pieces.push((first, begin - before, here));
    }
    threads::for_each_part(pieces.into_iter(), |(first, skipped, out)| {
        work.run(first, skipped, out);
    });
}

impl<U> Source<'_, U> {
    /// The first elements from a row of so many on, where rows follow each other.
    #[inline(always)]
    fn few(&self, (row, width): (usize, usize)) -> Option<&[U; FEW]> {
        if self.rows.x_step != width as isize {
            return None;
        }
        let start = self.rows.start_of((row, 1), 0);
        self.data.get(start..)?.first_chunk()
    }

    /// Rows of one element from the first on, where they follow each other.
    fn column(&self) -> Option<&[U]> {
        let start = (self.rows.x_step == 1).then(|| self.rows.start_of((0, 1), 0));
        start.and_then(|start| self.data.get(start..))
    }
}

/// Ranges of dense rows.
struct Dense<'a, U> {
    sources: &'a [Source<'a, U>],
    /// [`Source::column`] of each where all have one and a range goes across.
    columns: Vec<&'a [U]>,
    ranges: &'a [RowRange],
    width: usize,
    past: bool,
}

/// Elements that are copied at a time where a range has no more of them.
const FEW: usize = 8;

impl<U: Element> Dense<'_, U> {
    /// Fills `out` from range `first` on, of which so many rows are written already.
    fn run(&self, first: usize, mut skipped: usize, mut out: &mut [U]) {
        let far = stream::SECOND_LEVEL < size_of_val(out);
        let zeros = [U::default(); FEW];
        for (index, range) in self.ranges.iter().enumerate().skip(first) {
            if out.is_empty() {
                break;
            }
            let count = ((range.len - skipped) * self.width).min(out.len());
            if count <= FEW && !range.across {
                let from = match self.sources.get(range.source) {
                    Some(source) => source.few((range.start + skipped, self.width)),
                    None => Some(&zeros),
                };
                // The ranges after it write over what is too much.
                if let (Some(from), Some(to)) = (from, out.first_chunk_mut()) {
                    *to = *from;
                    out = &mut out[count..];
                    skipped = 0;
                    continue;
                }
            }
            let (here, rest) = std::mem::take(&mut out).split_at_mut(count);
            out = rest;
            if range.across {
                self.across(range.source + skipped, range.start, here);
                skipped = 0;
                continue;
            }
            let Some(source) = self.sources.get(range.source) else {
                here.fill(U::default());
                skipped = 0;
                continue;
            };
            let place = (range.start + skipped, 1);
            skipped = 0;
            if here.len() == 1 {
                here[0] = source.data[source.rows.start_of(place, 0)];
                continue;
            }
            if far
                && size_of_val(here) <= SHORT
                && let Some(later) = self.ranges.get(index + AHEAD)
                && let Some(source) = self.sources.get(later.source)
            {
                source
                    .rows
                    .ask_for(source.data, (later.start, 1), here.len());
            }
            let rows = &source.rows;
            rows.item(source.data, (place, None), here, self.width, self.past);
        }
        if self.past {
            stream::fence();
        }
    }
}

impl<U: Element> Dense<'_, U> {
    /// Fills `out` with one row of each source from `first` on.
    fn across(&self, first: usize, row: usize, out: &mut [U]) {
        if let Some(columns) = self.columns.get(first..first + out.len()) {
            for (out, column) in out.iter_mut().zip(columns) {
                *out = column[row];
            }
            return;
        }
        let sources = &self.sources[first..];
        for (at, out) in out.chunks_mut(self.width).enumerate() {
            let Source { data, rows } = &sources[at];
            let from = rows.start_of((row, 1), 0);
            if let [out] = out {
                *out = data[from];
                continue;
            }
            if let Some(later) = sources.get(at + AHEAD) {
                later.rows.ask_for(later.data, (row, 1), out.len());
            }
            stream::copy_elements(out, &data[from..][..out.len()], self.past);
        }
    }
}

/// Adds the rows of `x`, one after the other, to the rows of `out` that `ranges` name: the adjoint of [`copy_row_ranges`] of
/// one array. Rows named several times receive the sum, in order.
///
/// # Errors
/// [`KernelError`] when a range reaches beyond the rows, `x` has not as many rows as they have together, or a buffer cannot be
/// accessed. Nothing is written then.
pub fn add_row_ranges(x: Operand<'_>, ranges: &[Range<usize>], out: Operand<'_>) -> Result<()> {
    const OP: &str = "add_row_ranges";
    let rows = rows_of(OP, out)?;
    let mut total = 0;
    for (index, range) in ranges.iter().enumerate() {
        if range.end > rows || range.start > range.end {
            return Err(KernelError::RowRange {
                op: OP,
                index,
                start: range.start,
                len: range.len(),
                rows,
            });
        }
        total += range.len();
    }
    x.check_shape(OP, Argument::X, &with_rows(out.shape(), total))?;
    out.check_writable(OP)?;
    match ComputeKind::exact(out.dtype()) {
        ComputeKind::F32 => add_ranges::<f32>(OP, x, ranges, out),
        ComputeKind::F64 => add_ranges::<f64>(OP, x, ranges, out),
        // Sums of `u64` have the same bits.
        _ => add_ranges::<i64>(OP, x, ranges, out),
    }
}

fn add_ranges<C: Compute>(
    op: &'static str,
    x: Operand<'_>,
    ranges: &[Range<usize>],
    out: Operand<'_>,
) -> Result<()> {
    let copy = dense_copy(op, Argument::X, x, C::DTYPE, out)?;
    let x = stand_in(copy.as_ref(), x)?;
    onto_dense(op, (out, true), C::DTYPE, |out| {
        let guard = x.read(op, Argument::X)?;
        let mut to = door::write(op, Argument::Z, out)?;
        let task = Adding {
            x: &guard.slice::<C>()[x.layout().offset()..][..x.elements()],
            ranges,
            width: out.shape()[1..].iter().product(),
            out: &mut to.slice_mut::<C>()[out.layout().offset()..][..out.elements()],
        };
        run_for::<C, _>(Level::current(), task);
        Ok(())
    })
}

/// Dense rows to be added.
struct Adding<'a, C> {
    x: &'a [C],
    ranges: &'a [Range<usize>],
    width: usize,
    out: &'a mut [C],
}

impl<C: Compute> Task for Adding<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let mut rest = self.x;
        for range in self.ranges {
            let (from, after) = rest.split_at(range.len() * self.width);
            rest = after;
            let to = &mut self.out[range.start * self.width..][..from.len()];
            for (to, &from) in to.iter_mut().zip(from) {
                *to = to.add(from);
            }
        }
    }
}
