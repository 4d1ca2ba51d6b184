//! Decompositions and products by those functions of the `faer` library that are told how many threads to take.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor as cholesky;
use faer::linalg::evd::{self, ComputeEigenvectors, EvdError};
use faer::linalg::householder;
use faer::linalg::matmul::matmul;
use faer::linalg::qr::no_pivoting::factor as qr;
use faer::linalg::svd::{self, ComputeSvdVectors, SvdError};
use faer::{Accum, Conj, Mat, MatMut, MatRef};

use super::threads::Work;

/// Singular values, largest first, and their vectors.
pub(super) struct Singular {
    pub(super) u: Mat<f64>,
    pub(super) values: Vec<f64>,
    pub(super) v: Mat<f64>,
}

/// The short form of the singular value decomposition.
pub(super) fn singular(matrix: MatRef<'_, f64>) -> Result<Singular, SvdError> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let small = rows.min(columns);
    let (mut u, mut v) = (Mat::zeros(rows, small), Mat::zeros(columns, small));
    let values = run_svd(matrix, Some((u.as_mut(), v.as_mut())))?;
    Ok(Singular { u, values, v })
}

/// Singular values alone, largest first.
pub(super) fn singular_values(matrix: MatRef<'_, f64>) -> Result<Vec<f64>, SvdError> {
    run_svd(matrix, None)
}

fn run_svd(
    matrix: MatRef<'_, f64>,
    vectors: Option<(MatMut<'_, f64>, MatMut<'_, f64>)>,
) -> Result<Vec<f64>, SvdError> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let (long, small) = (rows.max(columns), rows.min(columns));
    // Matrices that are longer than this the library turns first, which then is most of the work.
    let work = match vectors {
        Some(_) => Work::Singular,
        None if 6 * long > 11 * small => Work::Turning,
        None => Work::SingularValues,
    };
    let kind = match vectors {
        Some(_) => ComputeSvdVectors::Thin,
        None => ComputeSvdVectors::No,
    };
    let par = work.of_matrix(rows, columns);
    let needed = svd::svd_scratch::<f64>(rows, columns, kind, kind, par, Default::default());
    let mut values = Diag::zeros(small);
    let (u, v) = vectors.unzip();
    svd::svd(
        matrix,
        values.as_mut(),
        u,
        v,
        par,
        MemStack::new(&mut MemBuffer::new(needed)),
        Default::default(),
    )?;
    Ok(values.column_vector().iter().copied().collect())
}

/// Eigenvalues of a symmetric matrix, of which the lower triangle is read, smallest first, and their vectors.
pub(super) fn symmetric(matrix: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>), EvdError> {
    let mut vectors = Mat::zeros(matrix.nrows(), matrix.nrows());
    let values = run_symmetric(matrix, Some(vectors.as_mut()))?;
    Ok((values, vectors))
}

/// The values of [`symmetric`] alone.
pub(super) fn symmetric_values(matrix: MatRef<'_, f64>) -> Result<Vec<f64>, EvdError> {
    run_symmetric(matrix, None)
}

fn run_symmetric(
    matrix: MatRef<'_, f64>,
    vectors: Option<MatMut<'_, f64>>,
) -> Result<Vec<f64>, EvdError> {
    let n = matrix.nrows();
    let (work, kind) = match vectors {
        Some(_) => (Work::Symmetric, ComputeEigenvectors::Yes),
        None => (Work::SymmetricValues, ComputeEigenvectors::No),
    };
    let par = work.of_matrix(n, n);
    let needed = evd::self_adjoint_evd_scratch::<f64>(n, kind, par, Default::default());
    let mut values = Diag::zeros(n);
    evd::self_adjoint_evd(
        matrix,
        values.as_mut(),
        vectors,
        par,
        MemStack::new(&mut MemBuffer::new(needed)),
        Default::default(),
    )?;
    Ok(values.column_vector().iter().copied().collect())
}

/// Real and imaginary parts of the eigenvalues of a square matrix, and of their vectors.
pub(super) struct General {
    pub(super) values: [Vec<f64>; 2],
    pub(super) vectors: [Mat<f64>; 2],
}

/// Eigenvalues of a square matrix and their vectors.
pub(super) fn general(matrix: MatRef<'_, f64>) -> Result<General, EvdError> {
    let n = matrix.nrows();
    let (mut re, mut im) = (Mat::zeros(n, n), Mat::zeros(n, n));
    let mut values = run_general(matrix, Some(re.as_mut()))?;
    // Of a pair the library gives one vector: its real part in the first column, its imaginary part in the second.
    let mut first = 0;
    while first < n {
        let second = first + 1;
        // What is not a number may stand alone.
        if values[1][first] == 0.0 || second == n {
            first += 1;
            continue;
        }
        values[0][second] = values[0][first];
        values[1][second] = -values[1][first];
        for row in 0..n {
            (im[(row, first)], im[(row, second)]) = (re[(row, second)], -re[(row, second)]);
            re[(row, second)] = re[(row, first)];
        }
        first += 2;
    }
    let vectors = [re, im];
    Ok(General { values, vectors })
}

/// Real and imaginary parts of the eigenvalues alone.
pub(super) fn general_values(matrix: MatRef<'_, f64>) -> Result<[Vec<f64>; 2], EvdError> {
    run_general(matrix, None)
}

fn run_general(
    matrix: MatRef<'_, f64>,
    vectors: Option<MatMut<'_, f64>>,
) -> Result<[Vec<f64>; 2], EvdError> {
    let n = matrix.nrows();
    let (left, right) = match vectors {
        Some(_) => (ComputeEigenvectors::No, ComputeEigenvectors::Yes),
        None => (ComputeEigenvectors::No, ComputeEigenvectors::No),
    };
    let par = Work::General.of_matrix(n, n);
    let needed = evd::evd_scratch::<f64>(n, left, right, par, Default::default());
    let mut parts = [Diag::zeros(n), Diag::zeros(n)];
    let [re, im] = &mut parts;
    evd::evd_real(
        matrix,
        re.as_mut(),
        im.as_mut(),
        None,
        vectors,
        par,
        MemStack::new(&mut MemBuffer::new(needed)),
        Default::default(),
    )?;
    Ok(parts.map(|part| part.column_vector().iter().copied().collect()))
}

/// The lower triangular factor of a positive definite matrix, of which the lower triangle is read, or the row at which a
/// square is not positive.
pub(super) fn positive(matrix: MatRef<'_, f64>) -> Result<Mat<f64>, usize> {
    let n = matrix.nrows();
    let par = Work::Cholesky.of_matrix(n, n);
    let mut lower = Mat::zeros(n, n);
    lower.copy_from_triangular_lower(matrix);
    let needed = cholesky::cholesky_in_place_scratch::<f64>(n, par, Default::default());
    let done = cholesky::cholesky_in_place(
        lower.as_mut(),
        Default::default(),
        par,
        MemStack::new(&mut MemBuffer::new(needed)),
        Default::default(),
    );
    if let Err(cholesky::LltError::NonPositivePivot { index }) = done {
        return Err(index);
    }
    for column in 1..n {
        lower.col_mut(column).subrows_mut(0, column).fill(0.0);
    }
    Ok(lower)
}

/// The orthonormal factor, with as many columns as the shorter side, and the triangular one.
pub(super) fn orthogonal(matrix: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let small = rows.min(columns);
    let mut both = matrix.to_owned();
    let coefficients = turned(both.as_mut());
    let mut q = Mat::identity(rows, small);
    let needed = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(
        rows,
        coefficients.nrows(),
        small,
    );
    householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
        both.subcols(0, small),
        coefficients.as_ref(),
        Conj::No,
        q.as_mut(),
        Work::Turned.of_matrix(rows, small),
        MemStack::new(&mut MemBuffer::new(needed)),
    );
    let mut r = Mat::zeros(small, columns);
    r.copy_from_triangular_upper(both.subrows(0, small));
    (q, r)
}

/// Makes a matrix upper triangular by turning its columns; below the diagonal it then has the turns, and the result is their
/// coefficients.
pub(super) fn turned(matrix: MatMut<'_, f64>) -> Mat<f64> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let par = Work::Turning.of_matrix(rows, columns);
    let block = qr::recommended_block_size::<f64>(rows, columns);
    let mut coefficients = Mat::zeros(block, rows.min(columns));
    let needed = qr::qr_in_place_scratch::<f64>(rows, columns, block, par, Default::default());
    qr::qr_in_place(
        matrix,
        coefficients.as_mut(),
        par,
        MemStack::new(&mut MemBuffer::new(needed)),
        Default::default(),
    );
    coefficients
}

/// A product.
pub(super) fn product(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    let mut made = Mat::zeros(left.nrows(), right.ncols());
    multiply(made.as_mut(), Accum::Replace, left, right, 1.0);
    made
}

/// `factor` times a product, into a matrix or added to it.
pub(super) fn multiply(
    out: MatMut<'_, f64>,
    mode: Accum,
    left: MatRef<'_, f64>,
    right: MatRef<'_, f64>,
    factor: f64,
) {
    let par = Work::Product.par([left.nrows(), left.ncols(), right.ncols()]);
    matmul(out, mode, left, right, factor, par);
}
