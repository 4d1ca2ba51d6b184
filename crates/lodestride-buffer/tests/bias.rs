//! The door while one thread only uses buffers, which needs no locked instructions, and what it is left in when a second one
//! comes: test harnesses run every test on a thread of its own, so this one is a program. It starts itself many times, because
//! a process has one such moment.

#![expect(
    unsafe_code,
    reason = "what a moment opens is read and written by its address"
)]
#![expect(
    clippy::print_stdout,
    reason = "lists its test as test runners ask for it"
)]

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use lodestride_buffer::{AccessError, Buffer, Holder, Moment, Workspace, memory};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// What the program starts itself with; behind the second there is a number.
const PATIENCE: &str = "patience";
const TAKEOVER: &str = "takeover";

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().collect();
    let asks = |what: &str| arguments.iter().any(|argument| argument == what);
    if asks("--list") {
        if !asks("--ignored") {
            println!("one_thread_and_then_more: test");
        }
        return Ok(());
    }
    if asks(TAKEOVER) {
        let number = arguments.last().map(|text| text.parse()).transpose()?;
        return takeover(number.unwrap_or(0));
    }
    if asks(PATIENCE) {
        return patience();
    }
    one_thread_and_then_more()?;
    if !cfg!(miri) {
        other_processes()?;
    }
    println!("ok");
    Ok(())
}

fn one_thread_and_then_more() -> Outcome {
    assert!(threads().is_none_or(|threads| threads == 1 || is_instrumented()));
    assert!(memory::needs_locks(), "nobody has asked");
    drop(Buffer::zeroed(64)?.clone());
    does_without();
    door()?;
    recycling()?;
    moments()?;
    // The same beside another thread that uses no buffer.
    let (end, wait) = mpsc::channel::<()>();
    let other = thread::spawn(move || wait.recv());
    door()?;
    recycling()?;
    does_without();
    // And with one that does.
    handed_over()?;
    assert!(memory::needs_locks());
    door()?;
    recycling()?;
    handed_over()?;
    // SAFETY: ends at once.
    assert!(unsafe { Moment::begin() }.is_none());
    drop(end);
    assert!(other.join().is_ok());
    Ok(())
}

/// What guards would be refused is not open in a moment either.
fn moments() -> Outcome {
    /// Whether a buffer can be read, and whether it can be written.
    fn open(buffer: &Buffer) -> [bool; 2] {
        // SAFETY: nothing is done before the moment ends.
        match unsafe { Moment::begin() } {
            Some(moment) => [
                moment.read(buffer).is_some(),
                moment.write(buffer).is_some(),
            ],
            None => [buffer.read().is_ok(), buffer.write().is_ok()],
        }
    }
    let mut buffer = Buffer::from_vec(vec![1_i32, 2])?;
    assert_eq!(open(&buffer), [true, true]);
    let reader = buffer.read()?;
    assert_eq!(open(&buffer), [true, false]);
    drop(reader);
    let writer = buffer.write()?;
    assert_eq!(open(&buffer), [false, false]);
    drop(writer);
    let workspace = Workspace::new("MOMENTS");
    let stale = workspace.scope(|_| Buffer::zeroed(8))??;
    assert_eq!(open(&stale), [false, false]);
    assert_eq!(
        open(&Buffer::read_only(b"eight by".as_slice())?),
        [true, false]
    );
    // The only handle needs no exchange, but is refused what others are.
    std::mem::forget(buffer.read()?);
    assert_eq!(holder(buffer.write_sole()), Some(Holder::Readers(1)));
    let mut stale = stale;
    assert!(matches!(stale.write_sole(), Err(AccessError::Leaked(_))));
    let mut fixed = Buffer::read_only(b"eight by".as_slice())?;
    assert!(matches!(fixed.write_sole(), Err(AccessError::ReadOnly(_))));
    let mut shared = Buffer::zeroed(8)?;
    let other = shared.clone();
    let reader = other.read()?;
    assert_eq!(holder(shared.write_sole()), Some(Holder::Readers(1)));
    drop(reader);
    assert!(shared.write_sole().is_ok());
    Ok(())
}

/// The first thread of a process gets along without locks at once, where the system plays along. A sanitizer's own thread may
/// have been there before.
fn does_without() {
    let can = cfg!(all(target_os = "linux", target_env = "gnu", not(miri)));
    assert!(is_instrumented() || memory::needs_locks() != can);
}

/// Where there is another thread already, the first one has to use buffers for a while.
fn patience() -> Outcome {
    let (end, wait) = mpsc::channel::<()>();
    let other = thread::spawn(move || wait.recv());
    let buffer = Buffer::zeroed(64)?;
    let handle = buffer.clone();
    assert!(memory::needs_locks());
    let mut turns = 0;
    while memory::needs_locks() && turns < 2_000_000 {
        drop(handle.clone());
        turns += 1;
    }
    assert_eq!(turns < 2_000_000, cfg!(target_os = "linux"));
    drop(handle);
    assert!(buffer.is_unique());
    door()?;
    recycling()?;
    handed_over()?;
    assert!(memory::needs_locks());
    drop(end);
    assert!(other.join().is_ok());
    Ok(())
}

/// How often a second thread comes while the first one counts. Each is a process of about 2 ms.
const TAKEOVERS: u32 = 100;

fn other_processes() -> Outcome {
    start(&[PATIENCE])?;
    (0..TAKEOVERS).try_for_each(|number| start(&[TAKEOVER, &number.to_string()]))
}

/// Runs this program again, which must end well.
fn start(arguments: &[&str]) -> Outcome {
    let program = std::env::current_exe()?;
    let ended = Command::new(&program).args(arguments).output()?;
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{arguments:?}: {said}");
    Ok(())
}

/// A second thread comes at some moment while the first one clones and opens buffers that both have. No handle and no guard
/// may be lost by it, and what one of them writes is never seen half.
fn takeover(number: u32) -> Outcome {
    let counted = Buffer::from_vec(vec![1_u64; 8])?;
    let written = Buffer::from_vec(vec![0_u64; 8])?;
    drop(counted.clone());
    does_without();
    let came = AtomicBool::new(false);
    thread::scope(|threads| {
        let second = threads.spawn(|| {
            let begin = Instant::now();
            // In steps of a prime number of nanoseconds, so that moments differ.
            while begin.elapsed() < Duration::from_nanos(u64::from(number) * 1_009) {
                std::hint::spin_loop();
            }
            let handles = work(&counted, &written, 2_000);
            came.store(true, Ordering::Release);
            handles
        });
        while !came.load(Ordering::Acquire) {
            let handles = work(&counted, &written, 10);
            assert!(handles.iter().all(|handle| handle.same_block(&counted)));
        }
        assert!(second.join().is_ok());
    });
    assert!(memory::needs_locks());
    assert!(counted.is_unique(), "a count of handles was lost");
    assert!(counted.write().is_ok(), "a count of readers was lost");
    assert!(written.write().is_ok(), "a writer was lost");
    Ok(())
}

/// Clones, reads and writes; the last handles are given to the caller.
fn work(counted: &Buffer, written: &Buffer, turns: u64) -> [Buffer; 2] {
    for turn in 0..turns {
        let handle = counted.clone();
        if let (Ok(first), Ok(second)) = (handle.read(), counted.read()) {
            assert_eq!(first.slice::<u64>(), second.slice::<u64>());
        }
        if let Ok(mut guard) = written.write() {
            guard.slice_mut::<u64>().fill(turn);
        }
        in_a_moment(written, turn);
        if let Ok(guard) = written.read() {
            let all = guard.slice::<u64>();
            assert!(all.iter().all(|&one| one == all[0]), "half written");
        }
    }
    [counted.clone(), counted.clone()]
}

/// Writes all of a buffer, where one thread alone uses buffers.
fn in_a_moment(written: &Buffer, turn: u64) {
    // SAFETY: nothing below uses a buffer by its handle or waits before the moment ends.
    let Some(moment) = (unsafe { Moment::begin() }) else {
        return;
    };
    if let Some(bytes) = moment.write(written) {
        // SAFETY: eight numbers, which nobody else has open as long as the moment lasts.
        unsafe { std::slice::from_raw_parts_mut(bytes.cast::<u64>(), 8) }.fill(turn);
    }
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
    let workspace = Workspace::new("BIAS");
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
