//! Segments of few rows, and rows of few elements, which have ways of their own.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{
    SegmentOp, SegmentWindow, segment_broadcast, segment_reduce, segment_reverse, segment_softmax,
    segment_windows,
};

use crate::segment::whole;
use crate::support::{Arrangement, Array};
use crate::{Report, floats, noise, zeros};

/// Segments of these lengths, one after the other.
fn offsets_of(lengths: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + length);
    }
    offsets
}

/// Every length up to forty, and the last ones without anything behind them.
fn lengths() -> Vec<usize> {
    (0..40).chain([100, 3, 0, 8, 7, 9, 1]).collect()
}

/// Numbers with equal ones, zeros of both signs, and NaN at the start of some segments and inside others.
fn awkward(i: usize) -> Scalar {
    Scalar::Float(match i % 23 {
        0 | 7 => -0.0,
        3 | 4 => 0.0,
        11 => f64::NAN,
        other => -((other % 5) as f64),
    })
}

#[test]
fn extremes_of_elements_are_the_first_of_equal_ones() {
    let mut report = Report::default();
    let offsets = offsets_of(lengths());
    let (rows, segments) = (offsets[offsets.len() - 1], offsets.len() - 1);
    for dtype in [DType::F32, DType::F64, DType::F16, DType::I64, DType::U8] {
        for arrangement in [Arrangement::C, Arrangement::Strided, Arrangement::Reversed] {
            let fill = if dtype.is_float() { awkward } else { whole };
            let x = Array::new(&[rows], arrangement, dtype, fill);
            let values = floats(&x);
            for (op, sign) in [(SegmentOp::Max, 1.0), (SegmentOp::Min, -1.0)] {
                for arg_dtype in [None, Some(DType::I64), Some(DType::I32)] {
                    let out = zeros(&[segments], dtype);
                    let arg = arg_dtype.map(|arg| zeros(&[segments], arg));
                    let arg_out = arg.as_ref().map(Array::operand);
                    let pad = Scalar::Int(7);
                    segment_reduce(op, x.operand(), &offsets, pad, out.operand(), arg_out).unwrap();
                    let (found, args) = (floats(&out), arg.as_ref().map(floats));
                    for (segment, pair) in offsets.windows(2).enumerate() {
                        let run = pair[0]..pair[1];
                        let best = run.reduce(|best, i| {
                            if values[i] * sign > values[best] * sign {
                                i
                            } else {
                                best
                            }
                        });
                        let wanted = best.map_or(7.0, |i| values[i]);
                        let place = best.map_or(-1.0, |i| i as f64);
                        let same = found[segment].to_bits() == wanted.to_bits()
                            || (found[segment].is_nan() && wanted.is_nan());
                        let case = format!("{op} {dtype} {arrangement:?} segment {segment}");
                        report.check(&format!("{case}: {} not {wanted}", found[segment]), same);
                        if let Some(args) = &args {
                            report.check(&format!("{case} row"), args[segment] == place);
                        }
                    }
                }
            }
        }
    }
    report.finish();
}

#[test]
fn sums_of_elements_are_plain_sums() {
    let mut report = Report::default();
    let offsets = offsets_of(lengths());
    let (rows, segments) = (offsets[offsets.len() - 1], offsets.len() - 1);
    for dtype in [DType::F32, DType::F64, DType::I32, DType::U8] {
        for arrangement in [Arrangement::C, Arrangement::Strided, Arrangement::Reversed] {
            let x = Array::new(&[rows], arrangement, dtype, whole);
            let values = floats(&x);
            for op in [SegmentOp::Sum, SegmentOp::Mean, SegmentOp::Sqrt] {
                let sums = offsets.windows(2).map(|pair| {
                    let (sum, n) = (
                        values[pair[0]..pair[1]].iter().sum::<f64>(),
                        pair[1] - pair[0],
                    );
                    match op {
                        _ if n == 0 => 2.0,
                        SegmentOp::Sum => sum,
                        SegmentOp::Mean => sum / n as f64,
                        _ => sum / (n as f64).sqrt(),
                    }
                });
                let wanted: Vec<f64> = sums.collect();
                let result = op.result_dtype(dtype);
                let out = zeros(&[segments], result);
                let pad = Scalar::Int(2);
                segment_reduce(op, x.operand(), &offsets, pad, out.operand(), None).unwrap();
                // Whole numbers have exact sums; a division rounds once.
                let (case, ulps) = (format!("{op} {dtype} {arrangement:?}"), 1.0);
                let most = if result == DType::U8 { 255.0 } else { f64::MAX };
                let fits = wanted.iter().all(|&sum| sum <= most);
                if fits {
                    report.compare(&case, &out, &wanted, ulps);
                }
            }
        }
    }
    report.finish();
}

#[test]
fn rows_of_every_width_are_reversed_and_repeated() {
    let mut report = Report::default();
    let offsets = offsets_of([0, 1, 2, 5, 0, 40, 3, 1, 0]);
    let (rows, segments) = (offsets[offsets.len() - 1], offsets.len() - 1);
    for dtype in [DType::U8, DType::BF16, DType::F32, DType::F64] {
        for width in (1..70).chain([127, 128, 129, 513]) {
            let x = Array::new(&[rows, width], Arrangement::C, dtype, whole);
            let values = floats(&x);
            let backwards = offsets.windows(2).flat_map(|pair| (pair[0]..pair[1]).rev());
            let rows_of = |row: usize| values[row * width..][..width].to_vec();
            let wanted: Vec<f64> = backwards.flat_map(rows_of).collect();
            let out = zeros(&[rows, width], dtype);
            segment_reverse(x.operand(), &offsets, out.operand()).unwrap();
            report.compare(&format!("reverse {dtype} {width}"), &out, &wanted, 0.0);

            let repeated = (0..segments)
                .flat_map(|segment| (offsets[segment]..offsets[segment + 1]).map(move |_| segment));
            let wanted: Vec<f64> = repeated.flat_map(rows_of).collect();
            let few = Array::new(&[segments, width], Arrangement::C, dtype, whole);
            segment_broadcast(few.operand(), &offsets, out.operand()).unwrap();
            report.compare(&format!("broadcast {dtype} {width}"), &out, &wanted, 0.0);
        }
    }
    report.finish();
}

#[test]
fn softmax_of_every_narrow_width_is_that_of_each_column() {
    let mut report = Report::default();
    let offsets = offsets_of([0, 1, 2, 70, 0, 5]);
    let rows = offsets[offsets.len() - 1];
    for dtype in [DType::F32, DType::F64] {
        for width in 1..40 {
            // Near enough to each other for differences without rounding.
            let x = Array::new(&[rows, width], Arrangement::C, dtype, |i| {
                Scalar::Float(noise(i) * 30.0 + 900.0)
            });
            let values = floats(&x);
            let mut wanted = vec![0.0; rows * width];
            for pair in offsets.windows(2) {
                for column in 0..width {
                    let places = || (pair[0]..pair[1]).map(|row| row * width + column);
                    let top = places().map(|at| values[at]).fold(f64::MIN, f64::max);
                    let sum: f64 = places().map(|at| (values[at] - top).exp()).sum();
                    places().for_each(|at| wanted[at] = (values[at] - top).exp() / sum);
                }
            }
            let out = zeros(&[rows, width], dtype);
            segment_softmax(x.operand(), &offsets, out.operand()).unwrap();
            // Exponentials and a sum of 70 of them, each within an ulp.
            report.compare(&format!("{dtype} {width}"), &out, &wanted, 8.0);
        }
    }
    report.finish();
}

#[test]
fn windows_of_many_short_segments_are_written_whatever_their_size() {
    // More than the caches hold, so that whole windows might go past them.
    let (width, len) = (64, 3);
    let offsets = offsets_of((0..40_000).map(|i| i % 5));
    let rows = offsets[offsets.len() - 1];
    let x = Array::new(&[rows, width], Arrangement::C, DType::F32, |i| {
        Scalar::Int((i % 1000) as i64 + 1)
    });
    let out = zeros(&[rows, len * width], DType::F32);
    let window = SegmentWindow::new(-1, len);
    segment_windows(x.operand(), &offsets, 0..rows, window, out.operand()).unwrap();
    let (values, found) = (floats(&x), floats(&out));
    let mut report = Report::default();
    for pair in offsets.windows(2) {
        for row in pair[0]..pair[1] {
            for place in 0..len {
                let from = (row + place)
                    .checked_sub(1)
                    .filter(|from| (pair[0]..pair[1]).contains(from));
                let piece = &found[(row * len + place) * width..][..width];
                let passes = match from {
                    Some(from) => piece == &values[from * width..][..width],
                    None => piece.iter().all(|&value| value == 0.0),
                };
                report.check(&format!("row {row}, place {place}"), passes);
            }
        }
    }
    report.finish();
}
