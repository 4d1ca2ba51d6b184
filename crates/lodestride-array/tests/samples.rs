//! Functions known at points, vectors that slide past each other and polynomials, beside NumPy's and SciPy's figures in every
//! memory layout; what they refuse, and with which values.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::kernels::KernelError;
use lodestride_array::{
    ArrayErrorKind, ConvolveMode, DType, EdgeOrder, Histogram2dOptions, NdArray, Result, Spacing,
};
use support::figures::{Case, cases};
use support::matrix::{all_shapes, numbered};
use support::report;

fn mode(case: &Case<'_>) -> ConvolveMode {
    match case.words[1] {
        "full" => ConvolveMode::Full,
        "same" => ConvolveMode::Same,
        _ => ConvolveMode::Valid,
    }
}

/// The second array, or the number that stands in its place.
fn spacing<'a>(case: &Case<'_>, at: usize, x: &[&'a NdArray]) -> Spacing<'a> {
    match case.words[at] {
        "at" => x[1].into(),
        _ => case.number(at).into(),
    }
}

/// What the crate answers to a case, with other arrays in place of its own.
fn answer(case: &Case<'_>, x: &[&NdArray]) -> Result<Vec<NdArray>> {
    let axis = |at: usize| case.number(at) as isize;
    let found = match case.words[0] {
        "interp" => x[0].interp(x[1], x[2]),
        "interp_with" => {
            let [left, right] = [1, 2].map(|at| Some(case.number(at)));
            x[0].interp_with(x[1], x[2], left, right)
        }
        "interp_periodic" => x[0].interp_periodic(x[1], x[2], case.number(1)),
        "gradient" if case.words[2] == "1" => x[0].gradient(spacing(case, 3, x), axis(1)),
        "gradient" => x[0].gradient_with(spacing(case, 3, x), axis(1), EdgeOrder::Second),
        "gradient_axes" => {
            let spacings = [x[1].into(), 2.into()];
            return x[0].gradient_axes(&spacings, [1, 0], EdgeOrder::First);
        }
        "trapezoid" => x[0].trapezoid(spacing(case, 2, x), axis(1)),
        "cumulative_trapezoid" => x[0].cumulative_trapezoid(spacing(case, 2, x), axis(1)),
        "convolve" => x[0].convolve(x[1], mode(case)),
        "correlate" => x[0].correlate(x[1], mode(case)),
        "polyval" => x[0].polyval(x[1]),
        "norm_p" => x[0].norm_p(case.number(1), case.axes(2)),
        "polyfit" | "polyfit_full" | "poly_roots" | "eigvals" | "eigvalsh" | "matrix_norm" => {
            return of_matrices(case, x);
        }
        _ => return spread(case, x),
    };
    found.map(|array| vec![array])
}

/// What the crate answers about pairs in bins.
fn spread(case: &Case<'_>, x: &[&NdArray]) -> Result<Vec<NdArray>> {
    let bins = |at: usize| case.number(at) as usize;
    let options = Histogram2dOptions::default();
    let found = match case.words[0] {
        "histogram2d" => x[0].histogram2d(x[1], bins(1), bins(2)),
        "histogram2d_edges" => x[0].histogram2d(x[1], x[2], x[3]),
        "histogram2d_range" => {
            let ranges = [Some((-2.0, 2.0)), Some((0.0, 3.0))];
            let options = Histogram2dOptions { ranges, ..options };
            x[0].histogram2d_with(x[1], bins(1), bins(2), options)
        }
        "histogram2d_density" => {
            let (weights, density) = (Some(x[2]), true);
            let options = Histogram2dOptions {
                weights,
                density,
                ..options
            };
            x[0].histogram2d_with(x[1], bins(1), bins(2), options)
        }
        name => panic!("no answer for {name}"),
    }?;
    // Edges that were given are given back in their own dtype.
    let (x_edges, y_edges) = (found.x_edges, found.y_edges);
    Ok(vec![found.counts, x_edges, y_edges])
}

/// What the crate answers with the help of linear algebra. Complex numbers come as sorted parts.
#[cfg(feature = "linalg")]
fn of_matrices(case: &Case<'_>, x: &[&NdArray]) -> Result<Vec<NdArray>> {
    use lodestride_array::MatrixNorm as Norm;
    let degree = || case.number(1) as usize;
    let sorted = |(re, im): (NdArray, NdArray)| Ok(vec![re.sort(-1)?, im.sort(-1)?]);
    let found = match case.words[0] {
        "polyfit" => x[0].polyfit(x[1], degree()),
        "polyfit_full" => {
            let found = x[0].polyfit_full(x[1], degree(), Some(x[2]))?;
            return Ok(vec![found.x, found.residuals, found.s]);
        }
        "poly_roots" => return x[0].poly_roots().and_then(sorted),
        "eigvals" => return x[0].eigvals().and_then(sorted),
        "eigvalsh" => x[0].eigvalsh(),
        _ => x[0].matrix_norm(match case.words[1] {
            "1" => Norm::One,
            "2" => Norm::Two,
            "inf" => Norm::Infinity,
            "fro" => Norm::Frobenius,
            "nuc" => Norm::Nuclear,
            "-1" => Norm::MinusOne,
            "-2" => Norm::MinusTwo,
            _ => Norm::MinusInfinity,
        }),
    };
    found.map(|array| vec![array])
}

/// Without the feature the figures themselves.
#[cfg(not(feature = "linalg"))]
fn of_matrices(case: &Case<'_>, _: &[&NdArray]) -> Result<Vec<NdArray>> {
    Ok(case.expected.clone())
}

#[test]
fn points_and_vectors_give_numpys_figures_in_every_layout() {
    let (mut checked, mut faults) = (0, Vec::new());
    for case in cases(include_str!("../testdata/samples.txt")) {
        // A few roundings each; half precision is rounded once here and at every step there.
        let factored = ["poly", "eig", "matrix"];
        let is_factored = factored.iter().any(|word| case.words[0].starts_with(word));
        let relative = |dtype: DType| match dtype {
            // Roots are stored to nine places; the others are as good as the condition of their matrices.
            DType::F64 if case.words[0] == "poly_roots" => 1e-8,
            DType::F64 if is_factored => 1e-11,
            DType::F64 => 1e-14,
            DType::F32 => 1e-6,
            dtype if dtype.is_float() => 4e-3,
            _ => 0.0,
        };
        checked += case.check(&|x| answer(&case, x), &relative, &mut faults);
        let inputs: Vec<&NdArray> = case.inputs.iter().collect();
        for (found, expected) in answer(&case, &inputs).unwrap().iter().zip(&case.expected) {
            if found.dtype() != expected.dtype() {
                faults.push(format!("{}: {}", case.line, found.dtype()));
            }
        }
    }
    report(checked, &faults);
    assert!(checked > 10_000, "{checked} answers");
}

#[test]
fn every_shape_is_taken() {
    for shape in all_shapes() {
        let x = numbered(DType::F64, &shape).unwrap();
        let (points, values) = (NdArray::from([0.0, 1e3]), NdArray::from([1.0, 2e3 + 1.0]));
        let line = x.mul(2.0).unwrap().add(1.0).unwrap();
        let found = x.interp(&points, &values).unwrap();
        assert!(found.all_close(&line, 1e-12, 0.0).unwrap(), "{shape:?}");
        for axis in 0..shape.len() as isize {
            let size = shape[axis as usize];
            // Of a line the slope is the same everywhere, and the area is what the rectangle and the triangle give.
            let slopes = x.gradient(1, axis);
            if size < 2 {
                assert!(slopes.is_err(), "{shape:?}");
            } else {
                let step: usize = shape[axis as usize + 1..].iter().product();
                let same = x.zeros_like().unwrap().add(step as f64).unwrap();
                assert_eq!(slopes.unwrap(), same, "{shape:?}");
            }
            let area = x.trapezoid(1, axis).unwrap();
            let ends = if size == 0 {
                area.zeros_like().unwrap()
            } else {
                let (first, last) = (x.slice(0, axis).unwrap(), x.slice(-1, axis).unwrap());
                let mean = first.add(&last).unwrap().div(2.0).unwrap();
                mean.mul((size - 1) as f64).unwrap()
            };
            assert!(area.all_close(&ends, 1e-12, 0.0).unwrap(), "{shape:?}");
        }
    }
}

#[test]
fn long_vectors_slide_as_a_plain_loop_says() {
    let number = |i: usize| (i * 7919 + 13) % 101;
    for (m, n) in [(3000, 5), (7, 2500), (1024, 1024), (1025, 3), (1, 2000)] {
        let (a, b): (Vec<i64>, Vec<i64>) = (
            (0..m).map(|i| number(i) as i64 - 50).collect(),
            (0..n).map(|i| number(i + 5000) as i64 - 50).collect(),
        );
        let mut plain = vec![0i64; m + n - 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                plain[i + j] += x * y;
            }
        }
        let a = NdArray::from_vec(a, m).unwrap();
        let b = NdArray::from_vec(b, n).unwrap();
        for dtype in [DType::I64, DType::U64, DType::F64, DType::I32] {
            let (a, b) = (a.cast(dtype).unwrap(), b.cast(dtype).unwrap());
            let found = a.convolve(&b, ConvolveMode::Full).unwrap();
            assert_eq!(found.dtype(), dtype);
            let found = found.cast(DType::I64).unwrap().to_vec::<i64>().unwrap();
            assert!(found == plain, "{m} {n} {dtype}");
        }
    }
}

#[test]
fn outputs_take_what_is_computed() {
    let x = NdArray::from([[1.0, 4.0, 9.0], [1.0, 8.0, 27.0]]);
    let out = x.empty_like().unwrap();
    x.gradient_into(0.5, 1, &out).unwrap();
    assert_eq!(out, x.gradient(0.5, 1).unwrap());
    let (points, values) = (NdArray::from([1, 30]), NdArray::from([0, 29]));
    x.interp_into(&points, &values, &out).unwrap();
    assert_eq!(out, x.sub(1.0).unwrap());
    let sums = NdArray::zeros_of(DType::F64, [2]).unwrap();
    x.trapezoid_into(2, -1, &sums).unwrap();
    assert_eq!(sums, x.trapezoid(2, 1).unwrap());
    let (a, b) = (NdArray::from([1, 2, 3]), NdArray::from([1, 1]));
    let out = NdArray::zeros([4]).unwrap();
    a.convolve_into(&b, ConvolveMode::Full, &out).unwrap();
    assert_eq!(out.to_vec::<f32>().unwrap(), [1.0, 3.0, 5.0, 3.0]);
    assert!(a.correlate_into(&b, ConvolveMode::Same, &out).is_err());
    assert_eq!(out.to_vec::<f32>().unwrap(), [1.0, 3.0, 5.0, 3.0]);
}

/// The error of a call that must fail, with a way out in its text.
fn fails<T>(result: Result<T>, wanted: fn(&ArrayErrorKind) -> bool) {
    let error = result.err().unwrap();
    assert!(wanted(error.kind()), "{error}");
    assert!(error.location().file().ends_with("samples.rs"), "{error}");
}

#[test]
fn points_and_spacings_that_make_no_sense_are_errors() {
    use ArrayErrorKind as E;
    let x = NdArray::from([[0.5, 1.5, 2.5]]);
    let three = NdArray::from([1.0, 2.0, 3.0]);
    let none = NdArray::zeros([0]).unwrap();
    fails(x.interp(&none, &none), |e| matches!(e, E::Empty { .. }));
    fails(three.convolve(&none, ConvolveMode::Full), |e| {
        matches!(e, E::Empty { .. })
    });
    fails(x.correlate(&three, ConvolveMode::Same), |e| {
        matches!(e, E::Form { .. })
    });
    fails(x.interp(&x, &three), |e| matches!(e, E::Form { .. }));
    fails(x.interp(&three, &NdArray::from([1.0])), |e| {
        matches!(
            e,
            E::Count {
                expected: 3,
                given: 1,
                ..
            }
        )
    });
    for period in [0.0, f64::NAN, f64::INFINITY] {
        let error = x.interp_periodic(&three, &three, period).unwrap_err();
        assert!(matches!(error.kind(), E::Kernel { .. }), "{error}");
    }
    fails(x.interp(&NdArray::from([1.0, 3.0, 2.0]), &three), |e| {
        matches!(
            e,
            E::NotAscending {
                index: 2,
                value: 2.0,
                previous: 3.0,
                ..
            }
        )
    });
    fails(
        x.interp(&NdArray::from([f64::NAN, 3.0, 4.0]), &three),
        |e| matches!(e, E::NotAscending { index: 0, .. }),
    );
}

#[test]
fn axes_and_spacings_that_do_not_fit_are_errors() {
    use ArrayErrorKind as E;
    let x = NdArray::from([[0.5, 1.5, 2.5]]);
    fails(x.gradient(1, 0), |e| matches!(e, E::Form { .. }));
    fails(x.gradient(1, 2), |e| matches!(e, E::Shape { .. }));
    fails(x.gradient(&NdArray::from([1.0]), 1), |e| {
        matches!(
            e,
            E::Count {
                expected: 3,
                given: 1,
                ..
            }
        )
    });
    fails(x.gradient(&x, 1), |e| matches!(e, E::Form { .. }));
    let two = NdArray::from([1.0, 2.0]);
    fails(two.gradient_with(1, 0, EdgeOrder::Second), |e| {
        matches!(e, E::Form { .. })
    });
    let spacings = [1.into(), 2.into(), 3.into()];
    fails(x.gradient_axes(&spacings, [1], EdgeOrder::First), |e| {
        matches!(
            e,
            E::Count {
                expected: 1,
                given: 3,
                ..
            }
        )
    });
    fails(NdArray::from([true, false]).gradient(1, 0), |e| {
        matches!(e, E::UnsupportedDType { .. })
    });
    fails(NdArray::from([true]).trapezoid(1, 0), |e| {
        matches!(e, E::UnsupportedDType { .. })
    });
    fails(x.trapezoid(&two, 1), |e| {
        matches!(
            e,
            E::Count {
                expected: 3,
                given: 2,
                ..
            }
        )
    });
    fails(x.trapezoid(&NdArray::zeros([2, 2]).unwrap(), 1), |e| {
        matches!(e, E::Shape { .. })
    });
    fails(NdArray::scalar(1.0).unwrap().trapezoid(1, 0), |e| {
        matches!(e, E::Shape { .. })
    });
}

#[test]
fn coefficients_bins_and_orders_that_do_not_fit_are_errors() {
    use ArrayErrorKind as E;
    let x = NdArray::from([[0.5, 1.5, 2.5]]);
    let three = NdArray::from([1.0, 2.0, 3.0]);
    fails(x.polyval(&three), |e| matches!(e, E::Form { .. }));
    fails(three.norm_p(3.0, 1), |e| matches!(e, E::Shape { .. }));
    let none = NdArray::zeros([0]).unwrap();
    fails(none.norm_p(f64::NEG_INFINITY, 0), |e| {
        matches!(e, E::Kernel { .. })
    });
    let mismatch = |e: &E| {
        matches!(
            e,
            E::Kernel {
                source: KernelError::ShapeMismatch { .. }
            }
        )
    };
    fails(x.histogram2d(&three, 2, 2), mismatch);
    let options = Histogram2dOptions {
        weights: Some(&x),
        ..Default::default()
    };
    fails(three.histogram2d_with(&three, 2, 2, options), mismatch);
    fails(three.histogram2d(&three, 0, 2), |e| {
        matches!(
            e,
            E::Kernel {
                source: KernelError::InvalidArgument { .. }
            }
        )
    });
    let falling = NdArray::from([0.0, 2.0, 1.0]);
    fails(three.histogram2d(&three, 2, &falling), |e| {
        matches!(
            e,
            E::Kernel {
                source: KernelError::Edges { index: 2, .. }
            }
        )
    });
    fails(three.histogram2d(&three, &x, 2), |e| {
        matches!(e, E::Form { .. })
    });
}

#[cfg(feature = "linalg")]
#[test]
fn fits_and_roots_that_cannot_be_are_errors() {
    use ArrayErrorKind as E;
    let x = NdArray::from([[0.5, 1.5, 2.5]]);
    let three = NdArray::from([1.0, 2.0, 3.0]);
    let none = NdArray::zeros([0]).unwrap();
    fails(x.polyfit(&three, 1), |e| matches!(e, E::Form { .. }));
    fails(none.polyfit(&none, 1), |e| matches!(e, E::Empty { .. }));
    fails(three.polyfit(&x, 1), |e| {
        matches!(
            e,
            E::Count {
                expected: 3,
                given: 1,
                ..
            }
        )
    });
    fails(three.polyfit_full(&three, 1, Some(&none)), |e| {
        matches!(
            e,
            E::Count {
                expected: 3,
                given: 0,
                ..
            }
        )
    });
    fails(three.polyfit(&three, usize::MAX / 2), |e| {
        matches!(e, E::Shape { .. } | E::Allocation { .. })
    });
    fails(three.mul(1e200).unwrap().polyfit(&three, 4), |e| {
        matches!(e, E::Linalg { .. })
    });
    fails(x.poly_roots(), |e| matches!(e, E::Form { .. }));
    fails(NdArray::from([1.0, f64::NAN]).poly_roots(), |e| {
        matches!(e, E::Linalg { .. })
    });
    fails(x.eigvals(), |e| matches!(e, E::Form { .. }));
    fails(x.eigvalsh(), |e| matches!(e, E::Form { .. }));
    let least = lodestride_array::MatrixNorm::MinusTwo;
    fails(NdArray::zeros([0, 2]).unwrap().matrix_norm(least), |e| {
        matches!(e, E::Empty { .. })
    });
}
