//! The triangular algorithms, once: by halves, so that nearly all of the work is matrix products.

use std::ops::{Div, Mul, Range, Sub};

use lodestride_buffer::{DType, Element};
use lodestride_shape::{Order, all, interval};

use super::{Diagonal, Triangle, product};
use crate::NdArray;
use crate::error::Result;

/// The order from which on a triangle is halved.
const LEAF: usize = 32;

/// Changes the matrix that has these rows and columns of a larger one.
pub(super) type Update<'a> = dyn FnMut(&Range<usize>, &Range<usize>, &NdArray) -> Result<()> + 'a;

/// Where a triangle of this order is halved, unless it is small.
fn middle(n: usize) -> Option<usize> {
    (n > LEAF).then(|| (n / 2).next_multiple_of(LEAF))
}

/// The rows and columns of a matrix in two ranges, as a view.
#[track_caller]
pub(super) fn block(
    matrix: &NdArray,
    rows: &Range<usize>,
    columns: &Range<usize>,
) -> Result<NdArray> {
    let part = |range: &Range<usize>| interval(range.start as isize, range.end as isize);
    matrix.get(&[part(rows), part(columns)])
}

#[track_caller]
fn rows(matrix: &NdArray, rows: &Range<usize>) -> Result<NdArray> {
    matrix.get(&[interval(rows.start as isize, rows.end as isize), all()])
}

/// A triangular matrix: a view in whose other triangle anything may be.
#[derive(Clone)]
pub(super) struct Triangular {
    matrix: NdArray,
    triangle: Triangle,
    diagonal: Diagonal,
}

impl Triangular {
    pub(super) fn new(matrix: NdArray, triangle: Triangle, diagonal: Diagonal) -> Self {
        Self {
            matrix,
            triangle,
            diagonal,
        }
    }

    fn order(&self) -> usize {
        self.matrix.shape()[0]
    }

    /// The two halves on the diagonal and the rectangle between them: rows of `first`, columns of `last`.
    ///
    /// `last` stands for the unknowns that the others depend on: the lower half of an upper triangle, the upper half of a
    /// lower one.
    #[track_caller]
    fn halves(&self, middle: usize) -> Result<Halves> {
        let (top, bottom) = (0..middle, middle..self.order());
        let (first, last) = match self.triangle {
            Triangle::Upper => (top, bottom),
            Triangle::Lower => (bottom, top),
        };
        let half = |range: &Range<usize>| -> Result<Triangular> {
            Ok(Triangular {
                matrix: block(&self.matrix, range, range)?,
                ..self.clone()
            })
        };
        Ok(Halves {
            between: block(&self.matrix, &first, &last)?,
            first: (half(&first)?, first),
            last: (half(&last)?, last),
        })
    }

    /// `b = t b`.
    #[track_caller]
    pub(super) fn multiply(&self, op: &'static str, b: &NdArray) -> Result<()> {
        let Some(middle) = middle(self.order()) else {
            let b_copy = b.dup()?;
            let strict = self.diagonal == Diagonal::Unit;
            let whole = self
                .triangle
                .mask(self.order(), strict)?
                .select(&self.matrix, 0.0)?;
            // A unit diagonal is the old value.
            let beta = f64::from(u8::from(strict));
            return product(op, 1.0, &whole, &b_copy, beta, b);
        };
        let halves = self.halves(middle)?;
        let (b_first, b_last) = (rows(b, &halves.first.1)?, rows(b, &halves.last.1)?);
        halves.first.0.multiply(op, &b_first)?;
        product(op, 1.0, &halves.between, &b_last.dup()?, 1.0, &b_first)?;
        halves.last.0.multiply(op, &b_last)
    }

    /// Solves `t x = b` for `x`, which takes the place of `b`.
    #[track_caller]
    pub(super) fn solve(&self, op: &'static str, b: &NdArray) -> Result<()> {
        let Some(middle) = middle(self.order()) else {
            return match b.dtype() {
                DType::F64 => self.substitute::<f64>(b),
                _ => self.substitute::<f32>(b),
            };
        };
        let halves = self.halves(middle)?;
        let (b_first, b_last) = (rows(b, &halves.first.1)?, rows(b, &halves.last.1)?);
        halves.last.0.solve(op, &b_last)?;
        product(op, -1.0, &halves.between, &b_last.dup()?, 1.0, &b_first)?;
        halves.first.0.solve(op, &b_first)
    }

    /// [`solve`](Self::solve) of few unknowns, one after the other.
    #[track_caller]
    fn substitute<T: Element + Sub<Output = T> + Mul<Output = T> + Div<Output = T>>(
        &self,
        b: &NdArray,
    ) -> Result<()> {
        let (n, columns) = (self.order(), b.shape()[1]);
        if columns == 0 {
            return Ok(());
        }
        let copy = |array: &NdArray| array.dup_order(Order::C)?.cast(T::DTYPE);
        let (factors, unknowns) = (copy(&self.matrix)?, copy(b)?);
        {
            let factors = factors.view::<T>()?;
            let mut x = unknowns.view_mut::<T>()?;
            let x = x.as_mut_slice().unwrap_or_default();
            for step in 0..n {
                let (i, known) = match self.triangle {
                    Triangle::Upper => (n - 1 - step, n - step..n),
                    Triangle::Lower => (step, 0..step),
                };
                for j in known {
                    let factor = factors[[i, j]];
                    let (head, tail) = x.split_at_mut(i.max(j) * columns);
                    let (row, solved) = if i < j {
                        (&mut head[i * columns..], &tail[..columns])
                    } else {
                        (tail, &head[j * columns..])
                    };
                    for (x, &y) in row[..columns].iter_mut().zip(solved) {
                        *x = *x - factor * y;
                    }
                }
                if self.diagonal == Diagonal::Stored {
                    let factor = factors[[i, i]];
                    for x in &mut x[i * columns..][..columns] {
                        *x = *x / factor;
                    }
                }
            }
        }
        b.assign(&unknowns)?;
        Ok(())
    }
}

struct Halves {
    first: (Triangular, Range<usize>),
    last: (Triangular, Range<usize>),
    between: NdArray,
}

impl Triangle {
    /// A mask of the triangle, with the diagonal unless it is `strict`.
    #[track_caller]
    pub(crate) fn mask(self, n: usize, strict: bool) -> Result<NdArray> {
        let columns = NdArray::arange_of(DType::I64, 0, n as i64, 1)?;
        let rows = columns.expand_dims(1)?;
        match (self, strict) {
            (Self::Upper, false) => rows.less_equal(&columns),
            (Self::Upper, true) => rows.less(&columns),
            (Self::Lower, false) => rows.greater_equal(&columns),
            (Self::Lower, true) => rows.greater(&columns),
        }
    }

    /// Calls `update` with rows, columns and a matrix for them that it changes, until every element of the triangle of `c` has
    /// been changed once; what else it changes is lost.
    #[track_caller]
    pub(super) fn update(self, c: &NdArray, update: &mut Update<'_>) -> Result<()> {
        self.update_from(c, &(0..c.shape()[0]), update)
    }

    #[track_caller]
    fn update_from(self, c: &NdArray, range: &Range<usize>, update: &mut Update<'_>) -> Result<()> {
        let Some(middle) = middle(range.len()) else {
            let target = block(c, range, range)?;
            let whole = target.dup()?;
            update(range, range, &whole)?;
            target.replace_where(&self.mask(range.len(), false)?, &whole)?;
            return Ok(());
        };
        let middle = range.start + middle;
        let (top, bottom) = (range.start..middle, middle..range.end);
        let (rows, columns) = match self {
            Self::Upper => (&top, &bottom),
            Self::Lower => (&bottom, &top),
        };
        update(rows, columns, &block(c, rows, columns)?)?;
        self.update_from(c, &top, update)?;
        self.update_from(c, &bottom, update)
    }

    /// `c += alpha * a b` for a symmetric `a` of which only this triangle is read.
    #[track_caller]
    pub(super) fn symmetric_product(
        self,
        op: &'static str,
        alpha: f64,
        a: &NdArray,
        b: &NdArray,
        c: &NdArray,
    ) -> Result<()> {
        let n = a.shape()[0];
        let Some(middle) = middle(n) else {
            let whole = self.mask(n, false)?.select(a, &a.transpose())?;
            return product(op, alpha, &whole, b, 1.0, c);
        };
        let (top, bottom) = (0..middle, middle..n);
        let corner = match self {
            Self::Upper => block(a, &top, &bottom)?,
            Self::Lower => block(a, &bottom, &top)?.transpose(),
        };
        let (b_top, b_bottom) = (rows(b, &top)?, rows(b, &bottom)?);
        let (c_top, c_bottom) = (rows(c, &top)?, rows(c, &bottom)?);
        self.symmetric_product(op, alpha, &block(a, &top, &top)?, &b_top, &c_top)?;
        product(op, alpha, &corner, &b_bottom, 1.0, &c_top)?;
        product(op, alpha, &corner.transpose(), &b_top, 1.0, &c_bottom)?;
        self.symmetric_product(
            op,
            alpha,
            &block(a, &bottom, &bottom)?,
            &b_bottom,
            &c_bottom,
        )
    }
}
