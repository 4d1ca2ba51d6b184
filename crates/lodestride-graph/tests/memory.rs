//! What a call allocates. The counters are those of the process, so this file has one test.
#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

use lodestride_array::kernels::SegmentOp;
use lodestride_array::{DType, NdArray, Workspace, memory};
use lodestride_graph::{Function, Result, Value, compile, dmatrix, grad, lod, shared};
use lodestride_lod::{Lod, LodTensor};

#[test]
fn a_second_call_allocates_only_its_outputs() -> Result<()> {
    let (x, w) = (dmatrix("x"), dmatrix("w"));
    let y = (x.matmul(&w)?.tanh()?.matmul(&w)? + 1.0).exp()?.sum(1)?;
    let f = compile(&[&x, &w], &[&y])?;
    let (a, b) = (
        NdArray::ones_of(DType::F64, [40, 30])?,
        NdArray::ones_of(DType::F64, [30, 30])?,
    );
    let first = f.call([&a, &b])?;
    let before = memory::stats();
    let second = f.call([&a, &b])?;
    let after = memory::stats();
    assert_eq!(
        first[0].array().to_vec::<f64>()?,
        second[0].array().to_vec::<f64>()?
    );
    assert_eq!(
        after.heap_allocations - before.heap_allocations,
        1,
        "one output"
    );
    let place = second[0].array().buffer().allocated_at();
    assert_eq!(
        place.file(),
        file!(),
        "a result belongs to the line of the call"
    );
    ragged_batches_grow_the_arena_only_when_larger()
}

/// A training step over batches of changing lengths: after the largest one, nothing more comes from the heap.
fn ragged_batches_grow_the_arena_only_when_larger() -> Result<()> {
    let x = lod("x", DType::F64, [4usize], 1);
    let w = shared(NdArray::ones_of(DType::F64, [12, 3])?, "w")?;
    let hidden = x.sequence_windows(-1, 3, -1)?.matmul(&w)?.tanh()?;
    let cost = hidden
        .sequence_pool(SegmentOp::Mean, -1)?
        .square()?
        .mean(..)?;
    let slope = grad(&cost, &[&w])?.remove(0);
    let step = Function::builder(&[&x], &[&cost])
        .update(&w, &*w - slope * 0.1)
        .compile()?;
    let workspace = Workspace::new("STEP");
    let batch = |lengths: Vec<usize>| -> Result<Value> {
        let rows = NdArray::ones_of(DType::F64, [lengths.iter().sum(), 4usize])?;
        Ok(LodTensor::new(rows, Lod::from_lengths(lengths)?)?.into())
    };
    let batches = [
        vec![3, 9, 1],
        vec![12, 9, 8],
        vec![2, 0, 5],
        vec![7, 7, 7],
        vec![1],
    ];
    let batches = batches.into_iter().map(batch).collect::<Result<Vec<_>>>()?;
    let run = |value: &Value| workspace.scope(|_| step.call([value]).map(|_| ())).unwrap();
    for value in &batches[..2] {
        run(value)?;
        run(value)?;
    }
    let (before, arena) = (memory::stats(), step.workspace_bytes());
    for value in &batches {
        run(value)?;
    }
    let after = memory::stats();
    assert_eq!(after.heap_allocations, before.heap_allocations);
    assert_eq!(step.workspace_bytes(), arena);
    assert!(step.plan_bytes() <= arena);
    Ok(())
}
