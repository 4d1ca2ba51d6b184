//! `x + y`: into a new array, and into one that is given.

use std::cell::RefCell;

use lodestride::array::{NdArray, Workspace};
use ndarray::{Array1, Zip};

use crate::answers::{of_candle, of_ndarray, of_ours, tensor, uniform};
use crate::contest::{Contest, Failure, Limit};
use crate::suite::Suite;
use crate::workloads::count_name;

/// Bytes per element: two are read, one is written.
const MOVED: usize = 12;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    for count in [1_000, 100_000, 10_000_000] {
        new_result(suite, count)?;
        given_output(suite, count)?;
    }
    Ok(())
}

/// Arrays that do not fit the caches are bound by memory.
fn limited<'a>(contest: Contest<'a>, count: usize) -> Contest<'a> {
    if count >= 10_000_000 {
        contest.limit(Limit::Bytes(count * MOVED))
    } else {
        contest
    }
}

fn new_result(suite: &mut Suite, count: usize) -> Result<(), Failure> {
    let name = format!("add {}, new result", count_name(count));
    if !suite.wants(&name) {
        return Ok(());
    }
    let (x, y) = (uniform(count, 1, 0.5, 1.5), uniform(count, 2, 0.5, 1.5));
    let a = NdArray::from_vec(x.clone(), [count])?;
    let b = NdArray::from_vec(y.clone(), [count])?;
    let (c, d) = (Array1::from_vec(x.clone()), Array1::from_vec(y.clone()));
    let (c_any, d_any) = (c.clone().into_dyn(), d.clone().into_dyn());
    let (e, f) = (tensor(x, count)?, tensor(y, count)?);
    let workspace = Workspace::new("BENCH_ADD");
    let mut contest = limited(Contest::new(&name, 1e-6), count);
    contest.ours(|| a.add(&b), of_ours)?;
    contest.variant(
        "in a workspace",
        || workspace.scope(|_| a.add(&b).map(drop)),
        // The sum itself is gone with the scope; the loop is checked by what it computes in another one.
        |done| {
            done?;
            of_ours(workspace.scope(|_| a.add(&b)?.detach())??)
        },
    )?;
    contest.sure_rival("ndarray", || &c + &d, of_ndarray)?;
    contest.sure_rival("ndarray IxDyn", || &c_any + &d_any, of_ndarray)?;
    contest.rival("candle", || &e + &f, of_candle)?;
    suite.run(contest)
}

fn given_output(suite: &mut Suite, count: usize) -> Result<(), Failure> {
    let name = format!("add {}, given output", count_name(count));
    if !suite.wants(&name) {
        return Ok(());
    }
    let (x, y) = (uniform(count, 1, 0.5, 1.5), uniform(count, 2, 0.5, 1.5));
    let a = NdArray::from_vec(x.clone(), [count])?;
    let b = NdArray::from_vec(y.clone(), [count])?;
    let out = NdArray::zeros([count])?;
    let (c, d) = (Array1::from_vec(x), Array1::from_vec(y));
    let their_out = RefCell::new(Array1::<f32>::zeros(count));
    let mut contest = limited(Contest::new(&name, 1e-6), count);
    contest.ours(|| a.add_into(&b, &out), |()| of_ours(out.clone()))?;
    contest.sure_rival(
        "ndarray Zip",
        || {
            let mut out = their_out.borrow_mut();
            Zip::from(&mut *out)
                .and(&c)
                .and(&d)
                .for_each(|z, &x, &y| *z = x + y);
        },
        |()| of_ndarray(their_out.borrow().clone()),
    )?;
    suite.run(contest)
}
