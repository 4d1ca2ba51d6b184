//! Positions put between others or left out: NumPy's `insert` and `delete`. Growing at either end is in `arrange`.

use std::ops::Range;

use lodestride_buffer::Argument;
use lodestride_shape::{Order, Shape, normalize_axis};

use crate::NdArray;
use crate::arg::{Arg, IndexList, with};
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, InOp, Result};

/// Runs up to which they are copied one by one, not position by position.
const FEW: usize = 16;

impl NdArray {
    /// The array with values in front of the given positions of an axis, which count before anything is put in; negative ones
    /// count from the end, the size of the axis stands for its end.
    ///
    /// The values broadcast to one position of the axis for each of the list and take the array's dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis or values that do not broadcast, [`ArrayErrorKind::IndexRange`] for a
    /// position beyond the axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]);
    /// let b = a.insert([1, 1], &NdArray::from([8i32, 9]), 1)?;
    /// assert_eq!(b, NdArray::from([[1i32, 8, 9, 2], [3, 8, 9, 4]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn insert<'a>(
        &self,
        positions: impl IndexList,
        values: impl Into<Arg<'a>>,
        axis: isize,
    ) -> Result<NdArray> {
        let watch = Watch::start();
        self.expect_readable("insert", Argument::X)?;
        let axis = normalize_axis(axis, self.rank()).in_op("insert", self)?;
        let values = values.into();
        let made = self.inserted("insert", &positions.indices(), values, axis);
        watch.made("insert", &with(self, values), made)
    }

    /// [`insert`](Self::insert) into all elements as one row in C order; the result is a vector.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]).insert_flat([1, 4], 0)?;
    /// assert_eq!(a, NdArray::from([1i32, 0, 2, 3, 4, 0]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn insert_flat<'a>(
        &self,
        positions: impl IndexList,
        values: impl Into<Arg<'a>>,
    ) -> Result<NdArray> {
        let watch = Watch::start();
        self.expect_readable("insert_flat", Argument::X)?;
        let (flat, values) = (self.ravel()?, values.into());
        let made = flat.inserted("insert_flat", &positions.indices(), values, 0);
        watch.made("insert_flat", &with(self, values), made)
    }

    /// The array without the given positions of an axis; negative ones count from the end, repeated ones count once.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::IndexRange`] for a position beyond it.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2, 3], [4, 5, 6]]);
    /// assert_eq!(a.delete([0, -1], 1)?, NdArray::from([[2i32], [5]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn delete(&self, positions: impl IndexList, axis: isize) -> Result<NdArray> {
        let watch = Watch::start();
        self.expect_readable("delete", Argument::X)?;
        let axis = normalize_axis(axis, self.rank()).in_op("delete", self)?;
        let made = self.without("delete", &positions.indices(), axis);
        watch.made("delete", &[self], made)
    }

    /// [`delete`](Self::delete) from all elements as one row in C order; the result is a vector.
    ///
    /// # Errors
    /// As [`delete`](Self::delete).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]).delete_flat([1, 2])?;
    /// assert_eq!(a, NdArray::from([1i32, 4]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn delete_flat(&self, positions: impl IndexList) -> Result<NdArray> {
        let watch = Watch::start();
        self.expect_readable("delete_flat", Argument::X)?;
        let made = self
            .ravel()?
            .without("delete_flat", &positions.indices(), 0);
        watch.made("delete_flat", &[self], made)
    }

    #[track_caller]
    fn inserted(
        &self,
        op: &'static str,
        positions: &[isize],
        values: Arg<'_>,
        axis: usize,
    ) -> Result<NdArray> {
        let size = self.shape()[axis];
        let mut places = Vec::with_capacity(positions.len());
        for (which, &index) in positions.iter().enumerate() {
            places.push((self.place_along(op, axis, index, size + 1)?, which));
        }
        places.sort_unstable();
        let mut shape = self.shape().to_vec();
        shape[axis] = positions.len();
        let added = NdArray::recycled_ordered(op, self.dtype(), Shape::from(shape), Order::C)?;
        if let Arg::Array(values) = values {
            values.expect_readable(op, Argument::Y)?;
            let stretched = values.layout().broadcast_to(added.shape());
            stretched.in_op(op, values)?;
        }
        added.assign_arg(op, values)?;
        let mut runs = Vec::with_capacity(2 * places.len() + 1);
        let mut next = 0;
        for (place, which) in places {
            runs.extend([next..place, size + which..size + which + 1]);
            next = place;
        }
        runs.push(next..size);
        self.assembled(op, Some(&added), &runs, axis)
    }

    #[track_caller]
    fn without(&self, op: &'static str, positions: &[isize], axis: usize) -> Result<NdArray> {
        let size = self.shape()[axis];
        let mut places = Vec::with_capacity(positions.len());
        for &index in positions {
            places.push(self.place_along(op, axis, index, size)?);
        }
        places.sort_unstable();
        places.dedup();
        let mut runs = Vec::with_capacity(places.len() + 1);
        let mut next = 0;
        for place in places {
            runs.push(next..place);
            next = place + 1;
        }
        runs.push(next..size);
        self.assembled(op, None, &runs, axis)
    }

    /// Runs of positions of this array and of what is added behind it, one after the other along an axis.
    #[track_caller]
    fn assembled(
        &self,
        op: &'static str,
        added: Option<&NdArray>,
        runs: &[Range<usize>],
        axis: usize,
    ) -> Result<NdArray> {
        let (along, size) = (axis as isize, self.shape()[axis]);
        if runs.len() <= FEW {
            let part = |run: &Range<usize>| match added {
                Some(added) if run.start >= size => {
                    added.narrowed(op, axis, run.start - size..run.end - size)
                }
                _ => self.narrowed(op, axis, run.clone()),
            };
            let parts: Vec<NdArray> = runs.iter().map(part).collect::<Result<_>>()?;
            return NdArray::concat(&parts.iter().collect::<Vec<_>>(), along).renamed(op);
        }
        let positions = runs.iter().cloned().flatten();
        let from: Vec<i64> = positions.map(|position| position as i64).collect();
        match added {
            Some(added) => NdArray::concat(&[self, added], along)?.take(&from, along),
            None => self.take(&from, along),
        }
        .renamed(op)
    }

    /// A position of an axis from the front, below `end`; negative ones count from the last.
    #[track_caller]
    fn place_along(
        &self,
        op: &'static str,
        axis: usize,
        index: isize,
        end: usize,
    ) -> Result<usize> {
        let place = match index {
            index if index < 0 => self.shape()[axis].checked_sub(index.unsigned_abs()),
            index => Some(index as usize),
        };
        if let Some(place) = place.filter(|&place| place < end) {
            return Ok(place);
        }
        let array = ArraySummary::of(self);
        Err(ArrayError::new(ArrayErrorKind::IndexRange {
            op,
            axis,
            index,
            array,
        }))
    }
}
