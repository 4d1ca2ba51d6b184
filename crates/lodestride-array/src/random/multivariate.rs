//! Normal vectors of a given mean and covariance.

use lodestride_buffer::{Argument, DType};
use lodestride_kernels::random as draw;
use lodestride_shape::{Order, Shape};

use super::distributions::numbers;
use super::vectors::{dtype_in, vectors_in};
use super::{Rng, expect_float, float_default};
use crate::checks::Watch;
use crate::error::{ArrayError, ArrayErrorKind, ArraySummary, OrFail, Result};
use crate::{LinalgProblem, NdArray};

const OP: &str = "multivariate_normal";

impl Rng {
    /// Normal vectors of the default dtype, one for each position of `shape`, of the given mean and covariance. With the feature
    /// `linalg`.
    ///
    /// The covariance may be singular: then the vectors lie in a plane of fewer dimensions. Standard normal numbers are
    /// multiplied by its symmetric square root, in f64.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Form`] when the mean is no vector, [`ArrayErrorKind::Operands`] when the covariance has not a row and a
    /// column for each of its elements, [`ArrayErrorKind::Kernel`] when an element is not finite, [`ArrayErrorKind::Linalg`] when
    /// the covariance is not symmetric or has a negative eigenvalue, by more than the rounding of its dtype explains.
    ///
    /// ```
    /// use lodestride_array::{NdArray, Rng};
    ///
    /// let covariance = NdArray::from([[2.0, 1.2], [1.2, 1.0]]);
    /// let points = Rng::seeded(1).multivariate_normal([20_000], &NdArray::from([5.0, -5.0]), &covariance)?;
    /// assert_eq!(points.shape()[..], [20_000, 2]);
    /// assert!(points.transpose().covariance(1)?.all_close(&covariance, 0.0, 0.1)?);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn multivariate_normal(
        &mut self,
        shape: impl Into<Shape>,
        mean: &NdArray,
        covariance: &NdArray,
    ) -> Result<NdArray> {
        self.multivariate_normal_of(float_default(), shape, mean, covariance)
    }

    /// [`multivariate_normal`](Self::multivariate_normal) of the given float dtype.
    ///
    /// # Errors
    /// As [`multivariate_normal`](Self::multivariate_normal); [`ArrayErrorKind::UnsupportedDType`] for another kind of dtype.
    ///
    /// ```
    /// use lodestride_array::{DType, NdArray, Rng};
    ///
    /// let (mean, covariance) = (NdArray::from([1.0, 2.0]), NdArray::from([[1.0, 1.0], [1.0, 1.0]]));
    /// let point = Rng::seeded(1).multivariate_normal_of(DType::F64, [], &mean, &covariance)?;
    /// assert!((point.get_f64([1])? - point.get_f64([0])? - 1.0).abs() < 1e-12);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[track_caller]
    pub fn multivariate_normal_of(
        &mut self,
        dtype: DType,
        shape: impl Into<Shape>,
        mean: &NdArray,
        covariance: &NdArray,
    ) -> Result<NdArray> {
        let watch = Watch::start();
        mean.expect_readable(OP, Argument::X)?;
        covariance.expect_readable(OP, Argument::Y)?;
        expect_float(OP, dtype)?;
        let [size] = mean.shape()[..] else {
            return Err(mean.unfit(OP, "a vector"));
        };
        if covariance.shape()[..] != [size, size] {
            return Err(ArrayError::new(ArrayErrorKind::Operands {
                op: OP,
                expected: "a covariance with a row and a column for each element of the mean",
                lhs: ArraySummary::of(mean),
                rhs: ArraySummary::of(covariance),
            }));
        }
        numbers(OP, "mean", mean, f64::is_finite)?;
        let root = root(covariance, size)?;
        let whole = [&shape.into()[..], &[size]].concat();
        let whole = Shape::from(&whole[..]);
        let standard = NdArray::recycled_ordered(OP, DType::F64, whole, Order::C)?;
        draw::normal(self.seed, self.next_stream(), 0.0, 1.0, standard.operand()).or_fail(OP)?;
        let points = standard.matmul(&root)?;
        points.addi(mean)?;
        watch.made(OP, &[mean, covariance], points.cast(dtype))
    }

    /// [`multivariate_normal`](Self::multivariate_normal) into an array of any float dtype whose last axis counts the elements
    /// of a vector.
    ///
    /// # Errors
    /// As [`multivariate_normal`](Self::multivariate_normal); [`ArrayErrorKind::OutputShape`] or [`ArrayErrorKind::Cast`]
    /// when `out` does not fit.
    #[track_caller]
    pub fn fill_multivariate_normal(
        &mut self,
        out: &NdArray,
        mean: &NdArray,
        covariance: &NdArray,
    ) -> Result<()> {
        out.store("fill_multivariate_normal", &[mean, covariance], || {
            self.multivariate_normal_of(dtype_in(out), vectors_in(out), mean, covariance)
        })
    }
}

/// The symmetric square root of a covariance, as f64. Unlike a triangular one there is always one, and but one.
#[track_caller]
fn root(covariance: &NdArray, size: usize) -> Result<NdArray> {
    let values = numbers(OP, "covariance", covariance, f64::is_finite)?;
    let largest = values
        .iter()
        .fold(0.0f64, |most, value| most.max(value.abs()));
    let tolerance = largest * rounding(covariance.dtype(), size);
    let fault = |problem| {
        let array = ArraySummary::of(covariance);
        ArrayError::new(ArrayErrorKind::Linalg {
            op: OP,
            problem,
            array,
        })
    };
    let at = |row: usize, column: usize| values[row * size + column];
    for row in 0..size {
        for column in 0..row {
            if (at(row, column) - at(column, row)).abs() > tolerance {
                return Err(fault(LinalgProblem::NotSymmetric {
                    matrix: 0,
                    row,
                    column,
                }));
            }
        }
    }
    let found = covariance.cast(DType::F64)?.eigh()?;
    // The smallest comes first.
    let smallest = found.values.to_vec::<f64>()?.first().copied();
    if let Some(eigenvalue) = smallest.filter(|&value| value < -tolerance) {
        return Err(fault(LinalgProblem::NotPositiveSemidefinite {
            matrix: 0,
            eigenvalue,
        }));
    }
    let deviations = found.values.maximum(0.0)?.sqrt()?;
    found
        .vectors
        .mul(&deviations)?
        .matmul(&found.vectors.transpose())
}

/// How far, relative to its largest element, rounding may take a covariance of so many rows from being one.
fn rounding(dtype: DType, size: usize) -> f64 {
    let place = match dtype {
        DType::BF16 => 1.0 / 128.0,
        DType::F16 => 1.0 / 1024.0,
        DType::F32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    };
    (place * size as f64).max(1e-8)
}
