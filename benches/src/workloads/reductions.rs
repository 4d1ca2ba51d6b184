//! Sums, means, extremes, their positions, variances and norms: of everything, down the columns and along the rows.

use std::convert::Infallible;

use candle_core::Tensor;
use lodestride::array::{Axes, NdArray, Result};
use ndarray::{Array1, Array2, Axis, Zip};

use crate::answers::{Data, Real, of_candle, of_ndarray, of_ours, size};
use crate::contest::{Contest, Failure, Limit};
use crate::suite::Suite;

/// Which axes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    All,
    Rows,
    Columns,
}

impl Over {
    const EVERY: [Over; 3] = [Over::All, Over::Rows, Over::Columns];

    fn name(self) -> &'static str {
        match self {
            Over::All => "all",
            Over::Rows => "ax0",
            Over::Columns => "ax1",
        }
    }

    fn axis(self) -> Option<usize> {
        match self {
            Over::All => None,
            Over::Rows => Some(0),
            Over::Columns => Some(1),
        }
    }

    fn axes(self) -> Axes {
        self.axis()
            .map_or(Axes::all(), |axis| Axes::from(axis as isize))
    }
}

pub(crate) fn run(suite: &mut Suite) -> std::result::Result<(), Failure> {
    let n = suite.size(4096, 1024);
    for shape in [[n, n], [1000, 32]] {
        of_type::<f32>(suite, shape)?;
        of_type::<f64>(suite, shape)?;
    }
    middle::<f32>(suite)
}

type Ours = fn(&NdArray, Axes) -> Result<NdArray>;

fn of_type<T: Real>(suite: &mut Suite, shape: [usize; 2]) -> std::result::Result<(), Failure> {
    let ours: [(&str, Ours); 6] = [
        ("sum", |a, axes| a.sum(axes)),
        ("mean", |a, axes| a.mean(axes)),
        ("max", |a, axes| a.max(axes)),
        ("argmax", |a, axes| a.argmax(axes)),
        ("var", |a, axes| a.var(axes)),
        ("norm2", |a, axes| a.norm2(axes)),
    ];
    for (name, ours) in ours {
        for over in Over::EVERY {
            reduce::<T>(suite, shape, name, over, ours)?;
        }
    }
    Ok(())
}

/// The sum of everything, for the scaling of costs.
pub(crate) fn sum_all<T: Real>(
    suite: &mut Suite,
    shape: [usize; 2],
) -> std::result::Result<(), Failure> {
    reduce::<T>(suite, shape, "sum", Over::All, |a, axes| a.sum(axes))
}

fn reduce<T: Real>(
    suite: &mut Suite,
    shape: [usize; 2],
    name: &str,
    over: Over,
    ours: Ours,
) -> std::result::Result<(), Failure> {
    let workload = format!("red.{name}.{}", over.name());
    let Some(key) = suite.wants(&workload, &size(&shape), T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&shape, 1, 0.1, 1.0);
    let (a, b, c) = (x.ours()?, x.matrix()?, x.candle()?);
    let (ndarray, candle) = (by_ndarray::<T>(name, over), by_candle(name, over));
    // Rivals add one after the other; the longest sum here has sixteen million terms.
    let tolerance = if size_of::<T>() == 4 { 2e-2 } else { 1e-8 };
    let mut contest = Contest::new(key, if name == "argmax" { 0.0 } else { tolerance })
        .limit(Limit::Read(size_of::<T>() * shape[0] * shape[1]));
    contest.ours(|| ours(&a, over.axes()), of_ours)?;
    if let Some(theirs) = &ndarray {
        contest.sure_rival("ndarray", || theirs(&b), of_ndarray)?;
    }
    if let Some(theirs) = &candle {
        contest.rival("candle", || theirs(&c), of_candle)?;
    }
    suite.run(contest)
}

type ByNdarray<T> = fn(&Array2<T>) -> Array1<T>;

/// The best form that ndarray has for it.
fn by_ndarray<T: Real>(name: &str, over: Over) -> Option<ByNdarray<T>> {
    Some(match (name, over) {
        ("sum", Over::All) => |b| Array1::from_elem(1, b.sum()),
        ("sum", Over::Rows) => |b| b.sum_axis(Axis(0)),
        ("sum", Over::Columns) => |b| b.sum_axis(Axis(1)),
        ("mean", Over::All) => |b| Array1::from_elem(1, b.mean().unwrap_or(T::nan())),
        ("mean", Over::Rows) => |b| b.mean_axis(Axis(0)).unwrap_or_default(),
        ("mean", Over::Columns) => |b| b.mean_axis(Axis(1)).unwrap_or_default(),
        ("max", Over::All) => |b| {
            let largest = b.fold(T::neg_infinity(), |x, &y| if x > y { x } else { y });
            Array1::from_elem(1, largest)
        },
        ("max", Over::Rows) => |b| {
            let mut largest = b.row(0).to_owned();
            for row in b.outer_iter() {
                Zip::from(&mut largest)
                    .and(&row)
                    .for_each(|x, &y| *x = if *x > y { *x } else { y });
            }
            largest
        },
        ("max", Over::Columns) => |b| {
            b.map_axis(Axis(1), |row| {
                row.fold(T::neg_infinity(), |x, &y| if x > y { x } else { y })
            })
        },
        ("var", Over::All) => |b| Array1::from_elem(1, b.var(T::one())),
        ("var", Over::Rows) => |b| b.var_axis(Axis(0), T::one()),
        ("var", Over::Columns) => |b| b.var_axis(Axis(1), T::one()),
        ("norm2", Over::All) => |b| {
            let sum = b.fold(T::zero(), |sum, &x| sum + x * x);
            Array1::from_elem(1, sum.sqrt())
        },
        ("norm2", Over::Rows) => |b| {
            let mut sums = Array1::<T>::zeros(b.ncols());
            for row in b.outer_iter() {
                Zip::from(&mut sums)
                    .and(&row)
                    .for_each(|sum, &x| *sum += x * x);
            }
            sums.mapv_into(T::sqrt)
        },
        ("norm2", Over::Columns) => |b| b.map_axis(Axis(1), |row| row.dot(&row).sqrt()),
        _ => return None,
    })
}

fn by_candle(name: &str, over: Over) -> Option<fn(&Tensor) -> candle_core::Result<Tensor>> {
    Some(match (name, over) {
        ("sum", Over::All) => |c| c.sum_all(),
        ("sum", Over::Rows) => |c| c.sum(0),
        ("sum", Over::Columns) => |c| c.sum(1),
        ("mean", Over::All) => |c| c.mean_all(),
        ("mean", Over::Rows) => |c| c.mean(0),
        ("mean", Over::Columns) => |c| c.mean(1),
        ("max", Over::All) => |c| c.max_all(),
        ("max", Over::Rows) => |c| c.max(0),
        ("max", Over::Columns) => |c| c.max(1),
        ("argmax", Over::All) => |c| c.flatten_all()?.argmax(0),
        ("argmax", Over::Rows) => |c| c.argmax(0),
        ("argmax", Over::Columns) => |c| c.argmax(1),
        ("var", Over::Rows) => |c| c.var(0),
        ("var", Over::Columns) => |c| c.var(1),
        ("norm2", Over::All) => |c| c.sqr()?.sum_all()?.sqrt(),
        ("norm2", Over::Rows) => |c| c.sqr()?.sum(0)?.sqrt(),
        ("norm2", Over::Columns) => |c| c.sqr()?.sum(1)?.sqrt(),
        _ => return None,
    })
}

/// The middle axis of three.
fn middle<T: Real>(suite: &mut Suite) -> std::result::Result<(), Failure> {
    let shape = [64, 512, 256];
    let Some(key) = suite.wants("red.sum.mid", &size(&shape), T::NAME) else {
        return Ok(());
    };
    let x = Data::<T>::new(&shape, 1, 0.1, 1.0);
    let (a, b, c) = (x.ours()?, x.any()?, x.candle()?);
    let b = b.into_dimensionality::<ndarray::Ix3>()?;
    let mut contest = Contest::new(key, 1e-3).limit(Limit::Read(size_of::<T>() * x.values.len()));
    contest.ours(|| a.sum(1), of_ours)?;
    contest.rival(
        "ndarray",
        || Ok::<_, Infallible>(b.sum_axis(Axis(1))),
        of_ndarray,
    )?;
    contest.rival("candle", || c.sum(1), of_candle)?;
    suite.run(contest)
}
