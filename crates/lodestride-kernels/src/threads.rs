//! How many threads an operation may use, and from which size on; sizes that decide how an operation is run.

use crate::stream;
use std::sync::atomic::{AtomicUsize, Ordering};

/// 0 until set: as many as the pool has.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// Bytes an operation bound by memory must move before a second thread pays: waking one takes some ten microseconds. Adds
/// of f64 that moved 1.4, 2.2 and 2.4 MB took 29, 56 and 77 us on one thread and 15, 19 and 23 on two in a loop, where each
/// half stays in the second-level cache of its core; with 3 ms of sleep between them 125, 199 and 219, and 134, 172 and 174.
static LIGHT_BYTES: AtomicUsize = AtomicUsize::new(2 << 20);

/// Bytes an operation bound by arithmetic must move before a second thread pays.
static HEAVY_BYTES: AtomicUsize = AtomicUsize::new(1 << 20);

/// Parts for each thread.
const PARTS: usize = 4;

/// From how many moved bytes on an operation is divided among threads, and writes past the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// For operations that memory bounds, such as `add`.
    pub light_bytes: usize,
    /// For operations that arithmetic bounds, such as `exp`.
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

/// Into how many parts to divide an operation that moves `bytes` bytes: more than there are threads, so that one that comes
/// late does less.
#[inline]
pub(crate) fn parts(bytes: usize, heavy: bool) -> usize {
    let enough = if heavy { &HEAVY_BYTES } else { &LIGHT_BYTES };
    let enough = enough.load(Ordering::Relaxed);
    if bytes < enough {
        return 1;
    }
    shares().min(bytes / (enough / PARTS).max(1)).max(1)
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
    #[cfg(feature = "rayon")]
    if parts.len() > 1 {
        crate::crew::for_each_of(parts, threads() - 1, work);
        return;
    }
    parts.for_each(work);
}
