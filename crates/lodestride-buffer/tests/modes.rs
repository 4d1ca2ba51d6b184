//! What holds for the whole process: debug modes and the hard limit. One test, because it changes both.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use lodestride_buffer::*;

fn strict() -> WorkspaceConfig {
    WorkspaceConfig::new().allocation(AllocationPolicy::Strict)
}

#[test]
fn modes_and_limits_of_the_process() {
    spilling_everything();
    bypassing_everything();
    the_limit_is_hard();
}

/// W61, W62.
fn spilling_everything() {
    set_debug_mode(DebugMode::SpillEverything);
    let full = Workspace::with_config("W61", strict().initial_size(10 << 20));
    let circular = Workspace::with_config("W61c", strict().initial_size(1 << 20).circular(2));
    let failing = strict().initial_size(64).spill(SpillPolicy::Fail);
    let failing = Workspace::with_config("W61f", failing);
    for workspace in [&full, &circular, &failing] {
        workspace
            .scope(|workspace| {
                let array = Buffer::zeroed(400).unwrap();
                assert!(array.is_attached_to(workspace));
                let stats = workspace.stats();
                assert_eq!((stats.offset, stats.spilled), (0, 448));
                assert_eq!((stats.spilled_arrays, stats.arrays), (1, 1));
            })
            .unwrap();
    }
    let learning = Workspace::with_config("W62", strict());
    for _ in 0..2 {
        let kept = learning.scope(|_| Buffer::zeroed(400).unwrap()).unwrap();
        assert!(matches!(kept.read(), Err(AccessError::Leaked(_))));
        let stats = learning.stats();
        assert_eq!((stats.size, stats.spilled, stats.max_cycle), (0, 0, 0));
    }
    set_debug_mode(DebugMode::Off);
    learning.scope(|_| Buffer::zeroed(400).unwrap()).unwrap();
    assert_eq!(learning.stats().size, 448, "learns as soon as it may");
    full.scope(|workspace| {
        Buffer::zeroed(400).unwrap();
        assert_eq!(workspace.stats().offset, 448);
    })
    .unwrap();
}

/// W63.
fn bypassing_everything() {
    set_debug_mode(DebugMode::BypassEverything);
    let workspace = Workspace::with_config("W63", strict().initial_size(10 << 20));
    let kept = workspace
        .scope(|workspace| {
            let inside = [
                Buffer::zeroed(400).unwrap(),
                Buffer::zeroed_in(workspace, 400).unwrap(),
                Buffer::from_vec(vec![1.0_f32; 100]).unwrap(),
            ];
            let stats = workspace.stats();
            assert_eq!((stats.offset, stats.spilled, stats.arrays), (0, 0, 0));
            inside
        })
        .unwrap();
    set_debug_mode(DebugMode::Off);
    for array in kept {
        assert!(!array.is_attached() && array.read().is_ok());
    }
}

fn the_limit_is_hard() {
    memory::trim();
    let before = memory::held_bytes();
    let array = Buffer::zeroed(1 << 20).unwrap();
    assert!(memory::held_bytes() >= before + (1 << 20));
    let limit = memory::held_bytes() + (4 << 20);
    memory::set_hard_limit(Some(limit));
    assert_eq!(memory::hard_limit(), Some(limit));
    let small = Buffer::zeroed(1 << 20).unwrap();
    let error = Buffer::zeroed(8 << 20).unwrap_err();
    let AllocError::OverLimit(facts) = &error else {
        panic!("{error}")
    };
    assert_eq!((facts.bytes, facts.limit), (8 << 20, limit));
    assert!(
        facts.held <= limit && error.to_string().contains("help:"),
        "{error}"
    );
    // A workspace that is refused its block, or an array beside it.
    let large = Workspace::with_config("LARGE", strict().initial_size(8 << 20));
    assert!(matches!(
        large.enter(),
        Err(WorkspaceError::Alloc {
            source: AllocError::OverLimit(_),
            ..
        })
    ));
    let spilling = Workspace::new("SPILLING");
    let refused = spilling.scope(|_| Buffer::zeroed(8 << 20)).unwrap();
    assert!(matches!(refused, Err(AllocError::OverLimit(_))));
    // Cached memory makes room: 2.5 MiB freed into the cache, then another size asked for.
    let cached = Buffer::zeroed(5 << 19).unwrap();
    drop(cached);
    let other = Buffer::zeroed(11 << 18);
    assert!(other.is_ok(), "the cache is emptied first");
    // Threads together never exceed it.
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(move || {
                let mut kept = Vec::new();
                while let Ok(array) = Buffer::zeroed(64 << 10) {
                    kept.push(array);
                    assert!(memory::held_bytes() <= limit);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    memory::set_hard_limit(None);
    assert!(Buffer::zeroed(8 << 20).is_ok());
    let impossible = Buffer::zeroed(usize::MAX / 2).unwrap_err();
    assert!(matches!(impossible, AllocError::OutOfMemory { .. }));
    drop((array, small));
}
