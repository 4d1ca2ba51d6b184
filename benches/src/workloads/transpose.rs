//! A matrix copied so that its transpose lies in C order.

use std::cell::RefCell;

use lodestride::array::{NdArray, Order};
use ndarray::Array2;

use crate::answers::{of_candle, of_ndarray, of_ours, tensor, uniform};
use crate::contest::{Contest, Failure, Limit};
use crate::suite::Suite;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    let n = suite.size(4096, 1024);
    let names = [
        format!("transpose {n}x{n}, new result"),
        format!("transpose {n}x{n}, given output"),
    ];
    if !names.iter().any(|name| suite.wants(name)) {
        return Ok(());
    }
    let x = uniform(n * n, 1, -1.0, 1.0);
    let a = NdArray::from_vec(x.clone(), [n, n])?;
    let b = Array2::from_shape_vec((n, n), x.clone())?;
    let c = tensor(x, (n, n))?;
    let contest = |name| {
        let contest = Contest::new(name, 0.0);
        if n >= 4096 {
            contest.limit(Limit::Bytes(8 * n * n))
        } else {
            contest
        }
    };
    if suite.wants(&names[0]) {
        let mut contest = contest(&names[0]);
        contest.ours(|| a.transpose().dup_order(Order::C), of_ours)?;
        contest.sure_rival(
            "ndarray",
            || b.t().as_standard_layout().into_owned(),
            of_ndarray,
        )?;
        contest.rival("candle", || c.t()?.contiguous(), of_candle)?;
        suite.run(contest)?;
    }
    if suite.wants(&names[1]) {
        let out = NdArray::zeros([n, n])?;
        let their_out = RefCell::new(Array2::<f32>::zeros((n, n)));
        let mut contest = contest(&names[1]);
        contest.ours(
            || out.assign(&a.transpose()).map(drop),
            |()| of_ours(out.clone()),
        )?;
        contest.sure_rival(
            "ndarray",
            || their_out.borrow_mut().assign(&b.t()),
            |()| of_ndarray(their_out.borrow().clone()),
        )?;
        suite.run(contest)?;
    }
    Ok(())
}
