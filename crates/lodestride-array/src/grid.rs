//! Arrays made of positions: coordinate grids, triangles, and ones at given places.

use lodestride_buffer::{Argument, Bool, DType, scope_out};
use lodestride_shape::{Axes, Order, Shape, keep, normalize_new_axis};
use smallvec::SmallVec;

use crate::NdArray;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::{InMethod, InOp, Result};
use crate::pad::PadMode;
use crate::target::Target;

/// Elements of a matrix from which on it is worth more calls to leave out columns without any of a triangle.
const WIDE: usize = 1 << 13;

/// Which axis of a [`NdArray::meshgrid`] the first vector runs along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GridAxes {
    /// The first vector runs along axis 1, the second along axis 0: x to the right and y down, as for pictures.
    #[default]
    Xy,
    /// Every vector runs along the axis of its number.
    Ij,
}

impl NdArray {
    /// The coordinates of all points of a grid: for every vector an array of the grid's shape.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::{GridAxes, NdArray};
    ///
    /// let (x, y) = (NdArray::from([1i32, 2, 3]), NdArray::from([10i32, 20]));
    /// let grid = NdArray::meshgrid(&[&x, &y], GridAxes::Xy)?;
    /// assert_eq!(grid[0], NdArray::from([[1i32, 2, 3], [1, 2, 3]]));
    /// assert_eq!(grid[1], NdArray::from([[10i32, 10, 10], [20, 20, 20]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn meshgrid(vectors: &[&NdArray], axes: GridAxes) -> Result<Vec<NdArray>> {
        let place = |i: usize| match axes {
            GridAxes::Xy if i < 2 && vectors.len() > 1 => 1 - i,
            _ => i,
        };
        let mut shape = vec![1; vectors.len()];
        for (i, vector) in vectors.iter().enumerate() {
            vector.expect_readable("meshgrid", Argument::Input(i))?;
            shape[place(i)] = vector.len();
        }
        let mut grid = Vec::with_capacity(vectors.len());
        for (i, vector) in vectors.iter().enumerate() {
            let mut along = vec![1; vectors.len()];
            along[place(i)] = vector.len();
            grid.push(vector.reshape(along)?.broadcast_to(&shape[..])?.dup()?);
        }
        Ok(grid)
    }

    /// A matrix with ones on and below a diagonal, zeros above: `k` 0 is the main diagonal, positive ones are above it.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Allocation`] when memory runs out.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::tri(2, 4, 1)?;
    /// assert_eq!(a, NdArray::from([[1.0f32, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn tri(rows: usize, columns: usize, k: isize) -> Result<NdArray> {
        triangle("tri", rows, columns, k)?.cast(DType::default())
    }

    /// A copy with the elements above a diagonal set to zero, in every matrix of the last two axes.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] for an array of less than two axes.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2, 3], [4, 5, 6], [7, 8, 9]]);
    /// assert_eq!(a.tril(0)?, NdArray::from([[1i32, 0, 0], [4, 5, 0], [7, 8, 9]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn tril(&self, k: isize) -> Result<NdArray> {
        const OP: &str = "tril";
        self.expect_readable(OP, Argument::X)?;
        if let [.., rows, columns] = self.shape()[..] {
            // What lies right of the last row's diagonal is zero in every row, and need not be looked at.
            let reach = (rows.cast_signed().saturating_add(k)).clamp(0, columns.cast_signed());
            let left = reach.unsigned_abs();
            if left < columns / 2 && rows.saturating_mul(columns) >= WIDE {
                let mut widths: SmallVec<[[usize; 2]; 6]> =
                    SmallVec::from_elem([0; 2], self.rank());
                widths[self.rank() - 1] = [0, columns - left];
                let kept = self.narrowed(OP, self.rank() - 1, 0..left)?.tril(k)?;
                return kept.padded(OP, &widths, &PadMode::constant(false), Target::New);
            }
        }
        self.triangle_of(OP, k)?.select(self, false)
    }

    /// [`tril`](Self::tril) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`tril`](Self::tril); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn tril_into(&self, k: isize, out: &NdArray) -> Result<()> {
        out.store("tril_into", &[self], || self.tril(k))
    }

    /// A copy with the elements below a diagonal set to zero, in every matrix of the last two axes.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] for an array of less than two axes.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 2, 3], [4, 5, 6], [7, 8, 9]]);
    /// assert_eq!(a.triu(1)?, NdArray::from([[0i32, 2, 3], [0, 0, 6], [0, 0, 0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn triu(&self, k: isize) -> Result<NdArray> {
        self.expect_readable("triu", Argument::X)?;
        let below = self.triangle_of("triu", k.saturating_sub(1))?;
        below.logical_not()?.select(self, false)
    }

    /// [`triu`](Self::triu) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`triu`](Self::triu); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn triu_into(&self, k: isize, out: &NdArray) -> Result<()> {
        out.store("triu_into", &[self], || self.triu(k))
    }

    /// The mask of the elements on and below a diagonal of the last two axes.
    #[track_caller]
    fn triangle_of(&self, op: &'static str, k: isize) -> Result<NdArray> {
        match self.shape()[..] {
            [.., rows, columns] => triangle(op, rows, columns, k),
            _ => Err(self.unfit(op, "an array of at least two axes")),
        }
    }

    /// For every index a vector of the default dtype with a one at that place and zeros elsewhere, along a new axis of `depth`
    /// positions.
    ///
    /// An index outside `0..depth` gives zeros only. [`cast`](Self::cast) gives other dtypes.
    ///
    /// # Errors
    /// [`ArrayErrorKind::IndexDType`] when the indices are not integers, [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let classes = NdArray::from([2i64, 0]);
    /// assert_eq!(classes.one_hot(3, -1)?, NdArray::from([[0.0f32, 0.0, 1.0], [1.0, 0.0, 0.0]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "oneHot")]
    #[track_caller]
    pub fn one_hot(&self, depth: usize, axis: isize) -> Result<NdArray> {
        const OP: &str = "one_hot";
        self.expect_readable("one_hot", Argument::X)?;
        self.expect_positions(OP)?;
        let axis = normalize_new_axis(axis, self.rank()).in_op(OP, self)?;
        let (before, after) = self.shape().split_at(axis);
        let shape: Shape = before
            .iter()
            .chain([&depth])
            .chain(after)
            .copied()
            .collect();
        let hot = NdArray::zeros_of(DType::default(), shape)?;
        let pitch: usize = after.iter().product();
        let indices = self.cast(DType::I64)?.to_vec::<i64>()?;
        let place = |(number, &index): (usize, &i64)| {
            let index = usize::try_from(index).ok().filter(|&index| index < depth)?;
            Some(((number / pitch * depth + index) * pitch + number % pitch) as i64)
        };
        let places: Vec<i64> = indices.iter().enumerate().filter_map(place).collect();
        let count = places.len();
        let places = scope_out(|| NdArray::from_vec(places, [count])).located()?;
        hot.ravel()?.scatter_put(&places, 1, 0)?;
        Ok(hot)
    }

    /// [`one_hot`](Self::one_hot) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`one_hot`](Self::one_hot); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn one_hot_into(&self, depth: usize, axis: isize, out: &NdArray) -> Result<()> {
        out.store("one_hot_into", &[self], || self.one_hot(depth, axis))
    }

    /// A mask that is true at the largest element over the given axes, the first of equal ones, and false elsewhere.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[1i32, 0, 2], [2, 3, 1]]);
    /// assert_eq!(a.is_max(1)?, NdArray::from([[false, false, true], [false, true, false]]));
    /// assert_eq!(a.is_max(..)?, NdArray::from([[false, false, false], [false, true, false]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "isMax")]
    #[track_caller]
    pub fn is_max(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.expect_readable("is_max", Argument::X)?;
        let axes = self.resolve_axes("is_max", &axes.into())?;
        if self.is_empty() {
            return NdArray::zeros_of(DType::Bool, self.shape().clone());
        }
        let named = axes.axes();
        let first = self.argmax(keep(named))?;
        let along: SmallVec<[usize; 6]> = (0..self.rank())
            .map(|axis| {
                if named.contains(&axis) {
                    self.shape()[axis]
                } else {
                    1
                }
            })
            .collect();
        let count: usize = along.iter().product();
        let places = NdArray::arange_of(DType::I64, 0, count, 1)?.reshape(&along[..])?;
        places.equal(&first)
    }

    /// [`is_max`](Self::is_max) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`is_max`](Self::is_max); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does not fit.
    #[track_caller]
    pub fn is_max_into(&self, axes: impl Into<Axes>, out: &NdArray) -> Result<()> {
        out.store("is_max_into", &[self], || self.is_max(axes))
    }

    /// The matrix with a column of ones behind it.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the array is not a matrix.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::from([[5i32, 6], [7, 8]]).append_bias()?;
    /// assert_eq!(a, NdArray::from([[5i32, 6, 1], [7, 8, 1]]));
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "appendBias")]
    #[track_caller]
    pub fn append_bias(&self) -> Result<NdArray> {
        self.expect_readable("append_bias", Argument::X)?;
        self.matrix_form("append_bias")?;
        self.append(1, 1, 1)
    }

    /// [`append_bias`](Self::append_bias) into an array of the result's shape: it is made elsewhere and copied there.
    ///
    /// # Errors
    /// As [`append_bias`](Self::append_bias); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`] when `out` does
    /// not fit.
    #[track_caller]
    pub fn append_bias_into(&self, out: &NdArray) -> Result<()> {
        out.store("append_bias_into", &[self], || self.append_bias())
    }
}

/// The bool matrix that is true where `column <= row + k`.
#[track_caller]
fn triangle(op: &'static str, rows: usize, columns: usize, k: isize) -> Result<NdArray> {
    let mask = NdArray::recycled_ordered(op, DType::Bool, Shape::from([rows, columns]), Order::C)?;
    let mut view = mask.view_mut::<Bool>()?;
    let elements = view.as_mut_slice().unwrap_or_default();
    for (row, elements) in elements.chunks_exact_mut(columns.max(1)).enumerate() {
        let ones = (row as isize).saturating_add(k).saturating_add(1).max(0) as usize;
        let (below, above) = elements.split_at_mut(ones.min(columns));
        below.fill(Bool::TRUE);
        above.fill(Bool::FALSE);
    }
    drop(view);
    Ok(mask)
}
