//! Fusion: regions of elementwise ops become one register program each.
//!
//! A node joins the region of its users when all of them are in one region: such a region can be computed at one place in
//! the order, so there is never a cycle through it. Values of a region that are wanted outside as graph outputs become
//! further outputs of the program. A region of which nothing but a reduction of its result is wanted takes the reduction
//! in: its values never reach memory.

use crate::constant::ConstantData;
use crate::error::Result;
use crate::fgraph::{Client, FunctionGraph, NodeId, Source, Spans, ValueId, Values, merge_spans};
use crate::ops::{Elemwise, Fused, FusedReduce, FusedStep, Reduce};
use crate::ty::Dim;
use lodestride_array::{DType, Scalar};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// More instructions than this in one program spill its tiles out of the first cache level.
const MAX_STEPS: usize = 48;

/// The same graph with its elementwise regions fused; with `reductions` also with the reductions of what they compute.
pub(super) fn fuse(graph: &FunctionGraph, reductions: bool) -> Result<FunctionGraph> {
    let order = graph.toposort()?;
    let regions = find_regions(graph, &order);
    let mut builder = Fusing {
        old: graph,
        new: FunctionGraph::default(),
        map: vec![None; graph.values.len()],
    };
    for input in graph.inputs() {
        let copied = builder.value(*input);
        builder.new.inputs.push(copied);
    }
    let mut members: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    for node in &order {
        if let Some(root) = regions[node.index()] {
            members.entry(root).or_default().push(*node);
        }
    }
    let reduced: HashSet<NodeId> = members
        .iter()
        .filter(|(root, nodes)| reductions && feeds_reduction(graph, **root, nodes))
        .map(|(root, _)| *root)
        .collect();
    for node in &order {
        match regions[node.index()] {
            // A region is computed where its last node stands, by then all its inputs are there; or where its only user
            // stands, if that is a reduction.
            Some(root) if root == *node && !reduced.contains(node) => {
                builder.region(&members[node])?;
            }
            Some(_) => {}
            None => match operand_of(graph, *node).filter(|root| reduced.contains(root)) {
                Some(root) => builder.reduction(&members[&root], *node)?,
                None => builder.copy(*node)?,
            },
        }
    }
    let outputs: Vec<ValueId> = graph.outputs().iter().map(|v| builder.value(*v)).collect();
    builder.new.set_outputs(&outputs);
    Ok(builder.new)
}

/// For every elementwise node the last node of its region.
fn find_regions(graph: &FunctionGraph, order: &[NodeId]) -> Vec<Option<NodeId>> {
    let mut regions: Vec<Option<NodeId>> = vec![None; graph.nodes.len()];
    let mut sizes: HashMap<NodeId, usize> = HashMap::new();
    let live = graph.live_nodes();
    for node in order.iter().rev() {
        if !graph.op(*node).is::<Elemwise>() {
            continue;
        }
        let output = graph.node_outputs(*node)[0];
        let joined = common_region(graph, output, &regions, &live).filter(|root| {
            fits(graph, *node, *root) && sizes.get(root).is_none_or(|n| *n < MAX_STEPS)
        });
        let root = joined.unwrap_or(*node);
        *sizes.entry(root).or_default() += 1;
        regions[node.index()] = Some(root);
    }
    regions
}

/// The region that holds every user of a value, if there is exactly one.
fn common_region(
    graph: &FunctionGraph,
    value: ValueId,
    regions: &[Option<NodeId>],
    live: &[bool],
) -> Option<NodeId> {
    let mut common = None;
    for client in graph.clients(value) {
        if let Client::Node(user, _) = client
            && live[user.index()]
        {
            let region = regions[user.index()]?;
            if *common.get_or_insert(region) != region {
                return None;
            }
        }
    }
    common
}

/// Whether a node may be computed with the shape of a region's result.
fn fits(graph: &FunctionGraph, node: NodeId, root: NodeId) -> bool {
    let (value, result) = (graph.node_outputs(node)[0], graph.node_outputs(root)[0]);
    let (ty, target) = (graph.ty(value), graph.ty(result));
    if ty.rank() != target.rank() || ty.is_lod() != target.is_lod() {
        return false;
    }
    let is_output = graph
        .clients(value)
        .iter()
        .any(|c| matches!(c, Client::Output(_)));
    let rows = usize::from(ty.is_lod());
    let pairs = ty.dims().iter().zip(target.dims()).skip(rows);
    if is_output {
        return graph.same_shape(value, result);
    }
    // Known to be stretched later: computing it once before the stretch is cheaper.
    pairs
        .into_iter()
        .all(|(a, b)| *a != Dim::Known(1) || *b == Dim::Known(1))
}

/// Whether all that is wanted of a region, by its last node, is a reduction of its result.
fn feeds_reduction(graph: &FunctionGraph, root: NodeId, nodes: &[NodeId]) -> bool {
    let clients = |node: NodeId| graph.clients(graph.node_outputs(node)[0]);
    let inside = |client: &Client| matches!(client, Client::Node(user, _) if nodes.contains(user));
    let reduced = match clients(root) {
        [Client::Node(user, _)] => graph.op(*user).is::<Reduce>(),
        _ => false,
    };
    let hidden = |node: &NodeId| *node == root || clients(*node).iter().all(inside);
    reduced && nodes.iter().all(hidden)
}

/// The node that makes the first input of a node.
fn operand_of(graph: &FunctionGraph, node: NodeId) -> Option<NodeId> {
    let (owner, _) = graph.owner(*graph.node_inputs(node).first()?)?;
    Some(owner)
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
}

impl Fusing<'_> {
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
    fn region(&mut self, nodes: &[NodeId]) -> Result<()> {
        let joined = if nodes.len() > 1 {
            self.fused(nodes)
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
    fn reduction(&mut self, nodes: &[NodeId], node: NodeId) -> Result<()> {
        let old = self.old;
        let reduce = old.op(node).downcast_ref::<Reduce>().cloned();
        let mut joined = None;
        if let (Some(mut region), Some(reduce)) = (self.fused(nodes), reduce) {
            merge_spans(&mut region.spans, &old.nodes[node.index()].spans);
            let op = FusedReduce::new(region.op, reduce);
            joined = op.map(|op| (op, region.inputs, region.spans));
        }
        let Some((op, inputs, spans)) = joined else {
            self.region(nodes)?;
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
    fn fused(&mut self, nodes: &[NodeId]) -> Option<Region> {
        let mut steps = Vec::new();
        let mut inputs = Values::new();
        let mut at: HashMap<ValueId, usize> = HashMap::new();
        let mut spans = Spans::new();
        for node in nodes {
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
        let inside =
            |client: &Client| matches!(client, Client::Node(user, _) if nodes.contains(user));
        let mut results = Values::new();
        for node in nodes {
            let value = self.old.node_outputs(*node)[0];
            if !self.old.clients(value).iter().all(inside) {
                results.push(value);
            }
        }
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
