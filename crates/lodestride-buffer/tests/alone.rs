//! The door in a process with one thread, which needs no locked instructions, and what it was left in when a second thread
//! comes: test harnesses run every test on a thread of its own, so this one is a program.

#![expect(
    clippy::print_stdout,
    reason = "lists its test as test runners ask for it"
)]

use std::sync::mpsc;
use std::thread;

use lodestride_buffer::{AccessError, Buffer, Holder, Workspace};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().collect();
    let asks = |what: &str| arguments.iter().any(|argument| argument == what);
    if asks("--list") {
        if !asks("--ignored") {
            println!("one_thread_and_then_more: test");
        }
        return Ok(());
    }
    assert!(threads().is_none_or(|threads| threads == 1 || is_instrumented()));
    // The first allocation finds out whether anybody can tell.
    drop(Buffer::zeroed(64)?);
    door()?;
    recycling()?;
    handed_over()?;
    // The same beside another thread.
    let (end, wait) = mpsc::channel::<()>();
    let other = thread::spawn(move || wait.recv());
    door()?;
    recycling()?;
    handed_over()?;
    drop(end);
    assert!(other.join().is_ok());
    println!("ok");
    Ok(())
}

/// Whether a sanitizer watches, which has a thread of its own.
fn is_instrumented() -> bool {
    option_env!("RUSTFLAGS").is_some_and(|flags| flags.contains("sanitizer"))
}

/// The threads of this process, where the system tells.
fn threads() -> Option<usize> {
    if cfg!(miri) {
        return None;
    }
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("Threads:"))?;
    line.trim().parse().ok()
}

fn holder<T>(refused: Result<T, AccessError>) -> Option<Holder> {
    match refused {
        Err(AccessError::InUse(busy)) => Some(busy.holder),
        _ => None,
    }
}

/// Readers share, a writer stands alone, and handles are counted.
fn door() -> Outcome {
    let buffer = Buffer::from_vec(vec![1_i32, 2])?;
    let (first, second) = (buffer.read()?, buffer.read()?);
    assert_eq!(holder(buffer.write()), Some(Holder::Readers(2)));
    drop(first);
    assert_eq!(holder(buffer.write()), Some(Holder::Readers(1)));
    drop(second);
    let mut writer = buffer.write()?;
    assert_eq!(holder(buffer.read()), Some(Holder::Writer));
    assert_eq!(holder(buffer.write()), Some(Holder::Writer));
    writer.slice_mut::<i32>()[0] = 7;
    drop(writer);
    assert_eq!(buffer.read()?.slice::<i32>(), [7, 2]);
    assert!(buffer.is_unique());
    let others = [buffer.clone(), buffer.clone()];
    assert!(!buffer.is_unique());
    drop(others);
    assert!(buffer.is_unique());
    Ok(())
}

/// A stale array is refused, and a block with a guard on it is kept until the guard ends.
fn recycling() -> Outcome {
    let workspace = Workspace::new("ALONE");
    let leak = || workspace.scope(|_| Buffer::zeroed(256));
    drop(leak()??);
    let array = leak()??;
    assert!(matches!(array.read(), Err(AccessError::Leaked(_))));
    assert!(matches!(array.write(), Err(AccessError::Leaked(_))));
    let scope = workspace.enter()?;
    assert!(matches!(array.read(), Err(AccessError::Outdated(_))));
    let held = Buffer::zeroed(256)?;
    let guard = held.read()?;
    scope.close()?;
    assert_eq!(workspace.stats().pinned_blocks, 1);
    assert!(guard.bytes().iter().all(|&byte| byte == 0));
    drop(guard);
    assert_eq!(workspace.stats().pinned_blocks, 0);
    assert!(matches!(held.read(), Err(AccessError::Leaked(_))));
    Ok(())
}

/// Guards and handles of this thread may end on another one.
fn handed_over() -> Outcome {
    let buffer = Buffer::from_vec(vec![1_i32; 4])?;
    let (reader, handle) = (buffer.read()?, buffer.clone());
    let seen = thread::scope(|threads| {
        let ended = threads.spawn(move || {
            let sum: i32 = reader.slice::<i32>().iter().sum();
            drop((reader, handle));
            sum
        });
        ended.join()
    });
    assert!(matches!(seen, Ok(4)));
    assert!(buffer.is_unique());
    let mut writer = buffer.write()?;
    let written = thread::scope(|threads| {
        let ended = threads.spawn(move || writer.slice_mut::<i32>().fill(5));
        ended.join()
    });
    assert!(written.is_ok());
    assert_eq!(buffer.read()?.slice::<i32>(), [5; 4]);
    Ok(())
}
