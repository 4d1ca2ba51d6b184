//! One row for each public operation on arrays: how it is called, and which letters its arrays have in errors.

use lodestride_array::kernels::{BinaryOp, UnaryOp};
use lodestride_array::{
    Condition, DType, Distance, GridAxes, HistogramOptions, NdArray, Order, PadMode, Pooling,
    QuantileMethod, Result, Rng, Side, Sorting, Windows, Workspace, interval, keep, op, point, s,
};

/// An operation.
pub(crate) struct Row {
    /// The method's name.
    pub(crate) method: &'static str,
    /// Its arrays, a letter for each: see `make`.
    pub(crate) arrays: &'static str,
    /// How errors call them: X, Y, Z, or a digit for one of many inputs.
    pub(crate) letters: &'static str,
    /// The name that errors give the operation: the method's, but that of the registry where it returns a new array, and of
    /// the method that does the work in a few that are special cases of it.
    pub(crate) op: &'static str,
    pub(crate) call: fn(&[NdArray]) -> Result<()>,
}

/// A fresh array of the form a letter stands for.
pub(crate) fn make(form: char) -> NdArray {
    let (dtype, shape): (DType, &[usize]) = match form {
        'm' => (DType::F32, &[3, 4]),
        's' => (DType::F32, &[3, 3]),
        'r' => (DType::F32, &[4]),
        'c' => (DType::F32, &[3]),
        'v' => (DType::F32, &[12]),
        'o' => (DType::F32, &[1]),
        'n' => (DType::I32, &[3, 4]),
        'b' => (DType::Bool, &[3, 4]),
        'u' => (DType::Bool, &[4]),
        'i' => (DType::I64, &[2]),
        'j' => (DType::I64, &[4]),
        'w' => (DType::F32, &[2, 4]),
        'k' => (DType::I64, &[12]),
        'q' => (DType::F32, &[2, 2, 2, 2]),
        't' => (DType::F32, &[2, 2, 4]),
        'z' => (DType::F32, &[1, 1, 1, 1, 2, 2]),
        'g' => (DType::I64, &[2, 2]),
        'h' => (DType::I64, &[1, 4]),
        'p' => (DType::I64, &[3]),
        'y' => (DType::F32, &[1, 1, 3, 3]),
        'A' => (DType::F32, &[6, 4]),
        'B' => (DType::F32, &[5, 6]),
        'D' => (DType::F32, &[4, 4]),
        'F' => (DType::F32, &[2]),
        'I' => (DType::F32, &[1, 1, 2, 2, 2, 2]),
        'J' => (DType::F32, &[3, 8]),
        'K' => (DType::F32, &[2, 2, 1, 1]),
        'L' => (DType::F32, &[2, 2, 1]),
        'M' => (DType::F32, &[]),
        'N' => (DType::I64, &[3, 4]),
        'Q' => (DType::F32, &[2, 3, 4]),
        'R' => (DType::I64, &[2, 4]),
        'S' => (DType::F32, &[5]),
        'U' => (DType::F32, &[2, 3, 8]),
        'x' => (DType::F32, &[1, 4]),
        'd' => return NdArray::eye_of(DType::F32, 3).expect("memory"),
        'e' => return NdArray::zeros_of(DType::I64, [1]).expect("memory"),
        other => panic!("no form {other}"),
    };
    NdArray::ones_of(dtype, shape.to_vec()).expect("memory")
}

pub(crate) const fn row(
    method: &'static str,
    op: &'static str,
    arrays: &'static str,
    letters: &'static str,
    call: fn(&[NdArray]) -> Result<()>,
) -> Row {
    Row {
        method,
        arrays,
        letters,
        op,
        call,
    }
}

/// A new array, in place, into an output: of one array.
macro_rules! unary {
    ($arrays:literal: $($op:literal $new:ident $in_place:ident $into:ident,)*) => {
        &[$(
            row(stringify!($new), $op, $arrays, "X", |a| a[0].$new().map(drop)),
            row(stringify!($in_place), stringify!($in_place), $arrays, "Z", |a| a[0].$in_place().map(drop)),
            row(stringify!($into), stringify!($into), concat!($arrays, $arrays), "XZ", |a| a[0].$into(&a[1])),
        )*]
    };
}

/// The same of two arrays.
macro_rules! binary {
    ($arrays:literal: $($op:literal $new:ident $in_place:ident $into:ident,)*) => {
        &[$(
            row(stringify!($new), $op, concat!($arrays, $arrays), "XY", |a| a[0].$new(&a[1]).map(drop)),
            row(stringify!($in_place), stringify!($in_place), concat!($arrays, $arrays), "ZY", |a| a[0].$in_place(&a[1]).map(drop)),
            row(stringify!($into), stringify!($into), concat!($arrays, $arrays, $arrays), "XYZ", |a| a[0].$into(&a[1], &a[2])),
        )*]
    };
}

/// Truth values of two arrays: new and into an output.
macro_rules! compare {
    ($($op:literal $new:ident $into:ident,)*) => {
        &[$(
            row(stringify!($new), $op, "mm", "XY", |a| a[0].$new(&a[1]).map(drop)),
            row(stringify!($into), stringify!($into), "mmb", "XYZ", |a| a[0].$into(&a[1], &a[2])),
        )*]
    };
}

/// A reduction along an axis: new, into an output, and of all elements.
macro_rules! reduce {
    ($out:literal: $($op:literal $new:ident $into:ident $number:ident,)*) => {
        &[$(
            row(stringify!($new), $op, "m", "X", |a| a[0].$new(0).map(drop)),
            row(stringify!($into), stringify!($into), concat!("m", $out), "XZ", |a| a[0].$into(0, &a[1])),
            row(stringify!($number), $op, "m", "X", |a| a[0].$number().map(drop)),
        )*]
    };
}

/// A matrix and a vector of its width and height: new and in place.
macro_rules! vectors {
    ($($op:literal $row:ident $rowi:ident $column:ident $columni:ident,)*) => {
        &[$(
            row(stringify!($row), $op, "mr", "XY", |a| a[0].$row(&a[1]).map(drop)),
            row(stringify!($rowi), stringify!($rowi), "mr", "ZY", |a| a[0].$rowi(&a[1]).map(drop)),
            row(stringify!($column), $op, "mc", "XY", |a| a[0].$column(&a[1]).map(drop)),
            row(stringify!($columni), stringify!($columni), "mc", "ZY", |a| a[0].$columni(&a[1]).map(drop)),
        )*]
    };
}

/// Of one array, called as written.
macro_rules! single {
    ($($op:literal $method:ident ( $($argument:expr),* ),)*) => {
        &[$(row(stringify!($method), $op, "m", "X", |a| a[0].$method($($argument),*).map(drop)),)*]
    };
}
/// Methods made of others: padding, rearranging, statistics, distances, windows.
const COMPOSED: &[Row] = &[
    row("pad", "pad", "m", "X", |a| a[0].pad([1, 1], 0).map(drop)),
    row("pad_with", "pad_with", "m", "X", |a| {
        a[0].pad_with([1, 1], &PadMode::Wrap).map(drop)
    }),
    row("roll", "roll", "m", "X", |a| a[0].roll(1, 0).map(drop)),
    row("roll_flat", "roll_flat", "m", "X", |a| {
        a[0].roll_flat(1).map(drop)
    }),
    row("repeat_each", "repeat_each", "m", "X", |a| {
        a[0].repeat_each(&[1, 0, 2], 0).map(drop)
    }),
    row("append", "append", "m", "X", |a| {
        a[0].append(1, 0, 0).map(drop)
    }),
    row("prepend", "prepend", "m", "X", |a| {
        a[0].prepend(1, 0, 0).map(drop)
    }),
    row("reverse_sequence", "reverse_sequence", "m", "X", |a| {
        a[0].reverse_sequence(&[1, 2, 3], 1, 0).map(drop)
    }),
    row("tril", "tril", "m", "X", |a| a[0].tril(0).map(drop)),
    row("triu", "triu", "m", "X", |a| a[0].triu(0).map(drop)),
    row("is_max", "is_max", "m", "X", |a| a[0].is_max(0).map(drop)),
    row("append_bias", "append_bias", "m", "X", |a| {
        a[0].append_bias().map(drop)
    }),
    row("entropy", "entropy", "m", "X", |a| {
        a[0].entropy(0).map(drop)
    }),
    row("log_entropy", "log_entropy", "m", "X", |a| {
        a[0].log_entropy(0).map(drop)
    }),
    row("shannon_entropy", "shannon_entropy", "m", "X", |a| {
        a[0].shannon_entropy(0).map(drop)
    }),
    row("moments", "moments", "m", "X", |a| {
        a[0].moments(0).map(drop)
    }),
    row("zero_fraction", "zero_fraction", "m", "X", |a| {
        a[0].zero_fraction().map(drop)
    }),
    row("peak_to_peak", "peak_to_peak", "m", "X", |a| {
        a[0].peak_to_peak(0).map(drop)
    }),
    row("covariance", "covariance", "m", "X", |a| {
        a[0].covariance(1).map(drop)
    }),
    row("correlation", "correlation", "m", "X", |a| {
        a[0].correlation().map(drop)
    }),
    row("diff", "diff", "m", "X", |a| a[0].diff(1, 0).map(drop)),
    row("nan_sum", "nan_sum", "m", "X", |a| {
        a[0].nan_sum(0).map(drop)
    }),
    row("nan_prod", "nan_prod", "m", "X", |a| {
        a[0].nan_prod(0).map(drop)
    }),
    row("nan_mean", "nan_mean", "m", "X", |a| {
        a[0].nan_mean(0).map(drop)
    }),
    row("nan_var", "nan_var", "m", "X", |a| {
        a[0].nan_var(0, 1).map(drop)
    }),
    row("nan_std", "nan_std", "m", "X", |a| {
        a[0].nan_std(0, 1).map(drop)
    }),
    row("nan_max", "nan_max", "m", "X", |a| {
        a[0].nan_max(0).map(drop)
    }),
    row("nan_min", "nan_min", "m", "X", |a| {
        a[0].nan_min(0).map(drop)
    }),
    row("nan_argmax", "nan_argmax", "m", "X", |a| {
        a[0].nan_argmax(0).map(drop)
    }),
    row("nan_argmin", "nan_argmin", "m", "X", |a| {
        a[0].nan_argmin(0).map(drop)
    }),
    row("nan_cumsum", "nan_cumsum", "m", "X", |a| {
        a[0].nan_cumsum(0).map(drop)
    }),
    row("nan_cumprod", "nan_cumprod", "m", "X", |a| {
        a[0].nan_cumprod(0).map(drop)
    }),
    row("replace_nan", "replace_nan", "m", "X", |a| {
        a[0].replace_nan(0.0).map(drop)
    }),
    row("clip_by_norm", "clip_by_norm", "m", "X", |a| {
        a[0].clip_by_norm(1.0, 0).map(drop)
    }),
    row("unit_vec", "unit_vec", "m", "X", |a| {
        a[0].unit_vec(0).map(drop)
    }),
    row("standardize", "standardize", "m", "X", |a| {
        a[0].standardize(0).map(drop)
    }),
    row("times_one_minus", "times_one_minus", "m", "X", |a| {
        a[0].times_one_minus().map(drop)
    }),
    row("log_base", "log_base", "m", "X", |a| {
        a[0].log_base(3.0).map(drop)
    }),
    row("stabilize", "stabilize", "m", "X", |a| {
        a[0].stabilize(1.0).map(drop)
    }),
    row("derivative", "derivative", "m", "X", |a| {
        a[0].derivative(UnaryOp::Tanh).map(drop)
    }),
    row("one_hot", "one_hot", "i", "X", |a| {
        a[0].one_hot(3, 0).map(drop)
    }),
    row("normalize_moments", "normalize_moments", "mm", "XY", |a| {
        a[0].normalize_moments(&a[1], 2.0, 0.0).map(drop)
    }),
    row("weighted_mean", "weighted_mean", "mm", "XY", |a| {
        a[0].weighted_mean(&a[1], 0).map(drop)
    }),
    row("relative_error", "relative_error", "mm", "XY", |a| {
        a[0].relative_error(&a[1]).map(drop)
    }),
    row("is_close", "is_close", "mm", "XY", |a| {
        a[0].is_close(&a[1], 0.0, 1.0).map(drop)
    }),
    row("distance", "distance", "mm", "XY", |a| {
        a[0].distance(Distance::Cosine, &a[1], 0).map(drop)
    }),
    row("distance_number", "distance_number", "mm", "XY", |a| {
        a[0].distance_number(Distance::Jaccard, &a[1]).map(drop)
    }),
    row("all_distances", "all_distances", "mm", "XY", |a| {
        a[0].all_distances(Distance::Hamming, &a[1]).map(drop)
    }),
    row("meshgrid", "meshgrid", "rc", "01", |a| {
        NdArray::meshgrid(&[&a[0], &a[1]], GridAxes::Ij).map(drop)
    }),
    row("im2col", "im2col", "q", "X", |a| {
        a[0].im2col(&Windows::new([1, 2])).map(drop)
    }),
    row("pool2d", "pool2d", "q", "X", |a| {
        a[0].pool2d(Pooling::Average, &Windows::new([1, 2]))
            .map(drop)
    }),
    row("col2im", "col2im", "z", "X", |a| {
        a[0].col2im(&Windows::new([1, 1]), [2, 2]).map(drop)
    }),
    row("conv2d", "conv2d", "qqi", "XY2", |a| {
        a[0].conv2d(&a[1], Some(&a[2]), &Windows::new([2, 2]))
            .map(drop)
    }),
    row("conv1d", "conv1d", "tt", "XY", |a| {
        a[0].conv1d(&a[1], None, &Windows::new([1, 4])).map(drop)
    }),
    row("shuffle", "shuffle", "m", "0", |a| {
        Rng::seeded(1).shuffle(&a[0], 0)
    }),
    row("shuffle_together", "shuffle", "mc", "01", |a| {
        Rng::seeded(1).shuffle_together(&[&a[0], &a[1]], 0)
    }),
    row("choice", "choice", "mc", "XY", |a| {
        Rng::seeded(1).choice(&a[0], 2, true, Some(&a[1])).map(drop)
    }),
    row("dropout", "dropout", "m", "X", |a| {
        Rng::seeded(1).dropout(&a[0], 0.5).map(drop)
    }),
    row("alpha_dropout", "alpha_dropout", "m", "X", |a| {
        Rng::seeded(1).alpha_dropout(&a[0], 0.5).map(drop)
    }),
    row("rot90", "neg", "m", "X", |a| {
        a[0].rot90(1, [0, 1])?.neg().map(drop)
    }),
    row("flip_axes", "neg", "m", "X", |a| {
        a[0].flip_axes(..)?.neg().map(drop)
    }),
    row("split", "neg", "m", "X", |a| {
        a[0].split(2, 0)?[1].neg().map(drop)
    }),
    row("split_at", "neg", "m", "X", |a| {
        a[0].split_at([1], 0)?[1].neg().map(drop)
    }),
    row("tear", "neg", "m", "X", |a| {
        a[0].tear(0)?[1].neg().map(drop)
    }),
];

pub(crate) static TABLE: &[&[Row]] = &[
    COMPOSED,
    super::daily::DAILY,
    super::daily::VIEWS,
    super::daily::ELSE,
    super::picks::PICKS,
    super::picks::ELSE,
    super::products::PRODUCTS,
    super::into::PARTS,
    super::into::ORDERED,
    super::into::STATISTICS,
    super::into::PRODUCTS,
    super::factors::FACTORS,
    super::factors::ELSE,
    super::factors::INTERCHANGE,
    super::made::MADE,
    super::samples::SAMPLES,
    super::samples::FITS,
    super::named::NAMED,
    super::named::PARAMETRIC,
    super::named::FLAT,
    super::named::EXACT,
    unary!("m": "neg" neg negi neg_into, "abs" abs absi abs_into, "sign" sign signi sign_into,
        "square" square squarei square_into, "cube" cube cubei cube_into, "reciprocal" reciprocal reciprocali reciprocal_into,
        "one_minus" one_minus one_minusi one_minus_into, "sqrt" sqrt sqrti sqrt_into, "rsqrt" rsqrt rsqrti rsqrt_into,
        "cbrt" cbrt cbrti cbrt_into, "exp" exp expi exp_into, "exp2" exp2 exp2i exp2_into, "expm1" expm1 expm1i expm1_into,
        "log" log logi log_into, "log2" log2 log2i log2_into, "log10" log10 log10i log10_into, "log1p" log1p log1pi log1p_into,
        "sin" sin sini sin_into, "cos" cos cosi cos_into, "tan" tan tani tan_into, "asin" asin asini asin_into,
        "acos" acos acosi acos_into, "atan" atan atani atan_into, "sinh" sinh sinhi sinh_into, "cosh" cosh coshi cosh_into,
        "tanh" tanh tanhi tanh_into, "asinh" asinh asinhi asinh_into, "acosh" acosh acoshi acosh_into,
        "atanh" atanh atanhi atanh_into, "erf" erf erfi erf_into, "erfc" erfc erfci erfc_into,
        "floor" floor floori floor_into, "ceil" ceil ceili ceil_into, "round" round roundi round_into,
        "trunc" trunc trunci trunc_into, "sigmoid" sigmoid sigmoidi sigmoid_into,
        "log_sigmoid" log_sigmoid log_sigmoidi log_sigmoid_into, "softplus" softplus softplusi softplus_into,
        "softsign" softsign softsigni softsign_into, "relu" relu relui relu_into, "relu6" relu6 relu6i relu6_into,
        "leaky_relu" leaky_relu leaky_relui leaky_relu_into, "elu" elu elui elu_into, "selu" selu selui selu_into,
        "gelu" gelu gelui gelu_into, "swish" swish swishi swish_into, "mish" mish mishi mish_into,
        "hard_sigmoid" hard_sigmoid hard_sigmoidi hard_sigmoid_into, "hard_tanh" hard_tanh hard_tanhi hard_tanh_into,
        "rectified_tanh" rectified_tanh rectified_tanhi rectified_tanh_into,
        "rational_tanh" rational_tanh rational_tanhi rational_tanh_into, "step" step stepi step_into,
    ),
    unary!("n": "bit_not" bit_not bit_noti bit_not_into,),
    &[
        row("logical_not", "not", "b", "X", |a| {
            a[0].logical_not().map(drop)
        }),
        row("logical_not_into", "logical_not_into", "bb", "XZ", |a| {
            a[0].logical_not_into(&a[1])
        }),
        row("is_nan", "is_nan", "m", "X", |a| a[0].is_nan().map(drop)),
        row("is_nan_into", "is_nan_into", "mb", "XZ", |a| {
            a[0].is_nan_into(&a[1])
        }),
        row("is_inf", "is_inf", "m", "X", |a| a[0].is_inf().map(drop)),
        row("is_inf_into", "is_inf_into", "mb", "XZ", |a| {
            a[0].is_inf_into(&a[1])
        }),
        row("is_finite", "is_finite", "m", "X", |a| {
            a[0].is_finite().map(drop)
        }),
        row("is_finite_into", "is_finite_into", "mb", "XZ", |a| {
            a[0].is_finite_into(&a[1])
        }),
    ],
    binary!("m": "add" add addi add_into, "sub" sub subi sub_into, "mul" mul muli mul_into, "div" div divi div_into,
        "rsub" rsub rsubi rsub_into, "rdiv" rdiv rdivi rdiv_into, "floor_div" floor_div floor_divi floor_div_into,
        "mod" modulo moduloi modulo_into, "fmod" fmod fmodi fmod_into, "remainder" remainder remainderi remainder_into,
        "pow" pow powi pow_into, "max" maximum maximumi maximum_into, "min" minimum minimumi minimum_into,
        "abs_max" abs_maximum abs_maximumi abs_maximum_into, "abs_min" abs_minimum abs_minimumi abs_minimum_into,
        "atan2" atan2 atan2i atan2_into, "hypot" hypot hypoti hypot_into,
        "log_add_exp" log_add_exp log_add_expi log_add_exp_into,
        "squared_difference" squared_difference squared_differencei squared_difference_into,
    ),
    binary!("n": "bit_and" bit_and bit_andi bit_and_into, "bit_or" bit_or bit_ori bit_or_into,
        "bit_xor" bit_xor bit_xori bit_xor_into, "shift_left" shift_left shift_lefti shift_left_into,
        "shift_right" shift_right shift_righti shift_right_into,
    ),
    compare!("eq" equal equal_into, "ne" not_equal not_equal_into, "lt" less less_into,
        "le" less_equal less_equal_into, "gt" greater greater_into,
        "ge" greater_equal greater_equal_into, "and" logical_and logical_and_into,
        "or" logical_or logical_or_into, "xor" logical_xor logical_xor_into,
    ),
    reduce!("r": "sum" sum sum_into sum_number, "mean" mean mean_into mean_number, "prod" prod prod_into prod_number,
        "max" max max_into max_number, "min" min min_into min_number, "norm1" norm1 norm1_into norm1_number,
        "norm2" norm2 norm2_into norm2_number, "norm_max" norm_max norm_max_into norm_max_number,
        "var" var var_into var_number, "std" std std_into std_number,
        "log_sum_exp" log_sum_exp log_sum_exp_into log_sum_exp_number, "mean_abs" mean_abs mean_abs_into mean_abs_number,
        "min_abs" min_abs min_abs_into min_abs_number, "sum_squares" sum_squares sum_squares_into sum_squares_number,
    ),
    reduce!("j": "count_nonzero" count_nonzero count_nonzero_into count_nonzero_number,),
    reduce!("u": "any" any any_into any_true, "all" all all_into all_true,),
    vectors!(
        "add" add_row_vector addi_row_vector add_column_vector addi_column_vector,
        "sub" sub_row_vector subi_row_vector sub_column_vector subi_column_vector,
        "mul" mul_row_vector muli_row_vector mul_column_vector muli_column_vector,
        "div" div_row_vector divi_row_vector div_column_vector divi_column_vector,
        "rsub" rsub_row_vector rsubi_row_vector rsub_column_vector rsubi_column_vector,
        "rdiv" rdiv_row_vector rdivi_row_vector rdiv_column_vector rdivi_column_vector,
    ),
    single!(
        "var" var_ddof(0, 0), "std" std_ddof(0, 0), "argmax" argmax(0), "argmin" argmin(0), "arg_abs_max" arg_abs_max(0),
        "arg_abs_min" arg_abs_min(0), "cumsum" cumsum(0), "cumprod" cumprod(0), "cummax" cummax(0), "cummin" cummin(0),
        "argmax" argmax_number(), "argmin" argmin_number(), "softmax" softmax(1), "log_softmax" log_softmax(1),
        "sort" sort(0), "sort" sort_with(0, Sorting::descending()), "argsort" argsort(0),
        "argsort" argsort_with(0, Sorting::descending()), "sort_with_indices" sort_with_indices(0, Sorting::ascending()),
        "sort_rows" sort_rows(0, Sorting::ascending()), "sort_columns" sort_columns(0, Sorting::ascending()),
        "median" median(0), "nan_median" nan_median(0), "median_number" median_number(), "quantile" quantile(0.5, 0),
        "quantile_with" quantile_with(0.5, 0, QuantileMethod::Linear), "nan_quantile" nan_quantile(0.5, 0, QuantileMethod::Linear),
        "quantiles" quantiles(&[0.5], 0, QuantileMethod::Linear), "percentile" percentile(50.0, 0),
        "percentile_with" percentile_with(50.0, 0, QuantileMethod::Linear), "partition" partition([1], 0),
        "argpartition" argpartition([1], 0), "topk" topk(2, 0), "topk" topk_with(2, 0, Sorting::descending()),
        "unique" unique(), "unique_counts" unique_counts(), "unique_all" unique_all(), "histogram" histogram(4),
        "exp" apply(UnaryOp::Exp), "dup" dup(), "dup" dup_order(Order::F), "cast" cast(DType::F64),
        "to_f64_vec" to_f64_vec(), "to_bytes" to_bytes(), "get_scalar" get_scalar([0, 0]), "get_f64" get_f64([0, 0]),
        "get_i64" get_i64([0, 0]), "get_rows" get_rows([0]), "get_columns" get_columns([0]), "nonzero" nonzero(),
        "first_index" first_index(), "last_index" last_index(), "pad" pad([1, 1], 0), "repeat" repeat(2, 0),
        "clip" clip(0, 1), "map" map(|x: f32| x + 1.0), "diag" diag(0), "detach" detach(), "leverage" leverage(),
        "migrate" migrate(), "migrate_or_detach" migrate_or_detach(), "reshape_order" reshape_order([4, 3], Order::F),
    ),
    &[
        row("to_vec", "to_vec", "m", "X", |a| {
            a[0].to_vec::<f32>().map(drop)
        }),
        row("view", "view", "m", "X", |a| a[0].view::<f32>().map(drop)),
        row("view_mut", "view_mut", "m", "X", |a| {
            a[0].view_mut::<f32>().map(drop)
        }),
        row("first_index_along", "first_index_along", "m", "X", |a| {
            a[0].first_index_along(0).map(drop)
        }),
        row("last_index_along", "last_index_along", "m", "X", |a| {
            a[0].last_index_along(0).map(drop)
        }),
        row("applyi", "exp", "m", "Z", |a| {
            a[0].applyi(UnaryOp::Exp).map(drop)
        }),
        row("to_dlpack", "to_dlpack", "m", "X", |a| {
            a[0].to_dlpack().map(drop)
        }),
        row("to_dlpack_mut", "to_dlpack_mut", "m", "X", |a| {
            a[0].to_dlpack_mut().map(drop)
        }),
        row("op", "add", "mm", "XY", |a| {
            op("add")?.on(&[&a[0], &a[1]]).run().map(drop)
        }),
        row("op", "add", "mmm", "XYZ", |a| {
            let call = op("add")?.on(&[&a[0], &a[1]]);
            call.output(&a[2]).run().map(drop)
        }),
        row("op", "sum", "mr", "XZ", |a| {
            let call = op("sum")?.on(&[&a[0]]).axes(0);
            call.output(&a[1]).run().map(drop)
        }),
        row("argmax", "argmax", "mj", "XZ", |a| {
            let call = op("argmax")?.on(&[&a[0]]).axes(0);
            call.output(&a[1]).run().map(drop)
        }),
        row("op", "cumsum", "mm", "XZ", |a| {
            let call = op("cumsum")?.on(&[&a[0]]).axes(0);
            call.output(&a[1]).run().map(drop)
        }),
        row("apply_into", "exp", "mm", "XZ", |a| {
            a[0].apply_into(UnaryOp::Exp, &a[1])
        }),
        row("apply_with_into", "add", "mmm", "XYZ", |a| {
            a[0].apply_with_into(BinaryOp::Add, &a[1], &a[2])
        }),
        row("map_into", "map_into", "mm", "XZ", |a| {
            a[0].map_into(|x: f32| x + 1.0, &a[1])
        }),
        row("apply_with", "add", "mm", "XY", |a| {
            a[0].apply_with(BinaryOp::Add, &a[1]).map(drop)
        }),
        row("apply_withi", "add", "mm", "ZY", |a| {
            a[0].apply_withi(BinaryOp::Add, &a[1]).map(drop)
        }),
        row("mapi", "mapi", "m", "Z", |a| {
            a[0].mapi(|x: f32| x + 1.0).map(drop)
        }),
        row("clipi", "clipi", "m", "Z", |a| a[0].clipi(0, 1).map(drop)),
        row("select", "select", "bmm", "XY2", |a| {
            a[0].select(&a[1], &a[2]).map(drop)
        }),
        row("concat", "concat", "mm", "01", |a| {
            NdArray::concat(&[&a[0], &a[1]], 0).map(drop)
        }),
        row("hstack", "hstack", "mm", "01", |a| {
            NdArray::hstack(&[&a[0], &a[1]]).map(drop)
        }),
        row("vstack", "vstack", "mm", "01", |a| {
            NdArray::vstack(&[&a[0], &a[1]]).map(drop)
        }),
        row("stack", "stack", "mm", "01", |a| {
            NdArray::stack(&[&a[0], &a[1]], 0).map(drop)
        }),
        row("to_flattened", "to_flattened", "mm", "01", |a| {
            NdArray::to_flattened(Order::C, &[&a[0], &a[1]]).map(drop)
        }),
        row("lexsort", "lexsort", "rr", "01", |a| {
            NdArray::lexsort(&[&a[0], &a[1]]).map(drop)
        }),
        row("assign", "assign", "mm", "ZY", |a| {
            a[0].assign(&a[1]).map(drop)
        }),
        row("set", "set", "m", "X", |a| a[0].set([0, 0], 1).map(drop)),
        row("item", "item", "o", "X", |a| a[0].item::<f32>().map(drop)),
        row("put", "put", "mm", "ZY", |a| {
            a[0].put(&s![..], &a[1]).map(drop)
        }),
        row("put_row", "put_row", "mr", "ZY", |a| {
            a[0].put_row(0, &a[1]).map(drop)
        }),
        row("put_column", "put_column", "mc", "ZY", |a| {
            a[0].put_column(0, &a[1]).map(drop)
        }),
        row("put_slice", "put_slice", "mr", "ZY", |a| {
            a[0].put_slice(0, 0, &a[1]).map(drop)
        }),
        row("take", "take", "mi", "XY", |a| {
            a[0].take(&a[1], 0).map(drop)
        }),
        row("scatter_addi", "scatter_addi", "miw", "ZXY", |a| {
            a[0].scatter_addi(&a[1], &a[2], 0).map(drop)
        }),
        row("scatter_put", "scatter_put", "miw", "ZXY", |a| {
            a[0].scatter_put(&a[1], &a[2], 0).map(drop)
        }),
        row("mmul", "mmul", "ss", "XY", |a| a[0].mmul(&a[1]).map(drop)),
        row("mmul_into", "mmul_into", "sss", "XYZ", |a| {
            a[0].mmul_into(&a[1], &a[2])
        }),
        row("gemm_into", "gemm_into", "sss", "XYZ", |a| {
            a[0].gemm_into(&a[1], 2.0, 1.0, &a[2])
        }),
        row("matmul", "matmul", "ss", "XY", |a| {
            a[0].matmul(&a[1]).map(drop)
        }),
        row("matmul_into", "matmul_into", "sss", "XYZ", |a| {
            a[0].matmul_into(&a[1], &a[2])
        }),
        row("outer", "outer", "rr", "XY", |a| {
            a[0].outer(&a[1]).map(drop)
        }),
        row("replace_where", "replace_where", "mbm", "ZXY", |a| {
            a[0].replace_where(&a[1], &a[2]).map(drop)
        }),
        row("select_where", "select_where", "mb", "XY", |a| {
            a[0].select_where(&a[1]).map(drop)
        }),
        row("all_close", "all_close", "mm", "XY", |a| {
            a[0].all_close(&a[1], 0.1, 0.1).map(drop)
        }),
        row("softmax_into", "softmax", "mm", "XZ", |a| {
            a[0].softmax_into(1, &a[1])
        }),
        row("log_softmax_into", "log_softmax", "mm", "XZ", |a| {
            a[0].log_softmax_into(1, &a[1])
        }),
        row("layer_norm", "layer_norm", "mrr", "XY2", |a| {
            a[0].layer_norm(1, Some(&a[1]), Some(&a[2]), 0.1).map(drop)
        }),
        row("sorti", "sorti", "m", "Z", |a| a[0].sorti(0).map(drop)),
        row("sorti_with", "sorti", "m", "Z", |a| {
            a[0].sorti_with(0, Sorting::descending()).map(drop)
        }),
        row("sorti_with_indices", "sorti_with_indices", "m", "X", |a| {
            a[0].sorti_with_indices(0, Sorting::descending()).map(drop)
        }),
        row("histogram_with", "histogram", "vv", "XZ", |a| {
            let options = HistogramOptions {
                weights: Some(&a[1]),
                ..HistogramOptions::default()
            };
            a[0].histogram_with(4, options).map(drop)
        }),
        row("bincount", "bincount", "k", "X", |a| {
            a[0].bincount(0).map(drop)
        }),
        row("bincount_weighted", "bincount", "kv", "XY", |a| {
            a[0].bincount_weighted(&a[1], 0).map(drop)
        }),
        row("searchsorted", "searchsorted", "vm", "XY", |a| {
            a[0].searchsorted(&a[1], Side::Left).map(drop)
        }),
        row("digitize", "digitize", "mv", "XY", |a| {
            a[0].digitize(&a[1], false).map(drop)
        }),
        row("leverage_to", "leverage_to", "m", "X", |a| {
            a[0].leverage_to(&Workspace::new("OTHER")).map(drop)
        }),
        row("leverage_or_detach", "detach", "m", "X", |a| {
            a[0].leverage_or_detach(&Workspace::new("OTHER")).map(drop)
        }),
        row("zip_map", "zip_map", "mm", "XY", |a| {
            NdArray::zip_map([&a[0], &a[1]], |x: f32, y: f32| x + y).map(drop)
        }),
        row("zip_map_into", "zip_map_into", "mmm", "XYZ", |a| {
            NdArray::zip_map_into([&a[0], &a[1]], &a[2], |x: f32, y: f32| x + y)
        }),
        row("validate", "validate", "m", "X", |a| a[0].validate()),
        // Views touch no element: what is made of a stale array is refused when it is used.
        row("get", "neg", "m", "X", |a| {
            a[0].get(&[point(0), interval(0, 2)])?.neg().map(drop)
        }),
        row("row", "neg", "m", "X", |a| a[0].row(0)?.neg().map(drop)),
        row("column", "neg", "m", "X", |a| {
            a[0].column(0)?.neg().map(drop)
        }),
        row("slice", "neg", "m", "X", |a| {
            a[0].slice(0, 0)?.neg().map(drop)
        }),
        row("unstack", "neg", "m", "X", |a| {
            a[0].unstack(0)?[1].neg().map(drop)
        }),
        row("transpose", "neg", "m", "X", |a| {
            a[0].transpose().neg().map(drop)
        }),
        row("permute", "neg", "m", "X", |a| {
            a[0].permute([1, 0])?.neg().map(drop)
        }),
        row("swap_axes", "neg", "m", "X", |a| {
            a[0].swap_axes(0, 1)?.neg().map(drop)
        }),
        row("move_axis", "neg", "m", "X", |a| {
            a[0].move_axis(0, 1)?.neg().map(drop)
        }),
        row("broadcast_to", "neg", "m", "X", |a| {
            a[0].broadcast_to([2, 3, 4])?.neg().map(drop)
        }),
        row("reshape", "neg", "m", "X", |a| {
            a[0].reshape([2, 6])?.neg().map(drop)
        }),
        row("view_as", "neg", "m", "X", |a| {
            a[0].view_as([2, 6])?.neg().map(drop)
        }),
        row("ravel", "neg", "m", "X", |a| a[0].ravel()?.neg().map(drop)),
        row("expand_dims", "neg", "m", "X", |a| {
            a[0].expand_dims(0)?.neg().map(drop)
        }),
        row("squeeze", "neg", "o", "X", |a| {
            a[0].squeeze(0)?.neg().map(drop)
        }),
        row("squeeze_all", "neg", "m", "X", |a| {
            a[0].squeeze_all().neg().map(drop)
        }),
        row("flip", "neg", "m", "X", |a| a[0].flip(0)?.neg().map(drop)),
        row("diagonal", "neg", "m", "X", |a| {
            a[0].diagonal(0)?.neg().map(drop)
        }),
        row("windows", "neg", "m", "X", |a| {
            a[0].windows(0, 2, 1)?.neg().map(drop)
        }),
        row("tensor_along_dimension", "neg", "m", "X", |a| {
            a[0].tensor_along_dimension(1, keep(0))?.neg().map(drop)
        }),
        row("lazy", "eval", "m", "0", |a| {
            a[0].lazy().apply(UnaryOp::Neg).eval().map(drop)
        }),
    ],
    single!("tile" tile([2, 2]), "matches" matches(&Condition::greater(0)),),
    &[
        row("einsum", "einsum", "ss", "01", |a| {
            NdArray::einsum("ij,jk->ik", &[&a[0], &a[1]]).map(drop)
        }),
        row("tensordot", "tensordot", "ss", "XY", |a| {
            a[0].tensordot(&a[1], 1).map(drop)
        }),
        row("inner", "inner", "rr", "XY", |a| {
            a[0].inner(&a[1]).map(drop)
        }),
        row("vdot", "vdot", "mm", "XY", |a| a[0].vdot(&a[1]).map(drop)),
        row("kron", "kron", "mm", "XY", |a| a[0].kron(&a[1]).map(drop)),
        row("cross", "cross", "cc", "XY", |a| {
            a[0].cross(&a[1]).map(drop)
        }),
        row("trace", "trace", "s", "X", |a| a[0].trace().map(drop)),
        row("matrix_power", "matrix_power", "s", "X", |a| {
            a[0].matrix_power(3).map(drop)
        }),
        row("multi_dot", "multi_dot", "sss", "012", |a| {
            NdArray::multi_dot(&[&a[0], &a[1], &a[2]]).map(drop)
        }),
    ],
];
