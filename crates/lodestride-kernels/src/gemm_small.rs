//! Matrix products in plain loops: integers of any size, and small floats where the machine has no tiles.

use crate::isa::{Arch, Task};
use crate::matrix::{Matrix, MatrixMut};
use crate::numeric::{Compute, run_for};

/// A compute type with a fused multiply-add where the instruction set has one.
pub(crate) trait MulAdd: Compute {
    /// `a * b + c`.
    fn mul_add<A: Arch>(a: Self, b: Self, c: Self) -> Self;
}

macro_rules! mul_add_float {
    ($($t:ty),*) => {$(
        impl MulAdd for $t {
            #[inline(always)]
            fn mul_add<A: Arch>(a: $t, b: $t, c: $t) -> $t {
                if A::FMA { <$t>::mul_add(a, b, c) } else { a * b + c }
            }
        }
    )*};
}
mul_add_float!(f32, f64);

macro_rules! mul_add_integer {
    ($($t:ty),*) => {$(
        impl MulAdd for $t {
            #[inline(always)]
            fn mul_add<A: Arch>(a: $t, b: $t, c: $t) -> $t { a.wrapping_mul(b).wrapping_add(c) }
        }
    )*};
}
mul_add_integer!(i64, u64);

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

/// `out = alpha * a b + beta * out` with the columns of `b` one element apart.
pub(crate) fn product<C: MulAdd>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
) {
    if b.shape().columns <= 16 {
        run_for::<C, _>(ProductTask {
            a,
            b,
            out,
            blend,
            sums: &mut [C::ZERO; 16],
        });
    } else {
        run_for::<C, _>(ProductTask {
            a,
            b,
            out,
            blend,
            sums: &mut [C::ZERO; COLUMNS],
        });
    }
}

struct ProductTask<'a, 'm, C> {
    a: Matrix<'a, C>,
    b: Matrix<'a, C>,
    out: &'a mut MatrixMut<'m, C>,
    blend: Blend<C>,
    sums: &'a mut [C],
}

impl<C: MulAdd> Task for ProductTask<'_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self {
            a,
            b,
            out,
            blend,
            sums,
        } = self;
        let (left, right, to) = (a.shape(), b.shape(), out.shape());
        for first in (0..right.columns).step_by(sums.len()) {
            let sums = &mut sums[..(right.columns - first).min(COLUMNS)];
            for row in 0..left.rows {
                sums.fill(C::ZERO);
                row_product::<A, C>(a, b, row, first, sums);
                for (column, &sum) in sums.iter().enumerate() {
                    blend.apply(&mut out.data()[to.at(row, first + column)], sum);
                }
            }
        }
    }
}

/// Adds multiples of rows of `b` to `sums`, four rows at a time.
#[inline(always)]
fn row_product<A: Arch, C: MulAdd>(
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
            let low = C::mul_add::<A>(q, x, C::mul_add::<A>(p, w, *sum));
            *sum = C::mul_add::<A>(s, z, C::mul_add::<A>(r, y, low));
        }
    }
    for step in depth / 4 * 4..depth {
        let factor = factor(step);
        for (sum, &value) in sums.iter_mut().zip(line(step)) {
            *sum = C::mul_add::<A>(factor, value, *sum);
        }
    }
}
