//! `_into` forms write what the allocating form returns, bit for bit, into arrays of any layout, over their own inputs too; an
//! array that does not fit is refused and keeps its elements.

#[path = "support/matrix.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod matrix;

use lodestride_array::kernels::{BinaryOp, UnaryOp};
use lodestride_array::{
    Argument, ArrayErrorKind, Condition, DType, Distance, HistogramOptions, NdArray, PadMode,
    Padding, Pooling, QuantileMethod, Result, Rng, Side, Sorting, Windows, fancy, interval, keep,
};
use matrix::layout_matrix;

/// An operation in both forms.
struct Case {
    name: &'static str,
    /// Its arrays, the first ones of the dtype asked for.
    inputs: fn(DType) -> Result<Vec<NdArray>>,
    new: fn(&[NdArray]) -> Result<NdArray>,
    into: fn(&[NdArray], &NdArray) -> Result<()>,
}

/// Numbers without order, some of them equal, of any dtype.
fn a(dtype: DType, shape: &[usize]) -> Result<NdArray> {
    let count: usize = shape.iter().product();
    let value = |i: usize| ((i * 37 + 11) % 23) as f64 - if dtype.is_float() { 7.5 } else { 0.0 };
    NdArray::from_vec((0..count).map(value).collect(), shape)?.cast(dtype)
}

/// [`a`] with some NaNs where the dtype has them.
fn holes(dtype: DType, shape: &[usize]) -> Result<NdArray> {
    let array = a(dtype, shape)?;
    if dtype.is_float() {
        array.replace_where(Condition::less(-5.0), f64::NAN)?;
    }
    Ok(array)
}

fn positions(values: &[i64]) -> Result<NdArray> {
    NdArray::from_vec(values.to_vec(), [values.len()])
}

/// A method of the first array.
macro_rules! of_first {
    ($($new:ident $into:ident, |$x:ident| ($($argument:expr),*), |$d:ident| [$($input:expr),*];)*) => {
        &[$(Case {
            name: stringify!($into),
            inputs: |$d| Ok(vec![$($input?),*]),
            new: |$x| $x[0].$new($($argument),*),
            into: |$x, out| $x[0].$into($($argument,)* out),
        },)*]
    };
}

/// A function of several arrays.
macro_rules! of_all {
    ($($new:ident $into:ident, |$x:ident| ($($argument:expr),*), |$d:ident| [$($input:expr),*];)*) => {
        &[$(Case {
            name: stringify!($into),
            inputs: |$d| Ok(vec![$($input?),*]),
            new: |$x| NdArray::$new($($argument),*),
            into: |$x, out| NdArray::$into($($argument,)* out),
        },)*]
    };
}

/// A method of a generator that starts afresh.
macro_rules! of_chance {
    ($($new:ident $into:ident, |$x:ident| ($($argument:expr),*), |$d:ident| [$($input:expr),*];)*) => {
        &[$(Case {
            name: stringify!($into),
            inputs: |$d| Ok(vec![$($input?),*]),
            new: |$x| Rng::seeded(5).$new($($argument),*),
            into: |$x, out| Rng::seeded(5).$into($($argument,)* out),
        },)*]
    };
}

const PARTS: &[Case] = of_first! {
    take take_into, |x| (&x[1], 1), |d| [a(d, &[3, 4, 2]), positions(&[2, -4, 2])];
    take take_into, |x| (&x[1], 0), |d| [a(d, &[5]), positions(&[])];
    gather_nd gather_nd_into, |x| (&x[1]), |d| [a(d, &[3, 4]), positions(&[2, -3]).and_then(|i| i.reshape([2, 1]))];
    take_along_axis take_along_axis_into, |x| (&x[1], 0), |d| [a(d, &[3, 4]), positions(&[2, 0, -1, 1]).and_then(|i| i.reshape([1, 4]))];
    get_rows get_rows_into, |x| ([1, -1, 1]), |d| [a(d, &[3, 4])];
    get_columns get_columns_into, |x| ([1, -1]), |d| [a(d, &[3, 4])];
    get_fancy get_fancy_into, |x| (&fancy![[2, 0], [1, 1]]), |d| [a(d, &[3, 4, 2])];
    get_outer get_outer_into, |x| (&fancy![[2, 0], [1, 3]]), |d| [a(d, &[3, 4])];
    get_outer get_outer_into, |x| (&fancy![.., 1..3]), |d| [a(d, &[3, 4])];
};

const NUMBERS: &[Case] = of_first! {
    gcd gcd_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[4])];
    gcd gcd_into, |x| (6), |d| [a(d, &[3, 3])];
    lcm lcm_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[3, 1])];
    copysign copysign_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[3, 4])];
    copysign copysign_into, |x| (-1), |d| [a(d, &[0, 4])];
    fmax fmax_into, |x| (&x[1]), |d| [holes(d, &[3, 4]), a(d, &[4])];
    fmax fmax_into, |x| (2), |d| [holes(d, &[3, 3])];
    fmin fmin_into, |x| (&x[1]), |d| [holes(d, &[3, 4]), holes(d, &[3, 4])];
};

const ARRANGED: &[Case] = of_first! {
    tile tile_into, |x| ([2, 1, 3]), |d| [a(d, &[2, 3])];
    repeat repeat_into, |x| (2, 0), |d| [a(d, &[2, 3])];
    repeat repeat_into, |x| (0, -1), |d| [a(d, &[2, 3])];
    roll roll_into, |x| (2, 1), |d| [a(d, &[2, 5])];
    roll roll_into, |x| (-1, 0), |d| [a(d, &[0, 5])];
    roll_flat roll_flat_into, |x| (-2), |d| [a(d, &[2, 5])];
    repeat_each repeat_each_into, |x| (&[2, 0, 1], 0), |d| [a(d, &[3, 2])];
    append append_into, |x| (2, 1, 1), |d| [a(d, &[3, 2])];
    prepend prepend_into, |x| (1, 0, 0), |d| [a(d, &[3, 2])];
    reverse_sequence reverse_sequence_into, |x| (&[1, 3], 1, 0), |d| [a(d, &[2, 4])];
    pad pad_into, |x| ([[1, 2], [0, 1]], 1), |d| [a(d, &[2, 3])];
    pad pad_into, |x| ([1, 1], 0), |d| [a(d, &[0, 2])];
    pad_with pad_with_into, |x| ([2, 3], &PadMode::Edge), |d| [a(d, &[2, 3])];
    pad_with pad_with_into, |x| ([2, 4], &PadMode::Reflect), |d| [a(d, &[2, 3])];
    pad_with pad_with_into, |x| ([2, 4], &PadMode::Symmetric), |d| [a(d, &[2, 3])];
    pad_with pad_with_into, |x| ([2, 4], &PadMode::Wrap), |d| [a(d, &[2, 3])];
    pad_with pad_with_into, |x| ([2, 4], &PadMode::Mean(vec![])), |d| [a(d, &[2, 3])];
    pad_with pad_with_into, |x| ([2, 4], &PadMode::linear_ramp(1)), |d| [a(d, &[2, 3])];
    pad_with pad_with_into, |x| ([1, 1], &PadMode::Constant(vec![[0.into(), 1.into()], [1.into(), 0.into()]])), |d| [a(d, &[2, 3])];
    select select_into, |x| (&x[1], 2), |d| [a(d, &[3, 4])?.greater(4), a(d, &[3, 4])];
    append_bias append_bias_into, |x| (), |d| [a(d, &[3, 4])];
    clip clip_into, |x| (2, 5), |d| [a(d, &[3, 4])];
    tril tril_into, |x| (0), |d| [a(d, &[3, 4])];
    triu triu_into, |x| (1), |d| [a(d, &[2, 3, 4])];
    one_hot one_hot_into, |x| (5, 1), |d| [a(d, &[2, 2])];
    is_max is_max_into, |x| (1), |d| [a(d, &[3, 4])];
    im2col im2col_into, |x| (&Windows::new([2, 2])), |d| [a(d, &[1, 2, 3, 4])];
    im2col im2col_into, |x| (&Windows::new([2, 2]).padding(Padding::Same)), |d| [a(d, &[1, 2, 3, 4])];
    col2im col2im_into, |x| (&Windows::new([2, 2]), [3, 4]), |d| [a(d, &[1, 2, 2, 2, 2, 3])];
    conv2d conv2d_into, |x| (&x[1], None, &Windows::new([2, 2])), |d| [a(d, &[1, 2, 3, 4]), a(d, &[2, 2, 2, 2])];
    conv1d conv1d_into, |x| (&x[1], None, &Windows::new([1, 2])), |d| [a(d, &[1, 2, 5]), a(d, &[2, 2, 2])];
    pool2d pool2d_into, |x| (Pooling::Max, &Windows::new([2, 2])), |d| [a(d, &[1, 2, 3, 4])];
    pool2d pool2d_into, |x| (Pooling::Average, &Windows::new([2, 2])), |d| [a(d, &[1, 2, 3, 4])];
    add_row_vector add_row_vector_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[4])];
    sub_row_vector sub_row_vector_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[4])];
    mul_row_vector mul_row_vector_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[4])];
    div_row_vector div_row_vector_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[4])];
    rsub_row_vector rsub_row_vector_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[4])];
    rdiv_row_vector rdiv_row_vector_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[4])];
    add_column_vector add_column_vector_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[3])];
    sub_column_vector sub_column_vector_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[3])];
    mul_column_vector mul_column_vector_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[3])];
    div_column_vector div_column_vector_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[3])];
    rsub_column_vector rsub_column_vector_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[3])];
    rdiv_column_vector rdiv_column_vector_into, |x| (&x[1]), |d| [a(d, &[3, 4]), a(d, &[3])];
};

const JOINED: &[Case] = of_all! {
    concat concat_into, |x| (&[&x[0], &x[1], &x[0]], 1), |d| [a(d, &[2, 3]), a(d, &[2, 1])];
    concat concat_into, |x| (&[&x[0], &x[1]], 0), |d| [a(d, &[2, 3]), a(DType::F64, &[1, 3])];
    concat concat_into, |x| (&[&x[0], &x[1]], 0), |d| [a(d, &[0, 3]), a(d, &[2, 3])];
    stack stack_into, |x| (&[&x[0], &x[1]], -1), |d| [a(d, &[2, 3]), a(d, &[2, 3])];
    hstack hstack_into, |x| (&[&x[0], &x[1]]), |d| [a(d, &[3]), a(d, &[2])];
    vstack vstack_into, |x| (&[&x[0], &x[1]]), |d| [a(d, &[3]), a(d, &[2, 3])];
    lexsort lexsort_into, |x| (&[&x[0], &x[1]]), |d| [a(d, &[9]), a(d, &[9])];
    ravel_multi_index ravel_multi_index_into, |x| (&[&x[0], &x[1]], [3, 4]), |_d| [positions(&[2, 0, 1]), positions(&[3])];
    einsum einsum_into, |x| ("ij,jk->ki", &[&x[0], &x[1]]), |d| [a(d, &[2, 3]), a(d, &[3, 4])];
    einsum einsum_into, |x| ("ii", &[&x[0]]), |d| [a(d, &[3, 3])];
    einsum einsum_into, |x| ("ij->ji", &[&x[0]]), |d| [a(d, &[3, 3])];
    multi_dot multi_dot_into, |x| (&[&x[0], &x[1], &x[2]]), |d| [a(d, &[2, 3]), a(d, &[3, 4]), a(d, &[4])];
};

const SORTED: &[Case] = of_first! {
    sort sort_into, |x| (0), |d| [holes(d, &[7, 3])];
    sort sort_into, |x| (..), |d| [holes(d, &[4, 3])];
    sort_with sort_with_into, |x| (1, Sorting::descending()), |d| [holes(d, &[3, 7])];
    argsort argsort_into, |x| (0), |d| [holes(d, &[7, 3])];
    argsort_with argsort_with_into, |x| (-1, Sorting::descending()), |d| [holes(d, &[3, 7])];
    sort_rows sort_rows_into, |x| (1, Sorting::ascending()), |d| [a(d, &[5, 3])];
    sort_columns sort_columns_into, |x| (1, Sorting::ascending()), |d| [a(d, &[3, 5])];
    partition partition_into, |x| ([2], 0), |d| [a(d, &[7, 3])];
    argpartition argpartition_into, |x| ([2], 1), |d| [a(d, &[3, 7])];
    searchsorted searchsorted_into, |x| (&x[1], Side::Right), |d| [a(d, &[9])?.sort(0), a(d, &[2, 3])];
    digitize digitize_into, |x| (&x[1], false), |d| [a(d, &[2, 3]), a(d, &[9])?.sort(0)];
    cumsum cumsum_into, |x| (0), |d| [holes(d, &[4, 3])];
    cumprod cumprod_into, |x| (1), |d| [a(d, &[4, 3])];
    cummax cummax_into, |x| (0), |d| [holes(d, &[4, 3])];
    cummin cummin_into, |x| (-1), |d| [holes(d, &[4, 3])];
    argmax argmax_into, |x| (0), |d| [holes(d, &[4, 3])];
    argmax argmax_into, |x| (keep([0, 2])), |d| [a(d, &[4, 3, 2])];
    argmin argmin_into, |x| (keep(1)), |d| [a(d, &[4, 3])];
    arg_abs_max arg_abs_max_into, |x| (..), |d| [a(d, &[4, 3])];
    arg_abs_min arg_abs_min_into, |x| (1), |d| [a(d, &[4, 3])];
    first_index_along first_index_along_into, |x| (0), |d| [a(d, &[4, 3])];
    last_index_along last_index_along_into, |x| (1), |d| [a(d, &[4, 3])];
};

const STATISTICS: &[Case] = of_first! {
    var_ddof var_ddof_into, |x| (0, 0), |d| [a(d, &[4, 3])];
    std_ddof std_ddof_into, |x| (keep(1), 2), |d| [a(d, &[4, 3])];
    layer_norm layer_norm_into, |x| (1, Some(&x[1]), Some(&x[2]), 1e-5), |d| [a(d, &[4, 3]), a(d, &[3]), a(d, &[3])];
    median median_into, |x| (0), |d| [a(d, &[5, 3])];
    nan_median nan_median_into, |x| (..), |d| [holes(d, &[5, 3])];
    quantile quantile_into, |x| (0.3, 1), |d| [a(d, &[5, 3])];
    quantile_with quantile_with_into, |x| (0.3, keep(1), QuantileMethod::Nearest), |d| [a(d, &[5, 3])];
    nan_quantile nan_quantile_into, |x| (0.3, 1, QuantileMethod::Linear), |d| [holes(d, &[5, 3])];
    quantiles quantiles_into, |x| (&[0.25, 0.5], 0, QuantileMethod::Linear), |d| [a(d, &[5, 3])];
    percentile percentile_into, |x| (30.0, 0), |d| [a(d, &[5, 3])];
    percentile_with percentile_with_into, |x| (30.0, 0, QuantileMethod::Lower), |d| [a(d, &[5, 3])];
    entropy entropy_into, |x| (0), |d| [a(d, &[4, 3])];
    log_entropy log_entropy_into, |x| (0), |d| [a(d, &[4, 3])];
    shannon_entropy shannon_entropy_into, |x| (1), |d| [a(d, &[4, 3])];
    peak_to_peak peak_to_peak_into, |x| (1), |d| [a(d, &[4, 3])];
    weighted_mean weighted_mean_into, |x| (&x[1], 0), |d| [a(d, &[4, 3]), a(d, &[4, 3])];
    covariance covariance_into, |x| (1), |d| [a(d, &[3, 5])];
    correlation correlation_into, |x| (), |d| [a(d, &[3, 5])];
    diff diff_into, |x| (1, 0), |d| [a(d, &[4, 3])];
    nan_sum nan_sum_into, |x| (0), |d| [holes(d, &[4, 3])];
    nan_prod nan_prod_into, |x| (1), |d| [holes(d, &[4, 3])];
    nan_mean nan_mean_into, |x| (..), |d| [holes(d, &[4, 3])];
    nan_var nan_var_into, |x| (0, 1), |d| [holes(d, &[4, 3])];
    nan_std nan_std_into, |x| (keep(0), 0), |d| [holes(d, &[4, 3])];
    nan_max nan_max_into, |x| (0), |d| [holes(d, &[4, 3])];
    nan_min nan_min_into, |x| (0), |d| [holes(d, &[4, 3])];
    nan_argmax nan_argmax_into, |x| (1), |d| [holes(d, &[4, 3])];
    nan_argmin nan_argmin_into, |x| (..), |d| [holes(d, &[4, 3])];
    nan_cumsum nan_cumsum_into, |x| (0), |d| [holes(d, &[4, 3])];
    nan_cumprod nan_cumprod_into, |x| (1), |d| [holes(d, &[4, 3])];
    replace_nan replace_nan_into, |x| (1.0), |d| [holes(d, &[4, 3])];
    distance distance_into, |x| (Distance::Manhattan, &x[1], 1), |d| [a(d, &[4, 3]), a(d, &[3])];
    all_distances all_distances_into, |x| (Distance::Euclidean, &x[1]), |d| [a(d, &[4, 3]), a(d, &[2, 3])];
};

const PRODUCTS: &[Case] = of_first! {
    matmul matmul_into, |x| (&x[1]), |d| [a(d, &[3]), a(d, &[3])];
    matmul matmul_into, |x| (&x[1]), |d| [a(d, &[3]), a(d, &[3, 2])];
    matmul matmul_into, |x| (&x[1]), |d| [a(d, &[2, 4, 3]), a(d, &[3])];
    matmul matmul_into, |x| (&x[1]), |d| [a(d, &[3]), a(d, &[2, 3, 4])];
    matmul matmul_into, |x| (&x[1]), |d| [a(d, &[0]), a(d, &[0, 3])];
    outer outer_into, |x| (&x[1]), |d| [a(d, &[3]), a(d, &[2])];
    inner inner_into, |x| (&x[1]), |d| [a(d, &[2, 3]), a(d, &[4, 3])];
    vdot vdot_into, |x| (&x[1]), |d| [a(d, &[2, 3]), a(d, &[2, 3])];
    kron kron_into, |x| (&x[1]), |d| [a(d, &[2, 3]), a(d, &[2, 2])];
    cross cross_into, |x| (&x[1]), |d| [a(d, &[2, 3]), a(d, &[2, 3])];
    trace trace_into, |x| (), |d| [a(d, &[3, 3])];
    matrix_power matrix_power_into, |x| (5), |d| [a(d, &[3, 3])];
    tensordot tensordot_into, |x| (&x[1], 1), |d| [a(d, &[2, 3]), a(d, &[3, 4])];
};

const CHOSEN: &[Case] = of_first! {
    apply apply_into, |x| (UnaryOp::Sqrt), |d| [a(d, &[3, 4])];
    apply apply_into, |x| (UnaryOp::Neg), |d| [a(d, &[2, 0, 3])];
    apply_with apply_with_into, |x| (BinaryOp::Sub, &x[1]), |d| [a(d, &[3, 4]), a(d, &[3, 1])];
    apply_with apply_with_into, |x| (BinaryOp::Pow, 2), |d| [a(d, &[5])];
};

const CHANCE: &[Case] = of_chance! {
    dropout dropout_into, |x| (&x[0], 0.5), |d| [a(d, &[3, 4])];
    alpha_dropout alpha_dropout_into, |x| (&x[0], 0.5), |d| [a(d, &[3, 4])];
    choice choice_into, |x| (&x[0], 3, false, None), |d| [a(d, &[5, 2])];
};

#[cfg(feature = "linalg")]
const LINALG: &[Case] = of_first! {
    solve solve_into, |x| (&x[1]), |d| [a(d, &[3, 3]), a(d, &[3])];
    inv inv_into, |x| (), |d| [a(d, &[3, 3])];
    det det_into, |x| (), |d| [a(d, &[2, 3, 3])];
    cholesky cholesky_into, |x| (), |d| [NdArray::eye_of(d, 3)];
    pinv pinv_into, |x| (), |d| [a(d, &[2, 3])];
    pinv_left pinv_left_into, |x| (), |d| [a(d, &[3, 2])];
    pinv_right pinv_right_into, |x| (), |d| [a(d, &[2, 3])];
    singular_values singular_values_into, |x| (), |d| [a(d, &[2, 3])];
    matrix_rank matrix_rank_into, |x| (), |d| [a(d, &[2, 3])];
    cond cond_into, |x| (), |d| [a(d, &[3, 3])];
    matrix_norm matrix_norm_into, |x| (lodestride_array::MatrixNorm::One), |d| [a(d, &[2, 3])];
    expm expm_into, |x| (), |d| [NdArray::eye_of(d, 2)];
};

#[cfg(not(feature = "linalg"))]
const LINALG: &[Case] = &[];

fn all() -> impl Iterator<Item = &'static Case> {
    let tables = [
        PARTS, NUMBERS, ARRANGED, JOINED, SORTED, STATISTICS, PRODUCTS, CHOSEN, CHANCE, LINALG,
    ];
    tables.into_iter().flatten()
}

const DTYPES: [DType; 5] = [DType::F32, DType::F64, DType::BF16, DType::I32, DType::U8];

/// What the allocating form gives, of the operations and dtypes for which it gives something.
fn made(case: &Case, dtype: DType) -> Option<(Vec<NdArray>, NdArray)> {
    let inputs = (case.inputs)(dtype).expect("inputs");
    let made = (case.new)(&inputs).ok()?;
    Some((inputs, made))
}

/// Calls with an output; says what is wrong with it.
fn written(case: &Case, inputs: &[NdArray], out: &NdArray, wanted: &NdArray) -> Option<String> {
    match (case.into)(inputs, out) {
        Err(error) => Some(error.to_string()),
        Ok(()) if out.to_bytes().expect("readable") == wanted.to_bytes().expect("readable") => None,
        Ok(()) => Some(format!("{out:?} instead of {wanted:?}")),
    }
}

/// Reports all failures of a run over the operations and dtypes.
fn run(
    dtypes: &[DType],
    check: impl Fn(&Case, &[NdArray], &NdArray) -> Vec<(String, Option<String>)>,
    least: usize,
) {
    let (mut failures, mut count) = (Vec::new(), 0);
    for case in all() {
        let mut done = 0;
        for &dtype in dtypes {
            let Some((inputs, wanted)) = made(case, dtype) else {
                continue;
            };
            done += 1;
            for (what, failure) in check(case, &inputs, &wanted) {
                count += 1;
                let line = |failure| format!("{} of {dtype:?}, {what}: {failure}", case.name);
                failures.extend(failure.map(line));
            }
        }
        if done == 0 {
            failures.push(format!("{}: no dtype at all", case.name));
        }
    }
    let report = failures.join("\n");
    assert!(
        failures.is_empty(),
        "{} of {count}:\n{report}",
        failures.len()
    );
    assert!(count >= least, "only {count} cases");
}

#[test]
fn outputs_of_every_layout_get_what_the_allocating_form_returns() {
    run(
        &[DType::F32, DType::BF16, DType::I32],
        |case, inputs, wanted| {
            let room = NdArray::ones_of(wanted.dtype(), wanted.shape().clone()).expect("memory");
            let outs = layout_matrix(&room).expect("layouts");
            let check = |(name, out): (String, NdArray)| {
                let failure = written(case, inputs, &out, wanted);
                (name, failure)
            };
            outs.into_iter().map(check).collect()
        },
        8_000,
    );
}

#[test]
fn inputs_of_every_layout_may_be_given() {
    run(
        &[DType::F32, DType::I32],
        |case, inputs, wanted| {
            let out = NdArray::ones_of(wanted.dtype(), wanted.shape().clone()).expect("memory");
            let layouts = layout_matrix(&inputs[0]).expect("layouts");
            let check = |(name, first): (String, NdArray)| {
                let mut given = inputs.to_vec();
                given[0] = first;
                // Sums of another layout may be rounded otherwise: the reference is of the same one.
                let wanted = (case.new)(&given).expect("as above");
                let failure = written(case, &given, &out, &wanted);
                (name, failure)
            };
            layouts.into_iter().map(check).collect()
        },
        2_000,
    );
}

#[test]
fn outputs_may_overlap_the_inputs() {
    let window = |whole: &NdArray, from: usize, rows: usize| {
        whole.get(&[interval(from as isize, (from + rows) as isize)])
    };
    run(
        &DTYPES,
        |case, inputs, wanted| {
            let mut checked = Vec::new();
            for place in 0..inputs.len() {
                let input = &inputs[place];
                if input.dtype() != wanted.dtype() || input.shape() != wanted.shape() {
                    continue;
                }
                let mut given = inputs.to_vec();
                given[place] = input.dup().expect("memory");
                let out = given[place].clone();
                checked.push((
                    format!("over input {place}"),
                    written(case, &given, &out, wanted),
                ));
                if input.rank() == 0 || input.is_empty() {
                    continue;
                }
                let rows = input.shape()[0];
                let mut larger = input.shape().clone();
                larger[0] += 1;
                let whole = NdArray::zeros_of(input.dtype(), larger).expect("memory");
                for (from, to) in [(0, 1), (1, 0)] {
                    given[place] = window(&whole, from, rows).expect("a part");
                    given[place].assign(input).expect("fits");
                    let out = window(&whole, to, rows).expect("a part");
                    let failure = written(case, &given, &out, wanted);
                    checked.push((format!("from row {from} of input {place} to {to}"), failure));
                }
                if input.rank() == 2 && rows == input.shape()[1] {
                    given[place] = input.dup().expect("memory");
                    let out = given[place].transpose();
                    let failure = written(case, &given, &out, wanted);
                    checked.push((format!("over input {place} transposed"), failure));
                }
            }
            checked
        },
        300,
    );
}

#[test]
fn outputs_that_do_not_fit_keep_their_elements() {
    run(
        &DTYPES,
        |case, inputs, wanted| {
            let mut checked = Vec::new();
            let mut refused = |what: &str, out: NdArray, right: fn(&ArrayErrorKind) -> bool| {
                let before = out.to_bytes().expect("readable");
                let failure = match (case.into)(inputs, &out) {
                    Ok(()) => Some("was done".to_owned()),
                    Err(error) if !right(error.kind()) => Some(format!("another error: {error}")),
                    Err(_) if out.to_bytes().expect("readable") != before => {
                        Some("refused, but changed".to_owned())
                    }
                    Err(error) if !error.location().file().contains("into") => {
                        Some(format!("points at {}", error.location()))
                    }
                    Err(_) => None,
                };
                checked.push((what.to_owned(), failure));
            };
            let mut longer = wanted.shape().to_vec();
            longer.push(2);
            let out = NdArray::ones_of(wanted.dtype(), longer).expect("memory");
            refused("another rank", out, |kind| {
                matches!(kind, ArrayErrorKind::OutputShape { .. })
            });
            if wanted.dtype() != DType::Bool {
                let out = NdArray::ones_of(DType::Bool, wanted.shape().clone()).expect("memory");
                refused("bool", out, |kind| {
                    matches!(kind, ArrayErrorKind::Cast { .. })
                });
            }
            if wanted.len() > 1 {
                let one = NdArray::ones_of(wanted.dtype(), []).expect("memory");
                let out = one.broadcast_to(wanted.shape().clone()).expect("stretches");
                refused("a stretched scalar", out, |kind| {
                    matches!(kind, ArrayErrorKind::OverlappingTarget { .. })
                });
            }
            checked
        },
        1_000,
    );
}

#[test]
fn outputs_of_a_higher_dtype_are_converted_to() {
    run(
        &DTYPES,
        |case, inputs, wanted| {
            let out = NdArray::ones_of(DType::F64, wanted.shape().clone()).expect("memory");
            let mut wide = wanted.cast(DType::F64).expect("converts");
            if (case.into)(inputs, &out).is_ok() && wanted.dtype().is_float() {
                // The one rounding to the narrow dtype may be left out, as everywhere.
                let narrow = out.cast(wanted.dtype()).expect("converts");
                wide = narrow.cast(DType::F64).expect("converts");
                let same =
                    wide.to_bytes().ok() == wanted.cast(DType::F64).and_then(|w| w.to_bytes()).ok();
                return vec![(
                    "f64".to_owned(),
                    (!same).then(|| format!("{out:?} for {wanted:?}")),
                )];
            }
            vec![("f64".to_owned(), written(case, inputs, &out, &wide))]
        },
        400,
    );
}

/// An operation with two results in both forms.
struct Pair {
    name: &'static str,
    new: fn(&NdArray) -> Result<(NdArray, NdArray)>,
    into: fn(&NdArray, &NdArray, &NdArray) -> Result<()>,
}

macro_rules! pairs {
    ($($new:ident $into:ident ($($argument:expr),*);)*) => {
        &[$(Pair {
            name: stringify!($into),
            new: |x| x.$new($($argument),*),
            into: |x, first, second| x.$into($($argument,)* first, second),
        },)*]
    };
}

const PAIRS: &[Pair] = pairs! {
    topk topk_into(2, 1);
    topk_with topk_with_into(3, .., Sorting::ascending());
    sort_with_indices sort_with_indices_into(0, Sorting::descending());
    moments moments_into(keep(1));
    histogram histogram_into(4);
    div_mod div_mod_into(3);
    histogram_with histogram_with_into(4, HistogramOptions { density: true, ..Default::default() });
};

#[test]
fn pairs_of_outputs() {
    let mut failures = Vec::new();
    let x = a(DType::F32, &[4, 5]).expect("inputs");
    for pair in PAIRS {
        let (first, second) = (pair.new)(&x).expect("makes");
        let room = |of: &NdArray| NdArray::ones_of(of.dtype(), of.shape().clone()).expect("memory");
        let layouts = |of| layout_matrix(&room(of)).expect("layouts");
        for ((name, to), (other, beside)) in
            layouts(&first).iter().zip(layouts(&second).iter().rev())
        {
            let done = (pair.into)(&x, to, beside);
            let same = |x: &NdArray, y: &NdArray| {
                x.to_bytes().expect("readable") == y.to_bytes().expect("readable")
            };
            if done.is_err() || !same(to, &first) || !same(beside, &second) {
                failures.push(format!("{} to {name} and {other}: {done:?}", pair.name));
            }
        }
        // The second does not fit, so the first is not written either.
        let (to, beside) = (
            room(&first),
            NdArray::ones_of(DType::F32, [7, 7]).expect("memory"),
        );
        let before = to.to_bytes().expect("readable");
        let refused = (pair.into)(&x, &to, &beside);
        let wrong =
            !refused.is_err_and(|error| matches!(error.kind(), ArrayErrorKind::OutputShape { .. }));
        if wrong || to.to_bytes().expect("readable") != before {
            failures.push(format!("{}: the second output does not fit", pair.name));
        }
        let refused = (pair.into)(&x, &to, &to);
        if !refused.is_err_and(|error| matches!(error.kind(), ArrayErrorKind::Operands { .. })) {
            failures.push(format!("{}: one output twice", pair.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn generators_fill_arrays_as_they_make_them() -> Result<()> {
    type Draw = (
        &'static str,
        fn(&mut Rng) -> Result<NdArray>,
        fn(&mut Rng, &NdArray) -> Result<()>,
    );
    let draws: [Draw; 8] = [
        (
            "bernoulli",
            |r| r.bernoulli([3, 4], 0.4),
            |r, out| r.fill_bernoulli(out, 0.4),
        ),
        (
            "integers",
            |r| r.integers([3, 4], -9, 9),
            |r, out| r.fill_integers(out, -9, 9),
        ),
        (
            "log_normal",
            |r| r.log_normal([3, 4], 0.0, 1.0),
            |r, out| r.fill_log_normal(out, 0.0, 1.0),
        ),
        (
            "truncated_normal",
            |r| r.truncated_normal([3, 4], 0.0, 1.0),
            |r, out| r.fill_truncated_normal(out, 0.0, 1.0),
        ),
        (
            "exponential",
            |r| r.exponential([3, 4], 2.0),
            |r, out| r.fill_exponential(out, 2.0),
        ),
        (
            "gamma",
            |r| r.gamma([3, 4], 2.0, 1.0),
            |r, out| r.fill_gamma(out, 2.0, 1.0),
        ),
        (
            "poisson",
            |r| r.poisson([3, 4], 20.0),
            |r, out| r.fill_poisson(out, 20.0),
        ),
        (
            "binomial",
            |r| r.binomial([3, 4], 40, 0.3),
            |r, out| r.fill_binomial(out, 40, 0.3),
        ),
    ];
    for (name, new, fill) in draws {
        let wanted = new(&mut Rng::seeded(9))?;
        for (layout, out) in layout_matrix(&NdArray::ones_of(wanted.dtype(), [3, 4])?)? {
            fill(&mut Rng::seeded(9), &out)?;
            assert_eq!(out, wanted, "{name} into {layout}");
        }
        let stretched = NdArray::ones_of(wanted.dtype(), [])?.broadcast_to([3, 4])?;
        assert!(fill(&mut Rng::seeded(9), &stretched).is_err(), "{name}");
    }
    Ok(())
}

#[test]
fn a_join_with_a_stale_part_writes_nothing() -> Result<()> {
    let workspace = lodestride_array::Workspace::new("JOINED");
    let stale = workspace.scope(|_| NdArray::ones([2, 2])).expect("opens")?;
    let (good, out) = (NdArray::ones([2, 2])?, NdArray::zeros([4, 2])?);
    let refused = NdArray::concat_into(&[&good, &stale], 0, &out).expect_err("stale");
    let named = refused
        .kind()
        .access()
        .map(|(op, argument, _)| (op, argument));
    assert_eq!(named, Some(("concat_into", Argument::Input(1))));
    assert_eq!(out.sum_number()?, 0.0);
    Ok(())
}
