//! [`Index`]: one entry of an index list, the [`s!`](crate::s) macro, ND4J's index functions, and applying a list to a
//! layout.

use std::fmt;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::{Layout, Shape, ShapeError, Strides};

/// What is taken from one axis; lists of them are written with [`s!`](crate::s) or ND4J's functions [`point`],
/// [`interval`], [`all`], [`new_axis`].
///
/// NumPy's rules: negative numbers count from the end; interval bounds outside the axis are clipped, so an interval can be
/// empty but never wrong; a point outside the axis is an error; an axis that no index mentions is taken whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// One position; the axis disappears.
    Point(isize),
    /// Every `step`-th position from `start` up to but without `end`; the axis stays, even with one position or none.
    ///
    /// A missing bound is the end of the axis on that side, as seen in walking direction.
    Interval {
        /// The first position.
        start: Option<isize>,
        /// The position to stop before.
        end: Option<isize>,
        /// The distance between positions; negative walks backwards.
        step: isize,
    },
    /// The whole axis.
    All,
    /// Inserts an axis of size 1 here.
    NewAxis,
    /// Stands for as many whole axes as are left; at most once in a list.
    Ellipsis,
}

/// Takes one position; the axis disappears. Negative positions count from the end.
#[must_use]
pub const fn point(i: isize) -> Index {
    Index::Point(i)
}

/// Takes the positions from `start` up to but without `end`. Negative bounds count from the end.
#[must_use]
pub const fn interval(start: isize, end: isize) -> Index {
    interval_step(start, 1, end)
}

/// Takes every `step`-th position from `start` up to but without `end`, in ND4J's argument order.
///
/// ```
/// use lodestride_shape::{Layout, Order, interval_step};
///
/// let layout = Layout::contiguous([8], Order::C)?.index(&[interval_step(3, 2, 6)])?;
/// assert_eq!((layout.shape().as_slice(), layout.offset()), ([2].as_slice(), 3)); // 3 and 5
/// # Ok::<(), lodestride_shape::ShapeError>(())
/// ```
#[must_use]
pub const fn interval_step(start: isize, step: isize, end: isize) -> Index {
    Index::Interval {
        start: Some(start),
        end: Some(end),
        step,
    }
}

/// Takes the whole axis.
#[must_use]
pub const fn all() -> Index {
    Index::All
}

/// Inserts an axis of size 1.
#[must_use]
pub const fn new_axis() -> Index {
    Index::NewAxis
}

/// Writes an index list the way NumPy does; the value is an array `[Index; N]`.
///
/// | written | means |
/// |---|---|
/// | `2`, `-1`, `i` | one position, [`Index::Point`] |
/// | `..`, `1..`, `..-1`, `1..3`, `1..=3` | an interval; `..` is the whole axis |
/// | `..;2`, `1..9;3`, `..;-1`, `5..1;-2` | the same with a step; NumPy's `::2`, `1:9:3`, `::-1`, `5:1:-2` |
/// | `NewAxis` | a new axis of size 1 |
/// | `...` or `Ellipsis` | all axes that are left |
///
/// Any expression that is an [`Index`], an integer (`i32`, `i64`, `isize`, `usize`) or a range of them may stand in a
/// place.
///
/// ```
/// use lodestride_shape::{Layout, Order, s};
///
/// let layout = Layout::contiguous([4, 5, 6], Order::C)?;
/// let view = layout.index(&s![1..3, NewAxis, ..., -1])?;
/// assert_eq!(view.shape().as_slice(), [2, 1, 5]);
/// let view = layout.index(&s![0, ..;-2, ..-1])?;
/// assert_eq!(view.shape().as_slice(), [3, 5]);
/// # Ok::<(), lodestride_shape::ShapeError>(())
/// ```
#[macro_export]
macro_rules! s {
    // A list of any type that is made from an `Index` and from what may stand in its place.
    (@list $entry:ty, [$($done:expr,)*]) => {{
        #[allow(clippy::reversed_empty_ranges, reason = "1..-1 only looks reversed: -1 counts from the end")]
        let list: [$entry; _] = [$($done,)*];
        list
    }};
    (@list $entry:ty, [$($done:expr,)*] ... $(, $($rest:tt)*)?) => {
        $crate::s!(@list $entry, [$($done,)* $crate::Index::Ellipsis.into(),] $($($rest)*)?)
    };
    (@list $entry:ty, [$($done:expr,)*] Ellipsis $(, $($rest:tt)*)?) => {
        $crate::s!(@list $entry, [$($done,)* $crate::Index::Ellipsis.into(),] $($($rest)*)?)
    };
    (@list $entry:ty, [$($done:expr,)*] NewAxis $(, $($rest:tt)*)?) => {
        $crate::s!(@list $entry, [$($done,)* $crate::Index::NewAxis.into(),] $($($rest)*)?)
    };
    (@list $entry:ty, [$($done:expr,)*] $range:expr; $step:expr $(, $($rest:tt)*)?) => {
        $crate::s!(@list $entry, [$($done,)* $crate::Span::from($range).step_by($step).into(),] $($($rest)*)?)
    };
    (@list $entry:ty, [$($done:expr,)*] $index:expr $(, $($rest:tt)*)?) => {
        $crate::s!(@list $entry, [$($done,)* <$entry>::from($index),] $($($rest)*)?)
    };
    ($($list:tt)*) => { $crate::s!(@list $crate::Index, [] $($list)*) };
}

/// The bounds of an interval whose step is not yet known; Rust's ranges convert to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    start: Option<isize>,
    end: Option<isize>,
    inclusive: bool,
}

impl Span {
    /// Makes the interval with the given step.
    ///
    /// With a negative step the first bound is where the walk begins, as in NumPy: `5..1` by -2 is 5, 3. An inclusive end
    /// belongs to the interval in both directions.
    #[must_use]
    pub const fn step_by(self, step: isize) -> Index {
        let end = match self.end {
            // One past -1 is not 0 but the end of the axis; the same one before 0.
            Some(-1) if self.inclusive && step >= 0 => None,
            Some(0) if self.inclusive && step < 0 => None,
            Some(end) if self.inclusive && step >= 0 => Some(end.saturating_add(1)),
            Some(end) if self.inclusive => Some(end.saturating_sub(1)),
            end => end,
        };
        Index::Interval {
            start: self.start,
            end,
            step,
        }
    }
}

impl From<RangeFull> for Span {
    fn from(_: RangeFull) -> Span {
        Span {
            start: None,
            end: None,
            inclusive: false,
        }
    }
}

impl From<RangeFull> for Index {
    fn from(_: RangeFull) -> Index {
        Index::All
    }
}

/// Positions no axis can have saturate: they stay out of range.
macro_rules! index_from {
    ($($int:ty),*) => {$(
        impl From<$int> for Index {
            fn from(i: $int) -> Index {
                Index::Point(isize::try_from(i).unwrap_or(isize::MAX))
            }
        }
        index_from!(@range $int, Range<$int>, r => Some(r.start), Some(r.end), false);
        index_from!(@range $int, RangeFrom<$int>, r => Some(r.start), None, false);
        index_from!(@range $int, RangeTo<$int>, r => None, Some(r.end), false);
        index_from!(@range $int, RangeInclusive<$int>, r => Some(*r.start()), Some(*r.end()), true);
        index_from!(@range $int, RangeToInclusive<$int>, r => None, Some(r.end), true);
    )*};
    (@range $int:ty, $range:ty, $r:ident => $start:expr, $end:expr, $inclusive:expr) => {
        impl From<$range> for Span {
            fn from($r: $range) -> Span {
                let bound = |bound: Option<$int>| bound.map(|i| isize::try_from(i).unwrap_or(isize::MAX));
                Span { start: bound($start), end: bound($end), inclusive: $inclusive }
            }
        }
        impl From<$range> for Index {
            fn from(range: $range) -> Index {
                Span::from(range).step_by(1)
            }
        }
    };
}
index_from!(i32, i64, isize, usize);

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |f: &mut fmt::Formatter<'_>, bound: Option<isize>| match bound {
            Some(i) => write!(f, "{i}"),
            None => Ok(()),
        };
        match *self {
            Index::Point(i) => write!(f, "{i}"),
            Index::Interval { start, end, step } => {
                bound(f, start)?;
                f.write_str("..")?;
                bound(f, end)?;
                if step == 1 {
                    Ok(())
                } else {
                    write!(f, ";{step}")
                }
            }
            Index::All => f.write_str(".."),
            Index::NewAxis => f.write_str("NewAxis"),
            Index::Ellipsis => f.write_str("..."),
        }
    }
}

impl Index {
    /// Tells whether the index uses up an axis of the array.
    const fn consumes_axis(self) -> bool {
        !matches!(self, Index::NewAxis | Index::Ellipsis)
    }
}

/// Clips an interval to an axis: the first position and how many there are. The first position is only meaningful if
/// there are any. `step` is not 0.
fn clip(size: usize, start: Option<isize>, end: Option<isize>, step: isize) -> (usize, usize) {
    let size = size.cast_signed();
    // Where a bound comes to lie: 0..=size walking forwards, -1..size walking backwards.
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let place = |bound: isize| {
        let from_front = if bound < 0 {
            bound.saturating_add(size)
        } else {
            bound
        };
        from_front.clamp(low, high)
    };
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let (start, end) = (start.map_or(first, place), end.map_or(last, place));
    let distance = if step > 0 { end - start } else { start - end };
    if distance <= 0 {
        return (0, 0);
    }
    (
        start.unsigned_abs(),
        distance.unsigned_abs().div_ceil(step.unsigned_abs()),
    )
}

/// A layout under construction: the axes done so far, and the next axis of the source.
struct Builder<'a> {
    source: &'a Layout,
    axis: usize,
    shape: Shape,
    strides: Strides,
    offset: isize,
}

impl Builder<'_> {
    fn whole_axes(&mut self, count: usize) {
        for _ in 0..count {
            self.shape.push(self.source.shape()[self.axis]);
            self.strides.push(self.source.strides()[self.axis]);
            self.axis += 1;
        }
    }

    /// All axes that the rest of the list leaves.
    fn ellipsis(&mut self, rest: &[Index]) -> Result<(), ShapeError> {
        if rest.contains(&Index::Ellipsis) {
            return Err(ShapeError::RepeatedEllipsis { count: 2 });
        }
        let taken = self.axis + rest.iter().filter(|index| index.consumes_axis()).count();
        match self.source.rank().checked_sub(taken) {
            Some(left) => self.whole_axes(left),
            None => return Err(self.source.too_many(taken)),
        }
        Ok(())
    }

    fn take(&mut self, index: Index) -> Result<(), ShapeError> {
        let axis = self.axis;
        if axis == self.source.rank() && index.consumes_axis() {
            return Err(self.source.too_many(axis + 1));
        }
        match index {
            Index::All => self.whole_axes(1),
            Index::NewAxis => {
                self.shape.push(1);
                self.strides.push(0);
            }
            Index::Point(index) => {
                let size = self.source.shape()[axis];
                let Some(i) = crate::axes::wrap(index, size) else {
                    return Err(ShapeError::IndexOutOfRange { index, axis, size });
                };
                self.advance(i, axis);
                self.axis += 1;
            }
            Index::Interval { step: 0, .. } => return Err(ShapeError::ZeroStep { axis }),
            Index::Interval { start, end, step } => {
                let (first, count) = clip(self.source.shape()[axis], start, end, step);
                if count > 0 {
                    self.advance(first, axis);
                }
                let stride = self.source.strides()[axis];
                self.shape.push(count);
                // With fewer than two positions the step is never taken and the product could be out of range.
                self.strides.push(if count > 1 {
                    stride.wrapping_mul(step)
                } else {
                    stride
                });
                self.axis += 1;
            }
            // Expanded by the caller.
            Index::Ellipsis => {}
        }
        Ok(())
    }

    fn advance(&mut self, positions: usize, axis: usize) {
        let distance = positions
            .cast_signed()
            .wrapping_mul(self.source.strides()[axis]);
        self.offset = self.offset.wrapping_add(distance);
    }
}

impl Layout {
    /// Takes a sub-array: always a view. Fewer indices than axes take the remaining axes whole.
    ///
    /// # Errors
    /// [`ShapeError::IndexOutOfRange`] names index, axis and size; [`ShapeError::TooManyIndices`],
    /// [`ShapeError::RepeatedEllipsis`], [`ShapeError::ZeroStep`].
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order, all, interval, point, s};
    ///
    /// let layout = Layout::contiguous([4, 3, 3], Order::C)?;
    /// let block = layout.index(&[point(0), interval(1, 3), all()])?;
    /// assert_eq!(block, layout.index(&s![0, 1..3, ..])?);
    /// assert_eq!(block.shape().as_slice(), [2, 3]);
    /// let error = layout.index(&s![4]).unwrap_err();
    /// assert_eq!(error.to_string(), "index 4 is out of range for axis 0 of size 4: use -4 to 3");
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    pub fn index(&self, indices: &[Index]) -> Result<Layout, ShapeError> {
        let mut builder = Builder {
            source: self,
            axis: 0,
            shape: Shape::scalar(),
            strides: Strides::default(),
            offset: self.offset().cast_signed(),
        };
        for (place, &index) in indices.iter().enumerate() {
            let taken = match index {
                Index::Ellipsis => builder.ellipsis(&indices[place + 1..]),
                _ => builder.take(index),
            };
            if let Err(error) = taken {
                return Err(self.list_error(indices).unwrap_or(error));
            }
        }
        builder.whole_axes(self.rank() - builder.axis);
        Ok(Layout::derived(
            builder.shape,
            builder.strides,
            builder.offset,
        ))
    }

    /// What is wrong with an index list as a whole, whatever its entries are.
    #[cold]
    fn list_error(&self, indices: &[Index]) -> Option<ShapeError> {
        let is_ellipsis = |&&index: &&Index| index == Index::Ellipsis;
        let count = indices.iter().filter(is_ellipsis).count();
        if count > 1 {
            return Some(ShapeError::RepeatedEllipsis { count });
        }
        let given = indices.iter().filter(|index| index.consumes_axis()).count();
        (given > self.rank()).then(|| self.too_many(given))
    }

    #[cold]
    fn too_many(&self, given: usize) -> ShapeError {
        ShapeError::TooManyIndices {
            given,
            shape: Box::new(self.shape().clone()),
        }
    }
}
