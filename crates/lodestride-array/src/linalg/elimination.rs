//! Triangular factors of matrices of one size, of one after the other in the same memory.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::{factor, inverse, solve};
use faer::perm::PermRef;
use faer::{Mat, MatMut, MatRef, Par};

use super::matrices::LinalgProblem;
use super::small::Small;
use super::threads::Work;

/// Elimination of square matrices of one size.
pub(super) enum Elimination {
    /// Up to 4 rows.
    Four(Box<Small<4>>),
    /// Up to 8 rows.
    Eight(Box<Small<8>>),
    /// Up to 16 rows.
    Sixteen(Box<Small<16>>),
    /// Any number.
    Large(Box<Factors>),
}

impl Elimination {
    /// Of matrices of so many rows.
    pub(super) fn new(rows: usize) -> Self {
        match rows {
            1..=4 => Self::Four(Box::new(Small::new(rows))),
            5..=8 => Self::Eight(Box::new(Small::new(rows))),
            9..=16 => Self::Sixteen(Box::new(Small::new(rows))),
            _ => Self::Large(Box::new(Factors::new(rows, rows))),
        }
    }

    /// Eliminates the next matrix, given row after row.
    pub(super) fn eliminate(&mut self, matrix: &[f64]) {
        match self {
            Self::Four(small) => small.eliminate(matrix),
            Self::Eight(small) => small.eliminate(matrix),
            Self::Sixteen(small) => small.eliminate(matrix),
            Self::Large(factors) => factors.eliminate(matrix),
        }
    }

    /// The diagonal of the upper factor.
    pub(super) fn pivots(&self) -> impl Iterator<Item = f64> {
        let count = match self {
            Self::Four(small) => small.rows(),
            Self::Eight(small) => small.rows(),
            Self::Sixteen(small) => small.rows(),
            Self::Large(factors) => factors.both.nrows(),
        };
        (0..count).map(|row| match self {
            Self::Four(small) => small.pivot(row),
            Self::Eight(small) => small.pivot(row),
            Self::Sixteen(small) => small.pivot(row),
            Self::Large(factors) => factors.both[(row, row)],
        })
    }

    /// The sign of the exchange of rows.
    pub(super) fn sign(&self) -> f64 {
        let odd = match self {
            Self::Four(small) => small.odd,
            Self::Eight(small) => small.odd,
            Self::Sixteen(small) => small.odd,
            Self::Large(factors) => factors.odd,
        };
        if odd { -1.0 } else { 1.0 }
    }

    /// The error where a pivot is zero, with the first of them.
    pub(super) fn singular(&self, matrix: usize) -> Result<(), LinalgProblem> {
        match self.pivots().position(|pivot| pivot == 0.0) {
            Some(pivot) => Err(LinalgProblem::Singular { matrix, pivot }),
            None => Ok(()),
        }
    }

    /// Solves for right sides of so many columns, row after row; no pivot may be zero.
    pub(super) fn solve(&mut self, b: &[f64], columns: usize, x: &mut [f64]) {
        match self {
            Self::Four(small) => small.solve(b, columns, x),
            Self::Eight(small) => small.solve(b, columns, x),
            Self::Sixteen(small) => small.solve(b, columns, x),
            Self::Large(factors) => factors.solve(b, columns, x),
        }
    }

    /// The inverse, row after row; no pivot may be zero.
    pub(super) fn inverse(&mut self, inverse: &mut [f64]) {
        match self {
            Self::Four(small) => small.inverse(inverse),
            Self::Eight(small) => small.inverse(inverse),
            Self::Sixteen(small) => small.inverse(inverse),
            Self::Large(factors) => factors.inverse(inverse),
        }
    }
}

/// Triangular factors of a matrix of any shape.
pub(super) struct Factors {
    /// The upper one, and the lower one below the diagonal without the ones on it.
    pub(super) both: Mat<f64>,
    /// Row i of the exchanged matrix is row `order[i]` of the given one.
    pub(super) order: Vec<usize>,
    /// The other way round.
    places: Vec<usize>,
    /// Whether the rows were exchanged an odd number of times.
    odd: bool,
    /// The threads of the elimination.
    par: Par,
    /// Scratch memory for so many.
    memory: MemBuffer,
}

impl Factors {
    /// Of matrices of one shape.
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        let par = Work::Elimination.of_matrix(rows, columns);
        let needed =
            factor::lu_in_place_scratch::<usize, f64>(rows, columns, par, Default::default());
        Self {
            both: Mat::zeros(rows, columns),
            order: vec![0; rows],
            places: vec![0; rows],
            odd: false,
            par,
            memory: MemBuffer::new(needed),
        }
    }

    /// Eliminates the next matrix, given row after row.
    pub(super) fn eliminate(&mut self, matrix: &[f64]) {
        let (rows, columns) = (self.both.nrows(), self.both.ncols());
        let matrix = MatRef::from_row_major_slice(matrix, rows, columns);
        self.both.copy_from(matrix);
        let (info, _) = factor::lu_in_place(
            self.both.as_mut(),
            &mut self.order,
            &mut self.places,
            self.par,
            MemStack::new(&mut self.memory),
            Default::default(),
        );
        self.odd = info.transposition_count % 2 == 1;
        // The library divides by a pivot of zero, and what follows is NaN.
        if (0..rows.min(columns)).any(|i| self.both[(i, i)] == 0.0) {
            self.eliminate_deficient(matrix);
        }
    }

    /// Elimination by its definition: below a pivot of zero all is zero already.
    fn eliminate_deficient(&mut self, matrix: MatRef<'_, f64>) {
        let (rows, columns) = (matrix.nrows(), matrix.ncols());
        self.both.copy_from(matrix);
        self.order = (0..rows).collect();
        self.odd = false;
        let both = &mut self.both;
        for k in 0..rows.min(columns) {
            let mut largest = k;
            for row in k + 1..rows {
                if both[(row, k)].abs() > both[(largest, k)].abs() {
                    largest = row;
                }
            }
            self.odd ^= largest != k;
            self.order.swap(k, largest);
            for column in 0..columns {
                let exchanged = (both[(largest, column)], both[(k, column)]);
                (both[(k, column)], both[(largest, column)]) = exchanged;
            }
            if both[(k, k)] == 0.0 {
                continue;
            }
            for row in k + 1..rows {
                let factor = both[(row, k)] / both[(k, k)];
                both[(row, k)] = factor;
                for column in k + 1..columns {
                    both[(row, column)] -= factor * both[(k, column)];
                }
            }
        }
        for (row, &from) in self.order.iter().enumerate() {
            self.places[from] = row;
        }
    }

    /// The lower factor, with its ones.
    pub(super) fn lower(&self) -> Mat<f64> {
        let (rows, small) = (self.both.nrows(), self.both.nrows().min(self.both.ncols()));
        let below = |i: usize, j: usize| if i > j { self.both[(i, j)] } else { 0.0 };
        Mat::from_fn(rows, small, |i, j| if i == j { 1.0 } else { below(i, j) })
    }

    /// The upper factor.
    pub(super) fn upper(&self) -> Mat<f64> {
        let (small, columns) = (self.both.nrows().min(self.both.ncols()), self.both.ncols());
        Mat::from_fn(
            small,
            columns,
            |i, j| if i <= j { self.both[(i, j)] } else { 0.0 },
        )
    }

    fn solve(&mut self, b: &[f64], columns: usize, x: &mut [f64]) {
        let n = self.both.nrows();
        let par = Work::Solution.par([n, n, columns]);
        let order = PermRef::new_checked(&self.order, &self.places, n);
        let needed = solve::solve_in_place_scratch::<usize, f64>(n, columns, par);
        let mut found = MatRef::from_row_major_slice(b, n, columns).to_owned();
        solve::solve_in_place(
            self.both.as_ref(),
            self.both.as_ref(),
            order,
            found.as_mut(),
            par,
            MemStack::new(&mut MemBuffer::new(needed)),
        );
        MatMut::from_row_major_slice_mut(x, n, columns).copy_from(&found);
    }

    fn inverse(&mut self, out: &mut [f64]) {
        let n = self.both.nrows();
        let par = Work::Inverse.of_matrix(n, n);
        let order = PermRef::new_checked(&self.order, &self.places, n);
        let needed = inverse::inverse_scratch::<usize, f64>(n, par);
        let mut found = Mat::zeros(n, n);
        inverse::inverse(
            found.as_mut(),
            self.both.as_ref(),
            self.both.as_ref(),
            order,
            par,
            MemStack::new(&mut MemBuffer::new(needed)),
        );
        MatMut::from_row_major_slice_mut(out, n, n).copy_from(&found);
    }
}
