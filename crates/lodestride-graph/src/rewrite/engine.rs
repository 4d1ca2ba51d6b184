//! The rewriter: one bottom-up pass through a set of rules, and the questions rules ask.

use crate::constant::ConstantData;
use crate::error::{GraphError, Result, Span};
use crate::fgraph::{Client, FunctionGraph, Source, Spans, ValueId, Values};
use crate::grad::Barrier;
use crate::hash::ShortMap;
use crate::op::{Argument, OpRef};
use crate::ops::{
    BroadcastLike, Concat, ConcatPart, Elemwise, ExpandDims, JoinAxes, LodLike, MatMul, Permute,
    PlaceSubtensor, Reduce, Reshape, SequenceReverse, Squeeze, Subtensor, SumTo, Take,
};
use crate::rewrite::{Mode, factors};
use crate::ty::Type;
use crate::value::Value;
use lodestride_array::kernels::{BinaryOp, UnaryOp};
use lodestride_array::{DType, Scalar};

/// How far a rule may be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Soundness {
    /// The same bits for every input (NaN payloads aside).
    Exact,
    /// The same for finite values away from overflow; may turn a NaN, an infinity or a signed zero into a number.
    Finite,
    /// The same in exact arithmetic; rounding may differ in the last places.
    Reassociating,
}

/// A rule that was applied: the compiler's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The rule's name.
    pub rule: &'static str,
    /// The op at its root.
    pub op: std::sync::Arc<str>,
    /// The user's line.
    pub span: Option<Span>,
}

/// What a rule is indexed by: the op at its root, parameters aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Unary(UnaryOp),
    Binary(BinaryOp),
    /// Any elementwise op, after the more special keys.
    AnyElemwise,
    Select,
    Cast,
    Reduce,
    MatMul,
    Permute,
    Reshape,
    ExpandDims,
    Squeeze,
    Subtensor,
    PlaceSubtensor,
    SumTo,
    BroadcastLike,
    Barrier,
    Concat,
    ConcatPart,
    SequenceReverse,
    LodLike,
    /// Ops that add up rows.
    RowSum,
    /// Any op at all, last.
    Any,
}

/// One local rewrite.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) key: Key,
    pub(crate) class: Soundness,
    pub(crate) apply: Apply,
}

/// What a rule does: the replacement, or `None` where it has nothing to say.
type Apply = fn(&mut Rewriter<'_>, &Site<'_>) -> Result<Option<ValueId>>;

/// One line of a table of rules.
pub(crate) const fn rule(name: &'static str, key: Key, class: Soundness, apply: Apply) -> Rule {
    Rule {
        name,
        key,
        class,
        apply,
    }
}

/// The place a rule looks at: an op about to be applied to values of the new graph.
pub(crate) struct Site<'a> {
    pub(crate) op: &'a OpRef,
    pub(crate) inputs: &'a [ValueId],
    /// The type the result must have.
    pub(crate) ty: &'a Type,
}

/// Rules by the op at their root.
#[derive(Default)]
pub(crate) struct RuleSet {
    by_key: ShortMap<Key, Vec<Rule>>,
}

impl RuleSet {
    pub(crate) fn new(groups: &[&[Rule]]) -> Self {
        let mut by_key: ShortMap<Key, Vec<Rule>> = ShortMap::default();
        for rule in groups.iter().copied().flatten() {
            by_key.entry(rule.key).or_default().push(*rule);
        }
        Self { by_key }
    }
}

fn keys(op: &OpRef) -> [Option<Key>; 2] {
    if let Some(elemwise) = op.downcast_ref::<Elemwise>() {
        let first = match elemwise {
            Elemwise::Unary(op) => Key::Unary(*op),
            Elemwise::Binary(op) => Key::Binary(*op),
            Elemwise::Select => Key::Select,
            Elemwise::Cast(_) => Key::Cast,
        };
        return [Some(first), Some(Key::AnyElemwise)];
    }
    let table: [(bool, Key); 16] = [
        (op.is::<Reduce>(), Key::Reduce),
        (op.is::<MatMul>(), Key::MatMul),
        (op.is::<Permute>(), Key::Permute),
        (op.is::<Reshape>(), Key::Reshape),
        (op.is::<ExpandDims>(), Key::ExpandDims),
        (op.is::<Squeeze>(), Key::Squeeze),
        (op.is::<Subtensor>(), Key::Subtensor),
        (op.is::<PlaceSubtensor>(), Key::PlaceSubtensor),
        (op.is::<SumTo>(), Key::SumTo),
        (op.is::<BroadcastLike>(), Key::BroadcastLike),
        (op.is::<Barrier>(), Key::Barrier),
        (op.is::<Concat>(), Key::Concat),
        (op.is::<ConcatPart>(), Key::ConcatPart),
        (op.is::<SequenceReverse>(), Key::SequenceReverse),
        (op.is::<LodLike>(), Key::LodLike),
        (factors::sums_rows(op), Key::RowSum),
    ];
    [table.iter().find(|(is, _)| *is).map(|(_, key)| *key), None]
}

/// Rules may build on each other's results, but not without end.
const MAX_DEPTH: usize = 12;
/// Passes over the graph; each pass only continues what an earlier one made possible.
const MAX_PASSES: usize = 5;

/// Builds the new graph.
pub(crate) struct Rewriter<'a> {
    pub(crate) graph: FunctionGraph,
    rules: &'a RuleSet,
    pub(crate) mode: Mode,
    log: &'a mut Vec<Applied>,
    depth: usize,
    spans: Spans,
    /// Uses of new values as far as the old graph knows them.
    uses: ShortMap<ValueId, usize>,
}

/// Passes until no rule applies, or the bound is reached.
pub(crate) fn settle(
    graph: &FunctionGraph,
    rules: &RuleSet,
    mode: Mode,
    log: &mut Vec<Applied>,
) -> Result<FunctionGraph> {
    let mut before = log.len();
    let mut current = pass(graph, rules, mode, log)?;
    for _ in 1..MAX_PASSES {
        if log.len() == before {
            break;
        }
        before = log.len();
        current = pass(&current, rules, mode, log)?;
    }
    Ok(current)
}

fn pass(
    old: &FunctionGraph,
    rules: &RuleSet,
    mode: Mode,
    log: &mut Vec<Applied>,
) -> Result<FunctionGraph> {
    let mut rewriter = Rewriter {
        graph: FunctionGraph::default(),
        rules,
        mode,
        log,
        depth: 0,
        spans: Spans::new(),
        uses: ShortMap::default(),
    };
    let mut map: Vec<Option<ValueId>> = vec![None; old.values.len()];
    for input in &old.inputs {
        let copied = rewriter.graph.copy_leaf(old, *input);
        map[input.index()] = Some(copied);
        rewriter.graph.inputs.push(copied);
    }
    let live = old.live_nodes();
    for id in old.toposort()? {
        let node = &old.nodes[id.index()];
        let mut inputs = Values::with_capacity(node.inputs.len());
        for input in &node.inputs {
            let value = match map[input.index()] {
                Some(value) => value,
                None => rewriter.graph.copy_leaf(old, *input),
            };
            map[input.index()] = Some(value);
            inputs.push(value);
        }
        rewriter.spans.clone_from(&node.spans);
        let outputs = rewriter.apply_all(node.op.clone(), inputs)?;
        for (from, to) in node.outputs.iter().zip(outputs) {
            map[from.index()] = Some(to);
            // Not those that an earlier pass left behind.
            let uses = old.clients(*from).iter().filter(|client| match client {
                Client::Node(node, _) => live[node.index()],
                Client::Output(_) => true,
            });
            *rewriter.uses.entry(to).or_default() += uses.count();
            rewriter.keep_name(old, *from, to);
        }
    }
    let mut outputs = Vec::with_capacity(old.outputs.len());
    for output in &old.outputs {
        let value = match map[output.index()] {
            Some(value) => value,
            None => rewriter.graph.copy_leaf(old, *output),
        };
        outputs.push(value);
    }
    rewriter.graph.set_outputs(&outputs);
    Ok(rewriter.graph)
}

impl Rewriter<'_> {
    fn keep_name(&mut self, old: &FunctionGraph, from: ValueId, to: ValueId) {
        if let Some(name) = &old.values[from.index()].name
            && self.graph.owner(to).is_some()
        {
            let slot = &mut self.graph.values[to.index()].name;
            if slot.is_none() {
                *slot = Some(name.clone());
            }
        }
    }

    /// `op(inputs)` through the rules.
    pub(crate) fn apply(&mut self, op: impl Into<OpRef>, inputs: &[ValueId]) -> Result<ValueId> {
        let outputs = self.apply_all(op.into(), Values::from_slice(inputs))?;
        Ok(outputs[0])
    }

    fn apply_all(&mut self, op: OpRef, inputs: Values) -> Result<Values> {
        let inputs = self.typed_literals(&op, inputs)?;
        let types = self.infer(&op, &inputs)?;
        if types.len() == 1
            && self.depth < MAX_DEPTH
            && let Some(value) = self.rewritten(&op, &inputs, &types[0])?
        {
            return Ok(Values::from_slice(&[value]));
        }
        Ok(self.graph.intern(op, inputs, types, &self.spans))
    }

    fn infer(&self, op: &OpRef, inputs: &[ValueId]) -> Result<Vec<Type>> {
        let arguments: Vec<Argument<'_>> = inputs.iter().map(|v| self.graph.argument(*v)).collect();
        op.infer(&arguments)
            .map_err(|kind| GraphError::with_spans(kind, Some(op), self.spans.to_vec()))
    }

    /// Literals of an elementwise op as constants of the dtype they adopt.
    fn typed_literals(&mut self, op: &OpRef, mut inputs: Values) -> Result<Values> {
        let Some(elemwise) = op.downcast_ref::<Elemwise>() else {
            return Ok(inputs);
        };
        if !inputs
            .iter()
            .any(|v| self.graph.argument(*v).literal().is_some())
        {
            return Ok(inputs);
        }
        let dtype = {
            let arguments: Vec<Argument<'_>> =
                inputs.iter().map(|v| self.graph.argument(*v)).collect();
            elemwise
                .operand_dtype(&arguments)
                .map_err(|kind| GraphError::with_spans(kind, Some(op), self.spans.to_vec()))?
        };
        for (position, input) in inputs.iter_mut().enumerate() {
            if let Some(literal) = self.graph.argument(*input).literal() {
                let condition = position == 0 && *elemwise == Elemwise::Select;
                *input = self.typed(literal, if condition { DType::Bool } else { dtype });
            }
        }
        Ok(inputs)
    }

    fn rewritten(&mut self, op: &OpRef, inputs: &[ValueId], ty: &Type) -> Result<Option<ValueId>> {
        let rules = self.rules;
        let site = Site { op, inputs, ty };
        for key in keys(op).into_iter().flatten().chain([Key::Any]) {
            for rule in rules.by_key.get(&key).map_or(&[][..], Vec::as_slice) {
                if !self.mode.allows(rule.class) {
                    continue;
                }
                self.depth += 1;
                let result = (rule.apply)(self, &site);
                self.depth -= 1;
                if let Some(value) = result? {
                    let span = self.spans.first().copied();
                    self.log.push(Applied {
                        rule: rule.name,
                        op: op.name().as_ref().into(),
                        span,
                    });
                    return Ok(Some(value));
                }
            }
        }
        Ok(None)
    }

    /// A constant of rank 0.
    pub(crate) fn typed(&mut self, value: impl Into<Scalar>, dtype: DType) -> ValueId {
        let value = Value::from_scalar(value.into(), dtype);
        self.graph
            .constant(ConstantData::Typed(Box::new(value)), None)
    }

    pub(crate) fn unary(&mut self, op: UnaryOp, x: ValueId) -> Result<ValueId> {
        self.apply(Elemwise::Unary(op), &[x])
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, x: ValueId, y: ValueId) -> Result<ValueId> {
        self.apply(Elemwise::Binary(op), &[x, y])
    }

    pub(crate) fn ty(&self, value: ValueId) -> &Type {
        self.graph.ty(value)
    }

    /// The op and arguments that compute a value.
    pub(crate) fn producer(&self, value: ValueId) -> Option<(&OpRef, &[ValueId])> {
        let (node, _) = self.graph.owner(value)?;
        Some((self.graph.op(node), self.graph.node_inputs(node)))
    }

    /// The op of a concrete type that computes a value, and its arguments.
    pub(crate) fn made_by<T: crate::op::Op + Clone>(&self, value: ValueId) -> Option<(T, Values)> {
        let (op, inputs) = self.producer(value)?;
        Some((op.downcast_ref::<T>()?.clone(), Values::from_slice(inputs)))
    }

    /// `x` when the value is `op(x)`.
    pub(crate) fn unary_of(&self, value: ValueId, op: UnaryOp) -> Option<ValueId> {
        let (made, inputs) = self.producer(value)?;
        (made.downcast_ref() == Some(&Elemwise::Unary(op))).then(|| inputs[0])
    }

    /// `(x, y)` when the value is `op(x, y)`.
    pub(crate) fn binary_of(&self, value: ValueId, op: BinaryOp) -> Option<(ValueId, ValueId)> {
        let (made, inputs) = self.producer(value)?;
        (made.downcast_ref() == Some(&Elemwise::Binary(op))).then(|| (inputs[0], inputs[1]))
    }

    /// The number, when the value is a constant of rank 0 or one stretched to some shape.
    pub(crate) fn scalar(&self, value: ValueId) -> Option<Scalar> {
        let mut value = value;
        loop {
            if let Source::Constant(data, _) = &self.graph.values[value.index()].source {
                return data.scalar();
            }
            let (op, inputs) = self.producer(value)?;
            let stretches = op.is::<BroadcastLike>()
                || op.is::<ExpandDims>()
                || op.is::<crate::ops::BroadcastTo>();
            if !stretches {
                return None;
            }
            value = inputs[0];
        }
    }

    /// The number in a constant with one element, whatever its rank.
    pub(crate) fn single(&self, value: ValueId) -> Option<Scalar> {
        match &self.graph.values[value.index()].source {
            Source::Constant(ConstantData::Typed(constant), _) => {
                let array = constant.array();
                (array.len() == 1)
                    .then(|| array.get_scalar(vec![0isize; array.rank()]).ok())
                    .flatten()
            }
            _ => None,
        }
    }

    /// Whether more than one place needs the value, so that absorbing it into one of them would compute it twice.
    pub(crate) fn is_shared(&self, value: ValueId) -> bool {
        self.uses(value) > 1
    }

    /// How many places need the value, as far as the old graph knows it.
    pub(crate) fn uses(&self, value: ValueId) -> usize {
        self.uses.get(&value).copied().unwrap_or(0)
    }

    /// Whether the value is this number everywhere. -0.0 is not 0.0.
    pub(crate) fn is_number(&self, value: ValueId, number: f64) -> bool {
        self.scalar(value).is_some_and(|s| {
            let x = s.as_f64();
            x == number && (number != 0.0 || x.is_sign_positive())
        })
    }

    /// Whether the result of an elementwise op with these operands has exactly the type and shape of `x`.
    pub(crate) fn keeps(&self, site: &Site<'_>, x: ValueId) -> bool {
        let ty = self.ty(x);
        ty.dtype() == site.ty.dtype()
            && ty.rank() == site.ty.rank()
            && ty.is_lod() == site.ty.is_lod()
            && site
                .inputs
                .iter()
                .all(|other| *other == x || self.broadcasts_into(*other, x))
    }

    /// Whether `small` certainly broadcasts to the shape of `x` without stretching it.
    pub(crate) fn broadcasts_into(&self, small: ValueId, x: ValueId) -> bool {
        if self.same_shape(small, x) {
            return true;
        }
        let (small, ty) = (self.ty(small), self.ty(x));
        let fits =
            |(s, d): (&crate::Dim, &crate::Dim)| *s == crate::Dim::Known(1) || s.surely_equals(d);
        small.rank() <= ty.rank()
            && small
                .dims()
                .iter()
                .zip(&ty.dims()[ty.rank() - small.rank()..])
                .all(fits)
    }

    /// Whether two values certainly have the same shape and sequences.
    pub(crate) fn same_shape(&self, a: ValueId, b: ValueId) -> bool {
        self.graph.same_shape(a, b)
    }

    /// The value that a value's shape and sequences come from.
    pub(crate) fn shape_root(&self, value: ValueId) -> ValueId {
        self.graph.shape_root(value)
    }

    /// `number` in the dtype and shape of a site's result, which must be the shape of `like`.
    pub(crate) fn fill(&mut self, site: &Site<'_>, number: f64, like: ValueId) -> Result<ValueId> {
        let constant = self.typed(number, site.ty.dtype());
        if site.ty.rank() == 0 {
            return Ok(constant);
        }
        self.apply(BroadcastLike, &[constant, like])
    }

    /// Whether data movement ops lead from `value` to something `wanted` accepts.
    pub(crate) fn moves_from(&self, value: ValueId, wanted: impl Fn(&OpRef) -> bool) -> bool {
        let mut value = value;
        loop {
            let Some((op, inputs)) = self.producer(value) else {
                return false;
            };
            if wanted(op) {
                return true;
            }
            if !moves_data(op) {
                return false;
            }
            value = inputs[0];
        }
    }
}

/// Ops whose every output element is an element of input 0.
pub(crate) fn moves_data(op: &OpRef) -> bool {
    op.is::<Take>()
        || op.is::<Subtensor>()
        || op.is::<JoinAxes>()
        || op.is::<Reshape>()
        || op.is::<Permute>()
        || op.is::<ExpandDims>()
        || op.is::<Squeeze>()
}
