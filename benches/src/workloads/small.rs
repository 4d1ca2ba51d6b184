//! What a call costs when there is almost nothing to compute.

use std::hint::black_box;

use lodestride::array::{NdArray, Workspace};
use ndarray::{Array2, ArrayD};

use crate::answers::{of_candle, of_ndarray, of_ours, tensor, uniform};
use crate::contest::{Contest, Failure};
use crate::suite::Suite;

const TURNS: usize = 1000;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    single(suite)?;
    given(suite)?;
    turns(suite, "1000 x 3 ops 4x4, heap", false)?;
    turns(suite, "1000 x 3 ops 4x4, workspace", true)
}

fn single(suite: &mut Suite) -> Result<(), Failure> {
    let name = "add 3x3, new result";
    if !suite.wants(name) {
        return Ok(());
    }
    let (x, y) = (uniform(9, 1, 0.5, 1.5), uniform(9, 2, 0.5, 1.5));
    let a = NdArray::from_vec(x.clone(), [3, 3])?;
    let b = NdArray::from_vec(y.clone(), [3, 3])?;
    let c = Array2::from_shape_vec((3, 3), x.clone())?;
    let d = Array2::from_shape_vec((3, 3), y.clone())?;
    let (c_any, d_any) = (c.clone().into_dyn(), d.clone().into_dyn());
    let (e, f) = (tensor(x, (3, 3))?, tensor(y, (3, 3))?);
    let mut contest = Contest::new(name, 1e-6);
    contest.ours(|| a.add(&b), of_ours)?;
    contest.sure_rival("ndarray IxDyn", || &c_any + &d_any, of_ndarray)?;
    contest.sure_rival("ndarray static Ix2", || &c + &d, of_ndarray)?;
    contest.rival("candle", || &e + &f, of_candle)?;
    suite.run(contest)
}

fn given(suite: &mut Suite) -> Result<(), Failure> {
    let name = "add 3x3, in place";
    if !suite.wants(name) {
        return Ok(());
    }
    // Adding zeros keeps the values where they are, however often it is done.
    let x = uniform(9, 1, 0.5, 1.5);
    let a = NdArray::from_vec(x.clone(), [3, 3])?;
    let zeros = NdArray::zeros([3, 3])?;
    let c = std::cell::RefCell::new(Array2::from_shape_vec((3, 3), x)?.into_dyn());
    let nothing = ArrayD::<f32>::zeros(vec![3, 3]);
    let mut contest = Contest::new(name, 0.0);
    contest.ours(|| a.addi(&zeros).map(drop), |()| of_ours(a.clone()))?;
    contest.sure_rival(
        "ndarray IxDyn",
        || *c.borrow_mut() += &nothing,
        |()| of_ndarray(c.borrow().clone()),
    )?;
    suite.run(contest)
}

/// `(a + b) * c - a`, a thousand times, every step a new array.
fn turns(suite: &mut Suite, name: &str, in_workspace: bool) -> Result<(), Failure> {
    if !suite.wants(name) {
        return Ok(());
    }
    let data = [1, 2, 3].map(|stream| uniform(16, stream, 0.5, 1.5));
    let [a, b, c] = data.clone().map(|values| NdArray::from_vec(values, [4, 4]));
    let (a, b, c) = (a?, b?, c?);
    let [p, q, r] = data
        .clone()
        .map(|values| ArrayD::from_shape_vec(vec![4, 4], values));
    let (p, q, r) = (p?, q?, r?);
    let [e, f, g] = data.map(|values| tensor(values, (4, 4)));
    let (e, f, g) = (e?, f?, g?);
    let turn = || a.add(&b)?.mul(&c)?.sub(&a);
    let on_the_heap = || {
        for _ in 1..TURNS {
            black_box(turn()?);
        }
        turn().map_err(Failure::from)
    };
    // One scope for each turn, as a training loop would have it; only the last result leaves.
    let workspace = Workspace::new("BENCH_LOOP");
    let in_scopes = || {
        for _ in 1..TURNS {
            workspace.scope(|_| turn().map(|result| drop(black_box(result))))??;
        }
        let last = workspace.scope(|_| turn()?.detach())??;
        Ok::<_, Failure>(last)
    };
    let mut contest = Contest::new(name, 1e-6);
    if in_workspace {
        contest.ours(in_scopes, of_ours)?;
        contest.variant("on the heap", on_the_heap, of_ours)?;
    } else {
        contest.ours(on_the_heap, of_ours)?;
    }
    contest.sure_rival(
        "ndarray IxDyn",
        || {
            let turn = || &(&(&p + &q) * &r) - &p;
            for _ in 1..TURNS {
                black_box(turn());
            }
            turn()
        },
        of_ndarray,
    )?;
    contest.rival(
        "candle",
        || {
            let turn = || ((&e + &f)? * &g)? - &e;
            for _ in 1..TURNS {
                black_box(turn()?);
            }
            turn()
        },
        of_candle,
    )?;
    suite.run(contest)
}
