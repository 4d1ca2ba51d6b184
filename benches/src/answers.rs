//! Numbers of every library in one form, for the comparison that each workload starts with, and the data they work on.

use candle_core::{DType, Device, Tensor};
use lodestride::array::NdArray;
use ndarray::{Array, Dimension};

use crate::contest::Failure;

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
    Ok(tensor.to_dtype(DType::F64)?.flatten_all()?.to_vec1()?)
}

/// Evenly spread values in `low..high`, the same in every run; `stream` chooses among sequences.
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

/// A candle tensor on the processor.
pub(crate) fn tensor(
    values: Vec<f32>,
    shape: impl Into<candle_core::Shape>,
) -> candle_core::Result<Tensor> {
    Tensor::from_vec(values, shape.into(), &Device::Cpu)
}
