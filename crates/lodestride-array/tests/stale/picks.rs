//! The rows of fancy indexing, gathering, scattering and conditions.

use lodestride_array::{Condition, EPS_THRESHOLD, NdArray, Scatter, fancy};

use super::table::{Row, row};

pub(crate) static PICKS: &[Row] = rows! {
    get_fancy "mi" "XY" |a| a[0].get_fancy(&fancy![&a[1]]);
    get_fancy_into "miw" "XYZ" |a| a[0].get_fancy_into(&fancy![&a[1]], &a[2]);
    put_fancy "miw" "ZXY" |a| a[0].put_fancy(&fancy![&a[1]], &a[2]);
    scatter_fancyi "miw" "ZXY" |a| a[0].scatter_fancyi(Scatter::Max, &fancy![&a[1]], &a[2]);
    get_outer "mi" "XY" |a| a[0].get_outer(&fancy![&a[1]]);
    put_outer "miw" "ZXY" |a| a[0].put_outer(&fancy![&a[1]], &a[2]);
    gather_nd "mg" "XY" |a| a[0].gather_nd(&a[1]);
    take_along_axis "mh" "XY" |a| a[0].take_along_axis(&a[1], 0);
    put_along_axis "mhr" "ZXY" |a| a[0].put_along_axis(&a[1], &a[2], 0);
    scatter_nd "go" "XY" |a| NdArray::scatter_nd(&a[0], &a[1], [3, 4]);
    scatter_ndi "mgo" "ZXY" |a| a[0].scatter_ndi(Scatter::Add, &a[1], &a[2]);
    scatter_subi "miw" "ZXY" |a| a[0].scatter_subi(&a[1], &a[2], 0);
    scatter_muli "miw" "ZXY" |a| a[0].scatter_muli(&a[1], &a[2], 0);
    scatter_divi "miw" "ZXY" |a| a[0].scatter_divi(&a[1], &a[2], 0);
    scatter_maxi "miw" "ZXY" |a| a[0].scatter_maxi(&a[1], &a[2], 0);
    scatter_mini "miw" "ZXY" |a| a[0].scatter_mini(&a[1], &a[2], 0);
    dynamic_partition "mp" "XY" |a| a[0].dynamic_partition(&a[1], 2);
    dynamic_stitch "iw" "01" |a| NdArray::dynamic_stitch(&[&a[0]], &[&a[1]]);
    matches "m" "X" |a| a[0].matches(&Condition::less(2));
    matches_into "mb" "XZ" |a| a[0].matches_into(&Condition::less(2), &a[1]);
    eps_equal "mr" "XY" |a| a[0].eps_equal(&a[1], EPS_THRESHOLD);
    eps_equal_into "mrb" "XYZ" |a| a[0].eps_equal_into(&a[1], EPS_THRESHOLD, &a[2]);
    eps_not_equal "mr" "XY" |a| a[0].eps_not_equal(&a[1], EPS_THRESHOLD);
    eps_not_equal_into "mrb" "XYZ" |a| a[0].eps_not_equal_into(&a[1], EPS_THRESHOLD, &a[2]);
    apply_where "mb" "ZX" |a| a[0].apply_where(&a[1], |x: f32| x + 1.0);
    assign_if "mr" "ZX" |a| a[0].assign_if(&a[1], &Condition::less(2));
    put_where "mbr" "XY2" |a| a[0].put_where(&a[1], &a[2]);
};

/// A special case, whose errors have the other's name.
pub(crate) static ELSE: &[Row] = &[row("apply_where_else", "apply_where", "mb", "ZX", |a| {
    a[0].apply_where_else(&a[1], |x: f32| x, |x| -x).map(drop)
})];
