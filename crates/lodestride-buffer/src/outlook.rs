//! [`WorkspacePlan`]: what size a workspace has and will have, and why.
//! The formula is `formula.rs`, the policies are `plan.rs`.

use std::fmt;

use crate::formula::{SizeTerm, SizeTerms};
use crate::plan::{LearningPolicy, WorkspaceConfig};
use crate::workspace::{Workspace, WorkspaceStats};

/// What a workspace has, has needed and will have: see [`Workspace::plan`]. Prints as a few lines of text.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorkspacePlan {
    /// Its size now.
    pub size: usize,
    /// The bytes of its largest cycle so far, spilled arrays included.
    pub max_cycle: usize,
    /// The size after the next opening, or, while open, after the next close as things stand.
    pub next_size: usize,
    /// The size the formula gives for the largest cycle: as the initial size of a
    /// [strict](crate::AllocationPolicy::Strict) workspace it makes learning superfluous.
    pub suggested_size: usize,
    /// The terms of the formula, for one block: of the initial size as long as that decides, else of the largest cycle.
    pub terms: SizeTerms,
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
    /// It would be smaller, but for [`WorkspaceConfig::min_size`].
    AtMinimum,
    /// It would be larger, but for [`WorkspaceConfig::max_size`]: there is no room for everything.
    AtMaximum,
    /// [`WorkspaceConfig::max_size`] leaves room for everything, but not for the whole of what is added to it.
    SpareAtMaximum,
    /// It stays, though a cycle was larger, because the spill policy is not
    /// [`SpillPolicy::Reallocate`](crate::SpillPolicy::Reallocate).
    NeverGrows,
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
            PlanReason::AtMinimum => "raised to `min_size`",
            PlanReason::AtMaximum => "bounded by `max_size`; larger cycles spill",
            PlanReason::SpareAtMaximum => "the over-allocation is cut by `max_size`",
            PlanReason::NeverGrows => {
                "never grows, and a cycle was larger: set `initial_size`, or `SpillPolicy::Reallocate`"
            }
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
        writeln!(f, "suggested size   {} bytes", self.suggested_size)?;
        let each = match self.blocks {
            1 => String::new(),
            blocks => format!("in {blocks} blocks, each "),
        };
        write!(f, "formula          {each}{}", self.terms)
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
            config.initial_block_size()
        } else {
            size
        };
        let (reason, terms) = reason(config, &stats, max_cycle, size, next);
        WorkspacePlan {
            size: stats.size,
            max_cycle,
            next_size: next.saturating_mul(blocks),
            suggested_size: config.size_for(max_cycle).saturating_mul(blocks),
            terms,
            blocks,
            reason,
        }
    }
}

/// Why the size will be `next`, and the terms it came from.
fn reason(
    config: &WorkspaceConfig,
    stats: &WorkspaceStats,
    max_cycle: usize,
    size: usize,
    next: usize,
) -> (PlanReason, SizeTerms) {
    let (initial, learned) = (config.initial_terms(), config.terms_for(max_cycle));
    let is_initial = initial.needed > 0 && next == initial.size;
    let cannot_grow = next == learned.size && learned.falls_short();
    let terms = if is_initial && !cannot_grow {
        initial
    } else {
        learned
    };
    let reason = match terms.decided_by {
        _ if terms.needed == 0 || next != terms.size => None,
        SizeTerm::Maximum if terms.falls_short() => Some(PlanReason::AtMaximum),
        SizeTerm::Maximum => Some(PlanReason::SpareAtMaximum),
        SizeTerm::Minimum => Some(PlanReason::AtMinimum),
        SizeTerm::Needed => None,
    };
    let reason = reason.unwrap_or_else(|| match (size, next) {
        (_, 1..) if next < max_cycle => PlanReason::NeverGrows,
        (_, 1..) if is_initial => PlanReason::Initial,
        (0, 1..) => PlanReason::LearnsAtClose,
        (_, 1..) if next > size => PlanReason::Grows,
        (_, 1..) => PlanReason::Learned,
        _ => why_none(config, stats),
    });
    (reason, terms)
}

/// Why there will be no block.
fn why_none(config: &WorkspaceConfig, stats: &WorkspaceStats) -> PlanReason {
    match config.learning {
        LearningPolicy::None => PlanReason::NeverLearns,
        LearningPolicy::OverTime if config.cycles_before_init == 0 => {
            PlanReason::WaitsForInitialize
        }
        LearningPolicy::OverTime => {
            PlanReason::WaitsForCycles(config.cycles_before_init.saturating_sub(stats.cycles))
        }
        LearningPolicy::FirstLoop => PlanReason::NothingAllocated,
    }
}
