//! Runs contests, prints a line for each as it ends, and keeps the results.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::calm::{Account, Scheduler};
use crate::contest::{Budget, Contest, Failure};
use crate::machine::Machine;
use crate::options::Options;
use crate::record::{Record, Role, Timing, Verdict, duration};

/// One run of the benchmark.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) options: Options,
    pub(crate) machine: Machine,
    pub(crate) records: Vec<Record>,
    /// Share of the time this thread had to wait for a core, known at the end.
    pub(crate) waited: Option<f64>,
    start: Instant,
}

impl Suite {
    /// A run that has measured nothing yet.
    pub(crate) fn new(options: Options, machine: Machine) -> Suite {
        Suite {
            options,
            machine,
            records: Vec::new(),
            waited: None,
            start: Instant::now(),
        }
    }

    /// Whether a workload of this name is asked for.
    pub(crate) fn wants(&self, name: &str) -> bool {
        let filter = self.options.filter.as_deref();
        filter.is_none_or(|text| name.contains(text))
    }

    /// The full size, or the smaller one of a quick run.
    pub(crate) fn size(&self, full: usize, quick: usize) -> usize {
        if self.options.quick { quick } else { full }
    }

    fn budget(&self) -> Budget {
        if self.options.quick {
            Budget {
                sample: Duration::from_micros(500),
                each: Duration::from_millis(150),
                rounds: 5,
            }
        } else {
            Budget {
                sample: Duration::from_millis(1),
                each: Duration::from_millis(500),
                rounds: 9,
            }
        }
    }

    /// Measures a contest and prints its line.
    pub(crate) fn run(&mut self, contest: Contest<'_>) -> Result<(), Failure> {
        let (mut record, limit) = contest.run(&self.budget())?;
        record.limit = limit.and_then(|limit| self.machine.nanoseconds(limit));
        if self.records.is_empty() {
            println!(
                "\n{:<34} {:>9}  {:>5} {:<6}  {:>9}  rivals",
                "workload (minimum of the samples)", "ours", "ratio", "", "limit"
            );
        }
        println!("{}", line(&record));
        self.records.push(record);
        Ok(())
    }

    /// Prints the closing lines.
    pub(crate) fn finish(&mut self) {
        let account = Scheduler::of_this_thread().read();
        self.waited = account.map(Account::share_waited);
        let count = |verdict| {
            let all = self.records.iter().filter(|r| r.verdict() == Some(verdict));
            all.count()
        };
        println!(
            "\n{} workloads in {:.0} s: {} faster than the best rival, {} level (within 10 %), {} slower",
            self.records.len(),
            self.start.elapsed().as_secs_f64(),
            count(Verdict::Faster),
            count(Verdict::Level),
            count(Verdict::Slower)
        );
        if let Some(waited) = self.waited {
            println!(
                "this thread waited for a core {:.0} % of the time{}",
                waited * 100.0,
                if waited > 0.1 {
                    "; samples during which it waited are left out where enough others remain"
                } else {
                    ""
                }
            );
        }
        println!(
            "ratio = ours / best rival; limit = bytes over the copy rate, or operations over the peak"
        );
    }
}

fn line(record: &Record) -> String {
    let mut text = format!(
        "{:<34} {:>9}  {:>5} {:<6}  {:>9} ",
        record.name,
        duration(record.ours().minimum),
        record.ratio().map_or("-".to_owned(), |r| format!("{r:.2}")),
        record.verdict().map_or("", Verdict::name),
        record.limit.map_or("-".to_owned(), duration),
    );
    for timing in &record.timings[1..] {
        // Writing to a String cannot fail.
        let _ = write!(text, " {};", cell(timing));
    }
    text.pop();
    text
}

/// A contestant and its time; ours in brackets.
fn cell(timing: &Timing) -> String {
    let time = duration(timing.minimum);
    match timing.role {
        Role::Variant => format!("[ours {} {time}]", timing.name),
        Role::Ours | Role::Rival => format!("{} {time}", timing.name),
    }
}
