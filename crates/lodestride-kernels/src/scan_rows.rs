//! Scans across dense rows: one row after the other is added to what the one before it came to.

use std::marker::PhantomData;

use crate::isa::{Arch, Task};
use crate::numeric::Compute;
use crate::reduce_fold::LaneRoom;
use crate::scan_lines::{SIDE, Step};
use crate::stream;

/// Rows up to that wide, and no farther apart, are taken a few columns at a time, whose running values stay in registers.
const STRIPS: usize = 64;

/// Narrow rows of a dense input and output, some columns at a time.
pub(crate) struct Strips<'a, C, S> {
    pub(crate) x: &'a [C],
    pub(crate) x_start: isize,
    pub(crate) x_step: isize,
    pub(crate) out: &'a mut [C],
    pub(crate) out_step: usize,
    pub(crate) width: usize,
    pub(crate) rows: usize,
    pub(crate) step: PhantomData<S>,
}

impl<C: Compute, S: Step<C>> Task for Strips<'_, C, S> {
    /// Whether they are narrow, and done.
    type Output = bool;

    #[inline(always)]
    fn run<A: Arch>(self) -> bool {
        let (width, rows) = (self.width, self.rows);
        let x = |row: usize| &self.x[(self.x_start + row as isize * self.x_step) as usize..];
        // The compiler keeps integers in registers for single ones, of which there are fewer.
        let lanes = if C::VECTOR { SIDE } else { SIDE / 2 };
        let is_near = self.x_step.unsigned_abs().max(self.out_step) <= STRIPS;
        let is_narrow = width < SIDE || (C::VECTOR && width <= STRIPS && is_near);
        let is_apt = S::HAS_STRIPS && (A::TUNED || !C::VECTOR);
        if !is_apt || !is_narrow {
            return false;
        }
        for first in (0..width).step_by(lanes) {
            let first = first.min(width.saturating_sub(lanes));
            let (x, out) = (|row| &x(row)[first..], &mut self.out[first..]);
            if C::VECTOR {
                strip::<C, S, SIDE>(x, (out, self.out_step), width, rows);
            } else {
                strip::<C, S, { SIDE / 2 }>(x, (out, self.out_step), width, rows);
            }
        }
        true
    }
}

/// Some columns of a dense input, and the rows of as many of the output: each is stepped from the one before it, which is in the
/// nearest cache.
pub(crate) struct Columns<'a, 'r, C, S> {
    pub(crate) x: &'r [C],
    pub(crate) x_start: isize,
    pub(crate) x_step: isize,
    pub(crate) rows: &'r mut dyn Iterator<Item = &'a mut [C]>,
    /// Whether results are written past the caches: running values are kept then.
    pub(crate) past: bool,
    pub(crate) step: PhantomData<S>,
}

impl<C: Compute, S: Step<C>> Task for Columns<'_, '_, C, S> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let mut from = self.x_start;
        let mut next = |len: usize| {
            let x = &self.x[from as usize..][..len];
            from += self.x_step;
            x
        };
        let Some(first) = self.rows.next() else {
            return;
        };
        if self.past {
            let mut room = LaneRoom::<_>::new();
            let running = room.filled(first.len(), S::START);
            for out in std::iter::once(first).chain(self.rows) {
                step_all::<C, S>(running, next(out.len()));
                stream::copy_elements(out, running, true);
            }
            return;
        }
        let x = next(first.len());
        for (out, &value) in first.iter_mut().zip(x) {
            *out = S::step(S::START, value);
        }
        let mut before: &[C] = first;
        for out in self.rows {
            let x = next(out.len());
            for ((out, &running), &value) in out.iter_mut().zip(before).zip(x) {
                *out = S::step(running, value);
            }
            before = out;
        }
    }
}

/// `N` columns of results. Where rows have less, which then follow each other without gaps, what is written beyond a row
/// becomes what it is when the next one is written.
#[inline(always)]
fn strip<'a, C: Compute, S: Step<C>, const N: usize>(
    x: impl Fn(usize) -> &'a [C],
    (out, step): (&mut [C], usize),
    width: usize,
    rows: usize,
) {
    let width = width.min(N);
    let end = (rows - 1) * step + width;
    let out = &mut out[..end];
    let mut running = [S::START; N];
    let mut row = 0;
    while row < rows {
        let places = out[row * step..].first_chunk_mut::<N>();
        let (Some(x), Some(places)) = (x(row).first_chunk::<N>(), places) else {
            break;
        };
        step_all::<C, S>(&mut running, x);
        *places = running;
        row += 1;
    }
    // The last rows, if narrow, in memory of their own: what is indexed does not stay in registers.
    let mut last = running;
    for row in row..rows {
        step_all::<C, S>(&mut last[..width], &x(row)[..width]);
        out[row * step..][..width].copy_from_slice(&last[..width]);
    }
}

/// Steps every running value.
#[inline(always)]
pub(crate) fn step_all<C: Compute, S: Step<C>>(running: &mut [C], x: &[C]) {
    for (running, &value) in running.iter_mut().zip(x) {
        *running = S::step(*running, value);
    }
}
