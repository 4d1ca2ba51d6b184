//! Workspaces: nesting, borrowing, scoping out, spilling, pins. The cases named W are those of ND4J's own tests that need more
//! than the scripts of `w_cases.rs`, with each array rounded up to 64 bytes.

#![expect(clippy::unwrap_used, reason = "test code outside of test functions")]

use lodestride_buffer::*;

/// Bytes that `count` elements of f32 take in a workspace.
fn room(count: usize) -> usize {
    (count * 4).next_multiple_of(64)
}

fn array(count: usize) -> Buffer {
    Buffer::zeroed(count * 4).unwrap()
}

fn strict() -> WorkspaceConfig {
    WorkspaceConfig::new().allocation(AllocationPolicy::Strict)
}

fn basic(name: &str) -> Workspace {
    Workspace::with_config(name, strict().initial_size(10 << 20).max_size(10 << 20))
}

fn cycle(workspace: &Workspace, counts: &[usize]) {
    workspace
        .scope(|_| counts.iter().map(|count| array(*count)).for_each(drop))
        .unwrap();
}

#[test]
fn w6_a_full_workspace_that_may_not_spill_is_an_error_and_unchanged() {
    let config = strict()
        .initial_size(1 << 20)
        .max_size(1 << 20)
        .spill(SpillPolicy::Fail);
    let workspace = Workspace::with_config("W6", config);
    workspace
        .scope(|ws| {
            array(5);
            let error = Buffer::zeroed(40_000_000).unwrap_err();
            let AllocError::WorkspaceFull(facts) = &error else {
                panic!("{error}")
            };
            assert_eq!((facts.size, facts.free), (1 << 20, (1 << 20) - room(5)));
            assert!(
                error
                    .to_string()
                    .starts_with("can't allocate memory: workspace [W6] is full"),
                "{error}"
            );
            assert_eq!(ws.stats().offset, room(5));
            array(5);
            assert_eq!(ws.stats().offset, 2 * room(5));
        })
        .unwrap();
}

#[test]
fn w8_w11_offsets_are_used_while_open_and_zero_when_closed() {
    let workspace = Workspace::with_config("W11", strict());
    cycle(&workspace, &[100, 100]);
    assert_eq!(workspace.stats().size, 2 * room(100));
    for _ in 0..10 {
        workspace
            .scope(|ws| {
                let buffer = array(100);
                assert_eq!(ws.stats().offset, room(100));
                assert_eq!(buffer.read().unwrap().slice::<f32>(), [0.0; 100]);
                buffer.write().unwrap().slice_mut::<f32>().fill(1.0);
            })
            .unwrap();
        assert_eq!(workspace.stats().offset, 0);
    }
    let stats = workspace.stats();
    assert_eq!((stats.cycles, stats.generation), (11, 11));
    assert_eq!(
        (stats.last_cycle, stats.max_cycle),
        (room(100), 2 * room(100))
    );
}

#[test]
fn w13_w17_arrays_know_their_workspace() {
    let workspace = basic("W15");
    let inside = workspace
        .scope(|ws| {
            let buffer = array(5);
            assert!(buffer.is_attached() && buffer.is_in_scope());
            assert!(buffer.is_attached_to(ws) && ws.is_current());
            assert_eq!(buffer.workspace().unwrap(), &"W15");
            buffer
        })
        .unwrap();
    assert!(inside.is_attached() && !inside.is_in_scope());
    assert!(current_workspace().is_none());
    let after = array(5);
    assert!(!after.is_attached() && after.is_in_scope());
}

#[test]
fn w14_a_panic_unwinds_the_stack() {
    let (outer, inner) = (basic("OUTER"), basic("INNER"));
    let panic = std::panic::catch_unwind(|| {
        outer.scope(|_| {
            let _guard = inner.enter().unwrap();
            scope_out(|| panic!("on purpose"))
        })
    });
    assert!(panic.is_err());
    assert!(current_workspace().is_none() && open_workspaces().is_empty());
    assert!(!outer.is_open() && !inner.is_open());
    cycle(&outer, &[10]);
}

#[test]
fn w21_w22_an_open_outer_workspace_takes_arrays_explicitly() {
    let (outer, inner) = (basic("EXT"), basic("INT"));
    let kept = outer
        .scope(|outer| {
            let kept = inner
                .scope(|inner| {
                    array(5);
                    let kept = Buffer::recycled_in(outer, 20).unwrap();
                    assert_eq!(outer.stats().offset, room(5));
                    assert_eq!(inner.stats().offset, room(5));
                    kept
                })
                .unwrap();
            assert!(kept.read().is_ok());
            kept
        })
        .unwrap();
    assert!(matches!(kept.read(), Err(AccessError::Leaked(_))));
    let error = Buffer::zeroed_in(&outer, 20).unwrap_err();
    assert!(matches!(error, AllocError::NotOpenHere { .. }), "{error}");
}

#[test]
fn w25_w37_scoping_out_inside_a_borrow_restores_the_borrowed_one() {
    let (outer, inner) = (basic("WS1"), basic("WS2"));
    outer
        .scope(|outer| {
            inner
                .scope(|inner| {
                    array(5);
                    let borrow = outer.borrow().unwrap();
                    assert!(current_workspace().unwrap().is_same(outer));
                    array(5);
                    scope_out(|| assert!(current_workspace().is_none()));
                    assert!(array(5).is_attached_to(outer));
                    assert!(matches!(
                        outer.borrow(),
                        Err(WorkspaceError::AlreadyBorrowed { .. })
                    ));
                    borrow.close().unwrap();
                    assert!(inner.is_current());
                    assert_eq!(inner.stats().offset, room(5));
                    assert_eq!(outer.stats().offset, 2 * room(5));
                })
                .unwrap();
        })
        .unwrap();
    assert!(matches!(
        outer.borrow(),
        Err(WorkspaceError::NotOpen { .. })
    ));
}

#[test]
fn w31_w35_nesting_counts_and_resets_nothing() {
    let outer = basic("OUTER");
    let inner = basic("INNER");
    outer
        .scope(|outer| {
            array(100);
            cycle(outer, &[100]);
            assert_eq!(outer.stats().offset, 2 * room(100));
            assert_eq!(outer.stats().generation, 1);
            inner
                .scope(|inner| {
                    array(100);
                    // Repaired: entering an outer open workspace makes it current and does not wipe it.
                    cycle(outer, &[100]);
                    assert!(inner.is_current());
                    assert_eq!(inner.stats().offset, room(100));
                    assert_eq!(open_workspaces(), ["OUTER", "INNER"]);
                })
                .unwrap();
            assert_eq!(outer.stats().offset, 3 * room(100));
        })
        .unwrap();
    assert_eq!(outer.stats().cycles, 1);
}

#[test]
fn the_maximum_clamps_growth() {
    let config = strict().spill(SpillPolicy::Reallocate).max_size(room(200));
    let workspace = Workspace::with_config("MAX", config);
    for (count, size) in [(100, 100), (150, 150), (300, 200), (400, 200)] {
        cycle(&workspace, &[count]);
        assert_eq!(workspace.stats().size, room(size), "after {count}");
    }
    let plan = workspace.plan();
    assert_eq!(
        (plan.max_cycle, plan.suggested_size),
        (room(400), room(200))
    );
}

#[test]
fn the_plan_says_what_the_close_will_do() {
    let workspace = Workspace::new("PLAN");
    workspace
        .scope(|ws| {
            array(100);
            let plan = ws.plan();
            assert_eq!((plan.size, plan.max_cycle), (0, room(100)));
            assert_eq!(plan.next_size, ws.config().size_for(room(100)));
        })
        .unwrap();
    assert_eq!(
        workspace.plan().size,
        workspace.config().size_for(room(100))
    );
}

#[test]
fn out_of_order_is_an_error_and_closes_what_is_inside() {
    let (first, second, third) = (basic("A"), basic("B"), basic("C"));
    let a = first.enter().unwrap();
    let b = second.enter().unwrap();
    let c = third.enter().unwrap();
    let error = a.close().unwrap_err();
    assert!(
        matches!(&error, WorkspaceError::OutOfOrder { inner, .. } if *inner == ["B", "C"]),
        "{error}"
    );
    assert!(error.to_string().contains("[B, C]"), "{error}");
    assert!(open_workspaces().is_empty() && !third.is_open());
    assert!(matches!(
        b.close(),
        Err(WorkspaceError::AlreadyClosed { .. })
    ));
    drop(c);

    // A dropped guard does the same silently, and a stale one closes nothing opened later.
    let a = first.enter().unwrap();
    let b = second.enter().unwrap();
    drop(a);
    let again = third.enter().unwrap();
    drop(b);
    assert_eq!(open_workspaces(), ["C"]);
    again.close().unwrap();
}

#[test]
fn a_guard_keeps_its_block_and_the_workspace_goes_on_with_another() {
    for spilled in [false, true] {
        let config = strict().initial_size(if spilled { 64 } else { 4096 });
        let workspace = Workspace::with_config("PINNED", config);
        let scope = workspace.enter().unwrap();
        let buffer = array(100);
        buffer.write().unwrap().slice_mut::<f32>().fill(7.0);
        let reader = buffer.read().unwrap();
        scope.close().unwrap();
        assert_ne!(workspace.stats().pinned, 0, "spilled {spilled}");
        for _ in 0..3 {
            workspace
                .scope(|ws| {
                    let other = array(100);
                    other.write().unwrap().slice_mut::<f32>().fill(9.0);
                    assert_ne!(other.address(), buffer.address());
                    assert_eq!(ws.stats().size, if spilled { 64 } else { 4096 });
                })
                .unwrap();
            assert_eq!(reader.slice::<f32>(), [7.0; 100], "spilled {spilled}");
        }
        assert!(matches!(
            buffer.read(),
            Err(AccessError::Outdated(_) | AccessError::Leaked(_))
        ));
        drop(reader);
        assert_eq!(workspace.stats().pinned, 0, "freed with the last pin");
    }
}

#[test]
fn destroying_frees_at_once_and_waits_for_guards() {
    let workspace = basic("DESTROYED");
    let scope = workspace.enter().unwrap();
    assert!(matches!(
        workspace.destroy(),
        Err(WorkspaceError::StillOpen { .. })
    ));
    let buffer = array(10);
    buffer.write().unwrap().slice_mut::<f32>().fill(3.0);
    let reader = buffer.read().unwrap();
    scope.close().unwrap();
    workspace.destroy().unwrap();
    let stats = workspace.stats();
    assert_eq!((stats.size, stats.max_cycle, stats.cycles), (0, 0, 0));
    assert_ne!(stats.pinned, 0);
    cycle(&workspace, &[10]);
    drop(workspace);
    assert_eq!(
        reader.slice::<f32>(),
        [3.0; 10],
        "the block outlives the workspace"
    );
    drop(reader);
    assert!(matches!(buffer.read(), Err(AccessError::Leaked(_))));
}

#[test]
fn a_loop_in_a_workspace_asks_the_system_for_nothing_after_warm_up() {
    // In a thread of its own, whose figures nobody else moves: see `memory::thread_stats`.
    std::thread::spawn(|| {
        let workspace = Workspace::new("STEADY");
        let turn = || {
            workspace
                .scope(|_| {
                    for count in 1..50 {
                        let buffer = array(count);
                        let alias = buffer.clone();
                        alias.write().unwrap().slice_mut::<f32>()[0] = 1.0;
                    }
                })
                .unwrap();
        };
        turn();
        turn();
        let before = memory::thread_stats();
        for _ in 0..if cfg!(miri) { 5 } else { 1000 } {
            turn();
        }
        let after = memory::thread_stats();
        assert_eq!(after.heap_bytes_allocated, before.heap_bytes_allocated);
        assert_eq!(after.system_allocations, before.system_allocations);
    })
    .join()
    .unwrap();
}
