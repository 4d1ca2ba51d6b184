//! Functions of daily use beside NumPy's figures, in every memory layout; what they refuse, and with which values.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::{ArrayErrorKind, DType, NdArray, Result, Rng};
use support::figures::{Case, cases, difference};
use support::matrix::{all_shapes, in_layouts, numbered};
use support::report;

/// A word that is a list of numbers.
fn list(case: &Case<'_>, at: usize) -> Vec<isize> {
    let numbers = case.words[at].split(',');
    numbers.map(|number| number.parse().unwrap()).collect()
}

fn sizes(case: &Case<'_>, at: usize) -> Vec<usize> {
    list(case, at)
        .into_iter()
        .map(|size| size as usize)
        .collect()
}

/// What the crate makes of nothing but numbers.
fn made(case: &Case<'_>) -> Result<Vec<NdArray>> {
    let number = |at| case.number(at);
    let count = |at| case.number(at) as usize;
    let pair = |(a, b): (NdArray, NdArray)| vec![a, b];
    let one = |array: NdArray| vec![array];
    match case.words[0] {
        "linspace_open" => {
            NdArray::linspace_open_of(DType::F64, number(1), number(2), count(3)).map(one)
        }
        "logspace" => {
            NdArray::logspace_of(DType::F64, number(1), number(2), count(3), number(4)).map(one)
        }
        "geomspace" => NdArray::geomspace_of(DType::F64, number(1), number(2), count(3)).map(one),
        "eye_at" => NdArray::eye_at(count(1), count(2), number(3) as isize).map(one),
        "tril_indices" => NdArray::tril_indices(count(1), count(2), number(3) as isize).map(pair),
        "triu_indices" => NdArray::triu_indices(count(1), count(2), number(3) as isize).map(pair),
        "indices" => NdArray::indices(sizes(case, 1)).map(one),
        name => panic!("nothing makes {name}"),
    }
}

/// What the crate answers to a case of several arrays or lists.
fn combined(case: &Case<'_>, x: &[&NdArray]) -> Result<NdArray> {
    match case.words[0] {
        "ravel_multi_index" => NdArray::ravel_multi_index(x, sizes(case, 1)),
        "move_axes" => x[0].move_axes(list(case, 1), list(case, 2)),
        "roll_axes" => x[0].roll_axes(list(case, 1), list(case, 2)),
        "expand_dims_axes" => x[0].expand_dims_axes(list(case, 1)),
        "squeeze_axes" => x[0].squeeze_axes(list(case, 1)),
        "tile" => x[0].tile(sizes(case, 1)),
        "column_stack" => NdArray::column_stack(x),
        "dstack" => NdArray::dstack(x),
        "block" => {
            let mut rest = x;
            let mut rows = Vec::new();
            for count in sizes(case, 1) {
                let (row, others) = rest.split_at(count);
                rows.push(row);
                rest = others;
            }
            NdArray::block(&rows)
        }
        "insert" => x[0].insert(list(case, 1), x[1], case.number(2) as isize),
        "delete" => x[0].delete(list(case, 1), case.number(2) as isize),
        "insert_flat" => x[0].insert_flat(list(case, 1), x[1]),
        "delete_flat" => x[0].delete_flat(list(case, 1)),
        name => panic!("no answer for {name}"),
    }
}

/// What the crate answers to a case, with other arrays in place of its own.
fn answer(case: &Case<'_>, x: &[&NdArray]) -> Result<Vec<NdArray>> {
    let found = match case.words[0] {
        "unravel_index" => return x[0].unravel_index(sizes(case, 1)),
        "div_mod" => return x[0].div_mod(x[1]).map(|(a, b)| vec![a, b]),
        "is_in" => x[0].is_in(x[1]),
        "intersection" => x[0].intersection(x[1]),
        "union" => x[0].union(x[1]),
        "set_difference" => x[0].set_difference(x[1]),
        "symmetric_difference" => x[0].symmetric_difference(x[1]),
        "round_to" => x[0].round_to(case.number(1) as i32),
        "to_radians" => x[0].to_radians(),
        "to_degrees" => x[0].to_degrees(),
        "sign_bit" => x[0].sign_bit(),
        "replace_not_finite" => match case.words[1] {
            "given" => x[0].replace_not_finite(9.0, Some(5.0), Some(-6.0)),
            _ => x[0].replace_not_finite(9.0, None, None),
        },
        "copysign" => x[0].copysign(x[1]),
        "fmax" => x[0].fmax(x[1]),
        "fmin" => x[0].fmin(x[1]),
        "gcd" => x[0].gcd(x[1]),
        "lcm" => x[0].lcm(x[1]),
        "clip" => x[0].clip(x[1], x[2]),
        "count_zero" => x[0].count_zero(case.axes(1)),
        _ => combined(case, x),
    };
    found.map(|array| vec![array])
}

#[test]
fn the_answers_are_numpys_in_every_layout() {
    let (mut checked, mut faults) = (0, Vec::new());
    for case in cases(include_str!("../testdata/daily.txt")) {
        // Two roundings each; exponents of geometric spaces are rounded before they are raised.
        let relative = |dtype: DType| match dtype {
            DType::F64 => 1e-15,
            dtype if dtype.is_float() => 2e-7,
            _ => 0.0,
        };
        if case.words[0] == "fill_diagonal" {
            continue;
        }
        if case.inputs.is_empty() {
            let found = made(&case).unwrap();
            let pairs = found.iter().zip(&case.expected);
            let wrong = pairs.filter_map(|(a, b)| difference(a, b, 1e-14));
            faults.extend(wrong.map(|wrong| format!("{}\n  {wrong}", case.line)));
            checked += found.len();
            continue;
        }
        checked += case.check(&|x| answer(&case, x), &relative, &mut faults);
    }
    report(checked, &faults);
    assert!(checked > 4000, "{checked} answers");
}

#[test]
fn diagonals_are_filled_as_numpy_does_in_every_layout() {
    let (mut checked, mut faults) = (0, Vec::new());
    for case in cases(include_str!("../testdata/daily.txt")) {
        if case.words[0] != "fill_diagonal" {
            continue;
        }
        in_layouts([&case.inputs[0]], &mut |layout, [x]| {
            x.fill_diagonal(-1).unwrap();
            let wrong = difference(x, &case.expected[0], 0.0);
            faults.extend(wrong.map(|wrong| format!("{layout}: {wrong}")));
            checked += 1;
        })
        .unwrap();
    }
    report(checked, &faults);
    let a = NdArray::zeros([2, 2]).unwrap();
    a.fill_diagonal(&NdArray::from([1.0f32, 2.0])).unwrap();
    assert_eq!(a, NdArray::from([[1.0f32, 0.0], [0.0, 2.0]]));
}

#[test]
fn every_shape_and_dtype_is_taken() {
    let dtypes = [DType::Bool, DType::U8, DType::I64, DType::F16, DType::F64];
    for shape in all_shapes() {
        for dtype in dtypes {
            let x = numbered(dtype, &shape).unwrap();
            let same = x.zeros_like().unwrap();
            let number = |at: &[usize]| {
                let places = at.iter().zip(&shape);
                places.fold(0, |sum, (at, size)| sum * size + at) as f64
            };
            let counted = NdArray::from_fn(&shape[..], number).unwrap();
            assert_eq!(counted, numbered(DType::F64, &shape).unwrap());
            assert_eq!(x.empty_like().unwrap().shape(), x.shape());
            assert_eq!(
                NdArray::indices(&shape[..]).unwrap().shape()[1..],
                shape[..]
            );
            assert_eq!(x.is_in(&x).unwrap(), x.equal(&x).unwrap());
            assert!(x.set_difference(&x).unwrap().is_empty());
            assert_eq!(x.intersection(&x).unwrap(), x.union(&x).unwrap());
            let zeros = x.count_zero(..).unwrap().item::<i64>().unwrap();
            let others = x.count_nonzero(..).unwrap().item::<i64>().unwrap();
            assert_eq!((zeros + others) as usize, x.len());
            assert!(!x.sign_bit().unwrap().any_true().unwrap());
            assert_eq!(x.replace_not_finite(0.0, None, None).unwrap(), x);
            assert_eq!(x.delete_flat([0usize; 0]).unwrap(), x.ravel().unwrap());
            let float = x.copysign(1.0).unwrap();
            assert_eq!(float.to_f64_vec().unwrap(), x.to_f64_vec().unwrap());
            if dtype != DType::Bool {
                assert_eq!(x.round_to(3).unwrap(), x);
                assert_eq!(x.clip(&x, &x).unwrap(), x);
            }
            assert_eq!(x.fmax(&same).unwrap(), x);
            assert_eq!(x.fmin(&same).unwrap(), same);
        }
    }
}

#[test]
fn outputs_and_targets_take_what_is_computed() {
    let x = NdArray::from([[1.26f32, -2.0], [0.0, 7.0]]);
    let out = x.empty_like().unwrap();
    x.round_to_into(1, &out).unwrap();
    assert_eq!(out, x.round_to(1).unwrap());
    x.to_degrees_into(&out).unwrap();
    assert_eq!(out, x.to_degrees().unwrap());
    let y = x.dup().unwrap();
    y.to_degreesi().unwrap().to_radiansi().unwrap();
    assert!(y.all_close(&x, 1e-6, 0.0).unwrap());
    let (low, high) = (
        NdArray::from([0.0f32, 1.0]),
        NdArray::from([[1.0f32], [3.0]]),
    );
    x.clip_into(&low, &high, &out).unwrap();
    assert_eq!(out, NdArray::from([[1.0f32, 1.0], [0.0, 3.0]]));
    let y = x.dup().unwrap();
    y.clipi(&low, &high).unwrap();
    assert_eq!(y, out);
    let cube = NdArray::zeros([2, 2, 2]).unwrap();
    assert!(matches!(
        y.clipi(&cube, 1).unwrap_err().kind(),
        ArrayErrorKind::OutputShape { .. }
    ));
    assert_eq!(y, out);
}

/// The error of a call that must fail.
fn fails<T>(result: Result<T>, wanted: fn(&ArrayErrorKind) -> bool) {
    let error = result.err().unwrap();
    assert!(wanted(error.kind()), "{error}");
    assert!(error.location().file().ends_with("daily.rs"), "{error}");
}

#[test]
fn bounds_positions_and_axes_that_do_not_fit_are_errors() {
    use ArrayErrorKind as E;
    let a = NdArray::from([[1i32, 2], [3, 4]]);
    let f = NdArray::from([1.5f32]);
    fails(NdArray::geomspace(0, 1, 3), |e| {
        matches!(e, E::Range { .. })
    });
    fails(NdArray::geomspace(-1, 1, 3), |e| {
        matches!(e, E::Range { .. })
    });
    fails(NdArray::logspace(0, f64::INFINITY, 3, 2.0), |e| {
        matches!(e, E::Range { .. })
    });
    fails(NdArray::linspace_open(f64::NAN, 1, 3), |e| {
        matches!(e, E::Range { .. })
    });
    fails(f.unravel_index([2]), |e| matches!(e, E::IndexDType { .. }));
    fails(a.unravel_index([2, 2]), |e| {
        matches!(
            e,
            E::PositionRange {
                index: 4,
                position: 3,
                ..
            }
        )
    });
    fails(NdArray::ravel_multi_index(&[&a], [2, 2]), |e| {
        matches!(e, E::IndexCount { given: 1, .. })
    });
    fails(NdArray::ravel_multi_index(&[&a, &a], [5, 4]), |e| {
        matches!(
            e,
            E::PositionRange {
                axis: 1,
                index: 4,
                ..
            }
        )
    });
    fails(f.fill_diagonal(0), |e| matches!(e, E::Form { .. }));
    fails(NdArray::zeros([2, 2, 3]).unwrap().fill_diagonal(0), |e| {
        matches!(e, E::Form { .. })
    });
    fails(a.move_axes([0, 0], [0, 1]), |e| {
        matches!(e, E::Shape { .. })
    });
    fails(a.move_axes([0], [0, 1]), |e| matches!(e, E::Shape { .. }));
    fails(a.squeeze_axes(0), |e| matches!(e, E::Shape { .. }));
    fails(a.expand_dims_axes([0, 4]), |e| matches!(e, E::Shape { .. }));
    fails(a.roll_axes([1], [0, 1]), |e| {
        matches!(
            e,
            E::Count {
                expected: 2,
                given: 1,
                ..
            }
        )
    });
}

#[test]
fn operands_that_do_not_fit_are_errors() {
    use ArrayErrorKind as E;
    let a = NdArray::from([[1i32, 2], [3, 4]]);
    let f = NdArray::from([1.5f32]);
    fails(NdArray::column_stack(&[&a, &f]), |e| {
        matches!(e, E::Join { .. })
    });
    fails(NdArray::block(&[]), |e| matches!(e, E::Empty { .. }));
    fails(NdArray::block(&[&[&a], &[]]), |e| {
        matches!(e, E::Empty { .. })
    });
    fails(a.insert([3], 0, 0), |e| {
        matches!(e, E::IndexRange { index: 3, .. })
    });
    fails(a.insert([0], &NdArray::zeros([3, 3]).unwrap(), 0), |e| {
        matches!(e, E::Shape { .. })
    });
    fails(a.delete([-3], 1), |e| {
        matches!(
            e,
            E::IndexRange {
                index: -3,
                axis: 1,
                ..
            }
        )
    });
    fails(f.gcd(2), |e| matches!(e, E::UnsupportedDType { .. }));
    fails(a.lcm(0.5), |e| matches!(e, E::UnsupportedDType { .. }));
    fails(NdArray::from([1u8]).gcd(-2), |e| {
        matches!(e, E::Kernel { .. })
    });
    fails(NdArray::from([true]).round_to(1), |e| {
        matches!(e, E::UnsupportedDType { .. })
    });
    fails(a.copysign(&NdArray::zeros([3]).unwrap()), |e| {
        matches!(e, E::Broadcast { .. })
    });
    fails(a.clip(&NdArray::zeros([3]).unwrap(), 1), |e| {
        matches!(e, E::Broadcast { .. })
    });
    fails(a.to_radiansi(), |e| matches!(e, E::Cast { .. }));
    assert_eq!(a, NdArray::from([[1i32, 2], [3, 4]]));
}

#[test]
fn a_permuted_copy_keeps_its_rows() {
    let a = numbered(DType::I64, &[50, 3]).unwrap();
    in_layouts([&a], &mut |layout, [x]| {
        let b = Rng::seeded(5).permuted(x, 0).unwrap();
        assert_ne!(&b, x, "{layout}");
        assert_eq!(b.sort(0).unwrap(), a, "{layout}");
        assert_eq!(b, Rng::seeded(5).permuted(&a, 0).unwrap(), "{layout}");
        assert_eq!(x, &a);
    })
    .unwrap();
}
