//! One horizontal bar for each workload: our time over the best rival's, on a logarithmic axis with a line at 1.

use std::fmt::Write as _;

use crate::record::{Record, Verdict, duration};
use crate::report::escape;

const LABEL: f64 = 290.0;
const LENGTH: f64 = 440.0;
const WIDTH: f64 = LABEL + LENGTH + 340.0;
const ROW: f64 = 22.0;
const HEAD: f64 = 26.0;

/// Ratios beyond this are drawn as if they were this.
const MOST: f64 = 8.0;
const LEAST: f64 = 1.0 / 64.0;

/// Where a ratio lies.
fn place(ratio: f64) -> f64 {
    let share = (ratio.clamp(LEAST, MOST) / LEAST).ln() / (MOST / LEAST).ln();
    LABEL + share * LENGTH
}

/// Draws every record that has a rival.
pub(crate) fn ratios(records: &[&Record]) -> String {
    let height = HEAD + ROW * records.len() as f64 + 8.0;
    let mut svg =
        format!("<svg viewBox='0 0 {WIDTH} {height}' width='{WIDTH}' role='img' font-size='12'>");
    // Writing to a String cannot fail.
    for (ratio, text) in [
        (LEAST, "1/64"),
        (1.0 / 16.0, "1/16"),
        (0.25, "1/4"),
        (1.0, "1"),
        (4.0, "4"),
    ] {
        let x = place(ratio);
        let weight = if ratio == 1.0 { 2 } else { 1 };
        let colour = if ratio == 1.0 {
            "var(--soft)"
        } else {
            "var(--line)"
        };
        let _ = write!(
            svg,
            "<line x1='{x:.1}' x2='{x:.1}' y1='{HEAD}' y2='{height}' stroke='{colour}' stroke-width='{weight}'/>\
             <text x='{x:.1}' y='16' text-anchor='middle' fill='var(--soft)'>{text}</text>"
        );
    }
    for (i, record) in records.iter().enumerate() {
        let top = HEAD + ROW * i as f64 + 4.0;
        row(&mut svg, record, top);
    }
    svg.push_str("</svg>");
    svg
}

fn row(svg: &mut String, record: &Record, top: f64) {
    let (Some(ratio), Some(rival), Some(verdict)) =
        (record.ratio(), record.best_rival(), record.verdict())
    else {
        return;
    };
    let (colour, weight) = match verdict {
        Verdict::Faster => ("var(--a)", "400"),
        Verdict::Level => ("var(--soft)", "400"),
        Verdict::Slower => ("var(--b)", "700"),
    };
    let (one, end) = (place(1.0), place(ratio));
    let (start, length) = (one.min(end), (one - end).abs().max(2.0));
    let _ = write!(
        svg,
        "<text x='{:.1}' y='{:.1}' text-anchor='end' font-weight='{weight}' fill='var(--ink)'>{}</text>\
         <rect x='{start:.1}' y='{top:.1}' width='{length:.1}' height='14' rx='3' fill='{colour}'/>\
         <text x='{:.1}' y='{:.1}' font-weight='{weight}' fill='var(--ink)'>{ratio:.2}</text>\
         <text x='{:.1}' y='{:.1}' font-size='11' fill='var(--soft)'>{} against {} {}</text>",
        LABEL - 12.0,
        top + 11.5,
        escape(&record.name()),
        LABEL + LENGTH + 12.0,
        top + 11.5,
        LABEL + LENGTH + 54.0,
        top + 11.5,
        duration(record.ours().minimum),
        escape(&rival.name),
        duration(rival.minimum),
    );
}
