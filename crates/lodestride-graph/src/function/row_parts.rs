//! What a pass over rows takes in: which steps are of the rows, and what their operands are to them.

use crate::fgraph::{NodeId, ValueId};
use crate::function::join_rows::{Part, Pass};
use crate::ops::{Elemwise, Fused, FusedReduce, FusedStep, PassStep, Reduce};
use lodestride_array::kernels::RowFold;
use lodestride_array::{DType, Layout, Order, Shape};
use smallvec::SmallVec;

/// Elements of the rows that a vector is cut into.
const CUT: usize = 4096;

impl Pass<'_> {
    /// Takes a step in, if it is one of the rows.
    pub(super) fn join(&mut self, node: NodeId) -> Option<()> {
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
        let of_numbers = || self.graph.node_inputs(node).iter().any(knows);
        if !(is_row || self.is_per_row(&shape) && of_numbers()) {
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
        let suits = RowFold::suits(reduce.op, dtype) && self.dtype(from) == dtype;
        if !suits || !self.is_row(from) {
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
    pub(super) fn join_view(&mut self, node: NodeId) -> Option<()> {
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
        let in_order = || {
            let (mine, its) = (Rows::of(&facts.layout, 1), Rows::of(&root.layout, 0));
            mine.is_some() && mine == its && facts.layout.offset() == root.layout.offset()
        };
        if !(same || stretched() && in_order()) {
            return None;
        }
        self.made.insert(output, part);
        Some(())
    }

    pub(super) fn columns(&self) -> usize {
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

    pub(super) fn dtype(&self, part: usize) -> DType {
        match &self.parts[part] {
            Part::Made(_, _, dtype) => *dtype,
            Part::Given(value, _) | Part::Total(value, _) => self.graph.ty(*value).dtype(),
        }
    }

    /// Whether a part is a row of elements for each row.
    pub(super) fn is_row(&self, part: usize) -> bool {
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
}

/// Axes as one: how many places, and how far apart.
#[derive(PartialEq, Eq)]
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
