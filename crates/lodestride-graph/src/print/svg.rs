//! Graphs as one self-contained SVG: layers from inputs to outputs, ordered by barycentres to keep edges short.

use super::colour;
use crate::fgraph::{Client, FunctionGraph, NodeId, ValueId};
use std::collections::HashMap;
use std::fmt::Write;

const BOX_HEIGHT: f64 = 34.0;
const LAYER_GAP: f64 = 46.0;
const BOX_GAP: f64 = 18.0;
const MARGIN: f64 = 20.0;
/// Sweeps up and down that sort each layer by the neighbours' positions.
const SWEEPS: usize = 6;

/// What a box stands for. Intermediate values are written on their apply node: a box of their own would double the picture.
#[derive(Clone, Copy)]
enum Item {
    Value(ValueId),
    Node(NodeId),
}

struct Placed {
    item: Item,
    layer: usize,
    width: f64,
    x: f64,
    label: String,
    ty: String,
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

fn shortened(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let head: String = text.chars().take(limit - 1).collect();
    format!("{head}…")
}

struct Drawing<'g> {
    graph: &'g FunctionGraph,
    boxes: Vec<Placed>,
    edges: Vec<(usize, usize)>,
    of_value: HashMap<ValueId, usize>,
}

impl<'g> Drawing<'g> {
    fn new(graph: &'g FunctionGraph) -> Self {
        let mut drawing = Self {
            graph,
            boxes: Vec::new(),
            edges: Vec::new(),
            of_value: HashMap::new(),
        };
        for input in graph.inputs() {
            drawing.value(*input);
        }
        for node in graph.toposort().unwrap_or_default() {
            let sources: Vec<usize> = graph
                .node_inputs(node)
                .iter()
                .map(|v| drawing.value(*v))
                .collect();
            let layer = sources
                .iter()
                .map(|b| drawing.boxes[*b].layer + 1)
                .max()
                .unwrap_or(0);
            let outputs = graph.node_outputs(node);
            let name = outputs.first().and_then(|v| graph.name(*v));
            let op = graph.op(node).name();
            let label = name.map_or_else(|| op.to_string(), |n| format!("{op} → {n}"));
            let ty = outputs
                .first()
                .map_or(String::new(), |v| graph.ty(*v).to_string());
            let place = drawing.place(Item::Node(node), layer, &label, ty);
            drawing
                .edges
                .extend(sources.into_iter().map(|from| (from, place)));
            for output in outputs {
                drawing.of_value.insert(*output, place);
            }
        }
        for output in graph.outputs() {
            let from = drawing.value(*output);
            let layer = drawing.boxes[from].layer + 1;
            if matches!(drawing.boxes[from].item, Item::Node(_)) {
                let label = graph.label(*output).to_string();
                let place = drawing.place(
                    Item::Value(*output),
                    layer,
                    &label,
                    graph.ty(*output).to_string(),
                );
                drawing.edges.push((from, place));
            }
        }
        drawing
    }

    fn place(&mut self, item: Item, layer: usize, label: &str, ty: String) -> usize {
        let label = shortened(label, 42);
        let ty = shortened(&ty, 42);
        let letters = label.chars().count().max(ty.chars().count() * 4 / 5).max(4);
        self.boxes.push(Placed {
            item,
            layer,
            width: 16.0 + 7.2 * letters as f64,
            x: 0.0,
            label,
            ty,
        });
        self.boxes.len() - 1
    }

    fn value(&mut self, value: ValueId) -> usize {
        if let Some(known) = self.of_value.get(&value) {
            return *known;
        }
        let (label, ty) = (
            self.graph.label(value).to_string(),
            self.graph.ty(value).to_string(),
        );
        let place = self.place(Item::Value(value), 0, &label, ty);
        self.of_value.insert(value, place);
        place
    }

    /// Leaves stand just above their first user; then layers are sorted and spread.
    fn arrange(&mut self) -> (f64, f64) {
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.boxes.len()];
        let mut sources: Vec<Vec<usize>> = vec![Vec::new(); self.boxes.len()];
        for (from, to) in &self.edges {
            users[*from].push(*to);
            sources[*to].push(*from);
        }
        for index in 0..self.boxes.len() {
            let first = users[index].iter().map(|u| self.boxes[*u].layer).min();
            if let (Item::Value(_), Some(first), true) =
                (self.boxes[index].item, first, sources[index].is_empty())
            {
                self.boxes[index].layer = first.saturating_sub(1);
            }
        }
        let depth = self.boxes.iter().map(|b| b.layer + 1).max().unwrap_or(0);
        let mut layers: Vec<Vec<usize>> = vec![Vec::new(); depth];
        for (index, placed) in self.boxes.iter().enumerate() {
            layers[placed.layer].push(index);
        }
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            let neighbours = if down { &sources } else { &users };
            let order: Vec<usize> = if down {
                (0..depth).collect()
            } else {
                (0..depth).rev().collect()
            };
            for layer in order {
                self.sort_layer(&mut layers[layer], neighbours);
            }
        }
        let width = layers
            .iter()
            .map(|l| self.layer_width(l))
            .fold(0.0, f64::max);
        (
            width + 2.0 * MARGIN,
            depth as f64 * (BOX_HEIGHT + LAYER_GAP) + 2.0 * MARGIN,
        )
    }

    fn layer_width(&self, layer: &[usize]) -> f64 {
        layer.iter().map(|b| self.boxes[*b].width + BOX_GAP).sum()
    }

    fn sort_layer(&mut self, layer: &mut [usize], neighbours: &[Vec<usize>]) {
        let centre = |b: usize| {
            let near = &neighbours[b];
            let own = self.boxes[b].x + self.boxes[b].width / 2.0;
            if near.is_empty() {
                return own;
            }
            near.iter()
                .map(|n| self.boxes[*n].x + self.boxes[*n].width / 2.0)
                .sum::<f64>()
                / near.len() as f64
        };
        let mut keyed: Vec<(f64, usize)> = layer.iter().map(|b| (centre(*b), *b)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut x = MARGIN;
        for (slot, (want, index)) in layer.iter_mut().zip(&keyed) {
            *slot = *index;
            let placed = &mut self.boxes[*index];
            placed.x = x.max(want - placed.width / 2.0);
            x = placed.x + placed.width + BOX_GAP;
        }
        // Waiting for a far neighbour may push a layer beyond its neighbours' centre; pull it back as one.
        let drift: f64 = layer
            .iter()
            .zip(&keyed)
            .map(|(b, (want, _))| self.boxes[*b].x + self.boxes[*b].width / 2.0 - want)
            .sum::<f64>()
            / layer.len().max(1) as f64;
        let room = layer.first().map_or(0.0, |b| self.boxes[*b].x - MARGIN);
        for b in layer {
            self.boxes[*b].x -= drift.clamp(0.0, room);
        }
    }
}

fn top(layer: usize) -> f64 {
    MARGIN + layer as f64 * (BOX_HEIGHT + LAYER_GAP)
}

/// Writing to a String cannot fail, so the results of `write!` are ignored.
pub(super) fn to_svg(graph: &FunctionGraph) -> String {
    let mut drawing = Drawing::new(graph);
    let (_, height) = drawing.arrange();
    let width = drawing
        .boxes
        .iter()
        .map(|b| b.x + b.width)
        .fold(200.0, f64::max)
        + MARGIN;
    let height = height.max(60.0) + 24.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"sans-serif\">\n<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" \
         refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#777\"/>\
         </marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (from, to) in &drawing.edges {
        let (a, b) = (&drawing.boxes[*from], &drawing.boxes[*to]);
        let (x1, y1) = (a.x + a.width / 2.0, top(a.layer) + BOX_HEIGHT);
        let (x2, y2) = (b.x + b.width / 2.0, top(b.layer));
        let bend = (y2 - y1) / 2.0;
        let _ = writeln!(
            text,
            "<path d=\"M{x1:.1} {y1:.1}C{x1:.1} {:.1} {x2:.1} {:.1} {x2:.1} {y2:.1}\" fill=\"none\" stroke=\"#999\" \
             marker-end=\"url(#arrow)\"/>",
            y1 + bend,
            y2 - bend
        );
    }
    for placed in &drawing.boxes {
        draw_box(&mut text, graph, placed);
    }
    legend(&mut text, height);
    text.push_str("</svg>\n");
    text
}

fn draw_box(text: &mut String, graph: &FunctionGraph, placed: &Placed) {
    let (x, y, w) = (placed.x, top(placed.layer), placed.width);
    let (fill, lines) = match placed.item {
        Item::Node(node) => (
            colour::APPLY,
            graph
                .spans(node)
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>(),
        ),
        Item::Value(v) if graph.is_constant(v) => (colour::CONSTANT, Vec::new()),
        Item::Value(_) => (colour::VARIABLE, Vec::new()),
    };
    let output = matches!(placed.item, Item::Value(v) if graph.clients(v).iter().any(|c| matches!(c, Client::Output(_))));
    let border = if output {
        " stroke=\"#600\" stroke-width=\"2\""
    } else {
        ""
    };
    let _ = write!(
        text,
        "<g><title>{}\n{}{}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{BOX_HEIGHT}\" rx=\"5\" \
         fill=\"{fill}\"{border}/>",
        escaped(&placed.label),
        escaped(&placed.ty),
        lines
            .iter()
            .map(|l| format!("\n{}", escaped(l)))
            .collect::<String>()
    );
    if matches!(placed.item, Item::Node(_)) {
        let _ = write!(
            text,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"15\" rx=\"7\" fill=\"{}\"/>",
            x + 4.0,
            y + 2.5,
            w - 8.0,
            colour::OP
        );
    }
    let _ = write!(
        text,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"12\" rx=\"6\" fill=\"{}\"/>",
        x + 4.0,
        y + 19.5,
        w - 8.0,
        colour::TYPE
    );
    let centre = x + w / 2.0;
    let _ = writeln!(
        text,
        "<text x=\"{centre:.1}\" y=\"{:.1}\" font-size=\"11\" fill=\"white\" text-anchor=\"middle\">{}</text>\
         <text x=\"{centre:.1}\" y=\"{:.1}\" font-size=\"9\" fill=\"white\" text-anchor=\"middle\">{}</text></g>",
        y + 14.0,
        escaped(&placed.label),
        y + 28.0,
        escaped(&placed.ty)
    );
}

fn legend(text: &mut String, height: f64) {
    let entries = [
        (colour::APPLY, "Apply"),
        (colour::VARIABLE, "Variable"),
        (colour::OP, "Op"),
        (colour::TYPE, "Type"),
        (colour::CONSTANT, "Constant"),
    ];
    let y = height - 12.0;
    for (i, (fill, name)) in entries.iter().enumerate() {
        let x = MARGIN + 90.0 * i as f64;
        let _ = writeln!(
            text,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"5\" fill=\"{fill}\"/><text x=\"{}\" y=\"{}\" font-size=\"10\">{name}</text>",
            x + 9.0,
            y + 3.5
        );
    }
}
