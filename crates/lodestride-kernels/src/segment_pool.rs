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
    /// Folds at least one row into one value per column; `from` gets the row it came from, where that is located. Must be
    /// `#[inline(always)]`.
    fn fold<A: Arch, const W: usize>(
        &self,
        columns: Columns<'_, C>,
        from: &mut [u32; W],
    ) -> [Self::Value; W];
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

    #[inline(always)]
    fn fold<A: Arch, const W: usize>(
        &self,
        columns: Columns<'_, C>,
        _from: &mut [u32; W],
    ) -> [C::Value; W] {
        let mut totals = [C::NOTHING; W];
        if W == 1 && columns.stride == 1 {
            // Rows of one element are a run.
            let run = &columns.data[columns.start as usize..][..columns.rows];
            for block in run.chunks(BLOCK) {
                totals[0] = C::plus(
                    totals[0],
                    lanes_of_run::<A, C, _>(Sum::<false>, block, false),
                );
            }
        } else {
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
        }
        let divisor = match self.0 {
            Divide::No => None,
            Divide::ByCount => Some(columns.rows as f64),
            Divide::ByRoot => Some((columns.rows as f64).sqrt()),
        };
        let mut values = [C::Value::ZERO; W];
        for (value, total) in values.iter_mut().zip(totals) {
            *value = match divisor {
                None => C::value(total),
                Some(divisor) => C::divided(total, divisor),
            };
        }
        values
    }
}

/// The largest of each column, or with `MIN` the smallest, and its row.
#[derive(Clone, Copy)]
pub(crate) struct ExtremePool<const MIN: bool>;

impl<C: Compute, const MIN: bool> Pool<C> for ExtremePool<MIN> {
    type Value = C;

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
                let better = if MIN { value < held } else { value > held };
                best[column] = if better { value } else { held };
                rows[column] = if better { index as u32 } else { rows[column] };
            }
        }
        *from = rows;
        best
    }
}
