//! Windows around each row that end at its segment (im2col per sequence).

use std::ops::Range;

use lodestride_buffer::{Argument, Element};
use lodestride_shape::Shape;

use crate::door;
use crate::error::{KernelError, Result};
use crate::operand::Operand;
use crate::row_copy::with_unit;
use crate::segment::with_rows;
use crate::segment_dense::{dense_copy, onto_dense, stand_in};
use crate::segment_rows::{check_offsets, rows_of};
use crate::stream;
use crate::threads;

const OP: &str = "segment_windows";

/// Which rows belong to the window of a row `t`: `t + start .. t + start + len`, as far as they are of its segment.
#[derive(Clone, Copy, Debug)]
pub struct SegmentWindow<'a> {
    /// The first row, counted from the row itself.
    pub start: isize,
    /// Number of rows.
    pub len: usize,
    /// What stands for rows outside the segment, instead of zeros: `[up + down, ..]`, `up` rows before it (as many as can be
    /// missed there, `-start` if that is positive) and `down` behind it (`start + len - 1`).
    pub padding: Option<Operand<'a>>,
}

impl SegmentWindow<'_> {
    /// A window with zeros outside.
    pub const fn new(start: isize, len: usize) -> Self {
        Self {
            start,
            len,
            padding: None,
        }
    }

    /// Rows of padding before and behind a segment.
    fn rows_outside(&self) -> (usize, usize) {
        let end = self.start.saturating_add_unsigned(self.len);
        let down = end.saturating_sub(1).max(0);
        (self.start.min(0).unsigned_abs(), down.unsigned_abs())
    }
}

/// Writes the windows of the rows `rows` of `x`.
///
/// `x` is `[all rows, ..]`; `out` is `[rows, len, ..]`, or `[rows, len * width]` for `x` of shape `[all rows, width]`. A product of
/// that form with a filter is Fluid's `sequence_conv`.
///
/// ```
/// use lodestride_buffer::{Buffer, DType};
/// use lodestride_kernels::{Operand, SegmentWindow, segment_windows};
/// use lodestride_shape::{Layout, Order};
///
/// let (x, out) = (Buffer::from_vec(vec![1i64, 2, 3])?, Buffer::zeroed(48)?);
/// let (rows, pairs) = (Layout::contiguous([3], Order::C)?, Layout::contiguous([3, 2], Order::C)?);
/// let (x, pairs) = (Operand::new(&x, &rows, DType::I64)?, Operand::new(&out, &pairs, DType::I64)?);
/// segment_windows(x, &[0, 2, 3], 0..3, SegmentWindow::new(0, 2), pairs)?;
/// assert_eq!(out.read()?.slice::<i64>(), [1, 2, 2, 0, 3, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KernelError`] when the offsets do not divide the rows, there are no such rows, a shape does not fit, or a buffer cannot be
/// accessed. Nothing is written then.
pub fn segment_windows(
    x: Operand<'_>,
    offsets: &[usize],
    rows: Range<usize>,
    window: SegmentWindow<'_>,
    out: Operand<'_>,
) -> Result<()> {
    let all = checked(x, offsets, &rows, window, out)?;
    if out.elements() == 0 {
        drop((x.read(OP, Argument::X)?, out.write(OP, Argument::Z)?));
        return Ok(());
    }
    let copies = [
        dense_copy(OP, Argument::X, x, out.dtype(), out)?,
        match window.padding {
            Some(padding) => dense_copy(OP, Argument::Y, padding, out.dtype(), out)?,
            None => None,
        },
    ];
    let x = stand_in(copies[0].as_ref(), x)?;
    let padding = match window.padding {
        Some(padding) => Some(stand_in(copies[1].as_ref(), padding)?),
        None => None,
    };
    onto_dense(OP, (out, false), out.dtype(), |out| {
        let guard = x.read(OP, Argument::X)?;
        let outside = match padding {
            Some(padding) => Some((padding.read(OP, Argument::Y)?, padding)),
            None => None,
        };
        let mut to = door::write(OP, Argument::Z, out)?;
        with_unit!(out.dtype(), U => {
            let work = Windows {
                x: &guard.slice::<U>()[x.layout().offset()..][..x.elements()],
                padding: outside.as_ref().map(|(guard, padding)| {
                    &guard.slice::<U>()[padding.layout().offset()..][..padding.elements()]
                }),
                places: Places { offsets, start: window.start, len: window.len },
                width: x.elements() / all,
            };
            let to = &mut to.slice_mut::<U>()[out.layout().offset()..][..out.elements()];
            work.run(rows.clone(), to);
        });
        Ok(())
    })
}

/// Refuses arguments that do not belong together; the number of rows of `x`.
fn checked(
    x: Operand<'_>,
    offsets: &[usize],
    rows: &Range<usize>,
    window: SegmentWindow<'_>,
    out: Operand<'_>,
) -> Result<usize> {
    let all = rows_of(OP, x)?;
    check_offsets(OP, offsets, all)?;
    if rows.end > all || rows.start > rows.end {
        return Err(KernelError::RowRange {
            op: OP,
            index: 0,
            start: rows.start,
            len: rows.len(),
            rows: all,
        });
    }
    out.check_writable(OP)?;
    check_windowed(
        OP,
        Argument::Z,
        out,
        &with_rows(x.shape(), rows.len()),
        window.len,
    )?;
    if let Some(padding) = window.padding {
        let (up, down) = window.rows_outside();
        padding.check_shape(
            OP,
            Argument::Y,
            &with_rows(x.shape(), up.saturating_add(down)),
        )?;
    }
    Ok(all)
}

/// Refuses windows of rows of the shape of `x` that are neither `[rows, len, ..]` nor, for rows of numbers, `[rows, len * width]`;
/// without gaps both are the same.
pub(crate) fn check_windowed(
    op: &'static str,
    argument: Argument,
    windows: Operand<'_>,
    x: &[usize],
    len: usize,
) -> Result<()> {
    if let ([rows, width], [found_rows, flat]) = (x, &windows.shape()[..])
        && rows == found_rows
        && Some(*flat) == len.checked_mul(*width)
    {
        return Ok(());
    }
    let mut wanted = Shape::from_slice(x);
    wanted.insert(1, len);
    windows.check_shape(op, argument, &wanted)
}

/// Where the windows of rows lie in their segments.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub(crate) offsets: &'a [usize],
    pub(crate) start: isize,
    pub(crate) len: usize,
}

impl Places<'_> {
    /// Calls `job(rows, segment, inside)` for stretches of `rows`, in order: of rows whose whole window is `inside` their segment,
    /// or of others.
    #[inline(always)]
    pub(crate) fn each_stretch(
        &self,
        rows: Range<usize>,
        mut job: impl FnMut(Range<usize>, Range<usize>, bool),
    ) {
        let mut row = rows.start;
        // The last of the segments that begin there: those before it are empty.
        let mut segment = self.offsets.partition_point(|&offset| offset <= row);
        while row < rows.end {
            let (first, end) = (self.offsets[segment - 1], self.offsets[segment]);
            let last = end.min(rows.end);
            let window_end = self.start.saturating_add_unsigned(self.len);
            let low = first.saturating_add_signed(self.start.min(0).saturating_neg());
            let high = (end + 1).saturating_add_signed(window_end.max(1).saturating_neg());
            let low = low.clamp(row, last);
            let high = high.clamp(low, last);
            for (part, inside) in [(row..low, false), (low..high, true), (high..last, false)] {
                if !part.is_empty() {
                    job(part, first..end, inside);
                }
            }
            row = last;
            segment += 1;
        }
    }

    /// The places of a row's window that lie inside its segment: `low..high`.
    #[inline(always)]
    pub(crate) fn inside(&self, row: usize, segment: &Range<usize>) -> Range<usize> {
        let first = (row as isize).saturating_add(self.start);
        let low = (segment.start as isize).saturating_sub(first);
        let low = low.clamp(0, self.len as isize);
        let high = (segment.end as isize).saturating_sub(first);
        low as usize..high.clamp(low, self.len as isize) as usize
    }
}

/// Dense rows and what lies outside their segments.
struct Windows<'a, U> {
    x: &'a [U],
    padding: Option<&'a [U]>,
    places: Places<'a>,
    width: usize,
}

impl<U: Element> Windows<'_, U> {
    /// Divides the rows among threads.
    fn run(&self, rows: Range<usize>, out: &mut [U]) {
        let window = self.places.len * self.width;
        let bytes = 2 * size_of_val(out);
        let parts = threads::parts(bytes, false);
        // Windows with something outside are written through the caches, which takes long beside those that are not.
        let outside = (self.places.offsets.len() - 1).saturating_mul(self.places.len);
        let past = stream::pays(bytes) && outside <= rows.len() / 4;
        let share = rows.len().div_ceil(parts);
        let pieces = out.chunks_mut(share * window).enumerate();
        threads::for_each_part(pieces, |(part, mut out)| {
            let first = rows.start + part * share;
            let rows = first..first + out.len() / window;
            self.places.each_stretch(rows, |rows, segment, inside| {
                if inside {
                    self.whole(rows.clone(), out, past);
                } else {
                    for (row, out) in rows.clone().zip(out.chunks_mut(window)) {
                        self.edge(row, &segment, out);
                    }
                }
                let done = rows.len() * window;
                out = std::mem::take(&mut out).split_at_mut(done).1;
            });
            if past {
                stream::fence();
            }
        });
    }

    /// Windows of which some places lie outside: padding, rows of the segment, padding.
    #[inline]
    fn edge(&self, row: usize, segment: &Range<usize>, out: &mut [U]) {
        let Places { start, len, .. } = self.places;
        let inside = self.places.inside(row, segment);
        let first = (row as isize).saturating_add(start);
        let (before, rest) = out.split_at_mut(inside.start * self.width);
        let (here, behind) = rest.split_at_mut(inside.len() * self.width);
        if !here.is_empty() {
            let from = first.saturating_add_unsigned(inside.start) as usize;
            here.copy_from_slice(&self.x[from * self.width..][..here.len()]);
        }
        let Some(padding) = self.padding else {
            before.fill(U::default());
            behind.fill(U::default());
            return;
        };
        let up = start.min(0).unsigned_abs();
        if !before.is_empty() {
            // The last row of the upper padding lies next to the segment.
            let missed = (segment.start as isize - first) as usize;
            before.copy_from_slice(&padding[(up - missed) * self.width..][..before.len()]);
        }
        if inside.end < len {
            let over = (first + inside.end as isize - segment.end as isize) as usize;
            behind.copy_from_slice(&padding[(up + over) * self.width..][..behind.len()]);
        }
    }

    /// Windows that lie inside: runs of rows, which begin a row further every time.
    #[inline]
    fn whole(&self, rows: Range<usize>, out: &mut [U], past: bool) {
        let (width, window) = (self.width, self.places.len * self.width);
        let first = rows.start.saturating_add_signed(self.places.start);
        let x = &self.x[first * width..];
        match window {
            ..=4 => overlapping::<U, 4>(x, out, (width, window), rows.len()),
            5..=8 => overlapping::<U, 8>(x, out, (width, window), rows.len()),
            9..=16 => overlapping::<U, 16>(x, out, (width, window), rows.len()),
            _ => {
                for (row, out) in out.chunks_mut(window).take(rows.len()).enumerate() {
                    stream::copy_elements(out, &x[row * width..][..window], past);
                }
            }
        }
    }
}

/// Copies short windows as whole vectors: what is too much of one is overwritten by the next, as long as both sides have room.
#[inline]
fn overlapping<U: Element, const N: usize>(
    x: &[U],
    out: &mut [U],
    (width, window): (usize, usize),
    rows: usize,
) {
    let room = |len: usize, step: usize| len.checked_sub(N).map_or(0, |len| len / step + 1);
    let vectors = rows.min(room(out.len(), window)).min(room(x.len(), width));
    for row in 0..vectors {
        out[row * window..][..N].copy_from_slice(&x[row * width..][..N]);
    }
    for row in vectors..rows {
        out[row * window..][..window].copy_from_slice(&x[row * width..][..window]);
    }
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[test]
    fn stretches_are_the_rows_whose_windows_lie_inside() {
        let offsets = [0, 0, 1, 4, 4, 9];
        for len in [0, 1, 2, 4, 20] {
            for start in [isize::MIN, -100, -9, -3, -1, 0, 1, 2, 8, 100, isize::MAX] {
                let places = Places {
                    offsets: &offsets,
                    start,
                    len,
                };
                for rows in [0..9, 2..7, 3..3, 8..9] {
                    let mut seen = Vec::new();
                    places.each_stretch(rows.clone(), |part, segment, inside| {
                        for row in part {
                            let first = row as i128 + start as i128;
                            let is_in = |place: i128| {
                                (segment.start as i128..segment.end as i128)
                                    .contains(&(first + place))
                            };
                            assert!(segment.contains(&row));
                            let wanted: Vec<usize> =
                                (0..len).filter(|&place| is_in(place as i128)).collect();
                            let found = places.inside(row, &segment);
                            assert_eq!(
                                found.clone().collect::<Vec<_>>(),
                                wanted,
                                "{start} {len} {row}"
                            );
                            assert!(!inside || wanted.len() == len, "{start} {len} {row}");
                            assert!(
                                inside || len == 0 || wanted.len() < len,
                                "{start} {len} {row}"
                            );
                            seen.push(row);
                        }
                    });
                    assert_eq!(seen, rows.collect::<Vec<_>>(), "{start} {len}");
                }
            }
        }
    }
}
