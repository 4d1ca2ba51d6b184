//! Plans of one kernel from what is given to what is wanted: nothing is left to find out but its operands.

use crate::error::{GraphErrorKind, Result};
use crate::fgraph::NodeId;
use crate::function::call::{Frame, at_node};
use crate::function::plan::{Home, Plan, Step};
use crate::function::program::Program;
use crate::op::Slot;
use smallvec::SmallVec;

/// The only step of a plan: its results are the graph's outputs, its inputs are given.
pub(crate) struct Sole {
    node: NodeId,
    inputs: SmallVec<[Home; 4]>,
}

impl Sole {
    /// The step, if there is no other and nothing but operands to hand to it.
    pub(crate) fn new(program: &Program, steps: &[Step], homes: &[Home]) -> Option<Self> {
        let [Step::Perform(node)] = *steps else {
            return None;
        };
        let graph = &program.graph;
        let home = |value: &crate::fgraph::ValueId| homes[value.index()];
        let inputs: SmallVec<[Home; 4]> = graph.node_inputs(node).iter().map(home).collect();
        let is_given = |home: &Home| matches!(home, Home::Leaf(_) | Home::Constant(_));
        let whole = graph.node_outputs(node) == graph.outputs();
        (whole && inputs.iter().all(is_given)).then_some(Self { node, inputs })
    }

    /// Runs it.
    ///
    /// # Errors
    /// Those of the op, with the names of its operands.
    pub(crate) fn run(&self, plan: &Plan, frame: &Frame<'_>) -> Result<()> {
        let graph = &plan.program.graph;
        let run = || {
            let mut inputs: SmallVec<[&Slot; 4]> = SmallVec::new();
            for home in &self.inputs {
                inputs.push(frame.get(*home)?);
            }
            let mut outputs: SmallVec<[&Slot; 2]> = SmallVec::new();
            for output in frame.outputs.iter() {
                let Some(slot) = output else {
                    return Err(GraphErrorKind::NotComputable);
                };
                outputs.push(slot);
            }
            graph.op(self.node).perform(&inputs, &outputs)
        };
        run().map_err(|kind| at_node(graph, kind, self.node))
    }
}
