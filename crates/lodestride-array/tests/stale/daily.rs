//! The rows of functions of daily use: editing, sets, whole numbers, several axes.

use lodestride_array::{DType, NdArray, Rng};

use super::table::{Row, row};

pub(crate) static DAILY: &[Row] = rows! {
    unravel_index "i" "X" |a| a[0].unravel_index([2, 2]);
    ravel_multi_index "ii" "01" |a| NdArray::ravel_multi_index(&[&a[0], &a[1]], [2, 2]);
    ravel_multi_index_into "iii" "01Z" |a| NdArray::ravel_multi_index_into(&[&a[0], &a[1]], [2, 2], &a[2]);
    fill_diagonal "sc" "ZY" |a| a[0].fill_diagonal(&a[1]);
    roll_axes "m" "X" |a| a[0].roll_axes([1, 1], [0, 1]);
    roll_axes_into "mm" "XZ" |a| a[0].roll_axes_into([1, 1], [0, 1], &a[1]);
    column_stack "mm" "01" |a| NdArray::column_stack(&[&a[0], &a[1]]);
    column_stack_into "mmJ" "01Z" |a| NdArray::column_stack_into(&[&a[0], &a[1]], &a[2]);
    dstack "mm" "01" |a| NdArray::dstack(&[&a[0], &a[1]]);
    dstack_into "QQU" "01Z" |a| NdArray::dstack_into(&[&a[0], &a[1]], &a[2]);
    block "mm" "01" |a| NdArray::block(&[&[&a[0], &a[1]]]);
    block_into "mmA" "01Z" |a| NdArray::block_into(&[&[&a[0]], &[&a[1]]], &a[2]);
    insert "mw" "XY" |a| a[0].insert([1, 0], &a[1], 0);
    insert_flat "mF" "XY" |a| a[0].insert_flat([1, 0], &a[1]);
    delete "m" "X" |a| a[0].delete([1], 0);
    delete_flat "m" "X" |a| a[0].delete_flat([1]);
    is_in "mm" "XY" |a| a[0].is_in(&a[1]);
    is_in_into "mmb" "XYZ" |a| a[0].is_in_into(&a[1], &a[2]);
    intersection "mm" "XY" |a| a[0].intersection(&a[1]);
    union "mm" "XY" |a| a[0].union(&a[1]);
    set_difference "mm" "XY" |a| a[0].set_difference(&a[1]);
    symmetric_difference "mm" "XY" |a| a[0].symmetric_difference(&a[1]);
    gcd_into "nnn" "XYZ" |a| a[0].gcd_into(&a[1], &a[2]);
    lcm_into "nnn" "XYZ" |a| a[0].lcm_into(&a[1], &a[2]);
    div_mod_into "mmmm" "XY01" |a| a[0].div_mod_into(&a[1], &a[2], &a[3]);
    gcd "nn" "XY" |a| a[0].gcd(&a[1]);
    lcm "nn" "XY" |a| a[0].lcm(&a[1]);
    div_mod "mm" "XY" |a| a[0].div_mod(&a[1]);
    round_to "m" "X" |a| a[0].round_to(1);
    round_to_into "mm" "XZ" |a| a[0].round_to_into(1, &a[1]);
    to_radians "m" "X" |a| a[0].to_radians();
    to_radiansi "m" "Z" |a| a[0].to_radiansi();
    to_degrees "m" "X" |a| a[0].to_degrees();
    to_degreesi "m" "Z" |a| a[0].to_degreesi();
    to_radians_into "mm" "XZ" |a| a[0].to_radians_into(&a[1]);
    to_degrees_into "mm" "XZ" |a| a[0].to_degrees_into(&a[1]);
    sign_bit "m" "X" |a| a[0].sign_bit();
    sign_bit_into "mb" "XZ" |a| a[0].sign_bit_into(&a[1]);
    copysign_into "mmm" "XYZ" |a| a[0].copysign_into(&a[1], &a[2]);
    fmax_into "mmm" "XYZ" |a| a[0].fmax_into(&a[1], &a[2]);
    fmin_into "mmm" "XYZ" |a| a[0].fmin_into(&a[1], &a[2]);
    append_bias_into "sm" "XZ" |a| a[0].append_bias_into(&a[1]);
    copysign "mm" "XY" |a| a[0].copysign(&a[1]);
    fmax "mm" "XY" |a| a[0].fmax(&a[1]);
    fmin "mm" "XY" |a| a[0].fmin(&a[1]);
    replace_not_finite "m" "X" |a| a[0].replace_not_finite(0.0, None, None);
    replace_not_finite_into "mm" "XZ" |a| a[0].replace_not_finite_into(0.0, None, None, &a[1]);
    clip "mrr" "XY2" |a| a[0].clip(&a[1], &a[2]);
    clipi "mrr" "ZY2" |a| a[0].clipi(&a[1], &a[2]);
    clip_into "mrrm" "XY2Z" |a| a[0].clip_into(&a[1], &a[2], &a[3]);
    count_zero "m" "X" |a| a[0].count_zero(0);
    count_zero_into "mj" "XZ" |a| a[0].count_zero_into(0, &a[1]);
    multinomial "r" "X" |a| Rng::seeded(1).multinomial([3], 5, &a[0]);
    fill_multinomial "Nr" "ZX" |a| Rng::seeded(1).fill_multinomial(&a[0], 5, &a[1]);
    dirichlet "r" "X" |a| Rng::seeded(1).dirichlet([3], &a[0]);
    fill_dirichlet "mr" "ZX" |a| Rng::seeded(1).fill_dirichlet(&a[0], &a[1]);
    permuted "m" "X" |a| Rng::seeded(1).permuted(&a[0], 0);
};

/// Views, which touch no element: what is made of a stale array is refused when it is used.
pub(crate) static VIEWS: &[Row] = &[
    row("move_axes", "neg", "m", "X", |a| {
        a[0].move_axes([0], [1])?.neg().map(drop)
    }),
    row("squeeze_axes", "neg", "o", "X", |a| {
        a[0].squeeze_axes(0)?.neg().map(drop)
    }),
    row("expand_dims_axes", "neg", "m", "X", |a| {
        a[0].expand_dims_axes([0, -1])?.neg().map(drop)
    }),
];

/// Special cases, whose errors have the other's name.
pub(crate) static ELSE: &[Row] = &[row("dirichlet_of", "dirichlet", "r", "X", |a| {
    (Rng::seeded(1).dirichlet_of(DType::F64, [3], &a[0])).map(drop)
})];
