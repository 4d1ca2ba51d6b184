//! Arrays and workspaces: what lives where, how long, and the ways out.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::{ArrayErrorKind, NdArray, Workspace, open_workspaces, scope_out};
use support::matrix::{all_shapes, inputs};
use support::{counted, report};

fn ones() -> NdArray {
    NdArray::ones([3]).unwrap()
}

#[test]
fn new_arrays_live_in_the_current_workspace() {
    let (outer, inner) = (Workspace::new("OUTER"), Workspace::new("INNER"));
    let heap = ones();
    assert!(!heap.is_attached() && heap.is_in_scope());
    let kept = outer
        .scope(|_| {
            let in_outer = ones();
            let kept = inner
                .scope(|_| {
                    let in_inner = NdArray::from([1.0f32, 2.0, 3.0]);
                    assert!(in_inner.buffer().is_attached_to(&inner));
                    assert!(
                        in_outer
                            .add(&in_inner)
                            .unwrap()
                            .buffer()
                            .is_attached_to(&inner)
                    );
                    assert!(
                        in_outer.transpose().buffer().is_attached_to(&outer),
                        "a view stays where its array is"
                    );
                    assert!(!scope_out(ones).is_attached());
                    scope_out(|| in_inner.mul(2.0)).unwrap()
                })
                .unwrap();
            assert!(in_outer.is_in_scope());
            kept
        })
        .unwrap();
    assert_eq!(kept.to_vec::<f32>().unwrap(), [2.0, 4.0, 6.0]);
    assert!(open_workspaces().is_empty());
}

#[test]
fn detach_copies_out_of_every_workspace() {
    let workspace = Workspace::new("LOOP");
    let (kept, view, stale) = workspace
        .scope(|_| {
            let a = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
            (
                a.detach().unwrap(),
                a.transpose().row(1).unwrap().detach().unwrap(),
                a,
            )
        })
        .unwrap();
    assert!(!kept.is_attached() && !kept.shares_memory(&stale));
    assert_eq!(kept, NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]));
    assert_eq!(view, NdArray::from([2.0f32, 4.0]));
    assert!(!stale.is_in_scope());
    let heap = ones();
    assert!(
        heap.detach().unwrap().shares_memory(&heap),
        "a detached array is itself"
    );
}

#[test]
fn leverage_goes_to_the_parent_of_the_current_workspace() {
    let (outer, inner) = (Workspace::new("OUTER"), Workspace::new("INNER"));
    outer
        .scope(|_| {
            let in_outer = ones();
            let kept = inner
                .scope(|_| {
                    let a = ones();
                    let kept = a.leverage().unwrap();
                    assert!(kept.buffer().is_attached_to(&outer));
                    assert!(
                        in_outer.leverage().unwrap().shares_memory(&in_outer),
                        "an array already there is itself"
                    );
                    kept
                })
                .unwrap();
            assert_eq!(kept, in_outer);
        })
        .unwrap();
    let kept = inner.scope(|_| ones().leverage().unwrap()).unwrap();
    assert!(!kept.is_attached(), "without a parent it goes to the heap");
    let heap = ones();
    assert!(heap.leverage().unwrap().shares_memory(&heap));
}

#[test]
fn leverage_to_goes_to_a_named_workspace() {
    let (outer, inner) = (Workspace::new("OUTER"), Workspace::new("INNER"));
    let closed = Workspace::new("CLOSED");
    outer
        .scope(|_| {
            let mut kept = Vec::new();
            // The first turn spills, because the workspace is still learning its size; it stays valid all the same.
            for turn in 0..3 {
                let a = inner
                    .scope(|_| {
                        NdArray::full([100], turn)
                            .unwrap()
                            .leverage_to(&outer)
                            .unwrap()
                    })
                    .unwrap();
                kept.push(a);
            }
            for (turn, a) in kept.iter().enumerate() {
                assert!(a.buffer().is_attached_to(&outer));
                assert_eq!(a.mean_number().unwrap(), turn as f64);
                assert!(a.leverage_to(&outer).unwrap().shares_memory(a));
            }
            let error = kept[0].leverage_to(&closed).unwrap_err();
            assert!(matches!(error.kind(), ArrayErrorKind::Allocation { .. }));
            assert!(error.to_string().contains("workspace [CLOSED]"), "{error}");
            assert!(!kept[0].leverage_or_detach(&closed).unwrap().is_attached());
            // Open, but not there: it is this thread's.
            std::thread::scope(|threads| {
                let kept = &kept[0];
                let other = threads.spawn(|| kept.leverage_or_detach(&outer).unwrap());
                assert!(!other.join().unwrap().is_attached());
            });
            assert!(
                kept[0]
                    .leverage_or_detach(&outer)
                    .unwrap()
                    .shares_memory(&kept[0])
            );
        })
        .unwrap();
}

#[test]
fn migrate_copies_into_the_current_workspace() {
    let workspace = Workspace::new("LOOP");
    let heap = ones();
    assert!(
        heap.migrate().unwrap().shares_memory(&heap),
        "without a workspace it is itself"
    );
    workspace
        .scope(|_| {
            let moved = heap.migrate().unwrap();
            assert!(moved.buffer().is_attached_to(&workspace));
            assert_eq!(moved, heap);
            let again = moved.migrate().unwrap();
            assert!(again.buffer().is_attached_to(&workspace));
            assert!(!again.shares_memory(&moved), "always a copy");
            again.addi(1).unwrap();
            assert_eq!(moved, heap);
        })
        .unwrap();
}

/// `migrate(true)` of ND4J: what `migrate` returns as it is, it detaches.
#[test]
fn migrate_or_detach_leaves_nothing_in_another_workspace() {
    let (outer, inner) = (Workspace::new("OUTER"), Workspace::new("INNER"));
    let heap = ones();
    assert!(heap.migrate_or_detach().unwrap().shares_memory(&heap));
    let (kept, gone) = outer
        .scope(|_| {
            let a = ones();
            inner
                .scope(|inner| {
                    for array in [&a, &heap] {
                        let moved = array.migrate_or_detach().unwrap();
                        assert!(moved.buffer().is_attached_to(inner));
                        assert_eq!(&moved, array);
                    }
                })
                .unwrap();
            scope_out(|| {
                assert!(a.migrate().unwrap().shares_memory(&a));
                let part = a.transpose().migrate_or_detach().unwrap();
                assert!(!part.is_attached());
                (a.migrate_or_detach().unwrap(), a.migrate().unwrap())
            })
        })
        .unwrap();
    assert!(!kept.is_attached() && kept == ones());
    assert!(gone.is_attached() && !gone.is_in_scope());
}

#[test]
fn every_layout_moves_between_workspaces() {
    let (outer, inner) = (Workspace::new("OUTER"), Workspace::new("INNER"));
    let (mut checked, mut failed) = (0, Vec::new());
    for shape in all_shapes() {
        let heap = inputs(&counted(&shape)).unwrap();
        let moved = outer.scope(|outer| {
            let moved = inner.scope(|_| {
                let attached = inputs(&counted(&shape)).unwrap();
                let moves = attached
                    .iter()
                    .zip(&heap)
                    .map(|((name, x, _), (.., plain))| {
                        let moved = [
                            x.detach().unwrap(),
                            x.leverage().unwrap(),
                            x.leverage_to(outer).unwrap(),
                        ];
                        (name.clone(), moved, plain)
                    });
                let moved: Vec<_> = moves.collect();
                for (name, x, plain) in &heap {
                    checked += 1;
                    if x.migrate().unwrap() != *plain {
                        failed.push(format!("{shape:?}, {name}: migrate"));
                    }
                }
                moved
            });
            for (name, moved, plain) in moved.unwrap() {
                checked += moved.len();
                if moved.iter().any(|x| x != plain) {
                    failed.push(format!("{shape:?}, {name}"));
                }
            }
        });
        moved.unwrap();
    }
    report(checked, &failed);
    assert!(checked > 10_000, "{checked}");
}
