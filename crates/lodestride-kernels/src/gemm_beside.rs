//! Products of one row with a matrix whose rows are short and follow each other, such as the sums of a few features over many samples:
//! several rows lie side by side in a vector, and the elements that they are multiplied by are spread beside them.

use crate::across::Lines;
use crate::gemm_small::Blend;
use crate::gemm_spread;
use crate::isa::{Arch, Level, Task};
use crate::matrix::{Matrix, MatrixMut};
use crate::numeric::Compute;
use crate::stream::LINE;
use crate::tile::repeat_each;

/// Elements that are added up at a time, whole vectors of any width.
const LANES: usize = 16;
/// Elements of rows that are multiplied at a time, which stay in the first-level cache.
const TILE: usize = 1 << 11;
/// Elements after which the columns of vectors come in the same order again, at most.
const PERIOD: usize = LANES * (SHORT - 1);
/// Columns up to which rows are short; longer ones are swept as fast, but for those of one line.
const SHORT: usize = gemm_spread::MOST;
/// Sums in progress for each lane, so that additions need not wait for one another.
const CHAINS: usize = 4;

/// The product where the left matrix is one row, and the right one has rows without gaps that are shorter than a vector; false, with
/// nothing done, where they are others.
pub(crate) fn product<C: Compute>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
) -> bool {
    let (left, right) = (a.shape(), b.shape());
    let (depth, columns) = (right.rows, right.columns);
    let lies = right.column_step == 1 && right.row_step == columns as isize;
    let is_short = (2..=SHORT).contains(&columns) || columns * size_of::<C>() == LINE;
    if left.rows != 1 || !lies || !is_short {
        return false;
    }
    let mut x = &b.data()[right.start..][..depth * columns];
    let (step, mut row) = (left.column_step, 0);
    let period = columns * (LANES >> columns.trailing_zeros().min(LANES.trailing_zeros()));
    let mut sums = Lines([C::ZERO; PERIOD]);
    let sums = &mut sums.0[..period];
    if step == 1 && columns <= SHORT {
        let elements = &a.data()[left.at(0, 0)..][..depth];
        let (added, done) = gemm_spread::add_up(elements, x, columns);
        sums[..columns].copy_from_slice(&added[..columns]);
        (row, x) = (done, &x[done * columns..]);
    }
    let groups = x.chunks_exact(period);
    let rest = groups.remainder();
    let whole = &x[..x.len() - rest.len()];
    // Clearing a tile takes as long as a few hundred rows do in registers.
    if !whole.is_empty() {
        let mut tile = Lines([C::ZERO; TILE]);
        for (number, x) in whole.chunks(TILE / period * period).enumerate() {
            let first = row + number * (TILE / period * period / columns);
            let spread = &mut tile.0[..x.len()];
            repeat_each(a.data(), (left.at(0, first), step), columns, spread);
            Level::current().run(AddUp { x, spread, sums });
        }
    }
    let done = row + whole.len() / columns;
    for column in 0..columns {
        let mut sum = C::ZERO;
        for &more in sums[column..].iter().step_by(columns) {
            sum = sum.add(more);
        }
        for (row, x) in rest.chunks_exact(columns).enumerate() {
            sum = sum.add(a.data()[left.at(0, done + row)].mul(x[column]));
        }
        let at = out.shape().at(0, column);
        blend.apply(&mut out.data()[at], sum);
    }
    true
}

/// Products of elements added to sums, of which each is for one place in a period. The elements may come from memory, so they are
/// read in order; their products, which stay in the first-level cache, are added up column by column.
struct AddUp<'a, C> {
    x: &'a [C],
    spread: &'a mut [C],
    sums: &'a mut [C],
}

impl<C: Compute> Task for AddUp<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { x, spread, sums } = self;
        for (product, &x) in spread.iter_mut().zip(x) {
            *product = product.mul(x);
        }
        let (period, len) = (sums.len(), spread.len());
        for (at, sums) in (0..).step_by(LANES).zip(sums.as_chunks_mut::<LANES>().0) {
            let [mut a, mut b, mut c, mut d] = [[C::ZERO; LANES]; CHAINS];
            let mut next = at;
            while next + (CHAINS - 1) * period + LANES <= len {
                a = with(a, &spread[next..]);
                next += period;
                b = with(b, &spread[next..]);
                next += period;
                c = with(c, &spread[next..]);
                next += period;
                d = with(d, &spread[next..]);
                next += period;
            }
            while next + LANES <= len {
                a = with(a, &spread[next..]);
                next += period;
            }
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum = sum.add(a[lane].add(b[lane]).add(c[lane].add(d[lane])));
            }
        }
    }
}

/// Sums with the first elements of a slice, if there are enough of them. They come and go by value: a reference would keep them in
/// memory.
#[inline(always)]
fn with<C: Compute>(mut sums: [C; LANES], x: &[C]) -> [C; LANES] {
    if let Some(x) = x.first_chunk::<LANES>() {
        for lane in 0..LANES {
            sums[lane] = sums[lane].add(x[lane]);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::MatrixShape;

    /// Products of integers so small that every order of addition is exact, beside plain loops.
    #[test]
    fn short_rows_add_up_as_in_plain_loops() {
        let mut wrong = wrong_sums(|number| number as f32);
        wrong.extend(wrong_sums(f64::from));
        wrong.extend(wrong_sums(i64::from));
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    fn wrong_sums<C: Compute>(of: impl Fn(i32) -> C) -> Vec<String> {
        let mut wrong = Vec::new();
        for columns in 1..=17 {
            for depth in [1, 7, 16, 129, 2500] {
                for step in [1, 3] {
                    let value = |i: usize, of: usize| (i * 7 % of) as i32 - 4;
                    let a: Vec<C> = (0..depth * step).map(|i| of(value(i, 11))).collect();
                    let b: Vec<C> = (0..depth * columns).map(|i| of(value(i, 13))).collect();
                    let mut row = MatrixShape::contiguous(1, depth);
                    row.column_step = step as isize;
                    let right = MatrixShape::contiguous(depth, columns);
                    let (a, b) = (Matrix::new(&a, row), Matrix::new(&b, right));
                    let mut out = vec![C::ONE; columns];
                    let to = MatrixShape::contiguous(1, columns);
                    let mut to = MatrixMut::new(&mut out, to);
                    let (alpha, beta) = (of(2), of(3));
                    let done = product(a, b, &mut to, Blend { alpha, beta });
                    let line = columns * size_of::<C>() == LINE;
                    let term = |row: usize, column| {
                        value(row * step, 11) * value(row * columns + column, 13)
                    };
                    let sum = |column| (0..depth).map(|row| term(row, column)).sum::<i32>();
                    let expected: Vec<C> = match done {
                        true => (0..columns).map(|c| of(2 * sum(c) + 3)).collect(),
                        false => vec![C::ONE; columns],
                    };
                    if done != ((2..=8).contains(&columns) || line) || out != expected {
                        wrong.push(format!("{depth} by {columns}, {step} apart: {out:?}"));
                    }
                }
            }
        }
        wrong
    }
}
