//! [`WorkspacePlan`]: what size a workspace has and will have, and why.
//! The formula and the policies are `plan.rs`.

use std::fmt;

use crate::plan::{LearningPolicy, WorkspaceConfig};
use crate::workspace::{Workspace, WorkspaceStats};

/// What a workspace has, has needed and will have: see [`Workspace::plan`]. Prints as a few lines of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkspacePlan {
    /// Its size now.
    pub size: usize,
    /// The bytes of its largest cycle so far, spilled arrays included.
    pub max_cycle: usize,
    /// The size after the next opening, or, while open, after the next close as things stand.
    pub next_size: usize,
    /// The size the formula gives for the largest cycle: the exact initial size to configure to avoid learning.
    pub suggested_size: usize,
    /// Among how many blocks the sizes are divided: more than one in a circular workspace.
    pub blocks: usize,
    /// Why the next size is what it is.
    pub reason: PlanReason,
}

/// Why a workspace will have the size it will have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanReason {
    /// It is the configured initial size, or that of a mapped file.
    Initial,
    /// It was learned and stays.
    Learned,
    /// It is learned at the close, from the largest cycle.
    LearnsAtClose,
    /// It grows at the close, because a cycle was larger and the spill policy is
    /// [`SpillPolicy::Reallocate`](crate::SpillPolicy::Reallocate).
    Grows,
    /// It would be larger, but for [`WorkspaceConfig::max_size`].
    AtMaximum,
    /// Nothing was allocated yet, so there is nothing to learn from.
    NothingAllocated,
    /// It is learned after so many more closes.
    WaitsForCycles(u64),
    /// It is learned when [`Workspace::initialize`] is called.
    WaitsForInitialize,
    /// It is never learned and there is no initial size: every array is spilled.
    NeverLearns,
}

impl fmt::Display for PlanReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PlanReason::Initial => "the configured initial size",
            PlanReason::Learned => "learned from an earlier cycle",
            PlanReason::LearnsAtClose => "learned at the close, from the largest cycle",
            PlanReason::Grows => "grows at the close to hold the largest cycle",
            PlanReason::AtMaximum => "bounded by `max_size`; larger cycles spill",
            PlanReason::NothingAllocated => "nothing allocated yet to learn from",
            PlanReason::WaitsForInitialize => "waits for `initialize()`",
            PlanReason::NeverLearns => {
                "no initial size and learning is off: every array spills; set `initial_size`"
            }
            PlanReason::WaitsForCycles(left) => {
                return write!(f, "waits for {left} more closes before it learns");
            }
        })
    }
}

impl fmt::Display for WorkspacePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "size now         {} bytes", self.size)?;
        writeln!(f, "largest cycle    {} bytes", self.max_cycle)?;
        writeln!(
            f,
            "size next        {} bytes: {}",
            self.next_size, self.reason
        )?;
        write!(f, "suggested size   {} bytes", self.suggested_size)?;
        if self.blocks > 1 {
            write!(f, "\nin {} blocks", self.blocks)?;
        }
        Ok(())
    }
}

impl Workspace {
    /// What the workspace has, has needed and will have, and why; sizes come from one formula,
    /// [`WorkspaceConfig::size_for`].
    ///
    /// ```
    /// use lodestride_buffer::{Buffer, PlanReason, Workspace};
    /// let workspace = Workspace::new("LOOP");
    /// workspace.scope(|workspace| {
    ///     let _array = Buffer::zeroed(6400);
    ///     let plan = workspace.plan();
    ///     assert_eq!((plan.next_size, plan.reason), (8320, PlanReason::LearnsAtClose));
    ///     println!("{plan}");
    /// })?;
    /// assert_eq!(workspace.stats().size, 8320, "30 % more than was needed");
    /// # Ok::<(), lodestride_buffer::WorkspaceError>(())
    /// ```
    pub fn plan(&self) -> WorkspacePlan {
        let (stats, config) = (self.stats(), self.config());
        let blocks = config.parts();
        let max_cycle = stats.max_cycle.max(stats.this_cycle);
        let size = stats.size / blocks;
        let next = if stats.open {
            config.size_after_close(size, max_cycle, stats.cycles + 1)
        } else if size == 0 {
            config.first_size()
        } else {
            size
        };
        WorkspacePlan {
            size: stats.size,
            max_cycle,
            next_size: next.saturating_mul(blocks),
            suggested_size: config.size_for(max_cycle).saturating_mul(blocks),
            blocks,
            reason: reason(config, &stats, max_cycle, size, next),
        }
    }
}

fn reason(
    config: &WorkspaceConfig,
    stats: &WorkspaceStats,
    max_cycle: usize,
    size: usize,
    next: usize,
) -> PlanReason {
    let bounded = config.max_size > 0 && next > 0 && next < max_cycle;
    match (size, next) {
        (_, next) if bounded && next == config.size_for(max_cycle) => PlanReason::AtMaximum,
        (0, 1..) if config.initial_size > 0 => PlanReason::Initial,
        (0, 1..) => PlanReason::LearnsAtClose,
        (_, next) if next > size => PlanReason::Grows,
        (1.., _) if size == config.first_size() => PlanReason::Initial,
        (1.., _) => PlanReason::Learned,
        _ => match config.learning {
            LearningPolicy::None => PlanReason::NeverLearns,
            LearningPolicy::OverTime if config.cycles_before_init == 0 => {
                PlanReason::WaitsForInitialize
            }
            LearningPolicy::OverTime => {
                PlanReason::WaitsForCycles(config.cycles_before_init.saturating_sub(stats.cycles))
            }
            LearningPolicy::FirstLoop => PlanReason::NothingAllocated,
        },
    }
}
