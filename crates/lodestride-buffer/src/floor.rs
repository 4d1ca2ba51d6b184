//! What a workspace bumps through, and what is kept of it for a guard: a block of the cache, or memory that a mapped file
//! lends.

use std::fmt;
use std::ptr::NonNull;

use crate::block::{Block, Lent};
use crate::cache;
use crate::counters::Purpose;

/// Initialised memory aligned to cache lines.
#[derive(Debug)]
pub(crate) enum Floor {
    Block(Block),
    Lent(Lent),
}

impl Floor {
    pub(crate) fn pointer(&self) -> NonNull<u8> {
        match self {
            Floor::Block(block) => block.pointer(),
            Floor::Lent(lent) => lent.data(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Floor::Block(block) => block.bytes(),
            Floor::Lent(lent) => lent.len(),
        }
    }

    /// Gives the memory back to where it came from.
    pub(crate) fn free(self, purpose: Purpose) {
        match self {
            Floor::Block(block) => cache::put(block, purpose),
            Floor::Lent(lent) => drop(lent),
        }
    }
}

/// Where a workspace of mapped memory gets it from. There is never more than one mapping, since two would share their bytes.
pub(crate) trait Remap: fmt::Debug + Send + Sync {
    /// The memory, aligned to cache lines; `None` while an earlier mapping is alive, or if the system refuses.
    fn map(&mut self) -> Option<Lent>;

    /// Gives disk space back that nobody else can see.
    fn release(&mut self);
}
