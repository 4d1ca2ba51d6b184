//! From a user's graph to a function: checks, the private copy, substitutions, optimisation.

use crate::apply::Apply;
use crate::error::{GraphError, GraphErrorKind, Names, Result, Span};
use crate::fgraph::{FunctionGraph, Source};
use crate::function::arena::Arenas;
use crate::function::plan_cache::PlanCache;
use crate::function::program::{Forms, Program};
use crate::function::{Function, Leaf, Update};
use crate::rewrite::{self, Mode};
use crate::shared::{Shared, SharedCell};
use crate::variable::{Kind, Variable};
use std::collections::{HashMap, HashSet};
use std::panic::Location;
use std::sync::Arc;
use std::time::Instant;

/// What happens to inputs that no output needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unused {
    /// An error naming them: usually a mistake.
    #[default]
    Error,
    /// They are accepted and not looked at.
    Ignore,
}

/// Everything about a function to be compiled; [`compile`] is the short form.
///
/// ```
/// use lodestride_array::NdArray;
/// use lodestride_graph::{Function, dscalar, shared};
/// let total = shared(NdArray::from(0.0f64), "total")?;
/// let x = dscalar("x");
/// let accumulate = Function::builder(&[&x], &[&total]).update(&total, &*total + &x).compile()?;
/// assert_eq!(accumulate.call([2.0])?[0].array().item::<f64>()?, 0.0);
/// assert_eq!(accumulate.call([3.0])?[0].array().item::<f64>()?, 2.0);
/// assert_eq!(total.get()?.array().item::<f64>()?, 5.0);
/// # Ok::<(), lodestride_graph::GraphError>(())
/// ```
#[derive(Debug)]
#[must_use = "a builder does nothing until `compile`"]
pub struct Builder {
    inputs: Vec<Variable>,
    outputs: Vec<Variable>,
    updates: Vec<(Shared, Variable)>,
    givens: Vec<(Variable, Variable)>,
    name: Option<Arc<str>>,
    mode: Mode,
    unused: Unused,
}

/// Compiles a function from inputs to outputs.
///
/// Constants and shared variables need not be listed. The graph is copied: changing variables later has no effect.
///
/// # Errors
/// `ConstantInput`, `DuplicateInput`, `MissingInput`, `UnusedInput`, each naming the variables.
#[track_caller]
pub fn compile(inputs: &[&Variable], outputs: &[&Variable]) -> Result<Function> {
    Function::builder(inputs, outputs).compile_at(Span(Location::caller()))
}

impl Function {
    /// Starts the description of a function.
    pub fn builder(inputs: &[&Variable], outputs: &[&Variable]) -> Builder {
        Builder {
            inputs: inputs.iter().map(|v| (*v).clone()).collect(),
            outputs: outputs.iter().map(|v| (*v).clone()).collect(),
            updates: Vec::new(),
            givens: Vec::new(),
            name: None,
            mode: Mode::default(),
            unused: Unused::default(),
        }
    }
}

impl Builder {
    /// After each call `shared` has the value of `new`. All new values are computed from the old ones.
    pub fn update(mut self, shared: &Shared, new: impl Into<Variable>) -> Self {
        self.updates.push((shared.clone(), new.into()));
        self
    }

    /// Several updates.
    pub fn updates<V: Into<Variable>>(
        mut self,
        updates: impl IntoIterator<Item = (Shared, V)>,
    ) -> Self {
        self.updates.extend(
            updates
                .into_iter()
                .map(|(shared, new)| (shared, new.into())),
        );
        self
    }

    /// Uses `new` wherever the graph has `old`, in this function only.
    pub fn given(mut self, old: &Variable, new: impl Into<Variable>) -> Self {
        self.givens.push((old.clone(), new.into()));
        self
    }

    /// A name for listings.
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What the compiler may do.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// What happens to inputs that no output needs.
    pub fn on_unused_input(mut self, unused: Unused) -> Self {
        self.unused = unused;
        self
    }

    /// Compiles.
    ///
    /// # Errors
    /// As for [`compile`](fn@compile), and `UpdateType` or `DuplicateUpdate` for updates and substitutions.
    #[track_caller]
    pub fn compile(self) -> Result<Function> {
        self.compile_at(Span(Location::caller()))
    }

    fn compile_at(self, span: Span) -> Result<Function> {
        let start = Instant::now();
        let fail = |kind| GraphError::new(kind, None, span);
        self.check().map_err(fail)?;
        let outputs: Vec<Variable> = self
            .outputs
            .iter()
            .chain(self.updates.iter().map(|(_, new)| new))
            .cloned()
            .collect();
        let outputs = substitute(outputs, &self.givens).map_err(fail)?;
        let outputs = self.fit_updates(outputs, span)?;
        let written = FunctionGraph::import(&self.inputs, &outputs)?;
        self.check_leaves(&written, span)?;
        let (optimised, log) = rewrite::optimise(&written, self.mode)?;
        self.finish(optimised, written, log, start)
    }

    fn check(&self) -> Result<(), GraphErrorKind> {
        let fixed = |v: &&Variable| v.is_constant() || v.is_shared();
        let names: Names = self.inputs.iter().filter(fixed).collect();
        if !names.0.is_empty() {
            return Err(GraphErrorKind::ConstantInput { names });
        }
        let again = |(i, v): (usize, &'_ Variable)| self.inputs[..i].contains(v);
        let names: Names = self
            .inputs
            .iter()
            .enumerate()
            .filter(|(i, v)| again((*i, v)))
            .map(|(_, v)| v)
            .collect();
        if !names.0.is_empty() {
            return Err(GraphErrorKind::DuplicateInput { names });
        }
        let mut targets = HashSet::new();
        for (shared, new) in &self.updates {
            if !targets.insert(shared.id()) {
                return Err(GraphErrorKind::DuplicateUpdate {
                    name: shared.label(),
                });
            }
            check_types(shared, new)?;
        }
        Ok(())
    }

    /// New values of shared variables in the dtype of the variable.
    fn fit_updates(&self, mut outputs: Vec<Variable>, span: Span) -> Result<Vec<Variable>> {
        let build = crate::ops::build::Build(span);
        for (output, (shared, _)) in outputs[self.outputs.len()..].iter_mut().zip(&self.updates) {
            *output = build.cast(&*output, shared.dtype())?;
        }
        Ok(outputs)
    }

    fn check_leaves(&self, graph: &FunctionGraph, span: Span) -> Result<()> {
        let inputs: HashSet<u64> = self.inputs.iter().map(Variable::id).collect();
        let mut missing = Vec::new();
        for value in &graph.values {
            if let Source::Leaf(v) = &value.source
                && !v.is_shared()
                && !inputs.contains(&v.id())
            {
                missing.push(v.clone());
            }
        }
        if !missing.is_empty() {
            let kind = GraphErrorKind::MissingInput {
                names: missing.iter().collect(),
            };
            return Err(GraphError::with_spans(
                kind,
                None,
                missing.iter().map(Variable::span).collect(),
            ));
        }
        let unused = self
            .inputs
            .iter()
            .zip(graph.inputs())
            .filter(|(_, v)| graph.clients(**v).is_empty());
        let names: Names = unused.map(|(v, _)| v).collect();
        if self.unused == Unused::Error && !names.0.is_empty() {
            return Err(GraphError::new(
                GraphErrorKind::UnusedInput { names },
                None,
                span,
            ));
        }
        Ok(())
    }

    fn finish(
        self,
        graph: FunctionGraph,
        written: FunctionGraph,
        log: Vec<rewrite::Applied>,
        start: Instant,
    ) -> Result<Function> {
        let mut leaves: Vec<Leaf> = self.inputs.iter().map(leaf).collect();
        let fed = leaves.len();
        for value in &graph.values {
            if let Source::Leaf(v) = &value.source
                && v.is_shared()
            {
                leaves.push(leaf(v));
            }
        }
        let forms = Forms::new(Program::new(graph, &leaves, self.mode)?, self.mode);
        let update = |(shared, _): &(Shared, Variable)| {
            let cell = cell_of(shared)?;
            Some(Update {
                name: shared.label(),
                ty: shared.ty().clone(),
                cell,
            })
        };
        Ok(Function {
            name: self.name,
            written,
            forms,
            leaves,
            fed,
            returned: self.outputs.len(),
            updates: self.updates.iter().filter_map(update).collect(),
            plans: PlanCache::default(),
            arenas: Arenas::default(),
            log,
            compile_time: start.elapsed(),
        })
    }
}

fn cell_of(variable: &Variable) -> Option<Arc<SharedCell>> {
    match &variable.0.identity.kind {
        Kind::Shared(cell) => Some(Arc::clone(cell)),
        Kind::Plain | Kind::Constant(_) => None,
    }
}

fn leaf(variable: &Variable) -> Leaf {
    Leaf {
        id: variable.id(),
        name: variable.label(),
        ty: variable.ty().clone(),
        cell: cell_of(variable),
    }
}

/// The dtype may still be converted, within its kind; ranks, known lengths and LoD must fit.
fn check_types(old: &Variable, new: &Variable) -> Result<(), GraphErrorKind> {
    let (expected, found) = (old.ty(), new.ty());
    let same_kind = expected.dtype().is_float() || !found.dtype().is_float();
    if same_kind && expected.is_compatible(&found.with_dtype(expected.dtype())) {
        return Ok(());
    }
    Err(GraphErrorKind::UpdateType {
        name: old.label(),
        expected: expected.clone(),
        found: found.clone(),
    })
}

/// `outputs` with each `old` replaced by its `new`, as a new graph; the user's stays as it is.
fn substitute(
    outputs: Vec<Variable>,
    givens: &[(Variable, Variable)],
) -> Result<Vec<Variable>, GraphErrorKind> {
    if givens.is_empty() {
        return Ok(outputs);
    }
    let mut known: HashMap<u64, Variable> = HashMap::new();
    for (old, new) in givens {
        if !old.ty().is_compatible(new.ty()) {
            let (name, expected, found) = (old.label(), old.ty().clone(), new.ty().clone());
            return Err(GraphErrorKind::UpdateType {
                name,
                expected,
                found,
            });
        }
        known.insert(old.id(), new.clone());
    }
    for output in &outputs {
        rebuild(output, &mut known)?;
    }
    Ok(outputs
        .iter()
        .map(|v| known.get(&v.id()).unwrap_or(v).clone())
        .collect())
}

/// Makes anew every node between the substituted variables and `root`.
fn rebuild(root: &Variable, known: &mut HashMap<u64, Variable>) -> Result<(), GraphErrorKind> {
    let mut pending = vec![root.clone()];
    while let Some(variable) = pending.last().cloned() {
        let Some(apply) = variable
            .owner()
            .filter(|_| !known.contains_key(&variable.id()))
        else {
            known
                .entry(variable.id())
                .or_insert_with(|| variable.clone());
            pending.pop();
            continue;
        };
        let waiting: Vec<Variable> = apply
            .inputs()
            .iter()
            .filter(|v| !known.contains_key(&v.id()))
            .cloned()
            .collect();
        if !waiting.is_empty() {
            pending.extend(waiting);
            continue;
        }
        let inputs: Vec<Variable> = apply
            .inputs()
            .iter()
            .map(|v| known[&v.id()].clone())
            .collect();
        let copies = if inputs == apply.inputs() {
            apply.outputs()
        } else {
            let made = Apply::make(apply.op().clone(), inputs, apply.span());
            made.map_err(GraphError::into_kind)?.outputs()
        };
        for (old, new) in apply.outputs().iter().zip(copies) {
            known.entry(old.id()).or_insert(new);
        }
        pending.pop();
    }
    Ok(())
}
