//! How an operand lies in a loop nest as a whole: dense, constant, or repeating.

use lodestride_shape::LoopNest;

/// Whether an operand walks the whole nest as one dense stretch.
pub(crate) fn is_dense(nest: &LoopNest, operand: usize) -> bool {
    let mut expected = 1;
    (0..nest.sizes().len()).rev().all(|axis| {
        let matches = nest.axis_strides(axis)[operand] == expected;
        expected *= nest.sizes()[axis].cast_signed();
        matches
    })
}

/// Whether an operand stays at one element over the whole nest.
pub(crate) fn is_constant(nest: &LoopNest, operand: usize) -> bool {
    (0..nest.sizes().len()).all(|axis| nest.axis_strides(axis)[operand] == 0)
}

/// Whether an operand repeats the same inner run over and over: only the inner axis moves it.
pub(crate) fn is_repeating(nest: &LoopNest, operand: usize) -> bool {
    let inner = nest.sizes().len() - 1;
    (0..inner).all(|axis| nest.axis_strides(axis)[operand] == 0)
}
