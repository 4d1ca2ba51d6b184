//! Tables of cases with known answers, one a line, through one checker.

use lodestride_array::{NdArray, Result};

/// A name, what was found, and the shape and elements it should have.
pub(crate) type Case = (&'static str, Result<NdArray>, Vec<usize>, Vec<f64>);

/// A table of cases, one a line: `"name": what is found => shape, elements;`.
macro_rules! table {
    ($($name:literal: $found:expr => $shape:expr, $values:expr;)*) => {
        vec![$(($name, $found, $shape, $values)),*]
    };
}
pub(crate) use table;

/// What is wrong with the cases of a table: shape and elements must be exactly those it names.
pub(crate) fn faults(cases: Vec<Case>) -> Vec<String> {
    let mut failed = Vec::new();
    for (name, found, shape, values) in cases {
        match found {
            Ok(found)
                if found.shape()[..] == shape[..] && found.to_f64_vec().unwrap() == values => {}
            Ok(found) => failed.push(format!("{name}: {found:?}, not {shape:?} of {values:?}")),
            Err(error) => failed.push(format!("{name}: {error}")),
        }
    }
    failed
}

/// `first, first + 1, ..` in a shape.
pub(crate) fn lin(first: usize, shape: &[usize]) -> NdArray {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (first..first + count).map(|i| i as f32).collect();
    NdArray::from_vec(values, shape).unwrap()
}

/// The integers from `first` up to `end`, as elements.
pub(crate) fn upto(first: i32, end: i32) -> Vec<f64> {
    (first..end).map(f64::from).collect()
}

/// Integers as elements.
pub(crate) fn list(values: &[i32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

/// What an array became.
pub(crate) fn changed(
    array: NdArray,
    change: impl FnOnce(&NdArray) -> Result<()>,
) -> Result<NdArray> {
    change(&array)?;
    Ok(array)
}
