//! The figures of array memory, kept per thread so that counting costs no atomic exchange.
//! Who owns and sums them is `cache.rs`; what users see is `memory.rs`.

use std::sync::atomic::{AtomicU64, Ordering};

/// The figures of one thread. Only that thread writes them (a plain load and store), anyone may read.
#[derive(Debug)]
pub(crate) struct Counters {
    pub(crate) array_allocations: AtomicU64,
    pub(crate) array_bytes_allocated: AtomicU64,
    pub(crate) array_bytes_freed: AtomicU64,
    pub(crate) workspace_bytes_allocated: AtomicU64,
    pub(crate) workspace_bytes_freed: AtomicU64,
    pub(crate) system_allocations: AtomicU64,
    pub(crate) system_bytes_allocated: AtomicU64,
    pub(crate) system_bytes_freed: AtomicU64,
    pub(crate) cached_bytes: AtomicU64,
}

impl Counters {
    pub(crate) const fn new() -> Counters {
        Counters {
            array_allocations: AtomicU64::new(0),
            array_bytes_allocated: AtomicU64::new(0),
            array_bytes_freed: AtomicU64::new(0),
            workspace_bytes_allocated: AtomicU64::new(0),
            workspace_bytes_freed: AtomicU64::new(0),
            system_allocations: AtomicU64::new(0),
            system_bytes_allocated: AtomicU64::new(0),
            system_bytes_freed: AtomicU64::new(0),
            cached_bytes: AtomicU64::new(0),
        }
    }

    /// All of them, always in the same order.
    pub(crate) fn all(&self) -> [&AtomicU64; 9] {
        [
            &self.array_allocations,
            &self.array_bytes_allocated,
            &self.array_bytes_freed,
            &self.workspace_bytes_allocated,
            &self.workspace_bytes_freed,
            &self.system_allocations,
            &self.system_bytes_allocated,
            &self.system_bytes_freed,
            &self.cached_bytes,
        ]
    }
}

/// What memory is used for: decides which figures it counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// An array outside every workspace's arena, header included where it shares the block.
    Array,
    /// A workspace's arena.
    Arena,
    /// A header on its own.
    Header,
}

/// Adds to a figure that only this thread writes.
#[inline]
pub(crate) fn add_unshared(counter: &AtomicU64, amount: u64, ordering: Ordering) -> u64 {
    let before = counter.load(ordering);
    counter.store(before.wrapping_add(amount), ordering);
    before
}

pub(crate) type Add = fn(&AtomicU64, u64, Ordering) -> u64;

#[inline]
pub(crate) fn count_taken_in(counters: &Counters, size: usize, purpose: Purpose, add: Add) {
    match purpose {
        Purpose::Array => {
            add(&counters.array_allocations, 1, Ordering::Relaxed);
            add(
                &counters.array_bytes_allocated,
                size as u64,
                Ordering::Relaxed,
            );
        }
        Purpose::Arena => {
            add(
                &counters.workspace_bytes_allocated,
                size as u64,
                Ordering::Relaxed,
            );
        }
        Purpose::Header => {}
    }
}

#[inline]
pub(crate) fn count_returned_in(counters: &Counters, size: usize, purpose: Purpose, add: Add) {
    match purpose {
        Purpose::Array => {
            add(&counters.array_bytes_freed, size as u64, Ordering::Relaxed);
        }
        Purpose::Arena => {
            add(
                &counters.workspace_bytes_freed,
                size as u64,
                Ordering::Relaxed,
            );
        }
        Purpose::Header => {}
    }
}

/// Takes back `count_taken_in`: the figures wrap, so adding the complement subtracts.
pub(crate) fn uncount_taken_in(
    counters: &Counters,
    size: usize,
    purpose: Purpose,
    add: &dyn Fn(&AtomicU64, u64),
) {
    let size = (size as u64).wrapping_neg();
    match purpose {
        Purpose::Array => {
            add(&counters.array_allocations, u64::MAX);
            add(&counters.array_bytes_allocated, size);
        }
        Purpose::Arena => add(&counters.workspace_bytes_allocated, size),
        Purpose::Header => {}
    }
}
