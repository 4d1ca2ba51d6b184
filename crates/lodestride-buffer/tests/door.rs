//! The door: what guards grant, refuse and say, on heap, workspace and foreign memory, in one thread.

use lodestride_buffer::*;

fn assert_send_sync<T: Send + Sync>() {}

#[test]
fn handles_are_small_and_cross_threads() {
    assert_send_sync::<Buffer>();
    assert_send_sync::<Workspace>();
    assert_send_sync::<ReadGuard<'_>>();
    assert_send_sync::<WriteGuard<'_>>();
    assert_send_sync::<AccessError>();
    assert_eq!(size_of::<Buffer>(), 8);
    assert_eq!(size_of::<Option<Buffer>>(), 8);
    assert_eq!(size_of::<ReadGuard<'_>>(), 8);
    assert_eq!(size_of::<Result<ReadGuard<'_>, AccessError>>(), 16);
}

#[test]
fn every_size_is_aligned_zeroed_and_holds_what_is_written() {
    let sizes = [
        0,
        1,
        63,
        64,
        65,
        959,
        960,
        961,
        1024,
        4097,
        1 << 20,
        (2 << 20) + 1,
    ];
    // Twice, so that the second round meets blocks the first one dirtied.
    for bytes in sizes.into_iter().chain(sizes) {
        if cfg!(miri) && bytes > 1 << 16 {
            continue;
        }
        let buffer = Buffer::zeroed(bytes).unwrap();
        assert_eq!((buffer.len(), buffer.is_empty()), (bytes, bytes == 0));
        assert_eq!(buffer.address() % 64, 0, "{bytes}");
        assert!(
            buffer.read().unwrap().bytes().iter().all(|byte| *byte == 0),
            "{bytes}"
        );
        buffer.write().unwrap().bytes_mut().fill(0xAB);
        assert!(
            buffer
                .read()
                .unwrap()
                .bytes()
                .iter()
                .all(|byte| *byte == 0xAB)
        );
        let recycled = Buffer::recycled(bytes).unwrap();
        assert_eq!(recycled.read().unwrap().bytes().len(), bytes);
    }
}

#[test]
fn clones_alias_and_conflicts_are_answers() {
    let buffer = Buffer::zeroed(16).unwrap();
    let alias = buffer.clone();
    assert!(buffer.same_block(&alias) && !buffer.is_unique());
    buffer.write().unwrap().slice_mut::<f32>()[3] = 2.5;
    assert_eq!(alias.read().unwrap().slice::<f32>(), [0.0, 0.0, 0.0, 2.5]);

    let (first, second) = (buffer.read().unwrap(), alias.read().unwrap());
    let error = alias.write().unwrap_err();
    let AccessError::InUse(facts) = &error else {
        panic!("{error}")
    };
    assert_eq!((facts.writing, facts.holder), (true, Holder::Readers(2)));
    drop((first, second));
    let writer = buffer.write().unwrap();
    let error = alias.read().unwrap_err();
    let text = error.explain("mul", Argument::Y, &"f32 [4]").to_string();
    assert!(
        text.starts_with(
            "Op [mul] Y argument is in use: a write guard is alive, and reading must wait until it ends\n  array f32 \
             [4] was allocated at crates/lodestride-buffer/tests/door.rs:"
        ),
        "{text}"
    );
    drop(writer);
    drop(buffer);
    assert!(alias.is_unique());
}

#[test]
fn slices_leave_out_a_broken_last_element() {
    let buffer = Buffer::zeroed(11).unwrap();
    let guard = buffer.read().unwrap();
    assert_eq!(guard.slice::<f64>().len(), 1);
    assert_eq!(guard.slice::<u16>().len(), 5);
    assert_eq!(guard.slice::<Bool>().len(), 11);
    assert_eq!(guard.buffer().len(), 11);
}

#[test]
fn vectors_are_copied_or_adopted() {
    for len in [0_usize, 3, 100_000, 1 << 20] {
        if cfg!(miri) && len > 10_000 {
            continue;
        }
        let elements: Vec<f32> = (0..len).map(|index| index as f32).collect();
        let buffer = Buffer::from_vec(elements.clone()).unwrap();
        assert_eq!(buffer.read().unwrap().slice::<f32>(), elements);
        assert_ne!(buffer.address(), elements.as_ptr() as usize, "{len}");
        assert!(buffer.address().is_multiple_of(64), "{len}");
    }
    // Nobody touches these, so they take no memory, but from an allocator that clears them by hand.
    if cfg!(not(miri)) {
        let elements = vec![0_u64; 1 << 27];
        let address = elements.as_ptr() as usize;
        let buffer = Buffer::from_vec(elements).unwrap();
        assert_eq!(buffer.address(), address);
    }
}

#[test]
fn vectors_go_into_the_open_workspace() {
    let workspace = Workspace::new("VECTORS");
    for len in [3, if cfg!(miri) { 1_000 } else { 100_000 }] {
        let elements: Vec<f32> = (0..len).map(|index| index as f32).collect();
        let buffer = workspace
            .scope(|_| {
                let buffer = Buffer::from_vec(elements.clone()).unwrap();
                assert_eq!(buffer.read().unwrap().slice::<f32>(), elements);
                buffer
            })
            .unwrap();
        assert!(buffer.is_attached() && buffer.read().is_err(), "{len}");
    }
}

#[test]
fn a_foreign_owner_lives_as_long_as_the_last_handle() {
    use std::sync::Arc;
    struct Owner {
        bytes: Vec<u8>,
        start: usize,
        _alive: Arc<()>,
    }
    impl AsMut<[u8]> for Owner {
        fn as_mut(&mut self) -> &mut [u8] {
            &mut self.bytes[self.start..]
        }
    }
    let alive = Arc::new(());
    for start in 0..3 {
        let owner = Owner {
            bytes: vec![7; 64],
            start,
            _alive: Arc::clone(&alive),
        };
        let buffer = Buffer::from_owner(owner).unwrap();
        let alias = buffer.clone();
        drop(buffer);
        assert_eq!(alias.address() % 8, 0);
        assert_eq!(alias.read().unwrap().bytes(), &vec![7; 64 - start]);
        alias.write().unwrap().bytes_mut().fill(1);
        drop(alias);
        assert_eq!(Arc::strong_count(&alive), 1, "start {start}");
    }
}

#[test]
fn what_is_lent_for_reading_is_never_written() {
    use std::sync::Arc;
    struct Owner {
        bytes: Vec<u8>,
        start: usize,
        _alive: Arc<()>,
    }
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            &self.bytes[self.start..]
        }
    }
    let alive = Arc::new(());
    for start in 0..3 {
        let owner = Owner {
            bytes: (0..64).collect(),
            start,
            _alive: Arc::clone(&alive),
        };
        let wanted: Vec<u8> = (start as u8..64).collect();
        let buffer = Buffer::read_only(owner).unwrap();
        let alias = buffer.clone();
        assert_eq!(buffer.address() % 8, 0);
        assert!(buffer.is_read_only() && alias.is_read_only());
        let (one, other) = (buffer.read().unwrap(), alias.read().unwrap());
        let refused = |error: &AccessError| matches!(error, AccessError::ReadOnly(_));
        assert!(buffer.write().is_err_and(|error| refused(&error)));
        assert_eq!(one.bytes(), wanted);
        drop(one);
        assert_eq!(other.bytes(), wanted);
        drop(other);
        let error = alias.write().unwrap_err();
        assert!(refused(&error), "{error}");
        let text = error.explain("addi", Argument::X, &"u8 [64]").to_string();
        assert!(
            text.starts_with("Op [addi] X argument is read-only: "),
            "{text}"
        );
        assert!(text.ends_with("help: work on a copy, `dup()`"), "{text}");
        drop(buffer);
        drop(alias);
        assert_eq!(Arc::strong_count(&alive), 1, "start {start}");
    }
    assert!(!Buffer::zeroed(8).unwrap().is_read_only());
}

#[test]
fn the_leaked_text_is_nd4js_and_helps() {
    let outer = Workspace::new("LOOP_INTERNAL");
    let workspace = Workspace::new("LOOP_EXTERNAL");
    let guard = workspace.enter().unwrap();
    let array = Buffer::zeroed(48).unwrap();
    guard.close().unwrap();
    let text = outer
        .scope(|_| {
            let error = array.read().unwrap_err();
            assert!(matches!(error, AccessError::Leaked(_)));
            error.explain("add", Argument::Y, &"f32 [3, 4]").to_string()
        })
        .unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "Op [add] Y argument uses leaked workspace pointer from workspace [LOOP_EXTERNAL]: the workspace is no longer open"
    );
    let here = "crates/lodestride-buffer/tests/door.rs:";
    let facts = lines[1].replace(here, "HERE:");
    let (before, after) = facts.split_once("; ").unwrap();
    assert!(
        before.starts_with("  array f32 [3, 4] was allocated at HERE:"),
        "{before}"
    );
    assert!(before.ends_with(" in generation 1"), "{before}");
    assert!(after.starts_with("workspace closed at HERE:"), "{after}");
    assert!(
        after.ends_with("; open workspaces: [LOOP_INTERNAL]"),
        "{after}"
    );
    assert_eq!(
        lines[2],
        "  help: `detach()` it before the scope ends, `leverage_to(..)` an outer workspace, or allocate it inside \
         `scope_out(..)`"
    );
    assert_eq!(lines.len(), 3);
}

#[test]
fn the_outdated_text_names_both_generations() {
    let workspace = Workspace::new("LOOP_EXTERNAL");
    let array = workspace.scope(|_| Buffer::zeroed(48).unwrap()).unwrap();
    workspace
        .scope(|_| {
            let error = array.write().unwrap_err();
            assert!(matches!(error, AccessError::Outdated(_)));
            let text = error.explain("set", Argument::Y, &"f32 [3, 4]").to_string();
            assert!(
                text.starts_with(
                    "Op [set] Y argument uses outdated workspace pointer from workspace [LOOP_EXTERNAL]: "
                ),
                "{text}"
            );
            assert!(text.contains(" in generation 1; "), "{text}");
            assert!(text.contains("now in generation 2; open workspaces: [LOOP_EXTERNAL]"), "{text}");
            assert!(error.to_string().starts_with("array uses outdated"), "{error}");
        })
        .unwrap();
}

#[test]
fn a_stale_array_is_stale_even_while_a_guard_is_alive() {
    let workspace = Workspace::new("LOOP");
    let scope = workspace.enter().unwrap();
    let array = Buffer::zeroed(64).unwrap();
    let writer = array.write().unwrap();
    assert!(matches!(array.read(), Err(AccessError::InUse(_))));
    scope.close().unwrap();
    assert!(matches!(array.read(), Err(AccessError::Leaked(_))));
    assert!(!array.is_in_scope() && array.is_attached());
    assert!(matches!(array.validate(), Err(AccessError::Leaked(_))));
    drop(writer);
}

#[test]
fn the_figures_follow_a_heap_array() {
    // Large and odd, so that the other tests of this process do not disturb the comparison much.
    let bytes = 48 << 20;
    let before = memory::stats();
    let buffer = Buffer::detached_zeroed(bytes).unwrap();
    let during = memory::stats();
    assert!(during.heap_bytes_allocated >= before.heap_bytes_allocated + bytes as u64);
    assert!(during.heap_allocations > before.heap_allocations);
    assert!(during.system_bytes >= bytes as u64);
    drop(buffer);
    assert!(
        memory::stats().cache_bytes >= bytes as u64,
        "kept for reuse"
    );
    assert!(memory::trim() > 0);
    assert!(memory::cache_limit() > 0);
}

#[test]
fn impossible_sizes_are_errors() {
    let workspace = Workspace::new("LOOP");
    for bytes in [usize::MAX, isize::MAX as usize, usize::MAX / 2 + 2] {
        assert_eq!(
            Buffer::zeroed(bytes).unwrap_err(),
            AllocError::OutOfMemory { bytes }
        );
        let inside = workspace
            .scope(|_| Buffer::recycled(bytes).unwrap_err())
            .unwrap();
        assert_eq!(inside, AllocError::OutOfMemory { bytes });
    }
    assert!(
        memory::stats().heap_bytes_allocated < 1 << 50,
        "refusals are not counted"
    );
}
