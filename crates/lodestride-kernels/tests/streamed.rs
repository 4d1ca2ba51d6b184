//! Results that go past the caches are those that do not, to the bit, in every layout, and nothing around them is written.
//! A test binary of its own, with one test: the threshold belongs to the process.

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; functions outside `#[test]` are not recognised"
)]

mod support;

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::random::{bernoulli, normal, uniform};
use lodestride_kernels::{
    BinaryOp, Input, Operand, Program, ProgramBuilder, ReduceOp, ScanOp, UnaryOp, binary, copy,
    reduce, scan, set_thresholds, thresholds, unary,
};
use support::{Arrangement, Array};

/// From one element to pieces of every kind: whole, cut off, at every place within a line.
const SHAPES: [&[usize]; 9] = [
    &[],
    &[0],
    &[1],
    &[77],
    &[1024],
    &[3, 1024],
    &[5, 1000],
    &[3, 65, 67],
    &[2, 4501],
];

fn sample(i: usize) -> Scalar {
    Scalar::Float(((i * 37) % 101) as f64 / 16.0 - 3.0)
}

fn other(i: usize) -> Scalar {
    Scalar::Float(((i * 53) % 89) as f64 / 8.0 + 0.5)
}

/// `(x - y) * y`, one call, and with `long` a chain of several.
fn program(dtype: DType, long: bool) -> Program {
    let mut b = ProgramBuilder::new("chain");
    let (x, y) = (b.load(dtype), b.load(dtype));
    let difference = b.binary(BinaryOp::Sub, x, y).unwrap();
    let mut result = b.binary(BinaryOp::Mul, difference, y).unwrap();
    if long {
        let half = b.constant(Scalar::Float(0.5), dtype).unwrap();
        let bounded = b.unary(UnaryOp::Tanh, result).unwrap();
        result = b.binary(BinaryOp::Div, bounded, half).unwrap();
    }
    b.store(result);
    b.finish()
}

/// What fills an array with random numbers.
type Draw = fn(Operand<'_>);

const DRAWS: [(&str, Draw); 3] = [
    ("uniform", |out| uniform(7, 1, -1.0, 2.0, out).unwrap()),
    ("normal", |out| normal(7, 1, -1.0, 2.0, out).unwrap()),
    ("bernoulli", |out| bernoulli(7, 1, 0.3, out).unwrap()),
];

/// All bytes of a call's output buffer: what `call` wrote, and what lies around it.
fn written(shape: &[usize], to: Arrangement, dtype: DType, call: impl Fn(&Array)) -> Vec<u8> {
    let out = Array::new(shape, to, dtype, |_| Scalar::Int(1));
    call(&out);
    let guard = out.buffer.read().unwrap();
    guard.slice::<u8>().to_vec()
}

/// A call, and the shape, arrangement and dtype of what it writes.
type Check<'c> = dyn FnMut(String, &[usize], Arrangement, DType, &dyn Fn(&Array)) + 'c;

/// Reductions of long runs, which are read as several streams.
fn long_runs(check: &mut Check<'_>) {
    for shape in [&[5usize, 4501][..], &[9, 1030], &[1, 37_000], &[6, 4096]] {
        for lost in [false, true] {
            let value = |i: usize| match i % 9001 {
                5003 if lost => Scalar::Float(f64::NAN),
                _ => sample(i),
            };
            for dtype in [DType::F32, DType::F64, DType::I32] {
                let x = Array::new(shape, Arrangement::C, dtype, value);
                for op in [
                    ReduceOp::Sum,
                    ReduceOp::Max,
                    ReduceOp::MinAbs,
                    ReduceOp::Norm2,
                ] {
                    for axes in [&[1][..], &[0, 1]] {
                        let kept = &shape[..2 - axes.len()];
                        let case = format!("{op} {dtype} {shape:?} {axes:?} NaN {lost}");
                        check(case, kept, Arrangement::C, DType::F64, &|out| {
                            reduce(op, x.operand(), axes, out.operand()).unwrap();
                        });
                    }
                }
            }
        }
    }
}

/// Every scan along every axis.
fn scans(x: &Array, to: Arrangement, case: &dyn Fn(&str) -> String, check: &mut Check<'_>) {
    let operand = x.operand();
    for axis in 0..operand.shape().len() {
        for op in ScanOp::ALL {
            let result = op.result_dtype(operand.dtype());
            check(case(op.name()), operand.shape(), to, result, &|out| {
                scan(op, operand, axis, out.operand()).unwrap();
            });
        }
    }
}

#[test]
fn past_the_caches_is_the_same() {
    let (usual, mut past) = (thresholds(), thresholds());
    past.stream_bytes = 0;
    let mut failures = Vec::new();
    let mut check = |case: String, shape: &[usize], to, dtype, call: &dyn Fn(&Array)| {
        set_thresholds(usual);
        let wanted = written(shape, to, dtype, call);
        set_thresholds(past);
        if written(shape, to, dtype, call) != wanted {
            failures.push(case);
        }
    };
    for shape in SHAPES {
        for (number, from) in Arrangement::ALL.into_iter().enumerate() {
            let to = Arrangement::WRITABLE[number % 4];
            for to in [Arrangement::C, to] {
                for dtype in [DType::F32, DType::F64, DType::F16, DType::I32, DType::U8] {
                    let x = Array::new(shape, Arrangement::C, dtype, sample);
                    let z = Array::new(shape, from, dtype, other);
                    let (x, y): (Input<'_>, Input<'_>) = (x.operand().into(), z.operand().into());
                    let case = |name: &str| format!("{name} {dtype} {shape:?} {from:?} -> {to:?}");
                    for op in [BinaryOp::Add, BinaryOp::Mul, BinaryOp::Lt, BinaryOp::Pow] {
                        let result = op.result_dtype(dtype).unwrap();
                        check(case(op.name()), shape, to, result, &|out| {
                            binary(op, x, y, out.operand()).unwrap();
                        });
                    }
                    check(case("copy"), shape, to, DType::F64, &|out| {
                        copy(y, out.operand()).unwrap();
                    });
                    scans(
                        &Array::new(shape, from, dtype, other),
                        to,
                        &case,
                        &mut check,
                    );
                    if !dtype.is_float() {
                        continue;
                    }
                    for op in [UnaryOp::Neg, UnaryOp::Sqrt, UnaryOp::Exp, UnaryOp::Sin] {
                        check(case(op.name()), shape, to, dtype, &|out| {
                            unary(op, y, out.operand()).unwrap();
                        });
                    }
                    for long in [false, true] {
                        let program = program(dtype, long);
                        check(case(program.name()), shape, to, dtype, &|out| {
                            program.run(&[x, y], &[out.operand()]).unwrap();
                        });
                    }
                    for (name, draw) in DRAWS {
                        check(case(name), shape, to, dtype, &|out| draw(out.operand()));
                    }
                }
            }
        }
    }
    long_runs(&mut check);
    assert!(failures.is_empty(), "cases:\n{}", failures.join("\n"));
}
