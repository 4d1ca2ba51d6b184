//! What a call costs when there is almost nothing to compute.

use std::cell::RefCell;
use std::convert::Infallible;
use std::hint::black_box;

use lodestride::array::{ArrayError, Workspace};
use ndarray::{ArrayD, Axis};

use crate::answers::{Data, of_candle, of_ndarray, of_ours};
use crate::contest::{Contest, Failure};
use crate::suite::Suite;

const TURNS: usize = 1000;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    single(suite)?;
    given(suite)?;
    row(suite)?;
    element(suite)?;
    guarded(suite)?;
    turns(suite, "so.loop1000", false)?;
    turns(suite, "so.loop1000.ws", true)
}

fn single(suite: &mut Suite) -> Result<(), Failure> {
    let Some(key) = suite.wants("so.add3x3", "3x3", "f32") else {
        return Ok(());
    };
    let [x, y] = [1, 2].map(|stream| Data::<f32>::new(&[3, 3], stream, 0.5, 1.5));
    let (a, b) = (x.ours()?, y.ours()?);
    let (c, d) = (x.any()?, y.any()?);
    let (e, f) = (x.candle()?, y.candle()?);
    let mut contest = Contest::new(key, 1e-6);
    contest.ours(|| a.add(&b), of_ours)?;
    contest.sure_rival("ndarray IxDyn", || &c + &d, of_ndarray)?;
    contest.rival("candle", || &e + &f, of_candle)?;
    suite.run(contest)
}

fn given(suite: &mut Suite) -> Result<(), Failure> {
    let Some(key) = suite.wants("so.addi3x3", "3x3", "f32") else {
        return Ok(());
    };
    // Adding zeros keeps the values where they are, however often it is done.
    let x = Data::<f32>::new(&[3, 3], 1, 0.5, 1.5);
    let zeros = Data::<f32>::full(&[3, 3], 0.0);
    let (a, b) = (x.ours()?, zeros.ours()?);
    let (c, d) = (RefCell::new(x.any()?), zeros.any()?);
    let mut contest = Contest::new(key, 0.0);
    contest.ours(|| a.addi(&b).map(drop), |()| of_ours(a.clone()))?;
    contest.sure_rival(
        "ndarray IxDyn",
        || *c.borrow_mut() += &d,
        |()| of_ndarray(c.borrow().clone()),
    )?;
    suite.run(contest)
}

/// A view of one row.
fn row(suite: &mut Suite) -> Result<(), Failure> {
    let Some(key) = suite.wants("so.slicerow", "100x100", "f32") else {
        return Ok(());
    };
    let x = Data::<f32>::new(&[100, 100], 1, 0.5, 1.5);
    let (a, b, c) = (x.ours()?, x.any()?, x.candle()?);
    let mut contest = Contest::new(key, 0.0);
    contest.ours(|| black_box(&a).row(5), of_ours)?;
    contest.sure_rival(
        "ndarray IxDyn",
        || black_box(&b).index_axis(Axis(0), black_box(5)),
        |row| of_ndarray(row.to_owned()),
    )?;
    contest.rival("candle", || black_box(&c).get(5), of_candle)?;
    suite.run(contest)
}

/// One element as a number.
fn element(suite: &mut Suite) -> Result<(), Failure> {
    let Some(key) = suite.wants("so.getscalar", "100x100", "f32") else {
        return Ok(());
    };
    let x = Data::<f32>::new(&[100, 100], 1, 0.5, 1.5);
    let (a, c) = (x.ours()?, x.candle()?);
    let mut contest = Contest::new(key, 0.0);
    contest.ours(|| black_box(&a).get_f64([5, 7]), |value| Ok(vec![value]))?;
    contest.rival(
        "candle",
        || black_box(&c).get(5)?.get(7)?.to_scalar::<f32>(),
        |value| Ok(vec![f64::from(value)]),
    )?;
    suite.run(contest)
}

/// One element, when the array is open for reading: the inside of a loop.
fn guarded(suite: &mut Suite) -> Result<(), Failure> {
    let Some(key) = suite.wants("so.getguard", "100x100", "f32") else {
        return Ok(());
    };
    let x = Data::<f32>::new(&[100, 100], 1, 0.5, 1.5);
    let (a, b) = (x.ours()?, x.any()?);
    let view = a.view::<f32>()?;
    let read = |value: f32| Ok(vec![f64::from(value)]);
    let mut contest = Contest::new(key, 0.0);
    contest.ours(
        || Ok::<_, Infallible>(black_box(&view)[black_box([5, 7])]),
        read,
    )?;
    contest.sure_rival("ndarray IxDyn", || black_box(&b)[black_box([5, 7])], read)?;
    suite.run(contest)
}

/// `acc += (q + q) * q`, a thousand times, every step but the last a new array.
fn turns(suite: &mut Suite, workload: &str, in_workspace: bool) -> Result<(), Failure> {
    let Some(key) = suite.wants(workload, "4x4", "f32") else {
        return Ok(());
    };
    let q = Data::<f32>::new(&[4, 4], 1, 0.5, 1.5);
    let zeros = Data::<f32>::full(&[4, 4], 0.0);
    let (a, b, c) = (q.ours()?, q.any()?, q.candle()?);
    let start = zeros.candle()?;
    let on_the_heap = || {
        let sum = zeros.ours()?;
        for _ in 0..TURNS {
            sum.addi(&a.add(&a)?.mul(&a)?)?;
        }
        Ok::<_, Failure>(sum)
    };
    // One scope for each turn, as a training loop would have it; the sum lies outside.
    let workspace = Workspace::new("BENCH_LOOP");
    let in_scopes = || {
        let sum = zeros.ours()?;
        for _ in 0..TURNS {
            workspace.scope(|_| {
                sum.addi(&a.add(&a)?.mul(&a)?)?;
                Ok::<_, ArrayError>(())
            })??;
        }
        Ok::<_, Failure>(sum)
    };
    let mut contest = Contest::new(key, 1e-5);
    if in_workspace {
        contest.ours(in_scopes, of_ours)?;
        contest.variant("on the heap", on_the_heap, of_ours)?;
    } else {
        contest.ours(on_the_heap, of_ours)?;
    }
    contest.sure_rival(
        "ndarray IxDyn",
        || {
            let mut sum = ArrayD::<f32>::zeros(vec![4, 4]);
            for _ in 0..TURNS {
                sum += &((&b + &b) * &b);
            }
            sum
        },
        of_ndarray,
    )?;
    contest.rival(
        "candle",
        || {
            let mut sum = start.clone();
            for _ in 0..TURNS {
                sum = (sum + ((&c + &c)? * &c)?)?;
            }
            Ok::<_, candle_core::Error>(sum)
        },
        of_candle,
    )?;
    suite.run(contest)
}
