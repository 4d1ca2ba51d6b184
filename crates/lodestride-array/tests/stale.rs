//! Every public operation is fed a leaked array, an outdated one, and one that a guard holds, in each argument place: it must
//! refuse with the right error, the right argument and its own name, and must not have changed any other array.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod stale {
    /// A row for each, one a line: the method, its arrays, their letters, and the call.
    macro_rules! rows {
        ($($method:ident $arrays:literal $letters:literal |$a:ident| $call:expr;)*) => {
            &[$(
                $crate::stale::table::row(
                    stringify!($method), stringify!($method), $arrays, $letters, |$a| $call.map(drop),
                )
            ),*]
        };
    }

    mod daily;
    mod factors;
    mod into;
    mod made;
    mod named;
    pub(crate) mod picks;
    mod products;
    mod samples;
    pub(crate) mod table;
    mod watched;
}

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use lodestride_array::{AccessError, Argument, NdArray, Workspace, WorkspaceConfig};
use stale::table::{Row, TABLE, make};

fn letter(argument: Argument) -> String {
    match argument {
        Argument::X => "X".to_owned(),
        Argument::Y => "Y".to_owned(),
        Argument::Z => "Z".to_owned(),
        Argument::Input(index) | Argument::Output(index) => index.to_string(),
    }
}

/// Why an array is refused.
fn name(error: &AccessError) -> &'static str {
    match error {
        AccessError::Leaked(_) => "leaked",
        AccessError::Outdated(_) => "outdated",
        AccessError::InUse(_) => "in use",
        AccessError::ReadOnly(_) => "read-only",
    }
}

/// Calls with the arrays given; the failure, if it is not refused as it must be.
fn refuse(row: &Row, place: usize, arrays: &[NdArray], wanted: &str) -> Option<String> {
    let others = |skipped: usize| {
        let kept = arrays
            .iter()
            .enumerate()
            .filter(move |(at, _)| *at != skipped);
        kept.map(|(_, array)| array.to_bytes().expect("readable"))
            .collect::<Vec<_>>()
    };
    let before = others(place);
    let what = match (row.call)(arrays) {
        Ok(()) => "was done".to_owned(),
        Err(error) => match error.kind().access() {
            None => format!("another error: {error}"),
            Some((op, argument, source)) => {
                let letter = letter(argument);
                let named = op == row.op && row.letters[place..].starts_with(&letter);
                if named && name(source) == wanted && error.location().file().contains("stale") {
                    if others(place) == before {
                        return None;
                    }
                    "refused, but another array was changed".to_owned()
                } else {
                    format!("{} as {op} {letter} at {}", name(source), error.location())
                }
            }
        },
    };
    Some(format!("{} place {place} {wanted}: {what}", row.method))
}

/// Methods that give back an array on the heap as it is, whoever uses it, or only look at its workspace.
const ALIASES: &[&str] = &[
    "detach",
    "leverage",
    "leverage_or_detach",
    "leverage_to",
    "migrate",
    "migrate_or_detach",
    "validate",
];

/// The refusals of one argument place.
fn check(row: &Row, place: usize, failures: &mut Vec<String>) {
    let with = |replaced: NdArray| -> Vec<NdArray> {
        let forms = row.arrays.chars().enumerate();
        forms
            .map(|(at, form)| {
                if at == place {
                    replaced.clone()
                } else {
                    make(form)
                }
            })
            .collect()
    };
    let Some(form) = row.arrays.chars().nth(place) else {
        return;
    };
    let workspace = Workspace::new("SWEPT");
    let made = workspace.scope(|_| with(make(form)));
    let Ok(inside) = made else { return };
    // Only the swept one may be stale.
    let stale = inside[place].clone();
    let arrays = with(stale);
    failures.extend(refuse(row, place, &arrays, "leaked"));
    let again = Workspace::scope(&workspace, |_| {
        lodestride_array::scope_out(|| refuse(row, place, &arrays, "outdated"))
    });
    failures.extend(again.expect("opens"));
    if !ALIASES.contains(&row.method) {
        let held = with(make(form));
        let guard = held[place].buffer().write().expect("nobody else has it");
        failures.extend(refuse(row, place, &held, "in use"));
        drop(guard);
    }
    // A block of a circular workspace that came round.
    let queue = Workspace::with_config("QUEUE", WorkspaceConfig::new().circular(2));
    let turn = || queue.scope(|_| make(form)).expect("opens");
    let (old, _, _) = (turn(), turn(), turn());
    failures.extend(refuse(row, place, &with(old), "outdated"));
}

#[test]
fn every_operation_refuses_what_it_may_not_touch() {
    let mut failures = Vec::new();
    let mut places = 0;
    for row in TABLE.iter().copied().flatten() {
        assert_eq!(row.arrays.len(), row.letters.len(), "{}", row.method);
        for place in 0..row.arrays.len() {
            check(row, place, &mut failures);
            places += 1;
        }
        // With nothing stale it is done: the row calls the operation as it may be called.
        let fine: Vec<NdArray> = row.arrays.chars().map(make).collect();
        if let Err(error) = (row.call)(&fine) {
            failures.push(format!("{}: refused good arrays: {error}", row.method));
        }
    }
    support::report(places, &failures);
    assert!(places > 800, "{places} argument places");
}

/// Source files whose public methods all have a row in the tables, or stand in `TOUCHES_NOTHING`. A file comes here when its methods
/// have rows; a method added to one of them needs one at once.
const SWEPT: &[&str] = &[
    "arithmetic.rs",
    "arrange.rs",
    "array.rs",
    "bitwise.rs",
    "blas/banded.rs",
    "blas/level1.rs",
    "blas/level2.rs",
    "blas/level3.rs",
    "blas/packed.rs",
    "choose.rs",
    "combine.rs",
    "combine/blocks.rs",
    "compare.rs",
    "compute.rs",
    "condition.rs",
    "conditional.rs",
    "convert.rs",
    "convolution.rs",
    "convolution/into.rs",
    "convolution/vectors.rs",
    "create.rs",
    "create/placed.rs",
    "create/spaced.rs",
    "distance.rs",
    "dlpack.rs",
    "edit.rs",
    "einsum.rs",
    "fancy.rs",
    "fancy/outer.rs",
    "fused.rs",
    "gather.rs",
    "get_put.rs",
    "grid.rs",
    "grow.rs",
    #[cfg(feature = "ndarray")]
    "interchange.rs",
    "lazy.rs",
    "linalg.rs",
    #[cfg(feature = "linalg")]
    "linalg/eigen.rs",
    #[cfg(feature = "linalg")]
    "linalg/into.rs",
    #[cfg(feature = "linalg")]
    "linalg/norms.rs",
    #[cfg(feature = "linalg")]
    "linalg/polynomial.rs",
    #[cfg(feature = "linalg")]
    "linalg/solve.rs",
    #[cfg(feature = "linalg")]
    "linalg/svd.rs",
    "masks.rs",
    "math/activation.rs",
    "math/derivative.rs",
    "math/exponential.rs",
    "math/floats.rs",
    "math/integers.rs",
    "math/magnitude.rs",
    "math/pairs.rs",
    "math/parametric.rs",
    "math/rounding.rs",
    "math/scaled.rs",
    "math/trigonometric.rs",
    "named.rs",
    "nested.rs",
    "pad.rs",
    "partition.rs",
    "polynomial.rs",
    "products.rs",
    "products_into.rs",
    "random.rs",
    "random/choose.rs",
    "random/distributions.rs",
    "random/integers.rs",
    #[cfg(feature = "linalg")]
    "random/multivariate.rs",
    "random/vectors.rs",
    "reduce.rs",
    "reduce/information.rs",
    "reduce/nan.rs",
    "reduce/normalise.rs",
    "reduce/norms.rs",
    "reduce/statistics.rs",
    "reduce/totals.rs",
    "samples/area.rs",
    "samples/interpolate.rs",
    "samples/slope.rs",
    "scatter.rs",
    "scatter_nd.rs",
    "several_axes.rs",
    "sort.rs",
    "sort/histogram.rs",
    "sort/histogram2d.rs",
    "sort/quantile.rs",
    "sort/search.rs",
    "sort/select.rs",
    "sort/sets.rs",
    "sort/unique.rs",
    "transfer.rs",
    "typed.rs",
    "vectors.rs",
    "view.rs",
];

/// Source files that may be left out: they print what an array is and say in the text that it may not be read.
const PRINTING: &[&str] = &["display/explain.rs", "display/options.rs"];

/// Methods that touch no element of an array: constructors, and what an array knows about itself.
const TOUCHES_NOTHING: &[&str] = &[
    "arange",
    "arange_of",
    "bernoulli",
    "beta",
    "beta_of",
    "binomial",
    "buffer",
    "capacity",
    "columns",
    "copy_ndarray",
    "dtype",
    "einsum_path",
    "empty_like",
    "exponential",
    "exponential_of",
    "eye",
    "eye_at",
    "eye_at_of",
    "eye_of",
    "from_buffer",
    "from_dlpack",
    "from_fn",
    "from_ndarray",
    "from_nested",
    "from_vec",
    "from_vec_order",
    "full",
    "full_like",
    "full_of",
    "gamma",
    "gamma_of",
    "geomspace",
    "geomspace_of",
    "indices",
    "integers",
    "integers_of",
    "is_attached",
    "is_column_vector",
    "is_empty",
    "is_in_scope",
    "is_matrix",
    "is_row_vector",
    "is_scalar",
    "is_square",
    "is_vector",
    "is_view",
    "layout",
    "len",
    "linspace",
    "linspace_of",
    "linspace_open",
    "linspace_open_of",
    "log_normal",
    "log_normal_of",
    "logspace",
    "logspace_of",
    "new",
    "normal",
    "normal_of",
    "ones",
    "ones_like",
    "ones_of",
    "operand",
    "order",
    "orthogonal",
    "orthogonal_of",
    "permutation",
    "poisson",
    "rand",
    "rand_of",
    "randn",
    "randn_of",
    "rank",
    "recycled",
    "recycled_packed",
    "reserve",
    "rotg",
    "rotmg",
    "rows",
    "scalar",
    "seeded",
    "set_seed",
    "shape",
    "shares_memory",
    "shrink_to_fit",
    "size",
    "strides",
    "tensors_along_dimension",
    "tri",
    "tril_indices",
    "triu_indices",
    "truncate",
    "truncated_normal",
    "truncated_normal_of",
    "uniform",
    "uniform_of",
    "zeros",
    "zeros_like",
    "zeros_of",
];

/// The public functions and methods of arrays, of arrays that grow and of random generators in a source file.
fn methods(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    let swept = ["impl NdArray {", "impl GrowArray {", "impl Rng {"];
    for line in text.lines() {
        let method = line.strip_prefix("    pub fn ").filter(|_| inside);
        if line.starts_with("impl") {
            inside = swept.iter().any(|start| line.starts_with(start));
        } else if let Some(rest) = method.or_else(|| line.strip_prefix("pub fn ")) {
            let name = rest
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next();
            found.extend(name.map(str::to_owned));
        }
    }
    found
}

/// The source files of a folder, as paths from `source`.
fn files(source: &Path, folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("sources are there");
    let paths = entries.map(|entry| entry.expect("can be read").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                return files(source, &path);
            }
            let within = path.strip_prefix(source).expect("is below it");
            let parts = within.iter().map(|part| part.to_str().expect("is ASCII"));
            vec![parts.collect::<Vec<_>>().join("/")]
        })
        .collect()
}

#[test]
fn no_file_with_methods_is_left_out() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let has_no_rows = |file: &str| {
        PRINTING.contains(&file)
            || (cfg!(not(feature = "linalg"))
                && (file.starts_with("linalg/") || file == "random/multivariate.rs"))
            || (cfg!(not(feature = "ndarray")) && file == "interchange.rs")
    };
    let mut left_out = files(&source, &source);
    left_out.retain(|file| !SWEPT.contains(&&**file) && !has_no_rows(file));
    left_out.retain(|file| {
        let text = std::fs::read_to_string(source.join(file)).expect("can be read");
        !methods(&text).is_empty()
    });
    assert!(left_out.is_empty(), "not in `SWEPT`: {left_out:#?}");
}

#[test]
fn every_method_has_its_row() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let rows: BTreeSet<&str> = (TABLE.iter().copied().flatten())
        .map(|row| row.method)
        .collect();
    let mut missing = Vec::new();
    let mut count = 0;
    for file in SWEPT {
        let text =
            std::fs::read_to_string(source.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        for method in methods(&text) {
            count += 1;
            if !rows.contains(&*method) && !TOUCHES_NOTHING.contains(&&*method) {
                missing.push(format!("{file}: {method}"));
            }
        }
    }
    assert!(count > 400, "{count} methods were found");
    assert!(
        missing.is_empty(),
        "without a row in stale/table.rs: {missing:#?}"
    );
}
