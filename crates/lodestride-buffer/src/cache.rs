//! Freed blocks wait here for their next use: per thread, then shared by the process, bounded by a limit.
//! The memory itself is `block.rs`; the public figures are `memory.rs`.
//!
//! Blocks come in size classes: steps of 64 bytes up to 1 KiB, then four classes per power of two (so that at most a
//! fifth of a block is unused), eight from 2 MiB on. Up to 256 KiB they have room for a header beside such a size: arrays are
//! mostly as long as a power of two.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::block::{ALIGNMENT, Block, HUGE_PAGE, Idle};
use crate::counters::{
    Counters, Purpose, add_unshared, count_returned_in, count_taken_in, uncount_taken_in,
};
use crate::hard_limit;
use crate::system_memory;

/// What blocks of a size up to [`ROOMY`] have beside it, for a header.
pub(crate) const ROOM: usize = ALIGNMENT;
/// The largest size with room for a header.
pub(crate) const ROOMY: usize = 256 << 10;
/// Blocks up to this size and its room are in steps of [`ALIGNMENT`].
const FINE: usize = 1024;
const FINE_CLASSES: usize = (FINE + ROOM) / ALIGNMENT;
/// Classes a thread keeps for itself: everything below 2 MiB.
const LOCAL_CLASSES: usize = FINE_CLASSES + 4 * 11;
const CLASSES: usize = LOCAL_CLASSES + 8 * 43;
/// A thread keeps at most this many bytes, and this many blocks of one class, before it gives half to the process.
const LOCAL_BYTES: usize = 8 << 20;
const LOCAL_BLOCKS: usize = 256;
/// So many small blocks a thread takes from the process at once.
const REFILL: usize = 16;

/// Process-wide bound of the cache in bytes; [`UNSET`] until it is set or first asked for.
static LIMIT: AtomicUsize = AtomicUsize::new(UNSET);
const UNSET: usize = usize::MAX;
/// Raised by `trim`; a thread that sees a new value empties its own cache.
static TRIMS: AtomicU64 = AtomicU64::new(0);
static SHARED: Mutex<Shared> = Mutex::new(Shared {
    classes: Vec::new(),
    bytes: 0,
});
static THREADS: Mutex<Vec<Arc<Counters>>> = Mutex::new(Vec::new());
/// Figures of threads that have ended, and of memory handled while a thread was ending.
static ENDED: Counters = Counters::new();

#[derive(Debug)]
struct Local {
    counters: Option<Arc<Counters>>,
    classes: [Vec<Idle>; LOCAL_CLASSES],
    bytes: usize,
    trims: u64,
}

thread_local! {
    static LOCAL: RefCell<Local> = const {
        RefCell::new(Local {
            counters: None,
            classes: [const { Vec::new() }; LOCAL_CLASSES],
            bytes: 0,
            trims: 0,
        })
    };
}

#[derive(Debug)]
struct Shared {
    classes: Vec<Vec<Block>>,
    bytes: usize,
}

/// A size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Class {
    number: usize,
    /// The size of its blocks.
    pub(crate) size: usize,
}

/// What no block is large enough for.
const LARGEST: usize = 1 << 62;

/// The class of a request of this many bytes, of which there are at most [`LARGEST`].
#[inline]
pub(crate) fn class_of(bytes: usize) -> Class {
    if bytes <= FINE + ROOM {
        return fine_class_of(bytes);
    }
    coarse_class_of(bytes)
}

/// [`class_of`] a request of at most [`FINE`] bytes and their room.
#[inline]
pub(crate) fn fine_class_of(bytes: usize) -> Class {
    debug_assert!(bytes <= FINE + ROOM);
    let steps = bytes.div_ceil(ALIGNMENT).max(1);
    Class {
        number: steps - 1,
        size: steps * ALIGNMENT,
    }
}

fn coarse_class_of(bytes: usize) -> Class {
    let room = if bytes <= ROOMY + ROOM { ROOM } else { 0 };
    // What is wanted beside the room lies in (power, 2 * power], which is cut into equal parts.
    let wanted = bytes - room;
    let power_log = (wanted - 1).ilog2();
    let power = 1_usize << power_log;
    let (first, base_log, parts_log) = if power < HUGE_PAGE {
        (FINE_CLASSES, FINE.ilog2(), 2)
    } else {
        (LOCAL_CLASSES, HUGE_PAGE.ilog2(), 3)
    };
    let step_log = power_log - parts_log;
    // At least 1; a shift is not a division.
    let part = ((wanted - 1 - power) >> step_log) + 1;
    let powers = (power_log - base_log) as usize;
    Class {
        number: first + (powers << parts_log) + part - 1,
        size: room + power + (part << step_log),
    }
}

/// A block of at least this many bytes, contents unspecified but initialised; the flag says whether it is zeroed.
#[inline]
pub(crate) fn take(bytes: usize, purpose: Purpose) -> Option<(Block, bool)> {
    if bytes > LARGEST {
        return None;
    }
    let class = class_of(bytes);
    match LOCAL.try_with(|local| local.borrow_mut().take(class, purpose)) {
        Ok(Some(block)) => Some((block, false)),
        Ok(None) => take_shared(class, purpose),
        Err(_) => {
            count_taken_in(&ENDED, class.size, purpose, AtomicU64::fetch_add);
            take_shared(class, purpose)
        }
    }
}

/// The slow path: a few blocks from the process's cache, else one from the system.
#[cold]
fn take_shared(class: Class, purpose: Purpose) -> Option<(Block, bool)> {
    let size = class.size;
    if let Some(block) = refill(class) {
        return Some((block, false));
    }
    let block = Block::from_system(size).or_else(|| {
        // What the cache holds may be enough, if it is as much as was asked for.
        let bytes = shared().bytes;
        if bytes >= size || exceeds_limit(size) {
            trim();
        }
        Block::from_system(size)
    });
    match block {
        Some(block) => {
            with_counters(|counters, add| {
                add(&counters.system_allocations, 1);
                add(&counters.system_bytes_allocated, size as u64);
            });
            Some((block, true))
        }
        None => {
            with_counters(|counters, add| uncount_taken_in(counters, size, purpose, add));
            None
        }
    }
}

/// True if a block for this many bytes would be one too many for the process's limit.
pub(crate) fn exceeds_limit(bytes: usize) -> bool {
    // Of larger ones no size is known, and they are refused for being too large.
    bytes <= LARGEST
        && hard_limit::get()
            .is_some_and(|limit| hard_limit::held().saturating_add(class_of(bytes).size) > limit)
}

/// Returns a block. All of its bytes are initialised.
pub(crate) fn put(block: Block, purpose: Purpose) {
    let class = class_of(block.bytes());
    put_class(block, class, purpose);
}

/// [`put`] of a block whose class is known.
#[inline(always)]
pub(crate) fn put_class(block: Block, class: Class, purpose: Purpose) {
    let mut rest = Some(block);
    let known = LOCAL.try_with(|local| {
        let mut local = local.borrow_mut();
        local.put(&mut rest, class, purpose);
    });
    if known.is_err() {
        count_returned_in(&ENDED, class.size, purpose, AtomicU64::fetch_add);
    }
    if let Some(block) = rest {
        put_shared(class.number, block);
    }
}

/// A block from the process's cache; small ones come with a few more for the thread's own.
fn refill(class: Class) -> Option<Block> {
    let mut shared = shared();
    let block = shared.take(class)?;
    if class.number < FINE_CLASSES {
        let _ending = LOCAL.try_with(|local| {
            let mut local = local.borrow_mut();
            while local.classes[class.number].len() < REFILL && local.has_room(class) {
                let Some(block) = shared.take(class) else {
                    break;
                };
                local.classes[class.number].push(Idle::new(block));
                local.bytes += class.size;
            }
            local.publish();
        });
    }
    Some(block)
}

/// The slow path: the thread gives half of the class to the process, or everything after a trim.
#[cold]
fn put_shared(class: usize, block: Block) {
    let mut surplus = vec![(class, block)];
    let _ending = LOCAL.try_with(|local| local.borrow_mut().give_up(class, &mut surplus));
    let limit = limit();
    let mut shared = shared();
    let mut evicted = Vec::new();
    for (class, block) in surplus {
        shared.put(class, block, limit, &mut evicted);
    }
    drop(shared);
    free(evicted);
}

fn free(blocks: Vec<Block>) {
    let bytes: usize = blocks.iter().map(Block::bytes).sum();
    with_counters(|counters, add| add(&counters.system_bytes_freed, bytes as u64));
}

fn shared() -> MutexGuard<'static, Shared> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn take(&mut self, class: Class) -> Option<Block> {
        let block = self.classes.get_mut(class.number)?.pop()?;
        self.bytes -= class.size;
        Some(block)
    }

    /// Keeps a block; others leave, largest first, when the limit asks for it.
    fn put(&mut self, class: usize, block: Block, limit: usize, evicted: &mut Vec<Block>) {
        if block.bytes() > limit {
            evicted.push(block);
            return;
        }
        if self.classes.is_empty() {
            self.classes.resize_with(CLASSES, Vec::new);
        }
        self.shrink_to(limit - block.bytes(), evicted);
        self.bytes += block.bytes();
        self.classes[class].push(block);
    }

    fn shrink_to(&mut self, limit: usize, evicted: &mut Vec<Block>) {
        let mut class = self.classes.len();
        while self.bytes > limit && class > 0 {
            match self.classes[class - 1].pop() {
                Some(block) => {
                    self.bytes -= block.bytes();
                    evicted.push(block);
                }
                None => class -= 1,
            }
        }
    }
}

impl Local {
    /// Counts a block that is taken, and gives it if the thread has one.
    #[inline]
    fn take(&mut self, class: Class, purpose: Purpose) -> Option<Block> {
        let counters = self.counters.get_or_insert_with(register_thread);
        count_taken_in(counters, class.size, purpose, add_unshared);
        let block = self.classes.get_mut(class.number)?.pop()?.wake();
        self.bytes -= class.size;
        counters
            .cached_bytes
            .store(self.bytes as u64, Ordering::Relaxed);
        Some(block)
    }

    /// Counts a block that is returned, and keeps it if there is room.
    #[inline]
    fn put(&mut self, block: &mut Option<Block>, class: Class, purpose: Purpose) {
        let has_room = class.number < LOCAL_CLASSES && self.has_room(class);
        let counters = self.counters.get_or_insert_with(register_thread);
        count_returned_in(counters, class.size, purpose, add_unshared);
        if has_room && let Some(block) = block.take() {
            self.classes[class.number].push(Idle::new(block));
            self.bytes += class.size;
            counters
                .cached_bytes
                .store(self.bytes as u64, Ordering::Relaxed);
        }
    }

    #[inline]
    fn has_room(&self, class: Class) -> bool {
        self.classes[class.number].len() < LOCAL_BLOCKS
            && self.bytes + class.size <= LOCAL_BYTES.min(LIMIT.load(Ordering::Relaxed))
            && self.trims == TRIMS.load(Ordering::Relaxed)
    }

    fn give_up(&mut self, class: usize, surplus: &mut Vec<(usize, Block)>) {
        let trims = TRIMS.load(Ordering::Relaxed);
        if self.trims != trims || self.bytes >= LOCAL_BYTES / 2 {
            // After a trim, or with the bytes used up by a mix of classes, everything goes.
            self.trims = trims;
            for (class, blocks) in self.classes.iter_mut().enumerate() {
                surplus.extend(blocks.drain(..).map(|block| (class, block.wake())));
            }
        } else if let Some(blocks) = self.classes.get_mut(class) {
            let half = blocks.len() / 2;
            surplus.extend(blocks.drain(..half).map(|block| (class, block.wake())));
        }
        self.bytes = self.classes.iter().flatten().map(Idle::bytes).sum();
        self.publish();
    }

    #[inline]
    fn counters(&mut self) -> &Counters {
        self.counters.get_or_insert_with(register_thread)
    }

    #[inline]
    fn publish(&mut self) {
        let bytes = self.bytes as u64;
        self.counters().cached_bytes.store(bytes, Ordering::Relaxed);
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let mut surplus = Vec::new();
        self.trims = TRIMS.load(Ordering::Relaxed).wrapping_sub(1);
        self.give_up(0, &mut surplus);
        let limit = limit();
        let mut evicted = Vec::new();
        let mut shared = shared();
        for (class, block) in surplus {
            shared.put(class, block, limit, &mut evicted);
        }
        drop(shared);
        if let Some(counters) = self.counters.take() {
            let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
            threads.retain(|other| !Arc::ptr_eq(other, &counters));
            for (ended, own) in ENDED.all().into_iter().zip(counters.all()) {
                ended.fetch_add(own.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
        let bytes: usize = evicted.iter().map(Block::bytes).sum();
        ENDED
            .system_bytes_freed
            .fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

#[cold]
fn register_thread() -> Arc<Counters> {
    let counters = Arc::new(Counters::new());
    THREADS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(Arc::clone(&counters));
    counters
}

/// Runs with this thread's figures and the way to add to them; while the thread ends, with the process's.
fn with_counters(count: impl Fn(&Counters, &dyn Fn(&AtomicU64, u64))) {
    let own = |counter: &AtomicU64, amount| {
        add_unshared(counter, amount, Ordering::Relaxed);
    };
    let ended = |counter: &AtomicU64, amount| {
        counter.fetch_add(amount, Ordering::Relaxed);
    };
    if LOCAL
        .try_with(|local| count(local.borrow_mut().counters(), &own))
        .is_err()
    {
        count(&ENDED, &ended);
    }
}

/// The sum of every thread's figures, one after the other in the order of [`Counters::all`].
pub(crate) fn totals() -> Counters {
    let total = Counters::new();
    let threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    for counters in threads.iter().map(|counters| &**counters).chain([&ENDED]) {
        for (sum, own) in total.all().into_iter().zip(counters.all()) {
            sum.fetch_add(own.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
    total
        .cached_bytes
        .fetch_add(shared().bytes as u64, Ordering::Relaxed);
    total
}

/// This thread's figures.
pub(crate) fn thread_totals() -> Counters {
    let copy = Counters::new();
    with_counters(|counters, _| {
        for (copy, own) in copy.all().into_iter().zip(counters.all()) {
            copy.store(own.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    });
    copy
}

/// Returns every cached block to the system; other threads follow when they next free something.
pub(crate) fn trim() -> usize {
    TRIMS.fetch_add(1, Ordering::Relaxed);
    let mut surplus = Vec::new();
    let _ending = LOCAL.try_with(|local| local.borrow_mut().give_up(0, &mut surplus));
    let mut blocks: Vec<Block> = surplus.into_iter().map(|(_, block)| block).collect();
    shared().shrink_to(0, &mut blocks);
    let bytes = blocks.iter().map(Block::bytes).sum();
    free(blocks);
    bytes
}

pub(crate) fn limit() -> usize {
    match LIMIT.load(Ordering::Relaxed) {
        UNSET => {
            let limit = system_memory::share();
            // Who set it meanwhile wins.
            match LIMIT.compare_exchange(UNSET, limit, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => limit,
                Err(set) => set,
            }
        }
        limit => limit,
    }
}

pub(crate) fn set_limit(bytes: usize) {
    LIMIT.store(bytes.min(UNSET - 1), Ordering::Relaxed);
    let mut evicted = Vec::new();
    shared().shrink_to(bytes, &mut evicted);
    free(evicted);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_cover_every_size_in_order_and_waste_little() {
        let mut sizes: Vec<usize> = (1..5000).collect();
        for power in 12..61 {
            let power = 1_usize << power;
            sizes.extend([
                power - 1,
                power,
                power + 1,
                power + power / 3,
                power + power / 2,
            ]);
        }
        sizes.sort_unstable();
        let mut last = (0, 0);
        for bytes in sizes {
            let found = class_of(bytes);
            let (class, size) = (found.number, found.size);
            assert!(
                class < CLASSES && size >= bytes,
                "{bytes}: class {class} of {size}"
            );
            assert!(
                size < bytes + 64 || size * 4 <= bytes * 5 + 256,
                "{bytes}: {size}"
            );
            assert_eq!(size % ALIGNMENT, 0);
            assert_eq!(class_of(size), found, "a block finds its own class");
            assert!((class, size) >= last, "{bytes}");
            assert_eq!(class < LOCAL_CLASSES, size <= HUGE_PAGE, "{bytes}");
            last = (class, size);
        }
        assert!(take(usize::MAX, Purpose::Array).is_none());
    }
}
