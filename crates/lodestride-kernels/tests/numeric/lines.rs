//! Lines of a few elements, few columns, and views with gaps, of every dtype: sizes around those from which on they are copied
//! in another way.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{
    ArgOp, Isa, ReduceOp, ScanOp, index_reduce, reduce, scan, set_threads, softmax,
};

use crate::reduce::{first_best, groups, reduced};
use crate::support::{Arrangement, Array};
use crate::{Report, floats, noise, zeros};

const SHAPES: [[usize; 3]; 14] = [
    [1, 70, 3],
    [1, 300, 4],
    [1, 33, 8],
    [1, 40, 9],
    [1, 20, 15],
    [1, 20, 16],
    [7, 3, 50],
    [50, 3, 7],
    [5, 70, 2],
    [1, 2100, 2],
    [1, 2, 1100],
    [2, 9, 130],
    [3, 30, 40],
    [1, 5, 600],
];

const AXES: [&[usize]; 6] = [&[0], &[1], &[2], &[0, 2], &[1, 2], &[0, 1, 2]];

/// The same array with its axes in another order.
fn turned(array: &Array, axes: &[isize]) -> Array {
    let layout = array.layout.permute(axes).unwrap();
    Array {
        layout,
        ..array.clone()
    }
}

/// Arrays of all shapes in all arrangements and orders of axes.
fn each(dtype: DType, value: impl Fn(usize) -> Scalar, mut job: impl FnMut(&str, &Array)) {
    for shape in SHAPES {
        for arrangement in Arrangement::ALL {
            let x = Array::new(&shape, arrangement, dtype, &value);
            for axes in [[0, 1, 2], [1, 0, 2], [2, 1, 0]] {
                let name = format!("{dtype} {shape:?} {arrangement:?} {axes:?}");
                job(&name, &turned(&x, &axes));
            }
        }
    }
}

/// Whole numbers with many ties and zeros, whose sums are exact in every dtype's sums.
fn whole(i: usize) -> Scalar {
    Scalar::Int(((i * 7 + i / 3) % 4) as i64)
}

#[test]
fn reductions_and_positions_match_the_reference() {
    let mut report = Report::default();
    let ops = [
        ReduceOp::Sum,
        ReduceOp::Mean,
        ReduceOp::Max,
        ReduceOp::Min,
        ReduceOp::Any,
        ReduceOp::All,
        ReduceOp::CountNonZero,
        ReduceOp::Var { ddof: 0 },
    ];
    for dtype in DType::ALL {
        each(dtype, whole, |name, x| {
            for axes in AXES {
                for op in ops {
                    let (shape, wanted) = reduced(op, x, axes);
                    let out = zeros(&shape, op.result_dtype(dtype));
                    reduce(op, x.operand(), axes, out.operand()).unwrap();
                    report.compare(&format!("{op} {name} over {axes:?}"), &out, &wanted, 8.0);
                }
                if let [_] | [_, _, _] = axes {
                    let (shape, groups) = groups(x, axes);
                    let axis = (axes.len() == 1).then_some(axes[0]);
                    for op in ArgOp::ALL {
                        let wanted = groups.iter().map(|g| first_best(op, g) as f64);
                        let wanted: Vec<f64> = wanted.collect();
                        let out = zeros(&shape, DType::I64);
                        index_reduce(op, x.operand(), axis, out.operand()).unwrap();
                        report.compare(&format!("{op} {name} {axis:?}"), &out, &wanted, 0.0);
                    }
                }
            }
        });
    }
    report.finish();
}

#[test]
fn extremes_of_few_elements_keep_nan_and_products_their_factors() {
    let mut report = Report::default();
    let odd = |i: usize| match i % 23 {
        5 => Scalar::Float(f64::NAN),
        11 => Scalar::Float(-0.0),
        _ => Scalar::Float([1.0, -1.0, 2.0, 0.5][i % 4]),
    };
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        each(dtype, odd, |name, x| {
            for axis in 0..3 {
                let (shape, groups) = groups(x, &[axis]);
                for op in [ReduceOp::Max, ReduceOp::Min, ReduceOp::Prod, ReduceOp::Any] {
                    let out = zeros(&shape, op.result_dtype(dtype));
                    reduce(op, x.operand(), &[axis], out.operand()).unwrap();
                    let is_right = floats(&out).iter().zip(&groups).all(|(&found, group)| {
                        let has_nan = group.iter().any(|v| v.is_nan());
                        let nonzero = group.iter().any(|&v| v != 0.0);
                        let product: f64 = group.iter().product();
                        match op {
                            ReduceOp::Any => found == f64::from(u8::from(nonzero)),
                            _ if has_nan => found.is_nan(),
                            ReduceOp::Max => found == group.iter().copied().fold(-9.0, f64::max),
                            ReduceOp::Min => found == group.iter().copied().fold(9.0, f64::min),
                            // Powers of two: exact, or out of the range.
                            _ => found == product || product.abs() > 3e4 || product.abs() < 1e-4,
                        }
                    });
                    report.check(&format!("{op} {name} over {axis}"), is_right);
                }
                let wanted: Vec<f64> = groups
                    .iter()
                    .map(|group| match group.iter().position(|v| v.is_nan()) {
                        Some(first) => first as f64,
                        None => first_best(ArgOp::ArgMax, group) as f64,
                    })
                    .collect();
                let out = zeros(&shape, DType::I64);
                index_reduce(ArgOp::ArgMax, x.operand(), Some(axis), out.operand()).unwrap();
                report.check(&format!("argmax {name} {axis}"), floats(&out) == wanted);
            }
        });
    }
    report.finish();
}

#[test]
fn scans_match_a_plain_loop() {
    let mut report = Report::default();
    for dtype in DType::ALL {
        each(dtype, whole, |name, x| {
            let shape = x.layout.shape().to_vec();
            let values = floats(x);
            for axis in 0..3 {
                let back: usize = shape[axis + 1..].iter().product();
                for op in [ScanOp::Sum, ScanOp::Max] {
                    let mut wanted = values.clone();
                    for at in 0..wanted.len() {
                        if !(at / back).is_multiple_of(shape[axis]) {
                            let before = wanted[at - back];
                            wanted[at] = match op {
                                ScanOp::Sum => before + values[at],
                                _ => before.max(values[at]),
                            };
                        }
                    }
                    for way in [Arrangement::C, Arrangement::F, Arrangement::Part] {
                        let out =
                            Array::new(&shape, way, op.result_dtype(dtype), |_| Scalar::Int(9));
                        scan(op, x.operand(), axis, out.operand()).unwrap();
                        report.compare(&format!("{op} {name} {axis} {way:?}"), &out, &wanted, 1.0);
                    }
                }
            }
        });
    }
    report.finish();
}

#[test]
fn sums_do_not_depend_on_threads_or_instruction_set() {
    let _held = crate::settings();
    let mut report = Report::default();
    let best = Isa::detect();
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        each(
            dtype,
            |i| Scalar::Float(noise(i)),
            |name, x| {
                for axes in AXES {
                    let mut first: Option<Vec<u64>> = None;
                    for (threads, isa) in [(1, best), (3, best), (1, Isa::Baseline), (2, Isa::Avx2)]
                    {
                        set_threads(threads);
                        isa.select();
                        let (shape, _) = groups(x, axes);
                        let out = zeros(&shape, DType::F64);
                        reduce(ReduceOp::Sum, x.operand(), axes, out.operand()).unwrap();
                        let found: Vec<u64> = floats(&out).iter().map(|v| v.to_bits()).collect();
                        let same = first.get_or_insert_with(|| found.clone());
                        report.check(&format!("{name} {axes:?} {threads} {isa}"), *same == found);
                    }
                    set_threads(0);
                    best.select();
                }
            },
        );
    }
    report.finish();
}

#[test]
fn softmax_of_halves_is_that_of_singles_rounded() {
    let _held = crate::settings();
    set_threads(1);
    let mut report = Report::default();
    // Some are large enough for several parts.
    for shape in [
        [40, 40, 40],
        [33, 9, 64],
        [3, 70, 3],
        [1, 40, 700],
        [2, 100, 200],
    ] {
        for (from, to) in [
            (Arrangement::C, Arrangement::C),
            (Arrangement::F, Arrangement::C),
            (Arrangement::Strided, Arrangement::F),
            (Arrangement::C, Arrangement::Part),
        ] {
            for axis in 0..3 {
                let value = |i: usize| Scalar::Float((noise(i) * 64.0).round() / 16.0);
                let x = Array::new(&shape, from, DType::F16, value);
                let y = Array::new(&shape, from, DType::F32, value);
                let half = Array::new(&shape, to, DType::F16, |_| Scalar::Int(0));
                let single = zeros(&shape, DType::F32);
                softmax(x.operand(), axis, false, half.operand()).unwrap();
                softmax(y.operand(), axis, false, single.operand()).unwrap();
                let case = format!("{shape:?} {from:?} {to:?} {axis}");
                report.compare(&case, &half, &floats(&single), 1.0);
            }
        }
    }
    set_threads(0);
    report.finish();
}
