//! The text of every error a user can meet, once.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::too_many_lines, reason = "tables of cases")]

use lodestride_array::{ArrayError, ArrayErrorKind, DType, NdArray, Order, Workspace, fancy, s};

fn array(shape: &[usize]) -> NdArray {
    NdArray::zeros(shape).unwrap()
}

/// The error's text, with the place replaced, which the line number of a test would make brittle.
fn text<T>(result: Result<T, ArrayError>) -> String {
    let Err(error) = result else {
        panic!("must fail")
    };
    assert!(
        error.location().file().ends_with("errors.rs"),
        "the place is the caller's: {}",
        error.location()
    );
    let place = error.location().to_string();
    error.to_string().replace(&place, "HERE")
}

#[test]
fn texts_say_what_failed_and_what_to_do() {
    let a = array(&[3, 4]);
    let view = array(&[3, 6]).get(&s![.., ..5]).unwrap();
    let ints = NdArray::zeros_of(DType::I32, [2]).unwrap();
    let cases: Vec<(String, &str)> = vec![
        (
            text(a.add(&view)),
            "add: shapes [3, 4] and [3, 5] do not broadcast: axis 1 is 4 vs 5\n  --> HERE\n  lhs: f32 [3, 4] C\n  \
             rhs: f32 [3, 5] strided view\n  help: sizes must be equal or 1, counted from the last axis; `expand_dims` \
             or `reshape` one side",
        ),
        (
            text(array(&[3, 1]).muli(&a)),
            "muli: shape [3, 4] does not broadcast into [3, 1]: an in-place op cannot change the shape of its target\n  \
             --> HERE\n  target: f32 [3, 1] C\n  rhs: f32 [3, 4] C\n  help: use the form that returns a new array (`mul`)",
        ),
        (
            text(a.add_into(1, &array(&[4, 3]))),
            "add_into: the result has shape [3, 4], the output array [4, 3]\n  --> HERE\n  out: f32 [4, 3] C\n  help: pass \
             an output of shape [3, 4]",
        ),
        (
            text(array(&[1, 4]).broadcast_to([3, 4]).unwrap().addi(1)),
            "addi: cannot write into a broadcast view: several of its elements share one place in memory\n  --> HERE\n  \
             target: f32 [3, 4] strided view\n  help: `dup()` it first",
        ),
        (
            text(ints.addi(0.5)),
            "addi: a result of dtype f64 cannot be stored in i32: it would lose more than precision\n  --> HERE\n  target: \
             i32 [2] C\n  help: use `add`, which is f64, or `cast` one of the operands",
        ),
        (
            text(a.gradient(&NdArray::from([1.0, 2.0]), 1)),
            "gradient: needs 4 coordinates, one per position along the axis, got 2\n  --> HERE\n  array: f64 [2] C\n  help: a \
             number as spacing stands for equal distances everywhere",
        ),
        (
            text(array(&[1, 4]).gradient(1, 0)),
            "gradient: needs at least two positions along the axis, got shape [1, 4]\n  --> HERE\n  array: f32 [1, 4] C\n  \
             help: a slope needs a neighbour, one at the ends of second order two of them",
        ),
        (
            text(a.interp(&NdArray::from([1.0, 0.5]), &array(&[2]))),
            "interp: point 1 is 0.5 after 1, but points must ascend\n  --> HERE\n  help: `argsort` gives the order in which \
             `take` brings points and values; leave out NaN",
        ),
        (
            text(a.polyval(&a)),
            "polyval: needs a vector (`ravel` makes one), got shape [3, 4]\n  --> HERE\n  array: f32 [3, 4] C",
        ),
        (
            text(a.to_vec::<f64>()),
            "to_vec: asked for elements of type f64, the array has f32\n  --> HERE\n  array: f32 [3, 4] C\n  help: ask for \
             f32, or `cast(DType::F64)` first",
        ),
        (
            text(NdArray::from([true]).neg()),
            "neg: not defined for dtype bool\n  --> HERE\n  help: `cast` to a dtype it is defined for, such as f32",
        ),
        (
            text(a.shift_left(1)),
            "shift_left: not defined for dtype f32\n  --> HERE\n  help: `cast` to a dtype it is defined for, such as i64",
        ),
        (
            text(a.get_f64([3, 0])),
            "get_f64: index 3 is out of range for axis 0 with size 3\n  --> HERE\n  array: f32 [3, 4] C\n  help: valid are 0 \
             to 2 and, from the end, -1 to -3",
        ),
        (
            text(a.set([0], 1)),
            "set: 1 number cannot name an element of an array of rank 2\n  --> HERE\n  array: f32 [3, 4] C\n  help: give one \
             index per axis; `get(&s![..])` takes parts",
        ),
        (
            text(array(&[2, 2, 2]).row(0)),
            "row: needs a matrix, got shape [2, 2, 2]\n  --> HERE\n  array: f32 [2, 2, 2] C\n  help: `slice` takes a matrix out \
             of a batch, `reshape` joins axes",
        ),
        (
            text(a.mmul(&a)),
            "mmul: cannot multiply [3, 4] by [3, 4]: 4 columns against 3 rows\n  --> HERE\n  lhs: f32 [3, 4] C\n  rhs: f32 \
             [3, 4] C\n  help: the last size of the left must be the second to last of the right; `transpose()` swaps them",
        ),
        (
            text(NdArray::concat(&[&a, &array(&[2, 5])], 0)),
            "concat: array 1 of shape [2, 5] does not fit [3, 4] along axis 0\n  --> HERE\n  array 0: f32 [3, 4] C\n  array \
             1: f32 [2, 5] C\n  help: all sizes but that of the joined axis must be equal",
        ),
        (
            text(NdArray::concat(&[], 0)),
            "concat: needs at least one array, got none\n  --> HERE",
        ),
        (
            text(a.add_row_vector(&array(&[3]))),
            "add_row_vector: a matrix of shape [3, 4] needs a vector of 4 elements, got shape [3]\n  --> HERE\n  matrix: f32 \
             [3, 4] C\n  vector: f32 [3] C\n  help: `add_column_vector` takes one of 3 elements",
        ),
        (
            text(a.replace_where(&array(&[3, 4]), 0)),
            "replace_where: the mask must be a bool array of shape [3, 4], got f32 [3, 4]\n  --> HERE\n  array: f32 [3, 4] \
             C\n  mask: f32 [3, 4] C\n  help: comparisons such as `a.less(0.5)?` make masks",
        ),
        (
            text(a.transpose().view_as([12])),
            "view_as: the strides of the array permit no view of that shape\n  --> HERE\n  array: f32 [4, 3] F view\n  help: \
             `reshape` copies when it has to",
        ),
        (
            text(NdArray::from_vec(vec![1.0f32; 5], [2, 3])),
            "from_vec: shape [2, 3] holds 6 elements, got 5\n  --> HERE\n  help: the sizes must multiply to 5",
        ),
        (
            text(NdArray::from_nested(vec![vec![1i32, 2], vec![3]])),
            "from_nested: ragged input: axis 1 has 2 elements in one place and 1 in another\n  --> HERE\n  help: batches of \
             unequal lengths are what LoD tensors are for",
        ),
        (
            text(NdArray::arange(0, 1, 0)),
            "arange: no values from 0 to 1 in steps of 0\n  --> HERE\n  help: a step is above 0, or below it to go down; `full` \
             makes an array of one number",
        ),
    ];
    expect_texts(&cases);
}

/// The way out of what users meet most often, and of what says it in the words of the crates below.
#[test]
fn texts_name_the_way_out() {
    let (a, b) = (array(&[3, 4]), array(&[3]));
    let empty = array(&[0]);
    let cases: Vec<(String, &str)> = vec![
        (
            text(a.mmul(&b)),
            "mmul: needs two matrices, got shapes [3, 4] and [3]\n  --> HERE\n  lhs: f32 [3, 4] C\n  rhs: f32 [3] C\n  help: \
             `matmul` takes vectors and batches too; `expand_dims(0)` makes a row of a vector, `expand_dims(1)` a column",
        ),
        (
            text(b.mmul_into(&a, &a)),
            "mmul_into: needs two matrices, got shapes [3] and [3, 4]\n  --> HERE\n  lhs: f32 [3] C\n  rhs: f32 [3, 4] C\n  \
             help: `matmul` takes vectors and batches too; `expand_dims(0)` makes a row of a vector, `expand_dims(1)` a column",
        ),
        (
            text(a.matmul(&b)),
            "matmul: cannot multiply [3, 4] by [3]: 4 columns against 3 elements\n  --> HERE\n  lhs: f32 [3, 4] C\n  rhs: f32 \
             [3] C\n  help: the left needs a column for every element of the vector; `transpose()` swaps rows and columns",
        ),
        (
            text(array(&[4]).matmul(&a)),
            "matmul: cannot multiply [4] by [3, 4]: 4 elements against 3 rows\n  --> HERE\n  lhs: f32 [4] C\n  rhs: f32 [3, 4] \
             C\n  help: the right needs a row for every element of the vector; `transpose()` swaps rows and columns",
        ),
        (
            text(a.reshape([5, 5])),
            "reshape: cannot reshape [3, 4] (12 elements) to [5, 5] (25 elements)\n  --> HERE\n  array: f32 [3, 4] C\n  help: \
             the sizes must multiply to 12; one may be -1, which is worked out from the others",
        ),
        (
            text(a.get_fancy(&fancy![[0, 1], [0, 1, 2]])),
            "get_fancy: shapes [2] and [3] do not broadcast: axis 0 is 2 vs 3\n  --> HERE\n  array: f32 [3, 4] C\n  help: lists \
             pair up element by element, so their shapes must broadcast; `get_outer` takes each by each",
        ),
        (
            text(a.put_fancy(&fancy![[0, 1], [0, 1, 2]], 0)),
            "put_fancy: shapes [2] and [3] do not broadcast: axis 0 is 2 vs 3\n  --> HERE\n  array: f32 [3, 4] C\n  help: lists \
             pair up element by element, so their shapes must broadcast; `put_outer` takes each by each",
        ),
        (
            text(a.repeat_each(&[1, 2], 1)),
            "repeat_each: needs 4 counts, one per position along the axis, got 2\n  --> HERE\n  array: f32 [3, 4] C\n  help: \
             `repeat` takes one count for all",
        ),
        (
            text(a.pad([1], 0)),
            "pad: needs 2 widths, one per axis, got 1\n  --> HERE\n  array: f32 [3, 4] C\n  help: an axis that stays as it is has \
             the width 0",
        ),
        (
            text(a.reverse_sequence(&[1], 1, 0)),
            "reverse_sequence: needs 3 lengths, one per position along the second axis, got 1\n  --> HERE\n  array: f32 [3, 4] \
             C\n  help: a length of 1 leaves a line as it is",
        ),
        (
            text(NdArray::linspace(0, f64::INFINITY, 5)),
            "linspace: no 5 values from 0 to inf\n  --> HERE\n  help: both bounds, and what is between them, must be finite",
        ),
        (
            text(a.add_column_vector(&array(&[7]))),
            "add_column_vector: a matrix of shape [3, 4] needs a vector of 3 elements, got shape [7]\n  --> HERE\n  matrix: f32 \
             [3, 4] C\n  vector: f32 [7] C\n  help: pass 3 elements along one axis; `ravel` makes a vector of any array",
        ),
        (
            text(a.broadcast_to([3, 5])),
            "broadcast_to: shape [3, 4] does not broadcast to [3, 5]: axis 1 is 4, only 1 or 5 can become 5\n  --> HERE\n  \
             array: f32 [3, 4] C\n  help: only a size of 1 is stretched, counted from the last axis; `expand_dims` or `reshape` \
             first",
        ),
        (
            text(empty.max(0)),
            "Op [max] has no value for zero elements: the array has shape [0]\n  --> HERE\n  help: `is_empty()` tells \
             beforehand; sums and products have a value for no elements",
        ),
    ];
    expect_texts(&cases);
}

#[cfg(feature = "linalg")]
#[test]
fn texts_of_solvers_name_the_way_out() {
    let (singular, a) = (array(&[2, 2]), NdArray::eye(2).unwrap());
    let cases: Vec<(String, &str)> = vec![
        (
            text(singular.inv()),
            "inv: matrix 0 is singular: pivot 0 is zero\n  --> HERE\n  array: f32 [2, 2] C\n  help: `pinv` and `lstsq` do \
             without an inverse; `matrix_rank` tells beforehand",
        ),
        (
            text(singular.solve(&array(&[2]))),
            "solve: matrix 0 is singular: pivot 0 is zero\n  --> HERE\n  array: f32 [2, 2] C\n  help: `pinv` and `lstsq` do \
             without an inverse; `matrix_rank` tells beforehand",
        ),
        (
            text(a.solve(&array(&[3]))),
            "solve: a right side of shape [3] does not fit a matrix of shape [2, 2]: it has 3 rows, needed are 2\n  --> \
             HERE\n  lhs: f32 [2, 2] C\n  rhs: f32 [3] C\n  help: a right side has a row for each row of the matrix",
        ),
        (
            text(array(&[2, 3]).inv()),
            "inv: needs a square matrix, or a batch of them in the last two axes, got shape [2, 3]\n  --> HERE\n  array: f32 \
             [2, 3] C\n  help: `get(&s![..])` takes a square part; `pinv`, `qr` and `svd` take matrices of any shape",
        ),
    ];
    expect_texts(&cases);
}

/// Counts whose sum or product is no size are errors, too.
#[test]
fn counts_beyond_memory_are_errors() {
    let a = array(&[2, 0]);
    let huge = usize::MAX / 2;
    let results = [
        ("tile", array(&[2, 2]).tile([usize::MAX, 2]).map(drop)),
        ("repeat", array(&[2, 2]).repeat(huge + 2, 1).map(drop)),
        ("repeat_each", a.repeat_each(&[huge, huge + 9], 0).map(drop)),
        (
            "repeat_each of none",
            a.repeat_each(&[huge / 8, 1], 0).map(drop),
        ),
    ];
    for (name, result) in results {
        assert!(result.is_err(), "{name}");
    }
}

fn expect_texts(cases: &[(String, &str)]) {
    let failed: Vec<_> = cases
        .iter()
        .filter(|(found, expected)| found != expected)
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Errors whose words come from the crates below: the first line names the op, the place stands under it.
#[test]
fn texts_of_lower_crates_name_the_op_and_the_place() {
    let a = array(&[3, 4]);
    let cases = [
        (text(a.sum(2)), "sum: "),
        (text(a.slice(0, 5)), "slice: "),
        (text(a.reshape([5, 5])), "reshape: "),
        (text(a.permute([0, 0])), "permute: "),
        (text(a.get(&s![0, 0, 0])), "get: "),
        (text(a.broadcast_to([4, 4])), "broadcast_to: "),
        (text(a.size(2)), "size: "),
        (text(array(&[0]).max(0)), "Op [max]"),
        (text(a.take(&NdArray::from([9i64]), 0)), "take: "),
        (text(NdArray::zeros([usize::MAX, 2])), "zeros: "),
    ];
    for (found, start) in cases {
        assert!(found.starts_with(start), "{found}");
        assert_eq!(found.lines().nth(1), Some("  --> HERE"), "{found}");
    }
}

#[test]
fn stale_arrays_are_errors_everywhere() {
    let workspace = Workspace::new("LOOP_EXTERNAL");
    let leaked = workspace.scope(|_| array(&[3, 4])).unwrap();
    let fine = array(&[3, 4]);
    let found = text(fine.add(&leaked));
    assert!(
        found.starts_with(
            "Op [add] Y argument uses leaked workspace pointer from workspace [LOOP_EXTERNAL]: the workspace is no longer \
             open\n  --> HERE\n  array f32 [3, 4] was allocated at "
        ),
        "{found}"
    );
    assert!(
        found.contains("errors.rs") && found.contains("help: `detach()` it before the scope ends"),
        "{found}"
    );
    workspace
        .scope(|_| {
            let found = text(leaked.addi(&fine));
            assert!(
                found.contains("uses outdated workspace pointer from workspace [LOOP_EXTERNAL]"),
                "{found}"
            );
        })
        .unwrap();
    let reads: Vec<(&str, Result<(), ArrayError>)> = vec![
        ("get_f64", leaked.get_f64([0, 0]).map(drop)),
        ("set", leaked.set([0, 0], 1).map(drop)),
        ("to_vec", leaked.to_vec::<f32>().map(drop)),
        ("view", leaked.view::<f32>().map(drop)),
        ("view_mut", leaked.view_mut::<f32>().map(drop)),
        ("dup", leaked.dup().map(drop)),
        ("cast", leaked.cast(DType::F64).map(drop)),
        ("assign", leaked.assign(1).map(drop)),
        ("exp", leaked.exp().map(drop)),
        ("expi", leaked.expi().map(drop)),
        ("sum", leaked.sum(0).map(drop)),
        ("sum_number", leaked.sum_number().map(drop)),
        ("argmax", leaked.argmax(0).map(drop)),
        ("cumsum", leaked.cumsum(0).map(drop)),
        ("mmul", leaked.mmul(&leaked.transpose()).map(drop)),
        ("concat", NdArray::concat(&[&leaked], 0).map(drop)),
        ("take", leaked.take(&NdArray::from([0i64]), 0).map(drop)),
        (
            "row add",
            leaked.row(0).and_then(|row| row.addi(1).map(drop)),
        ),
        ("detach", leaked.detach().map(drop)),
        ("migrate", leaked.migrate().map(drop)),
        ("migrate_or_detach", leaked.migrate_or_detach().map(drop)),
        (
            "to_flattened",
            NdArray::to_flattened(Order::C, &[&leaked]).map(drop),
        ),
        ("to_bytes", leaked.to_bytes().map(drop)),
        ("softmax", leaked.softmax(1).map(drop)),
        (
            "softmax of columns",
            leaked.transpose().softmax(1).map(drop),
        ),
        (
            "layer_norm",
            leaked.layer_norm(0, None, None, 0.0).map(drop),
        ),
        ("sort", leaked.sort(0).map(drop)),
        ("argsort", leaked.argsort(1).map(drop)),
        ("unique", leaked.unique().map(drop)),
        ("median", leaked.median(0).map(drop)),
        ("topk", leaked.topk(2, 1).map(drop)),
        ("map", leaked.map(|x: f32| x + 1.0).map(drop)),
        (
            "lazy",
            leaked
                .lazy()
                .apply(lodestride_array::kernels::UnaryOp::Exp)
                .eval()
                .map(drop),
        ),
    ];
    for (name, result) in reads {
        let found = result.expect_err(name).to_string();
        assert!(
            found.contains("leaked workspace pointer from workspace [LOOP_EXTERNAL]"),
            "{name}: {found}"
        );
    }
    let printed = leaked.to_string();
    assert!(
        printed.starts_with("<f32 [3, 4] C cannot be read: ") && printed.contains("leaked"),
        "{printed}"
    );
}

#[test]
fn guards_exclude_each_other() {
    let a = array(&[2]);
    let view = a.view::<f32>().unwrap();
    assert!(a.add(1).is_ok(), "reading beside a reader is fine");
    let error = a.addi(1).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("Op [addi] Z argument is in use: 1 read guard is alive"),
        "{error}"
    );
    drop(view);
    a.addi(1).unwrap();
    let view = a.view_mut::<f32>().unwrap();
    assert!(matches!(
        a.get_f64([0]).unwrap_err().kind(),
        ArrayErrorKind::Access { .. }
    ));
    assert!(matches!(
        a.add(1).unwrap_err().kind(),
        ArrayErrorKind::Kernel { .. }
    ));
    drop(view);
    assert_eq!(a.to_vec::<f32>().unwrap(), [1.0, 1.0]);
}

#[test]
fn results_stay_small() {
    assert_eq!(size_of::<ArrayError>(), 8);
    assert_eq!(size_of::<lodestride_array::Result<()>>(), 8);
    assert_eq!(
        size_of::<lodestride_array::Result<NdArray>>(),
        size_of::<NdArray>()
    );
}
