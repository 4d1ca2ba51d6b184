//! Where the elements lie that an index list with index arrays picks, and where the indexed axes go in the result: NumPy's
//! rules, shapes only. The positions themselves are in `picked`.

use lodestride_shape::{Index, Layout, Shape, ShapeError, Strides, broadcast_shapes};
use smallvec::SmallVec;

/// One entry of an index list in which arrays of positions may stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlanEntry {
    /// A point, an interval, a new axis, an ellipsis.
    Basic(Index),
    /// An array of positions of this shape along one axis.
    Positions(Shape),
    /// A single truth value: picks everything or nothing, along a new axis of size 1 or 0.
    Truth(bool),
}

impl PlanEntry {
    /// What the entry does to the axes of a view, if index arrays take their axes whole; `None` for entries without an axis.
    fn as_basic(&self) -> Option<Index> {
        match self {
            PlanEntry::Basic(index) => Some(*index),
            PlanEntry::Positions(_) => Some(Index::All),
            PlanEntry::Truth(_) => None,
        }
    }

    /// Tells whether the entry counts as an index array when these are looked for side by side; points do.
    fn is_advanced(&self) -> bool {
        !matches!(
            self,
            PlanEntry::Basic(
                Index::Interval { .. } | Index::All | Index::NewAxis | Index::Ellipsis
            )
        )
    }

    /// How many axes of the array the entry uses up, and how many it gives a view of.
    fn axes(&self, ellipsis: usize) -> (usize, usize) {
        match self {
            PlanEntry::Truth(_) => (0, 0),
            PlanEntry::Basic(Index::NewAxis) => (0, 1),
            PlanEntry::Basic(Index::Point(_)) => (1, 0),
            PlanEntry::Basic(Index::Ellipsis) => (ellipsis, ellipsis),
            PlanEntry::Basic(_) | PlanEntry::Positions(_) => (1, 1),
        }
    }
}

/// An axis that an array of positions picks from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PickedAxis {
    /// The axis of the array.
    pub(crate) axis: usize,
    /// Its size: positions are `-size..size`.
    pub(crate) size: usize,
    /// What one step along it adds to the joint position.
    pub(crate) weight: isize,
}

/// An index list with index arrays, worked out for a layout.
///
/// The axes that index arrays pick from become one: axis [`at`](Self::at) of [`layout`](Self::layout). An element's joint
/// position there is [`base`](Self::base) plus, for each picked axis, its position times its weight. Taking the joint
/// positions of all elements along that axis gives the result.
///
/// Several index arrays broadcast together. Where they stand side by side (points count as index arrays of one position),
/// the axes of their common shape take that place in the result, else they come first.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    layout: Layout,
    at: usize,
    picked: SmallVec<[PickedAxis; 4]>,
    base: isize,
    indexed: Shape,
}

impl Plan {
    /// Works out an index list.
    pub(crate) fn new(layout: &Layout, entries: &[PlanEntry]) -> Result<Plan, ShapeError> {
        let (view, found) = basic_part(layout, entries)?;
        let mut indexed = Shape::scalar();
        for entry in entries {
            indexed = match entry {
                PlanEntry::Positions(shape) => broadcast_shapes(&indexed, shape)?,
                PlanEntry::Truth(truth) => {
                    broadcast_shapes(&indexed, &Shape::from(usize::from(*truth)))?
                }
                PlanEntry::Basic(_) => continue,
            };
        }
        let picked = found.iter().map(|&(axis, _)| {
            let (size, weight) = (layout.shape()[axis], layout.strides()[axis]);
            PickedAxis { axis, size, weight }
        });
        let taken: SmallVec<[usize; 4]> = found.iter().map(|&(_, axis)| axis).collect();
        let (picked, ellipsis) = (picked.collect(), left_to_ellipsis(layout, entries));
        let at = place_of_indexed(entries, ellipsis);
        Plan::join(&view, &taken, picked, at, indexed)
    }

    /// Makes one axis of those at `taken` of a view, and puts it in its place among the others.
    fn join(
        view: &Layout,
        taken: &[usize],
        mut picked: SmallVec<[PickedAxis; 4]>,
        at: usize,
        indexed: Shape,
    ) -> Result<Plan, ShapeError> {
        let joint = Joint::of(&mut picked);
        let (mut shape, mut strides) = (Shape::scalar(), Strides::default());
        for axis in (0..view.rank()).filter(|axis| !taken.contains(axis)) {
            shape.push(view.shape()[axis]);
            strides.push(view.strides()[axis]);
        }
        shape.insert(at, joint.size);
        strides.insert(at, joint.stride);
        // A layout without elements has no place of its own.
        let offset = if view.is_empty() {
            0
        } else {
            view.offset().cast_signed() - joint.base * joint.stride
        };
        let offset = usize::try_from(offset).unwrap_or(0);
        Ok(Plan {
            layout: Layout::new(shape, strides, offset)?,
            at,
            picked,
            base: joint.base,
            indexed,
        })
    }

    /// The array with the picked axes as one. It overlaps itself where several picked axes do not lie one within the other,
    /// which is why [`is_exact`](Self::is_exact) is to be asked before writing.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The axis of [`layout`](Self::layout) and of the result at which the index arrays are.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The axes that index arrays pick from, in the order of the list.
    pub(crate) fn picked(&self) -> &[PickedAxis] {
        &self.picked
    }

    /// The joint position of the picked axes' first elements.
    pub(crate) fn base(&self) -> isize {
        self.base
    }

    /// The common shape of the index arrays.
    pub(crate) fn indexed(&self) -> &Shape {
        &self.indexed
    }

    /// The shape of the result.
    pub(crate) fn shape(&self) -> Shape {
        let sizes = self.layout.shape().as_slice();
        let (before, after) = (&sizes[..self.at], &sizes[self.at + 1..]);
        before
            .iter()
            .chain(self.indexed.iter())
            .chain(after)
            .copied()
            .collect()
    }

    /// Tells whether each element of the array appears once in [`layout`](Self::layout).
    pub(crate) fn is_exact(&self) -> bool {
        self.layout.check_writable().is_ok()
    }
}

/// Pairs of an axis of the array and one of the view.
pub(crate) type AxisPairs = SmallVec<[(usize, usize); 4]>;

/// The view that a list makes if index arrays take their axes whole, and for each of them its axis in the array and in the
/// view.
pub(crate) fn basic_part(
    layout: &Layout,
    entries: &[PlanEntry],
) -> Result<(Layout, AxisPairs), ShapeError> {
    let basic: SmallVec<[Index; 8]> = entries.iter().filter_map(PlanEntry::as_basic).collect();
    let view = layout.index(&basic)?;
    let ellipsis = left_to_ellipsis(layout, entries);
    let (mut axis, mut view_axis, mut found) = (0, 0, SmallVec::new());
    for entry in entries {
        if let PlanEntry::Positions(_) = entry {
            found.push((axis, view_axis));
        }
        let (used, given) = entry.axes(ellipsis);
        axis += used;
        view_axis += given;
    }
    Ok((view, found))
}

/// How many axes an ellipsis in a list stands for.
fn left_to_ellipsis(layout: &Layout, entries: &[PlanEntry]) -> usize {
    let used = entries.iter().map(|entry| entry.axes(0).0).sum();
    layout.rank().saturating_sub(used)
}

/// Where the axes of the index arrays go among the others.
fn place_of_indexed(entries: &[PlanEntry], ellipsis: usize) -> usize {
    let advanced = |entry: &&PlanEntry| entry.is_advanced();
    let has_arrays = entries
        .iter()
        .any(|entry| !matches!(entry, PlanEntry::Basic(_)));
    let Some(first) = entries
        .iter()
        .position(|entry| entry.is_advanced())
        .filter(|_| has_arrays)
    else {
        return 0;
    };
    let run = entries[first..].iter().take_while(advanced).count();
    let all = entries.iter().filter(advanced).count();
    if run < all {
        return 0;
    }
    entries[..first]
        .iter()
        .map(|entry| entry.axes(ellipsis).1)
        .sum()
}

/// The axis that several picked axes make.
struct Joint {
    size: usize,
    stride: isize,
    base: isize,
}

impl Joint {
    /// Finds the joint axis and sets the weights, which are strides before.
    fn of(picked: &mut [PickedAxis]) -> Joint {
        let (mut size, mut stride): (usize, isize) = match picked.last() {
            Some(last) => (1, last.weight),
            None => (1, 0),
        };
        // Axes of which each holds the next as a whole are one axis as they are.
        let nested = picked.iter().rev().all(|axis| {
            let fits = axis.weight == stride.wrapping_mul(isize::try_from(size).unwrap_or(0));
            size = size.saturating_mul(axis.size);
            fits
        });
        if nested {
            let mut weight = 1;
            for axis in picked.iter_mut().rev() {
                axis.weight = weight;
                weight = weight.saturating_mul(axis.size.cast_signed());
            }
            return Joint {
                size,
                stride,
                base: 0,
            };
        }
        // Else any element of the buffer between the first and the last of them may be meant.
        let (mut low, mut high) = (0isize, 0isize);
        for axis in picked.iter() {
            let reach = axis
                .weight
                .wrapping_mul(axis.size.saturating_sub(1).cast_signed());
            (low, high) = (
                low.wrapping_add(reach.min(0)),
                high.wrapping_add(reach.max(0)),
            );
        }
        let has_none = picked.iter().any(|axis| axis.size == 0);
        size = if has_none {
            0
        } else {
            high.wrapping_sub(low).unsigned_abs() + 1
        };
        stride = 1;
        Joint {
            size,
            stride,
            base: low.wrapping_neg(),
        }
    }
}
