//! Fused programs against the same operations one by one, over layouts, dtypes, scalars and shared memory.

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; functions outside `#[test]` are not recognised"
)]

mod support;

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{
    BinaryOp, Input, KernelError, Operand, Program, ProgramBuilder, UnaryOp, binary, copy, select,
    unary,
};
use support::{Arrangement, Array, close};

fn sample(i: usize) -> Scalar {
    Scalar::Float(((i * 37) % 101) as f64 / 16.0 - 3.0)
}

/// z0 = select(x < y, sqrt(|x|) * 2, y) and z1 = x - y.
fn program(dtype: DType) -> Program {
    let mut program = ProgramBuilder::new("fused");
    let (x, y) = (program.load(dtype), program.load(dtype));
    let less = program.binary(BinaryOp::Lt, x, y).unwrap();
    let size = program.unary(UnaryOp::Abs, x).unwrap();
    let root = program.unary(UnaryOp::Sqrt, size).unwrap();
    let two = program.constant(Scalar::Int(2), dtype).unwrap();
    let twice = program.binary(BinaryOp::Mul, root, two).unwrap();
    let chosen = program.select(less, twice, y);
    let difference = program.binary(BinaryOp::Sub, x, y).unwrap();
    assert_eq!((program.store(chosen), program.store(difference)), (0, 1));
    program.finish()
}

/// The same by single operations into dense arrays.
fn one_by_one(
    dtype: DType,
    x: Input<'_>,
    y: Input<'_>,
    shape: &[usize],
) -> (Vec<Scalar>, Vec<Scalar>) {
    let make = |dtype| Array::new(shape, Arrangement::C, dtype, |_| Scalar::Int(0));
    let root_dtype = UnaryOp::Sqrt.result_dtype(dtype).unwrap();
    let (less, size, root, twice) = (
        make(DType::Bool),
        make(dtype),
        make(root_dtype),
        make(root_dtype),
    );
    let (chosen, difference) = (make(root_dtype), make(dtype));
    binary(BinaryOp::Lt, x, y, less.operand()).unwrap();
    unary(UnaryOp::Abs, x, size.operand()).unwrap();
    unary(UnaryOp::Sqrt, size.operand().into(), root.operand()).unwrap();
    binary(
        BinaryOp::Mul,
        root.operand().into(),
        Scalar::Int(2).into(),
        twice.operand(),
    )
    .unwrap();
    select(
        less.operand().into(),
        twice.operand().into(),
        y,
        chosen.operand(),
    )
    .unwrap();
    binary(BinaryOp::Sub, x, y, difference.operand()).unwrap();
    (chosen.values(), difference.values())
}

#[test]
fn a_program_gives_what_its_operations_give() {
    let mut failures = Vec::new();
    for dtype in [DType::F32, DType::F64, DType::F16, DType::I32] {
        let program = program(dtype);
        for (i, left) in Arrangement::ALL.into_iter().enumerate() {
            for shape in [
                &[][..],
                &[0],
                &[5],
                &[4, 3, 70],
                &[30, 100],
                &[50, 60, 3],
                &[2500],
            ] {
                let (right, to) = (
                    Arrangement::ALL[(i + 3) % Arrangement::ALL.len()],
                    Arrangement::WRITABLE[i % Arrangement::WRITABLE.len()],
                );
                let x = Array::new(shape, left, dtype, sample);
                let y = Array::new(shape, right, dtype, |i| sample(i + 50));
                let first = Array::new(shape, to, program.output_dtype(0).unwrap(), |_| {
                    Scalar::Int(0)
                });
                let second = Array::new(shape, Arrangement::C, dtype, |_| Scalar::Int(0));
                let wanted = one_by_one(dtype, x.operand().into(), y.operand().into(), shape);
                program
                    .run(
                        &[x.operand().into(), y.operand().into()],
                        &[first.operand(), second.operand()],
                    )
                    .unwrap();
                if (first.values(), second.values()) != wanted {
                    failures.push(format!("{dtype} {shape:?} {left:?} {right:?} -> {to:?}"));
                }
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} cases differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn one_row_stands_for_all() {
    let mut failures = Vec::new();
    for dtype in [DType::F32, DType::F64, DType::F16] {
        let program = program(dtype);
        for shape in [[1, 16], [7, 15], [7, 16], [3, 77], [40, 300], [600, 500]] {
            let array = |rows: usize, seed: usize| {
                Array::new(&[rows, shape[1]], Arrangement::C, dtype, move |i| {
                    sample(i + seed)
                })
            };
            for (rows, in_place) in [(1, false), (shape[0], false), (shape[0], true)] {
                let (x, y, first) = (array(rows, 0), array(1, 9), array(shape[0], 1));
                let layouts = [&x, &y].map(|a| {
                    let layout = a.operand().layout().clone();
                    layout.broadcast_to(&shape.into()).unwrap()
                });
                let (a, b) = (x.operand(), y.operand());
                let a = Operand::new(a.buffer(), &layouts[0], dtype).unwrap();
                let b = Operand::new(b.buffer(), &layouts[1], dtype).unwrap();
                let wanted = one_by_one(dtype, a.into(), b.into(), &shape);
                let (target, second) = (if in_place { &x } else { &first }, array(shape[0], 2));
                let outputs = [target.operand(), second.operand()];
                program.run(&[a.into(), b.into()], &outputs).unwrap();
                if (target.values(), second.values()) != wanted {
                    failures.push(format!("{dtype} {shape:?} {rows} rows, {in_place}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn outputs_may_be_the_inputs_and_other_dtypes_are_converted() {
    let shape = [40, 70];
    let dtype = DType::F32;
    let program = program(dtype);
    let make = |seed: usize| Array::new(&shape, Arrangement::C, dtype, move |i| sample(i + seed));
    let (x, y) = (make(0), make(9));
    let wanted = one_by_one(dtype, x.operand().into(), y.operand().into(), &shape);
    program
        .run(
            &[x.operand().into(), y.operand().into()],
            &[x.operand(), y.operand()],
        )
        .unwrap();
    assert_eq!((x.values(), y.values()), wanted, "both outputs in place");
    let (x, y) = (make(0), make(9));
    program
        .run(
            &[x.operand().into(), y.operand().into()],
            &[y.operand(), x.operand()],
        )
        .unwrap();
    assert_eq!((y.values(), x.values()), wanted, "exchanged");
    // Doubles in, a window of whole numbers out, one input a scalar.
    let x = Array::new(&shape, Arrangement::Strided, DType::F64, sample);
    let as_single = make(0);
    copy(x.operand().into(), as_single.operand()).unwrap();
    let one = Scalar::Float(1.0);
    let wanted = one_by_one(dtype, as_single.operand().into(), one.into(), &shape);
    let rounded = Array::new(&shape, Arrangement::Reversed, DType::I16, |_| {
        Scalar::Int(0)
    });
    let second = make(0);
    program
        .run(
            &[x.operand().into(), one.into()],
            &[rounded.operand(), second.operand()],
        )
        .unwrap();
    for (found, wanted) in rounded.values().into_iter().zip(&wanted.0) {
        assert_eq!(found.as_i64(), wanted.as_f64() as i64);
    }
    assert!(
        second
            .values()
            .into_iter()
            .zip(wanted.1)
            .all(|(a, b)| close(a, b, dtype, 0.0))
    );
}

#[test]
fn wrong_runs_are_errors() {
    let program = program(DType::F32);
    assert_eq!(
        (program.inputs(), program.outputs(), program.name()),
        (2, 2, "fused")
    );
    let x = Array::new(&[4], Arrangement::C, DType::F32, sample);
    let y = Array::new(&[5], Arrangement::C, DType::F32, sample);
    let other = Array::new(&[4], Arrangement::C, DType::F32, sample);
    let error = program
        .run(&[x.operand().into()], &[x.operand(), other.operand()])
        .unwrap_err();
    assert!(matches!(error, KernelError::Count { .. }), "{error}");
    let inputs = [x.operand().into(), x.operand().into()];
    let error = program
        .run(&inputs, &[x.operand(), x.operand()])
        .unwrap_err();
    assert!(
        matches!(error, KernelError::OverlappingOutputs { .. }),
        "{error}"
    );
    let error = program
        .run(&inputs, &[x.operand(), y.operand()])
        .unwrap_err();
    assert!(
        matches!(error, KernelError::ShapeMismatch { .. }),
        "{error}"
    );
    let held = other.buffer.read().unwrap();
    let error = program
        .run(&inputs, &[x.operand(), other.operand()])
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("Op [fused] output 1 argument is in use"),
        "{error}"
    );
    drop(held);
    assert!(
        program.to_string().contains("%2: bool = lt %0 %1"),
        "{program}"
    );
}
