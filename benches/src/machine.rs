//! The machine as it is during this run: what it is, how fast it is right now, and how much others use it.

use std::fmt;
use std::fs;

use lodestride::array::kernels::{self, Backend, Isa};
use serde::{Deserialize, Serialize};

use crate::bandwidth::Bandwidth;
use crate::contest::{Failure, Limit};
use crate::{peak, processor};

/// Facts and calibrations printed above the table and used for its limits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    /// Names the file of its bars. Results from before there were slugs are of this machine.
    #[serde(default = "processor::slug")]
    pub(crate) slug: String,
    pub(crate) cores: usize,
    pub(crate) threads: usize,
    pub(crate) isa: String,
    /// What computes our matrix products, with the core it chose where that is an OpenBLAS.
    pub(crate) products: String,
    /// GHz, by a loop of known length, before and after the workloads.
    pub(crate) clock: [f64; 2],
    /// The highest clock the system says this processor may have.
    pub(crate) clock_allowed: Option<f64>,
    /// `f32` and `f64` operations per nanosecond of one thread.
    pub(crate) flops: [f64; 2],
    pub(crate) bandwidth: Bandwidth,
    /// Names of the variables that were taken out of the environment.
    pub(crate) cleared: String,
    pub(crate) load: String,
    /// What the libraries in other processes say about themselves.
    pub(crate) peers: Vec<String>,
    /// Share of the time the measuring thread had to wait for a core.
    pub(crate) waited: Option<f64>,
    /// Seconds the run took.
    pub(crate) took: f64,
}

/// A clock below this share of what is allowed, or of what it was before, is throttled.
const THROTTLED: f64 = 0.9;

impl Machine {
    /// Asks the system and takes the calibrations: about two seconds.
    pub(crate) fn look(cleared: &str, cores: usize) -> Result<Machine, Failure> {
        let threads = kernels::threads();
        let clock = peak::clock();
        Ok(Machine {
            processor: processor::name(),
            slug: processor::slug(),
            cores,
            threads,
            isa: Isa::detect().name().to_owned(),
            products: Backend::current().name().to_owned(),
            clock: [clock; 2],
            clock_allowed: clock_allowed(),
            flops: peak::flops(),
            bandwidth: Bandwidth::measure(threads)?,
            cleared: cleared.to_owned(),
            load: load(),
            peers: Vec::new(),
            waited: None,
            took: 0.0,
        })
    }

    /// Nanoseconds below which a workload cannot go here, by this run's calibrations.
    pub(crate) fn nanoseconds(&self, limit: Limit) -> f64 {
        let [single, double] = self.flops.map(|flops| flops * self.threads as f64);
        match limit {
            Limit::Copied(bytes) => self.bandwidth.copied(bytes),
            Limit::Read(bytes) => self.bandwidth.read(bytes),
            Limit::SingleFlops(count) => count / single,
            Limit::DoubleFlops(count) => count / double,
        }
    }

    /// A sentence about a clock that was too slow for the figures to mean much.
    pub(crate) fn throttled(&self) -> Option<String> {
        let slowest = self.clock[0].min(self.clock[1]);
        let fastest = self.clock_allowed.unwrap_or(0.0);
        let fastest = fastest.max(self.clock[0]).max(self.clock[1]);
        (slowest < THROTTLED * fastest).then(|| {
            format!(
                "the clock was throttled: {:.2} GHz before and {:.2} GHz after the workloads, {fastest:.2} GHz at best; \
                 compare ratios only",
                self.clock[0], self.clock[1]
            )
        })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "machine    {} ({}), {} cores, {} thread(s) used; kernels {}, matrix products {}",
            self.processor, self.slug, self.cores, self.threads, self.isa, self.products
        )?;
        writeln!(
            f,
            "now        clock {:.2} GHz; at most {:.0} f32 and {:.0} f64 GFLOP/s a thread",
            self.clock[0], self.flops[0], self.flops[1]
        )?;
        write!(f, "memory     GB/s of all threads, copied/read:")?;
        let copied = self.bandwidth.copy.iter().zip(&self.bandwidth.read);
        for (&(bytes, copy), &(_, read)) in copied.step_by(2) {
            write!(f, "  {} {copy:.0}/{read:.0}", size(bytes))?;
        }
        let cleared = if self.cleared.is_empty() {
            "none were set"
        } else {
            &self.cleared
        };
        write!(
            f,
            "\nothers     load {}; OPENBLAS_* variables cleared: {cleared}",
            self.load
        )
    }
}

/// Bytes in the largest unit that leaves a whole number.
pub(crate) fn size(bytes: f64) -> String {
    match bytes {
        b if b < f64::from(1 << 20) => format!("{:.0}K", b / 1024.0),
        b => format!("{:.1}M", b / f64::from(1 << 20)).replace(".0M", "M"),
    }
}

fn clock_allowed() -> Option<f64> {
    let text = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").ok()?;
    let kilohertz: f64 = text.trim().parse().ok()?;
    Some(kilohertz / 1e6)
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split_whitespace().next();
    first.unwrap_or("unknown").to_owned()
}
