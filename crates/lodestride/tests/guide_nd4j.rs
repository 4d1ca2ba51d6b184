//! ND4J's overview in the order of its sections: every example and every result it states. One module for each part of
//! the guide, one test for each of its paragraphs; docs/parity.csv names them.
//!
//! The guide's figures are two matrices, [`figure_x`] and [`figure_y`].

use lodestride::prelude::*;

#[path = "guide_nd4j/cheat_sheet.rs"]
mod cheat_sheet;
#[path = "guide_nd4j/creation.rs"]
mod creation;
#[path = "guide_nd4j/elements_and_parts.rs"]
mod elements_and_parts;
#[path = "guide_nd4j/introduction.rs"]
mod introduction;
#[path = "guide_nd4j/miscellaneous.rs"]
mod miscellaneous;
#[path = "guide_nd4j/operations.rs"]
mod operations;
#[path = "guide_nd4j/reductions.rs"]
mod reductions;
#[path = "guide_nd4j/serialisation.rs"]
mod serialisation;
#[path = "guide_nd4j/workspaces.rs"]
mod workspaces;

/// The matrix of the figures on tensors along a dimension and on row vectors.
fn figure_x() -> NdArray {
    NdArray::from([[1.0f32, 9.0, 5.0], [5.0, 3.0, 5.0], [2.0, 3.0, 6.0]])
}

/// The matrix of the figures on sums and on the index of the largest magnitude.
fn figure_y() -> NdArray {
    NdArray::from([[0.0f32, 8.0, 4.0], [5.0, 3.0, 5.0], [2.0, 3.0, 6.0]])
}

/// Asserts that an array prints, with the guide's two digits, what the guide shows; white space does not count.
#[track_caller]
fn assert_prints(array: &NdArray, guide: &str) {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(squeezed(&format!("{array:.2}")), squeezed(guide));
}
