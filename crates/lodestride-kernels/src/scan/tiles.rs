//! Scans of what cannot be taken as it lies: some lines or rows at a time go through a tile. Once for all operations.

use std::marker::PhantomData;

use lodestride_buffer::{DType, WriteGuard};

use super::{Along, Plane, TILE, run};
use crate::numeric::Compute;
use crate::scan_lines::{BLOCK, Step};
use crate::scan_rows::{Columns, step_all};
use crate::strided::{Dim, Source, store_lines};
use crate::tile::Scratch;
use crate::{spread, stream, threads};

/// An operation on the lines or rows of a tile.
pub(super) struct Steps<C> {
    start: C,
    is_grouped: bool,
    /// Lines of some length, or a part of one that goes on from a value; gives the last value of that.
    along: fn(&[C], &mut [C], Way<C>) -> C,
    /// Running values step over rows, which take what they are then.
    across: fn(&mut [C], &mut [C]),
    /// Columns of a dense input from one on, and the rows of their results.
    columns: fn(&Plane, &[C], usize, Results<'_, '_, C>),
}

/// Rows of results, one after the other.
type Results<'a, 'r, C> = &'r mut dyn Iterator<Item = &'a mut [C]>;

/// Where results of tiles go.
enum Target<'a, 'g, C> {
    /// A slice that takes them as they are.
    Dense(&'a mut [C]),
    /// A buffer of another dtype, or with gaps between elements.
    Strided(&'a mut WriteGuard<'g>, DType),
}

/// How lines are taken.
#[derive(Clone, Copy)]
struct Way<C> {
    /// Elements of a line.
    len: usize,
    lines: usize,
    /// How far it is from line to line, in the input and in the output.
    apart: (usize, usize),
    running: C,
    /// Whether lines are long enough for groups.
    is_grouped: bool,
    /// Whether they were just written.
    near: bool,
}

impl<C: Compute> Steps<C> {
    pub(super) fn of<S: Step<C>>() -> Self {
        Self {
            start: S::START,
            is_grouped: S::IS_GROUPED,
            along: along::<C, S>,
            across: across::<C, S>,
            columns: columns::<C, S>,
        }
    }
}

fn along<C: Compute, S: Step<C>>(x: &[C], out: &mut [C], way: Way<C>) -> C {
    run::<C, _>(Along::<C, S> {
        x,
        out,
        steps: way.apart,
        lines: way.lines,
        len: way.len,
        running: way.running,
        is_grouped: way.is_grouped,
        near: way.near,
        step: PhantomData,
    })
}

fn across<C: Compute, S: Step<C>>(running: &mut [C], rows: &mut [C]) {
    for row in rows.chunks_exact_mut(running.len()) {
        step_all::<C, S>(running, row);
        row.copy_from_slice(running);
    }
}

/// Some columns from one on, and the rows of their results.
fn columns<C: Compute, S: Step<C>>(
    plane: &Plane,
    data: &[C],
    first: usize,
    rows: Results<'_, '_, C>,
) {
    run::<C, _>(Columns::<C, S> {
        x: data,
        x_start: plane.x_start + first as isize,
        x_step: plane.x.1,
        rows,
        past: plane.past,
        step: PhantomData,
    });
}

impl Plane {
    /// Rows that lie as they are needed: some columns at a time, which threads share where that pays.
    #[inline(never)]
    pub(super) fn columns<C: Compute>(&self, steps: &Steps<C>, data: &[C], out: &mut [C]) {
        /// Bytes of each row that a thread takes at least: of shorter stretches, in a page each, too few are fetched ahead.
        const SHARED: usize = 1 << 13;
        /// Columns of whole lines of the caches.
        const LINES: usize = 64;
        let step = self.out.1.unsigned_abs();
        let bytes = 2 * self.lines * self.len * size_of::<C>();
        let share = self.lines.div_ceil(threads::threads());
        let is_wide = share * size_of::<C>() >= SHARED && share < self.lines;
        let is_shared = is_wide && threads::are_worth(bytes, true);
        if !is_shared {
            for first in (0..self.lines).step_by(TILE) {
                let width = TILE.min(self.lines - first);
                let rows = out.chunks_mut(step).take(self.len);
                let mut rows = rows.map(|row| &mut row[first..][..width]);
                (steps.columns)(self, data, first, &mut rows);
            }
            return;
        }
        let share = share.next_multiple_of(LINES).min(TILE);
        let mut parts: Vec<Vec<&mut [C]>> = Vec::new();
        parts.resize_with(self.lines.div_ceil(share), || Vec::with_capacity(self.len));
        for row in out.chunks_mut(step).take(self.len) {
            for (part, out) in parts.iter_mut().zip(row[..self.lines].chunks_mut(share)) {
                part.push(out);
            }
        }
        threads::for_each_part(parts.into_iter().enumerate(), |(part, rows)| {
            (steps.columns)(self, data, part * share, &mut rows.into_iter());
            if self.past {
                stream::fence();
            }
        });
    }

    /// Dense lines, by one call, or part by part in a tile where results go past the caches.
    #[inline(never)]
    pub(super) fn along_dense<C: Compute>(
        &self,
        steps: &Steps<C>,
        x: &[C],
        out: &mut [C],
        lines: usize,
    ) {
        let apart = (self.x.0.unsigned_abs(), self.out.0.unsigned_abs());
        let mut way = Way {
            len: self.len,
            lines,
            apart,
            running: steps.start,
            is_grouped: steps.is_grouped && self.len >= BLOCK,
            near: false,
        };
        if !self.past {
            (steps.along)(x, out, way);
            return;
        }
        let mut scratch = Scratch::take(TILE * size_of::<C>());
        let tile = scratch.numbers::<C>(TILE);
        way.lines = 1;
        for line in 0..lines {
            let x = &x[line * apart.0..][..self.len];
            let out = &mut out[line * apart.1..][..self.len];
            way.running = steps.start;
            for (x, out) in x.chunks(TILE).zip(out.chunks_mut(TILE)) {
                way.len = x.len();
                let tile = &mut tile[..x.len()];
                way.running = (steps.along)(x, tile, way);
                stream::copy_elements(out, tile, true);
            }
        }
        stream::fence();
    }

    /// Lines: short ones are copied to the tile together, long ones part by part. Where results are written as they come, threads
    /// share the lines if that pays.
    #[inline(never)]
    pub(super) fn along_tiles<C: Compute>(
        &self,
        steps: &Steps<C>,
        source: &Source<'_, C>,
        output: &mut WriteGuard<'_>,
    ) {
        let together = self.together();
        let follow = together == 1 || self.out.0 == self.len as isize;
        if self.out.1 != 1 || self.out_dtype != C::DTYPE || !follow {
            let to = Target::Strided(output, self.out_dtype);
            return self.along_tiles_to(steps, source, to);
        }
        let out = output.slice_mut::<C>();
        let bytes = 2 * self.lines * self.len * size_of::<C>();
        let share = self.lines.div_ceil(threads::parts(bytes, true));
        let share = share.next_multiple_of(together);
        if share >= self.lines || self.out.0 < self.len as isize {
            return self.along_tiles_to(steps, source, Target::Dense(out));
        }
        let apart = self.out.0.unsigned_abs();
        let out = &mut out[self.out_start as usize..][..(self.lines - 1) * apart + self.len];
        spread::for_each_chunk(out, share * apart, |part, out| {
            let first = part * share;
            let plane = Plane {
                x_start: self.x_start + first as isize * self.x.0,
                out_start: 0,
                lines: share.min(self.lines - first),
                ..*self
            };
            plane.along_tiles_to(steps, source, Target::Dense(out));
        });
    }

    /// How many lines a tile takes.
    fn together(&self) -> usize {
        (TILE / self.len).max(1)
    }

    #[inline(never)]
    fn along_tiles_to<C: Compute>(
        &self,
        steps: &Steps<C>,
        source: &Source<'_, C>,
        mut to: Target<'_, '_, C>,
    ) {
        let mut scratch = Scratch::take(2 * TILE * size_of::<C>());
        let (tile, results) = scratch.numbers::<C>(2 * TILE).split_at_mut(TILE);
        let (len, together) = (self.len.min(TILE), self.together());
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
                let (from, place) = (at(self.x_start, self.x), at(self.out_start, self.out));
                let tile = &mut tile[..lines.size * size];
                let stride = self.x.1;
                source.load_lines(from, lines, Dim { size, stride }, tile);
                let way = Way {
                    len: size,
                    lines: lines.size,
                    apart: if lines.size > 1 { (size, size) } else { (0, 0) },
                    running,
                    is_grouped,
                    near: true,
                };
                match &mut to {
                    Target::Dense(out) => {
                        let out = &mut out[place as usize..][..tile.len()];
                        running = (steps.along)(tile, out, way);
                    }
                    Target::Strided(output, dtype) => {
                        let results = &mut results[..tile.len()];
                        running = (steps.along)(tile, results, way);
                        let steps = (self.out.0, self.out.1, size);
                        store_lines((&mut **output, *dtype), place, steps, results);
                    }
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
