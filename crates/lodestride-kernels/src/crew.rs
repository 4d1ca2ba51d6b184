//! The parts of one operation, worked off by the calling thread and whoever of the pool comes in time.
//!
//! Waking a worker takes some ten microseconds, longer than many an operation. So the caller does not sleep until the pool
//! has done the work: it takes part after part itself, workers that have woken up do the same, and one that comes too late
//! finds the job closed and is not waited for. Which thread takes a part changes nothing in the result.
//!
//! Each begins with a zone of its own, neighbouring parts, and takes from the others' when that is done: the next operation
//! on the same arrays finds them in the cache of the core that had them.
#![expect(
    unsafe_code,
    reason = "workers of the pool are handed work that borrows from the caller's stack"
)]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};

use smallvec::SmallVec;

use crate::threads;

/// Set in [`Job::inside`] when no worker may come in any more.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// How often the caller looks whether the last workers have left before it sleeps.
const LOOKS: usize = 4096;

/// What is done for each part.
type Work<'w> = dyn Fn(usize) + Sync + 'w;

/// An operation that is being worked on.
///
/// Invariant: `work` is valid until [`Caller`] has closed the job and seen the last worker leave. A worker follows the
/// pointer only between coming in, while the job is not closed, and leaving.
struct Job {
    work: *const Work<'static>,
    parts: usize,
    /// Per zone, the caller's first: the next part that nobody has taken.
    zones: SmallVec<[AtomicUsize; 8]>,
    /// Workers that have come in and not left, and [`CLOSED`].
    inside: AtomicUsize,
    caller: Thread,
    /// What the first part to panic said.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: everything but `work` is Send; `work` points to something Sync, which may be called from any thread.
unsafe impl Send for Job {}
// SAFETY: everything but `work` is Sync; a shared pointer to something Sync may be followed from any thread.
unsafe impl Sync for Job {}

impl Job {
    /// Where zone `zone` begins, or the one before it ends.
    fn zone_start(zone: usize, zones: usize, parts: usize) -> usize {
        // Not the product of both, which might not fit.
        zone * (parts / zones) + zone.min(parts % zones)
    }

    /// Takes parts until none is left, those of zone `home` first.
    fn take_parts(&self, home: usize, work: &Work<'_>) {
        let zones = self.zones.len();
        for step in 0..zones {
            let zone = (home + step) % zones;
            let end = Self::zone_start(zone + 1, zones, self.parts);
            loop {
                // Only the number counts: what the parts write is ordered by `inside`.
                let part = self.zones[zone].fetch_add(1, Ordering::Relaxed);
                if part >= end {
                    break;
                }
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(part))) {
                    let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
                    first.get_or_insert(panic);
                    // Nobody needs the rest.
                    for zone in &self.zones {
                        zone.fetch_max(self.parts, Ordering::Relaxed);
                    }
                }
            }
        }
    }

    /// What a worker of the pool does when it gets to it.
    fn help(&self) {
        // Acquire: what the caller wrote before it closed, or opened, the job is seen.
        if self.inside.fetch_add(1, Ordering::Acquire) & CLOSED == 0 {
            // SAFETY: the job was not closed when this worker came in, so the caller waits until it has left.
            let work = unsafe { &*self.work };
            // The same zone in every operation; where two workers share one, they come to the others' all the same.
            let home = 1 + rayon::current_thread_index().unwrap_or(0) % (self.zones.len() - 1);
            self.take_parts(home, work);
        }
        // Release: what this worker wrote is seen by the caller when it finds the worker gone.
        if self.inside.fetch_sub(1, Ordering::AcqRel) == CLOSED | 1 {
            self.caller.unpark();
        }
    }

    /// Lets nobody in any more and waits for those who are inside.
    fn close(&self) {
        let mut inside = self.inside.fetch_or(CLOSED, Ordering::AcqRel);
        for _ in 0..LOOKS {
            if inside & !CLOSED == 0 {
                return;
            }
            std::hint::spin_loop();
            inside = self.inside.load(Ordering::Acquire);
        }
        // Whoever leaves last unparks; a token that is left over only makes somebody look once more.
        while self.inside.load(Ordering::Acquire) & !CLOSED != 0 {
            thread::park();
        }
    }
}

/// Calls `work` with every number below `parts`, each once, on this thread and up to `helpers` workers of the current pool.
///
/// # Panics
/// As `work` does; what the first panic said is passed on.
pub(crate) fn for_each(parts: usize, helpers: usize, work: &Work<'_>) {
    let helpers = helpers.min(parts.saturating_sub(1));
    if helpers == 0 {
        (0..parts).for_each(work);
        return;
    }
    let zones = helpers + 1;
    let starts = (0..zones).map(|zone| Job::zone_start(zone, zones, parts));
    let erased: *const Work<'_> = work;
    let job = Arc::new(Job {
        // SAFETY: only the lifetime is changed; the invariant of `Job` keeps it.
        work: unsafe { std::mem::transmute::<*const Work<'_>, *const Work<'static>>(erased) },
        parts,
        zones: starts.map(AtomicUsize::new).collect(),
        inside: AtomicUsize::new(0),
        caller: thread::current(),
        panic: Mutex::new(None),
    });
    for _ in 0..helpers {
        let job = Arc::clone(&job);
        rayon::spawn(move || job.help());
    }
    // Panics of parts are caught inside, so the job is closed in any case.
    job.take_parts(0, work);
    job.close();
    threads::helped();
    let panic = job
        .panic
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

/// A part until somebody takes it. Never contended: every part is taken once.
pub(crate) type Slot<R> = Mutex<Option<R>>;

/// A part that nobody has taken.
pub(crate) fn slot<R>(part: R) -> Slot<R> {
    Mutex::new(Some(part))
}

/// As [`for_each`], with one of `parts` for each number. Its callers' work is erased: compiled once for each type of parts.
#[inline(never)]
pub(crate) fn for_each_of<R: Send>(parts: Vec<Slot<R>>, helpers: usize, work: &(dyn Fn(R) + Sync)) {
    for_each(parts.len(), helpers, &|index| {
        let mut slot = parts[index].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(part) = slot.take() {
            work(part);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::for_each;
    use std::panic::catch_unwind;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_part_is_done_once_before_the_call_returns() {
        for round in 0..2_000 {
            let parts = round % 17;
            let done: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
            for_each(parts, round % 5, &|part| {
                done[part].fetch_add(1, Ordering::Relaxed);
            });
            for (part, done) in done.iter().enumerate() {
                assert_eq!(done.load(Ordering::Relaxed), 1, "part {part} of {parts}");
            }
        }
    }

    #[test]
    fn jobs_may_be_nested() {
        let sum = AtomicUsize::new(0);
        for_each(8, 3, &|outer| {
            for_each(8, 3, &|inner| {
                sum.fetch_add(8 * outer + inner, Ordering::Relaxed);
            });
        });
        assert_eq!(sum.into_inner(), (0..64).sum());
    }

    #[test]
    fn a_panic_of_a_part_reaches_the_caller() {
        for bad in [0, 3, 63] {
            let caught = catch_unwind(|| {
                for_each(64, 2, &|part| assert_ne!(part, bad, "this part"));
            });
            let panic = caught.expect_err("a part has panicked");
            let text = panic.downcast_ref::<String>().expect("a message");
            assert!(text.contains("this part"), "{text}");
        }
    }
}
