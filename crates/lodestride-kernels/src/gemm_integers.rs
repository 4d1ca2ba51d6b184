//! Matrix products of integers by tiles whose sums stay in registers: a few rows by two or so vectors.
//!
//! What is left of the rows, and what has no use for tiles, is done by the plain loops of `gemm_small.rs`.

use crate::isa::Arch;
use crate::matrix::{Matrix, MatrixMut};
use crate::scalar::arith::Number;
use crate::vector::Vector;

/// Rows of a tile: with more of them the compiler puts sums to the stack.
const ROWS: usize = 4;

/// Steps along the inner axis at a time: with as many rows of the right matrix a panel of tiles fits L1.
const DEPTH: usize = 256;

/// Multiply-adds that are worth setting up a panel.
const WORTH: usize = 16 * 16 * 16;

/// Steps from which on they pay where rows are long: with fewer, writing the result row by row is faster.
const DEEP: usize = 16;

/// The unsigned integers, whose products are those of the signed ones of their size.
pub(crate) trait Whole: Number {
    /// Multiplies as many rows from the first one on as tiles are good for, and gives their number.
    fn tiles<A: Arch>(
        a: Matrix<'_, Self>,
        b: Matrix<'_, Self>,
        out: &mut MatrixMut<'_, Self>,
    ) -> usize;
}

/// Types and the columns of their tiles: with AVX-512, and on other machines with vectors. Those of AVX2 do not multiply words of
/// 64 bits, and by three products of halves the plain loops are as fast.
macro_rules! whole {
    ($($T:ident $wide:literal $($narrow:literal)?;)*) => { $(
        impl Whole for $T {
            #[inline(always)]
            fn tiles<A: Arch>(
                a: Matrix<'_, Self>,
                b: Matrix<'_, Self>,
                out: &mut MatrixMut<'_, Self>,
            ) -> usize {
                if const { <A::F64 as Vector<f64>>::LANES == 8 } {
                    return tiles::<A, $T, $wide>(a, b, out);
                }
                $(
                    if const { A::TUNED } {
                        return tiles::<A, $T, $narrow>(a, b, out);
                    }
                )?
                0
            }
        }
    )* };
}

whole! {
    u8 64 64;
    u16 64 32;
    u32 32 16;
    u64 16;
}

#[inline(always)]
fn tiles<A: Arch, T: Number, const COLUMNS: usize>(
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    out: &mut MatrixMut<'_, T>,
) -> usize {
    let (left, right) = (a.shape(), b.shape());
    let (m, k, n) = (left.rows, left.columns, right.columns);
    let is_worth = m * k * n >= WORTH && m >= ROWS && 4 * n >= COLUMNS;
    let is_deep = k >= DEEP || n <= 4 * COLUMNS;
    if !is_worth || !is_deep || right.column_step != 1 || left.column_step != 1 {
        return 0;
    }
    let rows = m / ROWS * ROWS;
    // What is beyond the last column of a panel is multiplied along, and not stored.
    let mut panel = [[T::ZERO; COLUMNS]; DEPTH];
    for step in (0..k).step_by(DEPTH) {
        let depth = DEPTH.min(k - step);
        for column in (0..n).step_by(COLUMNS) {
            let len = COLUMNS.min(n - column);
            for (line, step) in panel[..depth].iter_mut().zip(step..) {
                line[..len].copy_from_slice(&b.data()[right.at(step, column)..][..len]);
            }
            for row in (0..rows).step_by(ROWS) {
                let line = |i| &a.data()[left.at(row + i, step)..][..depth];
                let lines = [line(0), line(1), line(2), line(3)];
                let sums = tile::<A, T, COLUMNS>(lines, &panel[..depth]);
                for (row, sums) in (row..).zip(&sums) {
                    store::<A, T>(out, row, column, &sums[..len], step == 0);
                }
            }
        }
    }
    rows
}

/// The products of a panel. Written so that the compiler keeps the sums in vectors: with an index for each row it makes a vector of
/// those, which it takes apart for every load; with the factor inside the loop over columns it takes that loop apart; and without a
/// step that it cannot see through it works on several steps at once, gathering each column's elements.
#[inline(always)]
fn tile<A: Arch, T: Number, const COLUMNS: usize>(
    rows: [&[T]; ROWS],
    panel: &[[T; COLUMNS]],
) -> [[T; COLUMNS]; ROWS] {
    let mut sums = [[T::ZERO; COLUMNS]; ROWS];
    let rows = rows.map(|row| &row[..panel.len()]);
    for (step, line) in panel.iter().enumerate() {
        std::hint::black_box(());
        for (sums, row) in sums.iter_mut().zip(rows) {
            let factor = row[step];
            for (sum, &value) in sums.iter_mut().zip(line) {
                *sum = sum.add::<A>(factor.mul::<A>(value));
            }
        }
    }
    sums
}

/// Puts sums into a row of the destination, or adds them to what the steps before have left there.
#[inline(always)]
fn store<A: Arch, T: Number>(
    out: &mut MatrixMut<'_, T>,
    row: usize,
    column: usize,
    sums: &[T],
    is_first: bool,
) {
    let to = out.shape();
    let put = |to: &mut T, sum: T| *to = if is_first { sum } else { to.add::<A>(sum) };
    if to.column_step == 1 {
        let line = &mut out.data()[to.at(row, column)..][..sums.len()];
        line.iter_mut()
            .zip(sums)
            .for_each(|(to, &sum)| put(to, sum));
        return;
    }
    for (column, &sum) in (column..).zip(sums) {
        put(&mut out.data()[to.at(row, column)], sum);
    }
}
