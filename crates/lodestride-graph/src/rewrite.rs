//! Rewriting: local rules, indexed by the op at their root, each with a name and a soundness class.
//! A pass rebuilds the graph bottom-up through the rules, so its cost is linear in the nodes and no rule sees a half-done
//! graph. The rules are in the files below, one per subject.

mod algebra;
mod constant;
mod engine;
mod factors;
mod fuse;
mod lower;
mod moves;
mod reductions;
mod regions;
mod shapes;
mod stabilise;

pub use engine::{Applied, Soundness};

use crate::error::Result;
use crate::fgraph::FunctionGraph;
use engine::RuleSet;
use lodestride_array::DType;
use std::sync::LazyLock;

/// What the compiler may do.
///
/// ```
/// use lodestride_graph::{Mode, Soundness};
/// assert!(Mode::default().allows(Soundness::Finite));
/// assert!(!Mode::strict().allows(Soundness::Finite));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    soundness: Soundness,
    optimise: bool,
    fuse: bool,
    reductions: Reductions,
}

/// Which reductions take in the region that computes what they reduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reductions {
    /// None.
    Apart,
    /// Those along the innermost axis, whose lines come as they lie in memory.
    Innermost,
    /// All.
    Fused,
}

impl Default for Mode {
    /// Every rule, fusion and in-place work.
    fn default() -> Self {
        Self {
            soundness: Soundness::Reassociating,
            optimise: true,
            fuse: true,
            reductions: Reductions::Apart,
        }
    }
}

impl Mode {
    /// Only rules that give the same bits for every input, infinities and NaN included.
    pub fn strict() -> Self {
        Self {
            soundness: Soundness::Exact,
            ..Self::default()
        }
    }

    /// No rules: the graph as written, for debugging.
    pub fn unoptimised() -> Self {
        Self {
            soundness: Soundness::Exact,
            optimise: false,
            fuse: false,
            reductions: Reductions::Apart,
        }
    }

    /// Whether steps that work row by row are joined in one pass, which adds in another order.
    pub(crate) fn joins_rows(self) -> bool {
        self.fuse && self.soundness == Soundness::Reassociating
    }

    /// Without joining elementwise ops into one kernel, or what works row by row into one pass.
    #[must_use]
    pub fn without_fusion(mut self) -> Self {
        self.fuse = false;
        self
    }

    /// With reductions as a part of the kernel that computes what they reduce, so that it never reaches memory.
    ///
    /// Along the innermost axis, calls with values larger than the caches do so in any mode but [`strict`](Mode::strict); for small
    /// values, and across, setting up the joint kernel costs more than it saves. The order of additions may change, so it has no
    /// effect on strict functions.
    #[must_use]
    pub fn with_fused_reductions(mut self) -> Self {
        self.reductions = Reductions::Fused;
        self
    }

    /// The mode for calls with values larger than the caches.
    pub(crate) fn for_large(mut self) -> Self {
        if self.reductions == Reductions::Apart && self.allows(Soundness::Reassociating) {
            self.reductions = Reductions::Innermost;
        }
        self
    }

    /// Whether rules of this class apply.
    pub fn allows(&self, class: Soundness) -> bool {
        class <= self.soundness
    }

    pub(crate) fn optimises(self) -> bool {
        self.optimise
    }

    pub(crate) fn fuses(self) -> bool {
        self.fuse
    }
}

/// Whether a float is computed in its own precision, not between roundings to a half.
fn is_wide_float(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}

/// Rules that bring a graph into the form that is safe to differentiate.
static STABILISING: LazyLock<RuleSet> = LazyLock::new(|| {
    RuleSet::new(&[
        algebra::RULES,
        reductions::RULES,
        shapes::RULES,
        stabilise::RULES,
    ])
});

/// Rules for the graph that will run.
static OPTIMISING: LazyLock<RuleSet> = LazyLock::new(|| {
    RuleSet::new(&[
        constant::RULES,
        algebra::RULES,
        reductions::RULES,
        shapes::RULES,
        stabilise::RULES,
        // Before sums of squares hide what is summed.
        factors::LATE_RULES,
        reductions::LATE_RULES,
        shapes::LATE_RULES,
        moves::LATE_RULES,
    ])
});

/// Rules that spell composite ops out in kernels, after which nothing is recognised any more.
static LOWERING: LazyLock<RuleSet> =
    LazyLock::new(|| RuleSet::new(&[lower::RULES, constant::RULES, shapes::RULES]));

/// The same graph in a numerically stable form, safe to differentiate.
pub(crate) fn stabilise(graph: &FunctionGraph, mode: Mode) -> Result<FunctionGraph> {
    let mut log = Vec::new();
    engine::settle(graph, &STABILISING, mode, &mut log)
}

/// The graph that will run, and the rules applied on the way.
pub(crate) fn optimise(graph: &FunctionGraph, mode: Mode) -> Result<(FunctionGraph, Vec<Applied>)> {
    let mut log = Vec::new();
    if !mode.optimises() {
        return Ok((
            engine::settle(graph, &RuleSet::default(), mode, &mut log)?,
            log,
        ));
    }
    let graph = engine::settle(graph, &OPTIMISING, mode, &mut log)?;
    let mut graph = engine::settle(&graph, &LOWERING, mode, &mut log)?;
    let reassociates = mode.allows(Soundness::Reassociating);
    if reassociates {
        reductions::share_parts(&mut graph)?;
    }
    let graph = if mode.fuses() {
        let reductions = Some(mode.reductions).filter(|_| reassociates);
        fuse::fuse(&graph, reductions.unwrap_or(Reductions::Apart))?
    } else {
        graph
    };
    Ok((graph, log))
}
