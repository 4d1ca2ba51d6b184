//! The results as files: JSON for programs, one HTML page for people.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::chart;
use crate::contest::Failure;
use crate::record::{Record, Role, Verdict, duration};
use crate::report::{Report, escape};
use crate::suite::Suite;

/// Writes `bench.json` and `bench.html` into a folder, which is made if need be.
pub(crate) fn write(suite: &Suite, folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder)?;
    let text = serde_json::to_string_pretty(&results(suite))?;
    fs::write(folder.join("bench.json"), text + "\n")?;
    page(suite).write(&folder.join("bench.html"))?;
    Ok(())
}

fn results(suite: &Suite) -> Value {
    let machine = &suite.machine;
    let records: Vec<Value> = suite.records.iter().map(entry).collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "quick": suite.options.quick,
        "machine": {
            "processor": machine.processor,
            "cores": machine.cores,
            "threads": machine.threads,
            "isa": machine.isa.name(),
            "matrix_products": machine.products,
            "clock_ghz": machine.clock,
            "matmul_384_gflops": machine.product_rate,
            "copy_gb_per_s": machine.copy_rate,
            "cleared": machine.cleared,
            "load": machine.load,
            "waited": suite.waited,
        },
        "workloads": records,
    })
}

fn entry(record: &Record) -> Value {
    let timings = record.timings.iter().map(|timing| {
        json!({
            "name": timing.name,
            "role": match timing.role {
                Role::Ours => "ours",
                Role::Variant => "variant",
                Role::Rival => "rival",
            },
            "minimum_ns": timing.minimum,
            "median_ns": timing.median,
            "samples": timing.samples,
            "disturbed": timing.disturbed,
        })
    });
    json!({
        "name": record.name,
        "ratio": record.ratio(),
        "median_ratio": record.median_ratio(),
        "best_rival": record.best_rival().map(|rival| rival.name),
        "limit_ns": record.limit,
        "timings": timings.collect::<Vec<_>>(),
    })
}

fn page(suite: &Suite) -> Report {
    let machine = &suite.machine;
    let subtitle = format!(
        "{}, {} cores, {} thread(s), kernels {}; rivals measured in the same run, in turn",
        machine.processor, machine.cores, machine.threads, machine.isa
    );
    let mut report = Report::new("lodestride beside its rivals", &subtitle);
    for verdict in [Verdict::Faster, Verdict::Level, Verdict::Slower] {
        let all = suite.records.iter();
        let count = all.filter(|r| r.verdict() == Some(verdict)).count();
        report.tile(&verdict.name().to_lowercase(), &count.to_string());
    }
    report.tile("clock", &format!("{:.2} GHz", machine.clock));
    report.tile("copy", &format!("{:.1} GB/s", machine.copy_rate));
    report.tile(
        "matmul 384",
        &format!("{:.0} GFLOP/s", machine.product_rate),
    );
    report.tile("load at the start", &machine.load);
    if let Some(waited) = suite.waited {
        report.tile("waited for a core", &format!("{:.0} %", waited * 100.0));
    }
    report.wide_figure(
        "Ours and the best rival",
        "Minimum of the samples; each pair is drawn to the longer of the two, so the shorter bar wins. Ties are within 10 %.",
        &chart::pairs(&suite.records),
    );
    report.wide_figure(
        "Every contestant",
        "Minimum and, in brackets, median. Ratio: ours over the best rival, below 1 is faster. Limit: bytes over the copy \
         rate, or operations over the peak, both of this run.",
        &table(&suite.records),
    );
    report
}

fn table(records: &[Record]) -> String {
    let mut html = String::from(
        "<table><tr><th>workload<th>ours<th>ratio<th>of medians<th>verdict<th>limit<th>others</tr>",
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
                escape(timing.name),
                duration(timing.minimum),
                duration(timing.median)
            );
        }
        let _ = write!(
            html,
            "<tr{style}><td>{}<td>{} ({})<td>{}<td>{}<td>{}<td>{}<td>{others}</tr>",
            escape(&record.name),
            duration(record.ours().minimum),
            duration(record.ours().median),
            number(record.ratio()),
            number(record.median_ratio()),
            record.verdict().map_or("", Verdict::name),
            record.limit.map_or("-".to_owned(), duration),
        );
    }
    html.push_str("</table>");
    html
}
