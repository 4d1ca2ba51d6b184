//! Sums of a square matrix: down the columns, along the rows, and of everything.

use lodestride::array::NdArray;
use ndarray::{Array2, Axis};

use crate::answers::{of_candle, of_ndarray, of_ours, tensor, uniform};
use crate::contest::{Contest, Failure, Limit};
use crate::suite::Suite;

/// Rivals add one after the other in `f32`; the longest sum here has sixteen million terms.
const TOLERANCE: f64 = 1e-3;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    let n = suite.size(4096, 1024);
    let name = |what: &str| format!("sum {what} {n}x{n}");
    let names = [name("axis 0"), name("axis 1"), name("all")];
    if !names.iter().any(|name| suite.wants(name)) {
        return Ok(());
    }
    let x = uniform(n * n, 1, -0.5, 1.5);
    let a = NdArray::from_vec(x.clone(), [n, n])?;
    let b = Array2::from_shape_vec((n, n), x.clone())?;
    let c = tensor(x, (n, n))?;
    let contest = |name| {
        let contest = Contest::new(name, TOLERANCE);
        // A smaller matrix is read from the caches.
        if n >= 4096 {
            contest.limit(Limit::Bytes(4 * n * n))
        } else {
            contest
        }
    };
    for (axis, name) in [0, 1].into_iter().zip(&names) {
        if suite.wants(name) {
            let mut contest = contest(name);
            contest.ours(|| a.sum(axis), of_ours)?;
            contest.sure_rival("ndarray", || b.sum_axis(Axis(axis)), of_ndarray)?;
            contest.rival("candle", || c.sum(axis), of_candle)?;
            suite.run(contest)?;
        }
    }
    if suite.wants(&names[2]) {
        let mut contest = contest(&names[2]);
        contest.ours(|| a.sum_number(), |sum| Ok(vec![sum]))?;
        contest.sure_rival("ndarray", || b.sum(), |sum| Ok(vec![f64::from(sum)]))?;
        contest.rival("candle", || c.sum_all(), of_candle)?;
        suite.run(contest)?;
    }
    Ok(())
}
