//! What the tests of this crate share: arrays of every dtype and layout, and a checker that reports every failing case.

#![allow(
    dead_code,
    reason = "every test binary uses another part of this module"
)]

#[path = "../../../lodestride-array/tests/support/matrix.rs"]
mod matrix;

use std::fmt::{Debug, Display};
use std::path::PathBuf;

use lodestride_serde::{DType, NdArray, Order, SerdeError};

/// Runs `check` on every case and fails once, with all complaints.
pub(crate) fn for_each_case<C: Debug>(
    cases: impl IntoIterator<Item = C>,
    mut check: impl FnMut(&C) -> Result<(), String>,
) {
    let mut count = 0;
    let mut failures = Vec::new();
    for case in cases {
        count += 1;
        if let Err(complaint) = check(&case) {
            failures.push(format!("{case:?}: {complaint}"));
        }
    }
    assert!(count > 0, "no case at all");
    let failed = failures.len();
    assert!(
        failures.is_empty(),
        "{failed} of {count} cases failed:\n{}",
        failures.join("\n")
    );
}

pub(crate) fn text(error: impl Display) -> String {
    error.to_string()
}

/// The numbers 0, 1, 2, .. in C order, every third one true for bool: what the NumPy script of testdata writes too.
pub(crate) fn pattern(dtype: DType, shape: &[usize]) -> NdArray {
    let count: usize = shape.iter().product();
    if dtype == DType::Bool {
        let values: Vec<bool> = (0..count).map(|i| i % 3 == 0).collect();
        return NdArray::from_vec(values, shape).unwrap();
    }
    let values: Vec<f64> = (0..count).map(|i| i as f64).collect();
    NdArray::from_vec(values, shape)
        .unwrap()
        .cast(dtype)
        .unwrap()
}

/// A name and an array for every layout of the matrix: of all its shapes for `f32`, of one of each kind for other dtypes.
pub(crate) fn layouts(dtype: DType) -> Vec<(String, NdArray)> {
    let shapes = match dtype {
        DType::F32 => matrix::all_shapes(),
        _ => KINDS_OF_SHAPES.map(<[usize]>::to_vec).to_vec(),
    };
    let mut all = Vec::new();
    for shape in shapes {
        let direct = matrix::layout_matrix(&pattern(dtype, &shape)).unwrap();
        let repeated = matrix::repeated(dtype, &shape).unwrap();
        let repeated = repeated.into_iter().map(|(name, view, _)| (name, view));
        let named = direct.into_iter().chain(repeated);
        all.extend(named.map(|(name, array)| (format!("{shape:?}, {name}"), array)));
    }
    all
}

/// A scalar, vectors, matrices, nothing, many axes.
const KINDS_OF_SHAPES: [&[usize]; 8] = [
    &[],
    &[0],
    &[7],
    &[4, 6],
    &[1, 5],
    &[3, 0, 2],
    &[2, 3, 4],
    &[1, 2, 1, 2, 2],
];

/// Every layout of every dtype, once for each of the ways that take the dtype.
pub(crate) fn every_case<V: Copy>(
    ways: &[V],
    takes: impl Fn(V, DType) -> bool,
) -> Vec<(V, DType, String, NdArray)> {
    let mut cases = Vec::new();
    for &way in ways {
        for dtype in DType::ALL.into_iter().filter(|&dtype| takes(way, dtype)) {
            let arrays = layouts(dtype).into_iter();
            cases.extend(arrays.map(|(name, array)| (way, dtype, name, array)));
        }
    }
    cases
}

/// Fails unless both show the same elements of the same dtype in the same shape, compared as bytes.
pub(crate) fn same(expected: &NdArray, found: &NdArray) -> Result<(), String> {
    if expected.dtype() != found.dtype() || expected.shape() != found.shape() {
        return Err(format!(
            "expected {} {}, found {} {}",
            expected.dtype(),
            expected.shape(),
            found.dtype(),
            found.shape()
        ));
    }
    if expected.to_bytes().map_err(text)? != found.to_bytes().map_err(text)? {
        return Err(format!("expected {expected}, found {found}"));
    }
    Ok(())
}

/// The order a file keeps: F for arrays that are in F order only.
pub(crate) fn kept_order(array: &NdArray) -> Option<Order> {
    Some(array.order().unwrap_or(Order::C))
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(name)
}

/// A folder of its own for a test, removed at the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("lodestride-serde-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The text of an error without its second line, which names the line of the test.
pub(crate) fn without_location(error: &SerdeError) -> String {
    let text = error.to_string();
    let lines = text.lines().filter(|line| !line.starts_with("  --> "));
    lines.collect::<Vec<_>>().join("\n")
}
