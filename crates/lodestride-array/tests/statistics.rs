//! Statistics, distances, scaling transforms and derivatives beside NumPy, SciPy and PyTorch, in every memory layout.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::kernels::UnaryOp;
use lodestride_array::{ArrayErrorKind, DType, Distance, NdArray, keep};
use support::figures::{Case, cases};
use support::matrix::inputs;
use support::tables::{in_every_layout, of};
use support::{counted, report};

fn kind(name: &str) -> Distance {
    match name {
        "dot" => Distance::Dot,
        "similarity" => Distance::CosineSimilarity,
        "cosine" => Distance::Cosine,
        "euclidean" => Distance::Euclidean,
        "squared_euclidean" => Distance::SquaredEuclidean,
        "manhattan" => Distance::Manhattan,
        "chebyshev" => Distance::Chebyshev,
        "hamming" => Distance::Hamming,
        "jaccard" => Distance::Jaccard,
        _ => panic!("no distance {name}"),
    }
}

/// What the crate answers to a case of these arrays.
fn answer(case: &Case<'_>, inputs: &[&NdArray]) -> lodestride_array::Result<Vec<NdArray>> {
    let x = inputs[0];
    let axes = || case.axes(1);
    let pair = |(a, b): (NdArray, NdArray)| vec![a, b];
    let one = |array: NdArray| vec![array];
    match case.words[0] {
        "nan_sum" => x.nan_sum(axes()).map(one),
        "nan_prod" => x.nan_prod(axes()).map(one),
        "nan_mean" => x.nan_mean(axes()).map(one),
        "nan_max" => x.nan_max(axes()).map(one),
        "nan_min" => x.nan_min(axes()).map(one),
        "nan_var" => x.nan_var(axes(), case.number(2) as usize).map(one),
        "nan_argmax" => x.nan_argmax(axes()).map(one),
        "nan_argmin" => x.nan_argmin(axes()).map(one),
        "nan_cumsum" => x.nan_cumsum(case.number(1) as isize).map(one),
        "nan_cumprod" => x.nan_cumprod(case.number(1) as isize).map(one),
        "entropy" => x.entropy(axes()).map(one),
        "log_entropy" => x.log_entropy(axes()).map(one),
        "shannon_entropy" => x.shannon_entropy(axes()).map(one),
        "moments" => x.moments(axes()).map(pair),
        "peak_to_peak" => x.peak_to_peak(axes()).map(one),
        "weighted_mean" => x.weighted_mean(inputs[1], axes()).map(one),
        "covariance" => x.covariance(case.number(1) as usize).map(one),
        "correlation" => x.correlation().map(one),
        "diff" => x
            .diff(case.number(1) as usize, case.number(2) as isize)
            .map(one),
        "all" => x.all_distances(kind(case.words[1]), inputs[1]).map(one),
        "along" => x.distance(kind(case.words[2]), inputs[1], axes()).map(one),
        "whole" => NdArray::scalar(x.distance_number(kind(case.words[1]), inputs[1])?).map(one),
        "derivative" => x
            .derivative(UnaryOp::from_name(case.words[1]).unwrap())
            .map(one),
        word => panic!("no answer for {word}"),
    }
}

#[test]
fn statistics_are_those_of_numpy_scipy_and_pytorch() {
    let mut faults = Vec::new();
    let mut checked = 0;
    // Sums of tens of numbers in another order, and functions within two units of the last place.
    let relative = |dtype| if dtype == DType::F32 { 1e-6 } else { 4e-15 };
    for case in cases(include_str!("../testdata/statistics.txt")) {
        checked += case.check(&|inputs| answer(&case, inputs), &relative, &mut faults);
    }
    report(checked, &faults);
    assert!(checked > 3000, "{checked}");
}

#[test]
fn results_have_the_dtype_of_a_mean() {
    let x = counted(&[3, 4]).add(1).unwrap();
    let dtypes = [
        (DType::F16, DType::F16),
        (DType::BF16, DType::BF16),
        (DType::F32, DType::F32),
        (DType::F64, DType::F64),
        (DType::I8, DType::F64),
        (DType::U64, DType::F64),
        (DType::Bool, DType::F64),
    ];
    for (given, expected) in dtypes {
        let x = x.cast(given).unwrap();
        let found = [
            x.entropy(0).unwrap(),
            x.nan_mean(..).unwrap(),
            x.nan_var(0, 1).unwrap(),
            x.nan_std(0, 1).unwrap(),
            x.distance(Distance::Euclidean, &x, 0).unwrap(),
            x.all_distances(Distance::Cosine, &x).unwrap(),
            x.all_distances(Distance::Manhattan, &x).unwrap(),
            x.clip_by_norm(2.0, 1).unwrap(),
            x.unit_vec(1).unwrap(),
            x.standardize(0).unwrap(),
            x.derivative(UnaryOp::Gelu).unwrap(),
            x.derivative(UnaryOp::Relu).unwrap(),
            x.derivative(UnaryOp::Floor).unwrap(),
            x.log_base(3.0).unwrap(),
            x.relative_error(&x).unwrap(),
            x.covariance(1).unwrap(),
            x.weighted_mean(&x, 0).unwrap(),
        ];
        for (at, found) in found.iter().enumerate() {
            assert_eq!(found.dtype(), expected, "{at} of {given}");
        }
    }
}

#[test]
fn half_precision_is_rounded_once() {
    in_every_layout(half_precision_is_rounded_once_in_a_layout);
}

fn half_precision_is_rounded_once_in_a_layout() {
    // Squares of 300 overflow f16, the distances do not.
    let x = of([[300.0f32, -300.0], [1.0, 2.0]])
        .cast(DType::F16)
        .unwrap();
    let zero = NdArray::zeros_of(DType::F16, [2]).unwrap();
    let far = x
        .distance(Distance::Euclidean, &zero, 1)
        .unwrap()
        .to_f64_vec()
        .unwrap();
    assert!(
        (far[0] - 424.25).abs() <= 0.125 && (far[1] - 5f64.sqrt()).abs() < 1e-3,
        "{far:?}"
    );
    let units = x
        .unit_vec(1)
        .unwrap()
        .norm2(1)
        .unwrap()
        .to_f64_vec()
        .unwrap();
    assert!(
        units.iter().all(|length| (length - 1.0).abs() < 2e-3),
        "{units:?}"
    );
}

#[test]
fn distances_of_neighbours_keep_their_accuracy() {
    // Far from the origin |x|^2 + |y|^2 - 2 x y has no correct digit left.
    let x = counted(&[4, 3]).mul(1e-3).unwrap().add(1000.0).unwrap();
    let found = x.all_distances(Distance::Euclidean, &x).unwrap();
    let rows = x.cast(DType::F64).unwrap();
    for i in 0..4 {
        for j in 0..4 {
            let mut squares = 0.0;
            for k in 0..3 {
                let apart = rows.get_f64([i, k]).unwrap() - rows.get_f64([j, k]).unwrap();
                squares += apart * apart;
            }
            let value = found.get_f64([i, j]).unwrap();
            assert!(
                (value - squares.sqrt()).abs() <= 2e-7 * squares.sqrt(),
                "{i} {j} {value}"
            );
        }
    }
}

#[test]
fn distances_check_their_shapes() {
    let (x, y) = (counted(&[400, 20]), counted(&[1, 20]));
    let error = x.distance_number(Distance::Euclidean, &y).unwrap_err();
    assert!(matches!(error.kind(), ArrayErrorKind::Broadcast { .. }));
    assert_eq!(
        x.distance(Distance::Euclidean, &y, 1).unwrap().shape()[..],
        [400]
    );
    assert_eq!(
        x.distance(Distance::Dot, &y, keep(1)).unwrap().shape()[..],
        [400, 1]
    );
    assert!(x.distance(Distance::Dot, &counted(&[3, 20]), 1).is_err());
    assert!(x.distance(Distance::Dot, &y, 2).is_err());
    assert!(x.all_distances(Distance::Dot, &counted(&[5, 19])).is_err());
    assert!(
        x.all_distances(Distance::Manhattan, &counted(&[20]))
            .is_err()
    );
    let empty = NdArray::zeros([0, 3]).unwrap();
    let pairs = empty
        .all_distances(Distance::Euclidean, &counted(&[2, 3]))
        .unwrap();
    assert_eq!(pairs.shape()[..], [0, 2]);
    let flat = NdArray::zeros([2, 0]).unwrap();
    let pairs = flat
        .all_distances(Distance::SquaredEuclidean, &flat)
        .unwrap();
    assert_eq!(pairs, NdArray::zeros([2, 2]).unwrap());
}

#[test]
fn distances_of_nd4js_tests() {
    in_every_layout(distances_of_nd4js_tests_in_a_layout);
}

fn distances_of_nd4js_tests_in_a_layout() {
    let x = of([0.0f64, 1.0, 0.0, 0.0, 1.0, 0.0]);
    let y = of([1.0f64, 1.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(x.distance_number(Distance::Jaccard, &y).unwrap(), 0.75);
    let z = of([0.0f64, 1.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(x.distance_number(Distance::Hamming, &z).unwrap(), 2.0 / 6.0);
}

#[test]
fn scaling_transforms() {
    for shape in [&[4usize, 5][..], &[2, 3, 2], &[6], &[0, 3]] {
        let x = counted(shape).sub(3.5).unwrap().cast(DType::F64).unwrap();
        for (layout, x, _) in inputs(&x).unwrap() {
            let limit = 2.0;
            let clipped = x.clip_by_norm(limit, -1).unwrap();
            let unit = x.unit_vec(-1).unwrap();
            let standard = x.standardize(-1).unwrap();
            let rows = x.tear(-1).unwrap();
            for (i, row) in rows.iter().enumerate() {
                let row = row.to_f64_vec().unwrap();
                let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
                let mean = row.iter().sum::<f64>() / row.len() as f64;
                let spread = row.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
                let deviation = (spread / (row.len() as f64 - 1.0)).sqrt();
                let of = |array: &NdArray| {
                    array
                        .tensor_along_dimension(i, -1)
                        .unwrap()
                        .to_f64_vec()
                        .unwrap()
                };
                let near = |found: Vec<f64>, expected: &dyn Fn(f64) -> f64| {
                    let close = |(f, v): (&f64, &f64)| (f - expected(*v)).abs() < 1e-14;
                    found.iter().zip(&row).all(close)
                };
                assert!(
                    near(of(&clipped), &|v| if norm > limit {
                        v / norm * limit
                    } else {
                        v
                    }),
                    "{layout}"
                );
                assert!(near(of(&unit), &|v| v / norm), "{layout}");
                // Constants become 0.
                let scaled = |v| match deviation {
                    0.0 => 0.0,
                    _ => (v - mean) / deviation,
                };
                assert!(near(of(&standard), &scaled), "{layout}");
            }
        }
    }
}

#[test]
fn functions_that_limit_and_rescale() {
    in_every_layout(functions_that_limit_and_rescale_in_a_layout);
}

fn functions_that_limit_and_rescale_in_a_layout() {
    let x = of([0.25f32, -2.0, 1.0]);
    assert_eq!(
        x.times_one_minus().unwrap().to_f64_vec().unwrap(),
        [0.1875, -6.0, 0.0]
    );
    assert_eq!(
        of([8i32]).log_base(2.0).unwrap().to_f64_vec().unwrap(),
        [3.0]
    );
    assert_eq!(
        of([1000i32]).log_base(10.0).unwrap().to_f64_vec().unwrap(),
        [3.0]
    );
    for (dtype, k) in [
        (DType::F32, 1.0),
        (DType::F64, 3.0),
        (DType::F16, 2.0),
        (DType::F32, -1.5),
    ] {
        let x = of([-1e4f64, -3.5, 0.0, 3.25, 1e4]).cast(dtype).unwrap();
        let limited = x.stabilize(k).unwrap();
        let values = limited.to_f64_vec().unwrap();
        assert_eq!(
            (values[1], values[2], values[3]),
            (-3.5, 0.0, 3.25),
            "{dtype}"
        );
        let powers = limited.mul(k).unwrap().exp().unwrap();
        assert!(powers.is_finite().unwrap().all_true().unwrap(), "{dtype}");
    }
}

#[test]
fn closeness_of_every_element() {
    in_every_layout(closeness_of_every_element_in_a_layout);
}

fn closeness_of_every_element_in_a_layout() {
    let x = of([1.0f64, f64::NAN, f64::INFINITY, f64::INFINITY, -1e-8]);
    let y = of([
        1.0f64 + 1e-6,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e-8,
    ]);
    let close = x.is_close(&y, 0.0, 1e-5).unwrap();
    assert_eq!(
        close.to_vec::<bool>().unwrap(),
        [true, false, true, false, true]
    );
    let finite = x.is_close(&of([f64::INFINITY]), 1e-5, 0.0).unwrap();
    assert_eq!(
        finite.to_vec::<bool>().unwrap(),
        [false, false, true, true, false]
    );
    let far = of([1.0f64]);
    let infinite = of([f64::INFINITY]);
    assert!(
        !far.all_close(&infinite, 1e-5, 0.0).unwrap()
            && infinite.all_close(&infinite, 0.0, 0.0).unwrap()
    );
    let near_zero = of([-1.0f32, -1.0, -1e-8, 1e-8, 1.0, 1.0]);
    assert_eq!(
        near_zero
            .is_close(0, 0.0, 1e-5)
            .unwrap()
            .count_nonzero_number()
            .unwrap(),
        2.0
    );
}

#[test]
fn nan_variants_without_an_answer() {
    in_every_layout(nan_variants_without_an_answer_in_a_layout);
}

fn nan_variants_without_an_answer_in_a_layout() {
    let nan = of([[f32::NAN, f32::NAN], [1.0, 2.0]]);
    assert!(matches!(
        nan.nan_argmax(1).unwrap_err().kind(),
        ArrayErrorKind::Empty { .. }
    ));
    assert!(nan.nan_argmin(1).is_err() && nan.nan_argmax(0).is_ok());
    assert!(NdArray::zeros([0]).unwrap().nan_max(0).is_err());
    assert_eq!(
        NdArray::zeros([0])
            .unwrap()
            .nan_sum(0)
            .unwrap()
            .item::<f32>()
            .unwrap(),
        0.0
    );
    assert_eq!(of([1i32]).replace_nan(5.0).unwrap(), of([1i32]));
    assert_eq!(nan.replace_nan(-1.0).unwrap().sum_number().unwrap(), 1.0);
    let deviation = of([1.0f64, f64::NAN, 3.0]).nan_std(.., 0).unwrap();
    assert_eq!(deviation.item::<f64>().unwrap(), 1.0);
}

#[test]
fn no_derivative_of_bits() {
    assert!(NdArray::from([1.0f32]).derivative(UnaryOp::BitNot).is_err());
    let zero = NdArray::from([2.5f32]).derivative(UnaryOp::Round).unwrap();
    assert_eq!(zero.to_f64_vec().unwrap(), [0.0]);
}

#[test]
fn zero_fraction_and_shifted_moments() {
    assert_eq!(counted(&[2, 4]).zero_fraction().unwrap(), 0.125);
    assert!(
        NdArray::zeros([0])
            .unwrap()
            .zero_fraction()
            .unwrap()
            .is_nan()
    );
    let values = NdArray::from([[1e6f64 + 1.0, 1e6 + 3.0], [1e6, 1e6 + 8.0]]);
    let shifted = values.sub(1e6).unwrap();
    let (sum, squares) = (shifted.sum(1).unwrap(), shifted.sum_squares(1).unwrap());
    let (mean, variance) = sum.normalize_moments(&squares, 2.0, 1e6).unwrap();
    let (expected, expected_variance) = values.moments(1).unwrap();
    assert_eq!((mean, variance), (expected, expected_variance));
}

#[test]
fn scans_lie_as_their_input_does() {
    let turned = NdArray::arange(0, 60, 1)
        .unwrap()
        .reshape([3, 4, 5])
        .unwrap()
        .transpose();
    let straight = NdArray::from_vec(turned.to_vec::<f32>().unwrap(), [5usize, 4, 3]).unwrap();
    for axis in 0..3 {
        let (found, wanted) = (turned.cumsum(axis).unwrap(), straight.cumsum(axis).unwrap());
        assert_eq!(found.strides()[..], turned.strides()[..], "{axis}");
        assert_eq!(
            found.to_vec::<f32>().unwrap(),
            wanted.to_vec::<f32>().unwrap(),
            "{axis}"
        );
    }
}
