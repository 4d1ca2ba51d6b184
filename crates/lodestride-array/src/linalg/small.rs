//! Elimination of small square matrices. The library's set-up for one matrix takes several times as long as their
//! arithmetic, which matters for batches of them.

use std::array;

/// Triangular factors of a square matrix of up to `W` rows. Rows are as wide whatever the matrix has, so that arithmetic on
/// them has a known length; what is beyond the matrix is never read.
pub(super) struct Small<const W: usize> {
    rows: usize,
    /// Below the diagonal; the ones on it are left out.
    l: [[f64; W]; W],
    u: [[f64; W]; W],
    /// Row i of the exchanged matrix is row `order[i]` of the given one.
    order: [usize; W],
    /// Whether the rows were exchanged an odd number of times.
    pub(super) odd: bool,
}

/// Takes a multiple of one row from another.
fn subtract<const W: usize>(from: &mut [f64; W], factor: f64, row: &[f64; W]) {
    for (x, y) in from.iter_mut().zip(row) {
        *x -= factor * y;
    }
}

impl<const W: usize> Small<W> {
    pub(super) fn new(rows: usize) -> Self {
        debug_assert!(rows <= W);
        Self {
            rows: rows.min(W),
            l: [[0.0; W]; W],
            u: [[0.0; W]; W],
            order: array::from_fn(|row| row),
            odd: false,
        }
    }

    /// Eliminates a matrix, given row after row.
    pub(super) fn eliminate(&mut self, matrix: &[f64]) {
        // With a known number of rows the loops over them are unrolled.
        if self.rows == W {
            self.eliminate_rows(matrix, W);
        } else {
            self.eliminate_rows(matrix, self.rows);
        }
    }

    /// Takes the largest pivot of each column. Below a pivot of zero all is zero already.
    #[inline(always)]
    fn eliminate_rows(&mut self, matrix: &[f64], n: usize) {
        for (row, values) in self.u.iter_mut().zip(matrix.chunks_exact(n)) {
            *row = [0.0; W];
            row[..n].copy_from_slice(values);
        }
        self.order = array::from_fn(|row| row);
        self.odd = false;
        for k in 0..n {
            let mut largest = k;
            for row in k + 1..n {
                if self.u[row][k].abs() > self.u[largest][k].abs() {
                    largest = row;
                }
            }
            if largest != k {
                self.u.swap(k, largest);
                self.l.swap(k, largest);
                self.order.swap(k, largest);
                self.odd = !self.odd;
            }
            let pivots = self.u[k];
            if pivots[k] == 0.0 {
                continue;
            }
            for row in k + 1..n {
                let factor = self.u[row][k] / pivots[k];
                self.l[row][k] = factor;
                subtract(&mut self.u[row], factor, &pivots);
                // Rounding may have left something, which the rows below are not to get.
                self.u[row][k] = 0.0;
            }
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn pivot(&self, row: usize) -> f64 {
        self.u[row][row]
    }

    /// Solves for right sides in rows that are exchanged already.
    fn substitute<const C: usize>(&self, x: &mut [[f64; C]; W]) {
        if self.rows == W {
            self.substitute_rows(x, W);
        } else {
            self.substitute_rows(x, self.rows);
        }
    }

    #[inline(always)]
    fn substitute_rows<const C: usize>(&self, x: &mut [[f64; C]; W], n: usize) {
        for row in 1..n {
            let (above, below) = x.split_at_mut(row);
            for (factor, above) in self.l[row].iter().zip(above) {
                subtract(&mut below[0], *factor, above);
            }
        }
        for row in (0..n).rev() {
            let (above, below) = x[..n].split_at_mut(row + 1);
            for (factor, below) in self.u[row][row + 1..].iter().zip(below) {
                subtract(&mut above[row], *factor, below);
            }
            let pivot = self.u[row][row];
            above[row].iter_mut().for_each(|x| *x /= pivot);
        }
    }

    /// Solves for right sides of so many columns, row after row.
    pub(super) fn solve(&self, b: &[f64], columns: usize, x: &mut [f64]) {
        if columns == 1 {
            self.solve_block::<1>(b, columns, 0, x);
        } else {
            for first in (0..columns).step_by(W) {
                self.solve_block::<W>(b, columns, first, x);
            }
        }
    }

    /// Solves for up to `C` columns from the first on.
    fn solve_block<const C: usize>(&self, b: &[f64], columns: usize, first: usize, x: &mut [f64]) {
        let width = C.min(columns - first);
        let mut block = [[0.0; C]; W];
        for (row, &from) in block.iter_mut().zip(&self.order[..self.rows]) {
            row[..width].copy_from_slice(&b[from * columns + first..][..width]);
        }
        self.substitute(&mut block);
        for (row, out) in block.iter().zip(x.chunks_exact_mut(columns)) {
            out[first..first + width].copy_from_slice(&row[..width]);
        }
    }

    pub(super) fn inverse(&self, inverse: &mut [f64]) {
        let mut block = [[0.0; W]; W];
        for (row, &from) in block.iter_mut().zip(&self.order[..self.rows]) {
            row[from] = 1.0;
        }
        self.substitute(&mut block);
        for (row, out) in block.iter().zip(inverse.chunks_exact_mut(self.rows)) {
            out.copy_from_slice(&row[..self.rows]);
        }
    }
}
