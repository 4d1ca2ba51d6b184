//! The commonest take: rows without gaps, gathered one after the other, looked up ahead, on several threads, and written
//! past the caches where they are many.

use lodestride_buffer::{DType, ReadGuard, WriteGuard};
use lodestride_shape::Order;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::gather::{Plan, dim};
use crate::gather_indices::{Indices, Picked, pick, prefetch_line};
use crate::operand::Operand;
use crate::row_copy::{Pair, with_unit};
use crate::stream;
use crate::strided::{Dims, count, offset_at};
use crate::threads;

/// Rows looked up ahead of their copy: enough to hide the latency of memory, few enough to be there still.
const AHEAD: usize = 8;

/// Positions that are kept for all that they are taken from.
const KEPT: usize = 1 << 16;

/// Lines of a row that are asked for ahead; the hardware brings what follows.
const AHEAD_LINES: usize = 16;

/// The commonest take: rows without gaps to a destination without gaps, so that the rows come one after the other.
pub(crate) struct Rows<'a> {
    indices: &'a Indices<'a>,
    /// The positions, where they are few and taken often.
    wrapped: Vec<i64>,
    /// Axes before the indexed one.
    before: Dims,
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
        let before: Dims = plan.before.iter().map(|p| dim(p.size, p.x)).collect();
        out.layout().is_contiguous(Order::C).then(|| Self {
            indices,
            wrapped: if count(&before) > 1 && indices.count <= KEPT {
                indices.wrapped()
            } else {
                Vec::new()
            },
            positions: count(&before) * indices.count,
            before,
            dtype: x.dtype(),
            row,
            x: plan.whole,
            out: out.layout().offset(),
            step: plan.step,
        })
    }

    /// Copies the rows; false where a position of a single element is out of range, others must have been checked.
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
        threads::for_each_part(out.chunks_mut(share * row).enumerate(), |(part, out)| {
            self.rows(data, part * share, out, past_caches);
        });
        true
    }

    /// Calls `job(number, first element of the slice before, indices)` for stretches of the positions from `first` on. Those of
    /// single elements may have to be wrapped.
    fn each_tile(&self, first: usize, len: usize, mut job: impl FnMut(usize, isize, &[i64])) {
        let (mut position, end) = (first, first + len);
        while position < end {
            let (outer, at) = (position / self.indices.count, position % self.indices.count);
            let here = (self.indices.count - at).min(end - position);
            let start = self.x + offset_at(&self.before, outer);
            if let Some(tile) = self.wrapped.get(at..at + here) {
                job(position - first, start, tile);
                position += here;
                continue;
            }
            let whole_rows = self.row > 1;
            self.indices
                .each_tile(at..at + here, whole_rows, |index, tile| {
                    job(position - first + index - at, start, tile);
                });
            position += here;
        }
    }

    /// Single elements; false where a position is out of range.
    fn elements<U: Picked>(&self, x: &[U], first: usize, out: &mut [U]) -> bool {
        let mut are_inside = true;
        self.each_tile(first, out.len(), |number, start, tile| {
            let of = (start, self.step, self.indices.size);
            if self.step == 1 && !self.wrapped.is_empty() {
                let next = start + self.indices.size.cast_signed();
                prefetch_line(x, next, self.indices.size, tile.len());
            }
            are_inside &= pick(x, of, tile, &mut out[number..]);
        });
        are_inside
    }

    /// Rows of several elements, as bytes.
    fn rows(&self, x: &[u8], first: usize, out: &mut [u8], past_caches: bool) {
        let row = self.row * self.dtype.size();
        self.each_tile(first, out.len() / row, |number, start, tile| {
            let from =
                |index: i64| (start + index as isize * self.step) as usize * self.dtype.size();
            for (at, &index) in tile.iter().enumerate() {
                if let Some(&next) = tile.get(at + AHEAD) {
                    let next = x.as_ptr().wrapping_add(from(next));
                    stream::prefetch_run(next, row.min(AHEAD_LINES * stream::LINE));
                }
                let to = &mut out[(number + at) * row..][..row];
                let from = &x[from(index)..][..row];
                if past_caches {
                    stream::copy(to, from);
                } else {
                    to.copy_from_slice(from);
                }
            }
        });
        if past_caches {
            stream::fence();
        }
    }
}
