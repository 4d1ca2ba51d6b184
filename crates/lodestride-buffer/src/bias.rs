//! Whether one thread only has used buffers so far: then it needs no locked instruction, because nobody else can come between.
//! What is counted and exchanged is in `access.rs`, `buffer.rs` and `arena.rs`; whether the system plays along is in
//! `barrier.rs`.
//!
//! A locked exchange takes some twenty cycles on x86-64, and an addition of two small arrays had four. The first thread that
//! uses a buffer becomes the **owner** of the right to do without, and keeps it while there are other threads (a pool's, say)
//! until one of those uses a buffer too. From then on, for good, everybody exchanges with locks. This is biased locking
//! (Kawachiya, Koseki and Onodera, "Lock reservation", 2002) with one bias for the whole process.
//!
//! * The owner **says that it is inside, then looks at the stage** ([`Bias::enter`]), and changes words by plain loads and
//!   stores until it has left.
//! * A newcomer **moves the stage, then looks whether the owner is inside** ([`Bias::share`]) and waits until it is not:
//!   a few instructions, once in the life of a process.
//!
//! Between the two steps of either side there must be a full barrier. The newcomer pays for both: its system call makes every
//! running thread of the process pass one. All that the owner does is keep the compiler from exchanging its steps.

use std::sync::PoisonError;

use crate::sync::{AtomicU32, Mutex, Ordering};

#[cfg(not(loom))]
use crate::barrier;

/// Nobody has used a buffer.
const NOBODY: u32 = 0;
/// One thread has, with locks.
const FIRST: u32 = 1;
/// One thread has, and does without locks.
const OWNED: u32 = 2;
/// Several threads have, or the system cannot make others pass barriers: locks for ever.
const SHARED: u32 = 3;

/// What all threads know. On a cache line of its own: the owner writes to it all the time.
#[derive(Debug)]
#[repr(align(64))]
struct Bias {
    stage: AtomicU32,
    /// 1 while the owner changes words by plain loads and stores.
    inside: AtomicU32,
    /// Held by the newcomer that ends the owner's time.
    turn: Mutex<()>,
}

/// What a thread knows of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It has used no buffer.
    New,
    /// It is the only one that has, and has used locks so many times.
    First(u32),
    /// It may do without locks as long as nobody else comes.
    Owner,
    /// It is one of several.
    Sharer,
}

impl Bias {
    /// A bias of that stage, with nobody inside.
    #[cfg(not(loom))]
    const fn new(stage: u32) -> Bias {
        Bias {
            stage: AtomicU32::new(stage),
            inside: AtomicU32::new(0),
            turn: Mutex::new(()),
        }
    }

    /// True if the caller is the first thread of all.
    fn meet(&self) -> bool {
        self.stage
            .compare_exchange(NOBODY, FIRST, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Makes the first thread the owner; false if somebody else has come meanwhile.
    fn own(&self) -> bool {
        self.stage
            .compare_exchange(FIRST, OWNED, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// The owner goes inside; false if it is the owner no longer.
    #[inline(always)]
    fn enter(&self) -> bool {
        self.inside.store(1, Ordering::Relaxed);
        light_barrier();
        if self.stage.load(Ordering::Relaxed) == OWNED {
            return true;
        }
        self.leave();
        false
    }

    #[inline(always)]
    fn leave(&self) {
        self.inside.store(0, Ordering::Release);
    }

    /// Of the threads of a process only the one that forked it, with this role, is left in the fork. If it is not the owner, who
    /// was inside will not come out any more.
    #[cfg(not(loom))]
    fn begin_in_fork(&self, role: Role) {
        if role != Role::Owner {
            self.leave();
        }
    }

    /// Ends the time of one thread alone: when this returns, no plain load and store is under way, everything done by them is
    /// seen by the caller, and there will be no more of them.
    fn share(&self) {
        // Who comes while another one waits for the owner waits for that one.
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.stage.swap(SHARED, Ordering::AcqRel) != OWNED {
            return;
        }
        heavy_barrier();
        let mut turns = 0;
        while self.inside.load(Ordering::Acquire) != 0 {
            pause(turns);
            turns += 1;
        }
    }
}

/// While this lives the calling thread is the only one that uses buffers, and needs no locked instruction.
#[derive(Debug)]
pub(crate) struct Alone(());

impl Drop for Alone {
    #[inline(always)]
    fn drop(&mut self) {
        BIAS.leave();
    }
}

/// `Some` if no other thread has used a buffer yet: none will until the value is dropped, which must be soon. `None` says
/// that exchanges need locks, and that whatever an owner did without has been done.
#[inline(always)]
pub(crate) fn alone() -> Option<Alone> {
    match ROLE.with(|role| role.get()) {
        Role::Owner if BIAS.enter() => Some(Alone(())),
        Role::Sharer => None,
        _ => decide(),
    }
}

/// [`alone`] where the role of the thread is not settled, or not any more.
#[cold]
#[inline(never)]
fn decide() -> Option<Alone> {
    let role = match ROLE.with(|role| role.get()) {
        Role::New if BIAS.meet() => {
            if barrier::is_only_thread() {
                promoted()
            } else {
                Role::First(0)
            }
        }
        Role::New => {
            BIAS.share();
            Role::Sharer
        }
        Role::First(times) if times < PATIENCE => Role::First(times + 1),
        Role::First(_) => promoted(),
        Role::Owner | Role::Sharer => Role::Sharer,
    };
    ROLE.with(|own| own.set(role));
    (role == Role::Owner && BIAS.enter()).then_some(Alone(()))
}

/// To be called in a process that was just forked.
#[cfg(not(loom))]
pub(crate) fn begin_in_fork() {
    BIAS.begin_in_fork(ROLE.with(|role| role.get()));
}

/// True while the first thread does without locks.
pub(crate) fn is_owned() -> bool {
    BIAS.stage.load(Ordering::Relaxed) == OWNED
}

/// The role of the first thread when it asks to be the owner.
fn promoted() -> Role {
    if barrier::prepare() && BIAS.own() {
        return Role::Owner;
    }
    BIAS.share();
    Role::Sharer
}

/// How often the first thread uses locks before it asks to be the owner, if there are other threads already. The system then
/// takes as long for its consent as this many exchanges take (13 ms on Linux 6.18; half a microsecond for the only thread of
/// a process). So no process loses more by asking too early, or too late, than the asking itself takes.
const PATIENCE: u32 = 1 << 20;

/// Keeps the compiler from exchanging a store before with a load after. The processor is kept from it by [`heavy_barrier`].
#[inline(always)]
fn light_barrier() {
    #[cfg(not(loom))]
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// A full barrier for this thread and, at some moment of the call, for every other one.
fn heavy_barrier() {
    #[cfg(not(loom))]
    barrier::everywhere();
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// Waits a little for the owner, which is inside for a few instructions unless the system has taken its core away.
#[cfg(not(loom))]
fn pause(turns: u32) {
    match turns {
        0..100 => std::hint::spin_loop(),
        _ => std::thread::sleep(std::time::Duration::from_micros(20)),
    }
}

#[cfg(loom)]
fn pause(_: u32) {
    loom::thread::yield_now();
}

#[cfg(not(loom))]
static BIAS: Bias = Bias::new(NOBODY);

#[cfg(not(loom))]
thread_local! {
    static ROLE: std::cell::Cell<Role> = const { std::cell::Cell::new(Role::New) };
}

#[cfg(loom)]
loom::lazy_static! {
    static ref BIAS: Bias = Bias {
        stage: AtomicU32::new(NOBODY),
        inside: AtomicU32::new(0),
        turn: Mutex::new(()),
    };
}

// In the models of other files everybody uses locks, which leaves fewer interleavings to go through.
#[cfg(loom)]
loom::thread_local! {
    static ROLE: std::cell::Cell<Role> = std::cell::Cell::new(Role::Sharer);
}

/// What `barrier.rs` is in a model, whose barriers are fences.
#[cfg(loom)]
mod barrier {
    pub(super) fn is_only_thread() -> bool {
        true
    }

    pub(super) fn prepare() -> bool {
        true
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Hangs if somebody is waited for.
    fn share_without_waiting(bias: &Bias) {
        bias.inside.store(1, Ordering::Relaxed);
        bias.share();
    }

    #[test]
    fn the_first_thread_owns_until_another_one_comes() {
        let bias = Bias::new(NOBODY);
        assert!(bias.meet() && !bias.meet());
        assert!(!bias.enter(), "not yet");
        assert!(bias.own() && !bias.own());
        assert!(bias.enter());
        bias.leave();
        bias.share();
        assert!(!bias.enter() && !bias.own() && !bias.meet());
        share_without_waiting(&bias);
    }

    #[test]
    fn who_comes_before_there_is_an_owner_ends_it_at_once() {
        let bias = Bias::new(NOBODY);
        assert!(bias.meet());
        share_without_waiting(&bias);
        assert!(!bias.own());
    }

    /// A process that was forked by another thread while its owner was inside has no owner any more.
    #[test]
    fn nobody_waits_for_an_owner_that_is_gone() {
        let bias = Bias::new(OWNED);
        assert!(bias.enter());
        bias.begin_in_fork(Role::Sharer);
        bias.share();
        assert_eq!(bias.stage.load(Ordering::Relaxed), SHARED);
    }

    /// One that the owner forked has, and newcomers wait for it there.
    #[test]
    fn an_owner_that_forks_stays_the_owner() {
        let bias = Bias::new(OWNED);
        assert!(bias.enter());
        bias.begin_in_fork(Role::Owner);
        assert_eq!(bias.inside.load(Ordering::Relaxed), 1);
    }
}

/// Every interleaving of an owner with threads that come. Run as the models of `pin.rs`.
#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use crate::access::Access;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    /// Makes the calling thread one that has used no buffer.
    fn come() {
        ROLE.with(|role| role.set(Role::New));
    }

    /// Makes the calling thread the owner.
    fn own() {
        come();
        assert!(alone().is_some());
    }

    /// Counts one up, as `buffer.rs` counts handles.
    fn count(word: &AtomicU32) {
        if let Some(_alone) = alone() {
            let seen = word.load(Ordering::Relaxed);
            word.store(seen + 1, Ordering::Release);
        } else {
            word.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn check(newcomers: usize, turns: usize) {
        loom::model(move || {
            own();
            let word = Arc::new(AtomicU32::new(0));
            let threads: Vec<_> = (0..newcomers)
                .map(|_| {
                    let word = Arc::clone(&word);
                    thread::spawn(move || {
                        come();
                        count(&word);
                    })
                })
                .collect();
            for _ in 0..turns {
                count(&word);
            }
            for thread in threads {
                thread.join().unwrap();
            }
            let counted = word.load(Ordering::Relaxed) as usize;
            assert_eq!(counted, newcomers + turns, "a count was lost");
        });
    }

    #[test]
    fn a_newcomer_beside_the_owner() {
        check(1, 3);
    }

    #[test]
    fn two_newcomers_beside_the_owner() {
        check(2, 1);
    }

    /// Whether the first thread becomes the owner before or after the newcomer, or not at all, nothing is lost.
    #[test]
    fn a_newcomer_beside_the_first() {
        loom::model(|| {
            let word = Arc::new(AtomicU32::new(0));
            let other = Arc::clone(&word);
            let thread = thread::spawn(move || {
                come();
                count(&other);
            });
            come();
            count(&word);
            count(&word);
            thread.join().unwrap();
            assert_eq!(word.load(Ordering::Relaxed), 3, "a count was lost");
        });
    }

    /// What the owner has open in a moment, having looked at the access word only, nobody else has open under that word.
    #[test]
    #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
    fn a_moment_beside_a_guard() {
        loom::model(|| {
            own();
            let shared = Arc::new((Access::new(), UnsafeCell::new(0)));
            let other = Arc::clone(&shared);
            let thread = thread::spawn(move || {
                come();
                let (access, bytes) = &*other;
                assert!(access.acquire_write().is_ok());
                // SAFETY: this is what the model checks: the owner is outside, or has not looked yet.
                bytes.with_mut(|bytes| unsafe { *bytes += 1 });
                access.release_write();
            });
            let (access, bytes) = &*shared;
            if let Some(_alone) = alone()
                && access.is_free()
            {
                // SAFETY: likewise, nobody is let in while this thread is inside.
                bytes.with_mut(|bytes| unsafe { *bytes += 1 });
            }
            thread.join().unwrap();
            // SAFETY: the other thread is done.
            let seen = bytes.with(|bytes| unsafe { *bytes });
            assert!((1..=2).contains(&seen));
        });
    }

    /// What the owner wrote inside is seen by everybody who has been told to use locks.
    #[test]
    #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
    fn what_was_done_inside_is_seen() {
        loom::model(|| {
            own();
            let cell = Arc::new(UnsafeCell::new(0));
            let other = Arc::clone(&cell);
            let thread = thread::spawn(move || {
                come();
                assert!(alone().is_none());
                // SAFETY: this is what the model checks: the owner is outside, and writes inside only.
                other.with(|value| unsafe { *value })
            });
            if let Some(_alone) = alone() {
                // SAFETY: likewise, nobody else is told to go on while this thread is inside.
                cell.with_mut(|value| unsafe { *value += 1 });
            }
            let seen = thread.join().unwrap();
            assert!((0..=1).contains(&seen));
        });
    }
}
