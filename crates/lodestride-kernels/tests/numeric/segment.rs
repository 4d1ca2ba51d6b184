//! Segment operations.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{
    KernelError, RowRange, SegmentOp, copy_row_ranges, segment_broadcast, segment_pad,
    segment_reduce, segment_reduce_gradient, segment_reverse, segment_softmax, set_threads,
};

use crate::support::{Arrangement, Array};
use crate::{Report, array_of, floats, noise, zeros};

/// Segmentations of nine rows: with empties at the ends and inside, one segment, one row each, none at all.
pub(crate) fn segmentations() -> Vec<Vec<usize>> {
    vec![
        vec![0, 3, 3, 7, 9],
        vec![0, 0, 9, 9],
        vec![0, 9],
        (0..=9).collect(),
        vec![0, 0, 0, 1, 1, 9, 9],
    ]
}

pub(crate) fn whole(i: usize) -> Scalar {
    Scalar::Int([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5][(i * 7 + i / 11) % 11])
}

/// The textbook value of one column of one segment, and the row it came from.
fn pooled(op: SegmentOp, column: &[f64], pad: f64) -> (f64, i64) {
    let n = column.len() as f64;
    if column.is_empty() {
        return (pad, -1);
    }
    let sum: f64 = column.iter().sum();
    let mut at = 0;
    for (i, &value) in column.iter().enumerate() {
        let better = match op {
            SegmentOp::Max => value > column[at],
            SegmentOp::Min => value < column[at],
            _ => false,
        };
        if better {
            at = i;
        }
    }
    let value = match op {
        SegmentOp::Sum => sum,
        SegmentOp::Mean => sum / n,
        SegmentOp::Sqrt => sum / n.sqrt(),
        SegmentOp::Last => column[column.len() - 1],
        _ => column[at],
    };
    (value, at as i64)
}

/// Pools rows of `width` elements.
fn reference(
    op: SegmentOp,
    values: &[f64],
    width: usize,
    offsets: &[usize],
    pad: f64,
) -> (Vec<f64>, Vec<f64>) {
    let (mut out, mut args) = (vec![], vec![]);
    for pair in offsets.windows(2) {
        for column in 0..width {
            let column: Vec<f64> = (pair[0]..pair[1])
                .map(|row| values[row * width + column])
                .collect();
            let (value, at) = pooled(op, &column, pad);
            out.push(value);
            args.push(if at < 0 {
                -1.0
            } else {
                (pair[0] as i64 + at) as f64
            });
        }
    }
    (out, args)
}

#[test]
fn pooling_matches_the_reference_in_every_layout_dtype_and_width() {
    let mut report = Report::default();
    let rows: [&[usize]; 6] = [&[], &[1], &[3], &[2, 7], &[100], &[3, 1, 5]];
    for dtype in DType::ALL {
        for arrangement in Arrangement::ALL {
            for row in rows {
                let shape: Vec<usize> = [9].iter().chain(row).copied().collect();
                let width: usize = row.iter().product();
                let x = Array::new(&shape, arrangement, dtype, whole);
                let values = floats(&x);
                for offsets in segmentations() {
                    for op in SegmentOp::ALL {
                        let (wanted, args) = reference(op, &values, width, &offsets, 1.0);
                        let out_shape: Vec<usize> =
                            [offsets.len() - 1].iter().chain(row).copied().collect();
                        for target in [Arrangement::Strided, Arrangement::C] {
                            let result = op.result_dtype(dtype);
                            let out = Array::new(&out_shape, target, result, whole);
                            let arg = Array::new(&out_shape, Arrangement::C, DType::I64, whole);
                            let (x, arg_out) = (x.operand(), arg.operand());
                            let arg_out = op.is_located().then_some(arg_out);
                            let pad = Scalar::Int(1);
                            segment_reduce(op, x, &offsets, pad, out.operand(), arg_out).unwrap();
                            let case = format!(
                                "{op} {dtype} {arrangement:?} {shape:?} {offsets:?} to {target:?}"
                            );
                            report.compare(&case, &out, &wanted, 2.0);
                            if op.is_located() {
                                report.compare(&format!("{case} rows"), &arg, &args, 0.0);
                            }
                        }
                    }
                }
            }
        }
    }
    report.finish();
}

#[test]
fn pooling_keeps_a_leading_nan_and_ignores_later_ones() {
    let nan = f64::NAN;
    let x = array_of(
        &[4, 2],
        DType::F32,
        &[nan, 1.0, 5.0, nan, 2.0, 3.0, nan, 2.0],
    );
    let (out, arg) = (zeros(&[1, 2], DType::F32), zeros(&[1, 2], DType::I32));
    segment_reduce(
        SegmentOp::Max,
        x.operand(),
        &[0, 4],
        Scalar::Int(0),
        out.operand(),
        Some(arg.operand()),
    )
    .unwrap();
    let found = floats(&out);
    assert!(found[0].is_nan() && found[1] == 3.0, "{found:?}");
    assert_eq!(floats(&arg), [0.0, 2.0]);
}

#[test]
fn no_rows_and_no_segments_are_fine() {
    for row in [vec![], vec![3], vec![0]] {
        let rows: Vec<usize> = [0].iter().chain(&row).copied().collect();
        let three: Vec<usize> = [3].iter().chain(&row).copied().collect();
        let x = zeros(&rows, DType::F32);
        for op in SegmentOp::ALL {
            let out = zeros(&rows, DType::F32);
            segment_reduce(
                op,
                x.operand(),
                &[0],
                Scalar::Float(2.5),
                out.operand(),
                None,
            )
            .unwrap();
            let out = zeros(&three, DType::F32);
            segment_reduce(
                op,
                x.operand(),
                &[0, 0, 0, 0],
                Scalar::Float(2.5),
                out.operand(),
                None,
            )
            .unwrap();
            assert!(floats(&out).iter().all(|&v| v == 2.5), "{op}");
        }
        let out = zeros(&rows, DType::F32);
        segment_softmax(x.operand(), &[0, 0], out.operand()).unwrap();
        segment_reverse(x.operand(), &[0], out.operand()).unwrap();
        segment_broadcast(zeros(&three, DType::F32).operand(), &[0; 4], out.operand()).unwrap();
        copy_row_ranges(&[x.operand()], &[RowRange::new(0, 0..0)], out.operand()).unwrap();
    }
}

#[test]
fn long_segments_on_threads_give_the_same_bits() {
    let _held = crate::settings();
    let (rows, width) = (8_000, 37);
    let x = Array::new(&[rows, width], Arrangement::C, DType::F32, |i| {
        Scalar::Float(noise(i) + 1.5)
    });
    let mut offsets = vec![0];
    while offsets[offsets.len() - 1] < rows {
        let last = offsets[offsets.len() - 1];
        let len = [0, 1, 30, 7, 1000, 64, 65][offsets.len() % 7];
        offsets.push((last + len).min(rows));
    }
    let segments = offsets.len() - 1;
    let values = floats(&x);
    let mut report = Report::default();
    for op in SegmentOp::ALL {
        let mut first = None;
        for threads in [1, 2, 4] {
            set_threads(threads);
            let out = zeros(&[segments, width], DType::F32);
            segment_reduce(
                op,
                x.operand(),
                &offsets,
                Scalar::Int(0),
                out.operand(),
                None,
            )
            .unwrap();
            let found = floats(&out);
            report.check(
                &format!("{op} on {threads}"),
                *first.get_or_insert_with(|| found.clone()) == found,
            );
            if threads == 2 {
                let (wanted, _) = reference(op, &values, width, &offsets, 0.0);
                report.compare(op.name(), &out, &wanted, 8.0);
            }
        }
    }
    set_threads(0);
    report.finish();
}

#[test]
fn softmax_is_stable_in_every_layout_and_width() {
    let mut report = Report::default();
    for dtype in [DType::F32, DType::F64, DType::F16] {
        for arrangement in Arrangement::ALL {
            for row in [&[][..], &[1], &[3], &[2, 13], &[70]] {
                let shape: Vec<usize> = [9].iter().chain(row).copied().collect();
                let width: usize = row.iter().product();
                let x = Array::new(&shape, arrangement, dtype, |i| {
                    Scalar::Float(noise(i) * 30.0 + 900.0)
                });
                let values = floats(&x);
                for offsets in segmentations() {
                    let mut wanted = vec![0.0; values.len()];
                    for pair in offsets.windows(2) {
                        for column in 0..width {
                            let at = |row: usize| row * width + column;
                            let max = (pair[0]..pair[1])
                                .map(|r| values[at(r)])
                                .fold(f64::NEG_INFINITY, f64::max);
                            let sum: f64 = (pair[0]..pair[1])
                                .map(|r| (values[at(r)] - max).exp())
                                .sum();
                            for row in pair[0]..pair[1] {
                                wanted[at(row)] = (values[at(row)] - max).exp() / sum;
                            }
                        }
                    }
                    let out = Array::new(&shape, Arrangement::Reversed, dtype, whole);
                    segment_softmax(x.operand(), &offsets, out.operand()).unwrap();
                    report.compare(
                        &format!("{dtype} {arrangement:?} {shape:?} {offsets:?}"),
                        &out,
                        &wanted,
                        8.0,
                    );
                }
            }
        }
    }
    // Long segments go over the kept exponentials.
    for width in [1, 5] {
        let n = 1300;
        let x = Array::new(&[n, width], Arrangement::C, DType::F64, |i| {
            Scalar::Float(noise(i))
        });
        let out = zeros(&[n, width], DType::F64);
        segment_softmax(x.operand(), &[0, n], out.operand()).unwrap();
        let found = floats(&out);
        for column in 0..width {
            let sum: f64 = (0..n).map(|r| found[r * width + column]).sum();
            report.check(
                &format!("sum of {width} columns"),
                (sum - 1.0).abs() < 1e-13,
            );
        }
        let ratio = found[width] / found[0];
        let wanted = (noise(width) - noise(0)).exp();
        report.check("ratio", (ratio / wanted - 1.0).abs() < 1e-13);
    }
    report.finish();
}

#[test]
fn rows_are_moved_in_every_layout_and_dtype() {
    let mut report = Report::default();
    for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
        for arrangement in Arrangement::ALL {
            for row in [&[][..], &[3], &[2, 2]] {
                let width: usize = row.iter().product();
                let shaped =
                    |rows: usize| -> Vec<usize> { [rows].iter().chain(row).copied().collect() };
                let x = Array::new(&shaped(9), arrangement, dtype, |i| Scalar::Int(i as i64));
                let values = floats(&x);
                let rows = |order: Vec<usize>| -> Vec<f64> {
                    order
                        .iter()
                        .flat_map(|&r| values[r * width..(r + 1) * width].to_vec())
                        .collect()
                };
                let case = format!("{dtype} {arrangement:?} {row:?}");
                for offsets in segmentations() {
                    let order = offsets
                        .windows(2)
                        .flat_map(|p| (p[0]..p[1]).rev())
                        .collect();
                    let out = Array::new(&shaped(9), Arrangement::F, dtype, whole);
                    segment_reverse(x.operand(), &offsets, out.operand()).unwrap();
                    report.compare(
                        &format!("reverse {case} {offsets:?}"),
                        &out,
                        &rows(order),
                        0.0,
                    );
                }
                let offsets = [0, 2, 2, 3, 3, 3, 7, 8, 8, 8];
                let order = (0..9)
                    .flat_map(|s| std::iter::repeat_n(s, offsets[s + 1] - offsets[s]))
                    .collect();
                let out = Array::new(&shaped(8), Arrangement::Reversed, dtype, whole);
                segment_broadcast(x.operand(), &offsets, out.operand()).unwrap();
                report.compare(&format!("broadcast {case}"), &out, &rows(order), 0.0);
            }
        }
    }
    // In place: the reversed rows are those from before.
    let x = Array::new(&[4, 1], Arrangement::C, DType::F32, |i| {
        Scalar::Int(i as i64)
    });
    segment_reverse(x.operand(), &[0, 4], x.operand()).unwrap();
    assert_eq!(floats(&x), [3.0, 2.0, 1.0, 0.0]);
    report.finish();
}

#[test]
fn rows_are_padded_in_every_layout_and_dtype() {
    let mut report = Report::default();
    for dtype in [DType::U8, DType::F16, DType::F32, DType::I64] {
        for arrangement in Arrangement::ALL {
            for row in [&[][..], &[3], &[2, 2]] {
                let width: usize = row.iter().product();
                let shape: Vec<usize> = [9].iter().chain(row).copied().collect();
                let x = Array::new(&shape, arrangement, dtype, |i| Scalar::Int(i as i64));
                let values = floats(&x);
                let case = format!("{dtype} {arrangement:?} {row:?}");
                for (offsets, steps) in segmentations().into_iter().zip([5, 9, 10, 2, 9]) {
                    let value = Array::new(row, arrangement, dtype, |i| Scalar::Int(90 + i as i64));
                    let padding = floats(&value);
                    let mut shape = vec![offsets.len() - 1, steps];
                    shape.extend(row);
                    for (to, filled) in [(Arrangement::C, true), (Arrangement::F, true)]
                        .into_iter()
                        .chain([(Arrangement::C, false), (Arrangement::Reversed, false)])
                    {
                        let out = Array::new(&shape, to, dtype, whole);
                        let mut wanted = floats(&out);
                        for (segment, pair) in offsets.windows(2).enumerate() {
                            for step in 0..steps {
                                let at = (segment * steps + step) * width;
                                let place = &mut wanted[at..at + width];
                                let from = pair[0] + step;
                                if from < pair[1] {
                                    place.copy_from_slice(&values[from * width..][..width]);
                                } else if filled {
                                    place.copy_from_slice(&padding);
                                }
                            }
                        }
                        let value = filled.then(|| value.operand());
                        segment_pad(x.operand(), &offsets, value, out.operand()).unwrap();
                        let case = format!("pad {case} {offsets:?} {to:?} {filled}");
                        report.compare(&case, &out, &wanted, 0.0);
                    }
                }
            }
        }
    }
    report.finish();
}

#[test]
fn gradients_of_pooling_spread_back() {
    let mut report = Report::default();
    let width = 5;
    for dtype in [DType::F32, DType::F64, DType::F16] {
        for arrangement in Arrangement::ALL {
            let x = Array::new(&[9, width], arrangement, dtype, whole);
            let values = floats(&x);
            for offsets in segmentations() {
                let segments = offsets.len() - 1;
                let dy = Array::new(&[segments, width], arrangement, dtype, whole);
                let given = floats(&dy);
                for op in SegmentOp::ALL {
                    let (_, args) = reference(op, &values, width, &offsets, 0.0);
                    let mut wanted = vec![0.0; 9 * width];
                    for (segment, pair) in offsets.windows(2).enumerate() {
                        let n = (pair[1] - pair[0]) as f64;
                        for (row, column) in
                            (pair[0]..pair[1]).flat_map(|r| (0..width).map(move |c| (r, c)))
                        {
                            let from = segment * width + column;
                            let share = match op {
                                SegmentOp::Sum => 1.0,
                                SegmentOp::Mean => 1.0 / n,
                                SegmentOp::Sqrt => 1.0 / n.sqrt(),
                                SegmentOp::First => f64::from(u8::from(row == pair[0])),
                                SegmentOp::Last => f64::from(u8::from(row + 1 == pair[1])),
                                _ => f64::from(u8::from(row as f64 == args[from])),
                            };
                            wanted[row * width + column] = given[from] * share;
                        }
                    }
                    let arg = array_of(&[segments, width], DType::I64, &args);
                    let located = matches!(op, SegmentOp::Max | SegmentOp::Min);
                    let dx = Array::new(&[9, width], Arrangement::F, dtype, whole);
                    segment_reduce_gradient(
                        op,
                        dy.operand(),
                        &offsets,
                        located.then(|| arg.operand()),
                        dx.operand(),
                    )
                    .unwrap();
                    report.compare(
                        &format!("{op} {dtype} {arrangement:?} {offsets:?}"),
                        &dx,
                        &wanted,
                        2.0,
                    );
                }
            }
        }
    }
    report.finish();
}

#[test]
fn misuse_is_refused_and_nothing_written() {
    let x = zeros(&[4, 2], DType::F32);
    let out = Array::new(&[2, 2], Arrangement::C, DType::F32, |_| Scalar::Int(7));
    let attempt = |op: SegmentOp, offsets: &[usize], arg: Option<&Array>| {
        let arg = arg.map(Array::operand);
        segment_reduce(op, x.operand(), offsets, Scalar::Int(0), out.operand(), arg).unwrap_err()
    };
    for offsets in [&[][..], &[1, 4], &[0, 3, 2, 4], &[0, 3], &[0, 2, 5]] {
        let error = attempt(SegmentOp::Sum, offsets, None);
        assert!(matches!(error, KernelError::Offsets { .. }), "{error}");
    }
    let offsets = [0, 1, 4];
    let (arg, wrong) = (zeros(&[2, 2], DType::I64), zeros(&[2, 2], DType::F32));
    let error = attempt(SegmentOp::Sum, &offsets, Some(&arg));
    assert!(matches!(error, KernelError::Count { .. }), "{error}");
    let error = attempt(SegmentOp::Max, &offsets, Some(&wrong));
    assert!(
        matches!(error, KernelError::UnsupportedDType { .. }),
        "{error}"
    );
    let error = attempt(SegmentOp::Sum, &[0, 4], None);
    assert!(
        matches!(error, KernelError::ShapeMismatch { .. }),
        "{error}"
    );
    for range in [
        RowRange::new(0, 3..5),
        RowRange::new(0, usize::MAX - 2..usize::MAX),
        RowRange::new(1, 0..2),
        RowRange::zeros(usize::MAX),
    ] {
        assert!(
            copy_row_ranges(&[x.operand()], &[range], out.operand()).is_err(),
            "{range:?}"
        );
    }
    assert!(segment_softmax(arg.operand(), &[0, 2], arg.operand()).is_err());
    let scalar = zeros(&[], DType::F32);
    assert!(segment_reverse(scalar.operand(), &[0], scalar.operand()).is_err());
    assert_eq!(floats(&out), [7.0; 4]);
}
