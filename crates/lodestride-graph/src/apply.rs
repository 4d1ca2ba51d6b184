//! Apply nodes: the blue boxes of a graph, one op applied to some variables.

use crate::error::{GraphError, GraphErrorKind, Result, Span};
use crate::op::{Argument, OpRef};
use crate::variable::{Identity, Kind, Variable};
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub(crate) struct ApplyNode {
    pub(crate) op: OpRef,
    pub(crate) inputs: Vec<Variable>,
    /// What identifies the outputs. The handles themselves are made anew from this: holding them would be a cycle.
    outputs: Vec<Arc<Identity>>,
    span: Span,
}

/// The application of an [`Op`](crate::Op) to inputs: a function call, where the op is the function.
///
/// Clones are the same node; equality is identity.
#[derive(Clone)]
pub struct Apply(pub(crate) Arc<ApplyNode>);

impl Apply {
    /// Ties `op`, `inputs` and `outputs` together by hand and sets `owner` and `index` of each output.
    ///
    /// The usual way to make a node is to call the op: `&x + &y`, or [`OpRef::call`], which also works out the output
    /// types. Here they are checked against what the op would give.
    ///
    /// # Errors
    /// The op's own refusal of the input types; `OutputCount`; `OutputType` when an output's type cannot hold the
    /// result; `OutputOwned` when an output already has another owner; `Cycle` when an output is an ancestor of an
    /// input.
    ///
    /// ```
    /// use lodestride_graph::{Apply, DType, TensorType, Variable, ops};
    /// let float64_matrix = TensorType::new(DType::F64, [false, false]);
    /// let y = Variable::new(&float64_matrix, "y");
    /// let z = Variable::new(&float64_matrix, "z");
    /// let mul_variable = Variable::new(&float64_matrix, None);
    /// assert!(mul_variable.owner().is_none());
    /// let node_mul = Apply::new(ops::mul(), &[&y, &z], &[&mul_variable])?;
    /// assert_eq!(mul_variable.owner(), Some(&node_mul));
    /// assert_eq!(mul_variable.index(), 0);
    /// # Ok::<(), lodestride_graph::GraphError>(())
    /// ```
    #[track_caller]
    pub fn new(op: impl Into<OpRef>, inputs: &[&Variable], outputs: &[&Variable]) -> Result<Self> {
        let span = Span(Location::caller());
        let op = op.into();
        let fail = |kind| GraphError::new(kind, Some(&op), span);
        let inputs: Vec<Variable> = inputs.iter().map(|v| (*v).clone()).collect();
        let types = op.infer(&Argument::list(&inputs)).map_err(&fail)?;
        if types.len() != outputs.len() {
            return Err(fail(GraphErrorKind::OutputCount {
                expected: types.len(),
                found: outputs.len(),
            }));
        }
        for (index, (expected, output)) in types.iter().zip(outputs).enumerate() {
            if output.owner().is_some() || outputs[..index].contains(output) {
                return Err(fail(GraphErrorKind::OutputOwned { index }));
            }
            if !matches!(output.0.identity.kind, Kind::Plain) {
                return Err(fail(GraphErrorKind::ConstantOutput { index }));
            }
            if !expected.is_compatible(output.ty()) {
                return Err(fail(GraphErrorKind::OutputType {
                    index,
                    expected: expected.clone(),
                    found: output.ty().clone(),
                }));
            }
        }
        if closes_cycle(&inputs, outputs) {
            return Err(fail(GraphErrorKind::Cycle));
        }
        let identities = outputs.iter().map(|v| Arc::clone(&v.0.identity)).collect();
        let node = Self::assemble(op.clone(), inputs, identities, span);
        for (index, output) in outputs.iter().enumerate() {
            output.set_owner(&node, index).map_err(&fail)?;
        }
        Ok(node)
    }

    fn assemble(op: OpRef, inputs: Vec<Variable>, outputs: Vec<Arc<Identity>>, span: Span) -> Self {
        for input in &inputs {
            input.0.identity.used.store(true, Ordering::Relaxed);
        }
        Self(Arc::new(ApplyNode {
            op,
            inputs,
            outputs,
            span,
        }))
    }

    /// The node `op(inputs)` with fresh outputs; the spine of every method and operator.
    pub(crate) fn make(op: OpRef, inputs: Vec<Variable>, span: Span) -> Result<Self> {
        let types = op
            .infer(&Argument::list(&inputs))
            .map_err(|kind| GraphError::new(kind, Some(&op), span).with_operands(&inputs))?;
        let outputs = types
            .into_iter()
            .map(|ty| Identity::new(ty, Kind::Plain, None, span))
            .collect();
        Ok(Self::assemble(op, inputs, outputs, span))
    }

    /// The op: which function is applied.
    pub fn op(&self) -> &OpRef {
        &self.0.op
    }

    /// The arguments.
    pub fn inputs(&self) -> &[Variable] {
        &self.0.inputs
    }

    /// The number of results.
    pub fn output_count(&self) -> usize {
        self.0.outputs.len()
    }

    /// Result number `index`, if there is one.
    pub fn output(&self, index: usize) -> Option<Variable> {
        self.0
            .outputs
            .get(index)
            .map(|identity| Variable::output_of(self, index, identity))
    }

    /// The results. These back pointers are no edges of the graph.
    pub fn outputs(&self) -> Vec<Variable> {
        (0..self.output_count())
            .filter_map(|i| self.output(i))
            .collect()
    }

    /// The only result.
    ///
    /// # Errors
    /// `OutputCount` when the node has none or several.
    pub fn out(&self) -> Result<Variable> {
        match self.0.outputs.as_slice() {
            [identity] => Ok(Variable::output_of(self, 0, identity)),
            several => {
                let kind = GraphErrorKind::OutputCount {
                    expected: 1,
                    found: several.len(),
                };
                Err(GraphError::new(kind, Some(self.op()), self.0.span))
            }
        }
    }

    /// Identifies the node as long as it lives.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Where in the user's source the node was written.
    pub fn span(&self) -> Span {
        self.0.span
    }
}

/// Whether one of `outputs` is reachable from `inputs`. Only a variable that already serves as an input can be.
fn closes_cycle(inputs: &[Variable], outputs: &[&Variable]) -> bool {
    if outputs.iter().any(|v| inputs.contains(v)) {
        return true;
    }
    if !outputs
        .iter()
        .any(|v| v.0.identity.used.load(Ordering::Relaxed))
    {
        return false;
    }
    let targets: HashSet<u64> = outputs.iter().map(|v| v.id()).collect();
    let mut seen: HashSet<*const ApplyNode> = HashSet::new();
    let mut pending: Vec<&Variable> = inputs.iter().collect();
    while let Some(variable) = pending.pop() {
        if targets.contains(&variable.id()) {
            return true;
        }
        if let Some(apply) = variable.owner()
            && seen.insert(Arc::as_ptr(&apply.0))
        {
            pending.extend(apply.inputs());
        }
    }
    false
}

impl PartialEq for Apply {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Apply {}

impl Hash for Apply {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Display for Apply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.op().name())?;
        for (i, input) in self.inputs().iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{input}")?;
        }
        f.write_str(")")
    }
}

impl fmt::Debug for Apply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Apply({self} at {})", self.0.span)
    }
}
