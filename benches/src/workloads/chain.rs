//! Several operations as one pass over memory: our register program into a given output, and our compiled graph and
//! expressions into a new one, against hand-fused loops and against libraries that make an array of every step.

use std::cell::RefCell;

use lodestride::array::kernels::{BinaryOp, Input, KernelError, Program, ProgramBuilder, UnaryOp};
use lodestride::array::{ArrayError, NdArray};
use lodestride::graph::{Function, GraphError, Variable, compile, tensor};
use ndarray::{Array1, Zip};

use crate::answers::{Data, Real, of_candle, of_ndarray, of_ours, size};
use crate::contest::{Contest, Failure, Limit};
use crate::record::Key;
use crate::suite::Suite;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    of_type::<f32>(suite)?;
    of_type::<f64>(suite)
}

fn of_type<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    for count in [1_000, 100_000, 10_000_000] {
        for chain in [Chain::Fma, Chain::Three, Chain::Ten] {
            match chain {
                Chain::Fma => both::<T>(suite, count, chain, |x, y, z| x.mul_add(y, z))?,
                Chain::Three => both::<T>(suite, count, chain, |x, y, z| (x - y) * (x - y) / z)?,
                Chain::Ten => ten::<T>(suite, count)?,
            }
        }
    }
    Ok(())
}

/// `tanh(exp(-x^2) + log(y + 1.5)) * x - y / 2`.
pub(crate) fn ten<T: Real>(suite: &mut Suite, count: usize) -> Result<(), Failure> {
    let (shift, half) = (T::of(1.5), T::of(0.5));
    both::<T>(suite, count, Chain::Ten, move |x, y, _| {
        ((-(x * x)).exp() + (y + shift).ln()).tanh() * x - y * half
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chain {
    /// `x y + z`
    Fma,
    /// `(x - y)^2 / z`
    Three,
    /// Ten operations, four of them transcendental.
    Ten,
}

impl Chain {
    fn name(self) -> &'static str {
        match self {
            Chain::Fma => "ew.fma",
            Chain::Three => "ew.chain3",
            Chain::Ten => "ew.chain10",
        }
    }

    /// Arrays that are read or written.
    fn arrays(self) -> usize {
        if self == Chain::Ten { 3 } else { 4 }
    }

    fn program<T: Real>(self) -> Result<Program, KernelError> {
        let mut b = ProgramBuilder::new(self.name());
        let (x, y) = (b.load(T::OURS), b.load(T::OURS));
        let result = match self {
            Chain::Fma => {
                let z = b.load(T::OURS);
                let product = b.binary(BinaryOp::Mul, x, y)?;
                b.binary(BinaryOp::Add, product, z)?
            }
            Chain::Three => {
                let z = b.load(T::OURS);
                let difference = b.binary(BinaryOp::Sub, x, y)?;
                let square = b.unary(UnaryOp::Square, difference)?;
                b.binary(BinaryOp::Div, square, z)?
            }
            Chain::Ten => {
                let shift = b.constant(1.5.into(), T::OURS)?;
                let half = b.constant(0.5.into(), T::OURS)?;
                let square = b.unary(UnaryOp::Square, x)?;
                let negated = b.unary(UnaryOp::Neg, square)?;
                let bell = b.unary(UnaryOp::Exp, negated)?;
                let shifted = b.binary(BinaryOp::Add, y, shift)?;
                let logarithm = b.unary(UnaryOp::Log, shifted)?;
                let sum = b.binary(BinaryOp::Add, bell, logarithm)?;
                let bounded = b.unary(UnaryOp::Tanh, sum)?;
                let product = b.binary(BinaryOp::Mul, bounded, x)?;
                let lowered = b.binary(BinaryOp::Mul, y, half)?;
                b.binary(BinaryOp::Sub, product, lowered)?
            }
        };
        b.store(result);
        Ok(b.finish())
    }

    fn graph<T: Real>(self) -> Result<Function, GraphError> {
        let [x, y, z] = ["x", "y", "z"].map(|name| tensor(name, T::OURS, [None]));
        match self {
            Chain::Fma => compile(&[&x, &y, &z], &[&(&x * &y + &z)]),
            Chain::Three => {
                let difference: Variable = &x - &y;
                compile(&[&x, &y, &z], &[&(&difference * &difference / &z)])
            }
            Chain::Ten => {
                let bell = (-(&x * &x)).exp()?;
                let sum = bell + (&y + 1.5).log()?;
                compile(&[&x, &y], &[&(sum.tanh()? * &x - &y * 0.5)])
            }
        }
    }

    fn lazy(self, x: &NdArray, y: &NdArray, z: &NdArray) -> Result<NdArray, ArrayError> {
        let sum = match self {
            Chain::Fma => x.lazy() * y + z,
            Chain::Three => (x.lazy() - y).square() / z,
            Chain::Ten => {
                let sum = (-x.lazy().square()).exp() + (y.lazy() + 1.5).log();
                sum.tanh() * x - y.lazy() * 0.5
            }
        };
        sum.eval()
    }

    fn candle(
        self,
        [x, y, z]: &[candle_core::Tensor; 3],
    ) -> candle_core::Result<candle_core::Tensor> {
        match self {
            Chain::Fma => (x * y)? + z,
            Chain::Three => (x - y)?.sqr()? / z,
            Chain::Ten => {
                let sum = (x.sqr()?.neg()?.exp()? + (y + 1.5)?.log()?)?;
                (sum.tanh()? * x)? - (y * 0.5)?
            }
        }
    }
}

fn both<T: Real>(
    suite: &mut Suite,
    count: usize,
    chain: Chain,
    // Generic, so that the rival's loop is compiled with it.
    scalar: impl Fn(T, T, T) -> T + Copy + Sync + Send,
) -> Result<(), Failure> {
    given(suite, count, chain, scalar)?;
    fresh(suite, count, chain, scalar)
}

impl Chain {
    fn contest<'a, T: Real>(self, key: Key, count: usize) -> Contest<'a> {
        let limit = Limit::Copied(self.arrays() * count * size_of::<T>());
        Contest::new(key, 8.0 * T::CLOSE).limit(limit)
    }

    fn inputs(self) -> usize {
        if self == Chain::Ten { 2 } else { 3 }
    }
}

fn inputs<T: Real>(count: usize) -> [Data<T>; 3] {
    [1, 2, 3].map(|stream| Data::<T>::new(&[count], stream, 0.5, 1.5))
}

/// A register program into a given output.
fn given<T: Real>(
    suite: &mut Suite,
    count: usize,
    chain: Chain,
    scalar: impl Fn(T, T, T) -> T + Copy + Sync + Send,
) -> Result<(), Failure> {
    let Some(key) = suite.wants(chain.name(), &size(&[count]), T::NAME) else {
        return Ok(());
    };
    let data = inputs::<T>(count);
    let [p, q, r] = data.each_ref().map(Data::line);
    let arrays = [data[0].ours()?, data[1].ours()?, data[2].ours()?];
    let out = NdArray::zeros_of(T::OURS, [count])?;
    let program = chain.program::<T>()?;
    let their_out = RefCell::new(Array1::<T>::zeros(count));
    let answer = |()| of_ndarray(their_out.borrow().clone());
    let mut contest = chain.contest::<T>(key, count);
    contest.ours(
        || {
            let all = arrays.each_ref().map(|array| Input::Array(array.operand()));
            program.run(&all[..chain.inputs()], &[out.operand()])
        },
        |()| of_ours(out.clone()),
    )?;
    let zip = || {
        let mut out = their_out.borrow_mut();
        let all = Zip::from(&mut *out).and(&p).and(&q).and(&r);
        all.for_each(|w, &x, &y, &z| *w = scalar(x, y, z));
    };
    contest.sure_rival("ndarray", zip, answer)?;
    if suite.machine.threads > 1 {
        let zip = || {
            let mut out = their_out.borrow_mut();
            let all = Zip::from(&mut *out).and(&p).and(&q).and(&r);
            all.par_for_each(|w, &x, &y, &z| *w = scalar(x, y, z));
        };
        contest.sure_rival("ndarray rayon", zip, answer)?;
    }
    suite.run(contest)
}

/// A compiled graph, a lazy expression and a closure into a new array.
fn fresh<T: Real>(
    suite: &mut Suite,
    count: usize,
    chain: Chain,
    scalar: impl Fn(T, T, T) -> T + Copy + Sync + Send,
) -> Result<(), Failure> {
    let workload = format!("{}.graph", chain.name());
    let Some(key) = suite.wants(&workload, &size(&[count]), T::NAME) else {
        return Ok(());
    };
    let data = inputs::<T>(count);
    let [p, q, r] = data.each_ref().map(Data::line);
    let arrays = [data[0].ours()?, data[1].ours()?, data[2].ours()?];
    let tensors = [data[0].candle()?, data[1].candle()?, data[2].candle()?];
    let function = chain.graph::<T>()?;
    let mut contest = chain.contest::<T>(key, count);
    contest.ours(
        || {
            let result = function.call(arrays[..chain.inputs()].iter())?.remove(0);
            Ok::<_, GraphError>(result.into_array())
        },
        of_ours,
    )?;
    let [x, y, z] = &arrays;
    contest.variant("by a lazy expression", || chain.lazy(x, y, z), of_ours)?;
    if chain != Chain::Ten {
        let closure = || NdArray::zip_map([x, y, z], scalar);
        contest.variant("by a closure", closure, of_ours)?;
    }
    let zip = || {
        let all = Zip::from(&p).and(&q).and(&r);
        all.map_collect(|&x, &y, &z| scalar(x, y, z))
    };
    contest.sure_rival("ndarray", zip, of_ndarray)?;
    contest.rival("candle", || chain.candle(&tensors), of_candle)?;
    suite.run(contest)
}
