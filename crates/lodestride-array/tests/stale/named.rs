//! Rows of operations called by name, of functions with parameters and of elements by their flat place.

use lodestride_array::kernels::UnaryOp;
use lodestride_array::{NdArray, Result, op};

use super::table::{Row, row};

/// Calls by name: of one operand or two, new or into the last array.
macro_rules! called {
    ($($arrays:literal $letters:literal $name:literal $([$($set:tt)*])?;)*) => {
        &[$( row($name, $name, $arrays, $letters, |a| called($name, a, $letters, |call| call $($($set)*)?)) ),*]
    };
}

fn called(
    name: &str,
    arrays: &[NdArray],
    letters: &str,
    set: for<'a> fn(lodestride_array::OpCall<'a>) -> lodestride_array::OpCall<'a>,
) -> Result<()> {
    let inputs: Vec<&NdArray> = arrays.iter().collect();
    match letters.strip_suffix('Z') {
        Some(read) => {
            let call = set(op(name)?.on(&inputs[..read.len()]));
            call.output(inputs[read.len()]).run().map(drop)
        }
        None => set(op(name)?.on(&inputs)).run().map(drop),
    }
}

pub(super) const NAMED: &[Row] = called! {
    "m" "X" "exp";
    "mm" "XZ" "exp";
    "mm" "XY" "add";
    "mmm" "XYZ" "add";
    "mr" "XY" "add" [.axes(1)];
    "m" "X" "sum" [.axes(0)];
    "mr" "XZ" "sum" [.axes(0)];
    "mr" "XZ" "var" [.axes(0).arg(0)];
    "m" "X" "argmax" [.axes(0)];
    "mj" "XZ" "argmax" [.axes(0)];
    "m" "X" "cumsum" [.axes(0)];
    "mm" "XZ" "cumsum" [.axes(0)];
    "m" "X" "identity";
    "mm" "XY" "assign";
    "m" "X" "softmax";
    "mm" "XZ" "softmax";
    "m" "X" "log_softmax";
    "m" "X" "is_max";
    "m" "X" "reverse";
    "m" "X" "clip" [.arg(0).arg(1)];
    "m" "X" "clip_by_norm" [.arg(1)];
    "m" "X" "stabilize";
    "m" "X" "times_one_minus";
    "m" "X" "unit_vec";
    "m" "X" "standardize";
    "m" "X" "replace_nan";
    "s" "X" "matrix_power" [.arg(3)];
    "m" "X" "histogram" [.arg(3)];
    "m" "X" "median";
    "m" "X" "percentile" [.arg(30)];
    "m" "X" "entropy";
    "m" "X" "log_entropy";
    "m" "X" "shannon_entropy";
    "m" "X" "count_zero";
    "m" "X" "zero_fraction";
    "m" "X" "first_index";
    "m" "X" "last_index";
    "mm" "XY" "maximum_magnitude";
    "mmm" "XYZ" "minimum_magnitude";
    "mm" "XY" "relative_error";
    "mm" "XY" "eps_equal";
    "mm" "XY" "equals_with_eps";
    "m" "X" "tanh_derivative";
    "m" "X" "elu_derivative" [.arg(0.5)];
    "m" "X" "leaky_relu" [.arg(0.5)];
    "mm" "XZ" "leaky_relu" [.arg(0.5)];
    "m" "X" "relu" [.arg(0.5)];
    "mm" "XY" "euclidean" [.axes(0)];
    "mm" "XY" "all_euclidean";
};

/// A function with a parameter: new, in place, into an output.
macro_rules! with {
    ($value:expr => $($new:ident $in_place:ident $into:ident,)*) => {
        &[$(
            row(stringify!($new), stringify!($new), "m", "X", |a| a[0].$new($value).map(drop)),
            row(stringify!($in_place), stringify!($in_place), "m", "Z", |a| a[0].$in_place($value).map(drop)),
            row(stringify!($into), stringify!($into), "mm", "XZ", |a| a[0].$into($value, &a[1])),
        )*]
    };
}

pub(super) const PARAMETRIC: &[Row] = with! { 0.5 =>
    leaky_relu_with leaky_relui_with leaky_relu_with_into,
    elu_with elui_with elu_with_into,
    step_with stepi_with step_with_into,
};

pub(super) const FLAT: &[Row] = rows! {
    get_flat "m" "X" |a| a[0].get_flat(3);
    set_flat "m" "X" |a| a[0].set_flat(3, 1);
    derivative_with "m" "X" |a| a[0].derivative_with(UnaryOp::Elu, 0.5);
    maximum_magnitude "mm" "XY" |a| a[0].maximum_magnitude(&a[1]);
    maximum_magnitudei "mm" "ZY" |a| a[0].maximum_magnitudei(&a[1]);
    maximum_magnitude_into "mmm" "XYZ" |a| a[0].maximum_magnitude_into(&a[1], &a[2]);
    minimum_magnitude "mm" "XY" |a| a[0].minimum_magnitude(&a[1]);
    minimum_magnitudei "mm" "ZY" |a| a[0].minimum_magnitudei(&a[1]);
    minimum_magnitude_into "mmm" "XYZ" |a| a[0].minimum_magnitude_into(&a[1], &a[2]);
};

pub(super) const EXACT: &[Row] = &[
    row("sum_scalar", "sum", "m", "X", |a| {
        a[0].sum_scalar().map(drop)
    }),
    row("prod_scalar", "prod", "m", "X", |a| {
        a[0].prod_scalar().map(drop)
    }),
    row("max_scalar", "max", "m", "X", |a| {
        a[0].max_scalar().map(drop)
    }),
    row("min_scalar", "min", "m", "X", |a| {
        a[0].min_scalar().map(drop)
    }),
];

/// An operator, the name its panic has, and the letters of its arrays.
type Operator = (&'static str, fn(&NdArray, &NdArray));

/// Operators panic with the text of the method's error.
#[test]
fn operators_refuse_what_they_may_not_touch() {
    let operators: [Operator; 9] = [
        ("add", |a, b| drop(a + b)),
        ("sub", |a, b| drop(a - b)),
        ("mul", |a, b| drop(a * b)),
        ("div", |a, b| drop(a / b)),
        ("mod", |a, b| drop(a % b)),
        ("addi", |a, b| {
            let mut a = a.clone();
            a += b;
        }),
        ("divi", |a, b| {
            let mut a = a.clone();
            a /= b;
        }),
        ("==", |a, b| assert!(a == b)),
        ("neg", |a, b| drop([-a, -b])),
    ];
    let fresh = || super::table::make('m');
    let workspace = lodestride_array::Workspace::new("OPERATORS");
    let leaked = workspace.scope(|_| fresh()).expect("opens");
    for (name, operator) in operators {
        for arrays in [[leaked.clone(), fresh()], [fresh(), leaked.clone()]] {
            let run = std::panic::AssertUnwindSafe(|| operator(&arrays[0], &arrays[1]));
            let panic = std::panic::catch_unwind(run).expect_err(name);
            let text = panic.downcast_ref::<String>().expect("a text");
            assert!(
                text.contains(name) && text.contains("leaked"),
                "{name}: {text}"
            );
            assert!(text.contains("stale"), "the caller's line: {text}");
        }
    }
}
