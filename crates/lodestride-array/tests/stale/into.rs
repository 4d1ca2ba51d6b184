//! The rows of `_into` forms other than those of elementwise operations and reductions, whose rows are made with theirs.

use lodestride_array::{
    Distance, HistogramOptions, NdArray, PadMode, Pooling, QuantileMethod, Rng, Side, Sorting,
    Windows, fancy,
};

use super::table::Row;

/// A row for each, one a line: arrays, letters, and the call.
pub(crate) static PARTS: &[Row] = rows! {
    take_into "miw" "XYZ" |a| a[0].take_into(&a[1], 0, &a[2]);
    gather_nd_into "mgF" "XYZ" |a| a[0].gather_nd_into(&a[1], &a[2]);
    take_along_axis_into "mhx" "XYZ" |a| a[0].take_along_axis_into(&a[1], 0, &a[2]);
    get_rows_into "mw" "XZ" |a| a[0].get_rows_into([0, 1], &a[1]);
    get_columns_into "ms" "XZ" |a| a[0].get_columns_into([0, 1, 2], &a[1]);
    get_outer_into "miw" "XYZ" |a| a[0].get_outer_into(&fancy![&a[1]], &a[2]);
    tile_into "mA" "XZ" |a| a[0].tile_into([2, 1], &a[1]);
    repeat_into "mA" "XZ" |a| a[0].repeat_into(2, 0, &a[1]);
    roll_into "mm" "XZ" |a| a[0].roll_into(1, 0, &a[1]);
    roll_flat_into "mm" "XZ" |a| a[0].roll_flat_into(1, &a[1]);
    repeat_each_into "mm" "XZ" |a| a[0].repeat_each_into(&[1, 0, 2], 0, &a[1]);
    append_into "mD" "XZ" |a| a[0].append_into(1, 0, 0, &a[1]);
    prepend_into "mD" "XZ" |a| a[0].prepend_into(1, 0, 0, &a[1]);
    reverse_sequence_into "mm" "XZ" |a| a[0].reverse_sequence_into(&[1, 2, 3], 1, 0, &a[1]);
    pad_into "mB" "XZ" |a| a[0].pad_into([1, 1], 0, &a[1]);
    pad_with_into "mB" "XZ" |a| a[0].pad_with_into([1, 1], &PadMode::Wrap, &a[1]);
    select_into "bmm" "XYZ" |a| a[0].select_into(&a[1], 0, &a[2]);
    clip_into "mm" "XZ" |a| a[0].clip_into(0, 1, &a[1]);
    tril_into "mm" "XZ" |a| a[0].tril_into(0, &a[1]);
    triu_into "mm" "XZ" |a| a[0].triu_into(0, &a[1]);
    one_hot_into "iw" "XZ" |a| a[0].one_hot_into(4, 1, &a[1]);
    is_max_into "mb" "XZ" |a| a[0].is_max_into(0, &a[1]);
    im2col_into "yI" "XZ" |a| a[0].im2col_into(&Windows::new([2, 2]), &a[1]);
    col2im_into "Iy" "XZ" |a| a[0].col2im_into(&Windows::new([2, 2]), [3, 3], &a[1]);
    conv2d_into "qqK" "XYZ" |a| a[0].conv2d_into(&a[1], None, &Windows::new([2, 2]), &a[2]);
    conv1d_into "ttL" "XYZ" |a| a[0].conv1d_into(&a[1], None, &Windows::new([1, 4]), &a[2]);
    pool2d_into "qK" "XZ" |a| a[0].pool2d_into(Pooling::Max, &Windows::new([2, 2]), &a[1]);
    concat_into "mmA" "01Z" |a| NdArray::concat_into(&[&a[0], &a[1]], 0, &a[2]);
    vstack_into "mmA" "01Z" |a| NdArray::vstack_into(&[&a[0], &a[1]], &a[2]);
    hstack_into "mmJ" "01Z" |a| NdArray::hstack_into(&[&a[0], &a[1]], &a[2]);
    stack_into "mmQ" "01Z" |a| NdArray::stack_into(&[&a[0], &a[1]], 0, &a[2]);
    add_row_vector_into "mrm" "XYZ" |a| a[0].add_row_vector_into(&a[1], &a[2]);
    sub_row_vector_into "mrm" "XYZ" |a| a[0].sub_row_vector_into(&a[1], &a[2]);
    mul_row_vector_into "mrm" "XYZ" |a| a[0].mul_row_vector_into(&a[1], &a[2]);
    div_row_vector_into "mrm" "XYZ" |a| a[0].div_row_vector_into(&a[1], &a[2]);
    rsub_row_vector_into "mrm" "XYZ" |a| a[0].rsub_row_vector_into(&a[1], &a[2]);
    rdiv_row_vector_into "mrm" "XYZ" |a| a[0].rdiv_row_vector_into(&a[1], &a[2]);
    add_column_vector_into "mcm" "XYZ" |a| a[0].add_column_vector_into(&a[1], &a[2]);
    sub_column_vector_into "mcm" "XYZ" |a| a[0].sub_column_vector_into(&a[1], &a[2]);
    mul_column_vector_into "mcm" "XYZ" |a| a[0].mul_column_vector_into(&a[1], &a[2]);
    div_column_vector_into "mcm" "XYZ" |a| a[0].div_column_vector_into(&a[1], &a[2]);
    rsub_column_vector_into "mcm" "XYZ" |a| a[0].rsub_column_vector_into(&a[1], &a[2]);
    rdiv_column_vector_into "mcm" "XYZ" |a| a[0].rdiv_column_vector_into(&a[1], &a[2]);
};

pub(crate) static ORDERED: &[Row] = rows! {
    sort_into "mm" "XZ" |a| a[0].sort_into(0, &a[1]);
    sort_with_into "mm" "XZ" |a| a[0].sort_with_into(0, Sorting::descending(), &a[1]);
    argsort_into "mN" "XZ" |a| a[0].argsort_into(0, &a[1]);
    argsort_with_into "mN" "XZ" |a| a[0].argsort_with_into(0, Sorting::descending(), &a[1]);
    sort_with_indices_into "mmN" "X01" |a| a[0].sort_with_indices_into(0, Sorting::descending(), &a[1], &a[2]);
    sort_rows_into "mm" "XZ" |a| a[0].sort_rows_into(0, Sorting::ascending(), &a[1]);
    sort_columns_into "mm" "XZ" |a| a[0].sort_columns_into(0, Sorting::ascending(), &a[1]);
    lexsort_into "rrj" "01Z" |a| NdArray::lexsort_into(&[&a[0], &a[1]], &a[2]);
    partition_into "mm" "XZ" |a| a[0].partition_into([1], 0, &a[1]);
    argpartition_into "mN" "XZ" |a| a[0].argpartition_into([1], 0, &a[1]);
    searchsorted_into "rmN" "XYZ" |a| a[0].searchsorted_into(&a[1], Side::Left, &a[2]);
    digitize_into "mrN" "XYZ" |a| a[0].digitize_into(&a[1], false, &a[2]);
    topk_into "mwR" "X01" |a| a[0].topk_into(2, 0, &a[1], &a[2]);
    topk_with_into "mwR" "X01" |a| a[0].topk_with_into(2, 0, Sorting::ascending(), &a[1], &a[2]);
    cumsum_into "mm" "XZ" |a| a[0].cumsum_into(0, &a[1]);
    cumprod_into "mm" "XZ" |a| a[0].cumprod_into(0, &a[1]);
    cummax_into "mm" "XZ" |a| a[0].cummax_into(0, &a[1]);
    cummin_into "mm" "XZ" |a| a[0].cummin_into(0, &a[1]);
    argmax_into "mj" "XZ" |a| a[0].argmax_into(0, &a[1]);
    argmin_into "mj" "XZ" |a| a[0].argmin_into(0, &a[1]);
    arg_abs_max_into "mj" "XZ" |a| a[0].arg_abs_max_into(0, &a[1]);
    arg_abs_min_into "mj" "XZ" |a| a[0].arg_abs_min_into(0, &a[1]);
    first_index_along_into "mj" "XZ" |a| a[0].first_index_along_into(0, &a[1]);
    last_index_along_into "mj" "XZ" |a| a[0].last_index_along_into(0, &a[1]);
    histogram_into "mjS" "X01" |a| a[0].histogram_into(4, &a[1], &a[2]);
    histogram_with_into "mjS" "X01" |a| a[0].histogram_with_into(4, HistogramOptions::default(), &a[1], &a[2]);
};

pub(crate) static STATISTICS: &[Row] = rows! {
    var_ddof_into "mr" "XZ" |a| a[0].var_ddof_into(0, 0, &a[1]);
    std_ddof_into "mr" "XZ" |a| a[0].std_ddof_into(0, 0, &a[1]);
    layer_norm_into "mm" "XZ" |a| a[0].layer_norm_into(1, None, None, 1e-5, &a[1]);
    median_into "mr" "XZ" |a| a[0].median_into(0, &a[1]);
    nan_median_into "mr" "XZ" |a| a[0].nan_median_into(0, &a[1]);
    quantile_into "mr" "XZ" |a| a[0].quantile_into(0.2, 0, &a[1]);
    quantile_with_into "mr" "XZ" |a| a[0].quantile_with_into(0.2, 0, QuantileMethod::Lower, &a[1]);
    nan_quantile_into "mr" "XZ" |a| a[0].nan_quantile_into(0.2, 0, QuantileMethod::Lower, &a[1]);
    quantiles_into "mw" "XZ" |a| a[0].quantiles_into(&[0.2, 0.3], 0, QuantileMethod::Lower, &a[1]);
    percentile_into "mr" "XZ" |a| a[0].percentile_into(20.0, 0, &a[1]);
    percentile_with_into "mr" "XZ" |a| a[0].percentile_with_into(20.0, 0, QuantileMethod::Lower, &a[1]);
    entropy_into "mr" "XZ" |a| a[0].entropy_into(0, &a[1]);
    log_entropy_into "mr" "XZ" |a| a[0].log_entropy_into(0, &a[1]);
    shannon_entropy_into "mr" "XZ" |a| a[0].shannon_entropy_into(0, &a[1]);
    peak_to_peak_into "mr" "XZ" |a| a[0].peak_to_peak_into(0, &a[1]);
    weighted_mean_into "mmr" "XYZ" |a| a[0].weighted_mean_into(&a[1], 0, &a[2]);
    moments_into "mrr" "X01" |a| a[0].moments_into(0, &a[1], &a[2]);
    covariance_into "ms" "XZ" |a| a[0].covariance_into(1, &a[1]);
    correlation_into "ms" "XZ" |a| a[0].correlation_into(&a[1]);
    diff_into "mw" "XZ" |a| a[0].diff_into(1, 0, &a[1]);
    nan_sum_into "mr" "XZ" |a| a[0].nan_sum_into(0, &a[1]);
    nan_prod_into "mr" "XZ" |a| a[0].nan_prod_into(0, &a[1]);
    nan_mean_into "mr" "XZ" |a| a[0].nan_mean_into(0, &a[1]);
    nan_var_into "mr" "XZ" |a| a[0].nan_var_into(0, 1, &a[1]);
    nan_std_into "mr" "XZ" |a| a[0].nan_std_into(0, 1, &a[1]);
    nan_max_into "mr" "XZ" |a| a[0].nan_max_into(0, &a[1]);
    nan_min_into "mr" "XZ" |a| a[0].nan_min_into(0, &a[1]);
    nan_argmax_into "mj" "XZ" |a| a[0].nan_argmax_into(0, &a[1]);
    nan_argmin_into "mj" "XZ" |a| a[0].nan_argmin_into(0, &a[1]);
    nan_cumsum_into "mm" "XZ" |a| a[0].nan_cumsum_into(0, &a[1]);
    nan_cumprod_into "mm" "XZ" |a| a[0].nan_cumprod_into(0, &a[1]);
    replace_nan_into "mm" "XZ" |a| a[0].replace_nan_into(0.0, &a[1]);
    distance_into "mmr" "XYZ" |a| a[0].distance_into(Distance::Manhattan, &a[1], 0, &a[2]);
    all_distances_into "mms" "XYZ" |a| a[0].all_distances_into(Distance::Manhattan, &a[1], &a[2]);
    dropout_into "mm" "XZ" |a| Rng::seeded(1).dropout_into(&a[0], 0.5, &a[1]);
    alpha_dropout_into "mm" "XZ" |a| Rng::seeded(1).alpha_dropout_into(&a[0], 0.5, &a[1]);
    choice_into "cF" "XZ" |a| Rng::seeded(1).choice_into(&a[0], 2, true, None, &a[1]);
    fill_bernoulli "b" "Z" |a| Rng::seeded(1).fill_bernoulli(&a[0], 0.5);
    fill_integers "j" "Z" |a| Rng::seeded(1).fill_integers(&a[0], 0, 5);
    fill_log_normal "m" "Z" |a| Rng::seeded(1).fill_log_normal(&a[0], 0.0, 1.0);
    fill_truncated_normal "m" "Z" |a| Rng::seeded(1).fill_truncated_normal(&a[0], 0.0, 1.0);
    fill_exponential "m" "Z" |a| Rng::seeded(1).fill_exponential(&a[0], 1.0);
    fill_gamma "m" "Z" |a| Rng::seeded(1).fill_gamma(&a[0], 1.0, 1.0);
    fill_beta "m" "Z" |a| Rng::seeded(1).fill_beta(&a[0], 1.0, 1.0);
    fill_poisson "j" "Z" |a| Rng::seeded(1).fill_poisson(&a[0], 3.0);
    fill_binomial "j" "Z" |a| Rng::seeded(1).fill_binomial(&a[0], 9, 0.5);
};

pub(crate) static PRODUCTS: &[Row] = rows! {
    outer_into "crm" "XYZ" |a| a[0].outer_into(&a[1], &a[2]);
    inner_into "rrM" "XYZ" |a| a[0].inner_into(&a[1], &a[2]);
    vdot_into "mmM" "XYZ" |a| a[0].vdot_into(&a[1], &a[2]);
    kron_into "ror" "XYZ" |a| a[0].kron_into(&a[1], &a[2]);
    cross_into "ccc" "XYZ" |a| a[0].cross_into(&a[1], &a[2]);
    trace_into "sM" "XZ" |a| a[0].trace_into(&a[1]);
    matrix_power_into "ss" "XZ" |a| a[0].matrix_power_into(3, &a[1]);
    multi_dot_into "ssss" "012Z" |a| NdArray::multi_dot_into(&[&a[0], &a[1], &a[2]], &a[3]);
    einsum_into "sss" "01Z" |a| NdArray::einsum_into("ij,jk->ik", &[&a[0], &a[1]], &a[2]);
    tensordot_into "sss" "XYZ" |a| a[0].tensordot_into(&a[1], 1, &a[2]);
};
