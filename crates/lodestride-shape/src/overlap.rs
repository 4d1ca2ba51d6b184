//! Whether two layouts of one buffer touch the same bytes, and whether one layout touches an element twice.

use crate::{Layout, ShapeError};

/// How two views of one buffer relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overlap {
    /// They have no byte in common.
    Disjoint,
    /// They are the same elements at the same positions: every element may be read, then written.
    Identical,
    /// They may share bytes at different positions: a source must be copied before the destination is written.
    Partial,
}

impl Overlap {
    /// Classifies two layouts of the same buffer; see [`overlap`].
    #[must_use]
    pub fn classify(a: &Layout, a_size: usize, b: &Layout, b_size: usize) -> Overlap {
        overlap(a, a_size, b, b_size)
    }
}

/// Classifies two layouts of the same buffer, with elements of `a_size` and `b_size` bytes.
///
/// `Disjoint` and `Identical` are proofs. `Partial` is what is left: for views whose strides interleave in more than
/// simple ways it may be said although no byte is shared.
///
/// ```
/// use lodestride_shape::{Layout, Order, Overlap, overlap, s};
///
/// let matrix = Layout::contiguous([4, 6], Order::C)?;
/// let (left, right) = (matrix.index(&s![.., ..3])?, matrix.index(&s![.., 3..])?);
/// assert_eq!(overlap(&left, 4, &right, 4), Overlap::Disjoint);
/// let (even, odd) = (matrix.index(&s![.., ..;2])?, matrix.index(&s![.., 1..;2])?);
/// assert_eq!(overlap(&even, 4, &odd, 4), Overlap::Disjoint);
/// assert_eq!(overlap(&left, 4, &left, 4), Overlap::Identical);
/// assert_eq!(overlap(&left, 4, &matrix.index(&s![.., 1..4])?, 4), Overlap::Partial);
/// # Ok::<(), lodestride_shape::ShapeError>(())
/// ```
#[must_use]
pub fn overlap(a: &Layout, a_size: usize, b: &Layout, b_size: usize) -> Overlap {
    let (Some((a_low, a_high)), Some((b_low, b_high))) = (a.bounds(), b.bounds()) else {
        return Overlap::Disjoint;
    };
    // Byte positions of a valid layout fit i128 with room to spare, so nothing below can overflow.
    let byte = |element: usize, size: usize| element as u128 * size as u128;
    if byte(a_high + 1, a_size) <= byte(b_low, b_size)
        || byte(b_high + 1, b_size) <= byte(a_low, a_size)
    {
        return Overlap::Disjoint;
    }
    if a_size == b_size && same_positions(a, b) {
        return Overlap::Identical;
    }
    if interleaved(a, a_size, b, b_size) {
        return Overlap::Disjoint;
    }
    Overlap::Partial
}

fn same_positions(a: &Layout, b: &Layout) -> bool {
    let same_stride = |axis: usize| a.shape()[axis] == 1 || a.strides()[axis] == b.strides()[axis];
    a.offset() == b.offset() && a.shape() == b.shape() && (0..a.rank()).all(same_stride)
}

/// The byte steps of the axes that are really walked.
fn steps(layout: &Layout, size: usize) -> impl Iterator<Item = (u128, i128)> {
    let axes = layout.shape().iter().zip(layout.strides());
    axes.filter(|&(&count, &stride)| count > 1 && stride != 0)
        .map(move |(&count, &stride)| (count as u128, stride as i128 * size as i128))
}

/// Looks for a modulus under which the two views keep apart: modulo M every step that M divides vanishes, the others span
/// an interval, and two intervals that do not meet modulo M cannot meet at all. Candidates are the common divisor of all
/// steps (even and odd columns) and every single step (left and right halves of the rows).
fn interleaved(a: &Layout, a_size: usize, b: &Layout, b_size: usize) -> bool {
    let all = || steps(a, a_size).chain(steps(b, b_size));
    let common = all().fold(0, |g, (_, step)| gcd(g, step.unsigned_abs()));
    let apart = |modulus: u128| {
        let (a_start, a_length) = residues(a, a_size, modulus);
        let (b_start, b_length) = residues(b, b_size, modulus);
        let Ok(signed) = i128::try_from(modulus) else {
            return false;
        };
        let distance = (b_start - a_start).rem_euclid(signed).unsigned_abs();
        distance >= a_length && modulus - distance >= b_length
    };
    (common > 0 && apart(common)) || all().any(|(_, step)| apart(step.unsigned_abs()))
}

/// The start and the length in bytes of what a view spans when steps divisible by `modulus` are left out.
fn residues(layout: &Layout, size: usize, modulus: u128) -> (i128, u128) {
    let mut start = layout.offset() as i128 * size as i128;
    let mut length = size as u128;
    for (count, step) in steps(layout, size) {
        if step.unsigned_abs() % modulus != 0 {
            let span = (count - 1) * step.unsigned_abs();
            length += span;
            if step < 0 {
                start -= span.cast_signed();
            }
        }
    }
    (start, length)
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Layout {
    /// Tells whether some axis with more than one position has stride 0.
    #[must_use]
    pub fn has_broadcast_axis(&self) -> bool {
        !self.is_empty()
            && self
                .shape()
                .iter()
                .zip(self.strides())
                .any(|(&size, &stride)| size > 1 && stride == 0)
    }

    /// Tells whether two positions may share an element, as in broadcast views and overlapping windows.
    ///
    /// `false` is a proof. The answer is exact for up to two interleaving axes; beyond that it may err towards `true`.
    #[must_use]
    #[inline]
    pub fn is_self_overlapping(&self) -> bool {
        self.order().is_none() && self.repeats_elements()
    }

    /// [`Layout::is_self_overlapping`] of a layout that is not gap-free.
    fn repeats_elements(&self) -> bool {
        if self.has_broadcast_axis() {
            return true;
        }
        let mut axes: smallvec::SmallVec<[(u128, u128); 6]> = steps(self, 1)
            .map(|(count, step)| (step.unsigned_abs(), count))
            .collect();
        axes.sort_unstable();
        // A step longer than everything the smaller ones reach cannot be made good by them, so its axis takes no part in
        // any coincidence. In the usual layouts that removes all axes.
        let reach = |axes: &[(u128, u128)]| {
            axes.iter()
                .map(|&(step, count)| step * (count - 1))
                .sum::<u128>()
        };
        while let Some(&(step, _)) = axes.last() {
            if step <= reach(&axes[..axes.len() - 1]) {
                break;
            }
            axes.pop();
        }
        if axes.is_empty() {
            return false;
        }
        if let [(small, small_count), (large, large_count)] = axes[..] {
            // i * small = j * large has its smallest solution at i = large / g, j = small / g.
            let g = gcd(small, large);
            return large / g < small_count && small / g < large_count;
        }
        true
    }

    /// Checks that every position has an element of its own, as a destination must.
    ///
    /// # Errors
    /// [`ShapeError::SelfOverlapping`].
    #[inline]
    pub fn check_writable(&self) -> Result<(), ShapeError> {
        if self.is_self_overlapping() {
            return Err(ShapeError::SelfOverlapping {
                shape: Box::new(self.shape().clone()),
                strides: Box::new(self.strides().clone()),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Order, Shape, s};

    #[test]
    #[expect(clippy::too_many_lines, reason = "one table of cases")]
    fn usual_pairs_of_views_are_told_apart() {
        let matrix = Layout::contiguous([6, 8], Order::C).unwrap();
        let cube = Layout::contiguous([4, 6, 8], Order::C).unwrap();
        let view = |list: &[crate::Index]| matrix.index(list).unwrap();
        let block = |list: &[crate::Index]| cube.index(list).unwrap();
        let cases = [
            ("rows", view(&s![0]), view(&s![1]), Overlap::Disjoint),
            ("same row", view(&s![2]), view(&s![2]), Overlap::Identical),
            (
                "same row as a matrix",
                view(&s![2]),
                view(&s![2..3]),
                Overlap::Partial,
            ),
            (
                "columns",
                view(&s![.., 0]),
                view(&s![.., 7]),
                Overlap::Disjoint,
            ),
            (
                "halves of the columns",
                view(&s![.., ..4]),
                view(&s![.., 4..]),
                Overlap::Disjoint,
            ),
            (
                "quadrants",
                view(&s![..4, ..4]),
                view(&s![2.., 4..]),
                Overlap::Disjoint,
            ),
            (
                "even and odd rows",
                view(&s![..;2]),
                view(&s![1..;2]),
                Overlap::Disjoint,
            ),
            (
                "reversed even and odd",
                view(&s![.., ..;-2]),
                view(&s![.., ..;2]),
                Overlap::Disjoint,
            ),
            (
                "shifted by one",
                view(&s![1..]),
                view(&s![..-1]),
                Overlap::Partial,
            ),
            (
                "flipped",
                view(&s![..;-1]),
                matrix.clone(),
                Overlap::Partial,
            ),
            (
                "transposed",
                matrix.transpose(),
                matrix.clone(),
                Overlap::Partial,
            ),
            (
                "middle slices",
                block(&s![.., 0]),
                block(&s![.., 5]),
                Overlap::Disjoint,
            ),
            (
                "inner blocks",
                block(&s![.., ..3, ..4]),
                block(&s![.., 3.., 4..]),
                Overlap::Disjoint,
            ),
            ("empty", view(&s![3..3]), matrix.clone(), Overlap::Disjoint),
            (
                "size-1 strides",
                view(&s![..1]),
                Layout::new([1, 8], [0, 1], 0).unwrap(),
                Overlap::Identical,
            ),
        ];
        let wrong: Vec<_> = cases
            .iter()
            .filter(|(_, a, b, expected)| {
                overlap(a, 4, b, 4) != *expected || overlap(b, 4, a, 4) != *expected
            })
            .map(|(name, ..)| name)
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn element_sizes_count() {
        let first = Layout::contiguous([4], Order::C).unwrap();
        let later = first.shifted(4).unwrap();
        assert_eq!(overlap(&first, 4, &later, 4), Overlap::Disjoint);
        assert_eq!(overlap(&first, 8, &later, 4), Overlap::Partial);
        assert_eq!(overlap(&first, 4, &later, 2), Overlap::Partial);
        assert_eq!(overlap(&first, 4, &first, 8), Overlap::Partial);
    }

    #[test]
    fn views_that_repeat_elements_are_not_writable() {
        let line = Layout::contiguous([8], Order::C).unwrap();
        let cases = [
            ("plain", line.clone(), true),
            ("reversed", line.flip(0).unwrap(), true),
            (
                "broadcast",
                line.broadcast_to(&Shape::from([2, 8])).unwrap(),
                false,
            ),
            (
                "broadcast over nothing",
                line.broadcast_to(&Shape::from([0, 8])).unwrap(),
                true,
            ),
            (
                "size-1 axis of stride 0",
                line.expand_dims(0).unwrap(),
                true,
            ),
            ("overlapping windows", line.windows(0, 3, 2).unwrap(), false),
            ("touching windows", line.windows(0, 2, 2).unwrap(), true),
            (
                "interleaved without sharing",
                Layout::new([2, 3], [3, 2], 0).unwrap(),
                true,
            ),
            (
                "interleaved and sharing",
                Layout::new([3, 4], [3, 2], 0).unwrap(),
                false,
            ),
            (
                "interleaved inside plain axes",
                Layout::new([5, 2, 3], [100, 3, 2], 0).unwrap(),
                true,
            ),
        ];
        let wrong: Vec<_> = cases
            .iter()
            .filter(|(_, layout, expected)| layout.check_writable().is_ok() != *expected)
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
