//! Runs and rows in one slice, as reductions fold them, and how the processor reads them best.

use crate::across::{FEW, Lines};
use crate::isa::Arch;
use crate::numeric::Compute;
use crate::square::{block_size, transpose};
use crate::stream;

/// Elements of a run from which on its lanes may stay in memory meanwhile.
const MANY_CHUNKS: usize = 1024;

/// Several runs of equal length in one slice: `data[start + index * step..][..len]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs<'a, C> {
    pub(crate) data: &'a [C],
    pub(crate) start: usize,
    pub(crate) step: usize,
    pub(crate) len: usize,
}

impl<'a, C> Runs<'a, C> {
    pub(crate) fn new(data: &'a [C], start: usize, step: usize, len: usize) -> Self {
        Self {
            data,
            start,
            step,
            len,
        }
    }

    /// A single run.
    pub(crate) fn one(run: &'a [C]) -> Self {
        Self::new(run, 0, 0, run.len())
    }

    #[inline(always)]
    pub(crate) fn run(&self, index: usize) -> &'a [C] {
        &self.data[self.start + index * self.step..][..self.len]
    }

    /// Whether the runs are one long stream from beyond the second-level cache, which the processor wants to be woken for.
    #[inline(always)]
    pub(crate) fn are_far(&self) -> bool {
        self.step <= self.len && stream::is_far(size_of_val(self.data))
    }

    /// Whether the runs are long, come from beyond the last cache, and are best read as [several streams](stream::are_best).
    #[inline(always)]
    pub(crate) fn are_streams(&self) -> bool {
        self.len >= MANY_CHUNKS && stream::pays(size_of_val(self.data)) && stream::are_best()
    }

    /// The same runs without the first `index`.
    #[inline(always)]
    pub(crate) fn from(self, index: usize) -> Self {
        let start = self.start + index * self.step;
        Self { start, ..self }
    }
}

impl<C: Compute> Runs<'_, C> {
    /// Copies the first `count` runs to the columns of a tile whose rows are `pitch` apart; rows of the tile that runs are too
    /// short for may take anything.
    #[inline(always)]
    pub(crate) fn transposed<A: Arch>(&self, count: usize, tile: &mut [C], pitch: usize) {
        let from = &self.data[self.start..];
        // Runs shorter than a block are read as long as one where what follows them is in the slice too.
        let block = block_size::<C>().1;
        let is_there = block * pitch <= tile.len()
            && count.saturating_sub(1) * self.step + block <= from.len();
        let len = if is_there {
            self.len.max(block)
        } else {
            self.len
        };
        transpose::<A, C>((from, self.step), (tile, pitch), (count, len));
    }
}

/// The last `count` elements of a run, then `fill`: whole vectors, without a loop over the elements.
#[inline(always)]
pub(crate) fn last_chunk<C: Copy>(run: &[C], count: usize, fill: C) -> [C; FEW] {
    let mut pair = Lines([fill; 2 * FEW]);
    match run.last_chunk::<FEW>() {
        Some(last) => pair.0[..FEW].copy_from_slice(last),
        None => pair.0[FEW - run.len()..FEW].copy_from_slice(run),
    }
    std::hint::black_box(&mut pair);
    let mut chunk = [fill; FEW];
    chunk.copy_from_slice(&pair.0[FEW - count..][..FEW]);
    chunk
}

/// Bytes of a row from which on four rows are streams of their own to every processor, while accumulators as long leave L1 for
/// each row: sums of 4096x4096 took 5.6 ms by fours and 7.0 ms in pieces of 1024 columns in `f64`, in `f32`, whose rows are half
/// as long, 3.0 ms by fours and 2.7 ms in turn.
pub(crate) const LONG_ROW: usize = 32 << 10;

/// Several rows of equal width in one slice: `data[offsets[r]..][..width]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a, C> {
    pub(crate) data: &'a [C],
    pub(crate) offsets: &'a [usize],
    pub(crate) width: usize,
}

impl<'a, C: Copy> Rows<'a, C> {
    /// The rows from `first` on in turn; where they are one long stream, asks for what follows.
    #[inline(always)]
    pub(crate) fn in_turn(self, first: usize) -> impl Iterator<Item = &'a [C]> {
        let is_stream = matches!(self.offsets, &[a, b, ..] if b.wrapping_sub(a) == self.width);
        let far = is_stream && stream::is_far(size_of_val(self.data));
        (first..self.offsets.len()).map(move |index| {
            let row = self.row(index);
            if far {
                stream::wake(row.as_ptr().cast(), size_of_val(row));
            }
            row
        })
    }

    #[inline(always)]
    pub(crate) fn row(&self, index: usize) -> &'a [C] {
        &self.data[self.offsets[index]..][..self.width]
    }

    /// How often four rows are folded in one pass, which spares accumulator traffic. Never for rows of large data that lie
    /// within a page of each other: to the processor four of them at a time look like one jumping stream, which it does not
    /// fetch ahead. One that needs no [waking](stream::wakes) is best left to a single stream wherever rows form one, unless
    /// they are long: maxima of 16384x1024 `f64` took 7.3 ms by fours and 4.9 ms in turn. For one that
    /// [follows several](stream::follows_several) streams, always.
    #[inline(always)]
    pub(crate) fn quads(&self) -> usize {
        self.quads_from(LONG_ROW)
    }

    /// [`quads`](Self::quads) where rows of so many bytes count as long.
    #[inline(always)]
    pub(crate) fn quads_from(&self, long: usize) -> usize {
        match self.offsets {
            [first, second, ..]
                if size_of_val(self.data) > stream::SECOND_LEVEL && !stream::follows_several() =>
            {
                let gap = second.abs_diff(*first);
                let is_near = gap * size_of::<C>() < stream::PAGE;
                let is_short = gap * size_of::<C>() < long;
                let is_stream = gap == self.width && is_short && !stream::wakes();
                if is_near || is_stream {
                    0
                } else {
                    self.offsets.len() / 4
                }
            }
            offsets => offsets.len() / 4,
        }
    }
}
