//! How many threads an operation may use, and from which size on; sizes that decide how an operation is run.

use crate::stream;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// 0 until set: as many as the pool has.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// Bytes that an operation as fast as an add must move before a second thread pays while all but this one sleep: waking one
/// takes some ten microseconds, of which the caller loses most. Adds of 2.3, 3.4, 4.6 and 6.9 MiB that the caches hold take 25, 37,
/// 49 and 78 us on one thread of an EPYC; on two, with 200 us between them, 35, 41, 50 and 73, and at once after each other 15, 22,
/// 28 and 40. What comes from memory takes three times as long and gains earlier.
static LIGHT_BYTES: AtomicUsize = AtomicUsize::new(4 << 20);

/// The same for operations that take longer for a byte, by arithmetic or by the order in which they touch memory: 0.8, 1.5, 2.3 and
/// 4.6 MB of `exp` take 23, 69, 104 and 206 us on one thread, and 33, 60, 77 and 139 on two with 200 us between them.
static HEAVY_BYTES: AtomicUsize = AtomicUsize::new(2 << 20);

/// What part of these bytes is enough while the workers are awake: two halves of 1.1 MiB stay each in the second-level cache
/// of its core, 7 us instead of 13.
const AWAKE_SHARE: usize = 4;

/// How long workers surely look for more work before they sleep. Measured: 60 to 80 us.
const AWAKE: Duration = Duration::from_micros(50);

/// What light and heavy operations of as many bytes as pay take at most on one thread: four times as long as adds or `exp`, since
/// powers and chains of functions do.
const PAYING: [Duration; 2] = [Duration::from_micros(160), Duration::from_micros(400)];

/// Parts for each thread.
pub(crate) const PARTS: usize = 4;

/// From how many moved bytes on an operation is divided among threads, and writes past the caches.
///
/// Operations that follow each other within 50 us count together, so that a loop over smaller ones wakes threads as well;
/// while these are awake, a quarter of the bytes is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// For operations that the bandwidth of memory bounds, such as `add`.
    pub light_bytes: usize,
    /// For operations that take longer for a byte, such as `exp`, transposes and gathers.
    pub heavy_bytes: usize,
    /// More than so many bytes are written past the caches: at first the last-level cache, 24 MiB of a larger one. Whoever
    /// has a large cache to himself may raise it.
    pub stream_bytes: usize,
}

/// The thresholds in force.
pub fn thresholds() -> Thresholds {
    Thresholds {
        light_bytes: LIGHT_BYTES.load(Ordering::Relaxed),
        heavy_bytes: HEAVY_BYTES.load(Ordering::Relaxed),
        stream_bytes: stream::limit(),
    }
}

/// Sets the thresholds for the whole process, for machines whose threads wake up faster or slower, or whose caches are their
/// own. Results do not depend on them.
///
/// ```
/// use lodestride_kernels::{Thresholds, set_thresholds, thresholds};
/// let usual = thresholds();
/// set_thresholds(Thresholds { light_bytes: usual.light_bytes / 2, ..usual });
/// # set_thresholds(usual);
/// ```
pub fn set_thresholds(thresholds: Thresholds) {
    LIGHT_BYTES.store(thresholds.light_bytes, Ordering::Relaxed);
    HEAVY_BYTES.store(thresholds.heavy_bytes, Ordering::Relaxed);
    stream::set_limit(thresholds.stream_bytes);
}

/// Limits the threads of a single operation from now on, in the whole process; 1 keeps everything on the calling thread,
/// 0 lifts the limit. Results do not depend on it.
pub fn set_threads(count: usize) {
    LIMIT.store(count, Ordering::Relaxed);
}

/// The number of threads a single operation may use: the rayon pool's, unless limited by [`set_threads`]; 1 without the
/// `rayon` feature.
pub fn threads() -> usize {
    let limit = LIMIT.load(Ordering::Relaxed);
    if limit == 1 || !cfg!(feature = "rayon") {
        return 1;
    }
    let pool = pool_threads();
    if limit == 0 { pool } else { limit.min(pool) }
}

#[cfg(feature = "rayon")]
fn pool_threads() -> usize {
    rayon::current_num_threads()
}

#[cfg(not(feature = "rayon"))]
fn pool_threads() -> usize {
    1
}

/// What this thread did last.
#[derive(Clone, Copy)]
struct Streak {
    /// When the last operation has surely ended.
    end: Instant,
    /// What is done since the last pause, as a share of what is worth waking a worker.
    done: f32,
}

thread_local! {
    static STREAK: Cell<Option<Streak>> = const { Cell::new(None) };
}

impl Streak {
    /// As it is with one more operation, of so much of what is worth waking a worker. Who has done without help for as long as
    /// waking takes has lost no more than by waking at once, whatever comes.
    fn after(before: Option<Self>, now: Instant, share: f32, heavy: bool) -> Self {
        let before = before.filter(|streak| now.saturating_duration_since(streak.end) < AWAKE);
        Self {
            end: now + PAYING[usize::from(heavy)].mul_f32(share),
            done: before.map_or(0.0, |streak| streak.done) + share,
        }
    }
}

/// Tells that workers have just helped this thread.
#[cfg(feature = "rayon")]
pub(crate) fn helped() {
    let end = Instant::now();
    STREAK.set(Some(Streak { end, done: 1.0 }));
}

/// From how many bytes on several threads pay always.
#[inline]
fn enough(heavy: bool) -> usize {
    let enough = if heavy { &HEAVY_BYTES } else { &LIGHT_BYTES };
    enough.load(Ordering::Relaxed)
}

/// Whether several threads pay for an operation that moves `bytes` bytes.
#[inline]
fn pay(bytes: usize, heavy: bool) -> bool {
    let enough = enough(heavy);
    // Without the clock for small operations and for one thread; WebAssembly has none.
    if !cfg!(feature = "rayon")
        || cfg!(target_family = "wasm")
        || bytes < enough / AWAKE_SHARE
        || LIMIT.load(Ordering::Relaxed) == 1
    {
        return false;
    }
    bytes >= enough || pay_by_now(bytes as f32 / enough as f32, heavy)
}

/// Whether several threads pay for an operation together with those right before it.
#[inline(never)]
fn pay_by_now(share: f32, heavy: bool) -> bool {
    let streak = Streak::after(STREAK.get(), Instant::now(), share, heavy);
    STREAK.set(Some(streak));
    streak.done >= 1.0
}

/// Whether an operation that moves `bytes` bytes is divided among threads.
#[inline]
pub(crate) fn are_worth(bytes: usize, heavy: bool) -> bool {
    pay(bytes, heavy) && threads() > 1
}

/// Into how many parts to divide an operation that moves `bytes` bytes: more than there are threads, so that one that comes
/// late does less.
#[inline]
pub(crate) fn parts(bytes: usize, heavy: bool) -> usize {
    if !pay(bytes, heavy) {
        return 1;
    }
    let least = enough(heavy) / (AWAKE_SHARE * PARTS);
    shares().min(bytes / least.max(1)).max(1)
}

/// Into how many parts to divide work that is large enough for every thread.
#[inline]
pub(crate) fn shares() -> usize {
    match threads() {
        1 => 1,
        threads => PARTS * threads,
    }
}

/// Runs `work` for every part, in parallel where there are several.
#[inline]
pub(crate) fn for_each_part<R: Send>(
    parts: impl ExactSizeIterator<Item = R> + Send,
    work: impl Fn(R) + Sync,
) {
    // Erased, so that what is done for each part is compiled once, and the way there once for each type of parts.
    let work: &(dyn Fn(R) + Sync) = &work;
    #[cfg(feature = "rayon")]
    if parts.len() > 1 {
        crate::crew::for_each_of(parts.map(crate::crew::slot).collect(), threads() - 1, work);
        return;
    }
    parts.for_each(work);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_without_a_pause_between_count_together() {
        let start = Instant::now();
        let mut streak = None;
        for turn in 1..=8 {
            // Each begins 40 us after the last one has ended.
            let now = streak.map_or(start, |before: Streak| {
                before.end + Duration::from_micros(40)
            });
            let next = Streak::after(streak, now, 0.125, false);
            assert_eq!(next.done, 0.125 * turn as f32);
            streak = Some(next);
        }
        let late = streak.map(|before| before.end + AWAKE);
        let next = Streak::after(streak, late.unwrap_or(start), 0.25, false);
        assert_eq!(next.done, 0.25, "workers sleep again");
    }

    #[test]
    fn an_operation_before_the_last_ones_estimated_end_belongs_to_it() {
        let now = Instant::now();
        let first = Streak::after(None, now, 0.5, true);
        assert_eq!(Streak::after(Some(first), now, 0.5, true).done, 1.0);
    }
}
