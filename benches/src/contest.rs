//! One workload: several ways to do the same thing, checked against each other once and then timed in turn.

use std::error::Error;
use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::calm::Scheduler;
use crate::record::{Record, Role, Samples, Timing};

/// Any error of any library that takes part.
pub(crate) type Failure = Box<dyn Error>;

/// What the hardware allows at best.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// Bytes that must be read and written.
    Bytes(usize),
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
    name: &'static str,
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

/// Repeats an operation so many times.
type Repeat<'a> = Box<dyn FnMut(u32) -> Result<(), Failure> + 'a>;

struct Entry<'a> {
    name: &'static str,
    role: Role,
    repeat: Repeat<'a>,
}

/// A workload under construction. The first entry is ours; its answer is what the others must agree with.
pub(crate) struct Contest<'a> {
    name: String,
    tolerance: f64,
    limit: Option<Limit>,
    answer: Vec<f64>,
    entries: Vec<Entry<'a>>,
}

impl<'a> Contest<'a> {
    /// A workload without entries; answers may differ by `tolerance`, relative to 1 or the value, whichever is larger.
    pub(crate) fn new(name: &str, tolerance: f64) -> Contest<'a> {
        Contest {
            name: name.to_owned(),
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
            self.compare(name, &answer)?;
        }
        // The loop is compiled together with the operation; only the loop is called through a pointer. Results are
        // dropped inside: giving memory back is a part of the price.
        let repeat = Box::new(move |times| {
            for _ in 0..times {
                drop(black_box(operation().map_err(Into::into)?));
            }
            Ok(())
        });
        self.entries.push(Entry { name, role, repeat });
        Ok(())
    }

    fn compare(&self, name: &'static str, theirs: &[f64]) -> Result<(), Failure> {
        let count = self.answer.len().max(theirs.len());
        for index in 0..count {
            let value = |of: &[f64]| of.get(index).copied().unwrap_or(f64::NAN);
            let (ours, theirs) = (value(&self.answer), value(theirs));
            let close = (ours - theirs).abs() <= self.tolerance * ours.abs().max(1.0);
            // A missing value is a NaN and close to nothing.
            if !close {
                return Err(Box::new(Disagreement {
                    workload: self.name.clone(),
                    name,
                    index,
                    ours,
                    theirs,
                }));
            }
        }
        Ok(())
    }

    /// Takes samples in turn, ours, theirs, ours, theirs, so that a disturbance of the machine meets everyone.
    pub(crate) fn run(mut self, budget: &Budget) -> Result<(Record, Option<Limit>), Failure> {
        self.answer = Vec::new();
        let mut times = Vec::with_capacity(self.entries.len());
        for entry in &mut self.entries {
            times.push(calibrate(&mut entry.repeat, budget.sample)?);
        }
        let mut scheduler = Scheduler::of_this_thread();
        let mut samples = vec![Samples::default(); self.entries.len()];
        let total = budget.each * u32::try_from(self.entries.len())?;
        let start = Instant::now();
        // On a busy machine it may take twice the time to get enough samples that nobody disturbed.
        while samples.iter().any(|s| s.count() < budget.rounds)
            || start.elapsed() < total
            || (start.elapsed() < 2 * total && samples.iter().any(|s| s.calm.len() < budget.rounds))
        {
            for ((entry, &times), samples) in self.entries.iter_mut().zip(&times).zip(&mut samples)
            {
                let before = scheduler.read();
                let took = time(&mut entry.repeat, times)?;
                let calm = match (before, scheduler.read()) {
                    (Some(before), Some(after)) => after.calm_since(before),
                    _ => true,
                };
                samples.add(took.as_secs_f64() * 1e9 / f64::from(times), calm);
            }
        }
        let timings = self.entries.iter().zip(samples);
        let timings = timings.map(|(entry, samples)| Timing::new(entry.name, entry.role, samples));
        Ok((Record::new(self.name, timings.collect()), self.limit))
    }
}

fn time(repeat: &mut Repeat<'_>, times: u32) -> Result<Duration, Failure> {
    let start = Instant::now();
    repeat(times)?;
    Ok(start.elapsed())
}

/// How often to repeat so that a sample lasts about `sample`. Also warms caches, pools and workspaces up.
fn calibrate(repeat: &mut Repeat<'_>, sample: Duration) -> Result<u32, Failure> {
    repeat(2)?;
    let mut times = 1u32;
    loop {
        let took = time(repeat, times)?;
        if took >= sample || times >= 1 << 24 {
            let wanted = f64::from(times) * sample.as_secs_f64() / took.as_secs_f64();
            return Ok((wanted.ceil() as u32).clamp(1, 1 << 24));
        }
        times *= 2;
    }
}
