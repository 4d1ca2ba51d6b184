//! Runs contests, prints a line for each as it ends, and keeps the results.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::bars::Bars;
use crate::calm::{Account, Scheduler};
use crate::contest::{Budget, Contest, Failure};
use crate::machine::Machine;
use crate::options::Options;
use crate::peak;
use crate::peers::Peer;
use crate::record::{Key, Record, Role, Timing, Verdict, duration};

/// A workload that misses its bar is measured so often before that counts: a neighbour's burst must not decide.
const ATTEMPTS: usize = 4;

/// One run of the benchmark with one thread count.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) options: Options,
    pub(crate) machine: Machine,
    pub(crate) records: Vec<Record>,
    bars: Bars,
    peers: Vec<Peer>,
    start: Instant,
}

impl Suite {
    /// A run that has measured nothing yet.
    pub(crate) fn new(options: Options, mut machine: Machine, peers: Vec<Peer>) -> Suite {
        machine.peers = peers.iter().map(|peer| peer.about.clone()).collect();
        Suite {
            options,
            machine,
            records: Vec::new(),
            bars: Bars::default(),
            peers,
            start: Instant::now(),
        }
    }

    /// Measures again what misses a bar.
    pub(crate) fn judged_by(mut self, bars: Bars) -> Suite {
        self.bars = bars;
        self
    }

    /// The workload of this name, if it is asked for.
    pub(crate) fn wants(&self, workload: &str, size: &str, dtype: &str) -> Option<Key> {
        let key = Key {
            workload: workload.to_owned(),
            size: size.to_owned(),
            dtype: dtype.to_owned(),
        };
        self.options.want(&key.to_string()).then_some(key)
    }

    /// The full size, or the smaller one of a quick run.
    pub(crate) fn size(&self, full: usize, quick: usize) -> usize {
        if self.options.quick { quick } else { full }
    }

    fn budget(&self) -> Budget {
        if self.options.quick {
            Budget {
                sample: Duration::from_micros(500),
                each: Duration::from_millis(60),
                rounds: 5,
            }
        } else {
            Budget {
                sample: Duration::from_millis(1),
                each: Duration::from_millis(180),
                rounds: 9,
            }
        }
    }

    /// Measures a contest and prints its line.
    pub(crate) fn run(&mut self, contest: Contest<'_>) -> Result<(), Failure> {
        let peers = std::mem::take(&mut self.peers);
        let result = self.run_with(contest, &peers);
        self.peers = peers;
        let record = result?;
        if self.records.is_empty() {
            println!(
                "\n{:<34} {:>9}  {:>5} {:<6} {:>5}  rivals",
                "workload (minimum of the samples)", "ours", "ratio", "", "limit"
            );
        }
        println!("{}", line(&record));
        self.records.push(record);
        Ok(())
    }

    fn run_with<'a>(&self, mut contest: Contest<'a>, peers: &'a [Peer]) -> Result<Record, Failure> {
        for peer in peers {
            contest.peer(peer)?;
        }
        let mut record = Record {
            key: contest.key().clone(),
            threads: self.machine.threads,
            limit: contest.limit.map(|limit| self.machine.nanoseconds(limit)),
            timings: Vec::new(),
        };
        for _ in 0..ATTEMPTS {
            record.timings = contest.run(&self.budget())?;
            if self.bars.missed(&record).is_none() {
                break;
            }
        }
        Ok(record)
    }

    /// Looks at the clock again and prints how the run went.
    pub(crate) fn finish(&mut self) {
        let account = Scheduler::of_this_thread().read();
        let machine = &mut self.machine;
        machine.waited = account.map(Account::share_waited);
        machine.clock[1] = peak::clock();
        machine.took = self.start.elapsed().as_secs_f64();
        println!(
            "\n{} workloads in {:.0} s, clock {:.2} GHz at the end",
            self.records.len(),
            machine.took,
            machine.clock[1]
        );
        if let Some(waited) = machine.waited {
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
        if let Some(throttled) = machine.throttled() {
            println!("{throttled}");
        }
    }
}

fn line(record: &Record) -> String {
    let mut text = format!(
        "{:<34} {:>9}  {:>5} {:<6} {:>5} ",
        record.key.to_string(),
        duration(record.ours().minimum),
        record.ratio().map_or("-".to_owned(), |r| format!("{r:.2}")),
        record.verdict().map_or("", Verdict::name),
        record
            .share_of_limit()
            .map_or("-".to_owned(), |share| format!("{:.0} %", share * 100.0)),
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
