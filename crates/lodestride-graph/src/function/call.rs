//! One call: check the values, find the plan, run the steps, hand out the results.

use crate::error::{GraphError, GraphErrorKind, Result, Span};
use crate::feed::Feed;
use crate::fgraph::{FunctionGraph, NodeId, ValueId};
use crate::function::plan::{Home, Place, Plan, Step};
use crate::function::{Function, Leaf};
use crate::op::{OpRef, Planned, Slot, SlotRef};
use crate::ty::{Dim, Type};
use crate::value::Value;
use lodestride_array::kernels;
use lodestride_array::{Buffer, NdArray, scope_out};
use lodestride_lod::Lod;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Is told of every step of a call.
pub(crate) type Hook<'a> = &'a mut dyn FnMut(&OpRef, Duration);

/// The fed values of a call, as they come in.
#[derive(Default)]
pub(crate) struct Fed<'a> {
    /// The values of the leaves, in their order.
    leaves: SmallVec<[Feed<'a>; 4]>,
    count: usize,
}

/// Values during a call, found by where the plan puts them.
pub(crate) struct Frame<'f> {
    leaves: &'f [Feed<'f>],
    constants: &'f [(ValueId, Value)],
    /// The graph's outputs, in their memory; in the end also those whose shapes depend on numbers.
    pub(crate) outputs: &'f mut Vec<Value>,
    /// What the steps have made beside the outputs, in their order.
    made: Vec<Slot>,
}

impl Frame<'_> {
    #[inline]
    fn find(&self, home: Home) -> Option<SlotRef<'_>> {
        Some(match home {
            Home::Leaf(leaf) => self.leaves.get(leaf)?.by_ref(),
            Home::Constant(constant) => self.constants.get(constant)?.1.by_ref(),
            Home::Output(position) => self.outputs.get(position)?.by_ref(),
            Home::Made(number) => self.made.get(number)?.by_ref(),
            Home::Nowhere => return None,
        })
    }

    #[inline]
    pub(crate) fn get(&self, home: Home) -> Result<SlotRef<'_>, GraphErrorKind> {
        // Not `ok_or`, which makes the error and drops it again.
        match self.find(home) {
            Some(slot) => Ok(slot),
            None => Err(GraphErrorKind::NotComputable),
        }
    }
}

impl Function {
    /// Takes the next value of a call. What is wrong with it is said by [`run`](Self::run), after the count.
    #[inline]
    pub(crate) fn feed<'a>(&self, fed: &mut Fed<'a>, value: Feed<'a>) {
        if fed.count < self.fed {
            fed.leaves.push(value);
        }
        fed.count += 1;
    }

    /// Checks how many were fed, and adds the values of the other leaves. In place: the values are moved once, when they
    /// come.
    fn complete_leaves(&self, fed: &mut Fed<'_>) -> Result<(), GraphErrorKind> {
        if fed.count != self.fed {
            return Err(GraphErrorKind::ArgumentCount {
                expected: self.input_names(),
                found: fed.count,
            });
        }
        for leaf in &self.leaves[self.fed..] {
            if let Some(cell) = &leaf.cell {
                fed.leaves.push(cell.lock().value.clone().into());
            }
        }
        Ok(())
    }

    /// Checks that the fed values have the inputs' types, and converts those that may have another one.
    fn accept(&self, given: &mut [Feed<'_>]) -> Result<(), GraphErrorKind> {
        for (leaf, feed) in self.leaves[..self.fed].iter().zip(given) {
            let slot = feed.by_ref();
            if let Some(data) = accepted(leaf, slot)? {
                *feed = Value::new(data, slot.lod.cloned())?.into();
            }
        }
        Ok(())
    }

    /// Runs the function on what it was fed. The results count as allocated where the user calls.
    #[track_caller]
    pub(crate) fn run(
        &self,
        fed: &mut Fed<'_>,
        span: Span,
        hook: Option<Hook<'_>>,
    ) -> Result<Vec<Value>> {
        let fail = |kind| GraphError::new(kind, None, span);
        self.complete_leaves(fed).map_err(fail)?;
        let other;
        let plan = match self.plans.first(&fed.leaves) {
            Some(plan) => plan,
            None => {
                other = self.other_plan(&mut fed.leaves, span)?;
                &other
            }
        };
        if let (Some(packed), None, true) = (plan.packed(), &hook, self.updates.is_empty())
            && let Some(result) = packed.run(&plan.program, &fed.leaves)
        {
            return Ok(vec![result]);
        }
        let mut outputs = Vec::with_capacity(plan.program.graph.outputs().len());
        (self.output_memory(plan, &mut outputs)).map_err(fail)?;
        let mut frame = Frame {
            leaves: &fed.leaves,
            constants: &plan.program.constants,
            outputs: &mut outputs,
            made: Vec::with_capacity(plan.made),
        };
        if plan.direct {
            self.execute(plan, &mut frame, hook)?;
            return self.hand_out(outputs).map_err(fail);
        }
        let arena = self.arenas.borrow(plan.bytes).map_err(fail)?;
        let guard = arena.workspace().enter().map_err(|e| fail(e.into()))?;
        self.execute(plan, &mut frame, hook)?;
        frame.made.clear();
        guard.close().map_err(|e| fail(e.into()))?;
        self.arenas.give_back(arena);
        self.hand_out(outputs).map_err(fail)
    }

    /// The plan for leaves that are not those of the first: that of the last call, or any.
    fn other_plan(&self, given: &mut [Feed<'_>], span: Span) -> Result<Arc<Plan>> {
        // Values of a signature that was planned have the types that were accepted then.
        if let Some(plan) = self.plans.newest(given) {
            return Ok(plan);
        }
        (self.accept(given)).map_err(|kind| GraphError::new(kind, None, span))?;
        self.plan_for(given).map_err(|error| error.or_span(span))
    }

    /// The cached plan for these leaves, or a new one.
    fn plan_for(&self, given: &[Feed<'_>]) -> Result<Arc<Plan>> {
        let hash = match self.plans.find(given) {
            Ok(plan) => return Ok(plan),
            Err(hash) => hash,
        };
        self.check_symbols(given)
            .map_err(|kind| GraphError::with_spans(kind, None, Vec::new()))?;
        let program = self.forms.of(&self.written, &self.leaves, given);
        let general = &self.forms.general;
        let plan = match Plan::new(Arc::clone(&program), given, hash) {
            // In the user's words.
            Err(_) if !Arc::ptr_eq(&program, general) => {
                Plan::new(Arc::clone(general), given, hash)
            }
            plan => plan,
        };
        let plan = Arc::new(plan?);
        self.plans.insert(Arc::clone(&plan));
        Ok(plan)
    }

    /// Lengths of one name agree across all inputs.
    fn check_symbols(&self, given: &[Feed<'_>]) -> Result<(), GraphErrorKind> {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (leaf, slot) in self.leaves.iter().zip(given.iter().map(Feed::by_ref)) {
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
    fn output_memory(&self, plan: &Plan, memory: &mut Vec<Value>) -> Result<(), GraphErrorKind> {
        for (position, output) in plan.program.graph.outputs().iter().enumerate() {
            let Some(facts) = &plan.values[output.index()].facts else {
                continue;
            };
            let data = match position.checked_sub(self.returned) {
                None => NdArray::recycled_packed(facts.dtype, &facts.layout)?,
                Some(update) => self.updates[update].cell.lock().spare(facts)?,
            };
            memory.push(Value::new(data, facts.lod.clone())?);
        }
        Ok(())
    }

    fn execute(
        &self,
        plan: &Plan,
        frame: &mut Frame<'_>,
        mut hook: Option<Hook<'_>>,
    ) -> Result<()> {
        if let (Some(sole), None) = (&plan.sole, &hook) {
            return sole.run(plan, frame);
        }
        let mut slots = Vec::with_capacity(plan.slots.len());
        for bytes in &plan.slots {
            slots.push(Buffer::recycled(*bytes)?);
        }
        for step in &plan.steps {
            let node = step.node();
            let start = hook.is_some().then(Instant::now);
            let done = self.step(step, plan, frame, &slots);
            done.map_err(|kind| at_node(&plan.program.graph, kind, node))?;
            if let (Some(hook), Some(start)) = (&mut hook, start) {
                hook(step.op(&plan.program.graph), start.elapsed());
            }
        }
        self.complete(plan, frame)
            .map_err(|kind| GraphError::with_spans(kind, None, Vec::new()))
    }

    fn step(
        &self,
        step: &Step,
        plan: &Plan,
        frame: &mut Frame<'_>,
        slots: &[Buffer],
    ) -> Result<(), GraphErrorKind> {
        let node = step.node();
        if let Step::Late(_) = step {
            return self.late(node, plan, frame);
        }
        let results = step.outputs(&plan.program.graph);
        for result in results {
            let planning = &plan.values[result.index()];
            let Some(facts) = &planning.facts else {
                return Err(GraphErrorKind::NotComputable);
            };
            let memory = match &planning.place {
                // It is there since the call began.
                Place::Output(_) => continue,
                Place::Slot(slot) => &slots[*slot],
                Place::View(of) => frame.get(plan.home(*of))?.data.buffer(),
                Place::Nowhere | Place::Given | Place::Late => {
                    return Err(GraphErrorKind::NotComputable);
                }
            };
            let data = NdArray::from_buffer(memory.clone(), facts.layout.clone(), facts.dtype)?;
            let lod = facts.lod.clone();
            frame.made.push(Slot { data, lod });
        }
        match step {
            Step::Perform(_) | Step::Rows(_) => self.perform(step, plan, frame),
            Step::Integers(_, values) => {
                write_integers(frame.get(plan.home(results[0]))?.data, values)
            }
            Step::View(_) | Step::Late(_) => Ok(()),
        }
    }

    /// Runs an op on memory that is in the frame, that of its results too.
    fn perform(&self, step: &Step, plan: &Plan, frame: &Frame<'_>) -> Result<(), GraphErrorKind> {
        let graph = &plan.program.graph;
        let (op, given, results) = (step.op(graph), step.inputs(graph), step.outputs(graph));
        let mut made: SmallVec<[SlotRef<'_>; 2]> = SmallVec::with_capacity(results.len());
        for result in results {
            made.push(frame.get(plan.home(*result))?);
        }
        let mut inputs: SmallVec<[SlotRef<'_>; 4]> = SmallVec::with_capacity(given.len());
        for (position, input) in given.iter().enumerate() {
            match frame.find(plan.home(*input)) {
                Some(slot) => inputs.push(slot),
                // An input that is only wanted for its shape has no numbers; the op does not look.
                None if !op.reads(position) => inputs.push(made[0]),
                None => return Err(GraphErrorKind::NotComputable),
            }
        }
        op.perform(&inputs, &made)
    }

    /// A node whose shapes depend on numbers: planned, allocated (on the heap) and run at once.
    fn late(&self, node: NodeId, plan: &Plan, frame: &mut Frame<'_>) -> Result<(), GraphErrorKind> {
        let op = plan.program.graph.op(node);
        let inputs = plan.program.graph.node_inputs(node);
        let mut facts = Vec::with_capacity(inputs.len());
        for input in inputs {
            facts.push(match &plan.values[input.index()].facts {
                Some(known) => known.clone(),
                None => frame.get(plan.home(*input))?.facts(),
            });
        }
        if op.is_dynamic() {
            return self.dynamic(node, plan, frame);
        }
        let results = plan.program.graph.node_outputs(node);
        let (mut fresh, mut integers) = (false, None);
        let planned = op.plan(&facts)?;
        check_results(results.len(), planned.len())?;
        for (result, planned) in results.iter().zip(planned) {
            let dtype = plan.program.graph.ty(*result).dtype();
            let slot = match planned {
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
                    let source = frame.get(plan.home(inputs[input]))?.data.buffer().clone();
                    Slot {
                        data: NdArray::from_buffer(source, layout, dtype)?,
                        lod,
                    }
                }
                Planned::Dynamic => return Err(GraphErrorKind::NotComputable),
            };
            frame.made.push(slot);
        }
        if fresh {
            self.perform(&Step::Perform(node), plan, frame)?;
        }
        if let Some(values) = integers {
            write_integers(frame.get(plan.home(results[0]))?.data, &values)?;
        }
        Ok(())
    }

    /// A node that finds out the shape of its results while it computes them.
    fn dynamic(
        &self,
        node: NodeId,
        plan: &Plan,
        frame: &mut Frame<'_>,
    ) -> Result<(), GraphErrorKind> {
        let made = {
            let inputs = plan.program.graph.node_inputs(node).iter();
            let slots = inputs
                .map(|v| frame.get(plan.home(*v)))
                .collect::<Result<SmallVec<[SlotRef<'_>; 4]>, _>>()?;
            scope_out(|| plan.program.graph.op(node).compute(&slots))?
        };
        check_results(plan.program.graph.node_outputs(node).len(), made.len())?;
        frame.made.extend(made);
        Ok(())
    }

    /// Results that were not computed where they are wanted: copies of inputs, views, constants, late values.
    fn complete(&self, plan: &Plan, frame: &mut Frame<'_>) -> Result<(), GraphErrorKind> {
        let (mut known, mut late) = (0, Vec::new());
        for (position, value) in plan.program.graph.outputs().iter().enumerate() {
            let home = plan.home(*value);
            if plan.values[value.index()].facts.is_none() {
                let source = frame.get(home)?;
                let data = scope_out(|| source.data.dup())?;
                late.push((position, Value::new(data, source.lod.cloned())?));
                continue;
            }
            if home != Home::Output(known) {
                let output = &frame.outputs[known];
                kernels::copy(
                    frame.get(home)?.data.operand().into(),
                    output.array().operand(),
                )?;
            }
            known += 1;
        }
        for (position, value) in late {
            frame.outputs.insert(position, value);
        }
        Ok(())
    }

    /// Stores the new values of shared variables and gives the rest to the caller.
    fn hand_out(&self, mut values: Vec<Value>) -> Result<Vec<Value>, GraphErrorKind> {
        if self.updates.is_empty() {
            return Ok(values);
        }
        let new_values = values.split_off(self.returned);
        for (update, value) in self.updates.iter().zip(&new_values) {
            let array = value.array();
            let found = Type::tensor(array.dtype(), array.shape().iter().copied());
            if !update.ty.is_lod() && !update.ty.is_compatible(&found) {
                let (name, expected) = (Arc::clone(&update.name), update.ty.clone());
                return Err(GraphErrorKind::ValueType {
                    name,
                    expected,
                    found,
                });
            }
        }
        for (update, value) in self.updates.iter().zip(new_values) {
            update.cell.lock().store(value);
        }
        Ok(values)
    }
}

/// An error of a node, with the names of its operands and the user's lines.
pub(crate) fn at_node(graph: &FunctionGraph, kind: GraphErrorKind, node: NodeId) -> GraphError {
    let names = graph.node_inputs(node).iter();
    let names = names.map(|v| graph.label(*v)).collect();
    let spans = graph.spans(node).to_vec();
    GraphError::with_spans(kind, Some(graph.op(node)), spans).with_names(names)
}

/// An op tells of as many results as it has.
fn check_results(expected: usize, found: usize) -> Result<(), GraphErrorKind> {
    if expected == found {
        Ok(())
    } else {
        Err(GraphErrorKind::NotComputable)
    }
}

fn write_integers(out: &NdArray, values: &[i64]) -> Result<(), GraphErrorKind> {
    let mut values = values.iter();
    out.view_mut::<i64>()?
        .for_each(|slot| *slot = values.next().copied().unwrap_or_default());
    Ok(())
}

/// Checks that a fed value has the input's type, and gives its numbers in the input's dtype where they have another one: a
/// wider dtype is accepted if nothing is lost, a plain number within its kind.
fn accepted(leaf: &Leaf, slot: SlotRef<'_>) -> Result<Option<NdArray>, GraphErrorKind> {
    let array = slot.data;
    let expected = &leaf.ty;
    let (from, to) = (array.dtype(), expected.dtype());
    let fits = expected.lod_level() == slot.lod.map_or(0, Lod::depth)
        && expected.rank() == array.rank()
        && expected
            .dims()
            .iter()
            .zip(array.shape().iter())
            .all(|(dim, n)| dim.known().is_none_or(|d| d == *n));
    if fits && from == to {
        return Ok(None);
    }
    let lossless = from.promote(to) == to;
    let number = array.rank() == 0
        && from.is_float() == to.is_float()
        && to.is_integer() == from.is_integer();
    if fits && (lossless || number) {
        return Ok(Some(array.cast(to)?));
    }
    Err(GraphErrorKind::ValueType {
        name: Arc::clone(&leaf.name),
        expected: expected.clone(),
        found: Type::of(array, slot.lod),
    })
}
