//! The same operations under the checks: each is counted, under one name and once, and a NaN that it makes is an error.

use lodestride_array::kernels::KernelError;
use lodestride_array::{ArrayErrorKind, Checks, NdArray, Profile};

use super::made::SOURCES;
use super::table::{Row, TABLE, make};
use crate::support::report;

/// What is no operation: single elements, typed views, and arrays given back or lent as they are.
const UNCOUNTED: &[&str] = &[
    "detach",
    "get_f64",
    "get_flat",
    "get_i64",
    "get_scalar",
    "item",
    "leverage",
    "leverage_or_detach",
    "leverage_to",
    "migrate",
    "migrate_or_detach",
    "set",
    "set_flat",
    "to_dlpack",
    "to_dlpack_mut",
    "validate",
    "view",
    "view_mut",
];

/// What is wrong with how a call is counted.
fn miscounted(names: [&str; 2], uncounted: bool, profile: &Profile) -> Option<String> {
    if uncounted {
        return (!profile.rows().is_empty()).then(|| format!("is counted:\n{profile}"));
    }
    if profile.rows().is_empty() {
        return Some("is not counted".to_owned());
    }
    if profile.rows().iter().any(|row| row.bytes == 0) {
        return Some(format!("moves nothing:\n{profile}"));
    }
    let own = names.into_iter().find_map(|name| profile.get(name));
    // What writes into an array of the caller is one call, also where the result is made elsewhere and copied.
    if names[1].ends_with("_into") && (own.is_none() || profile.rows().len() != 1) {
        return Some(format!("is not one row of its own:\n{profile}"));
    }
    match own {
        Some(row) if row.calls != 1 => Some(format!("is counted {} times", row.calls)),
        _ => None,
    }
}

fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().copied().flatten()
}

#[test]
fn every_operation_is_counted_once() {
    let (mut failures, mut count) = (Vec::new(), 0);
    for row in rows() {
        count += 1;
        let arrays: Vec<NdArray> = row.arrays.chars().map(make).collect();
        let (done, profile) = Profile::of(|| (row.call)(&arrays));
        let wrong = match done {
            Err(error) => Some(format!("failed: {error}")),
            Ok(()) => {
                let uncounted = UNCOUNTED.contains(&row.method);
                miscounted([row.op, row.method], uncounted, &profile)
            }
        };
        failures.extend(wrong.map(|wrong| format!("{} {wrong}", row.method)));
    }
    for &(name, call) in SOURCES {
        count += 1;
        let (done, profile) = Profile::of(call);
        let wrong = match done {
            Err(error) => Some(format!("failed: {error}")),
            Ok(()) => miscounted([name, name], false, &profile),
        };
        failures.extend(wrong.map(|wrong| format!("{name} {wrong}")));
    }
    report(count, &failures);
}

/// Operations that answer NaN with numbers, positions or truth values, that do not read what they are given, or that hand
/// elements out as they are.
const ANSWER_NAN: &[&str] = &[
    "all",
    "all_close",
    "all_distances",
    "all_into",
    "all_true",
    "any",
    "any_into",
    "any_true",
    "arg_abs_max",
    "arg_abs_max_into",
    "arg_abs_min",
    "arg_abs_min_into",
    "argmax",
    "argmax_into",
    "argmax_number",
    "argmin",
    "argmin_into",
    "argmin_number",
    "argpartition",
    "argpartition_into",
    "argsort",
    "argsort_into",
    "argsort_with",
    "argsort_with_into",
    "count_nonzero",
    "count_nonzero_into",
    "count_nonzero_number",
    "count_zero",
    "count_zero_into",
    "eps_equal",
    "eps_equal_into",
    "eps_not_equal",
    "eps_not_equal_into",
    "equal",
    "equal_into",
    "equals_with_eps",
    "fill_beta",
    "fill_exponential",
    "fill_gamma",
    "fill_log_normal",
    "fill_normal",
    "fill_truncated_normal",
    "fill_uniform",
    "first_index",
    "first_index_along",
    "first_index_along_into",
    "greater",
    "greater_equal",
    "greater_equal_into",
    "greater_into",
    "iamax",
    "iamin",
    "intersection",
    "is_close",
    "is_finite",
    "is_finite_into",
    "is_in",
    "is_in_into",
    "is_inf",
    "is_inf_into",
    "is_max",
    "is_max_into",
    "is_nan",
    "is_nan_into",
    "last_index",
    "last_index_along",
    "last_index_along_into",
    "less",
    "less_equal",
    "less_equal_into",
    "less_into",
    "lexsort_into",
    "logical_and",
    "logical_and_into",
    "logical_or",
    "logical_or_into",
    "logical_xor",
    "logical_xor_into",
    "matches",
    "matches_into",
    "nan_cumprod",
    "nan_cumprod_into",
    "nan_cumsum",
    "nan_cumsum_into",
    "nan_prod",
    "nan_prod_into",
    "nan_sum",
    "nan_sum_into",
    "nonzero",
    "not_equal",
    "not_equal_into",
    "one_hot_into",
    "replace_nan",
    "replace_nan_into",
    "replace_not_finite",
    "replace_not_finite_into",
    "searchsorted",
    "searchsorted_into",
    "sign_bit",
    "sign_bit_into",
    "step",
    "step_into",
    "step_with",
    "step_with_into",
    "stepi",
    "stepi_with",
    "to_bytes",
    "to_ndarray",
    "to_vec",
    "zero_fraction",
];

#[test]
fn every_operation_reports_a_nan_it_makes() {
    let (mut failures, mut count) = (Vec::new(), 0);
    for row in rows() {
        let arrays: Vec<NdArray> = row.arrays.chars().map(make).collect();
        let floats: Vec<&NdArray> = (arrays.iter())
            .filter(|array| array.dtype().is_float())
            .collect();
        if floats.is_empty() || UNCOUNTED.contains(&row.method) {
            continue;
        }
        count += 1;
        for array in floats {
            array.assign(f32::NAN).expect("may be written");
        }
        let found = Checks::none().nan(true).scope(|| (row.call)(&arrays));
        let exempt = ANSWER_NAN.contains(&row.method);
        let wrong = match found {
            Ok(()) if exempt => None,
            Ok(()) => Some("does not report the NaN".to_owned()),
            Err(error) => match error.kind() {
                ArrayErrorKind::NotFinite(_) if exempt => Some(format!("reports: {error}")),
                ArrayErrorKind::NotFinite(_) => None,
                // Of NaN alone there is no position.
                ArrayErrorKind::Empty { .. } if row.method.starts_with("nan_arg") => None,
                // Solvers and the like do not take NaN at all.
                #[cfg(feature = "linalg")]
                ArrayErrorKind::Linalg { .. } => None,
                ArrayErrorKind::Kernel {
                    source:
                        KernelError::InvalidArgument { value, .. }
                        | KernelError::OutOfRange { value, .. }
                        | KernelError::Edges { edge: value, .. },
                }
                | ArrayErrorKind::NotAscending { value, .. }
                    if value.is_nan() =>
                {
                    None
                }
                _ => Some(format!("refuses: {error}")),
            },
        };
        failures.extend(wrong.map(|wrong| format!("{} {wrong}", row.method)));
    }
    report(count, &failures);
}
