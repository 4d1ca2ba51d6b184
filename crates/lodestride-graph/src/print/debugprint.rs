//! Theano's `debugprint`: one line per use, `[id A]` for each value, `···` where a subtree was printed before.

use crate::fgraph::{FunctionGraph, ValueId};
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
    /// Indentation of the subtree below.
    below: String,
    /// What this line itself begins with.
    lead: String,
}

/// Deep chains would indent without end; beyond this depth the tree continues flush, marked by its depth.
const MAX_INDENT: usize = 40;

pub(super) fn print_graph(graph: &FunctionGraph, with_order: bool) -> String {
    let order: HashMap<_, _> = match graph.toposort() {
        Ok(order) if with_order => order
            .into_iter()
            .enumerate()
            .map(|(at, node)| (node, at))
            .collect(),
        _ => HashMap::new(),
    };
    let mut names: HashMap<ValueId, String> = HashMap::new();
    let mut text = String::new();
    let mut pending: Vec<(Line, usize)> = graph
        .outputs()
        .iter()
        .rev()
        .map(|v| {
            (
                Line {
                    value: *v,
                    below: String::new(),
                    lead: String::new(),
                },
                0,
            )
        })
        .collect();
    while let Some((line, depth)) = pending.pop() {
        let printed = names.contains_key(&line.value);
        let next = names.len();
        let id = names
            .entry(line.value)
            .or_insert_with(|| letters(next))
            .clone();
        let label = match graph.owner(line.value) {
            Some((node, index)) => {
                let op = graph.op(node).name();
                let several = graph.node_outputs(node).len() > 1;
                if several {
                    format!("{op}.{index}")
                } else {
                    op.into_owned()
                }
            }
            None => graph.label(line.value).to_string(),
        };
        let name = graph.owner(line.value).and_then(|_| graph.name(line.value));
        let name = name.map_or(String::new(), |n| format!(" '{n}'"));
        // Writing to a String cannot fail.
        let _ = write!(text, "{}{label} [id {id}]{name}", line.lead);
        let Some((node, _)) = graph.owner(line.value) else {
            text.push('\n');
            continue;
        };
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
            let last = position + 1 == inputs.len();
            let line = if depth >= MAX_INDENT {
                Line {
                    value: *input,
                    below: line.below.clone(),
                    lead: format!("{} ({}) ", line.below, depth + 1),
                }
            } else {
                let (branch, bar) = if last {
                    (" └─ ", "   ")
                } else {
                    (" ├─ ", " │ ")
                };
                Line {
                    value: *input,
                    below: format!("{}{bar}", line.below),
                    lead: format!("{}{branch}", line.below),
                }
            };
            pending.push((line, depth + 1));
        }
    }
    text
}
