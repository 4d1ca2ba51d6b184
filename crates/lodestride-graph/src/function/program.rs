//! What a function runs: an optimised graph in its order, and the forms of it for the lengths that calls have.
//!
//! A graph is compiled for lengths that are unknown, so it asks at every step whether an operand was stretched, and what asks
//! cannot be fused. A call knows. Its lengths are named (equal ones alike, 1 is 1), the graph is optimised again for those names,
//! and every later call with the same pattern of lengths uses that form, however long they are.

use crate::error::{GraphError, GraphErrorKind, Result};
use crate::feed::Feed;
use crate::fgraph::{FunctionGraph, NodeId, Source, ValueId};
use crate::function::Leaf;
use crate::function::plan::{computed_nodes, late_values, touches_elements};
use crate::op::{OpRef, SlotRef};
use crate::rewrite::{self, Mode};
use crate::ty::{Dim, Type};
use crate::value::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A graph that is ready to be planned.
pub(crate) struct Program {
    pub(crate) graph: FunctionGraph,
    pub(crate) order: Vec<NodeId>,
    /// Per node: whether its numbers are wanted, not only its shape.
    pub(crate) computed: Vec<bool>,
    /// Per value: whether its shape depends on numbers.
    pub(crate) late: Vec<bool>,
    /// Per leaf of the function: its value here, if it is needed.
    pub(crate) leaves: Vec<Option<ValueId>>,
    pub(crate) constants: Vec<(ValueId, Value)>,
    /// Whether plans may join steps that work row by row.
    pub(crate) joins_rows: bool,
}

impl Program {
    /// The program of a graph; `leaves` are the variables that the function gives values to.
    pub(crate) fn new(graph: FunctionGraph, leaves: &[Leaf], mode: Mode) -> Result<Self> {
        let order = graph.toposort()?;
        let late = late_values(&graph, &order);
        let computed = computed_nodes(&graph, &order, &late);
        let mut places = vec![None; leaves.len()];
        let mut constants = Vec::new();
        for (index, value) in graph.values.iter().enumerate() {
            let id = ValueId(index as u32);
            match &value.source {
                Source::Leaf(variable) => {
                    let at = leaves.iter().position(|leaf| leaf.id == variable.id());
                    let unknown = || GraphErrorKind::MissingInput {
                        names: std::iter::once(variable).collect(),
                    };
                    let fail = |kind| GraphError::with_spans(kind, None, vec![variable.span()]);
                    places[at.ok_or_else(unknown).map_err(fail)?] = Some(id);
                }
                Source::Constant(data, _) => constants.push((id, data.value())),
                Source::Node(..) => {}
            }
        }
        Ok(Self {
            graph,
            order,
            computed,
            late,
            leaves: places,
            constants,
            joins_rows: mode.joins_rows(),
        })
    }

    /// The ops that touch array elements, in order of execution.
    pub(crate) fn kernels(&self) -> Vec<&OpRef> {
        let runs =
            |node: &&NodeId| self.computed[node.index()] && touches_elements(self.graph.op(**node));
        let kernels = self.order.iter().filter(runs);
        kernels.map(|node| self.graph.op(*node)).collect()
    }
}

/// Patterns of lengths that a function is compiled for; calls of others run the general form.
const MAX_FORMS: usize = 8;

/// Bytes from which a value leaves the second cache level, so that it pays not to write it.
const LARGE: usize = 8 << 20;

/// The program of a function, and its forms for patterns of lengths.
pub(crate) struct Forms {
    pub(crate) general: Arc<Program>,
    mode: Mode,
    known: Mutex<Vec<Form>>,
}

struct Form {
    /// The types of the leaves, lengths named.
    pattern: Vec<Type>,
    /// Whether it is for values larger than the caches.
    large: bool,
    program: Arc<Program>,
}

impl Forms {
    pub(crate) fn new(general: Program, mode: Mode) -> Self {
        Self {
            general: Arc::new(general),
            mode,
            known: Mutex::default(),
        }
    }

    /// The form for these values of the leaves, made from the graph as written where the pattern of lengths is new.
    pub(crate) fn of(
        &self,
        written: &FunctionGraph,
        leaves: &[Leaf],
        given: &[Feed<'_>],
    ) -> Arc<Program> {
        // One kernel is as good as it gets.
        if !self.mode.optimises() || self.general.kernels().len() < 2 {
            return Arc::clone(&self.general);
        }
        let pattern = pattern(leaves, given);
        let large = given.iter().any(|leaf| bytes(leaf.by_ref()) >= LARGE);
        if !large && pattern.iter().eq(leaves.iter().map(|leaf| &leaf.ty)) {
            return Arc::clone(&self.general);
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(form) = known
            .iter()
            .find(|form| form.large == large && form.pattern == pattern)
        {
            return Arc::clone(&form.program);
        }
        if known.len() == MAX_FORMS {
            return Arc::clone(&self.general);
        }
        // Where the lengths do not fit, the general form says so in the user's words.
        let program = (self.specialise(written, leaves, (&pattern, large)))
            .unwrap_or_else(|_| Arc::clone(&self.general));
        known.push(Form {
            pattern,
            large,
            program: Arc::clone(&program),
        });
        program
    }

    fn specialise(
        &self,
        written: &FunctionGraph,
        leaves: &[Leaf],
        (pattern, large): (&[Type], bool),
    ) -> Result<Arc<Program>> {
        let mode = if large {
            self.mode.for_large()
        } else {
            self.mode
        };
        let types = leaves.iter().map(|leaf| leaf.id).zip(pattern).collect();
        let (graph, _) = rewrite::optimise(&written.with_leaf_types(&types), mode)?;
        Program::new(graph, leaves, mode).map(Arc::new)
    }
}

fn bytes(slot: SlotRef<'_>) -> usize {
    slot.data.len() * slot.data.dtype().size()
}

/// The types of the leaves with a name for every length that their types leave open: the same name for the same length.
fn pattern(leaves: &[Leaf], given: &[Feed<'_>]) -> Vec<Type> {
    let mut names: HashMap<usize, Dim> = HashMap::from([(1, Dim::Known(1))]);
    for dim in leaves.iter().flat_map(|leaf| leaf.ty.dims()) {
        if let Some(length) = dim.known() {
            names.insert(length, Dim::Known(length));
        }
    }
    let mut named = |length: usize| {
        let known = names.len();
        let name = || Dim::symbol(&format!("n{known}"));
        names.entry(length).or_insert_with(name).clone()
    };
    let mut named_type = |(leaf, slot): (&Leaf, SlotRef<'_>)| {
        let rows = usize::from(leaf.ty.is_lod());
        let lengths = slot.data.shape().iter().copied();
        let unknown = std::iter::repeat_n(Dim::Unknown, rows);
        let dims: Vec<Dim> = unknown.chain(lengths.skip(rows).map(&mut named)).collect();
        leaf.ty.with_dims(dims)
    };
    let given = given.iter().map(Feed::by_ref);
    leaves.iter().zip(given).map(&mut named_type).collect()
}
