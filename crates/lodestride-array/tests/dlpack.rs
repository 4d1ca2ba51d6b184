//! Tensors that change hands by DLPack: every dtype and layout there and back, and what is locked meanwhile.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::{AccessError, ArrayErrorKind, DType, NdArray, Workspace, s};
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
