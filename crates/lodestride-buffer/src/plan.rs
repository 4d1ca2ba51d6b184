//! A workspace's configuration, and when which size is asked for.
//! The sizes themselves are `formula.rs`, the memory is `arena.rs`.

/// Whether a workspace's block is larger than what was needed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllocationPolicy {
    /// By the factor of [`WorkspaceConfig::overallocation`].
    #[default]
    Overallocate,
    /// No: exact sizes.
    Strict,
}

/// When a workspace without an initial size learns its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LearningPolicy {
    /// At its first close, from the first cycle.
    #[default]
    FirstLoop,
    /// At the close number [`WorkspaceConfig::cycles_before_init`], from the largest cycle until then; with 0, when
    /// [`Workspace::initialize`](crate::Workspace::initialize) is called.
    OverTime,
    /// Never: the initial size stays.
    None,
}

/// What happens to an array for which the workspace has no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpillPolicy {
    /// It gets a block of its own on the heap, freed when the workspace is closed.
    #[default]
    External,
    /// The same, and at the close the workspace grows to hold its largest cycle.
    Reallocate,
    /// The allocation is an error and the workspace stays as it was.
    Fail,
}

/// When a workspace's room is free again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResetPolicy {
    /// All of it, each time the workspace is closed.
    #[default]
    BlockLeft,
    /// In turns: the workspace has [`WorkspaceConfig::blocks`] blocks, each opening takes the next one, and arrays stay valid,
    /// also while the workspace is closed, until their block is taken again. For queues that are filled ahead.
    #[doc(alias = "ENDOFBUFFER_REACHED")]
    Circular,
}

/// How a workspace gets, grows and reuses its memory.
///
/// ```
/// use lodestride_buffer::{AllocationPolicy, SpillPolicy, Workspace, WorkspaceConfig};
/// let config = WorkspaceConfig::new()
///     .initial_size(10 << 20)
///     .allocation(AllocationPolicy::Strict)
///     .spill(SpillPolicy::Fail);
/// let workspace = Workspace::with_config("LOOP", config);
/// assert_eq!(workspace.plan().next_size, 10 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorkspaceConfig {
    /// Bytes the block is made for from the beginning; 0 leaves the size to learning.
    pub initial_size: usize,
    /// A block whose size is learned is never smaller. Initial sizes are what they are.
    pub min_size: usize,
    /// The block is never larger; 0 sets no bound. Blocks come in steps of 64 bytes: with less than 64, or less than 64 for each
    /// block of a circular workspace, there is none, and every array is spilled.
    pub max_size: usize,
    /// The part that [`AllocationPolicy::Overallocate`] adds.
    pub overallocation: f64,
    /// Closes before [`LearningPolicy::OverTime`] learns.
    pub cycles_before_init: u64,
    /// Exact or generous sizes.
    pub allocation: AllocationPolicy,
    /// When the size is learned.
    pub learning: LearningPolicy,
    /// What happens when the block is full.
    pub spill: SpillPolicy,
    /// When room is free again.
    pub reset: ResetPolicy,
    /// The blocks of a circular workspace: the arrays of so many turns are valid at once.
    pub blocks: usize,
    /// For how many turns of a circular workspace an array stays valid that found no room in its block; 0 makes that as many
    /// as there are blocks.
    pub steps_number: u64,
}

impl Default for WorkspaceConfig {
    fn default() -> Self {
        WorkspaceConfig {
            initial_size: 0,
            min_size: 0,
            max_size: 0,
            overallocation: 0.3,
            cycles_before_init: 0,
            allocation: AllocationPolicy::default(),
            learning: LearningPolicy::default(),
            spill: SpillPolicy::default(),
            reset: ResetPolicy::default(),
            blocks: 2,
            steps_number: 0,
        }
    }
}

impl WorkspaceConfig {
    /// The defaults: no initial size, learned from the first cycle, 30 % over-allocated, spilling to the heap.
    pub fn new() -> WorkspaceConfig {
        WorkspaceConfig::default()
    }

    /// Sets the bytes the block is made for from the beginning.
    pub fn initial_size(mut self, bytes: usize) -> Self {
        self.initial_size = bytes;
        self
    }

    /// Sets the lower bound of sizes that are learned.
    pub fn min_size(mut self, bytes: usize) -> Self {
        self.min_size = bytes;
        self
    }

    /// Sets the upper bound of the block's size.
    pub fn max_size(mut self, bytes: usize) -> Self {
        self.max_size = bytes;
        self
    }

    /// Sets the part that is added to sizes: 0.3 makes blocks 30 % larger than needed. Negative and NaN count as 0.
    pub fn overallocation(mut self, part: f64) -> Self {
        self.overallocation = part;
        self
    }

    /// Sets the number of closes before [`LearningPolicy::OverTime`] learns.
    pub fn cycles_before_init(mut self, cycles: u64) -> Self {
        self.cycles_before_init = cycles;
        self
    }

    /// Sets whether sizes are exact.
    pub fn allocation(mut self, policy: AllocationPolicy) -> Self {
        self.allocation = policy;
        self
    }

    /// Sets when the size is learned.
    pub fn learning(mut self, policy: LearningPolicy) -> Self {
        self.learning = policy;
        self
    }

    /// Sets what happens when the block is full.
    pub fn spill(mut self, policy: SpillPolicy) -> Self {
        self.spill = policy;
        self
    }

    /// Sets when room is free again.
    pub fn reset(mut self, policy: ResetPolicy) -> Self {
        self.reset = policy;
        self
    }

    /// Makes the workspace circular, with so many blocks.
    ///
    /// ```
    /// use lodestride_buffer::{AccessError, Buffer, Workspace, WorkspaceConfig};
    /// let queue = Workspace::with_config("PREFETCH", WorkspaceConfig::new().circular(2));
    /// let fetch = || queue.scope(|_| Buffer::zeroed(400));
    /// let (first, second) = (fetch()??, fetch()??);
    /// assert!(first.read().is_ok() && second.read().is_ok(), "both may be used while the next is fetched");
    /// let third = fetch()??;
    /// assert!(matches!(first.read(), Err(AccessError::Outdated(_))), "its block serves the third");
    /// assert!(second.read().is_ok() && third.read().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn circular(mut self, blocks: usize) -> Self {
        self.reset = ResetPolicy::Circular;
        self.blocks = blocks;
        self
    }

    /// Sets for how many turns of a circular workspace arrays stay valid that found no room in their turn's block.
    #[doc(alias = "stepsNumber")]
    pub fn steps_number(mut self, turns: u64) -> Self {
        self.steps_number = turns;
        self
    }

    /// The turns after which pinned arrays end.
    pub(crate) fn steps(&self) -> u64 {
        match self.steps_number {
            0 => self.blocks as u64,
            turns => turns,
        }
    }

    /// How many blocks there are.
    pub(crate) fn parts(&self) -> usize {
        match self.reset {
            ResetPolicy::BlockLeft => 1,
            ResetPolicy::Circular => self.blocks.max(1),
        }
    }

    /// The size of a block after a close; `cycles` counts that close, `max_cycle` includes its cycle.
    pub(crate) fn size_after_close(&self, size: usize, max_cycle: usize, cycles: u64) -> usize {
        let learns = match self.learning {
            LearningPolicy::FirstLoop => size == 0,
            LearningPolicy::OverTime => {
                size == 0 && self.cycles_before_init > 0 && cycles >= self.cycles_before_init
            }
            LearningPolicy::None => false,
        };
        self.next_size(size, max_cycle, learns)
    }

    /// The size after an explicit request to learn now.
    pub(crate) fn size_on_request(&self, size: usize, max_cycle: usize) -> usize {
        self.next_size(size, max_cycle, size == 0)
    }

    fn next_size(&self, size: usize, max_cycle: usize, learns: bool) -> usize {
        let grows = size > 0 && self.spill == SpillPolicy::Reallocate && max_cycle > size;
        if max_cycle > 0 && (learns || grows) {
            self.size_for(max_cycle).max(size)
        } else {
            size
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_follows_the_policies() {
        let strict = WorkspaceConfig::new().allocation(AllocationPolicy::Strict);
        let over_time = strict.learning(LearningPolicy::OverTime);
        let growing = strict.spill(SpillPolicy::Reallocate);
        // (config, size before, largest cycle, closes, size after)
        let cases = [
            (strict, 0, 640, 1, 640),
            (strict, 640, 6400, 2, 640),
            (growing, 640, 6400, 2, 6400),
            (growing.max_size(1024), 640, 6400, 2, 1024),
            (growing.max_size(1000), 640, 6400, 2, 960),
            (growing.max_size(40), 0, 6400, 2, 0),
            (growing.min_size(2000), 640, 1280, 2, 2048),
            (growing, 6400, 640, 2, 6400),
            (over_time, 0, 640, 100, 0),
            (over_time.cycles_before_init(3), 0, 640, 2, 0),
            (over_time.cycles_before_init(3), 0, 640, 3, 640),
            (strict.learning(LearningPolicy::None), 0, 640, 1, 0),
            (strict, 0, 0, 1, 0),
        ];
        let failures: Vec<_> = cases
            .into_iter()
            .map(|(config, size, max, cycles, expected)| {
                (expected, config.size_after_close(size, max, cycles))
            })
            .enumerate()
            .filter(|(_, (expected, found))| expected != found)
            .collect();
        assert_eq!(failures, []);
    }
}
