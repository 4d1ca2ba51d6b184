//! How reductions whose order does not matter walk: in runs or rows of the elements as they are, on as many axes as there are.

use lodestride_buffer::Element;
use smallvec::smallvec;
use std::ops::Range;

use crate::reduce_data::Runs;
use crate::reduce_plan::{Piece, Plan};
use crate::spread;
use crate::strided::{Dim, Dims, copy_lines, count, offset_at};
use crate::threads;

/// Outputs, or runs of one, that are reduced by one call.
pub(crate) const GROUP: usize = 32;
/// Elements of the part of an output that a thread takes at a time.
const PART: usize = 1 << 16;
/// Elements that do not lie side by side and are copied together.
const COPIED: usize = 1 << 10;

/// What one output is reduced from: lines, one for each position of the outer axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depth<'p> {
    pub(crate) outer: &'p [Dim],
    pub(crate) line: Dim,
}

/// Which way reductions go.
pub(crate) enum Way<'p> {
    /// Along the lines of each output.
    Along(Depth<'p>),
    /// Down rows that neighbouring outputs share: the line is of the positions in a column.
    Down(Depth<'p>),
}

/// What some runs of each output of a piece make, one value for each.
type Fold<'f> = dyn Fn(Piece, Depth<'_>) -> [i64; GROUP] + Sync + 'f;

/// Takes runs, how many there are, and the outputs they belong to: one for each, or one for all. False where that needs no more.
type EachRuns<'f, E> = dyn FnMut(Runs<'_, E>, usize, Range<usize>) -> bool + 'f;

impl Plan {
    /// Which way to go where lines have so many elements or rows so many outputs at least.
    pub(crate) fn way(&self, shortest: usize, fewest: usize) -> Option<Way<'_>> {
        let alone = (&Dim { size: 1, stride: 0 }, &[][..]);
        let (&line, outer) = self.reduced.split_last().unwrap_or(alone);
        let depth = Depth { outer, line };
        let are_lines = line.size >= shortest && (line.stride == 1 || !self.sweep);
        if are_lines {
            Some(Way::Along(depth))
        } else if self.inner.x == 1 && self.inner.size >= fewest && self.depth() > 0 {
            Some(Way::Down(depth))
        } else {
            None
        }
    }

    /// Gives `put` what `fold` makes of all pieces; where threads share the work, of parts of them, `join`ed in any order.
    #[inline(never)]
    pub(crate) fn fold_along(
        &self,
        (depth, shared): (Depth<'_>, bool),
        fold: &Fold<'_>,
        join: &dyn Fn(i64, i64) -> i64,
        put: &mut dyn FnMut(Piece, &[i64]),
    ) {
        if !shared {
            for index in 0..self.pieces(GROUP) {
                let piece = self.piece(index, GROUP);
                put(piece, &fold(piece, depth)[..piece.width]);
            }
            return;
        }
        let parts = depth.parts();
        let together = (PART / self.depth().max(1)).clamp(1, GROUP);
        let pieces = self.pieces(together);
        let found = spread::map(pieces * parts.len(), |unit| {
            let (piece, part) = (unit / parts.len(), &parts[unit % parts.len()]);
            let piece = self.piece(piece, together);
            let (x, outer, line) = (piece.x + part.0, &part.1[..], part.2);
            fold(Piece { x, ..piece }, Depth { outer, line })
        });
        for (index, parts) in found.chunks(parts.len()).enumerate() {
            let mut all = parts[0];
            for more in &parts[1..] {
                for (all, &more) in all.iter_mut().zip(more) {
                    *all = join(*all, more);
                }
            }
            let piece = self.piece(index, together);
            put(piece, &all[..piece.width]);
        }
    }

    /// Gives `put` what `fold` makes of the rows of all pieces of at most so many outputs.
    #[inline(never)]
    pub(crate) fn fold_down<T: Send + Sync>(
        &self,
        (most, shared): (usize, bool),
        fold: &(dyn Fn(Piece) -> Vec<T> + Sync),
        put: &mut dyn FnMut(Piece, &[T]),
    ) {
        let width = if shared {
            self.shared_width(true).min(most)
        } else {
            most
        };
        let pieces = self.pieces(width);
        if shared {
            let found = spread::map(pieces, |index| fold(self.piece(index, width)));
            for (index, found) in found.iter().enumerate() {
                put(self.piece(index, width), found);
            }
            return;
        }
        for piece in (0..pieces).map(|index| self.piece(index, width)) {
            put(piece, &fold(piece));
        }
    }

    /// Gives `job` all lines of the outputs of a piece, in runs of elements that lie side by side, copied to be so where they do not.
    #[inline(never)]
    pub(crate) fn each_runs<E: Element>(
        &self,
        data: &[E],
        (piece, depth): (Piece, Depth<'_>),
        job: &mut EachRuns<'_, E>,
    ) {
        let Depth { outer, line } = depth;
        if line.stride != 1 || outer.iter().any(|dim| dim.stride < 0) {
            return self.each_copied(data, (piece, depth), job);
        }
        self.each_group((piece, outer), &mut |x, lines, outputs| {
            let runs = Runs::new(data, x as usize, lines.stride as usize, line.size);
            job(runs, lines.size, outputs)
        });
    }

    /// [`each_runs`](Self::each_runs) of copies.
    #[inline(never)]
    fn each_copied<E: Element>(
        &self,
        data: &[E],
        (piece, Depth { outer, line }): (Piece, Depth<'_>),
        job: &mut EachRuns<'_, E>,
    ) {
        let mut tile = [E::default(); COPIED];
        self.each_group((piece, outer), &mut |x, lines, outputs| {
            let alone = outputs.len() == 1;
            // Some whole lines at a time, or parts of one.
            let together = (COPIED / line.size).max(1);
            for first in (0..lines.size).step_by(together) {
                let size = together.min(lines.size - first);
                let x = x + first as isize * lines.stride;
                let outputs = if alone {
                    outputs.clone()
                } else {
                    first..first + size
                };
                for at in (0..line.size).step_by(COPIED) {
                    let len = COPIED.min(line.size - at);
                    let tile = &mut tile[..size * len];
                    let part = Dim { size: len, ..line };
                    let x = x + at as isize * line.stride;
                    copy_lines(data, (x, Dim { size, ..lines }, part), tile);
                    if !job(Runs::new(tile, 0, len, len), size, outputs.clone()) {
                        if alone {
                            return false;
                        }
                        break;
                    }
                }
            }
            true
        });
    }

    /// Calls `job(first element, lines, outputs)` for all lines of the outputs of a piece, some at a time: for one of each output, or
    /// for several of one.
    fn each_group(
        &self,
        (piece, outer): (Piece, &[Dim]),
        job: &mut dyn FnMut(isize, Dim, Range<usize>) -> bool,
    ) {
        let (size, stride) = (piece.width, self.inner.x);
        let Some((&lines, outer)) = outer.split_last().filter(|(lines, _)| lines.size > size)
        else {
            for at in 0..count(outer) {
                let x = piece.x + offset_at(outer, at);
                if !job(x, Dim { size, stride }, 0..size) && size == 1 {
                    break;
                }
            }
            return;
        };
        for output in 0..size {
            let x = piece.x + output as isize * stride;
            'output: for at in 0..count(outer) {
                let x = x + offset_at(outer, at);
                for first in (0..lines.size).step_by(GROUP) {
                    let size = GROUP.min(lines.size - first);
                    let x = x + first as isize * lines.stride;
                    if !job(x, Dim { size, ..lines }, output..output + 1) {
                        break 'output;
                    }
                }
            }
        }
    }
}

impl Depth<'_> {
    /// Where each of the lines begins, the first of which does so at `x`.
    pub(crate) fn starts(self, x: isize) -> impl Iterator<Item = isize> {
        (0..count(self.outer)).map(move |at| x + offset_at(self.outer, at))
    }

    /// What threads share of the depth of an output: offset, outer axes and line of each part.
    pub(crate) fn parts(self) -> Vec<(isize, Dims, Dim)> {
        let Self { outer, line } = self;
        if count(outer) * line.size <= PART {
            return vec![(0, outer.into(), line)];
        }
        let Some((&first, rest)) = outer.split_first() else {
            let part = |at: usize| {
                let size = PART.min(line.size - at);
                (at as isize * line.stride, Dims::new(), Dim { size, ..line })
            };
            return (0..line.size).step_by(PART).map(part).collect();
        };
        let share = (count(rest) * line.size).max(1);
        let together = PART
            .div_ceil(share)
            .min(first.size.div_ceil(threads::threads()))
            .max(1);
        let part = |at: usize| {
            let size = together.min(first.size - at);
            let mut outer: Dims = smallvec![Dim { size, ..first }];
            outer.extend_from_slice(rest);
            (at as isize * first.stride, outer, line)
        };
        (0..first.size).step_by(together).map(part).collect()
    }
}
