//! Walking a nest run by run, or by blocks of runs that follow each other along one axis.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use super::LoopNest;

/// One inner run: where each operand begins and how many elements follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run<'a> {
    /// The first element of every operand, relative to its layout's offset.
    pub offsets: &'a [isize],
    /// The number of elements; the inner strides lead from one to the next.
    pub len: usize,
    /// How many elements of the nest come before the run.
    pub position: usize,
}

/// Inner runs of one length, each the same step behind the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunBlock<'a> {
    /// The first of them.
    pub first: Run<'a>,
    /// How many runs there are, at least one.
    pub count: usize,
    /// What leads every operand from the start of a run to that of the next; empty where the nest has no other axis than the
    /// inner one.
    pub steps: &'a [isize],
}

/// Walks the runs of a range of a [`LoopNest`]; call [`Runs::next_run`] until it gives `None`.
#[derive(Clone, Debug)]
pub struct Runs<'a> {
    nest: &'a LoopNest,
    counters: SmallVec<[usize; 6]>,
    // The start of the run given last; of the first run before the first call.
    offsets: SmallVec<[isize; 4]>,
    // How far into its inner run the run given last began.
    skip: usize,
    // How many runs of the block given last follow its first.
    behind: usize,
    started: bool,
    position: usize,
    end: usize,
}

impl Runs<'_> {
    /// Starts in front of the first run of a range, which is clipped.
    pub(super) fn new(nest: &LoopNest, range: Range<usize>) -> Runs<'_> {
        let end = range.end.min(nest.elements);
        let position = range.start.min(end);
        let mut counters: SmallVec<[usize; 6]> = smallvec![0; nest.sizes.len() - 1];
        let mut offsets = SmallVec::from_slice(&nest.start);
        let inner = nest.inner_len().max(1);
        let (mut rest, skip) = (position / inner, position % inner);
        if rest > 0 {
            for axis in (0..counters.len()).rev() {
                counters[axis] = rest % nest.sizes[axis];
                rest /= nest.sizes[axis];
                step(&mut offsets, nest.axis_strides(axis), counters[axis]);
            }
        }
        step(&mut offsets, nest.inner_strides(), skip);
        Runs {
            nest,
            counters,
            offsets,
            skip,
            behind: 0,
            started: false,
            position,
            end,
        }
    }

    #[cfg(test)]
    pub(super) fn spilled(&self) -> bool {
        self.counters.spilled() || self.offsets.spilled()
    }

    /// Gives the next run, `None` after the last.
    #[inline]
    pub fn next_run(&mut self) -> Option<Run<'_>> {
        if self.position >= self.end {
            return None;
        }
        // Moving on is left to the next call, so that the run can lend the offsets without a copy.
        if self.started {
            self.advance();
        }
        self.started = true;
        let position = self.position;
        let len = (self.nest.inner_len() - self.skip).min(self.end - position);
        self.position += len;
        Some(Run {
            offsets: &self.offsets,
            len,
            position,
        })
    }

    /// Gives the next run and those that follow it along the axis outside the inner one; `None` after the last. A run that is cut
    /// by the range is a block of its own.
    ///
    /// ```
    /// use lodestride_shape::LoopNest;
    ///
    /// // Rows of 3 out of rows of 5, in two planes.
    /// let nest = LoopNest::new(&[2, 4, 3], &[&[40, 5, 1]]);
    /// let mut runs = nest.runs(1..24);
    /// let mut blocks = Vec::new();
    /// while let Some(block) = runs.next_block() {
    ///     blocks.push((block.first.offsets[0], block.first.len, block.count));
    /// }
    /// assert_eq!(blocks, [(1, 2, 1), (5, 3, 3), (40, 3, 4)]);
    /// ```
    #[inline]
    pub fn next_block(&mut self) -> Option<RunBlock<'_>> {
        let nest = self.nest;
        let outer = nest.sizes.len().checked_sub(2);
        let inner = nest.inner_len();
        let first = self.next_run()?;
        let (len, position) = (first.len, first.position);
        let mut count = 1;
        let mut steps: &[isize] = &[];
        if let Some(outer) = outer {
            steps = nest.axis_strides(outer);
            if len == inner {
                let along = nest.sizes[outer] - self.counters[outer];
                count = along.min((self.end - position) / inner);
            }
        }
        self.behind = count - 1;
        self.position = position + count * len;
        Some(RunBlock {
            first: Run {
                offsets: &self.offsets,
                len,
                position,
            },
            count,
            steps,
        })
    }

    /// Moves to the start of the next inner run: additions only, for every outer axis that moves or wraps.
    #[inline]
    fn advance(&mut self) {
        let (offsets, counters) = (&mut self.offsets[..], &mut self.counters[..]);
        if self.skip > 0 {
            for (at, &stride) in offsets.iter_mut().zip(self.nest.inner_strides()) {
                *at -= stride * self.skip.cast_signed();
            }
            self.skip = 0;
        }
        if self.behind > 0 {
            let outer = counters.len() - 1;
            counters[outer] += self.behind;
            step(offsets, self.nest.axis_strides(outer), self.behind);
            self.behind = 0;
        }
        let (sizes, rows) = (&self.nest.sizes[..], &self.nest.strides[..]);
        let operands = offsets.len();
        let mut row = counters.len() * operands;
        for (counter, &size) in counters.iter_mut().zip(sizes).rev() {
            row -= operands;
            let strides = &rows[row..row + operands];
            *counter += 1;
            if *counter < size {
                for (at, &stride) in offsets.iter_mut().zip(strides) {
                    *at += stride;
                }
                return;
            }
            *counter = 0;
            let back = (size - 1).cast_signed();
            for (at, &stride) in offsets.iter_mut().zip(strides) {
                *at -= stride * back;
            }
        }
    }
}

/// Moves every operand `count` positions along an axis.
fn step(offsets: &mut [isize], strides: &[isize], count: usize) {
    for (at, &stride) in offsets.iter_mut().zip(strides) {
        *at += stride * count.cast_signed();
    }
}
