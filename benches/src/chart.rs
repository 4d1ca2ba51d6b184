//! Pairs of horizontal bars: our time and the best rival's, each pair drawn to the longer of the two.

use std::fmt::Write as _;

use crate::record::{Record, Verdict, duration};
use crate::report::escape;

const LABEL: f64 = 300.0;
const LENGTH: f64 = 520.0;
const WIDTH: f64 = LABEL + LENGTH + 260.0;
const ROW: f64 = 38.0;

/// Draws every record that has a rival.
pub(crate) fn pairs(records: &[Record]) -> String {
    let height = ROW * records.len() as f64 + 8.0;
    let mut svg =
        format!("<svg viewBox='0 0 {WIDTH} {height}' width='{WIDTH}' role='img' font-size='12'>");
    for (i, record) in records.iter().enumerate() {
        let (Some(rival), Some(verdict)) = (record.best_rival(), record.verdict()) else {
            continue;
        };
        let top = ROW * i as f64 + 6.0;
        let (ours, theirs) = (record.ours().minimum, rival.minimum);
        let longer = ours.max(theirs);
        let (mark, weight) = match verdict {
            Verdict::Slower => (" \u{25bc} slower", "700"),
            Verdict::Level => (" = level", "400"),
            Verdict::Faster => ("", "400"),
        };
        // Writing to a String cannot fail.
        let _ = write!(
            svg,
            "<text x='{}' y='{:.1}' text-anchor='end' font-weight='{weight}' fill='var(--ink)'>{}{mark}</text>",
            LABEL - 10.0,
            top + 18.0,
            escape(&record.name)
        );
        let bars = [
            ("lodestride", ours, "var(--a)", top),
            (rival.name, theirs, "var(--b)", top + 14.0),
        ];
        for (name, time, colour, y) in bars {
            let length = (time / longer * LENGTH).max(2.0);
            let _ = write!(
                svg,
                "<rect x='{LABEL}' y='{y:.1}' width='{length:.1}' height='12' rx='3' fill='{colour}'/>\
                 <text x='{:.1}' y='{:.1}' font-size='11' fill='var(--soft)'>{} {}</text>",
                LABEL + length + 6.0,
                y + 10.0,
                duration(time),
                escape(name)
            );
        }
    }
    svg.push_str("</svg>");
    svg
}
