//! Matrix products without packing: small floats, integers of any size, and matrix times vector.

use crate::isa::{Arch, Level, Task};
use crate::matrix::{Matrix, MatrixMut, MatrixShape};
use crate::numeric::{Compute, run_for};
use crate::spread;

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
    fn apply(self, out: &mut C, product: C) {
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

/// Whether a product of floats is so small that the call of a packing library costs more than the work.
pub(crate) fn is_small(m: usize, n: usize, k: usize) -> bool {
    m * n * k <= 8 * 8 * 8
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

/// Elements of a vector that stay in L1 while columns are added to them.
const STRETCH: usize = 2048;

/// `out = alpha * a x + beta * out` for a matrix with unit steps along rows or columns and a contiguous `x`.
///
/// `out` is one column; rows are shared out over the threads when it is contiguous.
pub(crate) fn matrix_vector<C: MulAdd>(
    a: Matrix<'_, C>,
    x: &[C],
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
) {
    let (shape, work) = (out.shape(), a.shape().rows * a.shape().columns);
    if shape.row_step == 1 && spread::is_worth(work) {
        let data = &mut out.data()[shape.start..][..shape.rows];
        let size = shape.rows.div_ceil(8).next_multiple_of(16);
        spread::for_each_chunk(data, size, |index, out| {
            let a = a.row_range(index * size, out.len());
            let shape = MatrixShape {
                start: 0,
                rows: out.len(),
                ..shape
            };
            vector_part(a, x, &mut MatrixMut::new(out, shape), blend);
        });
    } else {
        vector_part(a, x, out, blend);
    }
}

fn vector_part<C: MulAdd>(a: Matrix<'_, C>, x: &[C], out: &mut MatrixMut<'_, C>, blend: Blend<C>) {
    if a.shape().column_step == 1 {
        Level::current().run(RowsTask { a, x, out, blend });
    } else {
        Level::current().run(ColumnsTask { a, x, out, blend });
    }
}

/// Dot products of contiguous rows with `x`.
struct RowsTask<'a, 'm, C> {
    a: Matrix<'a, C>,
    x: &'a [C],
    out: &'a mut MatrixMut<'m, C>,
    blend: Blend<C>,
}

impl<C: MulAdd> Task for RowsTask<'_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { a, x, out, blend } = self;
        let (shape, to) = (a.shape(), out.shape());
        for row in 0..shape.rows {
            let line = &a.data()[shape.at(row, 0)..][..shape.columns];
            let sum = dot::<A, C>(line, x);
            blend.apply(&mut out.data()[to.at(row, 0)], sum);
        }
    }
}

#[inline(always)]
fn dot<A: Arch, C: MulAdd>(row: &[C], x: &[C]) -> C {
    // As many lanes as the folds have: fewer are unrolled away before they are vectorised.
    const N: usize = 64;
    let mut lanes = [C::ZERO; N];
    let ((values, values_rest), (chunks, rest)) = (row.as_chunks::<N>(), x.as_chunks::<N>());
    for (values, x) in values.iter().zip(chunks) {
        for lane in 0..N {
            lanes[lane] = C::mul_add::<A>(values[lane], x[lane], lanes[lane]);
        }
    }
    for (lane, (&value, &x)) in lanes.iter_mut().zip(values_rest.iter().zip(rest)) {
        *lane = C::mul_add::<A>(value, x, *lane);
    }
    let mut half = N / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = lanes[lane].add(lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Multiples of contiguous columns added up, four columns at a time.
struct ColumnsTask<'a, 'm, C> {
    a: Matrix<'a, C>,
    x: &'a [C],
    out: &'a mut MatrixMut<'m, C>,
    blend: Blend<C>,
}

impl<C: MulAdd> Task for ColumnsTask<'_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let (shape, out) = (self.a.shape(), self.out.shape());
        let mut sums = [C::ZERO; STRETCH];
        for first in (0..shape.rows).step_by(STRETCH) {
            let sums = &mut sums[..STRETCH.min(shape.rows - first)];
            sums.fill(C::ZERO);
            let (quads, len) = (shape.columns / 4, sums.len());
            for quad in 0..quads {
                let [a, b, c, d] = [0, 1, 2, 3].map(|i| column(self.a, first, 4 * quad + i, len));
                let x = &self.x[4 * quad..4 * quad + 4];
                for ((((sum, &a), &b), &c), &d) in sums.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                    let low = C::mul_add::<A>(a, x[0], C::mul_add::<A>(b, x[1], *sum));
                    *sum = C::mul_add::<A>(c, x[2], C::mul_add::<A>(d, x[3], low));
                }
            }
            for index in 4 * quads..shape.columns {
                let line = column(self.a, first, index, len);
                for (sum, &value) in sums.iter_mut().zip(line) {
                    *sum = C::mul_add::<A>(value, self.x[index], *sum);
                }
            }
            for (index, &sum) in sums.iter().enumerate() {
                self.blend
                    .apply(&mut self.out.data()[out.at(first + index, 0)], sum);
            }
        }
    }
}

#[inline(always)]
fn column<'a, C: Copy>(a: Matrix<'a, C>, first: usize, column: usize, len: usize) -> &'a [C] {
    &a.data()[a.shape().at(first, column)..][..len]
}
