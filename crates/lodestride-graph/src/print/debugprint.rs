//! Theano's `debugprint`: one line per use, `[id A]` for each value, `···` where a subtree was printed before.

use crate::fgraph::{FunctionGraph, NodeId, ValueId};
use crate::variable::Variable;
use std::collections::HashMap;
use std::fmt::Write;

/// The expressions as trees in Theano's style.
///
/// ```
/// use lodestride_graph::{debugprint, dscalar};
/// let x = dscalar("x");
/// let y = &x * &x + 1;
/// assert_eq!(debugprint(&[&y]), "\
/// add [id A]
///  ├─ mul [id B]
///  │  ├─ x [id C]
///  │  └─ x [id C]
///  └─ Constant{1} [id D]
/// ");
/// ```
pub fn debugprint(outputs: &[&Variable]) -> String {
    let outputs: Vec<Variable> = outputs.iter().map(|v| (*v).clone()).collect();
    match FunctionGraph::import(&[], &outputs) {
        Ok(graph) => print_graph(&graph, false),
        Err(error) => error.to_string(),
    }
}

/// A, B, .., Z, AA, AB, ..
fn letters(number: usize) -> String {
    let mut rest = number + 1;
    let mut text = Vec::new();
    while rest > 0 {
        rest -= 1;
        text.push(char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
    text.into_iter().rev().collect()
}

/// A line still to be printed: the value, and what stands before it.
struct Line {
    value: ValueId,
    depth: usize,
    /// Indentation of the subtree below.
    below: String,
    /// What this line itself begins with.
    lead: String,
}

/// Deep chains would indent without end; beyond this depth the tree continues flush, marked by its depth.
const MAX_INDENT: usize = 40;

pub(super) fn print_graph(graph: &FunctionGraph, with_order: bool) -> String {
    let order: HashMap<NodeId, usize> = match graph.toposort() {
        Ok(order) if with_order => order.into_iter().zip(0..).collect(),
        _ => HashMap::new(),
    };
    let mut names: HashMap<ValueId, String> = HashMap::new();
    let mut text = String::new();
    let outputs = graph.outputs().iter().rev();
    let mut pending: Vec<Line> = outputs.map(|v| Line::root(*v)).collect();
    while let Some(line) = pending.pop() {
        let printed = names.contains_key(&line.value);
        let next = names.len();
        let name = names.entry(line.value);
        let id = name.or_insert_with(|| letters(next)).clone();
        // Writing to a String cannot fail.
        let _ = write!(text, "{}{} [id {id}]", line.lead, label(graph, line.value));
        let Some((node, _)) = graph.owner(line.value) else {
            text.push('\n');
            continue;
        };
        if let Some(name) = graph.name(line.value) {
            let _ = write!(text, " '{name}'");
        }
        if let Some(at) = order.get(&node) {
            let _ = write!(text, " {at}");
        }
        text.push('\n');
        let inputs = graph.node_inputs(node);
        if printed && !inputs.is_empty() {
            let _ = writeln!(text, "{} └─ ···", line.below);
            continue;
        }
        for (position, input) in inputs.iter().enumerate().rev() {
            pending.push(line.child(*input, position + 1 == inputs.len()));
        }
    }
    text
}

/// The op of a computed value, with its number if the op has several outputs; else the name or constant.
fn label(graph: &FunctionGraph, value: ValueId) -> String {
    match graph.owner(value) {
        Some((node, index)) if graph.node_outputs(node).len() > 1 => {
            format!("{}.{index}", graph.op(node).name())
        }
        Some((node, _)) => graph.op(node).name().into_owned(),
        None => graph.label(value).to_string(),
    }
}

impl Line {
    fn root(value: ValueId) -> Self {
        Self {
            value,
            depth: 0,
            below: String::new(),
            lead: String::new(),
        }
    }

    /// The line of an argument of this one.
    fn child(&self, value: ValueId, last: bool) -> Self {
        let depth = self.depth + 1;
        if depth > MAX_INDENT {
            return Self {
                value,
                depth,
                below: self.below.clone(),
                lead: format!("{} ({depth}) ", self.below),
            };
        }
        let (branch, bar) = if last {
            (" └─ ", "   ")
        } else {
            (" ├─ ", " │ ")
        };
        Self {
            value,
            depth,
            below: format!("{}{bar}", self.below),
            lead: format!("{}{branch}", self.below),
        }
    }
}
