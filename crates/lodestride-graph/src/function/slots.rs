//! The slots of a function's arena while values are put into them.

use std::collections::BTreeSet;

/// Slots of the arena and which are free.
#[derive(Default)]
pub(super) struct Slots {
    pub(super) bytes: Vec<usize>,
    /// By size, so that finding one does not depend on how many there are.
    free: BTreeSet<(usize, usize)>,
}

impl Slots {
    /// The smallest free slot that is large enough, else the largest free one, grown, else a new one.
    pub(super) fn take(&mut self, need: usize) -> usize {
        let enough = self.free.range((need, 0)..).next().copied();
        match enough.or_else(|| self.free.last().copied()) {
            Some((size, slot)) => {
                self.free.remove(&(size, slot));
                self.bytes[slot] = size.max(need);
                slot
            }
            None => {
                self.bytes.push(need);
                self.bytes.len() - 1
            }
        }
    }

    pub(super) fn release(&mut self, slot: usize) {
        self.free.insert((self.bytes[slot], slot));
    }
}
