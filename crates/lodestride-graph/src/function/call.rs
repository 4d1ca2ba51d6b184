//! One call: check the values, find the plan, run the steps, hand out the results.

use crate::error::{GraphError, GraphErrorKind, Result, Span};
use crate::fgraph::{NodeId, ValueId};
use crate::function::plan::{Place, Plan, Step};
use crate::function::{Function, Leaf};
use crate::op::{Facts, OpRef, Planned, Slot};
use crate::ty::{Dim, Type};
use crate::value::Value;
use lodestride_array::kernels;
use lodestride_array::{Buffer, DType, NdArray, scope_out};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Is told of every step of a call.
pub(crate) type Hook<'a> = &'a mut dyn FnMut(&OpRef, Duration);

/// Values during a call, by their index in the graph.
struct Environment {
    slots: Vec<Option<Slot>>,
}

impl Environment {
    fn get(&self, value: ValueId) -> Result<&Slot, GraphErrorKind> {
        self.slots[value.index()]
            .as_ref()
            .ok_or(GraphErrorKind::NotComputable)
    }
}

impl Function {
    /// Runs the function on checked numbers of values. The results count as allocated where the user calls.
    #[track_caller]
    pub(crate) fn run(
        &self,
        values: Vec<Value>,
        span: Span,
        hook: Option<Hook<'_>>,
    ) -> Result<Vec<Value>> {
        let fail = |kind| GraphError::new(kind, None, span);
        let mut given = Vec::with_capacity(self.leaves.len());
        for (leaf, value) in self.leaves.iter().zip(values) {
            given.push(accept(leaf, value).map_err(fail)?);
        }
        for leaf in &self.leaves[self.fed..] {
            if let Some(cell) = &leaf.cell {
                given.push(cell.lock().value.clone().into_slot());
            }
        }
        let plan = self.plan_for(&given).map_err(|error| error.or_span(span))?;
        let outputs = self.output_memory(&plan).map_err(fail)?;
        if plan.direct {
            let results = self.execute(&plan, given, outputs, hook)?;
            return self.hand_out(results).map_err(fail);
        }
        let arena = self.arenas.borrow(plan.bytes).map_err(fail)?;
        let results = {
            let guard = arena.workspace().enter().map_err(|e| fail(e.into()))?;
            let results = self.execute(&plan, given, outputs, hook)?;
            guard.close().map_err(|e| fail(e.into()))?;
            results
        };
        self.arenas.give_back(arena);
        self.hand_out(results).map_err(fail)
    }

    /// The cached plan for these leaves, or a new one.
    fn plan_for(&self, given: &[Slot]) -> Result<Arc<Plan>> {
        let hash = match self.plans.find(given) {
            Ok(plan) => return Ok(plan),
            Err(hash) => hash,
        };
        self.check_symbols(given)
            .map_err(|kind| GraphError::with_spans(kind, None, Vec::new()))?;
        let plan = Arc::new(self.plan(given, hash)?);
        self.plans.insert(Arc::clone(&plan));
        Ok(plan)
    }

    /// Lengths of one name agree across all inputs.
    fn check_symbols(&self, given: &[Slot]) -> Result<(), GraphErrorKind> {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (leaf, slot) in self.leaves.iter().zip(given) {
            for (dim, found) in leaf.ty.dims().iter().zip(slot.data.shape().iter()) {
                let Dim::Symbol(symbol) = dim else { continue };
                let first = *seen.entry(symbol).or_insert(*found);
                if first != *found {
                    let (symbol, name) = (Arc::clone(symbol), Arc::clone(&leaf.name));
                    return Err(GraphErrorKind::Symbol {
                        symbol,
                        first,
                        second: *found,
                        name,
                    });
                }
            }
        }
        Ok(())
    }

    /// Memory for every output whose shape is known: the caller's for results, the shared variables' for updates.
    #[track_caller]
    fn output_memory(&self, plan: &Plan) -> Result<Vec<Option<NdArray>>, GraphErrorKind> {
        let mut memory = Vec::with_capacity(self.graph.outputs().len());
        for (position, output) in self.graph.outputs().iter().enumerate() {
            let Some(facts) = &plan.values[output.index()].facts else {
                memory.push(None);
                continue;
            };
            memory.push(Some(match position.checked_sub(self.returned) {
                None => NdArray::recycled(facts.dtype, facts.shape().clone())?,
                Some(update) => self.updates[update].cell.lock().spare(facts)?,
            }));
        }
        Ok(memory)
    }

    fn execute(
        &self,
        plan: &Plan,
        given: Vec<Slot>,
        outputs: Vec<Option<NdArray>>,
        mut hook: Option<Hook<'_>>,
    ) -> Result<Vec<Slot>> {
        let mut environment = Environment {
            slots: vec![None; self.graph.values.len()],
        };
        for (leaf, slot) in self.leaves.iter().zip(given) {
            environment.slots[leaf.value.index()] = Some(slot);
        }
        for (value, slot) in &self.constants {
            environment.slots[value.index()] = Some(slot.clone());
        }
        let slots = plan
            .slots
            .iter()
            .map(|bytes| NdArray::recycled(DType::U8, *bytes));
        let slots = slots
            .map(|array| Ok(array?.buffer().clone()))
            .collect::<Result<Vec<_>>>()?;
        for step in &plan.steps {
            let node = match step {
                Step::Perform(node)
                | Step::Integers(node, _)
                | Step::View(node)
                | Step::Late(node) => *node,
            };
            let start = hook.is_some().then(Instant::now);
            let done = self.step(step, node, plan, &mut environment, &slots, &outputs);
            done.map_err(|kind| self.at_node(kind, node))?;
            if let (Some(hook), Some(start)) = (&mut hook, start) {
                hook(self.graph.op(node), start.elapsed());
            }
        }
        self.collect(plan, &environment, outputs)
            .map_err(|kind| GraphError::with_spans(kind, None, Vec::new()))
    }

    fn at_node(&self, kind: GraphErrorKind, node: NodeId) -> GraphError {
        let names = self
            .graph
            .node_inputs(node)
            .iter()
            .map(|v| self.graph.label(*v))
            .collect();
        let spans = self.graph.spans(node).to_vec();
        GraphError::with_spans(kind, Some(self.graph.op(node)), spans).with_names(names)
    }

    fn step(
        &self,
        step: &Step,
        node: NodeId,
        plan: &Plan,
        environment: &mut Environment,
        slots: &[Buffer],
        outputs: &[Option<NdArray>],
    ) -> Result<(), GraphErrorKind> {
        let results = self.graph.node_outputs(node);
        if let Step::Late(_) = step {
            return self.late(node, plan, environment);
        }
        let mut made: SmallVec<[Slot; 2]> = SmallVec::new();
        for result in results {
            let planning = &plan.values[result.index()];
            let Some(facts) = &planning.facts else {
                return Err(GraphErrorKind::NotComputable);
            };
            let data = match &planning.place {
                Place::Slot(slot) => {
                    NdArray::from_buffer(slots[*slot].clone(), facts.layout.clone(), facts.dtype)?
                }
                Place::Output(position) => match &outputs[*position] {
                    Some(array) => array.clone(),
                    None => return Err(GraphErrorKind::NotComputable),
                },
                Place::View(of) => {
                    let source = environment.get(*of)?.data.buffer().clone();
                    NdArray::from_buffer(source, facts.layout.clone(), facts.dtype)?
                }
                Place::Nowhere | Place::Given | Place::Late => {
                    return Err(GraphErrorKind::NotComputable);
                }
            };
            made.push(Slot {
                data,
                lod: facts.lod.clone(),
            });
        }
        match step {
            Step::Perform(_) => self.perform(node, environment, &made)?,
            Step::Integers(_, values) => write_integers(&made[0].data, values)?,
            Step::View(_) | Step::Late(_) => {}
        }
        for (result, slot) in results.iter().zip(made) {
            environment.slots[result.index()] = Some(slot);
        }
        Ok(())
    }

    fn perform(
        &self,
        node: NodeId,
        environment: &Environment,
        made: &[Slot],
    ) -> Result<(), GraphErrorKind> {
        let op = self.graph.op(node);
        let made: SmallVec<[&Slot; 2]> = made.iter().collect();
        let mut inputs: SmallVec<[&Slot; 4]> = SmallVec::new();
        for (position, input) in self.graph.node_inputs(node).iter().enumerate() {
            match environment.get(*input) {
                Ok(slot) => inputs.push(slot),
                // An input that is only wanted for its shape has no numbers; the op does not look.
                Err(_) if !op.reads(position) => inputs.push(made[0]),
                Err(kind) => return Err(kind),
            }
        }
        op.perform(&inputs, &made)
    }

    /// A node whose shapes depend on numbers: planned, allocated (on the heap) and run at once.
    fn late(
        &self,
        node: NodeId,
        plan: &Plan,
        environment: &mut Environment,
    ) -> Result<(), GraphErrorKind> {
        let op = self.graph.op(node);
        let inputs = self.graph.node_inputs(node);
        let mut facts = Vec::with_capacity(inputs.len());
        for input in inputs {
            facts.push(match &plan.values[input.index()].facts {
                Some(known) => known.clone(),
                None => facts_of(environment.get(*input)?),
            });
        }
        let results = self.graph.node_outputs(node);
        if op.is_dynamic() {
            return self.dynamic(node, environment);
        }
        let mut made: SmallVec<[Slot; 2]> = SmallVec::new();
        let (mut fresh, mut integers) = (false, None);
        for (result, planned) in results.iter().zip(op.plan(&facts)?) {
            let dtype = self.graph.ty(*result).dtype();
            made.push(match planned {
                Planned::Fresh { shape, lod } => {
                    fresh = true;
                    Slot {
                        data: scope_out(|| NdArray::recycled(dtype, shape))?,
                        lod,
                    }
                }
                Planned::Integers { shape, values } => {
                    integers = Some(values);
                    Slot {
                        data: scope_out(|| NdArray::recycled(dtype, shape))?,
                        lod: None,
                    }
                }
                Planned::View { input, layout, lod } => {
                    let source = environment.get(inputs[input])?.data.buffer().clone();
                    Slot {
                        data: NdArray::from_buffer(source, layout, dtype)?,
                        lod,
                    }
                }
                Planned::Dynamic => return Err(GraphErrorKind::NotComputable),
            });
        }
        if fresh {
            self.perform(node, environment, &made)?;
        }
        if let Some(values) = integers {
            write_integers(&made[0].data, &values)?;
        }
        for (result, slot) in results.iter().zip(made) {
            environment.slots[result.index()] = Some(slot);
        }
        Ok(())
    }

    /// A node that finds out the shape of its results while it computes them.
    fn dynamic(&self, node: NodeId, environment: &mut Environment) -> Result<(), GraphErrorKind> {
        let made = {
            let inputs = self.graph.node_inputs(node).iter();
            let slots = inputs
                .map(|v| environment.get(*v))
                .collect::<Result<SmallVec<[&Slot; 4]>, _>>()?;
            scope_out(|| self.graph.op(node).compute(&slots))?
        };
        for (result, slot) in self.graph.node_outputs(node).iter().zip(made) {
            environment.slots[result.index()] = Some(slot);
        }
        Ok(())
    }

    /// Results that were not computed in place: copies of inputs, views, constants, late values.
    fn collect(
        &self,
        plan: &Plan,
        environment: &Environment,
        outputs: Vec<Option<NdArray>>,
    ) -> Result<Vec<Slot>, GraphErrorKind> {
        let mut results = Vec::with_capacity(outputs.len());
        for (position, (value, memory)) in self.graph.outputs().iter().zip(outputs).enumerate() {
            let source = environment.get(*value)?;
            let in_place =
                matches!(plan.values[value.index()].place, Place::Output(p) if p == position);
            let data = match memory {
                Some(memory) if in_place => memory,
                Some(memory) => {
                    kernels::copy(source.data.operand().into(), memory.operand())?;
                    memory
                }
                None => scope_out(|| source.data.dup())?,
            };
            results.push(Slot {
                data,
                lod: source.lod.clone(),
            });
        }
        Ok(results)
    }

    /// Stores the new values of shared variables and gives the rest to the caller.
    fn hand_out(&self, mut results: Vec<Slot>) -> Result<Vec<Value>, GraphErrorKind> {
        if self.updates.is_empty() {
            return results.into_iter().map(Value::from_slot).collect();
        }
        let new_values = results.split_off(self.returned);
        for (update, slot) in self.updates.iter().zip(&new_values) {
            let found = Type::tensor(slot.data.dtype(), slot.data.shape().iter().copied());
            if !update.ty.is_lod() && !update.ty.is_compatible(&found) {
                let (name, expected) = (Arc::clone(&update.name), update.ty.clone());
                return Err(GraphErrorKind::ValueType {
                    name,
                    expected,
                    found,
                });
            }
        }
        for (update, slot) in self.updates.iter().zip(new_values) {
            let value = Value::from_slot(slot)?;
            update.cell.lock().store(value);
        }
        results.into_iter().map(Value::from_slot).collect()
    }
}

fn facts_of(slot: &Slot) -> Facts {
    Facts {
        dtype: slot.data.dtype(),
        layout: slot.data.layout().clone(),
        lod: slot.lod.clone(),
    }
}

fn write_integers(out: &NdArray, values: &[i64]) -> Result<(), GraphErrorKind> {
    let mut values = values.iter();
    out.view_mut::<i64>()?
        .for_each(|slot| *slot = values.next().copied().unwrap_or_default());
    Ok(())
}

/// A fed value as the input's type: a wider dtype is accepted if nothing is lost, a plain number within its kind.
fn accept(leaf: &Leaf, value: Value) -> Result<Slot, GraphErrorKind> {
    let array = value.array();
    let expected = &leaf.ty;
    let refuse = |value: &Value| GraphErrorKind::ValueType {
        name: Arc::clone(&leaf.name),
        expected: expected.clone(),
        found: value.exact_type(),
    };
    let (from, to) = (array.dtype(), expected.dtype());
    let fits = expected.lod_level() == value.lod_level()
        && expected.rank() == array.rank()
        && expected
            .dims()
            .iter()
            .zip(array.shape().iter())
            .all(|(dim, n)| dim.known().is_none_or(|d| d == *n));
    if !fits {
        return Err(refuse(&value));
    }
    if from == to {
        return Ok(value.into_slot());
    }
    let lossless = from.promote(to) == to;
    let number = array.rank() == 0
        && from.is_float() == to.is_float()
        && to.is_integer() == from.is_integer();
    if !lossless && !number {
        return Err(refuse(&value));
    }
    let data = array.cast(to)?;
    Ok(Slot {
        data,
        ..value.into_slot()
    })
}
