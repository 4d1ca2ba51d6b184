//! The bars: how large each ratio may be at most. They are kept in `bars.csv`, one line for each workload and thread count.

use std::fmt::Write as _;
use std::fs;
use std::num::ParseFloatError;
use std::path::PathBuf;

use crate::contest::Failure;
use crate::record::Record;

/// The first line of the file.
const HEAD: &str = "workload,size,dtype,threads,bar,noise,reason";

/// Ratios above this need a reason.
pub(crate) const NEEDS_REASON: f64 = 1.1;

/// What `--bars` allows above the ratio it has just seen, as runs on one machine differ.
const ROOM: f64 = 1.05;

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

/// All lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bars {
    lines: Vec<Bar>,
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("bars.csv")
}

fn name(record: &Record) -> String {
    let key = &record.key;
    format!(
        "{},{},{},{}",
        key.workload, key.size, key.dtype, record.threads
    )
}

impl Bars {
    /// Reads the file; without one there are no bars.
    pub(crate) fn read() -> Result<Bars, Failure> {
        match fs::read_to_string(path()) {
            Ok(text) => Ok(Bars::parse(&text)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Bars::default()),
            Err(error) => Err(error.into()),
        }
    }

    fn parse(text: &str) -> Result<Bars, ParseFloatError> {
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
        Ok(Bars {
            lines: lines.collect::<Result<_, ParseFloatError>>()?,
        })
    }

    fn text(&self) -> String {
        let mut text = format!("{HEAD}\n");
        for line in &self.lines {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "{},{:.2},{:.2},{}",
                line.name, line.bar, line.noise, line.reason
            );
        }
        text
    }

    /// The bar of a workload, if it has one.
    pub(crate) fn of(&self, record: &Record) -> Option<&Bar> {
        let name = name(record);
        self.lines.iter().find(|line| line.name == name)
    }

    /// The bar that a record misses by more than the noise.
    pub(crate) fn missed(&self, record: &Record) -> Option<&Bar> {
        let ratio = record.ratio()?;
        self.of(record)
            .filter(|line| ratio > line.bar * (1.0 + line.noise))
    }

    /// Sets the bars of these workloads to what was measured, and writes the file. Noise and reasons stay.
    pub(crate) fn renew(mut self, records: &[Record]) -> Result<(), Failure> {
        for record in records {
            let Some(ratio) = record.ratio() else {
                continue;
            };
            let bar = (ratio * ROOM * 100.0).ceil() / 100.0;
            let name = name(record);
            match self.lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.bar = bar,
                None => self.lines.push(Bar {
                    name,
                    bar,
                    noise: noise(record),
                    reason: String::new(),
                }),
            }
        }
        Ok(fs::write(path(), self.text())?)
    }
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
    use super::Bars;

    #[test]
    fn bars_are_read_as_they_are_written() {
        let text = "workload,size,dtype,threads,bar,noise,reason\n\
                    ew.add.out,1e7,f32,1,0.90,0.15,\n\
                    mm.nn,4,f64,2,1.20,0.20,a call, then arithmetic\n";
        let bars = Bars::parse(text).expect("it parses");
        assert_eq!(bars.text(), text);
        assert_eq!(bars.lines[1].reason, "a call, then arithmetic");
        assert!(Bars::parse("head\na,b,c,1,x,0.1,\n").is_err());
    }
}
