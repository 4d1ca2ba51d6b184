//! The workspace cases of ND4J's own tests (W1 to W64) that need array operations; the others are scripts in lodestride-buffer.
//! An array of `n` elements of f32 takes `room(n)` bytes of a workspace: its size rounded up to 64.

use lodestride_array::{
    AccessError, AllocationPolicy, ArrayError, Buffer, DType, Layout, LearningPolicy, NdArray,
    Workspace, WorkspaceConfig, all, current_workspace, keep, point, scope_out,
};

const fn room(count: usize) -> usize {
    (count * 4).next_multiple_of(64)
}

fn strict() -> WorkspaceConfig {
    WorkspaceConfig::new().allocation(AllocationPolicy::Strict)
}

fn basic(name: &str) -> Workspace {
    Workspace::with_config(name, strict().initial_size(10 << 20).max_size(10 << 20))
}

fn offset(workspace: &Workspace) -> usize {
    workspace.stats().offset
}

fn five() -> NdArray {
    NdArray::from([1.0f32, 2.0, 3.0, 4.0, 5.0])
}

#[test]
fn w5_w7_operations_allocate_in_the_workspace() {
    basic("W5")
        .scope(|workspace| -> Result<(), ArrayError> {
            let a = NdArray::zeros([5])?;
            assert_eq!(offset(workspace), room(5));
            a.assign(&scope_out(five))?;
            assert_eq!(a.sum_number()?, 15.0);
            // In place costs nothing but the array that is added.
            a.addi(&NdArray::from([5.0f32, 4.0, 3.0, 2.0, 1.0]))?;
            assert_eq!(a.to_vec::<f32>()?, [6.0; 5]);
            assert_eq!((a.sum_number()?, offset(workspace)), (30.0, 2 * room(5)));
            let copy = a.dup()?;
            assert!(copy.buffer().is_attached_to(workspace));
            assert_eq!(offset(workspace), 3 * room(5));
            Ok(())
        })
        .unwrap()
        .unwrap();
    basic("W7")
        .scope(|workspace| {
            let a = NdArray::rand([100, 10, 10]).unwrap();
            assert_eq!(offset(workspace), room(10_000));
            let _copy = a.dup().unwrap();
            assert_eq!(offset(workspace), 2 * room(10_000));
        })
        .unwrap();
}

/// ND4J learns 11 elements, because its sum has a hidden array; ours has none.
#[test]
fn w8_a_sum_hides_no_array() {
    let workspace = Workspace::with_config("W8", strict().learning(LearningPolicy::OverTime));
    workspace
        .scope(|_| NdArray::zeros([10]).unwrap().sum_number().unwrap())
        .unwrap();
    workspace.initialize().unwrap();
    assert_eq!(workspace.stats().size, room(10));
    for _ in 0..10 {
        workspace
            .scope(|workspace| {
                let a = NdArray::zeros([10]).unwrap();
                assert_eq!(offset(workspace), room(10));
                a.addi(1).unwrap();
                assert_eq!(a.sum_number().unwrap(), 10.0);
            })
            .unwrap();
        assert_eq!(offset(&workspace), 0);
    }
}

#[test]
fn w18_w20_detached_arrays() {
    let workspace = basic("ITER");
    let (copy, original) = workspace
        .scope(|workspace| {
            let heap = scope_out(five);
            assert!(!heap.leverage_to(workspace).unwrap().is_attached(), "W18");
            let a = five();
            let used = offset(workspace);
            let copy = a.detach().unwrap();
            assert!(!copy.is_attached() && copy.is_in_scope() && a.is_attached());
            assert_eq!(offset(workspace), used, "W19: outside");
            assert!(!copy.shares_memory(&a));
            let detached = scope_out(|| NdArray::recycled(DType::F32, [5])).unwrap();
            assert_eq!(offset(workspace), used, "W20: outside");
            detached.assign(&a).unwrap();
            assert_eq!(detached, a);
            (copy, a)
        })
        .unwrap();
    assert_eq!(copy.sum_number().unwrap(), 15.0);
    assert!(original.is_attached() && original.sum_number().is_err());
}

#[test]
fn w21_w24_leveraged_arrays() {
    let (outer, inner) = (basic("EXT"), basic("INT"));
    outer
        .scope(|outer| {
            let (first, second) = inner
                .scope(|inner| {
                    let a = five();
                    assert_eq!((offset(outer), offset(inner)), (0, room(5)));
                    let first = a.leverage().unwrap();
                    assert_eq!((offset(outer), offset(inner)), (room(5), room(5)), "W21");
                    let second = a.leverage_to(outer).unwrap();
                    assert_eq!(
                        (offset(outer), offset(inner)),
                        (2 * room(5), room(5)),
                        "W22"
                    );
                    (first, second)
                })
                .unwrap();
            for array in [first, second] {
                assert!(array.buffer().is_attached_to(outer));
                assert_eq!(array.sum_number().unwrap(), 15.0);
            }
        })
        .unwrap();
    // W23: the outer one is still learning its size.
    let learning = Workspace::with_config("LEARNING", strict());
    learning
        .scope(|learning| {
            let kept = inner
                .scope(|_| five().leverage_to(learning).unwrap())
                .unwrap();
            inner.scope(|_| NdArray::ones([100]).unwrap()).unwrap();
            assert_eq!(kept.sum_number().unwrap(), 15.0);
        })
        .unwrap();
    // W24: a view is copied densely, and its parent keeps its elements.
    outer
        .scope(|outer| {
            let (kept, parent_sum) = inner
                .scope(|_| {
                    let parent = NdArray::zeros([32, 1, 40]).unwrap();
                    let part = parent.tensor_along_dimension(0, [1, 2]).unwrap();
                    part.assign(1).unwrap();
                    (
                        part.leverage_to(outer).unwrap(),
                        parent.sum_number().unwrap(),
                    )
                })
                .unwrap();
            assert_eq!((kept.sum_number().unwrap(), parent_sum), (40.0, 40.0));
            assert!(!kept.is_view());
        })
        .unwrap();
}

#[test]
fn w25_attached_and_detached_arrays_go_together() {
    basic("W25")
        .scope(|workspace| {
            let a = five();
            let heap = scope_out(five);
            assert!(!heap.is_attached() && current_workspace().unwrap().is_same(workspace));
            assert_eq!(a.addi(&heap).unwrap().sum_number().unwrap(), 30.0);
        })
        .unwrap();
}

/// An array of ND4J's `create(shape, stride)`: the batch is the second axis, and the slowest in memory.
#[test]
fn w26_strides_of_permuted_arrays() {
    basic("W26")
        .scope(|workspace| {
            let layout = Layout::new([50, 64, 8, 8], [64, 3200, 8, 1], 0).unwrap();
            let count = 50 * 64 * 8 * 8;
            let buffer = Buffer::zeroed(count * 4).unwrap();
            let a = NdArray::from_buffer(buffer, layout, DType::F32).unwrap();
            let turned = a.permute([1, 0, 2, 3]).unwrap();
            assert_eq!(&turned.shape()[..], [64, 50, 8, 8]);
            assert_eq!(&turned.strides()[..], [3200, 64, 8, 1]);
            let flat = turned.view_as([50, 4096]).unwrap();
            assert!(flat.shares_memory(&a), "no copy");
            assert!(a.view_as([50, 4096]).is_err(), "only a copy would do");
            // It is the same memory, in the order of the permuted array.
            flat.assign(
                &scope_out(|| NdArray::arange(0, count as i64, 1))
                    .unwrap()
                    .reshape([50, 4096])
                    .unwrap(),
            )
            .unwrap();
            let position = 3 * 3200 + 2 * 64 + 4 * 8 + 5;
            assert_eq!(a.get_f64([2, 3, 4, 5]).unwrap(), position as f64);
            assert_eq!(turned.get_f64([3, 2, 4, 5]).unwrap(), position as f64);
            assert_eq!(
                offset(workspace),
                room(count),
                "one array, the rest are views"
            );
        })
        .unwrap();
}

/// The calls that ND4J's W29 and W30 make on a stale array.
fn calls(
    array: &NdArray,
    workspace: &Workspace,
) -> Vec<(&'static str, Result<NdArray, ArrayError>)> {
    vec![
        ("leverage", array.leverage()),
        ("leverage_to", array.leverage_to(workspace)),
        ("leverage_or_detach", array.leverage_or_detach(workspace)),
        ("detach", array.detach()),
        ("migrate", array.migrate()),
        ("migrate_or_detach", array.migrate_or_detach()),
        ("dup", array.dup()),
        ("dup_order", array.dup_order(lodestride_array::Order::F)),
        ("get", array.get(&[point(0)]).and_then(|part| part.dup())),
        ("cast", array.cast(DType::F64)),
        (
            "tad",
            array
                .tensor_along_dimension(0, keep(0))
                .and_then(|part| part.dup()),
        ),
        ("all", array.get(&[all()]).and_then(|part| part.detach())),
    ]
}

#[test]
fn w29_w30_stale_arrays_cannot_be_moved() {
    let (own, other) = (basic("OWN"), basic("OTHER"));
    let stale = own.scope(|_| five()).unwrap();
    let check = |outdated: bool| {
        for (name, result) in calls(&stale, &other) {
            let error = result.expect_err(name);
            let (_, _, source) = error.kind().access().expect(name);
            let found = matches!(source, AccessError::Outdated(_));
            assert_eq!(found, outdated, "{name}: {error}");
        }
        assert!(stale.is_attached() && !stale.is_in_scope());
    };
    check(false);
    other.scope(|_| check(false)).unwrap();
    own.scope(|_| {
        check(true);
        other.scope(|_| check(true)).unwrap();
    })
    .unwrap();
}

/// As W56 and W57, which are tests of the file formats, for values that the program has.
#[test]
fn w56_w57_arrays_from_values_follow_the_scope() {
    basic("W56")
        .scope(|workspace| {
            let values = vec![0.5f32; 10];
            let a = NdArray::from_vec(values.clone(), [10]).unwrap();
            assert!(a.is_attached());
            assert_eq!(offset(workspace), room(10));
            let heap = scope_out(|| NdArray::from_vec(values, [10])).unwrap();
            assert!(!heap.is_attached());
            assert_eq!((offset(workspace), heap), (room(10), a));
        })
        .unwrap();
}
