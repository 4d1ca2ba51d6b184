//! The recycling protocol: how a guard on a workspace array and the recycling of that workspace exclude each other.
//! Written once, here, over the shim of `sync.rs`, and model-checked with loom (`loom_models` below).
//!
//! * A guard **pins, then checks the generation**: it registers in the buffer's access word, then compares the epoch.
//! * A recycler **moves the epoch, then looks at the pins**: after `Epoch::set` it asks each access word.
//!
//! All four steps are sequentially consistent, so in their single order either the guard sees the moved epoch (and
//! reports a stale array without touching a byte) or the recycler sees the pin (and leaves the bytes alone).

use crate::access::{Access, Holder};
use crate::sync::{AtomicU64, Ordering, total_order};

/// A workspace's generation and whether it is open, as one number: `2 * generation + open`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    #[inline]
    pub(crate) fn open(generation: u64) -> Self {
        Stamp(generation << 1 | 1)
    }

    #[inline]
    pub(crate) fn closed(generation: u64) -> Self {
        Stamp(generation << 1)
    }

    #[inline]
    pub(crate) fn generation(self) -> u64 {
        self.0 >> 1
    }

    #[inline]
    pub(crate) fn is_open(self) -> bool {
        self.0 & 1 != 0
    }
}

/// The current stamp of a workspace.
#[derive(Debug)]
pub(crate) struct Epoch(AtomicU64);

impl Epoch {
    pub(crate) fn new(stamp: Stamp) -> Self {
        Epoch(AtomicU64::new(stamp.0))
    }

    /// The stamp now; ordered after any pin taken before.
    #[inline]
    pub(crate) fn get(&self) -> Stamp {
        total_order();
        Stamp(self.0.load(Ordering::SeqCst))
    }

    /// Moves to another stamp; ordered before any look at a pin that follows.
    pub(crate) fn set(&self, stamp: Stamp) {
        self.0.store(stamp.0, Ordering::SeqCst);
        total_order();
    }

    /// Moves to another stamp while no other handle to an array of the present one is left, so that nobody can pin one:
    /// there is no pin to be ordered with.
    #[inline]
    pub(crate) fn set_unpinned(&self, stamp: Stamp) {
        self.0.store(stamp.0, Ordering::Release);
    }
}

/// Why a guard was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The workspace was closed or re-opened since the array was made. `watched` as [`Access::release_read`] tells it.
    Stale { watched: bool },
    /// A conflicting guard is alive.
    InUse(Holder),
}

/// What a guard must find: the workspace's epoch and the stamp the array was made under. `None` for heap memory.
pub(crate) type Home<'a> = Option<(&'a Epoch, Stamp)>;

/// Pins for reading. The caller ends it with [`Access::release_read`].
#[inline]
pub(crate) fn pin_read(access: &Access, home: Home<'_>) -> Result<(), Refusal> {
    access.acquire_read().map_err(Refusal::InUse)?;
    if is_stale(home) {
        return Err(Refusal::Stale {
            watched: access.release_read(),
        });
    }
    Ok(())
}

/// Pins for writing. The caller ends it with [`Access::release_write`].
#[inline]
pub(crate) fn pin_write(access: &Access, home: Home<'_>) -> Result<(), Refusal> {
    access.acquire_write().map_err(Refusal::InUse)?;
    if is_stale(home) {
        return Err(Refusal::Stale {
            watched: access.release_write(),
        });
    }
    Ok(())
}

#[inline]
pub(crate) fn is_stale(home: Home<'_>) -> bool {
    home.is_some_and(|(epoch, stamp)| epoch.get() != stamp)
}

/// Every interleaving of guards on two or more threads with the owner that closes, looks and recycles.
/// Run with `cargo xtask loom`.
#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    /// One array of a workspace: the loom cell stands for its bytes and reports any unordered touch.
    struct Model {
        access: Access,
        epoch: Epoch,
        bytes: UnsafeCell<u64>,
        /// The record of `arena.rs`: true once the block was retired, until it is freed.
        retired: Mutex<bool>,
        freed: UnsafeCell<u32>,
    }

    impl Model {
        fn new() -> Arc<Model> {
            Arc::new(Model {
                access: Access::new(),
                epoch: Epoch::new(Stamp::open(1)),
                bytes: UnsafeCell::new(1),
                retired: Mutex::new(false),
                freed: UnsafeCell::new(0),
            })
        }

        fn home(&self) -> Home<'_> {
            Some((&self.epoch, Stamp::open(1)))
        }

        /// A guard for reading: true if it was granted, and then the bytes must be those of generation 1.
        #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
        fn read(&self) -> bool {
            match pin_read(&self.access, self.home()) {
                Ok(()) => {
                    // SAFETY: this is what the model checks: nobody writes while the pin is held.
                    let seen = self.bytes.with(|bytes| unsafe { *bytes });
                    assert!(seen == 1 || seen == 2, "recycled under a guard");
                    self.ended(self.access.release_read());
                    true
                }
                Err(refusal) => self.refused(refusal),
            }
        }

        #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
        fn write(&self) -> bool {
            match pin_write(&self.access, self.home()) {
                Ok(()) => {
                    // SAFETY: this is what the model checks: nobody else touches the bytes while the pin is held.
                    self.bytes.with_mut(|bytes| unsafe { *bytes = 2 });
                    self.ended(self.access.release_write());
                    true
                }
                Err(refusal) => self.refused(refusal),
            }
        }

        fn refused(&self, refusal: Refusal) -> bool {
            if let Refusal::Stale { watched } = refusal {
                self.ended(watched);
            }
            false
        }

        /// What `Buffer::last_guard_ended` and `Arena::sweep` do.
        fn ended(&self, watched: bool) {
            if watched {
                self.sweep();
            }
        }

        fn sweep(&self) {
            let mut retired = self.retired.lock().unwrap();
            if *retired && !self.access.is_held() {
                *retired = false;
                self.recycle();
            }
        }

        /// What `Ground::close` and `Ground::retire` do.
        fn close(&self) {
            self.epoch.set(Stamp::closed(1));
            if self.access.is_held() {
                let mut retired = self.retired.lock().unwrap();
                if self.access.watch() {
                    *retired = true;
                    return;
                }
            }
            self.recycle();
        }

        #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
        fn recycle(&self) {
            // SAFETY: this is what the model checks: the memory is nobody's now.
            self.bytes.with_mut(|bytes| unsafe { *bytes = 99 });
            // SAFETY: likewise, and it is freed once.
            self.freed.with_mut(|freed| unsafe { *freed += 1 });
        }

        #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
        fn freed(&self) -> u32 {
            // SAFETY: called after all threads were joined.
            self.freed.with(|freed| unsafe { *freed })
        }
    }

    /// Runs each body on a thread of its own beside an owner that closes the workspace.
    fn check(bodies: &'static [fn(&Model)]) {
        loom::model(move || {
            let model = Model::new();
            let threads: Vec<_> = bodies
                .iter()
                .map(|body| {
                    let model = Arc::clone(&model);
                    thread::spawn(move || body(&model))
                })
                .collect();
            model.close();
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(
                model.freed(),
                1,
                "the memory is freed exactly once, and at the end"
            );
            assert!(
                !model.read() && !model.write(),
                "the array is stale for ever"
            );
        });
    }

    #[test]
    fn a_reader_beside_the_recycler() {
        check(&[|model| {
            model.read();
        }]);
    }

    #[test]
    fn a_writer_beside_the_recycler() {
        check(&[|model| {
            model.write();
        }]);
    }

    #[test]
    fn a_reader_that_comes_again() {
        check(&[|model| {
            let first = model.read();
            let second = model.read();
            assert!(first || !second, "stale arrays never come back");
        }]);
    }

    #[test]
    fn two_readers_beside_the_recycler() {
        check(&[
            |model| {
                model.read();
            },
            |model| {
                model.read();
            },
        ]);
    }

    #[test]
    fn a_reader_and_a_writer_beside_the_recycler() {
        check(&[
            |model| {
                model.read();
            },
            |model| {
                model.write();
            },
        ]);
    }

    #[test]
    fn two_writers_exclude_each_other() {
        loom::model(|| {
            let model = Model::new();
            let other = Arc::clone(&model);
            let thread = thread::spawn(move || other.write());
            let own = model.write();
            let others = thread.join().unwrap();
            assert!(own || others, "one of two is granted");
        });
    }

    /// New memory is written without an exchange, then shared, while its workspace closes.
    #[test]
    #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
    fn fresh_memory_is_shared_after_its_writer_ended() {
        loom::model(|| {
            let model = Model::new();
            assert!(model.access.begin_sole());
            // SAFETY: this is what the model checks: nobody else touches the bytes yet.
            model.bytes.with_mut(|bytes| unsafe { *bytes = 2 });
            assert!(!model.access.release_own_write());
            let other = Arc::clone(&model);
            let reader = thread::spawn(move || other.read());
            model.close();
            reader.join().unwrap();
            assert_eq!(model.freed(), 1, "freed exactly once");
        });
    }

    /// A workspace that closes while new memory is still being written keeps it until the writer ends.
    #[test]
    fn fresh_memory_outlives_the_close() {
        loom::model(|| {
            let model = Model::new();
            assert!(model.access.begin_sole());
            model.close();
            assert_eq!(model.freed(), 0, "kept for the writer");
            model.ended(model.access.release_own_write());
            assert_eq!(model.freed(), 1, "freed exactly once");
        });
    }

    /// Without handles elsewhere the epoch moves without an exchange; a later generation's array is opened as usual.
    #[test]
    #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
    fn a_generation_without_handles_ends_alone() {
        loom::model(|| {
            let model = Model::new();
            // SAFETY: the owner is alone with the array of generation 1.
            model.bytes.with_mut(|bytes| unsafe { *bytes = 2 });
            model.epoch.set_unpinned(Stamp::closed(1));
            model.epoch.set_unpinned(Stamp::open(2));
            let other = Arc::clone(&model);
            let thread = thread::spawn(move || {
                assert!(!other.read(), "an old stamp is stale");
                let home = Some((&other.epoch, Stamp::open(2)));
                assert_eq!(pin_read(&other.access, home), Ok(()), "a new one is not");
                assert!(!other.access.release_read());
            });
            thread.join().unwrap();
        });
    }

    /// Heap memory: no epoch, no watcher, and a writer that ends with a plain store.
    #[test]
    #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
    fn unwatched_guards_exclude_each_other() {
        fn write(model: &Model) {
            if pin_write(&model.access, None).is_ok() {
                // SAFETY: this is what the model checks: nobody else touches the bytes while the pin is held.
                model.bytes.with_mut(|bytes| unsafe { *bytes += 1 });
                model.access.release_unwatched_write();
            }
        }
        loom::model(|| {
            let model = Model::new();
            let (writer, reader) = (Arc::clone(&model), Arc::clone(&model));
            let writer = thread::spawn(move || write(&writer));
            let reader = thread::spawn(move || {
                if pin_read(&reader.access, None).is_ok() {
                    // SAFETY: likewise, and nobody writes.
                    let seen = reader.bytes.with(|bytes| unsafe { *bytes });
                    assert!((1..=3).contains(&seen));
                    assert!(!reader.access.release_read());
                }
            });
            write(&model);
            writer.join().unwrap();
            reader.join().unwrap();
            assert!(!model.access.is_held(), "every guard has ended");
        });
    }
}
