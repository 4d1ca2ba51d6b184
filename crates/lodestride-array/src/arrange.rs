//! The same elements in other places: rolled, turned, reversed, repeated one by one, cut up, longer at one end.

use std::ops::Range;

use lodestride_buffer::{Argument, DType, Scalar};
use lodestride_kernels as kernels;
use lodestride_shape::{Axes, Order, Shape, normalize_axis};
use smallvec::SmallVec;

use crate::NdArray;
use crate::arg::IndexList;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InOp, OrFail, Result};
use crate::pad::PadMode;
use crate::target::Target;

impl NdArray {
    /// The elements moved `shift` places along an axis; those that leave it at one end come in at the other.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2, 3], [4, 5, 6]]);
    /// assert_eq!(a.roll(1, 1)?, NdArray::from([[3i32, 1, 2], [6, 4, 5]]));
    /// assert_eq!(a.roll(-1, 0)?, NdArray::from([[4i32, 5, 6], [1, 2, 3]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn roll(&self, shift: isize, axis: isize) -> Result<NdArray> {
        self.roll_to("roll", shift, axis, Target::Kept)
    }

    /// [`roll`](Self::roll) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`roll`](Self::roll); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn roll_into(&self, shift: isize, axis: isize, out: &NdArray) -> Result<()> {
        self.roll_to("roll_into", shift, axis, Target::Into(out))
            .map(drop)
    }

    #[track_caller]
    fn roll_to(
        &self,
        op: &'static str,
        shift: isize,
        axis: isize,
        target: Target<'_>,
    ) -> Result<NdArray> {
        let axis = normalize_axis(axis, self.rank()).in_op(op, self)?;
        let halves = rolled_halves(self.shape()[axis], shift);
        target.fill(op, self.dtype(), self.shape().clone(), &[self], |out| {
            for (from, to) in halves {
                let source = self.narrowed(op, axis, from)?;
                let target = out.narrowed(op, axis, to)?;
                kernels::copy(source.operand().into(), target.operand()).or_fail(op)?;
            }
            Ok(())
        })
    }

    /// [`roll`](Self::roll) of all elements as one row in C order; the shape stays.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]);
    /// assert_eq!(a.roll_flat(1)?, NdArray::from([[4i32, 1], [2, 3]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn roll_flat(&self, shift: isize) -> Result<NdArray> {
        self.expect_readable("roll_flat", Argument::X)?;
        let rolled = self.ravel()?.roll(shift, 0)?;
        Ok(rolled.reshape(self.shape())?.owning())
    }

    /// [`roll_flat`](Self::roll_flat) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`roll_flat`](Self::roll_flat); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not
    /// fit.
    #[track_caller]
    pub fn roll_flat_into(&self, shift: isize, out: &NdArray) -> Result<()> {
        out.store("roll_flat_into", &[self], || self.roll_flat(shift))
    }

    /// A view turned by `quarters` of a circle in the plane of two axes, from the first towards the second.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Form`] when both axes are the same.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]);
    /// assert_eq!(a.rot90(1, [0, 1])?, NdArray::from([[2i32, 4], [1, 3]]));
    /// assert_eq!(a.rot90(-1, [0, 1])?, NdArray::from([[3i32, 1], [4, 2]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "rot")]
    #[track_caller]
    pub fn rot90(&self, quarters: isize, [first, second]: [isize; 2]) -> Result<NdArray> {
        let from = normalize_axis(first, self.rank()).in_op("rot90", self)?;
        let to = normalize_axis(second, self.rank()).in_op("rot90", self)?;
        if from == to {
            return Err(self.unfit("rot90", "two different axes"));
        }
        match quarters.rem_euclid(4) {
            0 => Ok(self.with_layout(self.layout().clone())),
            1 => self.flip(second)?.swap_axes(first, second),
            2 => self.flip(first)?.flip(second),
            _ => self.swap_axes(first, second)?.flip(second),
        }
    }

    /// A view with several axes running backwards; `..` means all.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]);
    /// assert_eq!(a.flip_axes(..)?, NdArray::from([[4i32, 3], [2, 1]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "reverse")]
    #[track_caller]
    pub fn flip_axes(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        let axes = self.resolve_axes("flip_axes", &axes.into())?;
        (axes.axes().iter()).try_fold(self.with_layout(self.layout().clone()), |array, &axis| {
            array.flip(axis as isize)
        })
    }

    /// Position `i` along an axis `counts[i]` times in a row.
    ///
    /// [`repeat`](Self::repeat) takes one count for all.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Count`] when there is not one count per position.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]);
    /// assert_eq!(a.repeat_each(&[2, 0], 0)?, NdArray::from([[1i32, 2], [1, 2]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn repeat_each(&self, counts: &[usize], axis: isize) -> Result<NdArray> {
        const OP: &str = "repeat_each";
        self.expect_readable("repeat_each", Argument::X)?;
        let size = self.size(axis)?;
        if counts.len() != size {
            let what = "counts, one per position along the axis";
            return Err(self.miscounted(OP, what, size, counts.len()));
        }
        let total = counts.iter().fold(0usize, |sum, &n| sum.saturating_add(n));
        let positions = NdArray::recycled_ordered(OP, DType::I64, Shape::from(total), Order::C)?;
        let mut guard = positions.buffer().write().in_op(OP, &positions)?;
        let mut left = guard.slice_mut::<i64>();
        for (position, &count) in counts.iter().enumerate() {
            let (here, others) = left.split_at_mut(count);
            here.fill(position as i64);
            left = others;
        }
        drop(guard);
        self.take(&positions, axis)
    }

    /// [`repeat_each`](Self::repeat_each) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`repeat_each`](Self::repeat_each); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn repeat_each_into(&self, counts: &[usize], axis: isize, out: &NdArray) -> Result<()> {
        out.store("repeat_each_into", &[self], || {
            self.repeat_each(counts, axis)
        })
    }

    /// The array with `count` positions of one value behind it along an axis.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]).append(2, 9, -1)?;
    /// assert_eq!(a, NdArray::from([[1i32, 2, 9, 9], [3, 4, 9, 9]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn append(&self, count: usize, value: impl Into<Scalar>, axis: isize) -> Result<NdArray> {
        self.longer("append", [0, count], (value.into(), axis), Target::New)
    }

    /// [`append`](Self::append) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`append`](Self::append); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn append_into(
        &self,
        count: usize,
        value: impl Into<Scalar>,
        axis: isize,
        out: &NdArray,
    ) -> Result<()> {
        let given = (value.into(), axis);
        self.longer("append_into", [0, count], given, Target::Into(out))
            .map(drop)
    }

    /// The array with `count` positions of one value before it along an axis.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    #[track_caller]
    pub fn prepend(&self, count: usize, value: impl Into<Scalar>, axis: isize) -> Result<NdArray> {
        self.longer("prepend", [count, 0], (value.into(), axis), Target::New)
    }

    /// [`prepend`](Self::prepend) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`prepend`](Self::prepend); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn prepend_into(
        &self,
        count: usize,
        value: impl Into<Scalar>,
        axis: isize,
        out: &NdArray,
    ) -> Result<()> {
        let given = (value.into(), axis);
        self.longer("prepend_into", [count, 0], given, Target::Into(out))
            .map(drop)
    }

    #[track_caller]
    fn longer(
        &self,
        op: &'static str,
        width: [usize; 2],
        (value, axis): (Scalar, isize),
        target: Target<'_>,
    ) -> Result<NdArray> {
        let axis = normalize_axis(axis, self.rank()).in_op(op, self)?;
        let mut widths: SmallVec<[[usize; 2]; 6]> = SmallVec::from_elem([0, 0], self.rank());
        widths[axis] = width;
        self.padded(op, &widths, &PadMode::constant(value), target)
    }

    /// Views of the parts of an axis between the given positions: `[2, 5]` cuts before 2 and before 5.
    ///
    /// Positions beyond the end give empty parts, as in NumPy; negative ones count from the end.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let parts = NdArray::arange(0, 6, 1)?.split_at([1, 4], 0)?;
    /// assert_eq!(parts[1].to_vec::<f32>()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn split_at(&self, positions: impl IndexList, axis: isize) -> Result<Vec<NdArray>> {
        const OP: &str = "split_at";
        let axis = normalize_axis(axis, self.rank()).in_op(OP, self)?;
        let size = self.shape()[axis];
        let mut cuts: SmallVec<[usize; 8]> = SmallVec::from_slice(&[0]);
        for position in positions.indices() {
            let from_start = if position < 0 {
                position.saturating_add_unsigned(size).max(0)
            } else {
                position
            };
            cuts.push((from_start as usize).min(size));
        }
        cuts.push(size);
        let parts = cuts.windows(2);
        parts
            .map(|cut| self.narrowed(OP, axis, cut[0]..cut[1].max(cut[0])))
            .collect()
    }

    /// Views of `parts` parts of an axis, as equal as they can be: the first ones are longer by one where it does not divide.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Empty`] for no parts.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let parts = NdArray::zeros([7, 2])?.split(3, 0)?;
    /// assert_eq!(parts.iter().map(|part| part.shape()[0]).collect::<Vec<_>>(), [3, 2, 2]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "array_split")]
    #[track_caller]
    pub fn split(&self, parts: usize, axis: isize) -> Result<Vec<NdArray>> {
        const OP: &str = "split";
        let axis = normalize_axis(axis, self.rank()).in_op(OP, self)?;
        let size = self.shape()[axis];
        if parts == 0 {
            return Err(ArrayError::new(ArrayErrorKind::Empty {
                op: OP,
                expected: "at least one part",
            }));
        }
        let (length, longer) = (size / parts, size % parts);
        let start = |part: usize| part * length + part.min(longer);
        (0..parts)
            .map(|part| self.narrowed(OP, axis, start(part)..start(part + 1)))
            .collect()
    }

    /// Views of all sub-arrays that span the given axes, the others counted in C order.
    ///
    /// [`stack`](Self::stack) along axis 0 puts them together again.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let rows = NdArray::zeros([10, 15])?.tear(1)?;
    /// assert_eq!((rows.len(), &rows[0].shape()[..]), (10, &[15][..]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn tear(&self, axes: impl Into<Axes>) -> Result<Vec<NdArray>> {
        let axes = axes.into();
        let count = self.tensors_along_dimension(&axes)?;
        (0..count)
            .map(|i| self.tensor_along_dimension(i, &axes))
            .collect()
    }

    /// The array with the first `lengths[i]` positions of an axis reversed, where `i` counts along another axis.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Form`] when both axes are the same,
    /// [`ArrayErrorKind::Count`] when there is not one length per position of the second axis,
    /// [`ArrayErrorKind::IndexRange`] for a length beyond the axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2, 3], [4, 5, 6]]).reverse_sequence(&[2, 3], 1, 0)?;
    /// assert_eq!(a, NdArray::from([[2i32, 1, 3], [6, 5, 4]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "reverseSequence")]
    #[track_caller]
    pub fn reverse_sequence(
        &self,
        lengths: &[usize],
        axis: isize,
        batch_axis: isize,
    ) -> Result<NdArray> {
        const OP: &str = "reverse_sequence";
        self.expect_readable("reverse_sequence", Argument::X)?;
        let axis = normalize_axis(axis, self.rank()).in_op(OP, self)?;
        let batch = normalize_axis(batch_axis, self.rank()).in_op(OP, self)?;
        if axis == batch {
            return Err(self.unfit(OP, "two different axes"));
        }
        if lengths.len() != self.shape()[batch] {
            let what = "lengths, one per position along the second axis";
            return Err(self.miscounted(OP, what, self.shape()[batch], lengths.len()));
        }
        if let Some(&beyond) = lengths.iter().find(|&&length| length > self.shape()[axis]) {
            return Err(ArrayError::new(ArrayErrorKind::IndexRange {
                op: OP,
                axis,
                index: isize::try_from(beyond).unwrap_or(isize::MAX),
                array: ArraySummary::of(self),
            }));
        }
        let out = self.dup()?;
        for (i, &length) in lengths.iter().enumerate() {
            let part = |array: &NdArray| {
                let row = array.narrowed(OP, batch, i..i + 1)?;
                row.narrowed(OP, axis, 0..length)
            };
            part(&out)?.assign(&part(self)?.flip(axis as isize)?)?;
        }
        Ok(out)
    }

    /// [`reverse_sequence`](Self::reverse_sequence) into an array of the result's shape: it is made elsewhere and copied
    /// there.
    ///
    /// # Errors
    /// As [`reverse_sequence`](Self::reverse_sequence); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when
    /// `out` does not fit.
    #[track_caller]
    pub fn reverse_sequence_into(
        &self,
        lengths: &[usize],
        axis: isize,
        batch_axis: isize,
        out: &NdArray,
    ) -> Result<()> {
        out.store("reverse_sequence_into", &[self], || {
            self.reverse_sequence(lengths, axis, batch_axis)
        })
    }
}

/// The two parts of an axis that change places when it is rolled: where each is, and where it goes.
pub(crate) fn rolled_halves(size: usize, shift: isize) -> [(Range<usize>, Range<usize>); 2] {
    let shift = match size {
        0 => 0,
        size => shift.rem_euclid(size as isize) as usize,
    };
    [
        (0..size - shift, shift..size),
        (size - shift..size, 0..shift),
    ]
}
