//! [`Axes`]: the axes argument of reductions and tensors along dimensions.

use std::ops::Range;

use smallvec::SmallVec;

use crate::{Shape, ShapeError};

/// Which axes an operation works on, and whether it keeps them with size 1.
///
/// Made from one axis (`0`, `-1`), several (`[0, 2]`, a slice) or all (`..`). Negative axes count from the end, repeated
/// ones count once and the order does not matter. An empty list means no axis at all. [`keep`] keeps reduced axes with
/// size 1.
///
/// ```
/// use lodestride_shape::{Axes, Shape, keep};
///
/// let shape = Shape::from([2, 3, 4]);
/// let reduced = |axes: Axes| axes.reduced_shape(&shape);
/// assert_eq!(reduced(Axes::from(0))?, Shape::from([3, 4]));
/// assert_eq!(reduced(keep([0, -1]))?, Shape::from([1, 3, 1]));
/// assert_eq!(reduced(Axes::from(..))?, Shape::from([]));
/// # Ok::<(), lodestride_shape::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Axes {
    choice: Choice,
    keep: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Choice {
    All,
    Listed(SmallVec<[isize; 6]>),
}

/// Axes checked against a rank: sorted, without repetition, counted from the front.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResolvedAxes {
    axes: SmallVec<[usize; 6]>,
    rank: usize,
    keep: bool,
}

/// Asks to keep the reduced axes with size 1: `a.sum(keep(0))` of a `[3, 4]` array has shape `[1, 4]`.
#[must_use]
pub fn keep(axes: impl Into<Axes>) -> Axes {
    Axes {
        keep: true,
        ..axes.into()
    }
}

/// Turns an axis that may count from the end into one that counts from the front.
///
/// # Errors
/// [`ShapeError::AxisOutOfRange`] outside `-rank..rank`.
///
/// ```
/// use lodestride_shape::normalize_axis;
/// assert_eq!(normalize_axis(-1, 3), Ok(2));
/// assert!(normalize_axis(3, 3).is_err());
/// ```
#[inline]
pub fn normalize_axis(axis: isize, rank: usize) -> Result<usize, ShapeError> {
    match wrap(axis, rank) {
        Some(axis) => Ok(axis),
        None => Err(ShapeError::AxisOutOfRange { axis, rank }),
    }
}

/// Checks the position of an axis that is to be inserted: `0..=rank`, or negative, where -1 puts it last.
///
/// # Errors
/// [`ShapeError::AxisOutOfRange`] outside `-(rank + 1)..=rank`; its `rank` is that of the result.
pub fn normalize_new_axis(axis: isize, rank: usize) -> Result<usize, ShapeError> {
    normalize_axis(axis, rank + 1)
}

/// Counts a negative number from `size`; `None` outside `-size..size`.
#[inline]
pub(crate) fn wrap(number: isize, size: usize) -> Option<usize> {
    let front = if number < 0 {
        size.checked_sub(number.unsigned_abs())?
    } else {
        number.unsigned_abs()
    };
    (front < size).then_some(front)
}

impl Axes {
    /// Names all axes, like `..`.
    #[must_use]
    pub fn all() -> Axes {
        Axes {
            choice: Choice::All,
            keep: false,
        }
    }

    /// Names no axis.
    #[must_use]
    pub fn none() -> Axes {
        Axes {
            choice: Choice::Listed(SmallVec::new()),
            keep: false,
        }
    }

    /// Tells whether reduced axes stay with size 1.
    #[must_use]
    pub fn keeps(&self) -> bool {
        self.keep
    }

    /// Gives the axes, if they are the first ones of a rank or the last ones, but not all and not none.
    ///
    /// ```
    /// use lodestride_shape::Axes;
    /// assert_eq!(Axes::from(0).at_an_end(3), Some(0..1));
    /// assert_eq!(Axes::from([2, -2]).at_an_end(3), Some(1..3));
    /// assert!(Axes::from(1).at_an_end(3).is_none() && Axes::from(..).at_an_end(3).is_none());
    /// ```
    #[must_use]
    #[inline]
    pub fn at_an_end(&self, rank: usize) -> Option<Range<usize>> {
        let Choice::Listed(listed) = &self.choice else {
            return None;
        };
        let run = match listed.as_slice() {
            &[axis] => {
                let axis = normalize_axis(axis, rank).ok()?;
                axis..axis + 1
            }
            _ => self.run(rank)?,
        };
        ((run.start == 0) != (run.end == rank)).then_some(run)
    }

    /// The axes, if they follow each other.
    fn run(&self, rank: usize) -> Option<Range<usize>> {
        let resolved = self.resolve(rank).ok()?;
        let (&first, &last) = resolved.axes().first().zip(resolved.axes().last())?;
        (last - first + 1 == resolved.axes().len()).then_some(first..last + 1)
    }

    /// Tells whether every axis of a rank is named, and no other.
    ///
    /// ```
    /// use lodestride_shape::Axes;
    /// assert!(Axes::from(..).are_all(3) && Axes::from([0, -1]).are_all(2));
    /// assert!(!Axes::from(0).are_all(2) && !Axes::from([0, 1]).are_all(1));
    /// ```
    #[must_use]
    #[inline]
    pub fn are_all(&self, rank: usize) -> bool {
        match &self.choice {
            Choice::All => true,
            // Too few is what most lists are.
            Choice::Listed(listed) => {
                listed.len() >= rank && self.resolve(rank).is_ok_and(|axes| axes.is_all())
            }
        }
    }

    /// Checks the axes against a rank.
    ///
    /// # Errors
    /// [`ShapeError::AxisOutOfRange`] for the first axis outside `-rank..rank`.
    pub fn resolve(&self, rank: usize) -> Result<ResolvedAxes, ShapeError> {
        let mut axes: SmallVec<[usize; 6]> = SmallVec::new();
        match &self.choice {
            Choice::All => (0..rank).for_each(|axis| axes.push(axis)),
            Choice::Listed(listed) => {
                for &axis in listed {
                    axes.push(normalize_axis(axis, rank)?);
                }
            }
        }
        if !axes.is_sorted_by(|a, b| a < b) {
            axes.sort_unstable();
            axes.dedup();
        }
        Ok(ResolvedAxes {
            axes,
            rank,
            keep: self.keep,
        })
    }

    /// Gives the shape that is left when these axes are reduced.
    ///
    /// # Errors
    /// As [`Axes::resolve`].
    pub fn reduced_shape(&self, shape: &Shape) -> Result<Shape, ShapeError> {
        Ok(self.resolve(shape.rank())?.reduced_shape(shape))
    }
}

impl ResolvedAxes {
    /// Lists the axes, ascending and each once.
    #[must_use]
    pub fn axes(&self) -> &[usize] {
        &self.axes
    }

    /// Lists the other axes, ascending.
    #[must_use]
    pub fn remaining(&self) -> SmallVec<[usize; 6]> {
        (0..self.rank)
            .filter(|&axis| !self.contains(axis))
            .collect()
    }

    /// Tells whether `axis` is one of them.
    #[must_use]
    pub fn contains(&self, axis: usize) -> bool {
        self.axes.contains(&axis)
    }

    /// Tells whether every axis of the rank is named.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.axes.len() == self.rank
    }

    /// Gives the rank the axes were checked against.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Tells whether reduced axes stay with size 1.
    #[must_use]
    pub fn keeps(&self) -> bool {
        self.keep
    }

    /// Gives the shape that is left of `shape` (of the checked rank): reduced axes removed, or of size 1 with [`keep`].
    #[must_use]
    pub fn reduced_shape(&self, shape: &[usize]) -> Shape {
        if self.keep {
            self.kept_shape(shape)
        } else {
            self.removed_shape(shape)
        }
    }

    /// Gives `shape` with the axes at size 1, whatever [`ResolvedAxes::keeps`] says.
    #[must_use]
    pub fn kept_shape(&self, shape: &[usize]) -> Shape {
        let size = |(axis, &size): (usize, &usize)| if self.contains(axis) { 1 } else { size };
        shape.iter().enumerate().map(size).collect()
    }

    /// Gives `shape` without the axes, whatever [`ResolvedAxes::keeps`] says.
    #[must_use]
    pub fn removed_shape(&self, shape: &[usize]) -> Shape {
        let stays = |(axis, &size): (usize, &usize)| (!self.contains(axis)).then_some(size);
        shape.iter().enumerate().filter_map(stays).collect()
    }

    /// Gives the sizes of the axes themselves: the shape of one reduced block.
    #[must_use]
    pub fn block_shape(&self, shape: &[usize]) -> Shape {
        self.axes.iter().map(|&axis| shape[axis]).collect()
    }
}

impl From<&Axes> for Axes {
    fn from(axes: &Axes) -> Axes {
        axes.clone()
    }
}

impl From<std::ops::RangeFull> for Axes {
    fn from(_: std::ops::RangeFull) -> Axes {
        Axes::all()
    }
}

/// The integer types users write axes in; `usize` values no rank can reach stay out of range.
macro_rules! axes_from {
    ($($int:ty),*) => {$(
        impl From<$int> for Axes {
            fn from(axis: $int) -> Axes {
                Axes::from([axis])
            }
        }
        impl<const N: usize> From<[$int; N]> for Axes {
            fn from(axes: [$int; N]) -> Axes {
                Axes::from(axes.as_slice())
            }
        }
        impl<const N: usize> From<&[$int; N]> for Axes {
            fn from(axes: &[$int; N]) -> Axes {
                Axes::from(axes.as_slice())
            }
        }
        impl From<&[$int]> for Axes {
            fn from(axes: &[$int]) -> Axes {
                let listed = axes.iter().map(|&axis| isize::try_from(axis).unwrap_or(isize::MAX));
                Axes { choice: Choice::Listed(listed.collect()), keep: false }
            }
        }
        impl From<&Vec<$int>> for Axes {
            fn from(axes: &Vec<$int>) -> Axes {
                Axes::from(axes.as_slice())
            }
        }
        impl From<Vec<$int>> for Axes {
            fn from(axes: Vec<$int>) -> Axes {
                Axes::from(axes.as_slice())
            }
        }
    )*};
}
axes_from!(i32, i64, isize, usize);
