//! Every operation, for every dtype it claims, over the layout matrix, against a plain scalar reference.

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; functions outside `#[test]` are not recognised"
)]

mod support;

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{
    BinaryOp, Input, KernelError, UnaryOp, binary, clip, copy, select, unary,
};
use lodestride_shape::Layout;
use support::{Arrangement, Array, close, reference_binary, reference_unary, through};

/// Whole numbers and halves around zero, repeated; every dtype holds what is left of them after conversion exactly.
fn sample(i: usize) -> Scalar {
    const VALUES: [f64; 12] = [
        1.0, -2.0, 0.5, 3.0, 0.0, -1.0, 2.5, 7.0, -0.5, 6.0, 0.25, -3.0,
    ];
    Scalar::Float(VALUES[i % VALUES.len()])
}

fn other(i: usize) -> Scalar {
    const VALUES: [f64; 7] = [2.0, 1.0, 0.5, -1.0, 3.0, 4.0, -2.5];
    Scalar::Float(VALUES[i % VALUES.len()])
}

/// Collects failures so that one run shows them all.
#[derive(Default)]
struct Report(Vec<String>);

impl Report {
    fn compare(&mut self, case: &str, found: &[Scalar], wanted: &[Scalar], dtype: DType) {
        // The reference of f32 and halves is rounded once from f64; of the f64 itself it is another library's.
        let bad = found
            .iter()
            .zip(wanted)
            .position(|(&a, &b)| !close(a, b, dtype, 4.0));
        if found.len() != wanted.len() {
            self.0.push(format!(
                "{case}: {} elements instead of {}",
                found.len(),
                wanted.len()
            ));
        } else if let Some(at) = bad {
            self.0.push(format!(
                "{case}: element {at} is {} instead of {}",
                found[at], wanted[at]
            ));
        }
    }

    fn finish(self) {
        assert!(
            self.0.is_empty(),
            "{} cases fail:\n{}",
            self.0.len(),
            self.0.join("\n")
        );
    }
}

const SHAPES: [&[usize]; 9] = [
    &[],
    &[0],
    &[5],
    &[3, 4],
    &[2, 0, 3],
    &[2, 3, 70],
    &[1, 1100],
    &[20, 70],
    &[5, 4, 64],
];

#[test]
fn unary_operations_match_the_reference_in_every_layout() {
    let mut report = Report::default();
    for &op in UnaryOp::ALL {
        for dtype in DType::ALL {
            let Some(result) = op.result_dtype(dtype) else {
                continue;
            };
            let matrix = if matches!(dtype, DType::F32 | DType::I32) {
                4
            } else {
                1
            };
            for shape in SHAPES {
                for (from, to) in pairs(matrix) {
                    let x = Array::new(shape, from, dtype, sample);
                    let out = Array::new(shape, to, result, |_| Scalar::Int(0));
                    let case = format!("{op} {dtype} {shape:?} {from:?} -> {to:?}");
                    let wanted: Vec<Scalar> = x
                        .values()
                        .into_iter()
                        .map(|x| reference_unary(op, dtype, x))
                        .collect();
                    match unary(op, x.operand().into(), out.operand()) {
                        Ok(()) => report.compare(&case, &out.values(), &wanted, result),
                        Err(error) => report.0.push(format!("{case}: {error}")),
                    }
                }
            }
        }
    }
    report.finish();
}

/// Source and destination arrangements: all of them, or each once.
fn pairs(matrix: usize) -> Vec<(Arrangement, Arrangement)> {
    let all = Arrangement::ALL.into_iter().enumerate();
    all.flat_map(|(i, from)| {
        let targets = Arrangement::WRITABLE;
        (0..matrix).map(move |j| (from, targets[(i + j) % targets.len()]))
    })
    .collect()
}

#[test]
fn binary_operations_match_the_reference_in_every_layout() {
    let mut report = Report::default();
    for &op in BinaryOp::ALL {
        for dtype in DType::ALL {
            let Some(result) = op.result_dtype(dtype) else {
                continue;
            };
            for (case_number, shape) in SHAPES.into_iter().enumerate() {
                for (i, left) in Arrangement::ALL.into_iter().enumerate() {
                    let (right, to) = (
                        Arrangement::ALL[(i + case_number) % 7],
                        Arrangement::WRITABLE[(i + case_number) % 4],
                    );
                    let x = Array::new(shape, left, dtype, sample);
                    let y = Array::new(shape, right, dtype, other);
                    let out = Array::new(shape, to, result, |_| Scalar::Int(0));
                    let case = format!("{op} {dtype} {shape:?} {left:?} {right:?} -> {to:?}");
                    let wanted: Vec<Scalar> = (x.values().into_iter().zip(y.values()))
                        .map(|(x, y)| reference_binary(op, dtype, x, y))
                        .collect();
                    match binary(op, x.operand().into(), y.operand().into(), out.operand()) {
                        Ok(()) => report.compare(&case, &out.values(), &wanted, result),
                        Err(error) => report.0.push(format!("{case}: {error}")),
                    }
                }
            }
        }
    }
    report.finish();
}

#[test]
fn scalars_take_either_side() {
    let mut report = Report::default();
    for &op in BinaryOp::ALL {
        for dtype in [DType::F32, DType::F64, DType::I32, DType::F16, DType::U8] {
            let Some(result) = op.result_dtype(dtype) else {
                continue;
            };
            for from in Arrangement::ALL {
                let x = Array::new(&[4, 100], from, dtype, sample);
                let out = Array::new(&[4, 100], Arrangement::C, result, |_| Scalar::Int(0));
                let two = Scalar::Int(2);
                let right: Vec<Scalar> = x
                    .values()
                    .into_iter()
                    .map(|x| reference_binary(op, dtype, x, two))
                    .collect();
                let left: Vec<Scalar> = x
                    .values()
                    .into_iter()
                    .map(|x| reference_binary(op, dtype, two, x))
                    .collect();
                binary(op, x.operand().into(), two.into(), out.operand()).unwrap();
                report.compare(
                    &format!("{op} {dtype} {from:?} scalar right"),
                    &out.values(),
                    &right,
                    result,
                );
                binary(op, two.into(), x.operand().into(), out.operand()).unwrap();
                report.compare(
                    &format!("{op} {dtype} {from:?} scalar left"),
                    &out.values(),
                    &left,
                    result,
                );
            }
        }
    }
    report.finish();
}

/// What `op` gives for lists of elements.
fn all(op: BinaryOp, dtype: DType, x: &[Scalar], y: &[Scalar]) -> Vec<Scalar> {
    let pairs = x.iter().zip(y);
    pairs
        .map(|(&x, &y)| reference_binary(op, dtype, x, y))
        .collect()
}

/// Operations with a result of the operands' dtype, the only ones an operand can hold.
fn closed_operations() -> impl Iterator<Item = (BinaryOp, DType)> {
    let dtypes = [DType::F32, DType::I64, DType::Bool];
    let pairs = BinaryOp::ALL
        .iter()
        .flat_map(move |&op| dtypes.map(|dtype| (op, dtype)));
    pairs.filter(|&(op, dtype)| op.result_dtype(dtype) == Some(dtype))
}

const LONG: usize = 2500;

fn long(dtype: DType) -> Array {
    Array::new(&[LONG], Arrangement::C, dtype, sample)
}

#[test]
fn either_operand_or_both_may_be_the_output() {
    let mut report = Report::default();
    for (op, dtype) in closed_operations() {
        let y = Array::new(&[LONG], Arrangement::Reversed, dtype, other);
        let (before, right) = (long(dtype).values(), y.values());
        let x = long(dtype);
        binary(op, x.operand().into(), y.operand().into(), x.operand()).unwrap();
        report.compare(
            &format!("{op} {dtype} x = x op y"),
            &x.values(),
            &all(op, dtype, &before, &right),
            dtype,
        );
        let x = long(dtype);
        binary(op, y.operand().into(), x.operand().into(), x.operand()).unwrap();
        report.compare(
            &format!("{op} {dtype} x = y op x"),
            &x.values(),
            &all(op, dtype, &right, &before),
            dtype,
        );
        let x = long(dtype);
        binary(op, x.operand().into(), x.operand().into(), x.operand()).unwrap();
        report.compare(
            &format!("{op} {dtype} x = x op x"),
            &x.values(),
            &all(op, dtype, &before, &before),
            dtype,
        );
        let (x, one) = (long(dtype), Scalar::Int(1));
        let ones = vec![one; LONG];
        // Beside a `bool` array a whole number is not a bool, but computed in i64.
        let wide = dtype.promote_scalar(one.kind());
        binary(op, x.operand().into(), one.into(), x.operand()).unwrap();
        let wanted: Vec<Scalar> = all(op, wide, &before, &ones)
            .into_iter()
            .map(|z| through(z, dtype))
            .collect();
        report.compare(
            &format!("{op} {dtype} x = x op 1"),
            &x.values(),
            &wanted,
            dtype,
        );
    }
    report.finish();
}

#[test]
fn operands_that_overlap_the_output_act_as_if_copied_first() {
    let mut report = Report::default();
    for (op, dtype) in closed_operations() {
        // The window from element 1 on gets the one before it.
        let x = long(dtype);
        let shifted = Array {
            layout: x.layout.shifted(1).unwrap(),
            ..x.clone()
        };
        let (before, after) = (x.values(), shifted.values());
        binary(
            op,
            shifted.operand().into(),
            x.operand().into(),
            shifted.operand(),
        )
        .unwrap();
        report.compare(
            &format!("{op} {dtype} windows"),
            &shifted.values(),
            &all(op, dtype, &after, &before),
            dtype,
        );
        // A square and its transpose.
        let view = |strides: [isize; 2], of: &Array| Array {
            layout: Layout::new([50, 50], strides.as_slice(), 3).unwrap(),
            ..of.clone()
        };
        let square = view([50, 1], &long(dtype));
        let turned = view([1, 50], &square);
        let (rows, columns) = (square.values(), turned.values());
        binary(
            op,
            square.operand().into(),
            turned.operand().into(),
            square.operand(),
        )
        .unwrap();
        report.compare(
            &format!("{op} {dtype} x = x op x'"),
            &square.values(),
            &all(op, dtype, &rows, &columns),
            dtype,
        );
    }
    report.finish();
}

#[test]
fn unary_operations_run_in_place_in_every_layout() {
    let mut report = Report::default();
    let dtype = DType::F32;
    for &op in UnaryOp::ALL {
        if op.result_dtype(dtype) != Some(dtype) {
            continue;
        }
        for arrangement in Arrangement::WRITABLE {
            let x = Array::new(&[7, 300], arrangement, dtype, sample);
            let wanted: Vec<Scalar> = x
                .values()
                .into_iter()
                .map(|x| reference_unary(op, dtype, x))
                .collect();
            unary(op, x.operand().into(), x.operand()).unwrap();
            report.compare(
                &format!("{op} in place {arrangement:?}"),
                &x.values(),
                &wanted,
                dtype,
            );
        }
    }
    report.finish();
}

#[test]
fn copies_convert_between_every_two_dtypes_and_layouts() {
    let mut report = Report::default();
    for from in DType::ALL {
        for to in DType::ALL {
            for (source, target) in pairs(if from == to { 4 } else { 1 }) {
                let x = Array::new(&[3, 90], source, from, sample);
                let out = Array::new(&[3, 90], target, to, |_| Scalar::Int(1));
                let wanted: Vec<Scalar> = x.values().into_iter().map(|x| through(x, to)).collect();
                copy(x.operand().into(), out.operand()).unwrap();
                report.compare(
                    &format!("{from} {source:?} to {to} {target:?}"),
                    &out.values(),
                    &wanted,
                    to,
                );
            }
        }
        for target in Arrangement::WRITABLE {
            let out = Array::new(&[3, 90], target, from, |_| Scalar::Int(0));
            copy(Scalar::Int(3).into(), out.operand()).unwrap();
            report.compare(
                &format!("fill {from} {target:?}"),
                &out.values(),
                &vec![through(Scalar::Int(3), from); 270],
                from,
            );
        }
    }
    report.finish();
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "three forms over one set of operands"
)]
fn select_and_clip_match_the_reference() {
    let mut report = Report::default();
    for dtype in DType::ALL {
        for (i, arrangement) in Arrangement::ALL.into_iter().enumerate() {
            let shape = [4, 70];
            let condition = Array::new(&shape, arrangement, DType::Bool, |i| {
                Scalar::Bool(i.is_multiple_of(3))
            });
            let a = Array::new(&shape, Arrangement::ALL[(i + 2) % 7], dtype, sample);
            let b = Array::new(&shape, Arrangement::ALL[(i + 4) % 7], dtype, other);
            let out = Array::new(&shape, Arrangement::WRITABLE[i % 4], dtype, |_| {
                Scalar::Int(0)
            });
            let pick = |b: &[Scalar]| -> Vec<Scalar> {
                let all = condition.values().into_iter().zip(a.values()).zip(b);
                all.map(|((condition, a), &b)| if condition.as_bool() { a } else { b })
                    .collect()
            };
            select(
                condition.operand().into(),
                a.operand().into(),
                b.operand().into(),
                out.operand(),
            )
            .unwrap();
            report.compare(
                &format!("select {dtype} {arrangement:?}"),
                &out.values(),
                &pick(&b.values()),
                dtype,
            );
            let one = through(Scalar::Bool(true), dtype);
            select(
                condition.operand().into(),
                a.operand().into(),
                Scalar::Bool(true).into(),
                out.operand(),
            )
            .unwrap();
            report.compare(
                &format!("select {dtype} scalar"),
                &out.values(),
                &pick(&vec![one; 280]),
                dtype,
            );
            if dtype != DType::Bool {
                let wanted: Vec<Scalar> = a
                    .values()
                    .into_iter()
                    .map(|x| through(Scalar::Float(x.as_f64().clamp(1.0, 3.0)), dtype))
                    .collect();
                clip(
                    a.operand().into(),
                    Scalar::Int(1),
                    Scalar::Int(3),
                    out.operand(),
                )
                .unwrap();
                report.compare(&format!("clip {dtype}"), &out.values(), &wanted, dtype);
            }
        }
    }
    report.finish();
}

/// Values under every mask, written over what is there: also masks and values that are the array itself or a part of it.
#[test]
fn select_writes_over_its_own_operand() {
    let mut report = Report::default();
    let mut check = |case: String, mask: &Array, a: Option<&Array>, out: &Array| {
        let number = through(Scalar::Int(1), out.dtype);
        let own = out.values();
        let values = a.map_or(vec![number; own.len()], Array::values);
        let wanted: Vec<Scalar> = (mask.values().into_iter().zip(values).zip(own))
            .map(|((flag, a), own)| if flag.as_bool() { a } else { own })
            .collect();
        let a = a.map_or(number.into(), |a| Input::from(a.operand()));
        match select(
            mask.operand().into(),
            a,
            out.operand().into(),
            out.operand(),
        ) {
            Ok(()) => report.compare(&case, &out.values(), &wanted, out.dtype),
            Err(error) => report.0.push(format!("{case}: {error}")),
        }
    };
    for dtype in DType::ALL {
        for shape in SHAPES.into_iter().chain([&[40, 130][..], &[9, 1024]]) {
            for (i, to) in Arrangement::WRITABLE
                .into_iter()
                .cycle()
                .take(8)
                .enumerate()
            {
                let flags = |i: usize| Scalar::Bool(i.is_multiple_of(3));
                let mask = Array::new(shape, Arrangement::ALL[i % 7], DType::Bool, flags);
                let out = Array::new(shape, to, dtype, sample);
                let a = Array::new(shape, Arrangement::ALL[(i + 3) % 7], dtype, other);
                let case = format!("{dtype} {shape:?} {to:?}");
                check(format!("{case} number"), &mask, None, &out);
                check(format!("{case} array"), &mask, Some(&a), &out);
                check(format!("{case} itself"), &mask, Some(&out), &out);
                if dtype == DType::Bool {
                    check(format!("{case} by itself"), &out, None, &out);
                }
            }
        }
        // The values are what is there, one element on.
        let mask = Array::new(&[5000], Arrangement::C, DType::Bool, |i| {
            Scalar::Bool(i % 2 == 0)
        });
        let on = Array::new(&[5000], Arrangement::C, dtype, sample);
        let layout = Layout::new([5000], [1isize].as_slice(), 4).unwrap();
        let shifted = Array {
            layout,
            ..on.clone()
        };
        check(format!("{dtype} shifted"), &mask, Some(&shifted), &on);
    }
    report.finish();
}

#[test]
fn wrong_calls_are_errors_and_write_nothing() {
    let x = Array::new(&[3, 4], Arrangement::C, DType::F32, sample);
    let y = Array::new(&[4], Arrangement::C, DType::F32, sample);
    let before = x.values();
    let add = |a: Input<'_>, b: Input<'_>| binary(BinaryOp::Add, a, b, x.operand());
    let error = add(x.operand().into(), y.operand().into()).unwrap_err();
    assert!(
        matches!(error, KernelError::ShapeMismatch { .. }),
        "{error}"
    );
    let row = Array::new(&[3, 4], Arrangement::RowBroadcast, DType::F32, sample);
    let error = unary(UnaryOp::Neg, x.operand().into(), row.operand()).unwrap_err();
    assert!(matches!(error, KernelError::Shape { .. }), "{error}");
    let reader = x.buffer.read().unwrap();
    let error = add(x.operand().into(), Scalar::Int(1).into()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("Op [add] Z argument is in use"),
        "{error}"
    );
    drop(reader);
    let small = Array::new(&[3], Arrangement::C, DType::U8, sample);
    let error = binary(
        BinaryOp::Add,
        small.operand().into(),
        Scalar::Int(300).into(),
        small.operand(),
    )
    .unwrap_err();
    assert!(
        matches!(error, KernelError::ScalarOutOfRange { .. }),
        "{error}"
    );
    let truth = Array::new(&[3], Arrangement::C, DType::Bool, |_| Scalar::Int(0));
    binary(
        BinaryOp::Lt,
        small.operand().into(),
        Scalar::Int(300).into(),
        truth.operand(),
    )
    .unwrap();
    assert_eq!(truth.values(), [Scalar::Bool(true); 3]);
    let error = unary(UnaryOp::Neg, truth.operand().into(), truth.operand()).unwrap_err();
    assert!(
        matches!(error, KernelError::UnsupportedDType { .. }),
        "{error}"
    );
    assert_eq!(x.values(), before);
}

#[test]
fn large_operands_are_divided_among_threads_without_a_trace() {
    let n = 1_500_000;
    for arrangement in [Arrangement::C, Arrangement::Strided, Arrangement::Reversed] {
        let x = Array::new(&[3, n / 3], arrangement, DType::F32, |i| {
            Scalar::Float((i % 1000) as f64)
        });
        let y = Array::new(&[3, n / 3], Arrangement::C, DType::F32, |i| {
            Scalar::Float((i % 777) as f64)
        });
        let out = Array::new(&[3, n / 3], Arrangement::C, DType::F32, |_| Scalar::Int(0));
        binary(
            BinaryOp::Add,
            x.operand().into(),
            y.operand().into(),
            out.operand(),
        )
        .unwrap();
        for (i, value) in out.values().into_iter().enumerate() {
            assert_eq!(
                value.as_f64(),
                (i % 1000 + i % 777) as f64,
                "{arrangement:?} {i}"
            );
        }
    }
}
