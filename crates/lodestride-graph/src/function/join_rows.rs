//! Which steps of a plan become one pass over the rows of a matrix.
//!
//! A plan knows the lengths, so it sees which values are matrices of one shape, which are a number for each of their rows, and which
//! are the same for all rows. Elementwise steps on these and reductions of them are one [`RowPass`]: what only they want is never
//! written. What does not depend on the pass comes before it, what waits for a result over all rows after it.

use crate::fgraph::{FunctionGraph, NodeId, ValueId};
use crate::function::plan::{Planning, Step};
use crate::op::{Facts, OpRef};
use crate::ops::{Elemwise, Fused, FusedReduce, PassStep, PassValue, Reduce, RowPass};
use lodestride_array::{DType, Layout, Order, Shape};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Bytes not moved from which on a pass is worth it: what fits the second cache level is quick anyway.
const SAVED: usize = 1 << 20;
/// The most passes that are looked for: each look goes through all steps that are left.
const MOST: usize = 64;
/// The most steps of a pass, whose tiles are to stay in the caches.
const STEPS: usize = 128;
/// Columns of rows that are worked on one by one.
const COLUMNS: std::ops::RangeInclusive<usize> = 64..=8192;

/// Steps that are one pass.
#[derive(Debug)]
pub(crate) struct Joined {
    pub(crate) op: OpRef,
    /// The last of its nodes.
    pub(crate) node: NodeId,
    pub(crate) inputs: Vec<ValueId>,
    pub(crate) outputs: Vec<ValueId>,
}

/// The same steps, those joined that should be.
pub(super) fn join_rows(
    graph: &FunctionGraph,
    values: &[Planning],
    mut steps: Vec<Step>,
) -> Vec<Step> {
    let mut done = Vec::new();
    for _ in 0..MOST {
        let Some(shape) = largest(graph, values, &steps) else {
            break;
        };
        let mut pass = Pass::new(graph, values, shape);
        let Sorted {
            before,
            members,
            after,
        } = pass.sort(&steps);
        if members.is_empty() {
            // There may be a pass of another shape, which is not looked for: most graphs have one.
            break;
        }
        let mut wanted: HashSet<ValueId> = graph.outputs().iter().copied().collect();
        for step in &after {
            wanted.extend(read(graph, step));
        }
        done.extend(before);
        steps = match pass.finish(wanted, &members) {
            Some((joined, views)) => {
                done.push(Step::Rows(Arc::new(joined)));
                views.into_iter().chain(after).collect()
            }
            None => {
                done.extend(members);
                after
            }
        };
    }
    done.extend(steps);
    done
}

/// The inputs of a step that it reads, not only for their shapes.
fn read<'s>(graph: &'s FunctionGraph, step: &'s Step) -> impl Iterator<Item = ValueId> + 's {
    let inputs = step.inputs(graph).iter().enumerate();
    let reads =
        |(position, value): (usize, &ValueId)| step.op(graph).reads(position).then_some(*value);
    inputs.filter_map(reads)
}

/// The shape of the matrices that most bytes are in, if these are many.
fn largest(graph: &FunctionGraph, values: &[Planning], steps: &[Step]) -> Option<Shape> {
    let mut largest: Option<(usize, &Facts)> = None;
    for step in steps {
        let Step::Perform(node) = step else { continue };
        let op = graph.op(*node);
        let ids = if op.is::<Reduce>() {
            graph.node_inputs(*node)
        } else if op.is::<Fused>() || op.is::<Elemwise>() || op.is::<FusedReduce>() {
            graph.node_outputs(*node)
        } else {
            continue;
        };
        for facts in ids.iter().filter_map(|v| values[v.index()].facts.as_ref()) {
            let bytes = facts.layout.elements() * facts.dtype.size();
            if largest.is_none_or(|(most, _)| bytes > most) {
                largest = Some((bytes, facts));
            }
        }
    }
    largest
        .filter(|(bytes, _)| *bytes >= SAVED / 4)
        .map(|(_, facts)| facts.shape().clone())
}

/// Steps by their place around a pass.
struct Sorted {
    before: Vec<Step>,
    members: Vec<Step>,
    after: Vec<Step>,
}

/// A value of a pass that is being put together.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Given(ValueId, Layout),
    /// A row or a number of each row; no graph value where only a fold wants it.
    Made(Option<ValueId>, bool, DType),
    /// A result over all rows, so many elements.
    Total(ValueId, usize),
}

/// A pass that is being put together.
pub(super) struct Pass<'g> {
    pub(super) graph: &'g FunctionGraph,
    pub(super) values: &'g [Planning],
    /// The shape of the matrices.
    pub(super) shape: Shape,
    /// Rows of the last axis; else a vector that is cut.
    pub(super) by_rows: bool,
    pub(super) parts: Vec<Part>,
    /// Where the values that the pass computes are among its parts.
    pub(super) made: HashMap<ValueId, usize>,
    /// What waits for the pass.
    pub(super) late: HashSet<ValueId>,
    pub(super) steps: Vec<PassStep>,
}

impl<'g> Pass<'g> {
    fn new(graph: &'g FunctionGraph, values: &'g [Planning], shape: Shape) -> Self {
        let columns = shape.last().copied().unwrap_or(1);
        let by_rows = shape.rank() > 1 && COLUMNS.contains(&columns);
        Self {
            graph,
            values,
            shape,
            by_rows,
            parts: Vec::new(),
            made: HashMap::new(),
            late: HashSet::new(),
            steps: Vec::new(),
        }
    }

    pub(super) fn facts(&self, value: ValueId) -> Option<&'g Facts> {
        let facts = self.values[value.index()].facts.as_ref()?;
        facts.lod.is_none().then_some(facts)
    }

    fn sort(&mut self, steps: &[Step]) -> Sorted {
        let (mut before, mut members, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for step in steps {
            let inputs: SmallVec<[ValueId; 4]> = read(self.graph, step).collect();
            let waits = inputs.iter().any(|v| self.late.contains(v));
            let joins = match step {
                _ if waits || self.steps.len() >= STEPS => false,
                Step::Perform(node) => {
                    let parts = self.parts.len();
                    let joins = self.join(*node).is_some();
                    if !joins {
                        self.parts.truncate(parts);
                    }
                    joins
                }
                Step::View(node) => self.join_view(*node).is_some(),
                Step::Integers(..) | Step::Late(_) | Step::Rows(_) => false,
            };
            if joins {
                members.push(step.clone());
            } else if waits || inputs.iter().any(|v| self.made.contains_key(v)) {
                self.late.extend(step.outputs(self.graph));
                after.push(step.clone());
            } else {
                before.push(step.clone());
            }
        }
        Sorted {
            before,
            members,
            after,
        }
    }

    /// The pass, if it saves much; `wanted` are the values that others take. With the views of its results that others take.
    fn finish(
        mut self,
        mut wanted: HashSet<ValueId>,
        members: &[Step],
    ) -> Option<(Joined, Vec<Step>)> {
        let mut views = Vec::new();
        for step in members.iter().rev() {
            if let Step::View(node) = step
                && wanted.contains(&self.graph.node_outputs(*node)[0])
            {
                wanted.insert(self.graph.node_inputs(*node)[0]);
                views.insert(0, step.clone());
            }
        }
        if self.steps.len() < 2 || self.saved(&wanted) < SAVED {
            return None;
        }
        let rows = self.shape.iter().product::<usize>() / self.columns().max(1);
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let mut values = Vec::new();
        for part in std::mem::take(&mut self.parts) {
            values.push(match part {
                Part::Given(value, layout) => {
                    inputs.push(value);
                    PassValue::Given(inputs.len() - 1, layout)
                }
                Part::Made(Some(value), number, _) if wanted.contains(&value) => {
                    outputs.push(value);
                    let layout = match (number, self.by_rows) {
                        (true, _) => Layout::contiguous([rows, 1], Order::C),
                        (false, true) => Layout::contiguous([rows, self.columns()], Order::C),
                        (false, false) => {
                            Layout::contiguous([self.shape.iter().product::<usize>()], Order::C)
                        }
                    };
                    PassValue::Wanted(outputs.len() - 1, layout.ok()?)
                }
                Part::Made(_, true, dtype) => PassValue::Number(dtype),
                Part::Made(_, false, dtype) => PassValue::Row(dtype),
                Part::Total(value, count) => {
                    outputs.push(value);
                    let layout = Layout::contiguous([1, count], Order::C).ok()?;
                    PassValue::Wanted(outputs.len() - 1, layout)
                }
            });
        }
        let performed = |step: &&Step| matches!(step, Step::Perform(_));
        let performed = || members.iter().filter(performed);
        let op = RowPass {
            ops: performed()
                .map(|step| step.op(self.graph).clone())
                .collect(),
            extent: (self.shape.iter().product(), self.columns()),
            values,
            steps: self.steps,
        };
        let joined = Joined {
            op: op.into(),
            node: performed().next_back()?.node(),
            inputs,
            outputs,
        };
        Some((joined, views))
    }

    /// The bytes of rows that are not written and read again, or read once instead of several times.
    fn saved(&self, wanted: &HashSet<ValueId>) -> usize {
        let mut uses = vec![0; self.parts.len()];
        for step in &self.steps {
            match step {
                PassStep::Map { inputs, .. } => inputs.iter().for_each(|part| uses[*part] += 1),
                PassStep::Fold { from, .. } => uses[*from] += 1,
            }
        }
        let elements: usize = self.shape.iter().product();
        let ways = |(part, uses): (usize, &usize)| match &self.parts[part] {
            _ if !self.is_row(part) => 0,
            Part::Made(Some(value), ..) if wanted.contains(value) => *uses,
            // A joint reduction does not write what it reduces either.
            Part::Made(None, ..) | Part::Total(..) => 0,
            Part::Made(..) => uses + 1,
            Part::Given(..) => uses.saturating_sub(1),
        };
        let parts = uses.iter().enumerate();
        parts
            .map(|(part, uses)| ways((part, uses)) * elements * self.dtype(part).size())
            .sum()
    }
}
