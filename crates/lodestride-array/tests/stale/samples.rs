//! The rows of functions known at points, and of vectors that slide past each other.

use lodestride_array::{ConvolveMode, EdgeOrder, Histogram2dOptions};

use super::table::Row;

pub(crate) static SAMPLES: &[Row] = rows! {
    interp "moo" "XY2" |a| a[0].interp(&a[1], &a[2]);
    interp_into "QooQ" "XY2Z" |a| a[0].interp_into(&a[1], &a[2], &a[3]);
    interp_with "moo" "XY2" |a| a[0].interp_with(&a[1], &a[2], None, Some(1.0));
    interp_with_into "QooQ" "XY2Z" |a| a[0].interp_with_into(&a[1], &a[2], None, None, &a[3]);
    interp_periodic "moo" "XY2" |a| a[0].interp_periodic(&a[1], &a[2], 2.0);
    interp_periodic_into "QooQ" "XY2Z" |a| a[0].interp_periodic_into(&a[1], &a[2], 2.0, &a[3]);
    gradient "m" "X" |a| a[0].gradient(1, 0);
    gradient "mr" "XY" |a| a[0].gradient(&a[1], 1);
    gradient_into "mm" "XZ" |a| a[0].gradient_into(1, 0, &a[1]);
    gradient_with "mr" "XY" |a| a[0].gradient_with(&a[1], 1, EdgeOrder::Second);
    gradient_with_into "mrm" "XYZ" |a| {
        a[0].gradient_with_into(&a[1], 1, EdgeOrder::Second, &a[2])
    };
    gradient_axes "mcr" "X12" |a| {
        a[0].gradient_axes(&[(&a[1]).into(), (&a[2]).into()], [0, 1], EdgeOrder::First)
    };
    trapezoid "m" "X" |a| a[0].trapezoid(1, 0);
    trapezoid "mr" "XY" |a| a[0].trapezoid(&a[1], 1);
    trapezoid_into "mcr" "XYZ" |a| a[0].trapezoid_into(&a[1], 0, &a[2]);
    cumulative_trapezoid "mm" "XY" |a| a[0].cumulative_trapezoid(&a[1], 1);
    cumulative_trapezoid_into "DDm" "XYZ" |a| a[0].cumulative_trapezoid_into(&a[1], 0, &a[2]);
    convolve "rc" "XY" |a| a[0].convolve(&a[1], ConvolveMode::Full);
    convolve_into "rcr" "XYZ" |a| a[0].convolve_into(&a[1], ConvolveMode::Same, &a[2]);
    correlate "cr" "XY" |a| a[0].correlate(&a[1], ConvolveMode::Valid);
    correlate_into "rcr" "XYZ" |a| a[0].correlate_into(&a[1], ConvolveMode::Same, &a[2]);
    polyval "cm" "XY" |a| a[0].polyval(&a[1]);
    polyval_into "cmm" "XYZ" |a| a[0].polyval_into(&a[1], &a[2]);
    norm_p "m" "X" |a| a[0].norm_p(3.0, 1);
    norm_p_into "mr" "XZ" |a| a[0].norm_p_into(3.0, 0, &a[1]);
    histogram2d "ccFS" "XY34" |a| a[0].histogram2d(&a[1], &a[2], &a[3]);
    histogram2d_with "ccc" "XY2" |a| {
        let options = Histogram2dOptions { weights: Some(&a[2]), ..Default::default() };
        a[0].histogram2d_with(&a[1], 2, 3, options)
    };
};

/// Those that need linear algebra.
#[cfg(feature = "linalg")]
pub(crate) static FITS: &[Row] = rows! {
    polyfit "cc" "XY" |a| a[0].polyfit(&a[1], 1);
    polyfit_full "ccc" "XY2" |a| a[0].polyfit_full(&a[1], 1, Some(&a[2]));
    poly_roots "c" "X" |a| a[0].poly_roots();
    eigvals "s" "X" |a| a[0].eigvals();
    eigvalsh "s" "X" |a| a[0].eigvalsh();
    eigvalsh_into "sc" "XZ" |a| a[0].eigvalsh_into(&a[1]);
    eigvals_into "scc" "X01" |a| a[0].eigvals_into(&a[1], &a[2]);
    polyfit_into "ccF" "XYZ" |a| a[0].polyfit_into(&a[1], 1, &a[2]);
};

#[cfg(not(feature = "linalg"))]
pub(crate) static FITS: &[Row] = &[];
