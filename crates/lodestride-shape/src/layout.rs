//! [`Layout`]: shape, strides and offset together, and the only place that makes them; views are made from it in
//! `index`, `broadcast`, `reshape`, `permute` and `tad`.

use std::ops::Range;

use crate::facts::Facts;
use crate::{Order, Shape, ShapeError, Strides};

/// Where the elements of an array lie in its buffer: shape, strides and the offset of the first element.
///
/// Strides and offset count elements, not bytes. A layout never reaches before element 0 of its buffer and all its
/// numbers fit `isize`; that is checked once, on construction, so the methods that derive views cannot overflow. How far
/// it reaches is [`Layout::bounds`]; whether that fits a buffer is [`Layout::fits`]. An array without elements reaches
/// nothing and has offset 0.
///
/// ```
/// use lodestride_shape::{Layout, Order, s};
///
/// let matrix = Layout::contiguous([3, 4], Order::C)?;
/// let column = matrix.index(&s![.., 1])?;
/// assert_eq!(column.shape().as_slice(), [3]);
/// assert_eq!((column.strides().as_slice(), column.offset()), ([4].as_slice(), 1));
/// assert_eq!(column.bounds(), Some((1, 9)));
/// # Ok::<(), lodestride_shape::ShapeError>(())
/// ```
#[derive(Clone)]
pub struct Layout {
    // Invariants: the product of the non-zero sizes fits isize; if there are elements, every index
    // `offset + sum(i * stride)` lies in 0..=isize::MAX; if there are none, the offset is 0.
    shape: Shape,
    strides: Strides,
    offset: usize,
    // What every operation asks of its operands follows from the parts above and is worked out once, in `Facts`.
    facts: Facts,
}

impl PartialEq for Layout {
    #[inline]
    fn eq(&self, other: &Layout) -> bool {
        self.offset == other.offset && self.shape == other.shape && self.strides == other.strides
    }
}

impl Eq for Layout {}

impl std::hash::Hash for Layout {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.shape, &self.strides, self.offset).hash(state);
    }
}

impl Layout {
    /// Makes the layout of a gap-free array that starts at element 0.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if the shape has more than `isize::MAX` elements.
    pub fn contiguous(shape: impl Into<Shape>, order: Order) -> Result<Layout, ShapeError> {
        let shape = shape.into();
        let elements = shape.checked_elements()?;
        Ok(Layout::gap_free(shape, elements, order))
    }

    /// Makes the gap-free layout of the same shape that starts at element 0: what a result of this shape needs.
    #[must_use]
    #[inline]
    pub fn packed(&self, order: Order) -> Layout {
        if self.facts.is_packed(order) {
            return self.clone();
        }
        Layout::gap_free(self.shape.clone(), self.elements(), order)
    }

    /// [`Layout::packed`] without a copy: this layout where it is that one already, else a new one that is kept in `place`.
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    ///
    /// let (matrix, mut place) = (Layout::contiguous([3, 4], Order::C)?, None);
    /// assert!(std::ptr::eq(matrix.packed_in(Order::C, &mut place), &matrix));
    /// assert_eq!(*matrix.packed_in(Order::F, &mut place), matrix.packed(Order::F));
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    #[inline]
    pub fn packed_in<'l>(&'l self, order: Order, place: &'l mut Option<Layout>) -> &'l Layout {
        if self.facts.is_packed(order) {
            return self;
        }
        place.insert(Layout::gap_free(self.shape.clone(), self.elements(), order))
    }

    /// Whether this is known to be the gap-free layout of either order at offset 0.
    #[inline]
    pub(crate) fn is_packed(&self) -> bool {
        self.facts.are_packed_alike(self.facts)
    }

    /// [`Layout::contiguous`] of a shape whose elements were counted.
    #[inline]
    fn gap_free(shape: Shape, elements: usize, order: Order) -> Layout {
        Layout::gap_free_at(0, shape, elements, order)
    }

    /// [`Layout::contiguous`] from another element on of a shape whose elements were counted and can be reached.
    pub(crate) fn gap_free_at(
        offset: usize,
        shape: Shape,
        elements: usize,
        order: Order,
    ) -> Layout {
        let strides = shape.packed_strides(order);
        let mut facts = Facts::packed(&shape, elements, order);
        let offset = if elements == 0 { 0 } else { offset };
        if offset != 0 {
            facts = facts.moved(offset);
        }
        Layout {
            shape,
            strides,
            offset,
            facts,
        }
    }

    /// Makes the gap-free layout in C order of what is left when axes that follow each other are reduced: without them, or with size 1.
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    ///
    /// let x = Layout::contiguous([2, 3, 4], Order::F)?;
    /// assert_eq!(x.reduced(1..3, false), Layout::contiguous([2], Order::C)?);
    /// assert_eq!(x.reduced(1..3, true), Layout::contiguous([2, 1, 1], Order::C)?);
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    #[must_use]
    pub fn reduced(&self, axes: Range<usize>, keep: bool) -> Layout {
        let sizes = self.shape.iter().enumerate();
        let shape: Shape = sizes
            .filter(|(axis, _)| keep || !axes.contains(axis))
            .map(|(axis, &size)| if axes.contains(&axis) { 1 } else { size })
            .collect();
        // No more than this layout has, or would have if none of its sizes were 0.
        let elements = shape.iter().product();
        Layout::gap_free(shape, elements, Order::C)
    }

    /// Makes the layout of a scalar at element 0.
    #[must_use]
    #[inline]
    pub fn scalar() -> Layout {
        Layout {
            shape: Shape::scalar(),
            strides: Strides::default(),
            offset: 0,
            facts: Facts::packed(&[], 1, Order::C),
        }
    }

    /// Makes the gap-free layout of one axis: [`Layout::contiguous`] of a shape that needs no counting.
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    /// assert_eq!(Layout::line(5), Layout::contiguous([5], Order::C)?);
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn line(size: usize) -> Layout {
        Layout {
            shape: Shape::from(size),
            strides: Strides::from_slice(&[1]),
            offset: 0,
            facts: Facts::packed(&[size], size, Order::C),
        }
    }

    /// Makes a layout from its parts; `offset` is the element index of logical `[0, 0, ..]`, strides may be negative or 0.
    ///
    /// # Errors
    /// [`ShapeError::AxisCount`] if there is not one stride per axis, [`ShapeError::TooLarge`] if the elements cannot be
    /// counted or reached, [`ShapeError::NegativeReach`] if a negative stride leads in front of element 0.
    ///
    /// ```
    /// use lodestride_shape::{Layout, ShapeError};
    ///
    /// let reversed = Layout::new([4], [-1], 3)?;
    /// assert_eq!(reversed.bounds(), Some((0, 3)));
    /// assert_eq!(Layout::new([4], [-1], 2), Err(ShapeError::NegativeReach { lowest: -1, offset: 2 }));
    /// # Ok::<(), ShapeError>(())
    /// ```
    pub fn new(
        shape: impl Into<Shape>,
        strides: impl Into<Strides>,
        offset: usize,
    ) -> Result<Layout, ShapeError> {
        let (shape, strides) = (shape.into(), strides.into());
        if shape.rank() != strides.len() {
            return Err(ShapeError::AxisCount {
                given: strides.len(),
                rank: shape.rank(),
            });
        }
        if shape.checked_elements()? == 0 {
            return Ok(Layout::derived(shape, strides, 0));
        }
        let (lowest, _) =
            reach(&shape, &strides, offset).ok_or_else(|| ShapeError::too_large(&shape))?;
        if lowest < 0 {
            return Err(ShapeError::NegativeReach { lowest, offset });
        }
        Ok(Layout::from_parts(shape, strides, offset))
    }

    /// Puts a layout together whose parts keep the invariants.
    #[inline]
    fn from_parts(shape: Shape, strides: Strides, offset: usize) -> Layout {
        let facts = Facts::of(&shape, &strides, offset);
        Layout {
            shape,
            strides,
            offset,
            facts,
        }
    }

    /// Makes a layout whose parts come from a checked one; only the offset of an empty result is normalised.
    #[inline]
    pub(crate) fn derived(shape: Shape, strides: Strides, offset: isize) -> Layout {
        let facts = Facts::of(&shape, &strides, offset.unsigned_abs());
        Layout {
            shape,
            strides,
            offset: if facts.elements == 0 {
                0
            } else {
                offset.unsigned_abs()
            },
            facts,
        }
    }

    /// [`Layout::derived`] of one axis.
    #[inline]
    pub(crate) fn derived_line(size: usize, stride: isize, offset: isize) -> Layout {
        let offset = if size == 0 { 0 } else { offset.unsigned_abs() };
        Layout {
            shape: Shape::from([size]),
            strides: Strides::from([stride]),
            offset,
            facts: Facts::of_line(size, stride, offset),
        }
    }

    /// The axes from the last to the first, which reach the same elements.
    #[inline]
    pub(crate) fn reversed(&self) -> Layout {
        Layout {
            shape: self.shape.reversed(),
            strides: self.strides.reversed(),
            offset: self.offset,
            facts: self.facts.reversed(),
        }
    }

    /// Takes the shape and the strides out.
    pub(crate) fn into_parts(self) -> (Shape, Strides) {
        (self.shape, self.strides)
    }

    /// Gives the sizes of the axes.
    #[must_use]
    #[inline]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Gives the strides in elements, one per axis.
    #[must_use]
    #[inline]
    pub fn strides(&self) -> &Strides {
        &self.strides
    }

    /// Gives the element index of logical `[0, 0, ..]`.
    #[must_use]
    #[inline]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Counts the axes.
    #[must_use]
    #[inline]
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// Counts the logical elements; a broadcast axis counts in full.
    #[must_use]
    #[inline]
    pub fn elements(&self) -> usize {
        self.facts.elements
    }

    /// Tells whether some axis has size 0.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.facts.elements == 0
    }

    /// Gives the size of one axis, which may count from the end.
    ///
    /// # Errors
    /// [`ShapeError::AxisOutOfRange`].
    pub fn size(&self, axis: isize) -> Result<usize, ShapeError> {
        Ok(self.shape[crate::normalize_axis(axis, self.rank())?])
    }

    /// Tells whether the elements lie gap-free in the given order; axes of size 1 do not matter.
    ///
    /// The offset does not matter either. Arrays with at most one element are contiguous in both orders.
    #[must_use]
    #[inline]
    pub fn is_contiguous(&self, order: Order) -> bool {
        self.facts.is_dense(order)
    }

    /// Tells whether both layouts are the gap-free one of the same shape and order that starts at element 0; false also where
    /// that is not known without looking at the strides.
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    ///
    /// let matrix = Layout::contiguous([3, 4], Order::C)?;
    /// assert!(matrix.is_packed_like(&matrix.clone()));
    /// assert!(!matrix.is_packed_like(&Layout::contiguous([3, 4], Order::F)?));
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn is_packed_like(&self, other: &Layout) -> bool {
        self.facts.are_packed_alike(other.facts) && self.shape == other.shape
    }

    /// Gives the order in which the elements lie gap-free, C if both fit; `None` for strided views.
    #[must_use]
    #[inline]
    pub fn order(&self) -> Option<Order> {
        self.facts.order()
    }

    /// Gives the lowest and the highest element index reached; `None` without elements.
    #[must_use]
    pub fn bounds(&self) -> Option<(usize, usize)> {
        if self.is_empty() {
            return None;
        }
        let (lowest, highest) = reach(&self.shape, &self.strides, self.offset)?;
        Some((lowest.unsigned_abs(), highest.unsigned_abs()))
    }

    /// Tells whether a buffer of `buffer_elements` elements holds everything the layout reaches.
    #[must_use]
    #[inline]
    pub fn fits(&self, buffer_elements: usize) -> bool {
        self.facts.end <= buffer_elements
    }

    /// Checks that the layout stays inside a buffer of `available` elements.
    ///
    /// # Errors
    /// [`ShapeError::OutOfBuffer`].
    #[inline]
    pub fn check_fits(&self, available: usize) -> Result<(), ShapeError> {
        if self.fits(available) {
            return Ok(());
        }
        Err(ShapeError::OutOfBuffer {
            highest: self.facts.end - 1,
            available,
        })
    }

    /// Gives the element index of a position; negative numbers count from the end of their axis.
    ///
    /// # Errors
    /// [`ShapeError::AxisCount`] if there is not one number per axis, [`ShapeError::IndexOutOfRange`].
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    ///
    /// let layout = Layout::contiguous([3, 4], Order::C)?;
    /// assert_eq!(layout.offset_of(&[1, -1])?, 7);
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    pub fn offset_of(&self, position: &[isize]) -> Result<usize, ShapeError> {
        if position.len() != self.rank() {
            return Err(ShapeError::AxisCount {
                given: position.len(),
                rank: self.rank(),
            });
        }
        let mut offset = self.offset.cast_signed();
        for (axis, &index) in position.iter().enumerate() {
            let size = self.shape[axis];
            let i = crate::axes::wrap(index, size).ok_or(ShapeError::IndexOutOfRange {
                index,
                axis,
                size,
            })?;
            offset = offset.wrapping_add(i.cast_signed().wrapping_mul(self.strides[axis]));
        }
        Ok(offset.unsigned_abs())
    }

    /// Gives the element index of a position that counts from the front; `None` if there is no such position.
    ///
    /// ```
    /// use lodestride_shape::{Layout, Order};
    ///
    /// let layout = Layout::contiguous([3, 4], Order::C)?;
    /// assert_eq!((layout.place_of([1, 3]), layout.place_of([1, 4]), layout.place_of([1])), (Some(7), None, None));
    /// # Ok::<(), lodestride_shape::ShapeError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn place_of<const N: usize>(&self, position: [usize; N]) -> Option<usize> {
        let (sizes, strides) = (self.shape.as_array::<N>()?, self.strides.as_array::<N>()?);
        let mut place = self.offset.cast_signed();
        for axis in 0..N {
            if position[axis] >= sizes[axis] {
                return None;
            }
            place = place.wrapping_add(position[axis].cast_signed().wrapping_mul(strides[axis]));
        }
        Some(place.unsigned_abs())
    }

    /// Moves the whole layout: the element that was at `n` is then at `n + elements`.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`], [`ShapeError::NegativeReach`] as [`Layout::new`].
    pub fn shifted(&self, elements: isize) -> Result<Layout, ShapeError> {
        let offset = self
            .offset
            .checked_add_signed(elements)
            .ok_or(ShapeError::NegativeReach {
                lowest: self.offset.cast_signed().saturating_add(elements),
                offset: self.offset,
            })?;
        Layout::new(self.shape.clone(), self.strides.clone(), offset)
    }
}

impl std::fmt::Debug for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Layout {{ shape: {}, strides: {}, offset: {} }}",
            self.shape, self.strides, self.offset
        )
    }
}

/// The lowest and highest index of a non-empty layout; `None` if one of them does not fit `isize`.
fn reach(shape: &[usize], strides: &[isize], offset: usize) -> Option<(isize, isize)> {
    let offset = isize::try_from(offset).ok()?;
    let (mut lowest, mut highest) = (offset, offset);
    for (&size, &stride) in shape.iter().zip(strides) {
        let span = stride.checked_mul(size.checked_sub(1)?.cast_signed())?;
        if span < 0 {
            lowest = lowest.checked_add(span)?;
        } else {
            highest = highest.checked_add(span)?;
        }
    }
    Some((lowest, highest))
}
