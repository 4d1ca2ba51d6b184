//! Arrays that grow along an axis: [`GrowArray`].

use lodestride_buffer::{Argument, DType, scope_out};
use lodestride_shape::{Order, Shape, normalize_axis};

use crate::NdArray;
use crate::arg::Arg;
use crate::checks::recorded;
use crate::error::{InMethod, InOp, Result};

/// An array that grows along one axis at little cost: it keeps room behind its elements and doubles it when that is used up.
///
/// [`view`](Self::view) is an ordinary array over what has been appended so far; taking it costs nothing. A view taken
/// earlier keeps its shape. It shares memory with the growing array until that moves to a larger block, and keeps the old
/// block afterwards: no view is ever invalid. The memory is never part of a workspace, so the array may outlive all of them.
///
/// ```
/// use lodestride_array::{DType, GrowArray, NdArray};
///
/// let mut log = GrowArray::new(DType::F32, [2], 0)?; // rows of two numbers
/// for step in 0..100 {
///     log.push(&NdArray::from([step as f32, 0.5]))?;
/// }
/// assert_eq!(log.view().shape()[..], [100, 2]);
/// assert_eq!(log.view().get_f64([99, 0])?, 99.0);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Debug)]
pub struct GrowArray {
    /// The memory with its room; the axis that grows comes first, so that what is appended lies behind everything else.
    store: NdArray,
    /// Positions in use; at most the size of axis 0 of `store`.
    len: usize,
    /// Where the axis that grows stands in the view.
    axis: usize,
}

impl GrowArray {
    /// An array without elements that grows along `axis`; `item` is the shape of one position, that is without the axis.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for a wrong axis.
    #[track_caller]
    pub fn new(dtype: DType, item: impl Into<Shape>, axis: isize) -> Result<GrowArray> {
        let mut shape: Shape = item.into();
        shape.insert(0, 0);
        let store = outside(dtype, shape)?;
        let axis = normalize_axis(axis, store.rank()).in_op("GrowArray::new", &store)?;
        Ok(GrowArray {
            store,
            len: 0,
            axis,
        })
    }

    /// An array that begins with a copy of another and grows along `axis`.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::{GrowArray, NdArray};
    ///
    /// let mut table = GrowArray::from_array(&NdArray::from([[1i32, 2], [3, 4]]), 1)?;
    /// table.push(&NdArray::from([8i32, 9]))?;
    /// assert_eq!(table.view(), NdArray::from([[1i32, 2, 8], [3, 4, 9]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn from_array(array: &NdArray, axis: isize) -> Result<GrowArray> {
        let op = "GrowArray::from_array";
        let axis = normalize_axis(axis, array.rank()).in_op(op, array)?;
        let front = array.move_axis(axis as isize, 0)?;
        let store = outside(array.dtype(), front.shape().clone())?;
        let filled = store.assign_arg(op, (&front).into());
        filled.named(op, Argument::X)?;
        let len = store.shape()[0];
        Ok(GrowArray { store, len, axis })
    }

    /// The elements appended so far, as a view.
    pub fn view(&self) -> NdArray {
        let used = self.part(0, self.len);
        let moved = used.move_axis(0, self.axis as isize);
        moved.unwrap_or_else(|_| unreachable!("the axis was checked on construction"))
    }

    /// Appends one position: an array that broadcasts to the shape of one, or a number for all its elements.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`](crate::ArrayErrorKind::InPlaceShape) when the shape does not fit,
    /// [`ArrayErrorKind::Allocation`](crate::ArrayErrorKind::Allocation) when memory runs out; nothing is appended then.
    #[track_caller]
    pub fn push<'a>(&mut self, item: impl Into<Arg<'a>>) -> Result<()> {
        let (op, item) = ("push", item.into());
        recorded(op, item.array().as_slice(), || {
            self.make_room(op, 1)?;
            let place = self.part(self.len, 1).slice(0, 0)?;
            place.assign_arg(op, item)?;
            Ok(place)
        })?;
        self.len += 1;
        Ok(())
    }

    /// Appends all positions of an array along the axis that grows.
    ///
    /// # Errors
    /// [`ArrayErrorKind::InPlaceShape`](crate::ArrayErrorKind::InPlaceShape) when another size differs,
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for an array without the axis,
    /// [`ArrayErrorKind::Allocation`](crate::ArrayErrorKind::Allocation) when memory runs out; nothing is appended then.
    ///
    /// ```
    /// use lodestride_array::{DType, GrowArray, NdArray};
    ///
    /// let mut rows = GrowArray::new(DType::I32, [2], 0)?;
    /// rows.extend(&NdArray::from([[1i32, 2], [3, 4]]))?;
    /// rows.extend(&rows.view())?;
    /// assert_eq!(rows.len(), 4);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn extend(&mut self, array: &NdArray) -> Result<()> {
        let front = array.move_axis(self.axis as isize, 0)?;
        let count = front.shape()[0];
        let op = "extend";
        recorded(op, &[array], || {
            self.make_room(op, count)?;
            let place = self.part(self.len, count);
            place.assign_arg(op, (&front).into())?;
            Ok(place)
        })?;
        self.len += count;
        Ok(())
    }

    /// Positions along the axis that grows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing has been appended.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Positions there is room for without moving.
    pub fn capacity(&self) -> usize {
        self.store.shape()[0]
    }

    /// Makes room for `more` positions beyond those in use; at least doubles the room when it has to move.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`](crate::ArrayErrorKind::Allocation) when memory runs out.
    #[track_caller]
    pub fn reserve(&mut self, more: usize) -> Result<()> {
        self.make_room("reserve", more)
    }

    #[track_caller]
    fn make_room(&mut self, op: &'static str, more: usize) -> Result<()> {
        let needed = self.len.saturating_add(more);
        if needed <= self.capacity() {
            return Ok(());
        }
        self.move_to(op, needed.max(self.capacity().saturating_mul(2)).max(4))
    }

    /// Forgets the positions from `len` on; the room stays.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Gives back the room that is not in use.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`](crate::ArrayErrorKind::Allocation) when memory runs out.
    #[track_caller]
    pub fn shrink_to_fit(&mut self) -> Result<()> {
        if self.len == self.capacity() {
            return Ok(());
        }
        self.move_to("shrink_to_fit", self.len)
    }

    #[track_caller]
    fn move_to(&mut self, op: &'static str, capacity: usize) -> Result<()> {
        let mut shape = self.store.shape().clone();
        shape[0] = capacity;
        let moved = GrowArray {
            store: outside(self.store.dtype(), shape)?,
            ..*self
        };
        let (from, to) = (self.part(0, self.len), moved.part(0, self.len));
        to.assign_arg(op, (&from).into()).named(op, Argument::Z)?;
        *self = moved;
        Ok(())
    }

    /// The positions from `start` on, with the axis that grows in front.
    fn part(&self, start: usize, count: usize) -> NdArray {
        let part = self.store.narrowed("GrowArray", 0, start..start + count);
        part.unwrap_or_else(|_| unreachable!("positions in use are within the store"))
    }
}

/// Memory that belongs to no workspace.
#[track_caller]
fn outside(dtype: DType, shape: Shape) -> Result<NdArray> {
    scope_out(|| NdArray::recycled_ordered("GrowArray", dtype, shape, Order::C))
}
