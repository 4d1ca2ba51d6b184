//! Softmax, its gradient, layer normalisation and the logarithm of the sum of exponentials, against plain loops.

use super::support::{Arrangement, Array};
use super::{Report, floats, noise, settings, zeros};
use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{
    Isa, KernelError, ReduceOp, layer_norm, reduce, set_threads, softmax, softmax_gradient,
};

/// Applies `job` to every row along an axis: the row's values from each input, then the results.
fn rows_of(
    shape: &[usize],
    axis: usize,
    inputs: &[&[f64]],
    job: impl Fn(&[Vec<f64>]) -> Vec<f64>,
) -> Vec<f64> {
    let width: usize = shape[axis + 1..].iter().product();
    let rows = shape[axis];
    let mut out = vec![0.0; inputs[0].len()];
    for first in 0..out.len() {
        if !(first / width).is_multiple_of(rows.max(1)) {
            continue;
        }
        let at = |row: usize| first + row * width;
        let columns: Vec<Vec<f64>> = inputs
            .iter()
            .map(|values| (0..rows).map(|row| values[at(row)]).collect())
            .collect();
        for (row, value) in job(&columns).into_iter().enumerate() {
            out[at(row)] = value;
        }
    }
    out
}

/// The sum of numbers, with what each addition loses added at the end (Neumaier).
fn sum_of(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for number in numbers {
        let next = sum + number;
        let (large, small) = if sum.abs() >= number.abs() {
            (sum, number)
        } else {
            (number, sum)
        };
        lost += (large - next) + small;
        sum = next;
    }
    sum + lost
}

fn softmax_of(row: &[f64], log: bool) -> Vec<f64> {
    let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum = sum_of(row.iter().map(|v| (v - max).exp()));
    row.iter()
        .map(|v| match log {
            true => (v - max) - sum.ln(),
            false => (v - max).exp() / sum,
        })
        .collect()
}

fn normal_of(row: &[f64], gain: &[f64], bias: &[f64], epsilon: f64) -> Vec<f64> {
    let mean = sum_of(row.iter().copied()) / row.len() as f64;
    let variance = sum_of(row.iter().map(|v| (v - mean).powi(2))) / row.len() as f64;
    let scale = 1.0 / (variance + epsilon).sqrt();
    let scaled = row.iter().map(|v| (v - mean) * scale);
    scaled
        .zip(gain.iter().zip(bias))
        .map(|(v, (gain, bias))| v * gain + bias)
        .collect()
}

/// Shapes and axes that take every way through the walk: rows of one vector, short, long and longer than a block; wide,
/// narrow and narrow-and-tall columns; groups that overlap; sizes 1 and 0.
const CASES: [(&[usize], usize); 20] = [
    (&[7], 0),
    (&[1], 0),
    (&[35, 10], 1),
    (&[3, 16], 1),
    (&[40, 2], 1),
    (&[3, 64], 1),
    (&[3, 65], 1),
    (&[2, 100], 1),
    (&[2, 4100], 1),
    (&[70, 33], 0),
    (&[70, 75], 0),
    (&[2, 9, 40], 1),
    (&[5, 3, 4], 1),
    (&[5, 1, 4], 1),
    (&[300, 3], 0),
    (&[7, 70, 9], 1),
    (&[3, 30, 13], 1),
    (&[5000, 3], 0),
    (&[3, 0, 4], 2),
    (&[3, 4, 0], 1),
];

/// Units in the last place: the difference to the maximum or mean is rounded once, and counts as often as it is large; with
/// numbers in [-3, 3] that is at most 8 for softmax, and 16 where terms of layer norm cancel.
const SOFTMAX_ULPS: f64 = 8.0;
const NORMAL_ULPS: f64 = 16.0;

/// A layout for the result: dense in both orders, and not.
fn other(arrangement: Arrangement) -> Arrangement {
    match arrangement {
        Arrangement::C | Arrangement::RowBroadcast => Arrangement::C,
        Arrangement::F | Arrangement::ColumnBroadcast => Arrangement::F,
        Arrangement::Strided => Arrangement::Reversed,
        _ => Arrangement::Strided,
    }
}

fn arrays(shape: &[usize], arrangement: Arrangement, dtype: DType) -> (Array, Array) {
    let make = |shift: usize| {
        Array::new(shape, arrangement, dtype, |i| {
            Scalar::Float(noise(i + shift) * 3.0)
        })
    };
    (make(0), make(1_000_000))
}

#[test]
fn rows_along_any_axis_in_every_layout() {
    let mut report = Report::default();
    for (shape, axis) in CASES {
        for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16] {
            for arrangement in Arrangement::ALL {
                let (x, g) = arrays(shape, arrangement, dtype);
                let (values, gradient) = (floats(&x), floats(&g));
                for log in [false, true] {
                    let case = format!("{dtype} {arrangement:?} {shape:?} along {axis}, log {log}");
                    let out = Array::new(shape, other(arrangement), dtype, |_| Scalar::Int(7));
                    softmax(x.operand(), axis, log, out.operand()).unwrap();
                    let wanted = rows_of(shape, axis, &[&values], |r| softmax_of(&r[0], log));
                    if log {
                        // The logarithm of the sum is rounded where it is at least 0, so near 0 the error is absolute.
                        let near = |(found, wanted): (&f64, &f64)| {
                            (found - wanted).abs()
                                <= SOFTMAX_ULPS * unit(dtype) * wanted.abs().max(1.0)
                        };
                        report.check(&case, floats(&out).iter().zip(&wanted).all(near));
                    } else {
                        report.compare(&case, &out, &wanted, SOFTMAX_ULPS);
                    }

                    let y = floats(&out);
                    softmax_gradient(out.operand(), g.operand(), axis, log, out.operand()).unwrap();
                    let wanted = rows_of(shape, axis, &[&y, &gradient], |r| {
                        let terms = r[0].iter().zip(&r[1]);
                        let total = sum_of(terms.map(|(y, g)| if log { *g } else { y * g }));
                        let terms = r[0].iter().zip(&r[1]);
                        let result = |(y, g): (&f64, &f64)| match log {
                            true => g - y.exp() * total,
                            false => y * (g - total),
                        };
                        terms.map(result).collect()
                    });
                    close_to(&mut report, &format!("gradient {case}"), &out, &wanted);
                }
            }
        }
    }
    report.finish();
}

/// The distance from 1 to the next number.
fn unit(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::EPSILON,
        DType::F32 => f64::from(f32::EPSILON),
        DType::F16 => 1.0 / 1024.0,
        _ => 1.0 / 128.0,
    }
}

/// For results that cancel: within a few roundings of the largest.
fn close_to(report: &mut Report, case: &str, found: &Array, wanted: &[f64]) {
    let unit = match found.dtype {
        DType::F64 => 1e-14,
        DType::F32 => 1e-5,
        DType::F16 => 4e-3,
        _ => 4e-2,
    };
    let largest = wanted.iter().fold(1.0f64, |a, b| a.max(b.abs()));
    for (position, (found, wanted)) in floats(found).iter().zip(wanted).enumerate() {
        let near = (found - wanted).abs() <= NORMAL_ULPS * unit * largest / 4.0;
        report.check(
            &format!("{case}: element {position} is {found}, not {wanted}"),
            near,
        );
    }
}

#[test]
fn layer_norm_in_every_layout() {
    let mut report = Report::default();
    for (shape, axis) in CASES {
        let length = shape[axis];
        for dtype in [DType::F32, DType::F64, DType::F16] {
            for arrangement in Arrangement::ALL {
                let (x, _) = arrays(shape, arrangement, dtype);
                let (gain, bias) = arrays(&[length], arrangement, dtype);
                let (values, gains, biases) = (floats(&x), floats(&gain), floats(&bias));
                for with in [false, true] {
                    let out = Array::new(shape, other(arrangement), dtype, |_| Scalar::Int(7));
                    let (g, b) = (with.then(|| gain.operand()), with.then(|| bias.operand()));
                    layer_norm(x.operand(), axis, g, b, 0.1, out.operand()).unwrap();
                    let wanted = rows_of(shape, axis, &[&values], |r| match with {
                        true => normal_of(&r[0], &gains, &biases, 0.1),
                        false => normal_of(&r[0], &vec![1.0; length], &vec![0.0; length], 0.1),
                    });
                    let case =
                        format!("{dtype} {arrangement:?} {shape:?} along {axis}, gain {with}");
                    close_to(&mut report, &case, &out, &wanted);
                }
            }
        }
    }
    // An offset that swamps the deviations.
    let x = Array::new(&[2, 300], Arrangement::C, DType::F64, |i| {
        Scalar::Float(1e9 + noise(i))
    });
    let out = zeros(&[2, 300], DType::F64);
    layer_norm(x.operand(), 1, None, None, 0.0, out.operand()).unwrap();
    let wanted = rows_of(&[2, 300], 1, &[&floats(&x)], |r| {
        normal_of(&r[0], &[1.0; 300], &[0.0; 300], 0.0)
    });
    for (found, wanted) in floats(&out).iter().zip(&wanted) {
        report.check("offset", (found - wanted).abs() < 1e-6);
    }
    report.finish();
}

#[test]
fn infinities_and_nan_go_where_numpy_lets_them() {
    const INF: f64 = f64::INFINITY;
    let cases: [(&str, &[f64], bool); 5] = [
        ("a NaN", &[1.0, f64::NAN, 2.0], true),
        ("only -inf", &[-INF, -INF, -INF], true),
        ("inf", &[1.0, INF, 2.0], true),
        ("some -inf", &[-INF, 0.0, -INF], false),
        ("far below", &[0.0, -1000.0, -80.0], false),
    ];
    let mut report = Report::default();
    for (name, row, is_nan) in cases {
        for (length, dtype) in [(3, DType::F32), (100, DType::F32), (100, DType::F64)] {
            // Along short and long rows, and down columns.
            for (shape, axis) in [([2, length], 1), ([length, 40], 0)] {
                let x = Array::new(&shape, Arrangement::C, dtype, |i| {
                    let position = if axis == 1 { i % length } else { i / 40 };
                    Scalar::Float(row[position % 3])
                });
                let out = zeros(&shape, dtype);
                softmax(x.operand(), axis, false, out.operand()).unwrap();
                let case = format!("{name}, {dtype} {shape:?}");
                if is_nan {
                    report.check(&case, floats(&out).iter().all(|v| v.is_nan()));
                } else {
                    let wanted =
                        rows_of(&shape, axis, &[&floats(&x)], |r| softmax_of(&r[0], false));
                    report.compare(&case, &out, &wanted, SOFTMAX_ULPS);
                }
                let sums = zeros(&[shape[1 - axis]], dtype);
                reduce(ReduceOp::LogSumExp, x.operand(), &[axis], sums.operand()).unwrap();
                let values = row;
                let wanted = match name {
                    "a NaN" => f64::NAN,
                    "only -inf" => -INF,
                    "inf" => INF,
                    _ => {
                        let count = |i: usize| (0..length).filter(|at| at % 3 == i).count() as f64;
                        (0..3).map(|i| values[i].exp() * count(i)).sum::<f64>().ln()
                    }
                };
                report.compare(
                    &format!("log of sum, {case}"),
                    &sums,
                    &vec![wanted; shape[1 - axis]],
                    4.0,
                );
            }
        }
    }
    report.finish();
}

#[test]
fn every_thread_count_and_instruction_set_agrees() {
    let _guard = settings();
    let mut report = Report::default();
    for (shape, axis) in [
        ([700, 300], 1),
        ([700, 300], 0),
        ([30_000, 10], 1),
        ([30_000, 10], 0),
    ] {
        let x = Array::new(&shape, Arrangement::C, DType::F32, |i| {
            Scalar::Float(noise(i) * 3.0)
        });
        let run = |threads: usize| {
            set_threads(threads);
            let out = zeros(&shape, DType::F32);
            softmax(x.operand(), axis, false, out.operand()).unwrap();
            floats(&out)
        };
        let one = run(1);
        for threads in [2, 4] {
            report.check(
                &format!("{shape:?} along {axis}, {threads} threads"),
                run(threads) == one,
            );
        }
        let best = Isa::detect();
        for isa in Isa::available() {
            isa.select();
            let out = zeros(&shape, DType::F32);
            softmax(x.operand(), axis, false, out.operand()).unwrap();
            report.compare(
                &format!("{shape:?} along {axis}, {isa}"),
                &out,
                &one,
                SOFTMAX_ULPS,
            );
        }
        best.select();
    }
    set_threads(0);
    report.finish();
}

#[test]
fn wrong_arguments_are_refused() {
    let (x, ints) = (zeros(&[2, 3], DType::F32), zeros(&[2, 3], DType::I32));
    let (out, vector) = (zeros(&[2, 3], DType::F32), zeros(&[2], DType::F32));
    let mut report = Report::default();
    let refused = |name: &str, result: Result<(), KernelError>, report: &mut Report| {
        report.check(name, result.is_err());
    };
    let (x, out, ints, vector) = (x.operand(), out.operand(), ints.operand(), vector.operand());
    refused("axis", softmax(x, 2, false, out), &mut report);
    refused("shape", softmax(x, 1, false, vector), &mut report);
    refused("dtype", softmax(x, 1, false, ints), &mut report);
    refused(
        "gradient",
        softmax_gradient(x, vector, 1, false, out),
        &mut report,
    );
    refused(
        "gain",
        layer_norm(x, 1, Some(vector), None, 0.0, out),
        &mut report,
    );
    refused(
        "epsilon",
        layer_norm(x, 1, None, None, -1.0, out),
        &mut report,
    );
    report.finish();
}
