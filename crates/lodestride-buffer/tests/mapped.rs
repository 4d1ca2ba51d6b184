//! Workspaces in mapped files.
#![cfg(feature = "mmap")]

use std::io;

use lodestride_buffer::*;

fn config(bytes: usize) -> WorkspaceConfig {
    WorkspaceConfig::new().initial_size(bytes)
}

fn path(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("lodestride-{}-{name}", std::process::id()))
}

/// W27: what was written is still there when the workspace is opened again.
#[test]
fn w27_memory_is_kept_between_openings() {
    let workspace = Workspace::mapped("W27", MappedFile::Temporary, config(1_000_000)).unwrap();
    assert_eq!(workspace.plan().reason, PlanReason::Initial);
    for turn in 0..3 {
        workspace
            .scope(|workspace| {
                let array = Buffer::recycled(400).unwrap();
                let stats = workspace.stats();
                assert_eq!(stats.size, 1_000_000_usize.next_multiple_of(64));
                assert_eq!((stats.offset, stats.spilled), (448, 0));
                let sum: f32 = array.read().unwrap().slice::<f32>().iter().sum();
                assert_eq!(sum, if turn == 0 { 0.0 } else { 1000.0 });
                array.write().unwrap().slice_mut::<f32>().fill(10.0);
                let other = Buffer::zeroed(400).unwrap();
                other.write().unwrap().bytes_mut().fill(1);
                assert_eq!(other.address() % 64, 0);
            })
            .unwrap();
    }
    workspace.destroy().unwrap();
    workspace
        .scope(|_| {
            let again = Buffer::recycled(400).unwrap();
            assert_eq!(again.read().unwrap().slice::<f32>(), [0.0; 100], "afresh");
        })
        .unwrap();
}

/// W28, and what ND4J gets wrong: the length of a given file is its size, and its contents stay.
#[test]
fn w28_a_given_file_is_the_size() {
    let path = path("w28");
    std::fs::write(&path, vec![3_u8; 100_000]).unwrap();
    let workspace = Workspace::mapped("W28", MappedFile::At(path.clone()), config(0)).unwrap();
    let kept = workspace
        .scope(|workspace| {
            assert_eq!(workspace.stats().size, 99_968, "whole lines of 64 bytes");
            let array = Buffer::recycled(50_000).unwrap();
            assert!(array.read().unwrap().bytes().iter().all(|byte| *byte == 3));
            array.write().unwrap().bytes_mut().fill(4);
            let spilled = Buffer::recycled(60_000).unwrap();
            assert!(spilled.is_attached_to(workspace));
            assert_eq!(workspace.stats().spilled_arrays, 1);
            array
        })
        .unwrap();
    assert!(matches!(kept.read(), Err(AccessError::Leaked(_))));
    workspace
        .scope(|w| assert_eq!(w.stats().size, 99_968))
        .unwrap();
    drop(workspace);
    let contents = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(contents.len(), 100_000, "it never becomes longer");
    assert!(contents[..50_000].iter().all(|byte| *byte == 4));
    assert!(contents[50_048..].iter().all(|byte| *byte == 3));
}

/// What the initial size, the length of a given file and the bound make of each other.
#[test]
fn sizes_of_mapped_workspaces() {
    // (length of the file, configuration, size, length of the file afterwards)
    let cases = [
        (0, config(1000), 1024, 1024),
        (100, config(0), 64, 100),
        (100, config(100), 128, 128),
        (6400, config(100), 6400, 6400),
        (6400, config(0).max_size(1000), 960, 6400),
        (0, config(6400).max_size(1000), 960, 960),
        (0, config(640).min_size(6400), 640, 640),
        (0, config(640).overallocation(9.0), 640, 640),
    ];
    for (index, (length, config, size, after)) in cases.into_iter().enumerate() {
        let path = path(&format!("sizes-{index}"));
        std::fs::write(&path, vec![1_u8; length]).unwrap();
        let workspace = Workspace::mapped("SIZED", MappedFile::At(path.clone()), config).unwrap();
        let found = workspace.stats().size;
        drop(workspace);
        let found = (found, std::fs::metadata(&path).unwrap().len());
        std::fs::remove_file(&path).unwrap();
        assert_eq!(found, (size, after), "case {index}");
    }
}

/// Growing is not for files: what does not fit is spilled, in later cycles, too.
#[test]
fn a_mapped_workspace_never_grows() {
    let config = config(640).spill(SpillPolicy::Reallocate);
    let workspace = Workspace::mapped("STAYS", MappedFile::Temporary, config).unwrap();
    for _ in 0..3 {
        workspace
            .scope(|workspace| {
                let arrays = [640, 6400, 6400].map(|bytes| Buffer::zeroed(bytes).unwrap());
                for array in &arrays {
                    array.write().unwrap().bytes_mut().fill(1);
                }
                let stats = workspace.stats();
                assert_eq!(
                    (stats.size, stats.offset, stats.spilled),
                    (640, 640, 12_800)
                );
            })
            .unwrap();
        assert_eq!(workspace.plan().reason, PlanReason::NeverGrows);
    }
}

#[test]
fn a_guard_keeps_the_mapping_and_the_workspace_spills_meanwhile() {
    let workspace = Workspace::mapped("HELD", MappedFile::Temporary, config(4096)).unwrap();
    let scope = workspace.enter().unwrap();
    let array = Buffer::zeroed(400).unwrap();
    array.write().unwrap().bytes_mut().fill(7);
    let reader = array.read().unwrap();
    scope.close().unwrap();
    workspace
        .scope(|workspace| {
            let other = Buffer::zeroed(400).unwrap();
            other.write().unwrap().bytes_mut().fill(9);
            assert_eq!(workspace.stats().spilled, 448);
        })
        .unwrap();
    assert!(reader.bytes().iter().all(|byte| *byte == 7));
    drop(reader);
    workspace
        .scope(|workspace| {
            Buffer::zeroed(400).unwrap();
            assert_eq!(workspace.stats().spilled, 0, "the mapping is back");
        })
        .unwrap();
}

#[test]
fn what_cannot_be_mapped_is_refused() {
    let cases = [
        (
            MappedFile::Temporary,
            config(0),
            io::ErrorKind::InvalidInput,
        ),
        (
            MappedFile::Temporary,
            config(4096).circular(2),
            io::ErrorKind::InvalidInput,
        ),
        (
            MappedFile::Temporary,
            config(4096).max_size(63),
            io::ErrorKind::InvalidInput,
        ),
        (
            MappedFile::At(path("no-such-folder").join("file")),
            config(64),
            io::ErrorKind::NotFound,
        ),
    ];
    for (file, config, kind) in cases {
        let error = Workspace::mapped("REFUSED", file, config).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    }
    assert!(Workspace::mapped("FOLDER", MappedFile::At(std::env::temp_dir()), config(64)).is_err());
}

#[test]
fn a_full_workspace_may_be_an_error() {
    let config = config(640).spill(SpillPolicy::Fail);
    let workspace = Workspace::mapped("FULL", MappedFile::Temporary, config).unwrap();
    workspace
        .scope(|_| {
            Buffer::zeroed(600).unwrap();
            assert!(matches!(
                Buffer::zeroed(1),
                Err(AllocError::WorkspaceFull(_))
            ));
        })
        .unwrap();
}
