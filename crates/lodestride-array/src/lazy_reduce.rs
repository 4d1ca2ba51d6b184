//! Expressions that end in a reduction: values are made and folded tile by tile, in one pass over the arrays.

use lodestride_buffer::DType;
use lodestride_kernels::ReduceOp;
use lodestride_shape::{Axes, Layout, Order};

use crate::NdArray;
use crate::error::{OrFail, Result};
use crate::fused::common_shape;
use crate::lazy::Lazy;
use crate::lazy_run::with_inputs;

impl Lazy<'_> {
    /// Reduces the expression's values over the given axes, in one pass over its arrays: the values themselves never reach
    /// memory.
    ///
    /// The result is that of [`eval`](Lazy::eval) and then the reduction, but for the last place of sums of floats, whose
    /// order differs. It does not depend on the number of threads.
    ///
    /// One pass pays for arrays larger than the caches; for small ones `eval` and the array's own method are quicker.
    ///
    /// ```
    /// use lodestride_array::{NdArray, kernels::ReduceOp};
    ///
    /// let (a, b) = (NdArray::from([[1.0f32, 5.0], [2.0, 2.0]]), NdArray::from([1.0f32, 1.0]));
    /// let furthest = (a.lazy() - &b).abs().reduce(ReduceOp::Max, 1)?;
    /// assert_eq!(furthest.to_vec::<f32>()?, [4.0, 1.0]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// As [`eval`](Lazy::eval); `Shape` for a wrong axis, `Kernel` for an extreme of nothing.
    #[track_caller]
    pub fn reduce(&self, op: ReduceOp, axes: impl Into<Axes>) -> Result<NdArray> {
        let name = op.name();
        let arrays = self.arrays();
        let program = self.compiled(name, &arrays).or_fail(name)?;
        let shape = common_shape(name, &arrays)?;
        let axes = axes.into().resolve(shape.rank()).or_fail(name)?;
        let value = program.output_dtype(0).unwrap_or(DType::F32);
        let dtype = op.result_dtype(value);
        let out = NdArray::recycled_ordered(name, dtype, axes.removed_shape(&shape), Order::C)?;
        with_inputs(name, &arrays, &shape, &out, |inputs| {
            program.reduce(op, inputs, axes.axes(), out.operand())
        })?;
        if !axes.keeps() {
            return Ok(out);
        }
        let layout = Layout::contiguous(axes.kept_shape(&shape), Order::C).or_fail(name)?;
        Ok(NdArray::whole(out.buffer().clone(), layout, dtype))
    }

    /// The sum of the expression's values over the given axes, in one pass: [`reduce`](Lazy::reduce).
    ///
    /// ```
    /// use lodestride_array::NdArray;
    ///
    /// let (a, b) = (NdArray::from([1.0f64, 2.0]), NdArray::from([4.0f64, 6.0]));
    /// assert_eq!((a.lazy() - &b).square().sum(..)?.item::<f64>()?, 25.0);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// As [`reduce`](Lazy::reduce).
    #[track_caller]
    pub fn sum(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::Sum, axes)
    }

    /// The mean of the expression's values over the given axes, in one pass: [`reduce`](Lazy::reduce).
    ///
    /// # Errors
    /// As [`reduce`](Lazy::reduce).
    #[track_caller]
    pub fn mean(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::Mean, axes)
    }

    /// The largest of the expression's values over the given axes, in one pass: [`reduce`](Lazy::reduce).
    ///
    /// # Errors
    /// As [`reduce`](Lazy::reduce).
    #[track_caller]
    pub fn max(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::Max, axes)
    }

    /// The smallest of the expression's values over the given axes, in one pass: [`reduce`](Lazy::reduce).
    ///
    /// # Errors
    /// As [`reduce`](Lazy::reduce).
    #[track_caller]
    pub fn min(&self, axes: impl Into<Axes>) -> Result<NdArray> {
        self.reduce(ReduceOp::Min, axes)
    }
}
