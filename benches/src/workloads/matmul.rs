//! Products of square matrices, in both float sizes.

use lodestride::array::{DType, NdArray};
use ndarray::{Array2, LinalgScalar};

use crate::answers::{of_candle, of_ndarray, of_ours, tensor, uniform};
use crate::contest::{Contest, Failure, Limit};
use crate::suite::Suite;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    for n in [64, 1024] {
        let flops = 2.0 * (n as f64).powi(3);
        let cases = [
            (
                DType::F32,
                candle_core::DType::F32,
                Limit::SingleFlops(flops),
            ),
            (
                DType::F64,
                candle_core::DType::F64,
                Limit::DoubleFlops(flops),
            ),
        ];
        for (ours, candle, limit) in cases {
            let name = format!("matmul {n} {ours}");
            if !suite.wants(&name) {
                continue;
            }
            // The entries of a product are sums of n terms of size 1.
            let tolerance = if ours == DType::F32 { 1e-5 } else { 1e-13 } * n as f64;
            let contest = Contest::new(&name, tolerance).limit(limit);
            match ours {
                DType::F32 => product::<f32>(suite, contest, n, ours, candle)?,
                _ => product::<f64>(suite, contest, n, ours, candle)?,
            }
        }
    }
    Ok(())
}

fn product<T: LinalgScalar + From<f32> + Into<f64>>(
    suite: &mut Suite,
    mut contest: Contest<'_>,
    n: usize,
    dtype: DType,
    candle: candle_core::DType,
) -> Result<(), Failure> {
    let (x, y) = (uniform(n * n, 1, -1.0, 1.0), uniform(n * n, 2, -1.0, 1.0));
    let ours = |values: &[f32]| NdArray::from_vec(values.to_vec(), [n, n])?.cast(dtype);
    let (a, b) = (ours(&x)?, ours(&y)?);
    let theirs = |values: &[f32]| {
        let values = values.iter().map(|&value| T::from(value)).collect();
        Array2::from_shape_vec((n, n), values)
    };
    let (c, d) = (theirs(&x)?, theirs(&y)?);
    let e = tensor(x, (n, n))?.to_dtype(candle)?;
    let f = tensor(y, (n, n))?.to_dtype(candle)?;
    contest.ours(move || a.matmul(&b), of_ours)?;
    contest.sure_rival("ndarray", move || c.dot(&d), of_ndarray)?;
    contest.rival("candle", move || e.matmul(&f), of_candle)?;
    suite.run(contest)
}
