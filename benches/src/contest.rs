//! One workload: several ways to do the same thing, checked against each other once and then timed in turn.

use std::error::Error;
use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::calm::Scheduler;
use crate::peers::Peer;
use crate::record::{Key, Role, Samples, Timing};

/// Any error of any library that takes part.
pub(crate) type Failure = Box<dyn Error>;

/// What the hardware allows at best.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// Bytes that must be read, and a share of it written.
    Copied(usize),
    /// Bytes that must be read; what is written is nothing beside them.
    Read(usize),
    /// Floating-point operations in `f32`.
    SingleFlops(f64),
    /// Floating-point operations in `f64`.
    DoubleFlops(f64),
}

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// A sample repeats the operation until it lasts this long.
    pub(crate) sample: Duration,
    /// Time for each way of doing it.
    pub(crate) each: Duration,
    /// Samples that are taken whatever they last.
    pub(crate) rounds: usize,
}

/// Two libraries that do not compute the same thing.
#[derive(Debug)]
struct Disagreement {
    workload: String,
    name: String,
    index: usize,
    ours: f64,
    theirs: f64,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: `{}` gives {} at position {} where lodestride gives {}",
            self.workload, self.name, self.theirs, self.index, self.ours
        )
    }
}

impl Error for Disagreement {}

/// Repeats an operation so many times and says how long that took.
type Sample<'a> = Box<dyn FnMut(u32) -> Result<Duration, Failure> + 'a>;

struct Entry<'a> {
    name: &'static str,
    role: Role,
    sample: Sample<'a>,
    /// Repetitions of one sample; 0 until calibrated.
    times: u32,
    samples: Samples,
}

/// A workload under construction. The first entry is ours; its answer is what the others must agree with.
pub(crate) struct Contest<'a> {
    key: Key,
    tolerance: f64,
    pub(crate) limit: Option<Limit>,
    answer: Vec<f64>,
    entries: Vec<Entry<'a>>,
}

impl<'a> Contest<'a> {
    /// A workload without entries; answers may differ by `tolerance`, relative to 1 or the value, whichever is larger.
    pub(crate) fn new(key: Key, tolerance: f64) -> Contest<'a> {
        Contest {
            key,
            tolerance,
            limit: None,
            answer: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// States what bounds the workload from below.
    pub(crate) fn limit(mut self, limit: Limit) -> Contest<'a> {
        self.limit = Some(limit);
        self
    }

    /// Enters what is measured; `read` turns one result into numbers for the comparison.
    pub(crate) fn ours<T, E: Into<Failure>>(
        &mut self,
        operation: impl FnMut() -> Result<T, E> + 'a,
        read: impl FnOnce(T) -> Result<Vec<f64>, Failure>,
    ) -> Result<(), Failure> {
        self.enter("ours", Role::Ours, operation, read)
    }

    /// Enters another way of ours, shown for comparison and left out of the ratio.
    pub(crate) fn variant<T, E: Into<Failure>>(
        &mut self,
        name: &'static str,
        operation: impl FnMut() -> Result<T, E> + 'a,
        read: impl FnOnce(T) -> Result<Vec<f64>, Failure>,
    ) -> Result<(), Failure> {
        self.enter(name, Role::Variant, operation, read)
    }

    /// Enters a rival whose operation can fail.
    pub(crate) fn rival<T, E: Into<Failure>>(
        &mut self,
        name: &'static str,
        operation: impl FnMut() -> Result<T, E> + 'a,
        read: impl FnOnce(T) -> Result<Vec<f64>, Failure>,
    ) -> Result<(), Failure> {
        self.enter(name, Role::Rival, operation, read)
    }

    /// Enters a rival whose operation cannot fail.
    pub(crate) fn sure_rival<T>(
        &mut self,
        name: &'static str,
        mut operation: impl FnMut() -> T + 'a,
        read: impl FnOnce(T) -> Result<Vec<f64>, Failure>,
    ) -> Result<(), Failure> {
        self.enter(
            name,
            Role::Rival,
            move || Ok::<_, std::convert::Infallible>(operation()),
            read,
        )
    }

    /// Enters a library of another process, if it has this workload. A few elements of its answer are compared.
    pub(crate) fn peer(&mut self, peer: &'a Peer) -> Result<(), Failure> {
        let Some(answer) = peer.prepare(&self.key)? else {
            return Ok(());
        };
        if answer.len != self.answer.len() {
            return Err(self.disagreement(peer.name(), answer.len, f64::NAN));
        }
        // Their numbers come as decimal text.
        let tolerance = self.tolerance.max(1e-12);
        for (index, theirs) in answer.elements {
            self.compare_within(tolerance, peer.name(), index, theirs)?;
        }
        self.entries.push(Entry {
            name: peer.name(),
            role: Role::Rival,
            sample: Box::new(move |times| peer.time(times)),
            times: 0,
            samples: Samples::default(),
        });
        Ok(())
    }

    fn enter<T, E: Into<Failure>>(
        &mut self,
        name: &'static str,
        role: Role,
        mut operation: impl FnMut() -> Result<T, E> + 'a,
        read: impl FnOnce(T) -> Result<Vec<f64>, Failure>,
    ) -> Result<(), Failure> {
        let answer = read(operation().map_err(Into::into)?)?;
        if role == Role::Ours {
            self.answer = answer;
        } else {
            // A missing value is a NaN and close to nothing.
            for index in 0..self.answer.len().max(answer.len()) {
                self.compare(name, index, answer.get(index).copied().unwrap_or(f64::NAN))?;
            }
        }
        // The loop is compiled together with the operation; only the loop is called through a pointer. Results are
        // dropped inside: giving memory back is a part of the price.
        let sample = Box::new(move |times| {
            // What the others left in the caches is theirs.
            drop(black_box(operation().map_err(Into::into)?));
            let start = Instant::now();
            for _ in 0..times {
                drop(black_box(operation().map_err(Into::into)?));
            }
            Ok(start.elapsed())
        });
        self.entries.push(Entry {
            name,
            role,
            sample,
            times: 0,
            samples: Samples::default(),
        });
        Ok(())
    }

    fn compare(&self, name: &str, index: usize, theirs: f64) -> Result<(), Failure> {
        self.compare_within(self.tolerance, name, index, theirs)
    }

    fn compare_within(
        &self,
        tolerance: f64,
        name: &str,
        index: usize,
        theirs: f64,
    ) -> Result<(), Failure> {
        let ours = self.answer.get(index).copied().unwrap_or(f64::NAN);
        let close = (ours - theirs).abs() <= tolerance * ours.abs().max(1.0);
        if close || ours == theirs {
            Ok(())
        } else {
            Err(self.disagreement(name, index, theirs))
        }
    }

    fn disagreement(&self, name: &str, index: usize, theirs: f64) -> Failure {
        Box::new(Disagreement {
            workload: self.key.to_string(),
            name: name.to_owned(),
            index,
            ours: self.answer.get(index).copied().unwrap_or(f64::NAN),
            theirs,
        })
    }

    /// The workload this is.
    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    /// Takes samples in turn, ours, theirs, ours, theirs, so that a disturbance of the machine meets everyone. Called
    /// again, it forgets the samples there are: the clock may have changed, and one's time at a high clock says nothing
    /// beside another's at a low one.
    pub(crate) fn run(&mut self, budget: &Budget) -> Result<Vec<Timing>, Failure> {
        self.answer = Vec::new();
        for entry in &mut self.entries {
            entry.samples = Samples::default();
            if entry.times == 0 {
                entry.times = calibrate(&mut entry.sample, budget.sample)?;
            }
        }
        let mut scheduler = Scheduler::of_this_thread();
        let total = budget.each * u32::try_from(self.entries.len())?;
        let start = Instant::now();
        for round in 1.. {
            // Who takes twenty times as long as we do needs no third digit.
            let ours = self.entries[0].samples.least();
            for entry in &mut self.entries {
                if round > HOPELESS_ROUNDS && entry.samples.least() > 20.0 * ours {
                    continue;
                }
                let before = scheduler.read();
                let took = (entry.sample)(entry.times)?;
                let calm = match (before, scheduler.read()) {
                    (Some(before), Some(after)) => after.calm_since(before),
                    _ => true,
                };
                entry
                    .samples
                    .add(took.as_secs_f64() * 1e9 / f64::from(entry.times), calm);
            }
            let ours = &self.entries[0].samples;
            // On a busy machine it may take twice the time to get enough samples that nobody disturbed.
            let enough = ours.count() >= budget.rounds
                && (start.elapsed() >= 2 * total
                    || start.elapsed() >= total && ours.calm.len() >= budget.rounds);
            if enough {
                break;
            }
        }
        let timings = self.entries.iter();
        Ok(timings
            .map(|entry| Timing::new(entry.name, entry.role, &entry.samples))
            .collect())
    }
}

/// Samples of a rival that is far slower than we are.
const HOPELESS_ROUNDS: usize = 3;

/// How often to repeat so that a sample lasts about `sample`. Also warms caches, pools and workspaces up.
fn calibrate(operation: &mut Sample<'_>, sample: Duration) -> Result<u32, Failure> {
    let mut times = 1u32;
    loop {
        let took = operation(times)?;
        if took >= sample || times >= 1 << 24 {
            let wanted = f64::from(times) * sample.as_secs_f64() / took.as_secs_f64();
            return Ok((wanted.ceil() as u32).clamp(1, 1 << 24));
        }
        times *= 2;
    }
}
