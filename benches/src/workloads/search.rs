//! Rows by their numbers, elements by a mask, order, positions in that order, and running sums.

use std::cell::RefCell;

use candle_core::{Device, Tensor};
use lodestride::array::NdArray;
use ndarray::{Array1, Axis};

use crate::answers::{Data, Real, of_candle, of_ndarray, of_ours, of_slice, positions, size};
use crate::contest::{Contest, Failure, Limit};
use crate::suite::Suite;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    of_type::<f32>(suite)?;
    of_type::<f64>(suite)
}

fn of_type<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    gather::<T>(suite)?;
    mask::<T>(suite)?;
    sort::<T>(suite, 1_000_000)?;
    argsort::<T>(suite)?;
    partition::<T>(suite)?;
    topk::<T>(suite)?;
    unique::<T>(suite)?;
    histogram::<T>(suite)?;
    cumsum::<T>(suite)
}

fn gather<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    let Some(key) = suite.wants("ly.gather", "1e5 of 50000x128", T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&[50_000, 128], 1, 0.1, 1.0);
    let ids = positions(100_000, 2, 50_000);
    let (a, b, c) = (x.ours()?, x.matrix()?, x.candle()?);
    let ours = NdArray::from_vec(ids.clone(), [ids.len()])?;
    let theirs: Vec<usize> = ids.iter().map(|&id| id as usize).collect();
    let candle = Tensor::from_vec(ids, theirs.len(), &Device::Cpu)?;
    let limit = Limit::Copied(2 * size_of::<T>() * 128 * theirs.len());
    let mut contest = Contest::new(key, 0.0).limit(limit);
    contest.ours(|| a.take(&ours, 0), of_ours)?;
    contest.sure_rival("ndarray", || b.select(Axis(0), &theirs), of_ndarray)?;
    contest.rival("candle", || c.index_select(&candle, 0), of_candle)?;
    suite.run(contest)
}

fn mask<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    let count = suite.size(10_000_000, 1_000_000);
    let Some(key) = suite.wants("ly.mask", &size(&[count]), T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&[count], 1, 0.1, 1.0);
    let keep: Vec<bool> = positions(count, 2, 2).iter().map(|&p| p == 1).collect();
    let (a, b) = (x.ours()?, x.line());
    let ours = NdArray::from_vec(keep.clone(), [count])?;
    let bytes = size_of::<T>() * count + count + size_of::<T>() * count / 2;
    let mut contest = Contest::new(key, 0.0).limit(Limit::Copied(bytes));
    contest.ours(|| a.select_where(&ours), of_ours)?;
    contest.sure_rival(
        "iterators",
        || {
            let kept = b.iter().zip(&keep).filter(|&(_, &keep)| keep);
            kept.map(|(&value, _)| value).collect::<Array1<T>>()
        },
        of_ndarray,
    )?;
    suite.run(contest)
}

/// A copy, sorted: what every library returns.
pub(crate) fn sort<T: Real>(suite: &mut Suite, count: usize) -> Result<(), Failure> {
    let Some(key) = suite.wants("ly.sort", &size(&[count]), T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&[count], 1, 0.1, 1.0);
    let (a, c) = (x.ours()?, x.candle()?);
    let mut contest = Contest::new(key, 0.0);
    contest.ours(|| a.sort(0), of_ours)?;
    contest.sure_rival(
        "std",
        || {
            let mut values = x.values.clone();
            values.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
            values
        },
        |values| of_slice(&values),
    )?;
    contest.rival(
        "candle",
        || Ok::<_, Failure>(c.sort_last_dim(true)?.0),
        of_candle,
    )?;
    suite.run(contest)
}

fn argsort<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    const COUNT: usize = 1_000_000;
    let Some(key) = suite.wants("ly.argsort", &size(&[COUNT]), T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&[COUNT], 1, 0.1, 1.0);
    let (a, c) = (x.ours()?, x.candle()?);
    let mut contest = Contest::new(key, f64::INFINITY);
    // Equal values may come in any order, so positions are not compared.
    contest.ours(|| a.argsort(0), of_ours)?;
    contest.sure_rival(
        "std",
        || {
            let values = &x.values;
            let mut order: Vec<u32> = (0..COUNT as u32).collect();
            order.sort_unstable_by(|&i, &j| {
                let pair = values[i as usize].partial_cmp(&values[j as usize]);
                pair.unwrap_or(std::cmp::Ordering::Equal)
            });
            order
        },
        |order| of_slice(&order),
    )?;
    contest.rival("candle", || c.arg_sort_last_dim(true), of_candle)?;
    suite.run(contest)
}

/// How two numbers without NaN are ordered.
fn order<T: Real>(a: &T, b: &T) -> std::cmp::Ordering {
    a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal)
}

/// The middle of a million in its place; what is compared is that element.
fn partition<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    const COUNT: usize = 1_000_000;
    let Some(key) = suite.wants("ly.partition", &size(&[COUNT]), T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&[COUNT], 1, 0.1, 1.0);
    let a = x.ours()?;
    let mut contest = Contest::new(key, 0.0);
    contest.ours(
        || a.partition([COUNT as i64 / 2], 0),
        |found| Ok(vec![found.to_f64_vec()?[COUNT / 2]]),
    )?;
    contest.sure_rival(
        "std",
        || {
            let mut values = x.values.clone();
            values.select_nth_unstable_by(COUNT / 2, order);
            values
        },
        |values| of_slice(&values[COUNT / 2..=COUNT / 2]),
    )?;
    suite.run(contest)
}

/// The hundred largest of a million.
fn topk<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    const COUNT: usize = 1_000_000;
    let Some(key) = suite.wants("ly.topk", &size(&[COUNT]), T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&[COUNT], 1, 0.1, 1.0);
    let a = x.ours()?;
    let mut contest = Contest::new(key, 0.0).limit(Limit::Read(size_of::<T>() * COUNT));
    contest.ours(|| a.topk(100, 0), |(values, _)| of_ours(values))?;
    contest.sure_rival(
        "std",
        || {
            let mut places: Vec<u32> = (0..COUNT as u32).collect();
            let value = |place: &u32| x.values[*place as usize];
            places.select_nth_unstable_by(100, |i, j| order(&value(j), &value(i)));
            places.truncate(100);
            places.sort_unstable_by(|i, j| order(&value(j), &value(i)));
            places.iter().map(value).collect::<Vec<T>>()
        },
        |values| of_slice(&values),
    )?;
    suite.run(contest)
}

/// The distinct ones of a million numbers that are a thousand different.
fn unique<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    const COUNT: usize = 1_000_000;
    let Some(key) = suite.wants("ly.unique", &size(&[COUNT]), T::NAME) else {
        return Ok(());
    };
    let values: Vec<T> = positions(COUNT, 1, 1000)
        .into_iter()
        .map(|value| T::of(value as f32))
        .collect();
    let a = NdArray::from_vec(values.clone(), [COUNT])?;
    let mut contest = Contest::new(key, 0.0);
    contest.ours(|| a.unique(), of_ours)?;
    contest.sure_rival(
        "std",
        || {
            let mut values = values.clone();
            values.sort_unstable_by(order);
            values.dedup();
            values
        },
        |values| of_slice(&values),
    )?;
    suite.run(contest)
}

/// How many of a million numbers lie in each of a hundred bins.
fn histogram<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    const COUNT: usize = 1_000_000;
    let Some(key) = suite.wants("ly.histogram", &size(&[COUNT]), T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&[COUNT], 1, 0.1, 1.0);
    let a = x.ours()?;
    // A value next to an edge may fall to either side.
    let mut contest = Contest::new(key, 1e-2).limit(Limit::Read(size_of::<T>() * COUNT));
    contest.ours(|| a.histogram(100), |(counts, _)| of_ours(counts))?;
    contest.sure_rival(
        "a loop",
        || {
            let start = (T::infinity(), T::neg_infinity());
            let (low, high) = x.values.iter().fold(start, |(low, high), &value| {
                (
                    if value < low { value } else { low },
                    if value > high { value } else { high },
                )
            });
            let scale = T::of(100.0) / (high - low);
            let mut counts = vec![0i64; 100];
            for &value in &x.values {
                let bin: f64 = ((value - low) * scale).into();
                counts[(bin as usize).min(99)] += 1;
            }
            counts
        },
        |counts| Ok(counts.iter().map(|&count| count as f64).collect()),
    )?;
    suite.run(contest)
}

fn cumsum<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    let count = suite.size(10_000_000, 1_000_000);
    let Some(key) = suite.wants("ly.cumsum", &size(&[count]), T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&[count], 1, 0.1, 1.0);
    let (a, b) = (x.ours()?, RefCell::new(x.line()));
    // One sum after the other in `f32` drifts.
    let tolerance = if size_of::<T>() == 4 { 2e-2 } else { 1e-9 };
    let limit = Limit::Copied(2 * size_of::<T>() * count);
    let mut contest = Contest::new(key, tolerance).limit(limit);
    contest.ours(|| a.cumsum(0), of_ours)?;
    contest.sure_rival(
        "ndarray",
        || {
            let mut sums = b.borrow().clone();
            sums.accumulate_axis_inplace(Axis(0), |&sum, value| *value += sum);
            sums
        },
        of_ndarray,
    )?;
    suite.run(contest)
}
