//! [`LoopNest`]: several operands walked together with as few and as long runs as possible.

mod runs;

use std::ops::Range;

use smallvec::{SmallVec, smallvec};

pub use self::runs::{Run, RunBlock, Runs};
use crate::{Layout, ShapeError, ShapeOperation};

/// The joint loop over operands of one shape: axes merged and reordered so that an inner run is as long as it can be.
///
/// Made from one shape and the strides of N operands (0 for broadcast axes). Axes of size 1 are dropped; the others are
/// ordered by the step of operand 0, the destination, smallest innermost; an axis the destination walks backwards is
/// turned round for all operands; neighbours that every operand walks as one are merged. What is left is an inner run,
/// described by [`inner_len`](LoopNest::inner_len) and [`inner_strides`](LoopNest::inner_strides), and outer axes walked
/// by [`runs`](LoopNest::runs), which only adds.
///
/// Offsets are relative to the offset of each operand's layout. Every position is visited exactly once, but in an order
/// of the nest's choosing; where order matters (scans, first occurrence) use [`LoopNest::in_order`].
/// Up to rank 6 and 4 operands nothing is allocated.
///
/// ```
/// use lodestride_shape::LoopNest;
///
/// // out[4, 3] = x[4, 3] + row[3], the row broadcast: one run per row.
/// let nest = LoopNest::new(&[4, 3], &[&[3, 1], &[3, 1], &[0, 1]]);
/// assert_eq!((nest.run_count(), nest.inner_len()), (4, 3));
/// assert_eq!(nest.inner_strides(), [1, 1, 1]);
/// let mut runs = nest.runs(0..nest.elements());
/// let mut starts = Vec::new();
/// while let Some(run) = runs.next_run() {
///     starts.push(run.offsets.to_vec());
/// }
/// assert_eq!(starts, [[0, 0, 0], [3, 3, 0], [6, 6, 0], [9, 9, 0]]);
///
/// // Without the row everything is one run.
/// assert_eq!(LoopNest::new(&[4, 3], &[&[3, 1], &[3, 1]]).inner_len(), 12);
/// ```
#[derive(Clone, Debug)]
pub struct LoopNest {
    // Outermost first; never empty: a scalar is one run of length 1.
    sizes: SmallVec<[usize; 6]>,
    // strides[axis * operands + operand], so the inner strides are the last row.
    strides: SmallVec<[isize; 24]>,
    // Where logical [0, ..] of the turned-round axes lies for each operand.
    start: SmallVec<[isize; 4]>,
    elements: usize,
}

impl LoopNest {
    /// Makes the nest of operands that share `shape`, one stride list per operand; operand 0 is the destination.
    ///
    /// # Panics
    /// If a stride list is not as long as the shape.
    #[must_use]
    pub fn new(shape: &[usize], strides: &[&[isize]]) -> LoopNest {
        if let Some(nest) = LoopNest::one_unit_run(shape, strides) {
            return nest;
        }
        let mut nest = LoopNest::gather(shape, strides, 0..shape.len());
        if nest.elements > 0 {
            nest.turn_round();
            nest.sort_axes();
        }
        nest.merge();
        nest
    }

    /// Makes a nest that visits the positions in C order of the given shape: axes are merged, never reordered or turned.
    ///
    /// # Panics
    /// If a stride list is not as long as the shape.
    #[must_use]
    pub fn in_order(shape: &[usize], strides: &[&[isize]]) -> LoopNest {
        let mut nest = LoopNest::gather(shape, strides, 0..shape.len());
        nest.merge();
        nest
    }

    /// Makes the nest over some axes only, at position 0 of the others, as [`LoopNest::new`] does.
    ///
    /// Reductions take two: one over the kept axes with output and input, one over the reduced axes with the input alone.
    ///
    /// # Panics
    /// If an axis does not exist or a stride list is not as long as the shape.
    #[must_use]
    pub fn over_axes(shape: &[usize], strides: &[&[isize]], axes: &[usize]) -> LoopNest {
        let mut nest = LoopNest::gather(shape, strides, axes.iter().copied());
        if nest.elements > 0 {
            nest.turn_round();
            nest.sort_axes();
        }
        nest.merge();
        nest
    }

    /// Makes a nest over the given axes in the given order, outermost first: merged, never reordered or turned round.
    ///
    /// # Panics
    /// If an axis does not exist or a stride list is not as long as the shape.
    #[must_use]
    pub fn with_axis_order(shape: &[usize], strides: &[&[isize]], axes: &[usize]) -> LoopNest {
        let mut nest = LoopNest::gather(shape, strides, axes.iter().copied());
        nest.merge();
        nest
    }

    /// Makes the nest of layouts that have the same shape; the first is the destination.
    ///
    /// # Errors
    /// [`ShapeError::Mismatch`] if the shapes differ, [`ShapeError::NoOperands`] without layouts.
    pub fn for_layouts(layouts: &[&Layout]) -> Result<LoopNest, ShapeError> {
        let operation = ShapeOperation::Zip;
        let (first, rest) = layouts
            .split_first()
            .ok_or(ShapeError::NoOperands { operation })?;
        if let Some(other) = rest.iter().find(|layout| layout.shape() != first.shape()) {
            return Err(ShapeError::mismatch(
                operation,
                first.shape(),
                other.shape(),
            ));
        }
        let strides: SmallVec<[&[isize]; 4]> = layouts
            .iter()
            .map(|layout| layout.strides().as_slice())
            .collect();
        Ok(LoopNest::new(first.shape(), &strides))
    }

    /// The commonest nest, made without sorting and merging: all operands gap-free in C order.
    fn one_unit_run(shape: &[usize], strides: &[&[isize]]) -> Option<LoopNest> {
        let mut elements = 1usize;
        for (axis, &size) in shape.iter().enumerate().rev() {
            if size == 1 {
                continue;
            }
            let step = elements.cast_signed();
            if size == 0 || !strides.iter().all(|operand| operand[axis] == step) {
                return None;
            }
            elements = elements.saturating_mul(size);
        }
        if elements == 1 || strides.iter().any(|operand| operand.len() != shape.len()) {
            return None;
        }
        Some(LoopNest {
            sizes: smallvec![elements],
            strides: smallvec![1; strides.len()],
            start: smallvec![0; strides.len()],
            elements,
        })
    }

    /// Collects the axes of more than one position, axis by axis.
    fn gather(
        shape: &[usize],
        strides: &[&[isize]],
        axes: impl ExactSizeIterator<Item = usize>,
    ) -> LoopNest {
        for operand in strides {
            assert_eq!(
                operand.len(),
                shape.len(),
                "an operand needs one stride per axis"
            );
        }
        let (operands, most) = (strides.len(), axes.len());
        let mut nest = LoopNest {
            sizes: smallvec![0; most],
            strides: smallvec![0; most * operands],
            start: smallvec![0; operands],
            elements: 1,
        };
        // Slices, not pushes: a push asks each time whether the vector lives on the heap.
        let (sizes, rows) = (&mut nest.sizes[..], &mut nest.strides[..]);
        let mut kept = 0;
        for axis in axes {
            let size = shape[axis];
            if size == 1 {
                continue;
            }
            nest.elements = nest.elements.saturating_mul(size);
            sizes[kept] = size;
            for (operand, list) in strides.iter().enumerate() {
                rows[kept * operands + operand] = list[axis];
            }
            kept += 1;
        }
        if sizes[..kept].contains(&0) {
            nest.elements = 0;
        }
        nest.sizes.truncate(kept);
        nest.strides.truncate(kept * operands);
        nest
    }

    #[inline]
    fn operands_of(&self, axis: usize) -> Range<usize> {
        let operands = self.start.len();
        axis * operands..(axis + 1) * operands
    }

    /// Makes the first operand that moves along an axis move forwards.
    fn turn_round(&mut self) {
        for axis in 0..self.sizes.len() {
            let last = (self.sizes[axis] - 1).cast_signed();
            let row = self.operands_of(axis);
            let leading = self.strides[row.clone()]
                .iter()
                .copied()
                .find(|&stride| stride != 0);
            if leading.is_some_and(|stride| stride < 0) {
                for (start, stride) in self.start.iter_mut().zip(&mut self.strides[row]) {
                    *start = start.wrapping_add(stride.wrapping_mul(last));
                    *stride = stride.wrapping_neg();
                }
            }
        }
    }

    /// Orders the axes by the steps of operand 0, then 1, and so on, longest first; a stable insertion sort, for there are
    /// only a few axes and mostly they are in order.
    fn sort_axes(&mut self) {
        let operands = self.start.len();
        for sorted in 1..self.sizes.len() {
            let mut axis = sorted;
            while axis > 0 && self.longer_steps(axis, axis - 1) {
                self.sizes.swap(axis, axis - 1);
                for operand in 0..operands {
                    self.strides
                        .swap(axis * operands + operand, (axis - 1) * operands + operand);
                }
                axis -= 1;
            }
        }
    }

    fn longer_steps(&self, a: usize, b: usize) -> bool {
        let steps = |axis: usize| {
            self.strides[self.operands_of(axis)]
                .iter()
                .map(|stride| stride.unsigned_abs())
        };
        steps(a).cmp(steps(b)).is_gt()
    }

    /// Merges an axis with the one outside it wherever every operand walks the two as one.
    fn merge(&mut self) {
        let operands = self.start.len();
        if self.elements == 0 {
            self.sizes = smallvec![0];
            self.strides = smallvec![0; operands];
            return;
        }
        if self.sizes.is_empty() {
            self.sizes.push(1);
            self.strides.resize(operands, 0);
            return;
        }
        let mut last = 0;
        for axis in 1..self.sizes.len() {
            let size = self.sizes[axis].cast_signed();
            let (outer, inner) = (self.operands_of(last), self.operands_of(axis));
            let as_one = (self.strides[outer].iter())
                .zip(&self.strides[inner.clone()])
                .all(|(&outer, &inner)| inner.checked_mul(size) == Some(outer));
            if as_one {
                self.sizes[last] *= self.sizes[axis];
            } else {
                last += 1;
                self.sizes[last] = self.sizes[axis];
            }
            self.strides.copy_within(inner, last * operands);
        }
        self.sizes.truncate(last + 1);
        self.strides.truncate((last + 1) * operands);
    }

    /// Counts the operands.
    #[must_use]
    #[inline]
    pub fn operands(&self) -> usize {
        self.start.len()
    }

    /// Counts the positions of the whole nest.
    #[must_use]
    #[inline]
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Gives the sizes of the merged axes, outermost first; the last is the inner run.
    #[must_use]
    #[inline]
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Gives the strides of all operands along one merged axis.
    ///
    /// # Panics
    /// If there is no such axis; see [`LoopNest::sizes`].
    #[must_use]
    #[inline]
    pub fn axis_strides(&self, axis: usize) -> &[isize] {
        &self.strides[self.operands_of(axis)]
    }

    /// Gives the offset of the first position of every operand; not 0 where an axis was turned round.
    #[must_use]
    #[inline]
    pub fn start(&self) -> &[isize] {
        &self.start
    }

    /// Gives the length of an inner run; 0 if there are no elements.
    #[must_use]
    #[inline]
    pub fn inner_len(&self) -> usize {
        self.sizes[self.sizes.len() - 1]
    }

    /// Gives the step of every operand inside a run.
    #[must_use]
    #[inline]
    pub fn inner_strides(&self) -> &[isize] {
        self.axis_strides(self.sizes.len() - 1)
    }

    /// Counts the full inner runs.
    #[must_use]
    pub fn run_count(&self) -> usize {
        self.elements.checked_div(self.inner_len()).unwrap_or(0)
    }

    /// Tells whether everything is one run that all operands walk with step 1.
    #[must_use]
    pub fn is_one_unit_run(&self) -> bool {
        self.sizes.len() == 1
            && (self.elements <= 1 || self.strides.iter().all(|&stride| stride == 1))
    }

    /// Divides the elements into at most `parts` ranges of nearly equal length for [`LoopNest::runs`].
    ///
    /// A bound inside a run is a multiple of `grain` from the start of the nest, or at the start of a run if runs are
    /// shorter than the grain. The ranges are disjoint, in order, and cover everything.
    pub fn split(
        &self,
        parts: usize,
        grain: usize,
    ) -> impl DoubleEndedIterator<Item = Range<usize>> + ExactSizeIterator + use<> {
        let inner = self.inner_len();
        let unit = if inner >= grain.max(1) {
            grain.max(1)
        } else {
            inner.max(1)
        };
        let units = self.elements.div_ceil(unit);
        let parts = parts.clamp(1, units.max(1));
        let elements = self.elements;
        // Bounds of the form floor(units * part / parts), without the product that could overflow.
        let bound = move |part: usize| {
            let shared = (units % parts) as u128 * part as u128 / parts as u128;
            let whole = units / parts * part + usize::try_from(shared).unwrap_or(usize::MAX);
            whole.saturating_mul(unit).min(elements)
        };
        (0..parts).map(move |part| bound(part)..bound(part + 1))
    }

    /// Starts walking the elements `range` of the nest; the first and the last run may be parts of inner runs.
    ///
    /// A range that reaches beyond the nest is clipped.
    #[must_use]
    pub fn runs(&self, range: Range<usize>) -> Runs<'_> {
        Runs::new(self, range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shape, the strides of the operands, and the sizes and strides the nest should come down to.
    struct Case {
        name: &'static str,
        shape: &'static [usize],
        strides: &'static [&'static [isize]],
        sizes: &'static [usize],
        inner: &'static [isize],
    }

    const CASES: &[Case] = &[
        Case {
            name: "scalar",
            shape: &[],
            strides: &[&[], &[]],
            sizes: &[1],
            inner: &[0, 0],
        },
        Case {
            name: "one element",
            shape: &[1, 1],
            strides: &[&[7, 9]],
            sizes: &[1],
            inner: &[0],
        },
        Case {
            name: "empty",
            shape: &[3, 0],
            strides: &[&[0, 1]],
            sizes: &[0],
            inner: &[0],
        },
        Case {
            name: "contiguous",
            shape: &[2, 3, 4],
            strides: &[&[12, 4, 1], &[12, 4, 1], &[12, 4, 1]],
            sizes: &[24],
            inner: &[1, 1, 1],
        },
        Case {
            name: "all F",
            shape: &[2, 3, 4],
            strides: &[&[1, 2, 6], &[1, 2, 6]],
            sizes: &[24],
            inner: &[1, 1],
        },
        Case {
            name: "all reversed",
            shape: &[6],
            strides: &[&[-1], &[-1]],
            sizes: &[6],
            inner: &[1, 1],
        },
        Case {
            name: "reversed source",
            shape: &[6],
            strides: &[&[1], &[-1]],
            sizes: &[6],
            inner: &[1, -1],
        },
        Case {
            name: "scalar operand",
            shape: &[2, 3],
            strides: &[&[3, 1], &[0, 0]],
            sizes: &[6],
            inner: &[1, 0],
        },
        Case {
            name: "row",
            shape: &[2, 3],
            strides: &[&[3, 1], &[0, 1]],
            sizes: &[2, 3],
            inner: &[1, 1],
        },
        Case {
            name: "column",
            shape: &[2, 3],
            strides: &[&[3, 1], &[1, 0]],
            sizes: &[2, 3],
            inner: &[1, 0],
        },
        Case {
            name: "F destination",
            shape: &[2, 3],
            strides: &[&[1, 2], &[3, 1]],
            sizes: &[3, 2],
            inner: &[1, 3],
        },
        Case {
            name: "gap",
            shape: &[2, 3, 4],
            strides: &[&[12, 4, 1], &[24, 4, 1]],
            sizes: &[2, 12],
            inner: &[1, 1],
        },
        Case {
            name: "every other",
            shape: &[4, 3],
            strides: &[&[6, 2]],
            sizes: &[12],
            inner: &[2],
        },
        Case {
            name: "size-1 axes",
            shape: &[2, 1, 3],
            strides: &[&[3, 99, 1]],
            sizes: &[6],
            inner: &[1],
        },
        Case {
            name: "broadcast batch",
            shape: &[5, 2, 3],
            strides: &[&[6, 3, 1], &[0, 3, 1]],
            sizes: &[5, 6],
            inner: &[1, 1],
        },
    ];

    #[test]
    fn nests_come_down_to_the_fewest_axes() {
        let wrong: Vec<_> = CASES
            .iter()
            .filter_map(|case| {
                let nest = LoopNest::new(case.shape, case.strides);
                let right = nest.sizes() == case.sizes && nest.inner_strides() == case.inner;
                (!right).then(|| format!("{}: {nest:?}", case.name))
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn usual_nests_need_no_heap() {
        let strides: [&[isize]; 4] = [
            &[243, 81, 27, 9, 3, 1],
            &[1, 3, 9, 27, 81, 243],
            &[0; 6],
            &[2, 0, 6, 0, 18, 0],
        ];
        let nest = LoopNest::new(&[3; 6], &strides);
        assert!(!nest.sizes.spilled() && !nest.strides.spilled() && !nest.start.spilled());
        assert!(!nest.runs(5..400).spilled());
    }

    #[test]
    fn one_long_run_is_divided_inside() {
        let nest = LoopNest::new(&[1000], &[&[1]]);
        let ranges: Vec<_> = nest.split(3, 64).collect();
        assert_eq!(ranges, [0..320, 320..640, 640..1000]);
        // Short runs are kept whole.
        let nest = LoopNest::new(&[10, 3], &[&[5, 1]]);
        let ranges: Vec<_> = nest.split(4, 64).collect();
        assert_eq!(ranges, [0..6, 6..15, 15..21, 21..30]);
        // Less work than parts.
        assert_eq!(LoopNest::new(&[2], &[&[1]]).split(8, 1).count(), 2);
        let nothing = LoopNest::new(&[0], &[&[1]]);
        assert!(nothing.split(8, 1).eq(std::iter::once(0..0)));
    }
}
