//! What one call signature needs: shapes of every value, and which memory holds it when.

use crate::error::{GraphError, GraphErrorKind, Result};
use crate::feed::Feed;
use crate::fgraph::{FunctionGraph, NodeId, ValueId};
use crate::function::join_rows::{Joined, join_rows};
use crate::function::packed::Packed;
use crate::function::program::Program;
use crate::function::slots::Slots;
use crate::function::sole::Sole;
use crate::op::{Facts, OpRef, Overwrite, Planned, SlotRef};
use crate::ops::{
    BroadcastLike, BroadcastTo, ConcatPart, Diagonal, DropLod, ElementCount, Elemwise, ExpandDims,
    Fused, FusedReduce, LodLike, Permute, ShapeOf, Squeeze, Subtensor,
};
use lodestride_array::{Layout, Order, Shape};
use smallvec::SmallVec;
use std::sync::Arc;

/// Where a value is during a call.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// Nobody wants its numbers.
    Nowhere,
    /// Given: fed, shared or constant.
    Given,
    /// At the start of slot `0` of the arena.
    Slot(usize),
    /// In the memory of graph output `0`.
    Output(usize),
    /// In the memory of another value.
    View(ValueId),
    /// Made when its op runs.
    Late,
}

/// Where a call finds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// Nobody wants its numbers.
    Nowhere,
    /// Leaf number `0`.
    Leaf(usize),
    /// Constant number `0`.
    Constant(usize),
    /// Number `0` of the graph outputs whose shapes are known.
    Output(usize),
    /// Number `0` of what the steps make beside the outputs.
    Made(usize),
}

/// The plan for one value.
#[derive(Clone, Debug)]
pub(crate) struct Planning {
    pub(crate) place: Place,
    /// `None` for values whose shape depends on numbers.
    pub(crate) facts: Option<Facts>,
}

/// One thing to do in a call.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Run an op on memory that is there.
    Perform(NodeId),
    /// Write integers that follow from the shapes.
    Integers(NodeId, SmallVec<[i64; 4]>),
    /// Look at memory that is there in another way.
    View(NodeId),
    /// Plan, allocate and run now, because the shapes depend on numbers.
    Late(NodeId),
    /// Run several ops, row by row, on memory that is there.
    Rows(Arc<Joined>),
}

impl Step {
    /// The node that errors are told of.
    pub(crate) fn node(&self) -> NodeId {
        match self {
            Self::Perform(node) | Self::Integers(node, _) | Self::View(node) | Self::Late(node) => {
                *node
            }
            Self::Rows(joined) => joined.node,
        }
    }

    pub(crate) fn op<'s>(&'s self, graph: &'s FunctionGraph) -> &'s OpRef {
        match self {
            Self::Rows(joined) => &joined.op,
            _ => graph.op(self.node()),
        }
    }

    pub(crate) fn inputs<'s>(&'s self, graph: &'s FunctionGraph) -> &'s [ValueId] {
        match self {
            Self::Rows(joined) => &joined.inputs,
            _ => graph.node_inputs(self.node()),
        }
    }

    pub(crate) fn outputs<'s>(&'s self, graph: &'s FunctionGraph) -> &'s [ValueId] {
        match self {
            Self::Rows(joined) => &joined.outputs,
            _ => graph.node_outputs(self.node()),
        }
    }

    /// Whether a step needs no memory but its result's.
    fn is_elementwise(&self, graph: &FunctionGraph) -> bool {
        match self {
            Self::Perform(node) => {
                let op = graph.op(*node);
                op.is::<Fused>() || op.is::<Elemwise>() || op.is::<FusedReduce>()
            }
            Self::View(_) => true,
            Self::Integers(..) | Self::Late(_) | Self::Rows(_) => false,
        }
    }
}

/// The plan of one signature.
pub(crate) struct Plan {
    pub(crate) program: Arc<Program>,
    pub(crate) values: Vec<Planning>,
    homes: Vec<Home>,
    /// How many values the steps make beside the outputs.
    pub(crate) made: usize,
    pub(crate) steps: Vec<Step>,
    /// Bytes of each slot.
    pub(crate) slots: Vec<usize>,
    /// Bytes of the arena.
    pub(crate) bytes: usize,
    /// Whether everything is elementwise and computed where the caller wants it: no workspace is needed.
    pub(crate) direct: bool,
    /// The only step of a direct plan, where there is no other.
    pub(crate) sole: Option<Sole>,
    /// The leaves that it is for.
    key: Vec<Facts>,
    pub(super) hash: u64,
}

impl Plan {
    /// Where a value is during a call.
    #[inline]
    pub(crate) fn home(&self, value: ValueId) -> Home {
        self.homes[value.index()]
    }

    /// The only step, where it is a kernel on packed arrays.
    #[inline]
    pub(super) fn packed(&self) -> Option<&Packed> {
        self.sole.as_ref()?.packed.as_ref()
    }

    pub(super) fn matches(&self, leaves: &[Feed<'_>]) -> bool {
        self.key.len() == leaves.len()
            && self.key.iter().zip(leaves).all(|(key, leaf)| {
                let slot = leaf.by_ref();
                key.dtype == slot.data.dtype()
                    && key.layout == *slot.data.layout()
                    && key.lod.as_ref() == slot.lod
            })
    }
}

/// Ops that only look at memory or lengths; everything else touches elements.
pub(crate) fn touches_elements(op: &OpRef) -> bool {
    !(op.is::<Permute>()
        || op.is::<ExpandDims>()
        || op.is::<Squeeze>()
        || op.is::<BroadcastTo>()
        || op.is::<BroadcastLike>()
        || op.is::<Subtensor>()
        || op.is::<Diagonal>()
        || op.is::<ConcatPart>()
        || op.is::<DropLod>()
        || op.is::<LodLike>()
        || op.is::<ShapeOf>()
        || op.is::<ElementCount>()
        || op.is::<crate::grad::Barrier>())
}

/// Values whose shape depends on numbers: outputs of dynamic ops and what follows from them.
pub(crate) fn late_values(graph: &FunctionGraph, order: &[NodeId]) -> Vec<bool> {
    let mut late = vec![false; graph.values.len()];
    for node in order {
        let inputs_late = graph.node_inputs(*node).iter().any(|v| late[v.index()]);
        if inputs_late || graph.op(*node).is_dynamic() {
            for output in graph.node_outputs(*node) {
                late[output.index()] = true;
            }
        }
    }
    late
}

/// Nodes whose numbers are wanted by an output, directly or through ops that read them.
pub(crate) fn computed_nodes(graph: &FunctionGraph, order: &[NodeId], late: &[bool]) -> Vec<bool> {
    let mut wanted = vec![false; graph.values.len()];
    for output in graph.outputs() {
        wanted[output.index()] = true;
    }
    let mut computed = vec![false; graph.nodes.len()];
    for node in order.iter().rev() {
        let outputs = graph.node_outputs(*node);
        if !outputs.iter().any(|v| wanted[v.index()]) {
            continue;
        }
        computed[node.index()] = true;
        let is_late = outputs.iter().any(|v| late[v.index()]);
        for (position, input) in graph.node_inputs(*node).iter().enumerate() {
            if graph.op(*node).reads(position) || (is_late && late[input.index()]) {
                wanted[input.index()] = true;
            }
        }
    }
    computed
}

struct Planner<'p> {
    program: &'p Program,
    values: Vec<Planning>,
    steps: Vec<Step>,
}

impl Plan {
    /// The plan for a call of a program with these leaves.
    pub(crate) fn new(program: Arc<Program>, leaves: &[Feed<'_>], hash: u64) -> Result<Self> {
        let nothing = Planning {
            place: Place::Nowhere,
            facts: None,
        };
        let mut planner = Planner {
            program: &program,
            values: vec![nothing; program.graph.values.len()],
            steps: Vec::new(),
        };
        let given = |slot: SlotRef<'_>| Planning {
            place: Place::Given,
            facts: Some(slot.facts()),
        };
        for (value, leaf) in program.leaves.iter().zip(leaves) {
            if let Some(value) = value {
                planner.values[value.index()] = given(leaf.by_ref());
            }
        }
        for (value, constant) in &program.constants {
            planner.values[value.index()] = given(constant.by_ref());
        }
        for node in &program.order {
            planner.node(*node)?;
        }
        if program.joins_rows {
            let steps = std::mem::take(&mut planner.steps);
            planner.steps = join_rows(&program.graph, &planner.values, steps);
        }
        let slots = planner.assign();
        let bytes = slots.iter().map(|b| arena_bytes(*b)).sum();
        let key = leaves.iter().map(|leaf| leaf.by_ref().facts());
        let (homes, made) = planner.homes();
        let direct = slots.is_empty()
            && planner
                .steps
                .iter()
                .all(|step| step.is_elementwise(&program.graph));
        let (values, steps) = (planner.values, planner.steps);
        let sole = Sole::new(&program, &steps, &homes, &values).filter(|_| direct);
        Ok(Plan {
            program,
            homes,
            made,
            direct,
            sole,
            values,
            steps,
            slots,
            bytes,
            key: key.collect(),
            hash,
        })
    }
}

/// What a slot takes in the arena: every block starts on a 64-byte line, and one line is for its book-keeping.
fn arena_bytes(bytes: usize) -> usize {
    bytes.next_multiple_of(64) + 64
}

impl Planner<'_> {
    /// Shapes of a node's outputs, and the step that computes them if they are wanted.
    fn node(&mut self, node: NodeId) -> Result<()> {
        let graph = &self.program.graph;
        let computed = self.program.computed[node.index()];
        let outputs = graph.node_outputs(node);
        if outputs.iter().any(|v| self.program.late[v.index()]) {
            if computed {
                for output in outputs {
                    self.values[output.index()].place = Place::Late;
                }
                self.steps.push(Step::Late(node));
            }
            return Ok(());
        }
        let op = graph.op(node);
        let facts: Vec<Facts> = graph
            .node_inputs(node)
            .iter()
            .filter_map(|v| self.values[v.index()].facts.clone())
            .collect();
        let fail = |kind| GraphError::with_spans(kind, Some(op), graph.spans(node).to_vec());
        let planned = op.plan(&facts).map_err(fail)?;
        let mut step = None;
        for (output, planned) in outputs.iter().zip(planned) {
            let dtype = graph.ty(*output).dtype();
            let (place, layout, lod) = match planned {
                Planned::Fresh { shape, lod } => {
                    step = Some(Step::Perform(node));
                    (Place::Slot(usize::MAX), packed(shape).map_err(fail)?, lod)
                }
                Planned::Integers { shape, values } => {
                    step = Some(Step::Integers(node, values));
                    (Place::Slot(usize::MAX), packed(shape).map_err(fail)?, None)
                }
                Planned::View { input, layout, lod } => {
                    step.get_or_insert(Step::View(node));
                    (Place::View(graph.node_inputs(node)[input]), layout, lod)
                }
                Planned::Dynamic => return Err(fail(GraphErrorKind::NotComputable)),
            };
            let place = if computed { place } else { Place::Nowhere };
            self.values[output.index()] = Planning {
                place,
                facts: Some(Facts { dtype, layout, lod }),
            };
        }
        if computed {
            self.steps.extend(step);
        }
        Ok(())
    }

    /// The value that owns the memory of `value`.
    fn root(&self, value: ValueId) -> ValueId {
        let mut value = value;
        while let Place::View(of) = self.values[value.index()].place {
            value = of;
        }
        value
    }

    /// Where a call finds each value, and how many are made beside the outputs.
    fn homes(&self) -> (Vec<Home>, usize) {
        let mut homes = vec![Home::Nowhere; self.values.len()];
        for (number, leaf) in self.program.leaves.iter().enumerate() {
            if let Some(value) = leaf {
                homes[value.index()] = Home::Leaf(number);
            }
        }
        for (number, (value, _)) in self.program.constants.iter().enumerate() {
            homes[value.index()] = Home::Constant(number);
        }
        let mut made = 0;
        for step in &self.steps {
            for output in step.outputs(&self.program.graph) {
                homes[output.index()] = match self.values[output.index()].place {
                    Place::Output(position) => Home::Output(self.known_before(position)),
                    _ => {
                        made += 1;
                        Home::Made(made - 1)
                    }
                };
            }
        }
        (homes, made)
    }

    /// How many of the graph's outputs before this one have a shape that is known.
    fn known_before(&self, position: usize) -> usize {
        let before = self.program.graph.outputs().iter().take(position);
        let known = before.filter(|value| self.values[value.index()].facts.is_some());
        known.count()
    }

    /// For each value that owns memory, the last step that looks at it.
    fn last_uses(&self) -> Vec<usize> {
        let graph = &self.program.graph;
        let mut last = vec![0; self.values.len()];
        for (at, step) in self.steps.iter().enumerate() {
            for value in step.inputs(graph).iter().chain(step.outputs(graph)) {
                last[self.root(*value).index()] = at;
            }
        }
        for output in graph.outputs() {
            last[self.root(*output).index()] = usize::MAX;
        }
        last
    }

    /// Puts results into output memory where they are outputs, and the rest into as few slots as lifetimes allow.
    fn assign(&mut self) -> Vec<usize> {
        let graph = &self.program.graph;
        let last = self.last_uses();
        for (position, output) in graph.outputs().iter().enumerate() {
            let root = self.root(*output);
            if !matches!(self.values[root.index()].place, Place::Slot(usize::MAX)) {
                continue;
            }
            if root == *output {
                self.values[root.index()].place = Place::Output(position);
            } else if self.is_all_of(*output, root) {
                self.values[output.index()].place = Place::Output(position);
                self.values[root.index()].place = Place::View(*output);
            }
        }
        let mut slots = Slots::default();
        let mut expiring: Vec<Vec<usize>> = vec![Vec::new(); self.steps.len()];
        for at in 0..self.steps.len() {
            let step = self.steps[at].clone();
            for output in step.outputs(graph) {
                if !matches!(self.values[output.index()].place, Place::Slot(usize::MAX)) {
                    continue;
                }
                let need = self.bytes(*output);
                let slot = match self.overwritable(&step, *output, at, &last) {
                    Some(slot) => {
                        expiring[at].retain(|s| *s != slot);
                        slot
                    }
                    None => slots.take(need),
                };
                self.values[output.index()].place = Place::Slot(slot);
                if let Some(list) = expiring.get_mut(last[output.index()]) {
                    list.push(slot);
                }
            }
            for slot in std::mem::take(&mut expiring[at]) {
                slots.release(slot);
            }
        }
        slots.bytes
    }

    /// Whether a view shows all elements of the value that owns its memory, in their order, as a reshape does: that value may as
    /// well be computed in the view's memory.
    fn is_all_of(&self, view: ValueId, root: ValueId) -> bool {
        let facts = |value: ValueId| self.values[value.index()].facts.as_ref();
        let (Some(view), Some(root)) = (facts(view), facts(root)) else {
            return false;
        };
        let in_order = view.layout.is_contiguous(Order::C) && view.layout.offset() == 0;
        in_order && view.layout.elements() == root.layout.elements() && view.dtype == root.dtype
    }

    fn bytes(&self, value: ValueId) -> usize {
        let facts = self.values[value.index()].facts.as_ref();
        facts.map_or(0, |f| f.layout.elements() * f.dtype.size())
    }

    /// The slot of an input that ends with this step and that the op may write its result over.
    fn overwritable(
        &self,
        step: &Step,
        output: ValueId,
        at: usize,
        last: &[usize],
    ) -> Option<usize> {
        let graph = &self.program.graph;
        let allowed = |position: usize| match step.op(graph).may_overwrite() {
            Overwrite::Never => false,
            Overwrite::AnyInput => true,
            Overwrite::Input(only) => only == position,
        };
        // A step with several results could give one slot away twice.
        if step.outputs(graph).len() != 1 {
            return None;
        }
        let target = self.values[output.index()].facts.as_ref()?;
        let fits = |(position, value): (usize, &ValueId)| {
            let planning = &self.values[value.index()];
            let facts = planning.facts.as_ref()?;
            let Place::Slot(slot) = planning.place else {
                return None;
            };
            let same = facts.dtype == target.dtype && facts.layout == target.layout;
            (allowed(position) && same && last[value.index()] == at).then_some(slot)
        };
        step.inputs(graph).iter().enumerate().find_map(fits)
    }
}

fn packed(shape: Shape) -> Result<Layout, GraphErrorKind> {
    Ok(Layout::contiguous(shape, Order::C)?)
}
