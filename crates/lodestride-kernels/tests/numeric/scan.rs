//! Running sums, products and extremes.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{Isa, ScanOp, scan, set_threads};

use crate::support::{Arrangement, Array};
use crate::{Report, floats, noise, number, positions, zeros};

fn step(op: ScanOp, a: f64, b: f64) -> f64 {
    match op {
        ScanOp::Sum => a + b,
        ScanOp::Prod => a * b,
        ScanOp::Max => a.max(b),
        ScanOp::Min => a.min(b),
    }
}

#[test]
fn every_operation_dtype_layout_and_axis_matches_a_plain_loop() {
    let mut report = Report::default();
    for dtype in DType::ALL {
        for arrangement in Arrangement::ALL {
            for shape in [[3, 4, 5], [2, 600, 2], [3, 2, 1100]] {
                let x = Array::new(&shape, arrangement, dtype, |i| {
                    Scalar::Float([1.0, -1.0, 2.0, 0.5, -0.5][i % 5])
                });
                let values = floats(&x);
                for op in ScanOp::ALL {
                    if op == ScanOp::Prod && shape != [3, 4, 5] {
                        continue;
                    }
                    for axis in 0..3 {
                        let mut wanted = values.clone();
                        for p in positions(&shape) {
                            if p[axis] > 0 {
                                let mut before = p.clone();
                                before[axis] -= 1;
                                let (at, from) = (number(&p, &shape), number(&before, &shape));
                                wanted[at] = step(op, wanted[from], values[at]);
                            }
                        }
                        for target in [Arrangement::C, Arrangement::Reversed] {
                            let out = Array::new(&shape, target, op.result_dtype(dtype), |_| {
                                Scalar::Int(9)
                            });
                            scan(op, x.operand(), axis, out.operand()).unwrap();
                            report.compare(
                                &format!("{op} {dtype} {arrangement:?} {shape:?} {axis}"),
                                &out,
                                &wanted,
                                2.0,
                            );
                        }
                    }
                }
            }
        }
    }
    report.finish();
}

#[test]
fn nan_stays_and_in_place_works() {
    let x = Array::new(&[5], Arrangement::C, DType::F32, |i| {
        Scalar::Float([1.0, 3.0, f64::NAN, 9.0, 2.0][i])
    });
    let out = zeros(&[5], DType::F32);
    scan(ScanOp::Max, x.operand(), 0, out.operand()).unwrap();
    let found = floats(&out);
    assert_eq!(found[..2], [1.0, 3.0]);
    assert!(found[2..].iter().all(|v| v.is_nan()), "{found:?}");
    let y = Array::new(&[4], Arrangement::C, DType::I32, |i| {
        Scalar::Int(i as i64 + 1)
    });
    scan(ScanOp::Sum, y.operand(), 0, y.operand()).unwrap();
    assert_eq!(floats(&y), [1.0, 3.0, 6.0, 10.0]);
    assert!(scan(ScanOp::Sum, y.operand(), 1, y.operand()).is_err());
}

#[test]
fn long_sums_are_grouped_within_their_bound_and_the_same_everywhere() {
    let _held = crate::settings();
    let mut report = Report::default();
    let best = Isa::detect();
    for n in [511, 512, 513, 1_024, 5_000, 100_003] {
        let x = Array::new(&[n], Arrangement::C, DType::F32, |i| {
            Scalar::Float(noise(i) + 0.5)
        });
        let strided = Array::new(&[n], Arrangement::Strided, DType::F32, |i| {
            Scalar::Float(noise(i) + 0.5)
        });
        let out = zeros(&[n], DType::F32);
        scan(ScanOp::Sum, x.operand(), 0, out.operand()).unwrap();
        let found = floats(&out);
        let (mut sum, mut size) = (0.0, 0.0);
        for (index, value) in floats(&x).into_iter().enumerate() {
            sum += value;
            size += value.abs();
            // At most 512 elements in order, or 64 and the segments before them.
            let roundings = (index.min(512) + index / 64 + 1) as f64;
            let bound = roundings * f64::from(f32::EPSILON) / 2.0 * size;
            let case = format!("{n}, element {index}: {} instead of {sum}", found[index]);
            report.check(&case, (found[index] - sum).abs() <= bound);
        }
        for (isa, threads) in [(Isa::Baseline, 1), (best, 2), (best, 4)] {
            isa.select();
            set_threads(threads);
            for x in [&x, &strided] {
                let again = zeros(&[n], DType::F32);
                scan(ScanOp::Sum, x.operand(), 0, again.operand()).unwrap();
                report.check(&format!("{n} {isa} {threads}"), floats(&again) == found);
            }
        }
    }
    best.select();
    set_threads(0);
    report.finish();
}

#[test]
fn extremes_keep_the_first_of_equal_values_and_every_nan_to_the_bit() {
    let mut report = Report::default();
    for n in [1, 7, 8, 9, 511, 513, 1_537] {
        for places in [0, 1, 700] {
            let values: Vec<f64> = (0..n)
                .map(|i| match i % 1_100 {
                    at if at + places > 1_099 => f64::NAN,
                    at if at % 3 == 0 => [-0.0, 0.0][at / 3 % 2],
                    at => (noise(i) * 4.0).round() / (1 + at % 2) as f64,
                })
                .collect();
            for op in [ScanOp::Max, ScanOp::Min] {
                let x = Array::new(&[n], Arrangement::C, DType::F64, |i| {
                    Scalar::Float(values[i])
                });
                let out = zeros(&[n], DType::F64);
                scan(op, x.operand(), 0, out.operand()).unwrap();
                let mut best = values[0];
                for (&value, found) in values.iter().zip(floats(&out)) {
                    let beats = if op == ScanOp::Max {
                        value > best
                    } else {
                        value < best
                    };
                    if beats || value.is_nan() {
                        best = value;
                    }
                    let is_same = found.to_bits() == best.to_bits();
                    report.check(&format!("{op} {n} {places}: {found}, not {best}"), is_same);
                }
            }
        }
    }
    report.finish();
}

#[test]
fn many_lines_of_every_length_match_a_plain_loop() {
    let mut report = Report::default();
    let dtypes = [DType::F32, DType::F64, DType::I64, DType::U8];
    // The last is large enough to be turned where it lies across.
    for (lines, len) in [
        (1, 7),
        (9, 1),
        (17, 33),
        (8, 600),
        (9, 513),
        (20, 64),
        (40, 900),
        (3, 130),
        (130, 3),
        (70, 7),
        (33, 64),
        (65, 50),
        (50, 65),
    ] {
        let shape = [lines, len];
        let ways = dtypes
            .iter()
            .flat_map(|dtype| Arrangement::ALL.map(|way| (*dtype, way)));
        for (dtype, arrangement) in ways {
            // Whole numbers: exact in any order.
            let x = Array::new(&shape, arrangement, dtype, |i| {
                Scalar::Int((i * 7 % 5) as i64)
            });
            let values = floats(&x);
            for axis in [0, 1] {
                for op in [ScanOp::Sum, ScanOp::Max, ScanOp::Min] {
                    let back = if axis == 0 { len } else { 1 };
                    let mut wanted = values.clone();
                    for at in 0..wanted.len() {
                        if (axis == 0 && at >= len) || (axis == 1 && at % len > 0) {
                            wanted[at] = step(op, wanted[at - back], values[at]);
                        }
                    }
                    let out = zeros(&shape, op.result_dtype(dtype));
                    scan(op, x.operand(), axis, out.operand()).unwrap();
                    report.compare(
                        &format!("{op} {dtype} {arrangement:?} {shape:?} {axis}"),
                        &out,
                        &wanted,
                        0.0,
                    );
                }
            }
        }
    }
    report.finish();
}

#[test]
fn short_lines_are_added_up_from_left_to_right() {
    let mut report = Report::default();
    for dtype in [DType::F32, DType::F64] {
        for shape in [
            [100, 3],
            [40, 7],
            [21, 8],
            [30, 50],
            [5, 100],
            [3, 4],
            [1, 2],
        ] {
            for arrangement in [Arrangement::C, Arrangement::F, Arrangement::Strided] {
                let x = Array::new(&shape, arrangement, dtype, |i| Scalar::Float(noise(i)));
                let values = floats(&x);
                for axis in [0, 1] {
                    let mut wanted = values.clone();
                    let back = if axis == 0 { shape[1] } else { 1 };
                    for at in 0..wanted.len() {
                        if (axis == 0 && at >= back) || (axis == 1 && at % shape[1] > 0) {
                            wanted[at] += wanted[at - back];
                        }
                        if dtype == DType::F32 {
                            wanted[at] = f64::from(wanted[at] as f32);
                        }
                    }
                    let out = zeros(&shape, dtype);
                    scan(ScanOp::Sum, x.operand(), axis, out.operand()).unwrap();
                    let case = format!("{dtype} {shape:?} {arrangement:?} {axis}");
                    report.check(&case, floats(&out) == wanted);
                }
            }
        }
    }
    report.finish();
}

#[test]
fn a_product_overflows_only_where_the_product_from_the_left_does() {
    let x = Array::new(&[2_000], Arrangement::C, DType::F32, |i| {
        Scalar::Float(match i {
            0 => 1e-30,
            700 | 701 => 1e25,
            _ => 1.0,
        })
    });
    let out = zeros(&[2_000], DType::F32);
    scan(ScanOp::Prod, x.operand(), 0, out.operand()).unwrap();
    let found = floats(&out);
    assert!(found.iter().all(|v| v.is_finite()), "{:?}", &found[700..]);
}
