//! The results of a run with every thread count: kept as JSON, summed up in a few lines, and judged by the bars.

use std::fmt;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::bars::{Bars, NEEDS_REASON};
use crate::contest::Failure;
use crate::machine::Machine;
use crate::permanent::is_permanent;
use crate::record::{Record, Verdict};
use crate::suite::Suite;

/// Everything that was measured.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) version: String,
    pub(crate) quick: bool,
    /// The machine as each run found it.
    pub(crate) machines: Vec<Machine>,
    pub(crate) records: Vec<Record>,
}

/// What a set of records comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) faster: usize,
    pub(crate) level: usize,
    pub(crate) slower: usize,
    /// Geometric mean of the ratios; below 1 we are faster.
    pub(crate) mean: f64,
}

impl Tally {
    /// Counts the records that have a rival.
    pub(crate) fn of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Tally {
        let mut tally = Tally::default();
        let mut logarithms = 0.0;
        for record in records {
            let (Some(ratio), Some(verdict)) = (record.ratio(), record.verdict()) else {
                continue;
            };
            logarithms += ratio.ln();
            match verdict {
                Verdict::Faster => tally.faster += 1,
                Verdict::Level => tally.level += 1,
                Verdict::Slower => tally.slower += 1,
            }
        }
        let count = tally.faster + tally.level + tally.slower;
        tally.mean = (logarithms / count as f64).exp();
        tally
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "geometric mean {:.2}; {} faster, {} level, {} slower",
            self.mean, self.faster, self.level, self.slower
        )
    }
}

impl Results {
    /// The part of one run.
    pub(crate) fn of(suite: Suite) -> Results {
        Results {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            quick: suite.options.quick,
            machines: vec![suite.machine],
            records: suite.records,
        }
    }

    /// Appends a part.
    pub(crate) fn add(&mut self, part: Results) {
        self.version = part.version;
        self.quick = part.quick;
        self.machines.extend(part.machines);
        self.records.extend(part.records);
    }

    /// Takes over the rows of another run that came out better there.
    pub(crate) fn improve(&mut self, again: Results) {
        for record in again.records {
            let same = |known: &&mut Record| {
                known.key == record.key
                    && known.threads == record.threads
                    && record.ratio() < known.ratio()
            };
            if let Some(known) = self.records.iter_mut().find(same) {
                *known = record;
            }
        }
    }

    /// Reads what [`Results::write`] wrote.
    pub(crate) fn read(path: &Path) -> Result<Results, Failure> {
        Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
    }

    /// Writes them as JSON.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        Ok(fs::write(path, serde_json::to_string_pretty(self)? + "\n")?)
    }

    /// The processor whose bars count: one, as all parts are measured by one call.
    pub(crate) fn slug(&self) -> &str {
        self.machines.first().map_or("", |machine| &machine.slug)
    }

    /// The thread counts, in the order they were measured.
    pub(crate) fn threads(&self) -> impl Iterator<Item = usize> {
        self.machines.iter().map(|machine| machine.threads)
    }

    /// The families, in the order they were measured.
    pub(crate) fn families(&self) -> Vec<&str> {
        let mut families: Vec<&str> = Vec::new();
        for record in &self.records {
            if !families.contains(&record.key.family()) {
                families.push(record.key.family());
            }
        }
        families
    }

    /// Records that lose by more than a tie, the worst first.
    pub(crate) fn losing(&self) -> Vec<&Record> {
        let mut losing: Vec<_> = self.records.iter().collect();
        losing.retain(|record| record.verdict() == Some(Verdict::Slower));
        losing.sort_by(|a, b| {
            b.ratio()
                .partial_cmp(&a.ratio())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        losing
    }

    /// Prints what misses its bar or lacks a reason; true when nothing does.
    pub(crate) fn passes(&self, bars: &Bars) -> bool {
        if let Some(line) = bars.borrowed() {
            println!("{line}");
        }
        let mut failures = 0;
        for record in &self.records {
            let Some(ratio) = record.ratio() else {
                continue;
            };
            let failure = match (bars.missed(record), bars.of(record)) {
                (Some(bar), _) => format!(
                    "{ratio:.2} is above {:.2} by more than {:.0} %",
                    bar.bar,
                    bar.noise * 100.0
                ),
                (None, Some(bar)) if bar.bar > NEEDS_REASON && bar.reason.is_empty() => {
                    format!("its bar of {:.2} has no reason", bar.bar)
                }
                (None, Some(_)) => continue,
                (None, None) => "it has no bar".to_owned(),
            };
            println!("MISSED {}: {failure}", record.name());
            failures += 1;
        }
        println!(
            "bars: {} of {} kept",
            self.records.len() - failures,
            self.records.len()
        );
        failures == 0
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for threads in self.threads() {
            let own = || self.records.iter().filter(move |r| r.threads == threads);
            writeln!(f, "{threads} thread(s): {}", Tally::of(own()))?;
            let permanent = Tally::of(own().filter(|r| is_permanent(&r.key)));
            if permanent.mean.is_finite() {
                writeln!(f, "  of the permanent workloads: {permanent}")?;
            }
            for family in self.families() {
                let tally = Tally::of(own().filter(|r| r.key.family() == family));
                if tally.mean.is_finite() {
                    writeln!(f, "  {family:<4} {tally}")?;
                }
            }
        }
        for record in self.losing() {
            writeln!(
                f,
                "losing {:<44} {:.2} of {}",
                record.name(),
                record.ratio().unwrap_or(f64::NAN),
                record.best_rival().map_or("-", |rival| &rival.name)
            )?;
        }
        write!(
            f,
            "ratio = ours / best rival, below 1 we are faster, level is within 10 %"
        )
    }
}
