//! The access word: who may touch a buffer's bytes right now, as one atomic number and nothing else.
//! Workspaces are unknown here; `pin.rs` joins the two.
//!
//! Layout of the word: bit 31 a writer is alive, bit 30 somebody waits for the last guard (`WATCHED`), bit 29 there will
//! never be a writer (`FROZEN`), the rest counts the readers alive. No transition ever waits: a conflict is an answer.

use crate::bias::alone;
use crate::sync::{AtomicU32, Ordering, total_order};

const WRITER: u32 = 1 << 31;
const WATCHED: u32 = 1 << 30;
const FROZEN: u32 = 1 << 29;
const READERS: u32 = FROZEN - 1;

/// Which guards are alive on a buffer, as found by a request that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// One write guard.
    Writer,
    /// This many read guards.
    Readers(u32),
}

/// The access word of one buffer.
#[derive(Debug)]
pub(crate) struct Access {
    /// Invariant: `WRITER` set implies that the reader count is 0.
    word: AtomicU32,
}

impl Access {
    pub(crate) fn new() -> Self {
        Access {
            word: AtomicU32::new(0),
        }
    }

    /// Registers a reader unless a writer is alive.
    #[inline]
    pub(crate) fn acquire_read(&self) -> Result<(), Holder> {
        self.acquire(|seen| {
            let refused = has_writer(seen) || seen & READERS == READERS;
            (!refused).then_some(seen + 1)
        })
    }

    /// Registers the writer unless any guard is alive.
    #[inline]
    pub(crate) fn acquire_write(&self) -> Result<(), Holder> {
        self.acquire(|seen| is_free(seen).then_some(seen | WRITER))
    }

    /// Changes the word to what `next` makes of it, which is nothing if a guard in it is in the way.
    ///
    /// `SeqCst`, because `pin.rs` needs every pin ordered before the look at the generation that follows it. A thread alone
    /// has that order by its program; whoever comes later does so by a barrier for both (`bias.rs`).
    #[inline(always)]
    fn acquire(&self, next: impl Fn(u32) -> Option<u32>) -> Result<(), Holder> {
        if let Some(_alone) = alone() {
            let seen = self.word.load(Ordering::Relaxed);
            let next = next(seen).ok_or_else(|| holder(seen))?;
            self.word.store(next, Ordering::Release);
            return Ok(());
        }
        let mut seen = self.word.load(Ordering::Relaxed);
        loop {
            let next = next(seen).ok_or_else(|| holder(seen))?;
            let outcome =
                self.word
                    .compare_exchange_weak(seen, next, Ordering::SeqCst, Ordering::Relaxed);
            total_order();
            match outcome {
                Ok(_) => return Ok(()),
                Err(now) => seen = now,
            }
        }
    }

    /// Ends one reader; true if it was the last guard and somebody waits for that.
    #[inline]
    pub(crate) fn release_read(&self) -> bool {
        self.subtract(1) == WATCHED | 1
    }

    /// Ends the writer; true if somebody waits for that.
    #[inline]
    pub(crate) fn release_write(&self) -> bool {
        self.subtract(WRITER) == WATCHED | WRITER
    }

    /// Ends what the amount stands for; the word as it was before.
    #[inline]
    fn subtract(&self, amount: u32) -> u32 {
        if let Some(_alone) = alone() {
            let seen = self.word.load(Ordering::Relaxed);
            self.word
                .store(seen.wrapping_sub(amount), Ordering::Release);
            return seen;
        }
        self.word.fetch_sub(amount, Ordering::Release)
    }

    /// Whether a writer is alive.
    #[inline]
    pub(crate) fn has_writer(&self) -> bool {
        has_writer(self.word.load(Ordering::Relaxed))
    }

    /// Whether no guard is alive, and writers are not refused for good.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        is_free(self.word.load(Ordering::Relaxed))
    }

    /// Registers the writer of memory that no other thread can open, unless a guard was forgotten, somebody watches, or writers are
    /// refused.
    #[inline]
    pub(crate) fn begin_sole(&self) -> bool {
        let is_free = self.word.load(Ordering::Relaxed) == 0;
        if is_free {
            self.word.store(WRITER, Ordering::Relaxed);
        }
        is_free
    }

    /// [`release_write`](Self::release_write) on the thread that alone may watch: a word that is not watched can be stored.
    #[inline]
    pub(crate) fn release_own_write(&self) -> bool {
        if self.word.load(Ordering::Relaxed) != WRITER {
            return self.release_write();
        }
        self.word.store(0, Ordering::Release);
        false
    }

    /// Ends the writer of memory that nobody ever watches. While a writer is alive no request changes the word, so no
    /// read-modify-write is needed.
    #[inline]
    pub(crate) fn release_unwatched_write(&self) {
        self.word.store(0, Ordering::Release);
    }

    /// Refuses every writer from now on. The caller has the only handle and no guard.
    pub(crate) fn freeze(&self) {
        self.word.store(FROZEN, Ordering::Release);
    }

    pub(crate) fn is_frozen(&self) -> bool {
        self.word.load(Ordering::Relaxed) & FROZEN != 0
    }

    /// True if a guard is alive; after `false`, everything the guards did has happened before.
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        total_order();
        self.word.load(Ordering::SeqCst) & !(WATCHED | FROZEN) != 0
    }

    /// Asks the last guard alive to report; false if there is none.
    pub(crate) fn watch(&self) -> bool {
        self.word.fetch_or(WATCHED, Ordering::AcqRel) & !(WATCHED | FROZEN) != 0
    }
}

#[inline(always)]
fn has_writer(word: u32) -> bool {
    word & WRITER != 0
}

#[inline(always)]
fn is_free(word: u32) -> bool {
    word & !WATCHED == 0
}

fn holder(word: u32) -> Holder {
    if has_writer(word) {
        Holder::Writer
    } else {
        Holder::Readers(word & READERS)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn readers_share_and_writers_stand_alone() {
        let access = Access::new();
        assert_eq!(access.acquire_read(), Ok(()));
        assert_eq!(access.acquire_read(), Ok(()));
        assert_eq!(access.acquire_write(), Err(Holder::Readers(2)));
        assert!(!access.release_read());
        assert!(!access.release_read());
        assert_eq!(access.acquire_write(), Ok(()));
        assert_eq!(access.acquire_write(), Err(Holder::Writer));
        assert_eq!(access.acquire_read(), Err(Holder::Writer));
        assert!(access.is_held());
        assert!(!access.release_write());
        assert!(!access.is_held());
        assert_eq!(access.acquire_write(), Ok(()));
        access.release_unwatched_write();
        assert!(!access.is_held());
        assert!(access.begin_sole() && !access.begin_sole());
        assert_eq!(access.acquire_read(), Err(Holder::Writer));
        assert!(!access.release_own_write());
        assert!(!access.is_held());
    }

    #[test]
    fn only_the_last_guard_reports_to_a_watcher() {
        let access = Access::new();
        assert!(!access.watch(), "nobody to wait for");
        access.acquire_read().unwrap();
        access.acquire_read().unwrap();
        assert!(access.watch());
        assert!(!access.release_read());
        assert!(access.release_read());
        access.acquire_write().unwrap();
        assert!(access.release_write());
        access.word.store(0, Ordering::Relaxed);
        assert!(access.begin_sole());
        assert!(access.watch());
        assert!(access.release_own_write());
    }

    #[test]
    fn what_is_frozen_is_read_and_never_written() {
        let access = Access::new();
        assert!(!access.is_frozen());
        access.freeze();
        assert!(access.is_frozen() && !access.is_held());
        assert_eq!(access.acquire_write(), Err(Holder::Readers(0)));
        access.acquire_read().unwrap();
        assert_eq!(access.acquire_write(), Err(Holder::Readers(1)));
        assert!(access.is_held());
        assert!(!access.release_read());
        assert!(access.is_frozen() && !access.is_held());
    }

    #[test]
    fn a_full_reader_count_is_refused_and_never_wraps() {
        let access = Access {
            word: AtomicU32::new(READERS),
        };
        assert_eq!(access.acquire_read(), Err(Holder::Readers(READERS)));
    }
}
