//! Sums of columns of halves, each times its factor: rows of the transposed matrix, swept one after the other.

use super::{line, share};
use crate::across::Lines;
use crate::isa::{Arch, Level, Task};
use crate::matrix::MatrixShape;
use crate::numeric::{Compute, Numeric};
use crate::reduce_fold::LANES;
use crate::scalar::float::Float;

/// The sums of columns that lie in runs, each times its factor. Threads share out the results.
pub(super) fn down_columns<H: Numeric>(
    (x, columns): (&[H], MatrixShape),
    factors: &[f32],
) -> Vec<f64> {
    let mut sums = vec![0.0; columns.rows];
    let level = Level::current();
    let part = |part: usize, sums: &mut [f64]| {
        level.run(Sweep {
            x,
            start: columns.start + part * WIDE,
            step: columns.column_step,
            factors,
            sums,
        });
    };
    share::<H>(columns, &mut sums, WIDE, part);
    sums
}

/// Results that are summed up at a time: they stay in L1.
const WIDE: usize = 1024;

/// Columns that a sum in `f32` is of.
const DEEP: usize = 512;

/// Columns that are added at a time.
const TOGETHER: usize = 8;

/// At most [`WIDE`] results.
struct Sweep<'a, H> {
    x: &'a [H],
    /// Where the first column begins, and elements from column to column.
    start: usize,
    step: isize,
    factors: &'a [f32],
    sums: &'a mut [f64],
}

impl<H: Numeric> Task for Sweep<'_, H> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let n = self.sums.len();
        let column = |index: usize| line(self.x, (self.start, self.step), index, n);
        let mut lanes = Lines([0.0; WIDE]);
        for first in (0..self.factors.len()).step_by(DEEP) {
            let last = self.factors.len().min(first + DEEP);
            let lanes = &mut lanes.0[..n];
            lanes.fill(0.0);
            let whole = if A::TUNED {
                last - (last - first) % TOGETHER
            } else {
                first
            };
            for at in (first..whole).step_by(TOGETHER) {
                let factors = std::array::from_fn(|i| self.factors[at + i]);
                let columns = std::array::from_fn(|i| column(at + i));
                add_columns::<H, A, TOGETHER>(lanes, columns, factors);
            }
            for at in whole..last {
                add_columns::<H, A, 1>(lanes, [column(at)], [self.factors[at]]);
            }
            for (sum, &lane) in self.sums.iter_mut().zip(&*lanes) {
                *sum += f64::from(lane);
            }
        }
    }
}

/// Adds columns times their factors to the lanes, of which there are as many.
#[inline(always)]
fn add_columns<H: Numeric, A: Arch, const K: usize>(
    lanes: &mut [f32],
    columns: [&[H]; K],
    factors: [f32; K],
) {
    let (chunks, rest) = lanes.as_chunks_mut::<LANES>();
    let done = chunks.len() * LANES;
    let columns = columns.map(|column| column.split_at(done));
    let wholes = columns.map(|(whole, _)| whole.as_chunks::<LANES>().0);
    for (index, chunk) in chunks.iter_mut().enumerate() {
        let elements = wholes.map(|whole| whole[index]);
        *chunk = plus::<H, A, K, LANES>(*chunk, elements, factors);
    }
    for (index, lane) in rest.iter_mut().enumerate() {
        let elements = columns.map(|(_, rest)| [rest[index]]);
        [*lane] = plus::<H, A, K, 1>([*lane], elements, factors);
    }
}

/// Adds elements of `K` columns, times their factors, to lanes that come and go by value.
#[inline(always)]
fn plus<H: Numeric, A: Arch, const K: usize, const N: usize>(
    mut lanes: [f32; N],
    elements: [[H; N]; K],
    factors: [f32; K],
) -> [f32; N] {
    for (elements, factor) in elements.into_iter().zip(factors) {
        let mut column = [0.0; N];
        f32::load_all::<H, A>(&elements, &mut column);
        for lane in 0..N {
            lanes[lane] = column[lane].fused::<A>(factor, lanes[lane]);
        }
    }
    lanes
}
