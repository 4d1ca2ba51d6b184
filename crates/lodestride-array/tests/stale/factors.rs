//! Rows of the sweep that features bring: linear algebra, and arrays of the ndarray crate.

use super::table::Row;
#[cfg(feature = "linalg")]
use super::table::row;

#[cfg(feature = "linalg")]
pub(super) const FACTORS: &[Row] = {
    use lodestride_array::{Components, MatrixNorm, Rng};
    rows! {
        solve "dc" "XY" |a| a[0].solve(&a[1]);
        inv "d" "X" |a| a[0].inv();
        invi "d" "Z" |a| a[0].invi();
        det "d" "X" |a| a[0].det();
        slogdet "d" "X" |a| a[0].slogdet();
        lu "d" "X" |a| a[0].lu();
        qr "d" "X" |a| a[0].qr();
        cholesky "d" "X" |a| a[0].cholesky();
        eigh "d" "X" |a| a[0].eigh();
        eigh_generalized "dd" "XY" |a| a[0].eigh_generalized(&a[1]);
        eig "d" "X" |a| a[0].eig();
        expm "d" "X" |a| a[0].expm();
        svd "d" "X" |a| a[0].svd();
        singular_values "d" "X" |a| a[0].singular_values();
        matrix_rank "d" "X" |a| a[0].matrix_rank();
        pinv "d" "X" |a| a[0].pinv();
        pinv_left "d" "X" |a| a[0].pinv_left();
        pinv_right "d" "X" |a| a[0].pinv_right();
        lstsq "dc" "XY" |a| a[0].lstsq(&a[1]);
        matrix_norm "d" "X" |a| a[0].matrix_norm(MatrixNorm::Nuclear);
        cond "d" "X" |a| a[0].cond();
        pca "d" "X" |a| a[0].pca(Components::Count(2));
        multivariate_normal "cd" "XY" |a| Rng::seeded(1).multivariate_normal([4], &a[0], &a[1]);
        fill_multivariate_normal "scd" "ZXY" |a| Rng::seeded(1).fill_multivariate_normal(&a[0], &a[1], &a[2]);
        solve_into "dcc" "XYZ" |a| a[0].solve_into(&a[1], &a[2]);
        inv_into "ds" "XZ" |a| a[0].inv_into(&a[1]);
        det_into "dM" "XZ" |a| a[0].det_into(&a[1]);
        cholesky_into "ds" "XZ" |a| a[0].cholesky_into(&a[1]);
        singular_values_into "dc" "XZ" |a| a[0].singular_values_into(&a[1]);
        matrix_rank_into "dM" "XZ" |a| a[0].matrix_rank_into(&a[1]);
        pinv_into "ds" "XZ" |a| a[0].pinv_into(&a[1]);
        pinv_left_into "ds" "XZ" |a| a[0].pinv_left_into(&a[1]);
        pinv_right_into "ds" "XZ" |a| a[0].pinv_right_into(&a[1]);
        matrix_norm_into "dM" "XZ" |a| a[0].matrix_norm_into(MatrixNorm::One, &a[1]);
        cond_into "dM" "XZ" |a| a[0].cond_into(&a[1]);
        expm_into "ds" "XZ" |a| a[0].expm_into(&a[1]);
    }
};
#[cfg(not(feature = "linalg"))]
pub(super) const FACTORS: &[Row] = &[];

/// Special cases, whose errors have the other's name.
#[cfg(feature = "linalg")]
pub(super) const ELSE: &[Row] = &[row(
    "multivariate_normal_of",
    "multivariate_normal",
    "cd",
    "XY",
    |a| {
        let (dtype, mut rng) = (
            lodestride_array::DType::F64,
            lodestride_array::Rng::seeded(1),
        );
        rng.multivariate_normal_of(dtype, [4], &a[0], &a[1])
            .map(drop)
    },
)];
#[cfg(not(feature = "linalg"))]
pub(super) const ELSE: &[Row] = &[];

#[cfg(feature = "ndarray")]
pub(super) const INTERCHANGE: &[Row] = rows! {
    to_ndarray "m" "X" |a| a[0].to_ndarray::<f32>();
};
#[cfg(not(feature = "ndarray"))]
pub(super) const INTERCHANGE: &[Row] = &[];
