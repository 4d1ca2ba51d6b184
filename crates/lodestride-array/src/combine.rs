//! Joining, stacking and repeating: new arrays made from whole others. Padding is in `pad`, rolling and growing in `arrange`.

mod blocks;

use lodestride_buffer::{Argument, DType};
use lodestride_kernels as kernels;
use lodestride_shape::{Layout, Order, Shape, ShapeError, normalize_axis, normalize_new_axis};
use smallvec::SmallVec;

use crate::NdArray;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, InOp, OrFail, Result};
use crate::target::Target;

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
        join("concat", arrays, axis, Target::New)
    }

    /// [`concat`](Self::concat) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`concat`](Self::concat); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn concat_into(arrays: &[&NdArray], axis: isize, out: &NdArray) -> Result<()> {
        join("concat_into", arrays, axis, Target::Into(out)).map(drop)
    }

    /// Matrices side by side, that is along axis 1; vectors one after the other.
    ///
    /// # Errors
    /// As [`concat`](Self::concat).
    #[track_caller]
    pub fn hstack(arrays: &[&NdArray]) -> Result<NdArray> {
        join("hstack", arrays, beside(arrays), Target::New)
    }

    /// [`hstack`](Self::hstack) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`hstack`](Self::hstack); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn hstack_into(arrays: &[&NdArray], out: &NdArray) -> Result<()> {
        join("hstack_into", arrays, beside(arrays), Target::Into(out)).map(drop)
    }

    /// Matrices below each other, that is along axis 0; vectors become the rows of a matrix.
    ///
    /// # Errors
    /// As [`concat`](Self::concat).
    #[track_caller]
    pub fn vstack(arrays: &[&NdArray]) -> Result<NdArray> {
        join_rows("vstack", arrays, Target::New)
    }

    /// [`vstack`](Self::vstack) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`vstack`](Self::vstack); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn vstack_into(arrays: &[&NdArray], out: &NdArray) -> Result<()> {
        join_rows("vstack_into", arrays, Target::Into(out)).map(drop)
    }

    /// The arrays, all of one shape, along a new axis.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Empty`] without arrays, [`ArrayErrorKind::Join`] when a shape differs,
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[doc(alias = "pile")]
    #[track_caller]
    pub fn stack(arrays: &[&NdArray], axis: isize) -> Result<NdArray> {
        join_along_new("stack", arrays, axis, Target::New)
    }

    /// [`stack`](Self::stack) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`stack`](Self::stack); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn stack_into(arrays: &[&NdArray], axis: isize, out: &NdArray) -> Result<()> {
        join_along_new("stack_into", arrays, axis, Target::Into(out)).map(drop)
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
    /// assert_eq!(a.tile(vec![1; 3])?.shape()[..], [1, 2, 4]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "repmat")]
    #[track_caller]
    pub fn tile(&self, counts: impl AsRef<[usize]>) -> Result<NdArray> {
        self.tile_to("tile", counts.as_ref(), Target::New)
    }

    /// [`tile`](Self::tile) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`tile`](Self::tile); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn tile_into(&self, counts: impl AsRef<[usize]>, out: &NdArray) -> Result<()> {
        self.tile_to("tile_into", counts.as_ref(), Target::Into(out))
            .map(drop)
    }

    #[track_caller]
    fn tile_to(&self, op: &'static str, counts: &[usize], target: Target<'_>) -> Result<NdArray> {
        let rank = counts.len().max(self.rank());
        let source = self.distinct().in_op(op, self)?;
        // Every axis becomes two: the repetitions, of stride 0, and the axis itself.
        let (mut split, mut full, mut merged) = (Vec::new(), Vec::new(), Vec::new());
        for axis in 0..rank {
            let count = (axis + counts.len()).checked_sub(rank);
            let count = count.map_or(1, |i| counts[i]);
            let own = (axis + self.rank()).checked_sub(rank);
            let size = own.map_or(1, |i| self.shape()[i]);
            split.extend([1, own.map_or(1, |i| source.shape()[i])]);
            full.extend([count, size]);
            merged.push(size.saturating_mul(count));
        }
        self.repeated(op, source, [&split, &full, &merged], target)
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
        self.repeat_to("repeat", count, axis, Target::New)
    }

    /// [`repeat`](Self::repeat) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`repeat`](Self::repeat); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn repeat_into(&self, count: usize, axis: isize, out: &NdArray) -> Result<()> {
        self.repeat_to("repeat_into", count, axis, Target::Into(out))
            .map(drop)
    }

    #[track_caller]
    fn repeat_to(
        &self,
        op: &'static str,
        count: usize,
        axis: isize,
        target: Target<'_>,
    ) -> Result<NdArray> {
        let axis = normalize_axis(axis, self.rank()).in_op(op, self)?;
        let source = self.distinct().in_op(op, self)?;
        let (mut split, mut full, mut merged) = (Vec::new(), Vec::new(), Vec::new());
        for (i, &size) in self.shape().iter().enumerate() {
            split.push(source.shape()[i]);
            full.push(size);
            merged.push(if i == axis {
                size.saturating_mul(count)
            } else {
                size
            });
            if i == axis {
                split.push(1);
                full.push(count);
            }
        }
        self.repeated(op, source, [&split, &full, &merged], target)
    }

    /// Where elements are repeated along an axis already, only the first of them.
    fn distinct(&self) -> std::result::Result<NdArray, ShapeError> {
        let layout = self.layout();
        let axes = self.shape().iter().zip(layout.strides());
        let first =
            |(&size, &stride): (&usize, &isize)| if stride == 0 { size.min(1) } else { size };
        let shape: Shape = axes.map(first).collect();
        let layout = Layout::new(shape, layout.strides().clone(), layout.offset())?;
        Ok(self.with_layout(layout))
    }

    /// A copy of [`distinct`](Self::distinct) elements reshaped to `split`, stretched to `full` and then seen as `merged`.
    #[track_caller]
    fn repeated(
        &self,
        op: &'static str,
        source: NdArray,
        [split, full, merged]: [&[usize]; 3],
        target: Target<'_>,
    ) -> Result<NdArray> {
        self.expect_readable(op, Argument::X)?;
        // What is repeated along its last axis is best read as one run.
        let dense = match split.last() {
            Some(1) if !source.layout().is_contiguous(Order::C) => {
                Some(source.dup_order(Order::C)?)
            }
            _ => source.in_runs()?,
        };
        let source = dense.unwrap_or(source);
        let stretched = source.reshape(split)?.broadcast_to(full)?;
        target.fill(op, self.dtype(), merged.into(), &[self], |out| {
            // Cutting axes in two is a view of any layout.
            let whole = out.reshape(full)?;
            kernels::copy(stretched.operand().into(), whole.operand()).or_fail(op)
        })
    }
}

/// Stacks arrays along a new axis.
#[track_caller]
fn join_along_new(
    op: &'static str,
    arrays: &[&NdArray],
    axis: isize,
    target: Target<'_>,
) -> Result<NdArray> {
    let Some(first) = arrays.first() else {
        return Err(ArrayError::new(ArrayErrorKind::Empty {
            op,
            expected: "at least one array",
        }));
    };
    let axis = normalize_new_axis(axis, first.rank()).in_op(op, first)?;
    for (position, array) in arrays.iter().enumerate() {
        if array.shape() != first.shape() {
            return Err(join_error(op, axis, first, position, array));
        }
    }
    let mut expanded = SmallVec::<[NdArray; 4]>::new();
    for array in arrays {
        expanded.push(array.expand_dims(axis as isize)?);
    }
    let expanded: SmallVec<[&NdArray; 4]> = expanded.iter().collect();
    join(op, &expanded, axis as isize, target)
}

/// Puts arrays below each other; vectors count as rows.
#[track_caller]
fn join_rows(op: &'static str, arrays: &[&NdArray], target: Target<'_>) -> Result<NdArray> {
    let mut rows = SmallVec::<[NdArray; 4]>::new();
    for array in arrays {
        rows.push(if array.rank() == 1 {
            array.expand_dims(0)?
        } else {
            (*array).clone()
        });
    }
    let rows: SmallVec<[&NdArray; 4]> = rows.iter().collect();
    join(op, &rows, 0, target)
}

/// The axis along which arrays stand side by side.
fn beside(arrays: &[&NdArray]) -> isize {
    let vectors = arrays.first().is_some_and(|first| first.rank() == 1);
    if vectors { 0 } else { 1 }
}

#[track_caller]
fn join(op: &'static str, arrays: &[&NdArray], axis: isize, target: Target<'_>) -> Result<NdArray> {
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
    if let Target::Into(out) = target {
        // One copy after the other: none may fail when others are done.
        out.expect_readable(op, Argument::Z)?;
        for (position, array) in arrays.iter().enumerate() {
            array.expect_readable(op, Argument::Input(position))?;
        }
    }
    target.fill(op, dtype, Shape::from(shape), arrays, |out| {
        if arrays.iter().all(|array| array.dtype() == dtype) {
            let pieces: SmallVec<[_; 4]> = arrays.iter().map(|array| array.operand()).collect();
            return kernels::concat(&pieces, axis, out.operand()).or_fail(op);
        }
        // Casts go straight to their places.
        let mut start = 0;
        for (position, array) in arrays.iter().enumerate() {
            let end = start + array.shape()[axis];
            let part = out.layout().narrow(axis as isize, start..end);
            let part = part.in_op(op, out)?;
            kernels::copy(array.operand().into(), out.operand_as(&part))
                .or_fail(op)
                .named(op, Argument::Input(position))?;
            start = end;
        }
        Ok(())
    })
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
