//! Index lists, gathers and scatters that cannot be: each the right error, with its values and its text, and nothing written.

use lodestride_array::{
    ArrayErrorKind, Condition, DType, NdArray, Result, Scatter, Workspace, fancy,
};

use crate::report;

type Case = (
    &'static str,
    Result<()>,
    fn(&ArrayErrorKind) -> bool,
    &'static str,
);

/// A name, a call, the kind of error it gives, and what the text says.
macro_rules! case {
    ($name:literal, $call:expr => $pattern:pat, $text:literal) => {
        (
            $name,
            $call.map(drop),
            |kind| matches!(kind, $pattern),
            $text,
        )
    };
}

fn check(cases: Vec<Case>) {
    let mut failed = Vec::new();
    for (name, result, expected, text) in &cases {
        match result {
            Ok(()) => failed.push(format!("{name}: no error")),
            Err(error) if !expected(error.kind()) => failed.push(format!("{name}: {error}")),
            Err(error) if !error.to_string().contains(text) => {
                failed.push(format!("{name}: no {text:?} in\n{error}"))
            }
            Err(error) if error.location().file() != file!() => {
                failed.push(format!("{name}: blames {}", error.location()))
            }
            Err(_) => {}
        }
    }
    report(cases.len(), &failed);
}

fn counted() -> NdArray {
    NdArray::arange(0, 12, 1).unwrap().reshape([3, 4]).unwrap()
}

#[test]
fn wrong_index_lists_are_errors_with_their_values() {
    use ArrayErrorKind as Kind;
    let a = counted();
    let three = NdArray::ones([3]).unwrap();
    let stretched = NdArray::ones([1, 4]).unwrap().broadcast_to([3, 4]).unwrap();
    let floats = NdArray::from([0.0f32, 1.0]);
    let huge = NdArray::from([u64::MAX]);
    let mask = NdArray::from([[true, false], [true, true]]);
    check(vec![
        case!("beyond", a.get_fancy(&fancy![.., [0, 9]]) => Kind::PositionRange { axis: 1, index: 9, position: 1, .. }, "get_fancy: index 9 at position 1 of the indices is out of range for axis 1 with size 4"),
        case!("before", a.get_fancy(&fancy![[-4]]) => Kind::PositionRange { axis: 0, index: -4, .. }, "valid are 0 to 2 and, from the end, -1 to -3"),
        case!("an unsigned one", a.get_fancy(&fancy![&huge]) => Kind::PositionRange { index: i64::MAX, .. }, "out of range"),
        case!("floats", a.get_fancy(&fancy![&floats]) => Kind::IndexDType { .. }, "get_fancy: indices must be integers, got f32"),
        case!("a short mask", a.get_fancy(&fancy![[true, false]]) => Kind::MaskSize { axis: 0, found: 2, .. }, "a mask of size 2 stands for axis 0 with size 3"),
        case!("a mask of two axes", a.get_fancy(&fancy![&mask]) => Kind::MaskSize { axis: 0, found: 2, .. }, "mask"),
        case!("shapes", a.get_fancy(&fancy![[0, 1], [0, 1, 2]]) => Kind::Shape { .. }, "[2] and [3] do not broadcast"),
        case!("too many", a.get_fancy(&fancy![0, 0, [0]]) => Kind::Shape { .. }, "get_fancy"),
        case!("a point", a.get_fancy(&fancy![7, [0]]) => Kind::Shape { .. }, "index 7 is out of range for axis 0"),
        case!("ellipses", a.get_fancy(&fancy![..., [0],...]) => Kind::Shape { .. }, "get_fancy"),
        case!("an output", a.get_fancy_into(&fancy![[0, 1]], &three) => Kind::OutputShape { .. }, "get_fancy_into: the result has shape [2, 4]"),
        case!("values", a.put_fancy(&fancy![[0, 1]], &three) => Kind::InPlaceShape { .. }, "put_fancy: shape [3] does not broadcast into [2, 4]"),
        case!("put beyond", a.put_fancy(&fancy![[0, 3]], 1) => Kind::PositionRange { .. }, "put_fancy"),
        case!("a stretched target", stretched.put_fancy(&fancy![[0]], 1) => Kind::OverlappingTarget { .. }, "put_fancy"),
        case!("outer beyond", a.get_outer(&fancy![[0], [4]]) => Kind::PositionRange { axis: 1, index: 4, .. }, "get_outer"),
        case!("outer of a matrix", a.get_outer(&fancy![&mask]) => Kind::Form { .. }, "index lists and masks of one axis each"),
        case!("outer put", a.put_outer(&fancy![[0, 5]], 1) => Kind::PositionRange { .. }, "put_outer"),
        case!("outer values", a.put_outer(&fancy![[0, 1], [0, 1]], &three) => Kind::InPlaceShape { .. }, "[2, 2]"),
    ]);
    assert_eq!(a, counted(), "nothing was written");
}

#[test]
fn wrong_gathers_and_scatters_are_errors_with_their_values() {
    use ArrayErrorKind as Kind;
    let a = counted();
    let three = NdArray::ones([3]).unwrap();
    let (list, wrong) = (NdArray::from([0i64, 2]), NdArray::from([0i64, 3]));
    check(vec![
        case!("gather_nd", a.gather_nd(&NdArray::from([[0i64, 4]])) => Kind::PositionRange { axis: 1, index: 4, position: 0, .. }, "gather_nd"),
        case!("gather_nd of a scalar", a.gather_nd(&NdArray::scalar(0i64).unwrap()) => Kind::Form { .. }, "gather_nd"),
        case!("gather_nd of three", a.gather_nd(&NdArray::from([0i64, 0, 0])) => Kind::Form { .. }, "at most one number per axis"),
        case!("along", a.take_along_axis(&list, 0) => Kind::Form { .. }, "as many axes"),
        case!("along an axis", a.take_along_axis(&list, 2) => Kind::Shape { .. }, "take_along_axis"),
        case!("along beyond", a.take_along_axis(&NdArray::from([[4i64]]), 1) => Kind::PositionRange { axis: 1, .. }, "take_along_axis"),
        case!("put along", a.put_along_axis(&NdArray::from([[3i64]]), 1, 0) => Kind::PositionRange { axis: 0, .. }, "put_along_axis"),
        case!("scatter_muli", a.scatter_muli(&wrong, 2, 0) => Kind::PositionRange { axis: 0, index: 3, position: 1, .. }, "scatter_muli"),
        case!("scatter_addi", a.scatter_addi(&wrong, 2, 0) => Kind::PositionRange { axis: 0, index: 3, position: 1, .. }, "scatter_addi: index 3 at position 1 of the indices is out of range for axis 0 with size 3"),
        case!("scatter_put", a.scatter_put(&wrong, 2, 0) => Kind::PositionRange { axis: 0, index: 3, position: 1, .. }, "scatter_put"),
        case!("take by floats", a.take(&three, 0) => Kind::IndexDType { .. }, "take"),
        case!("scatter_addi by floats", a.scatter_addi(&three, 2, 0) => Kind::IndexDType { .. }, "scatter_addi"),
        case!("partition beyond", a.partition([3], 0) => Kind::IndexRange { index: 3, .. }, "errors.rs"),
        case!("stack", NdArray::stack(&[&a, &three], 0) => Kind::Join { .. }, "help: all arrays must have one shape"),
        case!("take", a.take(&wrong, 0) => Kind::PositionRange { axis: 0, index: 3, position: 1, .. }, "take: index 3 at position 1 of the indices is out of range for axis 0 with size 3"),
        case!("scatter values", a.scatter_maxi(&list, &three, 0) => Kind::InPlaceShape { .. }, "scatter_maxi: shape [3] does not broadcast into [2, 4]"),
        case!("scatter kinds", NdArray::from([1i32]).scatter_fancyi(Scatter::Add, &fancy![[0]], 0.5) => Kind::Cast { .. }, "scatter_fancyi"),
        case!("scatter_nd", NdArray::scatter_nd(&NdArray::from([[9i64]]), &NdArray::from([1.0f32]), [4]) => Kind::PositionRange { index: 9, .. }, "scatter_nd"),
        case!("partition", a.dynamic_partition(&NdArray::from([0i64, 1, 2]), 2) => Kind::PartNumber { part: 2, position: 2, count: 2, .. }, "number 2 at position 2 stands for none of 2 parts"),
        case!("partition of another shape", a.dynamic_partition(&list, 2) => Kind::Form { .. }, "dynamic_partition"),
        case!("stitch", NdArray::dynamic_stitch(&[&list], &[]) => Kind::Empty { .. }, "dynamic_stitch"),
        case!("near, of another shape", a.eps_equal(&NdArray::ones([5]).unwrap(), 0.1) => Kind::Broadcast { .. }, "eps_equal"),
        case!("near, into another shape", a.eps_not_equal_into(0, 0.1, &three) => Kind::OutputShape { .. }, "eps_not_equal_into"),
        case!("near, with a negative tolerance", a.eps_equal(0, -1.0) => Kind::Kernel { .. }, "eps = -1 is out of range: it must lie between 0 and inf"),
        case!("a mask of floats", a.put_where(&a, 0) => Kind::Mask { .. }, "mask"),
        case!("stitch of two shapes", NdArray::dynamic_stitch( &[&list, &list], &[&NdArray::ones([2, 3]).unwrap(), &NdArray::ones([2]).unwrap() ] ) => Kind::Join { position: 1, .. }, "dynamic_stitch"),
        case!("a negative place", NdArray::dynamic_stitch(&[&NdArray::from([-1i64])], &[&NdArray::ones([1]).unwrap()]) => Kind::PartNumber { part: -1, .. }, "dynamic_stitch"),
    ]);
    assert_eq!(a, counted(), "nothing was written");
}

fn check_stale(results: &[(&str, Result<()>)]) {
    let mut failed = Vec::new();
    for (name, result) in results {
        let (op, letter) = name.split_once(' ').unwrap();
        let wanted = format!(
            "Op [{op}] {letter} argument uses leaked workspace pointer from workspace [INDICES]"
        );
        match result {
            Err(error) if error.to_string().starts_with(&wanted) => {}
            Err(error) => failed.push(format!("{name}: {error}")),
            Ok(()) => failed.push(format!("{name}: no error")),
        }
    }
    report(results.len(), &failed);
}

/// Calls by name, one a line: the op and the letter of the argument that is stale.
macro_rules! results {
    ($($name:literal: $call:expr;)*) => { vec![$(($name, $call.map(drop))),*] };
}

#[test]
fn stale_arrays_are_refused_in_each_place() {
    let workspace = Workspace::new("INDICES");
    let make = || {
        (
            NdArray::ones([3, 3]).unwrap(),
            NdArray::from([0i64, 1]),
            NdArray::from([[0i64, 1]]),
        )
    };
    let ((stale, at, pairs), flags) =
        (workspace.scope(|_| (make(), NdArray::from([true, false, true])))).unwrap();
    let (fresh, here_too) = (NdArray::ones([3, 3]).unwrap(), Condition::less(0));
    let here = NdArray::from([0i64, 1]);
    let results: Vec<(&str, Result<()>)> = results![
        "get_fancy X": stale.get_fancy(&fancy![[0]]);
        "get_fancy Y": fresh.get_fancy(&fancy![&at]);
        "put_fancy Z": stale.put_fancy(&fancy![[0]], 1);
        "put_fancy X": fresh.put_fancy(&fancy![&at], 1);
        "get_outer X": stale.get_outer(&fancy![[0]]);
        "get_outer Y": fresh.get_outer(&fancy![.., &at]);
        "put_outer Z": stale.put_outer(&fancy![[0]], 1);
        "gather_nd X": stale.gather_nd(&NdArray::from([[0i64]]));
        "gather_nd Y": fresh.gather_nd(&pairs);
        "take_along_axis X": stale.take_along_axis(&NdArray::from([[0i64]]), 0);
        "take_along_axis Y": fresh.take_along_axis(&pairs, 0);
        "matches X": stale.matches(&here_too);
        "eps_equal X": stale.eps_equal(0, 0.1);
        "eps_equal Y": fresh.eps_equal(&stale, 0.1);
        "replace_where Z": stale.replace_where(&here_too, 0);
        "replace_where X": fresh.replace_where(&flags, 0);
        "select_where X": stale.select_where(&here_too);
        "select_where Y": fresh.select_where(&flags);
        "assign_if Z": stale.assign_if(&fresh, &here_too);
        "assign_if X": fresh.assign_if(&stale, &here_too);
        "apply_where Z": stale.apply_where(&here_too, |x: f32| x);
        "apply_where X": fresh.apply_where(&flags, |x: f32| x);
        "put_fancy Y": fresh.put_fancy(&fancy![[0]], &stale);
        "scatter_addi Z": stale.scatter_addi(&here, 1, 0);
        "scatter_addi Y": fresh.scatter_addi(&here, &stale, 0);
        "put_outer X": fresh.put_outer(&fancy![&at], 1);
        "put_along_axis Z": stale.put_along_axis(&NdArray::from([[0i64]]), 1, 0);
        "put_along_axis X": fresh.put_along_axis(&pairs, 1, 0);
        "scatter_ndi Z": stale.scatter_ndi(Scatter::Add, &NdArray::from([[0i64]]), 1);
        "scatter_ndi X": fresh.scatter_ndi(Scatter::Add, &pairs, 1);
        "scatter_nd X": NdArray::scatter_nd(&pairs, &NdArray::ones([1]).unwrap(), [2, 2]);
        "scatter_addi X": fresh.scatter_addi(&at, 1, 0);
        "scatter_muli Z": stale.scatter_muli(&here, 2, 0);
        "scatter_muli X": fresh.scatter_muli(&at, 2, 0);
    ];
    check_stale(&results);
    assert_eq!(fresh.sum_number().unwrap(), 9.0);
}

#[test]
fn positions_do_not_count_against_the_open_workspace() {
    let workspace = Workspace::new("LOOP");
    let a = NdArray::arange_of(DType::F32, 0, 1000, 1)
        .unwrap()
        .reshape([10, 100])
        .unwrap();
    let bytes = |body: &dyn Fn()| {
        workspace.scope(|ws| {
            body();
            ws.stats().this_cycle
        })
    };
    let list: Vec<i64> = (0..1000).map(|i| i % 10).collect();
    let used = bytes(&|| drop(a.get_fancy(&fancy![&list, 3]).unwrap())).unwrap();
    assert!((4000..5000).contains(&used), "{used} bytes");
    let used = bytes(&|| {
        a.put_fancy(&fancy![&list, 3], 1.0).unwrap();
    })
    .unwrap();
    assert_eq!(used, 0);
}
