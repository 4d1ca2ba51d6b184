//! Tall problems of least squares, brought to as many rows as columns.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::householder;
use faer::{Conj, Mat, MatMut, MatRef};

use super::decompositions::turned;
use super::threads::Work;

/// Elements that are turned at once: they stay in the cache of a core.
const BLOCK: usize = 32 * 1024;

/// A problem of least squares with the same solutions and singular values, which has no more rows than columns if the given
/// one is tall: its matrix and its right sides.
///
/// Rows come block after block below the triangular factor of those before, so that each is read once, and the orthogonal
/// factor, which is as large as the matrix, is never made.
pub(super) fn reduced(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
    let (rows, n, sides) = (a.nrows(), a.ncols(), b.ncols());
    if rows < 2 * n {
        return (a.to_owned(), b.to_owned());
    }
    // Far more rows than the factor above them has, which are turned again with each block.
    let block = (BLOCK / (n + sides)).max(8 * n);
    let height = rows.min(n + block);
    let mut both = Mat::zeros(height, n + sides);
    let (mut from, mut above) = (0, 0);
    while from < rows {
        let taken = (height - above).min(rows - from);
        let (mut left, mut right) = both.as_mut().split_at_col_mut(n);
        let place = |whole: MatMut<'_, f64>, rows: MatRef<'_, f64>| {
            let mut whole = whole;
            whole.as_mut().subrows_mut(above, taken).copy_from(rows);
        };
        place(left.as_mut(), a.subrows(from, taken));
        place(right.as_mut(), b.subrows(from, taken));
        let filled = above + taken;
        turn(left.subrows_mut(0, filled), right.subrows_mut(0, filled));
        (from, above) = (from + taken, n);
    }
    let factor = both.submatrix(0, 0, n, n).to_owned();
    (factor, both.submatrix(0, n, n, sides).to_owned())
}

/// Makes a matrix with no fewer rows than columns upper triangular by turning its columns, and turns others in the same way.
/// Below the first rows, one for each column, nothing is of use afterwards.
fn turn(mut matrix: MatMut<'_, f64>, others: MatMut<'_, f64>) {
    let (rows, n, sides) = (matrix.nrows(), matrix.ncols(), others.ncols());
    let coefficients = turned(matrix.as_mut());
    let needed =
        householder::apply_block_householder_sequence_transpose_on_the_left_in_place_scratch::<f64>(
            rows,
            coefficients.nrows(),
            sides,
        );
    householder::apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj(
        matrix.as_ref(),
        coefficients.as_ref(),
        Conj::No,
        others,
        Work::Turned.par([rows, n, sides]),
        MemStack::new(&mut MemBuffer::new(needed)),
    );
    for column in 0..n {
        matrix
            .as_mut()
            .col_mut(column)
            .subrows_mut(column + 1, n - column - 1)
            .fill(0.0);
    }
}
