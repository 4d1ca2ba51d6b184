//! Extremes and their positions where a quicker way has to give up: NaN anywhere, zeros of both signs, infinities.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{ArgOp, Isa, ReduceOp, index_reduce, reduce, set_threads};

use crate::support::{Arrangement, Array};
use crate::{Report, noise, settings, zeros};

/// What stands at a place of an array of so many elements.
type Values = fn(usize, usize) -> f64;

const VALUES: [(&str, Values); 7] = [
    ("many equal", |i, _| (noise(i) * 6.0).round()),
    ("a NaN at the end", |i, len| {
        if i + 1 == len { f64::NAN } else { noise(i) }
    }),
    ("a NaN in the middle", |i, len| {
        if i == len / 2 { f64::NAN } else { noise(i) }
    }),
    (
        "some NaN",
        |i, _| if i % 301 == 77 { f64::NAN } else { noise(i) },
    ),
    ("zeros of both signs", |i, _| {
        if noise(i) < 0.0 { -0.0 } else { 0.0 }
    }),
    ("infinities of both signs", |i, _| match i % 97 {
        13 => f64::INFINITY,
        40 => f64::NEG_INFINITY,
        _ => noise(i),
    }),
    ("nothing but the lowest", |_, _| f64::NEG_INFINITY),
];

const SHAPES: [[usize; 2]; 20] = [
    [1000, 3],
    [1024, 2],
    [600, 7],
    [257, 32],
    [40, 9],
    [37, 16],
    [9, 31],
    [33, 32],
    [21, 65],
    [5, 100],
    [17, 128],
    [6, 191],
    [3, 192],
    [70, 259],
    [2, 9001],
    [300, 40],
    [2, 5000],
    [3, 1000],
    [5, 1025],
    [2, 2112],
];

/// The first of the best values, by comparing one after the other.
fn first_best(values: &[f64], largest: bool) -> usize {
    let mut best = 0;
    for (i, &value) in values.iter().enumerate() {
        let held = values[best];
        let beats = if largest { value > held } else { value < held };
        if !held.is_nan() && (beats || value.is_nan()) {
            best = i;
        }
    }
    best
}

/// Runs of elements along an axis, or the whole array.
fn runs(values: &[f64], [rows, columns]: [usize; 2], axis: Option<usize>) -> Vec<Vec<f64>> {
    match axis {
        None => vec![values.to_vec()],
        Some(0) => (0..columns)
            .map(|c| (0..rows).map(|r| values[r * columns + c]).collect())
            .collect(),
        Some(_) => values.chunks(columns).map(<[f64]>::to_vec).collect(),
    }
}

#[test]
fn quick_ways_give_up_where_they_would_be_wrong() {
    let _held = settings();
    let best = Isa::detect();
    let mut report = Report::default();
    for (name, of) in VALUES {
        for shape in SHAPES {
            for dtype in [DType::F32, DType::F64] {
                let len = shape[0] * shape[1];
                for arrangement in [Arrangement::C, Arrangement::Strided, Arrangement::Reversed] {
                    let x = Array::new(&shape, arrangement, dtype, |i| Scalar::Float(of(i, len)));
                    let values = crate::floats(&x);
                    for axis in [None, Some(0), Some(1)] {
                        let case = format!("{name} {dtype} {shape:?} {arrangement:?} {axis:?}");
                        check(&mut report, &case, &x, &runs(&values, shape, axis), axis);
                    }
                }
            }
        }
    }
    set_threads(0);
    best.select();
    report.finish();
}

/// Checks both extremes and both positions of an array's runs; extremes have the same bits on every instruction set and any
/// number of threads.
fn check(report: &mut Report, case: &str, x: &Array, runs: &[Vec<f64>], axis: Option<usize>) {
    let kept: Vec<usize> = axis.map_or(vec![], |_| vec![runs.len()]);
    let axes: Vec<usize> = axis.map_or(vec![0, 1], |axis| vec![axis]);
    for (largest, op, arg) in [
        (true, ReduceOp::Max, ArgOp::ArgMax),
        (false, ReduceOp::Min, ArgOp::ArgMin),
    ] {
        let mut seen: Option<Vec<u64>> = None;
        for (threads, isa) in [(1, Isa::detect()), (3, Isa::detect()), (1, Isa::Baseline)] {
            set_threads(threads);
            isa.select();
            let case = format!("{case} {op:?} {threads} {isa}");
            let (extremes, positions) = (zeros(&kept, x.dtype), zeros(&kept, DType::I64));
            reduce(op, x.operand(), &axes, extremes.operand()).unwrap();
            index_reduce(arg, x.operand(), axis, positions.operand()).unwrap();
            let (extremes, positions) = (crate::floats(&extremes), crate::floats(&positions));
            for ((run, &extreme), &position) in runs.iter().zip(&extremes).zip(&positions) {
                let wanted = first_best(run, largest);
                let right = extreme == run[wanted] || extreme.is_nan() && run[wanted].is_nan();
                report.check(&format!("{case}: {extreme} is not {}", run[wanted]), right);
                let right = position == wanted as f64;
                report.check(&format!("{case}: at {position}, not {wanted}"), right);
            }
            // A NaN's sign and payload are nobody's business.
            let bits = |value: &f64| if value.is_nan() { 1 } else { value.to_bits() };
            let bits: Vec<u64> = extremes.iter().map(bits).collect();
            let same = seen.get_or_insert_with(|| bits.clone()) == &bits;
            report.check(&format!("{case}: other bits"), same);
        }
    }
}

/// Elements in runs and columns long enough to be joined as they are, against plain loops, at one and several threads.
#[test]
fn elements_in_long_runs_and_columns_match_plain_loops() {
    let _held = settings();
    let mut report = Report::default();
    let ops = [
        ReduceOp::Max,
        ReduceOp::Min,
        ReduceOp::Any,
        ReduceOp::All,
        ReduceOp::CountNonZero,
    ];
    let axes: [&[usize]; 6] = [&[0], &[1], &[2], &[1, 2], &[0, 2], &[0, 1, 2]];
    for dtype in DType::ALL {
        for arrangement in Arrangement::ALL {
            for (rows, kind) in [(300, 0), (300, 1), (1, 2), (70, 2)] {
                // Whole columns of ones, of zeros, and of both; numbers of both signs.
                let value = |i: usize| match (dtype, kind) {
                    (DType::Bool, 2) => f64::from(u8::from(!i.is_multiple_of(91))),
                    (_, 0) => 1.0,
                    (_, 1) => 0.0,
                    _ => (noise(i) * 120.0).round(),
                };
                let x = Array::new(&[2, rows, 130], arrangement, dtype, |i| {
                    Scalar::Float(value(i))
                });
                for axes in axes {
                    for (op, threads) in ops.iter().flat_map(|&op| [(op, 1), (op, 3)]) {
                        set_threads(threads);
                        let (shape, wanted) = crate::reduce::reduced(op, &x, axes);
                        let out = zeros(&shape, op.result_dtype(dtype));
                        reduce(op, x.operand(), axes, out.operand()).unwrap();
                        let case =
                            format!("{op:?} {dtype} {arrangement:?} {rows} {kind} over {axes:?}");
                        report.compare(&case, &out, &wanted, 0.0);
                        let axis = match axes {
                            [axis] => Some(*axis),
                            [_, _] => continue,
                            _ => None,
                        };
                        if let ReduceOp::Max | ReduceOp::Min = op {
                            let arg = if op == ReduceOp::Max {
                                ArgOp::ArgMax
                            } else {
                                ArgOp::ArgMin
                            };
                            let places = zeros(&shape, DType::I64);
                            index_reduce(arg, x.operand(), axis, places.operand()).unwrap();
                            let (_, groups) = crate::reduce::groups(&x, axes);
                            let first =
                                |group: &Vec<f64>| first_best(group, op == ReduceOp::Max) as f64;
                            let wanted: Vec<f64> = groups.iter().map(first).collect();
                            report.compare(&format!("place {case}"), &places, &wanted, 0.0);
                        }
                    }
                }
            }
        }
    }
    set_threads(0);
    report.finish();
}
