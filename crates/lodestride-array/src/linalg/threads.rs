//! How many threads of the `faer` library work on one matrix.
//!
//! Its short forms take all of a global setting whatever the size, which makes small work several times slower. Here small
//! work stays on the calling thread, and the limit of `set_threads` holds. The library's global setting is never touched: it
//! is its users'.

use faer::Par;

/// Where a size is smaller the calling thread works alone: with so little to do for each column, threads mostly wait for each
/// other.
const NARROW: usize = 64;

/// By how much tests of this crate lower the sizes: at those that pay, without optimisation, they would take minutes.
const SMALLER: usize = if cfg!(test) { 5 } else { 1 };

/// What is done with matrices; each gains by a second thread from another size on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// Triangular factors with exchanged rows.
    Elimination,
    /// Solutions by them.
    Solution,
    /// Inverses by them.
    Inverse,
    /// The triangular factor of a positive definite matrix.
    Cholesky,
    /// The triangular factor that turning the columns leaves.
    Turning,
    /// The same turns of other columns.
    Turned,
    /// Singular values with their vectors.
    Singular,
    /// Singular values alone, of matrices that are not brought to a square by turning first.
    SingularValues,
    /// Eigenvalues of a symmetric matrix with their vectors.
    Symmetric,
    /// These alone.
    SymmetricValues,
    /// Eigenvalues of any matrix, with or without vectors.
    General,
    /// Products.
    Product,
}

impl Work {
    /// From how many rows of square matrices on two threads were measured to be faster than one.
    fn pays_from(self) -> usize {
        match self {
            Self::Elimination => 1200,
            Self::Solution => 500,
            Self::Inverse => 400,
            Self::Cholesky => 800,
            Self::Turning => 1300,
            Self::Turned => 600,
            Self::Singular => 500,
            Self::SingularValues => 900,
            Self::Symmetric => 200,
            Self::SymmetricValues => 1000,
            Self::General => 1600,
            Self::Product => 350,
        }
    }

    /// The threads for work that takes as many steps as the product of three sizes: none has less to do than each of two at
    /// the size from which they pay.
    pub(super) fn par(self, sizes: [usize; 3]) -> Par {
        if sizes.into_iter().any(|size| size < NARROW / SMALLER) {
            return Par::Seq;
        }
        let share = (self.pays_from() / SMALLER).pow(3) / 2;
        let steps = sizes.into_iter().fold(1, usize::saturating_mul);
        shared((steps / share).min(lodestride_kernels::threads()))
    }

    /// As [`par`](Self::par) for a decomposition of a matrix of so many rows and columns.
    pub(super) fn of_matrix(self, rows: usize, columns: usize) -> Par {
        self.par([rows, columns, rows.min(columns)])
    }
}

#[cfg(feature = "rayon")]
fn shared(threads: usize) -> Par {
    if threads > 1 {
        Par::rayon(threads)
    } else {
        Par::Seq
    }
}

#[cfg(not(feature = "rayon"))]
fn shared(_threads: usize) -> Par {
    Par::Seq
}

#[cfg(test)]
mod tests {
    use lodestride_kernels::{set_threads, threads};

    use super::*;
    use crate::{DType, NdArray};

    /// Numbers from -1 to 1 that look random.
    fn random(shape: [usize; 2]) -> NdArray {
        let value = |i: usize| ((i * 7919 + 13).wrapping_mul(2_654_435_761) >> 8) % 2001;
        let values = (0..shape[0] * shape[1]).map(|i| value(i) as f64 / 1000.0 - 1.0);
        NdArray::from_vec(values.collect::<Vec<_>>(), shape).unwrap()
    }

    /// What decompositions find that is sure, whatever the order of additions: factors multiplied again, sorted values.
    fn found() -> Vec<NdArray> {
        let (square, long) = (random([340, 340]), random([700, 300]));
        let symmetric = square.add(&square.transpose()).unwrap();
        let eye = NdArray::eye_of(DType::F64, 340).unwrap();
        let positive = square.mmul(&square.transpose()).unwrap().add(&eye).unwrap();
        let mut all = vec![
            positive.cholesky().unwrap(),
            positive.inv().unwrap(),
            positive.solve(&square).unwrap(),
            square.singular_values().unwrap(),
            long.singular_values().unwrap(),
            long.pinv().unwrap(),
            long.lstsq(&random([700, 100])).unwrap().x,
            symmetric.eigvalsh().unwrap(),
        ];
        let lu = square.lu().unwrap();
        all.push(lu.p.mmul(&lu.l).unwrap().mmul(&lu.u).unwrap());
        for matrix in [&square, &long] {
            let qr = matrix.qr().unwrap();
            all.extend([qr.q.mmul(&qr.r).unwrap(), qr.r.abs().unwrap()]);
            let svd = matrix.svd().unwrap();
            let scaled = svd.u.mul(&svd.s).unwrap();
            all.extend([scaled.mmul(&svd.vt).unwrap(), svd.s]);
        }
        let eigen = symmetric.eigh().unwrap();
        let scaled = eigen.vectors.mul(&eigen.values).unwrap();
        all.push(scaled.mmul(&eigen.vectors.transpose()).unwrap());
        all.push(eigen.values);
        // Of pairs in another order these sums are the same, and what the definition leaves is zero.
        let eigen = square.eig().unwrap();
        let times = |x: &NdArray, y: &NdArray| x.mul(y).unwrap();
        let (re, im) = (&eigen.vectors_re, &eigen.vectors_im);
        let kept = times(re, &eigen.values_re);
        let turned = times(im, &eigen.values_im);
        let product = square.mmul(re).unwrap();
        all.push(product.sub(&kept).unwrap().add(&turned).unwrap());
        let (re, im) = square.eigvals().unwrap();
        all.push(
            times(&re, &re)
                .sub(&times(&im, &im))
                .unwrap()
                .sum(..)
                .unwrap(),
        );
        all
    }

    // One test, since the limit is that of the process.
    #[test]
    fn threads_change_no_results_and_stay_out_of_small_work() {
        let work = Work::Elimination;
        let n = work.pays_from() / SMALLER;
        set_threads(1);
        assert_eq!(work.of_matrix(n, n), Par::Seq);
        let expected = found();
        set_threads(0);
        assert_eq!(work.of_matrix(n - 1, n - 1), Par::Seq);
        assert_eq!(work.of_matrix(n * n, NARROW / SMALLER - 1), Par::Seq);
        assert_eq!(work.of_matrix(n, n).degree(), threads().min(2));
        assert_eq!(work.of_matrix(n, 100 * n).degree(), threads().min(200));
        for (i, (got, expected)) in found().iter().zip(&expected).enumerate() {
            let same = got.all_close(expected, 1e-9, 1e-9).unwrap();
            assert!(same, "result {i}");
        }
    }
}
