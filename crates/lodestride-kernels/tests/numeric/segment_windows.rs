//! Windows of rows, and sums over them, against plain loops.

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{
    SegmentWindow, segment_convolve, segment_convolve_gradient, segment_softmax,
    segment_softmax_gradient, segment_windows, segment_windows_adjoint, set_threads,
};

use crate::segment::{segmentations, whole};
use crate::support::{Arrangement, Array};
use crate::{Report, floats, noise, zeros};

const WINDOWS: [(isize, usize); 9] = [
    (-1, 3),
    (0, 2),
    (-5, 3),
    (4, 2),
    (-20, 50),
    (0, 1),
    (2, 0),
    (-3, 7),
    (1, 1),
];

/// Calls `job(row, place, from)` for all places of all windows; `from` is negative before the segment, counted from its begin, and
/// the row, or `Err` of the rows beyond its end.
fn each_place(
    offsets: &[usize],
    (start, len): (isize, usize),
    mut job: impl FnMut(usize, usize, Place),
) {
    for pair in offsets.windows(2) {
        for row in pair[0]..pair[1] {
            for place in 0..len {
                let from = row as isize + start + place as isize;
                job(
                    row,
                    place,
                    match from {
                        from if from < pair[0] as isize => {
                            Place::Before((pair[0] as isize - from) as usize)
                        }
                        from if from >= pair[1] as isize => Place::Behind(from as usize - pair[1]),
                        from => Place::Inside(from as usize),
                    },
                );
            }
        }
    }
}

enum Place {
    /// So many rows before the segment.
    Before(usize),
    Inside(usize),
    /// So many rows behind the one after its last.
    Behind(usize),
}

/// The windows of nine rows, side by side.
fn windows_of(
    values: &[f64],
    width: usize,
    offsets: &[usize],
    (start, len): (isize, usize),
    padding: Option<&[f64]>,
) -> Vec<f64> {
    let up = start.min(0).unsigned_abs();
    let mut windows = vec![0.0; 9 * len * width];
    each_place(offsets, (start, len), |row, place, from| {
        let line = match (from, padding) {
            (Place::Inside(row), _) => &values[row * width..],
            (_, None) => return,
            (Place::Before(count), Some(padding)) => &padding[(up - count) * width..],
            (Place::Behind(count), Some(padding)) => &padding[(up + count) * width..],
        };
        windows[(row * len + place) * width..][..width].copy_from_slice(&line[..width]);
    });
    windows
}

#[test]
fn windows_match_plain_loops_with_zeros_and_padding() {
    let mut report = Report::default();
    for (dtype, width) in [
        (DType::F32, 3),
        (DType::F16, 1),
        (DType::U8, 2),
        (DType::I64, 1),
        (DType::F64, 11),
    ] {
        for arrangement in Arrangement::ALL {
            let x = Array::new(&[9, width], arrangement, dtype, whole);
            let values = floats(&x);
            for (offsets, (start, len)) in
                segmentations().iter().flat_map(|o| WINDOWS.map(|w| (o, w)))
            {
                let up = start.min(0).unsigned_abs();
                let down = (start + len as isize - 1).max(0).unsigned_abs();
                let padding = Array::new(&[up + down, width], arrangement, dtype, |i| {
                    Scalar::Int(50 + i as i64 % 60)
                });
                let outside = floats(&padding);
                for padded in [false, true] {
                    let outside = padded.then_some(&outside[..]);
                    let wanted = windows_of(&values, width, offsets, (start, len), outside);
                    let window = SegmentWindow {
                        padding: padded.then(|| padding.operand()),
                        ..SegmentWindow::new(start, len)
                    };
                    for rows in [0..9, 2..7, 4..4] {
                        let wanted = &wanted[rows.start * len * width..rows.end * len * width];
                        for (shape, target) in [
                            (vec![rows.len(), len, width], Arrangement::C),
                            (vec![rows.len(), len * width], Arrangement::C),
                            (vec![rows.len(), len * width], Arrangement::Strided),
                        ] {
                            let case = format!(
                                "{dtype} {arrangement:?} {offsets:?} {start} {len} {padded} {rows:?} {target:?}"
                            );
                            let out = Array::new(&shape, target, dtype, whole);
                            segment_windows(
                                x.operand(),
                                offsets,
                                rows.clone(),
                                window,
                                out.operand(),
                            )
                            .unwrap();
                            report.compare(&case, &out, wanted, 0.0);
                        }
                    }
                }
            }
        }
    }
    report.finish();
}

/// The sums of windows `dy`, the convolution of `x` with `filter`, and the gradient of that from `given`.
fn sums_of(
    [x, given, filter, dy]: [&[f64]; 4],
    width: usize,
    offsets: &[usize],
    (start, len): (isize, usize),
) -> [Vec<f64>; 3] {
    let [mut adjoint, mut convolved] = [(); 2].map(|()| vec![0.0; x.len()]);
    let mut of_filter = vec![0.0; filter.len()];
    each_place(offsets, (start, len), |row, place, from| {
        let Place::Inside(from) = from else { return };
        for c in 0..width {
            let (from, row_at, at) = (from * width + c, row * width + c, place * width + c);
            adjoint[from] += dy[row * len * width + at];
            convolved[row_at] += x[from] * filter[at];
            of_filter[at] += x[from] * given[row_at];
        }
    });
    [adjoint, convolved, of_filter]
}

#[test]
fn sums_over_windows_match_plain_loops() {
    let mut report = Report::default();
    for (dtype, width) in [
        (DType::F32, 3),
        (DType::F16, 1),
        (DType::I32, 2),
        (DType::U8, 1),
        (DType::F64, 11),
        (DType::F32, 70),
    ] {
        for arrangement in Arrangement::ALL {
            let x = Array::new(&[9, width], arrangement, dtype, whole);
            let given = Array::new(&[9, width], arrangement, dtype, |i| whole(i + 5));
            let (values, gradient) = (floats(&x), floats(&given));
            for (offsets, (start, len)) in
                segmentations().iter().flat_map(|o| WINDOWS.map(|w| (o, w)))
            {
                let filter = Array::new(&[len, width], arrangement, dtype, |i| {
                    Scalar::Int((i % 3) as i64)
                });
                let weights = floats(&filter);
                let dy = Array::new(&[9, len, width], arrangement, dtype, |i| {
                    Scalar::Int((i % 2) as i64)
                });
                let of_windows = floats(&dy);
                let arrays = [&values[..], &gradient, &weights, &of_windows];
                let [adjoint, convolved, of_filter] = sums_of(arrays, width, offsets, (start, len));
                for target in [Arrangement::C, Arrangement::Strided] {
                    let case = format!(
                        "{dtype} {arrangement:?} {offsets:?} {start} {len} {width} {target:?}"
                    );
                    let out = Array::new(&[9, width], target, dtype, whole);
                    segment_windows_adjoint(dy.operand(), offsets, start, len, out.operand())
                        .unwrap();
                    report.compare(&format!("adjoint {case}"), &out, &adjoint, 0.0);
                    segment_convolve(x.operand(), offsets, start, filter.operand(), out.operand())
                        .unwrap();
                    report.compare(&format!("convolve {case}"), &out, &convolved, 0.0);
                    let sums = Array::new(&[len, width], target, DType::F64, whole);
                    segment_convolve_gradient(
                        x.operand(),
                        given.operand(),
                        offsets,
                        start,
                        sums.operand(),
                    )
                    .unwrap();
                    report.compare(&format!("filter {case}"), &sums, &of_filter, 0.0);
                }
            }
        }
    }
    report.finish();
}

#[test]
fn sums_over_windows_do_not_depend_on_threads() {
    let (rows, width, len) = (70_000, 17, 4);
    let offsets: Vec<usize> = (0..=rows)
        .filter(|&i| i == 0 || i == rows || i * i % 1_013 < 7)
        .collect();
    let value = |seed: usize| move |i| Scalar::Float(noise(i + seed));
    let x = Array::new(&[rows, width], Arrangement::C, DType::F32, value(1));
    let given = Array::new(
        &[rows, width],
        Arrangement::C,
        DType::F32,
        value(10_000_019),
    );
    let dy = Array::new(
        &[rows, len * width],
        Arrangement::C,
        DType::F32,
        value(20_000_003),
    );
    let filter = Array::new(&[len, width], Arrangement::C, DType::F32, value(30_000_001));
    let results = [1, 2, 0].map(|threads| {
        set_threads(threads);
        let out = || zeros(&[rows, width], DType::F32);
        let [windows, adjoint, convolved, softmax] =
            [zeros(&[rows, len * width], DType::F32), out(), out(), out()];
        let of_filter = zeros(&[len, width], DType::F32);
        let window = SegmentWindow::new(-2, len);
        segment_windows(x.operand(), &offsets, 0..rows, window, windows.operand()).unwrap();
        segment_windows_adjoint(dy.operand(), &offsets, -2, len, adjoint.operand()).unwrap();
        segment_convolve(
            x.operand(),
            &offsets,
            -2,
            filter.operand(),
            convolved.operand(),
        )
        .unwrap();
        segment_convolve_gradient(
            x.operand(),
            given.operand(),
            &offsets,
            -2,
            of_filter.operand(),
        )
        .unwrap();
        segment_softmax_gradient(x.operand(), given.operand(), &offsets, softmax.operand())
            .unwrap();
        [windows, adjoint, convolved, of_filter, softmax].map(|array| floats(&array))
    });
    set_threads(0);
    assert!(results[0] == results[1] && results[0] == results[2]);
}

#[test]
fn the_gradient_of_softmax_matches_the_formula_in_every_layout_and_width() {
    let mut report = Report::default();
    for (dtype, tolerance) in [(DType::F32, 8.0), (DType::F64, 8.0), (DType::F16, 4.0)] {
        for arrangement in Arrangement::ALL {
            for width in [1, 3, 40] {
                let x = Array::new(&[9, width], arrangement, dtype, |i| Scalar::Float(noise(i)));
                let y = Array::new(&[9, width], Arrangement::C, dtype, whole);
                let g = Array::new(&[9, width], arrangement, dtype, |i| {
                    Scalar::Float(noise(i + 77))
                });
                let given = floats(&g);
                for offsets in segmentations() {
                    segment_softmax(x.operand(), &offsets, y.operand()).unwrap();
                    let result = floats(&y);
                    let mut wanted = vec![0.0; result.len()];
                    for pair in offsets.windows(2) {
                        for c in 0..width {
                            let at = |row: usize| row * width + c;
                            let sum: f64 = (pair[0]..pair[1])
                                .map(|row| result[at(row)] * given[at(row)])
                                .sum();
                            for row in pair[0]..pair[1] {
                                wanted[at(row)] = result[at(row)] * (given[at(row)] - sum);
                            }
                        }
                    }
                    for target in [Arrangement::C, Arrangement::Strided] {
                        let out = Array::new(&[9, width], target, dtype, whole);
                        segment_softmax_gradient(y.operand(), g.operand(), &offsets, out.operand())
                            .unwrap();
                        // Differences of numbers of about 1: what is lost is measured by those.
                        let one = if dtype == DType::F64 {
                            f64::EPSILON
                        } else if dtype == DType::F32 {
                            f64::from(f32::EPSILON)
                        } else {
                            1e-3
                        };
                        let far = floats(&out)
                            .iter()
                            .zip(&wanted)
                            .any(|(a, b)| (a - b).abs() > tolerance * one);
                        report.check(
                            &format!("{dtype} {arrangement:?} {width} {offsets:?} {target:?}"),
                            !far,
                        );
                    }
                }
            }
        }
    }
    report.finish();
}
