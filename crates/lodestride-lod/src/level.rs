//! One level of a LoD: shared offsets and a window on them. Knows nothing of the other levels or of rows.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::error::{LodErrorKind, Result};

/// A window on shared offsets. Slicing moves the window, cloning counts a reference; neither copies offsets.
#[derive(Clone)]
pub(crate) struct Level {
    /// Never descends inside the window; the window holds at least one entry. Every constructor proves both.
    offsets: Arc<[usize]>,
    /// First entry of the window.
    start: usize,
    /// Last entry of the window (inclusive, so `last - start` sequences).
    last: usize,
    /// The window shifted to begin at 0; made on first use, and only for a window that does not begin at 0.
    rebased: OnceLock<Arc<[usize]>>,
    /// Shortest and longest sequence, found on first use.
    extremes: OnceLock<(usize, usize)>,
}

impl Level {
    /// Proves `offsets` and wraps them; `level` is only named in errors.
    #[track_caller]
    pub(crate) fn from_offsets(offsets: Vec<usize>, level: usize) -> Result<Level> {
        match offsets.first() {
            None => return Err(LodErrorKind::NoOffsets { level }.into()),
            Some(&found) if found != 0 => {
                return Err(LodErrorKind::FirstOffset { level, found }.into());
            }
            Some(_) => {}
        }
        for (index, pair) in offsets.windows(2).enumerate() {
            if pair[1] < pair[0] {
                return Err(LodErrorKind::Descending {
                    level,
                    index: index + 1,
                    previous: pair[0],
                    found: pair[1],
                }
                .into());
            }
        }
        Ok(Level::proven(offsets))
    }

    /// Sums `lengths` up; `level` is only named in errors.
    #[track_caller]
    pub(crate) fn from_lengths(
        lengths: impl IntoIterator<Item = usize>,
        level: usize,
    ) -> Result<Level> {
        Ok(Level::proven(crate::lengths::offsets_of(lengths, level)?))
    }

    /// Wraps offsets that begin at 0 and never descend; used where the caller has just built them so.
    pub(crate) fn proven(offsets: Vec<usize>) -> Level {
        debug_assert!(offsets.first() == Some(&0) && offsets.is_sorted());
        let last = offsets.len() - 1;
        Level {
            offsets: offsets.into(),
            start: 0,
            last,
            rebased: OnceLock::new(),
            extremes: OnceLock::new(),
        }
    }

    /// Number of sequences.
    pub(crate) fn count(&self) -> usize {
        self.last - self.start
    }

    /// What the lengths add up to.
    pub(crate) fn total(&self) -> usize {
        self.offsets[self.last] - self.base()
    }

    fn base(&self) -> usize {
        self.offsets[self.start]
    }

    fn window(&self) -> &[usize] {
        &self.offsets[self.start..=self.last]
    }

    /// The offsets, beginning at 0.
    pub(crate) fn offsets(&self) -> &[usize] {
        let base = self.base();
        if base == 0 {
            return self.window();
        }
        self.rebased
            .get_or_init(|| self.window().iter().map(|&o| o - base).collect())
    }

    /// The lengths, in order; needs no rebased copy.
    pub(crate) fn lengths(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.window().windows(2).map(|pair| pair[1] - pair[0])
    }

    /// The lengths of the sequences `range`, which lies inside `0..=count()`.
    pub(crate) fn slice_lengths(
        &self,
        range: Range<usize>,
    ) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.window()[range.start..=range.end]
            .windows(2)
            .map(|pair| pair[1] - pair[0])
    }

    /// Shortest and longest length; `(0, 0)` for zero sequences.
    pub(crate) fn extremes(&self) -> (usize, usize) {
        *self.extremes.get_or_init(|| {
            let (mut low, mut high) = (usize::MAX, 0);
            for length in self.lengths() {
                low = low.min(length);
                high = high.max(length);
            }
            (low.min(high), high)
        })
    }

    /// The entry at `index` (at most `count()`), counted from the begin of the window.
    pub(crate) fn at(&self, index: usize) -> usize {
        self.window()[index] - self.base()
    }

    /// The children of sequence `index`.
    pub(crate) fn children(&self, index: usize) -> Range<usize> {
        self.at(index)..self.at(index + 1)
    }

    /// The sequences `range` of this level, without copying; `range` lies inside `0..=count()`.
    pub(crate) fn slice(&self, range: Range<usize>) -> Level {
        debug_assert!(range.start <= range.end && range.end <= self.count());
        Level {
            offsets: Arc::clone(&self.offsets),
            start: self.start + range.start,
            last: self.start + range.end,
            rebased: OnceLock::new(),
            extremes: OnceLock::new(),
        }
    }

    /// True when both windows are the same place of the same shared offsets.
    pub(crate) fn same_window(&self, other: &Level) -> bool {
        Arc::ptr_eq(&self.offsets, &other.offsets)
            && self.start == other.start
            && self.last == other.last
    }

    /// True when both look at the same shared offsets, wherever their windows are.
    pub(crate) fn shares_offsets(&self, other: &Level) -> bool {
        Arc::ptr_eq(&self.offsets, &other.offsets)
    }
}

impl PartialEq for Level {
    fn eq(&self, other: &Level) -> bool {
        self.same_window(other)
            || (self.count() == other.count() && self.lengths().eq(other.lengths()))
    }
}

impl Eq for Level {}

impl fmt::Debug for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.lengths()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_shares_and_rebases_only_on_demand() {
        let level = Level::from_lengths([3, 0, 2, 4], 0).unwrap();
        let part = level.slice(1..4);
        assert!(part.shares_offsets(&level));
        assert_eq!(
            (part.count(), part.total(), part.extremes()),
            (3, 6, (0, 4))
        );
        assert!(part.rebased.get().is_none());
        assert_eq!(part.offsets(), [0, 0, 2, 6]);
        assert_eq!(part.children(2), 2..6);
        assert_eq!(part, Level::from_lengths([0, 2, 4], 3).unwrap());
        assert_eq!(part.slice(1..1).offsets(), [0]);
        assert_eq!(part.slice(1..1).extremes(), (0, 0));
    }
}
