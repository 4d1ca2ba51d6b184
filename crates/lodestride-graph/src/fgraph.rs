//! The compiler's own copy of a graph: an arena of nodes and values by index, interned, with the clients of every value.
//! The user's handles are in `variable` and `apply`; the rewrite rules in `rewrite`.

use crate::constant::ConstantData;
use crate::error::{GraphError, GraphErrorKind, Names, Result, Span};
use crate::hash::{ShortHasher, ShortMap};
use crate::op::{Argument, OpRef};
use crate::ty::Type;
use crate::variable::{Kind, Variable};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An apply node of a [`FunctionGraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

/// A value of a [`FunctionGraph`]: an input, a constant, a shared variable or an output of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub(crate) u32);

/// A few values, as a node's inputs or outputs.
pub(crate) type Values = SmallVec<[ValueId; 3]>;

/// The user's lines behind a node.
pub(crate) type Spans = SmallVec<[Span; 1]>;

/// How many source lines a node keeps when nodes are merged and fused.
const MAX_SPANS: usize = 8;

impl NodeId {
    /// The position in the arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ValueId {
    /// The position in the arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// Input `1` of node `0`.
    Node(NodeId, usize),
    /// Output of the graph at this position.
    Output(usize),
}

/// Where a value comes from.
#[derive(Clone)]
pub(crate) enum Source {
    /// A leaf of the user's graph: an input, or a shared variable.
    Leaf(Variable),
    /// A constant, with the user's name for it.
    Constant(ConstantData, Option<Arc<str>>),
    /// Output number `1` of node `0`.
    Node(NodeId, u32),
}

#[derive(Clone)]
pub(crate) struct ValueData {
    pub(crate) ty: Type,
    pub(crate) source: Source,
    pub(crate) clients: SmallVec<[Client; 2]>,
    pub(crate) name: Option<Arc<str>>,
    /// Another value that certainly has the same shape and sequences, as near to the inputs as known.
    pub(crate) shape_root: Option<ValueId>,
}

#[derive(Clone)]
pub(crate) struct NodeData {
    pub(crate) op: OpRef,
    pub(crate) inputs: Values,
    pub(crate) outputs: Values,
    pub(crate) spans: Spans,
}

/// A closed graph from inputs to outputs, owned by the compiler: editing the user's graph afterwards has no effect.
///
/// Equal ops on equal inputs are one node from the start, and so are constants with the same dtype, shape and bits.
///
/// ```
/// use lodestride_graph::{Client, FunctionGraph, dvector};
/// let v = dvector("v");
/// let total = (&v + 1).sum(..)?;
/// let graph = FunctionGraph::new(&[&v], &[&total])?;
/// let topo = graph.toposort()?;
/// assert_eq!(graph.op(topo[0]).name(), "add");
/// let incremented = graph.node_outputs(topo[0])[0];
/// assert_eq!(graph.clients(incremented), [Client::Node(topo[1], 0)]);
/// assert_eq!(graph.clients(graph.outputs()[0]), [Client::Output(0)]);
/// # Ok::<(), lodestride_graph::GraphError>(())
/// ```
#[derive(Default)]
pub struct FunctionGraph {
    pub(crate) values: Vec<ValueData>,
    pub(crate) nodes: Vec<NodeData>,
    pub(crate) inputs: Vec<ValueId>,
    pub(crate) outputs: Vec<ValueId>,
    /// Hash of (op, inputs) to nodes. A node is listed under the hash of its present inputs.
    pub(crate) interned: ShortMap<u64, SmallVec<[NodeId; 1]>>,
    constants: ShortMap<u64, SmallVec<[ValueId; 1]>>,
    leaves: ShortMap<u64, ValueId>,
}

impl FunctionGraph {
    /// Copies what lies between `inputs` and `outputs`. Inputs may be intermediate variables; the graph above them is cut.
    ///
    /// # Errors
    /// `MissingInput` when an output needs a variable that is not an input, a constant or a shared variable.
    #[track_caller]
    pub fn new(inputs: &[&Variable], outputs: &[&Variable]) -> Result<Self> {
        let inputs: Vec<Variable> = inputs.iter().map(|v| (*v).clone()).collect();
        let outputs: Vec<Variable> = outputs.iter().map(|v| (*v).clone()).collect();
        let graph = Self::import(&inputs, &outputs)?;
        let mut missing = Vec::new();
        for value in &graph.values {
            if let Source::Leaf(variable) = &value.source
                && !variable.is_shared()
                && !inputs.contains(variable)
            {
                missing.push(variable.clone());
            }
        }
        if missing.is_empty() {
            return Ok(graph);
        }
        let kind = GraphErrorKind::MissingInput {
            names: missing.iter().collect::<Names>(),
        };
        Err(GraphError::with_spans(
            kind,
            None,
            missing.iter().map(Variable::span).collect(),
        ))
    }

    /// The copy, with every leaf found accepted.
    pub(crate) fn import(inputs: &[Variable], outputs: &[Variable]) -> Result<Self> {
        let mut graph = Self::default();
        let mut known: ShortMap<u64, ValueId> = ShortMap::default();
        for input in inputs {
            let value = graph.leaf(input, input.ty());
            graph.inputs.push(value);
            known.insert(input.id(), value);
        }
        for output in outputs {
            graph.import_ancestors(output, &mut known)?;
        }
        let outputs: Vec<ValueId> = outputs.iter().map(|v| known[&v.id()]).collect();
        graph.set_outputs(&outputs);
        Ok(graph)
    }

    /// Copies the producers of `root`, deepest first, with an explicit stack.
    fn import_ancestors(
        &mut self,
        root: &Variable,
        known: &mut ShortMap<u64, ValueId>,
    ) -> Result<()> {
        let mut pending: Vec<(Variable, bool)> = vec![(root.clone(), false)];
        while let Some((variable, inputs_done)) = pending.pop() {
            if known.contains_key(&variable.id()) {
                continue;
            }
            let Some(apply) = variable.owner() else {
                let value = match &variable.0.identity.kind {
                    Kind::Constant(data) => self.constant(data.clone(), variable.name()),
                    Kind::Plain | Kind::Shared(_) => self.leaf(&variable, variable.ty()),
                };
                known.insert(variable.id(), value);
                continue;
            };
            if !inputs_done {
                let missing: Vec<_> = apply
                    .inputs()
                    .iter()
                    .filter(|v| !known.contains_key(&v.id()))
                    .collect();
                if !missing.is_empty() {
                    let missing: Vec<_> = missing.into_iter().map(|v| (v.clone(), false)).collect();
                    pending.push((variable, true));
                    pending.extend(missing.into_iter().rev());
                    continue;
                }
            }
            let inputs: Values = apply.inputs().iter().map(|v| known[&v.id()]).collect();
            let spans = Spans::from_slice(&[apply.span()]);
            let outputs = apply.outputs();
            let types = outputs.iter().map(|v| v.ty().clone()).collect();
            let values = self.intern(apply.op().clone(), inputs, types, &spans);
            for (output, value) in outputs.iter().zip(&values) {
                known.insert(output.id(), *value);
                self.name_value(*value, output.name());
            }
        }
        Ok(())
    }

    fn name_value(&mut self, value: ValueId, name: Option<Arc<str>>) {
        let slot = &mut self.values[value.index()].name;
        if slot.is_none() {
            *slot = name;
        }
    }

    fn push_value(&mut self, ty: Type, source: Source, name: Option<Arc<str>>) -> ValueId {
        let id = ValueId(u32::try_from(self.values.len()).unwrap_or(u32::MAX));
        self.values.push(ValueData {
            ty,
            source,
            clients: SmallVec::new(),
            name,
            shape_root: None,
        });
        id
    }

    /// The same graph with other types of its leaves. Types of results are as before: a pass of the rewriter works them out anew.
    pub(crate) fn with_leaf_types(&self, types: &HashMap<u64, &Type>) -> Self {
        let mut values = self.values.clone();
        for value in &mut values {
            if let Source::Leaf(variable) = &value.source
                && let Some(ty) = types.get(&variable.id())
            {
                value.ty = (*ty).clone();
            }
        }
        Self {
            values,
            nodes: self.nodes.clone(),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            ..Self::default()
        }
    }

    /// The value here of a leaf or constant of another graph.
    pub(crate) fn copy_leaf(&mut self, from: &Self, value: ValueId) -> ValueId {
        let data = &from.values[value.index()];
        match &data.source {
            Source::Constant(constant, name) => self.constant(constant.clone(), name.clone()),
            Source::Leaf(variable) => self.leaf(variable, &data.ty),
            Source::Node(..) => unreachable!("producers come before their users in the order"),
        }
    }

    /// The value of an input or shared variable of this type.
    fn leaf(&mut self, variable: &Variable, ty: &Type) -> ValueId {
        if let Some(found) = self.leaves.get(&variable.id()) {
            return *found;
        }
        let id = self.push_value(ty.clone(), Source::Leaf(variable.clone()), variable.name());
        self.leaves.insert(variable.id(), id);
        id
    }

    /// The value of a constant; equal bits of equal type are one value.
    pub(crate) fn constant(&mut self, data: ConstantData, name: Option<Arc<str>>) -> ValueId {
        let key = data.hash_bits();
        if let Some(found) = self.constants.get(&key) {
            for id in found {
                if matches!(&self.values[id.index()].source, Source::Constant(other, _) if other.same_bits(&data))
                {
                    return *id;
                }
            }
        }
        let id = self.push_value(data.ty(), Source::Constant(data, name.clone()), name);
        self.constants.entry(key).or_default().push(id);
        id
    }

    pub(crate) fn key(op: &OpRef, inputs: &[ValueId]) -> u64 {
        let mut hasher = ShortHasher::default();
        op.hash(&mut hasher);
        inputs.hash(&mut hasher);
        hasher.finish()
    }

    /// The outputs of `op(inputs)` with the given types: those of an equal node if there is one.
    pub(crate) fn intern(
        &mut self,
        op: OpRef,
        inputs: Values,
        types: Vec<Type>,
        spans: &Spans,
    ) -> Values {
        let key = Self::key(&op, &inputs);
        if op.is_pure()
            && let Some(found) = self.interned.get(&key)
            && let Some(id) = found.iter().copied().find(|id| {
                let node = &self.nodes[id.index()];
                node.inputs == inputs && node.op == op
            })
        {
            merge_spans(&mut self.nodes[id.index()].spans, spans);
            return self.nodes[id.index()].outputs.clone();
        }
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        let mut outputs = Values::new();
        let root = types
            .first()
            .and_then(|ty| self.root_of_result(&op, &inputs, ty));
        for (index, ty) in types.into_iter().enumerate() {
            let output = self.push_value(ty, Source::Node(id, index as u32), None);
            self.values[output.index()].shape_root = root;
            outputs.push(output);
        }
        for (position, input) in inputs.iter().enumerate() {
            self.values[input.index()]
                .clients
                .push(Client::Node(id, position));
        }
        self.nodes.push(NodeData {
            op,
            inputs,
            outputs: outputs.clone(),
            spans: spans.clone(),
        });
        self.interned.entry(key).or_default().push(id);
        outputs
    }

    /// The outputs of `op(inputs)`, types worked out by the op.
    pub(crate) fn add(&mut self, op: OpRef, inputs: Values, spans: &Spans) -> Result<Values> {
        let types = {
            let arguments: Vec<Argument<'_>> = inputs.iter().map(|v| self.argument(*v)).collect();
            op.infer(&arguments)
                .map_err(|kind| GraphError::with_spans(kind, Some(&op), spans.to_vec()))?
        };
        Ok(self.intern(op, inputs, types, spans))
    }

    pub(crate) fn argument(&self, value: ValueId) -> Argument<'_> {
        let value = &self.values[value.index()];
        let constant = match &value.source {
            Source::Constant(data, _) => Some(data),
            Source::Leaf(_) | Source::Node(..) => None,
        };
        Argument {
            ty: &value.ty,
            constant,
        }
    }

    pub(crate) fn set_outputs(&mut self, outputs: &[ValueId]) {
        for value in &mut self.values {
            value.clients.retain(|c| matches!(c, Client::Node(..)));
        }
        self.outputs = outputs.to_vec();
        for (position, value) in outputs.iter().enumerate() {
            self.values[value.index()]
                .clients
                .push(Client::Output(position));
        }
    }

    /// The inputs, in the order of the function's arguments.
    pub fn inputs(&self) -> &[ValueId] {
        &self.inputs
    }

    /// The outputs, in order; the same value may be listed twice.
    pub fn outputs(&self) -> &[ValueId] {
        &self.outputs
    }

    /// Every use of a value; empty when it is unused.
    pub fn clients(&self, value: ValueId) -> &[Client] {
        &self.values[value.index()].clients
    }

    /// The node that computes a value, and which of its outputs it is.
    pub fn owner(&self, value: ValueId) -> Option<(NodeId, usize)> {
        match self.values[value.index()].source {
            Source::Node(node, index) => Some((node, index as usize)),
            Source::Leaf(_) | Source::Constant(..) => None,
        }
    }

    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> &Type {
        &self.values[value.index()].ty
    }

    /// The user's name of a value, if it has one.
    pub fn name(&self, value: ValueId) -> Option<&str> {
        self.values[value.index()].name.as_deref()
    }

    /// Whether a value is a constant.
    pub fn is_constant(&self, value: ValueId) -> bool {
        matches!(self.values[value.index()].source, Source::Constant(..))
    }

    /// The op of a node.
    pub fn op(&self, node: NodeId) -> &OpRef {
        &self.nodes[node.index()].op
    }

    /// The arguments of a node.
    pub fn node_inputs(&self, node: NodeId) -> &[ValueId] {
        &self.nodes[node.index()].inputs
    }

    /// The results of a node.
    pub fn node_outputs(&self, node: NodeId) -> &[ValueId] {
        &self.nodes[node.index()].outputs
    }

    /// The user's source lines behind a node.
    pub fn spans(&self, node: NodeId) -> &[Span] {
        &self.nodes[node.index()].spans
    }

    /// How listings call a value: its name, its constant, or `op.index`.
    pub fn label(&self, value: ValueId) -> Arc<str> {
        let data = &self.values[value.index()];
        match (&data.source, &data.name) {
            (_, Some(name)) => Arc::clone(name),
            (Source::Constant(constant, _), None) => constant.to_string().into(),
            (Source::Leaf(variable), None) => variable.label(),
            (Source::Node(node, index), None) => {
                format!("{}.{index}", self.op(*node).name()).into()
            }
        }
    }
}

pub(crate) fn merge_spans(into: &mut Spans, from: &Spans) {
    for span in from {
        if into.len() < MAX_SPANS && !into.contains(span) {
            into.push(*span);
        }
    }
}

impl fmt::Debug for FunctionGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "FunctionGraph({} inputs, {} nodes, {} outputs)",
            self.inputs.len(),
            self.nodes.len(),
            self.outputs.len()
        )
    }
}
