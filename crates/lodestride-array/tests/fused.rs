//! Closures and expressions in one pass: every layout, dtype, overlap and thread count gives what a plain loop gives.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::kernels::{
    BinaryOp, ReduceOp, Thresholds, UnaryOp, set_threads, set_thresholds, thresholds,
};
use lodestride_array::{ArrayErrorKind, DType, Lazy, NdArray, Workspace, keep, s};
use support::matrix::{all_shapes, in_layouts, inputs, layout_matrix, stretched_combinations};
use support::{counted, report};

/// Two arrays and what `(x - y)^2 / (x + 2)` of them is, by a plain loop.
fn operands(shape: &[usize]) -> (NdArray, NdArray, Vec<f32>) {
    let x = counted(shape);
    let y = x.mul(0.5).unwrap().add(3.0).unwrap();
    let (left, right) = (x.to_vec::<f32>().unwrap(), y.to_vec::<f32>().unwrap());
    let expected = left.iter().zip(&right).map(|(&x, &y)| formula(x, y));
    let expected = expected.collect();
    (x, y, expected)
}

fn formula(x: f32, y: f32) -> f32 {
    (x - y) * (x - y) / (x + 2.0)
}

fn expression<'a>(x: &'a NdArray, y: &'a NdArray) -> Lazy<'a> {
    let difference = x.lazy() - y;
    difference.clone() * difference / (x.lazy() + 2.0)
}

#[test]
fn every_layout_gives_what_a_plain_loop_gives() {
    let (mut checked, mut failed) = (0, Vec::new());
    let numbers = |array: &NdArray| array.to_vec::<f32>().unwrap();
    for shape in all_shapes() {
        let (x, y, expected) = operands(&shape);
        let run = &mut |layouts: &str, [x, y, out]: [&NdArray; 3]| {
            checked += 4;
            let mut expect = |form: &str, found: &NdArray| {
                if numbers(found) != expected {
                    failed.push(format!("{shape:?}: {form} of {layouts}"));
                }
            };
            expect("closure", &NdArray::zip_map([x, y], formula).unwrap());
            expect("expression", &expression(x, y).eval().unwrap());
            NdArray::zip_map_into([x, y], out, formula).unwrap();
            expect("closure with an output", out);
            out.assign(0.0).unwrap();
            expression(x, y).eval_into(out).unwrap();
            expect("expression with an output", out);
        };
        in_layouts([&x, &y, &NdArray::zeros(&shape[..]).unwrap()], run).unwrap();
        let run = &mut |layouts: &str, given: &[&NdArray], plain: &[&NdArray]| {
            checked += 2;
            let (left, right) = (numbers(plain[0]), numbers(plain[1]));
            let expected = left.iter().zip(&right).map(|(&x, &y)| formula(x, y));
            let expected: Vec<f32> = expected.collect();
            let by_closure = NdArray::zip_map([given[0], given[1]], formula).unwrap();
            let by_expression = expression(given[0], given[1]).eval().unwrap();
            for (form, found) in [("closure", by_closure), ("expression", by_expression)] {
                if numbers(&found) != expected {
                    failed.push(format!("{shape:?}: {form} of {layouts}"));
                }
            }
        };
        stretched_combinations(&[&x, &y], run).unwrap();
    }
    report(checked, &failed);
    assert!(checked > 12_000, "{checked}");
}

#[test]
fn one_array_is_mapped_into_any_other() {
    let mut failed = Vec::new();
    for shape in all_shapes() {
        let x = counted(&shape);
        let twice = |value: f32| -> i32 { (2.0 * value) as i32 + 1 };
        let values = x.to_vec::<f32>().unwrap();
        let expected: Vec<i32> = values.into_iter().map(twice).collect();
        let zeros = NdArray::zeros_of(DType::I32, &shape[..]).unwrap();
        let run = &mut |case: &str, [x, out]: [&NdArray; 2]| {
            let done = x.map_into(twice, out);
            if done.is_err() || out.to_vec::<i32>().unwrap() != expected {
                failed.push(format!("{shape:?}: {case}: {done:?}"));
            }
        };
        in_layouts([&x, &zeros], run).unwrap();
        for (from, x) in layout_matrix(&x).unwrap() {
            let part = x.shape().iter().product::<usize>() + 1;
            let longer = NdArray::zeros_of(DType::I32, [part]).unwrap();
            let kind = x
                .map_into(twice, &longer)
                .map_err(|error| format!("{error:?}"));
            if !kind.is_err_and(|text| text.starts_with("map_into: the result has shape")) {
                failed.push(format!("{shape:?}: {from} into a longer one"));
            }
            // Backwards over itself.
            let own = x.dup().unwrap();
            let wanted = own.map(|value: f32| -value).unwrap();
            let target = match own.rank() {
                0 => own.clone(),
                _ => own.flip(0).unwrap(),
            };
            own.map_into(|value: f32| -value, &target).unwrap();
            if target != wanted {
                failed.push(format!("{shape:?}: {from} over itself"));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
    let a = NdArray::from([1.0f32]);
    let error = a.map_into(|value: f32| value, &NdArray::from([1.0f64]));
    let error = error.unwrap_err();
    assert!(
        matches!(error.kind(), ArrayErrorKind::DTypeMismatch { .. }),
        "{error}"
    );
    assert!(a.map_into(|value: f64| value, &a).is_err());
}

#[test]
fn operands_may_be_the_output_or_overlap_it() {
    for (name, x) in layout_matrix(&counted(&[7, 90])).unwrap() {
        let before = x.to_vec::<f32>().unwrap();
        NdArray::zip_map_into([&x, &x], &x, |a: f32, b: f32| a * b + 1.0).unwrap();
        let squared: Vec<f32> = before.iter().map(|x| x * x + 1.0).collect();
        assert_eq!(x.to_vec::<f32>().unwrap(), squared, "closure, {name}");
        (x.lazy() * &x - x.lazy()).eval_into(&x).unwrap();
        let again: Vec<f32> = squared.iter().map(|x| x * x - x).collect();
        assert_eq!(x.to_vec::<f32>().unwrap(), again, "expression, {name}");
    }
    let line = counted(&[1001]);
    let before = line.to_vec::<f32>().unwrap();
    let (low, high) = (line.get(&s![0..1000]), line.get(&s![1..1001]));
    let (low, high) = (low.unwrap(), high.unwrap());
    NdArray::zip_map_into([&low, &high], &high, |a: f32, b: f32| a + b).unwrap();
    let sums: Vec<f32> = before.windows(2).map(|pair| pair[0] + pair[1]).collect();
    assert_eq!(high.to_vec::<f32>().unwrap(), sums);
}

#[test]
fn one_to_four_arrays_of_any_dtypes_broadcast() {
    let a = NdArray::from([[1i32], [2]]);
    let b = NdArray::from([0.5f64, 1.5, 2.5]);
    let c = NdArray::from([1u8, 2, 3]);
    let d = NdArray::from([[10i64, 20, 30], [40, 50, 60]]);
    let doubled = a.map(|a: i32| f64::from(a) * 2.0).unwrap();
    assert_eq!(doubled.to_vec::<f64>().unwrap(), [2.0, 4.0]);
    let three = NdArray::zip_map([&a, &b, &c], |a: i32, b: f64, c: u8| {
        f64::from(a) * b + f64::from(c)
    });
    let three = three.unwrap();
    assert_eq!(three.shape()[..], [2, 3]);
    assert_eq!(
        three.to_vec::<f64>().unwrap(),
        [1.5, 3.5, 5.5, 2.0, 5.0, 8.0]
    );
    let four = NdArray::zip_map([&a, &b, &c, &d], |a: i32, b: f64, c: u8, d: i64| {
        d + i64::from(a) + b as i64 + i64::from(c)
    });
    assert_eq!(
        four.unwrap().to_vec::<i64>().unwrap(),
        [12, 24, 36, 43, 55, 67]
    );
    let stretched = NdArray::from(2.0f32).broadcast_to([3, 3]).unwrap();
    let constant = stretched.map(|x: f32| x + 1.0).unwrap();
    assert_eq!(constant.to_vec::<f32>().unwrap(), [3.0; 9]);
    let empty = NdArray::zeros([0, 3]).unwrap();
    let nothing = NdArray::zip_map([&empty, &empty], |x: f32, y: f32| x + y).unwrap();
    assert_eq!(nothing.shape()[..], [0, 3]);
}

#[test]
fn expressions_promote_as_single_operations_do() {
    let arrays = [
        NdArray::from([1u8, 200, 3]),
        NdArray::from([-1i32, 5, 7]),
        NdArray::from([0.5f32, -2.0, 3.0]),
        NdArray::from([0.25f64, 4.0, -1.0]),
        NdArray::from([0.5f32, -2.0, 3.0]).cast(DType::F16).unwrap(),
    ];
    for x in &arrays {
        for y in &arrays {
            for op in [BinaryOp::Add, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Lt] {
                let found = x.lazy().apply_with(op, y).eval().unwrap();
                let wanted = x.apply_with(op, y).unwrap();
                assert_eq!(found.dtype(), wanted.dtype(), "{op}: {x:?} {y:?}");
                assert_eq!(found, wanted, "{op}: {x:?} {y:?}");
            }
        }
        let halves = (2.0 * x.lazy()).apply(UnaryOp::Sqrt).eval().unwrap();
        assert_eq!(
            halves.dtype(),
            x.mul(2.0).unwrap().sqrt().unwrap().dtype(),
            "{x:?}"
        );
    }
    // Out of range of the integers: an error in arithmetic, a known answer in comparisons.
    let small = &arrays[0];
    assert!((small.lazy() + 1000).eval().is_err());
    let less = small.lazy().apply_with(BinaryOp::Lt, 1000).eval().unwrap();
    assert_eq!(less, small.less(1000).unwrap());
}

#[test]
fn thread_counts_do_not_change_results() {
    set_thresholds(Thresholds {
        light_bytes: 1 << 14,
        heavy_bytes: 1 << 14,
        ..thresholds()
    });
    let x = NdArray::linspace(0.0, 3.0, 700_001).unwrap();
    let y = x.add(1.0).unwrap();
    let closure = |x: f32, y: f32| (x * y).sqrt() - x / y;
    let all = [1, 2, 4].map(|threads| {
        set_threads(threads);
        let closure = NdArray::zip_map([&x, &y], closure).unwrap();
        let lazy = ((x.lazy() * &y).sqrt().tanh() - x.lazy() / &y)
            .eval()
            .unwrap();
        (closure.to_bytes().unwrap(), lazy.to_bytes().unwrap())
    });
    set_threads(0);
    assert!(all[0] == all[1] && all[0] == all[2]);
}

#[test]
fn misuse_is_an_error() {
    let (a, b) = (NdArray::zeros([3]).unwrap(), NdArray::zeros([4]).unwrap());
    let sum = |x: f32, y: f32| x + y;
    let kinds = [
        NdArray::zip_map([&a, &b], sum).unwrap_err(),
        NdArray::zip_map_into([&a, &a], &b, sum).unwrap_err(),
        a.map(|x: f64| x).unwrap_err(),
        (a.lazy() + &b).eval().unwrap_err(),
    ];
    let found = kinds.each_ref().map(|error| error.kind());
    assert!(
        matches!(
            found,
            [
                ArrayErrorKind::Broadcast { .. },
                ArrayErrorKind::OutputShape { .. },
                ArrayErrorKind::DTypeMismatch { .. },
                ArrayErrorKind::Broadcast { .. }
            ]
        ),
        "{found:?}"
    );
    let workspace = Workspace::new("LOOP");
    let leaked = workspace.scope(|_| NdArray::zeros([3])).unwrap().unwrap();
    for (error, start) in [
        (
            NdArray::zip_map([&leaked, &a], sum).unwrap_err(),
            "Op [zip_map] X argument uses leaked workspace pointer from workspace [LOOP]",
        ),
        (
            NdArray::zip_map([&a, &leaked], sum).unwrap_err(),
            "Op [zip_map] Y argument uses leaked workspace pointer from workspace [LOOP]",
        ),
        (
            NdArray::zip_map_into([&a, &a], &leaked, sum).unwrap_err(),
            "Op [zip_map_into] Z argument uses leaked workspace pointer from workspace [LOOP]",
        ),
        (
            (a.lazy() + &leaked).eval().unwrap_err(),
            "Op [eval] input 1 argument uses leaked workspace pointer from workspace [LOOP]",
        ),
    ] {
        assert!(error.to_string().starts_with(start), "{error}");
    }
}

/// Values in C order, those over `axes` together, by plain loops in f64.
fn groups(values: &[f32], shape: &[usize], axes: &[usize]) -> Vec<Vec<f64>> {
    let kept: Vec<usize> = (0..shape.len()).filter(|a| !axes.contains(a)).collect();
    let mut groups = vec![Vec::new(); kept.iter().map(|a| shape[*a]).product()];
    for (at, value) in values.iter().enumerate() {
        let (mut rest, mut position) = (at, vec![0; shape.len()]);
        for axis in (0..shape.len()).rev() {
            position[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        let group = kept.iter().fold(0, |g, a| g * shape[*a] + position[*a]);
        groups[group].push(f64::from(*value));
    }
    groups
}

/// A reduction of a group, and how far from it f32 may be: a lane adds up to 64 values before it is widened, so the error
/// is at most 64 half units in the last place of the sum of magnitudes; a variance squares, and so doubles it.
fn reduced(op: ReduceOp, group: &[f64]) -> (f64, f64) {
    let n = group.len() as f64;
    let (sum, size) = (
        group.iter().sum::<f64>(),
        group.iter().map(|v| v.abs()).sum::<f64>(),
    );
    let slack = 64.0 * f64::from(f32::EPSILON);
    match op {
        ReduceOp::Sum => (sum, slack * size),
        ReduceOp::Mean => (sum / n, slack * size / n),
        ReduceOp::Max => (group.iter().copied().fold(f64::MIN, f64::max), 0.0),
        ReduceOp::Min => (group.iter().copied().fold(f64::MAX, f64::min), 0.0),
        ReduceOp::CountNonZero => (group.iter().filter(|v| **v != 0.0).count() as f64, 0.0),
        _ => {
            let deviations = group.iter().map(|v| (v - sum / n).powi(2)).sum::<f64>();
            let squares = group.iter().map(|v| v * v).sum::<f64>();
            (deviations / n, 2.0 * slack * squares / n)
        }
    }
}

#[test]
fn a_reduced_expression_gives_what_a_plain_loop_gives() {
    let ops = [
        ReduceOp::Sum,
        ReduceOp::Mean,
        ReduceOp::Max,
        ReduceOp::Min,
        ReduceOp::CountNonZero,
        ReduceOp::Var { ddof: 0 },
    ];
    let (mut checked, mut failed) = (0, Vec::new());
    let large = [
        &[9001][..],
        &[3, 5000],
        &[70, 1300],
        &[300, 40],
        &[5, 70, 33],
    ];
    for shape in all_shapes().into_iter().chain(large.map(<[usize]>::to_vec)) {
        let (x, y, _) = operands(&shape);
        let all = inputs(&x).unwrap();
        // Each layout meets two of the sets of axes: all of them would take minutes at rank 5.
        let stride = (1 << shape.len()) / 2;
        for subset in 0..1usize << shape.len() {
            let axes: Vec<usize> = (0..shape.len()).filter(|a| subset >> a & 1 == 1).collect();
            let of_whole = groups_of(&x, &y, &axes);
            for (left, x, plain) in all
                .iter()
                .skip(subset % stride.max(1))
                .step_by(stride.max(1))
            {
                // All but the stretched arrays have the same elements.
                let of_stretched;
                let groups = if left.starts_with("stretched") {
                    of_stretched = groups_of(plain, &y, &axes);
                    &of_stretched
                } else {
                    &of_whole
                };
                for op in ops {
                    if !op.is_defined_on_nothing() && groups.iter().any(Vec::is_empty) {
                        continue;
                    }
                    checked += 1;
                    if !is_reduced(&expression(x, &y), op, &axes, groups) {
                        failed.push(format!("{op} of {shape:?} over {axes:?}, {left}"));
                    }
                }
            }
        }
    }
    report(checked, &failed);
    assert!(checked > 20_000, "{checked}");
}

/// The values of the formula, those over `axes` together, by plain loops.
fn groups_of(x: &NdArray, y: &NdArray, axes: &[usize]) -> Vec<Vec<f64>> {
    let [left, right] = [x, y].map(|array| array.to_vec::<f32>().unwrap());
    let values = left.iter().zip(&right).map(|(&x, &y)| formula(x, y));
    groups(&values.collect::<Vec<_>>(), x.shape(), axes)
}

/// Whether an expression reduced over axes is the reduction of each group.
fn is_reduced(expression: &Lazy<'_>, op: ReduceOp, axes: &[usize], groups: &[Vec<f64>]) -> bool {
    let axes: Vec<isize> = axes.iter().map(|axis| *axis as isize).collect();
    let found = expression.reduce(op, &axes[..]).unwrap();
    let found = found.cast(DType::F64).unwrap().to_vec::<f64>().unwrap();
    let right = |(found, group): (&f64, &Vec<f64>)| {
        let (wanted, slack) = reduced(op, group);
        (found - wanted).abs() <= slack || (found.is_nan() && wanted.is_nan())
    };
    found.len() == groups.len() && found.iter().zip(groups).all(right)
}

#[test]
fn reduced_expressions_keep_dtypes_axes_and_bits_at_any_thread_count() {
    let a = NdArray::from([[1i32, 2, 3], [4, 5, 6]]);
    let b = NdArray::from([10i32, 20, 30]);
    let products = a.lazy() * &b;
    let sums = products.sum(keep(1)).unwrap();
    assert_eq!((sums.dtype(), &sums.shape()[..]), (DType::I64, &[2, 1][..]));
    assert_eq!(sums.to_vec::<i64>().unwrap(), [140, 320]);
    assert_eq!(
        products.max(0).unwrap().to_vec::<i32>().unwrap(),
        [40, 100, 180]
    );
    assert_eq!(
        products.mean(..).unwrap().item::<f64>().unwrap(),
        460.0 / 6.0
    );
    assert_eq!(products.min(..).unwrap().item::<i32>().unwrap(), 10);
    let half = a.cast(DType::F16).unwrap();
    let sum = (half.lazy() * 0.5).sum(..).unwrap();
    assert_eq!(
        (
            sum.dtype(),
            sum.cast(DType::F32).unwrap().item::<f32>().unwrap()
        ),
        (DType::F16, 10.5)
    );
    assert!(products.sum(2).is_err());
    let nothing = NdArray::zeros([0, 3]).unwrap();
    assert!(nothing.lazy().exp().max(0).is_err());
    assert_eq!(
        nothing
            .lazy()
            .exp()
            .sum(0)
            .unwrap()
            .to_vec::<f32>()
            .unwrap(),
        [0.0; 3]
    );
    set_thresholds(Thresholds {
        light_bytes: 1 << 14,
        heavy_bytes: 1 << 14,
        ..thresholds()
    });
    let (x, y, _) = operands(&[1500, 400]);
    for axes in [&[0isize][..], &[1], &[0, 1]] {
        let bits = |threads| {
            set_threads(threads);
            let sum = expression(&x, &y).sum(axes).unwrap();
            set_threads(0);
            sum.to_bytes().unwrap()
        };
        let one = bits(1);
        assert_eq!(one, bits(2), "{axes:?}");
        assert_eq!(one, bits(4), "{axes:?}");
    }
}
