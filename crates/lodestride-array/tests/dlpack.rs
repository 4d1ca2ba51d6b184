//! Tensors that change hands by DLPack: every dtype and layout there and back, and what is locked meanwhile.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::{
    AccessError, ArrayErrorKind, DType, NdArray, Workspace, WorkspaceConfig, memory, s,
};
use support::matrix::{all_shapes, layout_matrix, numbered, repeated};

#[test]
fn every_dtype_and_layout_comes_back() {
    let mut wrong = Vec::new();
    let mut cases = 0;
    for dtype in DType::ALL {
        for shape in all_shapes() {
            let array = numbered(dtype, &shape).unwrap();
            let mut layouts = layout_matrix(&array).unwrap();
            layouts.extend(
                (repeated(dtype, &shape).unwrap().into_iter()).map(|(name, view, _)| (name, view)),
            );
            for (name, view) in layouts {
                cases += 1;
                let wanted = view.to_f64_vec().unwrap();
                let back = NdArray::from_dlpack(view.to_dlpack().unwrap()).unwrap();
                let same = back.shape() == view.shape()
                    && back.dtype() == dtype
                    && back.to_f64_vec().unwrap() == wanted;
                drop(back);
                if !same || view.buffer().write().is_err() {
                    wrong.push(format!("{dtype} {shape:?} {name}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {cases}: {wrong:#?}", wrong.len());
    assert!(cases > 10_000, "{cases}");
}

#[test]
fn what_is_lent_is_locked_until_it_comes_back() {
    let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
    for _ in 0..2 {
        let other = a.row(1).unwrap().to_dlpack_mut().unwrap();
        let other = NdArray::from_dlpack(other).unwrap();
        let error = a.sum_number().unwrap_err();
        let in_use = matches!(error.kind().access(), Some((_, _, AccessError::InUse(_))));
        assert!(in_use, "{error}");
        other.muli(10).unwrap();
        drop(other);
    }
    assert_eq!(a, NdArray::from([[1.0f32, 2.0], [300.0, 400.0]]));

    let other = NdArray::from_dlpack(a.to_dlpack().unwrap()).unwrap();
    let error = other.addi(1).unwrap_err();
    let read_only = matches!(
        error.kind().access(),
        Some((_, _, AccessError::ReadOnly(_)))
    );
    assert!(read_only, "{error}");
    assert_eq!(a.add(&other).unwrap().get_f64([0, 1]).unwrap(), 4.0);

    let error = NdArray::ones([1]).unwrap().broadcast_to([3]).unwrap();
    let error = error.to_dlpack_mut().unwrap_err();
    assert!(matches!(
        error.kind(),
        ArrayErrorKind::OverlappingTarget { .. }
    ));
}

/// The memory of a workspace that is closed meanwhile stays what it was, as for any open guard.
#[test]
fn a_tensor_outlives_its_workspace() {
    let workspace = Workspace::new("LENT");
    let (array, tensor) = workspace
        .scope(|_| {
            let a = NdArray::arange(0, 6, 1).unwrap();
            let tensor = a.get(&s![..;2]).unwrap().to_dlpack().unwrap();
            (a, tensor)
        })
        .unwrap();
    workspace
        .scope(|_| drop(NdArray::ones([6]).unwrap()))
        .unwrap();
    assert!(array.to_dlpack().is_err());
    let back = NdArray::from_dlpack(tensor).unwrap();
    assert_eq!(back.to_f64_vec().unwrap(), [0.0, 2.0, 4.0]);
}

/// A tensor that is dropped before anybody takes it gives back the lock, and the memory if the array is gone.
#[test]
fn a_tensor_that_nobody_takes_is_given_back() {
    let before = memory::thread_stats().heap_bytes_live;
    let a = NdArray::arange(0, 600, 1).unwrap();
    for part in [a.clone(), a.get(&s![..;-3]).unwrap()] {
        let tensor = part.to_dlpack().unwrap();
        assert!(a.addi(1).is_err() && a.sum_number().is_ok());
        drop(tensor);
        let tensor = part.to_dlpack_mut().unwrap();
        assert!(a.addi(1).is_err() && a.sum_number().is_err());
        drop(tensor);
        drop(part);
        a.addi(1).unwrap();
    }
    let (first, second) = (a.to_dlpack().unwrap(), a.to_dlpack().unwrap());
    drop(first);
    assert!(a.addi(1).is_err(), "the second is still out");
    assert!(!a.buffer().is_unique());
    drop(second);
    assert!(a.buffer().is_unique());
    assert_eq!(a.get_f64([599]).unwrap(), 601.0);

    let tensor = a.to_dlpack_mut().unwrap();
    drop(a);
    assert!(
        memory::thread_stats().heap_bytes_live >= before + 2400,
        "the tensor keeps the elements"
    );
    drop(tensor);
    assert_eq!(memory::thread_stats().heap_bytes_live, before);
}

#[test]
fn a_tensor_of_a_workspace_that_nobody_takes_is_given_back() {
    for writable in [false, true] {
        let config = WorkspaceConfig::new().initial_size(1 << 12);
        let workspace = Workspace::with_config("LENT", config);
        let lend = |a: &NdArray| match writable {
            true => a.to_dlpack_mut().unwrap(),
            false => a.to_dlpack().unwrap(),
        };
        // Dropped while the workspace is open: the array is as it was.
        workspace
            .scope(|_| {
                let a = NdArray::ones([8]).unwrap();
                drop(lend(&a));
                a.addi(1).unwrap();
                assert_eq!(a.sum_number().unwrap(), 16.0);
            })
            .unwrap();
        assert_eq!(workspace.stats().pinned_blocks, 0);
        // Dropped after it: the block is kept until then, and the array is stale before and after.
        let (a, tensor) = workspace
            .scope(|_| {
                let a = NdArray::ones([8]).unwrap();
                let tensor = lend(&a);
                (a, tensor)
            })
            .unwrap();
        assert_eq!(workspace.stats().pinned_blocks, 1);
        drop(tensor);
        let stats = workspace.stats();
        assert_eq!((stats.pinned, stats.pinned_blocks), (0, 0));
        let error = a.sum_number().unwrap_err();
        let leaked = matches!(error.kind().access(), Some((_, _, AccessError::Leaked(_))));
        assert!(leaked, "{error}");
        // Destroyed meanwhile.
        let tensor = workspace
            .scope(|_| lend(&NdArray::ones([8]).unwrap()))
            .unwrap();
        workspace.destroy().unwrap();
        drop(tensor);
        assert_eq!(workspace.stats().pinned, 0);
        workspace
            .scope(|_| NdArray::ones([8]).unwrap().addi(1).map(drop).unwrap())
            .unwrap();
    }
}
