//! Fusion: regions of elementwise ops become one register program each.
//!
//! Values of a region that are wanted outside become further outputs of the program. A region of which nothing but a reduction of
//! its result is wanted takes the reduction in: its values never reach memory.

use crate::constant::ConstantData;
use crate::error::Result;
use crate::fgraph::{FunctionGraph, NodeId, Source, Spans, ValueId, Values, merge_spans};
use crate::ops::{Elemwise, Fused, FusedReduce, FusedStep, Reduce};
use crate::rewrite::Reductions;
use crate::rewrite::regions::Regions;
use lodestride_array::{DType, Scalar};
use smallvec::SmallVec;
use std::collections::HashMap;

/// The same graph with its elementwise regions fused, and with them these reductions of what they compute.
pub(super) fn fuse(graph: &FunctionGraph, reductions: Reductions) -> Result<FunctionGraph> {
    let order = graph.toposort()?;
    let mut builder = Fusing {
        old: graph,
        new: FunctionGraph::default(),
        map: vec![None; graph.values.len()],
        regions: Regions::find(graph, &order),
        reduced: HashMap::new(),
        done: vec![false; graph.nodes.len()],
    };
    for input in graph.inputs() {
        let copied = builder.value(*input);
        builder.new.inputs.push(copied);
    }
    for node in &order {
        builder.take_region(*node, reductions);
    }
    // A region is computed where its last node stands, or where a value of it is first wanted.
    for node in &order {
        match builder.regions.home(*node) {
            None => builder.emit(*node)?,
            Some(region) if builder.regions.members(region).last() == Some(node) => {
                builder.emit(region)?;
            }
            Some(_) => {}
        }
    }
    let outputs: Vec<ValueId> = graph.outputs().iter().map(|v| builder.value(*v)).collect();
    builder.new.set_outputs(&outputs);
    Ok(builder.new)
}

/// An elementwise region as one op.
struct Region {
    op: Fused,
    inputs: Values,
    /// The values outside that it computes.
    results: Values,
    spans: Spans,
}

struct Fusing<'g> {
    old: &'g FunctionGraph,
    new: FunctionGraph,
    map: Vec<Option<ValueId>>,
    regions: Regions<'g>,
    /// Reductions that take the region in that they reduce.
    reduced: HashMap<NodeId, NodeId>,
    /// Per region and per node of none, whether it is there.
    done: Vec<bool>,
}

impl Fusing<'_> {
    /// Lets a reduction take in the region that computes what it reduces, if nobody else wants anything of it.
    fn take_region(&mut self, reduction: NodeId, which: Reductions) {
        let Some(reduce) = self.old.op(reduction).downcast_ref::<Reduce>() else {
            return;
        };
        let operand = self.old.node_inputs(reduction)[0];
        let innermost = reduce
            .axes
            .iter()
            .any(|axis| axis + 1 == self.old.ty(operand).rank());
        if which == Reductions::Apart || which == Reductions::Innermost && !innermost {
            return;
        }
        let maker = self
            .old
            .owner(operand)
            .and_then(|(maker, _)| self.regions.home(maker));
        let alone = |region: &NodeId| {
            self.stored(*region)[..] == [operand] && self.old.clients(operand).len() == 1
        };
        if let Some(region) = maker.filter(alone) {
            self.reduced.insert(reduction, region);
            self.done[region.index()] = true;
        }
    }

    /// The values of a region that are wanted outside.
    fn stored(&self, region: NodeId) -> Values {
        let mut stored = Values::new();
        for node in self.regions.members(region) {
            if self.regions.home(*node) == Some(region) && self.regions.is_stored(*node) {
                stored.push(self.old.node_outputs(*node)[0]);
            }
        }
        stored
    }

    /// Makes a region, or a node of none, after what it needs.
    fn emit(&mut self, unit: NodeId) -> Result<()> {
        let mut pending = vec![unit];
        while let Some(&unit) = pending.last() {
            if self.done[unit.index()] {
                pending.pop();
                continue;
            }
            let before = pending.len();
            let region =
                (self.reduced.get(&unit).copied()).or(self.regions.home(unit).map(|_| unit));
            for input in self.needs(unit, region) {
                if let Some((maker, _)) = self.old.owner(input) {
                    let maker = self.regions.home(maker).unwrap_or(maker);
                    if !self.done[maker.index()] {
                        pending.push(maker);
                    }
                }
            }
            if pending.len() > before {
                continue;
            }
            pending.pop();
            self.done[unit.index()] = true;
            match region {
                Some(region) if region == unit => self.region(region)?,
                Some(region) => self.reduction(region, unit)?,
                None => self.copy(unit)?,
            }
        }
        Ok(())
    }

    /// What a region or node takes from outside.
    fn needs(&self, node: NodeId, region: Option<NodeId>) -> Values {
        let alone = [node];
        let members = region.map_or(&alone[..], |region| self.regions.members(region));
        let inside = |v: &ValueId| (self.old.owner(*v)).is_some_and(|(n, _)| members.contains(&n));
        let inputs = members.iter().flat_map(|node| self.old.node_inputs(*node));
        inputs.filter(|v| !inside(v)).copied().collect()
    }

    fn value(&mut self, value: ValueId) -> ValueId {
        if let Some(known) = self.map[value.index()] {
            return known;
        }
        let copied = self.new.copy_leaf(self.old, value);
        self.map[value.index()] = Some(copied);
        copied
    }

    fn copy(&mut self, node: NodeId) -> Result<()> {
        let data = &self.old.nodes[node.index()];
        let inputs: Values = data.inputs.iter().map(|v| self.value(*v)).collect();
        let types = data
            .outputs
            .iter()
            .map(|v| self.old.ty(*v).clone())
            .collect();
        let outputs = self.new.intern(data.op.clone(), inputs, types, &data.spans);
        for (from, to) in data.outputs.iter().zip(outputs) {
            self.set(*from, to);
        }
        Ok(())
    }

    fn set(&mut self, from: ValueId, to: ValueId) {
        self.map[from.index()] = Some(to);
        let name = self.old.values[from.index()].name.clone();
        let slot = &mut self.new.values[to.index()].name;
        if slot.is_none() {
            *slot = name;
        }
    }

    /// Replaces a region by a program, if it has more than one op and a kernel for each.
    fn region(&mut self, region: NodeId) -> Result<()> {
        let nodes = self.regions.members(region).to_vec();
        let joined = if nodes.len() > 1 {
            self.fused(region)
        } else {
            None
        };
        let Some(region) = joined else {
            return nodes.iter().try_for_each(|node| self.copy(*node));
        };
        let old = self.old;
        let types = region.results.iter().map(|v| old.ty(*v).clone()).collect();
        let made = (self.new).intern(region.op.into(), region.inputs, types, &region.spans);
        for (from, to) in region.results.iter().zip(made) {
            self.set(*from, to);
        }
        Ok(())
    }

    /// Replaces a region and the reduction of its only result by one op.
    fn reduction(&mut self, region: NodeId, node: NodeId) -> Result<()> {
        let old = self.old;
        let reduce = old.op(node).downcast_ref::<Reduce>().cloned();
        let mut joined = None;
        if let (Some(mut made), Some(reduce)) = (self.fused(region), reduce) {
            merge_spans(&mut made.spans, &old.nodes[node.index()].spans);
            let op = FusedReduce::new(made.op, reduce);
            joined = op.map(|op| (op, made.inputs, made.spans));
        }
        let Some((op, inputs, spans)) = joined else {
            self.region(region)?;
            return self.copy(node);
        };
        let result = old.node_outputs(node)[0];
        let types = std::iter::once(old.ty(result).clone()).collect();
        for made in self.new.intern(op.into(), inputs, types, &spans) {
            self.set(result, made);
        }
        Ok(())
    }

    /// A region as one op; `None` when a kernel for one of its ops is missing.
    fn fused(&mut self, region: NodeId) -> Option<Region> {
        let nodes = self.regions.members(region).to_vec();
        let mut steps = Vec::new();
        let mut inputs = Values::new();
        let mut at: HashMap<ValueId, usize> = HashMap::new();
        let mut spans = Spans::new();
        for node in &nodes {
            let data = &self.old.nodes[node.index()];
            let op = *data.op.downcast_ref::<Elemwise>()?;
            let mut operands = SmallVec::new();
            for input in &data.inputs {
                let known = at.get(input).copied();
                let step = match known {
                    Some(step) => step,
                    None => {
                        steps.push(self.source(*input, &mut inputs));
                        at.insert(*input, steps.len() - 1);
                        steps.len() - 1
                    }
                };
                operands.push(step);
            }
            steps.push(FusedStep::Apply(op, operands));
            at.insert(data.outputs[0], steps.len() - 1);
            merge_spans(&mut spans, &data.spans);
        }
        let results = self.stored(region);
        let outputs: SmallVec<[usize; 2]> = results.iter().map(|v| at[v]).collect();
        let op = Fused::new(steps, outputs).filter(|_| !inputs.is_empty())?;
        Some(Region {
            op,
            inputs,
            results,
            spans,
        })
    }

    /// What a region takes from outside: a number becomes part of the program, anything else an input.
    fn source(&mut self, value: ValueId, inputs: &mut Values) -> FusedStep {
        let dtype = self.old.ty(value).dtype();
        if let Some(bits) = number(self.old, value, dtype) {
            return FusedStep::Constant(bits, dtype);
        }
        let given = self.value(value);
        inputs.push(given);
        FusedStep::Load(inputs.len() - 1, dtype)
    }
}

/// The bits of a constant of rank 0 that a program can hold.
fn number(graph: &FunctionGraph, value: ValueId, dtype: DType) -> Option<u64> {
    let Source::Constant(ConstantData::Typed(constant), _) = &graph.values[value.index()].source
    else {
        return None;
    };
    Some(match constant.scalar()? {
        Scalar::Float(x) => x.to_bits(),
        Scalar::Bool(b) => u64::from(b),
        Scalar::Int(i) if dtype.is_signed() => i.cast_unsigned(),
        Scalar::Int(i) => u64::try_from(i).ok()?,
        Scalar::UInt(u) => u,
    })
}
