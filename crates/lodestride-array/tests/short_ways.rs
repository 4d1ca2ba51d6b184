//! Short ways through the library, of which users are to notice nothing but the time: small products of packed matrices, and
//! programs of expressions that a thread keeps. What they give, and refuse, is what the general ways do.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::kernels::{Isa, ReduceOp};
use lodestride_array::{ArrayErrorKind, Checks, DType, Lazy, NdArray, Scalar, Workspace};
use support::matrix::{in_layouts, layout_matrix, stretched_combinations};
use support::{counted, report};

/// Small whole numbers, whose sums of products are exact in any order.
fn whole(shape: [usize; 2], dtype: DType, seed: usize) -> NdArray {
    let n = shape[0] * shape[1];
    let values = (0..n).map(|i| ((i * 7 + seed * 3) % 11) as f64 - 5.0);
    let array = NdArray::from_vec(values.collect(), shape).unwrap();
    array.cast(dtype).unwrap()
}

fn product(a: &[f64], b: &[f64], [m, k, n]: [usize; 3]) -> Vec<f64> {
    let mut out = vec![0.0; m * n];
    for (i, j, p) in (0..m).flat_map(|i| (0..n).flat_map(move |j| (0..k).map(move |p| (i, j, p)))) {
        out[i * n + j] += a[i * k + p] * b[p * n + j];
    }
    out
}

fn numbers(array: &NdArray) -> Vec<f64> {
    array.cast(DType::F64).unwrap().to_vec().unwrap()
}

#[test]
fn small_products_give_what_plain_loops_give() {
    const SIZES: [usize; 8] = [0, 1, 2, 3, 4, 8, 9, 17];
    let (mut cases, mut failed) = (0, Vec::new());
    let sizes = SIZES
        .iter()
        .flat_map(|&m| SIZES.iter().map(move |&k| (m, k)));
    for (m, k, n) in sizes.flat_map(|(m, k)| SIZES.iter().map(move |&n| (m, k, n))) {
        for dtype in [DType::F32, DType::F64, DType::I32] {
            let (a, b) = (whole([m, k], dtype, 1), whole([k, n], dtype, 2));
            let expected = product(&numbers(&a), &numbers(&b), [m, k, n]);
            // In place as it is, and as the last rows of a larger array.
            let last_rows = |array: &NdArray| {
                let larger = NdArray::concat(&[array, array], 0).unwrap();
                let rows = array.shape()[0];
                larger.get(&lodestride_array::s![rows.., ..]).unwrap()
            };
            let blank = || NdArray::full_of(dtype, [m, n], 7).unwrap();
            for (name, right) in [("packed", b.clone()), ("last rows", last_rows(&b))] {
                let found = a.matmul(&right).unwrap();
                let mut check = |name: &str, found: &NdArray| {
                    let same = found.shape()[..] == [m, n] && numbers(found) == expected;
                    if !same || found.dtype() != dtype {
                        failed.push(format!("{dtype} [{m}, {k}] [{k}, {n}], {name}: {found:?}"));
                    }
                    cases += 1;
                };
                check(name, &found);
                assert!(!found.is_view());
                for out in [blank(), last_rows(&blank())] {
                    a.matmul_into(&right, &out).unwrap();
                    check(&format!("{name}, into"), &out);
                    a.mmul_into(&right, out.assign(7).unwrap()).unwrap();
                    check(&format!("{name}, mmul_into"), &out);
                }
            }
        }
    }
    assert_eq!(cases, SIZES.len().pow(3) * 3 * 2 * 5);
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn small_products_are_rounded_alike_on_every_way() {
    let (mut checked, mut failed) = (0, Vec::new());
    for isa in Isa::available().chain([Isa::detect()]) {
        isa.select();
        for dtype in [DType::F32, DType::F64] {
            for sizes in [
                [3, 3, 3],
                [4, 4, 4],
                [8, 8, 8],
                [9, 5, 7],
                [13, 16, 16],
                [5, 3, 17],
                [9, 17, 1],
                [40, 3, 1],
                [1, 50, 1],
                [1, 9, 6],
                [16, 64, 3],
                [25, 70, 2],
                [17, 65, 4],
            ] {
                let [m, k, n] = sizes;
                let [a, b] = [whole([m, k], dtype, 5), whole([k, n], dtype, 6)]
                    .map(|array| array.div(3.0).unwrap());
                let larger = NdArray::concat(&[&b, &b], 0).unwrap();
                let apart = larger.get(&lodestride_array::s![k.., ..]).unwrap();
                let out = NdArray::zeros_of(dtype, [m, n]).unwrap();
                a.matmul_into(&b, &out).unwrap();
                let general = a.matmul(&apart).unwrap().to_bytes().unwrap();
                for found in [out, a.matmul(&b).unwrap()] {
                    checked += 1;
                    if found.to_bytes().unwrap() != general {
                        failed.push(format!("{dtype} {sizes:?} on {isa}"));
                    }
                }
            }
        }
    }
    report(checked, &failed);
}

#[test]
fn small_products_with_vectors() {
    let (mut checked, mut failed) = (0, Vec::new());
    for dtype in [DType::F32, DType::F64, DType::I32] {
        for [m, k, n] in [
            [3, 3, 3],
            [1, 5, 2],
            [17, 40, 9],
            [9, 1, 4],
            [4, 0, 3],
            [0, 3, 0],
        ] {
            let (a, b) = (whole([m, k], dtype, 3), whole([k, n], dtype, 4));
            let (x, y) = (whole([1, k], dtype, 5), whole([k, 1], dtype, 6));
            let (row, column) = (x.squeeze(0).unwrap(), y.squeeze(1).unwrap());
            let values = [&a, &b, &x, &y].map(numbers);
            for (left, right, shape, expected) in [
                (
                    &a,
                    &column,
                    &[m][..],
                    product(&values[0], &values[3], [m, k, 1]),
                ),
                (&row, &b, &[n], product(&values[2], &values[1], [1, k, n])),
                (
                    &row,
                    &column,
                    &[],
                    product(&values[2], &values[3], [1, k, 1]),
                ),
            ] {
                let run = &mut |layouts: &str, [x, y]: [&NdArray; 2]| {
                    let found = x.matmul(y).unwrap();
                    checked += 1;
                    if found.shape()[..] != *shape || numbers(&found) != expected {
                        failed.push(format!("{dtype} {x:?} by {y:?}, {layouts}: {found:?}"));
                    }
                };
                in_layouts([left, right], run).unwrap();
            }
        }
    }
    report(checked, &failed);
    let error = NdArray::ones([3, 4])
        .unwrap()
        .matmul(&NdArray::ones([3]).unwrap());
    assert!(matches!(
        error.unwrap_err().kind(),
        ArrayErrorKind::MatrixProduct { .. }
    ));
    let error = NdArray::ones([3])
        .unwrap()
        .mmul(&NdArray::ones([3, 2]).unwrap());
    assert!(matches!(
        error.unwrap_err().kind(),
        ArrayErrorKind::Operands { .. }
    ));
}

#[test]
fn small_products_of_any_layout_and_of_one_array() {
    let (mut checked, mut failed) = (0, Vec::new());
    for dtype in [DType::F32, DType::F64, DType::I32] {
        for sizes in [[5, 5, 5], [1, 2, 1], [2, 1, 2], [8, 4, 9], [3, 0, 2]] {
            let [m, k, n] = sizes;
            let (a, b) = (whole([m, k], dtype, 3), whole([k, n], dtype, 4));
            let expected = product(&numbers(&a), &numbers(&b), sizes);
            let run = &mut |layouts: &str, [x, y]: [&NdArray; 2]| {
                checked += 1;
                if numbers(&x.mmul(y).unwrap()) != expected {
                    failed.push(format!("{dtype} {sizes:?}: {layouts}"));
                }
            };
            in_layouts([&a, &b], run).unwrap();
            let run = &mut |layouts: &str, given: &[&NdArray], plain: &[&NdArray]| {
                checked += 1;
                let expected = product(&numbers(plain[0]), &numbers(plain[1]), sizes);
                if numbers(&given[0].mmul(given[1]).unwrap()) != expected {
                    failed.push(format!("{dtype} {sizes:?}: {layouts}"));
                }
            };
            stretched_combinations(&[&a, &b], run).unwrap();
        }
    }
    let a = whole([5, 5], DType::F32, 3);
    let expected = product(&numbers(&a), &numbers(&a), [5, 5, 5]);
    for (name, x) in layout_matrix(&a).unwrap() {
        checked += 1;
        if numbers(&x.mmul(&x).unwrap()) != expected {
            failed.push(format!("{name} and itself"));
        }
    }
    report(checked, &failed);
    // Different dtypes are promoted.
    let mixed = a.matmul(&a.cast(DType::F64).unwrap()).unwrap();
    assert_eq!((mixed.dtype(), numbers(&mixed)), (DType::F64, expected));
}

#[test]
fn small_products_go_through_the_door() {
    let a = whole([4, 4], DType::F32, 1);
    let workspace = Workspace::new("SHORT");
    let (inside, leaked) = workspace
        .scope(|_| {
            let inside = a.mmul(&a).unwrap();
            assert_eq!(
                numbers(&inside),
                numbers(&a.mmul(&a.dup().unwrap()).unwrap())
            );
            (inside.is_attached(), inside)
        })
        .unwrap();
    assert!(inside);
    let out = a.zeros_like().unwrap();
    for (x, y) in [(&leaked, &a), (&a, &leaked), (&leaked, &leaked)] {
        for error in [x.mmul(y).map(drop), x.matmul_into(y, &out)] {
            let error = error.unwrap_err();
            assert!(
                error.to_string().contains("leaked workspace pointer"),
                "{error}"
            );
        }
    }
    assert!(a.matmul_into(&a, &leaked).is_err());
    assert_eq!(numbers(&out), [0.0; 16]);
    // Over an operand: as if it had been copied first.
    let (x, y) = (a.dup().unwrap(), a.dup().unwrap());
    let expected = numbers(&x.mmul(&y).unwrap());
    x.matmul_into(&y, &x).unwrap();
    a.matmul_into(&y, &y).unwrap();
    assert_eq!((numbers(&x), numbers(&y)), (expected.clone(), expected));
    {
        let _writer = a.view_mut::<f32>().unwrap();
        let error = a.mmul(&whole([4, 4], DType::F32, 2)).unwrap_err();
        assert!(
            matches!(error.kind(), ArrayErrorKind::Kernel { .. }),
            "{error}"
        );
    }
    let b = whole([3, 4], DType::F32, 1);
    let error = a.mmul(&b).unwrap_err();
    assert!(
        matches!(error.kind(), ArrayErrorKind::MatrixProduct { .. }),
        "{error}"
    );
    let nan = NdArray::full([4, 4], f32::NAN).unwrap();
    let watched = Checks::none().nan(true).scope(|| a.mmul(&nan));
    assert!(matches!(
        watched.unwrap_err().kind(),
        ArrayErrorKind::NotFinite(_)
    ));
}

/// Expressions that differ from another in one respect each, with what the single operations give.
fn expressions<'a>(x: &'a NdArray, y: &'a NdArray, int: &'a NdArray) -> Vec<(Lazy<'a>, NdArray)> {
    let mut all = vec![
        (x.lazy() * x, x.mul(x)),
        (x.lazy() * y, x.mul(y)),
        (y.lazy() * x, y.mul(x)),
        (x.lazy() - y, x.sub(y)),
        (y.lazy() - x, y.sub(x)),
        (x.lazy() / 0.0, x.div(0.0)),
        (x.lazy() / -0.0, x.div(-0.0)),
        (int.lazy() + 1, int.add(1)),
        (int.lazy() + 1.0, int.add(1.0)),
        (int.lazy() + true, int.add(true)),
        (int.lazy() + 2, int.add(2)),
        (int.lazy() * x, int.mul(x)),
        (x.lazy().sqrt(), x.sqrt()),
        (x.lazy().exp(), x.exp()),
        (x.lazy().cast(DType::F64), x.cast(DType::F64)),
        (x.lazy().cast(DType::I32), x.cast(DType::I32)),
    ];
    for nan in [f64::NAN, -f64::NAN] {
        all.push((x.lazy() + nan, x.add(nan)));
    }
    // Larger than what is kept.
    let (mut long, mut single) = (x.lazy(), x.dup());
    for _ in 0..40 {
        long = long + y;
        single = single.and_then(|sum| sum.add(y));
    }
    all.push((long, single));
    let all = all.into_iter();
    all.map(|(lazy, single)| (lazy, single.unwrap())).collect()
}

#[test]
fn expressions_that_are_alike_are_not_mixed_up() {
    let x = counted(&[3, 4]).add(1.0).unwrap();
    let y = x.mul(0.5).unwrap().add(3.0).unwrap();
    let int = NdArray::arange(0, 12, 1).unwrap().cast(DType::I32).unwrap();
    let int = int.reshape([3, 4]).unwrap();
    let mut failed = Vec::new();
    for isa in [Isa::detect(), Isa::Baseline, Isa::detect()] {
        isa.select();
        let all = expressions(&x, &y, &int);
        // Twice in a row, in order and backwards.
        let order = (0..all.len()).chain((0..all.len()).rev());
        for at in order.flat_map(|at| [at, at]) {
            let (lazy, single) = &all[at];
            let found = lazy.eval().unwrap();
            let bits = |array: &NdArray| array.to_bytes().unwrap();
            if found.dtype() != single.dtype() || bits(&found) != bits(single) {
                failed.push(format!("{at} on {isa}: {found:?} and not {single:?}"));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn one_expression_of_any_shapes_layouts_and_memory() {
    let row = NdArray::from([1.0f32, 2.0, 3.0]);
    for turn in 0..3 {
        for shape in [[2usize, 3], [5, 3], [1, 3]] {
            let a = counted(&shape).add(turn).unwrap();
            let run = &mut |name: &str, [a, row]: [&NdArray; 2]| {
                let found = ((a.lazy() - row) * a).eval().unwrap();
                let single = a.sub(row).unwrap().mul(a).unwrap();
                assert_eq!(found, single, "{shape:?}, {name}");
                let sum = (a.lazy() * row).reduce(ReduceOp::Sum, 0).unwrap();
                let single = a.mul(row).unwrap().sum(0).unwrap();
                assert_eq!(sum, single, "{shape:?}, {name}");
            };
            in_layouts([&a, &row], run).unwrap();
        }
    }
    // What a kept program is given is looked at anew.
    let workspace = Workspace::new("SHORT");
    let leaked = workspace.scope(|_| row.dup().unwrap()).unwrap();
    let again = |a: &NdArray| (a.lazy() * 2.0).eval();
    assert!(again(&row).is_ok());
    let error = again(&leaked).unwrap_err();
    assert!(
        error.to_string().contains("leaked workspace pointer"),
        "{error}"
    );
    let narrow = NdArray::from([1u8]);
    let add = |number: i64| (narrow.lazy() + Scalar::Int(number)).eval();
    assert!(add(1).is_ok() && add(300).is_err() && add(300).is_err() && add(1).is_ok());
}

/// A power by a number that takes fewer steps is the same to the last bit on every way, and near that by an array.
#[test]
fn powers_by_a_number_do_not_depend_on_the_way() {
    let values = [
        0.0, -0.0, 1.0, -1.0, 0.7, -0.7, 1.3, 3.0, -3.0, 9.5, 1e-30, 1e25, -1e25, 1e160, 1e-160,
    ];
    let ends = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let values: Vec<f64> = values.into_iter().chain(ends).collect();
    let same = |found: f64, wanted: f64, within: f64| {
        found.to_bits() == wanted.to_bits()
            || (found.is_nan() && wanted.is_nan())
            || (found - wanted).abs() <= within * wanted.abs() && found * wanted > 0.0
    };
    let (mut checked, mut failed) = (0, Vec::new());
    for dtype in [DType::F16, DType::F32, DType::F64, DType::I32, DType::U8] {
        for exponent in [1.0, 2.0, 3.0, -1.0, 0.5, 2.5] {
            let x = NdArray::from_vec(values.clone(), [3, 6]).unwrap();
            let x = x.cast(dtype).unwrap();
            let power = x.pow(exponent).unwrap();
            let wanted = numbers(&power);
            let mut check = |way: &str, found: &NdArray, within: f64| {
                let all = numbers(found).into_iter().zip(&wanted);
                let all = all.filter(|&(found, &wanted)| !same(found, wanted, within));
                failed.extend(all.map(|(a, b)| format!("{dtype} ^ {exponent}, {way}: {a} {b}")));
                assert_eq!(found.dtype(), power.dtype(), "{dtype} {exponent} {way}");
                checked += 1;
            };
            let exponents = NdArray::full_of(power.dtype(), [3, 6], exponent).unwrap();
            let last = if power.dtype() == DType::F16 {
                1e-3
            } else {
                4e-7
            };
            check("by an array", &x.pow(&exponents).unwrap(), last);
            check("lazily", &x.lazy().pow(exponent).eval().unwrap(), 0.0);
            let turned = x.transpose().dup().unwrap().transpose();
            check("in columns", &turned.pow(exponent).unwrap(), 0.0);
            let apart = NdArray::stack(&[&x, &x], 2).unwrap();
            let apart = apart.get(&lodestride_array::s![.., .., 0]).unwrap();
            check("apart", &apart.pow(exponent).unwrap(), 0.0);
            let out = NdArray::full_of(power.dtype(), [3, 6], 7).unwrap();
            x.pow_into(exponent, &out).unwrap();
            check("into", &out, 0.0);
            if power.dtype() == dtype {
                check("in place", x.dup().unwrap().powi(exponent).unwrap(), 0.0);
                check("in place apart", apart.powi(exponent).unwrap(), 0.0);
            }
        }
    }
    report(checked, &failed);
}
