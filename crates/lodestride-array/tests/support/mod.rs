//! What test files share: the layout matrix, tables of cases, stored figures, and one report of all failures.
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "every test file uses its own part"
)]

pub(crate) mod chances;
pub(crate) mod figures;
pub(crate) mod matrix;
pub(crate) mod tables;

use lodestride_array::{DType, NdArray};

/// `0, 1, 2, ..` in the given shape, in f32.
pub(crate) fn counted(shape: &[usize]) -> NdArray {
    matrix::numbered(DType::F32, shape).unwrap()
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
