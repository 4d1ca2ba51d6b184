//! Matrix products of integers in plain loops, and how any product meets what its destination holds.

use crate::isa::{Arch, Level, Task};
use crate::matrix::{Matrix, MatrixMut};
use crate::numeric::{Compute, run_for};

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

/// `out = a b` with the columns of `b` one element apart.
pub(crate) fn product<C: Compute>(a: Matrix<'_, C>, b: Matrix<'_, C>, out: &mut MatrixMut<'_, C>) {
    let sums: &mut [C] = if b.shape().columns <= 16 {
        &mut [C::ZERO; 16]
    } else {
        &mut [C::ZERO; COLUMNS]
    };
    run_for::<C, _>(Level::current(), ProductTask { a, b, out, sums });
}

struct ProductTask<'a, 'm, C> {
    a: Matrix<'a, C>,
    b: Matrix<'a, C>,
    out: &'a mut MatrixMut<'m, C>,
    sums: &'a mut [C],
}

impl<C: Compute> Task for ProductTask<'_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { a, b, out, sums } = self;
        let (left, right, to) = (a.shape(), b.shape(), out.shape());
        for first in (0..right.columns).step_by(sums.len()) {
            let sums = &mut sums[..(right.columns - first).min(COLUMNS)];
            for row in 0..left.rows {
                sums.fill(C::ZERO);
                row_product(a, b, row, first, sums);
                for (column, &sum) in sums.iter().enumerate() {
                    out.data()[to.at(row, first + column)] = sum;
                }
            }
        }
    }
}

/// Adds multiples of rows of `b` to `sums`, four rows at a time.
#[inline(always)]
fn row_product<C: Compute>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    row: usize,
    first: usize,
    sums: &mut [C],
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
            let low = p.mul(w).add(q.mul(x));
            *sum = sum.add(low.add(r.mul(y)).add(s.mul(z)));
        }
    }
    for step in depth / 4 * 4..depth {
        let factor = factor(step);
        for (sum, &value) in sums.iter_mut().zip(line(step)) {
            *sum = sum.add(factor.mul(value));
        }
    }
}
