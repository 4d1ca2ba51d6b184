//! The bars: how large each ratio may be at most. Ratios differ between processors, so every processor has a file of its own,
//! `bars/<slug>.csv`, with a line for each workload and thread count.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::num::ParseFloatError;
use std::path::PathBuf;

use crate::record::Record;

/// The first line of the file.
const HEAD: &str = "workload,size,dtype,threads,bar,noise,reason";

/// Ratios above this need a reason.
pub(crate) const NEEDS_REASON: f64 = 1.1;

/// What `--bars` allows above the ratio it has just seen, as runs on one machine differ.
const ROOM: f64 = 1.05;

/// How many times our least time of several runs a time is that a neighbour made.
const DISTURBED: f64 = 1.2;

/// One line of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    /// The first four columns as they are written.
    name: String,
    /// Our time over the best rival's of the same run, at most.
    pub(crate) bar: f64,
    /// By how much more, as a share, a measurement may miss it.
    pub(crate) noise: f64,
    /// Why it is above 1.1, or empty.
    pub(crate) reason: String,
}

impl Bar {
    /// The largest ratio that does not miss it.
    fn most(&self) -> f64 {
        self.bar * (1.0 + self.noise)
    }
}

/// The bars that count for a processor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bars {
    slug: String,
    /// The file of this processor, without its ending: named by its slug, or by vendor and family alone.
    file: String,
    /// The lines of that file, if it exists.
    own: Option<Vec<Bar>>,
    /// The other files.
    others: Vec<String>,
    /// The loosest line that the other files have for each workload.
    loosest: Vec<Bar>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("bars")
}

fn name(record: &Record) -> String {
    let key = &record.key;
    format!(
        "{},{},{},{}",
        key.workload, key.size, key.dtype, record.threads
    )
}

fn find<'b>(lines: &'b [Bar], name: &str) -> Option<&'b Bar> {
    lines.iter().find(|line| line.name == name)
}

impl Bars {
    /// Reads all files for the processor of this slug.
    pub(crate) fn read(slug: &str) -> io::Result<Bars> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder())? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "csv")
                && let Some(file) = path.file_stem()
            {
                let lines = parse(&fs::read_to_string(&path)?).map_err(|error| {
                    io::Error::other(format!(
                        "{} has a line without its numbers: {error}",
                        path.display()
                    ))
                })?;
                files.insert(file.to_string_lossy().into_owned(), lines);
            }
        }
        Ok(Bars::choose(slug, files))
    }

    /// Takes the file of this processor or, without it, of its family apart from the others.
    fn choose(slug: &str, mut files: BTreeMap<String, Vec<Bar>>) -> Bars {
        let family = slug.rsplit_once('-').map_or(slug, |(family, _)| family);
        let mut known = [slug, family].into_iter();
        let file = known.find(|&name| files.contains_key(name));
        let file = file.unwrap_or(slug);
        Bars {
            slug: slug.to_owned(),
            file: file.to_owned(),
            own: files.remove(file),
            others: files.keys().cloned().collect(),
            loosest: loosest(files.into_values().flatten()),
        }
    }

    /// A line about bars that are those of other processors.
    pub(crate) fn borrowed(&self) -> Option<String> {
        self.own.is_none().then(|| {
            format!(
                "bars: this processor, {}, has none of its own; the loosest of each workload in benches/bars/{{{}}}.csv \
                 count. To record its own: cargo xtask bench --threads both --bars",
                self.slug,
                self.others.join(",")
            )
        })
    }

    /// The bar of a workload, if it has one.
    pub(crate) fn of(&self, record: &Record) -> Option<&Bar> {
        find(self.own.as_ref().unwrap_or(&self.loosest), &name(record))
    }

    /// The bar that a record misses by more than the noise.
    pub(crate) fn missed(&self, record: &Record) -> Option<&Bar> {
        let ratio = record.ratio()?;
        self.of(record).filter(|line| ratio > line.most())
    }

    /// Sets the bars of these workloads to the largest ratio of some runs, but for those in which we were disturbed ourselves, and
    /// writes the file of this processor.
    pub(crate) fn renew(&self, runs: &[&[Record]]) -> io::Result<()> {
        let file = format!("{}.csv", self.file);
        fs::write(folder().join(&file), text(&self.renewed(runs)))?;
        println!("written: benches/bars/{file}");
        Ok(())
    }

    /// The lines with new bars; noise and reasons stay. Where the file lacks a workload they are those of the loosest line of
    /// the others: noise is a property of the workload, and a reason is wanted for large bars only. Only workloads of the first run
    /// get bars.
    fn renewed(&self, runs: &[&[Record]]) -> Vec<Bar> {
        let mut lines = self.own.clone().unwrap_or_default();
        let mut results: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        for record in runs.iter().copied().flatten() {
            if let Some(ratio) = record.ratio() {
                let known = results.entry(name(record)).or_default();
                known.push((record.ours().minimum, ratio));
            }
        }
        for record in runs.first().copied().unwrap_or_default() {
            let name = name(record);
            let Some(results) = results.get(&name) else {
                continue;
            };
            let bar = (largest_ratio(results) * ROOM * 100.0).ceil() / 100.0;
            if let Some(line) = lines.iter_mut().find(|line| line.name == name) {
                line.bar = bar;
                continue;
            }
            let known = find(&self.loosest, &name);
            let reason = known.filter(|_| bar > NEEDS_REASON);
            lines.push(Bar {
                name,
                bar,
                noise: known.map_or_else(|| noise(record), |known| known.noise),
                reason: reason.map_or_else(String::new, |known| known.reason.clone()),
            });
        }
        lines
    }
}

/// The largest ratio of a workload's runs, of which our times and the ratios are given. Runs in which a rival was disturbed have small
/// ratios and are outdone by others; those in which we were would make bars that hide a loss, and do not count.
fn largest_ratio(runs: &[(f64, f64)]) -> f64 {
    let least = runs
        .iter()
        .fold(f64::INFINITY, |least, run| least.min(run.0));
    let calm = runs.iter().filter(|run| run.0 <= least * DISTURBED);
    calm.fold(0.0, |largest, run| largest.max(run.1))
}

fn parse(text: &str) -> Result<Vec<Bar>, ParseFloatError> {
    let lines = text.lines().skip(1).filter(|line| !line.is_empty());
    let lines = lines.map(|line| {
        // The reason is the rest of the line, with its commas.
        let mut fields = line.splitn(7, ',');
        let mut next = || fields.next().unwrap_or_default();
        let name = [next(), next(), next(), next()].join(",");
        Ok(Bar {
            name,
            bar: next().parse()?,
            noise: next().parse()?,
            reason: next().to_owned(),
        })
    });
    lines.collect()
}

fn text(lines: &[Bar]) -> String {
    let mut text = format!("{HEAD}\n");
    for line in lines {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{},{:.2},{:.2},{}",
            line.name, line.bar, line.noise, line.reason
        );
    }
    text
}

/// Of the lines of a workload the one that allows most.
fn loosest(lines: impl Iterator<Item = Bar>) -> Vec<Bar> {
    let mut loosest: Vec<Bar> = Vec::new();
    for line in lines {
        match loosest.iter_mut().find(|known| known.name == line.name) {
            Some(known) if known.most() < line.most() => *known = line,
            Some(_) => {}
            None => loosest.push(line),
        }
    }
    loosest
}

/// How much two runs of a workload differ: files are the least repeatable, then calls that last less than a microsecond and
/// whatever needs several threads at the same time.
fn noise(record: &Record) -> f64 {
    match record.key.family() {
        "io" => 0.4,
        _ if record.threads > 1 => 0.25,
        _ if record.ours().minimum < 1e3 => 0.2,
        _ => 0.15,
    }
}

#[cfg(test)]
mod tests {
    use super::{Bars, parse, text};
    use crate::record::{Key, Record, Role, Samples, Timing};

    const HEAD: &str = "workload,size,dtype,threads,bar,noise,reason\n";

    /// The bars of a processor, with files given by their lines.
    fn bars(slug: &str, files: &[(&str, &str)]) -> Bars {
        let read = |lines: &str| parse(&format!("{HEAD}{lines}")).expect("it parses");
        let files = files.iter();
        Bars::choose(
            slug,
            files
                .map(|&(file, lines)| (file.to_owned(), read(lines)))
                .collect(),
        )
    }

    /// A workload on one thread for which we need so many times what the rival needs.
    fn record(workload: &str, ratio: f64) -> Record {
        let timing = |role, calm| {
            let (calm, disturbed) = (vec![calm], Vec::new());
            Timing::new("one", role, &Samples { calm, disturbed })
        };
        Record {
            key: Key {
                workload: workload.to_owned(),
                size: "9".to_owned(),
                dtype: "f32".to_owned(),
            },
            threads: 1,
            limit: None,
            timings: vec![timing(Role::Ours, 1e4 * ratio), timing(Role::Rival, 1e4)],
        }
    }

    #[test]
    fn bars_are_read_as_they_are_written() {
        let lines = "workload,size,dtype,threads,bar,noise,reason\n\
                     ew.add.out,1e7,f32,1,0.90,0.15,\n\
                     mm.nn,4,f64,2,1.20,0.20,a call, then arithmetic\n";
        let bars = parse(lines).expect("it parses");
        assert_eq!(text(&bars), lines);
        assert_eq!(bars[1].reason, "a call, then arithmetic");
        assert!(parse("head\na,b,c,1,x,0.1,\n").is_err());
    }

    #[test]
    fn a_processor_finds_its_file_or_that_of_its_family() {
        let files = [("amd-25", ""), ("intel-6", ""), ("intel-6-143", "")];
        let cases = [
            ("intel-6-143", "intel-6-143", true),
            ("intel-6-85", "intel-6", true),
            ("amd-25-17", "amd-25", true),
            ("amd-26-17", "amd-26-17", false),
            ("amd-25", "amd-25", true),
            ("aarch64", "aarch64", false),
        ];
        for (slug, file, known) in cases {
            let bars = bars(slug, &files);
            assert_eq!((&*bars.file, bars.own.is_some()), (file, known), "{slug}");
            assert_eq!(bars.borrowed().is_none(), known, "{slug}");
        }
        let line = bars("aarch64", &files).borrowed().unwrap_or_default();
        assert!(line.contains("aarch64") && line.contains("{amd-25,intel-6,intel-6-143}.csv"));
    }

    const FILES: [(&str, &str); 3] = [
        ("a-1", "x,9,f32,1,1.30,0.10,of a\ny,9,f32,1,0.80,0.40,\n"),
        ("b-1", "x,9,f32,1,1.20,0.40,of b\ny,9,f32,1,0.90,0.10,\n"),
        ("c-1", "x,9,f32,1,0.50,0.20,\n"),
    ];

    #[test]
    fn the_loosest_bar_judges_where_there_is_no_file() {
        let cases = [
            // 1.2 with 40 % of noise allows more than 1.3 with 10 %.
            ("d-1-1", "x", 1.67, false),
            ("d-1-1", "x", 1.69, true),
            ("d-1-1", "y", 1.11, false),
            ("d-1-1", "y", 1.13, true),
            ("c-1-1", "x", 0.59, false),
            ("c-1-1", "x", 0.61, true),
            // The files of others do not fill the gaps of one that exists.
            ("c-1-1", "y", 9.0, false),
        ];
        for (slug, workload, ratio, missed) in cases {
            let missing = bars(slug, &FILES);
            let found = missing.missed(&record(workload, ratio)).is_some();
            assert_eq!(found, missed, "{slug} {workload} {ratio}");
        }
    }

    #[test]
    fn new_lines_take_over_what_others_say() {
        let records = [record("x", 2.0), record("y", 0.6), record("z", 2.0)];
        let cases = [
            (
                "d-1-1",
                "x,9,f32,1,2.10,0.40,of b\ny,9,f32,1,0.63,0.40,\nz,9,f32,1,2.10,0.15,\n",
            ),
            (
                "c-1-1",
                "x,9,f32,1,2.10,0.20,\ny,9,f32,1,0.63,0.40,\nz,9,f32,1,2.10,0.15,\n",
            ),
            (
                "a-1-1",
                "x,9,f32,1,2.10,0.10,of a\ny,9,f32,1,0.63,0.40,\nz,9,f32,1,2.10,0.15,\n",
            ),
        ];
        for (slug, lines) in cases {
            let renewed = bars(slug, &FILES).renewed(&[&records]);
            assert_eq!(text(&renewed), format!("{HEAD}{lines}"), "{slug}");
        }
        let low = bars("d-1-1", &FILES).renewed(&[&[record("x", 1.0)]]);
        assert_eq!(low[0].reason, "", "a bar of 1.05 needs none");
    }

    #[test]
    fn bars_are_the_largest_ratio_of_undisturbed_runs() {
        let run = |ours: f64, rival: f64| {
            let mut record = record("x", ours);
            let (calm, disturbed) = (vec![1e4 * rival], Vec::new());
            record.timings[1] = Timing::new("one", Role::Rival, &Samples { calm, disturbed });
            [record]
        };
        let cases: [(&[(f64, f64)], f64); 4] = [
            (&[(2.0, 1.0)], 2.1),
            // Rivals were slower in the first run.
            (&[(1.0, 2.0), (1.1, 1.0)], 1.16),
            // We were in the second.
            (&[(1.0, 2.0), (1.9, 1.0)], 0.53),
            (&[(1.9, 1.0), (1.0, 2.0), (1.1, 1.1)], 1.05),
        ];
        for (times, bar) in cases {
            let runs: Vec<_> = times
                .iter()
                .map(|&(ours, rival)| run(ours, rival))
                .collect();
            let runs: Vec<&[Record]> = runs.iter().map(<[Record; 1]>::as_slice).collect();
            let renewed = bars("d-1-1", &FILES).renewed(&runs);
            assert_eq!(renewed[0].bar, bar, "{times:?}");
        }
    }
}
