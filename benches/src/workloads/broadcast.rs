//! A matrix and something smaller that is repeated along it.

use std::cell::RefCell;

use lodestride::array::NdArray;
use ndarray::{ArrayD, Zip};

use crate::answers::{Data, Real, of_candle, of_ndarray, of_ours, size};
use crate::contest::{Contest, Failure, Limit};
use crate::suite::Suite;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    of_type::<f32>(suite)?;
    of_type::<f64>(suite)
}

fn of_type<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    add::<T>(suite, "bc.row", &[4096, 1024], &[1024])?;
    add::<T>(suite, "bc.col", &[4096, 1024], &[4096, 1])?;
    add::<T>(suite, "bc.3d1d", &[64, 128, 512], &[512])
}

fn add<T: Real>(
    suite: &mut Suite,
    workload: &str,
    shape: &[usize],
    smaller: &[usize],
) -> Result<(), Failure> {
    let Some(key) = suite.wants(workload, &size(shape), T::NAME) else {
        return Ok(());
    };
    let (x, y) = (
        Data::<T>::new(shape, 1, 0.1, 1.0),
        Data::<T>::new(smaller, 2, 0.1, 1.0),
    );
    let (a, b) = (x.ours()?, y.ours()?);
    let out = NdArray::zeros_of(T::OURS, shape.to_vec())?;
    let (c, d) = (x.any()?, y.any()?);
    let (e, f) = (x.candle()?, y.candle()?);
    let their_out = RefCell::new(ArrayD::<T>::zeros(shape.to_vec()));
    let limit = Limit::Copied(2 * size_of::<T>() * x.values.len());
    let mut contest = Contest::new(key, T::CLOSE).limit(limit);
    contest.ours(|| a.add_into(&b, &out), |()| of_ours(out.clone()))?;
    contest.sure_rival(
        "ndarray",
        || {
            let mut out = their_out.borrow_mut();
            let all = Zip::from(&mut *out).and(&c).and_broadcast(&d);
            all.for_each(|z, &x, &y| *z = x + y);
        },
        |()| of_ndarray(their_out.borrow().clone()),
    )?;
    contest.rival("candle", || e.broadcast_add(&f), of_candle)?;
    suite.run(contest)
}
