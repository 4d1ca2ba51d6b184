//! What the driver runs: values loaded from outside, steps that compute values, and where results go.
//!
//! Plans are made by `elementwise.rs` and `program.rs`; nothing here touches memory.

use crate::isa::RawKernel;
use crate::operand::Operand;
use crate::table::{BinaryKernel, TernaryKernel, UnaryKernel};
use lodestride_buffer::{Argument, DType};

/// The largest element.
pub(crate) const WIDEST: usize = 8;

/// Where a step finds an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A value loaded from outside, by its number.
    Load(usize),
    /// The result of a step, by its number.
    Step(usize),
}

/// How the elements of a run reach a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// One after the other.
    Each,
    /// The same, and the step's results are written over them.
    Over,
    /// One for the whole run.
    One,
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Unary(UnaryKernel, Source),
    Binary(BinaryKernel, Source, Source),
    /// `condition ? a : b`, or two binary operations in one loop: `second(first(a, b), c)`.
    Ternary(TernaryKernel, Source, Source, Source),
    /// To the dtype of the step's result.
    Cast(RawKernel, Source),
    /// A caller's closure on the first loads, so many; the load after them is the closure.
    Closure(RawKernel, usize),
}

impl Action {
    /// The same with other sources.
    pub(crate) fn map_sources(self, map: impl Fn(Source) -> Source) -> Action {
        match self {
            Action::Unary(kernel, a) => Action::Unary(kernel, map(a)),
            Action::Binary(kernel, a, b) => Action::Binary(kernel, map(a), map(b)),
            Action::Ternary(kernel, a, b, c) => Action::Ternary(kernel, map(a), map(b), map(c)),
            Action::Cast(kernel, a) => Action::Cast(kernel, map(a)),
            closure @ Action::Closure(..) => closure,
        }
    }

    /// Whether a kernel takes a run from memory as it is, without a tile. `reach` is nothing for what has to be moved first.
    pub(crate) fn is_one_call(&self, reach: impl Fn(Source) -> Option<Reach>) -> bool {
        use Reach::{Each, Over};

        match *self {
            Action::Unary(kernel, a) => match reach(a) {
                Some(Over) => kernel.in_place.is_some(),
                a => a == Some(Each),
            },
            Action::Cast(_, a) => reach(a) == Some(Each),
            Action::Binary(kernel, a, b) => match (reach(a), reach(b)) {
                (Some(a), Some(b)) => kernel.form(a, b).is_some(),
                _ => false,
            },
            Action::Ternary(kernel, a, b, c) => {
                let last = match reach(c) {
                    Some(Over) => kernel.in_place.is_some(),
                    c => c == Some(Each),
                };
                last && [a, b].into_iter().all(|s| reach(s) == Some(Each))
            }
            Action::Closure(..) => false,
        }
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = Source> {
        let (sources, count) = match *self {
            Action::Unary(_, a) | Action::Cast(_, a) => ([a; 4], 1),
            Action::Binary(_, a, b) => ([a, b, b, b], 2),
            Action::Ternary(_, a, b, c) => ([a, b, c, c], 3),
            Action::Closure(_, count) => ([0, 1, 2, 3].map(Source::Load), count),
        };
        sources.into_iter().take(count)
    }
}

/// One kernel call per tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    /// The dtype of the result.
    pub(crate) dtype: DType,
    /// The tile the result is kept in, unless it goes straight to an output.
    pub(crate) tile: usize,
}

/// A value that comes from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Load<'a> {
    Array(Argument, Operand<'a>),
    /// One element for all positions: its bytes, from the start of the word, and how many they are.
    Scalar(u64, usize),
    /// Something a kernel knows the type of: a caller's closure.
    Environment(*const u8),
}

/// Everything about a call but its pointers. All outputs and array loads have one shape; outputs are writable layouts.
#[derive(Debug)]
pub(crate) struct Plan<'p, 'a> {
    pub(crate) op: &'static str,
    pub(crate) loads: &'p [Load<'a>],
    pub(crate) steps: &'p [Step],
    /// The number of tiles the steps name.
    pub(crate) tiles: usize,
    /// Per output the value it gets, of its dtype.
    pub(crate) results: &'p [Source],
    /// Where the outputs are; nowhere, if their memory is not that of operands.
    pub(crate) outputs: &'p [(Argument, Operand<'a>)],
    /// Whether arithmetic rather than memory sets the pace.
    pub(crate) heavy: bool,
}
