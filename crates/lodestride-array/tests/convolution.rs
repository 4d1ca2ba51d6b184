//! Windows, convolution and pooling beside PyTorch's figures, and beside plain loops over every kind of window.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::{DType, NdArray, Padding, Pooling, Result, Windows};
use support::figures::{Case, cases};
use support::matrix::inputs;
use support::{counted, report};

/// The windows that words 1 to 10 of a case name.
fn windows(case: &Case<'_>) -> Windows {
    let pair = |at: usize| [case.number(at) as usize, case.number(at + 1) as usize];
    let padding = match case.words[0] {
        "same" => Padding::Same,
        _ => Padding::Explicit([pair(7), pair(9)]),
    };
    Windows::new(pair(1))
        .stride(pair(3))
        .dilation(pair(5))
        .padding(padding)
}

fn answer(case: &Case<'_>, inputs: &[&NdArray]) -> Result<NdArray> {
    let (x, windows) = (inputs[0], windows(case));
    match case.words[0] {
        "conv2d" | "same" => x.conv2d(inputs[1], Some(inputs[2]), &windows),
        "conv1d" => x.conv1d(inputs[1], Some(inputs[2]), &windows),
        "im2col" => x.im2col(&windows)?.reshape(case.expected[0].shape()),
        "col2im" => x.im2col(&windows)?.col2im(&windows, [5, 6]),
        "max" => x.pool2d(Pooling::Max, &windows),
        "average" => x.pool2d(Pooling::Average, &windows),
        "average_with_padding" => x.pool2d(Pooling::AverageWithPadding, &windows),
        "pnorm" => x.pool2d(Pooling::PNorm(3.0), &windows),
        word => panic!("no answer for {word}"),
    }
}

#[test]
fn the_answers_are_pytorchs() {
    let (mut faults, mut checked) = (Vec::new(), 0);
    for case in cases(include_str!("../testdata/convolution.txt")) {
        let answer = |inputs: &[&NdArray]| Ok(vec![answer(&case, inputs)?]);
        // Products of eighths are exact; means and roots are rounded.
        checked += case.check(&answer, &|_| 1e-14, &mut faults);
    }
    report(checked, &faults);
}

/// Where element `at` of window `window` lies along an axis of an image, if it is not padding.
fn source(window: usize, at: usize, axis: (usize, usize, usize, usize)) -> Option<usize> {
    let (stride, dilation, before, size) = axis;
    (window * stride + at * dilation)
        .checked_sub(before)
        .filter(|&place| place < size)
}

/// Every window of a batch by plain loops: `visit(n, c, [kernel i, j], [out i, j], place)`.
fn each_window(
    shape: [usize; 4],
    numbers: [[usize; 2]; 3],
    pads: [[usize; 2]; 2],
    mut visit: impl FnMut([usize; 6], Option<[usize; 4]>),
) -> [usize; 2] {
    let [kernel, stride, dilation] = numbers;
    let [n, c, height, width] = shape;
    let size = [height, width];
    let count = [0, 1].map(|axis| {
        let reach = (kernel[axis] - 1) * dilation[axis] + 1;
        (size[axis] + pads[axis][0] + pads[axis][1] - reach) / stride[axis] + 1
    });
    let all = [n, c, kernel[0], kernel[1], count[0], count[1]];
    for index in lodestride_array::NdIndexIterator::new(&all.into(), lodestride_array::Order::C) {
        let [n, c, i, j, row, column] = index[..] else {
            unreachable!()
        };
        let down = source(row, i, (stride[0], dilation[0], pads[0][0], height));
        let right = source(column, j, (stride[1], dilation[1], pads[1][0], width));
        let place = down.zip(right).map(|(row, column)| [n, c, row, column]);
        visit([n, c, i, j, row, column], place);
    }
    count
}

/// The padding of a mode, by its definition.
fn pads(
    padding: Padding,
    size: usize,
    axis: usize,
    (kernel, stride, dilation): (usize, usize, usize),
) -> [usize; 2] {
    let reach = (kernel - 1) * dilation + 1;
    match padding {
        Padding::Valid => [0, 0],
        Padding::Full => [reach - 1, reach - 1],
        Padding::Explicit(pads) => pads[axis],
        Padding::Same => {
            let windows = size.div_ceil(stride);
            let all = ((windows - 1) * stride + reach).saturating_sub(size);
            [all / 2, all - all / 2]
        }
    }
}

#[test]
fn windows_agree_with_plain_loops() {
    let shape = [2usize, 2, 5, 6];
    let x = counted(&shape).sub(50).unwrap();
    let paddings = [
        Padding::Valid,
        Padding::Same,
        Padding::Full,
        Padding::Explicit([[2, 0], [1, 3]]),
    ];
    let (all, mut checked) = (inputs(&x).unwrap(), 0);
    for kernel in [[1usize, 1], [2, 3], [3, 2]] {
        for stride in [[1usize, 1], [2, 1], [3, 4]] {
            for dilation in [[1usize, 1], [2, 2]] {
                for padding in paddings {
                    let numbers = [kernel, stride, dilation];
                    let windows = Windows::new(kernel)
                        .stride(stride)
                        .dilation(dilation)
                        .padding(padding);
                    let pads = [0, 1].map(|axis| {
                        let along = (kernel[axis], stride[axis], dilation[axis]);
                        pads(padding, shape[axis + 2], axis, along)
                    });
                    for (layout, x, _) in &all {
                        check_windows(x, shape, numbers, pads, &windows, layout);
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(checked > 3000, "{checked}");
}

fn check_windows(
    x: &NdArray,
    shape: [usize; 4],
    numbers: [[usize; 2]; 3],
    pads: [[usize; 2]; 2],
    windows: &Windows,
    layout: &str,
) {
    let label = format!("{windows:?} {layout}");
    let columns = x.im2col(windows).unwrap();
    let values = x.to_f64_vec().unwrap();
    let value = |place: Option<[usize; 4]>| {
        place.map(|[n, c, row, column]| {
            values[((n * shape[1] + c) * shape[2] + row) * shape[3] + column]
        })
    };
    let mut folded = NdArray::zeros(shape).unwrap().to_f64_vec().unwrap();
    let mut unfolded = Vec::new();
    let mut pooled = std::collections::BTreeMap::<[usize; 4], (f64, f64, f64)>::new();
    let count = each_window(shape, numbers, pads, |[n, c, _, _, row, column], place| {
        unfolded.push(value(place).unwrap_or(0.0));
        let pool = pooled
            .entry([n, c, row, column])
            .or_insert((f64::NEG_INFINITY, 0.0, 0.0));
        if let (Some(value), Some([n, c, row, column])) = (value(place), place) {
            folded[((n * shape[1] + c) * shape[2] + row) * shape[3] + column] += value;
            *pool = (pool.0.max(value), pool.1 + value, pool.2 + 1.0);
        }
    });
    assert_eq!(
        windows.output_size([shape[2], shape[3]]).unwrap(),
        count,
        "{label}"
    );
    assert_eq!(columns.to_f64_vec().unwrap(), unfolded, "{label}");
    // Whole numbers, exact in any order.
    let [height, width] = numbers[0];
    let (weights, depth) = (
        counted(&[3, shape[1], height, width]),
        shape[1] * height * width,
    );
    let flat = columns.reshape([shape[0], depth, count[0] * count[1]]);
    let product = weights.reshape([3, depth]).unwrap().matmul(&flat.unwrap());
    assert_eq!(
        x.conv2d(&weights, None, windows)
            .unwrap()
            .to_f64_vec()
            .unwrap(),
        product.unwrap().to_f64_vec().unwrap(),
        "{label}"
    );
    let back = columns.col2im(windows, [shape[2], shape[3]]).unwrap();
    assert_eq!(back.to_f64_vec().unwrap(), folded, "{label}");
    let largest = x.pool2d(Pooling::Max, windows).unwrap();
    let expected: Vec<f64> = pooled.values().map(|pool| pool.0).collect();
    assert_eq!(largest.to_f64_vec().unwrap(), expected, "{label}");
    let mean = x
        .pool2d(Pooling::Average, windows)
        .unwrap()
        .to_f64_vec()
        .unwrap();
    let near = mean.iter().zip(pooled.values()).all(|(mean, pool)| {
        let expected = pool.1 / pool.2;
        // One division in f32; a window of padding only has no mean.
        (mean - expected).abs() <= 6e-8 * expected.abs() || (mean.is_nan() && pool.2 == 0.0)
    });
    assert!(near, "{label} {mean:?}");
}

#[test]
fn other_dtypes() {
    let x = counted(&[1, 1, 4, 4]).sub(20).unwrap();
    let windows = Windows::new([3, 3]).padding(Padding::Same);
    for dtype in [
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F16,
        DType::BF16,
        DType::F64,
    ] {
        let x = x.cast(dtype).unwrap();
        let largest = x.pool2d(Pooling::Max, &windows).unwrap();
        assert_eq!(
            (largest.dtype(), largest.get_f64([0, 0, 0, 0]).unwrap()),
            (dtype, -15.0)
        );
        let weights = NdArray::ones_of(dtype, [1, 1, 3, 3]).unwrap();
        let sums = x.conv2d(&weights, None, &windows).unwrap();
        assert_eq!(
            sums.get_f64([0, 0, 3, 3]).unwrap(),
            -10.0 - 9.0 - 6.0 - 5.0,
            "{dtype}"
        );
    }
    let unsigned = x.add(20).unwrap().cast(DType::U8).unwrap();
    let largest = unsigned.pool2d(Pooling::Max, &windows).unwrap();
    assert_eq!(
        (largest.dtype(), largest.get_f64([0, 0, 3, 3]).unwrap()),
        (DType::U8, 15.0)
    );
    let mean = unsigned
        .pool2d(Pooling::AverageWithPadding, &windows)
        .unwrap();
    assert_eq!(
        (mean.dtype(), mean.get_f64([0, 0, 0, 0]).unwrap()),
        (DType::F64, 10.0 / 9.0)
    );
    let none = NdArray::zeros([0, 2, 4, 4]).unwrap();
    assert_eq!(
        none.im2col(&windows).unwrap().shape()[..],
        [0, 2, 3, 3, 4, 4]
    );
    assert_eq!(
        none.pool2d(Pooling::Max, &windows).unwrap().shape()[..],
        [0, 2, 4, 4]
    );
}

/// Windows whose copies are more than are made at a time, of one image and of several: products of all of them at once, whose sums are
/// of small whole numbers and so exact.
#[test]
fn windows_are_multiplied_some_at_a_time() {
    let mut faults = Vec::new();
    let mut checked = 0;
    for (shape, kernel, stride, dilation) in [
        ([2, 5, 120, 117], [9, 8], [1, 1], [1, 1]),
        ([3, 4, 150, 160], [7, 7], [1, 2], [2, 1]),
        ([700, 3, 12, 13], [5, 4], [1, 1], [1, 1]),
        ([0, 2, 9, 9], [2, 3], [1, 1], [1, 1]),
        ([1, 1, 3, 70_000], [3, 20], [1, 1], [1, 1]),
    ] {
        let windows = Windows::new(kernel).stride(stride).dilation(dilation);
        let numbers = |shape: &[usize], period: usize| {
            let values = (0..shape.iter().product()).map(|i| ((i * 31) % period) as f32 - 2.0);
            NdArray::from_vec(values.collect(), shape).unwrap()
        };
        let image = numbers(&shape, 7);
        let weights = numbers(&[3, shape[1], kernel[0], kernel[1]], 5);
        let found = image.conv2d(&weights, None, &windows).unwrap();
        let columns = image.im2col(&windows).unwrap();
        let [n, c, h, w, rows, width] = columns.shape()[..] else {
            panic!("six axes");
        };
        let columns = columns.reshape([n, c * h * w, rows * width]).unwrap();
        let expected = (weights.reshape([3, c * h * w]).unwrap())
            .matmul(&columns)
            .and_then(|product| product.reshape([n, 3, rows, width]))
            .unwrap();
        checked += 1;
        if found.shape() != expected.shape()
            || found.to_vec::<f32>().unwrap() != expected.to_vec::<f32>().unwrap()
        {
            faults.push(format!("{shape:?} by {kernel:?}"));
        }
    }
    report(checked, &faults);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let x = counted(&[1, 2, 4, 4]);
    let weights = counted(&[3, 2, 2, 2]);
    let windows = Windows::new([2, 2]);
    let zero = [
        Windows::new([0, 2]),
        windows.stride([1, 0]),
        windows.dilation([0, 1]),
        Windows::new([5, 2]),
        windows.dilation([4, 1]),
        Windows::new([usize::MAX, 1]),
    ];
    for windows in zero {
        assert!(windows.output_size([4, 4]).is_err(), "{windows:?}");
        assert!(x.im2col(&windows).is_err() && x.pool2d(Pooling::Max, &windows).is_err());
    }
    let wrong = [
        counted(&[4, 4]).im2col(&windows),
        x.col2im(&windows, [4, 4]),
        x.im2col(&windows).unwrap().col2im(&windows, [4, 5]),
        x.im2col(&windows)
            .unwrap()
            .col2im(&Windows::new([4, 1]), [4, 4]),
        x.conv2d(&counted(&[3, 1, 2, 2]), None, &windows),
        x.conv2d(&counted(&[3, 2, 3, 2]), None, &windows),
        x.conv2d(&counted(&[3, 2, 2]), None, &windows),
        x.conv2d(&weights, Some(&counted(&[2])), &windows),
        x.conv1d(&weights, None, &windows),
        counted(&[1, 2, 4]).conv1d(&weights, None, &windows),
        x.pool2d(Pooling::PNorm(0.0), &windows),
        x.pool2d(Pooling::PNorm(f64::NAN), &windows),
    ];
    for (at, wrong) in wrong.into_iter().enumerate() {
        assert!(wrong.is_err(), "{at}");
    }
}
