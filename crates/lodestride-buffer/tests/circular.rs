//! Circular workspaces: which arrays live how long, block sizes, over-sized turns, guards, destruction.
#![expect(clippy::unwrap_used, reason = "test code outside of test functions")]

use lodestride_buffer::*;

fn strict(blocks: usize) -> WorkspaceConfig {
    WorkspaceConfig::new()
        .allocation(AllocationPolicy::Strict)
        .circular(blocks)
}

/// An array of one turn, holding `value`.
fn turn(workspace: &Workspace, bytes: usize, value: u8) -> Buffer {
    workspace
        .scope(|_| {
            let array = Buffer::zeroed(bytes).unwrap();
            assert!(all_are(array.read().unwrap().bytes(), 0));
            array.write().unwrap().bytes_mut().fill(value);
            array
        })
        .unwrap()
}

fn holds(array: &Buffer, value: u8) -> bool {
    array
        .read()
        .is_ok_and(|guard| all_are(guard.bytes(), value))
}

/// Compared as a whole, which Miri does two hundred times faster than byte by byte.
fn all_are(bytes: &[u8], value: u8) -> bool {
    bytes == vec![value; bytes.len()]
}

#[test]
fn arrays_live_until_their_block_comes_round() {
    for blocks in 1..5 {
        let workspace = Workspace::with_config("QUEUE", strict(blocks));
        let mut made = Vec::new();
        for value in 0..20_u8 {
            made.push(turn(&workspace, 640, value));
            for (index, array) in made.iter().enumerate() {
                let alive = index + blocks > usize::from(value);
                assert_eq!(
                    holds(array, index as u8),
                    alive,
                    "{blocks} blocks, array {index} after turn {value}"
                );
                assert_eq!(array.is_in_scope(), alive);
                assert!(array.is_attached_to(&workspace));
                if !alive {
                    let error = array.write().unwrap_err();
                    let AccessError::Outdated(facts) = error else {
                        panic!("{error}")
                    };
                    assert_eq!(facts.generation, index as u64 + 1);
                    assert_eq!(facts.current_generation, u64::from(value) + 1);
                }
            }
        }
        let stats = workspace.stats();
        assert_eq!((stats.size, stats.max_cycle), (640 * blocks, 640));
        assert_eq!((stats.pinned, stats.pinned_blocks), (0, 0));
        workspace.destroy().unwrap();
        assert!(matches!(
            made[19].read(),
            Err(AccessError::Leaked(_) | AccessError::Outdated(_))
        ));
        assert_eq!(workspace.stats().size, 0);
        // It starts afresh.
        assert!(holds(&turn(&workspace, 64, 1), 1));
    }
}

#[test]
fn blocks_are_sized_by_the_formula_and_bounded_in_equal_parts() {
    // (configuration, bytes of the first turn, size of all blocks afterwards)
    let generous = WorkspaceConfig::new().circular(3);
    let cases = [
        (strict(4), 100, 4 * 128),
        (generous, 6400, 3 * 8320),
        (strict(4).min_size(4096), 64, 4096),
        (strict(3).min_size(1000), 64, 3 * 384),
        (strict(4).max_size(1024), 6400, 1024),
        (strict(3).max_size(1000), 6400, 3 * 320),
        (strict(3).max_size(100), 6400, 0),
        (strict(2).initial_size(2048).min_size(1 << 20), 64, 2048),
        (strict(2).initial_size(2048), 64, 2048),
    ];
    for (config, bytes, size) in cases {
        let workspace = Workspace::with_config("SIZED", config);
        turn(&workspace, bytes, 1);
        assert_eq!(workspace.stats().size, size, "{config:?}");
        let plan = workspace.plan();
        assert_eq!((plan.size, plan.next_size), (size, size), "{config:?}");
    }
}

#[test]
fn no_blocks_are_an_error() {
    let workspace = Workspace::with_config("NONE", strict(0));
    let error = workspace.enter().unwrap_err();
    assert!(matches!(error, WorkspaceError::NoBlocks { .. }), "{error}");
    assert!(error.to_string().contains("[NONE]"), "{error}");
}

#[test]
fn oversized_turns_are_pinned_for_their_steps() {
    for (steps, lives) in [(0, 3), (1, 1), (2, 2), (5, 5)] {
        let workspace =
            Workspace::with_config("TRIMMED", strict(3).initial_size(1920).steps_number(steps));
        let mut made = Vec::new();
        for value in 0..12_u8 {
            // Every fourth turn is too large for its block.
            let large = value % 4 == 0;
            made.push((
                large,
                turn(&workspace, if large { 6400 } else { 640 }, value),
            ));
            let mut pinned = 0;
            for (index, (large, array)) in made.iter().enumerate() {
                let span = if *large { lives } else { 3 };
                let alive = index + span > usize::from(value);
                assert_eq!(holds(array, index as u8), alive, "steps {steps} at {value}");
                pinned += usize::from(alive && *large);
            }
            let stats = workspace.stats();
            assert_eq!((stats.pinned_blocks, stats.pinned), (pinned, pinned * 6400));
            assert_eq!(stats.size, 3 * 640, "it does not grow by itself");
        }
    }
}

#[test]
fn reallocating_grows_block_by_block_and_loses_nobodys_arrays() {
    let config = strict(3).spill(SpillPolicy::Reallocate);
    let workspace = Workspace::with_config("GROWS", config);
    turn(&workspace, 640, 9);
    let sizes = [640, 1280, 640, 2560, 64, 64, 64, 2560, 2560, 2560];
    let mut made = Vec::new();
    for (index, bytes) in sizes.into_iter().enumerate() {
        made.push(turn(&workspace, bytes, index as u8));
        for (age, array) in made.iter().rev().enumerate() {
            assert_eq!(holds(array, (index - age) as u8), age < 3, "{index} {age}");
        }
        let largest = sizes[..=index].iter().max().unwrap();
        assert_eq!(workspace.stats().size, 3 * largest);
    }
    // Every block has the new size by now, so nothing is pinned.
    assert_eq!(workspace.stats().pinned, 0);
}

#[test]
fn w64_batches_of_a_prefetch_queue() {
    let config = WorkspaceConfig::new()
        .min_size(10 << 20)
        .spill(SpillPolicy::Reallocate)
        .circular(26);
    let workspace = Workspace::with_config("W64", config);
    let mut queue = std::collections::VecDeque::new();
    for value in 0..if cfg!(miri) { 40 } else { 100_u8 } {
        let batch = workspace
            .scope(|_| {
                [128 * 784 * 4, 128 * 10 * 4].map(|bytes| {
                    let array = Buffer::recycled(bytes).unwrap();
                    array.write().unwrap().bytes_mut().fill(value);
                    array
                })
            })
            .unwrap();
        queue.push_back((value, batch));
        if queue.len() > 26 {
            queue.pop_front();
        }
        for (value, batch) in &queue {
            // Looking at every byte would take seconds.
            let ends = batch.iter().all(|array| {
                let guard = array.read().unwrap();
                let bytes = guard.bytes();
                bytes[0] == *value && bytes[bytes.len() - 1] == *value
            });
            assert!(ends, "{value}");
        }
    }
    assert_eq!(workspace.stats().spilled, 0);
}

#[test]
fn full_blocks_may_be_an_error() {
    let config = strict(2).initial_size(2048).spill(SpillPolicy::Fail);
    let workspace = Workspace::with_config("FULL", config);
    workspace
        .scope(|_| {
            Buffer::zeroed(1000).unwrap();
            let error = Buffer::zeroed(64).unwrap_err();
            let AllocError::WorkspaceFull(facts) = error else {
                panic!("{error}")
            };
            assert_eq!((facts.size, facts.free, facts.bytes), (1024, 0, 64));
        })
        .unwrap();
}

#[test]
fn a_guard_keeps_its_block_when_the_ring_comes_round() {
    for bytes in [640, 6400] {
        let workspace = Workspace::with_config("HELD", strict(2).initial_size(1280));
        let array = turn(&workspace, bytes, 7);
        let reader = array.read().unwrap();
        let mut later = Vec::new();
        for value in 0..6 {
            later.push(turn(&workspace, bytes, value));
            assert!(all_are(reader.bytes(), 7));
        }
        assert!(matches!(array.read(), Err(AccessError::Outdated(_))));
        assert!(holds(&later[5], 5) && holds(&later[4], 4));
        drop(workspace);
        assert!(all_are(reader.bytes(), 7), "outlives it");
        drop(reader);
        assert!(later[5].read().is_err(), "its workspace is gone");
    }
}

#[test]
fn blocks_may_be_filled_on_one_thread_and_used_on_another() {
    let workspace = Workspace::with_config("ACROSS", strict(3));
    let (sender, receiver) = std::sync::mpsc::sync_channel::<(u8, Buffer)>(1);
    let producer = std::thread::spawn(move || {
        for value in 0..if cfg!(miri) { 20 } else { 200 } {
            sender.send((value, turn(&workspace, 640, value))).unwrap();
        }
        workspace
    });
    // One is being filled, one waits, one is used: three blocks are enough.
    for (value, array) in receiver {
        assert!(holds(&array, value), "{value}");
    }
    let workspace = producer.join().unwrap();
    assert_eq!(workspace.stats().pinned, 0);
}
