//! The layout matrix itself, and the basic operations over all of it: every shape, every layout, every dtype.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;

use lodestride_array::{DType, Layout, NdArray, Order, with_dtype};
use support::matrix::{all_shapes, layout_matrix, numbered, repeated};

const DTYPES: [DType; 13] = [
    DType::Bool,
    DType::U8,
    DType::I8,
    DType::U16,
    DType::I16,
    DType::U32,
    DType::I32,
    DType::U64,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

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

fn report(checked: usize, failed: &[String]) {
    let shown = failed
        .iter()
        .take(30)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        failed.is_empty(),
        "{} of {checked} cases failed:\n{shown}",
        failed.len()
    );
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
    for dtype in DTYPES {
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
