//! Line, bar and heat charts as SVG strings. Nothing here knows HTML pages or where numbers come from.

use super::escape;
use std::fmt::Write as _;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 42.0;
const COLOURS: [&str; 4] = ["var(--a)", "var(--b)", "var(--c)", "var(--d)"];

/// One named curve of a line chart.
#[derive(Debug)]
pub(crate) struct Series<'a> {
    /// What the legend calls it.
    name: &'a str,
    /// `(x, y)`, in the order they are joined.
    points: Vec<(f64, f64)>,
}

impl<'a> Series<'a> {
    /// A curve through these points.
    pub(crate) fn new(name: &'a str, points: Vec<(f64, f64)>) -> Self {
        Self { name, points }
    }
}

/// A line chart with a legend; the vertical axis covers all series unless `range` fixes it.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    /// Text under the horizontal axis.
    x_label: &'a str,
    /// Text above the vertical axis.
    y_label: &'a str,
    /// Lowest and highest value of the vertical axis.
    range: Option<(f64, f64)>,
    /// The curves, drawn in this order.
    series: Vec<Series<'a>>,
    /// Whether the area under each curve is tinted.
    filled: bool,
}

impl<'a> Lines<'a> {
    /// A chart of these curves.
    pub(crate) fn new(x_label: &'a str, y_label: &'a str, series: Vec<Series<'a>>) -> Self {
        Self {
            x_label,
            y_label,
            range: None,
            series,
            filled: false,
        }
    }

    /// Fixes the vertical axis.
    pub(crate) fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Tints the area under each curve.
    pub(crate) fn filled(mut self) -> Self {
        self.filled = true;
        self
    }

    /// Draws the chart.
    pub(crate) fn to_svg(&self) -> String {
        let all = || self.series.iter().flat_map(|s| s.points.iter().copied());
        let (x0, x1) = extent(all().map(|p| p.0));
        let (y0, y1) = self.range.unwrap_or_else(|| extent(all().map(|p| p.1)));
        let frame = Frame { x0, x1, y0, y1 };
        let mut svg = frame.open(self.x_label, self.y_label, true);
        for (i, series) in self.series.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            self.curve(&mut svg, &frame, &series.points, colour);
            let x = LEFT + 130.0 + 120.0 * i as f64;
            let _ = write!(
                svg,
                "<rect x='{x}' y='8' width='12' height='4' rx='2' fill='{colour}'/>\
                 <text x='{}' y='14' font-size='12' fill='var(--ink)'>{}</text>",
                x + 17.0,
                escape(series.name)
            );
        }
        svg.push_str("</svg>");
        svg
    }

    fn curve(&self, svg: &mut String, frame: &Frame, points: &[(f64, f64)], colour: &str) {
        let mut path = String::new();
        for (i, &(x, y)) in points.iter().enumerate() {
            let verb = if i == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{verb}{:.1} {:.1}", frame.x(x), frame.y(y));
        }
        if let (true, Some(first), Some(last)) = (self.filled, points.first(), points.last()) {
            let floor = frame.y(frame.y0);
            let (a, b) = (frame.x(last.0), frame.x(first.0));
            let _ = write!(
                svg,
                "<path d='{path}L{a:.1} {floor:.1}L{b:.1} {floor:.1}Z' fill='{colour}' opacity='.18'/>"
            );
        }
        let _ = write!(
            svg,
            "<path d='{path}' fill='none' stroke='{colour}' stroke-width='2' stroke-linejoin='round'/>"
        );
    }
}

/// A bar chart: one bar for each `(label, value)`.
#[derive(Debug)]
pub(crate) struct Bars<'a> {
    /// Text under the horizontal axis.
    pub(crate) x_label: &'a str,
    /// Text above the vertical axis.
    pub(crate) y_label: &'a str,
    /// The bars from left to right.
    pub(crate) bars: Vec<(String, f64)>,
}

impl Bars<'_> {
    /// Draws the chart.
    pub(crate) fn to_svg(&self) -> String {
        let top = self.bars.iter().map(|b| b.1).fold(0.0, f64::max);
        let count = self.bars.len().max(1) as f64;
        let frame = Frame {
            x0: 0.0,
            x1: count,
            y0: 0.0,
            y1: if top > 0.0 { top * 1.05 } else { 1.0 },
        };
        let mut svg = frame.open(self.x_label, self.y_label, false);
        // Labels are thinned so that neighbours never touch.
        let every = (self.bars.len() / 14).max(1);
        for (i, (label, value)) in self.bars.iter().enumerate() {
            let (a, b) = (frame.x(i as f64 + 0.1), frame.x(i as f64 + 0.9));
            let (y, floor) = (frame.y(*value), frame.y(0.0));
            let label = escape(label);
            let _ = write!(
                svg,
                "<rect x='{a:.1}' y='{y:.1}' width='{:.1}' height='{:.1}' fill='var(--a)'><title>{label}: {value}</title></rect>",
                b - a,
                floor - y
            );
            if i % every == 0 {
                let middle = (a + b) / 2.0;
                let _ = write!(
                    svg,
                    "<text x='{middle:.1}' y='{:.1}' font-size='11' text-anchor='middle' fill='var(--soft)'>{label}</text>",
                    floor + 15.0
                );
            }
        }
        svg.push_str("</svg>");
        svg
    }
}

/// A matrix of counts as a shaded grid: rows are the truth, columns the answer.
#[derive(Debug)]
pub(crate) struct Heat<'a> {
    /// Text under the grid.
    pub(crate) x_label: &'a str,
    /// Text above the row labels.
    pub(crate) y_label: &'a str,
    /// Names of rows and columns.
    pub(crate) labels: Vec<String>,
    /// `counts[row][column]`, as many of each as there are labels.
    pub(crate) counts: Vec<Vec<usize>>,
}

impl Heat<'_> {
    /// Draws the grid; the diagonal in one colour, mistakes in another.
    pub(crate) fn to_svg(&self) -> String {
        let cell = 30.0;
        let size = cell * self.labels.len() as f64;
        let (left, top) = (56.0, 28.0);
        let mut svg = format!(
            "<svg viewBox='0 0 {} {}' width='{}' role='img'><text x='4' y='14' font-size='12' fill='var(--soft)'>{}</text>",
            left + size + 8.0,
            top + size + 44.0,
            left + size + 8.0,
            escape(self.y_label)
        );
        for (row, counts) in self.counts.iter().enumerate() {
            let total = counts.iter().sum::<usize>().max(1) as f64;
            let y = top + cell * row as f64;
            text(&mut svg, left - 10.0, y + 20.0, "end", &self.labels[row]);
            for (column, &count) in counts.iter().enumerate() {
                let x = left + cell * column as f64;
                let colour = if row == column {
                    "var(--a)"
                } else {
                    "var(--b)"
                };
                let share = if count == 0 {
                    0.04
                } else {
                    0.2 + 0.7 * count as f64 / total
                };
                let _ = write!(
                    svg,
                    "<rect x='{x}' y='{y}' width='28' height='28' rx='4' fill='{colour}' opacity='{share:.2}'/>"
                );
                if count > 0 {
                    text(&mut svg, x + 14.0, y + 19.0, "middle", &count.to_string());
                }
            }
        }
        for (column, label) in self.labels.iter().enumerate() {
            let x = left + cell * column as f64 + 14.0;
            text(&mut svg, x, top + size + 16.0, "middle", label);
        }
        text(
            &mut svg,
            left + size / 2.0,
            top + size + 36.0,
            "middle",
            self.x_label,
        );
        svg.push_str("</svg>");
        svg
    }
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, content: &str) {
    let _ = write!(
        svg,
        "<text x='{x:.1}' y='{y:.1}' font-size='12' text-anchor='{anchor}' fill='var(--ink)'>{}</text>",
        escape(content)
    );
}

/// The plotting area: data ranges of both axes and their mapping to pixels.
struct Frame {
    x0: f64,
    x1: f64,
    y0: f64,
    y1: f64,
}

impl Frame {
    fn x(&self, value: f64) -> f64 {
        LEFT + (value - self.x0) / span(self.x0, self.x1) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        let value = value.clamp(self.y0, self.y1);
        HEIGHT - BOTTOM - (value - self.y0) / span(self.y0, self.y1) * (HEIGHT - TOP - BOTTOM)
    }

    /// The opening tag, grid lines, tick labels and axis titles.
    fn open(&self, x_label: &str, y_label: &str, x_ticks: bool) -> String {
        let mut svg = format!("<svg viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' role='img'>");
        for tick in ticks(self.y0, self.y1) {
            let y = self.y(tick);
            let _ = write!(
                svg,
                "<line x1='{LEFT}' x2='{}' y1='{y:.1}' y2='{y:.1}' stroke='var(--line)'/>\
                 <text x='{}' y='{:.1}' font-size='11' text-anchor='end' fill='var(--soft)'>{}</text>",
                WIDTH - RIGHT,
                LEFT - 7.0,
                y + 4.0,
                short(tick)
            );
        }
        if x_ticks {
            for tick in ticks(self.x0, self.x1) {
                let _ = write!(
                    svg,
                    "<text x='{:.1}' y='{}' font-size='11' text-anchor='middle' fill='var(--soft)'>{}</text>",
                    self.x(tick),
                    HEIGHT - BOTTOM + 15.0,
                    short(tick)
                );
            }
        }
        let _ = write!(
            svg,
            "<text x='{}' y='{}' font-size='12' text-anchor='middle' fill='var(--soft)'>{}</text>\
             <text x='4' y='14' font-size='12' fill='var(--soft)'>{}</text>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 8.0,
            escape(x_label),
            escape(y_label)
        );
        svg
    }
}

/// Lowest and highest of the finite values, widened when they are equal or absent.
fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|v| v.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
    match (low.is_finite(), low < high) {
        (false, _) => (0.0, 1.0),
        (true, false) => (low - 0.5, high + 0.5),
        (true, true) => (low, high),
    }
}

fn span(low: f64, high: f64) -> f64 {
    if high > low { high - low } else { 1.0 }
}

/// About five round values (1, 2 or 5 times a power of ten apart) inside the range.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let raw = span(low, high) / 5.0;
    let scale = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * scale)
        .find(|s| *s >= raw)
        .unwrap_or(raw);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

/// A tick label: thousands as k, millions as M, no trailing zeros.
fn short(value: f64) -> String {
    let (value, unit) = match value.abs() {
        v if v >= 1e6 => (value / 1e6, "M"),
        v if v >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{unit}")
}
