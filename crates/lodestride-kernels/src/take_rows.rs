//! The commonest take: rows without gaps, gathered one after the other, looked up ahead, on several threads, and written
//! past the caches where they are many. Short lines are taken together, several as if they were one.
#![expect(
    unsafe_code,
    reason = "rows of a few bytes are copied at positions that were looked at before"
)]

use lodestride_buffer::{DType, ReadGuard, WriteGuard};
use lodestride_shape::Order;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::gather::{Plan, dim};
use crate::gather_indices::{Indices, Picked, TILE, pick, prefetch_line};
use crate::operand::Operand;
use crate::row_copy::{Pair, with_unit};
use crate::short_rows::{LONGEST, ShortRows};
use crate::stream;
use crate::strided::{Dim, Dims, count, offset_at};
use crate::threads;

/// Rows looked up ahead of their copy: enough to hide the latency of memory, few enough to be there still.
const AHEAD: usize = 8;

/// Short rows that are asked for ahead together.
const ASKED: usize = 32;

/// Indices whose positions are kept for all that they are taken from.
const KEPT: usize = 1 << 16;

/// Lines of a row that are asked for ahead; the hardware brings what follows.
const AHEAD_LINES: usize = 16;

/// The commonest take: rows without gaps to a destination without gaps, so that the rows come one after the other.
pub(crate) struct Rows<'a> {
    indices: &'a Indices<'a>,
    /// Where the indices are few, and taken from several lines, which are joined then.
    lines: Option<Lines>,
    /// Axes before the indexed one.
    before: Dims,
    /// What is as wide as an element, which a short row may be one of.
    dtype: DType,
    /// Elements of a row.
    row: usize,
    /// First element of the source and of the destination.
    x: isize,
    out: usize,
    step: isize,
    positions: usize,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(
        plan: &Plan,
        x: Operand<'_>,
        indices: &'a Indices<'a>,
        out: Operand<'_>,
    ) -> Option<Self> {
        let row = match plan.after[..] {
            [] => 1,
            [Pair { size, x: 1, .. }] => size,
            _ => return None,
        };
        if !out.layout().is_contiguous(Order::C) {
            return None;
        }
        let (size, out) = (x.dtype().size(), out.layout().offset());
        let mut before: Dims = plan.before.iter().map(|p| dim(p.size, p.x)).collect();
        let mut rows = (plan.whole, plan.step, row, x.dtype(), out);
        let whole = row as isize;
        let are_whole = |step: isize| step % whole == 0;
        if row > 1
            && let Some(unit) = unit_of(row * size)
            && [plan.whole, plan.step, out as isize]
                .into_iter()
                .all(are_whole)
            && before.iter().all(|dim| are_whole(dim.stride))
        {
            before.iter_mut().for_each(|dim| dim.stride /= whole);
            rows = (plan.whole / whole, plan.step / whole, 1, unit, out / row);
        }
        let (x, step, row, dtype, out) = rows;
        let lines = match before[..] {
            [.., line] if indices.count <= KEPT => Lines::new(indices, step, line),
            _ => None,
        };
        Some(Self {
            indices,
            lines,
            positions: count(&before) * indices.count,
            before,
            dtype,
            row,
            x,
            out,
            step,
        })
    }

    /// Copies the rows; false where a position is out of range.
    pub(crate) fn take(&self, x: &ReadGuard<'_>, out: &mut WriteGuard<'_>) -> bool {
        let bytes = self.positions * self.row * self.dtype.size();
        let parts = threads::parts(2 * bytes, true);
        let share = self.positions.div_ceil(parts);
        if self.row == 1 {
            with_unit!(self.dtype, U => {
                let data = x.slice::<U>();
                let out = &mut out.slice_mut::<U>()[self.out..][..self.positions];
                let wrong = AtomicBool::new(false);
                threads::for_each_part(out.chunks_mut(share).enumerate(), |(part, out)| {
                    if !self.elements(data, part * share, out) {
                        wrong.store(true, Ordering::Relaxed);
                    }
                });
                return !wrong.into_inner();
            });
        }
        let data = x.bytes();
        let row = self.row * self.dtype.size();
        let out = &mut out.bytes_mut()[self.out * self.dtype.size()..][..bytes];
        // Parts of lines between rows would have to be read first.
        let whole_lines =
            row.is_multiple_of(stream::LINE) && out.as_ptr().addr().is_multiple_of(stream::LINE);
        let past_caches = stream::pays(2 * bytes) && whole_lines;
        let wrong = AtomicBool::new(false);
        threads::for_each_part(out.chunks_mut(share * row).enumerate(), |(part, out)| {
            if !self.rows(data, part * share, out, past_caches) {
                wrong.store(true, Ordering::Relaxed);
            }
        });
        !wrong.into_inner()
    }

    /// Calls `job(number, stretch)` for stretches of the positions from `first` on. Those of single elements may have to be
    /// wrapped, and those of rows are inside: false where one of these is not, which is left out.
    fn each_stretch(
        &self,
        first: usize,
        len: usize,
        mut job: impl FnMut(usize, Stretch<'_>),
    ) -> bool {
        let (indices, end) = (self.indices, first + len);
        let mut are_inside = true;
        let mut position = first;
        while position < end {
            let (outer, at) = (position / indices.count, position % indices.count);
            let number = position - first;
            let start = self.x + offset_at(&self.before, outer);
            let here = match &self.lines {
                Some(lines) => {
                    let left = lines.left(outer) * indices.count - at;
                    let here = left.min(lines.offsets.len() - at).min(end - position);
                    let stretch = Stretch {
                        start: start + lines.lowest,
                        step: 1,
                        size: lines.reach,
                        at: &lines.offsets[at..][..here],
                    };
                    job(number, stretch);
                    here
                }
                None => {
                    let here = (indices.count - at).min(end - position);
                    indices.each_tile(at..at + here, self.row > 1, |index, at_here| {
                        let stretch = Stretch {
                            start,
                            step: self.step,
                            size: indices.size,
                            at: at_here,
                        };
                        if self.row == 1 || indices.are_inside(at_here) {
                            job(number + index - at, stretch);
                        } else {
                            are_inside = false;
                        }
                    });
                    here
                }
            };
            position += here;
        }
        are_inside
    }

    /// Single elements; false where a position is out of range.
    fn elements<U: Picked>(&self, x: &[U], first: usize, out: &mut [U]) -> bool {
        let mut are_inside = true;
        let line = self.indices.size;
        let is_single = self.lines.as_ref().is_some_and(|lines| lines.joined == 1);
        self.each_stretch(first, out.len(), |number, stretch| {
            let Stretch {
                start,
                step,
                size,
                at,
            } = stretch;
            if is_single && self.step == 1 {
                prefetch_line(x, start + line.cast_signed(), line, at.len());
            }
            are_inside &= pick(x, (start, step, size), at, &mut out[number..]);
        });
        are_inside
    }

    /// Rows of several elements, as bytes; false where a position is out of range.
    fn rows(&self, x: &[u8], first: usize, out: &mut [u8], past_caches: bool) -> bool {
        let row = self.row * self.dtype.size();
        let is_near = x.len() <= stream::SECOND_LEVEL;
        let are_inside = self.each_stretch(first, out.len() / row, |number, stretch| {
            let Stretch {
                start, step, at, ..
            } = stretch;
            let from = |index: i64| (start + index as isize * step) as usize * self.dtype.size();
            let out = &mut out[number * row..][..at.len() * row];
            if row <= LONGEST && !past_caches {
                let together = if is_near { at.len() } else { ASKED };
                let groups = at.chunks(together).zip(out.chunks_mut(together * row));
                for (group, (at_here, out)) in groups.enumerate() {
                    if !is_near {
                        for &next in at.iter().skip((group + 1) * ASKED).take(ASKED) {
                            stream::prefetch_run(x.as_ptr().wrapping_add(from(next)), row);
                        }
                    }
                    let rows = ShortRows {
                        count: at_here.len(),
                        bytes: row,
                        to: out.as_mut_ptr(),
                        pitch: row.cast_signed(),
                        from: |place: usize| x.as_ptr().wrapping_add(from(at_here[place])),
                    };
                    // SAFETY: the positions are inside the axis, so the rows are elements of an operand, all of which lie in
                    // its buffer; their places are the slice, side by side.
                    unsafe { rows.copy() };
                }
                return;
            }
            for (place, (to, &index)) in out.chunks_exact_mut(row).zip(at).enumerate() {
                if let Some(&next) = at.get(place + AHEAD) {
                    let next = x.as_ptr().wrapping_add(from(next));
                    stream::prefetch_run(next, row.min(AHEAD_LINES * stream::LINE));
                }
                let from = &x[from(index)..][..row];
                if past_caches {
                    stream::copy(to, from);
                } else {
                    stream::copy_elements(to, from, false);
                }
            }
        });
        if past_caches {
            stream::fence();
        }
        are_inside
    }
}

/// An integer of so many bytes.
fn unit_of(bytes: usize) -> Option<DType> {
    match bytes {
        2 => Some(DType::U16),
        4 => Some(DType::U32),
        8 => Some(DType::U64),
        _ => None,
    }
}

/// Positions that elements or rows are taken at.
struct Stretch<'a> {
    /// The element that they are counted from, and the step from one to the next.
    start: isize,
    step: isize,
    /// All are lower, unless they are yet to be looked at.
    size: usize,
    at: &'a [i64],
}

/// What is taken from several lines that lie evenly apart, as if they were one: offsets instead of positions, so that it costs
/// no more to take little from many lines than much from a few.
struct Lines {
    /// The offsets of what is taken from so many lines, from the lowest place on, all of which are below the reach.
    offsets: Vec<i64>,
    joined: usize,
    /// The lowest place of a line, from its start on.
    lowest: isize,
    reach: usize,
    /// The lines that lie evenly apart.
    count: usize,
}

impl Lines {
    /// Nothing where an index is out of range. There is a line, and an index.
    fn new(indices: &Indices<'_>, step: isize, line: Dim) -> Option<Self> {
        // Of lines that go backwards the lowest is another one where few are left.
        let joined = match line.stride {
            0.. => (TILE / indices.count).clamp(1, line.size),
            _ => 1,
        };
        let mut offsets = vec![0; joined * indices.count];
        let (first, others) = offsets.split_at_mut(indices.count);
        if !indices.wrap_all(first) {
            return None;
        }
        let last = (indices.size.cast_signed() - 1) * step;
        let lowest = last.min(0);
        if step != 1 {
            (first.iter_mut()).for_each(|at| *at = *at * step as i64 - lowest as i64);
        }
        for (number, offsets) in (1..).zip(others.chunks_exact_mut(indices.count)) {
            let apart = number * line.stride as i64;
            for (to, at) in offsets.iter_mut().zip(&*first) {
                *to = at + apart;
            }
        }
        Some(Self {
            offsets,
            joined,
            lowest,
            reach: last.unsigned_abs() + (joined - 1) * line.stride.unsigned_abs() + 1,
            count: line.size,
        })
    }

    /// The lines that lie evenly from one on.
    fn left(&self, line: usize) -> usize {
        self.count - line % self.count
    }
}
