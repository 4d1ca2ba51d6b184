//! Cost against size: one plot for each workload, both axes logarithmic, drawn into docs/scaling.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::contest::Failure;
use crate::record::{Record, duration};
use crate::results::Results;

const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 46.0;
/// Where the names of the curves begin, from the left edge of the plot on.
const LEGEND: [f64; 4] = [110.0, 180.0, 312.0, 376.0];

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#1d2430}.soft{fill:#5c6778}.grid{stroke:#d9dee7}\
.a{stroke:#2f6fdf;fill:none}.b{stroke:#d9642b;fill:none}.c{stroke:#1f9d72;fill:none}.l{stroke:#8892a2;fill:none;stroke-dasharray:5 4}\
@media(prefers-color-scheme:dark){rect{fill:#1d232d}text{fill:#e8ebf1}.soft{fill:#9aa5b5}.grid{stroke:#353d4a}\
.a{stroke:#6ea0ff}.b{stroke:#f0925f}.c{stroke:#4fcf9f}}";

/// `(elements, nanoseconds for each element)`.
type Curve = Vec<(f64, f64)>;

/// One line of a plot: its style, its name and its points.
type Named = (&'static str, String, Curve);

/// Draws every workload of a run over many sizes.
pub(crate) fn draw(results: &Results) -> Result<(), Failure> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/scaling");
    fs::create_dir_all(&folder)?;
    let mut workloads: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in &results.records {
        let workload = record.key.workload.as_str();
        workloads.entry(workload).or_default().push(record);
    }
    for (workload, records) in workloads {
        let svg = plot(workload, &curves(&records));
        fs::write(folder.join(format!("{workload}.svg")), svg)?;
    }
    println!("written: docs/scaling");
    Ok(())
}

/// The number of elements that a size names, of all factors of a square product's rows.
fn elements(record: &Record) -> Option<f64> {
    let sizes = record.key.size.split('x').map(str::parse::<f64>);
    let sizes = sizes.collect::<Result<Vec<_>, _>>().ok()?;
    let product: f64 = sizes.iter().product();
    Some(match record.key.family() {
        "mm" => product * product,
        _ => product,
    })
}

fn curves(records: &[&Record]) -> Vec<Named> {
    let least = records.iter().map(|record| record.threads).min();
    let most = records.iter().map(|record| record.threads).max();
    let curve = |threads: Option<usize>, time: &dyn Fn(&Record) -> Option<f64>| -> Curve {
        let own = records.iter().filter(|r| Some(r.threads) == threads);
        let points = own.filter_map(|record| {
            let count = elements(record)?;
            Some((count, time(record)? / count))
        });
        points.collect()
    };
    let best = |record: &Record| Some(record.best_rival()?.minimum);
    let limit = |record: &Record| record.limit;
    let ours = |record: &Record| Some(record.ours().minimum);
    let mut curves = vec![
        ("l", "limit".to_owned(), curve(least, &limit)),
        ("b", "best Rust rival".to_owned(), curve(least, &best)),
        ("a", "ours".to_owned(), curve(least, &ours)),
    ];
    if least != most {
        let name = format!("ours, {} threads", most.unwrap_or(1));
        curves.push(("c", name, curve(most, &ours)));
    }
    curves
}

/// Powers of ten around the values.
fn decades(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let low = values.clone().fold(f64::INFINITY, f64::min).log10().floor();
    let high = values.fold(0.0, f64::max).log10().ceil();
    (low, high.max(low + 1.0))
}

fn plot(workload: &str, curves: &[Named]) -> String {
    let points = || curves.iter().flat_map(|(_, _, curve)| curve.iter());
    let (x0, x1) = decades(points().map(|p| p.0));
    let (y0, y1) = decades(points().map(|p| p.1));
    let x = |value: f64| LEFT + (value.log10() - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT);
    let y =
        |value: f64| HEIGHT - BOTTOM - (value.log10() - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}'>\
         <style>{STYLE}</style><rect width='100%' height='100%' rx='8' fill='#fff'/>\
         <text x='{LEFT}' y='20' font-weight='700'>{workload}</text>\
         <text class='soft' x='{LEFT}' y='{:.0}'>time for each element</text>\
         <text class='soft' x='{:.0}' y='{:.0}' text-anchor='end'>elements</text>",
        TOP - 8.0,
        WIDTH - RIGHT,
        HEIGHT - 8.0
    );
    // Writing to a String cannot fail.
    for power in x0 as i32..=x1 as i32 {
        let place = x(10f64.powi(power));
        let _ = write!(
            svg,
            "<line class='grid' x1='{place:.1}' x2='{place:.1}' y1='{TOP}' y2='{:.1}'/>\
             <text class='soft' x='{place:.1}' y='{:.1}' text-anchor='middle'>1e{power}</text>",
            HEIGHT - BOTTOM,
            HEIGHT - BOTTOM + 18.0
        );
    }
    for power in y0 as i32..=y1 as i32 {
        let value = 10f64.powi(power);
        let place = y(value);
        let text = if value < 1.0 {
            format!("{} ps", value * 1e3)
        } else {
            duration(value)
        };
        let _ = write!(
            svg,
            "<line class='grid' x1='{LEFT}' x2='{:.1}' y1='{place:.1}' y2='{place:.1}'/>\
             <text class='soft' x='{:.1}' y='{:.1}' text-anchor='end'>{text}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            place + 4.0
        );
    }
    for (i, (class, name, curve)) in curves.iter().enumerate() {
        let _ = write!(svg, "<polyline class='{class}' stroke-width='2' points='");
        for &(size, time) in curve {
            let _ = write!(svg, "{:.1},{:.1} ", x(size), y(time));
        }
        let place = LEFT + LEGEND[i];
        let _ = write!(
            svg,
            "'/><line class='{class}' stroke-width='2' x1='{place:.0}' x2='{:.0}' y1='16' y2='16'/>\
             <text x='{:.0}' y='20'>{name}</text>",
            place + 18.0,
            place + 22.0
        );
    }
    svg.push_str("</svg>\n");
    svg
}
