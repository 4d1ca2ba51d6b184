//! Which steps of a plan become one pass over the rows of a matrix.
//!
//! A plan knows the lengths, so it sees which values are matrices of one shape, which are a number for each of their rows, and which
//! are the same for all rows. Elementwise steps on these and reductions of them are one [`RowPass`]: what only they want is never
//! written. What does not depend on the pass comes before it, what waits for a result over all rows after it.

use crate::fgraph::{FunctionGraph, NodeId, ValueId};
use crate::function::plan::{Planning, Step};
use crate::op::{Facts, OpRef};
use crate::ops::{Elemwise, Fused, FusedReduce, FusedStep, PassStep, PassValue, Reduce, RowPass};
use lodestride_array::kernels::{ReduceOp, RowFold};
use lodestride_array::{DType, Layout, Order, Shape};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Bytes not moved from which on a pass is worth it: what fits the second cache level is quick anyway.
const SAVED: usize = 1 << 20;
/// Columns of rows that are worked on one by one.
const COLUMNS: std::ops::RangeInclusive<usize> = 64..=8192;
/// Elements of the rows that a vector is cut into.
const CUT: usize = 4096;

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
    let mut wanted: HashSet<ValueId> = graph.outputs().iter().copied().collect();
    while let Some(shape) = largest(graph, values, &steps) {
        let mut pass = Pass::new(graph, values, shape);
        let Sorted {
            before,
            after,
            aliases,
        } = pass.sort(&steps);
        for step in &after {
            wanted.extend(read(graph, step));
        }
        let Some((joined, views)) = pass.finish(&wanted, aliases) else {
            // Without a pass of this shape there may be one of another, which is not looked for: most graphs have one.
            break;
        };
        done.extend(before);
        done.push(Step::Rows(Arc::new(joined)));
        steps = views.into_iter().chain(after).collect();
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
    after: Vec<Step>,
    /// Nodes that look at numbers of the pass in another way.
    aliases: Vec<NodeId>,
}

/// A value of a pass that is being put together.
#[derive(Clone, Debug)]
enum Part {
    Given(ValueId, Layout),
    /// A row or a number of each row; no graph value where only a fold wants it.
    Made(Option<ValueId>, bool, DType),
    /// A result over all rows, so many elements.
    Total(ValueId, usize),
}

/// A pass that is being put together.
struct Pass<'g> {
    graph: &'g FunctionGraph,
    values: &'g [Planning],
    /// The shape of the matrices.
    shape: Shape,
    /// Rows of the last axis; else a vector that is cut.
    by_rows: bool,
    parts: Vec<Part>,
    /// Where the values that the pass computes are among its parts.
    made: HashMap<ValueId, usize>,
    /// What waits for the pass.
    late: HashSet<ValueId>,
    nodes: Vec<NodeId>,
    steps: Vec<PassStep>,
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
            nodes: Vec::new(),
            steps: Vec::new(),
        }
    }

    fn facts(&self, value: ValueId) -> Option<&'g Facts> {
        let facts = self.values[value.index()].facts.as_ref()?;
        facts.lod.is_none().then_some(facts)
    }

    fn sort(&mut self, steps: &[Step]) -> Sorted {
        let (mut before, mut after, mut aliases) = (Vec::new(), Vec::new(), Vec::new());
        for step in steps {
            let inputs: SmallVec<[ValueId; 4]> = read(self.graph, step).collect();
            let waits = inputs.iter().any(|v| self.late.contains(v));
            let joins = match step {
                _ if waits => false,
                Step::Perform(node) => {
                    let parts = self.parts.len();
                    let joins = self.join(*node).is_some();
                    if joins {
                        self.nodes.push(*node);
                    } else {
                        self.parts.truncate(parts);
                    }
                    joins
                }
                Step::View(node) => {
                    let joins = self.join_view(*node).is_some();
                    if joins {
                        aliases.push(*node);
                    }
                    joins
                }
                Step::Integers(..) | Step::Late(_) | Step::Rows(_) => false,
            };
            if joins {
                continue;
            }
            if waits || inputs.iter().any(|v| self.made.contains_key(v)) {
                self.late.extend(step.outputs(self.graph));
                after.push(step.clone());
            } else {
                before.push(step.clone());
            }
        }
        Sorted {
            before,
            after,
            aliases,
        }
    }

    /// Takes a step in, if it is one of the rows.
    fn join(&mut self, node: NodeId) -> Option<()> {
        let op = self.graph.op(node);
        if let Some(reduce) = op.downcast_ref::<Reduce>() {
            let x = self.graph.node_inputs(node)[0];
            let from = self.operand(x, &self.facts(x)?.shape().clone())?;
            return self.fold(reduce, from, node);
        }
        if let Some(joint) = op.downcast_ref::<FusedReduce>() {
            let shape = self.shape.clone();
            let inputs = self.operands(node, joint.map(), &shape)?;
            let dtype = joint.map().program().output_dtype(0)?;
            let value = self.add(Part::Made(None, false, dtype));
            let folded = self.steps.len();
            self.fold(joint.reduction(), value, node)?;
            let map = PassStep::Map {
                op: Box::new(joint.map().clone()),
                inputs,
                outputs: vec![value],
            };
            self.steps.insert(folded, map);
            return Some(());
        }
        let fused = match op.downcast_ref::<Elemwise>() {
            Some(single) => self.alone(*single, node)?,
            None => op.downcast_ref::<Fused>()?.clone(),
        };
        self.map(fused, node)
    }

    /// A single op as a program.
    fn alone(&self, op: Elemwise, node: NodeId) -> Option<Fused> {
        let mut steps = Vec::new();
        for (number, input) in self.graph.node_inputs(node).iter().enumerate() {
            steps.push(FusedStep::Load(number, self.facts(*input)?.dtype));
        }
        let count = steps.len();
        steps.push(FusedStep::Apply(op, (0..count).collect()));
        Fused::new(steps, SmallVec::from_slice(&[count]))
    }

    /// Takes in a program on rows, or on numbers that the pass computes.
    fn map(&mut self, op: Fused, node: NodeId) -> Option<()> {
        let outputs = self.graph.node_outputs(node);
        let shape = self.facts(*outputs.first()?)?.shape().clone();
        let is_row = shape == self.shape;
        let knows = |v: &ValueId| self.made.contains_key(v);
        if !is_row && !(self.is_per_row(&shape) && self.graph.node_inputs(node).iter().any(knows)) {
            return None;
        }
        let inputs = self.operands(node, &op, &shape)?;
        let mut results = Vec::new();
        for (index, output) in outputs.iter().enumerate() {
            let facts = self.facts(*output)?;
            if facts.dtype != op.program().output_dtype(index)? {
                return None;
            }
            let part = self.add(Part::Made(Some(*output), !is_row, facts.dtype));
            results.push(part);
        }
        for (output, part) in outputs.iter().zip(&results) {
            self.made.insert(*output, *part);
        }
        self.steps.push(PassStep::Map {
            op: Box::new(op),
            inputs,
            outputs: results,
        });
        Some(())
    }

    /// Takes in a reduction of a value of the pass.
    fn fold(&mut self, reduce: &Reduce, from: usize, node: NodeId) -> Option<()> {
        let result = self.graph.node_outputs(node)[0];
        let (rank, dtype) = (self.shape.rank(), self.facts(result)?.dtype);
        let whole = matches!(dtype, DType::F32 | DType::F64) && self.dtype(from) == dtype;
        let counts = matches!(
            reduce.op,
            ReduceOp::Any | ReduceOp::All | ReduceOp::CountNonZero
        );
        if !whole || counts || !self.is_row(from) {
            return None;
        }
        let over = match reduce.axes.as_slice() {
            [axis] if self.by_rows && axis + 1 == rank => RowFold::Along,
            axes if axes.len() == rank => RowFold::All,
            axes if self.by_rows && axes.iter().copied().eq(0..rank - 1) => RowFold::Across,
            _ => return None,
        };
        let to = match over {
            RowFold::Along => self.add(Part::Made(Some(result), true, dtype)),
            RowFold::Across => self.add(Part::Total(result, self.columns())),
            RowFold::All => self.add(Part::Total(result, 1)),
        };
        if over == RowFold::Along {
            self.made.insert(result, to);
        } else {
            self.late.insert(result);
        }
        let op = reduce.op;
        self.steps.push(PassStep::Fold { op, over, from, to });
        Some(())
    }

    /// Takes in another look at numbers of the pass: with or without axes of length 1, or stretched to the matrices.
    fn join_view(&mut self, node: NodeId) -> Option<()> {
        let part = *self.made.get(&self.graph.node_inputs(node)[0])?;
        let output = self.graph.node_outputs(node)[0];
        let facts = self.facts(output)?;
        let stretched = || {
            let last = facts.layout.strides().as_slice().last().copied();
            facts.shape() == &self.shape && last == Some(0)
        };
        let root = match self.parts[part] {
            Part::Made(Some(root), true, _) => self.facts(root)?,
            _ => return None,
        };
        let same = facts.layout.elements() == root.layout.elements()
            && facts.layout.is_contiguous(Order::C)
            && self.is_per_row(facts.shape());
        let rows = || {
            let (mine, its) = (Rows::of(&facts.layout, 1), Rows::of(&root.layout, 0));
            mine.is_some() && its.is_some()
        };
        if !same && !(stretched() && rows()) {
            return None;
        }
        self.made.insert(output, part);
        Some(())
    }

    fn columns(&self) -> usize {
        if self.by_rows {
            self.shape.last().copied().unwrap_or(1)
        } else {
            CUT
        }
    }

    /// Whether a shape is that of one number per row.
    fn is_per_row(&self, shape: &Shape) -> bool {
        let rows = &self.shape[..self.shape.rank().saturating_sub(1)];
        let with_one = shape
            .split_last()
            .is_some_and(|(last, rest)| *last == 1 && rest == rows);
        self.by_rows && (with_one || shape.as_slice() == rows)
    }

    fn add(&mut self, part: Part) -> usize {
        self.parts.push(part);
        self.parts.len() - 1
    }

    fn dtype(&self, part: usize) -> DType {
        match &self.parts[part] {
            Part::Made(_, _, dtype) => *dtype,
            Part::Given(value, _) | Part::Total(value, _) => self.graph.ty(*value).dtype(),
        }
    }

    /// Whether a part is a row of elements for each row.
    fn is_row(&self, part: usize) -> bool {
        match &self.parts[part] {
            Part::Made(_, number, _) => !number,
            Part::Given(_, layout) => {
                let whole = if self.by_rows { 2 } else { 1 };
                layout.elements() == self.shape.iter().product::<usize>() && layout.rank() == whole
            }
            Part::Total(..) => false,
        }
    }

    /// The operands of a program whose result has a shape.
    fn operands(&mut self, node: NodeId, op: &Fused, shape: &Shape) -> Option<Vec<usize>> {
        let inputs = self.graph.node_inputs(node);
        let mut operands = Vec::with_capacity(inputs.len());
        for (index, input) in inputs.iter().enumerate() {
            let operand = self.operand(*input, shape)?;
            if self.dtype(operand) != op.program().input_dtype(index)? {
                return None;
            }
            operands.push(operand);
        }
        Some(operands)
    }

    /// A value as an operand of a step whose result has a shape.
    fn operand(&mut self, value: ValueId, shape: &Shape) -> Option<usize> {
        let facts = self.facts(value)?;
        if let Some(part) = self.made.get(&value) {
            // Numbers of rows are stretched along rows only.
            let with_one = facts.shape().last() == Some(&1) && self.is_per_row(facts.shape());
            let fits = facts.shape() == shape || (shape == &self.shape && with_one);
            return fits.then_some(*part);
        }
        if self.late.contains(&value) {
            return None;
        }
        let layout = self.laid_out(&facts.layout, shape)?;
        let known = |part: &Part| matches!(part, Part::Given(v, l) if *v == value && *l == layout);
        let known = self.parts.iter().position(known);
        Some(known.unwrap_or_else(|| self.add(Part::Given(value, layout))))
    }

    /// A layout stretched to a shape, as rows and columns, or as a vector.
    fn laid_out(&self, layout: &Layout, shape: &Shape) -> Option<Layout> {
        let offset = layout.offset();
        let line = |size: usize, stride: isize| Layout::new([size], [stride], offset).ok();
        if !self.by_rows {
            if layout.elements() == 1 {
                return line(1, 1);
            }
            let whole = shape == &self.shape && layout.shape() == shape;
            return (whole && layout.is_contiguous(Order::C))
                .then(|| line(layout.elements(), 1))?;
        }
        let stretched = layout.broadcast_to(shape).ok()?;
        let columns = self.columns();
        let of_rows = shape == &self.shape;
        if !of_rows && !self.is_per_row(shape) {
            return None;
        }
        let numbers_end =
            usize::from(of_rows || shape.last() == Some(&1) && shape.rank() == self.shape.rank());
        let rows = Rows::of(&stretched, numbers_end)?;
        if rows.step < 0 {
            return None;
        }
        let (columns, inner) = match stretched.strides().as_slice().last() {
            Some(0) if of_rows => (1, 1),
            Some(1) if of_rows => (columns, 1),
            _ if of_rows => return None,
            _ => (1, 1),
        };
        let (count, step) = if rows.step == 0 {
            (1, 1)
        } else {
            (rows.count, rows.step)
        };
        Layout::new([count, columns], [step, inner], offset).ok()
    }

    /// The pass, if it saves much; `wanted` are the values that others take. With the views of its results that others take.
    fn finish(
        mut self,
        wanted: &HashSet<ValueId>,
        aliases: Vec<NodeId>,
    ) -> Option<(Joined, Vec<Step>)> {
        let mut wanted = wanted.clone();
        let mut views = Vec::new();
        for node in aliases.iter().rev() {
            if wanted.contains(&self.graph.node_outputs(*node)[0]) {
                wanted.insert(self.graph.node_inputs(*node)[0]);
                views.insert(0, Step::View(*node));
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
        let op = RowPass {
            ops: self
                .nodes
                .iter()
                .map(|n| self.graph.op(*n).clone())
                .collect(),
            extent: (self.shape.iter().product(), self.columns()),
            values,
            steps: self.steps,
        };
        let joined = Joined {
            op: op.into(),
            node: *self.nodes.last()?,
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

/// Axes as one: how many places, and how far apart.
struct Rows {
    count: usize,
    step: isize,
}

impl Rows {
    /// All axes but the last `but`, if they are evenly spaced.
    fn of(layout: &Layout, but: usize) -> Option<Self> {
        let rank = layout.rank().checked_sub(but)?;
        let mut rows = Self { count: 1, step: 0 };
        let axes = layout.shape()[..rank]
            .iter()
            .zip(&layout.strides().as_slice()[..rank]);
        for (&size, &stride) in axes.rev() {
            if size == 1 {
                continue;
            }
            if rows.count == 1 {
                rows.step = stride;
            } else if stride != rows.step * rows.count.cast_signed() {
                return None;
            }
            rows.count *= size;
        }
        Some(rows)
    }
}
