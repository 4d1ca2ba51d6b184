//! Plans of one kernel from what is given to what is wanted: nothing is left to find out but its operands.

use crate::error::{GraphErrorKind, Result};
use crate::fgraph::{NodeId, ValueId};
use crate::function::call::{Frame, at_node};
use crate::function::packed::Packed;
use crate::function::plan::{Home, Plan, Planning, Step};
use crate::function::program::Program;
use crate::op::SlotRef;
use crate::ops::Fused;
use crate::value::Value;
use lodestride_array::kernels::{self, Input, Operand};
use smallvec::SmallVec;

/// The only step of a plan: its results are the graph's outputs, its inputs are given.
pub(crate) struct Sole {
    node: NodeId,
    inputs: SmallVec<[Home; 4]>,
    /// Whether all its operands have one shape.
    alike: bool,
    /// The step, where its operands are packed as well.
    pub(crate) packed: Option<Packed>,
}

impl Sole {
    /// The step, if there is no other and nothing but operands to hand to it.
    pub(crate) fn new(
        program: &Program,
        steps: &[Step],
        homes: &[Home],
        values: &[Planning],
    ) -> Option<Self> {
        let [Step::Perform(node)] = *steps else {
            return None;
        };
        let graph = &program.graph;
        let (inputs, outputs) = (graph.node_inputs(node), graph.node_outputs(node));
        let shape = |value: &ValueId| Some(values[value.index()].facts.as_ref()?.layout.shape());
        let mut shapes = inputs.iter().chain(outputs).map(shape);
        let first = shape(outputs.first()?);
        let alike = shapes.all(|shape| shape == first);
        let inputs: SmallVec<[Home; 4]> = inputs.iter().map(|v| homes[v.index()]).collect();
        let is_given = |home: &Home| matches!(home, Home::Leaf(_) | Home::Constant(_));
        let packed = Packed::new(program, node, &inputs, values).filter(|_| alike);
        let whole = outputs == graph.outputs() && inputs.iter().all(is_given);
        whole.then_some(Self {
            node,
            inputs,
            alike,
            packed,
        })
    }

    /// Runs it.
    ///
    /// # Errors
    /// Those of the op, with the names of its operands.
    pub(crate) fn run(&self, plan: &Plan, frame: &Frame<'_>) -> Result<()> {
        let graph = &plan.program.graph;
        let op = graph.op(self.node);
        let run = || match op.downcast_ref::<Fused>() {
            // An op looks at the shapes of its inputs again.
            Some(fused) if self.alike => self.run_program(fused.program(), frame),
            _ => {
                let inputs = self.inputs.iter().map(|home| frame.get(*home));
                let inputs = inputs.collect::<Result<SmallVec<[SlotRef<'_>; 4]>, _>>()?;
                let outputs = frame.outputs.iter().map(Value::by_ref);
                let outputs: SmallVec<[SlotRef<'_>; 2]> = outputs.collect();
                op.perform(&inputs, &outputs)
            }
        };
        run().map_err(|kind| at_node(graph, kind, self.node))
    }

    /// Pushed one by one, which costs half of a collection.
    fn run_program(
        &self,
        program: &kernels::Program,
        frame: &Frame<'_>,
    ) -> Result<(), GraphErrorKind> {
        let mut inputs: SmallVec<[Input<'_>; 4]> = SmallVec::new();
        for home in &self.inputs {
            inputs.push(frame.get(*home)?.data.operand().into());
        }
        let mut outputs: SmallVec<[Operand<'_>; 2]> = SmallVec::new();
        for value in &*frame.outputs {
            outputs.push(value.array().operand());
        }
        Ok(program.run(&inputs, &outputs)?)
    }
}
