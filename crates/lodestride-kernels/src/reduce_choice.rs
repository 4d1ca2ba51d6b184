//! Which reducer does an operation.

use std::marker::PhantomData;

use crate::numeric::{Compute, ComputeKind};
use crate::reduce::ReduceOp;
use crate::reduce_exponentials::LogSumExp;
use crate::reduce_fold::{LaneFold, Reducer};
use crate::reduce_kinds::{Addable, Extreme, Lanes, Last, Magnitude, NonZero, Sum};
use crate::reduce_moments::{Norm2, Variance};
use crate::reduce_product::Product;
use crate::scalar::raised::Raised;

/// What is done with the reducer.
pub(crate) trait Visitor {
    /// Is given it once; any of those with its totals and values, so that what is done is the same code for them.
    fn visit<C: Compute, T: Copy + Send + Sync, V: Compute>(
        &mut self,
        reducer: &dyn Reducer<C, Total = T, Value = V>,
    );
}

fn give<C: Compute, R: Reducer<C>>(visitor: &mut impl Visitor, reducer: R) {
    visitor.visit::<C, R::Total, R::Value>(&reducer);
}

/// Gives a visitor the reducer of an operation that computes in a type.
pub(crate) fn choose(op: ReduceOp, kind: ComputeKind, visitor: &mut impl Visitor) {
    match kind {
        ComputeKind::F32 => float::<f32>(op, visitor),
        ComputeKind::F64 => float::<f64>(op, visitor),
        ComputeKind::I64 => exact::<i64>(op, visitor),
        ComputeKind::U64 => exact::<u64>(op, visitor),
    }
}

/// The most common operations that are defined on every compute type; false, with nothing given, for others.
fn common<C: Addable + Magnitude>(op: ReduceOp, visitor: &mut impl Visitor) -> bool {
    match op {
        ReduceOp::Sum => give::<C, _>(
            visitor,
            lanes::<C, _, _>(Sum::<false>, |sums, _, values| each(sums, values, C::value)),
        ),
        ReduceOp::Max => give::<C, _>(
            visitor,
            lanes::<C, _, _>(Extreme::<false, false>, keep::<C>),
        ),
        ReduceOp::Min => give::<C, _>(visitor, lanes::<C, _, _>(Extreme::<true, false>, keep::<C>)),
        _ => return false,
    }
    true
}

/// The operations that are defined on every compute type.
fn exact<C: Addable + Magnitude>(op: ReduceOp, visitor: &mut impl Visitor) {
    if common::<C>(op, visitor) {
        return;
    }
    match op {
        ReduceOp::Prod => give::<C, _>(visitor, lanes::<C, _, _>(Product, keep::<C::Factor>)),
        ReduceOp::Any => give::<C, _>(
            visitor,
            lanes::<C, _, _>(NonZero, |counts, _, values| {
                each(counts, values, |n| u64::from(n > 0))
            }),
        ),
        ReduceOp::All => {
            give::<C, _>(
                visitor,
                lanes::<C, _, _>(NonZero, |counts, all, values| {
                    each(counts, values, |n| u64::from(n == all as u64))
                }),
            );
        }
        _ => give::<C, _>(visitor, lanes::<C, _, _>(NonZero, keep::<u64>)),
    }
}

/// Gives a visitor the reducer of an operation on floats whose totals are sums, extremes or norms; false, with nothing given, for others.
pub(crate) fn choose_common<C>(op: ReduceOp, visitor: &mut impl Visitor) -> bool
where
    C: Raised + Addable<Value = f64> + Magnitude,
{
    match op {
        ReduceOp::Mean => give::<C, _>(
            visitor,
            lanes::<C, _, _>(Sum::<false>, |sums, n, values| {
                each(sums, values, |sum| C::divided(sum, n as f64))
            }),
        ),
        ReduceOp::Norm1 => give::<C, _>(
            visitor,
            lanes::<C, _, _>(Sum::<true>, |sums, _, values| each(sums, values, C::value)),
        ),
        ReduceOp::MeanAbs => give::<C, _>(
            visitor,
            lanes::<C, _, _>(Sum::<true>, |sums, n, values| {
                each(sums, values, |sum| C::divided(sum, n as f64))
            }),
        ),
        ReduceOp::Norm2 => give::<C, _>(visitor, norm2::<C>(true)),
        ReduceOp::SumSquares => give::<C, _>(visitor, norm2::<C>(false)),
        ReduceOp::NormMax => {
            give::<C, _>(visitor, lanes::<C, _, _>(Extreme::<false, true>, keep::<C>));
        }
        ReduceOp::MinAbs => {
            give::<C, _>(visitor, lanes::<C, _, _>(Extreme::<true, true>, keep::<C>))
        }
        _ => return common::<C>(op, visitor),
    }
    true
}

fn float<C: Raised + Addable<Value = f64> + Magnitude>(op: ReduceOp, visitor: &mut impl Visitor) {
    if choose_common::<C>(op, visitor) {
        return;
    }
    match op {
        ReduceOp::Var { ddof } => give::<C, _>(visitor, Variance { ddof, root: false }),
        ReduceOp::Std { ddof } => give::<C, _>(visitor, Variance { ddof, root: true }),
        ReduceOp::LogSumExp => give::<C, _>(visitor, LogSumExp),
        _ => exact::<C>(op, visitor),
    }
}

/// The last step of a reduction that changes nothing.
fn keep<T: Copy>(totals: &[T], _count: usize, values: &mut [T]) {
    values.copy_from_slice(totals);
}

/// The last step of a reduction, one total at a time.
#[inline(always)]
pub(crate) fn each<T: Copy, V>(totals: &[T], values: &mut [V], end: impl Fn(T) -> V) {
    for (value, &total) in values.iter_mut().zip(totals) {
        *value = end(total);
    }
}

/// A single-pass reducer. Its last step is a function pointer, so that operations which only differ there share the walk.
pub(crate) fn lanes<C: Compute, F: LaneFold<C>, V>(
    fold: F,
    end: Last<F::Total, V>,
) -> Lanes<F, F::Total, V> {
    Lanes { fold, end }
}

/// The two-norm of values of one type, or with `root` false its square.
fn norm2<C>(root: bool) -> Norm2<C> {
    let of = PhantomData;
    Norm2 { root, of }
}
