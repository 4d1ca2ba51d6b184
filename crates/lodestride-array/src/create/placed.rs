//! Arrays made of positions: of their own elements, of diagonals and triangles, of places in a shape and back.

use lodestride_buffer::{Argument, DType, Element, HostType};
use lodestride_shape::{Layout, NdIndexIterator, Order, Shape};

use crate::NdArray;
use crate::arg::Arg;
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InOp, OrFail, Result};
use crate::fancy::picked::Positions;
use crate::fused::common_shape;

impl NdArray {
    /// A matrix of the default dtype with ones on diagonal `k` and zeros elsewhere: 0 is the main diagonal, positive ones are
    /// above it. [`eye`](Self::eye) is the square one.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::eye_at(2, 3, 1)?;
    /// assert_eq!(a, NdArray::from([[0.0f32, 1.0, 0.0], [0.0, 0.0, 1.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "eye")]
    #[track_caller]
    pub fn eye_at(rows: usize, columns: usize, k: isize) -> Result<Self> {
        Self::eye_at_of(DType::default(), rows, columns, k)
    }

    /// [`eye_at`](Self::eye_at) of the given dtype.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    #[track_caller]
    pub fn eye_at_of(dtype: DType, rows: usize, columns: usize, k: isize) -> Result<Self> {
        let watch = Watch::start();
        let array = Self::zeros_of(dtype, [rows, columns])?;
        array.diagonal(k)?.assign(1)?;
        watch.made("eye_at", &[], Ok(array))
    }

    /// An array whose elements a function computes from their positions, called in C order; the dtype is that of its values.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from_fn([2, 3], |at| (10 * at[0] + at[1]) as i32)?;
    /// assert_eq!(a, NdArray::from([[0i32, 1, 2], [10, 11, 12]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "fromfunction")]
    #[track_caller]
    pub fn from_fn<T: HostType>(
        shape: impl Into<Shape>,
        mut f: impl FnMut(&[usize]) -> T,
    ) -> Result<Self> {
        let watch = Watch::start();
        let (op, shape) = ("from_fn", shape.into());
        let array = Self::recycled_ordered(op, T::Element::DTYPE, shape.clone(), Order::C)?;
        array.fill_elements(op, |elements: &mut [T::Element]| {
            let positions = NdIndexIterator::new(&shape, Order::C);
            for (element, position) in elements.iter_mut().zip(positions) {
                *element = f(&position[..]).into_element();
            }
        })?;
        watch.made(op, &[], Ok(array))
    }

    /// The position of every element of a shape, as i64: the first axis of the result counts the axes of the shape.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let at = NdArray::indices([2, 3])?;
    /// assert_eq!(at.slice(0, 0)?, NdArray::from([[0i64, 0, 0], [1, 1, 1]]));
    /// assert_eq!(at.slice(1, 0)?, NdArray::from([[0i64, 1, 2], [0, 1, 2]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "mgrid")]
    #[track_caller]
    pub fn indices(shape: impl Into<Shape>) -> Result<Self> {
        let watch = Watch::start();
        let shape = shape.into();
        let all: Shape = [shape.rank()]
            .into_iter()
            .chain(shape.iter().copied())
            .collect();
        let array = Self::recycled_ordered("indices", DType::I64, all, Order::C)?;
        for (axis, &size) in shape.iter().enumerate() {
            let mut along = vec![1; shape.rank()];
            along[axis] = size;
            let positions = Self::arange_of(DType::I64, 0, size as u64, 1)?;
            let positions = positions.reshape(along)?;
            array.slice(axis as isize, 0)?.assign(&positions)?;
        }
        watch.made("indices", &[], Ok(array))
    }

    /// An array of the shape, dtype and order of this one, whose contents are unspecified, for results that are overwritten
    /// wholly.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]);
    /// let b = a.empty_like()?;
    /// b.assign(7)?;
    /// assert_eq!(b, a.full_like(7)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn empty_like(&self) -> Result<Self> {
        self.recycled_like("empty_like", self.dtype())
    }

    /// The rows and the columns, as i64, of the elements on and below diagonal `k` of a matrix: for
    /// [`get_fancy`](Self::get_fancy) and [`put_fancy`](Self::put_fancy).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::{NdArray, fancy};
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4]]);
    /// let (i, j) = NdArray::tril_indices(2, 2, 0)?;
    /// assert_eq!(a.get_fancy(&fancy![&i, &j])?, NdArray::from([1i32, 3, 4]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn tril_indices(rows: usize, columns: usize, k: isize) -> Result<(NdArray, NdArray)> {
        let watch = Watch::start();
        let at = Self::tri(rows, columns, k)?.nonzero()?;
        let made = Ok((at.column(0)?.dup()?, at.column(1)?.dup()?));
        watch.made("tril_indices", &[], made)
    }

    /// The rows and the columns, as i64, of the elements on and above diagonal `k` of a matrix.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (i, j) = NdArray::triu_indices(2, 3, 1)?;
    /// assert_eq!((i, j), (NdArray::from([0i64, 0, 1]), NdArray::from([1i64, 2, 2])));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn triu_indices(rows: usize, columns: usize, k: isize) -> Result<(NdArray, NdArray)> {
        let watch = Watch::start();
        let below = Self::tri(rows, columns, k.saturating_sub(1))?;
        let at = below.logical_not()?.nonzero()?;
        let made = Ok((at.column(0)?.dup()?, at.column(1)?.dup()?));
        watch.made("triu_indices", &[], made)
    }

    /// The positions along each axis of `shape` of the elements with these numbers in C order: an i64 array of this shape for
    /// every axis.
    ///
    /// # Errors
    /// [`ArrayErrorKind::IndexDType`] when the numbers are not integers, [`ArrayErrorKind::PositionRange`] for one that is
    /// negative or beyond the shape.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let at = NdArray::from([4i64, 2]).unravel_index([2, 3])?;
    /// assert_eq!(at[0], NdArray::from([1i64, 0]));
    /// assert_eq!(at[1], NdArray::from([1i64, 2]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn unravel_index(&self, shape: impl Into<Shape>) -> Result<Vec<NdArray>> {
        let (op, watch) = ("unravel_index", Watch::start());
        self.expect_readable(op, Argument::X)?;
        let layout = Layout::contiguous(shape, Order::C).or_fail(op)?;
        let numbers = Positions::of_array(op, self)?.values;
        expect_positions_within(op, &numbers, 0, &Shape::from(layout.elements()))?;
        let mut axes = Vec::with_capacity(layout.rank());
        if let [_, inner @ ..] = &layout.shape()[..] {
            let rest = Self::from_elements(op, &numbers, self.shape().clone())?;
            for &size in inner.iter().rev() {
                axes.push(rest.modulo(size)?);
                rest.floor_divi(size)?;
            }
            axes.push(rest);
        }
        axes.reverse();
        watch.made(op, &[self], Ok(axes))
    }

    /// The numbers in C order, as i64, of the elements of `shape` at the given positions, one array for each axis, which
    /// broadcast.
    ///
    /// # Errors
    /// [`ArrayErrorKind::IndexCount`] when there is not one array for each axis, [`ArrayErrorKind::IndexDType`] when one is not
    /// of integers, [`ArrayErrorKind::PositionRange`] for a position that is negative or beyond its axis,
    /// [`ArrayErrorKind::Broadcast`] when their shapes do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (rows, columns) = (NdArray::from([1i64, 0]), NdArray::from([1i64, 2]));
    /// assert_eq!(NdArray::ravel_multi_index(&[&rows, &columns], [2, 3])?, NdArray::from([4i64, 2]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn ravel_multi_index(positions: &[&NdArray], shape: impl Into<Shape>) -> Result<NdArray> {
        let (op, watch) = ("ravel_multi_index", Watch::start());
        let layout = Layout::contiguous(shape, Order::C).or_fail(op)?;
        if positions.len() != layout.rank() {
            let (given, array) = (positions.len(), positions_in(layout.shape()));
            return Err(ArrayError::new(ArrayErrorKind::IndexCount {
                op,
                given,
                array,
            }));
        }
        for (axis, along) in positions.iter().enumerate() {
            along.expect_readable(op, Argument::Input(axis))?;
        }
        let common = common_shape(op, positions)?;
        let mut numbers = vec![0i64; common.iter().product()];
        for (axis, along) in positions.iter().enumerate() {
            let along = Positions::of_array(op, &along.broadcast_to(&common)?)?.values;
            expect_positions_within(op, &along, axis, layout.shape())?;
            let step = layout.strides()[axis] as i64;
            for (number, position) in numbers.iter_mut().zip(along) {
                *number += position * step;
            }
        }
        let made = Self::from_elements(op, &numbers, common);
        watch.made(op, positions, made)
    }

    /// [`ravel_multi_index`](Self::ravel_multi_index) into an array of the positions' common shape, i64 or a float: it is made
    /// elsewhere and copied there.
    ///
    /// # Errors
    /// As [`ravel_multi_index`](Self::ravel_multi_index); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when
    /// `out` does not fit.
    #[track_caller]
    pub fn ravel_multi_index_into(
        positions: &[&NdArray],
        shape: impl Into<Shape>,
        out: &NdArray,
    ) -> Result<()> {
        let shape = shape.into();
        out.store("ravel_multi_index_into", positions, || {
            Self::ravel_multi_index(positions, shape)
        })
    }

    /// Writes values over the main diagonal: of a matrix, or of an array of more axes of one size the elements whose positions
    /// are all the same.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] for fewer than two axes, or more than two of different sizes;
    /// [`ArrayErrorKind::InPlaceShape`] when the values do not broadcast to the diagonal.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2], [3, 4], [5, 6]]);
    /// a.fill_diagonal(0)?;
    /// assert_eq!(a, NdArray::from([[0i32, 2], [3, 0], [5, 6]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn fill_diagonal<'a>(&self, values: impl Into<Arg<'a>>) -> Result<&Self> {
        let op = "fill_diagonal";
        let layout = match self.shape()[..] {
            [] | [_] => return Err(self.unfit(op, "an array of at least two axes")),
            [_, _] => self.layout().diagonal(0),
            [size, ..] => {
                if self.shape().iter().any(|&other| other != size) {
                    return Err(self.unfit(op, "a matrix, or axes of one size"));
                }
                // With one element or none the step is never taken.
                let step = match size {
                    0 | 1 => 0,
                    _ => self.strides().iter().sum::<isize>(),
                };
                Layout::new([size], [step], self.layout().offset())
            }
        };
        let diagonal = self.with_layout(layout.in_op(op, self)?);
        self.expect_writable(op)?;
        diagonal.assign_arg(op, values.into())?;
        Ok(self)
    }
}

/// Checks positions along an axis of a shape, none of which may count from the end.
#[track_caller]
fn expect_positions_within(
    op: &'static str,
    positions: &[i64],
    axis: usize,
    shape: &Shape,
) -> Result<()> {
    let inside = 0..shape[axis] as i64;
    let Some(position) = positions.iter().position(|at| !inside.contains(at)) else {
        return Ok(());
    };
    Err(ArrayError::new(ArrayErrorKind::PositionRange {
        op,
        axis,
        index: positions[position],
        position,
        array: positions_in(shape),
    }))
}

/// What errors say of a shape there is no array of.
fn positions_in(shape: &Shape) -> ArraySummary {
    ArraySummary {
        dtype: DType::I64,
        shape: shape.clone(),
        order: Some(Order::C),
        view: false,
    }
}
