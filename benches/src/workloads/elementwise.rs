//! One operation on all elements: into a given array, into a new one, into one of a workspace, and in place.

use std::cell::RefCell;

use lodestride::array::{NdArray, Result, Workspace};
use ndarray::{Array1, Zip};

use crate::answers::{Data, Real, of_candle, of_ndarray, of_ours, size};
use crate::contest::{Contest, Failure, Limit};
use crate::suite::Suite;

type Done = std::result::Result<(), Failure>;

pub(crate) fn run(suite: &mut Suite) -> Done {
    of_type::<f32>(suite)?;
    of_type::<f64>(suite)
}

fn of_type<T: Real>(suite: &mut Suite) -> Done {
    for count in [1_000, 100_000, 10_000_000] {
        add_out::<T>(suite, count)?;
        add_alloc::<T>(suite, count)?;
        in_workspace::<T>(suite, count)?;
        let into = |a: &NdArray, b: &NdArray, out: &NdArray| a.div_into(b, out);
        given_output::<T>(suite, "ew.div.out", count, into, |x, y| x / y)?;
        new_result::<T>(suite, "ew.div.alloc", count, |a, b| a.div(b), |x, y| x / y)?;
        in_place::<T>(suite, count)?;
    }
    Ok(())
}

/// `x + y` into a given array.
pub(crate) fn add_out<T: Real>(suite: &mut Suite, count: usize) -> Done {
    let into = |a: &NdArray, b: &NdArray, out: &NdArray| a.add_into(b, out);
    given_output::<T>(suite, "ew.add.out", count, into, |x, y| x + y)
}

/// `x + y` into a new array.
pub(crate) fn add_alloc<T: Real>(suite: &mut Suite, count: usize) -> Done {
    new_result::<T>(suite, "ew.add.alloc", count, |a, b| a.add(b), |x, y| x + y)
}

fn pair<T: Real>(count: usize) -> [Data<T>; 2] {
    [1, 2].map(|stream| Data::new(&[count], stream, 0.5, 1.5))
}

fn given_output<T: Real>(
    suite: &mut Suite,
    workload: &str,
    count: usize,
    into: fn(&NdArray, &NdArray, &NdArray) -> Result<()>,
    // Generic, so that the rival's loop is compiled with it.
    scalar: impl Fn(T, T) -> T + Copy + Sync + Send,
) -> Done {
    let Some(key) = suite.wants(workload, &size(&[count]), T::NAME) else {
        return Ok(());
    };
    let [x, y] = pair::<T>(count);
    let (a, b, out) = (x.ours()?, y.ours()?, NdArray::zeros_of(T::OURS, [count])?);
    let (c, d) = (x.line(), y.line());
    let their_out = RefCell::new(Array1::<T>::zeros(count));
    let mut contest = Contest::new(key, T::CLOSE).limit(Limit::Copied(3 * count * size_of::<T>()));
    contest.ours(|| into(&a, &b, &out), |()| of_ours(out.clone()))?;
    let zip = || {
        let mut out = their_out.borrow_mut();
        let all = Zip::from(&mut *out).and(&c).and(&d);
        all.for_each(|z, &x, &y| *z = scalar(x, y));
    };
    contest.sure_rival("ndarray", zip, |()| of_ndarray(their_out.borrow().clone()))?;
    if suite.machine.threads > 1 {
        let zip = || {
            let mut out = their_out.borrow_mut();
            let all = Zip::from(&mut *out).and(&c).and(&d);
            all.par_for_each(|z, &x, &y| *z = scalar(x, y));
        };
        contest.sure_rival("ndarray rayon", zip, |()| {
            of_ndarray(their_out.borrow().clone())
        })?;
    }
    suite.run(contest)
}

fn new_result<T: Real>(
    suite: &mut Suite,
    workload: &str,
    count: usize,
    ours: fn(&NdArray, &NdArray) -> Result<NdArray>,
    scalar: impl Fn(T, T) -> T + Copy,
) -> Done {
    let Some(key) = suite.wants(workload, &size(&[count]), T::NAME) else {
        return Ok(());
    };
    let [x, y] = pair::<T>(count);
    let (a, b) = (x.ours()?, y.ours()?);
    let (c, d) = (x.line(), y.line());
    let (c_any, d_any) = (x.any()?, y.any()?);
    let (e, f) = (x.candle()?, y.candle()?);
    let divides = workload.contains("div");
    let mut contest = Contest::new(key, T::CLOSE).limit(Limit::Copied(3 * count * size_of::<T>()));
    contest.ours(|| ours(&a, &b), of_ours)?;
    let zip = || Zip::from(&c).and(&d).map_collect(|&x, &y| scalar(x, y));
    contest.sure_rival("ndarray", zip, of_ndarray)?;
    let zip = || {
        Zip::from(&c_any)
            .and(&d_any)
            .map_collect(|&x, &y| scalar(x, y))
    };
    contest.sure_rival("ndarray IxDyn", zip, of_ndarray)?;
    contest.rival(
        "candle",
        || if divides { &e / &f } else { &e + &f },
        of_candle,
    )?;
    suite.run(contest)
}

fn in_workspace<T: Real>(suite: &mut Suite, count: usize) -> Done {
    let Some(key) = suite.wants("ew.add.ws", &size(&[count]), T::NAME) else {
        return Ok(());
    };
    let [x, y] = pair::<T>(count);
    let (a, b) = (x.ours()?, y.ours()?);
    let (c, d) = (x.line(), y.line());
    let (e, f) = (x.candle()?, y.candle()?);
    let workspace = Workspace::new("BENCH_ADD");
    let mut contest = Contest::new(key, T::CLOSE).limit(Limit::Copied(3 * count * size_of::<T>()));
    contest.ours(
        || workspace.scope(|_| a.add(&b).map(drop)),
        // The sum itself is gone with the scope; the loop is checked by what it computes in another one.
        |done| {
            done?;
            of_ours(workspace.scope(|_| a.add(&b)?.detach())??)
        },
    )?;
    contest.sure_rival("ndarray", || &c + &d, of_ndarray)?;
    contest.rival("candle", || &e + &f, of_candle)?;
    suite.run(contest)
}

/// A number added to all elements, where they are.
fn in_place<T: Real>(suite: &mut Suite, count: usize) -> Done {
    let Some(key) = suite.wants("ew.adds.inplace", &size(&[count]), T::NAME) else {
        return Ok(());
    };
    let [x, _] = pair::<T>(count);
    let a = x.ours()?;
    let b = RefCell::new(x.line());
    let mut contest = Contest::new(key, T::CLOSE).limit(Limit::Copied(2 * count * size_of::<T>()));
    contest.ours(|| a.addi(1.5).map(drop), |()| of_ours(a.clone()))?;
    contest.sure_rival(
        "ndarray",
        || *b.borrow_mut() += T::of(1.5),
        |()| of_ndarray(b.borrow().clone()),
    )?;
    suite.run(contest)
}
