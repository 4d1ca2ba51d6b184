//! One array in different memory layouts: the inputs of the tests that must not depend on layout. [`layouts`] is one of
//! each kind, for tests of several operands; the whole matrix is in [`matrix`].
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "every test file uses its own part"
)]

pub(crate) mod matrix;
pub(crate) mod tables;

pub(crate) mod figures;

use lodestride_array::{Index, NdArray, Order, Result, interval_step};

/// The same elements in the same shape, in different places in memory.
pub(crate) fn layouts(array: &NdArray) -> Result<Vec<(&'static str, NdArray)>> {
    let axes = 0..array.rank() as isize;
    let backwards = |array: &NdArray| {
        axes.clone()
            .try_fold(array.clone(), |array, axis| array.flip(axis))
    };
    let mut variants = vec![
        ("C", array.dup_order(Order::C)?),
        ("F", array.dup_order(Order::F)?),
        (
            "transposed",
            array.transpose().dup_order(Order::C)?.transpose(),
        ),
        ("part of a larger array", part(array, 1, 1)?),
        ("every second element", part(array, 1, 2)?),
        (
            "every third element of an F array",
            part(&array.transpose(), 0, 3)?.transpose(),
        ),
        ("reversed", backwards(&backwards(array)?.dup()?)?),
    ];
    if array.rank() > 1 {
        variants.push((
            "axes moved",
            array.move_axis(0, -1)?.dup()?.move_axis(-1, 0)?,
        ));
    }
    Ok(variants)
}

/// A view of a larger array, `before` elements from its edge and with gaps, that holds the elements of `array`.
fn part(array: &NdArray, before: usize, step: usize) -> Result<NdArray> {
    let sizes: Vec<usize> = array
        .shape()
        .iter()
        .map(|size| before + size * step + 1)
        .collect();
    let indices: Vec<Index> = array
        .shape()
        .iter()
        .map(|size| {
            interval_step(
                before as isize,
                step as isize,
                (before + size * step) as isize,
            )
        })
        .collect();
    let view = NdArray::full_of(array.dtype(), sizes, 77)?.get(&indices)?;
    view.assign(array)?;
    Ok(view)
}

/// Shapes that have broken something somewhere: scalars, empty, single rows and columns, odd sizes, higher ranks.
pub(crate) const SHAPES: &[&[usize]] = &[
    &[],
    &[0],
    &[1],
    &[7],
    &[3, 4],
    &[1, 5],
    &[5, 1],
    &[2, 0, 3],
    &[2, 3, 4],
    &[70, 3],
    &[2, 1, 3, 2],
];

/// `0, 1, 2, ..` in the given shape.
pub(crate) fn counted(shape: &[usize]) -> NdArray {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| i as f32).collect();
    NdArray::from_vec(values, shape).unwrap()
}

/// Fails once, with the first complaints of all.
pub(crate) fn report(checked: usize, failed: &[String]) {
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
