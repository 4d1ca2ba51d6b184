//! What the rows of a segment become: sums, extremes, some columns at a time.
//!
//! Nothing here knows layouts or dtypes; `segment` divides the rows and calls it.

use crate::isa::Arch;
use crate::numeric::Compute;
use crate::reduce_fold::{BLOCK, ROWS, lanes_of_run};
use crate::reduce_kinds::{Addable, Magnitude, Sum};
use crate::stream;

/// How the rows of one segment are folded, `W` columns at a time: as many accumulators as registers hold.
pub(crate) trait Pool<C: Compute>: Copy + Send + Sync {
    type Value: Compute;
    /// Whether a value comes from one row.
    const IS_LOCATED: bool;
    /// Folds at least one row into one value per column; `from` gets the row it came from, where that is located. Must be
    /// `#[inline(always)]`.
    fn fold<A: Arch, const W: usize>(
        &self,
        columns: Columns<'_, C>,
        from: &mut [u32; W],
    ) -> [Self::Value; W];

    /// Folds at least one row of one element each, which follow each other, and with `WHERE` says which of them it came from.
    /// What lies behind them is of no account, but lets a few be taken as a vector. Must be `#[inline(always)]`.
    fn fold_run<A: Arch, const WHERE: bool>(
        &self,
        rows: usize,
        run_and_more: &[C],
    ) -> (Self::Value, usize);
}

/// Rows of one element that are folded as a vector, without a branch that depends on their number.
const FEW: usize = 8;

/// The first `rows` elements and something that changes nothing in place of the others; `None` where there are more, or fewer
/// behind them.
#[inline(always)]
fn few<C: Copy>(rows: usize, run_and_more: &[C], nothing: C) -> Option<[C; FEW]> {
    if rows > FEW {
        return None;
    }
    let mut few = *run_and_more.first_chunk::<FEW>()?;
    for (index, value) in few.iter_mut().enumerate() {
        *value = if (index as u32) < rows as u32 {
            *value
        } else {
            nothing
        };
    }
    Some(few)
}

/// Some neighbouring columns of the rows of a segment.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a, C> {
    pub(crate) data: &'a [C],
    pub(crate) start: isize,
    pub(crate) stride: isize,
    pub(crate) rows: usize,
    /// Whether the rows follow each other in memory that has to be asked for ahead.
    pub(crate) far: bool,
}

impl<'a, C> Columns<'a, C> {
    #[inline(always)]
    pub(crate) fn row<const W: usize>(&self, row: usize) -> &'a [C; W] {
        let start = (self.start + row as isize * self.stride) as usize;
        let row = &self.data[start..start + W].as_chunks().0[0];
        if self.far {
            stream::wake(row.as_ptr().cast(), size_of_val(row));
        }
        row
    }
}

/// What a sum is divided by.
#[derive(Clone, Copy)]
pub(crate) enum Divide {
    No,
    ByCount,
    ByRoot,
}

/// The sum of the rows, divided.
#[derive(Clone, Copy)]
pub(crate) struct SumPool(pub(crate) Divide);

impl<C: Addable + Magnitude> Pool<C> for SumPool {
    type Value = C::Value;
    const IS_LOCATED: bool = false;

    #[inline(always)]
    fn fold<A: Arch, const W: usize>(
        &self,
        columns: Columns<'_, C>,
        _from: &mut [u32; W],
    ) -> [C::Value; W] {
        let mut totals = [C::NOTHING; W];
        for first in (0..columns.rows).step_by(ROWS) {
            let mut sums = [C::ZERO; W];
            for row in first..columns.rows.min(first + ROWS) {
                let row = columns.row::<W>(row);
                for column in 0..W {
                    sums[column] = sums[column].add(row[column]);
                }
            }
            for (total, sum) in totals.iter_mut().zip(sums) {
                *total = if first == 0 {
                    sum.widen()
                } else {
                    C::plus(*total, sum.widen())
                };
            }
        }
        let divisor = self.divisor(columns.rows);
        totals.map(|total| divided::<C>(total, divisor))
    }

    #[inline(always)]
    fn fold_run<A: Arch, const WHERE: bool>(
        &self,
        rows: usize,
        run_and_more: &[C],
    ) -> (C::Value, usize) {
        let mut total = C::NOTHING;
        if let Some(mut sums) = few(rows, run_and_more, C::ZERO) {
            for half in [4, 2, 1] {
                for index in 0..half {
                    sums[index] = sums[index].add(sums[index + half]);
                }
            }
            total = sums[0].widen();
        } else {
            for block in run_and_more[..rows].chunks(BLOCK) {
                let sum = lanes_of_run::<A, C, _>(Sum::<false>, block, false);
                total = C::plus(total, sum);
            }
        }
        (divided::<C>(total, self.divisor(rows)), 0)
    }
}

impl SumPool {
    #[inline(always)]
    fn divisor(self, rows: usize) -> Option<f64> {
        match self.0 {
            Divide::No => None,
            Divide::ByCount => Some(rows as f64),
            Divide::ByRoot => Some((rows as f64).sqrt()),
        }
    }
}

#[inline(always)]
fn divided<C: Addable>(total: C::Sum, divisor: Option<f64>) -> C::Value {
    match divisor {
        None => C::value(total),
        Some(divisor) => C::divided(total, divisor),
    }
}

/// The largest of each column, or with `MIN` the smallest, and its row.
#[derive(Clone, Copy)]
pub(crate) struct ExtremePool<const MIN: bool>;

impl<C: Compute, const MIN: bool> Pool<C> for ExtremePool<MIN> {
    type Value = C;
    const IS_LOCATED: bool = true;

    #[inline(always)]
    fn fold<A: Arch, const W: usize>(
        &self,
        columns: Columns<'_, C>,
        from: &mut [u32; W],
    ) -> [C; W] {
        let (mut best, mut rows) = (*columns.row::<W>(0), [0u32; W]);
        for index in 1..columns.rows {
            let row = columns.row::<W>(index);
            for column in 0..W {
                let (held, value) = (best[column], row[column]);
                let better = Self::is_better(value, held);
                best[column] = if better { value } else { held };
                rows[column] = if better { index as u32 } else { rows[column] };
            }
        }
        *from = rows;
        best
    }

    #[inline(always)]
    fn fold_run<A: Arch, const WHERE: bool>(&self, rows: usize, run_and_more: &[C]) -> (C, usize) {
        let first = run_and_more[0];
        if const { !C::VECTOR } {
            // Nothing is gained by vectors that the baseline has no comparisons for.
            let run = run_and_more[..rows].iter().copied().zip(0..);
            return run.fold((first, 0), |best, next| {
                match Self::is_better(next.0, best.0) {
                    true => next,
                    false => best,
                }
            });
        }
        // In place of a NaN too, which is never better, and better than none.
        let held = |value: C, held: C| match Self::is_better(value, held) {
            true => value,
            false => held,
        };
        if let Some(few) = few(rows, run_and_more, first) {
            let (mut best, mut from) = (few.map(|value| held(value, first)), [0u32; FEW]);
            for (index, (from, &value)) in from.iter_mut().zip(&best).enumerate() {
                *from = if Self::is_better(value, first) {
                    index as u32
                } else {
                    0
                };
            }
            // Neighbours, so that the first of equal ones stays.
            for pairs in [4, 2, 1] {
                for index in 0..pairs {
                    let (left, right) = (2 * index, 2 * index + 1);
                    let better = Self::is_better(best[right], best[left]);
                    best[index] = if better { best[right] } else { best[left] };
                    from[index] = if better { from[right] } else { from[left] };
                }
            }
            return (best[0], from[0] as usize);
        }
        let run = &run_and_more[..rows];
        let mut lanes = [first; LANES];
        let (blocks, rest) = run.as_chunks::<LANES>();
        for block in blocks {
            for (lane, &value) in lanes.iter_mut().zip(block) {
                *lane = held(value, *lane);
            }
        }
        let best = rest
            .iter()
            .chain(&lanes)
            .fold(first, |best, &value| held(value, best));
        if WHERE || best == C::ZERO {
            // Zeros of both signs are equal: the first one counts, as of all equal values.
            let place = run.iter().position(|value| *value == best).unwrap_or(0);
            return (run[place], place);
        }
        (best, 0)
    }
}

impl<const MIN: bool> ExtremePool<MIN> {
    #[inline(always)]
    fn is_better<C: Compute>(value: C, held: C) -> bool {
        if MIN { value < held } else { value > held }
    }
}

/// Elements of a long run that are compared side by side.
const LANES: usize = 32;
