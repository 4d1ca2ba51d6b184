//! A timeline as a picture: one SVG without scripts or references, alone or in a page of its own.
//! What is drawn is `timeline.rs`.

use std::fmt::Write;

use crate::timeline::{Timeline, TimelineEvent, TimelineKind};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 70.0;
const PLOT: f64 = WIDTH - LEFT - 20.0;
const TOP: f64 = 60.0;
const HEIGHT: f64 = 240.0;
const BASE: f64 = TOP + HEIGHT;

impl Timeline {
    /// A drawing: time to the right, bytes in use upward, a band for each generation, spilled arrays in orange and stale uses
    /// as red marks, each with its source line on pointing at it. Stands alone, or in a page.
    ///
    /// ```
    /// use lodestride_buffer::{Buffer, Workspace};
    /// let workspace = Workspace::new("LOOP");
    /// workspace.record_timeline(1000);
    /// workspace.scope(|_| Buffer::zeroed(400))??;
    /// let svg = workspace.timeline().to_svg();
    /// assert!(svg.starts_with("<svg xmlns=") && svg.trim_end().ends_with("</svg>"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_svg(&self) -> String {
        let mut svg = String::new();
        // Writing to a string cannot fail.
        let _never = Drawing::of(self).write(&mut svg);
        svg
    }

    /// A page with the drawing and, under it, every event as a table.
    pub fn to_html(&self) -> String {
        let title = escaped(&self.workspace);
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>workspace {title}</title></head>\n\
             <body style=\"font-family:sans-serif;margin:2em\">\n{}\n<pre>{}</pre>\n</body></html>\n",
            self.to_svg(),
            escaped(&self.to_string())
        )
    }
}

/// What stands in text of XML.
fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => result.push_str("&amp;"),
            '<' => result.push_str("&lt;"),
            '>' => result.push_str("&gt;"),
            '"' => result.push_str("&quot;"),
            // Not allowed in XML at all.
            control if control.is_control() && control != '\n' && control != '\t' => {
                result.push('\u{fffd}');
            }
            other => result.push(other),
        }
    }
    result
}

struct Drawing<'a> {
    timeline: &'a Timeline,
    /// Seconds of the first event, and between the first and the last.
    start: f64,
    span: f64,
    /// The largest number of bytes in use.
    peak: usize,
}

/// Bytes in use in the block and beside it, after each event.
fn levels(events: &[TimelineEvent]) -> impl Iterator<Item = (&TimelineEvent, usize, usize)> {
    let (mut inside, mut beside) = (0_usize, 0_usize);
    events.iter().map(move |event| {
        match event.kind {
            TimelineKind::Opened | TimelineKind::Closed { .. } => (inside, beside) = (0, 0),
            TimelineKind::Allocated {
                bytes,
                spilled: true,
            } => beside = beside.saturating_add(bytes),
            TimelineKind::Allocated { bytes, .. } => inside = inside.saturating_add(bytes),
            TimelineKind::Resized { .. } | TimelineKind::StaleUse { .. } => {}
        }
        (event, inside, beside)
    })
}

impl<'a> Drawing<'a> {
    fn of(timeline: &'a Timeline) -> Drawing<'a> {
        let seconds = |event: Option<&TimelineEvent>| event.map_or(0.0, |e| e.time.as_secs_f64());
        let start = seconds(timeline.events.first());
        let span = (seconds(timeline.events.last()) - start).max(1e-9);
        let peak = levels(&timeline.events)
            .map(|(_, inside, beside)| inside.saturating_add(beside))
            .max();
        Drawing {
            timeline,
            start,
            span,
            peak: peak.unwrap_or(0).max(1),
        }
    }

    fn x(&self, event: &TimelineEvent) -> f64 {
        LEFT + (event.time.as_secs_f64() - self.start) / self.span * PLOT
    }

    fn y(&self, bytes: usize) -> f64 {
        BASE - bytes as f64 / self.peak as f64 * HEIGHT
    }

    fn write(&self, svg: &mut String) -> std::fmt::Result {
        writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"24\" font-size=\"16\">workspace {}</text>",
            BASE + 50.0,
            escaped(&self.timeline.workspace)
        )?;
        writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"44\"><tspan fill=\"#2b6cb0\">in the block</tspan> <tspan fill=\"#dd6b20\">spilled</tspan> \
             <tspan fill=\"#c53030\">stale use</tspan></text>"
        )?;
        self.write_bands(svg)?;
        self.write_levels(svg)?;
        self.write_marks(svg)?;
        writeln!(
            svg,
            "<path d=\"M{LEFT} {TOP}V{BASE}H{}\" fill=\"none\" stroke=\"black\"/>\n<text x=\"{}\" y=\"{TOP}\" \
             text-anchor=\"end\">{} B</text>\n<text x=\"{}\" y=\"{BASE}\" text-anchor=\"end\">0</text>\n<text x=\"{}\" \
             y=\"{}\" text-anchor=\"end\">{:.3} ms</text>\n</svg>",
            LEFT + PLOT,
            LEFT - 6.0,
            self.peak,
            LEFT - 6.0,
            LEFT + PLOT,
            BASE + 34.0,
            self.span * 1e3
        )
    }

    /// A band for each time the workspace was open.
    fn write_bands(&self, svg: &mut String) -> std::fmt::Result {
        let mut opened: Option<&TimelineEvent> = None;
        for event in &self.timeline.events {
            match event.kind {
                TimelineKind::Opened => opened = Some(event),
                TimelineKind::Closed { bytes } => {
                    let from = opened.take().map_or(LEFT, |event| self.x(event));
                    writeln!(
                        svg,
                        "<rect x=\"{from:.2}\" y=\"{TOP}\" width=\"{:.2}\" height=\"{HEIGHT}\" fill=\"#ebf4ff\">\
                         <title>generation {}: {bytes} bytes</title></rect>",
                        (self.x(event) - from).max(0.5),
                        event.generation
                    )?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Bytes in use as two areas, the spilled on top of those in the block.
    fn write_levels(&self, svg: &mut String) -> std::fmt::Result {
        let mut inside = format!("M{LEFT} {BASE}");
        let mut both = inside.clone();
        for (event, block, beside) in levels(&self.timeline.events) {
            let x = self.x(event);
            write!(inside, "H{x:.2}V{:.2}", self.y(block))?;
            write!(both, "H{x:.2}V{:.2}", self.y(block.saturating_add(beside)))?;
        }
        for (path, colour) in [(both, "#dd6b20"), (inside, "#2b6cb0")] {
            let end = LEFT + PLOT;
            writeln!(svg, "<path d=\"{path}H{end}V{BASE}Z\" fill=\"{colour}\"/>")?;
        }
        Ok(())
    }

    /// Stale uses as marks over the plot, other events as ticks under it.
    fn write_marks(&self, svg: &mut String) -> std::fmt::Result {
        for event in &self.timeline.events {
            let x = self.x(event);
            let place = event.place.map(|p| format!(" at {p}")).unwrap_or_default();
            let title = escaped(&format!("{}{place}", event.kind));
            let shape = match event.kind {
                TimelineKind::StaleUse { .. } => format!(
                    "<circle cx=\"{x:.2}\" cy=\"{}\" r=\"5\" fill=\"#c53030\">",
                    TOP - 8.0
                ),
                _ => format!("<path d=\"M{x:.2} {}v8\" stroke=\"#4a5568\">", BASE + 4.0),
            };
            let close = if shape.starts_with("<circle") {
                "circle"
            } else {
                "path"
            };
            writeln!(svg, "{shape}<title>{title}</title></{close}>")?;
        }
        Ok(())
    }
}
