//! Inputs that lie crosswise to the outputs, turned band by band, against plain indexing. A test binary of its own, with one test:
//! the number of threads belongs to the process.

#![expect(
    clippy::unwrap_used,
    reason = "a test may panic; functions outside `#[test]` are not recognised"
)]

mod support;

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{
    BinaryOp, ProgramBuilder, Thresholds, UnaryOp, binary, set_threads, set_thresholds, thresholds,
    unary,
};
use lodestride_shape::Layout;
use support::{Arrangement, Array};

/// A shape and the memory order of the input's axes. Bands of whole rows, of parts of an axis, of an axis within another, of one
/// that is left over; and shapes too narrow, too small or too much alike for bands.
const CASES: [(&[usize], &[isize]); 12] = [
    (&[70, 90], &[1, 0]),
    (&[133, 530], &[1, 0]),
    (&[1030, 70], &[1, 0]),
    (&[5, 64, 33], &[0, 2, 1]),
    (&[5, 64, 33], &[2, 1, 0]),
    (&[40, 1, 130], &[2, 1, 0]),
    (&[3, 17, 16, 19], &[0, 2, 3, 1]),
    (&[2, 36, 50, 20], &[1, 2, 3, 0]),
    (&[2, 36, 50, 20], &[2, 3, 0, 1]),
    (&[300, 15], &[1, 0]),
    (&[60, 60], &[1, 0]),
    (&[64, 64], &[0, 1]),
];

fn sample(i: usize) -> Scalar {
    Scalar::Int(((i * 37) % 101) as i64)
}

fn other(i: usize) -> Scalar {
    Scalar::Int(((i * 53) % 23) as i64)
}

/// An array of this shape whose memory has its axes in this order, outermost first.
fn permuted(
    shape: &[usize],
    order: &[isize],
    arrangement: Arrangement,
    dtype: DType,
    value: fn(usize) -> Scalar,
) -> Array {
    let sizes: Vec<usize> = order.iter().map(|&axis| shape[axis as usize]).collect();
    let mut back = vec![0; order.len()];
    for (place, &axis) in order.iter().enumerate() {
        back[axis as usize] = place as isize;
    }
    let array = Array::new(&sizes, arrangement, dtype, value);
    let layout = array.layout.permute(&back).unwrap();
    Array { layout, ..array }
}

fn numbers(array: &Array) -> Vec<f64> {
    let values = array.values().into_iter();
    values.map(|value| value.cast::<f64>()).collect()
}

/// Every call of a case whose results differ from those of plain indexing.
fn failures(
    shape: &[usize],
    order: &[isize],
    dtype: DType,
    [from, target]: [Arrangement; 2],
) -> Vec<String> {
    let mut failures = Vec::new();
    let x = permuted(shape, order, from, dtype, sample);
    let y = permuted(shape, order, Arrangement::C, dtype, other);
    let z = Array::new(shape, Arrangement::C, dtype, other);
    let out = Array::new(shape, target, dtype, |_| Scalar::Int(0));
    let [xs, ys, zs] = [&x, &y, &z].map(numbers);
    let mut check = |call: &str, wanted: &dyn Fn(usize) -> f64| {
        let found = numbers(&out);
        if let Some(at) = (0..found.len()).find(|&i| found[i] != wanted(i)) {
            failures.push(format!(
                "{call} {dtype} {shape:?} {order:?} {from:?} -> {target:?}: element {at} is {}, not {}",
                found[at],
                wanted(at)
            ));
        }
    };
    let add = |a: &Array, b: &Array| {
        let (a, b) = (a.operand().into(), b.operand().into());
        binary(BinaryOp::Add, a, b, out.operand()).unwrap();
    };
    unary(UnaryOp::Abs, x.operand().into(), out.operand()).unwrap();
    check("abs", &|i| xs[i]);
    add(&z, &x);
    check("dense + crosswise", &|i| zs[i] + xs[i]);
    add(&x, &y);
    check("crosswise + crosswise", &|i| xs[i] + ys[i]);
    let mut b = ProgramBuilder::new("chain");
    let loads = [b.load(dtype), b.load(dtype), b.load(dtype)];
    let sum = b.binary(BinaryOp::Add, loads[0], loads[1]).unwrap();
    let sum = b.binary(BinaryOp::Add, sum, loads[2]).unwrap();
    b.store(sum);
    let inputs = [x.operand().into(), z.operand().into(), y.operand().into()];
    b.finish().run(&inputs, &[out.operand()]).unwrap();
    check("program", &|i| xs[i] + ys[i] + zs[i]);
    failures
}

/// An input in the block of the output: the left half of a matrix, transposed, goes to the right half.
fn beside() {
    let n = 80;
    let array = Array::new(&[n, 2 * n], Arrangement::C, DType::F64, sample);
    let half = |start: usize, strides: [isize; 2]| Array {
        layout: Layout::new([n, n], strides, array.layout.offset() + start).unwrap(),
        ..array.clone()
    };
    let step = 2 * n as isize;
    let (x, out) = (half(0, [1, step]), half(n, [step, 1]));
    let wanted = numbers(&x);
    unary(UnaryOp::Abs, x.operand().into(), out.operand()).unwrap();
    assert_eq!(numbers(&out), wanted);
    assert_eq!(numbers(&x), wanted);
}

#[test]
fn crosswise_inputs_are_read_as_any_other() {
    beside();
    let usual = thresholds();
    let low = Thresholds {
        light_bytes: 1 << 12,
        heavy_bytes: 1 << 12,
        stream_bytes: 1 << 16,
    };
    let mut failing = Vec::new();
    let mut dtypes = [DType::U8, DType::F16, DType::F32, DType::I64]
        .into_iter()
        .cycle();
    for (threads, limits) in [(1, usual), (3, low)] {
        set_threads(threads);
        set_thresholds(limits);
        for (shape, order) in CASES {
            for target in Arrangement::WRITABLE {
                for (from, dtype) in Arrangement::WRITABLE.into_iter().zip(&mut dtypes) {
                    failing.extend(failures(shape, order, dtype, [from, target]));
                }
            }
            // Another pairing for the next case.
            dtypes.next();
        }
    }
    set_threads(0);
    set_thresholds(usual);
    let count = failing.len();
    assert!(count == 0, "{count} fail:\n{}", failing.join("\n"));
}
