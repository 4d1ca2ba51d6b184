//! Matrix products of integers, in plain loops where tiles (`gemm_integers.rs`) do not pay, and how any product meets what its
//! destination holds.

use crate::gemm_integers::Whole;
use crate::isa::{Arch, Level, Task};
use crate::matrix::{Matrix, MatrixMut, MatrixShape};
use crate::numeric::Compute;
use crate::scalar::arith::Number;

/// How a product meets what is in the destination: `out = alpha * product + beta * out`; `beta` 0 never reads `out`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blend<C> {
    pub(crate) alpha: C,
    pub(crate) beta: C,
}

impl<C: Compute> Blend<C> {
    #[inline(always)]
    pub(crate) fn apply(self, out: &mut C, product: C) {
        let product = if self.alpha == C::ONE {
            product
        } else {
            self.alpha.mul(product)
        };
        *out = if self.beta == C::ZERO {
            product
        } else {
            self.beta.mul(*out).add(product)
        };
    }
}

/// Multiplies every element by `beta`; zero erases whatever is there, NaN included.
pub(crate) fn scale<C: Compute>(out: &mut MatrixMut<'_, C>, beta: C) {
    let shape = out.shape();
    let data = out.data();
    for row in 0..shape.rows {
        for column in 0..shape.columns {
            let value = &mut data[shape.at(row, column)];
            *value = if beta == C::ZERO {
                C::ZERO
            } else {
                beta.mul(*value)
            };
        }
    }
}

/// Columns of the right matrix that are worked on together.
const COLUMNS: usize = 256;

/// `out = a b`, wrapping in the elements' own type, with the columns of `b` one element apart; for a single column, its rows,
/// and the columns of `a`.
pub(crate) fn product<T: Whole>(a: Matrix<'_, T>, b: Matrix<'_, T>, out: &mut MatrixMut<'_, T>) {
    let is_column = b.shape().columns == 1 && !is_dots(a.shape(), b.shape());
    if is_column && a.shape().row_step == 1 {
        // The transposed product reads rows: `out' = b' a'`.
        let shape = out.shape().transposed();
        let (a, b) = (b.transposed(), a.transposed());
        let out = &mut MatrixMut::new(out.data(), shape);
        Level::current().run(ProductTask { a, b, out });
        return;
    }
    Level::current().run(ProductTask { a, b, out });
}

/// Whether [`product`] can do these.
pub(crate) fn suits(a: MatrixShape, b: MatrixShape) -> bool {
    b.column_step == 1 || is_dots(a, b)
}

fn is_dots(a: MatrixShape, b: MatrixShape) -> bool {
    b.columns == 1 && b.row_step == 1 && a.column_step == 1
}

struct ProductTask<'a, 'm, T> {
    a: Matrix<'a, T>,
    b: Matrix<'a, T>,
    out: &'a mut MatrixMut<'m, T>,
}

impl<T: Whole> Task for ProductTask<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { a, b, out } = self;
        let (left, right, to) = (a.shape(), b.shape(), out.shape());
        if is_dots(left, right) && !left.is_empty() {
            let x = &b.data()[right.start..][..right.rows];
            for row in 0..left.rows {
                let pairs = a.data()[left.at(row, 0)..][..x.len()].iter().zip(x);
                let sum = pairs.fold(T::ZERO, |sum, (&a, &b)| sum.add::<A>(a.mul::<A>(b)));
                out.data()[to.at(row, 0)] = sum;
            }
            return;
        }
        let done = T::tiles::<A>(a, b, out);
        if done == left.rows {
            return;
        }
        let mut sums = [T::ZERO; COLUMNS];
        for first in (0..right.columns).step_by(COLUMNS) {
            let sums = &mut sums[..(right.columns - first).min(COLUMNS)];
            for row in done..left.rows {
                sums.fill(T::ZERO);
                row_product::<A, T>(a, b, row, first, sums);
                for (column, &sum) in sums.iter().enumerate() {
                    out.data()[to.at(row, first + column)] = sum;
                }
            }
        }
    }
}

/// Adds multiples of rows of `b` to `sums`, four rows at a time.
#[inline(always)]
fn row_product<A: Arch, T: Number>(
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    row: usize,
    first: usize,
    sums: &mut [T],
) {
    let (left, right, depth) = (a.shape(), b.shape(), a.shape().columns);
    let factor = |step: usize| a.data()[left.at(row, step)];
    let len = sums.len();
    let line = |step: usize| &b.data()[right.at(step, first)..][..len];
    for quad in 0..depth / 4 {
        let [p, q, r, s] = [0, 1, 2, 3].map(|i| factor(4 * quad + i));
        let rows = line(4 * quad).iter().zip(line(4 * quad + 1));
        let rows = rows.zip(line(4 * quad + 2)).zip(line(4 * quad + 3));
        for (sum, (((&w, &x), &y), &z)) in sums.iter_mut().zip(rows) {
            let low = p.mul::<A>(w).add::<A>(q.mul::<A>(x));
            let high = r.mul::<A>(y).add::<A>(s.mul::<A>(z));
            *sum = sum.add::<A>(low.add::<A>(high));
        }
    }
    for step in depth / 4 * 4..depth {
        let factor = factor(step);
        for (sum, &value) in sums.iter_mut().zip(line(step)) {
            *sum = sum.add::<A>(factor.mul::<A>(value));
        }
    }
}
