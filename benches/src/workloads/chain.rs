//! `(a - b)^2 / c` as one pass over memory: our compiled graph and our register program, against a hand-fused `Zip` and
//! against libraries that make an array of every step.

use std::cell::RefCell;

use lodestride::array::kernels::{BinaryOp, Input, ProgramBuilder, UnaryOp};
use lodestride::array::{DType, NdArray};
use lodestride::graph::{GraphError, compile, fvector};
use ndarray::{Array1, Zip};

use crate::answers::{of_candle, of_ndarray, of_ours, tensor, uniform};
use crate::contest::{Contest, Failure, Limit};
use crate::suite::Suite;
use crate::workloads::count_name;

/// Bytes per element: three are read, one is written.
const MOVED: usize = 16;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    for count in [1_000, 100_000, 10_000_000] {
        graph(suite, count)?;
        program(suite, count)?;
    }
    Ok(())
}

fn contest<'a>(name: &str, count: usize) -> Contest<'a> {
    let contest = Contest::new(name, 1e-6);
    if count >= 10_000_000 {
        contest.limit(Limit::Bytes(count * MOVED))
    } else {
        contest
    }
}

fn data(count: usize) -> [Vec<f32>; 3] {
    [1, 2, 3].map(|stream| uniform(count, stream, 0.5, 1.5))
}

fn graph(suite: &mut Suite, count: usize) -> Result<(), Failure> {
    let name = format!("(a-b)^2/c {}, graph", count_name(count));
    if !suite.wants(&name) {
        return Ok(());
    }
    let (a, b, c) = (fvector("a"), fvector("b"), fvector("c"));
    let difference = &a - &b;
    let value = &difference * &difference / &c;
    let function = compile(&[&a, &b, &c], &[&value])?;
    let [x, y, z] = data(count);
    let ours = [x.clone(), y.clone(), z.clone()].map(|v| NdArray::from_vec(v, [count]));
    let [a, b, c] = ours;
    let (a, b, c) = (a?, b?, c?);
    let [p, q, r] = [x.clone(), y.clone(), z.clone()].map(Array1::from_vec);
    let (e, f, g) = (tensor(x, count)?, tensor(y, count)?, tensor(z, count)?);
    let mut contest = contest(&name, count);
    contest.ours(
        || {
            let result = function.call([&a, &b, &c])?.remove(0);
            Ok::<_, GraphError>(result.into_array())
        },
        of_ours,
    )?;
    contest.variant("op by op", || a.sub(&b)?.square()?.div(&c), of_ours)?;
    contest.sure_rival(
        "ndarray Zip",
        || {
            let all = Zip::from(&p).and(&q).and(&r);
            all.map_collect(|&x, &y, &z| (x - y) * (x - y) / z)
        },
        of_ndarray,
    )?;
    contest.sure_rival(
        "ndarray ops",
        || (&p - &q).mapv_into(|d| d * d) / &r,
        of_ndarray,
    )?;
    contest.rival("candle", || (&e - &f)?.sqr()?.div(&g), of_candle)?;
    suite.run(contest)
}

fn program(suite: &mut Suite, count: usize) -> Result<(), Failure> {
    let name = format!("(a-b)^2/c {}, given output", count_name(count));
    if !suite.wants(&name) {
        return Ok(());
    }
    let mut builder = ProgramBuilder::new("relative square");
    let [a, b, c] = [(); 3].map(|()| builder.load(DType::F32));
    let difference = builder.binary(BinaryOp::Sub, a, b)?;
    let square = builder.unary(UnaryOp::Square, difference)?;
    let value = builder.binary(BinaryOp::Div, square, c)?;
    builder.store(value);
    let program = builder.finish();
    let [x, y, z] = data(count);
    let [p, q, r] = [x.clone(), y.clone(), z.clone()].map(Array1::from_vec);
    let a = NdArray::from_vec(x, [count])?;
    let b = NdArray::from_vec(y, [count])?;
    let c = NdArray::from_vec(z, [count])?;
    let out = NdArray::zeros([count])?;
    let their_out = RefCell::new(Array1::<f32>::zeros(count));
    let mut contest = contest(&name, count);
    contest.ours(
        || {
            let inputs = [&a, &b, &c].map(|array| Input::Array(array.operand()));
            program.run(&inputs, &[out.operand()])
        },
        |()| of_ours(out.clone()),
    )?;
    contest.sure_rival(
        "ndarray Zip",
        || {
            let mut out = their_out.borrow_mut();
            Zip::from(&mut *out)
                .and(&p)
                .and(&q)
                .and(&r)
                .for_each(|w, &x, &y, &z| *w = (x - y) * (x - y) / z);
        },
        |()| of_ndarray(their_out.borrow().clone()),
    )?;
    suite.run(contest)
}
