//! Dividing the slices of an array among several by number, and putting them together again.

use lodestride_buffer::Argument;
use lodestride_shape::Shape;

use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, Result};
use crate::fancy::picked::{Positions, position_array};

impl NdArray {
    /// Divides the slices of an array among `count` arrays: slice `i` goes to the end of array `parts[i]`.
    ///
    /// `parts` is an integer array whose shape this array's begins with; what it numbers are the slices along the other
    /// axes. [`dynamic_stitch`](Self::dynamic_stitch) undoes it.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when this array's shape does not begin with that of `parts`,
    /// [`ArrayErrorKind::PartNumber`] for a number that is not below `count`, [`ArrayErrorKind::IndexDType`] when `parts`
    /// are not integers.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([10.0f32, 20.0, 30.0, 40.0, 50.0]);
    /// let parts = a.dynamic_partition(&NdArray::from([0i32, 0, 1, 1, 0]), 3)?;
    /// assert_eq!(parts[0].to_vec::<f32>()?, [10.0, 20.0, 50.0]);
    /// assert_eq!(parts[1].to_vec::<f32>()?, [30.0, 40.0]);
    /// assert!(parts[2].is_empty());
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "dynamicPartition")]
    #[track_caller]
    pub fn dynamic_partition(&self, parts: &NdArray, count: usize) -> Result<Vec<NdArray>> {
        let op = "dynamic_partition";
        self.expect_readable(op, Argument::X)?;
        if !self.shape().starts_with(parts.shape()) {
            return Err(ArrayError::new(ArrayErrorKind::Form {
                op,
                expected: "an array whose shape begins with that of the numbers",
                array: ArraySummary::of(self),
            }));
        }
        let numbers = Positions::of_array(op, parts)?.values;
        let mut members = vec![Vec::new(); count];
        for (position, &part) in numbers.iter().enumerate() {
            match usize::try_from(part)
                .ok()
                .and_then(|part| members.get_mut(part))
            {
                Some(members) => members.push(position as i64),
                None => {
                    return Err(ArrayError::new(ArrayErrorKind::PartNumber {
                        op,
                        part,
                        position,
                        count,
                    }));
                }
            }
        }
        let slices = self.slices_of(parts.rank())?;
        let mut divided = Vec::with_capacity(count);
        for members in members {
            let places = position_array(op, &members, Shape::from(members.len()))?;
            divided.push(slices.take(&places, 0)?);
        }
        Ok(divided)
    }

    /// Puts slices together: slice `j` of `arrays[i]` becomes slice `indices[i][j]` of the result; of several with the same
    /// index the last stays, and slices that no index names are zero.
    ///
    /// Each array's shape begins with that of its indices, and goes on with the same sizes for all. The result has one more
    /// slice than the highest index says, and the dtype that all arrays promote to.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Empty`] without arrays, [`ArrayErrorKind::Form`] when a shape does not begin with that of its
    /// indices, [`ArrayErrorKind::Join`] when the rest of two shapes differs or there are not as many arrays of indices,
    /// [`ArrayErrorKind::PartNumber`] for a negative index, [`ArrayErrorKind::IndexDType`] for indices that are not integers.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (even, odd) = (NdArray::from([0i64, 2]), NdArray::from([1i64, 3]));
    /// let (a, b) = (NdArray::from([1.0f32, 3.0]), NdArray::from([2.0f32, 4.0]));
    /// let c = NdArray::dynamic_stitch(&[&even, &odd], &[&a, &b])?;
    /// assert_eq!(c.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "dynamicStitch")]
    #[track_caller]
    pub fn dynamic_stitch(indices: &[&NdArray], arrays: &[&NdArray]) -> Result<NdArray> {
        let op = "dynamic_stitch";
        let Some(first) = arrays.first().filter(|_| indices.len() == arrays.len()) else {
            let expected = "as many arrays as arrays of indices, at least one";
            return Err(ArrayError::new(ArrayErrorKind::Empty { op, expected }));
        };
        for (number, array) in indices.iter().chain(arrays).enumerate() {
            array.expect_readable(op, Argument::Input(number))?;
        }
        let (mut slices, mut places) = (Vec::new(), Vec::new());
        let (mut dtype, mut kept) = (first.dtype(), None);
        for (position, (indices, array)) in indices.iter().zip(arrays).enumerate() {
            let rest = array.shape().strip_prefix(&indices.shape()[..]);
            if rest.is_none() || rest != *kept.get_or_insert(rest) {
                let (first, found) = (ArraySummary::of(first), ArraySummary::of(array));
                let kind = ArrayErrorKind::Join {
                    op,
                    axis: indices.rank(),
                    first,
                    position,
                    found,
                };
                return Err(ArrayError::new(kind));
            }
            let numbers = Positions::of_array(op, indices)?.values;
            if let Some((position, &part)) = numbers.iter().enumerate().find(|(_, part)| **part < 0)
            {
                let count = numbers.len();
                return Err(ArrayError::new(ArrayErrorKind::PartNumber {
                    op,
                    part,
                    position,
                    count,
                }));
            }
            dtype = dtype.promote(array.dtype());
            slices.push(array.slices_of(indices.rank())?);
            places.push(position_array(op, &numbers, Shape::from(numbers.len()))?);
        }
        let highest =
            |places: &NdArray| Ok(places.to_vec::<i64>()?.into_iter().max().unwrap_or(-1));
        let count = places
            .iter()
            .map(highest)
            .collect::<Result<Vec<i64>>>()?
            .into_iter()
            .max();
        let mut shape = slices[0].shape().clone();
        shape[0] = count.map_or(0, |highest| (highest + 1) as usize);
        let out = NdArray::zeros_of(dtype, shape)?;
        for (slices, places) in slices.iter().zip(&places) {
            out.scatter_put(places, slices, 0)?;
        }
        Ok(out)
    }

    /// The array with its first axes as one.
    #[track_caller]
    fn slices_of(&self, axes: usize) -> Result<NdArray> {
        let (first, rest) = self.shape().split_at(axes);
        let mut shape = vec![first.iter().product::<usize>()];
        shape.extend_from_slice(rest);
        self.reshape(shape)
    }
}
