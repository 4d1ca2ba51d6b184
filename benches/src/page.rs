//! The results as one HTML page for people.

use std::fmt::Write as _;
use std::path::Path;

use crate::chart;
use crate::contest::Failure;
use crate::machine::Machine;
use crate::record::{Record, Role, Verdict, duration};
use crate::report::{Report, escape};
use crate::results::{Results, Tally};

/// What the families are called.
fn title(family: &str) -> &str {
    match family {
        "ew" => "Elementwise and fused chains",
        "tr" => "Functions",
        "red" => "Reductions",
        "bc" => "Broadcasting",
        "ly" => "Layout, order and selection, new result",
        "lo" => "Layout, given output",
        "mm" => "Matrix products",
        "sm" => "Rows: softmax and norms",
        "so" => "Small arrays",
        "rg" => "Ragged batches",
        "io" => "Files",
        "rng" => "Random numbers",
        "gr" => "Graphs of costs with their gradients",
        "wd" => "Beside the goals: other operations, layouts and dtypes",
        other => other,
    }
}

/// Writes the page.
pub(crate) fn write(results: &Results, path: &Path) -> Result<(), Failure> {
    Ok(page(results).write(path)?)
}

fn page(results: &Results) -> Report {
    let subtitle = results.machines.first().map_or(String::new(), |machine| {
        format!(
            "{}, {} cores, kernels {}; every rival measured in the same run, sample by sample in turn",
            machine.processor, machine.cores, machine.isa
        )
    });
    let mut report = Report::new("lodestride beside its rivals", &subtitle);
    for machine in &results.machines {
        let own = results.records.iter();
        let tally = Tally::of(own.filter(|r| r.threads == machine.threads));
        let label = format!(
            "of the best rival's time, geometric mean, {} thread(s)",
            machine.threads
        );
        report.tile(&label, &format!("{:.2}", tally.mean));
        let label = format!("faster, level, slower, {} thread(s)", machine.threads);
        report.tile(
            &label,
            &format!("{} · {} · {}", tally.faster, tally.level, tally.slower),
        );
    }
    if let Some(machine) = results.machines.first() {
        conditions(&mut report, machine);
    }
    if let Some(throttled) = results.machines.iter().find_map(|m| m.throttled()) {
        report.wide_figure("Throttled", &throttled, "");
    }
    let losing = results.losing();
    report.wide_figure(
        &format!("{} losing rows", losing.len()),
        "Slower than the best rival by more than a tie of 10 %, the worst first.",
        &chart::ratios(&losing),
    );
    for family in results.families() {
        let own = results.records.iter().filter(|r| r.key.family() == family);
        let own: Vec<_> = own.collect();
        report.wide_figure(
            title(family),
            &format!(
                "{}. Bars: our time over the best rival's; left of the line we are faster.",
                Tally::of(own.iter().copied())
            ),
            &chart::ratios(&own),
        );
    }
    report.wide_figure(
        "Every contestant",
        "Minimum and, in brackets, median. Of the limit: the time the bytes or the arithmetic need at the rates measured in \
         this run, over ours.",
        &table(&results.records),
    );
    report
}

/// What the first run was measured on.
fn conditions(report: &mut Report, machine: &Machine) {
    let slowest = machine.clock[0].min(machine.clock[1]);
    report.tile("clock", &format!("{slowest:.2} GHz"));
    report.tile(
        "GFLOP/s at most of one thread, f32",
        &format!("{:.0}", machine.flops[0]),
    );
    report.tile("load at the start", &machine.load);
    if let Some(waited) = machine.waited {
        report.tile("waited for a core", &format!("{:.0} %", waited * 100.0));
    }
}

fn table(records: &[Record]) -> String {
    let mut html = String::from(
        "<table><tr><th>workload<th>threads<th>ours<th>ratio<th>of medians<th>of the limit<th>others</tr>",
    );
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.2}"));
    for record in records {
        let slower = record.verdict() == Some(Verdict::Slower);
        let style = if slower {
            " style='color:var(--b)'"
        } else {
            ""
        };
        let mut others = String::new();
        for timing in &record.timings[1..] {
            let whose = if timing.role == Role::Variant {
                "ours "
            } else {
                ""
            };
            // Writing to a String cannot fail.
            let _ = write!(
                others,
                "{whose}{} {} ({})<br>",
                escape(&timing.name),
                duration(timing.minimum),
                duration(timing.median)
            );
        }
        let _ = write!(
            html,
            "<tr{style}><td>{}<td>{}<td>{} ({})<td>{}<td>{}<td>{}<td>{others}</tr>",
            escape(&record.key.to_string()),
            record.threads,
            duration(record.ours().minimum),
            duration(record.ours().median),
            number(record.ratio()),
            number(record.median_ratio()),
            number(record.share_of_limit()),
        );
    }
    html.push_str("</table>");
    html
}
