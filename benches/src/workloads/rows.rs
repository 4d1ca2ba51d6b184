//! Softmax, layer norm and the logarithm of a sum of exponentials along the last axis.

use std::cell::RefCell;

use candle_core::D;
use ndarray::Axis;
use rten_simd::SimdOp;
use rten_vecmath::{ExtendInit, Softmax};

use crate::answers::{Data, Real, of_candle, of_ndarray, of_ours, of_slice, size};
use crate::contest::{Contest, Failure, Limit};
use crate::suite::Suite;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    of_type::<f32>(suite)?;
    of_type::<f64>(suite)
}

fn of_type<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    for shape in [[4096, 1024], [100_000, 10]] {
        softmax::<T>(suite, shape)?;
        layer_norm::<T>(suite, shape)?;
        log_sum_exp::<T>(suite, shape)?;
    }
    Ok(())
}

/// Rivals are right to fewer digits than their element type has.
fn close<T>() -> f64 {
    if size_of::<T>() == 4 { 1e-5 } else { 1e-12 }
}

pub(crate) fn softmax<T: Real>(suite: &mut Suite, shape: [usize; 2]) -> Result<(), Failure> {
    let Some(key) = suite.wants("sm.softmax", &size(&shape), T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&shape, 1, -3.0, 3.0);
    let (a, b, c) = (x.ours()?, x.matrix()?, x.candle()?);
    let rten_out = RefCell::new(Vec::with_capacity(x.values.len()));
    let limit = Limit::Copied(2 * size_of::<T>() * x.values.len());
    let mut contest = Contest::new(key, close::<T>()).limit(limit);
    contest.ours(|| a.softmax(-1), of_ours)?;
    contest.sure_rival(
        "ndarray",
        || {
            let mut out = b.clone();
            for mut row in out.outer_iter_mut() {
                let most = row.fold(
                    T::neg_infinity(),
                    |most, &x| if x > most { x } else { most },
                );
                row.mapv_inplace(|x| (x - most).exp());
                let sum = row.sum();
                row /= sum;
            }
            out
        },
        of_ndarray,
    )?;
    contest.rival("candle", || candle_nn::ops::softmax_last_dim(&c), of_candle)?;
    if let Some(values) = T::single(&x.values) {
        contest.sure_rival(
            "rten",
            || {
                let mut out = rten_out.borrow_mut();
                out.clear();
                for row in values.chunks_exact(shape[1]) {
                    out.extend_init(|place| Softmax::new(row, &mut place[..row.len()]).dispatch());
                }
            },
            |()| of_slice(&rten_out.borrow()),
        )?;
    }
    suite.run(contest)
}

fn layer_norm<T: Real>(suite: &mut Suite, shape: [usize; 2]) -> Result<(), Failure> {
    let Some(key) = suite.wants("sm.layernorm", &size(&shape), T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&shape, 1, -3.0, 3.0);
    let [g, h] = [2, 3].map(|stream| Data::<T>::new(&shape[1..], stream, 0.1, 1.0));
    let (a, b, c) = (x.ours()?, g.ours()?, h.ours()?);
    let (e, f, i) = (x.candle()?, g.candle()?, h.candle()?);
    let limit = Limit::Copied(2 * size_of::<T>() * x.values.len());
    let mut contest = Contest::new(key, 10.0 * close::<T>()).limit(limit);
    contest.ours(|| a.layer_norm(-1, Some(&b), Some(&c), 1e-5), of_ours)?;
    if T::single(&x.values).is_some() {
        contest.rival(
            "candle",
            || candle_nn::ops::layer_norm(&e, &f, &i, 1e-5),
            of_candle,
        )?;
    } else {
        // Its fused form knows f32 only.
        let slow = || candle_nn::ops::layer_norm_slow(&e, &f, &i, 1e-5);
        contest.rival("candle", slow, of_candle)?;
    }
    suite.run(contest)
}

fn log_sum_exp<T: Real>(suite: &mut Suite, shape: [usize; 2]) -> Result<(), Failure> {
    let Some(key) = suite.wants("sm.logsumexp", &size(&shape), T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&shape, 1, -3.0, 3.0);
    let (a, b, c) = (x.ours()?, x.matrix()?, x.candle()?);
    let limit = Limit::Read(size_of::<T>() * x.values.len());
    let mut contest = Contest::new(key, close::<T>()).limit(limit);
    contest.ours(|| a.log_sum_exp(-1), of_ours)?;
    contest.sure_rival(
        "ndarray",
        || {
            b.map_axis(Axis(1), |row| {
                let most = row.fold(
                    T::neg_infinity(),
                    |most, &x| if x > most { x } else { most },
                );
                most + row.fold(T::zero(), |sum, &x| sum + (x - most).exp()).ln()
            })
        },
        of_ndarray,
    )?;
    contest.rival("candle", || c.log_sum_exp(D::Minus1), of_candle)?;
    suite.run(contest)
}
