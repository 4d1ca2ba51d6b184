//! Functions of one number (and `pow` of two), a million times, into a given output.

use std::cell::RefCell;

use candle_core::Tensor;
use lodestride::array::{NdArray, Result};
use ndarray::{Array1, Zip};
use num_traits::Float;
use rten_simd::SimdUnaryOp;
use rten_vecmath::{Cos, Erf, Exp, ExtendInit, Gelu, Sigmoid, Sin, Tanh};

use crate::answers::{Data, Real, of_candle, of_ndarray, of_ours, of_slice, size};
use crate::contest::{Contest, Failure, Limit};
use crate::suite::Suite;

const COUNT: usize = 1_000_000;

type Done = std::result::Result<(), Failure>;

/// A function of rten's over a slice.
type InVectors = fn(&[f32], &mut Vec<f32>);

/// One function in every library that has it.
struct Function {
    workload: &'static str,
    low: f32,
    high: f32,
    ours: fn(&NdArray, &NdArray) -> Result<()>,
    candle: Option<fn(&Tensor) -> candle_core::Result<Tensor>>,
    rten: Option<InVectors>,
}

impl Function {
    fn new(
        workload: &'static str,
        [low, high]: [f32; 2],
        ours: fn(&NdArray, &NdArray) -> Result<()>,
    ) -> Function {
        Function {
            workload,
            low,
            high,
            ours,
            candle: None,
            rten: None,
        }
    }

    fn candle(mut self, candle: fn(&Tensor) -> candle_core::Result<Tensor>) -> Function {
        self.candle = Some(candle);
        self
    }

    fn rten(mut self, rten: fn(&[f32], &mut Vec<f32>)) -> Function {
        self.rten = Some(rten);
        self
    }
}

/// An operation of rten over all elements, into memory that is there already.
fn map<Op: SimdUnaryOp<f32> + Default>(from: &[f32], to: &mut Vec<f32>) {
    to.clear();
    to.extend_init(|place| Op::default().map(from, &mut place[..from.len()]));
}

/// The same for an operation that has no default.
fn gelu(from: &[f32], to: &mut Vec<f32>) {
    to.clear();
    to.extend_init(|place| Gelu {}.map(from, &mut place[..from.len()]));
}

pub(crate) fn run(suite: &mut Suite) -> Done {
    of_type::<f32>(suite)?;
    of_type::<f64>(suite)
}

#[rustfmt::skip]
fn of_type<T: Real>(suite: &mut Suite) -> Done {
    let one = T::one();
    exp::<T>(suite, COUNT)?;
    contest::<T>(suite, COUNT, &Function::new("tr.log", [1e-3, 1e3], NdArray::log_into).candle(Tensor::log), Some(T::ln))?;
    contest::<T>(suite, COUNT, &Function::new("tr.log1p", [-0.9, 9.0], NdArray::log1p_into), Some(T::ln_1p))?;
    contest::<T>(suite, COUNT, &Function::new("tr.expm1", [-2.0, 2.0], NdArray::expm1_into), Some(T::exp_m1))?;
    contest::<T>(suite, COUNT, &Function::new("tr.sin", [-10.0, 10.0], NdArray::sin_into).candle(Tensor::sin).rten(map::<Sin>), Some(T::sin))?;
    contest::<T>(suite, COUNT, &Function::new("tr.cos", [-10.0, 10.0], NdArray::cos_into).candle(Tensor::cos).rten(map::<Cos>), Some(T::cos))?;
    contest::<T>(suite, COUNT, &Function::new("tr.tan", [-1.5, 1.5], NdArray::tan_into), Some(T::tan))?;
    contest::<T>(suite, COUNT, &Function::new("tr.tanh", [-5.0, 5.0], NdArray::tanh_into).candle(Tensor::tanh).rten(map::<Tanh>), Some(T::tanh))?;
    contest::<T>(suite, COUNT, &Function::new("tr.sigmoid", [-10.0, 10.0], NdArray::sigmoid_into).candle(candle_nn::ops::sigmoid).rten(map::<Sigmoid>), Some(move |x: T| one / (one + (-x).exp())))?;
    contest::<T>(suite, COUNT, &Function::new("tr.erf", [-3.0, 3.0], NdArray::erf_into).candle(Tensor::erf).rten(map::<Erf>), None::<fn(T) -> T>)?;
    contest::<T>(suite, COUNT, &Function::new("tr.gelu", [-5.0, 5.0], NdArray::gelu_into).candle(Tensor::gelu_erf).rten(gelu), None::<fn(T) -> T>)?;
    contest::<T>(suite, COUNT, &Function::new("tr.softplus", [-10.0, 10.0], NdArray::softplus_into), Some(move |x: T| Float::max(x, T::zero()) + (-Float::abs(x)).exp().ln_1p()))?;
    contest::<T>(suite, COUNT, &Function::new("tr.sqrt", [0.0, 100.0], NdArray::sqrt_into).candle(Tensor::sqrt), Some(T::sqrt))?;
    power::<T>(suite)
}

/// `exp`, of any number of elements.
pub(crate) fn exp<T: Real>(suite: &mut Suite, count: usize) -> Done {
    let function = Function::new("tr.exp", [-10.0, 10.0], NdArray::exp_into);
    let function = function.candle(Tensor::exp).rten(map::<Exp>);
    contest::<T>(suite, count, &function, Some(T::exp))
}

fn contest<T: Real>(
    suite: &mut Suite,
    count: usize,
    function: &Function,
    // Generic, so that the rival's loop is compiled with it.
    scalar: Option<impl Fn(T) -> T + Copy + Sync + Send>,
) -> Done {
    let Some(key) = suite.wants(function.workload, &size(&[count]), T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&[count], 1, function.low, function.high);
    let (a, out) = (x.ours()?, NdArray::zeros_of(T::OURS, [count])?);
    let (b, c) = (x.line(), x.candle()?);
    let their_out = RefCell::new(Array1::<T>::zeros(count));
    let rten_out = RefCell::new(Vec::with_capacity(count));
    let answer = |()| of_ndarray(their_out.borrow().clone());
    // Some rivals are right to three digits less than the others.
    let mut contest = Contest::new(key, if size_of::<T>() == 4 { 1e-5 } else { 1e-12 })
        .limit(Limit::Copied(2 * count * size_of::<T>()));
    contest.ours(|| (function.ours)(&a, &out), |()| of_ours(out.clone()))?;
    if let Some(scalar) = scalar {
        let (b, their_out) = (&b, &their_out);
        let zip = move || {
            let mut out = their_out.borrow_mut();
            Zip::from(&mut *out).and(b).for_each(|y, &x| *y = scalar(x));
        };
        contest.sure_rival("ndarray", zip, answer)?;
        if suite.machine.threads > 1 {
            let zip = move || {
                let mut out = their_out.borrow_mut();
                Zip::from(&mut *out)
                    .and(b)
                    .par_for_each(|y, &x| *y = scalar(x));
            };
            contest.sure_rival("ndarray rayon", zip, answer)?;
        }
    }
    if let Some(candle) = function.candle {
        let c = &c;
        contest.rival("candle", move || candle(c), of_candle)?;
    }
    if let (Some(rten), Some(values)) = (function.rten, T::single(&x.values)) {
        let rten_out = &rten_out;
        contest.sure_rival(
            "rten",
            move || rten(values, &mut rten_out.borrow_mut()),
            |()| of_slice(&rten_out.borrow()),
        )?;
    }
    suite.run(contest)
}

fn power<T: Real>(suite: &mut Suite) -> Done {
    let Some(key) = suite.wants("tr.pow", &size(&[COUNT]), T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&[COUNT], 1, 0.1, 10.0);
    let y = Data::<T>::new(&[COUNT], 2, -3.0, 3.0);
    let (a, b) = (x.ours()?, y.ours()?);
    let out = NdArray::zeros_of(T::OURS, [COUNT])?;
    let (c, d) = (x.line(), y.line());
    let (e, f) = (x.candle()?, y.candle()?);
    let their_out = RefCell::new(Array1::<T>::zeros(COUNT));
    let mut contest = Contest::new(key, if size_of::<T>() == 4 { 1e-5 } else { 1e-12 })
        .limit(Limit::Copied(3 * COUNT * size_of::<T>()));
    contest.ours(|| a.pow_into(&b, &out), |()| of_ours(out.clone()))?;
    contest.sure_rival(
        "ndarray",
        || {
            let mut out = their_out.borrow_mut();
            let all = Zip::from(&mut *out).and(&c).and(&d);
            all.for_each(|z, &x, &y| *z = x.powf(y));
        },
        |()| of_ndarray(their_out.borrow().clone()),
    )?;
    contest.rival("candle", || e.pow(&f), of_candle)?;
    suite.run(contest)
}
