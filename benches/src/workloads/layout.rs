//! The same elements in another place: transposes, permutations, every second element, one array after the other.
//!
//! `ly.` makes a new array, `lo.` fills a given one.

use std::cell::RefCell;

use lodestride::array::{NdArray, Order, s};
use ndarray::{ArrayD, ArrayViewD, Axis, concatenate};

use crate::answers::{Data, Real, of_candle, of_ndarray, of_ours, size};
use crate::contest::{Contest, Failure, Limit};
use crate::suite::Suite;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    of_type::<f32>(suite)?;
    of_type::<f64>(suite)
}

fn of_type<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    let n = suite.size(4096, 1024);
    transpose::<T>(suite, [n, n])?;
    transpose::<T>(suite, [10_000, 1_000])?;
    moved::<T>(suite, "permute0231", &[32, 64, 56, 56], Move::Permute)?;
    moved::<T>(suite, "slice2", &[n, n], Move::EverySecond)?;
    concat::<T>(suite, 0)?;
    concat::<T>(suite, 1)
}

/// What a view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Transpose,
    Permute,
    EverySecond,
}

impl Move {
    fn ours(self, a: &NdArray) -> Result<NdArray, Failure> {
        Ok(match self {
            Move::Transpose => a.transpose(),
            Move::Permute => a.permute([0, 2, 3, 1])?,
            Move::EverySecond => a.get(&s![..;2, ..;2])?,
        })
    }

    fn ndarray<T>(self, b: &ArrayD<T>) -> ArrayViewD<'_, T> {
        match self {
            Move::Transpose => b.t(),
            Move::Permute => b.view().permuted_axes(vec![0, 2, 3, 1]),
            Move::EverySecond => b.slice_each_axis(|_| ndarray::Slice::new(0, None, 2)),
        }
    }
}

/// A matrix of this shape into C order of its transpose.
pub(crate) fn transpose<T: Real>(suite: &mut Suite, shape: [usize; 2]) -> Result<(), Failure> {
    moved::<T>(suite, "transpose", &shape, Move::Transpose)
}

fn moved<T: Real>(suite: &mut Suite, name: &str, shape: &[usize], to: Move) -> Result<(), Failure> {
    let (fresh, given) = (format!("ly.{name}"), format!("lo.{name}"));
    let fresh = suite.wants(&fresh, &size(shape), T::NAME);
    let given = suite.wants(&given, &size(shape), T::NAME);
    if fresh.is_none() && given.is_none() {
        return Ok(());
    }
    let x = Data::<T>::new(shape, 1, -1.0, 1.0);
    let (a, b) = (x.ours()?, x.any()?);
    let (view, their_view) = (to.ours(&a)?, to.ndarray(&b));
    let limit = Limit::Copied(2 * size_of::<T>() * view.len());
    if let Some(key) = fresh {
        let c = x.candle()?;
        let c = match to {
            Move::Transpose => Some(c.t()?),
            Move::Permute => Some(c.permute((0, 2, 3, 1))?),
            Move::EverySecond => None,
        };
        let mut contest = Contest::new(key, 0.0).limit(limit);
        contest.ours(|| view.dup_order(Order::C), of_ours)?;
        contest.sure_rival(
            "ndarray",
            || their_view.as_standard_layout().into_owned(),
            of_ndarray,
        )?;
        if let Some(c) = &c {
            contest.rival("candle", || c.contiguous(), of_candle)?;
        }
        suite.run(contest)?;
    }
    if let Some(key) = given {
        let out = NdArray::zeros_of(T::OURS, view.shape())?;
        let their_out = RefCell::new(ArrayD::<T>::zeros(their_view.shape()));
        let mut contest = Contest::new(key, 0.0).limit(limit);
        contest.ours(|| out.assign(&view).map(drop), |()| of_ours(out.clone()))?;
        contest.sure_rival(
            "ndarray",
            || their_out.borrow_mut().assign(&their_view),
            |()| of_ndarray(their_out.borrow().clone()),
        )?;
        suite.run(contest)?;
    }
    Ok(())
}

fn concat<T: Real>(suite: &mut Suite, axis: usize) -> Result<(), Failure> {
    let workload = format!("ly.concat{axis}");
    let Some(key) = suite.wants(&workload, "4x1024x1024", T::NAME) else {
        return Ok(());
    };
    let data = [1, 2, 3, 4].map(|stream| Data::<T>::new(&[1024, 1024], stream, 0.1, 1.0));
    let ours = data.iter().map(Data::ours).collect::<Result<Vec<_>, _>>()?;
    let theirs = data
        .iter()
        .map(Data::matrix)
        .collect::<Result<Vec<_>, _>>()?;
    let candle = data
        .iter()
        .map(Data::candle)
        .collect::<Result<Vec<_>, _>>()?;
    let ours: Vec<_> = ours.iter().collect();
    let theirs: Vec<_> = theirs.iter().map(|array| array.view()).collect();
    let limit = Limit::Copied(8 * size_of::<T>() * data[0].values.len());
    let mut contest = Contest::new(key, 0.0).limit(limit);
    contest.ours(|| NdArray::concat(&ours, axis as isize), of_ours)?;
    contest.rival("ndarray", || concatenate(Axis(axis), &theirs), of_ndarray)?;
    contest.rival(
        "candle",
        || candle_core::Tensor::cat(&candle, axis),
        of_candle,
    )?;
    suite.run(contest)
}
