//! The layout matrix itself, and the basic operations over all of it: every shape, every layout, every dtype.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;

use lodestride_array::kernels::{BinaryOp, UnaryOp};
use lodestride_array::{DType, Layout, NdArray, Order, Result, keep, with_dtype};
use support::matrix::{all_shapes, inputs, layout_matrix, numbered, repeated};
use support::report;

/// The elements in C order, found by counting positions and adding up steps.
fn plain_read(array: &NdArray) -> Vec<f64> {
    let guard = array.buffer().read().unwrap();
    let (shape, strides) = (array.shape(), array.strides());
    (0..array.len())
        .map(|number| {
            let (mut rest, mut place) = (number, array.layout().offset() as isize);
            for axis in (0..shape.len()).rev() {
                place += (rest % shape[axis]) as isize * strides[axis];
                rest /= shape[axis];
            }
            with_dtype!(array.dtype(), T => lodestride_array::Scalar::from(guard.slice::<T>()[place as usize]).as_f64())
        })
        .collect()
}

#[test]
fn the_matrix_has_the_same_elements_in_many_layouts() {
    let (mut checked, mut failed) = (0, Vec::new());
    for shape in all_shapes() {
        let array = numbered(DType::F32, &shape).unwrap();
        let wanted: Vec<f64> = (0..array.len()).map(|i| i as f64).collect();
        let mut seen: BTreeSet<(Vec<isize>, usize)> = BTreeSet::new();
        let all = layout_matrix(&array).unwrap();
        for (name, view) in &all {
            checked += 1;
            seen.insert((view.strides().to_vec(), view.layout().offset()));
            if view.shape()[..] != shape[..] || plain_read(view) != wanted {
                failed.push(format!("{shape:?}: {name}"));
            }
        }
        let strided = array.len() > 1 && all.len() > 15;
        if strided && seen.len() < 9 {
            failed.push(format!("{shape:?}: only {} different layouts", seen.len()));
        }
    }
    report(checked, &failed);
    assert!(checked > 2000, "{checked} layouts");
}

#[test]
fn stretched_arrays_repeat_their_elements_and_refuse_writes() {
    let (mut checked, mut failed) = (0, Vec::new());
    for shape in all_shapes() {
        for (name, view, same) in repeated(DType::I32, &shape).unwrap() {
            checked += 1;
            let refused = view.len() < 2 || view.addi(1).is_err();
            if plain_read(&view) != plain_read(&same) || view != same || !refused {
                failed.push(format!("{shape:?}: {name}"));
            }
        }
    }
    report(checked, &failed);
    assert!(checked > 200, "{checked} arrays");
}

#[test]
fn copies_casts_and_sums_do_not_depend_on_layout() {
    let (mut checked, mut failed) = (0, Vec::new());
    for shape in all_shapes() {
        let array = numbered(DType::F32, &shape).unwrap();
        let mut inputs: Vec<(String, NdArray)> = layout_matrix(&array).unwrap();
        inputs.extend(
            (repeated(DType::F32, &shape).unwrap().into_iter()).map(|(name, view, _)| (name, view)),
        );
        for (name, x) in inputs {
            checked += 1;
            let wanted = plain_read(&x);
            let doubled: Vec<f64> = wanted.iter().map(|x| 2.0 * x).collect();
            let mut check = |what: &str, right: bool| {
                if !right {
                    failed.push(format!("{shape:?}, {name}: {what}"));
                }
            };
            check("to_f64_vec", x.to_f64_vec().unwrap() == wanted);
            check(
                "dup in F",
                plain_read(&x.dup_order(Order::F).unwrap()) == wanted,
            );
            check("cast", plain_read(&x.cast(DType::I32).unwrap()) == wanted);
            check("ravel", plain_read(&x.ravel().unwrap()) == wanted);
            check("add", plain_read(&x.add(&x).unwrap()) == doubled);
            check("sum", x.sum_number().unwrap() == wanted.iter().sum::<f64>());
            let target = NdArray::zeros(&shape[..]).unwrap();
            target.assign(&x).unwrap();
            check("assign", plain_read(&target) == wanted);
        }
    }
    report(checked, &failed);
}

#[test]
fn writes_reach_every_layout_and_nothing_else() {
    let (mut checked, mut failed) = (0, Vec::new());
    for shape in all_shapes() {
        for dtype in [DType::F32, DType::U8] {
            let source = numbered(dtype, &shape).unwrap();
            for (name, view) in layout_matrix(&source).unwrap() {
                checked += 1;
                let bytes = view.buffer().len() / dtype.size();
                let whole = NdArray::from_buffer(
                    view.buffer().clone(),
                    Layout::contiguous([bytes], Order::C).unwrap(),
                    dtype,
                );
                let whole = whole.unwrap();
                let sum = whole.cast(DType::F64).unwrap().sum_number().unwrap();
                view.addi(1).unwrap();
                let after = whole.cast(DType::F64).unwrap().sum_number().unwrap();
                let wanted: Vec<f64> = (0..source.len()).map(|i| i as f64 + 1.0).collect();
                if plain_read(&view) != wanted || after != sum + source.len() as f64 {
                    failed.push(format!("{dtype} {shape:?}: {name}"));
                }
            }
        }
    }
    report(checked, &failed);
}

#[test]
fn every_dtype_is_read_in_every_layout() {
    let (mut checked, mut failed) = (0, Vec::new());
    for dtype in DType::ALL {
        for shape in [&[][..], &[0], &[3, 4], &[2, 1, 3], &[2, 3, 2]] {
            let array = numbered(dtype, shape).unwrap();
            let wanted = plain_read(&array);
            for (name, view) in layout_matrix(&array).unwrap() {
                checked += 1;
                if view != array || view.to_f64_vec().unwrap() != wanted {
                    failed.push(format!("{dtype} {shape:?}: {name}"));
                }
            }
        }
    }
    report(checked, &failed);
}

/// The shapes every operation runs on: each family of [`all_shapes`] once or twice.
const FEW_SHAPES: [&[usize]; 9] = [
    &[],
    &[0, 3],
    &[1],
    &[7],
    &[65],
    &[3, 4],
    &[2, 1, 2],
    &[2, 3, 4],
    &[2, 1, 2, 1, 2],
];

/// The same bytes, or the same numbers but for the sign and payload of NaN.
fn same(found: &NdArray, wanted: &NdArray) -> bool {
    found.shape() == wanted.shape()
        && found.dtype() == wanted.dtype()
        && (found
            .to_f64_vec()
            .unwrap()
            .iter()
            .zip(wanted.to_f64_vec().unwrap()))
        .all(|(found, wanted)| *found == wanted || (found.is_nan() && wanted.is_nan()))
}

#[test]
fn every_elementwise_operation_gives_the_same_on_every_layout() {
    let (mut checked, mut failed) = (0, Vec::new());
    for dtype in [DType::F32, DType::F16, DType::I32, DType::Bool] {
        for shape in FEW_SHAPES {
            let views = inputs(&numbered(dtype, shape).unwrap()).unwrap();
            for op in UnaryOp::ALL
                .iter()
                .filter(|op| op.result_dtype(dtype).is_some())
            {
                for (name, x, plain) in &views {
                    checked += 1;
                    if !same(&x.apply(*op).unwrap(), &plain.apply(*op).unwrap()) {
                        failed.push(format!("{op} of {dtype} {shape:?}, {name}"));
                    }
                }
            }
            for op in BinaryOp::ALL
                .iter()
                .filter(|op| op.result_dtype(dtype).is_some())
            {
                for (number, (left, x, plain_x)) in views.iter().enumerate() {
                    // Each layout meets another one for each operation.
                    let (right, y, plain_y) = &views[(number * 5 + *op as usize) % views.len()];
                    checked += 1;
                    let wanted = plain_x.apply_with(*op, plain_y).unwrap();
                    if !same(&x.apply_with(*op, y).unwrap(), &wanted) {
                        failed.push(format!("{op} of {dtype} {shape:?}, {left} and {right}"));
                    }
                }
            }
        }
    }
    report(checked, &failed);
    assert!(checked > 50_000, "{checked} cases");
}

#[test]
fn every_operation_in_place_gives_the_same_on_every_layout() {
    let (mut checked, mut failed) = (0, Vec::new());
    for shape in [&[][..], &[7], &[3, 4], &[2, 3, 2]] {
        let source = numbered(DType::F32, shape).unwrap().add(1).unwrap();
        let views = layout_matrix(&source).unwrap();
        for (name, x) in &views {
            for op in UnaryOp::ALL
                .iter()
                .filter(|op| op.result_dtype(DType::F32).is_some())
            {
                checked += 1;
                x.assign(&source).unwrap().applyi(*op).unwrap();
                let wanted = source.apply(*op).unwrap().cast(DType::F32).unwrap();
                if !same(x, &wanted) {
                    failed.push(format!("{op} of {shape:?}, {name}"));
                }
            }
            for op in BinaryOp::ALL
                .iter()
                .filter(|op| op.result_dtype(DType::F32).is_some())
            {
                checked += 1;
                x.assign(&source).unwrap();
                // The right side overlaps the left one, in the other direction.
                let turned = (0..x.rank() as isize)
                    .try_fold(x.clone(), |x, axis| x.flip(axis))
                    .unwrap();
                let wanted = source.apply_with(*op, &turned.dup().unwrap()).unwrap();
                x.apply_withi(*op, &turned).unwrap();
                if !same(x, &wanted.cast(DType::F32).unwrap()) {
                    failed.push(format!("{op} of {shape:?}, {name}"));
                }
            }
        }
    }
    report(checked, &failed);
}

/// Reductions, scans and sorts by name.
type AlongAxis = (&'static str, fn(&NdArray, isize) -> Result<NdArray>);

const ALONG: [AlongAxis; 29] = [
    ("sum", |x, axis| x.sum(axis)),
    ("mean", |x, axis| x.mean(axis)),
    ("prod", |x, axis| x.prod(axis)),
    ("max", |x, axis| x.max(axis)),
    ("min", |x, axis| x.min(axis)),
    ("any", |x, axis| x.any(axis)),
    ("all", |x, axis| x.all(axis)),
    ("norm1", |x, axis| x.norm1(axis)),
    ("norm2", |x, axis| x.norm2(axis)),
    ("var", |x, axis| x.var(axis)),
    ("std", |x, axis| x.std(axis)),
    ("count_nonzero", |x, axis| x.count_nonzero(axis)),
    ("argmax", |x, axis| x.argmax(axis)),
    ("argmin", |x, axis| x.argmin(axis)),
    ("cumsum", |x, axis| x.cumsum(axis)),
    ("cumprod", |x, axis| x.cumprod(axis)),
    ("sort", |x, axis| x.sort(axis)),
    ("argsort", |x, axis| x.argsort(axis)),
    ("median", |x, axis| x.median(axis)),
    ("softmax", |x, axis| x.softmax(axis)),
    ("flip", |x, axis| x.flip(axis)),
    ("take", |x, axis| {
        x.take(&NdArray::from([0i64, -1, 0]), axis)
    }),
    ("concat", |x, axis| NdArray::concat(&[x, x], axis)),
    ("first index", |x, axis| x.first_index_along(axis)),
    ("repeat", |x, axis| x.repeat(3, axis)),
    ("nonzero", |x, axis| x.roll(1, axis)?.nonzero()),
    ("argmin of all", |x, axis| {
        x.roll(1, axis)?.argmin(..)?.add(&x.argmin(..)?)
    }),
    ("any of all", |x, axis| x.roll(1, axis)?.any(keep(..))),
    ("max of others", |x, axis| {
        let others = (0..x.rank() as isize).filter(|&other| other != axis);
        x.max(others.collect::<Vec<_>>())
    }),
];

#[test]
fn every_operation_along_an_axis_gives_the_same_on_every_layout() {
    let (mut checked, mut failed) = (0, Vec::new());
    for dtype in [DType::F32, DType::I32, DType::Bool] {
        for shape in FEW_SHAPES.into_iter().filter(|shape| !shape.contains(&0)) {
            for (name, x, plain) in inputs(&numbered(dtype, shape).unwrap()).unwrap() {
                for axis in 0..shape.len() as isize {
                    for (op, along) in ALONG {
                        checked += 1;
                        let (found, wanted) =
                            (along(&x, axis).unwrap(), along(&plain, axis).unwrap());
                        let near = found.shape() == wanted.shape() && {
                            let pairs = found
                                .to_f64_vec()
                                .unwrap()
                                .into_iter()
                                .zip(wanted.to_f64_vec().unwrap());
                            // Strided lines may be added up in another order: a few units in the last place of f32.
                            pairs.into_iter().all(|(a, b)| {
                                a == b
                                    || (a - b).abs() <= 4e-7 * b.abs()
                                    || (a.is_nan() && b.is_nan())
                            })
                        };
                        if !near {
                            failed.push(format!("{op} of {dtype} {shape:?} along {axis}, {name}"));
                        }
                    }
                }
            }
        }
    }
    report(checked, &failed);
}
