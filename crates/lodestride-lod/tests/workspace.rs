//! Sequence ops inside a workspace allocate nothing outside it once it has learned its size. One test in a file of its
//! own, because the figures it reads are those of the whole process.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lodestride_lod::array::memory;
use lodestride_lod::sequence::{self, PoolKind, Window};
use lodestride_lod::{LodTensor, NdArray, Workspace, lengths};

/// A training step's worth of ragged ops, forward and backward.
fn step(x: &LodTensor, filter: &NdArray) {
    let window = Window::centered(3);
    let hidden = sequence::conv(x, filter, window, None, -1).unwrap();
    let weights = sequence::softmax(&hidden, -1).unwrap();
    let pooled = sequence::pool(&hidden, PoolKind::Max, -1, 0).unwrap();
    let spread = sequence::expand_as(&pooled, x, -1).unwrap();
    let reversed = sequence::reverse(&spread, -1).unwrap();
    let joined = sequence::concat(&[&hidden, &reversed], -1).unwrap();
    let padded = sequence::pad(&joined, 0.5, None, -1).unwrap();
    let back = sequence::pad_grad(&joined, None, -1, padded.data.data()).unwrap();
    let parts = sequence::concat_grad(&[&hidden, &reversed], -1, &back).unwrap();
    sequence::reverse_grad(&spread, -1, &parts[1]).unwrap();
    let of_pooled = sequence::expand_as_grad(&pooled, x, -1, &parts[1]).unwrap();
    let of_hidden = sequence::pool_grad(&hidden, PoolKind::Max, -1, &of_pooled).unwrap();
    sequence::softmax_grad(&weights, -1, &of_hidden).unwrap();
    sequence::conv_grad(x, filter, window, None, -1, &of_hidden).unwrap();
}

#[test]
fn a_learned_workspace_holds_every_array_of_a_step() {
    let x = LodTensor::new(
        NdArray::ones([60, 12]).unwrap(),
        lengths![[7, 0, 29, 1, 23]],
    )
    .unwrap();
    let filter = NdArray::ones([36, 8]).unwrap();
    let workspace = Workspace::new("STEP");
    for _ in 0..3 {
        workspace.scope(|_| step(&x, &filter)).unwrap();
    }
    let before = memory::stats();
    for _ in 0..10 {
        workspace.scope(|_| step(&x, &filter)).unwrap();
    }
    let after = memory::stats();
    assert_eq!(
        after.heap_bytes_allocated - before.heap_bytes_allocated,
        0,
        "bytes outside the workspace"
    );
}
