//! Operations found by name: results, shapes and dtypes before they run, outputs, errors; and printing as ND4J prints.
#![expect(clippy::too_many_lines, reason = "tables of cases")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::{
    ArrayErrorKind, Composed, DType, NdArray, Notation, Op, OpCall, Order, PrintOptions, keep, op,
    s,
};
use support::matrix::{combinations, stretched_combinations};
use support::report;

fn operands(dtype: DType) -> [NdArray; 2] {
    let x = NdArray::arange_of(DType::F64, 1, 25, 1)
        .unwrap()
        .reshape([2, 3, 4])
        .unwrap();
    let y = NdArray::arange_of(DType::F64, 1, 4, 1)
        .unwrap()
        .reshape([3, 1])
        .unwrap();
    [x, y].map(|a| {
        a.div(25.0)
            .and_then(|a| if dtype.is_float() { Ok(a) } else { a.mul(25.0) })
            .and_then(|a| a.cast(dtype))
            .unwrap()
    })
}

/// A call with what each operation needs besides its operands.
fn called<'a>(each: Op, inputs: &[&'a NdArray]) -> OpCall<'a> {
    let mut call = each.on(inputs);
    let elementwise = matches!(
        each,
        Op::Binary(_)
            | Op::Composed(
                Composed::Assign
                    | Composed::EpsEqual
                    | Composed::MaximumMagnitude
                    | Composed::MinimumMagnitude
                    | Composed::RelativeError
            )
    );
    if !elementwise {
        call = call.axes(if matches!(each, Op::Scan(_)) { 1 } else { -1 });
    }
    for (place, parameter) in each.parameters().iter().enumerate() {
        let needed = parameter.default.is_none();
        call = if needed { call.arg(place + 2) } else { call };
    }
    call
}

/// Every operation on every dtype: shape and dtype are known before, and the three ways to a result agree.
#[test]
fn shapes_and_dtypes_are_known_before_anything_runs() {
    let mut failures = Vec::new();
    let mut count = 0;
    for dtype in DType::ALL {
        let [x, y] = operands(dtype);
        for each in Op::all() {
            let (x, y) = match each {
                Op::AllPairs(_) => (x.reshape([6, 4]).unwrap(), x.reshape([6, 4]).unwrap()),
                Op::Composed(Composed::MatrixPower) => {
                    (x.get(&s![.., .., 0..3]).unwrap(), y.clone())
                }
                Op::Composed(Composed::ReverseSequence) => (x.clone(), NdArray::from([3i64, 2])),
                _ => (x.clone(), y.clone()),
            };
            let inputs = if each.arity() == 2 {
                vec![&x, &y]
            } else {
                vec![&x]
            };
            let call = called(each, &inputs);
            count += 1;
            let case = format!("{each} of {dtype}");
            let Ok(result) = call.run() else {
                let unsupported = |kind: &ArrayErrorKind| {
                    matches!(
                        kind,
                        ArrayErrorKind::UnsupportedDType { .. } | ArrayErrorKind::Kernel { .. }
                    )
                };
                let error = call.run().unwrap_err();
                if !unsupported(error.kind()) {
                    failures.push(format!("{case}: {error}"));
                }
                continue;
            };
            let (shape, found) = (call.output_shape().unwrap(), call.output_dtype().unwrap());
            if &shape != result.shape() || found != result.dtype() {
                failures.push(format!(
                    "{case}: said {found} {shape}, was {} {}",
                    result.dtype(),
                    result.shape()
                ));
                continue;
            }
            let out = NdArray::zeros_of(found, shape).unwrap();
            let call = call.output(&out);
            let same = call.run().and_then(|given| {
                Ok(given.shares_memory(&out) && out.to_bytes()? == result.to_bytes()?)
            });
            if !matches!(same, Ok(true)) {
                failures.push(format!("{case}: into an output: {same:?}"));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(count > 1000);
}

/// Whether a call gives, and writes into `out`, what is wanted. Strided lines may be added up in another order: a few units in
/// the last place of f32.
fn gives(each: Op, inputs: &[&NdArray], out: &NdArray, wanted: &NdArray) -> bool {
    // Errors of a mean count more beside the deviation it is divided by, which is 20 times smaller here.
    let least = if each == Op::Composed(Composed::Standardize) {
        4.0
    } else {
        0.0
    };
    let near = |found: &NdArray| {
        let pairs = found.to_f64_vec().unwrap().into_iter();
        let mut pairs = pairs.zip(wanted.to_f64_vec().unwrap());
        let near = |(a, b): (f64, f64)| {
            a == b || (a - b).abs() <= 4e-7 * b.abs().max(least) || (a.is_nan() && b.is_nan())
        };
        found.shape() == wanted.shape() && found.dtype() == wanted.dtype() && pairs.all(near)
    };
    let call = || called(each, inputs);
    let written = call().output(out).run().is_ok() && near(out);
    written && call().run().is_ok_and(|found| near(&found))
}

/// Every operation on every layout of its operands and its output.
#[test]
fn layouts_do_not_change_results() {
    let (mut checked, mut failed) = (0, Vec::new());
    for dtype in [DType::F32, DType::I32, DType::Bool] {
        let [x, y] = operands(dtype);
        for each in Op::all() {
            let inputs = [&x, &y];
            let inputs = &inputs[..each.arity()];
            let Ok(wanted) = called(each, inputs).run() else {
                continue;
            };
            let room = NdArray::zeros_of(wanted.dtype(), wanted.shape().clone()).unwrap();
            let mut operands = inputs.to_vec();
            operands.push(&room);
            let run = &mut |layouts: &str, given: &[&NdArray]| {
                checked += 1;
                let [inputs @ .., out] = given else {
                    unreachable!()
                };
                if !gives(each, inputs, out, &wanted) {
                    failed.push(format!("{each} of {dtype}, {layouts}"));
                }
            };
            combinations(&operands, run).unwrap();
            let run = &mut |layouts: &str, given: &[&NdArray], plain: &[&NdArray]| {
                checked += 1;
                let wanted = called(each, plain).run().unwrap();
                if !gives(each, given, &room, &wanted) {
                    failed.push(format!("{each} of {dtype}, {layouts}"));
                }
            };
            stretched_combinations(inputs, run).unwrap();
        }
    }
    report(checked, &failed);
    assert!(checked > 10_000, "{checked}");
}

#[test]
fn names_do_what_the_methods_do() {
    let [x, y] = operands(DType::F32);
    let cases = [
        (op("tanh").unwrap().on(&[&x]).run(), x.tanh()),
        (op("RSub").unwrap().on(&[&x, &y]).run(), x.rsub(&y)),
        (
            op("squaredsubtract").unwrap().on(&[&x, &y]).run(),
            x.squared_difference(&y),
        ),
        (
            op("maximum").unwrap().on(&[&x]).scalar(0.5).run(),
            x.maximum(0.5),
        ),
        (
            op("max").unwrap().on(&[&x]).axes(keep([0, 2])).run(),
            x.max(keep([0, 2])),
        ),
        (op("std").unwrap().on(&[&x]).axes(0).run(), x.std(0)),
        (op("imax").unwrap().on(&[&x]).run(), x.argmax(..)),
        (
            op("IAMin").unwrap().on(&[&x]).axes(1).run(),
            x.arg_abs_min(1),
        ),
        (op("cumsum").unwrap().on(&[&x]).axes(2).run(), x.cumsum(2)),
    ];
    for (index, (found, expected)) in cases.into_iter().enumerate() {
        assert_eq!(found.unwrap(), expected.unwrap(), "case {index}");
    }
    // In place: the output is an operand.
    let z = x.dup().unwrap();
    op("add").unwrap().on(&[&z, &y]).output(&z).run().unwrap();
    assert_eq!(z, x.add(&y).unwrap());
}

#[test]
fn wrong_names_and_operands_are_errors() {
    let [x, y] = operands(DType::F32);
    let texts = [
        (
            op("tahn").unwrap_err(),
            "op: there is no operation `tahn`",
            "did you mean `tanh`",
        ),
        (
            op("reduce_summ").unwrap_err(),
            "op: there is no operation `reduce_summ`",
            "did you mean `reduce_sum`",
        ),
        (
            op("").unwrap_err(),
            "op: there is no operation ``",
            "`Op::all()` lists every one",
        ),
        (
            op("convolution3d").unwrap_err(),
            "op: there is no operation `convolution3d`",
            "  help: `Op::all()` lists every one",
        ),
        (
            op("add").unwrap().on(&[&x]).run().unwrap_err(),
            "add: takes 2 operand(s), got 1",
            "`scalar`",
        ),
        (
            op("add")
                .unwrap()
                .on(&[&x, &y])
                .scalar(1)
                .run()
                .unwrap_err(),
            "add: takes 2 operand(s), got 3",
            "`scalar`",
        ),
        (
            op("exp").unwrap().on(&[]).run().unwrap_err(),
            "exp: takes 1 operand(s), got 0",
            "`on`",
        ),
        (
            op("cumsum").unwrap().on(&[&x]).run().unwrap_err(),
            "cumsum: needs one axis",
            "",
        ),
        (
            op("sum")
                .unwrap()
                .on(&[&x])
                .axes(3)
                .output_shape()
                .unwrap_err(),
            "sum: ",
            "axis",
        ),
        (
            op("bit_not").unwrap().on(&[&x]).output_dtype().unwrap_err(),
            "bit_not: not defined for dtype f32",
            "",
        ),
        (
            op("add")
                .unwrap()
                .on(&[&x, &x.transpose()])
                .output_shape()
                .unwrap_err(),
            "add: shapes [2, 3, 4] and [4, 3, 2] do not broadcast",
            "",
        ),
    ];
    for (error, start, part) in texts {
        let text = error.to_string();
        assert!(text.starts_with(start) && text.contains(part), "{text}");
    }
}

/// S18 and the rules of ND4J's NDArrayStrings, beside our own.
#[test]
fn printing_has_options() {
    let a = NdArray::from_vec_order(vec![1f64, 2e7, 40.838383, 3.0], [2, 2], Order::F).unwrap();
    let plain = |a: &NdArray, options: &PrintOptions| {
        a.display(options).to_string().replace([' ', '\n'], "")
    };
    let nd4j = PrintOptions::nd4j();
    assert_eq!(
        plain(&a, &nd4j.clone().precision(3)),
        "[[1.000,40.838],[2e7,3.000]]"
    );
    assert_eq!(plain(&a, &nd4j), "[[1.0000,40.8384],[2e7,3.0000]]");
    let b = NdArray::from([
        0.0f64,
        9999.0,
        10000.0,
        1e-4,
        9.9e-5,
        -12345.678,
        f64::NAN,
        f64::INFINITY,
    ]);
    assert_eq!(
        plain(&b, &nd4j),
        "[0,9999.0000,1e4,0.0001,9.9e-5,-1.2346e4,nan,inf]"
    );
    let options = PrintOptions::new;
    let cases = [
        (
            NdArray::from([1e10f64, 1.0]),
            options().notation(Notation::Fixed).precision(1),
            "[10000000000.0,           1.0]",
        ),
        (
            NdArray::from([1.0f32, 2.0]),
            options().notation(Notation::Scientific),
            "[1.0e+00, 2.0e+00]",
        ),
        (
            NdArray::from([[1i32, 2], [3, 4]]),
            options().separator(" |"),
            "[[1 | 2],\n [3 | 4]]",
        ),
        (
            NdArray::arange_of(DType::I32, 0, 9, 1).unwrap(),
            options().threshold(8).edge(1),
            "[0, ..., 8]",
        ),
        (
            NdArray::arange_of(DType::I32, 0, 9, 1).unwrap(),
            options().threshold(8).edge(0),
            "[0, ..., 8]",
        ),
        (
            NdArray::arange_of(DType::I32, 0, 9, 1).unwrap(),
            options().threshold(8).edge(usize::MAX),
            "[0, 1, 2, 3, 4, 5, 6, 7, 8]",
        ),
        (
            NdArray::arange_of(DType::I32, 0, 6, 1).unwrap(),
            options().line_width(10),
            "[0, 1, 2,\n 3, 4, 5]",
        ),
        (NdArray::from(2.5f32), options().precision(3), "2.500"),
        (NdArray::zeros([0]).unwrap(), options(), "[]"),
    ];
    for (array, options, expected) in cases {
        assert_eq!(array.display(&options).to_string(), expected, "{options:?}");
    }
    let view = NdArray::arange(0, 6, 1).unwrap().get(&s![1..;2]).unwrap();
    assert_eq!(
        format!("{view:?}"),
        "f32 [3] strided view of 6 elements\n[1.0, 3.0, 5.0]"
    );
}
