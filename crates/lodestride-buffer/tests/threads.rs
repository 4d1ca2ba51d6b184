//! Many threads on the same arrays while their workspace opens and closes: whoever is granted a guard sees its own
//! generation's bytes, whoever comes too late gets an error, and nobody waits.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use lodestride_buffer::*;

const CYCLES: u32 = if cfg!(miri) { 20 } else { 400 };

#[test]
fn readers_never_see_another_generation() {
    let workspace = Workspace::new("HAMMER");
    let shared: Arc<Mutex<Vec<(u32, Buffer)>>> = Arc::default();
    let done = Arc::new(AtomicBool::new(false));
    let granted = Arc::new(AtomicUsize::new(0));
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let (shared, done, granted) = (shared.clone(), done.clone(), granted.clone());
            thread::spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let arrays = shared.lock().expect("no thread has failed").clone();
                    for (value, array) in arrays {
                        match array.read() {
                            Ok(guard) => {
                                thread::yield_now();
                                assert_eq!(guard.slice::<u32>(), [value; 128]);
                                granted.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(AccessError::InUse(_) | AccessError::ReadOnly(_)) => {
                                panic!("nobody writes shared arrays")
                            }
                            Err(AccessError::Leaked(_) | AccessError::Outdated(_)) => {}
                        }
                    }
                }
            })
        })
        .collect();
    for value in 0..CYCLES {
        workspace
            .scope(|_| {
                // More than the block holds now and then, so that spilled arrays are read as well.
                let count = if value % 7 == 0 { 12 } else { 4 };
                let arrays = (0..count)
                    .map(|_| {
                        let array = Buffer::recycled(512).unwrap();
                        array.write().unwrap().slice_mut::<u32>().fill(value);
                        (value, array)
                    })
                    .collect();
                *shared.lock().expect("no thread has failed") = arrays;
                thread::yield_now();
                // On a busy machine all cycles may pass before a reader runs: now and then, wait until one was granted.
                let before = granted.load(Ordering::Relaxed);
                while value % 20 == 0
                    && granted.load(Ordering::Relaxed) == before
                    && !readers.iter().any(thread::JoinHandle::is_finished)
                {
                    thread::yield_now();
                }
            })
            .unwrap();
    }
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.join().unwrap();
    }
    assert!(granted.load(Ordering::Relaxed) >= (CYCLES / 20) as usize);
    assert_eq!(workspace.stats().pinned, 0, "no guard is left");
}

#[test]
fn one_writer_at_a_time() {
    let buffer = Buffer::zeroed(8).unwrap();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let buffer = buffer.clone();
            thread::spawn(move || {
                let mut done = 0;
                while done < CYCLES {
                    if let Ok(mut guard) = buffer.write() {
                        guard.slice_mut::<u64>()[0] += 1;
                        done += 1;
                    } else {
                        thread::yield_now();
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(
        buffer.read().unwrap().slice::<u64>(),
        [u64::from(4 * CYCLES)]
    );
}

#[test]
fn a_workspace_is_open_on_one_thread_only() {
    let workspace = Workspace::new("SHARED");
    let guard = workspace.enter().unwrap();
    let array = Buffer::zeroed(40).unwrap();
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            assert!(array.read().is_ok(), "open arrays may be used anywhere");
            assert!(current_workspace().is_none());
            let error = workspace.enter().unwrap_err();
            assert!(
                matches!(
                    error,
                    WorkspaceError::OpenOnAnotherThread {
                        opened_at: Some(_),
                        ..
                    }
                ),
                "{error}"
            );
            assert!(Buffer::zeroed_in(&workspace, 40).is_err());
        });
        other.join().unwrap();
    });
    guard.close().unwrap();
    thread::spawn(move || workspace.scope(|_| ()).unwrap())
        .join()
        .unwrap();
}

#[test]
fn a_thread_that_forgets_its_guard_closes_at_its_end() {
    let workspace = Workspace::new("FORGOTTEN");
    let inner = workspace.clone();
    let array = thread::spawn(move || {
        std::mem::forget(inner.enter().unwrap());
        Buffer::zeroed(40).unwrap()
    })
    .join()
    .unwrap();
    assert!(!workspace.is_open());
    assert!(matches!(array.read(), Err(AccessError::Leaked(_))));
    workspace.scope(|_| ()).unwrap();
}

#[test]
fn memory_freed_on_other_threads_comes_back() {
    let (sender, receiver) = mpsc::sync_channel::<Buffer>(64);
    let consumer = thread::spawn(move || {
        receiver
            .into_iter()
            .map(|array| array.read().unwrap().slice::<u32>()[0] as u64)
            .sum::<u64>()
    });
    for value in 0..CYCLES {
        let array = Buffer::recycled(if value % 2 == 0 { 100 } else { 5000 }).unwrap();
        array.write().unwrap().slice_mut::<u32>()[0] = value;
        sender.send(array).unwrap();
    }
    drop(sender);
    assert_eq!(consumer.join().unwrap(), (0..u64::from(CYCLES)).sum());
}
