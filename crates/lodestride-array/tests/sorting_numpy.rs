//! Quantiles, histograms, searches and distinct values beside NumPy's answers, and the errors with their values.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::kernels::KernelError;
use lodestride_array::{
    ArrayErrorKind, DType, HistogramOptions, NdArray, QuantileMethod, Side, Sorting, keep,
};
use support::matrix::{combinations, layout_matrix, stretched_combinations};
use support::report;

/// One line of `testdata/sorting.txt`, written by `testdata/sorting.py`.
struct Case<'a> {
    kind: &'a str,
    arguments: Vec<&'a str>,
    inputs: Vec<NdArray>,
    expected: Vec<Vec<f64>>,
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect()
}

fn parse(line: &str) -> Case<'_> {
    let (left, right) = line.split_once("=> |").unwrap();
    let mut parts = left.trim_end_matches([' ', '|']).split('|').map(str::trim);
    Case {
        kind: parts.next().unwrap(),
        arguments: parts.next().unwrap().split_whitespace().collect(),
        inputs: parts
            .map(|part| {
                let values = numbers(part);
                let len = values.len();
                NdArray::from_vec(values, [len]).unwrap()
            })
            .collect(),
        expected: right.split('|').map(numbers).collect(),
    }
}

/// What the crate answers to a case of these arrays.
fn answer(case: &Case<'_>, inputs: &[&NdArray]) -> Vec<NdArray> {
    let x = inputs[0];
    let number = |at: usize| case.arguments[at].parse::<f64>().unwrap();
    let bins = || number(0) as usize;
    let pair = |(a, b): (NdArray, NdArray)| vec![a, b];
    match case.kind {
        "quantile" => {
            let method = QuantileMethod::from_name(case.arguments[0]).unwrap();
            vec![x.quantile_with(number(1), 0, method).unwrap()]
        }
        "median" => vec![x.median(0).unwrap()],
        "nan_median" => vec![x.nan_median(0).unwrap()],
        "histogram" => pair(x.histogram(bins()).unwrap()),
        "histogram_edges" => vec![x.histogram(inputs[1]).unwrap().0],
        "histogram_range" | "histogram_density" | "histogram_weights" => {
            let options = HistogramOptions {
                range: (case.kind == "histogram_range").then(|| (number(1), number(2))),
                weights: inputs.get(1).copied(),
                density: case.kind == "histogram_density",
            };
            pair(x.histogram_with(bins(), options).unwrap())
        }
        "searchsorted" => {
            let side = match case.arguments[0] {
                "left" => Side::Left,
                _ => Side::Right,
            };
            vec![x.searchsorted(inputs[1], side).unwrap()]
        }
        "digitize" => vec![x.digitize(inputs[1], number(0) == 1.0).unwrap()],
        "unique" => {
            let found = x.unique_all().unwrap();
            assert_eq!(found.values.len(), x.unique().unwrap().len());
            vec![found.values, found.indices, found.inverse, found.counts]
        }
        "bincount" => vec![x.bincount(bins()).unwrap()],
        "bincount_weights" => vec![x.bincount_weighted(inputs[1], bins()).unwrap()],
        "lexsort" => vec![NdArray::lexsort(inputs).unwrap()],
        kind => panic!("no answer for {kind}"),
    }
}

/// Whether arrays have the elements they should. The point between two elements and the density are rounded in another order
/// than NumPy's: two units in the last place of numbers up to 16.
fn near(found: &[NdArray], expected: &[Vec<f64>]) -> bool {
    found.iter().zip(expected).all(|(found, expected)| {
        let found = found.to_f64_vec().unwrap();
        let close = |(a, b): (&f64, &f64)| {
            (a - b).abs() <= 4e-15 * b.abs().max(1.0) || (a.is_nan() && b.is_nan()) || a == b
        };
        found.len() == expected.len() && found.iter().zip(expected).all(close)
    })
}

#[test]
fn the_answers_are_numpys() {
    let (mut checked, mut failed) = (0, Vec::new());
    for line in include_str!("../testdata/sorting.txt").lines() {
        let mut case = parse(line);
        let whole = match case.kind {
            "bincount" => DType::I32,
            "bincount_weights" => DType::U8,
            _ => DType::F64,
        };
        case.inputs[0] = case.inputs[0].cast(whole).unwrap();
        let inputs: Vec<&NdArray> = case.inputs.iter().collect();
        let run = &mut |layouts: &str, given: &[&NdArray]| {
            checked += 1;
            let found = answer(&case, given);
            if !near(&found, &case.expected) {
                failed.push(format!("{line}\n  {layouts}: {found:?}"));
            }
        };
        combinations(&inputs, run).unwrap();
        // Edges of bins must rise, so that they cannot be stretched.
        if matches!(case.kind, "digitize" | "histogram_edges") {
            continue;
        }
        let run = &mut |layouts: &str, given: &[&NdArray], plain: &[&NdArray]| {
            checked += 1;
            let (found, expected) = (answer(&case, given), answer(&case, plain));
            let expected: Vec<Vec<f64>> =
                expected.iter().map(|x| x.to_f64_vec().unwrap()).collect();
            if !near(&found, &expected) {
                failed.push(format!("{line}\n  {layouts}: {found:?}"));
            }
        };
        stretched_combinations(&inputs, run).unwrap();
    }
    report(checked, &failed);
    assert!(checked > 3000, "{checked}");
}

#[test]
fn quantiles_over_axes_keep_them_when_asked() {
    let x = NdArray::arange(0, 24, 1)
        .unwrap()
        .reshape([2, 3, 4])
        .unwrap();
    for (name, array) in layout_matrix(&x).unwrap() {
        let over_two = array.median([0, 2]).unwrap();
        assert_eq!(
            over_two.to_vec::<f32>().unwrap(),
            [7.5, 11.5, 15.5],
            "{name}"
        );
        assert_eq!(
            array.median(keep([0, 2])).unwrap().shape()[..],
            [1, 3, 1],
            "{name}"
        );
        let several = array
            .quantiles(&[0.0, 0.5, 1.0], 1, QuantileMethod::Linear)
            .unwrap();
        assert_eq!(several.shape()[..], [3, 2, 4], "{name}");
        let flat = array
            .quantiles(&[0.0, 1.0], .., QuantileMethod::Lower)
            .unwrap();
        assert_eq!(flat.to_vec::<f32>().unwrap(), [0.0, 23.0], "{name}");
        let kept = array
            .quantiles(&[0.5], keep(..), QuantileMethod::Linear)
            .unwrap();
        assert_eq!(kept.shape()[..], [1, 1, 1, 1], "{name}");
    }
    assert!(
        NdArray::zeros([0])
            .unwrap()
            .median(0)
            .unwrap()
            .item::<f32>()
            .unwrap()
            .is_nan()
    );
    assert_eq!(NdArray::from([1.0f32, 4.0]).median_number().unwrap(), 2.5);
    let big = NdArray::from([f64::MAX, -f64::MAX, f64::INFINITY, f64::INFINITY]);
    assert_eq!(big.median(0).unwrap().item::<f64>().unwrap(), f64::INFINITY);
    assert_eq!(
        big.get(&lodestride_array::s![0..2])
            .unwrap()
            .median(0)
            .unwrap()
            .item::<f64>()
            .unwrap(),
        0.0
    );
}

#[test]
fn nd4js_sort_assertions() {
    // ND4J testSort, testSortWithIndicesDescending.
    let a = NdArray::from([[1i32, 2], [3, 4]]);
    let down = Sorting::descending();
    assert_eq!(
        a.sort_with(1, down).unwrap(),
        NdArray::from([[2i32, 1], [4, 3]])
    );
    let indices = a.sorti_with_indices(1, down).unwrap();
    assert_eq!(indices, NdArray::from([[1i64, 0], [1, 0]]));
    assert_eq!(a, NdArray::from([[2i32, 1], [4, 3]]));
    // testNativeSort1, testNativeSortView1, testNativeSortAlongDimension2.
    let a = NdArray::from([9.0f32, 2.0, 1.0, 7.0, 6.0, 5.0, 4.0, 3.0, 8.0, 0.0]);
    assert_eq!(a.sort(..).unwrap(), NdArray::arange(0, 10, 1).unwrap());
    let parent = NdArray::zeros([10, 3]).unwrap();
    parent.slice(0, 1).unwrap().assign(&a).unwrap();
    parent.slice(0, 1).unwrap().sorti(0).unwrap();
    assert_eq!(
        parent.slice(0, 1).unwrap(),
        NdArray::arange(0, 10, 1).unwrap()
    );
    let rows = NdArray::stack(&[&a, &a, &a], 0).unwrap();
    rows.sorti_with(1, down).unwrap();
    for row in 0..3 {
        let falling = NdArray::arange(0, 10, 1).unwrap().flip(0).unwrap();
        assert_eq!(rows.row(row).unwrap(), falling);
    }
    // testNativeSort3: 2^20 shuffled; nd4j#2256: a NaN goes to one end and the rest is in order.
    let n = 1 << 20;
    let shuffled: Vec<f32> = (0..n).map(|i| ((i * 7919) % n + 1) as f32).collect();
    let sorted = NdArray::from_vec(shuffled, [n])
        .unwrap()
        .sort(0)
        .unwrap()
        .to_vec::<f32>()
        .unwrap();
    assert!(sorted.iter().enumerate().all(|(i, &v)| v == (i + 1) as f32));
    let nan = NdArray::from([2.0f32, f32::NAN, -1.0]);
    assert_eq!(
        nan.sort(0).unwrap().to_vec::<f32>().unwrap()[..2],
        [-1.0, 2.0]
    );
    assert!(nan.sort_with(0, down).unwrap().to_vec::<f32>().unwrap()[0].is_nan());
}

#[test]
fn rows_travel_whole_by_any_column() {
    // ND4J testSortRows and testSortColumns: 10x5, each column, both directions, the input unchanged.
    let values: Vec<f32> = (0..50).map(|i| ((i * 31) % 47) as f32).collect();
    let a = NdArray::from_vec(values.clone(), [10, 5]).unwrap();
    let all = layout_matrix(&a).unwrap();
    for column in -5isize..5 {
        for sorting in [Sorting::ascending(), Sorting::descending()] {
            let key = column.rem_euclid(5) as usize;
            let mut rows: Vec<&[f32]> = values.chunks(5).collect();
            rows.sort_by(|a, b| {
                let order = a[key].total_cmp(&b[key]);
                if sorting.is_descending() {
                    order.reverse()
                } else {
                    order
                }
            });
            let rows = rows.concat();
            for (layout, a) in &all {
                let sorted = a.sort_rows(column, sorting).unwrap();
                assert_eq!(sorted.to_vec::<f32>().unwrap(), rows, "{layout}");
                let mirrored = a.transpose().sort_columns(column, sorting).unwrap();
                assert_eq!(mirrored.transpose(), sorted, "{layout}");
            }
        }
    }
    assert_eq!(a.to_vec::<f32>().unwrap(), values);
}

/// The kernels' error of a call that must fail.
fn kernel_error<T: std::fmt::Debug>(result: lodestride_array::Result<T>) -> KernelError {
    let error = result.unwrap_err();
    match error.kind() {
        ArrayErrorKind::Kernel { source } => source.clone(),
        kind => panic!("{kind:?}"),
    }
}

fn is_out_of_range(error: &KernelError, named: &str, limits: [f64; 3]) -> bool {
    match *error {
        KernelError::OutOfRange {
            name,
            value,
            min,
            max,
            ..
        } => name == named && [min, value, max] == limits,
        _ => false,
    }
}

#[test]
fn numbers_out_of_range_are_errors_with_the_limits() {
    let a = NdArray::from([3.0f32, 1.0, 2.0]);
    let many = kernel_error(a.topk(4, 0));
    assert!(is_out_of_range(&many, "k", [0.0, 4.0, 3.0]));
    assert_eq!(
        many.to_string(),
        "Op [topk]: k = 4 is out of range: it must lie between 0 and 3"
    );
    let q = kernel_error(a.quantile(1.5, 0));
    assert!(is_out_of_range(&q, "q", [0.0, 1.5, 1.0]));
    let nan = kernel_error(a.quantile(f64::NAN, 0));
    assert!(matches!(nan, KernelError::OutOfRange { .. }));
    let negative = kernel_error(NdArray::from([1i32, -2]).bincount(0));
    assert!(matches!(negative, KernelError::OutOfRange { value, .. } if value == -2.0));
    let floats = kernel_error(a.bincount(0));
    assert!(matches!(floats, KernelError::UnsupportedDType { .. }));
    for refused in [
        a.histogram(0),
        NdArray::from([f32::INFINITY, 0.0]).histogram(3),
    ] {
        assert!(matches!(
            kernel_error(refused),
            KernelError::InvalidArgument { .. }
        ));
    }
}

#[test]
fn edges_and_axes_that_do_not_fit_are_errors() {
    let a = NdArray::from([3.0f32, 1.0, 2.0]);
    let edges = NdArray::from([0.0f32, 2.0, 1.0]);
    let unsorted = kernel_error(a.histogram(&edges));
    assert!(unsorted.to_string().contains("help: `sort` them"));
    for error in [unsorted, kernel_error(a.digitize(&edges, false))] {
        let KernelError::Edges {
            index,
            edge,
            previous,
            ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!((index, edge, previous), (2, 1.0, 2.0));
    }
    let fails = |result: lodestride_array::Result<NdArray>, wanted: fn(&ArrayErrorKind) -> bool| {
        let error = result.unwrap_err();
        assert!(wanted(error.kind()), "{error}");
    };
    let cube = NdArray::zeros([2, 2, 2]).unwrap();
    fails(a.sort(1), |kind| {
        matches!(kind, ArrayErrorKind::Shape { .. })
    });
    fails(a.partition([3], 0), |kind| {
        matches!(kind, ArrayErrorKind::IndexRange { index: 3, .. })
    });
    fails(cube.sort([0, 1]), |kind| {
        matches!(kind, ArrayErrorKind::Form { .. })
    });
    fails(cube.sort_rows(0, Sorting::ascending()), |kind| {
        matches!(kind, ArrayErrorKind::Form { .. })
    });
    fails(cube.searchsorted(&a, Side::Left), |kind| {
        matches!(kind, ArrayErrorKind::Form { .. })
    });
    fails(NdArray::lexsort(&[&a, &NdArray::from([1i64, 2])]), |kind| {
        matches!(kind, ArrayErrorKind::Operands { .. })
    });
    let stretched = a.broadcast_to([2, 3]).unwrap();
    fails(stretched.sorti(0).cloned(), |kind| {
        matches!(kind, ArrayErrorKind::OverlappingTarget { .. })
    });
    assert_eq!(a.to_vec::<f32>().unwrap(), [3.0, 1.0, 2.0]);
}
