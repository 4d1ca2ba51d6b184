//! Joining, stacking and repeating: new arrays made from whole others. Padding is in `pad`, rolling and growing in `arrange`.

use lodestride_buffer::{Argument, DType};
use lodestride_kernels as kernels;
use lodestride_shape::{Order, Shape, normalize_axis, normalize_new_axis};
use smallvec::SmallVec;

use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, InOp, OrFail, Result};

/// The dtype all arrays promote to.
#[track_caller]
pub(crate) fn common_dtype(op: &'static str, arrays: &[&NdArray]) -> Result<DType> {
    match arrays
        .iter()
        .map(|array| array.dtype())
        .reduce(DType::promote)
    {
        Some(dtype) => Ok(dtype),
        None => Err(ArrayError::new(ArrayErrorKind::Empty {
            op,
            expected: "at least one array",
        })),
    }
}

impl NdArray {
    /// The arrays one after the other along an axis; dtypes are promoted.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Empty`] without arrays, [`ArrayErrorKind::Join`] when a size other than the joined one differs,
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (zeros, ones) = (NdArray::zeros([2, 2])?, NdArray::ones([2, 2])?);
    /// let combined = NdArray::concat(&[&zeros, &ones], 1)?;
    /// assert_eq!(format!("{combined:.2}"), "[[0.00, 0.00, 1.00, 1.00],\n [0.00, 0.00, 1.00, 1.00]]");
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn concat(arrays: &[&NdArray], axis: isize) -> Result<NdArray> {
        join("concat", arrays, axis)
    }

    /// Matrices side by side, that is along axis 1; vectors one after the other.
    ///
    /// # Errors
    /// As [`concat`](Self::concat).
    #[track_caller]
    pub fn hstack(arrays: &[&NdArray]) -> Result<NdArray> {
        let vectors = arrays.first().is_some_and(|first| first.rank() == 1);
        join("hstack", arrays, if vectors { 0 } else { 1 })
    }

    /// Matrices below each other, that is along axis 0; vectors become the rows of a matrix.
    ///
    /// # Errors
    /// As [`concat`](Self::concat).
    #[track_caller]
    pub fn vstack(arrays: &[&NdArray]) -> Result<NdArray> {
        let mut rows = SmallVec::<[NdArray; 4]>::new();
        for array in arrays {
            rows.push(if array.rank() == 1 {
                array.expand_dims(0)?
            } else {
                (*array).clone()
            });
        }
        let rows: SmallVec<[&NdArray; 4]> = rows.iter().collect();
        join("vstack", &rows, 0)
    }

    /// The arrays, all of one shape, along a new axis.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Empty`] without arrays, [`ArrayErrorKind::Join`] when a shape differs,
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[doc(alias = "pile")]
    #[track_caller]
    pub fn stack(arrays: &[&NdArray], axis: isize) -> Result<NdArray> {
        let Some(first) = arrays.first() else {
            return Err(ArrayError::new(ArrayErrorKind::Empty {
                op: "stack",
                expected: "at least one array",
            }));
        };
        let axis = normalize_new_axis(axis, first.rank()).in_op("stack", first)?;
        for (position, array) in arrays.iter().enumerate() {
            if array.shape() != first.shape() {
                return Err(join_error("stack", axis, first, position, array));
            }
        }
        let mut expanded = SmallVec::<[NdArray; 4]>::new();
        for array in arrays {
            expanded.push(array.expand_dims(axis as isize)?);
        }
        let expanded: SmallVec<[&NdArray; 4]> = expanded.iter().collect();
        join("stack", &expanded, axis as isize)
    }

    /// Views of all positions along an axis: the inverse of [`stack`](Self::stack).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[doc(alias = "tear")]
    #[doc(alias = "slices")]
    #[track_caller]
    pub fn unstack(&self, axis: isize) -> Result<Vec<NdArray>> {
        let size = self.size(axis)? as isize;
        let mut parts = Vec::with_capacity(size as usize);
        for position in 0..size {
            parts.push(self.slice(position, axis)?);
        }
        Ok(parts)
    }

    /// The whole array repeated `counts[i]` times along axis `i`; more counts than axes add leading axes.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([0i32, 1]).tile([2, 2])?;
    /// assert_eq!(a, NdArray::from([[0i32, 1, 0, 1], [0, 1, 0, 1]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "repmat")]
    #[track_caller]
    pub fn tile<const N: usize>(&self, counts: [usize; N]) -> Result<NdArray> {
        let rank = N.max(self.rank());
        // Every axis becomes two: the repetitions, of stride 0, and the axis itself.
        let (mut split, mut full, mut merged) = (Vec::new(), Vec::new(), Vec::new());
        for axis in 0..rank {
            let count = (axis + N).checked_sub(rank).map_or(1, |i| counts[i]);
            let size = (axis + self.rank())
                .checked_sub(rank)
                .map_or(1, |i| self.shape()[i]);
            split.extend([1, size]);
            full.extend([count, size]);
            merged.push(count * size);
        }
        self.repeated("tile", &split, &full, &merged)
    }

    /// Every element `count` times in a row along an axis.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]).repeat(2, 1)?;
    /// assert_eq!(a, NdArray::from([[1i32, 1, 2, 2], [3, 3, 4, 4]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn repeat(&self, count: usize, axis: isize) -> Result<NdArray> {
        let axis = normalize_axis(axis, self.rank()).in_op("repeat", self)?;
        let (mut split, mut full, mut merged) = (Vec::new(), Vec::new(), Vec::new());
        for (i, &size) in self.shape().iter().enumerate() {
            split.push(size);
            full.push(size);
            merged.push(if i == axis { size * count } else { size });
            if i == axis {
                split.push(1);
                full.push(count);
            }
        }
        self.repeated("repeat", &split, &full, &merged)
    }

    /// A copy of this array reshaped to `split`, stretched to `full` and then seen as `merged`.
    #[track_caller]
    fn repeated(
        &self,
        op: &'static str,
        split: &[usize],
        full: &[usize],
        merged: &[usize],
    ) -> Result<NdArray> {
        let stretched = self.reshape(split)?.broadcast_to(full)?;
        let out = NdArray::recycled_ordered(op, self.dtype(), merged.into(), Order::C)?;
        let target = out.reshape(full)?;
        kernels::copy(stretched.operand().into(), target.operand()).or_fail(op)?;
        Ok(out)
    }
}

#[track_caller]
fn join(op: &'static str, arrays: &[&NdArray], axis: isize) -> Result<NdArray> {
    let dtype = common_dtype(op, arrays)?;
    let first = arrays[0];
    let axis = normalize_axis(axis, first.rank()).in_op(op, first)?;
    let mut shape = first.shape().to_vec();
    shape[axis] = 0;
    for (position, array) in arrays.iter().enumerate() {
        let fits = array.rank() == first.rank()
            && (0..first.rank()).all(|i| i == axis || array.shape()[i] == first.shape()[i]);
        if !fits {
            return Err(join_error(op, axis, first, position, array));
        }
        shape[axis] += array.shape()[axis];
    }
    let out = NdArray::recycled_ordered(op, dtype, Shape::from(shape), Order::C)?;
    let mut start = 0;
    for (position, array) in arrays.iter().enumerate() {
        let end = start + array.shape()[axis];
        let part = out
            .layout()
            .narrow(axis as isize, start..end)
            .in_op(op, &out)?;
        kernels::copy(array.operand().into(), out.operand_as(&part))
            .or_fail(op)
            .named(op, Argument::Input(position))?;
        start = end;
    }
    Ok(out)
}

#[cold]
#[track_caller]
fn join_error(
    op: &'static str,
    axis: usize,
    first: &NdArray,
    position: usize,
    found: &NdArray,
) -> ArrayError {
    let (first, found) = (ArraySummary::of(first), ArraySummary::of(found));
    ArrayError::new(ArrayErrorKind::Join {
        op,
        axis,
        first,
        position,
        found,
    })
}
