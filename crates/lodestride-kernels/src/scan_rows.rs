//! Scans across dense rows: a row of running values takes one row after the other.

use std::marker::PhantomData;

use crate::isa::{Arch, Task};
use crate::numeric::Compute;
use crate::reduce_fold::LaneRoom;
use crate::scan::TILE;
use crate::scan_lines::{SIDE, Step};
use crate::stream;

/// Rows up to that wide, and no farther apart, are taken a few columns at a time, whose running values stay in registers.
const STRIPS: usize = 64;

/// Rows of a dense input and output: running values, which stay in the nearest cache, take one row after the other.
pub(crate) struct Sweep<'a, C, S> {
    pub(crate) x: &'a [C],
    pub(crate) x_start: isize,
    pub(crate) x_step: isize,
    pub(crate) out: &'a mut [C],
    pub(crate) out_step: usize,
    pub(crate) width: usize,
    pub(crate) rows: usize,
    pub(crate) past: bool,
    pub(crate) step: PhantomData<S>,
}

impl<C: Compute, S: Step<C>> Task for Sweep<'_, C, S> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let (width, rows) = (self.width, self.rows);
        let x = |row: usize| &self.x[(self.x_start + row as isize * self.x_step) as usize..];
        // The compiler keeps integers in registers for single ones, of which there are fewer.
        let lanes = if C::VECTOR { SIDE } else { SIDE / 2 };
        let is_near = self.x_step.unsigned_abs().max(self.out_step) <= STRIPS;
        let is_narrow = width < SIDE || (C::VECTOR && width <= STRIPS && is_near);
        if S::HAS_STRIPS && (A::TUNED || !C::VECTOR) && is_narrow {
            for first in (0..width).step_by(lanes) {
                let first = first.min(width.saturating_sub(lanes));
                let (x, out) = (|row| &x(row)[first..], &mut self.out[first..]);
                if C::VECTOR {
                    strip::<C, S, SIDE>(x, (out, self.out_step), width, rows);
                } else {
                    strip::<C, S, { SIDE / 2 }>(x, (out, self.out_step), width, rows);
                }
            }
            return;
        }
        let mut room = LaneRoom::new();
        for first in (0..width).step_by(TILE) {
            let running = room.filled(TILE.min(width - first), S::START);
            for row in 0..rows {
                step_all::<C, S>(running, &x(row)[first..][..running.len()]);
                let out = &mut self.out[row * self.out_step + first..][..running.len()];
                stream::copy_elements(out, running, self.past);
            }
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
