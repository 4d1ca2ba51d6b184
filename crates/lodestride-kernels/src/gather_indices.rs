//! The indices of takes and scatters: loaded from any integer dtype, checked, and wrapped, a tile at a time.
#![expect(
    unsafe_code,
    reason = "one check for a tile of positions, not one for each"
)]

use lodestride_buffer::ReadGuard;
use std::ops::Range;

use crate::error::KernelError;
use crate::isa::{Arch, Level, Task};
use crate::operand::Operand;
use crate::stream::prefetch_after;
use crate::strided::{Dim, Dims, Source, collapse, dims_of, offset_at};

/// Indices resolved at a time.
pub(crate) const TILE: usize = 256;

/// The elements of an index array in logical C order, wrapped and checked.
pub(crate) struct Indices<'a> {
    dims: Dims,
    start: isize,
    source: &'a Source<'a, i64>,
    pub(crate) count: usize,
    /// The axis that is indexed, and its size.
    axis: usize,
    pub(crate) size: usize,
}

impl Indices<'_> {
    /// Raw values at the logical positions `first..first + out.len()`.
    fn raw(&self, first: usize, out: &mut [i64]) {
        let (inner, outer) = match self.dims.split_last() {
            Some((inner, outer)) => (*inner, outer),
            None => (Dim { size: 1, stride: 1 }, &[][..]),
        };
        let mut filled = 0;
        while filled < out.len() {
            let (run, at) = ((first + filled) / inner.size, (first + filled) % inner.size);
            let here = (inner.size - at).min(out.len() - filled);
            let offset = self.start + offset_at(outer, run) + at as isize * inner.stride;
            self.source
                .load(offset, inner.stride, &mut out[filled..filled + here]);
            filled += here;
        }
    }

    /// The same, borrowed where the indices follow each other in memory as they are.
    fn tile<'t>(&'t self, first: usize, tile: &'t mut [i64]) -> &'t [i64] {
        if let (Some(data), [Dim { stride: 1, .. }]) = (self.source.native(), &self.dims[..]) {
            return &data[self.start as usize + first..][..tile.len()];
        }
        self.raw(first, tile);
        tile
    }

    /// Refuses indices out of range.
    pub(crate) fn check(&self, op: &'static str) -> Result<(), KernelError> {
        let mut tile = [0; TILE];
        for first in (0..self.count).step_by(TILE) {
            let raw = self.tile(first, &mut tile[..TILE.min(self.count - first)]);
            let size = self.size as i64;
            let range = -size..size;
            if !any_outside(raw, &range) {
                continue;
            }
            let bad = raw.iter().position(|index| !range.contains(index));
            if let Some(at) = bad {
                return Err(KernelError::IndexOutOfRange {
                    op,
                    axis: self.axis,
                    index: raw[at],
                    position: first + at,
                    size: self.size,
                });
            }
        }
        Ok(())
    }

    /// Calls `job(position, index)` for every index, wrapped to `0..size`.
    pub(crate) fn each(&self, mut job: impl FnMut(usize, usize)) {
        self.each_tile(0..self.count, |first, tile| {
            for (at, &index) in tile.iter().enumerate() {
                job(first + at, index);
            }
        });
    }

    /// All positions.
    pub(crate) fn wrapped(&self) -> Vec<usize> {
        let mut all = vec![0; self.count];
        self.each_tile(0..self.count, |first, tile| {
            all[first..first + tile.len()].copy_from_slice(tile);
        });
        all
    }

    /// Calls `job(position, indices)` for stretches of positions, the indices wrapped to `0..size`.
    pub(crate) fn each_tile(&self, range: Range<usize>, mut job: impl FnMut(usize, &[usize])) {
        let (mut raw, mut wrapped) = ([0; TILE], [0; TILE]);
        for first in range.clone().step_by(TILE) {
            let len = TILE.min(range.end - first);
            let (raw, wrapped) = (&mut raw[..len], &mut wrapped[..len]);
            self.positions(first, raw, wrapped);
            job(first, wrapped);
        }
    }

    /// The positions that a tile of indices from one on stands for. Once for all jobs.
    #[inline(never)]
    fn positions(&self, first: usize, raw: &mut [i64], wrapped: &mut [usize]) {
        let raw = self.tile(first, raw);
        wrap(raw, self.size, wrapped);
        // While the job works on these.
        prefetch_after(raw);
    }
}

/// Indices that may count from the end as positions.
pub(crate) fn wrap(raw: &[i64], size: usize, out: &mut [usize]) {
    let size = size as i64;
    Level::current().run(Wrap { raw, size, out });
}

/// Elements `step` apart from `start` on at wrapped positions, in order; false, and nothing written, where a position is not
/// below `size`.
pub(crate) fn pick<U: Copy>(
    x: &[U],
    (start, step, size): (isize, isize, usize),
    at: &[usize],
    out: &mut [U],
) -> bool {
    if let (1, Ok(start)) = (step, usize::try_from(start)) {
        let x = &x[start..][..size];
        return Level::current().run(Pick { x, at, out });
    }
    if at.iter().any(|&index| index >= size) {
        return false;
    }
    for (to, &index) in out.iter_mut().zip(at) {
        *to = x[(start + index as isize * step) as usize];
    }
    true
}

struct Pick<'a, U> {
    x: &'a [U],
    at: &'a [usize],
    out: &'a mut [U],
}

impl<U: Copy> Task for Pick<'_, U> {
    type Output = bool;

    #[inline(always)]
    fn run<A: Arch>(self) -> bool {
        let highest = self.at.iter().fold(0, |highest, &index| highest.max(index));
        if highest >= self.x.len() {
            return self.at.is_empty();
        }
        for (to, &index) in self.out.iter_mut().zip(self.at) {
            // SAFETY: no position is above the highest, which is inside.
            *to = unsafe { *self.x.get_unchecked(index) };
        }
        true
    }
}

struct Wrap<'a> {
    raw: &'a [i64],
    size: i64,
    out: &'a mut [usize],
}

impl Task for Wrap<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        for (to, &index) in self.out.iter_mut().zip(self.raw) {
            *to = (index + if index < 0 { self.size } else { 0 }) as usize;
        }
    }
}

/// Whether a number is out of range: one answer for all, which vectors give; the place is looked for only if there is one.
pub(crate) fn any_outside(numbers: &[i64], range: &Range<i64>) -> bool {
    Level::current().run(AnyOutside { numbers, range })
}

struct AnyOutside<'a> {
    numbers: &'a [i64],
    range: &'a Range<i64>,
}

impl Task for AnyOutside<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<A: Arch>(self) -> bool {
        let Range { start, end } = *self.range;
        let wrong = |number: i64| (number < start) | (number >= end);
        (self.numbers.iter()).fold(false, |any, &number| any | wrong(number))
    }
}

/// The indices of an operand, for the length of a job.
pub(crate) fn with_indices<R>(
    guard: &ReadGuard<'_>,
    indices: Operand<'_>,
    (axis, size): (usize, usize),
    job: impl FnOnce(&Indices<'_>) -> R,
) -> R {
    let layout = indices.layout();
    job(&Indices {
        dims: collapse(dims_of(layout.shape(), layout.strides())),
        start: layout.offset() as isize,
        source: &Source::new(guard, indices.dtype()),
        count: layout.elements(),
        axis,
        size,
    })
}
