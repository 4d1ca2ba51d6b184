//! Numbers of every library in one form, for the comparison that each workload starts with, and the data they work on.

use candle_core::{Device, Tensor, WithDType};
use faer::traits::RealField;
use lodestride::array::{DType, Element, NdArray};
use ndarray::{Array, Array1, Array2, ArrayD, Dimension, NdFloat};
use num_traits::FromPrimitive;

use crate::contest::Failure;

/// The two element types that every library has.
pub(crate) trait Real:
    Element + NdFloat + FromPrimitive + WithDType + RealField + Into<f64>
{
    /// Ours of it.
    const OURS: DType;

    /// What the tables call it.
    const NAME: &'static str = Self::OURS.name();

    /// What a relative error of a few units in the last place is.
    const CLOSE: f64;

    /// The same number.
    fn of(value: f32) -> Self;

    /// Itself as `f32`, for libraries that know nothing else.
    fn single(values: &[Self]) -> Option<&[f32]>;
}

impl Real for f32 {
    const OURS: DType = DType::F32;
    const CLOSE: f64 = 2e-6;

    fn of(value: f32) -> f32 {
        value
    }

    fn single(values: &[Self]) -> Option<&[f32]> {
        Some(values)
    }
}

impl Real for f64 {
    const OURS: DType = DType::F64;
    const CLOSE: f64 = 1e-14;

    fn of(value: f32) -> f64 {
        f64::from(value)
    }

    fn single(_: &[Self]) -> Option<&[f32]> {
        None
    }
}

/// Elements of an array of ours, in C order.
pub(crate) fn of_ours(array: NdArray) -> Result<Vec<f64>, Failure> {
    Ok(array.to_f64_vec()?)
}

/// Elements of an `ndarray` array, in its logical order.
pub(crate) fn of_ndarray<A: Into<f64> + Copy, D: Dimension>(
    array: Array<A, D>,
) -> Result<Vec<f64>, Failure> {
    Ok(array.iter().map(|&value| value.into()).collect())
}

/// Elements of a candle tensor, in C order.
pub(crate) fn of_candle(tensor: Tensor) -> Result<Vec<f64>, Failure> {
    let tensor = tensor.to_dtype(candle_core::DType::F64)?;
    Ok(tensor.flatten_all()?.to_vec1()?)
}

/// Elements of a slice.
pub(crate) fn of_slice<A: Into<f64> + Copy>(values: &[A]) -> Result<Vec<f64>, Failure> {
    Ok(values.iter().map(|&value| value.into()).collect())
}

/// Evenly spread values in `low..high`, the same in every run; `stream` chooses among sequences. `peers.py` makes the same.
pub(crate) fn uniform(count: usize, stream: u64, low: f32, high: f32) -> Vec<f32> {
    let mut state = stream.wrapping_mul(0xD1B5_4A32_D192_ED03);
    let next = || {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let unit = ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 24) as f32;
        low + (high - low) * unit
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// Positions in `0..bound`, the same in every run.
pub(crate) fn positions(count: usize, stream: u64, bound: usize) -> Vec<i64> {
    let values = uniform(count, stream, 0.0, 1.0);
    let scaled = values.iter().map(|&v| (f64::from(v) * bound as f64) as i64);
    scaled.collect()
}

/// The same numbers in the form of every library.
#[derive(Clone, Debug)]
pub(crate) struct Data<T> {
    pub(crate) values: Vec<T>,
    shape: Vec<usize>,
}

impl<T: Real> Data<T> {
    /// Values of [`uniform`] in this shape.
    pub(crate) fn new(shape: &[usize], stream: u64, low: f32, high: f32) -> Data<T> {
        let values = uniform(shape.iter().product(), stream, low, high);
        Data {
            values: values.into_iter().map(T::of).collect(),
            shape: shape.to_vec(),
        }
    }

    /// All the same number.
    pub(crate) fn full(shape: &[usize], value: f32) -> Data<T> {
        Data {
            values: vec![T::of(value); shape.iter().product()],
            shape: shape.to_vec(),
        }
    }

    /// Ours.
    pub(crate) fn ours(&self) -> Result<NdArray, Failure> {
        Ok(NdArray::from_vec(self.values.clone(), self.shape.clone())?)
    }

    /// An `ndarray` array of known rank 1; the values in C order.
    pub(crate) fn line(&self) -> Array1<T> {
        Array1::from_vec(self.values.clone())
    }

    /// An `ndarray` array of known rank 2.
    pub(crate) fn matrix(&self) -> Result<Array2<T>, Failure> {
        let shape = (self.shape[0], self.shape[1..].iter().product::<usize>());
        Ok(Array2::from_shape_vec(shape, self.values.clone())?)
    }

    /// An `ndarray` array of a rank that is known at run time only.
    pub(crate) fn any(&self) -> Result<ArrayD<T>, Failure> {
        Ok(ArrayD::from_shape_vec(
            self.shape.clone(),
            self.values.clone(),
        )?)
    }

    /// A candle tensor on the processor.
    pub(crate) fn candle(&self) -> Result<Tensor, Failure> {
        let shape = self.shape.as_slice();
        Ok(Tensor::from_vec(self.values.clone(), shape, &Device::Cpu)?)
    }
}

/// A size as the tables write it: `1e5` for whole powers of ten, `4096x1024`.
pub(crate) fn size(shape: &[usize]) -> String {
    let one = |&count: &usize| {
        let zeros = count.max(1).ilog10();
        if zeros > 2 && count == 10usize.pow(zeros) {
            format!("1e{zeros}")
        } else {
            count.to_string()
        }
    };
    shape.iter().map(one).collect::<Vec<_>>().join("x")
}
