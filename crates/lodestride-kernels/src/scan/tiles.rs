//! Scans of what cannot be taken as it lies: some lines or rows at a time go through a tile. Once for all operations.

use std::marker::PhantomData;

use lodestride_buffer::WriteGuard;

use super::{Along, Plane, TILE, run};
use crate::numeric::Compute;
use crate::scan_lines::{BLOCK, Step};
use crate::scan_rows::step_all;
use crate::strided::{Dim, Source, store_lines};
use crate::tile::Scratch;

/// An operation on the lines or rows of a tile.
pub(super) struct Steps<C> {
    start: C,
    is_grouped: bool,
    /// Lines of some length, or a part of one that goes on from a value; gives the last value of that.
    along: fn(&[C], &mut [C], Way<C>) -> C,
    /// Running values step over rows, which take what they are then.
    across: fn(&mut [C], &mut [C]),
}

/// Elements of a line, the running value, and whether lines are long enough for groups.
type Way<C> = (usize, C, bool);

impl<C: Compute> Steps<C> {
    pub(super) fn of<S: Step<C>>() -> Self {
        Self {
            start: S::START,
            is_grouped: S::IS_GROUPED,
            along: along::<C, S>,
            across: across::<C, S>,
        }
    }
}

fn along<C: Compute, S: Step<C>>(x: &[C], out: &mut [C], (len, running, is_grouped): Way<C>) -> C {
    let lines = x.len() / len;
    run::<C, _>(Along::<C, S> {
        x,
        out,
        steps: if lines > 1 { (len, len) } else { (0, 0) },
        lines,
        len,
        running,
        is_grouped,
        near: true,
        step: PhantomData,
    })
}

fn across<C: Compute, S: Step<C>>(running: &mut [C], rows: &mut [C]) {
    for row in rows.chunks_exact_mut(running.len()) {
        step_all::<C, S>(running, row);
        row.copy_from_slice(running);
    }
}

impl Plane {
    /// Lines: short ones are copied to the tile together, long ones part by part.
    #[inline(never)]
    pub(super) fn along_tiles<C: Compute>(
        &self,
        steps: &Steps<C>,
        source: &Source<'_, C>,
        output: &mut WriteGuard<'_>,
    ) {
        let mut scratch = Scratch::take(2 * TILE * size_of::<C>());
        let (tile, results) = scratch.numbers::<C>(2 * TILE).split_at_mut(TILE);
        let (len, together) = (self.len.min(TILE), (TILE / self.len).max(1));
        let follow = together == 1 || self.out.0 == self.len as isize;
        let is_direct = self.out.1 == 1 && self.out_dtype == C::DTYPE && follow;
        let is_grouped = steps.is_grouped && self.len >= BLOCK;
        for line in (0..self.lines).step_by(together) {
            let lines = Dim {
                size: together.min(self.lines - line),
                stride: self.x.0,
            };
            let mut running = steps.start;
            for first in (0..self.len).step_by(len) {
                let size = len.min(self.len - first);
                let at = |start: isize, steps: (isize, isize)| {
                    start + line as isize * steps.0 + first as isize * steps.1
                };
                let (from, to) = (at(self.x_start, self.x), at(self.out_start, self.out));
                let tile = &mut tile[..lines.size * size];
                let stride = self.x.1;
                source.load_lines(from, lines, Dim { size, stride }, tile);
                let way = (size, running, is_grouped);
                if is_direct {
                    let out = &mut output.slice_mut::<C>()[to as usize..][..tile.len()];
                    running = (steps.along)(tile, out, way);
                } else {
                    let results = &mut results[..tile.len()];
                    running = (steps.along)(tile, results, way);
                    let output = (&mut *output, self.out_dtype);
                    store_lines(output, to, (self.out.0, self.out.1, size), results);
                }
            }
        }
    }

    /// Rows across the lines: several are copied to the tile, and from it, together.
    #[inline(never)]
    pub(super) fn across_tiles<C: Compute>(
        &self,
        steps: &Steps<C>,
        source: &Source<'_, C>,
        output: &mut WriteGuard<'_>,
    ) {
        let mut scratch = Scratch::take(2 * TILE * size_of::<C>());
        let (tile, running) = scratch.numbers::<C>(2 * TILE).split_at_mut(TILE);
        for first in (0..self.lines).step_by(TILE) {
            let width = TILE.min(self.lines - first);
            let x = self.x_start + first as isize * self.x.0;
            let out = self.out_start + first as isize * self.out.0;
            let running = &mut running[..width];
            running.fill(steps.start);
            let most = TILE / width;
            for row in (0..self.len).step_by(most) {
                let dim = |size, stride| Dim { size, stride };
                let rows = dim(most.min(self.len - row), self.x.1);
                let (at, tile) = (row as isize, &mut tile[..rows.size * width]);
                source.load_lines(x + at * self.x.1, rows, dim(width, self.x.0), tile);
                (steps.across)(running, tile);
                let output = (&mut *output, self.out_dtype);
                let steps = (self.out.1, self.out.0, width);
                store_lines(output, out + at * self.out.1, steps, tile);
            }
        }
    }
}
