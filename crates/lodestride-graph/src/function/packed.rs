//! Plans of one fused kernel on arrays that lie packed: nothing is left to do but to open buffers.

use crate::feed::Feed;
use crate::fgraph::{NodeId, ValueId};
use crate::function::plan::{Home, Planning};
use crate::function::program::Program;
use crate::op::Facts;
use crate::ops::Fused;
use crate::value::Value;
use lodestride_array::{Buffer, NdArray};
use smallvec::SmallVec;

/// The only step of a plan: a fused op from given values to the graph's only output, dense ones of one shape, which lie packed in one
/// order, have the dtypes that the op's program wants, and are few: a result is only made where it will be computed.
pub(crate) struct Packed {
    node: NodeId,
    inputs: SmallVec<[Home; 4]>,
    result: Facts,
}

impl Packed {
    /// The step of these inputs, which are given, if it is one.
    pub(crate) fn new(
        program: &Program,
        node: NodeId,
        inputs: &[Home],
        values: &[Planning],
    ) -> Option<Self> {
        let graph = &program.graph;
        let [output] = graph.outputs() else {
            return None;
        };
        let fused = graph.op(node).downcast_ref::<Fused>()?.program();
        let facts = |value: &ValueId| values[value.index()].facts.as_ref();
        let result = facts(output)?;
        let mut operands = graph.node_inputs(node).iter().map(facts).enumerate();
        let fits = |(number, operand): (usize, Option<&Facts>)| {
            operand.is_some_and(|operand| {
                operand.layout.is_packed_like(&result.layout)
                    && fused.input_dtype(number) == Some(operand.dtype)
            })
        };
        let wanted = result.lod.is_none()
            && fused.output_dtype(0) == Some(result.dtype)
            && fused.suits_packed(result.layout.elements());
        (wanted && operands.all(fits)).then(|| Self {
            node,
            inputs: inputs.iter().copied().collect(),
            result: result.clone(),
        })
    }

    /// Makes the result; `None` where that is not possible: the way of all other plans does it then, or says what is wrong.
    // The array is made here and moved on when it is computed: what was just put together is slow to move.
    #[track_caller]
    pub(crate) fn run(&self, program: &Program, leaves: &[Feed<'_>]) -> Option<Value> {
        let fused = program.graph.op(self.node).downcast_ref::<Fused>()?;
        let mut inputs: SmallVec<[&Buffer; 4]> = SmallVec::new();
        for home in &self.inputs {
            inputs.push(match home {
                Home::Leaf(leaf) => leaves.get(*leaf)?.by_ref().data.buffer(),
                Home::Constant(constant) => program.constants.get(*constant)?.1.array().buffer(),
                Home::Output(_) | Home::Made(_) | Home::Nowhere => return None,
            });
        }
        let Facts { dtype, layout, .. } = &self.result;
        let Ok(made) = NdArray::recycled_packed(*dtype, layout) else {
            return None;
        };
        let done = (fused.program()).run_packed(made.len(), &inputs, made.buffer());
        done.then_some(Value::Dense(made))
    }
}
