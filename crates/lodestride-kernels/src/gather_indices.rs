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
use crate::stream::{LINE, prefetch_after, prefetch_run};
use crate::strided::{Dim, Dims, Source, collapse, dims_of, offset_at};

/// Indices resolved at a time.
pub(crate) const TILE: usize = 256;

/// Room for a tile, which is only cleared where it is needed.
type Room = Option<[i64; TILE]>;

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

    /// The same of so many, borrowed where the indices follow each other in memory as they are.
    fn tile<'t>(&'t self, first: usize, len: usize, room: &'t mut Room) -> &'t [i64] {
        if let (Some(data), [Dim { stride: 1, .. }]) = (self.source.native(), &self.dims[..]) {
            return &data[self.start as usize + first..][..len];
        }
        let tile = &mut room.insert([0; TILE])[..len];
        self.raw(first, tile);
        tile
    }

    /// Refuses indices out of range.
    pub(crate) fn check(&self, op: &'static str) -> Result<(), KernelError> {
        let mut room = None;
        for first in (0..self.count).step_by(TILE) {
            let raw = self.tile(first, TILE.min(self.count - first), &mut room);
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
        self.each_tile(0..self.count, true, |first, tile| {
            for (at, &index) in tile.iter().enumerate() {
                job(first + at, index as usize);
            }
        });
    }

    /// Writes all positions, and tells whether they are in range.
    pub(crate) fn wrap_all(&self, positions: &mut [i64]) -> bool {
        let mut room = None;
        for (number, wrapped) in positions.chunks_mut(TILE).enumerate() {
            let raw = self.tile(number * TILE, wrapped.len(), &mut room);
            wrap(raw, self.size, wrapped);
        }
        self.are_inside(positions)
    }

    /// Whether all these positions are in range.
    pub(crate) fn are_inside(&self, positions: &[i64]) -> bool {
        !any_outside(positions, &(0..self.size.cast_signed() as i64))
    }

    /// Calls `job(position, indices)` for stretches of positions, the indices wrapped to `0..size` if so `wished`.
    pub(crate) fn each_tile(
        &self,
        range: Range<usize>,
        wished: bool,
        mut job: impl FnMut(usize, &[i64]),
    ) {
        let mut rooms = [None, None];
        for first in range.clone().step_by(TILE) {
            let len = TILE.min(range.end - first);
            job(first, self.positions(first, len, wished, &mut rooms));
        }
    }

    /// The positions that so many indices from one on stand for, or these where they are not to be wrapped or all are positions
    /// already. Once for all jobs.
    #[inline(never)]
    fn positions<'t>(
        &'t self,
        first: usize,
        len: usize,
        wished: bool,
        [raw, wrapped]: &'t mut [Room; 2],
    ) -> &'t [i64] {
        let raw = self.tile(first, len, raw);
        // While the job works on these.
        prefetch_after(raw);
        if !wished || self.are_inside(raw) {
            return raw;
        }
        let wrapped = &mut wrapped.insert([0; TILE])[..len];
        wrap(raw, self.size, wrapped);
        wrapped
    }
}

/// Indices that may count from the end as positions; those out of range stay out of range.
pub(crate) fn wrap(raw: &[i64], size: usize, out: &mut [i64]) {
    let size = size as i64;
    Level::current().run(Wrap { raw, size, out });
}

/// Elements `step` apart from `start` on at some indices, in order; false where one is not in `-size..size`. They are wrapped
/// only where one counts from the end, so that most are looked at once before they are used. Where they are one apart, fewer
/// than `size` may lie from `start` on if no index asks for the others.
pub(crate) fn pick<U: Picked>(
    x: &[U],
    (start, step, size): (isize, isize, usize),
    at: &[i64],
    out: &mut [U],
) -> bool {
    let from = match usize::try_from(start) {
        Ok(start) if step == 1 => &x[start..x.len().min(start + size)],
        _ => &[],
    };
    let level = Level::current();
    if step == 1 && level.run(Pick { x: from, at, out }) {
        return true;
    }
    let mut wrapped = [0; TILE];
    at.chunks(TILE).zip(out.chunks_mut(TILE)).all(|(at, out)| {
        let wrapped = &mut wrapped[..at.len()];
        wrap(at, size, wrapped);
        if step == 1 {
            return level.run(Pick {
                x: from,
                at: wrapped,
                out,
            });
        }
        if any_outside(wrapped, &(0..size as i64)) {
            return false;
        }
        for (to, &index) in out.iter_mut().zip(&*wrapped) {
            *to = x[(start + index as isize * step) as usize];
        }
        true
    })
}

/// Where the elements lie that the indices of some short lines ask for.
pub(crate) struct Places {
    /// The axis that is indexed.
    indexed: Dim,
    /// From one line to the next, and the axis along a line.
    pitch: isize,
    line: Dim,
    /// What index 0 stands for in each place of as many lines as fill a tile, from the first on.
    base: [i64; TILE],
}

impl Places {
    /// Those of lines no longer than a tile.
    pub(crate) fn new(indexed: Dim, pitch: isize, line: Dim) -> Self {
        let mut base = [0; TILE];
        for (number, base) in (0..).zip(base.chunks_exact_mut(line.size)) {
            for (i, base) in (0..).zip(base) {
                *base = (number * pitch + i * line.stride) as i64;
            }
        }
        Self {
            indexed,
            pitch,
            line,
            base,
        }
    }

    /// The elements of whole lines, the first of which begins at `from`; false where an index is not in `-size..size`.
    pub(crate) fn pick<U: Picked>(
        &self,
        (x, from): (&[U], isize),
        at: &[i64],
        found: &mut [i64; TILE],
        out: &mut [U],
    ) -> bool {
        // As far as indices in range reach on both sides of the first.
        let lines = Dim {
            size: out.len() / self.line.size,
            stride: self.pitch,
        };
        let ends = [self.indexed, self.line, lines].map(|dim| (dim.size as isize - 1) * dim.stride);
        let below: isize = ends.iter().map(|&end| end.min(0)).sum();
        let above: isize = ends.iter().map(|&end| end.max(0)).sum();
        Level::current().run(PickAll {
            places: self,
            x: &x[(from + below) as usize..=(from + above) as usize],
            below: below as i64,
            at: &at[..out.len()],
            found: &mut found[..out.len()],
            out,
        })
    }

    /// Writes the places of wrapped indices from the lowest on; false where an index is out of range.
    #[inline(always)]
    fn find(&self, below: i64, at: &[i64], found: &mut [i64], times: impl Fn(i64) -> i64) -> bool {
        let size = self.indexed.size as i64;
        let mut any_outside = false;
        for ((to, &base), &index) in found.iter_mut().zip(&self.base).zip(at) {
            let index = index + if index < 0 { size } else { 0 };
            any_outside |= (index < 0) | (index >= size);
            *to = (base - below).wrapping_add(times(index));
        }
        !any_outside
    }
}

struct PickAll<'a, U> {
    places: &'a Places,
    /// All that indices in range ask for.
    x: &'a [U],
    /// The lowest place behind that of index 0 in the first.
    below: i64,
    at: &'a [i64],
    found: &'a mut [i64],
    out: &'a mut [U],
}

impl<U: Picked> Task for PickAll<'_, U> {
    type Output = bool;

    #[inline(always)]
    fn run<A: Arch>(self) -> bool {
        let step = self.places.indexed.stride as i64;
        let (places, at, found) = (self.places, self.at, self.found);
        let are_inside = if step == 1 {
            places.find(self.below, at, found, |index| index)
        } else {
            places.find(self.below, at, found, |index| index.wrapping_mul(step))
        };
        if are_inside {
            // SAFETY: indices in range ask for what lies from the lowest place to the highest, which is the slice.
            unsafe { pick_unchecked(self.x, found, self.out) };
        }
        are_inside
    }
}

/// Bytes of a line up to which the processor brings it by itself, in whatever order it is read: of a million bytes taken from
/// lines of a thousand, asking cost a tenth.
const SHORT: usize = 16 * LINE;

/// Asks for so many elements from one on of a line of `size`, which is picked from next.
#[inline(always)]
pub(crate) fn prefetch_line<U>(x: &[U], from: isize, size: usize, count: usize) {
    if size * size_of::<U>() > SHORT {
        let from = x.as_ptr().wrapping_offset(from);
        prefetch_run(from.cast(), count * size_of::<U>());
    }
}

struct Pick<'a, U> {
    x: &'a [U],
    at: &'a [i64],
    out: &'a mut [U],
}

impl<U: Picked> Task for Pick<'_, U> {
    type Output = bool;

    #[inline(always)]
    fn run<A: Arch>(self) -> bool {
        // Negative ones are among the highest.
        let highest = self
            .at
            .iter()
            .fold(0, |high, &index| high.max(index as u64));
        if highest >= self.x.len() as u64 {
            return self.at.is_empty();
        }
        // SAFETY: no position is above the highest, which is inside.
        unsafe { pick_unchecked(self.x, self.at, self.out) };
        true
    }
}

/// # Safety
/// The positions are inside `x`.
#[inline(always)]
unsafe fn pick_unchecked<U: Picked>(x: &[U], at: &[i64], out: &mut [U]) {
    // SAFETY: the caller's contract.
    let x = |index: i64| unsafe { *x.get_unchecked(index as usize) };
    let joined = if size_of::<U>() < 4 {
        0
    } else {
        at.len() / 4 * 4
    };
    let (at, last) = at.split_at(joined);
    let (out, rest) = out.split_at_mut(joined);
    let fours = out.as_chunks_mut::<4>().0.iter_mut();
    for (to, at) in fours.zip(at.as_chunks::<4>().0) {
        *to = U::joined(at.map(x));
    }
    for (to, &index) in rest.iter_mut().zip(last) {
        *to = x(index);
    }
}

/// Elements that are picked one by one and stored together: stores of single ones are what picking would wait for. A million
/// `f32` take 245 us instead of 317 from the caches.
pub(crate) trait Picked: Copy {
    /// The same, in as few registers as hold them; asked for elements of 4 bytes and more, to which it is worth it.
    #[inline(always)]
    fn joined(four: [Self; 4]) -> [Self; 4] {
        four
    }
}

impl Picked for u8 {}

impl Picked for u16 {}

impl Picked for u32 {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn joined(four: [u32; 4]) -> [u32; 4] {
        use std::arch::x86_64::_mm_set_epi32;
        let [a, b, c, d] = four.map(u32::cast_signed);
        // SAFETY: every x86-64 processor has SSE2.
        let register = unsafe { _mm_set_epi32(d, c, b, a) };
        // SAFETY: four numbers are as long as the register, and any bits are numbers.
        unsafe { std::mem::transmute(register) }
    }
}

impl Picked for u64 {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn joined(four: [u64; 4]) -> [u64; 4] {
        use std::arch::x86_64::_mm_set_epi64x;
        let [a, b, c, d] = four.map(u64::cast_signed);
        let registers = [(a, b), (c, d)].map(|(low, high)| {
            // SAFETY: as above.
            unsafe { _mm_set_epi64x(high, low) }
        });
        // SAFETY: as above, of two registers.
        unsafe { std::mem::transmute(registers) }
    }
}

struct Wrap<'a> {
    raw: &'a [i64],
    size: i64,
    out: &'a mut [i64],
}

impl Task for Wrap<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        for (to, &index) in self.out.iter_mut().zip(self.raw) {
            *to = index + if index < 0 { self.size } else { 0 };
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
