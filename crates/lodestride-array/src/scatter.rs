//! Scattering: values written to, or combined with, the places that indices name. Repeated places are combined one after the
//! other, in the order of the indices, so results never depend on threads.

mod combine;

use lodestride_buffer::{Argument, scope_out};
use lodestride_kernels::{self as kernels, BinaryOp, Operand};
use lodestride_shape::{Layout, Shape, normalize_axis};

use crate::NdArray;
use crate::arg::{Arg, Indices};
use crate::checks::watched;
use crate::compute::{promoted, result_dtype};
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, InMethod, InOp, OrFail, Result};
use crate::fancy::picked::{Picked, position_array};

/// How a scattered value meets the element that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scatter {
    /// The value replaces it; of several values the last stays.
    Update,
    /// The value is added.
    Add,
    /// The value is subtracted.
    Sub,
    /// It is multiplied by the value.
    Mul,
    /// It is divided by the value.
    Div,
    /// The larger of both stays; NaN wins.
    Max,
    /// The smaller of both stays; NaN wins.
    Min,
}

/// A kernel that scatters: the target, the axis, the positions, the values.
pub(crate) type ScatterKernel =
    fn(Operand<'_>, usize, Operand<'_>, Operand<'_>) -> kernels::Result<()>;

impl Scatter {
    /// The operation on two arrays whose dtype rules hold.
    fn op(self) -> Option<BinaryOp> {
        match self {
            Scatter::Update => None,
            Scatter::Add => Some(BinaryOp::Add),
            Scatter::Sub => Some(BinaryOp::Sub),
            Scatter::Mul => Some(BinaryOp::Mul),
            Scatter::Div => Some(BinaryOp::Div),
            Scatter::Max => Some(BinaryOp::Max),
            Scatter::Min => Some(BinaryOp::Min),
        }
    }

    /// The kernel that does it, on values that are negative for subtraction; the others have none.
    fn kernel(self) -> Option<ScatterKernel> {
        match self {
            Scatter::Update => Some(kernels::gather::scatter_set),
            Scatter::Add | Scatter::Sub => Some(kernels::gather::scatter_add),
            _ => None,
        }
    }
}

impl NdArray {
    /// Adds slices of an array to the positions that the indices name along an axis, in place; repeated ones add up.
    ///
    /// The values broadcast to the shape that [`take`](Self::take) would return.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::Kernel`] for a position out of range,
    /// [`ArrayErrorKind::InPlaceShape`] for values that do not broadcast.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::zeros([3])?;
    /// a.scatter_addi(&NdArray::from([0i64, 2, 2]), &NdArray::ones([3])?, 0)?;
    /// assert_eq!(a.to_vec::<f32>()?, [1.0, 0.0, 2.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "scatterAdd")]
    #[track_caller]
    pub fn scatter_addi<'i, 'a>(
        &self,
        indices: impl Into<Indices<'i>>,
        values: impl Into<Arg<'a>>,
        axis: isize,
    ) -> Result<&Self> {
        self.scatter_slices(
            Scatter::Add,
            "scatter_addi",
            indices.into(),
            values.into(),
            axis,
        )
    }

    /// Writes slices of an array to the positions that the indices name along an axis; of repeated ones the last stays.
    ///
    /// # Errors
    /// As [`scatter_addi`](Self::scatter_addi).
    #[doc(alias = "scatterUpdate")]
    #[track_caller]
    pub fn scatter_put<'i, 'a>(
        &self,
        indices: impl Into<Indices<'i>>,
        values: impl Into<Arg<'a>>,
        axis: isize,
    ) -> Result<&Self> {
        self.scatter_slices(
            Scatter::Update,
            "scatter_put",
            indices.into(),
            values.into(),
            axis,
        )
    }

    /// Subtracts slices of an array from the positions that the indices name along an axis, in place; repeated ones add up.
    ///
    /// # Errors
    /// As [`scatter_addi`](Self::scatter_addi); [`ArrayErrorKind::UnsupportedDType`] for truth values.
    #[doc(alias = "scatterSub")]
    #[track_caller]
    pub fn scatter_subi<'i, 'a>(
        &self,
        indices: impl Into<Indices<'i>>,
        values: impl Into<Arg<'a>>,
        axis: isize,
    ) -> Result<&Self> {
        self.scatter_slices(
            Scatter::Sub,
            "scatter_subi",
            indices.into(),
            values.into(),
            axis,
        )
    }

    /// Multiplies the positions that the indices name along an axis by slices of an array, in place, repeated ones repeatedly.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`] for a wrong axis, [`ArrayErrorKind::PositionRange`] for a position out of range,
    /// [`ArrayErrorKind::InPlaceShape`] for values that do not broadcast to the shape that [`take`](Self::take) would
    /// return, [`ArrayErrorKind::Cast`] when the result is of a higher kind.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let a = NdArray::ones([2, 2])?;
    /// a.scatter_muli(&NdArray::from([1i64, 1]), &NdArray::from([[2.0f32, 3.0], [5.0, 7.0]]), 0)?;
    /// assert_eq!(a.to_vec::<f32>()?, [1.0, 1.0, 10.0, 21.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "scatterMul")]
    #[track_caller]
    pub fn scatter_muli<'i, 'a>(
        &self,
        indices: impl Into<Indices<'i>>,
        values: impl Into<Arg<'a>>,
        axis: isize,
    ) -> Result<&Self> {
        self.scatter_slices(
            Scatter::Mul,
            "scatter_muli",
            indices.into(),
            values.into(),
            axis,
        )
    }

    /// Divides the positions that the indices name along an axis by slices of an array, in place, repeated ones repeatedly.
    ///
    /// # Errors
    /// As [`scatter_muli`](Self::scatter_muli); a quotient of integers is a float, so integer arrays give
    /// [`ArrayErrorKind::Cast`].
    #[doc(alias = "scatterDiv")]
    #[track_caller]
    pub fn scatter_divi<'i, 'a>(
        &self,
        indices: impl Into<Indices<'i>>,
        values: impl Into<Arg<'a>>,
        axis: isize,
    ) -> Result<&Self> {
        self.scatter_slices(
            Scatter::Div,
            "scatter_divi",
            indices.into(),
            values.into(),
            axis,
        )
    }

    /// Raises the positions that the indices name along an axis to at least the slices of an array, in place; NaN wins.
    ///
    /// # Errors
    /// As [`scatter_muli`](Self::scatter_muli).
    #[doc(alias = "scatterMax")]
    #[track_caller]
    pub fn scatter_maxi<'i, 'a>(
        &self,
        indices: impl Into<Indices<'i>>,
        values: impl Into<Arg<'a>>,
        axis: isize,
    ) -> Result<&Self> {
        self.scatter_slices(
            Scatter::Max,
            "scatter_maxi",
            indices.into(),
            values.into(),
            axis,
        )
    }

    /// Lowers the positions that the indices name along an axis to at most the slices of an array, in place; NaN wins.
    ///
    /// # Errors
    /// As [`scatter_muli`](Self::scatter_muli).
    #[doc(alias = "scatterMin")]
    #[track_caller]
    pub fn scatter_mini<'i, 'a>(
        &self,
        indices: impl Into<Indices<'i>>,
        values: impl Into<Arg<'a>>,
        axis: isize,
    ) -> Result<&Self> {
        self.scatter_slices(
            Scatter::Min,
            "scatter_mini",
            indices.into(),
            values.into(),
            axis,
        )
    }

    #[track_caller]
    fn scatter_slices(
        &self,
        how: Scatter,
        op: &'static str,
        indices: Indices<'_>,
        values: Arg<'_>,
        axis: isize,
    ) -> Result<&Self> {
        let indices = &*indices.array(op)?;
        self.expect_readable(op, Argument::Z)?;
        indices.expect_readable(op, Argument::X)?;
        let axis = normalize_axis(axis, self.rank()).in_op(op, self)?;
        let Some(kernel) = how.kernel() else {
            let picked = Picked::along(op, self, axis, indices)?;
            self.scatter_picked(how, op, &picked, values)?;
            return Ok(self);
        };
        // The kernels read the indices themselves.
        indices.expect_positions(op)?;
        let (before, after) = (&self.shape()[..axis], &self.shape()[axis + 1..]);
        let shape = before.iter().chain(indices.shape().iter()).chain(after);
        let values = self.scattered_values(how, op, &shape.copied().collect(), values)?;
        let (out, source) = (self.operand(), values.operand());
        let run = || kernel(out, axis, indices.operand(), source);
        watched(op, &[&values], self, run).positioned(op, self)?;
        Ok(self)
    }

    /// Combines picked elements with values.
    #[track_caller]
    pub(crate) fn scatter_picked(
        &self,
        how: Scatter,
        op: &'static str,
        picked: &Picked,
        values: Arg<'_>,
    ) -> Result<()> {
        let values = self.scattered_values(how, op, &picked.shape(), values)?;
        let Some(kernel) = how.kernel() else {
            return self.combine_picked(how, op, picked, &values);
        };
        if !picked.plan.is_exact() {
            let lowest = self.layout().bounds().map_or(0, |(lowest, _)| lowest);
            return self.scatter_places(kernel, op, picked.places(lowest)?, &values);
        }
        let (out, at) = (self.operand_as(picked.plan.layout()), picked.plan.at());
        let run = || kernel(out, at, picked.joint().operand(), values.operand());
        watched(op, &[&values], self, run)
    }

    /// Scatters to elements that are named by their distance from the lowest this array reaches, with the values of the same
    /// number.
    #[track_caller]
    pub(crate) fn scatter_places(
        &self,
        kernel: ScatterKernel,
        op: &'static str,
        places: Vec<i64>,
        values: &NdArray,
    ) -> Result<()> {
        let Some((lowest, highest)) = self.layout().bounds().filter(|_| !places.is_empty()) else {
            return Ok(());
        };
        let reach = Layout::new([highest - lowest + 1], [1], lowest).or_fail(op)?;
        let (out, source) = (self.operand_as(&reach), values.operand());
        let places = position_array(op, &places, values.shape().clone())?;
        watched(op, &[values], self, || {
            kernel(out, 0, places.operand(), source)
        })
    }

    /// Values in this array's dtype, stretched to the shape of the places they go to; for subtraction, negated.
    #[track_caller]
    pub(crate) fn scattered_values(
        &self,
        how: Scatter,
        op: &'static str,
        shape: &Shape,
        values: Arg<'_>,
    ) -> Result<NdArray> {
        self.expect_writable(op)?;
        if let Arg::Array(values) = values {
            values.expect_readable(op, Argument::Y)?;
        }
        if let Some(rule) = how.op() {
            let input = promoted(self.dtype(), &values);
            self.expect_storable(op, result_dtype(op, input, rule.result_dtype(input))?)?;
        }
        let own = match values {
            Arg::Array(values) => scope_out(|| values.cast(self.dtype())).located()?,
            Arg::Scalar(value) => {
                scope_out(|| NdArray::full_of(self.dtype(), (), value)).located()?
            }
        };
        let own = match how {
            Scatter::Sub => scope_out(|| own.rsub(0)).located()?,
            _ => own,
        };
        match own.layout().broadcast_to(shape) {
            Ok(layout) => Ok(own.with_layout(layout)),
            Err(_) => {
                let (shape, view) = (shape.clone(), true);
                let (dtype, order) = (self.dtype(), None);
                let target = ArraySummary {
                    dtype,
                    shape,
                    order,
                    view,
                };
                let rhs = ArraySummary::of(&own);
                Err(ArrayError::new(ArrayErrorKind::InPlaceShape {
                    op,
                    target,
                    rhs,
                }))
            }
        }
    }
}
