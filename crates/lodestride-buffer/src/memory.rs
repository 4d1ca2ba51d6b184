//! Process-wide figures and controls of array memory.
//! The cache they describe is `cache.rs`.

use std::sync::atomic::Ordering;

use crate::bias;
use crate::cache;
use crate::counters::Counters;
use crate::hard_limit;

/// What array memory the process has and has had. All byte figures count whole blocks, rounding and headers included.
///
/// The figures of other threads may be a few operations old; those of the calling thread are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// Array bytes alive outside workspace arenas.
    pub heap_bytes_live: u64,
    /// Array blocks ever handed out outside workspace arenas, cached ones included.
    pub heap_allocations: u64,
    /// Bytes of these blocks: grows only, so the difference over a step is what the step allocated outside its
    /// workspaces.
    pub heap_bytes_allocated: u64,
    /// Bytes of workspace arenas alive.
    pub workspace_bytes: u64,
    /// Bytes of freed blocks that wait for reuse.
    pub cache_bytes: u64,
    /// Blocks ever asked from the system.
    pub system_allocations: u64,
    /// Bytes held from the system now: arrays, headers, arenas and cache.
    pub system_bytes: u64,
}

/// The figures now.
///
/// ```
/// use lodestride_buffer::{memory, Buffer};
/// let before = memory::stats();
/// let buffer = Buffer::zeroed(1 << 16)?;
/// let during = memory::stats();
/// assert!(during.heap_bytes_allocated >= before.heap_bytes_allocated + (1 << 16));
/// # drop(buffer);
/// # Ok::<(), lodestride_buffer::AllocError>(())
/// ```
pub fn stats() -> MemoryStats {
    figures(&cache::totals())
}

/// What the calling thread alone has allocated and freed: for measuring a step while other threads are busy.
///
/// Memory that is freed on another thread than it came from counts as live here for ever.
pub fn thread_stats() -> MemoryStats {
    figures(&cache::thread_totals())
}

/// True if guards and handles are counted by locked instructions: for good once a second thread has used a buffer. Until then
/// the first thread does without on Linux, whatever other threads the process has. If it has some before the first buffer is
/// used, a million exchanges are locked all the same.
///
/// A small operation takes about half as long again with locks. So a program of many small operations gains by
/// leaving arrays to one thread; large operations, which divide their work among threads by themselves, do not make the others
/// use buffers.
///
/// ```
/// use lodestride_buffer::{memory, Buffer};
/// let buffer = Buffer::zeroed(8)?;
/// let other = buffer.clone();
/// std::thread::spawn(move || drop(other)).join().unwrap();
/// assert!(memory::needs_locks());
/// # Ok::<(), lodestride_buffer::AllocError>(())
/// ```
pub fn needs_locks() -> bool {
    !bias::is_owned()
}

fn figures(totals: &Counters) -> MemoryStats {
    let get = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let live = |allocated, freed| get(allocated).saturating_sub(get(freed));
    MemoryStats {
        heap_bytes_live: live(&totals.array_bytes_allocated, &totals.array_bytes_freed),
        heap_allocations: get(&totals.array_allocations),
        heap_bytes_allocated: get(&totals.array_bytes_allocated),
        workspace_bytes: live(
            &totals.workspace_bytes_allocated,
            &totals.workspace_bytes_freed,
        ),
        cache_bytes: get(&totals.cached_bytes),
        system_allocations: get(&totals.system_allocations),
        system_bytes: live(&totals.system_bytes_allocated, &totals.system_bytes_freed),
    }
}

/// Returns cached blocks to the system and says how many bytes it could return at once.
///
/// The shared cache and this thread's are emptied now; other threads empty theirs when they next free memory.
pub fn trim() -> usize {
    cache::trim()
}

/// The bytes that freed blocks may occupy before they go back to the system: unless set, an eighth of the memory of the
/// machine, or of the process's control group where that is less.
pub fn cache_limit() -> usize {
    cache::limit()
}

/// Sets [`cache_limit`]; 0 turns the cache off. Each thread may keep up to 8 MiB of small blocks beside it.
pub fn set_cache_limit(bytes: usize) {
    cache::set_limit(bytes);
}

/// The bytes that the process holds from the system for arrays, headers, workspaces and the cache: exact, on any thread.
pub fn held_bytes() -> usize {
    hard_limit::held()
}

/// The bytes that the process may hold, [`held_bytes`] being counted; `None` unless set.
pub fn hard_limit() -> Option<usize> {
    hard_limit::get()
}

/// Sets [`hard_limit`]: an allocation that would exceed it is [`AllocError::OverLimit`](crate::AllocError::OverLimit), after
/// cached memory was returned. What is held already stays, also where it is more. Mapped files and memory of foreign owners do
/// not count.
///
/// There is no such limit for a thread: memory moves between threads with its arrays, so what a thread holds is not known
/// exactly. What the loops of a thread take is bounded by their workspaces: an
/// [`initial_size`](crate::WorkspaceConfig::initial_size) with [`SpillPolicy::Fail`](crate::SpillPolicy::Fail).
///
/// ```
/// use lodestride_buffer::{AllocError, Buffer, memory};
/// memory::set_hard_limit(Some(memory::held_bytes() + (1 << 20)));
/// let refused = Buffer::zeroed(1 << 24);
/// memory::set_hard_limit(None);
/// assert!(matches!(refused, Err(AllocError::OverLimit(_))));
/// ```
pub fn set_hard_limit(bytes: Option<usize>) {
    hard_limit::set(bytes);
}

/// The process's array memory and every workspace of it, as a table for people.
///
/// ```
/// use lodestride_buffer::{Workspace, memory};
/// let workspace = Workspace::new("LOOP");
/// assert!(memory::report().contains("LOOP"));
/// ```
#[doc(alias = "printAllocationStatisticsForCurrentThread")]
pub fn report() -> String {
    crate::report::report()
}
