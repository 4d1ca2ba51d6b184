//! `exp` of a million numbers between -10 and 10.

use std::cell::RefCell;

use lodestride::array::NdArray;
use ndarray::{Array1, Zip};

use crate::answers::{of_candle, of_ndarray, of_ours, tensor, uniform};
use crate::contest::{Contest, Failure};
use crate::suite::Suite;

const COUNT: usize = 1_000_000;

/// A few units in the last place: every library has its own approximation.
const TOLERANCE: f64 = 1e-6;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    let names = ["exp 1e6, new result", "exp 1e6, given output"];
    if !names.iter().any(|name| suite.wants(name)) {
        return Ok(());
    }
    let x = uniform(COUNT, 1, -10.0, 10.0);
    let a = NdArray::from_vec(x.clone(), [COUNT])?;
    let b = Array1::from_vec(x.clone());
    let c = tensor(x, COUNT)?;
    if suite.wants(names[0]) {
        let mut contest = Contest::new(names[0], TOLERANCE);
        contest.ours(|| a.exp(), of_ours)?;
        contest.sure_rival("ndarray", || b.mapv(f32::exp), of_ndarray)?;
        contest.rival("candle", || c.exp(), of_candle)?;
        suite.run(contest)?;
    }
    if suite.wants(names[1]) {
        let out = NdArray::zeros([COUNT])?;
        let their_out = RefCell::new(Array1::<f32>::zeros(COUNT));
        let mut contest = Contest::new(names[1], TOLERANCE);
        contest.ours(|| a.exp_into(&out), |()| of_ours(out.clone()))?;
        contest.sure_rival(
            "ndarray Zip",
            || {
                let mut out = their_out.borrow_mut();
                Zip::from(&mut *out).and(&b).for_each(|y, x| *y = x.exp());
            },
            |()| of_ndarray(their_out.borrow().clone()),
        )?;
        suite.run(contest)?;
    }
    Ok(())
}
