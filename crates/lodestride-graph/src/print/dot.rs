//! Graphs in the DOT language of Graphviz.

use super::colour;
use crate::fgraph::{Client, FunctionGraph, ValueId};
use std::fmt::Write;

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Writing to a String cannot fail, so the results of `write!` are ignored.
pub(super) fn to_dot(graph: &FunctionGraph) -> String {
    let mut text = String::from(
        "digraph {\n  rankdir=TB;\n  node [fontname=\"sans-serif\", style=filled, fontcolor=white];\n",
    );
    let order = graph.toposort().unwrap_or_default();
    let mut shown = vec![false; graph.values.len()];
    for value in graph.inputs().iter().chain(graph.outputs()) {
        shown[value.index()] = true;
    }
    for node in &order {
        let (op, id) = (graph.op(*node).name(), node.index());
        let _ = writeln!(
            text,
            "  a{id} [label=Apply, shape=box, fillcolor=\"{}\"];",
            colour::APPLY
        );
        let _ = writeln!(
            text,
            "  o{id} [label={}, shape=ellipse, fillcolor=\"{}\"];",
            quoted(&op),
            colour::OP
        );
        let _ = writeln!(text, "  a{id} -> o{id} [style=dashed, arrowhead=none];");
        for (position, input) in graph.node_inputs(*node).iter().enumerate() {
            shown[input.index()] = true;
            let _ = writeln!(text, "  v{} -> a{id} [label={position}];", input.index());
        }
        for output in graph.node_outputs(*node) {
            shown[output.index()] = true;
            let _ = writeln!(text, "  a{id} -> v{};", output.index());
        }
    }
    write_values(&mut text, graph, &shown);
    text.push_str("}\n");
    text
}

fn write_values(text: &mut String, graph: &FunctionGraph, shown: &[bool]) {
    for (index, _) in shown.iter().enumerate().filter(|(_, shown)| **shown) {
        let value = ValueId(index as u32);
        let fill = if graph.is_constant(value) {
            colour::CONSTANT
        } else {
            colour::VARIABLE
        };
        let output = graph
            .clients(value)
            .iter()
            .any(|c| matches!(c, Client::Output(_)));
        let border = if output { ", penwidth=3" } else { "" };
        let label = quoted(&graph.label(value));
        let _ = writeln!(
            text,
            "  v{index} [label={label}, shape=box, fillcolor=\"{fill}\"{border}];"
        );
        let ty = quoted(&graph.ty(value).to_string());
        let _ = writeln!(
            text,
            "  t{index} [label={ty}, shape=box, fillcolor=\"{}\", fontsize=10];",
            colour::TYPE
        );
        let _ = writeln!(
            text,
            "  v{index} -> t{index} [style=dotted, arrowhead=none];"
        );
    }
}
