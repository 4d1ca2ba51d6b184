//! Matrix products of integers, in plain loops where tiles (`gemm_integers.rs`) do not pay, and how any product meets what its
//! destination holds.

use crate::gemm_copied::{to_rows, with_room};
use crate::gemm_integers::Whole;
use crate::isa::{Arch, Isa, Level, Plain, Task};
use crate::matrix::{Matrix, MatrixMut, MatrixShape};
use crate::numeric::Compute;
use crate::scalar::arith::Number;
use crate::stream::LINE;

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

/// Columns or rows of the result up to which they are worked on one by one, and twice as many where all the elements lie in line.
const FEW: usize = 4;

/// Rows of which so few columns are better read as columns of contiguous rows, and steps up to which that is so.
const TALL: usize = 16;
const SHALLOW: usize = 16;

/// Multiply-adds of a few rows and columns for which AVX-512 copies both matrices, whose rows and columns lie apart: on an EPYC (family
/// 26) 3 by 1000 by 3 `i32` take 1.7 us so and 4.5 as they lie, 3 by 10 by 3 take 0.25 and 0.20; copied with AVX2 they take 3.7.
const COPIED: usize = 512;

/// Bytes of rows that are copied together before a few columns are multiplied with them.
const COPIED_BYTES: usize = 32 << 10;

/// Whether [`product`] can do these.
pub(crate) fn suits(a: MatrixShape, b: MatrixShape) -> bool {
    b.column_step == 1 || is_few(a, b) || is_few(b.transposed(), a.transposed())
}

/// Whether the right matrix has so few columns that they are best multiplied one by one.
fn is_few(a: MatrixShape, b: MatrixShape) -> bool {
    let in_line = a.column_step == 1 && b.row_step == 1 && b.column_step != 1;
    b.columns <= FEW || in_line && b.columns <= 2 * FEW
}

/// `out = a b`, wrapping in the elements' own type: of any layout where the result has few rows or few columns, else with the columns
/// of `b` one element apart.
pub(crate) fn product<T: Whole>(a: Matrix<'_, T>, b: Matrix<'_, T>, out: &mut MatrixMut<'_, T>) {
    let (left, right, to) = (a.shape(), b.shape(), out.shape());
    if left.is_empty() || right.is_empty() || is_dots(left, right) {
        return run(a, b, out);
    }
    let done = if is_few(left, right) {
        few_columns(a, b, out)
    } else if is_few(right.transposed(), left.transposed()) {
        let out = &mut MatrixMut::new(out.data(), to.transposed());
        few_columns(b.transposed(), a.transposed(), out)
    } else {
        with_rows(a, b, |a, b| run(a, b, out))
    };
    if !done {
        one_by_one(a, b, out);
    }
}

/// Hands over two matrices, each copied to contiguous rows where it does not lie so, as one of a batch that is one product may not;
/// false, with nothing done, without memory for it.
fn with_rows<T: Whole>(
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    job: impl FnOnce(Matrix<'_, T>, Matrix<'_, T>),
) -> bool {
    let [of_a, of_b] = [a.shape(), b.shape()].map(|x| match x.column_step {
        1 => 0,
        _ => x.rows * x.columns,
    });
    with_room(of_a + of_b, |room| {
        let (left, right) = room.split_at_mut(of_a);
        let a = if of_a == 0 { a } else { to_rows(a, left, 1) };
        let b = if of_b == 0 { b } else { to_rows(b, right, 1) };
        job(a, b);
    })
    .is_some()
}

/// The product with a right matrix of a few columns; false, with nothing done, where what does not lie well is not worth copying or
/// there is no memory for it.
fn few_columns<T: Whole>(a: Matrix<'_, T>, b: Matrix<'_, T>, out: &mut MatrixMut<'_, T>) -> bool {
    let left = a.shape();
    let (m, k, n) = (left.rows, left.columns, b.shape().columns);
    let are_copied = Level::current().isa() == Isa::Avx512 && m * n * k >= COPIED;
    if !are_copied && m.max(n) <= FEW && left.column_step != 1 && b.shape().row_step != 1 {
        // To copy both takes longer than to read them so few times.
        return false;
    }
    if m > TALL && (left.row_step == 1 || n > 1 && k < SHALLOW) {
        // Columns are added up as rows of the transposed product: `out' = b' a'`.
        let to = out.shape().transposed();
        let out = &mut MatrixMut::new(out.data(), to);
        return with_rows(b.transposed(), a.transposed(), |b, a| run(b, a, out));
    }
    // Copies of some rows at a time stay in the cache until they are multiplied.
    let rows = match left.column_step {
        1 => m,
        _ => (COPIED_BYTES / (size_of::<T>() * k)).clamp(1, m),
    };
    (0..m).step_by(rows).all(|first| {
        let rows = rows.min(m - first);
        with_rows(a.part(first, rows, 0, k), b.transposed(), |a, b| {
            for column in 0..n {
                let b = b.part(column, 1, 0, k).transposed();
                run(a, b, &mut out.part(first, rows, column, 1));
            }
        })
    })
}

/// The product without any memory, of any layout.
fn one_by_one<T: Whole>(a: Matrix<'_, T>, b: Matrix<'_, T>, out: &mut MatrixMut<'_, T>) {
    let (left, right, to) = (a.shape(), b.shape(), out.shape());
    for (row, column) in
        (0..to.rows).flat_map(|row| (0..to.columns).map(move |column| (row, column)))
    {
        let term =
            |step| a.data()[left.at(row, step)].mul::<Plain>(b.data()[right.at(step, column)]);
        out.data()[to.at(row, column)] =
            (0..left.columns).fold(T::ZERO, |sum, step| sum.add::<Plain>(term(step)));
    }
}

fn run<T: Whole>(a: Matrix<'_, T>, b: Matrix<'_, T>, out: &mut MatrixMut<'_, T>) {
    Level::current().run(ProductTask { a, b, out });
}

/// Columns of the right matrix that are worked on together at least.
const COLUMNS: usize = 256;

/// Bytes of the right matrix that stay in L1 beside a row of the result: as many columns of it are worked on together.
const BESIDE: usize = 24 << 10;

/// A product of integers: the columns of `b` are one element apart, or it is one of dot products.
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
        let mut room = [T::ZERO; COLUMNS];
        let in_line = to.column_step == 1;
        let columns = if in_line {
            COLUMNS.max(BESIDE / (size_of::<T>() * left.columns.max(1)))
        } else {
            COLUMNS
        };
        for first in (0..right.columns).step_by(columns) {
            let len = (right.columns - first).min(columns);
            for row in done..left.rows {
                let sums = if in_line {
                    &mut out.data()[to.at(row, first)..][..len]
                } else {
                    &mut room[..len]
                };
                row_product::<A, T>(a, b, row, first, sums);
                if !in_line {
                    for (column, &sum) in (first..).zip(&room[..len]) {
                        out.data()[to.at(row, column)] = sum;
                    }
                }
            }
        }
    }
}

fn is_dots(a: MatrixShape, b: MatrixShape) -> bool {
    b.columns == 1 && b.row_step == 1 && a.column_step == 1
}

/// Adds up multiples of rows of `b`, four rows at a time.
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
    // A second loop for the first rows is kept where stores are the widest: 1000x3 by 3x1000 `i64` took 328 us and takes 195.
    let stores = const { size_of::<A::F32>() == LINE };
    if !stores || depth < 2 {
        sums.fill(T::ZERO);
    }
    let line = |step: usize| &b.data()[right.at(step, first)..][..len];
    let mut step = 0;
    while step + 1 < depth {
        // Of two and of three rows the last is multiplied by zero: passing over the sums once more takes longer.
        let at = [0, 1, 2, 3].map(|i| (step + i).min(depth - 1));
        let weight = |i: usize| {
            if step + i < depth {
                factor(at[i])
            } else {
                T::ZERO
            }
        };
        let [p, q, r, s] = [factor(at[0]), factor(at[1]), weight(2), weight(3)];
        let rows = line(at[0]).iter().zip(line(at[1]));
        let rows = rows.zip(line(at[2])).zip(line(at[3]));
        for (sum, (((&w, &x), &y), &z)) in sums.iter_mut().zip(rows) {
            let low = p.mul::<A>(w).add::<A>(q.mul::<A>(x));
            let high = r.mul::<A>(y).add::<A>(s.mul::<A>(z));
            let before = if stores && step == 0 { T::ZERO } else { *sum };
            *sum = before.add::<A>(low.add::<A>(high));
        }
        step += 4;
    }
    if step < depth {
        let factor = factor(step);
        for (sum, &value) in sums.iter_mut().zip(line(step)) {
            *sum = sum.add::<A>(factor.mul::<A>(value));
        }
    }
}
