//! Normalising along one axis: softmax, its logarithm, layer normalisation.

use lodestride_buffer::DType;
use lodestride_kernels::{self as kernels, ReduceOp};
use lodestride_shape::normalize_axis;
use smallvec::SmallVec;

use crate::NdArray;
use crate::checks::watched;
use crate::error::{InOp, Result};
use crate::target::Target;

impl NdArray {
    /// `exp(x) / sum(exp(x))` along an axis, without overflow on the way; integers give f64.
    ///
    /// A row that holds a NaN or whose maximum is infinite is NaN, as in NumPy.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for a wrong axis.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let p = NdArray::from([[0.0f32, 0.0], [1000.0, 0.0]]).softmax(1)?;
    /// assert_eq!(p.to_vec::<f32>()?, [0.5, 0.5, 1.0, 0.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn softmax(&self, axis: isize) -> Result<NdArray> {
        let out = self.like_float("softmax", axis)?;
        self.softmax_into(axis, &out)?;
        Ok(out)
    }

    /// [`softmax`](Self::softmax) into a floating array of the same shape.
    ///
    /// # Errors
    /// As [`softmax`](Self::softmax); [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) when `out` does not fit.
    #[track_caller]
    pub fn softmax_into(&self, axis: isize, out: &NdArray) -> Result<()> {
        let axis = normalize_axis(axis, self.rank()).in_op("softmax", self)?;
        let run = || kernels::softmax(self.operand(), axis, false, out.operand());
        watched("softmax", &[self], out, run)
    }

    /// The logarithm of [`softmax`](Self::softmax), accurate where that is small.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for a wrong axis.
    #[track_caller]
    pub fn log_softmax(&self, axis: isize) -> Result<NdArray> {
        let out = self.like_float("log_softmax", axis)?;
        self.log_softmax_into(axis, &out)?;
        Ok(out)
    }

    /// [`log_softmax`](Self::log_softmax) into a floating array of the same shape.
    ///
    /// # Errors
    /// As [`softmax_into`](Self::softmax_into).
    #[track_caller]
    pub fn log_softmax_into(&self, axis: isize, out: &NdArray) -> Result<()> {
        let axis = normalize_axis(axis, self.rank()).in_op("log_softmax", self)?;
        let run = || kernels::softmax(self.operand(), axis, true, out.operand());
        watched("log_softmax", &[self], out, run)
    }

    /// `(x - mean) / sqrt(var + epsilon) * gain + bias` along an axis: every row along it gets mean 0 and variance 1, then
    /// the gain and bias of its positions, vectors as long as the axis.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Shape`](crate::ArrayErrorKind::Shape) for a wrong axis,
    /// [`ArrayErrorKind::Kernel`](crate::ArrayErrorKind::Kernel) when `gain` or `bias` does not fit or `epsilon` is negative.
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let x = NdArray::from([[1.0f32, 3.0], [8.0, 4.0]]);
    /// assert_eq!(x.layer_norm(1, None, None, 0.0)?.to_vec::<f32>()?, [-1.0, 1.0, 1.0, -1.0]);
    ///
    /// let (gain, bias) = (NdArray::from([2.0f32, 2.0]), NdArray::from([0.0f32, 1.0]));
    /// let y = x.layer_norm(1, Some(&gain), Some(&bias), 0.0)?;
    /// assert_eq!(y.to_vec::<f32>()?, [-2.0, 3.0, 2.0, -1.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn layer_norm(
        &self,
        axis: isize,
        gain: Option<&NdArray>,
        bias: Option<&NdArray>,
        epsilon: f64,
    ) -> Result<NdArray> {
        const OP: &str = "layer_norm";
        let out = self.like_float(OP, axis)?;
        let axis = normalize_axis(axis, self.rank()).in_op(OP, self)?;
        let (gain, bias) = (gain.map(NdArray::operand), bias.map(NdArray::operand));
        let run = || kernels::layer_norm(self.operand(), axis, gain, bias, epsilon, out.operand());
        watched(OP, &[self], &out, run)?;
        Ok(out)
    }

    /// [`layer_norm`](Self::layer_norm) into an array of the result's shape.
    ///
    /// # Errors
    /// As [`layer_norm`](Self::layer_norm); [`ArrayErrorKind::OutputShape`](crate::ArrayErrorKind::OutputShape) or
    /// [`ArrayErrorKind::Cast`](crate::ArrayErrorKind::Cast) when `out` does not fit.
    #[track_caller]
    pub fn layer_norm_into(
        &self,
        axis: isize,
        gain: Option<&NdArray>,
        bias: Option<&NdArray>,
        epsilon: f64,
        out: &NdArray,
    ) -> Result<()> {
        const OP: &str = "layer_norm_into";
        let axis = normalize_axis(axis, self.rank()).in_op(OP, self)?;
        let (shape, dtype) = (
            self.shape().clone(),
            ReduceOp::Mean.result_dtype(self.dtype()),
        );
        let inputs: SmallVec<[&NdArray; 3]> =
            [Some(self), gain, bias].into_iter().flatten().collect();
        let into = Target::Into(out);
        into.fill(OP, dtype, shape, &inputs, |out| {
            let (gain, bias) = (gain.map(NdArray::operand), bias.map(NdArray::operand));
            let run =
                || kernels::layer_norm(self.operand(), axis, gain, bias, epsilon, out.operand());
            watched(OP, &[self], out, run)
        })
        .map(drop)
    }

    /// An array for a result of the same shape: of the same dtype, or f64 for integers; as this one lies in memory.
    #[track_caller]
    fn like_float(&self, op: &'static str, axis: isize) -> Result<NdArray> {
        normalize_axis(axis, self.rank()).in_op(op, self)?;
        let dtype: DType = ReduceOp::Mean.result_dtype(self.dtype());
        self.recycled_like(op, dtype)
    }
}
