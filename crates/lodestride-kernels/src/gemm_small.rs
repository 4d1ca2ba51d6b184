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

/// Rows and steps of `k` of a tile of the left matrix.
const ROWS: usize = 4;
const DEPTH: usize = 64;

/// Whether a product of floats is small enough that packing would cost more than it saves.
pub(crate) fn is_small(m: usize, n: usize, k: usize) -> bool {
    k <= DEPTH && m * n * k <= 32 * 32 * 32
}

/// `out = alpha * a b + beta * out` with the columns of `b` one element apart.
pub(crate) fn product<C: MulAdd>(
    a: Matrix<'_, C>,
    b: Matrix<'_, C>,
    out: &mut MatrixMut<'_, C>,
    blend: Blend<C>,
) {
    run_for::<C, _>(ProductTask { a, b, out, blend });
}

struct ProductTask<'a, 'm, C> {
    a: Matrix<'a, C>,
    b: Matrix<'a, C>,
    out: &'a mut MatrixMut<'m, C>,
    blend: Blend<C>,
}

impl<C: MulAdd> Task for ProductTask<'_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(mut self) {
        let (m, n) = (self.a.shape().rows, self.b.shape().columns);
        let mut left = [[C::ZERO; ROWS]; DEPTH];
        for block in (0..self.a.shape().columns).step_by(DEPTH) {
            for row in (0..m).step_by(ROWS) {
                let depth = self.load_left(row, block, &mut left);
                let left = &left[..depth];
                let mut column = 0;
                while column < n {
                    let at = (row, column, block);
                    column += match n - column {
                        32.. => self.tile::<A, 32>(left, at),
                        16.. => self.tile::<A, 16>(left, at),
                        4.. => self.tile::<A, 4>(left, at),
                        _ => self.tile::<A, 1>(left, at),
                    };
                }
            }
        }
    }
}

impl<C: MulAdd> ProductTask<'_, '_, C> {
    /// Copies up to four rows of the left matrix, `k` outermost; rows beyond the last are zero.
    #[inline(always)]
    fn load_left(&self, row: usize, block: usize, left: &mut [[C; ROWS]; DEPTH]) -> usize {
        let shape = self.a.shape();
        let depth = DEPTH.min(shape.columns - block);
        for lane in 0..ROWS {
            if row + lane >= shape.rows {
                left[..depth]
                    .iter_mut()
                    .for_each(|values| values[lane] = C::ZERO);
                continue;
            }
            for (step, values) in left[..depth].iter_mut().enumerate() {
                values[lane] = self.a.data()[shape.at(row + lane, block + step)];
            }
        }
        depth
    }

    #[inline(always)]
    fn tile<A: Arch, const N: usize>(
        &mut self,
        left: &[[C; ROWS]],
        (row, column, block): (usize, usize, usize),
    ) -> usize {
        let b = self.b.shape();
        let mut sums = [[C::ZERO; N]; ROWS];
        for (step, left) in left.iter().enumerate() {
            let from = b.at(block + step, column);
            let Some(right) = self.b.data()[from..].first_chunk::<N>() else {
                break;
            };
            for lane in 0..ROWS {
                for index in 0..N {
                    sums[lane][index] =
                        C::mul_add::<A>(left[lane], right[index], sums[lane][index]);
                }
            }
        }
        // Blocks of `k` after the first add to what the first one left.
        let blend = match block {
            0 => self.blend,
            _ => Blend {
                beta: C::ONE,
                ..self.blend
            },
        };
        let shape = self.out.shape();
        let rows = ROWS.min(shape.rows - row);
        let data = self.out.data();
        for (lane, sums) in sums.iter().enumerate().take(rows) {
            let at = shape.at(row + lane, column);
            if shape.column_step == 1 {
                for (out, &sum) in data[at..at + N].iter_mut().zip(sums) {
                    blend.apply(out, sum);
                }
            } else {
                for (index, &sum) in sums.iter().enumerate() {
                    blend.apply(&mut data[shape.at(row + lane, column + index)], sum);
                }
            }
        }
        N
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

/// Dot products of contiguous rows with `x`, four rows at a time.
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
        let (shape, out) = (self.a.shape(), self.out.shape());
        let mut row = 0;
        while row < shape.rows {
            let rows = if shape.rows - row >= 4 { 4 } else { 1 };
            let line = |index: usize| &self.a.data()[shape.at(row + index, 0)..][..shape.columns];
            let mut sums = [C::ZERO; 4];
            if rows == 4 {
                sums = dot::<A, C, 4>([line(0), line(1), line(2), line(3)], self.x);
            } else {
                sums[..1].copy_from_slice(&dot::<A, C, 1>([line(0)], self.x));
            }
            for (index, &sum) in sums[..rows].iter().enumerate() {
                self.blend
                    .apply(&mut self.out.data()[out.at(row + index, 0)], sum);
            }
            row += rows;
        }
    }
}

#[inline(always)]
fn dot<A: Arch, C: MulAdd, const R: usize>(rows: [&[C]; R], x: &[C]) -> [C; R] {
    const N: usize = 32;
    let mut lanes = [[C::ZERO; N]; R];
    let (chunks, rest) = x.as_chunks::<N>();
    let split = rows.map(|row| row.as_chunks::<N>());
    for (index, x) in chunks.iter().enumerate() {
        for row in 0..R {
            let values = &split[row].0[index];
            for lane in 0..N {
                lanes[row][lane] = C::mul_add::<A>(values[lane], x[lane], lanes[row][lane]);
            }
        }
    }
    let mut sums = [C::ZERO; R];
    for row in 0..R {
        for (lane, (&value, &x)) in lanes[row].iter_mut().zip(split[row].1.iter().zip(rest)) {
            *lane = C::mul_add::<A>(value, x, *lane);
        }
        let mut half = N / 2;
        while half > 0 {
            for lane in 0..half {
                lanes[row][lane] = lanes[row][lane].add(lanes[row][lane + half]);
            }
            half /= 2;
        }
        sums[row] = lanes[row][0];
    }
    sums
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
