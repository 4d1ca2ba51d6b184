//! Differentiation: `grad` turns a cost into a graph of its slopes.
//! The cost is stabilised first, because differentiating a naive formula and repairing it afterwards gives NaN.

use crate::apply::Apply;
use crate::error::{GraphError, GraphErrorKind, Names, Result, Span};
use crate::fgraph::{FunctionGraph, Source, ValueId};
use crate::op::{Argument, Facts, Op, Planned, SlotRef};
use crate::ops::build::Build;
use crate::ops::elemwise::expect_inputs;
use crate::rewrite::{self, Mode};
use crate::ty::Type;
use crate::variable::Variable;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::panic::Location;

/// What `grad` does with a variable that the cost does not depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disconnected {
    /// An error naming the variables: usually a mistake in the model.
    #[default]
    Error,
    /// Zeros of the variable's shape.
    Zero,
}

/// The gradient of `cost`, a single float, with respect to each variable of `wrt`, inputs and intermediates alike.
///
/// A variable that the cost reaches only through steps without slope (rounding, comparisons, shapes) has zeros.
///
/// # Errors
/// `Cost` unless the cost is one float; `IntegerGradient` for integers in `wrt`; `Disconnected` for variables the cost
/// does not depend on at all; `NotDifferentiable` for ops without a gradient.
///
/// ```
/// use lodestride_graph::{compile, dscalar, grad};
/// let x = dscalar("x");
/// let y = &x * &x;
/// let slopes = grad(&y, &[&x])?;
/// let f = compile(&[&x], &[&slopes[0]])?;
/// assert_eq!(f.call([3.0])?[0].array().item::<f64>()?, 6.0);
/// # Ok::<(), lodestride_graph::GraphError>(())
/// ```
#[track_caller]
pub fn grad(cost: &Variable, wrt: &[&Variable]) -> Result<Vec<Variable>> {
    differentiate(cost, wrt, Disconnected::Error, Span(Location::caller()))
}

/// [`grad`] with a choice of what unconnected variables give.
///
/// # Errors
/// As for [`grad`].
#[track_caller]
pub fn grad_with(
    cost: &Variable,
    wrt: &[&Variable],
    unconnected: Disconnected,
) -> Result<Vec<Variable>> {
    differentiate(cost, wrt, unconnected, Span(Location::caller()))
}

/// The variable's value, through which no gradient flows.
///
/// # Errors
/// None today.
#[track_caller]
pub fn disconnected(x: &Variable) -> Result<Variable> {
    Apply::make(
        Barrier { passes: false }.into(),
        vec![x.clone()],
        Span(Location::caller()),
    )?
    .out()
}

/// The identity, which rewrites do not see through while a cost is prepared for differentiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Barrier {
    /// Whether the gradient goes through.
    pub(crate) passes: bool,
}

impl Op for Barrier {
    fn name(&self) -> Cow<'static, str> {
        if self.passes {
            "identity".into()
        } else {
            "disconnected".into()
        }
    }

    fn infer(&self, inputs: &[Argument<'_>]) -> Result<Vec<Type>, GraphErrorKind> {
        expect_inputs(inputs, 1)?;
        Ok(vec![inputs[0].ty.clone()])
    }

    fn plan(&self, inputs: &[Facts]) -> Result<Vec<Planned>, GraphErrorKind> {
        Ok(vec![Planned::View {
            input: 0,
            layout: inputs[0].layout.clone(),
            lod: inputs[0].lod.clone(),
        }])
    }

    fn perform(&self, _: &[SlotRef<'_>], _: &[SlotRef<'_>]) -> Result<(), GraphErrorKind> {
        Ok(())
    }

    fn gradient(&self, _: &Apply, outputs: &[Option<Variable>]) -> Result<Vec<Option<Variable>>> {
        Ok(vec![if self.passes {
            outputs[0].clone()
        } else {
            None
        }])
    }
}

fn differentiate(
    cost: &Variable,
    wrt: &[&Variable],
    unconnected: Disconnected,
    span: Span,
) -> Result<Vec<Variable>> {
    let fail = |kind| GraphError::new(kind, None, span);
    if cost.rank() != 0 || !cost.dtype().is_float() {
        return Err(fail(GraphErrorKind::Cost {
            found: cost.ty().clone(),
        }));
    }
    if let Some(v) = wrt.iter().find(|v| !v.dtype().is_float()) {
        return Err(fail(GraphErrorKind::IntegerGradient {
            name: v.label(),
            found: v.ty().clone(),
        }));
    }
    let stable = stabilised(cost, wrt)?;
    let lost: Names = wrt
        .iter()
        .copied()
        .filter(|v| !stable.ancestors.contains(&v.id()))
        .collect();
    if unconnected == Disconnected::Error && !lost.0.is_empty() {
        return Err(fail(GraphErrorKind::Disconnected { names: lost }));
    }
    let slopes = backward(&stable.cost, Build(span))?;
    wrt.iter()
        .map(|v| {
            let at = stable.barriers.get(&v.id()).unwrap_or(v);
            match slopes.get(&at.id()) {
                Some(slope) => Ok(slope.clone()),
                None => v.zeros_like(),
            }
        })
        .collect()
}

struct Stable {
    cost: Variable,
    /// The stand-ins of intermediate variables of `wrt`.
    barriers: HashMap<u64, Variable>,
    /// Everything the original cost depends on.
    ancestors: HashSet<u64>,
}

/// The cost in a form that is safe to differentiate, over the user's own leaves.
///
/// An intermediate variable asked for is put behind a barrier: rewrites may otherwise route the cost around it.
fn stabilised(cost: &Variable, wrt: &[&Variable]) -> Result<Stable> {
    let ancestors = ancestors(cost);
    let mut graph = FunctionGraph::import(&[], std::slice::from_ref(cost))?;
    let mut guarded = Vec::new();
    if wrt.iter().any(|v| v.owner().is_some()) {
        (graph, guarded) = with_barriers(cost, wrt, &ancestors)?;
    }
    let stable = rewrite::stabilise(&graph, Mode::default())?;
    let exported = export(&stable)?;
    let mut barriers = HashMap::new();
    for (position, variable) in guarded.into_iter().enumerate() {
        barriers.insert(variable.id(), exported[1 + position].clone());
    }
    Ok(Stable {
        cost: exported[0].clone(),
        barriers,
        ancestors,
    })
}

/// The graph of the cost with every intermediate variable of `wrt` behind an identity op; those are outputs 1.. .
fn with_barriers(
    cost: &Variable,
    wrt: &[&Variable],
    ancestors: &HashSet<u64>,
) -> Result<(FunctionGraph, Vec<Variable>)> {
    let mut guarded: Vec<Variable> = Vec::new();
    for v in wrt {
        if v.owner().is_some() && ancestors.contains(&v.id()) && !guarded.contains(v) {
            guarded.push((*v).clone());
        }
    }
    let outputs: Vec<Variable> = std::iter::once(cost.clone())
        .chain(guarded.iter().cloned())
        .collect();
    let mut graph = FunctionGraph::import(&[], &outputs)?;
    let mut places = graph.outputs().to_vec();
    for position in 1..places.len() {
        let value = places[position];
        let spans = graph
            .owner(value)
            .map(|(node, _)| graph.nodes[node.index()].spans.clone())
            .unwrap_or_default();
        let clients = graph.clients(value).to_vec();
        let stand_in = graph.add(
            Barrier { passes: true }.into(),
            [value].into_iter().collect(),
            &spans,
        )?[0];
        graph.redirect(value, stand_in, &clients);
        if places[0] == value {
            places[0] = stand_in;
        }
        places[position] = stand_in;
    }
    graph.set_outputs(&places);
    Ok((graph, guarded))
}

fn ancestors(cost: &Variable) -> HashSet<u64> {
    let mut seen = HashSet::new();
    let mut pending = vec![cost.clone()];
    while let Some(variable) = pending.pop() {
        if seen.insert(variable.id())
            && let Some(apply) = variable.owner()
        {
            pending.extend(
                apply
                    .inputs()
                    .iter()
                    .filter(|v| !seen.contains(&v.id()))
                    .cloned(),
            );
        }
    }
    seen
}

/// The outputs of a function graph as user variables over the user's own leaves.
pub(crate) fn export(graph: &FunctionGraph) -> Result<Vec<Variable>> {
    let mut known: HashMap<ValueId, Variable> = HashMap::new();
    let find = |known: &mut HashMap<ValueId, Variable>, value: ValueId| -> Variable {
        known
            .entry(value)
            .or_insert_with(|| match &graph.values[value.index()].source {
                Source::Leaf(variable) => variable.clone(),
                Source::Constant(data, name) => {
                    crate::constant::from_data(data.clone(), name.as_deref())
                }
                Source::Node(..) => unreachable!("producers come first in a topological order"),
            })
            .clone()
    };
    for node in graph.toposort()? {
        let inputs = graph
            .node_inputs(node)
            .iter()
            .map(|v| find(&mut known, *v))
            .collect();
        let span = graph
            .spans(node)
            .first()
            .copied()
            .unwrap_or_else(Span::here);
        let apply = Apply::make(graph.op(node).clone(), inputs, span)?;
        for (value, variable) in graph.node_outputs(node).iter().zip(apply.outputs()) {
            if let Some(name) = graph.name(*value) {
                variable.set_name(name);
            }
            known.insert(*value, variable);
        }
    }
    Ok(graph
        .outputs()
        .iter()
        .map(|v| find(&mut known, *v))
        .collect())
}

/// Applies between the leaves and `cost`, consumers first.
fn reverse_order(cost: &Variable) -> Vec<Apply> {
    let mut order: Vec<Apply> = Vec::new();
    let mut done: HashSet<usize> = HashSet::new();
    let mut pending: Vec<(Apply, bool)> = cost
        .owner()
        .cloned()
        .map(|a| (a, false))
        .into_iter()
        .collect();
    while let Some((apply, inputs_done)) = pending.pop() {
        if done.contains(&apply.address()) {
            continue;
        }
        if inputs_done {
            done.insert(apply.address());
            order.push(apply);
            continue;
        }
        pending.push((apply.clone(), true));
        for input in apply.inputs() {
            if let Some(owner) = input.owner()
                && !done.contains(&owner.address())
            {
                pending.push((owner.clone(), false));
            }
        }
    }
    order.reverse();
    order
}

/// Reverse accumulation: the slope of `cost` at every variable that has one.
fn backward(cost: &Variable, build: Build) -> Result<HashMap<u64, Variable>> {
    let mut slopes: HashMap<u64, Variable> = HashMap::new();
    slopes.insert(cost.id(), build.typed(1.0, cost.dtype()));
    for apply in reverse_order(cost) {
        let outputs: Vec<Option<Variable>> = apply
            .outputs()
            .iter()
            .map(|v| slopes.get(&v.id()).cloned())
            .collect();
        if outputs.iter().all(Option::is_none) {
            continue;
        }
        let gradients = apply.op().gradient(&apply, &outputs)?;
        let here = Build::of(&apply);
        for (input, gradient) in apply.inputs().iter().zip(gradients) {
            let Some(gradient) = gradient else { continue };
            if input.is_constant() {
                continue;
            }
            let total = match slopes.remove(&input.id()) {
                Some(sum) => here.add(sum, gradient)?,
                None => gradient,
            };
            slopes.insert(input.id(), total);
        }
    }
    Ok(slopes)
}
